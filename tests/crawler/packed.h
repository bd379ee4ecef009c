/* Content packed by zlib, in one of the formats that HTTP knows. */
#ifndef TESTS_CRAWLER_PACKED_H
#define TESTS_CRAWLER_PACKED_H

#include <zlib.h>

#include "crawler/base/bytes.h"
#include "support/check.h"

enum packed_format { GZIP = 16 + MAX_WBITS, ZLIB = MAX_WBITS, RAW = -MAX_WBITS };

static inline bytes packed(vidi_str content, enum packed_format format)
{
    bytes to = {0};
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)content.ptr, .avail_in = (uInt)content.len};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, format, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(bytes_reserve(&to, deflateBound(&stream, content.len)), VIDI_OK);
    stream.next_out = (Bytef *)to.ptr;
    stream.avail_out = (uInt)to.room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    to.len = stream.total_out;
    deflateEnd(&stream);
    return to;
}

#endif
