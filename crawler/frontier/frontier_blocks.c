/*
 * Writes and reads the URLs of a block: see frontier_blocks.h. What is read comes from a file that may be damaged, so
 * nothing in it is trusted.
 */
#include "crawler/frontier/frontier_blocks.h"

#include <string.h>

enum { NUMBER_BYTES = 10, HEAD_NUMBERS = 6 }; /* 64 bits, 7 in a byte */
enum { KINDS = 8 };                           /* room for kinds */

/* ---- numbers ---- */

static char *put(char *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *to++ = (char)(number | 0x80);
    *to++ = (char)number;
    return to;
}

typedef struct cursor {
    const unsigned char *at, *end;
    bool bad;
} cursor;

/* 0 and `bad` if the number does not end in time. */
static uint64_t get(cursor *from)
{
    uint64_t number = 0;
    for (unsigned shift = 0; from->at < from->end && shift < 64; shift += 7) {
        unsigned char byte = *from->at++;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    from->bad = true;
    return 0;
}

/* ---- writing ---- */

static size_t shared_length(vidi_str a, vidi_str b)
{
    size_t most = a.len < b.len ? a.len : b.len, n = 0;
    while (n < most && a.ptr[n] == b.ptr[n])
        n++;
    return n;
}

int block_append(bytes *to, uint64_t number, const frontier_url *before, const frontier_url *url)
{
    size_t shared = before ? shared_length(before->url, url->url) : 0, rest = url->url.len - shared;
    int error = bytes_reserve(to, HEAD_NUMBERS * NUMBER_BYTES + rest);
    if (error)
        return error;

    char *end = to->ptr + to->len;
    end = put(end, url->id - (before ? before->id : number));
    end = put(end, url->depth);
    end = put(end, (uint64_t)url->hops * KINDS + (uint64_t)url->kind);
    end = put(end, url->referrer);
    end = put(end, shared);
    end = put(end, rest);
    memcpy(end, url->url.ptr + shared, rest);
    to->len = (size_t)(end + rest - to->ptr);
    return VIDI_OK;
}

int record_append(bytes *to, const frontier_url *url)
{
    return block_append(to, 0, NULL, url);
}

/* ---- reading ---- */

/* The numbers before a text; the id is a difference. */
static void get_head(cursor *from, frontier_url *url, size_t *shared, size_t *rest)
{
    url->id = get(from);
    uint64_t depth = get(from), hops = get(from);
    url->depth = (uint32_t)depth;
    url->hops = (uint32_t)(hops / KINDS);
    url->kind = (frontier_kind)(hops % KINDS);
    url->referrer = get(from);
    *shared = get(from);
    *rest = get(from);
    if (depth > UINT32_MAX || hops / KINDS > UINT32_MAX || url->kind >= FRONTIER_KINDS ||
        *rest > (size_t)(from->end - from->at))
        from->bad = true;
}

void record_read(const char *at, frontier_url *url)
{
    /* The bytes are our own, so that the end need not be known. */
    cursor from = {.at = (const unsigned char *)at, .end = (const unsigned char *)at + HEAD_NUMBERS * NUMBER_BYTES};
    size_t shared, rest;
    get_head(&from, url, &shared, &rest);
    url->url = (vidi_str){(const char *)from.at, rest};
}

/* Reads one URL. Its text is appended to the others; url.ptr is set later, when the texts do not move any more. */
static int read_url(frontier_block *block, cursor *from, size_t *before)
{
    frontier_url *url = &block->urls[block->count];
    size_t shared, rest;
    get_head(from, url, &shared, &rest);
    if (from->bad || shared > *before)
        return VIDI_EDAMAGED;
    int error = bytes_reserve(&block->text, shared + rest);
    if (error)
        return error;

    char *to = block->text.ptr + block->text.len;
    if (shared)
        memcpy(to, to - *before, shared);
    if (rest)
        memcpy(to + shared, from->at, rest);
    from->at += rest;
    *before = shared + rest;
    block->text.len += *before;
    url->url.len = *before;
    url->host = block->host;
    url->id += block->count ? url[-1].id : block->number;
    block->count++;
    return VIDI_OK;
}

int block_read(frontier_block *block, vidi_str from, uint64_t count)
{
    cursor at = {.at = (const unsigned char *)from.ptr, .end = (const unsigned char *)from.ptr + from.len};
    size_t before = 0;

    block->count = 0;
    block->text.len = 0;
    if (count == 0 || count > FRONTIER_BLOCK)
        return VIDI_EDAMAGED;
    while (block->count < count) {
        int error = read_url(block, &at, &before);
        if (error)
            return error;
    }
    if (at.at != at.end)
        return VIDI_EDAMAGED;
    const char *text = block->text.ptr;
    for (size_t i = 0; i < block->count; text += block->urls[i++].url.len)
        block->urls[i].url.ptr = text;
    return VIDI_OK;
}
