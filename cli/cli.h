/*
 * Shared by every file of the program: the description of a command, exit statuses, and the printing of errors.
 *
 * The program uses the library only through <vidi/vidi.h>. Each command is one file with one cli_command, and main.c
 * lists them. Only main ends the process; all other functions return an exit status.
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
    CLI_UNSEEN = 1,            /* vidi has: some lines were not seen */
    CLI_DAMAGED = 1,           /* vidi check: something is gone, and the rest can be used */
    CLI_DENIED = 1,            /* vidi robots --quiet: some URLs are denied */
    CLI_INCOMPLETE = 1,        /* vidi sitemap: URLs may be missing */
    CLI_BROKEN = 1,            /* vidi crawl --check: links are broken */
    CLI_CONTRADICTED = 1,      /* vidi lab run: our measurements contradict theory */
    CLI_ERROR = 2,             /* the message has already been printed */
    CLI_EXCEEDED = 3,          /* --strict: a limit was exceeded */
    CLI_LEFT = 3,              /* vidi crawl: it ended at a limit, and URLs are left */
    CLI_UNACKED = 4,           /* --ack: the acknowledgements ended before all output was acknowledged */
    CLI_SIGNAL = 128,          /* plus a signal's number: main ends the process with that signal */
    CLI_PIPE = CLI_SIGNAL + 13 /* SIGPIPE: the reader of our output has gone */
};

struct cli_option;

/* Words of the command line. */
typedef struct cli_words {
    char **list;
    size_t count;
} cli_words;

typedef struct cli_command {
    const char *name;
    const char *summary;              /* for the list of commands */
    const char *usage;                /* what follows "Usage: " */
    const char *about;                /* one sentence that says what it does */
    const char *details;              /* paragraphs of the full help, each ended by '\n' */
    const char *examples;             /* lines of the full help, printed unchanged; may be NULL */
    const struct cli_option *options; /* the last one has no name; NULL: `run` starts another program, which has them */
    const char *common;               /* options that the short help shows, separated by spaces; NULL: all */
    const char *operand;              /* what its operands are called; NULL: it takes none */
    size_t least, most;               /* the number of operands; most 0: any number */
    size_t size;                      /* of the struct that the options fill in; 0: there is none */
    const void *defaults;             /* such a struct; NULL: all of it is zero */
    size_t given; /* of its field cli_words that gets the name and the value of each option that was given; 0: none */
    int (*run)(void *values, cli_words words); /* gets that struct, and the operands; without options, all words */
} cli_command;

extern const cli_command cli_dedup, cli_has, cli_remove, cli_list, cli_canon, cli_links, cli_plan, cli_kinds, cli_init,
    cli_info, cli_check, cli_rotate, cli_snapshot, cli_merge, cli_export, cli_import, cli_drop, cli_top, cli_robots,
    cli_sitemap, cli_bench, cli_lab, cli_crawl, cli_version, cli_help;

/*
 * The body of main: calls `run` with the words after the program's name. Before that, it opens /dev/null in the place
 * of closed standard streams; afterwards, it ends the process with a signal if the status is CLI_SIGNAL plus its
 * number.
 */
int cli_program(int argc, char **argv, int (*run)(cli_words words));

/* All commands in the order of the help, then NULL. The first one runs when no command is named. vidi-lab has none. */
extern const cli_command *const cli_commands[];

/* The command with that name, or NULL. */
const cli_command *cli_command_find(const char *name);

/* The name of the command that the user may have meant, or NULL if no name is similar. */
const char *cli_command_nearest(const char *name);

/* Passes on any status but CLI_OK. */
#define CLI_TRY(call)                                                                                                  \
    do {                                                                                                               \
        int cli_status_of_call = (call);                                                                               \
        if (cli_status_of_call != CLI_OK)                                                                              \
            return cli_status_of_call;                                                                                 \
    } while (0)

/*
 * Prints "vidi: …" on stderr, as one line and with one write. Bytes that a terminal would act on become '?'. Returns
 * CLI_ERROR, so that callers can write `return cli_error(…)`.
 */
int cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "vidi: warning: …" in the same way. */
void cli_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Silences cli_warning from now on. */
void cli_warnings_off(void);

/*
 * Chooses whether messages on stderr have colours: "auto" or NULL (only on a terminal, and not if NO_COLOR is set),
 * "always" or "never". CLI_OK, or CLI_ERROR with a message.
 */
int cli_color_set(const char *when);
bool cli_color(void);

/* The same decision for another file, in *on. */
int cli_color_on(int fd, const char *when, bool *on);

/* Prints the message of the library's last failure, which returned `error`. CLI_ERROR. */
int cli_library_error(int error);

/* CLI_OK, or the same for a negative code. */
int cli_library_status(int error);

/* Prints the help of a command, short or full. Returns the exit status. */
int cli_help_print(const cli_command *command, bool full);

/* Prints "vidi 0.1.0". Returns the exit status. */
int cli_version_print(void);

#endif
