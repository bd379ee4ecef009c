/*
 * Which calls are made, and how often.
 */
#include "model/world.h"

static const struct {
    void (*make)(model_world *world);
    unsigned weight;
} calls[] = {
    {model_call_add, 12},          {model_call_add_batch, 18}, {model_call_digest, 4},      {model_call_add_digests, 6},
    {model_call_remove, 10},       {model_call_commit, 12},    {model_call_mark, 5},        {model_call_commit_to, 8},
    {model_call_commit_note, 8},   {model_call_sync, 9},       {model_call_snapshot, 7},    {model_call_pass_time, 4},
    {model_call_reopen, 5},        {model_call_kill, 3},       {model_call_read_beside, 3}, {model_call_rotate, 3},
    {model_call_drop_previous, 1}, {model_call_merge, 4},      {model_call_write, 2},       {model_call_read, 1},
    {model_call_open_wrongly, 2},  {model_call_look, 3},       {model_call_inspect, 2},     {model_call_tend, 2},
    {model_call_copy, 1},          {model_call_together, 5},
};

void model_make_call(model_world *world)
{
    unsigned sum = 0;
    size_t i = 0;
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        sum += calls[k].weight;
    uint64_t at = model_below(world, sum);
    while (at >= calls[i].weight)
        at -= calls[i++].weight;
    model_shown_now->calls[i]++;
    calls[i].make(world);
    if (world->incident.killed && world->set) { /* the call never returned */
        world->died_inside = true;
        model_die(world, model_chance(world, 40));
        model_open(world);
        world->died_inside = false;
    }
}
