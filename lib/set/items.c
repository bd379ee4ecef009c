/*
 * From URLs to items: the hash that every default kind needs, and segments and features for the kinds that ask for
 * them.
 */
#include "set/set.h"

/* Stack space for parsing a URL; longer ones are parsed in memory of the set. */
#define PARSE_BYTES 2048

/* The hashes of n <= VIDI__GROUP strings; zeros if the kind needs none. */
static void hash_all(const vidi__epoch *epoch, const vidi_str *strs, size_t n, vidi__u128 *hashes)
{
    if (epoch->filter->needs.what & VIDI__NEED_HASH)
        vidi__hash_batch(epoch->hash, vidi__epoch_key(epoch), strs, n, hashes);
    else
        memset(hashes, 0, n * sizeof *hashes);
}

static void hash_parts(const vidi__epoch *epoch, vidi__part *parts, size_t n)
{
    vidi_str strs[VIDI__GROUP];
    vidi__u128 hashes[VIDI__GROUP];
    for (size_t done = 0, count; done < n; done += count) {
        count = n - done < VIDI__GROUP ? n - done : VIDI__GROUP;
        for (size_t i = 0; i < count; i++)
            strs[i] = parts[done + i].str;
        hash_all(epoch, strs, count, hashes);
        for (size_t i = 0; i < count; i++)
            parts[done + i].hash = hashes[i];
    }
}

static vidi__url_segments walk_over(const vidi__needs *needs, const vidi__url_parts *parts)
{
    return (vidi__url_segments){.parts = parts, .most = needs->segments_max, .strip_scheme = needs->strip_scheme};
}

static size_t count_segments(const vidi__needs *needs, const vidi__url_parts *parts)
{
    size_t count = 0;
    vidi_str segment;
    for (vidi__url_segments walk = walk_over(needs, parts); vidi__url_segment(&walk, &segment);)
        count++;
    return count;
}

static int make_segments(vidi__items *items, const vidi__epoch *epoch, const vidi__url_parts *parts, size_t n)
{
    const vidi__needs *needs = &epoch->filter->needs;
    for (size_t i = 0; i < n; i++)
        items->part_count += count_segments(needs, &parts[i]);
    VIDI__TRY(vidi__alloc(items->memory, &items->parts, items->part_count * sizeof(vidi__part), _Alignof(vidi__part)));
    vidi__part *part = items->parts;
    for (size_t i = 0; i < n; i++) {
        vidi_str segment;
        items->list[i].segments = part;
        for (vidi__url_segments walk = walk_over(needs, &parts[i]); vidi__url_segment(&walk, &segment);)
            *part++ = (vidi__part){.str = segment};
        items->list[i].segment_count = (size_t)(part - items->list[i].segments);
    }
    hash_parts(epoch, items->parts, items->part_count);
    return VIDI_OK;
}

static int make_features(vidi__items *items, const vidi__epoch *epoch, const vidi__url_parts *parts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        items->buffer_bytes += parts[i].url.len + 1;
    VIDI__TRY(vidi__alloc(items->memory, &items->buffer, items->buffer_bytes, 1));
    vidi_str features[VIDI__GROUP];
    vidi__u128 hashes[VIDI__GROUP];
    char *at = items->buffer;
    for (size_t i = 0; i < n; i++) {
        features[i] = epoch->feature(&parts[i], at);
        at += parts[i].url.len + 1;
    }
    hash_all(epoch, features, n, hashes);
    for (size_t i = 0; i < n; i++)
        items->list[i].feature = (vidi__part){features[i], hashes[i]};
    return VIDI_OK;
}

/* Makes segments and features, for the kinds that work on parts of URLs. */
static int make_parts(vidi__items *items, const vidi__epoch *epoch, const vidi_str *urls, size_t n)
{
    unsigned what = epoch->filter->needs.what;
    vidi__url_parts parts[VIDI__GROUP];
    char room[PARSE_BYTES];
    vidi__buffer text = vidi__buffer_in(room, sizeof room, items->memory);
    int code = VIDI_OK;
    for (size_t i = 0; i < n && code == VIDI_OK; i++)
        code = vidi__url_split(&parts[i], urls[i], &text);
    vidi__buffer_free(&text);
    if (code == VIDI_OK && what & VIDI__NEED_SEGMENTS)
        code = make_segments(items, epoch, parts, n);
    if (code == VIDI_OK && what & VIDI__NEED_FEATURE)
        code = make_features(items, epoch, parts, n);
    return code;
}

int vidi__items_check(vidi_str url)
{
    return url.ptr || !url.len ? VIDI_OK : vidi__fail(VIDI_EARGUMENT, "a URL of %zu bytes is at NULL", url.len);
}

static void begin(vidi__items *items, vidi__memory *memory)
{
    items->memory = memory;
    items->parts = NULL;
    items->part_count = 0;
    items->buffer = NULL;
    items->buffer_bytes = 0;
}

void vidi__items_of_hashes(vidi__items *items, vidi__memory *memory, const vidi__u128 *hashes, size_t n)
{
    begin(items, memory);
    for (size_t i = 0; i < n; i++)
        items->list[i] = (vidi__item){.url = {{NULL, 0}, hashes[i]}};
}

int vidi__items_make(vidi__items *items, vidi__memory *memory, const vidi__epoch *epoch, const vidi_str *urls, size_t n)
{
    vidi__u128 hashes[VIDI__GROUP];
    begin(items, memory);
    for (size_t i = 0; i < n; i++)
        VIDI__TRY(vidi__items_check(urls[i]));
    hash_all(epoch, urls, n, hashes);
    for (size_t i = 0; i < n; i++)
        items->list[i] = (vidi__item){.url = {urls[i], hashes[i]}};
    bool parts = epoch->filter->needs.what & (VIDI__NEED_SEGMENTS | VIDI__NEED_FEATURE);
    return parts ? make_parts(items, epoch, urls, n) : VIDI_OK;
}

void vidi__items_free(vidi__items *items)
{
    vidi__release(items->memory, items->parts, items->part_count * sizeof(vidi__part), _Alignof(vidi__part));
    vidi__release(items->memory, items->buffer, items->buffer_bytes, 1);
}
