/*
 * The short way through the parser against the long one: what it takes, it gives the same text and the same offsets.
 * The long way is what a URL goes that has no room to begin with.
 */
#include <stdio.h>

#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "url/parse/url.h"

#define ROOM 8192

static vidi__memory memory;

static int open_memory(void **state)
{
    (void)state;
    return vidi__memory_init(&memory, NULL, SIZE_MAX / 2);
}

static vidi_str trim(vidi_str url)
{
    while (url.len && (unsigned char)url.ptr[url.len - 1] <= 0x20)
        url.len--;
    for (; url.len && (unsigned char)url.ptr[0] <= 0x20; url.len--)
        url.ptr++;
    return url;
}

static bool same_url(const vidi__url *a, const vidi__url *b)
{
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0 && a->scheme_end == b->scheme_end &&
           a->username_end == b->username_end && a->host_begin == b->host_begin && a->host_end == b->host_end &&
           a->authority_end == b->authority_end && a->path_begin == b->path_begin && a->path_end == b->path_end &&
           a->query_end == b->query_end && a->scheme == b->scheme && a->host_kind == b->host_kind &&
           a->port == b->port && a->has_host == b->has_host && a->has_port == b->has_port &&
           a->has_query == b->has_query && a->has_fragment == b->has_fragment && a->opaque_path == b->opaque_path;
}

/* Is it taken? raw as for vidi__url_parse. */
static bool takes_in(vidi_str url, bool raw)
{
    char room[ROOM];
    vidi__url quick, full;
    vidi__buffer out = vidi__buffer_in(room, sizeof room, &memory), other = vidi__buffer_in(NULL, 0, &memory);
    url = trim(url);
    bool took = vidi__url_parse_usual(&quick, url, raw, &out);
    check(!out.error && (took || out.len == 0), "<%.*s> leaves something behind", (int)url.len, url.ptr);
    if (took) {
        check(vidi__url_parse(&full, url, NULL, raw, &other) == VIDI_OK, "<%.*s> is no URL", (int)url.len, url.ptr);
        check(same_url(&quick, &full), "<%.*s> became <%.*s>, and <%.*s> the long way", (int)url.len, url.ptr,
              (int)quick.len, quick.text, (int)full.len, full.text);
    }
    vidi__buffer_free(&out);
    vidi__buffer_free(&other);
    return took;
}

/* Bytes that are not UTF-8 make no difference to whether it is taken. */
static bool takes(vidi_str url)
{
    bool took = takes_in(url, false);
    check(takes_in(url, true) == took, "<%.*s> is%s taken if it is raw", (int)url.len, url.ptr, took ? " not" : "");
    return took;
}

static bool takes_text(const char *text)
{
    return takes((vidi_str){text, strlen(text)});
}

static void usual_ones_are_taken(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "HTTP://a/",
        "hTTps://WWW.Example.Co.UK:443?q#f",
        "http://example.com:8080\\a\\..\\b",
        "https://example.com:80/",
        "http://example.com:0/",
        "http://example.com:/?",
        "http://a.b.c./a/./../../b/%2E%2e/..?a'b\"c#d`e#f",
        "http://a_b-c/\xc3\xa9\xff?\xe2\x82#\xf0\x9f\x92\xa9",
        "https://xn--a.example#",
        "http://0x7g.example/.well-known/%2E%2E%2Ea",
    };
    for (size_t i = 0; i < VIDI__COUNT(urls); i++)
        check(takes_text(urls[i]), "<%s> is not taken", urls[i]);
}

static void others_go_the_long_way(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "",
        "http://",
        "http:/a/b",
        "http:///a/b",
        "http:\\\\a/b",
        "ftp://a/",
        "x://a/bcdef",
        "http://u@h/",
        "http://u:1@h/",
        "http://h:1@g/",
        "http://1.2.3.4/",
        "http://a.0x1/",
        "http://[::1]/",
        "http://a%41/",
        "http://\xc3\xa9.de/",
        "http://h:65536/",
        "http://h:00080/",
        "http://h:8a/",
        "http://h|/",
        "http://a\tb/",
        "http://a/\tb",
        "http://a/..\n/b",
        "http://a/?b\rc",
        "http://a/#b\tc",
        "http://a/.\t./b",
    };
    for (size_t i = 0; i < VIDI__COUNT(urls); i++)
        check(!takes_text(urls[i]), "<%s> is taken", urls[i]);
}

static const char *const bases[] = {
    "http://a.de/",
    "HTTPS://Www.Example.org/some/./folder/../page.html?x=y#z",
    "https://e.org:8080/a/%2e%2e/b/%2E?b='c'&d=/../e#f",
    "http://sub-domain.of.example.co.uk:80\\a\\rather\\..\\long/path/that/fills/.hidden/..?query=\xc3\xa9#\xe2\x82\xac",
};

static void every_byte_at_every_place_gives_the_same(void **state)
{
    (void)state;
    size_t taken = 0, all = 0;
    for (size_t i = 0; i < VIDI__COUNT(bases); i++)
        for (size_t at = 0, len = strlen(bases[i]); at < len; at++)
            for (int c = 0; c < 256; c++, all++) {
                char text[200];
                memcpy(text, bases[i], len);
                text[at] = (char)c;
                taken += takes((vidi_str){text, len});
            }
    check(taken > all / 2, "%zu of %zu are taken", taken, all);
}

static void pieces_in_any_order_give_the_same(void **state)
{
    (void)state;
    static const char *const pieces[] = {"/",  "\\", ".",  "..", "%2e", "%2E%2e", "?",        "#",    "'",    "a",
                                         "bC", " ",  "\t", ":",  "@",   "80",     "\xc3\xbc", "\xff", "%41",  "%",
                                         "^",  "`",  "\"", "//", "/./", "/../",   ".../",     "|",    "{}<>", "~"};
    test_random random = {11};
    uint64_t taken = 0, rounds = test_urls_at_most(1000000);
    for (uint64_t n = rounds; n; n--) {
        char text[400] = "http://h";
        size_t len = 8;
        for (uint64_t more = test_below(&random, 20); more; more--) {
            const char *piece = pieces[test_below(&random, VIDI__COUNT(pieces))];
            memcpy(text + len, piece, strlen(piece));
            len += strlen(piece);
        }
        taken += takes((vidi_str){text, len});
    }
    check(taken > rounds / 10, "%llu of %llu are taken", (unsigned long long)taken, (unsigned long long)rounds);
}

/* Whatever the caller's room is, and when it runs out in the middle. */
static void every_size_of_room_gives_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(bases); i++)
        for (size_t bytes = 0; bytes < 300; bytes++) {
            char room[300], want_room[300];
            vidi_str url = {bases[i], strlen(bases[i])};
            vidi__url got, want;
            vidi__buffer out = vidi__buffer_in(room, bytes, &memory);
            vidi__buffer other = vidi__buffer_in(want_room, sizeof want_room, &memory);
            assert_int_equal(vidi__url_parse(&got, url, NULL, false, &out), VIDI_OK);
            assert_int_equal(vidi__url_parse(&want, url, NULL, false, &other), VIDI_OK);
            check(same_url(&got, &want), "<%s> in %zu bytes", bases[i], bytes);
            vidi__buffer_free(&out);
            vidi__buffer_free(&other);
        }
}

typedef struct tally {
    uint64_t seen, lines, taken, step;
} tally;

static int look(void *context, vidi_str line)
{
    tally *tally = context;
    if (tally->seen++ % tally->step || line.len > ROOM / 4)
        return 0;
    tally->lines++;
    tally->taken += takes(line);
    return 0;
}

static void nearly_all_real_urls_are_taken(void **state)
{
    (void)state;
    char path[1024];
    tally all = {.step = test_long() ? 1 : 23};
    if (!test_corpus_path(0, path, sizeof path))
        skip();
    for (size_t i = 0; test_corpus_path(i, path, sizeof path); i++)
        check(test_corpus_read(path, look, &all) == 0, "%s cannot be read", path);
    double share = all.lines ? (double)all.taken / (double)all.lines : 0;
    print_message("# %llu real URLs, %.3f %% of them taken\n", (unsigned long long)all.lines, 100 * share);
    check(share > 0.9, "only %.3f of %llu", share, (unsigned long long)all.lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_ones_are_taken),
        cmocka_unit_test(others_go_the_long_way),
        cmocka_unit_test(every_byte_at_every_place_gives_the_same),
        cmocka_unit_test(pieces_in_any_order_give_the_same),
        cmocka_unit_test(every_size_of_room_gives_the_same),
        cmocka_unit_test(nearly_all_real_urls_are_taken),
    };
    return cmocka_run_group_tests(tests, open_memory, NULL);
}
