/*
 * Threads that add to a set while it grows from one partition to 64: each URL is NEW exactly once, and what one thread
 * was told is true for the others.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "support/cases.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/urls.h"

enum { THREADS = 4, BATCH_MOST = 200 };

typedef struct adder {
    vidi_set *set;
    const test_batch *urls;
    atomic_uchar *told; /* how often each URL was NEW */
    uint64_t seed;
    atomic_int *failed;
} adder;

/* All URLs, in batches of all sizes, single ones too; and after each batch a lookup of one of them. */
static void *add_all(void *context)
{
    const adder *self = context;
    uint8_t verdicts[BATCH_MOST];
    test_random random = {self->seed};
    for (size_t at = 0, n; at < self->urls->n; at += n) {
        n = 1 + test_below(&random, test_below(&random, 4) ? BATCH_MOST : 2);
        n = n < self->urls->n - at ? n : self->urls->n - at;
        if (vidi_add_batch(self->set, self->urls->urls + at, n, verdicts, NULL) != VIDI_OK)
            atomic_store(self->failed, 1);
        for (size_t i = 0; i < n; i++)
            if (verdicts[i] == VIDI_NEW)
                atomic_fetch_add(&self->told[at + i], 1);
        if (vidi_has(self->set, self->urls->urls[at + test_below(&random, n)]) != VIDI_SEEN)
            atomic_store(self->failed, 2);
    }
    return NULL;
}

static void each_url_is_new_once_while_a_table_divides(void **state)
{
    const size_t n = 110000;
    atomic_uchar *told = calloc(n, sizeof *told);
    atomic_int failed = 0;
    test_batch urls;
    pthread_t threads[THREADS];
    adder adders[THREADS];
    vidi_set *set;
    vidi_options options = VIDI_OPTIONS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    (void)state;
    test_key(key, 1);
    options.key = key;
    assert_non_null(told);
    test_batch_init(&urls, n);
    test_batch_fill(&urls, test_deep_url, 1, 0, n);
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        adders[i] = (adder){set, &urls, told, i + 1, &failed};
        assert_int_equal(pthread_create(&threads[i], NULL, add_all, &adders[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(failed, 0);
    for (size_t i = 0; i < n; i++)
        check(told[i] == 1, "URL %zu was NEW %d times", i, told[i]);
    assert_int_equal(test_stat(set).count, n);
    assert_int_equal(test_stat(set).answered_new, n);
    vidi_close(set);
    test_batch_free(&urls);
    free(told);
}

int main(int argc, char **argv)
{
    test_add("each URL is NEW once while a table divides", each_url_is_new_once_while_a_table_divides, NULL);
    return test_run("threads small", argc, argv);
}
