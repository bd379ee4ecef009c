/*
 * Reads an archive, record by record or one at a place: see archive.h.
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

#include "common/inflate.h"
#include "common/files.h"
#include "crawler/archive/archive_files.h"
#include "crawler/archive/warc_digest.h"
#include "crawler/archive/warc_record.h"

enum { INPUT = 64 << 10, GZIP_HEAD = 10 };

struct archive_reader {
    int folder, file; /* descriptors; -1: closed */
    archive_place end;
    uint32_t number; /* of the file that is read, or comes next */
    uint64_t offset; /* of the next record in it */
    uint64_t taken;  /* bytes of the file that are in `input` or were */
    inflater *inflater;
    inflate_window window;
    EVP_MD_CTX *digest;
    bytes plain;
    char error[ARCHIVE_ERROR];
    unsigned char input[INPUT];
};

/* ---- bytes ---- */

static int damaged(archive_reader *reader, const char *what)
{
    char name[ARCHIVE_NAME_ROOM];

    snprintf(reader->error, sizeof reader->error, "%s: the record at byte %" PRIu64 " %.100s",
             archive_name(reader->number, name), reader->offset, what);
    return VIDI_EDAMAGED;
}

static int failed(archive_reader *reader, const char *verb)
{
    char name[ARCHIVE_NAME_ROOM];

    snprintf(reader->error, sizeof reader->error, "cannot %s %s: %s", verb, archive_name(reader->number, name),
             strerror(errno));
    return errno == ENOENT ? VIDI_EDAMAGED : VIDI_EIO;
}

/* Reads more input; of the last file, no more than was committed. 1, 0 at the end, or an error. */
static int fill(archive_reader *reader)
{
    uint64_t left = reader->number == reader->end.file ? reader->end.length - reader->taken : INPUT;
    ssize_t got = file_read_at(reader->file, reader->input, left < INPUT ? (size_t)left : INPUT, reader->taken);

    if (got < 0)
        return failed(reader, "read");
    reader->taken += (uint64_t)got;
    reader->window.from = (const char *)reader->input;
    reader->window.from_left = (size_t)got;
    return got > 0;
}

/* True if this is the head that the writer gives each gzip member: it has neither name nor date. */
static bool begins_well(const unsigned char *head)
{
    static const unsigned char expected[GZIP_HEAD] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 4, 255};

    return memcmp(head, expected, GZIP_HEAD) == 0;
}

static int inflate_some(archive_reader *reader, inflate_result *result)
{
    int error = bytes_reserve(&reader->plain, reader->plain.len + INPUT);

    if (error)
        return error;
    reader->window.to = reader->plain.ptr + reader->plain.len;
    reader->window.to_left = INPUT;
    *result = inflater_step(reader->inflater, &reader->window);
    reader->plain.len += INPUT - reader->window.to_left;
    return *result == INFLATE_NO_MEMORY ? VIDI_EMEMORY : VIDI_OK;
}

/* Unpacks the next member. 1, 0 at the end of the file, or an error. */
static int unpack(archive_reader *reader)
{
    unsigned char head[GZIP_HEAD];
    inflate_result result = INFLATE_GOES_ON;
    int more = reader->window.from_left ? 1 : fill(reader);

    if (more <= 0)
        return more;
    reader->plain.len = 0;
    inflater_reset(reader->inflater);
    if (file_read_at(reader->file, head, sizeof head, reader->offset) != (ssize_t)sizeof head || !begins_well(head))
        return damaged(reader, "does not begin like one");
    while (result == INFLATE_GOES_ON || result == INFLATE_WAITS) {
        if (reader->window.from_left == 0 && (more = fill(reader)) <= 0)
            return more < 0 ? more : damaged(reader, "is not complete");
        int error = inflate_some(reader, &result);
        if (error)
            return error;
    }
    return result == INFLATE_ENDS ? 1 : damaged(reader, "cannot be unpacked");
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

static int parse(archive_reader *reader, archive_record *record)
{
    static const char first[] = "WARC/1.1\r\n", last[] = "\r\n\r\n";
    const char *all = reader->plain.ptr, *end = memmem(all, reader->plain.len, last, 4);
    char digest[WARC_DIGEST_ROOM], length[24];

    if (!end || memcmp(all, first, strlen(first)) != 0)
        return damaged(reader, "has no head");
    vidi_str head = {all, (size_t)(end - all)}, block = {end + 4, reader->plain.len - (size_t)(end - all) - 4};
    if (block.len < 4 || memcmp(block.ptr + block.len - 4, last, 4) != 0)
        return damaged(reader, "has no end");
    block.len -= 4;
    snprintf(length, sizeof length, "%zu", block.len);
    if (!is_text(field(head, "Content-Length"), length))
        return damaged(reader, "does not have the length that it says");
    int error = warc_digest(reader->digest, &block, 1, digest);
    if (error)
        return error;
    if (!is_text(field(head, "WARC-Block-Digest"), digest))
        return damaged(reader, "does not have the digest that it says");
    *record = (archive_record){.file = reader->number,
                               .offset = reader->offset,
                               .length = reader->taken - reader->window.from_left - reader->offset,
                               .type = field(head, "WARC-Type"),
                               .id = field(head, "WARC-Record-ID"),
                               .date = field(head, "WARC-Date"),
                               .url = field(head, "WARC-Target-URI"),
                               .digest = field(head, "WARC-Payload-Digest"),
                               .refers_to = field(head, "WARC-Refers-To"),
                               .head = block};
    const char *head_end = is_text(record->type, "response") ? memmem(block.ptr, block.len, last, 4) : NULL;
    if (head_end) {
        record->head.len = (size_t)(head_end - block.ptr) + 4;
        record->body = (vidi_str){head_end + 4, block.len - record->head.len};
    }
    return 1;
}

/* ---- files ---- */

static void close_file(archive_reader *reader)
{
    if (reader->file >= 0)
        close(reader->file);
    reader->file = -1;
}

static int open_file(archive_reader *reader)
{
    char name[ARCHIVE_NAME_ROOM];

    reader->file = (int)TEMP_FAILURE_RETRY(
        openat(reader->folder, archive_name(reader->number, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    reader->offset = reader->taken = 0;
    reader->window.from_left = 0;
    return reader->file < 0 ? failed(reader, "open") : VIDI_OK;
}

static int next_here(archive_reader *reader, archive_record *record)
{
    int result = unpack(reader);

    if (result == 1)
        result = parse(reader, record);
    if (result == 1)
        reader->offset += record->length;
    else if (result == 0 && reader->number == reader->end.file && reader->offset < reader->end.length)
        result = damaged(reader, "is missing");
    return result;
}

int archive_reader_next(archive_reader *reader, archive_record *record)
{
    int result = 0;

    while (result == 0 && reader->number <= reader->end.file) {
        if (reader->end.file == 0 && reader->end.length == 0)
            return 0;
        if (reader->file < 0)
            result = open_file(reader);
        if (result == VIDI_OK)
            result = next_here(reader, record);
        if (result != 1) { /* after damage, the rest of the file cannot be read */
            close_file(reader);
            reader->number++;
        }
    }
    return result;
}

int archive_reader_at(archive_reader *reader, uint32_t file, uint64_t offset, archive_record *record)
{
    int result = VIDI_OK;

    if (reader->file < 0 || reader->number != file) {
        close_file(reader);
        reader->number = file;
        result = open_file(reader);
    }
    reader->offset = reader->taken = offset;
    reader->window.from_left = 0;
    if (result == VIDI_OK && (file > reader->end.file || (file == reader->end.file && offset >= reader->end.length)))
        return damaged(reader, "is missing");
    if (result == VIDI_OK)
        result = next_here(reader, record);
    return result == 0 ? damaged(reader, "is missing") : result;
}

int archive_reader_open(archive_reader **made, const char *folder, archive_place end)
{
    archive_reader *reader = calloc(1, sizeof *reader);

    *made = reader;
    if (!reader)
        return VIDI_EMEMORY;
    reader->end = end;
    reader->file = -1;
    reader->folder = (int)TEMP_FAILURE_RETRY(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    reader->digest = EVP_MD_CTX_new();
    reader->inflater = inflater_open(INFLATE_GZIP);
    if (reader->digest && reader->inflater)
        return VIDI_OK;
    archive_reader_close(reader);
    *made = NULL;
    return VIDI_EMEMORY;
}

void archive_reader_close(archive_reader *reader)
{
    if (!reader)
        return;
    close_file(reader);
    if (reader->folder >= 0)
        close(reader->folder);
    inflater_close(reader->inflater);
    EVP_MD_CTX_free(reader->digest);
    bytes_free(&reader->plain);
    free(reader);
}

const char *archive_reader_error(const archive_reader *reader)
{
    return reader->error;
}
