/*
 * What an attack comes to, in standard deviations from what random hashes come to.
 *
 * Where there is a theory of random placement (hashes in cells, hashes in lines, pages lost), it is the measure. For
 * the rest (memory, rebuilding, what overflows, bits marked) some tables are filled with random numbers for hashes, and
 * Student's t says how far an attack is from those.
 *
 * All checks together may fail by chance as often as a single one at three standard deviations, that is with 0.27 per
 * cent; each has its share of that. The seeds are fixed.
 */
#ifndef TESTS_SET_ADVERSARY_MEASURES_H
#define TESTS_SET_ADVERSARY_MEASURES_H

#include <math.h>

#include "filters/fingerprint/table.h"
#include "set/set.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"

/* Of the two test programs that share them. */
enum { CHECKS_OF_LISTS = 220, CHECKS_OF_HUNTS = 36, CHECKS_MOST = CHECKS_OF_LISTS + CHECKS_OF_HUNTS };

/* An attack consists of so many. With fewer than a hundred thousand, some that succeed would not show. */
static inline uint64_t attack_urls(void)
{
    const uint64_t least = 100000;
    return test_urls() > least ? test_urls() : least;
}

/* ---- standard deviations ---- */

static uint64_t checks; /* that were made */

/* How many standard deviations a normal variable is off with this probability, given by its logarithm. */
static inline double sigmas_of(double log_p)
{
    double low = 0, high = 38;
    if (log_p >= 0)
        return 0;
    if (log_p < -700)
        return sqrt(-2 * log_p);
    while (high - low > 1e-9) {
        double middle = (low + high) / 2;
        if (log(erfc(middle / sqrt(2))) > log_p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static inline double sigmas_allowed(void)
{
    return sigmas_of(log(erfc(3 / sqrt(2)) / CHECKS_MOST));
}

/* Poisson's law: the logarithm of the chance of so many or more, or of so many or fewer if that is below the mean. */
static inline double log_tail(double mean, double n)
{
    double term = 1, sum = 1;
    for (double k = n; term > 1e-15 * sum && k > 0; k += n > mean ? 1 : -1) {
        term *= n > mean ? mean / (k + 1) : k / mean;
        sum += term;
    }
    return fmin(0, n * log(mean) - mean - lgamma(n + 1) + log(sum));
}

/* Of a number of events: above 0 if there are more than expected. */
static inline double sigmas_of_events(double expected, double n)
{
    double sigmas = sigmas_of(log(2) + log_tail(expected, n));
    return n > expected ? sigmas : -sigmas;
}

/* Student's t with so many degrees of freedom, as the normal variable of about the same probability (Wallace 1959). */
static inline double sigmas_of_t(double t, double freedom)
{
    return copysign((8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t * t / freedom)), t);
}

/* Pearson's statistic, of places that are equally likely. Its mean and variance are exact. */
typedef struct pearson {
    double sum, mean, variance;
} pearson;

static inline void pearson_add(pearson *p, const uint32_t *counts, uint64_t places, uint64_t n)
{
    double expected = (double)n / (double)places;
    if (n < 2 || places < 2)
        return;
    for (uint64_t i = 0; i < places; i++)
        p->sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    p->mean += (double)(places - 1);
    p->variance += 2 * (double)(places - 1) * (1 - 1 / (double)n);
}

static inline double pearson_sigmas(const pearson *p)
{
    return p->variance > 0 ? (p->sum - p->mean) / sqrt(p->variance) : 0;
}

static inline uint32_t largest(const uint32_t *counts, uint64_t places)
{
    uint32_t most = 0;
    for (uint64_t i = 0; i < places; i++)
        most = counts[i] > most ? counts[i] : most;
    return most;
}

/* ---- what is compared with random tables ---- */

enum effort {
    BYTES,          /* of a fingerprint table */
    DEPTH,          /* of its deepest directory */
    REBUILDS,       /* of sub-tables */
    MOVED,          /* hashes in what was rebuilt */
    DISPLACED,      /* hashes that are in the next line */
    OVERFLOWED,     /* hashes that are beside the lines */
    SIGNED,         /* bits of signatures, for each of which some absent URLs lead on to the next line */
    PROBES,         /* steps from where the search for an overflowed hash begins to where it is */
    BLOCKED_SEEN,   /* URLs that were falsely seen while they were added to a blocked filter */
    BLOCKED_MARKED, /* its bits */
    BLOCKED_CHANCE, /* that its lines say "seen", as they are in fact */
    BLOCKED_BYTES,
    BLOCKED_LAYERS,
    EFFORTS
};

static const char *const effort_names[EFFORTS] = {
    "bytes",  "depth",         "rebuilds",       "moved",           "displaced",      "overflowed",     "signed",
    "probes", "blocked: seen", "blocked: marks", "blocked: chance", "blocked: bytes", "blocked: layers"};

/* ---- fingerprint: a table of which everything can be seen, filled as the set's own is ---- */

typedef struct mirror {
    vidi__memory memory;
    vidi__table table;
    uint64_t moved;
} mirror;

static inline void mirror_init(mirror *m, unsigned bits)
{
    memset(m, 0, sizeof *m);
    m->table.hashes = UINT64_C(1) << bits;
    assert_int_equal(vidi__memory_init(&m->memory, NULL, 0), VIDI_OK);
    vidi__table_init(&m->table, &m->memory);
}

/* Adds hashes in their order. */
static inline void mirror_add(mirror *m, const vidi__u128 *hashes, uint64_t n)
{
    enum { AHEAD = 16 }; /* so that the memory is not waited for */
    for (uint64_t i = 0; i < n; i++) {
        uint64_t replaced = m->table.replaced;
        if (i + AHEAD < n)
            __builtin_prefetch(vidi__table_place(&m->table, hashes[i + AHEAD].hi).spot.line, 1);
        assert_true(vidi__table_add(&m->table, hashes[i].hi) > 0);
        if (m->table.replaced != replaced)
            m->moved += vidi__table_place(&m->table, hashes[i].hi).table->used;
    }
}

/* Where the hashes of a table have their places, and how many are not there. */
typedef struct tenancy {
    pearson lines;
    double log_crowded; /* logarithm of the chance of the least likely line */
    double lines_in_all;
    double of[EFFORTS];
} tenancy;

/* For each line the hashes whose place it is, wherever they are. */
static inline void count_homes(const vidi__subtable *part, uint32_t *homes, double *of)
{
    const vidi__overflow *overflow = &part->overflow;
    unsigned slots = vidi__line_slots(part->width);
    for (uint64_t line = 0; line < part->lines; line++) {
        uint32_t head = vidi__line_head(vidi__subtable_line(part, line));
        uint32_t displaced_slots = (uint32_t)__builtin_popcount(vidi__line_displaced(head, slots));
        homes[line] += vidi__line_count(head) - displaced_slots;
        homes[line ? line - 1 : part->lines - 1] += displaced_slots;
        of[DISPLACED] += displaced_slots;
        of[SIGNED] += __builtin_popcount(head >> (5 + slots));
    }
    for (uint64_t at = 0; at < overflow->room; at++) {
        uint64_t hash = *vidi__overflow_at(overflow->entries, at), home = vidi__overflow_home(overflow, hash);
        if (hash == VIDI__OVERFLOW_EMPTY)
            continue;
        homes[vidi__scale(hash, part->ratio)]++;
        of[OVERFLOWED]++;
        of[PROBES] += (double)(at >= home ? at - home : at + overflow->room - home);
    }
}

static inline void look_at_part(const vidi__subtable *part, tenancy *t)
{
    uint32_t *homes = calloc(part->lines, sizeof *homes);
    assert_non_null(homes);
    count_homes(part, homes, t->of);
    pearson_add(&t->lines, homes, part->lines, part->used);
    double mean = (double)part->used / (double)part->lines, most = largest(homes, part->lines);
    if (most > mean)
        t->log_crowded = fmin(t->log_crowded, log_tail(mean, most));
    t->lines_in_all += (double)part->lines;
    free(homes);
}

static inline tenancy tenancy_of(const mirror *m)
{
    tenancy t = {0};
    vidi__table_stats stats = {0};
    for (unsigned i = 0; i < vidi__table_partitions(&m->table); i++) {
        const vidi__directory directory = vidi__directory_of(&m->table.partitions[i]);
        uint64_t count = directory.entries ? UINT64_C(1) << directory.depth : 0;
        for (uint64_t entry = 0; entry < count; entry++)
            if (entry == 0 || directory.entries[entry] != directory.entries[entry - 1])
                look_at_part(directory.entries[entry], &t);
        vidi__table_stat(&m->table, i, &stats);
        t.of[DEPTH] = fmax(t.of[DEPTH], directory.depth);
    }
    t.of[REBUILDS] = (double)m->table.replaced;
    t.of[BYTES] = (double)stats.bytes;
    t.of[MOVED] = (double)m->moved;
    return t;
}

/* ---- blocked: its lines as they are saved ---- */

typedef struct saved {
    vidi__writer writer;
    unsigned char *data;
    uint64_t size, room;
} saved;

static inline int saved_write(vidi__writer *writer, const void *data, uint64_t bytes)
{
    saved *s = (saved *)writer;
    if (s->size + bytes > s->room) {
        s->room = 2 * (s->size + bytes);
        s->data = realloc(s->data, s->room);
        assert_non_null(s->data);
    }
    memcpy(s->data + s->size, data, bytes);
    s->size += bytes;
    return VIDI_OK;
}

/* The chance that a line says "seen" of a URL that draws it: in each lane the share of bits that are marked. */
static inline double chance_of_line(const unsigned char *line)
{
    double chance = 1;
    for (unsigned lane = 0; lane < 8; lane++)
        chance *= __builtin_popcountll(vidi__load64(line + 8 * lane)) / 64.0;
    return chance;
}

/*
 * u64 layers; for each u64 rows, lines a row, two numbers of URLs, 64 of marks, zeros up to a whole line, and the
 * lines.
 */
static inline double chance_in_lines(const vidi_set *set)
{
    saved s = {.writer = {.write = saved_write}};
    double sum = 0;
    assert_int_equal(set->now.filter->kind->save(set->now.filter, &s.writer), VIDI_OK);
    const unsigned char *at = s.data + 8;
    for (uint64_t layers = vidi__load64(s.data); layers; layers--) {
        uint64_t lines = vidi__load64(at) * vidi__load64(at + 8);
        at = s.data + vidi__round_up((uint64_t)(at - s.data) + 32 + 64 * 8, VIDI__CACHE_LINE);
        for (uint64_t i = 0; i < lines; i++, at += 64)
            sum += chance_of_line(at) / (double)lines;
    }
    assert_true(at == s.data + s.size);
    free(s.data);
    return sum;
}

static inline void look_at_blocked(const vidi_set *set, double *of)
{
    vidi_stats stats = test_stat(set);
    of[BLOCKED_SEEN] = (double)stats.answered_seen;
    of[BLOCKED_MARKED] = stats.fill * (double)stats.bytes * 8;
    of[BLOCKED_CHANCE] = chance_in_lines(set);
    of[BLOCKED_BYTES] = (double)stats.bytes;
    of[BLOCKED_LAYERS] = stats.stages;
}

/* ---- random tables ---- */

enum { RANDOM_TABLES = 16 };

typedef struct randoms {
    uint64_t n; /* hashes in each of them; 0: they have not been made */
    double of[EFFORTS][RANDOM_TABLES];
} randoms;

static inline vidi__u128 random_hash(test_random *random)
{
    uint64_t lo = test_next(random);
    return (vidi__u128){lo, test_next(random)};
}

static inline void fill_with_randoms(mirror *m, vidi_set *blocked, uint64_t n, uint64_t seed)
{
    enum { PART = 2000 };
    test_random random = {seed};
    vidi__u128 hashes[PART];
    uint8_t verdicts[PART];
    vidi__tally tally = {0};
    for (uint64_t done = 0, part; done < n; done += part) {
        part = n - done < PART ? n - done : PART;
        for (uint64_t i = 0; i < part; i++)
            hashes[i] = random_hash(&random);
        mirror_add(m, hashes, part);
        if (blocked)
            assert_int_equal(blocked->now.filter->kind->add_hashes(blocked->now.filter, hashes, part, verdicts, &tally),
                             VIDI_OK);
    }
    if (blocked)
        atomic_store(&blocked->now.answered_seen, tally.seen);
}

/* `blocked` is an empty set such as the attacks are made on, or NULL. */
static inline void randoms_take(randoms *r, unsigned number, vidi_set *blocked, unsigned bits, uint64_t n)
{
    mirror m;
    mirror_init(&m, bits);
    fill_with_randoms(&m, blocked, n, 1000 + number);
    tenancy t = tenancy_of(&m);
    if (blocked)
        look_at_blocked(blocked, t.of);
    for (unsigned e = 0; e < EFFORTS; e++)
        r->of[e][number] = t.of[e];
    vidi__table_close(&m.table);
}

/* Where none of the random tables differs from another, nothing else may either. */
static inline double sigmas_of_effort(const randoms *r, enum effort which, double value)
{
    double mean = 0, squares = 0;
    for (unsigned i = 0; i < RANDOM_TABLES; i++)
        mean += r->of[which][i] / RANDOM_TABLES;
    for (unsigned i = 0; i < RANDOM_TABLES; i++)
        squares += (r->of[which][i] - mean) * (r->of[which][i] - mean);
    double deviation = sqrt(squares / (RANDOM_TABLES - 1) * (1 + 1.0 / RANDOM_TABLES));
    if (value == mean)
        return 0;
    return deviation > 0 ? sigmas_of_t((value - mean) / deviation, RANDOM_TABLES - 1)
                         : copysign(INFINITY, value - mean);
}

#endif
