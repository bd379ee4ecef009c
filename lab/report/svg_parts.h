/* Shared by the files that draw plots: svg.c, svg_data.c, svg_curves.c and svg_scale.c. */
#ifndef VIDI_LAB_REPORT_SVG_PARTS_H
#define VIDI_LAB_REPORT_SVG_PARTS_H

#include <stdio.h>

#include "lab/engine/study.h"

/* ---- scales: svg_scale.c ---- */

typedef struct lab_scale {
    double low, high;
    bool log;
    double from, to; /* positions of low and high in the drawing */
    bool whole;      /* ticks are whole numbers */
} lab_scale;

double lab_scale_place(const lab_scale *scale, double value);

/* Whether the scale can show the value. */
bool lab_scale_has(const lab_scale *scale, double value);

/*
 * Widens a scale from the minimum to the maximum a little, so that it is not empty. With `zero`, it begins at 0 if that
 * is not far.
 */
void lab_scale_widen(lab_scale *scale, bool zero);

/* Iterates over the ticks; each has a label, which may be empty. */
typedef struct lab_ticks {
    double value;
    char label[64];
    double step; /* this and the following fields belong to lab_tick_next */
    long index, last;
    int labelled; /* number of decades between labels */
    bool powers;
} lab_ticks;

void lab_ticks_start(lab_ticks *ticks, const lab_scale *scale, int most);
bool lab_tick_next(lab_ticks *ticks, const lab_scale *scale);

/* ---- data: svg_data.c ---- */

enum {
    LAB_SVG_WIDTH = 480,
    LAB_SVG_LEFT = 58, /* left edge of the plot itself */
    LAB_SVG_RIGHT = 14,
    LAB_SVG_HEIGHT = 260,
    LAB_SVG_LETTER = 8, /* approximate width of a letter */
    LAB_SVG_TURN = 50,  /* degrees by which long names are rotated */
    LAB_SVG_NAME = 130, /* greatest width of a name */
    LAB_SVG_COLOURS = 8
};

typedef struct lab_drawing {
    FILE *to;
    const lab_table *table;
    size_t curves, points;
    bool named;                   /* points along x have names instead of numbers */
    bool published;               /* whether the table has any */
    bool theory[LAB_PLANNED + 1]; /* whether the table has theory of this sort */
    lab_scale x, y;
    double top, names_height;
} lab_drawing;

/* Approximate width of a UTF-8 text. */
double lab_text_width(const char *text);

/* Reads from the table what to draw, and finds the ranges. */
void lab_drawing_prepare(lab_drawing *drawing);

const lab_entry *lab_drawing_entry(const lab_drawing *drawing, size_t curve, size_t point);
const char *lab_drawing_curve(const lab_drawing *drawing, size_t curve);
const char *lab_drawing_point(const lab_drawing *drawing, size_t point);

/* Whether a curve has any point. */
bool lab_drawing_has(const lab_drawing *drawing, size_t curve);

/* The x of a point. If points have names, curves are drawn side by side. */
double lab_drawing_x(const lab_drawing *drawing, size_t curve, size_t point);

/* ---- curves: svg_curves.c ---- */

/* Half the size of symbols. */
#define LAB_SVG_FULL 2.6
#define LAB_SVG_HOLLOW 5.2

/* Draws the symbol of a curve; class is "full" or "hollow". */
void lab_drawing_symbol(FILE *to, size_t curve, double x, double y, double r, const char *class);

/* The arrow below an upper bound. */
void lab_drawing_arrow(FILE *to, double x, double y);

/* Draws a curve: the line of theory, published figures, ours. */
void lab_drawing_draw(const lab_drawing *drawing, size_t curve);

#endif
