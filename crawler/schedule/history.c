/*
 * What the visits of a page saw, in a few bytes, and the rate of change that is most likely after it.
 *
 * An interval of t days ends with a change with the probability 1 - exp(-rate t). The logarithm of the likelihood has
 * its maximum where
 *
 *     sum over changed intervals of t / (exp(rate t) - 1)  =  sum over unchanged intervals of t
 *
 * The left side falls and is convex, so Newton's method never steps over the root if it starts on its left. Because
 * t / (exp(rate t) - 1) > 1/rate - t/2, such a start is changes / (unchanged + changed/2).
 */
#include "crawler/schedule/schedule.h"

#include <math.h>
#include <string.h>

enum {
    FIRST_OCTAVE = -10, /* the first bucket begins at 2^-10 days */
    STEPS = 64,         /* Newton's method needs about ten */
    FIXED = 9,          /* packed bytes that every history has */
    DATED = 7           /* those of the dates */
};

/* ---- intervals ---- */

static size_t bucket_of(double days)
{
    double bucket = floor((log2(days) - FIRST_OCTAVE) * HISTORY_OCTAVE);
    return bucket > 0 ? (bucket < HISTORY_BUCKETS ? (size_t)bucket : HISTORY_BUCKETS - 1) : 0;
}

/* The middle of a bucket, in days. */
static double length_of(size_t bucket)
{
    return exp2(FIRST_OCTAVE + ((double)bucket + 0.5) / HISTORY_OCTAVE);
}

static unsigned changed_units(const page_history *history)
{
    unsigned sum = 0;
    for (size_t i = 0; i < HISTORY_BUCKETS; i++)
        sum += history->changed_counts[i];
    return sum;
}

/* The changed intervals' sum as far as the buckets know it. */
static double bucketed(const page_history *history)
{
    double days = 0;
    for (size_t i = 0; i < HISTORY_BUCKETS; i++)
        if (history->changed_counts[i])
            days += history->changed_counts[i] * length_of(i) / HISTORY_UNIT;
    return days;
}

double history_changes(const page_history *history)
{
    return (double)changed_units(history) / HISTORY_UNIT;
}

double history_intervals(const page_history *history)
{
    return (double)history->unchanged_count / HISTORY_UNIT + history_changes(history);
}

static uint8_t half(uint8_t count)
{
    return (uint8_t)((count + 1) / 2);
}

/* Rounds up: a page that has changed once is never taken for one that has not. */
static void halve(page_history *history)
{
    double before = bucketed(history);

    for (size_t i = 0; i < HISTORY_BUCKETS; i++)
        history->changed_counts[i] = half(history->changed_counts[i]);
    if (before > 0)
        history->changed = (float)(history->changed * bucketed(history) / before);
    history->unchanged_count = half(history->unchanged_count);
    history->unchanged /= 2;
    history->modified_count = half(history->modified_count);
    history->exposed /= 2;
}

/* Seen backwards from a visit, the time to the last change has an exponential distribution that is cut off at the visit
 * before: a date tells it, and so makes the observation complete. */
static void add_dates(page_history *history, const page_visit *visit)
{
    date_verdict verdict = date_judge(visit, 1000);
    double days = (double)(visit->now - visit->previous) / SCHEDULE_DAY;

    date_trust_add(&history->dates, verdict, visit->changed);
    if (verdict == DATE_WRONG) {
        history->exposed = 0;
        history->modified_count = 0;
    }
    if (verdict != DATE_RIGHT)
        return;
    if (visit->changed) {
        history->modified_count += HISTORY_UNIT;
        days = fmin(days, fmax(0, (double)(visit->now - visit->modified) / SCHEDULE_DAY));
    }
    history->exposed += (float)days;
}

void history_add(page_history *history, const page_visit *visit)
{
    double days = (double)(visit->now - visit->previous) / SCHEDULE_DAY;

    if (!(days > 0))
        return;
    if (history->unchanged_count + changed_units(history) + HISTORY_UNIT > HISTORY_INTERVALS * HISTORY_UNIT)
        halve(history);
    if (visit->changed) {
        history->changed_counts[bucket_of(days)] += HISTORY_UNIT;
        history->changed += (float)days;
    } else {
        history->unchanged_count += HISTORY_UNIT;
        history->unchanged += (float)days;
    }
    add_dates(history, visit);
}

/* ---- the rate ---- */

typedef struct equation {
    size_t count;
    double lengths[HISTORY_BUCKETS + 1], weights[HISTORY_BUCKETS + 1]; /* changed intervals */
    double changes, changed, unchanged;
} equation;

static void put(equation *of, double length, double weight)
{
    of->lengths[of->count] = length;
    of->weights[of->count++] = weight;
    of->changes += weight;
    of->changed += weight * length;
}

static double solve(const equation *of)
{
    double rate = of->changes / (of->unchanged + of->changed / 2);

    for (int step = 0; step < STEPS; step++) {
        double excess = -of->unchanged, slope = 0;
        for (size_t i = 0; i < of->count; i++) {
            double grown = expm1(rate * of->lengths[i]), term = of->weights[i] * of->lengths[i] / grown;
            if (!isfinite(grown))
                continue; /* the term has vanished */
            excess += term;
            slope += term * of->lengths[i] * (1 + 1 / grown);
        }
        if (!(excess > 0) || !(slope > 0))
            break;
        rate += excess / slope;
        if (excess / slope < 1e-12 * rate)
            break;
    }
    return rate;
}

double history_rate(const page_history *history, double interval)
{
    double intervals = history_intervals(history), days = (double)history->unchanged + history->changed;
    double known = bucketed(history);

    if (intervals > 0 && days > 0)
        interval = days / intervals;
    if (date_trusted(&history->dates) && history->exposed > 0)
        return ((double)history->modified_count / HISTORY_UNIT + 0.5) / (history->exposed + interval / 2);

    equation equation = {.unchanged = history->unchanged + interval / 2};
    double correction = known > 0 ? history->changed / known : 1;
    put(&equation, interval, 0.5);
    for (size_t i = 0; i < HISTORY_BUCKETS; i++)
        if (history->changed_counts[i])
            put(&equation, length_of(i) * correction, (double)history->changed_counts[i] / HISTORY_UNIT);
    return solve(&equation);
}

/* ---- as bytes ----
 *
 *     0  unchanged, changed (IEEE 754), unchanged_count
 *     9  bucket and count, for each bucket that is not empty, in their order
 *        if there are dates: exposed, modified_count, right, moved + 2 wrong; the odd size says so
 */

size_t history_pack(const page_history *history, uint8_t packed[HISTORY_PACKED])
{
    const date_trust *dates = &history->dates;
    size_t size = FIXED;

    memcpy(packed, &history->unchanged, 4);
    memcpy(packed + 4, &history->changed, 4);
    packed[8] = history->unchanged_count;
    for (size_t i = 0; i < HISTORY_BUCKETS; i++)
        if (history->changed_counts[i]) {
            packed[size++] = (uint8_t)i;
            packed[size++] = history->changed_counts[i];
        }
    if (history->exposed > 0 || dates->right || dates->wrong) {
        memcpy(packed + size, &history->exposed, 4);
        packed[size + 4] = history->modified_count;
        packed[size + 5] = dates->right;
        packed[size + 6] = (uint8_t)(dates->moved + 2 * dates->wrong);
        size += DATED;
    }
    return size;
}

static bool is_sum(float days)
{
    return isfinite(days) && days >= 0;
}

/* Whether sums and counts go together, so that whatever was read leads to a rate. */
static bool is_history(const page_history *history)
{
    unsigned changed = changed_units(history);
    double known = bucketed(history), width = exp2(1.0 / HISTORY_OCTAVE);

    /* The first and the last bucket also have what is shorter or longer. */
    if (!history->changed_counts[0] && !history->changed_counts[HISTORY_BUCKETS - 1] &&
        !(history->changed <= known * width && history->changed >= known / width))
        return false;
    return is_sum(history->unchanged) && is_sum(history->changed) && is_sum(history->exposed) &&
           changed + history->unchanged_count <= HISTORY_INTERVALS * HISTORY_UNIT &&
           (changed > 0) == (history->changed > 0);
}

bool history_unpack(page_history *history, const uint8_t *packed, size_t size)
{
    *history = (page_history){0};
    if (size < FIXED || size > HISTORY_PACKED)
        return false;
    memcpy(&history->unchanged, packed, 4);
    memcpy(&history->changed, packed + 4, 4);
    history->unchanged_count = packed[8];
    if ((size - FIXED) % 2) {
        if (size < FIXED + DATED)
            return false;
        size -= DATED;
        memcpy(&history->exposed, packed + size, 4);
        history->modified_count = packed[size + 4];
        history->dates = (date_trust){packed[size + 5], packed[size + 6] & 1, packed[size + 6] / 2};
    }
    for (size_t i = FIXED; i < size; i += 2) {
        if (packed[i] >= HISTORY_BUCKETS || !packed[i + 1] || (i > FIXED && packed[i] <= packed[i - 2]))
            return false;
        history->changed_counts[packed[i]] = packed[i + 1];
    }
    return is_history(history);
}
