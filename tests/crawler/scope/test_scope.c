/*
 * Which URLs belong to a crawl, by host, site, prefix, pattern, length, repeated segments and port.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/scope/scope.h"
#include "support/check.h"
#include "vidi/url.h"

static vidi_str text_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

static scope *opened(const scope_options *options, const char *seed)
{
    scope_options with_seed = *options;
    vidi_str url = text_of(seed);
    scope *made;

    with_seed.seeds = &url;
    with_seed.seed_count = 1;
    assert_int_equal(scope_open(&made, &with_seed), VIDI_OK);
    return made;
}

static scope_verdict verdict_of(const scope_options *options, const char *seed, const char *url)
{
    scope *scope = opened(options, seed);
    scope_verdict verdict = scope_check(scope, text_of(url));
    scope_close(scope);
    return verdict;
}

typedef struct url_case {
    const char *seed, *url;
    scope_verdict expected;
} url_case;

static void check_cases(const scope_options *options, const url_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        scope_verdict got = verdict_of(options, cases[i].seed, cases[i].url);
        check(got == cases[i].expected, "%s with seed %s: %d, not %d", cases[i].url, cases[i].seed, (int)got,
              (int)cases[i].expected);
    }
}
#define CHECK_CASES(options, cases) check_cases(options, cases, sizeof(cases) / sizeof(cases)[0])

static void a_host_is_a_name_and_a_port_that_is_not_the_default(void **state)
{
    (void)state;
    static const url_case cases[] = {
        {"http://a.org/x", "http://a.org/", SCOPE_IN},
        {"http://a.org/x", "https://a.org/", SCOPE_IN},
        {"https://a.org/x", "http://a.org/y?z", SCOPE_IN},
        {"http://a.org/x", "http://www.a.org/", SCOPE_OUT},
        {"http://www.a.org/x", "http://a.org/", SCOPE_OUT},
        {"http://a.org/x", "http://a.org:8080/", SCOPE_OUT},
        {"http://a.org:8080/x", "http://a.org/", SCOPE_OUT},
        {"http://a.org:8080/x", "https://a.org:8080/", SCOPE_IN},
        {"http://a.org/x", "http://a.orga/", SCOPE_OUT},
        {"http://a.org/x", "http://b.org/a.org/", SCOPE_OUT},
        {"http://127.0.0.1:8001/", "http://127.0.0.1:8001/b", SCOPE_IN},
        {"http://127.0.0.1:8001/", "http://127.0.0.1:8002/b", SCOPE_OUT},
        {"http://[::1]/", "https://[::1]/b", SCOPE_IN},
        {"http://[::1]/", "https://[::2]/b", SCOPE_OUT},
        {"http://a.org/", "ftp://a.org/", SCOPE_SCHEME},
        {"http://a.org/", "mailto:me@a.org", SCOPE_SCHEME},
        {"http://a.org/", "", SCOPE_SCHEME},
    };
    CHECK_CASES(&(scope_options){.reach = SCOPE_HOST}, cases);
}

static void a_site_is_a_registrable_domain_whatever_the_port(void **state)
{
    (void)state;
    static const url_case cases[] = {
        {"http://www.example.co.uk/x", "https://example.co.uk/", SCOPE_IN},
        {"http://www.example.co.uk/x", "https://a.b.example.co.uk:8080/", SCOPE_IN},
        {"http://www.example.co.uk/x", "https://other.co.uk/", SCOPE_OUT},
        {"http://www.example.co.uk/x", "https://co.uk/", SCOPE_OUT},
        {"http://one.github.io/", "http://two.github.io/", SCOPE_OUT},
        {"http://one.github.io/", "http://a.one.github.io/", SCOPE_IN},
        {"http://github.io/", "http://one.github.io/", SCOPE_OUT},
        {"http://github.io/", "http://github.io:81/", SCOPE_IN},
        {"http://example.org/", "http://a.example.org./", SCOPE_IN},
        {"http://example.org/", "http://badexample.org/", SCOPE_OUT},
        {"http://example.org/", "http://example.org.evil.com/", SCOPE_OUT},
        {"http://example.org/", "http://org/", SCOPE_OUT},
        {"http://127.0.0.1:8001/", "http://127.0.0.1:8002/", SCOPE_IN},
        {"http://127.0.0.1/", "http://127.0.0.2/", SCOPE_OUT},
        {"http://localhost/", "http://localhost:99/", SCOPE_IN},
        {"http://localhost/", "http://a.localhost/", SCOPE_OUT},
        {"http://[::1]/", "http://[::1]:99/", SCOPE_IN},
        {"http://[::1]/", "http://[::2]/", SCOPE_OUT},
    };
    scope_options options = {.reach = SCOPE_SITE};
    vidi_canon *sites;
    if (vidi_canon_create(&sites, "key=site", NULL, NULL) != VIDI_OK)
        skip();
    vidi_canon_close(sites);
    CHECK_CASES(&options, cases);
    char url[3000] = "http://";
    memset(url + 7, 'a', 2000);
    strcat(url, ".example.co.uk/");
    assert_int_equal(verdict_of(&options, "http://example.co.uk/", url), SCOPE_OUT);
}

static void a_prefix_ends_with_the_last_slash_of_the_seeds_path(void **state)
{
    (void)state;
    static const url_case cases[] = {
        {"http://a.org/d/e.html", "http://a.org/d/", SCOPE_IN},
        {"http://a.org/d/e.html", "https://a.org/d/f/g?h", SCOPE_IN},
        {"http://a.org/d/e.html", "http://a.org/d", SCOPE_OUT},
        {"http://a.org/d/e.html", "http://a.org/", SCOPE_OUT},
        {"http://a.org/d/e.html", "http://a.org/x/d/", SCOPE_OUT},
        {"http://a.org/d/e.html", "http://a.org:81/d/", SCOPE_OUT},
        {"http://a.org/d/e.html", "http://b.org/d/", SCOPE_OUT},
        {"http://a.org/d/e.html", "http://b.org/?a.org/d/", SCOPE_OUT},
        {"http://a.org/d/?x=/y/", "http://a.org/d/z", SCOPE_IN},
        {"http://a.org/", "http://a.org/d", SCOPE_IN},
        {"http://a.org:81/d/", "http://a.org:81/d/e", SCOPE_IN},
    };
    CHECK_CASES(&(scope_options){.reach = SCOPE_PREFIX}, cases);
}

static void patterns_match_the_whole_url_or_path_and_query(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *url;
        bool matches;
    } cases[] = {
        {"*.pdf", "http://a.org/x.pdf", true},
        {"*.pdf", "http://a.org/x.pdf?y", false},
        {"*.pdf*", "http://a.org/x.pdf?y", true},
        {"/x*", "http://a.org/x.pdf?y", true},
        {"/x", "http://a.org/x", true},
        {"/x", "http://a.org/xy", false},
        {"x", "http://a.org/x", false},
        {"http://a.org/x", "http://a.org/x", true},
        {"http://a.org/x", "https://a.org/x", false},
        {"/?", "http://a.org/x", true},
        {"/?", "http://a.org/", false},
        {"/??", "http://a.org/x", false},
        {"/*?b*c", "http://a.org/xxabyyc", true},
        {"/*?b*c", "http://a.org/bc", false},
        {"/a*a", "http://a.org/a", false},
        {"/a*a", "http://a.org/aa", true},
        {"/*ab*ab", "http://a.org/abab", true},
        {"/*ab*ab", "http://a.org/xab", false},
        {"/*aab", "http://a.org/aaab", true},
        {"/*?ab*", "http://a.org/aaab", true},
        {"*", "http://a.org/", true},
        {"***", "http://a.org/", true},
        {"", "http://a.org/", false},
        {"/A", "http://a.org/a", false},
        {"/[a]", "http://a.org/a", false},
        {"/\xc3\xbc *", "http://a.org/%C3%BC%20x", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *patterns[] = {cases[i].pattern};
        scope_options exclude = {.exclude = patterns, .exclude_count = 1};
        scope_options include = {.include = patterns, .include_count = 1};
        const char *seed = "http://a.org/seed/seed/seed";
        bool excluded = verdict_of(&exclude, seed, cases[i].url) == SCOPE_EXCLUDED;
        bool included = verdict_of(&include, seed, cases[i].url) == SCOPE_IN;
        check(excluded == cases[i].matches && included == cases[i].matches, "%s with %s: excluded %d, included %d",
              cases[i].url, cases[i].pattern, excluded, included);
    }
}

static void what_is_included_can_still_be_excluded(void **state)
{
    (void)state;
    const char *include[] = {"/a/*", "/b/*"}, *exclude[] = {"*.zip", "*/old/*"};
    scope_options options = {.include = include, .include_count = 2, .exclude = exclude, .exclude_count = 2};
    static const url_case cases[] = {
        {"http://h.org/", "http://h.org/a/1", SCOPE_IN},
        {"http://h.org/", "http://h.org/b/1", SCOPE_IN},
        {"http://h.org/", "http://h.org/c/1", SCOPE_EXCLUDED},
        {"http://h.org/", "http://h.org/a/1.zip", SCOPE_EXCLUDED},
        {"http://h.org/", "http://h.org/b/old/", SCOPE_EXCLUDED},
        {"http://h.org/", "http://i.org/c/", SCOPE_OUT},
    };
    CHECK_CASES(&options, cases);
}

static void exclusions_can_be_asked_alone_with_a_fragment(void **state)
{
    (void)state;
    const char *exclude[] = {"/old/*", "*#L*", "*/b"};
    scope *scope = opened(&(scope_options){.exclude = exclude, .exclude_count = 3}, "http://h.org/");
    static const struct {
        const char *url;
        bool excluded;
    } cases[] = {{"http://h.org/a", false},    {"http://h.org/old/a", true}, {"http://i.org/old/a#x", true},
                 {"http://i.org/a#L12", true}, {"http://i.org/L", false},    {"http://i.org/b", true},
                 {"http://i.org/b#x", false},  {"mailto:a@b", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(scope_excludes(scope, text_of(cases[i].url)) == cases[i].excluded, "%s", cases[i].url);
    scope_close(scope);
}

static void a_seed_is_in_scope_whatever_the_limits_say(void **state)
{
    (void)state;
    const char *patterns[] = {"/nothing"}, *all[] = {"*"};
    const char *seed = "http://a.org/x/x/x/x/?a-very-long-query";
    const scope_options options[] = {{.include = patterns, .include_count = 1},
                                     {.exclude = all, .exclude_count = 1},
                                     {.max_repeat = 1},
                                     {.max_url = 5},
                                     {.reach = SCOPE_PREFIX, .exclude = all, .exclude_count = 1}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        scope *scope = opened(&options[i], "http://a.org/x/x/x/x/?a-very-long-query#fragment");
        assert_int_equal(scope_check(scope, text_of(seed)), SCOPE_IN);
        assert_int_equal(scope_check(scope, text_of("http://a.org/x/x/x/x/?a-very-long-query#other")), SCOPE_IN);
        assert_int_not_equal(scope_check(scope, text_of("http://a.org/x/x/x/x/?another-long-query")), SCOPE_IN);
        scope_close(scope);
    }
}

static void the_length_of_a_url_is_limited_without_its_fragment(void **state)
{
    (void)state;
    scope_options options = {.max_url = 14};
    assert_int_equal(verdict_of(&options, "http://a.org/", "http://a.org/b"), SCOPE_IN);
    assert_int_equal(verdict_of(&options, "http://a.org/", "http://a.org/b#fragment"), SCOPE_IN);
    assert_int_equal(verdict_of(&options, "http://a.org/", "http://a.org/bc"), SCOPE_LONG);
    assert_int_equal(verdict_of(&options, "http://a.org/", "http://other.org/bc"), SCOPE_LONG);
}

static void a_path_that_repeats_a_segment_is_a_trap(void **state)
{
    (void)state;
    static const url_case cases[] = {
        {"http://a.org/", "http://a.org/x/x/x", SCOPE_IN},
        {"http://a.org/", "http://a.org/x/x/x/x", SCOPE_REPEATS},
        {"http://a.org/", "http://a.org/x/y/x/y/x/y/", SCOPE_IN},
        {"http://a.org/", "http://a.org/x/y/x/y/x/y/x", SCOPE_REPEATS},
        {"http://a.org/", "http://a.org/x/X/xx/x/x", SCOPE_IN},
        {"http://a.org/", "http://a.org/////////", SCOPE_IN},
        {"http://a.org/", "http://a.org/?/x/x/x/x/x/x", SCOPE_IN},
        {"http://a.org/", "http://a.org/1/2/3/4/5/6/7/8/9/10/11/1/1/1", SCOPE_REPEATS},
        {"http://a.org/", "http://b.org/x/x/x/x/x", SCOPE_OUT},
    };
    scope_options options = {.max_repeat = 3};
    CHECK_CASES(&options, cases);
    char url[4096] = "http://a.org";
    for (int i = 0; i < SCOPE_SEGMENTS; i++)
        sprintf(url + strlen(url), "/%d", i);
    assert_int_equal(verdict_of(&options, "http://a.org/", url), SCOPE_IN);
    strcat(url, "/more");
    assert_int_equal(verdict_of(&options, "http://a.org/", url), SCOPE_REPEATS);
    options.max_repeat = 0;
    assert_int_equal(verdict_of(&options, "http://a.org/", url), SCOPE_IN);
}

/* https://fetch.spec.whatwg.org/#port-blocking; port 0 cannot be connected to. */
static void bad_ports_are_those_of_the_fetch_standard(void **state)
{
    (void)state;
    static const int bad[] = {0,    1,    7,    9,    11,   13,   15,   17,   19,   20,   21,   22,   23,   25,
                              37,   42,   43,   53,   69,   77,   79,   87,   95,   101,  102,  103,  104,  109,
                              110,  111,  113,  115,  117,  119,  123,  135,  137,  139,  143,  161,  179,  389,
                              427,  465,  512,  513,  514,  515,  526,  530,  531,  532,  540,  548,  554,  556,
                              563,  587,  601,  636,  989,  990,  993,  995,  1719, 1720, 1723, 2049, 3659, 4045,
                              4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080};
    size_t next = 0, n = sizeof bad / sizeof bad[0];
    for (int port = 0; port <= 65535; port++) {
        bool expected = next < n && bad[next] == port;
        next += expected;
        check(scope_port_is_bad(port) == expected, "port %d", port);
    }
    assert_int_equal(next, n);
    assert_true(scope_port_is_bad(-1) && scope_port_is_bad(65536));
    scope_options options = {.reach = SCOPE_HOST};
    assert_int_equal(verdict_of(&options, "http://a.org:6667/", "http://a.org:6667/"), SCOPE_PORT);
    assert_int_equal(verdict_of(&options, "http://a.org:6668/", "http://a.org:6667/"), SCOPE_OUT);
}

static void secrets_go_to_the_origins_of_seeds_only(void **state)
{
    (void)state;
    scope *scope = opened(&(scope_options){.reach = SCOPE_HOST}, "https://a.org/x");
    assert_true(scope_is_seeds_origin(scope, text_of("https://a.org/y")));
    assert_false(scope_is_seeds_origin(scope, text_of("http://a.org/x")));
    assert_false(scope_is_seeds_origin(scope, text_of("https://a.org:8443/x")));
    assert_false(scope_is_seeds_origin(scope, text_of("https://b.org/x")));
    assert_false(scope_is_seeds_origin(scope, text_of("data:,")));
    scope_close(scope);
}

static void thousands_of_seeds_are_all_known(void **state)
{
    (void)state;
    enum { SEEDS = 5000 };
    static char texts[SEEDS][48];
    static vidi_str seeds[SEEDS];
    for (int i = 0; i < SEEDS; i++) {
        sprintf(texts[i], "http://h%d.org/d%d/index.html", i, i);
        seeds[i] = text_of(texts[i]);
    }
    for (int reach = SCOPE_HOST; reach <= SCOPE_PREFIX; reach++) {
        scope_options options = {.reach = (scope_reach)reach, .seeds = seeds, .seed_count = SEEDS};
        scope *scope;
        int error = scope_open(&scope, &options);
        if (reach == SCOPE_SITE && error)
            continue;
        assert_int_equal(error, VIDI_OK);
        for (int i = 0; i < SEEDS; i++) {
            char other[48];
            assert_int_equal(scope_check(scope, seeds[i]), SCOPE_IN);
            sprintf(other, "https://h%d.org/d%d/other", i, i);
            assert_int_equal(scope_check(scope, text_of(other)), SCOPE_IN);
            sprintf(other, "https://x%d.org/d%d/other", i, i);
            assert_int_equal(scope_check(scope, text_of(other)), SCOPE_OUT);
        }
        scope_close(scope);
    }
}

static void a_seed_that_is_not_an_http_url_is_refused(void **state)
{
    (void)state;
    static const char *const seeds[] = {"ftp://a.org/", "a.org", "", "http://me@a.org/", "http:///"};
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        vidi_str seed = text_of(seeds[i]);
        scope_options options = {.seeds = &seed, .seed_count = 1};
        scope *scope;
        assert_int_equal(scope_open(&scope, &options), VIDI_EARGUMENT);
        assert_null(scope);
    }
    scope_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_is_a_name_and_a_port_that_is_not_the_default),
        cmocka_unit_test(a_site_is_a_registrable_domain_whatever_the_port),
        cmocka_unit_test(a_prefix_ends_with_the_last_slash_of_the_seeds_path),
        cmocka_unit_test(patterns_match_the_whole_url_or_path_and_query),
        cmocka_unit_test(what_is_included_can_still_be_excluded),
        cmocka_unit_test(exclusions_can_be_asked_alone_with_a_fragment),
        cmocka_unit_test(a_seed_is_in_scope_whatever_the_limits_say),
        cmocka_unit_test(the_length_of_a_url_is_limited_without_its_fragment),
        cmocka_unit_test(a_path_that_repeats_a_segment_is_a_trap),
        cmocka_unit_test(bad_ports_are_those_of_the_fetch_standard),
        cmocka_unit_test(secrets_go_to_the_origins_of_seeds_only),
        cmocka_unit_test(thousands_of_seeds_are_all_known),
        cmocka_unit_test(a_seed_that_is_not_an_http_url_is_refused),
    };
    return cmocka_run_group_tests_name("scope", tests, NULL, NULL);
}
