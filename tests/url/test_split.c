/* Where URLs are split, and what their features are. */
#include <stdio.h>

#include "url/parse/split.h"
#include "support/check.h"

static vidi_str str(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

static vidi__url_parts split(vidi_str url)
{
    vidi__memory memory;
    vidi__url_parts parts;
    char room[512];
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    vidi__buffer text = vidi__buffer_in(room, sizeof room, &memory);
    assert_int_equal(vidi__url_split(&parts, url, &text), VIDI_OK);
    assert_int_equal(text.len, 0);
    vidi__buffer_free(&text);
    return parts;
}

/* The segments with '|' between them. */
static const char *joined(const char *url, uint64_t most, bool strip)
{
    static char out[256];
    vidi__text text = vidi__text_in(out, sizeof out);
    vidi__url_parts parts = split(str(url));
    vidi__url_segments walk = {.parts = &parts, .most = most, .strip_scheme = strip};
    vidi_str segment;
    for (int i = 0; vidi__url_segment(&walk, &segment); i++)
        vidi__text_add(&text, "%s%.*s", i ? "|" : "", (int)segment.len, segment.ptr);
    return out;
}

static void slashes_of_the_path_separate(void **state)
{
    (void)state;
    assert_string_equal(joined("http://h/a/b", 0, true), "h|a|b");
    assert_string_equal(joined("http://h/a/b", 0, false), "http://h|a|b");
    assert_string_equal(joined("h/a/b", 0, true), "h|a|b");
    assert_string_equal(joined("http://h", 0, true), "h");
    assert_string_equal(joined("http://h/", 0, true), "h|");
    assert_string_equal(joined("http://h//a/", 0, true), "h||a|");
    assert_string_equal(joined("", 0, true), "");
    assert_string_equal(joined("//h/a", 0, true), "||h|a");
    assert_string_equal(joined("://h/a", 0, true), ":||h|a");
}

static void query_and_fragment_stay_with_their_segment(void **state)
{
    (void)state;
    assert_string_equal(joined("http://h/a?x=/b/c", 0, true), "h|a?x=/b/c");
    assert_string_equal(joined("http://h/a#/b", 0, true), "h|a#/b");
    assert_string_equal(joined("http://h?a/b", 0, true), "h?a/b");
}

static void the_last_segment_takes_the_rest(void **state)
{
    (void)state;
    assert_string_equal(joined("http://h/a/b/c/d", 3, true), "h|a|b/c/d");
    assert_string_equal(joined("http://h/a/b/c/d", 1, false), "http://h/a/b/c/d");
    assert_string_equal(joined("http://h/a", 2, true), "h|a");
}

static void zero_bytes_are_bytes(void **state)
{
    (void)state;
    vidi__url_parts parts = split((vidi_str){"h/\0/b", 5});
    vidi__url_segments walk = {.parts = &parts};
    vidi_str segment;
    size_t count = 0, bytes = 0;
    while (vidi__url_segment(&walk, &segment)) {
        count++;
        bytes += segment.len;
    }
    assert_int_equal(count, 3);
    assert_int_equal(bytes, 3);
}

static const char *feature(const char *name, const char *url)
{
    static char out[256];
    char buffer[256];
    vidi__url_parts parts = split(str(url));
    vidi_str got = vidi__url_feature(name)(&parts, buffer);
    assert_true(got.len <= strlen(url));
    snprintf(out, sizeof out, "%.*s", (int)got.len, got.ptr);
    return out;
}

static void labels_are_those_of_the_papers_table_1(void **state)
{
    (void)state;
    assert_string_equal(feature("labels", "http://www.x1x2x3.x4x5x6.x7x8x9.com"), "xxx");
    assert_string_equal(feature("labels", "http://www.abc.def.ghi.com"), "adg");
    assert_string_equal(feature("labels", "http://www.abc.def.ghi.com/path/x?y"), "adg");
    assert_string_equal(feature("labels", "https://user@news.example.org:8080/a"), "ne");
    assert_string_equal(feature("labels", "http://localhost/"), "l");
    assert_string_equal(feature("labels", "http://www."), "");
    assert_string_equal(feature("labels", ""), "");
}

static void tail_is_what_follows_the_last_slash_of_the_path(void **state)
{
    (void)state;
    assert_string_equal(feature("tail", "http://h/list/page7.html?x=/1"), "page7.html?x=/1");
    assert_string_equal(feature("tail", "http://h/list/"), "");
    assert_string_equal(feature("tail", "http://h"), "");
    assert_string_equal(feature("tail", "http://h?q=1"), "");
    assert_string_equal(feature("tail", "a/b"), "b");
}

static void ends_are_the_last_two_characters_of_every_part(void **state)
{
    (void)state;
    assert_string_equal(feature("ends", "http://h/list/page17?id=42&n=7#top"), "st17id42n7op");
    assert_string_equal(feature("ends", "http://h/"), "");
    assert_string_equal(feature("ends", "http://h"), "");
}

/* What is a URL is cut where the parser says, which the bytes alone do not tell. */
static void urls_are_cut_where_the_parser_says(void **state)
{
    (void)state;
    assert_string_equal(joined("mailto:a/b?c/d", 0, true), "mailto:a/b?c/d");
    assert_string_equal(joined("a:/.//b", 0, false), "a:/.||b");
    assert_string_equal(joined("a:/b/c", 0, true), "a:|b|c");
    assert_string_equal(joined("file:///a/b", 0, true), "|a|b");
    assert_string_equal(joined("http://u:p@[::1]:81/a//b?c/d", 0, true), "u:p@[::1]:81|a||b?c/d");
    assert_string_equal(joined("x://h", 0, false), "x://h");
    assert_string_equal(feature("tail", "data:text/html,x"), "");
    assert_string_equal(feature("ends", "mailto:a=b/cd?e=fg"), "cdefg");
    assert_string_equal(feature("ends", "mailto:x"), "x");
    assert_string_equal(feature("labels", "mailto:www.abc.de"), "");
    assert_string_equal(feature("labels", "http://u:p@[::1]:81/"), "[");
}

/* Every text with a host is cut as its bytes tell, whether or not the parser leaves it as it is. */
static void spellings_are_cut_as_their_bytes_say(void **state)
{
    (void)state;
    assert_string_equal(joined("HTTP://H/a/./b#c/d", 0, true), "H|a|.|b#c/d");
    assert_string_equal(joined("http://h/a b/c", 0, true), "h|a b|c");
    assert_string_equal(joined("com,example)/a/b?c/d", 0, true), "com,example)|a|b?c/d");
    assert_string_equal(feature("tail", "http://h/a b/c d"), "c d");
    assert_string_equal(feature("labels", "HTTP://u@www.Ab.cd.EF/"), "Ac");
}

static void unknown_features_are_named(void **state)
{
    (void)state;
    assert_null(vidi__url_feature("nose"));
    assert_int_equal(vidi__url_feature_unknown("nose"), VIDI_EOPTION);
    assert_non_null(strstr(vidi_message(), "labels, tail, ends"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slashes_of_the_path_separate),
        cmocka_unit_test(query_and_fragment_stay_with_their_segment),
        cmocka_unit_test(the_last_segment_takes_the_rest),
        cmocka_unit_test(zero_bytes_are_bytes),
        cmocka_unit_test(labels_are_those_of_the_papers_table_1),
        cmocka_unit_test(tail_is_what_follows_the_last_slash_of_the_path),
        cmocka_unit_test(ends_are_the_last_two_characters_of_every_part),
        cmocka_unit_test(urls_are_cut_where_the_parser_says),
        cmocka_unit_test(spellings_are_cut_as_their_bytes_say),
        cmocka_unit_test(unknown_features_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
