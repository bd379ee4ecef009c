/* Text that grows: in the caller's room as long as it fits, then in memory; and what is left when memory is refused. */
#include "base/buffer.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/random.h"

static test_allocator allocator;
static vidi__memory memory;

static int begin(void **state)
{
    (void)state;
    test_allocator_init(&allocator);
    return vidi__memory_init(&memory, &allocator.hook, 0);
}

static int finish(void **state)
{
    (void)state;
    assert_int_equal(vidi__memory_used(&memory), 0);
    test_allocator_finish(&allocator);
    return 0;
}

static void what_fits_stays_in_the_callers_room(void **state)
{
    (void)state;
    char room[8];
    vidi__buffer buffer = vidi__buffer_in(room, sizeof room, &memory);
    vidi__buffer_add(&buffer, "abcd", 4);
    vidi__buffer_add_char(&buffer, 'g');
    vidi__buffer_insert(&buffer, 4, "ef", 2);
    vidi__buffer_add(&buffer, "h", 1);
    assert_int_equal(buffer.len, 8);
    assert_ptr_equal(buffer.at, room);
    assert_memory_equal(room, "abcdefgh", 8);
    assert_false(buffer.grown);
    assert_int_equal(buffer.error, VIDI_OK);
    assert_int_equal(allocator.calls, 0);
    vidi__buffer_free(&buffer);
}

static void one_byte_more_moves_it_to_memory(void **state)
{
    (void)state;
    char room[8];
    vidi__buffer buffer = vidi__buffer_in(room, sizeof room, &memory);
    vidi__buffer_add(&buffer, "abcdefgh", 8);
    vidi__buffer_add_char(&buffer, 'i');
    assert_true(buffer.grown);
    assert_ptr_not_equal(buffer.at, room);
    assert_int_equal(buffer.len, 9);
    assert_memory_equal(buffer.at, "abcdefghi", 9);
    assert_int_equal(allocator.live_blocks, 1);
    vidi__buffer_free(&buffer);
    assert_null(buffer.at);
    assert_int_equal(buffer.room, 0);
    assert_int_equal(allocator.live_blocks, 0);
}

static void no_room_at_all_will_do(void **state)
{
    (void)state;
    vidi__buffer buffer = vidi__buffer_in(NULL, 0, &memory);
    vidi__buffer_add(&buffer, NULL, 0);
    vidi__buffer_insert(&buffer, 0, NULL, 0);
    assert_true(vidi__buffer_reserve(&buffer, 0));
    assert_int_equal(allocator.calls, 0);
    vidi__buffer_insert(&buffer, 0, "b", 1);
    vidi__buffer_insert(&buffer, 0, "a", 1);
    vidi__buffer_insert(&buffer, 2, "c", 1);
    assert_int_equal(buffer.len, 3);
    assert_memory_equal(buffer.at, "abc", 3);
    vidi__buffer_free(&buffer);
    vidi__buffer_free(&buffer); /* twice is no harm */
}

static void growing_byte_by_byte_copies_a_few_times_only(void **state)
{
    (void)state;
    vidi__buffer buffer = vidi__buffer_in(NULL, 0, &memory);
    for (size_t i = 0; i < 1000000; i++)
        vidi__buffer_add_char(&buffer, (char)(i % 251));
    assert_int_equal(buffer.len, 1000000);
    assert_true(buffer.room < 5 * buffer.len);
    check(allocator.calls < 16, "%llu allocations", (unsigned long long)allocator.calls);
    for (size_t i = 0; i < buffer.len; i++)
        check(buffer.at[i] == (char)(i % 251), "byte %zu", i);
    vidi__buffer_free(&buffer);
}

/* Any additions, against an array that is large enough. */
static void text_is_what_was_added(void **state)
{
    (void)state;
    test_random random = {2};
    for (int round = 0; round < 200; round++) {
        char room[64], want[8192], piece[100];
        size_t len = 0;
        vidi__buffer buffer = vidi__buffer_in(room, test_below(&random, sizeof room + 1), &memory);
        for (int i = 0; i < 80; i++) {
            size_t n = test_below(&random, sizeof piece), place = test_below(&random, len + 1);
            memset(piece, 'a' + (int)test_below(&random, 26), sizeof piece);
            if (i % 3 == 0) {
                memmove(want + place + n, want + place, len - place);
                memcpy(want + place, piece, n);
                vidi__buffer_insert(&buffer, place, piece, n);
            } else {
                memcpy(want + len, piece, n);
                vidi__buffer_add(&buffer, piece, n);
            }
            len += n;
            assert_int_equal(buffer.len, len);
        }
        assert_memory_equal(buffer.at, want, len);
        vidi__buffer_free(&buffer);
    }
}

/* With the n-th allocation refused: the text is as it was, and the error stays. */
static void refused_memory_leaves_the_text_as_it_was(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 8; n++) {
        char room[4];
        vidi__buffer buffer = vidi__buffer_in(room, sizeof room, &memory);
        test_allocator_fail(&allocator, n, false);
        size_t added = 0;
        for (; !buffer.error; added++)
            vidi__buffer_add(&buffer, "0123456789", 10);
        added--;
        assert_int_equal(buffer.error, VIDI_EMEMORY);
        assert_int_equal(buffer.len, 10 * added);
        assert_int_equal(buffer.grown, n > 1);
        for (size_t i = 0; i < buffer.len; i++)
            assert_int_equal(buffer.at[i], '0' + (int)(i % 10));
        size_t more = buffer.room - buffer.len + 1; /* memory would be there again, but an error is for good */
        assert_false(vidi__buffer_reserve(&buffer, more));
        vidi__buffer_insert(&buffer, 0, "0123456789", 10);
        assert_int_equal(buffer.len, 10 * added);
        assert_int_equal(buffer.error, VIDI_EMEMORY);
        vidi__buffer_free(&buffer);
        assert_int_equal(buffer.error, VIDI_EMEMORY);
    }
    test_allocator_fail(&allocator, 0, false);
}

static void absurd_sizes_are_refused(void **state)
{
    (void)state;
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 4 + 1};
    for (size_t i = 0; i < VIDI__COUNT(sizes); i++) {
        char room[4];
        vidi__buffer buffer = vidi__buffer_in(room, sizeof room, &memory);
        vidi__buffer_add(&buffer, "abc", 3);
        assert_false(vidi__buffer_reserve(&buffer, sizes[i]));
        assert_int_equal(buffer.error, VIDI_ELIMIT);
        assert_int_equal(buffer.len, 3);
        assert_ptr_equal(buffer.at, room);
        vidi__buffer_free(&buffer);
    }
    assert_int_equal(allocator.calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_fits_stays_in_the_callers_room, begin, finish),
        cmocka_unit_test_setup_teardown(one_byte_more_moves_it_to_memory, begin, finish),
        cmocka_unit_test_setup_teardown(no_room_at_all_will_do, begin, finish),
        cmocka_unit_test_setup_teardown(growing_byte_by_byte_copies_a_few_times_only, begin, finish),
        cmocka_unit_test_setup_teardown(text_is_what_was_added, begin, finish),
        cmocka_unit_test_setup_teardown(refused_memory_leaves_the_text_as_it_was, begin, finish),
        cmocka_unit_test_setup_teardown(absurd_sizes_are_refused, begin, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
