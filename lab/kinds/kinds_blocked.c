/*
 * Theory of the kind `blocked`, derived from where its bits are (docs/KINDS.md) and not from the library's formulas.
 *
 * A layer has R rows of L cache lines, shared by 64 partitions as evenly as whole rows allow. A URL belongs to a
 * partition, draws one of its rows for each of its L lines, and there sets one of the 64 bits of each of the 8 lanes.
 * Bits of a URL that is falsely seen are all set already, so the state depends only on how many URLs have come.
 *
 * Mean. If x URLs have drawn a line, one more finds all its bits set with probability g(x) = (1 - (63/64)^x)^8. After i
 * URLs, x is binomial with i and 1/(64 r), where r is the number of the partition's rows; its mean over x is the
 * probability for one line. The L lines of a URL share the number of the partition's URLs, which is about normal: the
 * L-th power is taken for each such number, and averaged over it. The sum over all i is the number of pages lost.
 *
 * Variance for L = 1. Lines are independent but for the total number of URLs. Let c be the number of URLs lost in a
 * line and x that of the URLs that drew it. Given x, the moments of c follow from pairs: URLs number y and z of the
 * line (from 0, y < z) are both lost if that holds in each lane, and in a lane
 *
 *   P(both find their bit set) = 1 - a^y - a^z + a^(z-y) b^y,     a = 63/64, b = 62/64
 *
 * because both find it zero if they differ, the y earlier ones avoid both, and those between avoid the second. With x
 * Poisson, the variance of the sum over all lines, given their total, is
 *
 *   sum of Var c - (sum of Cov(c, x))^2 / sum of Var x.
 *
 * For L > 1 losses are rare and nearly independent, so the variance is the mean.
 */
#include <math.h>
#include <stdlib.h>

#include "lab/kinds/kinds.h"

enum {
    PARTITIONS = 64,
    LANES = 8,
    LINE_BITS = 512,
    LINES_MOST = 4,
    LOAD_MOST = 2048, /* URLs in one line */
    FULL_FROM = 600,  /* URLs of a line from which on it is taken as full: exp(-x) has no double much further on */
    PIECES = 64,      /* of an integral over time */
    EACH_URL = 256    /* fewer URLs are summed up one by one */
};
#define AVOIDS (63.0 / 64)      /* the probability that a URL does not set a given bit of a lane */
#define AVOIDS_BOTH (62.0 / 64) /* the probability that it sets neither of two given bits */

/* A number of rows, and how many partitions have it. */
typedef struct share {
    double rows, partitions;
} share;

/* Partition i has the rows from floor(i R / 64) on: some have one row more than others. */
static unsigned shares_of(uint64_t rows, share shares[2])
{
    double fewest = floor((double)rows / PARTITIONS), more = (double)(rows % PARTITIONS);
    shares[0] = (share){fewest, PARTITIONS - more};
    shares[1] = (share){fewest + 1, more};
    return more > 0 ? 2 : 1;
}

/* g(x). */
static double full_after(double x)
{
    return pow(-expm1(x * log(AVOIDS)), LANES);
}

/* The mean of g(x) for a binomial x: `urls` trials, each with a probability of 1 / `places`. */
static double line_chance(double urls, double places)
{
    if (places <= 1 || urls / places > FULL_FROM)
        return full_after(urls / fmax(places, 1));
    double chance = exp(urls * log1p(-1 / places)), sum = 0;
    for (double x = 1; x < fmin(urls + 1, LOAD_MOST); x++) {
        chance *= (urls - x + 1) / x / (places - 1);
        double term = chance * full_after(x);
        sum += term;
        if (x > urls / places && term < sum * 1e-14)
            break;
    }
    return sum;
}

/* The same for all lines of a URL, if its partition has `rows` rows. */
static double partition_chance(double urls, double rows, unsigned lines)
{
    if (lines == 1)
        return line_chance(urls, rows * PARTITIONS);
    double mean = urls / PARTITIONS, spread = sqrt(mean * (1 - 1.0 / PARTITIONS)), weights = 0, sum = 0;
    for (double z = -6; z <= 8; z += 0.25) { /* the power makes large numbers count more */
        double weight = exp(-z * z / 2), own = mean + z * spread;
        weights += weight;
        if (own > 0)
            sum += weight * pow(line_chance(own, rows), lines);
    }
    return sum / weights;
}

double lab_blocked_chance(double urls, uint64_t rows, unsigned lines)
{
    share shares[2];
    unsigned count = shares_of(rows, shares);
    double sum = 0;
    for (unsigned i = 0; i < count && urls > 0; i++)
        sum += shares[i].partitions / PARTITIONS * partition_chance(urls, shares[i].rows, lines);
    return sum;
}

/* The sum over the URLs from the first to the last: Simpson's rule, and half a term less, because it begins with 0. */
static double sum_over_urls(uint64_t urls, uint64_t rows, unsigned lines)
{
    double sum = 0, n = (double)urls;
    if (urls <= EACH_URL) {
        for (double i = 1; i < n; i++)
            sum += lab_blocked_chance(i, rows, lines);
        return sum;
    }
    for (int i = 1; i <= PIECES; i++)
        sum += (i == PIECES ? 1 : i % 2 ? 4 : 2) * lab_blocked_chance(n * i / PIECES, rows, lines);
    return sum * n / PIECES / 3 - lab_blocked_chance(n, rows, lines) / 2;
}

/* ---- the variance ---- */

/* For a line that x URLs have drawn: the mean number of those lost, and of its square. */
typedef struct line_losses {
    double mean[LOAD_MOST], square[LOAD_MOST];
} line_losses;

static double both_lost(double y, double z)
{
    double both = 1 - pow(AVOIDS, y) - pow(AVOIDS, z) + pow(AVOIDS, z - y) * pow(AVOIDS_BOTH, y);
    return pow(fmax(both, 0), LANES);
}

static void fill_in(line_losses *losses, size_t until)
{
    losses->mean[0] = losses->square[0] = 0;
    for (size_t x = 0; x + 1 < until; x++) {
        double pairs = 0, own = full_after((double)x);
        for (size_t y = 0; y < x; y++)
            pairs += both_lost((double)y, (double)x);
        losses->mean[x + 1] = losses->mean[x] + own;
        losses->square[x + 1] = losses->square[x] + own + 2 * pairs;
    }
}

/* Var c and Cov(c, x) of one line, if x is Poisson. */
static void line_variance(const line_losses *losses, size_t until, double load, double *variance, double *covariance)
{
    double chance = exp(-load), mean = 0, square = 0, product = 0;
    for (size_t x = 0; x < until; x++) {
        mean += chance * losses->mean[x];
        square += chance * losses->square[x];
        product += chance * losses->mean[x] * (double)x;
        chance *= load / (double)(x + 1);
    }
    *variance = square - mean * mean;
    *covariance = product - mean * load;
}

static double variance_of(uint64_t urls, uint64_t rows)
{
    line_losses *losses = malloc(sizeof *losses);
    double variances = 0, covariances = 0, n = (double)urls;
    share shares[2];
    if (!losses)
        return 0;
    unsigned count = shares_of(rows, shares);
    double most = n / (shares[0].rows * PARTITIONS);
    size_t until = (size_t)fmin(LOAD_MOST, most + 10 * sqrt(most) + 30);
    fill_in(losses, until);
    for (unsigned i = 0; i < count; i++) {
        double lines = shares[i].rows * shares[i].partitions, variance, covariance;
        line_variance(losses, until, n / (shares[i].rows * PARTITIONS), &variance, &covariance);
        variances += lines * variance;
        covariances += lines * covariance;
    }
    free(losses);
    return variances - covariances * covariances / n;
}

lab_theory lab_blocked_theory(uint64_t urls, uint64_t rows, unsigned lines)
{
    double mean = sum_over_urls(urls, rows, lines);
    double variance = lines == 1 ? variance_of(urls, rows) : mean;
    return (lab_theory){mean, variance > 0 ? variance : mean, (double)urls};
}

/* ---- memory ---- */

#define FIRST_LAYER 0.992     /* its share of the error rate: later layers get the rest */
#define SPARE (1 + 1.0 / 800) /* URLs that the first layer takes, per URL of the capacity */
#define WORTH_A_LINE 0.95     /* one more line must reduce the memory to this */

/* The fewest rows that keep a rate. */
static uint64_t fewest_rows(double urls, double rate, unsigned lines)
{
    uint64_t low = PARTITIONS - 1, high = 2 * PARTITIONS;
    while (lab_blocked_chance(urls, high, lines) > rate)
        high *= 2;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (lab_blocked_chance(urls, middle, lines) > rate)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double lab_blocked_bits(uint64_t urls, double error)
{
    double least = INFINITY, n = (double)urls;
    for (unsigned lines = 1; lines <= LINES_MOST; lines++) {
        double rows = (double)fewest_rows(n * SPARE, error * FIRST_LAYER, lines), bits = rows * lines * LINE_BITS;
        if (bits > WORTH_A_LINE * least)
            break;
        least = bits;
    }
    return least;
}
