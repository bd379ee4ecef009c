/*
 * `derived` is as accurate as k independent functions, measured at both ends: in arrays so small that structure among
 * the k places would show as false positives, and at 2^40 places. Two filters of different seeds lose different items.
 * And what a salt behind the URL costs with a weak function.
 *
 * Seeds are fixed. Each statistical check may fail by chance with probability TEST_ALPHA (support/stats.h). Counts of
 * independent events have exact bounds; where a sum over many filters is checked, its exact variance and a normal
 * bound.
 */
#include <math.h>
#include <stdlib.h>

#include "support/env.h"
#include "support/random.h"
#include "support/stats.h"

#include "hash/position_cases.h"

#define NORMAL_BOUND 5.58 /* standard deviations; beyond lies TEST_ALPHA */
#define HUGE_PLACES (UINT64_C(1) << 40)

static void places(const vidi__positions *positions, uint64_t number, uint64_t m, uint64_t *found)
{
    unsigned char bytes[8];
    vidi__part part = item(number, bytes);
    vidi__positions_values(positions, &part, found);
    for (unsigned i = 0; i < positions->k; i++)
        found[i] = vidi__positions_place(positions, found[i], m);
}

static void check_count(const char *what, uint64_t count, uint64_t trials, double p)
{
    test_interval bounds = test_binomial_interval(trials, p, TEST_ALPHA);
    check(test_inside(bounds, count), "%s: %llu of %llu, expected %g (%llu to %llu)", what, (unsigned long long)count,
          (unsigned long long)trials, (double)trials * p, (unsigned long long)bounds.low,
          (unsigned long long)bounds.high);
}

/* A sixteenth under the sanitizers, 32 times as many in the long run. */
static uint64_t sample_size(uint64_t n)
{
    return test_sanitized() ? n / 16 : test_long() ? 32 * n : n;
}

/* --- accuracy in small arrays ------------------------------------------------------------------------------------- */

/*
 * The probability that `asked` places, drawn at random among m, were all hit by `thrown` others. Exact: the places
 * asked for are D different ones with a probability that follows from throw to throw, and D given places are all hit
 * with the probability that inclusion and exclusion give.
 */
static double all_hit(unsigned m, unsigned thrown, unsigned asked)
{
    long double different[VIDI__K_MAX + 1] = {1}, sum = 0;
    for (unsigned i = 0; i < asked; i++)
        for (unsigned d = i + 1;; d--) {
            different[d] = different[d] * d / m + (d ? different[d - 1] * (m - d + 1) / m : 0);
            if (d == 0)
                break;
        }
    for (unsigned d = 0; d <= asked; d++) {
        long double hit = 0, choose = 1;
        for (unsigned j = 0; j <= d; choose = choose * (d - j) / (j + 1), j++)
            hit += (j % 2 ? -1 : 1) * choose * expl(thrown * log1pl(-(long double)j / m));
        sum += different[d] * hit;
    }
    return (double)sum;
}

/* False positives among `asked` items in one Bloom filter of n. */
static unsigned false_positives(const vidi__positions *positions, unsigned m, unsigned n, unsigned asked)
{
    static bool bits[4096];
    uint64_t at[VIDI__K_MAX];
    unsigned found = 0;
    memset(bits, 0, sizeof bits);
    for (unsigned i = 0; i < n; i++) {
        places(positions, i, m, at);
        for (unsigned j = 0; j < positions->k; j++)
            bits[at[j]] = true;
    }
    for (unsigned i = 0; i < asked; i++) {
        places(positions, n + i, m, at);
        unsigned hits = 0;
        while (hits < positions->k && bits[at[hits]])
            hits++;
        found += hits == positions->k;
    }
    return found;
}

static void derived_is_exact_in_small_arrays(void **state)
{
    (void)state;
    static const struct {
        unsigned m, k, n;
    } shapes[] = {{64, 3, 15},  {64, 10, 5},    {127, 4, 22},   {256, 6, 30},
                  {509, 8, 44}, {1024, 7, 101}, {4096, 3, 946}, {4096, 10, 284}};
    const unsigned asked = 1000, filters = (unsigned)sample_size(1000);
    for (size_t s = 0; s < VIDI__COUNT(shapes); s++) {
        unsigned m = shapes[s].m, k = shapes[s].k, n = shapes[s].n;
        double found = 0;
        for (unsigned i = 0; i < filters; i++) {
            vidi__seed seed = seed_of(1000 * (s + 1) + i);
            vidi__positions positions = make("", &seed, k);
            found += false_positives(&positions, m, n, asked);
        }
        /* Two questions to one filter are related through its fill: they are 2k places that were all hit. */
        double one = all_hit(m, n * k, k), two = all_hit(m, n * k, 2 * k), q = asked;
        double mean = filters * q * one, variance = filters * (q * one + q * (q - 1) * two - q * q * one * one);
        print_message("# m %u, k %u, n %u: rate %.6f, exactly %.6f, %+.2f standard deviations\n", m, k, n,
                      found / filters / q, one, (found - mean) / sqrt(variance));
        check(fabs(found - mean) <= NORMAL_BOUND * sqrt(variance), "m %u, k %u, n %u: %.0f false positives, not %.0f",
              m, k, n, found, mean);
    }
}

/* --- accuracy at 2^40 places -------------------------------------------------------------------------------------- */

static bool random_half(uint64_t place, uint64_t m)
{
    (void)m;
    return test_mix(test_mix(place ^ UINT64_C(0x243f6a8885a308d3)) + UINT64_C(0x13198a2e03707344)) & 1;
}

static bool lower_half(uint64_t place, uint64_t m)
{
    return place < m / 2;
}

static bool even(uint64_t place, uint64_t m)
{
    (void)m;
    return !(place & 1);
}

/* A property that half of all places have stands for a full array: k places all have it with probability 2^-k. */
static void derived_is_exact_at_2_to_40_places(void **state)
{
    (void)state;
    enum { K = 16 };
    static bool (*const properties[])(uint64_t place, uint64_t m) = {random_half, lower_half, even};
    static const char *const names[] = {"random half", "lower half", "even"};
    const uint64_t sizes[] = {HUGE_PLACES, HUGE_PLACES - 87}, items = sample_size(UINT64_C(1) << 21);
    vidi__seed seed = seed_of(10);
    vidi__positions positions = make("", &seed, K);
    for (size_t s = 0; s < VIDI__COUNT(sizes); s++) {
        uint64_t counts[VIDI__COUNT(properties)][K + 1] = {{0}}, at[K];
        for (uint64_t i = 0; i < items; i++) {
            places(&positions, i, sizes[s], at);
            for (size_t p = 0; p < VIDI__COUNT(properties); p++)
                for (unsigned k = 0; k < K && properties[p](at[k], sizes[s]); k++)
                    counts[p][k + 1]++;
        }
        for (size_t p = 0; p < VIDI__COUNT(properties); p++) {
            print_message("# %s: 8 places %llu times, expected %.0f; 16 places %llu times, expected %.0f\n", names[p],
                          (unsigned long long)counts[p][8], ldexp((double)items, -8), (unsigned long long)counts[p][16],
                          ldexp((double)items, -16));
            for (unsigned k = 1; k <= K; k++)
                check_count(names[p], counts[p][k], items, ldexp(1, -(int)k));
        }
    }
}

/* Places of one quarter of the array, each with the number of its item behind it, to be sorted. */
typedef struct sample {
    uint64_t *entries, *spare;
    size_t count, room;
} sample;

enum { ID_BITS = 24, ITEM_K = 16 };

static void sort_by_place(sample *all)
{
    for (unsigned shift = ID_BITS; shift < 64; shift += 10) {
        size_t starts[1024] = {0}, sum = 0;
        for (size_t i = 0; i < all->count; i++)
            starts[all->entries[i] >> shift & 1023]++;
        for (size_t i = 0; i < VIDI__COUNT(starts); i++) {
            size_t here = starts[i];
            starts[i] = sum;
            sum += here;
        }
        for (size_t i = 0; i < all->count; i++)
            all->spare[starts[all->entries[i] >> shift & 1023]++] = all->entries[i];
        uint64_t *sorted = all->spare;
        all->spare = all->entries;
        all->entries = sorted;
    }
}

typedef struct collisions {
    uint64_t count;                /* pairs of equal places */
    uint64_t pairs[1024];          /* the two items of each */
    uint64_t low[1024], top[1024]; /* how many places have these last or first ten bits */
} collisions;

static void collect(sample *all, const vidi__positions *positions, uint64_t m, uint64_t items, unsigned quarter,
                    collisions *found)
{
    uint64_t at[ITEM_K];
    all->count = 0;
    for (uint64_t i = 0; i < items; i++) {
        places(positions, i, m, at);
        for (unsigned j = 0; j < ITEM_K; j++) {
            if (at[j] >> 38 != quarter)
                continue;
            assert_true(all->count < all->room);
            all->entries[all->count++] = at[j] << ID_BITS | i << 4 | j;
            found->low[at[j] & 1023]++;
            found->top[at[j] >> 30]++;
        }
    }
}

static void find_collisions(const sample *all, collisions *found)
{
    for (size_t i = 1; i < all->count; i++)
        for (size_t j = i; j-- && all->entries[j] >> ID_BITS == all->entries[i] >> ID_BITS;) {
            uint64_t a = (all->entries[i] & ((1u << ID_BITS) - 1)) >> 4;
            uint64_t b = (all->entries[j] & ((1u << ID_BITS) - 1)) >> 4;
            assert_true(found->count < VIDI__COUNT(found->pairs));
            found->pairs[found->count++] = a < b ? a << 32 | b : b << 32 | a;
        }
}

/* Wilson and Hilferty: the cube root of chi-square over its degrees of freedom is very nearly normal. */
static void check_even(const char *what, const uint64_t counts[1024], uint64_t total)
{
    double expected = (double)total / 1024, chi = 0, d = 1023;
    for (unsigned i = 0; i < 1024; i++)
        chi += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    double z = (cbrt(chi / d) - (1 - 2 / (9 * d))) / sqrt(2 / (9 * d));
    print_message("# %s: chi-square %.0f with 1023 degrees of freedom, %+.2f standard deviations\n", what, chi, z);
    check(fabs(z) <= NORMAL_BOUND, "%s: chi-square %g with 1023 degrees of freedom", what, chi);
}

static void check_collisions(const collisions *found, uint64_t total)
{
    double expected = (double)total * (double)(total - 1) / 2 / (double)HUGE_PLACES;
    print_message("# %llu collisions, expected %.1f\n", (unsigned long long)found->count, expected);
    check(test_inside(test_poisson_interval(expected, TEST_ALPHA), found->count), "%llu collisions, expected %g",
          (unsigned long long)found->count, expected);
    for (size_t i = 0; i < found->count; i++) /* two places in common: 2^-26 is expected */
        for (size_t j = 0; j < i; j++)
            check(found->pairs[i] != found->pairs[j], "items %llu and %llu share two places",
                  (unsigned long long)(found->pairs[i] >> 32), (unsigned long long)(found->pairs[i] & UINT32_MAX));
    check_even("last ten bits", found->low, total);
}

static void places_collide_as_often_as_random_ones(void **state)
{
    (void)state;
    const uint64_t sizes[] = {HUGE_PLACES, HUGE_PLACES - 87}, items = UINT64_C(1) << (test_sanitized() ? 16 : 20);
    sample all = {.room = (size_t)items * ITEM_K / 4 + (1 << 15)};
    all.entries = malloc(all.room * sizeof all.entries[0]);
    all.spare = malloc(all.room * sizeof all.spare[0]);
    assert_non_null(all.entries);
    assert_non_null(all.spare);
    vidi__seed seed = seed_of(11);
    vidi__positions positions = make("", &seed, ITEM_K);
    for (size_t s = 0; s < VIDI__COUNT(sizes); s++) {
        static collisions found;
        memset(&found, 0, sizeof found);
        for (unsigned quarter = 0; quarter < 4; quarter++) {
            collect(&all, &positions, sizes[s], items, quarter, &found);
            sort_by_place(&all);
            find_collisions(&all, &found);
        }
        check_collisions(&found, items * ITEM_K);
        check_even("first ten bits", found.top, items * ITEM_K);
    }
    free(all.entries);
    free(all.spare);
}

/* --- one filter and another --------------------------------------------------------------------------------------- */

/* Bit by bit: one item's values under two seeds, and two values under one seed, agree half the time. */
static void values_of_different_seeds_are_unrelated(void **state)
{
    (void)state;
    enum { K = 4, ROWS = K + K * (K - 1) / 2 };
    const uint64_t items = sample_size(200000);
    vidi__seed seed = seed_of(12), first = vidi__seed_child(&seed, "member", 0, 2),
               second = vidi__seed_child(&seed, "member", 1, 2);
    vidi__positions a = make("", &first, K), b = make("", &second, K);
    static uint64_t agreed[ROWS][64];
    for (uint64_t i = 0; i < items; i++) {
        unsigned char bytes[8];
        uint64_t va[K], vb[K], same[ROWS];
        vidi__part part = item(i, bytes);
        vidi__positions_values(&a, &part, va);
        vidi__positions_values(&b, &part, vb);
        unsigned rows = 0;
        for (unsigned j = 0; j < K; j++) {
            same[rows++] = ~(va[j] ^ vb[j]);
            for (unsigned k = 0; k < j; k++)
                same[rows++] = ~(va[j] ^ va[k]);
        }
        for (unsigned row = 0; row < ROWS; row++)
            for (unsigned bit = 0; bit < 64; bit++)
                agreed[row][bit] += same[row] >> bit & 1;
    }
    test_interval bounds = test_binomial_interval(items, 0.5, TEST_ALPHA / (ROWS * 64));
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned bit = 0; bit < 64; bit++)
            check(test_inside(bounds, agreed[row][bit]), "row %u, bit %u: %llu of %llu agree", row, bit,
                  (unsigned long long)agreed[row][bit], (unsigned long long)items);
}

static bool all_set(const vidi__positions *positions, const bool *bits, uint64_t m, uint64_t number)
{
    uint64_t at[VIDI__K_MAX];
    places(positions, number, m, at);
    for (unsigned j = 0; j < positions->k; j++)
        if (!bits[at[j]])
            return false;
    return true;
}

/* The point of the spatial and temporal strategies: what one filter loses is no likelier to be lost by the other. */
static void filters_of_different_seeds_lose_different_items(void **state)
{
    (void)state;
    enum { M = 1 << 16, K = 4, N = 11357 };
    static bool bits[2][M];
    const uint64_t asked = sample_size(UINT64_C(1) << 20);
    vidi__seed seed = seed_of(13);
    vidi__positions schemes[2];
    double rate[2];
    for (unsigned f = 0; f < 2; f++) {
        vidi__seed child = vidi__seed_child(&seed, "member", f, 2);
        schemes[f] = make("", &child, K);
        uint64_t at[K], set = 0;
        for (unsigned i = 0; i < N; i++) {
            places(&schemes[f], i, M, at);
            for (unsigned j = 0; j < K; j++)
                bits[f][at[j]] = true;
        }
        for (unsigned i = 0; i < M; i++)
            set += bits[f][i];
        rate[f] = vidi__power((double)set / M, K);
    }
    uint64_t lost[2] = {0}, both = 0;
    for (uint64_t i = N; i < N + asked; i++) {
        bool a = all_set(&schemes[0], bits[0], M, i), b = all_set(&schemes[1], bits[1], M, i);
        lost[0] += a;
        lost[1] += b;
        both += a && b;
    }
    check_count("first filter", lost[0], asked, rate[0]);
    check_count("second filter", lost[1], asked, rate[1]);
    check_count("both filters", both, asked, rate[0] * rate[1]);
    print_message("# lost by both: %llu, expected %.1f\n", (unsigned long long)both, (double)asked * rate[0] * rate[1]);
}

/* --- prefix and suffix -------------------------------------------------------------------------------------------- */

typedef struct loss {
    uint64_t found;
    double rate; /* expected, from the fill */
} loss;

/* n items in, `asked` others asked for, in a filter of M = 8 bits a place. */
static loss measure_loss(const char *params, unsigned k, uint64_t n, uint64_t asked)
{
    vidi__seed seed = seed_of(14);
    vidi__positions positions = make(params, &seed, k);
    uint64_t m = n * k * 8, set = 0, at[VIDI__K_MAX];
    bool *bits = calloc(m, 1);
    assert_non_null(bits);
    for (uint64_t i = 0; i < n; i++) {
        places(&positions, test_mix(i), m, at);
        for (unsigned j = 0; j < k; j++)
            bits[at[j]] = true;
    }
    for (uint64_t i = 0; i < m; i++)
        set += bits[i];
    loss result = {0, vidi__power((double)set / (double)m, k)};
    for (uint64_t i = n; i < n + asked; i++)
        result.found += all_set(&positions, bits, m, test_mix(i));
    free(bits);
    return result;
}

/* Two inputs in 2^32 have the same state of 32 bits before the salt comes, and then the same places for all salts. */
static void a_salt_behind_is_much_worse_than_one_in_front(void **state)
{
    (void)state;
    const uint64_t n = 200000, asked = sample_size(700000);
    loss front = measure_loss("hash=oaat,salt=prefix", 6, n, asked);
    loss behind = measure_loss("hash=oaat,salt=suffix", 6, n, asked);
    double floor_rate = (double)n / 4294967296.0;
    print_message("# prefix: %llu lost, expected %.1f; suffix: %llu lost, its floor %.1f above the expected %.1f\n",
                  (unsigned long long)front.found, (double)asked * front.rate, (unsigned long long)behind.found,
                  (double)asked * floor_rate, (double)asked * behind.rate);
    check_count("prefix", front.found, asked, front.rate);
    if (test_sanitized())
        return; /* too few for the other half */
    check(behind.found > 5 * front.found, "suffix loses %llu, prefix %llu", (unsigned long long)behind.found,
          (unsigned long long)front.found);
    check(behind.found > test_binomial_interval(asked, behind.rate, TEST_ALPHA).high, "suffix loses only %llu",
          (unsigned long long)behind.found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derived_is_exact_in_small_arrays),
        cmocka_unit_test(derived_is_exact_at_2_to_40_places),
        cmocka_unit_test(places_collide_as_often_as_random_ones),
        cmocka_unit_test(values_of_different_seeds_are_unrelated),
        cmocka_unit_test(filters_of_different_seeds_lose_different_items),
        cmocka_unit_test(a_salt_behind_is_much_worse_than_one_in_front),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
