/* See blocked_search.h. */
#include "filters/blocked/blocked_search.h"

bool vidi__layers_have(const vidi__layers *layers, unsigned count, vidi__u128 hash)
{
    bool seen = false;
    while (!seen && count-- > 0)
        seen = layers->kernel->has(&layers->at[count]->in, hash);
    return seen;
}

/* Looks the missing ones up in a layer. Those that it has are SEEN and no longer missing. */
static void search(const vidi__layers *layers, const vidi__layer *layer, vidi__missing *missing, uint8_t *verdicts)
{
    uint8_t found[VIDI__HASHES_MAX];
    size_t left = 0;
    layers->kernel->has_batch(&layer->in, &(vidi__blocked_batch){missing->hashes, missing->count, found});
    for (size_t i = 0; i < missing->count; i++) {
        uint16_t place = missing->places[i];
        if (found[i] == VIDI_SEEN)
            verdicts[place] = VIDI_SEEN;
        missing->hashes[left] = missing->hashes[i];
        missing->places[left] = place;
        left += found[i] != VIDI_SEEN;
    }
    missing->count = left;
}

void vidi__layers_sift(const vidi__layers *layers, unsigned count, const vidi__u128 *hashes, size_t n,
                       uint8_t *verdicts, vidi__missing *missing)
{
    missing->count = n;
    memcpy(missing->hashes, hashes, n * sizeof *hashes);
    for (size_t i = 0; i < n; i++)
        missing->places[i] = (uint16_t)i;
    while (count-- > 0 && missing->count)
        search(layers, layers->at[count], missing, verdicts);
}

static void lookup_in_all(const vidi__layers *layers, unsigned count, const vidi__u128 *hashes, size_t n,
                          uint8_t *verdicts)
{
    vidi__missing missing;
    vidi__layers_sift(layers, count, hashes, n, verdicts, &missing);
    for (size_t i = 0; i < missing.count; i++)
        verdicts[missing.places[i]] = VIDI_NEW;
}

void vidi__layers_lookup(const vidi__layers *layers, const vidi__u128 *hashes, size_t n, uint8_t *verdicts)
{
    unsigned count = vidi__layers_count(layers);
    if (count == 1)
        layers->kernel->has_batch(&layers->at[0]->in, &(vidi__blocked_batch){hashes, n, verdicts});
    else
        lookup_in_all(layers, count, hashes, n, verdicts);
}
