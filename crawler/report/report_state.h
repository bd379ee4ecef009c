/*
 * An open report, for the files that make its parts.
 */
#ifndef VIDI_CRAWLER_REPORT_REPORT_STATE_H
#define VIDI_CRAWLER_REPORT_REPORT_STATE_H

#include "crawler/base/sql.h"
#include "crawler/report/report.h"

enum { REPORT_ERROR = 256 };

struct report {
    crawl_db *db;
    sqlite3 *sqlite; /* the database's */
    report_accepted accepted;
    char error[REPORT_ERROR];
};

/* Writes the sentence of SQLite or of the library about an error, if it is one, and returns the error. */
int report_check(report *report, int error);

/* Between the two, everything that is read is of one moment, whatever a running crawl commits meanwhile. */
int report_begin(report *report);
void report_end(report *report);

/* Prepares a statement; the caller finalizes it. */
int report_prepare(report *report, sqlite3_stmt **made, const char *text);

/* 1 if there is a row, 0 at the end, or an error. */
int report_step(report *report, sqlite3_stmt *statement);

/* A value of meta as text; empty if there is none. Values that are too long are cut off. */
int report_meta(report *report, const char *name, char *to, size_t room);

/* Reads the statuses that the crawl was told to accept. */
int report_accepted_load(report *report);

/* Finds fragments that lead nowhere: makes the temporary tables of bad_fragments.c. *checked false: none were kept. */
int report_find_fragments(report *report, bool *checked);

/* Installs the SQL function cdxj, which makes a line of one row. */
int report_install_cdxj(report *report);

#endif
