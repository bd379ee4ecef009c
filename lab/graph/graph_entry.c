/*
 * Entries that are ratios of sums over all runs. A ratio of sums, unlike a mean of ratios, is not biased by runs that
 * lose few pages, and needs no exception for those that lose none.
 *
 * The interval is that of the delta method. With the sums A and B over n runs, the relative deviation of A/B is the sum
 * over the runs of q_i = a_i/A - b_i/B; its variance is n/(n-1) times the sum of the squares of q_i.
 */
#include "lab/graph/graph.h"

#include <math.h>

lab_graph_sum lab_graph_sum_of(const lab_numbers *all, size_t row, size_t column)
{
    size_t columns = lab_study_columns(all->study), cells = lab_study_rows(all->study) * columns;
    lab_graph_sum sum = {.all = all, .cell = row * columns + column};
    for (uint64_t run = 0; run < all->settings.runs; run++)
        sum.sum += all->numbers[run * cells + sum.cell];
    return sum;
}

/* The part of the sum that a run contributes. */
static double part_of(const lab_graph_sum *sum, uint64_t run)
{
    size_t cells = lab_study_rows(sum->all->study) * lab_study_columns(sum->all->study);
    return sum->all->numbers[run * cells + sum->cell] / sum->sum;
}

void lab_graph_quotient(lab_entry *entry, const lab_graph_sum *over, const lab_graph_sum *under)
{
    double squares = 0, runs = (double)entry->runs, quotient = 1;
    for (const lab_graph_sum *sum = over; sum->all; sum++)
        quotient *= sum->sum;
    for (const lab_graph_sum *sum = under; sum->all; sum++)
        quotient = sum->sum > 0 ? quotient / sum->sum : (double)NAN;
    if (!isfinite(quotient)) {
        lab_graph_hide(entry);
        return;
    }
    for (uint64_t run = 0; run < entry->runs && quotient > 0; run++) {
        double q = 0;
        for (const lab_graph_sum *sum = over; sum->all; sum++)
            q += part_of(sum, run);
        for (const lab_graph_sum *sum = under; sum->all; sum++)
            q -= part_of(sum, run);
        squares += q * q;
    }
    double spread = runs > 1 ? LAB_INTERVAL_Z * quotient * sqrt(squares * runs / (runs - 1)) : 0;
    entry->measured = quotient;
    entry->low = fmax(0, quotient - spread);
    entry->high = quotient + spread;
}

void lab_graph_hide(lab_entry *entry)
{
    entry->measured = entry->low = entry->high = entry->theory = NAN;
}
