/* The union of several filters of the kind blocked, which is written layer by layer without being made (union.h). */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_UNION_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_UNION_H

#include "filters/blocked/blocked_growth.h"
#include "filters/union.h"

/* The layers of a filter. */
typedef const vidi__layers *vidi__layers_of_fn(const vidi__filter *filter);

int vidi__layers_unite(vidi__union *all, vidi__layers_of_fn *layers_of);
int vidi__layers_save_union(const vidi__union *all, vidi__layers_of_fn *layers_of, vidi__writer *writer);

#endif
