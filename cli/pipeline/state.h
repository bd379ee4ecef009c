/*
 * States: the folders that sets live in, and the files that `vidi export` writes. Every command that opens one does it
 * here, so that all say the same about it.
 */
#ifndef VIDI_CLI_PIPELINE_STATE_H
#define VIDI_CLI_PIPELINE_STATE_H

#include "ui/output.h"

/* Are there at least `least` and at most `most` operands? CLI_OK, or CLI_ERROR with a message that has the usage. */
int cli_operands(const cli_command *self, cli_words words, size_t least, size_t most);

/*
 * Opens the set at path; flags are vidi_option_flags. With VIDI_READ_ONLY it may also be an exported file, or "-" for
 * one on standard input, which is read into memory and verified as a whole. CLI_OK, or CLI_ERROR with a message that
 * names the path; *set is NULL then, and *error (may be NULL) what the library returned, 0 if it was not asked.
 */
int cli_state_open(vidi_set **set, const char *path, unsigned flags, int *error);

/* The same, and warns if damage was found in the log. */
int cli_state_open_or_warn(vidi_set **set, const char *path, unsigned flags);

/* Reads an exported set, "-" from standard input, with options as vidi_read takes them. Otherwise as cli_state_open. */
int cli_state_read(vidi_set **set, const char *path, const vidi_options *options, int *error);

/* cli_error for the library's last failure, which returned `error`, about the set at path. */
int cli_state_error(const char *path, int error);

/* What opening found; all 0 for a set that does not live in a folder. */
vidi_recovery cli_state_recovered(const vidi_set *set);

/* The statistics of the set at path: CLI_OK, or CLI_ERROR with a message. */
int cli_state_stat(const vidi_set *set, const char *path, vidi_stats *stats);

/*
 * A state as one looks at it: mapped, so that it takes no time whatever its size, and does not mind a writer. Of a set
 * that is mapped, fill and error rate are those of the snapshot, as the log is not folded into it. A small one is
 * therefore read instead; of a large one it is told.
 */
typedef struct cli_state_view {
    vidi_set *set;
    vidi_stats stats;
    vidi_recovery found;
    bool without_log; /* fill and error rate are */
} cli_state_view;

/* CLI_OK, or CLI_ERROR with a message. The caller closes view->set in either case. */
int cli_state_look(const char *path, cli_state_view *view);

/* "1 URL", "1,234 URLs" */
const char *cli_human_urls(cli_number *number, uint64_t urls);

/* Is it a folder? */
bool cli_state_is_folder(const char *path);

#endif
