/* A folder (folder.h) that is kept open, and whole files in it. Errors here fail the test. */
#ifndef TESTS_SUPPORT_SCRATCH_H
#define TESTS_SUPPORT_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "support/folder.h"

typedef struct test_scratch {
    char path[TEST_PATH];
    int handle;
} test_scratch;

void test_scratch_make(test_scratch *folder);
/* Removes the files, but not the folder. */
void test_scratch_empty(const test_scratch *folder);
void test_scratch_remove(test_scratch *folder);

bool test_file_exists(const test_scratch *folder, const char *name);
void test_file_save(const test_scratch *folder, const char *name, const void *data, size_t bytes);
/* Reads a file. The caller frees the block, which is one byte larger than the file. */
unsigned char *test_file_load(const test_scratch *folder, const char *name, size_t *bytes);

/* The number of files that this process has open. */
size_t test_open_files(void);

#endif
