/*
 * The scan behind vidi__url_is_canonical: a template that is compiled once per instruction set.
 *
 * Each block of 64 bytes becomes a few 64-bit masks with a bit for every byte: whether it may be in a host, is a
 * slash, or would be changed by the parser. The rest is arithmetic on the masks:
 *
 *   bytes      https://example.org/a/.b?c
 *   host       11111...11111111111.1.11.1      the run after the scheme is the host
 *   slash      ......11...........1.1....
 *   dots       ...............1......1...      '.' and '%'; after a slash they may begin a dot segment
 *   question   ........................1.      the first one after the host ends the path
 *
 * Authorities with a port, with a number at the end or longer than a block, and segments that begin with '.' or '%', go
 * to functions that check them byte by byte.
 *
 * The including file defines
 *   INLINE, TARGET   how functions are declared
 *   SCAN, COUNT      the functions' names: for one URL, and for an array, whose constants are loaded once
 *   LEAST            the shortest URL that the kernel can scan; shorter ones go to the portable kernel; 0: any length
 *   SPAN             the kernel always scans this many bytes, so that URLs of usual lengths take the same branches
 *   classify(text, len, from)   the masks of the block at `from`; all bits past the end are 0
 */
#ifndef VIDI_URL_QUICK_IS_CANONICAL_KERNEL_H
#define VIDI_URL_QUICK_IS_CANONICAL_KERNEL_H

#include "base/bits.h"
#include "url/quick/is_canonical.h"

#define BLOCK 64 /* bytes per mask */

typedef struct masks {
    uint64_t host;      /* lower-case letters, digits, '-', '.', '_' */
    uint64_t slash;     /* '/' */
    uint64_t question;  /* '?' */
    uint64_t dots;      /* '.' and '%' */
    uint64_t bad_path;  /* bytes that the parser would change in a path */
    uint64_t bad_query; /* bytes that the parser would change in a query */
} masks;

/* Joins the masks of two pieces of a block, for kernels whose vectors are shorter than a block. */
static inline __attribute__((always_inline)) void vidi__url_fast_join(masks *into, masks piece)
{
    into->host |= piece.host;
    into->slash |= piece.slash;
    into->question |= piece.question;
    into->dots |= piece.dots;
    into->bad_path |= piece.bad_path;
    into->bad_query |= piece.bad_query;
}

/* Tables for instructions that look up 16 bytes at once: bit h of entry l stands for the byte 16 * h + l. */
#define VIDI__FAST_HOST                                                                                                \
    (char)0x88, (char)0xc8, (char)0xc8, (char)0xc8, (char)0xc8, (char)0xc8, (char)0xc8, (char)0xc8, (char)0xc8,        \
        (char)0xc8, (char)0xc0, 0x40, 0x40, 0x44, 0x44, 0x60
#define VIDI__FAST_PATH                                                                                                \
    0x47, 0x03, 0x07, 0x07, 0x03, 0x03, 0x03, 0x03, 0x03, 0x03, 0x03, (char)0x83, 0x2b, (char)0x83, 0x2b, (char)0x83
#define VIDI__FAST_QUERY                                                                                               \
    0x07, 0x03, 0x07, 0x07, 0x03, 0x03, 0x03, 0x07, 0x03, 0x03, 0x03, 0x03, 0x0b, 0x03, 0x0b, (char)0x83
#define VIDI__FAST_ROWS 1, 2, 4, 8, 16, 32, 64, (char)128, 0, 0, 0, 0, 0, 0, 0, 0

/* Constants of the scan for plain URLs. Not in its file, where gcc would make each anew with three instructions. */
typedef struct vidi__url_plain_tables {
    _Alignas(32) char rows[32];
    char not_plain[32]; /* bytes that the parser would change in a path, and '?' and '%' */
    char host[32];
    char low_half[32], slash[32], dot[32];
} vidi__url_plain_tables;
extern const vidi__url_plain_tables vidi__url_plain;

/* Where the path begins, if the host begins at `host`; 0 if the parser would change the authority. */
size_t vidi__url_fast_authority(vidi_str url, size_t host);

/* Returns true if the segment that begins there is a dot segment, in any spelling. */
bool vidi__url_fast_dots(vidi_str url, size_t begin);

/* The length of "http://" or "https://" at the beginning, if at least one byte follows; otherwise 0. */
static inline __attribute__((always_inline)) size_t vidi__url_fast_scheme(vidi_str url)
{
    if (url.len < 9)
        return 0;
    uint64_t begin = vidi__load64((const unsigned char *)url.ptr); /* the first byte is the lowest */
    uint64_t https = begin ^ UINT64_C(0x2f2f3a7370747468), http = begin << 8 ^ UINT64_C(0x2f2f3a7074746800);
    uint64_t either = https < http ? https : http; /* no branch: nobody can predict which of them comes next */
    return VIDI__LIKELY(either == 0) ? 7 + (size_t)(https == 0) : 0;
}

#endif

#if defined(SCAN)

/* vidi__url_fast_authority for the usual case: a short domain without a port. */
INLINE size_t authority(vidi_str url, size_t host, masks m)
{
    uint64_t behind = ~UINT64_C(0) << host, others = ~m.host & behind;
    if (VIDI__LIKELY(others)) {
        size_t end = (size_t)__builtin_ctzll(others);
        uint64_t points = m.dots & behind & ((UINT64_C(1) << end) - 1);
        size_t label = points ? (size_t)(64 - __builtin_clzll(points)) : host; /* the last one */
        if (VIDI__LIKELY(m.slash >> end & 1 && label < end && (unsigned char)(url.ptr[label] - '0') > 9))
            return end;
    }
    return vidi__url_fast_authority(url, host);
}

/*
 * Returns true if one of the segments is a dot segment. Bits of `begins` are the positions in the block where they
 * begin.
 */
INLINE bool any_dots(vidi_str url, size_t from, uint64_t begins)
{
    for (; begins; begins &= begins - 1)
        if (vidi__url_fast_dots(url, from + (size_t)__builtin_ctzll(begins)))
            return true;
    return false;
}

INLINE bool scan(vidi_str url)
{
#if LEAST > 0
    if (url.len < LEAST)
        return vidi__url_is_canonical_portable(url);
#endif
    size_t host = vidi__url_fast_scheme(url);
    if (!host)
        return false;
    masks m = classify(url.ptr, url.len, 0);
    size_t path = authority(url, host, m), from = path / BLOCK * BLOCK, end = url.len > SPAN ? url.len : SPAN;
    if (!path)
        return false;
    if (VIDI__UNLIKELY(from))
        m = classify(url.ptr, url.len, from);
    uint64_t in_path = ~UINT64_C(0) << path % BLOCK, in_query = 0, after_slash = 0, questions = 0, bad = 0;
    for (;;) {
        uint64_t question = m.question & in_path, slash = m.slash & in_path;
        uint64_t up_to = question ^ (question - 1); /* up to and including the first one; all bits if there is none */
        questions |= question;
        in_query |= ~up_to;
        in_path &= up_to;
        uint64_t begins = (slash << 1 | after_slash) & in_path & m.dots;
        bad |= (m.bad_path & in_path) | (m.bad_query & in_query);
        if (begins && any_dots(url, from, begins))
            return false;
        from += BLOCK;
        if (from >= end)
            return !bad;
        after_slash = slash >> (BLOCK - 1);
        in_query = questions ? ~UINT64_C(0) : 0;
        in_path = ~in_query;
        m = classify(url.ptr, url.len, from);
    }
}

TARGET bool SCAN(vidi_str url)
{
    return scan(url);
}

TARGET size_t COUNT(const vidi_str *urls, size_t n)
{
    size_t i = 0;
    while (i < n && urls[i].ptr && scan(urls[i]))
        i++;
    return i;
}

#endif
