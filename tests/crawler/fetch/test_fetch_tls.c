/* TLS: certificates are verified against the right authorities, for the right name, at the right time. */
#include <signal.h>

#include "crawler/fetch/fetching.h"
#include "crawler/fetch/tls_identity.h"
#include "support/scratch.h"

/* ---- a server, one connection after the other ---- */

typedef struct tls_server {
    SSL_CTX *context;
    int fd, port;
    pthread_t thread;
    int connections;
    char protocols[64]; /* that the client offered */
} tls_server;

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *length, const unsigned char *in,
                           unsigned n, void *context)
{
    static const unsigned char http1[] = "\x08http/1.1";
    tls_server *server = context;
    (void)ssl;
    snprintf(server->protocols, sizeof server->protocols, "%.*s", (int)n, (const char *)in);
    return SSL_select_next_proto((unsigned char **)out, length, http1, sizeof http1 - 1, in, n) ==
                   OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_NOACK;
}

static void *serve(void *context)
{
    static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";
    tls_server *server = context;
    for (int fd; (fd = accept(server->fd, NULL, NULL)) >= 0; server->connections++) {
        SSL *ssl = SSL_new(server->context);
        char request[4096];
        SSL_set_fd(ssl, fd);
        if (SSL_accept(ssl) == 1)
            while (SSL_read(ssl, request, sizeof request) > 0 && SSL_write(ssl, answer, (int)strlen(answer)) > 0)
                ;
        SSL_free(ssl);
        close(fd);
    }
    return NULL;
}

static tls_server *begin_tls(const identity *as)
{
    tls_server *server = calloc(1, sizeof *server);
    assert_non_null(server);
    server->context = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate(server->context, as->certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(server->context, as->key), 1);
    SSL_CTX_set_alpn_select_cb(server->context, choose_protocol, server);
    server->fd = play_listen(AF_INET, &server->port);
    assert_true(server->fd >= 0);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
    return server;
}

/* The downloader must be closed: the server reads until its client closes. */
static void end_tls(tls_server *server)
{
    shutdown(server->fd, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->fd);
    SSL_CTX_free(server->context);
    free(server);
}

/* Takes one connection, and closes it when the handshake has begun, with a reset or without. */
typedef struct breaking_server {
    bool hard;
    int fd, port;
    pthread_t thread;
} breaking_server;

static void *break_off(void *context)
{
    const breaking_server *server = context;
    struct linger reset = {1, 0};
    char hello[4096];
    int fd = accept(server->fd, NULL, NULL);
    (void)!recv(fd, hello, sizeof hello, 0);
    if (server->hard)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd);
    return NULL;
}

/* ---- the tests ---- */

static fetch_response *ask_tls(downloader *f, const tls_server *server, const char *host)
{
    char url[100];
    snprintf(url, sizeof url, "https://%s:%d/", host, server->port);
    return ask(f, (fetch_request){0}, url);
}

/* Asks a server with this identity, trusting what is in a file (NULL: what the system trusts). */
static void check_trust(const identity *as, const char *trusted, const char *host, fetch_failure failure, char *why)
{
    tls_server *server = begin_tls(as);
    downloader *f = open_fetcher(&(fetch_options){.ca_file = trusted});
    fetch_response *got = ask_tls(f, server, host);
    if (failure)
        check_failure(got, failure);
    else
        check_fine(got, 200, "secret");
    assert_false(got->may_pass); /* the certificate will be the same in a minute */
    memcpy(why, got->why, sizeof got->why);
    fetch_response_free(got);
    fetch_close(f);
    end_tls(server);
}

static void a_trusted_certificate_of_that_name_is_fine(void **state)
{
    char path[512];
    identity own = make_identity("own", "example.test", 3600);
    snprintf(path, sizeof path, "%s/own.pem", ((test_scratch *)*state)->path);
    write_certificate(&own, path);
    tls_server *server = begin_tls(&own);
    downloader *f = open_fetcher(&(fetch_options){.ca_file = path});
    for (int i = 0; i < 3; i++) {
        fetch_response *got = ask_tls(f, server, "example.test");
        check_fine(got, 200, "secret");
        fetch_response_free(got);
    }
    fetch_close(f);
    shutdown(server->fd, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    assert_int_equal(server->connections, 1); /* kept */
    assert_string_equal(server->protocols, "\x02h2\x08http/1.1");
    close(server->fd);
    SSL_CTX_free(server->context);
    free(server);
    free_identity(&own);
}

static void other_certificates_are_refused(void **state)
{
    char own_path[512], other_path[512], why[160];
    identity own = make_identity("own", "example.test", 3600), other = make_identity("other", "example.test", 3600);
    identity old = make_identity("old", "example.test", -3600);
    snprintf(own_path, sizeof own_path, "%s/own.pem", ((test_scratch *)*state)->path);
    snprintf(other_path, sizeof other_path, "%s/other.pem", ((test_scratch *)*state)->path);
    write_certificate(&own, own_path);
    check_trust(&own, own_path, "example.test", FETCH_FINE, why);
    check_trust(&own, NULL, "example.test", FETCH_TLS, why); /* the system does not know it */
    check_trust(&own, own_path, "other.test", FETCH_TLS, why);
    assert_non_null(strstr(why, "other.test"));
    write_certificate(&other, other_path);
    check_trust(&own, other_path, "example.test", FETCH_TLS, why);
    write_certificate(&old, own_path);
    check_trust(&old, own_path, "example.test", FETCH_TLS, why);
    assert_non_null(strstr(why, "expired"));
    free_identity(&own);
    free_identity(&other);
    free_identity(&old);
}

static void dns_cache_in_certificates_play_no_tricks(void **state)
{
    char path[512], why[160];
    identity evil = make_identity("a\x1b[31m\xE2\x80\xAE"
                                  "b",
                                  NULL, 3600);
    snprintf(path, sizeof path, "%s/evil.pem", ((test_scratch *)*state)->path);
    write_certificate(&evil, path);
    check_trust(&evil, path, "example.test", FETCH_TLS, why);
    assert_non_null(strstr(why, "example.test"));
    assert_null(strchr(why, '\x1b'));
    assert_null(strstr(why, "\xE2\x80\xAE"));
    free_identity(&evil);
}

static void a_server_without_tls_is_told(void **state)
{
    (void)state;
    static const play_page pages[] = {{NULL, "HTTP/1.1 400 Bad Request\r\n\r\n", 0, PLAY_CLOSE, NULL}};
    char url[100];
    play_server *server = play_begin(AF_INET, pages, 1);
    downloader *f = open_fetcher(&(fetch_options){.connect_ms = 500}); /* the server waits for the end of a request */
    snprintf(url, sizeof url, "https://example.test:%d/", server->port);
    fetch_response *got = ask(f, (fetch_request){0}, url);
    assert_true(got->failure == FETCH_TLS || got->failure == FETCH_TIMEOUT);
    assert_int_equal(got->status, 0);
    fetch_response_free(got);
    fetch_close(f);
    play_end(server);
}

/* The server goes away, which it need not do next time. */
static void a_handshake_that_breaks_off_may_pass(void **state)
{
    (void)state;
    char url[100];
    for (int hard = 0; hard < 2; hard++) {
        breaking_server server = {.hard = hard, .fd = play_listen(AF_INET, &server.port)};
        assert_int_equal(pthread_create(&server.thread, NULL, break_off, &server), 0);
        downloader *f = open_fetcher(NULL);
        snprintf(url, sizeof url, "https://example.test:%d/", server.port);
        fetch_response *got = ask(f, (fetch_request){0}, url);
        check_failure(got, FETCH_BROKEN);
        assert_true(got->may_pass);
        fetch_response_free(got);
        fetch_close(f);
        pthread_join(server.thread, NULL);
        close(server.fd);
    }
}

static void authorities_that_cannot_be_read_are_an_error(void **state)
{
    (void)state;
    downloader *f;
    assert_int_equal(fetch_open(&f, &(fetch_options){.ca_file = "/nonexistent/ca.pem"}), VIDI_EIO);
    assert_null(f);
}

static int set_up(void **state)
{
    *state = malloc(sizeof(test_scratch));
    test_scratch_make(*state);
    return 0;
}

static int tear_down(void **state)
{
    test_scratch_empty(*state);
    test_scratch_remove(*state);
    free(*state);
    return 0;
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* for the server, which writes to clients that have gone */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_trusted_certificate_of_that_name_is_fine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_certificates_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dns_cache_in_certificates_play_no_tricks, set_up, tear_down),
        cmocka_unit_test(a_server_without_tls_is_told),
        cmocka_unit_test(a_handshake_that_breaks_off_may_pass),
        cmocka_unit_test(authorities_that_cannot_be_read_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
