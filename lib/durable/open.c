/*
 * The public functions that make or open a set, in memory or in a folder. They are here, above lib/set, because a path
 * may be given.
 */
#include "durable/durable.h"

/* Gives the set its folder if there is a path. On error the set is closed. */
static int settle_in(vidi_set **set, const vidi_options *options)
{
    int code = options->path ? vidi__durable_attach(*set, options) : VIDI_OK;
    if (code < 0) {
        vidi_close(*set);
        *set = NULL;
    }
    return code;
}

int vidi_create(vidi_set **set, const vidi_options *options)
{
    vidi_options mine = VIDI_OPTIONS_INIT;
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    *set = NULL;
    if (options)
        VIDI__TRY(vidi__struct_in(&mine, sizeof mine, options, "vidi_options"));
    if (mine.flags & VIDI_READ_ONLY)
        return vidi__fail(VIDI_EOPTION, "a new set cannot be read-only; VIDI_READ_ONLY is for vidi_open");
    VIDI__TRY(vidi__set_create(set, &mine));
    return settle_in(set, &mine);
}

int vidi_read(vidi_set **set, vidi_source source, void *context, uint64_t stream_bytes, const vidi_options *options)
{
    vidi_options mine;
    if (!set || !source)
        return vidi__fail(VIDI_EARGUMENT, "set or source is NULL");
    *set = NULL;
    VIDI__TRY(vidi__set_read_options(&mine, options));
    VIDI__TRY(vidi__set_read(set, source, context, stream_bytes, &mine));
    return settle_in(set, &mine);
}

int vidi_open_with(vidi_set **set, const char *path, const vidi_options *options)
{
    vidi_options mine;
    if (!set || !path)
        return vidi__fail(VIDI_EARGUMENT, "set or path is NULL");
    *set = NULL;
    VIDI__TRY(vidi__set_read_options(&mine, options));
    if (mine.path)
        return vidi__fail(VIDI_EOPTION, "the path is an argument of its own");
    return vidi__durable_open(set, path, &mine);
}

int vidi_open(vidi_set **set, const char *path, unsigned flags)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    options.flags = flags;
    return vidi_open_with(set, path, &options);
}
