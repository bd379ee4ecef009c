/*
 * Scans for the next byte of a URL that needs work, 16 bytes at a time where the machine has SSE2.
 *
 * A block is compared with all bytes in question. That gives a mask with a bit for each byte of the block; the lowest
 * set bit is the answer. The last block overlaps the one before, whose bytes are known to need no work. Text shorter
 * than a block is put together from smaller loads and padded with zeros. Nothing outside the text is read.
 */
#include "url/parse/percent.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

size_t vidi__url_run_portable(const char *text, size_t len, unsigned set)
{
    size_t i = 0;
    while (i < len && !vidi__in_set(text[i], set))
        i++;
    return i;
}

#if defined(__SSE2__)

#define LANES 16

/* ---- blocks ---- */

static inline __m128i load(const char *text)
{
    return _mm_loadu_si128((const __m128i *)(const void *)text);
}

static inline uint64_t load_word(const char *text, size_t bytes)
{
    uint64_t word = 0;
    memcpy(&word, text, bytes);
    return word;
}

/* Loads fewer bytes than a block has, at least one, padded with zeros. */
static inline __m128i load_short(const char *text, size_t len)
{
    if (len >= 8) {
        uint64_t end = load_word(text + len - 8, 8); /* overlaps the first 8 bytes; the shift removes them */
        return _mm_set_epi64x((long long)(end >> 8 * (15 - len) >> 8), (long long)load_word(text, 8));
    }
    if (len >= 4)
        return _mm_cvtsi64_si128((long long)(load_word(text, 4) | load_word(text + len - 4, 4) << 8 * (len - 4)));
    uint64_t first = (unsigned char)text[0], middle = (unsigned char)text[len / 2], last = (unsigned char)text[len - 1];
    return _mm_cvtsi64_si128((long long)(first | middle << 8 * (len / 2) | last << 8 * (len - 1)));
}

static inline __m128i equal(__m128i c, char value)
{
    return _mm_cmpeq_epi8(c, _mm_set1_epi8(value));
}

/* Bytes that are `value` when the bits of `ignored` are cleared in them: two or more compared at once. */
static inline __m128i equal_but(__m128i c, char ignored, char value)
{
    return equal(_mm_andnot_si128(_mm_set1_epi8(ignored), c), value);
}

/* Bytes from `first` to `last`, compared unsigned. */
static inline __m128i between(__m128i c, char first, char last)
{
    __m128i from = _mm_sub_epi8(c, _mm_set1_epi8(first));
    return _mm_cmpeq_epi8(_mm_min_epu8(from, _mm_set1_epi8((char)(last - first))), from);
}

static inline unsigned bits(__m128i c)
{
    return (unsigned)_mm_movemask_epi8(c);
}

/* ---- sets ---- */

/* Bytes that are in the set. The comparison is signed, so "below 0x21" includes bytes from 0x80 on. */
static inline __m128i members(__m128i c, unsigned set)
{
    __m128i delete = equal(c, 0x7f);
    if (set == VIDI__SET_C0)
        return _mm_or_si128(_mm_cmplt_epi8(c, _mm_set1_epi8(0x20)), delete);
    __m128i in = _mm_or_si128(_mm_cmplt_epi8(c, _mm_set1_epi8(0x21)), equal(c, '"'));
    in = _mm_or_si128(in, equal_but(c, '<' ^ '>', '<'));
    if (set == VIDI__SET_FRAGMENT)
        return _mm_or_si128(in, _mm_or_si128(delete, equal(c, '`')));
    in = _mm_or_si128(in, equal(c, '#'));
    if (set == VIDI__SET_QUERY)
        return _mm_or_si128(in, delete);
    if (set == VIDI__SET_SPECIAL_QUERY)
        return _mm_or_si128(in, _mm_or_si128(delete, equal(c, '\'')));
    in = _mm_or_si128(in, _mm_or_si128(equal(c, '?'), equal_but(c, '}' ^ 0x7f, '}')));
    return _mm_or_si128(in, _mm_or_si128(equal(c, '{'), _mm_or_si128(equal(c, '^'), equal(c, '`'))));
}

/* `set` is a constant in each call below, so the compiler makes a loop for each set. */
static inline size_t run_vector(const char *text, size_t len, unsigned set)
{
    if (len < LANES) {
        unsigned end = 1u << len;
        return len ? (size_t)__builtin_ctz(bits(members(load_short(text, len), set)) | end) : 0;
    }
    for (size_t i = 0; i < len; i += LANES) {
        size_t at = i + LANES <= len ? i : len - LANES; /* the last block overlaps bytes known to need no work */
        unsigned found = bits(members(load(text + at), set));
        if (found)
            return at + (size_t)__builtin_ctz(found);
    }
    return len;
}

size_t vidi__url_run(const char *text, size_t len, unsigned set)
{
    switch (set) {
    case VIDI__SET_C0:
        return run_vector(text, len, VIDI__SET_C0);
    case VIDI__SET_FRAGMENT:
        return run_vector(text, len, VIDI__SET_FRAGMENT);
    case VIDI__SET_QUERY:
        return run_vector(text, len, VIDI__SET_QUERY);
    case VIDI__SET_SPECIAL_QUERY:
        return run_vector(text, len, VIDI__SET_SPECIAL_QUERY);
    case VIDI__SET_PATH:
        return run_vector(text, len, VIDI__SET_PATH);
    default:
        return vidi__url_run_portable(text, len, set);
    }
}

/* ---- paths ---- */

/* A bit for each byte of a path that cannot just be copied. begins: the first byte follows a slash. */
static inline unsigned path_work(__m128i c, char other, bool begins)
{
    unsigned segments = bits(equal(c, '/')) << 1 | begins;
    unsigned dots = bits(_mm_or_si128(equal(c, '.'), equal(c, '%')));
    return bits(_mm_or_si128(members(c, VIDI__SET_PATH), equal(c, other))) | (dots & segments);
}

size_t vidi__url_path_run(const char *text, size_t len, char other)
{
    if (len < LANES) {
        unsigned end = 1u << len;
        return len ? (size_t)__builtin_ctz(path_work(load_short(text, len), other, false) | end) : 0;
    }
    for (size_t i = 0; i < len; i += LANES) {
        size_t at = i + LANES <= len ? i : len - LANES;
        unsigned found = path_work(load(text + at), other, at && text[at - 1] == '/');
        if (found)
            return at + (size_t)__builtin_ctz(found);
    }
    return len;
}

/* A bit for each byte that a rule of crawl may change. */
static inline unsigned crawl_work(__m128i c, bool path, bool behind_slash)
{
    unsigned found = bits(equal(c, '%'));
    if (!path)
        return found;
    unsigned slashes = bits(equal(c, '/'));
    return found | bits(_mm_or_si128(equal(c, ';'), equal(c, '('))) | (slashes & (slashes << 1 | behind_slash));
}

size_t vidi__url_crawl_run(const char *text, size_t len, bool path)
{
    if (len < LANES) {
        unsigned end = 1u << len;
        return len ? (size_t)__builtin_ctz(crawl_work(load_short(text, len), path, false) | end) : 0;
    }
    for (size_t i = 0; i < len; i += LANES) {
        size_t at = i + LANES <= len ? i : len - LANES;
        unsigned found = crawl_work(load(text + at), path, at && text[at - 1] == '/');
        if (found)
            return at + (size_t)__builtin_ctz(found);
    }
    return len;
}

/* ---- domains ---- */

size_t vidi__url_copy_domain(char *to, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i += LANES) {
        __m128i c = len - i < LANES ? load_short(text + i, len - i) : load(text + i);
        c = _mm_or_si128(c, _mm_and_si128(between(c, 'A', 'Z'), _mm_set1_epi8(0x20)));
        __m128i good = _mm_or_si128(between(c, 'a', 'z'), _mm_andnot_si128(equal(c, '/'), between(c, '-', '9')));
        unsigned others = bits(_mm_or_si128(good, equal(c, '_'))) ^ 0xffff; /* includes the zeros past the end */
        _mm_storeu_si128((__m128i *)(void *)(to + i), c);
        if (others)
            return i + (size_t)__builtin_ctz(others);
    }
    return len;
}

#else

size_t vidi__url_run(const char *text, size_t len, unsigned set)
{
    return vidi__url_run_portable(text, len, set);
}

size_t vidi__url_path_run(const char *text, size_t len, char other)
{
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool begins = i && text[i - 1] == '/';
        if (vidi__in_set(c, VIDI__SET_PATH) || c == other || (begins && (c == '.' || c == '%')))
            return i;
    }
    return len;
}

size_t vidi__url_crawl_run(const char *text, size_t len, bool path)
{
    size_t i = 0;
    while (i < len && text[i] != '%' &&
           !(path && (text[i] == ';' || text[i] == '(' || (text[i] == '/' && i && text[i - 1] == '/'))))
        i++;
    return i;
}

size_t vidi__url_copy_domain(char *to, const char *text, size_t len)
{
    size_t i = 0;
    for (; i < len; i++) {
        char c = text[i];
        bool letter = vidi__is_alpha(c);
        if (!letter && !vidi__is_digit(c) && c != '-' && c != '.' && c != '_')
            break;
        to[i] = (char)(letter ? c | 0x20 : c);
    }
    return i;
}

#endif

/* ---- characters ---- */

size_t vidi__url_find2(const char *text, size_t len, char a, char b)
{
#if defined(__SSE2__)
    for (size_t i = 0; i < len; i += LANES) {
        size_t left = len - i;
        __m128i c = left < LANES ? load_short(text + i, left) : load(text + i);
        unsigned found = bits(_mm_or_si128(equal(c, a), equal(c, b)));
        if (found) /* it may be one of the zeros past the end */
            return i + ((size_t)__builtin_ctz(found) < left ? (size_t)__builtin_ctz(found) : left);
    }
    return len;
#else
    size_t i = 0;
    while (i < len && text[i] != a && text[i] != b)
        i++;
    return i;
#endif
}

/* Notes the '?', '#', tab or newline at a position. */
static void note_cut(vidi__url_cuts *cuts, char c, size_t at, size_t len)
{
    if (c == '#' && cuts->fragment == len)
        cuts->fragment = at;
    else if (c == '?' && cuts->query == len && cuts->fragment == len)
        cuts->query = at;
    else if (c == '\t' || c == '\n' || c == '\r')
        cuts->tabs = true;
}

vidi__url_cuts vidi__url_cut(const char *text, size_t len)
{
    vidi__url_cuts cuts = {len, len, false};
    size_t i = 0;
#if defined(__SSE2__)
    for (; len >= LANES && i < len; i += LANES) {
        size_t from = i + LANES <= len ? i : len - LANES; /* the last block overlaps; noting a byte twice is harmless */
        __m128i c = load(text + from);
        __m128i in = _mm_or_si128(equal(c, '?'), equal(c, '#'));
        in = _mm_or_si128(in, _mm_or_si128(equal(c, '\t'), _mm_or_si128(equal(c, '\n'), equal(c, '\r'))));
        for (unsigned found = bits(in); found; found &= found - 1) {
            size_t at = from + (size_t)__builtin_ctz(found);
            note_cut(&cuts, text[at], at, len);
        }
    }
#endif
    for (; i < len; i++)
        note_cut(&cuts, text[i], i, len);
    return cuts;
}
