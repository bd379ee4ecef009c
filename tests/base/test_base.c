/* Errors, sized structs, and memory under a limit. */
#include <stdlib.h>

#include "base/lazy.h"
#include "base/memory.h"
#include "base/random.h"
#include "support/check.h"

static void every_error_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (int a = VIDI_OK; a >= VIDI_EDAMAGED; a--)
        for (int b = VIDI_OK; b > a; b--)
            assert_string_not_equal(vidi_strerror(a), vidi_strerror(b));
    assert_string_equal(vidi_strerror(VIDI_INVALID), "not a URL");
    assert_non_null(strstr(vidi_strerror(-1000), "not an error code"));
    assert_string_equal(vidi_version(), "0.1.0");
}

static void messages_are_kept_and_prefixed(void **state)
{
    (void)state;
    assert_int_equal(vidi__fail(VIDI_EOPTION, "k is %d", 3), VIDI_EOPTION);
    assert_int_equal(vidi__fail_in("classic", VIDI_EFORMAT), VIDI_EFORMAT);
    assert_string_equal(vidi_message(), "classic: k is 3");
}

static void what_is_handled_is_not_told(void **state)
{
    vidi__quiet outer, inner;
    (void)state;
    vidi__fail(VIDI_EIO, "told");
    vidi__quiet_begin(&outer);
    vidi__fail(VIDI_EIO, "handled");
    assert_string_equal(vidi_message(), "told");
    assert_string_equal(vidi__sentence(), "handled");
    vidi__quiet_begin(&inner);
    vidi__fail(VIDI_EFORMAT, "inside");
    assert_int_equal(vidi__quiet_end(&inner, VIDI_OK), VIDI_OK);
    assert_string_equal(vidi__sentence(), "handled");
    assert_int_equal(vidi__quiet_end(&outer, VIDI_SEEN), VIDI_SEEN);
    assert_string_equal(vidi_message(), "told");
    assert_string_equal(vidi__sentence(), "told");
}

static void what_is_passed_on_is_told(void **state)
{
    vidi__quiet outer, inner;
    (void)state;
    vidi__fail(VIDI_EIO, "before");
    vidi__quiet_begin(&outer);
    vidi__quiet_begin(&inner);
    vidi__fail(VIDI_EFORMAT, "100 %%");
    vidi__fail_in("classic", VIDI_EFORMAT);
    assert_int_equal(vidi__quiet_end(&inner, VIDI_EFORMAT), VIDI_EFORMAT);
    assert_string_equal(vidi_message(), "before");
    assert_string_equal(vidi__sentence(), "classic: 100 %");
    assert_int_equal(vidi__quiet_end(&outer, VIDI_INVALID), VIDI_INVALID);
    assert_string_equal(vidi_message(), "classic: 100 %");
}

static void sizes_read_well(void **state)
{
    (void)state;
    assert_string_equal(vidi__human_bytes(24).text, "24 bytes");
    assert_string_equal(vidi__human_bytes(1536).text, "1.5 KiB");
    assert_string_equal(vidi__human_bytes(UINT64_C(24) << 30).text, "24 GiB");
    assert_string_equal(vidi__human_bytes(UINT64_MAX).text, "16 EiB");
}

static void text_that_does_not_fit_is_cut_at_a_whole_piece(void **state)
{
    (void)state;
    char buffer[8];
    vidi__text text = vidi__text_in(buffer, sizeof buffer);
    vidi__text_add(&text, "abc");
    vidi__text_add(&text, "defgh");
    assert_true(text.cut);
    assert_string_equal(buffer, "abc");
}

struct v1 {
    size_t size;
    int a;
};
struct v2 {
    size_t size;
    int a, b, c, d;
};

static void structs_of_other_versions_are_understood(void **state)
{
    (void)state;
    struct v1 old = {sizeof old, 7}, as_old;
    struct v2 young = {sizeof young, 1, 0, 0, 0}, as_young;
    assert_int_equal(vidi__struct_in(&as_young, sizeof as_young, &old, "v"), VIDI_OK);
    assert_true(as_young.a == 7 && as_young.d == 0);
    assert_int_equal(vidi__struct_in(&as_old, sizeof as_old, &young, "v"), VIDI_OK);
    young.d = 5; /* a field that we do not know, and that means something */
    assert_int_equal(vidi__struct_in(&as_old, sizeof as_old, &young, "v"), VIDI_EARGUMENT);
    young.size = 0;
    assert_int_equal(vidi__struct_in(&as_old, sizeof as_old, &young, "v"), VIDI_EARGUMENT);
    assert_int_equal(vidi__struct_out(&young, &old, sizeof old, "v"), VIDI_EARGUMENT);
    old = (struct v1){sizeof old, 0};
    young = (struct v2){sizeof young, 1, 2, 3, 4};
    assert_int_equal(vidi__struct_out(&old, &young, sizeof young, "v"), VIDI_OK);
    assert_true(old.size == sizeof old && old.a == 1);
}

static void memory_is_counted_and_limited(void **state)
{
    (void)state;
    vidi__memory memory;
    void *a, *b;
    assert_int_equal(vidi__memory_init(&memory, NULL, 1000), VIDI_OK);
    assert_int_equal(vidi__alloc(&memory, &a, 600, 64), VIDI_OK);
    assert_int_equal((uintptr_t)a % 64, 0);
    assert_int_equal(vidi__memory_used(&memory), 600);
    assert_int_equal(vidi__alloc(&memory, &b, 401, 8), VIDI_ELIMIT);
    assert_null(b);
    assert_int_equal(vidi__memory_check(&memory, 401), VIDI_ELIMIT);
    assert_int_equal(vidi__alloc(&memory, &b, UINT64_MAX, 8), VIDI_ELIMIT);
    assert_int_equal(vidi__alloc_zeroed(&memory, &b, 400, 8), VIDI_OK);
    for (int i = 0; i < 400; i++)
        assert_int_equal(((char *)b)[i], 0);
    vidi__release(&memory, a, 600, 64);
    vidi__release(&memory, b, 400, 8);
    assert_int_equal(vidi__memory_used(&memory), 0);
}

static void the_machine_is_the_limit_by_default(void **state)
{
    (void)state;
    vidi__memory memory;
    void *a;
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    assert_true(memory.limit > (1 << 20));
    assert_int_equal(vidi__alloc(&memory, &a, memory.limit + 1, 64), VIDI_ELIMIT);
}

static void large_blocks_are_zeroed_and_given_back(void **state)
{
    (void)state;
    vidi__memory memory;
    unsigned char *a;
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    assert_int_equal(vidi__alloc_zeroed(&memory, &a, 5 << 20, 4096), VIDI_OK);
    assert_int_equal(a[0] | a[(5 << 20) - 1], 0);
    a[0] = 9;
    assert_int_equal(vidi__regrow(&memory, &a, 5 << 20, 6 << 20, 4096), VIDI_OK);
    assert_int_equal(a[0], 9);
    vidi__release(&memory, a, 6 << 20, 4096);
    assert_int_equal(vidi__memory_used(&memory), 0);
}

static void *refuse(void *context, size_t bytes, size_t alignment)
{
    (void)context, (void)bytes, (void)alignment;
    return NULL;
}

static void ignore(void *context, void *ptr, size_t bytes, size_t alignment)
{
    (void)context, (void)ptr, (void)bytes, (void)alignment;
}

static void an_allocator_that_refuses_is_an_error(void **state)
{
    (void)state;
    vidi__memory memory;
    void *a;
    vidi_allocator none = {sizeof none, refuse, NULL, ignore, NULL}, half = {sizeof half, refuse, NULL, NULL, NULL};
    assert_int_equal(vidi__memory_init(&memory, &half, 0), VIDI_EARGUMENT);
    assert_int_equal(vidi__memory_init(&memory, &none, 0), VIDI_OK);
    assert_int_equal(vidi__alloc_zeroed(&memory, &a, 10, 1), VIDI_EMEMORY);
    assert_int_equal(vidi__memory_used(&memory), 0);
}

static void keys_are_random(void **state)
{
    (void)state;
    unsigned char a[16], b[16];
    assert_int_equal(vidi__random(a, sizeof a), VIDI_OK);
    assert_int_equal(vidi__random(b, sizeof b), VIDI_OK);
    assert_memory_not_equal(a, b, sizeof a);
}

/* What nobody has written to is read from here, with aligned vector loads. */
static void zeros_lie_as_blocks_do(void **state)
{
    (void)state;
    assert_int_equal((uintptr_t)vidi__lazy_zeros % VIDI__CACHE_LINE, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_has_a_text_of_its_own),
        cmocka_unit_test(messages_are_kept_and_prefixed),
        cmocka_unit_test(what_is_handled_is_not_told),
        cmocka_unit_test(what_is_passed_on_is_told),
        cmocka_unit_test(sizes_read_well),
        cmocka_unit_test(text_that_does_not_fit_is_cut_at_a_whole_piece),
        cmocka_unit_test(structs_of_other_versions_are_understood),
        cmocka_unit_test(memory_is_counted_and_limited),
        cmocka_unit_test(the_machine_is_the_limit_by_default),
        cmocka_unit_test(large_blocks_are_zeroed_and_given_back),
        cmocka_unit_test(an_allocator_that_refuses_is_an_error),
        cmocka_unit_test(zeros_lie_as_blocks_do),
        cmocka_unit_test(keys_are_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
