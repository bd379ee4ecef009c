/*
 * The committed documentation: docs/LAB.md is its template filled with docs/lab/tables.csv, byte for byte. `make
 * lab-report` makes both, and a page in build/lab, which shows the same figures: a small report is compared with its
 * CSV.
 */
#include <ctype.h>
#include <math.h>

#include "lab/fill/figures.h"
#include "lab/pages.h"
#include "lab/report/html.h"
#include "lab/report/report.h"
#include "support/runner.h"

enum { PROBLEM_ROOM = 512 };

static char problem[PROBLEM_ROOM];

static void note_problem(void *context, size_t line, const char *sentence)
{
    (void)context;
    if (!problem[0])
        snprintf(problem, sizeof problem, "line %zu: %s", line, sentence);
}

static char *must_have(const char *name)
{
    char *text = source_file(name);
    check(text != NULL, "there is no %s", name);
    return text;
}

/* ---- the page of documentation ---- */

static void every_placeholder_names_something(void **state)
{
    lab_figures names;
    page page;
    (void)state;
    char *template = must_have("lab/report/LAB.in.md");
    check(lab_figures_names(&names) == 0, "%s", vidi_message());
    start(&page);
    problem[0] = 0;
    lab_fill_text(page.to, template, &names, note_problem, NULL);
    free(end(&page));
    check(!problem[0], "lab/report/LAB.in.md, %s", problem);
    lab_figures_free(&names);
    free(template);
}

/* The number of the first line in which the texts differ. */
static size_t first_difference(const char *a, const char *b)
{
    size_t line = 1;
    for (; *a && *a == *b; a++, b++)
        line += *a == '\n';
    return line;
}

static void the_page_is_its_template_with_the_committed_figures(void **state)
{
    lab_figures figures;
    page page;
    (void)state;
    char *csv = source_file("docs/lab/tables.csv");
    if (!csv)
        skip(); /* before the first `make lab-report` */
    char *template = must_have("lab/report/LAB.in.md"), *committed = must_have("docs/LAB.md");
    check(lab_figures_read(&figures, csv, strlen(csv)) == 0, "docs/lab/tables.csv, %s", vidi_message());
    start(&page);
    problem[0] = 0;
    lab_fill_text(page.to, template, &figures, note_problem, NULL);
    char *filled = end(&page);
    check(!problem[0], "lab/report/LAB.in.md, %s", problem);
    check(strcmp(filled, committed) == 0,
          "docs/LAB.md, line %zu differs: vidi lab fill lab/report/LAB.in.md "
          "docs/lab/tables.csv -o docs/LAB.md",
          first_difference(filled, committed));
    lab_figures_free(&figures);
    free(filled);
    free(csv);
    free(committed);
    free(template);
}

/* ---- the report ---- */

/* The data that the report offers as a file, without the escapes of its link; the caller frees them. */
static char *data_of(const char *html)
{
    static const char before[] = "href=\"data:text/csv;charset=utf-8,";
    const char *at = strstr(html, before);
    page page;
    start(&page);
    for (at = at ? at + strlen(before) : ""; *at && *at != '"'; at++) {
        if (*at == '%') {
            char digits[3];
            snprintf(digits, sizeof digits, "%.2s", at + 1);
            fputc((int)strtol(digits, NULL, 16), page.to);
            at += strlen(digits);
        } else {
            fputc(*at, page.to);
        }
    }
    return end(&page);
}

/* The table of an experiment, up to its data. */
static char *section_of(const char *html, const char *id)
{
    char start[160];
    snprintf(start, sizeof start, "<section id=\"%s\">", id);
    const char *from = strstr(html, start), *to = from ? strstr(from, "</table>") : NULL;
    return to ? strndup(from, (size_t)(to - from)) : NULL;
}

/* Whether the table shows the measurement. The data have nine digits, which may be rounded the other way. */
static bool shows(const char *section, const lab_record *record)
{
    static const double nearly[] = {1, 1 - 1e-9, 1 + 1e-9};
    lab_entry entry = {.measured = record->measured, .low = record->low, .high = record->high};
    char number[LAB_NUMBER_ROOM], cell[LAB_NUMBER_ROOM + 32];
    bool found = false;
    for (size_t i = 0; i < sizeof nearly / sizeof *nearly && !found; i++) {
        snprintf(cell, sizeof cell, "<td class=\"ours\">%s<",
                 lab_entry_number(number, nearly[i] * entry.measured, lab_step(&entry)));
        found = strstr(section, cell) != NULL;
    }
    return found;
}

/* Compares a report with figures; what is wrong is in `problem`. */
static bool agree(const char *html, const char *csv)
{
    lab_figures figures;
    char *data = data_of(html);
    problem[0] = 0;
    if (strcmp(data, csv) != 0)
        snprintf(problem, sizeof problem, "line %zu of its data differs", first_difference(data, csv));
    free(data);
    check(lab_figures_read(&figures, csv, strlen(csv)) == 0, "%s", vidi_message());
    char *section = NULL;
    for (size_t i = 0; i < figures.count && !problem[0]; i++) {
        const lab_record *record = &figures.records[i];
        if (strcmp(record->experiment, LAB_ABOUT) == 0 || strcmp(record->experiment, LAB_CLAIM) == 0)
            continue;
        if (i == 0 || strcmp(record->experiment, figures.records[i - 1].experiment) != 0) {
            free(section);
            section = section_of(html, record->experiment);
        }
        if (!section)
            snprintf(problem, sizeof problem, "there is no table %s", record->experiment);
        else if (!isnan(record->measured) && !shows(section, record))
            snprintf(problem, sizeof problem, "%s does not show %s, %s", record->experiment, record->row,
                     record->column);
    }
    free(section);
    lab_figures_free(&figures);
    return !problem[0];
}

/* A small report, and its figures. */
static void make_report(char **html, char **csv)
{
    static const char *const ids[] = {"thesis-5.5", "counting-k", "multilayer-quarter"};
    lab_settings settings = {.urls = 500, .runs = 2, .seed = 1, .threads = 1};
    const lab_origin origin = {
        "vidi lab report", "abc", "Processor, \"fast\"", "2", "1 GiB", "Linux", "cc", "", 1.5, false};
    lab_book book;
    page page;
    check(lab_book_measure(&book, ids, sizeof ids / sizeof *ids, &settings) == 0, "%s", vidi_message());
    start(&page);
    lab_report_write(page.to, &book, &origin);
    *html = end(&page);
    start(&page);
    lab_report_figures(page.to, &book, &origin);
    *csv = end(&page);
    lab_book_free(&book);
}

/* Changes the first digit after a text. */
static void change_digit(char *text, const char *after)
{
    char *at = strstr(text, after);
    check(at != NULL, "there is no %s", after);
    at += strlen(after);
    while (!isdigit((unsigned char)*at))
        at++;
    *at = *at == '9' ? '1' : '9';
}

static void a_report_that_shows_other_figures_is_found(void **state)
{
    char *html, *csv;
    (void)state;
    make_report(&html, &csv);
    check(agree(html, csv), "%s", problem);
    change_digit(csv, "about,runs,");
    check(!agree(html, csv), "changed data were not found");
    free(html);
    free(csv);
    make_report(&html, &csv);
    char *section = strstr(html, "<section id=\"counting-k\">");
    check(section != NULL, "there is no counting-k");
    change_digit(section, "<td class=\"ours\">");
    check(!agree(html, csv), "a changed table was not found");
    check(strstr(problem, "counting-k does not show"), "%s", problem);
    free(html);
    free(csv);
}

/* What the page of documentation counts is what the report counts. */
static void texts_count_as_the_report_does(void **state)
{
    lab_figures figures;
    char *html, *csv;
    page page;
    (void)state;
    make_report(&html, &csv);
    check(lab_figures_read(&figures, csv, strlen(csv)) == 0, "%s", vidi_message());
    start(&page);
    problem[0] = 0;
    lab_fill_text(
        page.to,
        "<p>{{count cells *}} cells were measured. Theory predicts {{count tested *}} of them\n\n"
        "<p>{{count published *}} published figures, each counted once: {{count chance *}} judged by chance, "
        "{{count tolerance *}} within a stated tolerance, {{count fitted *}} fitted, {{count unjudged *}} not "
        "judged.\n\n<b>{{count dependent *}}</b> agree only if\n",
        &figures, note_problem, NULL);
    char *counts = end(&page);
    check(!problem[0], "%s", problem);
    for (char *line = strtok(counts, "\n"); line; line = strtok(NULL, "\n"))
        check(strstr(html, line), "the report does not say '%s'", line);
    lab_figures_free(&figures);
    free(counts);
    free(html);
    free(csv);
}

int main(int argc, char **argv)
{
    test_add("every placeholder names something", every_placeholder_names_something, NULL);
    test_add("the page is its template with the committed figures", the_page_is_its_template_with_the_committed_figures,
             NULL);
    test_add("a report that shows other figures is found", a_report_that_shows_other_figures_is_found, NULL);
    test_add("texts count as the report does", texts_count_as_the_report_does, NULL);
    return test_run("lab/committed", argc, argv);
}
