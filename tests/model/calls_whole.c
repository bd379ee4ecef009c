/*
 * Calls that concern a whole set: rotations, merges, streams, and openings that must fail.
 */
#include <math.h>
#include <string.h>

#include "model/views.h"
#include "support/access.h"
#include "support/cases.h"
#include "support/streams.h"

static uint32_t can_of(const model_world *world, const vidi_set *set)
{
    vidi_stats stats = {.size = sizeof stats};
    model_check(world, vidi_stat(set, &stats) == VIDI_OK, "vidi_stat: %s", vidi_message());
    return stats.can;
}

/* ---- rotation ---- */

/* After a rotation that failed, the same one is tried again: the folder may be in that epoch already. */
static void draw_next(model_world *world, vidi_options *next)
{
    bool again = world->truth.epoch_unsure;
    const model_kind *kind = again ? world->next_kind : world->config.kind;
    if (!again && model_chance(world, 25))
        kind = &model_kinds[model_below(world, model_n_kinds)];
    world->next_kind = kind;
    bool keeps = again ? world->truth.next_keeps : model_chance(world, 60);
    next->flags = keeps ? VIDI_KEEP_PREVIOUS : 0;
    next->capacity = kind->capacity ? kind->capacity : 100;
    next->error = kind->error;
    if (kind != world->config.kind) {
        next->kind = kind->kind;
        next->params = kind->params ? kind->params : "";
    }
}

void model_call_rotate(model_world *world)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    model_truth *truth = &world->truth;
    if (model_chance(world, 40)) /* what was committed just before, maybe without memory, belongs to the old epoch */
        model_call_commit(world);
    if (world->incident.killed)
        return;
    bool plain = model_chance(world, 20) && !world->config.kind->capacity && !truth->epoch_unsure;
    if (plain)
        world->next_kind = world->config.kind;
    else
        draw_next(world, &next);
    bool keeps = plain ? world->keeps_previous : next.flags & VIDI_KEEP_PREVIOUS;
    model_say(world, "to %s %s, %s the previous epoch", world->next_kind->kind,
              world->next_kind->params ? world->next_kind->params : "-", keeps ? "keeping" : "without");
    model_truth_rotation_begins(truth, keeps, world->next_kind->stores_every_add, world->next_kind->one_sided);
    int code = MODEL_CALL(world, vidi_rotate(world->set, plain ? NULL : &next));
    if (world->incident.killed)
        return;
    model_check_excuse(world, "vidi_rotate", code);
    truth->epoch_unsure &= !world->config.in_memory;
    if (code < 0)
        return;
    model_truth_rotated(truth, world->broken);
    world->config.kind = world->next_kind;
    world->keeps_previous = keeps;
    world->counters = (model_counters){0};
    world->broken = world->sync_failed = world->merged = false;
}

void model_call_drop_previous(model_world *world)
{
    model_truth *truth = &world->truth;
    if (truth->previous_on_disk == MODEL_MUST)
        truth->previous_on_disk = MODEL_MAY;
    int code = MODEL_CALL(world, vidi_drop_previous(world->set));
    if (world->incident.killed)
        return;
    model_check(world, code == VIDI_OK, "vidi_drop_previous: %d, %s", code, vidi_message());
    truth->previous_live = MODEL_NO;
}

/* ---- merging ---- */

typedef struct source {
    vidi_set *set;
    size_t n;
    uint16_t urls[16];
} source;

static bool is_waiting(const model_world *world, size_t url)
{
    for (size_t i = 0; i < world->truth.n_ops; i++)
        if (world->truth.ops[i].url == url && world->truth.ops[i].fate != MODEL_COMMITTED)
            return true;
    return false;
}

/* A set that fits the other: like it, or, of kinds that keep their URLs, with another kind and key. */
static int make_source(model_world *world, source *from, const char *path)
{
    static const char *const keepers[] = {"hashset", "sorted", "list"};
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    const model_kind *kind = world->config.kind;
    access.invalid = world->config.invalid;
    access.flags = VIDI_MANUAL_COMMIT;
    options.access = &access;
    options.path = path;
    if (kind->keeps_urls && model_chance(world, 50)) {
        options.kind = keepers[model_below(world, 3)];
        options.params = kind->params;
        options.canon = world->config.canon;
    } else {
        options.like = world->set;
    }
    return vidi_create(&from->set, &options);
}

/* URLs that no uncommitted operation waits for: what comes first, the operation or the merge, is not promised. */
static void fill_source(model_world *world, source *from, bool durable)
{
    size_t n = 1 + model_below(world, 15);
    from->n = 0;
    for (size_t i = 0; i < n; i++) {
        size_t url = model_below(world, MODEL_URLS);
        bool many = world->truth.stores_every_add && model_times(world, url) > MODEL_MOST_TIMES / 2;
        if (!model_is_taken(world, url) || is_waiting(world, url) || many)
            continue;
        int verdict = vidi_add(from->set, model_url(url, 0));
        model_check(world, verdict == VIDI_NEW || verdict == VIDI_SEEN, "vidi_add to another set: %d", verdict);
        if (verdict == VIDI_NEW || world->truth.stores_every_add)
            from->urls[from->n++] = (uint16_t)url;
        if (durable && i == n / 2)
            model_check(world, vidi_snapshot(from->set) == VIDI_OK, "another set: %s", vidi_message());
    }
    model_check(world, vidi_commit(from->set) == VIDI_OK && vidi_sync(from->set) == VIDI_OK, "%s", vidi_message());
    if (durable && model_chance(world, 50)) /* staged, so not merged */
        for (size_t i = 0; i < MODEL_URLS; i += 7)
            if (model_is_taken(world, i))
                (void)vidi_add(from->set, model_url(i, 0));
}

static void reopen_source(model_world *world, source *from, const char *path)
{
    vidi_access access = VIDI_ACCESS_INIT;
    access.invalid = world->config.invalid;
    access.flags = VIDI_READ_ONLY | (model_chance(world, 30) ? VIDI_NO_MAP : 0);
    vidi_close(from->set);
    int code = vidi_open(&from->set, path, &access);
    model_check(world, code == VIDI_OK, "another set, opened again: %s", vidi_message());
}

static double lost_of(const vidi_set *set, uint64_t *count)
{
    vidi_stats stats = {.size = sizeof stats};
    (void)vidi_stat(set, &stats);
    *count = stats.count;
    return stats.expected_lost;
}

/* What of the source has arrived, after an error: the set itself tells. */
static void ask_what_arrived(model_world *world, const source *from)
{
    uint8_t verdicts[MODEL_URLS];
    uint64_t times[MODEL_URLS];
    if (world->truth.one_sided)
        return; /* it may say "seen" of any; the ghosts stay */
    world->truth.n_ops -= from->n;
    model_look(world, world->set, "after a merge that failed", verdicts, times);
    for (size_t i = 0; i < from->n; i++) {
        size_t url = from->urls[i];
        if (model_times(world, url) < times[url])
            model_truth_push(&world->truth, url, false, MODEL_MERGED);
    }
}

static void merged(model_world *world, const source *from)
{
    for (size_t i = world->truth.n_ops - from->n; i < world->truth.n_ops; i++)
        world->truth.ops[i].fate = MODEL_MERGED;
    model_truth_snapshot_taken(&world->truth);
    world->broken = world->sync_failed = false;
    world->merged = true;
}

static void merge(model_world *world, const source *from)
{
    uint64_t count, others, again;
    double lost = lost_of(world->set, &count), theirs = lost_of(from->set, &others);
    for (size_t i = 0; i < from->n; i++)
        model_truth_push(&world->truth, from->urls[i], false, MODEL_GHOST);
    unsigned flags = model_chance(world, 50) ? VIDI_MERGE_FORCE : 0;
    world->merged = true; /* even if the process dies on the way */
    int code = flags ? MODEL_CALL(world, vidi_merge(world->set, from->set, flags))
                     : MODEL_CALL(world, vidi_merge(world->set, from->set, 0));
    if (world->incident.killed)
        return;
    if (code == VIDI_ERATE && !flags && !world->config.kind->keeps_urls) {
        world->truth.n_ops -= from->n; /* and nothing has changed */
        return;
    }
    model_check_excuse(world, "vidi_merge", code);
    world->merged = true;
    world->counters.lost = lost_of(world->set, &count);
    if (code < 0) {
        ask_what_arrived(world, from);
        return;
    }
    merged(world, from);
    double sum = lost_of(world->set, &count);
    model_check(world, sum >= fmax(lost, theirs) * (1 - 1e-9) && sum <= (lost + theirs) * (1 + 1e-9),
                "%g and %g expected losses become %g", lost, theirs, sum);
    if (world->truth.stores_every_add || !model_chance(world, 30))
        return;
    code = vidi_merge(world->set, from->set, 0);
    model_check_excuse(world, "vidi_merge again", code);
    world->counters.lost = lost_of(world->set, &again);
    model_check(world, code < 0 || again == count, "merging the same set again makes %d URLs of %d", (int)again,
                (int)count);
    model_check(world, code < 0 || world->counters.lost == sum, "merging it again makes %g expected losses of %g",
                world->counters.lost, sum);
}

void model_call_merge(model_world *world)
{
    source from = {0};
    bool durable = model_chance(world, 50);
    if (!(can_of(world, world->set) & VIDI_CAN_MERGE))
        return;
    test_scratch_empty(&world->other);
    int code = make_source(world, &from, durable ? world->other.path : NULL);
    model_check(world, code == VIDI_OK, "a set that is like another cannot be made: %d, %s", code, vidi_message());
    fill_source(world, &from, durable);
    if (durable && model_chance(world, 60))
        reopen_source(world, &from, world->other.path);
    merge(world, &from);
    vidi_close(from.set);
}

/* ---- streams ---- */

/* A sink that fails, or none that does. */
void model_call_write(model_world *world)
{
    test_stream stream = {.fail_at = model_chance(world, 50) ? 1 + model_below(world, 3) : 0};
    int code = MODEL_CALL(world, vidi_write(world->set, test_stream_sink, &stream, 0));
    bool failed = stream.fail_at && stream.calls >= stream.fail_at;
    if (!world->incident.killed && !(failed && code == VIDI_EIO))
        model_check_excuse(world, "vidi_write", code);
    model_check(world, !failed || code < 0, "vidi_write returns %d, but the sink has failed", code);
    test_stream_free(&stream);
}

static void check_read(model_world *world, vidi_set *set, const char *how)
{
    model_view view;
    model_truth_committed(&world->truth, &view);
    model_check_view(world, set, &view, how, NULL);
    vidi_close(set);
}

/* Reads what is written into another folder. */
void model_call_read(model_world *world)
{
    test_stream stream = {0};
    vidi_set *set = NULL;
    vidi_access access = VIDI_ACCESS_INIT;
    access.invalid = world->config.invalid;
    world->incident = (model_incident){0};
    int code = vidi_write(world->set, test_stream_sink, &stream, 0);
    model_check_excuse(world, "vidi_write", code);
    test_scratch_empty(&world->other);
    access.allocator = &world->allocator.hook;
    if (code == VIDI_OK)
        code = MODEL_CALL(world, vidi_read(&set, test_stream_source, &stream, model_chance(world, 50) ? stream.size : 0,
                                           world->other.path, &access));
    test_stream_free(&stream);
    model_check(world, (set != NULL) == (code == VIDI_OK), "vidi_read returns %d, and %s set", code, set ? "a" : "no");
    if (world->incident.killed) {
        vidi_close(set);
        return;
    }
    model_check_excuse(world, "vidi_read", code);
    if (code < 0)
        return;
    check_read(world, set, "what was read into a folder");
    code = test_open(&set, world->other.path, VIDI_READ_ONLY);
    model_check(world, code == VIDI_OK, "what was read into a folder: %s", vidi_message());
    vidi_close(set);
}

/* A copy in memory has what is committed. */
void model_call_copy(model_world *world)
{
    vidi_set *set = NULL;
    vidi_access access = VIDI_ACCESS_INIT;
    access.invalid = world->config.invalid;
    access.allocator = &world->allocator.hook;
    int code = MODEL_CALL(world, vidi_copy(&set, world->set, &access));
    model_check(world, (set != NULL) == (code == VIDI_OK), "vidi_copy returns %d, and %s set", code, set ? "a" : "no");
    if (world->incident.killed) {
        vidi_close(set);
        return;
    }
    model_check_excuse(world, "vidi_copy", code);
    if (code == VIDI_OK)
        check_read(world, set, "a copy");
}

/* ---- openings that must fail ---- */

static void check_refusal(const model_world *world, const char *what, const vidi_set *set, int code, int expected)
{
    bool right = code == expected || (code < 0 && model_is_excused(world, code));
    model_check(world, world->incident.killed || (right && code < 0 && !set), "%s: %d, not %d", what, code, expected);
}

/* A folder with something else in it is left alone. */
static void make_in_foreign_folder(model_world *world)
{
    vidi_set *set = NULL;
    vidi_options options = VIDI_OPTIONS_INIT;
    test_file_save(&world->other, "letter.txt", "Dear Sir", 8);
    options.path = world->other.path;
    int code = model_chance(world, 50) ? MODEL_CALL(world, vidi_create(&set, &options))
                                       : MODEL_CALL(world, vidi_open_or_create(&set, &options));
    check_refusal(world, "making a set in a foreign folder", set, code, VIDI_EEXIST);
    model_check(world, test_folder_count(world->other.path, "") == 3,
                "a foreign folder was written to"); /* and . and .. */
}

void model_call_open_wrongly(model_world *world)
{
    vidi_set *set = NULL;
    vidi_options options = VIDI_OPTIONS_INIT;
    if (world->config.in_memory)
        return;
    test_scratch_empty(&world->other);
    options.path = world->folder.path;
    switch (model_below(world, 5)) {
    case 0:
        check_refusal(world, "opening twice", set, MODEL_CALL(world, vidi_open(&set, world->folder.path, NULL)),
                      VIDI_EBUSY);
        break;
    case 1:
        check_refusal(world, "opening twice", set, MODEL_CALL(world, vidi_open_or_create(&set, &options)), VIDI_EBUSY);
        break;
    case 2:
        check_refusal(world, "making it twice", set, MODEL_CALL(world, vidi_create(&set, &options)), VIDI_EEXIST);
        break;
    case 3:
        make_in_foreign_folder(world);
        break;
    default:
        check_refusal(world, "opening nothing", set, MODEL_CALL(world, vidi_open(&set, world->other.path, NULL)),
                      VIDI_EABSENT);
    }
}
