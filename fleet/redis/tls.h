/*
 * TLS for one connection, without a socket: encrypted bytes go in and come out as bytes.
 *
 * OpenSSL's libssl is loaded when the first address says rediss://, so that no program is linked with it. The server's
 * certificate must be valid and made out to the host that was asked for; nothing switches that off.
 */
#ifndef VIDI_FLEET_REDIS_TLS_H
#define VIDI_FLEET_REDIS_TLS_H

#include "common/bytes.h"
#include "fleet/redis/redis.h"

typedef struct tls_context tls_context; /* what all connections of a client share */
typedef struct tls tls;                 /* one connection */

/* VIDI_ECANNOT without libssl; VIDI_EIO if a file of the options cannot be used. `why` (room REDIS_WHY) says which. */
int tls_context_make(tls_context **made, const redis_options *options, char *why);
void tls_context_free(tls_context *context);

int tls_begin(tls **made, tls_context *context, const char *host);
void tls_end(tls *session);

/* What has come from the socket. VIDI_OK or VIDI_EMEMORY. */
int tls_feed(tls *session, const char *from, size_t n);
/* Appends to `to` what must be written to the socket. VIDI_OK or VIDI_EMEMORY. */
int tls_drain(tls *session, bytes *to);

/* Goes on with the handshake. 1: it is complete; 0: bytes are needed; VIDI_EIO: it has failed, and `why` says why. */
int tls_shake_hands(tls *session, char *why);
/* The number of bytes read or written; 0: none at present; VIDI_EIO: the session is over. tls_read says why, or "". */
int tls_read(tls *session, char *to, size_t room, char *why);
int tls_write(tls *session, const char *from, size_t n);

#endif
