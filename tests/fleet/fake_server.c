/*
 * Servers that play scripts: see fake_server.h.
 */
#include "fleet/fake_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"

void fake_listen(fake_server all[FAKES])
{
    for (int i = 0; i < FAKES; i++) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t length = sizeof address;
        fake_server *server = &all[i];
        *server = (fake_server){.all = all, .connection = -1};
        server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        check(server->listener >= 0 && bind(server->listener, (struct sockaddr *)&address, length) == 0 &&
                  listen(server->listener, 16) == 0 &&
                  getsockname(server->listener, (struct sockaddr *)&address, &length) == 0 && pipe(server->stop) == 0,
              "no server on loopback: %s", strerror(errno));
        server->port = ntohs(address.sin_port);
    }
}

/* Text with the ports and line ends put in; to be freed. */
static char *complete(const fake_server *all, const char *text)
{
    bytes made = {0};
    for (; *text; text++) {
        if (text[0] == '{' && text[1] >= '0' && text[1] < '0' + FAKES && text[2] == '}') {
            bytes_append_format(&made, "%u", (unsigned)all[text[1] - '0'].port);
            text += 2;
        } else {
            bytes_append(&made, *text == '|' ? "\r\n" : text, *text == '|' ? 2 : 1);
        }
    }
    bytes_append(&made, "", 1);
    return made.ptr;
}

/* Something is not as the script says. The client may wait for ever now, so this ends the test program. */
static bool blame(const fake_server *server, const char *what, const char *more)
{
    fprintf(stderr, "server %d, line %d: %s%s\n", (int)(server - server->all), server->played + 1, what, more);
    fflush(NULL);
    _exit(1);
}

/* Waits until there is something to read; false: the test ends. */
static bool await(fake_server *server, int fd)
{
    struct pollfd polls[] = {{.fd = server->stop[0], .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    while (poll(polls, 2, -1) < 0 && errno == EINTR) {
    }
    return polls[1].revents != 0;
}

static bool accept_next(fake_server *server)
{
    int yes = 1;
    if (!await(server, server->listener))
        return false;
    server->connection = accept(server->listener, NULL, NULL);
    setsockopt(server->connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    server->input.len = server->input_at = 0;
    return server->connection >= 0;
}

static void drop(fake_server *server, bool reset)
{
    struct linger linger = {.l_onoff = 1};
    if (server->connection >= 0 && reset)
        setsockopt(server->connection, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    if (server->connection >= 0)
        close(server->connection);
    server->connection = -1;
}

/* The next byte; negative: the client has closed the connection, or the test ends. */
static int next_byte(fake_server *server)
{
    if (server->input_at == server->input.len) {
        server->input.len = server->input_at = 0;
        if (!await(server, server->connection) || bytes_reserve(&server->input, 1 << 16))
            return -1;
        ssize_t n = recv(server->connection, server->input.ptr, 1 << 16, 0);
        if (n <= 0)
            return -1;
        server->input.len = (size_t)n;
    }
    return (unsigned char)server->input.ptr[server->input_at++];
}

/* The number after `mark` in a line of its own; negative: there is none. */
static long read_number(fake_server *server, char mark)
{
    long number = 0;
    int byte = next_byte(server);
    if (byte != mark)
        return -1;
    while ((byte = next_byte(server)) >= '0' && byte <= '9')
        number = 10 * number + byte - '0';
    return byte == '\r' && next_byte(server) == '\n' ? number : -1;
}

/* Reads a command as a line of words; false: there is none. */
static bool read_command(fake_server *server, bytes *line)
{
    long words = read_number(server, '*');
    line->len = 0;
    for (long i = 0; i < words; i++) {
        long length = read_number(server, '$');
        if (length < 0)
            return false;
        if (i > 0)
            bytes_append(line, " ", 1);
        for (long k = 0; k < length + 2; k++) {
            int byte = next_byte(server);
            char one = (char)byte;
            if (byte < 0)
                return false;
            if (length < 100 && k < length)
                bytes_append(line, &one, 1);
        }
        if (length >= 100)
            bytes_append_format(line, "(%ld)", length);
    }
    bytes_append(line, "", 1);
    return words > 0;
}

static void send_text(fake_server *server, const char *text, bool torn)
{
    char *whole = complete(server->all, text);
    size_t length = strlen(whole), step = torn ? 1 : length;
    for (size_t i = 0; i < length && server->connection >= 0; i += step)
        if (send(server->connection, whole + i, step, MSG_NOSIGNAL) < 0)
            break;
    free(whole);
}

static void answer_slots(fake_server *server)
{
    static const char single[] = "-ERR This instance has cluster support disabled|";
    send_text(server, server->slots ? server->slots : single, false);
}

/* The next command that is not a question for slots. */
static bool hear(fake_server *server, bytes *line)
{
    do {
        if (server->connection < 0 && !accept_next(server))
            return false;
        if (!read_command(server, line))
            return false;
        if (strcmp(line->ptr, "CLUSTER SLOTS") != 0)
            return true;
        answer_slots(server);
    } while (true);
}

static bool expect_command(fake_server *server, const char *wanted)
{
    bytes line = {0};
    bool good = hear(server, &line) || blame(server, "the client ended the connection before ", wanted);
    if (good && strcmp(line.ptr, wanted) != 0) {
        char text[400];
        snprintf(text, sizeof text, "%.150s instead of %.150s", line.ptr, wanted);
        good = blame(server, "there came ", text);
    }
    bytes_free(&line);
    return good;
}

/* The client must close the connection without another command. */
static bool expect_end(fake_server *server)
{
    bytes line = {0};
    bool more = hear(server, &line);
    if (more)
        blame(server, "there came more: ", line.ptr);
    bytes_free(&line);
    drop(server, false);
    return !more;
}

static void send_info(fake_server *server, const char *text)
{
    char *whole = complete(server->all, text);
    bytes bulk = {0};
    bytes_append_format(&bulk, "$%zu\r\n%s\r\n", strlen(whole), whole);
    if (send(server->connection, bulk.ptr, bulk.len, MSG_NOSIGNAL) < 0)
        blame(server, "the connection is closed before ", text);
    bytes_free(&bulk);
    free(whole);
}

static void answer_always(fake_server *server, const char *text)
{
    bytes line = {0};
    while (server->connection >= 0 || accept_next(server)) {
        if (hear(server, &line))
            send_text(server, text, false);
        else
            drop(server, false);
    }
    bytes_free(&line);
}

static bool expect_slots(fake_server *server)
{
    bytes line = {0};
    bool good = read_command(server, &line) && strcmp(line.ptr, "CLUSTER SLOTS") == 0;
    answer_slots(server);
    server->slots = NULL;
    bytes_free(&line);
    return good || blame(server, "no question for slots", "");
}

/* Plays a line; false: the test has failed. */
static bool play_line(fake_server *server, const char *line)
{
    if (line[0] == '<')
        return expect_command(server, line + 2);
    if (line[0] == '>' || line[0] == '~')
        send_text(server, line + 2, line[0] == '~');
    else if (strncmp(line, "info ", 5) == 0)
        send_info(server, line + 5);
    else if (strncmp(line, "always ", 7) == 0)
        answer_always(server, line + 7);
    else if (strncmp(line, "slots ", 6) == 0)
        server->slots = line + 6;
    else if (strcmp(line, "close") == 0 || strcmp(line, "reset") == 0)
        drop(server, line[0] == 'r');
    else if (strcmp(line, "loaded") == 0)
        return expect_slots(server);
    else if (strcmp(line, "end") == 0)
        return expect_end(server);
    else if (strcmp(line, "hang") == 0) {
        while (next_byte(server) >= 0) {
        }
        drop(server, false);
    } else if (strcmp(line, "gone") == 0) {
        drop(server, false);
        close(server->listener);
        server->listener = -1;
    } else {
        return blame(server, "the script has an unknown line: ", line);
    }
    return true;
}

static void *play(void *argument)
{
    fake_server *server = argument;
    bytes line = {0};
    bool good = true;
    for (const char **each = server->script; *each && good; each++) {
        good = play_line(server, *each);
        server->played++;
    }
    /* Questions for slots are answered until the test ends; nothing else may come. */
    while (good && server->listener >= 0 && (server->connection >= 0 || accept_next(server))) {
        if (hear(server, &line))
            good = blame(server, "there came more: ", line.ptr);
        drop(server, false);
    }
    bytes_free(&line);
    drop(server, false);
    return NULL;
}

void fake_play(fake_server *server, const char *const *script)
{
    size_t lines = 0;
    while (script[lines])
        lines++;
    server->script = malloc((lines + 1) * sizeof *script); /* the caller's ends with its function */
    check(server->script != NULL, "no memory");
    memcpy(server->script, script, (lines + 1) * sizeof *script);
    check(pthread_create(&server->thread, NULL, play, server) == 0, "no thread");
}

void fake_end(fake_server all[FAKES])
{
    for (int i = 0; i < FAKES; i++) {
        fake_server *server = &all[i];
        if (server->script) {
            check(write(server->stop[1], "", 1) == 1, "the pipe is closed");
            pthread_join(server->thread, NULL);
        }
        if (server->listener >= 0)
            close(server->listener);
        close(server->stop[0]);
        close(server->stop[1]);
        bytes_free(&server->input);
        free(server->script);
    }
}

void fake_await(fake_server *server, int lines)
{
    while (server->played < lines)
        usleep(500);
}

redis_client *fake_open(fake_server all[FAKES], const char *address, redis_options options)
{
    redis_client *client = NULL;
    char why[REDIS_WHY] = "", *name, *whole = complete(all, address);

    options.connect_ms = options.connect_ms ? options.connect_ms : 60000;
    options.reply_ms = options.reply_ms ? options.reply_ms : 600000;
    options.patience_ms = options.patience_ms ? options.patience_ms : 600000;
    int error = redis_open(&client, whole, &options, &name, why);
    check(error == VIDI_OK, "%s: %d %s", whole, error, why);
    free(name);
    free(whole);
    return client;
}

void fake_talk(redis_client *client, const char *commands, const char *wanted)
{
    talk talk = {0};
    bytes replies = {0};
    char *copy = strdup(commands), *rest = copy;

    while (rest)
        talk_add(&talk, strsep(&rest, ";"));
    int error = talk_run(&talk, client, &replies, ";");
    replies.len -= replies.len > 0;
    bytes_append_format(&replies, " = %d", error);
    check(strcmp(replies.ptr, wanted) == 0, "%s: %s instead of %s (%s)", commands, replies.ptr, wanted,
          redis_why(client));
    bytes_free(&replies);
    free(copy);
}
