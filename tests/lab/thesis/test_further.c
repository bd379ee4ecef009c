/* The thesis's further work: it fits theory, can be counted again in another way, and notices what is broken. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/thesis/further.h"
#include "lab/tables.h"
#include "support/runner.h"

static const lab_settings usual = {.urls = 8000, .runs = 3, .seed = 3, .threads = 2};

/* ---- theory ---- */

static const char *const judged[] = {"further-scalable",   "further-revisit",   "further-delay",
                                     "further-equal-bits", "further-processes", "further-genetic"};

static void wrong_counts_fail(lab_numbers *numbers)
{
    size_t cells = cells_of(numbers->study), failed = 0;
    for (size_t i = 0; i < cells * numbers->settings.runs; i++)
        numbers->numbers[i] = numbers->numbers[i] * 3 + 8;
    lab_table table = table_from(numbers);
    for (size_t i = 0; i < cells; i++)
        failed += table.entries[i].verdict == LAB_FAILS;
    check(failed * 3 > cells, "only %zu of %zu cells fail", failed, cells);
    lab_table_free(&table);
}

static void every_cell_fits_theory_and_wrong_counts_do_not(void **state)
{
    const char *id = *state;
    lab_numbers numbers = numbers_of(id, &usual);
    lab_table table = table_from(&numbers);
    size_t tested = 0;
    none_fails(&table);
    for (size_t i = 0; i < table.rows * table.columns; i++) {
        const lab_entry *entry = &table.entries[i];
        tested += isnan(entry->z) ? 0 : 1;
        check(isnan(entry->measured) || !isnan(entry->theory), "%s, %s: no theory", entry->row, entry->column);
    }
    check(tested * 2 > table.rows * table.columns, "only %zu cells are tested", tested);
    lab_table_free(&table);
    wrong_counts_fail(&numbers);
    lab_numbers_free(&numbers);
}

/* Hundreds of small runs: the interval tells which variance theory has, and the runs which they have. */
static void means_and_variances_fit_over_many_runs(void **state)
{
    const char *id = *state;
    lab_settings settings = {.urls = 2000, .runs = 100, .seed = 4, .threads = 2};
    lab_numbers numbers = numbers_of(id, &settings);
    lab_table table = table_from(&numbers);
    size_t cells = table.rows * table.columns, compared = 0;
    for (size_t i = 0; i < cells; i++) {
        const lab_entry *entry = &table.entries[i];
        double runs = (double)settings.runs, sum = 0, squares = 0;
        for (size_t j = i; j < cells * settings.runs; j += cells) {
            sum += numbers.numbers[j];
            squares += numbers.numbers[j] * numbers.numbers[j];
        }
        check(fabs(entry->z) <= LAB_Z_MOST, "%s, %s: theory %g, measured %g", entry->row, entry->column, entry->theory,
              entry->measured);
        if (sum < 5 * LAB_FEW)
            continue;
        double variance = (squares - sum * sum / runs) / (runs - 1), count = entry->measured * runs / sum;
        double theory = pow((entry->high - entry->measured) / 1.96 / count, 2) * runs;
        check(variance > 0.45 * theory && variance < 1.75 * theory, "%s, %s: variance %g, theory %g", entry->row,
              entry->column, variance, theory);
        compared++;
    }
    check(compared > 2, "only %zu variances compared", compared);
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

/* With the same salts in both crawls, both lose the same pages. */
static void equal_salts_fail(void **state)
{
    lab_numbers numbers = numbers_of("further-scalable", &usual);
    size_t cells = cells_of(numbers.study);
    (void)state;
    for (size_t i = 0; i < cells * numbers.settings.runs; i += 2)
        numbers.numbers[i + 1] = numbers.numbers[i];
    lab_table table = table_from(&numbers);
    for (size_t i = 0; i < cells; i++) {
        const lab_entry *entry = &table.entries[i];
        bool full = entry->theory > 95; /* of a filter that says "seen" to everything nothing can be told */
        check(full || (entry->verdict == LAB_FAILS) == (i % 2 == 1), "%s, %s: %s", entry->row, entry->column,
              lab_verdict_name(entry->verdict));
    }
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

static void threads_change_nothing(void **state)
{
    const char *id = *state;
    lab_settings alone = usual;
    alone.threads = 1;
    lab_numbers a = numbers_of(id, &usual), b = numbers_of(id, &alone);
    size_t bytes = cells_of(a.study) * a.settings.runs * sizeof *a.numbers;
    assert_memory_equal(a.numbers, b.numbers, bytes);
    lab_numbers_free(&a);
    lab_numbers_free(&b);
}

static void few_urls_do_no_harm(void **state)
{
    lab_settings few = {.urls = 1000, .runs = 1, .seed = 2, .threads = 1};
    (void)state;
    const lab_study *study;
    for (size_t i = 0; (study = lab_study_at(i)); i++) {
        if (strncmp(study->id, "further-", strlen("further-")) != 0)
            continue;
        lab_numbers numbers = numbers_of(study->id, &few);
        lab_table table = table_from(&numbers);
        none_fails(&table);
        for (size_t j = 0; j < table.rows * table.columns; j++)
            check(!isinf(table.entries[j].measured), "%s: %s, %s", study->id, table.entries[j].row,
                  table.entries[j].column);
        lab_table_free(&table);
        lab_numbers_free(&numbers);
    }
}

/* ---- counted again, one URL after the other ---- */

static double number_of(const lab_numbers *numbers, uint64_t run, size_t row, size_t column)
{
    size_t columns = lab_study_columns(numbers->study);
    return numbers->numbers[run * cells_of(numbers->study) + row * columns + column];
}

static uint64_t ask_others(vidi_set *set, const lab_settings *settings, uint64_t run, uint64_t n, unsigned char *hits)
{
    char url[LAB_URL_ROOM];
    uint64_t seen = 0;
    for (uint64_t i = 0; i < n; i++)
        if (vidi_has(set, lab_url_text(url, settings, run, n + i)) == VIDI_SEEN) {
            seen++;
            hits[i]++;
        }
    return seen;
}

static void add_all(vidi_set *set, const lab_settings *settings, uint64_t run, uint64_t n)
{
    char url[LAB_URL_ROOM];
    for (uint64_t i = 0; i < n; i++)
        assert_true(vidi_add(set, lab_url_text(url, settings, run, i)) > 0);
}

/* Row 1 of further-scalable: classic, for half of the URLs. */
static void scalable_counts_as_single_questions_do(void **state)
{
    lab_settings settings = {.urls = 3000, .runs = 1, .seed = 9, .threads = 1};
    lab_numbers numbers = numbers_of("further-scalable", &settings);
    uint64_t n = lab_further_urls(&settings, 4), both = 0;
    unsigned char *hits = calloc(n, 1);
    vidi_options next = VIDI_OPTIONS_INIT;
    vidi_set *set;
    (void)state;
    assert_non_null(hits);
    assert_int_equal(lab_set_make(&set, &settings, 0, "classic", "k=4,M=1.5", n / 2), 0);
    add_all(set, &settings, 0, n);
    assert_int_equal(ask_others(set, &settings, 0, n, hits), (uint64_t)number_of(&numbers, 0, 1, 0));
    next.capacity = n / 2;
    assert_int_equal(vidi_rotate(set, &next), 0);
    add_all(set, &settings, 0, n);
    ask_others(set, &settings, 0, n, hits);
    for (uint64_t i = 0; i < n; i++)
        both += hits[i] == 2;
    assert_int_equal(both, (uint64_t)number_of(&numbers, 0, 1, 1));
    vidi_close(set);
    free(hits);
    lab_numbers_free(&numbers);
}

/* Row 0 of further-revisit: a quarter of what is needed. The size of the second filter is given by hand here. */
static void a_revisit_has_the_size_of_the_last_count(void **state)
{
    lab_settings settings = {.urls = 3000, .runs = 1, .seed = 9, .threads = 1};
    lab_numbers numbers = numbers_of("further-revisit", &settings);
    uint64_t n = lab_further_urls(&settings, 8);
    unsigned char *hits = calloc(n, 1);
    vidi_stats stats = {.size = sizeof stats};
    vidi_options next = VIDI_OPTIONS_INIT;
    vidi_set *set;
    (void)state;
    assert_non_null(hits);
    assert_int_equal(lab_set_make(&set, &settings, 0, "classic", "k=4,M=1.5", n / 4), 0);
    add_all(set, &settings, 0, n);
    assert_int_equal(ask_others(set, &settings, 0, n, hits), (uint64_t)number_of(&numbers, 0, 0, 0));
    assert_int_equal(vidi_stat(set, &stats), 0);
    check(stats.count < n * 3 / 4, "a filter that is too small counts %llu of %llu", (unsigned long long)stats.count,
          (unsigned long long)n);
    next.capacity = stats.count;
    assert_int_equal(vidi_rotate(set, &next), 0);
    add_all(set, &settings, 0, n);
    assert_int_equal(ask_others(set, &settings, 0, n, hits), (uint64_t)number_of(&numbers, 0, 0, 1));
    vidi_close(set);
    free(hits);
    lab_numbers_free(&numbers);
}

/* A configuration of the thesis's tables measures some of the cells of further-delay, too. */
static void delays_count_as_configurations_do(void **state)
{
    lab_settings settings = {.urls = 4000, .runs = 2, .seed = 21, .threads = 1};
    lab_config configs[] = {
        {"jenkins", 3, 2.0, 1, 1, true, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 3, 2.0, 1, 1, true, false, LAB_TENTHS - 1, NULL, false, 0},
        {"jenkins", 3, 2.0, 1, 2, true, false, LAB_TENTHS, NULL, false, 0},
        {"jenkins", 3, 2.0, 1, 3, true, false, LAB_TENTHS, NULL, false, 0},
    };
    lab_results results;
    lab_numbers numbers = numbers_of("further-delay", &settings);
    (void)state;
    assert_int_equal(lab_further_urls(&settings, 4), settings.urls);
    assert_int_equal(lab_measure(&results, configs, 4, &settings), 0);
    for (uint64_t run = 0; run < settings.runs; run++) {
        uint64_t all = lab_count(&results, run, 0), before = lab_count(&results, run, 1);
        assert_int_equal(all, (uint64_t)number_of(&numbers, run, 0, 0));
        assert_int_equal(all - before, (uint64_t)number_of(&numbers, run, 0, 2));
        assert_int_equal(lab_count(&results, run, 2), (uint64_t)number_of(&numbers, run, 1, 0));
        assert_int_equal(lab_count(&results, run, 3), (uint64_t)number_of(&numbers, run, 2, 0));
    }
    lab_results_free(&results);
    lab_numbers_free(&numbers);
}

/* One crawl in an order of its own, one URL after the other. */
static void crawl_in_order(vidi_set *set, const lab_settings *settings, uint64_t run, const uint32_t *order,
                           unsigned char *hits)
{
    char url[LAB_URL_ROOM];
    for (uint64_t i = 0; i < settings->urls; i++)
        if (vidi_add(set, lab_url_text(url, settings, run, order[i])) == VIDI_SEEN)
            hits[order[i]]++;
}

static void delays_in_other_orders_count_as_single_adds_do(void **state)
{
    lab_settings settings = {.urls = 4000, .runs = 6, .seed = 21, .threads = 1};
    lab_numbers numbers = numbers_of("further-delay", &settings);
    static uint32_t order[4000];
    static unsigned char hits[4000];
    vidi_options next = VIDI_OPTIONS_INIT;
    next.capacity = settings.urls;
    (void)state;
    for (uint64_t run = 0; run < settings.runs; run++) {
        vidi_set *set;
        assert_int_equal(lab_set_make(&set, &settings, run, "classic", "k=3,M=2.0,mode=salted,hash=jenkins", 4000), 0);
        memset(hits, 0, sizeof hits);
        for (uint32_t i = 0; i < settings.urls; i++)
            order[i] = i;
        for (unsigned crawl = 0; crawl < 3; crawl++) {
            uint64_t all = 0, last = 0;
            crawl_in_order(set, &settings, run, order, hits);
            for (uint64_t i = 0; i < settings.urls; i++) {
                all += hits[i] == crawl + 1;
                last += i >= 3600 && hits[i] == crawl + 1;
            }
            assert_int_equal(all, (uint64_t)number_of(&numbers, run, crawl, 1));
            assert_int_equal(last, (uint64_t)number_of(&numbers, run, crawl, 3));
            lab_shuffle(order, settings.urls, settings.seed, run, crawl + 1);
            assert_int_equal(vidi_rotate(set, &next), 0);
        }
        vidi_close(set);
    }
    lab_numbers_free(&numbers);
}

/* ---- what the search comes to ---- */

static void a_site_is_the_host_with_most_urls(void **state)
{
    static const char *const urls[] = {
        "http://a.org/1", "https://b.org/1", "http://c.org", "http://b.org/2/http://a.org/",
        "b.org/3",        "http://a.org/2",  "mailto:x",     "http://a.orga/4"};
    static const char *const wanted[] = {"https://b.org/1", "http://b.org/2/http://a.org/", "b.org/3", "http://a.org/1",
                                         "http://a.org/2"};
    enum { COUNT = sizeof urls / sizeof *urls, WANTED = sizeof wanted / sizeof *wanted };
    vidi_str all[COUNT], site[COUNT];
    lab_texts texts = {.urls = all, .count = COUNT};
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        all[i] = (vidi_str){urls[i], strlen(urls[i])};
    assert_int_equal(lab_site_choose(&texts, WANTED, site), 0);
    for (size_t i = 0; i < WANTED; i++)
        check(site[i].len == strlen(wanted[i]) && memcmp(site[i].ptr, wanted[i], site[i].len) == 0, "URL %zu is %.*s",
              i, (int)site[i].len, site[i].ptr);
    assert_int_equal(lab_site_choose(&texts, COUNT, site), 0);
    assert_true(lab_site_choose(&texts, COUNT + 1, site) < 0);
}

static void what_is_found_is_lucky_once(void **state)
{
    lab_settings settings = {.urls = 30000, .runs = 3, .seed = 1, .threads = 2};
    lab_numbers numbers = numbers_of("further-genetic", &settings);
    lab_table table = table_from(&numbers);
    const lab_entry *training = lab_table_find(&table, "found", "training crawl");
    const lab_entry *next = lab_table_find(&table, "found", "next crawls");
    (void)state;
    assert_non_null(training);
    assert_non_null(next);
    check(training->high < training->theory / 2, "%g %% of the crawl it was bred for", training->measured);
    check(next->low > training->high, "%g %% of the next ones, %g %% of the first", next->measured, training->measured);
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
        test_add_once("every cell fits theory and wrong counts do not", every_cell_fits_theory_and_wrong_counts_do_not,
                      judged[i]);
        test_add("threads change nothing", threads_change_nothing, judged[i]);
    }
    for (size_t i = 0; i < 3; i++)
        test_add_once("means and variances fit over many runs", means_and_variances_fit_over_many_runs, judged[i]);
    test_add("a site is the host with most URLs", a_site_is_the_host_with_most_urls, NULL);
    test_add("equal salts fail", equal_salts_fail, NULL);
    test_add("few URLs do no harm", few_urls_do_no_harm, NULL);
    test_add("scalable counts as single questions do", scalable_counts_as_single_questions_do, NULL);
    test_add("a revisit has the size of the last count", a_revisit_has_the_size_of_the_last_count, NULL);
    test_add("delays count as configurations do", delays_count_as_configurations_do, NULL);
    test_add("delays in other orders count as single adds do", delays_in_other_orders_count_as_single_adds_do, NULL);
    test_add("what is found is lucky once", what_is_found_is_lucky_once, NULL);
    return test_run("lab/further", argc, argv);
}
