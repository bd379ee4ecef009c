/*
 * What became of a crawl, read from its folder, even while it runs.
 */
#ifndef VIDI_CRAWLER_REPORT_REPORT_H
#define VIDI_CRAWLER_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/base/url_keys.h"
#include "crawler/database/database.h"
#include "vidi/vidi.h"

typedef struct report report;

/* Opens the folder of a crawl to read. `why` (room 512) has a sentence on error. */
int report_open(report **made, const char *folder, char *why);
void report_close(report *report);

/* What became of the newest visit. */
typedef struct report_totals {
    uint64_t visit; /* from 1 */
    db_totals rows;
    uint64_t broken, unknown;
    bool has_fragments; /* they were checked */
    uint64_t fragments; /* that lead nowhere on a page */
    double seconds;     /* of all its runs */
    double expected_lost;
    uint32_t fp_meaning;
    char kind[24], canon[160];
    uint64_t parked;              /* hosts */
    uint64_t sites, cut, waiting; /* with --scope any: sites visited, sites left out, URLs that wait for budgets */
    uint64_t partial;             /* pages that were not read to their end, so that links may be missing */
} report_totals;
int report_total(report *report, report_totals *totals);

/* A visit, in numbers. The sum of `changes` is the number of its outcomes. */
typedef struct report_visit {
    uint64_t number;      /* from 1 */
    int64_t began, ended; /* dates; ended 0: it is not over */
    uint64_t urls, bytes;
    uint64_t changes[DB_CHANGES];
    double seconds;
    double expected_lost; /* pages that its set has probably lost; fp_meaning as in vidi_stats */
    uint32_t fp_meaning;
    bool is_comparable;        /* the visit before kept links by the same rules: only then are pages `recovered` */
    double expected_recovered; /* what the visit before has probably lost */
} report_visit;
/* Calls `take` with each visit, the oldest first. Not 0 ends the walk and is returned. */
int report_visits(report *report, int (*take)(void *context, const report_visit *visit), void *context);

/* The schedule of a continuous crawl, at a given moment. */
enum { REPORT_HOSTS = 20 };
typedef struct report_schedule {
    uint64_t pages;  /* that it visits; 0: there is no schedule */
    double fresh;    /* share of pages that are probably as they were stored */
    double age_days; /* expected time since the first change that a copy lacks; a mean */
    double alive;    /* share of pages that probably change at all */
    uint64_t visits; /* responses in the newest visit */
    size_t host_count;
    struct report_scheduled_host { /* those with the most pages */
        char origin[280];
        uint64_t pages;
        double changes_per_day; /* expected, of all its pages together */
    } hosts[REPORT_HOSTS];
} report_schedule;
int report_scheduled(report *report, int64_t now, report_schedule *to);

/* A page that is not as it was. Texts without a value have a ptr of NULL. */
typedef struct report_change {
    uint64_t visit;
    vidi_str url;
    const char *change;          /* "changed" */
    int status, previous_status; /* 0: none */
    vidi_str type, date, digest, redirect, reason, error, referrer;
    vidi_str previous_digest, previous_date;
    vidi_str same_as; /* another URL that has the same body */
} report_change;
/* The changes of these visits, in the order in which the URLs were met. Not 0 ends the walk and is returned. */
int report_changes(report *report, uint64_t from, uint64_t to, int (*take)(void *context, const report_change *change),
                   void *context);

/* What a crawl is doing. Reads a few rows, however large the crawl is. */
typedef struct report_activity {
    db_totals rows;
    double seconds; /* of all runs, up to the last commit */
    double expected_lost;
    uint32_t fp_meaning;
    uint64_t run; /* the last run's random number */
    bool ended;   /* it ended in good order; if not, it is at work or was killed */
} report_activity;
int report_look(report *report, report_activity *activity);

/*
 * The hosts with most URLs in the queue, or those that are parked: the first ones, and in *count how many there are.
 * Takes time in proportion to the queue, or to the number of hosts.
 */
typedef struct report_host {
    vidi_str origin;
    uint64_t queued, fetched;
    vidi_str parked; /* why */
} report_host;
typedef int report_visit_host(void *context, const report_host *host);
int report_queues(report *report, uint64_t most, report_visit_host *visit, void *context, uint64_t *count);
int report_parked(report *report, uint64_t most, report_visit_host *visit, void *context, uint64_t *count);

/* Statuses that the user takes for fine. All zero: none. */
typedef struct report_accepted {
    uint64_t bits[16];
} report_accepted;
/* Reads "403,999,500-599"; an empty text has none. False if it is not such a list of statuses from 100 to 999. */
bool report_accepted_read(report_accepted *into, const char *list);
bool report_accepts(const report_accepted *accepted, int status);

/*
 * 2xx, 3xx and accepted statuses are fine; 401, 403 and 429 and what robots.txt forbids are unknown; see report_judge in
 * report.c.
 */
typedef enum report_state { REPORT_FINE, REPORT_UNKNOWN, REPORT_BROKEN } report_state;
report_state report_judge(const report_accepted *accepted, int status, const char *reason);

/*
 * A broken URL, or one with a fragment that leads nowhere (the reason is then "fragment"); then each page that links to
 * it, directly or through redirects.
 */
typedef struct report_broken {
    vidi_str url;
    int status;         /* 0: none */
    const char *reason; /* NULL: the status says it */
    const char *error;
    report_state state;
    double seconds; /* that the response took */
} report_broken;
typedef struct report_referrer {
    vidi_str page, text;
    vidi_str through; /* the redirecting URL that the page links to; ptr NULL: it links to the URL itself */
} report_referrer;
typedef struct report_visitor {
    int (*broken)(void *context, const report_broken *url);
    int (*referrer)(void *context, const report_referrer *from);
    void *context;
    bool all; /* `broken` is called for every URL of the visit; only broken ones have referrers */
} report_visitor;
int report_broken_links(report *report, const report_visitor *visitor);

/* CDXJ, one line per stored page, sorted by SURT key and date: `line` is called with each line, which ends in '\n'. */
int report_cdxj(report *report, int (*line)(void *context, vidi_str text), void *context);

/*
 * The same, a line at a time. The names of files begin with the prefix, whose text must stay. report_index_next: 1 and a
 * line, which is good until the next call; 0 at the end; or an error. Close it after errors, too; NULL is fine.
 */
typedef struct report_index report_index;
int report_index_open(report_index **made, report *report, vidi_str prefix);
int report_index_next(report_index *index, vidi_str *line);
void report_index_close(report_index *index);

/* The keys by which edges name their targets: those of canonical forms. The caller closes them. */
int report_keys(report *report, url_keys **made);

crawl_db *report_db(report *report);
const char *report_error(const report *report);

#endif
