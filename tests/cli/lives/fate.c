/*
 * Kills the program, or makes calls fail, at a chosen call: see fate.h.
 *
 * Counted are the calls that change a file: those to the output, and those to any other regular file or folder, which
 * the state consists of. Messages and the reading of input are not counted. The real calls are made with syscall(2), so
 * that nothing here depends on which library comes next.
 */
#include "fate.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum { SECTOR = 512 };

typedef int timed_wait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

static fate mine;
static fate_tally unshared, *tally = &unshared;
static const char *output_path = "";
static long leap_ms;
static _Atomic long leapt_ms;
static timed_wait *real_timedwait;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv(FATE_VARIABLE), *path = getenv(FATE_TALLY_VARIABLE), *leap = getenv(FATE_LEAP_VARIABLE);
    const char *output = getenv(FATE_OUTPUT_VARIABLE);
    char *end;

    *(void **)&real_timedwait = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    output_path = output ? output : "";
    leap_ms = leap ? strtol(leap, NULL, 10) : 0;
    if (text) {
        mine.how = (fate_how)strtoul(text, &end, 10);
        mine.where = (fate_where)strtoul(end, &end, 10);
        mine.number = strtoull(end, NULL, 10);
    }
    int file = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0) : -1;
    void *shared = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    tally = shared == MAP_FAILED ? &unshared : shared;
    close(file);
}

/* ---- which call ---- */

static fate_where place_of(int fd)
{
    struct stat about, output;

    if (fd == STDERR_FILENO || fstat(fd, &about) != 0)
        return FATE_ELSEWHERE;
    bool is_output = fd == STDOUT_FILENO || (stat(output_path, &output) == 0 && output.st_dev == about.st_dev &&
                                             output.st_ino == about.st_ino);
    return is_output ? FATE_OUTPUT : S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) ? FATE_STATE : FATE_ELSEWHERE;
}

static fate_where place_of_name(const char *name)
{
    return strcmp(name, output_path) == 0 ? FATE_OUTPUT : FATE_STATE;
}

static void strike(void)
{
    atomic_fetch_add(&tally->struck, 1);
}

static void die(void)
{
    for (;;)
        kill(getpid(), SIGKILL);
}

/* Counts a call, and says what is to happen to it. Planted faults are left to the functions further below. */
static fate_how decide(fate_where where)
{
    if (where == FATE_ELSEWHERE)
        return FATE_NOTHING;
    uint64_t all = atomic_fetch_add(&tally->calls[FATE_ANYWHERE], 1) + 1;
    uint64_t here = atomic_fetch_add(&tally->calls[where], 1) + 1;
    uint64_t number = mine.where == FATE_ANYWHERE ? all : mine.where == where ? here : 0;
    bool lasts = mine.how == FATE_FAIL_ALWAYS || mine.how == FATE_SHORT || mine.how >= FATE_HOWS;
    if (mine.how == FATE_INTERRUPT)
        return number % 2 ? FATE_INTERRUPT : FATE_NOTHING;
    if (mine.how == FATE_NOTHING || number < mine.number || (number > mine.number && !lasts))
        return FATE_NOTHING;
    if (mine.how < FATE_HOWS)
        strike();
    if (mine.how == FATE_KILL)
        die();
    if (mine.how == FATE_TERMINATE)
        kill(getpid(), SIGTERM);
    return mine.how == FATE_SHORT && number > mine.number ? FATE_FAIL : mine.how;
}

static int refuse(void)
{
    errno = mine.how == FATE_INTERRUPT ? EINTR : ENOSPC;
    return -1;
}

/* For calls that are done or not: what remains to be done after `decide`. */
static bool is_refused(fate_how how)
{
    return how == FATE_FAIL || how == FATE_FAIL_ALWAYS;
}

/* The same for calls that a signal can interrupt. */
static bool is_stopped(fate_how how)
{
    return is_refused(how) || how == FATE_INTERRUPT;
}

static int ended(fate_how how, long result)
{
    if (how == FATE_KILL_INSIDE)
        die();
    return (int)result;
}

/* ---- writing ---- */

typedef struct writing {
    int fd;
    off_t at; /* -1: where the file is */
} writing;

static ssize_t put(const writing *to, const char *bytes, size_t length)
{
    return to->at < 0 ? syscall(SYS_write, to->fd, bytes, length)
                      : syscall(SYS_pwrite64, to->fd, bytes, length, to->at);
}

static void put_all(const writing *to, const char *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t wrote = put(to, bytes + done, length - done);
        if (wrote < 0 && errno != EINTR && errno != EAGAIN)
            return;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* Writes the bytes with a fault in their second line; false if they have no such line. */
static bool put_with_fault(const writing *to, const char *bytes, size_t length)
{
    const char *end = bytes + length, *first = memchr(bytes, '\n', length);
    const char *line = first ? first + 1 : end, *last = memchr(line, '\n', (size_t)(end - line));

    if (!last)
        return false;
    put_all(to, bytes, (size_t)(line - bytes) - (mine.how == FATE_GLUE_LINES));
    switch (mine.how) {
    case FATE_DROP_LINE:
        line = last + 1;
        break;
    case FATE_TEAR_LINE:
        line += (last - line) / 2;
        break;
    case FATE_SPOIL_LINE:
        put_all(to, "?", 1);
        line++;
        break;
    case FATE_REPEAT_LINE:
        put_all(to, line, (size_t)(last + 1 - line));
        break;
    default:
        break;
    }
    put_all(to, line, (size_t)(end - line));
    return true;
}

/* A write that the program believes to have succeeded. true: it is done. */
static bool put_planted(const writing *to, fate_where where, const char *bytes, size_t length)
{
    if (where != FATE_OUTPUT || atomic_load(&tally->struck) > 0 || mine.how == FATE_ALL_TAKEN)
        return false;
    bool done = mine.how == FATE_SWALLOW_WRITE || put_with_fault(to, bytes, length);
    if (done)
        strike();
    return done;
}

/* Neither a kill nor a full disk tears what is written to a place within one sector. */
static bool can_be_torn(const writing *to, size_t length)
{
    return length > 1 && (to->at < 0 || to->at / SECTOR != (to->at + (off_t)length - 1) / SECTOR);
}

static ssize_t write_fated(const writing *to, const char *bytes, size_t length)
{
    fate_where where = place_of(to->fd);
    fate_how how = decide(where);

    if (is_stopped(how))
        return refuse();
    if (how >= FATE_HOWS && put_planted(to, where, bytes, length))
        return (ssize_t)length;
    bool half = (how == FATE_KILL_INSIDE || how == FATE_SHORT) && can_be_torn(to, length);
    if (how == FATE_SHORT && !half)
        return refuse();
    ssize_t wrote = put(to, bytes, half ? length / 2 : length);
    if (how == FATE_KILL_INSIDE)
        die();
    return wrote;
}

EXPORTED ssize_t write(int fd, const void *bytes, size_t length)
{
    return write_fated(&(writing){fd, -1}, bytes, length);
}

EXPORTED ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    return write_fated(&(writing){fd, at}, bytes, length);
}

/* ---- everything else that changes a file ---- */

EXPORTED int fsync(int fd)
{
    fate_how how = decide(place_of(fd));
    return is_stopped(how) ? refuse() : ended(how, syscall(SYS_fsync, fd));
}

EXPORTED int fdatasync(int fd)
{
    fate_how how = decide(place_of(fd));
    return is_stopped(how) ? refuse() : ended(how, syscall(SYS_fdatasync, fd));
}

EXPORTED int ftruncate(int fd, off_t length)
{
    fate_how how = decide(place_of(fd));
    return is_stopped(how) ? refuse() : ended(how, syscall(SYS_ftruncate, fd, length));
}

EXPORTED int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    fate_how how = decide(FATE_STATE);
    return is_refused(how) ? refuse() : ended(how, syscall(SYS_renameat2, from_folder, from, to_folder, to, 0));
}

EXPORTED int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

EXPORTED int unlinkat(int folder, const char *name, int flags)
{
    fate_how how = decide(FATE_STATE);
    return is_refused(how) ? refuse() : ended(how, syscall(SYS_unlinkat, folder, name, flags));
}

EXPORTED int unlink(const char *name)
{
    return unlinkat(AT_FDCWD, name, 0);
}

EXPORTED int mkdirat(int folder, const char *name, mode_t mode)
{
    fate_how how = decide(FATE_STATE);
    return is_refused(how) ? refuse() : ended(how, syscall(SYS_mkdirat, folder, name, mode));
}

EXPORTED int mkdir(const char *name, mode_t mode)
{
    return mkdirat(AT_FDCWD, name, mode);
}

EXPORTED ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t length, unsigned flags)
{
    fate_how how = decide(place_of(to));
    if (is_refused(how))
        return refuse();
    ssize_t done = syscall(SYS_copy_file_range, from, from_at, to, to_at, length, flags);
    (void)ended(how, 0);
    return done;
}

static int open_fated(int folder, const char *name, int flags, mode_t mode)
{
    fate_how how = flags & O_CREAT ? decide(place_of_name(name)) : FATE_NOTHING;
    return is_stopped(how) ? refuse() : ended(how, syscall(SYS_openat, folder, name, flags, mode));
}

static mode_t mode_of(int flags, va_list *arguments)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(*arguments, mode_t) : 0;
}

EXPORTED int openat(int folder, const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, &arguments);
    va_end(arguments);
    return open_fated(folder, name, flags, mode);
}

EXPORTED int open(const char *name, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, &arguments);
    va_end(arguments);
    return open_fated(AT_FDCWD, name, flags, mode);
}

/* ---- the reader of a pipe ---- */

EXPORTED int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    int result = (int)syscall(SYS_ioctl, fd, request, argument);
    if (mine.how == FATE_ALL_TAKEN && request == FIONREAD && result == 0 && *(int *)argument > 0) {
        *(int *)argument = 0;
        strike();
    }
    return result;
}

/* ---- time ---- */

static void shift(struct timespec *time, long ms)
{
    time->tv_sec += ms / 1000;
    time->tv_nsec += ms % 1000 * 1000000;
    time->tv_sec += time->tv_nsec >= 1000000000 ? 1 : time->tv_nsec < 0 ? -1 : 0;
    time->tv_nsec += time->tv_nsec >= 1000000000 ? -1000000000 : time->tv_nsec < 0 ? 1000000000 : 0;
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_MONOTONIC && leap_ms > 0)
        shift(time, atomic_fetch_add(&leapt_ms, leap_ms) + leap_ms);
    return result;
}

/* The program's condition variables use the clock above; the kernel knows only the real one. */
EXPORTED int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until)
{
    struct timespec real = *until;
    shift(&real, -atomic_load(&leapt_ms));
    if (real.tv_sec < 0)
        real = (struct timespec){0};
    return real_timedwait(condition, lock, &real);
}
