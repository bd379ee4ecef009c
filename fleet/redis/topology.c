/*
 * Who has which slots: asked by CLUSTER SLOTS on one connection after the other, at random intervals, while other
 * commands go on. A server that is not in cluster mode says so, once, and has all slots from then on.
 */
#include "fleet/redis/client.h"

#include <stdio.h>
#include <string.h>

enum { ASK_LEAST = 50, ASK_MOST = 250, ANSWER_MS = 2000, SILENCE_MS = 1000 };

static const vidi_str cluster_slots[] = {{"CLUSTER", 7}, {"SLOTS", 5}};

void client_want_slots(redis_client *client, const node *culprit)
{
    if (client->mode != MODE_SINGLE) {
        client->slots_wanted = true;
    } else if (culprit == client->single && client->address.count > 1) {
        size_t at = 0;
        while (client->nodes.all[at] != client->single)
            at++;
        do
            at = (at + 1) % client->nodes.count;
        while (!client->nodes.all[at]->is_seed);
        client->single = client->nodes.all[at];
    }
}

/* How good a choice the node is for the question: connected and without work best of all; 0: not at all. */
static int fitness(const redis_client *client, const node *node)
{
    if (node->link.state == CONNECTION_CLOSED)
        return node->rests_until <= client->now;
    if (node->link.state != CONNECTION_READY)
        return 1;
    return node->link.expects == 0 ? 3 : 2;
}

/* The best node, beginning at a random one, so that no single one is asked again and again. Before anything is known, the
 * address's own are asked in their order. */
static node *choose(redis_client *client)
{
    nodes *nodes = &client->nodes;
    node *best = NULL;
    int fit = 0;
    if (client->mode == MODE_UNKNOWN)
        return nodes->all[client->slots_turn % nodes->count];
    size_t first = (size_t)client_draw(client, 0, (int64_t)nodes->count - 1);
    for (size_t i = 0; i < nodes->count; i++) {
        node *each = nodes->all[(first + i) % nodes->count];
        if (fitness(client, each) > fit) {
            best = each;
            fit = fitness(client, each);
        }
    }
    return best;
}

static void forget_question(redis_client *client)
{
    client->slots_node = NULL;
    client->slots_sent = false;
    client->slots_due = client->now + client_draw(client, ASK_LEAST, ASK_MOST);
}

/* Sends the question to the chosen node if it is connected. */
static void send_question(redis_client *client)
{
    node *to = client->slots_node; /* NULL: the connection has failed */
    if (!to || to->link.state != CONNECTION_READY || node_put(to, FLIGHT_SLOTS, NULL, cluster_slots, 2, client->now))
        return;
    client->slots_sent = true;
    client->slots_due = client->now + ANSWER_MS;
}

void client_ask_slots(redis_client *client, int64_t *due)
{
    if (!client->slots_wanted)
        return;
    if (client->slots_node && client->now >= client->slots_due) {
        forget_question(client); /* another one is asked; if the answer comes after all, it is welcome */
        client->slots_turn++;
    }
    if (!client->slots_node && client->now >= client->slots_due) {
        client->slots_node = choose(client);
        client->slots_sent = false;
        client->slots_due = client->now + (client->slots_node ? client->how.connect_ms + ANSWER_MS : ASK_MOST);
    }
    if (client->slots_node && !client->slots_sent) {
        client_connect(client, client->slots_node);
        send_question(client);
    }
    int64_t rest = client->slots_node && client->slots_node->link.state == CONNECTION_CLOSED
                       ? client->slots_node->rests_until
                       : client->slots_due;
    *due = rest < *due ? rest : *due;
    *due = client->slots_due < *due ? client->slots_due : *due;
}

void client_watch_silence(redis_client *client, int64_t *due)
{
    for (size_t i = 0; client->mode == MODE_CLUSTER && i < client->nodes.count; i++) {
        const connection *link = &client->nodes.all[i]->link;
        int64_t last = link->active_at > client->slots_heard ? link->active_at : client->slots_heard;
        bool is_idle = link->state == CONNECTION_CLOSED || (link->state == CONNECTION_READY && link->expects == 0);
        if (is_idle || client->slots_wanted)
            continue;
        if (client->now >= last + ANSWER_MS)
            client->slots_wanted = true;
        else if (last + ANSWER_MS < *due)
            *due = last + ANSWER_MS;
    }
}

/* A node that is silent and not a primary any more will not answer. */
static void lose_silent(redis_client *client)
{
    for (size_t i = 0; i < client->nodes.count; i++) {
        node *each = client->nodes.all[i];
        if (!each->has_slots && each->flights_count > 0 && each->link.state == CONNECTION_READY &&
            client->now - each->link.active_at >= SILENCE_MS) {
            snprintf(each->link.why, sizeof each->link.why, "%s: silent, and another server has its slots",
                     each->link.label);
            client_lose(client, each);
        }
    }
}

/* Jobs in queues of nodes that are not connected find their way anew. */
static void route_again(redis_client *client)
{
    for (size_t i = 0; i < client->nodes.count; i++) {
        node *each = client->nodes.all[i];
        while (each->link.state != CONNECTION_READY && each->queue.first)
            job_append(&client->waiting, job_take(&each->queue));
    }
}

static bool says_single(vidi_str error)
{
    return strstr(error.ptr, "cluster support disabled") || strncmp(error.ptr, "ERR unknown command", 19) == 0;
}

void client_hear_slots(redis_client *client, node *from, const redis_reply *reply)
{
    if (from == client->slots_node)
        forget_question(client);
    if (reply->type == REDIS_ERROR) {
        if (client->mode == MODE_UNKNOWN && says_single(reply->text)) {
            client->mode = MODE_SINGLE;
            client->single = from;
            client->slots_wanted = false;
            return;
        }
        snprintf(client->why, sizeof client->why, "%s: CLUSTER SLOTS is answered %.150s", from->link.label,
                 reply->text.ptr);
        if (fault_of(reply->text) == FAULT_FINAL) {
            client->slots_failed++;
            client->slots_turn++;
        } else {
            client->slots_busy++;
        }
        return;
    }
    if (nodes_take_slots(&client->nodes, reply, from) != VIDI_OK && reply->type != REDIS_ARRAY) {
        snprintf(client->why, sizeof client->why, "%s: CLUSTER SLOTS has an answer of another kind", from->link.label);
        client->slots_failed++;
        return;
    }
    client->mode = MODE_CLUSTER;
    client->slots_wanted = false;
    client->slots_heard = client->now;
    lose_silent(client);
    route_again(client);
}

/* A primary for a command that any of them can execute: one that is connected, or need not rest. */
static node *any_primary(redis_client *client)
{
    nodes *nodes = &client->nodes;
    node *found = NULL;
    for (size_t i = 0; i < nodes->count; i++) {
        node *each = nodes->all[i];
        if (each->has_slots && (!found || fitness(client, each) > fitness(client, found)))
            found = each;
    }
    return found;
}

node *client_route(redis_client *client, const job *job)
{
    if (job->ask)
        return job->ask;
    if (client->mode == MODE_SINGLE)
        return client->single;
    node *to = job->call->slot < 0 ? any_primary(client) : client->nodes.owners[job->call->slot];
    if (!to)
        client_want_slots(client, NULL);
    return to;
}
