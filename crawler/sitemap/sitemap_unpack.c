/*
 * The first stage: what gzip has packed is unpacked, in pieces of a fixed size, and only as far as it is wanted: a file
 * that would unpack to terabytes ends at the limit. Several members, one after another, are one text.
 */
#include "crawler/sitemap/sitemap_reader.h"

#include "common/inflate.h"

enum { PIECE = 1 << 15 };

static void stop(sitemap *reader, sitemap_problem problem)
{
    sitemap_note(reader, problem);
    if (reader->result == SITEMAP_GO_ON)
        reader->result = SITEMAP_ENOUGH;
}

static bool begin(sitemap *reader)
{
    reader->inflater = inflater_open(INFLATE_GZIP);
    reader->report.packed = reader->inflater || !inflate_is_built();
    if (!inflate_is_built())
        stop(reader, SITEMAP_NO_GZIP);
    else if (!reader->inflater)
        reader->result = VIDI_EMEMORY;
    reader->within = reader->inflater;
    return reader->inflater;
}

/* A member has ended. Anything after it that does not begin another one is ignored, as gzip does. */
static bool next_member(sitemap *reader, const inflate_window *window)
{
    reader->within = false;
    if (window->from_left == 0)
        return false;
    reader->ended = *window->from != 0x1f;
    reader->within = !reader->ended;
    if (reader->within)
        inflater_reset(reader->inflater);
    return reader->within;
}

/* Unpacks a piece. False at the end of the input, or if the rest is not wanted. */
static bool unpack_piece(sitemap *reader, inflate_window *window)
{
    char piece[PIECE];

    window->to = piece;
    window->to_left = sizeof piece;
    inflate_result result = inflater_step(reader->inflater, window);
    if (window->to_left < sizeof piece)
        sitemap_decode(reader, piece, sizeof piece - window->to_left);
    if (reader->result != SITEMAP_GO_ON)
        return false;
    if (result == INFLATE_ENDS)
        return next_member(reader, window);
    if (result == INFLATE_NO_MEMORY)
        reader->result = VIDI_EMEMORY;
    else if (result == INFLATE_DAMAGED)
        stop(reader, SITEMAP_DAMAGED);
    return result == INFLATE_GOES_ON && (window->from_left > 0 || window->to_left == 0);
}

static void unpack(sitemap *reader, const char *bytes, size_t n)
{
    inflate_window window = {.from = bytes, .from_left = n};

    if (n == 0 || reader->ended || reader->result != SITEMAP_GO_ON)
        return;
    if (reader->within || next_member(reader, &window))
        while (unpack_piece(reader, &window))
            ;
}

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
    inflater_close(reader->inflater);
}
