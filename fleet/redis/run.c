/*
 * A run: commands go out to all nodes at once and replies are dealt with as they come. See jobs.h for a job's way.
 *
 * Jobs of one slot go to one connection in the order of the calls, as long as nothing fails. Once a job has failed for
 * good, no more commands are sent, and the replies that are still on their way are awaited.
 */
#include "fleet/redis/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BACKLOG = 256 << 10, /* bytes that wait for a socket */
    WINDOW = 4096,       /* commands on their way to a node */
    MOVES = 5,           /* redirections that are followed at once */
    POLL_MS = 500        /* at most, so that redis_hurry is noticed */
};

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
        snprintf(why, sizeof why, "%s: redirected again and again, at last by %.150s", from->link.label,
                 reply->text.ptr);
        client_suffer(client, job, VIDI_EBUSY, why);
        return;
    }
    job->ask = is_moved ? NULL : to;
    job->due = client->now;
    job_append(&client->waiting, job);
}

static void hear_call(redis_client *client, node *from, job *job, const redis_reply *reply)
{
    fault fault = reply->type == REDIS_ERROR ? fault_of(reply->text) : FAULT_FINAL;

    if (fault == FAULT_FINAL && (!client_must_reach(client, job) || reply->type == REDIS_ERROR)) {
        client_finish(client, job, reply);
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
    client_suffer(client, job, VIDI_EBUSY, why);
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
        else if (flight.kind == FLIGHT_WAIT && !client_hear_wait(client, from, reply))
            return;
        else if (flight.kind == FLIGHT_OFFSETS)
            client_hear_offsets(client, from, reply);
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

static int send_call(redis_client *client, node *to, job *job)
{
    static const vidi_str asking = {"ASKING", 6};
    const redis_call *call = job->call;
    int error = job->ask ? node_put(to, FLIGHT_ASKING, NULL, &asking, 1, client->now) : VIDI_OK;
    job->ask = NULL;
    if (!error)
        error = node_put(to, FLIGHT_CALL, job, call->words, call->count, client->now);
    if (!error && client_must_reach(client, job))
        node_has_written(to, call->repeated);
    return error;
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
    if (!error && !to->queue.first)
        error = client_ask_replicas(client, to);
    if (error)
        client_fail_memory(client);
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
                client_suffer(client, each, VIDI_EBUSY, "no server of the cluster has the slot");
                continue;
            }
        }
        job_append(&client->waiting, each);
    }
}

/* ---- the loop ---- */

/* Connects and fills; collects what to poll for. Returns how many, and makes *due earlier if something is due before. */
static size_t prepare(redis_client *client, int64_t *due)
{
    size_t count = 0;
    for (size_t i = 0; i < client->nodes.count; i++) {
        node *each = client->nodes.all[i];
        if (each->queue.first)
            client_connect(client, each);
        if (each->link.state == CONNECTION_READY)
            fill(client, each);
        if (each->link.state == CONNECTION_READY && connection_work(&each->link, 0, client->now))
            client_lose(client, each);
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
    if (!polls)
        return VIDI_EMEMORY;
    client->polls = polls;
    node **polled = realloc(client->polled, room * sizeof(node *));
    if (!polled)
        return VIDI_EMEMORY;
    client->polled = polled;
    client->polls_room = room;
    return VIDI_OK;
}

int client_turn(redis_client *client, int64_t until)
{
    int64_t due = until, hurry_ms = atomic_load(&client->hurry_ms);
    client->now = client_time();
    if (hurry_ms && hurry_ms < client->patience_ms)
        client->patience_ms = hurry_ms;
    if (hurry_ms && hurry_ms < client->how.reply_ms)
        client->how.reply_ms = hurry_ms;
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
    (void)poll(client->polls, (nfds_t)count, wait < POLL_MS ? (int)wait : POLL_MS);
    client->now = client_time();
    for (size_t i = 0; i < count; i++) {
        node *each = client->polled[i];
        short events = client->polls[i].revents; /* 0 if a signal has interrupted poll */
        if (each->link.state == CONNECTION_CLOSED || each->link.fd != client->polls[i].fd)
            continue; /* lost, by what another one said */
        if (!events && client->now < connection_due(&each->link))
            continue;
        if (connection_work(&each->link, events, client->now))
            client_lose(client, each);
        else
            read_replies(client, each);
    }
    return VIDI_OK;
}

/* ---- runs ---- */

/* Nothing was asked on this connection since; the server may have closed it, which is found out before it is used. */
static void check_idle(redis_client *client, connection *link)
{
    const redis_reply *reply;
    if (!connection_work(link, POLLIN, client->now))
        (void)connection_next(link, &reply);
}

/*
 * Nothing is left of the last run but idle connections. An answer to CLUSTER SLOTS is read if it has come. A connection on
 * which one is still missing is closed: parts of it may lie in the arena.
 */
static void settle(redis_client *client)
{
    client->now = client_time();
    for (size_t i = 0; i < client->nodes.count; i++) {
        node *each = client->nodes.all[i];
        if (each->link.state == CONNECTION_READY && each->link.expects == 0)
            check_idle(client, &each->link);
        else if (each->link.state == CONNECTION_READY && !connection_work(&each->link, POLLIN, client->now))
            read_replies(client, each);
        if (each->link.state != CONNECTION_READY || each->link.expects > 0) {
            connection_close(&each->link);
            each->flights_count = 0;
            each->writing = (writing){0};
        }
    }
    client->slots_node = NULL;
    client->slots_sent = false;
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
        client_fail_memory(client);
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
            client_fail_memory(client);
    free(client->jobs);
    client->jobs = NULL;
    return client->error;
}
