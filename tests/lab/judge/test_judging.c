/*
 * Ratios with intervals: how often an interval covers the true ratio (simulated with a fixed seed), and what follows
 * from it for claims of equality.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/judge/judging.h"
#include "lab/judge/distributions.h"
#include "support/runner.h"

static void must_be(const char *what, double value, double wanted, double share)
{
    check(fabs(value - wanted) <= share * fabs(wanted), "%s: %.9g, not %.9g", what, value, wanted);
}

static void students_t_has_its_known_values(void **state)
{
    (void)state;
    must_be("t of 0.005, 1 degree", lab_student_t(0.005, 1), 63.656741, 1e-6);
    must_be("t of 0.005, 2 degrees", lab_student_t(0.005, 2), 9.9248432, 1e-6);
    must_be("t of 0.005, 4 degrees", lab_student_t(0.005, 4), 4.6040949, 1e-6);
    must_be("t of 0.025, 9 degrees", lab_student_t(0.025, 9), 2.2621572, 1e-6);
    must_be("t of 0.0005, 99 degrees", lab_student_t(0.0005, 99), 3.3915, 1e-4);
}

/* ---- chance with a fixed seed ---- */

static uint64_t random_state;

static double uniform(void)
{
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return ((double)(random_state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* A Poisson variable: how many exponential times fit into `mean`. */
static double poisson(double mean)
{
    double count = -1;
    for (double time = 0; time <= mean; time -= log(uniform()))
        count++;
    return count;
}

/* The entry of a count, as lab_entry_sum makes it. */
static lab_entry entry_of(double count, double mean)
{
    lab_entry entry = {.row = "row", .column = "column", .runs = 1};
    lab_entry_sum(&entry, count, (lab_theory){mean, mean, 1e9}, 100);
    return entry;
}

/* Shares of intervals that miss are within four standard deviations of 1 %, or smaller where counts are few. */
static void an_interval_of_rates_covers_the_ratio_in_99_of_100_cases(void **state)
{
    static const double means[][2] = {{20, 20}, {60, 20}, {300, 300}, {1200, 300}};
    enum { TRIES = 1500 };
    (void)state;
    random_state = 1;
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        double missed = 0, truth = means[i][0] / means[i][1];
        for (int try = 0; try < TRIES; try++) {
            lab_entry a = entry_of(poisson(means[i][0]), means[i][0]), b = entry_of(poisson(means[i][1]), means[i][1]);
            lab_ratio ratio = lab_ratio_of_rates(&a, &b);
            missed += !(ratio.known && ratio.low <= truth && truth <= ratio.high);
        }
        double most = 0.01 + 4 * sqrt(0.01 * 0.99 / TRIES);
        check(missed / TRIES <= most, "%g and %g: %g of %d intervals missed", means[i][0], means[i][1], missed, TRIES);
        check(means[i][1] < 100 || missed / TRIES >= 0.002, "%g and %g: intervals are too wide", means[i][0],
              means[i][1]);
    }
}

static void an_interval_of_pairs_covers_the_ratio_in_99_of_100_cases(void **state)
{
    enum { TRIES = 1500, MOST = 20 };
    static const size_t counts[] = {5, 20};
    (void)state;
    random_state = 2;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double missed = 0, a[MOST], b[MOST];
        for (int try = 0; try < TRIES; try++) {
            for (size_t pair = 0; pair < counts[i]; pair++) {
                double common = exp(0.3 * normal()); /* the machine slows both times down alike */
                a[pair] = 130 * common * exp(0.05 * normal());
                b[pair] = 100 * common * exp(0.05 * normal());
            }
            lab_ratio ratio = lab_ratio_of_pairs(a, b, counts[i]);
            missed += !(ratio.low <= 1.3 && 1.3 <= ratio.high);
        }
        double off = 4 * sqrt(0.01 * 0.99 / TRIES);
        check(fabs(missed / TRIES - 0.01) <= off, "%zu pairs: %g of %d intervals missed", counts[i], missed, TRIES);
    }
}

/* ---- relations ---- */

static void a_relation_follows_from_the_whole_interval(void **state)
{
    (void)state;
    assert_int_equal(lab_relate((lab_ratio){1, 0.99, 1.01, true}, 0.02), LAB_EQUAL);
    assert_int_equal(lab_relate((lab_ratio){1, 0.97, 1.01, true}, 0.02), LAB_TOO_LITTLE);
    assert_int_equal(lab_relate((lab_ratio){1.05, 1.03, 1.07, true}, 0.02), LAB_ABOVE);
    assert_int_equal(lab_relate((lab_ratio){1.05, 1.01, 1.07, true}, 0.02), LAB_TOO_LITTLE);
    assert_int_equal(lab_relate((lab_ratio){0.9, 0.85, 0.95, true}, 0.02), LAB_BELOW);
    assert_int_equal(lab_relate((lab_ratio){1, 1, 1, false}, 0.02), LAB_TOO_LITTLE);
    assert_int_equal(lab_relate((lab_ratio){1.05, 1.01, 1.07, true}, 0), LAB_ABOVE);
}

static void a_comparison_follows_from_the_whole_interval(void **state)
{
    lab_entry exact = lab_exact_entry(5), measured = entry_of(50000, 50000);
    (void)state;
    assert_int_equal(lab_compare((lab_ratio){1.1, 1.03, 1.2, true}, 0.02), LAB_MORE);
    assert_int_equal(lab_compare((lab_ratio){1.1, 1.01, 1.2, true}, 0.02), LAB_OPEN);
    assert_int_equal(lab_compare((lab_ratio){1, 0.5, 1.01, true}, 0.02), LAB_NOT_MORE);
    assert_int_equal(lab_compare((lab_ratio){0.1, 0, 0.2, false}, 0.02), LAB_OPEN);
    assert_int_equal(lab_compare(lab_exact_ratio(2), 0.02), LAB_MORE);
    assert_int_equal(lab_compare(lab_ratio_of_rates(&measured, &exact), 0.02), LAB_NOT_MORE);
    assert_int_equal(lab_relate(lab_ratio_of_rates(&exact, &exact), 0), LAB_TOO_LITTLE);
    must_be("a ratio to 2", lab_ratio_to((lab_ratio){3, 2, 4, true}, 2).high, 2, 1e-12);
}

static void too_little_gives_no_interval(void **state)
{
    const double a[] = {1, 1, 1, 1, 1, 1}, b[] = {2, 2.1, 2.2, 2, 1.9, (double)NAN};
    lab_entry one = entry_of(50, 50), none = one;
    (void)state;
    assert_false(lab_ratio_of_pairs(a, b, 4).known);
    assert_true(lab_ratio_of_pairs(a, b, 5).known);
    assert_true(lab_ratio_of_pairs(a, b, 6).known); /* the last is no pair */
    assert_false(lab_ratio_of_pairs(a + 1, b + 1, 5).known);
    none.low = none.high = none.measured; /* one run, whose scatter is unknown */
    assert_false(lab_ratio_of_rates(&one, &none).known);
    assert_false(lab_ratio_of_rates(&one, NULL).known);
}

/* A rate of zero has no logarithm, but a rate that is far higher is still higher. */
static void a_count_of_zero_can_be_compared(void **state)
{
    lab_entry zero = entry_of(0, 1), many = entry_of(1000, 1000), few = entry_of(2, 2);
    (void)state;
    assert_int_equal(lab_relate(lab_ratio_of_rates(&zero, &many), 0.02), LAB_BELOW);
    assert_int_equal(lab_relate(lab_ratio_of_rates(&many, &zero), 0.02), LAB_ABOVE);
    assert_int_equal(lab_relate(lab_ratio_of_rates(&zero, &few), 0.02), LAB_TOO_LITTLE);
    assert_int_equal(lab_relate(lab_ratio_of_rates(&zero, &zero), 0.02), LAB_TOO_LITTLE);
}

static void more_pairs_and_fewer_runs_widen_the_interval(void **state)
{
    lab_entry a = entry_of(1000, 1000), estimated = a;
    (void)state;
    lab_ratio one = lab_ratio_of_rates(&a, &a), ten = lab_ratio_of_rates_among(&a, &a, 10);
    must_be("one pair", log(one.high), 2.5758 * sqrt(2.0 / 1000), 0.05);
    must_be("one of ten", log(ten.high), 3.2905 * sqrt(2.0 / 1000), 0.05);
    estimated.z = (double)NAN; /* the interval comes from three runs, not from theory */
    estimated.runs = 3;
    check(log(lab_ratio_of_rates(&estimated, &estimated).high) > 3 * log(one.high), "three runs are too sure");
}

/* ---- several pairs ---- */

static void pairs_without_power_are_named_and_left_out(void **state)
{
    lab_entry large = entry_of(1e6, 1e6), small = entry_of(100, 100), other = entry_of(1.1e6, 1.1e6);
    lab_entry twice = entry_of(300, 300);
    lab_contest contest = {.count = 0};
    (void)state;
    small.row = "3 HF";
    lab_contest_add(&contest, &small, &small, "table-1");
    lab_contest_add(&contest, NULL, &small, "table-1");
    lab_contest_judge(&contest, 0.02);
    assert_int_equal(contest.count, 1);
    assert_int_equal(contest.relation, LAB_TOO_LITTLE);
    assert_int_equal(contest.judged, 0);
    lab_contest_add(&contest, &large, &large, "table-2");
    lab_contest_judge(&contest, 0.02);
    assert_int_equal(contest.relation, LAB_EQUAL);
    assert_int_equal(contest.judged, 1);
    check(strstr(contest.left_out, "table-1 3 HF column") && !strstr(contest.left_out, "table-2"), "%s",
          contest.left_out);
    lab_contest_add(&contest, &other, &large, "table-3");
    lab_contest_judge(&contest, 0.02);
    assert_int_equal(contest.relation, LAB_ABOVE);
    must_be("the largest difference", contest.farthest.value, 1.1, 1e-3);

    /* A pair without power to show equality still shows a difference. */
    contest.count = 2;
    lab_contest_add(&contest, &small, &twice, "table-4");
    lab_contest_judge(&contest, 0.02);
    assert_int_equal(contest.relation, LAB_BELOW);
}

static void the_sentence_names_every_pair_that_is_left_out(void **state)
{
    lab_entry small = entry_of(100, 100);
    lab_contest contest = {.count = 0};
    (void)state;
    small.row = "a row with a long name";
    for (size_t i = 0; i < LAB_CONTEST_PAIRS + 5; i++)
        lab_contest_add(&contest, &small, &small, "thesis-5.18");
    lab_contest_judge(&contest, 0.02);
    assert_int_equal(contest.count, LAB_CONTEST_PAIRS);
    check(strlen(contest.left_out) < LAB_CONTEST_ROOM - 1, "it was cut off");
    check(strstr(contest.left_out, "more"), "%s", contest.left_out);
}

int main(int argc, char **argv)
{
    test_add("Student's t has its known values", students_t_has_its_known_values, NULL);
    test_add("an interval of rates covers the ratio", an_interval_of_rates_covers_the_ratio_in_99_of_100_cases, NULL);
    test_add("an interval of pairs covers the ratio", an_interval_of_pairs_covers_the_ratio_in_99_of_100_cases, NULL);
    test_add("a relation follows from the whole interval", a_relation_follows_from_the_whole_interval, NULL);
    test_add("a comparison follows from the whole interval", a_comparison_follows_from_the_whole_interval, NULL);
    test_add("too little gives no interval", too_little_gives_no_interval, NULL);
    test_add("a count of zero can be compared", a_count_of_zero_can_be_compared, NULL);
    test_add("more pairs and fewer runs widen the interval", more_pairs_and_fewer_runs_widen_the_interval, NULL);
    test_add("pairs without power are left out", pairs_without_power_are_named_and_left_out, NULL);
    test_add("every pair that is left out is named", the_sentence_names_every_pair_that_is_left_out, NULL);
    return test_run("lab/judging", argc, argv);
}
