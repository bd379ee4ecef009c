/*
 * The report and its plots: that they are well-formed whatever the names are, that every link leads somewhere and
 * nothing comes from elsewhere, and that a plot's points are where their numbers say.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/report/html.h"
#include "lab/report/report.h"
#include "lab/report/svg.h"
#include "support/runner.h"

/* ---- texts that are written to memory ---- */

typedef struct page {
    FILE *to;
    char *text;
    size_t length;
} page;

/* The page stays where it is until its end. */
static void start(page *page)
{
    page->to = open_memstream(&page->text, &page->length);
    check(page->to != NULL, "no memory");
}

static char *end(page *page)
{
    check(fclose(page->to) == 0, "no memory");
    check(strlen(page->text) == page->length, "a zero byte at %zu of %zu", strlen(page->text), page->length);
    return page->text;
}

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        count++;
    return count;
}

/* ---- a reader of HTML that forgives nothing ---- */

enum { DEPTH = 64, IDS = 4096 };

typedef struct reader {
    char open[DEPTH][32];
    size_t depth;
    const char *ids[IDS], *links[IDS]; /* where they begin, up to a quote */
    size_t id_count, link_count;
} reader;

static bool same_value(const char *a, const char *b)
{
    size_t length = strcspn(a, "\"");
    return length == strcspn(b, "\"") && memcmp(a, b, length) == 0;
}

static bool is_void(const char *name)
{
    return strcmp(name, "meta") == 0 || strcmp(name, "link") == 0 || strcmp(name, "!DOCTYPE") == 0;
}

/* name="value", and nothing else; where it ends. */
static const char *read_attribute(reader *reader, const char *at)
{
    size_t name = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
    check(name > 0 && strncmp(at + name, "=\"", 2) == 0, "an odd attribute: %.60s", at);
    const char *value = at + name + 2;
    size_t length = strcspn(value, "\"<>");
    check(value[length] == '"', "a value that does not end well: %.60s", at);
    if (strncmp(at, "id=", 3) == 0) {
        for (size_t i = 0; i < reader->id_count; i++)
            check(!same_value(reader->ids[i], value), "twice the same id: %.60s", at);
        check(reader->id_count < IDS, "too many ids");
        reader->ids[reader->id_count++] = value;
    }
    check(strncmp(at, "src=", 4) != 0, "something from elsewhere: %.60s", at);
    if (strncmp(at, "href=\"#", 7) == 0) {
        check(reader->link_count < IDS, "too many links");
        reader->links[reader->link_count++] = value + 1;
    } else if (strncmp(at, "href=", 5) == 0) {
        check(strncmp(value, "data:", 5) == 0, "a link to elsewhere: %.60s", at);
    }
    return value + length + 1;
}

static const char *read_start(reader *reader, const char *at)
{
    char name[32];
    size_t length = strcspn(at, " />\n");
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    check(strcmp(name, "script") != 0, "a script");
    for (at += length; *at == ' ';) {
        at++;
        at = strcmp(name, "!DOCTYPE") == 0 ? at + strcspn(at, ">") : read_attribute(reader, at);
    }
    if (at[0] == '/' && at[1] == '>')
        return at + 2;
    check(*at == '>', "<%s does not end: %.40s", name, at);
    if (!is_void(name)) {
        check(reader->depth < DEPTH, "too deep");
        memcpy(reader->open[reader->depth++], name, sizeof name);
    }
    return at + 1;
}

static const char *read_end(reader *reader, const char *at)
{
    size_t length = strcspn(at, ">");
    check(reader->depth > 0, "</%.*s> ends nothing", (int)length, at);
    const char *name = reader->open[--reader->depth];
    check(strlen(name) == length && memcmp(name, at, length) == 0, "</%.*s> where </%s> belongs", (int)length, at,
          name);
    return at + length + 1;
}

static const char *read_entity(const char *at)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&nbsp;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(at, known[i], strlen(known[i])) == 0)
            return at + strlen(known[i]);
    fail_msg("a bare &: %.40s", at);
    return at;
}

static void check_links(const reader *reader)
{
    for (size_t i = 0; i < reader->link_count; i++) {
        bool found = false;
        for (size_t j = 0; j < reader->id_count && !found; j++)
            found = same_value(reader->links[i], reader->ids[j]);
        check(found, "a link that leads nowhere: %.60s", reader->links[i]);
    }
}

/* Style sheets are taken as they are. */
static void must_be_well_formed(const char *text)
{
    static reader reader;
    memset(&reader, 0, sizeof reader);
    for (const char *at = text; *at;) {
        bool style = reader.depth > 0 && strcmp(reader.open[reader.depth - 1], "style") == 0;
        if (style && strncmp(at, "</style>", 8) != 0)
            at++;
        else if (at[0] == '<' && at[1] == '/')
            at = read_end(&reader, at + 2);
        else if (at[0] == '<')
            at = read_start(&reader, at + 1);
        else if (at[0] == '&')
            at = read_entity(at);
        else
            at++;
    }
    check(reader.depth == 0, "<%s> is not closed", reader.depth ? reader.open[reader.depth - 1] : "");
    check_links(&reader);
}

/* ---- made-up tables ---- */

enum { ROWS = 3, COLUMNS = 4 };

static const char *const row_names[ROWS] = {"first", "<script>alert(\"&\")</script>", "third, with a \"comma\""};
static const char *const column_names[COLUMNS] = {"1 URL", "10 URLs", "100 URLs", "1,000 URLs"};

static lab_entry entries[ROWS * COLUMNS];

/* Row r has (r + 1) 10^column, an interval around it, theory, and published values in the first row. */
static lab_table make_table(void)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        double value = (double)(i / COLUMNS + 1) * pow(10, (double)(i % COLUMNS));
        entries[i] = (lab_entry){.row = row_names[i / COLUMNS],
                                 .column = column_names[i % COLUMNS],
                                 .published = NAN,
                                 .theory = value,
                                 .measured = value,
                                 .low = value * 0.9,
                                 .high = value * 1.1,
                                 .runs = 3,
                                 .z = 0,
                                 .verdict = LAB_NO_FIGURE};
        if (i < COLUMNS) {
            entries[i].printed = "1.5%";
            entries[i].published = value;
            entries[i].verdict = LAB_AGREES;
        }
    }
    return (lab_table){.id = "made-up",
                       .title = "A title with <b> & \"quotes\"",
                       .source = "the <paper>, section 1",
                       .note = "A note: 5 < 6 & 7 > 6.",
                       .unit = "%",
                       .plot = {.x = "URLs <n>", .y = "rate & more", .log_x = true, .log_y = true},
                       .entries = entries,
                       .rows = ROWS,
                       .columns = COLUMNS};
}

static const lab_origin origin = {"vidi lab report '<&>' \xFF", "abc", "A \"processor\""};

static char *report_of(lab_table *tables, size_t count)
{
    lab_book book = {.settings = {.urls = 1000, .runs = 3, .seed = 1}, .tables = tables, .count = count};
    page page;
    start(&page);
    lab_report_write(page.to, &book, &origin);
    return end(&page);
}

static char *plot_of(const lab_table *table, bool alone)
{
    page page;
    start(&page);
    lab_svg_write(page.to, table, alone);
    return end(&page);
}

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
    check(strstr(text, "commit abc") && strstr(text, "A &quot;processor&quot;"), "what made it is not there");
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
    check(strstr(text, "<td class=\"published\">1.50%</td><td class=\"published\">1.288 (4246 &lt;ms&gt;)</td>"
                       "<td class=\"published\">2.5</td><td class=\"published\">0.125</td>"),
          "published figures are not shown");
    check(!strstr(text, "inf"), "something infinite is shown");
    check(strstr(text, "made-up,first,1 URL,1.50,1,") && strstr(text, "made-up,first,10 URLs,1.28822816,10,") &&
              strstr(text, "made-up,first,100 URLs,,100,") &&
              strstr(text, "made-up,first,&quot;1,000 URLs&quot;,0.125,1000,"),
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
    check(strstr(text, "<p>All together: the largest |z| of 12 different cells is 6.00; by chance it exceeds "
                       "3.34 at most once in a hundred times; 1 cell contradicts theory.</p>"),
          "%.200s", strstr(text, "All together") ? strstr(text, "All together") : "nothing is said of all cells");
    check(strstr(text, "with theory. 1 run of 1 URL, seed 7.</p>"), "one run is not one");
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
    lab_book book = {.tables = &table, .count = 1};
    lab_score score = lab_score_of(&book);
    assert_int_equal(score.cells, 4);
    assert_int_equal(score.verdicts[LAB_DIFFERS], 1);
    assert_int_equal(score.verdicts[LAB_AGREES], 1);
    assert_string_equal(lab_bases_text(&score, text),
                        "1 judged by chance, 1 within a stated tolerance, 1 fitted, 0 not judged");
    char *page = report_of(&table, 1);
    must_be_well_formed(page);
    check(strstr(page, text), "the report does not say on what verdicts rest");
    check(strstr(page, "(doubtful)"), "the doubtful figure is not named");
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
            study->judge(study, &settings, row, 0, &number, &entry);
            assert_int_equal(entry.basis, LAB_COUNTERFACTUAL);
        }
    }
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
    entries[1].theory = NAN;
    entries[1].high = INFINITY;
    table.columns = 2;
    lab_csv_heads(page.to);
    lab_csv_table(page.to, &table);
    char *text = end(&page);
    assert_string_equal(text, "experiment,row,column,published,theory,measured,low,high,runs,verdict\n"
                              "made-up,\"third, with a \"\"comma\"\"\",1 URL,1.5,1,1,0.9,1.1,3,agrees\n"
                              "made-up,first,10 URLs,10,,10,9,,3,agrees\n");
    free(text);
}

/* ---- numbers ---- */

static void numbers_have_the_digits_that_tell(void **state)
{
    static const struct {
        double value, step;
        const char *text;
    } cases[] = {
        {0.060912, 0.0001, "0.0609"},  {12345.6, 1, "12,346"},
        {1234.5, 0.1, "1234.5"},       {0, 0.001, "0"},
        {3.31e-8, 1e-10, "3.31·10⁻⁸"}, {-1234567, 1, "-1,234,567"},
        {9.999e-6, 1e-7, "1.00·10⁻⁵"}, {NAN, 1, ""},
        {1e-5, 1e-6, "0.000010"},      {100, 10, "100"},
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
}

/* ---- plots ---- */

/* The centres of the circles of that class, in their order: those of the first curve. */
static size_t circles(const char *text, const char *class, double x[], double y[], size_t most)
{
    char start[64];
    size_t count = 0;
    snprintf(start, sizeof start, "<circle class=\"%s\" cx=\"", class);
    for (; (text = strstr(text, start)) && count < most; count++) {
        text += strlen(start);
        check(sscanf(text, "%lf\" cy=\"%lf\"", &x[count], &y[count]) == 2, "an odd circle: %.60s", text);
    }
    return count;
}

static void points_are_where_their_numbers_say(void **state)
{
    lab_table table = make_table();
    double x[8], y[8], ours_x[8], ours_y[8];
    (void)state;
    assert_true(lab_svg_can(&table));
    char *text = plot_of(&table, false);
    must_be_well_formed(text);
    /* One more of each is in the legend. */
    assert_int_equal(circles(text, "hollow", x, y, 8), COLUMNS + 1);
    assert_int_equal(circles(text, "full", ours_x, ours_y, 8), COLUMNS + 2);
    for (size_t i = 0; i < COLUMNS; i++)
        check(fabs(x[i] - ours_x[i]) < 0.11 && fabs(y[i] - ours_y[i]) < 0.11, "point %zu is in two places", i);
    for (size_t i = 2; i < COLUMNS; i++) {
        check(fabs((x[i] - x[i - 1]) - (x[1] - x[0])) < 0.25, "x is not logarithmic");
        check(fabs((y[i] - y[i - 1]) - (y[1] - y[0])) < 0.25, "y is not logarithmic");
    }
    check(x[1] > x[0] + 20 && y[1] < y[0] - 20, "not to the right and up");
    free(text);
    table.plot.log_x = table.plot.log_y = false;
    text = plot_of(&table, false);
    assert_int_equal(circles(text, "hollow", x, y, 8), COLUMNS + 1);
    check(fabs((x[2] - x[0]) / (x[3] - x[0]) - 99.0 / 999) < 0.005, "x is not linear");
    check(fabs((y[2] - y[0]) / (y[3] - y[0]) - 99.0 / 999) < 0.005, "y is not linear");
    free(text);
}

/* The centres of filled marks whose points have this number, one a curve. */
static size_t marks_of(const char *text, const char *column, double x[], size_t most)
{
    size_t count = 0;
    for (; (text = strstr(text, column)) && count < most; count++) {
        const char *bar = strstr(text, "class=\"bar\" d=\"M");
        check(bar && sscanf(bar, "class=\"bar\" d=\"M%lf", &x[count]) == 1, "no bar: %.60s", text);
        text += strlen(column);
    }
    return count;
}

/* Three curves of the same values, all of which are to be seen; others stay where they belong. */
static void marks_do_not_hide_one_another(void **state)
{
    lab_table table = make_table();
    double same[8], other[8];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        lab_entry *entry = &entries[i * COLUMNS + 1];
        entry->measured = entry->theory = 10;
        entry->low = 9;
        entry->high = 11;
    }
    char *text = plot_of(&table, false);
    assert_int_equal(marks_of(text, ", 10 URLs: ", same, 8), ROWS);
    assert_int_equal(marks_of(text, ", 100 URLs: ", other, 8), ROWS);
    check(same[1] - same[0] > 5 && same[1] - same[0] < 8, "the second lies on the first");
    check(same[0] - same[2] > 5 && same[0] - same[2] < 8, "the third lies on the first");
    check(fabs(other[1] - other[0]) < 0.11 && fabs(other[2] - other[0]) < 0.11, "those with room stand aside");
    free(text);
}

static void curves_are_rows_or_columns(void **state)
{
    lab_table table = make_table();
    (void)state;
    char *text = plot_of(&table, false);
    assert_int_equal(occurrences(text, "<g class=\"c"), 2 * ROWS); /* once more in the legend */
    check(strstr(text, ">100</text>"), "the axis has no tick at 100");
    free(text);
    table.plot.columns = true; /* now the points have names, and no numbers */
    text = plot_of(&table, false);
    assert_int_equal(occurrences(text, "<g class=\"c"), 2 * COLUMNS);
    check(strstr(text, ">first</text>"), "the axis does not name its points");
    must_be_well_formed(text);
    free(text);
    static const double along[] = {2, 4, 6};
    table.plot.along = along;
    table.plot.log_x = false;
    text = plot_of(&table, false);
    check(strstr(text, ">4</text>") && !strstr(text, ">first</text>"), "the axis has no tick at 4");
    free(text);
}

static void what_a_scale_cannot_show_is_left_out(void **state)
{
    lab_table table = make_table();
    double x[8], y[8];
    (void)state;
    entries[0].measured = entries[0].low = entries[0].theory = 0;
    entries[5].measured = entries[5].low = entries[5].high = entries[5].theory = NAN;
    char *text = plot_of(&table, false);
    assert_int_equal(circles(text, "full", x, y, 8), COLUMNS + 1);
    check(strstr(text, "bar none"), "the interval of a zero is not there");
    assert_int_equal(circles(text, "hollow", x, y, 8), COLUMNS + 1);
    check(fabs((x[2] - x[1]) - (x[1] - x[0])) < 0.25, "what was published is not in its place");
    check(!strstr(text, "nan") && !strstr(text, "inf"), "a place that is no number");
    must_be_well_formed(text);
    free(text);
    for (size_t i = 2 * COLUMNS; i < 3 * COLUMNS; i++)
        entries[i].measured = entries[i].low = entries[i].high = entries[i].theory = NAN;
    text = plot_of(&table, false);
    check(!strstr(text, "third"), "the legend names a curve without points");
    free(text);
    text = report_of(&table, 1);
    assert_int_equal(occurrences(text, "rowspan="), 2);
    free(text);
}

static void a_plot_alone_is_a_file(void **state)
{
    lab_table table = make_table();
    (void)state;
    table.title = "A title that is far too long to fit on one line of the plot, so that it takes two of them";
    char *text = plot_of(&table, true);
    must_be_well_formed(text);
    check(strncmp(text, "<svg ", 5) == 0 && strstr(text, "xmlns=\"http://www.w3.org/2000/svg\""), "no SVG file");
    check(strstr(text, "prefers-color-scheme:dark"), "it is not for dark pages");
    assert_int_equal(occurrences(text, "class=\"head\""), 2);
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
    test_add("all evidence can be measured", all_evidence_can_be_measured, NULL);
    test_add("data are CSV", data_are_csv, NULL);
    test_add("numbers have the digits that tell", numbers_have_the_digits_that_tell, NULL);
    test_add("texts are for people", texts_are_for_people, NULL);
    test_add("an interval says how many digits tell", an_interval_says_how_many_digits_tell, NULL);
    test_add("points are where their numbers say", points_are_where_their_numbers_say, NULL);
    test_add("marks do not hide one another", marks_do_not_hide_one_another, NULL);
    test_add("curves are rows or columns", curves_are_rows_or_columns, NULL);
    test_add("what a scale cannot show is left out", what_a_scale_cannot_show_is_left_out, NULL);
    test_add("a plot alone is a file", a_plot_alone_is_a_file, NULL);
    return test_run("lab/report", argc, argv);
}
