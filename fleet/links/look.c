/*
 * A fleet from outside: figures for people, and the orders to pause, stop and go on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/links/fleet_inside.h"
#include "fleet/members/heartbeat.h"

static int open_outside(wire *wire, const char *address, const vidi_cluster_access *access, bool with_set, char *why)
{
    static const vidi_cluster_access plain = VIDI_CLUSTER_ACCESS_INIT;
    int error = wire_open(wire, address, access ? access : &plain, with_set);

    if (error) {
        memcpy(why, wire->why, FLEET_WHY);
        wire_close(wire);
    }
    return error;
}

/* ---- members ---- */

/* "sent taken forwarded done repeated bad" */
static void read_tally(const redis_reply *reply, fleet_member *member)
{
    uint64_t *const numbers[] = {&member->sent, &member->taken, &member->forwarded, &member->done, &member->repeated};
    char text[160], *at = text;

    if (!reply_copy(reply, text, sizeof text))
        return;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = strtoull(at, &at, 10);
}

static int read_member(wire *wire, fleet_member *member)
{
    char key[WIRE_KEY];
    command length, figures;

    wire_stream(wire, member->name, key);
    command_begin(&length, "XLEN");
    command_text(&length, key);
    command_begin(&figures, "HGET");
    command_text(&figures, wire->figures);
    command_text(&figures, member->name);
    redis_call calls[] = {wire_call(wire, &length, WIRE_READS), wire_call(wire, &figures, WIRE_READS)};
    int error = wire_run(wire, calls, 2);
    if (error)
        return error;
    member->waiting = calls[0].reply->type == REDIS_INTEGER ? (uint64_t)calls[0].reply->integer : 0;
    read_tally(calls[1].reply, member);
    return VIDI_OK;
}

static fleet_member *find_member(fleet_figures *figures, const char *name)
{
    for (size_t i = 0; i < figures->member_count; i++)
        if (strcmp(figures->members[i].name, name) == 0)
            return &figures->members[i];
    return NULL;
}

/* Members of the table, and lives that are not in it. */
static int list_members(fleet_figures *figures, const member_table *table, const registry *lives)
{
    figures->members = calloc(table->count + lives->count + 1, sizeof *figures->members);
    if (!figures->members)
        return VIDI_EMEMORY;
    for (size_t i = 0; i < table->count; i++) {
        const member *row = &table->rows[i];
        fleet_member *to = &figures->members[figures->member_count++];
        *to = (fleet_member){.idle = row->idle, .leaving = row->leaving, .adopted = row->adopted};
        memcpy(to->name, row->name, sizeof to->name);
    }
    for (size_t i = 0; i < lives->count; i++) {
        if (find_member(figures, lives->list[i].name))
            continue;
        fleet_member *to = &figures->members[figures->member_count++];
        to->dead = true;
        memcpy(to->name, lives->list[i].name, sizeof to->name);
    }
    return VIDI_OK;
}

static int read_members(wire *wire, fleet_figures *figures)
{
    member_table table = {0};
    registry lives = {0};
    int error = registry_read(wire, &lives);

    if (error == VIDI_OK) {
        error = heartbeat_look(wire->client, wire->name, &table);
        if (error)
            wire_failed(wire, error, "%s", redis_why(wire->client));
    }
    figures->version = table.version;
    if (error == VIDI_OK)
        error = list_members(figures, &table, &lives);
    for (size_t i = 0; i < figures->member_count && error == VIDI_OK; i++)
        error = read_member(wire, &figures->members[i]);
    fleet_member gone = {.name = "gone"};
    if (error == VIDI_OK)
        error = read_member(wire, &gone);
    figures->gone = gone;
    member_table_free(&table);
    registry_free(&lives);
    return error;
}

/* ---- the whole ---- */

static int read_record(wire *wire, fleet_figures *figures)
{
    const redis_reply *reply;
    char visit[24] = "0";
    command c;

    command_begin(&c, "HMGET");
    command_text(&c, wire->record);
    command_text(&c, "state");
    command_text(&c, "visit");
    int error = wire_ask(wire, &c, WIRE_READS, &reply);
    if (error)
        return error;
    if (!record_state(reply_item(reply, 0), &figures->state))
        return wire_failed(wire, VIDI_EABSENT, "no fleet has crawled with this set");
    (void)reply_copy(reply_item(reply, 1), visit, sizeof visit);
    figures->visit = strtoull(visit, NULL, 10);
    return VIDI_OK;
}

int fleet_look(const char *address, const vidi_cluster_access *access, fleet_figures *figures, char *why)
{
    wire wire = {0};

    *figures = (fleet_figures){.set = {.size = sizeof figures->set}, .cluster = {.size = sizeof figures->cluster}};
    int error = open_outside(&wire, address, access, true, why);
    if (error)
        return error;
    error = read_record(&wire, figures);
    if (error == VIDI_OK)
        error = read_members(&wire, figures);
    if (error == VIDI_OK && vidi_cluster_stat(wire.cluster, &figures->set, &figures->cluster) != VIDI_OK)
        error = wire_set_failed(&wire, VIDI_EIO);
    if (error)
        memcpy(why, wire.why, FLEET_WHY);
    wire_close(&wire);
    return error;
}

void fleet_figures_free(fleet_figures *figures)
{
    free(figures->members);
    figures->members = NULL;
    figures->member_count = 0;
}

/* ---- orders ---- */

/* Keys: record. Arguments: state. A fleet that is finished or between two visits stays as it is. */
static const char order_script[] = "local state = redis.call('HGET', KEYS[1], 'state')\n"
                                   "if not state then return -1 end\n"
                                   "if state == 'finished' or state == 'rotating' then return 0 end\n"
                                   "redis.call('HSET', KEYS[1], 'state', ARGV[1])\n"
                                   "redis.call('HDEL', KEYS[1], 'over')\n"
                                   "return 1";

int fleet_set_state(const char *address, const vidi_cluster_access *access, fleet_state state, char *why)
{
    wire wire = {0};
    const redis_reply *reply;
    command c;

    if (state == FLEET_FINISHED) {
        snprintf(why, FLEET_WHY, "a fleet is finished when everything is fetched");
        return VIDI_EARGUMENT;
    }
    int error = open_outside(&wire, address, access, false, why);
    if (error)
        return error;
    command_script(&c, order_script, 1);
    command_text(&c, wire.record);
    command_text(&c, record_state_name(state));
    error = wire_ask(&wire, &c, WIRE_WRITES, &reply);
    if (error == VIDI_OK && reply->type == REDIS_INTEGER && reply->integer < 0)
        error = wire_failed(&wire, VIDI_EABSENT, "no fleet has crawled with this set");
    if (error)
        memcpy(why, wire.why, FLEET_WHY);
    wire_close(&wire);
    return error;
}
