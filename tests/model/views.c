/*
 * Comparisons of everything that can be seen of a set with the model. They run without faults.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/views.h"
#include "support/streams.h"

vidi_stats model_stat(const model_world *world, const vidi_set *set, const char *how)
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
    if (world->truth.stores_every_add && (model_stat(world, set, how).can & VIDI_CAN_COUNT))
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

void model_check_view(model_world *world, const vidi_set *set, const model_view *view, const char *how,
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

void model_check_previous(const model_world *world, const vidi_set *set, model_presence presence,
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

void model_check_listing(const model_world *world, const vidi_set *set, const model_view *view, const char *how,
                         bool may_refuse)
{
    listing list = {.world = world, .how = how};
    uint64_t least = 0, most = 0;
    if (!(model_stat(world, set, how).can & VIDI_CAN_ITERATE) || world->truth.one_sided)
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
    vidi_stats stats = model_stat(world, world->set, "the set");
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
    model_check(world, fabs(stats.expected_lost - counters->lost) <= 1e-9 * counters->lost, "%g pages lost, not %g",
                stats.expected_lost, counters->lost);
}

void model_compare_live(model_world *world)
{
    model_view view;
    model_truth_live(&world->truth, &view);
    model_check_view(world, world->set, &view, "the set", NULL);
    check_numbers(world, &view);
    if (!world->config.in_memory)
        model_check_note(world);
    model_check_previous(world, world->set, world->truth.previous_live, &world->truth.previous,
                         world->truth.previous_one_sided, "the set");
}

void model_compare_listed(model_world *world)
{
    model_view view;
    model_truth_committed(&world->truth, &view);
    model_check_listing(world, world->set, &view, "the set", false);
}

/* ---- what it writes ---- */

void model_compare_written(model_world *world)
{
    test_stream stream = {0};
    vidi_set *read;
    model_view view;
    vidi_access access = VIDI_ACCESS_INIT;
    access.invalid = world->config.invalid;
    world->incident = (model_incident){0};
    int code = vidi_write(world->set, test_stream_sink, &stream, 0);
    if (code < 0) {
        model_check_excuse(world, "vidi_write", code);
    } else {
        code = test_stream_read(&stream, &read, stream.size, &access);
        model_check(world, code == VIDI_OK, "what vidi_write wrote cannot be read: %d, %s", code, vidi_message());
        model_truth_committed(&world->truth, &view);
        model_check_view(world, read, &view, "what vidi_write wrote", NULL);
        model_check_listing(world, read, &view, "what vidi_write wrote", false);
        vidi_close(read);
    }
    test_stream_free(&stream);
}
