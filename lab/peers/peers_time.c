/*
 * Nanoseconds for an add and for a lookup, of known and of new keys, with ready-made hashes: a tenth of the URLs in the
 * caches, and four times the URLs out of the near ones. Everything is measured in turn within a run, so that times of a
 * run can be compared in pairs. All structures get the same memory (peer_sets.c) and prefetch alike.
 *
 * Times of a structure that is not known to be as fast as a public implementation are left out (lab_peer_timed): they
 * would say something about our code, and nothing about the structure.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/engine/run_memory.h"
#include "lab/peers/peers.h"

enum { NEAR_PART = 10, FAR_TIMES = 4, DEEDS = 3, PLACES = 2, BATCH = 4096, ASKED_MOST = 500000, ASKED_LEAST = 100000 };
enum { SIZES = 6 };
#define TIME_RATE 1e-3
#define HARDLY_EVER 1e-9 /* a structure with such a rate needs no more bits */

static const double bits_of[SIZES] = {8, 12, 16, 24, 48, 168};
const char *const lab_peer_deeds[] = {"add, in the cache",
                                      "known, in the cache",
                                      "new, in the cache",
                                      "add, out of it",
                                      "known, out of it",
                                      "new, out of it",
                                      NULL};
const char *const lab_peer_time_sizes[] = {"8 bits", "12 bits", "16 bits", "24 bits", "48 bits", "168 bits", NULL};

/* Nanoseconds for each key; NAN: not measured. */
typedef struct times {
    double add, known, new;
} times;

/* A key generator: keys number `first` on, in batches that are made outside of the time that is taken. */
typedef struct keys {
    const lab_settings *settings;
    uint64_t run, first;
} keys;

typedef int64_t deed(lab_peer *peer, const vidi_digest *keys, size_t count);

static int time_deed(deed *deed, lab_peer *peer, keys from, uint64_t count, double *nanoseconds)
{
    vidi_digest *batch;
    uint64_t time = 0;
    LAB_BLOCK;
    LAB_TRY(LAB_NEW(batch, BATCH));
    for (uint64_t done = 0, now; done < count; done += now) {
        now = count - done < BATCH ? count - done : BATCH;
        lab_peer_make_hashes(batch, from.settings, from.run, from.first + done, now);
        uint64_t start = lab_thread_time();
        LAB_TRY(deed(peer, batch, now));
        time += lab_thread_time() - start;
    }
    *nanoseconds = (double)time / (double)count;
    return VIDI_OK;
}

/* Small numbers of keys are looked up several times, so that the time is long enough to measure. */
static int time_lookups(lab_peer *peer, keys from, uint64_t n, double *nanoseconds)
{
    uint64_t asked = n < ASKED_MOST ? n : ASKED_MOST,
             rounds = 1 + (asked < ASKED_LEAST ? ASKED_LEAST / (asked + 1) : 0);
    double sum = 0;
    for (uint64_t i = 0; i < rounds; i++) {
        double one;
        LAB_TRY(time_deed(lab_peer_has, peer, from, asked, &one));
        sum += one;
    }
    *nanoseconds = sum / (double)rounds;
    return VIDI_OK;
}

static int time_plan(const lab_peer_plan *plan, const lab_settings *settings, uint64_t run, bool all, times *times)
{
    unsigned char key[VIDI_KEY_BYTES];
    lab_peer_memory memory;
    LAB_OWN(lab_peer_close) lab_peer *peer = NULL;
    keys known = {settings, run, 0}, new = {settings, run, plan->keys};
    lab_key(key, settings->seed, run);
    lab_peer_memory_init(&memory);
    LAB_TRY(lab_peer_make(&peer, plan, false, key, &memory));
    LAB_TRY(time_deed(lab_peer_add, peer, known, plan->keys, &times->add));
    LAB_TRY(lab_peer_finish(peer));
    if (all)
        LAB_TRY(time_lookups(peer, known, plan->keys, &times->known));
    return time_lookups(peer, new, plan->keys, &times->new);
}

/* ---- at an equal rate ---- */

static uint64_t keys_of(const lab_settings *settings, bool far)
{
    return far ? FAR_TIMES * settings->urls : lab_urls_part(settings, NEAR_PART, 100);
}

static int measure_time(const lab_settings *settings, uint64_t run, double *numbers)
{
    for (size_t i = 0; i < (size_t)LAB_PEERS * PLACES; i++) {
        lab_peer_sort sort = (lab_peer_sort)(i / PLACES);
        times times = {(double)NAN, (double)NAN, (double)NAN};
        lab_peer_plan plan;
        if (lab_peer_timed(lab_peer_compared, sort, NULL, 0)) {
            LAB_TRY(lab_peer_plan_rate(&plan, sort, keys_of(settings, i % PLACES), TIME_RATE));
            LAB_TRY(time_plan(&plan, settings, run, true, &times));
        }
        double *cells = &numbers[i * DEEDS];
        cells[0] = times.add;
        cells[1] = times.known;
        cells[2] = times.new;
        if (lab_stopped(settings))
            return LAB_STOPPED;
    }
    return VIDI_OK;
}

static void judge_time(const lab_cell *cell, lab_entry *entry)
{
    if (cell->column == 0)
        lab_peer_timed(lab_peer_compared, (lab_peer_sort)cell->row, entry->remark, sizeof entry->remark);
}

/* ---- at equal bits ---- */

/* *fits is false if it does not fit, if a smaller one is hardly ever wrong, or if ours is not made to be fast. */
static int plan_speed(lab_peer_plan *plan, bool *fits, lab_peer_sort sort, uint64_t keys, size_t size)
{
    lab_peer_plan smaller;
    bool had = false;
    LAB_TRY(lab_peer_plan_bits(plan, fits, sort, keys, bits_of[size]));
    if (*fits && size > 0)
        LAB_TRY(lab_peer_plan_bits(&smaller, &had, sort, keys, bits_of[size - 1]));
    if (had && lab_peer_theory(&smaller, 1).mean < HARDLY_EVER)
        *fits = false;
    if (sort == LAB_PEER_CUCKOO && plan->bits > LAB_CUCKOO_BITS_QUICK)
        *fits = false;
    return VIDI_OK;
}

static int measure_speed(const lab_settings *settings, uint64_t run, double *numbers)
{
    for (size_t i = 0; i < (size_t)LAB_PEERS * SIZES; i++) {
        lab_peer_sort sort = (lab_peer_sort)(i / SIZES);
        times times = {.new = (double)NAN};
        lab_peer_plan plan;
        bool fits = false;
        if (lab_peer_timed(lab_peer_compared, sort, NULL, 0))
            LAB_TRY(plan_speed(&plan, &fits, sort, settings->urls, i % SIZES));
        if (fits)
            LAB_TRY(time_plan(&plan, settings, run, false, &times));
        numbers[i] = times.new;
        if (lab_stopped(settings))
            return LAB_STOPPED;
    }
    return VIDI_OK;
}

LAB_STUDY(peers_time, "peers-time", "Time per key: the filters people use now", "vidi",
          "Ready-made hashes, no hashing of URLs; structures for one in 1,000 falsely seen (fingerprint: 32 bits of "
          "the hash, hash set: 64). In the cache: a tenth of the URLs; out of it: four times the URLs, which is "
          "more than the near caches hold but may fit into the last one: --urls 1e7 is larger. The same memory, "
          "batches and prefetching for all. Structures of other people are left out unless our implementation has "
          "been compared with a public one that Debian has, and takes at most 1.3 times as long (make bench-peers).",
          "ns per key", lab_peer_names, lab_peer_deeds, .timed = true, .runs_most = 10, .work = 4,
          .measure = measure_time, .judge = judge_time);

LAB_STUDY(peers_speed, "peers-speed", "Time of a lookup at equal bits: the filters people use now", "vidi",
          "Lookups of new keys in structures for as many keys as there are URLs, which take at most the column's bits "
          "per key. Left out where a smaller one is hardly ever wrong (one in 1e9), and cuckoo filters with more than "
          "28 bits a fingerprint. Otherwise as peers-time.",
          "ns per key", lab_peer_names, lab_peer_time_sizes, .timed = true, .runs_most = 10, .work = 2,
          .plot = {.x = "bytes per URL",
                   .y = "ns per lookup of a new key",
                   .log_x = true,
                   .log_y = true,
                   .along = (const double[]){1, 1.5, 2, 3, 6, 21}},
          .measure = measure_speed, .judge = judge_time);
