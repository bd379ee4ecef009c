/*
 * Undoing Content-Encoding: see http.h. A layer is decoded into memory as a whole. The output of all layers together
 * is limited, so a bomb inside a bomb gains nothing.
 *
 * gzip may have several members, and zstd several frames; trailing bytes that do not begin another one are ignored, as
 * browsers do. By RFC 9110, deflate is zlib's format, but many servers send the raw stream without its header: both are read.
 */
#include "crawler/http/http.h"

#include "crawler/http/http_decoder.h"
#include "crawler/http/http_text.h"

enum {
    LAYERS = 3,       /* codings that may be applied one after another */
    FIRST_ROOM = 4096 /* bytes */
};

/* HTTP_ZLIB stands for deflate in either format. */
static http_coding coding_of(vidi_str name)
{
    if (name.len == 0 || ASCII_IS(name, "identity"))
        return HTTP_IDENTITY;
    if (ASCII_IS(name, "gzip") || ASCII_IS(name, "x-gzip"))
        return HTTP_GZIP;
    if (VIDI_HAVE_BROTLI && ASCII_IS(name, "br"))
        return HTTP_BROTLI;
    if (VIDI_HAVE_ZSTD && ASCII_IS(name, "zstd"))
        return HTTP_ZSTD;
    return ASCII_IS(name, "deflate") ? HTTP_ZLIB : HTTP_OTHER;
}

/* The codings in the order in which they were applied. Returns how many; negative if one of them cannot be undone. */
static int find_codings(vidi_str head, http_coding codings[LAYERS])
{
    http_field field;
    vidi_str name;
    int n = 0;

    for (size_t at = 0; http_next(head, &at, &field);) {
        if (!ASCII_IS(field.name, "content-encoding"))
            continue;
        while (http_next_item(&field.value, &name)) {
            http_coding found = coding_of(name);
            if (found == HTTP_OTHER || (found != HTTP_IDENTITY && n == LAYERS))
                return -1;
            if (found != HTTP_IDENTITY)
                codings[n++] = found;
        }
    }
    return n;
}

/* ---- one layer ---- */

typedef struct layer {
    inflate_window window;
    size_t budget; /* bytes that may still come out */
    bytes *to;
} layer;

/* Decodes as much as there is room for. INFLATE_WAITS: the input has ended. */
static inflate_result decode_some(http_decoder *decoder, layer *layer)
{
    bytes *to = layer->to;

    if (to->len == to->room && bytes_reserve(to, to->len ? 1 : FIRST_ROOM) != VIDI_OK)
        return INFLATE_NO_MEMORY;
    size_t room = to->room - to->len;
    if (room > layer->budget + 1) /* one byte more tells that it is too much */
        room = layer->budget + 1;
    layer->window.to = to->ptr + to->len;
    layer->window.to_left = room;
    inflate_result result = http_decoder_step(decoder, &layer->window);
    size_t n = room - layer->window.to_left;
    to->len += n;
    if (n > layer->budget)
        return INFLATE_GOES_ON; /* the caller sees that the budget is used up */
    layer->budget -= n;
    return result;
}

static http_unpacked outcome_of(inflate_result result)
{
    return result == INFLATE_ENDS ? HTTP_UNPACKED : result == INFLATE_NO_MEMORY ? HTTP_NO_MEMORY : HTTP_DAMAGED;
}

/* Decodes to the end. *budget is lowered by what came out. */
static http_unpacked decode_all(vidi_str from, http_coding coding, size_t *budget, bytes *to)
{
    layer layer = {.window = {.from = from.ptr, .from_left = from.len}, .budget = *budget, .to = to};
    http_unpacked outcome = HTTP_UNPACKED;
    http_decoder decoder;

    if (!http_decoder_open(&decoder, coding))
        return HTTP_NO_MEMORY;
    for (;;) {
        size_t before = layer.budget, length = to->len;
        inflate_result result = decode_some(&decoder, &layer);
        if (to->len - length > before) {
            outcome = HTTP_TOO_LARGE;
            break;
        }
        bool goes_on =
            result == INFLATE_GOES_ON || (result == INFLATE_ENDS && http_decoder_continues(&decoder, &layer.window));
        if (!goes_on) {
            outcome = outcome_of(result);
            break;
        }
    }
    http_decoder_close(&decoder);
    *budget = layer.budget;
    return outcome;
}

/* RFC 1950, section 2.2: the method is deflate, and the two bytes are a multiple of 31. */
static bool looks_like_zlib(vidi_str from)
{
    return from.len >= 2 && (from.ptr[0] & 0x0F) == 8 &&
           ((unsigned char)from.ptr[0] << 8 | (unsigned char)from.ptr[1]) % 31 == 0;
}

static http_unpacked undo(http_coding what, vidi_str from, size_t *budget, bytes *to)
{
    if (what != HTTP_ZLIB)
        return decode_all(from, what, budget, to);
    if (looks_like_zlib(from)) {
        http_unpacked outcome = decode_all(from, HTTP_ZLIB, budget, to);
        if (outcome != HTTP_DAMAGED || to->len > 0)
            return outcome;
    }
    return decode_all(from, HTTP_RAW, budget, to);
}

/* ---- all layers ---- */

http_unpacked http_unpack(vidi_str head, vidi_str body, size_t limit, bytes *to)
{
    http_coding codings[LAYERS];
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
