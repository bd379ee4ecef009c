/*
 * An array of 64-bit words that are all zero at first. Its memory is allocated in pieces, each when somebody is about
 * to write to it. So an array of any size is made at once, and takes as much memory as was touched.
 *
 *     pieces  | 0 | 1 | 2 | 3 | …       those that nobody has written to share one piece of zeros, which is only read
 *
 * Not safe for threads: while one of them writes to a piece, no other may use the array.
 */
#ifndef VIDI_BASE_LAZY_H
#define VIDI_BASE_LAZY_H

#include "base/memory.h"
#include "base/stream.h"

#define VIDI__LAZY_BYTES (UINT64_C(2) << 20)
#define VIDI__LAZY_WORDS (VIDI__LAZY_BYTES / 8)

/*
 * How large pieces are. An add that writes to twenty places of a new array may touch as many pieces, and clearing
 * twenty times 2 MiB takes 10 ms. Besides, an allocator rounds the last piece up, by a fifth if it has four sizes for
 * each power of two. That is too much of a small array, which is therefore divided further.
 */
typedef enum vidi__lazy_pieces {
    VIDI__LAZY_COARSE, /* 2 MiB: for adds that write to one or two places */
    VIDI__LAZY_FINE    /* 128 KiB; in arrays of at most 8 MiB, 32 KiB */
} vidi__lazy_pieces;

typedef struct vidi__lazy {
    uint64_t **pieces; /* NULL: there is no array */
    uint64_t words;
    unsigned shift;     /* a piece has 2^shift words */
    uint64_t bytes;     /* allocated, with the list of pieces */
    uint64_t untouched; /* pieces that nobody has written to */
    vidi__memory *memory;
} vidi__lazy;

/* Makes an array of zeros. VIDI_ELIMIT if all arrays of the set together could never be filled (vidi__promise). */
int vidi__lazy_init(vidi__lazy *lazy, vidi__memory *memory, uint64_t words, vidi__lazy_pieces pieces);
void vidi__lazy_free(vidi__lazy *lazy, vidi__memory *memory);

/* Makes an array from one in a stream (vidi__write_words). Pieces of zeros take no memory. */
int vidi__lazy_read(vidi__lazy *lazy, vidi__memory *memory, uint64_t words, vidi__lazy_pieces pieces,
                    vidi__reader *reader);

/* Allocates the piece of a word, if that is still one of zeros. */
int vidi__lazy_touch_slowly(vidi__lazy *lazy, vidi__memory *memory, uint64_t word);

/* Touches all words of a range. */
int vidi__lazy_touch_range(vidi__lazy *lazy, uint64_t first, uint64_t count);

/* Touches the first piece that nobody has written to: 1, or 0 if there was none. */
int vidi__lazy_touch_next(vidi__lazy *lazy, vidi__memory *memory);

/* Touches pieces in order for about this long, or none if that is 0: 1 if more is left to do. */
int vidi__lazy_step(vidi__lazy *lazy, uint64_t budget_ns);

extern _Alignas(VIDI__CACHE_LINE) uint64_t vidi__lazy_zeros[VIDI__LAZY_WORDS];

static inline bool vidi__lazy_is_touched(const vidi__lazy *lazy, uint64_t word)
{
    return lazy->pieces[word >> lazy->shift] != vidi__lazy_zeros;
}

/* Must have succeeded before the word is written to. An error changes nothing. */
static inline int vidi__lazy_touch(vidi__lazy *lazy, vidi__memory *memory, uint64_t word)
{
    return VIDI__LIKELY(vidi__lazy_is_touched(lazy, word)) ? VIDI_OK : vidi__lazy_touch_slowly(lazy, memory, word);
}

static inline uint64_t *vidi__lazy_at(const vidi__lazy *lazy, uint64_t word)
{
    return &lazy->pieces[word >> lazy->shift][word & ((UINT64_C(1) << lazy->shift) - 1)];
}

/* How many words from this one on are contiguous. */
static inline uint64_t vidi__lazy_span(const vidi__lazy *lazy, uint64_t word)
{
    uint64_t size = UINT64_C(1) << lazy->shift, left = lazy->words - word, here = size - (word & (size - 1));
    return left < here ? left : here;
}

#endif
