/*
 * Merging sets on disk into a new one, without holding that one in memory.
 *
 *     1  map the sets, verify them, and check that they fit
 *     2  measure their union: how many URLs it has with those in the logs, and its error rate      (filters/union.h)
 *     3  write the union as the first snapshot of the new set, in pieces
 *     4  write what the logs of the sets have to the log of the new one     (the snapshot is not in force before that)
 *
 * While it is made, the new set has a filter that only knows how to be saved: the union. What merge_into of the other
 * sets adds to it or removes from it is counted in step 2, and goes to the log in step 4.
 *
 * Memory: what mapping the sets takes, which includes what is in their logs, as much again for the new log, 8 bytes for
 * each 64 KiB of the new snapshot, and for a fingerprint table a 64th of that.
 */
#include <stdio.h>

#include "durable/durable.h"
#include "filters/union.h"

typedef struct merging {
    const char *const *paths;
    size_t count;
    unsigned flags;
    vidi_access access;
    vidi_set *into;
    vidi_set **sets;
    const vidi__filter **parts;
    uint64_t *logged; /* URLs that are in the log of a set and not in its filter */
    vidi__union all;
    vidi__union_filter filter; /* of `into` */
    size_t at;                 /* the set whose operations are being counted */
    vidi__staging met;         /* the URLs that have been counted */
} merging;

/* ---- the sets ---- */

static int in_set(const merging *self, size_t i, int code)
{
    return code < 0 ? vidi__fail_in(self->paths[i], code) : VIDI_OK;
}

/* VIDI_EDAMAGED if something is gone, unless the caller accepts that. */
static int check_whole(const merging *self, const vidi_set *set)
{
    const vidi_recovery *found = &set->durable->recovery;
    if (self->access.flags & VIDI_ACCEPT_DAMAGE || (!found->missing_files && !found->damaged_bytes))
        return VIDI_OK;
    return vidi__fail(VIDI_EDAMAGED, "part of what was committed is gone: %s is missing or damaged",
                      found->missing_files ? found->missing_file : found->damaged_log);
}

static int open_set(merging *self, size_t i)
{
    vidi_access access = self->access;
    access.flags = VIDI_READ_ONLY;
    VIDI__TRY(vidi__durable_open(&self->sets[i], self->paths[i], &access));
    vidi_set *set = self->sets[i];
    VIDI__TRY(vidi__union_possible(set->now.filter));
    VIDI__TRY(check_whole(self, set));
    VIDI__TRY(vidi__merge_fits(self->sets[0], set));
    if (!set->now.filter->stores_every_add)
        VIDI__TRY(vidi__durable_iterate(set, NULL, NULL));
    self->parts[i] = set->now.filter;
    return set->mapped ? vidi__set_intact(set, vidi__set_verify(set)) : VIDI_OK;
}

/* ---- operations of the sets' logs ---- */

static merging *merging_of(vidi__filter *filter)
{
    return (merging *)((char *)filter - offsetof(merging, filter));
}

static vidi__u128 hash_of(const merging *self, const vidi__item *item)
{
    const vidi__epoch *epoch = &self->into->now;
    return vidi__epoch_needs_hash_only(epoch) ? item->url.hash : vidi__durable_url_hash(epoch, item->url.str);
}

/* Calls the filter's functions for each operation; returns the error of the set that failed. */
static int pass_operations(const merging *self, size_t i)
{
    return in_set(self, i, vidi__durable_merge_into(self->into, self->sets[i], NULL));
}

/* ---- counting them ---- */

/*
 * sizes[i] is about the union of the first i + 1 sets. A URL of a log is one more in each union from that of its own
 * set on, until a filter joins that has it too. Here `more` is the difference to the union before. A URL of several
 * logs counts once, in the first of them.
 */
static int count_add(vidi__filter *filter, const vidi__item *item)
{
    merging *self = merging_of(filter);
    vidi__union_size *sizes = self->all.sizes;
    vidi__u128 hash = hash_of(self, item);
    size_t first = 0;
    if (vidi__staging_delta(&self->met, hash) > 0)
        return VIDI_SEEN;
    VIDI__TRY(vidi__staging_reserve(&self->met, 1, 0));
    vidi__staging_add(&self->met, VIDI__OP_ADD, hash, (vidi_str){NULL, 0});
    while (first < self->count && self->parts[first]->kind->has(self->parts[first], item) != VIDI_SEEN)
        first++;
    if (first > self->at) {
        sizes[self->at].more++;
        if (first < self->count)
            sizes[first].more--;
    }
    return VIDI_NEW;
}

static int ignore_remove(vidi__filter *filter, const vidi__item *item)
{
    (void)filter, (void)item;
    return VIDI_OK;
}

static int count_operations(merging *self)
{
    vidi__union_size *sizes = self->all.sizes;
    self->filter.kind.add = count_add;
    self->filter.kind.remove = ignore_remove;
    for (self->at = 0; self->at < self->count; self->at++) {
        VIDI__TRY(pass_operations(self, self->at));
        VIDI__TRY(in_set(self, self->at, vidi__merge_count_logged(self->sets[self->at], &self->logged[self->at])));
    }
    for (size_t i = 1; i < self->count; i++)
        sizes[i].more += sizes[i - 1].more;
    vidi__staging_free(&self->met);
    return VIDI_OK;
}

/* ---- passing them on to the log of the new set ---- */

static int log_operation(merging *self, vidi__operation kind, const vidi__item *item)
{
    vidi__log *log = self->into->durable->log->log;
    vidi__record record = {kind, &item->url.hash, &item->url.str, 1};
    uint64_t position = vidi__log_end(log);
    int code = vidi__record_append(self->into, VIDI__RECORD_WITH_TALLY, &record, &position);
    if (code != VIDI_EMEMORY && code != VIDI_ELIMIT)
        return code;
    VIDI__TRY(vidi__log_wait(log, position)); /* no memory for the log's buffer: wait until it is written */
    return vidi__record_append(self->into, VIDI__RECORD_WITH_TALLY, &record, &position);
}

/* The log of a plain set has no URL that its filter has, and none twice: the staging area remembers which it has. */
static int log_once(merging *self, const vidi__item *item)
{
    vidi_set *into = self->into;
    vidi__staging *staging = &into->durable->staging;
    vidi__u128 hash = hash_of(self, item);
    if (vidi__staging_delta(staging, hash) > 0 || self->filter.kind.has(&self->filter.base, item) == VIDI_SEEN)
        return VIDI_SEEN;
    VIDI__TRY(vidi__staging_reserve(staging, 1, item->url.str.len));
    VIDI__TRY(log_operation(self, VIDI__OP_ADD, item));
    vidi__staging_add(staging, VIDI__OP_ADD, hash, item->url.str);
    staging->logged = staging->count;
    return VIDI_NEW;
}

static int log_add(vidi__filter *filter, const vidi__item *item)
{
    merging *self = merging_of(filter);
    if (!filter->stores_every_add)
        return log_once(self, item);
    VIDI__TRY(log_operation(self, VIDI__OP_ADD, item));
    return VIDI_NEW;
}

static int log_remove(vidi__filter *filter, const vidi__item *item)
{
    return log_operation(merging_of(filter), VIDI__OP_REMOVE, item);
}

/* A vidi__durable_fill. */
static int log_operations(vidi_set *into, void *context)
{
    merging *self = context;
    (void)into;
    self->filter.kind.add = log_add;
    self->filter.kind.remove = log_remove;
    for (size_t i = 0; i < self->count; i++)
        VIDI__TRY(pass_operations(self, i));
    return VIDI_OK;
}

/* ---- the new set ---- */

/* Everything but the filter is as in an empty set that is created like the first one. */
static int make_into(merging *self)
{
    const vidi_set *like = self->sets[0];
    vidi_set *into = self->into;
    vidi_canon *canon;
    VIDI__TRY(vidi__canon_copy(&canon, &into->memory, like->canon));
    vidi__set_canon(into, canon);
    VIDI__TRY(vidi__recipe_copy(&into->recipe, &into->memory, &like->recipe));
    into->member = like->member;
    memcpy(into->key, like->key, sizeof into->key);
    into->now.number = like->now.number;
    into->now.hash = like->now.hash;
    VIDI__TRY(vidi__epoch_copy_key(&into->now, &into->memory, &like->now));
    vidi__union_filter_init(&self->filter, &self->all);
    into->now.filter = &self->filter.base;
    return VIDI_OK;
}

/* VIDI_ERATE if one of the merges would raise the error rate much above what was asked for. */
static int check_rate(const merging *self)
{
    double most = vidi__merge_rate_most(&self->into->recipe);
    const vidi__union_size *sizes = self->all.sizes;
    for (size_t i = 0; i < self->count; i++) {
        const vidi__filter *part = self->parts[i];
        double own;
        if (sizes[i].fp <= most || (i && sizes[i].fp <= sizes[i - 1].fp))
            continue;
        VIDI__TRY(part->kind->fp_merged(part, part, self->logged[i], &own));
        if (sizes[i].fp > own)
            return in_set(self, i, vidi__merge_refuse(sizes[i].fp, &self->into->recipe));
    }
    return VIDI_OK;
}

/* The same as merging one set after the other would report. */
static double total_lost(const merging *self)
{
    double lost = 0;
    vidi__union_size previous = {0};
    for (size_t i = 0; i < self->count; i++) {
        const vidi__union_size *size = &self->all.sizes[i];
        vidi__merge_growth growth = {.urls = vidi__filter_count(self->parts[i]) + self->logged[i],
                                     .joined = (int64_t)(size->count - previous.count),
                                     .inserted = (int64_t)(size->more - previous.more),
                                     .fp = size->fp};
        if (growth.inserted < 0) /* URLs of earlier logs, which this filter has too */
            growth.joined += growth.inserted;
        lost = vidi__merge_lost(lost, vidi__epoch_lost(&self->sets[i]->now), growth);
        previous = *size;
    }
    return lost;
}

static int measure(merging *self)
{
    VIDI__TRY(count_operations(self));
    VIDI__TRY(vidi__union_measure(&self->filter));
    vidi__epoch_set_lost(&self->into->now, total_lost(self));
    return VIDI_OK;
}

/* A mapped file that was truncated meanwhile reads as zeros. */
static int check_intact(const merging *self)
{
    for (size_t i = 0; i < self->count; i++)
        VIDI__TRY(in_set(self, i, vidi__set_intact(self->sets[i], VIDI_OK)));
    return VIDI_OK;
}

static int fill(vidi_set *into, void *context)
{
    VIDI__TRY(log_operations(into, context));
    return check_intact(context);
}

static int merge(merging *self, const char *path)
{
    VIDI__TRY(vidi__folder_check_free(path)); /* now, since the rest may take long */
    for (size_t i = 0; i < self->count; i++)
        VIDI__TRY(in_set(self, i, open_set(self, i)));
    VIDI__TRY(make_into(self));
    VIDI__TRY(measure(self));
    VIDI__TRY(check_intact(self));
    if (!(self->flags & VIDI_MERGE_FORCE))
        VIDI__TRY(check_rate(self));
    return vidi__durable_attach_filled(self->into, path, &self->access, fill, self);
}

/* ---- memory, which is the new set's ---- */

static int allocate(merging *self)
{
    vidi__memory *memory = &self->into->memory;
    VIDI__TRY(vidi__alloc_zeroed(memory, &self->sets, self->count * sizeof *self->sets, _Alignof(void *)));
    VIDI__TRY(vidi__alloc_zeroed(memory, &self->parts, self->count * sizeof *self->parts, _Alignof(void *)));
    VIDI__TRY(vidi__alloc_zeroed(memory, &self->logged, self->count * sizeof *self->logged, 8));
    vidi__staging_init(&self->met, memory, false);
    self->all = (vidi__union){.memory = memory, .parts = self->parts, .count = self->count};
    return vidi__alloc_zeroed(memory, &self->all.sizes, self->count * sizeof *self->all.sizes, 8);
}

static void release(merging *self)
{
    vidi__memory *memory = &self->into->memory;
    for (size_t i = 0; self->sets && i < self->count; i++)
        vidi_close(self->sets[i]);
    vidi__union_end(&self->all);
    vidi__release(memory, self->all.sizes, self->count * sizeof *self->all.sizes, 8);
    vidi__staging_free(&self->met);
    vidi__release(memory, self->logged, self->count * sizeof *self->logged, 8);
    vidi__release(memory, self->parts, self->count * sizeof *self->parts, _Alignof(void *));
    vidi__release(memory, self->sets, self->count * sizeof *self->sets, _Alignof(void *));
}

static int merge_stored(const char *path, const char *const *from, size_t count, unsigned flags,
                        const vidi_access *access)
{
    merging self = {.paths = from, .count = count, .flags = flags};
    VIDI__TRY(vidi__access_take(&self.access, access));
    if (self.access.flags & ~(unsigned)VIDI_ACCEPT_DAMAGE)
        return vidi__fail(VIDI_EOPTION, "vidi_merge_stored takes no flags of an access but VIDI_ACCEPT_DAMAGE");
    VIDI__TRY(vidi__set_alloc(&self.into, &self.access));
    int code = allocate(&self);
    if (code == VIDI_OK)
        code = merge(&self, path);
    if (code == VIDI_OK)
        code = vidi_sync(self.into);
    release(&self);
    vidi_close(self.into);
    return code;
}

int vidi_merge_stored(const char *path, const char *const *from, size_t count, unsigned flags,
                      const vidi_access *access)
{
    if (!path || !from || !count)
        return vidi__fail(VIDI_EARGUMENT, "path or from is NULL, or there are no sets");
    for (size_t i = 0; i < count; i++)
        if (!from[i])
            return vidi__fail(VIDI_EARGUMENT, "the path of a set is NULL");
    if (flags & ~(unsigned)VIDI_MERGE_FORCE)
        return vidi__fail(VIDI_EARGUMENT, "unknown flags %u", flags & ~(unsigned)VIDI_MERGE_FORCE);
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    return vidi__quiet_end(&quiet, merge_stored(path, from, count, flags, access));
}
