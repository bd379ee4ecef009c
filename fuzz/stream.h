/*
 * Streams in memory, and the seal on them: the frame of lib/store/frame.h, made anew around whatever bytes there are. A
 * checksum stops accidents, not an enemy; behind a correct one the library must still not believe what it reads, and
 * that is where most of the reading code is.
 *
 * Written a second time here because fuzz targets see the public header only; seeds.c checks that both agree.
 */
#ifndef VIDI_FUZZ_STREAM_H
#define VIDI_FUZZ_STREAM_H

#include <string.h>

#include "fuzz.h"

typedef struct fuzz_stream {
    uint8_t *bytes;
    size_t size, room;
    size_t at; /* of reading */
} fuzz_stream;

/* A vidi_sink. */
static inline int fuzz_put(void *context, const void *data, size_t size)
{
    fuzz_stream *to = context;
    if (size > to->room - to->size) {
        size_t room = 2 * to->room + size;
        uint8_t *bytes = realloc(to->bytes, room);
        if (!bytes)
            return 1;
        to->bytes = bytes;
        to->room = room;
    }
    if (size)
        memcpy(to->bytes + to->size, data, size);
    to->size += size;
    return 0;
}

/* A vidi_source, in pieces of odd sizes, as a pipe gives them. */
static inline int64_t fuzz_take(void *context, void *data, size_t size)
{
    fuzz_stream *from = context;
    size_t piece = 1 + from->at % 997;
    if (piece > size)
        piece = size;
    if (piece > from->size - from->at)
        piece = from->size - from->at;
    if (piece)
        memcpy(data, from->bytes + from->at, piece);
    from->at += piece;
    return (int64_t)piece;
}

#define FUZZ_HEAD 32
#define FUZZ_BLOCK 65536
#define FUZZ_BLOCK_EXTRA 16 /* 8 bytes before the payload, 8 behind it */

static inline void fuzz_store(uint8_t *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t fuzz_load(const uint8_t *from, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

static inline void fuzz_sip_round(uint64_t v[4])
{
#define ROTL(x, by) ((x) << (by) | (x) >> (64 - (by)))
    v[0] += v[1], v[2] += v[3];
    v[1] = ROTL(v[1], 13) ^ v[0], v[3] = ROTL(v[3], 16) ^ v[2];
    v[0] = ROTL(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = ROTL(v[1], 17) ^ v[2], v[3] = ROTL(v[3], 21) ^ v[0];
    v[2] = ROTL(v[2], 32);
#undef ROTL
}

/* SipHash-1-3-128 with a zero key, the low half. */
static inline uint64_t fuzz_checksum(const uint8_t *data, size_t size)
{
    uint64_t v[4] = {UINT64_C(0x736f6d6570736575), UINT64_C(0x646f72616e646f6d) ^ 0xee, UINT64_C(0x6c7967656e657261),
                     UINT64_C(0x7465646279746573)};
    for (size_t at = 0; at <= size; at += 8) {
        size_t left = size - at;
        uint64_t word = left >= 8 ? fuzz_load(data + at, 8) : fuzz_load(data + at, left) | (uint64_t)size << 56;
        v[3] ^= word;
        fuzz_sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xee;
    for (int i = 0; i < 3; i++)
        fuzz_sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Overwrites head, block heads and checksums with correct ones; the payload stays. False if they find no room. */
static inline bool fuzz_seal(fuzz_stream *stream)
{
    static const uint8_t mark[16] = {'v', 'i', 'd', 'i', '\r', '\n', 0x1a, '\n', 1, 0, 0, 0, 4, 3, 2, 1};
    static uint8_t sealed[16 + FUZZ_BLOCK];
    uint8_t *head = stream->bytes;
    if (stream->size < FUZZ_HEAD + FUZZ_BLOCK_EXTRA)
        return false;
    memcpy(head, mark, sizeof mark);
    fuzz_store(head + 24, fuzz_checksum(head, 24), 8);

    size_t at = FUZZ_HEAD;
    for (uint64_t number = 0; at < stream->size; number++) {
        size_t left = stream->size - at;
        if (left < FUZZ_BLOCK_EXTRA)
            return false;
        size_t block = left < FUZZ_BLOCK ? left : FUZZ_BLOCK;
        uint8_t *bytes = stream->bytes + at;
        fuzz_store(bytes, block - FUZZ_BLOCK_EXTRA, 4);
        fuzz_store(bytes + 4, block == left, 4);
        memcpy(sealed, head + 16, 8); /* the generation */
        fuzz_store(sealed + 8, number, 8);
        memcpy(sealed + 16, bytes, block - 8);
        fuzz_store(bytes + block - 8, fuzz_checksum(sealed, 16 + block - 8), 8);
        at += block;
    }
    return true;
}

#endif
