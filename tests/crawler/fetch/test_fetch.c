/* What is sent, and what becomes of responses that servers may send. Limits and failures are in test_fetch_limits.c. */
#include "crawler/fetch/fetching.h"
#include "crawler/http/http.h"

#define OK "HTTP/1.1 200 OK\r\n"

static const char gzipped[] = OK "Content-Encoding: gzip\r\nContent-Length: 6\r\n\r\n\x1f\x8b\x00\x01\x02\x03";

static const play_page pages[] = {
    {"/", OK "Content-Length: 5\r\nX-A: 1\r\n\r\nhello", 0, PLAY_KEEP, NULL},
    {"/to-end", OK "\r\nuntil the end", 0, PLAY_CLOSE, NULL},
    {"/old", "HTTP/1.0 200 OK\r\n\r\nold", 0, PLAY_CLOSE, NULL},
    {"/chunked", OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Trailer: t\r\n\r\n", 0,
     PLAY_KEEP, NULL},
    {"/gzip", gzipped, sizeof gzipped - 1, PLAY_KEEP, NULL},
    {"/hints",
     "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" OK "Content-Length: 2\r\n\r\nok", 0,
     PLAY_KEEP, NULL},
    {"/moved", "HTTP/1.1 301 Moved\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", 0, PLAY_KEEP, NULL},
    {"/none", "HTTP/1.1 204 No Content\r\n\r\n", 0, PLAY_KEEP, NULL},
    {"/same", "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n", 0, PLAY_KEEP, NULL},
    {"/login", "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\nContent-Length: 2\r\n\r\nno", 0, PLAY_KEEP, NULL},
    {"/cookie", OK "Set-Cookie: a=b\r\nContent-Length: 0\r\n\r\n", 0, PLAY_KEEP, NULL},
    {"/head", OK "Content-Length: 1000000000\r\n\r\n", 0, PLAY_KEEP, NULL},
    {"/head-with-body", OK "Content-Length: 5\r\n\r\nHTTP/1.1 299 Fooled\r\nContent-Length: 0\r\n\r\n", 0, PLAY_KEEP,
     NULL},
    {"/bare-lf", "HTTP/1.1 200 OK\nX-A: 1\nContent-Length: 2\n\nlf", 0, PLAY_KEEP, NULL},
    {"/long", OK "Content-Length: 2\r\n\r\nokand more than it said", 0, PLAY_KEEP, NULL},
    {"/folded", OK "   X-A: 1\r\nContent-Length: 2\r\n\r\nok", 0, PLAY_KEEP, NULL},
    {"/hints-folded",
     "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n  X-B: 2\r\n\r\n" OK
     "\tX-A: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n  X-T: 3\r\n\r\n",
     0, PLAY_KEEP, NULL},
    {"/two-lengths", OK "Content-Length: 5\r\nX-A: 1\r\ncontent-length: 20\r\n\r\nhello", 0, PLAY_KEEP, NULL},
    {"/listed-lengths", OK "Content-Length: 5, 20\r\n\r\nhello", 0, PLAY_KEEP, NULL},
    {"/same-length-twice", OK "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 0, PLAY_KEEP, NULL},
    {"/lengths-of-chunks",
     OK "Content-Length: 1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
        "5\r\nhello\r\n0\r\n\r\n",
     0, PLAY_KEEP, NULL},
    {"/close-second", OK "Content-Length: 2\r\n\r\nok", 0, PLAY_CLOSE_SECOND, NULL},
};

typedef struct room {
    play_server *server;
    downloader *f;
} room;

static int set_up(void **state)
{
    room *r = calloc(1, sizeof *r);
    r->server = play_begin(AF_INET, pages, sizeof pages / sizeof pages[0]);
    assert_non_null(r->server);
    r->f = open_fetcher(NULL);
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    room *r = *state;
    fetch_close(r->f);
    play_end(r->server);
    free(r);
    return 0;
}

static void check_two_lengths(room *r, const char *path)
{
    fetch_response *got = get(r->f, r->server, path);
    check_failure(got, FETCH_BROKEN);
    assert_string_equal(got->why, "the head has two Content-Lengths that differ");
    assert_false(got->may_pass);
    assert_int_equal(got->body.len, 0);
    fetch_response_free(got);
}

static void two_lengths_that_differ_are_broken(void **state)
{
    room *r = *state;
    static const char *const fine[] = {"/same-length-twice", "/lengths-of-chunks"};
    check_two_lengths(r, "/two-lengths");
    check_two_lengths(r, "/listed-lengths");
    for (size_t i = 0; i < 2; i++) {
        fetch_response *got = get(r->f, r->server, fine[i]);
        check_fine(got, 200, "hello");
        fetch_response_free(got);
    }
}

/* ---- what is sent ---- */

static void the_request_that_is_told_is_the_one_that_was_sent(void **state)
{
    room *r = *state;
    static const char *const paths[] = {"/", "/?", "/?a=%20b&c=d?e", "/../a/./b//", "/a%2Fb/'();:@&=+$,!*~|[]{}^`\\"};
    char want[512];
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        fetch_response *got = get(r->f, r->server, paths[i]);
        snprintf(want, sizeof want,
                 "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: vidi/0.1.0 (+test@example.org)\r\n"
                 "Accept: */*\r\nAccept-Encoding: " HTTP_CODINGS "\r\n\r\n",
                 paths[i], r->server->port);
        check_bytes(&got->sent, want);
        assert_string_equal(play_last(r->server), want);
        fetch_response_free(got);
    }
}

static void values_of_further_headers_are_masked(void **state)
{
    room *r = *state;
    static const char *const headers[] = {"Authorization: Basic c2VjcmV0", "X-Empty:", "user-agent: other",
                                          "Accept: text/html", "Accept-Encoding: identity"};
    char url[100], want[512];
    snprintf(url, sizeof url, "http://example.org:%d/", r->server->port);
    fetch_response *got = ask(r->f, (fetch_request){.headers = headers, .header_count = 5}, url);
    check_fine(got, 200, "hello");
    snprintf(want, sizeof want,
             "GET / HTTP/1.1\r\nHost: example.org:%d\r\nAuthorization: ***\r\nX-Empty:\r\nuser-agent: ***\r\n"
             "Accept: ***\r\nAccept-Encoding: ***\r\n\r\n",
             r->server->port);
    check_bytes(&got->sent, want);
    snprintf(want, sizeof want,
             "GET / HTTP/1.1\r\nHost: example.org:%d\r\nAuthorization: Basic c2VjcmV0\r\nX-Empty:\r\n"
             "user-agent: other\r\nAccept: text/html\r\nAccept-Encoding: identity\r\n\r\n",
             r->server->port);
    assert_string_equal(play_last(r->server), want);
    fetch_response_free(got);
    /* They belong to that request alone. */
    fetch_response_free(get(r->f, r->server, "/"));
    assert_null(strstr(play_last(r->server), "Authorization"));
}

static void extra_headers_of_a_request_are_told_as_they_are(void **state)
{
    room *r = *state;
    static const char *const secret[] = {"Cookie: a=b"};
    static const char *const extra[] = {"If-None-Match: W/\"x:y\"", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"};
    fetch_request request = {.headers = secret, .header_count = 1, .extra = extra, .extra_count = 2};
    char url[100], lines[512];
    const char *plain = "Accept-Encoding: " HTTP_CODINGS "\r\nCookie: a=b\r\nIf-None-Match: W/\"x:y\"\r\n"
                        "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n";
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", r->server->port);
    fetch_response *got = ask(r->f, request, url);
    check_fine(got, 200, "hello");
    assert_non_null(strstr(play_last(r->server), plain));
    snprintf(lines, sizeof lines, "%.*s", (int)got->sent.len, got->sent.ptr);
    assert_null(strstr(lines, "a=b"));
    assert_non_null(strstr(lines, "Cookie: ***\r\nIf-None-Match: W/\"x:y\"\r\nIf-Modified-Since: Sun, 06 Nov 1994"));
    fetch_response_free(got);
    request = (fetch_request){.extra = &extra[1], .extra_count = 1};
    fetch_response_free(ask(r->f, request, url));
    assert_non_null(strstr(play_last(r->server), "\r\nIf-Modified-Since: Sun"));
    fetch_response_free(get(r->f, r->server, "/"));
    assert_null(strstr(play_last(r->server), "If-Modified-Since"));
    request = (fetch_request){.url = str_of(url), .address = address_of("127.0.0.1"), .extra_count = 1};
    request.extra = &(const char *const){"X: a\r\nY: b"};
    assert_int_equal(fetch_start(r->f, &request), VIDI_EARGUMENT);
}

static void head_asks_without_a_body(void **state)
{
    room *r = *state;
    char url[100];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/head", r->server->port);
    for (int i = 0; i < 2; i++) {
        fetch_response *got = ask(r->f, (fetch_request){.head = true}, url);
        check_fine(got, 200, "");
        assert_memory_equal(got->sent.ptr, "HEAD /head HTTP/1.1\r\n", 21);
        assert_memory_equal(play_last(r->server), "HEAD /head HTTP/1.1\r\n", 21);
        fetch_response_free(got);
        /* The next request is a GET again. */
        got = get(r->f, r->server, "/");
        check_fine(got, 200, "hello");
        assert_memory_equal(play_last(r->server), "GET / ", 6);
        fetch_response_free(got);
    }
    assert_int_equal(play_connections(r->server), 1);
}

static void bad_requests_are_refused(void **state)
{
    room *r = *state;
    static const char *const bad_headers[] = {"X: a\r\nY: b",
                                              "X: a\nY",
                                              "X",
                                              ": a",
                                              "X Y: a",
                                              "X\r: a",
                                              "",
                                              "X: \x01",
                                              "Host: a",
                                              "Content-Length: 3",
                                              "transfer-encoding: chunked",
                                              "Connection: close"};
    static const char *const bad_urls[] = {
        "ftp://127.0.0.1/",     "http://user@127.0.0.1/",    "http://127.0.0.1",  "", "/",
        "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y", "file:///etc/passwd"};
    fetch_request request = {.address = address_of("127.0.0.1"), .header_count = 1};
    for (size_t i = 0; i < sizeof bad_headers / sizeof bad_headers[0]; i++) {
        request.url = str_of("http://127.0.0.1/");
        request.headers = &bad_headers[i];
        assert_int_equal(fetch_start(r->f, &request), VIDI_EARGUMENT);
    }
    request.header_count = 0;
    for (size_t i = 0; i < sizeof bad_urls / sizeof bad_urls[0]; i++) {
        request.url = str_of(bad_urls[i]);
        assert_int_equal(fetch_start(r->f, &request), VIDI_EARGUMENT);
    }
    request = (fetch_request){.url = str_of("http://127.0.0.1/")};
    assert_int_equal(fetch_start(r->f, &request), VIDI_EARGUMENT); /* no address */
    assert_int_equal(fetch_running(r->f), 0);
    downloader *none;
    assert_int_equal(fetch_open(&none, &(fetch_options){.agent = "vidi\r\nX: y"}), VIDI_EARGUMENT);
    assert_null(none);
}

static void nothing_is_taken_from_the_environment(void **state)
{
    room *r = *state;
    setenv("http_proxy", "http://127.0.0.1:1/", 1);
    setenv("all_proxy", "http://127.0.0.1:1/", 1);
    downloader *f = open_fetcher(NULL);
    fetch_response *got = get(f, r->server, "/");
    check_fine(got, 200, "hello");
    fetch_response_free(got);
    fetch_close(f);
    unsetenv("http_proxy");
    unsetenv("all_proxy");
}

static void cookies_and_logins_are_not_kept(void **state)
{
    room *r = *state;
    fetch_response_free(get(r->f, r->server, "/cookie"));
    fetch_response *got = get(r->f, r->server, "/login");
    check_fine(got, 401, "no");
    assert_null(strstr(play_last(r->server), "Cookie"));
    assert_null(strstr(play_last(r->server), "Authorization"));
    fetch_response_free(got);
    assert_int_equal(play_requests(r->server), 2);
}

static void ipv6_works_the_same(void **state)
{
    (void)state;
    play_server *server = play_begin(AF_INET6, pages, sizeof pages / sizeof pages[0]);
    if (!server)
        skip();
    downloader *f = open_fetcher(NULL);
    fetch_response *got = get(f, server, "/");
    check_fine(got, 200, "hello");
    check_bytes(&got->sent, play_last(server));
    assert_int_equal(got->address.length, 16);
    fetch_response_free(got);
    fetch_close(f);
    play_end(server);
}

/* ---- what comes back ---- */

static void check_get(room *r, const char *path, int status, const char *head, const char *body)
{
    fetch_response *got = get(r->f, r->server, path);
    check_fine(got, status, body);
    if (head)
        check_bytes(&got->head, head);
    fetch_response_free(got);
}

static void bodies_come_without_their_framing(void **state)
{
    room *r = *state;
    check_get(r, "/", 200, OK "Content-Length: 5\r\nX-A: 1\r\n\r\n", "hello");
    check_get(r, "/to-end", 200, OK "\r\n", "until the end");
    check_get(r, "/old", 200, "HTTP/1.0 200 OK\r\n\r\n", "old");
    check_get(r, "/bare-lf", 200, NULL, "lf");
    check_get(r, "/none", 204, NULL, "");
    check_get(r, "/same", 304, NULL, "");
    /* A trailer is not part of the head. */
    check_get(r, "/chunked", 200, OK "Transfer-Encoding: chunked\r\n\r\n", "abcde");
}

static void packed_bodies_stay_packed(void **state)
{
    room *r = *state;
    fetch_response *got = get(r->f, r->server, "/gzip");
    assert_int_equal(got->failure, FETCH_FINE);
    assert_int_equal(got->body.len, 6);
    assert_memory_equal(got->body.ptr, gzipped + sizeof gzipped - 7, 6);
    fetch_response_free(got);
}

static void the_head_is_that_of_the_last_response(void **state)
{
    check_get(*state, "/hints", 200, OK "Content-Length: 2\r\n\r\n", "ok");
}

/* A blank there continues the line before, which may be of an earlier response: libcurl 7.88.1 crashes if it is. */
static void the_first_field_may_begin_with_a_blank(void **state)
{
    static const char *const paths[] = {"/folded", "/hints-folded"};
    room *r = *state;
    for (int i = 0; i < 20; i++) {
        check_get(r, "/", 200, NULL, "hello");
        fetch_response *got = get(r->f, r->server, paths[i % 2]);
        if (got->failure == FETCH_FINE) /* libcurl 8.3 accepts it, as browsers do */
            check_fine(got, 200, "ok");
        else
            check_failure(got, FETCH_BROKEN);
        fetch_response_free(got);
    }
}

static void redirects_are_not_followed(void **state)
{
    room *r = *state;
    check_get(r, "/moved", 301, NULL, "");
    assert_int_equal(play_requests(r->server), 1);
}

static void bytes_behind_a_body_are_not_taken_for_a_response(void **state)
{
    room *r = *state;
    check_get(r, "/long", 200, NULL, "ok");
    check_get(r, "/", 200, NULL, "hello");
    assert_int_equal(play_connections(r->server), 2);
}

static void a_body_that_answers_head_is_not_taken_for_a_response(void **state)
{
    room *r = *state;
    char url[100];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/head-with-body", r->server->port);
    fetch_response *got = ask(r->f, (fetch_request){.head = true}, url);
    check_fine(got, 200, "");
    fetch_response_free(got);
    check_get(r, "/", 200, NULL, "hello");
}

static void a_response_tells_when_and_where(void **state)
{
    room *r = *state;
    char text[46];
    int item;
    char url[100];
    snprintf(url, sizeof url, "http://example.org:%d/", r->server->port);
    int64_t before = crawl_clock_real.date(NULL);
    fetch_response *got = ask(r->f, (fetch_request){.item = &item}, url);
    assert_ptr_equal(got->item, &item);
    assert_string_equal(fetch_address_text(&got->address, text), "127.0.0.1");
    assert_in_range(got->date, before, crawl_clock_real.date(NULL));
    assert_true(got->took_us > 0);
    fetch_response_free(got);
}

/* ---- connections ---- */

static void connections_are_used_again(void **state)
{
    room *r = *state;
    for (int i = 0; i < 20; i++)
        check_get(r, "/", 200, NULL, "hello");
    assert_int_equal(play_requests(r->server), 20);
    assert_int_equal(play_connections(r->server), 1);
}

static void a_kept_connection_that_turns_out_dead_is_replaced(void **state)
{
    room *r = *state;
    check_get(r, "/close-second", 200, NULL, "ok");
    check_get(r, "/close-second", 200, NULL, "ok");
    check_get(r, "/close-second", 200, NULL, "ok");
    assert_int_equal(play_connections(r->server), 3);
}

static void a_fresh_connection_is_not_tried_twice(void **state)
{
    room *r = *state;
    char url[100];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/closes", r->server->port); /* a path that the server does not know */
    for (int fresh = 0; fresh < 2; fresh++) {
        check_get(r, "/", 200, NULL, "hello");
        size_t before = play_requests(r->server);
        fetch_response *got = ask(r->f, (fetch_request){.is_fresh = fresh}, url);
        check_failure(got, FETCH_BROKEN);
        fetch_response_free(got);
        assert_int_equal(play_requests(r->server) - before, fresh ? 1 : 2);
    }
    check_get(r, "/", 200, NULL, "hello");
}

static size_t open_connections(play_server *server)
{
    size_t n = 0;
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->connection_count; i++)
        n += server->connections[i].fd >= 0;
    pthread_mutex_unlock(&server->lock);
    return n;
}

static void few_connections_are_kept_open(void **state)
{
    room *r = *state;
    char url[100];
    downloader *f = open_fetcher(&(fetch_options){.connections = 2});
    for (int i = 0; i < 30; i++) {
        snprintf(url, sizeof url, "http://h%d.test:%d/", i, r->server->port);
        fetch_response_free(ask(f, (fetch_request){0}, url));
    }
    assert_int_equal(play_connections(r->server), 30);
    for (int i = 0; i < PATIENCE_MS && open_connections(r->server) > 4; i++)
        usleep(1000); /* the server has not seen it yet */
    assert_in_range(open_connections(r->server), 1, 4);
    fetch_close(f);
}

static void many_requests_share_few_connections(void **state)
{
    room *r = *state;
    enum { MANY = 500, FEW = 7 };
    char url[100];
    int items[MANY] = {0};
    downloader *f = open_fetcher(&(fetch_options){.connections = FEW});
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", r->server->port);
    for (int i = 0; i < MANY; i++) {
        fetch_request request = {.item = &items[i], .url = str_of(url), .address = address_of("127.0.0.1")};
        assert_int_equal(fetch_start(f, &request), VIDI_OK);
    }
    assert_int_equal(fetch_running(f), MANY);
    for (int i = 0; i < MANY; i++) {
        fetch_response *got = next_response(f);
        check_fine(got, 200, "hello");
        ++*(int *)got->item;
        fetch_response_free(got);
    }
    for (int i = 0; i < MANY; i++)
        assert_int_equal(items[i], 1);
    assert_int_equal(play_requests(r->server), MANY);
    assert_in_range(play_connections(r->server), 1, FEW);
    fetch_close(f);
}

static void closing_ends_whatever_is_going_on(void **state)
{
    room *r = *state;
    char url[100];
    fetch_event event;
    downloader *f = open_fetcher(&(fetch_options){.connections = 2});
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", r->server->port);
    for (int i = 0; i < 10; i++) {
        fetch_request request = {.url = str_of(url), .address = address_of("127.0.0.1")};
        assert_int_equal(fetch_start(f, &request), VIDI_OK);
    }
    assert_int_equal(fetch_wait(f, PATIENCE_MS, &event), 1);
    fetch_response_free(event.response);
    fetch_close(f);
    fetch_close(open_fetcher(NULL));
    fetch_close(NULL);
}

static void waiting_ends_when_time_is_up(void **state)
{
    room *r = *state;
    fetch_event event;
    assert_int_equal(fetch_wait(r->f, 0, &event), 0);
    assert_int_equal(fetch_wait(r->f, 1, &event), 0);
    fetch_wake(r->f);
    fetch_wake(r->f);
    assert_int_equal(fetch_wait(r->f, -1, &event), 0); /* would wait for ever */
    assert_int_equal(fetch_wait(r->f, 1, &event), 0);
    /* A call that only looks makes progress, too. */
    char url[100];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", r->server->port);
    fetch_request request = {.url = str_of(url), .address = address_of("127.0.0.1")};
    assert_int_equal(fetch_start(r->f, &request), VIDI_OK);
    while (fetch_wait(r->f, 0, &event) == 0)
        ;
    check_fine(event.response, 200, "hello");
    fetch_response_free(event.response);
}

#define in_room(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_room(two_lengths_that_differ_are_broken),
        in_room(the_request_that_is_told_is_the_one_that_was_sent),
        in_room(values_of_further_headers_are_masked),
        in_room(extra_headers_of_a_request_are_told_as_they_are),
        in_room(head_asks_without_a_body),
        in_room(bad_requests_are_refused),
        in_room(nothing_is_taken_from_the_environment),
        in_room(cookies_and_logins_are_not_kept),
        cmocka_unit_test(ipv6_works_the_same),
        in_room(bodies_come_without_their_framing),
        in_room(packed_bodies_stay_packed),
        in_room(the_head_is_that_of_the_last_response),
        in_room(the_first_field_may_begin_with_a_blank),
        in_room(redirects_are_not_followed),
        in_room(bytes_behind_a_body_are_not_taken_for_a_response),
        in_room(a_body_that_answers_head_is_not_taken_for_a_response),
        in_room(a_response_tells_when_and_where),
        in_room(connections_are_used_again),
        in_room(a_kept_connection_that_turns_out_dead_is_replaced),
        in_room(a_fresh_connection_is_not_tried_twice),
        in_room(few_connections_are_kept_open),
        in_room(many_requests_share_few_connections),
        in_room(closing_ends_whatever_is_going_on),
        in_room(waiting_ends_when_time_is_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
