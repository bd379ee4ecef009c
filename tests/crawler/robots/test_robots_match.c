/* How paths are compared with rules (RFC 9309, sections 2.2.2 and 2.2.3), and what statuses and ages mean (2.3.1, 2.4). */
#include <stdio.h>
#include <stdlib.h>

#include "crawler/robots/robots_cases.h"

/* Is the path denied if this is the only rule? */
static bool matches(const char *pattern, const char *path)
{
    char file[500], url[500];
    snprintf(file, sizeof file, "User-agent: *\nDisallow: %s\n", pattern);
    snprintf(url, sizeof url, "http://h%s", path);
    return !allowed_if(file, "vidi", false, url);
}

static void a_rule_matches_the_beginning_of_path_and_query(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *path;
        bool matches;
    } list[] = {
        {"/a", "/a", true},
        {"/a", "/ab", true},
        {"/a", "/a?b", true},
        {"/a", "/b/a", false},
        {"/a", "/A", false},
        {"/a?x", "/a?xy", true},
        {"/a?x", "/ax", false},
        {"/", "", true},
        {"/", "?q", true},
        {"/?q", "?q", true},
        {"a", "/a", false},
        {"/a", "/a#b", true},
        {"/a/b", "/a#/b", false},
        {"/;p", ";p", true},
        {"/a$", "/a", true},
        {"/a$", "/a/", false},
        {"/a$", "/a?", false},
        {"/a$b", "/a$b", true},
        {"/a$b", "/a", false},
        {"/$", "/", true},
        {"/$", "/a", false},
        {"$", "/", false},
        {"*", "/any", true},
        {"*a", "/bca", true},
        {"/*a", "/bcad", true},
        {"/*a$", "/bcad", false},
        {"/*a$", "/bcada", true},
        {"/a*b*c", "/a1b2c3", true},
        {"/a*b*c", "/a1c2b3", false},
        {"/a*", "/a", true},
        {"/a*$", "/abc", true},
        {"/a**b", "/ab", true},
        {"/*/b/*.gif$", "/x/b/.gif", true},
        {"/*.gif$", "/a.gif.gif", true},
        {"/*ab$", "/ab", true},
        {"/ab*ab$", "/ab", false},
        {"/ab*b$", "/ab", false},
        {"/*aab", "/aaab", true},
        {"*$", "/x", true},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        check(matches(list[i].pattern, list[i].path) == list[i].matches, "%s and %s", list[i].pattern, list[i].path);
}

static void percent_encodings_of_the_same_path_are_equal(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *path;
        bool matches;
    } list[] = {
        {"/b\xc3\xa4r", "/b%C3%A4r", true},
        {"/b%c3%a4r", "/b%C3%A4r", true},
        {"/b%C3%A4r", "/b%c3%a4r", true},
        {"/b%C3%A4r", "/b\xc3\xa4r", true},
        {"/b\xc3\xa4r", "/b\xc3\xa4r", true},
        {"/%62%61%7A", "/baz", true},
        {"/baz", "/%62%61%7A", true},
        {"/%7Ejoe", "/~joe", true},
        {"/~joe", "/%7ejoe", true},
        {"/a%2Fb", "/a/b", false},
        {"/a/b", "/a%2Fb", false},
        {"/a%2fb", "/a%2Fb", true},
        {"/a%3Fb", "/a?b", false},
        {"/a%2Ab", "/a*b", true},
        {"/a%2Ab", "/axb", false},
        {"/a%24", "/a$", true},
        {"/a%24", "/a", false},
        {"/a%2A", "/a%2a", true},
        {"/a%", "/a%", true},
        {"/a%4", "/a%4", true},
        {"/a%zz", "/a%ZZ", false},
        {"/a%00b", "/a%00b", true},
        {"/a%00b", "/a", false},
        {"/a%20b", "/a%20bc", true},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        check(matches(list[i].pattern, list[i].path) == list[i].matches, "%s and %s", list[i].pattern, list[i].path);
}

static void the_longest_match_wins_and_allow_wins_ties(void **state)
{
    (void)state;
    check_allowed("User-agent: *\nDisallow: /\nAllow: /a\n", "vidi", "http://h/a");
    check_denied("User-agent: *\nAllow: /\nDisallow: /a\n", "vidi", "http://h/a");
    check_allowed("User-agent: *\nDisallow: /a\nAllow: /a\n", "vidi", "http://h/a");
    check_allowed("User-agent: *\nAllow: /a\nDisallow: /a\n", "vidi", "http://h/a");
    check_allowed("User-agent: *\nDisallow: /*b\nAllow: /ab\n", "vidi", "http://h/ab");
    check_denied("User-agent: *\nDisallow: /*.html\nAllow: /page\n", "vidi", "http://h/page.html");
    check_allowed("User-agent: *\nDisallow: /\nAllow: /$\n", "vidi", "http://h/");
    /* What counts is the length as compared: an encoded letter is one octet, one outside ASCII three. */
    check_denied("User-agent: *\nAllow: /%61%62%63\nDisallow: /abcd\n", "vidi", "http://h/abcd");
    check_denied("User-agent: *\nDisallow: /\xc3\xa4\nAllow: /*%A4\n", "vidi", "http://h/%C3%A4");
}

static void the_file_itself_is_always_allowed(void **state)
{
    (void)state;
    check_allowed("User-agent: *\nDisallow: /\n", "vidi", "http://h/robots.txt");
    check_denied("User-agent: *\nDisallow: /\n", "vidi", "http://h/robots.txt?x");
    check_denied("User-agent: *\nDisallow: /\n", "vidi", "http://h/a/robots.txt");
}

static void the_deciding_rule_is_told(void **state)
{
    (void)state;
    robots *rules = parsed("User-agent: *\n\nDisallow: /\nAllow: /%62*\xc3\xa4$\n", "vidi", false);
    robots_rule why;
    assert_int_equal(robots_check(rules, text_of("http://h/b/%C3%A4"), &why), ROBOTS_ALLOWED);
    assert_int_equal(why.line, 4);
    assert_true(why.allows);
    assert_memory_equal(why.path.ptr, "/b*%C3%A4$", why.path.len);
    assert_int_equal(why.path.len, 10);
    assert_int_equal(robots_check(rules, text_of("http://h/c"), &why), ROBOTS_DENIED);
    assert_int_equal(why.line, 3);
    assert_false(why.allows);
    robots_free(rules);
    rules = parsed("", "vidi", false);
    assert_int_equal(robots_check(rules, text_of("http://h/c"), &why), ROBOTS_ALLOWED);
    assert_int_equal(why.line, 0);
    robots_free(rules);
}

static void long_urls_are_compared_to_the_end(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    char *url = malloc(LONG + 16);
    strcpy(url, "http://h/");
    for (size_t i = 9; i < LONG; i++)
        url[i] = "%7e"[i % 3];
    strcpy(url + LONG, ".gif");
    check_denied("User-agent: *\nDisallow: /*.gif$\n", "vidi", url);
    strcpy(url + LONG, ".png");
    check_allowed("User-agent: *\nDisallow: /*.gif$\n", "vidi", url);
    free(url);
}

/* ---- statuses and ages ---- */

static void a_status_says_whether_to_read_allow_or_deny(void **state)
{
    (void)state;
    for (int status = 0; status < 700; status++) {
        robots_answer answer = {.status = status};
        robots_outcome want = status >= 200 && status < 300 ? ROBOTS_READ
                              : (status >= 300 && status < 400) || (status / 100 == 4 && status != 429)
                                  ? ROBOTS_ALLOW_ALL
                                  : ROBOTS_DENY_ALL;
        check(robots_decide(&answer) == want, "%d", status);
    }
}

static void five_redirects_are_followed(void **state)
{
    (void)state;
    static const int statuses[] = {301, 302, 303, 307, 308};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        for (unsigned followed = 0; followed < 10; followed++) {
            robots_answer answer = {.status = statuses[i], .redirects = followed, .has_location = true};
            assert_int_equal(robots_decide(&answer), followed < 5 ? ROBOTS_FOLLOW : ROBOTS_ALLOW_ALL);
        }
}

static void a_file_that_cannot_be_reached_is_used_from_the_cache(void **state)
{
    (void)state;
    static const int statuses[] = {0, 429, 500, 503, 599};
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        robots_answer answer = {.status = statuses[i], .has_cached = true};
        assert_int_equal(robots_decide(&answer), ROBOTS_KEEP_CACHED);
        answer.has_cached = false;
        answer.unreachable_for = ROBOTS_GIVE_UP - 1;
        assert_int_equal(robots_decide(&answer), ROBOTS_DENY_ALL);
        answer.unreachable_for = ROBOTS_GIVE_UP;
        assert_int_equal(robots_decide(&answer), ROBOTS_ALLOW_ALL);
    }
    robots_answer gone = {.status = 404, .has_cached = true};
    assert_int_equal(robots_decide(&gone), ROBOTS_ALLOW_ALL);
}

static void an_answer_is_used_for_a_day_at_most(void **state)
{
    (void)state;
    enum { DAY = 86400 };
    static const robots_outcome reached[] = {ROBOTS_READ, ROBOTS_ALLOW_ALL},
                                not [] = {ROBOTS_DENY_ALL, ROBOTS_KEEP_CACHED};
    for (size_t i = 0; i < 2; i++) {
        assert_false(robots_is_stale(reached[i], -5));
        assert_false(robots_is_stale(reached[i], 0));
        assert_false(robots_is_stale(reached[i], DAY - 1));
        assert_true(robots_is_stale(reached[i], DAY));
        assert_false(robots_is_stale(not [i], 1));
        assert_true(robots_is_stale(not [i], ROBOTS_RETRY));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_matches_the_beginning_of_path_and_query),
        cmocka_unit_test(percent_encodings_of_the_same_path_are_equal),
        cmocka_unit_test(the_longest_match_wins_and_allow_wins_ties),
        cmocka_unit_test(the_file_itself_is_always_allowed),
        cmocka_unit_test(the_deciding_rule_is_told),
        cmocka_unit_test(long_urls_are_compared_to_the_end),
        cmocka_unit_test(a_status_says_whether_to_read_allow_or_deny),
        cmocka_unit_test(five_redirects_are_followed),
        cmocka_unit_test(a_file_that_cannot_be_reached_is_used_from_the_cache),
        cmocka_unit_test(an_answer_is_used_for_a_day_at_most),
    };
    return cmocka_run_group_tests_name("robots_match", tests, NULL, NULL);
}
