/*
 * A server of HTTP/2 on loopback, over TLS, that a test scripts: it understands no more of the protocol than where
 * requests begin, and sends whatever frames the test wants. A thread for each connection.
 */
#ifndef TESTS_CRAWLER_FETCH_H2_SERVER_H
#define TESTS_CRAWLER_FETCH_H2_SERVER_H

#include "crawler/fetch/fetching.h"
#include "crawler/fetch/tls_identity.h"

enum { H2_DATA = 0, H2_HEADERS = 1, H2_RESET = 3, H2_SETTINGS = 4, H2_PING = 6, H2_GOAWAY = 7, H2_CONTINUATION = 9 };
enum { H2_ACK = 1, H2_END_STREAM = 1, H2_END_HEADERS = 4 };

typedef struct h2_connection {
    struct h2_server *server;
    int fd;
    SSL *ssl;
    uint32_t stream; /* of the request that is being answered */
    bool is_broken;  /* the client has gone */
    pthread_t thread;
} h2_connection;

/* Answers the `nth` request to the server, from 0. False: the connection is closed. */
typedef bool h2_answer(h2_connection *to, size_t nth);

typedef struct h2_server {
    SSL_CTX *tls;
    int fd, port;
    h2_answer *answer;
    pthread_t thread;
    pthread_mutex_t lock;
    h2_connection connections[64];
    size_t connection_count, request_count;
} h2_server;

static inline int h2_choose(SSL *ssl, const unsigned char **out, unsigned char *length, const unsigned char *in,
                            unsigned n, void *context)
{
    static const unsigned char h2[] = "\x02h2";

    (void)ssl;
    (void)context;
    return SSL_select_next_proto((unsigned char **)out, length, h2, sizeof h2 - 1, in, n) == OPENSSL_NPN_NEGOTIATED
               ? SSL_TLSEXT_ERR_OK
               : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static inline bool h2_write(h2_connection *to, const void *from, size_t n)
{
    to->is_broken = to->is_broken || SSL_write(to->ssl, from, (int)n) <= 0;
    return !to->is_broken;
}

static inline bool h2_read(h2_connection *from, unsigned char *to, size_t n)
{
    for (size_t got = 0; got < n;) {
        int now = SSL_read(from->ssl, to + got, (int)(n - got));
        if (now <= 0)
            return false;
        got += (size_t)now;
    }
    return true;
}

/* Sends a frame of the stream that is being answered; of the connection, if the type wants that. */
static inline bool h2_frame(h2_connection *to, int type, int flags, const void *payload, size_t n)
{
    unsigned char frame[9 + 16384];
    uint32_t stream = type == H2_SETTINGS || type == H2_PING || type == H2_GOAWAY ? 0 : to->stream;

    assert_true(n <= 16384);
    memcpy(frame,
           (unsigned char[]){(unsigned char)(n >> 16), (unsigned char)(n >> 8), (unsigned char)n, (unsigned char)type,
                             (unsigned char)flags, (unsigned char)(stream >> 24), (unsigned char)(stream >> 16),
                             (unsigned char)(stream >> 8), (unsigned char)stream},
           9);
    if (n)
        memcpy(frame + 9, payload, n);
    return h2_write(to, frame, 9 + n);
}

/* "name: value" lines as HPACK, none of them in a table or in Huffman's code. Names and values have up to 126 bytes. */
static inline size_t h2_pack(unsigned char *to, const char *lines)
{
    unsigned char *at = to;

    for (const char *end; *lines; lines = end + 1) {
        const char *colon = strchr(lines + 1, ':'); /* names may begin with one */
        end = strchr(lines, '\n');
        size_t name = (size_t)(colon - lines), value = (size_t)(end - colon - 1);
        *at++ = 0;
        *at++ = (unsigned char)name;
        memcpy(at, lines, name);
        at += name;
        *at++ = (unsigned char)value;
        memcpy(at, colon + 1, value);
        at += value;
    }
    return (size_t)(at - to);
}

static inline bool h2_head(h2_connection *to, int flags, const char *lines)
{
    unsigned char packed[8192];

    return h2_frame(to, H2_HEADERS, flags, packed, h2_pack(packed, lines));
}

/* A whole response. */
static inline bool h2_page(h2_connection *to, const char *lines, const char *body)
{
    return h2_head(to, H2_END_HEADERS, lines) && h2_frame(to, H2_DATA, H2_END_STREAM, body, strlen(body));
}

static inline size_t h2_count_request(h2_server *server)
{
    pthread_mutex_lock(&server->lock);
    size_t nth = server->request_count++;
    pthread_mutex_unlock(&server->lock);
    return nth;
}

static inline size_t h2_requests(h2_server *server)
{
    pthread_mutex_lock(&server->lock);
    size_t n = server->request_count;
    pthread_mutex_unlock(&server->lock);
    return n;
}

static inline void h2_talk(h2_connection *own)
{
    unsigned char preface[24], head[9], payload[1 << 16];

    if (SSL_accept(own->ssl) != 1 || !h2_read(own, preface, sizeof preface) || !h2_frame(own, H2_SETTINGS, 0, NULL, 0))
        return;
    while (h2_read(own, head, sizeof head)) {
        size_t n = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        if (n > sizeof payload || !h2_read(own, payload, n))
            return;
        if (head[3] == H2_SETTINGS && !(head[4] & H2_ACK) && !h2_frame(own, H2_SETTINGS, H2_ACK, NULL, 0))
            return;
        if (head[3] != H2_HEADERS)
            continue;
        own->stream = (uint32_t)head[5] << 24 | (uint32_t)head[6] << 16 | (uint32_t)head[7] << 8 | head[8];
        if (!own->server->answer(own, h2_count_request(own->server)))
            return;
    }
}

static inline void *h2_serve(void *context)
{
    h2_connection *own = context;

    h2_talk(own);
    SSL_free(own->ssl);
    pthread_mutex_lock(&own->server->lock);
    close(own->fd);
    own->fd = -1;
    pthread_mutex_unlock(&own->server->lock);
    return NULL;
}

static inline void *h2_accept(void *context)
{
    h2_server *server = context;

    for (int fd; (fd = accept(server->fd, NULL, NULL)) >= 0;) {
        pthread_mutex_lock(&server->lock);
        assert_true(server->connection_count < sizeof server->connections / sizeof server->connections[0]);
        h2_connection *one = &server->connections[server->connection_count++];
        *one = (h2_connection){.server = server, .fd = fd, .ssl = SSL_new(server->tls)};
        SSL_set_fd(one->ssl, fd);
        assert_int_equal(pthread_create(&one->thread, NULL, h2_serve, one), 0);
        pthread_mutex_unlock(&server->lock);
    }
    return NULL;
}

static inline h2_server *h2_begin(const identity *as, h2_answer *answer)
{
    h2_server *server = calloc(1, sizeof *server);

    assert_non_null(server);
    server->answer = answer;
    server->tls = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate(server->tls, as->certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(server->tls, as->key), 1);
    SSL_CTX_set_alpn_select_cb(server->tls, h2_choose, server);
    pthread_mutex_init(&server->lock, NULL);
    server->fd = play_listen(AF_INET, &server->port);
    assert_true(server->fd >= 0);
    assert_int_equal(pthread_create(&server->thread, NULL, h2_accept, server), 0);
    return server;
}

static inline void h2_end(h2_server *server)
{
    shutdown(server->fd, SHUT_RDWR);
    pthread_join(server->thread, NULL);
    close(server->fd);
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->connection_count; i++)
        if (server->connections[i].fd >= 0)
            shutdown(server->connections[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&server->lock);
    for (size_t i = 0; i < server->connection_count; i++)
        pthread_join(server->connections[i].thread, NULL);
    pthread_mutex_destroy(&server->lock);
    SSL_CTX_free(server->tls);
    free(server);
}

#endif
