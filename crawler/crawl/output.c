/*
 * The output file: see output.h. The database has three entries about it: output_length, output_tail, and
 * output_path, which tells whether a file that nothing has been committed to is the same as in the last run.
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

static int cannot(char *why, const char *what, const char *path)
{
    snprintf(why, OUTPUT_WHY, "cannot %s %s: %s", what, path, strerrordesc_np(errno));
    return VIDI_EIO;
}

/* Reads the last bytes before `length`. */
static int read_tail(output *of)
{
    size_t wanted = of->length < OUTPUT_TAIL ? (size_t)of->length : OUTPUT_TAIL, have = 0;

    while (have < wanted) {
        ssize_t n = pread(of->fd, of->tail + have, wanted - have, (off_t)(of->length - wanted + have));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return VIDI_EIO;
        have += (size_t)n;
    }
    of->tail_len = wanted;
    return VIDI_OK;
}

/* What the database knows. */
typedef struct known {
    bool any;
    int64_t length;
    bytes tail, path;
} known;

static void known_free(known *of)
{
    bytes_free(&of->tail);
    bytes_free(&of->path);
}

static int known_read(known *to, ledger *from)
{
    *to = (known){0};
    int error = ledger_get(from, "output_length", &to->length);
    if (error == VIDI_OK)
        error = ledger_get_text(from, "output_tail", &to->tail);
    if (error == VIDI_OK)
        error = ledger_get_text(from, "output_path", &to->path);
    to->any = error == VIDI_OK;
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

/* Was it this file that the last run wrote to? If so much was committed that its last bytes tell, those decide. */
static bool is_known(const known *of, const output *file)
{
    if (!of->any)
        return false;
    return of->length > 0 ||
           (of->path.len == strlen(file->whole) && memcmp(of->path.ptr, file->whole, of->path.len) == 0);
}

/* The crawl has written to a file before: is it this one? If so, cuts it back. */
static int go_on(output *of, uint64_t size, const bytes *tail, char *why)
{
    if (size < of->length) {
        snprintf(why, OUTPUT_WHY,
                 "%s has %" PRIu64 " bytes, but this crawl has written %" PRIu64
                 ": it was shortened or is another file; bring it back, or leave --jsonl out",
                 of->path, size, of->length);
        return VIDI_EDAMAGED;
    }
    if (read_tail(of) != VIDI_OK)
        return cannot(why, "read", of->path);
    if (tail->len != of->tail_len || (tail->len > 0 && memcmp(tail->ptr, of->tail, tail->len) != 0)) {
        snprintf(why, OUTPUT_WHY,
                 "%s is not the file that this crawl has written %" PRIu64
                 " bytes to: name that one, or leave --jsonl out",
                 of->path, of->length);
        return VIDI_EEXIST;
    }
    if (size > of->length && ftruncate(of->fd, (off_t)of->length) != 0)
        return cannot(why, "shorten", of->path);
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
    known before;

    of->fd = open(of->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (of->fd < 0 || fstat(of->fd, &about) != 0)
        return cannot(why, "write", of->path);
    if (!S_ISREG(about.st_mode)) {
        of->is_stream = true;
        return VIDI_OK;
    }
    of->whole = realpath(of->path, NULL);
    if (!of->whole)
        return cannot(why, "write", of->path);
    int error = known_read(&before, from);
    if (error) {
        snprintf(why, OUTPUT_WHY, "%s", ledger_error(from));
    } else if (is_known(&before, of)) {
        of->length = (uint64_t)before.length;
        error = go_on(of, (uint64_t)about.st_size, &before.tail, why);
    } else {
        of->length = (uint64_t)about.st_size; /* what others have written to it stays */
        error = read_tail(of) == VIDI_OK ? VIDI_OK : cannot(why, "read", of->path);
    }
    known_free(&before);
    if (error == VIDI_OK && sync_folder(of->path) != 0)
        error = cannot(why, "sync the folder of", of->path);
    return error;
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
    bool is_new = access(path, F_OK) != 0;
    int error = open_file(of, from, why);
    if (error && of->fd >= 0 && is_new)
        unlink(path);
    if (error)
        output_close(of);
    return error;
}

void output_close(output *of)
{
    if (of->fd >= 0 && of->fd != STDOUT_FILENO)
        close(of->fd);
    of->fd = -1;
    free(of->whole);
    of->whole = NULL;
}

static int write_failed(output *of)
{
    of->failed = errno;
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? VIDI_ELIMIT : VIDI_EIO;
}

/* Remembers the end of what was written. */
static void note_tail(output *of, vidi_str lines)
{
    size_t fresh = lines.len < OUTPUT_TAIL ? lines.len : OUTPUT_TAIL;
    size_t kept = of->tail_len < OUTPUT_TAIL - fresh ? of->tail_len : OUTPUT_TAIL - fresh;

    memmove(of->tail, of->tail + of->tail_len - kept, kept);
    memcpy(of->tail + kept, lines.ptr + lines.len - fresh, fresh);
    of->tail_len = kept + fresh;
}

int output_write(output *of, vidi_str lines)
{
    size_t done = 0;

    if (of->fd < 0 || lines.len == 0)
        return VIDI_OK;
    while (done < lines.len) {
        ssize_t n = of->is_stream ? write(of->fd, lines.ptr + done, lines.len - done)
                                  : pwrite(of->fd, lines.ptr + done, lines.len - done, (off_t)(of->length + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return write_failed(of);
        done += (size_t)n;
    }
    of->length += lines.len;
    note_tail(of, lines);
    return VIDI_OK;
}

int output_sync(output *of)
{
    if (of->fd < 0 || of->is_stream || fdatasync(of->fd) == 0)
        return VIDI_OK;
    return write_failed(of);
}

int output_commit(const output *of, ledger *to)
{
    if (of->fd < 0 || of->is_stream)
        return VIDI_OK;
    int error = ledger_set(to, "output_length", (int64_t)of->length);
    if (error == VIDI_OK)
        error = ledger_set_text(to, "output_tail", (vidi_str){of->tail, of->tail_len});
    return error ? error : ledger_set_text(to, "output_path", (vidi_str){of->whole, strlen(of->whole)});
}
