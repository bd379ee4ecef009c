/*
 * A filter that is emptied before each crawl and keeps its salts, while the order is drawn again.
 *
 * A page has k bits. Bit j is shared with Z_j other URLs, the same in every crawl; Z_j is Poisson with mean kN/m. If
 * the page comes at u (from 0, first, to 1, last), a URL that shares a bit has come before it with probability u. So
 * the page is lost with probability
 *
 *   P(Z) = integral over u of the product over j of 1 - (1-u)^Z_j
 *
 * and, given Z, crawls are independent: the chance to be lost in at least l of R crawls is the mean over Z of a
 * binomial probability. A page with a bit of its own (Z_j = 0) is never lost. The mean over Z is a sum over
 * combinations of numbers, each with its number of permutations.
 *
 * The numbers of pages that two crawls lose are correlated because both have the same Z. Their covariance is the
 * variance of the sum of P over all pages. Write P(Z) = p + a(Z_1) + … + a(Z_k) + rest, with a(z) = E[P | Z_1 = z] - p.
 * The rests of different pages are uncorrelated: N (Var P - k Var a). The sum of a over all pages is a sum over bits: a
 * bit that Y URLs set appears in Y pages, each of which shares it with Y - 1 others. With Y Poisson, but kN in all,
 *
 *   Var of the sum of Y a(Y-1) = m (Var[Y a(Y-1)] - Cov[Y a(Y-1), Y]^2 / Var Y).
 */
#include <math.h>

#include "lab/judge/gauss.h"
#include "lab/revisits/revisits.h"

enum { POINTS = 32, SHARED_MOST = 12, SHARED_MANY = 8, FEW_BITS = 6 };

/* What the sum over combinations needs and adds up. */
typedef struct mixture {
    unsigned k, crawls, least;
    unsigned most;                                          /* larger numbers are too rare to count */
    double weight[POINTS], before[SHARED_MOST + 1][POINTS]; /* before[z]: 1 - (1-u)^z at each point */
    double poisson[SHARED_MOST + 1];                        /* of the numbers */
    double often, mean, square;                             /* of P, and of "at least `least` of `crawls`" */
    double given[SHARED_MOST + 1];                          /* [z]: the sum of P over combinations with Z_1 = z */
} mixture;

static void prepare(mixture *mixture, const lab_revisits *revisits)
{
    double at[POINTS], load, chance;
    mixture->k = lab_revisits_k(revisits);
    mixture->most = mixture->k <= FEW_BITS ? SHARED_MOST : SHARED_MANY; /* there are fewer combinations of fewer bits */
    load = mixture->k * (double)revisits->pages / lab_revisits_bits(revisits);
    lab_gauss(at, mixture->weight, POINTS);
    chance = exp(-load);
    for (unsigned z = 0; z <= SHARED_MOST; z++) {
        mixture->poisson[z] = chance;
        chance *= load / (z + 1);
        for (int i = 0; i < POINTS; i++)
            mixture->before[z][i] = 1 - pow(1 - at[i], z);
    }
}

/* Takes one combination: counts[z] of the k bits are shared with z others. */
static void take(mixture *mixture, const unsigned *counts, const double *product, double chance)
{
    double p = 0;
    for (int i = 0; i < POINTS; i++)
        p += mixture->weight[i] * product[i];
    mixture->mean += chance * p;
    mixture->square += chance * p * p;
    mixture->often += chance * lab_binomial_above(mixture->crawls, p, mixture->least);
    for (unsigned z = 1; z <= mixture->most; z++)
        mixture->given[z] += chance * p * counts[z] / mixture->k;
}

/*
 * All combinations in which no number is 0, as whole numbers counts[1] to counts[most] whose sum is k: each is
 * the last one with its first positive count moved up.
 */
static void sum_up(mixture *mixture)
{
    unsigned counts[SHARED_MOST + 2] = {0};
    counts[1] = mixture->k;
    while (!counts[mixture->most + 1]) {
        double product[POINTS], chance = lgamma(mixture->k + 1);
        for (int i = 0; i < POINTS; i++)
            product[i] = 1;
        for (unsigned z = 1; z <= mixture->most; z++) {
            chance += counts[z] * log(mixture->poisson[z]) - lgamma(counts[z] + 1);
            for (unsigned j = 0; j < counts[z]; j++)
                for (int i = 0; i < POINTS; i++)
                    product[i] *= mixture->before[z][i];
        }
        take(mixture, counts, product, exp(chance));
        unsigned first = 1;
        while (!counts[first])
            first++;
        unsigned moved = counts[first];
        counts[first] = 0;
        counts[first + 1]++;
        counts[1] = moved - 1;
    }
}

double lab_same_salts_often(const lab_revisits *revisits, unsigned crawls, unsigned least)
{
    mixture mixture = {.crawls = crawls, .least = least};
    prepare(&mixture, revisits);
    sum_up(&mixture);
    return mixture.often;
}

double lab_same_salts_covariance(const lab_revisits *revisits)
{
    mixture mixture = {.crawls = 1, .least = 1};
    double n = (double)revisits->pages, m = lab_revisits_bits(revisits), of_a = 0, product = 0, sum = 0, square = 0,
           load;
    prepare(&mixture, revisits);
    sum_up(&mixture);
    load = mixture.k * n / m;
    for (unsigned z = 0; z <= mixture.most; z++) {
        double a = mixture.given[z] / mixture.poisson[z] - mixture.mean;
        double y = z + 1, chance = mixture.poisson[z] * load / y; /* of a bit that z + 1 URLs set */
        of_a += mixture.poisson[z] * a * a;
        sum += chance * y * a;
        square += chance * y * a * y * a;
        product += chance * y * a * y;
    }
    double of_bits = square - sum * sum - pow(product - sum * load, 2) / load;
    return n * (mixture.square - mixture.mean * mixture.mean - mixture.k * of_a) + m * of_bits;
}
