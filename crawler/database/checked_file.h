/*
 * A checksum for each page of the database.
 *
 * SQLite's log has checksums, but its file has none: a flipped bit in it can give another number, another text, or a
 * row that is not found. So the file is opened through a VFS of our own, which does what the system's does, and
 *
 *   - writes a checksum into the last 8 bytes of each page, which SQLite leaves free on request;
 *   - compares it when the page is read. A wrong one is SQLITE_IOERR_DATA: VIDI_EDAMAGED.
 *
 * Only pages in the file have one; in the log and in memory these bytes are 0. If another program copies the log into
 * the file, as `sqlite3` does when it is the last to close a database, they are 0 there, too: a page without a
 * checksum, which gets one when it is next written.
 */
#ifndef VIDI_CRAWLER_DATABASE_CHECKED_FILE_H
#define VIDI_CRAWLER_DATABASE_CHECKED_FILE_H

#include <stdbool.h>
#include <stdint.h>

enum { CHECKED_PAGE = 16384, CHECKED_RESERVED = 8 };

/* The name of the VFS, which is registered if it is not yet. NULL: no memory. */
const char *checked_file_vfs(void);

/* How the pages of a file are. */
typedef struct checked_pages {
    uint64_t pages;
    uint64_t unchecked; /* have no checksum */
    uint64_t damaged;   /* have a wrong one */
    uint64_t first;     /* the number of the first that is damaged, from 1 */
} checked_pages;

/* Reads the whole file, even while it is in use. VIDI_OK, VIDI_EIO (errno tells), VIDI_EMEMORY or VIDI_EDAMAGED. */
int checked_file_read(const char *path, checked_pages *found);

#endif
