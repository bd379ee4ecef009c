/*
 * The report: that it is well-formed whatever the names are, that every link leads somewhere and nothing comes from
 * elsewhere, and that its figures and counts are those of the book.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/pages.h"
#include "lab/report/html.h"
#include "lab/report/html_reader.h"
#include "lab/report/made_tables.h"
#include "lab/report/report.h"
#include "lab/report/svg.h"
#include "support/runner.h"

/* ---- the report ---- */

static void a_report_is_well_formed(void **state)
{
    lab_table tables[] = {make_table(), make_table(), make_table()};
    (void)state;
    tables[0].remarks = (char[]){"a remark on <all>\nand another"};
    tables[1].id = "list";
    tables[1].columns = 1;
    tables[2].id = "wide";
    tables[2].rows = 1;
    snprintf(entries[1].remark, sizeof entries[1].remark, "odd & <strange>: 5 %%");
    char *text = report_of(tables, 3);
    must_be_well_formed(text);
    check(!strstr(text, "<script"), "a name became an element");
    check(!strstr(text, "\xFF") && strstr(text, "&#39;&lt;&amp;&gt;&#39; \xEF\xBF\xBD<"), "a byte that is no UTF-8");
    check(!strstr(text, "http:") && !strstr(text, "https:") && !strstr(text, "url("), "something from elsewhere");
    assert_int_equal(occurrences(text, "<section "), 3);
    assert_int_equal(occurrences(text, "class=\"plot\""), 2);
    check(strstr(text, "Odd &amp; &lt;strange&gt;: 5&nbsp;%.</li>"), "the remark is not there");
    check(strstr(text, "<li>And another.</li>"), "the remark on the table is not there");
    check(strstr(text, "commit abc") && strstr(text, "A &quot;processor&quot;") && strstr(text, "<dd>3</dd>") &&
              strstr(text, "4 &lt;GiB&gt;") && strstr(text, "Linux 9") && strstr(text, "cc 1") &&
              strstr(text, "xxHash 2") && strstr(text, "<dd>23 minutes</dd>"),
          "what made it is not there");
    check(strstr(text, "<h2 id=\"glossary\">") && strstr(text, "<dt>HF, k</dt>"), "there is no glossary");
    check(strstr(text, "href=\"#top\"") && occurrences(text, "href=\"#contents\"") > 3, "there is no way back up");
    check(strstr(text, "<b>11</b> agree"), "the verdicts are not counted");
    check(!strstr(text, "All together"), "a book without a study was judged");
    free(text);
}

/* Ratios of printed figures are what ours is held against: both are shown. */
static void ratios_stand_beside_what_was_printed(void **state)
{
    lab_table table = make_table();
    (void)state;
    entries[0].printed = "1.50%";
    entries[0].published = 1.5;
    entries[1].printed = "4246 <ms>";
    entries[1].published = 1.28822815533;
    entries[2].printed = "2.5";
    entries[2].published = NAN;
    entries[3].printed = NULL;
    entries[4].high = INFINITY;
    entries[3].published = 0.125;
    char *text = report_of(&table, 1);
    must_be_well_formed(text);
    check(strstr(text, "<td class=\"published\">1.50<span class=\"unit\">%</span><i class=\"pad\">0</i></td>"
                       "<td class=\"published\">1.288 (4246 &lt;ms&gt;)</td>"
                       "<td class=\"published\">2.5</td><td class=\"published\">0.125</td>"),
          "published figures are not shown");
    check(!strstr(text, "inf"), "something infinite is shown");
    check(strstr(text, "made-up,first,1%20URL,1.50,1,") && strstr(text, "made-up,first,10%20URLs,1.28822816,10,") &&
              strstr(text, "made-up,first,100%20URLs,,100,") &&
              strstr(text, "made-up,first,%221,000%20URLs%22,0.125,1000,"),
          "published figures are not in the data");
    free(text);
}

static void cells_of_other_builds_are_shown(void **state)
{
    lab_table tables[] = {make_table(), make_table()};
    (void)state;
    tables[1].id = "list";
    tables[1].entries = entries + COLUMNS;
    tables[1].rows = 1;
    for (size_t i = 0; i < COLUMNS; i++) {
        lab_entry *entry = &entries[COLUMNS + i];
        entry->theory = entry->measured = entry->low = entry->high = entry->z = NAN;
        entry->verdict = LAB_NOT_BUILT;
    }
    char *text = report_of(tables, 1);
    must_be_well_formed(text);
    check(strstr(text, "<p>8 cells were measured. Theory predicts 8 of them, and 8 of these fit."),
          "cells are not counted");
    check(strstr(text, "<span class=\"v-not-built\"><b>4</b> were left out because this build"),
          "cells are not left out");
    check(strstr(text, "<b class=\"v-not-built\">4 not built</b>"), "the table does not count them");
    assert_int_equal(occurrences(text, "<b class=\"v-not-built\">not built</b>"), COLUMNS);
    assert_int_equal(occurrences(text, "v-not built"), 0);
    free(text);
    text = report_of(tables + 1, 1);
    must_be_well_formed(text);
    check(occurrences(text, "not built</b>") > 0, "a list does not show them");
    free(text);
}

/* Also those that fail without a test, where nothing is left to chance: they are not taken from those that fit. */
static void cells_that_fail_are_counted(void **state)
{
    lab_table table = make_table();
    (void)state;
    table.rows = 1;
    table.columns = 2;
    entries[0].z = entries[1].z = NAN;
    entries[0].verdict = LAB_FAILS;
    char *text = report_of(&table, 1);
    must_be_well_formed(text);
    check(strstr(text, "<p>2 cells were measured. Theory predicts 1 of them, and 0 of these fit."),
          "they are not counted");
    check(strstr(text, "<b>1</b> of our cells contradict theory"), "nothing is said of it");
    free(text);
}

/* The tables of studies are the last of a book. */
static void all_cells_are_judged_together(void **state)
{
    lab_table table = make_table();
    lab_book book = {.settings = {.urls = 1, .runs = 1, .seed = 7}, .tables = &table, .count = 1, .study_count = 1};
    page page;
    (void)state;
    entries[5].z = -6;
    start(&page);
    lab_report_write(page.to, &book, &origin);
    char *text = end(&page);
    must_be_well_formed(text);
    check(strstr(text, " All together: the largest |z| of 12 different cells is 6.00; by chance it exceeds "
                       "3.34 at most once in a hundred times; 1 cell contradicts theory.</p>"),
          "%.200s", strstr(text, "All together") ? strstr(text, "All together") : "nothing is said of all cells");
    check(strstr(text, "with theory. 1 run of 1 URL, seed 7. <a "), "one run is not one");
    free(text);
}

static void an_empty_report_is_well_formed(void **state)
{
    lab_entry none = {
        .row = "", .column = "", .published = NAN, .theory = NAN, .measured = NAN, .low = NAN, .high = NAN, .z = NAN};
    lab_table table = make_table();
    (void)state;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        entries[i] = none;
    char *text = report_of(&table, 0);
    must_be_well_formed(text);
    free(text);
    check(!lab_svg_can(&table), "a plot of nothing");
    text = report_of(&table, 1);
    must_be_well_formed(text);
    check(strstr(text, "0 cells"), "cells that are not there were counted");
    free(text);
}

/* What a verdict rests on is counted, and a counterfactual figure nowhere. */
static void published_figures_are_counted_once(void **state)
{
    lab_table table = make_table();
    char text[LAB_REMARK_ROOM];
    (void)state;
    table.rows = 2;
    table.columns = 2;
    entries[0].basis = LAB_BY_CHANCE;
    entries[0].verdict = LAB_DOUBTFUL;
    entries[1].basis = LAB_BY_TOLERANCE;
    entries[1].verdict = LAB_DIFFERS;
    entries[2].basis = LAB_COUNTERFACTUAL;
    entries[2].verdict = LAB_DIFFERS;
    entries[3].basis = LAB_FITTED;
    entries[3].verdict = LAB_AGREES;
    lab_table again = table;
    lab_entry repeated = entries[0]; /* an overview that shows the doubtful figure once more */
    repeated.basis = LAB_REPEATED;
    again.id = "overview";
    again.entries = &repeated;
    again.rows = again.columns = 1;
    lab_table tables[] = {table, again};
    lab_book book = {.tables = tables, .count = 2};
    lab_score score = lab_score_of(&book);
    assert_int_equal(score.cells, 5);
    assert_int_equal(lab_score_published(&score), 3);
    assert_int_equal(score.verdicts[LAB_DOUBTFUL], 1);
    assert_int_equal(score.verdicts[LAB_DIFFERS], 1);
    assert_int_equal(score.verdicts[LAB_AGREES], 1);
    assert_string_equal(lab_bases_text(&score, text),
                        "1 judged by chance, 1 within a stated tolerance, 1 fitted, 0 not judged");
    char *page = report_of(tables, 2);
    must_be_well_formed(page);
    check(strstr(page, text), "the report does not say on what verdicts rest");
    assert_int_equal(occurrences(page, "(doubtful)"), 1);
    check(strstr(page, "would be doubtful by chance alone"), "how many chance would give is missing");
    free(page);
}

/* The times that would come out if the thesis's program had stopped early are no second verdict on its figures. */
static void tables_of_what_a_paper_did_not_do_are_counterfactual(void **state)
{
    static const char *const ids[] = {"thesis-A.1-break", "thesis-A.2-break", "thesis-A.3-break"};
    lab_settings settings = {.urls = 1000, .runs = 1};
    double number = 1;
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const lab_study *study = lab_study_find(ids[i]);
        for (size_t row = 0; row < 2; row++) {
            lab_entry entry = {.row = study->rows[row], .column = study->columns[0], .measured = 1, .runs = 1};
            study->judge(&(lab_cell){study, &settings, row, 0, &number, NULL}, &entry);
            assert_int_equal(entry.basis, LAB_COUNTERFACTUAL);
        }
    }
}

/* An overview's figures are those of the tables that it repeats, if these were measured too. */
static void figures_of_overviews_count_in_their_tables(void **state)
{
    static const char *const ids[] = {"thesis-5.1", "thesis-5.2", "thesis-5.3", "thesis-5.4"};
    lab_settings settings = {.urls = 100, .runs = 1, .seed = 1, .threads = 1};
    lab_book book;
    (void)state;
    check(lab_book_measure(&book, ids, 4, &settings) == 0, "%s", vidi_message());
    lab_score score = lab_score_of(&book);
    assert_int_equal(lab_score_published(&score), 4 + 5 + 5);
    assert_int_equal(score.bases[LAB_REPEATED], 12);
    lab_book_free(&book);
    check(lab_book_measure(&book, ids + 3, 1, &settings) == 0, "%s", vidi_message());
    score = lab_score_of(&book);
    assert_int_equal(lab_score_published(&score), 12);
    lab_book_free(&book);
}

/* ---- papers ---- */

static void every_table_and_claim_has_its_part(void **state)
{
    const lab_experiment *experiment;
    const lab_study *study;
    const lab_claim *claim;
    const char *others = "others";
    (void)state;
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++)
        check(strcmp(lab_paper_of_table(&(lab_table){.id = experiment->id})->key, others) != 0,
              "%s belongs to no part of the report", experiment->id);
    for (size_t i = 0; (study = lab_study_at(i)); i++)
        check(strcmp(lab_paper_of_table(&(lab_table){.id = study->id})->key, others) != 0,
              "%s belongs to no part of the report", study->id);
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        check(strcmp(lab_paper_of_claim(claim)->key, others) != 0, "the claim %s belongs to no part", claim->id);
    assert_string_equal(lab_paper_of_table(&(lab_table){.id = "further-x"})->key, "thesis");
    assert_string_equal(lab_paper_of_table(&(lab_table){.id = "streams-x"})->key, "streams");
    assert_string_equal(lab_paper_of_table(&(lab_table){.id = "unheard-of"})->key, others);
    lab_claim made_up = {.source = "the thesis, section 1", .evidence = "kinds-lost"};
    assert_string_equal(lab_paper_of_claim(&made_up)->key, "thesis");
    made_up.source = "vidi, after the thesis, section 1";
    assert_string_equal(lab_paper_of_claim(&made_up)->key, "kinds");
}

/* docs/PAPERS.md has the same names and titles, in its own typography. */
static void papers_are_named_with_authors_and_titles(void **state)
{
    static const char *const ids[] = {"thesis-5.5", "multilayer-quarter", "eigen-formulas"};
    static const char *const texts[] = {
        "Thomas Hansen Gøytil, Andreas Lundberg",
        "A novel spatio-temporal scheme for reducing the rate of false positives in Bloom Filter based URL-caching",
        "Cen Zhiwang, Xu Jungang, Sun Jian",
        "A Multi-Layer Bloom Filter for Duplicated URL Detection",
        "Mai Jiang, Xiang Gao, Zaifeng Mo",
        "A Study of URL Deduplication Policy Based on Eigenvalue Extension Bloom Filter",
    };
    lab_table tables[] = {make_table(), make_table(), make_table()};
    char *papers = source_file("docs/PAPERS.md");
    (void)state;
    for (size_t i = 0; i < 3; i++)
        tables[i].id = ids[i];
    char *text = report_of(tables, 3);
    must_be_well_formed(text);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check(strstr(text, texts[i]) && papers && strstr(papers, texts[i]), "%s is not named", texts[i]);
    assert_int_equal(occurrences(text, "<h3 id=\"tables-"), 3);
    assert_int_equal(occurrences(text, "href=\"#tables-thesis\""), 3); /* at the side, in overview and contents */
    check(strstr(text, "The thesis</a></span></th><td>1</td><td>12</td><td>12</td><td>4</td><td>4</td>"),
          "the overview does not count the thesis's table");
    free(text);
    free(papers);
}

/* ---- data ---- */

static void the_numbers_of_every_run_are_there(void **state)
{
    static const char *const ids[] = {"thesis-5.5", "multilayer-original"};
    lab_settings settings = {.urls = 3000, .runs = 3, .seed = 1, .threads = 1};
    lab_book book;
    page page;
    char line[256];
    (void)state;
    check(lab_book_measure(&book, ids, 2, &settings) == 0, "%s", vidi_message());
    start(&page);
    lab_report_write(page.to, &book, &origin);
    char *text = end(&page);
    must_be_well_formed(text);
    assert_int_equal(occurrences(text, "Every run, as CSV"), 2);
    const lab_finding *finding = &book.findings[1];
    snprintf(line, sizeof line, "\n%s,%s,3000,%llu %llu %llu\n", finding->row, finding->column,
             (unsigned long long)lab_count(&book.results, 0, 1), (unsigned long long)lab_count(&book.results, 1, 1),
             (unsigned long long)lab_count(&book.results, 2, 1));
    check(strstr(text, line), "the counts are not there: %s", line);
    const lab_numbers *numbers = &book.numbers[0];
    size_t cells = lab_study_rows(numbers->study) * lab_study_columns(numbers->study);
    const double *last = &numbers->numbers[cells - 3]; /* of the first run: three columns */
    check(fabs(last[0] - last[cells]) > 0, "the runs do not differ");
    snprintf(line, sizeof line, "\n3.5 M,classic,,%.7g %.7g %.7g\n", last[0], last[cells], last[2 * cells]);
    check(strstr(text, line), "the numbers of a study are not there: %s", line);
    free(text);
    lab_book_free(&book);
}

/* Whatever the experiments are that there are. */
static void all_evidence_can_be_measured(void **state)
{
    const lab_claim *claim;
    (void)state;
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        for (const char *id = claim->evidence; *id; id += strspn(id, " ")) {
            char name[64];
            size_t length = strcspn(id, " ");
            snprintf(name, sizeof name, "%.*s", (int)length, id);
            check(lab_experiment_find(name) || lab_study_find(name), "%s: there is no experiment %s", claim->id, name);
            id += length;
        }
}

static void data_are_csv(void **state)
{
    lab_table table = make_table();
    page page;
    (void)state;
    start(&page);
    table.rows = 1;
    entries[0].row = "third, with a \"comma\"";
    entries[0].published = 1.5;
    entries[0].basis = LAB_BY_CHANCE;
    entries[0].theory_sort = LAB_BOUND;
    entries[1].theory = entries[1].z = NAN;
    entries[1].high = INFINITY;
    table.columns = 2;
    lab_csv_heads(page.to);
    lab_csv_table(page.to, &table);
    char *text = end(&page);
    assert_string_equal(text,
                        "experiment,row,column,published,theory,measured,low,high,runs,verdict,z,basis,theory_sort\n"
                        "made-up,\"third, with a \"\"comma\"\"\",1 URL,1.5,1,1,0.9,1.1,3,agrees,0,chance,bound\n"
                        "made-up,first,10 URLs,10,,10,9,,3,agrees,,unjudged,\n");
    free(text);
}

/* ---- numbers ---- */

static void numbers_have_the_digits_that_tell(void **state)
{
    static const struct {
        double value, step;
        const char *text;
    } cases[] = {
        {0.060912, 0.0001, "0.0609"},    {12345.6, 1, "12,346"},
        {1234.5, 0.1, "1234.5"},         {0, 0.001, "0"},
        {3.31e-8, 1e-10, "3.31·10⁻⁸"},   {-1234567, 1, "-1,234,567"},
        {9.999e-6, 1e-7, "1.00·10⁻⁵"},   {NAN, 1, ""},
        {1e-5, 1e-6, "0.000010"},        {100, 10, "100"},
        {1.5987e13, 1e10, "1.599·10¹³"},
    };
    char text[LAB_NUMBER_ROOM];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(lab_number(text, cases[i].value, cases[i].step), cases[i].text);
    assert_string_equal(lab_entry_number(text, 0.00004, 0.001), "0.000040");
    assert_string_equal(lab_power_of_ten(text, -12), "10⁻¹²");
}

static void texts_are_for_people(void **state)
{
    page page;
    (void)state;
    start(&page);
    lab_html_sentence(page.to, "the rate is 5 % of all");
    lab_html_sentence(page.to, "k = 3 is enough.");
    lab_html_title(page.to, "\xC3\xA4 \xC3\x28 \xF0\x9F\x98\x80 \xED\xA0\x80 \x01");
    char *text = end(&page);
    assert_string_equal(text, "The rate is 5&nbsp;% of all.k = 3 is enough.\xC3\xA4 \xEF\xBF\xBD( \xF0\x9F\x98\x80 "
                              "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD");
    free(text);
}

static void an_interval_says_how_many_digits_tell(void **state)
{
    lab_entry entry = {.printed = "6.1041%", .measured = 6.0923, .low = 6.05, .high = 6.13};
    (void)state;
    assert_true(fabs(lab_step(&entry) / 1e-3 - 1) < 1e-9);
    assert_true(fabs(lab_theory_step(&entry) / 1e-4 - 1) < 1e-9);
    entry.printed = "0";
    assert_true(fabs(lab_theory_step(&entry) / 1e-3 - 1) < 1e-9);
    entry.low = entry.high = entry.measured;
    assert_true(fabs(lab_step(&entry) / 1e-3 - 1) < 1e-9);
    entry.low -= 1e-15; /* the same number in every run, up to rounding */
    assert_true(fabs(lab_step(&entry) / 1e-3 - 1) < 1e-9);
    assert_false(lab_entry_has_interval(&entry));
}

/* Invisible digits stand in the place of missing decimals. */
static void decimals_are_aligned(void **state)
{
    lab_table table = make_table();
    (void)state;
    entries[0].printed = "15";
    entries[0].published = 15;
    entries[0].measured = entries[0].theory = 1.25;
    entries[0].low = 1.2;
    entries[0].high = 1.3;
    char *text = report_of(&table, 1);
    must_be_well_formed(text);
    check(strstr(text, "<td class=\"ours\">1.250</td>") &&
              strstr(text, "<td class=\"published\">15<i class=\"pad\">.000</i></td>") &&
              strstr(text, "<td class=\"ours\">2.00<i class=\"pad\">0</i></td>"),
          "the column is not aligned");
    free(text);
}

int main(int argc, char **argv)
{
    test_add("a report is well-formed", a_report_is_well_formed, NULL);
    test_add("an empty report is well-formed", an_empty_report_is_well_formed, NULL);
    test_add("ratios stand beside what was printed", ratios_stand_beside_what_was_printed, NULL);
    test_add("cells of other builds are shown", cells_of_other_builds_are_shown, NULL);
    test_add("cells that fail are counted", cells_that_fail_are_counted, NULL);
    test_add("all cells are judged together", all_cells_are_judged_together, NULL);
    test_add("published figures are counted once", published_figures_are_counted_once, NULL);
    test_add("tables of what a paper did not do are counterfactual",
             tables_of_what_a_paper_did_not_do_are_counterfactual, NULL);
    test_add("figures of overviews count in their tables", figures_of_overviews_count_in_their_tables, NULL);
    test_add("every table and claim has its part", every_table_and_claim_has_its_part, NULL);
    test_add("papers are named with authors and titles", papers_are_named_with_authors_and_titles, NULL);
    test_add("the numbers of every run are there", the_numbers_of_every_run_are_there, NULL);
    test_add("decimals are aligned", decimals_are_aligned, NULL);
    test_add("all evidence can be measured", all_evidence_can_be_measured, NULL);
    test_add("data are CSV", data_are_csv, NULL);
    test_add("numbers have the digits that tell", numbers_have_the_digits_that_tell, NULL);
    test_add("texts are for people", texts_are_for_people, NULL);
    test_add("an interval says how many digits tell", an_interval_says_how_many_digits_tell, NULL);
    return test_run("lab/report", argc, argv);
}
