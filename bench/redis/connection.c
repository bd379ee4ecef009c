/*
 * See connection.h.
 */
#include "connection.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void give_up(const char *what, const char *why)
{
    fprintf(stderr, "vidi-redis-bench: %s: %s\n", what, why);
    exit(1);
}

void connection_open(connection *connection, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *connection = (struct connection){.socket = socket(AF_UNIX, SOCK_STREAM, 0)};
    if (connection->socket < 0 || strlen(path) >= sizeof(address.sun_path))
        give_up(path, "cannot be a socket");
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof(address)) != 0)
        give_up(path, strerror(errno));
}

void connection_close(connection *connection)
{
    close(connection->socket);
    free(connection->out);
    free(connection->in);
}

static char *room_for(char *bytes, size_t *room, size_t wanted)
{
    if (wanted <= *room)
        return bytes;
    *room = 2 * wanted;
    bytes = realloc(bytes, *room);
    if (!bytes)
        give_up("a buffer", "there is no memory");
    return bytes;
}

/* ---- commands ---- */

static void put(connection *connection, const char *bytes, size_t len)
{
    connection->out = room_for(connection->out, &connection->out_room, connection->out_len + len);
    memcpy(connection->out + connection->out_len, bytes, len);
    connection->out_len += len;
}

static void put_number(connection *connection, char sign, size_t number)
{
    char text[32];
    int len = snprintf(text, sizeof(text), "%c%zu\r\n", sign, number);
    put(connection, text, (size_t)len);
}

void put_command(connection *connection, size_t words)
{
    put_number(connection, '*', words);
}

void put_word(connection *connection, const char *word, size_t len)
{
    put_number(connection, '$', len);
    put(connection, word, len);
    put(connection, "\r\n", 2);
}

void put_line(connection *connection, const char *line, size_t more)
{
    size_t words = 1;
    for (const char *c = line; *c; c++)
        words += *c == ' ';
    put_command(connection, words + more);
    for (;;) {
        size_t len = strcspn(line, " ");
        put_word(connection, line, len);
        if (!line[len])
            return;
        line += len + 1;
    }
}

void send_commands(connection *connection)
{
    size_t at = 0;
    while (at < connection->out_len) {
        ssize_t sent = send(connection->socket, connection->out + at, connection->out_len - at, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            give_up("sending", strerror(errno));
        at += sent > 0 ? (size_t)sent : 0;
    }
    connection->out_len = 0;
}

/* ---- replies ---- */

static void receive(connection *connection)
{
    memmove(connection->in, connection->in + connection->in_at, connection->in_len - connection->in_at);
    connection->in_len -= connection->in_at;
    connection->in_at = 0;
    connection->in = room_for(connection->in, &connection->in_room, connection->in_len + 65536);
    ssize_t got = recv(connection->socket, connection->in + connection->in_len, 65535, 0);
    if (got == 0 || (got < 0 && errno != EINTR))
        give_up("receiving", got == 0 ? "the server has closed the connection" : strerror(errno));
    connection->in_len += got > 0 ? (size_t)got : 0;
}

/* The length of the line at `at`, with its end; more is received until it is there. */
static size_t line_length(connection *connection, size_t at)
{
    for (;;) {
        const char *from = connection->in + connection->in_at + at;
        size_t there = connection->in_len - connection->in_at;
        const char *end = there > at ? memchr(from, '\n', there - at) : NULL;
        if (end)
            return (size_t)(end - from) + 1;
        receive(connection);
    }
}

/* Reads a reply that begins with this line, or the line of one in an array. Returns how many more it announces. */
static size_t read_one(connection *connection)
{
    size_t len =
        connection->in_len > 0 ? line_length(connection, 0) : (receive(connection), line_length(connection, 0));
    char *line = connection->in + connection->in_at;
    long number = line[0] == '*' || line[0] == '$' ? strtol(line + 1, NULL, 10) : -1;
    if (line[0] == '-') {
        line[len - 1] = 0;
        give_up("the server answered", line + 1);
    }
    if (line[0] == '*')
        return connection->in_at += len, number > 0 ? (size_t)number : 0;
    if (line[0] == '$' && number >= 0) {
        len += (size_t)number + 2;
        while (connection->in_len - connection->in_at < len)
            receive(connection);
        if (connection->take)
            connection->take(connection, connection->in + connection->in_at + len - number - 2, (size_t)number);
    }
    connection->in_at += len;
    return 0;
}

void read_replies(connection *connection, size_t n)
{
    for (; n > 0; n--)
        n += read_one(connection);
}

const char *ask(connection *connection, const char *line)
{
    put_line(connection, line, 0);
    send_commands(connection);
    connection->in_at = connection->in_len = 0;
    read_replies(connection, 1);
    connection->in = room_for(connection->in, &connection->in_room, connection->in_len + 1);
    connection->in[connection->in_len] = 0;
    return connection->in;
}

double info_number(const char *info, const char *name)
{
    size_t len = strlen(name);
    for (const char *line = strstr(info, name); line; line = strstr(line + 1, name))
        if (line > info && line[-1] == '\n' && line[len] == ':')
            return strtod(line + len + 1, NULL);
    return 0;
}
