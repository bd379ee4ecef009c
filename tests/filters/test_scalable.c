/*
 * Scalable filters: where a stage ends, by count and by rate; many small stages, and few that grow a lot; batches that
 * cross the end of a stage; what happens when there is no memory for the next one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/streams.h"

enum { SEED = 61, BATCH = 700 };

static vidi_set *try_make(const char *params, uint64_t capacity, double error, const vidi_access *access)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    vidi_set *set = NULL;
    test_key(key, SEED);
    options.kind = "scalable";
    options.params = params;
    options.capacity = capacity;
    options.error = error;
    options.canon = "none";
    options.key = key;
    options.access = access;
    return vidi_create(&set, &options) == VIDI_OK ? set : NULL;
}

static vidi_set *make(const char *params, uint64_t capacity, double error)
{
    vidi_set *set = try_make(params, capacity, error, NULL);
    check(set, "scalable %s for %llu URLs: %s", params, (unsigned long long)capacity, vidi_message());
    return set;
}

/* URL number i, which is not the beginning of another. */
static vidi_str url_at(char room[24], uint64_t i)
{
    return (vidi_str){room, (size_t)snprintf(room, 24, "u%llu.", (unsigned long long)i)};
}

static int add(vidi_set *set, uint64_t i)
{
    char room[24];
    return vidi_add(set, url_at(room, i));
}

static int has(const vidi_set *set, uint64_t i)
{
    char room[24];
    return vidi_has(set, url_at(room, i));
}

static vidi_stage_stats stage_of(const vidi_set *set, uint64_t index)
{
    vidi_stage_stats stage = {.size = sizeof stage};
    assert_int_equal(vidi_stage_stat(set, index, &stage), VIDI_OK);
    return stage;
}

/* ---- by count ---- */

typedef struct series {
    uint64_t capacity;
    double growth;
    uint64_t urls;
} series;

static const series all_series[] = {
    {1, 1, 300},      {1, 2, 3000},     {1, 1.5, 500},      {2, 1, 100},      {3, 4, 4000},
    {7, 1.1, 300},    {64, 2, 2000},    {100, 2, 5000},     {100, 1, 1000},   {100, 32768, 5000},
    {1, 32768, 5000}, {999, 64, 20000}, {1000, 1000, 5000}, {4096, 2, 20000}, {5000, 3, 20001},
};

/* The stages that this many URLs need, and how many of them are in the last. */
static uint32_t stages_for(const series *of, uint64_t urls, uint64_t *in_last)
{
    double capacity = (double)of->capacity;
    uint32_t stages = 1;
    while (urls > (uint64_t)capacity) {
        urls -= (uint64_t)capacity;
        capacity *= of->growth;
        stages++;
    }
    *in_last = urls;
    return stages;
}

static void a_stage_ends_exactly_at_its_count(void **state)
{
    const series *of = *state;
    char params[60];
    snprintf(params, sizeof params, "ends=count,growth=%g", of->growth);
    vidi_set *set = make(params, of->capacity, 0.01);
    uint64_t fresh = 0, in_last;
    for (uint64_t i = 0; fresh < of->urls; i++) {
        if (add(set, i) != VIDI_NEW)
            continue;
        uint32_t stages = stages_for(of, ++fresh, &in_last), found = test_stat(set).stages;
        check(found == stages, "%u stages after %llu URLs, not %u", found, (unsigned long long)fresh, stages);
        assert_int_equal(stage_of(set, stages - 1).count, in_last);
    }
    for (uint32_t i = 0; i + 1 < test_stat(set).stages; i++)
        assert_int_equal(stage_of(set, i).count, stage_of(set, i).capacity);
    vidi_close(set);
}

/* The 101st NEW, and no URL that the set has, opens the second stage. */
static void only_a_new_url_opens_a_stage(void **state)
{
    vidi_set *set = make("ends=count", 100, 0.01);
    uint64_t fresh = 0, i = 0;
    (void)state;
    while (fresh < 100)
        fresh += add(set, i++) == VIDI_NEW;
    for (uint64_t j = 0; j < i; j++)
        assert_int_equal(add(set, j), VIDI_SEEN);
    assert_int_equal(test_stat(set).stages, 1);
    while (add(set, i++) == VIDI_SEEN) {
    }
    assert_int_equal(test_stat(set).stages, 2);
    assert_int_equal(stage_of(set, 1).count, 1);
    assert_int_equal(stage_of(set, 1).capacity, 200);
    vidi_close(set);
}

/* The mean over many keys is what was asked for; each first stage has half of it. */
static void by_count_the_mean_rate_is_as_asked_for(void **state)
{
    double sum = 0, most = 0;
    enum { SETS = 200 };
    (void)state;
    for (uint64_t seed = 0; seed < SETS; seed++) {
        test_case which = {"scalable", "ends=count", 100, 0.01, 0};
        vidi_set *set = test_case_bytes_set(&which, 1, seed, NULL);
        for (uint64_t i = 0; test_stat(set).count < 100; i++)
            add(set, i);
        assert_int_equal(test_stat(set).stages, 1);
        sum += test_stat(set).fp_now;
        most = fmax(most, test_stat(set).fp_now);
        vidi_close(set);
    }
    check(sum / SETS > 0.0048 && sum / SETS < 0.0052, "mean %g", sum / SETS);
    check(most > 0.005 && most < 0.01, "at most %g", most);
}

/* ---- by rate ---- */

/* Bits that fill faster end a stage early, so the rate is above at most by what the last URL of each stage has added. */
static void by_rate_the_rate_stays_below(void **state)
{
    uint64_t early = 0, stages = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        bool large = seed % 4 == 0;
        test_case which = {"scalable", NULL, large ? 9000 : 50, 0.01, 0};
        vidi_set *set = test_case_bytes_set(&which, 1, seed, NULL);
        for (uint64_t i = 0; i < (large ? 30000 : 5000); i++)
            add(set, i);
        check(test_stat(set).fp_now <= (large ? 0.01 : 0.0115), "%g", test_stat(set).fp_now);
        for (uint32_t i = 0; i + 1 < test_stat(set).stages; i++, stages++)
            early += stage_of(set, i).count < stage_of(set, i).capacity;
        vidi_close(set);
    }
    check(early > 0 && early < stages, "%llu of %llu stages ended early", (unsigned long long)early,
          (unsigned long long)stages);
}

/* ---- the series ---- */

static void growth_and_ends_are_checked(void **state)
{
    static const char *const good[] = {"growth=1", "growth=32768", "ends=rate", "ends=count,inner=blocked"};
    static const char *const bad[] = {"growth=0.99", "growth=32769", "ends=never", "ends="};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        vidi_close(make(good[i], 10, 0.01));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check(!try_make(bad[i], 10, 0.01, NULL), "%s was taken", bad[i]);
}

/* 1,024 stages of one URL each: their rates add up to less than the one asked for and never rise. */
static void the_rates_of_all_stages_add_up_to_less(void **state)
{
    static const char *const tighten[] = {"0.01", "0.5", "0.9", "0.99"};
    (void)state;
    for (size_t t = 0; t < sizeof tighten / sizeof *tighten; t++) {
        char params[60];
        snprintf(params, sizeof params, "ends=count,growth=1,tighten=%s", tighten[t]);
        vidi_set *set = make(params, 1, 0.01);
        uint64_t i = 0;
        int verdict;
        while ((verdict = add(set, i)) >= 0)
            i++;
        assert_int_equal(verdict, VIDI_ELIMIT);
        assert_int_equal(test_stat(set).stages, 1024);
        assert_int_equal(test_stat(set).count, 1024);
        assert_int_equal(add(set, 0), VIDI_SEEN);
        double sum = 0, before = 1;
        for (uint64_t stage = 0; stage < 1024; stage++) {
            double error = stage_of(set, stage).error;
            check(error > 0 && error <= before * (1 + 1e-12), "stage %llu: %g after %g", (unsigned long long)stage,
                  error, before);
            sum += before = error;
        }
        check(sum <= 0.01 * (1 + 1e-12), "tighten=%s: together %g", tighten[t], sum);
        vidi_close(set);
    }
}

static void a_stage_that_no_memory_holds_is_refused(void **state)
{
    vidi_access access = VIDI_ACCESS_INIT;
    access.memory_limit = 1 << 20;
    vidi_set *set = try_make("ends=count,growth=32768", 100, 0.01, &access);
    uint64_t i = 0;
    int verdict = VIDI_NEW;
    (void)state;
    for (; verdict >= 0; i++)
        verdict = add(set, i);
    assert_int_equal(verdict, VIDI_ELIMIT);
    assert_int_equal(test_stat(set).count, 100);
    assert_int_equal(has(set, i - 1), VIDI_NEW);
    assert_int_equal(has(set, 0), VIDI_SEEN);
    vidi_close(set);
}

/* A small set is small: no arrays for stages that it does not have. */
static void a_stage_costs_little_beside_its_bits(void **state)
{
    vidi_access access = VIDI_ACCESS_INIT;
    test_allocator allocator;
    (void)state;
    test_allocator_init(&allocator);
    access.allocator = &allocator.hook;
    vidi_set *set = try_make("ends=count", 100, 0.01, &access);
    uint64_t before = test_allocator_live(&allocator), bits = test_stat(set).bytes;
    for (uint64_t i = 0; test_stat(set).stages < 4; i++)
        add(set, i);
    uint64_t more = test_allocator_live(&allocator) - before, of_bits = test_stat(set).bytes - bits;
    check(more <= of_bits + 3 * 512, "%llu bytes for %llu of bits", (unsigned long long)more,
          (unsigned long long)of_bits);
    vidi_close(set);
    test_allocator_finish(&allocator);
}

/* ---- batches ---- */

static const char *const batched[] = {
    "ends=count",
    "ends=rate",
    "ends=count,growth=1,tighten=0.9",
    "ends=count,growth=1.5,inner=blocked",
    "ends=rate,inner=blocked",
    "ends=count,inner=fingerprint",
    "ends=count,inner=counting",
    "ends=rate,inner=scalable,inner.ends=count",
    "ends=count,inner=hashset",
    "ends=count,inner=classic,hash=jenkins,mode=salted",
};

/* Some URLs of which many are there already, and some are twice in the batch. */
typedef struct some_urls {
    size_t n;
    vidi_str urls[BATCH];
    char rooms[BATCH][24];
    uint8_t verdicts[BATCH], singly[BATCH];
} some_urls;

static void choose(some_urls *some, test_random *random, uint64_t *next)
{
    some->n = 1 + (size_t)test_below(random, test_below(random, 3) ? BATCH : 40);
    for (size_t i = 0; i < some->n; i++) {
        uint64_t which = test_below(random, 3) ? (*next)++ : test_below(random, *next + 1);
        some->urls[i] = url_at(some->rooms[i], which);
    }
}

static void check_same_stages(const vidi_set *a, const vidi_set *b)
{
    vidi_stats one = test_stat(a), other = test_stat(b);
    assert_int_equal(one.stages, other.stages);
    assert_int_equal(one.count, other.count);
    assert_int_equal(one.answered_new, other.answered_new);
    assert_int_equal(one.answered_seen, other.answered_seen);
    check(fabs(one.expected_lost - other.expected_lost) <= 0.05 * one.expected_lost + 1e-6, "lost %g, %g",
          one.expected_lost, other.expected_lost);
    for (uint32_t i = 0; i < one.stages; i++) {
        vidi_stage_stats x = stage_of(a, i), y = stage_of(b, i);
        if (strstr(one.params, "inner=hashset"))
            x.bytes = y.bytes; /* a copy may have less room to spare */
        assert_memory_equal(&x, &y, sizeof x);
    }
}

static void a_batch_ends_stages_where_single_adds_do(void **state)
{
    const char *params = *state;
    vidi_set *one = make(params, 20, 0.05), *other = make(params, 20, 0.05);
    test_random random = {SEED};
    static some_urls some;
    uint64_t next = 0;
    while (next < (strstr(params, "growth=1,") ? 2000 : 12000)) {
        choose(&some, &random, &next);
        for (size_t i = 0; i < some.n; i++)
            some.singly[i] = (uint8_t)vidi_add(one, some.urls[i]);
        assert_int_equal(vidi_add_batch(other, some.urls, some.n, some.verdicts, NULL), VIDI_OK);
        assert_memory_equal(some.verdicts, some.singly, some.n);
        assert_int_equal(vidi_has_batch(other, some.urls, some.n, some.verdicts), VIDI_OK);
        for (size_t i = 0; i < some.n; i++)
            assert_int_equal(some.verdicts[i], VIDI_SEEN);
        check_same_stages(one, other);
    }
    for (uint64_t first = next; first < next + 3000; first += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            some.urls[i] = url_at(some.rooms[i], first + i);
        assert_int_equal(vidi_has_batch(other, some.urls, BATCH, some.verdicts), VIDI_OK);
        for (size_t i = 0; i < BATCH; i++)
            assert_int_equal(some.verdicts[i], vidi_has(one, some.urls[i]));
    }
    vidi_close(one);
    vidi_close(other);
}

/* A set that was made with a capacity so large that it never changes says what a set in memory said at some time. */
static void check_after_failure(const vidi_set *set, const vidi_set *without, const some_urls *some)
{
    uint64_t fresh = 0;
    for (size_t i = 0; i < some->n; i++) {
        assert_true(some->verdicts[i] == VIDI_UNTRIED || some->verdicts[i] == VIDI_SEEN ||
                    some->verdicts[i] == VIDI_NEW);
        if (some->verdicts[i] != VIDI_UNTRIED)
            assert_int_equal(vidi_has(set, some->urls[i]), VIDI_SEEN);
        fresh += some->verdicts[i] == VIDI_NEW;
    }
    assert_int_equal(test_stat(set).count, test_stat(without).count + fresh);
    assert_int_equal(test_stat(set).answered_new, test_stat(without).answered_new + fresh);
}

/* No memory for the next stage: what was there is answered, what fits is added, and all else can be added later. */
static void each_url_of_a_failed_batch_is_answered_or_untouched(void **state)
{
    const char *params = *state;
    vidi_access access = VIDI_ACCESS_INIT;
    test_allocator allocator;
    test_random random = {SEED};
    static some_urls some;
    uint64_t next = 0, failed = 0;
    test_allocator_init(&allocator);
    access.allocator = &allocator.hook;
    vidi_set *set = try_make(params, 20, 0.05, &access), *without = make(params, 20, 0.05);
    for (unsigned round = 0; next < (strstr(params, "growth=1,") ? 1500 : 5000); round++) {
        choose(&some, &random, &next);
        test_allocator_fail(&allocator, 1 + round % 3, true);
        int code = vidi_add_batch(set, some.urls, some.n, some.verdicts, NULL);
        test_allocator_fail(&allocator, 0, false);
        failed += code < 0;
        check_after_failure(set, without, &some);
        memcpy(some.singly, some.verdicts, some.n);
        assert_int_equal(vidi_add_batch(set, some.urls, some.n, some.verdicts, NULL), VIDI_OK);
        for (size_t i = 0; i < some.n; i++)
            if (some.singly[i] == VIDI_NEW)
                assert_int_equal(some.verdicts[i], VIDI_SEEN);
        assert_int_equal(vidi_add_batch(without, some.urls, some.n, some.verdicts, NULL), VIDI_OK);
        if (test_stat(set).count != test_stat(without).count)
            break; /* an order of adds of its own may lead to another false "seen" */
    }
    assert_true(failed > 0);
    vidi_close(set);
    vidi_close(without);
    test_allocator_finish(&allocator);
}

/* ---- whole sets ---- */

static vidi_set *copy_of(const vidi_set *set)
{
    test_stream stream = {0};
    vidi_set *copy = NULL;
    test_stream_write(&stream, set);
    assert_int_equal(test_stream_read(&stream, &copy, stream.size, NULL), VIDI_OK);
    test_stream_free(&stream);
    return copy;
}

static void a_set_goes_on_where_its_copy_does(void **state)
{
    const char *params = *state;
    vidi_set *set = make(params, 30, 0.02);
    uint64_t i = 0;
    for (unsigned round = 0; round < 6; round++) {
        vidi_set *copy = copy_of(set);
        check_same_stages(set, copy);
        assert_string_equal(test_stat(set).params, test_stat(copy).params);
        for (uint64_t end = i + 13 + 170 * round; i < end; i++)
            assert_int_equal(add(set, i), add(copy, i));
        check_same_stages(set, copy);
        vidi_close(copy);
    }
    vidi_close(set);
}

static void rotation_keeps_how_stages_end(void **state)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    (void)state;
    vidi_set *set = make("ends=count,growth=3", 10, 0.01);
    next.capacity = 40;
    assert_int_equal(add(set, 1), VIDI_NEW);
    assert_int_equal(vidi_rotate(set, &next), VIDI_OK);
    assert_non_null(strstr(test_stat(set).params, "growth=3,tighten=0.5,ends=count,inner=classic"));
    for (uint64_t i = 0; test_stat(set).count < 41; i++) {
        assert_int_equal(test_stat(set).stages, 1);
        add(set, i);
    }
    assert_int_equal(test_stat(set).stages, 2);
    assert_int_equal(stage_of(set, 1).capacity, 120);
    vidi_close(set);
}

static void sets_with_stages_do_not_merge(void **state)
{
    (void)state;
    vidi_set *one = make("ends=count", 10, 0.01), *other = make("ends=count", 10, 0.01);
    assert_int_equal(vidi_merge(one, other, 0), VIDI_ECANNOT);
    vidi_close(one);
    vidi_close(other);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof all_series / sizeof *all_series; i++)
        test_add("a stage ends exactly at its count", a_stage_ends_exactly_at_its_count, &all_series[i]);
    test_add("only a new URL opens a stage", only_a_new_url_opens_a_stage, NULL);
    test_add_once("by count, the mean rate is as asked for", by_count_the_mean_rate_is_as_asked_for, NULL);
    test_add_once("by rate, the rate stays below", by_rate_the_rate_stays_below, NULL);
    test_add("growth and ends are checked", growth_and_ends_are_checked, NULL);
    test_add("the rates of all stages add up to less", the_rates_of_all_stages_add_up_to_less, NULL);
    test_add("a stage that no memory holds is refused", a_stage_that_no_memory_holds_is_refused, NULL);
    test_add("a stage costs little beside its bits", a_stage_costs_little_beside_its_bits, NULL);
    for (size_t i = 0; i < sizeof batched / sizeof *batched; i++) {
        test_add("a batch ends stages where single adds do", a_batch_ends_stages_where_single_adds_do, batched[i]);
        test_add("each URL of a failed batch is answered or untouched",
                 each_url_of_a_failed_batch_is_answered_or_untouched, batched[i]);
        test_add("a set goes on where its copy does", a_set_goes_on_where_its_copy_does, batched[i]);
    }
    test_add("rotation keeps how stages end", rotation_keeps_how_stages_end, NULL);
    test_add("sets with stages do not merge", sets_with_stages_do_not_merge, NULL);
    return test_run("scalable", argc, argv);
}
