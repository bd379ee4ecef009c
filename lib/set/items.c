/*
 * From URLs to items: the hash that every default kind needs, and segments and features for the kinds that ask for
 * them.
 */
#include "set/set.h"

static vidi__part part_of(const vidi__epoch *epoch, vidi_str str, bool hashed)
{
    vidi__part part = {.str = str};
    if (hashed)
        part.hash = vidi__hash(epoch->hash, &epoch->key, str);
    return part;
}

static vidi__url_segments walk_over(const vidi__needs *needs, vidi_str url)
{
    return (vidi__url_segments){.url = url, .most = needs->segments_max, .strip_scheme = needs->strip_scheme};
}

static size_t count_segments(const vidi__needs *needs, vidi_str url)
{
    size_t count = 0;
    vidi_str segment;
    for (vidi__url_segments walk = walk_over(needs, url); vidi__url_segment(&walk, &segment);)
        count++;
    return count;
}

static int make_segments(vidi__items *items, const vidi__epoch *epoch, const vidi_str *urls, size_t n, bool hashed)
{
    const vidi__needs *needs = &epoch->filter->needs;
    for (size_t i = 0; i < n; i++)
        items->part_count += count_segments(needs, urls[i]);
    VIDI__TRY(vidi__alloc(items->memory, &items->parts, items->part_count * sizeof(vidi__part), _Alignof(vidi__part)));
    vidi__part *part = items->parts;
    for (size_t i = 0; i < n; i++) {
        vidi_str segment;
        items->list[i].segments = part;
        for (vidi__url_segments walk = walk_over(needs, urls[i]); vidi__url_segment(&walk, &segment);)
            *part++ = part_of(epoch, segment, hashed);
        items->list[i].segment_count = (size_t)(part - items->list[i].segments);
    }
    return VIDI_OK;
}

static int make_features(vidi__items *items, const vidi__epoch *epoch, const vidi_str *urls, size_t n, bool hashed)
{
    for (size_t i = 0; i < n; i++)
        items->buffer_bytes += urls[i].len + 1;
    VIDI__TRY(vidi__alloc(items->memory, &items->buffer, items->buffer_bytes, 1));
    char *at = items->buffer;
    for (size_t i = 0; i < n; i++) {
        items->list[i].feature = part_of(epoch, epoch->feature(urls[i], at), hashed);
        at += urls[i].len + 1;
    }
    return VIDI_OK;
}

int vidi__items_make(vidi__items *items, vidi__memory *memory, const vidi__epoch *epoch, const vidi_str *urls, size_t n)
{
    unsigned what = epoch->filter->needs.what;
    bool hashed = what & VIDI__NEED_HASH;
    items->memory = memory;
    items->parts = NULL;
    items->part_count = 0;
    items->buffer = NULL;
    items->buffer_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        if (!urls[i].ptr && urls[i].len)
            return vidi__fail(VIDI_EARGUMENT, "a URL of %zu bytes is at NULL", urls[i].len);
        items->list[i].url = part_of(epoch, urls[i], hashed);
    }
    if (what & VIDI__NEED_SEGMENTS)
        VIDI__TRY(make_segments(items, epoch, urls, n, hashed));
    if (what & VIDI__NEED_FEATURE)
        VIDI__TRY(make_features(items, epoch, urls, n, hashed));
    return VIDI_OK;
}

void vidi__items_free(vidi__items *items)
{
    vidi__release(items->memory, items->parts, items->part_count * sizeof(vidi__part), _Alignof(vidi__part));
    vidi__release(items->memory, items->buffer, items->buffer_bytes, 1);
}
