/*
 * One record of a WARC file, as ISO 28500:2017 (WARC 1.1) defines it, packed as a gzip member of its own.
 */
#ifndef VIDI_CRAWLER_ARCHIVE_WARC_RECORD_H
#define VIDI_CRAWLER_ARCHIVE_WARC_RECORD_H

#include "crawler/archive/archive.h"

enum { WARC_DIGEST_ROOM = 38 };

/* Fields that are NULL are left out of the record. Bytes that a URL cannot have are percent-encoded in the target. */
typedef struct warc_record {
    const char *type; /* "response" */
    const char *id;   /* as archive_id_text writes it */
    int64_t date;     /* milliseconds since 1970 */
    vidi_str target;
    const char *filename, *address, *protocol, *concurrent_to, *payload_digest;
    const char *profile;              /* of a revisit record */
    const archive_original *original; /* that it refers to */
    const char *content_type;
    vidi_str block[2]; /* the content, in two pieces */
} warc_record;

/* Appends the packed record. VIDI_OK or VIDI_EMEMORY; nothing is appended then. */
int warc_pack(archive_packer *packer, const warc_record *record, bytes *to);

/* The first record of a file: which software wrote it, for whom, and how. */
int warc_pack_info(archive_packer *packer, const char *filename, int64_t date, const char *agent, const char *contact,
                   bytes *to);

#endif
