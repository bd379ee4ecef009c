/*
 * vidi snapshot: folds the log of a state into a new snapshot. The library does that by itself when the log has grown;
 * this command is for use before a copy or after a crash.
 */
#include <unistd.h>

#include "ui/options.h"
#include "pipeline/state.h"

static int print(const char *path, const vidi_stats *before, const vidi_stats *after)
{
    cli_number snapshot, log, now;

    return cli_print_result("%s: snapshot of %s and log of %s are now a snapshot of %s\n", path,
                            cli_human_bytes(&snapshot, before->snapshot_bytes),
                            cli_human_bytes(&log, before->log_bytes), cli_human_bytes(&now, after->snapshot_bytes));
}

static int snapshot(vidi_set *set, const char *path)
{
    vidi_stats before, after;

    CLI_TRY(cli_state_stat(set, path, &before));
    int error = vidi_snapshot(set);
    if (error < 0)
        return cli_state_error(path, error);
    CLI_TRY(cli_state_stat(set, path, &after));
    return print(path, &before, &after);
}

static int run(void *values, cli_words words)
{
    vidi_set *set;

    if (cli_is_address(words.list[0]))
        return cli_server_refuse(words.list[0], "a server saves its data by itself, as its configuration says");
    int status = cli_state_open_to_write(&set, words.list[0], values, (cli_opening){0});

    if (status == CLI_OK)
        status = snapshot(set, words.list[0]);
    vidi_close(set);
    return status;
}

static const cli_option options_table[] = {
    CLI_FLAG_OPTION(cli_write_options, wait, "wait", 0, CLI_WAIT_SUMMARY, CLI_WAIT_DETAILS),
    CLI_FLAG_OPTION(cli_write_options, accepts, "accept-damage", 0, CLI_DAMAGE_SUMMARY, CLI_DAMAGE_DETAILS),
    CLI_OPTIONS_END,
};

const cli_command cli_snapshot = {
    .name = "snapshot",
    .summary = "Fold the log of a saved set into its snapshot",
    .usage = "vidi snapshot [OPTION]... STATE",
    .about = "Writes a new snapshot of a saved set, which includes its log, and begins an empty log.",
    .details = "This happens automatically when the log has grown to half the size of the snapshot and to 32 MiB. "
               "Do it by hand to make the next opening faster or, with --accept-damage, to rewrite a set that "
               "'vidi check' found damaged. The old snapshot is used until the new one is on disk.\n"
               "The exit status is 0, or 2 after an error.",
    .examples = "  vidi snapshot crawl.state\n",
    .options = options_table,
    .size = sizeof(cli_write_options),
    .operand = "STATE",
    .least = 1,
    .most = 1,
    .run = run,
};
