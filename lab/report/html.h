/* Escaped text and readable numbers for the report and its plots. Callers check ferror(to) at the end. */
#ifndef VIDI_LAB_REPORT_HTML_H
#define VIDI_LAB_REPORT_HTML_H

#include <stdio.h>

#include "lab/engine/study.h"

/*
 * Escapes for HTML and SVG, between tags and in attributes. Control characters and bytes that are not UTF-8 become
 * U+FFFD.
 */
void lab_html_text(FILE *to, const char *text);

/* A link to the element of the page with this id. */
void lab_html_link(FILE *to, const char *id, const char *text);

/*
 * The same with a capital first letter, if the text begins with a word and not with a symbol. No line breaks between a
 * number and its per cent sign.
 */
void lab_html_title(FILE *to, const char *text);

/* The same, ending with a full stop. */
void lab_html_sentence(FILE *to, const char *text);

enum { LAB_NUMBER_ROOM = 64 };

/*
 * The value rounded to `step`, a power of ten: 0.0609, 12,345, 3.31·10⁻⁸. Empty for NAN. Writes UTF-8 into the buffer
 * and returns it.
 */
const char *lab_number(char text[LAB_NUMBER_ROOM], double value, double step);

/* The same with at least two digits, however coarse the step, so that small values do not look like 0. */
const char *lab_entry_number(char text[LAB_NUMBER_ROOM], double value, double step);

/* "10⁻⁷". */
const char *lab_power_of_ten(char text[LAB_NUMBER_ROOM], int exponent);

/* Whether the interval says anything: it has two ends, and runs differed by more than rounding. */
bool lab_entry_has_interval(const lab_entry *entry);

/* The step of an entry's last significant digit: a tenth of the leading digit of half its interval. */
double lab_step(const lab_entry *entry);

/* The step for theory: the same, or finer if the published figure is finer. */
double lab_theory_step(const lab_entry *entry);

/* Whether a cell has any figure. */
bool lab_entry_exists(const lab_entry *entry);

#endif
