/* Sets of characters as a table, the scans over them, UTF-8 and percent-encoding. */
#include "url/percent.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Made from the standard's definitions, which tests/url/test_percent.c spells out. */
const uint16_t vidi__url_sets[256] = {
    0x1ff, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf,
    0x1bf, 0x1ff, 0x1ff, 0x1bf, 0x1bf, 0x1ff, 0x1bf, 0x1bf, /* 00 */
    0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf,
    0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, 0x1bf, /* 10 */
    0x1fe, 0x000, 0x03e, 0x1fc, 0x000, 0x180, 0x000, 0x008,
    0x000, 0x000, 0x000, 0x200, 0x000, 0x200, 0x200, 0x1e0, /* 20 */
    0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200,
    0x200, 0x200, 0x1e0, 0x020, 0x1fe, 0x020, 0x1fe, 0x1f0, /* 30 */
    0x1e0, 0x300, 0x300, 0x300, 0x300, 0x300, 0x300, 0x300,
    0x300, 0x300, 0x300, 0x300, 0x300, 0x300, 0x300, 0x300, /* 40 */
    0x300, 0x300, 0x300, 0x300, 0x300, 0x300, 0x300, 0x300,
    0x300, 0x300, 0x300, 0x1e0, 0x1e0, 0x1e0, 0x1f0, 0x000, /* 50 */
    0x032, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200,
    0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200, /* 60 */
    0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200, 0x200,
    0x200, 0x200, 0x200, 0x030, 0x1e0, 0x030, 0x000, 0x1bf, /* 70 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* 80 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* 90 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* a0 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* b0 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* c0 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* d0 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* e0 */
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f,
    0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, 0x13f, /* f0 */
};

size_t vidi__url_run_portable(const char *text, size_t len, unsigned set)
{
    size_t i = 0;
    while (i < len && !vidi__in_set(text[i], set))
        i++;
    return i;
}

#if defined(__SSE2__)

#define LANES 16

static inline __m128i load(const char *text)
{
    return _mm_loadu_si128((const __m128i *)(const void *)text);
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

static inline unsigned bits(__m128i c)
{
    return (unsigned)_mm_movemask_epi8(c);
}

/*
 * A bit for each of 16 bytes that is in the set. The comparison is signed, so that "below 0x21" also has what is from
 * 0x80 on.
 */
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

/* `set` is a constant in each call below, so that there is a loop of its own for each. */
static inline size_t run_vector(const char *text, size_t len, unsigned set)
{
    if (len < LANES)
        return vidi__url_run_portable(text, len, set);
    for (size_t i = 0; i < len; i += LANES) {
        size_t at = i + LANES <= len ? i : len - LANES; /* the last ones overlap what is known to be clean */
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

#else

size_t vidi__url_run(const char *text, size_t len, unsigned set)
{
    return vidi__url_run_portable(text, len, set);
}

#endif

size_t vidi__url_find2(const char *text, size_t len, char a, char b)
{
    size_t i = 0;
#if defined(__SSE2__)
    for (; len - i >= LANES; i += LANES) {
        __m128i c = load(text + i);
        unsigned found = bits(_mm_or_si128(equal(c, a), equal(c, b)));
        if (found)
            return i + (size_t)__builtin_ctz(found);
    }
#endif
    while (i < len && text[i] != a && text[i] != b)
        i++;
    return i;
}

/* Notes what is at a place that has '?', '#', a tab or a newline. */
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
        size_t from = i + LANES <= len ? i : len - LANES; /* the last ones overlap: noting a place twice is no harm */
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

bool vidi__url_path_is_plain(const char *text, size_t len)
{
    size_t i = 0;
#if defined(__SSE2__)
    for (; len >= LANES && i < len; i += LANES) {
        size_t from = i + LANES <= len ? i : len - LANES;
        __m128i c = load(text + from);
        unsigned begins = bits(equal(c, '/')) << 1 | (from == 0 || text[from - 1] == '/'); /* segments */
        unsigned dots = bits(_mm_or_si128(equal(c, '.'), equal(c, '%')));
        if (bits(_mm_or_si128(members(c, VIDI__SET_PATH), equal(c, '\\'))) | (dots & begins))
            return false;
    }
#endif
    for (; i < len; i++) {
        char c = text[i];
        bool begins = i == 0 || text[i - 1] == '/';
        if (vidi__in_set(c, VIDI__SET_PATH) || c == '\\' || (begins && (c == '.' || c == '%')))
            return false;
    }
    return true;
}

/* The bytes that may follow a first byte, and how many do in all; 0 for what begins no sequence. */
static size_t utf8_length(unsigned char first, unsigned char *low, unsigned char *high)
{
    *low = 0x80;
    *high = 0xbf;
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    if (first < 0xe0)
        return 2;
    if (first == 0xe0)
        *low = 0xa0; /* shorter forms exist for what is below */
    if (first == 0xed)
        *high = 0x9f; /* surrogates are above */
    if (first < 0xf0)
        return 3;
    if (first == 0xf0)
        *low = 0x90;
    if (first == 0xf4)
        *high = 0x8f; /* U+10FFFF is the last one */
    return 4;
}

size_t vidi__utf8_next(const char *text, size_t len, bool *valid)
{
    unsigned char low, high;
    size_t want = utf8_length((unsigned char)text[0], &low, &high), have = 1;
    while (have < want && have < len) {
        unsigned char c = (unsigned char)text[have];
        if (c < low || c > high)
            break;
        low = 0x80;
        high = 0xbf;
        have++;
    }
    *valid = have == want;
    return have;
}

static void encode_bytes(vidi__buffer *out, const char *bytes, size_t len)
{
    static const char digits[] = "0123456789ABCDEF";
    if (!vidi__buffer_reserve(out, 3 * len))
        return;
    char *to = out->at + out->len;
    for (size_t i = 0; i < len; i++, to += 3) {
        unsigned char c = (unsigned char)bytes[i];
        to[0] = '%';
        to[1] = digits[c >> 4];
        to[2] = digits[c & 15];
    }
    out->len += 3 * len;
}

void vidi__percent_encode(vidi__buffer *out, const char *text, size_t len, unsigned set)
{
    while (len) {
        size_t run = vidi__url_run(text, len, set);
        vidi__buffer_add(out, text, run);
        text += run;
        len -= run;
        while (len && vidi__in_set(*text, set)) {
            bool valid;
            size_t bytes = vidi__utf8_next(text, len, &valid);
            if (valid)
                encode_bytes(out, text, bytes);
            else
                encode_bytes(out, "\xef\xbf\xbd", 3);
            text += bytes;
            len -= bytes;
        }
    }
}

void vidi__percent_decode(vidi__buffer *out, const char *text, size_t len)
{
    if (!vidi__buffer_reserve(out, len))
        return;
    char *to = out->at + out->len;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '%' && len - i > 2 && vidi__hex_value(text[i + 1]) < 16 && vidi__hex_value(text[i + 2]) < 16) {
            *to++ = (char)(vidi__hex_value(text[i + 1]) << 4 | vidi__hex_value(text[i + 2]));
            i += 2;
        } else {
            *to++ = text[i];
        }
    }
    out->len = (size_t)(to - out->at);
}
