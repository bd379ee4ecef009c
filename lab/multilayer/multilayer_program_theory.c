/*
 * How many URLs the paper's own program should falsely see, from the texts alone.
 *
 * A URL is seen if the unknown ones among its segments find set bits in their layers, and the XOR of all addresses does
 * so in the last array. The XOR of the known addresses is known, c. With u random addresses more, the XOR has the bit
 * 2^b with probability
 *
 *   (1 - (1 - 2 s)(1 - 2 t)^u) / 2,       s: whether c has that bit;  t = (m - 2^b) / m
 *
 * and its lower bits are random. That gives the probabilities of the three regions (multilayer_program.h), which have
 * different fills. As in multilayer_theory.c, URLs that differ in the last segment alone set bits in its layer and in
 * the last array together: equal addresses stay equal after the XOR.
 */
#include "lab/multilayer/multilayer_program.h"

#include <math.h>

enum { DEPTH_BITS = 1023 }; /* of a class, for the number of segments */

/* Where the regions begin. */
typedef struct borders {
    uint64_t power, wrapped; /* 2^b and 2^(b+1) - m */
    double with_bit;         /* t */
} borders;

static borders borders_of(uint64_t m)
{
    uint64_t power = 1;
    while (2 * power <= m)
        power *= 2;
    return (borders){power, 2 * power - m, (double)(m - power) / (double)m};
}

static size_t region_of(borders borders, uint64_t place)
{
    return place < borders.wrapped ? 0 : place < borders.power ? 1 : 2;
}

/* ---- tallies ---- */

typedef struct hashes {
    uint64_t of[LAB_LAYERS_PROGRAM_SEGMENTS], all, before;
} hashes;

static void hash_segments(hashes *hashes, const lab_multilayer_program_url *url)
{
    hashes->all = hashes->before = 0;
    for (size_t i = 0; i < url->count; i++) {
        hashes->of[i] = lab_multilayer_hash(url->segments[i]);
        hashes->before = hashes->all;
        hashes->all ^= hashes->of[i];
    }
}

static uint64_t class_of(const hashes *hashes, size_t segments)
{
    return (hashes->before & ~(uint64_t)DEPTH_BITS) | segments;
}

int lab_multilayer_program_tally_add(lab_multilayer_program_tally *tally, const lab_multilayer_program_url *url)
{
    hashes hashes;
    hash_segments(&hashes, url);
    for (size_t i = 0; i < url->count; i++)
        LAB_TRY(lab_multilayer_map_add(&tally->segments[i], hashes.of[i]));
    int is_new = lab_multilayer_map_add(&tally->urls, hashes.all);
    if (is_new != 1)
        return is_new;
    LAB_TRY(lab_multilayer_map_add(&tally->classes, class_of(&hashes, url->count)));
    borders borders = borders_of(tally->m);
    for (uint32_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++) {
        uint64_t combined = 0;
        for (size_t i = 0; i < url->count; i++)
            combined ^= url->addresses[i][j];
        tally->marks[region_of(borders, combined % tally->m)]++;
    }
    return VIDI_OK;
}

void lab_multilayer_program_tally_end(lab_multilayer_program_tally *tally)
{
    borders borders = borders_of(tally->m);
    const double sizes[LAB_LAYERS_PROGRAM_REGIONS] = {
        (double)borders.wrapped, (double)(borders.power - borders.wrapped), (double)(tally->m - borders.power)};
    for (size_t r = 0; r < LAB_LAYERS_PROGRAM_REGIONS; r++)
        tally->fills[r] = sizes[r] > 1 ? lab_fill_after(tally->marks[r], sizes[r]).mean : tally->marks[r] > 0;
    for (size_t i = 0; i < LAB_LAYERS_PROGRAM_SEGMENTS; i++)
        tally->layers[i] =
            lab_fill_after(LAB_LAYERS_PROGRAM_K * (double)tally->segments[i].used, (double)tally->m).mean;
}

/* ---- expectations ---- */

/* What is unknown of a URL: how many segments, and which layer the last of them belongs to. */
typedef struct unknown {
    size_t count, last;
    bool is[LAB_LAYERS_PROGRAM_SEGMENTS];
} unknown;

static void find_unknown(unknown *unknown, const lab_multilayer_program_tally *tally, const hashes *hashes,
                         size_t segments)
{
    unknown->count = unknown->last = 0;
    for (size_t i = 0; i < segments; i++) {
        unknown->is[i] = !lab_multilayer_map_count(&tally->segments[i], hashes->of[i]);
        unknown->count += unknown->is[i];
        unknown->last = unknown->is[i] ? i : unknown->last;
    }
}

/*
 * The probability that one function finds its bit set both in the last array and in a layer with this fill (1: the
 * layers are counted elsewhere). `known` is the XOR of the known addresses, `unknown` the number of random ones, and
 * `coupled` how many of the bits at a place in the layer have a bit at the same place after the XOR.
 */
static double one_function(const lab_multilayer_program_tally *tally, borders borders, uint64_t known, size_t unknown,
                           double layer, double coupled)
{
    if (unknown == 0)
        return tally->fills[region_of(borders, known % tally->m)];
    double sign = known & borders.power ? -1 : 1, sum = 0;
    double bit = (1 - sign * pow(1 - 2 * borders.with_bit, (double)unknown)) / 2;
    double wrapped = (double)borders.wrapped / (double)borders.power;
    const double weights[LAB_LAYERS_PROGRAM_REGIONS] = {wrapped, (1 - bit) * (1 - wrapped), bit * (1 - wrapped)};
    for (size_t r = 0; r < LAB_LAYERS_PROGRAM_REGIONS; r++)
        sum += weights[r] * (layer * tally->fills[r] + (1 - layer) * (1 - tally->fills[r]) * expm1(coupled));
    return sum;
}

double lab_multilayer_program_expect(const lab_multilayer_program_tally *tally, const lab_multilayer_program_url *url)
{
    hashes hashes;
    unknown unknown;
    double p = 1;
    hash_segments(&hashes, url);
    find_unknown(&unknown, tally, &hashes, url->count);
    if (unknown.count == 0 && lab_multilayer_map_count(&tally->urls, hashes.all))
        return 1;
    borders borders = borders_of(tally->m);
    bool page = unknown.count == 1 && unknown.last == url->count - 1;
    double near = page ? lab_multilayer_map_count(&tally->classes, class_of(&hashes, url->count)) : 0;
    double coupled = near * (url->count == 1 ? LAB_LAYERS_PROGRAM_K : 1) / (double)tally->m;
    for (size_t i = 0; i < url->count && !page; i++)
        if (unknown.is[i])
            p *= pow(tally->layers[i], LAB_LAYERS_PROGRAM_K);
    for (size_t j = 0; j < LAB_LAYERS_PROGRAM_K && p > 0; j++) {
        uint64_t known = 0;
        for (size_t i = 0; i < url->count; i++)
            known ^= unknown.is[i] ? 0 : url->addresses[i][j];
        p *= one_function(tally, borders, known, unknown.count, page ? tally->layers[unknown.last] : 1, coupled);
    }
    return p;
}

/*
 * The sum over all addresses a of the host. It is set in the first layer by n URLs with k functions each. Its place in
 * the last array, after the XOR with the address c of the empty segment, is set by function i if one of the two numbers
 * that come to that place is an address XOR c_i. The host's own function sets both bits together.
 */
double lab_multilayer_program_expect_home(uint64_t n, uint64_t m)
{
    enum { SETTERS_MOST = 2 * LAB_LAYERS_PROGRAM_K };
    uint64_t empty[LAB_LAYERS_PROGRAM_K], beyond = 2 * borders_of(m).power;
    double per_address = (double)n / (double)m, unset = exp(-LAB_LAYERS_PROGRAM_K * per_address), p = 1;
    double unset_by[SETTERS_MOST + 1];
    for (size_t i = 0; i <= SETTERS_MOST; i++)
        unset_by[i] = exp(-(double)i * per_address);
    for (uint32_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++)
        empty[j] = lab_multilayer_program_address((vidi_str){"", 0}, j, m);
    for (size_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++) {
        double sum = 0;
        for (uint64_t a = 0; a < m; a++) {
            uint64_t place = (a ^ empty[j]) % m;
            size_t setters = 0;
            for (size_t i = 0; i < LAB_LAYERS_PROGRAM_K; i++) {
                setters += (place ^ empty[i]) < m;
                setters += place + m < beyond && ((place + m) ^ empty[i]) < m;
            }
            sum += 1 - unset - unset_by[setters] + unset * unset_by[setters] / unset_by[1];
        }
        p *= sum / (double)m;
    }
    return p;
}
