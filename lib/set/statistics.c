/* Statistics of a set, and the list of kinds. */
#include <stdio.h>

#include "set/set.h"

static void of_filter(const vidi__filter *filter, vidi_stats *stats)
{
    vidi__filter_stats own = {.stages = 1};
    vidi__text params = vidi__text_in(stats->params, sizeof stats->params);
    vidi__text hash = vidi__text_in(stats->hash, sizeof stats->hash);
    filter->kind->stat(filter, &own);
    filter->kind->describe(filter, &params);
    vidi__filter_hash_names(filter, &hash);
    snprintf(stats->kind, sizeof stats->kind, "%s", filter->kind->name);
    stats->can = vidi__filter_can(filter);
    stats->fp_meaning = filter->fp_meaning;
    stats->hash_trust = filter->keyed ? VIDI_HASH_KEYED : VIDI_HASH_TRUSTING;
    stats->stages = own.stages;
    stats->capacity = filter->capacity;
    stats->count = vidi__filter_count(filter);
    stats->bytes = own.bytes;
    stats->fill = own.fill;
    stats->fp_now = filter->kind->fp_now(filter);
    stats->ambiguous = own.ambiguous;
    stats->lines_touched = own.lines_touched;
}

int vidi_stat(const vidi_set *set, vidi_stats *stats)
{
    vidi_stats mine = {.size = sizeof mine};
    if (!set || !stats)
        return vidi__fail(VIDI_EARGUMENT, "set or stats is NULL");
    VIDI__TRY(vidi__set_here(set));
    vidi__lock_still(set);
    const vidi__epoch *now = &set->now;
    const vidi__counts counts = vidi__counts_of(set, now);
    of_filter(now->filter, &mine);
    mine.epoch = now->number;
    mine.memory_bytes = vidi__memory_used(&set->memory);
    mine.memory_limit = set->memory.limit;
    mine.expected_lost = counts.lost;
    mine.answered_new = counts.fresh;
    mine.answered_seen = counts.seen;
    mine.answered_invalid = counts.invalid;
    mine.asked = counts.asked;
    mine.removed = counts.removed;
    mine.past_epochs = set->history_count;
    if (set->persistence)
        set->persistence->stat((vidi_set *)set, &mine);
    vidi__unlock(set);
    VIDI__TRY(vidi__set_intact(set, VIDI_OK));
    snprintf(mine.canon, sizeof mine.canon, "%s", vidi_canon_name(set->canon));
    return vidi__struct_out(stats, &mine, sizeof mine, "vidi_stats");
}

int vidi_odds(const vidi_set *set, double *odds)
{
    if (odds)
        *odds = 0;
    if (!set || !odds)
        return vidi__fail(VIDI_EARGUMENT, "set or odds is NULL");
    VIDI__TRY(vidi__set_here(set));
    vidi__slot *slot = vidi__lock_to_look(set);
    double p = set->now.filter->kind->fp_now(set->now.filter);
    vidi__unlock_slot(set, slot, 1);
    VIDI__TRY(vidi__set_intact(set, VIDI_OK));
    *odds = vidi__filter_lost(p);
    return VIDI_OK;
}

int vidi_stage_stat(const vidi_set *set, uint64_t index, vidi_stage_stats *stats)
{
    vidi_stage_stats mine = {.size = sizeof mine};
    vidi__filter_stats all = {.stages = 1};
    if (!set || !stats)
        return vidi__fail(VIDI_EARGUMENT, "set or stats is NULL");
    VIDI__TRY(vidi__set_here(set));
    vidi__lock_still(set);
    const vidi__filter *filter = set->now.filter;
    filter->kind->stat(filter, &all);
    if (index < all.stages)
        vidi__filter_stage(filter, index, &mine);
    vidi__unlock(set);
    VIDI__TRY(vidi__set_intact(set, VIDI_OK));
    if (index >= all.stages)
        return vidi__fail(VIDI_EABSENT, "there is no stage %llu; the set has %u", (unsigned long long)index,
                          all.stages);
    return vidi__struct_out(stats, &mine, sizeof mine, "vidi_stage_stats");
}

int vidi_kind(size_t index, vidi_kind_info *info)
{
    const vidi__kind *kind = vidi__kind_at(index);
    if (!info)
        return vidi__fail(VIDI_EARGUMENT, "info is NULL");
    if (!kind)
        return vidi__fail(VIDI_EABSENT, "there is no kind number %zu", index);
    vidi_kind_info mine = {sizeof mine, kind->name, kind->summary, kind->can};
    return vidi__struct_out(info, &mine, sizeof mine, "vidi_kind_info");
}
