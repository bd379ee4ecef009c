/* Gauss's rule for integrals from 0 to 1. */
#ifndef VIDI_LAB_JUDGE_GAUSS_H
#define VIDI_LAB_JUDGE_GAUSS_H

/* The sum of weight[i] f(at[i]) is the integral of f, exactly for polynomials up to degree 2 points - 1. */
void lab_gauss(double *at, double *weight, int points);

#endif
