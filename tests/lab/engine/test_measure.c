/*
 * What the lab measures: the same as the public interface would, where theory says it is, and, with a broken filter,
 * where theory says that goes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/cells.h"
#include "lab/judge/verdict.h"
#include "support/runner.h"

static void every_cell_fits_theory(void **state)
{
    static lab_config configs[CELLS_MAX];
    size_t count = all_cells(configs);
    lab_settings settings = {.urls = 20000, .runs = 6, .seed = 11, .threads = 2};
    (void)state;
    lab_results results = measure(configs, count, &settings);
    for (size_t i = 0; i < count; i++) {
        lab_finding finding = lab_judge(&configs[i], &results, i, NULL);
        check(finding.fits, "cell %zu (%s, k = %u, M = %g): theory %g %%, measured %g %%, z = %.2f", i,
              configs[i].functions, configs[i].k, configs[i].multiplier, finding.theory, finding.measured, finding.z);
        check(finding.low <= finding.measured && finding.measured <= finding.high, "cell %zu: interval", i);
    }
    lab_results_free(&results);
}

/* ---- the same through the public interface ---- */

/* One set for all filters, or one for each filter of a crawl if they have different functions. */
typedef struct public_sets {
    vidi_set *sets[LAB_MEMBERS_MAX];
    unsigned count;
    char params[512]; /* of all filters, separated by '|' */
} public_sets;

/* The parameters of a filter, numbered crawl by crawl, without those of the next. */
static const char *params_of(const public_sets *sets, const lab_config *config, unsigned filter, char own[128])
{
    const char *at = sets->params;
    for (filter %= lab_functions_lists(config->functions); filter > 0; filter--)
        at = strchr(at, '|') + 1;
    snprintf(own, 128, "%.*s", (int)strcspn(at, "|"), at);
    return own;
}

static void make_sets(public_sets *made, const lab_config *config, const lab_settings *settings, uint64_t run)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    char own[128];
    lab_key(key, settings->seed, run);
    options.kind = lab_config_set(config, made->params, sizeof made->params);
    options.capacity = settings->urls;
    options.key = key;
    options.canon = "none";
    made->count = lab_functions_lists(config->functions) > 1 ? config->members : 1;
    for (unsigned i = 0; i < made->count; i++) {
        options.params = params_of(made, config, i, own);
        options.member = made->count > 1 ? i + 1 : 0;
        int code = vidi_create(&made->sets[i], &options);
        check(code == VIDI_OK, "%s %s: %s", options.kind, own, vidi_message());
    }
}

/* The next crawl: new salts, and other functions if the configuration says so. */
static void rotate_sets(public_sets *sets, const lab_config *config, const lab_settings *settings, unsigned epoch)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    char own[128];
    next.capacity = settings->urls;
    for (unsigned i = 0; i < sets->count; i++) {
        bool other = lab_functions_lists(config->functions) > 1;
        next.params = other ? params_of(sets, config, epoch * sets->count + i, own) : NULL;
        check(vidi_rotate(sets->sets[i], &next) == VIDI_OK, "%s: %s", own, vidi_message());
    }
}

/* One crawl: hits[i] goes up for each URL that all sets falsely see. */
static void crawl(const public_sets *sets, const lab_config *config, const lab_settings *settings, uint64_t run,
                  const uint32_t *order, unsigned char *hits)
{
    char url[LAB_URL_ROOM];
    for (uint64_t i = 0; i < settings->urls; i++) {
        uint64_t at = order ? order[i] : i;
        unsigned seen = 0;
        for (unsigned j = 0; j < sets->count; j++)
            seen += vidi_add(sets->sets[j], (vidi_str){url, lab_url(url, settings, run, at)}) == VIDI_SEEN;
        hits[at] = (unsigned char)(hits[at] + (config->incremental && seen == sets->count));
    }
    for (uint64_t i = 0; i < settings->urls && !config->incremental; i++) {
        vidi_str asked = {url, lab_url(url, settings, run, settings->urls + i)};
        unsigned seen = 0;
        for (unsigned j = 0; j < sets->count; j++)
            seen += vidi_has(sets->sets[j], asked) == VIDI_SEEN;
        hits[i] = (unsigned char)(hits[i] + (seen == sets->count));
    }
}

static uint64_t count_publicly(const lab_config *config, const lab_settings *settings, uint64_t run)
{
    unsigned char *hits = calloc(settings->urls, 1);
    uint32_t *order = malloc(settings->urls * sizeof *order);
    public_sets sets;
    uint64_t count = 0;
    assert_non_null(hits);
    assert_non_null(order);
    make_sets(&sets, config, settings, run);
    for (unsigned epoch = 0; epoch < config->epochs; epoch++) {
        if (epoch > 0) {
            rotate_sets(&sets, config, settings, epoch);
            lab_shuffle(order, settings->urls, settings->seed, run, epoch);
        }
        crawl(&sets, config, settings, run, config->shuffled && epoch > 0 ? order : NULL, hits);
    }
    for (uint64_t i = 0; i < settings->urls * config->tenths / LAB_TENTHS; i++)
        count += hits[i] == config->epochs;
    for (unsigned i = 0; i < sets.count; i++)
        vidi_close(sets.sets[i]);
    free(order);
    free(hits);
    return count;
}

static void every_cell_counts_as_the_public_interface_does(void **state)
{
    static lab_config configs[CELLS_MAX];
    size_t count = all_cells(configs);
    check(count + 3 < CELLS_MAX, "more than %d cells", CELLS_MAX);
    configs[count++] = (lab_config){"jenkins", 2, 1.0, 1, 3, true, true, LAB_TENTHS, NULL, false, 0};
    configs[count++] = (lab_config){"oaat|jenkins|murmur2|oaat", 1, 1.5, 2, 2, true, false, LAB_TENTHS, NULL, false, 0};
    configs[count++] = (lab_config){"murmur2|jenkins", 2, 1.0, 1, 2, false, false, LAB_TENTHS, NULL, false, 0};
    lab_settings settings = {.urls = 1500, .runs = 2, .seed = 5, .threads = 1};
    uint64_t sum = 0;
    (void)state;
    lab_results results = measure(configs, count, &settings);
    for (size_t i = 0; i < count; i++)
        for (uint64_t run = 0; run < settings.runs && !configs[i].kind; run++) {
            uint64_t wanted = count_publicly(&configs[i], &settings, run), found = lab_count(&results, run, i);
            check(found == wanted, "cell %zu (%s, k = %u, M = %g), run %llu: %llu, the public interface %llu", i,
                  configs[i].functions, configs[i].k, configs[i].multiplier, (unsigned long long)run,
                  (unsigned long long)found, (unsigned long long)wanted);
            sum += wanted;
        }
    check(sum > 10000, "only %llu false positives to compare", (unsigned long long)sum);
    lab_results_free(&results);
}

/* The counting notes: "the error probability is the same". With the same salts, the errors are. */
static void counters_err_where_bits_do(void **state)
{
    lab_config configs[] = {{"jenkins", 3, 2.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0},
                            {"jenkins", 3, 2.0, 1, 1, false, false, LAB_TENTHS, "counting", false, 0},
                            {"jenkins", 3, 2.0, 1, 1, false, false, LAB_TENTHS, "counting", true, 0}};
    lab_settings settings = {.urls = 20000, .runs = 3, .seed = 8, .threads = 1};
    (void)state;
    lab_results results = measure(configs, 3, &settings);
    assert_int_equal(results.jobs, 3);
    for (uint64_t run = 0; run < settings.runs; run++)
        for (size_t i = 1; i < 3; i++)
            check(lab_count(&results, run, i) == lab_count(&results, run, 0),
                  "run %llu: %llu with counters, %llu with bits", (unsigned long long)run,
                  (unsigned long long)lab_count(&results, run, i), (unsigned long long)lab_count(&results, run, 0));
    lab_results_free(&results);
}

/*
 * Filters without salts that share functions: the counts of many runs scatter as theory says. They are so full that
 * most of the variance comes from their fill. Chi-square is between 226 and 387 in all but one of 1,000 tries.
 */
static void counts_of_filters_that_share_functions_scatter_as_theory_says(void **state)
{
    enum { RUNS = 300, URLS = 2000 };
    lab_config configs[] = {
        {"jenkins+murmur2|jenkins+oaat", 2, 0.4, 1, 2, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins+murmur2+oaat|jenkins+murmur2+sip13", 3, 0.4, 1, 2, false, false, LAB_TENTHS, NULL, false, 0}};
    lab_settings settings = {.urls = URLS, .runs = RUNS, .seed = 4, .threads = 2};
    (void)state;
    lab_results results = measure(configs, 2, &settings);
    for (size_t i = 0; i < 2; i++) {
        lab_theory theory = lab_theory_of(&configs[i], URLS);
        double chi_square = 0, sum = (double)lab_total(&results, i);
        for (uint64_t run = 0; run < RUNS; run++)
            chi_square += pow((double)lab_count(&results, run, i) - theory.mean, 2) / theory.variance;
        check(chi_square > 226 && chi_square < 387, "%s: chi-square %g", configs[i].functions, chi_square);
        check(fabs(sum / RUNS - theory.mean) < 3.3 * sqrt(theory.variance / RUNS), "%s: %g instead of %g",
              configs[i].functions, sum / RUNS, theory.mean);
    }
    lab_results_free(&results);
}

static void shared_functions_are_those_that_place_urls_alike(void **state)
{
    static const struct {
        const char *functions;
        unsigned kept;
    } cases[] = {{"jenkins", 0},
                 {"jenkins|jenkins", 0}, /* salted */
                 {"jenkins+murmur2|oaat+md5", 0},
                 {"jenkins+murmur2|murmur2+md5", 1},
                 {"jenkins+sip13|sip13+jenkins", 1}, /* the key differs */
                 {"md5+sha1|md5+jenkins", 0},        /* multiply-shift, remainder */
                 {"md5+sha1|sha1+md5", 2}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_config config = {cases[i].functions, 2, 2.0, 1, 2, false, false, LAB_TENTHS, NULL, false, 0};
        check(lab_functions_kept(&config) == cases[i].kept, "%s: %u", cases[i].functions, lab_functions_kept(&config));
    }
}

/* ---- broken filters ---- */

static lab_finding measure_broken(const lab_config *config, enum lab_fault fault)
{
    lab_settings settings = {.urls = 50000, .runs = 8, .seed = 3, .threads = 2, .fault = fault};
    lab_results results = measure(config, 1, &settings);
    lab_finding finding = lab_judge(config, &results, 0, NULL);
    lab_results_free(&results);
    return finding;
}

static void must_move_to(const lab_finding *finding, lab_theory there, const char *what)
{
    double runs = (double)finding->runs;
    double z = ((double)finding->count - runs * there.mean) / sqrt(runs * there.variance);
    check(!finding->fits && finding->verdict == LAB_FAILS, "%s: passes for sound, z = %.1f", what, finding->z);
    check(fabs(z) <= LAB_Z_MOST, "%s: %g %%, not %g %%", what, finding->measured, 100 * there.mean / there.asked);
}

/* Two crawls with the same salts lose what one does, 6.09 % for k = 3 and M = 2.0. */
static void same_salts_lose_what_one_filter_does(void **state)
{
    lab_config one = {"jenkins", 3, 2.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0};
    lab_config broken[] = {one, one, one};
    (void)state;
    broken[0].epochs = 2;
    broken[1].members = 3;
    broken[2].members = broken[2].epochs = 2;
    lab_theory there = lab_theory_of(&one, 50000);
    check(fabs(100 * there.mean / there.asked - 6.09) < 0.005, "theory: %g", 100 * there.mean / there.asked);
    for (size_t i = 0; i < 3; i++) {
        lab_finding finding = measure_broken(&broken[i], LAB_SAME_SALTS), sound = measure_broken(&broken[i], LAB_SOUND);
        must_move_to(&finding, there, "same salts");
        check(sound.fits, "without the fault: z = %.1f", sound.z);
    }
}

/* Even values reach only half of the places. */
static void a_weak_hash_halves_the_filter(void **state)
{
    lab_config config = {"jenkins", 3, 2.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0}, half = config;
    (void)state;
    half.multiplier = 1.0;
    for (int incremental = 0; incremental <= 1; incremental++) {
        config.incremental = half.incremental = incremental;
        lab_finding finding = measure_broken(&config, LAB_WEAK_HASH);
        must_move_to(&finding, lab_theory_of(&half, 50000), "weak hash");
    }
}

/* k marks, but k - 1 looked at. */
static void a_dropped_bit_loses_as_one_function_fewer(void **state)
{
    lab_config config = {"murmur2", 4, 2.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0};
    (void)state;
    double n = 50000, f = -expm1(-0.5), p = f * f * f, e = exp(-0.5);
    double fill_variance = e * (1 - 1.5 * e) / (n * 8);
    lab_theory there = {n * p, n * p * (1 - p) + n * n * 9 * f * f * f * f * fill_variance, n};
    lab_finding finding = measure_broken(&config, LAB_DROPPED_BIT);
    must_move_to(&finding, there, "dropped bit");
}

/* ---- what cannot be done is said ---- */

static void bad_configurations_are_refused(void **state)
{
    static const lab_config bad[] = {
        {"nohash", 3, 2.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 3, 2.0, 9, 1, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 3, 2.0, 1, 5, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins+murmur2", 2, 2.0, 2, 1, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins+murmur2", 3, 2.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins|murmur2", 2, 2.0, 1, 3, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins+murmur2+oaat", 2, 2.0, 1, 2, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins+murmur2|jenkins", 3, 2.0, 1, 2, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins+murmur2|murmur2+jenkins", 2, 2.0, 1, 2, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins+murmur2|jenkins+oaat", 2, 2.0, 1, 2, true, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins+murmur2|jenkins+oaat|sip13+md5", 2, 2.0, 3, 1, false, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 65, 2.0, 1, 1, false, false, LAB_TENTHS, NULL, false, 0},
    };
    lab_settings settings = {.urls = 100, .runs = 2, .seed = 1, .threads = 2};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lab_results results;
        int code = lab_measure(&results, &bad[i], 1, &settings);
        check(code < 0 && vidi_message()[0], "configuration %zu: %d", i, code);
        lab_results_free(&results);
    }
}

int main(int argc, char **argv)
{
    test_add_once("every cell fits theory", every_cell_fits_theory, NULL);
    test_add("every cell counts as the public interface does", every_cell_counts_as_the_public_interface_does, NULL);
    test_add("counters err where bits do", counters_err_where_bits_do, NULL);
    test_add_once("counts of filters that share functions scatter as theory says",
                  counts_of_filters_that_share_functions_scatter_as_theory_says, NULL);
    test_add("shared functions are those that place URLs alike", shared_functions_are_those_that_place_urls_alike,
             NULL);
    test_add_once("same salts lose what one filter does", same_salts_lose_what_one_filter_does, NULL);
    test_add_once("a weak hash halves the filter", a_weak_hash_halves_the_filter, NULL);
    test_add_once("a dropped bit loses as one function fewer", a_dropped_bit_loses_as_one_function_fewer, NULL);
    test_add("bad configurations are refused", bad_configurations_are_refused, NULL);
    return test_run("lab/measure", argc, argv);
}
