/* What the files of plots share: svg.c, svg_data.c, svg_curves.c and svg_scale.c. */
#ifndef VIDI_LAB_REPORT_SVG_PARTS_H
#define VIDI_LAB_REPORT_SVG_PARTS_H

#include <stdio.h>

#include "lab/engine/study.h"

/* ---- scales: svg_scale.c ---- */

typedef struct lab_scale {
    double low, high;
    bool log;
    double from, to; /* where low and high are drawn */
    bool whole;      /* ticks are whole numbers */
} lab_scale;

double lab_scale_place(const lab_scale *scale, double value);

/* Whether the value has a place at all. */
bool lab_scale_has(const lab_scale *scale, double value);

/*
 * Makes the scale from the least and the greatest value reach a little further, and not be empty. zero: it begins there
 * if that is not far.
 */
void lab_scale_widen(lab_scale *scale, bool zero);

/* The ticks one after the other; each with what it says, which may be nothing. */
typedef struct lab_ticks {
    double value;
    char label[64];
    double step; /* what follows is for lab_tick_next */
    long index, last;
    int labelled; /* every so many decades */
    bool powers;
} lab_ticks;

void lab_ticks_start(lab_ticks *ticks, const lab_scale *scale, int most);
bool lab_tick_next(lab_ticks *ticks, const lab_scale *scale);

/* ---- what is drawn: svg_data.c ---- */

enum {
    LAB_SVG_WIDTH = 480,
    LAB_SVG_LEFT = 58, /* of the plot itself */
    LAB_SVG_RIGHT = 14,
    LAB_SVG_HEIGHT = 260,
    LAB_SVG_LETTER = 8, /* the width of one, roughly */
    LAB_SVG_TURN = 50,  /* degrees that long names are turned by */
    LAB_SVG_NAME = 130, /* no name is longer */
    LAB_SVG_COLOURS = 8
};

typedef struct lab_drawing {
    FILE *to;
    const lab_table *table;
    size_t curves, points;
    bool named;             /* points along x have names, not numbers */
    bool published, theory; /* there is some */
    lab_scale x, y;
    double top, names_height;
} lab_drawing;

/* Roughly how wide a text is, in UTF-8. */
double lab_text_width(const char *text);

/* Reads off the table what is drawn and how far it reaches. */
void lab_drawing_prepare(lab_drawing *drawing);

const lab_entry *lab_drawing_entry(const lab_drawing *drawing, size_t curve, size_t point);
const char *lab_drawing_curve(const lab_drawing *drawing, size_t curve);
const char *lab_drawing_point(const lab_drawing *drawing, size_t point);

/* Whether a curve has any point. */
bool lab_drawing_has(const lab_drawing *drawing, size_t curve);

/* Curves stand beside one another where points have names. */
double lab_drawing_x(const lab_drawing *drawing, size_t curve, size_t point);

/* ---- curves: svg_curves.c ---- */

/* Half the size of marks. */
#define LAB_SVG_FULL 2.6
#define LAB_SVG_HOLLOW 5.2

/* The mark of a curve. class: "full" or "hollow". */
void lab_drawing_mark(FILE *to, size_t curve, double x, double y, double r, const char *class);

/* All of a curve: theory's line, what was published, ours. */
void lab_drawing_draw(const lab_drawing *drawing, size_t curve);

#endif
