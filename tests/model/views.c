/*
 * Comparisons of everything that can be seen of a set with the model. They run without faults.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/world.h"
#include "support/streams.h"

static vidi_stats stat_of(const model_world *world, const vidi_set *set, const char *how)
{
    vidi_stats stats;
    memset(&stats, 0, sizeof stats);
    stats.size = sizeof stats;
    model_check(world, vidi_stat(set, &stats) == VIDI_OK, "%s: vidi_stat: %s", how, vidi_message());
    return stats;
}

bool model_is_taken(const model_world *world, size_t url)
{
    return !model_url_is_invalid(url) || world->config.invalid == VIDI_KEEP_INVALID ||
           strcmp(world->config.canon, "none") == 0;
}

vidi_str model_spelling(model_world *world, size_t url)
{
    return model_url(url, strcmp(world->config.canon, "none") == 0 ? 0 : model_below(world, MODEL_SPELLINGS));
}

uint8_t model_times(const model_world *world, size_t url)
{
    model_view view;
    model_truth_live(&world->truth, &view);
    return (uint8_t)__builtin_ctzll(view.counts[url]);
}

/* ---- the URLs of a set ---- */

static void count_times(const model_world *world, const vidi_set *set, const char *how, uint64_t times[MODEL_URLS])
{
    for (size_t i = 0; i < MODEL_URLS; i++) {
        if (!model_is_taken(world, i))
            continue;
        int code = vidi_count(set, model_url(i, 0), &times[i]);
        model_check(world, code == VIDI_OK || model_is_excused(world, code), "%s: vidi_count: %d, %s", how, code,
                    vidi_message());
    }
}

void model_look(model_world *world, const vidi_set *set, const char *how, uint8_t verdicts[MODEL_URLS],
                uint64_t times[MODEL_URLS])
{
    vidi_str urls[MODEL_URLS];
    uint8_t answers[MODEL_URLS];
    size_t n = 0;
    for (size_t i = 0; i < MODEL_URLS; i++)
        if (model_is_taken(world, i))
            urls[n++] = model_url(i, 0);
    int code = vidi_has_batch(set, urls, n, answers);
    model_check(world, code == VIDI_OK, "%s: vidi_has_batch: %d, %s", how, code, vidi_message());
    if (set == world->set)
        world->counters.asked += n;
    for (size_t i = 0, k = 0; i < MODEL_URLS; i++) {
        verdicts[i] = model_is_taken(world, i) ? answers[k++] : VIDI_NEW;
        times[i] = verdicts[i] == VIDI_SEEN;
        model_check(world, verdicts[i] == VIDI_NEW || verdicts[i] == VIDI_SEEN, "%s: URL %zu has verdict %d", how, i,
                    verdicts[i]);
    }
    if (world->truth.stores_every_add && (stat_of(world, set, how).can & VIDI_CAN_COUNT))
        count_times(world, set, how, times);
}

static uint64_t least_of(uint64_t counts)
{
    return (uint64_t)__builtin_ctzll(counts);
}

static void check_url(const model_world *world, const char *how, size_t url, uint8_t verdict, uint64_t times,
                      uint64_t counts)
{
    uint64_t least = least_of(counts);
    if (least > 0)
        model_check(world, verdict == VIDI_SEEN, "%s: URL %zu is new, but must be seen", how, url);
    if (!(counts & ~UINT64_C(1)) && !world->truth.one_sided)
        model_check(world, verdict == VIDI_NEW, "%s: URL %zu is seen, but must be new", how, url);
    if (!world->truth.stores_every_add)
        return;
    if (world->truth.one_sided)
        model_check(world, times >= least, "%s: URL %zu is there %d times, which is less than %d", how, url, (int)times,
                    (int)least);
    else
        model_check(world, times < 64 && (counts >> times & 1), "%s: URL %zu is there %d times; possible: bits %llx",
                    how, url, (int)times, (unsigned long long)counts);
}

static void check_view(model_world *world, const vidi_set *set, const model_view *view, const char *how,
                       uint8_t found[MODEL_URLS])
{
    uint8_t verdicts[MODEL_URLS];
    uint64_t times[MODEL_URLS];
    model_look(world, set, how, verdicts, times);
    for (size_t i = 0; i < MODEL_URLS; i++) {
        check_url(world, how, i, verdicts[i], times[i], view->counts[i]);
        uint64_t known = world->truth.one_sided ? least_of(view->counts[i]) : times[i];
        if (found)
            found[i] = (uint8_t)known;
    }
}

void model_check_set(model_world *world, const vidi_set *set, const model_view *view, const char *how)
{
    check_view(world, set, view, how, NULL);
}

static void check_previous(const model_world *world, const vidi_set *set, model_presence presence,
                           const model_view *view, bool one_sided, const char *how)
{
    for (size_t i = 0; i < MODEL_URLS; i++) {
        if (!model_is_taken(world, i))
            continue;
        int verdict = vidi_has_previous(set, model_url(i, 0));
        if (verdict == VIDI_ECANNOT) {
            model_check(world, presence != MODEL_MUST, "%s: the previous epoch is missing", how);
            return;
        }
        model_check(world, presence != MODEL_NO, "%s: there is a previous epoch", how);
        model_check(world, verdict == VIDI_NEW || verdict == VIDI_SEEN, "%s: vidi_has_previous: %d, %s", how, verdict,
                    vidi_message());
        bool wrong = verdict == VIDI_NEW ? !(view->counts[i] & 1) : !one_sided && view->counts[i] == 1;
        model_check(world, !wrong, "%s: URL %zu is %s in the previous epoch", how, i,
                    verdict == VIDI_NEW ? "new" : "seen");
    }
}

/* ---- listing ---- */

typedef struct listing {
    const model_world *world;
    const char *how;
    uint64_t times[MODEL_URLS];
    uint64_t total;
} listing;

static int list_entry(void *context, const vidi_entry *entry)
{
    listing *list = context;
    list->total += entry->times;
    if (!list->world->config.kind->keeps_urls)
        return 0;
    size_t url = entry->url.ptr ? model_url_find(entry->url) : MODEL_URLS;
    if (url < MODEL_URLS)
        list->times[url] += entry->times;
    return 0;
}

static bool lists_texts(const model_world *world)
{
    const char *canon = world->config.canon;
    return world->config.kind->keeps_urls && strcmp(canon, "surt") != 0 && strncmp(canon, "key", 3) != 0;
}

/* `can` tells that it may list nothing: a mapped set whose log removes something. */
static void check_listing(const model_world *world, const vidi_set *set, const model_view *view, const char *how,
                          bool may_refuse)
{
    listing list = {.world = world, .how = how};
    uint64_t least = 0, most = 0;
    if (!(stat_of(world, set, how).can & VIDI_CAN_ITERATE) || world->truth.one_sided)
        return;
    int code = vidi_iterate(set, list_entry, &list);
    if (code == VIDI_ECANNOT && may_refuse)
        return;
    model_check(world, code == VIDI_OK, "%s: vidi_iterate: %d, %s", how, code, vidi_message());
    for (size_t i = 0; i < MODEL_URLS; i++) {
        least += least_of(view->counts[i]);
        most += 63 - (uint64_t)__builtin_clzll(view->counts[i]);
        if (lists_texts(world) && !model_url_is_invalid(i))
            model_check(world, list.times[i] < 64 && (view->counts[i] >> list.times[i] & 1),
                        "%s: URL %zu is listed %d times; possible: bits %llx", how, i, (int)list.times[i],
                        (unsigned long long)view->counts[i]);
    }
    model_check(world, list.total >= least && list.total <= most, "%s: %d URLs are listed; possible: %d to %d", how,
                (int)list.total, (int)least, (int)most);
}

/* ---- the open set ---- */

static void check_numbers(const model_world *world, const model_view *live)
{
    const model_truth *truth = &world->truth;
    const model_counters *counters = &world->counters;
    vidi_stats stats = stat_of(world, world->set, "the set");
    uint64_t count = 0, staged = 0, unsure = 0;
    for (size_t i = 0; i < MODEL_URLS; i++)
        count += live->counts[i] != 1;
    for (size_t i = 0; i < truth->n_ops; i++) {
        staged += truth->ops[i].fate == MODEL_STAGED;
        unsure += truth->ops[i].fate == MODEL_MAYBE;
    }
    model_check(world, stats.epoch == truth->epoch, "epoch %d, not %d", (int)stats.epoch, (int)truth->epoch);
    model_check(world, stats.past_epochs == truth->epoch, "%d past epochs, not %d", (int)stats.past_epochs,
                (int)truth->epoch);
    model_check(world, stats.staged >= staged && stats.staged <= staged + unsure, "%d operations are staged, not %d",
                (int)stats.staged, (int)staged);
    if (!truth->one_sided && !truth->stores_every_add && !(world->merged && !world->config.kind->keeps_urls))
        model_check(world, stats.count == count, "the set counts %d URLs, not %d", (int)stats.count, (int)count);
    const uint64_t is[] = {stats.answered_new, stats.answered_seen, stats.answered_invalid, stats.asked, stats.removed};
    const uint64_t must[] = {counters->fresh, counters->seen, counters->invalid, counters->asked, counters->removed};
    static const char *const names[] = {"answered_new", "answered_seen", "answered_invalid", "asked", "removed"};
    for (size_t i = 0; i < 5; i++)
        model_check(world, is[i] == must[i], "%s is %d, not %d", names[i], (int)is[i], (int)must[i]);
}

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

/*
 * What may be in a folder in which this set was found, by its note; *number is that of the note, the last if several are
 * empty.
 */
static void view_of_folder(const model_world *world, const vidi_set *set, const char *how, uint32_t *number,
                           model_view *view)
{
    char text[VIDI_NOTE_MAX];
    vidi_recovery recovery = {.size = sizeof recovery};
    size_t len = read_note(world, set, how, text);
    bool any = false, torn = vidi_recovered(set, &recovery) == VIDI_OK && recovery.damaged_bytes;
    memset(view, 0, sizeof *view);
    for (uint32_t i = 0; i <= world->truth.notes; i++) {
        model_view with_this;
        if (!world->truth.note_on_disk[i] || !note_is(world, i, text, len))
            continue;
        any = true;
        *number = i;
        model_truth_found(&world->truth, torn ? UINT32_MAX : i, &with_this);
        for (size_t k = 0; k < MODEL_URLS; k++)
            view->counts[k] |= with_this.counts[k];
    }
    model_check(world, any, "%s: the note \"%.*s\" is not the last, nor one that may be found", how,
                (int)(len < 40 ? len : 40), text);
}

static void check_note(const model_world *world)
{
    char text[VIDI_NOTE_MAX];
    size_t len = read_note(world, world->set, "the set", text);
    model_check(world, note_is(world, world->truth.note, text, len), "the set's note is \"%.*s\", not note %u",
                (int)(len < 40 ? len : 40), text, world->truth.note);
}

static void compare_live(model_world *world)
{
    model_view view;
    model_truth_live(&world->truth, &view);
    check_view(world, world->set, &view, "the set", NULL);
    check_numbers(world, &view);
    if (!world->config.in_memory)
        check_note(world);
    check_previous(world, world->set, world->truth.previous_live, &world->truth.previous,
                   world->truth.previous_one_sided, "the set");
    model_truth_committed(&world->truth, &view);
    check_listing(world, world->set, &view, "the set", false);
}

/* ---- what it writes ---- */

static void compare_written(model_world *world)
{
    test_stream stream = {0};
    vidi_set *read;
    model_view view;
    vidi_access access = VIDI_ACCESS_INIT;
    access.invalid = world->config.invalid;
    world->incident = (model_incident){0};
    int code = vidi_write(world->set, test_stream_sink, &stream);
    if (code < 0) {
        model_check_excuse(world, "vidi_write", code);
    } else {
        code = test_stream_read(&stream, &read, stream.size, &access);
        model_check(world, code == VIDI_OK, "what vidi_write wrote cannot be read: %d, %s", code, vidi_message());
        model_truth_committed(&world->truth, &view);
        check_view(world, read, &view, "what vidi_write wrote", NULL);
        check_listing(world, read, &view, "what vidi_write wrote", false);
        vidi_close(read);
    }
    test_stream_free(&stream);
}

/* ---- the folder ---- */

/* Compares a set that was opened from the folder or a copy of it. Returns false if it is in the next epoch. */
static bool check_folder(model_world *world, const vidi_set *set, const char *how, uint8_t found[MODEL_URLS],
                         uint32_t *note)
{
    model_truth *truth = &world->truth;
    model_view view, empty = {{0}};
    uint64_t epoch = stat_of(world, set, how).epoch;
    view_of_folder(world, set, how, note, &view);
    if (truth->epoch_unsure && epoch == truth->epoch + 1) {
        for (size_t i = 0; i < MODEL_URLS; i++)
            empty.counts[i] = 1;
        check_view(world, set, &empty, how, found);
        check_previous(world, set, truth->next_keeps ? MODEL_MUST : MODEL_NO, &view, truth->one_sided, how);
        return false;
    }
    model_check(world, epoch == truth->epoch, "%s: epoch %d, not %d", how, (int)epoch, (int)truth->epoch);
    check_view(world, set, &view, how, found);
    check_previous(world, set, truth->previous_on_disk, &truth->previous_disk, truth->previous_one_sided, how);
    return true;
}

static void check_whole(const model_world *world, const vidi_set *set, const char *how)
{
    vidi_recovery recovery = {.size = sizeof recovery};
    int code = vidi_recovered(set, &recovery);
    model_check(world, world->torn || (code == VIDI_OK && recovery.damaged_bytes == 0), "%s: %d bytes are damaged", how,
                (int)recovery.damaged_bytes);
}

static int open_at(const model_world *world, vidi_set **set, const char *path, unsigned flags)
{
    vidi_access access = VIDI_ACCESS_INIT;
    access.invalid = world->config.invalid;
    access.sync = world->config.sync;
    access.flags = flags | (world->config.manual && !(flags & VIDI_READ_ONLY) ? VIDI_MANUAL_COMMIT : 0);
    return vidi_open_with(set, path, &access);
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
        check_listing(world, reader, &view, how, !(flags & VIDI_NO_MAP));
        check_whole(world, reader, how);
    }
    code = vidi_verify(reader);
    model_check(world, code == VIDI_OK, "%s: vidi_verify: %d, %s", how, code, vidi_message());
    vidi_close(reader);
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
    if (gone && power != 1 && world->truth.tainted)
        return; /* a sync had failed before the set was opened, so the disk has lost what this process takes for synced */
    model_check(world, code == VIDI_OK, "%s: %d, %s", how, code, vidi_message());
    bool same = check_folder(world, set, how, found, &note);
    if (power == 1) {
        model_check(world, !same || model_truth_is_prefix(&world->truth, found),
                    "%s: not a first part of what is committed", how);
        check_whole(world, set, how);
    }
    if (model_chance(world, 25))
        use_copy(world, set, how);
    else
        vidi_close(set);
}

void model_compare(model_world *world)
{
    char how[60];
    if (!world->config.in_memory)
        model_settle();
    compare_live(world);
    if (model_chance(world, world->config.write_share))
        compare_written(world);
    if (world->config.in_memory)
        return;
    compare_reader(world, VIDI_READ_ONLY, "a reader that maps");
    if (model_chance(world, 30))
        compare_reader(world, VIDI_READ_ONLY | VIDI_NO_MAP, "a reader");
    if (model_chance(world, 40))
        compare_copy(world, 1, "a copy of the folder");
    uint64_t power = model_chance(world, 30) ? 0 : test_next(&world->random) | 2;
    snprintf(how, sizeof how, "after power failure %llx", (unsigned long long)power);
    model_shown_now->powerless++;
    compare_copy(world, power, how);
}

/* ---- after opening ---- */

static void adopt_counters(model_world *world)
{
    vidi_stats stats = stat_of(world, world->set, "the opened set");
    world->counters =
        (model_counters){stats.answered_new, stats.answered_seen, stats.answered_invalid, stats.asked, stats.removed};
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
        check_view(world, world->set, &view, "opened again after vidi_close", NULL);
    } else {
        model_check(world, world->power_failed || model_truth_is_prefix(&world->truth, found),
                    "opened again: not a first part of what is committed");
    }
    world->truth.epoch_unsure &= !certain && same;
    world->found_next = !same;
    adopt_previous(world, certain);
    model_truth_opened(&world->truth, found, note, certain);
    adopt_counters(world);
    world->closed_well = world->power_failed = false;
}
