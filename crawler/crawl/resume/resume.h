/*
 * Opening the state of a crawl.
 *
 *   resume.c            brings archive, database and set together
 *   seen_set.c          the set: opens it, makes it, puts it aside
 *   join.c              joins a fleet
 *   visit.c             begins a visit; finds pages of earlier ones
 *   option_changes.c    compares the options with those of earlier runs
 *   check_state.c       `vidi crawl check` (crawl_check in crawl.h)
 */
#ifndef VIDI_CRAWLER_CRAWL_RESUME_RESUME_H
#define VIDI_CRAWLER_CRAWL_RESUME_RESUME_H

#include "crawler/crawl/counters.h"
#include "crawler/crawl/crawl_state.h"

/* ---- seen_set.c ---- */

/* Explains an error with the database's sentence, and returns it. */
int crawl_explain_db(const crawl *crawl, int error, char *why);

/* Opens the set, which locks it. VIDI_EABSENT: there is none yet. */
int seen_open(crawl *crawl, const char *path, char *why);
/* The same; but with --rebuild-seen renames the set, whatever it is, and returns VIDI_EABSENT. */
int seen_open_or_put_aside(crawl *crawl, const char *path, char *why);
/* Makes the set as the user asks for it, or, if the crawl has begun already, as it was. */
int seen_make(crawl *crawl, const char *path, char *why);
/* VIDI_OK if the set has the kind and the canonical form that the user asks for. */
int seen_check_same(crawl *crawl, const vidi_stats *stats, char *why);
/* Writes to the database what the user has asked for, if the crawl is new. */
int seen_write_wish(crawl *crawl, const vidi_stats *stats);

/* ---- join.c ---- */

/* With --fleet, joins it; refuses a folder that belongs elsewhere. */
int join_fleet(crawl *crawl, char *why);
/* In the transaction of the opening: which visit of the fleet this is. */
int join_write(crawl *crawl, bool begins);

/* ---- visit.c ---- */

/* Reads which visit this is. */
int visit_load(crawl *crawl);
/* Lets the set begin a new epoch if the next visit is wanted and this one is over, or if one was about to begin. */
int visit_rotate_if_due(crawl *crawl, bool *begins, char *why);
/* Writes the first visit, or the one that begins, in the transaction of the opening. */
int visit_write(crawl *crawl, bool begins, counters *counts);

/* ---- option_changes.c ---- */

/*
 * Warns if links are missing that this run would have kept, unless a visit begins that will find them; and tells
 * crawl->same_rules. In the transaction of the opening.
 */
int option_changes_warn(crawl *crawl, bool begins, uint64_t outcomes);

#endif
