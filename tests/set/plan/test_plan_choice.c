/*
 * Which plan to take: the order of the answers, the loss that is assumed, exact kinds, the lines per URL, and the memory
 * that planning itself takes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/alloc.h"
#include "support/check.h"
#include "support/env.h"
#include "support/runner.h"
#include "support/urls.h"

enum { ROOM = 32 };

typedef struct answers {
    vidi_plan_entry plans[ROOM];
    size_t n;
} answers;

static vidi_plan_request request(uint64_t urls, uint64_t memory, double error, double lost)
{
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    want.urls = urls;
    want.memory = memory;
    want.error = error;
    want.lost = lost;
    return want;
}

static void must_plan(const vidi_plan_request *want, answers *got)
{
    got->n = ROOM;
    int result = vidi_plan(want, got->plans, &got->n);
    check(result == VIDI_OK, "%d: %s", result, vidi_message());
    assert_true(got->n >= 1 && got->n <= ROOM);
}

static const vidi_plan_entry *find(const answers *got, const char *kind)
{
    for (size_t i = 0; i < got->n; i++) {
        if (strcmp(got->plans[i].kind, kind) == 0) {
            return &got->plans[i];
        }
    }
    return NULL;
}

static bool loses_nothing(const vidi_plan_entry *plan)
{
    return plan->error == 0 && plan->expected_lost == 0;
}

/* ---- the order ---- */

/* The product that vidi.h names. */
static double product(const vidi_plan_entry *plan, bool limited)
{
    double memory = fmax((double)plan->bytes, 1048576) / (double)plan->urls;
    return memory * fmax(1, round(plan->lines_per_url)) * (limited ? 1 : 1 + plan->expected_lost);
}

static void check_order(const answers *got, bool limited)
{
    for (size_t i = 1; i < got->n; i++) {
        const vidi_plan_entry *a = &got->plans[i - 1], *b = &got->plans[i];
        double first = product(a, limited), second = product(b, limited);
        bool able = __builtin_popcount(a->can) >= __builtin_popcount(b->can);
        check(first < second || (first == second && able), "%s (%g) before %s (%g)", a->kind, first, b->kind, second);
    }
}

typedef struct choice {
    const char *best;
    uint64_t urls, memory;
    double error, lost;
} choice;

/* What somebody should pick who knows all kinds. */
static const choice choices[] = {
    {"fingerprint", 1000000000, 0, 0, 1},
    {"fingerprint", 1000000000, 0, 0, 0},
    {"fingerprint", 1000, 0, 0, 1},
    {"fingerprint", 0, (uint64_t)8 << 30, 0, 1},
    {"fingerprint", 0, (uint64_t)32 << 30, 0, 0.1}, /* memory for more than its 60 bits can tell apart */
    {"fingerprint", 1000000, 16 << 20, 0, 0},
    {"blocked", 1000000000, 0, 0.01, 0},
    {"blocked", 1000000, 2 << 20, 0, 0},
    {"blocked", 1000000000, (uint64_t)4 << 30, 0, 0}, /* a fingerprint would fit, and lose a thousand times as many */
    {"blocked", 10000000, 0, 1e-12, 0},               /* which takes more bits than a fingerprint has */
};

static void the_best_plan_comes_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const choice *row = &choices[i];
        vidi_plan_request want = request(row->urls, row->memory, row->error, row->lost);
        bool limited = row->error > 0 || row->lost > 0 || !row->urls || !row->memory;
        answers got;
        must_plan(&want, &got);
        check(strcmp(got.plans[0].kind, row->best) == 0, "row %zu: %s is first, not %s", i, got.plans[0].kind,
              row->best);
        check_order(&got, limited);
    }
}

/* The same answers whether all kinds are asked at once or one by one: no kind's place depends on another's. */
static void a_kind_alone_gets_the_same_plan(void **state)
{
    vidi_plan_request want = request(1000000, 0, 0, 1);
    answers all, one;
    (void)state;
    must_plan(&want, &all);
    for (size_t i = 0; i < all.n; i++) {
        want.kind = all.plans[i].kind;
        must_plan(&want, &one);
        assert_int_equal(one.n, 1);
        assert_string_equal(one.plans[0].params, all.plans[i].params);
        assert_true(one.plans[0].bytes == all.plans[i].bytes);
        assert_true(one.plans[0].lines_per_url == all.plans[i].lines_per_url);
    }
}

/* A refusal of all kinds does not quote one of them, which would depend on who is asked first. */
static void a_refusal_speaks_for_all_kinds(void **state)
{
    vidi_plan_request want = request(1000000, 100, 1e-9, 0);
    answers got = {.n = ROOM};
    vidi_kind_info info = {.size = sizeof info};
    (void)state;
    assert_int_equal(vidi_plan(&want, got.plans, &got.n), VIDI_EOPTION);
    assert_non_null(strstr(vidi_message(), "no kind"));
    for (size_t i = 0; vidi_kind(i, &info) == VIDI_OK; i++) {
        check(!strstr(vidi_message(), info.name), "%s speaks for all: %s", info.name, vidi_message());
    }
}

/* ---- limits ---- */

/* URLs alone, or memory alone: at most one page is lost, in kinds of both sorts. */
static void one_lost_page_is_assumed(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        vidi_plan_request open = request(i ? 0 : 1000000000, i ? 1 << 30 : 0, 0, 0);
        vidi_plan_request closed = request(open.urls, open.memory, 0, 1);
        answers got, wanted;
        must_plan(&open, &got);
        must_plan(&closed, &wanted);
        assert_int_equal(got.n, wanted.n);
        for (size_t j = 0; j < got.n; j++) {
            assert_string_equal(got.plans[j].kind, wanted.plans[j].kind);
            assert_string_equal(got.plans[j].params, wanted.plans[j].params);
            assert_true(got.plans[j].expected_lost <= 1);
        }
        assert_non_null(find(&got, "fingerprint"));
        assert_non_null(find(&got, "hashset"));
    }
}

/* To the last digit: where sizes come in fine steps, a plan could exceed the request by the rounding of a search. */
static void no_plan_exceeds_the_request(void **state)
{
    const double numbers = 0x1p40, n = 1e6;
    (void)state;
    for (int i = 0; i < 24; i++) {
        uint64_t urls = 1000000000 + (uint64_t)i * 12345677, memory = i % 2 ? (uint64_t)(5 + i) << 30 : 0;
        double lost = i % 3 ? 0.7 + 0.3 * i : 0, error = i % 3 != 1 ? 1e-8 * (1 + i) : 0;
        vidi_plan_request want = request(memory ? 0 : urls, memory, error, lost);
        answers got;
        must_plan(&want, &got);
        for (size_t j = 0; j < got.n; j++) {
            const vidi_plan_entry *plan = &got.plans[j];
            check(!(lost > 0) || plan->expected_lost <= lost, "%s: lost %.17g, asked for %.17g", plan->kind,
                  plan->expected_lost, lost);
            check(!(error > 0) || plan->error <= error, "%s: error %.17g, asked for %.17g", plan->kind, plan->error,
                  error);
        }
    }
    /* a hair less than what 40 bits lose */
    vidi_plan_request want = request((uint64_t)n, 0, 0, n * n / 2 / numbers * (1 - 1e-9));
    answers got;
    want.kind = "fingerprint";
    must_plan(&want, &got);
    check(got.plans[0].expected_lost <= want.lost, "%.17g of %.17g", got.plans[0].expected_lost, want.lost);
}

/* Parameters that determine the losses leave nothing to assume. */
static void nothing_is_assumed_that_parameters_say(void **state)
{
    vidi_plan_request want = request(1000000000, 0, 0, 0);
    answers got;
    (void)state;
    want.kind = "fingerprint";
    want.params = "bits=40";
    must_plan(&want, &got);
    assert_true(got.plans[0].expected_lost > 1000);
    want.kind = "spatial";
    want.params = "F=3";
    must_plan(&want, &got);
    assert_true(got.plans[0].expected_lost > 0.5 && got.plans[0].expected_lost <= 1);
}

static void exact_means_that_nothing_is_lost(void **state)
{
    static const struct {
        uint64_t urls, memory;
        double error, lost;
    } rows[] = {{1000000, 0, 0, 0},    {0, 1 << 30, 0, 0}, {1000000, 1 << 30, 0, 0},
                {1000000, 0, 0.01, 0}, {1000000, 0, 0, 5}, {1, 0, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vidi_plan_request want = request(rows[i].urls, rows[i].memory, rows[i].error, rows[i].lost);
        answers got;
        want.exact = 1;
        must_plan(&want, &got);
        check(rows[i].urls == 1 || strcmp(got.plans[0].kind, "hashset") == 0, "%s is first", got.plans[0].kind);
        for (size_t j = 0; j < got.n; j++) {
            check(loses_nothing(&got.plans[j]), "row %zu: %s loses %g", i, got.plans[j].kind,
                  got.plans[j].expected_lost);
        }
    }
    vidi_plan_request want = request(1000000, 0, 0, 0);
    answers got = {.n = ROOM};
    want.exact = 1;
    want.kind = "classic";
    assert_int_equal(vidi_plan(&want, got.plans, &got.n), VIDI_EOPTION);
    assert_non_null(strstr(vidi_message(), "classic"));
    want.kind = "spatial";
    want.params = "inner=hashset";
    must_plan(&want, &got);
    assert_true(loses_nothing(&got.plans[0]));
    want.exact = 2;
    got.n = ROOM;
    assert_int_equal(vidi_plan(&want, got.plans, &got.n), VIDI_EOPTION);
}

/* ---- lines ---- */

static double lines_of(const char *kind, const char *params, uint64_t urls)
{
    vidi_plan_request want = request(urls, 0, 0, 1);
    answers got;
    want.kind = kind;
    want.params = params;
    must_plan(&want, &got);
    return got.plans[0].lines_per_url;
}

static double k_of(const char *kind, const char *params)
{
    vidi_plan_request want = request(1000000, 0, 0, 1);
    answers got;
    want.kind = kind;
    want.params = params;
    must_plan(&want, &got);
    const char *k = strstr(got.plans[0].params, ",k=");
    assert_non_null(k);
    return strtod(k + 3, NULL);
}

/* Positions of a Bloom filter are all over its array: each is a line of its own. */
static void positions_are_lines(void **state)
{
    (void)state;
    assert_true(lines_of("classic", NULL, 1000000) == k_of("classic", NULL));
    assert_true(lines_of("counting", NULL, 1000000) == k_of("counting", NULL));
    assert_true(lines_of("multilayer", "L=3", 1000000) == 4 * k_of("multilayer", "L=3"));
    assert_true(lines_of("eigen", "d=2", 1000000) == 2 + k_of("eigen", "d=2"));
    assert_true(lines_of("spatial", "F=3", 1000000) == 3 * k_of("spatial", "F=3"));
    assert_true(lines_of("spatial", "inner=hashset,F=3", 1000) == 3 * lines_of("hashset", NULL, 1000));
    assert_true(lines_of("scalable", "inner=hashset", 1000) == lines_of("hashset", NULL, 1000));
    assert_true(lines_of("scalable", NULL, 1000000) >= 8);
}

/* What a set says that it touches is what its plan has promised. */
static void lines_of_blocked_are_those_of_the_set(void **state)
{
    static const double errors[] = {0.02, 1e-3, 1e-5, 1e-7, 1e-9};
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        vidi_plan_request want = request(50000, 0, errors[i], 0);
        vidi_options options = VIDI_OPTIONS_INIT;
        vidi_set *set = NULL;
        answers got;
        want.kind = "blocked";
        must_plan(&want, &got);
        options.kind = "blocked";
        options.params = got.plans[0].params;
        assert_int_equal(vidi_create(&set, &options), VIDI_OK);
        assert_true((double)test_stat(set).lines_touched == got.plans[0].lines_per_url);
        vidi_close(set);
    }
}

/* The exact kinds: a few lines by a hash, more and more by searching, most by looking through all. */
static void searching_takes_more_lines(void **state)
{
    (void)state;
    assert_true(lines_of("hashset", NULL, 1000000) >= 2 && lines_of("hashset", NULL, 1000000) <= 4);
    assert_true(lines_of("hashset", NULL, 1000000000) == lines_of("hashset", NULL, 1000));
    assert_true(lines_of("sorted", NULL, 1000000) >= 2 * 19);
    assert_true(lines_of("sorted", NULL, 1000000000) > lines_of("sorted", NULL, 1000000) + 2 * 9);
    assert_true(floor(lines_of("list", NULL, 1000) / 10) == 50);
    assert_true(floor(lines_of("list", NULL, 1000000) / 10) == 50000);
}

/* ---- memory and sizes ---- */

/* Planning allocates from the given allocator, gives everything back, and passes its refusals on. */
static void planning_uses_the_allocator(void **state)
{
    vidi_plan_request want = request(1000000, 0, 0, 1);
    test_allocator allocator;
    answers got;
    (void)state;
    test_allocator_init(&allocator);
    want.allocator = &allocator.hook;
    must_plan(&want, &got);
    uint64_t calls = allocator.calls;
    assert_true(calls > 0);
    assert_int_equal(test_allocator_live(&allocator), 0);
    for (uint64_t i = 1; i <= calls; i++) {
        test_allocator_fail(&allocator, i, false);
        got.n = ROOM;
        int result = vidi_plan(&want, got.plans, &got.n);
        check(result == VIDI_EMEMORY, "call %llu refused: %d", (unsigned long long)i, result);
        assert_int_equal(test_allocator_refused(&allocator), 1);
        assert_int_equal(test_allocator_live(&allocator), 0);
    }
    test_allocator_finish(&allocator);
}

/* A caller that was compiled with other entries gets as much of each as it knows, and zeros for what it alone knows. */
static void entries_of_any_size_are_filled(void **state)
{
    vidi_plan_request want = request(1000000, 0, 0, 1);
    answers all;
    size_t sizes[] = {sizeof(vidi_plan_entry) + 64, sizeof(vidi_plan_entry), offsetof(vidi_plan_entry, error)};
    (void)state;
    must_plan(&want, &all);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char room[2 * sizeof(vidi_plan_entry) + 128 + 16];
        size_t n = 2, size = sizes[i], known = size < sizeof(vidi_plan_entry) ? size : sizeof(vidi_plan_entry);
        memset(room, 0x5a, sizeof room);
        want.entry_size = size;
        assert_int_equal(vidi_plan(&want, (vidi_plan_entry *)(void *)room, &n), VIDI_OK);
        assert_int_equal(n, 2);
        for (size_t j = 0; j < 2; j++) {
            assert_memory_equal(room + j * size, &all.plans[j], known);
            for (size_t at = known; at < size; at++) {
                assert_int_equal(room[j * size + at], 0);
            }
        }
        for (size_t at = 2 * size; at < sizeof room; at++) {
            assert_int_equal(room[at], 0x5a);
        }
    }
}

/* What programs compiled against 0.1 pass as entry_size, or mean by 0. */
static void the_entry_of_version_0_1_keeps_its_size(void **state)
{
    (void)state;
    assert_int_equal(offsetof(vidi_plan_entry, can) + sizeof(uint32_t), 592);
}

int main(int argc, char **argv)
{
    test_add("the best plan comes first", the_best_plan_comes_first, NULL);
    test_add("a kind alone gets the same plan", a_kind_alone_gets_the_same_plan, NULL);
    test_add("a refusal speaks for all kinds", a_refusal_speaks_for_all_kinds, NULL);
    test_add("one lost page is assumed", one_lost_page_is_assumed, NULL);
    test_add("no plan exceeds the request", no_plan_exceeds_the_request, NULL);
    test_add("nothing is assumed that parameters say", nothing_is_assumed_that_parameters_say, NULL);
    test_add("exact means that nothing is lost", exact_means_that_nothing_is_lost, NULL);
    test_add("positions are lines", positions_are_lines, NULL);
    test_add("lines of blocked are those of the set", lines_of_blocked_are_those_of_the_set, NULL);
    test_add("searching takes more lines", searching_takes_more_lines, NULL);
    test_add("planning uses the allocator", planning_uses_the_allocator, NULL);
    test_add("entries of any size are filled", entries_of_any_size_are_filled, NULL);
    test_add("the entry of version 0.1 keeps its size", the_entry_of_version_0_1_keeps_its_size, NULL);
    return test_run("plan_choice", argc, argv);
}
