/*
 * spatial: F filters of any kind with independent salts. A URL is seen only if all of them say so (the thesis, section
 * 4.3, algorithms 3 and 4).
 *
 *     URL -> | member 1 | seen ─┐
 *            | member 2 | new  ─┴─> new, and a false positive of member 1 was detected ("ambiguous")
 *
 * No filter has false negatives, so one "new" settles it. A lookup stops there, unless eager=on makes it ask all
 * members, as the times that the paper publishes suggest it did. An add always goes to all members. `ambiguous` counts
 * the disagreements that were observed: in every add, and in lookups as far as they went.
 *
 * Members may be on other machines: sets created with the same key and options.member = 1..F are such members, and
 * vidi_decide() combines their answers (section 6.4).
 *
 * Promises: no false negatives. fp_now is the product of the members', because their salts are independent. F filters
 * of k functions lose as many pages as one filter of F·k functions with as many bits in total.
 */
#include <math.h>

#include "filters/bloom.h"
#include "filters/pieces.h"

#define MEMBERS_MAX 16

typedef struct spatial {
    vidi__filter base;
    unsigned members;
    bool eager;
    vidi__filter *member[MEMBERS_MAX];
    _Atomic uint64_t ambiguous;
} spatial;

static void spatial_destroy(vidi__filter *filter)
{
    spatial *self = (spatial *)filter;
    for (unsigned i = 0; i < MEMBERS_MAX; i++)
        vidi__filter_destroy(self->member[i]);
    vidi__release(filter->memory, self, sizeof *self, VIDI__CACHE_LINE);
}

/* The error rate is for all members together, unless the parameters fix the members' size. */
static double member_error(const vidi__config *config, const vidi__params *rest, unsigned members)
{
    bool sized = vidi__params_has(rest, "m") || (vidi__params_has(rest, "M") && vidi__params_has(rest, "k"));
    if (config->error > 0)
        return pow(config->error, 1.0 / members);
    return sized ? 0 : pow(VIDI__DEFAULT_ERROR, 1.0 / members);
}

static int make_member(spatial *self, unsigned index, const vidi__kind *inner, const vidi__params *rest,
                       const vidi__config *config)
{
    vidi__params params = *rest;
    vidi__config member = *config;
    member.params = &params;
    member.depth = config->depth + 1;
    member.is_member = true;
    member.error = member_error(config, rest, self->members);
    member.seed = vidi__seed_child(&config->seed, "member", index + 1, self->members);
    if (config->reader)
        return vidi__filter_load(&self->member[index], &member);
    return vidi__filter_create(&self->member[index], inner, &member);
}

/* Derives the base's fields from the members. */
static void adopt(spatial *self)
{
    const uint32_t never = VIDI_IS_CONCURRENT; /* two members might answer NEW to two threads for one URL */
    vidi__filter *base = &self->base;
    base->needs = self->member[0]->needs;
    base->capacity = self->member[0]->capacity;
    base->can = self->member[0]->can & ~never;
    base->stores_every_add = self->member[0]->stores_every_add;
    for (unsigned i = 0; i < self->members; i++) {
        const vidi__filter *member = self->member[i];
        base->keyed &= member->keyed;
        base->combination += member->combination;
        if (member->fp_meaning > base->fp_meaning)
            base->fp_meaning = member->fp_meaning;
        if (member->combination && self->members > 1) /* two members may share some functions */
            base->fp_meaning = VIDI_FP_ESTIMATE;
    }
}

/* Members without salts must at least use different combinations of functions. */
static int check_combination(const spatial *self, unsigned index)
{
    uint64_t combination = self->member[index]->combination;
    for (unsigned i = 0; i < index && combination; i++)
        if (self->member[i]->combination == combination)
            return vidi__fail(VIDI_EOPTION,
                              "mode=different has too few functions to make the members differ: give more of "
                              "them (functions=a+b+…) or a smaller F");
    return VIDI_OK;
}

static int spatial_create(vidi__filter **filter, const vidi__config *config)
{
    spatial *self;
    uint64_t members = 2;
    unsigned eager = 0;
    const vidi__kind *inner;
    vidi__params rest;
    VIDI__TRY(vidi__filter_alloc(&self, sizeof *self, &vidi__kind_spatial, config));
    *filter = &self->base;
    VIDI__TRY(vidi__params_u64(config->params, "F", 1, MEMBERS_MAX, &members));
    VIDI__TRY(vidi__params_choice(config->params, "eager", "off|on", &eager));
    VIDI__TRY(vidi__filter_inner(&inner, config->params));
    vidi__params_rest(config->params, &rest);
    self->members = (unsigned)members;
    self->eager = eager == 1;
    if (config->reader) {
        uint64_t ambiguous;
        VIDI__TRY(vidi__read_u64(config->reader, &ambiguous));
        atomic_store(&self->ambiguous, ambiguous);
    }
    for (unsigned i = 0; i < self->members; i++) {
        VIDI__TRY(make_member(self, i, inner, &rest, config));
        if (self->member[i]->kind != inner)
            return vidi__damaged("a member is not of the kind that the set says");
        VIDI__TRY(vidi__filter_alike(self->member[0], self->member[i]));
        VIDI__TRY(check_combination(self, i));
    }
    adopt(self);
    return VIDI_OK;
}

static void disagreed(const spatial *self)
{
    atomic_fetch_add_explicit((_Atomic uint64_t *)&self->ambiguous, 1, memory_order_relaxed);
}

/*
 * If a member fails, the members before it have the URL and the others do not. Lookups still say NEW, as if nothing had
 * happened.
 */
static int spatial_add(vidi__filter *filter, const vidi__item *item)
{
    spatial *self = (spatial *)filter;
    unsigned seen = 0;
    for (unsigned i = 0; i < self->members; i++) {
        int verdict = self->member[i]->kind->add(self->member[i], item);
        if (verdict < 0)
            return verdict;
        seen += verdict == VIDI_SEEN;
    }
    if (seen == self->members)
        return VIDI_SEEN;
    if (seen)
        disagreed(self);
    vidi__filter_add_count(filter, 1);
    return VIDI_NEW;
}

static int spatial_has(const vidi__filter *filter, const vidi__item *item)
{
    const spatial *self = (const spatial *)filter;
    unsigned seen = 0, asked = 0;
    while (asked < self->members && (seen == asked || self->eager)) {
        int verdict = self->member[asked]->kind->has(self->member[asked], item);
        if (verdict < 0)
            return verdict;
        seen += verdict == VIDI_SEEN;
        asked++;
    }
    if (seen && seen < asked)
        disagreed(self);
    return seen == self->members ? VIDI_SEEN : VIDI_NEW;
}

static int spatial_times(const vidi__filter *filter, const vidi__item *item, uint64_t *times)
{
    const spatial *self = (const spatial *)filter;
    *times = UINT64_MAX;
    for (unsigned i = 0; i < self->members; i++) {
        uint64_t here;
        VIDI__TRY(self->member[i]->kind->times(self->member[i], item, &here));
        *times = here < *times ? here : *times;
    }
    return VIDI_OK;
}

static int spatial_remove(vidi__filter *filter, const vidi__item *item)
{
    spatial *self = (spatial *)filter;
    for (unsigned i = 0; i < self->members; i++)
        if (self->member[i]->kind->has(self->member[i], item) != VIDI_SEEN)
            return vidi__fail(VIDI_EABSENT, "the URL is not in the set, so it cannot be removed");
    for (unsigned i = 0; i < self->members; i++)
        VIDI__TRY(self->member[i]->kind->remove(self->member[i], item));
    bool empty = false; /* an empty member answers NEW to every URL */
    for (unsigned i = 0; i < self->members; i++)
        empty |= vidi__filter_count(self->member[i]) == 0;
    if (empty)
        atomic_store_explicit(&filter->count, 0, memory_order_relaxed);
    else if (spatial_has(filter, item) == VIDI_NEW && vidi__filter_count(filter))
        vidi__filter_add_count(filter, -1);
    return VIDI_OK;
}

static double spatial_fp_now(const vidi__filter *filter)
{
    const spatial *self = (const spatial *)filter;
    double p = 1;
    for (unsigned i = 0; i < self->members; i++)
        p *= self->member[i]->kind->fp_now(self->member[i]);
    return p;
}

static void spatial_stat(const vidi__filter *filter, vidi__filter_stats *stats)
{
    const spatial *self = (const spatial *)filter;
    stats->stages = 0;
    for (unsigned i = 0; i < self->members; i++) {
        vidi__filter_stats member = {.stages = 1};
        self->member[i]->kind->stat(self->member[i], &member);
        stats->bytes += member.bytes;
        stats->fill += member.fill / self->members;
        stats->stages += member.stages;
        stats->ambiguous += member.ambiguous;
        stats->lines_touched += member.lines_touched;
    }
    stats->ambiguous += atomic_load_explicit(&self->ambiguous, memory_order_relaxed);
}

static void spatial_stage(const vidi__filter *filter, uint64_t index, vidi_stage_stats *stats)
{
    const spatial *self = (const spatial *)filter;
    vidi__filter_stage_of(self->member, self->members, index, stats);
}

static void spatial_describe(const vidi__filter *filter, vidi__text *text)
{
    const spatial *self = (const spatial *)filter;
    vidi__text_add(text, "F=%u,eager=%s,inner=%s", self->members, self->eager ? "on" : "off",
                   self->member[0]->kind->name);
    vidi__filter_describe_inner(self->member[0], "F|eager|inner", text);
}

static void spatial_hash_names(const vidi__filter *filter, vidi__text *text)
{
    const spatial *self = (const spatial *)filter;
    vidi__filter_hash_names(self->member[0], text);
}

static int spatial_save(const vidi__filter *filter, vidi__writer *writer)
{
    const spatial *self = (const spatial *)filter;
    VIDI__TRY(vidi__write_u64(writer, writer->contents_alone ? 0 : atomic_load(&self->ambiguous)));
    for (unsigned i = 0; i < self->members; i++)
        VIDI__TRY(vidi__filter_save(self->member[i], writer));
    return VIDI_OK;
}

/* The last run has the number of disagreements. */
static int spatial_save_run(const vidi__filter *filter, vidi__run_out *run)
{
    const spatial *self = (const spatial *)filter;
    uint64_t index;
    vidi__run_out inner = vidi__run_part(run, VIDI__MEMBER_BITS, &index);
    if (index >= self->members)
        return vidi__run_position_unknown();
    VIDI__TRY(vidi__write_u64(run->writer, index));
    inner.room -= 2 * 8;
    VIDI__TRY(vidi__filter_save_run(self->member[index], &inner));
    vidi__run_part_done(run, &inner, index, self->members);
    return vidi__write_u64(run->writer, vidi__run_ended(run) ? atomic_load(&self->ambiguous) : 0);
}

static int spatial_load_run(vidi__filter *filter, vidi__run_in *run)
{
    spatial *self = (spatial *)filter;
    uint64_t index, ambiguous;
    VIDI__TRY(vidi__read_u64(run->reader, &index));
    if (index >= self->members)
        return vidi__damaged("there is no such member");
    VIDI__TRY(vidi__filter_load_run(self->member[index], run));
    VIDI__TRY(vidi__read_u64(run->reader, &ambiguous));
    if (run->apply)
        atomic_fetch_add(&self->ambiguous, ambiguous);
    return VIDI_OK;
}

static int spatial_verify(const vidi__filter *filter)
{
    const spatial *self = (const spatial *)filter;
    for (unsigned i = 0; i < self->members; i++)
        VIDI__TRY(vidi__filter_verify(self->member[i]));
    return VIDI_OK;
}

/*
 * The member that has learnt most tells how many URLs were unknown, because a URL that one member falsely takes for
 * seen is new to another.
 */
static int spatial_merge(vidi__filter *into, const vidi__filter *from)
{
    spatial *self = (spatial *)into;
    const spatial *other = (const spatial *)from;
    VIDI__TRY(vidi__filter_same_shape(into, from));
    uint64_t a = vidi__filter_count(into), b = vidi__filter_count(from), more = 0;
    for (unsigned i = 0; i < self->members; i++) {
        uint64_t before = vidi__filter_count(self->member[i]);
        VIDI__TRY(self->member[i]->kind->merge(self->member[i], other->member[i]));
        uint64_t grown = vidi__filter_count(self->member[i]) - before;
        more = grown > more ? grown : more;
    }
    uint64_t count = a + (more < b ? more : b);
    atomic_store(&into->count, count > b ? count : b);
    return VIDI_OK;
}

static int spatial_fp_merged(const vidi__filter *into, const vidi__filter *from, uint64_t more, double *fp)
{
    const spatial *self = (const spatial *)into, *other = (const spatial *)from;
    VIDI__TRY(vidi__filter_same_shape(into, from));
    *fp = 1;
    for (unsigned i = 0; i < self->members; i++) {
        const vidi__filter *member = self->member[i];
        double own = 0;
        if (member->kind->fp_merged)
            VIDI__TRY(member->kind->fp_merged(member, other->member[i], more, &own));
        *fp *= own;
    }
    return VIDI_OK;
}

static int spatial_iterate(const vidi__filter *filter, vidi_visitor visitor, void *context)
{
    const vidi__filter *first = ((const spatial *)filter)->member[0];
    return first->kind->iterate(first, visitor, context);
}

static vidi__u128 spatial_kept_hash(const vidi__filter *filter, vidi__u128 hash)
{
    const vidi__filter *first = ((const spatial *)filter)->member[0];
    return first->kind->kept_hash ? first->kind->kept_hash(first, hash) : hash;
}

static int spatial_step(vidi__filter *filter, uint64_t budget_ns)
{
    spatial *self = (spatial *)filter;
    int more = 0;
    for (unsigned i = 0; i < self->members; i++) {
        vidi__filter *member = self->member[i];
        int code = member->kind->step ? member->kind->step(member, budget_ns / self->members) : 0;
        VIDI__TRY(code);
        more |= code;
    }
    return more;
}

static int spatial_plan(const vidi__want *want, vidi__planned *planned)
{
    uint64_t members = 2;
    const vidi__kind *inner;
    vidi__params rest;
    VIDI__TRY(vidi__params_u64(want->params, "F", 1, MEMBERS_MAX, &members));
    VIDI__TRY(vidi__filter_inner(&inner, want->params));
    vidi__params_rest(want->params, &rest);
    vidi__want each = *want;
    each.params = &rest;
    each.members = want->members * (unsigned)members;
    each.memory = want->memory / members;
    if (want->memory && !each.memory)
        return vidi__fail(VIDI_EOPTION, "the memory is too small for %u members", (unsigned)members);
    VIDI__TRY(inner->plan(&each, planned));
    planned->bytes *= members;
    planned->lines *= (double)members;
    return VIDI_OK;
}

const vidi__kind vidi__kind_spatial = {
    .name = "spatial",
    .summary = "several filters with different salts, seen only if all say seen",
    .can = VIDI_CAN_MERGE,
    .create = spatial_create,
    .destroy = spatial_destroy,
    .add = spatial_add,
    .has = spatial_has,
    .fp_now = spatial_fp_now,
    .stat = spatial_stat,
    .stage = spatial_stage,
    .describe = spatial_describe,
    .hash_names = spatial_hash_names,
    .save = spatial_save,
    .save_run = spatial_save_run,
    .load_run = spatial_load_run,
    .verify = spatial_verify,
    .plan = spatial_plan,
    .remove = spatial_remove,
    .times = spatial_times,
    .merge = spatial_merge,
    .fp_merged = spatial_fp_merged,
    .iterate = spatial_iterate,
    .kept_hash = spatial_kept_hash,
    .step = spatial_step,
};
