/*
 * Names and ids of shards. See shards.h.
 */
#include "shards.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vidi/url.h"

enum { SLOTS = 16384 };

int shards_make(shards *shards, const char *name, const record *record)
{
    *shards = (struct shards){name, record, record->shards, calloc(record->shards, sizeof *shards->list)};
    return shards->list ? VIDI_OK : VIDI_EMEMORY;
}

void shards_free(shards *shards)
{
    free(shards->list);
    shards->list = NULL;
}

/* ---- keys ---- */

/* CRC-16/XMODEM, by which servers turn the text between the braces into a slot. */
static void fill_table(uint16_t table[256])
{
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned crc = byte << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0);
        table[byte] = (uint16_t)crc;
    }
}

static uint16_t crc_more(const uint16_t table[256], uint16_t crc, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        crc = (uint16_t)(crc << 8 ^ table[(crc >> 8 ^ (unsigned char)text[i]) & 255]);
    return crc;
}

/* Numbers are tried in tens: all that comes before the last digit is hashed once. Gives the slot. */
static int find_number(const uint16_t table[256], uint16_t front, int first, int end, uint64_t *number)
{
    for (uint64_t tens = 0;; tens++) {
        char digits[24];
        int n = tens ? snprintf(digits, sizeof digits, "%" PRIu64, tens) : 0;
        uint16_t crc = crc_more(table, front, digits, (size_t)n);
        for (unsigned last = 0; last < 10; last++) {
            int slot = crc_more(table, crc, &"0123456789"[last], 1) % SLOTS;
            *number = tens * 10 + last;
            if (slot >= first && slot < end)
                return slot;
        }
    }
}

static void find_key(const shards *shards, uint32_t index, shard *shard)
{
    uint16_t table[256];
    uint64_t number;
    fill_table(table);
    int front = snprintf(shard->key, sizeof shard->key, "{%s:%" PRIu32 ":", shards->name, index);
    uint16_t crc = crc_more(table, 0, shard->key + 1, (size_t)front - 1);
    int first = (int)((uint64_t)index * SLOTS / shards->count),
        end = (int)((index + UINT64_C(1)) * SLOTS / shards->count);
    shard->slot = find_number(table, crc, first, end, &number);
    size_t room = sizeof shard->key - (size_t)front;
    shard->key_len = (uint16_t)(front + snprintf(shard->key + front, room, "%" PRIu64 "}", number));
}

/* ---- ids ---- */

static void find_id(const shards *shards, uint32_t index, shard *shard)
{
    char text[64];
    uint64_t hash[2];
    int n = snprintf(text, sizeof text, "shard %016" PRIx64 " %" PRIu32, shards->record->id, index);
    (void)vidi_keyed_hash(shards->record->route, (vidi_str){text, (size_t)n}, hash);
    snprintf(shard->id, sizeof shard->id, "%016" PRIx64, hash[0] ? hash[0] : 1);
}

const shard *shards_get(shards *shards, uint32_t index)
{
    shard *shard = &shards->list[index];
    if (!shard->key_len) {
        find_id(shards, index, shard);
        find_key(shards, index, shard);
    }
    return shard;
}
