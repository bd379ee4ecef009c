/*
 * The archive: WARC 1.1 files (ISO 28500), a gzip member per record, so that each record can be read on its own.
 *
 * Any thread can pack records (archive_pack); one thread writes them (archive_write). Records belong to the archive
 * once archive_sync has returned and the caller has committed archive_end to its database; archive_open cuts off
 * whatever comes after that place, and keeps it as FOLDER/cut.1, cut.2, …: with a database from a backup, it may be
 * pages that exist nowhere else.
 *
 *   FOLDER/vidi-00000.warc.gz, vidi-00001.warc.gz, …    a new file after max_bytes; each begins with a warcinfo record
 */
#ifndef VIDI_CRAWLER_ARCHIVE_ARCHIVE_H
#define VIDI_CRAWLER_ARCHIVE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/base/bytes.h"

typedef struct archive archive;

/* The bytes of a record's id, a random UUID; and the room of its text, "<urn:uuid:…>". */
enum { ARCHIVE_NAME_ROOM = 64, ARCHIVE_ID = 16, ARCHIVE_ID_ROOM = 48 };

typedef struct archive_place {
    uint32_t file;   /* number of the file */
    uint64_t length; /* its length */
} archive_place;

/* Where a record begins. */
typedef struct archive_at {
    uint32_t file;
    uint64_t offset;
} archive_at;

typedef struct archive_options {
    const char *folder;  /* made if it is missing */
    const char *agent;   /* for the warcinfo record */
    const char *contact; /* NULL: none */
    uint64_t max_bytes;  /* of a file; 0: 1 GiB */
    archive_place end;   /* what the database says; {0, 0}: a new archive */
    uint64_t mark;       /* archive_mark when that was the end; 0: not known */
    int64_t date;        /* milliseconds since 1970, for the warcinfo record */
} archive_options;

/*
 * Opens the archive to append at `end`; everything after it is put aside, and archive_error says where. VIDI_OK, or
 * VIDI_EMEMORY, VIDI_EIO, VIDI_ELIMIT (the disk is full), VIDI_EDAMAGED (a file is shorter than committed, another one,
 * or missing; nothing was changed); `why` (room 256) tells.
 *
 * If `end` is {0, 0}, files that hold pages are not removed: VIDI_EEXIST. So a caller commits archive_end once before
 * it writes its first page, or a crash before its first commit leaves such files.
 */
int archive_open(archive **made, const archive_options *options, char *why);
/* What was written since the last archive_sync may be lost. */
void archive_close(archive *archive);

/* One response with its request. */
typedef struct archive_exchange {
    vidi_str url;
    int64_t date;         /* milliseconds since 1970 */
    const char *address;  /* "192.0.2.1"; NULL: not known */
    const char *protocol; /* "h2"; NULL: HTTP/1.1 */
    vidi_str request;     /* head as sent; empty: no request record */
    vidi_str head, body;  /* of the response; the head as http_archived_head makes it */
    const char *digest;   /* of the body: "sha1:BASE32" */
} archive_exchange;

/* "sha1:" and the SHA-1 of the bytes in base32. `to` has room for 38 bytes. VIDI_OK or VIDI_EMEMORY. */
int archive_digest(vidi_str bytes, char *to);

/*
 * Appends the URL as records name it: bytes that a URL cannot have (blanks, control characters, all outside ASCII) are
 * percent-encoded. VIDI_OK or VIDI_EMEMORY.
 */
int archive_url(vidi_str url, bytes *to);

/* Memory for packing, used by one thread at a time. NULL: no memory. */
typedef struct archive_packer archive_packer;
archive_packer *archive_packer_open(void);
void archive_packer_close(archive_packer *packer);

/*
 * Appends the records of an exchange to `to`: response, then request, which names it. *response is the length of the
 * first, and `id` its id. VIDI_OK, VIDI_EMEMORY or VIDI_ESYSTEM (no random numbers); then nothing is appended.
 */
int archive_pack(archive_packer *packer, const archive_exchange *exchange, bytes *to, size_t *response,
                 unsigned char id[ARCHIVE_ID]);

/* The record of a response that is stored. */
typedef struct archive_original {
    const unsigned char *id; /* ARCHIVE_ID bytes */
    vidi_str url;
    int64_t date;
} archive_original;

/*
 * Appends a record with this id that takes the place of a response record: the payload is that of an earlier response.
 * With a head, the response had the same payload (`identical-payload-digest`); without one, the server said that nothing
 * has changed (`server-not-modified`). VIDI_OK or VIDI_EMEMORY; then nothing is appended.
 */
int archive_pack_revisit(archive_packer *packer, const archive_exchange *exchange, const unsigned char id[ARCHIVE_ID],
                         const archive_original *original, bytes *to);

/* Makes an id. VIDI_OK or VIDI_ESYSTEM. */
int archive_id(archive_packer *packer, unsigned char id[ARCHIVE_ID]);
/* The text of an id, "<urn:uuid:…>". */
void archive_id_text(const unsigned char id[ARCHIVE_ID], char to[ARCHIVE_ID_ROOM]);

/*
 * Appends packed records of one exchange; *file and *offset tell where they begin. VIDI_OK, VIDI_EMEMORY, VIDI_EIO or
 * VIDI_ELIMIT (the disk is full). After an error the archive is as before the call, which may be repeated. But after a
 * failed sync nothing can be written any more: every further call is VIDI_EIO.
 */
int archive_write(archive *archive, vidi_str packed, uint32_t *file, uint64_t *offset);
/* Brings everything up to archive_end to disk. Errors as in archive_write. */
int archive_sync(archive *archive);
archive_place archive_end(const archive *archive);
/* A checksum of the last bytes before archive_end. No two archives have the same: each record has a random number. */
int archive_mark(archive *archive, uint64_t *mark);
const char *archive_error(const archive *archive);

/* ---- reading ---- */

typedef struct archive_record {
    uint32_t file;
    uint64_t offset, length;
    vidi_str type;       /* "response", "revisit", … */
    vidi_str id, date;   /* "<urn:uuid:…>", "2023-11-14T22:13:20.000Z" */
    vidi_str url;        /* as archive_url writes it; empty: none */
    vidi_str digest;     /* of the body; empty: none */
    vidi_str refers_to;  /* of a revisit record: the id of the response that has the body */
    vidi_str head, body; /* of a response; otherwise `head` is the record's whole block */
} archive_record;

/*
 * Reads the archive up to `end`, even while more is written after it. ARCHIVE_EVERYWHERE is for records whose places are
 * known to be written. VIDI_OK or VIDI_EMEMORY.
 */
#define ARCHIVE_EVERYWHERE ((archive_place){UINT32_MAX, UINT64_MAX})
typedef struct archive_reader archive_reader;
int archive_reader_open(archive_reader **made, const char *folder, archive_place end);
void archive_reader_close(archive_reader *reader);

/* Reads the record at a place. Returns as archive_reader_next does; VIDI_EDAMAGED also if nothing is there. */
int archive_reader_at(archive_reader *reader, uint32_t file, uint64_t offset, archive_record *record);

/*
 * Reads the next record and verifies it. 1: here it is, and its texts stay valid until the next call. 0: the end.
 * VIDI_EDAMAGED: archive_reader_error says what is damaged or missing; the next call goes on with the next file. Also
 * VIDI_EMEMORY, VIDI_EIO.
 */
int archive_reader_next(archive_reader *reader, archive_record *record);
const char *archive_reader_error(const archive_reader *reader);

/* The name of a file without its folder: "vidi-00000.warc.gz". `to` has room for ARCHIVE_NAME_ROOM bytes. */
const char *archive_name(uint32_t file, char *to);
/* The reverse: false if the name is not one of an archive file. */
bool archive_number(const char *name, uint32_t *file);

#endif
