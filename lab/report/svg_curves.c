/* The curves of plots and their symbols. */
#include <math.h>
#include <stdlib.h>

#include "lab/report/html.h"
#include "lab/report/svg_parts.h"

#define APART 3.0
#define ASIDE (2 * LAB_SVG_FULL + 0.8)

void lab_drawing_symbol(FILE *to, size_t curve, double x, double y, double r, const char *class)
{
    static const char *const corners[] = {
        NULL, /* a circle */
        "-1,-1 1,-1 1,1 -1,1",
        "0,-1.2 1.1,.8 -1.1,.8",
        "0,-1.3 1.3,0 0,1.3 -1.3,0",
        "0,1.2 1.1,-.8 -1.1,-.8",
        "-.5,-1.1 .5,-1.1 1.1,0 .5,1.1 -.5,1.1 -1.1,0",
        "-.4,-1.2 .4,-1.2 .4,-.4 1.2,-.4 1.2,.4 .4,.4 .4,1.2 -.4,1.2 -.4,.4 -1.2,.4 -1.2,-.4 -.4,-.4",
        "0,-.5 .7,-1.2 1.2,-.7 .5,0 1.2,.7 .7,1.2 0,.5 -.7,1.2 -1.2,.7 -.5,0 -1.2,-.7 -.7,-1.2",
    };
    size_t shape = (curve + curve / LAB_SVG_COLOURS) % (sizeof corners / sizeof *corners);
    if (!corners[shape]) {
        fprintf(to, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", class, x, y, r);
        return;
    }
    const char *corner = corners[shape];
    fprintf(to, "<path class=\"%s\" d=\"", class);
    for (char letter = 'M'; *corner; letter = 'L') {
        char *end;
        double dx = strtod(corner, &end), dy = strtod(end + 1, &end);
        fprintf(to, "%c%.1f %.1f", letter, x + r * dx, y + r * dy);
        corner = *end ? end + 1 : end;
    }
    fprintf(to, "z\"/>");
}

void lab_drawing_arrow(FILE *to, double x, double y)
{
    fprintf(to, "<path class=\"theory\" d=\"M%.1f %.1fv7m-2.5 -3l2.5 3l2.5 -3\"/>", x, y);
}

/* Draws a line through the values, with gaps where there are none. */
static void join(const lab_drawing *drawing, size_t curve, const char *class, double (*value)(const lab_entry *))
{
    char letter = 'M';
    fprintf(drawing->to, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < drawing->points; i++) {
        double x = lab_drawing_x(drawing, curve, i), y = value(lab_drawing_entry(drawing, curve, i));
        if (!lab_scale_has(&drawing->x, x) || !lab_scale_has(&drawing->y, y)) {
            letter = 'M';
            continue;
        }
        double at_x = lab_scale_place(&drawing->x, x), at_y = lab_scale_place(&drawing->y, y);
        if (drawing->named)
            fprintf(drawing->to, "M%.1f %.1fH%.1f", at_x - 2 * LAB_SVG_HOLLOW, at_y, at_x + 2 * LAB_SVG_HOLLOW);
        else
            fprintf(drawing->to, "%c%.1f %.1f", letter, at_x, at_y);
        letter = 'L';
    }
    fprintf(drawing->to, "\"/>\n");
}

static double derived_of(const lab_entry *entry)
{
    return entry->theory_sort == LAB_DERIVED ? entry->theory : (double)NAN;
}

static double bound_of(const lab_entry *entry)
{
    return entry->theory_sort == LAB_BOUND ? entry->theory : (double)NAN;
}

static double planned_of(const lab_entry *entry)
{
    return entry->theory_sort == LAB_PLANNED ? entry->theory : (double)NAN;
}

/* Small arrows say on which side of a bound the figures lie. */
static void draw_arrows(const lab_drawing *drawing, size_t curve)
{
    for (size_t i = 0; i < drawing->points; i++) {
        double x = lab_drawing_x(drawing, curve, i), y = bound_of(lab_drawing_entry(drawing, curve, i));
        if (lab_scale_has(&drawing->x, x) && lab_scale_has(&drawing->y, y))
            lab_drawing_arrow(drawing->to, lab_scale_place(&drawing->x, x), lab_scale_place(&drawing->y, y));
    }
}

static double measured_of(const lab_entry *entry)
{
    return entry->measured;
}

/* The tooltip of a point. */
static void say_point(const lab_drawing *drawing, const lab_entry *entry)
{
    char number[LAB_NUMBER_ROOM];
    double step = lab_step(entry);
    fprintf(drawing->to, "<title>");
    lab_html_text(drawing->to, entry->row);
    fprintf(drawing->to, ", ");
    lab_html_text(drawing->to, entry->column);
    fprintf(drawing->to, ": %s", lab_entry_number(number, entry->measured, step));
    if (isfinite(entry->low) && isfinite(entry->high)) {
        fprintf(drawing->to, " (%s", lab_entry_number(number, entry->low, step));
        fprintf(drawing->to, " – %s)", lab_entry_number(number, entry->high, step));
    }
    if (entry->printed) {
        fprintf(drawing->to, "; published ");
        lab_html_text(drawing->to, entry->printed);
    }
    fprintf(drawing->to, "</title>");
}

/* The end of a bar: at the edge, if the value is beyond it. */
static double bar_end(const lab_scale *scale, double value, double otherwise)
{
    double place = lab_scale_has(scale, value) ? lab_scale_place(scale, value) : otherwise;
    return fmin(fmax(place, -1), LAB_SVG_HEIGHT + 1);
}

/* Draws the interval. The bars of several zeros are drawn side by side. */
static void draw_bar(const lab_drawing *drawing, size_t curve, double x, const lab_entry *entry)
{
    bool shown = lab_scale_has(&drawing->y, entry->measured);
    double low = bar_end(&drawing->y, entry->low, LAB_SVG_HEIGHT + 1), high = bar_end(&drawing->y, entry->high, 0);
    if (!shown)
        x += APART * ((double)curve - (double)(drawing->curves - 1) / 2);
    fprintf(drawing->to, "<path class=\"bar%s\" d=\"M%.1f %.1fV%.1fM%.1f %.1fh6M%.1f %.1fh6\"/>", shown ? "" : " none",
            x, low, high, x - 3, low, x - 3, high);
}

/* ---- symbols that would overlap ---- */

static bool is_on(const lab_drawing *drawing, const lab_entry *a, const lab_entry *b)
{
    return lab_scale_has(&drawing->y, a->measured) && lab_scale_has(&drawing->y, b->measured) &&
           fabs(lab_scale_place(&drawing->y, a->measured) - lab_scale_place(&drawing->y, b->measured)) < ASIDE;
}

/* The distance to the nearest other point along x. */
static double gap_beside(const lab_drawing *drawing, size_t point)
{
    double place = lab_scale_place(&drawing->x, lab_drawing_x(drawing, 0, point)), least = LAB_SVG_WIDTH;
    for (size_t i = 0; i < drawing->points; i++)
        if (i != point && lab_scale_has(&drawing->x, lab_drawing_x(drawing, 0, i)))
            least = fmin(least, fabs(lab_scale_place(&drawing->x, lab_drawing_x(drawing, 0, i)) - place));
    return least;
}

/* The first curve keeps its position; others that would hide it are moved to its right and left in turn. */
static double aside(const lab_drawing *drawing, size_t curve, size_t point)
{
    size_t before = 0;
    for (size_t i = 0; i < curve && !drawing->named; i++)
        before += is_on(drawing, lab_drawing_entry(drawing, i, point), lab_drawing_entry(drawing, curve, point));
    if (before == 0)
        return 0;
    double step = fmin(ASIDE, gap_beside(drawing, point) / (double)(drawing->curves + 1));
    size_t steps = (before + 1) / 2;
    return step * (double)steps * (before % 2 ? 1 : -1);
}

static void draw_point(const lab_drawing *drawing, size_t curve, size_t point)
{
    const lab_entry *entry = lab_drawing_entry(drawing, curve, point);
    double x = lab_drawing_x(drawing, curve, point);
    if (!lab_entry_exists(entry) || !lab_scale_has(&drawing->x, x))
        return;
    x = lab_scale_place(&drawing->x, x) + aside(drawing, curve, point);
    fprintf(drawing->to, "<g>");
    say_point(drawing, entry);
    if (lab_scale_has(&drawing->y, entry->published))
        lab_drawing_symbol(drawing->to, curve, x, lab_scale_place(&drawing->y, entry->published), LAB_SVG_HOLLOW,
                           "hollow");
    if (entry->high > entry->low)
        draw_bar(drawing, curve, x, entry);
    if (lab_scale_has(&drawing->y, entry->measured))
        lab_drawing_symbol(drawing->to, curve, x, lab_scale_place(&drawing->y, entry->measured), LAB_SVG_FULL, "full");
    fprintf(drawing->to, "</g>\n");
}

static bool has_theory(const lab_drawing *drawing, size_t curve)
{
    for (size_t i = 0; i < drawing->points; i++)
        if (lab_scale_has(&drawing->y, lab_drawing_entry(drawing, curve, i)->theory))
            return true;
    return false;
}

void lab_drawing_draw(const lab_drawing *drawing, size_t curve)
{
    fprintf(drawing->to, "<g class=\"c%zu\">\n", curve % LAB_SVG_COLOURS);
    join(drawing, curve, "theory", derived_of);
    if (drawing->theory[LAB_BOUND]) {
        join(drawing, curve, "theory bound", bound_of);
        draw_arrows(drawing, curve);
    }
    if (drawing->theory[LAB_PLANNED])
        join(drawing, curve, "theory planned", planned_of);
    if (!drawing->named && !has_theory(drawing, curve))
        join(drawing, curve, "join", measured_of);
    for (size_t i = 0; i < drawing->points; i++)
        draw_point(drawing, curve, i);
    fprintf(drawing->to, "</g>\n");
}
