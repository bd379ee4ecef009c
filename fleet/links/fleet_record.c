/*
 * The fleet's record {NAME}:fleet, a hash: format, set (the set's id), rules, visit, epoch (of the set in this visit),
 * state, over (only URLs that wait are left), ballot (ending.c). A record of another set of the same name, which was
 * dropped meanwhile, is void.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/links/fleet_inside.h"

/*
 * Keys: record, lives, quiet, figures, the set's record. Arguments: set, rules, epoch, what streams' keys begin with. A
 * process that has slept since its set was dropped does not touch the record of the set that has the name now.
 */
static const char agree_script[] =
    "if redis.call('HGET', KEYS[1], 'set') ~= ARGV[1] then\n"
    "  local record = redis.call('GET', KEYS[5]) or ''\n"
    "  if not string.find(record, '\\nid ' .. ARGV[1] .. '\\n', 1, true) then return {'gone'} end\n"
    "  for _, life in ipairs(redis.call('HKEYS', KEYS[2])) do redis.call('DEL', ARGV[4] .. life) end\n"
    "  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[4])\n"
    "  redis.call('HSET', KEYS[1], 'format', '1', 'set', ARGV[1], 'rules', ARGV[2], 'visit', '1', 'epoch', ARGV[3],\n"
    "             'state', 'running')\n"
    "end\n"
    "return redis.call('HMGET', KEYS[1], 'format', 'rules')";

/* Keys: record. Arguments: from, to. */
static const char state_script[] = "if redis.call('HGET', KEYS[1], 'state') ~= ARGV[1] then return 0 end\n"
                                   "redis.call('HSET', KEYS[1], 'state', ARGV[2])\n"
                                   "redis.call('HDEL', KEYS[1], 'over')\n"
                                   "return 1";

/* ---- rules ---- */

/* The first line in which the two differ, without its end; "nothing" where one of them has ended. */
static void differing_line(const char *a, const char *b, char line_a[128], char line_b[128])
{
    while (*a && *b) {
        size_t length_a = strcspn(a, "\n"), length_b = strcspn(b, "\n");
        if (length_a != length_b || memcmp(a, b, length_a) != 0)
            break;
        a += length_a + (a[length_a] == '\n');
        b += length_b + (b[length_b] == '\n');
    }
    snprintf(line_a, 128, "%.*s", *a ? (int)strcspn(a, "\n") : 7, *a ? a : "nothing");
    snprintf(line_b, 128, "%.*s", *b ? (int)strcspn(b, "\n") : 7, *b ? b : "nothing");
}

static int compare_rules(wire *wire, const redis_reply *theirs, const char *ours)
{
    char line_theirs[128], line_ours[128];

    if (!theirs || theirs->type != REDIS_TEXT)
        return wire_failed(wire, VIDI_EDAMAGED, "the fleet's record has no rules");
    if (reply_text_is(theirs, ours))
        return VIDI_OK;
    char *text = strndup(theirs->text.ptr, theirs->text.len);
    if (!text)
        return wire_failed(wire, VIDI_EMEMORY, "%s", vidi_strerror(VIDI_EMEMORY));
    differing_line(text, ours, line_theirs, line_ours);
    free(text);
    return wire_failed(wire, VIDI_EDIFFERS, "the fleet was begun with \"%s\", and this process has \"%s\"", line_theirs,
                       line_ours);
}

int record_agree(fleet *fleet, wire *wire)
{
    char set[TOKEN], key[WIRE_KEY], streams[WIRE_KEY];
    const redis_reply *reply;
    command c;

    snprintf(set, sizeof set, "%016" PRIx64, fleet->set_id);
    snprintf(key, sizeof key, "{%s}:set", wire->name);
    wire_stream(wire, "", streams);
    command_script(&c, agree_script, 5);
    command_text(&c, wire->record);
    command_text(&c, wire->lives);
    command_text(&c, wire->quiet);
    command_text(&c, wire->figures);
    command_text(&c, key);
    command_text(&c, set);
    command_text(&c, fleet->options.rules);
    command_number(&c, fleet->epoch);
    command_text(&c, streams);
    int error = wire_ask(wire, &c, WIRE_WRITES, &reply);
    if (error)
        return error;
    if (reply_text_is(reply_item(reply, 0), "gone"))
        return wire_failed(wire, VIDI_EABSENT, "the set %s was dropped, and another one has its name", wire->name);
    if (!reply_text_is(reply_item(reply, 0), "1"))
        return wire_failed(wire, VIDI_EFORMAT, "the fleet's record is of a later version of vidi");
    return compare_rules(wire, reply_item(reply, 1), fleet->options.rules);
}

/* ---- state ---- */

int record_change_state(wire *wire, const char *from, const char *to, bool *changed)
{
    const redis_reply *reply;
    command c;

    command_script(&c, state_script, 1);
    command_text(&c, wire->record);
    command_text(&c, from);
    command_text(&c, to);
    int error = wire_ask(wire, &c, WIRE_WRITES, &reply);
    if (changed)
        *changed = error == VIDI_OK && reply->type == REDIS_INTEGER && reply->integer == 1;
    return error;
}

static const char *const state_names[] = {[FLEET_RUNNING] = "running",
                                          [FLEET_PAUSED] = "paused",
                                          [FLEET_STOPPING] = "stopping",
                                          [FLEET_FINISHED] = "finished"};

const char *record_state_name(fleet_state state)
{
    return state_names[state];
}

bool record_state(const redis_reply *reply, fleet_state *state)
{
    for (unsigned i = 0; i < sizeof state_names / sizeof *state_names; i++)
        if (reply_text_is(reply, state_names[i])) {
            *state = (fleet_state)i;
            return true;
        }
    *state = FLEET_FINISHED; /* of the visit before */
    return reply_text_is(reply, "rotating");
}

/* ---- visits ---- */

/*
 * Keys: record, lock. Arguments: number of the visit, whoever asks, milliseconds of the lock. Returns "begun", "early",
 * "wait" (another process is rotating the set), or the epoch of the visit before: it is to be rotated.
 */
static const char begin_script[] =
    "local visit, state = tonumber(redis.call('HGET', KEYS[1], 'visit')), redis.call('HGET', KEYS[1], 'state')\n"
    "if visit >= tonumber(ARGV[1]) then return 'begun' end\n"
    "if visit + 1 < tonumber(ARGV[1]) or (state ~= 'finished' and state ~= 'rotating') then return 'early' end\n"
    "if redis.call('GET', KEYS[2]) ~= ARGV[2] and not redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[3]) then\n"
    "  return 'wait'\n"
    "end\n"
    "redis.call('HSET', KEYS[1], 'state', 'rotating')\n"
    "return redis.call('HGET', KEYS[1], 'epoch')";

/* Keys: record, lock. Arguments: whoever asks, number of the visit, its epoch; both are empty if it has failed. */
static const char begun_script[] =
    "if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end\n"
    "redis.call('DEL', KEYS[2])\n"
    "if ARGV[2] == '' then\n"
    "  redis.call('HSET', KEYS[1], 'state', 'finished')\n"
    "else\n"
    "  redis.call('HSET', KEYS[1], 'state', 'running', 'visit', ARGV[2], 'epoch', ARGV[3])\n"
    "  redis.call('HDEL', KEYS[1], 'over')\n"
    "end\n"
    "return 1";

enum { LOCK_MS = 60000 };

static void lock_key(const wire *wire, char key[WIRE_KEY])
{
    snprintf(key, WIRE_KEY, "{%s}:rotating", wire->name);
}

static int ask_to_begin(fleet *fleet, uint64_t number, char answer[32])
{
    wire *wire = &fleet->storage;
    const redis_reply *reply;
    char key[WIRE_KEY];
    command c;

    lock_key(wire, key);
    command_script(&c, begin_script, 2);
    command_text(&c, wire->record);
    command_text(&c, key);
    command_number(&c, number);
    command_text(&c, fleet->life);
    command_number(&c, LOCK_MS);
    int error = wire_ask(wire, &c, WIRE_WRITES, &reply);
    if (error == VIDI_OK && !reply_copy(reply, answer, 32))
        error = wire_failed(wire, VIDI_EDAMAGED, "the fleet's record is damaged");
    return error;
}

/* The set's epoch follows the visit's, unless a process died after it had rotated the set. */
static int rotate_set(fleet *fleet, uint64_t epoch, uint64_t *next)
{
    wire *wire = &fleet->storage;
    vidi_stats set = {.size = sizeof set};
    int error = vidi_cluster_stat(wire->cluster, &set, NULL);

    if (error == VIDI_OK && set.epoch <= epoch)
        error = vidi_cluster_rotate(wire->cluster, NULL, false);
    *next = epoch + 1;
    if (error == VIDI_EBUSY)
        return wire_failed(wire, VIDI_EBUSY, "%s", vidi_cluster_message());
    return error ? wire_set_failed(wire, error) : VIDI_OK;
}

static int note_begun(fleet *fleet, uint64_t number, uint64_t epoch, bool failed)
{
    wire *wire = &fleet->storage;
    char key[WIRE_KEY];
    command c;

    lock_key(wire, key);
    command_script(&c, begun_script, 2);
    command_text(&c, wire->record);
    command_text(&c, key);
    command_text(&c, fleet->life);
    if (failed)
        command_text(&c, "");
    else
        command_number(&c, number);
    command_number(&c, epoch);
    return wire_ask(wire, &c, WIRE_WRITES, NULL);
}

static int begin_visit(fleet *fleet, uint64_t number, bool *wait)
{
    char answer[32];
    uint64_t next = 0;
    int error = ask_to_begin(fleet, number, answer);

    *wait = error == VIDI_OK && strcmp(answer, "wait") == 0;
    if (error || *wait || strcmp(answer, "begun") == 0)
        return error;
    if (strcmp(answer, "early") == 0)
        return wire_failed(&fleet->storage, VIDI_EBUSY, "visit %" PRIu64 " is not finished", number - 1);
    error = rotate_set(fleet, strtoull(answer, NULL, 10), &next);
    if (error && error != VIDI_EBUSY)
        return error; /* somebody tries again when the lock's time is over */
    int failed = note_begun(fleet, number, next, error != VIDI_OK);
    return error ? error : failed;
}

int fleet_begin_visit(fleet *fleet, uint64_t number)
{
    patience patience = wire_patience(&fleet->storage);
    bool wait = false;
    int error;

    do
        error = begin_visit(fleet, number, &wait);
    while (wire_try_again(&fleet->storage, &patience, wait ? VIDI_EIO : error) && (!wait || fleet_pause(fleet, 100)));
    if (error == VIDI_OK && wait)
        return wire_failed(&fleet->storage, VIDI_EIO, "another process of the fleet is still beginning the visit");
    if (error)
        return error;
    pthread_mutex_lock(&fleet->lock);
    fleet->visit = number > fleet->visit ? number : fleet->visit;
    fleet->state = fleet->state == FLEET_FINISHED ? FLEET_RUNNING : fleet->state;
    fleet->over = false;
    pthread_mutex_unlock(&fleet->lock);
    return VIDI_OK;
}

int record_is(wire *wire, const char *state, bool *is)
{
    const redis_reply *reply;
    command c;

    command_begin(&c, "HGET");
    command_text(&c, wire->record);
    command_text(&c, "state");
    int error = wire_ask(wire, &c, WIRE_READS, &reply);
    *is = error == VIDI_OK && reply_text_is(reply, state);
    return error;
}
