/*
 * Writes ZIP files: see zip_writer.h. Section numbers are APPNOTE's.
 */
#include "crawler/export/zip_writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "common/files.h"
#include "crawler/base/bytes.h"

enum {
    BUFFER = 256 << 10,
    STORED = 0,
    PLAIN_VERSION = 10, /* needed to extract: 1.0 */
    ZIP64_VERSION = 45,
    ZIP64_FIELD = 1,  /* its id among the extra fields */
    FULL_16 = 0xFFFF, /* the number is in a ZIP64 field */
    MADE_BY_UNIX = 3 << 8 | ZIP64_VERSION
};
#define FULL_32 UINT32_C(0xFFFFFFFF)
#define MODE (UINT32_C(0100600) << 16) /* a regular file for its owner, as Unix keeps it */

struct zip_writer {
    int fd;
    uint16_t time, day; /* of all entries, as MS-DOS counts */
    uint64_t length;    /* of the file, with what is buffered */
    uint64_t count;     /* entries that are complete */
    bytes central;      /* their part of the central directory */
    bytes record;       /* the header that is being made */
    /* The entry that is being written. */
    char *name;
    uint64_t header, size;
    uint32_t checksum;
    bool large; /* its local header has a ZIP64 field */
    size_t buffered;
    char buffer[BUFFER];
};

/* ---- numbers ---- */

static void put_number(bytes *to, uint64_t value, size_t n)
{
    char little[8];

    for (size_t i = 0; i < n; i++)
        little[i] = (char)(value >> 8 * i);
    bytes_append(to, little, n);
}

static void put_16(bytes *to, unsigned value)
{
    put_number(to, value, 2);
}

static void put_32(bytes *to, uint64_t value)
{
    put_number(to, value < FULL_32 ? value : FULL_32, 4);
}

static void put_64(bytes *to, uint64_t value)
{
    put_number(to, value, 8);
}

/* ---- the file ---- */

static int failed(void)
{
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? VIDI_ELIMIT : VIDI_EIO;
}

static int flush(zip_writer *zip)
{
    size_t n = zip->buffered;

    zip->buffered = 0;
    return file_write(zip->fd, zip->buffer, n) == n ? VIDI_OK : failed();
}

static int write_bytes(zip_writer *zip, const char *data, size_t n)
{
    int error = VIDI_OK;

    zip->length += n;
    while (n > 0 && !error) {
        size_t some = n < BUFFER - zip->buffered ? n : BUFFER - zip->buffered;
        memcpy(zip->buffer + zip->buffered, data, some);
        zip->buffered += some;
        data += some;
        n -= some;
        if (zip->buffered == BUFFER)
            error = flush(zip);
    }
    return error;
}

/* ---- entries ---- */

/* 4.3.7; sizes of a large entry are in its ZIP64 field, which must have both. */
static int make_local_header(zip_writer *zip)
{
    bytes *to = &zip->record;
    size_t length = strlen(zip->name);

    to->len = 0;
    to->failed = false;
    put_32(to, 0x04034b50);
    put_16(to, zip->large ? ZIP64_VERSION : PLAIN_VERSION);
    put_16(to, 0);
    put_16(to, STORED);
    put_16(to, zip->time);
    put_16(to, zip->day);
    put_32(to, zip->checksum);
    put_32(to, zip->large ? FULL_32 : zip->size);
    put_32(to, zip->large ? FULL_32 : zip->size);
    put_16(to, (unsigned)length);
    put_16(to, zip->large ? 20 : 0);
    bytes_append(to, zip->name, length);
    if (zip->large) {
        put_16(to, ZIP64_FIELD);
        put_16(to, 16);
        put_64(to, zip->size);
        put_64(to, zip->size);
    }
    return to->failed ? VIDI_EMEMORY : VIDI_OK;
}

/*
 * 4.3.12; the ZIP64 field has the numbers that do not fit, and only those. An entry whose local header has such a field
 * has it here, too: there are readers that look for the data right after the name if there is none here.
 */
static int add_central_header(zip_writer *zip)
{
    bytes *to = &zip->central;
    size_t length = strlen(zip->name);
    bool large_size = zip->large, large_offset = zip->header >= FULL_32;
    unsigned extra = (large_size ? 16U : 0U) + (large_offset ? 8U : 0U);

    put_32(to, 0x02014b50);
    put_16(to, MADE_BY_UNIX);
    put_16(to, extra ? ZIP64_VERSION : PLAIN_VERSION);
    put_16(to, 0);
    put_16(to, STORED);
    put_16(to, zip->time);
    put_16(to, zip->day);
    put_32(to, zip->checksum);
    put_32(to, large_size ? FULL_32 : zip->size);
    put_32(to, large_size ? FULL_32 : zip->size);
    put_16(to, (unsigned)length);
    put_16(to, extra ? extra + 4 : 0);
    put_16(to, 0); /* comment */
    put_16(to, 0); /* disk */
    put_16(to, 0); /* internal attributes */
    put_number(to, MODE, 4);
    put_32(to, zip->header);
    bytes_append(to, zip->name, length);
    if (extra) {
        put_16(to, ZIP64_FIELD);
        put_16(to, extra);
    }
    if (large_size) {
        put_64(to, zip->size);
        put_64(to, zip->size);
    }
    if (large_offset)
        put_64(to, zip->header);
    return to->failed ? VIDI_EMEMORY : VIDI_OK;
}

int zip_begin(zip_writer *zip, const char *name, uint64_t most)
{
    free(zip->name);
    zip->name = strdup(name);
    if (!zip->name)
        return VIDI_EMEMORY;
    zip->large = most >= FULL_32;
    zip->header = zip->length;
    zip->checksum = 0;
    zip->size = 0;
    int error = make_local_header(zip);
    return error ? error : write_bytes(zip, zip->record.ptr, zip->record.len);
}

int zip_put(zip_writer *zip, const void *data, size_t n)
{
    zip->checksum = (uint32_t)crc32_z(zip->checksum, data, n);
    zip->size += n;
    return write_bytes(zip, data, n);
}

int zip_end(zip_writer *zip)
{
    if (zip->size >= FULL_32 && !zip->large)
        return VIDI_EARGUMENT;
    int error = flush(zip);
    if (!error)
        error = make_local_header(zip);
    if (!error && TEMP_FAILURE_RETRY(pwrite(zip->fd, zip->record.ptr, zip->record.len, (off_t)zip->header)) !=
                      (ssize_t)zip->record.len)
        error = failed();
    zip->count++;
    return error ? error : add_central_header(zip);
}

/* ---- the end ---- */

/* 4.3.14 to 4.3.16. */
static int make_end(zip_writer *zip, uint64_t from)
{
    bytes *to = &zip->record;
    uint64_t size = zip->central.len, end = from + size;
    unsigned short_count = zip->count < FULL_16 ? (unsigned)zip->count : FULL_16;

    to->len = 0;
    to->failed = false;
    if (zip->count >= FULL_16 || size >= FULL_32 || from >= FULL_32) {
        put_32(to, 0x06064b50);
        put_64(to, 44); /* bytes of this record after this number */
        put_16(to, MADE_BY_UNIX);
        put_16(to, ZIP64_VERSION);
        put_32(to, 0);
        put_32(to, 0);
        put_64(to, zip->count);
        put_64(to, zip->count);
        put_64(to, size);
        put_64(to, from);
        put_32(to, 0x07064b50); /* where that record is */
        put_32(to, 0);
        put_64(to, end);
        put_32(to, 1);
    }
    put_32(to, 0x06054b50);
    put_16(to, 0);
    put_16(to, 0);
    put_16(to, short_count);
    put_16(to, short_count);
    put_32(to, size);
    put_32(to, from);
    put_16(to, 0);
    return to->failed ? VIDI_EMEMORY : VIDI_OK;
}

int zip_finish(zip_writer *zip)
{
    uint64_t from = zip->length;
    int error = write_bytes(zip, zip->central.ptr, zip->central.len);

    if (!error)
        error = make_end(zip, from);
    if (!error)
        error = write_bytes(zip, zip->record.ptr, zip->record.len);
    return error ? error : flush(zip);
}

/* ---- opening ---- */

/* MS-DOS counts years from 1980 and seconds in steps of two. */
static void set_date(zip_writer *zip, int64_t date)
{
    time_t seconds = (time_t)date;
    struct tm utc = {.tm_year = 80, .tm_mday = 1};

    gmtime_r(&seconds, &utc);
    int year = utc.tm_year < 80 ? 0 : utc.tm_year > 80 + 127 ? 127 : utc.tm_year - 80;
    zip->day = (uint16_t)(year << 9 | (utc.tm_mon + 1) << 5 | utc.tm_mday);
    zip->time = (uint16_t)(utc.tm_hour << 11 | utc.tm_min << 5 | utc.tm_sec / 2);
}

int zip_open(zip_writer **made, int fd, int64_t date)
{
    zip_writer *zip = *made = malloc(sizeof *zip);

    if (!zip)
        return VIDI_EMEMORY;
    memset(zip, 0, offsetof(zip_writer, buffer));
    zip->fd = fd;
    off_t at = lseek(fd, 0, SEEK_CUR);
    zip->length = at > 0 ? (uint64_t)at : 0;
    set_date(zip, date);
    return VIDI_OK;
}

void zip_close(zip_writer *zip)
{
    if (!zip)
        return;
    bytes_free(&zip->central);
    bytes_free(&zip->record);
    free(zip->name);
    free(zip);
}
