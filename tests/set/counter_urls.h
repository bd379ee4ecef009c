/*
 * URLs that follow from a number in two or three nanoseconds, so that a billion of them can be made again for asking
 * instead of being kept. A batch is a row of slots; a slot's URL has a length of its own, so that the ends of URLs come
 * to lie everywhere within a word, and ends in the number:
 *
 *     number % COUNTER_BATCH = 30    http://example.org/aaaaaaaaaaaabbbbbbbb     the seed and the number, in letters
 */
#ifndef TESTS_SET_COUNTER_URLS_H
#define TESTS_SET_COUNTER_URLS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vidi/vidi.h"

enum { COUNTER_BATCH = 4096, COUNTER_ROOM = 96, COUNTER_LENGTHS = 56 };

typedef struct counter_batch {
    vidi_str urls[COUNTER_BATCH];
    uint8_t verdicts[COUNTER_BATCH];
    char arena[COUNTER_BATCH][COUNTER_ROOM];
} counter_batch;

/* 32 bits as eight letters from a to p, one for each four bits. */
static inline void put_letters(char *at, uint32_t number)
{
    uint64_t x = number;
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x += UINT64_C(0x6161616161616161);
    memcpy(at, &x, sizeof x);
}

/* All but the numbers. Ends the test program if there is no memory. */
static inline counter_batch *counter_batch_new(uint32_t seed)
{
    static const char start[] = "http://example.org/";
    counter_batch *batch = malloc(sizeof *batch);
    if (!batch) {
        fprintf(stderr, "tests: no memory for a batch\n");
        exit(2);
    }
    for (size_t i = 0; i < COUNTER_BATCH; i++) {
        size_t length = sizeof start - 1 + i % COUNTER_LENGTHS + 16;
        memset(batch->arena[i], 'a', COUNTER_ROOM);
        memcpy(batch->arena[i], start, sizeof start - 1);
        put_letters(batch->arena[i] + length - 16, seed);
        batch->urls[i] = (vidi_str){batch->arena[i], length};
    }
    return batch;
}

/* Makes it the URLs from number `first` on, which is a multiple of COUNTER_BATCH. */
static inline void counter_batch_fill(counter_batch *batch, uint32_t first)
{
    for (uint32_t i = 0; i < COUNTER_BATCH; i++)
        put_letters(batch->arena[i] + batch->urls[i].len - 8, first + i);
}

#endif
