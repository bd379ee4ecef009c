/*
 * SipHash-c-d with 128-bit output (Aumasson, Bernstein 2012; the 128-bit variant of the authors' reference), over an
 * input in several pieces. The rounds are parameters so that one piece of code is tested against the published vectors
 * of SipHash-2-4 and used as SipHash-1-3.
 */
#ifndef VIDI_HASH_SIP_H
#define VIDI_HASH_SIP_H

#include "base/base.h"
#include "base/bits.h"

typedef struct vidi__sip {
    uint64_t v0, v1, v2, v3;
} vidi__sip;

static inline uint64_t vidi__rotl64(uint64_t x, unsigned by)
{
    return (x << by) | (x >> (64 - by));
}

/* The bytes of a string after its last whole word of 8, as a number. */
static inline __attribute__((always_inline)) uint64_t vidi__sip_last_bytes(const unsigned char *at, uint64_t len)
{
    uint64_t left = len % 8, word = 0;
    if (VIDI__LIKELY(len >= 8)) /* the last 8 bytes, without those already used; a shift by 64 is undefined */
        return vidi__load64(at + len - 8) >> 8 >> (8 * (7 - left));
    while (left--)
        word = word << 8 | at[left];
    return word;
}

static inline void vidi__sip_rounds(vidi__sip *s, unsigned rounds)
{
    while (rounds--) {
        s->v0 += s->v1;
        s->v2 += s->v3;
        s->v1 = vidi__rotl64(s->v1, 13) ^ s->v0;
        s->v3 = vidi__rotl64(s->v3, 16) ^ s->v2;
        s->v0 = vidi__rotl64(s->v0, 32);
        s->v2 += s->v1;
        s->v0 += s->v3;
        s->v1 = vidi__rotl64(s->v1, 17) ^ s->v2;
        s->v3 = vidi__rotl64(s->v3, 21) ^ s->v0;
        s->v2 = vidi__rotl64(s->v2, 32);
    }
}

static inline void vidi__sip_word(vidi__sip *s, uint64_t word, unsigned c)
{
    s->v3 ^= word;
    vidi__sip_rounds(s, c);
    s->v0 ^= word;
}

static inline vidi__sip vidi__sip_start(const uint64_t key[2])
{
    return (vidi__sip){
        .v0 = key[0] ^ UINT64_C(0x736f6d6570736575),
        .v1 = key[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
        .v2 = key[0] ^ UINT64_C(0x6c7967656e657261),
        .v3 = key[1] ^ UINT64_C(0x7465646279746573),
    };
}

/* Takes in the last word, which has the input's last bytes and its length, and makes the hash. */
static VIDI__INLINE vidi__u128 vidi__sip_end(vidi__sip s, uint64_t word, unsigned c, unsigned d)
{
    vidi__sip_word(&s, word, c);
    s.v2 ^= 0xee;
    vidi__sip_rounds(&s, d);
    uint64_t lo = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
    s.v1 ^= 0xdd;
    vidi__sip_rounds(&s, d);
    return (vidi__u128){lo, s.v0 ^ s.v1 ^ s.v2 ^ s.v3};
}

static inline __attribute__((always_inline)) vidi__u128 vidi__siphash(const uint64_t key[2], const vidi_str *pieces,
                                                                      size_t count, unsigned c, unsigned d)
{
    vidi__sip s = vidi__sip_start(key);
    uint64_t tail = 0, total = 0;
    unsigned fill = 0; /* bytes in tail */
    for (size_t i = 0; i < count; i++) {
        const unsigned char *at = (const unsigned char *)pieces[i].ptr;
        size_t left = pieces[i].len;
        total += left;
        for (; fill && left; left--) {
            tail |= (uint64_t)*at++ << (8 * fill);
            if (++fill == 8) {
                vidi__sip_word(&s, tail, c);
                tail = 0;
                fill = 0;
            }
        }
        for (; left >= 8; at += 8, left -= 8)
            vidi__sip_word(&s, vidi__load64(at), c);
        if (left && pieces[i].len >= 8) { /* load the last 8 bytes of the piece at once and drop those already used */
            tail = vidi__load64(at + left - 8) >> (8 * (8 - left));
            fill = (unsigned)left;
            continue;
        }
        for (; left; left--)
            tail |= (uint64_t)*at++ << (8 * fill++);
    }
    return vidi__sip_end(s, tail | total << 56, c, d);
}

#endif
