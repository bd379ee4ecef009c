/*
 * What is found in the set's folder, compared with the model: by readers beside the writer, in copies, after power
 * failures, and when the set is opened again.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/views.h"
#include "support/streams.h"

/* ---- the note ---- */

size_t model_note_text(uint64_t seed, uint32_t number, char text[VIDI_NOTE_MAX])
{
    test_random random = {seed ^ ((uint64_t)number << 40)};
    static const size_t lengths[] = {20, 20, 20, 300, 700, VIDI_NOTE_MAX};
    if (number == 0 || test_below(&random, 8) == 0)
        return 0;
    size_t len = lengths[test_below(&random, 6)];
    snprintf(text, VIDI_NOTE_MAX, "note %u: ", number);
    for (size_t i = strlen(text); i < len; i++)
        text[i] = (char)('a' + test_below(&random, 26));
    return len;
}

static bool note_is(const model_world *world, uint32_t number, const char *text, size_t len)
{
    char expected[VIDI_NOTE_MAX];
    return model_note_text(world->seed, number, expected) == len && memcmp(expected, text, len) == 0;
}

static size_t read_note(const model_world *world, const vidi_set *set, const char *how, char text[VIDI_NOTE_MAX])
{
    size_t len = VIDI_NOTE_MAX;
    int code = vidi_note(set, text, &len);
    model_check(world, code == VIDI_OK, "%s: vidi_note: %d, %s", how, code, vidi_message());
    return len;
}

/* The number of the note that was found in the folder. All that may be there have different texts. */
static uint32_t find_note(const model_world *world, const vidi_set *set, const char *how)
{
    char text[VIDI_NOTE_MAX];
    size_t len = read_note(world, set, how, text);
    uint32_t i = 0;
    while (i <= world->truth.notes && !(world->truth.note_on_disk[i] && note_is(world, i, text, len)))
        i++;
    model_check(world, i <= world->truth.notes, "%s: the note \"%.*s\" is not the last, nor one that may be found", how,
                (int)(len < 40 ? len : 40), text);
    return i;
}

void model_check_note(const model_world *world)
{
    char text[VIDI_NOTE_MAX];
    size_t len = read_note(world, world->set, "the set", text);
    model_check(world, note_is(world, world->truth.note, text, len), "the set's note is \"%.*s\", not note %u",
                (int)(len < 40 ? len : 40), text, world->truth.note);
}

/* ---- the folder ---- */

/* Compares a set that was opened from the folder or a copy of it. Returns false if it is in the next epoch. */
static bool check_folder(model_world *world, const vidi_set *set, const char *how, uint8_t found[MODEL_URLS],
                         uint32_t *note)
{
    model_truth *truth = &world->truth;
    model_view view, empty = {{0}};
    uint64_t epoch = model_stat(world, set, how).epoch;
    *note = find_note(world, set, how);
    model_truth_found(truth, *note, &view);
    if (truth->epoch_unsure && epoch == truth->epoch + 1) {
        for (size_t i = 0; i < MODEL_URLS; i++)
            empty.counts[i] = 1;
        model_check_view(world, set, &empty, how, found);
        model_check_previous(world, set, truth->next_keeps ? MODEL_MUST : MODEL_NO, &view, truth->one_sided, how);
        return false;
    }
    model_check(world, epoch == truth->epoch, "%s: epoch %d, not %d", how, (int)epoch, (int)truth->epoch);
    model_check_view(world, set, &view, how, found);
    model_check_previous(world, set, truth->previous_on_disk, &truth->previous_disk, truth->previous_one_sided, how);
    return true;
}

/* Nothing is damaged or missing, as far as a set knows that was just opened. */
static void check_whole(const model_world *world, const vidi_set *set, const char *how)
{
    vidi_recovery recovery = {.size = sizeof recovery};
    int code = vidi_recovered(set, &recovery);
    model_check(world, code == VIDI_OK && !recovery.damaged_bytes && !recovery.missing_files,
                "%s: %d bytes of %s are damaged, %d files like %s are missing", how, (int)recovery.damaged_bytes,
                recovery.damaged_log, (int)recovery.missing_files, recovery.missing_file);
}

static int open_at(const model_world *world, vidi_set **set, const char *path, unsigned flags)
{
    vidi_access access = VIDI_ACCESS_INIT;
    access.invalid = world->config.invalid;
    access.sync = world->config.sync;
    access.flags = flags | (world->config.manual && !(flags & VIDI_READ_ONLY) ? VIDI_MANUAL_COMMIT : 0);
    return vidi_open(set, path, &access);
}

/* What a reader writes is what it sees. A mapped one refuses if its log is not empty. */
static void compare_copied(model_world *world, const vidi_set *reader, const model_view *view, const char *how,
                           bool may_refuse)
{
    test_stream stream = {0};
    vidi_set *read;
    vidi_access access = VIDI_ACCESS_INIT;
    access.invalid = world->config.invalid;
    int code = vidi_write(reader, test_stream_sink, &stream, 0);
    if (code != VIDI_ECANNOT || !may_refuse) {
        model_check(world, code == VIDI_OK, "%s: vidi_write: %d, %s", how, code, vidi_message());
        code = test_stream_read(&stream, &read, stream.size, &access);
        model_check(world, code == VIDI_OK, "%s: what it wrote: %d, %s", how, code, vidi_message());
        model_check_view(world, read, view, how, NULL);
        vidi_close(read);
    }
    test_stream_free(&stream);
}

/* A reader beside the writer sees what is written: a first part of what is committed, and all that is synced. */
static void compare_reader(model_world *world, unsigned flags, const char *how)
{
    vidi_set *reader;
    uint8_t found[MODEL_URLS];
    uint32_t note;
    model_view view;
    int code = open_at(world, &reader, world->folder.path, flags);
    model_check(world, code == VIDI_OK, "%s: %d, %s", how, code, vidi_message());
    if (check_folder(world, reader, how, found, &note)) {
        model_check(world, model_truth_is_prefix(&world->truth, found), "%s: not a first part of what is committed",
                    how);
        for (size_t i = 0; i < MODEL_URLS; i++)
            view.counts[i] = UINT64_C(1) << found[i];
        model_check_listing(world, reader, &view, how, !(flags & VIDI_NO_MAP));
        if (model_chance(world, 30))
            compare_copied(world, reader, &view, how, !(flags & VIDI_NO_MAP));
        check_whole(world, reader, how);
    }
    code = vidi_verify(reader);
    model_check(world, code == VIDI_OK, "%s: vidi_verify: %d, %s", how, code, vidi_message());
    vidi_close(reader);
}

/* The reader that was opened earlier still sees what it saw then. */
static void compare_old_reader(model_world *world)
{
    uint8_t verdicts[MODEL_URLS];
    uint64_t times[MODEL_URLS];
    if (!world->reader)
        return;
    model_look(world, world->reader, "the reader that stays", verdicts, times);
    for (size_t i = 0; i < MODEL_URLS; i++)
        model_check(world, verdicts[i] == world->reader_saw[i], "the reader that stays has changed its mind on URL %zu",
                    i);
}

/* The set in a copy is used and closed, and is what it should be once more. */
static void use_copy(model_world *world, vidi_set *set, const char *how)
{
    vidi_str url = {"https://after.example/the-crash", 31};
    uint8_t found[MODEL_URLS];
    uint32_t note;
    int code = vidi_add(set, url), verdict = code;
    model_check(world, code == VIDI_NEW || (world->truth.one_sided && code == VIDI_SEEN), "%s: vidi_add: %d, %s", how,
                code, vidi_message());
    model_check(world, vidi_commit(set) == VIDI_OK && vidi_sync(set) == VIDI_OK, "%s: %s", how, vidi_message());
    vidi_close(set);
    code = open_at(world, &set, world->copy.path, VIDI_READ_ONLY);
    model_check(world, code == VIDI_OK, "%s, opened again: %d, %s", how, code, vidi_message());
    check_folder(world, set, how, found, &note);
    model_check(world, verdict == VIDI_SEEN || vidi_has(set, url) == VIDI_SEEN,
                "%s: what was added after the crash is missing", how);
    vidi_close(set);
}

/* A copy of the folder, as the system has it or as a power failure leaves it. */
static void compare_copy(model_world *world, uint64_t power, const char *how)
{
    vidi_set *set;
    uint8_t found[MODEL_URLS];
    uint32_t note;
    disk_crash_state(power, &world->copy);
    int code = open_at(world, &set, world->copy.path, 0);
    bool gone = code == VIDI_EFORMAT || code == VIDI_EDAMAGED || code == VIDI_EABSENT;
    if (gone && power != 1 && model_truth_is_tainted(&world->truth))
        return; /* a sync had failed before the set was opened, so the disk has lost what this process takes for synced */
    model_check(world, code == VIDI_OK, "%s: %d, %s", how, code, vidi_message());
    bool same = check_folder(world, set, how, found, &note);
    if (power == 1) {
        model_check(world, !same || model_truth_is_prefix(&world->truth, found),
                    "%s: not a first part of what is committed", how);
    }
    if (!model_truth_is_tainted(&world->truth))
        check_whole(world, set, how);
    if (model_chance(world, 25))
        use_copy(world, set, how);
    else
        vidi_close(set);
}

/* ---- damage ---- */

/* Is everything committed known to be on disk? Then damage cannot be taken for what a crash has left. */
static bool is_settled(const model_world *world)
{
    const model_truth *truth = &world->truth;
    bool settled = !model_truth_is_tainted(truth) && !truth->epoch_unsure && !world->broken && !world->sync_failed;
    for (size_t i = 0; i < truth->n_ops; i++)
        settled &= truth->ops[i].fate == MODEL_STAGED;
    for (size_t i = 0; i < MODEL_URLS; i++)
        settled &= truth->disk.counts[i] == UINT64_C(1) << truth->base[i];
    for (uint32_t i = 0; i <= truth->notes; i++)
        settled &= truth->note_on_disk[i] == (i == truth->note);
    return settled;
}

/* Names of the set's files, in the order of the alphabet so that a seed always finds the same. */
typedef struct file_names {
    size_t n;
    char name[16][60];
} file_names;

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void list_files(const test_scratch *folder, file_names *files)
{
    DIR *open = opendir(folder->path);
    files->n = 0;
    for (const struct dirent *entry; open && (entry = readdir(open)) != NULL;)
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "lock") != 0 && files->n < 16)
            snprintf(files->name[files->n++], sizeof *files->name, "%.59s", entry->d_name);
    if (open)
        closedir(open);
    qsort(files->name, files->n, sizeof *files->name, by_text);
}

/* Removes a file of the copy, cuts it or flips a bit in it. */
static void damage_copy(model_world *world, char *what, size_t room)
{
    file_names files;
    size_t bytes;
    list_files(&world->copy, &files);
    model_check(world, files.n > 0, "the folder is empty");
    const char *name = files.name[model_below(world, files.n)];
    unsigned char *data = test_file_load(&world->copy, name, &bytes);
    uint64_t way = bytes ? model_below(world, 3) : 0, at = bytes ? model_below(world, bytes) : 0;
    if (way == 0) {
        unlinkat(world->copy.handle, name, 0);
    } else {
        data[at] ^= (unsigned char)(way == 1 ? 1u << model_below(world, 8) : 0);
        test_file_save(&world->copy, name, data, way == 1 ? bytes : at);
    }
    free(data);
    snprintf(what, room, "%s %s at %llu", name,
             way == 0   ? "removed"
             : way == 1 ? "flipped"
                        : "cut",
             (unsigned long long)at);
}

/* The set has everything that was committed. The previous epoch may be missing: without its files it was dropped. */
static void check_undamaged(model_world *world, const vidi_set *set, const char *how)
{
    model_view view;
    model_truth_found(&world->truth, world->truth.note, &view);
    model_check_view(world, set, &view, how, NULL);
    model_presence presence = world->truth.previous_on_disk == MODEL_NO ? MODEL_NO : MODEL_MAY;
    model_check_previous(world, set, presence, &world->truth.previous_disk, world->truth.previous_one_sided, how);
    model_check(world, find_note(world, set, how) == world->truth.note, "%s: an older note", how);
}

static void read_damaged(model_world *world, const char *how)
{
    vidi_set *set;
    vidi_recovery recovery = {.size = sizeof recovery};
    int code = open_at(world, &set, world->copy.path, VIDI_READ_ONLY);
    if (code < 0)
        return;
    model_check(world, vidi_recovered(set, &recovery) == VIDI_OK, "%s: %s", how, vidi_message());
    if (!recovery.damaged_bytes && !recovery.missing_files && vidi_verify(set) == VIDI_OK)
        check_undamaged(world, set, how);
    vidi_close(set);
}

/* What is left after damage was accepted is a set like any other. */
static void accept_damage(model_world *world, const char *how)
{
    vidi_set *set;
    int code = open_at(world, &set, world->copy.path, VIDI_ACCEPT_DAMAGE);
    if (code == VIDI_EFORMAT)
        return; /* there is no snapshot to begin with */
    model_check(world, code == VIDI_OK, "%s: accepted: %d, %s", how, code, vidi_message());
    vidi_close(set);
    code = open_at(world, &set, world->copy.path, 0);
    model_check(world, code == VIDI_OK, "%s: after it was accepted: %d, %s", how, code, vidi_message());
    check_whole(world, set, how);
    vidi_close(set);
}

/* Damage is never taken for an empty or a smaller set: it is refused, or nothing that was committed is missing. */
static void compare_damaged(model_world *world)
{
    char what[100], how[140];
    vidi_set *set;
    disk_crash_state(1, &world->copy);
    damage_copy(world, what, sizeof what);
    snprintf(how, sizeof how, "damaged (%s)", what);
    read_damaged(world, how);
    int code = open_at(world, &set, world->copy.path, 0);
    if (code == VIDI_OK) {
        check_undamaged(world, set, how);
        vidi_close(set);
        return;
    }
    model_check(world, code == VIDI_EFORMAT || code == VIDI_EDAMAGED, "%s: %d, %s", how, code, vidi_message());
    accept_damage(world, how);
}

void model_compare(model_world *world)
{
    char how[60];
    if (!world->config.in_memory)
        model_settle();
    model_compare_live(world);
    bool lists_first = model_chance(world, 50);
    if (lists_first && model_chance(world, world->config.write_share))
        model_compare_listed(world);
    if (model_chance(world, world->config.write_share))
        model_compare_written(world);
    if (!lists_first && model_chance(world, world->config.write_share))
        model_compare_listed(world);
    if (world->config.in_memory)
        return;
    compare_reader(world, VIDI_READ_ONLY, "a reader that maps");
    if (model_chance(world, 30))
        compare_reader(world, VIDI_READ_ONLY | VIDI_NO_MAP, "a reader");
    compare_old_reader(world);
    if (model_chance(world, 40))
        compare_copy(world, 1, "a copy of the folder");
    uint64_t power = model_chance(world, 30) ? 0 : test_next(&world->random) | 2;
    snprintf(how, sizeof how, "after power failure %llx", (unsigned long long)power);
    model_shown_now->powerless++;
    compare_copy(world, power, how);
    if (model_chance(world, 20) && is_settled(world))
        compare_damaged(world);
}

/* ---- after opening ---- */

static void adopt_counters(model_world *world, bool same)
{
    vidi_stats stats = model_stat(world, world->set, "the opened set");
    model_counters *was = &world->counters;
    bool less = stats.answered_new < was->fresh || stats.answered_seen < was->seen || stats.removed < was->removed ||
                stats.expected_lost < was->lost * (1 - 1e-9);
    bool more = stats.answered_new > was->fresh || stats.answered_seen > was->seen || stats.removed > was->removed ||
                stats.expected_lost > was->lost * (1 + 1e-9);
    model_check(world, !(world->closed_well && world->closed_whole) || !less,
                "after vidi_close: %d new, %d seen, %d removed, %g lost, not %d, %d, %d, %g", (int)stats.answered_new,
                (int)stats.answered_seen, (int)stats.removed, stats.expected_lost, (int)was->fresh, (int)was->seen,
                (int)was->removed, was->lost);
    model_check(world, !same || !more || world->died_inside || world->broken,
                "opened again: %d new, %d seen, %d removed, %g lost, more than %d, %d, %d, %g", (int)stats.answered_new,
                (int)stats.answered_seen, (int)stats.removed, stats.expected_lost, (int)was->fresh, (int)was->seen,
                (int)was->removed, was->lost);
    *was = (model_counters){stats.answered_new, stats.answered_seen, stats.answered_invalid,
                            stats.asked,        stats.removed,       stats.expected_lost};
}

static void adopt_previous(model_world *world, bool certain)
{
    model_truth *truth = &world->truth;
    bool there = vidi_has_previous(world->set, model_url(0, 0)) > 0;
    truth->previous_live = there ? MODEL_MUST : MODEL_NO;
    truth->previous = truth->previous_disk;
    if (certain)
        truth->previous_on_disk = truth->previous_live;
}

void model_take_over(model_world *world)
{
    uint8_t found[MODEL_URLS];
    uint32_t note;
    bool certain = !world->sync_failed;
    model_truth_drop_staged(&world->truth);
    bool same = check_folder(world, world->set, "opened again", found, &note);
    if (!same)
        model_truth_next_found(&world->truth);
    else if (world->closed_well) {
        model_view view;
        model_truth_written(&world->truth, &view);
        model_check_view(world, world->set, &view, "opened again after vidi_close", NULL);
    } else {
        model_check(world, world->power_failed || model_truth_is_prefix(&world->truth, found),
                    "opened again: not a first part of what is committed");
    }
    world->truth.epoch_unsure &= !certain && same;
    world->found_next = !same;
    adopt_previous(world, certain);
    model_truth_opened(&world->truth, found, note, certain);
    adopt_counters(world, same);
    world->closed_well = world->power_failed = false;
}
