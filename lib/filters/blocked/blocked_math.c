/* See blocked_math.h. Numbers of URLs and rows are doubles: they go into formulas and need not be whole. */
#include "filters/blocked/blocked_math.h"

#include <math.h>

#define PARTITIONS 64
#define KEPT 0.984375 /* 63/64: the probability that a URL does not set a given bit of its lane */

/* Binomial coefficients with alternating signs. */
static const double choose[VIDI__BLOCKED_LANES + 1] = {1, -8, 28, -56, 70, -56, 28, -8, 1};

/* The closed form has terms up to 70 that cancel. Results above this keep nine digits. */
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

/* The mean over X, term by term. Used for small f, so for few URLs per line: the terms soon become negligible. */
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
    return log1p(-ones / bits) / line->rate[1]; /* a bit is not set with probability (1 - 1 / (64 r))^N */
}

/* ---- a layer ---- */

/* Beyond this, the binomial distribution is normal, and differences of log_gamma are noise. */
#define LOG_GAMMA_UP_TO 0x1p26

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* The probability, up to a constant factor, that x of n URLs belong to a given partition. */
static double share_of_partition(double n, double x)
{
    const double p = 1.0 / PARTITIONS;
    if (n > LOG_GAMMA_UP_TO)
        return exp(-(x - n * p) * (x - n * p) / (2 * n * p * (1 - p)));
    double ways = log_gamma(n + 1) - log_gamma(x + 1) - log_gamma(n - x + 1);
    return exp(ways + x * log(p) + (n - x) * log1p(-p));
}

/*
 * The mean over the number of URLs in a partition. A sum in steps of half a standard deviation is as good as one over
 * all numbers: for a smooth bell curve it is exact to all digits. The range of the sum allows for f to the power of
 * `lines`, which rises about like N^(8 lines) and so shifts the weight to larger numbers.
 */
static double partition_fp(double n, double rows, unsigned lines)
{
    if (lines == 1) { /* the X of a line is then binomial with n itself */
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
    if (more > 0) /* this share of the partitions has one row more */
        p += more * partition_fp(n, whole + 1, lines);
    return p;
}

static double loss_at(double n, double rows, unsigned lines, vidi__bloom_use use)
{
    double p = vidi__power(vidi__blocked_fp(n, rows, lines), use.members);
    return use.bound ? p / (1 - p) : p;
}

/* Gauss-Legendre quadrature with twelve points: exact for polynomials of degree 23. */
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
    /* a sum of n terms that starts at 0 is smaller than the integral by half the last term */
    double lost = sum * n / 2 - loss_at(n, rows, lines, use) / 2;
    return lost > 0 ? lost : 0;
}

/* ---- sizes ---- */

double vidi__blocked_smallest(double least, double most, double guess, vidi__blocked_excess *excess,
                              const void *context)
{
    double low = least - 1, high = most + 1, above = INFINITY, below = -INFINITY; /* as if both ends had been tried */
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
        if (low < least || high > most) { /* expand from the guess: if it was good, the other end is near */
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
    /*
     * The denominator is one minus the mean of p while it rises. It was fitted, and makes the result slightly too
     * large.
     */
    return urls / (1 - 0.17 * error - error * error / 3);
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

/* URLs per line at which a line's false-positive rate is f, with an unlimited number of lines. */
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

static vidi__blocked_shape find_shape(double urls, double error, unsigned lines)
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

/* Finding a shape takes some 300 microseconds, and a server makes many small sets of the same shape. */
vidi__blocked_shape vidi__blocked_shape_for(double urls, double error, unsigned lines)
{
    static _Thread_local struct {
        double urls, error;
        unsigned lines;
        vidi__blocked_shape shape;
    } last;
    if (last.urls != urls || last.error != error || last.lines != lines || last.shape.lines == 0) {
        last.shape = find_shape(urls, error, lines);
        last.urls = urls;
        last.error = error;
        last.lines = lines;
    }
    return last.shape;
}

/* ---- layers ---- */

#define FIRST_URLS 8192      /* capacity of the first layer without a capacity: the set may be one of many small ones */
#define FIRST_GROWTH 65536   /* capacity of the second layer without a capacity */
#define SECOND_URLS 16384    /* the least capacity of the second layer with a capacity */
#define GROWTH_BITS 2        /* each further layer has 2^2 = 4 times the URLs of the last */
#define RESERVED_SHARE 0.992 /* with a capacity: share of the error rate for the first layer */
#define RESERVED_TIGHTEN 0.7 /* with a capacity: ratio of the shares of consecutive further layers */
#define GROWING_TIGHTEN 0.75 /* without a capacity: ratio of the shares of consecutive layers */
#define RESERVED_SPARE 800   /* with a capacity: 1/800 more URLs fit into the first layer while the next is prepared */

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
