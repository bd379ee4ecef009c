/*
 * What the threads of a process share: who moves something, waiting, the table, and everything that any thread may ask.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "fleet/links/fleet_inside.h"

int64_t fleet_now(void)
{
    return (int64_t)(clock_read(CLOCK_BOOTTIME) / 1000000);
}

void fleet_wake(const fleet *fleet)
{
    if (fleet->options.wake)
        fleet->options.wake(fleet->options.context);
}

void fleet_warn(const fleet *fleet, const char *format, ...)
{
    char sentence[FLEET_WHY];
    va_list args;

    if (!fleet->options.warn)
        return;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    fleet->options.warn(fleet->options.context, sentence);
}

uint64_t fleet_hash(const fleet *fleet, vidi_str url)
{
    uint64_t hash[2] = {0, 0};

    vidi_keyed_hash(fleet->key, url, hash);
    return hash[0];
}

/* ---- what is moving ---- */

void fleet_moving_begin(fleet *fleet)
{
    pthread_mutex_lock(&fleet->lock);
    fleet->moving++;
    pthread_mutex_unlock(&fleet->lock);
}

void fleet_moving_end(fleet *fleet)
{
    pthread_mutex_lock(&fleet->lock);
    fleet->moving--;
    pthread_mutex_unlock(&fleet->lock);
}

void fleet_moves(fleet *fleet, bool work)
{
    pthread_mutex_lock(&fleet->lock);
    fleet->activity++;
    if (work) {
        fleet->idle = false;
        fleet->worked = true;
    }
    pthread_mutex_unlock(&fleet->lock);
}

/* ---- waiting ---- */

static void wait_until(fleet *fleet, int64_t until)
{
    int64_t left = until - fleet_now();
    struct timespec at = clock_in(left > 0 ? left : 0);

    pthread_cond_timedwait(&fleet->changed, &fleet->lock, &at);
}

bool fleet_pause(fleet *fleet, int64_t ms)
{
    int64_t until = fleet_now() + ms;

    pthread_mutex_lock(&fleet->lock);
    while (!fleet->stop && !fleet->leaving && ms > 0 && fleet_now() < until)
        wait_until(fleet, until);
    bool goes_on = !fleet->stop && !fleet->leaving;
    pthread_mutex_unlock(&fleet->lock);
    return goes_on;
}

void fleet_want_beat(fleet *fleet)
{
    pthread_mutex_lock(&fleet->lock);
    fleet->beats_wanted = fleet->beats_begun + 1;
    pthread_cond_broadcast(&fleet->called);
    pthread_mutex_unlock(&fleet->lock);
}

bool fleet_beat_and_wait(fleet *fleet)
{
    patience patience = wire_patience(&fleet->heart);
    int64_t hurried = fleet_now() + WIRE_PATIENCE;

    pthread_mutex_lock(&fleet->lock);
    uint64_t wanted = fleet->beats_begun + 1;
    fleet->beats_wanted = wanted;
    pthread_cond_broadcast(&fleet->called);
    while (!fleet->stop && fleet->beats_answered < wanted && !fleet_is_out(fleet) &&
           (fleet_now() < hurried || wire_try_again(&fleet->heart, &patience, VIDI_EIO)))
        wait_until(fleet, fleet_now() + fleet->options.beat_ms);
    bool answered = fleet->beats_answered >= wanted && !fleet->stop;
    pthread_mutex_unlock(&fleet->lock);
    return answered;
}

/* ---- the table ---- */

bool fleet_has_row(fleet *fleet, const char *life)
{
    bool found = false;

    pthread_mutex_lock(&fleet->lock);
    for (size_t i = 0; i < fleet->table.count && !found; i++)
        found = strcmp(fleet->table.rows[i].name, life) == 0;
    pthread_mutex_unlock(&fleet->lock);
    return found;
}

bool fleet_seems_idle(fleet *fleet)
{
    pthread_mutex_lock(&fleet->lock);
    bool idle = fleet->idle && fleet->moving == 0 && fleet->state == FLEET_RUNNING && fleet->table.count > 0;
    for (size_t i = 0; i < fleet->table.count; i++)
        idle = idle && fleet->table.rows[i].idle;
    pthread_mutex_unlock(&fleet->lock);
    return idle;
}

void fleet_owner(const fleet *fleet, uint64_t site, char life[FLEET_NAME])
{
    if (!members_owner(fleet->members, site, life))
        memcpy(life, fleet->life, FLEET_NAME);
}

bool fleet_has_duty(const fleet *fleet, const char *what)
{
    return members_is_mine(fleet->members, members_site((vidi_str){what, strlen(what)}));
}

/* ---- what any thread may ask; the members change only when the process joins again ---- */

static fleet *unlocked(const fleet *fleet)
{
    return (struct fleet *)fleet;
}

static members *lock_members(const fleet *fleet)
{
    pthread_rwlock_rdlock(&unlocked(fleet)->naming);
    return fleet->members;
}

static void unlock_members(const fleet *fleet)
{
    pthread_rwlock_unlock(&unlocked(fleet)->naming);
}

bool fleet_may_fetch(const fleet *fleet, uint64_t site)
{
    bool may = members_may_fetch(lock_members(fleet), site);

    unlock_members(fleet);
    return may;
}

int64_t fleet_may_fetch_until(const fleet *fleet)
{
    int64_t until = members_may_fetch_until(lock_members(fleet));

    unlock_members(fleet);
    return until;
}

bool fleet_is_mine(const fleet *fleet, uint64_t site)
{
    bool mine = members_is_mine(lock_members(fleet), site);

    unlock_members(fleet);
    return mine;
}

uint64_t fleet_version(const fleet *fleet)
{
    uint64_t version = members_version(lock_members(fleet));

    unlock_members(fleet);
    return version;
}

void fleet_adopt(fleet *fleet, uint64_t version)
{
    members_adopt(lock_members(fleet), version);
    unlock_members(fleet);
    fleet_want_beat(fleet); /* the others wait for it */
}

bool fleet_is_out(const fleet *fleet)
{
    return atomic_load(&fleet->out);
}

void fleet_name(const fleet *fleet, char name[FLEET_NAME])
{
    lock_members(fleet);
    memcpy(name, fleet->life, FLEET_NAME);
    unlock_members(fleet);
}

bool fleet_has_links(const fleet *fleet)
{
    return atomic_load(&fleet->waiting) > 0;
}

fleet_state fleet_state_now(const fleet *fleet)
{
    pthread_mutex_lock(&unlocked(fleet)->lock);
    fleet_state state = fleet->state;
    pthread_mutex_unlock(&unlocked(fleet)->lock);
    return state;
}

bool fleet_is_over(const fleet *fleet)
{
    pthread_mutex_lock(&unlocked(fleet)->lock);
    bool over = fleet->over && fleet->idle;
    pthread_mutex_unlock(&unlocked(fleet)->lock);
    return over;
}

uint64_t fleet_visit(const fleet *fleet)
{
    pthread_mutex_lock(&unlocked(fleet)->lock);
    uint64_t visit = fleet->visit;
    pthread_mutex_unlock(&unlocked(fleet)->lock);
    return visit;
}

void fleet_hurry(fleet *fleet)
{
    wire *wires[] = {&fleet->storage, &fleet->keeper, &fleet->heart};

    for (size_t i = 0; i < sizeof wires / sizeof *wires; i++)
        wire_hurry(wires[i]);
}
