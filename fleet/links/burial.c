/*
 * What dead members have left.
 *
 * A life that is in the registry, and not in a table that was fetched later, is gone. One of the others buries it: it
 * marks the hand as dead, unless a later life has it (life.c), gives up the hand's claims in all shards, hands what is in
 * the stream to the owners of the links, and removes stream and registration in one step, if the stream is still empty.
 * Each step may be done twice, by two members at once, and the burial may break off anywhere: the registration stays
 * until all is done.
 *
 * Links in the stream may have been claimed by the dead one before it died, so they go on with its hand as holder.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/links/parcels.h"

/* Keys: lives. Arguments: life, its value. Returns the hand whose claims are to be given up, or an empty text. */
static const char mark_script[] = "if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return '' end\n"
                                  "local hand = string.gsub(string.gsub(ARGV[2], '^stopped ', ''), '^dead ', '')\n"
                                  "local all = redis.call('HGETALL', KEYS[1])\n"
                                  "for i = 1, #all, 2 do\n"
                                  "  local its = string.gsub(all[i + 1], '^stopped ', '')\n"
                                  "  if all[i] ~= ARGV[1] and its == hand then\n"
                                  "    redis.call('HSET', KEYS[1], ARGV[1], '')\n"
                                  "    return ''\n"
                                  "  end\n"
                                  "end\n"
                                  "redis.call('HSET', KEYS[1], ARGV[1], 'dead ' .. hand)\n"
                                  "return hand";

/* Keys: stream, lives, quiet, figures. Arguments: life. */
static const char remove_script[] =
    "if redis.call('XLEN', KEYS[1]) > 0 then return 0 end\n"
    "redis.call('DEL', KEYS[1])\n"
    "redis.call('HDEL', KEYS[2], ARGV[1])\n"
    "redis.call('HDEL', KEYS[3], ARGV[1])\n"
    "local its = redis.call('HGET', KEYS[4], ARGV[1])\n"
    "if its then\n"
    "  local sums, i = {}, 0\n"
    "  for n in string.gmatch(redis.call('HGET', KEYS[4], 'gone') or '', '%d+') do sums[#sums + 1] = tonumber(n) end\n"
    "  for n in string.gmatch(its, '%d+') do i = i + 1; sums[i] = (sums[i] or 0) + tonumber(n) end\n"
    "  for k = 1, #sums do sums[k] = string.format('%.0f', sums[k]) end\n"
    "  redis.call('HSET', KEYS[4], 'gone', table.concat(sums, ' '))\n"
    "  redis.call('HDEL', KEYS[4], ARGV[1])\n"
    "end\n"
    "return 1";

/* ---- a stream ---- */

typedef struct forwarding {
    bytes text; /* the entries: replies do not stay */
    size_t ends[STREAM_PIECE];
    char ids[STREAM_PIECE][48];
    size_t count, links, bad;
    parcels parcels;
} forwarding;

static int read_stream(forwarding *f, wire *wire, const char *key)
{
    const redis_reply *reply;
    command c;

    command_begin(&c, "XRANGE");
    command_text(&c, key);
    command_text(&c, "-");
    command_text(&c, "+");
    command_text(&c, "COUNT");
    command_number(&c, STREAM_PIECE);
    int error = wire_ask(wire, &c, WIRE_READS, &reply);
    for (size_t i = 0; error == VIDI_OK && i < reply->count && f->count < STREAM_PIECE; i++) {
        const redis_reply *row = reply_item(reply, i), *value = reply_item(reply_item(row, 1), 1);
        if (!reply_copy(reply_item(row, 0), f->ids[f->count], sizeof *f->ids))
            return wire_failed(wire, VIDI_EIO, "the server's stream cannot be read");
        if (value && value->type == REDIS_TEXT && bytes_append(&f->text, value->text.ptr, value->text.len))
            return VIDI_EMEMORY;
        f->ends[f->count++] = f->text.len;
    }
    return error;
}

static int pack_entry(forwarding *f, const fleet *fleet, vidi_str entry, const char *life, vidi_str holder)
{
    entry_reader reader;
    vidi_str url, payload;
    char owner[FLEET_NAME];
    int error = entry_open(&reader, entry) ? VIDI_OK : VIDI_EDAMAGED;

    while (error == VIDI_OK && (error = entry_next(&reader, &url, &payload)) == VIDI_OK) {
        fleet_owner(fleet, fleet_site(fleet, url), owner);
        if (strcmp(owner, life) == 0)
            return VIDI_ECANNOT;
        error = parcels_add(&f->parcels, owner, reader.holder.len ? reader.holder : holder, url, payload, 0);
        f->links++;
    }
    f->bad += error == VIDI_EDAMAGED;
    return error == VIDI_EDAMAGED || error == VIDI_EABSENT ? VIDI_OK : error;
}

static int remove_entries(const forwarding *f, wire *wire, const char *key)
{
    command c;

    command_begin(&c, "XDEL");
    command_text(&c, key);
    for (size_t i = 0; i < f->count; i++)
        command_text(&c, f->ids[i]);
    return wire_ask(wire, &c, WIRE_READS, NULL);
}

static int forward_piece(forwarding *f, fleet *fleet, wire *wire, const char *life, vidi_str holder)
{
    char key[WIRE_KEY];

    wire_stream(wire, life, key);
    int error = read_stream(f, wire, key);

    if (error || f->count == 0)
        return error;
    fleet_moves(fleet, false);
    for (size_t i = 0; i < f->count && error == VIDI_OK; i++) {
        size_t begin = i ? f->ends[i - 1] : 0;
        error = pack_entry(f, fleet, (vidi_str){f->text.ptr + begin, f->ends[i] - begin}, life, holder);
    }
    if (error == VIDI_OK)
        error = parcels_send(&f->parcels, fleet, wire, 0, NULL);
    return error ? error : remove_entries(f, wire, key);
}

int burial_forward(fleet *fleet, wire *wire, const char *life, vidi_str holder)
{
    size_t count = 1;
    int error = VIDI_OK;

    while (error == VIDI_OK && count > 0) {
        forwarding *f = calloc(1, sizeof *f);
        if (!f)
            return VIDI_EMEMORY;
        error = forward_piece(f, fleet, wire, life, holder);
        count = f->count;
        atomic_fetch_add(&fleet->counts.forwarded, error ? 0 : f->links);
        atomic_fetch_add(&fleet->counts.bad, f->bad);
        if (f->bad > 0)
            fleet_warn(fleet, "%zu entries in the stream of %s are damaged and were removed", f->bad, life);
        parcels_free(&f->parcels);
        bytes_free(&f->text);
        free(f);
    }
    return error;
}

/* ---- a burial ---- */

static int give_up_claims(wire *wire, const char *hand)
{
    char sweeper[ENTRY_HOLDER + 8];

    snprintf(sweeper, sizeof sweeper, "sweep:%s", hand);
    int error = vidi_cluster_abandon(wire->cluster, hand, NULL);
    if (error == VIDI_OK)
        error = vidi_cluster_abandon(wire->cluster, sweeper, NULL);
    return error ? wire_set_failed(wire, error) : VIDI_OK;
}

static int mark(wire *wire, const registered *life, char hand[FLEET_NAME])
{
    const redis_reply *reply;
    command c;

    command_script(&c, mark_script, 1);
    command_text(&c, wire->lives);
    command_text(&c, life->name);
    command_text(&c, life->value);
    int error = wire_ask(wire, &c, WIRE_WRITES, &reply);
    if (error == VIDI_OK && !reply_copy(reply, hand, FLEET_NAME))
        error = wire_failed(wire, VIDI_EDAMAGED, "the registry of the fleet is damaged");
    return error;
}

int burial_remove(wire *wire, const char *life)
{
    char key[WIRE_KEY];
    command c;

    wire_stream(wire, life, key);
    command_script(&c, remove_script, 4);
    command_text(&c, key);
    command_text(&c, wire->lives);
    command_text(&c, wire->quiet);
    command_text(&c, wire->figures);
    command_text(&c, life);
    return wire_ask(wire, &c, WIRE_WRITES, NULL);
}

/* Links go on with the hand as holder: one that is dead, or one that a later life has and may have claimed them. */
static int bury(fleet *fleet, wire *wire, const registered *life)
{
    const char *space = strrchr(life->value, ' ');
    char hand[FLEET_NAME], holder[ENTRY_HOLDER + 2] = "";
    int error = mark(wire, life, hand);

    if (error == VIDI_OK && *hand)
        error = give_up_claims(wire, hand);
    if (*life->value)
        snprintf(holder, sizeof holder, "%s%s", *hand ? "" : ENTRY_MAYBE, space ? space + 1 : life->value);
    if (error == VIDI_OK)
        error = burial_forward(fleet, wire, life->name, (vidi_str){holder, strlen(holder)});
    return error ? error : burial_remove(wire, life->name);
}

/* ---- who is to be buried ---- */

static bool hand_lives_on(const registry *all, size_t index)
{
    const char *hand = all->list[index].value + strlen("stopped ");

    for (size_t i = 0; i < all->count; i++)
        if (i != index && strcmp(all->list[i].value, hand) == 0)
            return true;
    return false;
}

static bool returns(const registered *life)
{
    return strncmp(life->value, "stopped ", strlen("stopped ")) == 0;
}

/* Since when this process knows that a life has left and returns. */
static void note_seen(const fleet *fleet, registry *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (!returns(&all->list[i]))
            continue;
        all->list[i].seen = fleet_now();
        for (size_t k = 0; k < fleet->stopped.count; k++)
            if (returns(&fleet->stopped.list[k]) && strcmp(fleet->stopped.list[k].name, all->list[i].name) == 0)
                all->list[i].seen = fleet->stopped.list[k].seen;
    }
}

/* A life that returns is left alone for the lease of its claims. */
static bool is_due(const fleet *fleet, const registry *all, size_t index)
{
    const registered *life = &all->list[index];

    return !returns(life) || hand_lives_on(all, index) || fleet_now() - life->seen >= fleet->options.access.lease_ms;
}

static bool should_bury(fleet *fleet, const registry *all, size_t index)
{
    char duty[FLEET_NAME + 8];

    snprintf(duty, sizeof duty, "life %s", all->list[index].name);
    return !fleet_has_row(fleet, all->list[index].name) && is_due(fleet, all, index) && fleet_has_duty(fleet, duty);
}

static int bury_all(fleet *fleet, wire *wire, const registry *all)
{
    int error = VIDI_OK;

    fleet_moving_begin(fleet);
    for (size_t i = 0; i < all->count && error == VIDI_OK; i++)
        if (should_bury(fleet, all, i))
            error = bury(fleet, wire, &all->list[i]);
    fleet_moving_end(fleet);
    return error;
}

static bool has_strangers(fleet *fleet, const registry *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (!fleet_has_row(fleet, all->list[i].name))
            return true;
    return false;
}

int burial_look(fleet *fleet, wire *wire)
{
    registry all = {0};
    int error = registry_read(wire, &all);

    note_seen(fleet, &all);
    /* Only a table that is newer than the registry's list says who is gone. */
    if (error == VIDI_OK && has_strangers(fleet, &all) && fleet_beat_and_wait(fleet))
        error = bury_all(fleet, wire, &all);
    registry_free(error ? &all : &fleet->stopped);
    if (error == VIDI_OK)
        fleet->stopped = all;
    return error;
}
