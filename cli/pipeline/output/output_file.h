/*
 * The output file of a run (-o). With a state, the set's note is the note of common/output_file.h, which explains how a
 * state and its output stay together: it is committed together with the URLs whose lines it covers. A set on a server
 * cannot keep a note; then it is in a file beside the output, and written before the URLs are committed (note_file.h).
 */
#ifndef VIDI_CLI_PIPELINE_OUTPUT_OUTPUT_FILE_H
#define VIDI_CLI_PIPELINE_OUTPUT_OUTPUT_FILE_H

#include "cli.h"
#include "common/output_file.h"
#include "pipeline/output/note_file.h"
#include "pipeline/output/recommit.h"
#include "pipeline/target.h"

typedef struct cli_output_file {
    output_file base; /* fd -1: there is none */
    bool noted;       /* it belongs to a state */
    cli_note_file beside;
} cli_output_file;

/* How to go on with the output file of a state. */
typedef struct cli_output_terms {
    const cli_target *target;
    const char *state; /* the folder of the set, or its address as it may be shown */
    const char *owner; /* the name of this run's claims on a server; stays good as long as the file is open */
    cli_output_lines lines;
    bool fresh; /* begin a new file */
    bool wait;  /* while another process has it locked */
    bool syncs;
} cli_output_terms;

/* Checks, before anything is opened, that the file can be written and is not an input. CLI_OK, or CLI_ERROR. */
int cli_output_check(const char *path, cli_words inputs);

/* Opens and locks the file of a run without a state, and empties it. CLI_OK, or CLI_ERROR with a message. */
int cli_output_replace(cli_output_file *file, const char *path);

/*
 * Opens and locks the file of a run with a state, compares it with the set's note, cuts off what is not committed, and
 * makes the first note. CLI_OK, CLI_ERROR with a message, or CLI_SIGNAL plus a number if a signal ended the waiting.
 */
int cli_output_resume(cli_output_file *file, const char *path, const cli_output_terms *terms);

/*
 * Commits the set up to the mark, with a note that covers the first `covered` bytes of this run's output. `written` is
 * all that this run has written: if the file does not have exactly that, somebody else has changed or deleted it, and
 * nothing is committed. CLI_OK, or CLI_ERROR with a message.
 */
int cli_output_commit(cli_output_file *file, const cli_target *target, uint64_t mark, uint64_t covered,
                      uint64_t written);

/* The last note of a run, if the file ends where the note says. CLI_OK, or CLI_ERROR with a message. */
int cli_output_finish(cli_output_file *file, const cli_target *target, uint64_t mark);

/*
 * Commits the set up to the mark in a run that does not write to the state's output file. A note that an interrupted
 * run has left open is closed: what comes after its length may belong to URLs that are committed now, and must not be
 * cut off. CLI_OK, or CLI_ERROR with a message.
 */
int cli_output_commit_without(const cli_target *target, uint64_t mark);

/*
 * After a failed write: cuts the `written` bytes of this run's output back to the first `kept`. False if the file was
 * not cut, because that failed or somebody else has changed it; the next run will do it.
 */
bool cli_output_cut(cli_output_file *file, uint64_t kept, uint64_t written);

/* Closing a file that was never opened is allowed. */
void cli_output_close(cli_output_file *file);

#endif
