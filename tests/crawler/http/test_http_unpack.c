/*
 * Content-Encoding is undone, with a limit on what comes out, and whatever is damaged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/http/http.h"
#include "crawler/packed.h"
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
    check_unpack("br", text_of("content"), LIMIT, HTTP_UNKNOWN, NULL);
    check_unpack("gzip, br", text_of("content"), LIMIT, HTTP_UNKNOWN, NULL);
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
    };
    return cmocka_run_group_tests_name("http_unpack", tests, NULL, NULL);
}
