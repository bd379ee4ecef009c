/*
 * The peer: a table of 64-bit hashes without locks. A hash belongs into the first free slot from its place on, and a
 * thread takes the slot by comparing and swapping. It neither grows nor forgets, has no statistics and no canonical
 * form: about the least that can answer the question. It uses the same keyed hash as vidi, so only the tables differ.
 */
#include "bench/threads/threads.h"
#include "lib/inside/inside.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <vidi/url.h>

#define LOAD 0.55
#define AHEAD 32 /* prefetches in flight */

typedef struct table {
    _Atomic uint64_t *slots; /* 0: free */
    uint64_t size, n;
    unsigned char key[VIDI_KEY_BYTES];
} table;

static void *make(const thread_recipe *recipe)
{
    table *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->n = recipe->n;
    self->size = (uint64_t)((double)recipe->n / LOAD) + 1;
    self->slots = bench_map((size_t)self->size * sizeof *self->slots, true, true);
    memcpy(self->key, &recipe->seed, sizeof recipe->seed);
    if (self->slots)
        return self;
    fprintf(stderr, "no memory for the table\n");
    free(self);
    return NULL;
}

static void close_table(void *context)
{
    table *self = context;
    bench_unmap((void *)self->slots, (size_t)self->size * sizeof *self->slots);
    free(self);
}

static uint64_t place(const table *self, uint64_t hash)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)hash * self->size >> 64);
}

static uint8_t look(const table *self, uint64_t hash, bool adds)
{
    hash += !hash;
    for (uint64_t i = place(self, hash);; i = i + 1 == self->size ? 0 : i + 1) {
        uint64_t held = atomic_load_explicit(&self->slots[i], memory_order_relaxed);
        if (!held && (!adds || atomic_compare_exchange_strong(&self->slots[i], &held, hash)))
            return VIDI_NEW;
        if (held == hash)
            return VIDI_SEEN;
    }
}

static bool singly(const table *self, const vidi_str *urls, size_t n, bool adds, uint8_t *verdicts)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t hash[2];
        vidi_keyed_hash(self->key, urls[i], hash);
        verdicts[i] = look(self, hash[0], adds);
    }
    return true;
}

static bool batch_of(const table *self, const vidi_str *urls, size_t n, bool adds, uint8_t *verdicts)
{
    vidi_digest hashes[BENCH_BATCH];
    if (vidi__inside_hash("sip13", self->key, (vidi_str){NULL, 0}, urls, n, hashes) < 0)
        return false;
    for (size_t i = 0; i < n + AHEAD; i++) {
        if (i < n)
            __builtin_prefetch((const void *)&self->slots[place(self, hashes[i].lo)], 1);
        if (i >= AHEAD)
            verdicts[i - AHEAD] = look(self, hashes[i - AHEAD].lo, adds);
    }
    return true;
}

static bool pass(const table *self, const vidi_str *urls, size_t n, size_t batch, bool adds, uint8_t *verdicts)
{
    if (batch == 1)
        return singly(self, urls, n, adds, verdicts);
    for (size_t done = 0, count; done < n; done += count) {
        count = n - done < batch ? n - done : batch;
        if (!batch_of(self, urls + done, count, adds, verdicts + done))
            return false;
    }
    return true;
}

static bool add(void *self, const vidi_str *urls, size_t n, size_t batch, uint8_t *verdicts)
{
    return pass(self, urls, n, batch, true, verdicts);
}

static bool has(void *self, const vidi_str *urls, size_t n, size_t batch, uint8_t *verdicts)
{
    return pass(self, urls, n, batch, false, verdicts);
}

static bool weigh(void *context, thread_weight *weight)
{
    const table *self = context;
    double n = (double)self->n;
    *weight = (thread_weight){.bytes = self->size * sizeof *self->slots,
                              .told_new = UINT64_MAX,
                              .expected_lost = n * n / 0x1p65,
                              .fp = n / 0x1p64};
    return true;
}

const thread_class thread_cas_tables = {make, close_table, add, has, weigh};
