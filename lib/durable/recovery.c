/*
 * From a folder back to a set: the snapshot in force, then every record of the logs that follow it. A writer reads the
 * snapshot into memory. A reader maps it, so that many processes share one copy, and keeps the logs' operations in its
 * staging area.
 */
#include "durable/durable.h"

#include <fcntl.h>
#include <stdio.h>

#include "store/guard.h"

/*
 * A reader that finds a file missing, or the log of another epoch, starts again: a writer has put a newer snapshot in
 * force. After so many tries it is damage.
 */
#define TRIES 100

/* ---- the snapshot ---- */

typedef struct file_source {
    vidi__file file;
    uint64_t at, left;
    int error;               /* of the last read */
    char why[VIDI__MESSAGE]; /* its message, which frame.c overwrites with one of its own */
} file_source;

static int64_t read_file(void *context, void *data, size_t bytes)
{
    file_source *self = context;
    if (bytes > self->left)
        bytes = (size_t)self->left;
    self->error = vidi__file_read(&self->file, data, bytes, self->at);
    if (self->error < 0) {
        snprintf(self->why, sizeof self->why, "%s", vidi__sentence());
        return -1;
    }
    self->at += bytes;
    self->left -= bytes;
    return (int64_t)bytes;
}

static int open_snapshot(const vidi__folder *folder, uint64_t number, file_source *source)
{
    char name[40];
    *source = (file_source){0};
    vidi__folder_snapshot_name(name, number);
    VIDI__TRY(vidi__file_open(&source->file, folder->handle, name, O_RDONLY));
    int code = vidi__file_size(&source->file, &source->left);
    if (code == VIDI_OK && source->left == 0)
        code = vidi__fail(VIDI_EFORMAT, "%s is empty", name);
    if (code < 0)
        (void)vidi__file_close(&source->file);
    return code;
}

/* Reads a snapshot into memory. */
static int load(vidi_set **set, const vidi__folder *folder, uint64_t number, const vidi_access *access, uint64_t *bytes)
{
    file_source source;
    VIDI__TRY(open_snapshot(folder, number, &source));
    *bytes = source.left;
    int code = vidi__set_read(set, read_file, &source, source.left, access);
    (void)vidi__system_now->close(source.file.handle); /* not vidi__file_close, whose message would hide the cause */
    if (source.error < 0)
        return vidi__fail(source.error, "%s", source.why);
    return code < 0 ? vidi__fail_in(source.file.name, code) : code;
}

static void unmap(const void *start, uint64_t bytes)
{
    vidi__guard_remove(start);
    vidi__file_unmap(start, bytes);
}

/* Makes a set over a mapping. The file may be truncated by others even while this reads its head. */
static int over_mapping(vidi_set **set, const void *start, uint64_t bytes, const vidi_access *access)
{
    const _Atomic bool *lost = NULL;
    if (start)
        VIDI__TRY(vidi__guard_add(start, (size_t)bytes, &lost));
    int code = vidi__set_map(set, start, bytes, access);
    if (lost && *lost) {
        vidi_close(*set);
        *set = NULL;
        code = vidi__fail(VIDI_EIO, "it was truncated, or could not be read, while it was opened");
    }
    if (code < 0)
        vidi__guard_remove(start);
    else
        (*set)->lost = lost;
    return code;
}

/* Maps a snapshot. */
static int map(vidi_set **set, const vidi__folder *folder, uint64_t number, const vidi_access *access, uint64_t *bytes)
{
    file_source source;
    const void *start;
    VIDI__TRY(open_snapshot(folder, number, &source));
    *bytes = source.left;
    int code = vidi__file_map(&source.file, source.left, &start);
    (void)vidi__file_close(&source.file);
    VIDI__TRY(code);
    code = over_mapping(set, start, *bytes, access);
    if (code < 0) {
        vidi__file_unmap(start, *bytes);
        return vidi__fail_in(source.file.name, code);
    }
    (*set)->unmap = unmap;
    return VIDI_OK;
}

static int load_or_map(vidi_set **set, const vidi__folder *folder, uint64_t number, const vidi_access *access,
                       uint64_t *bytes)
{
    bool reads = access->flags & VIDI_READ_ONLY, maps = reads && !(access->flags & VIDI_NO_MAP);
    VIDI__TRY(maps ? map(set, folder, number, access, bytes) : load(set, folder, number, access, bytes));
    (*set)->read_only = reads;
    return VIDI_OK;
}

/* ---- the logs ---- */

static void add_up(vidi_recovery *recovery, uint64_t number, const vidi__log_found *found)
{
    if (found->damaged && !recovery->damaged_bytes)
        vidi__log_name(recovery->damaged_log, number);
    recovery->logs += !found->headless;
    recovery->records += found->records;
    recovery->damaged_bytes += found->damaged;
    recovery->damaged_places += found->stretches;
    recovery->unfinished_bytes += found->unfinished;
}

/* A rotation makes the new epoch's log first. If it was interrupted then, a log without records is left over. */
static bool is_leftover(const vidi__folder *folder, uint64_t number)
{
    char name[40];
    vidi__file file;
    uint64_t bytes = UINT64_MAX;
    vidi__log_name(name, number);
    if (vidi__file_open(&file, folder->handle, name, O_RDONLY) < 0)
        return false;
    int code = vidi__file_size(&file, &bytes);
    (void)vidi__file_close(&file);
    return code == VIDI_OK && bytes <= VIDI__LOG_HEAD;
}

static int missing(uint64_t number)
{
    char name[40];
    vidi__log_name(name, number);
    return vidi__fail(VIDI_EFORMAT, "damaged: %s is missing", name);
}

/* Where the logs end. */
typedef struct tail {
    uint64_t number; /* of the last log */
    vidi__log_found found;
} tail;

static int replay_log(vidi_set *set, const vidi__folder *folder, uint64_t number, bool last, tail *end)
{
    vidi__log_found found = {0};
    vidi__log_id id = vidi__durable_log_id(set, number, set->now.number);
    vidi__replay replay;
    vidi__replay_begin(&replay, set);
    int code = vidi__log_read(&set->memory, folder->handle, &id, vidi__replay_record, &replay, &found);
    code = vidi__replay_end(&replay, code, found.damaged);
    if (code == VIDI_EDIFFERS && last && is_leftover(folder, number)) {
        found = (vidi__log_found){.headless = true};
        code = VIDI_OK;
    }
    if (code == VIDI_EABSENT)
        return code;
    VIDI__TRY(code);
    if (found.headless && !last)
        return missing(number);
    add_up(&set->durable->recovery, number, &found);
    atomic_fetch_add_explicit(&set->durable->log_bytes, found.bytes, memory_order_relaxed);
    *end = (tail){number, found};
    return VIDI_OK;
}

static int replay_logs(vidi_set *set, const vidi__folder *folder, uint64_t first, uint64_t last, tail *end)
{
    *end = (tail){0};
    if (last < first) /* every snapshot has a log, which is made before it: it will be found missing */
        last = first;
    for (uint64_t number = first; number <= last; number++) {
        int code = replay_log(set, folder, number, number == last, end);
        if (code == VIDI_EABSENT)
            return set->read_only ? code : missing(number);
        VIDI__TRY(code);
    }
    return VIDI_OK;
}

/* Commits go to the last log if it ends cleanly, and to a new one otherwise. */
static int go_on(vidi_set *set, const tail *end)
{
    vidi__durable *durable = set->durable;
    uint64_t epoch = set->now.number;
    if (end->found.headless || end->found.damaged || end->found.unfinished)
        return vidi__durable_new_log(set, end->number + !end->found.headless, epoch, &durable->log);
    return vidi__durable_old_log(set, end->number, end->found.bytes, &durable->log);
}

/*
 * Syncs the logs before the open one. The process that wrote them may have died before it synced them, and no vidi_sync
 * will ask for them again. The open log was synced when it was opened.
 */
static int sync_logs(const vidi__folder *folder, uint64_t first, uint64_t open)
{
    for (uint64_t number = first; number < open; number++) {
        char name[40];
        vidi__file file;
        vidi__log_name(name, number);
        VIDI__TRY(vidi__file_open(&file, folder->handle, name, O_RDONLY));
        int code = vidi__file_sync(&file);
        (void)vidi__system_now->close(file.handle);
        VIDI__TRY(code);
    }
    return VIDI_OK;
}

/* ---- the previous epoch ---- */

/* Damage counts in whichever epoch it is. */
static void add_recovery(vidi_recovery *to, const vidi_recovery *from)
{
    to->logs += from->logs;
    to->records += from->records;
    to->urls += from->urls;
    to->unfinished_bytes += from->unfinished_bytes;
    to->damaged_bytes += from->damaged_bytes;
    to->damaged_places += from->damaged_places;
    if (!*to->damaged_log)
        memcpy(to->damaged_log, from->damaged_log, sizeof to->damaged_log);
}

/* Loads the previous epoch as a set of its own. If its files are gone, it was dropped. */
static int load_previous(vidi_set *set, const vidi_access *access)
{
    vidi_set *previous;
    vidi__durable *durable = set->durable;
    uint64_t bytes;
    tail end;
    if (!set->previous_first)
        return VIDI_OK;
    int code = load_or_map(&previous, &durable->folder, set->previous_first, access, &bytes);
    if (code == VIDI_EABSENT) {
        set->previous_first = set->previous_last = 0; /* so that its other files are removed too */
        return VIDI_OK;
    }
    VIDI__TRY(code);
    previous->read_only = set->read_only; /* for a reader, missing files are not damage */
    code = vidi__durable_alloc(previous, access);
    if (code == VIDI_OK)
        code = replay_logs(previous, &durable->folder, set->previous_first, set->previous_last, &end);
    if (code < 0) {
        vidi_close(previous);
        return vidi__fail_in("the previous epoch", code);
    }
    vidi__durable_ready(previous); /* a mapped set has its logs' operations in the staging area */
    durable->previous = previous;
    add_recovery(&durable->recovery, &previous->durable->recovery);
    return VIDI_OK;
}

/* ---- opening ---- */

static int take_over(vidi_set *set, vidi__folder *folder, const vidi__folder_contents *contents, uint64_t bytes,
                     const vidi_access *access)
{
    tail end;
    VIDI__TRY(vidi__durable_alloc(set, access));
    vidi__durable *durable = set->durable;
    durable->folder = *folder;
    folder->handle = folder->lock.handle = -1;
    durable->snapshot = contents->snapshot;
    durable->snapshot_bytes = bytes;
    VIDI__TRY(replay_logs(set, &durable->folder, contents->snapshot, contents->last_log, &end));
    VIDI__TRY(load_previous(set, access));
    vidi__durable_ready(set);
    if (set->read_only)
        return VIDI_OK;
    VIDI__TRY(go_on(set, &end));
    atomic_store_explicit(&durable->tallied, vidi__record_answers(set), memory_order_relaxed);
    VIDI__TRY(sync_logs(&durable->folder, contents->snapshot, durable->log->number));
    VIDI__TRY(
        vidi__folder_sync(&durable->folder)); /* the process that renamed the snapshot may have died before this */
    vidi__snapshot_set_due(durable);
    vidi__folder_tidy(&durable->folder, contents->snapshot, set->previous_first, set->previous_last);
    return VIDI_OK;
}

static int list(const vidi__folder *folder, const char *path, vidi__folder_contents *contents)
{
    VIDI__TRY(vidi__folder_list(folder, contents));
    return contents->snapshot ? VIDI_OK
                              : vidi__fail(VIDI_EABSENT, "%s is not a vidi set: the folder holds no snapshot", path);
}

/*
 * With several logs there could be a hole: the first was read before its last records were written, and the second
 * after that. But a writer that starts a log before the one before it is written out puts a snapshot in between. So it
 * is enough to check that the snapshot is still the same.
 */
static int check_still(const vidi_set *set, const vidi__folder_contents *then)
{
    vidi__folder_contents contents;
    VIDI__TRY(vidi__folder_list(&set->durable->folder, &contents));
    return contents.snapshot == then->snapshot ? VIDI_OK
                                               : vidi__fail(VIDI_EABSENT, "the set has changed while it was opened");
}

static int open_once(vidi_set **set, vidi__folder *folder, const char *path, const vidi_access *access)
{
    vidi__folder_contents contents;
    uint64_t bytes;
    VIDI__TRY(list(folder, path, &contents));
    VIDI__TRY(load_or_map(set, folder, contents.snapshot, access, &bytes));
    int code = take_over(*set, folder, &contents, bytes, access);
    if (code == VIDI_OK && (*set)->read_only && contents.last_log > contents.snapshot)
        code = check_still(*set, &contents);
    if (code < 0) {
        vidi_close(*set);
        *set = NULL;
    }
    return code;
}

static int open_folder(vidi_set **set, const char *path, const vidi_access *access)
{
    bool reads = access->flags & VIDI_READ_ONLY, found = false;
    int code = VIDI_EABSENT;
    for (int i = 0; i < TRIES && (code == VIDI_EABSENT || code == VIDI_EDIFFERS); i++) {
        vidi__folder folder;
        vidi__folder_contents contents;
        VIDI__TRY(vidi__folder_open(&folder, path));
        code = list(&folder, path, &contents); /* before anything is written to a folder that holds no set */
        found = found || code == VIDI_OK;
        if (code == VIDI_OK && !reads)
            code = vidi__folder_lock(&folder);
        if (code == VIDI_OK)
            code = open_once(set, &folder, path, access);
        vidi__folder_close(&folder);
        if (!reads)
            break;
    }
    bool wrong =
        code == VIDI_EDIFFERS || (code == VIDI_EABSENT && found); /* after so many tries no writer is changing it */
    return wrong ? vidi__fail_in("damaged", VIDI_EFORMAT) : code;
}

int vidi__durable_open(vidi_set **set, const char *path, const vidi_access *access)
{
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    return vidi__quiet_end(&quiet, open_folder(set, path, access));
}
