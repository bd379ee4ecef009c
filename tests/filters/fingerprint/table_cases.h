/*
 * A table with its memory, for tests: it starts empty, and when it is closed every byte must have been given back.
 */
#ifndef TESTS_FILTERS_FINGERPRINT_TABLE_CASES_H
#define TESTS_FILTERS_FINGERPRINT_TABLE_CASES_H

#include "filters/fingerprint/subtable_cases.h"
#include "filters/fingerprint/table.h"
#include "support/gate.h"

typedef struct whole {
    test_allocator allocator;
    vidi__memory memory;
    vidi__table table;
    vidi__gate gate; /* whole_share */
} whole;

static inline void whole_start(whole *w, uint64_t hashes, bool multiset)
{
    memset(w, 0, sizeof *w);
    test_allocator_init(&w->allocator);
    assert_int_equal(vidi__memory_init(&w->memory, &w->allocator.hook, 0), VIDI_OK);
    w->table.hashes = hashes;
    w->table.multiset = multiset;
    vidi__table_init(&w->table, &w->memory);
}

/* From now on, the table is used as if other threads used it, too. */
static inline void whole_share(whole *w)
{
    test_share(&w->gate, &w->memory);
    assert_int_equal(vidi__table_share(&w->table, &w->gate), VIDI_OK);
}

static inline void whole_finish(whole *w)
{
    vidi__table_close(&w->table);
    vidi__gate_free(&w->gate, &w->memory);
    assert_int_equal(vidi__memory_used(&w->memory), 0);
    test_allocator_finish(&w->allocator);
}

#endif
