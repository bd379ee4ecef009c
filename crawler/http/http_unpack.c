/*
 * Undoing Content-Encoding: see http.h. A layer is inflated into memory as a whole. The output of all layers together
 * is limited, so a bomb inside a bomb gains nothing.
 *
 * gzip may have several members; trailing bytes that do not begin another one are ignored, as browsers do. By RFC
 * 9110, deflate is zlib's format, but many servers send the raw stream without its header: both are read.
 */
#include "crawler/http/http.h"

#include <string.h>
#include <zlib.h>

#include "crawler/http/http_text.h"

enum {
    LAYERS = 3,       /* codings that may be applied one after another */
    FIRST_ROOM = 4096 /* bytes */
};

/* What zlib calls the formats: window of 32 KiB, and the wrapper. */
enum { RAW = -MAX_WBITS, ZLIB = MAX_WBITS, GZIP = MAX_WBITS + 16 };

typedef enum coding { IDENTITY, IS_GZIP, IS_DEFLATE, OTHER } coding;

static coding coding_of(vidi_str name)
{
    if (name.len == 0 || http_is(name, "identity"))
        return IDENTITY;
    if (http_is(name, "gzip") || http_is(name, "x-gzip"))
        return IS_GZIP;
    return http_is(name, "deflate") ? IS_DEFLATE : OTHER;
}

/* The codings in the order in which they were applied. Returns how many; negative if one of them cannot be undone. */
static int find_codings(vidi_str head, coding codings[LAYERS])
{
    http_field field;
    vidi_str name;
    int n = 0;

    for (size_t at = 0; http_next(head, &at, &field);) {
        if (!http_is(field.name, "content-encoding"))
            continue;
        while (http_next_item(&field.value, &name)) {
            coding found = coding_of(name);
            if (found == OTHER || (found != IDENTITY && n == LAYERS))
                return -1;
            if (found != IDENTITY)
                codings[n++] = found;
        }
    }
    return n;
}

/* ---- one layer ---- */

typedef struct layer {
    z_stream stream;
    vidi_str rest; /* of the input, which zlib does not have yet: it counts in 32 bits */
    size_t budget; /* bytes that may still come out */
    bytes *to;
} layer;

static void give_input(layer *layer)
{
    if (layer->stream.avail_in > 0)
        return;
    size_t n = layer->rest.len < UINT32_MAX ? layer->rest.len : UINT32_MAX;
    layer->stream.next_in = (Bytef *)(uintptr_t)layer->rest.ptr;
    layer->stream.avail_in = (uInt)n;
    layer->rest = (vidi_str){layer->rest.ptr + n, layer->rest.len - n};
}

/* Inflates as much as there is room for. Z_BUF_ERROR: the input has ended. Z_MEM_ERROR: no memory. */
static int inflate_some(layer *layer)
{
    bytes *to = layer->to;

    give_input(layer);
    if (to->len == to->room && bytes_reserve(to, to->len ? 1 : FIRST_ROOM) != VIDI_OK)
        return Z_MEM_ERROR;
    size_t room = to->room - to->len;
    if (room > layer->budget + 1) /* one byte more tells that it is too much */
        room = layer->budget + 1;
    if (room > UINT32_MAX)
        room = UINT32_MAX;
    layer->stream.next_out = (Bytef *)to->ptr + to->len;
    layer->stream.avail_out = (uInt)room;
    int result = inflate(&layer->stream, Z_NO_FLUSH);
    size_t n = room - layer->stream.avail_out;
    to->len += n;
    if (n > layer->budget)
        return Z_OK; /* the caller sees that the budget is used up */
    layer->budget -= n;
    return result;
}

/* True if another member follows. */
static bool goes_on(const layer *layer)
{
    const Bytef *next = layer->stream.next_in;

    return layer->stream.avail_in >= 2 && next[0] == 0x1F && next[1] == 0x8B;
}

/* Inflates to the end. *budget is lowered by what came out. */
static http_unpacked inflate_all(vidi_str from, int format, size_t *budget, bytes *to)
{
    layer layer = {.rest = from, .budget = *budget, .to = to};
    http_unpacked outcome = HTTP_UNPACKED;

    if (inflateInit2(&layer.stream, format) != Z_OK)
        return HTTP_NO_MEMORY;
    for (;;) {
        size_t before = layer.budget, length = to->len;
        int result = inflate_some(&layer);
        if (to->len - length > before) {
            outcome = HTTP_TOO_LARGE;
            break;
        }
        if (result == Z_STREAM_END && format == GZIP && goes_on(&layer)) {
            inflateReset(&layer.stream);
        } else if (result != Z_OK) {
            outcome = result == Z_STREAM_END ? HTTP_UNPACKED : result == Z_MEM_ERROR ? HTTP_NO_MEMORY : HTTP_DAMAGED;
            break;
        }
    }
    inflateEnd(&layer.stream);
    *budget = layer.budget;
    return outcome;
}

/* RFC 1950, section 2.2: the method is deflate, and the two bytes are a multiple of 31. */
static bool looks_like_zlib(vidi_str from)
{
    return from.len >= 2 && (from.ptr[0] & 0x0F) == 8 &&
           ((unsigned char)from.ptr[0] << 8 | (unsigned char)from.ptr[1]) % 31 == 0;
}

static http_unpacked undo(coding what, vidi_str from, size_t *budget, bytes *to)
{
    if (what == IS_GZIP)
        return inflate_all(from, GZIP, budget, to);
    if (looks_like_zlib(from)) {
        http_unpacked outcome = inflate_all(from, ZLIB, budget, to);
        if (outcome != HTTP_DAMAGED || to->len > 0)
            return outcome;
    }
    return inflate_all(from, RAW, budget, to);
}

/* ---- all layers ---- */

http_unpacked http_unpack(vidi_str head, vidi_str body, size_t limit, bytes *to)
{
    coding codings[LAYERS];
    int n = find_codings(head, codings);
    http_unpacked outcome = HTTP_AS_IT_IS;
    bool damaged = false;

    if (n < 0)
        return HTTP_UNKNOWN;
    if (body.len == 0)
        return HTTP_AS_IT_IS;
    if (limit > SIZE_MAX / 2)
        limit = SIZE_MAX / 2;
    while (n > 0) {
        bytes out = {0};
        outcome = undo(codings[--n], body, &limit, &out);
        damaged |= outcome == HTTP_DAMAGED;
        bytes_free(to);
        *to = out;
        body = bytes_str(to);
        if (outcome == HTTP_TOO_LARGE || outcome == HTTP_NO_MEMORY) {
            bytes_free(to);
            return outcome;
        }
        if (body.len == 0)
            break;
    }
    return damaged ? HTTP_DAMAGED : outcome;
}
