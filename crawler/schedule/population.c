/*
 * The shares of rates in the population, by the EM algorithm (A. Dempster, N. Laird, D. Rubin, 1977): a page that has
 * been the same for a time t belongs to each rate with a probability in proportion to share * exp(-rate t), and the
 * shares are the means of these probabilities. A page that was seen to change counts for its own rate.
 */
#include "crawler/schedule/population.h"

#include <math.h>

/* The shares before anything is known. Pages that are much slower than the visits cannot be told from static ones, so
 * their shares stay as they begin: a page is static until others like it were seen to change. */
static const double never_at_first = 0.9;
static const double rate_at_first = 0.1 / GRID_RATES;

/* Imaginary pages with these shares, which keep every share above 0. */
static const double imaginary = 1;

static size_t clamped(double place, size_t count)
{
    return place > 0 ? (place < (double)count - 1 ? (size_t)lrint(place) : count - 1) : 0;
}

static size_t rate_place(double rate)
{
    return clamped((log2(rate) - GRID_RATE_0) * GRID_OCTAVE, GRID_RATES);
}

static size_t time_place(double days)
{
    return clamped((log2(days) - GRID_TIME_0) * GRID_OCTAVE, GRID_TIMES);
}

static double rate_at(size_t place)
{
    return exp2(GRID_RATE_0 + (double)place / GRID_OCTAVE);
}

static double time_at(size_t place)
{
    return exp2(GRID_TIME_0 + (double)place / GRID_OCTAVE);
}

void population_start(population *population)
{
    population->never = never_at_first;
    for (size_t i = 0; i < GRID_RATES; i++)
        population->rates[i] = rate_at_first;
}

/* Where the page counts. NULL: it has been visited only once. */
static uint64_t *place_of(population *population, const schedule_page *page)
{
    if (history_changes(&page->history) > 0)
        return &population->changing[rate_place(page->rate)];
    if (page->history.unchanged > 0)
        return &population->unchanged[time_place(page->history.unchanged)];
    return NULL;
}

void population_add(population *population, const schedule_page *page)
{
    uint64_t *count = place_of(population, page);
    if (count)
        ++*count;
}

void population_remove(population *population, const schedule_page *page)
{
    uint64_t *count = place_of(population, page);
    if (count && *count)
        --*count;
}

static void step(population *population)
{
    double never = imaginary * never_at_first, rates[GRID_RATES];

    for (size_t i = 0; i < GRID_RATES; i++)
        rates[i] = (double)population->changing[i] + imaginary * rate_at_first;
    for (size_t j = 0; j < GRID_TIMES; j++) {
        if (!population->unchanged[j])
            continue;
        double likely[GRID_RATES], sum = population->never;
        for (size_t i = 0; i < GRID_RATES; i++)
            sum += likely[i] = population->rates[i] * exp(-rate_at(i) * time_at(j));
        for (size_t i = 0; i < GRID_RATES; i++)
            rates[i] += (double)population->unchanged[j] * likely[i] / sum;
        never += (double)population->unchanged[j] * population->never / sum;
    }
    double total = never;
    for (size_t i = 0; i < GRID_RATES; i++)
        total += rates[i];
    population->never = never / total;
    for (size_t i = 0; i < GRID_RATES; i++)
        population->rates[i] = rates[i] / total;
}

void population_learn(population *population, int steps)
{
    while (steps-- > 0)
        step(population);
}

double population_alive(const population *population, double days, double *rate)
{
    double alive = 0, sum = 0;

    for (size_t i = 0; i < GRID_RATES; i++) {
        double likely = population->rates[i] * exp(-rate_at(i) * days);
        alive += likely;
        sum += likely * rate_at(i);
    }
    *rate = sum / alive; /* the lowest rates keep alive above 0 */
    return alive / (alive + population->never);
}
