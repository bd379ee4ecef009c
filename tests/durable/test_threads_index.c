/*
 * Readers beside a writer whose log is being indexed: each finds everything that was on disk before it opened the set,
 * while segments are written, merged and removed with their log. And threads of one reader whose index is damaged.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "durable/durable_cases.h"
#include "durable/log_index.h"
#include "support/access.h"
#include "support/runner.h"

enum { CHUNK = 128, BATCH = 500, BATCHES = 60, READERS = 2 };

/* cmocka's checks work in the main thread only, so the others count what is wrong. */
typedef struct shared {
    home at;
    atomic_uint_fast64_t synced; /* URLs that are on disk */
    atomic_bool over;
    atomic_uint_fast64_t wrong, indexed;
} shared;

static void ask(shared *of, uint64_t synced)
{
    vidi_set *set = NULL;
    if (test_open(&set, of->at.path, VIDI_READ_ONLY) != VIDI_OK) {
        fprintf(stderr, "%s\n", vidi_message());
        atomic_fetch_add(&of->wrong, 1);
        return;
    }
    atomic_fetch_add(&of->indexed, set->durable->segment_count);
    for (uint64_t i = 0; i < synced; i += 1 + synced / 300)
        if (has_nth(set, i) != VIDI_SEEN)
            atomic_fetch_add(&of->wrong, 1);
    for (uint64_t i = 0; i < 100; i++)
        if (has_nth(set, BATCH * BATCHES + i) != VIDI_NEW)
            atomic_fetch_add(&of->wrong, 1);
    vidi_close(set);
}

static void *read_on(void *context)
{
    shared *of = context;
    while (!atomic_load(&of->over))
        ask(of, atomic_load(&of->synced));
    return NULL;
}

static void readers_find_what_is_on_disk(void **state)
{
    (void)state;
    shared of = {.synced = 0};
    pthread_t readers[READERS];
    test_batch batch;
    uint8_t verdicts[BATCH];
    home_make(&of.at, "fingerprint", NULL, 0);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, &of), 0);
    for (uint64_t i = 0; i < BATCHES; i++) {
        test_batch_init(&batch, BATCH);
        test_batch_fill(&batch, test_url, 77, i * BATCH, BATCH);
        must(vidi_add_batch(of.at.set, batch.urls, BATCH, verdicts, NULL));
        test_batch_free(&batch);
        must(vidi_sync(of.at.set));
        atomic_store(&of.synced, (i + 1) * BATCH);
        if (i % 25 == 24)
            must(vidi_snapshot(of.at.set));
    }
    home_reopen(&of.at, 0); /* when the index has caught up */
    ask(&of, BATCH * BATCHES);
    atomic_store(&of.over, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    assert_int_equal(atomic_load(&of.wrong), 0);
    assert_true(atomic_load(&of.indexed) > 0);
    home_end(&of.at);
}

/* ---- one reader, many threads ---- */

static void *ask_all(void *context)
{
    shared *of = context;
    for (uint64_t i = 0; i < BATCH * 10; i++)
        if (has_nth(of->at.set, i) != VIDI_SEEN)
            atomic_fetch_add(&of->wrong, 1);
    return NULL;
}

/* A block of each segment is damaged, and all threads come across it. */
static void damage(home *at)
{
    for (size_t i = 0; i < at->set->durable->segment_count; i++) {
        char name[40], path[TEST_PATH];
        const vidi__segment *segment = at->set->durable->segments[i];
        vidi__segment_name(name, segment->stretch.log.number, segment->serial);
        test_path(path, at->path, name);
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, VIDI__SEGMENT_HEAD + 100, SEEK_SET), 0);
        assert_int_equal(fputc(0, file), 0);
        assert_int_equal(fputc(1, file), 1);
        assert_int_equal(fclose(file), 0);
    }
}

static void threads_mend_an_index(void **state)
{
    (void)state;
    shared of = {.synced = 0};
    pthread_t threads[4];
    home_make(&of.at, "fingerprint", NULL, 0);
    add_all(of.at.set, 0, BATCH * 10, VIDI_NEW);
    home_reopen(&of.at, 0);
    home_reopen(&of.at, VIDI_READ_ONLY);
    assert_true(of.at.set->durable->segment_count > 0);
    damage(&of.at);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_all, &of), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&of.wrong), 0);
    home_end(&of.at);
}

int main(int argc, char **argv)
{
    vidi__index_chunk = CHUNK;
    test_add("readers find what is on disk", readers_find_what_is_on_disk, NULL);
    test_add("threads mend an index", threads_mend_an_index, NULL);
    return test_run("threads index", argc, argv);
}
