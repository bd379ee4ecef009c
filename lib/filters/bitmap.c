/* Creating, loading, saving and merging bit arrays. */
#include "filters/bitmap.h"

#include "base/clock.h"

/* Arrays of up to a page are never lazy: allocating them later would save nothing and make each access slower. */
#define LAZY_FROM 4096

static uint64_t room_of(uint64_t m)
{
    return vidi__bitmap_bytes(m) / 8;
}

/* How many words from this one on are contiguous. */
static uint64_t span_of(const vidi__bitmap *bitmap, uint64_t word)
{
    return bitmap->words ? vidi__bitmap_words(bitmap->m) - word : vidi__lazy_span(&bitmap->lazy, word);
}

static uint64_t count_ones(const vidi__bitmap *bitmap)
{
    uint64_t sum = 0;
    for (uint64_t word = 0, count; word < vidi__bitmap_words(bitmap->m); word += count) {
        count = span_of(bitmap, word);
        sum += vidi__popcount(vidi__bitmap_word(bitmap, word), count);
    }
    return sum;
}

static int init_lazy(vidi__bitmap *bitmap, vidi__memory *memory, vidi__reader *reader)
{
    uint64_t words = vidi__bitmap_words(bitmap->m);
    return reader ? vidi__lazy_read(&bitmap->lazy, memory, words, VIDI__LAZY_FINE, reader)
                  : vidi__lazy_init(&bitmap->lazy, memory, words, VIDI__LAZY_FINE);
}

int vidi__bitmap_init(vidi__bitmap *bitmap, vidi__memory *memory, uint64_t m, vidi__reader *reader, bool later)
{
    *bitmap = (vidi__bitmap){.m = m};
    if (reader) {
        VIDI__TRY(vidi__read_u64(reader, &bitmap->ones));
        if (bitmap->ones > m)
            return vidi__damaged("the number of set bits is too large");
    }
    int code;
    if (later && vidi__bitmap_bytes(m) > LAZY_FROM && !(reader && vidi__lends(reader)))
        code = init_lazy(bitmap, memory, reader);
    else if (reader)
        code = vidi__read_array(reader, memory, vidi__bitmap_words(m), room_of(m), &bitmap->words);
    else
        code = vidi__alloc_zeroed(memory, &bitmap->words, vidi__bitmap_bytes(m), VIDI__CACHE_LINE);
    if (code == VIDI_OK && reader && vidi__must_examine(reader))
        code = vidi__bitmap_verify(bitmap);
    if (code < 0)
        vidi__bitmap_free(bitmap, memory);
    return code;
}

int vidi__bitmap_verify(const vidi__bitmap *bitmap)
{
    uint64_t words = vidi__bitmap_words(bitmap->m);
    if (*vidi__bitmap_word(bitmap, words - 1) & ~vidi__bitmap_last_bits(bitmap->m))
        return vidi__damaged("bits are set beyond the end of an array");
    if (count_ones(bitmap) != bitmap->ones)
        return vidi__damaged("the number of set bits of an array is wrong");
    return VIDI_OK;
}

void vidi__bitmap_free(vidi__bitmap *bitmap, vidi__memory *memory)
{
    vidi__release(memory, bitmap->words, vidi__bitmap_bytes(bitmap->m), VIDI__CACHE_LINE);
    bitmap->words = NULL;
    vidi__lazy_free(&bitmap->lazy, memory);
}

int vidi__bitmap_save(const vidi__bitmap *bitmap, vidi__writer *writer)
{
    VIDI__TRY(vidi__write_u64(writer, bitmap->ones));
    VIDI__TRY(vidi__write_align(writer));
    for (uint64_t word = 0, count; word < vidi__bitmap_words(bitmap->m); word += count) {
        count = span_of(bitmap, word);
        VIDI__TRY(vidi__write_words(writer, vidi__bitmap_word(bitmap, word), count));
    }
    return VIDI_OK;
}

/* How many words from this one on are contiguous in both arrays. */
static uint64_t span_of_both(const vidi__bitmap *a, const vidi__bitmap *b, uint64_t word)
{
    uint64_t one = span_of(a, word), other = span_of(b, word);
    return one < other ? one : other;
}

/* Touches all pieces of `into` that a merge will write to. */
static int touch_for_merge(vidi__bitmap *into, vidi__memory *memory, const vidi__bitmap *from)
{
    for (uint64_t word = 0, count; word < vidi__bitmap_words(into->m); word += count) {
        count = span_of_both(into, from, word);
        const uint64_t *there = vidi__bitmap_word(from, word);
        uint64_t any = 0;
        for (uint64_t i = 0; i < count; i++)
            any |= there[i];
        if (any)
            VIDI__TRY(vidi__bitmap_touch(into, memory, word * 64));
    }
    return VIDI_OK;
}

static void merge_span(uint64_t *into, const uint64_t *from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        into[i] |= from[i];
}

int vidi__bitmap_merge(vidi__bitmap *into, vidi__memory *memory, const vidi__bitmap *from)
{
    uint64_t last = vidi__bitmap_words(into->m) - 1;
    if (vidi__bitmap_is_lazy(into))
        VIDI__TRY(touch_for_merge(into, memory, from));
    for (uint64_t word = 0, count; word <= last; word += count) {
        count = span_of_both(into, from, word);
        if (into->words || vidi__lazy_is_touched(&into->lazy, word)) /* else there is nothing to merge */
            merge_span(vidi__bitmap_word(into, word), vidi__bitmap_word(from, word), count);
    }
    if (*vidi__bitmap_word(into, last) & ~vidi__bitmap_last_bits(into->m)) /* borrowed bits may be anything there */
        *vidi__bitmap_word(into, last) &= vidi__bitmap_last_bits(into->m);
    into->ones = count_ones(into);
    return VIDI_OK;
}

uint64_t vidi__bitmap_union(const vidi__bitmap *a, const vidi__bitmap *b)
{
    uint64_t last = vidi__bitmap_words(a->m) - 1, sum = 0;
    for (uint64_t word = 0, count; word < last; word += count) {
        const uint64_t *one = vidi__bitmap_word(a, word), *other = vidi__bitmap_word(b, word);
        count = span_of_both(a, b, word);
        if (count > last - word)
            count = last - word;
        for (uint64_t i = 0; i < count; i++)
            sum += (uint64_t)__builtin_popcountll(one[i] | other[i]);
    }
    uint64_t rest = *vidi__bitmap_word(a, last) | *vidi__bitmap_word(b, last);
    return sum + (uint64_t)__builtin_popcountll(rest & vidi__bitmap_last_bits(a->m));
}

int vidi__bitmaps_step(vidi__bitmap *const *bitmaps, unsigned count, uint64_t budget_ns)
{
    uint64_t begin = vidi__clock_ns();
    for (unsigned i = 0; i < count; i++) {
        uint64_t gone = vidi__clock_ns() - begin;
        int more = vidi__lazy_step(&bitmaps[i]->lazy, gone < budget_ns ? budget_ns - gone : 0);
        if (more)
            return more;
    }
    return 0;
}
