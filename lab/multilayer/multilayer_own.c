/*
 * multilayer-own: the multi-layer paper's own runs. Of 1,562,978 rows half were inserted and half looked up; p = 0.05,
 * m = 6.235 n, k = 4. The paper counted URLs that occur in both halves as false positives, and computed shares of all
 * rows, which are twice the lookups.
 *
 * Its data are not available. So some of our lookups repeat inserted URLs, 11,900 of 781,489: as many as the published
 * count of the classic filter exceeds what its fill explains. The only other interpretation, that all rows were
 * inserted, would make the classic filter lose 78,600.
 */
#include <math.h>
#include <stdio.h>

#include "lab/multilayer/multilayer.h"

enum { CLASSIC, LAYERED, EXPECTED, ROWS };
enum { SEEN, FALSELY, COLUMNS };
enum { OWN_K = 4 };

#define OWN_BITS 6.235

static const char *const own_rows[] = {"classic", "multilayer", "multilayer expected", NULL};
static const char *const own_columns[] = {"seen", "falsely seen", NULL};

static uint64_t inserted(const lab_settings *settings)
{
    return lab_multilayer_urls(settings, LAB_LAYERS_PART);
}

static uint64_t repeated(const lab_settings *settings)
{
    return (uint64_t)(LAB_LAYERS_OWN_REPEATED / LAB_LAYERS_OWN_ASKED * (double)inserted(settings) + 0.5);
}

static double bits(const lab_settings *settings)
{
    return ceil(OWN_BITS * (double)inserted(settings));
}

typedef struct bench {
    const lab_settings *settings;
    uint64_t run;
    vidi_set *classic, *multilayer;
    lab_multilayer_tally tally;
} bench;

static int make(bench *bench)
{
    double m = bits(bench->settings);
    LAB_TRY(lab_set(&bench->classic, bench->settings, bench->run, "classic", 0, "hash=murmur3,m=%.0f,k=%d", m, OWN_K));
    return lab_set(&bench->multilayer, bench->settings, bench->run, "multilayer", 0,
                   "hash=murmur3,m=%.0f,k=%d" LAB_LAYERS_PARAMS, m, OWN_K);
}

static int measure(bench *bench, double *numbers)
{
    uint64_t n = inserted(bench->settings), again = repeated(bench->settings);
    char buffer[LAB_URL_ROOM];
    double *seen = numbers, *falsely = numbers + 1; /* of row r: at [r * COLUMNS] */
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
        numbers[i] = 0;
    for (uint64_t i = 0; i < n; i++) {
        vidi_str url = lab_multilayer_url(buffer, bench->settings, bench->run, i);
        LAB_TRY(vidi_add(bench->classic, url));
        LAB_TRY(vidi_add(bench->multilayer, url));
        LAB_TRY(lab_multilayer_tally_add(&bench->tally, url));
    }
    lab_multilayer_view view = lab_multilayer_view_of(&bench->tally, bits(bench->settings), OWN_K);
    view.kept = 0; /* 32-bit values find places by remainder, and XOR does not keep equal places equal */
    for (uint64_t i = 0; i < n; i++) {
        double *into = i < again ? seen : falsely;
        vidi_str url = lab_multilayer_url(buffer, bench->settings, bench->run, i < again ? i : n + i);
        LAB_TRY(lab_multilayer_ask(bench->classic, url, &into[CLASSIC * COLUMNS]));
        LAB_TRY(lab_multilayer_ask(bench->multilayer, url, &into[LAYERED * COLUMNS]));
        into[EXPECTED * COLUMNS] += lab_multilayer_expect(&view, url);
    }
    for (size_t row = 0; row < ROWS; row++)
        seen[row * COLUMNS] += falsely[row * COLUMNS];
    return VIDI_OK;
}

static int measure_own(const lab_settings *settings, uint64_t run, double *numbers)
{
    bench bench = {.settings = settings, .run = run};
    LAB_TRY(make(&bench));
    return measure(&bench, numbers);
}

/*
 * Converts counts to the paper's rows. Neither published count is judged: the number of repetitions was derived from
 * the classic count, and the multilayer count depends on the paper's URLs.
 */
static void judge_own(const lab_cell *cell, lab_entry *entry)
{
    double n = (double)inserted(cell->settings), again = (double)repeated(cell->settings),
           scale = LAB_LAYERS_OWN_ASKED / n;
    lab_theory classic = lab_multilayer_classic(n - again, n, bits(cell->settings), OWN_K);
    classic = (lab_theory){classic.mean + (cell->column == SEEN ? again : 0), classic.variance, n};
    if (cell->row == CLASSIC)
        lab_entry_count(entry, cell->numbers, classic, n * scale);
    else if (cell->row == LAYERED)
        lab_multilayer_judge_expected(cell->all, EXPECTED * COLUMNS + cell->column, cell->numbers, entry,
                                      bits(cell->settings), OWN_K, n, n * scale);
    else {
        lab_entry_scale(entry, scale);
    }
    entry->printed = lab_published_find(lab_published_all, cell->study->id, entry->row, entry->column);
    entry->published = entry->printed ? lab_figure_read(entry->printed).percent : (double)NAN;
    entry->basis = entry->printed && cell->row == CLASSIC ? LAB_FITTED : LAB_NOT_JUDGED;
    if (entry->printed && entry->verdict != LAB_FAILS)
        snprintf(entry->remark, sizeof entry->remark, "%s",
                 cell->row == CLASSIC ? "the number of repetitions was chosen to match this count"
                                      : "apart from the repetitions it depends on the segments of the paper's URLs");
}

LAB_STUDY(multilayer_own, "multilayer-own", "The paper's own runs: how much of its counts theory explains",
          "the multi-layer paper, experiment and results",
          "p = 0.05, m = 6.235 n, k = 4; n is a twentieth of --urls, and counts are converted to the paper's "
          "1,562,978 rows, half of which are inserted. Its data are not available: our URLs are synthetic, 1.52 % "
          "of the lookups are of inserted URLs. MurmurHash3 with salts, and the XOR of hashes.",
          "URLs", own_rows, own_columns, .measure = measure_own, .judge = judge_own);
