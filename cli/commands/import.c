/*
 * vidi import: makes a state from an exported set, after the whole stream was read and verified.
 */
#include <unistd.h>

#include "ui/options.h"
#include "pipeline/state.h"

static int print(const vidi_set *set, const char *path)
{
    vidi_stats stats;
    cli_number urls, bytes;
    cli_out out;

    if (cli_state_stat(set, path, &stats) != CLI_OK)
        return CLI_ERROR;
    cli_out_init(&out, STDOUT_FILENO);
    cli_out_format(&out, "%s: %s in a snapshot of %s\n", path, cli_human_urls(&urls, stats.count),
                   cli_human_bytes(&bytes, stats.snapshot_bytes));
    return cli_out_close(&out);
}

/* Fails early, before the whole stream is read. The library checks again, and its answer counts. */
static int check_absent(const char *path)
{
    vidi_set *set;
    int error = vidi_open(&set, path, VIDI_READ_ONLY);

    vidi_close(set);
    return error == VIDI_OK ? cli_error("there is a set at %s already", path) : CLI_OK;
}

static int run(const cli_command *self, cli_words words)
{
    vidi_set *set;
    int error, status = cli_options_parse(self, &words, NULL);

    if (status != CLI_GO_ON)
        return status;
    if (cli_operands(self, words, 1, 2) != CLI_OK || check_absent(words.list[0]) != CLI_OK)
        return CLI_ERROR;
    status = cli_state_read(&set, words.count > 1 ? words.list[1] : "-", words.list[0], NULL, &error);
    if (status == CLI_OK)
        status = print(set, words.list[0]);
    vidi_close(set);
    return status;
}

static const cli_option options_table[] = {CLI_OPTIONS_END};

const cli_command cli_import = {
    .name = "import",
    .summary = "Make a saved set from an exported file",
    .usage = "vidi import STATE [FILE]",
    .about = "Makes the folder STATE, with a set in it, from a file that 'vidi export' wrote, or from standard input.",
    .details = "Everything is verified before the folder is made: after an error in the input nothing is there. A "
               "folder that holds a set already is refused; an empty one is taken.\n"
               "The new set is the same as the one that was exported, with its key, its epoch and its history, so "
               "that the two can be merged later. An epoch that was kept with 'vidi rotate --keep-previous' is not in "
               "the file.\n"
               "The exit status is 0, or 2 after an error.",
    .examples = "  vidi import crawl.state crawl.vidi\n"
                "  ssh other vidi export crawl.state | vidi import copy.state\n",
    .options = options_table,
    .operand = "STATE",
    .run = run,
};
