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
    cli_write_options write;
    cli_server_options server;
    bool keep_previous, force;
} rotate_options;

static int print_result(const char *old_kind, const vidi_stats *stats, uint64_t forgotten, double lost_pages)
{
    cli_number urls, lost, size;
    bool other = strcmp(old_kind, stats->kind) != 0;

    return cli_print_result("Forgot %s; expected pages lost: %s. The new set%s%s%s %s%s.\n",
                            cli_human_urls(&urls, forgotten), cli_human_lost(&lost, lost_pages, VIDI_FP_EXACT),
                            other ? " (" : "", other ? stats->kind : "", other ? ")" : "",
                            stats->capacity ? "is sized for " : "grows as needed",
                            stats->capacity ? cli_human_urls(&size, stats->capacity) : "");
}

static int print(const vidi_set *set, const char *path, const char *old_kind)
{
    vidi_stats stats;
    vidi_epoch_stats past = {.size = sizeof past};

    CLI_TRY(cli_state_stat(set, path, &stats));
    int error = vidi_epoch_stat(set, stats.past_epochs - 1, &past);
    if (error < 0)
        return cli_state_error(path, error);
    return print_result(old_kind, &stats, past.count, past.expected_lost);
}

static vidi_options next_epoch(const rotate_options *options, const vidi_stats *before)
{
    vidi_options next = VIDI_OPTIONS_INIT;

    next.kind = options->kind;
    next.params = options->params;
    if (options->kind && !options->params && strcmp(options->kind, before->kind) != 0)
        next.params = ""; /* parameters of the old kind mean nothing to another kind */
    next.capacity = options->capacity;
    next.error = options->error;
    next.flags = options->keep_previous ? VIDI_KEEP_PREVIOUS : 0;
    return next;
}

static int rotate(vidi_set *set, const char *path, const rotate_options *options)
{
    vidi_stats before;

    CLI_TRY(cli_state_stat(set, path, &before));
    vidi_options next = next_epoch(options, &before);
    int error = vidi_rotate(set, &next);
    return error < 0 ? cli_state_error(path, error) : print(set, path, before.kind);
}

static int rotate_here(const char *path, const rotate_options *options)
{
    vidi_set *set;

    if (options->force)
        return cli_error("--force is for sets on servers: it rotates although URLs are claimed");
    int status = cli_state_open_to_write(&set, path, &options->write, (cli_opening){0});
    if (status == CLI_OK)
        status = rotate(set, path, options);
    vidi_close(set);
    return status;
}

/* ---- on a server ---- */

static int rotate_shards(vidi_cluster *cluster, const char *address, const rotate_options *options)
{
    vidi_stats before, after;
    vidi_cluster_stats more;
    cli_shown shown;
    cli_number urls;

    CLI_TRY(cli_server_stat(cluster, address, &before, &more));
    vidi_options next = next_epoch(options, &before);
    int error = vidi_cluster_rotate(cluster, &next, options->force);
    if (error == VIDI_EBUSY && more.claims)
        return cli_error("%s: other clients have claimed %s; stop them first, or rotate with --force, after which they "
                         "may hand some URLs on twice",
                         cli_shown_path(&shown, address), cli_human_urls(&urls, more.claims));
    if (error < 0)
        return cli_server_error(address, error);
    CLI_TRY(cli_server_stat(cluster, address, &after, NULL));
    return print_result(before.kind, &after, before.count, before.expected_lost);
}

static int rotate_away(const char *address, const rotate_options *options)
{
    vidi_cluster *cluster;

    CLI_TRY(cli_write_check_address(&options->write));
    CLI_TRY(cli_server_open(&cluster, address, &options->server, &(cli_server_use){0}));
    int status = rotate_shards(cluster, address, options);
    vidi_cluster_close(cluster);
    return status;
}

static int run(void *values, cli_words words)
{
    const rotate_options *options = values;

    CLI_TRY(cli_server_check(words.list[0], &options->server));
    return cli_is_address(words.list[0]) ? rotate_away(words.list[0], options) : rotate_here(words.list[0], options);
}

#define FIELD(name) offsetof(rotate_options, name)

static const cli_option options_table[] = {
    {"kind", 0, CLI_TEXT, FIELD(kind), "NAME", "Kind of the next epoch's set [same]", "'vidi kinds' lists them.", 0},
    {"param", 0, CLI_PAIRS, FIELD(params), "NAME=VALUE", "Parameter of the kind; may be given several times",
     "Parameters given here replace all parameters of the old set. So does another --kind.", 0},
    {"capacity", 0, CLI_COUNT, FIELD(capacity), "N", "Number of different URLs to expect [last count * 1.25]", NULL, 0},
    {"error", 0, CLI_PROBABILITY, FIELD(error), "E", "Probability that a new URL is taken for seen [same]", NULL, 0},
    {"keep-previous", 0, CLI_FLAG, FIELD(keep_previous), NULL, "Keep the old epoch, for explicit lookups",
     "It takes space on disk and in memory until the next rotation.", 0},
    {"force", 0, CLI_FLAG, FIELD(force), NULL, "On a server: rotate although URLs are claimed",
     "Other clients that are working with the set may then hand some URLs on twice. Without this option, claims are an "
     "error.",
     0},
    CLI_WRITE_OPTIONS(rotate_options),
    CLI_REPLICA_OPTION(offsetof(rotate_options, server)),
    CLI_SERVER_OPTIONS(offsetof(rotate_options, server)),
    CLI_OPTIONS_END,
};

const cli_command cli_rotate = {
    .name = "rotate",
    .summary = "Forget all URLs of a saved set, for the next crawl",
    .usage = "vidi rotate [OPTION]... STATE",
    .about = "Forgets all URLs of a saved set, for the next crawl: begins an empty epoch with new salts.",
    .details = "Every URL is new in the new epoch. A page that was lost in the old one, because its URL was "
               "mistaken for a seen one, is found in the new one, because each epoch hashes URLs with salts of its "
               "own. Prints how many URLs were forgotten; 'vidi info' shows all epochs.\n"
               "If anything fails, the set stays in its epoch.\n"
               "STATE is a folder, or the address of a set on a server, such as redis://localhost/crawl. There, one "
               "shard after the other is rotated; if that is interrupted, whoever opens the set next finishes it.\n"
               "The exit status is 0, or 2 after an error.",
    .examples = "  vidi rotate crawl.state\n"
                "  vidi rotate --kind blocked --capacity 1e9 --error 1e-3 crawl.state\n",
    .options = options_table,
    .size = sizeof(rotate_options),
    .common = "kind param capacity error keep-previous force wait accept-damage help",
    .operand = "STATE",
    .least = 1,
    .most = 1,
    .run = run,
};
