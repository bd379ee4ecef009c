/*
 * The file of --jsonl: lines about finished URLs. It is part of the crawl's state, as common/output_file.h explains:
 * the note about it is committed to the database with each batch, and so is a digest of all lines, for `vidi crawl
 * check`.
 */
#ifndef VIDI_CRAWLER_CRAWL_JSONL_OUTPUT_H
#define VIDI_CRAWLER_CRAWL_JSONL_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/output_file.h"
#include "crawler/base/bytes.h"
#include "crawler/database/database.h"

typedef struct output {
    output_file file;
    const char *folder; /* the crawl's; the caller's */
    bool is_stream;     /* standard output, a pipe or the like: cannot be cut or synced */
    uint64_t written;   /* bytes, in this run, without an error */
    uint64_t digest;    /* output_checksum of all bytes of the file */
} output;

/*
 * What the database has: the empty note if no run has written lines to a file. The path of a file in the crawl's folder
 * begins there, as the two are moved and copied together.
 */
int output_note_read(crawl_db *from, output_note *note, uint64_t *digest);

/*
 * Opens the file of the crawl in `folder`, and cuts off lines that were not committed, which file.why then says. path
 * NULL: there is none; "-": standard output. A file that the crawl has not written to must be empty. One that is
 * shorter than the database says, whose committed bytes differ, or that others have appended to, is refused. (A copy is
 * accepted, because a crawl may be moved to another disk.) VIDI_OK, or an error with a sentence in file.why.
 */
int output_open(output *output, const char *path, const char *folder, crawl_db *from);
bool output_is_open(const output *output);
void output_close(output *output);

/* Appends. After an error the next call overwrites what was written. VIDI_EIO or VIDI_ELIMIT (disk full). */
int output_write(output *output, vidi_str lines);
int output_sync(output *output);

/*
 * Writes the note to the database, in its transaction. If this run writes no file, it closes a note that an interrupted
 * run has left open, so that lines which others append to the file later are not cut off. `ends`: this run writes no
 * more. VIDI_EDIFFERS: others have changed the file.
 */
int output_commit(output *output, crawl_db *to, bool ends);

#endif
