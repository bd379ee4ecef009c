/* HTTP/2: spoken if the server chooses it in the TLS handshake, one request at a time, within all limits. */
#include <signal.h>

#include "crawler/fetch/h2_server.h"
#include "support/scratch.h"

#define OK_HEAD ":status:200\ncontent-type:text/html\nx-test:a b\n"

typedef struct room {
    test_scratch scratch;
    identity own;
    h2_server *server;
    downloader *f;
} room;

static void begin(room *r, h2_answer *answer, fetch_options options)
{
    char path[512];

    test_scratch_make(&r->scratch);
    r->own = make_identity("own", "example.test", 3600);
    snprintf(path, sizeof path, "%s/own.pem", r->scratch.path);
    write_certificate(&r->own, path);
    r->server = h2_begin(&r->own, answer);
    options.ca_file = path;
    r->f = open_fetcher(&options);
}

static void end(room *r)
{
    fetch_close(r->f);
    h2_end(r->server);
    free_identity(&r->own);
    test_scratch_empty(&r->scratch);
    test_scratch_remove(&r->scratch);
}

static fetch_response *ask_h2(room *r, fetch_request request)
{
    char url[100];

    snprintf(url, sizeof url, "https://example.test:%d/a?b=c", r->server->port);
    return ask(r->f, request, url);
}

/* Asks once; the request fails, and the next one, which the script answers well, is fine. */
static void fails_once(h2_answer *answer, fetch_options options, fetch_failure failure, int status, bool may_pass)
{
    room r;

    begin(&r, answer, options);
    fetch_response *got = ask_h2(&r, (fetch_request){0});
    check_failure(got, failure);
    print_message("# %s\n", got->why);
    assert_int_equal(got->status, status);
    assert_int_equal(got->may_pass, may_pass);
    fetch_response_free(got);
    got = ask_h2(&r, (fetch_request){0});
    check_fine(got, 200, "good");
    fetch_response_free(got);
    assert_int_equal(r.server->connection_count, 2); /* a connection on which something failed is not used again */
    end(&r);
}

/* ---- what is fine ---- */

static bool good(h2_connection *to, size_t nth)
{
    (void)nth;
    return h2_page(to, OK_HEAD, "good");
}

static void a_server_that_chooses_it_is_spoken_to_in_http2(void **state)
{
    (void)state;
    room r;
    char want[200];
    begin(&r, good, (fetch_options){0});
    for (int i = 0; i < 3; i++) {
        fetch_response *got = ask_h2(&r, (fetch_request){0});
        check_fine(got, 200, "good");
        assert_true(got->is_h2);
        check_bytes(&got->head, "HTTP/1.1 200 \r\ncontent-type: text/html\r\nx-test: a b\r\n\r\n");
        snprintf(want, sizeof want, "GET /a?b=c HTTP/1.1\r\nHost: example.test:%d\r\n", r.server->port);
        assert_memory_equal(got->sent.ptr, want, strlen(want));
        fetch_response_free(got);
    }
    assert_int_equal(r.server->connection_count, 1);
    assert_int_equal(r.server->request_count, 3);
    end(&r);
}

/* Answers when both requests have come, each over its own connection. */
static bool in_pairs(h2_connection *to, size_t nth)
{
    while (h2_requests(to->server) < 2)
        usleep(1000);
    return good(to, nth);
}

static void two_requests_take_two_connections(void **state)
{
    (void)state;
    room r;
    char url[100];
    begin(&r, in_pairs, (fetch_options){0});
    snprintf(url, sizeof url, "https://example.test:%d/", r.server->port);
    for (int i = 0; i < 2; i++) {
        fetch_request request = {.url = str_of(url), .address = address_of("127.0.0.1")};
        assert_int_equal(fetch_start(r.f, &request), VIDI_OK);
    }
    for (int i = 0; i < 2; i++) {
        fetch_response *got = next_response(r.f);
        check_fine(got, 200, "good");
        fetch_response_free(got);
    }
    assert_int_equal(r.server->connection_count, 2);
    end(&r);
}

static bool with_hints(h2_connection *to, size_t nth)
{
    (void)nth;
    return h2_head(to, H2_END_HEADERS, ":status:103\nlink:</a.css>\n") && h2_head(to, H2_END_HEADERS, OK_HEAD) &&
           h2_frame(to, H2_DATA, 0, "good", 4) && h2_head(to, H2_END_HEADERS | H2_END_STREAM, "x-trailer:1\n");
}

static void early_hints_and_trailers_are_no_part_of_the_head(void **state)
{
    (void)state;
    room r;
    begin(&r, with_hints, (fetch_options){0});
    fetch_response *got = ask_h2(&r, (fetch_request){0});
    check_fine(got, 200, "good");
    check_bytes(&got->head, "HTTP/1.1 200 \r\ncontent-type: text/html\r\nx-test: a b\r\n\r\n");
    fetch_response_free(got);
    end(&r);
}

/* The server answers, and is about to stop. It waits for the client to close: otherwise the answer could be cut off. */
static bool goes_away_after_a_page(h2_connection *to, size_t nth)
{
    static const unsigned char last[8] = {0, 0, 0, 1}; /* the last stream that it has looked at, and no error */

    return good(to, nth) && h2_frame(to, H2_GOAWAY, 0, last, sizeof last);
}

static void a_server_that_goes_away_gets_the_next_request_on_a_new_connection(void **state)
{
    (void)state;
    room r;
    begin(&r, goes_away_after_a_page, (fetch_options){0});
    for (int i = 0; i < 2; i++) {
        fetch_response *got = ask_h2(&r, (fetch_request){0});
        check_fine(got, 200, "good");
        fetch_response_free(got);
    }
    assert_int_equal(r.server->connection_count, 2);
    end(&r);
}

/* ---- what is not ---- */

static bool resets(h2_connection *to, size_t nth)
{
    static const unsigned char internal[4] = {0, 0, 0, 2};

    return nth > 0 ? good(to, nth)
                   : h2_head(to, H2_END_HEADERS, OK_HEAD) && h2_frame(to, H2_DATA, 0, "half", 4) &&
                         h2_frame(to, H2_RESET, 0, internal, 4);
}

static bool goes_away(h2_connection *to, size_t nth)
{
    static const unsigned char none[8] = {0}; /* it has not looked at any stream */

    return nth > 0 ? good(to, nth) : h2_frame(to, H2_GOAWAY, 0, none, sizeof none) && false;
}

static bool sends_too_little(h2_connection *to, size_t nth)
{
    return nth > 0 ? good(to, nth) : h2_page(to, ":status:200\ncontent-length:5\n", "four");
}

static bool tells_two_lengths(h2_connection *to, size_t nth)
{
    return nth > 0 ? good(to, nth) : h2_page(to, ":status:200\ncontent-length:4\ncontent-length:5\n", "four");
}

static bool has_no_status(h2_connection *to, size_t nth)
{
    return nth > 0 ? good(to, nth) : h2_page(to, "content-type:text/html\n", "four");
}

static bool speaks_nonsense(h2_connection *to, size_t nth)
{
    static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour";

    return nth > 0 ? good(to, nth) : h2_write(to, text, sizeof text - 1);
}

static bool closes(h2_connection *to, size_t nth)
{
    return nth > 0 ? good(to, nth) : h2_head(to, H2_END_HEADERS, OK_HEAD) && false;
}

static void broken_responses_are_broken(void **state)
{
    (void)state;
    fails_once(resets, (fetch_options){0}, FETCH_BROKEN, 200, true);
    fails_once(goes_away, (fetch_options){0}, FETCH_BROKEN, 0, true);
    fails_once(sends_too_little, (fetch_options){0}, FETCH_BROKEN, 200, true);
    fails_once(tells_two_lengths, (fetch_options){0}, FETCH_BROKEN, 0, true);
    fails_once(has_no_status, (fetch_options){0}, FETCH_BROKEN, 0, true);
    fails_once(speaks_nonsense, (fetch_options){0}, FETCH_BROKEN, 0, true);
    fails_once(closes, (fetch_options){0}, FETCH_BROKEN, 200, true);
}

static bool hides_a_line(h2_connection *to, size_t nth)
{
    unsigned char packed[200];

    size_t n = h2_pack(packed, ":status:200\nx-a:b|set-cookie: c\n");
    ((unsigned char *)memchr(packed, '|', n))[0] = '\r';
    if (nth == 0)
        return h2_frame(to, H2_HEADERS, H2_END_HEADERS, packed, n) && h2_frame(to, H2_DATA, H2_END_STREAM, "good", 4);
    return good(to, nth);
}

/* A line end in a value would be one in the archive. */
static void values_with_line_ends_do_not_arrive(void **state)
{
    (void)state;
    room r;
    begin(&r, hides_a_line, (fetch_options){0});
    fetch_response *got = ask_h2(&r, (fetch_request){0});
    assert_null(memmem(got->head.ptr ? got->head.ptr : "", got->head.len, "x-a", 3));
    fetch_response_free(got);
    end(&r);
}

/* ---- without end ---- */

static bool endless_body(h2_connection *to, size_t nth)
{
    static const char zeros[16384];

    if (nth > 0)
        return good(to, nth);
    for (h2_head(to, H2_END_HEADERS, OK_HEAD); h2_frame(to, H2_DATA, 0, zeros, sizeof zeros);)
        ;
    return false;
}

static bool endless_head(h2_connection *to, size_t nth)
{
    unsigned char packed[200];
    size_t n = h2_pack(packed, "x-long:0123456789012345678901234567890123456789012345678901234567890123456789\n");

    if (nth > 0)
        return good(to, nth);
    for (h2_head(to, 0, OK_HEAD); h2_frame(to, H2_CONTINUATION, 0, packed, n);)
        ;
    return false;
}

static bool endless_continuations(h2_connection *to, size_t nth)
{
    if (nth > 0)
        return good(to, nth);
    for (h2_head(to, 0, OK_HEAD); h2_frame(to, H2_CONTINUATION, 0, NULL, 0);)
        ;
    return false;
}

static bool endless_hints(h2_connection *to, size_t nth)
{
    if (nth > 0)
        return good(to, nth);
    while (h2_head(to, H2_END_HEADERS, ":status:103\nlink:</a.css>\n"))
        ;
    return false;
}

static bool endless_pings(h2_connection *to, size_t nth)
{
    static const unsigned char ping[8] = {0};

    if (nth > 0)
        return good(to, nth);
    while (h2_frame(to, H2_PING, H2_ACK, ping, sizeof ping))
        ;
    return false;
}

static bool endless_emptiness(h2_connection *to, size_t nth)
{
    if (nth > 0)
        return good(to, nth);
    for (h2_head(to, H2_END_HEADERS, OK_HEAD); h2_frame(to, H2_DATA, 0, NULL, 0);)
        ;
    return false;
}

static void nothing_comes_without_end(void **state)
{
    (void)state;
    fails_once(endless_body, (fetch_options){.max_body = 1 << 20}, FETCH_LIMIT, 200, false);
    fails_once(endless_head, (fetch_options){0}, FETCH_BROKEN, 0, true);
    fails_once(endless_continuations, (fetch_options){0}, FETCH_BROKEN, 0, true);
    fails_once(endless_hints, (fetch_options){0}, FETCH_LIMIT, 0, false);
    fails_once(endless_pings, (fetch_options){0}, FETCH_BROKEN, 0, false);
    fails_once(endless_emptiness, (fetch_options){0}, FETCH_BROKEN, 200, false);
}

static bool silent(h2_connection *to, size_t nth)
{
    return nth > 0 ? good(to, nth) : h2_head(to, H2_END_HEADERS, OK_HEAD);
}

static void silence_ends_a_request_and_its_connection(void **state)
{
    (void)state;
    fails_once(silent, (fetch_options){.silence_ms = 300}, FETCH_TIMEOUT, 200, true);
}

static void a_body_that_was_cut_off_does_not_reach_the_next_response(void **state)
{
    (void)state;
    room r;
    begin(&r, endless_body, (fetch_options){0});
    fetch_response *got = ask_h2(&r, (fetch_request){.max_body = 100, .may_cut = true});
    assert_int_equal(got->failure, FETCH_FINE);
    assert_true(got->is_cut);
    assert_int_equal(got->body.len, 100);
    fetch_response_free(got);
    got = ask_h2(&r, (fetch_request){0});
    check_fine(got, 200, "good");
    fetch_response_free(got);
    assert_int_equal(r.server->connection_count, 2);
    end(&r);
}

static bool always_endless(h2_connection *to, size_t nth)
{
    (void)nth;
    return endless_body(to, 0);
}

/* Those that wait are paused in libcurl, and resumed. */
static void large_bodies_wait_for_each_other(void **state)
{
    (void)state;
    enum { ALL = 16, LARGE = 1 << 20, HELD = 2 << 20 };
    room r;
    char url[100];
    fetch_event event;
    uint64_t most = 0;
    begin(&r, always_endless, (fetch_options){.max_body = LARGE, .max_held = HELD, .connections = ALL});
    snprintf(url, sizeof url, "https://example.test:%d/", r.server->port);
    for (int i = 0; i < ALL; i++) {
        fetch_request request = {.url = str_of(url), .address = address_of("127.0.0.1")};
        assert_int_equal(fetch_start(r.f, &request), VIDI_OK);
    }
    for (int done = 0; done < ALL;) {
        int got = fetch_wait(r.f, 0, &event);
        assert_true(got >= 0);
        most = fetch_held(r.f) > most ? fetch_held(r.f) : most;
        if (got == 0)
            continue;
        check_failure(event.response, FETCH_LIMIT);
        assert_int_equal(event.response->body.len, LARGE);
        fetch_response_free(event.response);
        done++;
    }
    print_message("# held at most %llu bytes\n", (unsigned long long)most);
    assert_true(most <= HELD + HELD + LARGE);
    end(&r);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* for the server, which writes to clients that have gone */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_chooses_it_is_spoken_to_in_http2),
        cmocka_unit_test(two_requests_take_two_connections),
        cmocka_unit_test(early_hints_and_trailers_are_no_part_of_the_head),
        cmocka_unit_test(a_server_that_goes_away_gets_the_next_request_on_a_new_connection),
        cmocka_unit_test(broken_responses_are_broken),
        cmocka_unit_test(values_with_line_ends_do_not_arrive),
        cmocka_unit_test(nothing_comes_without_end),
        cmocka_unit_test(silence_ends_a_request_and_its_connection),
        cmocka_unit_test(a_body_that_was_cut_off_does_not_reach_the_next_response),
        cmocka_unit_test(large_bodies_wait_for_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
