/*
 * Threads on one mapped set: they ask, list, write and verify at once, and each gets the answers that one alone gets.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "support/cases.h"
#include "support/check.h"
#include "support/env.h"
#include "support/maps.h"
#include "support/runner.h"
#include "support/urls.h"

enum { READERS = 6, PART = 100 };

/* cmocka's checks work in the main thread only, so the others count what is wrong. */
typedef struct shared {
    const vidi_set *mapped, *right;
    uint64_t n;
    atomic_uint_fast64_t wrong;
    atomic_uint next;
} shared;

static int write_nowhere(void *context, const void *data, size_t size)
{
    (void)context;
    (void)data;
    (void)size;
    return 0;
}

static int visit(void *context, const vidi_entry *entry)
{
    (void)entry;
    return ++*(uint64_t *)context == 5000;
}

/* In batches, and some alone; every thread begins elsewhere. */
static void ask_all(shared *of, unsigned me)
{
    uint8_t one[PART], two[PART];
    test_batch batch;
    test_batch_init(&batch, PART);
    for (uint64_t done = 0; done < 2 * of->n; done += PART) {
        test_batch_fill(&batch, test_url, 1, (done + me * of->n / READERS) % (2 * of->n), PART);
        if (vidi_has_batch(of->mapped, batch.urls, PART, one) != VIDI_OK ||
            vidi_has_batch(of->right, batch.urls, PART, two) != VIDI_OK || memcmp(one, two, PART) != 0 ||
            vidi_has(of->mapped, batch.urls[0]) != two[0])
            atomic_fetch_add(&of->wrong, 1);
    }
    test_batch_free(&batch);
}

static void *read_all(void *context)
{
    shared *of = context;
    unsigned me = atomic_fetch_add(&of->next, 1);
    uint64_t visited = 0;
    vidi_stats stats = {.size = sizeof stats};
    if (me == 1 && vidi__set_verify(of->mapped) != VIDI_OK)
        atomic_fetch_add(&of->wrong, 1);
    if (me == 2 && vidi_write(of->mapped, write_nowhere, NULL, 0) != VIDI_OK)
        atomic_fetch_add(&of->wrong, 1);
    if (me == 3)
        vidi_iterate(of->mapped, visit, &visited);
    if (vidi_stat(of->mapped, &stats) != VIDI_OK)
        atomic_fetch_add(&of->wrong, 1);
    ask_all(of, me);
    return NULL;
}

static void many_read_at_once(void **state)
{
    char room[TEST_URL_ROOM];
    uint64_t n = test_case_few(*state, test_urls_at_most(100000) / 20);
    vidi_set *set = test_case_set(*state, n, 1, NULL);
    for (uint64_t i = 0; i < n; i++)
        assert_true(vidi_add(set, (vidi_str){room, test_url(room, sizeof room, 1, i)}) > 0);
    test_stream stream;
    test_map map;
    test_stream_write(&stream, set);
    test_map_make(&map, stream.data, stream.size);
    vidi_set *mapped = test_map_set(&map);
    shared of = {.mapped = mapped, .right = set, .n = n};
    pthread_t threads[READERS];
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &of), 0);
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&of.wrong), 0);
    vidi_close(mapped);
    vidi_close(set);
    test_map_free(&map);
    test_stream_free(&stream);
}

static bool is_small_format(const test_case *which)
{
    return !(which->traits & TEST_LIBCRYPTO);
}

int main(int argc, char **argv)
{
    test_add_cases("many read at once", many_read_at_once, is_small_format);
    return test_run("threads map", argc, argv);
}
