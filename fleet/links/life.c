/*
 * Lives and hands.
 *
 * The registry {NAME}:lives is a hash: for each life whose stream and claims are not dealt with, its hand. A value is
 *
 *     HAND           alive, or it died and nobody has begun to bury it
 *     stopped HAND   it has left, and returns: it is buried when the lease of its claims is over
 *     dead HAND      it is being buried, and its hand can not be taken over any more
 *     (empty)        its hand went to a later life, or links came for it after it was buried
 *
 * A new life of a folder takes over the hand of an earlier one if that is not dead, in one step with the registration.
 * Marking it as dead is one step, too, and does not happen if another life has the hand. So claims of a hand are given
 * up only when no life has it. A life joins the table first and the registry then, so whoever finds a life in the
 * registry, and not in a table that was fetched later, knows that it is gone.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "fleet/links/fleet_inside.h"
#include "fleet/members/heartbeat.h"

/* Keys: lives. Arguments: life, what hands of this folder begin with, a hand in case that there is none. */
static const char register_script[] = "local hand = ARGV[3]\n"
                                      "local all = redis.call('HGETALL', KEYS[1])\n"
                                      "for i = 2, #all, 2 do\n"
                                      "  local its = string.gsub(all[i], '^stopped ', '')\n"
                                      "  if string.sub(its, 1, #ARGV[2]) == ARGV[2] then hand = its end\n"
                                      "end\n"
                                      "redis.call('HSET', KEYS[1], ARGV[1], hand)\n"
                                      "return hand";

/* ---- names ---- */

int life_draw(char token[TOKEN])
{
    uint64_t bits;

    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        return VIDI_EIO;
    snprintf(token, TOKEN, "%016" PRIx64, bits);
    return VIDI_OK;
}

static int name_life(const fleet *fleet, char name[FLEET_NAME])
{
    char token[TOKEN];
    int error = life_draw(token);

    if (error == VIDI_OK)
        snprintf(name, FLEET_NAME, "%s.%s", fleet->options.folder, token);
    return error;
}

/* Registers the life, and finds its hand. */
static int register_life(fleet *fleet, wire *wire)
{
    char begin[FLEET_FOLDER + 2], fresh[FLEET_NAME];
    const redis_reply *reply;
    command c;

    snprintf(begin, sizeof begin, "%s.", fleet->options.folder);
    int error = name_life(fleet, fresh);
    command_script(&c, register_script, 1);
    command_text(&c, wire->lives);
    command_text(&c, fleet->life);
    command_text(&c, begin);
    command_text(&c, fresh);
    if (error == VIDI_OK)
        error = wire_ask(wire, &c, WIRE_WRITES, &reply);
    if (error == VIDI_OK && !reply_copy(reply, fleet->hand, sizeof fleet->hand))
        error = wire_failed(wire, VIDI_EDAMAGED, "the registry of the fleet is damaged");
    snprintf(fleet->sweeper, sizeof fleet->sweeper, "sweep:%s", fleet->hand);
    return error;
}

/* ---- the registry ---- */

int registry_read(wire *wire, registry *to)
{
    const redis_reply *reply;
    command c;

    *to = (registry){0};
    command_begin(&c, "HGETALL");
    command_text(&c, wire->lives);
    int error = wire_ask(wire, &c, WIRE_READS, &reply);
    if (error)
        return error;
    size_t pairs = reply->type == REDIS_ARRAY ? reply->count / 2 : 0;
    to->list = calloc(pairs + 1, sizeof *to->list);
    if (!to->list)
        return wire_failed(wire, VIDI_EMEMORY, "%s", vidi_strerror(VIDI_EMEMORY));
    for (size_t i = 0; i < pairs; i++) {
        registered *life = &to->list[to->count];
        to->count += reply_copy(&reply->items[2 * i], life->name, sizeof life->name) &&
                     reply_copy(&reply->items[2 * i + 1], life->value, sizeof life->value);
    }
    return VIDI_OK;
}

void registry_free(registry *all)
{
    free(all->list);
    *all = (registry){0};
}

/* ---- the table ---- */

static int table_failed(wire *wire, int error)
{
    if (error == VIDI_EBUSY)
        error = VIDI_EIO;
    return wire_failed(wire, error, "%s", error == VIDI_EIO ? redis_why(wire->client) : vidi_strerror(error));
}

int life_count(wire *wire, size_t *members)
{
    member_table table = {0};
    int error = heartbeat_look(wire->client, wire->name, &table);

    *members = table.count;
    member_table_free(&table);
    return error ? table_failed(wire, error) : VIDI_OK;
}

/* The newest table; the fleet owns it then. */
void life_take_table(fleet *fleet, member_table *table, int64_t sent)
{
    uint64_t version = members_version(fleet->members);
    bool out = false;

    if (members_update(fleet->members, table, sent, fleet_now()) == VIDI_OK)
        out = members_is_out(fleet->members);
    pthread_mutex_lock(&fleet->lock);
    free(fleet->table.rows);
    fleet->table = *table;
    bool leaving = fleet->leaving;
    pthread_mutex_unlock(&fleet->lock);
    *table = (member_table){0};
    if (leaving) /* it fetches nothing any more */
        members_adopt(fleet->members, members_version(fleet->members));
    if (out)
        atomic_store(&fleet->out, true);
    if (out || members_version(fleet->members) != version)
        fleet_wake(fleet);
}

static int join_table(fleet *fleet, wire *wire)
{
    member row = {.name = ""};
    member_table table = {0};
    int64_t sent = fleet_now();

    memcpy(row.name, fleet->life, sizeof row.name);
    int error = heartbeat_join(wire->client, wire->name, &row, fleet->options.lease_ms, &table);
    if (error)
        return table_failed(wire, error);
    life_take_table(fleet, &table, sent);
    return VIDI_OK;
}

/* ---- beginning ---- */

/* What belonged to the life before. */
static void reset(fleet *fleet)
{
    fleet->taken.count = 0;
    *fleet->last_id = 0;
    *fleet->ballot = 0;
    fleet->stop = fleet->leaving = fleet->idle = fleet->over = false;
    fleet->beats_begun = fleet->beats_answered = fleet->beats_wanted = 0;
    fleet->looked = fleet_now();
    sent_cache_clear(&fleet->sent);
    registry_free(&fleet->stopped);
    atomic_store(&fleet->waiting, 0);
}

int life_begin(fleet *fleet, wire *wire)
{
    members *fresh;
    char name[FLEET_NAME];
    int error = name_life(fleet, name);

    if (error == VIDI_OK)
        error = members_make(&fresh, name, fleet->options.lease_ms);
    if (error)
        return wire_failed(wire, error, "%s", vidi_strerror(error));
    pthread_rwlock_wrlock(&fleet->naming);
    members_free(fleet->members);
    fleet->members = fresh;
    memcpy(fleet->life, name, sizeof name);
    reset(fleet);
    pthread_rwlock_unlock(&fleet->naming);
    error = join_table(fleet, wire);
    if (error == VIDI_OK)
        error = register_life(fleet, wire);
    if (error == VIDI_OK && (error = heart_look(fleet)) != VIDI_OK)
        wire_failed(wire, error, "%s", fleet->heart.why);
    atomic_store(&fleet->out, error != VIDI_OK);
    return error;
}

static int start_thread(pthread_t *thread, bool *runs, void *(*run)(void *), fleet *fleet)
{
    *runs = pthread_create(thread, NULL, run, fleet) == 0;
    return *runs ? VIDI_OK : VIDI_EMEMORY;
}

/* Signals are for the program's own threads. */
int life_start_threads(fleet *fleet)
{
    sigset_t all, before;

    fleet->stop = false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = start_thread(&fleet->heart_thread, &fleet->heart_runs, heart_run, fleet);
    if (error == VIDI_OK)
        error = start_thread(&fleet->keeper_thread, &fleet->keeper_runs, keeper_run, fleet);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        life_stop_threads(fleet);
        return wire_failed(&fleet->storage, error, "cannot start a thread");
    }
    return VIDI_OK;
}

static void join_thread(pthread_t thread, bool *runs)
{
    if (*runs)
        pthread_join(thread, NULL);
    *runs = false;
}

void life_stop_threads(fleet *fleet)
{
    pthread_mutex_lock(&fleet->lock);
    fleet->stop = true;
    pthread_cond_broadcast(&fleet->changed);
    pthread_cond_broadcast(&fleet->called);
    pthread_mutex_unlock(&fleet->lock);
    join_thread(fleet->keeper_thread, &fleet->keeper_runs);
    join_thread(fleet->heart_thread, &fleet->heart_runs);
}

/* ---- leaving ---- */

/* From now on the table says that it is leaving, so that it owns nothing; and the keeper has ended. */
static bool begin_to_leave(fleet *fleet)
{
    pthread_mutex_lock(&fleet->lock);
    fleet->leaving = true;
    pthread_cond_broadcast(&fleet->changed);
    pthread_cond_broadcast(&fleet->called);
    pthread_mutex_unlock(&fleet->lock);
    join_thread(fleet->keeper_thread, &fleet->keeper_runs);
    return fleet_beat_and_wait(fleet);
}

/* Links go to others, if there are any; if not, they stay for whoever comes next. */
static int empty_stream(fleet *fleet, wire *wire)
{
    int error = burial_forward(fleet, wire, fleet->life, (vidi_str){fleet->hand, strlen(fleet->hand)});

    return error == VIDI_ECANNOT ? VIDI_OK : error;
}

static int note_return(fleet *fleet, wire *wire)
{
    char value[ENTRY_HOLDER];
    command c;

    snprintf(value, sizeof value, "stopped %s", fleet->hand);
    command_begin(&c, "HSET");
    command_text(&c, wire->lives);
    command_text(&c, fleet->life);
    command_text(&c, value);
    return wire_ask(wire, &c, WIRE_WRITES, NULL);
}

static int leave(fleet *fleet, wire *wire, bool returns)
{
    int error = VIDI_OK;

    heart_publish(fleet, wire);
    if (!returns && vidi_cluster_abandon(wire->cluster, fleet->hand, NULL) != VIDI_OK)
        error = wire_set_failed(wire, VIDI_EIO);
    if (error == VIDI_OK && vidi_cluster_abandon(wire->cluster, fleet->sweeper, NULL) != VIDI_OK)
        error = wire_set_failed(wire, VIDI_EIO);
    if (error == VIDI_OK)
        error = empty_stream(fleet, wire);
    if (error == VIDI_OK)
        error = returns ? note_return(fleet, wire) : burial_remove(wire, fleet->life);
    return error;
}

int life_leave(fleet *fleet, bool returns)
{
    wire *wire = &fleet->storage;
    int error = begin_to_leave(fleet) ? leave(fleet, wire, returns) : VIDI_EIO;

    life_stop_threads(fleet);
    if (error)
        return error;
    error = heartbeat_leave(wire->client, wire->name, fleet->life);
    return error ? table_failed(wire, error) : VIDI_OK;
}
