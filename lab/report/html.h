/* What the report and its plots are written with: escaped text, and numbers for people. A failed FILE tells later. */
#ifndef VIDI_LAB_REPORT_HTML_H
#define VIDI_LAB_REPORT_HTML_H

#include <stdio.h>

#include "lab/engine/study.h"

/* For HTML and SVG, between tags and in attributes. Bytes that are no UTF-8 and control characters become U+FFFD. */
void lab_html_text(FILE *to, const char *text);

/* The same with a capital letter first, if it begins with a word (and not with a symbol); and no line broken between a number and its per cent sign. */
void lab_html_title(FILE *to, const char *text);

/* The same with a full stop, if it does not end with one. */
void lab_html_sentence(FILE *to, const char *text);

enum { LAB_NUMBER_ROOM = 64 };

/*
 * The value in units of `step`, a power of ten: 0.0609, 12,345, 3.31·10⁻⁸. Empty if it is NAN. The text is UTF-8 and
 * stands in the buffer.
 */
const char *lab_number(char text[LAB_NUMBER_ROOM], double value, double step);

/* The same with two digits at least, however coarse the step: what is not 0 does not look like it. */
const char *lab_entry_number(char text[LAB_NUMBER_ROOM], double value, double step);

/* "10⁻⁷". */
const char *lab_power_of_ten(char text[LAB_NUMBER_ROOM], int exponent);

/* Of an entry's last digit that tells something: a tenth of the leading digit of half its interval. */
double lab_step(const lab_entry *entry);

/* Of theory's: the same, or finer if the published figure is. */
double lab_theory_step(const lab_entry *entry);

/* Whether there is anything in such a cell. */
bool lab_entry_exists(const lab_entry *entry);

#endif
