/*
 * What the files of this folder share: the crawl, and what its threads hand to each other.
 *
 *                     URL blocks, host infos
 *            +-----------------------------------------------+
 *            v                                               |
 *         fetcher --fetch jobs--> parsers --fetch jobs--> storage
 *            |                                               ^
 *            +---------- host requests, host infos ----------+
 */
#ifndef VIDI_CRAWLER_CRAWL_CRAWL_STATE_H
#define VIDI_CRAWLER_CRAWL_CRAWL_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "crawler/archive/archive.h"
#include "crawler/base/bytes.h"
#include "crawler/base/url_keys.h"
#include "crawler/crawl/crawl.h"
#include "crawler/crawl/link_counts.h"
#include "crawler/crawl/message_queue.h"
#include "crawler/crawl/jsonl_output.h"
#include "crawler/crawl/consistency.h"
#include "crawler/crawl/cookie_jar.h"
#include "crawler/fetch/fetch.h"
#include "crawler/frontier/frontier.h"
#include "crawler/harvest/harvest.h"
#include "crawler/database/database.h"
#include "crawler/scope/scope.h"
#include "fleet/links/fleet.h"

enum {
    CRAWL_WEIGHT = 24 << 20,      /* bytes fetched and not committed, above which no request is started */
    CRAWL_PAGES = 500,            /* pages fetched and not committed, above which no request is started */
    CRAWL_HOSTS = 2000,           /* hosts in memory */
    CRAWL_BATCH = 250,            /* most pages in a batch */
    CRAWL_BATCH_BYTES = 16 << 20, /* most bytes of fetch jobs in a batch */
    CRAWL_BATCH_MS = 250,         /* longest time that the first page of a batch waits */
    CRAWL_OUTSIDE_BODY = 64 << 10 /* bytes read of the body of a link that is only checked */
};

typedef enum message_kind {
    MESSAGE_FETCH_JOB,   /* fetch_job */
    MESSAGE_URL_BLOCK,   /* load, to the fetcher */
    MESSAGE_HOST_INFO,   /* host_info, both ways */
    MESSAGE_WANT_URLS,   /* host_request, to the storage thread: more URLs of a host, if there are any */
    MESSAGE_HOST_LEFT,   /* host_request, to the storage thread: the fetcher has forgotten the host */
    MESSAGE_SITE_JUDGED, /* host_request, to the fetcher: its site may be crawled (count 0), or is cut (1) */
    MESSAGE_HOST_LOST,   /* host_request, to the fetcher: another process of the fleet has the host now */
    MESSAGE_MAKE_ROOM    /* host_request, to the fetcher: other hosts are waiting for a place in memory */
} message_kind;

/* What is known of a page from an earlier visit, for asking whether it has changed. In one block with its texts. */
typedef struct known_page {
    uint64_t row, body;          /* as in db_validators */
    archive_at head_at, body_at; /* their records */
    const char *etag, *modified; /* NULL: none */
} known_page;

/* A URL from request to outcome: the fetcher fetches it, a parser finds its links, storage writes its rows. */
typedef struct fetch_job {
    message message;
    frontier_url url; /* its text is at the end of the struct */
    uint64_t block;   /* where the frontier has it */
    uint32_t level;
    known_page *known; /* NULL: nothing, or it is not to be asked that way */
    /* the fetcher's */
    struct host *host;
    struct host *robots_for;       /* this is the request for that host's robots.txt; NULL: it is a page */
    unsigned redirects;            /* of robots.txt */
    unsigned failures;             /* requests that failed and were repeated */
    unsigned overloads;            /* answers of 429 or 503 */
    bool by_get;                   /* outside of the scope: HEAD was not enough */
    cookie_change *cookies;        /* that its responses have changed */
    int64_t due;                   /* when it can be tried again */
    LIST_ENTRY(fetch_job) running; /* in the list of running requests */
    /* what became of it */
    fetch_response *response; /* until a parser is through with it */
    int status;
    const char *reason; /* NULL: there is a response that counts */
    char error[200];
    uint64_t body_bytes;
    int64_t date, took_us;
    size_t weight; /* bytes that count towards CRAWL_WEIGHT */
    harvest harvest;
    bool harvested;
    uint32_t file; /* of the archive */
    uint64_t offset;
    bool stored;
    uint64_t body; /* row whose record has the body; 0: this one's, or there is none */
    char text[];
} fetch_job;

/* NULL: no memory. */
fetch_job *fetch_job_make(const frontier_url *url, uint64_t block, uint32_t level);
void fetch_job_free(fetch_job *job);

/* A block of a host's URLs for the fetcher. */
typedef struct url_block {
    message message;
    uint64_t host, number;
    uint32_t level;
    size_t count, at; /* `at`: how many the fetcher has taken out of it */
    frontier_url *urls;
    known_page **known; /* one for each URL, each may be NULL; NULL: none is known */
    bytes text;
} url_block;

/* What is known about a host: sent by the storage thread from the database, and back by the fetcher when it changes. */
typedef struct host_info {
    message message;
    uint64_t host;
    bytes origin; /* with a '/' at the end */
    uint64_t pages;
    int64_t not_before; /* a date; 0: none */
    int64_t wait;       /* to the fetcher: milliseconds until the first request */
    uint64_t address;   /* to the storage thread: key of its address, which the storage thread is to judge; 0: none */
    bool cut;           /* and what it said */
    /* robots.txt */
    bool has_robots;           /* to the storage thread: there is something new about it */
    bool robots_of_last_visit; /* to the fetcher: must be asked for again, for the sitemaps of this visit */
    int robots_outcome;
    int64_t robots_date, robots_reached;
    bytes robots;
    /* to the storage thread */
    char parked[96]; /* why it is not crawled any further in this run; "": nothing new */
    bytes sitemaps;  /* URLs, each ended by a zero byte */
} host_info;

typedef struct host_request {
    message message;
    uint64_t host;
    uint64_t count; /* URLs wanted, or returned */
    bytes urls;     /* with --fleet: those that are returned, each ended by a zero byte */
} host_request;

/* NULL: no memory. */
host_request *host_request_make(message_kind kind, uint64_t host, uint64_t count);

/* Frees a message of any kind. */
void message_free(message *one);
void messages_free(messages *list);

/* Why a run comes to its end; the first reason counts. */
typedef enum crawl_ending {
    ENDING_NOT,
    ENDING_DONE, /* the storage thread has found nothing more to do */
    ENDING_LIMIT,
    ENDING_STOP,
    ENDING_FAIL
} crawl_ending;

/* What the fetcher waits for, apart from responses and time. */
typedef enum crawl_hunger {
    HUNGER_NONE,
    HUNGER_URLS,  /* it could start more requests: the storage thread hands out new URLs before they are committed */
    HUNGER_COMMIT /* nothing goes on before the next commit, so the storage thread commits at once */
} crawl_hunger;

/* A header line for requests to one origin. */
typedef struct crawl_login {
    char *origin, *header;
} crawl_login;

struct crawl {
    crawl_options options; /* with the defaults filled in */
    crawl_clock clock;
    char *agent; /* the header User-Agent */
    /* seeds.c */
    vidi_str *seeds; /* serialised, without user names and fragments */
    char **seed_texts;
    size_t seed_count;
    crawl_login *logins;
    size_t login_count;
    scope *scope;
    harvest_rules rules;

    /* The state. After opening only the storage thread touches it. */
    vidi_set *set;
    crawl_db *db;
    archive *archive; /* NULL: nothing is stored */
    output output;
    url_keys *keys;        /* of hosts: by the text as it is */
    url_keys *targets;     /* of links, with `check`: by the set's canonical form */
    url_keys *pages;       /* of pages, for later visits: by the same form */
    uint64_t committed_to; /* id of the last row whose URL is committed to the set */
    uint64_t synced_to;    /* id of the last row whose URL is synced with the set */
    uint64_t run;          /* its random number: consistency.c */
    db_visit visit, last;  /* this visit, and the one before; number 0: there is none */
    bool same_rules;       /* it keeps links by the same rules as the run before */
    int lock;              /* the folder, locked; -1: not yet */
    bool ends;             /* the next commit is the last one of this run */
    uint64_t found_until;  /* the last row when the crawl was opened: older blocks may have finished URLs */

    struct fleet *fleet;   /* with --fleet; NULL: this process crawls alone. The storage thread's */
    uint64_t fleet_visit;  /* the number of the fleet's visit */
    bool fleet_begins;     /* and of this folder was another, so the next one begins here, too */
    char fleet_canon[160]; /* the canonical form of the fleet's set */
    bool fleet_returns;    /* its URLs wait for the next run, instead of going to the others */

    cookie_jar *jar;          /* with `cookies`; the fetcher's */
    link_counts *link_counts; /* with CRAWL_BEST: parsers add, the fetcher asks; else NULL */

    /* The threads. */
    downloader *downloader;
    message_queue to_parsers, to_storage, to_fetcher;
    atomic_long busy;     /* messages sent to parsers and storage that are not handled yet */
    atomic_size_t weight; /* bytes of the fetch jobs among them */
    atomic_size_t fetch_jobs;
    atomic_int hunger;      /* a crawl_hunger: what the fetcher waits for */
    atomic_llong next_turn; /* by the clock: when the next page of a continuous crawl has its turn; INT64_MAX: never */
    atomic_llong pace_us;   /* microseconds between two requests for pages, by --budget; 0: as fast as may be */
    atomic_llong pace_ahead_us; /* how much they may be ahead of that */
    atomic_int ending;
    atomic_bool ran;
    atomic_bool distrusts_archive; /* a body could not be read: pages are requested whole */

    /* What happened; `about` guards texts and figures. */
    pthread_mutex_t about;
    char error[512];
    char limit[160];
    crawl_progress progress;
    uint64_t parked;       /* hosts, in this run */
    const char *waits_for; /* the limit that URLs of sites wait for; NULL: none do */
    int64_t began;         /* this run, by the clock */
    int64_t seconds_ms;    /* of earlier runs */
};

/* ---- crawl.c ---- */

int64_t crawl_now(const crawl *crawl);
int64_t crawl_date(const crawl *crawl);

/* Writes the sentence to `why` (room CRAWL_WHY) and returns the error. */
int crawl_explain(char *why, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Ends the run with an error; the first one counts. Any thread. */
void crawl_fail(crawl *crawl, const char *format, ...) __attribute__((format(printf, 2, 3)));
void crawl_no_memory(crawl *crawl);
/* Ends the run at a limit: `what` is what crawl_limit tells. */
void crawl_end_at(crawl *crawl, const char *what);
void crawl_end_as(crawl *crawl, crawl_ending ending);
crawl_ending crawl_ends(const crawl *crawl);
void crawl_warn(const crawl *crawl, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sends what was counted as busy before; false if the crawl is ending: the list is then freed. */
void crawl_to_storage(crawl *crawl, messages *list);
/* The messages are handled, and everything that follows from them has been sent. */
void crawl_handled(crawl *crawl, size_t messages);

/* ---- seeds.c ---- */

/* Reads the seeds of the options. */
int seeds_read(crawl *crawl, char *why);
void seeds_free(crawl *crawl);

/* ---- visit.c ---- */

/* The first row of the page that has this URL in an earlier visit; *page 0: none has. */
int visit_page_of(crawl *crawl, vidi_str url, uint64_t *page);
/* Appends the canonical form of a URL; of text that has none, the text as it is. */
int visit_canonical(crawl *crawl, vidi_str url, bytes *to);

/* ---- resume.c ---- */

/* Opens or makes the state, and brings set, archive, output file and database together. */
int resume_open(crawl *crawl, char *why);
void resume_close(crawl *crawl);

/* ---- sites.c ---- */

/* True if sites have budgets: --scope any. */
bool crawl_has_sites(const crawl *crawl);
/* Refuses to go on with a state that had budgets without them. */
int crawl_sites_check(crawl *crawl, char *why);
/* The budgets of sites begin to count. In a transaction. */
int crawl_sites_begin(crawl *crawl);
/* The key of a URL's site. VIDI_OK or an error. */
int crawl_site_key(const crawl *crawl, vidi_str url, uint64_t *key);

/* ---- parsers.c ---- */

typedef struct parsers parsers;
int parsers_start(parsers **made, crawl *crawl);
/* The message queue of the parsers is closed; waits until all is read. */
void parsers_join(parsers *parsers);

/* ---- storage.c, fetcher.c ---- */

void *storage_run(void *context); /* a thread; the context is the crawl */
void fetcher_run(crawl *c);       /* in the thread of crawl_run */

#endif
