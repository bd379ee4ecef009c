/* Proxies: everything goes through them, they learn what they must, and hosts nothing of them. */
#include <poll.h>
#include <signal.h>

#include "crawler/fetch/h2_server.h"
#include "support/scratch.h"

#define LOGIN "me:s%65cret@" /* the password is "secret" */
#define BASIC "Proxy-Authorization: Basic bWU6c2VjcmV0\r\n"
#define FINE "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

/* A downloader with a proxy on loopback, which may itself ask public addresses and nothing else. */
static downloader *open_with(const char *scheme, int port, const char *ca_file)
{
    static const fetch_net none = {{{192, 0, 2, 1}, 4}, 32};
    char proxy[100];

    snprintf(proxy, sizeof proxy, "%s://%s127.0.0.1:%d", scheme, LOGIN, port);
    return open_fetcher(&(fetch_options){
        .proxy = proxy, .allowed = &none, .allowed_count = 1, .allow_public = true, .ca_file = ca_file});
}

/* A host's address is not known, unless the test says otherwise. */
static fetch_response *ask_by(downloader *f, const char *url, fetch_address address)
{
    static const char *const headers[] = {"Authorization: hidden"};
    fetch_request request = {.url = str_of(url), .address = address, .headers = headers, .header_count = 1};

    assert_int_equal(fetch_start(f, &request), VIDI_OK);
    return next_response(f);
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* ---- names ---- */

static fetch_event resolve(downloader *f, const char *host)
{
    fetch_event event;

    assert_int_equal(fetch_resolve(f, str_of(host), NULL), VIDI_OK);
    next_event(f, &event);
    assert_int_equal(event.kind, FETCH_RESOLVED);
    return event;
}

static int never_asked(void *context, const char *host, fetch_address *addresses, int room)
{
    (void)context;
    (void)addresses;
    (void)room;
    fail_msg("%s was looked up", host);
    return 0;
}

static void names_are_left_to_the_proxy_and_addresses_are_checked(void **state)
{
    (void)state;
    static const char *const refused[] = {"10.0.0.1",    "169.254.169.254", "[::1]",     "127.0.0.1", "localhost",
                                          "a.localhost", "localhost.",      "[fd00::1]", "192.0.2.2"};
    fetch_net allowed = net_of("10.0.0.0/8");
    fetch_options options = {.proxy = "socks5h://p.test", .resolver = never_asked, .allow_public = true};
    downloader *f;
    options.allowed = &allowed;
    assert_int_equal(fetch_open(&f, &options), VIDI_OK);
    assert_int_equal(resolve(f, "example.org").failure, FETCH_FINE);
    assert_int_equal(resolve(f, "example.org").address.length, 0);
    assert_int_equal(resolve(f, "notlocalhost").failure, FETCH_FINE);
    assert_int_equal(resolve(f, "8.8.8.8").failure, FETCH_FINE);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (resolve(f, refused[i]).failure != FETCH_ADDRESS)
            fail_msg("%s is not refused", refused[i]);
    fetch_close(f);
    /* Who has not said whose crawler it is may not let a proxy ask public addresses either. */
    options.allow_public = false;
    options.allowed_count = 1;
    assert_int_equal(fetch_open(&f, &options), VIDI_OK);
    assert_int_equal(resolve(f, "example.org").failure, FETCH_ADDRESS);
    assert_int_equal(resolve(f, "10.1.1.1").failure, FETCH_FINE);
    fetch_close(f);
}

static void what_cannot_be_a_proxy_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "proxy:3128",
                                      "ftp://p:1",
                                      "http://",
                                      "http://p:1/a",
                                      "http://p:1?a",
                                      "http://p:1#a",
                                      "http://p:99999",
                                      "socks4://p:1",
                                      "http://p:1\r\n",
                                      "HTTP://p:1",
                                      "http://a b:1",
                                      "http://u:p\nq@p:1"};
    bool resolves;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (fetch_proxy_check(bad[i], &resolves) != VIDI_EARGUMENT)
            fail_msg("'%s' is taken for a proxy", bad[i]);
    assert_int_equal(fetch_proxy_check("http://p", &resolves), VIDI_OK);
    assert_true(resolves);
    assert_int_equal(fetch_proxy_check("socks5://[::1]:1080/", &resolves), VIDI_OK);
    assert_false(resolves);
}

/* ---- forwarding ---- */

static void requests_for_http_are_forwarded(void **state)
{
    (void)state;
    static const play_page pages[] = {{"http://example.org:8080/a", FINE, 0, PLAY_KEEP, NULL}};
    play_server *proxy = play_begin(AF_INET, pages, 1);
    downloader *f = open_with("http", proxy->port, NULL);
    setenv("no_proxy", "*", 1);
    for (size_t i = 1; i <= 2; i++) {
        fetch_response *got = ask_by(f, "http://example.org:8080/a?b=%20", (fetch_address){0});
        check_fine(got, 200, "hello");
        const char *asked = play_last(proxy);
        assert_true(has(asked, "GET http://example.org:8080/a?b=%20 HTTP/1.1\r\nHost: example.org:8080\r\n"));
        assert_true(has(asked, BASIC));
        assert_true(has(asked, "Authorization: hidden\r\n"));
        assert_memory_equal(got->sent.ptr, "GET /a?b=%20 HTTP/1.1\r\nHost: example.org:8080\r\n", 47);
        assert_null(memmem(got->sent.ptr, got->sent.len, "Proxy", 5));
        assert_int_equal(got->address.length, 0);
        fetch_response_free(got);
        assert_int_equal(play_connections(proxy), i); /* what a host adds to a response reaches no other host's */
    }
    unsetenv("no_proxy");
    fetch_close(f);
    play_end(proxy);
}

static void proxies_of_the_environment_are_ignored(void **state)
{
    (void)state;
    static const play_page pages[] = {{"/a", FINE, 0, PLAY_KEEP, NULL}};
    play_server *server = play_begin(AF_INET, pages, 1);
    downloader *f = open_fetcher(NULL);
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    fetch_response *got = get(f, server, "/a");
    check_fine(got, 200, "hello");
    fetch_response_free(got);
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    fetch_close(f);
    play_end(server);
}

/* ---- failures ---- */

static void check_connect(downloader *f, const char *url, bool no_proxy, const char *why)
{
    fetch_response *got = ask_by(f, url, (fetch_address){0});

    check_failure(got, FETCH_CONNECT);
    print_message("# %s\n", got->why);
    assert_int_equal(got->status, 0);
    assert_int_equal(got->head.len, 0);
    assert_int_equal(got->no_proxy, no_proxy);
    assert_true(got->may_pass);
    assert_true(has(got->why, why));
    assert_false(has(got->why, "cret"));
    fetch_response_free(got);
}

static void a_proxy_that_refuses_says_nothing_about_the_host(void **state)
{
    (void)state;
    static const play_page pages[] = {
        {"http://example.org/", "HTTP/1.1 407 No\r\nContent-Length: 4\r\n\r\nbody", 0, PLAY_KEEP, NULL},
        {"a.test:443", "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n", 0, PLAY_KEEP, NULL},
        {"b.test:443", "HTTP/1.1 502 Bad Gateway\r\nX: y\r\nContent-Length: 0\r\n\r\n", 0, PLAY_CLOSE, NULL}};
    play_server *proxy = play_begin(AF_INET, pages, 3);
    downloader *f = open_with("http", proxy->port, NULL);
    check_connect(f, "http://example.org/", true, "407");
    check_connect(f, "https://a.test/", true, "407");
    assert_true(has(play_last(proxy), BASIC));
    assert_false(has(play_last(proxy), "hidden"));
    check_connect(f, "https://b.test/", false, "502");
    fetch_close(f);
    play_end(proxy);
    int port = 0, fd = play_listen(AF_INET, &port);
    close(fd);
    static const char *const schemes[] = {"http", "https", "socks5h"};
    for (size_t i = 0; i < 3; i++) {
        f = open_with(schemes[i], port, NULL);
        check_connect(f, "http://example.org/", true, "Connection refused");
        check_connect(f, "https://example.org/", true, "Connection refused");
        fetch_close(f);
    }
}

/* ---- tunnels ---- */

/* Connects its one client to a port of this machine, and keeps what the client said before that. */
typedef struct tunnel {
    int fd, port, to;
    bool is_socks;
    char said[2048];
    pthread_t thread;
} tunnel;

static void relay(int a, int b)
{
    struct pollfd both[] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
    char buffer[16384];

    while (poll(both, 2, -1) > 0)
        for (int i = 0; i < 2; i++)
            if (both[i].revents) {
                ssize_t n = recv(both[i].fd, buffer, sizeof buffer, 0);
                if (n <= 0 || !play_send(both[1 - i].fd, buffer, (size_t)n))
                    return;
            }
}

static void *run_tunnel(void *context)
{
    tunnel *own = context;
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)own->to), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static const char asks[] = "\5\2", thanks[] = "\1", done[] = "\5\0\0\1\0\0\0\0\0\0";
    int client = accept(own->fd, NULL, NULL), host = socket(AF_INET, SOCK_STREAM, 0);

    if (own->is_socks) { /* a greeting, a login, and where to; each comes in one piece */
        recv(client, own->said, 100, 0);
        play_send(client, asks, 2);
        recv(client, own->said, 100, 0);
        play_send(client, thanks, 2);
        recv(client, own->said + 100, 100, 0);
        play_send(client, done, 10);
    } else {
        recv(client, own->said, sizeof own->said - 1, 0);
        play_send(client, "HTTP/1.1 200 Fine\r\nX-Of: proxy\r\n\r\n", 34);
    }
    if (connect(host, (struct sockaddr *)&to, sizeof to) == 0)
        relay(client, host);
    close(client);
    close(host);
    return NULL;
}

static bool good(h2_connection *to, size_t nth)
{
    (void)nth;
    return h2_page(to, ":status:200\n", "good");
}

static tunnel *ask_through(const char *scheme, fetch_address address)
{
    test_scratch scratch;
    char path[512], url[100];
    tunnel *own = calloc(1, sizeof *own);
    identity as = make_identity("own", "example.test", 3600);

    test_scratch_make(&scratch);
    snprintf(path, sizeof path, "%s/own.pem", scratch.path);
    write_certificate(&as, path);
    h2_server *server = h2_begin(&as, good);
    own->fd = play_listen(AF_INET, &own->port);
    own->to = server->port;
    own->is_socks = scheme[0] == 's';
    assert_int_equal(pthread_create(&own->thread, NULL, run_tunnel, own), 0);
    downloader *f = open_with(scheme, own->port, path);
    snprintf(url, sizeof url, "https://example.test:%d/", server->port);
    for (int i = 0; i < 2; i++) { /* the tunnel is used again */
        fetch_response *got = ask_by(f, url, address);
        check_fine(got, 200, "good");
        check_bytes(&got->head, "HTTP/1.1 200 \r\n\r\n"); /* of the host, not of the proxy */
        fetch_response_free(got);
    }
    fetch_close(f);
    pthread_join(own->thread, NULL);
    close(own->fd);
    h2_end(server);
    free_identity(&as);
    test_scratch_empty(&scratch);
    test_scratch_remove(&scratch);
    return own;
}

static void requests_for_https_are_tunnelled(void **state)
{
    (void)state;
    char want[100];
    tunnel *by = ask_through("http", (fetch_address){0});
    snprintf(want, sizeof want, "CONNECT example.test:%d HTTP/1.1\r\n", by->to);
    assert_memory_equal(by->said, want, strlen(want));
    assert_true(has(by->said, BASIC));
    assert_false(has(by->said, "hidden"));
    free(by);
}

static void socks_gets_the_name_or_the_address(void **state)
{
    (void)state;
    tunnel *by = ask_through("socks5h", (fetch_address){0});
    assert_memory_equal(by->said, "\1\2me\6secret", 11);
    assert_memory_equal(by->said + 100, "\5\1\0\3\14example.test", 17);
    free(by);
    by = ask_through("socks5", address_of("192.0.2.1"));
    assert_memory_equal(by->said + 100, "\5\1\0\1\300\0\2\1", 8);
    free(by);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* for the servers, which write to clients that have gone */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_left_to_the_proxy_and_addresses_are_checked),
        cmocka_unit_test(what_cannot_be_a_proxy_is_refused),
        cmocka_unit_test(requests_for_http_are_forwarded),
        cmocka_unit_test(proxies_of_the_environment_are_ignored),
        cmocka_unit_test(a_proxy_that_refuses_says_nothing_about_the_host),
        cmocka_unit_test(requests_for_https_are_tunnelled),
        cmocka_unit_test(socks_gets_the_name_or_the_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
