/*
 * A table of the report: its plot, its cells, remarks on them, and the numbers of its runs.
 *
 * Tables with several rows and columns become a grid, in which every row has lines for the published figure, theory,
 * ours, the interval and the verdict; lines that would be empty everywhere are left out. Other tables become a list
 * with one line for each cell.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/report/html.h"
#include "lab/report/report.h"
#include "lab/report/svg.h"

enum {
    CELLS_NAMED = 6, /* cells named before a common remark; further ones are counted */
    REMARKS_OPEN = 8 /* more remarks than this are folded up */
};

/* ---- one cell ---- */

/* A figure as text. Its number is aligned at the decimal point with those above and below it. */
typedef struct figure {
    const char *before; /* "at most", "planned" or nothing */
    char text[128];
    size_t number; /* bytes of the text that are the number; what follows is not aligned */
    int decimals;  /* NOT_ALIGNED: it has a power of ten */
} figure;

enum { NOT_ALIGNED = -1 };

static void measure_figure(figure *figure)
{
    figure->number = strspn(figure->text, "-0123456789,.");
    const char *point = memchr(figure->text, '.', figure->number);
    figure->decimals = point ? (int)(figure->text + figure->number - point) - 1 : 0;
    if (figure->number == 0 || strncmp(figure->text + figure->number, "·", strlen("·")) == 0)
        figure->decimals = NOT_ALIGNED;
}

static figure figure_of_number(double value, double step)
{
    char number[LAB_NUMBER_ROOM];
    figure figure = {.before = ""};
    snprintf(figure.text, sizeof figure.text, "%s", lab_entry_number(number, value, step));
    measure_figure(&figure);
    return figure;
}

static figure figure_of_published(const lab_entry *entry)
{
    bool ratio = lab_published_is_ratio(entry);
    const char *printed = entry->printed ? entry->printed : "";
    char text[64] = "";
    figure figure = {.before = ""};
    if (ratio)
        lab_published_text(entry, text, sizeof text, 4);
    snprintf(figure.text, sizeof figure.text, ratio && printed[0] ? "%s (%.48s)" : "%s%.48s", text, printed);
    measure_figure(&figure);
    return figure;
}

static figure figure_of_theory(const lab_entry *entry)
{
    static const char *const before[] = {"", "at most", "planned"};
    figure figure = figure_of_number(entry->theory, lab_theory_step(entry));
    figure.before = isnan(entry->theory) ? "" : before[entry->theory_sort];
    return figure;
}

static figure figure_of_ours(const lab_entry *entry)
{
    return figure_of_number(entry->measured, lab_step(entry));
}

static figure figure_of_interval(const lab_entry *entry)
{
    char low[LAB_NUMBER_ROOM], high[LAB_NUMBER_ROOM];
    figure figure = {.before = "", .decimals = NOT_ALIGNED};
    if (lab_entry_has_interval(entry))
        snprintf(figure.text, sizeof figure.text, "%s–%s", lab_entry_number(low, entry->low, lab_step(entry)),
                 lab_entry_number(high, entry->high, lab_step(entry)));
    return figure;
}

/* Writes a figure with invisible digits in the place of missing decimals. A per cent sign hangs over the edge. */
static void put_figure(FILE *to, const figure *figure, int decimals)
{
    bool aligned = figure->decimals != NOT_ALIGNED;
    const char *after = figure->text + (aligned ? figure->number : 0);
    bool percent = aligned && strcmp(after, "%") == 0;
    if (figure->before[0])
        fprintf(to, "<i class=\"sort\">%s</i> ", figure->before);
    if (aligned)
        fprintf(to, "%.*s", (int)figure->number, figure->text);
    fputs(percent ? "<span class=\"unit\">" : "", to);
    lab_html_text(to, after);
    fputs(percent ? "</span>" : "", to);
    if (!aligned || figure->decimals >= decimals || (after[0] && !percent))
        return;
    fprintf(to, "<i class=\"pad\">%s%.*s</i>", figure->decimals ? "" : ".", decimals - figure->decimals, "0000000000");
}

static void put_verdict(FILE *to, const lab_entry *entry)
{
    if (entry->verdict != LAB_NO_FIGURE)
        lab_report_verdict(to, entry->verdict, lab_verdict_name(entry->verdict));
}

static bool has_published(const lab_entry *entry)
{
    return entry->printed != NULL || !isnan(entry->published);
}

static bool has_theory(const lab_entry *entry)
{
    return !isnan(entry->theory);
}

static bool has_measured(const lab_entry *entry)
{
    return !isnan(entry->measured);
}

static bool has_verdict(const lab_entry *entry)
{
    return entry->verdict != LAB_NO_FIGURE;
}

/* The parts of a cell, in the order in which they are shown. */
static const struct part {
    const char *name, *class;
    bool (*has)(const lab_entry *entry);
    figure (*figure)(const lab_entry *entry); /* NULL: it is the verdict */
} parts[] = {
    {"published", "published", has_published, figure_of_published},
    {"theory", "theory", has_theory, figure_of_theory},
    {"ours", "ours", has_measured, figure_of_ours},
    {"interval", "interval", lab_entry_has_interval, figure_of_interval},
    {"verdict", "verdict", has_verdict, NULL},
};

enum { PARTS = sizeof parts / sizeof *parts };

/* Finds the parts that at least one cell of the table has, and returns their number. */
static size_t find_parts(const lab_table *table, bool shown[PARTS])
{
    size_t count = 0;
    for (size_t part = 0; part < PARTS; part++) {
        shown[part] = false;
        for (size_t i = 0; i < table->rows * table->columns && !shown[part]; i++)
            shown[part] = lab_entry_tells(&table->entries[i]) && parts[part].has(&table->entries[i]);
        count += shown[part];
    }
    return count;
}

/* The most decimals that a part has in every `step`th cell from `first` on. */
static int most_decimals(const lab_table *table, const struct part *part, size_t first, size_t step)
{
    int most = 0;
    for (size_t i = first; i < table->rows * table->columns && part->figure; i += step) {
        figure figure = part->figure(&table->entries[i]);
        most = figure.decimals > most ? figure.decimals : most;
    }
    return most;
}

/* The most decimals of all parts in a column. */
static int decimals_of_column(const lab_table *table, size_t column)
{
    int most = 0;
    for (size_t part = 0; part < PARTS; part++) {
        int decimals = most_decimals(table, &parts[part], column, table->columns);
        most = decimals > most ? decimals : most;
    }
    return most;
}

static void put_cell(FILE *to, const struct part *part, const lab_entry *entry, int decimals)
{
    fprintf(to, "<td class=\"%s\">", part->class);
    if (lab_entry_tells(entry) && part->figure) {
        figure figure = part->figure(entry);
        put_figure(to, &figure, decimals);
    } else if (lab_entry_tells(entry)) {
        put_verdict(to, entry);
    } else if (part->figure == figure_of_ours) {
        fputs("–", to); /* there is no such cell */
    }
    fputs("</td>", to);
}

static void put_head(FILE *to, const char *attributes, const char *text)
{
    fprintf(to, "<th%s><span>", attributes);
    lab_html_text(to, text);
    fputs("</span></th>", to);
}

/* ---- grids and lists ---- */

/* Empty rows are left out. */
static void put_grid_row(FILE *to, const lab_table *table, size_t row, const bool *shown, size_t lines,
                         const int *decimals)
{
    const lab_entry *entries = &table->entries[row * table->columns];
    size_t cells = 0;
    char span[64];
    for (size_t column = 0; column < table->columns; column++)
        cells += lab_entry_tells(&entries[column]);
    if (cells == 0)
        return;
    snprintf(span, sizeof span, " scope=\"rowgroup\" rowspan=\"%zu\"", lines);
    fputs("<tbody>\n", to);
    for (size_t part = 0, line = 0; part < PARTS; part++) {
        if (!shown[part])
            continue;
        fputs("<tr>", to);
        if (line++ == 0)
            put_head(to, span, entries[0].row);
        put_head(to, " scope=\"row\"", parts[part].name);
        for (size_t column = 0; column < table->columns; column++)
            put_cell(to, &parts[part], &entries[column], decimals[column]);
        fputs("</tr>\n", to);
    }
    fputs("</tbody>\n", to);
}

static void put_grid(FILE *to, const lab_table *table)
{
    bool shown[PARTS];
    size_t lines = find_parts(table, shown);
    int *decimals = calloc(table->columns, sizeof *decimals);
    for (size_t column = 0; column < table->columns && decimals; column++)
        decimals[column] = decimals_of_column(table, column);
    fputs("<table class=\"grid\">\n<thead><tr><th></th><th></th>", to);
    for (size_t column = 0; column < table->columns; column++)
        put_head(to, " scope=\"col\"", table->entries[column].column);
    fputs("</tr></thead>\n", to);
    for (size_t row = 0; row < table->rows && decimals; row++)
        put_grid_row(to, table, row, shown, lines, decimals);
    fputs("</table>\n", to);
    free(decimals);
}

static void put_list(FILE *to, const lab_table *table)
{
    bool shown[PARTS];
    int decimals[PARTS];
    find_parts(table, shown);
    for (size_t part = 0; part < PARTS; part++)
        decimals[part] = most_decimals(table, &parts[part], 0, 1);
    fputs("<table class=\"list\">\n<thead><tr>", to);
    put_head(to, " scope=\"col\"", table->columns == 1 ? table->entries[0].column : table->entries[0].row);
    for (size_t part = 0; part < PARTS; part++)
        if (shown[part])
            put_head(to, " scope=\"col\"", parts[part].name);
    fputs("</tr></thead>\n<tbody>\n", to);
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        const lab_entry *entry = &table->entries[i];
        fputs("<tr>", to);
        put_head(to, " scope=\"row\"", table->columns == 1 ? entry->row : entry->column);
        for (size_t part = 0; part < PARTS; part++)
            if (shown[part])
                put_cell(to, &parts[part], entry, decimals[part]);
        fputs("</tr>\n", to);
    }
    fputs("</tbody>\n</table>\n", to);
}

/* ---- remarks and the rest of the section ---- */

/* Whether an earlier cell has the same remark. */
static bool is_repeated(const lab_table *table, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(table->entries[i].remark, table->entries[index].remark) == 0)
            return true;
    return false;
}

/* Writes a remark after the names of the cells that have it. */
static void put_remark(FILE *to, const lab_table *table, size_t index)
{
    const char *remark = table->entries[index].remark, *between = "<li><b>";
    size_t named = 0;
    for (size_t i = index; i < table->rows * table->columns; i++) {
        const lab_entry *entry = &table->entries[i];
        if (strcmp(entry->remark, remark) != 0 || ++named > CELLS_NAMED)
            continue;
        fputs(between, to);
        lab_html_text(to, entry->row);
        fputs(", ", to);
        lab_html_text(to, entry->column);
        between = "; ";
    }
    if (named > CELLS_NAMED)
        fprintf(to, " and %zu more", named - CELLS_NAMED);
    fputs("</b>: ", to);
    lab_html_sentence(to, remark);
    fputs("</li>\n", to);
}

static void put_table_remarks(FILE *to, const lab_table *table)
{
    if (!table->remarks || !table->remarks[0])
        return;
    fputs("<ul class=\"remarks\">\n", to);
    for (const char *line = table->remarks; *line;) {
        size_t length = strcspn(line, "\n");
        char sentence[2 * LAB_REMARK_ROOM];
        snprintf(sentence, sizeof sentence, "%.*s", (int)(length < sizeof sentence ? length : sizeof sentence - 1),
                 line);
        fputs("<li>", to);
        lab_html_sentence(to, sentence);
        fputs("</li>\n", to);
        line += length + (line[length] == '\n');
    }
    fputs("</ul>\n", to);
}

static void put_remarks(FILE *to, const lab_table *table)
{
    size_t count = 0, cells = table->rows * table->columns;
    put_table_remarks(to, table);
    for (size_t i = 0; i < cells; i++)
        count += table->entries[i].remark[0] && !is_repeated(table, i);
    if (count == 0)
        return;
    if (count > REMARKS_OPEN)
        fprintf(to, "<details><summary>%zu remarks</summary>\n", count);
    fputs("<ul class=\"remarks\">\n", to);
    for (size_t i = 0; i < cells; i++)
        if (table->entries[i].remark[0] && !is_repeated(table, i))
            put_remark(to, table, i);
    fputs(count > REMARKS_OPEN ? "</ul></details>\n" : "</ul>\n", to);
}

static void put_titles(FILE *to, const lab_table *table)
{
    lab_score score = {.cells = 0};
    lab_score_add(&score, table);
    fputs("<section id=\"", to);
    lab_html_text(to, table->id);
    fputs("\">\n<h4>", to);
    lab_html_text(to, table->title);
    fputs(" <a class=\"back\" href=\"#contents\">contents</a></h4>\n<p class=\"source\">", to);
    lab_html_title(to, table->source);
    fputs(" · <code>", to);
    lab_html_text(to, table->id);
    fputs("</code> · ", to);
    lab_report_score(to, &score);
    fputs("</p>\n<p>In ", to);
    lab_html_text(to, table->unit);
    fputs(". ", to);
    lab_html_title(to, table->note ? table->note : "");
    fputs("</p>\n", to);
}

void lab_report_table(FILE *to, const lab_book *book, const lab_table *table)
{
    put_titles(to, table);
    if (lab_svg_can(table)) {
        fputs("<figure>\n", to);
        lab_svg_write(to, table, false);
        fputs("</figure>\n", to);
    }
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", to);
    lab_html_text(to, table->title);
    fputs("\">\n", to);
    if (table->rows > 1 && table->columns > 1)
        put_grid(to, table);
    else
        put_list(to, table);
    fputs("</div>\n", to);
    put_remarks(to, table);
    lab_report_raw(to, book, table);
    fputs("</section>\n", to);
}
