/* Runs programs on URLs. See genetic.h. */
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/thesis/genetic.h"

static uint64_t rotate(uint64_t value, unsigned shift)
{
    return value << shift | value >> (64 - shift);
}

/* Little-endian, as all machines that vidi runs on. */
static uint64_t word_at(vidi_str url, size_t word)
{
    uint64_t value = 0;
    size_t left = url.len - word * 8;
    if (left >= 8)
        memcpy(&value, url.ptr + word * 8, 8);
    else
        memcpy(&value, url.ptr + word * 8, left);
    return value;
}

static uint64_t do_step(const lab_step *step, uint64_t h, uint64_t w)
{
    switch (step->operation) {
    case LAB_XOR_WORD:
        return h ^ w;
    case LAB_ADD_WORD:
        return h + w;
    case LAB_MULTIPLY:
        return h * (step->constant | 1);
    case LAB_XOR_NUMBER:
        return h ^ step->constant;
    case LAB_ADD_NUMBER:
        return h + step->constant;
    case LAB_ROTATE:
        return rotate(h, step->shift);
    case LAB_XOR_SHIFTED:
        return h ^ h >> step->shift;
    case LAB_ADD_SHIFTED:
        return h + (h << step->shift);
    case LAB_OPERATIONS:
        break;
    }
    return h;
}

static size_t words_of(vidi_str url)
{
    return (url.len + 7) / 8;
}

uint64_t lab_program_value(const lab_program *program, uint64_t salt, vidi_str url)
{
    uint64_t h = salt;
    size_t words = words_of(url);
    for (size_t i = 0; i <= words; i++)
        for (unsigned j = 0; j < program->count; j++)
            h = do_step(&program->steps[j], h, i < words ? word_at(url, i) : url.len);
    return h;
}

/* One step for n URLs: the operation is chosen once and not for each URL. */
static void do_steps(const lab_step *step, uint64_t *h, const uint64_t *w, size_t n)
{
#define FOR_ALL(expression)                                                                                            \
    for (size_t i = 0; i < n; i++)                                                                                     \
        (void)(expression);                                                                                            \
    break
    const uint64_t constant = step->constant;
    const unsigned shift = step->shift;
    switch (step->operation) {
    case LAB_XOR_WORD:
        FOR_ALL(h[i] ^= w[i]);
    case LAB_ADD_WORD:
        FOR_ALL(h[i] += w[i]);
    case LAB_MULTIPLY:
        FOR_ALL(h[i] *= constant | 1);
    case LAB_XOR_NUMBER:
        FOR_ALL(h[i] ^= constant);
    case LAB_ADD_NUMBER:
        FOR_ALL(h[i] += constant);
    case LAB_ROTATE:
        FOR_ALL(h[i] = rotate(h[i], shift));
    case LAB_XOR_SHIFTED:
        FOR_ALL(h[i] ^= h[i] >> shift);
    case LAB_ADD_SHIFTED:
        FOR_ALL(h[i] += h[i] << shift);
    case LAB_OPERATIONS:
        break;
    }
#undef FOR_ALL
}

static int make_room(lab_words *words, const vidi_str *urls, size_t count)
{
    size_t all = 0;
    for (size_t i = 0; i < count; i++) {
        all += words_of(urls[i]);
        words->most = words_of(urls[i]) > words->most ? words_of(urls[i]) : words->most;
    }
    LAB_TRY(LAB_NEW(words->index, count));
    LAB_TRY(LAB_NEW(words->starts, words->most + 2));
    LAB_TRY(LAB_NEW(words->columns, words->most + 2));
    LAB_TRY(LAB_NEW(words->words, all));
    LAB_TRY(LAB_NEW(words->lengths, count));
    return LAB_NEW(words->states, count);
}

/* Fills in starts and columns. Placing URLs advances the starts, which are restored at the end. */
static void place(lab_words *words, const vidi_str *urls)
{
    for (size_t i = 0; i < words->count; i++)
        words->starts[words_of(urls[i]) + 1]++;
    for (size_t i = 1; i <= words->most + 1; i++) {
        size_t before = words->starts[i];
        words->columns[i] = words->columns[i - 1] + before * (i - 1);
        words->starts[i] += words->starts[i - 1];
    }
    for (size_t i = 0; i < words->count; i++)
        words->index[words->starts[words_of(urls[i])]++] = i;
    for (size_t i = words->most + 1; i > 0; i--)
        words->starts[i] = words->starts[i - 1];
    words->starts[0] = 0;
}

int lab_words_make(lab_words *words, const vidi_str *urls, size_t count)
{
    *words = (lab_words){.count = count};
    LAB_TRY(make_room(words, urls, count));
    place(words, urls);
    for (size_t length = 0; length <= words->most; length++) {
        size_t first = words->starts[length], n = words->starts[length + 1] - first;
        for (size_t i = 0; i < n; i++) {
            vidi_str url = urls[words->index[first + i]];
            words->lengths[first + i] = url.len;
            for (size_t word = 0; word < length; word++)
                words->words[words->columns[length] + word * n + i] = word_at(url, word);
        }
    }
    return VIDI_OK;
}

void lab_program_values(const lab_program *program, uint64_t salt, lab_words *words, uint64_t *values)
{
    for (size_t i = 0; i < words->count; i++)
        words->states[i] = salt;
    for (size_t length = 0; length <= words->most; length++) {
        size_t first = words->starts[length], n = words->starts[length + 1] - first;
        for (size_t word = 0; word <= length && n > 0; word++) {
            const uint64_t *w =
                word < length ? words->words + words->columns[length] + word * n : words->lengths + first;
            for (unsigned i = 0; i < program->count; i++)
                do_steps(&program->steps[i], words->states + first, w, n);
        }
    }
    for (size_t i = 0; i < words->count; i++)
        values[words->index[i]] = words->states[i];
}
