/*
 * Plots of tables as SVG: the papers' points, theory's curve, and ours with its interval.
 *
 * A curve has a colour and a shape. What was published is a hollow mark, ours a full one with a bar; theory is a line.
 * What a logarithmic scale cannot show, such as a rate of 0, is left out but for the bar that comes down to the edge.
 */
#ifndef VIDI_LAB_REPORT_SVG_H
#define VIDI_LAB_REPORT_SVG_H

#include <stdio.h>

#include "lab/engine/study.h"

/* Whether the table says how to draw it, and there is something to draw. */
bool lab_svg_can(const lab_table *table);

/*
 * One <svg> element. alone: a file of its own, with title, colours and background; otherwise a page's part, which needs
 * lab_svg_colours and lab_svg_rules in its style.
 */
void lab_svg_write(FILE *to, const lab_table *table, bool alone);

/* Colours of light and dark pages as variables, and how the parts of a plot look. */
extern const char *const lab_svg_colours;
extern const char *const lab_svg_rules;

#endif
