/* Plots of tables: axes, legend and title around the curves. See svg.h. */
#include "lab/report/svg.h"

#include <math.h>
#include <string.h>

#include "lab/report/html.h"
#include "lab/report/svg_parts.h"

enum {
    HEAD = 26,   /* above the plot, where the label of the y axis is */
    TITLE = 7,   /* space below the title of a separate file */
    AROUND = 12, /* space around the drawing of a separate file */
    TITLE_LETTERS = 50,
    LINE = 19, /* height of a line of text */
    KEY = 26   /* width of a symbol in the legend with its space */
};

static void text_at(FILE *to, double x, double y, const char *attributes, const char *text)
{
    fprintf(to, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, attributes);
    lab_html_text(to, text);
    fprintf(to, "</text>\n");
}

/* The same, compressed if the text is wider than `room`. */
static void text_within(FILE *to, double x, double y, const char *attributes, const char *text, double room)
{
    char pressed[192];
    bool fits = lab_text_width(text) <= room;
    snprintf(pressed, sizeof pressed, "%.96s textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\"", attributes,
             (int)room);
    text_at(to, x, y, fits ? attributes : pressed, text);
}

static void draw_y_axis(const lab_drawing *drawing)
{
    lab_ticks ticks;
    lab_ticks_start(&ticks, &drawing->y, drawing->y.log ? 10 : 6);
    while (lab_tick_next(&ticks, &drawing->y)) {
        double y = drawing->top + lab_scale_place(&drawing->y, ticks.value);
        fprintf(drawing->to, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>", LAB_SVG_LEFT, y,
                LAB_SVG_WIDTH - LAB_SVG_RIGHT);
        if (ticks.label[0])
            text_within(drawing->to, LAB_SVG_LEFT - 6, y + 4, " class=\"tick\" text-anchor=\"end\"", ticks.label,
                        LAB_SVG_LEFT - 8);
    }
    text_within(drawing->to, 4, drawing->top - 11, "", drawing->table->plot.y, LAB_SVG_WIDTH - 8);
}

static void draw_names(const lab_drawing *drawing)
{
    char place[96];
    double room = (LAB_SVG_WIDTH - LAB_SVG_LEFT - LAB_SVG_RIGHT) / (double)drawing->points;
    for (size_t i = 0; i < drawing->points; i++) {
        double x = LAB_SVG_LEFT + lab_scale_place(&drawing->x, (double)i), y = drawing->top + LAB_SVG_HEIGHT + 16;
        snprintf(place, sizeof place, " class=\"tick\" text-anchor=\"middle\"");
        if (drawing->names_height > 0)
            snprintf(place, sizeof place, " class=\"tick\" text-anchor=\"end\" transform=\"rotate(%d %.1f %.1f)\"",
                     -LAB_SVG_TURN, x + 4, y - 4);
        text_within(drawing->to, x + (drawing->names_height > 0 ? 4 : 0), y, place, lab_drawing_point(drawing, i),
                    drawing->names_height > 0 ? LAB_SVG_NAME : room);
    }
}

static void draw_x_axis(const lab_drawing *drawing)
{
    lab_ticks ticks;
    double bottom = drawing->top + LAB_SVG_HEIGHT;
    fprintf(drawing->to, "<path class=\"axis\" d=\"M%d %.1fH%d\"/>\n", LAB_SVG_LEFT, bottom,
            LAB_SVG_WIDTH - LAB_SVG_RIGHT);
    if (drawing->named)
        draw_names(drawing);
    else
        lab_ticks_start(&ticks, &drawing->x, 8);
    while (!drawing->named && lab_tick_next(&ticks, &drawing->x)) {
        double x = LAB_SVG_LEFT + lab_scale_place(&drawing->x, ticks.value);
        fprintf(drawing->to, "<path class=\"axis\" d=\"M%.1f %.1fv4\"/>", x, bottom);
        if (ticks.label[0])
            text_at(drawing->to, x, bottom + 17, " class=\"tick\" text-anchor=\"middle\"", ticks.label);
    }
    text_within(drawing->to, (LAB_SVG_LEFT + LAB_SVG_WIDTH - LAB_SVG_RIGHT) / 2.0, bottom + drawing->names_height + 36,
                " text-anchor=\"middle\"", drawing->table->plot.x, LAB_SVG_WIDTH - LAB_SVG_LEFT - LAB_SVG_RIGHT);
}

/* The number of lines of the legend; *columns becomes the number of names on a line. */
static size_t legend_lines(const lab_drawing *drawing, size_t *columns)
{
    size_t shown = 0;
    double widest = 0;
    for (size_t i = 0; i < drawing->curves; i++)
        if (lab_drawing_has(drawing, i)) {
            widest = fmax(widest, lab_text_width(lab_drawing_curve(drawing, i)));
            shown++;
        }
    *columns = (size_t)((LAB_SVG_WIDTH - 8) / (KEY + widest));
    *columns = *columns > shown ? shown : *columns;
    *columns = *columns < 1 ? 1 : *columns;
    return drawing->curves > 1 ? (shown + *columns - 1) / *columns : 0;
}

static void draw_legend(const lab_drawing *drawing, double y)
{
    size_t columns, place = 0;
    if (legend_lines(drawing, &columns) == 0)
        return;
    double width = (double)(LAB_SVG_WIDTH - 8) / (double)columns;
    for (size_t i = 0; i < drawing->curves; i++) {
        if (!lab_drawing_has(drawing, i))
            continue;
        size_t line = place / columns;
        double x = 12 + width * (double)(place % columns), at = y + LINE * (double)line;
        fprintf(drawing->to, "<g class=\"c%zu\">", i % LAB_SVG_COLOURS);
        lab_drawing_symbol(drawing->to, i, x, at - 4, 4, "full");
        fprintf(drawing->to, "</g>");
        text_within(drawing->to, x + 12, at, "", lab_drawing_curve(drawing, i), width - KEY + 8);
        place++;
    }
}

/* Explains hollow symbols, lines and bars. */
static void draw_key(const lab_drawing *drawing, double y)
{
    double x = 12;
    fprintf(drawing->to, "<g class=\"key\">");
    if (drawing->published) {
        lab_drawing_symbol(drawing->to, 0, x, y - 4, LAB_SVG_HOLLOW, "hollow");
        text_at(drawing->to, x + 12, y, "", "published");
        x += 106;
    }
    for (lab_theory_sort sort = LAB_DERIVED; sort <= LAB_PLANNED; sort++) {
        static const char *const names[] = {"theory", "at most", "planned"};
        static const char *const classes[] = {"theory", "theory bound", "theory planned"};
        if (!drawing->theory[sort])
            continue;
        fprintf(drawing->to, "<path class=\"%s\" d=\"M%.1f %.1fh20\"/>", classes[sort], x - 5, y - 4);
        if (sort == LAB_BOUND)
            lab_drawing_arrow(drawing->to, x + 5, y - 4);
        text_at(drawing->to, x + 20, y, "", names[sort]);
        x += 92;
    }
    fprintf(drawing->to, "<path class=\"bar\" d=\"M%.1f %.1fv14m-3 0h6m-6 -14h6\"/>", x, y - 11);
    lab_drawing_symbol(drawing->to, 0, x, y - 4, LAB_SVG_FULL, "full");
    text_at(drawing->to, x + 12, y, "", x > 250 ? "ours" : "ours, with its interval");
    fprintf(drawing->to, "</g>\n");
}

/* How many letters of the title fit on one line: whole words, unless a word is too long. */
static size_t line_length(const char *text)
{
    size_t length = strlen(text);
    if (length <= TITLE_LETTERS)
        return length;
    for (length = TITLE_LETTERS; length > 0 && text[length] != ' ';)
        length--;
    return length > 0 ? length : TITLE_LETTERS;
}

static size_t title_lines(const char *title)
{
    size_t lines = 0;
    for (; *title; lines++) {
        size_t length = line_length(title);
        title += length + strspn(title + length, " ");
    }
    return lines;
}

/* A separate file has space around the drawing, a background and a title. */
static void open_svg(const lab_drawing *drawing, double height, bool alone)
{
    int around = alone ? AROUND : 0;
    fprintf(drawing->to, "<svg class=\"plot\" viewBox=\"%d %d %d %.0f\" role=\"img\"", -around, -around,
            LAB_SVG_WIDTH + 2 * around, height + 2 * around);
    if (alone)
        fprintf(drawing->to, " xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\"",
                LAB_SVG_WIDTH + 2 * around, height + 2 * around);
    fprintf(drawing->to, " aria-label=\"");
    lab_html_text(drawing->to, drawing->table->title);
    fprintf(drawing->to, ": ");
    lab_html_text(drawing->to, drawing->table->plot.y);
    fprintf(drawing->to, " against ");
    lab_html_text(drawing->to, drawing->table->plot.x);
    fprintf(drawing->to, "\">\n");
    if (!alone)
        return;
    fprintf(drawing->to,
            "<style>\n%s%s</style>\n<rect class=\"back\" x=\"%d\" y=\"%d\" width=\"100%%\" height=\"100%%\"/>\n",
            lab_svg_colours, lab_svg_rules, -around, -around);
    double y = 14;
    for (const char *rest = drawing->table->title; *rest; y += LINE) {
        char line[TITLE_LETTERS + 1];
        size_t length = line_length(rest);
        snprintf(line, sizeof line, "%.*s", (int)length, rest);
        text_at(drawing->to, 4, y, " class=\"head\"", line);
        rest += length + strspn(rest + length, " ");
    }
}

void lab_svg_write(FILE *to, const lab_table *table, bool alone)
{
    lab_drawing drawing = {.to = to, .table = table, .top = HEAD};
    if (alone)
        drawing.top += TITLE + LINE * (double)title_lines(table->title);
    lab_drawing_prepare(&drawing);
    size_t columns, lines = legend_lines(&drawing, &columns);
    double bottom = drawing.top + LAB_SVG_HEIGHT + drawing.names_height + 36, key = bottom + 30;
    open_svg(&drawing, key + (lines ? (double)lines * LINE + 4 : 0) + 8, alone);
    draw_y_axis(&drawing);
    draw_x_axis(&drawing);
    fprintf(to, "<svg x=\"%d\" y=\"%.0f\" width=\"%d\" height=\"%d\">\n", LAB_SVG_LEFT, drawing.top,
            LAB_SVG_WIDTH - LAB_SVG_LEFT - LAB_SVG_RIGHT, LAB_SVG_HEIGHT);
    for (size_t i = 0; i < drawing.curves; i++)
        lab_drawing_draw(&drawing, i);
    fprintf(to, "</svg>\n");
    draw_key(&drawing, key);
    draw_legend(&drawing, key + LINE + 4);
    fprintf(to, "</svg>\n");
}
