/*
 * Puts things aside: see keep.h.
 */
#include "common/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"

enum { COPY_BYTES = 1 << 16 };

/* True if the file from `offset` on and the cut file are the same as far as both go. *length is the cut file's. */
static bool begins_alike(int from, uint64_t offset, int cut, uint64_t *length)
{
    char ours[COPY_BYTES], kept[COPY_BYTES];
    ssize_t n, got;

    *length = 0;
    do {
        n = file_read_at(cut, kept, sizeof kept, *length);
        got = file_read_at(from, ours, sizeof ours, offset + *length);
        if (n < 0 || got < 0 || memcmp(ours, kept, (size_t)(n < got ? n : got)) != 0)
            return false;
        *length += (uint64_t)n;
    } while (n == COPY_BYTES);
    return true;
}

/* Copies everything from the offset on. 0 or errno. */
static int copy_tail(int from, uint64_t offset, int to)
{
    char bytes[COPY_BYTES];
    ssize_t got;

    while ((got = file_read_at(from, bytes, sizeof bytes, offset)) > 0) {
        if (file_write(to, bytes, (size_t)got) < (size_t)got)
            return errno;
        offset += (uint64_t)got;
    }
    return got < 0 ? errno : 0;
}

/* "SERIES.3"; the empty path if that is too long, which every call refuses. */
static void name_kept(char path[PATH_MAX], const char *series, unsigned number)
{
    if (snprintf(path, PATH_MAX, "%s.%u", series, number) >= PATH_MAX)
        *path = 0;
}

/* Opens the last file of the series if its *have bytes are the beginning of what must be kept; otherwise a new one. */
static int open_cut(int from, uint64_t offset, const char *series, char path[PATH_MAX], uint64_t *have)
{
    const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    unsigned number = 1;

    name_kept(path, series, number);
    while (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        name_kept(path, series, ++number);
    name_kept(path, series, number - 1);
    int last = (int)TEMP_FAILURE_RETRY(open(path, flags)); /* there is no cut.0 */
    if (last >= 0 && begins_alike(from, offset, last, have))
        return last;
    if (last >= 0)
        close(last);
    *have = 0;
    name_kept(path, series, number);
    return (int)TEMP_FAILURE_RETRY(open(path, flags | O_CREAT | O_EXCL, 0600));
}

int keep_tail(int fd, uint64_t offset, const char *folder, bool syncs, char to[PATH_MAX])
{
    char series[PATH_MAX];
    uint64_t have = 0;

    if (snprintf(series, sizeof series, "%s/cut", folder) >= PATH_MAX)
        return ENAMETOOLONG;
    int cut = open_cut(fd, offset, series, to, &have);
    int error = cut < 0 ? errno : copy_tail(fd, offset + have, cut);
    if (error == 0 && syncs && TEMP_FAILURE_RETRY(fsync(cut)) != 0)
        error = errno;
    if (cut >= 0 && close(cut) != 0 && error == 0)
        error = errno;
    return error == 0 && syncs ? file_sync_folder(folder) : error;
}

int keep_renamed(const char *path, const char *series, char to[PATH_MAX])
{
    unsigned number = 0;
    int error;

    do {
        name_kept(to, series, ++number);
        error = renameat2(AT_FDCWD, path, AT_FDCWD, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
        if (error == EINVAL) /* a file system that does not know the flag */
            error = faccessat(AT_FDCWD, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? EEXIST
                    : rename(path, to) == 0                                 ? 0
                                                                            : errno;
    } while (error == EEXIST);
    return error;
}
