/*
 * The sets of the golden files, tests/data/golden/v1-<kind>.vidi: one small set of each kind, the same bytes whoever
 * makes it. tests/golden/make_golden.c writes them, tests/set/test_golden.c reads them.
 */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include <stddef.h>

#include "support/streams.h"
#include "vidi/vidi.h"

enum { GOLDEN_URLS = 8, GOLDEN_ROOM = 64 };

/* The index-th kind; NULL behind the last. */
const char *test_golden_kind(size_t index);

/* "…/v1-classic.vidi" in the folder. */
void test_golden_path(char *path, size_t room, const char *folder, const char *kind);

/* The i-th URL, of which the first GOLDEN_URLS are in the sets. */
vidi_str test_golden_url(char room[GOLDEN_ROOM], unsigned i);

/* The set, in its second epoch; NULL, with a message, if it cannot be made. */
vidi_set *test_golden_set(const char *kind);

/* What is in the file. 0, or VIDI_… with a message. */
int test_golden_write(test_stream *stream, const vidi_set *set);

#endif
