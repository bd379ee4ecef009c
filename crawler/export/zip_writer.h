/*
 * Writes a ZIP file (APPNOTE 6.3.9) whose entries are stored, not compressed: what goes into it is compressed already,
 * or is small. Entries, offsets and numbers that need it get ZIP64 fields.
 *
 *   | local header, name | data | local header, name | data | … | central directory | its end |
 *
 * An entry's checksum is known only after its data, so its header is written again then: the file must be seekable.
 *
 * Functions return VIDI_OK, VIDI_EMEMORY, or VIDI_EIO or VIDI_ELIMIT (the disk is full), errno then tells. After an
 * error, the file is worth nothing.
 */
#ifndef VIDI_CRAWLER_EXPORT_ZIP_WRITER_H
#define VIDI_CRAWLER_EXPORT_ZIP_WRITER_H

#include <stddef.h>
#include <stdint.h>

typedef struct zip_writer zip_writer;

/* Writes to an open file, from where it stands; it stays the caller's. `date`: of all entries, seconds since 1970. */
int zip_open(zip_writer **made, int fd, int64_t date);
void zip_close(zip_writer *zip);

/* Begins an entry: a path in ASCII with '/' between folders. It will have about `most` bytes, or fewer. */
int zip_begin(zip_writer *zip, const char *name, uint64_t most);
int zip_put(zip_writer *zip, const void *data, size_t n);
/* Ends the entry. VIDI_EARGUMENT: it has 4 GiB or more, and that was not announced. */
int zip_end(zip_writer *zip);

/* Writes the central directory. The caller syncs the file. */
int zip_finish(zip_writer *zip);

#endif
