/*
 * Bytes on their way out of and into filters. A kind writes what it holds to a vidi__writer and reads it back from a
 * vidi__reader without knowing what frames, checks or stores them: that is the store's part.
 *
 * Numbers are little-endian. What comes from a reader is not trusted: its checksums are compared only when all of it
 * has been read, and it may have been made by an enemy with correct checksums.
 *
 * Large arrays begin at a multiple of 64 bytes of the file, behind zeros. So a file that is mapped into memory can be
 * used as it is: a reader over a mapping lends its arrays instead of copying them. What was lent is never written to.
 */
#ifndef VIDI_BASE_STREAM_H
#define VIDI_BASE_STREAM_H

#include "base/bits.h"
#include "base/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays in files are used as they are");

typedef struct vidi__writer vidi__writer;
struct vidi__writer {
    int (*write)(vidi__writer *writer, const void *data, uint64_t bytes);
    uint64_t at; /* bytes of the file before those to come */
};

typedef struct vidi__reader vidi__reader;
struct vidi__reader {
    int (*read)(vidi__reader *reader, void *data, uint64_t bytes); /* all of them, or an error */
    uint64_t left; /* bytes that may still come at most; UINT64_MAX if nobody knows */
    uint64_t at;   /* as the writer's */
    /*
     * Over a mapping: where the next bytes are, at most as many as are left, instead of reading them. Otherwise NULL.
     */
    const void *(*lend)(vidi__reader *reader, uint64_t bytes);
};

static inline int vidi__write(vidi__writer *writer, const void *data, uint64_t bytes)
{
    int code = writer->write(writer, data, bytes);
    writer->at += bytes;
    return code;
}

static inline int vidi__read(vidi__reader *reader, void *data, uint64_t bytes)
{
    int code = reader->read(reader, data, bytes);
    reader->at += bytes;
    return code;
}

/* Does it lend what arrays hold? Then a filter that is read from it must not look at them all, nor write to them. */
static inline bool vidi__lends(const vidi__reader *reader)
{
    return reader->lend != NULL;
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

int vidi__write_words(vidi__writer *writer, const uint64_t *words, uint64_t count);

/* Zeros up to the next multiple of 64 bytes of the file; anything but zeros is VIDI_EFORMAT. */
int vidi__write_align(vidi__writer *writer);
int vidi__read_align(vidi__reader *reader);

/* The next bytes of a mapping, where they are; VIDI_EFORMAT if there are not so many. For a reader that lends. */
int vidi__lend(vidi__reader *reader, uint64_t bytes, void *out);

/* An array of words, aligned. */
int vidi__write_array(vidi__writer *writer, const uint64_t *words, uint64_t count);

/*
 * Reads `count` words into a block of `room` (>= count) words, aligned to a cache line and zeroed behind them; or lends
 * them, and then nothing is said about what is behind them. The block grows as data arrives if the length of the stream
 * is not known, so that a lie in a header costs no memory.
 */
int vidi__read_array(vidi__reader *reader, vidi__memory *memory, uint64_t count, uint64_t room, uint64_t **words);

/* The sentence that every refusal of read data starts with. */
int vidi__damaged(const char *what);

#endif
