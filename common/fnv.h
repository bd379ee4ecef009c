/*
 * 64-bit FNV-1a, a hash that goes on from byte to byte: for checksums that find accidents, and for tables whose texts
 * no stranger chooses.
 */
#ifndef VIDI_COMMON_FNV_H
#define VIDI_COMMON_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t fnv_byte(uint64_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t fnv_bytes(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = fnv_byte(hash, ((const char *)bytes)[i]);
    return hash;
}

#endif
