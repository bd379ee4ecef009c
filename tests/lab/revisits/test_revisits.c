/*
 * Revisits: the formulas against simulations that are written here and use nothing of the library, the lab's crawls
 * against the formulas and against single calls, and claims both ways.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/books.h"
#include "lab/urls/mix.h"
#include "lab/revisits/revisits.h"
#include "lab/tables.h"
#include "support/runner.h"

/* ---- a simulation of one's own ---- */

enum { PAGES = 600, BITS_MOST = PAGES * 8, CRAWLS = 6 };

static uint64_t state_of_chance = 1;

static uint64_t chance(uint64_t limit)
{
    state_of_chance += UINT64_C(0x9e3779b97f4a7c15);
    return lab_scale(lab_mix(state_of_chance), limit);
}

static void shuffle(unsigned *order)
{
    for (unsigned i = 0; i < PAGES; i++)
        order[i] = i;
    for (unsigned i = PAGES; i > 1; i--) {
        unsigned other = (unsigned)chance(i), swap = order[i - 1];
        order[i - 1] = order[other];
        order[other] = swap;
    }
}

typedef struct site {
    uint64_t pages[PAGES], salt; /* random names */
    unsigned char bits[BITS_MOST];
    bool lost[PAGES];
    unsigned order[PAGES], times[PAGES];
} site;

/* Sets the bits of the page in this place; it is lost if they were all set. */
static void look_up(site *site, const lab_revisits *policy, unsigned place)
{
    bool all = true;
    for (unsigned i = 0; i < lab_revisits_k(policy); i++) {
        uint64_t value = lab_mix(lab_mix(site->pages[place] + site->salt) + i * UINT64_C(0x9e3779b97f4a7c15));
        unsigned char *bit = &site->bits[lab_scale(value, (uint64_t)lab_revisits_bits(policy))];
        all &= *bit;
        *bit = 1;
    }
    site->lost[place] = all;
}

static void crawl(site *site, const lab_revisits *policy, unsigned number)
{
    unsigned replaced[PAGES], new = number ? (unsigned)policy->replaced : 0;
    shuffle(replaced);
    for (unsigned i = 0; i < new; i++)
        site->pages[replaced[i]] = lab_mix(chance(UINT64_MAX));
    if (number % lab_revisits_period(policy, CRAWLS) != 0) {
        for (unsigned i = 0; i < new; i++)
            look_up(site, policy, replaced[i]);
        return;
    }
    memset(site->bits, 0, sizeof site->bits);
    if (!policy->policy.same_salts)
        site->salt = lab_mix(chance(UINT64_MAX));
    if (!policy->policy.same_order)
        shuffle(site->order);
    for (unsigned i = 0; i < PAGES; i++)
        look_up(site, policy, site->order[i]);
}

/* Page-crawls missed; times[place] is how often. */
static double crawl_all(site *site, const lab_revisits *policy)
{
    double missed = 0;
    memset(site->times, 0, sizeof site->times);
    site->salt = lab_mix(chance(UINT64_MAX));
    shuffle(site->order);
    for (unsigned i = 0; i < PAGES; i++)
        site->pages[i] = lab_mix(chance(UINT64_MAX));
    for (unsigned number = 0; number < CRAWLS; number++) {
        crawl(site, policy, number);
        for (unsigned i = 0; i < PAGES; i++) {
            missed += site->lost[i];
            site->times[i] += site->lost[i];
        }
    }
    return missed;
}

static const lab_revisits cases[] = {
    {{"kept", 0, 1, false, false}, PAGES, 0, 4},
    {{"kept, churn", 0, 1, false, false}, PAGES, PAGES / 10, 4},
    {{"kept, half replaced", 0, 1, false, false}, PAGES, PAGES / 2, 4},
    {{"every 2, churn", 2, 1, false, false}, PAGES, PAGES / 10, 4},
    {{"every 4, which does not divide 6", 4, 1, false, false}, PAGES, PAGES / 4, 4},
    {{"each", 1, 1, false, false}, PAGES, PAGES / 10, 4},
    {{"each, same order", 1, 1, false, true}, PAGES, 0, 4},
    {{"two epochs", 1, 2, false, false}, PAGES, 0, 4},
    {{"every 2", 2, 1, false, false}, PAGES, 0, 4},
    {{"emptied", 1, 1, true, false}, PAGES, 0, 4},
    {{"emptied, same order", 1, 1, true, true}, PAGES, 0, 4},
};
enum { CASES = sizeof cases / sizeof *cases, TIMES = 400 };

/* Mean within 4.5 standard errors, variance within a third. */
static void agrees(const lab_revisits *policy, const char *what, double sum, double squares, lab_theory theory)
{
    double mean = sum / TIMES, variance = squares / TIMES - mean * mean, error = sqrt(theory.variance / TIMES);
    check(fabs(mean - theory.mean) < 4.5 * error, "%s, %s: %g on average, theory %g, standard error %g",
          policy->policy.name, what, mean, theory.mean, error);
    check(theory.mean < 5 || fabs(variance / theory.variance - 1) < 0.34, "%s, %s: variance %g, theory %g",
          policy->policy.name, what, variance, theory.variance);
}

static void simulated_crawls_miss_what_formulas_say(void **state)
{
    site *site = calloc(1, sizeof *site);
    (void)state;
    assert_non_null(site);
    for (size_t i = 0; i < CASES; i++) {
        double sum = 0, squares = 0, half = 0, half_squares = 0, all = 0, all_squares = 0;
        for (unsigned j = 0; j < TIMES; j++) {
            double missed = crawl_all(site, &cases[i]), most = 0, never = 0;
            for (unsigned k = 0; k < PAGES; k++) {
                most += site->times[k] > CRAWLS / 2;
                never += site->times[k] == CRAWLS;
            }
            sum += missed;
            squares += missed * missed;
            half += most;
            half_squares += most * most;
            all += never;
            all_squares += never * never;
        }
        agrees(&cases[i], "page-crawls", sum, squares, lab_revisits_missed(&cases[i], CRAWLS));
        if (cases[i].replaced)
            continue;
        agrees(&cases[i], "missed by most", half, half_squares, lab_revisits_often(&cases[i], CRAWLS, CRAWLS / 2 + 1));
        agrees(&cases[i], "never fetched", all, all_squares, lab_revisits_often(&cases[i], CRAWLS, CRAWLS));
    }
    free(site);
}

/* ---- the lab's crawls ---- */

/* Runs that are judged one by one: z is 0 on average, and its square is about 1. */
static void runs_come_out_as_theory_says(void **state)
{
    static const char *const ids[] = {"revisits-churn-10", "revisits-churn-50", "revisits-never"};
    enum { RUNS = 25 };
    lab_settings settings = {.urls = 40000, .runs = 1, .seed = 7, .threads = 1};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const lab_study *study = study_of(ids[i]);
        size_t cells = cells_of(study), columns = lab_study_columns(study);
        double *numbers = calloc(RUNS * cells, sizeof *numbers), squares = 0, judged = 0;
        assert_non_null(numbers);
        settings.study = study;
        for (uint64_t run = 0; run < RUNS; run++)
            assert_int_equal(study->measure(&settings, run, numbers + run * cells), 0);
        for (size_t cell = 0; cell < cells; cell++) {
            double sum = 0, own = 0;
            lab_entry entry = {.row = study->rows[cell / columns], .column = study->columns[cell % columns], .runs = 1};
            for (uint64_t run = 0; run < RUNS; run++) {
                study->judge(
                    &(lab_cell){study, &settings, cell / columns, cell % columns, &numbers[run * cells + cell], NULL},
                    &entry);
                sum += entry.z;
                own += entry.z * entry.z / RUNS;
            }
            if (entry.theory < 10000) /* fewer than ten pages in a run */
                continue;
            check(fabs(sum) < 4.1 * sqrt(RUNS), "%s, %s, %s: z is %g on average", ids[i], entry.row, entry.column,
                  sum / RUNS);
            squares += own;
            judged++;
        }
        check(judged > 5 && squares / judged > 0.5 && squares / judged < 1.6, "%s: z^2 is %g on average of %g cells",
              ids[i], squares / judged, judged);
        free(numbers);
    }
}

typedef struct seen_so_far {
    double missed[LAB_REVISITS_MOST];
    unsigned crawls;
    uint64_t often[2]; /* pages missed never, and in every crawl */
    uint64_t pages;
} seen_so_far;

static void note(const lab_revisits_world *world, unsigned crawls, double missed, void *context)
{
    seen_so_far *so_far = context;
    so_far->missed[crawls - 1] = missed;
    so_far->crawls = crawls;
    so_far->often[0] = so_far->often[1] = 0;
    for (uint64_t i = 0; i < so_far->pages; i++) {
        so_far->often[0] += world->times[i] == 0;
        so_far->often[1] += world->times[i] == crawls;
    }
}

static seen_so_far crawl_with(lab_policy policy, uint64_t pages, uint64_t replaced, unsigned crawls)
{
    LAB_BLOCK;
    const lab_settings settings = {.urls = 1000, .seed = 3};
    lab_revisits revisits = {policy, pages, replaced, 4};
    lab_revisits_world world;
    seen_so_far so_far = {.pages = pages};
    assert_int_equal(lab_revisits_world_make(&world, &settings, 0, pages, replaced), 0);
    assert_int_equal(lab_revisits_crawl(&world, &revisits, crawls, note, &so_far), 0);
    assert_int_equal(so_far.crawls, crawls);
    return so_far;
}

/* A kept filter, and one that is emptied with the same salts and order, lose the same pages in each crawl. */
static void pages_stay_lost_without_new_salts(void **state)
{
    const lab_policy kept = {"kept", 0, 1, false, false}, same = {"emptied", 1, 1, true, true};
    const lab_policy other = {"emptied", 1, 1, true, false}, salts = {"each", 1, 1, false, true};
    (void)state;
    seen_so_far a = crawl_with(kept, 5000, 0, 4), b = crawl_with(same, 5000, 0, 4);
    seen_so_far c = crawl_with(other, 5000, 0, 4), d = crawl_with(salts, 5000, 0, 4);
    for (unsigned i = 1; i < 4; i++) {
        assert_true(fabs(a.missed[i] - a.missed[0]) < 0.5 && a.missed[0] > 0);
        assert_true(fabs(b.missed[i] - b.missed[0]) < 0.5 && b.missed[0] > 0);
    }
    assert_int_equal(a.often[0] + a.often[1], 5000);
    assert_int_equal(b.often[0] + b.often[1], 5000);
    check(c.often[1] < b.often[1] / 4, "another order changes nothing: %llu of %llu", (unsigned long long)c.often[1],
          (unsigned long long)b.often[1]);
    check(d.often[1] < b.often[1] / 20, "new salts change nothing: %llu", (unsigned long long)d.often[1]);
}

/* Crawls with new salts, one URL at a time. */
static void misses_are_those_that_single_calls_make(void **state)
{
    enum { N = 3000, R = 3 };
    const lab_policy each = {"each", 1, 1, false, false};
    const lab_settings settings = {.urls = 1000, .seed = 3};
    vidi_options next = VIDI_OPTIONS_INIT;
    uint32_t order[N];
    char url[LAB_URL_ROOM];
    vidi_set *set;
    (void)state;
    seen_so_far so_far = crawl_with(each, N, 0, R);
    next.capacity = N;
    assert_int_equal(lab_set_make(&set, &settings, 0, "classic", "m=12000,k=3", N), 0);
    for (unsigned number = 0; number < R; number++) {
        double missed = 0;
        if (number > 0)
            assert_int_equal(vidi_rotate(set, &next), 0);
        lab_shuffle(order, N, settings.seed, 0, number + 1);
        for (unsigned i = 0; i < N; i++)
            missed += vidi_add(set, lab_url_text(url, &settings, 0, order[i])) == VIDI_SEEN;
        check(missed > 0 && fabs(missed - so_far.missed[number]) < 0.5, "crawl %u: %g, not %g", number,
              so_far.missed[number], missed);
    }
    vidi_close(set);
}

/* No policy has more than the others. */
static void all_policies_have_the_same_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++)
        for (double bits = 4; bits <= 16; bits *= 2) {
            lab_revisits revisits = {cases[i].policy, 12345, 0, bits};
            double all = lab_revisits_bits(&revisits) * revisits.policy.filters;
            check(all <= 12345 * bits && all > 12345 * bits - revisits.policy.filters, "%s: %g bits",
                  revisits.policy.name, all);
        }
}

static void rotating_takes_the_memory_that_it_should(void **state)
{
    lab_settings settings = {.urls = 1000000, .runs = 1, .seed = 5, .threads = 1};
    const lab_study *study = study_of("revisits-bytes");
    (void)state;
    lab_table table = table_of("revisits-bytes", &settings);
    none_fails(&table);
    lab_table_free(&table);
    double number = 1.2; /* vidi_rotate has two filters at a moment */
    lab_entry entry = {.row = study->rows[2], .column = study->columns[0], .measured = number, .runs = 1};
    study->judge(&(lab_cell){study, &settings, 2, 0, &number, NULL}, &entry);
    assert_int_equal(entry.verdict, LAB_FAILS);
}

/* Twice what theory says fails in every cell with enough counts; what theory says does not. */
static void wrong_numbers_fail(void **state)
{
    static const char *const ids[] = {"revisits-churn-0", "revisits-4-bits", "revisits-never", "revisits-half"};
    lab_settings settings = {.urls = 1000000, .runs = 1, .seed = 5, .threads = 1};
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const lab_study *study = study_of(ids[i]);
        size_t columns = lab_study_columns(study);
        for (size_t row = 0; row < lab_study_rows(study); row++) {
            double number = 0;
            lab_entry entry = {.runs = 1};
            study->judge(&(lab_cell){study, &settings, row, 0, &number, NULL}, &entry);
            /* The first column of most tables is one crawl of 20,000 pages; of 4 bits it is all twenty. */
            double pages = columns == 4 ? 400000 : 20000, mean = entry.theory / 1e6 * pages;
            if (mean < 100)
                continue;
            for (unsigned times = 1; times <= 2; times++) {
                number = round(mean * times);
                entry = (lab_entry){.runs = 1};
                study->judge(&(lab_cell){study, &settings, row, 0, &number, NULL}, &entry);
                check((entry.verdict == LAB_FAILS) == (times == 2), "%s, %s: %g of %g is '%s'", ids[i],
                      study->rows[row], number, mean, lab_verdict_name(entry.verdict));
            }
        }
    }
}

/* ---- claims ---- */

static void claims_without_tables_stay_unjudged(void **state)
{
    const made_figure none[] = {{.table = NULL}};
    (void)state;
    for (const lab_claim *claim = lab_revisits_claims; claim->id; claim++)
        assert_int_equal(judged(claim->id, none), LAB_UNJUDGED);
}

static void the_recommendation_follows_the_figures(void **state)
{
    static const char *const tables[] = {"revisits-churn-0", "revisits-churn-1", "revisits-churn-10",
                                         "revisits-churn-50"};
    made_figure figures[25];
    size_t count = 0;
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; study_of("revisits-churn-10")->rows[j]; j++)
            figures[count++] =
                (made_figure){tables[i], study_of("revisits-churn-10")->rows[j], "20 crawls", j == 4 ? 45000 : 4070};
    figures[count] = (made_figure){.table = NULL};
    assert_int_equal(judged("revisits-best", figures), LAB_HOLDS);
    figures[7].measured = 2000;
    assert_int_equal(judged("revisits-best", figures), LAB_DOES_NOT_HOLD);
}

static void claims_on_totals_follow_the_figures(void **state)
{
    static const char *const ten = "revisits-churn-10", *const column = "20 crawls";
    made_figure churn[] = {{ten, "kept", column, 95000},
                           {ten, "new salts each crawl", column, 4070},
                           {ten, "new salts every 2 crawls", column, 5200},
                           {ten, "new salts every 5 crawls", column, 10400},
                           {ten, "two epochs, half the memory each", column, 45600},
                           {"revisits-16-bits", "two epochs, half the memory each", "churn 10 %", 4070},
                           {"revisits-16-bits", "new salts each crawl", "churn 10 %", 51},
                           {.table = NULL}};
    made_figure total[] = {{"revisits-4-bits", "kept", "churn 0 %", 45700},
                           {"revisits-4-bits", "new salts every 5 crawls", "churn 0 %", 45600},
                           {"revisits-4-bits", "new salts every 2 crawls", "churn 0 %", 45600},
                           {"revisits-4-bits", "new salts each crawl", "churn 0 %", 45600},
                           {"revisits-4-bits", "emptied, same salts", "churn 0 %", 45600},
                           {.table = NULL}};
    (void)state;
    assert_int_equal(judged("revisits-churn", churn), LAB_HOLDS);
    assert_int_equal(judged("revisits-every", churn), LAB_HOLDS);
    assert_int_equal(judged("revisits-epochs", churn), LAB_HOLDS);
    churn[0].measured = 30000;
    churn[2].measured = 8000;
    churn[6].measured = 2000;
    assert_int_equal(judged("revisits-churn", churn), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("revisits-every", churn), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("revisits-epochs", churn), LAB_DOES_NOT_HOLD);
    churn[0].measured = 40700; /* an interval on both sides of the bound */
    assert_int_equal(judged("revisits-churn", churn), LAB_UNJUDGED);
    assert_int_equal(judged("revisits-total", total), LAB_HOLDS);
    total[4].measured = 30000;
    assert_int_equal(judged("revisits-total", total), LAB_DOES_NOT_HOLD);
}

static void claims_on_the_tail_follow_the_figures(void **state)
{
    static const char *const never = "revisits-never", *const half = "revisits-half", *const ten = "10 crawls";
    made_figure tail[] = {{never, "new salts each crawl", "1 crawl", 45600},
                          {never, "new salts each crawl", "2 crawls", 2080},
                          {never, "emptied, same salts", "1 crawl", 45600},
                          {never, "emptied, same salts", "2 crawls", 14600},
                          {never, "new salts every 5 crawls", ten, 2080},
                          {never, "new salts each crawl, same order", "2 crawls", 4070},
                          {half, "new salts each crawl", ten, 2},
                          {half, "emptied, same salts", ten, 10300},
                          {half, "kept", ten, 45600},
                          {.table = NULL}};
    (void)state;
    assert_int_equal(judged("revisits-again", tail), LAB_HOLDS);
    assert_int_equal(judged("revisits-rotations", tail), LAB_HOLDS);
    assert_int_equal(judged("revisits-order", tail), LAB_HOLDS);
    assert_int_equal(judged("revisits-most", tail), LAB_HOLDS);
    tail[3].measured = 2080;
    tail[4].measured = 4070;
    tail[5].measured = 2080;
    tail[6].measured = 500;
    assert_int_equal(judged("revisits-again", tail), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("revisits-rotations", tail), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("revisits-order", tail), LAB_DOES_NOT_HOLD);
    assert_int_equal(judged("revisits-most", tail), LAB_DOES_NOT_HOLD);
}

static void the_claim_on_memory_follows_the_figures(void **state)
{
    static const char *const id = "revisits-bytes", *const column = "peak memory";
    made_figure bytes[] = {{id, "one filter, kept", column, 1.05},
                           {id, "vidi_rotate", column, 2.1},
                           {id, "vidi_rotate, VIDI_TOUCH_LATER", column, 1.02},
                           {id, "vidi_rotate, VIDI_KEEP_PREVIOUS", column, 3.1},
                           {.table = NULL}};
    (void)state;
    assert_int_equal(judged("revisits-memory", bytes), LAB_HOLDS);
    bytes[2].measured = 2;
    assert_int_equal(judged("revisits-memory", bytes), LAB_DOES_NOT_HOLD);
    bytes[0].measured = 3; /* so few URLs that the rest of a set counts */
    assert_int_equal(judged("revisits-memory", bytes), LAB_UNJUDGED);
}

int main(int argc, char **argv)
{
    test_add_once("simulated crawls miss what formulas say", simulated_crawls_miss_what_formulas_say, NULL);
    test_add_once("runs come out as theory says", runs_come_out_as_theory_says, NULL);
    test_add("pages stay lost without new salts", pages_stay_lost_without_new_salts, NULL);
    test_add("misses are those that single calls make", misses_are_those_that_single_calls_make, NULL);
    test_add("all policies have the same memory", all_policies_have_the_same_memory, NULL);
    test_add("rotating takes the memory that it should", rotating_takes_the_memory_that_it_should, NULL);
    test_add("wrong numbers fail", wrong_numbers_fail, NULL);
    test_add("claims without tables stay unjudged", claims_without_tables_stay_unjudged, NULL);
    test_add("the recommendation follows the figures", the_recommendation_follows_the_figures, NULL);
    test_add("claims on totals follow the figures", claims_on_totals_follow_the_figures, NULL);
    test_add("claims on the tail follow the figures", claims_on_the_tail_follow_the_figures, NULL);
    test_add("the claim on memory follows the figures", the_claim_on_memory_follows_the_figures, NULL);
    return test_run("lab/revisits", argc, argv);
}
