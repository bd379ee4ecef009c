/*
 * A reader of WARC files that shares no code with the writer: zlib unpacks, libcrypto hashes, and the rest is here. It
 * accepts less than the standard allows, so that a record which is merely odd fails as well.
 */
#ifndef TESTS_CRAWLER_ARCHIVE_WARC_READER_H
#define TESTS_CRAWLER_ARCHIVE_WARC_READER_H

#include <openssl/sha.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct warc_field {
    char name[40], value[4000];
} warc_field;

/* A record; pointers are good until the visitor returns. */
typedef struct warc_seen {
    uint64_t offset, length; /* of its gzip member */
    warc_field fields[16];
    size_t field_count;
    const unsigned char *block;
    size_t block_length;
    const unsigned char *payload; /* behind the head of HTTP; NULL: the record has none */
    size_t payload_length;
} warc_seen;

typedef void warc_visit(void *context, const warc_seen *record);

static inline const char *warc_value(const warc_seen *record, const char *name)
{
    for (size_t i = 0; i < record->field_count; i++)
        if (strcmp(record->fields[i].name, name) == 0)
            return record->fields[i].value;
    return "";
}

static inline bool warc_is(const warc_seen *record, const char *name, const char *value)
{
    return strcmp(warc_value(record, name), value) == 0;
}

/* "sha1:" and base32, five bits at a time. */
static inline void warc_sha1(const unsigned char *data, size_t n, char to[38])
{
    unsigned char hash[SHA_DIGEST_LENGTH];

    SHA1(data, n, hash);
    strcpy(to, "sha1:");
    for (size_t bit = 0; bit < 160; bit += 5) {
        unsigned value = 0;
        for (size_t i = bit; i < bit + 5; i++)
            value = value << 1 | ((unsigned)hash[i / 8] >> (7 - i % 8) & 1);
        to[5 + bit / 5] = (char)(value < 26 ? 'A' + value : '2' + (value - 26));
    }
    to[37] = 0;
}

/* Unpacks exactly one gzip member. Returns the bytes, which the caller frees, or NULL. */
static inline unsigned char *warc_member(const unsigned char *data, size_t n, size_t *used, size_t *length)
{
    size_t room = 1 << 16;
    unsigned char *plain = malloc(room);
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)data, .avail_in = (uInt)n};
    int result = inflateInit2(&stream, 16 + MAX_WBITS);

    while (result == Z_OK && plain) {
        stream.next_out = plain + stream.total_out;
        stream.avail_out = (uInt)(room - stream.total_out);
        result = inflate(&stream, Z_NO_FLUSH);
        if (result == Z_OK && stream.avail_out == 0)
            plain = realloc(plain, room *= 2);
        else if (result == Z_OK && stream.avail_in == 0)
            result = Z_BUF_ERROR;
    }
    *used = stream.total_in;
    *length = stream.total_out;
    inflateEnd(&stream);
    if (result == Z_STREAM_END)
        return plain;
    free(plain);
    return NULL;
}

/* One line "Name: value", without control characters. */
static inline const char *warc_field_read(warc_seen *record, const unsigned char *line, const unsigned char *end)
{
    const unsigned char *colon = memchr(line, ':', (size_t)(end - line));
    warc_field *field = &record->fields[record->field_count];

    if (!colon || colon == line || end - colon < 3 || colon[1] != ' ')
        return "a line is not a field";
    if (record->field_count == sizeof record->fields / sizeof record->fields[0])
        return "too many fields";
    if (colon - line >= (ptrdiff_t)sizeof field->name || end - colon - 2 >= (ptrdiff_t)sizeof field->value)
        return "a field is too long for this reader";
    for (const unsigned char *c = line; c < end; c++)
        if (*c < 0x20 || *c > 0x7E)
            return "a field has a byte that it cannot have";
    snprintf(field->name, sizeof field->name, "%.*s", (int)(colon - line), (const char *)line);
    snprintf(field->value, sizeof field->value, "%.*s", (int)(end - colon - 2), (const char *)colon + 2);
    if (*warc_value(record, field->name))
        return "a field comes twice";
    record->field_count++;
    return NULL;
}

static inline const char *warc_fields(warc_seen *record, const unsigned char *plain, size_t n, size_t *head)
{
    size_t at = strlen("WARC/1.1\r\n");

    if (n < at || memcmp(plain, "WARC/1.1\r\n", at) != 0)
        return "it does not begin with WARC/1.1";
    for (;;) {
        const unsigned char *end = memmem(plain + at, n - at, "\r\n", 2);
        if (!end)
            return "the head does not end";
        if (end == plain + at)
            break;
        const char *why = warc_field_read(record, plain + at, end);
        if (why)
            return why;
        at = (size_t)(end - plain) + 2;
    }
    *head = at + 2;
    return NULL;
}

static inline bool warc_is_date(const char *date)
{
    static const char form[] = "0000-00-00T00:00:00.000Z";

    for (size_t i = 0; i < sizeof form; i++)
        if (form[i] == '0' ? date[i] < '0' || date[i] > '9' : date[i] != form[i])
            return false;
    return true;
}

static inline bool warc_is_id(const char *id)
{
    static const char form[] = "<urn:uuid:xxxxxxxx-xxxx-4xxx-Yxxx-xxxxxxxxxxxx>";

    for (size_t i = 0; i < sizeof form; i++) {
        const char *digits = form[i] == 'x' && i > 9 ? "0123456789abcdef" : form[i] == 'Y' ? "89ab" : NULL;
        if (digits ? !id[i] || !strchr(digits, id[i]) : id[i] != form[i])
            return false;
    }
    return true;
}

/* A revisit record says where the payload is, and has none. */
static inline const char *warc_check_revisit(const warc_seen *record)
{
    static const char *const fields[] = {"WARC-Profile", "WARC-Target-URI", "WARC-Payload-Digest",
                                         "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date"};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (*warc_value(record, fields[i]) == 0)
            return "a revisit lacks a field";
    if (!warc_is_id(warc_value(record, "WARC-Refers-To")))
        return "a revisit does not name a record";
    const unsigned char *end = memmem(record->block, record->block_length, "\r\n\r\n", 4);
    return record->block_length == 0 || (end && end + 4 == record->block + record->block_length)
               ? NULL
               : "a revisit has more than a head";
}

static inline const char *warc_check_fields(const warc_seen *record, bool is_first)
{
    if (!warc_is_id(warc_value(record, "WARC-Record-ID")))
        return "the id is not a random UUID";
    if (!warc_is_date(warc_value(record, "WARC-Date")))
        return "the date is not one";
    if (warc_is(record, "WARC-Type", "warcinfo") != is_first)
        return "warcinfo is the first record, and only the first";
    if (is_first)
        return warc_is(record, "Content-Type", "application/warc-fields") ? NULL : "the type of warcinfo is wrong";
    if (warc_is(record, "WARC-Type", "request"))
        return !warc_is(record, "Content-Type", "application/http;msgtype=request") ? "the type of a request is wrong"
               : !warc_is_id(warc_value(record, "WARC-Concurrent-To"))              ? "a request has no response"
                                                                                    : NULL;
    if (warc_is(record, "WARC-Type", "revisit"))
        return warc_check_revisit(record);
    return !warc_is(record, "WARC-Type", "response")                               ? "the record's type is unknown"
           : !warc_is(record, "Content-Type", "application/http;msgtype=response") ? "the type of a response is wrong"
           : *warc_value(record, "WARC-Target-URI") == 0                           ? "a response has no URL"
                                                                                   : NULL;
}

static inline const char *warc_check_digests(warc_seen *record)
{
    char digest[38];

    warc_sha1(record->block, record->block_length, digest);
    if (!warc_is(record, "WARC-Block-Digest", digest))
        return "the digest of the block is wrong";
    if (!warc_is(record, "WARC-Type", "response"))
        return NULL;
    const unsigned char *end = memmem(record->block, record->block_length, "\r\n\r\n", 4);
    if (!end)
        return "the response has no head";
    record->payload = end + 4;
    record->payload_length = record->block_length - (size_t)(end + 4 - record->block);
    warc_sha1(record->payload, record->payload_length, digest);
    if (*warc_value(record, "WARC-Payload-Digest") && !warc_is(record, "WARC-Payload-Digest", digest))
        return "the digest of the payload is wrong";
    return NULL;
}

static inline const char *warc_parse(warc_seen *record, const unsigned char *plain, size_t n, bool is_first)
{
    size_t head;
    const char *why = warc_fields(record, plain, n, &head);
    char length[24];

    if (why)
        return why;
    if (n < head + 4 || memcmp(plain + n - 4, "\r\n\r\n", 4) != 0)
        return "two empty lines do not end it";
    record->block = plain + head;
    record->block_length = n - head - 4;
    snprintf(length, sizeof length, "%zu", record->block_length);
    if (!warc_is(record, "Content-Length", length))
        return "Content-Length is wrong";
    why = warc_check_fields(record, is_first);
    return why ? why : warc_check_digests(record);
}

/* Reads a whole file. NULL, or a sentence about the first thing that is wrong; *at tells where. */
static inline const char *warc_read(const unsigned char *data, size_t n, warc_visit *visit, void *context, uint64_t *at)
{
    for (*at = 0; *at < n;) {
        size_t used, length;
        unsigned char *plain = warc_member(data + *at, n - *at, &used, &length);
        warc_seen *record = calloc(1, sizeof *record);
        const char *why = plain && record ? warc_parse(record, plain, length, *at == 0) : "it is not a gzip member";

        if (!why) {
            record->offset = *at;
            record->length = used;
            if (visit)
                visit(context, record);
            *at += used;
        }
        free(record);
        free(plain);
        if (why)
            return why;
    }
    return n == 0 ? "the file is empty" : NULL;
}

#endif
