/*
 * The outermost layer of everything that vidi writes: a head, the payload in one piece, and behind it what proves that
 * all of it is whole.
 *
 *     head     0  "vidi\r\n\x1a\n"       a file that was mangled as text no longer begins so
 *              8  u32 version (1)        12  u32 0x01020304, the byte order
 *             16  u64 generation         24  zeros
 *             56  u64 checksum of the 56 bytes before
 *     payload 64  …
 *     table    …  for each 64 KiB of the file so far, head included, u64 checksum; the last block may be shorter
 *     foot     0  u64 bytes of payload    8  u64 blocks
 *             16  "\nvidiend"            24  u64 checksum of table and the 24 bytes before
 *
 * Nothing interrupts the payload, so that what is an array in it is an array in a mapped file. Head, table and foot
 * follow from the length of the file alone: a reader that knows the length knows where the payload ends.
 *
 * Numbers are little-endian. A checksum is the low half of SipHash-1-3-128. Its key is two numbers: generation and
 * number for a block, generation and 2^64-1 for the foot, 0 and 0 for the head. The generation is random, so that a
 * block of one stream does not pass for a block of another, nor block 3 for block 4.
 */
#ifndef VIDI_FRAME_FRAME_H
#define VIDI_FRAME_FRAME_H

#include "base/stream.h"

#define VIDI__BLOCK_BYTES 65536
#define VIDI__HEAD_BYTES 64
#define VIDI__FOOT_BYTES 32

/* The checksums of the blocks so far. */
typedef struct vidi__sums {
    vidi__memory *memory;
    uint64_t *sums;
    uint64_t count, room;
} vidi__sums;

typedef struct vidi__frame_writer {
    vidi__writer base;
    vidi_sink sink;
    void *context;
    uint64_t generation;
    vidi__sums blocks;
    size_t fill; /* of block */
    unsigned char block[VIDI__BLOCK_BYTES];
} vidi__frame_writer;

/* Writes the head. The checksums are kept in `memory`. Whatever happens then, the writer is to be freed. */
int vidi__frame_begin(vidi__frame_writer *writer, vidi__memory *memory, vidi_sink sink, void *context,
                      uint64_t generation);
/* Writes what is left of the payload, table and foot. */
int vidi__frame_end(vidi__frame_writer *writer);
void vidi__frame_writer_free(vidi__frame_writer *writer);

typedef struct vidi__frame_reader {
    vidi__reader base;
    vidi_source source;
    void *context;
    uint64_t generation;
    uint64_t stream_left; /* bytes of the stream behind those taken; UINT64_MAX if unknown */
    vidi__sums blocks;
    size_t fill, used; /* bytes in block, and how many of them were handed out */
    unsigned char block[VIDI__BLOCK_BYTES];
} vidi__frame_reader;

/*
 * Reads the head. stream_bytes 0: unknown; then no more is taken from the source than is asked for. Free it in any
 * case.
 */
int vidi__frame_open(vidi__frame_reader *reader, vidi__memory *memory, vidi_source source, void *context,
                     uint64_t stream_bytes);
/* All of the payload was read, what was read is what was written, and the stream ends here. */
int vidi__frame_close(vidi__frame_reader *reader);
void vidi__frame_reader_free(vidi__frame_reader *reader);

/* The message of VIDI_EFORMAT for bytes that do not begin as a frame does. */
#define VIDI__NOT_A_SET "not a vidi set"

/* ---- for callers that have the whole stream in memory ---- */

/* How many bytes of payload, in how many blocks, a stream of this length has; VIDI_EFORMAT if none has this length. */
int vidi__frame_shape(uint64_t stream_bytes, uint64_t *payload, uint64_t *blocks);

/* Do the first `size` bytes of a stream begin as those of a frame? VIDI_OK, or VIDI_EFORMAT: this is not a vidi set. */
int vidi__frame_check_magic(const void *bytes, uint64_t size);
int vidi__frame_check_head(const unsigned char head[VIDI__HEAD_BYTES], uint64_t *generation);
int vidi__frame_check_foot(const unsigned char foot[VIDI__FOOT_BYTES], uint64_t generation, const void *table,
                           uint64_t payload, uint64_t blocks);

uint64_t vidi__frame_sum(uint64_t generation, uint64_t block, const void *data, size_t bytes);
int vidi__frame_damaged(uint64_t block);

#endif
