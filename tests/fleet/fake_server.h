/*
 * Servers of a test that play scripts, each in a thread of its own on a loopback port.
 *
 * A script is a list of lines:
 *
 *     < SET a 1       a command must come; its words have spaces between them, and a word of more than 99 bytes is (LENGTH)
 *     > +OK|          sends this; '|' is a line end, {0}, {1} ... are the ports of the servers
 *     ~ +OK|          sends it byte by byte
 *     info a:1|b:2|   sends this as one string
 *     always -E|      answers each command so, on all connections, until the test ends
 *     slots *0|       from now on CLUSTER SLOTS, which may come at any time, is answered so; before, as by a single server
 *     loaded          CLUSTER SLOTS must come once more, and the next time is answered as by a single server
    close           closes the connection; the next '<' accepts another one
 *     reset           the same, but what is on its way is lost
 *     hang            answers nothing until the client closes the connection
 *     gone            closes the port as well
 *     end             the client must close the connection
 */
#ifndef TESTS_FLEET_FAKE_SERVER_H
#define TESTS_FLEET_FAKE_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fleet/talk.h"

enum { FAKES = 3 };

typedef struct fake_server {
    struct fake_server *all; /* for the ports of the others */
    int listener, connection, stop[2];
    uint16_t port;
    pthread_t thread;
    const char **script; /* ends with NULL */
    const char *slots;
    bytes input;
    size_t input_at;
    _Atomic int played; /* lines of the script */
} fake_server;

/* Listens with FAKES servers. */
void fake_listen(fake_server all[FAKES]);
void fake_play(fake_server *server, const char *const *script);
/* Ends the servers that play. One that is not at the end of its script, or sees something else, ends the program. */
void fake_end(fake_server all[FAKES]);

/* Waits until so many lines of the script are played. */
void fake_await(fake_server *server, int lines);

/* Opens a client; the address may have ports as scripts have them. Times that are 0 become so long that none is over
 * in a test. */
redis_client *fake_open(fake_server all[FAKES], const char *address, redis_options options);
/* Runs commands (as in talk.h, with ';' between them) and checks replies, and the code: "OK;1 = 0". */
void fake_talk(redis_client *client, const char *commands, const char *wanted);

#endif
