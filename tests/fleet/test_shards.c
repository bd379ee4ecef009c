/*
 * Names, slots and ids of shards, and which shard a URL belongs to; how large each is made.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fleet/redis/redis.h"
#include "fleet/set/plan.h"
#include "fleet/set/shards.h"
#include "support/check.h"
#include "support/random.h"
#include "vidi/url.h"

static const record sample = {.id = 0x1234, .route = {1, 2, 3}};

/* ---- names ---- */

/* The rule, by the client's own function of slots. */
static void check_name(const char *name, uint32_t index, uint32_t count, const shard *shard)
{
    char key[SHARD_KEY];
    for (unsigned j = 0;; j++) {
        int n = snprintf(key, sizeof key, "{%s:%u:%u}", name, index, j), slot = redis_slot((vidi_str){key, (size_t)n});
        int first = (int)((uint64_t)index * 16384 / count), end = (int)((index + UINT64_C(1)) * 16384 / count);
        if (slot < first || slot >= end)
            continue;
        assert_string_equal(shard->key, key);
        assert_int_equal(shard->key_len, n);
        assert_int_equal(shard->slot, slot);
        return;
    }
}

static void check_all(const char *name, uint32_t count)
{
    shards shards;
    record record = sample;
    record.shards = count;
    assert_int_equal(shards_make(&shards, name, &record), VIDI_OK);
    for (uint32_t i = 0; i < count; i++)
        check_name(name, i, count, shards_get(&shards, i));
    shards_free(&shards);
}

static void a_shard_is_the_first_name_whose_slot_is_in_its_range(void **context)
{
    (void)context;
    for (uint32_t count = 1; count <= 64; count++)
        check_all("crawl", count);
    for (uint32_t count = 65; count <= 1000; count += 241) {
        check_all("crawl", count);
        check_all("a.b_c:d-e", count);
    }
    check_all("n", 1024);
}

/* Every shard of a set of any size is in its range, by what shards_get itself says of slots. */
static void every_number_of_shards_gives_each_of_them_a_slot_of_its_range(void **context)
{
    static const uint32_t large[] = {4096, 5000, 16383, 16384};
    shards shards;
    record record = sample;
    (void)context;
    for (uint32_t n = 1; n <= 2048 + sizeof large / sizeof *large; n++) {
        uint32_t count = record.shards = n <= 2048 ? n : large[n - 2049];
        uint32_t step = count / 40 + 1;
        assert_int_equal(shards_make(&shards, "pages", &record), VIDI_OK);
        for (uint32_t i = n % step; i < count; i += step) {
            const shard *shard = shards_get(&shards, i);
            int first = (int)((uint64_t)i * 16384 / count), end = (int)((i + UINT64_C(1)) * 16384 / count);
            assert_in_range(shard->slot, first, end - 1);
            assert_int_equal(redis_slot(shard_key(shard)), shard->slot);
        }
        shards_free(&shards);
    }
}

static void ids_differ_between_shards_and_between_sets(void **context)
{
    enum { COUNT = 300 };
    shards one, other;
    record record = sample, second = sample;
    (void)context;
    record.shards = second.shards = COUNT;
    second.id++;
    assert_int_equal(shards_make(&one, "x", &record), VIDI_OK);
    assert_int_equal(shards_make(&other, "x", &second), VIDI_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(strlen(shards_get(&one, i)->id), SHARD_ID);
        for (uint32_t j = 0; j < COUNT; j++) {
            assert_string_not_equal(shards_get(&one, i)->id, shards_get(&other, j)->id);
            if (i != j)
                assert_string_not_equal(shards_get(&one, i)->id, shards_get(&one, j)->id);
        }
    }
    shards_free(&one);
    shards_free(&other);
}

/* ---- routing ---- */

static void urls_spread_evenly_and_by_the_key(void **context)
{
    enum { SHARDS = 100, URLS = 100000 };
    static uint32_t counts[SHARDS];
    static const unsigned char key[VIDI_KEY_BYTES] = {7}, other[VIDI_KEY_BYTES] = {8};
    unsigned same = 0;
    double square = 0;
    (void)context;
    for (unsigned i = 0; i < URLS; i++) {
        char text[64];
        uint64_t hash[2], second[2];
        int n = snprintf(text, sizeof text, "http://example.org/%u", i);
        vidi_keyed_hash(key, (vidi_str){text, (size_t)n}, hash);
        vidi_keyed_hash(other, (vidi_str){text, (size_t)n}, second);
        counts[shard_of(hash, SHARDS)]++;
        same += shard_of(hash, SHARDS) == shard_of(second, SHARDS);
    }
    for (unsigned i = 0; i < SHARDS; i++)
        square += pow(counts[i] - (double)URLS / SHARDS, 2) / ((double)URLS / SHARDS);
    /* chi-square with 99 degrees of freedom: beyond 200 with a probability of 1e-8; the keys are fixed */
    check(square < 200, "chi-square %f", square);
    check(same > 800 && same < 1200, "%u URLs have the same shard under another key", same);
}

static void the_first_and_the_last_hash_have_a_shard(void **context)
{
    (void)context;
    for (uint32_t count = 1; count <= RECORD_SHARDS; count *= 2) {
        assert_int_equal(shard_of((const uint64_t[2]){UINT64_MAX, 0}, count), 0);
        assert_int_equal(shard_of((const uint64_t[2]){0, UINT64_MAX}, count), count - 1);
    }
}

/* ---- sizes ---- */

static void a_share_has_room_for_what_chance_adds(void **context)
{
    (void)context;
    assert_int_equal(plan_share(1000, 1), 1000);
    for (uint32_t shards = 2; shards <= RECORD_SHARDS; shards *= 3)
        for (uint64_t urls = shards; urls < UINT64_C(1) << 40; urls *= 7) {
            double mean = (double)urls / shards, share = (double)plan_share(urls, shards);
            check(share >= mean + 6 * sqrt(mean) && share <= mean + 6 * sqrt(mean) + 1, "%f of %f", share, mean);
        }
}

/* A thousand sets of a hundred shards: none has a shard that is too small. */
static void no_shard_overflows_in_practice(void **context)
{
    enum { SHARDS = 100, URLS = 10000, SETS = 1000 };
    test_random random = {5};
    uint64_t share = plan_share(URLS, SHARDS);
    (void)context;
    for (unsigned set = 0; set < SETS; set++) {
        uint32_t counts[SHARDS] = {0};
        for (unsigned i = 0; i < URLS; i++) {
            uint64_t hash[2] = {0, test_next(&random)};
            check(++counts[shard_of(hash, SHARDS)] <= share, "a shard has more than %lu", (unsigned long)share);
        }
    }
}

static void the_number_of_shards_follows_from_the_bytes(void **context)
{
    record record;
    vidi_options options = VIDI_OPTIONS_INIT;
    (void)context;
    assert_int_equal(plan_record(&record, &options, 0, 16), VIDI_OK);
    assert_int_equal(record.shards, 16);
    options.capacity = 3000000;
    assert_int_equal(plan_record(&record, &options, 0, 16), VIDI_OK);
    assert_int_equal(record.shards, 3); /* of 22 MiB, says `vidi plan` */
    options.kind = "classic";
    options.params = "k=10";
    assert_int_equal(plan_record(&record, &options, 0, 16), VIDI_OK);
    assert_int_equal(record.shards, 2); /* of 13 MiB */
    options.params = NULL;
    options.capacity = UINT64_C(100000000000);
    assert_int_equal(plan_record(&record, &options, 0, 16), VIDI_OK);
    assert_int_equal(record.shards, RECORD_SHARDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shard_is_the_first_name_whose_slot_is_in_its_range),
        cmocka_unit_test(every_number_of_shards_gives_each_of_them_a_slot_of_its_range),
        cmocka_unit_test(ids_differ_between_shards_and_between_sets),
        cmocka_unit_test(urls_spread_evenly_and_by_the_key),
        cmocka_unit_test(the_first_and_the_last_hash_have_a_shard),
        cmocka_unit_test(a_share_has_room_for_what_chance_adds),
        cmocka_unit_test(no_shard_overflows_in_practice),
        cmocka_unit_test(the_number_of_shards_follows_from_the_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
