/*
 * multilayer-false: the multi-layer paper's figure 3, with the searches of its section 1.1. n URLs are inserted and n
 * others looked up. Filters are so large that they lose a tenth when they are full. Exact kinds must lose nothing, and
 * are counted too.
 *
 * Algorithms 1 and 2 insert the segments of a URL into one Bloom filter. So a URL is falsely seen if all its unknown
 * segments hit set bits. We count the different segments and the unknown ones from the texts.
 */
#include <math.h>
#include <string.h>

#include "lab/multilayer/multilayer.h"

enum { LIST, SORTED, HASHSET, CLASSIC, SEGMENTS, SEGMENTS_EXPECTED, LAYERED, LAYERED_EXPECTED, ROWS };
/* Each lookup in a list and each add compares all its URLs, so we use few. */
enum { COLUMNS = 4, LIST_URLS = 2000, LIST_ASKED = 100 };

static const char *const false_rows[] = {
    "linear search", "binary search",       "hash table",
    "classic",       "classic of segments", "classic of segments expected",
    "multilayer",    "multilayer expected", NULL,
};
const char *const lab_multilayer_figure_columns[] = {"12.5 k", "25 k", "37.5 k", "50 k", NULL};

static uint64_t urls_at(const lab_settings *settings, size_t column)
{
    return lab_multilayer_urls(settings, LAB_LAYERS_PART) * (column + 1) / COLUMNS;
}

static double bits(const lab_settings *settings)
{
    return lab_multilayer_bits((double)lab_multilayer_urls(settings, LAB_LAYERS_PART), LAB_LAYERS_MOST);
}

typedef struct bench {
    const lab_settings *settings;
    uint64_t run;
    vidi_set *sets[ROWS]; /* NULL for expected figures */
    lab_multilayer_tally tally;
    lab_multilayer_map segments; /* in one array */
} bench;

static int make(bench *bench)
{
    static const char *const kinds[ROWS] = {"list",    "sorted", "hashset",    "classic",
                                            "classic", NULL,     "multilayer", NULL};
    static const char *const more[ROWS] = {
        [CLASSIC] = "", [SEGMENTS] = ",of=segments,scheme=strip", [LAYERED] = LAB_LAYERS_PARAMS};
    for (size_t row = 0; row < ROWS; row++)
        if (more[row])
            LAB_TRY(lab_set(&bench->sets[row], bench->settings, bench->run, kinds[row], 0, "m=%.0f,k=%d%s",
                            bits(bench->settings), LAB_LAYERS_K, more[row]));
        else if (kinds[row])
            LAB_TRY(lab_set(&bench->sets[row], bench->settings, bench->run, kinds[row], 0, "multiset=off"));
    return VIDI_OK;
}

static int insert(bench *bench, uint64_t first, uint64_t last)
{
    char buffer[LAB_URL_ROOM];
    vidi_str segments[LAB_LAYERS_SEGMENTS_MAX];
    for (uint64_t i = first; i < last; i++) {
        vidi_str url = lab_multilayer_url(buffer, bench->settings, bench->run, i);
        for (size_t row = 0; row < ROWS; row++)
            if (bench->sets[row] && (row != LIST || i < LIST_URLS))
                LAB_TRY(vidi_add(bench->sets[row], url));
        LAB_TRY(lab_multilayer_tally_add(&bench->tally, url));
        size_t count = lab_multilayer_cut(url, LAB_LAYERS_SEGMENTS_MAX, segments);
        for (size_t j = 0; j < count; j++)
            LAB_TRY(lab_multilayer_map_add(&bench->segments, lab_multilayer_hash(segments[j])));
    }
    return VIDI_OK;
}

/* The probability that all unknown segments of a URL hit set bits in one array; equal segments count once. */
static double expect_segments(const bench *bench, vidi_str url, lab_fill fill)
{
    vidi_str segments[LAB_LAYERS_SEGMENTS_MAX];
    uint64_t unknown[LAB_LAYERS_SEGMENTS_MAX];
    size_t count = lab_multilayer_cut(url, LAB_LAYERS_SEGMENTS_MAX, segments), met = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = lab_multilayer_hash(segments[i]);
        size_t j = 0;
        while (j < met && unknown[j] != hash)
            j++;
        if (j == met && !lab_multilayer_map_count(&bench->segments, hash))
            unknown[met++] = hash;
    }
    return lab_fill_power(fill, LAB_LAYERS_K * (double)met);
}

static int ask(const bench *bench, uint64_t n, double numbers[ROWS])
{
    char buffer[LAB_URL_ROOM];
    double m = bits(bench->settings);
    lab_multilayer_view view = lab_multilayer_view_of(&bench->tally, m, LAB_LAYERS_K);
    lab_fill fill = lab_fill_after(LAB_LAYERS_K * (double)bench->segments.used, m);
    uint64_t others = lab_multilayer_urls(bench->settings, LAB_LAYERS_PART);
    for (uint64_t i = 0; i < n; i++) {
        vidi_str url = lab_multilayer_url(buffer, bench->settings, bench->run, others + i);
        for (size_t row = 0; row < ROWS; row++)
            if (bench->sets[row] && (row != LIST || i < LIST_ASKED))
                LAB_TRY(lab_multilayer_ask(bench->sets[row], url, &numbers[row]));
        numbers[SEGMENTS_EXPECTED] += expect_segments(bench, url, fill);
        numbers[LAYERED_EXPECTED] += lab_multilayer_expect(&view, url);
    }
    return VIDI_OK;
}

static int measure_false(const lab_settings *settings, uint64_t run, double *numbers)
{
    bench bench = {.settings = settings, .run = run};
    uint64_t before = 0;
    LAB_TRY(make(&bench));
    for (size_t column = 0; column < COLUMNS; column++) {
        uint64_t n = urls_at(settings, column);
        double counts[ROWS] = {0};
        LAB_TRY(insert(&bench, before, n));
        LAB_TRY(ask(&bench, n, counts));
        for (size_t row = 0; row < ROWS; row++)
            numbers[row * COLUMNS + column] = counts[row];
        before = n;
    }
    return VIDI_OK;
}

static void judge_false(const lab_cell *cell, lab_entry *entry)
{
    double n = (double)urls_at(cell->settings, cell->column), m = bits(cell->settings);
    lab_theory classic = lab_multilayer_classic(n, n, m, LAB_LAYERS_K);
    switch (cell->row) {
    case CLASSIC:
        lab_entry_count(entry, cell->numbers, classic, 100);
        break;
    case SEGMENTS:
    case LAYERED:
        lab_multilayer_judge_expected(cell->all, (cell->row + 1) * COLUMNS + cell->column, cell->numbers, entry, m,
                                      LAB_LAYERS_K, n, 100);
        break;
    case SEGMENTS_EXPECTED:
    case LAYERED_EXPECTED:
        lab_entry_scale(entry, 100 / n);
        break;
    default:
        lab_entry_count(entry, cell->numbers, (lab_theory){.asked = cell->row == LIST ? fmin(n, LIST_ASKED) : n}, 100);
    }
}

LAB_STUDY(multilayer_false, "multilayer-false", "False positives against the number of URLs",
          "the multi-layer paper, figure 3",
          LAB_LAYERS_SCALED
          "The paper prints the plot without its numbers. k = 3, and m such that a tenth of the other URLs is "
          "falsely seen at 50,000 URLs; schemes are stripped. 'Of segments' is algorithms 1 and 2 as printed. "
          "The expected figures follow from the numbers of different segments, which are counted. Linear "
          "search has 2,000 URLs and looks up 100.",
          "%", false_rows, lab_multilayer_figure_columns, .plot = {.x = "URLs (thousands)", .y = "false positives (%)"},
          .measure = measure_false, .judge = judge_false);
