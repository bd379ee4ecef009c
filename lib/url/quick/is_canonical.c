/*
 * Recognises URLs that are canonical already: the parts of the scan that go byte by byte, the portable kernel, and the
 * choice of a kernel. is_canonical_kernel.h explains the scan.
 */
#include <stdatomic.h>

#include "cpu/cpu.h"
#include "url/quick/is_canonical_kernel.h"
#include "url/parse/percent.h"
#include "url/parse/url.h"

/* ---- unusual authorities and segments ---- */

/* Returns true if the host is an IPv4 address as the parser writes it, four decimal numbers. */
static bool is_plain_ipv4(vidi_str host)
{
    size_t i = 0;
    for (int numbers = 0; numbers < 4; numbers++) {
        size_t begin = i += numbers > 0;
        unsigned value = 0;
        while (i < host.len && i - begin < 3 && vidi__is_digit(host.ptr[i]))
            value = value * 10 + (unsigned)(host.ptr[i++] - '0');
        if (i == begin || value > 255 || (host.ptr[begin] == '0' && i - begin > 1))
            return false;
        if (numbers < 3 && (i == host.len || host.ptr[i] != '.'))
            return false;
    }
    return i == host.len;
}

/* The end of the port whose digits begin at `begin`; 0 if the parser would change or remove it. */
static size_t port_end(vidi_str url, size_t begin, uint32_t usual)
{
    uint32_t port = 0;
    size_t i = begin;
    while (i < url.len && i - begin < 6 && vidi__is_digit(url.ptr[i]))
        port = port * 10 + (uint32_t)(url.ptr[i++] - '0');
    bool canonical = i > begin && port <= 65535 && port != usual && (url.ptr[begin] != '0' || i == begin + 1);
    return canonical ? i : 0;
}

size_t vidi__url_fast_authority(vidi_str url, size_t host)
{
    size_t end = host;
    while (end < url.len && (vidi__in_set(url.ptr[end], VIDI__SET_SCHEME) || url.ptr[end] == '_') &&
           !vidi__in_set(url.ptr[end], VIDI__SET_NOT_PLAIN))
        end++;
    vidi_str name = {url.ptr + host, end - host};
    if (!name.len || (vidi__url_ends_in_number(name) && !is_plain_ipv4(name)))
        return 0;
    if (end < url.len && url.ptr[end] == ':')
        end = port_end(url, end + 1, host == 7 ? 80 : 443);
    return end && end < url.len && url.ptr[end] == '/' ? end : 0;
}

bool vidi__url_fast_dots(vidi_str url, size_t begin)
{
    const size_t longest = 6; /* "%2e%2e" */
    size_t end = begin;
    while (end < url.len && url.ptr[end] != '/' && url.ptr[end] != '?')
        if (++end - begin > longest)
            return false;
    return vidi__url_dots((vidi_str){url.ptr + begin, end - begin}) > 0;
}

/* ---- the portable kernel ---- */

/* The members of `masks` as bits of `classes`; tests/url/test_is_canonical.c compares them with the parser. */
enum { HOST, SLASH, QUESTION, DOTS, BAD_PATH, BAD_QUERY };

/* clang-format off */
static const unsigned char classes[256] = {
    0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, /* 00 */
    0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, /* 10 */
    0x30, 0x00, 0x30, 0x30, 0x00, 0x08, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x09, 0x02, /* 20 */
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x00, 0x00, 0x30, 0x00, 0x30, 0x04, /* 30 */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, /* 40 */
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x10, 0x01, /* 50 */
    0x10, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, /* 60 */
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x10, 0x00, 0x10, 0x00, 0x30, /* 70 */
    0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, /* 80 */
    0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, /* 90 */
    0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, /* a0 */
    0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, /* b0 */
    0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, /* c0 */
    0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, /* d0 */
    0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, /* e0 */
    0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, /* f0 */
};
/* clang-format on */

/* Collects bit n of each of the eight bytes of a word: the product moves them into its highest byte. */
static inline uint64_t gather(uint64_t bytes, int n)
{
    return ((bytes >> n & UINT64_C(0x0101010101010101)) * UINT64_C(0x0102040810204080)) >> 56;
}

static inline masks classify(const char *text, size_t len, size_t from)
{
    masks m = {0};
    size_t count = len - from < BLOCK ? len - from : BLOCK;
    for (size_t i = 0; i < count; i += 8) {
        uint64_t bytes = 0;
        for (size_t j = 0; j < 8 && i + j < count; j++)
            bytes |= (uint64_t)classes[(unsigned char)text[from + i + j]] << 8 * j;
        m.host |= gather(bytes, HOST) << i;
        m.slash |= gather(bytes, SLASH) << i;
        m.question |= gather(bytes, QUESTION) << i;
        m.dots |= gather(bytes, DOTS) << i;
        m.bad_path |= gather(bytes, BAD_PATH) << i;
        m.bad_query |= gather(bytes, BAD_QUERY) << i;
    }
    return m;
}

#define INLINE static inline
#define TARGET
#define LEAST 0
#define SPAN 0
#define SCAN vidi__url_is_canonical_portable
#define COUNT vidi__url_count_canonical_portable
#include "url/quick/is_canonical_kernel.h" /* NOLINT(readability-duplicate-include): the first time without SCAN */

/* ---- plain URLs ---- */

#define TWICE(...)                                                                                                     \
    {                                                                                                                  \
        __VA_ARGS__, __VA_ARGS__                                                                                       \
    }
#define EIGHT(c) c, c, c, c, c, c, c, c
#define BYTES(c)                                                                                                       \
    {                                                                                                                  \
        EIGHT(c), EIGHT(c), EIGHT(c), EIGHT(c)                                                                         \
    }

const vidi__url_plain_tables vidi__url_plain = {
    .rows = TWICE(VIDI__FAST_ROWS),
    .not_plain = TWICE(0x47, 0x03, 0x07, 0x07, 0x03, 0x07, 0x03, 0x03, 0x03, 0x03, 0x03, (char)0x83, 0x2b, (char)0x83,
                       0x2b, (char)0x8b),
    .host = TWICE(VIDI__FAST_HOST),
    .low_half = BYTES(15),
    .slash = BYTES('/'),
    .dot = BYTES('.'),
};

/* ---- the choice ---- */

typedef bool scan_fn(vidi_str url);

static scan_fn *choose(void)
{
#if defined(__x86_64__)
    switch (vidi__cpu()) {
    case VIDI__CPU_AVX512:
        return vidi__url_is_canonical_alone_avx512;
    case VIDI__CPU_AVX2:
        return vidi__url_is_canonical_alone_avx2;
    case VIDI__CPU_SSE2:
        return vidi__url_is_canonical_sse2;
    default:
        break;
    }
#elif defined(__aarch64__)
    if (vidi__cpu() == VIDI__CPU_NEON)
        return vidi__url_is_canonical_neon;
#endif
    return vidi__url_is_canonical_portable;
}

static scan_fn choose_and_scan;
static _Atomic(scan_fn *) chosen = choose_and_scan; /* threads that get here at the same time choose the same */

static bool choose_and_scan(vidi_str url)
{
    scan_fn *scan = choose();
    atomic_store_explicit(&chosen, scan, memory_order_relaxed);
    return scan(url);
}

bool vidi__url_is_canonical(vidi_str url)
{
    return atomic_load_explicit(&chosen, memory_order_relaxed)(url);
}

size_t vidi__url_count_canonical(const vidi_str *urls, size_t n)
{
#if defined(__x86_64__)
    switch (vidi__cpu()) {
    case VIDI__CPU_AVX512:
        return vidi__url_count_canonical_avx512(urls, n);
    case VIDI__CPU_AVX2:
        return vidi__url_count_canonical_avx2(urls, n);
    case VIDI__CPU_SSE2:
        return vidi__url_count_canonical_sse2(urls, n);
    default:
        break;
    }
#elif defined(__aarch64__)
    if (vidi__cpu() == VIDI__CPU_NEON)
        return vidi__url_count_canonical_neon(urls, n);
#endif
    return vidi__url_count_canonical_portable(urls, n);
}

int vidi__url_whatwg(vidi_str url, vidi__buffer *room, vidi_str *out)
{
    if (VIDI__LIKELY(vidi__url_is_canonical(url))) {
        *out = url;
        return VIDI_OK;
    }
    vidi__url parsed;
    *out = (vidi_str){NULL, 0};
    VIDI__TRY(vidi__url_parse(&parsed, url, NULL, true, room));
    *out = (vidi_str){parsed.text, parsed.query_end};
    return VIDI_OK;
}
