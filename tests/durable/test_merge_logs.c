/*
 * Merging sets of which the URLs lie in logs, in snapshots or in both, for every kind that has an error rate, in memory
 * and on disk: a merge is refused if the rate that it leads to is too high, and only then. The judge is the merged set
 * itself: it is made by force, and asked for URLs that nobody has added.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "durable/durable_cases.h"
#include "support/runner.h"
#include "support/stats.h"

enum { SETS = 4, EACH = 500, FRESH = 4000 };

#define ERROR 0.02

static const char *const kinds[] = {"classic", "counting", "blocked", "multilayer", "eigen", "spatial"};
static const char *const places[] = {"logs", "snapshots", "both", "some in logs, some in snapshots"};
enum { PLACES = sizeof places / sizeof *places };

typedef struct situation {
    const char *kind;
    unsigned where;
    uint64_t capacity;
    bool same;      /* all sets have the same URLs */
    unsigned times; /* that each URL is added */
} situation;

typedef struct scene {
    char above[TEST_PATH], path[SETS][TEST_PATH], result[TEST_PATH];
    const char *from[SETS];
} scene;

static void add_urls(vidi_set *set, uint64_t first, uint64_t n, unsigned times)
{
    for (uint64_t i = first; i < first + n; i++)
        for (unsigned j = 0; j < times; j++)
            assert_true(add_nth(set, i) > 0);
}

static vidi_set *create(const situation *of, const char *path)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    vidi_set *set;
    test_key(key, 8);
    options.kind = of->kind;
    options.capacity = of->capacity;
    options.error = ERROR;
    options.key = key;
    options.path = path;
    check(vidi_create(&set, &options) == VIDI_OK, "%s: %s", of->kind, vidi_message());
    return set;
}

static void begin(scene *at, const situation *of)
{
    test_folder_new(at->above, false);
    test_path(at->result, at->above, "result");
    for (size_t i = 0; i < SETS; i++) {
        char name[8];
        snprintf(name, sizeof name, "%zu", i);
        test_path(at->path[i], at->above, name);
        at->from[i] = at->path[i];
        vidi_set *set = create(of, at->path[i]);
        uint64_t first = of->same ? 0 : i * EACH;
        uint64_t before = of->where == 0 || (of->where == 3 && i % 2) ? 0 : of->where == 2 ? EACH / 2 : EACH;
        add_urls(set, first, before, of->times);
        assert_int_equal(vidi_snapshot(set), VIDI_OK);
        add_urls(set, first + before, EACH - before, of->times);
        vidi_close(set);
    }
}

/* One after the other; *merged is the set after an error, too. */
static int merge_in_memory(const scene *at, const situation *of, unsigned flags, vidi_set **merged)
{
    int code = VIDI_OK;
    *merged = create(of, NULL);
    for (size_t i = 0; i < SETS && code == VIDI_OK; i++) {
        vidi_set *set = must_open(at->path[i], VIDI_READ_ONLY);
        code = vidi_merge(*merged, set, flags);
        vidi_close(set);
    }
    return code;
}

/* The share of URLs that nobody has added and that are seen must be the rate that the set tells, or less if that is a bound. */
static double rate_of(const vidi_set *set)
{
    uint64_t seen = 0;
    vidi_stats stats = test_stat(set);
    for (uint64_t i = 0; i < FRESH; i++)
        seen += has_nth(set, 1000000 + i) == VIDI_SEEN;
    double slack = stats.fp_meaning == VIDI_FP_EXACT ? 1 : 1.1;
    uint64_t most = test_binomial_interval(FRESH, fmin(slack * stats.fp_now, 1), 1e-6).high;
    uint64_t least = test_binomial_interval(FRESH, stats.fp_now / slack, 1e-6).low;
    check(seen <= most && (seen >= least || stats.fp_meaning == VIDI_FP_AT_MOST), "%s: %llu of %d seen at rate %g",
          stats.kind, (unsigned long long)seen, FRESH, stats.fp_now);
    return stats.fp_now;
}

static void check_code(const situation *of, const char *how, int code, double rate)
{
    bool expected = rate > 2 * ERROR;
    check(code == (expected ? VIDI_ERATE : VIDI_OK), "%s, %s, %s: %d although the rate becomes %g", of->kind,
          places[of->where], how, code, rate);
}

/* Both ways lead to the same rate, and refuse it or not. */
static void compare_ways(const situation *of, bool refused)
{
    scene at;
    vidi_set *merged, *stopped;
    begin(&at, of);
    assert_int_equal(merge_in_memory(&at, of, VIDI_MERGE_FORCE, &merged), VIDI_OK);
    double rate = rate_of(merged);
    check((rate > 2 * ERROR) == refused, "%s, %s: a rate of %g", of->kind, places[of->where], rate);
    check_code(of, "in memory", merge_in_memory(&at, of, 0, &stopped), rate);
    int code = vidi_merge_stored(at.result, at.from, SETS, 0, NULL);
    if (code != VIDI_ECANNOT) {
        check_code(of, "on disk", code, rate);
        assert_int_equal(access(at.result, F_OK), refused ? -1 : 0);
        if (refused)
            assert_int_equal(vidi_merge_stored(at.result, at.from, SETS, VIDI_MERGE_FORCE, NULL), VIDI_OK);
        vidi_set *stored = must_open(at.result, VIDI_READ_ONLY | VIDI_NO_MAP);
        double other = rate_of(stored), lost = test_stat(merged).expected_lost;
        check(fabs(rate - other) <= 0.1 * rate + 0.001, "%s: rate %g in memory, %g on disk", of->kind, rate, other);
        check(fabs(test_stat(stored).expected_lost - lost) <= 0.1 * lost, "%s: %g lost, %g on disk", of->kind, lost,
              test_stat(stored).expected_lost);
        vidi_close(stored);
    }
    vidi_close(merged);
    vidi_close(stopped);
    test_folder_remove(at.above);
}

/* A blocked set grows with what comes from logs, and is never so small that such few URLs would spoil its rate. */
static void too_high_a_rate_is_refused_wherever_the_urls_lie(void **state)
{
    for (unsigned where = 0; where < PLACES; where++) {
        situation of = {*(const char *const *)*state, where, EACH, false, 1};
        compare_ways(&of, strcmp(of.kind, "blocked") != 0);
    }
}

static void what_fits_is_merged_wherever_the_urls_lie(void **state)
{
    for (unsigned where = 0; where < PLACES; where++)
        compare_ways(&(situation){*(const char *const *)*state, where, SETS * EACH, false, 1}, false);
}

/* URLs that several logs have, or that one log has several times, make nothing worse, and are lost once. */
static void urls_of_several_logs_count_once(void **state)
{
    for (unsigned times = 1; times <= 3; times += 2)
        for (unsigned where = 0; where < PLACES; where++) {
            situation of = {*(const char *const *)*state, where, EACH, true, times};
            scene at;
            compare_ways(&of, false);
            begin(&at, &of);
            vidi_set *merged, *one = must_open(at.path[0], VIDI_READ_ONLY);
            assert_int_equal(merge_in_memory(&at, &of, 0, &merged), VIDI_OK);
            double lost = test_stat(one).expected_lost, all = test_stat(merged).expected_lost;
            check(fabs(all - lost) <= 1e-9 * lost, "%s: %g lost by each, %g by all", of.kind, lost, all);
            vidi_close(merged);
            vidi_close(one);
            test_folder_remove(at.above);
        }
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        test_add("too high a rate is refused wherever the URLs lie", too_high_a_rate_is_refused_wherever_the_urls_lie,
                 (void *)&kinds[i]);
        test_add("what fits is merged wherever the URLs lie", what_fits_is_merged_wherever_the_urls_lie,
                 (void *)&kinds[i]);
        test_add("URLs of several logs count once", urls_of_several_logs_count_once, (void *)&kinds[i]);
    }
    return test_run("merge logs", argc, argv);
}
