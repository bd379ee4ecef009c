/*
 * Distributions: the incomplete gamma function and the distributions that follow from it (Poisson, chi-square), the
 * normal distribution, Student's distribution, and the median.
 */
#include "lab/judge/distributions.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { STEPS = 100000 };

static double gamma_series(double shape, double x)
{
    double term = 1 / shape, sum = term;
    for (int i = 1; i < STEPS && term > sum * 1e-17; i++) {
        term *= x / (shape + i);
        sum += term;
    }
    return sum * exp(shape * log(x) - x - lgamma(shape));
}

/* The upper incomplete gamma function as a continued fraction (Lentz's method). */
static double gamma_fraction(double shape, double x)
{
    const double tiny = 1e-300;
    double b = x + 1 - shape, c = 1 / tiny, d = 1 / b, product = d;
    for (int i = 1; i < STEPS; i++) {
        double a = -i * (i - shape);
        b += 2;
        d = a * d + b;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = b + a / c;
        c = fabs(c) < tiny ? tiny : c;
        product *= c * d;
        if (fabs(c * d - 1) < 1e-16)
            break;
    }
    return product * exp(shape * log(x) - x - lgamma(shape));
}

double lab_gamma_below(double shape, double x)
{
    if (!(x > 0))
        return 0;
    return x < shape + 1 ? gamma_series(shape, x) : 1 - gamma_fraction(shape, x);
}

static double gamma_above(double shape, double x)
{
    if (!(x > 0))
        return 1;
    return x < shape + 1 ? 1 - gamma_series(shape, x) : gamma_fraction(shape, x);
}

double lab_poisson_below(double mean, double count)
{
    return count < 0 ? 0 : gamma_above(floor(count) + 1, mean);
}

double lab_poisson_above(double mean, double count)
{
    return count <= 0 ? 1 : lab_gamma_below(ceil(count), mean);
}

/* The mean at which a probability, which rises or falls with the mean, equals `tail`. */
static double find_mean(double (*probability)(double mean, double count), double count, double tail, bool rises)
{
    double low = 0, high = 2 * count + 100;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if ((probability(middle, count) < tail) == rises)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

double lab_poisson_low(double count, double tail)
{
    return count > 0 ? find_mean(lab_poisson_above, count, tail, true) : 0;
}

double lab_poisson_high(double count, double tail)
{
    return find_mean(lab_poisson_below, count, tail, false);
}

double lab_normal_z(double below)
{
    double low = -40, high = 40;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (erfc(-middle / sqrt(2)) / 2 < below)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* The integral of cos^power from `from` to pi/2, by Simpson's rule. */
static double cosine_integral(double power, double from)
{
    enum { PARTS = 128 };
    double step = (M_PI / 2 - from) / PARTS, sum = 0;
    for (int i = 0; i <= PARTS; i++) {
        double weight = i == 0 || i == PARTS ? 1 : i % 2 ? 4 : 2;
        sum += weight * pow(fmax(0, cos(from + i * step)), power);
    }
    return sum * step / 3;
}

/* With t = sqrt(freedom) tan(angle), the density becomes a power of the cosine, which is smooth up to infinity. */
double lab_student_t(double tail, double freedom)
{
    double half = cosine_integral(freedom - 1, 0), low = 0, high = M_PI / 2;
    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;
        if (cosine_integral(freedom - 1, middle) / half / 2 > tail)
            low = middle;
        else
            high = middle;
    }
    return sqrt(freedom) * tan((low + high) / 2);
}

double lab_student_above(double t, double freedom)
{
    return cosine_integral(freedom - 1, atan(t / sqrt(freedom))) / cosine_integral(freedom - 1, 0) / 2;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double lab_median(double *numbers, size_t count)
{
    qsort(numbers, count, sizeof *numbers, by_size);
    return count ? (numbers[(count - 1) / 2] + numbers[count / 2]) / 2 : 0;
}
