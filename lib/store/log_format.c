/*
 * Heads, check values and checksums of logs: SipHash-1-3-128 with a zero key, as in frame.c. They detect accidents, not
 * forgery.
 */
#include "store/log_format.h"

#include <stdio.h>

#include "hash/sip.h"

#define VERSION 1
#define BYTE_ORDER_MARK 0x01020304

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

void vidi__log_head_write(unsigned char head[VIDI__LOG_HEAD], const vidi__log_id *id, uint64_t generation)
{
    memset(head, 0, VIDI__LOG_HEAD);
    memcpy(head, magic, sizeof magic);
    vidi__store32(head + 8, VERSION);
    vidi__store32(head + 12, BYTE_ORDER_MARK);
    vidi__store64(head + 16, generation);
    vidi__store64(head + 24, id->number);
    vidi__store64(head + 32, id->epoch);
    vidi__store64(head + 40, id->identity);
    vidi__store64(head + 56, checksum(NULL, 0, head, 56));
}

static int differs(const char *name, const char *what, uint64_t is, uint64_t expected)
{
    return vidi__fail(VIDI_EDIFFERS, "%s belongs to another set or generation: its %s is %016llx, not %016llx", name,
                      what, (unsigned long long)is, (unsigned long long)expected);
}

int vidi__log_head_read(const unsigned char head[VIDI__LOG_HEAD], const vidi__log_id *id, const char *name,
                        uint64_t *generation)
{
    if (memcmp(head, magic, sizeof magic) != 0)
        return vidi__fail(VIDI_EFORMAT, "%s is not a vidi log", name);
    if (vidi__load64(head + 56) != checksum(NULL, 0, head, 56))
        return vidi__fail(VIDI_EFORMAT, "%s is damaged: the checksum of its head is wrong", name);
    if (vidi__load32(head + 8) != VERSION || vidi__load32(head + 12) != BYTE_ORDER_MARK)
        return vidi__fail(VIDI_EFORMAT, "%s has log format version %u, which is unknown to this version of vidi", name,
                          vidi__load32(head + 8));
    if (vidi__load64(head + 40) != id->identity)
        return differs(name, "set", vidi__load64(head + 40), id->identity);
    if (vidi__load64(head + 24) != id->number)
        return differs(name, "number", vidi__load64(head + 24), id->number);
    if (vidi__load64(head + 32) != id->epoch)
        return differs(name, "epoch", vidi__load64(head + 32), id->epoch);
    *generation = vidi__load64(head + 16);
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
