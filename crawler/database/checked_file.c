/*
 * The VFS of the database: see checked_file.h. Only the database file itself is wrapped; the log, and whatever else
 * SQLite opens, goes straight to the system. Offsets and sizes of the wrapped file are those of the real one.
 */
#include "crawler/database/checked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "vidi/vidi.h"

enum { CONTENT = CHECKED_PAGE - CHECKED_RESERVED, LANES = 4, TRIES = 5 };

#define VFS_NAME "vidi-checked"

/* ---- checksums ---- */

static uint64_t step(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0xd6e8feb86659fd93);
    return sum ^ sum >> 32;
}

/*
 * Four sums, of every fourth word each, which the processor computes at the same time; then the sum of the four. Each
 * step is a bijection, so pages that differ in one word nearly always have different sums. 0 means "no sum"; two bits
 * are always set, so that no single flipped bit turns a sum into 0.
 */
static uint64_t sum_of(const unsigned char *page, uint64_t offset)
{
    uint64_t words[CONTENT / 8], lanes[LANES] = {offset, 1, 2, 3}, sum = 0;

    memcpy(words, page, CONTENT);
    for (size_t i = 0; i < CONTENT / 8; i++)
        lanes[i % LANES] = step(lanes[i % LANES], words[i]);
    for (size_t i = 0; i < LANES; i++)
        sum = step(sum, lanes[i]);
    return sum | UINT64_C(0x8000000000000001);
}

static uint64_t sum_in(const unsigned char *page)
{
    uint64_t sum;

    memcpy(&sum, page + CONTENT, sizeof sum);
    return sum;
}

static bool is_good(const unsigned char *page, uint64_t offset)
{
    return sum_in(page) == 0 || sum_in(page) == sum_of(page, offset);
}

/* True if the first page says that pages have this size and leave room for a checksum. */
static bool has_sums(const unsigned char *head)
{
    return head[16] << 8 == CHECKED_PAGE && head[17] == 0 && head[20] == CHECKED_RESERVED;
}

/* ---- the file ---- */

typedef struct checked_file {
    sqlite3_file base;
    bool sums; /* as has_sums says */
    unsigned char *scratch;
    sqlite3_file real[]; /* SQLite has allocated room for the real file here */
} checked_file;

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((checked_file *)file)->real;
}

static bool is_page(int bytes, sqlite3_int64 offset)
{
    return bytes == CHECKED_PAGE && offset % CHECKED_PAGE == 0;
}

static int read_file(sqlite3_file *file, void *bytes, int n, sqlite3_int64 offset)
{
    checked_file *checked = (checked_file *)file;
    int result = checked->real->pMethods->xRead(checked->real, bytes, n, offset);

    if (result != SQLITE_OK)
        return result;
    if (offset == 0 && n >= 100)
        checked->sums = has_sums(bytes);
    if (!checked->sums || !is_page(n, offset))
        return SQLITE_OK;
    if (!is_good(bytes, (uint64_t)offset))
        return SQLITE_IOERR_DATA;
    memset((char *)bytes + CONTENT, 0, CHECKED_RESERVED);
    return SQLITE_OK;
}

static int write_file(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 offset)
{
    checked_file *checked = (checked_file *)file;

    if (offset == 0 && n >= 100)
        checked->sums = has_sums(bytes);
    if (!checked->sums || !is_page(n, offset))
        return checked->real->pMethods->xWrite(checked->real, bytes, n, offset);
    memcpy(checked->scratch, bytes, CHECKED_PAGE);
    uint64_t sum = sum_of(checked->scratch, (uint64_t)offset);
    memcpy(checked->scratch + CONTENT, &sum, sizeof sum);
    return checked->real->pMethods->xWrite(checked->real, checked->scratch, n, offset);
}

static int close_file(sqlite3_file *file)
{
    free(((checked_file *)file)->scratch);
    return real_of(file)->pMethods->xClose(real_of(file));
}

/* The rest is passed on. */
#define PASS(name, method, parameters, arguments)                                                                      \
    static int name parameters                                                                                         \
    {                                                                                                                  \
        return real_of(file)->pMethods->method arguments;                                                              \
    }
PASS(truncate_file, xTruncate, (sqlite3_file * file, sqlite3_int64 size), (real_of(file), size))
PASS(sync_file, xSync, (sqlite3_file * file, int flags), (real_of(file), flags))
PASS(size_file, xFileSize, (sqlite3_file * file, sqlite3_int64 *size), (real_of(file), size))
PASS(lock_file, xLock, (sqlite3_file * file, int level), (real_of(file), level))
PASS(unlock_file, xUnlock, (sqlite3_file * file, int level), (real_of(file), level))
PASS(check_lock, xCheckReservedLock, (sqlite3_file * file, int *held), (real_of(file), held))
PASS(control_file, xFileControl, (sqlite3_file * file, int what, void *argument), (real_of(file), what, argument))
PASS(sector_size, xSectorSize, (sqlite3_file * file), (real_of(file)))
PASS(characteristics, xDeviceCharacteristics, (sqlite3_file * file), (real_of(file)))
PASS(map_shared, xShmMap, (sqlite3_file * file, int page, int size, int extend, void volatile **at),
     (real_of(file), page, size, extend, at))
PASS(lock_shared, xShmLock, (sqlite3_file * file, int offset, int n, int flags), (real_of(file), offset, n, flags))
PASS(unmap_shared, xShmUnmap, (sqlite3_file * file, int remove), (real_of(file), remove))

static void barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static const sqlite3_io_methods methods = {.iVersion = 2,
                                           .xClose = close_file,
                                           .xRead = read_file,
                                           .xWrite = write_file,
                                           .xTruncate = truncate_file,
                                           .xSync = sync_file,
                                           .xFileSize = size_file,
                                           .xLock = lock_file,
                                           .xUnlock = unlock_file,
                                           .xCheckReservedLock = check_lock,
                                           .xFileControl = control_file,
                                           .xSectorSize = sector_size,
                                           .xDeviceCharacteristics = characteristics,
                                           .xShmMap = map_shared,
                                           .xShmLock = lock_shared,
                                           .xShmBarrier = barrier,
                                           .xShmUnmap = unmap_shared};

/* ---- the VFS ---- */

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out)
{
    sqlite3_vfs *real = vfs->pAppData;

    if (!(flags & SQLITE_OPEN_MAIN_DB))
        return real->xOpen(real, path, file, flags, out);
    checked_file *checked = (checked_file *)file;
    *checked = (checked_file){.scratch = malloc(CHECKED_PAGE)};
    if (!checked->scratch)
        return SQLITE_NOMEM;
    int result = real->xOpen(real, path, checked->real, flags, out);
    if (result == SQLITE_OK) {
        checked->base.pMethods = &methods;
        return SQLITE_OK;
    }
    if (checked->real->pMethods)
        checked->real->pMethods->xClose(checked->real);
    free(checked->scratch);
    return result;
}

const char *checked_file_vfs(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static sqlite3_vfs vfs;
    int result = SQLITE_OK;

    pthread_mutex_lock(&lock);
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    if (real && vfs.pAppData != real) { /* tests put another one there */
        if (vfs.pAppData)
            sqlite3_vfs_unregister(&vfs);
        vfs = *real;
        vfs.pNext = NULL;
        vfs.zName = VFS_NAME;
        vfs.pAppData = real;
        vfs.szOsFile = (int)sizeof(checked_file) + real->szOsFile;
        vfs.xOpen = open_file;
        result = sqlite3_vfs_register(&vfs, 0);
    }
    pthread_mutex_unlock(&lock);
    return real && result == SQLITE_OK ? VFS_NAME : NULL;
}

/* ---- all pages ---- */

/* A page that is being written meanwhile may be read half old, half new; so it is read again. */
static bool read_good(int file, unsigned char *page, uint64_t offset, ssize_t *got)
{
    for (int i = 0; i < TRIES; i++) {
        *got = file_read_at(file, page, CHECKED_PAGE, offset);
        if (*got != CHECKED_PAGE || is_good(page, offset))
            return true;
    }
    return false;
}

static int read_pages(int file, unsigned char *page, checked_pages *found)
{
    ssize_t got = CHECKED_PAGE;

    for (uint64_t offset = 0; got == CHECKED_PAGE; offset += CHECKED_PAGE) {
        bool good = read_good(file, page, offset, &got);
        if (got < 0)
            return VIDI_EIO;
        if (got == 0)
            break;
        bool whole = got == CHECKED_PAGE;
        found->pages++;
        found->unchecked += whole && sum_in(page) == 0;
        if (good && whole && (offset > 0 || has_sums(page)))
            continue;
        if (found->damaged++ == 0)
            found->first = found->pages;
    }
    return VIDI_OK;
}

int checked_file_read(const char *path, checked_pages *found)
{
    unsigned char *page = malloc(CHECKED_PAGE);
    int file = page ? (int)TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC)) : -1;
    int error = !page ? VIDI_EMEMORY : file < 0 ? VIDI_EIO : VIDI_OK;

    *found = (checked_pages){0};
    if (!error)
        error = read_pages(file, page, found);
    if (file >= 0)
        close(file);
    free(page);
    return error;
}
