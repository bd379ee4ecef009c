#include "support/same.h"

#include <math.h>
#include <string.h>

#include "support/cases.h"
#include "support/check.h"
#include "support/urls.h"
#include "vidi/transfer.h"

void test_add_urls(vidi_set *set, uint64_t seed, uint64_t first, uint64_t n)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = first; i < first + n; i++) {
        int verdict = vidi_add(set, (vidi_str){room, test_url(room, sizeof room, seed, i)});
        check(verdict > 0, "URL %llu: %d, %s", (unsigned long long)i, verdict, vidi_message());
    }
}

/*
 * Expected losses are a sum over all adds, which differs in the last bit: blocked continues from a rate that it
 * remembers, or has to compute after a copy.
 */
static void same_losses(double one, double two)
{
    check(fabs(one - two) <= 1e-12 * one, "%.17g and %.17g", one, two);
}

static void same_history(const vidi_set *a, const vidi_set *b, uint64_t epochs)
{
    for (uint64_t i = 0; i < epochs; i++) {
        vidi_epoch_stats one, two;
        memset(&one, 0, sizeof one);
        memset(&two, 0, sizeof two);
        one.size = two.size = sizeof one;
        assert_int_equal(vidi_epoch_stat(a, i, &one), VIDI_OK);
        assert_int_equal(vidi_epoch_stat(b, i, &two), VIDI_OK);
        one.bytes = two.bytes; /* of what was alike, but not in the same memory */
        same_losses(one.expected_lost, two.expected_lost);
        one.expected_lost = two.expected_lost;
        assert_memory_equal(&one, &two, sizeof one);
    }
}

void test_same_numbers(const vidi_set *a, const vidi_set *b)
{
    vidi_stats one = test_stat(a), two = test_stat(b);
    assert_string_equal(one.kind, two.kind);
    assert_string_equal(one.params, two.params);
    assert_string_equal(one.hash, two.hash);
    assert_string_equal(one.canon, two.canon);
    assert_int_equal(one.can, two.can);
    assert_int_equal(one.stages, two.stages);
    assert_int_equal(one.epoch, two.epoch);
    assert_int_equal(one.capacity, two.capacity);
    assert_int_equal(one.count, two.count);
    assert_int_equal(one.answered_new, two.answered_new);
    assert_int_equal(one.answered_seen, two.answered_seen);
    assert_int_equal(one.answered_invalid, two.answered_invalid);
    assert_int_equal(one.asked, two.asked);
    assert_int_equal(one.removed, two.removed);
    assert_int_equal(one.ambiguous, two.ambiguous);
    check(one.fp_now == two.fp_now, "%g and %g", one.fp_now, two.fp_now);
    same_losses(one.expected_lost, two.expected_lost);
    assert_int_equal(one.past_epochs, two.past_epochs);
    same_history(a, b, one.past_epochs);
}

void test_same_answers(const vidi_set *a, const vidi_set *b, uint64_t seed, uint64_t first, uint64_t n)
{
    char room[TEST_URL_ROOM];
    bool counts = test_stat(a).can & VIDI_CAN_COUNT;
    for (uint64_t i = first; i < first + n; i++) {
        vidi_str url = {room, test_url(room, sizeof room, seed, i)};
        uint64_t one = 0, two = 0;
        check(vidi_has(a, url) == vidi_has(b, url), "URL %llu", (unsigned long long)i);
        if (counts) {
            assert_int_equal(vidi_count(a, url, &one), VIDI_OK);
            assert_int_equal(vidi_count(b, url, &two), VIDI_OK);
            assert_int_equal(one, two);
        }
    }
}

void test_holds_all(const vidi_set *copy, const vidi_set *set, uint64_t seed, uint64_t first, uint64_t n)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = first; i < first + n; i++) {
        vidi_str url = {room, test_url(room, sizeof room, seed, i)};
        check(vidi_has(set, url) != VIDI_SEEN || vidi_has(copy, url) == VIDI_SEEN, "URL %llu", (unsigned long long)i);
    }
}

void test_same_contents(const vidi_set *a, const vidi_set *b)
{
    unsigned char one[VIDI_CONTENT_DIGEST_BYTES], two[VIDI_CONTENT_DIGEST_BYTES];
    if (!(test_stat(a).can & VIDI_CAN_ITERATE))
        return;
    assert_int_equal(vidi_content_digest(a, one), VIDI_OK);
    assert_int_equal(vidi_content_digest(b, two), VIDI_OK);
    assert_memory_equal(one, two, sizeof one);
}
