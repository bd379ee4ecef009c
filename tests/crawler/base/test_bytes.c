/*
 * Bytes that grow.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/base/bytes.h"
#include "support/check.h"

static void what_is_appended_stands_behind_what_was_there(void **state)
{
    (void)state;
    bytes to = {0};
    assert_int_equal(bytes_append(&to, "ab\0c", 4), VIDI_OK);
    assert_int_equal(bytes_append_text(&to, "de"), VIDI_OK);
    assert_int_equal(bytes_append_str(&to, (vidi_str){"fgh", 2}), VIDI_OK);
    assert_int_equal(bytes_append_format(&to, "<%d:%s>", -5, "x"), VIDI_OK);
    assert_int_equal(bytes_append_str(&to, (vidi_str){NULL, 0}), VIDI_OK);
    assert_int_equal(to.len, 14);
    assert_memory_equal(bytes_str(&to).ptr, "ab\0cdefg<-5:x>", 14);
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
        assert_int_equal(bytes_append(&to, &byte, 1), VIDI_OK);
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
    assert_int_equal(bytes_append_text(&to, "x"), VIDI_OK);
    assert_int_equal(bytes_reserve(&to, 100000), VIDI_OK);
    const char *at = to.ptr;
    char *filled = calloc(1, 100000);
    assert_int_equal(bytes_append(&to, filled, 100000), VIDI_OK);
    assert_ptr_equal(to.ptr, at);
    free(filled);
    bytes_free(&to);
}

static void a_size_beyond_the_memory_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    bytes to = {0};
    assert_int_equal(bytes_append_text(&to, "abc"), VIDI_OK);
    assert_int_equal(bytes_reserve(&to, SIZE_MAX), VIDI_EMEMORY);
    assert_int_equal(bytes_reserve(&to, SIZE_MAX - 2), VIDI_EMEMORY);
    assert_int_equal(bytes_reserve(&to, SIZE_MAX / 2), VIDI_EMEMORY);
    assert_int_equal(to.len, 3);
    assert_memory_equal(to.ptr, "abc", 3);
    bytes_free(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_appended_stands_behind_what_was_there),
        cmocka_unit_test(growing_moves_rarely),
        cmocka_unit_test(room_that_was_reserved_is_there),
        cmocka_unit_test(a_size_beyond_the_memory_is_refused_and_changes_nothing),
    };
    return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
