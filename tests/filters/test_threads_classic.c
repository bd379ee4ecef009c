/* Two threads that add the same URLs to a filter of the kind classic at the same moment: exactly one is told NEW. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "filters/filter.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { THREADS = 2, TOGETHER = 8 };

typedef struct shared {
    vidi__memory memory, gate_memory;
    vidi__gate gate;
    vidi__filter *filter;
    uint64_t n;
    size_t batch; /* 1: one by one */
    _Atomic uint64_t arrived;
} shared;

typedef struct adder {
    shared *of;
    pthread_t thread;
    uint8_t *verdicts;
    vidi__tally tally;
} adder;

static vidi__u128 hash_at(uint64_t i)
{
    return (vidi__u128){test_mix(2 * i + 1), test_mix(2 * i + 2)};
}

static void make(shared *of, const char *params)
{
    vidi__params parsed;
    vidi__config config = {.memory = &of->memory, .params = &parsed};
    memset(of, 0, sizeof *of);
    assert_int_equal(vidi__memory_init(&of->memory, NULL, 0), VIDI_OK);
    assert_int_equal(vidi__memory_init(&of->gate_memory, NULL, 0), VIDI_OK);
    assert_int_equal(vidi__params_parse(&parsed, params), VIDI_OK);
    assert_int_equal(vidi__positions_item_hash(&parsed, &config.item_hash), VIDI_OK);
    test_key(config.seed.key, 3);
    assert_int_equal(vidi__filter_create(&of->filter, &vidi__kind_classic, &config), VIDI_OK);
    vidi__gate_init(&of->gate);
    vidi__gate_close(&of->gate);
    vidi__gate_give(&of->gate, VIDI__GATE_SHARED);
    vidi__gate_open(&of->gate);
    of->filter->gate = &of->gate;
    assert_int_equal(of->filter->kind->share(of->filter, &of->gate), VIDI_OK);
}

/* Waits until all threads have come here `round` times. */
static void meet(shared *of, uint64_t round)
{
    atomic_fetch_add(&of->arrived, 1);
    while (atomic_load(&of->arrived) < THREADS * round)
        sched_yield();
}

static void *add_all(void *context)
{
    adder *me = context;
    shared *of = me->of;
    const vidi__kind *kind = of->filter->kind;
    vidi__u128 hashes[VIDI__HASHES_MAX];
    (void)vidi__gate_join(&of->gate, &of->gate_memory);
    for (uint64_t at = 0, round = 1; at < of->n; at += of->batch * TOGETHER, round++) {
        meet(of, round);
        for (uint64_t part = at; part < at + of->batch * TOGETHER; part += of->batch) {
            for (size_t i = 0; i < of->batch; i++)
                hashes[i] = hash_at(part + i);
            if (of->batch > 1)
                (void)kind->add_hashes(of->filter, hashes, of->batch, me->verdicts + part, &me->tally);
            else
                me->verdicts[part] = (uint8_t)kind->add_hash(of->filter, hashes[0]).code;
        }
    }
    return NULL;
}

static int write_nothing(vidi__writer *writer, const void *data, uint64_t bytes)
{
    (void)writer;
    (void)data;
    (void)bytes;
    return VIDI_OK;
}

/* When it is saved, the number of set bits is that of the bits. */
static void check_bits(const vidi__filter *filter)
{
    vidi__writer writer = {.write = write_nothing};
    assert_int_equal(filter->kind->save(filter, &writer), VIDI_OK);
    assert_int_equal(filter->kind->verify(filter), VIDI_OK);
}

static void exactly_one_is_told_new(void **state)
{
    const size_t *batch = *state;
    shared of;
    adder adders[THREADS];
    make(&of, "m=8000000,k=20");
    of.batch = *batch;
    of.n = (20000 + test_urls_at_most(1000000) / 5) / (of.batch * TOGETHER) * of.batch * TOGETHER;
    for (unsigned i = 0; i < THREADS; i++) {
        adders[i] = (adder){.of = &of, .verdicts = calloc(of.n, 1)};
        assert_non_null(adders[i].verdicts);
        assert_int_equal(pthread_create(&adders[i].thread, NULL, add_all, &adders[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(adders[i].thread, NULL);
    uint64_t neither = 0;
    for (uint64_t at = 0; at < of.n; at++) {
        uint8_t one = adders[0].verdicts[at], two = adders[1].verdicts[at];
        check((one == VIDI_NEW || one == VIDI_SEEN) && (two == VIDI_NEW || two == VIDI_SEEN) &&
                  (one == VIDI_SEEN || two == VIDI_SEEN),
              "URL %llu: %d and %d", (unsigned long long)at, one, two);
        neither += one == two;
        assert_int_equal(of.filter->kind->has_hash(of.filter, hash_at(at)), VIDI_SEEN);
    }
    check((double)neither <= 30 + 0.1 * (double)of.n, "%llu are falsely seen", (unsigned long long)neither);
    check_bits(of.filter);
    vidi__filter_destroy(of.filter);
    vidi__gate_free(&of.gate, &of.gate_memory);
    for (unsigned i = 0; i < THREADS; i++)
        free(adders[i].verdicts);
    assert_int_equal(vidi__memory_used(&of.memory), 0);
}

int main(int argc, char **argv)
{
    static const size_t one = 1, many = 60;
    test_add("exactly one is told NEW, one by one", exactly_one_is_told_new, &one);
    test_add("exactly one is told NEW, in batches", exactly_one_is_told_new, &many);
    return test_run("classic, threads", argc, argv);
}
