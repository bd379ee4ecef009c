/*
 * What the files of this folder share: a request with its response, and the handle of libcurl that carries it.
 *
 *     request.c          a request becomes an exchange, and the exchange options of libcurl
 *     response.c         what comes back is collected; what went wrong is put into words
 *     downloader.c       the loop: queues, timers, events
 *     libcurl.h          libcurl, loaded when it is needed
 *     sockets.h          which sockets libcurl waits for
 *     exchange_pool.h    exchanges that are used again
 *     addresses.h        which addresses are permitted
 *     proxy.c            which proxy is asked
 *     dns_cache.h        the cache of addresses
 */
#ifndef VIDI_CRAWLER_FETCH_EXCHANGE_H
#define VIDI_CRAWLER_FETCH_EXCHANGE_H

#include <curl/curl.h>

#include "crawler/fetch/addresses.h"
#include "crawler/fetch/queue.h"
#include "crawler/fetch/sockets.h"

typedef struct exchange {
    fetch_response response; /* first, because the caller frees it by its address */
    queue_link link;         /* of those that wait for a handle, are done, or wait to be used again */
    struct exchange_pool *pool;
    bool is_head, may_cut, is_fresh;
    bool is_forwarded; /* to a proxy, which answers by itself if it cannot reach the host */
    uint64_t max_body;
    char *origin;               /* "http://example.org:8080/": what libcurl parses */
    char *target;               /* path and query: what it sends */
    char connect_to[64];        /* "::192.0.2.1:" */
    struct curl_slist to;       /* the same, for libcurl */
    struct curl_slist *headers; /* all but those that libcurl makes; NULL: the downloader's */
    bytes text;                 /* what origin, target and the headers point into */
} exchange;

typedef struct fetch_proxy {
    char *url;     /* "http://proxy.example:3128"; NULL: there is none */
    char *login;   /* "user:password", percent-encoded, which no message shows; NULL: none */
    bool resolves; /* it looks up the names of hosts, not we */
    bool forwards; /* it gets requests for http as they are, and tunnels for https only */
} fetch_proxy;

/* VIDI_OK, VIDI_EARGUMENT or VIDI_EMEMORY; fetch_proxy_close is needed only after VIDI_OK. */
int fetch_proxy_open(fetch_proxy *made, const char *text);
void fetch_proxy_close(fetch_proxy *proxy);

/* What never changes. */
typedef struct fetch_rules {
    char *agent, *ca_file; /* copies */
    uint64_t max_body, max_head;
    int64_t connect_ms, silence_ms, total_ms;
    crawl_clock clock;
    fetch_guard guard;
    fetch_proxy proxy;
    /* for requests that bring no headers along: those that libcurl does not make, and all lines as they are sent */
    struct curl_slist plain;
    bytes lines;
} fetch_rules;

/*
 * How much memory the responses take that are on their way. Beyond the limit, one of the large bodies (those that have
 * their share of the limit) goes on until it is complete, and the others wait. Small ones are never held up.
 */
typedef struct fetch_load {
    uint64_t held, limit, share;
    const struct carrier *leader; /* the one that goes on; NULL: none yet */
    size_t paused;                /* carriers that wait */
} fetch_load;

/* Carries one exchange after the other, each with a handle of libcurl of its own. */
typedef struct carrier {
    CURL *easy; /* NULL: the carrier is free */
    const fetch_rules *rules;
    fetch_load *load;
    sockets *sockets;
    struct carrier *next_free;
    exchange *with; /* NULL: the carrier is free */

    /* in microseconds of the machine's clock */
    int64_t began, heard;      /* when the exchange began; when its socket did something */
    int64_t paused_at, waited; /* since when it is paused (0: it is not); how long it was before */

    /* Framing without contents: see carrier_is_fooled. */
    int fd;                              /* the socket that was opened last */
    unsigned events;                     /* on the socket */
    uint64_t base_received, base_useful; /* bytes, when we first looked; 0: not yet */

    /* the response */
    uint64_t head_bytes; /* of all header fields, those of 1xx and trailers, too */
    bool head_ended;     /* the empty line has come; of a 1xx, if `status` says so */
    int status;
    bool unreachable;      /* there was no connection */
    fetch_failure failure; /* what we ended it for */
    int shortage;          /* errno, if no socket could be opened; else 0 */
    char error[CURL_ERROR_SIZE];
} carrier;

/* The machine's clock, in microseconds. */
int64_t fetch_now_us(void);

/* ---- request.c ---- */

/* Sets what is the same for all requests, once the agent is known. VIDI_OK or VIDI_EMEMORY. */
int fetch_rules_set_headers(fetch_rules *rules);

/* VIDI_OK, VIDI_EARGUMENT (not an http URL, a bad header, no address) or VIDI_EMEMORY. */
int exchange_make(exchange **made, struct exchange_pool *from, const fetch_rules *rules, const fetch_request *request);
void exchange_free(exchange *exchange);
/* Frees what only the sending needed. */
void exchange_drop_request(exchange *exchange);

/* Sets the handle to the exchange, which begins now. VIDI_OK or VIDI_EMEMORY. */
int carrier_take(carrier *by, exchange *with);

/* True if it has no control characters. */
bool fetch_is_line(const char *text);

/* ---- response.c ---- */

/*
 * What the downloader has received through TLS since it last called libcurl. libcurl 7.88.1 reads HTTP/2 in one call as
 * long as frames without contents come, however many: so they are counted while it does.
 */
typedef struct fetch_reading {
    sockets *sockets;
    uint64_t bytes;
} fetch_reading;
extern _Thread_local fetch_reading fetch_reading_now;

/* Sets the functions that collect the response. */
void carrier_set_receivers(carrier *by);
/* Lets a paused one go on; its receivers may be called at once, and may pause it again. */
void carrier_resume(carrier *by);
/* The socket has received something. True if that is endless framing without content. */
bool carrier_is_fooled(carrier *by, int fd);
/* Fills in the response when libcurl is done; `result` is its verdict. */
void carrier_finish(carrier *by, CURLcode result);
/* The same when we end it. */
void carrier_give_up(carrier *by, fetch_failure failure, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
