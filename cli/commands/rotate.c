/*
 * vidi rotate: ends the epoch of a state and begins the next one, which is empty and has new salts. So pages that were
 * lost in this crawl are found in the next.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ui/options.h"
#include "pipeline/state.h"

typedef struct rotate_options {
    const char *kind;
    char *params;
    uint64_t capacity;
    double error;
    bool keep_previous, wait, accepts;
} rotate_options;

static int print(const vidi_set *set, const char *path, const char *old_kind)
{
    vidi_stats stats;
    vidi_epoch_stats past = {.size = sizeof past};
    cli_number old_epoch, epoch, urls, lost, capacity;
    cli_out out;

    if (cli_state_stat(set, path, &stats) != CLI_OK)
        return CLI_ERROR;
    int error = vidi_epoch_stat(set, stats.past_epochs - 1, &past);
    if (error < 0)
        return cli_state_error(path, error);
    cli_out_init(&out, STDOUT_FILENO);
    cli_out_format(&out, "epoch %s (%s) ended: %s, %s pages lost (expected); ", cli_human_count(&old_epoch, past.epoch),
                   old_kind, cli_human_urls(&urls, past.count),
                   cli_human_lost(&lost, past.expected_lost, VIDI_FP_EXACT));
    cli_out_format(&out, "epoch %s (%s) begins, ", cli_human_count(&epoch, stats.epoch), stats.kind);
    if (stats.capacity)
        cli_out_format(&out, "made for %s\n", cli_human_urls(&capacity, stats.capacity));
    else
        cli_out_text(&out, "growing as needed\n");
    return cli_out_close(&out);
}

static int rotate(vidi_set *set, const char *path, const rotate_options *options)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    vidi_stats before;

    if (cli_state_stat(set, path, &before) != CLI_OK)
        return CLI_ERROR;
    next.kind = options->kind;
    next.params = options->params;
    if (options->kind && !options->params && strcmp(options->kind, before.kind) != 0)
        next.params = ""; /* parameters of the old kind mean nothing to another kind */
    next.capacity = options->capacity;
    next.error = options->error;
    next.flags = options->keep_previous ? VIDI_KEEP_PREVIOUS : 0;
    int error = vidi_rotate(set, &next);
    return error < 0 ? cli_state_error(path, error) : print(set, path, before.kind);
}

static int rotate_run(const cli_command *self, cli_words words, const rotate_options *options)
{
    vidi_set *set;
    vidi_access access = VIDI_ACCESS_INIT;

    if (cli_operands(self, words, 1, 1) != CLI_OK)
        return CLI_ERROR;
    access.flags = options->accepts ? VIDI_ACCEPT_DAMAGE : 0;
    int status = cli_state_open_to_write(&set, words.list[0], &access, options->wait);
    if (status != CLI_OK)
        return status;
    status = rotate(set, words.list[0], options);
    vidi_close(set);
    return status;
}

static int run(const cli_command *self, cli_words words)
{
    rotate_options options = {0};
    int status = cli_options_parse(self, &words, &options);

    if (status == CLI_GO_ON)
        status = rotate_run(self, words, &options);
    free(options.params);
    return status;
}

#define FIELD(name) offsetof(rotate_options, name)

static const cli_option options_table[] = {
    {"kind", 0, CLI_TEXT, FIELD(kind), "NAME", "Kind of the next epoch's set [same]", "'vidi kinds' lists them.", 0},
    {"param", 0, CLI_PAIRS, FIELD(params), "NAME=VALUE", "Parameter of the kind; may be given several times",
     "Those given take the place of all that the set was made with, as does another kind.", 0},
    {"capacity", 0, CLI_COUNT, FIELD(capacity), "N", "Number of different URLs to expect [last count * 1.25]", NULL, 0},
    {"error", 0, CLI_PROBABILITY, FIELD(error), "E", "Probability that a new URL is taken for seen [same]", NULL, 0},
    {"keep-previous", 0, CLI_FLAG, FIELD(keep_previous), NULL, "Keep the epoch that ends, for explicit lookups",
     "It takes its place on disk, and in memory, until the next rotation, which keeps that epoch in its turn.", 0},
    {"wait", 0, CLI_FLAG, FIELD(wait), NULL, CLI_WAIT_SUMMARY, CLI_WAIT_DETAILS, 0},
    {"accept-damage", 0, CLI_FLAG, FIELD(accepts), NULL, CLI_DAMAGE_SUMMARY, CLI_DAMAGE_DETAILS, 0},
    CLI_OPTIONS_END,
};

const cli_command cli_rotate = {
    .name = "rotate",
    .summary = "Begin the next epoch of a saved set: empty, with new salts",
    .usage = "vidi rotate [OPTION]... STATE",
    .about = "Begins the next epoch of a saved set, for the next crawl: empty, and with new salts.",
    .details = "Every URL is new in the new epoch. A page that was lost in the last one, because its URL was taken for "
               "seen, is found in this one, as the salts are others. Prints how the last epoch ended; 'vidi info' "
               "shows all of them.\n"
               "If anything fails, the set stays in its epoch.\n"
               "The exit status is 0, or 2 after an error.",
    .examples = "  vidi rotate crawl.state\n"
                "  vidi rotate --kind blocked --capacity 1e9 --error 1e-3 crawl.state\n",
    .options = options_table,
    .operand = "STATE",
    .run = run,
};
