/*
 * The output file: see output_file.h. First opening and locking, then the note, then what a state finds when it comes
 * back to its file.
 */
#include "common/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/files.h"
#include "common/fnv.h"
#include "common/keep.h"

enum { CHECKED_BYTES = 4096 };

bool output_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- sentences ---- */

__attribute__((format(printf, 3, 4))) static output_result say(output_file *file, output_result result,
                                                               const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(file->why, sizeof file->why, format, arguments);
    va_end(arguments);
    return result;
}

static output_result cannot(output_file *file, const char *what)
{
    file->failed = errno;
    return say(file, OUTPUT_FAILED, "cannot %s %s: %s", what, *file->path ? file->path : "''", strerror(errno));
}

/* ---- opening and locking ---- */

void output_file_close(output_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

static output_result open_regular(output_file *file, bool create, struct stat *about)
{
    int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (create ? O_CREAT : 0);

    file->fd = (int)TEMP_FAILURE_RETRY(open(file->path, flags, 0666));
    if (file->fd < 0)
        return errno == ENOENT && !create ? OUTPUT_OK : cannot(file, "write");
    if (fstat(file->fd, about) != 0)
        return cannot(file, "write");
    if (!S_ISREG(about->st_mode))
        return say(file, OUTPUT_REFUSED, "cannot write %s: it is not a regular file", file->path);
    return OUTPUT_OK;
}

static output_result lock(output_file *file)
{
    if (TEMP_FAILURE_RETRY(flock(file->fd, LOCK_EX | LOCK_NB)) == 0)
        return OUTPUT_OK;
    if (errno != EWOULDBLOCK)
        return cannot(file, "lock");
    return say(file, OUTPUT_LOCKED, "%s is locked: another process writes to it", file->path);
}

/* If its name belongs to another file once it is locked, starts again. */
output_result output_file_open(output_file *file, const char *path, bool create)
{
    struct stat about, now;
    output_result result;

    *file = (output_file){.path = path, .fd = -1};
    do {
        output_file_close(file);
        result = open_regular(file, create, &about);
        if (result == OUTPUT_OK && file->fd >= 0)
            result = lock(file);
    } while (result == OUTPUT_OK && file->fd >= 0 && (stat(path, &now) != 0 || !output_is_same(&now, &about)));
    if (result != OUTPUT_OK)
        output_file_close(file);
    return result;
}

/* ---- the note ---- */

#define NOTE_BEGIN "vidi output 1 "
#define NOTE_OPEN "open "
#define NOTE_CLOSED "closed "
#define NOTE_FORM NOTE_BEGIN "%s%" PRIu64 " %" PRIu64 " %" PRIu64 " %016" PRIx64 " %s"

/* Takes a word if it comes next. */
static bool take_word(const char **at, const char *word)
{
    bool is = strncmp(*at, word, strlen(word)) == 0;

    *at += is ? strlen(word) : 0;
    return is;
}

/* Takes a number and the space after it. */
static bool take_number(const char **at, int base, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(*at, &end, base);
    bool taken = errno == 0 && end > *at && *end == ' ';
    *at = end + taken;
    return taken;
}

bool output_note_parse(const char *text, output_note *note)
{
    const char *at = text;

    *note = (output_note){0};
    if (!*text)
        return true;
    bool ours = take_word(&at, NOTE_BEGIN);
    note->closed = ours && take_word(&at, NOTE_CLOSED);
    note->present = ours && (note->closed || take_word(&at, NOTE_OPEN)) && take_number(&at, 10, &note->device) &&
                    take_number(&at, 10, &note->inode) && take_number(&at, 10, &note->length) &&
                    take_number(&at, 16, &note->checksum);
    if (note->present)
        snprintf(note->path, sizeof note->path, "%s", at);
    return note->present;
}

void output_note_print(const output_note *note, char text[OUTPUT_NOTE_ROOM])
{
    snprintf(text, OUTPUT_NOTE_ROOM, NOTE_FORM, note->closed ? NOTE_CLOSED : NOTE_OPEN, note->device, note->inode,
             note->length, note->checksum, note->path);
}

uint64_t output_checksum(uint64_t sum, const void *bytes, size_t n)
{
    return fnv_bytes(sum ? sum : FNV_START, bytes, n);
}

/* Of the last bytes before `length`. */
static output_result checksum_before(output_file *file, uint64_t length, uint64_t *checksum)
{
    unsigned char bytes[CHECKED_BYTES];
    size_t n = length < CHECKED_BYTES ? (size_t)length : CHECKED_BYTES;
    ssize_t got = file_read_at(file->fd, bytes, n, length - n);

    if (got < 0)
        return cannot(file, "read");
    if ((size_t)got < n)
        return say(file, OUTPUT_REFUSED, "cannot read %s: it became shorter", file->path);
    *checksum = output_checksum(0, bytes, n);
    return OUTPUT_OK;
}

output_result output_file_check(output_file *file, uint64_t written)
{
    struct stat about;

    if (fstat(file->fd, &about) != 0)
        return cannot(file, "look at");
    if (about.st_nlink == 0)
        return say(file, OUTPUT_REFUSED, "%s was deleted while it was being written", file->path);
    if ((uint64_t)about.st_size != file->start + written)
        return say(file, OUTPUT_REFUSED, "%s was changed by another program while it was being written", file->path);
    return OUTPUT_OK;
}

output_result output_file_note(output_file *file, uint64_t length, bool closed, output_note *note)
{
    char resolved[PATH_MAX];
    struct stat about;

    *note = (output_note){.present = true, .closed = closed, .length = length};
    if (fstat(file->fd, &about) != 0)
        return cannot(file, "look at");
    note->device = about.st_dev;
    note->inode = about.st_ino;
    snprintf(note->path, sizeof note->path, "%.*s", OUTPUT_PATH_SHOWN,
             realpath(file->path, resolved) ? resolved : file->path);
    return checksum_before(file, length, &note->checksum);
}

bool output_file_cut(output_file *file, uint64_t kept, uint64_t written)
{
    struct stat about;

    if (kept == written)
        return true;
    return fstat(file->fd, &about) == 0 && (uint64_t)about.st_size == file->start + written &&
           TEMP_FAILURE_RETRY(ftruncate(file->fd, (off_t)(file->start + kept))) == 0;
}

/* ---- coming back to a file ---- */

/* Keeps a copy of what follows the noted length, and cuts it off. */
static output_result cut_tail(output_file *file, const output_terms *terms, uint64_t size)
{
    char path[PATH_MAX];
    int error = keep_tail(file->fd, file->length, terms->folder, terms->syncs, path);

    if (error) {
        file->failed = error;
        return say(file, OUTPUT_FAILED, "cannot keep what must be cut off %.900s in %.900s: %s", file->path, path,
                   strerror(error));
    }
    if (TEMP_FAILURE_RETRY(ftruncate(file->fd, (off_t)file->length)) != 0 ||
        (terms->syncs && TEMP_FAILURE_RETRY(fsync(file->fd)) != 0))
        return cannot(file, "cut back");
    return say(file, OUTPUT_OK,
               "%.800s: the last %" PRIu64
               " bytes are from a run that ended before it had committed them; they were cut off and are in %.800s, "
               "and %s",
               file->path, size - file->length, path, terms->lost);
}

/* Finds the noted bytes in the file, and cuts off the rest. */
static output_result take_noted(output_file *file, const output_note *had, const output_terms *terms,
                                const struct stat *about)
{
    uint64_t size = (uint64_t)about->st_size, checksum;

    if (!terms->copies && about->st_ino != had->inode)
        return say(file, OUTPUT_REFUSED,
                   "%.500s is not the file that %.400s has written to (%.700s, %" PRIu64 " bytes); put that one back%s",
                   file->path, terms->owner, had->path, had->length, terms->or_else);
    if (size < had->length)
        return say(file, OUTPUT_REFUSED,
                   "%.800s has %" PRIu64 " bytes, but %.500s has committed %" PRIu64
                   ": output is missing; put it back%s",
                   file->path, size, terms->owner, had->length, terms->or_else);
    output_result result = checksum_before(file, had->length, &checksum);
    if (result != OUTPUT_OK)
        return result;
    if (checksum != had->checksum)
        return say(file, OUTPUT_REFUSED, "%.800s has changed since %.500s wrote to it; restore it%s", file->path,
                   terms->owner, terms->or_else);
    file->length = had->length;
    if (size > had->length && had->closed)
        return say(file, OUTPUT_REFUSED,
                   "%.800s has %" PRIu64
                   " bytes more than %.500s has written to it: somebody else has added them; take them out%s",
                   file->path, size - had->length, terms->owner, terms->or_else);
    return size > had->length ? cut_tail(file, terms, size) : OUTPUT_OK;
}

/*
 * A file that the owner has not written to must be empty: what is in it may be another state's output, which that state
 * would cut off, together with ours, if its last run was killed.
 */
static output_result take_new(output_file *file, const output_terms *terms, const struct stat *about)
{
    if (about->st_size == 0)
        return OUTPUT_OK;
    if (terms->fresh)
        return say(file, OUTPUT_REFUSED, "%s begins a new file, but %.800s has %" PRIu64 " bytes; %s", terms->fresh,
                   file->path, (uint64_t)about->st_size, terms->unknown);
    return say(file, OUTPUT_REFUSED, "%.800s has %" PRIu64 " bytes that %.500s has not written; %s", file->path,
               (uint64_t)about->st_size, terms->owner, terms->unknown);
}

output_result output_file_resume(output_file *file, const output_note *had, const output_terms *terms)
{
    struct stat about;

    *file->why = 0;
    if (file->fd < 0)
        return say(file, OUTPUT_REFUSED,
                   "%.500s is not there, but %.400s has committed %" PRIu64 " bytes of output (%.700s); put it back%s",
                   file->path, terms->owner, had->length, had->path, terms->or_else);
    if (fstat(file->fd, &about) != 0)
        return cannot(file, "look at");
    file->known = had->present && !terms->fresh && (had->length > 0 || had->inode == about.st_ino);
    output_result result = file->known ? take_noted(file, had, terms, &about) : take_new(file, terms, &about);
    file->start = file->length;
    return result;
}
