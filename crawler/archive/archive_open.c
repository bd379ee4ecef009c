/*
 * Opening an archive: brings the folder to the state that the database has committed.
 *
 * A crash leaves at least what was committed, because the archive is synced before the database. Whatever comes after
 * that is put aside: half a record, records whose rows were never committed, new files. After a crash their pages are
 * fetched again. But with a database from a backup these may be the only copies, so nothing is destroyed. If there is
 * less than was committed, something else has happened to the files, and nothing is changed.
 */
#include "crawler/archive/archive_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/keep.h"
#include "crawler/base/crawl_clock.h"

#define DEFAULT_MAX_BYTES (UINT64_C(1) << 30)

enum { WARCINFO_MOST = 16 << 10 };

/* ---- names ---- */

bool archive_number(const char *name, uint32_t *number)
{
    char *end, again[ARCHIVE_NAME_ROOM];

    if (strncmp(name, "vidi-", 5) != 0 || name[5] < '0' || name[5] > '9')
        return false;
    unsigned long value = strtoul(name + 5, &end, 10);
    if (value > UINT32_MAX)
        return false;
    *number = (uint32_t)value;
    return strcmp(archive_name(*number, again), name) == 0;
}

typedef int visit_file(archive *archive, uint32_t number, const archive_place *end);

/* Calls visit for each archive file from `first` on. */
static int for_files(archive *archive, uint32_t first, visit_file *visit, const archive_place *end)
{
    int handle = (int)TEMP_FAILURE_RETRY(openat(archive->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
        error = VIDI_OK;
    DIR *folder = handle < 0 ? NULL : fdopendir(handle);
    struct dirent *entry;
    uint32_t number;

    if (!folder) {
        if (handle >= 0)
            close(handle);
        return archive_fail(archive, "list the folder of", first);
    }
    while (!error && (errno = 0, entry = readdir(folder)))
        if (archive_number(entry->d_name, &number) && number >= first)
            error = visit(archive, number, end);
    if (!error && errno)
        error = archive_fail(archive, "list the folder of", first);
    closedir(folder);
    return error;
}

/* ---- what was committed ---- */

static int damaged(archive *archive, uint32_t number, const char *what)
{
    char name[ARCHIVE_NAME_ROOM];

    snprintf(archive->error, sizeof archive->error, "%.110s/%s %.80s", archive->path, archive_name(number, name), what);
    return VIDI_EDAMAGED;
}

/* Opens a file that must be there. Links are not followed, and pipes not waited for. */
static int open_file(archive *archive, uint32_t number, int *file, uint64_t *length)
{
    char name[ARCHIVE_NAME_ROOM];
    struct stat state;

    *file = (int)TEMP_FAILURE_RETRY(
        openat(archive->folder, archive_name(number, name), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (*file < 0 && errno == ENOENT)
        return damaged(archive, number, "is missing, but the crawl's database has pages in it");
    if (*file < 0 && errno == ELOOP)
        return damaged(archive, number, "is a symbolic link, not a file of the archive");
    if (*file < 0)
        return archive_fail(archive, "open", number);
    int error = VIDI_OK;
    if (fstat(*file, &state) != 0)
        error = archive_fail(archive, "look at", number);
    else if (!S_ISREG(state.st_mode))
        error = damaged(archive, number, "is not a regular file");
    *length = error ? 0 : (uint64_t)state.st_size;
    if (error)
        close(*file);
    return error;
}

static int check_earlier(archive *archive, uint32_t count)
{
    int error = VIDI_OK, file;
    uint64_t length;

    for (uint32_t number = 0; number < count && !error; number++) {
        error = open_file(archive, number, &file, &length);
        if (!error)
            close(file);
        if (!error && length == 0)
            error = damaged(archive, number, "is empty, but the crawl's database has pages in it");
    }
    return error;
}

static int open_last(archive *archive, const archive_place *end, uint64_t *length)
{
    char what[80];
    int error = open_file(archive, end->file, &archive->file, length);

    if (error) {
        archive->file = -1;
        return error;
    }
    archive->number = end->file;
    archive->written = end->length;
    if (*length >= end->length)
        return VIDI_OK;
    snprintf(what, sizeof what, "has %" PRIu64 " bytes; the crawl's database needs %" PRIu64, *length, end->length);
    return damaged(archive, end->file, what);
}

static int check_mark(archive *archive, uint64_t expected)
{
    uint64_t mark;
    int error = expected ? archive_mark(archive, &mark) : VIDI_OK;

    return !error && expected && mark != expected
               ? damaged(archive, archive->number, "is not the one that this crawl has written to")
               : error;
}

/* ---- what was not ---- */

static int remove_file(archive *archive, uint32_t number, const archive_place *end)
{
    char name[ARCHIVE_NAME_ROOM];

    (void)end;
    return unlinkat(archive->folder, archive_name(number, name), 0) == 0 ? VIDI_OK
                                                                         : archive_fail(archive, "remove", number);
}

/* Renames a file of which nothing is committed to cut.1, or the next name that is free. */
static int put_file_aside(archive *archive, uint32_t number, const archive_place *end)
{
    char name[ARCHIVE_NAME_ROOM], path[PATH_MAX], series[PATH_MAX], to[PATH_MAX];

    (void)end;
    int failed = snprintf(path, sizeof path, "%s/%s", archive->path, archive_name(number, name)) >= PATH_MAX ||
                         snprintf(series, sizeof series, "%s/cut", archive->path) >= PATH_MAX
                     ? ENAMETOOLONG
                     : keep_renamed(path, series, to);
    if (!failed) {
        snprintf(archive->error, sizeof archive->error,
                 "the crawl's database knows nothing of %s, so it was renamed to %.120s", name, to);
        return VIDI_OK;
    }
    errno = failed;
    return archive_fail(archive, "rename", number);
}

/* Copies what follows the committed length. */
static int keep_end(archive *archive, const archive_place *end, uint64_t length)
{
    char name[ARCHIVE_NAME_ROOM], to[PATH_MAX];
    int failed = keep_tail(archive->file, end->length, archive->path, true, to);

    if (failed) {
        errno = failed;
        return archive_fail(archive, "keep the end of", end->file);
    }
    snprintf(archive->error, sizeof archive->error,
             "the crawl's database knows nothing of the last %" PRIu64 " bytes of %s, so they were moved to %.120s",
             length - end->length, archive_name(end->file, name), to);
    return VIDI_OK;
}

static int cut(archive *archive, const archive_place *end, uint64_t length)
{
    int error = for_files(archive, end->file + 1, put_file_aside, end);

    if (!error && length > end->length)
        error = keep_end(archive, end, length);
    if (!error && length > end->length &&
        (TEMP_FAILURE_RETRY(ftruncate(archive->file, (off_t)end->length)) != 0 ||
         TEMP_FAILURE_RETRY(fdatasync(archive->file)) != 0))
        error = archive_fail(archive, "cut back", end->file);
    if (!error && TEMP_FAILURE_RETRY(fsync(archive->folder)) != 0)
        error = archive_fail(archive, "sync the folder of", end->file);
    return error;
}

static int go_on(archive *archive, const archive_place *end, uint64_t mark)
{
    uint64_t length;
    int error = check_earlier(archive, end->file);

    if (!error)
        error = open_last(archive, end, &length);
    if (!error)
        error = check_mark(archive, mark);
    if (!error)
        error = cut(archive, end, length);
    archive->has_records = true;
    return error;
}

/* ---- a new archive ---- */

/*
 * 1 if the file has anything after its first record, or something else; a torn record does not count. 0 or
 * VIDI_EMEMORY.
 */
static int has_pages(int file, uint64_t length)
{
    static const size_t room = 4 * WARCINFO_MOST;
    char *packed = malloc(WARCINFO_MOST + room);
    struct libdeflate_decompressor *unpacker = libdeflate_alloc_decompressor();
    int has = packed && unpacker ? 1 : VIDI_EMEMORY;

    if (has == 1 && length <= WARCINFO_MOST && pread(file, packed, length, 0) == (ssize_t)length) {
        size_t used = 0, plain;
        bool foreign = length > 0 && packed[0] != 0x1F && packed[0] != 0; /* a power cut may leave zeros */
        has = foreign || (libdeflate_gzip_decompress_ex(unpacker, packed, length, packed + WARCINFO_MOST, room, &used,
                                                        &plain) == LIBDEFLATE_SUCCESS &&
                          used < length);
    }
    if (unpacker)
        libdeflate_free_decompressor(unpacker);
    free(packed);
    return has;
}

/* Files that a database does not know of are somebody's archive, unless they are what a crash leaves at the start. */
static int check_unknown(archive *archive, uint32_t number, const archive_place *end)
{
    char name[ARCHIVE_NAME_ROOM];
    int file;
    uint64_t length;
    int error = open_file(archive, number, &file, &length);

    (void)end;
    if (error)
        return error;
    int has = has_pages(file, length);
    close(file);
    if (has == 0)
        return VIDI_OK;
    if (has == 1)
        snprintf(archive->error, sizeof archive->error,
                 "%.110s/%s holds something that the crawl's database does not know; move it away", archive->path,
                 archive_name(number, name));
    else
        snprintf(archive->error, sizeof archive->error, "%s", vidi_strerror(has));
    return has == 1 ? VIDI_EEXIST : has;
}

static int begin(archive *archive, const archive_place *end)
{
    int error = for_files(archive, 0, check_unknown, end);

    if (!error)
        error = for_files(archive, 0, remove_file, end);
    return error ? error : archive_begin_file(archive, 0);
}

/* ---- opening and closing ---- */

/* The name of a folder that was just made must be on disk, too. */
static int sync_parent(const archive *archive)
{
    int parent = (int)TEMP_FAILURE_RETRY(openat(archive->folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    int result = parent < 0 ? -1 : (int)TEMP_FAILURE_RETRY(fsync(parent));

    if (parent >= 0)
        close(parent);
    return result;
}

static int open_folder(archive *archive)
{
    bool made = mkdir(archive->path, 0700) == 0;

    if (made || errno == EEXIST)
        archive->folder = (int)TEMP_FAILURE_RETRY(open(archive->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (archive->folder >= 0 && (!made || sync_parent(archive) == 0))
        return VIDI_OK;
    snprintf(archive->error, sizeof archive->error, "cannot make or open the folder %.150s: %s", archive->path,
             strerror(errno));
    return VIDI_EIO;
}

static char *copy(const char *text, int *error)
{
    char *made = text ? strdup(text) : NULL;

    if (text && !made)
        *error = VIDI_EMEMORY;
    return made;
}

static int prepare(archive *archive, const archive_options *options)
{
    int error = VIDI_OK;

    archive->folder = archive->file = -1;
    archive->max_bytes = options->max_bytes ? options->max_bytes : DEFAULT_MAX_BYTES;
    archive->date = options->date;
    archive->opened = crawl_clock_real.now(NULL);
    archive->path = copy(options->folder, &error);
    archive->agent = copy(options->agent, &error);
    archive->contact = copy(options->contact, &error);
    return error;
}

int archive_open(archive **made, const archive_options *options, char *why)
{
    const archive_place *end = &options->end;
    archive *archive = calloc(1, sizeof *archive);
    int error = archive ? prepare(archive, options) : VIDI_EMEMORY;

    *made = NULL;
    if (error) {
        snprintf(why, ARCHIVE_ERROR, "%s", vidi_strerror(error));
    } else {
        error = open_folder(archive);
        if (!error)
            error = end->file == 0 && end->length == 0 ? begin(archive, end) : go_on(archive, end, options->mark);
        if (error)
            snprintf(why, ARCHIVE_ERROR, "%s", archive->error);
    }
    if (error)
        archive_close(archive);
    else
        *made = archive;
    return error;
}

void archive_close(archive *archive)
{
    if (!archive)
        return;
    if (archive->file >= 0)
        close(archive->file);
    if (archive->folder >= 0)
        close(archive->folder);
    free(archive->path);
    free(archive->agent);
    free(archive->contact);
    free(archive);
}
