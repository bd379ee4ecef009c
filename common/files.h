/*
 * Reading and writing all of a buffer, and syncing folders. Calls that a signal interrupts are repeated, as
 * TEMP_FAILURE_RETRY does for single calls.
 */
#ifndef VIDI_COMMON_FILES_H
#define VIDI_COMMON_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads up to n bytes at the offset; fewer only at the end of the file. -1 with errno after an error. */
ssize_t file_read_at(int fd, void *bytes, size_t n, uint64_t offset);

/* Writes n bytes, and returns how many were written: fewer only after an error, with errno. */
size_t file_write(int fd, const void *bytes, size_t n);

/* Syncs a folder, so that new names in it survive a power cut. 0 or errno. */
int file_sync_folder(const char *folder);
/* The same for the folder that a file is in. */
int file_sync_folder_of(const char *path);

#endif
