/*
 * robots.txt (RFC 9309): decides whether a crawler may fetch a URL.
 *
 * robots_parse() reads a file for one crawler and keeps only the rules of the group that applies to it, so a parsed
 * file is small. robots_check() then answers for a URL. Nothing here uses the network: the caller fetches the file, and
 * robots_decide() says what an HTTP status means.
 *
 *     robots *rules;
 *     robots_options options = {.agent = {"vidi", 4}};
 *     if (robots_parse(&rules, file, &options) == VIDI_OK && robots_check(rules, url, NULL) == ROBOTS_ALLOWED)
 *         fetch(url);
 *     robots_free(rules);
 *
 * Any bytes are a valid file: lines that make no sense are skipped. Parsing takes time in proportion to the file.
 * Checking takes time in proportion to the rules plus, for each rule, the length of the URL. A parsed file is never
 * changed, so any number of threads can use it.
 */
#ifndef VIDI_CRAWLER_ROBOTS_ROBOTS_H
#define VIDI_CRAWLER_ROBOTS_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

enum {
    /* Bytes of a file that are read; RFC 9309 demands at least 500 KiB. A line that is cut off there is ignored. */
    ROBOTS_LIMIT = 1 << 20,
    /* Bytes of a line that are read; the rest of a longer line is ignored, as in Google's parser. */
    ROBOTS_LINE_LIMIT = 16663
};

typedef struct robots robots;

/* What a file contained, for reports. */
typedef struct robots_counts {
    uint64_t lines;   /* not counting an empty one after the last newline */
    uint64_t known;   /* user-agent, allow, disallow, crawl-delay and sitemap lines */
    uint64_t unknown; /* other lines of the form "name: value" */
    bool cut;         /* the file was longer than the limit */
} robots_counts;

/* Called with the value of each Sitemap line, whatever group it is in. A result other than 0 ends the parsing. */
typedef int robots_visit(void *context, vidi_str url);

typedef struct robots_options {
    vidi_str agent;        /* the crawler's product token: letters, digits, '-' and '_'; in any case */
    bool lenient;          /* also understand frequent misspellings, as Google's parser does */
    size_t limit;          /* bytes to read; 0: ROBOTS_LIMIT */
    robots_visit *sitemap; /* may be NULL */
    void *context;
    robots_counts *counts; /* filled in if not NULL */
} robots_options;

/* VIDI_OK, VIDI_EMEMORY, or the result of `sitemap`. *rules is NULL unless the result is VIDI_OK. */
int robots_parse(robots **rules, vidi_str file, const robots_options *options);

/* NULL is allowed. */
void robots_free(robots *rules);

/* The rule that decided about a URL. */
typedef struct robots_rule {
    uint64_t line; /* 0: no rule matched */
    vidi_str path; /* as it is compared: percent-encoding made uniform, wildcards as '*', the anchor as '$' */
    bool allows;
    char text[256]; /* what path points to, so do not copy the struct; longer paths are cut */
} robots_rule;

typedef enum robots_verdict { ROBOTS_DENIED, ROBOTS_ALLOWED } robots_verdict;

/*
 * ROBOTS_ALLOWED, ROBOTS_DENIED or VIDI_EMEMORY, which only URLs of several kilobytes can give. Only path and query of
 * the URL matter. The file /robots.txt itself is always allowed. `why` may be NULL.
 */
int robots_check(const robots *rules, vidi_str url, robots_rule *why);

/* The group's Crawl-delay in seconds, the longest if there are several; negative if there is none. */
double robots_delay(const robots *rules);

/* Tells which group applies. */
typedef enum robots_group {
    ROBOTS_NO_GROUP, /* none: everything is allowed */
    ROBOTS_ANYBODY,  /* the groups of "*" */
    ROBOTS_AGENT     /* the groups that name the agent */
} robots_group;
robots_group robots_group_of(const robots *rules);

size_t robots_rule_count(const robots *rules);
/* Bytes of memory that it takes. */
size_t robots_bytes(const robots *rules);

/* ---- fetching robots.txt ---- */

enum {
    ROBOTS_REDIRECTS = 5,              /* more are not followed */
    ROBOTS_LIFETIME = 24 * 60 * 60,    /* seconds for which an answer may be used */
    ROBOTS_RETRY = 10 * 60,            /* seconds after which a file that could not be reached is asked for again */
    ROBOTS_GIVE_UP = 30 * 24 * 60 * 60 /* seconds without reaching it after which the file counts as missing */
};

typedef enum robots_outcome {
    ROBOTS_READ,       /* parse the body */
    ROBOTS_FOLLOW,     /* follow the redirect */
    ROBOTS_ALLOW_ALL,  /* there is no file: everything may be fetched */
    ROBOTS_DENY_ALL,   /* the file cannot be reached: nothing may be fetched */
    ROBOTS_KEEP_CACHED /* the file cannot be reached: go on with the copy from before */
} robots_outcome;

typedef struct robots_answer {
    int status;              /* of HTTP; 0: no answer (name, connection, timeout), or not a file that can be decoded */
    unsigned redirects;      /* how many have been followed to get here */
    bool has_location;       /* the response names a place to go on to */
    bool has_cached;         /* the caller has a copy from before, however old */
    int64_t unreachable_for; /* seconds since the file was last reached, or first asked for; 0: not known */
} robots_answer;

/* What a response to the request for /robots.txt means (RFC 9309, section 2.3.1). */
robots_outcome robots_decide(const robots_answer *answer);

/* True if the file must be fetched again, `age` seconds after an answer with this outcome. A negative age is 0. */
bool robots_is_stale(robots_outcome outcome, int64_t age);

#endif
