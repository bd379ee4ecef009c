/*
 * Four threads add and ask at once while the set grows to a thousand times its capacity: what one has added, it and all
 * others find again from then on.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "set/counter_urls.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

static const test_case cases[] = {
    {"fingerprint", NULL, 0, 0, 0},
    {"fingerprint", "bits=32", 0.001, 0, 0},
    {"blocked", NULL, 0, 0, 0},
    {"blocked", NULL, 0.001, 0.01, 0},
};

enum { THREADS = 4, PART = 256, PARTS_A_BATCH = COUNTER_BATCH / PART };

/* Thread t adds parts t, t + THREADS, …; so many of them have been added. */
typedef struct shared {
    vidi_set *set;
    uint32_t parts; /* for each thread */
    atomic_uint added[THREADS];
    atomic_uint_fast64_t wrong; /* cmocka's checks work in the main thread only */
} shared;

typedef struct worker {
    shared *of;
    unsigned number;
    pthread_t thread;
    test_random random;
    counter_batch *batch;
} worker;

/* The URLs of a part. Where they lie in the batch, and so how long they are, follows from its number. */
static const vidi_str *urls_of(worker *me, uint32_t part)
{
    uint32_t slot = part % PARTS_A_BATCH * PART;
    for (uint32_t i = slot; i < slot + PART; i++)
        put_letters(me->batch->arena[i] + me->batch->urls[i].len - 8, part * PART + i - slot);
    return me->batch->urls + slot;
}

static void ask(worker *me, const vidi_str *urls)
{
    uint8_t verdicts[PART];
    uint64_t wrong = vidi_has_batch(me->of->set, urls, PART, verdicts) != VIDI_OK;
    for (size_t i = 0; i < PART; i++)
        wrong += verdicts[i] != VIDI_SEEN;
    if (wrong)
        atomic_fetch_add(&me->of->wrong, wrong);
}

/* In pieces of any size: small ones go another way through the library. */
static void add(worker *me, const vidi_str *urls)
{
    uint8_t verdicts[PART];
    for (size_t done = 0, n; done < PART; done += n) {
        n = 1 + (size_t)test_below(&me->random, 2 * PART / 3);
        n = n < PART - done ? n : PART - done;
        if (vidi_add_batch(me->of->set, urls + done, n, verdicts, NULL) != VIDI_OK)
            atomic_fetch_add(&me->of->wrong, 1);
    }
}

/* A part of anybody's that has been added by now. */
static void ask_for_any(worker *me)
{
    unsigned whose = (unsigned)test_below(&me->random, THREADS);
    uint32_t added = atomic_load(&me->of->added[whose]);
    if (added)
        ask(me, urls_of(me, (uint32_t)test_below(&me->random, added) * THREADS + whose));
}

static void *add_and_ask(void *context)
{
    worker *me = context;
    for (uint32_t i = 0; i < me->of->parts; i++) {
        const vidi_str *urls = urls_of(me, i * THREADS + me->number);
        add(me, urls);
        atomic_store(&me->of->added[me->number], i + 1);
        ask(me, urls);
        ask_for_any(me);
        ask_for_any(me);
    }
    return NULL;
}

static void nothing_is_forgotten_among_threads(void **state)
{
    const test_case *which = *state;
    uint64_t n = test_urls() / 4;
    shared of = {.parts = (uint32_t)(n / THREADS / PART + 1)};
    worker workers[THREADS];
    of.set = test_case_set(which, n, 1, NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (worker){.of = &of, .number = i, .random = {i}, .batch = counter_batch_new(2)};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, add_and_ask, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (uint32_t part = 0; part < of.parts * THREADS; part++)
        ask(&workers[0], urls_of(&workers[0], part));
    assert_int_equal(of.wrong, 0);
    for (unsigned i = 0; i < THREADS; i++)
        free(workers[i].batch);
    vidi_close(of.set);
}

int main(int argc, char **argv)
{
    char promise[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!test_kind_exists(cases[i].kind))
            continue;
        snprintf(promise, sizeof promise, "nothing is forgotten among threads: %s, capacity %g of the URLs",
                 test_case_name(&cases[i]), cases[i].capacity);
        test_add(promise, nothing_is_forgotten_among_threads, &cases[i]);
    }
    return test_run("no false negative among threads", argc, argv);
}
