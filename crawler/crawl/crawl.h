/*
 * A crawl: from seeds to an archive, each page once, through crashes.
 *
 *   fetcher thread    host names, robots.txt, politeness, requests
 *   parser threads    unpack, find links, pack records
 *   storage thread    seen-set, archive, database: one batch after the other; hands blocks of URLs to the fetcher
 *
 * A batch is committed in this order: the links are added to the set; the archive and the output file are written and
 * synced; one transaction of the database; vidi_commit_note. So after a crash the archive has at least what the
 * database has, the database at least what the set has, and opening the crawl again brings the three together. If the
 * order does not hold, because one of them was damaged or comes from another time, the crawl is refused: consistency.c.
 */
#ifndef VIDI_CRAWLER_CRAWL_CRAWL_H
#define VIDI_CRAWLER_CRAWL_CRAWL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/base/bytes.h"
#include "crawler/base/crawl_clock.h"
#include "crawler/fetch/fetch.h"
#include "crawler/database/database.h"
#include "crawler/scope/scope.h"
#include "vidi/vidi.h"

/* A finished URL: a line of --jsonl. */
typedef struct crawl_outcome {
    vidi_str url;
    uint32_t depth;
    frontier_kind kind;
    vidi_str referrer; /* ptr NULL: none */
    db_outcome row;
} crawl_outcome;

/* Which URL of a host goes first. */
typedef enum crawl_order {
    CRAWL_BREADTH, /* the one that was found first */
    CRAWL_DEPTH,   /* the one that was found last */
    CRAWL_BEST,    /* the one that most links lead to */
    CRAWL_SITEMAP  /* one of a sitemap */
} crawl_order;

typedef struct crawl_options {
    const char *folder; /* the state; made if it is missing */
    const vidi_str *seeds;
    size_t seed_count;
    /* The set; `path` and `access` are the crawl's business. All zero: the defaults. */
    vidi_options set;
    uint64_t set_memory;  /* vidi_access.memory_limit */
    const char *remember; /* what db_get_text(…, "options") finds from now on, without secrets; NULL: as it is */
    bool revisit;         /* if the last visit is over, begin the next one */
    bool continuous;      /* when the first visit is over, visit pages again, one by one, for ever */
    double budget;        /* pages an hour, with `continuous`; 0: each page once a day, and 60 at least */
    bool rebuild_seen;    /* rename the set, if there is one, and make it again from the database */

    /* What belongs to the crawl. max_… 0: no limit, unless a default is named. */
    scope_reach reach;
    const char *const *include, *const *exclude;
    size_t include_count, exclude_count;
    int64_t max_depth;       /* negative: none; otherwise levels are barriers */
    uint64_t max_pages;      /* responses in all, over all runs of a visit */
    uint64_t max_bytes;      /* of bodies in all, over all runs of a visit */
    int64_t max_time;        /* milliseconds of this run */
    uint64_t max_host_pages; /* 0: 1,000,000 */
    uint64_t max_queries;    /* per path; 0: 10,000 */
    /* With SCOPE_ANY: crawler/frontier/site_budgets.h. */
    uint64_t site_least, site_most; /* budgets of sites; 0: 10 and 10,000 */
    uint64_t max_sites;             /* further ones wait */
    uint64_t max_address_sites;     /* at an address; further ones are left out; 0: 1,000 */
    size_t max_url;                 /* bytes; 0: 2,048 */
    unsigned max_repeat;            /* times a segment may occur in a path; 0: 3 */
    uint32_t max_hops;              /* redirects in a row; 0: 20 */
    uint64_t max_body;              /* bytes as sent; 0: 16 MiB */
    uint64_t max_unpacked;          /* bytes; 0: 64 MiB */
    crawl_order order;
    bool resources, check;
    bool requisites; /* with `resources`: also from other hosts, if a page in scope loads them */
    bool fragments;  /* with `check`: find fragments that lead nowhere */
    bool internal;   /* with `check`: ask only about links in scope */
    const char
        *accept;  /* with `check`: statuses that are fine (report_accepted_read); NULL: none besides 2xx and 3xx */
    bool by_text; /* pages whose text is the same have not changed */
    bool no_store, no_sitemaps;

    /* Politeness. */
    const char *agent;      /* product token; NULL: "vidi" */
    const char *user_agent; /* the whole header User-Agent; NULL: made of agent and contact */
    const char *contact;    /* a mail address or a page; NULL: none, and public addresses are refused */
    int64_t delay;          /* milliseconds; negative: the default rule */
    unsigned per_host;      /* 0: 1 */
    int64_t max_delay;      /* a host that asks for more between two requests is parked; 0: a minute */
    unsigned retries;       /* after temporary failures; 3 is usual */
    bool ignore_robots;     /* of hosts whose address is in `nets` and not public */

    /* The network. */
    const char *const *headers; /* "Name: value", for the seeds' origins only */
    size_t header_count;
    const char *ca_file;
    bool cookies;          /* keep them, in the state */
    const char *proxy;     /* as in fetch_options; NULL: none */
    const fetch_net *nets; /* allowed besides public addresses */
    size_t net_count;
    unsigned connections;                     /* 0: 64 */
    int64_t connect_ms, silence_ms, total_ms; /* 0: 10, 30 and 300 seconds */
    fetch_resolver *resolver;
    void *resolver_context;

    /* A crawl by many processes: fleet/links/fleet.h. */
    const char *fleet;       /* the address of its set; NULL: this process crawls alone */
    const char *fleet_shown; /* the same as it may be shown; NULL: as it is */
    uint32_t fleet_replicas; /* as wait_replicas of vidi_cluster_access */
    int64_t fleet_lease;     /* milliseconds until the others take over from a process that is cut off; 0: 30,000 */
    const char *fleet_ca, *fleet_cert, *fleet_key; /* as ca_file … of vidi_cluster_access */

    /* Threads, files and callbacks. */
    unsigned threads;       /* that read pages; 0: as many as processors, 4 at most */
    uint64_t archive_bytes; /* of an archive file; 0: 1 GiB */
    const char *output;     /* file for lines about outcomes; "-": standard output; NULL: none */
    int (*line)(void *context, const crawl_outcome *outcome, bytes *to); /* appends one line. VIDI_OK or VIDI_EMEMORY */
    void *line_context;
    void (*warn)(void *context, const char *sentence); /* about a host or seed; may be NULL; called from any thread */
    void *warn_context;
    const crawl_clock *clock; /* NULL: the machine's */
} crawl_options;

typedef struct crawl crawl;

enum { CRAWL_WHY = 512 }; /* room for a sentence about an error */

/* VIDI_OK, or an error with a sentence in `why` (room CRAWL_WHY). The options' strings must stay until crawl_close. */
int crawl_open(crawl **made, const crawl_options *options, char *why);
void crawl_close(crawl *crawl);

typedef enum crawl_end {
    CRAWL_DONE,    /* nothing is left */
    CRAWL_LIMIT,   /* at a limit, or hosts were parked: URLs are left */
    CRAWL_STOPPED, /* by crawl_stop: URLs may be left */
    CRAWL_FAILED   /* crawl_error tells */
} crawl_end;

/* Crawls to the end. When it returns, everything finished is committed and synced, unless it failed. */
crawl_end crawl_run(crawl *crawl);

/* Ends the run cleanly: nothing new is begun, and running requests are cut off. Any thread may call it. */
void crawl_stop(crawl *crawl);
const char *crawl_error(const crawl *crawl);
/* Which limit ended it, in words: "--max-pages", "2 hosts are parked". */
const char *crawl_limit(const crawl *crawl);

/* What is going on. Any thread may call it. */
typedef struct crawl_progress {
    uint64_t pages; /* responses, over all runs of this visit */
    uint64_t pages_this_run, bytes_this_run;
    uint64_t bytes;            /* of bodies, over all runs of this visit */
    uint64_t links, links_new; /* that the set was asked about in this run; those that were new */
    uint64_t queue;            /* URLs without an outcome */
    uint64_t running;          /* requests on their way */
    uint64_t hosts_waiting;    /* hosts whose turn has not come */
    uint64_t errors;           /* URLs that could not be fetched, over all runs */
    uint64_t seeds_fetched;    /* over all runs */
    double expected_lost;
    uint64_t scheduled;     /* pages that a continuous crawl visits again; 0: not yet */
    double fresh, age_days; /* of their copies, as the schedule expects it */
    double seconds;         /* of this run */
} crawl_progress;
void crawl_look(crawl *crawl, crawl_progress *progress);

/* True if a process is crawling in the folder. Asks for its lock: not while a crawl may just be beginning there. */
bool crawl_runs(const char *folder);

/* ---- checking ---- */

typedef struct crawl_checked {
    uint64_t database_pages;
    uint64_t unchecked_pages; /* have no checksum, because another program has written them */
    uint64_t urls;            /* rows that the set was asked about */
    uint64_t records;         /* of the archive */
    uint64_t line_bytes;      /* of --jsonl */
    uint64_t faults;
} crawl_checked;

/*
 * Reads everything that the crawl in the folder has kept, even while it runs, and calls `fault` with a sentence for
 * each thing that is damaged, missing, or does not fit the rest. Changes nothing. VIDI_OK, or VIDI_EMEMORY or
 * VIDI_EBUSY.
 */
typedef void crawl_fault(void *context, const char *sentence);
int crawl_check(const char *folder, crawl_fault *fault, void *context, crawl_checked *found);

/* Statistics of the set, for the report. */
int crawl_set_stat(crawl *crawl, vidi_stats *stats);

#endif
