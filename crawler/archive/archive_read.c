/*
 * Reads an archive record by record, to check it: see archive.h.
 *
 * Nearly every flipped bit is found: zlib compares the checksum of each gzip member, and head, block length and block
 * digest of a record must be exactly what the writer makes. The exception is padding in the last byte of the packed
 * data, which carries nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/files.h"
#include "crawler/archive/archive_files.h"
#include "crawler/archive/warc_digest.h"
#include "crawler/archive/warc_record.h"

enum { INPUT = 64 << 10, GZIP_WINDOW = 15 + 16, GZIP_HEAD = 10 };

struct archive_reader {
    int folder, file; /* descriptors; -1: closed */
    archive_place end;
    uint32_t number; /* of the file that is read, or comes next */
    uint64_t offset; /* of the next record in it */
    uint64_t taken;  /* bytes of the file that are in `input` or were */
    z_stream zip;
    EVP_MD_CTX *digest;
    bytes plain;
    char error[ARCHIVE_ERROR];
    unsigned char input[INPUT];
};

/* ---- bytes ---- */

static int damaged(archive_reader *of, const char *what)
{
    char name[ARCHIVE_NAME_ROOM];

    snprintf(of->error, sizeof of->error, "%s: the record at byte %" PRIu64 " %.100s", archive_name(of->number, name),
             of->offset, what);
    return VIDI_EDAMAGED;
}

static int failed(archive_reader *of, const char *verb)
{
    char name[ARCHIVE_NAME_ROOM];

    snprintf(of->error, sizeof of->error, "cannot %s %s: %s", verb, archive_name(of->number, name), strerror(errno));
    return errno == ENOENT ? VIDI_EDAMAGED : VIDI_EIO;
}

/* Reads more input; of the last file, no more than was committed. 1, 0 at the end, or an error. */
static int fill(archive_reader *of)
{
    uint64_t left = of->number == of->end.file ? of->end.length - of->taken : INPUT;
    ssize_t got = file_read_at(of->file, of->input, left < INPUT ? (size_t)left : INPUT, of->taken);

    if (got < 0)
        return failed(of, "read");
    of->taken += (uint64_t)got;
    of->zip.next_in = of->input;
    of->zip.avail_in = (unsigned)got;
    return got > 0;
}

/* Is this the head that the writer gives each member, without name or date? */
static bool begins_well(const unsigned char *head)
{
    static const unsigned char expected[GZIP_HEAD] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 4, 255};

    return memcmp(head, expected, GZIP_HEAD) == 0;
}

static int inflate_some(archive_reader *of, int *result)
{
    int error = bytes_reserve(&of->plain, of->plain.len + INPUT);

    if (error)
        return error;
    of->zip.next_out = (unsigned char *)of->plain.ptr + of->plain.len;
    of->zip.avail_out = INPUT;
    *result = inflate(&of->zip, Z_NO_FLUSH);
    of->plain.len += INPUT - of->zip.avail_out;
    return *result == Z_MEM_ERROR ? VIDI_EMEMORY : VIDI_OK;
}

/* Unpacks the next member. 1, 0 at the end of the file, or an error. */
static int unpack(archive_reader *of)
{
    unsigned char head[GZIP_HEAD];
    int result = Z_OK, more = of->zip.avail_in ? 1 : fill(of);

    if (more <= 0)
        return more;
    of->plain.len = 0;
    if (inflateReset(&of->zip) != Z_OK)
        return VIDI_EMEMORY;
    if (file_read_at(of->file, head, sizeof head, of->offset) != (ssize_t)sizeof head || !begins_well(head))
        return damaged(of, "does not begin like one");
    while (result == Z_OK || result == Z_BUF_ERROR) {
        if (of->zip.avail_in == 0 && (more = fill(of)) <= 0)
            return more < 0 ? more : damaged(of, "is not complete");
        int error = inflate_some(of, &result);
        if (error)
            return error;
    }
    return result == Z_STREAM_END ? 1 : damaged(of, "cannot be unpacked");
}

/* ---- records ---- */

/* The value of a field in the head of a record; empty: it has none. */
static vidi_str field(vidi_str head, const char *name)
{
    size_t length = strlen(name);
    const char *at = head.ptr, *end = head.ptr + head.len;

    while (at < end) {
        const char *line_end = memmem(at, (size_t)(end - at), "\r\n", 2);
        line_end = line_end ? line_end : end;
        if ((size_t)(line_end - at) > length + 2 && memcmp(at, name, length) == 0 && memcmp(at + length, ": ", 2) == 0)
            return (vidi_str){at + length + 2, (size_t)(line_end - at) - length - 2};
        at = line_end + 2;
    }
    return (vidi_str){"", 0};
}

static bool is_text(vidi_str value, const char *text)
{
    return value.len == strlen(text) && memcmp(value.ptr, text, value.len) == 0;
}

static int parse(archive_reader *of, archive_record *record)
{
    static const char first[] = "WARC/1.1\r\n", last[] = "\r\n\r\n";
    const char *all = of->plain.ptr, *end = memmem(all, of->plain.len, last, 4);
    char digest[WARC_DIGEST_ROOM], length[24];

    if (!end || memcmp(all, first, strlen(first)) != 0)
        return damaged(of, "has no head");
    vidi_str head = {all, (size_t)(end - all)}, block = {end + 4, of->plain.len - (size_t)(end - all) - 4};
    if (block.len < 4 || memcmp(block.ptr + block.len - 4, last, 4) != 0)
        return damaged(of, "has no end");
    block.len -= 4;
    snprintf(length, sizeof length, "%zu", block.len);
    if (!is_text(field(head, "Content-Length"), length))
        return damaged(of, "does not have the length that it says");
    int error = warc_digest(of->digest, &block, 1, digest);
    if (error)
        return error;
    if (!is_text(field(head, "WARC-Block-Digest"), digest))
        return damaged(of, "does not have the digest that it says");
    *record = (archive_record){.file = of->number,
                               .offset = of->offset,
                               .length = of->taken - of->zip.avail_in - of->offset,
                               .type = field(head, "WARC-Type"),
                               .url = field(head, "WARC-Target-URI"),
                               .digest = field(head, "WARC-Payload-Digest")};
    return 1;
}

/* ---- files ---- */

static void close_file(archive_reader *of)
{
    if (of->file >= 0)
        close(of->file);
    of->file = -1;
}

static int open_file(archive_reader *of)
{
    char name[ARCHIVE_NAME_ROOM];

    of->file = (int)TEMP_FAILURE_RETRY(
        openat(of->folder, archive_name(of->number, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    of->offset = of->taken = 0;
    of->zip.avail_in = 0;
    return of->file < 0 ? failed(of, "open") : VIDI_OK;
}

static int next_here(archive_reader *of, archive_record *record)
{
    int result = unpack(of);

    if (result == 1)
        result = parse(of, record);
    if (result == 1)
        of->offset += record->length;
    else if (result == 0 && of->number == of->end.file && of->offset < of->end.length)
        result = damaged(of, "is missing");
    return result;
}

int archive_reader_next(archive_reader *of, archive_record *record)
{
    int result = 0;

    while (result == 0 && of->number <= of->end.file) {
        if (of->end.file == 0 && of->end.length == 0)
            return 0;
        if (of->file < 0)
            result = open_file(of);
        if (result == VIDI_OK)
            result = next_here(of, record);
        if (result != 1) { /* after damage, the rest of the file cannot be read */
            close_file(of);
            of->number++;
        }
    }
    return result;
}

int archive_reader_open(archive_reader **made, const char *folder, archive_place end)
{
    archive_reader *of = calloc(1, sizeof *of);

    *made = of;
    if (!of)
        return VIDI_EMEMORY;
    of->end = end;
    of->file = -1;
    of->folder = (int)TEMP_FAILURE_RETRY(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    of->digest = EVP_MD_CTX_new();
    if (of->digest && inflateInit2(&of->zip, GZIP_WINDOW) == Z_OK)
        return VIDI_OK;
    EVP_MD_CTX_free(of->digest);
    if (of->folder >= 0)
        close(of->folder);
    free(of);
    *made = NULL;
    return VIDI_EMEMORY;
}

void archive_reader_close(archive_reader *of)
{
    if (!of)
        return;
    close_file(of);
    if (of->folder >= 0)
        close(of->folder);
    inflateEnd(&of->zip);
    EVP_MD_CTX_free(of->digest);
    bytes_free(&of->plain);
    free(of);
}

const char *archive_reader_error(const archive_reader *of)
{
    return of->error;
}
