/*
 * Records of a WARC file: see warc_record.h.
 *
 *   WARC/1.1 CRLF, fields, CRLF, block, CRLF CRLF     packed by libdeflate at level 1, a gzip member per record
 *
 * A record is put together in the packer's memory, because libdeflate packs a whole buffer at a time, which makes it
 * faster than zlib. Memory beyond KEEP is freed after a large record.
 */
#include "crawler/archive/warc_record.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "crawler/archive/warc_digest.h"

enum { LEVEL = 1, KEEP = 1 << 20, RANDOM_BYTES = 256 * ARCHIVE_ID };

struct archive_packer {
    struct libdeflate_compressor *compressor;
    EVP_MD_CTX *digest;
    bytes plain, packed;
    int error; /* the first one while a record is put together */
    size_t random_left;
    unsigned char random[RANDOM_BYTES];
};

archive_packer *archive_packer_open(void)
{
    archive_packer *packer = calloc(1, sizeof *packer);

    if (!packer)
        return NULL;
    packer->compressor = libdeflate_alloc_compressor(LEVEL);
    packer->digest = EVP_MD_CTX_new();
    if (!packer->compressor || !packer->digest) {
        archive_packer_close(packer);
        return NULL;
    }
    return packer;
}

void archive_packer_close(archive_packer *packer)
{
    if (!packer)
        return;
    if (packer->compressor)
        libdeflate_free_compressor(packer->compressor);
    EVP_MD_CTX_free(packer->digest);
    bytes_free(&packer->plain);
    bytes_free(&packer->packed);
    free(packer);
}

/* ---- ids ---- */

static int fill_random(archive_packer *packer)
{
    for (size_t have = 0; have < RANDOM_BYTES;) {
        ssize_t n = getrandom(packer->random + have, RANDOM_BYTES - have, 0);
        if (n < 0 && errno != EINTR)
            return VIDI_ESYSTEM;
        have += n > 0 ? (size_t)n : 0;
    }
    packer->random_left = RANDOM_BYTES;
    return VIDI_OK;
}

int archive_id(archive_packer *packer, unsigned char id[ARCHIVE_ID])
{
    if (packer->random_left == 0 && fill_random(packer))
        return VIDI_ESYSTEM;
    packer->random_left -= ARCHIVE_ID;
    memcpy(id, packer->random + packer->random_left, ARCHIVE_ID);
    id[6] = (unsigned char)((id[6] & 0x0F) | 0x40); /* version 4: random */
    id[8] = (unsigned char)((id[8] & 0x3F) | 0x80);
    return VIDI_OK;
}

void archive_id_text(const unsigned char id[ARCHIVE_ID], char to[ARCHIVE_ID_ROOM])
{
    static const char digits[] = "0123456789abcdef", head[] = "<urn:uuid:";

    memcpy(to, head, sizeof head);
    to += sizeof head - 1;
    for (size_t i = 0; i < ARCHIVE_ID; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = digits[id[i] >> 4];
        *to++ = digits[id[i] & 15];
    }
    memcpy(to, ">", 2);
}

/* ---- URLs ---- */

static bool is_plain(char c)
{
    return c > ' ' && c < 0x7F;
}

/* A URL from a page cannot add fields to a record. */
int archive_url(vidi_str url, bytes *to)
{
    return bytes_append_percent(to, url.ptr, url.len, is_plain);
}

/* ---- fields; after an error they do nothing ---- */

static void put(archive_packer *packer, const void *from, size_t n)
{
    if (!packer->error)
        packer->error = bytes_append(&packer->plain, from, n);
}

static void put_text(archive_packer *packer, const char *text)
{
    put(packer, text, strlen(text));
}

static void put_field(archive_packer *packer, const char *name, const char *value)
{
    if (!value)
        return;
    put_text(packer, name);
    put_text(packer, ": ");
    put_text(packer, value);
    put_text(packer, "\r\n");
}

static void put_date(archive_packer *packer, const char *name, int64_t date, bool with_milliseconds)
{
    date = date < 0 ? 0 : date;
    time_t seconds = (time_t)(date / 1000);
    struct tm utc = {.tm_year = 70, .tm_mday = 1};
    char text[80];

    gmtime_r(&seconds, &utc);
    size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, sizeof text - length, with_milliseconds ? ".%03dZ" : "Z", (int)(date % 1000));
    put_field(packer, name, text);
}

static void put_url(archive_packer *packer, const char *name, vidi_str url)
{
    put_text(packer, name);
    put_text(packer, ": ");
    if (!packer->error)
        packer->error = archive_url(url, &packer->plain);
    put_text(packer, "\r\n");
}

/*
 * Players look the original up by URL and date, in an index whose dates are whole seconds. With milliseconds wabac.js
 * would find the next record of that URL.
 */
static void put_original(archive_packer *packer, const archive_original *original)
{
    char id[ARCHIVE_ID_ROOM];

    archive_id_text(original->id, id);
    put_field(packer, "WARC-Refers-To", id);
    put_url(packer, "WARC-Refers-To-Target-URI", original->url);
    put_date(packer, "WARC-Refers-To-Date", original->date, false);
}

static void put_head(archive_packer *packer, const warc_record *record)
{
    char length[24], digest[WARC_DIGEST_ROOM];

    put_text(packer, "WARC/1.1\r\n");
    put_field(packer, "WARC-Type", record->type);
    put_field(packer, "WARC-Record-ID", record->id);
    put_date(packer, "WARC-Date", record->date, true);
    if (record->target.ptr)
        put_url(packer, "WARC-Target-URI", record->target);
    put_field(packer, "WARC-Filename", record->filename);
    put_field(packer, "WARC-IP-Address", record->address);
    put_field(packer, "WARC-Protocol", record->protocol);
    put_field(packer, "WARC-Concurrent-To", record->concurrent_to);
    put_field(packer, "WARC-Payload-Digest", record->payload_digest);
    put_field(packer, "WARC-Profile", record->profile);
    if (record->original)
        put_original(packer, record->original);
    if (!packer->error)
        packer->error = warc_digest(packer->digest, record->block, 2, digest);
    put_field(packer, "WARC-Block-Digest", packer->error ? NULL : digest);
    put_field(packer, "Content-Type", record->content_type);
    snprintf(length, sizeof length, "%zu", record->block[0].len + record->block[1].len);
    put_field(packer, "Content-Length", length);
    put_text(packer, "\r\n");
}

/* ---- records ---- */

static void give_back(bytes *scratch)
{
    scratch->len = 0;
    if (scratch->room > KEEP)
        bytes_free(scratch);
}

static int compress(archive_packer *packer, bytes *to)
{
    size_t most = libdeflate_gzip_compress_bound(packer->compressor, packer->plain.len);
    int error = bytes_reserve(&packer->packed, most);

    if (error)
        return error;
    size_t n =
        libdeflate_gzip_compress(packer->compressor, packer->plain.ptr, packer->plain.len, packer->packed.ptr, most);
    if (n == 0)
        return VIDI_EMEMORY;
    return bytes_append(to, packer->packed.ptr, n);
}

int warc_pack(archive_packer *packer, const warc_record *record, bytes *to)
{
    packer->error = VIDI_OK;
    put_head(packer, record);
    put(packer, record->block[0].ptr, record->block[0].len);
    put(packer, record->block[1].ptr, record->block[1].len);
    put_text(packer, "\r\n\r\n");
    int error = packer->error ? packer->error : compress(packer, to);
    give_back(&packer->plain);
    give_back(&packer->packed);
    return error;
}

/* A line of the warcinfo record's block. Control characters become blanks. */
static int add_line(bytes *to, const char *name, const char *value)
{
    if (!value || !*value)
        return VIDI_OK;
    size_t start = to->len;
    int error = bytes_append_format(to, "%s: %s", name, value);
    for (size_t i = start; i < to->len; i++)
        if ((unsigned char)to->ptr[i] < 0x20 || to->ptr[i] == 0x7F)
            to->ptr[i] = ' ';
    return error ? error : bytes_append_text(to, "\r\n");
}

static int pack_info(archive_packer *packer, const char *filename, int64_t date, vidi_str block, bytes *to)
{
    unsigned char id[ARCHIVE_ID];
    char text[ARCHIVE_ID_ROOM];
    int error = archive_id(packer, id);
    warc_record record = {.type = "warcinfo",
                          .id = text,
                          .date = date,
                          .filename = filename,
                          .content_type = "application/warc-fields",
                          .block = {block}};

    if (error)
        return error;
    archive_id_text(id, text);
    return warc_pack(packer, &record, to);
}

int warc_pack_info(archive_packer *packer, const char *filename, int64_t date, const char *agent, const char *contact,
                   bytes *to)
{
    char software[64];
    const struct {
        const char *name, *value;
    } lines[] = {
        {"software", software},
        {"format", "WARC File Format 1.1"},
        {"conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
        {"robots", "classic"},
        {"http-header-user-agent", agent},
        {"operator", contact},
    };
    bytes block = {0};
    int error = VIDI_OK;

    snprintf(software, sizeof software, "vidi/%s", vidi_version());
    for (size_t i = 0; i < sizeof lines / sizeof lines[0] && !error; i++)
        error = add_line(&block, lines[i].name, lines[i].value);
    if (!error)
        error = pack_info(packer, filename, date, bytes_str(&block), to);
    bytes_free(&block);
    return error;
}
