/* See lazy.h. */
#include "base/lazy.h"

#include "base/clock.h"

/* Never written to, so the kernel never gives it memory of its own. Vector kernels load whole cache lines of it. */
_Alignas(VIDI__CACHE_LINE) uint64_t vidi__lazy_zeros[VIDI__LAZY_WORDS];

#define COARSE_SHIFT 18
#define FINE_SHIFT 14
#define FINEST_SHIFT 12
#define FINEST_UNTIL ((UINT64_C(8) << 20) / 8) /* words */
_Static_assert(UINT64_C(1) << COARSE_SHIFT == VIDI__LAZY_WORDS, "the kernels of `blocked` compute with this");

static uint64_t pieces_of(const vidi__lazy *lazy)
{
    uint64_t size = UINT64_C(1) << lazy->shift;
    return lazy->words / size + (lazy->words % size != 0);
}

/* The last piece may be smaller. */
static uint64_t piece_bytes(const vidi__lazy *lazy, uint64_t piece)
{
    return vidi__round_up(vidi__lazy_span(lazy, piece << lazy->shift) * 8, VIDI__CACHE_LINE);
}

int vidi__lazy_init(vidi__lazy *lazy, vidi__memory *memory, uint64_t words, vidi__lazy_pieces pieces)
{
    unsigned fine = words <= FINEST_UNTIL ? FINEST_SHIFT : FINE_SHIFT;
    *lazy = (vidi__lazy){.words = words, .shift = pieces == VIDI__LAZY_FINE ? fine : COARSE_SHIFT, .memory = memory};
    uint64_t count = lazy->untouched = pieces_of(lazy);
    lazy->bytes = count * sizeof *lazy->pieces;
    VIDI__TRY(vidi__promise(memory, words));
    int code = vidi__alloc(memory, &lazy->pieces, lazy->bytes, _Alignof(void *));
    if (code < 0)
        vidi__promise_end(memory, words);
    VIDI__TRY(code);
    for (uint64_t i = 0; i < count; i++)
        lazy->pieces[i] = vidi__lazy_zeros;
    return VIDI_OK;
}

void vidi__lazy_free(vidi__lazy *lazy, vidi__memory *memory)
{
    if (!lazy->pieces)
        return;
    uint64_t count = pieces_of(lazy);
    for (uint64_t i = 0; i < count; i++)
        if (lazy->pieces[i] != vidi__lazy_zeros)
            vidi__release(memory, lazy->pieces[i], piece_bytes(lazy, i), VIDI__CACHE_LINE);
    vidi__release(memory, lazy->pieces, count * sizeof *lazy->pieces, _Alignof(void *));
    vidi__promise_end(memory, lazy->words);
    *lazy = (vidi__lazy){0};
}

int vidi__lazy_touch_slowly(vidi__lazy *lazy, vidi__memory *memory, uint64_t word)
{
    uint64_t piece = word >> lazy->shift, bytes = piece_bytes(lazy, piece), *fresh;
    VIDI__TRY(vidi__alloc_zeroed(memory, &fresh, bytes, VIDI__CACHE_LINE));
    lazy->pieces[piece] = fresh;
    lazy->bytes += bytes;
    lazy->untouched--;
    return VIDI_OK;
}

int vidi__lazy_touch_next(vidi__lazy *lazy, vidi__memory *memory)
{
    uint64_t piece = 0;
    if (!lazy->untouched)
        return 0;
    while (lazy->pieces[piece] != vidi__lazy_zeros)
        piece++;
    VIDI__TRY(vidi__lazy_touch_slowly(lazy, memory, piece << lazy->shift));
    return 1;
}

int vidi__lazy_step(vidi__lazy *lazy, uint64_t budget_ns)
{
    uint64_t begin = vidi__clock_ns();
    while (lazy->untouched && vidi__clock_ns() - begin < budget_ns)
        VIDI__TRY(vidi__lazy_touch_next(lazy, lazy->memory));
    return lazy->untouched != 0;
}

int vidi__lazy_touch_range(vidi__lazy *lazy, uint64_t first, uint64_t count)
{
    for (uint64_t word = first; word < first + count; word += vidi__lazy_span(lazy, word))
        VIDI__TRY(vidi__lazy_touch(lazy, lazy->memory, word));
    return VIDI_OK;
}

static void untouch(vidi__lazy *lazy, vidi__memory *memory, uint64_t piece)
{
    vidi__release(memory, lazy->pieces[piece], piece_bytes(lazy, piece), VIDI__CACHE_LINE);
    lazy->pieces[piece] = vidi__lazy_zeros;
    lazy->bytes -= piece_bytes(lazy, piece);
    lazy->untouched++;
}

int vidi__lazy_read(vidi__lazy *lazy, vidi__memory *memory, uint64_t words, vidi__lazy_pieces pieces,
                    vidi__reader *reader)
{
    VIDI__TRY(vidi__read_align(reader));
    if (words > reader->left / 8)
        return vidi__damaged("an array is larger than the data");
    VIDI__TRY(vidi__lazy_init(lazy, memory, words, pieces));
    for (uint64_t word = 0, count; word < lazy->words; word += count) {
        count = vidi__lazy_span(lazy, word);
        VIDI__TRY(vidi__lazy_touch(lazy, memory, word));
        VIDI__TRY(vidi__read(reader, vidi__lazy_at(lazy, word), count * 8));
        if (memcmp(vidi__lazy_at(lazy, word), vidi__lazy_zeros, count * 8) == 0)
            untouch(lazy, memory, word >> lazy->shift);
    }
    return VIDI_OK;
}
