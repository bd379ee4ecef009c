/* Sets of characters, scans over them, UTF-8 and percent-encoding. */
#include <ctype.h>
#include <stdlib.h>

#include "url/parse/percent.h"
#include "support/check.h"
#include "support/random.h"

static bool among(int c, const char *list)
{
    return c > 0 && c < 0x80 && strchr(list, c);
}

/* The standard's words, section 1.3 and 3.1. */
static unsigned sets_of(int c)
{
    bool c0 = c <= 0x1f || c > 0x7e;
    bool fragment = c0 || among(c, " \"<>`");
    bool query = c0 || among(c, " \"#<>");
    bool special_query = query || c == '\'';
    bool path = query || among(c, "?^`{}");
    bool userinfo = path || among(c, "/:;=@[\\]|");
    bool host = c == 0 || among(c, "\t\n\r #/:<>?@[\\]^|");
    bool domain = host || c <= 0x1f || c == '%' || c == 0x7f;
    bool not_plain = domain || c >= 0x80 || (c >= 'A' && c <= 'Z');
    bool scheme = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || among(c, "+-.");
    const bool in[] = {c0, fragment, query, special_query, path, userinfo, host, domain, not_plain, scheme};
    unsigned sets = 0;
    for (unsigned i = 0; i < VIDI__COUNT(in); i++)
        sets |= (unsigned)in[i] << i;
    return sets;
}

static void the_table_is_what_the_standard_says(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++)
        check(vidi__url_sets[c] == sets_of(c), "0x%02x: %03x instead of %03x", (unsigned)c, vidi__url_sets[c],
              sets_of(c));
}

/* Mostly harmless text with a byte of any kind now and then, in a block of exactly its size. */
static char *some_text(test_random *random, size_t len)
{
    char *text = malloc(len + !len);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)(test_below(random, 20) ? 'a' + test_below(random, 26) : test_next(random));
    return text;
}

static void vectors_find_what_the_table_finds(void **state)
{
    (void)state;
    static const unsigned sets[] = {
        VIDI__SET_C0,   VIDI__SET_FRAGMENT, VIDI__SET_QUERY,         VIDI__SET_SPECIAL_QUERY,
        VIDI__SET_PATH, VIDI__SET_USERINFO, VIDI__SET_FORBIDDEN_HOST};
    for (unsigned s = 0; s < VIDI__COUNT(sets); s++)
        for (size_t len = 0; len < 70; len++)
            for (size_t at = 0; at < len; at++)
                for (int c = 0; c < 256; c += 1 + (len > 20) * 6) {
                    char text[70];
                    memset(text, 'a', sizeof text);
                    text[at] = (char)c;
                    size_t want = vidi__in_set((char)c, sets[s]) ? at : len, got = vidi__url_run(text, len, sets[s]);
                    check(got == want, "set %x, byte %x at %zu of %zu: %zu", sets[s], (unsigned)c, at, len, got);
                }
}

static void two_characters_are_found_wherever_they_are(void **state)
{
    (void)state;
    test_random random = {1};
    for (int round = 0; round < 20000; round++) {
        size_t len = test_below(&random, 80), want = 0;
        char *text = some_text(&random, len), a = (char)test_next(&random), b = 'q';
        while (want < len && text[want] != a && text[want] != b)
            want++;
        assert_int_equal(vidi__url_find2(text, len, a, b), want);
        free(text);
    }
}

static void cuts_are_the_first_of_their_kind(void **state)
{
    (void)state;
    test_random random = {2};
    for (int round = 0; round < 20000; round++) {
        size_t len = test_below(&random, 80), query = len, fragment = len;
        bool tabs = false;
        char *text = some_text(&random, len);
        for (size_t i = 0; i < len; i++)
            if (text[i] < 'd')
                text[i] = "?#\t\n\rxyz"[test_below(&random, round % 2 ? 8 : 2)];
        for (size_t i = len; i-- > 0;) {
            fragment = text[i] == '#' ? i : fragment;
            tabs |= text[i] == '\t' || text[i] == '\n' || text[i] == '\r';
        }
        for (size_t i = fragment; i-- > 0;)
            query = text[i] == '?' ? i : query;
        vidi__url_cuts cuts = vidi__url_cut(text, len);
        check(cuts.query == query && cuts.fragment == fragment && cuts.tabs == tabs, "%.*s", (int)len, text);
        free(text);
    }
}

static void paths_are_copied_up_to_the_first_byte_that_needs_work(void **state)
{
    (void)state;
    test_random random = {3};
    for (int round = 0; round < 50000; round++) {
        size_t len = test_below(&random, 80), want = 0;
        char *text = some_text(&random, len), other = round % 3 ? '\\' : '?';
        for (size_t i = 0; i < len; i++)
            if (text[i] < 'e' || round % 5 == 0)
                text[i] = "abcd/./%//\\a"[test_below(&random, 5 + 7 * (unsigned)(round % 2))];
        for (; want < len; want++) {
            char c = text[want];
            bool begins = want && text[want - 1] == '/';
            if (vidi__in_set(c, VIDI__SET_PATH) || c == other || (begins && (c == '.' || c == '%')))
                break;
        }
        size_t got = vidi__url_path_run(text, len, other);
        check(got == want, "%zu instead of %zu of %.*s", got, want, (int)len, text);
        free(text);
    }
}

static void what_crawl_works_on_is_found(void **state)
{
    (void)state;
    test_random random = {5};
    for (int round = 0; round < 50000; round++) {
        size_t len = test_below(&random, 80), want = 0;
        bool path = round % 2;
        char *text = some_text(&random, len);
        for (size_t i = 0; i < len; i++)
            text[i] = "abcdefghijklmno/pqrstuvwx//;(%"[test_below(&random, round % 4 < 2 ? 26 : 30)];
        for (; want < len; want++) {
            char c = text[want];
            if (c == '%' || (path && (c == ';' || c == '(' || (c == '/' && want && text[want - 1] == '/'))))
                break;
        }
        size_t got = vidi__url_crawl_run(text, len, path);
        check(got == want, "%zu instead of %zu of %.*s", got, want, (int)len, text);
        free(text);
    }
}

static void domains_are_copied_in_small_letters(void **state)
{
    (void)state;
    for (size_t len = 0; len < 40; len++)
        for (size_t at = 0; at < len; at++)
            for (int c = 0; c < 256; c++) {
                char *text = malloc(len), *to = malloc(len + VIDI__URL_SLACK);
                memset(text, 'X', len);
                text[at] = (char)c;
                bool good = c && (vidi__is_alpha((char)c) || vidi__is_digit((char)c) || strchr("-._", c)) && c < 0x80;
                size_t got = vidi__url_copy_domain(to, text, len), want = good ? len : at;
                check(got == want, "byte %x at %zu of %zu: %zu", (unsigned)c, at, len, got);
                for (size_t i = 0; i < got; i++)
                    check(to[i] == (i == at ? (char)tolower(c) : 'x'), "byte %x at %zu of %zu", (unsigned)c, at, len);
                free(text);
                free(to);
            }
}

static void check_sequence(const char *text, size_t want, bool want_valid)
{
    bool valid;
    size_t len = strlen(text);
    char *exact = malloc(len);
    memcpy(exact, text, len);
    size_t got = vidi__utf8_next(exact, len, &valid);
    free(exact);
    check(got == want && valid == want_valid, "%02x…: %zu bytes, %svalid", (unsigned char)text[0], got,
          valid ? "" : "in");
}

static void sequences_are_cut_where_the_decoder_cuts_them(void **state)
{
    (void)state;
    check_sequence("a\x80", 1, true);
    check_sequence("\xc2\x80", 2, true);
    check_sequence("\xe0\xa0\x80", 3, true);
    check_sequence("\xed\x9f\xbf", 3, true);
    check_sequence("\xf4\x8f\xbf\xbf", 4, true);
    check_sequence("\x80\x80", 1, false);
    check_sequence("\xc1\xbf", 1, false);
    check_sequence("\xe0\x9f\xbf", 1, false);
    check_sequence("\xed\xa0\x80", 1, false);
    check_sequence("\xf0\x8f\xbf\xbf", 1, false);
    check_sequence("\xf4\x90\x80\x80", 1, false);
    check_sequence("\xf5\x80\x80\x80", 1, false);
    check_sequence("\xe2\x82", 2, false);
    check_sequence("\xf0\x9f\x92", 3, false);
    check_sequence("\xf0\x9f\x92x", 3, false);
    check_sequence("\xe2x", 1, false);
}

/* Raw, any bytes decode to themselves; otherwise ASCII does. */
static void what_is_encoded_decodes_to_itself(void **state)
{
    (void)state;
    vidi__memory memory;
    assert_int_equal(vidi__memory_init(&memory, NULL, 1 << 20), VIDI_OK);
    test_random random = {4};
    for (int round = 0; round < 5000; round++) {
        char room[64];
        size_t len = test_below(&random, 80);
        char *text = some_text(&random, len);
        bool raw = round % 2;
        for (size_t i = 0; i < len; i++) {
            char c = (char)(text[i] & (raw ? 0xff : 0x7f));
            text[i] = c == '%' ? 'a' : c;
        }
        vidi__buffer encoded = vidi__buffer_in(room, sizeof room, &memory);
        vidi__buffer decoded = vidi__buffer_in(NULL, 0, &memory);
        vidi__percent_encode(&encoded, text, len, VIDI__SET_USERINFO, raw);
        vidi__percent_decode(&decoded, encoded.at, encoded.len);
        assert_int_equal(decoded.len, len);
        assert_int_equal(vidi__url_run(encoded.at, encoded.len, VIDI__SET_USERINFO), encoded.len);
        if (len)
            assert_memory_equal(decoded.at, text, len);
        vidi__buffer_free(&encoded);
        vidi__buffer_free(&decoded);
        free(text);
    }
    assert_int_equal(vidi__memory_used(&memory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_what_the_standard_says),
        cmocka_unit_test(vectors_find_what_the_table_finds),
        cmocka_unit_test(two_characters_are_found_wherever_they_are),
        cmocka_unit_test(cuts_are_the_first_of_their_kind),
        cmocka_unit_test(paths_are_copied_up_to_the_first_byte_that_needs_work),
        cmocka_unit_test(what_crawl_works_on_is_found),
        cmocka_unit_test(domains_are_copied_in_small_letters),
        cmocka_unit_test(sequences_are_cut_where_the_decoder_cuts_them),
        cmocka_unit_test(what_is_encoded_decodes_to_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
