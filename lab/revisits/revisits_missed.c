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
static const char *const policy_names[] = {LAB_KEPT,       LAB_EVERY_5, LAB_EVERY_2, LAB_EACH_CRAWL,
                                           LAB_TWO_EPOCHS, LAB_EMPTIED, NULL};

static const unsigned horizons[HORIZONS] = {1, 2, 5, 10, LAB_REVISITS_MOST};
const char *const lab_revisits_crawls[] = {"1 crawl", "2 crawls", "5 crawls", "10 crawls", "20 crawls", NULL};

static const double churns[CHURNS] = {0, 0.01, 0.1, 0.5};
static const char *const churn_names[] = {"churn 0 %", "churn 1 %", "churn 10 %", "churn 50 %", NULL};

static const double usual_bits = 8;

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

static int measure_churn(const lab_settings *settings, uint64_t run, double *numbers)
{
    lab_revisits_world world;
    lab_revisits revisits = revisits_of(settings, 0, *(const double *)settings->study->with, usual_bits);
    LAB_TRY(lab_revisits_world_make(&world, settings, run, revisits.pages, revisits.replaced));
    for (size_t i = 0; i < POLICIES; i++) {
        sums sums = {.at_horizons = numbers + i * HORIZONS};
        revisits.policy = policies[i];
        LAB_TRY(lab_revisits_crawl(&world, &revisits, LAB_REVISITS_MOST, add_up, &sums));
    }
    return VIDI_OK;
}

static int measure_bits(const lab_settings *settings, uint64_t run, double *numbers)
{
    double bits = *(const double *)settings->study->with;
    lab_revisits_world world;
    lab_revisits most = revisits_of(settings, 0, churns[CHURNS - 1], bits);
    LAB_TRY(lab_revisits_world_make(&world, settings, run, most.pages, most.replaced));
    for (size_t i = 0; i < POLICIES; i++)
        for (size_t j = 0; j < CHURNS; j++) {
            sums sums = {.at_end = &numbers[i * CHURNS + j]};
            lab_revisits revisits = revisits_of(settings, i, churns[j], bits);
            LAB_TRY(lab_revisits_crawl(&world, &revisits, LAB_REVISITS_MOST, add_up, &sums));
        }
    return VIDI_OK;
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

static void judge_churn(const lab_cell *cell, lab_entry *entry)
{
    lab_revisits revisits = revisits_of(cell->settings, cell->row, *(const double *)cell->study->with, usual_bits);
    judge(entry, cell->numbers, lab_revisits_missed(&revisits, horizons[cell->column]));
}

static void judge_bits(const lab_cell *cell, lab_entry *entry)
{
    lab_revisits revisits =
        revisits_of(cell->settings, cell->row, churns[cell->column], *(const double *)cell->study->with);
    judge(entry, cell->numbers, lab_revisits_missed(&revisits, LAB_REVISITS_MOST));
}

#define WORLD "A fiftieth of the URLs are pages; each crawl meets them in an order of its own. "
#define GONE "A filter that is kept also keeps the pages that are gone."

/* A table of page-crawls missed over time; a table of page-crawls missed in 20 crawls. */
#define OVER_TIME(name, churn, what, remark)                                                                           \
    {                                                                                                                  \
        .id = (name), .title = "Page-crawls missed with 8 bits per page, if " what, .source = "vidi",                  \
        .note = WORLD remark, .unit = "page-crawls per million", .rows = policy_names, .columns = lab_revisits_crawls, \
        .work = 0.2, .plot = {.x = "crawls", .y = "page-crawls missed per million", .log_x = true, .log_y = true},     \
        .with = &churns[churn], .measure = measure_churn, .judge = judge_churn                                         \
    }
#define IN_ALL(bits)                                                                                                   \
    {                                                                                                                  \
        .id = "revisits-" #bits "-bits", .title = "Page-crawls missed in 20 crawls with " #bits " bits per page",      \
        .source = "vidi", .note = WORLD GONE, .unit = "page-crawls per million", .rows = policy_names,                 \
        .columns = churn_names, .work = 0.8,                                                                           \
        .plot = {.x = "churn in %", .y = "page-crawls missed per million", .log_y = true},                             \
        .with = &(const double){bits}, .measure = measure_bits, .judge = judge_bits                                    \
    }

const lab_study lab_study_revisits_churn_0 =
    OVER_TIME("revisits-churn-0", 0, "pages never change",
              "A page-crawl is missed if a page exists and that crawl does not fetch it.");
const lab_study lab_study_revisits_churn_1 =
    OVER_TIME("revisits-churn-1", 1, "1 % of the pages is replaced between crawls", GONE);
const lab_study lab_study_revisits_churn_10 =
    OVER_TIME("revisits-churn-10", 2, "10 % of the pages are replaced between crawls", GONE);
const lab_study lab_study_revisits_churn_50 =
    OVER_TIME("revisits-churn-50", 3, "half of the pages are replaced between crawls", GONE);
const lab_study lab_study_revisits_4_bits = IN_ALL(4);
const lab_study lab_study_revisits_16_bits = IN_ALL(16);
