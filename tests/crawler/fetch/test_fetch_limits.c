/*
 * Servers that are broken, slow, silent or hostile: each gets the right failure, and nothing takes more than its limit.
 * Timeouts are short here; no test looks at how long something took.
 */
#include <errno.h>

#include "crawler/fetch/fetching.h"

#define OK "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"
#define LINE "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

enum { MAX_BODY = 10000, MAX_HEAD = 4000 };

static const play_page pages[] = {
    {"/", OK "Content-Length: 5\r\n\r\nhello", 0, PLAY_KEEP, NULL},
    /* too large */
    {"/announced", OK "X-A: 1\r\nContent-Length: 10001\r\n\r\n", 0, PLAY_WAIT, NULL},
    {"/announced-and-sent", OK "Content-Length: 10001\r\n\r\n", 0, PLAY_REPEAT, LINE},
    {"/endless", OK "\r\n", 0, PLAY_REPEAT, LINE},
    {"/endless-chunks", CHUNKED, 0, PLAY_REPEAT, "10\r\n0123456789abcdef\r\n"},
    {"/endless-head", OK, 0, PLAY_REPEAT, "X-" LINE ": " LINE "\r\n"},
    {"/endless-line", OK "X-A: ", 0, PLAY_REPEAT, LINE},
    {"/endless-status", "HTTP/1.1 200 ", 0, PLAY_REPEAT, LINE},
    {"/endless-hints", "HTTP/1.1 100 Continue\r\n\r\n", 0, PLAY_REPEAT, "HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n"},
    {"/endless-trailers", CHUNKED "0\r\n", 0, PLAY_REPEAT, "X-" LINE ": " LINE "\r\n"},
    {"/endless-extension", CHUNKED "1;", 0, PLAY_REPEAT, LINE},
    {"/endless-garbage", "", 0, PLAY_REPEAT, LINE},
    /* broken */
    {"/nothing", "", 0, PLAY_CLOSE, NULL},
    {"/reset", "", 0, PLAY_RESET, NULL},
    {"/half-status", "HTTP/1.", 0, PLAY_CLOSE, NULL},
    {"/half-head", OK "X-A", 0, PLAY_CLOSE, NULL},
    {"/half-body", OK "Content-Length: 10\r\n\r\nhello", 0, PLAY_CLOSE, NULL},
    {"/half-body-reset", OK "Content-Length: 10\r\n\r\nhello", 0, PLAY_RESET, NULL},
    {"/half-chunk", CHUNKED "9\r\nhello", 0, PLAY_CLOSE, NULL},
    {"/no-last-chunk", CHUNKED "5\r\nhello\r\n", 0, PLAY_CLOSE, NULL},
    {"/bad-chunk", CHUNKED "zz\r\nhello\r\n0\r\n\r\n", 0, PLAY_CLOSE, NULL},
    {"/huge-chunk", CHUNKED "fffffffffffffffff\r\nhello\r\n", 0, PLAY_CLOSE, NULL},
    {"/only-hints", "HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n", 0, PLAY_CLOSE, NULL},
    {"/html", "<html>hello</html>", 0, PLAY_CLOSE, NULL},
    {"/icy", "ICY 200 OK\r\n\r\nhello", 0, PLAY_CLOSE, NULL},
    {"/ssh", "SSH-2.0-OpenSSH_9.2\r\n", 0, PLAY_WAIT, NULL},
    {"/version", "HTTP/7.3 200 OK\r\n\r\n", 0, PLAY_CLOSE, NULL},
    {"/no-number", "HTTP/1.1 OK\r\n\r\n", 0, PLAY_CLOSE, NULL},
    {"/negative", OK "Content-Length: -5\r\n\r\nhello", 0, PLAY_CLOSE, NULL},
    /* slow */
    {"/silent", "", 0, PLAY_WAIT, NULL},
    {"/silent-head", OK "X-A: 1\r\n", 0, PLAY_WAIT, NULL},
    {"/silent-body", OK "Content-Length: 10\r\n\r\nhello", 0, PLAY_WAIT, NULL},
    {"/switch", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", 0, PLAY_WAIT, NULL},
    {"/drip", OK "\r\n", 0, PLAY_DRIP, "."},
};

typedef struct room {
    play_server *server;
    downloader *f;
} room;

static void begin_with(room *r, fetch_options options)
{
    options.max_body = MAX_BODY;
    options.max_head = MAX_HEAD;
    r->server = play_begin(AF_INET, pages, sizeof pages / sizeof pages[0]);
    assert_non_null(r->server);
    r->f = open_fetcher(&options);
}

static void end(room *r)
{
    fetch_close(r->f);
    play_end(r->server);
}

/* The failure of a path; afterwards the downloader works as before. */
static void check_path(room *r, const char *path, fetch_failure failure, int status, const char *why)
{
    print_message("# %s\n", path);
    fetch_response *got = get(r->f, r->server, path);
    check_failure(got, failure);
    if (failure != FETCH_TIMEOUT) /* otherwise it depends on how far it came */
        assert_int_equal(got->status, status);
    if (why && strcmp(got->why, why) != 0)
        fail_msg("%s: \"%s\" instead of \"%s\"", path, got->why, why);
    assert_in_range(got->body.len, 0, MAX_BODY);
    assert_in_range(got->head.len, 0, MAX_HEAD);
    fetch_response_free(got);
    assert_int_equal(fetch_held(r->f), 0);
    if (failure == FETCH_TIMEOUT)
        return; /* another request may take too long, too */
    got = get(r->f, r->server, "/");
    check_fine(got, 200, "hello");
    fetch_response_free(got);
}

static void bodies_end_at_their_limit(void **state)
{
    (void)state;
    room r;
    begin_with(&r, (fetch_options){0});
    check_path(&r, "/announced", FETCH_LIMIT, 200, "the body has more than 10000 bytes");
    check_path(&r, "/endless", FETCH_LIMIT, 200, "the body has more than 10000 bytes");
    check_path(&r, "/endless-chunks", FETCH_LIMIT, 200, "the body has more than 10000 bytes");
    /* What fitted is kept. */
    fetch_response *got = get(r.f, r.server, "/endless");
    assert_int_equal(got->body.len, MAX_BODY);
    fetch_response_free(got);
    got = get(r.f, r.server, "/announced");
    check_bytes(&got->head, OK "X-A: 1\r\nContent-Length: 10001\r\n\r\n");
    fetch_response_free(got);
    end(&r);
}

static void a_request_can_have_a_limit_of_its_own(void **state)
{
    (void)state;
    room r;
    char url[100];
    begin_with(&r, (fetch_options){0});
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", r.server->port);
    fetch_response *got = ask(r.f, (fetch_request){.max_body = 4}, url);
    check_failure(got, FETCH_LIMIT);
    fetch_response_free(got);
    got = ask(r.f, (fetch_request){.max_body = 5}, url);
    check_fine(got, 200, "hello");
    fetch_response_free(got);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/endless", r.server->port);
    got = ask(r.f, (fetch_request){.max_body = 20000}, url);
    check_failure(got, FETCH_LIMIT);
    assert_int_equal(got->body.len, 20000);
    fetch_response_free(got);
    end(&r);
}

static void a_body_can_be_cut_off_at_its_limit(void **state)
{
    (void)state;
    static const char *const paths[] = {"/endless", "/endless-chunks", "/announced-and-sent", "/"};
    room r;
    char url[100];
    begin_with(&r, (fetch_options){0});
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        snprintf(url, sizeof url, "http://127.0.0.1:%d%s", r.server->port, paths[i]);
        fetch_response *got = ask(r.f, (fetch_request){.max_body = 3, .may_cut = true}, url);
        assert_int_equal(got->failure, FETCH_FINE);
        assert_string_equal(got->why, "");
        assert_int_equal(got->status, 200);
        assert_int_equal(got->body.len, 3);
        assert_true(got->is_cut);
        fetch_response_free(got);
        got = ask(r.f, (fetch_request){.max_body = 5, .may_cut = true}, url);
        assert_true(got->is_cut == (paths[i][1] != '\0'));
        assert_int_equal(got->body.len, 5);
        fetch_response_free(got);
    }
    end(&r);
}

static void heads_end_at_their_limit(void **state)
{
    (void)state;
    room r;
    begin_with(&r, (fetch_options){0});
    check_path(&r, "/endless-head", FETCH_LIMIT, 0, "the head has more than 4000 bytes");
    check_path(&r, "/endless-line", FETCH_LIMIT, 0, "the head has more than 4000 bytes");
    check_path(&r, "/endless-status", FETCH_LIMIT, 0, "the head has more than 4000 bytes");
    check_path(&r, "/endless-hints", FETCH_LIMIT, 0, "the head has more than 4000 bytes");
    check_path(&r, "/endless-trailers", FETCH_LIMIT, 200, "the head has more than 4000 bytes");
    check_path(&r, "/endless-extension", FETCH_BROKEN, 200, "nothing comes but framing");
    check_path(&r, "/endless-garbage", FETCH_BROKEN, 0, NULL);
    end(&r);
}

static void broken_responses_are_broken(void **state)
{
    (void)state;
    room r;
    begin_with(&r, (fetch_options){0});
    check_path(&r, "/nothing", FETCH_BROKEN, 0, "the server closed the connection without an answer");
    check_path(&r, "/reset", FETCH_BROKEN, 0, NULL);
    check_path(&r, "/half-status", FETCH_BROKEN, 0, NULL);
    check_path(&r, "/half-head", FETCH_BROKEN, 0, NULL);
    check_path(&r, "/half-body", FETCH_BROKEN, 200, "the connection ended before the body did, after 5 bytes");
    check_path(&r, "/half-body-reset", FETCH_BROKEN, 200, NULL);
    check_path(&r, "/half-chunk", FETCH_BROKEN, 200, NULL);
    check_path(&r, "/no-last-chunk", FETCH_BROKEN, 200, NULL);
    check_path(&r, "/bad-chunk", FETCH_BROKEN, 200, NULL);
    check_path(&r, "/huge-chunk", FETCH_BROKEN, 200, NULL);
    check_path(&r, "/only-hints", FETCH_BROKEN, 0, NULL);
    check_path(&r, "/html", FETCH_BROKEN, 0, "what came is not a response of HTTP");
    check_path(&r, "/icy", FETCH_BROKEN, 0, "what came is not a response of HTTP");
    check_path(&r, "/ssh", FETCH_BROKEN, 0, "what came is not a response of HTTP");
    check_path(&r, "/version", FETCH_BROKEN, 0, NULL);
    check_path(&r, "/no-number", FETCH_BROKEN, 0, NULL);
    check_path(&r, "/negative", FETCH_BROKEN, 0, NULL);
    end(&r);
}

static void silence_ends_a_request(void **state)
{
    (void)state;
    room r;
    begin_with(&r, (fetch_options){.silence_ms = 100});
    check_path(&r, "/silent", FETCH_TIMEOUT, 0, "no byte for 100 ms");
    check_path(&r, "/silent-head", FETCH_TIMEOUT, 200, "no byte for 100 ms");
    check_path(&r, "/silent-body", FETCH_TIMEOUT, 200, "no byte for 100 ms");
    fetch_response *got = get(r.f, r.server, "/silent-body");
    for (; got->body.len == 0; got = get(r.f, r.server, "/silent-body")) /* the machine was too busy to send it */
        fetch_response_free(got);
    check_bytes(&got->body, "hello");
    fetch_response_free(got);
    got = get(r.f, r.server, "/switch"); /* we have not asked for that, and it has no end */
    assert_true(got->failure == FETCH_TIMEOUT || got->failure == FETCH_BROKEN || got->status == 101);
    fetch_response_free(got);
    end(&r);
}

static void a_slow_response_ends_at_the_total(void **state)
{
    (void)state;
    room r;
    begin_with(&r, (fetch_options){.total_ms = 100, .silence_ms = 50000});
    check_path(&r, "/drip", FETCH_TIMEOUT, 200, "not complete after 100 ms");
    end(&r);
}

/* To a server that does not accept and whose queue is full: the kernel ignores further attempts to connect. */
static void connecting_ends_in_time(void **state)
{
    (void)state;
    enum { ATTEMPTS = 8 };
    static const play_page fine = {"/", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 0, PLAY_KEEP, NULL};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int port = 0, busy[ATTEMPTS], fd = play_listen(AF_INET, &port);
    char url[100];
    assert_true(fd >= 0);
    assert_int_equal(listen(fd, 0), 0);
    to.sin_port = htons((uint16_t)port);
    for (int i = 0; i < ATTEMPTS; i++) {
        busy[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(busy[i], (struct sockaddr *)&to, sizeof to);
    }
    play_server *good = play_begin(AF_INET, &fine, 1);
    downloader *f = open_fetcher(&(fetch_options){.connect_ms = 100});
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", port);
    fetch_response *got = ask(f, (fetch_request){0}, url);
    check_failure(got, FETCH_TIMEOUT);
    assert_string_equal(got->why, "not connected after 100 ms");
    fetch_response_free(got);
    /* The next socket gets the number of the one that libcurl 7.88.1 has closed without a word. */
    for (got = get(f, good, "/"); got->failure == FETCH_TIMEOUT; got = get(f, good, "/")) /* the machine is too busy */
        fetch_response_free(got);
    check_fine(got, 200, "hello");
    fetch_response_free(got);
    fetch_close(f);
    play_end(good);
    for (int i = 0; i < ATTEMPTS; i++)
        close(busy[i]);
    close(fd);
}

static void a_port_where_nobody_listens_is_told(void **state)
{
    (void)state;
    int port = 0, fd = play_listen(AF_INET, &port);
    char url[100], want[100];
    close(fd);
    downloader *f = open_fetcher(NULL);
    snprintf(url, sizeof url, "http://example.org:%d/", port);
    fetch_response *got = ask(f, (fetch_request){0}, url);
    check_failure(got, FETCH_CONNECT);
    snprintf(want, sizeof want, "nothing listens on 127.0.0.1:%d", port);
    assert_string_equal(got->why, want);
    assert_int_equal(got->os_error, ECONNREFUSED);
    assert_int_equal(got->status, 0);
    fetch_response_free(got);
    fetch_close(f);
}

static void addresses_are_checked_when_a_socket_is_opened(void **state)
{
    (void)state;
    static const char *const private[] = {"127.0.0.1",       "10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1",
                                          "64:ff9b::7f00:1", "fe80::1",  "0.0.0.0",         "::"};
    fetch_net none = net_of("192.0.2.1");
    downloader *f = open_fetcher(&(fetch_options){.allowed = &none, .allowed_count = 1, .allow_public = true});
    for (size_t i = 0; i < sizeof private / sizeof private[0]; i++) {
        fetch_response *got = ask(f, (fetch_request){.address = address_of(private[i])}, "http://example.org/");
        char text[46], want[200];
        check_failure(got, FETCH_ADDRESS);
        snprintf(want, sizeof want, "%s is not a public address, and no allowed network has it",
                 fetch_address_text(&got->address, text));
        assert_string_equal(got->why, want);
        fetch_response_free(got);
    }
    fetch_close(f);
    /* Nor is a public one, unless they are allowed. */
    f = open_fetcher(NULL);
    fetch_response *got = ask(f, (fetch_request){.address = address_of("8.8.8.8")}, "http://example.org/");
    check_failure(got, FETCH_ADDRESS);
    fetch_response_free(got);
    fetch_close(f);
}

/* Bodies without end, all at once: each gets to its limit, one after the other. */
static void large_bodies_wait_for_each_other(void **state)
{
    (void)state;
    enum { ALL = 16, LARGE = 1 << 20, HELD = 2 << 20 };
    play_server *server = play_begin(AF_INET, pages, sizeof pages / sizeof pages[0]);
    char url[100];
    fetch_event event;
    uint64_t most = 0;
    downloader *f = open_fetcher(&(fetch_options){.max_body = LARGE, .max_held = HELD, .connections = ALL});
    snprintf(url, sizeof url, "http://127.0.0.1:%d/endless", server->port);
    for (int i = 0; i < ALL; i++) {
        fetch_request request = {.url = str_of(url), .address = address_of("127.0.0.1")};
        assert_int_equal(fetch_start(f, &request), VIDI_OK);
    }
    for (int done = 0; done < ALL;) {
        int got = fetch_wait(f, 0, &event);
        assert_true(got >= 0);
        most = fetch_held(f) > most ? fetch_held(f) : most;
        if (got == 0)
            continue;
        check_failure(event.response, FETCH_LIMIT);
        assert_int_equal(event.response->body.len, LARGE);
        fetch_response_free(event.response);
        done++;
    }
    print_message("# held at most %llu bytes\n", (unsigned long long)most);
    assert_true(most <= HELD + HELD + LARGE);
    assert_int_equal(fetch_held(f), 0);
    fetch_close(f);
    play_end(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_end_at_their_limit),
        cmocka_unit_test(a_request_can_have_a_limit_of_its_own),
        cmocka_unit_test(a_body_can_be_cut_off_at_its_limit),
        cmocka_unit_test(heads_end_at_their_limit),
        cmocka_unit_test(broken_responses_are_broken),
        cmocka_unit_test(silence_ends_a_request),
        cmocka_unit_test(a_slow_response_ends_at_the_total),
        cmocka_unit_test(connecting_ends_in_time),
        cmocka_unit_test(a_port_where_nobody_listens_is_told),
        cmocka_unit_test(addresses_are_checked_when_a_socket_is_opened),
        cmocka_unit_test(large_bodies_wait_for_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
