/*
 * The union of several tables, written without being made (filters/union.h). It is made one partition at a time, which
 * takes a 64th of its memory, and three times: once to learn the heads of its sub-tables, which come first in a file,
 * once to write their lines, and once for the overflow tables, which come last. A small union is made as a whole.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_TABLE_UNION_H
#define VIDI_FILTERS_FINGERPRINT_TABLE_UNION_H

#include "filters/fingerprint/table.h"
#include "filters/union.h"

/* The table of a filter. */
typedef const vidi__table *vidi__table_of_fn(const vidi__filter *filter);

/* The tables must tell the same hashes apart. */
int vidi__tables_unite(vidi__union *all, vidi__table_of_fn *table_of);
int vidi__tables_save_union(const vidi__union *all, vidi__table_of_fn *table_of, vidi__writer *writer);

#endif
