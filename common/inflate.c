/*
 * Inflating: see inflate.h.
 */
#include "common/inflate.h"

#if VIDI_HAVE_ZLIB
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

struct inflater {
    z_stream stream;
};

bool inflate_is_built(void)
{
    return true;
}

inflater *inflater_open(inflate_format format)
{
    /* The size of the window, 32 KiB, and the wrapper around the stream. */
    static const int windows[] = {[INFLATE_GZIP] = 15 + 16, [INFLATE_ZLIB] = 15, [INFLATE_RAW] = -15};
    inflater *self = calloc(1, sizeof *self);

    if (self && inflateInit2(&self->stream, windows[format]) == Z_OK)
        return self;
    free(self);
    return NULL;
}

void inflater_reset(inflater *self)
{
    (void)inflateReset(&self->stream);
}

void inflater_close(inflater *self)
{
    if (self)
        inflateEnd(&self->stream);
    free(self);
}

/* zlib counts in 32 bits. */
static unsigned at_once(size_t n)
{
    return n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
}

inflate_result inflater_step(inflater *self, inflate_window *window)
{
    z_stream *stream = &self->stream;

    stream->next_in = (unsigned char *)(uintptr_t)window->from;
    stream->avail_in = at_once(window->from_left);
    stream->next_out = (unsigned char *)window->to;
    stream->avail_out = at_once(window->to_left);
    int result = inflate(stream, Z_NO_FLUSH);
    window->from_left -= (size_t)((const char *)stream->next_in - window->from);
    window->from = (const char *)stream->next_in;
    window->to_left -= (size_t)((char *)stream->next_out - window->to);
    window->to = (char *)stream->next_out;
    window->why = stream->msg;
    return result == Z_STREAM_END  ? INFLATE_ENDS
           : result == Z_OK        ? INFLATE_GOES_ON
           : result == Z_BUF_ERROR ? INFLATE_WAITS
           : result == Z_MEM_ERROR ? INFLATE_NO_MEMORY
                                   : INFLATE_DAMAGED;
}
#else
bool inflate_is_built(void)
{
    return false;
}

inflater *inflater_open(inflate_format format)
{
    (void)format;
    return NULL;
}

void inflater_reset(inflater *self)
{
    (void)self;
}

void inflater_close(inflater *self)
{
    (void)self;
}

inflate_result inflater_step(inflater *self, inflate_window *window)
{
    (void)self, (void)window;
    return INFLATE_DAMAGED;
}
#endif
