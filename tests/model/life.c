/*
 * The life of the set that is checked: how it is made, opened, closed and killed.
 */
#include <stdio.h>
#include <string.h>

#include "model/world.h"
#include "support/cases.h"
#include "support/clock.h"
#include "support/streams.h"

#define SURE 1e-12 /* an error rate at which no false answer comes up */

const model_kind model_kinds[] = {
    {"fingerprint", NULL, 0, 0, false, false, false},
    {"hashset", NULL, 0, 0, false, false, true},
    {"fingerprint", "multiset=on", 0, 0, true, false, false},
    {"hashset", "multiset=on", 0, 0, true, false, true},
    {"sorted", NULL, 0, 0, false, false, true},
    {"sorted", "multiset=on", 0, 0, true, false, true},
    {"list", NULL, 0, 0, false, false, true},
    {"list", "multiset=on", 0, 0, true, false, true},
    {"counting", "width=8", 400, SURE, true, false, false},
    {"classic", NULL, 400, SURE, false, false, false},
    {"blocked", NULL, 400, 1e-9, false, false, false},
    {"multilayer", NULL, 400, SURE, false, false, false},
    {"spatial", "F=2", 400, SURE, false, false, false},
    {"scalable", NULL, 16, SURE, false, false, false},
    {"blocked", NULL, 20, 0.05, false, true, false},
    {"counting", "width=8", 60, 0.05, true, true, false},
    {"classic", NULL, 40, 0.05, false, true, false},
    {"spatial", "F=2", 40, 0.1, false, true, false},
    {"eigen", NULL, 100, 0.01, false, true, false},
    {"scalable", "inner=counting", 10, 0.05, false, true, false},
    {"multilayer", NULL, 40, 0.1, false, true, false},
};
const size_t model_n_kinds = sizeof model_kinds / sizeof *model_kinds;

static void draw_config(model_world *world)
{
    static const char *const canons[] = {"whatwg", "whatwg", "whatwg", "none", "crawl", "w3lib", "surt", "key=host"};
    static const uint32_t syncs[] = {VIDI_SYNC_EVERY_SECOND, VIDI_SYNC_ALWAYS, VIDI_SYNC_NEVER};
    static const uint64_t limits[] = {300 << 10, 450 << 10, 1 << 20};
    model_config *config = &world->config;
    size_t first = model_chance(world, 50) ? 4 : model_n_kinds; /* the usual kinds come up more often */
    config->kind = &model_kinds[model_below(world, first)];
    config->in_memory = model_chance(world, 10);
    config->manual = !config->in_memory && model_chance(world, 60);
    config->sync = syncs[model_below(world, 3)];
    config->invalid = (uint32_t)model_below(world, 3);
    config->canon = canons[model_below(world, sizeof canons / sizeof *canons)];
    config->memory_limit = model_chance(world, 15) ? limits[model_below(world, 3)] : 0;
    config->fault_share = model_chance(world, 20) ? 0 : model_chance(world, 50) ? 20 : 60;
    config->write_share = model_chance(world, 60) ? 100 : 15;
    world->limit = config->memory_limit;
}

void model_begin(model_world *world, uint64_t seed)
{
    world->seed = seed;
    world->random = (test_random){seed};
    world->step = 0;
    world->set = world->reader = NULL;
    world->created = world->broken = world->sync_failed = world->merged = false;
    world->closed_well = world->power_failed = world->found_next = world->died_inside = false;
    world->incident = (model_incident){0};
    world->n_marks = world->n_digests = 0;
    world->counters = (model_counters){0};
    world->keeps_previous = false;
    draw_config(world);
    const model_config *config = &world->config;
    model_truth_begin(&world->truth, config->kind->stores_every_add, config->kind->one_sided);
    model_say(world, "%s %s, %s, %s, sync %u, invalid %u, canon %s, limit %llu, faults %u", config->kind->kind,
              config->kind->params ? config->kind->params : "-", config->in_memory ? "in memory" : "in a folder",
              config->manual ? "manual" : "autocommit", config->sync, config->invalid, config->canon,
              (unsigned long long)config->memory_limit, config->fault_share);
    test_allocator_init(&world->allocator);
    test_clock_begin();
    test_scratch_empty(&world->folder);
    if (!config->in_memory)
        disk_begin(&world->folder);
    model_open(world);
}

void model_close_reader(model_world *world)
{
    vidi_close(world->reader);
    world->reader = NULL;
}

void model_end(model_world *world)
{
    model_close_reader(world);
    if (world->set)
        vidi_close(world->set);
    world->set = NULL;
    disk_end();
    test_clock_end();
    model_check(world, world->allocator.faults == 0, "%d wrong uses of the allocator", (int)world->allocator.faults);
    model_check(world, world->allocator.live_blocks == 0, "%d blocks of memory are not released",
                (int)world->allocator.live_blocks);
}

void model_access(const model_world *world, vidi_access *access, unsigned flags)
{
    access->memory_limit = world->limit;
    access->allocator = &world->allocator.hook;
    access->invalid = world->config.invalid;
    access->sync = world->config.sync;
    access->flags = flags | (world->config.manual ? VIDI_MANUAL_COMMIT : 0);
}

/* ---- opening ---- */

static int make_or_open(model_world *world, bool make)
{
    unsigned char key[VIDI_KEY_BYTES];
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    const model_kind *kind = world->config.kind;
    model_access(world, &access, 0);
    test_key(key, world->seed);
    options.kind = kind->kind;
    options.params = kind->params;
    options.capacity = kind->capacity;
    options.error = kind->error;
    options.key = key;
    options.canon = world->config.canon;
    options.path = world->config.in_memory ? NULL : world->folder.path;
    options.access = &access;
    if (make)
        return MODEL_CALL(world, vidi_create(&world->set, &options));
    if (!world->created || model_chance(world, 30))
        return MODEL_CALL(world, vidi_open_or_create(&world->set, &options));
    return MODEL_CALL(world, vidi_open(&world->set, world->folder.path, &access));
}

static void heal(model_world *world)
{
    int code = vidi_snapshot(world->set);
    model_say(world, "vidi_snapshot = %d", code);
    model_check_excuse(world, "vidi_snapshot after opening", code);
    if (code == VIDI_OK) {
        world->broken = world->sync_failed = false;
        model_truth_snapshot_taken(&world->truth);
    }
}

/* The set is open. */
static void opened(model_world *world, bool made)
{
    world->threads_met = false;
    world->n_marks = world->n_digests = 0;
    bool unsure = world->sync_failed, next;
    if (!made)
        model_take_over(world);
    next = world->found_next;
    world->created = true;
    world->broken = false;
    if (world->found_next) {
        world->config.kind = world->next_kind;
        world->keeps_previous = world->truth.next_keeps;
    }
    world->found_next = false;
    if (unsure && (made || next || model_chance(world, 50)))
        heal(world);
}

void model_open(model_world *world)
{
    unsigned share = world->config.fault_share;
    for (int tries = 0; !world->set; tries++) {
        bool make = !world->created && (world->config.in_memory || tries == 0);
        if (tries > 1)
            world->config.fault_share = 0;
        int code = make_or_open(world, make);
        model_check(world, (code == VIDI_OK) == (world->set != NULL), "opening returns %d, and %s set", code,
                    world->set ? "a" : "no");
        if (world->incident.killed)
            model_die(world, model_chance(world, 30));
        else if (code == VIDI_ELIMIT && world->limit)
            world->limit *= 2;
        else if (code == VIDI_OK)
            opened(world, !world->created);
        else
            model_check_excuse(world, "opening", code);
    }
    world->config.fault_share = share;
}

/* ---- the end of a process ---- */

static void forget_handle(model_world *world)
{
    world->n_marks = world->n_digests = 0;
}

void model_close(model_world *world)
{
    model_arm(world);
    vidi_close(world->set);
    world->set = NULL;
    model_disarm(world, "vidi_close", VIDI_OK);
    forget_handle(world);
    if (world->incident.killed) {
        model_die(world, model_chance(world, 30));
        return;
    }
    world->closed_whole = true;
    for (size_t i = 0; i < world->truth.n_ops; i++)
        world->closed_whole &= world->truth.ops[i].fate == MODEL_COMMITTED;
    model_truth_drop_staged(&world->truth);
    world->closed_well = !world->incident.failed && !world->broken && !world->incident.refused;
    if (world->closed_well && world->config.sync != VIDI_SYNC_NEVER)
        model_truth_synced(&world->truth);
}

/* What the disk has kept becomes the folder, and all of it counts as synced. */
static void fail_power(model_world *world)
{
    uint64_t seed = model_chance(world, 20) ? 0 : test_next(&world->random) | 2;
    model_close_reader(world);
    disk_crash_state(seed, &world->copy);
    disk_end();
    test_scratch left = world->copy;
    world->copy = world->folder;
    world->folder = left;
    disk_begin(&world->folder);
    world->power_failed = true;
    world->sync_failed = false;
    model_shown_now->powerless++;
    model_say(world, "the power fails: %llx", (unsigned long long)seed);
}

void model_die(model_world *world, bool power)
{
    disk_kill(1);
    vidi_close(world->set);
    world->set = NULL;
    model_settle();
    disk_revive();
    forget_handle(world);
    model_truth_drop_staged(&world->truth);
    world->closed_well = false;
    model_say(world, "the process dies");
    if (power && !model_truth_is_tainted(&world->truth)) /* otherwise the disk may have lost anything */
        fail_power(world);
}
