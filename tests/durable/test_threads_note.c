/*
 * Notes beside everything else: one thread adds, one commits with notes, one takes snapshots, one writes the set to a
 * stream, and readers open the folder meanwhile. Whatever a reader finds, the note says exactly which URLs are there.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "durable/durable_cases.h"
#include "support/runner.h"
#include "support/streams.h"

enum { URLS = 40000, BATCH = 40, STEP = 100 };

/* URL i is the i-th that is added, so that its mark is i + 1. */
typedef struct crawl {
    home at;
    _Atomic uint64_t marked; /* the mark after the last URL that was answered */
    _Atomic bool over;
} crawl;

static void *add(void *context)
{
    crawl *self = context;
    static char rooms[BATCH][TEST_URL_ROOM];
    vidi_str urls[BATCH];
    uint8_t verdicts[BATCH];
    uint64_t marks[BATCH];
    for (uint64_t first = 0; first < URLS; first += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            urls[i] = nth(rooms[i], first + i);
        must(vidi_add_batch(self->at.set, urls, BATCH, verdicts, marks));
        for (size_t i = 0; i < BATCH; i++)
            check(verdicts[i] == VIDI_NEW && marks[i] == first + i + 1, "URL %llu has mark %llu",
                  (unsigned long long)(first + i), (unsigned long long)marks[i]);
        atomic_store(&self->marked, first + BATCH);
    }
    return NULL;
}

/* Commits in steps that are not those of the batches. */
static void *commit(void *context)
{
    crawl *self = context;
    char note[32];
    for (uint64_t mark = STEP; mark <= URLS; mark += STEP) {
        while (atomic_load(&self->marked) < mark)
            sched_yield();
        size_t len = (size_t)snprintf(note, sizeof note, "%llu", (unsigned long long)mark);
        must(vidi_commit_note(self->at.set, mark, (vidi_str){note, len}));
        if (mark % (7 * STEP) == 0)
            must(vidi_sync(self->at.set)); /* so that readers see more than snapshots */
    }
    atomic_store(&self->over, true);
    return NULL;
}

static void *snapshot(void *context)
{
    crawl *self = context;
    while (!atomic_load(&self->over))
        must(vidi_snapshot(self->at.set));
    return NULL;
}

static void *write_out(void *context)
{
    crawl *self = context;
    while (!atomic_load(&self->over)) {
        test_stream stream = {0};
        test_stream_write(&stream, self->at.set);
        test_stream_free(&stream);
    }
    return NULL;
}

static uint64_t noted(const vidi_set *set)
{
    char note[32] = "";
    size_t len = sizeof note - 1;
    must(vidi_note(set, note, &len));
    note[len] = 0;
    return strtoull(note, NULL, 10);
}

/* Looks at all URLs near the one that the note names, and at some of the others. */
static void must_agree(const vidi_set *set, uint64_t mark)
{
    for (uint64_t i = 0; i < URLS; i += i + 2 * STEP < mark || i > mark + 2 * STEP ? 37 : 1) {
        int verdict = has_nth(set, i);
        check(verdict == (i < mark ? VIDI_SEEN : VIDI_NEW), "the note says %llu, and URL %llu is answered %d",
              (unsigned long long)mark, (unsigned long long)i, verdict);
    }
}

static void *read_folder(void *context)
{
    crawl *self = context;
    uint64_t before = 0;
    for (unsigned i = 0; !atomic_load(&self->over); i++) {
        vidi_set *set = must_open(self->at.path, VIDI_READ_ONLY | (i % 2 ? VIDI_NO_MAP : 0));
        uint64_t mark = noted(set);
        check(mark >= before, "the note has gone back from %llu to %llu", (unsigned long long)before,
              (unsigned long long)mark);
        must_agree(set, mark);
        before = mark;
        vidi_close(set);
    }
    return NULL;
}

static void a_note_says_which_urls_are_there(void **state)
{
    const char *kind = *state;
    static void *(*const roles[])(void *) = {add, commit, snapshot, write_out, read_folder};
    enum { ROLES = sizeof roles / sizeof *roles };
    pthread_t threads[ROLES];
    static crawl self;
    atomic_store(&self.marked, 0);
    atomic_store(&self.over, false);
    home_make(&self.at, kind, NULL, VIDI_MANUAL_COMMIT | TEST_SYNC_NEVER);
    for (size_t i = 0; i < ROLES; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, roles[i], &self), 0);
    for (size_t i = 0; i < ROLES; i++)
        pthread_join(threads[i], NULL);
    home_reopen(&self.at, 0);
    assert_int_equal(noted(self.at.set), URLS);
    all_are(self.at.set, 0, URLS, VIDI_SEEN);
    home_end(&self.at);
}

int main(int argc, char **argv)
{
    test_add("a note says which URLs are there: fingerprint", a_note_says_which_urls_are_there, "fingerprint");
    test_add("a note says which URLs are there: hashset", a_note_says_which_urls_are_there, "hashset");
    return test_run("threads_note", argc, argv);
}
