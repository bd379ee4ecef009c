/*
 * The figures of a run as docs/lab/tables.csv has them, and texts that are filled with them.
 *
 * `vidi lab report --tables` writes one line for each cell, then lines about the run itself ("about") and about each
 * claim ("claim"), all with the same columns:
 *
 *   experiment,row,column,published,theory,measured,low,high,runs,verdict,z,basis,theory_sort
 *   about,duration,,,,1382,,,,,,,
 *   about,processor,Some Processor 3000,,,,,,,,,,
 *   claim,thesis-best-k,"the thesis, section 5.4",,,,,,,holds,,,
 *
 * A fact about the run is a number (measured) or a text (column); "about,duration,continued" is a run that continued an
 * interrupted one and has lasted longer. The documentation is filled from these lines alone, so that a test can fill it
 * again without measuring anything.
 */
#ifndef VIDI_LAB_FILL_FIGURES_H
#define VIDI_LAB_FILL_FIGURES_H

#include <stdio.h>

#include "lab/engine/study.h"

#define LAB_FIGURES_HEAD "experiment,row,column,published,theory,measured,low,high,runs,verdict,z,basis,theory_sort"
#define LAB_ABOUT "about" /* no experiment has these names */
#define LAB_CLAIM "claim"

/* One line. Texts are never NULL; an empty number is NAN. */
typedef struct lab_record {
    const char *experiment, *row, *column, *published, *verdict, *basis, *theory_sort;
    double theory, measured, low, high, runs, z;
    bool any_row; /* stands for rows of any name: lab_figures_names */
    size_t line;  /* where it begins in the file */
} lab_record;

typedef struct lab_figures {
    lab_record *records;
    size_t count, room;
    char *text; /* the fields, which the records point into */
} lab_figures;

/*
 * Reads CSV (RFC 4180) that ends with a line feed. Another head, a line with too few or too many fields, a field that
 * should be a number and is not, or two lines for the same cell are errors, which name the line. Call lab_figures_free
 * in every case.
 */
int lab_figures_read(lab_figures *figures, const char *text, size_t length);

/*
 * Every cell that can be measured, every claim and every fact, each with the value 1: what a text may refer to. Rows of
 * streams have the names of files, which are not known before. Call lab_figures_free in every case.
 */
int lab_figures_names(lab_figures *figures);

void lab_figures_free(lab_figures *figures);

/* NULL: there is none. */
const lab_record *lab_figures_find(const lab_figures *figures, const char *experiment, const char *row,
                                   const char *column);

/* ---- texts ---- */

/* Called for each placeholder that cannot be filled, with its line. */
typedef void lab_fill_problem(void *context, size_t line, const char *sentence);

/*
 * Writes the template with its placeholders filled, and wraps its paragraphs and list items again (lab_wrap). Returns
 * the number of problems; the caller checks ferror(to). The placeholders are explained in fill.c.
 */
size_t lab_fill_text(FILE *to, const char *template, const lab_figures *figures, lab_fill_problem *problem,
                     void *context);

/*
 * Wraps the paragraphs and list items of a Markdown text at LAB_WRAP_COLUMNS characters. Headings, tables, code blocks,
 * HTML and empty lines stay as they are. No line begins with what Markdown would take for something else.
 */
enum { LAB_WRAP_COLUMNS = 100 };
void lab_wrap(FILE *to, const char *text);

#endif
