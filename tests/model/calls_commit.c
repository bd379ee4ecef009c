/*
 * Calls that make what was answered lasting, and the ends of processes.
 */
#include <string.h>

#include "model/world.h"
#include "support/clock.h"

static void commit(model_world *world, uint64_t to, uint32_t note, const char *call, int code)
{
    model_truth *truth = &world->truth;
    if (world->incident.killed)
        return;
    model_check_excuse(world, call, code);
    model_check(world, code <= 0, "%s returns %d", call, code);
    if (code < 0) {
        model_check(world, world->config.manual || note, "%s fails with %d, but there is nothing to commit", call,
                    code);
        return;
    }
    if (!world->config.manual && !note)
        return;
    truth->epoch_unsure = false;
    model_truth_commit_ends(truth, to, note);
    if (world->config.sync == VIDI_SYNC_ALWAYS)
        model_truth_synced(truth);
}

void model_call_commit(model_world *world)
{
    model_truth_commit_begins(&world->truth, UINT64_MAX, 0);
    commit(world, UINT64_MAX, 0, "vidi_commit", MODEL_CALL(world, vidi_commit(world->set)));
}

void model_call_mark(model_world *world)
{
    model_mark *mark = &world->marks[world->n_marks < MODEL_MARKS ? world->n_marks : model_below(world, MODEL_MARKS)];
    mark->serial = world->truth.next_serial;
    int code = MODEL_CALL(world, vidi_mark(world->set, &mark->mark));
    if (world->incident.killed)
        return;
    model_check(world, code == VIDI_OK, "vidi_mark: %d, %s", code, vidi_message());
    world->n_marks += world->n_marks < MODEL_MARKS;
}

void model_call_commit_to(model_world *world)
{
    if (!world->n_marks)
        return;
    model_mark mark = world->marks[model_below(world, world->n_marks)];
    model_say(world, "mark at %llu, operations up to %llu", (unsigned long long)mark.serial,
              (unsigned long long)world->truth.next_serial);
    model_truth_commit_begins(&world->truth, mark.serial, 0);
    commit(world, mark.serial, 0, "vidi_commit_to", MODEL_CALL(world, vidi_commit_to(world->set, mark.mark)));
}

/* After a commit with a note has failed, the set itself tells whether it has taken the note. */
static void ask_note(model_world *world, uint32_t number, const char *text, size_t len)
{
    char found[VIDI_NOTE_MAX];
    size_t room = sizeof found;
    if (vidi_note(world->set, found, &room) == VIDI_OK && room == len && memcmp(found, text, len) == 0)
        world->truth.note = number;
}

/* May a note that is empty be found in the folder? Then another one could not be told from it. */
static bool is_empty_possible(const model_world *world)
{
    char text[VIDI_NOTE_MAX];
    bool possible = model_note_text(world->seed, world->truth.note, text) == 0;
    for (uint32_t i = 0; i <= world->truth.notes; i++)
        possible |= world->truth.note_on_disk[i] && model_note_text(world->seed, i, text) == 0;
    return possible;
}

void model_call_commit_note(model_world *world)
{
    char text[VIDI_NOTE_MAX];
    model_mark mark = {.serial = UINT64_MAX};
    model_truth *truth = &world->truth;
    if (truth->notes + 20 > MODEL_NOTES)
        return;
    model_check(world, vidi_mark(world->set, &mark.mark) == VIDI_OK, "vidi_mark: %s", vidi_message());
    if (world->n_marks && model_chance(world, 60))
        mark = world->marks[model_below(world, world->n_marks)];
    uint32_t number = world->config.in_memory ? 0 : ++truth->notes;
    while (!world->config.in_memory && is_empty_possible(world) && !model_note_text(world->seed, number, text))
        number = ++truth->notes;
    vidi_str note = {text, model_note_text(world->seed, number, text)};
    model_say(world, "note %u of %zu bytes, operations before %llu of %llu", number, note.len,
              (unsigned long long)mark.serial, (unsigned long long)truth->next_serial);
    if (!world->config.in_memory)
        model_truth_commit_begins(truth, world->config.manual ? mark.serial : 0, number);
    int code = MODEL_CALL(world, vidi_commit_note(world->set, mark.mark, note));
    if (world->config.in_memory) {
        model_check(world, code == VIDI_ECANNOT, "a note for a set in memory: %d", code);
        return;
    }
    commit(world, world->config.manual ? mark.serial : 0, number, "vidi_commit_note", code);
    if (code < 0 && !world->incident.killed)
        ask_note(world, number, text, note.len);
}

void model_call_sync(model_world *world)
{
    int code = MODEL_CALL(world, vidi_sync(world->set));
    if (world->incident.killed)
        return;
    model_check_excuse(world, "vidi_sync", code);
    if (code < 0)
        return;
    model_truth_synced(&world->truth);
    world->truth.epoch_unsure = false;
}

void model_call_snapshot(model_world *world)
{
    int code = MODEL_CALL(world, vidi_snapshot(world->set));
    if (world->incident.killed)
        return;
    if (world->config.in_memory) {
        model_check(world, code == VIDI_ECANNOT, "a snapshot of a set in memory: %d", code);
        return;
    }
    model_check_excuse(world, "vidi_snapshot", code);
    if (code < 0)
        return;
    model_truth_snapshot_taken(&world->truth);
    world->broken = world->sync_failed = false;
}

/* Time passes: the log is written after 100 ms, and synced within a second, if that is the policy. */
void model_call_pass_time(model_world *world)
{
    bool was_broken = world->broken, long_enough = model_chance(world, 50);
    if (world->config.in_memory)
        return;
    model_arm(world);
    test_clock_forward(long_enough ? 2 * TEST_SECOND : 150 * TEST_MS);
    model_settle();
    model_disarm(world, long_enough ? "two seconds pass" : "150 ms pass", VIDI_OK);
    if (world->incident.killed || world->incident.failed || was_broken)
        return;
    if (long_enough && world->config.sync == VIDI_SYNC_EVERY_SECOND)
        model_truth_synced(&world->truth);
}

void model_call_reopen(model_world *world)
{
    if (world->config.in_memory)
        return;
    model_close(world);
    model_open(world);
}

void model_call_kill(model_world *world)
{
    if (world->config.in_memory)
        return;
    model_die(world, model_chance(world, 40));
    model_open(world);
}
