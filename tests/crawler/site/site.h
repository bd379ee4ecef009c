/*
 * A web site for the crawler's tests, with known truth.
 *
 *     site *web = site_open(50);                          a server on 127.0.1.1 … 127.0.1.50, all on one port
 *     site_page *a = site_page_add(web, 1, "/a"), *b = …
 *     site_link(a, b, "<a href='/b'>b</a>");              what the page says, and where that leads
 *     site_serve(web);
 *     … crawl …
 *     site_walk(web, seeds, 1, -1);                       the truth: which pages must be visited, at what depth
 *     site_close(web);
 *
 * Pages and links are made by one hand: whoever writes the HTML of a link also says which page it leads to. So the
 * truth is a walk over pages in memory. It parses nothing, and it shares no code with the crawler.
 *
 * The server is one thread with epoll. It keeps a log of all requests, with the times of a clock that the test can
 * give, so that politeness can be proven from what a server sees.
 */
#ifndef TESTS_CRAWLER_SITE_SITE_H
#define TESTS_CRAWLER_SITE_SITE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

/* How a response comes. */
typedef enum site_manner {
    SITE_WHOLE,       /* with its length */
    SITE_CHUNKED,     /* in chunks of 1,000 bytes */
    SITE_UNTIL_CLOSE, /* without a length; the connection is closed after it */
    SITE_CUT_OFF,     /* half of it, then the connection is closed */
    SITE_BAD_CHUNK,   /* a chunk whose length is not a number */
    SITE_GARBAGE,     /* not HTTP */
    SITE_ENDLESS,     /* the body begins again and again */
    SITE_SILENT,      /* nothing, ever */
    SITE_DRIPS,       /* a byte each 50 ms, without end */
    SITE_HUGE_HEAD,   /* header fields without end */
    SITE_CLOSES,      /* the connection is closed without a byte */
    /* The body is all that is sent: it is the whole response. Then the connection is */
    SITE_RAW,       /* kept for a few milliseconds, as the client may wait for more */
    SITE_RAW_CLOSE, /* closed */
    SITE_RAW_RESET  /* closed with a reset */
} site_manner;

typedef enum site_conditions {
    SITE_OBEYS,   /* 304 if a condition says that the client has this answer, with the validators */
    SITE_TERSE,   /* the same, without them */
    SITE_IGNORES, /* 200 */
} site_conditions;

typedef struct site_answer {
    int status;
    site_manner manner;
    const char *type;   /* Content-Type; NULL: none */
    const char *fields; /* further header lines, each with CR LF; NULL: none */
    /* With status 200: validators, and what the conditions of requests lead to. NULL: none. */
    const char *etag, *modified;
    site_conditions conditions;
    const char *body;
    size_t length;
    int delay_ms; /* real milliseconds before it begins */
    size_t piece; /* bytes sent at a time; 0: as many as the socket takes */
    void *owned;  /* freed by the server after the response; NULL: nothing */
} site_answer;

enum { SITE_ANY_STATUS = -1 }; /* what is expected if the truth does not say */

typedef struct site_page site_page;

/* What leads from a page to another. */
typedef struct site_edge {
    site_page *to;
    bool is_redirect; /* the depth stays the same */
} site_edge;

struct site_page {
    const char *host; /* "127.0.1.7" or a name */
    char *target;     /* path and query */
    char *url;
    site_text text;     /* the HTML so far */
    site_answer answer; /* a body of NULL: the text */
    site_answer early;  /* instead, for the first `early_times` requests */
    unsigned early_times;
    bool no_head; /* HEAD is answered with 405 */
    char *fields; /* what answer.fields points to, if it was made by site_redirect */

    /* What must become of it if it is reached. */
    int status;         /* of HTTP; 0: no response */
    const char *reason; /* NULL: fetched */
    const char *change; /* what a visit must say about it: "new", "gone" …; NULL: that is not compared */
    bool unstored;      /* it must not be in the archive */
    bool apart;         /* a robots.txt, or part of one: how often it is asked for does not matter */
    bool barren;        /* its links do not count: nofollow, broken, not HTML, forbidden … */
    site_edge *edges;
    size_t edge_count, edge_room;

    /* By site_walk. */
    bool reached;
    uint32_t depth;

    unsigned requests; /* so far, by the server */
    size_t number;     /* in site.pages */
    site_page *next;   /* in the table */
};

/* A request, as the server has seen it. */
typedef struct site_request {
    int64_t began, ended; /* by the site's clock; ended: INT64_MAX as long as it lasts */
    int64_t took_us;      /* really */
    uint8_t address;      /* 127.0.1.N */
    char *head;           /* request line and header fields */
    char *host, *target, *method;
    int status;
    size_t body;                      /* bytes of the response's body, unless it is endless */
    unsigned with_host, with_address; /* requests on their way to that host and address when it came, with itself */
} site_request;

typedef struct site site;

/* Makes an answer for targets that are not pages. False: there is nothing there either. */
typedef bool site_maker(void *context, const site *site, const char *host, const char *target, site_answer *answer);

struct site {
    int port;
    unsigned addresses;
    int *listeners;
    site_page **table;
    size_t table_size, page_count;
    site_page **pages; /* in the order in which they were made */
    size_t page_room;
    site_maker *maker;
    void *maker_context;
    int64_t (*now)(void *context); /* milliseconds, for the log; NULL: the machine's */
    void *now_context;

    pthread_t thread;
    bool serving;
    int wake; /* an eventfd that ends the thread */
    pthread_mutex_t lock;
    site_request *log; /* under the lock */
    size_t log_count, log_room;
    int log_file; /* lines are also written there; -1: not */
    struct site_connection *connections;
    uint64_t accepted; /* connections so far */
};

/* Binds the addresses 127.0.1.1 … 127.0.1.N to one free port, or fails the test. */
site *site_open(unsigned addresses);
void site_close(site *site);

/* Starts the thread. Pages may not be changed until site_stop. */
void site_serve(site *site);
void site_stop(site *site);
/* Bytes of all bodies that were composed since the log begins. */
uint64_t site_body_bytes(site *site);
/* Forgets the log, and how often pages were asked for; closes all connections. */
void site_forget(site *site);

/* ---- pages ---- */

/* "127.0.1.N" */
const char *site_host_name(unsigned number);
/* A page with status 200 and type text/html that says nothing yet. Targets are as a request line has them. */
site_page *site_page_add(site *site, unsigned host, const char *format, ...) __attribute__((format(printf, 3, 4)));
site_page *site_page_on(site *site, const char *host, const char *target);
site_page *site_find(const site *site, const char *host, const char *target);
/* By its URL; NULL: the site has no such page. */
site_page *site_find_url(const site *site, const char *url);

/* Writes HTML on a page. */
void site_say(site_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes HTML that links to a page: the crawl must follow it. */
void site_link(site_page *page, site_page *to, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The usual link: with the target's URL. */
void site_link_to(site_page *page, site_page *to);
/* Knows of a link without writing anything. */
void site_edge_add(site_page *page, site_page *to, bool is_redirect);
/* Packs what it says, and says so in a header field. */
typedef enum site_packing { SITE_GZIP, SITE_BROTLI } site_packing;
void site_page_pack(site_page *page, site_packing packing);
/* Takes back what it says and where that leads. */
void site_page_clear(site_page *page);
/* Makes it a redirect with this Location. `to` may be NULL: it leads out of the crawl, or nowhere. */
void site_redirect(site_page *page, int status, site_page *to, const char *location);
/* A status and nothing else, such as 404. */
void site_status(site_page *page, int status);
/* The robots.txt of a host; never part of the truth. */
site_page *site_robots(site *site, unsigned host, const char *text);

/* ---- truth ---- */

/*
 * Which pages are reached from the seeds, and at what depth. Deeper ones than max_depth are not (negative: no limit).
 */
void site_walk(site *site, site_page *const *seeds, size_t seed_count, int64_t max_depth);

#endif
