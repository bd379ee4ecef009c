/*
 * A disk for SQLite that misbehaves: a VFS around the system's own, which
 *
 *   - counts writes, truncations and syncs, and can make the n-th of them fail, once or for ever;
 *   - remembers for the files of one folder what has been synced, and can make the files that a power cut would leave.
 *
 * A power cut keeps what was synced. Each sector of 512 bytes that was written since may be there or not. A write that
 * fails has written the first half. A sync that fails makes nothing durable, and a later one that succeeds does not
 * help: as on Linux, the bytes count as written.
 *
 * Names are durable as soon as the file was synced once; removals at once. Memory that processes share (-shm) is lost.
 */
#ifndef TESTS_CRAWLER_DATABASE_FAILING_DISK_H
#define TESTS_CRAWLER_DATABASE_FAILING_DISK_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/base/bytes.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random.h"

enum { POWER_FILES = 8, POWER_SECTOR = 512 };

/* Something that was done to a file since the last sync. */
typedef struct power_change {
    struct power_change *next;
    bool is_size; /* it was cut to `at` bytes */
    bool lost;    /* a sync has failed since */
    sqlite3_int64 at;
    size_t length;
    char *data;
} power_change;

typedef struct power_record {
    char path[TEST_PATH]; /* empty: unused */
    bool named;           /* its name would survive */
    bytes durable;
    power_change *first, *last;
} power_record;

typedef struct power_file {
    sqlite3_file base;
    power_record *record; /* NULL: not in the folder */
    sqlite3_file *real;
} power_file;

static struct {
    sqlite3_vfs vfs, *real;
    char folder[TEST_PATH];
    power_record records[POWER_FILES];
    uint64_t calls, fail_at, failed;
    int error; /* SQLITE_IOERR or SQLITE_FULL */
    bool for_ever, dead;
    uint64_t syncs;
} power;

/* ---- what is remembered ---- */

static void power_forget_changes(power_record *record)
{
    while (record->first) {
        power_change *gone = record->first;
        record->first = gone->next;
        free(gone->data);
        free(gone);
    }
    record->last = NULL;
}

static void power_note(power_record *record, power_change change, const void *data)
{
    power_change *copy = malloc(sizeof *copy);
    *copy = change;
    copy->data = NULL;
    if (data) {
        copy->data = malloc(change.length + 1);
        memcpy(copy->data, data, change.length);
    }
    copy->next = NULL;
    if (record->last)
        record->last->next = copy;
    else
        record->first = copy;
    record->last = copy;
}

static void power_resize(bytes *to, size_t size)
{
    if (size > to->len) {
        assert_int_equal(bytes_reserve(to, size - to->len), VIDI_OK);
        memset(to->ptr + to->len, 0, size - to->len);
    }
    to->len = size;
}

static void power_put(bytes *to, size_t at, const char *data, size_t length)
{
    if (at + length > to->len)
        power_resize(to, at + length);
    memcpy(to->ptr + at, data, length);
}

static void power_sync(power_record *record)
{
    for (const power_change *change = record->first; change; change = change->next)
        if (change->lost)
            continue;
        else if (change->is_size)
            power_resize(&record->durable, (size_t)change->at);
        else
            power_put(&record->durable, (size_t)change->at, change->data, change->length);
    record->named = true;
    power_forget_changes(record);
}

static power_record *power_find(const char *path)
{
    power_record *unused = NULL;
    if (!path || strncmp(path, power.folder, strlen(power.folder)) != 0)
        return NULL;
    for (size_t i = 0; i < POWER_FILES; i++) {
        if (strcmp(power.records[i].path, path) == 0)
            return &power.records[i];
        if (!power.records[i].path[0] && !unused)
            unused = &power.records[i];
    }
    assert_non_null(unused);
    snprintf(unused->path, sizeof unused->path, "%s", path);
    return unused;
}

static void power_remove(power_record *record)
{
    power_forget_changes(record);
    bytes_free(&record->durable);
    *record = (power_record){0};
}

/* Is it this call's turn to fail? */
static bool power_fails(const power_record *record)
{
    if (!record)
        return false;
    power.calls++;
    bool now = power.fail_at && (power.calls == power.fail_at || (power.for_ever && power.calls > power.fail_at));
    power.failed += now;
    return now;
}

/* ---- the functions of a file ---- */

#define REAL(file) (((power_file *)(file))->real)
#define FORWARD(file, call, ...) REAL(file)->pMethods->call(REAL(file), ##__VA_ARGS__)

static int power_write(sqlite3_file *file, const void *data, int length, sqlite3_int64 at)
{
    power_record *record = ((power_file *)file)->record;
    bool fails = power_fails(record);
    int done = fails ? length / 2 : length;
    if (record)
        power_note(record, (power_change){.at = at, .length = (size_t)done}, data);
    int result = done ? FORWARD(file, xWrite, data, done, at) : SQLITE_OK;
    if (fails)
        return power.error == SQLITE_FULL ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    return result;
}

static int power_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    power_record *record = ((power_file *)file)->record;
    if (power_fails(record))
        return SQLITE_IOERR_TRUNCATE;
    if (record)
        power_note(record, (power_change){.is_size = true, .at = size}, NULL);
    return FORWARD(file, xTruncate, size);
}

static int power_xsync(sqlite3_file *file, int flags)
{
    power_record *record = ((power_file *)file)->record;
    (void)flags;
    if (!record)
        return SQLITE_OK;
    power.syncs++;
    if (power_fails(record)) {
        for (power_change *change = record->first; change; change = change->next)
            change->lost = true;
        return SQLITE_IOERR_FSYNC;
    }
    power_sync(record);
    return SQLITE_OK;
}

static int power_close(sqlite3_file *file)
{
    int result = FORWARD(file, xClose);
    free(REAL(file));
    return result;
}
static int power_read(sqlite3_file *file, void *to, int length, sqlite3_int64 at)
{
    return FORWARD(file, xRead, to, length, at);
}
static int power_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return FORWARD(file, xFileSize, size);
}
static int power_lock(sqlite3_file *file, int lock)
{
    return FORWARD(file, xLock, lock);
}
static int power_unlock(sqlite3_file *file, int lock)
{
    return FORWARD(file, xUnlock, lock);
}
static int power_check_lock(sqlite3_file *file, int *result)
{
    return FORWARD(file, xCheckReservedLock, result);
}
static int power_control(sqlite3_file *file, int op, void *argument)
{
    return FORWARD(file, xFileControl, op, argument);
}
static int power_sector(sqlite3_file *file)
{
    (void)file;
    return POWER_SECTOR;
}
static int power_traits(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE; /* as the system's: a write changes the bytes that it names, and no others */
}
static int power_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **to)
{
    return FORWARD(file, xShmMap, page, size, extend, to);
}
static int power_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return FORWARD(file, xShmLock, offset, n, flags);
}
static void power_shm_barrier(sqlite3_file *file)
{
    FORWARD(file, xShmBarrier);
}
static int power_shm_unmap(sqlite3_file *file, int remove)
{
    return FORWARD(file, xShmUnmap, remove);
}

static const sqlite3_io_methods power_methods = {.iVersion = 2,
                                                 .xClose = power_close,
                                                 .xRead = power_read,
                                                 .xWrite = power_write,
                                                 .xTruncate = power_truncate,
                                                 .xSync = power_xsync,
                                                 .xFileSize = power_size,
                                                 .xLock = power_lock,
                                                 .xUnlock = power_unlock,
                                                 .xCheckReservedLock = power_check_lock,
                                                 .xFileControl = power_control,
                                                 .xSectorSize = power_sector,
                                                 .xDeviceCharacteristics = power_traits,
                                                 .xShmMap = power_shm_map,
                                                 .xShmLock = power_shm_lock,
                                                 .xShmBarrier = power_shm_barrier,
                                                 .xShmUnmap = power_shm_unmap};

static int power_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out)
{
    power_file *opened = (power_file *)file;
    (void)vfs;
    *opened = (power_file){.real = calloc(1, (size_t)power.real->szOsFile)};
    int result = power.real->xOpen(power.real, path, opened->real, flags, out);
    if (result != SQLITE_OK) {
        free(opened->real);
        return result;
    }
    opened->record = power_find(path);
    opened->base.pMethods = &power_methods;
    return SQLITE_OK;
}

static int power_delete(sqlite3_vfs *vfs, const char *path, int sync)
{
    power_record *record = power_find(path);
    (void)vfs;
    if (record)
        power_remove(record);
    return power.real->xDelete(power.real, path, sync);
}

/* ---- for tests ---- */

/* Everything that is in the folder now counts as synced. It should be empty. */
static void power_begin(const char *folder)
{
    memset(&power, 0, sizeof power);
    snprintf(power.folder, sizeof power.folder, "%s", folder);
    power.real = sqlite3_vfs_find(NULL);
    power.vfs = *power.real;
    power.vfs.zName = "power";
    power.vfs.szOsFile = sizeof(power_file);
    power.vfs.xOpen = power_open;
    power.vfs.xDelete = power_delete;
    power.vfs.pNext = NULL;
    assert_int_equal(sqlite3_vfs_register(&power.vfs, 1), SQLITE_OK);
}

static void power_end(void)
{
    sqlite3_vfs_unregister(&power.vfs);
    sqlite3_vfs_register(power.real, 1);
    for (size_t i = 0; i < POWER_FILES; i++)
        power_remove(&power.records[i]);
}

/* Makes the n-th call from now (from 1) fail with SQLITE_IOERR or SQLITE_FULL, and, if for_ever, all after it. */
static void power_fail(uint64_t n, int error, bool for_ever)
{
    power.fail_at = n ? power.calls + n : 0;
    power.error = error;
    power.for_ever = for_ever;
    power.failed = 0;
}

/* What is there after a power cut: seed 0 keeps nothing that was not synced, 1 everything, others some sectors. */
static void power_image_of(const power_record *record, uint64_t seed, const char *out)
{
    test_random random = {seed};
    bytes image = {0};
    power_resize(&image, record->durable.len);
    if (image.len)
        memcpy(image.ptr, record->durable.ptr, image.len);
    for (const power_change *change = seed ? record->first : NULL; change; change = change->next) {
        if (change->is_size && (seed == 1 || test_below(&random, 2)))
            power_resize(&image, (size_t)change->at);
        for (size_t at = 0, n; !change->is_size && at < change->length; at += n) {
            n = POWER_SECTOR - ((size_t)change->at + at) % POWER_SECTOR;
            n = n < change->length - at ? n : change->length - at;
            if (seed == 1 || test_below(&random, 2))
                power_put(&image, (size_t)change->at + at, change->data + at, n);
        }
    }
    if (record->named || seed)
        test_file_write(out, strrchr(record->path, '/') + 1, image.ptr ? image.ptr : "", image.len);
    bytes_free(&image);
}

static void power_image(uint64_t seed, const char *out)
{
    for (size_t i = 0; i < POWER_FILES; i++)
        if (power.records[i].path[0])
            power_image_of(&power.records[i], seed * 8 + (seed > 1 ? i : 0) - (seed == 1 ? 7 : 0), out);
}

#endif
