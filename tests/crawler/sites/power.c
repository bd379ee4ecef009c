/*
 * The library that is loaded into the program: see power.h.
 *
 * Counted are the calls that change or sync something below the folder. The real calls are made with syscall(2), so
 * that nothing here depends on which library comes next. SQLite calls the functions with 64 in their names, so both are
 * here.
 */
#include "crawler/site/power.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum { PATH_ROOM = 1024, FILES = 4096 };

static const char *folder = "", *mirror, *swallow, *late, *behind;
static size_t folder_length;
static uint64_t die_at, full_at;
static _Atomic uint64_t unshared, *count = &unshared;

/* The lowest place of a file that was written since its last sync; files are found by their number. */
static struct changed {
    ino_t file;
    off_t low;
    bool used;
} changes[FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

__attribute__((constructor)) static void begin(void)
{
    const char *die = setting(POWER_DIE), *full = setting(POWER_FULL), *counter = setting(POWER_COUNT);
    folder = setting(POWER_FOLDER) ? setting(POWER_FOLDER) : "";
    folder_length = strlen(folder);
    mirror = setting(POWER_MIRROR);
    swallow = setting(POWER_SWALLOW);
    late = setting(POWER_LATE);
    behind = setting(POWER_BEHIND);
    die_at = die ? strtoull(die, NULL, 10) : 0;
    full_at = full ? strtoull(full, NULL, 10) : 0;
    int file = counter ? (int)syscall(SYS_openat, AT_FDCWD, counter, O_RDWR | O_CLOEXEC, 0) : -1;
    void *shared = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    count = shared == MAP_FAILED ? &unshared : shared;
    if (file >= 0)
        syscall(SYS_close, file);
}

/* ---- which file ---- */

static bool is_below(const char *path)
{
    return folder_length && strncmp(path, folder, folder_length) == 0 &&
           (path[folder_length] == '/' || path[folder_length] == 0);
}

/* The path of an open file below the folder; false: it is none of them. */
static bool path_of(int fd, char path[PATH_ROOM])
{
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, name, path, PATH_ROOM - 1);
    path[length > 0 ? length : 0] = 0;
    return length > 0 && is_below(path);
}

static bool ends_in(const char *path, const char *end)
{
    size_t length = strlen(path), its = end ? strlen(end) : 0;
    return end && length >= its && strcmp(path + length - its, end) == 0;
}

static void die_if(bool now)
{
    while (now)
        kill(getpid(), SIGKILL);
}

/* Counts a call. True: it must fail. */
static bool counted(void)
{
    uint64_t number = atomic_fetch_add(count, 1) + 1;
    die_if(number == die_at && !behind);
    return full_at && number >= full_at;
}

/* A sync of this file is done. */
static void synced(const char *path)
{
    static _Atomic uint64_t syncs;
    if (behind && strstr(path + folder_length, behind))
        die_if(atomic_fetch_add(&syncs, 1) + 1 == die_at);
}

static int no_space(void)
{
    errno = ENOSPC;
    return -1;
}

/* ---- what was written since the last sync ---- */

static struct changed *change_of(ino_t file)
{
    size_t at = (size_t)file % FILES;
    while (changes[at].used && changes[at].file != file)
        at = (at + 1) % FILES;
    if (!changes[at].used)
        changes[at] = (struct changed){file, INT64_MAX, true};
    return &changes[at];
}

static void note_change(int fd, off_t at)
{
    struct stat about;
    if (!mirror || fstat(fd, &about) != 0)
        return;
    pthread_mutex_lock(&lock);
    struct changed *change = change_of(about.st_ino);
    if (at < change->low)
        change->low = at;
    pthread_mutex_unlock(&lock);
}

/* ---- syncs ---- */

static void copy_file(int from, int to, off_t low, off_t end)
{
    static char piece[1 << 16]; /* under the lock */
    for (off_t at = low; at < end;) {
        ssize_t got = syscall(SYS_pread64, from, piece, sizeof piece, at);
        if (got <= 0)
            break;
        syscall(SYS_pwrite64, to, piece, (size_t)got, at);
        at += got;
    }
    syscall(SYS_ftruncate, to, end);
}

/* Planted: what is saved now is copied to a file beside it, and the copy of the sync before takes its place. */
static void save_late(const char *name)
{
    char pending[PATH_ROOM + 8];
    snprintf(pending, sizeof pending, "%s.late", name);
    syscall(SYS_renameat2, AT_FDCWD, pending, AT_FDCWD, name, 0);
}

/*
 * Saves the bytes of a file: from the lowest place that was written. The file is opened again, as it may be write-only.
 */
static void save_file(int fd, const struct stat *about, const char *path)
{
    char name[PATH_ROOM], source[40];
    bool is_late = ends_in(path, late);
    snprintf(name, sizeof name, "%s/i%llu", mirror, (unsigned long long)about->st_ino);
    snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
    if (is_late) {
        save_late(name);
        strcat(name, ".late");
    }
    int from = (int)syscall(SYS_openat, AT_FDCWD, source, O_RDONLY | O_CLOEXEC, 0);
    int to = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    struct changed *change = change_of(about->st_ino);
    off_t low = is_late || change->low == INT64_MAX ? 0 : change->low;
    copy_file(from, to, low, about->st_size);
    change->low = about->st_size;
    syscall(SYS_close, from);
    syscall(SYS_close, to);
}

/* Saves the names in a folder: a line each, "f INODE NAME" or "d INODE NAME". */
static void save_names(const char *path, const struct stat *about)
{
    char name[PATH_ROOM], fresh[PATH_ROOM + 8], line[PATH_ROOM];
    struct stat entry;
    DIR *list = opendir(path);
    snprintf(name, sizeof name, "%s/d%llu", mirror, (unsigned long long)about->st_ino);
    snprintf(fresh, sizeof fresh, "%s.new", name);
    int to = (int)syscall(SYS_openat, AT_FDCWD, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (struct dirent *each; list && (each = readdir(list));) {
        if (each->d_name[0] == '.' && (each->d_name[1] == 0 || each->d_name[1] == '.'))
            continue;
        if (fstatat(dirfd(list), each->d_name, &entry, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        int length = snprintf(line, sizeof line, "%c %llu %s\n", S_ISDIR(entry.st_mode) ? 'd' : 'f',
                              (unsigned long long)entry.st_ino, each->d_name);
        syscall(SYS_write, to, line, (size_t)length);
    }
    if (list)
        closedir(list);
    syscall(SYS_close, to);
    syscall(SYS_renameat2, AT_FDCWD, fresh, AT_FDCWD, name, 0);
}

/* Nothing is really synced: the mirror is what counts. */
static int sync_one(int fd)
{
    char path[PATH_ROOM];
    struct stat about;
    if (!path_of(fd, path))
        return (int)syscall(SYS_fsync, fd);
    if (counted())
        return no_space();
    if (!mirror || ends_in(path, swallow) || fstat(fd, &about) != 0)
        return 0;
    pthread_mutex_lock(&lock);
    if (S_ISDIR(about.st_mode))
        save_names(path, &about);
    else
        save_file(fd, &about, path);
    pthread_mutex_unlock(&lock);
    synced(path);
    return 0;
}

EXPORTED int fsync(int fd)
{
    return sync_one(fd);
}

EXPORTED int fdatasync(int fd)
{
    return sync_one(fd);
}

/* ---- writes ---- */

static ssize_t write_at(int fd, const struct iovec *parts, int n, off_t at)
{
    char path[PATH_ROOM];
    struct stat about;
    if (!path_of(fd, path))
        return at < 0 ? syscall(SYS_writev, fd, parts, n) : syscall(SYS_pwritev, fd, parts, n, at, 0);
    if (counted())
        return no_space();
    off_t place = at >= 0 ? at : syscall(SYS_lseek, fd, 0, SEEK_CUR);
    if (at < 0 && fstat(fd, &about) == 0 && (syscall(SYS_fcntl, fd, F_GETFL) & O_APPEND))
        place = about.st_size;
    note_change(fd, place > 0 ? place : 0);
    return at < 0 ? syscall(SYS_writev, fd, parts, n) : syscall(SYS_pwritev, fd, parts, n, at, 0);
}

EXPORTED ssize_t write(int fd, const void *bytes, size_t length)
{
    return write_at(fd, &(struct iovec){(void *)(uintptr_t)bytes, length}, 1, -1);
}

EXPORTED ssize_t writev(int fd, const struct iovec *parts, int n)
{
    return write_at(fd, parts, n, -1);
}

EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    return write_at(fd, &(struct iovec){(void *)(uintptr_t)bytes, length}, 1, at);
}

EXPORTED ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at)
{
    return pwrite(fd, bytes, length, at);
}

EXPORTED ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
    return write_at(fd, parts, n, at);
}

EXPORTED int ftruncate(int fd, off_t length)
{
    char path[PATH_ROOM];
    if (path_of(fd, path)) {
        if (counted())
            return no_space();
        note_change(fd, length);
    }
    return (int)syscall(SYS_ftruncate, fd, length);
}

EXPORTED int ftruncate64(int fd, off_t length)
{
    return ftruncate(fd, length);
}

/* ---- names ---- */

/* Relative names are those of files in the folder: nobody else opens them relative to a folder. */
static bool is_counted_name(int where, const char *name)
{
    return folder_length && (where != AT_FDCWD || is_below(name));
}

EXPORTED int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    if (is_counted_name(to_folder, to) && counted())
        return no_space();
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

EXPORTED int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

EXPORTED int unlinkat(int where, const char *name, int flags)
{
    if (is_counted_name(where, name))
        counted();
    return (int)syscall(SYS_unlinkat, where, name, flags);
}

EXPORTED int unlink(const char *name)
{
    return unlinkat(AT_FDCWD, name, 0);
}

EXPORTED int mkdirat(int where, const char *name, mode_t mode)
{
    if (is_counted_name(where, name) && counted())
        return no_space();
    return (int)syscall(SYS_mkdirat, where, name, mode);
}

EXPORTED int mkdir(const char *name, mode_t mode)
{
    return mkdirat(AT_FDCWD, name, mode);
}

static int open_counted(int where, const char *name, int flags, mode_t mode)
{
    if ((flags & O_CREAT) && is_counted_name(where, name) && counted())
        return no_space();
    int fd = (int)syscall(SYS_openat, where, name, flags, mode);
    if (fd >= 0 && (flags & O_TRUNC) && is_counted_name(where, name))
        note_change(fd, 0);
    return fd;
}

static mode_t mode_of(int flags, va_list *arguments)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(*arguments, mode_t) : 0;
}

#define OPEN_AT(called)                                                                                                \
    EXPORTED int called(int where, const char *name, int flags, ...)                                                   \
    {                                                                                                                  \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        mode_t mode = mode_of(flags, &arguments);                                                                      \
        va_end(arguments);                                                                                             \
        return open_counted(where, name, flags, mode);                                                                 \
    }

#define OPEN(called)                                                                                                   \
    EXPORTED int called(const char *name, int flags, ...)                                                              \
    {                                                                                                                  \
        va_list arguments;                                                                                             \
        va_start(arguments, flags);                                                                                    \
        mode_t mode = mode_of(flags, &arguments);                                                                      \
        va_end(arguments);                                                                                             \
        return open_counted(AT_FDCWD, name, flags, mode);                                                              \
    }

OPEN_AT(openat)
OPEN_AT(openat64)
OPEN(open)
OPEN(open64)
