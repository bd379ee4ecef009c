/*
 * Content-Encoding is undone, with a limit on what comes out, and whatever is damaged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/http/http.h"
#include "crawler/packed.h"
#include "crawler/packed_newer.h"
#include "support/check.h"

enum { LIMIT = 1 << 20 };

static vidi_str text_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

/* Unpacks, and compares with what is expected; NULL: nothing. */
static void check_unpack(const char *encoding, vidi_str body, size_t limit, http_unpacked outcome, const char *content)
{
    char head[200];
    bytes to = {0};
    sprintf(head, "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\n\r\n", encoding);
    http_unpacked got = http_unpack(text_of(head), body, limit, &to);
    check(got == outcome, "%s: outcome %d instead of %d", encoding, (int)got, (int)outcome);
    check(to.len == (content ? strlen(content) : 0), "%s: %zu bytes came out", encoding, to.len);
    if (content)
        assert_memory_equal(to.ptr, content, to.len);
    bytes_free(&to);
}

static void gzip_and_deflate_are_undone(void **state)
{
    (void)state;
    static const struct {
        const char *encoding;
        enum packed_format format;
    } cases[] = {{"gzip", GZIP},    {"x-gzip", GZIP}, {"GZip", GZIP},   {"identity, gzip", GZIP}, {"gzip, ,", GZIP},
                 {"deflate", ZLIB}, {"deflate", RAW}, {"Deflate", RAW}, {" gzip \t", GZIP}};
    const char *content = "content content content";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bytes body = packed(text_of(content), cases[i].format);
        check_unpack(cases[i].encoding, bytes_str(&body), LIMIT, HTTP_UNPACKED, content);
        bytes_free(&body);
    }
}

static void several_layers_are_undone_from_the_outermost(void **state)
{
    (void)state;
    bytes inner = packed(text_of("content"), GZIP);
    bytes middle = packed(bytes_str(&inner), RAW);
    bytes outer = packed(bytes_str(&middle), GZIP);
    check_unpack("gzip, deflate, gzip", bytes_str(&outer), LIMIT, HTTP_UNPACKED, "content");
    check_unpack("gzip\r\nContent-Encoding: deflate,\r\n gzip", bytes_str(&outer), LIMIT, HTTP_UNPACKED, "content");
    check_unpack("gzip, deflate, gzip, gzip", bytes_str(&outer), LIMIT, HTTP_UNKNOWN, NULL);
    bytes_free(&inner);
    bytes_free(&middle);
    bytes_free(&outer);
}

static void what_is_not_packed_stays_as_it_is(void **state)
{
    (void)state;
    bytes to = {0};
    assert_int_equal(http_unpack(text_of("HTTP/1.1 200 OK\r\n\r\n"), text_of("content"), LIMIT, &to), HTTP_AS_IT_IS);
    assert_int_equal(http_unpack(text_of(""), text_of("content"), LIMIT, &to), HTTP_AS_IT_IS);
    assert_null(to.ptr);
    check_unpack("identity", text_of("content"), LIMIT, HTTP_AS_IT_IS, NULL);
    check_unpack("", text_of("content"), LIMIT, HTTP_AS_IT_IS, NULL);
    check_unpack("gzip", text_of(""), LIMIT, HTTP_AS_IT_IS, NULL);
}

static void an_encoding_that_nobody_asked_for_is_unknown(void **state)
{
    (void)state;
    check_unpack("compress", text_of("content"), LIMIT, HTTP_UNKNOWN, NULL);
    if (!VIDI_HAVE_BROTLI)
        check_unpack("br", text_of("content"), LIMIT, HTTP_UNKNOWN, NULL);
    if (!VIDI_HAVE_ZSTD)
        check_unpack("zstd", text_of("content"), LIMIT, HTTP_UNKNOWN, NULL);
    check_unpack("gzip, dcb", text_of("content"), LIMIT, HTTP_UNKNOWN, NULL);
    check_unpack("g\x01zip", text_of("content"), LIMIT, HTTP_UNKNOWN, NULL);
}

static void several_gzip_members_are_one_content(void **state)
{
    (void)state;
    bytes all = packed(text_of("one "), GZIP), two = packed(text_of("two"), GZIP), none = packed(text_of(""), GZIP);
    assert_int_equal(bytes_append_str(&all, bytes_str(&none)), VIDI_OK);
    assert_int_equal(bytes_append_str(&all, bytes_str(&two)), VIDI_OK);
    check_unpack("gzip", bytes_str(&all), LIMIT, HTTP_UNPACKED, "one two");
    assert_int_equal(bytes_append(&all, "\0\0garbage", 9), VIDI_OK);
    check_unpack("gzip", bytes_str(&all), LIMIT, HTTP_UNPACKED, "one two");
    bytes_free(&all);
    bytes_free(&two);
    bytes_free(&none);
}

static void what_came_before_the_damage_is_kept(void **state)
{
    (void)state;
    static const enum packed_format formats[] = {GZIP, ZLIB};
    for (size_t i = 0; i < 2; i++) {
        const char *encoding = formats[i] == GZIP ? "gzip" : "deflate";
        bytes body = packed(text_of("content"), formats[i]);
        check_unpack(encoding, (vidi_str){body.ptr, body.len - 1}, LIMIT, HTTP_DAMAGED, "content");
        body.ptr[body.len - 1] ^= 1; /* the check of length or content */
        check_unpack(encoding, bytes_str(&body), LIMIT, HTTP_DAMAGED, "content");
        bytes_free(&body);
    }
    bytes inner = packed(text_of("content"), GZIP), outer = packed(bytes_str(&inner), GZIP);
    check_unpack("gzip, gzip", (vidi_str){outer.ptr, outer.len - 1}, LIMIT, HTTP_DAMAGED, "content");
    bytes_free(&inner);
    bytes_free(&outer);
    check_unpack("gzip", text_of("<html>not packed at all"), LIMIT, HTTP_DAMAGED, NULL);
    check_unpack("gzip", text_of("\x1f"), LIMIT, HTTP_DAMAGED, NULL);
}

/* Every prefix, and every byte changed: no crash, and no more than the limit. */
static void damage_anywhere_does_no_harm(void **state)
{
    (void)state;
    static char content[2000];
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (char)("abcdefgh"[i % 8] + (char)(i * i / 37 % 11));
    static const enum packed_format formats[] = {GZIP, ZLIB, RAW};
    for (size_t f = 0; f < 3; f++) {
        vidi_str head = text_of(f ? "HTTP/1.1 200 OK\nContent-Encoding: deflate\n\n"
                                  : "HTTP/1.1 200 OK\nContent-Encoding: gzip\n\n");
        bytes body = packed((vidi_str){content, sizeof content}, formats[f]);
        for (size_t i = 0; i < body.len; i++) {
            bytes to = {0};
            http_unpacked outcome = http_unpack(head, (vidi_str){body.ptr, i}, 4000, &to);
            assert_true(outcome == (i ? HTTP_DAMAGED : HTTP_AS_IT_IS) && to.len <= sizeof content);
            bytes_free(&to);
            body.ptr[i] ^= 0x55;
            outcome = http_unpack(head, bytes_str(&body), 4000, &to);
            assert_true(outcome == HTTP_UNPACKED || outcome == HTTP_DAMAGED || outcome == HTTP_TOO_LARGE);
            assert_true(to.len <= 4000);
            bytes_free(&to);
            body.ptr[i] ^= 0x55;
        }
        bytes_free(&body);
    }
}

static void the_limit_holds_to_the_byte(void **state)
{
    (void)state;
    bytes body = packed(text_of("content"), GZIP);
    check_unpack("gzip", bytes_str(&body), 7, HTTP_UNPACKED, "content");
    check_unpack("gzip", bytes_str(&body), 6, HTTP_TOO_LARGE, NULL);
    check_unpack("gzip", bytes_str(&body), 0, HTTP_TOO_LARGE, NULL);
    check_unpack("gzip", bytes_str(&body), SIZE_MAX, HTTP_UNPACKED, "content");
    bytes_free(&body);
}

/* 64 MiB of zeros become 64 KiB, and those some hundred bytes. All layers together may put out no more than the limit. */
static void a_bomb_inside_of_a_bomb_is_not_set_off(void **state)
{
    (void)state;
    enum { BOMB = 64 << 20 };
    char *zeros = calloc(1, BOMB);
    assert_non_null(zeros);
    bytes inner = packed((vidi_str){zeros, BOMB}, GZIP);
    bytes outer = packed(bytes_str(&inner), GZIP);
    check_unpack("gzip, gzip", bytes_str(&outer), LIMIT, HTTP_TOO_LARGE, NULL);
    check_unpack("gzip", bytes_str(&inner), BOMB - 1, HTTP_TOO_LARGE, NULL);
    check_unpack("gzip, gzip", bytes_str(&outer), BOMB + inner.len - 1, HTTP_TOO_LARGE, NULL);
    char head[] = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\n\r\n";
    bytes to = {0};
    assert_int_equal(http_unpack(text_of(head), bytes_str(&outer), BOMB + inner.len, &to), HTTP_UNPACKED);
    assert_int_equal(to.len, BOMB);
    bytes_free(&to);
    bytes_free(&inner);
    bytes_free(&outer);
    free(zeros);
}

/* ---- brotli and zstd ---- */

typedef struct newer {
    const char *name;
    bytes (*pack)(vidi_str content);
} newer;

#if VIDI_HAVE_ZSTD
static bytes pack_zstd(vidi_str content)
{
    return packed_zstd(content, 0);
}

static bytes pack_zstd_stream(vidi_str content)
{
    return packed_zstd(content, 20);
}
#endif

static const newer newer_codings[] = {
#if VIDI_HAVE_BROTLI
    {"br", packed_brotli},
#endif
#if VIDI_HAVE_ZSTD
    {"zstd", pack_zstd},
    {"zstd", pack_zstd_stream},
#endif
    {NULL, NULL}};

static void brotli_and_zstd_are_undone_within_the_limit(void **state)
{
    (void)state;
    for (const newer *one = newer_codings; one->name; one++) {
        char names[100];
        bytes body = one->pack(text_of("content content content")), twice = one->pack(bytes_str(&body));
        bytes outer = packed(bytes_str(&twice), GZIP);
        check_unpack(one->name, bytes_str(&body), 23, HTTP_UNPACKED, "content content content");
        check_unpack(one->name, bytes_str(&body), 22, HTTP_TOO_LARGE, NULL);
        check_unpack(one->name, bytes_str(&body), 0, HTTP_TOO_LARGE, NULL);
        sprintf(names, "%s, %s, gzip", one->name, one->name);
        check_unpack(names, bytes_str(&outer), LIMIT, HTTP_UNPACKED, "content content content");
        assert_int_equal(bytes_append(&body, "\0\0garbage", 9), VIDI_OK);
        check_unpack(one->name, bytes_str(&body), LIMIT, HTTP_UNPACKED, "content content content");
        check_unpack(one->name, text_of("<html>not packed at all"), LIMIT, HTTP_DAMAGED, NULL);
        bytes_free(&body);
        bytes_free(&twice);
        bytes_free(&outer);
    }
}

static void damage_to_brotli_and_zstd_does_no_harm(void **state)
{
    (void)state;
    static char content[2000];
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (char)("abcdefgh"[i % 8] + (char)(i * i / 37 % 11));
    for (const newer *one = newer_codings; one->name; one++) {
        char head[100];
        sprintf(head, "HTTP/1.1 200 OK\nContent-Encoding: %s\n\n", one->name);
        bytes body = one->pack((vidi_str){content, sizeof content});
        for (size_t i = 0; i < body.len; i++) {
            bytes to = {0};
            http_unpacked outcome = http_unpack(text_of(head), (vidi_str){body.ptr, i}, 4000, &to);
            assert_true(outcome == (i ? HTTP_DAMAGED : HTTP_AS_IT_IS) && to.len <= sizeof content);
            assert_true(to.len == 0 || memcmp(to.ptr, content, to.len) == 0);
            bytes_free(&to);
            body.ptr[i] ^= 0x55;
            outcome = http_unpack(text_of(head), bytes_str(&body), 4000, &to);
            assert_true(outcome == HTTP_UNPACKED || outcome == HTTP_DAMAGED || outcome == HTTP_TOO_LARGE);
            assert_true(to.len <= 4000);
            bytes_free(&to);
            body.ptr[i] ^= 0x55;
        }
        bytes_free(&body);
    }
}

/* Some of 64 MiB of zeros are what fits; the limit of all layers together holds. */
static void bombs_of_brotli_and_zstd_are_not_set_off(void **state)
{
    (void)state;
    enum { BOMB = 64 << 20 };
    char *zeros = calloc(1, BOMB), names[100];
    assert_non_null(zeros);
    for (const newer *one = newer_codings; one->name; one++) {
        bytes inner = one->pack((vidi_str){zeros, BOMB}), outer = one->pack(bytes_str(&inner));
        assert_true(inner.len < 64 << 10);
        check_unpack(one->name, bytes_str(&inner), LIMIT, HTTP_TOO_LARGE, NULL);
        check_unpack(one->name, bytes_str(&inner), BOMB - 1, HTTP_TOO_LARGE, NULL);
        sprintf(names, "%s, %s", one->name, one->name);
        check_unpack(names, bytes_str(&outer), BOMB + inner.len - 1, HTTP_TOO_LARGE, NULL);
        bytes_free(&inner);
        bytes_free(&outer);
    }
    free(zeros);
}

static void frames_of_zstd_are_one_content_if_their_window_is_allowed(void **state)
{
    (void)state;
#if VIDI_HAVE_ZSTD
    enum { LARGE = 17 << 20 };
    bytes all = packed_zstd(text_of("one "), 0), two = packed_zstd(text_of("two"), 10);
    assert_int_equal(bytes_append(&all, "\x5F\x2A\x4D\x18\x03\0\0\0xyz", 11), VIDI_OK); /* a frame that is skipped */
    assert_int_equal(bytes_append_str(&all, bytes_str(&two)), VIDI_OK);
    check_unpack("zstd", bytes_str(&all), LIMIT, HTTP_UNPACKED, "one two");
    bytes_free(&all);
    bytes_free(&two);
    char *zeros = calloc(1, LARGE);
    assert_non_null(zeros);
    for (int window = 23; window <= 24; window++) { /* RFC 9659 allows 8 MiB */
        bytes body = packed_zstd((vidi_str){zeros, LARGE}, window), to = {0};
        http_unpacked outcome =
            http_unpack(text_of("HTTP/1.1 200 OK\nContent-Encoding: zstd\n\n"), bytes_str(&body), LARGE, &to);
        assert_int_equal(outcome, window == 23 ? HTTP_UNPACKED : HTTP_DAMAGED);
        assert_int_equal(to.len, window == 23 ? LARGE : 0);
        bytes_free(&body);
        bytes_free(&to);
    }
    free(zeros);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_and_deflate_are_undone),
        cmocka_unit_test(several_layers_are_undone_from_the_outermost),
        cmocka_unit_test(what_is_not_packed_stays_as_it_is),
        cmocka_unit_test(an_encoding_that_nobody_asked_for_is_unknown),
        cmocka_unit_test(several_gzip_members_are_one_content),
        cmocka_unit_test(what_came_before_the_damage_is_kept),
        cmocka_unit_test(damage_anywhere_does_no_harm),
        cmocka_unit_test(the_limit_holds_to_the_byte),
        cmocka_unit_test(a_bomb_inside_of_a_bomb_is_not_set_off),
        cmocka_unit_test(brotli_and_zstd_are_undone_within_the_limit),
        cmocka_unit_test(damage_to_brotli_and_zstd_does_no_harm),
        cmocka_unit_test(bombs_of_brotli_and_zstd_are_not_set_off),
        cmocka_unit_test(frames_of_zstd_are_one_content_if_their_window_is_allowed),
    };
    return cmocka_run_group_tests_name("http_unpack", tests, NULL, NULL);
}
