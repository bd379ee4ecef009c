/*
 * The file of --jsonl: lines about URLs that were dealt with. It is part of the crawl's state: its length and the last bytes
 * of it are committed with each batch, and whatever comes behind that length is cut off when the crawl goes on.
 */
#ifndef VIDI_CRAWLER_CRAWL_OUTPUT_H
#define VIDI_CRAWLER_CRAWL_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "crawler/base/bytes.h"
#include "crawler/ledger/ledger.h"

enum { OUTPUT_TAIL = 256 };

typedef struct output {
    int fd;                 /* -1: there is none */
    bool is_stream;         /* standard output, a pipe or the like: cannot be cut or synced */
    uint64_t length;        /* what was written, and is right */
    const char *path;       /* the caller's */
    char *whole;            /* the path from the root on; NULL: a stream */
    char tail[OUTPUT_TAIL]; /* the last bytes before `length`, by which the file is known again */
    size_t tail_len;
    int failed; /* errno of the last call that failed */
} output;

/*
 * Opens the file and cuts it back to what the database says of it. path NULL: there is none; "-": standard output. If the
 * database does not know of any, lines are appended to what is there. A file that is shorter than it was, or that does not
 * have the committed bytes where they were, is an error: it was shortened or replaced. (Not the inode tells, because a file
 * may be copied to another disk.) VIDI_OK, or an error with a sentence in `why` (room 512).
 */
int output_open(output *of, const char *path, ledger *from, char *why);
void output_close(output *of);

/* Appends. After an error nothing of it counts: the next call writes over it. VIDI_EIO or VIDI_ELIMIT (disk full). */
int output_write(output *of, vidi_str lines);
int output_sync(output *of);

/* Writes length and last bytes to the database, in its transaction. */
int output_commit(const output *of, ledger *to);

#endif
