/* See pieces.h. */
#include "filters/pieces.h"

#define LINE_WORDS (VIDI__CACHE_LINE / 8)
#define GAP_LINES 8                    /* a stretch ends before as many lines of zeros */
#define SCAN_LINES (UINT64_C(1) << 20) /* lines that a run looks at, at most, beyond those that it writes: 64 MiB */
#define STRETCH_HEAD 16
#define NO_MORE UINT64_MAX

/* ---- positions ---- */

vidi__run_out vidi__run_part(const vidi__run_out *run, unsigned part_bits, uint64_t *part)
{
    vidi__run_out inner = *run;
    inner.bits = run->bits - part_bits;
    *part = run->at >> inner.bits;
    inner.at = run->at & (vidi__run_end(&inner) - 1);
    return inner;
}

void vidi__run_part_done(vidi__run_out *run, const vidi__run_out *inner, uint64_t part, uint64_t parts)
{
    run->at = (part << inner->bits) + inner->at; /* the part's end is the beginning of the next one */
    if (run->at >= parts << inner->bits)
        run->at = vidi__run_end(run);
}

int vidi__run_position_unknown(void)
{
    return vidi__fail(VIDI_EARGUMENT, "the cursor is none that this set has given");
}

int vidi__run_too_large(uint64_t bytes)
{
    return vidi__fail(VIDI_ELIMIT, "a piece needs %llu bytes here; allow larger pieces", (unsigned long long)bytes);
}

/* ---- arrays of words ---- */

static bool is_zero(const uint64_t *words, uint64_t count)
{
    uint64_t any = 0;
    for (uint64_t i = 0; i < count; i++)
        any |= words[i];
    return !any;
}

/* An array, in lines; the last one may be shorter. */
typedef struct line_array {
    const uint64_t *words;  /* NULL if the array is lazy */
    const vidi__lazy *lazy; /* its pieces are whole lines */
    uint64_t count, lines;
} line_array;

static const uint64_t *words_at(const line_array *array, uint64_t word)
{
    return array->words ? array->words + word : vidi__lazy_at(array->lazy, word);
}

static uint64_t words_before(const line_array *array, uint64_t line)
{
    return line < array->lines ? line * LINE_WORDS : array->count;
}

static bool line_is_zero(const line_array *array, uint64_t line)
{
    uint64_t first = words_before(array, line);
    return is_zero(words_at(array, first), words_before(array, line + 1) - first);
}

/* Where the stretch that begins at `line` ends: before a gap, or after `most` lines. */
static uint64_t stretch_end(const line_array *array, uint64_t line, uint64_t most)
{
    uint64_t limit = array->lines - line < most ? array->lines : line + most, end = line;
    for (uint64_t zeros = 0; line < limit && zeros < GAP_LINES; line++) {
        zeros = line_is_zero(array, line) ? zeros + 1 : 0;
        end = zeros ? end : line + 1;
    }
    return end;
}

static int write_stretch(const line_array *array, uint64_t line, uint64_t end, vidi__writer *writer)
{
    uint64_t first = words_before(array, line), count = words_before(array, end) - first;
    VIDI__TRY(vidi__write_u64(writer, first));
    VIDI__TRY(vidi__write_u64(writer, count));
    for (uint64_t to = first + count, part; first < to; first += part) {
        part = array->words ? to - first : vidi__lazy_span(array->lazy, first);
        if (part > to - first)
            part = to - first;
        VIDI__TRY(vidi__write_words(writer, words_at(array, first), part));
    }
    return VIDI_OK;
}

/* Writes as many stretches as there is room for, from this line on; *line becomes the first that was not written. */
static int write_stretches(const line_array *array, uint64_t *line, uint64_t room, vidi__writer *writer)
{
    uint64_t end = writer->at + room, zeros = 0;
    while (*line < array->lines && zeros < SCAN_LINES) {
        if (line_is_zero(array, *line)) {
            ++*line;
            zeros++;
            continue;
        }
        uint64_t left = end - writer->at;
        uint64_t to = stretch_end(array, *line, left > STRETCH_HEAD ? (left - STRETCH_HEAD) / VIDI__CACHE_LINE : 0);
        if (to == *line)
            break;
        VIDI__TRY(write_stretch(array, *line, to, writer));
        *line = to;
    }
    return VIDI_OK;
}

int vidi__words_save_run(const uint64_t *words, const vidi__lazy *lazy, uint64_t count, vidi__run_out *run)
{
    const line_array array = {words, lazy, count, count / LINE_WORDS + (count % LINE_WORDS != 0)};
    const uint64_t frame = 2 * 8, least = frame + STRETCH_HEAD + VIDI__CACHE_LINE;
    uint64_t line = run->at;
    if (array.lines >= vidi__run_end(run))
        return vidi__fail(VIDI_ECANNOT, "an array of %llu lines is too large for pieces",
                          (unsigned long long)array.lines);
    if (line > array.lines)
        return vidi__run_position_unknown();
    if (run->room < least)
        return vidi__run_too_large(least);
    VIDI__TRY(vidi__write_u64(run->writer, count));
    VIDI__TRY(write_stretches(&array, &line, run->room - frame, run->writer));
    run->at = line < array.lines ? line : vidi__run_end(run);
    return vidi__write_u64(run->writer, NO_MORE);
}

int vidi__words_load_run(uint64_t count, vidi__run_in *run, vidi__words_take *take, void *context)
{
    uint64_t given, first, more, next = 0;
    VIDI__TRY(vidi__read_u64(run->reader, &given));
    if (given != count)
        return vidi__damaged("an array has another size than the set's");
    for (;;) {
        const unsigned char *words;
        VIDI__TRY(vidi__read_u64(run->reader, &first));
        if (first == NO_MORE)
            return VIDI_OK;
        VIDI__TRY(vidi__read_u64(run->reader, &more));
        if (first < next || first > count || more > count - first)
            return vidi__damaged("a stretch is outside of its array");
        VIDI__TRY(vidi__lend(run->reader, more * 8, &words));
        VIDI__TRY(take(context, first, words, more, run->apply));
        next = first + more;
    }
}

/* ---- bit arrays ---- */

int vidi__bitmap_save_run(const vidi__bitmap *bitmap, vidi__run_out *run)
{
    return vidi__words_save_run(bitmap->words, &bitmap->lazy, vidi__bitmap_words(bitmap->m), run);
}

static int take_bits(void *context, uint64_t first, const unsigned char *words, uint64_t count, bool apply)
{
    vidi__bitmap *bitmap = context;
    uint64_t last = vidi__bitmap_words(bitmap->m) - 1;
    if (!apply) {
        bool ends = count && first + count - 1 == last;
        if (ends && vidi__load64(words + 8 * (count - 1)) & ~vidi__bitmap_last_bits(bitmap->m))
            return vidi__damaged("bits are set beyond the end of an array");
        return vidi__bitmap_is_lazy(bitmap) ? vidi__lazy_touch_range(&bitmap->lazy, first, count) : VIDI_OK;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t *word = vidi__bitmap_word(bitmap, first + i), fresh = vidi__load64(words + 8 * i) & ~*word;
        *word |= fresh;
        bitmap->ones += (uint64_t)__builtin_popcountll(fresh);
    }
    return VIDI_OK;
}

int vidi__bitmap_load_run(vidi__bitmap *bitmap, vidi__run_in *run)
{
    return vidi__words_load_run(vidi__bitmap_words(bitmap->m), run, take_bits, bitmap);
}

int vidi__bitmaps_save_run(const vidi__bitmap *const *bitmaps, unsigned count, vidi__run_out *run)
{
    uint64_t index;
    vidi__run_out inner = vidi__run_part(run, VIDI__ARRAY_BITS, &index);
    if (index >= count)
        return vidi__run_position_unknown();
    VIDI__TRY(vidi__write_u64(run->writer, index));
    inner.room -= 8;
    VIDI__TRY(vidi__bitmap_save_run(bitmaps[index], &inner));
    vidi__run_part_done(run, &inner, index, count);
    return VIDI_OK;
}

int vidi__bitmaps_load_run(vidi__bitmap *const *bitmaps, unsigned count, vidi__run_in *run)
{
    uint64_t index;
    VIDI__TRY(vidi__read_u64(run->reader, &index));
    if (index >= count)
        return vidi__damaged("there is no such array");
    return vidi__bitmap_load_run(bitmaps[index], run);
}

/* ---- filters ---- */

#define TAIL 16

int vidi__filter_save_run(const vidi__filter *filter, vidi__run_out *run)
{
    run->room -= TAIL;
    VIDI__TRY(filter->kind->save_run(filter, run));
    VIDI__TRY(vidi__write_u64(run->writer, vidi__run_ended(run)));
    return vidi__write_u64(run->writer, vidi__filter_count(filter));
}

/* Kinds that cannot count what they get take over the count when they have got everything. */
int vidi__filter_load_run(vidi__filter *filter, vidi__run_in *run)
{
    uint64_t ended, count;
    run->counted = false;
    VIDI__TRY(filter->kind->load_run(filter, run));
    bool counted = run->counted;
    run->counted = false;
    VIDI__TRY(vidi__read_u64(run->reader, &ended));
    VIDI__TRY(vidi__read_u64(run->reader, &count));
    if (ended > 1 || count > VIDI__CAPACITY_MAX)
        return vidi__damaged("the end of a run is out of range");
    if (run->apply && ended && !counted)
        vidi__filter_add_count(filter, (int64_t)count);
    return VIDI_OK;
}
