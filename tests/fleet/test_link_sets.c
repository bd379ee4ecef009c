/*
 * Sets of hashes (fleet/links/link_sets.h): the cache of sent links forgets, and never invents; the set of URLs in hand
 * does neither.
 */
#include "fleet/links/link_sets.h"

#include <stdlib.h>

#include "support/check.h"
#include "support/random.h"
#include "vidi/vidi.h"

static void a_sent_link_is_sent_once_and_no_other_one_is_taken_for_it(void **context)
{
    sent_cache cache;
    test_random random = {7};

    (void)context;
    assert_int_equal(sent_cache_make(&cache, 6), VIDI_OK);
    for (int i = 0; i < 10000; i++) {
        uint64_t hash = test_next(&random);
        assert_true(sent_cache_add(&cache, hash));
        assert_false(sent_cache_add(&cache, hash));
    }
    for (int i = 0; i < 10000; i++)
        assert_true(sent_cache_add(&cache, test_next(&random)));
    sent_cache_free(&cache);
}

static void what_is_taken_back_is_new(void **context)
{
    sent_cache cache;

    (void)context;
    assert_int_equal(sent_cache_make(&cache, 6), VIDI_OK);
    for (uint64_t hash = 0; hash < 40; hash++)
        assert_true(sent_cache_add(&cache, hash << 32 | (hash + 2)));
    sent_cache_remove(&cache, UINT64_C(5) << 32 | 7);
    assert_true(sent_cache_add(&cache, UINT64_C(5) << 32 | 7));
    assert_false(sent_cache_add(&cache, UINT64_C(6) << 32 | 8));
    sent_cache_clear(&cache);
    assert_true(sent_cache_add(&cache, UINT64_C(6) << 32 | 8));
    sent_cache_free(&cache);
}

/* Against an array; few different hashes, so that runs of probing are long and wrap around. */
static void the_set_in_hand_is_exact(void **context)
{
    enum { HASHES = 300 };
    bool wanted[HASHES] = {false};
    hand_set set = {0};
    test_random random = {3};
    size_t count = 0;

    (void)context;
    for (int i = 0; i < 200000; i++) {
        uint64_t n = test_below(&random, HASHES), hash = n * UINT64_C(0x40);
        assert_int_equal(hand_set_has(&set, hash), wanted[n]);
        if (test_next(&random) & 1) {
            assert_int_equal(hand_set_add(&set, hash), wanted[n] ? VIDI_EEXIST : VIDI_OK);
            count += !wanted[n];
            wanted[n] = true;
        } else {
            hand_set_remove(&set, hash);
            count -= wanted[n];
            wanted[n] = false;
        }
        assert_int_equal(set.count, count);
    }
    hand_set_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sent_link_is_sent_once_and_no_other_one_is_taken_for_it),
        cmocka_unit_test(what_is_taken_back_is_new),
        cmocka_unit_test(the_set_in_hand_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
