/*
 * The temporal strategy delays pages instead of losing them (the thesis, section 4.2): a page that is falsely seen
 * waits for the next crawl. We count which pages wait, and for how many crawls.
 *
 * Three crawls with new salts add n URLs each. All crawls meet the URLs in the same order, or each in a different one.
 * A page is delayed by at least e crawls if the first e of them answer "seen". The last tenth are the pages that the
 * first crawl meets last.
 *
 * Theory for the URLs a to n - 1 in the same order: as in theory.c, the count minus its mean is a sum of martingale
 * differences. But URLs before a do not count themselves, and a bit that such a URL sets matters only from a on: W_i
 * has P_max(i,a) instead of P_i.
 */
#include <math.h>
#include <stdlib.h>

#include "lab/engine/run_memory.h"
#include "lab/thesis/further.h"

enum { K = 3, CRAWLS = 3, ORDERS = 2, COLUMNS = 4, PART = 4, PIECES = 4096 };
#define M 2.0

static const char *const delay_rows[] = {"by 1 crawl or more", "by 2 crawls or more", "by 3 crawls or more", NULL};
static const char *const delay_columns[] = {"same order", "other order", "last tenth, same order",
                                            "last tenth, other order", NULL};

/* Memory for one order: hits[i] belongs to the URL that the first crawl meets as number i. */
typedef struct desk {
    lab_texts texts;
    uint32_t *order;
    vidi_str *shuffled;
    unsigned char *hits, *shuffled_hits;
} desk;

static int desk_make(desk *desk, const lab_settings *settings, uint64_t run, uint64_t n)
{
    LAB_TRY(lab_texts_make(&desk->texts, settings, run, 0, n));
    LAB_TRY(LAB_NEW(desk->order, n));
    LAB_TRY(LAB_NEW(desk->shuffled, n));
    LAB_TRY(LAB_NEW(desk->hits, n));
    return LAB_NEW(desk->shuffled_hits, n);
}

/* A URL that every crawl so far has seen has one hit from each; the other URLs no longer matter. */
static int crawl_shuffled(desk *desk, vidi_set *set, const lab_settings *settings, uint64_t run, unsigned crawl)
{
    uint64_t n = desk->texts.count;
    lab_shuffle(desk->order, n, settings->seed, run, crawl);
    for (uint64_t i = 0; i < n; i++) {
        desk->shuffled[i] = desk->texts.urls[desk->order[i]];
        desk->shuffled_hits[i] = desk->hits[desk->order[i]];
    }
    LAB_TRY(lab_texts_add(set, desk->shuffled, n, desk->shuffled_hits));
    for (uint64_t i = 0; i < n; i++)
        desk->hits[desk->order[i]] = desk->shuffled_hits[i];
    return VIDI_OK;
}

static int crawl_again(desk *desk, vidi_set *set, const lab_settings *settings, uint64_t run, unsigned crawl,
                       bool shuffled)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    next.capacity = desk->texts.count;
    if (crawl > 0)
        LAB_TRY(vidi_rotate(set, &next));
    if (shuffled && crawl > 0)
        return crawl_shuffled(desk, set, settings, run, crawl);
    LAB_TRY(lab_texts_add(set, desk->texts.urls, desk->texts.count, desk->hits));
    return VIDI_OK;
}

static double count_delayed(const desk *desk, uint64_t first, unsigned crawls)
{
    uint64_t count = 0;
    for (uint64_t i = first; i < desk->texts.count; i++)
        count += desk->hits[i] == crawls;
    return (double)count;
}

static uint64_t last_tenth(uint64_t n)
{
    return n - n / 10;
}

static int measure_order(const lab_settings *settings, uint64_t run, bool shuffled, double *numbers)
{
    uint64_t n = lab_further_urls(settings, PART);
    desk desk;
    LAB_OWN(lab_close) vidi_set *set = NULL;
    LAB_TRY(desk_make(&desk, settings, run, n));
    LAB_TRY(lab_set_make(&set, settings, run, "classic", "k=3,M=2.0,mode=salted,hash=jenkins", n));
    for (unsigned crawl = 0; crawl < CRAWLS; crawl++) {
        LAB_TRY(crawl_again(&desk, set, settings, run, crawl, shuffled));
        numbers[COLUMNS * crawl + shuffled] = count_delayed(&desk, 0, crawl + 1);
        numbers[COLUMNS * crawl + ORDERS + shuffled] = count_delayed(&desk, last_tenth(n), crawl + 1);
    }
    return VIDI_OK;
}

static int measure_delay(const lab_settings *settings, uint64_t run, double *numbers)
{
    LAB_TRY(measure_order(settings, run, false, numbers));
    return measure_order(settings, run, true, numbers);
}

/* ---- theory ---- */

/* Theory for the URLs `first` to n - 1: how many are falsely seen by all of the filters, which fill up with n URLs. */
static lab_theory stretch(double n, double first, unsigned filters)
{
    double m = lab_bits(n, K, M), power = (double)K * filters, pieces = fmin(n, PIECES), piece = n / pieces;
    double last = pow(-expm1(K * n * log1p(-1 / m)), power), from = pow(-expm1(K * first * log1p(-1 / m)), power);
    lab_theory sum = {.asked = n - first};
    for (double i = 0; i < pieces; i++) {
        double at = (i + 0.5) * piece - 0.5, fill = at > 0 ? -expm1(K * at * log1p(-1 / m)) : 0;
        double inside = fmin(1, fmax(0, (i + 1) * piece - first) / piece); /* the share of this piece that counts */
        double p = pow(fill, power), later = last - (inside > 0 ? p : from);
        sum.mean += piece * inside * p;
        sum.variance += piece * (inside * (p * (1 - p) - 2 * p * later) + later * later * fill / ((1 - fill) * power));
    }
    return sum;
}

static lab_theory other_order(double n, double first, unsigned crawls)
{
    lab_theory met = stretch(n, first, 1), again = stretch(n, 0, 1);
    for (unsigned i = 1; i < crawls; i++)
        met = lab_meeting_theory(met, again, n);
    return met;
}

static void judge_delay(const lab_cell *cell, lab_entry *entry)
{
    uint64_t urls = lab_further_urls(cell->settings, PART);
    double n = (double)urls, first = cell->column < ORDERS ? 0 : (double)last_tenth(urls);
    unsigned crawls = (unsigned)cell->row + 1;
    lab_theory theory = cell->column % ORDERS == 0 ? stretch(n, first, crawls) : other_order(n, first, crawls);
    lab_entry_count(entry, cell->numbers, theory, 100);
}

LAB_STUDY(further_delay, "further-delay", "Temporal strategy, incremental: which pages wait, and for how many crawls",
          "the thesis, sections 4.2 and 5.7.1",
          "n is a quarter of the URLs. Jenkins, salted, k = 3, M = 2.0. The last tenth: pages that the first crawl "
          "meets last.",
          "%", delay_rows, delay_columns, .measure = measure_delay, .judge = judge_delay);
