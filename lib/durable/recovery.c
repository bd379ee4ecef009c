/*
 * From a folder back to a set: the snapshot in force, then every record of the logs that follow it. A writer reads the
 * snapshot into memory. A reader maps it, so that many processes share one copy, and keeps the logs' operations in its
 * staging area.
 *
 * If something that was committed is gone, a reader opens what is left and tells (vidi_recovered). A writer refuses and
 * changes nothing, unless the caller accepts the damage: what it writes next would make the loss look like a set that
 * never held more.
 */
#include "durable/durable.h"

#include <fcntl.h>
#include <stdio.h>

#include "store/guard.h"

/*
 * A reader that finds something wrong checks whether a writer has changed the files meanwhile, and starts again if so.
 * After this many tries it gives up.
 */
#define TRIES 100
/* How often it is opened with a filter that grows less. */
#define ROOM_STEPS 4

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
    int code = vidi__set_read(set, read_file, &source, source.left, access, true);
    (void)vidi__system_now->close(source.file.handle); /* not vidi__file_close, whose message would hide the cause */
    if (source.error < 0 && code == VIDI_EIO)          /* after any other error, what was read ahead does not matter */
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

/* ---- the previous epoch ---- */

static bool is_damaged(const vidi_recovery *recovery)
{
    return recovery->damaged_bytes || recovery->missing_files;
}

/* Damage counts in whichever epoch it is. */
static void add_recovery(vidi_recovery *to, const vidi_recovery *from)
{
    if (!*to->damaged_log) {
        memcpy(to->damaged_log, from->damaged_log, sizeof to->damaged_log);
        to->damaged_at = from->damaged_at;
    }
    if (!*to->missing_file)
        memcpy(to->missing_file, from->missing_file, sizeof to->missing_file);
    to->logs += from->logs;
    to->records += from->records;
    to->urls += from->urls;
    to->unfinished_bytes += from->unfinished_bytes;
    to->damaged_bytes += from->damaged_bytes;
    to->damaged_places += from->damaged_places;
    to->missing_files += from->missing_files;
}

/* The previous epoch's snapshot is gone: it was dropped, unless the manifest says that it is still needed. */
static void lose_previous(vidi_set *set, const vidi__logs *logs)
{
    char name[40];
    vidi__folder_snapshot_name(name, set->previous_first);
    if (logs->has_manifest && logs->known.first <= set->previous_first)
        vidi__logs_lost(&set->durable->recovery, name);
    set->previous_first = set->previous_last = 0; /* so that its other files are removed too */
}

/* The logs have removals, which an index does not know. */
static bool index_is_unfit(const vidi_set *set)
{
    return set->durable && set->durable->index_is_unfit;
}

/* Loads the previous epoch as a set of its own. */
static int load_previous(vidi_set *set, const vidi_access *access, vidi__logs *logs)
{
    vidi_set *previous;
    vidi__durable *durable = set->durable;
    uint64_t bytes;
    if (!set->previous_first)
        return VIDI_OK;
    int code = load_or_map(&previous, &durable->folder, set->previous_first, access, &bytes);
    if (code == VIDI_EABSENT) {
        lose_previous(set, logs);
        return VIDI_OK;
    }
    VIDI__TRY(code);
    code = vidi__durable_alloc(previous, access);
    if (code == VIDI_OK)
        code = vidi__logs_replay(previous, logs, set->previous_first, set->previous_last);
    if (code < 0) {
        durable->index_is_unfit = index_is_unfit(previous);
        vidi_close(previous);
        return vidi__fail_in("the previous epoch", code);
    }
    logs->ragged = false;          /* these logs are not written to any more */
    vidi__durable_ready(previous); /* a mapped set has its logs' operations in the staging area */
    add_recovery(&durable->recovery, &previous->durable->recovery);
    if (is_damaged(&previous->durable->recovery) && !set->read_only) { /* if that is accepted, the epoch is dropped */
        vidi_close(previous);
        set->previous_first = set->previous_last = 0;
        logs->found.count = 0;
        return VIDI_OK;
    }
    set->previous_set = previous;
    return VIDI_OK;
}

/* ---- damage ---- */

static int refuse_damage(const vidi_recovery *recovery)
{
    bool is_manifest =
        strcmp(recovery->missing_file, VIDI__MANIFEST_NAME) == 0; /* then nobody knows what should be there */
    if (recovery->missing_files)
        return vidi__fail(VIDI_EDAMAGED, "part of what was committed %s gone: %s is missing or damaged",
                          is_manifest ? "may be" : "is", recovery->missing_file);
    return vidi__fail(VIDI_EDAMAGED, "part of what was committed is gone: %s is damaged: %llu bytes, from byte %llu on",
                      recovery->damaged_log, (unsigned long long)recovery->damaged_bytes,
                      (unsigned long long)recovery->damaged_at);
}

/* ---- opening ---- */

/* One attempt at opening a folder. */
typedef struct opening {
    const char *path;
    const vidi_access *access;
    vidi__folder folder;
    vidi__folder_contents contents;
    vidi__logs logs;
    bool no_index; /* read all of the logs */
    bool again;    /* the next attempt must do so */
    unsigned room; /* the filter leaves more room in the memory limit, in steps */
    bool full;     /* the limit was reached while the logs were replayed, or the log opened */
} opening;

/* Commits go to the last log if it ends cleanly, and to a new one otherwise. */
static int go_on(vidi_set *set, const vidi__logs *logs)
{
    vidi__durable *durable = set->durable;
    const vidi__log_found *tail = &logs->tail;
    if (!tail->headless && !tail->unfinished)
        return vidi__durable_old_log(set, logs->last, tail->bytes, &durable->log);
    uint64_t number = logs->last + !tail->headless;
    VIDI__TRY(vidi__durable_new_log(set, number, set->now.number, &durable->log));
    int code = vidi__manifest_add_log(&durable->manifest, number, VIDI__LOG_HEAD);
    if (code < 0) { /* a log that may not be listed must stay without records */
        (void)vidi__durable_end_log(set, durable->log);
        durable->log = NULL;
    }
    return code;
}

/*
 * Readies the folder for writing. If something is gone, or a log is ragged, a snapshot replaces the logs at once:
 * recovery could not tell such a log from a damaged one the next time.
 */
static int start_writing(vidi_set *set, opening *self)
{
    vidi__durable *durable = set->durable;
    vidi__logs *logs = &self->logs;
    uint64_t listed = vidi__manifest_last(&logs->known), last = self->contents.last_log;
    last = last > durable->snapshot ? last : durable->snapshot;
    logs->found.identity = vidi__durable_log_id(set, 0, 0).identity;
    logs->found.snapshot = durable->snapshot;
    logs->found.first = set->previous_first ? set->previous_first : durable->snapshot;
    vidi__manifest_begin(&durable->manifest, durable->folder.handle, durable->folder.lock.handle, &logs->found);
    atomic_store_explicit(&durable->tallied, vidi__record_answers(set), memory_order_relaxed);
    if (is_damaged(&durable->recovery) || logs->ragged) {
        VIDI__TRY(vidi__durable_apply(set, UINT64_MAX));
        return vidi__snapshot_replace(set, (listed > last ? listed : last) + 1);
    }
    VIDI__TRY(vidi__logs_sync(logs, durable->snapshot));
    /* The process that renamed the snapshot may have died before it synced the folder. */
    VIDI__TRY(vidi__folder_sync(&durable->folder));
    VIDI__TRY(vidi__manifest_put(&durable->manifest));
    return go_on(set, logs);
}

static int take_over(vidi_set *set, opening *self, uint64_t bytes)
{
    VIDI__TRY(vidi__durable_alloc(set, self->access));
    vidi__durable *durable = set->durable;
    vidi__logs *logs = &self->logs;
    durable->room_steps = self->room;
    uint64_t first = self->contents.snapshot, last = self->contents.last_log,
             listed = vidi__manifest_last(&logs->known);
    durable->folder = self->folder;
    self->folder.handle = self->folder.lock.handle = -1;
    logs->folder = &durable->folder;
    durable->snapshot = first;
    durable->snapshot_bytes = bytes;
    VIDI__TRY(load_previous(set, self->access, logs));
    VIDI__TRY(vidi__logs_replay(set, logs, first, listed > last ? listed : last));
    vidi__logs_check_manifest(set, logs);
    vidi__durable_ready(set);
    if (set->read_only)
        return VIDI_OK;
    if (is_damaged(&durable->recovery) && !(self->access->flags & VIDI_ACCEPT_DAMAGE))
        return refuse_damage(&durable->recovery);
    VIDI__TRY(start_writing(set, self));
    vidi__durable_put_aside(set, VIDI__ASIDE_WRITING);
    vidi__snapshot_set_due(durable);
    vidi__folder_tidy(&durable->folder, durable->snapshot, set->previous_first, set->previous_last);
    return VIDI_OK;
}

/* `number` is 0 if nobody knows which one it was. */
static int missing_snapshot(uint64_t number)
{
    char name[40] = "the snapshot";
    if (number)
        vidi__folder_snapshot_name(name, number);
    return vidi__fail(VIDI_EFORMAT,
                      "damaged: %s is missing; it was deleted, or the folder is a copy that was interrupted", name);
}

/* Lists the folder. VIDI_EABSENT if there is no set, VIDI_EFORMAT if there was one. */
static int look(opening *self)
{
    vidi__folder_sort sort;
    VIDI__TRY(vidi__logs_begin(&self->logs, &self->folder));
    self->logs.no_index = self->no_index;
    VIDI__TRY(vidi__folder_look(&self->folder, &self->contents, &sort));
    uint64_t named = self->logs.known.snapshot;
    if (sort == VIDI__FOLDER_SET)
        return named > self->contents.snapshot ? missing_snapshot(named) : VIDI_OK;
    if (sort == VIDI__FOLDER_REMAINS)
        return missing_snapshot(named);
    return vidi__fail(VIDI_EABSENT, "%s is not a vidi set: the folder holds no snapshot", self->path);
}

static bool are_same(const vidi__manifest_contents *a, const vidi__manifest_contents *b)
{
    bool same =
        a->identity == b->identity && a->snapshot == b->snapshot && a->first == b->first && a->count == b->count;
    for (uint64_t i = 0; same && i < a->count; i++)
        same = a->logs[i].number == b->logs[i].number;
    return same;
}

/* Returns true if a writer has changed which files there are since this opening looked. */
static bool has_changed(const opening *self, const char *path)
{
    opening now = {.path = path};
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    bool changed = true;
    if (vidi__folder_open(&now.folder, path) == VIDI_OK) {
        (void)look(&now);
        changed = now.contents.snapshot != self->contents.snapshot ||
                  now.contents.last_log != self->contents.last_log ||
                  now.logs.has_manifest != self->logs.has_manifest || !are_same(&now.logs.known, &self->logs.known);
        vidi__folder_close(&now.folder);
    }
    vidi__quiet_end(&quiet, VIDI_OK);
    return changed;
}

/* A set that a program keeps in step with its own files may be changed by that program alone. */
static int check_owner(const vidi_set *set, const vidi_access *access)
{
    const vidi__note *owner = set->owner;
    size_t length = owner ? owner->len : 0;
    const char *caller = access->owner ? access->owner : "";
    if (access->flags & VIDI_READ_ONLY ||
        (strlen(caller) == length && (!owner || memcmp(owner->bytes, caller, length) == 0)))
        return VIDI_OK;
    if (!owner)
        return vidi__fail(VIDI_EOWNED, "the set does not belong to '%s', which did not make it", caller);
    return vidi__fail(
        VIDI_EOWNED,
        "the set belongs to '%.*s', and no other program may change it, because the two would not fit together any "
        "more; read it, or change a copy (vidi export, vidi import)",
        (int)length, owner->bytes);
}

static int open_once(vidi_set **set, opening *self)
{
    uint64_t bytes;
    VIDI__TRY(load_or_map(set, &self->folder, self->contents.snapshot, self->access, &bytes));
    int code = check_owner(*set, self->access);
    if (code == VIDI_OK)
        code = take_over(*set, self, bytes);
    if (code < 0) {
        self->full = code == VIDI_ELIMIT && !(*set)->mapped;
        self->again = !self->no_index && index_is_unfit(*set);
        self->no_index |= self->again;
        vidi_close(*set);
        *set = NULL;
    }
    return code;
}

/* Opens the folder, and looks before anything is written to one that holds no set. */
static int open_and_look(opening *self, bool writes)
{
    VIDI__TRY(vidi__folder_open(&self->folder, self->path));
    VIDI__TRY(look(self));
    if (!writes)
        return VIDI_OK;
    VIDI__TRY(vidi__folder_lock(&self->folder));
    return look(self); /* another process may have changed everything before it gave up the lock */
}

/*
 * A reader may have read files of different moments. With several logs there could even be a gap: the first was read
 * before its last records were written, and the second after that. But a writer that starts a new log changes the list
 * of logs. So it is enough that the files are still the same.
 */
static bool is_of_one_moment(const opening *self, const vidi_set *set, int code)
{
    bool fine =
        code == VIDI_OK && !is_damaged(&set->durable->recovery) && self->contents.last_log == self->contents.snapshot;
    bool settled = code != VIDI_OK && code != VIDI_EABSENT && code != VIDI_EDIFFERS && code != VIDI_EFORMAT;
    return fine || settled || !has_changed(self, self->path);
}

/*
 * At its memory limit a set has its last URLs in the staging area, because the filter could not grow beside that. When
 * the logs are replayed, the staging area is empty and the filter may grow, and then there is no room for the rest. So
 * an opening that reaches the limit is repeated with a filter that grows less.
 */
static int open_folder(vidi_set **set, const char *path, const vidi_access *access)
{
    bool reads = access->flags & VIDI_READ_ONLY, settled = false, no_index = false;
    int code = VIDI_EABSENT;
    unsigned room = 0;
    for (int i = 0; i < TRIES && !settled; i++) {
        opening self = {.path = path, .access = access, .no_index = no_index, .room = room};
        vidi_close(*set);
        *set = NULL;
        self.folder.handle = self.folder.lock.handle = -1;
        code = open_and_look(&self, !reads);
        bool found = self.contents.snapshot > 0;
        if (code == VIDI_OK)
            code = open_once(set, &self);
        vidi__folder_close(&self.folder);
        no_index = self.no_index;
        bool tight = self.full && room < ROOM_STEPS;
        room += tight;
        settled = !tight && (!reads || (!self.again && is_of_one_moment(&self, *set, code)));
        if (code == VIDI_EDIFFERS || (code == VIDI_EABSENT && found))
            code = vidi__fail_in("damaged", VIDI_EFORMAT);
    }
    if (!settled && code == VIDI_OK) {
        vidi_close(*set);
        *set = NULL;
        code = vidi__fail(VIDI_EBUSY, "the set has changed each time that it was opened");
    }
    return code;
}

int vidi__durable_open(vidi_set **set, const char *path, const vidi_access *access)
{
    vidi__quiet quiet;
    vidi__quiet_begin(&quiet);
    return vidi__quiet_end(&quiet, open_folder(set, path, access));
}
