/*
 * The outermost layer of everything that vidi writes: a head, then blocks of at most 64 KiB, each with a checksum.
 *
 *     head    0  "vidi\r\n\x1a\n"        a file that was mangled as text no longer begins so
 *             8  u32 version (1)         12  u32 0x01020304, the byte order
 *            16  u64 generation          24  u64 checksum of the 24 bytes before
 *     block   0  u32 bytes of payload     4  u32 1 in the last block, 0 before
 *             8  payload                  …  u64 checksum of generation, block number, the two numbers above, payload
 *
 * Numbers are little-endian. A checksum is the low half of SipHash-1-3-128 with a zero key. The generation is random,
 * so that a block of one stream does not pass for a block of another, nor block 3 for block 4.
 */
#ifndef VIDI_STORE_FRAME_H
#define VIDI_STORE_FRAME_H

#include "base/stream.h"

#define VIDI__BLOCK_BYTES 65536

typedef struct vidi__frame_writer {
    vidi__writer base;
    vidi_sink sink;
    void *context;
    uint64_t generation;
    uint64_t index;
    size_t fill; /* of payload in block */
    unsigned char block[VIDI__BLOCK_BYTES];
} vidi__frame_writer;

/* Writes the head. */
int vidi__frame_begin(vidi__frame_writer *writer, vidi_sink sink, void *context);
/* Writes the last block. */
int vidi__frame_end(vidi__frame_writer *writer);

typedef struct vidi__frame_reader {
    vidi__reader base;
    vidi_source source;
    void *context;
    uint64_t generation;
    uint64_t index;
    uint64_t raw_left; /* bytes of the stream; UINT64_MAX if unknown */
    size_t fill, used; /* payload in block, and how much of it was handed out */
    bool last;
    unsigned char block[VIDI__BLOCK_BYTES];
} vidi__frame_reader;

/* Reads the head. stream_bytes 0: unknown. */
int vidi__frame_open(vidi__frame_reader *reader, vidi_source source, void *context, uint64_t stream_bytes);
/* All was read, and the stream ends here. */
int vidi__frame_close(vidi__frame_reader *reader);

#endif
