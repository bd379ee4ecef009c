/*
 * Merging of two sets, and the reasons for refusing it.
 *
 * Most kinds keep only what a URL's hash leaves behind, so both sets must hash alike and have the same shape. Kinds
 * that keep the URLs themselves merge by inserting the URLs of one into the other. Then only the canonical form must be
 * the same: key, hash function, kind, epoch and member may differ.
 */
#include <float.h>
#include <math.h>

#include "set/set.h"

static bool both_keep_urls(const vidi_set *into, const vidi_set *from)
{
    return into->now.filter->kind->merge_urls && from->now.filter->kind->merge_urls;
}

static int check_canon(const vidi_set *into, const vidi_set *from)
{
    const char *a = vidi_canon_name(into->canon), *b = vidi_canon_name(from->canon);
    if (strcmp(a, b) != 0)
        return vidi__fail(VIDI_EDIFFERS, "one set has canonical form %s, the other %s", a, b);
    return VIDI_OK;
}

/* For kinds that keep no URLs: VIDI_EDIFFERS if a URL would leave different traces in the two sets. */
static int check_hashes(const vidi_set *into, const vidi_set *from)
{
    const vidi__epoch *a = &into->now, *b = &from->now;
    if (memcmp(into->key, from->key, sizeof into->key) != 0)
        return vidi__fail(VIDI_EDIFFERS, "the sets have different keys; create sets that will be merged under one key "
                                         "(vidi --key-from, --key-file)");
    if (a->number != b->number)
        return vidi__fail(VIDI_EDIFFERS, "one set is in epoch %llu, the other in epoch %llu",
                          (unsigned long long)a->number, (unsigned long long)b->number);
    if (into->member != from->member)
        return vidi__fail(VIDI_EDIFFERS, "one set is member %u, the other member %u", into->member, from->member);
    if (a->hash != b->hash)
        return vidi__fail(VIDI_EDIFFERS, "one set hashes with %s, the other with %s", a->hash->name, b->hash->name);
    if (a->filter->kind != b->filter->kind)
        return vidi__fail(VIDI_EDIFFERS, "one set is of kind %s, the other of kind %s", a->filter->kind->name,
                          b->filter->kind->name);
    if (!(a->filter->can & VIDI_CAN_MERGE))
        return vidi__fail(VIDI_ECANNOT, "kind %s cannot merge", a->filter->kind->name);
    return VIDI_OK;
}

int vidi__merge_fits(const vidi_set *into, const vidi_set *from)
{
    VIDI__TRY(check_canon(into, from));
    return both_keep_urls(into, from) ? VIDI_OK : check_hashes(into, from);
}

static int merge_filters(vidi_set *into, const vidi_set *from)
{
    vidi__filter *filter = into->now.filter;
    if (both_keep_urls(into, from))
        return filter->kind->merge_urls(filter, from->now.filter, vidi__epoch_key(&into->now));
    return filter->kind->merge(filter, from->now.filter);
}

/* ---- the error rate ---- */

/*
 * By which factor the rate that was asked for may be exceeded. Chance alone takes small filters a quarter above it, and
 * a twentieth more URLs than expected doubles the rate of a Bloom filter.
 */
#define RATE_TOLERANCE 2.0

static bool has_either(const vidi__params *params, const char *name, const char *inner)
{
    return vidi__params_has(params, name) || vidi__params_has(params, inner);
}

/* The error rate that the user asked for, or 0 if the user gave the size instead. */
static double rate_asked(const vidi__recipe *recipe)
{
    vidi__params params;
    if (recipe->error > 0)
        return recipe->error;
    if (vidi__params_parse(&params, vidi__recipe_params(recipe)) < 0)
        return 0;
    bool sized = has_either(&params, "m", "inner.m") || has_either(&params, "bits", "inner.bits") ||
                 (has_either(&params, "M", "inner.M") && has_either(&params, "k", "inner.k"));
    return sized ? 0 : VIDI__DEFAULT_ERROR;
}

double vidi__merge_rate_most(const vidi__recipe *recipe)
{
    double asked = rate_asked(recipe);
    return asked > 0 ? RATE_TOLERANCE * asked : INFINITY;
}

int vidi__merge_refuse(double merged, const vidi__recipe *recipe)
{
    return vidi__fail(VIDI_ERATE,
                      "together the sets would answer \"seen\" falsely with probability %.2g, but they were made for "
                      "%.2g",
                      merged, rate_asked(recipe));
}

int vidi__merge_count_logged(const vidi_set *set, uint64_t *urls)
{
    *urls = 0;
    return set->persistence ? set->persistence->merge_into((vidi_set *)set, set, urls) : VIDI_OK;
}

/* VIDI_ERATE if the merge would raise the error rate much above what was asked for. */
static int check_rate(vidi_set *into, const vidi_set *from)
{
    const vidi__filter *a = into->now.filter, *b = from->now.filter;
    double most = vidi__merge_rate_most(&into->recipe), merged, one, other;
    uint64_t more = 0, logged;
    if (!isfinite(most) || !a->kind->fp_merged || both_keep_urls(into, from))
        return VIDI_OK;
    if (from->persistence)
        VIDI__TRY(from->persistence->merge_into(into, from, &more));
    VIDI__TRY(a->kind->fp_merged(a, b, more, &merged));
    if (merged <= most)
        return VIDI_OK;
    /* The rates before, computed in the same way, so that they can be compared. */
    VIDI__TRY(vidi__merge_count_logged(from, &logged));
    VIDI__TRY(a->kind->fp_merged(a, a, 0, &one));
    VIDI__TRY(b->kind->fp_merged(b, b, logged, &other));
    return merged <= fmax(one, other) ? VIDI_OK : vidi__merge_refuse(merged, &into->recipe);
}

/* ---- the pages lost ---- */

double vidi__merge_lost(double into, double from, vidi__merge_growth growth)
{
    double inserted = fmax((double)growth.inserted, 0) / fmax(1 - growth.fp, DBL_MIN);
    double share = growth.urls ? (fmax((double)growth.joined, 0) + inserted) / (double)growth.urls : 0;
    return fmax(into + fmin(share, 1) * from, from);
}

/* Merges everything. The losses are counted even after an error, because what was merged will not be new again. */
static int merge_contents(vidi_set *into, const vidi_set *from)
{
    const vidi__filter *filter = into->now.filter;
    double lost = vidi__epoch_lost(&into->now), more = vidi__counts_of(from, &from->now).lost;
    uint64_t logged = 0, before = vidi__filter_count(filter);
    if (more > 0)
        VIDI__TRY(vidi__merge_count_logged(from, &logged));
    int code = vidi__set_intact(from, merge_filters(into, from));
    uint64_t joined = vidi__filter_count(filter);
    if (code == VIDI_OK && from->persistence)
        code = from->persistence->merge_into(into, from, NULL);
    vidi__merge_growth growth = {.urls = vidi__filter_count(from->now.filter) + logged,
                                 .joined = (int64_t)(joined - before),
                                 .inserted = (int64_t)(vidi__filter_count(filter) - joined),
                                 .fp = filter->kind->fp_now(filter)};
    vidi__epoch_set_lost(&into->now, vidi__merge_lost(lost, more, growth));
    return code;
}

static int merge(vidi_set *into, const vidi_set *from, unsigned flags)
{
    VIDI__TRY(vidi__merge_fits(into, from));
    if (into->persistence) /* what is staged and merged too would be counted twice */
        VIDI__TRY(into->persistence->catch_up(into));
    /* A multiset can take back what its filter still has. A plain set cannot: the URL may be there in its own right. */
    if (from->persistence && !from->now.filter->stores_every_add)
        VIDI__TRY(from->persistence->iterate(from, NULL, NULL));
    if (from->mapped) /* unverified contents would do no harm, but spoil the numbers of the other set */
        VIDI__TRY(vidi__set_intact(from, vidi__set_verify_contents(from)));
    if (!(flags & VIDI_MERGE_FORCE))
        VIDI__TRY(check_rate(into, from));
    return merge_contents(into, from);
}

int vidi_merge(vidi_set *into, const vidi_set *from, unsigned flags)
{
    if (!into || !from)
        return vidi__fail(VIDI_EARGUMENT, "a set is NULL");
    if (flags & ~(unsigned)VIDI_MERGE_FORCE)
        return vidi__fail(VIDI_EARGUMENT, "unknown flags %u", flags & ~(unsigned)VIDI_MERGE_FORCE);
    VIDI__TRY(vidi__set_writable(into));
    VIDI__TRY(vidi__set_here(from));
    if (into == from)
        return VIDI_OK;
    vidi__turn_begin(into);
    /* Locked in the order of their addresses, so that two merges in opposite directions cannot deadlock. */
    if ((uintptr_t)into < (uintptr_t)from) {
        vidi__lock_alone(into);
        vidi__lock_still(from);
    } else {
        vidi__lock_still(from);
        vidi__lock_alone(into);
    }
    int code = merge(into, from, flags);
    vidi__unlock(into);
    vidi__unlock(from);
    if (code == VIDI_OK && into->persistence)
        code = into->persistence->changed(into, VIDI__MERGED);
    vidi__turn_end(into);
    return code;
}
