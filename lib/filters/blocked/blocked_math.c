/* See blocked_math.h. URLs and rows are doubles here: nothing is counted, everything is expected. */
#include "filters/blocked/blocked_math.h"

#include <math.h>

#define PARTITIONS 64
#define KEPT 0.984375 /* 63/64: that a URL leaves a bit of its lane alone */

/* Binomial coefficients with alternating signs. */
static const double choose[VIDI__BLOCKED_LANES + 1] = {1, -8, 28, -56, 70, -56, 28, -8, 1};

/* The sum over j has terms up to 70 that cancel: from here on, nine digits are left. */
#define CLOSED_FROM 1e-6

vidi__blocked_line vidi__blocked_line_of(double rows)
{
    vidi__blocked_line line = {.rows = rows};
    double kept = 1;
    for (unsigned j = 1; j <= VIDI__BLOCKED_LANES; j++) {
        kept *= KEPT;
        line.rate[j] = log1p((kept - 1) / rows);
    }
    return line;
}

/* The mean over X, term by term. For small f, so for few URLs a line: the terms begin at X = 1 and soon end. */
static double summed(double urls, double rows)
{
    double mean = urls / rows, chance = exp(urls * log1p(-1 / rows)), kept = 1, sum = 0;
    for (double x = 1; x < urls + 1; x++) {
        chance *= (urls - x + 1) / x / (rows - 1);
        kept *= KEPT;
        double term = chance * vidi__power(1 - kept, VIDI__BLOCKED_LANES);
        sum += term;
        if (x > mean && term < sum * 1e-17)
            break;
    }
    return sum;
}

double vidi__blocked_line_fp(const vidi__blocked_line *line, double urls)
{
    if (urls <= 0)
        return 0;
    if (line->rows <= 1)
        return vidi__power(-expm1(urls * log(KEPT)), VIDI__BLOCKED_LANES);
    double sum = 1;
    for (unsigned j = 1; j <= VIDI__BLOCKED_LANES; j++)
        sum += choose[j] * exp(urls * line->rate[j]);
    return sum > CLOSED_FROM ? fmin(sum, 1) : summed(urls, line->rows);
}

double vidi__blocked_urls(const vidi__blocked_line *line, unsigned lines, double ones)
{
    double bits = line->rows * lines * VIDI__BLOCKED_BITS;
    if (ones >= bits)
        ones = bits - 1;
    return log1p(-ones / bits) / line->rate[1]; /* a bit is free with (1 - 1 / (64 r))^N */
}

/* ---- a layer ---- */

#define LOG_GAMMA_UP_TO 0x1p26 /* beyond, the binomial law is the normal one, and differences of log_gamma are noise */

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* The chance that x of n URLs are a partition's, but for a factor. */
static double share_of_partition(double n, double x)
{
    const double p = 1.0 / PARTITIONS;
    if (n > LOG_GAMMA_UP_TO)
        return exp(-(x - n * p) * (x - n * p) / (2 * n * p * (1 - p)));
    double ways = log_gamma(n + 1) - log_gamma(x + 1) - log_gamma(n - x + 1);
    return exp(ways + x * log(p) + (n - x) * log1p(-p));
}

/*
 * The mean over the URLs of a partition. A sum in steps of half a standard deviation is as good as one over all: of a
 * smooth bell it is exact to all digits. It reaches as far as f to the power of `lines`, which rises about like
 * N^(8 lines), shifts the weight.
 */
static double partition_fp(double n, double rows, unsigned lines)
{
    if (lines == 1) { /* a line's X is binomial with n itself */
        vidi__blocked_line line = vidi__blocked_line_of(rows * PARTITIONS);
        return vidi__blocked_line_fp(&line, n);
    }
    vidi__blocked_line line = vidi__blocked_line_of(rows);
    double mean = n / PARTITIONS, deviation = sqrt(mean), step = fmax(1, floor(deviation / 2));
    double reach = 8 * deviation + 8.0 * lines * VIDI__BLOCKED_LANES;
    double first = floor(mean) - floor(fmin(mean, reach) / step) * step, weights = 0, sum = 0;
    for (double x = first; x <= fmin(n, mean + reach); x += step) {
        double weight = share_of_partition(n, x);
        weights += weight;
        sum += weight * vidi__power(vidi__blocked_line_fp(&line, x), lines);
    }
    return sum / weights;
}

double vidi__blocked_fp(double n, double rows, unsigned lines)
{
    double whole = floor(rows / PARTITIONS), more = rows / PARTITIONS - whole;
    if (n <= 0)
        return 0;
    double p = (1 - more) * partition_fp(n, whole, lines);
    if (more > 0) /* so many partitions have a row more than the others */
        p += more * partition_fp(n, whole + 1, lines);
    return p;
}

static double loss_at(double n, double rows, unsigned lines, vidi__bloom_use use)
{
    double p = vidi__power(vidi__blocked_fp(n, rows, lines), use.members);
    return use.bound ? p / (1 - p) : p;
}

/* Gauss and Legendre: an integral over twelve places of a function that a polynomial of degree 23 comes close to. */
static const double places[] = {0.1252334085114689, 0.3678314989981802, 0.5873179542866175,
                                0.7699026741943047, 0.9041172563704749, 0.9815606342467192};
static const double weights[] = {0.2491470458134028, 0.2334925365383548, 0.2031674267230659,
                                 0.1600783285433462, 0.1069393259953184, 0.0471753363865118};
#define ONE_BY_ONE 64

double vidi__blocked_lost(double n, double rows, unsigned lines, vidi__bloom_use use)
{
    double sum = 0;
    if (n <= ONE_BY_ONE) {
        for (double i = 1; i < n; i++)
            sum += loss_at(i, rows, lines, use);
        return sum;
    }
    for (unsigned i = 0; i < VIDI__COUNT(places); i++)
        sum += weights[i] * (loss_at(n / 2 * (1 - places[i]), rows, lines, use) +
                             loss_at(n / 2 * (1 + places[i]), rows, lines, use));
    /* a sum of n terms from 0 on is half a step smaller than the integral from 0 to n */
    double lost = sum * n / 2 - loss_at(n, rows, lines, use) / 2;
    return lost > 0 ? lost : 0;
}

/* ---- sizes ---- */

double vidi__blocked_smallest(double least, double most, double guess, vidi__blocked_excess *excess,
                              const void *context)
{
    double low = least - 1, high = most + 1, above = INFINITY, below = -INFINITY; /* as if both had been tried */
    double next = guess, factor = 1.01;
    for (unsigned turn = 0; high - low > 1; turn++) {
        next = fmin(fmax(floor(next), low + 1), high - 1);
        double here = excess(context, next);
        if (here > 0) {
            low = next;
            above = here;
        } else {
            high = next;
            below = here;
        }
        if (low < least || high > most) { /* the guess was good if the other end is near */
            next = low < least ? high / factor : low * factor;
            factor *= factor;
        } else if (turn % 2 || !isfinite(below)) {
            next = (low + high) / 2;
        } else {
            next = low * pow(high / low, above / (above - below));
        }
    }
    return high > most ? 0 : high;
}

double vidi__blocked_arrivals(double urls, double error)
{
    return urls / (1 - 0.17 * error - error * error / 3); /* the mean of p while it rises: fitted, a little too large */
}

typedef struct rate_kept {
    double arrivals, error;
    unsigned lines;
} rate_kept;

static double excess_rate(const void *context, double rows)
{
    const rate_kept *want = context;
    return log(vidi__blocked_fp(want->arrivals, rows, want->lines) / want->error) - 1e-12;
}

/* The URLs a line at which f is so large, if there are lines without end. */
static double load_at(double f)
{
    const double endless = 0x1p50;
    vidi__blocked_line line = vidi__blocked_line_of(endless);
    double low = 0, high = 4096;
    for (unsigned i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        if (vidi__blocked_line_fp(&line, middle * endless) < f)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double rows_for(double urls, double error, unsigned lines)
{
    rate_kept want = {vidi__blocked_arrivals(urls, error), error, lines};
    double guess = want.arrivals / load_at(pow(error, 1.0 / lines));
    return vidi__blocked_smallest(VIDI__BLOCKED_ROWS_MIN, (double)VIDI__BLOCKED_ROWS_MAX, guess, excess_rate, &want);
}

vidi__blocked_shape vidi__blocked_shape_for(double urls, double error, unsigned lines)
{
    vidi__blocked_shape best = {0, lines ? lines : 1};
    best.rows = rows_for(urls, error, best.lines);
    while (!lines && best.lines < VIDI__BLOCKED_LINES_MAX) {
        vidi__blocked_shape next = {0, best.lines + 1};
        next.rows = rows_for(urls, error, next.lines);
        if (best.rows > 0 && vidi__blocked_bytes(next) > VIDI__BLOCKED_LESS * vidi__blocked_bytes(best))
            break;
        best = next;
    }
    return best;
}

/* ---- layers ---- */

#define FIRST_URLS 8192      /* of a set that nobody said the size of: it may be one of many small ones */
#define FIRST_GROWTH 65536   /* and what it grows by first */
#define SECOND_URLS 16384    /* a set that somebody did say the size of grows by so many at least */
#define GROWTH_BITS 2        /* each layer has 4 times the URLs of the last */
#define RESERVED_SHARE 0.992 /* of the error rate, for the layer that was asked for */
#define RESERVED_TIGHTEN 0.7 /* and from there on each layer's share of the rest, to the last one's */
#define GROWING_TIGHTEN 0.75 /* the same without a capacity */
#define RESERVED_SPARE 800   /* one URL in so many more finds room in a reserved layer, while the next is prepared */

static uint64_t times_four(uint64_t urls, unsigned often)
{
    while (often-- && urls < VIDI__CAPACITY_MAX)
        urls <<= GROWTH_BITS;
    return urls < VIDI__CAPACITY_MAX ? urls : VIDI__CAPACITY_MAX;
}

static uint64_t urls_of(uint64_t capacity, unsigned index)
{
    if (index == 0)
        return capacity ? capacity + capacity / RESERVED_SPARE : FIRST_URLS;
    if (!capacity)
        return times_four(FIRST_GROWTH, index - 1);
    return times_four(capacity / 4 > SECOND_URLS ? capacity / 4 : SECOND_URLS, index - 1);
}

static double share_of(bool reserved, unsigned index)
{
    if (!reserved)
        return (1 - GROWING_TIGHTEN) * vidi__power(GROWING_TIGHTEN, index);
    if (index == 0)
        return RESERVED_SHARE;
    return (1 - RESERVED_SHARE) * (1 - RESERVED_TIGHTEN) * vidi__power(RESERVED_TIGHTEN, index - 1);
}

vidi__blocked_layer_plan vidi__blocked_layer_at(const vidi__blocked_plan *plan, unsigned index)
{
    uint64_t urls = urls_of(plan->capacity, index);
    return (vidi__blocked_layer_plan){
        .prepare = plan->capacity && index == 0 ? plan->capacity : urls / 2,
        .urls = urls,
        .share = plan->error * share_of(plan->capacity, index),
    };
}
