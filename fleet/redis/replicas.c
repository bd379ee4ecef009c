/*
 * What replicas have: WAIT at the end of a node's pipeline, on the same connection.
 *
 * WAIT looks at what its own connection has written. A write that was sent again on a new connection may change nothing
 * there, because it was executed the first time, and then WAIT would be content with anything. So after such writes the
 * primary's replication offset is read once, after them, and replicas must have reached it, too.
 *
 * An answer that falls short is no reason to write again; the question is asked again. But if another server has the slots
 * by now, what this one was told may be lost, and is sent there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/redis/client.h"

enum { WAIT_MS = 1000 }; /* how long a server waits for its replicas before it says how many there are */

bool client_must_reach(const redis_client *client, const job *job)
{
    return job->call->writes && client->wait_replicas > 0;
}

int client_ask_replicas(redis_client *client, node *node)
{
    static const vidi_str info[] = {{"INFO", 4}, {"replication", 11}};
    char replicas[16], time[24];
    int64_t ms = client->how.reply_ms / 2 < WAIT_MS ? client->how.reply_ms / 2 + 1 : WAIT_MS;
    vidi_str words[] = {{"WAIT", 4}, {replicas, 0}, {time, 0}};

    if (!node->writing.is_new || node->writing.has_asked)
        return VIDI_OK;
    words[1].len = (size_t)snprintf(replicas, sizeof replicas, "%" PRIu32, client->wait_replicas);
    words[2].len = (size_t)snprintf(time, sizeof time, "%" PRId64, ms);
    if (node_put(node, FLIGHT_WAIT, NULL, words, 3, client->now))
        return VIDI_EMEMORY;
    node->writing.is_new = false;
    node->writing.has_asked = true;
    return node->writing.has_again ? node_put(node, FLIGHT_OFFSETS, NULL, info, 2, client->now) : VIDI_OK;
}

/* ---- answers ---- */

/* Those whose slot another server has now. */
static void leave_behind(redis_client *client, node *from, const char *why)
{
    job_list answered = from->answered;
    job *each;
    from->answered = (job_list){0};
    while ((each = job_take(&answered))) {
        int slot = each->call->slot;
        if (client->mode == MODE_CLUSTER && slot >= 0 && client->nodes.owners[slot] != from)
            client_send_again(client, each, why);
        else
            job_append(&from->answered, each);
    }
}

/* Too few replicas have what was written. The question is asked again, while there is patience. */
static void fall_short(redis_client *client, node *from, const char *why)
{
    client_want_slots(client, from);
    leave_behind(client, from, why);
    from->writing.is_new = from->writing.is_new || from->answered.first;
    for (job *each = from->answered.first; each; each = each->next) {
        each->trouble = each->trouble ? each->trouble : client->now;
        if (client->error || client->now - each->trouble >= client->patience_ms) {
            client_give_up(client, &from->answered);
            client_fail(client, VIDI_EBUSY, why);
            return;
        }
    }
}

/* Replicas have everything whose reply has come. */
static void reached(redis_client *client, node *from)
{
    job *each;
    while ((each = job_take(&from->answered)))
        client_finish(client, each, each->reply);
    if (!from->writing.is_new)
        from->writing = (writing){0};
}

bool client_hear_wait(redis_client *client, node *from, const redis_reply *reply)
{
    char why[REDIS_WHY];
    writing *writing = &from->writing;
    bool asks_offsets = from->flights_count > 0 && from->flights[from->flights_first].kind == FLIGHT_OFFSETS;

    if (reply->type != REDIS_INTEGER) {
        snprintf(from->link.why, sizeof from->link.why, "%s: WAIT is answered %.150s", from->link.label,
                 reply->type == REDIS_ERROR ? reply->text.ptr : "with a reply of another kind");
        client_lose(client, from);
        return false;
    }
    writing->is_reached = reply->integer >= (int64_t)client->wait_replicas;
    writing->has_asked = asks_offsets;
    if (asks_offsets)
        return true; /* that answer decides */
    snprintf(why, sizeof why, "%s: %" PRId64 " of %" PRIu32 " replicas have what was written", from->link.label,
             reply->integer, client->wait_replicas);
    if (writing->is_reached && !writing->has_again)
        reached(client, from);
    else
        fall_short(client, from, why);
    return true;
}

/* The number after a name in a text of INFO; negative: it is not there. */
static int64_t number_after(const char *text, const char *name)
{
    const char *found = text ? strstr(text, name) : NULL;
    return found ? strtoll(found + strlen(name), NULL, 10) : -1;
}

/* How many replicas have reached the offset, by lines such as "slave0:ip=...,port=...,state=online,offset=9,lag=0". */
static uint32_t count_reached(const char *text, int64_t offset)
{
    uint32_t count = 0;
    for (const char *line = strstr(text, "\nslave"); line; line = strstr(line + 1, "\nslave")) {
        const char *online = strstr(line + 1, "state=online,"), *end = strchr(line + 1, '\n');
        if (online && end && online < end)
            count += number_after(online, "offset=") >= offset;
    }
    return count;
}

void client_hear_offsets(redis_client *client, node *from, const redis_reply *reply)
{
    char why[REDIS_WHY];
    writing *writing = &from->writing;
    const char *text = reply->type == REDIS_TEXT ? reply->text.ptr : NULL;
    int64_t now = number_after(text, "\nmaster_repl_offset:");

    writing->has_asked = false;
    if (writing->offset < 0)
        writing->offset = now;
    bool may_not_ask = now < 0 || writing->offset < 0;
    if (writing->is_reached && (may_not_ask || count_reached(text, writing->offset) >= client->wait_replicas)) {
        reached(client, from);
        return;
    }
    snprintf(why, sizeof why, "%s: not yet %" PRIu32 " replicas have what was written", from->link.label,
             client->wait_replicas);
    fall_short(client, from, why);
}
