/* Making, saving and merging of bit arrays. */
#include "filters/bitmap.h"

static uint64_t words_of(uint64_t m)
{
    return m / 64 + (m % 64 != 0);
}

static uint64_t room_of(uint64_t m)
{
    return vidi__bitmap_bytes(m) / 8;
}

int vidi__bitmap_init(vidi__bitmap *bitmap, vidi__memory *memory, uint64_t m, vidi__reader *reader)
{
    bitmap->m = m;
    bitmap->set = 0;
    bitmap->words = NULL;
    if (!reader)
        return vidi__alloc_zeroed(memory, &bitmap->words, vidi__bitmap_bytes(m), VIDI__CACHE_LINE);
    VIDI__TRY(vidi__memory_check(memory, vidi__bitmap_bytes(m)));
    VIDI__TRY(vidi__read_words(reader, memory, words_of(m), room_of(m), &bitmap->words));
    if (m % 64 && bitmap->words[words_of(m) - 1] >> (m % 64)) {
        vidi__bitmap_free(bitmap, memory);
        return vidi__damaged("bits are set behind the end of an array");
    }
    bitmap->set = vidi__popcount(bitmap->words, words_of(m));
    return VIDI_OK;
}

void vidi__bitmap_free(vidi__bitmap *bitmap, vidi__memory *memory)
{
    vidi__release(memory, bitmap->words, vidi__bitmap_bytes(bitmap->m), VIDI__CACHE_LINE);
    bitmap->words = NULL;
}

int vidi__bitmap_save(const vidi__bitmap *bitmap, vidi__writer *writer)
{
    return vidi__write_words(writer, bitmap->words, words_of(bitmap->m));
}

void vidi__bitmap_merge(vidi__bitmap *into, const vidi__bitmap *from)
{
    for (uint64_t i = 0; i < words_of(into->m); i++)
        into->words[i] |= from->words[i];
    into->set = vidi__popcount(into->words, words_of(into->m));
}
