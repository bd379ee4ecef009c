/*
 * The file of --jsonl: lines about finished URLs. It is part of the crawl's state: its length and its last bytes are
 * committed with each batch, and whatever comes after that length is cut off when the crawl is opened again.
 */
#ifndef VIDI_CRAWLER_CRAWL_OUTPUT_H
#define VIDI_CRAWLER_CRAWL_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "crawler/base/bytes.h"
#include "crawler/ledger/ledger.h"

enum { OUTPUT_TAIL = 256, OUTPUT_WHY = 512 };

typedef struct output {
    int fd;                 /* -1: there is none */
    bool is_stream;         /* standard output, a pipe or the like: cannot be cut or synced */
    uint64_t length;        /* bytes written without an error */
    const char *path;       /* the caller's */
    char *whole;            /* the absolute path; NULL: a stream */
    char tail[OUTPUT_TAIL]; /* the last bytes before `length`, which identify the file */
    size_t tail_len;
    int failed; /* errno of the last call that failed */
} output;

/*
 * Opens the file and cuts it back to the length in the database. path NULL: there is none; "-": standard output. If the
 * database knows of no file, lines are appended. A file that is shorter than the database says, or whose committed bytes
 * differ, was shortened or replaced: an error. (The inode does not decide, because a file may be copied to another disk.)
 * VIDI_OK, or an error with a sentence in `why` (room OUTPUT_WHY).
 */
int output_open(output *of, const char *path, ledger *from, char *why);
void output_close(output *of);

/* Appends. After an error the next call overwrites what was written. VIDI_EIO or VIDI_ELIMIT (disk full). */
int output_write(output *of, vidi_str lines);
int output_sync(output *of);

/* Writes length and last bytes to the database, in its transaction. */
int output_commit(const output *of, ledger *to);

#endif
