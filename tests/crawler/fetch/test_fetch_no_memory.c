/*
 * When memory runs out, the downloader says so, frees what it has, and gives no wrong answer. Every allocation
 * fails once: first the first, then the second, and so on. What libcurl allocates is not looked at.
 */
#include "crawler/fetch/fetching.h"
#include "crawler/scarce_memory.h"

static const play_page pages[] = {
    {NULL, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 0, PLAY_KEEP, NULL},
};

/* Waits for one event. VIDI_OK, or an error. */
static int wait_for(downloader *f, fetch_event *event)
{
    int got = fetch_wait(f, PATIENCE_MS, event);
    assert_int_not_equal(got, 0);
    return got < 0 ? got : VIDI_OK;
}

/* Asks for a name and a page. VIDI_OK, or the error that ended it. */
static int fetch_page(downloader *f, const char *url)
{
    static const char *const headers[] = {"X-Secret: value"};
    fetch_event event;
    int error = fetch_resolve(f, str_of("example.test"), NULL);
    if (!error)
        error = wait_for(f, &event);
    if (error)
        return error;
    assert_int_equal(event.failure, FETCH_FINE);
    fetch_request request = {.url = str_of(url), .address = event.address, .headers = headers, .header_count = 1};
    error = fetch_start(f, &request);
    if (!error)
        error = wait_for(f, &event);
    if (error)
        return error;
    error = event.response->failure == FETCH_MEMORY ? VIDI_EMEMORY : VIDI_OK;
    if (!error)
        check_fine(event.response, 200, "hello");
    fetch_response_free(event.response);
    return error;
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    play_server *server = play_begin(AF_INET, pages, 1);
    fetch_net loopback = net_of("127.0.0.0/8");
    fetch_options options = {.agent = "vidi", .allowed = &loopback, .allowed_count = 1, .resolver = resolve_here};
    char url[100];
    int failures = 0;
    snprintf(url, sizeof url, "http://example.test:%d/", server->port);
    for (long at = 0;; at++) {
        downloader *f = NULL;
        countdown = at;
        int error = fetch_open(&f, &options);
        if (!error)
            error = fetch_page(f, url);
        bool has_failed = countdown < 0;
        countdown = -1;
        fetch_close(f);
        assert_true(error == VIDI_OK || error == VIDI_EMEMORY);
        if (!has_failed)
            break;
        failures += error == VIDI_EMEMORY;
    }
    print_message("# %d allocations were missed\n", failures);
    assert_true(failures >= 12);
    play_end(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
