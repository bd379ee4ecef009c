/*
 * Replies come out as they were sent, however they are cut; and whatever a server sends, the reader's memory stays in
 * proportion to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

#include "fleet/redis/reply.h"

/* A reply as text. Replies of tests are not deep. */
static void show(bytes *to, const redis_reply *reply)
{
    if (reply->type == REDIS_NIL)
        bytes_append_text(to, "nil");
    else if (reply->type == REDIS_INTEGER)
        bytes_append_format(to, "%lld", (long long)reply->integer);
    else if (reply->type == REDIS_ARRAY) {
        bytes_append_text(to, "[");
        for (size_t i = 0; i < reply->count; i++) {
            bytes_append_text(to, i ? " " : "");
            show(to, &reply->items[i]);
        }
        bytes_append_text(to, "]");
    } else {
        assert_int_equal(reply->text.ptr[reply->text.len], 0);
        bytes_append_format(to, "%s%.*s", reply->type == REDIS_ERROR ? "!" : "", (int)reply->text.len, reply->text.ptr);
    }
}

/* Reads input in two pieces, the first of which has `cut` bytes. The result of the last piece; *rest is what was left. */
static int read_cut(reply_arena *arena, const char *input, size_t n, size_t cut, bytes *shown, size_t *rest)
{
    reply_reader reader;
    const redis_reply *reply;
    const char *end = input + n;
    int result = 0;

    shown->len = 0;
    reply_reader_begin(&reader, arena);
    for (int piece = 0; piece < 2 && result == 0; piece++) {
        size_t size = piece ? n - cut : cut;
        char *copy = malloc(size ? size : 1); /* of its own, so that the sanitizer sees its end */
        memcpy(copy, end - (piece ? n - cut : n), size);
        const char *at = copy;
        result = reply_read(&reader, &at, copy + size, &reply);
        *rest = (size_t)(copy + size - at) + (piece ? 0 : n - cut);
        free(copy);
    }
    if (result == 1)
        show(shown, reply);
    bytes_append(shown, "", 1);
    reply_reader_end(&reader);
    return result;
}

static void replies_come_out_as_they_were_sent(void **state)
{
    static const struct {
        const char *input, *shown;
    } cases[] = {
        {"+OK\r\n", "OK"},
        {"+\r\n", ""},
        {"-ERR no\r\n", "!ERR no"},
        {":0\r\n", "0"},
        {":-9223372036854775808\r\n", "-9223372036854775808"},
        {":9223372036854775807\r\n", "9223372036854775807"},
        {"$-1\r\n", "nil"},
        {"*-1\r\n", "nil"},
        {"$0\r\n\r\n", ""},
        {"$5\r\na\r\nbc\r\n", "a\r\nbc"},
        {"*0\r\n", "[]"},
        {"*3\r\n:1\r\n$1\r\nx\r\n-E\r\n", "[1 x !E]"},
        {"*2\r\n*2\r\n*0\r\n+a\r\n*1\r\n*1\r\n$-1\r\n", "[[[] a] [[nil]]]"},
        {"*20\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n:7\r\n:8\r\n:9\r\n:10\r\n:11\r\n:12\r\n:13\r\n:14\r\n:15\r\n:"
         "16\r\n"
         ":17\r\n:18\r\n:19\r\n*1\r\n:20\r\n",
         "[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 [20]]"},
        {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:8\r\n", "[[[[[[[[8]]]]]]]]"},
    };
    reply_arena arena = {0};
    bytes shown = {0};
    size_t rest;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char input[512];
        size_t n = strlen(cases[i].input);
        snprintf(input, sizeof input, "%s+next", cases[i].input);
        for (size_t cut = 0; cut <= n; cut++) {
            int result = read_cut(&arena, input, n + 5, cut, &shown, &rest);
            check(result == 1 && strcmp(shown.ptr, cases[i].shown) == 0, "%s, cut at %zu: %d %s", input, cut, result,
                  shown.ptr);
            check(rest == 5, "%s, cut at %zu: %zu bytes are left", input, cut, rest);
        }
        for (size_t part = 0; part < n; part++)
            check(read_cut(&arena, input, part, part / 2, &shown, &rest) == 0, "%s: complete after %zu", input, part);
    }
    bytes_free(&shown);
    reply_arena_free(&arena);
}

static void what_is_not_a_reply_is_refused(void **state)
{
    static const struct {
        const char *input;
        int result;
    } cases[] = {
        {"hello\r\n", VIDI_EFORMAT},
        {"\r\n", VIDI_EFORMAT},
        {"\n", VIDI_EFORMAT},
        {"+OK\n", VIDI_EFORMAT},
        {":\r\n", VIDI_EFORMAT},
        {":-\r\n", VIDI_EFORMAT},
        {":1x\r\n", VIDI_EFORMAT},
        {": 1\r\n", VIDI_EFORMAT},
        {":+1\r\n", VIDI_EFORMAT},
        {":9223372036854775808\r\n", VIDI_EFORMAT},
        {":-9223372036854775809\r\n", VIDI_EFORMAT},
        {":99999999999999999999999999\r\n", VIDI_EFORMAT},
        {"$-2\r\n", VIDI_EFORMAT},
        {"*-2\r\n", VIDI_EFORMAT},
        {"$x\r\n", VIDI_EFORMAT},
        {"$2\r\nabc\r\n", VIDI_EFORMAT},
        {"$2\r\nab\n\n", VIDI_EFORMAT},
        {"%1\r\n", VIDI_EFORMAT}, /* a map: version 3 */
        {"_\r\n", VIDI_EFORMAT},
        {"$9223372036854775807\r\n", VIDI_ELIMIT},
        {"$600000000\r\n", VIDI_ELIMIT},
        {"*9223372036854775807\r\n", VIDI_ELIMIT},
        {"*16777217\r\n", VIDI_ELIMIT},
        {"*2\r\n*16777215\r\n", VIDI_ELIMIT}, /* together too many */
        {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", VIDI_ELIMIT},
    };
    reply_arena arena = {0};
    bytes shown = {0};
    size_t rest;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = strlen(cases[i].input);
        for (size_t cut = 0; cut <= n; cut++) {
            int result = read_cut(&arena, cases[i].input, n, cut, &shown, &rest);
            check(result == cases[i].result, "%s: %d", cases[i].input, result);
        }
    }
    bytes_free(&shown);
    reply_arena_free(&arena);
}

/* The sum of what the arena holds is not public; a limit of the process would be. So allocations are counted. */
void *__real_malloc(size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *block, size_t size);
static size_t allocated;
static long calls_left = -1; /* negative: all succeed */

static bool may_allocate(size_t size)
{
    allocated += size;
    if (calls_left == 0)
        return false;
    calls_left -= calls_left > 0;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return may_allocate(size) ? __real_malloc(size) : NULL;
}

void *__wrap_realloc(void *block, size_t size)
{
    return may_allocate(size) ? __real_realloc(block, size) : NULL;
}

static void memory_grows_with_what_arrives_not_with_what_is_announced(void **state)
{
    static const char *const headers[] = {
        "*16777216\r\n", "$536870912\r\n",
        "*2000000\r\n*2000000\r\n*2000000\r\n*2000000\r\n*2000000\r\n*2000000\r\n*2000000\r\n$99999999\r\n"};
    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        reply_arena arena = {0};
        bytes shown = {0};
        size_t rest, n = strlen(headers[i]);
        allocated = 0;
        assert_int_equal(read_cut(&arena, headers[i], n, n, &shown, &rest), 0);
        check(allocated < 1 << 18, "%zu bytes for %s", allocated, headers[i]);
        bytes_free(&shown);
        reply_arena_free(&arena);
    }
}

/* Long strings, many elements, both in several pieces. */
static void long_replies_come_out_whole(void **state)
{
    enum { ITEMS = 3000, LENGTH = 1000000 };
    reply_arena arena = {0};
    reply_reader reader;
    bytes input = {0};
    const redis_reply *reply = NULL;

    (void)state;
    bytes_append_format(&input, "*%d\r\n", ITEMS + 1);
    for (int i = 0; i < ITEMS; i++)
        bytes_append_format(&input, ":%d\r\n", i);
    bytes_append_format(&input, "$%d\r\n", LENGTH);
    for (int i = 0; i < LENGTH; i++)
        bytes_append(&input, &"abcdefghijk"[i % 11], 1);
    bytes_append(&input, "\r\n", 2);
    reply_reader_begin(&reader, &arena);
    const char *at = input.ptr;
    int result = 0;
    allocated = 0;
    for (size_t end = 1; result == 0; end = 2 * end < input.len ? 2 * end : input.len)
        result = reply_read(&reader, &at, input.ptr + end, &reply);
    assert_int_equal(result, 1);
    assert_int_equal(reply->count, ITEMS + 1);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(reply->items[i].integer, i);
    assert_int_equal(reply->items[ITEMS].text.len, LENGTH);
    for (int i = 0; i < LENGTH; i++)
        assert_int_equal(reply->items[ITEMS].text.ptr[i], "abcdefghijk"[i % 11]);
    check(allocated < 4 * input.len, "%zu bytes for %zu", allocated, input.len);
    reply_reader_end(&reader);
    reply_arena_empty(&arena);
    reply_arena_free(&arena);
    bytes_free(&input);
}

static void a_line_without_an_end_is_refused(void **state)
{
    reply_arena arena = {0};
    reply_reader reader;
    char piece[1000];
    const redis_reply *reply;
    int result = 0;
    size_t sent = 0;

    (void)state;
    memset(piece, '+', sizeof piece);
    reply_reader_begin(&reader, &arena);
    for (; result == 0; sent += sizeof piece) {
        const char *at = piece;
        result = reply_read(&reader, &at, piece + sizeof piece, &reply);
    }
    assert_int_equal(result, VIDI_ELIMIT);
    check(sent <= REPLY_LINE + 2 * sizeof piece, "%zu", sent);
    reply_reader_end(&reader);
    reply_arena_free(&arena);
}

static void any_allocation_may_fail(void **state)
{
    static const char input[] =
        "*3\r\n+status\r\n*20\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n:7\r\n:8\r\n:9\r\n:10\r\n:11\r\n"
        ":12\r\n:13\r\n:14\r\n:15\r\n:16\r\n:17\r\n:18\r\n:19\r\n:20\r\n$20000\r\nx";
    (void)state;
    for (long n = 0;; n++) {
        reply_arena arena = {0};
        reply_reader reader;
        const redis_reply *reply;
        const char *at = input;
        reply_reader_begin(&reader, &arena);
        calls_left = n;
        int result = reply_read(&reader, &at, input + 7, &reply); /* in a line */
        result = result ? result : reply_read(&reader, &at, input + sizeof input - 1, &reply);
        bool all = calls_left != 0;
        calls_left = -1;
        check(result == (all ? 0 : VIDI_EMEMORY) || (!all && result == 0), "%d without allocation %ld", result, n);
        reply_reader_end(&reader);
        reply_arena_free(&arena);
        if (all) {
            check(n >= 3, "%ld allocations", n);
            return;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_come_out_as_they_were_sent),
        cmocka_unit_test(what_is_not_a_reply_is_refused),
        cmocka_unit_test(memory_grows_with_what_arrives_not_with_what_is_announced),
        cmocka_unit_test(long_replies_come_out_whole),
        cmocka_unit_test(a_line_without_an_end_is_refused),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("replies of a server", tests, NULL, NULL);
}
