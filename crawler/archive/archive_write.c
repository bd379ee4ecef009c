/*
 * Writing to the archive. Records go to a buffer first, so that small ones do not cost a system call each.
 *
 * Errors come in two kinds. A write that fails, most likely because the disk is full, leaves the archive as it was: the
 * file is cut back, the buffer stays, and the caller can try again. After a failed sync nobody knows what is on disk,
 * and a second one may succeed without having written anything; so nothing is written any more.
 */
#include "crawler/archive/archive_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/output_file.h"
#include "crawler/archive/warc_record.h"
#include "crawler/base/crawl_clock.h"

const char *archive_name(uint32_t file, char *to)
{
    snprintf(to, ARCHIVE_NAME_ROOM, "vidi-%05lu.warc.gz", (unsigned long)file);
    return to;
}

int archive_fail(archive *of, const char *verb, uint32_t number)
{
    int code = errno;
    char name[ARCHIVE_NAME_ROOM];

    snprintf(of->error, sizeof of->error, "cannot %s %.150s/%s: %s", verb, of->path, archive_name(number, name),
             strerror(code));
    return code == ENOSPC || code == EDQUOT || code == EFBIG ? VIDI_ELIMIT : VIDI_EIO;
}

/* ---- the file ---- */

static int fail_for_good(archive *of, const char *verb)
{
    archive_fail(of, verb, of->number);
    of->failed = VIDI_EIO;
    return VIDI_EIO;
}

static int write_all(int file, const char *data, size_t n, uint64_t offset)
{
    while (n) {
        ssize_t done = TEMP_FAILURE_RETRY(pwrite(file, data, n, (off_t)offset));
        if (done <= 0) {
            errno = done == 0 ? ENOSPC : errno;
            return -1;
        }
        data += done;
        n -= (size_t)done;
        offset += (uint64_t)done;
    }
    return 0;
}

/* Writes all of it, or leaves the file as it was. */
static int put(archive *of, const char *data, size_t n)
{
    of->unsynced = true;
    if (write_all(of->file, data, n, of->written) == 0) {
        of->written += n;
        return VIDI_OK;
    }
    int error = archive_fail(of, "write to", of->number);
    if (TEMP_FAILURE_RETRY(ftruncate(of->file, (off_t)of->written)) != 0)
        return fail_for_good(of, "cut back");
    return error;
}

static int flush(archive *of)
{
    int error = of->buffered ? put(of, of->buffer, of->buffered) : VIDI_OK;

    if (!error)
        of->buffered = 0;
    return error;
}

int archive_sync(archive *of)
{
    if (of->failed)
        return of->failed;
    int error = flush(of);
    if (error || !of->unsynced)
        return error;
    if (TEMP_FAILURE_RETRY(fdatasync(of->file)) != 0)
        return fail_for_good(of, "sync");
    of->unsynced = false;
    return VIDI_OK;
}

/* ---- the next file ---- */

static int pack_warcinfo(archive *of, uint32_t number, bytes *to)
{
    char name[ARCHIVE_NAME_ROOM];
    archive_packer *packer = archive_packer_open();
    int64_t date = of->date + crawl_clock_real.now(NULL) - of->opened;
    int error =
        packer ? warc_pack_info(packer, archive_name(number, name), date, of->agent, of->contact, to) : VIDI_EMEMORY;

    archive_packer_close(packer);
    if (!error && to->len > ARCHIVE_BUFFER)
        error = VIDI_EARGUMENT;
    if (error)
        snprintf(of->error, sizeof of->error, "%s", vidi_strerror(error));
    return error;
}

static int make_file(archive *of, uint32_t number, int *file)
{
    char name[ARCHIVE_NAME_ROOM];

    *file = (int)TEMP_FAILURE_RETRY(
        openat(of->folder, archive_name(number, name), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (*file < 0)
        return archive_fail(of, "make", number);
    if (TEMP_FAILURE_RETRY(fsync(of->folder)) != 0) {
        fail_for_good(of, "sync the folder of");
        close(*file);
        return of->failed;
    }
    return VIDI_OK;
}

int archive_begin_file(archive *of, uint32_t number)
{
    int file;
    bytes info = {0};
    int error = pack_warcinfo(of, number, &info);

    if (!error)
        error = make_file(of, number, &file);
    if (!error) {
        if (of->file >= 0)
            close(of->file);
        of->file = file;
        of->number = number;
        of->written = 0;
        memcpy(of->buffer, info.ptr, info.len);
        of->buffered = info.len;
    }
    bytes_free(&info);
    return error;
}

/* A file begins with a warcinfo record, and has at least one more, however large that one is. */
static bool is_full(const archive *of, size_t more)
{
    uint64_t length = of->written + of->buffered;

    return of->has_records && (length >= of->max_bytes || more > of->max_bytes - length);
}

static int next_file(archive *of)
{
    int error = archive_sync(of);

    if (!error)
        error = archive_begin_file(of, of->number + 1);
    if (!error)
        of->has_records = false;
    return error;
}

/* ---- records ---- */

static int append(archive *of, vidi_str packed)
{
    int error = packed.len > ARCHIVE_BUFFER - of->buffered ? flush(of) : VIDI_OK;

    if (error)
        return error;
    if (packed.len >= ARCHIVE_BUFFER)
        return put(of, packed.ptr, packed.len);
    memcpy(of->buffer + of->buffered, packed.ptr, packed.len);
    of->buffered += packed.len;
    return VIDI_OK;
}

int archive_write(archive *of, vidi_str packed, uint32_t *file, uint64_t *offset)
{
    if (of->failed)
        return of->failed;
    int error = is_full(of, packed.len) ? next_file(of) : VIDI_OK;
    if (error)
        return error;
    *file = of->number;
    *offset = of->written + of->buffered;
    error = append(of, packed);
    if (!error)
        of->has_records = true;
    return error;
}

archive_place archive_end(const archive *of)
{
    return (archive_place){of->number, of->written + of->buffered};
}

int archive_mark(archive *of, uint64_t *mark)
{
    unsigned char last[ARCHIVE_MARKED];
    int error = flush(of);

    if (error)
        return error;
    size_t n = of->written < ARCHIVE_MARKED ? (size_t)of->written : ARCHIVE_MARKED;
    ssize_t got = file_read_at(of->file, last, n, of->written - n);
    *mark = output_checksum(0, last, got > 0 ? (size_t)got : 0);
    return got == (ssize_t)n ? VIDI_OK : archive_fail(of, "read", of->number);
}

const char *archive_error(const archive *of)
{
    return of->error;
}
