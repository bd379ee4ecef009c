/*
 * The members of a spatial set in separate processes, and the process that decides (the thesis, section 6.4).
 *
 *                    request ->              +----------+
 *     deciding  <==========================> | member 1 |   one socket for each
 *      process  <==========================> | member 2 |
 *                           <- answer        +----------+
 *
 *   request   what (add, look up), number of URLs, bytes; lengths of 16 bits; the URLs
 *   answer    code, bytes; a verdict for each URL, or the message if the code is an error
 *
 * The deciding process sends a request to all members before it waits for the first answer, so that they work at the
 * same time. A member reads a whole request before it answers, and an answer fits into the buffer of a socket, so there
 * is no deadlock.
 *
 * A member ends when its socket is closed. It closes the sockets of earlier members, which it has inherited, so that
 * each side always notices the end of the other.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/thesis/further.h"
#include "vidi/transfer.h"

enum { ADD, ASK };

typedef struct request {
    uint32_t what, count, bytes; /* bytes: the length of what follows, lengths and URLs */
} request;

typedef struct answer {
    int32_t code;
    uint32_t bytes;
} answer;

enum { MESSAGE_ROOM = 256, REQUEST_MOST = LAB_BATCH_MAX * (LAB_URL_ROOM + 2) };

/* ---- sockets ---- */

static int send_all(int socket, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return lab_fail(VIDI_ESYSTEM, "cannot send to a member: %s", strerror(errno));
        at += sent;
        size -= (size_t)sent;
    }
    return VIDI_OK;
}

static int receive_all(int socket, void *data, size_t size)
{
    char *at = data;
    while (size > 0) {
        ssize_t got = recv(socket, at, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return lab_fail(VIDI_ESYSTEM, "cannot read from a member: %s", got < 0 ? strerror(errno) : "it has ended");
        at += got;
        size -= (size_t)got;
    }
    return VIDI_OK;
}

/* ---- in the member's process ---- */

static int make_member(vidi_set **set, const lab_settings *settings, uint64_t run, unsigned member, const char *params,
                       uint64_t capacity)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    options.kind = "classic";
    options.params = params;
    options.capacity = capacity;
    options.member = member;
    return lab_set_make_with(set, settings, run, options);
}

static int send_answer(int socket, int code, const void *data, size_t bytes)
{
    answer head = {code, (uint32_t)bytes};
    LAB_TRY(send_all(socket, &head, sizeof head));
    return send_all(socket, data, bytes);
}

static int send_error(int socket, int code)
{
    char message[MESSAGE_ROOM];
    strncpy(message, vidi_message(), sizeof message - 1);
    message[sizeof message - 1] = 0;
    return send_answer(socket, code, message, strlen(message));
}

typedef struct worker {
    char body[REQUEST_MOST];
    vidi_str urls[LAB_BATCH_MAX];
    uint8_t verdicts[LAB_BATCH_MAX];
} worker;

/* Finds the URLs in the body of a request. */
static int read_body(worker *worker, const request *head)
{
    size_t at = head->count * sizeof(uint16_t);
    for (uint32_t i = 0; i < head->count; i++) {
        uint16_t length;
        memcpy(&length, worker->body + i * sizeof length, sizeof length);
        worker->urls[i] = (vidi_str){worker->body + at, length};
        at += length;
    }
    return at == head->bytes ? VIDI_OK : lab_fail(VIDI_EFORMAT, "a request of %u URLs is damaged", head->count);
}

static int serve_one(worker *worker, vidi_set *set, int socket)
{
    request head;
    LAB_TRY(receive_all(socket, &head, sizeof head));
    if (head.count > LAB_BATCH_MAX || head.bytes > REQUEST_MOST || head.bytes < head.count * sizeof(uint16_t))
        return lab_fail(VIDI_EFORMAT, "a request of %u URLs and %u bytes", head.count, head.bytes);
    LAB_TRY(receive_all(socket, worker->body, head.bytes));
    int code = read_body(worker, &head);
    if (code == VIDI_OK)
        code = head.what == ADD ? vidi_add_batch(set, worker->urls, head.count, worker->verdicts, NULL)
                                : vidi_has_batch(set, worker->urls, head.count, worker->verdicts);
    return code < 0 ? send_error(socket, code) : send_answer(socket, VIDI_OK, worker->verdicts, head.count);
}

/* Answers requests until the socket is closed. The first answer tells whether the set could be made. */
static void serve(vidi_set *set, int made, int socket)
{
    worker *worker = malloc(sizeof *worker);
    if (made == VIDI_OK && !worker)
        made = lab_fail(VIDI_EMEMORY, "no memory for requests");
    if (made < 0)
        send_error(socket, made);
    else if (send_answer(socket, VIDI_OK, NULL, 0) == VIDI_OK)
        while (serve_one(worker, set, socket) == VIDI_OK)
            ;
    free(worker);
}

/* ---- in the deciding process ---- */

/* Receives an answer, which must have `expected` bytes. */
static int receive_answer(int socket, uint8_t *verdicts, size_t expected)
{
    char message[MESSAGE_ROOM] = "";
    answer head;
    LAB_TRY(receive_all(socket, &head, sizeof head));
    if (head.code < 0 && head.bytes < sizeof message) {
        LAB_TRY(receive_all(socket, message, head.bytes));
        return lab_fail(head.code, "a member: %s", message);
    }
    if (head.code < 0 || head.bytes != expected)
        return lab_fail(VIDI_EFORMAT, "a member answers with %u bytes instead of %zu", head.bytes, expected);
    return receive_all(socket, verdicts, expected);
}

static int start_one(lab_members *members, const lab_settings *settings, uint64_t run, const char *params,
                     uint64_t capacity)
{
    int ends[2];
    unsigned index = members->count;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return lab_fail(VIDI_ESYSTEM, "no socket for member %u: %s", index + 1, strerror(errno));
    pid_t process = fork();
    if (process == 0) {
        vidi_set *set = NULL;
        for (unsigned i = 0; i < index; i++)
            close(members->sockets[i]);
        close(ends[0]);
        int made = make_member(&set, settings, run, index + 1, params, capacity);
        serve(set, made, ends[1]);
        vidi_close(set);
        _exit(made == VIDI_OK ? 0 : 1); /* without flushing the output of the deciding process */
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return lab_fail(VIDI_ESYSTEM, "no process for member %u: %s", index + 1, strerror(errno));
    }
    members->sockets[index] = ends[0];
    members->processes[index] = process;
    members->count++;
    return receive_answer(ends[0], NULL, 0);
}

int lab_members_start(lab_members *members, const lab_settings *settings, uint64_t run, unsigned count,
                      const char *params, uint64_t capacity)
{
    *members = (lab_members){.count = 0};
    if (count > LAB_MEMBERS_MAX)
        return lab_fail(VIDI_EARGUMENT, "%u members are more than %d", count, LAB_MEMBERS_MAX);
    members->request = malloc(sizeof(request) + REQUEST_MOST);
    members->answers = malloc((size_t)LAB_MEMBERS_MAX * LAB_BATCH_MAX);
    if (!members->request || !members->answers)
        return lab_fail(VIDI_EMEMORY, "no memory for requests");
    while (members->count < count)
        LAB_TRY(start_one(members, settings, run, params, capacity));
    return VIDI_OK;
}

/* Closing the socket ends a healthy member; others are killed, so that we need not wait for them. */
static int end_one(lab_members *members, unsigned index)
{
    const int waits = 2000;
    const useconds_t a_millisecond = 1000;
    int status = 0;
    pid_t ended = 0;
    close(members->sockets[index]);
    for (int i = 0; i < waits && ended == 0; i++) {
        ended = waitpid(members->processes[index], &status, WNOHANG);
        if (ended == 0)
            usleep(a_millisecond);
    }
    if (ended == 0) {
        kill(members->processes[index], SIGKILL);
        while ((ended = waitpid(members->processes[index], &status, 0)) < 0 && errno == EINTR)
            ;
    }
    members->processes[index] = 0;
    return ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? VIDI_OK
               : lab_fail(VIDI_ESYSTEM, "member %u did not end normally", index + 1);
}

int lab_members_stop(lab_members *members)
{
    int code = VIDI_OK;
    for (unsigned i = 0; i < members->count; i++) {
        int ended = end_one(members, i);
        code = code < 0 ? code : ended;
    }
    members->count = 0;
    free(members->request);
    free(members->answers);
    members->request = NULL;
    members->answers = NULL;
    return code;
}

/* Writes a request to members->request and returns its size. */
static size_t write_request(lab_members *members, uint32_t what, const vidi_str *urls, size_t count)
{
    size_t at = sizeof(request) + count * sizeof(uint16_t);
    for (size_t i = 0; i < count; i++) {
        uint16_t length = (uint16_t)urls[i].len;
        memcpy(members->request + sizeof(request) + i * sizeof length, &length, sizeof length);
        memcpy(members->request + at, urls[i].ptr, length);
        at += length;
    }
    request head = {what, (uint32_t)count, (uint32_t)(at - sizeof(request))};
    memcpy(members->request, &head, sizeof head);
    return at;
}

static int check_batch(const vidi_str *urls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (urls[i].len > LAB_URL_ROOM)
            return lab_fail(VIDI_EARGUMENT, "a URL of %zu bytes is longer than %d", urls[i].len, LAB_URL_ROOM);
    return count <= LAB_BATCH_MAX ? VIDI_OK : lab_fail(VIDI_EARGUMENT, "%zu URLs are too many at once", count);
}

static int exchange(lab_members *members, uint32_t what, const vidi_str *urls, size_t count, uint8_t *verdicts)
{
    uint8_t votes[LAB_MEMBERS_MAX];
    LAB_TRY(check_batch(urls, count));
    size_t size = write_request(members, what, urls, count);
    for (unsigned i = 0; i < members->count; i++)
        LAB_TRY(send_all(members->sockets[i], members->request, size));
    for (unsigned i = 0; i < members->count; i++)
        LAB_TRY(receive_answer(members->sockets[i], members->answers + (size_t)i * LAB_BATCH_MAX, count));
    members->messages += 2 * (uint64_t)members->count;
    for (size_t i = 0; i < count; i++) {
        for (unsigned j = 0; j < members->count; j++)
            votes[j] = members->answers[(size_t)j * LAB_BATCH_MAX + i];
        verdicts[i] = (uint8_t)vidi_decide(votes, members->count, NULL);
    }
    return VIDI_OK;
}

int lab_members_add(lab_members *members, const vidi_str *urls, size_t count, uint8_t *verdicts)
{
    return exchange(members, ADD, urls, count, verdicts);
}

int lab_members_ask(lab_members *members, const vidi_str *urls, size_t count, uint8_t *verdicts)
{
    return exchange(members, ASK, urls, count, verdicts);
}
