/*
 * Encodings: sitemaps are in UTF-8, but some programs write UTF-16, which is told by its byte order mark or by the
 * zeros beside the first '<'. Marks are skipped. This stage also counts the bytes, and ends the reading at the limit.
 */
#include "crawler/sitemap/sitemap_reader.h"

#include <string.h>

#include "common/utf8.h"

static void put_character(sitemap *reader, uint32_t c)
{
    char bytes[4];

    sitemap_parse(reader, bytes, utf8_put(bytes, c));
}

/* A surrogate without its other half becomes U+FFFD. */
static void put_unit(sitemap *reader, uint32_t unit)
{
    bool second = unit >= 0xdc00 && unit < 0xe000;

    if (reader->surrogate && second)
        put_character(reader, 0x10000 + ((reader->surrogate - 0xd800) << 10) + (unit - 0xdc00));
    else if (reader->surrogate || second)
        put_character(reader, 0xfffd);
    bool paired = reader->surrogate && second;
    reader->surrogate = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
    if (!paired && !second && !reader->surrogate && unit != 0xfeff)
        put_character(reader, unit);
}

static void decode_utf16(sitemap *reader, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n && reader->result == SITEMAP_GO_ON; i++) {
        unsigned char first = (unsigned char)reader->half, second = (unsigned char)bytes[i];
        if (!reader->has_half) {
            reader->half = bytes[i];
            reader->has_half = true;
            continue;
        }
        reader->has_half = false;
        put_unit(reader, reader->encoding == SITEMAP_UTF16LE ? (uint32_t)(second << 8 | first)
                                                             : (uint32_t)(first << 8 | second));
    }
}

static void decode(sitemap *reader, const char *bytes, size_t n)
{
    if (reader->encoding == SITEMAP_UTF8)
        sitemap_parse(reader, bytes, n);
    else
        decode_utf16(reader, bytes, n);
}

/* Decides by the first bytes, and decodes them. */
static void decide(sitemap *reader)
{
    static const struct {
        const char *bytes;
        size_t len, skipped;
        sitemap_encoding encoding;
    } list[] = {{"\xef\xbb\xbf", 3, 3, SITEMAP_UTF8},
                {"\xff\xfe", 2, 2, SITEMAP_UTF16LE},
                {"\xfe\xff", 2, 2, SITEMAP_UTF16BE},
                {"<\0", 2, 0, SITEMAP_UTF16LE},
                {"\0<", 2, 0, SITEMAP_UTF16BE}};
    size_t skipped = 0;

    reader->decided = true;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (reader->head_len >= list[i].len && memcmp(reader->head, list[i].bytes, list[i].len) == 0) {
            reader->encoding = list[i].encoding;
            skipped = list[i].skipped;
            break;
        }
    decode(reader, reader->head + skipped, reader->head_len - skipped);
}

void sitemap_decode(sitemap *reader, const char *bytes, size_t n)
{
    uint64_t room = reader->options.max_bytes - reader->report.bytes;
    bool too_large = n > room;

    n = too_large ? (size_t)room : n;
    reader->report.bytes += n;
    while (!reader->decided && n > 0) {
        reader->head[reader->head_len++] = *bytes++;
        n--;
        if (reader->head_len == sizeof reader->head)
            decide(reader);
    }
    if (n > 0)
        decode(reader, bytes, n);
    if (too_large && reader->result == SITEMAP_GO_ON) {
        sitemap_note(reader, SITEMAP_TOO_LARGE);
        reader->result = SITEMAP_ENOUGH;
    }
}

void sitemap_decode_end(sitemap *reader)
{
    if (!reader->decided)
        decide(reader);
    if (reader->has_half || reader->surrogate)
        sitemap_note(reader, SITEMAP_CUT_OFF);
}
