/*
 * A book as one HTML file that opens from disk: the papers' claims, every table, plots, and how it was made. It loads
 * nothing from the network and has no script.
 */
#ifndef VIDI_LAB_REPORT_REPORT_H
#define VIDI_LAB_REPORT_REPORT_H

#include <stdio.h>

#include "lab/engine/study.h"

/* How the book was made, for readers who want to repeat it. */
typedef struct lab_origin {
    const char *command;
    const char *commit;    /* empty: unknown */
    const char *processor; /* empty: unknown */
} lab_origin;

/* The caller checks ferror(to). */
void lab_report_write(FILE *to, const lab_book *book, const lab_origin *origin);

/* CSV (RFC 4180) with one line for each cell: experiment,row,column,published,theory,measured,low,high,runs,verdict. */
void lab_csv_book(FILE *to, const lab_book *book);
void lab_csv_heads(FILE *to);
void lab_csv_table(FILE *to, const lab_table *table);

/* Write a field and a comma. Names are quoted if necessary; NAN and infinite numbers become empty fields. */
void lab_csv_name(FILE *to, const char *name);
void lab_csv_real(FILE *to, double value);

/* Whether the published figure is a ratio of two printed figures. */
bool lab_published_is_ratio(const lab_entry *entry);

/* The published number as printed, without other characters; empty if there is none. A ratio gets `digits` digits. */
const char *lab_published_text(const lab_entry *entry, char *text, size_t room, int digits);

/* The result of lab_book_judge as a sentence without its full stop; empty if no cell was tested. */
const char *lab_together_text(const lab_book *book, char text[LAB_REMARK_ROOM]);

/* ---- parts of the report ---- */

/*
 * How many cells have each verdict, how many there are, and how many were compared with theory; and on what the verdicts
 * on published figures rest. A verdict on a counterfactual figure is counted nowhere.
 */
typedef struct lab_score {
    size_t verdicts[LAB_FAILS + 1], cells, tested, bases[LAB_BASES];
} lab_score;

void lab_score_add(lab_score *score, const lab_table *table);

lab_score lab_score_of(const lab_book *book);

/* "292 judged by chance, 3 within a stated tolerance, 0 fitted, 1 not judged", without a full stop. */
const char *lab_bases_text(const lab_score *score, char text[LAB_REMARK_ROOM]);

/* Whether a cell is shown: it has numbers, or this build could not measure it. */
bool lab_entry_tells(const lab_entry *entry);

/* "48 cells: 46 agree, 2 dependent". */
void lab_report_score(FILE *to, const lab_score *score);

/* Writes a verdict with its class: "<b class="v-not-built">not built</b>". */
void lab_report_verdict(FILE *to, lab_verdict verdict, const char *text);

/* Writes the claims for which the book has at least one table. */
void lab_report_claims(FILE *to, const lab_book *book);
bool lab_report_has_claims(const lab_book *book);

void lab_report_table(FILE *to, const lab_table *table);

/* Whether two sources name the same paper, which is the text before the comma. */
bool lab_same_paper(const char *a, const char *b);
void lab_report_paper(FILE *to, const char *source);

extern const char *const lab_report_style;

#endif
