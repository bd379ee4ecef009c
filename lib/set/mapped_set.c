/*
 * Sets over a mapping. The kinds take their arrays from where they are (base/stream.h); this file opens such a set, and
 * verifies it later on.
 */
#include "set/set.h"

static int map_into(vidi_set *set, const void *bytes, uint64_t size, const vidi_options *options)
{
    set->read_only = true;
    VIDI__TRY(vidi__set_take_policy(set, options));
    VIDI__TRY(vidi__frame_map(&set->mapped, bytes, size));
    set->memory.borrowed = bytes;
    set->memory.borrowed_bytes = size;
    VIDI__TRY(vidi__set_read_from(set, &set->mapped.base, options));
    return vidi__mapped_close(&set->mapped);
}

int vidi__set_map(vidi_set **set, const void *bytes, uint64_t size, const vidi_options *options)
{
    vidi_options mine;
    *set = NULL;
    VIDI__TRY(vidi__set_read_options(&mine, options));
    VIDI__TRY(vidi__set_alloc(set, mine.allocator, mine.memory_limit));
    int code = map_into(*set, bytes, size, &mine);
    if (code < 0) {
        vidi_close(*set);
        *set = NULL;
    }
    return code;
}

uint64_t vidi__set_blocks(const vidi_set *set)
{
    return set->mapped.blocks;
}

int vidi__set_verify_blocks(const vidi_set *set, uint64_t from, uint64_t count)
{
    return vidi__mapped_verify(&set->mapped, from, count);
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

int vidi_verify(const vidi_set *set)
{
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    return set->mapped.bytes ? vidi__set_verify(set) : VIDI_OK; /* all else was verified when it was read */
}
