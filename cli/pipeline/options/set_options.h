/*
 * Makes or opens the set of a run, in memory or in a folder, as the user's options ask. If the options say what the set
 * is for instead of its kind, the planner chooses the kind.
 */
#ifndef VIDI_CLI_PIPELINE_OPTIONS_SET_OPTIONS_H
#define VIDI_CLI_PIPELINE_OPTIONS_SET_OPTIONS_H

#include "pipeline/server.h"
#include "pipeline/target.h"

typedef struct cli_set_options {
    const char *state, *like, *key_file, *key_from;
    const char *kind;
    char *params;
    uint64_t capacity, memory;
    double error;
    double lost; /* negative: not given; 0: only kinds that lose nothing */
    const char *canon, *key, *tracking, *invalid, *epoch, *sync;
    bool counts;  /* the set must count every URL without error */
    bool dry_run; /* remember nothing */
    bool wait;    /* wait while another process has the state locked */
    bool accepts; /* go on although part of the state is damaged */
    bool fixed;   /* the set cannot begin a new epoch, because it belongs to a crawl */
    cli_server_options server;
} cli_set_options;

enum { CLI_OWNER_ROOM = 96 };

typedef struct cli_sets {
    cli_target target;
    cli_target also;            /* with dry_run and a state: the state, only for lookups */
    bool durable;               /* `target` lives in a folder or on a server */
    char *tracking;             /* the text of the list; NULL: none was given */
    char owner[CLI_OWNER_ROOM]; /* the name that URLs are claimed under on a server */
} cli_sets;

/*
 * Of the plans for a request, the one that a set is made from: the first, which is the best. NULL if the request limits
 * neither error nor losses, and even the best plan loses more than a quarter of the pages in the end.
 */
const vidi_plan_entry *cli_plan_choice(const vidi_plan_request *want, const vidi_plan_entry *plans, size_t n);

/*
 * Turns the options into those of the library, for a new set; `set` and `access` have been initialised, and `tracking`
 * is the text of the list or NULL. If the planner has chosen, `set` points into *chosen. CLI_OK, or CLI_ERROR with a
 * message.
 */
int cli_set_describe(const cli_set_options *options, const char *tracking, vidi_options *set, vidi_access *access,
                     vidi_plan_entry *chosen);

/* The request to the planner that the options come to. */
void cli_set_request(const cli_set_options *options, vidi_plan_request *want);

/* The same without the planner. */
int cli_set_describe_alone(const cli_set_options *options, const char *tracking, vidi_options *set);

/* Returns true if the options say what the set is for, so that the planner chooses how it is made. */
bool cli_set_is_planned(const cli_set_options *options);

/* Checks that a set has the kind and form that the options name. CLI_OK, or CLI_ERROR with a message. */
int cli_set_check(const vidi_set *state, const cli_set_options *options, const char *tracking);
int cli_set_check_stats(const vidi_stats *stats, const cli_set_options *options, const char *tracking);

/*
 * Makes an empty set in the folder of the options; --like, --key-from and --key-file count. CLI_OK, or CLI_ERROR with a
 * message; then *set is NULL.
 */
int cli_set_create(vidi_set **set, const cli_set_options *options);

/* CLI_OK, or CLI_ERROR with a message. Call cli_sets_close in either case. */
int cli_sets_open(cli_sets *sets, const cli_set_options *options);
void cli_sets_close(cli_sets *sets);

/*
 * Reads a key: 32 hexadecimal digits, with a line feed after them or not. If it cannot, errno says why; 0: the file has
 * something else.
 */
bool cli_key_read(const char *path, unsigned char key[VIDI_KEY_BYTES]);
/* The same. CLI_OK, or CLI_ERROR with a message. */
int cli_key_take(const char *path, unsigned char key[VIDI_KEY_BYTES]);

/* Warns of options that differ from what an existing state was made with: it stays as it is. */
void cli_warn_no_effect(const cli_set_options *options, const vidi_set *state);

/* Opens a state for lookups only. CLI_OK, or CLI_ERROR with a message. */
int cli_state_ask(vidi_set **set, const char *path, const char *invalid);

/*
 * For dry runs: makes the set in memory that the URLs of this run go into, of the same canonical form as the state.
 * CLI_OK, or CLI_ERROR with a message.
 */
int cli_sets_create_beside(cli_sets *sets, const char *canon, uint32_t invalid);

/* cli_sets_open, for an address; `tracking` was read. */
int cli_sets_open_server(cli_sets *sets, const cli_set_options *options);

#endif
