/*
 * Finished runs in a file, so that a measurement that was interrupted goes on where it stopped. A run follows from
 * (seed, run) alone: what was kept is what would come out again.
 *
 *     head    0  "vidi lab"      8  u64 1: the format      16  u64 u64 hash of what is measured
 *     record  0  u64 part        8  u64 run      16  u64 size      24  size bytes      …  u64 checksum
 *
 * Numbers are the machine's: the file is for the machine that wrote it. A checksum is the low half of SipHash-1-3-128
 * of the head and the record, with a zero key. Records are appended with one write each; one that is cut off at the end
 * is taken for what it is, the last moment of a process that was killed. A file with anything else in it that is wrong
 * is not used at all.
 *
 * Keeping is a convenience: where there is no place for it, measuring goes on without. All functions take NULL, too.
 */
#ifndef VIDI_LAB_ENGINE_KEPT_RUNS_H
#define VIDI_LAB_ENGINE_KEPT_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lab_keep lab_keep;

/*
 * A file in the folder, which is made when it is needed. maker: the program that measures; the runs of another one are
 * not taken. fresh: nor are those of before. NULL if there is no memory.
 */
lab_keep *lab_keep_new(const char *folder, const char *maker, bool fresh);

/*
 * Opens the file of what is measured and reads what it has. If another process has it, nothing is kept. Files of other
 * measurements that nobody has gone on with for LAB_KEEP_DAYS are removed.
 */
enum { LAB_KEEP_DAYS = 30 };
void lab_keep_begin(lab_keep *keep, const char *what);

/* The next run of a part with rows of that size, from *at on, which begins at 0; NULL: there are no more. */
const void *lab_keep_next(const lab_keep *keep, size_t *at, uint64_t part, size_t size, uint64_t *run);

/* By one thread at a time. */
void lab_keep_add(lab_keep *keep, uint64_t part, uint64_t run, const void *row, size_t size);

/* How many runs are in the file, for a later command to go on from. */
uint64_t lab_keep_count(const lab_keep *keep);

/* A file that was not used, in a sentence; empty: there was none. */
const char *lab_keep_warning(const lab_keep *keep);

/* Closes the file and frees. forget: it is of no further use. */
void lab_keep_end(lab_keep *keep, bool forget);

#endif
