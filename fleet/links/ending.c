/*
 * Finding out that the crawl is over.
 *
 * Work that is left is always visible as a claim (a page in a frontier, in hand, or swept; a page whose links are being
 * sent, which is committed last) or as an entry in a stream. But claims and streams cannot be looked at in one moment,
 * and work moves: a page that is claimed in a shard that was not counted yet becomes a link in a stream that was. So one
 * of the members
 *
 *   1. publishes a random number, the ballot, and waits until every member of the table has answered it. A member
 *      answers when it has nothing to do and nothing is moving in it, with the count of all its moves so far;
 *   2. looks: it counts the claims of all shards; all lives in the registry are members, and their streams are empty; it
 *      counts the claims once more;
 *   3. publishes a second ballot. If each member answers with the count of moves that it had at the first one, and the
 *      table is the same, then no member has moved anything between its two answers, so nothing moved while this one
 *      was looking, and what it saw was the whole at one moment.
 *
 * Who is no member may move things, too: one that was asleep until it was buried, and wakes up in the middle of a batch.
 * It cannot fetch any more, so all that it can do is to send the links of a page, as an entry or a claim, and then commit
 * the page, if nobody has taken that over yet. If the page was committed before the first count came to its shard, then
 * its links are visible when the streams are looked at, or in the second count, unless a member has moved them since.
 *
 * A member that joins later, or a page that is found after all, starts the crawl again: heart.c.
 *
 * No claims: the visit is finished. No more claims than URLs that wait for another run: the fleet stops.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/links/fleet_inside.h"

enum { ANSWER = 96, PATIENCE_BEATS = 30 };

/* Keys: record. Arguments: ballot, state, whether URLs are left. */
static const char end_script[] = "if redis.call('HGET', KEYS[1], 'ballot') ~= ARGV[1] then return 0 end\n"
                                 "if redis.call('HGET', KEYS[1], 'state') ~= 'running' then return 0 end\n"
                                 "redis.call('HSET', KEYS[1], 'state', ARGV[2], 'over', ARGV[3])\n"
                                 "return 1";

/* Answers to a ballot: of each member, in the order of the table, what comes after the ballot's number. */
typedef struct answers {
    char (*list)[ANSWER];
    char (*names)[FLEET_NAME];
    size_t count;
    uint64_t version, kept;
} answers;

static void answers_free(answers *a)
{
    free(a->list);
    free(a->names);
    *a = (answers){0};
}

/* ---- ballots ---- */

static int publish(wire *wire, char ballot[TOKEN])
{
    command c;
    int error = life_draw(ballot);

    command_begin(&c, "HSET");
    command_text(&c, wire->record);
    command_text(&c, "ballot");
    command_text(&c, ballot);
    return error ? error : wire_ask(wire, &c, WIRE_WRITES, NULL);
}

/* The answer of a member, if it is one to this ballot. */
static bool find_answer(const redis_reply *all, const char *name, const char *ballot, char answer[ANSWER])
{
    char text[ANSWER];
    size_t length = strlen(ballot);

    for (size_t i = 0; i + 1 < all->count; i += 2)
        if (reply_text_is(&all->items[i], name) && reply_copy(&all->items[i + 1], text, sizeof text) &&
            strncmp(text, ballot, length) == 0 && text[length] == ' ') {
            memcpy(answer, text + length + 1, strlen(text + length + 1) + 1);
            return true;
        }
    return false;
}

/* Copies the names of the table. */
static int note_members(fleet *fleet, answers *a)
{
    pthread_mutex_lock(&fleet->lock);
    a->version = fleet->table.version;
    a->count = fleet->table.count;
    a->names = calloc(a->count + 1, sizeof *a->names);
    a->list = calloc(a->count + 1, sizeof *a->list);
    for (size_t i = 0; a->names && i < a->count; i++)
        memcpy(a->names[i], fleet->table.rows[i].name, sizeof *a->names);
    pthread_mutex_unlock(&fleet->lock);
    return a->names && a->list ? VIDI_OK : VIDI_EMEMORY;
}

/* *all: every member of a table that was fetched after the ballot was published has answered it. */
static int read_answers(fleet *fleet, wire *wire, const char *ballot, answers *a, bool *all)
{
    const redis_reply *reply = NULL;
    command c;
    int error = note_members(fleet, a);

    command_begin(&c, "HGETALL");
    command_text(&c, wire->quiet);
    if (error == VIDI_OK)
        error = wire_ask(wire, &c, WIRE_READS, &reply);
    *all = error == VIDI_OK && reply && reply->type == REDIS_ARRAY && a->count > 0;
    for (size_t i = 0; i < a->count && *all; i++) {
        *all = find_answer(reply, a->names[i], ballot, a->list[i]);
        const char *kept = strchr(a->list[i], ' ');
        a->kept += *all && kept ? strtoull(kept, NULL, 10) : 0;
    }
    return error;
}

static int vote(fleet *fleet, wire *wire, char ballot[TOKEN], answers *a, bool *all)
{
    int error = publish(wire, ballot);

    *all = false;
    for (int i = 0; error == VIDI_OK && !*all && i < PATIENCE_BEATS && fleet_beat_and_wait(fleet); i++) {
        answers_free(a);
        error = read_answers(fleet, wire, ballot, a, all);
        if (error == VIDI_OK && !*all && !fleet_pause(fleet, fleet->options.beat_ms))
            break;
    }
    return error;
}

static bool same_answers(const answers *a, const answers *b)
{
    bool same = a->version == b->version && a->count == b->count;

    for (size_t i = 0; i < a->count && same; i++)
        same = strcmp(a->names[i], b->names[i]) == 0 && strcmp(a->list[i], b->list[i]) == 0;
    return same;
}

/* ---- looking ---- */

static bool has_name(const answers *a, const char *name)
{
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->names[i], name) == 0)
            return true;
    return false;
}

/* *empty: the lives are the members, and nothing is in their streams. */
static int look_at_streams(wire *wire, const answers *members, bool *empty)
{
    registry all = {0};
    int error = registry_read(wire, &all);

    *empty = error == VIDI_OK && all.count == members->count;
    for (size_t i = 0; i < all.count && *empty && error == VIDI_OK; i++) {
        char key[WIRE_KEY];
        const redis_reply *reply;
        command c;
        wire_stream(wire, all.list[i].name, key);
        command_begin(&c, "XLEN");
        command_text(&c, key);
        error = wire_ask(wire, &c, WIRE_READS, &reply);
        *empty = error == VIDI_OK && has_name(members, all.list[i].name) && reply->type == REDIS_INTEGER &&
                 reply->integer == 0;
    }
    registry_free(&all);
    return error;
}

static int count_claims(wire *wire, uint64_t *claims)
{
    vidi_stats set = {.size = sizeof set};
    vidi_cluster_stats more = {.size = sizeof more};
    int error = vidi_cluster_stat(wire->cluster, &set, &more);

    *claims = more.claims;
    return error ? wire_set_failed(wire, error) : VIDI_OK;
}

/* ---- the whole ---- */

static int end(wire *wire, const char *ballot, bool finished)
{
    command c;

    command_script(&c, end_script, 1);
    command_text(&c, wire->record);
    command_text(&c, ballot);
    command_text(&c, finished ? "finished" : "stopping");
    command_text(&c, finished ? "done" : "waiting");
    return wire_ask(wire, &c, WIRE_WRITES, NULL);
}

/* *claims: of both counts, the greater one. */
static int look(wire *wire, const answers *members, bool *empty, uint64_t *claims)
{
    uint64_t first = 0, second = 0;
    int error = count_claims(wire, &first);

    *empty = first <= members->kept;
    if (error == VIDI_OK && *empty)
        error = look_at_streams(wire, members, empty);
    if (error == VIDI_OK && *empty)
        error = count_claims(wire, &second);
    *claims = first > second ? first : second;
    *empty = *empty && second <= members->kept;
    return error;
}

static int look_between(fleet *fleet, wire *wire, answers *before, answers *after)
{
    char ballot[TOKEN];
    bool goes_on;
    uint64_t claims = 0;
    int error = vote(fleet, wire, ballot, before, &goes_on);

    if (error == VIDI_OK && goes_on)
        error = look(wire, before, &goes_on, &claims);
    if (error == VIDI_OK && goes_on)
        error = vote(fleet, wire, ballot, after, &goes_on);
    if (error || !goes_on || !same_answers(before, after))
        return error;
    return end(wire, ballot, claims == 0);
}

int ending_look(fleet *fleet, wire *wire)
{
    answers before = {0}, after = {0};
    int error = VIDI_OK;

    if (fleet_seems_idle(fleet) && fleet_has_duty(fleet, "end"))
        error = look_between(fleet, wire, &before, &after);
    answers_free(&before);
    answers_free(&after);
    return error;
}
