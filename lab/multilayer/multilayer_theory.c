/*
 * Probability theory for layers (theory.c has it for one filter), and the sizes and sets of the experiments.
 *
 * Consider a URL whose last segment y is new, after segments whose hashes XOR to c. It is seen if for every function
 * the bit of h(y) is set in the layer and the bit of h(y)^c in the XOR layer. An inserted URL with the same c and the
 * last segment x has set the bits of h(x) and h(x)^c. If h(y) has the same place as h(x), then h(y)^c has the same
 * place as h(x)^c: always, if places are the first bits of the hashes (m is a power of two), and otherwise with a
 * probability that lab_multilayer_kept finds. So the bits of the `near` URLs with this c count once instead of twice:
 *
 *   P(both set) = 1 - q^(ks) - q^(kn) + q^(ks + kn - near),       q = 1 - 1/m
 *
 * for s different segments in the layer and n URLs. The paper assumes that all layers are independent, which would give
 * (1 - q^(ks))(1 - q^(kn)). For one directory of n pages (near = s = n) and a nearly empty filter the former is n/m and
 * the latter (kn/m)^2. If there are no other segments, c = 0 for every function: both layers are the same, all k bits
 * of a URL are common, and the probability is that of one layer, 1 - q^(kn).
 */
#include <math.h>
#include <stdio.h>

#include "lab/urls/mix.h"
#include "lab/multilayer/multilayer.h"

enum { URLS_LEAST = 200 };

const char *const lab_multilayer_sizes[LAB_LAYERS_SIZES + 1] = {"1.0 M", "1.5 M", "2.0 M", "2.5 M",
                                                                "3.0 M", "3.5 M", NULL};

double lab_multilayer_size(size_t index)
{
    return LAB_LAYERS_LEAST + 5e5 * (double)index;
}

uint64_t lab_multilayer_urls(const lab_settings *settings, uint64_t part)
{
    uint64_t urls = settings->urls / part;
    return urls < URLS_LEAST ? URLS_LEAST : urls;
}

double lab_multilayer_bits(double n, double original)
{
    return ceil(LAB_LAYERS_M / original * n);
}

lab_theory lab_multilayer_asked(double asked, double k, const lab_fill *fills, size_t count)
{
    double p = 1, spread = 1;
    for (size_t i = 0; i < count; i++) {
        p *= lab_fill_power(fills[i], k);
        spread *= 1 + k * k * fills[i].variance / (fills[i].mean * fills[i].mean);
    }
    return (lab_theory){asked * p, asked * p * (1 - p) + asked * (asked - 1) * p * p * (spread - 1), asked};
}

lab_theory lab_multilayer_classic(double asked, double n, double m, double k)
{
    lab_fill fill = lab_fill_after(k * n, m);
    return lab_multilayer_asked(asked, k, &fill, 1);
}

#define VALUES 18446744073709551616.0 /* the number of 64-bit values */

/* Estimated by trials, which are always the same. */
double lab_multilayer_kept(double m)
{
    enum { TRIES = 20000 };
    uint64_t state = 1, places = (uint64_t)m, kept = 0;
    double width = VALUES / m;
    for (int i = 0; i < TRIES; i++) {
        uint64_t numbers[3];
        for (int j = 0; j < 3; j++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            numbers[j] = state ^ (state >> 29);
        }
        uint64_t place = lab_scale(numbers[0], places);
        /* another hash with the same place */
        uint64_t begin = (uint64_t)((((unsigned __int128)place << 64) + places - 1) / places);
        uint64_t other = begin + (uint64_t)((double)numbers[1] / VALUES * width * 0.999999);
        kept += lab_scale(numbers[0] ^ numbers[2], places) == lab_scale(other ^ numbers[2], places);
    }
    return (double)kept / TRIES;
}

double lab_multilayer_both(lab_multilayer_pair pair, double m, double k)
{
    lab_fill layer = lab_fill_after(k * pair.segments, m), last = lab_fill_after(k * pair.n, m);
    double coupled = pair.common * pair.near;
    double marks = k * (pair.segments + pair.n), rate = log1p(-1 / m);
    double both = layer.mean * last.mean + exp(marks * rate) * expm1(-coupled * rate);
    double straight = layer.mean * last.mean;
    return lab_fill_power(layer, k) * lab_fill_power(last, k) * pow(both / straight, k);
}

/* Fills vary from run to run; the relative variance of each layer's is at most 1/(2m). */
void lab_multilayer_judge_expected(const lab_numbers *all, size_t cell, const double *numbers, lab_entry *entry,
                                   double m, double k, double asked, double unit)
{
    double mean = 0, runs = (double)entry->runs;
    size_t cells = lab_study_rows(all->study) * lab_study_columns(all->study);
    for (uint64_t run = 0; run < entry->runs; run++)
        mean += all->numbers[run * cells + cell] / runs;
    double variance = mean * (1 - mean / asked) + k * k * mean * mean / m;
    lab_entry_count(entry, numbers, (lab_theory){mean, variance, asked}, unit);
}

int lab_multilayer_ask(const vidi_set *set, vidi_str url, double *count)
{
    int verdict = vidi_has(set, url);
    if (verdict == VIDI_SEEN)
        *count += 1;
    return verdict < 0 ? verdict : VIDI_OK;
}
