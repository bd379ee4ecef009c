/*
 * One connection to one server: a socket that never blocks, with TLS and a password if the address wants them.
 *
 * A connection connects, shakes hands, gives the password, and is then *ready*. connection_work does whatever can be
 * done without waiting; the caller polls. Commands are counted as bytes that were put and bytes that were handed to the
 * system: if the connection is lost, a command whose last byte was not handed over cannot have been executed.
 */
#ifndef VIDI_FLEET_REDIS_CONNECTION_H
#define VIDI_FLEET_REDIS_CONNECTION_H

#include "fleet/redis/address.h"
#include "fleet/redis/reply.h"
#include "fleet/redis/tls.h"

enum { CONNECTION_LABEL = 300 };

/* How a client connects. */
typedef struct connection_how {
    const char *user, *password; /* NULL: none */
    tls_context *tls;            /* NULL: without */
    int64_t connect_ms, reply_ms;
    reply_arena *arena; /* for replies */
} connection_how;

typedef enum connection_state {
    CONNECTION_CLOSED,
    CONNECTION_CONNECTING,
    CONNECTION_SHAKING,  /* TLS */
    CONNECTION_GREETING, /* the password is on its way */
    CONNECTION_READY
} connection_state;

typedef struct connection {
    connection_state state;
    int fd;
    const connection_how *how;
    tls *session;
    struct addrinfo *addresses, *next; /* still to be tried */
    bytes out;                         /* what was put; the first `out_at` bytes of it are handed over */
    size_t out_at;
    uint64_t put, handed; /* bytes of commands, since the connection began */
    bytes cipher;         /* with TLS: what is to be written to the socket */
    size_t cipher_at;
    bytes in; /* what was received and not yet read */
    size_t in_at;
    reply_reader reader;
    uint64_t expects;  /* replies */
    int64_t dial_ms;   /* for each address of the host */
    int64_t deadline;  /* in ms: of connecting to an address, or of handshake and greeting */
    int64_t active_at; /* in ms: when the last bytes went or came */
    bool is_deaf;      /* writing has failed; what has come may still be read */
    bool has_ended;    /* nothing more will come */
    char host[256];
    char label[CONNECTION_LABEL];
    char why[REDIS_WHY]; /* after a failure */
} connection;

/* Begins to connect. An error is in `why`, and the state is then CONNECTION_CLOSED, here and below. */
int connection_begin(connection *link, const connection_how *how, const char *host, uint16_t port, int64_t now);
void connection_close(connection *link);

/* What to poll for, and when (ms) to call connection_work although nothing has happened. */
short connection_events(const connection *link);
int64_t connection_due(const connection *link);

/* Goes on as far as possible. VIDI_OK, or a negative error: then the connection is closed, and `why` says why. */
int connection_work(connection *link, short events, int64_t now);

/* Appends a command; 'connection_backlog' is how many bytes are waiting. VIDI_OK or VIDI_EMEMORY. */
int connection_put(connection *link, const vidi_str *words, size_t count, int64_t now);
size_t connection_backlog(const connection *link);

/* 1: *reply is the next one; 0: there is none yet; or a negative error, after which the connection is closed. */
int connection_next(connection *link, const redis_reply **reply);

#endif
