/*
 * Batches of hashes against a fingerprint table. There is one kernel per instruction set; all give the same answers and
 * leave the same bits.
 *
 * A batch goes through a ring, in order:
 *
 *     hash       …  i  …………  i + 16  …………  i + 32  …
 *                   work     look ahead    locate
 *
 *     locate       compute the hash's line and prefetch it
 *     look ahead   the line has arrived: if it is full, prefetch the next one
 *     work         add the hash, or look it up
 *
 * So the memory always has the same number of lines on their way. An add that makes the table grow moves lines, so the
 * hashes that were located before are located again.
 *
 * If several threads share the table, the ring has the same steps. Locating prefetches the lock of the sub-table, too,
 * and adding a hash that is not there takes it: whatever was replaced meanwhile is seen then. Lookups need no lock, as
 * table.h explains. Looking ahead leaves out the overflow table, which may be replaced at any moment.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_KERNELS_KERNEL_H
#define VIDI_FILTERS_FINGERPRINT_KERNELS_KERNEL_H

#include "cpu/cpu.h"
#include "filters/fingerprint/table.h"

#define VIDI__RING 64       /* places that are kept at a time; a multiple of a step */
#define VIDI__RING_AHEAD 32 /* hashes from locating to working: about as many lines as the memory can deliver at once */
#define VIDI__RING_LOOK 16  /* hashes from looking ahead to working */
#define VIDI__RING_LOCK 6   /* from prefetching a lock, which others would take back if it were earlier, to working */
#define VIDI__RING_STEP 16  /* hashes that are located, then looked at, then worked on together */

/* A batch in progress. */
typedef struct vidi__fingerprint_run {
    vidi__table *table;
    const vidi__u128 *hashes;
    size_t count;
    uint8_t *verdicts;
    size_t done;    /* how many were worked on */
    uint64_t fresh; /* how many of them are new */
    bool far;       /* the table is much larger than the caches */
} vidi__fingerprint_run;

/*
 * The place of a hash whose partition is not open yet: a sub-table without any room, in which nothing is found. So the
 * loops need not ask.
 */
extern vidi__subtable vidi__fingerprint_nowhere;
extern unsigned char vidi__fingerprint_no_line[VIDI__LINE_BYTES];

static inline vidi__place vidi__fingerprint_locate(const vidi__table *table, uint64_t hash)
{
    /* The partition is only read. */
    const vidi__partition *partition = vidi__table_partition((vidi__table *)table, hash);
    if (VIDI__LIKELY(vidi__partition_is_open(partition)))
        return vidi__place_of(partition, hash);
    return (vidi__place){&vidi__fingerprint_nowhere, 0, {vidi__fingerprint_no_line, 0}};
}

/*
 * The order in which threads that share a table add a batch; `order` has room for VIDI__HASHES_MAX. Hashes of one
 * sub-table follow one another. Each thread has an order of its own, so that they rarely meet.
 */
void vidi__fingerprint_order(const vidi__fingerprint_run *run, uint16_t *order);

/* The whole batch at once: for callers that have the set alone, and for threads that share it. */
typedef struct vidi__fingerprint_kernel {
    int (*add)(vidi__fingerprint_run *run);
    void (*has)(vidi__fingerprint_run *run);
    int (*add_shared)(vidi__fingerprint_run *run);
    void (*has_shared)(vidi__fingerprint_run *run);
} vidi__fingerprint_kernel;

const vidi__fingerprint_kernel *vidi__fingerprint_kernel_for(vidi__cpu_level level);

extern const vidi__fingerprint_kernel vidi__fingerprint_portable;
#if defined(__x86_64__)
extern const vidi__fingerprint_kernel vidi__fingerprint_sse2, vidi__fingerprint_avx2, vidi__fingerprint_avx512;
#elif defined(__aarch64__)
extern const vidi__fingerprint_kernel vidi__fingerprint_neon;
#endif

#endif
