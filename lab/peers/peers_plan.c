/* What each structure needs for a number of bits or for a rate, and how often it is wrong, by formula. See peers.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/kinds/kinds.h"
#include "lab/peers/peers.h"

enum { LINE_BITS = 512, SLOT_BITS = 72, CUCKOO_LEAST = 4 }; /* SLOT_BITS: a hash and a control byte */
enum { ROCKSDB_MOST = 100 };                                /* bits per key that RocksDB accepts */

const char *const lab_peer_names[LAB_PEERS + 1] = {"fingerprint", "blocked", "classic",  "cuckoo", "fuse 3-wise",
                                                   "fuse 4-wise", "RocksDB", "hash set", NULL};

static bool is_vidi(lab_peer_sort sort)
{
    return sort <= LAB_PEER_CLASSIC;
}

static unsigned arity_of(lab_peer_sort sort)
{
    return sort == LAB_PEER_FUSE_3 ? 3 : 4;
}

static uint64_t swiss_slots(uint64_t keys)
{
    uint64_t slots = 16;
    while (slots / 8 * 7 < keys)
        slots *= 2;
    return slots;
}

/* Sets the units of structures whose number of units follows from that of the keys alone. */
static lab_peer_plan plan_of(lab_peer_sort sort, uint64_t keys)
{
    lab_peer_plan plan = {.sort = sort, .keys = keys};
    if (sort == LAB_PEER_CUCKOO)
        plan.units = lab_cuckoo_buckets_for(keys);
    else if (sort == LAB_PEER_FUSE_3 || sort == LAB_PEER_FUSE_4)
        plan.units = lab_fuse_places(keys, arity_of(sort));
    else if (sort == LAB_PEER_HASHSET)
        plan.units = swiss_slots(keys);
    return plan;
}

double lab_peer_plan_needs(const lab_peer_plan *plan)
{
    double n = (double)plan->keys, units = (double)plan->units;
    switch (plan->sort) {
    case LAB_PEER_CUCKOO:
        return units * LAB_CUCKOO_SLOTS * plan->bits / n;
    case LAB_PEER_FUSE_3:
    case LAB_PEER_FUSE_4:
        return units * plan->bits / n;
    case LAB_PEER_ROCKSDB:
        return units * LINE_BITS / n;
    case LAB_PEER_HASHSET:
        return units * SLOT_BITS / n;
    default:
        return 8 * (double)plan->vidi.bytes / n;
    }
}

int lab_peer_needs(double *bits, lab_theory_sort *sort, const lab_peer_plan *plan, double rate)
{
    *sort = LAB_DERIVED;
    *bits = lab_peer_plan_needs(plan);
    if (!is_vidi(plan->sort))
        return VIDI_OK;
    LAB_TRY(lab_kind_memory(bits, sort, lab_peer_names[plan->sort], plan->keys, rate));
    *bits /= (double)plan->keys;
    return VIDI_OK;
}

/* ---- for a number of bits ---- */

static int find_shape(lab_peer_plan *plan)
{
    if (plan->sort == LAB_PEER_BLOCKED && !lab_blocked_shape(&plan->vidi, &plan->units, &plan->bits))
        return lab_fail(VIDI_EMEMORY, "there is no set of kind blocked to tell its shape");
    return VIDI_OK;
}

/* The widest fingerprint that fits; 0: none. */
static unsigned widest(double bits_for_each, unsigned least, unsigned most)
{
    return bits_for_each < least ? 0 : (unsigned)fmin(bits_for_each, most);
}

int lab_peer_plan_bits(lab_peer_plan *plan, bool *fits, lab_peer_sort sort, uint64_t keys, double bits)
{
    double all = bits * (double)keys;
    *plan = plan_of(sort, keys);
    if (is_vidi(sort)) {
        LAB_TRY(lab_kind_plan(&plan->vidi, fits, lab_peer_names[sort], keys, bits));
        return *fits ? find_shape(plan) : VIDI_OK;
    }
    switch (sort) {
    case LAB_PEER_CUCKOO:
        plan->bits = widest(all / ((double)plan->units * LAB_CUCKOO_SLOTS), CUCKOO_LEAST, LAB_CUCKOO_BITS_MOST);
        *fits = plan->bits > 0;
        break;
    case LAB_PEER_ROCKSDB:
        plan->units = (uint64_t)(fmin(all, ROCKSDB_MOST * (double)keys) / LINE_BITS);
        plan->bits = lab_rocksdb_probes((double)plan->units * LINE_BITS / (double)keys);
        *fits = plan->units > 0 && plan->units < UINT32_MAX;
        break;
    case LAB_PEER_HASHSET:
        *fits = (double)plan->units * SLOT_BITS <= all;
        break;
    default: /* binary fuse */
        plan->bits = widest(all / (double)plan->units, 1, LAB_FUSE_BITS_MOST);
        *fits = plan->bits > 0;
    }
    return VIDI_OK;
}

/* ---- for a rate ---- */

static double rate_of(const lab_peer_plan *plan)
{
    return lab_peer_theory(plan, 1).mean;
}

/* The fewest bits per key that reach the rate, in steps of a tenth. */
static void plan_rocksdb(lab_peer_plan *plan, double rate)
{
    for (int tenths = 40; tenths <= 10 * ROCKSDB_MOST; tenths++) {
        plan->units = (uint64_t)ceil(tenths / 10.0 * (double)plan->keys / LINE_BITS);
        plan->bits = lab_rocksdb_probes(tenths / 10.0);
        if (rate_of(plan) <= rate)
            return;
    }
}

int lab_peer_plan_rate(lab_peer_plan *plan, lab_peer_sort sort, uint64_t keys, double rate)
{
    unsigned most = sort == LAB_PEER_CUCKOO ? LAB_CUCKOO_BITS_MOST : LAB_FUSE_BITS_MOST;
    *plan = plan_of(sort, keys);
    if (is_vidi(sort)) {
        LAB_TRY(lab_kind_plan_error(&plan->vidi, lab_peer_names[sort], keys, rate));
        return find_shape(plan);
    }
    if (sort == LAB_PEER_HASHSET)
        return VIDI_OK;
    if (sort == LAB_PEER_ROCKSDB) {
        plan_rocksdb(plan, rate);
        return VIDI_OK;
    }
    plan->bits = sort == LAB_PEER_CUCKOO ? CUCKOO_LEAST : 1;
    while (plan->bits < most && rate_of(plan) > rate)
        plan->bits++;
    return VIDI_OK;
}

/* ---- theory ---- */

/* Counts if the filter falsely sees the share `mean` of all possible keys, which varies from filter to filter. */
static lab_theory theory_of(double mean, double variance, double asked)
{
    return (lab_theory){asked * mean, asked * mean * (1 - mean) + asked * (asked - 1) * variance, asked};
}

/*
 * Each key marks one of `cells`, and a new key is falsely seen if its cell is marked: the variance is that of the
 * occupancy problem.
 */
static lab_theory cells_theory(double keys, double cells, double asked)
{
    double c = keys / cells, unmarked = exp(-c);
    double variance = c < 1e-4 ? c * c / 2 : unmarked - (1 + c) * unmarked * unmarked;
    return theory_of(-expm1(-c), variance / cells, asked);
}

/*
 * Two keys are taken for one if their fingerprints are equal and their pairs of buckets too, that is, if the first
 * bucket of one is either bucket of the other; which slots they lie in plays no part. Fingerprint 0 does not exist and
 * becomes 1, so that one is twice as likely.
 */
static lab_theory cuckoo_theory(const lab_peer_plan *plan, double asked)
{
    double p = ldexp(1, -(int)plan->bits), pairs = (double)plan->units / 2, n = (double)plan->keys;
    lab_theory most = cells_theory(n * p, pairs, asked), twice = cells_theory(2 * n * p, pairs, asked);
    double mean = ((1 - 2 * p) * most.mean + 2 * p * twice.mean) / asked;
    double c = n * p / pairs;
    return theory_of(mean, p * c * c / 2 / pairs, asked);
}

/*
 * The mean is that of kinds-lost. It varies from filter to filter, because some lines are fuller: for one line, as the
 * chance that it is full varies from line to line; for more it hardly matters, because losses are rare.
 */
static lab_theory blocked_theory(const lab_peer_plan *plan, double asked)
{
    enum { LANES = 8, LANE_BITS = 64 };
    double n = (double)plan->keys, mean = n / (double)plan->units, chance = exp(-mean), rate = 0, square = 0;
    for (unsigned keys = 0; keys < 4 * mean + 60; keys++) {
        double full = pow(1 - pow(1 - 1.0 / LANE_BITS, keys), LANES);
        rate += chance * full;
        square += chance * full * full;
        chance *= mean / (keys + 1);
    }
    double spread = plan->bits == 1 ? (square - rate * rate) / (double)plan->units : 0;
    return theory_of(lab_blocked_chance(n, plan->units, plan->bits), spread, asked);
}

/* Given j keys in a line, a probe meets a marked bit as often as j k marks fill 512 bits; j is a Poisson variable. */
static lab_theory rocksdb_theory(const lab_peer_plan *plan, double asked)
{
    double mean = (double)plan->keys / (double)plan->units, chance = exp(-mean), rate = 0, square = 0;
    for (unsigned keys = 0; keys < 4 * mean + 60; keys++) {
        lab_fill fill = lab_fill_after((double)keys * plan->bits, LINE_BITS);
        rate += chance * (keys ? lab_fill_power(fill, plan->bits) : 0);
        square += chance * (keys ? lab_fill_power(fill, 2.0 * plan->bits) : 0);
        chance *= mean / (keys + 1);
    }
    double same = ldexp(mean, -32); /* keys of the line with the same 32 bits for its probes */
    return theory_of(rate + (1 - rate) * same, (square - rate * rate) / (double)plan->units, asked);
}

lab_theory lab_peer_theory(const lab_peer_plan *plan, uint64_t asked)
{
    double n = (double)plan->keys, all = (double)asked;
    const char *params = plan->vidi.params;
    switch (plan->sort) {
    case LAB_PEER_FINGERPRINT:
        return cells_theory(n, exp2(lab_kind_number(params, "bits")), all);
    case LAB_PEER_BLOCKED:
        return blocked_theory(plan, all);
    case LAB_PEER_CLASSIC: {
        lab_theory theory =
            lab_filter_theory(plan->keys, lab_kind_number(params, "m"), (unsigned)lab_kind_number(params, "k"), 1);
        double mean = theory.mean / n;
        double share = n > 1 ? (theory.variance - n * mean * (1 - mean)) / (n * (n - 1)) : 0;
        return theory_of(mean, fmax(share, 0), all);
    }
    case LAB_PEER_CUCKOO:
        return cuckoo_theory(plan, all);
    case LAB_PEER_ROCKSDB:
        return rocksdb_theory(plan, all);
    case LAB_PEER_HASHSET:
        return cells_theory(n, 0x1p64, all);
    default:
        return theory_of(ldexp(1, -(int)plan->bits), 0, all);
    }
}

/* ---- which times may be shown ---- */

const lab_peer_comparison lab_peer_compared[] = {
#include "lab/peers/compared.inc"
    {NULL, NULL, NULL, 0, 0},
};

bool lab_peer_timed(const lab_peer_comparison *list, lab_peer_sort sort, char *why, size_t room)
{
    const char *with = NULL;
    double worst = 0;
    if (room > 0)
        why[0] = 0;
    if (is_vidi(sort))
        return true;
    for (; list->peer; list++)
        if (strcmp(list->peer, lab_peer_names[sort]) == 0) {
            worst = fmax(worst, fmax(list->best, list->median));
            with = list->with;
        }
    if (!with)
        snprintf(why, room, "left out: Debian has no implementation that ours could be compared with");
    else
        snprintf(why, room, "%s %.2f times those of %s",
                 worst <= LAB_PEER_SLOWEST ? "our times are at most" : "left out: our times are up to", worst, with);
    return with && worst <= LAB_PEER_SLOWEST;
}
