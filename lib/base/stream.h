/*
 * Bytes on their way out of and into filters. A kind writes what it holds to a vidi__writer and reads it back from a
 * vidi__reader without knowing what frames, checks or stores them: that is the store's part.
 *
 * Numbers are little-endian. What comes from a reader has passed its checksums but is still not trusted: a stream may
 * have been made by an enemy with correct checksums.
 */
#ifndef VIDI_BASE_STREAM_H
#define VIDI_BASE_STREAM_H

#include "base/bits.h"
#include "base/memory.h"

typedef struct vidi__writer vidi__writer;
struct vidi__writer {
    int (*write)(vidi__writer *writer, const void *data, uint64_t bytes);
};

typedef struct vidi__reader vidi__reader;
struct vidi__reader {
    int (*read)(vidi__reader *reader, void *data, uint64_t bytes); /* all of them, or an error */
    uint64_t left; /* bytes that may still come at most; UINT64_MAX if nobody knows */
};

static inline int vidi__write(vidi__writer *writer, const void *data, uint64_t bytes)
{
    return writer->write(writer, data, bytes);
}

static inline int vidi__read(vidi__reader *reader, void *data, uint64_t bytes)
{
    return reader->read(reader, data, bytes);
}

int vidi__write_u64(vidi__writer *writer, uint64_t value);
int vidi__write_double(vidi__writer *writer, double value);
int vidi__write_str(vidi__writer *writer, vidi_str str);
int vidi__read_u64(vidi__reader *reader, uint64_t *value);
int vidi__read_double(vidi__reader *reader, double *value);
/*
 * Into a buffer of the caller's, with a zero byte at the end; VIDI_EFORMAT if it does not fit or contains a zero byte.
 */
int vidi__read_text(vidi__reader *reader, char *buffer, size_t room);

/* Arrays of 64-bit words, in the file's byte order on any machine. */
int vidi__write_words(vidi__writer *writer, const uint64_t *words, uint64_t count);

/*
 * Reads `count` words into a block of `room` (>= count) words, aligned to a cache line and zeroed behind them. The
 * block grows as data arrives if the length of the stream is not known, so that a lie in a header costs no memory.
 */
int vidi__read_words(vidi__reader *reader, vidi__memory *memory, uint64_t count, uint64_t room, uint64_t **words);

/* The sentence that every refusal of read data starts with. */
int vidi__damaged(const char *what);

#endif
