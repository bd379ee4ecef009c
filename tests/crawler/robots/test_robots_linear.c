/*
 * No file and no URL makes the reader of robots.txt work more than in proportion to its length.
 *
 * Work is counted, not timed: this program has a copy of crawler/robots of its own, in which the compiler calls
 * __sanitizer_cov_trace_pc at every branch (tests/CMakeLists.txt), and the linker puts functions that count bytes in
 * place of memcpy and the like.
 */
#include <stdlib.h>

#include "crawler/robots/robots_cases.h"
#include "crawler/counted.h"

enum { SMALL = 8 << 10, LARGE = 8 * SMALL };

/* `head`, the piece again and again, and `tail`. */
static vidi_str repeat(const char *head, const char *piece, const char *tail, size_t bytes)
{
    size_t begin = strlen(head), end = strlen(tail), n = strlen(piece);
    char *text = malloc(begin + bytes + end + 1);
    memcpy(text, head, begin);
    for (size_t i = 0; i < bytes; i++)
        text[begin + i] = piece[i % n];
    memcpy(text + begin + bytes, tail, end + 1);
    return (vidi_str){text, begin + bytes + end};
}

static uint64_t work_of_parsing(const char *head, const char *piece, size_t bytes)
{
    vidi_str file = repeat(head, piece, "\n", bytes);
    robots_options options = {.agent = text_of("vidi"), .lenient = true};
    robots *rules;
    work = 0;
    assert_int_equal(robots_parse(&rules, file, &options), VIDI_OK);
    uint64_t done = work;
    check(robots_bytes(rules) < 64 + 24 * file.len, "%s%s: %zu bytes", head, piece, robots_bytes(rules));
    robots_free(rules);
    free((char *)(uintptr_t)file.ptr);
    return done;
}

static void no_file_takes_more_than_linear_work_to_read(void **state)
{
    (void)state;
    static const char *const pieces[] = {"\n",
                                         "\r",
                                         " ",
                                         "#",
                                         ":",
                                         "a:\n",
                                         "User-agent: vidi\n",
                                         "User-agent: *\n",
                                         "User-agent: vidi\nDisallow: /\n",
                                         "Disallow: /*\n",
                                         "Allow: /index.html\n",
                                         "Disallow: /%41\n",
                                         "\xff",
                                         "%",
                                         "Crawl-delay: 1\n",
                                         "*",
                                         "a",
                                         "d\n",
                                         "\t\v\f"};
    static const char *const heads[] = {"", "User-agent: vidi\n", "User-agent: *\nDisallow: /",
                                        "User-agent: vidi\nAllow: /"};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        for (size_t j = 0; j < sizeof heads / sizeof heads[0]; j++) {
            uint64_t small = work_of_parsing(heads[j], pieces[i], SMALL);
            uint64_t large = work_of_parsing(heads[j], pieces[i], LARGE);
            check(large < 12 * small + 1000, "%s%s…: %llu steps, and %llu for an eighth", heads[j], pieces[i],
                  (unsigned long long)large, (unsigned long long)small);
        }
    assert_true(work > 0); /* else nobody counts */
}

/* One rule, whose path is `pattern` again and again, and a URL. Both have so many bytes. */
static uint64_t work_of_matching(const char *pattern, const char *tail, const char *piece, size_t bytes)
{
    vidi_str file = repeat("User-agent: *\nDisallow: /", pattern, tail, bytes),
             url = repeat("http://h/", piece, "", bytes);
    robots_options options = {.agent = text_of("vidi")};
    robots *rules;
    assert_int_equal(robots_parse(&rules, file, &options), VIDI_OK);
    work = 0;
    assert_true(robots_check(rules, url, NULL) >= 0);
    uint64_t done = work;
    robots_free(rules);
    free((char *)(uintptr_t)file.ptr);
    free((char *)(uintptr_t)url.ptr);
    return done;
}

static void no_pattern_takes_more_than_linear_work_to_match(void **state)
{
    (void)state;
    enum { PATTERN = ROBOTS_LINE_LIMIT - 64 };
    static const char *const patterns[] = {"*", "*a", "a*", "*a*b", "aa*", "*aab", "**a", "a", "%41*", "*\xc3"};
    static const char *const tails[] = {"", "$", "b", "b$", "*b$"};
    static const char *const pieces[] = {"a", "aab", "ba", "*", "%61", "\xff"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        for (size_t j = 0; j < sizeof tails / sizeof tails[0]; j++)
            for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++) {
                uint64_t done = work_of_matching(patterns[i], tails[j], pieces[k], PATTERN);
                check(done < 60 * PATTERN, "%s…%s with %s…: %llu steps", patterns[i], tails[j], pieces[k],
                      (unsigned long long)done);
            }
}

static void many_rules_take_linear_work_to_match(void **state)
{
    (void)state;
    vidi_str url = repeat("http://h/", "ab", "", 2000);
    uint64_t works[2];
    for (size_t i = 0; i < 2; i++) {
        vidi_str file = repeat("User-agent: *\n", "Disallow: /*a*c\n", "", i ? LARGE : SMALL);
        robots_options options = {.agent = text_of("vidi")};
        robots *rules;
        assert_int_equal(robots_parse(&rules, file, &options), VIDI_OK);
        work = 0;
        assert_int_equal(robots_check(rules, url, NULL), ROBOTS_ALLOWED);
        works[i] = work;
        check(work < robots_rule_count(rules) * 2 * url.len, "%llu steps", (unsigned long long)work);
        robots_free(rules);
        free((char *)(uintptr_t)file.ptr);
    }
    assert_true(works[1] < 9 * works[0]);
    free((char *)(uintptr_t)url.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_file_takes_more_than_linear_work_to_read),
        cmocka_unit_test(no_pattern_takes_more_than_linear_work_to_match),
        cmocka_unit_test(many_rules_take_linear_work_to_match),
    };
    return cmocka_run_group_tests_name("robots_linear", tests, NULL, NULL);
}
