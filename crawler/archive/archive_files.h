/*
 * An open archive, for the files that open it and write to it.
 *
 *   on disk |<-- written -->|      in memory |<-- buffered -->|      archive_end = written + buffered
 */
#ifndef VIDI_CRAWLER_ARCHIVE_ARCHIVE_FILES_H
#define VIDI_CRAWLER_ARCHIVE_ARCHIVE_FILES_H

#include "crawler/archive/archive.h"

enum { ARCHIVE_BUFFER = 256 << 10, ARCHIVE_ERROR = 256, ARCHIVE_MARKED = 4096 };

struct archive {
    int folder, file;      /* descriptors; -1: closed */
    uint32_t number;       /* of the file */
    uint64_t written;      /* length of the file */
    size_t buffered;       /* bytes in the buffer */
    bool has_records;      /* the file has more than a warcinfo record */
    bool unsynced;         /* written to, but not synced since */
    int failed;            /* nothing is written any more: the error that ended it */
    uint64_t max_bytes;    /* of a file */
    int64_t date, opened;  /* the date at opening, and what the machine's clock said then */
    char *path;            /* of the folder, for messages */
    char *agent, *contact; /* for warcinfo records; may be NULL */
    char error[ARCHIVE_ERROR];
    char buffer[ARCHIVE_BUFFER];
};

/* Makes the file of this number, with its warcinfo record in the buffer. The file that was open stays so on error. */
int archive_begin_file(archive *archive, uint32_t number);

/* Writes the sentence "cannot VERB FOLDER/NAME: errno", and returns VIDI_ELIMIT for a full disk, else VIDI_EIO. */
int archive_fail(archive *archive, const char *verb, uint32_t number);

#endif
