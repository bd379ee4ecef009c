/*
 * Page-crawls missed by each policy: over up to 20 crawls with 8 bits per page, one table for each churn; and over 20
 * crawls with 4 and 16 bits.
 */
#include <math.h>

#include "lab/revisits/revisits.h"

enum { PART = 50, POLICIES = 6, HORIZONS = 5, CHURNS = 4 };

static const lab_policy policies[POLICIES] = {
    {.name = LAB_KEPT, .every = 0, .filters = 1},
    {.name = LAB_EVERY_5, .every = 5, .filters = 1},
    {.name = LAB_EVERY_2, .every = 2, .filters = 1},
    {.name = LAB_EACH_CRAWL, .every = 1, .filters = 1},
    {.name = LAB_TWO_EPOCHS, .every = 1, .filters = 2},
    {.name = LAB_EMPTIED, .every = 1, .filters = 1, .same_salts = true},
};
const char *const lab_revisits_policies[] = {LAB_KEPT,       LAB_EVERY_5, LAB_EVERY_2, LAB_EACH_CRAWL,
                                             LAB_TWO_EPOCHS, LAB_EMPTIED, NULL};

static const unsigned horizons[HORIZONS] = {1, 2, 5, 10, LAB_REVISITS_MOST};
const char *const lab_revisits_crawls[] = {"1 crawl", "2 crawls", "5 crawls", "10 crawls", "20 crawls", NULL};

static const double churns[CHURNS] = {0, 0.01, 0.1, 0.5};
const char *const lab_revisits_churns[] = {"churn 0 %", "churn 1 %", "churn 10 %", "churn 50 %", NULL};

static const double usual_bits = 8, few_bits = 4, many_bits = 16;

static lab_revisits revisits_of(const lab_settings *settings, size_t policy, double churn, double bits)
{
    uint64_t pages = lab_urls_part(settings, PART, 1);
    return (lab_revisits){policies[policy], pages, (uint64_t)llround(churn * (double)pages), bits};
}

/* ---- measuring ---- */

/* Where the numbers of one policy go; a NULL takes none. */
typedef struct sums {
    double sum, *at_horizons, *at_end;
} sums;

static void add_up(const lab_revisits_world *world, unsigned crawls, double missed, void *context)
{
    sums *sums = context;
    (void)world;
    sums->sum += missed;
    for (size_t i = 0; i < HORIZONS && sums->at_horizons; i++)
        if (horizons[i] == crawls)
            sums->at_horizons[i] = sums->sum;
    if (sums->at_end)
        *sums->at_end = sums->sum;
}

static int measure_churn(const lab_settings *settings, uint64_t run, double churn, double *numbers)
{
    lab_revisits_world world;
    lab_revisits of = revisits_of(settings, 0, churn, usual_bits);
    int code = lab_revisits_world_make(&world, settings, run, of.pages, of.replaced);
    for (size_t i = 0; i < POLICIES && code == VIDI_OK; i++) {
        sums sums = {.at_horizons = numbers + i * HORIZONS};
        of.policy = policies[i];
        code = lab_revisits_crawl(&world, &of, LAB_REVISITS_MOST, add_up, &sums);
    }
    lab_revisits_world_free(&world);
    return code;
}

int lab_revisits_churn_0_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    return measure_churn(settings, run, churns[0], numbers);
}

int lab_revisits_churn_1_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    return measure_churn(settings, run, churns[1], numbers);
}

int lab_revisits_churn_10_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    return measure_churn(settings, run, churns[2], numbers);
}

int lab_revisits_churn_50_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    return measure_churn(settings, run, churns[3], numbers);
}

static int measure_bits(const lab_settings *settings, uint64_t run, double bits, double *numbers)
{
    lab_revisits_world world;
    lab_revisits most = revisits_of(settings, 0, churns[CHURNS - 1], bits);
    int code = lab_revisits_world_make(&world, settings, run, most.pages, most.replaced);
    for (size_t i = 0; i < POLICIES; i++)
        for (size_t j = 0; j < CHURNS && code == VIDI_OK; j++) {
            sums sums = {.at_end = &numbers[i * CHURNS + j]};
            lab_revisits of = revisits_of(settings, i, churns[j], bits);
            code = lab_revisits_crawl(&world, &of, LAB_REVISITS_MOST, add_up, &sums);
        }
    lab_revisits_world_free(&world);
    return code;
}

int lab_revisits_4_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    return measure_bits(settings, run, few_bits, numbers);
}

int lab_revisits_16_measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    return measure_bits(settings, run, many_bits, numbers);
}

/* ---- judging ---- */

/*
 * A page that is lost for several crawls counts as often, so small counts are not Poisson. Divided by the ratio of
 * variance and mean they nearly are, and shares stay what they are.
 */
static void judge(lab_entry *entry, const double *numbers, lab_theory theory)
{
    double sum = 0, ratio = fmax(1, theory.variance / theory.mean);
    for (uint64_t i = 0; i < entry->runs; i++)
        sum += numbers[i];
    lab_theory divided = {theory.mean / ratio, theory.variance / (ratio * ratio), theory.asked / ratio};
    lab_entry_sum(entry, sum / ratio, divided, LAB_PER_MILLION);
}

void lab_revisits_churn_judge(const lab_cell *cell, lab_entry *entry)
{
    size_t churn = cell->study->measure == lab_revisits_churn_50_measure   ? 3
                   : cell->study->measure == lab_revisits_churn_10_measure ? 2
                   : cell->study->measure == lab_revisits_churn_1_measure  ? 1
                                                                           : 0;
    lab_revisits of = revisits_of(cell->settings, cell->row, churns[churn], usual_bits);
    judge(entry, cell->numbers, lab_revisits_missed(&of, horizons[cell->column]));
}

void lab_revisits_bits_judge(const lab_cell *cell, lab_entry *entry)
{
    double bits = cell->study->measure == lab_revisits_4_measure ? few_bits : many_bits;
    lab_revisits of = revisits_of(cell->settings, cell->row, churns[cell->column], bits);
    judge(entry, cell->numbers, lab_revisits_missed(&of, LAB_REVISITS_MOST));
}
