/*
 * The schedule: how often each page is visited. Pages are counted in cells of pages with nearly the same rate and weight,
 * where a page's weight is its importance times the probability that it changes at all. The visits of all pages, which
 * fall with lambda, are the sum over the cells, so finding lambda takes as long for ten pages as for a billion.
 */
#include <math.h>
#include <stdlib.h>

#include "common/fnv.h"
#include "crawler/schedule/population.h"
#include "vidi/vidi.h"

enum {
    CELL_OCTAVE = 2, /* for a factor of two in rate or weight; in visits it is half an octave */
    CELL_RATES = 64,
    CELL_RATE_0 = -18, /* the first cell begins at 2^-18 changes a day */
    CELL_WEIGHTS = 96,
    CELL_WEIGHT_0 = -32,
    LAMBDA_LOG = 128,   /* lambda is between 2^-128 and 2^128 */
    BISECTIONS = 48,    /* so lambda is exact to 1e-12 */
    LEARN_PART = 16,    /* lambda and the population are computed again when 1 of 16 pages has changed */
    LEARN_STEPS = 4,    /* steps for that */
    LEARN_FROM_NEW = 64 /* and if all pages are new */
};

static const double jitter = 0.1; /* intervals are up to this share shorter or longer */

typedef struct cell {
    uint64_t pages;
    double alive; /* the sum of their probabilities */
} cell;

struct schedule {
    population population;
    double budget;
    double lambda;
    uint64_t pages, expected;
    uint64_t stale; /* changes of the counts since lambda was computed */
    cell cells[CELL_RATES][CELL_WEIGHTS];
};

int schedule_open(schedule **made, double budget)
{
    schedule *opened = *made = calloc(1, sizeof *opened);

    if (!opened)
        return VIDI_EMEMORY;
    population_start(&opened->population);
    opened->lambda = 1;
    schedule_set_budget(opened, budget);
    return VIDI_OK;
}

void schedule_close(schedule *schedule)
{
    free(schedule);
}

void schedule_set_budget(schedule *schedule, double budget)
{
    schedule->budget = budget;
    schedule->stale = UINT64_MAX / 2; /* compute lambda again at once */
}

/* ---- cells ---- */

static size_t place(double value, int first, size_t count)
{
    double at = floor((log2(value) - first) * CELL_OCTAVE);
    return at > 0 ? (at < (double)count ? (size_t)at : count - 1) : 0;
}

static double middle(size_t place, int first)
{
    return exp2(first + ((double)place + 0.5) / CELL_OCTAVE);
}

static cell *cell_of(schedule *schedule, const schedule_page *page)
{
    size_t rate = place(page->rate, CELL_RATE_0, CELL_RATES);
    size_t weight = place(page->importance * page->alive, CELL_WEIGHT_0, CELL_WEIGHTS);

    return &schedule->cells[rate][weight];
}

static void count(schedule *schedule, const schedule_page *page)
{
    cell *cell = cell_of(schedule, page);

    cell->pages++;
    cell->alive += page->alive;
    schedule->pages++;
    schedule->stale++;
    population_add(&schedule->population, page);
}

static void uncount(schedule *schedule, const schedule_page *page)
{
    cell *cell = cell_of(schedule, page);

    if (!cell->pages)
        return; /* the caller's row is not the one that was counted */
    cell->alive = --cell->pages ? cell->alive - page->alive : 0;
    schedule->pages--;
    schedule->stale++;
    population_remove(&schedule->population, page);
}

/* ---- lambda ---- */

void schedule_expect(schedule *schedule, uint64_t pages)
{
    schedule->expected = pages;
    schedule->stale = UINT64_MAX / 2;
}

/* Pages to share the budget. */
static double pages_in_all(const schedule *schedule)
{
    uint64_t pages = schedule->pages > schedule->expected ? schedule->pages : schedule->expected;
    return (double)(pages ? pages : 1);
}

/* Days between two visits, if all pages were visited equally often. */
static double mean_interval(const schedule *schedule)
{
    return pages_in_all(schedule) / schedule->budget;
}

/* The formula of schedule.h, without the difference of two nearly equal numbers. */
static double visits_of(const schedule *schedule, double lambda, double rate, double weight)
{
    double visits = 2 * weight / lambda / (1 + sqrt(1 + 4 * weight / (lambda * rate)));
    return fmax(visits, 1 / (SCHEDULE_LONGEST * mean_interval(schedule)));
}

static double visits_of_all(const schedule *schedule, double lambda)
{
    double visits = 0;

    for (size_t i = 0; i < CELL_RATES; i++)
        for (size_t j = 0; j < CELL_WEIGHTS; j++) {
            const cell *cell = &schedule->cells[i][j];
            if (cell->pages)
                visits +=
                    (double)cell->pages * visits_of(schedule, lambda, middle(i, CELL_RATE_0), middle(j, CELL_WEIGHT_0));
        }
    return visits;
}

static void find_lambda(schedule *schedule)
{
    double low = -LAMBDA_LOG, high = LAMBDA_LOG;
    double budget = schedule->budget * (double)schedule->pages / pages_in_all(schedule);

    for (int i = 0; i < BISECTIONS; i++) {
        double between = (low + high) / 2;
        if (visits_of_all(schedule, exp2(between)) > budget)
            low = between;
        else
            high = between;
    }
    schedule->lambda = exp2(high);
}

static void refresh(schedule *schedule)
{
    if (!schedule->pages || schedule->stale <= schedule->pages / LEARN_PART)
        return;
    population_learn(&schedule->population, schedule->stale >= schedule->pages ? LEARN_FROM_NEW : LEARN_STEPS);
    find_lambda(schedule);
    schedule->stale = 0;
}

double schedule_rate(schedule *schedule, double rate, double importance)
{
    refresh(schedule);
    return visits_of(schedule, schedule->lambda, rate, importance);
}

int64_t schedule_next_due(schedule *schedule, double rate, double importance, uint64_t key, int64_t visited)
{
    uint64_t hash = fnv_bytes(fnv_bytes(FNV_START, &key, sizeof key), &visited, sizeof visited);
    double share = 1 + jitter * (2 * (double)(hash >> 32) / UINT32_MAX - 1);
    double wait = share * SCHEDULE_DAY / schedule_rate(schedule, rate, importance);

    return wait < (double)(INT64_MAX / 2) ? visited + (int64_t)wait : INT64_MAX;
}

/* ---- pages ---- */

static void judge(const schedule *schedule, schedule_page *page)
{
    page->rate = history_rate(&page->history, mean_interval(schedule));
    page->alive = 1;
    if (history_changes(&page->history) > 0 || history_intervals(&page->history) < SCHEDULE_TRIAL)
        return;
    page->alive = population_alive(&schedule->population, page->history.unchanged, &page->rate);
}

static void plan(schedule *schedule, schedule_page *page, int64_t now)
{
    page->visited = now;
    judge(schedule, page);
    count(schedule, page);
    page->due = schedule_next_due(schedule, page->rate, page->importance * page->alive, page->key, now);
}

void schedule_enter(schedule *schedule, schedule_page *page, int64_t now)
{
    page->history = (page_history){0};
    plan(schedule, page, now);
}

void schedule_load(schedule *schedule, const schedule_page *page)
{
    count(schedule, page);
}

void schedule_visit(schedule *schedule, schedule_page *page, const page_visit *visit)
{
    uncount(schedule, page);
    history_add(&page->history, visit);
    plan(schedule, page, visit->now);
}

void schedule_leave(schedule *schedule, const schedule_page *page)
{
    uncount(schedule, page);
}

/* ---- how fresh copies are ---- */

double page_fresh(double rate, double alive, double days)
{
    return 1 - alive + alive * exp(-rate * days);
}

double page_age(double rate, double alive, double days)
{
    double changes = rate * days;
    /* t - (1 - exp(-rate t)) / rate; for few changes, the beginning of its series. */
    double share = changes < 1e-4 ? changes / 2 - changes * changes / 6 : 1 + expm1(-changes) / changes;
    return alive * days * share;
}

/* The means of the two above over the interval between two visits. */
static double mean_fresh(double changes)
{
    return changes < 1e-4 ? 1 - changes / 2 : -expm1(-changes) / changes;
}

static double mean_age(double changes, double interval)
{
    double share = changes < 1e-3 ? changes / 6 - changes * changes / 24
                                  : 0.5 - 1 / changes - expm1(-changes) / (changes * changes);
    return interval * share;
}

schedule_outlook schedule_look(schedule *schedule)
{
    schedule_outlook seen = {.pages = schedule->pages};

    refresh(schedule);
    seen.lambda = schedule->lambda;
    if (!schedule->pages)
        return seen;
    for (size_t i = 0; i < CELL_RATES; i++)
        for (size_t j = 0; j < CELL_WEIGHTS; j++) {
            const cell *cell = &schedule->cells[i][j];
            if (!cell->pages)
                continue;
            double rate = middle(i, CELL_RATE_0);
            double visits = visits_of(schedule, schedule->lambda, rate, middle(j, CELL_WEIGHT_0));
            seen.visits += (double)cell->pages * visits;
            seen.alive += cell->alive;
            seen.fresh += (double)cell->pages - cell->alive * (1 - mean_fresh(rate / visits));
            seen.age += cell->alive * mean_age(rate / visits, 1 / visits);
        }
    seen.alive /= (double)schedule->pages;
    seen.fresh /= (double)schedule->pages;
    seen.age /= (double)schedule->pages;
    return seen;
}
