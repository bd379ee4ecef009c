/*
 * Theory of the kinds against small simulations that are written here, and against nothing of the library: what its
 * planner predicts must not matter.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/urls/mix.h"
#include "lab/judge/stage_theory.h"
#include "lab/kinds/kinds.h"
#include "support/check.h"
#include "support/runner.h"

static uint64_t state_of_chance = 1;

static uint64_t chance(uint64_t limit)
{
    state_of_chance += UINT64_C(0x9e3779b97f4a7c15);
    return lab_scale(lab_mix(state_of_chance), limit);
}

/* Mean and variance of what simulations give. */
typedef struct sample {
    double count, sum, squares;
} sample;

static void note(sample *sample, double number)
{
    sample->count++;
    sample->sum += number;
    sample->squares += number * number;
}

static double mean_of(const sample *sample)
{
    return sample->sum / sample->count;
}

static double variance_of(const sample *sample)
{
    return sample->squares / sample->count - mean_of(sample) * mean_of(sample);
}

/* The mean within four standard errors, the variance within so large a share. */
static void agrees(const char *what, const sample *sample, lab_theory theory, double share)
{
    double error = sqrt(variance_of(sample) / sample->count);
    check(fabs(mean_of(sample) - theory.mean) < 4 * error, "%s: %g on average, theory %g, standard error %g", what,
          mean_of(sample), theory.mean, error);
    check(fabs(variance_of(sample) / theory.variance - 1) < share, "%s: variance %g, theory %g", what,
          variance_of(sample), theory.variance);
}

/* ---- blocked ---- */

enum { PARTITIONS = 64, LANES = 8, ROWS_MOST = 256, LINES_MOST = 2 };

/* Inserts n URLs into an empty layer; returns how many found all their bits set. */
static double fill_layer(uint64_t n, uint64_t rows, unsigned lines)
{
    static uint64_t words[ROWS_MOST][LINES_MOST][LANES];
    double lost = 0;
    memset(words, 0, sizeof words);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t partition = chance(PARTITIONS), first = partition * rows / PARTITIONS;
        uint64_t own = (partition + 1) * rows / PARTITIONS - first;
        bool new = false;
        for (unsigned line = 0; line < lines; line++) {
            uint64_t *lanes = words[first + chance(own)][line];
            for (unsigned lane = 0; lane < LANES; lane++) {
                uint64_t bit = UINT64_C(1) << chance(64);
                new |= !(lanes[lane] & bit);
                lanes[lane] |= bit;
            }
        }
        lost += !new;
    }
    return lost;
}

static void blocked_loses_what_theory_says(void **state)
{
    static const struct {
        uint64_t n, rows;
        unsigned lines, times;
        double share;
    } cases[] = {
        {6000, 100, 1, 400, 0.25}, /* partitions of one row and of two */
        {9000, 192, 1, 250, 0.3},  /* three rows each */
        {8000, 130, 2, 300, 0.6},  /* the lines of a URL share their partition */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample lost = {0, 0, 0};
        char what[64];
        for (unsigned j = 0; j < cases[i].times; j++)
            note(&lost, fill_layer(cases[i].n, cases[i].rows, cases[i].lines));
        snprintf(what, sizeof what, "%llu URLs in %llu rows", (unsigned long long)cases[i].n,
                 (unsigned long long)cases[i].rows);
        agrees(what, &lost, lab_blocked_theory(cases[i].n, cases[i].rows, cases[i].lines), cases[i].share);
    }
}

/* ---- Bloom filters and their stages ---- */

/* The textbook's formula: the best k, and -k / ln(1 - p^(1/k)) bits per URL. */
static void the_smallest_filter_is_the_textbooks(void **state)
{
    (void)state;
    for (double rate = 1e-1; rate > 1e-9; rate /= 10) {
        double least = INFINITY, n = 1e7;
        for (int k = 1; k <= 64; k++)
            least = fmin(least, -k / log1p(-pow(rate, 1.0 / k)));
        double m = lab_smallest_stage((uint64_t)n, rate).m;
        check(fabs(m / n / least - 1) < 1e-5, "rate %g: %g bits per URL, not %g", rate, m / n, least);
    }
}

enum { STAGES_MOST = 3, BITS_MOST = 1 << 17 };

typedef struct stage {
    lab_stage shape;
    uint64_t capacity, count;
    unsigned char bits[BITS_MOST];
} stage;

/* Draws the URL's bits; returns whether all are set. `set`: sets them if one is zero. */
static bool all_set(stage *stage, bool set)
{
    uint64_t places[64];
    bool all = true;
    for (unsigned i = 0; i < stage->shape.k; i++) {
        places[i] = chance((uint64_t)stage->shape.m);
        all &= stage->bits[places[i]];
    }
    for (unsigned i = 0; i < stage->shape.k && set; i++)
        stage->bits[places[i]] = 1;
    return all;
}

/* Inserts n URLs; returns how many were falsely seen. */
static double fill_stages(stage *stages, uint64_t n)
{
    size_t last = 0;
    double lost = 0;
    for (size_t i = 0; i < STAGES_MOST; i++) {
        memset(stages[i].bits, 0, (size_t)stages[i].shape.m + 1);
        stages[i].count = 0;
    }
    for (uint64_t i = 0; i < n; i++) {
        bool seen = false;
        for (size_t j = 0; j < last && !seen; j++)
            seen = all_set(&stages[j], false);
        if (!seen)
            seen = all_set(&stages[last], true);
        lost += seen;
        stages[last].count += !seen;
        last += stages[last].count == stages[last].capacity;
    }
    return lost;
}

static void stages_lose_what_theory_says(void **state)
{
    const lab_series series = {2000, 0.08};
    stage *stages = calloc(STAGES_MOST, sizeof *stages);
    (void)state;
    assert_non_null(stages);
    for (size_t i = 0; i < STAGES_MOST; i++) {
        stages[i].capacity = series.first << i;
        stages[i].shape = lab_smallest_stage(stages[i].capacity, ldexp(series.error, -(int)i - 1) / 1.05);
        check(stages[i].shape.m < BITS_MOST, "stage %zu has %g bits", i, stages[i].shape.m);
    }
    for (uint64_t n = 1500; n <= 9500; n += 4000) { /* within one stage, two and three */
        sample lost = {0, 0, 0};
        char what[64];
        for (unsigned i = 0; i < 300; i++)
            note(&lost, fill_stages(stages, n));
        snprintf(what, sizeof what, "%llu URLs in stages", (unsigned long long)n);
        agrees(what, &lost, lab_series_filling(series, n), 0.35);
    }
    free(stages);
}

/* ---- fingerprint ---- */

static void hashes_agree_as_often_as_theory_says(void **state)
{
    enum { BITS = 14, URLS = 300, TIMES = 3000 };
    static unsigned char met[1 << BITS];
    vidi_plan_entry plan = {.kind = "fingerprint", .params = "capacity=300,bits=14", .urls = URLS};
    sample lost = {0, 0, 0};
    lab_theory theory;
    lab_theory_sort sort;
    (void)state;
    for (unsigned i = 0; i < TIMES; i++) {
        double seen = 0;
        memset(met, 0, sizeof met);
        for (unsigned j = 0; j < URLS; j++) {
            uint64_t hash = chance(1 << BITS);
            seen += met[hash];
            met[hash] = 1;
        }
        note(&lost, seen);
    }
    assert_true(lab_kind_theory(&theory, &sort, &plan, URLS));
    assert_int_equal(sort, LAB_DERIVED);
    agrees("hashes of 14 bits", &lost, theory, 0.2);
}

/* ---- what the planner predicts ---- */

static void predictions_of_the_planner_do_not_matter(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < LAB_KINDS; kind++)
        for (double bits = 8; bits <= 64; bits *= 2) {
            vidi_plan_entry plan;
            lab_theory theory, other;
            lab_theory_sort sort;
            bool fits;
            assert_int_equal(lab_kind_plan(&plan, &fits, lab_kind_names[kind], 20000, bits), VIDI_OK);
            if (!fits)
                continue;
            assert_true(lab_kind_theory(&theory, &sort, &plan, plan.urls));
            plan.error *= 3;
            plan.expected_lost = 3 * plan.expected_lost + 1;
            plan.bytes *= 2;
            plan.bytes_per_url *= 2;
            plan.lines_per_url *= 2;
            plan.fp_meaning = VIDI_FP_ESTIMATE;
            assert_true(lab_kind_theory(&other, &sort, &plan, plan.urls));
            check(fabs(theory.mean - other.mean) + fabs(theory.variance - other.variance) <= 0,
                  "%s, %g bits: %g became %g", plan.kind, bits, theory.mean, other.mean);
        }
}

/* Only tables of hashes and of URLs have no formula; what is planned is marked as such. */
static void planned_memory_is_called_planned(void **state)
{
    static const char *const planned[] = {"fingerprint", "hashset", "sorted", "list"};
    (void)state;
    for (size_t kind = 0; kind < LAB_KINDS; kind++) {
        bool wanted = false;
        double bits;
        lab_theory_sort sort;
        for (size_t i = 0; i < sizeof planned / sizeof *planned; i++)
            wanted |= strcmp(lab_kind_names[kind], planned[i]) == 0;
        assert_int_equal(lab_kind_memory(&bits, &sort, lab_kind_names[kind], 10000, 1e-3), VIDI_OK);
        check((sort == LAB_PLANNED) == wanted, "%s", lab_kind_names[kind]);
        check(bits > 10000 * log2(1e3), "%s: %g bits, less than information theory allows", lab_kind_names[kind], bits);
    }
}

/* Sets take the memory that their formula says, give or take whole cache lines. */
static void sets_take_the_memory_that_formulas_say(void **state)
{
    static const char *const kinds[] = {"blocked", "scalable", "classic", "spatial", "eigen", "multilayer", "counting"};
    const uint64_t n = 60000;
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (double error = 1e-2; error > 1e-7; error /= 100) {
            vidi_plan_entry plan;
            vidi_set *set;
            vidi_stats stats = {.size = sizeof stats};
            const lab_settings settings = {.seed = 3};
            double bits;
            lab_theory_sort sort;
            assert_int_equal(lab_kind_plan_error(&plan, kinds[i], n, error), VIDI_OK);
            assert_int_equal(lab_kind_make(&set, &plan, &settings, 0), VIDI_OK);
            assert_int_equal(vidi_stat(set, &stats), VIDI_OK);
            vidi_close(set);
            assert_int_equal(lab_kind_memory(&bits, &sort, kinds[i], n, error), VIDI_OK);
            check(fabs(8 * (double)stats.bytes / bits - 1) < 0.01, "%s, %g: %llu bytes, not %g", kinds[i], error,
                  (unsigned long long)stats.bytes, bits / 8);
        }
}

/* Bits per URL hardly depend on the number of URLs, however many that is. */
static void blocked_takes_as_many_bits_for_many_urls(void **state)
{
    (void)state;
    for (double error = 1e-2; error > 1e-7; error /= 100) {
        double few = lab_blocked_bits(100000, error) / 1e5, many = lab_blocked_bits(100000000, error) / 1e8;
        check(many < few && many > 0.98 * few, "%g: %g bits per URL for 1e5 URLs, %g for 1e8", error, few, many);
    }
}

int main(int argc, char **argv)
{
    test_add_once("blocked loses what theory says", blocked_loses_what_theory_says, NULL);
    test_add_once("the smallest filter is the textbook's", the_smallest_filter_is_the_textbooks, NULL);
    test_add_once("stages lose what theory says", stages_lose_what_theory_says, NULL);
    test_add_once("hashes agree as often as theory says", hashes_agree_as_often_as_theory_says, NULL);
    test_add("predictions of the planner do not matter", predictions_of_the_planner_do_not_matter, NULL);
    test_add("planned memory is called planned", planned_memory_is_called_planned, NULL);
    test_add("sets take the memory that formulas say", sets_take_the_memory_that_formulas_say, NULL);
    test_add_once("blocked takes as many bits for many URLs", blocked_takes_as_many_bits_for_many_urls, NULL);
    return test_run("lab/kinds", argc, argv);
}
