/*
 * A disk that is really full: a file system in memory with a size, in a mount namespace of its own. Systems may forbid
 * that, and then tests skip.
 */
#ifndef TESTS_CLI_LIVES_SMALL_DISK_H
#define TESTS_CLI_LIVES_SMALL_DISK_H

#include <stdint.h>

enum { SMALL_DISK_FORBIDDEN = 77 };

/*
 * Runs this program again with two arguments, `option` and `folder`, where the folder is a disk of so many bytes. Returns
 * its exit status, or SMALL_DISK_FORBIDDEN.
 */
int small_disk_run(const char *option, const char *folder, uint64_t bytes);

/* In that program: gives the disk another size. 0, or -1 if more than that is on it. */
int small_disk_resize(const char *folder, uint64_t bytes);

#endif
