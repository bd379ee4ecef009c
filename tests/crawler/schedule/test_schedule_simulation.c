/*
 * The schedule against pages that change as Poisson processes, on a clock of its own. After ten visits a page, it must
 * cost hardly more than the best schedule that knows the rates, and leave fewer copies stale than visiting all pages
 * equally often.
 *
 * A copy that lacks n changes costs 1 + 1/2 + ... + 1/n (Kolobov and others, 2019), so that the expected cost of a page,
 * with a rate d, is Ein(d a) when the last visit was `a` days ago. If visits come at random moments, r of them a day, the
 * mean is log(1 + d/r): `model` is that cost of the rates that the schedule gives. `real` is the mean over the ten days
 * that follow, with the visits that were made. The best schedules are computed here: for random moments from the
 * condition that all pages gain the same by one more visit, which is the paper's formula, for fixed intervals by
 * bisection of the same condition.
 *
 * The changing pages change three times a day in the median, and there is one visit a page and day. Among slower pages
 * nobody could tell the static ones after ten days. The last test shows it: a schedule that had seen every single change,
 * and knew from which distribution the pages were drawn, would cost more than 1.05 times the best.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "crawler/schedule/schedule.h"
#include "crawler/site/costs.h"
#include "support/check.h"
#include "support/random.h"
#include "vidi/vidi.h"

enum { PAGES = 2000, VISITS = 10, DAYS = 10, STEPS = COSTS_STEPS, GRID = 121, MOST_CHANGES = 4096 };

/* Changes a day; the budget is one visit a page and day. */
typedef struct mix {
    double still; /* share of static pages */
    double median, sigma;
} mix;

typedef struct result {
    double model, real, stale; /* costs by those of the best schedule; stale copies by those of equal visits */
    double stale_best;         /* the same for rates that are known */
    double equal;              /* cost of equal visits by that of the best schedule */
} result;

typedef struct sim_page {
    schedule_page row;
    double rate;
    int64_t visited;
} sim_page;

typedef struct simulation {
    test_random random;
    sim_page pages[PAGES];
    schedule *schedule;
    int64_t from; /* when costs begin to count */
    double cost, stale;
} simulation;

/* The lambda at which the changing pages take PAGES visits a day. */
static double best_lambda(const simulation *sim, double (*best)(double rate, double lambda))
{
    double low = -30, high = 30;
    for (int i = 0; i < STEPS; i++) {
        double lambda = exp2((low + high) / 2), sum = 0;
        for (size_t j = 0; j < PAGES; j++)
            sum += sim->pages[j].rate > 0 ? best(sim->pages[j].rate, lambda) : 0;
        if (sum > PAGES)
            low = log2(lambda);
        else
            high = log2(lambda);
    }
    return exp2(high);
}

/* ---- the simulation ---- */

static void visit(simulation *sim, sim_page *page, int64_t now)
{
    double days = (double)(now - page->visited) / SCHEDULE_DAY;
    page_visit visit = {.previous = page->visited, .now = now, .previous_modified = -1, .modified = -1};

    if (sim->from && page->rate > 0) {
        double before = page->visited < sim->from ? (double)(sim->from - page->visited) / SCHEDULE_DAY : 0;
        sim->cost += (ein_sum(page->rate * days) - ein_sum(page->rate * before)) / page->rate;
        sim->stale += (stale_sum(page->rate * days) - stale_sum(page->rate * before)) / page->rate;
    }
    visit.changed = page->rate > 0 && costs_uniform(&sim->random) < -expm1(-page->rate * days);
    schedule_visit(sim->schedule, &page->row, &visit);
    page->visited = now;
}

/* From one moment to another: one visit a tick, to the page that is due first. */
static void run(simulation *sim, int64_t from, int64_t to)
{
    for (int64_t now = from; now < to; now += (int64_t)SCHEDULE_DAY / PAGES) {
        sim_page *first = sim->pages;
        for (size_t i = 1; i < PAGES; i++)
            if (sim->pages[i].row.due < first->row.due)
                first = &sim->pages[i];
        visit(sim, first, now);
    }
}

static void model(const simulation *sim, result *result)
{
    double lambda = best_lambda(sim, random_best), sum = 0, ours = 0, best = 0;
    for (size_t i = 0; i < PAGES; i++) {
        const schedule_page *row = &sim->pages[i].row;
        sum += schedule_rate(sim->schedule, row->rate, row->importance * row->alive);
    }
    for (size_t i = 0; i < PAGES; i++) {
        const schedule_page *row = &sim->pages[i].row;
        double rate = sim->pages[i].rate, visits;
        visits = schedule_rate(sim->schedule, row->rate, row->importance * row->alive) * PAGES / sum;
        ours += log1p(rate / visits);
        best += rate > 0 ? log1p(rate / random_best(rate, lambda)) : 0;
    }
    result->model = ours / best;
}

static void compare(const simulation *sim, result *result)
{
    double lambda = best_lambda(sim, fixed_best), cost = 0, stale = 0, equal = 0, equal_cost = 0;
    for (size_t i = 0; i < PAGES; i++) {
        double rate = sim->pages[i].rate;
        if (!(rate > 0))
            continue;
        cost += fixed_cost(rate, fixed_best(rate, lambda));
        stale += fixed_stale(rate, fixed_best(rate, lambda));
        equal += fixed_stale(rate, 1);
        equal_cost += fixed_cost(rate, 1);
    }
    result->real = sim->cost / DAYS / cost;
    result->stale = sim->stale / DAYS / equal;
    result->stale_best = stale / equal;
    result->equal = equal_cost / cost;
}

static simulation *prepare(const mix *mix, uint64_t seed)
{
    simulation *sim = calloc(1, sizeof *sim);

    assert_non_null(sim);
    sim->random.state = seed;
    assert_int_equal(schedule_open(&sim->schedule, PAGES), VIDI_OK);
    for (size_t i = 0; i < PAGES; i++) {
        sim_page *page = &sim->pages[i];
        page->row = (schedule_page){.importance = 1, .key = test_next(&sim->random)};
        page->rate = (double)i < mix->still * PAGES ? 0 : mix->median * exp(mix->sigma * costs_normal(&sim->random));
    }
    return sim;
}

static result simulate(const mix *mix, uint64_t seed)
{
    result result = {0};
    simulation *sim = prepare(mix, seed);
    const int64_t day = (int64_t)SCHEDULE_DAY, tick = day / PAGES;

    /* The first visit of all pages takes a day. */
    for (size_t i = 0; i < PAGES; i++) {
        sim_page *page = &sim->pages[i * 7 % PAGES];
        page->visited = (int64_t)i * tick;
        schedule_enter(sim->schedule, &page->row, page->visited);
    }
    run(sim, day, VISITS * day);
    model(sim, &result);
    sim->from = VISITS * day;
    run(sim, sim->from, sim->from + DAYS * day);
    for (size_t i = 0; i < PAGES; i++)
        visit(sim, &sim->pages[i], sim->from + DAYS * day);
    compare(sim, &result);
    schedule_close(sim->schedule);
    free(sim);
    return result;
}

/* ---- what can be known ---- */

/* The distribution of rates, on a grid of five sigmas to each side. */
typedef struct belief {
    double rates[GRID], shares[GRID];
} belief;

/* After `changes` in `days`; without changes, the page may be static. */
static belief belief_after(const mix *mix, unsigned changes, double days)
{
    belief belief;
    double sum = changes ? 0 : mix->still, most = -1e300;
    double prior = 0;

    for (size_t i = 0; i < GRID; i++) {
        double sigmas = 10.0 * (double)i / (GRID - 1) - 5;
        belief.rates[i] = mix->median * exp(mix->sigma * sigmas);
        belief.shares[i] = -sigmas * sigmas / 2;
        prior += exp(belief.shares[i]);
    }
    for (size_t i = 0; i < GRID; i++) {
        belief.shares[i] += log((1 - mix->still) / prior) + changes * log(belief.rates[i]) - belief.rates[i] * days;
        most = fmax(most, belief.shares[i]);
    }
    for (size_t i = 0; i < GRID; i++)
        sum += belief.shares[i] = exp(belief.shares[i] - (changes ? most : 0));
    for (size_t i = 0; i < GRID; i++)
        belief.shares[i] /= sum;
    return belief;
}

/* The visits at which one more is expected to save lambda. */
static double believed_best(const belief *belief, double lambda)
{
    double low = -20, high = 20;
    for (int i = 0; i < STEPS; i++) {
        double visits = exp2((low + high) / 2), saved = 0;
        for (size_t j = 0; j < GRID; j++)
            saved += belief->shares[j] * belief->rates[j] / (visits * (visits + belief->rates[j]));
        if (saved > lambda)
            low = log2(visits);
        else
            high = log2(visits);
    }
    return exp2(low);
}

/* Visits by the number of changes that were seen, for one lambda; returns their sum. */
static double believe_all(const belief *beliefs, const unsigned *counts, double *visits, double lambda)
{
    double sum = 0;
    for (size_t n = 0; n < MOST_CHANGES; n++)
        if (counts[n]) {
            visits[n] = believed_best(&beliefs[n], lambda);
            sum += counts[n] * visits[n];
        }
    return sum;
}

/* The model's cost of the best visits after VISITS days in which every change was seen, by the best for known rates. */
static double cost_of_full_knowledge(const mix *mix, uint64_t seed)
{
    static belief beliefs[MOST_CHANGES];
    static double visits[MOST_CHANGES];
    unsigned counts[MOST_CHANGES] = {0}, seen[PAGES] = {0};
    simulation *sim = prepare(mix, seed);
    double low = -10, high = 10, best = best_lambda(sim, random_best), ours = 0, least = 0;

    for (size_t i = 0; i < PAGES; i++) {
        for (double t = 0; sim->pages[i].rate > 0 && seen[i] + 1 < MOST_CHANGES; seen[i]++)
            if ((t -= log(costs_uniform(&sim->random)) / sim->pages[i].rate) > VISITS)
                break;
        if (!counts[seen[i]]++)
            beliefs[seen[i]] = belief_after(mix, seen[i], VISITS);
    }
    for (int i = 0; i < STEPS / 2; i++) {
        double between = (low + high) / 2;
        if (believe_all(beliefs, counts, visits, exp2(between)) > PAGES)
            low = between;
        else
            high = between;
    }
    for (size_t i = 0; i < PAGES; i++) {
        double rate = sim->pages[i].rate;
        ours += log1p(rate / visits[seen[i]]);
        least += rate > 0 ? log1p(rate / random_best(rate, best)) : 0;
    }
    schedule_close(sim->schedule);
    free(sim);
    return ours / least;
}

static void report(const mix *mix, const result *result)
{
    print_message("# %.0f %% static, median %.1f, sigma %.1f: model %.4f, real %.4f, stale %.4f (best %.4f); equal "
                  "visits cost %.4f\n",
                  100 * mix->still, mix->median, mix->sigma, result->model, result->real, result->stale,
                  result->stale_best, result->equal);
}

static void after_ten_visits_a_page_costs_are_within_5_percent_of_the_best(void **state)
{
    (void)state;
    const mix mix = {.still = 0.6, .median = 3, .sigma = 1};
    const result result = simulate(&mix, 1);

    report(&mix, &result);
    check(result.model <= 1.05, "%f times the best cost by the rates", result.model);
    check(result.real <= 1.05, "%f times the best cost by the visits", result.real);
    check(result.real >= 0.99, "%f times the best cost: the best is not the best", result.real);
    check(result.stale <= 0.75, "%f times as many stale copies as with equal visits", result.stale);
}

/* There is little to gain: the best schedule leaves 0.9 to 1.0 times as many stale copies as equal visits. */
static void without_static_pages_it_still_costs_less_than_equal_visits(void **state)
{
    (void)state;
    static const mix mixes[] = {{0, 0.3, 1}, {0, 1, 1}};

    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) {
        const result result = simulate(&mixes[i], 2 + i);
        report(&mixes[i], &result);
        check(result.real < result.equal, "%f times the best cost, equal visits %f", result.real, result.equal);
        check(result.real >= 0.99, "%f times the best cost: the best is not the best", result.real);
    }
}

/* So this is no fault of the schedule: slower pages need more visits. */
static void with_slow_pages_full_knowledge_would_not_do_either(void **state)
{
    (void)state;
    static const mix mixes[] = {{0.6, 3, 1}, {0.6, 1, 1}, {0.6, 0.3, 1}};

    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) {
        double cost = cost_of_full_knowledge(&mixes[i], 1);
        print_message("# %.0f %% static, median %.1f: full knowledge costs %.4f\n", 100 * mixes[i].still,
                      mixes[i].median, cost);
        check(i ? cost > 1.05 : cost < 1.05, "%f times the best cost", cost);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_ten_visits_a_page_costs_are_within_5_percent_of_the_best),
        cmocka_unit_test(without_static_pages_it_still_costs_less_than_equal_visits),
        cmocka_unit_test(with_slow_pages_full_knowledge_would_not_do_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
