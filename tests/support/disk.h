/*
 * A disk that misbehaves: a replacement for the store's table of system calls (store/file.h), which
 *
 *   - counts the calls, and can make the n-th of them fail, once, several times or for ever;
 *   - remembers which files and names of one folder have been synced, and can create the folders that a power failure
 *     at this moment could leave.
 *
 * A power failure keeps what was synced. Each write that was not synced may be lost, or done, or done for some of the
 * 512-byte sectors that it touches, or leave zeros (the file's length was on disk, but not the bytes). Each creation,
 * renaming and removal in the folder may be done or not, whether or not the file's own bytes were synced. All of these
 * happen in any combination, not only in order.
 *
 * A sync that fails makes nothing durable, and a later one that succeeds does not help: as on Linux, the data then
 * counts as written.
 *
 * The files are real and can be read and mapped at the same time, but nothing is really synced. There is one disk at a
 * time. Many threads may call it. It remembers only files directly in the folder, including those that existed before.
 */
#ifndef TESTS_SUPPORT_DISK_H
#define TESTS_SUPPORT_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "support/scratch.h"

typedef enum disk_call {
    DISK_ANY,
    DISK_OPEN,
    DISK_CLOSE, /* closes the file even if it fails, as Linux does */
    DISK_WRITE,
    DISK_PREAD,
    DISK_PWRITE,
    DISK_FSYNC,
    DISK_RENAME,
    DISK_UNLINK,
    DISK_MKDIR,
    DISK_STAT,
    DISK_LOCK,
    DISK_TRUNCATE,
    DISK_MAP,
    DISK_UNMAP,
    DISK_LIST,
    DISK_CALLS
} disk_call;

/* Used instead of an errno. Both affect only write, pwrite and pread. */
enum {
    DISK_SHORT = -1, /* transfers half of the request; of what is overwritten, only whole sectors */
    DISK_FULL = -2   /* transfers half, then ENOSPC */
};

/* Starts using the disk. The present contents of the folder count as synced. */
void disk_begin(const test_scratch *folder);
/* Returns to the real system calls and forgets everything. */
void disk_end(void);

/* Makes the n-th such call from now (counted from 1), and the times - 1 after it, fail with this error. n = 0: none. */
void disk_fail(disk_call call, uint64_t n, int error, uint64_t times);
#define DISK_FOR_EVER UINT64_MAX

/* The number of calls since disk_begin, and of calls made to fail since the last disk_fail. */
uint64_t disk_calls(disk_call call);
uint64_t disk_failed(void);

/*
 * The process dies at the n-th call from now (counted from 1): this call and all later ones fail with EIO and do
 * nothing except close handles. Earlier changes are still in the kernel, and a later sync may write them to disk. The
 * next process starts with disk_revive. n = 0: it does not die.
 */
void disk_kill(uint64_t n);
void disk_revive(void);
bool disk_killed(void);

/*
 * Fills the folder `out` with what a power failure now could leave. Seed 0 keeps nothing that was not synced, seed 1
 * keeps everything, and other seeds keep some of it.
 */
void disk_crash_state(uint64_t seed, const test_scratch *out);

#endif
