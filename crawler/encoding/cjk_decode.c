/*
 * Decodes the encodings of Chinese, Japanese and Korean as the Encoding Standard says (sections 10 to 13). Bytes that
 * are not a character become U+FFFD. If the second byte of a broken pair is ASCII, it is read again, so a broken pair
 * never swallows a quotation mark.
 */
#include <string.h>

#include "crawler/encoding/cjk.h"
#include "crawler/encoding/indexes.h"

enum { REPLACEMENT = 0xFFFD, IS_LEAD = 0x110000 };

typedef struct decoder {
    const uint8_t *at, *end;
    char *to;
    const encoding_index *index, *second; /* the second of those encodings that have two */
} decoder;

static bool within(uint32_t value, uint32_t low, uint32_t high)
{
    return value >= low && value <= high;
}

static void put(decoder *d, uint32_t code)
{
    d->to += utf8_put(d->to, code);
}

static uint32_t look_up(const encoding_index *index, uint32_t pointer)
{
    return pointer < index->size ? index->codes[pointer] : 0;
}

/* ---- encodings of one and two bytes ---- */

/* What a byte alone is: a character, IS_LEAD, or REPLACEMENT. */
typedef uint32_t single(uint8_t byte);

/* The character of two bytes, 0 if there is none. */
typedef uint32_t pair(decoder *d, uint8_t lead, uint8_t trail);

static void decode_pairs(decoder *d, single *single, pair *pair)
{
    while (d->at < d->end) {
        uint8_t byte = *d->at++;
        uint32_t code = byte < 0x80 ? byte : single(byte);
        if (code == IS_LEAD) {
            code = d->at < d->end ? pair(d, byte, *d->at) : 0;
            if (d->at < d->end && (code || *d->at >= 0x80))
                d->at++;
        }
        put(d, code || byte == 0 ? code : REPLACEMENT);
    }
}

static uint32_t shift_jis_single(uint8_t byte)
{
    if (within(byte, 0xA1, 0xDF))
        return 0xFF61u - 0xA1 + byte;
    if (byte == 0x80)
        return byte;
    return within(byte, 0x81, 0x9F) || within(byte, 0xE0, 0xFC) ? IS_LEAD : REPLACEMENT;
}

static uint32_t shift_jis_pair(decoder *d, uint8_t lead, uint8_t trail)
{
    if (!within(trail, 0x40, 0x7E) && !within(trail, 0x80, 0xFC))
        return 0;
    uint32_t pointer = (lead - (lead < 0xA0 ? 0x81u : 0xC1u)) * 188 + trail - (trail < 0x7F ? 0x40 : 0x41);
    return within(pointer, 8836, 10715) ? 0xE000 - 8836 + pointer : look_up(d->index, pointer);
}

static uint32_t lead_from_81(uint8_t byte)
{
    return within(byte, 0x81, 0xFE) ? IS_LEAD : REPLACEMENT;
}

static uint32_t euc_kr_pair(decoder *d, uint8_t lead, uint8_t trail)
{
    return within(trail, 0x41, 0xFE) ? look_up(d->index, (lead - 0x81u) * 190 + trail - 0x41) : 0;
}

static uint32_t big5_pair(decoder *d, uint8_t lead, uint8_t trail)
{
    if (!within(trail, 0x40, 0x7E) && !within(trail, 0xA1, 0xFE))
        return 0;
    uint32_t pointer = (lead - 0x81u) * 157 + trail - (trail < 0x7F ? 0x40 : 0x62);
    if (pointer != 1133 && pointer != 1135 && pointer != 1164 && pointer != 1166)
        return look_up(d->index, pointer);
    put(d, pointer < 1164 ? 0xCA : 0xEA); /* a letter with an accent that has no character of its own */
    return pointer == 1133 || pointer == 1164 ? 0x304 : 0x30C;
}

/* ---- EUC-JP ---- */

static uint32_t euc_jp_single(uint8_t byte)
{
    return byte == 0x8E || byte == 0x8F || within(byte, 0xA1, 0xFE) ? IS_LEAD : REPLACEMENT;
}

static uint32_t euc_jp_pair(decoder *d, uint8_t lead, uint8_t trail)
{
    const encoding_index *index = d->index;

    if (lead == 0x8E)
        return within(trail, 0xA1, 0xDF) ? 0xFF61u - 0xA1 + trail : 0;
    if (lead == 0x8F && within(trail, 0xA1, 0xFE)) { /* three bytes */
        index = d->second;
        lead = trail;
        d->at++;
        if (d->at == d->end)
            return 0;
        trail = *d->at;
    }
    return within(lead, 0xA1, 0xFE) && within(trail, 0xA1, 0xFE) ? look_up(index, (lead - 0xA1u) * 94 + trail - 0xA1)
                                                                 : 0;
}

/* ---- gb18030, and GBK, which is read the same way ---- */

static uint32_t four_bytes(const decoder *d, const uint8_t *b)
{
    uint32_t pointer = (b[0] - 0x81u) * 12600 + (b[1] - 0x30u) * 1260 + (b[2] - 0x81u) * 10 + b[3] - 0x30;
    if (pointer < d->second->size)
        return look_up(d->second, pointer);
    return within(pointer, 189000, 1237575) ? 0x10000 + pointer - 189000 : 0;
}

/* Reads what follows a lead byte. */
static void decode_gb18030_rest(decoder *d, uint8_t lead)
{
    const uint8_t *b = d->at - 1;
    size_t left = (size_t)(d->end - d->at);
    uint32_t code = 0;

    if (left && within(b[1], 0x30, 0x39)) {
        if (left == 1 || (left == 2 && within(b[2], 0x81, 0xFE))) {
            d->at = d->end; /* cut off: one error for all of it */
        } else if (left > 2 && within(b[2], 0x81, 0xFE) && within(b[3], 0x30, 0x39)) {
            code = four_bytes(d, b);
            d->at += code ? 3 : 0;
        }
    } else if (left) {
        if (within(b[1], 0x40, 0x7E) || within(b[1], 0x80, 0xFE))
            code = look_up(d->index, (lead - 0x81u) * 190 + b[1] - (b[1] < 0x7F ? 0x40 : 0x41));
        d->at += code || b[1] >= 0x80;
    }
    put(d, code ? code : REPLACEMENT);
}

static void decode_gb18030(decoder *d)
{
    while (d->at < d->end) {
        uint8_t byte = *d->at++;
        if (byte < 0x80)
            put(d, byte);
        else if (within(byte, 0x81, 0xFE))
            decode_gb18030_rest(d, byte);
        else
            put(d, byte == 0x80 ? 0x20AC : REPLACEMENT);
    }
}

/* ---- ISO-2022-JP ---- */

enum jp_state { JP_ASCII, JP_ROMAN, JP_KATAKANA, JP_PAIRS };

/* True if there is an escape sequence at ESC; *state is what it switches to. */
static bool read_escape(const decoder *d, enum jp_state *state)
{
    static const struct {
        char bytes[3];
        enum jp_state state;
    } sequences[] = {{"(B", JP_ASCII}, {"(J", JP_ROMAN}, {"(I", JP_KATAKANA}, {"$@", JP_PAIRS}, {"$B", JP_PAIRS}};

    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++)
        if (d->end - d->at >= 2 && memcmp(d->at, sequences[i].bytes, 2) == 0) {
            *state = sequences[i].state;
            return true;
        }
    return false;
}

/* Reads a character whose first byte has been read. */
static uint32_t read_in_state(decoder *d, enum jp_state state, uint8_t byte)
{
    if (state == JP_ASCII || state == JP_ROMAN) {
        if (state == JP_ROMAN && (byte == 0x5C || byte == 0x7E))
            return byte == 0x5C ? 0xA5 : 0x203E;
        return byte < 0x80 && byte != 0x0E && byte != 0x0F ? byte : REPLACEMENT;
    }
    if (state == JP_KATAKANA)
        return within(byte, 0x21, 0x5F) ? 0xFF61u - 0x21 + byte : REPLACEMENT;
    if (!within(byte, 0x21, 0x7E) || d->at == d->end || *d->at == 0x1B)
        return REPLACEMENT;
    uint8_t trail = *d->at++;
    uint32_t code = within(trail, 0x21, 0x7E) ? look_up(d->index, (byte - 0x21u) * 94 + trail - 0x21) : 0;
    return code ? code : REPLACEMENT;
}

static void decode_iso_2022_jp(decoder *d)
{
    enum jp_state state = JP_ASCII;
    bool just_switched = false; /* two escape sequences in a row are an error */

    while (d->at < d->end) {
        uint8_t byte = *d->at++;
        if (byte == 0x1B && read_escape(d, &state)) {
            d->at += 2;
            if (just_switched)
                put(d, REPLACEMENT);
            just_switched = true;
            continue;
        }
        put(d, byte == 0x1B ? REPLACEMENT : read_in_state(d, state, byte));
        just_switched = false;
    }
}

/* ---- all ---- */

static bool find_indexes(enum encoding_kind kind, decoder *d)
{
    static const enum encoding_index_name first[] = {
        [ENCODING_GBK] = ENCODING_INDEX_GB18030,         [ENCODING_GB18030] = ENCODING_INDEX_GB18030,
        [ENCODING_BIG5] = ENCODING_INDEX_BIG5,           [ENCODING_EUC_JP] = ENCODING_INDEX_JIS0208,
        [ENCODING_ISO_2022_JP] = ENCODING_INDEX_JIS0208, [ENCODING_SHIFT_JIS] = ENCODING_INDEX_JIS0208,
        [ENCODING_EUC_KR] = ENCODING_INDEX_EUC_KR};

    d->index = d->second = encoding_index_get(first[kind]);
    if (kind == ENCODING_EUC_JP)
        d->second = encoding_index_get(ENCODING_INDEX_JIS0212);
    if (kind == ENCODING_GBK || kind == ENCODING_GB18030)
        d->second = encoding_index_get(ENCODING_INDEX_GB18030_FOUR);
    return d->index && d->second;
}

bool encoding_cjk_decode(const text_encoding *encoding, vidi_str bytes, char *to, size_t *len)
{
    const uint8_t *from = (const uint8_t *)bytes.ptr;
    decoder d = {.at = from, .end = from + bytes.len, .to = to};

    if (!find_indexes(encoding->kind, &d))
        return false;
    switch (encoding->kind) {
    case ENCODING_BIG5:
        decode_pairs(&d, lead_from_81, big5_pair);
        break;
    case ENCODING_EUC_JP:
        decode_pairs(&d, euc_jp_single, euc_jp_pair);
        break;
    case ENCODING_ISO_2022_JP:
        decode_iso_2022_jp(&d);
        break;
    case ENCODING_SHIFT_JIS:
        decode_pairs(&d, shift_jis_single, shift_jis_pair);
        break;
    case ENCODING_EUC_KR:
        decode_pairs(&d, lead_from_81, euc_kr_pair);
        break;
    default:
        decode_gb18030(&d);
    }
    *len = (size_t)(d.to - to);
    return true;
}
