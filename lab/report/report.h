/*
 * A book as one HTML file that opens from disk: the papers' claims, every table, plots, raw data, and how it was made.
 * It loads nothing from the network and has no script.
 */
#ifndef VIDI_LAB_REPORT_REPORT_H
#define VIDI_LAB_REPORT_REPORT_H

#include <stdio.h>

#include "lab/engine/study.h"

/* How the book was made, for readers who want to repeat it. An empty text or NAN: unknown. */
typedef struct lab_origin {
    const char *command;
    const char *commit;
    const char *processor, *cores, *memory, *system;
    const char *compiler, *libraries; /* names with versions */
    double seconds;                   /* how long measuring took */
    bool continued;                   /* an interrupted command's runs were used, so that it took longer */
} lab_origin;

/* The caller checks ferror(to). */
void lab_report_write(FILE *to, const lab_book *book, const lab_origin *origin);

/* ---- data ---- */

/* All figures as CSV: the cells, the claims and how they were made. figures.h describes the lines. */
void lab_report_figures(FILE *to, const lab_book *book, const lab_origin *origin);

/* The cells alone. */
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

/* ---- counts ---- */

/*
 * How many cells have each verdict, how many there are, and how many were compared with theory; and on what the
 * verdicts on published figures rest. A figure that is counterfactual or another table's is counted nowhere.
 */
typedef struct lab_score {
    size_t verdicts[LAB_FAILS + 1], cells, tested, bases[LAB_BASES];
} lab_score;

void lab_score_add(lab_score *score, const lab_table *table);

lab_score lab_score_of(const lab_book *book);

/* How many published figures are counted. */
size_t lab_score_published(const lab_score *score);

/* "292 judged by chance, 3 within a stated tolerance, 0 fitted, 1 not judged", without a full stop. */
const char *lab_bases_text(const lab_score *score, char text[LAB_REMARK_ROOM]);

/* The result of lab_book_judge as a sentence without its full stop; empty if no cell was tested. */
const char *lab_together_text(const lab_book *book, char text[LAB_REMARK_ROOM]);

/* Whether a cell is shown: it has numbers, or this build could not measure it. */
bool lab_entry_tells(const lab_entry *entry);

/* "48 cells: 46 agree, 2 dependent". */
void lab_report_score(FILE *to, const lab_score *score);

/* What the published figures' verdicts are, and which figures are doubtful. */
void lab_report_verdicts(FILE *to, const lab_book *book, const lab_score *score);

/* Writes a verdict with its class: "<b class="v-not-built">not built</b>". */
void lab_report_verdict(FILE *to, lab_verdict verdict, const char *text);

/* ---- papers ---- */

/* A part of the report: a paper, or a study of ours. */
typedef struct lab_paper {
    const char *key;      /* of its anchors: "tables-KEY", "claims-KEY" */
    const char *source;   /* what sources begin with; NULL: nothing in particular */
    const char *prefixes; /* of its experiments, separated by spaces */
    const char *title, *reference;
} lab_paper;

/* NULL after the last. */
const lab_paper *lab_paper_at(size_t index);
const lab_paper *lab_paper_of_table(const lab_table *table);
const lab_paper *lab_paper_of_claim(const lab_claim *claim);

/* Writes the heading of a part, with the id "ANCHOR-KEY", and its reference. */
void lab_report_paper(FILE *to, const lab_paper *paper, const char *anchor);

/* ---- parts of the page ---- */

/* What was found in each part, in numbers. */
void lab_report_overview(FILE *to, const lab_book *book);

/* Judges a claim; one without any of its tables in the book stays unjudged, with an empty sentence. */
lab_holding lab_report_judge(const lab_claim *claim, const lab_book *book, char *sentence, size_t room);

/* Writes the claims for which the book has at least one table, and counts them. */
void lab_report_claims(FILE *to, const lab_book *book);
void lab_report_claim_counts(FILE *to, const lab_book *book);
bool lab_report_has_claims(const lab_book *book);
bool lab_report_has_claims_of(const lab_book *book, const lab_paper *paper);

void lab_report_table(FILE *to, const lab_book *book, const lab_table *table);

/* The numbers of each run of a table's cells, as CSV; nothing if the book has none. */
void lab_report_raw(FILE *to, const lab_book *book, const lab_table *table);

/* How to read tables and plots, and what words mean. */
void lab_report_legend(FILE *to);
void lab_report_glossary(FILE *to);

/* "3 runs of 1,000 URLs, seed 1". */
const char *lab_report_runs(const lab_book *book, char text[LAB_REMARK_ROOM]);

void lab_report_origin(FILE *to, const lab_book *book, const lab_origin *origin);

extern const char *const lab_report_style;

#endif
