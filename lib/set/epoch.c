/*
 * Epochs: how a filter is made from a recipe, what a rotation does, and the record that a finished epoch leaves.
 *
 * The key of an epoch comes from the set's key and the epoch's number alone. So sets that share a key (a fleet, a set
 * and its copy) still fit together after each has rotated as often as the others, and everything else follows from the
 * epoch's key: item hashes, salts, members, stages.
 */
#include <math.h>

#include "set/set.h"

void vidi__epoch_lose(vidi__epoch *epoch, double more)
{
    if (more != 0)
        vidi__epoch_set_lost(epoch, fmax(vidi__epoch_lost(epoch) + more, 0));
}

static int find_feature(vidi__epoch *epoch)
{
    const vidi__needs *needs = &epoch->filter->needs;
    if (!(needs->what & VIDI__NEED_FEATURE))
        return VIDI_OK;
    epoch->feature = vidi__url_feature(needs->feature);
    return epoch->feature ? VIDI_OK : vidi__url_feature_unknown(needs->feature);
}

static int make_key(vidi__epoch *epoch, vidi__memory *memory, const unsigned char bytes[VIDI_KEY_BYTES])
{
    epoch->key[0] = vidi__load64(bytes);
    epoch->key[1] = vidi__load64(bytes + 8);
    if (!epoch->hash->has_secret)
        return VIDI_OK;
    VIDI__TRY(vidi__alloc(memory, &epoch->whole_key, sizeof *epoch->whole_key, VIDI__CACHE_LINE));
    vidi__hash_key_init(epoch->whole_key, bytes);
    return VIDI_OK;
}

int vidi__epoch_make(vidi_set *set, const vidi__recipe *recipe, uint64_t number, vidi__reader *reader,
                     vidi__epoch *epoch)
{
    vidi__params params;
    vidi__config config = {
        .memory = &set->memory,
        .params = &params,
        .capacity = recipe->capacity,
        .error = recipe->error,
        .seed.turn = number,
        .touch_later = set->touch_later,
        .reader = reader,
    };
    memset(epoch, 0, sizeof *epoch);
    epoch->number = number;
    VIDI__TRY(vidi__params_parse(&params, vidi__recipe_params(recipe)));
    VIDI__TRY(vidi__positions_item_hash(&params, &epoch->hash));
    config.item_hash = epoch->hash;

    unsigned char key[VIDI_KEY_BYTES];
    vidi__derive_key(key, set->key, "epoch", number);
    VIDI__TRY(make_key(epoch, &set->memory, key));
    config.item_key = vidi__epoch_key(epoch);
    memcpy(config.seed.key, key, sizeof key);
    if (set->member) {
        vidi__derive_key(config.seed.key, key, "member", set->member);
        config.seed.turn += set->member; /* in mode=different, each member starts with another function */
        config.is_member = true;
    }

    int code = reader ? vidi__filter_load(&epoch->filter, &config)
                      : vidi__filter_create(&epoch->filter, recipe->kind, &config);
    if (code == VIDI_OK)
        code = find_feature(epoch);
    if (code < 0)
        vidi__epoch_free(epoch, &set->memory);
    return code;
}

int vidi__epoch_copy_key(vidi__epoch *epoch, vidi__memory *memory, const vidi__epoch *from)
{
    memcpy(epoch->key, from->key, sizeof epoch->key);
    if (!from->whole_key)
        return VIDI_OK;
    VIDI__TRY(vidi__alloc(memory, &epoch->whole_key, sizeof *epoch->whole_key, VIDI__CACHE_LINE));
    *epoch->whole_key = *from->whole_key;
    return VIDI_OK;
}

void vidi__epoch_free(vidi__epoch *epoch, vidi__memory *memory)
{
    vidi__filter_destroy(epoch->filter);
    epoch->filter = NULL;
    vidi__release(memory, epoch->whole_key, sizeof *epoch->whole_key, VIDI__CACHE_LINE);
    epoch->whole_key = NULL;
}

const vidi__epoch *vidi__set_previous(const vidi_set *set, const vidi_set **owner)
{
    *owner = set;
    if (set->previous)
        return set->previous;
    if (!set->previous_set)
        return NULL;
    *owner = set->previous_set;
    return &set->previous_set->now;
}

int vidi__history_add(vidi_set *set, const vidi_epoch_stats *record)
{
    if (set->history_count == set->history_room) {
        uint64_t room = set->history_room ? set->history_room * 2 : 4;
        VIDI__TRY(vidi__regrow(&set->memory, &set->history, set->history_room * sizeof *set->history,
                               room * sizeof *set->history, _Alignof(vidi_epoch_stats)));
        set->history_room = room;
    }
    set->history[set->history_count++] = *record;
    return VIDI_OK;
}

static vidi_epoch_stats record_of(const vidi__epoch *epoch)
{
    vidi__filter_stats stats = {.stages = 1};
    epoch->filter->kind->stat(epoch->filter, &stats);
    return (vidi_epoch_stats){
        .size = sizeof(vidi_epoch_stats),
        .epoch = epoch->number,
        .capacity = epoch->filter->capacity,
        .count = vidi__filter_count(epoch->filter),
        .bytes = stats.bytes,
        .answered_new = atomic_load_explicit(&epoch->answered_new, memory_order_relaxed),
        .answered_seen = atomic_load_explicit(&epoch->answered_seen, memory_order_relaxed),
        .fp_end = epoch->filter->kind->fp_now(epoch->filter),
        .expected_lost = vidi__epoch_lost(epoch),
    };
}

/* Returns true if the user has fixed the size of the arrays: then rotations keep it. */
static bool size_is_given(const vidi__recipe *recipe)
{
    vidi__params params;
    return vidi__params_parse(&params, vidi__recipe_params(recipe)) == VIDI_OK &&
           (vidi__params_has(&params, "m") || vidi__params_has(&params, "inner.m"));
}

/* The next epoch is sized as the user says now, or from the last epoch's count (the thesis, section 7.2.1). */
static int next_recipe(vidi_set *set, const vidi_options *next, vidi__recipe *recipe)
{
    uint64_t count = vidi__filter_count(set->now.filter);
    VIDI__TRY(vidi__recipe_copy(recipe, &set->memory, &set->recipe));
    if (next) {
        if (next->key || next->like || next->member || next->canon || next->tracking || next->path || next->access)
            return vidi__fail(VIDI_EOPTION, "a rotation cannot change key, like, member, canon, tracking, path or "
                                            "access");
        recipe->flags = 0;
        VIDI__TRY(vidi__recipe_take(recipe, &set->memory, next));
        if (next->capacity)
            return VIDI_OK;
    }
    if (count && !size_is_given(recipe))
        recipe->capacity = (uint64_t)fmin(ceil((double)count * recipe->headroom), (double)VIDI__CAPACITY_MAX);
    return VIDI_OK;
}

/* What a rotation needs, made before anything changes. */
typedef struct rotation {
    vidi__recipe recipe;
    vidi__epoch fresh;
    vidi__epoch *kept; /* where the old epoch goes; NULL: nowhere */
} rotation;

static void abandon(vidi_set *set, rotation *self)
{
    vidi__recipe_free(&self->recipe, &set->memory);
    vidi__epoch_free(&self->fresh, &set->memory);
    vidi__release(&set->memory, self->kept, sizeof *self->kept, _Alignof(vidi__epoch));
}

static int prepare(vidi_set *set, const vidi_options *next, rotation *self)
{
    int caught_up = set->persistence ? set->persistence->catch_up(set) : VIDI_OK;
    vidi_epoch_stats record = record_of(&set->now);
    VIDI__TRY(next_recipe(set, next, &self->recipe));
    if (self->recipe.flags & VIDI_KEEP_PREVIOUS) {
        VIDI__TRY(caught_up); /* what is kept must be whole */
        VIDI__TRY(vidi__alloc(&set->memory, &self->kept, sizeof *self->kept, _Alignof(vidi__epoch)));
    }
    VIDI__TRY(vidi__epoch_make(set, &self->recipe, set->now.number + 1, NULL, &self->fresh));
    if (self->fresh.filter->combination && self->fresh.filter->combination == set->now.filter->combination)
        return vidi__fail(VIDI_EOPTION,
                          "the next epoch would use the same hash functions without salts, and so lose the "
                          "same pages; give more of them (functions=a+b+…)");
    return vidi__history_add(set, &record);
}

int vidi__set_keep_now(vidi_set *set)
{
    VIDI__TRY(vidi__alloc(&set->memory, &set->previous, sizeof *set->previous, _Alignof(vidi__epoch)));
    *set->previous = set->now;
    memset(&set->now, 0, sizeof set->now);
    return VIDI_OK;
}

void vidi__set_drop_previous(vidi_set *set)
{
    if (!set->previous)
        return;
    vidi__epoch_free(set->previous, &set->memory);
    vidi__release(&set->memory, set->previous, sizeof *set->previous, _Alignof(vidi__epoch));
    set->previous = NULL;
}

static int rotate(vidi_set *set, const vidi_options *next)
{
    rotation self = {0};
    int code = prepare(set, next, &self);
    if (code < 0) {
        abandon(set, &self);
        return code;
    }
    vidi__epoch old = set->now;
    vidi__recipe old_recipe = set->recipe;
    vidi__mutex_lock(&set->renewal); /* until it is certain: no digest may be made for an epoch that is abandoned */
    set->now = self.fresh;
    set->recipe = self.recipe;
    vidi__change change = self.kept ? VIDI__ROTATED_KEEPING : VIDI__ROTATED;
    code = set->persistence ? set->persistence->changed(set, change) : VIDI_OK;
    if (code < 0) {
        set->now = old;
        set->recipe = old_recipe;
    }
    vidi__mutex_unlock(&set->renewal);
    if (code < 0) {
        set->history_count--;
        abandon(set, &self);
        return code;
    }
    vidi__recipe_free(&old_recipe, &set->memory);
    vidi__set_drop_previous(set);
    set->earlier_moves += old.filter->moves + 1;
    set->previous = self.kept;
    if (self.kept)
        *self.kept = old;
    else
        vidi__epoch_free(&old, &set->memory);
    vidi__set_ready(set);
    return VIDI_OK;
}

int vidi_rotate(vidi_set *set, const vidi_options *next)
{
    vidi_options mine;
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    VIDI__TRY(vidi__set_writable(set));
    if (next)
        VIDI__TRY(vidi__struct_in(&mine, sizeof mine, next, "vidi_options"));
    vidi__turn_begin(set);
    vidi__lock_alone(set);
    int code = rotate(set, next ? &mine : NULL);
    vidi__unlock(set);
    vidi__turn_end(set);
    return code;
}

int vidi_drop_previous(vidi_set *set)
{
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    VIDI__TRY(vidi__set_writable(set));
    vidi__turn_begin(set);
    vidi__lock_alone(set);
    set->earlier_moves++;
    vidi__set_drop_previous(set);
    if (set->persistence)
        (void)set->persistence->changed(set, VIDI__PREVIOUS_DROPPED);
    vidi__unlock(set);
    vidi__turn_end(set);
    return VIDI_OK;
}

int vidi_epoch_stat(const vidi_set *set, uint64_t index, vidi_epoch_stats *stats)
{
    if (!set || !stats)
        return vidi__fail(VIDI_EARGUMENT, "set or stats is NULL");
    VIDI__TRY(vidi__set_here(set));
    vidi__lock_shared(set);
    int code;
    if (index < set->history_count)
        code = vidi__struct_out(stats, &set->history[index], sizeof *stats, "vidi_epoch_stats");
    else
        code = vidi__fail(VIDI_EABSENT, "there is no record %llu; %llu epochs are past", (unsigned long long)index,
                          (unsigned long long)set->history_count);
    vidi__unlock(set);
    return code;
}
