/*
 * No style sheet makes the reader work more than in proportion to its length.
 *
 * Work is counted, not timed: this program has a copy of crawler/css of its own, in which the compiler calls
 * __sanitizer_cov_trace_pc at every branch (tests/CMakeLists.txt).
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/counted.h"
#include "crawler/css/css.h"
#include "support/check.h"

enum { SMALL = 8 << 10, LARGE = 8 * SMALL, WORK_FOR_A_BYTE = 100 };

static int count_bytes(void *context, const css_link *link)
{
    *(size_t *)context += link->value.len;
    return 0;
}

static uint64_t work_of(const char *begin, const char *piece, size_t bytes)
{
    size_t first = strlen(begin), n = strlen(piece), found = 0;
    char *text = malloc(first + bytes);
    memcpy(text, begin, first);
    for (size_t i = 0; i < bytes; i++)
        text[first + i] = piece[i % n];
    encoding_text decoded = {.owned = NULL};
    assert_int_equal(css_decode((vidi_str){text, first + bytes}, (vidi_str){NULL, 0}, &decoded), VIDI_OK);
    work = 0;
    assert_int_equal(css_links(decoded.bytes, count_bytes, &found), VIDI_OK);
    uint64_t done = work;
    assert_true(found <= 3 * (first + bytes));
    encoding_text_free(&decoded);
    free(text);
    return done;
}

static void no_sheet_takes_more_than_linear_work(void **state)
{
    (void)state;
    static const char *const begins[] = {"",         "/*",          "'",      "url(", "url('", "url(a ",
                                         "@import ", "image-set('", "a{b:\\", "@x",   "1",     "-"};
    static const char *const pieces[] = {"a",
                                         "url(",
                                         "url('a",
                                         "/*",
                                         "/* *",
                                         "/",
                                         "\\",
                                         "\\0",
                                         "\\a ",
                                         "'",
                                         "\"\n",
                                         "(",
                                         "{",
                                         "}",
                                         ")",
                                         "-",
                                         "--",
                                         "-->",
                                         "<",
                                         "<!-",
                                         "@",
                                         "@import ",
                                         "1",
                                         "1e",
                                         "1e+",
                                         ".",
                                         "+.",
                                         "#",
                                         "\r\n",
                                         " ",
                                         "u\\72l(a)",
                                         "\xC3",
                                         ";",
                                         "image-set('a'",
                                         "\\\n",
                                         "url(a)",
                                         "url(a b",
                                         "url(data:,",
                                         "@import url(",
                                         "\\url("};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        for (size_t j = 0; j < sizeof pieces / sizeof pieces[0]; j++) {
            uint64_t less = work_of(begins[i], pieces[j], SMALL), more = work_of(begins[i], pieces[j], LARGE);
            check(more < 9 * less + 1000, "%s%s…: %llu steps, and %llu for an eighth", begins[i], pieces[j],
                  (unsigned long long)more, (unsigned long long)less);
            check(more < (uint64_t)WORK_FOR_A_BYTE * LARGE, "%s%s…: %llu steps for a byte", begins[i], pieces[j],
                  (unsigned long long)more / LARGE);
        }
    assert_true(work > 0); /* else nobody counts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_sheet_takes_more_than_linear_work),
    };
    return cmocka_run_group_tests_name("css_linear", tests, NULL, NULL);
}
