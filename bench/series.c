/* Times of the rounds: the best, the worst and the median. */
#include "subjects.h"
#include "common/clock.h"

#include <stdlib.h>
#include <string.h>

double bench_now(void)
{
    return (double)clock_now();
}

double bench_cpu_now(void)
{
    return (double)clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

void bench_record(bench_series *series, double ns, double cpu_ns)
{
    if (series->rounds == BENCH_ROUNDS_MAX)
        return;
    if (!series->rounds || ns < bench_best(series))
        series->cpu_ns = cpu_ns;
    series->ns[series->rounds++] = ns;
}

double bench_best(const bench_series *series)
{
    double best = series->ns[0];
    for (int i = 1; i < series->rounds; i++)
        if (series->ns[i] < best)
            best = series->ns[i];
    return best;
}

double bench_worst(const bench_series *series)
{
    double worst = series->ns[0];
    for (int i = 1; i < series->rounds; i++)
        if (series->ns[i] > worst)
            worst = series->ns[i];
    return worst;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(const bench_series *series)
{
    double sorted[BENCH_ROUNDS_MAX] = {0};
    memcpy(sorted, series->ns, (size_t)series->rounds * sizeof sorted[0]);
    qsort(sorted, (size_t)series->rounds, sizeof sorted[0], compare);
    int middle = series->rounds / 2;
    return series->rounds % 2 || !middle ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
