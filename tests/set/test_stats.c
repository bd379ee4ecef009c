/*
 * What a set says about itself: names, numbers, abilities, size.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/runner.h"
#include "support/urls.h"

static void fill(vidi_set *set, uint64_t n, uint64_t seed)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < n; i++) {
        vidi_str url = {room, test_url(room, sizeof room, seed, i)};
        assert_true(vidi_add(set, url) > 0);
    }
}

static void check_strings(const test_case *which, const vidi_stats *stats)
{
    assert_string_equal(stats->kind, which->kind);
    assert_non_null(memchr(stats->params, 0, sizeof stats->params));
    assert_non_null(memchr(stats->hash, 0, sizeof stats->hash));
    if (!(which->traits & TEST_EXACT)) {
        assert_true(stats->hash[0]);
        assert_true(stats->params[0]);
    }
}

static void check_numbers(const test_case *which, const vidi_stats *stats)
{
    assert_true(stats->fill >= 0 && stats->fill <= 1);
    assert_true(stats->fp_now >= 0 && stats->fp_now <= 1);
    assert_true(stats->expected_lost >= 0 && isfinite(stats->expected_lost));
    assert_true(stats->memory_bytes >= stats->bytes);
    assert_true(stats->memory_limit >= stats->memory_bytes);
    assert_true(stats->stages >= 1);
    assert_true(stats->fp_meaning <= VIDI_FP_ESTIMATE);
    if (which->traits & TEST_EXACT) {
        assert_true(stats->fp_now == 0 && stats->expected_lost == 0 && stats->fp_meaning == VIDI_FP_EXACT);
    }
    if (strcmp(which->kind, "multilayer") == 0 || strcmp(which->kind, "eigen") == 0) {
        assert_true(stats->fp_meaning != VIDI_FP_EXACT);
    }
}

static void check_trust(const test_case *which, const vidi_stats *stats)
{
    bool trusting = which->traits & TEST_WEAK || (which->params && strstr(which->params, "xxh3"));
    assert_int_equal(stats->hash_trust, trusting ? VIDI_HASH_TRUSTING : VIDI_HASH_KEYED);
}

/* The next add, of a URL that is new, adds this much to the pages lost. */
static void check_odds(const vidi_set *set, const vidi_stats *stats)
{
    double odds = -1;
    assert_int_equal(vidi_odds(set, &odds), VIDI_OK);
    double p = fmin(stats->fp_now, 0.999);
    check(fabs(odds - p / (1 - p)) <= 1e-9 * odds, "the odds are %g, fp_now is %g", odds, stats->fp_now);
    assert_int_equal(vidi_odds(set, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_odds(NULL, &odds), VIDI_EARGUMENT);
    assert_true(odds == 0);
}

static void statistics_make_sense(void **state)
{
    const test_case *which = *state;
    vidi_set *set = test_case_set(which, 2000, 55, NULL);
    for (int round = 0; round < 2; round++) {
        vidi_stats stats = test_stat(set);
        check_strings(which, &stats);
        check_numbers(which, &stats);
        check_odds(set, &stats);
        check_trust(which, &stats);
        assert_int_equal(stats.epoch, 0);
        assert_int_equal(stats.past_epochs, 0);
        assert_int_equal(stats.removed, 0);
        if (round == 0) {
            assert_true(stats.count == 0 && stats.fp_now == 0 && stats.expected_lost == 0 && stats.fill == 0);
            fill(set, 2000, 55);
        } else {
            assert_true(stats.fill > 0 || which->traits & TEST_EXACT);
        }
    }
    vidi_close(set);
}

/* Each name=value that was asked for, but numbers with a point, is in force word by word. */
static void statistics_name_the_parameters(void **state)
{
    const test_case *which = *state;
    test_options made;
    vidi_set *set = test_case_set(which, 2000, 56, NULL);
    vidi_stats stats = test_stat(set);
    char params[VIDI_PARAMS_ROOM + 2], wanted[VIDI_PARAMS_ROOM + 2], *rest = NULL;
    test_case_options(&made, which, 2000, 56);
    snprintf(params, sizeof params, ",%s,", stats.params);
    if (made.options.params) {
        for (char *one = strtok_r(made.params, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
            snprintf(wanted, sizeof wanted, ",%s,", one);
            bool pool = strncmp(one, "functions=", 10) == 0; /* those that were chosen from it are in force */
            check(strchr(one, '.') || pool || strstr(params, wanted), "%s is not in %s", one, stats.params);
        }
    }
    vidi_close(set);
}

static void an_old_caller_gets_as_much_as_fits(void **state)
{
    struct {
        vidi_stats stats;
        unsigned char guard[64];
    } small;
    vidi_set *set = test_case_set(*state, 100, 57, NULL);
    memset(&small, 0x5a, sizeof small);
    small.stats.size = offsetof(vidi_stats, fill);
    assert_int_equal(vidi_stat(set, &small.stats), VIDI_OK);
    assert_int_equal(small.stats.count, 0);
    unsigned char *beyond = (unsigned char *)&small + offsetof(vidi_stats, fill);
    for (; beyond < (unsigned char *)(&small + 1); beyond++) {
        assert_int_equal(*beyond, 0x5a);
    }
    vidi_close(set);
}

static int stop_at_once(void *context, const vidi_entry *entry)
{
    (void)context;
    (void)entry;
    return 7;
}

/* What the bits in `can` say is what the functions do. */
static void can_tells_the_truth(void **state)
{
    const test_case *which = *state;
    vidi_set *set = test_case_set(which, 1000, 59, NULL);
    vidi_set *other = test_case_set(which, 1000, 59, NULL);
    vidi_str url = test_str("http://example.org/page");
    uint32_t can = test_stat(set).can;
    uint64_t times = 99;
    assert_int_equal(vidi_add(set, url), VIDI_NEW);
    assert_int_equal(vidi_count(set, url, &times), can & VIDI_CAN_COUNT ? VIDI_OK : VIDI_ECANNOT);
    assert_true(!(can & VIDI_CAN_COUNT) || times == 1);
    assert_int_equal(vidi_iterate(set, stop_at_once, NULL), can & VIDI_CAN_ITERATE ? 7 : VIDI_ECANNOT);
    assert_int_equal(vidi_merge(other, set, 0), can & VIDI_CAN_MERGE ? VIDI_OK : VIDI_ECANNOT);
    assert_int_equal(vidi_has(other, url), can & VIDI_CAN_MERGE ? VIDI_SEEN : VIDI_NEW);
    assert_int_equal(vidi_remove(set, url), can & VIDI_CAN_DELETE ? VIDI_OK : VIDI_ECANNOT);
    assert_int_equal(vidi_has(set, url), can & VIDI_CAN_DELETE ? VIDI_NEW : VIDI_SEEN);
    assert_int_equal(test_stat(set).removed, can & VIDI_CAN_DELETE ? 1 : 0);
    if (!(can & VIDI_CAN_DELETE)) {
        assert_true(strlen(vidi_message()) > 0);
    }
    vidi_close(set);
    vidi_close(other);
}

static void kinds_can_what_they_list(void **state)
{
    vidi_kind_info info = {.size = sizeof info};
    (void)state;
    for (size_t i = 0; vidi_kind(i, &info) == VIDI_OK; i++) {
        test_case which;
        assert_true(test_case_at(i, &which));
        vidi_set *set = test_case_set(&which, 1000, 60, NULL);
        assert_string_equal(test_stat(set).kind, info.name);
        assert_int_equal(test_stat(set).can, info.can);
        assert_true(info.summary && strlen(info.summary) > 10 && !strchr(info.summary, '\n'));
        vidi_close(set);
    }
    assert_int_equal(vidi_kind(10000, &info), VIDI_EABSENT);
}

/* The stages are as many as vidi_stats says, and have all URLs. The members of a spatial set have each URL. */
static void stages_add_up(void **state)
{
    const test_case *which = *state;
    bool members = strcmp(which->kind, "spatial") == 0,
         positions = strstr("classic counting multilayer eigen", which->kind);
    vidi_set *set = test_case_set(which, 1000, 65, NULL);
    vidi_stage_stats stage = {.size = sizeof stage};
    uint64_t count = 0, bytes = 0;
    fill(set, 1500, 65);
    vidi_stats stats = test_stat(set);
    for (uint32_t i = 0; i < stats.stages; i++) {
        assert_int_equal(vidi_stage_stat(set, i, &stage), VIDI_OK);
        assert_true(stage.error >= 0 && stage.error < 1 && stage.k <= 64 && (!positions || stage.k >= 1));
        count += stage.count;
        bytes += stage.bytes;
    }
    check(members ? count >= stats.count : count == stats.count, "%llu URLs", (unsigned long long)count);
    assert_true(bytes > 0 && bytes <= stats.bytes);
    assert_int_equal(vidi_stage_stat(set, stats.stages, &stage), VIDI_EABSENT);
    assert_int_equal(vidi_stage_stat(set, UINT64_MAX, &stage), VIDI_EABSENT);
    assert_int_equal(vidi_stage_stat(NULL, 0, &stage), VIDI_EARGUMENT);
    assert_int_equal(vidi_stage_stat(set, 0, NULL), VIDI_EARGUMENT);
    vidi_close(set);
}

static vidi_stage_stats stage_at(const char *kind, const char *params, uint64_t capacity, uint64_t urls, uint64_t index)
{
    test_case which = {kind, params, (double)capacity, 0.01, 0};
    vidi_set *set = test_case_set(&which, 1, 66, NULL);
    vidi_stage_stats stage = {.size = sizeof stage};
    fill(set, urls, 66);
    assert_int_equal(vidi_stage_stat(set, index, &stage), VIDI_OK);
    vidi_close(set);
    return stage;
}

static void check_stage(vidi_stage_stats stage, uint64_t capacity, double error, uint32_t k)
{
    assert_int_equal(stage.capacity, capacity);
    assert_int_equal(stage.k, k);
    check(fabs(stage.error - error) < 1e-12, "%g", stage.error);
}

static void a_stage_tells_what_it_was_made_for(void **state)
{
    (void)state;
    check_stage(stage_at("classic", NULL, 100, 10, 0), 100, 0.01, 7);
    check_stage(stage_at("scalable", "ends=count", 100, 350, 0), 100, 0.005, 8);
    check_stage(stage_at("scalable", "ends=count", 100, 350, 1), 200, 0.0025, 9);
    check_stage(stage_at("scalable", "ends=count,inner=spatial,F=2", 100, 350, 3), 200, 0.05, 4);
    check_stage(stage_at("spatial", "F=2", 100, 10, 1), 100, 0.1, 3);
    check_stage(stage_at("fingerprint", NULL, 100, 10, 0), 100, 0.01, 0);
    assert_int_equal(stage_at("blocked", NULL, 100, 10, 0).k, 8);
}

static void every_kind_of_the_papers_is_there(void **state)
{
    static const char *const names[] = {"list",       "sorted", "hashset", "classic", "counting",
                                        "multilayer", "eigen",  "spatial", "scalable"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        check(test_kind_exists(names[i]), "no kind %s", names[i]);
    }
}

static void a_small_set_is_small(void **state)
{
    const test_case *which = *state;
    vidi_set *set = test_case_set(which, 1000, 64, NULL);
    vidi_stats stats = test_stat(set);
    check(stats.memory_bytes < 65536, "%llu bytes", (unsigned long long)stats.memory_bytes);
    vidi_close(set);
}

static void the_default_set_is_the_first_kind_and_small(void **state)
{
    vidi_set *set = NULL;
    vidi_kind_info info = {.size = sizeof info};
    (void)state;
    assert_int_equal(vidi_kind(0, &info), VIDI_OK);
    assert_int_equal(vidi_create(&set, NULL), VIDI_OK);
    vidi_stats stats = test_stat(set);
    assert_string_equal(stats.kind, info.name);
    assert_true(stats.memory_bytes < 65536);
    assert_true(stats.can & VIDI_CAN_GROW);
    assert_int_equal(stats.hash_trust, VIDI_HASH_KEYED);
    assert_int_equal(vidi_add(set, test_str("http://example.org/")), VIDI_NEW);
    assert_int_equal(vidi_add(set, test_str("http://example.org/")), VIDI_SEEN);
    vidi_close(set);
}

/* Two default sets have keys of their own: what one loses the other finds. */
static void sets_draw_their_own_keys(void **state)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *sets[2];
    char url[TEST_URL_ROOM];
    uint64_t seen[2] = {0, 0}, both = 0;
    (void)state;
    options.kind = "classic";
    options.params = "k=3,M=2.0";
    options.capacity = 5000;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vidi_create(&sets[i], &options), VIDI_OK);
    }
    for (uint64_t i = 0; i < 25000; i++) {
        vidi_str one = {url, test_url(url, sizeof url, 65, i)};
        bool first = (i < 5000 ? vidi_add(sets[0], one) : vidi_has(sets[0], one)) == VIDI_SEEN && i >= 5000;
        bool second = (i < 5000 ? vidi_add(sets[1], one) : vidi_has(sets[1], one)) == VIDI_SEEN && i >= 5000;
        seen[0] += first;
        seen[1] += second;
        both += first && second;
    }
    /* 6 % each of 20000; 0.37 % together if independent, 6 % if the keys were the same */
    assert_true(seen[0] > 800 && seen[1] > 800 && both < 300);
    vidi_close(sets[0]);
    vidi_close(sets[1]);
}

int main(int argc, char **argv)
{
    test_add("every kind of the papers is there", every_kind_of_the_papers_is_there, NULL);
    test_add("kinds can what they list", kinds_can_what_they_list, NULL);
    test_add("the default set is the first kind and small", the_default_set_is_the_first_kind_and_small, NULL);
    test_add("sets draw their own keys", sets_draw_their_own_keys, NULL);
    test_add_cases("statistics make sense", statistics_make_sense, NULL);
    test_add_cases("statistics name the parameters", statistics_name_the_parameters, NULL);
    test_add_cases("an old caller gets as much as fits", an_old_caller_gets_as_much_as_fits, NULL);
    test_add("a stage tells what it was made for", a_stage_tells_what_it_was_made_for, NULL);
    test_add_cases("stages add up", stages_add_up, NULL);
    test_add_cases("can tells the truth", can_tells_the_truth, NULL);
    test_add_cases("a small set is small", a_small_set_is_small, NULL);
    return test_run("stats", argc, argv);
}
