/* Content packed by brotli and zstd, as far as this build has them. */
#ifndef TESTS_CRAWLER_PACKED_NEWER_H
#define TESTS_CRAWLER_PACKED_NEWER_H

#if VIDI_HAVE_BROTLI
#include <brotli/encode.h>
#endif
#if VIDI_HAVE_ZSTD
#include <zstd.h>
#endif

#include "crawler/base/bytes.h"
#include "support/check.h"

#if VIDI_HAVE_BROTLI
static inline bytes packed_brotli(vidi_str content)
{
    bytes to = {0};
    size_t room = BrotliEncoderMaxCompressedSize(content.len) + 16;
    assert_int_equal(bytes_reserve(&to, room), VIDI_OK);
    assert_true(BrotliEncoderCompress(5, BROTLI_MAX_WINDOW_BITS, BROTLI_MODE_GENERIC, content.len,
                                      (const uint8_t *)content.ptr, &room, (uint8_t *)to.ptr));
    to.len = room;
    return to;
}
#endif

#if VIDI_HAVE_ZSTD
/* The window has 2 to the power of `window_log` bytes; 0: what fits the content. */
static inline bytes packed_zstd(vidi_str content, int window_log)
{
    bytes to = {0};
    ZSTD_CCtx *state = ZSTD_createCCtx();
    assert_int_equal(bytes_reserve(&to, ZSTD_compressBound(content.len)), VIDI_OK);
    ZSTD_CCtx_setParameter(state, ZSTD_c_windowLog, window_log);
    ZSTD_CCtx_setParameter(state, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(state, ZSTD_c_contentSizeFlag, window_log == 0);
    to.len = ZSTD_compress2(state, to.ptr, to.room, content.ptr, content.len);
    assert_false(ZSTD_isError(to.len));
    ZSTD_freeCCtx(state);
    return to;
}
#endif

#endif
