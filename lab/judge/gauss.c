/* The places and weights of Gauss's rule: zeros of Legendre's polynomial, found by Newton's method. */
#include "lab/judge/gauss.h"

#include <math.h>

void lab_gauss(double *at, double *weight, int points)
{
    for (int i = 0; i < points; i++) {
        double x = cos(M_PI * (i + 0.75) / (points + 0.5)), slope = 1;
        for (int step = 0; step < 50; step++) {
            double p = x, before = 1;
            for (int degree = 2; degree <= points; degree++) {
                double next = ((2 * degree - 1) * x * p - (degree - 1) * before) / degree;
                before = p;
                p = next;
            }
            slope = points * (x * p - before) / (x * x - 1);
            x -= p / slope;
        }
        at[i] = (1 + x) / 2;
        weight[i] = 1 / ((1 - x * x) * slope * slope);
    }
}
