/*
 * A book as one HTML file that opens from disk: what the papers claim, every table, plots, and how it was made. It asks
 * the network for nothing and has no script.
 */
#ifndef VIDI_LAB_REPORT_REPORT_H
#define VIDI_LAB_REPORT_REPORT_H

#include <stdio.h>

#include "lab/engine/study.h"

/* What made the book, for those who want to make it again. */
typedef struct lab_origin {
    const char *command;
    const char *commit;    /* empty: unknown */
    const char *processor; /* empty: unknown */
} lab_origin;

/* What cannot be written shows in ferror(to). */
void lab_report_write(FILE *to, const lab_book *book, const lab_origin *origin);

/* A line a cell: experiment,row,column,published,theory,measured,low,high,runs,verdict. RFC 4180. */
void lab_csv_book(FILE *to, const lab_book *book);
void lab_csv_heads(FILE *to);
void lab_csv_table(FILE *to, const lab_table *table);

/* A field, and a comma. Names are quoted where they have to be; of what is no number, or infinite, there is nothing. */
void lab_csv_name(FILE *to, const char *name);
void lab_csv_real(FILE *to, double value);

/* Whether what was published is not a figure that was printed, but a ratio of two that were. */
bool lab_published_is_ratio(const lab_entry *entry);

/*
 * The published number as it was printed, without what is not part of it; empty: nothing. A ratio has so many digits.
 */
const char *lab_published_text(const lab_entry *entry, char *text, size_t room, int digits);

/* lab_book_judge in a sentence without its full stop; empty: no cell was tested. */
const char *lab_together_text(const lab_book *book, char text[LAB_REMARK_ROOM]);

/* ---- parts of the report ---- */

/* How many cells have each verdict, how many exist, and how many theory was held against. */
typedef struct lab_score {
    size_t verdicts[LAB_FAILS + 1], cells, tested;
} lab_score;

void lab_score_add(lab_score *score, const lab_table *table);

/* Whether there is anything to say of such a cell: numbers, or that this build has none. */
bool lab_entry_tells(const lab_entry *entry);

/* "48 cells: 46 agree, 2 dependent". */
void lab_report_score(FILE *to, const lab_score *score);

/* In a class of its own: "<b class="v-not-built">not built</b>". */
void lab_report_verdict(FILE *to, lab_verdict verdict, const char *text);

/* Those of which some table is in the book. */
void lab_report_claims(FILE *to, const lab_book *book);
bool lab_report_has_claims(const lab_book *book);

void lab_report_table(FILE *to, const lab_table *table);

/* The paper that a source names is what comes before the comma. */
bool lab_same_paper(const char *a, const char *b);
void lab_report_paper(FILE *to, const char *source);

extern const char *const lab_report_style;

#endif
