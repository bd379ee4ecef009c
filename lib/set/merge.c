/* Merging of two sets in memory, and the reasons for refusing it. */
#include "set/set.h"

static int check_fit(const vidi_set *into, const vidi_set *from)
{
    const vidi__epoch *a = &into->now, *b = &from->now;
    if (strcmp(vidi_canon_name(into->canon), vidi_canon_name(from->canon)) != 0)
        return vidi__fail(VIDI_EDIFFERS, "one set has canonical form %s, the other %s", vidi_canon_name(into->canon),
                          vidi_canon_name(from->canon));
    if (memcmp(into->key, from->key, sizeof into->key) != 0)
        return vidi__fail(VIDI_EDIFFERS, "the sets have different keys; make one like the other (options.like)");
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

static int merge(vidi_set *into, const vidi_set *from)
{
    VIDI__TRY(check_fit(into, from));
    VIDI__TRY(into->now.filter->kind->merge(into->now.filter, from->now.filter));
    vidi__epoch_lose(&into->now, vidi__epoch_lost(&from->now)); /* either has lost its own */
    return VIDI_OK;
}

int vidi_merge(vidi_set *into, const vidi_set *from)
{
    if (!into || !from)
        return vidi__fail(VIDI_EARGUMENT, "a set is NULL");
    if (into == from)
        return VIDI_OK;
    /*
     * In the order of their addresses, so that two merges in opposite directions do not wait for each other for ever.
     */
    if ((uintptr_t)into < (uintptr_t)from) {
        vidi__lock_alone(into);
        vidi__lock_still(from);
    } else {
        vidi__lock_still(from);
        vidi__lock_alone(into);
    }
    int code = merge(into, from);
    vidi__unlock(into);
    vidi__unlock(from);
    return code;
}
