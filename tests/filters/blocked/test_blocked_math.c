/*
 * The mathematics of the kind blocked: against sums over all that can happen, against simulation, and against itself.
 */
#include <math.h>
#include <stdlib.h>

#include "filters/blocked/blocked_math.h"
#include "support/check.h"
#include "support/random.h"
#include "support/runner.h"

static bool nearly(double a, double b, double share)
{
    return fabs(a - b) <= share * fabs(b);
}

/* ---- one line, by the definition: the mean over the number of URLs that drew it ---- */

static double binomial(double n, double x, double p)
{
    if (p >= 1)
        return x == n;
    return exp(lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + x * log(p) + (n - x) * log1p(-p));
}

static double line_by_definition(double urls, double rows)
{
    double sum = 0, mean = urls / rows;
    for (double x = 0; x <= urls && x < mean + 200 + 30 * sqrt(mean); x++)
        sum += binomial(urls, x, 1 / rows) * pow(1 - pow(63.0 / 64, x), 8);
    return sum;
}

static void a_line_is_judged_by_how_many_drew_it(void **state)
{
    static const double cases[][2] = {{1, 1},     {1, 2},       {1, 64},      {2, 1},      {7, 3},     {50, 1},
                                      {50, 2},    {300, 10},    {1000, 2000}, {5000, 100}, {20, 1000}, {3000, 30},
                                      {1e5, 1e5}, {1e6, 20000}, {1e6, 1e4},   {40, 40},    {600, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vidi__blocked_line line = vidi__blocked_line_of(cases[i][1]);
        double ours = vidi__blocked_line_fp(&line, cases[i][0]), exact = line_by_definition(cases[i][0], cases[i][1]);
        check(nearly(ours, exact, 1e-8), "%g URLs, %g rows: %.12g, not %.12g", cases[i][0], cases[i][1], ours, exact);
    }
}

/* With rows without end, X is Poisson's. The mean is the same at 2^20 rows and at 2^40, where no sum could be made. */
static void large_layers_are_as_accurate_as_small_ones(void **state)
{
    (void)state;
    for (double load = 0.001; load < 300; load *= 3) {
        double sum = 0;
        for (double x = 0; x < load + 100 + 30 * sqrt(load); x++)
            sum += exp(x * log(load) - load - lgamma(x + 1)) * pow(1 - pow(63.0 / 64, x), 8);
        vidi__blocked_line line = vidi__blocked_line_of(0x1p40);
        double ours = vidi__blocked_line_fp(&line, load * 0x1p40);
        check(nearly(ours, sum, 1e-7), "%g URLs a line: %.12g, not %.12g", load, ours, sum);
    }
}

static void marks_tell_how_many_urls_made_them(void **state)
{
    (void)state;
    for (unsigned lines = 1; lines <= 4; lines++)
        for (double rows = 1; rows < 1e9; rows *= 7)
            for (double load = 0.01; load < 100; load *= 4) {
                vidi__blocked_line line = vidi__blocked_line_of(rows);
                double urls = load * rows, free = pow(1 - 1 / (64 * rows), urls);
                if (rows > 1e6)
                    free = exp(-load / 64);
                double marked = (1 - free) * rows * lines * 512, ours = vidi__blocked_urls(&line, lines, marked);
                check(nearly(ours, urls, 1e-6), "%g URLs in %g rows: %.12g", urls, rows, ours);
            }
    vidi__blocked_line line = vidi__blocked_line_of(10);
    assert_true(isfinite(vidi__blocked_urls(&line, 2, 10 * 2 * 512)));
}

/* ---- a layer ---- */

/* The mean over the URLs of a partition with so many rows, term by term, of the power of what its rows do. */
static double partition_by_definition(double n, unsigned rows, unsigned lines)
{
    double sum = 0;
    for (double x = 0; x <= n; x++)
        sum += binomial(n, x, 1.0 / 64) * pow(line_by_definition(x, rows), lines);
    return sum;
}

static double layer_by_definition(double n, unsigned rows, unsigned lines)
{
    unsigned more = 0, least = rows / 64;
    for (unsigned i = 0; i < 64; i++)
        more += (i + 1) * rows / 64 - i * rows / 64 > least;
    double sum = (64 - more) * partition_by_definition(n, least, lines);
    return (sum + (more ? more * partition_by_definition(n, least + 1, lines) : 0)) / 64;
}

static void a_layer_is_judged_by_its_partitions(void **state)
{
    static const struct {
        double n;
        unsigned rows, lines;
    } cases[] = {{1, 64, 1}, {1, 64, 4}, {200, 64, 2}, {300, 100, 1}, {300, 100, 3}, {600, 130, 2}, {250, 64, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double ours = vidi__blocked_fp(cases[i].n, cases[i].rows, cases[i].lines);
        double exact = layer_by_definition(cases[i].n, cases[i].rows, cases[i].lines);
        check(nearly(ours, exact, 1e-6), "%g URLs, %u rows of %u: %.12g, not %.12g", cases[i].n, cases[i].rows,
              cases[i].lines, ours, exact);
    }
}

/* Steps of half a standard deviation against steps of one, where both can be made. */
static void coarse_sums_are_as_good_as_fine_ones(void **state)
{
    (void)state;
    for (unsigned lines = 2; lines <= 4; lines++)
        for (double n = 3000; n < 4e5; n *= 3) {
            double rows = floor(n / 50 / 64 + 1) * 64, sum = 0;
            vidi__blocked_line line = vidi__blocked_line_of(rows / 64);
            for (double x = 0; x < n / 64 + 30 * sqrt(n / 64) + 100; x++)
                sum += binomial(n, x, 1.0 / 64) * pow(vidi__blocked_line_fp(&line, x), lines);
            double ours = vidi__blocked_fp(n, rows, lines);
            check(nearly(ours, sum, 1e-6), "%g URLs, %u lines: %.12g, not %.12g", n, lines, ours, sum);
        }
}

/* That partitions share their luck matters: the power of the mean is not enough for small sets of several lines. */
static void crowded_partitions_are_accounted_for(void **state)
{
    (void)state;
    vidi__blocked_line line = vidi__blocked_line_of(215);
    double naive = pow(vidi__blocked_line_fp(&line, 10000), 2);
    assert_true(vidi__blocked_fp(10000, 215, 2) > 1.2 * naive);
    line = vidi__blocked_line_of(19729);
    naive = pow(vidi__blocked_line_fp(&line, 1e6), 2);
    assert_true(nearly(vidi__blocked_fp(1e6, 19729, 2), naive, 0.01));
}

/* ---- pages lost ---- */

static void pages_lost_add_up(void **state)
{
    (void)state;
    for (unsigned lines = 1; lines <= 4; lines++)
        for (unsigned members = 1; members <= 2; members++) {
            double rows = 64.0 * (members + lines), n = 2500, sum = 0, bound = 0;
            for (double i = 0; i < n; i++) {
                double p = pow(vidi__blocked_fp(i, rows, lines), members);
                sum += p;
                bound += p / (1 - p);
            }
            double ours = vidi__blocked_lost(n, rows, lines, (vidi__bloom_use){members, false});
            check(nearly(ours, sum, 2e-4), "%u lines, %u members: %g, not %g", lines, members, ours, sum);
            ours = vidi__blocked_lost(n, rows, lines, (vidi__bloom_use){members, true});
            check(nearly(ours, bound, 2e-4), "%u lines, %u members, bound: %g, not %g", lines, members, ours, bound);
        }
    double few = vidi__blocked_fp(1, 64, 1) + vidi__blocked_fp(2, 64, 1);
    assert_true(nearly(vidi__blocked_lost(3, 64, 1, (vidi__bloom_use){1, false}), few, 1e-9));
    assert_true(vidi__blocked_lost(0, 64, 1, (vidi__bloom_use){1, false}) == 0);
}

/* ---- sizes ---- */

static double bits_a_url(double n, double error, unsigned lines)
{
    /* for URLs that come, not for NEW answers */
    double rows = vidi__blocked_shape_for(n, error, lines).rows;
    return rows * lines * 512 / vidi__blocked_arrivals(n, error);
}

/* What was computed for the design of this kind, in another way. */
static void known_figures_come_out(void **state)
{
    static const struct {
        double error;
        unsigned lines;
        double bits;
    } rows[] = {{1e-2, 1, 10.10}, {1e-3, 1, 15.72}, {1e-3, 2, 15.72}, {1e-4, 1, 23.61}, {1e-4, 2, 20.20},
                {1e-6, 2, 31.45}, {1e-6, 3, 30.30}, {1e-8, 3, 40.94}, {1e-8, 4, 40.40}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double bits = bits_a_url(1e9, rows[i].error, rows[i].lines);
        check(fabs(bits - rows[i].bits) < 0.011, "%g with %u lines: %.3f bits, not %.2f", rows[i].error, rows[i].lines,
              bits, rows[i].bits);
    }
}

static void one_row_less_would_not_do(void **state)
{
    (void)state;
    for (double n = 2000; n < 1e9; n *= 13)
        for (double error = 0.3; error > 1e-10; error /= 25)
            for (unsigned lines = 1; lines <= 4; lines++) {
                double rows = vidi__blocked_shape_for(n, error, lines).rows, came = vidi__blocked_arrivals(n, error);
                assert_true(rows >= 64);
                check(vidi__blocked_fp(came, rows, lines) <= error * (1 + 1e-9), "%g URLs, %g, %u lines: too small", n,
                      error, lines);
                check(rows == 64 || vidi__blocked_fp(came, rows - 1, lines) > error, "%g URLs, %g, %u lines: too large",
                      n, error, lines);
            }
}

static void as_few_lines_as_are_worth_it(void **state)
{
    static const struct {
        double error;
        unsigned lines;
    } rows[] = {{0.5, 1}, {1e-2, 1}, {1.5e-3, 1}, {1e-3, 1}, {1e-4, 2}, {1e-6, 2}, {1e-8, 3}, {1e-12, 4}, {1e-20, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        vidi__blocked_shape shape = vidi__blocked_shape_for(1e8, rows[i].error, 0);
        check(shape.lines == rows[i].lines, "%g: %u lines", rows[i].error, shape.lines);
        double bytes = vidi__blocked_bytes(shape);
        if (shape.lines < 4)
            assert_true(vidi__blocked_bytes(vidi__blocked_shape_for(1e8, rows[i].error, shape.lines + 1)) >
                        0.95 * bytes);
        if (shape.lines > 1)
            assert_true(bytes <=
                        0.95 * vidi__blocked_bytes(vidi__blocked_shape_for(1e8, rows[i].error, shape.lines - 1)));
    }
}

/* NEW answers and false "seen" come mixed, as the chance rises: simulated. */
static void more_come_than_are_new_but_never_more_than_reckoned(void **state)
{
    (void)state;
    for (double error = 0.8; error > 1e-5; error /= 3) {
        double fresh = 1e6, came = vidi__blocked_arrivals(fresh, error),
               rows = vidi__blocked_shape_for(fresh, error, 1).rows;
        double lost = vidi__blocked_lost(came, rows, 1, (vidi__bloom_use){1, false});
        check(came - lost >= fresh * (1 - 1e-6), "%g: %.0f of %.0f are NEW", error, came - lost, came);
        check(came <= fresh * (1 + error), "%g: %.0f come", error, came);
    }
}

static double above(const void *context, double number)
{
    return log(*(const double *)context / number);
}

static void the_smallest_number_is_found_from_any_guess(void **state)
{
    static const double limits[] = {1, 63, 64, 65, 100, 1e5, 123456789, 1e15};
    static const double guesses[] = {-5, 0, 1, 64, 90, 1e5, 2e8, 1e15, 1e30};
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (size_t j = 0; j < sizeof guesses / sizeof *guesses; j++) {
            double found = vidi__blocked_smallest(64, 1e12, guesses[j], above, &limits[i]);
            double right = limits[i] > 1e12 ? 0 : fmax(64, limits[i]);
            check(found == right, "%g from %g: %g", limits[i], guesses[j], found);
        }
}

static void what_no_memory_holds_has_no_shape(void **state)
{
    (void)state;
    assert_true(vidi__blocked_shape_for(0x1p62, 1e-2, 0).rows == 0);
    assert_true(vidi__blocked_shape_for(0x1p62, 1e-2, 1).rows == 0);
    assert_true(vidi__blocked_shape_for(1e6, 1e-60, 4).rows > 0);
}

/* ---- layers ---- */

static void the_shares_of_all_layers_are_never_more_than_the_whole(void **state)
{
    (void)state;
    for (int reserved = 0; reserved < 2; reserved++) {
        vidi__blocked_plan plan = {reserved ? 1000 : 0, 0.01, 0};
        double sum = 0;
        for (unsigned i = 0; i < VIDI__BLOCKED_LAYERS_MAX; i++) {
            double share = vidi__blocked_layer_at(&plan, i).share;
            assert_true(share > 0 && (i == 0 || share < vidi__blocked_layer_at(&plan, i - 1).share));
            sum += share;
        }
        check(sum <= 0.01 && sum > 0.0099, "%g of 0.01", sum);
    }
}

static void layers_grow_by_a_factor_of_four(void **state)
{
    static const uint64_t capacities[] = {0, 1, 1000, 1000000, 1000000000};
    (void)state;
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        vidi__blocked_plan plan = {capacities[i], 0.01, 0};
        vidi__blocked_layer_plan first = vidi__blocked_layer_at(&plan, 0);
        assert_true(first.urls >= capacities[i] && first.urls <= capacities[i] + capacities[i] / 500 + 10000);
        assert_true(first.prepare == (capacities[i] ? capacities[i] : first.urls / 2));
        for (unsigned j = 2; j < 15; j++)
            assert_int_equal(vidi__blocked_layer_at(&plan, j).urls, 4 * vidi__blocked_layer_at(&plan, j - 1).urls);
        assert_true(vidi__blocked_layer_at(&plan, 1).urls >= capacities[i] / 4);
        assert_true(vidi__blocked_layer_at(&plan, VIDI__BLOCKED_LAYERS_MAX - 1).urls <= VIDI__CAPACITY_MAX);
    }
}

int main(int argc, char **argv)
{
    test_add("a line is judged by how many drew it", a_line_is_judged_by_how_many_drew_it, NULL);
    test_add("large layers are as accurate as small ones", large_layers_are_as_accurate_as_small_ones, NULL);
    test_add("marks tell how many URLs made them", marks_tell_how_many_urls_made_them, NULL);
    test_add("a layer is judged by its partitions", a_layer_is_judged_by_its_partitions, NULL);
    test_add("coarse sums are as good as fine ones", coarse_sums_are_as_good_as_fine_ones, NULL);
    test_add("crowded partitions are accounted for", crowded_partitions_are_accounted_for, NULL);
    test_add("pages lost add up", pages_lost_add_up, NULL);
    test_add("known figures come out", known_figures_come_out, NULL);
    test_add("one row less would not do", one_row_less_would_not_do, NULL);
    test_add("as few lines as are worth it", as_few_lines_as_are_worth_it, NULL);
    test_add("more come than are NEW, but never more than reckoned",
             more_come_than_are_new_but_never_more_than_reckoned, NULL);
    test_add("the smallest number is found from any guess", the_smallest_number_is_found_from_any_guess, NULL);
    test_add("what no memory holds has no shape", what_no_memory_holds_has_no_shape, NULL);
    test_add("the shares of all layers are never more than the whole",
             the_shares_of_all_layers_are_never_more_than_the_whole, NULL);
    test_add("layers grow by a factor of four", layers_grow_by_a_factor_of_four, NULL);
    return test_run("blocked math", argc, argv);
}
