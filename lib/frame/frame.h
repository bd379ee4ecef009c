/*
 * The container of everything that vidi writes: a head, the payload in one piece, and then checksums that prove that
 * all of it is intact.
 *
 *     head     0  "vidi\r\n\x1a\n"       detects a file that was converted as text
 *              8  u32 version (1)        12  u32 0x01020304, the byte order
 *             16  u64 generation         24  u64 bytes of the whole frame if it is a piece of a set, else 0
 *             32  zeros
 *             56  u64 checksum of the 56 bytes before
 *     payload 64  …
 *     table    …  for each 64 KiB of the file so far, head included, u64 checksum; the last block may be shorter
 *     foot     0  u64 bytes of payload    8  u64 blocks
 *             16  "\nvidiend"            24  u64 checksum of table and the 24 bytes before
 *
 * The payload is contiguous, so an array in it is an array in a mapped file. The positions of table and foot follow
 * from the length of the file, so a reader that knows the length knows where the payload ends.
 *
 * Numbers are little-endian. A checksum is the low half of SipHash-1-3-128. Its key is two numbers: generation and
 * block number for a block, generation and 2^64-1 for the foot, 0 and 0 for the head. The generation is random, so a
 * block of one stream is not accepted in another, nor block 3 in place of block 4.
 */
#ifndef VIDI_FRAME_FRAME_H
#define VIDI_FRAME_FRAME_H

#include "base/stream.h"

/* What the head says. */
typedef struct vidi__frame_head {
    uint64_t generation;
    /*
     * Of a piece of a set (set/pieces.c), from its head to its foot, so that pieces can follow one another. 0: the
     * frame holds a whole set (set/serialize.c).
     */
    uint64_t length;
} vidi__frame_head;

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
    vidi__frame_head head;
    vidi__sums blocks;
    size_t fill; /* bytes in block */
    unsigned char block[VIDI__BLOCK_BYTES];
} vidi__frame_writer;

/* Writes the head. The checksums are kept in `memory`. Free the writer in any case. */
int vidi__frame_begin(vidi__frame_writer *writer, vidi__memory *memory, vidi_sink sink, void *context,
                      vidi__frame_head head);
/* Writes the rest of the payload, the table and the foot. VIDI_EIO if a piece did not get the length in its head. */
int vidi__frame_end(vidi__frame_writer *writer);
void vidi__frame_writer_free(vidi__frame_writer *writer);

typedef struct vidi__frame_reader {
    vidi__reader base;
    vidi_source source;
    void *context;
    vidi__frame_head head;
    uint64_t stream_left; /* bytes of the stream not yet read; UINT64_MAX if unknown */
    vidi__sums blocks;
    struct vidi__ahead *ahead; /* the thread that reads ahead (ahead.h), and the block that it lends; */
    const unsigned char *lent; /* without it, blocks are read into the one here */
    size_t fill, used;         /* bytes in block, and how many of them were handed out */
    unsigned char block[VIDI__BLOCK_BYTES];
} vidi__frame_reader;

/*
 * Reads the head. If stream_bytes is 0 the length is unknown, and no more is read from the source than is needed. Free
 * the reader in any case. If the head is that of a piece, several may follow one another: they are taken with
 * vidi__frame_take, and the rest of the reader is not used.
 */
int vidi__frame_open(vidi__frame_reader *reader, vidi__memory *memory, vidi_source source, void *context,
                     uint64_t stream_bytes);
/*
 * From now on a thread reads the payload ahead and makes its checksums, if there is much of it and memory for that.
 * Only if the source may be called from another thread. The memory of the blocks is taken from the reader's.
 */
int vidi__frame_read_ahead(vidi__frame_reader *reader);
/* Checks that all of the payload was read, that its checksums are right, and that the stream ends here. */
int vidi__frame_close(vidi__frame_reader *reader);
void vidi__frame_reader_free(vidi__frame_reader *reader);

/* Reads exactly this many bytes of the source. */
int vidi__frame_pull(vidi_source source, void *context, void *data, size_t bytes);
/* The same, if the stream has as many. Not while a thread reads ahead. */
int vidi__frame_take(vidi__frame_reader *reader, void *data, size_t bytes);

/* The message of VIDI_EFORMAT for bytes that do not begin as a frame does. */
#define VIDI__NOT_A_SET "not a vidi set"

/* ---- for callers that have the whole stream in memory ---- */

/* Bytes of payload and number of blocks of a stream of this length; VIDI_EFORMAT if no stream can have it. */
int vidi__frame_shape(uint64_t stream_bytes, uint64_t *payload, uint64_t *blocks);
/* The length of a stream with this many bytes of payload. */
uint64_t vidi__frame_length(uint64_t payload);

/* VIDI_EFORMAT if the first `size` bytes of a stream do not begin like a frame: this is not a vidi set. */
int vidi__frame_check_magic(const void *bytes, uint64_t size);
int vidi__frame_check_head(const unsigned char bytes[VIDI__HEAD_BYTES], vidi__frame_head *head);
int vidi__frame_check_foot(const unsigned char foot[VIDI__FOOT_BYTES], uint64_t generation, const void *table,
                           uint64_t payload, uint64_t blocks);

uint64_t vidi__frame_sum(uint64_t generation, uint64_t block, const void *data, size_t bytes);
int vidi__frame_damaged(uint64_t block);

#endif
