/* Probabilities and quantiles of the distributions that verdicts need. */
#ifndef VIDI_LAB_JUDGE_DISTRIBUTIONS_H
#define VIDI_LAB_JUDGE_DISTRIBUTIONS_H

#include <stddef.h>

double lab_poisson_below(double mean, double count); /* P(X <= count) */
double lab_poisson_above(double mean, double count); /* P(X >= count) */
double lab_poisson_low(double count, double tail);   /* the mean for which P(X >= count) = tail */
double lab_poisson_high(double count, double tail);  /* the mean for which P(X <= count) = tail */
double lab_gamma_below(double shape, double x);      /* regularised lower incomplete gamma function */
double lab_normal_z(double below);                   /* the z below which this probability lies */
double lab_student_t(double tail, double freedom);   /* the t above which this probability lies, at most 0.5 */
double lab_student_above(double t, double freedom);  /* P(T >= t), t at least 0 */

double lab_median(double *numbers, size_t count); /* sorts the numbers; 0 if there are none */

#endif
