/*
 * A table of the report: its plot, its cells, remarks on them, and its data.
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

static void put_number(FILE *to, double value, double step)
{
    char number[LAB_NUMBER_ROOM];
    fputs(lab_entry_number(number, value, step), to);
}

static void put_published(FILE *to, const lab_entry *entry)
{
    bool ratio = lab_published_is_ratio(entry);
    char text[64];
    if (ratio)
        fputs(lab_published_text(entry, text, sizeof text, 4), to);
    if (!entry->printed)
        return;
    fputs(ratio ? " (" : "", to);
    lab_html_text(to, entry->printed);
    fputs(ratio ? ")" : "", to);
}

static void put_theory(FILE *to, const lab_entry *entry)
{
    put_number(to, entry->theory, lab_theory_step(entry));
}

static void put_measured(FILE *to, const lab_entry *entry)
{
    put_number(to, entry->measured, lab_step(entry));
}

static bool has_interval(const lab_entry *entry)
{
    return entry->high > entry->low && isfinite(entry->high) && isfinite(entry->low);
}

static void put_interval(FILE *to, const lab_entry *entry)
{
    if (!has_interval(entry))
        return;
    put_number(to, entry->low, lab_step(entry));
    fputs("–", to);
    put_number(to, entry->high, lab_step(entry));
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
    void (*put)(FILE *to, const lab_entry *entry);
} parts[] = {
    {"published", "published", has_published, put_published},
    {"theory", "theory", has_theory, put_theory},
    {"ours", "ours", has_measured, put_measured},
    {"interval", "interval", has_interval, put_interval},
    {"verdict", "verdict", has_verdict, put_verdict},
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

static void put_cell(FILE *to, const struct part *part, const lab_entry *entry)
{
    fprintf(to, "<td class=\"%s\">", part->class);
    if (lab_entry_tells(entry))
        part->put(to, entry);
    else if (part->put == put_measured)
        fputs("–", to); /* there is no such cell */
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
static void put_grid_row(FILE *to, const lab_table *table, size_t row, const bool *shown, size_t lines)
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
            put_cell(to, &parts[part], &entries[column]);
        fputs("</tr>\n", to);
    }
    fputs("</tbody>\n", to);
}

static void put_grid(FILE *to, const lab_table *table)
{
    bool shown[PARTS];
    size_t lines = find_parts(table, shown);
    fputs("<table class=\"grid\">\n<thead><tr><th></th><th></th>", to);
    for (size_t column = 0; column < table->columns; column++)
        put_head(to, " scope=\"col\"", table->entries[column].column);
    fputs("</tr></thead>\n", to);
    for (size_t row = 0; row < table->rows; row++)
        put_grid_row(to, table, row, shown, lines);
    fputs("</table>\n", to);
}

static void put_list(FILE *to, const lab_table *table)
{
    bool shown[PARTS];
    find_parts(table, shown);
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
                put_cell(to, &parts[part], entry);
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

static void put_data(FILE *to, const lab_table *table)
{
    char *text = NULL;
    size_t length = 0;
    FILE *csv = open_memstream(&text, &length);
    if (csv) {
        lab_csv_heads(csv);
        lab_csv_table(csv, table);
    }
    if (csv && fclose(csv) == 0) {
        fputs("<details><summary>Data as CSV</summary><pre tabindex=\"0\">", to);
        lab_html_text(to, text);
        fputs("</pre></details>\n", to);
    }
    free(text);
}

static void put_titles(FILE *to, const lab_table *table)
{
    lab_score score = {.cells = 0};
    lab_score_add(&score, table);
    fputs("<section id=\"", to);
    lab_html_text(to, table->id);
    fputs("\">\n<h4>", to);
    lab_html_text(to, table->title);
    fputs("</h4>\n<p class=\"source\">", to);
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

void lab_report_table(FILE *to, const lab_table *table)
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
    put_data(to, table);
    fputs("</section>\n", to);
}
