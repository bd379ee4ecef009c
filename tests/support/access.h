/*
 * Tests describe how a set is used by one number, so that it fits into tables. It combines vidi_access_flags, the sync
 * policy and whether the set keeps its previous epoch.
 */
#ifndef TESTS_SUPPORT_ACCESS_H
#define TESTS_SUPPORT_ACCESS_H

#include "vidi/transfer.h"
#include "vidi/vidi.h"

enum { TEST_SYNC_ALWAYS = 1 << 16, TEST_SYNC_NEVER = 1 << 17, TEST_KEEP_PREVIOUS = 1 << 18 };

static inline void test_access(vidi_access *access, unsigned way)
{
    access->sync = way & TEST_SYNC_ALWAYS  ? VIDI_SYNC_ALWAYS
                   : way & TEST_SYNC_NEVER ? VIDI_SYNC_NEVER
                                           : VIDI_SYNC_EVERY_SECOND;
    access->flags = way & ~(unsigned)(TEST_SYNC_ALWAYS | TEST_SYNC_NEVER | TEST_KEEP_PREVIOUS);
}

/* For creating a set. */
static inline void test_use(vidi_options *options, vidi_access *access, unsigned way)
{
    test_access(access, way);
    options->flags = way & TEST_KEEP_PREVIOUS ? VIDI_KEEP_PREVIOUS : 0;
    options->access = access;
}

/* The mark after everything so far. */
static inline uint64_t test_mark(const vidi_set *set)
{
    uint64_t mark;
    return vidi_mark(set, &mark) == VIDI_OK ? mark : 0;
}

static inline int test_open(vidi_set **set, const char *path, unsigned way)
{
    vidi_access access = VIDI_ACCESS_INIT;
    test_access(&access, way);
    return vidi_open(set, path, &access);
}

/* vidi_step and vidi_piece_read: an error, or else 1 if there is more to do and 0 if not. */
static inline int test_step(vidi_set *set, uint64_t budget_ns)
{
    int more = -1, code = vidi_step(set, budget_ns, &more);
    return code == VIDI_OK ? more : code;
}

static inline int test_piece_read(vidi_set **set, const void *bytes, size_t size, const vidi_access *access)
{
    int more = -1, code = vidi_piece_read(set, bytes, size, access, &more);
    return code == VIDI_OK ? more : code;
}

#endif
