/*
 * Connections to a server that the benchmark measures. Any failure ends the program with a sentence: a benchmark that
 * goes on after an error measures something else.
 */
#ifndef BENCH_REDIS_CONNECTION_H
#define BENCH_REDIS_CONNECTION_H

#include <stddef.h>
#include <stdint.h>

typedef struct connection {
    int socket;
    char *out; /* commands that are not sent yet */
    size_t out_len, out_room;
    char *in; /* what was received; replies up to in_at are dealt with */
    size_t in_at, in_len, in_room;
    void (*take)(struct connection *connection, const char *word,
                 size_t len); /* gets each string of replies, or NULL */
} connection;

_Noreturn void give_up(const char *what, const char *why);

void connection_open(connection *connection, const char *path);
void connection_close(connection *connection);

/* Writes a command into the buffer: first the number of its words, then each word. */
void put_command(connection *connection, size_t words);
void put_word(connection *connection, const char *word, size_t len);

/* Writes the words of a line, divided by spaces, and the command's head before them: `more` words follow. */
void put_line(connection *connection, const char *line, size_t more);

/* Sends the buffer; reads this many replies. A reply that is an error ends the program. */
void send_commands(connection *connection);
void read_replies(connection *connection, size_t n);

/* Sends a line and returns the bytes of its reply, ended with a 0 byte; valid until the next call. */
const char *ask(connection *connection, const char *line);

/* The number after "name:" in what INFO answers; 0 if there is none. */
double info_number(const char *info, const char *name);

#endif
