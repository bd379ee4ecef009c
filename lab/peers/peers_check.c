/*
 * Whether our structures are what their papers describe: each is filled as in its paper and compared with the paper's
 * figures: the load that it reaches, the bits that it takes, and how often it is wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/engine/run_memory.h"
#include "lab/peers/peers.h"

enum { CUCKOO, FUSE_3_8, FUSE_3_16, FUSE_4_8, FUSE_4_16, ROCKSDB_10, ROCKSDB_16, SWISS, ROWS };
enum { LOAD, BITS, RATE, COLUMNS };
enum { CUCKOO_BITS = 12, LOAD_URLS = 10000 };

#define PER_CENT 100.0
#define TOLERANCE 0.02
#define LOAD_TOLERANCE 0.04

static const char *const check_rows[] = {"cuckoo 12 bits",
                                         "fuse 3-wise 8 bits",
                                         "fuse 3-wise 16 bits",
                                         "fuse 4-wise 8 bits",
                                         "fuse 4-wise 16 bits",
                                         "RocksDB 10 bits",
                                         "RocksDB 16 bits",
                                         "hash set",
                                         NULL};
static const char *const check_columns[] = {"highest load", "bits per key", "false positives", NULL};

static lab_peer_plan plan_of(size_t row, uint64_t n)
{
    static const lab_peer_sort sorts[ROWS] = {LAB_PEER_CUCKOO, LAB_PEER_FUSE_3,  LAB_PEER_FUSE_3,  LAB_PEER_FUSE_4,
                                              LAB_PEER_FUSE_4, LAB_PEER_ROCKSDB, LAB_PEER_ROCKSDB, LAB_PEER_HASHSET};
    lab_peer_plan plan = {.sort = sorts[row], .keys = n};
    switch (row) {
    case CUCKOO:
        plan.bits = CUCKOO_BITS;
        plan.units = lab_cuckoo_buckets_for(n);
        break;
    case ROCKSDB_10:
    case ROCKSDB_16:
        plan.units = (uint64_t)ceil((row == ROCKSDB_10 ? 10 : 16) * (double)n / 512);
        plan.bits = lab_rocksdb_probes(row == ROCKSDB_10 ? 10 : 16);
        break;
    case SWISS: /* as many keys as its slots may hold */
        for (plan.units = 16; plan.units / 8 * 7 < n; plan.units *= 2) {
        }
        break;
    default:
        plan.bits = row == FUSE_3_8 || row == FUSE_4_8 ? 8 : 16;
        plan.units = lab_fuse_places(n, row == FUSE_3_8 || row == FUSE_3_16 ? 3 : 4);
    }
    return plan;
}

/* Fills the paper's cuckoo filter, with a power of two of buckets, until a key finds no room: the load in per cent. */
static int cuckoo_load(const vidi_digest *hashes, uint64_t n, double *load)
{
    uint64_t buckets = 1, done = 0;
    lab_cuckoo *filter;
    int64_t code = 0, absent = 0;
    while (buckets * 2 * LAB_CUCKOO_SLOTS <= n)
        buckets *= 2;
    LAB_TRY(lab_cuckoo_make(&filter, buckets, CUCKOO_BITS, NULL));
    for (; done < n && code >= 0; done++) {
        code = lab_cuckoo_add(filter, (lab_peer_keys){&hashes[done].lo, 2, 1}, NULL);
        absent += code == 0;
    }
    lab_cuckoo_free(filter);
    *load = PER_CENT * (double)absent / (double)(buckets * LAB_CUCKOO_SLOTS);
    return code == VIDI_ELIMIT || code >= 0 ? VIDI_OK : (int)code;
}

/* The largest load at which the table does not grow yet. */
static int swiss_load(const vidi_digest *hashes, uint64_t n, double *load)
{
    lab_swiss *table;
    double highest = 0;
    LAB_TRY(lab_swiss_make(&table, 0, NULL));
    int64_t code = 0;
    for (uint64_t done = 0; done < n && code >= 0; done++) {
        code = lab_swiss_add(table, (lab_peer_keys){&hashes[done].lo, 2, 1}, NULL);
        highest = fmax(highest, (double)(done + 1) / (double)lab_swiss_slots(table));
    }
    lab_swiss_free(table);
    *load = PER_CENT * highest;
    return code < 0 ? (int)code : VIDI_OK;
}

static int measure_row(size_t row, const vidi_digest *hashes, uint64_t n, double *numbers)
{
    static const unsigned char key[VIDI_KEY_BYTES];
    lab_peer_plan plan = plan_of(row, n);
    lab_peer_memory memory;
    LAB_OWN(lab_peer_close) lab_peer *peer = NULL;
    int64_t seen;
    numbers[LOAD] = (double)NAN;
    if (row == CUCKOO)
        LAB_TRY(cuckoo_load(hashes, n, &numbers[LOAD]));
    if (row == SWISS)
        LAB_TRY(swiss_load(hashes, n < LOAD_URLS ? n : LOAD_URLS, &numbers[LOAD]));
    lab_peer_memory_init(&memory);
    LAB_TRY(lab_peer_make(&peer, &plan, false, key, &memory));
    LAB_TRY(lab_peer_add(peer, hashes, n));
    LAB_TRY(lab_peer_finish(peer));
    LAB_TRY(seen = lab_peer_has(peer, hashes + n, n));
    numbers[BITS] = 8 * (double)memory.now / (double)n;
    numbers[RATE] = (double)seen;
    return VIDI_OK;
}

static int measure_check(const lab_settings *settings, uint64_t run, double *numbers)
{
    uint64_t n = settings->urls;
    vidi_digest *hashes;
    LAB_TRY(LAB_NEW(hashes, 2 * n));
    lab_peer_make_hashes(hashes, settings, run, 0, 2 * n);
    for (size_t row = 0; row < ROWS; row++)
        LAB_TRY(measure_row(row, hashes, n, &numbers[row * COLUMNS]));
    return VIDI_OK;
}

static void judge_check(const lab_cell *cell, lab_entry *entry)
{
    lab_peer_plan plan = plan_of(cell->row, cell->settings->urls);
    if (cell->column == RATE)
        lab_entry_count(entry, cell->numbers, lab_peer_theory(&plan, plan.keys), PER_CENT);
    else if (cell->column == BITS)
        entry->theory = lab_peer_plan_needs(&plan);
    else if (cell->row == CUCKOO)
        entry->theory = (double)NAN;
    lab_entry_published(entry, cell->study, cell->column == LOAD ? LOAD_TOLERANCE : TOLERANCE);
}

LAB_STUDY(peers_check, "peers-check", "The filters people use now, against their papers",
          "vidi, after the cuckoo paper, the binary fuse paper, RocksDB and abseil",
          "Our implementations: the highest load in per cent (cuckoo: when a key finds no room; hash set: when it "
          "doubles), bits per key, and per cent of new keys falsely seen. Published figures of large filters, "
          "within 2 %; loads within 4 %, because the papers' are rounded down. With fewer than a million URLs a "
          "binary fuse filter takes more bits.",
          "as the columns say", check_rows, check_columns, .runs_most = 20, .work = 1.5, .measure = measure_check,
          .judge = judge_check);
