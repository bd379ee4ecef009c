/*
 * No URL and no pattern makes a scope work more than in proportion to their lengths.
 *
 * Work is counted, not timed: this program has a copy of crawler/scope of its own, in which the compiler calls
 * __sanitizer_cov_trace_pc at every branch (tests/CMakeLists.txt).
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/counted.h"
#include "crawler/scope/scope.h"
#include "support/check.h"

enum { SMALL = 4 << 10, LARGE = 8 * SMALL };

/* `head`, the piece again and again up to so many bytes, and `tail`. */
static char *repeat(const char *head, const char *piece, const char *tail, size_t bytes)
{
    size_t begin = strlen(head), end = strlen(tail), n = strlen(piece);
    char *text = malloc(begin + bytes + end + 1);
    memcpy(text, head, begin);
    for (size_t i = 0; i < bytes; i++)
        text[begin + i] = piece[i % n];
    memcpy(text + begin + bytes, tail, end + 1);
    return text;
}

static uint64_t work_of(const scope_options *options, const char *seed, const char *url)
{
    scope_options with_seed = *options;
    vidi_str text = {seed, strlen(seed)};
    scope *scope;
    with_seed.seeds = &text;
    with_seed.seed_count = 1;
    if (scope_open(&scope, &with_seed) != VIDI_OK) {
        assert_int_equal(options->reach, SCOPE_SITE); /* a build without libpsl */
        return 1;
    }
    work = 0;
    scope_check(scope, (vidi_str){url, strlen(url)});
    uint64_t done = work;
    scope_close(scope);
    assert_true(done > 0); /* else nobody counts */
    return done;
}

static void no_url_takes_more_than_linear_work(void **state)
{
    (void)state;
    static const char *const pieces[] = {"/", "a", "/a", "/ab", "?", "/%41", "a.", ":", "/a/b/c", "#"};
    static const char *const heads[] = {"http://h.org/", "http://h.org/d/", "http://", "http://h.org/?"};
    static const char *const patterns[] = {"*a*b*c*", "/a*/*b", "*ab"};
    for (int reach = SCOPE_HOST; reach <= SCOPE_PREFIX; reach++)
        for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
            for (size_t j = 0; j < sizeof heads / sizeof heads[0]; j++) {
                scope_options options = {
                    .reach = (scope_reach)reach, .max_repeat = 3, .exclude = patterns, .exclude_count = 3};
                char *small = repeat(heads[j], pieces[i], "/", SMALL), *large = repeat(heads[j], pieces[i], "/", LARGE);
                uint64_t less = work_of(&options, "http://h.org/d/e/", small);
                uint64_t more = work_of(&options, "http://h.org/d/e/", large);
                check(more < 12 * less + 1000, "%s%s…: %llu steps, and %llu for an eighth", heads[j], pieces[i],
                      (unsigned long long)more, (unsigned long long)less);
                free(small);
                free(large);
            }
}

/* Pattern and URL of the same length: their sum without '?', the piece times the URL with it. */
static void no_pattern_takes_more_work_than_promised(void **state)
{
    (void)state;
    static const char *const stars[] = {"*", "*a", "a*", "*a*b", "aa*", "*aab", "**a", "a"};
    static const char *const tails[] = {"", "b", "*b", "*ab*"};
    static const char *const pieces[] = {"a", "aab", "ba", "*"};
    for (size_t i = 0; i < sizeof stars / sizeof stars[0]; i++)
        for (size_t j = 0; j < sizeof tails / sizeof tails[0]; j++)
            for (size_t k = 0; k < sizeof pieces / sizeof pieces[0]; k++) {
                char *pattern = repeat("/", stars[i], tails[j], LARGE),
                     *url = repeat("http://h.org/", pieces[k], "", LARGE);
                const char *patterns[] = {pattern};
                scope_options options = {.exclude = patterns, .exclude_count = 1};
                uint64_t done = work_of(&options, "http://h.org/", url);
                check(done < 30 * LARGE, "%s…%s with %s…: %llu steps", stars[i], tails[j], pieces[k],
                      (unsigned long long)done);
                free(pattern);
                free(url);
            }
    const char *patterns[] = {"/*?aaaaaaaaaaaaaaaaaaaaaaaaaaaaab*?aaaaaaaaaaaaaaaaab"};
    scope_options options = {.exclude = patterns, .exclude_count = 1};
    char *url = repeat("http://h.org/", "a", "", LARGE);
    assert_true(work_of(&options, "http://h.org/", url) < 3 * strlen(patterns[0]) * LARGE);
    free(url);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_url_takes_more_than_linear_work),
        cmocka_unit_test(no_pattern_takes_more_work_than_promised),
    };
    return cmocka_run_group_tests_name("scope_linear", tests, NULL, NULL);
}
