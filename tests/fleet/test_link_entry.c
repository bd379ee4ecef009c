/*
 * Entries of streams (fleet/links/entry.h): what was written is read, and nothing else is.
 */
#include "fleet/links/entry.h"

#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/random.h"

static vidi_str text(const char *from)
{
    return (vidi_str){from, strlen(from)};
}

static bool same(vidi_str a, const char *b)
{
    return a.len == strlen(b) && memcmp(a.ptr, b, a.len) == 0;
}

static void what_was_written_is_read(void **context)
{
    bytes entry = {0};
    entry_reader reader;
    vidi_str url, payload;

    (void)context;
    assert_int_equal(entry_begin(&entry, text("sweep:f.1")), VIDI_OK);
    assert_int_equal(entry_add(&entry, text("http://a.test/"), text("depth 3")), VIDI_OK);
    assert_int_equal(entry_add(&entry, text("https://b.test/?q"), text("")), VIDI_OK);
    assert_true(entry_open(&reader, (vidi_str){entry.ptr, entry.len}));
    assert_true(same(reader.holder, "sweep:f.1"));
    assert_int_equal(entry_next(&reader, &url, &payload), VIDI_OK);
    assert_true(same(url, "http://a.test/") && same(payload, "depth 3"));
    assert_int_equal(entry_next(&reader, &url, &payload), VIDI_OK);
    assert_true(same(url, "https://b.test/?q") && payload.len == 0);
    assert_int_equal(entry_next(&reader, &url, &payload), VIDI_EABSENT);
    bytes_free(&entry);
}

static void the_longest_url_and_payload_fit_and_longer_ones_are_refused(void **context)
{
    enum { LONGEST = 65535 };
    static char url[LONGEST + 1], payload[LONGEST + 1];
    bytes entry = {0};
    entry_reader reader;
    vidi_str got, with;

    (void)context;
    memset(url, 'a', sizeof url);
    for (const char *from = "http://a/", *at = from; *at; at++)
        url[at - from] = *at;
    assert_int_equal(entry_begin(&entry, text("")), VIDI_OK);
    assert_int_equal(entry_add(&entry, (vidi_str){url, LONGEST}, (vidi_str){payload, LONGEST}), VIDI_OK);
    assert_int_equal(entry_add(&entry, (vidi_str){url, LONGEST + 1}, text("")), VIDI_EARGUMENT);
    assert_int_equal(entry_add(&entry, (vidi_str){url, 9}, (vidi_str){payload, LONGEST + 1}), VIDI_EARGUMENT);
    assert_true(entry_open(&reader, (vidi_str){entry.ptr, entry.len}));
    assert_int_equal(entry_next(&reader, &got, &with), VIDI_OK);
    assert_int_equal(got.len, LONGEST);
    assert_int_equal(with.len, LONGEST);
    assert_int_equal(entry_next(&reader, &got, &with), VIDI_EABSENT);
    bytes_free(&entry);
}

static void only_serialised_web_urls_without_fragments_are_taken(void **context)
{
    static const char *const bad[] = {"",
                                      "a",
                                      "ftp://a/",
                                      "http://a/#b",
                                      "http://A/",
                                      "http://a:80/",
                                      "http://a/ b",
                                      "http://a/\n",
                                      "mailto:a@example.org",
                                      "http:///"};

    (void)context;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check(!entry_is_web_url(text(bad[i])), "taken: %s", bad[i]);
    assert_true(entry_is_web_url(text("http://a/")));
    assert_true(entry_is_web_url(text("https://xn--bcher-kva.example/a%20b?c")));
}

/* Each piece of an entry, and each with one changed byte, is read to its end, or is not an entry. */
static void no_damage_is_read_beyond_the_end(void **context)
{
    bytes entry = {0};
    test_random random = {1};

    (void)context;
    assert_int_equal(entry_begin(&entry, text("holder")), VIDI_OK);
    for (int i = 0; i < 5; i++)
        assert_int_equal(entry_add(&entry, text("http://a.test/path"), text("payload")), VIDI_OK);
    for (int round = 0; round < 20000; round++) {
        size_t length = round < (int)entry.len ? (size_t)round : entry.len;
        char *copy = malloc(length + 1); /* the sanitizer knows where it ends */
        entry_reader reader;
        vidi_str url, payload;
        int error = VIDI_OK;
        assert_non_null(copy);
        memcpy(copy, entry.ptr, length);
        if (length == entry.len)
            copy[test_below(&random, length)] = (char)test_next(&random);
        if (entry_open(&reader, (vidi_str){copy, length}))
            while (error == VIDI_OK)
                error = entry_next(&reader, &url, &payload);
        assert_true(error == VIDI_OK || error == VIDI_EABSENT || error == VIDI_EDAMAGED);
        free(copy);
    }
    bytes_free(&entry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(the_longest_url_and_payload_fit_and_longer_ones_are_refused),
        cmocka_unit_test(only_serialised_web_urls_without_fragments_are_taken),
        cmocka_unit_test(no_damage_is_read_beyond_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
