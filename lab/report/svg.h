/*
 * Plots of tables as SVG: the published points, the curve of theory, and our points with their intervals.
 *
 * Each curve has a colour and a symbol. Published figures are hollow symbols, ours are full ones with a bar, and theory
 * is a line. Values that a logarithmic scale cannot show, such as a rate of 0, are left out, except for a bar that
 * reaches down to the edge.
 */
#ifndef VIDI_LAB_REPORT_SVG_H
#define VIDI_LAB_REPORT_SVG_H

#include <stdio.h>

#include "lab/engine/study.h"

/* Whether the table has a plot and anything to draw. */
bool lab_svg_can(const lab_table *table);

/*
 * Writes one <svg> element: with `alone`, a separate file with title, colours and background; otherwise a part of a
 * page, whose style must include lab_svg_colours and lab_svg_rules.
 */
void lab_svg_write(FILE *to, const lab_table *table, bool alone);

/* CSS variables with the colours of light and dark pages, and rules for the parts of a plot. */
extern const char *const lab_svg_colours;
extern const char *const lab_svg_rules;

#endif
