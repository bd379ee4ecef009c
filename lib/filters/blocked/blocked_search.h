/*
 * Lookups in the layers of the kind blocked. They take no locks and write nothing to the layers. The largest layer is
 * searched first, since it holds most of the URLs.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_SEARCH_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_SEARCH_H

#include "filters/blocked/blocked_growth.h"

/* Returns true if one of the first `count` layers has the URL. */
bool vidi__layers_have(const vidi__layers *layers, unsigned count, vidi__u128 hash);

/* Looks a batch up in all layers. */
void vidi__layers_lookup(const vidi__layers *layers, const vidi__u128 *hashes, size_t n, uint8_t *verdicts);

/* Hashes of a batch that no layer was found to have, and their places in the batch. */
typedef struct vidi__missing {
    size_t count;
    vidi__u128 hashes[VIDI__HASHES_MAX];
    uint16_t places[VIDI__HASHES_MAX];
} vidi__missing;

/* Looks a batch up in the first `count` layers. Those that are not found are missing, and get no verdict. */
void vidi__layers_sift(const vidi__layers *layers, unsigned count, const vidi__u128 *hashes, size_t n,
                       uint8_t *verdicts, vidi__missing *missing);

#endif
