/*
 * Heads, check values and checksums of logs: SipHash-1-3-128 with a zero key, as in frame.c. They detect accidents, not
 * forgery.
 */
#include "store/log_format.h"

#include <stdio.h>

#include "base/stream.h"
#include "hash/sip.h"

#define VERSION 1

static const char magic[8] = {'v', 'i', 'd', 'i', 'l', 'o', 'g', '\n'};

static uint64_t checksum(const void *place, size_t place_bytes, const void *data, size_t bytes)
{
    static const uint64_t no_key[2] = {0, 0};
    vidi_str pieces[] = {{place, place_bytes}, {data, bytes}};
    return vidi__siphash(no_key, pieces, 2, 1, 3).lo;
}

void vidi__log_name(char name[40], uint64_t number)
{
    snprintf(name, 40, "log.%016llx", (unsigned long long)number);
}

void vidi__log_head_write(unsigned char bytes[VIDI__LOG_HEAD], const vidi__log_id *id, uint64_t generation)
{
    memset(bytes, 0, VIDI__LOG_HEAD);
    memcpy(bytes, magic, sizeof magic);
    vidi__version_store(bytes, VERSION);
    vidi__store64(bytes + 16, generation);
    vidi__store64(bytes + 24, id->number);
    vidi__store64(bytes + 32, id->epoch);
    vidi__store64(bytes + 40, id->identity);
    vidi__store64(bytes + 48, id->previous);
    vidi__store64(bytes + 56, checksum(NULL, 0, bytes, 56));
}

static bool is_sound(const unsigned char bytes[VIDI__LOG_HEAD])
{
    return vidi__load64(bytes + 56) == checksum(NULL, 0, bytes, 56);
}

bool vidi__log_head_mend(unsigned char bytes[VIDI__LOG_HEAD])
{
    for (size_t bit = 0; bit < VIDI__LOG_HEAD * 8; bit++) {
        unsigned char mask = (unsigned char)(1u << bit % 8);
        bytes[bit / 8] ^= mask;
        if (is_sound(bytes))
            return true;
        bytes[bit / 8] ^= mask;
    }
    return false;
}

static int differs(const char *name, const char *what, uint64_t is, uint64_t expected)
{
    return vidi__fail(VIDI_EDIFFERS, "%s belongs to another set or generation: its %s is %016llx, not %016llx", name,
                      what, (unsigned long long)is, (unsigned long long)expected);
}

int vidi__log_head_read(const unsigned char bytes[VIDI__LOG_HEAD], const vidi__log_id *id, const char *name,
                        vidi__log_head *head)
{
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return vidi__fail(VIDI_EDAMAGED, "%s is not a vidi log", name);
    if (!is_sound(bytes))
        return vidi__fail(VIDI_EDAMAGED, "%s is damaged: the checksum of its head is wrong", name);
    VIDI__TRY(vidi__version_check(bytes, VERSION, name));
    if (vidi__load64(bytes + 40) != id->identity)
        return differs(name, "set", vidi__load64(bytes + 40), id->identity);
    if (vidi__load64(bytes + 24) != id->number)
        return differs(name, "number", vidi__load64(bytes + 24), id->number);
    if (vidi__load64(bytes + 32) != id->epoch)
        return differs(name, "epoch", vidi__load64(bytes + 32), id->epoch);
    *head = (vidi__log_head){vidi__load64(bytes + 16), vidi__load64(bytes + 48)};
    return VIDI_OK;
}

uint32_t vidi__log_check_value(uint64_t generation, uint64_t offset, uint32_t type, uint64_t payload)
{
    unsigned char place[28];
    vidi__store64(place, generation);
    vidi__store64(place + 8, offset);
    vidi__store32(place + 16, type);
    vidi__store64(place + 20, payload);
    return (uint32_t)checksum(place, sizeof place, NULL, 0);
}

uint64_t vidi__log_checksum(uint64_t generation, uint64_t offset, const unsigned char *record, uint64_t bytes)
{
    unsigned char place[16];
    vidi__store64(place, generation);
    vidi__store64(place + 8, offset);
    return checksum(place, sizeof place, record, (size_t)bytes);
}
