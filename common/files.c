/*
 * Reading, writing and syncing: see files.h.
 */
#include "common/files.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

ssize_t file_read_at(int fd, void *bytes, size_t n, uint64_t offset)
{
    size_t have = 0;

    while (have < n) {
        ssize_t got = TEMP_FAILURE_RETRY(pread(fd, (char *)bytes + have, n - have, (off_t)(offset + have)));
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

size_t file_write(int fd, const void *bytes, size_t n)
{
    size_t done = 0;

    while (done < n) {
        ssize_t wrote = TEMP_FAILURE_RETRY(write(fd, (const char *)bytes + done, n - done));
        if (wrote < 0)
            break;
        done += (size_t)wrote;
    }
    return done;
}

int file_sync_folder(const char *folder)
{
    int fd = (int)TEMP_FAILURE_RETRY(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    int error = fd < 0 || TEMP_FAILURE_RETRY(fsync(fd)) != 0 ? errno : 0;

    if (fd >= 0)
        close(fd);
    return error;
}

int file_sync_folder_of(const char *path)
{
    char text[PATH_MAX];

    if (snprintf(text, sizeof text, "%s", path) >= PATH_MAX)
        return ENAMETOOLONG;
    return file_sync_folder(dirname(text));
}
