/*
 * Folders for sets: created for a test, copied as a crash would leave them, and removed.
 *
 * They are in memory (/dev/shm) where possible, so that tests can sync often without cost. Tests that need a real disk
 * use TMPDIR or /tmp.
 */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEST_PATH = 256 };

/* Creates a folder with mode 0700 and writes its path to `path`, or fails the test. */
void test_folder_new(char path[TEST_PATH], bool on_disk);

/* folder "/" name */
void test_path(char path[TEST_PATH], const char *folder, const char *name);

/* Removes a folder and everything in it. It need not exist. */
void test_folder_remove(const char *path);

/* Copies a folder's files to a new one, as a crash now would leave them. Files may vanish while it copies. */
void test_folder_copy(const char *from, const char *to);

/* The number of names in the folder that begin with this prefix. */
size_t test_folder_count(const char *path, const char *prefix);

/* Creates or replaces a file. */
void test_file_write(const char *folder, const char *name, const void *data, size_t bytes);

#endif
