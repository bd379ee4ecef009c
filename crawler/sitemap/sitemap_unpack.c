/*
 * The first stage: what gzip has packed is unpacked, in pieces of a fixed size, and only as far as it is wanted: a file
 * that would unpack to terabytes ends at the limit. Several members behind one another are one text.
 */
#include "crawler/sitemap/sitemap_reader.h"

#include <stdlib.h>
#include <string.h>

#if VIDI_HAVE_ZLIB
#include <zlib.h>

enum { PIECE = 1 << 15, FEED_MOST = 1 << 30 };

static void stop(sitemap *reader, sitemap_problem problem)
{
    sitemap_note(reader, problem);
    if (reader->result == SITEMAP_GO_ON)
        reader->result = SITEMAP_ENOUGH;
}

static bool begin(sitemap *reader)
{
    z_stream *stream = calloc(1, sizeof *stream);

    if (!stream || inflateInit2(stream, 15 + 16) != Z_OK) {
        free(stream);
        reader->result = VIDI_EMEMORY;
        return false;
    }
    reader->inflater = stream;
    reader->report.packed = true;
    reader->within = true;
    return true;
}

/* A member has ended. Anything behind it that does not begin another one is ignored, as gzip does. */
static bool next_member(sitemap *reader, z_stream *stream)
{
    reader->within = false;
    if (stream->avail_in == 0)
        return false;
    reader->behind = *stream->next_in != 0x1f;
    reader->within = !reader->behind && inflateReset(stream) == Z_OK;
    return reader->within;
}

/* Unpacks a piece. False at the end of the input, or if nothing more is to be read. */
static bool unpack_piece(sitemap *reader, z_stream *stream)
{
    unsigned char piece[PIECE];

    stream->next_out = piece;
    stream->avail_out = sizeof piece;
    int result = inflate(stream, Z_NO_FLUSH);
    if (stream->avail_out < sizeof piece)
        sitemap_decode(reader, (const char *)piece, sizeof piece - stream->avail_out);
    if (reader->result != SITEMAP_GO_ON)
        return false;
    if (result == Z_STREAM_END)
        return next_member(reader, stream);
    if (result == Z_MEM_ERROR)
        reader->result = VIDI_EMEMORY;
    else if (result != Z_OK && result != Z_BUF_ERROR)
        stop(reader, SITEMAP_DAMAGED);
    return result == Z_OK && (stream->avail_in > 0 || stream->avail_out == 0);
}

static void unpack(sitemap *reader, const char *bytes, size_t n)
{
    z_stream *stream = reader->inflater;

    while (n > 0 && !reader->behind && reader->result == SITEMAP_GO_ON) {
        size_t some = n < FEED_MOST ? n : FEED_MOST;
        stream->next_in = (unsigned char *)(uintptr_t)bytes;
        stream->avail_in = (unsigned)some;
        if (reader->within || next_member(reader, stream))
            while (unpack_piece(reader, stream))
                ;
        bytes += some;
        n -= some;
    }
}

static void end(sitemap *reader)
{
    if (reader->inflater)
        inflateEnd(reader->inflater);
    free(reader->inflater);
}
#else
static bool begin(sitemap *reader)
{
    sitemap_note(reader, SITEMAP_NO_GZIP);
    reader->report.packed = true;
    reader->result = SITEMAP_ENOUGH;
    return false;
}

static void unpack(sitemap *reader, const char *bytes, size_t n)
{
    (void)reader, (void)bytes, (void)n;
}

static void end(sitemap *reader)
{
    (void)reader;
}
#endif

static void take(sitemap *reader, const char *bytes, size_t n)
{
    if (reader->inflater)
        unpack(reader, bytes, n);
    else if (n > 0 && reader->result == SITEMAP_GO_ON)
        sitemap_decode(reader, bytes, n);
}

/* Looks at the first two bytes. A first byte that comes alone is kept until the second comes. */
static void look(sitemap *reader, const char *bytes, size_t n)
{
    bool two = reader->has_first || n > 1;
    int second = !two ? 0 : (unsigned char)(reader->has_first ? bytes[0] : bytes[1]);

    if (!reader->has_first && bytes[0] == '\x1f' && !two) {
        reader->first = bytes[0];
        reader->has_first = true;
        return;
    }
    reader->looked = true;
    bool packed = (reader->has_first || bytes[0] == '\x1f') && second == 0x8b;
    if (packed && !begin(reader))
        return;
    if (reader->has_first)
        take(reader, &reader->first, 1);
    take(reader, bytes, n);
}

int sitemap_feed(sitemap *reader, const char *bytes, size_t n)
{
    if (n > 0 && reader->result == SITEMAP_GO_ON) {
        if (reader->looked)
            take(reader, bytes, n);
        else
            look(reader, bytes, n);
    }
    return reader->result;
}

void sitemap_unpack_end(sitemap *reader)
{
    if (!reader->looked && reader->has_first)
        take(reader, &reader->first, 1);
    if (reader->within && reader->result == SITEMAP_GO_ON)
        sitemap_note(reader, SITEMAP_CUT_OFF);
    end(reader);
}
