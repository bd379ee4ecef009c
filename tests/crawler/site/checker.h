/*
 * Looks at the folder of a crawl from outside: crawl.db through sqlite3, the archive through zlib, the lines of --jsonl
 * as text. It shares no code with the crawler, and it is itself tested on planted faults.
 *
 * A crawl that has come back has rows of several visits: each URL has one in each visit that has met it, and what the
 * database has counted belongs to the newest visit.
 */
#ifndef TESTS_CRAWLER_SITE_CHECKER_H
#define TESTS_CRAWLER_SITE_CHECKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CHECKER_VISITS = 8 };

/* A URL with what became of it in a visit. */
typedef struct checker_row {
    int64_t visit; /* from 1 */
    bool is_old;   /* there is a newer visit */
    int64_t id, depth, hops, kind, referrer;
    const char *url;
    int64_t outcomes; /* rows: 1 if all is well */
    int64_t status;
    const char *reason, *digest, *redirect, *file; /* NULL: none */
    int64_t bytes, offset, length, links;
    int64_t page, body, compared; /* rows; body and compared 0: none */
    const char *change;           /* its name; NULL: no outcome */
    int64_t payload;              /* the row whose record has its body, if that is another one; 0: it is this row */
} checker_row;

/* Called for each row, by ascending ids; the texts are good during the call. */
typedef void checker_visit(void *context, const checker_row *row);

typedef struct checker_report {
    uint64_t urls, outcomes; /* of all visits */
    uint64_t visits;
    uint64_t histories[CHECKER_VISITS]; /* of each visit: a hash of all that its rows say */
    uint64_t repeated;                  /* URLs that have more than one row in a visit */
    uint64_t unanswered;                /* URLs without an outcome */
    uint64_t answered_twice;            /* URLs with more than one */
    uint64_t strays;                    /* outcomes of no URL */
    uint64_t misattributed; /* rows that refer to another one that cannot be meant, or stand in the wrong visit */
    uint64_t miscounts;     /* counters of the database that are not what its rows add up to */
    uint64_t records;       /* of the archive */
    uint64_t responses;
    uint64_t revisits;    /* records that refer to a response with the same payload */
    uint64_t bad_records; /* that cannot be read, contradict themselves, or refer to another response than they say */
    uint64_t bad_digests; /* that are not what the bytes have */
    uint64_t misplaced;   /* outcomes that name a place where no record of theirs is */
    uint64_t unclaimed;   /* responses that no outcome names */
    uint64_t lines;       /* of the output */
    uint64_t bad_lines;   /* not whole, or without an outcome */
    uint64_t repeated_lines; /* more than outcomes of this URL */
    uint64_t missing_lines;  /* outcomes without a line */
    char first[600];         /* the first fault, in words; empty: none */
} checker_report;

/* output: the file of --jsonl; NULL: none. visit may be NULL. Faults are counted, never fatal. */
void checker_look(checker_report *report, const char *folder, const char *output, checker_visit *visit, void *context);

/* All faults together. URLs without an outcome are none if the crawl has ended at a limit: subtract them. */
uint64_t checker_faults(const checker_report *report);

#endif
