/*
 * One cache line of a fingerprint table. It holds a few remainders of a whole number of bytes each, and a head. The
 * remainders are split into parts, so that vector instructions can compare all of them at once.
 *
 *     width   slots   where the parts are                            (byte offsets; the head is always at 60)
 *       3      20     low 16 bits at 0, high 8 at 40
 *       4      15     32 bits at 0
 *       5      12     low 32 bits at 0, high 8 at 48
 *       6      10     low 32 bits at 0, high 16 at 40
 *       7       8     low 32 bits at 0, middle 16 at 32, high 8 at 48
 *       8       7     64 bits at 0
 *
 *     head    bits 0-4: number of slots in use
 *             one bit per slot: the slot holds a displaced entry, which belongs to the previous line, where it found no
 *             room
 *             the bits above: the signature, one bit for each hash of this line that is stored elsewhere
 *
 * Threads may look for a remainder while another thread appends one. That one stores the remainder first, then the
 * head. Those that look load the head first, and believe only the slots that it counts, which do not change while
 * others may look. The loads and stores below are atomic for that reason; the processor does the same as without.
 *
 * On x86-64 the comparison uses SSE2, on arm64 NEON, which every such machine has. Elsewhere, and with
 * VIDI_CPU=portable, plain loops give the same answer.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_LINE_H
#define VIDI_FILTERS_FINGERPRINT_LINE_H

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "base/base.h"
#include "base/bits.h"

#define VIDI__LINE_BYTES 64

static inline unsigned vidi__line_slots(unsigned width)
{
    static const unsigned char slots[9] = {0, 0, 0, 20, 15, 12, 10, 8, 7};
    return slots[width];
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "lines are written to files as they are in memory"
#endif

/* Parts of a line, which is otherwise an array of bytes. */
typedef unsigned char vidi__line8;
typedef uint16_t __attribute__((may_alias)) vidi__line16;
typedef uint32_t __attribute__((may_alias)) vidi__line32;
typedef uint64_t __attribute__((may_alias)) vidi__line64;

#define VIDI__LINE_LOAD(bits, from)                                                                                    \
    ((uint64_t)__atomic_load_n((const vidi__line##bits *)(const void *)(from), __ATOMIC_RELAXED))
#define VIDI__LINE_STORE(bits, to, value)                                                                              \
    __atomic_store_n((vidi__line##bits *)(void *)(to), (vidi__line##bits)(value), __ATOMIC_RELAXED)

static inline uint32_t vidi__line_head(const unsigned char *line)
{
    return __atomic_load_n((const vidi__line32 *)(const void *)(line + 60), __ATOMIC_ACQUIRE);
}

static inline void vidi__line_set_head(unsigned char *line, uint32_t head)
{
    __atomic_store_n((vidi__line32 *)(void *)(line + 60), head, __ATOMIC_RELEASE);
}

static inline unsigned vidi__line_count(uint32_t head)
{
    return head & 31;
}

/* The number of slots in use, capped at the number of slots: a mapped line (filter.h) may not have been verified. */
static inline unsigned vidi__line_used(uint32_t head, unsigned slots)
{
    unsigned count = vidi__line_count(head);
    return count < slots ? count : slots;
}

/* A bit for each slot that holds a displaced entry. */
static inline uint32_t vidi__line_displaced(uint32_t head, unsigned slots)
{
    return head >> 5 & ((UINT32_C(1) << slots) - 1);
}

static inline uint32_t vidi__line_displaced_bit(unsigned slot)
{
    return UINT32_C(32) << slot;
}

/* The signature bit of a distance. */
static inline uint32_t vidi__line_signature(unsigned slots, uint64_t distance)
{
    uint64_t mixed = distance * UINT64_C(0x9e3779b97f4a7c15);
    return UINT32_C(1) << (5 + slots) << ((mixed >> 32) * (27 - slots) >> 32);
}

static inline uint64_t vidi__line_get(const unsigned char *line, unsigned width, unsigned slot)
{
    switch (width) {
    case 3:
        return VIDI__LINE_LOAD(16, line + 2 * slot) | VIDI__LINE_LOAD(8, line + 40 + slot) << 16;
    case 4:
        return VIDI__LINE_LOAD(32, line + 4 * slot);
    case 5:
        return VIDI__LINE_LOAD(32, line + 4 * slot) | VIDI__LINE_LOAD(8, line + 48 + slot) << 32;
    case 6:
        return VIDI__LINE_LOAD(32, line + 4 * slot) | VIDI__LINE_LOAD(16, line + 40 + 2 * slot) << 32;
    case 7:
        return VIDI__LINE_LOAD(32, line + 4 * slot) | VIDI__LINE_LOAD(16, line + 32 + 2 * slot) << 32 |
               VIDI__LINE_LOAD(8, line + 48 + slot) << 48;
    default:
        return VIDI__LINE_LOAD(64, line + 8 * slot);
    }
}

static inline void vidi__line_put(unsigned char *line, unsigned width, unsigned slot, uint64_t value)
{
    switch (width) {
    case 3:
        VIDI__LINE_STORE(16, line + 2 * slot, value);
        VIDI__LINE_STORE(8, line + 40 + slot, value >> 16);
        break;
    case 4:
        VIDI__LINE_STORE(32, line + 4 * slot, value);
        break;
    case 5:
        VIDI__LINE_STORE(32, line + 4 * slot, value);
        VIDI__LINE_STORE(8, line + 48 + slot, value >> 32);
        break;
    case 6:
        VIDI__LINE_STORE(32, line + 4 * slot, value);
        VIDI__LINE_STORE(16, line + 40 + 2 * slot, value >> 32);
        break;
    case 7:
        VIDI__LINE_STORE(32, line + 4 * slot, value);
        VIDI__LINE_STORE(16, line + 32 + 2 * slot, value >> 32);
        VIDI__LINE_STORE(8, line + 48 + slot, value >> 48);
        break;
    default:
        VIDI__LINE_STORE(64, line + 8 * slot, value);
        break;
    }
}

/* Returns true if the signature bit of this distance is set. Few lines have any set. */
static inline bool vidi__line_has_signature(uint32_t head, unsigned slots, uint64_t distance)
{
    return VIDI__UNLIKELY(head >> (5 + slots)) && head & vidi__line_signature(slots, distance);
}

/* Appends a value. `head` is the line's head; the line must have room. */
static inline void vidi__line_append(unsigned char *line, unsigned width, uint32_t head, uint64_t value, bool displaced)
{
    unsigned slot = vidi__line_count(head);
    vidi__line_put(line, width, slot, value);
    vidi__line_set_head(line, (head + 1) | (displaced ? vidi__line_displaced_bit(slot) : 0));
}

/* Empties a slot by moving the last entry into it. */
static inline void vidi__line_remove(unsigned char *line, unsigned width, unsigned slot)
{
    uint32_t head = vidi__line_head(line) - 1;
    unsigned last = vidi__line_count(head);
    bool displaced = head & vidi__line_displaced_bit(last);
    vidi__line_put(line, width, slot, vidi__line_get(line, width, last));
    head &= ~(vidi__line_displaced_bit(slot) | vidi__line_displaced_bit(last));
    vidi__line_set_head(line, head | (displaced && slot != last ? vidi__line_displaced_bit(slot) : 0));
}

/* The next functions return a bit for each slot that holds the value, whether it is in use or not. */
static inline uint32_t vidi__line_match_portable(const unsigned char *line, unsigned width, uint64_t value)
{
    uint32_t found = 0;
    for (unsigned i = 0, slots = vidi__line_slots(width); i < slots; i++)
        found |= (uint32_t)(vidi__line_get(line, width, i) == value) << i;
    return found;
}

#if defined(__SSE2__)
static inline __m128i vidi__line_load(const unsigned char *from)
{
    return _mm_loadu_si128((const __m128i *)(const void *)from);
}

/* One bit for each of the 16 lanes of 32 bits in four vectors. */
static inline uint32_t vidi__line_bits(__m128i a, __m128i b, __m128i c, __m128i d)
{
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
}

static inline uint32_t vidi__line_match_sse2(const unsigned char *line, unsigned width, uint64_t value)
{
    const __m128i a = vidi__line_load(line), b = vidi__line_load(line + 16), c = vidi__line_load(line + 32),
                  d = vidi__line_load(line + 48), low = _mm_set1_epi32((int)value), none = _mm_setzero_si128();
    uint32_t lower, upper;
    switch (width) {
    case 3: {
        const __m128i low16 = _mm_set1_epi16((short)value), high = _mm_set1_epi8((char)(value >> 16));
        lower = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_cmpeq_epi16(a, low16), _mm_cmpeq_epi16(b, low16)));
        lower |= (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_cmpeq_epi16(c, low16), none)) << 16;
        upper = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(vidi__line_load(line + 40), high));
        upper |= (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(d, high)) >> 8 << 16;
        return lower & upper;
    }
    case 4:
        return vidi__line_bits(_mm_cmpeq_epi32(a, low), _mm_cmpeq_epi32(b, low), _mm_cmpeq_epi32(c, low),
                               _mm_cmpeq_epi32(d, low));
    case 5:
        lower = vidi__line_bits(_mm_cmpeq_epi32(a, low), _mm_cmpeq_epi32(b, low), _mm_cmpeq_epi32(c, low), none);
        upper = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(d, _mm_set1_epi8((char)(value >> 32))));
        return lower & upper;
    case 6: {
        const __m128i high = _mm_set1_epi16((short)(value >> 32));
        lower = vidi__line_bits(_mm_cmpeq_epi32(a, low), _mm_cmpeq_epi32(b, low), _mm_cmpeq_epi32(c, low), none);
        upper = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_cmpeq_epi16(vidi__line_load(line + 40), high), none));
        upper |= (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_cmpeq_epi16(d, high), none)) >> 4 << 8;
        return lower & upper;
    }
    case 7: {
        const __m128i middle = _mm_cmpeq_epi16(c, _mm_set1_epi16((short)(value >> 32)));
        const __m128i low16 = _mm_packs_epi32(_mm_cmpeq_epi32(a, low), _mm_cmpeq_epi32(b, low));
        lower = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_and_si128(low16, middle), none));
        upper = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(d, _mm_set1_epi8((char)(value >> 48))));
        return lower & upper;
    }
    default:
        return vidi__line_match_portable(line, width, value);
    }
}
#elif defined(__aarch64__)
/* One bit for each of 16 truths: each keeps the bit of its place among eight, and neighbours are added three times. */
static inline uint32_t vidi__line_bits(uint8x16_t truths)
{
    const uint8x16_t places = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    uint8x16_t bits = vandq_u8(truths, places);
    bits = vpaddq_u8(bits, bits);
    bits = vpaddq_u8(bits, bits);
    bits = vpaddq_u8(bits, bits);
    return vgetq_lane_u16(vreinterpretq_u16_u8(bits), 0);
}

/* The 8 numbers of 16 bits from there on that equal `value`, as 8 truths. */
static inline uint8x8_t vidi__line_same16(const unsigned char *from, uint64_t value)
{
    return vmovn_u16(vceqq_u16(vreinterpretq_u16_u8(vld1q_u8(from)), vdupq_n_u16((uint16_t)value)));
}

/* The same for the 8 numbers of 32 bits. */
static inline uint8x8_t vidi__line_same32(const unsigned char *from, uint64_t value)
{
    const uint32x4_t wanted = vdupq_n_u32((uint32_t)value);
    uint32x4_t a = vceqq_u32(vreinterpretq_u32_u8(vld1q_u8(from)), wanted);
    uint32x4_t b = vceqq_u32(vreinterpretq_u32_u8(vld1q_u8(from + 16)), wanted);
    return vmovn_u16(vcombine_u16(vmovn_u32(a), vmovn_u32(b)));
}

static inline uint32_t vidi__line_match_neon(const unsigned char *line, unsigned width, uint64_t value)
{
    if (width == 3) {
        const uint8x16_t high = vdupq_n_u8((uint8_t)(value >> 16));
        uint8x16_t first = vcombine_u8(vidi__line_same16(line, value), vidi__line_same16(line + 16, value));
        uint8x8_t last = vand_u8(vidi__line_same16(line + 32, value), vceq_u8(vld1_u8(line + 56), vget_low_u8(high)));
        first = vandq_u8(first, vceqq_u8(vld1q_u8(line + 40), high));
        return vidi__line_bits(first) | vidi__line_bits(vcombine_u8(last, vdup_n_u8(0))) << 16;
    }
    if (width < 4 || width > 6)
        return vidi__line_match_portable(line, width, value);
    uint8x16_t same = vcombine_u8(vidi__line_same32(line, value), vidi__line_same32(line + 32, value));
    if (width == 5)
        same = vandq_u8(same, vceqq_u8(vld1q_u8(line + 48), vdupq_n_u8((uint8_t)(value >> 32))));
    if (width == 6) { /* the last two of ten are the upper half of the line's last vector */
        const uint8x8_t last = vidi__line_same16(line + 48, value >> 32);
        same = vandq_u8(same, vcombine_u8(vidi__line_same16(line + 40, value >> 32), vext_u8(last, last, 4)));
    }
    return vidi__line_bits(same);
}
#endif

/*
 * The slots that hold the value, of those that the head counts, which was loaded from the line before. In an unverified
 * line whose head claims too many slots, the result may include one that does not exist.
 */
static inline uint32_t vidi__line_match(const unsigned char *line, uint32_t head, unsigned width, uint64_t value,
                                        bool portable)
{
    uint32_t used = (UINT32_C(1) << vidi__line_count(head)) - 1;
#if defined(__SSE2__)
    if (VIDI__LIKELY(!portable))
        return vidi__line_match_sse2(line, width, value) & used;
#elif defined(__aarch64__)
    if (VIDI__LIKELY(!portable))
        return vidi__line_match_neon(line, width, value) & used;
#endif
    (void)portable;
    return vidi__line_match_portable(line, width, value) & used;
}

#endif
