/* Keeps finished runs in a file. See kept_runs.h. */
#include "lab/engine/kept_runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/inside/inside.h"

enum {
    MOST = 1 << 28, /* largest size of a file: later runs are not kept */
    TRIES = 10,     /* attempts to open a file that other processes remove */
    NAME_DIGITS = 32
};

#define PREFIX "lab-"

typedef struct head {
    char magic[8];
    uint64_t format;
    uint64_t what[2];
} head;

typedef struct record {
    uint64_t part, run, size;
} record;

struct lab_keep {
    char *folder, *maker;
    bool fresh;
    int fd; /* -1: nothing is kept */
    char path[PATH_MAX];
    char warning[PATH_MAX + 64];
    head head;
    char *bytes; /* the file as it was read, up to its last whole record */
    size_t size;
    size_t written; /* length of the file */
    size_t records; /* number of records in the file */
    time_t synced;  /* time of the last fdatasync; one a second is enough */
};

static uint64_t checksum(const lab_keep *keep, const void *bytes, size_t size)
{
    const vidi_str pieces[] = {{(const char *)&keep->head, sizeof keep->head}, {bytes, size}};
    return vidi__inside_checksum(pieces, 2).lo;
}

lab_keep *lab_keep_new(const char *folder, const char *maker, bool fresh)
{
    lab_keep *keep = calloc(1, sizeof *keep);
    if (!keep)
        return NULL;
    keep->fd = -1;
    keep->fresh = fresh;
    keep->folder = strdup(folder);
    keep->maker = strdup(maker);
    if (keep->folder && keep->maker)
        return keep;
    lab_keep_end(keep, false);
    return NULL;
}

/* Makes the folder and its parents, where they are missing. */
static void make_folders(const char *path)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    for (size_t i = 1; i <= length && i < sizeof part; i++)
        if (path[i] == '/' || path[i] == 0) {
            memcpy(part, path, i);
            part[i] = 0;
            (void)mkdir(part, 0700);
        }
}

/* Whether the path still leads to the open file. */
static bool has_its_name(const lab_keep *keep)
{
    struct stat open, named;
    return fstat(keep->fd, &open) == 0 && lstat(keep->path, &named) == 0 && open.st_dev == named.st_dev &&
           open.st_ino == named.st_ino;
}

/* The process that had the lock before may have removed the file meanwhile; then we try again. */
static bool open_and_lock(lab_keep *keep)
{
    for (int i = 0; i < TRIES; i++) {
        keep->fd = open(keep->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (keep->fd < 0 || flock(keep->fd, LOCK_EX | LOCK_NB) != 0)
            return false;
        if (has_its_name(keep))
            return true;
        close(keep->fd);
    }
    keep->fd = -1;
    return false;
}

static bool open_file(lab_keep *keep)
{
    int length = snprintf(keep->path, sizeof keep->path, "%s/" PREFIX "%016llx%016llx", keep->folder,
                          (unsigned long long)keep->head.what[1], (unsigned long long)keep->head.what[0]);
    if (length < 0 || (size_t)length >= sizeof keep->path)
        return false;
    make_folders(keep->folder);
    return open_and_lock(keep);
}

/* ---- abandoned files ---- */

static bool is_name_of_ours(const char *name)
{
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
           strspn(name + strlen(PREFIX), "0123456789abcdef") == NAME_DIGITS &&
           strlen(name) == strlen(PREFIX) + NAME_DIGITS;
}

/* Removes a file if it is old and no process uses it. */
static void remove_old(int folder, const char *name)
{
    struct stat about;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
        time(NULL) - about.st_mtim.tv_sec > (time_t)LAB_KEEP_DAYS * 24 * 60 * 60 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)unlinkat(folder, name, 0);
    close(fd);
}

static void remove_old_files(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (is_name_of_ours(entry->d_name))
            remove_old(dirfd(folder), entry->d_name);
    if (folder)
        closedir(folder);
}

/* ---- reading ---- */

/* Reads the whole file; false if that fails or its head is not ours. */
static bool read_file(lab_keep *keep, size_t size)
{
    size_t got = 0;
    keep->bytes = malloc(size + 1);
    while (keep->bytes && got < size) {
        ssize_t more = pread(keep->fd, keep->bytes + got, size - got, (off_t)got);
        if (more <= 0 && !(more < 0 && errno == EINTR))
            return false;
        got += more > 0 ? (size_t)more : 0;
    }
    return keep->bytes &&
           (size == 0 || (size >= sizeof keep->head && memcmp(keep->bytes, &keep->head, sizeof keep->head) == 0));
}

/* The length of the record at offset `at`, or 0 if it is cut off. */
static size_t record_length(const lab_keep *keep, size_t at, size_t size, record *record)
{
    if (size - at < sizeof *record)
        return 0;
    memcpy(record, keep->bytes + at, sizeof *record);
    size_t left = size - at - sizeof *record;
    return left < sizeof(uint64_t) || record->size > left - sizeof(uint64_t)
               ? 0
               : sizeof *record + (size_t)record->size + sizeof(uint64_t);
}

/* Checks all records and finds the end of the last whole one; false if one is damaged. */
static bool check_records(lab_keep *keep, size_t size)
{
    size_t at = sizeof keep->head, length;
    record record;
    for (; at < size && (length = record_length(keep, at, size, &record)) > 0; at += length) {
        uint64_t sum;
        memcpy(&sum, keep->bytes + at + length - sizeof sum, sizeof sum);
        if (sum != checksum(keep, keep->bytes + at, length - sizeof sum))
            return false;
        keep->records++;
    }
    keep->size = at < size ? at : size;
    return true;
}

/* Cuts the file off after `length` bytes, and writes the head if it has none. */
static bool begin_writing(lab_keep *keep, size_t length)
{
    if (ftruncate(keep->fd, (off_t)length) != 0)
        return false;
    const head head = keep->head;
    keep->written = length ? length : sizeof head;
    return length || write(keep->fd, &head, sizeof head) == sizeof head;
}

static void use_file(lab_keep *keep)
{
    struct stat about;
    if (fstat(keep->fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        snprintf(keep->warning, sizeof keep->warning, "%s is not a regular file: runs are not kept", keep->path);
        keep->written = MOST;
        return;
    }
    size_t size = keep->fresh ? 0 : (size_t)about.st_size;
    bool sound = size <= MOST && read_file(keep, size) && check_records(keep, size);
    if (!sound) {
        snprintf(keep->warning, sizeof keep->warning, "%s is damaged: its runs are measured again", keep->path);
        keep->size = keep->records = 0;
    }
    if (!begin_writing(keep, keep->size > sizeof keep->head ? keep->size : 0))
        keep->written = MOST;
}

void lab_keep_begin(lab_keep *keep, const char *what)
{
    if (!keep || keep->fd >= 0)
        return;
    const vidi_str pieces[] = {{keep->maker, strlen(keep->maker) + 1}, {what, strlen(what)}};
    vidi_digest hash = vidi__inside_checksum(pieces, 2);
    keep->head = (head){.magic = "vidi lab", .format = 1, .what = {hash.lo, hash.hi}};
    if (open_file(keep)) {
        use_file(keep);
        remove_old_files(keep->folder);
        return;
    }
    if (keep->fd >= 0)
        close(keep->fd);
    keep->fd = -1;
}

const void *lab_keep_next(const lab_keep *keep, size_t *at, uint64_t part, size_t size, uint64_t *run)
{
    record record;
    size_t length;
    if (!keep)
        return NULL;
    *at = *at ? *at : sizeof keep->head;
    while (*at < keep->size && (length = record_length(keep, *at, keep->size, &record)) > 0) {
        const char *row = keep->bytes + *at + sizeof record;
        *at += length;
        if (record.part == part && record.size == size) {
            *run = record.run;
            return row;
        }
    }
    return NULL;
}

void lab_keep_add(lab_keep *keep, uint64_t part, uint64_t run, const void *row, size_t size)
{
    record record = {part, run, size};
    size_t length = sizeof record + size + sizeof(uint64_t);
    if (!keep || keep->fd < 0 || length > MOST || keep->written > MOST - length)
        return;
    char *bytes = malloc(length);
    if (!bytes)
        return;
    memcpy(bytes, &record, sizeof record);
    memcpy(bytes + sizeof record, row, size);
    uint64_t sum = checksum(keep, bytes, length - sizeof sum);
    memcpy(bytes + length - sizeof sum, &sum, sizeof sum);
    bool whole = write(keep->fd, bytes, length) == (ssize_t)length;
    keep->written = whole ? keep->written + length : MOST; /* nothing may follow a partial record */
    keep->records += whole;
    if (time(NULL) != keep->synced)
        (void)fdatasync(keep->fd);
    keep->synced = time(NULL);
    free(bytes);
}

uint64_t lab_keep_count(const lab_keep *keep)
{
    return keep && keep->fd >= 0 ? keep->records : 0;
}

const char *lab_keep_warning(const lab_keep *keep)
{
    return keep ? keep->warning : "";
}

void lab_keep_end(lab_keep *keep, bool forget)
{
    if (!keep)
        return;
    if (keep->fd >= 0) {
        if (forget || keep->records == 0)
            (void)unlink(keep->path);
        close(keep->fd);
    }
    free(keep->folder);
    free(keep->maker);
    free(keep->bytes);
    free(keep);
}
