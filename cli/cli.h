/*
 * What every file of the program shares: how a command is described, what its run function returns, how errors are
 * said.
 *
 * The program uses the library through <vidi/vidi.h> alone. A command is one file with one cli_command; main.c lists
 * them. Nothing below main ends the process: functions return exit statuses.
 */
#ifndef VIDI_CLI_CLI_H
#define VIDI_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

enum cli_status {
    CLI_GO_ON = -1, /* not an exit status: nothing has ended yet */
    CLI_OK = 0,
    CLI_UNSEEN = 1,            /* vidi has: something was not seen */
    CLI_ERROR = 2,             /* and the message has been printed */
    CLI_EXCEEDED = 3,          /* --strict: more than the set was made for */
    CLI_SIGNAL = 128,          /* plus a signal's number: main then dies of it, as other programs do */
    CLI_PIPE = CLI_SIGNAL + 13 /* of SIGPIPE: nobody reads our output any more */
};

struct cli_option;

/* What is left of the command line. */
typedef struct cli_words {
    char **list;
    size_t count;
} cli_words;

typedef struct cli_command {
    const char *name;
    const char *summary;              /* for the list of commands */
    const char *usage;                /* what follows "Usage: " */
    const char *about;                /* what it does, one sentence */
    const char *details;              /* paragraphs for the full help; '\n' ends one */
    const char *examples;             /* lines for the full help, printed as they are; may be NULL */
    const struct cli_option *options; /* ends with one that has no name */
    const char *common;               /* names of the options that the short help shows, with spaces; NULL: all */
    const char *operand;              /* what its operands are called; NULL: it takes none */
    int (*run)(const struct cli_command *self, cli_words words);
} cli_command;

extern const cli_command cli_dedup, cli_has, cli_remove, cli_list, cli_canon, cli_plan, cli_kinds, cli_info, cli_check,
    cli_rotate, cli_snapshot, cli_merge, cli_export, cli_import, cli_top, cli_bench, cli_lab, cli_version, cli_help;

/* Every command, in the order of the help; ends with NULL. The first is what runs when none is named. */
extern const cli_command *const cli_commands[];

/* NULL if there is none of that name. */
const cli_command *cli_command_find(const char *name);

/* The name of a command that was perhaps meant; NULL if none is near. */
const char *cli_command_nearest(const char *name);

/*
 * Says "vidi: …" on stderr, in one line and with one write; bytes that a terminal would act on become '?'. Returns
 * CLI_ERROR, so that one can return what it returns.
 */
int cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same as "vidi: warning: …", without being an error. */
void cli_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Keeps cli_warning silent. */
void cli_warnings_off(void);

/*
 * Whether what is said on stderr has colours: "auto" (as is NULL: on a terminal, unless NO_COLOR is set), "always" or
 * "never". CLI_OK, or CLI_ERROR with a message.
 */
int cli_color_set(const char *when);
bool cli_color(void);

/* The same for what is written to another file: *on tells. */
int cli_color_on(int fd, const char *when, bool *on);

/* cli_error for the library's last failure, which returned `error`. */
int cli_library_error(int error);

/* The help text of a command on stdout, short or full; returns the exit status. */
int cli_help_print(const cli_command *command, bool full);

/* "vidi 0.1.0" on stdout; returns the exit status. */
int cli_version_print(void);

#endif
