/*
 * States: the folders that sets live in, and the files that `vidi export` writes. Every command opens them here, so all
 * commands print the same messages about them.
 */
#ifndef VIDI_CLI_PIPELINE_STATE_H
#define VIDI_CLI_PIPELINE_STATE_H

#include "pipeline/server.h"
#include "ui/output.h"

/* What a command wants of a set. */
typedef struct cli_opening {
    unsigned flags;   /* vidi_access_flags; without VIDI_READ_ONLY the set must be in a folder */
    uint32_t invalid; /* vidi_invalid_policy */
    bool wait;        /* wait while another process has the set locked */
    enum { CLI_DAMAGE_WARNS, CLI_DAMAGE_FAILS, CLI_DAMAGE_PASSES } damage; /* if part of the set is damaged or gone */
    int *error; /* if not NULL, gets the library's error code, or 0 if the library was not called */
} cli_opening;

/*
 * Opens the set at path. With VIDI_READ_ONLY it may also be an exported file, or "-" for one on standard input, which
 * is read into memory and verified as a whole. CLI_OK, or CLI_ERROR with a message that names the path, or CLI_SIGNAL
 * plus the number of a signal that ended the waiting; then *set is NULL.
 */
int cli_state_open(vidi_set **set, const char *path, const cli_opening *how);

/* Warns if something of an open set is damaged or gone. */
void cli_state_warn_of_damage(const vidi_set *set, const char *path);

/*
 * What of a set is gone: "log.0000000000000001 is damaged: 104 bytes in 1 place, from byte 168 on". Empty: nothing.
 */
typedef struct cli_damage {
    char text[256];
} cli_damage;
cli_damage cli_state_damage(const vidi_recovery *found);

#define CLI_DAMAGE_SUMMARY "Go on although part of the state is damaged"
#define CLI_DAMAGE_DETAILS                                                                                             \
    "Without this option, a state that is damaged, or lacks a file, is an error and is left as it is. With it, what "  \
    "is left of the state is saved at once, and the URLs that are gone will be new again."

#define CLI_WAIT_SUMMARY "Wait while another process has the state locked"
#define CLI_WAIT_DETAILS "Without this option, a state that another process is writing to is an error."

/*
 * How a command opens the state that it changes, and the rows of these options. `type` is the command's struct, which
 * has them as `write`.
 */
typedef struct cli_write_options {
    bool wait, accepts; /* --wait and --accept-damage */
} cli_write_options;

#define CLI_WRITE_OPTIONS(type)                                                                                        \
    CLI_FLAG_OPTION(type, write.wait, "wait", 0, CLI_WAIT_SUMMARY, CLI_WAIT_DETAILS),                                  \
        CLI_FLAG_OPTION(type, write.accepts, "accept-damage", 0, CLI_DAMAGE_SUMMARY, CLI_DAMAGE_DETAILS)

/* Checks that they were not given with an address. CLI_OK, or CLI_ERROR with a message. */
int cli_write_check_address(const cli_write_options *options);

/* Opens the set in the folder path to change it. Otherwise as cli_state_open. */
int cli_state_open_to_write(vidi_set **set, const char *path, const cli_write_options *options, cli_opening how);

/*
 * Call it when the library has returned VIDI_EBUSY for the state at path. With `wait`, sleeps for a moment and returns
 * CLI_GO_ON, for the caller to try again; *told (false at first) makes sure that the message is printed only once. A
 * signal meanwhile: CLI_SIGNAL plus its number. Without `wait`, prints an error that ends in `advice` and returns
 * CLI_ERROR.
 */
int cli_state_locked(const char *path, bool wait, bool *told, const char *advice);

/*
 * Waits a little for something that another process has locked: CLI_GO_ON, or CLI_SIGNAL plus the number of a signal
 * that came, even if it is blocked. A signal that was ignored when the program started stays ignored.
 */
int cli_wait_a_moment(void);

/*
 * Reads an exported set, "-" from standard input, into memory, or into a folder unless that is NULL. Otherwise as
 * cli_state_open.
 */
int cli_state_read(vidi_set **set, const char *path, const char *folder, const vidi_access *access, int *error);

/* Prints the message of the library's last failure, which returned `error`, about the set at path. CLI_ERROR. */
int cli_state_error(const char *path, int error);

/* Returns true if the library's last call failed with `error` because the bytes it read are not a set. */
bool cli_state_is_none(int error);

/* What recovery found when the set was opened; all 0 for a set that does not live in a folder. */
vidi_recovery cli_state_recovered(const vidi_set *set);

/* The statistics of the set at path: CLI_OK, or CLI_ERROR with a message. */
int cli_state_stat(const vidi_set *set, const char *path, vidi_stats *stats);

/*
 * A state opened for its statistics alone. It is mapped, so that opening takes no time whatever its size, also while
 * another process writes to it. The fill and error rate of a mapped set are those of its snapshot, without the log. A
 * small set is therefore read into memory instead; for a large one, without_log tells.
 */
typedef struct cli_state_view {
    vidi_set *set;
    vidi_stats stats;
    vidi_recovery found;
    bool without_log; /* fill and error rate are those of the snapshot alone */
} cli_state_view;

/* CLI_OK, or CLI_ERROR with a message. The caller closes view->set in either case. */
int cli_state_look(const char *path, cli_state_view *view);

/* "1 URL", "1,234 URLs" */
const char *cli_human_urls(cli_number *number, uint64_t urls);

/*
 * Prints that the kind of the set at path cannot do something, which `what` says in words, and which kinds can: those
 * with the capability `can`. CLI_ERROR.
 */
int cli_state_cannot(const char *path, const vidi_stats *stats, uint32_t can, const char *what);

/* Returns true if path is a folder. */
bool cli_state_is_folder(const char *path);

/* CLI_OK if path is a folder or does not exist, otherwise CLI_ERROR with a message that says what is there. */
int cli_state_check_folder(const char *path);

#endif
