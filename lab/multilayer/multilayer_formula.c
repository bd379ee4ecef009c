/*
 * The multi-layer paper's formulas, compared with filters and with arithmetic.
 *
 * multilayer-formula     the paper's formula (1-e^(-kn/m))^(kL) and the measured rates for five sorts of URLs: with n
 *                    different segments in a layer or only one, unknown in all layers, in the last one, or in none. The
 *                    formula is right for none of them: it would be for URLs unknown in all layers, but its exponent
 *                    leaves out the XOR layer.
 * multilayer-addresses   the XOR of addresses below m may lie beyond the array if m is not a power of two.
 */
#include <math.h>
#include <stdio.h>

#include "lab/urls/mix.h"
#include "lab/multilayer/multilayer.h"

/* ---- sorts of URLs ---- */

enum { ALL_NEW, LAST_NEW, ONE_DIRECTORY, HOSTS_ALONE, ALL_KNOWN, FORMULA, FORMULA_COLUMNS = 3 };

static const char *const formula_rows[] = {"all segments new",
                                           "last segment new",
                                           "new page of one directory",
                                           "new host alone",
                                           "all segments known",
                                           "the paper's formula",
                                           NULL};
static const char *const formula_columns[] = {"m = 2.4 n", "m = 4.8 n", "m = 16 n", NULL};
static const double ratios[FORMULA_COLUMNS] = {2.4, 4.8, 16};

typedef struct shape {
    double n, m;
} shape;

/* m is a power of two, so that addresses can be XORed as in the paper. */
static shape shape_of(const lab_settings *settings, size_t column)
{
    double m = 64;
    while (2 * m <= ratios[column] * (double)lab_multilayer_urls(settings, LAB_LAYERS_PART))
        m *= 2;
    return (shape){floor(m / ratios[column]), m};
}

/* URL number i to insert, or with `asked`, the URL to look up that is made of it. */
static vidi_str make_url(char *buffer, size_t sort, uint64_t i, uint64_t n, bool asked)
{
    unsigned long long number = i, other = asked ? i + n : i, next = asked ? (i + 1) % n : i;
    int length = 0;
    switch (sort) {
    case ALL_NEW:
        length = snprintf(buffer, LAB_URL_ROOM, "host%llu/a%llu/b%llu/page%llu", other, other, other, other);
        break;
    case LAST_NEW:
        length = snprintf(buffer, LAB_URL_ROOM, "host%llu/a/b/page%llu", number, other);
        break;
    case ONE_DIRECTORY:
        length = snprintf(buffer, LAB_URL_ROOM, "host/a/b/page%llu", other);
        break;
    case HOSTS_ALONE:
        length = snprintf(buffer, LAB_URL_ROOM, "host%llu", other);
        break;
    case ALL_KNOWN:
        length = snprintf(buffer, LAB_URL_ROOM, "host%llu/a%llu/b%llu/page%llu", number, next, number, number);
    }
    return (vidi_str){buffer, (size_t)length};
}

static int measure_sort(vidi_set *set, size_t sort, uint64_t n, double *count)
{
    char buffer[LAB_URL_ROOM];
    for (uint64_t i = 0; i < n; i++)
        LAB_TRY(vidi_add(set, make_url(buffer, sort, i, n, false)));
    *count = 0;
    for (uint64_t i = 0; i < n; i++)
        LAB_TRY(lab_multilayer_ask(set, make_url(buffer, sort, i, n, true), count));
    return VIDI_OK;
}

static double formula(shape shape)
{
    return pow(1 - exp(-LAB_LAYERS_K * shape.n / shape.m), LAB_LAYERS_K * LAB_LAYERS);
}

static int measure_formula(const lab_settings *settings, uint64_t run, double *numbers)
{
    for (size_t column = 0; column < FORMULA_COLUMNS; column++) {
        shape shape = shape_of(settings, column);
        for (size_t sort = 0; sort < FORMULA; sort++) {
            vidi_set *set;
            LAB_BLOCK;
            LAB_TRY(lab_set(&set, settings, run, "multilayer", 0,
                            "m=%.0f,k=%d,L=%d,layersalt=off,xor=address,scheme=strip", shape.m, LAB_LAYERS_K,
                            LAB_LAYERS));
            LAB_TRY(measure_sort(set, sort, (uint64_t)shape.n, &numbers[sort * FORMULA_COLUMNS + column]));
        }
        numbers[FORMULA * FORMULA_COLUMNS + column] = 100 * formula(shape);
    }
    return VIDI_OK;
}

/*
 * If all lookups have the same other segments, the places that are hit in both layers are the intersection of one array
 * with the other array, displaced by the same distance each time. So there is one random draw for each function, whose
 * size is hypergeometric.
 */
static lab_theory displaced(shape shape)
{
    lab_fill fill = lab_fill_after(LAB_LAYERS_K * shape.n, shape.m);
    double p = lab_multilayer_both((lab_multilayer_pair){shape.n, shape.n, shape.n, 1}, shape.m, LAB_LAYERS_K),
           mean = shape.n * p;
    double odds = (1 - fill.mean) / fill.mean;
    double spread = (LAB_LAYERS_K * odds * odds + 2 * LAB_LAYERS_K * LAB_LAYERS_K) / shape.m;
    return (lab_theory){mean, mean * (1 - p) + mean * mean * spread, shape.n};
}

/* For hosts alone the XOR layer is a copy of the first layer. */
static lab_theory theory_of(size_t sort, shape shape)
{
    lab_fill fill = lab_fill_after(LAB_LAYERS_K * shape.n, shape.m);
    lab_fill fills[LAB_LAYERS + 1] = {fill, fill, fill, fill, fill};
    if (sort == ONE_DIRECTORY)
        return displaced(shape);
    return lab_multilayer_asked(shape.n, LAB_LAYERS_K, fills,
                                sort == ALL_NEW    ? LAB_LAYERS + 1
                                : sort == LAST_NEW ? 2
                                                   : 1);
}

static void judge_formula(const lab_cell *cell, lab_entry *entry)
{
    shape shape = shape_of(cell->settings, cell->column);
    if (cell->row == FORMULA)
        return;
    lab_theory theory = theory_of(cell->row, shape);
    lab_entry_count(entry, cell->numbers, theory, 100);
    double ratio = theory.mean / shape.n / formula(shape);
    if (entry->verdict != LAB_FAILS)
        snprintf(entry->remark, sizeof entry->remark, "theory is %.*f times the paper's formula",
                 lab_multilayer_decimals(ratio), ratio);
}

/* ---- addresses ---- */

enum { ONE_ADDRESS, ONE_OF_A_URL, ADDRESS_COLUMNS, ADDRESS_ROWS = 3, ADDRESS_PART = 10 };

static const char *const addresses_rows[] = {"m = 16829152, the original", "m = 4872584, the study's runs",
                                             "m = 16777216, a power of two", NULL};
static const char *const addresses_columns[] = {"addresses beyond the array", "URLs with such an address", NULL};
static const double array_sizes[ADDRESS_ROWS] = {16829152, 4872584, 16777216};

/* The XOR of a random address below m from each layer. */
static uint64_t draw_combined(uint64_t *state, uint64_t run, uint64_t m)
{
    uint64_t combined = 0;
    for (int layer = 0; layer < LAB_LAYERS; layer++) {
        *state = lab_run_start(*state, run);
        combined ^= lab_scale(*state, m);
    }
    return combined;
}

static int measure_addresses(const lab_settings *settings, uint64_t run, double *numbers)
{
    uint64_t state = lab_run_start(settings->seed, run);
    for (size_t row = 0; row < ADDRESS_ROWS; row++) {
        uint64_t m = (uint64_t)array_sizes[row];
        double addresses = 0, urls = 0;
        for (uint64_t i = 0; i < lab_multilayer_urls(settings, ADDRESS_PART); i++) {
            unsigned beyond = 0;
            for (int j = 0; j < LAB_LAYERS_K; j++)
                beyond += draw_combined(&state, run, m) >= m;
            addresses += beyond;
            urls += beyond > 0;
        }
        numbers[row * ADDRESS_COLUMNS + ONE_ADDRESS] = addresses;
        numbers[row * ADDRESS_COLUMNS + ONE_OF_A_URL] = urls;
    }
    return VIDI_OK;
}

/*
 * Let 2^b be the greatest power of two up to m. An address has bit b with probability t = (m - 2^b)/m, and the XOR of
 * four addresses has it if one or three of them do. The lower bits of the XOR are then uniformly random, because at
 * least one address lacks bit b: the XOR lies beyond the array unless they are below m - 2^b.
 */
static double beyond(double m)
{
    double power = exp2(floor(log2(m))), with_bit = (m - power) / m;
    return (1 - pow(1 - 2 * with_bit, LAB_LAYERS)) / 2 * (1 - (m - power) / power);
}

static void judge_addresses(const lab_cell *cell, lab_entry *entry)
{
    double p = beyond(array_sizes[cell->row]), asked = (double)lab_multilayer_urls(cell->settings, ADDRESS_PART);
    if (cell->column == ONE_ADDRESS)
        asked *= LAB_LAYERS_K;
    else
        p = 1 - pow(1 - p, LAB_LAYERS_K);
    lab_entry_count(entry, cell->numbers, (lab_theory){asked * p, asked * p * (1 - p), asked}, 100);
}

LAB_STUDY(multilayer_formula, "multilayer-formula", "The paper's formula compared with five sorts of URLs",
          "the multi-layer paper, analysis",
          "k = 3, L = 4, XOR of addresses, m a power of two near --urls / 20 times m/n. The formula is "
          "(1-e^(-kn/m))^(kL).",
          "%", formula_rows, formula_columns, .measure = measure_formula, .judge = judge_formula);

LAB_STUDY(multilayer_addresses, "multilayer-addresses", "XOR of four addresses below m: how many leave the array",
          "the multi-layer paper, algorithm 3",
          "k = 3, random addresses. The study's runs are the paper's own, with 6.235 bits for each of 781,489 URLs.",
          "%", addresses_rows, addresses_columns, .measure = measure_addresses, .judge = judge_addresses);
