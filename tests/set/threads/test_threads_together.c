/*
 * Threads that work together: merges in all directions, a stream and the adds that run beside it, a rotation to a kind
 * of another sort, questions while others add.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "set/merge/fit_cases.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/stats.h"
#include "support/streams.h"
#include "support/urls.h"
#include "vidi/transfer.h"

/* ---- merges ---- */

typedef struct merger {
    vidi_set *into, *from;
    int rounds;
    int failed; /* what a merge returned, if not VIDI_OK */
    uint64_t first;
} merger;

static void *merge_over_and_over(void *context)
{
    merger *self = context;
    char room[TEST_URL_ROOM];
    for (int i = 0; i < self->rounds && !self->failed; i++) {
        int result = vidi_merge(self->into, self->from, 0);
        self->failed = result == VIDI_OK ? 0 : result;
        if (vidi_add(self->into, url_at(room, 5, self->first + (uint64_t)i % 100)) < 0) {
            self->failed = 1;
        }
    }
    return NULL;
}

/* Back and forth, and around in a ring. A deadlock would hang here, and the harness would report it. */
static void merges_in_all_directions_end(void **state)
{
    const test_case *which = *state;
    enum { SETS = 3, THREADS = 5 };
    static const int ways[THREADS][2] = {{0, 1}, {1, 0}, {1, 2}, {2, 0}, {0, 2}};
    vidi_set *sets[SETS];
    pthread_t threads[THREADS];
    merger mergers[THREADS];
    char room[TEST_URL_ROOM];
    for (int i = 0; i < SETS; i++) {
        sets[i] = test_case_set(which, 2000, 5, NULL);
        add_range(sets[i], 5, 1000 + 10 * (uint64_t)i, 10);
    }
    for (int i = 0; i < THREADS; i++) {
        int rounds = i < 2 && !test_sanitized() ? 400 : 100;
        mergers[i] = (merger){sets[ways[i][0]], sets[ways[i][1]], rounds, 0, 100 * (uint64_t)i};
        assert_int_equal(pthread_create(&threads[i], NULL, merge_over_and_over, &mergers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        check(mergers[i].failed == 0, "way %d: %d", i, mergers[i].failed);
    }
    for (int i = 0; i < SETS; i++) { /* one more round, and all is everywhere */
        assert_int_equal(vidi_merge(sets[0], sets[i], 0), VIDI_OK);
    }
    for (uint64_t i = 0; i < 500; i++) {
        assert_int_equal(vidi_has(sets[0], url_at(room, 5, i)), VIDI_SEEN);
    }
    for (uint64_t i = 1000; i < 1030; i++) {
        assert_int_equal(vidi_has(sets[0], url_at(room, 5, i)), VIDI_SEEN);
    }
    for (int i = 0; i < SETS; i++) {
        vidi_close(sets[i]);
    }
}

/* Those that count add up for ever; a bounded number of times is enough for the others. */
static bool merges_without_end(const test_case *which)
{
    bool chosen = !which->params && which->error == 0;
    return chosen && can_merge(which) && strcmp(which->kind, "list") != 0;
}

/* ---- a stream and the adds that run beside it ---- */

enum { OFFERED = 20000, WRITES = 8, ADDERS = 2 };

typedef struct adder {
    vidi_set *set;
    const test_batch *urls;
    size_t first, end;
    size_t batch;
    const atomic_size_t *begun; /* streams; as many parts of its URLs, of WRITES, may be added */
    atomic_size_t done;         /* the URLs before this one have been added */
    atomic_int failed;
} adder;

static void *add_all(void *context)
{
    adder *self = context;
    uint8_t verdicts[256];
    for (size_t i = self->first; i < self->end;) {
        if ((i - self->first) * WRITES >= atomic_load(self->begun) * (self->end - self->first)) {
            sched_yield();
            continue;
        }
        size_t n = self->end - i < self->batch ? self->end - i : self->batch;
        int result = n == 1 ? vidi_add(self->set, self->urls->urls[i])
                            : vidi_add_batch(self->set, self->urls->urls + i, n, verdicts, NULL);
        if (result < 0) {
            atomic_store(&self->failed, result);
            break;
        }
        i += n;
        atomic_store(&self->done, i);
    }
    return NULL;
}

/* What was added before the stream was begun is in it, and its count is that of the URLs in it. */
static void must_be_consistent(test_stream *stream, const adder *adders, const size_t *before, const char *kind)
{
    static uint8_t verdicts[OFFERED];
    vidi_set *copy = NULL;
    int result = test_stream_read(stream, &copy, stream->size, NULL);
    check(result == VIDI_OK, "%d, %s", result, vidi_message());
    vidi_stats stats = test_stat(copy);
    uint64_t seen = 0;
    size_t offered = adders[0].urls->n;
    assert_int_equal(vidi_has_batch(copy, adders[0].urls->urls, offered, verdicts), VIDI_OK);
    for (size_t i = 0; i < ADDERS; i++) {
        for (size_t j = adders[i].first; j < adders[i].end; j++) {
            seen += verdicts[j] == VIDI_SEEN;
            check(j >= before[i] || verdicts[j] == VIDI_SEEN, "URL %zu was added before and is not there", j);
        }
    }
    /* false positives among what was offered and is not there: of a fingerprint none at all */
    uint64_t absent = offered > stats.count ? offered - stats.count : 0;
    test_interval lost = test_binomial_interval(absent, stats.fp_now, TEST_ALPHA);
    uint64_t most = strcmp(kind, "fingerprint") == 0 ? 0 : lost.high;
    check(seen >= stats.count && seen - stats.count <= most, "the count is %llu, but %llu URLs are there",
          (unsigned long long)stats.count, (unsigned long long)seen);
    check(stats.answered_new == stats.count, "%llu answers NEW for %llu URLs", (unsigned long long)stats.answered_new,
          (unsigned long long)stats.count);
    vidi_close(copy);
}

/* The adders are let go for another part of their URLs just before each stream, so that they run beside it. */
static void a_stream_beside_adds_is_consistent(void **state)
{
    const shape *as = *state;
    static const size_t batches[] = {1, 200};
    test_batch urls;
    size_t offered = test_sanitized() ? OFFERED / 5 : OFFERED;
    test_batch_init(&urls, offered);
    test_batch_fill(&urls, test_url, 6, 0, offered);
    for (size_t round = 0; round < 2; round++) {
        vidi_set *set = must_make(as->kind, as->params, as->capacity, as->error, 6);
        test_stream streams[WRITES] = {{0}};
        size_t before[WRITES][ADDERS];
        atomic_size_t begun;
        adder adders[ADDERS];
        pthread_t threads[ADDERS];
        int result = VIDI_OK;
        atomic_init(&begun, 0);
        for (size_t i = 0; i < ADDERS; i++) {
            adders[i] = (adder){.set = set, .urls = &urls, .batch = batches[round], .begun = &begun};
            adders[i].first = i * offered / ADDERS;
            adders[i].end = (i + 1) * offered / ADDERS;
            atomic_init(&adders[i].done, adders[i].first);
            atomic_init(&adders[i].failed, 0);
        }
        for (size_t i = 0; i < ADDERS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, add_all, &adders[i]), 0);
        }
        for (size_t w = 0; w < WRITES; w++) {
            while (atomic_load(&adders[0].done) * WRITES < w * adders[0].end && !atomic_load(&adders[0].failed)) {
                sched_yield();
            }
            for (size_t i = 0; i < ADDERS; i++) {
                before[w][i] = atomic_load(&adders[i].done);
            }
            atomic_store(&begun, w + 1);
            int code = vidi_write(set, test_stream_sink, &streams[w], 0);
            result = code < 0 ? code : result;
        }
        for (size_t i = 0; i < ADDERS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(atomic_load(&adders[i].failed), 0);
        }
        assert_int_equal(result, VIDI_OK);
        for (size_t w = 0; w < WRITES; w++) {
            must_be_consistent(&streams[w], adders, before[w], as->kind);
            test_stream_free(&streams[w]);
        }
        vidi_close(set);
    }
    test_batch_free(&urls);
}

static const shape written_beside[] = {
    {"classic", NULL, OFFERED, 1e-9, false},
    {"classic", "mode=salted", OFFERED, 1e-9, false}, /* not concurrent: adds take turns */
    {"fingerprint", "bits=60", 0, 0, false},
    {"fingerprint", "bits=60", OFFERED, 0, false},
    {"hashset", NULL, 0, 0, false},
    {"scalable", NULL, 1000, 1e-9, false},
    {"blocked", NULL, 300, 1e-9, false},
};

/* ---- rotation to a kind of another sort ---- */

enum { TURNERS = 4, TURNED = 4000 };

typedef struct turner {
    vidi_set *set;
    const test_batch *urls;
    atomic_uchar *fresh; /* for each URL, how often it was NEW */
    uint64_t seed;
    size_t batch;
    atomic_size_t *met;  /* URLs that were NEW to any */
    atomic_bool *turned; /* the new epoch has begun: once more all of them, and then no more */
    atomic_int failed;
} turner;

static void *add_in_own_order(void *context)
{
    turner *self = context;
    vidi_str urls[64];
    size_t index[64];
    uint8_t verdicts[64];
    bool last = false;
    for (uint64_t round = 0; !last; round++) {
        last = atomic_load(self->turned);
        test_random random = {self->seed + round};
        size_t step = 2 * test_below(&random, TURNED / 2) + 1, at = test_below(&random, TURNED);
        while (step % 5 == 0) { /* TURNED = 2^5 * 5^3 */
            step += 2;
        }
        for (size_t i = 0; i < TURNED;) {
            size_t n = TURNED - i < self->batch ? TURNED - i : self->batch;
            for (size_t j = 0; j < n; j++) {
                index[j] = (at + (i + j) * step) % TURNED;
                urls[j] = self->urls->urls[index[j]];
            }
            int result = vidi_add_batch(self->set, urls, n, verdicts, NULL);
            if (result < 0) {
                atomic_store(&self->failed, result);
                return NULL;
            }
            for (size_t j = 0; j < n; j++) {
                if (verdicts[j] == VIDI_NEW) {
                    atomic_fetch_add(&self->fresh[index[j]], 1);
                    atomic_fetch_add(self->met, 1);
                }
            }
            i += n;
        }
    }
    return NULL;
}

typedef struct turn {
    const char *from, *to;
    bool meanwhile; /* while URLs are being added */
} turn;

static const turn turns[] = {
    {"classic", "hashset", false},    {"classic", "hashset", true},      {"classic", "counting", true},
    {"fingerprint", "hashset", true}, {"fingerprint", "scalable", true}, {"classic", "sorted", true},
    {"hashset", "classic", true},     {"counting", "fingerprint", true}, {"classic", "fingerprint", true},
    {"blocked", "hashset", true},     {"fingerprint", "blocked", true},
};

static void one_is_told_new_after_a_rotation_to_another_kind(void **state)
{
    const turn *which = *state;
    static atomic_uchar fresh[TURNED];
    atomic_bool turned;
    atomic_size_t met;
    test_batch urls;
    turner turners[TURNERS];
    pthread_t threads[TURNERS];
    vidi_options next = VIDI_OPTIONS_INIT;
    vidi_set *set = must_make(which->from, NULL, TURNED, 1e-9, 7);
    test_batch_init(&urls, TURNED);
    test_batch_fill(&urls, test_url, 7, 0, TURNED);
    next.kind = which->to;
    if (!which->meanwhile) {
        add_range(set, 7, 0, TURNED);
        assert_int_equal(vidi_rotate(set, &next), VIDI_OK);
    }
    for (size_t i = 0; i < TURNED; i++) {
        atomic_store(&fresh[i], 0);
    }
    atomic_init(&turned, false);
    atomic_init(&met, 0);
    for (size_t i = 0; i < TURNERS; i++) {
        turners[i] = (turner){.set = set, .urls = &urls, .fresh = fresh, .seed = 1000 * i, .turned = &turned};
        turners[i].met = &met;
        turners[i].batch = i % 2 ? 1 : 64;
        atomic_init(&turners[i].failed, 0);
    }
    for (size_t i = 0; i < TURNERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, add_in_own_order, &turners[i]), 0);
    }
    int result = VIDI_OK;
    next.capacity = TURNED;
    if (which->meanwhile) {
        while (atomic_load(&met) < TURNED / 4) {
            sched_yield();
        }
        result = vidi_rotate(set, &next);
    }
    atomic_store(&turned, true);
    for (size_t i = 0; i < TURNERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        check(atomic_load(&turners[i].failed) == 0, "thread %zu: %d", i, atomic_load(&turners[i].failed));
    }
    check(result == VIDI_OK, "%s to %s: %d, %s", which->from, which->to, result, vidi_message());
    vidi_stats stats = test_stat(set);
    vidi_epoch_stats past = {.size = sizeof past};
    assert_int_equal(vidi_epoch_stat(set, 0, &past), VIDI_OK);
    assert_string_equal(stats.kind, which->to);
    uint64_t total = 0;
    for (size_t i = 0; i < TURNED; i++) {
        unsigned times = atomic_load(&fresh[i]);
        total += times;
        check(times == 1 || (which->meanwhile && times == 2), "%s to %s: URL %zu was NEW %u times", which->from,
              which->to, i, times);
        assert_int_equal(vidi_has(set, urls.urls[i]), VIDI_SEEN);
    }
    assert_int_equal(stats.count, TURNED);
    assert_int_equal(stats.answered_new, TURNED);
    check(total == stats.answered_new + (which->meanwhile ? past.answered_new : 0), "NEW %llu times, %llu and %llu",
          (unsigned long long)total, (unsigned long long)past.answered_new, (unsigned long long)stats.answered_new);
    test_batch_free(&urls);
    vidi_close(set);
}

/* ---- questions beside adds, and adds beside questions ---- */

enum { BUSY = 8, QUESTIONS = 10 };

typedef struct busy {
    vidi_set *set;
    uint64_t first;
    bool asks; /* or adds */
    atomic_bool *enough;
} busy;

static void *go_on_until_enough(void *context)
{
    const busy *self = context;
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; !atomic_load(self->enough); i++) {
        vidi_str url = url_at(room, 10, self->first + i % 500);
        if (self->asks)
            vidi_has(self->set, url);
        else
            vidi_add(self->set, url);
    }
    return NULL;
}

typedef struct asker {
    vidi_set *set;
    bool adds; /* or asks */
    unsigned answered;
} asker;

static void *ask(void *context)
{
    asker *self = context;
    char room[TEST_URL_ROOM];
    vidi_stats stats = {.size = sizeof stats};
    for (uint64_t i = 0; i < QUESTIONS; i++) {
        vidi_str url = url_at(room, 10, i);
        int verdict = self->adds ? vidi_add(self->set, url) : vidi_has(self->set, url);
        if (verdict > 0 && (self->adds || vidi_stat(self->set, &stats) == VIDI_OK))
            self->answered++;
    }
    return NULL;
}

/*
 * Many threads add and never pause; a thread that asks must still be answered, and the other way round. The others stop
 * only after all answers are there, so a thread that is starved for ever hangs here, and the harness reports it.
 */
static void wait_beside_busy_threads(const char *kind, bool adds)
{
    vidi_set *set = must_make(kind, NULL, BUSY * 500, 1e-9, 10);
    atomic_bool enough;
    busy others[BUSY];
    asker asking = {.set = set, .adds = adds};
    pthread_t threads[BUSY], thread;
    atomic_init(&enough, false);
    for (uint64_t i = 0; i < BUSY; i++) {
        others[i] = (busy){set, 500 * i, adds, &enough};
        assert_int_equal(pthread_create(&threads[i], NULL, go_on_until_enough, &others[i]), 0);
    }
    assert_int_equal(pthread_create(&thread, NULL, ask, &asking), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    atomic_store(&enough, true);
    for (size_t i = 0; i < BUSY; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    vidi_close(set);
    check(asking.answered == QUESTIONS, "%s: %u of %d were answered", kind, asking.answered, QUESTIONS);
}

static void a_question_is_answered_while_others_add(void **state)
{
    wait_beside_busy_threads(*state, false);
}

static void an_add_is_answered_while_others_ask(void **state)
{
    wait_beside_busy_threads(*state, true);
}

static const char *const asked_kinds[] = {"counting", "hashset", "scalable", "classic", "fingerprint", "blocked"};

int main(int argc, char **argv)
{
    char promise[300];
    test_add_cases("merges in all directions end", merges_in_all_directions_end, merges_without_end);
    for (size_t i = 0; i < sizeof written_beside / sizeof *written_beside; i++) {
        const shape *as = &written_beside[i];
        snprintf(promise, sizeof promise, "a stream beside adds is consistent: %s %s, capacity %llu", as->kind,
                 as->params ? as->params : "", (unsigned long long)as->capacity);
        test_add(promise, a_stream_beside_adds_is_consistent, as);
    }
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        snprintf(promise, sizeof promise, "one is told NEW after a rotation to another kind: %s to %s%s", turns[i].from,
                 turns[i].to, turns[i].meanwhile ? " meanwhile" : "");
        test_add(promise, one_is_told_new_after_a_rotation_to_another_kind, &turns[i]);
    }
    for (size_t i = 0; i < sizeof asked_kinds / sizeof *asked_kinds; i++) {
        snprintf(promise, sizeof promise, "a question is answered while others add: %s", asked_kinds[i]);
        test_add(promise, a_question_is_answered_while_others_add, asked_kinds[i]);
        snprintf(promise, sizeof promise, "an add is answered while others ask: %s", asked_kinds[i]);
        test_add(promise, an_add_is_answered_while_others_ask, asked_kinds[i]);
    }
    return test_run("threads together", argc, argv);
}
