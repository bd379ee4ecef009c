/*
 * Writing to the archive. Records go to a buffer first, so that small ones do not cost a system call each.
 *
 * Errors come in two kinds. A write that fails, most likely because the disk is full, leaves the archive as it was: the
 * file is cut back, the buffer stays, and the caller can try again. After a failed sync it is not known what is on
 * disk, and a second one may succeed without having written anything; so nothing is written any more.
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

int archive_fail(archive *archive, const char *verb, uint32_t number)
{
    int code = errno;
    char name[ARCHIVE_NAME_ROOM];

    snprintf(archive->error, sizeof archive->error, "cannot %s %.150s/%s: %s", verb, archive->path,
             archive_name(number, name), strerror(code));
    return code == ENOSPC || code == EDQUOT || code == EFBIG ? VIDI_ELIMIT : VIDI_EIO;
}

/* ---- the file ---- */

static int fail_for_good(archive *archive, const char *verb)
{
    archive_fail(archive, verb, archive->number);
    archive->failed = VIDI_EIO;
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
static int put(archive *archive, const char *data, size_t n)
{
    archive->unsynced = true;
    if (write_all(archive->file, data, n, archive->written) == 0) {
        archive->written += n;
        return VIDI_OK;
    }
    int error = archive_fail(archive, "write to", archive->number);
    if (TEMP_FAILURE_RETRY(ftruncate(archive->file, (off_t)archive->written)) != 0)
        return fail_for_good(archive, "cut back");
    return error;
}

static int flush(archive *archive)
{
    int error = archive->buffered ? put(archive, archive->buffer, archive->buffered) : VIDI_OK;

    if (!error)
        archive->buffered = 0;
    return error;
}

int archive_sync(archive *archive)
{
    if (archive->failed)
        return archive->failed;
    int error = flush(archive);
    if (error || !archive->unsynced)
        return error;
    if (TEMP_FAILURE_RETRY(fdatasync(archive->file)) != 0)
        return fail_for_good(archive, "sync");
    archive->unsynced = false;
    return VIDI_OK;
}

/* ---- the next file ---- */

static int pack_warcinfo(archive *archive, uint32_t number, bytes *to)
{
    char name[ARCHIVE_NAME_ROOM];
    archive_packer *packer = archive_packer_open();
    int64_t date = archive->date + crawl_clock_real.now(NULL) - archive->opened;
    int error = packer ? warc_pack_info(packer, archive_name(number, name), date, archive->agent, archive->contact, to)
                       : VIDI_EMEMORY;

    archive_packer_close(packer);
    if (!error && to->len > ARCHIVE_BUFFER)
        error = VIDI_EARGUMENT;
    if (error)
        snprintf(archive->error, sizeof archive->error, "%s", vidi_strerror(error));
    return error;
}

static int make_file(archive *archive, uint32_t number, int *file)
{
    char name[ARCHIVE_NAME_ROOM];

    *file = (int)TEMP_FAILURE_RETRY(
        openat(archive->folder, archive_name(number, name), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (*file < 0)
        return archive_fail(archive, "make", number);
    if (TEMP_FAILURE_RETRY(fsync(archive->folder)) != 0) {
        fail_for_good(archive, "sync the folder of");
        close(*file);
        return archive->failed;
    }
    return VIDI_OK;
}

int archive_begin_file(archive *archive, uint32_t number)
{
    int file;
    bytes info = {0};
    int error = pack_warcinfo(archive, number, &info);

    if (!error)
        error = make_file(archive, number, &file);
    if (!error) {
        if (archive->file >= 0)
            close(archive->file);
        archive->file = file;
        archive->number = number;
        archive->written = 0;
        memcpy(archive->buffer, info.ptr, info.len);
        archive->buffered = info.len;
    }
    bytes_free(&info);
    return error;
}

/* A file begins with a warcinfo record, and has at least one more, however large that one is. */
static bool is_full(const archive *archive, size_t more)
{
    uint64_t length = archive->written + archive->buffered;

    return archive->has_records && (length >= archive->max_bytes || more > archive->max_bytes - length);
}

static int next_file(archive *archive)
{
    int error = archive_sync(archive);

    if (!error)
        error = archive_begin_file(archive, archive->number + 1);
    if (!error)
        archive->has_records = false;
    return error;
}

/* ---- records ---- */

static int append(archive *archive, vidi_str packed)
{
    int error = packed.len > ARCHIVE_BUFFER - archive->buffered ? flush(archive) : VIDI_OK;

    if (error)
        return error;
    if (packed.len >= ARCHIVE_BUFFER)
        return put(archive, packed.ptr, packed.len);
    memcpy(archive->buffer + archive->buffered, packed.ptr, packed.len);
    archive->buffered += packed.len;
    return VIDI_OK;
}

int archive_write(archive *archive, vidi_str packed, uint32_t *file, uint64_t *offset)
{
    if (archive->failed)
        return archive->failed;
    int error = is_full(archive, packed.len) ? next_file(archive) : VIDI_OK;
    if (error)
        return error;
    *file = archive->number;
    *offset = archive->written + archive->buffered;
    error = append(archive, packed);
    if (!error)
        archive->has_records = true;
    return error;
}

archive_place archive_end(const archive *archive)
{
    return (archive_place){archive->number, archive->written + archive->buffered};
}

int archive_mark(archive *archive, uint64_t *mark)
{
    unsigned char last[ARCHIVE_MARKED];
    int error = flush(archive);

    if (error)
        return error;
    size_t n = archive->written < ARCHIVE_MARKED ? (size_t)archive->written : ARCHIVE_MARKED;
    ssize_t got = file_read_at(archive->file, last, n, archive->written - n);
    *mark = output_checksum(0, last, got > 0 ? (size_t)got : 0);
    return got == (ssize_t)n ? VIDI_OK : archive_fail(archive, "read", archive->number);
}

const char *archive_error(const archive *archive)
{
    return archive->error;
}
