/*
 * vidi_verify looks at everything that a reader has mapped: the snapshot, and that of the previous epoch.
 */
#include <stdlib.h>

#include "support/access.h"
#include "support/check.h"
#include "support/scratch.h"
#include "vidi/vidi.h"

static const vidi_str url = {"http://a.example/", 17};

/* A set with a URL in its previous epoch. The snapshot of that epoch is set.2. */
static void make_set(const char *path)
{
    vidi_set *set;
    vidi_options options = VIDI_OPTIONS_INIT, next = VIDI_OPTIONS_INIT;
    options.path = path;
    next.flags = VIDI_KEEP_PREVIOUS;
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    assert_int_equal(vidi_add(set, url), VIDI_NEW);
    assert_int_equal(vidi_snapshot(set), VIDI_OK);
    assert_int_equal(vidi_rotate(set, &next), VIDI_OK);
    vidi_close(set);
}

static int verify(const char *path, unsigned flags)
{
    vidi_set *set;
    int code = test_open(&set, path, VIDI_READ_ONLY | flags);
    if (code == VIDI_OK)
        code = vidi_verify(set);
    vidi_close(set);
    return code;
}

static void a_damaged_previous_epoch_is_found(void **state)
{
    (void)state;
    test_scratch folder;
    size_t bytes, wrong = 0;
    test_scratch_make(&folder);
    make_set(folder.path);
    assert_int_equal(verify(folder.path, 0), VIDI_OK);
    unsigned char *data = test_file_load(&folder, "set.0000000000000002", &bytes);
    for (size_t at = 0; at < bytes; at += 7) {
        data[at] ^= 4;
        test_file_save(&folder, "set.0000000000000002", data, bytes);
        int mapped = verify(folder.path, 0), read = verify(folder.path, VIDI_NO_MAP);
        check(mapped == VIDI_EFORMAT && read == VIDI_EFORMAT, "byte %zu: %d and %d", at, mapped, read);
        data[at] ^= 4;
        wrong++;
    }
    assert_true(wrong > 100);
    free(data);
    test_scratch_remove(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_damaged_previous_epoch_is_found)};
    return cmocka_run_group_tests_name("durable/verify_previous", tests, NULL, NULL);
}
