/*
 * What probability says of layers: see lab/theory.c for one filter.
 *
 * A URL that is new in its last segment y, behind segments whose hashes XOR to c, is seen if for every function j the
 * place of h(y) is marked in the layer and that of h(y)^c in the XOR layer. A URL that was inserted with the same c and
 * the last segment x marked h(x) and h(x)^c. If h(y) falls on the place of h(x), then h(y)^c falls on that of h(x)^c:
 * always if places are the hashes' first bits (m a power of two), and otherwise with a chance that layers_kept finds.
 * So of the marks of both layers that could be missed, those of the `near` URLs with this c count once instead of
 * twice:
 *
 *   P(both marked) = 1 - q^(ks) - q^(kn) + q^(ks + kn - near),       q = 1 - 1/m
 *
 * for s different segments in the layer and n URLs. The paper takes all layers for independent, where it would be
 * (1 - q^(ks))(1 - q^(kn)). For one directory of n pages (near = s = n) and a filter that is nearly empty the former is
 * n/m and the latter (kn/m)^2. Without other segments c = 0 for every function: both layers are one and the same, all k
 * marks of a URL are common, and the chance is that of one layer, 1 - q^(kn).
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "lab/layers.h"

const char *const layers_sizes[LAYERS_SIZES + 1] = {"1.0 M", "1.5 M", "2.0 M", "2.5 M", "3.0 M", "3.5 M", NULL};

double layers_size(size_t index)
{
    return 1e6 + 5e5 * (double)index;
}

uint64_t layers_urls(const lab_settings *settings, uint64_t divisor)
{
    uint64_t urls = settings->urls / divisor;
    return urls < 200 ? 200 : urls;
}

layers_fill layers_fill_after(double marks, double m)
{
    double clear = exp(marks * log1p(-1 / m));
    double variance = -clear * expm1(marks * log1p(-1 / (m - 1))) / m +
                      clear * clear * expm1(marks * log1p(-1 / ((m - 1) * (m - 1))));
    return (layers_fill){1 - clear, variance > 0 ? variance : 0};
}

double layers_power(layers_fill fill, double k)
{
    return pow(fill.mean, k) + k * (k - 1) / 2 * pow(fill.mean, k - 2) * fill.variance;
}

lab_theory layers_asked(double asked, double k, const layers_fill *fills, size_t count)
{
    double p = 1, spread = 1;
    for (size_t i = 0; i < count; i++) {
        p *= layers_power(fills[i], k);
        spread *= 1 + k * k * fills[i].variance / (fills[i].mean * fills[i].mean);
    }
    return (lab_theory){asked * p, asked * p * (1 - p) + asked * (asked - 1) * p * p * (spread - 1), asked};
}

lab_theory layers_classic(double asked, double n, double m, double k)
{
    layers_fill fill = layers_fill_after(k * n, m);
    return layers_asked(asked, k, &fill, 1);
}

/* By trying, always in the same way. */
double layers_kept(double m)
{
    enum { TRIES = 20000 };
    uint64_t state = 1, places = (uint64_t)m, kept = 0;
    double width = 18446744073709551616.0 / m;
    for (int i = 0; i < TRIES; i++) {
        uint64_t numbers[3];
        for (int j = 0; j < 3; j++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            numbers[j] = state ^ (state >> 29);
        }
        uint64_t place = (uint64_t)((unsigned __int128)numbers[0] * places >> 64);
        /* another hash that falls on that place */
        uint64_t begin = (uint64_t)((((unsigned __int128)place << 64) + places - 1) / places);
        uint64_t other = begin + (uint64_t)((double)numbers[1] / 18446744073709551616.0 * width * 0.999999);
        kept += (uint64_t)((unsigned __int128)(numbers[0] ^ numbers[2]) * places >> 64) ==
                (uint64_t)((unsigned __int128)(other ^ numbers[2]) * places >> 64);
    }
    return (double)kept / TRIES;
}

double layers_both(layers_pair pair, double m, double k)
{
    layers_fill layer = layers_fill_after(k * pair.segments, m), last = layers_fill_after(k * pair.n, m);
    double coupled = pair.common * pair.near;
    double marks = k * (pair.segments + pair.n), rate = log1p(-1 / m);
    double both = layer.mean * last.mean + exp(marks * rate) * expm1(-coupled * rate);
    double straight = layer.mean * last.mean;
    return layers_power(layer, k) * layers_power(last, k) * pow(both / straight, k);
}

/* The fills vary from run to run: each layer's by at most 1/(2m) of its square, at any fill. */
void layers_judge_expected(const lab_numbers *all, size_t cell, const double *numbers, lab_entry *entry, double m,
                           double k, double asked, double unit)
{
    double mean = 0, runs = (double)entry->runs;
    size_t cells = lab_study_rows(all->study) * lab_study_columns(all->study);
    for (uint64_t run = 0; run < entry->runs; run++)
        mean += all->numbers[run * cells + cell] / runs;
    lab_entry_count(entry, numbers, mean, mean * (1 - mean / asked) + k * k * mean * mean / m, asked, unit);
}

int layers_set(vidi_set **set, const lab_settings *settings, uint64_t run, const char *kind, const char *params, ...)
{
    char text[256];
    va_list rest;
    va_start(rest, params);
    vsnprintf(text, sizeof text, params, rest);
    va_end(rest);
    *set = NULL;
    return lab_set_make(set, settings, run, kind, text, 0);
}

int layers_ask(const vidi_set *set, vidi_str url, double *count)
{
    int verdict = vidi_has(set, url);
    if (verdict == VIDI_SEEN)
        *count += 1;
    return verdict < 0 ? verdict : VIDI_OK;
}
