/*
 * vidi drop: removes a set from a server. Without --yes it only tells what would be removed, because nothing brings it
 * back.
 */
#include <string.h>

#include "pipeline/state.h"
#include "ui/options.h"

typedef struct drop_options {
    bool yes;
    cli_server_options server;
} drop_options;

/* What the set holds. */
typedef struct contents {
    vidi_stats stats;
    vidi_cluster_stats more;
} contents;

static int look(const char *address, const cli_server_options *options, contents *found)
{
    vidi_cluster *cluster;

    CLI_TRY(cli_server_open(&cluster, address, options, &(cli_server_use){.flags = VIDI_READ_ONLY}));
    int status = cli_server_stat(cluster, address, &found->stats, &found->more);
    vidi_cluster_close(cluster);
    return status;
}

static int ask_for_yes(const char *address, const contents *found)
{
    cli_shown shown;
    cli_number urls, claims, shards;

    return cli_error("%s holds %s in %s %s, and %s that are claimed; to remove them for ever, give --yes",
                     cli_shown_path(&shown, address), cli_human_urls(&urls, found->stats.count),
                     cli_human_count(&shards, found->more.shards), found->more.shards == 1 ? "shard" : "shards",
                     cli_human_urls(&claims, found->more.claims));
}

/* A set that is damaged, so that it cannot be opened, can be removed all the same. */
static int drop(const char *address, const cli_server_options *options)
{
    vidi_cluster_access access = cli_server_access(options, &(cli_server_use){0});
    cli_shown shown;
    int error = vidi_cluster_drop(address, &access);

    cli_shown_path(&shown, address);
    if (error == VIDI_EABSENT)
        return cli_error("there is no set at %s", shown.path);
    return error < 0 ? cli_server_error(address, error) : cli_print_result("%s: removed\n", shown.path);
}

static int run(void *values, cli_words words)
{
    const drop_options *options = values;
    const char *address = words.list[0];
    contents found;

    CLI_TRY(cli_server_check(address, &options->server));
    if (!cli_is_address(address))
        return cli_error("%s is not an address; this command removes sets from servers, and 'rm -r' removes a folder",
                         address);
    if (options->yes)
        return drop(address, &options->server);
    CLI_TRY(look(address, &options->server, &found));
    return ask_for_yes(address, &found);
}

static const cli_option options_table[] = {
    {"yes", 0, CLI_FLAG, offsetof(drop_options, yes), NULL, "Remove the set",
     "Without this option, an error says what would be removed.", 0},
    CLI_SERVER_OPTIONS(offsetof(drop_options, server)),
    CLI_OPTIONS_END,
};

const cli_command cli_drop = {
    .name = "drop",
    .summary = "Remove a set from a server",
    .usage = "vidi drop [OPTION]... ADDRESS",
    .about = "Removes the set at the address, with its record and all of its shards, from a server or cluster.",
    .details =
        "Nothing brings the set back; 'vidi export' saves it before. URLs that clients have claimed are removed, "
        "too, and these clients fail. If the command is killed, run it again: it removes the rest. A set that "
        "is damaged can be removed like any other.\n"
        "A set in a folder is removed together with its folder, by 'rm -r'.\n"
        "The exit status is 0, or 2 after an error; also if --yes is missing.",
    .examples = "  vidi drop redis://localhost/crawl           what would be removed?\n"
                "  vidi drop --yes redis://localhost/crawl\n",
    .options = options_table,
    .size = sizeof(drop_options),
    .common = "yes help",
    .operand = "ADDRESS",
    .least = 1,
    .most = 1,
    .run = run,
};
