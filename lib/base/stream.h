/*
 * Serialisation of filters. A kind writes its contents to a vidi__writer and reads them back from a vidi__reader. It
 * does not know how they are framed, checked or stored.
 *
 * Numbers are little-endian. Data from a reader is not trusted: checksums are only compared after everything was read,
 * and an attacker may have forged data with correct checksums.
 *
 * Large arrays begin at a multiple of 64 bytes of the file, after padding with zeros. So a mapped file can be used in
 * place: a reader over a mapping lends its arrays instead of copying them. Borrowed memory is never written to.
 */
#ifndef VIDI_BASE_STREAM_H
#define VIDI_BASE_STREAM_H

#include "base/bits.h"
#include "base/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays in files are used as they are");

typedef struct vidi__writer vidi__writer;
struct vidi__writer {
    int (*write)(vidi__writer *writer, const void *data, uint64_t bytes);
    uint64_t at;         /* position in the file */
    bool contents_alone; /* for digests: numbers that questions change are written as 0 */
    bool measures;       /* what is written goes nowhere: it suffices that `at` grows by its length */
};

typedef struct vidi__reader vidi__reader;
struct vidi__reader {
    int (*read)(vidi__reader *reader, void *data, uint64_t bytes); /* all bytes, or an error */
    uint64_t left; /* upper limit of the bytes left; UINT64_MAX if unknown */
    uint64_t at;   /* position in the file */
    /*
     * Over a mapping: returns the address of the next bytes, at most `left`, instead of copying them. Otherwise NULL.
     */
    const void *(*lend)(vidi__reader *reader, uint64_t bytes);
    /* The bytes were written by this process a moment ago: they need not be examined. */
    bool trusted;
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

/*
 * Returns true if the reader lends arrays. A filter that is loaded from such a reader must neither examine all of them
 * nor write to them.
 */
static inline bool vidi__lends(const vidi__reader *reader)
{
    return reader->lend != NULL;
}

/* Returns true if a filter that is loaded from here must examine its contents. */
static inline bool vidi__must_examine(const vidi__reader *reader)
{
    return !vidi__lends(reader) && !reader->trusted;
}

int vidi__write_u64(vidi__writer *writer, uint64_t value);
int vidi__write_double(vidi__writer *writer, double value);
int vidi__write_str(vidi__writer *writer, vidi_str str);
int vidi__read_u64(vidi__reader *reader, uint64_t *value);
int vidi__read_double(vidi__reader *reader, double *value);
/*
 * Reads a string into the caller's buffer and ends it with a zero byte. VIDI_EFORMAT if it does not fit or contains a
 * zero byte.
 */
int vidi__read_text(vidi__reader *reader, char *buffer, size_t room);

/* An array in a stream is aligned (vidi__write_align), then come its words. */
int vidi__write_words(vidi__writer *writer, const uint64_t *words, uint64_t count);

/* Write or read zeros up to the next multiple of 64 bytes of the file; anything but zeros is VIDI_EFORMAT. */
int vidi__write_align(vidi__writer *writer);
int vidi__read_align(vidi__reader *reader);

/* Borrows the next bytes of a mapping; VIDI_EFORMAT if there are too few. Only for a reader that lends. */
int vidi__lend(vidi__reader *reader, uint64_t bytes, void *out);

/*
 * Reads `count` words into a block of `room` (>= count) words that is aligned to a cache line and zeroed after them. Or
 * borrows them; then what follows them is undefined. If the length of the stream is unknown the block grows as data
 * arrives, so a false count costs no memory.
 */
int vidi__read_array(vidi__reader *reader, vidi__memory *memory, uint64_t count, uint64_t room, uint64_t **words);

/* VIDI_EFORMAT with the message "damaged: …". */
int vidi__damaged(const char *what);

/*
 * Every format begins with 8 bytes of its own, then u32 version and u32 0x01020304, the byte order. These two store the
 * latter and check them: VIDI_EFORMAT, with a message that names both versions, for any other version.
 */
enum { VIDI__VERSION_AT = 8 };
void vidi__version_store(unsigned char *head, uint32_t version);
int vidi__version_check(const unsigned char *head, uint32_t version, const char *name);

#endif
