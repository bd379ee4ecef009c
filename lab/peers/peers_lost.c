/*
 * Pages lost at equal bits, bits at equal losses, and memory at its peak.
 *
 * A structure is made for n URLs and gets n URLs. Then n others are looked up: those that it takes for known would be
 * lost. This is the rate of a full filter, which is what the filters' papers give, and the only one that a binary fuse
 * filter has, because it cannot be asked while it fills. A crawl that looks up while it adds loses less (kinds-lost).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/engine/run_memory.h"
#include "lab/peers/peers.h"

enum { PART = 10, NEEDS_PART = 2, SIZES = 10, RATES = 5, MOMENTS = 4 };
#define MEMORY_RATE 1e-4

static const double bits_of[SIZES] = {8, 10, 12, 16, 24, 32, 48, 64, 96, 168};
static const double rates[RATES] = {1e-2, 1e-3, 1e-4, 1e-6, 1e-9};
const char *const lab_peer_sizes[] = {"8 bits",  "10 bits", "12 bits", "16 bits",  "24 bits", "32 bits",
                                      "48 bits", "64 bits", "96 bits", "168 bits", NULL};
static const char *const peer_rates[] = {"1 in 100",       "1 in 1,000",         "1 in 10,000",
                                         "1 in 1,000,000", "1 in 1,000,000,000", NULL};
static const char *const peer_moments[] = {"in the end, n known", "at the peak, n known", "in the end, n unknown",
                                           "at the peak, n unknown", NULL};

static uint64_t urls_of(const lab_settings *settings)
{
    return lab_urls_part(settings, PART, 100);
}

/* What filling a structure gave. */
typedef struct filled {
    double bits, peak_bits; /* per key */
    int64_t falsely_seen;   /* of as many others; only if they were looked up */
} filled;

/* Adds n keys, and looks up the n that follow them, if `asks`. */
static int fill(filled *filled, const lab_peer_plan *plan, bool grows, const lab_settings *settings, uint64_t run,
                const vidi_digest *keys, bool asks)
{
    unsigned char key[VIDI_KEY_BYTES];
    lab_peer_memory memory;
    LAB_OWN(lab_peer_close) lab_peer *peer = NULL;
    lab_key(key, settings->seed, run);
    lab_peer_memory_init(&memory);
    LAB_TRY(lab_peer_make(&peer, plan, grows, key, &memory));
    LAB_TRY(lab_peer_add(peer, keys, plan->keys));
    LAB_TRY(lab_peer_finish(peer));
    if (asks)
        LAB_TRY(filled->falsely_seen = lab_peer_has(peer, keys + plan->keys, plan->keys));
    filled->bits = 8 * (double)memory.now / (double)plan->keys;
    filled->peak_bits = 8 * (double)memory.peak / (double)plan->keys;
    return VIDI_OK;
}

/* ---- pages lost at equal bits ---- */

/* VIDI_OK and *fits false if it does not fit, or if it cannot make use of more bits than the next smaller size has. */
static int plan_cell(lab_peer_plan *plan, bool *fits, const lab_settings *settings, size_t row, size_t column)
{
    lab_peer_plan smaller;
    bool had = false;
    LAB_TRY(lab_peer_plan_bits(plan, fits, (lab_peer_sort)row, urls_of(settings), bits_of[column]));
    if (*fits && column > 0)
        LAB_TRY(lab_peer_plan_bits(&smaller, &had, (lab_peer_sort)row, urls_of(settings), bits_of[column - 1]));
    if (had && lab_peer_plan_needs(&smaller) >= lab_peer_plan_needs(plan))
        *fits = false;
    return VIDI_OK;
}

static int lost_in(size_t row, size_t column, const lab_settings *settings, uint64_t run, const vidi_digest *hashes,
                   double *number)
{
    lab_peer_plan plan;
    filled filled = {0};
    bool fits;
    *number = (double)NAN;
    LAB_TRY(plan_cell(&plan, &fits, settings, row, column));
    if (!fits)
        return VIDI_OK;
    LAB_TRY(fill(&filled, &plan, false, settings, run, hashes, true));
    *number = (double)filled.falsely_seen;
    return VIDI_OK;
}

static int measure_lost(const lab_settings *settings, uint64_t run, double *numbers)
{
    uint64_t n = urls_of(settings);
    vidi_digest *hashes;
    LAB_TRY(LAB_NEW(hashes, 2 * n));
    LAB_TRY(lab_peer_hash_urls(hashes, settings, run, 0, 2 * n));
    for (size_t i = 0; i < (size_t)LAB_PEERS * SIZES; i++)
        LAB_TRY(lost_in(i / SIZES, i % SIZES, settings, run, hashes, &numbers[i]));
    return VIDI_OK;
}

static bool fits_into(lab_peer_plan *plan, const lab_settings *settings, size_t row, size_t column)
{
    bool fits = false;
    return plan_cell(plan, &fits, settings, row, column) == VIDI_OK && fits;
}

static void judge_lost(const lab_cell *cell, lab_entry *entry)
{
    lab_peer_plan plan, next;
    if (!fits_into(&plan, cell->settings, cell->row, cell->column)) {
        if (cell->column + 1 < SIZES && fits_into(&next, cell->settings, cell->row, cell->column + 1))
            snprintf(entry->remark, sizeof entry->remark, "it does not fit into so few bits");
        else if (cell->column > 0 && fits_into(&next, cell->settings, cell->row, cell->column - 1))
            snprintf(entry->remark, sizeof entry->remark, "it cannot make use of more bits");
        return;
    }
    lab_entry_count(entry, cell->numbers, lab_peer_theory(&plan, plan.keys), LAB_PER_MILLION);
}

/* ---- bits at equal losses ---- */

/* Memory does not depend on the keys, so they need not be URLs. */
static uint64_t needs_urls(const lab_settings *settings)
{
    return lab_urls_part(settings, NEEDS_PART, 100);
}

static int measure_needs(const lab_settings *settings, uint64_t run, double *numbers)
{
    uint64_t n = needs_urls(settings);
    vidi_digest *hashes;
    LAB_TRY(LAB_NEW(hashes, n));
    lab_peer_make_hashes(hashes, settings, run, 0, n);
    for (size_t i = 0; i < (size_t)LAB_PEERS * RATES; i++) {
        lab_peer_plan plan;
        filled filled = {0};
        LAB_TRY(lab_peer_plan_rate(&plan, (lab_peer_sort)(i / RATES), n, rates[i % RATES]));
        LAB_TRY(fill(&filled, &plan, false, settings, run, hashes, false));
        numbers[i] = filled.bits;
    }
    return VIDI_OK;
}

static void judge_needs(const lab_cell *cell, lab_entry *entry)
{
    lab_peer_plan plan;
    if (lab_peer_plan_rate(&plan, (lab_peer_sort)cell->row, needs_urls(cell->settings), rates[cell->column]) != VIDI_OK)
        return;
    double rate = lab_peer_theory(&plan, 1).mean;
    if (lab_peer_needs(&entry->theory, &entry->theory_sort, &plan, rates[cell->column]) != VIDI_OK)
        entry->theory = (double)NAN;
    if (rate > rates[cell->column] * 1.0001)
        snprintf(entry->remark, sizeof entry->remark, "the most that it can: 1 in %.3g", 1 / rate);
}

/* ---- memory at its peak ---- */

static int measure_memory(const lab_settings *settings, uint64_t run, double *numbers)
{
    uint64_t n = needs_urls(settings);
    vidi_digest *hashes;
    LAB_TRY(LAB_NEW(hashes, n));
    lab_peer_make_hashes(hashes, settings, run, 0, n);
    for (size_t i = 0; i < LAB_PEERS; i++) {
        double *row = &numbers[i * MOMENTS];
        for (unsigned grows = 0; grows < 2; grows++) {
            lab_peer_plan plan;
            filled filled = {(double)NAN, (double)NAN, 0};
            LAB_TRY(lab_peer_plan_rate(&plan, (lab_peer_sort)i, n, MEMORY_RATE));
            int code = fill(&filled, &plan, grows, settings, run, hashes, false);
            LAB_TRY(grows && code == VIDI_ECANNOT ? VIDI_OK : code);
            row[2 * (size_t)grows] = filled.bits;
            row[2 * (size_t)grows + 1] = filled.peak_bits;
        }
    }
    return VIDI_OK;
}

static void judge_memory(const lab_cell *cell, lab_entry *entry)
{
    if (cell->column == 3 && isnan(entry->measured))
        snprintf(entry->remark, sizeof entry->remark, "it has to know n in advance");
}

LAB_STUDY(
    peers_lost, "peers-lost", "Pages lost at equal bits: the filters people use now", "vidi",
    "A tenth of the URLs, and as many others looked up in the full filter. Each takes at most the column's "
    "bits per URL when it is built; peers-memory has what it takes before. Fingerprints have whole bits. Structures "
    "that are not shown do not fit.",
    "pages per million", lab_peer_names, lab_peer_sizes,
    .plot = {.x = "bytes per URL",
             .y = "pages lost per million",
             .log_x = true,
             .log_y = true,
             .along = (const double[]){1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 21}},
    .measure = measure_lost, .judge = judge_lost);

LAB_STUDY(peers_needs, "peers-needs", "Bits at equal losses: the filters people use now", "vidi",
          "Half of the URLs, a number that is known in advance; the smallest that falsely sees no more new URLs "
          "than the column says when it is full. A fingerprint keeps at least 32 bits of the hash, a hash set 64. No "
          "filter can do with "
          "less than log2 of the inverse rate: 6.6, 10, 13.3, 19.9 and 29.9 bits.",
          "bits per URL", lab_peer_names, peer_rates, .runs_most = 1, .measure = measure_needs, .judge = judge_needs);

LAB_STUDY(peers_memory, "peers-memory", "Memory in the end and at its peak: the filters people use now", "vidi",
          "Half of the URLs, one new URL in 10,000 falsely seen; counted by the allocator, with what building "
          "takes. A binary fuse filter keeps 64 bits of each URL until it is built. If the number is unknown, "
          "structures begin empty and grow.",
          "bits per URL", lab_peer_names, peer_moments, .runs_most = 1, .measure = measure_memory,
          .judge = judge_memory);
