#include "support/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file.h"
#include "support/check.h"
#include "support/random.h"

enum { SECTOR = 512, MOST_HANDLES = 4096, NAME = 64 };

/* A write that was not synced. Without data, a truncation. */
typedef struct change {
    uint64_t offset;
    unsigned char *data;
    size_t bytes;
    bool lost; /* a sync of it has failed, so no later sync writes it to disk */
} change;

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

/* A file, independent of its names. */
typedef struct inode {
    bytes synced;
    change *changes;
    size_t count;
} inode;

/* Names and their inode numbers. */
typedef struct entry {
    char name[NAME];
    size_t inode;
} entry;

typedef struct names {
    entry *list;
    size_t count;
} names;

/* A change to the folder, not synced: removes the name `from` and makes `to` name the inode; either may be empty. */
typedef struct move {
    char from[NAME], to[NAME];
    size_t inode;
    bool lost;
} move;

static struct {
    pthread_mutex_t lock;
    dev_t device;
    ino_t folder;
    inode *inodes;
    size_t n_inodes;
    names durable, current;
    move *moves;
    size_t n_moves;
    size_t handles[MOST_HANDLES]; /* inode + 1 of open files, or 0 */
    uint64_t calls[DISK_CALLS];
    disk_call fail_call;
    uint64_t fail_at, fail_times, failed;
    int fail_error;
    uint64_t die_at; /* number of the call at which the process dies; 0: never */
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *grown(void *list, size_t count, size_t size)
{
    void *more = realloc(list, (count + 1) * size);
    if (!more) {
        perror("disk");
        exit(2);
    }
    return more;
}

static unsigned char *copied(const void *data, size_t size)
{
    unsigned char *copy = grown(NULL, size, 1);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

/* ---- names ---- */

static entry *find(const names *in, const char *name)
{
    for (size_t i = 0; i < in->count; i++)
        if (strcmp(in->list[i].name, name) == 0)
            return &in->list[i];
    return NULL;
}

static void forget(names *in, const char *name)
{
    entry *found = find(in, name);
    if (found)
        *found = in->list[--in->count];
}

static void enter(names *in, const char *name, size_t number)
{
    forget(in, name);
    in->list = grown(in->list, in->count, sizeof *in->list);
    snprintf(in->list[in->count].name, NAME, "%s", name);
    in->list[in->count++].inode = number;
}

/* A name is removed only if it still names the moved file: a new file may have taken the name since. */
static void apply_move(names *to, const move *done)
{
    const entry *found = find(to, done->from);
    if (found && found->inode == done->inode)
        forget(to, done->from);
    if (*done->to)
        enter(to, done->to, done->inode);
}

static void add_move(const char *from, const char *to, size_t number)
{
    move added = {.inode = number};
    snprintf(added.from, NAME, "%s", from);
    snprintf(added.to, NAME, "%s", to);
    disk.moves = grown(disk.moves, disk.n_moves, sizeof *disk.moves);
    disk.moves[disk.n_moves++] = added;
    apply_move(&disk.current, &added);
}

/* ---- bytes ---- */

static void resize(bytes *in, size_t size)
{
    in->data = grown(in->data, size, 1);
    if (size > in->size)
        memset(in->data + in->size, 0, size - in->size);
    in->size = size;
}

static void put(bytes *in, uint64_t offset, const unsigned char *data, size_t size)
{
    if (offset + size > in->size)
        resize(in, (size_t)offset + size);
    memcpy(in->data + offset, data, size);
}

static void apply_change(bytes *to, const change *done)
{
    if (done->data)
        put(to, done->offset, done->data, done->bytes);
    else
        resize(to, (size_t)done->offset);
}

static void add_change(size_t number, uint64_t offset, const void *data, size_t size)
{
    inode *file = &disk.inodes[number];
    file->changes = grown(file->changes, file->count, sizeof *file->changes);
    file->changes[file->count++] = (change){offset, data ? copied(data, size) : NULL, size, false};
}

static size_t add_inode(bytes synced)
{
    disk.inodes = grown(disk.inodes, disk.n_inodes, sizeof *disk.inodes);
    disk.inodes[disk.n_inodes] = (inode){.synced = synced};
    return disk.n_inodes++;
}

/* ---- syncs ---- */

/*
 * Takes from a lost write what a later change, which is synced now, has cut off or written over: of those bytes only the
 * later ones can be on disk. Of a write that is partly overwritten nothing stays.
 */
static void supersede(change *lost, const change *later)
{
    uint64_t end = lost->offset + lost->bytes;
    if (!later->data && later->offset < end)
        lost->bytes = later->offset > lost->offset ? (size_t)(later->offset - lost->offset) : 0;
    else if (later->data && later->offset < end && lost->offset < later->offset + later->bytes)
        lost->bytes = 0;
}

static void sync_file(inode *file, bool failed)
{
    size_t kept = 0;
    for (size_t i = 0; i < file->count; i++) {
        change *next = &file->changes[i];
        next->lost |= failed;
        if (next->lost && next->data && !next->bytes) {
            free(next->data);
            continue;
        }
        if (next->lost) {
            file->changes[kept++] = *next;
            continue;
        }
        for (size_t k = 0; k < kept; k++)
            supersede(&file->changes[k], next);
        apply_change(&file->synced, next);
        free(next->data);
    }
    file->count = kept;
}

/* True if a later move changes one of the same names: then the later one decides. */
static bool is_superseded(const move *older, size_t index)
{
    for (size_t i = index + 1; i < disk.n_moves; i++)
        if (!disk.moves[i].lost && *older->to && (strcmp(older->to, disk.moves[i].to) == 0))
            return true;
    return false;
}

static void sync_folder(bool failed)
{
    size_t kept = 0;
    for (size_t i = 0; i < disk.n_moves; i++)
        disk.moves[i].lost |= failed;
    for (size_t i = 0; i < disk.n_moves; i++) {
        if (!disk.moves[i].lost)
            apply_move(&disk.durable, &disk.moves[i]);
        else if (!is_superseded(&disk.moves[i], i))
            disk.moves[kept++] = disk.moves[i];
    }
    disk.n_moves = kept;
}

/* ---- the calls ---- */

static bool is_dead(void)
{
    return disk.die_at && disk.calls[DISK_ANY] >= disk.die_at;
}

/* Takes the lock and counts the call. Returns the error that the call must fail with, or 0. */
static int begin(disk_call call)
{
    pthread_mutex_lock(&disk.lock);
    disk.calls[call]++;
    disk.calls[DISK_ANY]++;
    if (is_dead())
        return EIO;
    if (!disk.fail_at || (disk.fail_call != DISK_ANY && disk.fail_call != call))
        return 0;
    uint64_t index = disk.calls[disk.fail_call];
    if (index < disk.fail_at || index - disk.fail_at >= disk.fail_times)
        return 0;
    if (disk.fail_error < 0 && call != DISK_WRITE && call != DISK_PREAD && call != DISK_PWRITE)
        return 0;
    disk.failed++;
    if (disk.fail_error == DISK_FULL && (disk.failed > 1 || call == DISK_PREAD || call == DISK_PWRITE))
        return ENOSPC;
    return disk.fail_error == DISK_FULL ? DISK_SHORT : disk.fail_error;
}

static int end(int result, int error)
{
    pthread_mutex_unlock(&disk.lock);
    errno = error;
    return result;
}

static bool is_ours(int folder)
{
    struct stat is;
    return fstat(folder, &is) == 0 && is.st_dev == disk.device && is.st_ino == disk.folder;
}

static inode *inode_of(int file)
{
    if (file < 0 || file >= MOST_HANDLES || !disk.handles[file])
        return NULL;
    return &disk.inodes[disk.handles[file] - 1];
}

static void opened(int file, const char *name, int flags)
{
    struct stat is;
    if (file >= MOST_HANDLES || fstat(file, &is) != 0 || !S_ISREG(is.st_mode))
        return;
    const entry *found = find(&disk.current, name);
    if (!found) {
        add_move("", name, add_inode((bytes){0}));
        found = find(&disk.current, name);
    } else if (flags & O_TRUNC) {
        add_change(found->inode, 0, NULL, 0);
    }
    disk.handles[file] = found->inode + 1;
}

static int disk_open(int folder, const char *name, int flags, mode_t mode)
{
    int error = begin(DISK_OPEN);
    if (error)
        return end(-1, error);
    int file = vidi__system_real.open(folder, name, flags, mode);
    error = errno;
    if (file >= 0 && is_ours(folder))
        opened(file, name, flags);
    return end(file, error);
}

static int disk_close(int file)
{
    int error = begin(DISK_CLOSE);
    if (file >= 0 && file < MOST_HANDLES)
        disk.handles[file] = 0;
    int result = vidi__system_real.close(file);
    return end(error ? -1 : result, error ? error : errno);
}

static ssize_t disk_write(int file, const void *data, size_t size)
{
    int error = begin(DISK_WRITE);
    if (error > 0)
        return end(-1, error);
    if (error == DISK_SHORT && size > 1)
        size /= 2;
    ssize_t done = vidi__system_real.write(file, data, size);
    error = errno;
    if (done > 0 && inode_of(file)) /* the position after a write, appending or not, is the end of the data written */
        add_change(disk.handles[file] - 1, (uint64_t)(lseek(file, 0, SEEK_CUR) - done), data, (size_t)done);
    end(0, error);
    return done;
}

static ssize_t disk_pwrite(int file, const void *data, size_t size, off_t offset)
{
    int error = begin(DISK_PWRITE);
    if (error > 0)
        return end(-1, error);
    if (error == DISK_SHORT && size > SECTOR) /* a sector is written as a whole or not at all */
        size = size / SECTOR / 2 * SECTOR;
    ssize_t done = vidi__system_real.pwrite(file, data, size, offset);
    error = errno;
    if (done > 0 && inode_of(file))
        add_change(disk.handles[file] - 1, (uint64_t)offset, data, (size_t)done);
    end(0, error);
    return done;
}

static ssize_t disk_pread(int file, void *data, size_t size, off_t offset)
{
    int error = begin(DISK_PREAD);
    if (error > 0)
        return end(-1, error);
    if (error == DISK_SHORT && size > 1)
        size /= 2;
    ssize_t done = vidi__system_real.pread(file, data, size, offset);
    end(0, errno);
    return done;
}

static int disk_fsync(int file)
{
    int error = begin(DISK_FSYNC);
    inode *known = inode_of(file);
    if (is_dead())
        return end(-1, EIO);
    if (error == EINTR) /* the kernel has stopped waiting, and has forgotten nothing */
        return end(-1, error);
    if (known)
        sync_file(known, error != 0);
    else if (is_ours(file))
        sync_folder(error != 0);
    return end(error ? -1 : 0, error);
}

static int disk_rename(int folder, const char *from, const char *to)
{
    int error = begin(DISK_RENAME);
    if (error)
        return end(-1, error);
    int result = vidi__system_real.rename(folder, from, to);
    error = errno;
    const entry *found = find(&disk.current, from);
    if (result == 0 && is_ours(folder) && found)
        add_move(from, to, found->inode);
    return end(result, error);
}

static int disk_unlink(int folder, const char *name)
{
    int error = begin(DISK_UNLINK);
    if (error)
        return end(-1, error);
    int result = vidi__system_real.unlink(folder, name);
    error = errno;
    const entry *found = find(&disk.current, name);
    if (result == 0 && is_ours(folder) && found)
        add_move(name, "", found->inode);
    return end(result, error);
}

static int disk_mkdir(const char *path, mode_t mode)
{
    int error = begin(DISK_MKDIR);
    int result = error ? -1 : vidi__system_real.mkdir(path, mode);
    return end(result, error ? error : errno);
}

static int disk_stat(int file, vidi__file_state *state)
{
    int error = begin(DISK_STAT);
    int result = error ? -1 : vidi__system_real.stat(file, state);
    return end(result, error ? error : errno);
}

static int disk_lock(int file)
{
    int error = begin(DISK_LOCK);
    int result = error ? -1 : vidi__system_real.lock(file);
    return end(result, error ? error : errno);
}

/* Cannot fail, and changes nothing on disk. */
static int disk_unlock(int file)
{
    return vidi__system_real.unlock(file);
}

static int disk_truncate(int file, uint64_t size)
{
    int error = begin(DISK_TRUNCATE);
    if (error)
        return end(-1, error);
    int result = vidi__system_real.truncate(file, size);
    error = errno;
    if (result == 0 && inode_of(file))
        add_change(disk.handles[file] - 1, size, NULL, 0);
    return end(result, error);
}

static void *disk_map(int file, size_t size)
{
    int error = begin(DISK_MAP);
    void *start = error ? MAP_FAILED : vidi__system_real.map(file, size);
    end(0, error ? error : errno);
    return start;
}

static int disk_unmap(void *start, size_t size)
{
    int error = begin(DISK_UNMAP);
    int result = vidi__system_real.unmap(start, size);
    return end(error ? -1 : result, error ? error : errno);
}

/* Visits the names without holding the lock, because the visitor may call these functions. */
static int disk_list(int folder, int (*visit)(void *context, const char *name), void *context)
{
    int error = begin(DISK_LIST);
    end(0, error);
    return error ? -1 : vidi__system_real.list(folder, visit, context);
}

static const vidi__system disk_system = {
    .open = disk_open,
    .close = disk_close,
    .write = disk_write,
    .pread = disk_pread,
    .pwrite = disk_pwrite,
    .fsync = disk_fsync,
    .rename = disk_rename,
    .unlink = disk_unlink,
    .mkdir = disk_mkdir,
    .stat = disk_stat,
    .lock = disk_lock,
    .unlock = disk_unlock,
    .truncate = disk_truncate,
    .map = disk_map,
    .unmap = disk_unmap,
    .list = disk_list,
};

/* ---- beginning and end ---- */

static int take_as_synced(void *context, const char *name)
{
    const test_scratch *folder = context;
    bytes content;
    content.data = test_file_load(folder, name, &content.size);
    size_t number = add_inode(content);
    enter(&disk.durable, name, number);
    enter(&disk.current, name, number);
    return 0;
}

void disk_begin(const test_scratch *folder)
{
    struct stat is;
    disk_end();
    check(fstat(folder->handle, &is) == 0, "%s has gone", folder->path);
    disk.device = is.st_dev;
    disk.folder = is.st_ino;
    vidi__system_real.list(folder->handle, take_as_synced, (void *)(uintptr_t)folder);
    vidi__system_now = &disk_system;
}

void disk_end(void)
{
    vidi__system_now = &vidi__system_real;
    for (size_t i = 0; i < disk.n_inodes; i++) {
        for (size_t k = 0; k < disk.inodes[i].count; k++)
            free(disk.inodes[i].changes[k].data);
        free(disk.inodes[i].changes);
        free(disk.inodes[i].synced.data);
    }
    free(disk.inodes);
    free(disk.durable.list);
    free(disk.current.list);
    free(disk.moves);
    disk.inodes = NULL;
    disk.moves = NULL;
    disk.durable = disk.current = (names){0};
    disk.n_inodes = disk.n_moves = 0;
    memset(disk.handles, 0, sizeof disk.handles);
    memset(disk.calls, 0, sizeof disk.calls);
    disk.fail_at = disk.die_at = 0;
}

void disk_kill(uint64_t n)
{
    pthread_mutex_lock(&disk.lock);
    disk.die_at = n ? disk.calls[DISK_ANY] + n : 0;
    pthread_mutex_unlock(&disk.lock);
}

void disk_revive(void)
{
    disk_kill(0);
}

bool disk_killed(void)
{
    pthread_mutex_lock(&disk.lock);
    bool dead = is_dead();
    pthread_mutex_unlock(&disk.lock);
    return dead;
}

void disk_fail(disk_call call, uint64_t n, int error, uint64_t times)
{
    pthread_mutex_lock(&disk.lock);
    disk.fail_call = call;
    disk.fail_at = n ? disk.calls[call] + n : 0;
    disk.fail_error = error;
    disk.fail_times = times;
    disk.failed = 0;
    pthread_mutex_unlock(&disk.lock);
}

uint64_t disk_calls(disk_call call)
{
    pthread_mutex_lock(&disk.lock);
    uint64_t calls = disk.calls[call];
    pthread_mutex_unlock(&disk.lock);
    return calls;
}

uint64_t disk_failed(void)
{
    pthread_mutex_lock(&disk.lock);
    uint64_t failed = disk.failed;
    pthread_mutex_unlock(&disk.lock);
    return failed;
}

/* ---- power failures ---- */

/* Each sector that the write touches is on disk or not; the first `first` of them always are. */
static void tear(bytes *to, const change *torn, uint64_t first, test_random *random)
{
    for (uint64_t at = torn->offset, stop = at + torn->bytes, next; at < stop; at = next) {
        next = (at / SECTOR + 1) * SECTOR;
        next = next < stop ? next : stop;
        bool there = random ? test_below(random, 2) : first > 0;
        first -= first > 0;
        if (there)
            put(to, at, torn->data + (at - torn->offset), (size_t)(next - at));
    }
}

/* Applies one change. `fate`: 0 lost, 1 done, 2 zeros, 3 the first sectors, 4 some sectors. */
static void suffer(bytes *to, const change *next, uint64_t fate, test_random *random)
{
    uint64_t sectors = next->bytes / SECTOR + 1;
    if (fate == 0)
        return;
    if (fate == 1 || !next->data)
        apply_change(to, next);
    else if (fate == 2 && next->offset + next->bytes > to->size)
        resize(to, (size_t)next->offset + next->bytes);
    else if (fate == 3)
        tear(to, next, test_below(random, sectors), NULL);
    else if (fate == 4)
        tear(to, next, 0, random);
}

/* The random disks include some that keep most changes and some that keep few. */
static uint64_t fate_of(uint64_t seed, uint64_t mood, test_random *random)
{
    if (seed < 2)
        return seed;
    if (mood < 4 && test_below(random, 4) > 0)
        return mood % 2;
    return test_below(random, 5);
}

static void leave_file(uint64_t seed, uint64_t mood, const entry *name, const test_scratch *out, test_random *random)
{
    const inode *file = &disk.inodes[name->inode];
    bytes content = {copied(file->synced.data, file->synced.size), file->synced.size};
    for (size_t i = 0; i < file->count; i++)
        if (!file->changes[i].data || file->changes[i].bytes)
            suffer(&content, &file->changes[i], fate_of(seed, mood, random), random);
    test_file_save(out, name->name, content.data, content.size);
    free(content.data);
}

void disk_crash_state(uint64_t seed, const test_scratch *out)
{
    test_random random = {seed};
    names left = {0};
    test_scratch_empty(out);
    pthread_mutex_lock(&disk.lock);
    uint64_t mood = test_below(&random, 8);
    for (size_t i = 0; i < disk.durable.count; i++)
        enter(&left, disk.durable.list[i].name, disk.durable.list[i].inode);
    for (size_t i = 0; i < disk.n_moves; i++)
        if (seed < 2 ? seed == 1 : test_below(&random, 2) == 1)
            apply_move(&left, &disk.moves[i]);
    for (size_t i = 0; i < left.count; i++)
        leave_file(seed, mood, &left.list[i], out, &random);
    pthread_mutex_unlock(&disk.lock);
    free(left.list);
}
