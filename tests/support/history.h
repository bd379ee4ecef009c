/*
 * Is what several threads were told explained by some order? Each call is recorded with the times before and after it. The
 * answers are linearizable if all calls can be put into one order in which a call that had ended stands before each
 * one that began later, and in which a set that has one thread gives the same answers. Whatever concerns one URL only is
 * linearizable if it is so for each URL apart (Herlihy and Wing, 1990, theorem 1), so each URL is checked apart. A call
 * that concerns all URLs, such as a rotation, is made part of every URL's history: then a wrong order across URLs may be
 * missed, but nothing right is rejected.
 *
 * For one URL a set is a number: how often the URL is there. A history that only adds and asks is judged by rules, in
 * linear time (history_break_rule); any other by a search (history_explain), as Wing and Gong (1993) do it with the
 * memory of Lowe (2017). Each is a check of the other.
 */
#ifndef TESTS_SUPPORT_HISTORY_H
#define TESTS_SUPPORT_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTORY_LANES = 12 };

typedef enum history_what {
    HISTORY_ADD,    /* answer: VIDI_NEW or VIDI_SEEN */
    HISTORY_HAS,    /* the same */
    HISTORY_REMOVE, /* answer: 1 if it was there and has been removed, 0 if not */
    HISTORY_COUNT,  /* answer: how often it is there */
    HISTORY_MERGE,  /* comes with a merge; no answer */
    HISTORY_FORGET  /* a rotation: it is not there any more */
} history_what;

typedef struct history_op {
    uint64_t begin, end; /* of the call, by history_now; calls that share a moment overlap */
    uint32_t url;
    uint32_t what : 8, answer : 24;
} history_op;

/*
 * What one thread did, in its order. Calls do not overlap, except for the members of one batch: they have the same
 * times, and take effect one after the other.
 */
typedef struct history_lane {
    const history_op *ops;
    size_t n;
} history_lane;

/*
 * The time in nanoseconds, on a clock that all threads agree on. What the thread wrote before is visible to all threads
 * at that time, and what it reads later is read after it.
 */
uint64_t history_now(void);

/* The lanes of one URL, at most HISTORY_LANES of them. */
typedef struct history_url {
    history_lane lanes[HISTORY_LANES];
    size_t n_lanes;
    bool every_add;  /* adds of URLs that are there count, too */
    uint32_t before; /* how often the URL was there before all of this */
} history_url;

/* Only for adds and lookups, of a URL that was not there before: NULL, or the rule that is broken. */
const char *history_break_rule(const history_url *of);

typedef enum history_verdict { HISTORY_FINE, HISTORY_WRONG, HISTORY_TOO_LONG } history_verdict;

/* For all calls. HISTORY_TOO_LONG: the search has been given up. */
history_verdict history_explain(const history_url *of);

/*
 * Checks everything that `n` threads did with URLs below `urls`, which were all absent before; `common` has the calls
 * that concern every URL. True if there is an explanation; otherwise `fault` says what is wrong, with the calls of one
 * URL.
 */
enum { HISTORY_FAULT = 4000 };
bool history_check(const history_lane *threads, size_t n, const history_lane *common, uint32_t urls, bool every_add,
                   char fault[HISTORY_FAULT]);

#endif
