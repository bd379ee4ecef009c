/* The mathematics of sizing: against exhaustive occupancy, against simulation, and against itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "filters/bloom.h"
#include "support/check.h"

/* Mean of (X/m)^k where X is the number of places that `marks` random marks hit: by the distribution of X, mark by mark. */
static double occupancy(unsigned marks, unsigned m, unsigned k)
{
    double *chance = calloc(m + 1, sizeof *chance), sum = 0;
    assert_non_null(chance);
    chance[0] = 1;
    for (unsigned i = 0; i < marks; i++)
        for (unsigned x = m + 1; x-- > 0;)
            chance[x] = chance[x] * x / m + (x ? chance[x - 1] * (m - x + 1) / m : 0);
    for (unsigned x = 0; x <= m; x++)
        sum += chance[x] * pow((double)x / m, k);
    free(chance);
    return sum;
}

static void fp_is_exact_for_small_arrays(void **state)
{
    (void)state;
    static const unsigned shapes[][3] = {{1, 2, 1},   {1, 3, 2},    {5, 16, 3},   {10, 64, 4},
                                         {40, 64, 3}, {20, 200, 7}, {30, 300, 2}, {100, 1000, 7}};
    for (size_t i = 0; i < VIDI__COUNT(shapes); i++) {
        unsigned n = shapes[i][0], m = shapes[i][1], k = shapes[i][2];
        double exact = occupancy(n * k, m, k), ours = vidi__bloom_fp(n, m, k);
        assert_true(fabs(ours / exact - 1) < 1e-6);
    }
}

static void fp_above_the_exact_range_agrees_with_the_occupancy_distribution(void **state)
{
    (void)state;
    double exact = occupancy(7 * 600, 6000, 7), ours = vidi__bloom_fp(600, 6000, 7);
    assert_true(fabs(ours / exact - 1) < 1e-5);
}

static void fp_corrects_the_bias_of_the_textbook_formula(void **state)
{
    (void)state;
    double textbook = pow(1 - exp(-3.0 * 10 / 40), 3);
    assert_true(vidi__bloom_fp(10, 40, 3) > 1.02 * textbook);
    textbook = pow(1 - exp(-7.0 * 1e6 / 1e7), 7);
    assert_true(fabs(vidi__bloom_fp(1e6, 1e7, 7) / textbook - 1) < 1e-5);
}

static void fp_of_the_thesis_cells_is_what_equation_3_5_gives(void **state)
{
    (void)state;
    assert_true(fabs(100 * vidi__bloom_fp(1e6, 6e6, 3) - 6.0913) < 1e-3);
    assert_true(fabs(100 * vidi__bloom_fp(1e6, 1.7e6 * 10, 10) - 0.0302) < 2e-4);
}

static void lost_is_the_sum_over_the_fill(void **state)
{
    (void)state;
    double sum = 0;
    for (unsigned i = 0; i < 3000; i++)
        sum += vidi__bloom_fp(i, 18000, 3);
    assert_true(fabs(vidi__bloom_lost(3000, 18000, 3, (vidi__bloom_use){1, false}) / sum - 1) < 1e-4);
    sum = 0;
    for (unsigned i = 0; i < 3000; i++)
        sum += pow(vidi__bloom_fp(i, 18000, 3), 2);
    assert_true(fabs(vidi__bloom_lost(3000, 18000, 3, (vidi__bloom_use){2, false}) / sum - 1) < 1e-4);
}

static void lost_of_the_thesis_cells_is_the_incremental_rate(void **state)
{
    (void)state;
    assert_true(fabs(100 * vidi__bloom_lost(1e6, 5.1e6, 3, (vidi__bloom_use){1, false}) / 1e6 - 2.6071) <
                0.01); /* table 5.17 */
    assert_true(fabs(100 * vidi__bloom_lost(1e6, 6e6, 3, (vidi__bloom_use){2, false}) / 1e6 - 0.0641) < 0.001);
}

static void a_hopeless_filter_loses_nearly_all(void **state)
{
    (void)state;
    assert_true(vidi__bloom_lost(1e9, 2, 29, (vidi__bloom_use){1, false}) > 0.99e9);
    assert_true(isinf(vidi__bloom_lost(1e9, 2, 29, (vidi__bloom_use){1, true})));
}

static vidi__bloom read_shape(const char *text, uint64_t capacity, double error, int *code)
{
    vidi__params params;
    vidi__bloom shape = {0};
    assert_int_equal(vidi__params_parse(&params, text), VIDI_OK);
    *code = vidi__bloom_read(&shape, &(vidi__config){.params = &params, .capacity = capacity, .error = error});
    return shape;
}

static void shape_from_capacity_and_error_is_the_smallest(void **state)
{
    (void)state;
    static const double errors[] = {0.5, 0.1, 0.01, 1e-4, 1e-6, 1e-9};
    static const uint64_t capacities[] = {1, 2, 10, 1000, 123457, 1000000000};
    for (size_t i = 0; i < VIDI__COUNT(errors); i++)
        for (size_t j = 0; j < VIDI__COUNT(capacities); j++) {
            int code;
            vidi__bloom shape = read_shape("", capacities[j], errors[i], &code);
            double n = (double)capacities[j], m = (double)shape.m;
            assert_int_equal(code, VIDI_OK);
            assert_true(vidi__bloom_fp(n, m, shape.k) <= errors[i] * (1 + 1e-6));
            for (unsigned k = 1; k <= VIDI__K_MAX && shape.m > 3; k++) /* no k does with one place in a thousand less */
                assert_true(vidi__bloom_fp(n, floor(m * 0.999) - 1, k) > errors[i] * 0.999);
        }
}

static void shape_follows_equation_5_1(void **state)
{
    (void)state;
    int code;
    vidi__bloom shape = read_shape("k=3,M=1.7", 1000000, 0, &code);
    assert_int_equal(code, VIDI_OK);
    assert_int_equal(shape.m, 5100000);
    assert_int_equal(shape.k, 3);
    shape = read_shape("k=10,M=2.5", 1000000, 0, &code);
    assert_int_equal(shape.m, 25000000);
}

static void shape_from_other_pairs(void **state)
{
    (void)state;
    int code;
    vidi__bloom shape = read_shape("m=1000000,k=5", 0, 0, &code);
    assert_int_equal(code, VIDI_OK);
    assert_int_equal(shape.n, 138629); /* m ln 2 / k: half full */
    shape = read_shape("m=1000000", 100000, 0, &code);
    assert_int_equal(shape.k, 7);
    shape = read_shape("k=4", 1000, 0.01, &code);
    assert_int_equal(shape.k, 4);
    assert_true(vidi__bloom_fp(1000, (double)shape.m, 4) <= 0.01);
    shape = read_shape("M=2", 1000, 0.01, &code);
    assert_int_equal(shape.k, 5); /* (1 - e^(-1/2))^5 = 0.0094 */
    assert_int_equal(shape.m, 10000);
}

static void shapes_that_contradict_themselves_are_refused(void **state)
{
    (void)state;
    int code;
    static const struct {
        const char *params;
        uint64_t capacity;
        double error;
    } bad[] = {
        {"", 0, 0.01},         {"m=100", 0, 0},
        {"k=3", 0, 0.01},      {"m=100,M=2", 10, 0},
        {"k=3,M=2", 0, 0},     {"m=100,k=3", 1000, 0.01},
        {"k=0", 10, 0},        {"k=65", 10, 0},
        {"M=0", 10, 0},        {"M=-1", 10, 0},
        {"M=nan", 10, 0},      {"m=0,k=1", 0, 0},
        {"k=1,M=2", 10, 1e-3}, {"k=64,M=1000000", UINT64_C(1) << 60, 0},
    };
    for (size_t i = 0; i < VIDI__COUNT(bad); i++) {
        read_shape(bad[i].params, bad[i].capacity, bad[i].error, &code);
        assert_int_equal(code, VIDI_EOPTION);
    }
}

static double single(const void *context, unsigned k)
{
    (void)context;
    (void)k;
    return 1;
}

static void capacities_beyond_all_memory_are_refused_at_once(void **state)
{
    (void)state;
    static const uint64_t capacities[] = {UINT64_C(1) << 49, UINT64_C(1) << 54, UINT64_C(1) << 62, UINT64_MAX};
    static const double errors[] = {0.999, 0.41, 0.01, 1e-9};
    for (size_t i = 0; i < VIDI__COUNT(capacities); i++)
        for (size_t j = 0; j < VIDI__COUNT(errors); j++) {
            int code;
            vidi__bloom shape = read_shape("", capacities[i], errors[j], &code);
            assert_true(code == VIDI_EOPTION || shape.m <= VIDI__PLACES_MAX);
        }
    vidi__bloom shape;
    vidi__want want = {.memory = VIDI__PLACES_MAX, .error = 0.999, .members = 1};
    assert_int_equal(vidi__bloom_plan(&want, single, NULL, &shape), VIDI_OK);
}

static void plans_keep_what_was_asked(void **state)
{
    (void)state;
    static const uint64_t urls[] = {0, 1000, 1000000, 1000000000};
    static const uint64_t memory[] = {0, 1 << 10, 1 << 20, 1 << 30};
    static const double error[] = {0, 0.1, 1e-3, 1e-8}, lost[] = {0, 0.01, 1, 1000};
    unsigned met = 0;
    for (int i = 0; i < 256; i++) {
        vidi__want want = {.urls = urls[i & 3],
                           .memory = memory[i >> 2 & 3],
                           .error = error[i >> 4 & 3],
                           .lost = lost[i >> 6 & 3],
                           .members = 1};
        vidi__bloom shape;
        if ((!want.urls && !want.memory) || vidi__bloom_plan(&want, single, NULL, &shape) < 0)
            continue;
        met++;
        double n = (double)shape.n, m = (double)shape.m;
        assert_true(shape.m <= VIDI__PLACES_MAX && shape.k >= 1 && shape.k <= VIDI__K_MAX);
        if (want.urls)
            assert_true(shape.n == want.urls);
        if (want.memory)
            assert_true(shape.m <= want.memory * 8);
        if (want.error > 0)
            assert_true(vidi__bloom_fp(n, m, shape.k) <= want.error * (1 + 1e-6));
        if (want.lost > 0)
            assert_true(vidi__bloom_lost(n, m, shape.k, (vidi__bloom_use){1, false}) <= want.lost * (1 + 1e-6));
    }
    assert_true(met > 100);
}

static void estimate_inverts_the_fill(void **state)
{
    (void)state;
    double m = 1e7;
    double marked = m * -expm1(7e6 * log1p(-1 / m));
    assert_in_range(vidi__bloom_estimate((uint64_t)marked, (uint64_t)m, 7), 999990, 1000010);
    assert_int_equal(vidi__bloom_estimate(0, 100, 3), 0);
    assert_true(vidi__bloom_estimate(100, 100, 3) > 0);
    vidi__filter into = {.count = 10}, from = {.count = 20};
    vidi__bloom_merged(&into, &from, (vidi__bloom_growth){0, 0}, 1000, 3);
    assert_int_equal(vidi__filter_count(&into), 20);
    vidi__bloom_merged(&into, &from, (vidi__bloom_growth){0, 1000}, 1000, 3);
    assert_int_equal(vidi__filter_count(&into), 40);
    vidi__bloom_merged(&into, &from, (vidi__bloom_growth){500, 500}, 1000, 3);
    assert_int_equal(vidi__filter_count(&into), 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp_is_exact_for_small_arrays),
        cmocka_unit_test(fp_above_the_exact_range_agrees_with_the_occupancy_distribution),
        cmocka_unit_test(fp_corrects_the_bias_of_the_textbook_formula),
        cmocka_unit_test(fp_of_the_thesis_cells_is_what_equation_3_5_gives),
        cmocka_unit_test(lost_is_the_sum_over_the_fill),
        cmocka_unit_test(lost_of_the_thesis_cells_is_the_incremental_rate),
        cmocka_unit_test(a_hopeless_filter_loses_nearly_all),
        cmocka_unit_test(shape_from_capacity_and_error_is_the_smallest),
        cmocka_unit_test(shape_follows_equation_5_1),
        cmocka_unit_test(shape_from_other_pairs),
        cmocka_unit_test(shapes_that_contradict_themselves_are_refused),
        cmocka_unit_test(capacities_beyond_all_memory_are_refused_at_once),
        cmocka_unit_test(plans_keep_what_was_asked),
        cmocka_unit_test(estimate_inverts_the_fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
