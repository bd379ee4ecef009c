/*
 * The output file: see output.h. The database has three entries about it: output_device, output_inode
 * and output_length.
 */
#include "crawler/crawl/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WHY = 512 };

static int cannot(char *why, const char *what, const char *path)
{
    snprintf(why, WHY, "cannot %s %s: %s", what, path, strerror(errno));
    return VIDI_EIO;
}

/* What the database knows: VIDI_EABSENT if nothing. */
static int read_known(ledger *from, uint64_t *device, uint64_t *inode, uint64_t *length)
{
    int64_t value[3];
    static const char *const names[3] = {"output_device", "output_inode", "output_length"};

    for (int i = 0; i < 3; i++) {
        int error = ledger_get(from, names[i], &value[i]);
        if (error)
            return error;
    }
    *device = (uint64_t)value[0];
    *inode = (uint64_t)value[1];
    *length = (uint64_t)value[2];
    return VIDI_OK;
}

/* The file is one that the database knows: cut it back. */
static int go_on(output *of, const struct stat *about, uint64_t length, char *why)
{
    if ((uint64_t)about->st_size < length) {
        snprintf(why, WHY,
                 "%s has %" PRIu64 " bytes, but this crawl has written %" PRIu64
                 " to it: it was shortened; name another file",
                 of->path, (uint64_t)about->st_size, length);
        return VIDI_EDAMAGED;
    }
    if ((uint64_t)about->st_size > length && ftruncate(of->fd, (off_t)length) != 0)
        return cannot(why, "shorten", of->path);
    of->length = length;
    return VIDI_OK;
}

/* So that the file is still there after a power cut. */
static int sync_folder(const char *path)
{
    char *copy = strdup(path);
    int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int result = fd >= 0 ? fsync(fd) : -1;

    if (fd >= 0)
        close(fd);
    free(copy);
    return result;
}

static int open_file(output *of, ledger *from, char *why)
{
    struct stat about;
    uint64_t device = 0, inode = 0, length = 0;

    of->fd = open(of->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (of->fd < 0 || fstat(of->fd, &about) != 0)
        return cannot(why, "write", of->path);
    if (!S_ISREG(about.st_mode)) {
        of->is_stream = true;
        return VIDI_OK;
    }
    of->device = (uint64_t)about.st_dev;
    of->inode = (uint64_t)about.st_ino;
    int error = read_known(from, &device, &inode, &length);
    if (error != VIDI_OK && error != VIDI_EABSENT) {
        snprintf(why, WHY, "%s", ledger_error(from));
        return error;
    }
    if (error == VIDI_OK && device == of->device && inode == of->inode)
        return go_on(of, &about, length, why);
    if (error == VIDI_OK && length > 0) {
        snprintf(why, WHY,
                 "%s is not the file that this crawl has written %" PRIu64
                 " bytes to: go on with that one, or leave --jsonl out",
                 of->path, length);
        return VIDI_EEXIST;
    }
    of->length = (uint64_t)about.st_size; /* what others have written to it stays */
    return sync_folder(of->path) == 0 ? VIDI_OK : cannot(why, "sync the folder of", of->path);
}

int output_open(output *of, const char *path, ledger *from, char *why)
{
    *of = (output){.fd = -1, .path = path};
    if (!path)
        return VIDI_OK;
    if (strcmp(path, "-") == 0) {
        of->fd = STDOUT_FILENO;
        of->is_stream = true;
        return VIDI_OK;
    }
    int error = open_file(of, from, why);
    if (error)
        output_close(of);
    return error;
}

void output_close(output *of)
{
    if (of->fd >= 0 && of->fd != STDOUT_FILENO)
        close(of->fd);
    of->fd = -1;
}

static int write_failed(void)
{
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? VIDI_ELIMIT : VIDI_EIO;
}

int output_write(output *of, vidi_str lines)
{
    size_t done = 0;

    if (of->fd < 0)
        return VIDI_OK;
    while (done < lines.len) {
        ssize_t n = of->is_stream ? write(of->fd, lines.ptr + done, lines.len - done)
                                  : pwrite(of->fd, lines.ptr + done, lines.len - done, (off_t)(of->length + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return write_failed();
        done += (size_t)n;
    }
    of->length += lines.len;
    return VIDI_OK;
}

int output_sync(output *of)
{
    if (of->fd < 0 || of->is_stream || fdatasync(of->fd) == 0)
        return VIDI_OK;
    return write_failed();
}

int output_commit(const output *of, ledger *to)
{
    if (of->fd < 0 || of->is_stream)
        return VIDI_OK;
    int error = ledger_set(to, "output_length", (int64_t)of->length);
    if (error == VIDI_OK)
        error = ledger_set(to, "output_device", (int64_t)of->device);
    return error ? error : ledger_set(to, "output_inode", (int64_t)of->inode);
}
