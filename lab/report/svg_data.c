/* The data of a plot, read from the table whenever they are needed. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/report/html.h"
#include "lab/report/svg.h"
#include "lab/report/svg_parts.h"

const lab_entry *lab_drawing_entry(const lab_drawing *drawing, size_t curve, size_t point)
{
    const lab_table *table = drawing->table;
    size_t row = table->plot.columns ? point : curve, column = table->plot.columns ? curve : point;
    return &table->entries[row * table->columns + column];
}

const char *lab_drawing_curve(const lab_drawing *drawing, size_t curve)
{
    const lab_entry *entry = lab_drawing_entry(drawing, curve, 0);
    return drawing->table->plot.columns ? entry->column : entry->row;
}

const char *lab_drawing_point(const lab_drawing *drawing, size_t point)
{
    const lab_entry *entry = lab_drawing_entry(drawing, 0, point);
    return drawing->table->plot.columns ? entry->row : entry->column;
}

bool lab_drawing_has(const lab_drawing *drawing, size_t curve)
{
    for (size_t i = 0; i < drawing->points; i++)
        if (lab_entry_exists(lab_drawing_entry(drawing, curve, i)))
            return true;
    return false;
}

double lab_text_width(const char *text)
{
    size_t letters = 0;
    for (; *text; text++)
        letters += ((unsigned char)*text & 0xC0) != 0x80; /* bytes that begin a character */
    return (double)letters * LAB_SVG_LETTER;
}

/* The first number in a name, such as "1,000,000" or "1e6"; NAN if there is none. */
static double number_in(const char *name)
{
    char digits[32];
    size_t used = 0;
    while (*name && !isdigit((unsigned char)*name))
        name++;
    for (; *name && used + 1 < sizeof digits; name++) {
        if (*name == ',' && isdigit((unsigned char)name[1]))
            continue;
        if (!strchr("0123456789.e", *name))
            break;
        digits[used++] = *name;
    }
    digits[used] = 0;
    return used ? strtod(digits, NULL) : (double)NAN;
}

static double number_of(const lab_drawing *drawing, size_t point)
{
    const double *along = drawing->table->plot.along;
    return along ? along[point] : number_in(lab_drawing_point(drawing, point));
}

double lab_drawing_x(const lab_drawing *drawing, size_t curve, size_t point)
{
    if (!drawing->named)
        return number_of(drawing, point);
    return (double)point + 0.5 * (((double)curve + 0.5) / (double)drawing->curves - 0.5);
}

/* ---- ranges ---- */

static bool has_names(const lab_drawing *drawing)
{
    for (size_t i = 0; i < drawing->points; i++) {
        if (isnan(number_of(drawing, i)))
            return true;
        for (size_t j = 0; j < i; j++)
            if (!(number_of(drawing, i) < number_of(drawing, j)) && !(number_of(drawing, i) > number_of(drawing, j)))
                return true;
    }
    return false;
}

static void include(lab_scale *scale, double value)
{
    if (!lab_scale_has(scale, value))
        return;
    scale->low = isnan(scale->low) || value < scale->low ? value : scale->low;
    scale->high = isnan(scale->high) || value > scale->high ? value : scale->high;
}

/* Theory continues where nothing can be measured; a logarithmic scale shows only one more decade of it. */
static void include_all(lab_drawing *drawing)
{
    size_t count = drawing->table->rows * drawing->table->columns;
    const lab_entry *entries = drawing->table->entries;
    for (size_t i = 0; i < count; i++) {
        include(&drawing->y, entries[i].published);
        include(&drawing->y, entries[i].measured);
        include(&drawing->y, entries[i].high);
    }
    double least = drawing->y.log ? drawing->y.low / 10 : -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (lab_scale_has(&drawing->y, entries[i].theory))
            include(&drawing->y, fmax(entries[i].theory, least));
        if (lab_scale_has(&drawing->y, entries[i].low))
            include(&drawing->y, fmax(entries[i].low, least));
        drawing->published = drawing->published || lab_scale_has(&drawing->y, entries[i].published);
        if (lab_scale_has(&drawing->y, entries[i].theory))
            drawing->theory[entries[i].theory_sort] = true;
    }
}

/* Height below the axis that names need beyond one line; 0 if they fit side by side. */
static double height_of_names(const lab_drawing *drawing)
{
    double width = 0;
    for (size_t i = 0; i < drawing->points; i++)
        width = fmax(width, lab_text_width(lab_drawing_point(drawing, i)));
    if (width * (double)drawing->points < LAB_SVG_WIDTH - LAB_SVG_LEFT - LAB_SVG_RIGHT)
        return 0;
    return fmin(width, LAB_SVG_NAME) * sin(LAB_SVG_TURN * acos(-1) / 180);
}

static bool are_whole(const lab_drawing *drawing)
{
    for (size_t i = 0; i < drawing->points; i++)
        if (fabs(number_of(drawing, i) - round(number_of(drawing, i))) > 0)
            return false;
    return true;
}

void lab_drawing_prepare(lab_drawing *drawing)
{
    const lab_plot *plot = &drawing->table->plot;
    drawing->curves = plot->columns ? drawing->table->columns : drawing->table->rows;
    drawing->points = plot->columns ? drawing->table->rows : drawing->table->columns;
    drawing->named = has_names(drawing);
    drawing->x =
        (lab_scale){NAN, NAN, plot->log_x && !drawing->named, 0, LAB_SVG_WIDTH - LAB_SVG_LEFT - LAB_SVG_RIGHT, false};
    drawing->y = (lab_scale){NAN, NAN, plot->log_y, LAB_SVG_HEIGHT, 0, false};
    for (size_t i = 0; i < drawing->points; i++)
        include(&drawing->x, drawing->named ? (double)i : number_of(drawing, i));
    drawing->x.whole = are_whole(drawing);
    include_all(drawing);
    if (drawing->named) {
        drawing->x.low -= 0.5;
        drawing->x.high += 0.5;
    } else if (!isnan(drawing->x.low)) {
        lab_scale_widen(&drawing->x, false);
    }
    if (!isnan(drawing->y.low))
        lab_scale_widen(&drawing->y, true);
    drawing->names_height = drawing->named ? height_of_names(drawing) : 0;
}

bool lab_svg_can(const lab_table *table)
{
    lab_drawing drawing = {.table = table};
    if (!table->plot.x || !table->plot.y || table->rows * table->columns < 2)
        return false;
    lab_drawing_prepare(&drawing);
    return drawing.points > 1 && !isnan(drawing.x.low) && !isnan(drawing.y.low);
}
