/* Creating, loading, saving and merging bit arrays. */
#include "filters/bitmap.h"

static uint64_t room_of(uint64_t m)
{
    return vidi__bitmap_bytes(m) / 8;
}

int vidi__bitmap_init(vidi__bitmap *bitmap, vidi__memory *memory, uint64_t m, vidi__reader *reader)
{
    bitmap->m = m;
    bitmap->ones = 0;
    bitmap->words = NULL;
    if (!reader)
        return vidi__alloc_zeroed(memory, &bitmap->words, vidi__bitmap_bytes(m), VIDI__CACHE_LINE);
    VIDI__TRY(vidi__read_u64(reader, &bitmap->ones));
    if (bitmap->ones > m)
        return vidi__damaged("the number of set bits is too large");
    VIDI__TRY(vidi__read_array(reader, memory, vidi__bitmap_words(m), room_of(m), &bitmap->words));
    int code = vidi__must_examine(reader) ? vidi__bitmap_verify(bitmap) : VIDI_OK;
    if (code < 0)
        vidi__bitmap_free(bitmap, memory);
    return code;
}

int vidi__bitmap_verify(const vidi__bitmap *bitmap)
{
    uint64_t words = vidi__bitmap_words(bitmap->m);
    if (bitmap->words[words - 1] & ~vidi__bitmap_last_bits(bitmap->m))
        return vidi__damaged("bits are set beyond the end of an array");
    if (vidi__popcount(bitmap->words, words) != bitmap->ones)
        return vidi__damaged("the number of set bits of an array is wrong");
    return VIDI_OK;
}

void vidi__bitmap_free(vidi__bitmap *bitmap, vidi__memory *memory)
{
    vidi__release(memory, bitmap->words, vidi__bitmap_bytes(bitmap->m), VIDI__CACHE_LINE);
    bitmap->words = NULL;
}

int vidi__bitmap_save(const vidi__bitmap *bitmap, vidi__writer *writer)
{
    VIDI__TRY(vidi__write_u64(writer, bitmap->ones));
    return vidi__write_array(writer, bitmap->words, vidi__bitmap_words(bitmap->m));
}

void vidi__bitmap_merge(vidi__bitmap *into, const vidi__bitmap *from)
{
    for (uint64_t i = 0; i < vidi__bitmap_words(into->m); i++)
        into->words[i] |= from->words[i];
    into->words[vidi__bitmap_words(into->m) - 1] &=
        vidi__bitmap_last_bits(into->m); /* borrowed bits may be anything there */
    into->ones = vidi__popcount(into->words, vidi__bitmap_words(into->m));
}

uint64_t vidi__bitmap_union(const vidi__bitmap *a, const vidi__bitmap *b)
{
    uint64_t last = vidi__bitmap_words(a->m) - 1, sum = 0;
    for (uint64_t i = 0; i < last; i++)
        sum += (uint64_t)__builtin_popcountll(a->words[i] | b->words[i]);
    return sum + (uint64_t)__builtin_popcountll((a->words[last] | b->words[last]) & vidi__bitmap_last_bits(a->m));
}
