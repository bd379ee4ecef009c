/*
 * The scan for canonical URLs against the parser: whatever it accepts, the parser gives back to the byte; all levels of
 * the processor say the same; nothing outside of the URL is read; and of real canonical URLs it accepts nearly all.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu/cpu.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "url/quick/is_canonical.h"
#include "url/parse/url.h"

#define ROOM 4096 /* a page: URLs lie at its end, and what follows must not be touched */

static char *page_end;

static int map_page(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (ROOM + page - 1) / page * page;
    char *at = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return -1;
    page_end = at + bytes;
    return mprotect(page_end, page, PROT_NONE);
}

static const struct level {
    vidi__cpu_level level;
    bool (*scan)(vidi_str url);
    size_t (*count)(const vidi_str *urls, size_t n);
} levels[] = {
    {VIDI__CPU_PORTABLE, vidi__url_is_canonical_portable, vidi__url_count_canonical_portable},
    {VIDI__CPU_PORTABLE, vidi__url_is_canonical, vidi__url_count_canonical},
#if defined(__x86_64__)
    {VIDI__CPU_SSE2, vidi__url_is_canonical_sse2, vidi__url_count_canonical_sse2},
    {VIDI__CPU_AVX2, vidi__url_is_canonical_avx2, vidi__url_count_canonical_avx2},
    {VIDI__CPU_AVX512, vidi__url_is_canonical_avx512, vidi__url_count_canonical_avx512},
    {VIDI__CPU_AVX2, vidi__url_is_canonical_alone_avx2, vidi__url_count_canonical_avx2},
    {VIDI__CPU_AVX512, vidi__url_is_canonical_alone_avx512, vidi__url_count_canonical_avx512},
#elif defined(__aarch64__)
    {VIDI__CPU_NEON, vidi__url_is_canonical_neon, vidi__url_count_canonical_neon},
#endif
};

/* Does the parser give the same bytes, and no fragment? */
static bool parser_says(vidi_str url)
{
    char room[4 * ROOM];
    vidi__memory memory;
    vidi__memory_init(&memory, NULL, SIZE_MAX / 2);
    vidi__buffer out = vidi__buffer_in(room, sizeof room, &memory);
    vidi__url parsed;
    bool same = vidi__url_parse(&parsed, url, NULL, false, &out) == VIDI_OK && parsed.query_end == url.len &&
                parsed.len == url.len && memcmp(parsed.text, url.ptr, url.len) == 0;
    vidi__buffer_free(&out);
    return same;
}

/* What all levels say of it, which must be no more than the parser does. */
static bool scan_says(vidi_str url)
{
    bool first = vidi__url_is_canonical_portable(url);
    for (size_t i = 0; i < VIDI__COUNT(levels); i++)
        if (vidi__cpu_has(levels[i].level))
            check(levels[i].scan(url) == first, "level %zu differs from the portable one on <%.*s>", i, (int)url.len,
                  url.ptr);
    check(!first || parser_says(url), "accepted, but the parser changes <%.*s>", (int)url.len, url.ptr);
    return first;
}

/* The URL moved to the end of the page, where it can be written to. */
static vidi_str at_end(const char *text, size_t len)
{
    memcpy(page_end - len, text, len);
    return (vidi_str){page_end - len, len};
}

static bool says(const char *text)
{
    return scan_says(at_end(text, strlen(text)));
}

static void canonical_ones_are_accepted(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "http://a/",
        "https://a/",
        "https://example.org/",
        "http://www.example.org/index.html",
        "https://a-b_c.example.co.uk/a/b/c.html?x=1&y=2",
        "http://example.org:8080/",
        "http://example.org:443/",
        "https://example.org:80/a?b",
        "https://example.org:0/",
        "https://example.org:65535/",
        "http://1.2.3.4/",
        "http://255.255.255.0:8000/a",
        "http://0.0.0.0/",
        "http://example.org./a",
        "http://1.2.3.4.example/",
        "http://9gag.com/",
        "http://163.com/",
        "http://xn--bcher-kva.example/",
        "http://example.0xg/",
        "http://e.org/?",
        "http://e.org/a//b///c",
        "http://e.org/.well-known/x",
        "http://e.org/...",
        "http://e.org/%2e%2e%2e/a",
        "http://e.org/%E3%81%82/%e3?%zz%",
        "http://e.org/a.b/..c/c../d.",
        "http://e.org/a?/../b/./c",
        "http://e.org/a?b?c=\\^`{}|[]",
        "http://e.org/a:b@c;d=e!$&'()*+,|[]~",
        "https://a-host-name-that-is-longer-than-one-block-of-sixty-four-bytes-would-be.example.org/a/b",
        "https://a-host-name-that-is-longer-than-one-block-of-sixty-four-bytes-would-be.example.org:81/?a",
    };
    for (size_t i = 0; i < VIDI__COUNT(urls); i++)
        check(says(urls[i]), "<%s> is not accepted", urls[i]);
}

static void others_are_not(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "",
        "http",
        "http://",
        "https://",
        "https:///",
        "http:///",
        "http:/a/",
        "HTTP://a/",
        "httpx://a/",
        "ftp://a/",
        "http://e.org",
        "http://e.org?a",
        "http://e.org:8",
        "http://E.org/",
        "http://e.org:80/",
        "https://e.org:443/",
        "http://e.org:/",
        "http://e.org:08/",
        "http://e.org:00/",
        "http://e.org:65536/",
        "http://e.org:655360/",
        "http://e.org:8a/",
        "http://u@e.org/",
        "http://1.2.3/",
        "http://1.2.3.4./",
        "http://1.2.3.04/",
        "http://1.2.3.256/",
        "http://1.2.3.4.5/",
        "http://0x7f.1/",
        "http://a.0x/",
        "http://a.0xf/",
        "http://a.09/",
        "http://7/",
        "http://e.org/a/.",
        "http://e.org/a/..",
        "http://e.org/./a",
        "http://e.org/../a",
        "http://e.org/%2e/a",
        "http://e.org/%2E?a",
        "http://e.org/.%2e",
        "http://e.org/%2E.",
        "http://e.org/%2e%2E/",
        "http://e.org/a/..?b",
        "http://e.org/a\\b",
        "http://e.org/a#",
        "http://e.org/a?b#c",
        "http://e.org/a?'",
        "http://e.org/a ",
        "http://e.org/\x7f",
        "http://e.org/\xc3\xa4",
        "http://\xc3\xa4.org/",
        " http://e.org/",
    };
    for (size_t i = 0; i < VIDI__COUNT(urls); i++)
        check(!says(urls[i]), "<%s> is accepted", urls[i]);
}

static const char *const bases[] = {
    "http://a.de/",
    "http://example.org/a",
    "https://www.example.org/some/folder/page.html",
    "https://www.example.org/some/./folder/../page.html?x",
    "http://10.20.30.40/a/%2e%2e/b?c=d",
    "https://e.org:8080/a?b=c&d=/../e",
    "https://sub-domain.of.example.co.uk/a/rather/long/path/that/fills/more/than/a/block/.hidden?query=string&more",
    "https://a-host-name-that-is-longer-than-one-block-of-sixty-four-bytes-would-be.example.org:81/%2E%2E%2E/a/?a",
};

static void every_byte_at_every_place_is_judged_soundly(void **state)
{
    (void)state;
    size_t accepted = 0;
    for (size_t i = 0; i < VIDI__COUNT(bases); i++) {
        size_t len = strlen(bases[i]);
        for (size_t at = 0; at < len; at++)
            for (int c = 0; c < 256; c++) {
                vidi_str url = at_end(bases[i], len);
                page_end[-(ptrdiff_t)len + (ptrdiff_t)at] = (char)c;
                accepted += scan_says(url);
            }
    }
    check(accepted > 15000, "%zu accepted", accepted);
}

/* Up to three changes of bytes, of kinds that matter; and pieces repeated or left out. */
static size_t mutate(test_random *random, char *text, size_t len)
{
    static const char bytes[] = "/./.%2e%2E..?:@#\\&'^`{}|09x-_aZ \t\x80\xff";
    for (uint64_t changes = test_below(random, 4); changes; changes--) {
        size_t at = test_below(random, len);
        switch (test_below(random, 4)) {
        case 0:
            memmove(text + at, text + at + 1, --len - at);
            break;
        case 1:
            memmove(text + at + 1, text + at, len++ - at);
            break;
        default:
            text[at] = bytes[test_below(random, sizeof bytes - 1)];
        }
    }
    return len;
}

static void changed_urls_are_judged_soundly(void **state)
{
    (void)state;
    test_random random = {4};
    uint64_t accepted = 0, canonical = 0, rounds = test_urls_at_most(1000000);
    for (uint64_t i = 0; i < rounds; i++) {
        char text[200];
        const char *base = bases[test_below(&random, VIDI__COUNT(bases))];
        size_t len = strlen(base);
        memcpy(text, base, len);
        vidi_str url = {text, mutate(&random, text, len)};
        url = at_end(text, url.len);
        accepted += scan_says(url);
        canonical += parser_says(url);
    }
    check(accepted > canonical * 8 / 10, "%llu of %llu", (unsigned long long)accepted, (unsigned long long)canonical);
}

/* Paths and queries of every length, and one bad byte in each place near the end. */
static void every_length_is_judged_soundly(void **state)
{
    (void)state;
    static const char *const beginnings[] = {"http://a.b/", "https://example.org/x?", "https://example.org:8080/.x/"};
    for (size_t b = 0; b < VIDI__COUNT(beginnings); b++)
        for (size_t len = 0; len <= 300; len++) {
            char text[300];
            size_t begun = strlen(beginnings[b]);
            for (size_t i = 0; i < len; i++)
                text[i] = i < begun ? beginnings[b][i] : "abc/de"[i % 6];
            bool whole = scan_says(at_end(text, len));
            check(len < begun || whole, "length %zu of <%s>", len, beginnings[b]);
            for (size_t back = 1; back <= len && back <= 70; back++) {
                vidi_str url = at_end(text, len);
                page_end[-(ptrdiff_t)back] = '"';
                check(!scan_says(url), "length %zu, %zu from the end", len, back);
            }
        }
}

static void an_array_is_counted_up_to_the_first_that_is_not_canonical(void **state)
{
    (void)state;
    vidi_str urls[9];
    for (size_t i = 0; i < VIDI__COUNT(levels); i++) {
        if (!vidi__cpu_has(levels[i].level))
            continue;
        for (size_t bad = 0; bad <= VIDI__COUNT(urls); bad++) {
            for (size_t j = 0; j < VIDI__COUNT(urls); j++)
                urls[j] = j == bad ? (j % 2 ? (vidi_str){"http://E/", 9} : (vidi_str){NULL, 0})
                                   : (vidi_str){"https://example.org/a", j == bad + 1 ? 7 : 21};
            size_t counted = levels[i].count(urls, VIDI__COUNT(urls));
            check(counted == bad, "level %zu counts %zu, not %zu", i, counted, bad);
        }
        assert_int_equal(levels[i].count(urls, 0), 0);
    }
}

static void the_form_is_the_input_or_lies_in_the_room(void **state)
{
    (void)state;
    char room[16];
    vidi__memory memory;
    vidi__memory_init(&memory, NULL, SIZE_MAX / 2);
    vidi__buffer buffer = vidi__buffer_in(room, sizeof room, &memory);
    vidi_str plain = {"http://e.org/a?b", 16}, messy = {"HTTP://e.org:80/./a b?c#d", 25}, out;
    assert_int_equal(vidi__url_whatwg(plain, &buffer, &out), VIDI_OK);
    assert_ptr_equal(out.ptr, plain.ptr);
    assert_int_equal(out.len, plain.len);
    assert_int_equal(vidi__url_whatwg(messy, &buffer, &out), VIDI_OK);
    assert_int_equal(out.len, strlen("http://e.org/a%20b?c"));
    assert_memory_equal(out.ptr, "http://e.org/a%20b?c", out.len);
    vidi__buffer_free(&buffer);
    buffer = vidi__buffer_in(room, sizeof room, &memory);
    assert_int_equal(vidi__url_whatwg((vidi_str){"a b", 3}, &buffer, &out), VIDI__NOT_URL);
    assert_int_equal(out.len, 0);
    vidi__buffer_free(&buffer);
}

typedef struct tally {
    uint64_t seen, lines, canonical, accepted;
    uint64_t step; /* one of so many lines is looked at */
} tally;

static int look(void *context, vidi_str line)
{
    tally *tally = context;
    if (tally->seen++ % tally->step || line.len > ROOM)
        return 0;
    vidi_str url = at_end(line.ptr, line.len);
    tally->lines++;
    tally->accepted += scan_says(url);
    tally->canonical += parser_says(url);
    return 0;
}

static void nearly_all_real_canonical_urls_are_accepted(void **state)
{
    (void)state;
    char path[1024];
    tally all = {.step = test_long() ? 1 : 23};
    if (!test_corpus_path(0, path, sizeof path))
        skip();
    for (size_t i = 0; test_corpus_path(i, path, sizeof path); i++)
        check(test_corpus_read(path, look, &all) == 0, "%s cannot be read", path);
    double share = all.canonical ? (double)all.accepted / (double)all.canonical : 0;
    print_message("# %llu real URLs, %llu canonical, %.3f %% of them accepted\n", (unsigned long long)all.lines,
                  (unsigned long long)all.canonical, 100 * share);
    check(share > 0.97, "only %.3f of %llu", share, (unsigned long long)all.canonical);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_ones_are_accepted),
        cmocka_unit_test(others_are_not),
        cmocka_unit_test(every_byte_at_every_place_is_judged_soundly),
        cmocka_unit_test(changed_urls_are_judged_soundly),
        cmocka_unit_test(every_length_is_judged_soundly),
        cmocka_unit_test(an_array_is_counted_up_to_the_first_that_is_not_canonical),
        cmocka_unit_test(the_form_is_the_input_or_lies_in_the_room),
        cmocka_unit_test(nearly_all_real_canonical_urls_are_accepted),
    };
    return cmocka_run_group_tests(tests, map_page, NULL);
}
