/*
 * Folders for sets to live in: made for a test, copied as a crash would leave them, removed.
 *
 * They are in memory (/dev/shm) if there is such a place, so that a test may sync as often as it likes; what matters to
 * a test about the disk is in TMPDIR, or /tmp.
 */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEST_PATH = 256 };

/* A new folder, with mode 0700, whose path is written to `path`; the test fails if it cannot be made. */
void test_folder_new(char path[TEST_PATH], bool on_disk);

/* folder "/" name */
void test_path(char path[TEST_PATH], const char *folder, const char *name);

/* Removes a folder and all that is in it; none is fine. */
void test_folder_remove(const char *path);

/* What a crash at this moment would leave: the files of a folder, into a new one. Files that vanish meanwhile are fine. */
void test_folder_copy(const char *from, const char *to);

/* How many names of the folder begin so. */
size_t test_folder_count(const char *path, const char *prefix);

/* Makes or replaces a file. */
void test_file_write(const char *folder, const char *name, const void *data, size_t bytes);

#endif
