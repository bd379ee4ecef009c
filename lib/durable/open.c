/*
 * The public functions that make or open a set, in memory or in a folder. They are here, above lib/set, because a path
 * may be given.
 */
#include "durable/durable.h"

#include <stdio.h>

/* Gives the set a folder if there is a path. On error the set is closed. */
static int settle_in(vidi_set **set, const char *path, const vidi_access *access)
{
    int code = path ? vidi__durable_attach(*set, path, access) : VIDI_OK;
    if (code < 0) {
        vidi_close(*set);
        *set = NULL;
    }
    return code;
}

/* The access of a set that is made: it can be written to. */
static int take_new(vidi_access *mine, const vidi_access *access)
{
    VIDI__TRY(vidi__access_take(mine, access));
    if (mine->flags & VIDI_READ_ONLY)
        return vidi__fail(VIDI_EOPTION, "a new set cannot be read-only");
    return VIDI_OK;
}

int vidi_create(vidi_set **set, const vidi_options *options)
{
    vidi_options mine = VIDI_OPTIONS_INIT;
    vidi_access access;
    if (!set)
        return vidi__fail(VIDI_EARGUMENT, "set is NULL");
    *set = NULL;
    if (options)
        VIDI__TRY(vidi__struct_in(&mine, sizeof mine, options, "vidi_options"));
    VIDI__TRY(take_new(&access, mine.access));
    VIDI__TRY(vidi__set_create(set, &mine, &access));
    return settle_in(set, mine.path, &access);
}

int vidi_read(vidi_set **set, vidi_source source, void *context, uint64_t stream_bytes, const char *path,
              const vidi_access *access)
{
    vidi_access mine;
    if (!set || !source)
        return vidi__fail(VIDI_EARGUMENT, "set or source is NULL");
    *set = NULL;
    VIDI__TRY(take_new(&mine, access));
    VIDI__TRY(vidi__set_read(set, source, context, stream_bytes, &mine, false));
    vidi__note_free(&(*set)->memory, (*set)->note); /* if it was a snapshot: the note belongs to its folder */
    (*set)->note = NULL;
    return settle_in(set, path, &mine);
}

int vidi_attach(vidi_set *set, const char *path, const vidi_access *access)
{
    vidi_access mine;
    if (!set || !path)
        return vidi__fail(VIDI_EARGUMENT, "set or path is NULL");
    VIDI__TRY(take_new(&mine, access));
    VIDI__TRY(vidi__set_writable(set));
    if (set->persistence)
        return vidi__fail(VIDI_ECANNOT, "the set lives in a folder already");
    if (set->arrival)
        return vidi__fail(VIDI_ECANNOT, "the set awaits a piece");
    if (set->previous) /* two epochs are written one after the other */
        return vidi__fail(VIDI_ECANNOT, "the set keeps its previous epoch; call vidi_drop_previous first");
    vidi__lock_alone(set); /* so that the filter knows what all threads have counted */
    vidi__unlock(set);
    int code = vidi__durable_attach(set, path, &mine);
    if (code < 0 && set->persistence)
        set->persistence->close(set);
    return code;
}

int vidi_open(vidi_set **set, const char *path, const vidi_access *access)
{
    vidi_access mine;
    if (!set || !path)
        return vidi__fail(VIDI_EARGUMENT, "set or path is NULL");
    *set = NULL;
    VIDI__TRY(vidi__access_take(&mine, access));
    return vidi__durable_open(set, path, &mine);
}

static int open_or_create(vidi_set **set, const vidi_options *options)
{
    vidi_options mine = VIDI_OPTIONS_INIT;
    if (!set || !options)
        return vidi__fail(VIDI_EARGUMENT, "set or options is NULL");
    *set = NULL;
    VIDI__TRY(vidi__struct_in(&mine, sizeof mine, options, "vidi_options"));
    if (!mine.path)
        return vidi__fail(VIDI_EOPTION, "there is no path to open or create a set at");
    int code = vidi_open(set, mine.path, mine.access);
    if (code != VIDI_EABSENT)
        return code;
    code = vidi_create(set, &mine);
    if (code == VIDI_OK)
        return VIDI_OK;
    if (code != VIDI_EEXIST && code != VIDI_EBUSY)
        return code;
    /* Another process may have been faster: then its set is opened, or is busy. */
    char why[VIDI__MESSAGE];
    snprintf(why, sizeof why, "%s", vidi__sentence());
    int again = vidi_open(set, mine.path, mine.access);
    return again == VIDI_EABSENT ? vidi__fail(code, "%s", why) : again;
}

int vidi_open_or_create(vidi_set **set, const vidi_options *options)
{
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    return vidi__quiet_end(&quiet, open_or_create(set, options));
}
