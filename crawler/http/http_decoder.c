/*
 * Decoders: see http_decoder.h. zlib comes with every crawler; brotli and zstd are optional.
 *
 * A stream announces how much of its output the decoder must keep in memory. Brotli's format allows 16 MiB. For zstd,
 * RFC 9659 allows 8 MiB in HTTP; libzstd's own limit of 128 MiB is higher.
 */
#include "crawler/http/http_decoder.h"

#include <string.h>
#if VIDI_HAVE_BROTLI
#include <brotli/decode.h>
#endif
#if VIDI_HAVE_ZSTD
#include <zstd.h>
#endif

/* ---- brotli ---- */

#if VIDI_HAVE_BROTLI
static bool is_shortage(BrotliDecoderErrorCode code)
{
    return code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES && code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
}

static inflate_result brotli_step(BrotliDecoderState *state, inflate_window *window)
{
    const uint8_t *from = (const uint8_t *)window->from;
    uint8_t *to = (uint8_t *)window->to;
    BrotliDecoderResult result =
        BrotliDecoderDecompressStream(state, &window->from_left, &from, &window->to_left, &to, NULL);

    window->from = (const char *)from;
    window->to = (char *)to;
    switch (result) {
    case BROTLI_DECODER_RESULT_SUCCESS:
        return INFLATE_ENDS;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
        return INFLATE_GOES_ON;
    case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
        return BrotliDecoderHasMoreOutput(state) ? INFLATE_GOES_ON : INFLATE_WAITS;
    default:
        return is_shortage(BrotliDecoderGetErrorCode(state)) ? INFLATE_NO_MEMORY : INFLATE_DAMAGED;
    }
}
#endif

/* ---- zstd ---- */

#if VIDI_HAVE_ZSTD
static void *zstd_open(void)
{
    enum { WINDOW_LOG = 23 };
    ZSTD_DCtx *state = ZSTD_createDCtx();

    if (state && ZSTD_isError(ZSTD_DCtx_setParameter(state, ZSTD_d_windowLogMax, WINDOW_LOG))) {
        ZSTD_freeDCtx(state);
        return NULL;
    }
    return state;
}

static inflate_result zstd_step(ZSTD_DCtx *state, inflate_window *window)
{
    ZSTD_inBuffer from = {window->from, window->from_left, 0};
    ZSTD_outBuffer to = {window->to, window->to_left, 0};
    size_t result = ZSTD_decompressStream(state, &to, &from);

    window->from += from.pos;
    window->from_left -= from.pos;
    window->to += to.pos;
    window->to_left -= to.pos;
    if (ZSTD_isError(result)) /* its error codes are not part of the stable interface: the name tells */
        return strstr(ZSTD_getErrorName(result), "not enough memory") ? INFLATE_NO_MEMORY : INFLATE_DAMAGED;
    if (result == 0)
        return INFLATE_ENDS;
    return window->to_left == 0 || window->from_left > 0 ? INFLATE_GOES_ON : INFLATE_WAITS;
}
#endif

/* A frame, or one that is skipped (RFC 8878, section 3.1). */
static bool is_zstd_frame(const inflate_window *rest)
{
    return rest->from_left >= 4 && (memcmp(rest->from, "\x28\xB5\x2F\xFD", 4) == 0 ||
                                    ((rest->from[0] & 0xF0) == 0x50 && memcmp(rest->from + 1, "\x2A\x4D\x18", 3) == 0));
}

/* ---- all of them ---- */

bool http_decoder_open(http_decoder *decoder, http_coding coding)
{
    decoder->coding = coding;
    switch (coding) {
#if VIDI_HAVE_BROTLI
    case HTTP_BROTLI:
        decoder->state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
        break;
#endif
#if VIDI_HAVE_ZSTD
    case HTTP_ZSTD:
        decoder->state = zstd_open();
        break;
#endif
    default:
        decoder->state = inflater_open(coding == HTTP_GZIP   ? INFLATE_GZIP
                                       : coding == HTTP_ZLIB ? INFLATE_ZLIB
                                                             : INFLATE_RAW);
        break;
    }
    return decoder->state != NULL;
}

void http_decoder_close(http_decoder *decoder)
{
    switch (decoder->coding) {
#if VIDI_HAVE_BROTLI
    case HTTP_BROTLI:
        BrotliDecoderDestroyInstance(decoder->state);
        break;
#endif
#if VIDI_HAVE_ZSTD
    case HTTP_ZSTD:
        ZSTD_freeDCtx(decoder->state);
        break;
#endif
    default:
        inflater_close(decoder->state);
        break;
    }
}

inflate_result http_decoder_step(http_decoder *decoder, inflate_window *window)
{
    switch (decoder->coding) {
#if VIDI_HAVE_BROTLI
    case HTTP_BROTLI:
        return brotli_step(decoder->state, window);
#endif
#if VIDI_HAVE_ZSTD
    case HTTP_ZSTD:
        return zstd_step(decoder->state, window);
#endif
    default:
        return inflater_step(decoder->state, window);
    }
}

bool http_decoder_continues(http_decoder *decoder, const inflate_window *rest)
{
    if (decoder->coding == HTTP_ZSTD)
        return is_zstd_frame(rest); /* the library begins the next frame by itself */
    if (decoder->coding != HTTP_GZIP || rest->from_left < 2 || memcmp(rest->from, "\x1F\x8B", 2) != 0)
        return false;
    inflater_reset(decoder->state);
    return true;
}
