/*
 * Keeps finished runs in a file, so that an interrupted measurement continues where it stopped. A run follows from
 * (seed, run) alone, so a kept run equals what measuring it again would give.
 *
 *     head    0  "vidi lab"      8  u64 1: the format      16  u64 u64 hash of what is measured
 *     record  0  u64 part        8  u64 run      16  u64 size      24  size bytes      …  u64 checksum
 *
 * Numbers have the byte order of the machine, which alone reads its file. A checksum is the low half of SipHash-1-3-128
 * of the head and the record, with a zero key. Each record is appended with one write. A last record that is cut off is
 * ignored: the process was killed while it wrote. If anything else in a file is wrong, the file is not used.
 *
 * Keeping is a convenience: if the file cannot be written, measuring continues without it. All functions accept NULL.
 */
#ifndef VIDI_LAB_ENGINE_KEPT_RUNS_H
#define VIDI_LAB_ENGINE_KEPT_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lab_keep lab_keep;

/*
 * Keeps runs in this folder, which is created when it is needed. `maker` names the program, including its version: runs
 * of another program are not used. With `fresh`, earlier runs are not used either. NULL if there is no memory.
 */
lab_keep *lab_keep_new(const char *folder, const char *maker, bool fresh);

/*
 * Opens and reads the file of this measurement. If another process uses the file, nothing is kept. Removes the files of
 * other measurements that were not continued for LAB_KEEP_DAYS.
 */
enum { LAB_KEEP_DAYS = 30 };
void lab_keep_begin(lab_keep *keep, const char *what);

/* The next kept run of a part with rows of `size` bytes. *at must be 0 at first. NULL: there are no more. */
const void *lab_keep_next(const lab_keep *keep, size_t *at, uint64_t part, size_t size, uint64_t *run);

/* Adds a run. Only one thread may call it at a time. */
void lab_keep_add(lab_keep *keep, uint64_t part, uint64_t run, const void *row, size_t size);

/* The number of runs in the file, which a later command can use. */
uint64_t lab_keep_count(const lab_keep *keep);

/* A sentence about a file that could not be used; empty if there was none. */
const char *lab_keep_warning(const lab_keep *keep);

/* Closes the file and frees everything. With `forget`, deletes the file too. */
void lab_keep_end(lab_keep *keep, bool forget);

#endif
