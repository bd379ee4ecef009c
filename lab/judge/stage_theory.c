/* Bloom filters in stages. See stage_theory.h. */
#include "lab/judge/stage_theory.h"

#include <math.h>

#define SLACK 1.05 /* a stage is made for a little less than its share of the error rate */

lab_chance lab_chance_of(uint64_t urls, double m, unsigned k)
{
    double n = (double)urls;
    if (urls < 2)
        return (lab_chance){urls ? pow(k / m, k) : 0, 0};
    lab_theory theory = lab_filter_theory(urls, m, k, 1);
    double p = theory.mean / n, variance = (theory.variance - n * p * (1 - p)) / (n * (n - 1));
    return (lab_chance){p, variance > 0 ? variance : 0};
}

double lab_fewest_bits(uint64_t urls, double rate, unsigned k)
{
    double low = 2, high = 4;
    while (lab_chance_of(urls, high, k).mean > rate && high < 1e15)
        high *= 2;
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        if (lab_chance_of(urls, middle, k).mean > rate)
            low = middle;
        else
            high = middle;
    }
    return high;
}

lab_stage lab_smallest_stage(uint64_t urls, double rate)
{
    lab_stage best = {INFINITY, 1};
    for (unsigned k = 1; k <= LAB_K_MAX; k++) {
        double m = lab_fewest_bits(urls, rate, k);
        if (m < best.m)
            best = (lab_stage){m, k};
    }
    return best;
}

lab_stage lab_series_start(lab_series series)
{
    return lab_smallest_stage(series.first, series.error / 2 / SLACK);
}

/* ---- stage by stage ---- */

/* The number of URLs that reach a stage until `capacity` of them were new to it. */
static uint64_t until_full(uint64_t capacity, lab_stage stage)
{
    uint64_t come = capacity;
    for (int i = 0; i < 6; i++) /* each round reduces the error by the factor of the rate */
        come = capacity + (uint64_t)llround(lab_filling_theory(come, stage.m, stage.k, 1).mean);
    return come;
}

/*
 * A stage also ends when its own rate reaches its share, which happens when it is small, because the fill of few bits
 * varies much. Returns the mean of a normal variable that is cut off at `most`.
 */
static double cut_off(lab_chance chance, double most)
{
    if (!(chance.variance > 0))
        return fmin(chance.mean, most);
    double spread = sqrt(chance.variance), d = (most - chance.mean) / spread;
    double density = exp(-d * d / 2) / sqrt(2 * M_PI), above = erfc(d / sqrt(2)) / 2;
    return chance.mean - spread * (density - d * above);
}

typedef struct step {
    lab_chance before, own; /* rates: of all stages before it together, and of this one when it is full */
    lab_stage stage;
    double asked, come; /* URLs that are looked up while it is the last stage, and those of them that reach it */
} step;

typedef void see_step(const step *step, void *context);

/* Calls `see` for each stage, and returns the rate of all together. */
static lab_chance walk(lab_series series, uint64_t urls, see_step *see, void *context)
{
    lab_chance all = {0, 0};
    double left = (double)urls, rate = series.error;
    for (uint64_t capacity = series.first; left >= 1; capacity *= 2) {
        rate /= 2;
        step now = {.before = all, .stage = lab_smallest_stage(capacity, rate / SLACK)};
        double reach = left * (1 - all.mean); /* earlier stages see the others */
        now.come = fmin(reach, (double)until_full(capacity, now.stage));
        now.asked = now.come < reach ? now.come / (1 - all.mean) : left;
        left -= now.asked;
        now.own = lab_chance_of((uint64_t)llround(now.come), now.stage.m, now.stage.k);
        now.own.mean = cut_off(now.own, rate);
        see(&now, context);
        double before = 1 - all.mean, beside = 1 - now.own.mean;
        all.variance = all.variance * beside * beside + now.own.variance * before * before;
        all.mean = 1 - before * beside;
    }
    return all;
}

static void see_nothing(const step *step, void *context)
{
    (void)step;
    (void)context;
}

lab_chance lab_series_chance(lab_series series, uint64_t urls)
{
    return walk(series, urls, see_nothing, NULL);
}

/* URLs that the earlier stages see falsely are lost, and of those that reach the stage, the ones that it sees. */
static void add_losses(const step *step, void *context)
{
    lab_theory *sum = context, own = lab_filling_theory((uint64_t)llround(step->come), step->stage.m, step->stage.k, 1);
    double p = step->before.mean, asked = step->asked;
    sum->mean += asked * p + own.mean;
    sum->variance += asked * p * (1 - p) + asked * asked * step->before.variance + own.variance;
}

lab_theory lab_series_filling(lab_series series, uint64_t urls)
{
    lab_theory sum = {0, 0, (double)urls};
    walk(series, urls, add_losses, &sum);
    return sum;
}
