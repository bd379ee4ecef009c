/*
 * What the tests of the downloader share: a downloader that may use loopback, and requests to the server of a test.
 */
#ifndef TESTS_CRAWLER_FETCH_FETCHING_H
#define TESTS_CRAWLER_FETCH_FETCHING_H

#include "crawler/fetch/fetch.h"
#include "crawler/fetch/play_server.h"

/* Generous: nothing depends on how long something takes. */
enum { PATIENCE_MS = 60 * 1000 };

static inline vidi_str str_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

static inline fetch_net net_of(const char *text)
{
    fetch_net net;
    assert_true(fetch_net_parse(text, &net));
    return net;
}

static inline fetch_address address_of(const char *text)
{
    return net_of(text).address;
}

/* A resolver: every host is on this machine. */
static inline int resolve_here(void *context, const char *host, fetch_address *addresses, int room)
{
    (void)context;
    (void)host;
    (void)room;
    addresses[0] = (fetch_address){{127, 0, 0, 1}, 4};
    return 1;
}

/* A downloader that may use loopback and nothing else. `options` may be NULL. */
static inline downloader *open_fetcher(const fetch_options *options)
{
    fetch_net loopback[] = {net_of("127.0.0.0/8"), net_of("::1")};
    fetch_options own = options ? *options : (fetch_options){0};
    downloader *made = NULL;
    if (!own.allowed) {
        own.allowed = loopback;
        own.allowed_count = 2;
    }
    if (!own.agent)
        own.agent = "vidi/0.1.0 (+test@example.org)";
    assert_int_equal(fetch_open(&made, &own), VIDI_OK);
    return made;
}

static inline void next_event(downloader *f, fetch_event *event)
{
    assert_int_equal(fetch_wait(f, PATIENCE_MS, event), 1);
}

static inline fetch_response *next_response(downloader *f)
{
    fetch_event event;
    next_event(f, &event);
    assert_int_equal(event.kind, FETCH_DONE);
    assert_ptr_equal(event.item, event.response->item);
    return event.response;
}

/* Sends a request to the server of the test, whatever the host of the URL is. */
static inline fetch_response *ask(downloader *f, fetch_request request, const char *url)
{
    request.url = str_of(url);
    if (!request.address.length)
        request.address = address_of("127.0.0.1");
    assert_int_equal(fetch_start(f, &request), VIDI_OK);
    assert_int_equal(fetch_running(f), 1);
    fetch_response *response = next_response(f);
    assert_int_equal(fetch_running(f), 0);
    return response;
}

/* Gets a path from a server. */
static inline fetch_response *get(downloader *f, const play_server *from, const char *path)
{
    char url[8192];
    snprintf(url, sizeof url, "http://%s:%d%s", from->family == AF_INET ? "127.0.0.1" : "[::1]", from->port, path);
    return ask(f, (fetch_request){.address = address_of(from->family == AF_INET ? "127.0.0.1" : "::1")}, url);
}

static inline void check_bytes(const bytes *got, const char *want)
{
    if (got->len != strlen(want) || (got->len && memcmp(got->ptr, want, got->len) != 0))
        fail_msg("got \"%.*s\" instead of \"%s\"", (int)got->len, got->ptr ? got->ptr : "", want);
}

static inline void check_fine(const fetch_response *got, int status, const char *body)
{
    if (got->failure != FETCH_FINE)
        fail_msg("%s: %s", fetch_reason(got->failure), got->why);
    assert_int_equal(got->status, status);
    assert_string_equal(got->why, "");
    check_bytes(&got->body, body);
}

static inline void check_failure(const fetch_response *got, fetch_failure failure)
{
    if (got->failure != failure)
        fail_msg("\"%s\" (%s) instead of \"%s\"", fetch_reason(got->failure), got->why, fetch_reason(failure));
    assert_true(got->why[0] != '\0');
}

#endif
