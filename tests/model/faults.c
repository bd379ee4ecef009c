/*
 * Faults: before each call one may be planned, and after it the plan is taken back. So every comparison runs without
 * faults, whatever the call before it has met.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/world.h"
#include "support/clock.h"

uint64_t model_below(model_world *world, uint64_t limit)
{
    return test_below(&world->random, limit);
}

bool model_chance(model_world *world, unsigned of_100)
{
    return model_below(world, 100) < of_100;
}

void model_settle(void)
{
    test_clock_settle();
}

static void refuse_memory(model_world *world)
{
    uint64_t n = 1 + model_below(world, model_chance(world, 60) ? 2 : 25);
    bool on = model_chance(world, 60);
    test_allocator_fail(&world->allocator, n, on);
    model_say(world, "  [allocation %d%s refused]", (int)n, on ? " and all after it" : "");
}

static void fail_disk(model_world *world)
{
    static const disk_call calls[] = {DISK_OPEN,     DISK_WRITE,  DISK_WRITE,  DISK_WRITE,  DISK_FSYNC,
                                      DISK_FSYNC,    DISK_FSYNC,  DISK_RENAME, DISK_UNLINK, DISK_STAT,
                                      DISK_PWRITE,   DISK_PWRITE, DISK_LIST,   DISK_MAP,    DISK_PREAD,
                                      DISK_TRUNCATE, DISK_CLOSE,  DISK_LOCK,   DISK_ANY,    DISK_ANY};
    static const int errors[] = {EIO, ENOSPC, DISK_SHORT, DISK_FULL};
    static const uint64_t times[] = {1, 1, 2, DISK_FOR_EVER};
    disk_call call = calls[model_below(world, sizeof calls / sizeof *calls)];
    uint64_t n = 1 + model_below(world, model_chance(world, 60) ? 2 : call == DISK_ANY ? 24 : 5);
    int error = errors[model_below(world, 4)];
    uint64_t often = times[model_below(world, 4)];
    disk_fail(call, n, error, often);
    world->armed_sync = (call == DISK_FSYNC || call == DISK_ANY) && error > 0;
    world->armed_harmless = error == DISK_SHORT;
    model_say(world, "  [system call %d of type %d fails with %d, %s]", (int)n, (int)call, error,
              often == 1   ? "once"
              : often == 2 ? "twice"
                           : "for ever");
}

static void plan_death(model_world *world)
{
    uint64_t n = 1 + model_below(world, model_chance(world, 60) ? 3 : 30);
    disk_kill(n);
    model_say(world, "  [killed at system call %d]", (int)n);
}

void model_arm(model_world *world)
{
    world->incident = (model_incident){0};
    world->armed_sync = world->armed_harmless = false;
    if (!model_chance(world, world->config.fault_share))
        return;
    model_settle();
    switch (world->config.in_memory ? 0 : model_below(world, 5)) {
    case 0:
    case 1:
        refuse_memory(world);
        break;
    case 2:
    case 3:
        fail_disk(world);
        break;
    default:
        plan_death(world);
    }
}

int model_disarm(model_world *world, const char *call, int code)
{
    model_incident *incident = &world->incident;
    model_settle();
    incident->refused = test_allocator_refused(&world->allocator) > 0;
    test_allocator_fail(&world->allocator, 0, false);
    if (!world->config.in_memory) {
        incident->failed = disk_failed() > 0 && !world->armed_harmless;
        incident->synced = incident->failed && world->armed_sync;
        incident->killed = disk_killed();
        disk_fail(DISK_ANY, 0, 0, 0);
        if (!incident->killed)
            disk_kill(0);
    }
    world->broken |= incident->failed;
    world->sync_failed |= incident->synced;
    model_shown_now->refused += incident->refused;
    model_shown_now->failed += incident->failed;
    model_shown_now->killed += incident->killed;
    model_shown_now->errors += code < 0;
    model_say(world, "%s = %d%s%s%s%s%s", call, code, code < 0 ? ": " : "", code < 0 ? vidi_message() : "",
              incident->refused ? " (refused)" : "", incident->failed ? " (disk failed)" : "",
              incident->killed ? " (killed)" : "");
    if (code < 0)
        model_check(world, strlen(vidi_message()) > 4, "%s fails with %d and says nothing", call, code);
    return code;
}

bool model_is_excused(const model_world *world, int code)
{
    if (world->incident.killed)
        return true;
    if (code == VIDI_EMEMORY || code == VIDI_ELIMIT)
        return world->incident.refused || world->config.memory_limit;
    return code >= 0 || world->incident.failed || (code == VIDI_EIO && world->broken);
}

void model_check_excuse(const model_world *world, const char *call, int code)
{
    model_check(world, model_is_excused(world, code), "%s fails with %d without a cause: %s", call, code,
                vidi_message());
}
