/*
 * An output file that the next run continues: how a file of lines and the state that remembers them stay together.
 *
 * Whoever writes the file keeps a *note* about it, and commits the note together with what the lines are about, after
 * the lines were written and synced. The note says which file it is (device and inode), how long it is, and has a
 * checksum of the last 4 KiB before that length. So whatever ends a run, the next one finds at least the noted bytes.
 * What follows them was never committed, and is cut off:
 *
 *     | lines that are committed                        | lines that are not; the last may be torn |
 *     0                           length - 4 KiB      length                              end of file
 *
 * Bytes that are cut off are kept in a folder of the owner's, in a file `cut.1`, `cut.2`, …
 *
 * The note is `open` from before the first byte of a run. It is `closed` when a run has ended and left nothing after
 * the length, or has committed without writing to the file. Bytes that follow the length of a closed note are somebody
 * else's: the file is refused, and nothing is cut off.
 *
 * Device numbers may change when the machine is started again, so a file that differs only in that is the same file.
 */
#ifndef VIDI_COMMON_OUTPUT_FILE_H
#define VIDI_COMMON_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum {
    OUTPUT_PATH_SHOWN = 1024,                   /* bytes of the path that a note keeps, for messages */
    OUTPUT_NOTE_ROOM = OUTPUT_PATH_SHOWN + 128, /* for a note as text, with its zero byte */
    OUTPUT_FILE_WHY = 2048                      /* for a sentence */
};

typedef struct output_note {
    bool present;
    bool closed;
    uint64_t device, inode, length, checksum;
    char path[OUTPUT_PATH_SHOWN + 1]; /* as it was when the note was made */
} output_note;

/* 64-bit FNV-1a. `sum` is that of the bytes before these, or 0 if there are none. */
uint64_t output_checksum(uint64_t sum, const void *bytes, size_t n);

/* The empty text is that of an absent note. False: the text is not a note about an output file. */
bool output_note_parse(const char *text, output_note *note);
void output_note_print(const output_note *note, char text[OUTPUT_NOTE_ROOM]);

typedef enum output_result {
    OUTPUT_OK,
    OUTPUT_LOCKED,  /* another process has the file locked */
    OUTPUT_REFUSED, /* it is not the file that the note is about, or others have changed it */
    OUTPUT_FAILED   /* the system refused; errno is in `failed` */
} output_result;

typedef struct output_file {
    const char *path; /* the caller's */
    int fd;           /* -1: there is none */
    uint64_t start;   /* its length when this run began to write */
    uint64_t length;  /* as in the note */
    bool known;       /* the note was about this file */
    int failed;       /* errno */
    /* A sentence: what went wrong; after output_file_resume, what was cut off. */
    char why[OUTPUT_FILE_WHY];
} output_file;

/* How a file is continued, and the words for messages about it. */
typedef struct output_terms {
    const char *owner;   /* what has written it: "seen.vidi" */
    const char *folder;  /* where bytes that are cut off are kept */
    const char *or_else; /* what else to do if the file does not fit the note: ", or leave --jsonl out" */
    const char *unknown; /* what to do about a file that the owner has not written */
    const char *lost;    /* what becomes of lines that are cut off: "their URLs are new again" */
    const char *fresh;   /* the option by which the user asks for a new file, whatever the note says; NULL: not */
    bool copies;         /* a copy of the file will do: its inode does not matter */
    bool syncs;
} output_terms;

bool output_is_same(const struct stat *a, const struct stat *b);

/*
 * Opens a regular file and locks it. With `create`, makes it if it is absent; without, fd is then -1. OUTPUT_LOCKED:
 * may be called again later.
 */
output_result output_file_open(output_file *file, const char *path, bool create);

/*
 * Compares the file, which output_file_open has opened unless it is absent, with the note, and cuts off what is not
 * committed; `why` then says so, and is empty otherwise. The caller commits an open note before it writes anything.
 */
output_result output_file_resume(output_file *file, const output_note *had, const output_terms *terms);

/* Checks that the file is as this run left it after `written` bytes. If not, nothing more may be committed. */
output_result output_file_check(output_file *file, uint64_t written);
/* Makes the note for the first `length` bytes. When it is committed, the caller sets file->length. */
output_result output_file_note(output_file *file, uint64_t length, bool closed, output_note *note);

/*
 * After a failed write: cuts the `written` bytes of this run's output back to the first `kept`. False if the file was
 * not cut, because that failed or somebody else has changed it; the next run will do it.
 */
bool output_file_cut(output_file *file, uint64_t kept, uint64_t written);

/* Closing a file that was never opened is allowed. */
void output_file_close(output_file *file);

#endif
