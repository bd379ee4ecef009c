/*
 * Streams in memory, and a function that puts a correct frame (lib/frame/frame.h) around arbitrary bytes. A checksum
 * detects accidents, not attacks. The library must distrust what it reads even if the checksum is correct, and most of
 * the reading code runs only then.
 *
 * The frame is implemented again here because fuzz targets see the public header only. seeds.c checks that both agree.
 */
#ifndef VIDI_FUZZ_FUZZ_STREAM_H
#define VIDI_FUZZ_FUZZ_STREAM_H

#include <string.h>

#include "fuzz.h"

typedef struct fuzz_stream {
    uint8_t *bytes;
    size_t size, room;
    size_t at; /* position of the reader */
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

/* A vidi_source that returns pieces of odd sizes, as a pipe does. */
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

#define FUZZ_HEAD 64
#define FUZZ_FOOT 32
#define FUZZ_BLOCK 65536

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

/* The low half of SipHash-1-3-128 with two numbers as its key. */
static inline uint64_t fuzz_checksum(uint64_t k0, uint64_t k1, const uint8_t *data, size_t size)
{
    uint64_t v[4] = {UINT64_C(0x736f6d6570736575) ^ k0, UINT64_C(0x646f72616e646f6d) ^ k1 ^ 0xee,
                     UINT64_C(0x6c7967656e657261) ^ k0, UINT64_C(0x7465646279746573) ^ k1};
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

/*
 * Overwrites head, table and foot with correct ones; payload, generation and a version from 1 to 15 stay, and a piece stays one. False if no
 * stream can have this length.
 */
static inline bool fuzz_seal(fuzz_stream *stream)
{
    uint8_t mark[16] = {'v', 'i', 'd', 'i', '\r', '\n', 0x1a, '\n', 1, 0, 0, 0, 4, 3, 2, 1};
    static const uint8_t end[8] = {'\n', 'v', 'i', 'd', 'i', 'e', 'n', 'd'};
    uint8_t *head = stream->bytes;
    if (stream->size < FUZZ_HEAD + 8 + FUZZ_FOOT)
        return false;
    size_t rest = stream->size - FUZZ_FOOT, blocks = (rest + FUZZ_BLOCK + 7) / (FUZZ_BLOCK + 8);
    size_t before = rest - 8 * blocks;
    if (before < FUZZ_HEAD || before <= (blocks - 1) * FUZZ_BLOCK)
        return false;
    uint64_t generation = fuzz_load(head + 16, 8);
    bool is_piece = fuzz_load(head + 24, 8) != 0;
    if (head[8] >= 1 && head[8] < 16)
        mark[8] = head[8];
    memcpy(head, mark, sizeof mark);
    memset(head + 24, 0, 32);
    if (is_piece) /* it says its length */
        fuzz_store(head + 24, stream->size, 8);
    fuzz_store(head + 56, fuzz_checksum(0, 0, head, 56), 8);

    uint8_t *table = stream->bytes + before, *foot = table + 8 * blocks;
    for (size_t i = 0; i < blocks; i++) {
        size_t left = before - i * FUZZ_BLOCK, size = left < FUZZ_BLOCK ? left : FUZZ_BLOCK;
        fuzz_store(table + 8 * i, fuzz_checksum(generation, i, head + i * FUZZ_BLOCK, size), 8);
    }
    fuzz_store(foot, before - FUZZ_HEAD, 8);
    fuzz_store(foot + 8, blocks, 8);
    memcpy(foot + 16, end, sizeof end);
    fuzz_store(foot + 24, fuzz_checksum(generation, UINT64_MAX, table, 8 * blocks + 24), 8);
    return true;
}

#endif
