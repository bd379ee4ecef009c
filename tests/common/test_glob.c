/*
 * Patterns with wildcards.
 */
#include <string.h>

#include "common/glob.h"
#include "support/check.h"

static bool matches(const char *pattern, const char *text, char single, bool prefix)
{
    glob_pattern glob = {pattern, strlen(pattern), '*', single, prefix};
    return glob_matches(&glob, text, strlen(text));
}

/* The definition, which tries everything. */
static bool matches_slowly(const char *pattern, const char *text, bool prefix)
{
    if (!*pattern)
        return prefix || !*text;
    if (*pattern == '*')
        return matches_slowly(pattern + 1, text, prefix) || (*text && matches_slowly(pattern, text + 1, prefix));
    return *text && (*pattern == '?' || *pattern == *text) && matches_slowly(pattern + 1, text + 1, prefix);
}

static void fill(char *text, size_t n, size_t number, const char *alphabet)
{
    for (size_t i = 0, letters = strlen(alphabet); i < n; i++, number /= letters)
        text[i] = alphabet[number % letters];
    text[n] = 0;
}

/* All patterns of up to 5 bytes out of four against all texts of up to 5 out of two. */
static void short_patterns_match_as_defined(void **state)
{
    char pattern[6], text[6];
    (void)state;
    for (size_t p = 0, patterns = 1; p <= 5; p++, patterns *= 4)
        for (size_t i = 0; i < patterns; i++)
            for (size_t t = 0; t <= 5; t++)
                for (size_t j = 0; j < (size_t)1 << t; j++)
                    for (int prefix = 0; prefix < 2; prefix++) {
                        fill(pattern, p, i, "ab*?");
                        fill(text, t, j, "ab");
                        if (matches(pattern, text, '?', prefix) != matches_slowly(pattern, text, prefix))
                            fail_msg("'%s', '%s', prefix %d", pattern, text, prefix);
                    }
}

static void without_a_byte_for_single_ones_a_question_mark_is_itself(void **state)
{
    (void)state;
    assert_true(matches("/a?b*", "/a?b=1", '*', false));
    assert_false(matches("/a?b*", "/axb=1", '*', false));
    assert_true(matches("*?b", "/a?b", '*', false));
    assert_false(matches("*?b", "/axb", '*', false));
}

static void an_empty_pattern_and_an_empty_text_may_be_null(void **state)
{
    glob_pattern empty = {.many = '*', .single = '?'};
    (void)state;
    assert_true(glob_matches(&empty, NULL, 0));
    assert_false(glob_matches(&empty, "a", 1));
    empty.prefix = true;
    assert_true(glob_matches(&empty, "a", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_patterns_match_as_defined),
        cmocka_unit_test(without_a_byte_for_single_ones_a_question_mark_is_itself),
        cmocka_unit_test(an_empty_pattern_and_an_empty_text_may_be_null),
    };
    return cmocka_run_group_tests_name("glob", tests, NULL, NULL);
}
