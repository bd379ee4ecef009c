/*
 * Ends the last commit of a run that was killed, for an output file whose URLs are in a set on a server: lines that are
 * in the file, and synced, may not have been committed, although they were noted (note_file.h). Their URLs are taken out
 * of the file and committed in the name of that run. So they are not new again, and do not come a second time, unless
 * another client has taken over the claims of the dead run.
 */
#ifndef VIDI_CLI_PIPELINE_OUTPUT_RECOMMIT_H
#define VIDI_CLI_PIPELINE_OUTPUT_RECOMMIT_H

#include "pipeline/input/extract.h"
#include "pipeline/target.h"

/* How the lines of an output file are read. */
typedef struct cli_output_lines {
    bool answers;               /* they are verdicts: there are no URLs in them */
    bool header;                /* the first one is a header */
    char end;                   /* of a line */
    const cli_extract *extract; /* where the URL is; NULL: a line is a URL */
} cli_output_lines;

/* Commits the URLs of the lines from byte `from` to byte `to`. CLI_OK, or CLI_ERROR with a message. */
int cli_recommit(int fd, const char *path, const cli_output_lines *lines, uint64_t from, uint64_t to,
                 vidi_cluster *cluster, const char *owner);

#endif
