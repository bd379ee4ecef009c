/*
 * A disk that misbehaves: a replacement for the store's table of system calls (store/file.h), which
 *
 *   - counts the calls, and fails the n-th of them, once, some times or for ever;
 *   - remembers for one folder what of its files and names has been synced and what has not, and makes from that the
 *     folders that a power failure at this moment could leave.
 *
 * What a power failure may do to what was not synced: each write is lost, or done, or done for some of the 512-byte
 * sectors that it touches, or leaves zeros (the file's length was on disk, the bytes were not); in any combination, not
 * only in order. Each creation, renaming and removal in the folder is done or not, in any combination, and whether or
 * not the file's own bytes were synced. What was synced stays.
 *
 * A sync that fails makes nothing durable, and neither does a later one that succeeds: as on Linux, what was to be
 * written then counts as written.
 *
 * The files are real ones and can be read and mapped meanwhile; nothing is really synced. One disk at a time; its calls
 * may come from many threads. Only files right in the folder are remembered, which may have been there before.
 */
#ifndef TESTS_SUPPORT_DISK_H
#define TESTS_SUPPORT_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "support/scratch.h"

typedef enum disk_call {
    DISK_ANY,
    DISK_OPEN,
    DISK_CLOSE, /* closes all the same when it fails, as Linux does */
    DISK_WRITE,
    DISK_PREAD,
    DISK_FSYNC,
    DISK_RENAME,
    DISK_UNLINK,
    DISK_MKDIR,
    DISK_SIZE,
    DISK_LOCK,
    DISK_TRUNCATE,
    DISK_MAP,
    DISK_UNMAP,
    DISK_LIST,
    DISK_CALLS
} disk_call;

/* Instead of an errno. Both let calls other than write and pread pass. */
enum {
    DISK_SHORT = -1, /* half of what was asked for */
    DISK_FULL = -2   /* half, then ENOSPC */
};

/* Puts the disk in force, and takes what is in the folder as synced. */
void disk_begin(const test_scratch *folder);
/* Back to the real system; forgets everything. */
void disk_end(void);

/* From now on the n-th such call (from 1) and the times - 1 after it fail with this error. n = 0: none. */
void disk_fail(disk_call call, uint64_t n, int error, uint64_t times);
#define DISK_FOR_EVER UINT64_MAX

/* Calls since disk_begin; and how many of them were made to fail since the last disk_fail. */
uint64_t disk_calls(disk_call call);
uint64_t disk_failed(void);

/*
 * The process dies at the n-th call from now (from 1): that call and all after it fail with EIO and do nothing, but
 * handles are closed. What was done before is in the kernel's hands, and a later sync may bring it to disk. A process
 * that comes after it begins with disk_revive. n = 0: it lives.
 */
void disk_kill(uint64_t n);
void disk_revive(void);
bool disk_killed(void);

/*
 * Fills the folder `out` with what the power failing now could leave. Seed 0: nothing that was not synced; seed 1:
 * everything; others: some of it.
 */
void disk_crash_state(uint64_t seed, const test_scratch *out);

#endif
