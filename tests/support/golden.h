/*
 * The sets in the golden files, such as tests/data/golden/v1-classic.vidi: small sets of each kind, with the same bytes
 * on every machine. The number is the version of the format. tests/golden/make_golden.c writes them, and
 * tests/set/serial/test_golden.c reads them.
 */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>

#include "support/streams.h"
#include "vidi/vidi.h"

enum { GOLDEN_ROOM = 64 };

/* The name of the index-th set, which begins with its kind; NULL after the last. */
const char *test_golden_name(size_t index);

/* The path of its file in the folder, such as "…/v1-classic.vidi". */
void test_golden_path(char *path, size_t room, const char *folder, const char *name);

/* How many URLs are in it. */
unsigned test_golden_urls(const char *name);

/* The i-th URL. The first ones are in the sets. */
vidi_str test_golden_url(char room[GOLDEN_ROOM], unsigned i);

/* Creates the set, in its second epoch. NULL, with a message, after an error. */
vidi_set *test_golden_set(const char *name);

/* Writes the set as its file has it: plain, with a note, with the previous epoch, or in pieces. */
int test_golden_write(test_stream *stream, vidi_set *set, const char *name);

/* Whether its file has the previous epoch, which has one URL, and whether the file can be mapped. */
bool test_golden_keeps_previous(const char *name);
bool test_golden_can_be_mapped(const char *name);

#endif
