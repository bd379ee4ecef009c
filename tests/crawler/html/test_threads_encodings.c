/*
 * Threads that read pages at the same time share the tables of encodings, which the first of them fills.
 */
#include <pthread.h>

#include "crawler/encoding/indexes.h"
#include "crawler/html/pages.h"

enum { THREADS = 4, ROUNDS = 20 };

static const struct {
    const char *label, *page, *want;
} cases[] = {
    {"shift_jis", "<a href='?\x93\xFA'>", "http://h/?%93%FA\n"},
    {"euc-jp", "<a href='?\xC6\xFC\x8F\xB0\xA1'>", "http://h/?%C6%FC%26%2319970%3B\n"},
    {"big5", "<a href='?\xA4\xA4'>", "http://h/?%A4%A4\n"},
    {"euc-kr", "<a href='?\xC7\xD1'>", "http://h/?%C7%D1\n"},
    {"gb18030", "<a href='?\xD6\xD0\x81\x30\x81\x30'>", "http://h/?%D6%D0%810%810\n"},
};

enum { CASES = sizeof cases / sizeof cases[0] };

/* Returns the number of pages that were read wrongly: checks belong to the main thread. */
static void *read_pages(void *context)
{
    size_t first = *(size_t *)context, *wrong = context;
    *wrong = 0;
    for (size_t i = 0; i < ROUNDS; i++) {
        size_t one = (first + i) % CASES;
        html_options options = {.url = text_of("http://h/"), .encoding = text_of(cases[one].label)};
        char *got = urls_of(text_of(cases[one].page), &options, HTML_LINKS);
        *wrong += strcmp(got, cases[one].want) != 0;
        free(got);
    }
    return NULL;
}

static void pages_are_read_by_several_threads_at_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    size_t results[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        results[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, read_pages, &results[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (encoding_index_get(ENCODING_INDEX_JIS0208))
            assert_int_equal(results[i], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_read_by_several_threads_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
