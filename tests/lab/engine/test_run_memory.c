/* Memory of a run: whatever a block was given is released when it ends, however it ends (run_memory.h). */
#include <string.h>

#include "lab/engine/run_memory.h"
#include "support/env.h"
#include "support/runner.h"

static char released[8], names[] = "abcx";

static void note_release(void *name)
{
    strncat(released, name, 1);
}

static int own_two(int code)
{
    LAB_BLOCK;
    LAB_TRY(lab_own(&names[0], note_release));
    LAB_TRY(lab_own(&names[1], note_release));
    LAB_TRY(code);
    return lab_own(&names[2], note_release);
}

static void a_block_releases_its_things_in_reverse_order(void **state)
{
    (void)state;
    released[0] = 0;
    assert_int_equal(own_two(VIDI_OK), VIDI_OK);
    assert_string_equal(released, "cba");
}

static void a_block_that_an_error_ends_releases_its_things(void **state)
{
    (void)state;
    released[0] = 0;
    assert_int_equal(own_two(VIDI_EIO), VIDI_EIO);
    assert_string_equal(released, "ba");
}

static void an_inner_block_leaves_the_things_of_the_outer_one(void **state)
{
    (void)state;
    released[0] = 0;
    lab_block outer = lab_block_begin();
    assert_int_equal(lab_own(&names[3], note_release), VIDI_OK);
    assert_int_equal(own_two(VIDI_OK), VIDI_OK);
    assert_string_equal(released, "cba");
    lab_block_end(&outer);
    assert_string_equal(released, "cbax");
}

static void new_arrays_are_zeroed_and_an_impossible_one_is_an_error(void **state)
{
    uint64_t *array;
    (void)state;
    LAB_BLOCK;
    assert_int_equal(LAB_NEW(array, 1000), VIDI_OK);
    for (size_t i = 0; i < 1000; i++)
        assert_true(array[i] == 0);
    if (test_sanitized()) /* the sanitizer takes an impossible size for a mistake */
        return;
    assert_int_equal(LAB_NEW(array, SIZE_MAX / 8), VIDI_EMEMORY);
    assert_null(array);
}

static void a_set_has_the_parameters_that_the_format_gives(void **state)
{
    lab_settings settings = {.urls = 10, .seed = 1};
    vidi_stats stats = {.size = sizeof stats};
    vidi_set *set;
    (void)state;
    LAB_BLOCK;
    assert_int_equal(lab_set(&set, &settings, 0, "classic", 10, "m=%d,k=%d", 4096, 5), VIDI_OK);
    assert_int_equal(vidi_stat(set, &stats), VIDI_OK);
    assert_non_null(strstr(stats.params, "k=5"));
    assert_int_equal(lab_set(&set, &settings, 0, "classic", 10, "k=%s", "many"), VIDI_EOPTION);
}

int main(int argc, char **argv)
{
    test_add("a block releases its things in reverse order", a_block_releases_its_things_in_reverse_order, NULL);
    test_add("a block that an error ends releases its things", a_block_that_an_error_ends_releases_its_things, NULL);
    test_add("an inner block leaves the things of the outer one", an_inner_block_leaves_the_things_of_the_outer_one,
             NULL);
    test_add("new arrays are zeroed, and an impossible one is an error",
             new_arrays_are_zeroed_and_an_impossible_one_is_an_error, NULL);
    test_add("a set has the parameters that the format gives", a_set_has_the_parameters_that_the_format_gives, NULL);
    return test_run("lab/run_memory", argc, argv);
}
