/* Memory and times of the thesis: what was transcribed, what is measured, and what is said of the two. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/thesis/costs.h"
#include "lab/tables.h"
#include "lab/urls/run_urls.h"
#include "support/runner.h"

/* ---- what was published ---- */

/* The sums of the tables, taken from the thesis's text. */
static void published_tables_are_complete(void **state)
{
    static const struct {
        const char *id;
        double sum;
    } tables[] = {{"thesis-5.10", 116920}, {"thesis-5.11", 233041}, {"thesis-5.12", 348580},
                  {"thesis-A.1", 323570},  {"thesis-A.2", 627892},  {"thesis-A.3", 929847},
                  {"thesis-A.4", 330775},  {"thesis-A.5", 646500},  {"thesis-A.6", 961739}};
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        double sum = 0;
        for (size_t row = 0; row < LAB_COST_ROWS; row++)
            for (size_t column = 0; column < LAB_COST_COLUMNS; column++) {
                const char *printed =
                    lab_published_find(lab_published_all, tables[i].id, lab_cost_rows[row], lab_cost_columns[column]);
                check(printed != NULL, "%s lacks %s, %s", tables[i].id, lab_cost_rows[row], lab_cost_columns[column]);
                sum += strtod(printed, NULL);
            }
        check(fabs(sum - tables[i].sum) < 0.5, "%s: the figures sum up to %.0f, not %.0f", tables[i].id, sum,
              tables[i].sum);
    }
}

/* ---- memory ---- */

static void filters_take_their_bits_and_one_figure_is_misprinted(void **state)
{
    static const char *const ids[] = {"thesis-5.10", "thesis-5.11", "thesis-5.12"};
    lab_settings settings = {.urls = 1000, .runs = 1, .seed = 3, .threads = 1};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        lab_table table = table_of(ids[i], &settings);
        for (size_t j = 0; j < table.rows * table.columns; j++) {
            const lab_entry *entry = &table.entries[j];
            double k = strtod(entry->row, NULL), multiplier = strtod(entry->column, NULL);
            double lines = ceil(1e6 * k * multiplier / 512 - 1e-9) * (double)(i + 1);
            bool misprint = i == 0 && k > 7.5 && k < 8.5 && multiplier > 2.4 && multiplier < 2.6;
            check(fabs(entry->measured - lines / 16) < 1e-6, "%s, %s, %s: %g kilobytes", ids[i], entry->row,
                  entry->column, entry->measured);
            check(entry->verdict == (misprint ? LAB_MISPRINT : LAB_AGREES), "%s, %s, %s is '%s'", ids[i], entry->row,
                  entry->column, lab_verdict_name(entry->verdict));
        }
        lab_table_free(&table);
    }
}

static void collections_take_more_than_their_urls(void **state)
{
    lab_settings settings = {.urls = 3000, .runs = 1, .seed = 3, .threads = 1};
    char url[LAB_URL_ROOM];
    double bytes = 0;
    (void)state;
    lab_table table = table_of("thesis-5.13", &settings);
    for (uint64_t i = 0; i < settings.urls; i++)
        bytes += (double)lab_url_text(url, &settings, 0, i).len;
    double least = bytes / (double)settings.urls * 1e6 / 1024;
    double list = entry_of(&table, "ArrayList", "memory")->measured;
    double hashset = entry_of(&table, "HashSet", "memory")->measured;
    check(list > least && list < 2 * least, "list takes %g kilobytes for %g of URLs", list, least);
    check(hashset > list && hashset < 4 * least, "hashset takes %g kilobytes for %g of URLs", hashset, least);
    lab_table_free(&table);
}

/* ---- the filters that are timed ---- */

enum { URLS = 5000 };

static void all_ways_of_asking_answer_alike(void **state)
{
    LAB_BLOCK;
    lab_settings settings = {.urls = URLS, .runs = 1, .seed = 8, .threads = 1};
    lab_texts texts;
    (void)state;
    check(lab_texts_make(&texts, &settings, 0, 0, 2 * URLS) == 0, "URLs");
    for (unsigned members = 1; members <= 3; members++)
        for (unsigned k = 3; k <= 5; k += 2) {
            lab_timed *filter, *filled;
            check(lab_timed_make(&filter, &settings, 0, members, k, 1.7, URLS) == 0, "%s", vidi_message());
            check(lab_timed_make(&filled, &settings, 0, members, k, 1.7, URLS) == 0, "%s", vidi_message());
            uint64_t lost = lab_timed_do(filter, LAB_ADD, texts.urls, URLS);
            lab_timed_fill(&filled, 1, texts.urls, URLS);
            uint64_t eager = lab_timed_do(filter, LAB_ASK_EAGER, texts.urls + URLS, URLS);
            assert_int_equal(eager, lab_timed_do(filter, LAB_ASK_BREAK, texts.urls + URLS, URLS));
            assert_int_equal(eager, lab_timed_do(filter, LAB_ASK_INNER, texts.urls + URLS, URLS));
            assert_int_equal(eager, lab_timed_do(filled, LAB_ASK_EAGER, texts.urls + URLS, URLS));
            assert_int_equal(URLS, lab_timed_do(filter, LAB_ASK_EAGER, texts.urls, URLS));
            assert_int_equal(URLS, lab_timed_do(filter, LAB_ASK_BREAK, texts.urls, URLS));
            lab_config config = {"jenkins", k, 1.7, members, 1, false, false, LAB_TENTHS, NULL, false, 0};
            lab_fit asked = lab_fit_of((double)eager, 1, lab_theory_of(&config, URLS));
            config.incremental = true;
            lab_fit added = lab_fit_of((double)lost, 1, lab_theory_of(&config, URLS));
            check(asked.fits && added.fits, "%u filters, k = %u: z = %g and %g", members, k, asked.z, added.z);
        }
}

/* ---- times ---- */

/* Wide margins: what else the machine does is its own affair. */
static void times_grow_with_k_unless_the_question_breaks(void **state)
{
    lab_settings settings = {.urls = 400000, .runs = 3, .seed = 2, .threads = 1};
    (void)state;
    lab_table eager = table_of("thesis-A.1", &settings), breaking = table_of("thesis-A.1-break", &settings);
    lab_table adding = table_of("thesis-A.4", &settings);
    double whole = entry_of(&eager, "10 HF", "2.0 M")->measured;
    double broken = entry_of(&breaking, "10 HF", "2.0 M")->measured;
    double added = entry_of(&adding, "10 HF", "2.0 M")->measured;
    check(whole > 2.2 && whole < 5, "a question of 10 functions takes %g times one of 3", whole);
    check(added > 2.2 && added < 5, "an add of 10 functions takes %g times one of 3", added);
    check(broken > 0.5 && broken < 1.8, "a question that breaks takes %g times", broken);
    lab_table_free(&eager);
    lab_table_free(&breaking);
    lab_table_free(&adding);
}

static lab_entry judge_time(const char *id, size_t row, size_t column, double measured)
{
    const lab_study *study = lab_study_find(id);
    lab_settings settings = {.urls = 1000, .runs = 1, .seed = 1, .threads = 1};
    lab_entry entry = {.row = study->rows[row],
                       .column = study->columns[column],
                       .measured = measured,
                       .published = (double)NAN,
                       .theory = (double)NAN,
                       .runs = 1};
    study->judge(&(lab_cell){study, &settings, row, column, &measured, NULL}, &entry);
    return entry;
}

static void ratios_are_judged_by_the_figures_of_their_column(void **state)
{
    (void)state;
    lab_entry entry = judge_time("thesis-A.1", 7, 0, 3.3);
    check(fabs(entry.published - 10073.0 / 3296) < 1e-9, "published is %g", entry.published);
    check(fabs(entry.theory - 10.0 / 3) < 1e-9, "theory is %g", entry.theory);
    assert_int_equal(entry.verdict, LAB_AGREES);
    assert_string_equal(entry.printed, "10073");
    assert_int_equal(judge_time("thesis-A.1", 7, 0, 2).verdict, LAB_DIFFERS);
    assert_int_equal(judge_time("thesis-A.1", 0, 0, 1).verdict, LAB_NO_FIGURE);
    entry = judge_time("thesis-A.3-break", 7, 1, 1);
    check(fabs(entry.published - 29783.0 / 9277) < 1e-9, "published is %g", entry.published);
    check(entry.theory > 1 && entry.theory < 1.01, "theory is %g", entry.theory);
    assert_int_equal(entry.verdict, LAB_DIFFERS);
    assert_true(entry.remark[0]);
    entry = judge_time("thesis-5.15", 0, 0, 7000);
    check(fabs(entry.published - 22000000.0 / 3213) < 1e-6, "published is %g", entry.published);
    assert_int_equal(entry.verdict, LAB_AGREES);
    entry = judge_time("thesis-5.14", 1, 0, 1);
    check(fabs(entry.published - 428.0 / 3130) < 1e-9, "published is %g", entry.published);
    assert_int_equal(entry.verdict, LAB_DIFFERS);
}

/* f + f^2 + … counted in another way: a walk through the positions. */
static void a_breaking_question_looks_at_as_many_as_theory_says(void **state)
{
    (void)state;
    for (size_t row = 0; row < LAB_COST_ROWS; row++)
        for (unsigned members = 1; members <= 3; members++) {
            char id[32];
            double fill = 1 - exp(-1 / 1.7), looks[2] = {0, 0}, reached = 1;
            unsigned k[2] = {3, LAB_COST_K_LEAST + (unsigned)row};
            for (unsigned i = 0; i < 2; i++, reached = 1)
                for (unsigned position = 0; position < k[i] * members; position++, reached *= fill)
                    looks[i] += reached;
            snprintf(id, sizeof id, "thesis-A.%u-break", members);
            double theory = judge_time(id, row, 0, 1).theory;
            check(fabs(theory - looks[1] / looks[0]) < 1e-9, "%s, row %zu: %g, not %g", id, row, theory,
                  looks[1] / looks[0]);
        }
}

static void every_filter_costs_its_time_unless_the_question_breaks(void **state)
{
    lab_settings settings = {.urls = 200000, .runs = 3, .seed = 2, .threads = 1};
    (void)state;
    lab_table table = table_of("thesis-A-filters", &settings);
    double add = entry_of(&table, "3 filters", "add")->measured;
    double eager = entry_of(&table, "3 filters", "query, every bit")->measured;
    const lab_entry *broken = entry_of(&table, "3 filters", "query, first zero bit");
    check(add > 2 && add < 4.5 && eager > 2 && eager < 4.5, "three filters take %g and %g times one", add, eager);
    double each = entry_of(&table, "3 filters", "query, first zero bit of each filter")->measured;
    check(each > 2 && each < 4.5, "stopping in each of three filters takes %g times one", each);
    check(broken->measured < 1.8 && broken->theory < 1.1, "breaking takes %g times", broken->measured);
    assert_int_equal(broken->verdict, LAB_DIFFERS);
    check(fabs(broken->published - 9277.0 / 3213) < 1e-9, "published is %g", broken->published);
    lab_table_free(&table);
}

/*
 * Wide margins, as above. An append does not grow with the list; an add that looks up first meets half of the list on
 * average, and a lookup of an unknown URL all of it.
 */
static void a_list_appends_at_once_and_looks_up_slowly(void **state)
{
    lab_settings settings = {.urls = 60000, .runs = 3, .seed = 2, .threads = 1};
    (void)state;
    lab_table ask = table_of("thesis-5.15", &settings), add = table_of("thesis-5.14", &settings);
    double list = entry_of(&ask, "ArrayList", "time")->measured, hashset = entry_of(&ask, "HashSet", "time")->measured;
    double append = entry_of(&add, "ArrayList", "time")->measured;
    double careful = entry_of(&add, "a list that looks up first", "time")->measured;
    check(list > 100 * hashset && hashset > 0, "list %g, hashset %g", list, hashset);
    check(append > 0 && append < 20, "an append takes %g times an add to a filter", append);
    check(careful > 100 * append && careful > list / 10 && careful < 2 * list, "%g to add after a lookup, %g to query",
          careful, list);
    lab_table_free(&ask);
    lab_table_free(&add);
}

/* The same URL twice is two entries: nothing is looked up. */
static void an_appended_list_keeps_everything_in_its_order(void **state)
{
    static const char *const urls[] = {"http://a.example/", "http://b.example/c", "http://a.example/", ""};
    enum { COUNT = sizeof urls / sizeof *urls, ROUNDS = 100 };
    lab_appended list = {.count = 0};
    (void)state;
    for (size_t i = 0; i < ROUNDS * COUNT; i++)
        assert_int_equal(lab_appended_add(&list, (vidi_str){urls[i % COUNT], strlen(urls[i % COUNT])}), VIDI_OK);
    assert_int_equal(list.count, ROUNDS * COUNT);
    for (size_t i = 0; i < ROUNDS * COUNT; i++) {
        vidi_str kept = lab_appended_at(&list, i);
        check(kept.len == strlen(urls[i % COUNT]) && memcmp(kept.ptr, urls[i % COUNT], kept.len) == 0, "entry %zu", i);
    }
    lab_appended_free(&list);
}

/* As printed, algorithm 4 goes on to the next filter: F times the looks of one filter, and hardly more with more k. */
static void algorithm_4_as_printed_looks_at_every_filter(void **state)
{
    (void)state;
    for (unsigned members = 2; members <= 3; members++)
        for (size_t row = 0; row < LAB_COST_ROWS; row++) {
            char id[32], one[] = "thesis-A.1-break";
            snprintf(id, sizeof id, "thesis-A.%u-inner", members);
            lab_entry entry = judge_time(id, row, 1, 1), alone = judge_time(one, row, 1, 1);
            check(fabs(entry.theory - alone.theory) < 1e-12, "%s: %g, not %g", id, entry.theory, alone.theory);
            check(entry.basis == LAB_COUNTERFACTUAL, "%s counts as what the thesis did", id);
        }
    lab_entry last = judge_time("thesis-A.3-inner", LAB_COST_ROWS - 1, 1, 1);
    check(strstr(last.remark, "algorithm 4") != NULL, "%s", last.remark);
    lab_entry three = judge_time("thesis-A-filters", 2, 2, 3), settled = judge_time("thesis-A-filters", 2, 3, 1);
    check(fabs(three.theory - 3) < 1e-12 && three.basis == LAB_COUNTERFACTUAL, "theory %g", three.theory);
    check(settled.theory < 1.1 && settled.basis == LAB_COUNTERFACTUAL, "theory %g", settled.theory);
}

int main(int argc, char **argv)
{
    test_add("published tables are complete", published_tables_are_complete, NULL);
    test_add("filters take their bits, and one figure is misprinted",
             filters_take_their_bits_and_one_figure_is_misprinted, NULL);
    test_add("collections take more than their URLs", collections_take_more_than_their_urls, NULL);
    test_add("all ways of asking answer alike", all_ways_of_asking_answer_alike, NULL);
    test_add("times grow with k unless the question breaks", times_grow_with_k_unless_the_question_breaks, NULL);
    test_add("ratios are judged by the figures of their column", ratios_are_judged_by_the_figures_of_their_column,
             NULL);
    test_add("a breaking question looks at as many as theory says", a_breaking_question_looks_at_as_many_as_theory_says,
             NULL);
    test_add("every filter costs its time unless the question breaks",
             every_filter_costs_its_time_unless_the_question_breaks, NULL);
    test_add("a list appends at once and looks up slowly", a_list_appends_at_once_and_looks_up_slowly, NULL);
    test_add("an appended list keeps everything in its order", an_appended_list_keeps_everything_in_its_order, NULL);
    test_add("algorithm 4 as printed looks at every filter", algorithm_4_as_printed_looks_at_every_filter, NULL);
    return test_run("lab/costs", argc, argv);
}
