/*
 * Puts aside what a program is about to cut off or replace, under the first free name of a series.
 */
#ifndef VIDI_COMMON_KEEP_H
#define VIDI_COMMON_KEEP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Copies the end of a file, from the offset on, to FOLDER/cut.1 or the next free name (mode 0600); `to` is its path. If
 * the last of these files holds the beginning of it already, the rest is appended there, so a program that fails over
 * the same bytes again and again leaves one file. The caller has locked whatever the folder belongs to. 0 or errno.
 */
int keep_tail(int fd, uint64_t offset, const char *folder, bool syncs, char to[PATH_MAX]);

/* Renames a file or folder to SERIES.1 or the next free name; `to` is its new path. 0 or errno. */
int keep_renamed(const char *path, const char *series, char to[PATH_MAX]);

#endif
