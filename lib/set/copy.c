/*
 * A copy of a set in memory. The filter goes from one set to the other as the bytes that it would be saved as, through
 * a pipe (base/pipe.h): every kind can do that, and the copy answers as the original does.
 */
#include "base/pipe.h"
#include "set/set.h"

/* An epoch on its way into the copy's `now`. */
typedef struct copying {
    vidi_set *copy;
    const vidi__epoch *from;
    const vidi__recipe *recipe;
} copying;

static int save_filter(void *context, vidi__writer *writer)
{
    const copying *self = context;
    return vidi__filter_save(self->from->filter, writer);
}

static int load_filter(void *context, vidi__reader *reader)
{
    const copying *self = context;
    return vidi__epoch_make(self->copy, self->recipe, self->from->number, reader, &self->copy->now);
}

static void copy_counters(vidi__epoch *into, const vidi_set *set, const vidi__epoch *from)
{
    const vidi__counts counts = vidi__counts_of(set, from);
    atomic_store(&into->answered_new, counts.fresh);
    atomic_store(&into->answered_seen, counts.seen);
    atomic_store(&into->answered_invalid, counts.invalid);
    atomic_store(&into->asked, counts.asked);
    atomic_store(&into->removed, counts.removed);
    vidi__epoch_set_lost(into, counts.lost);
}

/* Makes copy->now of an epoch of `from`, which is a set of its own or the one that is copied. */
static int copy_epoch(vidi_set *copy, const vidi_set *from, const vidi__epoch *epoch, const vidi__recipe *recipe)
{
    copying self = {copy, epoch, recipe};
    if (from->mapped) /* the pipe vouches for what comes through it */
        VIDI__TRY(vidi__set_intact(from, vidi__set_verify(from)));
    VIDI__TRY(vidi__set_intact(from, vidi__pipe_run(&copy->memory, save_filter, load_filter, &self)));
    copy_counters(&copy->now, from, epoch);
    return VIDI_OK;
}

/* Adds what the set has committed but, being mapped, has no room for in its filter. */
static int copy_rest(vidi_set *copy, const vidi_set *from)
{
    if (!from->partial)
        return VIDI_OK;
    VIDI__TRY(vidi__set_intact(from, from->persistence->merge_into(copy, from, NULL)));
    copy_counters(&copy->now, from, &from->now); /* which counted the log's answers when it was read */
    return VIDI_OK;
}

static int copy_identity(vidi_set *copy, const vidi_set *from)
{
    vidi_canon *canon;
    VIDI__TRY(vidi__canon_copy(&canon, &copy->memory, from->canon));
    vidi__set_canon(copy, canon);
    VIDI__TRY(vidi__recipe_copy(&copy->recipe, &copy->memory, &from->recipe));
    copy->member = from->member;
    memcpy(copy->key, from->key, sizeof copy->key);
    for (uint64_t i = 0; i < from->history_count; i++)
        VIDI__TRY(vidi__history_add(copy, &from->history[i]));
    return VIDI_OK;
}

/* The previous epoch comes first, because an epoch is always made as `now`. */
static int copy_previous(vidi_set *copy, const vidi_set *from)
{
    vidi__recipe recipe;
    char params[VIDI__DESCRIPTION];
    const vidi_set *owner = from;
    const vidi__epoch *previous = vidi__set_previous(from, &owner);
    if (!previous)
        return VIDI_OK;
    VIDI__TRY(vidi__recipe_of_filter(&recipe, previous->filter, params));
    VIDI__TRY(copy_epoch(copy, owner, previous, &recipe));
    if (owner != from)
        VIDI__TRY(copy_rest(copy, owner));
    return vidi__set_keep_now(copy);
}

static int copy_all(vidi_set *copy, const vidi_set *from)
{
    VIDI__TRY(copy_identity(copy, from));
    VIDI__TRY(copy_previous(copy, from));
    VIDI__TRY(copy_epoch(copy, from, &from->now, &from->recipe));
    VIDI__TRY(copy_rest(copy, from));
    vidi__set_ready(copy);
    return VIDI_OK;
}

int vidi_copy(vidi_set **copy, const vidi_set *set, const vidi_access *access)
{
    vidi_access mine;
    if (!copy || !set)
        return vidi__fail(VIDI_EARGUMENT, "copy or set is NULL");
    *copy = NULL;
    VIDI__TRY(vidi__set_here(set));
    VIDI__TRY(vidi__access_take(&mine, access));
    if (mine.flags & VIDI_READ_ONLY)
        return vidi__fail(VIDI_EOPTION, "a copy cannot be read-only");
    VIDI__TRY(vidi__set_alloc(copy, &mine));
    vidi__turn_begin(set);
    int code = vidi__lock_whole(set);
    if (code == VIDI_OK)
        code = copy_all(*copy, set);
    vidi__unlock(set);
    vidi__turn_end(set);
    if (code < 0) {
        vidi_close(*copy);
        *copy = NULL;
    }
    return code;
}
