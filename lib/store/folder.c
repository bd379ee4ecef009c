/* See folder.h. */
#include "store/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fork.h"
#include "store/manifest.h"
#include "store/log.h"
#include "store/segment.h"

#define LOCK_NAME "lock"
#define SET_PREFIX "set."
#define LOG_PREFIX "log."
#define NEW_SUFFIX ".new"
#define MERGE_NAME "merge.new"

/* The number that the files of a new set have. */
#define FIRST 1

/* How often a lock that was replaced meanwhile is tried again, and a listing without a snapshot repeated. */
#define LOCK_TRIES 100
#define LOOK_TRIES 3

/* While a snapshot is written, it is synced each time this much has accumulated. So the last sync is short. */
#define SYNC_EVERY (UINT64_C(64) << 20)

static int failed(const char *what, const char *path)
{
    if (errno == ENOTDIR)
        return vidi__fail(VIDI_EIO, "%s is not a vidi set: it is not a folder", path);
    return vidi__fail(errno == ENOENT ? VIDI_EABSENT : VIDI_EIO, "%s %s: %s", what, path, strerror(errno));
}

/* The number between prefix and suffix; 0 if the name does not match. */
static uint64_t number_in(const char *name, const char *prefix, const char *suffix)
{
    size_t skip = strlen(prefix);
    uint64_t number = 0;
    if (strlen(name) != skip + 16 + strlen(suffix) || strncmp(name, prefix, skip) != 0 ||
        strcmp(name + skip + 16, suffix) != 0)
        return 0;
    for (const char *at = name + skip; at < name + skip + 16; at++) {
        const char *digits = "0123456789abcdef", *digit = strchr(digits, *at);
        if (!*at || !digit)
            return 0;
        number = number << 4 | (uint64_t)(digit - digits);
    }
    return number;
}

void vidi__folder_snapshot_name(char name[40], uint64_t number)
{
    snprintf(name, 40, SET_PREFIX "%016llx", (unsigned long long)number);
}

static void new_name(char name[40], uint64_t number)
{
    snprintf(name, 40, SET_PREFIX "%016llx" NEW_SUFFIX, (unsigned long long)number);
}

/* ---- the folder ---- */

int vidi__folder_open(vidi__folder *folder, const char *path)
{
    folder->lock.handle = -1;
    folder->handle =
        (int)TEMP_FAILURE_RETRY(vidi__system_now->open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
    return folder->handle < 0 ? failed("cannot open the set", path) : VIDI_OK;
}

/* Makes sure that the folder itself survives a crash. */
static int sync_parent(const char *path)
{
    char parent[4096];
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    while (len && path[len - 1] != '/')
        len--;
    if (len >= sizeof parent)
        return vidi__fail(VIDI_EARGUMENT, "the path is too long");
    memcpy(parent, len ? path : ".", len ? len : 1);
    parent[len ? len : 1] = 0;
    vidi__folder above;
    VIDI__TRY(vidi__folder_open(&above, parent));
    int code = vidi__folder_sync(&above);
    vidi__folder_close(&above);
    return code;
}

/*
 * A lock ends when the file is closed in all processes. A child that was forked a moment ago may still have it open: it
 * closes it when it runs for the first time. So the lock is released as well.
 */
static void release_lock(const vidi__folder *folder)
{
    if (folder->lock.handle >= 0)
        (void)vidi__system_now->unlock(folder->lock.handle);
    vidi__fork_forget(folder->lock.handle);
}

static void close_lock(vidi__folder *folder)
{
    release_lock(folder);
    (void)vidi__file_close(&folder->lock);
}

void vidi__folder_close(vidi__folder *folder)
{
    close_lock(folder);
    if (folder->handle >= 0)
        (void)vidi__system_now->close(folder->handle);
    folder->handle = -1;
}

int vidi__folder_sync(const vidi__folder *folder)
{
    return vidi__file_sync(&(vidi__file){folder->handle, "the folder"});
}

/* The process id in the lock file; 0 if there is none. */
static long holder(const vidi__file *file)
{
    char text[24] = "";
    ssize_t got = TEMP_FAILURE_RETRY(vidi__system_now->pread(file->handle, text, sizeof text - 1, 0));
    return got > 0 ? strtol(text, NULL, 10) : 0;
}

static int refuse(vidi__folder *folder)
{
    long other = holder(&folder->lock);
    close_lock(folder);
    if (other > 0)
        return vidi__fail(VIDI_EBUSY, "the set is locked by process %ld", other);
    return vidi__fail(VIDI_EBUSY, "the set is locked by another process");
}

/* Opens the lock file and locks it. */
static int open_and_lock(vidi__folder *folder)
{
    VIDI__TRY(vidi__file_open(&folder->lock, folder->handle, LOCK_NAME, O_RDWR | O_CREAT));
    vidi__fork_watch(folder->lock.handle);
    if ((int)TEMP_FAILURE_RETRY(vidi__system_now->lock(folder->lock.handle)) == 0)
        return VIDI_OK;
    if (errno == EWOULDBLOCK)
        return refuse(folder);
    int code = vidi__fail(VIDI_EIO, "cannot lock the set: %s", strerror(errno));
    close_lock(folder);
    return code;
}

/*
 * Finds out whether the locked file still has this name, and no other. A file with a second name belongs to a
 * copy that was made of links, or is not ours at all; it is replaced by a new one.
 */
static int check_lock(vidi__folder *folder, bool *good)
{
    vidi__file named;
    vidi__file_state mine, now;
    *good = false;
    int code = vidi__file_open(&named, folder->handle, LOCK_NAME, O_RDONLY);
    if (code == VIDI_EABSENT)
        return VIDI_OK;
    VIDI__TRY(code);
    code = vidi__file_stat(&named, &now);
    (void)vidi__system_now->close(named.handle);
    VIDI__TRY(code);
    VIDI__TRY(vidi__file_stat(&folder->lock, &mine));
    if (mine.device != now.device || mine.inode != now.inode)
        return VIDI_OK;
    *good = mine.links == 1;
    return *good ? VIDI_OK : vidi__file_unlink(folder->handle, LOCK_NAME);
}

/* Closes the lock file without a message, which would hide the cause. */
static void drop_lock(vidi__folder *folder)
{
    release_lock(folder);
    (void)vidi__system_now->close(folder->lock.handle);
    folder->lock.handle = -1;
}

int vidi__folder_lock(vidi__folder *folder)
{
    char text[24];
    bool good = false;
    for (int i = 0; i < LOCK_TRIES && !good; i++) {
        VIDI__TRY(open_and_lock(folder));
        int code = check_lock(folder, &good);
        if (code < 0 || !good)
            drop_lock(folder);
        VIDI__TRY(code);
    }
    if (!good)
        return vidi__fail(VIDI_EBUSY, "the set is being locked by many processes at once");
    /* For people only: the lock itself belongs to the kernel and ends with the process. */
    int len = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (vidi__file_truncate(&folder->lock, 0) == VIDI_OK)
        (void)vidi__file_write(&folder->lock, text, (size_t)len);
    return VIDI_OK;
}

/* ---- what is in it ---- */

static int see(void *context, const char *name)
{
    vidi__folder_contents *contents = context;
    uint64_t snapshot = number_in(name, SET_PREFIX, ""), log = number_in(name, LOG_PREFIX, "");
    uint64_t unfinished = number_in(name, SET_PREFIX, NEW_SUFFIX);
    bool is_manifest = strcmp(name, VIDI__MANIFEST_NAME) == 0, is_new_manifest = strcmp(name, VIDI__MANIFEST_NEW) == 0;
    bool is_merge = strcmp(name, MERGE_NAME) == 0;
    if (snapshot > contents->snapshot)
        contents->snapshot = snapshot;
    if (log > contents->last_log)
        contents->last_log = log;
    if (unfinished > contents->last_new)
        contents->last_new = unfinished;
    contents->has_manifest |= is_manifest;
    contents->is_merge |= is_merge;
    if (!snapshot && !log && !unfinished && !is_manifest && !is_new_manifest && !is_merge &&
        strcmp(name, LOCK_NAME) != 0)
        contents->has_others = true;
    return 0;
}

static int list_folder(const vidi__folder *folder, vidi__folder_contents *contents)
{
    int code;
    do {
        *contents = (vidi__folder_contents){0};
        code = vidi__system_now->list(folder->handle, see, contents);
    } while (code != 0 && errno == EINTR);
    if (code != 0)
        return vidi__fail(VIDI_EIO, "cannot list the folder: %s", strerror(errno));
    return VIDI_OK;
}

/* Sets *none if the log of the first snapshot is missing or has no record. */
static int has_no_records(const vidi__folder *folder, bool *none)
{
    char name[40];
    vidi__file file;
    uint64_t bytes = 0;
    vidi__log_name(name, FIRST);
    int code = vidi__file_open(&file, folder->handle, name, O_RDONLY);
    *none = true;
    if (code == VIDI_EABSENT)
        return VIDI_OK;
    VIDI__TRY(code);
    code = vidi__file_size(&file, &bytes);
    (void)vidi__system_now->close(file.handle);
    *none = bytes <= VIDI__LOG_HEAD;
    return code;
}

/* Sets *yes if the manifest is missing, or says that nothing was ever committed. */
static int ends_at_the_beginning(const vidi__folder *folder, bool *yes)
{
    vidi__manifest_contents manifest;
    int code = vidi__manifest_read(folder->handle, &manifest);
    *yes = code == VIDI_EABSENT ||
           (code == VIDI_OK && manifest.snapshot == FIRST && vidi__manifest_last(&manifest) == FIRST &&
            vidi__manifest_length(&manifest, FIRST) <= VIDI__LOG_HEAD);
    return code == VIDI_EIO ? code : VIDI_OK;
}

static int look_once(const vidi__folder *folder, vidi__folder_contents *contents, vidi__folder_sort *sort)
{
    bool none = false, first = false;
    VIDI__TRY(list_folder(folder, contents));
    *sort = contents->snapshot ? VIDI__FOLDER_SET : VIDI__FOLDER_REMAINS;
    if (contents->snapshot)
        return VIDI_OK;
    if (!contents->last_log && !contents->last_new && !contents->has_manifest)
        *sort = VIDI__FOLDER_BARE;
    if (contents->is_merge)
        *sort = VIDI__FOLDER_BEGUN;
    if (contents->is_merge || contents->last_new != FIRST || contents->last_log > FIRST)
        return VIDI_OK;
    VIDI__TRY(has_no_records(folder, &none));
    VIDI__TRY(ends_at_the_beginning(folder, &first));
    if (none && first)
        *sort = VIDI__FOLDER_BEGUN;
    return VIDI_OK;
}

/* A listing may miss a file that is renamed meanwhile, so it is repeated before a snapshot counts as missing. */
int vidi__folder_look(const vidi__folder *folder, vidi__folder_contents *contents, vidi__folder_sort *sort)
{
    *sort = VIDI__FOLDER_REMAINS;
    for (int i = 0; i < LOOK_TRIES && *sort == VIDI__FOLDER_REMAINS; i++)
        VIDI__TRY(look_once(folder, contents, sort));
    return VIDI_OK;
}

/* ---- making one ---- */

/* VIDI_EEXIST unless a set may be made here. */
static int check_free(const vidi__folder *folder, const char *path)
{
    vidi__folder_contents contents;
    vidi__folder_sort sort;
    VIDI__TRY(vidi__folder_look(folder, &contents, &sort));
    if (sort == VIDI__FOLDER_SET)
        return vidi__fail(VIDI_EEXIST, "there is a set at %s already", path);
    if (sort == VIDI__FOLDER_REMAINS)
        return vidi__fail(VIDI_EEXIST, "%s holds part of a set, whose snapshot is missing", path);
    if (contents.has_others)
        return vidi__fail(VIDI_EEXIST, "%s holds other files; a set needs a folder of its own", path);
    return VIDI_OK;
}

int vidi__folder_check_free(const char *path)
{
    vidi__folder folder;
    int code = vidi__folder_open(&folder, path);
    if (code == VIDI_EABSENT)
        return VIDI_OK;
    VIDI__TRY(code);
    code = check_free(&folder, path);
    vidi__folder_close(&folder);
    return code;
}

int vidi__folder_clear(const vidi__folder *folder)
{
    char log[40], snapshot[40];
    vidi__log_name(log, FIRST);
    new_name(snapshot, FIRST);
    VIDI__TRY(vidi__file_unlink(folder->handle, VIDI__MANIFEST_NEW));
    VIDI__TRY(vidi__file_unlink(folder->handle, VIDI__MANIFEST_NAME));
    VIDI__TRY(vidi__file_unlink(folder->handle, log));
    VIDI__TRY(vidi__folder_sync(folder));
    VIDI__TRY(vidi__file_unlink(folder->handle, snapshot));
    return vidi__file_unlink(folder->handle, MERGE_NAME);
}

int vidi__folder_merge_begin(const vidi__folder *folder)
{
    vidi__file file;
    VIDI__TRY(vidi__file_open(&file, folder->handle, MERGE_NAME, O_WRONLY | O_CREAT));
    VIDI__TRY(vidi__file_close(&file));
    return vidi__folder_sync(folder);
}

void vidi__folder_merge_end(const vidi__folder *folder)
{
    (void)vidi__file_unlink(folder->handle, MERGE_NAME); /* beside a snapshot it means nothing */
}

int vidi__folder_create(vidi__folder *folder, const char *path)
{
    folder->handle = folder->lock.handle = -1;
    if (TEMP_FAILURE_RETRY(vidi__system_now->mkdir(path, VIDI__FOLDER_MODE)) != 0 && errno != EEXIST)
        return failed("cannot make the folder", path);
    VIDI__TRY(sync_parent(path));
    VIDI__TRY(vidi__folder_open(folder, path));
    int code = check_free(folder, path); /* before anything is written to a folder that is not ours */
    if (code == VIDI_OK)
        code = vidi__folder_lock(folder);
    if (code == VIDI_OK)
        code = check_free(folder, path);
    if (code == VIDI_OK)
        code = vidi__folder_clear(folder);
    if (code < 0)
        vidi__folder_close(folder);
    return code;
}

/* ---- tidying ---- */

typedef struct tidying {
    const vidi__folder *folder;
    uint64_t keep, also_first, also_last;
} tidying;

/* The number of a snapshot, a log, or the log that part of an index belongs to; 0 if the name is none of these. */
static uint64_t number_of(const char *name)
{
    const size_t skip = sizeof VIDI__SEGMENT_PREFIX - 1;
    char log[40];
    uint64_t number = number_in(name, SET_PREFIX, "");
    if (!number)
        number = number_in(name, LOG_PREFIX, "");
    if (number || strncmp(name, VIDI__SEGMENT_PREFIX, skip) != 0 || strlen(name) < skip + 16)
        return number;
    snprintf(log, sizeof log, LOG_PREFIX "%.16s", name + skip);
    return number_in(log, LOG_PREFIX, "");
}

static int remove_old(void *context, const char *name)
{
    const tidying *self = context;
    uint64_t number = number_of(name);
    bool old = false;
    if (number) {
        old = number < self->keep && !(number >= self->also_first && number <= self->also_last);
    } else {
        old = number_in(name, SET_PREFIX, NEW_SUFFIX) != 0 || strcmp(name, MERGE_NAME) == 0;
    }
    if (old)
        (void)vidi__file_unlink(self->folder->handle, name);
    return 0;
}

void vidi__folder_tidy(const vidi__folder *folder, uint64_t keep, uint64_t also_first, uint64_t also_last)
{
    tidying self = {folder, keep, also_first, also_last};
    (void)vidi__system_now->list(folder->handle, remove_old, &self);
}

/* ---- snapshots ---- */

int vidi__folder_snapshot_begin(vidi__folder_snapshot *snapshot, const vidi__folder *folder, uint64_t number)
{
    char name[40];
    *snapshot = (vidi__folder_snapshot){.folder = folder, .number = number};
    new_name(name, number);
    VIDI__TRY(vidi__file_unlink(folder->handle, name)); /* what a crash has left may have a second name */
    return vidi__file_open(&snapshot->file, folder->handle, name, O_WRONLY | O_CREAT | O_EXCL);
}

static int sink(vidi__folder_snapshot *self, const void *data, size_t bytes)
{
    VIDI__TRY(vidi__file_write(&self->file, data, bytes));
    self->bytes += bytes;
    if (self->bytes - self->synced < SYNC_EVERY)
        return VIDI_OK;
    self->synced = self->bytes;
    return vidi__file_sync(&self->file);
}

int vidi__folder_snapshot_sink(void *context, const void *data, size_t bytes)
{
    vidi__folder_snapshot *self = context;
    self->error = sink(self, data, bytes);
    if (self->error < 0)
        snprintf(self->why, sizeof self->why, "%s", vidi__sentence());
    return self->error;
}

int vidi__folder_snapshot_seal(vidi__folder_snapshot *snapshot)
{
    char name[40];
    new_name(name, snapshot->number);
    int code = vidi__file_sync(&snapshot->file), closed = vidi__file_close(&snapshot->file);
    if (code == VIDI_OK)
        code = closed;
    if (code < 0)
        (void)vidi__file_unlink(snapshot->folder->handle, name);
    return code;
}

int vidi__folder_snapshot_finish(vidi__folder_snapshot *snapshot)
{
    char from[40], to[40];
    new_name(from, snapshot->number);
    vidi__folder_snapshot_name(to, snapshot->number);
    VIDI__TRY(vidi__file_rename(snapshot->folder->handle, from, to));
    snapshot->renamed = true;
    return vidi__folder_sync(snapshot->folder);
}

void vidi__folder_snapshot_abandon(vidi__folder_snapshot *snapshot)
{
    char name[40];
    new_name(name, snapshot->number);
    (void)vidi__file_close(&snapshot->file);
    (void)vidi__file_unlink(snapshot->folder->handle, name);
}
