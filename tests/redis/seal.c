/*
 * Checksums for damaged payloads: the server's CRC-64 and those of vidi's streams and pieces, so that damage reaches the
 * reader's checks of what the bytes mean instead of ending at a checksum.
 *
 * It is written from docs/FORMAT.md and shares no code with the library. support/frames.py loads it.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { head_size = 64, foot_size = 32, block_size = 65536 };

/* CRC-64 as the server computes it (Jones, reflected, no inversion). */
uint64_t seal_crc64(const unsigned char *bytes, size_t size)
{
    static uint64_t table[256];
    if (!table[1]) {
        for (unsigned i = 0; i < 256; i++) {
            uint64_t crc = i;
            for (int bit = 0; bit < 8; bit++)
                crc = crc & 1 ? crc >> 1 ^ UINT64_C(0x95ac9329ac4bc9b5) : crc >> 1;
            table[i] = crc;
        }
    }
    uint64_t crc = 0;
    for (size_t i = 0; i < size; i++)
        crc = table[(crc ^ bytes[i]) & 255] ^ crc >> 8;
    return crc;
}

static uint64_t load(const unsigned char *at)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

static void store(unsigned char *at, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t rotate(uint64_t value, int by)
{
    return value << by | value >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

/* The low 64 bits of SipHash-1-3-128. */
static uint64_t checksum(uint64_t k0, uint64_t k1, const unsigned char *bytes, size_t size)
{
    uint64_t v[4] = {k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
                     k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573)};
    size_t whole = size / 8 * 8;
    unsigned char last[8] = {0};
    memcpy(last, bytes + whole, size - whole);
    last[7] = (unsigned char)size;
    for (size_t at = 0; at <= whole; at += 8) {
        uint64_t word = at < whole ? load(bytes + at) : load(last);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    v[2] ^= 0xee;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static size_t blocks_of(size_t payload)
{
    return (head_size + payload + block_size - 1) / block_size;
}

/* The length of a frame with a payload of this size. */
size_t seal_size(size_t payload)
{
    return head_size + payload + 8 * blocks_of(payload) + foot_size;
}

/* Writes a frame with correct checksums: head, payload, table and foot. */
void seal_frame(unsigned char *out, uint32_t version, int is_piece, uint64_t generation, const unsigned char *payload,
                size_t size)
{
    static const unsigned char magic[] = "vidi\r\n\x1a\n\0\0\0\0\x04\x03\x02\x01";
    memset(out, 0, head_size);
    memcpy(out, magic, 16);
    for (int i = 0; i < 4; i++)
        out[8 + i] = (unsigned char)(version >> 8 * i);
    store(out + 16, generation);
    if (is_piece)
        store(out + 24, seal_size(size));
    store(out + 56, checksum(0, 0, out, 56));
    memcpy(out + head_size, payload, size);

    size_t end = head_size + size;
    size_t blocks = blocks_of(size);
    unsigned char *table = out + end;
    for (size_t i = 0; i < blocks; i++) {
        size_t from = i * block_size;
        size_t length = end - from < block_size ? end - from : block_size;
        store(table + 8 * i, checksum(generation, i, out + from, length));
    }
    unsigned char *foot = table + 8 * blocks;
    store(foot, size);
    store(foot + 8, blocks);
    memcpy(foot + 16, "\nvidiend", 8);
    store(foot + 24, checksum(generation, UINT64_MAX, table, 8 * blocks + 24));
}

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* The generation of a piece's frame, from the two numbers that its payload begins with. */
uint64_t seal_piece_generation(uint64_t generation, uint64_t position)
{
    return mix(generation + mix(position + 1));
}
