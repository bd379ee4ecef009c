/*
 * No input makes the library work more than in proportion to its length.
 *
 * Work is counted, not timed: this program has a copy of lib/url of its own, in which the compiler calls
 * __sanitizer_cov_trace_pc at every branch (tests/CMakeLists.txt), and the linker puts our memcpy and the like, which
 * count the bytes, in place of the C library's. ICU's work is not counted: lib/url/parse/idna.c limits what it is given.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "support/check.h"
#include "support/work.h"
#include "url/canonical.h"

enum { SMALL = 8 << 10, LARGE = 8 * SMALL, ROOM = 16 * LARGE };

static char out[ROOM];

static const char *const profiles[] = {"whatwg",
                                       "crawl",
                                       "w3lib",
                                       "surt",
                                       "key=host",
                                       "none",
                                       "crawl,-percent,-session",
                                       "crawl,+www,+scheme,+slash,+fragment"};

/* head, and then the piece again and again. */
static vidi_str repeat(const char *head, const char *piece, size_t bytes)
{
    char *text = malloc(bytes);
    size_t len = strlen(head), n = strlen(piece);
    memcpy(text, head, len);
    for (size_t i = 0; len < bytes; i++)
        text[len++] = piece[i % n];
    return (vidi_str){text, bytes};
}

typedef struct hostile {
    const char *head, *piece;
} hostile;

/* Canonicalizes, or without a form resolves, so many bytes of it; returns the work. */
static uint64_t work_on(const vidi_canon *canon, const hostile *what, size_t bytes)
{
    vidi_str input = repeat(what->head, what->piece, bytes);
    size_t len = sizeof out;
    work = 0;
    if (canon)
        vidi_url_canon(canon, input, NULL, out, &len);
    else
        vidi_url_resolve(test_str("http://h/a/b"), input, out, &len);
    uint64_t done = work;
    free((char *)(uintptr_t)input.ptr);
    return done;
}

/* 8 times if it is linear, 10 times if something is sorted, 64 times if it is quadratic. */
static void check_growth(const vidi_canon *canon, const hostile *what)
{
    uint64_t small = work_on(canon, what, SMALL), large = work_on(canon, what, LARGE);
    check(large < 12 * small + 1000, "%s: %s%s…: %llu steps, and %llu for an eighth",
          canon ? vidi_canon_name(canon) : "resolving", what->head, what->piece, (unsigned long long)large,
          (unsigned long long)small);
}

static void no_input_takes_more_than_linear_work_to_resolve(void **state)
{
    (void)state;
    static const hostile list[] = {
        {"/", "../"},     {"/", "a/../"},   {"/", "a/"},         {"/", "\\"},
        {"/", "%2e%2E/"}, {"/", "./"},      {"/", "/"},          {"//", "@"},
        {"//", ":"},      {"//", "["},      {"//", "a."},        {"//", "1."},
        {"//", "%61"},    {"//", "xn--."},  {"//", "A"},         {"//", "\xc3\xbc"},
        {"//h:", "0"},    {"//", "a@"},     {"/", "\xff"},       {"/", "\xf0\x9f"},
        {"/", "\""},      {"/", "\t"},      {"?", "?'"},         {"#", "`#"},
        {"a: ", " \x01"}, {"", "a"},        {"file:///", "C|/"}, {"file:///C:/", "../"},
        {"a:/", "//"},    {"//", "-"},      {"//", "\xc3\xbc."}, {"a:", "opaque "},
        {"/", "%2e/\t"},  {"/", "a\\..\\"}, {"//u:", "@:"},      {"http://", "a/..?"},
    };
    for (size_t i = 0; i < VIDI__COUNT(list); i++)
        check_growth(NULL, &list[i]);
    assert_true(work > 0); /* else nobody counts */
}

static void no_input_takes_more_than_linear_work_to_canonicalize(void **state)
{
    (void)state;
    static const char *const heads[] = {"http://h/",   "http://h/?", "http://www.", "http://h/#",
                                        "http://h/#!", "x:",         "file:///"};
    static const char *const pieces[] = {"%25",
                                         "25",
                                         "%",
                                         "%41",
                                         "%2e%2e%2f",
                                         "&",
                                         "&&a",
                                         "z=1&a=2&",
                                         "b&a&",
                                         "u&",
                                         "utm",
                                         "utm_a=1&",
                                         "=",
                                         "/",
                                         "//a",
                                         "../a/",
                                         "/../",
                                         "a/../",
                                         "./",
                                         ".",
                                         "a.b.",
                                         ";",
                                         ";sid=1",
                                         "/..;sid=1",
                                         "(a",
                                         "@",
                                         "a:",
                                         ";jsessionid=1",
                                         ";jsessionid=",
                                         "\\",
                                         "\t.",
                                         "\"",
                                         "\xc3\xbc.",
                                         "xn--a.",
                                         "\xff",
                                         "index.html/",
                                         "www.",
                                         "cfid=1&",
                                         "C|/",
                                         "opaque ",
                                         "sid=0123456789abcdef&",
                                         "/(S(4hqa0555fwsecu455xqckv45))"};
    for (size_t i = 0; i < VIDI__COUNT(profiles); i++) {
        vidi_canon *canon = canon_with(profiles[i], NULL);
        for (size_t j = 0; j < VIDI__COUNT(pieces) * VIDI__COUNT(heads); j++)
            check_growth(canon, &(hostile){heads[j % VIDI__COUNT(heads)], pieces[j / VIDI__COUNT(heads)]});
        vidi_canon_close(canon);
    }
}

/* Lists of tracking parameters that are as bad as can be: work grows with the pattern, not with the name's square. */
static void no_pattern_takes_more_than_linear_work(void **state)
{
    (void)state;
    static const char *const lists[] = {"*a*a*a*a*a*a*a*a*a*a*a*a*b", "*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
                                        "a*a*a*a*a*a*a*a*a*a*a*ab\na*aaaaaaaaaaaaaaaaaaaaaaaab"};
    static const char *const pieces[] = {"a", "ab", "a&"};
    for (size_t i = 0; i < VIDI__COUNT(lists) * VIDI__COUNT(pieces); i++) {
        vidi_canon *canon = canon_with("crawl", lists[i % VIDI__COUNT(lists)]);
        check_growth(canon, &(hostile){"http://h/?", pieces[i / VIDI__COUNT(lists)]});
        vidi_canon_close(canon);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_input_takes_more_than_linear_work_to_resolve),
        cmocka_unit_test(no_input_takes_more_than_linear_work_to_canonicalize),
        cmocka_unit_test(no_pattern_takes_more_than_linear_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
