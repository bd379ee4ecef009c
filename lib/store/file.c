/* The operating system's functions, and the store's functions on top of them; see file.h. */
#include "store/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the real system ---- */

static int real_open(int folder, const char *name, int flags, mode_t mode)
{
    return openat(folder, name, flags, mode);
}

static int real_rename(int folder, const char *from, const char *to)
{
    return renameat(folder, from, folder, to);
}

static int real_unlink(int folder, const char *name)
{
    return unlinkat(folder, name, 0);
}

static int real_stat(int file, vidi__file_state *state)
{
    struct stat is;
    if (fstat(file, &is) != 0)
        return -1;
    *state = (vidi__file_state){
        .bytes = (uint64_t)is.st_size,
        .links = is.st_nlink,
        .device = is.st_dev,
        .inode = is.st_ino,
        .regular = S_ISREG(is.st_mode),
    };
    return 0;
}

static int real_lock(int file)
{
    return flock(file, LOCK_EX | LOCK_NB);
}

static int real_unlock(int file)
{
    return flock(file, LOCK_UN);
}

static int real_truncate(int file, uint64_t bytes)
{
    return ftruncate(file, (off_t)bytes);
}

static void *real_map(int file, size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
}

/* readdir returns NULL both at the end and on an error. errno distinguishes them, so it must be 0 before each call. */
static int visit_all(DIR *folder, int (*visit)(void *context, const char *name), void *context)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder); /* NOLINT(concurrency-mt-unsafe): our own handle */
        if (!entry)
            return errno ? -1 : 0;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int code = visit(context, entry->d_name);
        if (code != 0)
            return code;
    }
}

/* Uses a handle of its own, because closedir closes it, and because the position in the list belongs to the handle. */
static int real_list(int folder, int (*visit)(void *context, const char *name), void *context)
{
    int handle = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle < 0)
        return -1;
    DIR *open = fdopendir(handle);
    if (!open) {
        int error = errno;
        close(handle);
        errno = error;
        return -1;
    }
    int code = visit_all(open, visit, context);
    int error = errno;
    closedir(open);
    errno = error;
    return code;
}

const vidi__system vidi__system_real = {
    .open = real_open,
    .close = close,
    .write = write,
    .pread = pread,
    .pwrite = pwrite,
    .fsync = fsync,
    .rename = real_rename,
    .unlink = real_unlink,
    .mkdir = mkdir,
    .stat = real_stat,
    .lock = real_lock,
    .unlock = real_unlock,
    .truncate = real_truncate,
    .map = real_map,
    .unmap = munmap,
    .list = real_list,
};

const vidi__system *vidi__system_now = &vidi__system_real;

/* ---- what the store uses ---- */

/* Turns errno into a message: "log.0000000000000001 cannot be written: No space left on device". */
static int refused(const char *name, const char *what)
{
    return vidi__fail(VIDI_EIO, "%s cannot be %s: %s", name, what, strerror(errno));
}

/* Whoever may write to the folder could have put anything there: a link to another file, a pipe that nobody reads. */
static int check_regular(vidi__file *file)
{
    vidi__file_state state;
    int code = vidi__file_stat(file, &state);
    if (code == VIDI_OK && !state.regular)
        code = vidi__fail(VIDI_EFORMAT, "%s is not a regular file", file->name);
    if (code < 0) {
        (void)vidi__system_now->close(file->handle);
        file->handle = -1;
    }
    return code;
}

int vidi__file_open(vidi__file *file, int folder, const char *name, int flags)
{
    const int always = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK; /* O_NONBLOCK: a pipe without a reader does not block */
    snprintf(file->name, sizeof file->name, "%.*s", (int)sizeof file->name - 1, name);
    file->handle = (int)TEMP_FAILURE_RETRY(vidi__system_now->open(folder, name, flags | always, VIDI__FILE_MODE));
    if (file->handle >= 0)
        return check_regular(file);
    if (errno == ENOENT)
        return vidi__fail(VIDI_EABSENT, "%s does not exist", file->name);
    if (errno == ELOOP)
        return vidi__fail(VIDI_EFORMAT, "%s is a symbolic link, which is not followed", file->name);
    if (errno == ENXIO || errno == EISDIR)
        return vidi__fail(VIDI_EFORMAT, "%s is not a regular file", file->name);
    return refused(file->name, flags & O_CREAT ? "created" : "opened");
}

int vidi__file_close(vidi__file *file)
{
    int handle = file->handle;
    file->handle = -1;
    /* After EINTR the handle is closed nevertheless; a second close might close a handle of another thread. */
    if (handle < 0 || vidi__system_now->close(handle) == 0 || errno == EINTR)
        return VIDI_OK;
    return refused(file->name, "closed");
}

int vidi__file_write(const vidi__file *file, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    while (bytes) {
        ssize_t done = vidi__system_now->write(file->handle, at, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done == 0)
            errno = EIO; /* no bytes written and no error: repeating might never end */
        if (done <= 0)
            return refused(file->name, "written");
        at += done;
        bytes -= (size_t)done;
    }
    return VIDI_OK;
}

int vidi__file_overwrite(const vidi__file *file, const void *data, size_t bytes, uint64_t offset)
{
    const unsigned char *at = data;
    while (bytes) {
        ssize_t done = vidi__system_now->pwrite(file->handle, at, bytes, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done == 0)
            errno = EIO;
        if (done <= 0)
            return refused(file->name, "written");
        at += done;
        bytes -= (size_t)done;
        offset += (uint64_t)done;
    }
    return VIDI_OK;
}

int vidi__file_read(const vidi__file *file, void *data, size_t bytes, uint64_t offset)
{
    unsigned char *at = data;
    while (bytes) {
        ssize_t done = vidi__system_now->pread(file->handle, at, bytes, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return refused(file->name, "read");
        if (done == 0)
            return vidi__fail(VIDI_EFORMAT, "%s is shorter than it should be: it ends after %llu bytes", file->name,
                              (unsigned long long)offset);
        at += done;
        bytes -= (size_t)done;
        offset += (uint64_t)done;
    }
    return VIDI_OK;
}

int vidi__file_sync(const vidi__file *file)
{
    if (TEMP_FAILURE_RETRY(vidi__system_now->fsync(file->handle)) != 0)
        return refused(file->name, "brought to disk");
    return VIDI_OK;
}

int vidi__file_stat(const vidi__file *file, vidi__file_state *state)
{
    if (TEMP_FAILURE_RETRY(vidi__system_now->stat(file->handle, state)) != 0)
        return refused(file->name, "measured");
    return VIDI_OK;
}

int vidi__file_size(const vidi__file *file, uint64_t *bytes)
{
    vidi__file_state state;
    VIDI__TRY(vidi__file_stat(file, &state));
    *bytes = state.bytes;
    return VIDI_OK;
}

int vidi__file_truncate(const vidi__file *file, uint64_t bytes)
{
    int code = (int)TEMP_FAILURE_RETRY(vidi__system_now->truncate(file->handle, bytes));
    return code == 0 ? VIDI_OK : refused(file->name, "cut");
}

int vidi__file_map(const vidi__file *file, uint64_t bytes, const void **start)
{
    *start = NULL;
    if (bytes == 0) /* mmap rejects 0 bytes */
        return VIDI_OK;
    if (bytes > SIZE_MAX / 2)
        return vidi__fail(VIDI_ELIMIT, "%s is too large for the address space", file->name);
    void *mapped;
    do
        mapped = vidi__system_now->map(file->handle, (size_t)bytes);
    while (mapped == MAP_FAILED && errno == EINTR);
    if (mapped == MAP_FAILED)
        return refused(file->name, "mapped");
    *start = mapped;
    return VIDI_OK;
}

void vidi__file_unmap(const void *start, uint64_t bytes)
{
    if (start)
        (void)vidi__system_now->unmap((void *)(uintptr_t)start, (size_t)bytes);
}

int vidi__file_rename(int folder, const char *from, const char *to)
{
    int code = vidi__system_now->rename(folder, from, to);
    bool again = code != 0 && errno == EINTR;
    if (again)
        code = (int)TEMP_FAILURE_RETRY(vidi__system_now->rename(folder, from, to));
    if (code != 0 && !(again && errno == ENOENT)) /* then the first call has renamed it after all */
        return vidi__fail(VIDI_EIO, "%s cannot be renamed to %s: %s", from, to, strerror(errno));
    return VIDI_OK;
}

int vidi__file_unlink(int folder, const char *name)
{
    if (TEMP_FAILURE_RETRY(vidi__system_now->unlink(folder, name)) != 0 && errno != ENOENT)
        return refused(name, "removed");
    return VIDI_OK;
}
