/*
 * multilayer-cross: URLs that were never inserted, made of segments that were. For each of G groups, three URLs are
 * inserted,
 *
 *   http://h/a/b/c    http://i/b/a/d    http://j/e/x/x        (all letters with the group's number)
 *
 * and these are looked up:
 *
 *   a segment of another    h/a'/b/c    a' from the next group: the paper's reason for the XOR layer
 *   permuted                h/b/a/c     b and a are known in these layers too, and the XOR is that of h/a/b/c
 *   shortened               j/e         x^x = 0, so the XOR is that of j/e/x/x
 *   another pair            j/e/x'/x'   the same
 *   https for http          scheme=strip makes the two equal
 *   new page                h/a/b/new   one unknown segment
 *
 * The kind has no parameter that turns the XOR layer off. The column without it has a classic set for each of the four
 * layers, which gets the segments as texts: the paper's first version. Theory predicts every cell: certainly seen, or a
 * product of powers of fills.
 */
#include <math.h>
#include <stdio.h>

#include "lab/multilayer/multilayer.h"

enum { OTHERS_SEGMENT, PERMUTED, SHORTENED, OTHER_PAIR, OTHER_SCHEME, NEW_PAGE, ROWS };
enum { AS_PAPER, MENDED, NO_XOR, OF_SEGMENTS, OF_URLS, COLUMNS };
enum { INSERTED = 3 };

static const char *const cross_rows[] = {"a segment of another",
                                         "permuted",
                                         "shortened by an equal pair",
                                         "another equal pair",
                                         "https for http",
                                         "new page",
                                         NULL};
static const char *const cross_columns[] = {"multilayer, as the paper", "multilayer, layers salted",
                                            "layers without the XOR",   "classic of segments",
                                            "classic of URLs",          NULL};

static uint64_t groups(const lab_settings *settings)
{
    return lab_multilayer_urls(settings, 60);
}

static double bits(const lab_settings *settings)
{
    return lab_multilayer_bits(INSERTED * (double)groups(settings), LAB_LAYERS_MOST);
}

typedef struct bench {
    vidi_set *sets[COLUMNS]; /* NULL for NO_XOR */
    vidi_set *layers[LAB_LAYERS];
} bench;

static int make(bench *bench, const lab_settings *settings, uint64_t run)
{
    static const char *const kinds[COLUMNS] = {"multilayer", "multilayer", NULL, "classic", "classic"};
    static const char *const more[COLUMNS] = {
        [AS_PAPER] = LAB_LAYERS_PARAMS,
        [MENDED] = ",L=4,layersalt=on,xor=hash,scheme=keep",
        [OF_SEGMENTS] = ",of=segments,scheme=strip",
        [OF_URLS] = "",
    };
    double m = bits(settings);
    for (size_t i = 0; i < COLUMNS; i++)
        if (kinds[i])
            LAB_TRY(lab_set(&bench->sets[i], settings, run, kinds[i], 0, "m=%.0f,k=%d%s", m, LAB_LAYERS_K, more[i]));
    for (size_t i = 0; i < LAB_LAYERS; i++)
        LAB_TRY(lab_set(&bench->layers[i], settings, run, "classic", 0, "m=%.0f,k=%d", m, LAB_LAYERS_K));
    return VIDI_OK;
}

static int insert(bench *bench, vidi_str url)
{
    vidi_str segments[LAB_LAYERS];
    size_t count = lab_multilayer_cut(lab_multilayer_strip(url), LAB_LAYERS, segments);
    for (size_t i = 0; i < COLUMNS; i++)
        if (bench->sets[i])
            LAB_TRY(vidi_add(bench->sets[i], url));
    for (size_t i = 0; i < count; i++)
        LAB_TRY(vidi_add(bench->layers[i], segments[i]));
    return VIDI_OK;
}

static int ask(const bench *bench, vidi_str url, double *numbers)
{
    vidi_str segments[LAB_LAYERS];
    size_t count = lab_multilayer_cut(lab_multilayer_strip(url), LAB_LAYERS, segments);
    double known = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        if (bench->sets[i])
            LAB_TRY(lab_multilayer_ask(bench->sets[i], url, &numbers[i]));
    for (size_t i = 0; i < count; i++)
        LAB_TRY(lab_multilayer_ask(bench->layers[i], segments[i], &known));
    numbers[NO_XOR] += known >= (double)count ? 1 : 0;
    return VIDI_OK;
}

/* In a pattern, '#' stands for the number of the group and an apostrophe for that of the next group. */
static vidi_str make_url(char *buffer, const char *form, uint64_t group, uint64_t all)
{
    unsigned long long next = (group + 1) % all;
    size_t length = 0;
    for (; *form; form++)
        if (*form == '#' || *form == '\'')
            length += (size_t)snprintf(buffer + length, LAB_URL_ROOM - length, "%llu",
                                       *form == '#' ? (unsigned long long)group : next);
        else
            buffer[length++] = *form;
    return (vidi_str){buffer, length};
}

static int measure(bench *bench, uint64_t all, double *numbers)
{
    static const char *const put[INSERTED] = {"http://h#/a#/b#/c#", "http://i#/b#/a#/d#", "http://j#/e#/x#/x#"};
    static const char *const asked[ROWS] = {"http://h#/a'/b#/c#", "http://h#/b#/a#/c#",  "http://j#/e#",
                                            "http://j#/e#/x'/x'", "https://h#/a#/b#/c#", "http://h#/a#/b#/new#"};
    char buffer[LAB_URL_ROOM];
    for (uint64_t group = 0; group < all; group++)
        for (size_t i = 0; i < INSERTED; i++)
            LAB_TRY(insert(bench, make_url(buffer, put[i], group, all)));
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
        numbers[i] = 0;
    for (uint64_t group = 0; group < all; group++)
        for (size_t i = 0; i < ROWS; i++)
            LAB_TRY(ask(bench, make_url(buffer, asked[i], group, all), numbers + i * COLUMNS));
    return VIDI_OK;
}

static int measure_cross(const lab_settings *settings, uint64_t run, double *numbers)
{
    bench bench = {{NULL}, {NULL}};
    LAB_TRY(make(&bench, settings, run));
    return measure(&bench, groups(settings), numbers);
}

/* In how many filters a lookup has to hit set bits by chance; 0: it is certainly seen. */
static const unsigned hits[ROWS][COLUMNS] = {
    [OTHERS_SEGMENT] = {1, 1, 0, 0, 1}, [PERMUTED] = {0, 1, 0, 0, 1},     [SHORTENED] = {0, 1, 0, 0, 1},
    [OTHER_PAIR] = {0, 1, 0, 0, 1},     [OTHER_SCHEME] = {0, 2, 0, 0, 1}, [NEW_PAGE] = {2, 2, 1, 1, 1},
};

static void judge_cross(const lab_cell *cell, lab_entry *entry)
{
    double asked = (double)groups(cell->settings), n = INSERTED * asked, m = bits(cell->settings);
    /* The letters a, b and x occur in two layers; in one array, a group has nine letters: h a b c i d j e x. */
    double different = cell->column == OF_SEGMENTS ? 9 * asked : n;
    lab_fill fill = lab_fill_after(LAB_LAYERS_K * different, m), fills[2] = {fill, fill};
    lab_theory theory = lab_multilayer_asked(asked, LAB_LAYERS_K, fills, hits[cell->row][cell->column]);
    lab_entry_count(entry, cell->numbers, theory, 100);
}

LAB_STUDY(multilayer_cross, "multilayer-cross", "URLs that were never inserted, made of segments that were",
          "the multi-layer paper, introduction of the multi-layer filter",
          LAB_LAYERS_SCALED
          "50,000 URLs inserted, k = 3, m = 4.8 n per layer. As the paper: schemes are stripped, and all layers "
          "have the same functions. Salted: each layer has its own, and schemes are kept. Without the XOR: "
          "four classic filters, one for each layer, because the kind has no such parameter.",
          "%", cross_rows, cross_columns, .measure = measure_cross, .judge = judge_cross);
