/*
 * Fetches URLs over HTTP/1.1 or HTTP/2, many at a time, in one thread, with libcurl. Names are resolved by a pool of
 * threads, so that the address is known before anything is sent: politeness and safety need it.
 *
 *     fetch_resolve(f, host, item);            the address of a host, from a cache of five minutes
 *     fetch_start(f, &request);                begins a request to that address
 *     while (fetch_wait(f, 100, &event) > 0)   addresses and responses, as they arrive
 *         …
 *
 * Redirects are not followed and cookies are not kept; nothing, such as a proxy, is taken from the environment or from
 * configuration files. Bodies come as they were sent, without the chunks' framing but still packed (we ask for gzip).
 *
 * Safety: an address that is not public is refused unless it is in one of the allowed networks; a public one is refused
 * unless `allow_public`. Each address is checked when a name is resolved and again when a socket is opened, so a name
 * that changes its address gains nothing. Proxies for which this cannot hold: see fetch_options.proxy.
 */
#ifndef VIDI_CRAWLER_FETCH_FETCH_H
#define VIDI_CRAWLER_FETCH_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/base/bytes.h"
#include "crawler/base/crawl_clock.h"

typedef struct fetch_address {
    uint8_t bytes[16];
    uint8_t length; /* 4 or 16; 0: none */
} fetch_address;

/* A network: "127.0.0.0/8", "fd00::/8", or an address alone. */
typedef struct fetch_net {
    fetch_address address;
    unsigned bits;
} fetch_net;

bool fetch_net_parse(const char *text, fetch_net *net);
bool fetch_net_has(const fetch_net *net, const fetch_address *address);

/* An address as text; "192.0.2.1". `to` has room for 46 bytes. */
const char *fetch_address_text(const fetch_address *address, char *to);

/* True for addresses on the public Internet: not for private, loopback, link-local, mapped … ones. */
bool fetch_address_is_public(const fetch_address *address);
/* True for 127.0.0.0/8 and ::1: this machine. */
bool fetch_address_is_loopback(const fetch_address *address);

typedef enum fetch_failure {
    FETCH_FINE,
    FETCH_NAME,    /* the name could not be resolved */
    FETCH_ADDRESS, /* the address is not allowed */
    FETCH_CONNECT, /* no answer from that address */
    FETCH_TLS,
    FETCH_TIMEOUT,
    FETCH_BROKEN, /* the connection broke, or what came was not HTTP */
    FETCH_LIMIT,  /* the body or the head is larger than allowed */
    FETCH_MEMORY  /* this machine is short of memory or sockets, which says nothing about the URL */
} fetch_failure;

/* "name", "address", "connect", "tls", "timeout", "broken", "limit", "memory": the reason that reports give. */
const char *fetch_reason(fetch_failure failure);

/* Finds at most `room` addresses of a host: how many, or an error of getaddrinfo. Threads of the pool call it. */
typedef int fetch_resolver(void *context, const char *host, fetch_address *addresses, int room);

/* The system's resolver, for resolvers that know some names themselves and pass the others on. Ignores its context. */
int fetch_resolve_system(void *context, const char *host, fetch_address *addresses, int room);

/* Defaults: what an option of 0 stands for. */
enum {
    FETCH_MAX_BODY = 16 << 20,
    FETCH_MAX_HEAD = 64 << 10,
    FETCH_MAX_HELD = 16 << 20,
    FETCH_CONNECT_MS = 10 * 1000,
    FETCH_SILENCE_MS = 30 * 1000,
    FETCH_TOTAL_MS = 300 * 1000,
    FETCH_CONNECTIONS = 64
};

typedef struct fetch_options {
    const char *agent;    /* the header User-Agent; NULL: none */
    const char *ca_file;  /* certificates to trust; NULL: the system's */
    uint64_t max_body;    /* bytes as sent */
    uint64_t max_head;    /* bytes of all header fields */
    uint64_t max_held;    /* bytes that running requests hold together; beyond it, large bodies wait for each other */
    int64_t connect_ms;   /* longest time to connect; the timeouts use the machine's clock */
    int64_t silence_ms;   /* longest time without a byte */
    int64_t total_ms;     /* longest time for a whole response */
    unsigned connections; /* concurrent requests, fewer if not as many files may be open; further ones wait */
    const fetch_net *allowed; /* copied */
    size_t allowed_count;
    bool allow_public;
    /*
     * "http://user:password@proxy.example:3128": all requests go through it, and its own address is always permitted. A
     * proxy with https or http before its name, or socks5h, looks up the names of hosts: then their addresses are not
     * known and cannot be checked, and FETCH_RESOLVED brings none. Hosts that are an address or this machine are
     * checked all the same, and all others are refused unless `allow_public`. With socks5, all is as without a proxy.
     */
    const char *proxy;
    fetch_resolver *resolver; /* NULL: the system's */
    void *resolver_context;
    const crawl_clock *clock; /* for the cache of names and for dates; copied; NULL: the machine's */
} fetch_options;

/* VIDI_OK, VIDI_EARGUMENT if it cannot be a proxy, or VIDI_EMEMORY. *resolves: it looks up the names of hosts. */
int fetch_proxy_check(const char *text, bool *resolves);

typedef struct downloader downloader;

/*
 * VIDI_OK, VIDI_EMEMORY, VIDI_ESYSTEM, VIDI_EIO (ca_file cannot be read), VIDI_EARGUMENT (a control character in the
 * agent, or not a proxy), or VIDI_ECANNOT (libcurl cannot be loaded). The options are copied.
 */
int fetch_open(downloader **made, const fetch_options *options);
/* Ends all requests; their items are not reported. Waits for names that are being looked up this moment. */
void fetch_close(downloader *downloader);

/* Looks up the address of a host ("example.org", "192.0.2.1", "[::1]"); an event FETCH_RESOLVED brings the result. */
int fetch_resolve(downloader *downloader, vidi_str host, void *item);

typedef struct fetch_request {
    void *item;            /* the caller's; returned with the event */
    vidi_str url;          /* serialised, http or https; copied */
    fetch_address address; /* to connect to, from FETCH_RESOLVED, which may have none if there is a proxy */
    bool head;             /* HEAD instead of GET */
    /* Further header lines without line ends, such as the user's --header. Their values are masked in `sent`. */
    const char *const *headers;
    size_t header_count;
    /* Header lines of this one request that are no secrets, such as "If-None-Match: …": `sent` has them as they are. */
    const char *const *extra;
    size_t extra_count;
    uint64_t max_body; /* 0: as the options say */
    bool may_cut;      /* a larger body is cut off there, which is no failure */
    /* Use a new connection. On a kept one that is closed without an answer, the request is sent once more at once. */
    bool is_fresh;
} fetch_request;

/*
 * Begins a request; an event FETCH_DONE brings the response. VIDI_OK, VIDI_EMEMORY, or VIDI_EARGUMENT: the URL is
 * not a serialised http or https URL, there is no address, or a header is not "Name: value" in one line or is not the
 * caller's to set (Host, and those that say where a message ends).
 */
int fetch_start(downloader *downloader, const fetch_request *request);

/* Ends the request that was begun for this item, and its connection; there will be no event. False: there is none. */
bool fetch_cancel(downloader *downloader, const void *item);

typedef struct fetch_response {
    void *item;
    fetch_failure failure;
    bool may_pass; /* it failed, but another try may succeed */
    char why[160]; /* a sentence without a full stop, if it failed; without control characters */
    int os_error;  /* errno of a connection that could not be made (FETCH_CONNECT); 0: not known */
    bool no_proxy; /* the proxy cannot be used, which says nothing about the host (FETCH_CONNECT) */
    int status;    /* of HTTP; 0 if none came */
    bytes sent;    /* the head of the request as it was sent, secrets masked */
    bytes head;    /* status line and header fields as they came; of the last response, not of 1xx */
    bool is_h2;    /* it came by HTTP/2, which has no status line; `head` has one of HTTP/1.1, as archives want it */
    bytes body;    /* after a failure, too: what has come, at most max_body */
    bool is_cut;   /* there was more, but the request said may_cut */
    fetch_address address; /* of the host; length 0: only a proxy knows */
    int64_t date;          /* milliseconds since 1970 when it began */
    int64_t took_us;       /* until it was complete, by the machine's clock */
} fetch_response;

/* Any thread may call it, even after fetch_close. */
void fetch_response_free(fetch_response *response);

typedef enum fetch_event_kind { FETCH_RESOLVED, FETCH_DONE } fetch_event_kind;

typedef struct fetch_event {
    fetch_event_kind kind;
    void *item;
    /* FETCH_RESOLVED */
    /* The one to use: the first that is allowed, or the next if that one did not answer. Length 0: a proxy finds out. */
    fetch_address address;
    fetch_failure failure; /* FETCH_FINE, FETCH_NAME or FETCH_ADDRESS */
    bool may_pass;         /* as of a response */
    char why[160];
    /* FETCH_DONE: the caller frees it. */
    fetch_response *response;
} fetch_event;

/*
 * Waits at most `ms` milliseconds for an event (0: does not wait). 1: there is one. 0: time is up, or fetch_wake was
 * called. Negative: an error.
 */
int fetch_wait(downloader *downloader, int64_t ms, fetch_event *event);

/* Ends a fetch_wait. The only function of a downloader that other threads may call. */
void fetch_wake(downloader *downloader);

/* Number of requests and name lookups that are not reported yet. */
size_t fetch_running(const downloader *downloader);

/* Bytes of heads and bodies that have arrived and are not reported yet. */
uint64_t fetch_held(const downloader *downloader);

#endif
