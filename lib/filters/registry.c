/*
 * The kinds by name. To add a kind, define its table in a file or folder of its own, and add a line here and in
 * filter.h.
 *
 * The first kind is the default. Otherwise the order only matters for lists of kinds: the planner ranks plans by their
 * figures (set/planner.c).
 */
#include "filters/filter.h"

static const vidi__kind *const kinds[] = {
    &vidi__kind_fingerprint, /* the default */
    &vidi__kind_blocked,     &vidi__kind_scalable, &vidi__kind_classic, &vidi__kind_counting, &vidi__kind_multilayer,
    &vidi__kind_eigen,       &vidi__kind_spatial,  &vidi__kind_hashset, &vidi__kind_sorted,   &vidi__kind_list,
};

const vidi__kind *vidi__kind_at(size_t index)
{
    return index < VIDI__COUNT(kinds) ? kinds[index] : NULL;
}

const vidi__kind *vidi__kind_find(vidi_str name)
{
    for (size_t i = 0; i < VIDI__COUNT(kinds); i++)
        if (vidi__str_is(name, kinds[i]->name))
            return kinds[i];
    return NULL;
}

int vidi__kind_unknown(vidi_str name)
{
    char list[256];
    vidi__text text = vidi__text_in(list, sizeof list);
    for (size_t i = 0; i < VIDI__COUNT(kinds); i++)
        vidi__text_add(&text, "%s%s", i ? ", " : "", kinds[i]->name);
    return vidi__fail(VIDI_EOPTION, "there is no kind '%.*s'; the kinds are %s", VIDI__QUOTE(name), list);
}
