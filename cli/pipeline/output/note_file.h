/*
 * The note about an output file whose URLs are in a set on a server. Such a set cannot keep the note (vidi_commit_note),
 * so it is in a file beside the output: FILE.note. It also says which set that is, and in whose name the URLs were
 * claimed.
 *
 * The note is written, and is on disk, before the URLs are committed on the server. So whatever ends a run, what
 * follows the noted length was never committed, and can be cut off. Of what comes before, only the lines of the last
 * commit may not have reached the server; the next run commits their URLs (recommit.h):
 *
 *     | committed                                | the last commit        | cut off
 *     0                                         sure                   length
 */
#ifndef VIDI_CLI_PIPELINE_OUTPUT_NOTE_FILE_H
#define VIDI_CLI_PIPELINE_OUTPUT_NOTE_FILE_H

#include "cli.h"
#include "common/output_file.h"

enum { CLI_NOTE_OWNER_ROOM = 128 };

typedef struct cli_note_file {
    char *path; /* NULL: the note is in the set */
    uint64_t set_id;
    uint64_t sure;     /* bytes of the output whose URLs are certainly committed */
    const char *owner; /* the name of this run; the caller's */
    bool syncs;
} cli_note_file;

/* What a note file says. */
typedef struct cli_noted {
    output_note note; /* not present if there is no file */
    uint64_t set_id, sure;
    char owner[CLI_NOTE_OWNER_ROOM]; /* of the run that wrote it */
} cli_noted;

/* Names the file. CLI_OK, or CLI_ERROR with a message. */
int cli_note_file_init(cli_note_file *file, const char *output);

/* CLI_OK, also if there is no file; CLI_ERROR with a message. */
int cli_note_file_read(const cli_note_file *file, cli_noted *noted);

/* Replaces the file; when this returns, it is on disk, if the file syncs. CLI_OK, or CLI_ERROR with a message. */
int cli_note_file_write(const cli_note_file *file, const output_note *note);

void cli_note_file_free(cli_note_file *file);

#endif
