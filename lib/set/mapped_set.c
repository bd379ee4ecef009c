/*
 * Sets over a mapped file. The kinds use their arrays where they lie in the mapping (base/stream.h). This file opens
 * such a set, and verifies it later.
 */
#include "set/set.h"

static int map_into(vidi_set *set, const void *bytes, uint64_t size)
{
    set->read_only = true;
    VIDI__TRY(vidi__alloc_zeroed(&set->memory, &set->mapped, sizeof *set->mapped, _Alignof(vidi__mapped)));
    VIDI__TRY(vidi__frame_map(set->mapped, bytes, size));
    if (set->mapped->head.length)
        return vidi__fail(VIDI_EFORMAT, "this is a set in pieces, which is read and not mapped");
    set->memory.borrowed = bytes;
    set->memory.borrowed_bytes = size;
    VIDI__TRY(vidi__set_read_from(set, &set->mapped->base));
    return vidi__mapped_close(set->mapped);
}

int vidi__set_map(vidi_set **set, const void *bytes, uint64_t size, const vidi_access *access)
{
    vidi_access mine;
    *set = NULL;
    VIDI__TRY(vidi__access_take(&mine, access));
    VIDI__TRY(vidi__set_alloc(set, &mine));
    int code = map_into(*set, bytes, size);
    if (code < 0) {
        vidi_close(*set);
        *set = NULL;
    }
    return code;
}

uint64_t vidi__set_blocks(const vidi_set *set)
{
    return set->mapped ? set->mapped->blocks : 0;
}

int vidi__set_verify_blocks(const vidi_set *set, uint64_t from, uint64_t count)
{
    return set->mapped ? vidi__mapped_verify(set->mapped, from, count) : VIDI_OK;
}

int vidi__set_verify_contents(const vidi_set *set)
{
    return vidi__filter_verify(set->now.filter);
}

int vidi__set_verify(const vidi_set *set)
{
    VIDI__TRY(vidi__set_verify_blocks(set, 0, vidi__set_blocks(set)));
    return vidi__set_verify_contents(set);
}

int vidi__set_is_lost(void)
{
    return vidi__fail(VIDI_EIO, "the set's snapshot was truncated, or could not be read, while it was in use; open the "
                                "set again, or run the command again");
}

int vidi_verify(const vidi_set *set)
{
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    if (set->mapped) /* other sets were verified while they were read */
        VIDI__TRY(vidi__set_intact(set, vidi__set_verify(set)));
    if (set->persistence)
        VIDI__TRY(set->persistence->verify(set));
    /* Together with a read-only set, its previous epoch was mapped and never changes. */
    int code = set->read_only && set->previous_set ? vidi_verify(set->previous_set) : VIDI_OK;
    return code < 0 ? vidi__fail_in("the previous epoch", code) : VIDI_OK;
}
