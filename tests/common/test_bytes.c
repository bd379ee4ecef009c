/*
 * Bytes that grow.
 */
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "support/check.h"

static void what_is_appended_follows_what_was_there(void **state)
{
    (void)state;
    bytes to = {0};
    assert_int_equal(bytes_append(&to, "ab\0c", 4), 0);
    assert_int_equal(bytes_append_text(&to, "de"), 0);
    assert_int_equal(bytes_append(&to, "fgh", 2), 0);
    assert_int_equal(bytes_append_format(&to, "<%d:%s>", -5, "x"), 0);
    assert_int_equal(bytes_append(&to, NULL, 0), 0);
    assert_int_equal(to.len, 14);
    assert_memory_equal(to.ptr, "ab\0cdefg<-5:x>", 14);
    bytes_free(&to);
    assert_true(to.ptr == NULL && to.len == 0 && to.room == 0);
    bytes_free(&to);
}

/* Room doubles: a megabyte, byte by byte, moves some twenty times. */
static void growing_moves_rarely(void **state)
{
    (void)state;
    bytes to = {0};
    unsigned moves = 0;
    for (size_t i = 0; i < 1 << 20; i++) {
        size_t before = to.room;
        char byte = (char)(i * 7);
        assert_int_equal(bytes_append(&to, &byte, 1), 0);
        moves += to.room != before;
    }
    assert_true(moves < 24);
    for (size_t i = 0; i < 1 << 20; i++)
        if (to.ptr[i] != (char)(i * 7))
            fail_msg("byte %zu has changed", i);
    bytes_free(&to);
}

static void room_that_was_reserved_is_there(void **state)
{
    (void)state;
    bytes to = {0};
    assert_int_equal(bytes_append_text(&to, "x"), 0);
    assert_int_equal(bytes_reserve(&to, 100000), 0);
    const char *at = to.ptr;
    char *filled = calloc(1, 100000);
    assert_int_equal(bytes_append(&to, filled, 100000), 0);
    assert_ptr_equal(to.ptr, at);
    free(filled);
    bytes_free(&to);
}

static void a_size_beyond_the_memory_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    bytes to = {0};
    assert_int_equal(bytes_append_text(&to, "abc"), 0);
    assert_int_equal(bytes_reserve(&to, SIZE_MAX), BYTES_NO_MEMORY);
    assert_int_equal(bytes_reserve(&to, SIZE_MAX - 2), BYTES_NO_MEMORY);
    assert_int_equal(bytes_reserve(&to, SIZE_MAX / 2), BYTES_NO_MEMORY);
    assert_int_equal(to.len, 3);
    assert_memory_equal(to.ptr, "abc", 3);
    assert_true(to.failed);
    bytes_free(&to);
    assert_false(to.failed);
}

static bool is_kept(char c)
{
    return c > ' ' && c < 0x7f && c != '%';
}

static void percent_encodings_are_decoded_and_nothing_else(void **state)
{
    (void)state;
    bytes to = {0};
    assert_int_equal(bytes_append_decoded(&to, "%41%zz%4%%42%c3%BC%", 19), 0);
    assert_int_equal(to.len, 11);
    assert_memory_equal(to.ptr, "A%zz%4%B\xc3\xbc%", 11);
    bytes_free(&to);
}

static void bytes_that_are_refused_become_percent_encodings(void **state)
{
    (void)state;
    bytes to = {0};
    assert_int_equal(bytes_append_text(&to, "x"), 0);
    assert_int_equal(bytes_append_percent(&to, "a b%\0\xff/", 7, is_kept), 0);
    assert_int_equal(to.len, 16);
    assert_memory_equal(to.ptr, "xa%20b%25%00%FF/", 16);
    bytes_free(&to);
}

static void trimmed_bytes_have_no_room_left(void **state)
{
    (void)state;
    bytes to = {0};
    bytes_trim(&to);
    assert_null(to.ptr);
    assert_int_equal(bytes_collect(&to, "abc", 3), 0);
    bytes_trim(&to);
    assert_int_equal(to.room, 3);
    assert_memory_equal(to.ptr, "abc", 3);
    bytes_free(&to);
}

static size_t blocks, refusals;

/* Counts the blocks that are allocated, and refuses what is larger than 1000 bytes. */
static void *counted_resize(void *block, size_t size)
{
    if (size > 1000) {
        refusals++;
        return NULL;
    }
    blocks += (size && !block) - (size_t)(!size && block);
    if (size)
        return realloc(block, size);
    free(block);
    return NULL;
}

static void memory_comes_from_the_allocator_that_was_given(void **state)
{
    (void)state;
    bytes to = {.resize = counted_resize};
    assert_int_equal(bytes_append_text(&to, "abc"), 0);
    assert_int_equal(blocks, 1);
    assert_int_equal(bytes_reserve(&to, 2000), BYTES_NO_MEMORY);
    assert_int_equal(refusals, 1);
    assert_memory_equal(to.ptr, "abc", 3);
    bytes_free(&to);
    assert_int_equal(blocks, 0);
    assert_ptr_equal(to.resize, counted_resize);
    bytes_free(&to);
    assert_int_equal(blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_appended_follows_what_was_there),
        cmocka_unit_test(growing_moves_rarely),
        cmocka_unit_test(room_that_was_reserved_is_there),
        cmocka_unit_test(a_size_beyond_the_memory_is_refused_and_changes_nothing),
        cmocka_unit_test(bytes_that_are_refused_become_percent_encodings),
        cmocka_unit_test(percent_encodings_are_decoded_and_nothing_else),
        cmocka_unit_test(trimmed_bytes_have_no_room_left),
        cmocka_unit_test(memory_comes_from_the_allocator_that_was_given),
    };
    return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
