/* What reading and writing segments share; segment.h shows the bytes. */
#ifndef VIDI_STORE_SEGMENT_FORMAT_H
#define VIDI_STORE_SEGMENT_FORMAT_H

#include "hash/sip.h"
#include "store/segment.h"

/* Bytes of a block in the list. */
enum { VIDI__SEGMENT_ENTRY = 16 };

void vidi__segment_encode(unsigned char head[VIDI__SEGMENT_HEAD], const vidi__stretch *stretch, uint64_t list_check);

static inline uint64_t vidi__segment_checksum(const void *data, uint64_t bytes)
{
    static const uint64_t no_key[2] = {0, 0};
    vidi_str piece = {data, (size_t)bytes};
    return vidi__siphash(no_key, &piece, 1, 1, 3).lo;
}

#endif
