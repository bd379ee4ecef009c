/*
 * A run: commands go out to all nodes at once and replies are dealt with as they come. See jobs.h for a job's way.
 *
 * Jobs of one slot go to one connection in the order of the calls, as long as nothing fails. Once a job has failed for
 * good, no more commands are sent, and the replies that are still on their way are awaited.
 */
#include "fleet/redis/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BACKLOG = 256 << 10, /* bytes that wait for a socket */
    WINDOW = 4096,       /* commands on their way to a node */
    MOVES = 5,           /* redirections that are followed at once */
    WAIT_MS = 1000       /* how long a server waits for its replicas before it says how many there are */
};

/* ---- failing ---- */

static void give_up(redis_client *client, job_list *list)
{
    while (job_take(list))
        client->left--;
}

/* The run ends with this error: what was not sent will not be. The first reason is kept. */
static void fail_run(redis_client *client, int error, const char *why)
{
    if (!client->error) {
        client->error = error;
        if (why != client->why)
            snprintf(client->why, sizeof client->why, "%s", why);
    }
    give_up(client, &client->waiting);
    for (size_t i = 0; i < client->nodes.count; i++)
        give_up(client, &client->nodes.all[i]->queue);
}

static void fail_memory(redis_client *client)
{
    fail_run(client, VIDI_EMEMORY, "there is no memory left for commands and replies");
}

/* The job could not be done now. It is tried again after a pause, unless patience is over. */
static void suffer(redis_client *client, job *job, int error, const char *why)
{
    char sentence[REDIS_WHY];
    if (!job->trouble)
        job->trouble = client->now;
    job->ask = NULL;
    job->tries++;
    job->due = client->now + client_pause(client, job->tries);
    job_append(&client->waiting, job);
    if (client->error) {
        give_up(client, &client->waiting);
    } else if (client->now - job->trouble >= client->patience_ms) {
        snprintf(sentence, sizeof sentence, "%.400s (tried for %lld ms)", why, (long long)(client->now - job->trouble));
        fail_run(client, error, sentence);
    }
}

static void finish(redis_client *client, job *job, const redis_reply *reply)
{
    job->call->reply = reply;
    client->left--;
}

/* A job whose command was sent, and perhaps executed, on a connection that is lost. */
static void send_again(redis_client *client, job *job, const char *why)
{
    if (job->call->repeatable && !client->error) {
        job->call->repeated = true;
        suffer(client, job, VIDI_EIO, why);
        return;
    }
    client->left--;
    fail_run(client, VIDI_EIO, why);
}

void client_lose(redis_client *client, node *node)
{
    uint64_t handed = node->link.handed;
    job_list sent = {0}, unsent = {0}, queue = node->queue;
    job *each;

    connection_close(&node->link);
    while ((each = job_take(&node->answered)))
        job_append(&sent, each);
    while (node->flights_count > 0) {
        flight lost = node_take_flight(node);
        if (lost.kind == FLIGHT_CALL)
            job_append(lost.end > handed ? &unsent : &sent, lost.job);
    }
    node->queue = (job_list){0};
    node->needs_wait = node->waits = false;
    node->failures++;
    node->rests_until = client->now + client_pause(client, node->failures);
    if (node == client->slots_node) {
        client->slots_node = NULL;
        client->slots_sent = false;
        client->slots_due = client->now;
        client->slots_failed++;
        client->slots_turn++;
    }
    if (client->mode == MODE_UNKNOWN)
        snprintf(client->why, sizeof client->why, "%s", node->link.why);
    client_want_slots(client, node);
    while ((each = job_take(&sent)))
        send_again(client, each, node->link.why);
    while ((each = job_take(&unsent)))
        suffer(client, each, VIDI_EIO, node->link.why);
    while ((each = job_take(&queue)))
        suffer(client, each, VIDI_EIO, node->link.why);
}

/* ---- replies ---- */

/* MOVED tells who has the slot; ASK who has this key while its slot is on its way. */
static void redirect(redis_client *client, node *from, job *job, const redis_reply *reply, bool is_moved)
{
    int slot;
    node *to = client->mode == MODE_CLUSTER ? nodes_redirected(&client->nodes, reply->text, from, &slot) : NULL;
    if (is_moved)
        client_want_slots(client, from);
    if (to && is_moved)
        nodes_set_owner(&client->nodes, slot, to);
    if (!to || client->error || ++job->moves > MOVES) {
        char why[REDIS_WHY];
        job->moves = 0;
        snprintf(why, sizeof why, "%s: sent on and on, at last with %.150s", from->link.label, reply->text.ptr);
        suffer(client, job, VIDI_EBUSY, why);
        return;
    }
    job->ask = is_moved ? NULL : to;
    job->due = client->now;
    job_append(&client->waiting, job);
}

static void hear_call(redis_client *client, node *from, job *job, const redis_reply *reply)
{
    fault fault = reply->type == REDIS_ERROR ? fault_of(reply->text) : FAULT_FINAL;
    bool to_replicas = job->call->writes && client->wait_replicas > 0;

    if (fault == FAULT_FINAL && (!to_replicas || reply->type == REDIS_ERROR)) {
        finish(client, job, reply);
        return;
    }
    if (fault == FAULT_FINAL) {
        job->reply = reply;
        job_append(&from->answered, job);
        return;
    }
    if (fault == FAULT_MOVED || fault == FAULT_ASK) {
        redirect(client, from, job, reply, fault == FAULT_MOVED);
        return;
    }
    char why[REDIS_WHY];
    snprintf(why, sizeof why, "%s: %.150s", from->link.label, reply->text.ptr);
    if (fault != FAULT_LATER)
        client_want_slots(client, from);
    suffer(client, job, VIDI_EBUSY, why);
}

/* Those whose slot another server has now: what this one was told may be lost. */
static void leave_behind(redis_client *client, node *from, const char *why)
{
    job_list answered = from->answered;
    job *each;
    from->answered = (job_list){0};
    while ((each = job_take(&answered))) {
        int slot = each->call->slot;
        bool is_elsewhere = client->mode == MODE_CLUSTER && slot >= 0 && client->nodes.owners[slot] != from;
        if (is_elsewhere)
            send_again(client, each, why);
        else
            job_append(&from->answered, each);
    }
}

/* So many replicas have all that was written on this connection before. Returns false if the node was lost. */
static bool hear_wait(redis_client *client, node *from, const redis_reply *reply)
{
    char why[REDIS_WHY];
    job *each;
    from->waits = false;
    if (reply->type != REDIS_INTEGER) {
        snprintf(from->link.why, sizeof from->link.why, "%s: WAIT is answered %.150s", from->link.label,
                 reply->type == REDIS_ERROR ? reply->text.ptr : "with a reply of another kind");
        client_lose(client, from);
        return false;
    }
    if (reply->integer >= (int64_t)client->wait_replicas) {
        while ((each = job_take(&from->answered)))
            finish(client, each, each->reply);
        return true;
    }
    snprintf(why, sizeof why, "%s: %lld of %u replicas have what was written", from->link.label,
             (long long)reply->integer, (unsigned)client->wait_replicas);
    client_want_slots(client, from);
    leave_behind(client, from, why);
    from->needs_wait = from->needs_wait || from->answered.first;
    for (each = from->answered.first; each; each = each->next) {
        each->trouble = each->trouble ? each->trouble : client->now;
        if (client->error || client->now - each->trouble >= client->patience_ms) {
            give_up(client, &from->answered);
            fail_run(client, VIDI_EBUSY, why);
            break;
        }
    }
    return true;
}

static void read_replies(redis_client *client, node *from)
{
    const redis_reply *reply;
    int result;
    while ((result = connection_next(&from->link, &reply)) == 1) {
        flight flight = node_take_flight(from);
        from->failures = 0;
        if (flight.kind == FLIGHT_SLOTS)
            client_hear_slots(client, from, reply);
        else if (flight.kind == FLIGHT_CALL)
            hear_call(client, from, flight.job, reply);
        else if (flight.kind == FLIGHT_WAIT && !hear_wait(client, from, reply))
            return;
    }
    if (result < 0)
        client_lose(client, from);
}

/* ---- sending ---- */

void client_connect(redis_client *client, node *node)
{
    if (node->link.state != CONNECTION_CLOSED || client->now < node->rests_until)
        return;
    if (connection_begin(&node->link, &client->how, node->host, node->port, client->now))
        client_lose(client, node);
}

static int put(redis_client *client, node *to, flight_kind kind, job *job, const vidi_str *words, size_t count)
{
    if (node_reserve_flight(to) || connection_put(&to->link, words, count, client->now))
        return VIDI_EMEMORY;
    node_add_flight(to, kind, job);
    return VIDI_OK;
}

static int send_call(redis_client *client, node *to, job *job)
{
    static const vidi_str asking = {"ASKING", 6};
    const redis_call *call = job->call;
    int error = job->ask ? put(client, to, FLIGHT_ASKING, NULL, &asking, 1) : VIDI_OK;
    job->ask = NULL;
    if (!error)
        error = put(client, to, FLIGHT_CALL, job, call->words, call->count);
    if (!error && call->writes && client->wait_replicas > 0)
        to->needs_wait = true;
    return error;
}

/* WAIT, once all that is to be written is on its way. */
static int send_wait(redis_client *client, node *to)
{
    char replicas[16], time[24];
    int64_t ms = client->how.reply_ms / 2 < WAIT_MS ? client->how.reply_ms / 2 + 1 : WAIT_MS;
    vidi_str words[] = {{"WAIT", 4}, {replicas, 0}, {time, 0}};
    words[1].len = (size_t)snprintf(replicas, sizeof replicas, "%u", (unsigned)client->wait_replicas);
    words[2].len = (size_t)snprintf(time, sizeof time, "%lld", (long long)ms);
    to->needs_wait = false;
    to->waits = true;
    return put(client, to, FLIGHT_WAIT, NULL, words, 3);
}

/* Moves jobs from the queue into the connection. */
static void fill(redis_client *client, node *to)
{
    int error = VIDI_OK;
    while (!error && to->queue.first && connection_backlog(&to->link) < BACKLOG && to->link.expects < WINDOW) {
        job *next = job_take(&to->queue);
        error = send_call(client, to, next);
        if (error)
            client->left--;
    }
    if (!error && to->needs_wait && !to->waits && !to->queue.first)
        error = send_wait(client, to);
    if (error)
        fail_memory(client);
}

/* Sends jobs that are due on their way. */
static void route(redis_client *client)
{
    job_list waiting = client->waiting;
    job *each;
    client->waiting = (job_list){0};
    while ((each = job_take(&waiting))) {
        if (client->error) {
            client->left--;
            continue;
        }
        if (each->due <= client->now) {
            node *to = client_route(client, each);
            if (to && to->link.state == CONNECTION_CLOSED && to->rests_until > client->now) {
                each->due = to->rests_until;
            } else if (to) {
                job_append(&to->queue, each);
                continue;
            } else {
                suffer(client, each, VIDI_EBUSY, "no server of the cluster has the slot");
                continue;
            }
        }
        job_append(&client->waiting, each);
    }
}

/* ---- the loop ---- */

/* Connects and fills; collects what to poll for. Returns how many, and sets *due as above. */
static size_t prepare(redis_client *client, int64_t *due)
{
    size_t count = 0;
    for (size_t i = 0; i < client->nodes.count; i++) {
        node *each = client->nodes.all[i];
        if (each->queue.first)
            client_connect(client, each);
        if (each->link.state == CONNECTION_READY)
            fill(client, each);
        if (each->link.state == CONNECTION_CLOSED)
            continue;
        int64_t own = connection_due(&each->link);
        *due = own < *due ? own : *due;
        client->polls[count] = (struct pollfd){.fd = each->link.fd, .events = connection_events(&each->link)};
        client->polled[count++] = each;
    }
    return count;
}

static int reserve_polls(redis_client *client)
{
    size_t room = client->nodes.count + 16;
    if (client->nodes.count <= client->polls_room)
        return VIDI_OK;
    struct pollfd *polls = realloc(client->polls, room * sizeof *polls);
    client->polls = polls ? polls : client->polls;
    node **polled = realloc(client->polled, room * sizeof(node *));
    client->polled = polled ? polled : client->polled;
    if (!polls || !polled)
        return VIDI_EMEMORY;
    client->polls_room = room;
    return VIDI_OK;
}

int client_turn(redis_client *client, int64_t until)
{
    int64_t due = until;
    client->now = client_time();
    client_watch_silence(client, &due);
    client_ask_slots(client, &due);
    route(client);
    if (reserve_polls(client))
        return VIDI_EMEMORY;
    size_t count = prepare(client, &due);
    for (const job *each = client->waiting.first; each; each = each->next)
        due = each->due < due ? each->due : due;
    if (client->slots_wanted && client->slots_due < due) /* a connection has failed at once */
        due = client->slots_due;
    int64_t wait = due > client->now ? due - client->now : 0;
    int ready = poll(client->polls, (nfds_t)count, wait < 60000 ? (int)wait : 60000);
    client->now = client_time();
    for (size_t i = 0; i < count; i++) {
        node *each = client->polled[i];
        short events = ready > 0 ? client->polls[i].revents : 0;
        if (each->link.state == CONNECTION_CLOSED || each->link.fd != client->polls[i].fd)
            continue; /* lost, by what another one said */
        if (!events && client->now < connection_due(&each->link) && connection_backlog(&each->link) == 0)
            continue;
        if (connection_work(&each->link, events, client->now))
            client_lose(client, each);
        else
            read_replies(client, each);
    }
    return VIDI_OK;
}

/* ---- runs ---- */

/*
 * Nothing is left of the last run but idle connections. One on which a reply is still awaited, to a question for slots
 * or a password, is closed: parts of that reply may lie in the arena. One that the server has closed in the meantime is
 * found out before anything is sent on it.
 */
static void settle(redis_client *client)
{
    client->now = client_time();
    client->slots_node = NULL;
    client->slots_sent = false;
    for (size_t i = 0; i < client->nodes.count; i++) {
        node *each = client->nodes.all[i];
        const redis_reply *reply;
        if (each->link.state != CONNECTION_READY || each->link.expects > 0) {
            connection_close(&each->link);
            each->flights_count = 0;
            each->needs_wait = each->waits = false;
        } else if (!connection_work(&each->link, POLLIN, client->now)) {
            (void)connection_next(&each->link, &reply);
        }
    }
    nodes_prune(&client->nodes);
    reply_arena_empty(&client->arena);
}

static int begin(redis_client *client, redis_call *calls, size_t n)
{
    client->error = VIDI_OK;
    client->why[0] = 0;
    for (size_t i = 0; i < n; i++) {
        calls[i].reply = NULL;
        calls[i].repeated = false;
        if (calls[i].slot >= REDIS_SLOTS || calls[i].count == 0)
            client->error = VIDI_EARGUMENT;
    }
    if (client->error) {
        snprintf(client->why, sizeof client->why, "a command has no words, or a slot that does not exist");
        return client->error;
    }
    client->jobs = calloc(n ? n : 1, sizeof *client->jobs);
    if (!client->jobs) {
        fail_memory(client);
        return VIDI_EMEMORY;
    }
    client->waiting = (job_list){0};
    for (size_t i = 0; i < n; i++) {
        client->jobs[i].call = &calls[i];
        job_append(&client->waiting, &client->jobs[i]);
    }
    client->left = n;
    return VIDI_OK;
}

int redis_run(redis_client *client, redis_call *calls, size_t n)
{
    settle(client);
    if (begin(client, calls, n))
        return client->error;
    while (client->left > 0)
        if (client_turn(client, INT64_MAX))
            fail_memory(client);
    free(client->jobs);
    client->jobs = NULL;
    return client->error;
}
