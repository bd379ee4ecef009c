/*
 * Synthetic URLs, each made from a number. The same number always gives the same URL, and different numbers give
 * different URLs, so a billion of them need no memory. They are 40 to 100 bytes long, about 66 on average, on some
 * 800,000 hosts.
 */
#ifndef BENCH_URLS_H
#define BENCH_URLS_H

#include <stddef.h>
#include <stdint.h>

#include <vidi/vidi.h>

#define URL_ROOM 160 /* for the longest URL, and the bytes written past its end */

/* URLs made from this number or a higher one are never added. */
#define URL_ABSENT (UINT64_C(1) << 39)

/* Room for the URLs of one piece of work. */
typedef struct url_chunk {
    char *bytes;
    vidi_str *urls;
    uint64_t *numbers; /* what the URLs are made from; the caller fills it in */
    size_t room;
} url_chunk;

/* 0, or -1 if there is no memory. */
int url_chunk_open(url_chunk *chunk, size_t room);
void url_chunk_close(url_chunk *chunk);

/* Makes the first n URLs of the chunk from their numbers, which are below 2^40. Other seeds give other URLs. */
void url_chunk_fill(url_chunk *chunk, uint64_t seed, size_t n);

/* A permutation of the 64-bit numbers that looks random (the finaliser of SplitMix64). */
static inline uint64_t url_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

#endif
