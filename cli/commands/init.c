/*
 * vidi init: makes an empty set, in a folder or on a server. On a server it is the only command that makes one: a set
 * that is missing there was lost, or is looked for under a wrong name, and must not begin anew by accident.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/options/canon_options.h"
#include "pipeline/options/cluster_plan.h"
#include "pipeline/options/set_options.h"
#include "pipeline/state.h"
#include "ui/options.h"

typedef struct init_options {
    cli_set_options set;
    uint64_t shards;
} init_options;

static int print(const char *path, const vidi_stats *stats, const vidi_cluster_stats *more)
{
    cli_shown shown;
    cli_number shards, servers, urls;
    char where[120] = "", size[80] = "";

    if (more)
        snprintf(where, sizeof where, " in %s %s on %s %s", cli_human_count(&shards, more->shards),
                 more->shards == 1 ? "shard" : "shards", cli_human_count(&servers, more->nodes),
                 more->nodes == 1 ? "server" : "servers");
    if (stats->capacity)
        snprintf(size, sizeof size, ", made for %s", cli_human_urls(&urls, stats->capacity));
    return cli_print_result("%s: an empty set of kind %s%s%s\n", cli_shown_path(&shown, path), stats->kind, where,
                            size);
}

/* ---- in a folder ---- */

static int init_here(const init_options *options)
{
    const char *path = options->set.state;
    vidi_set *set;
    vidi_stats stats;

    if (options->shards)
        return cli_error("--shards is for sets on servers");
    int status = cli_set_create(&set, &options->set);
    if (status == CLI_OK)
        status = cli_state_stat(set, path, &stats);
    if (status == CLI_OK)
        status = print(path, &stats, NULL);
    vidi_close(set);
    return status;
}

/* ---- on a server ---- */

static int check_away(const cli_set_options *options)
{
    if (options->like || options->key_from)
        return cli_error("%s is for folders; --key-file makes sets on servers under the same key",
                         options->like ? "--like" : "--key-from");
    if (options->memory && !options->capacity)
        return cli_error("--memory needs --capacity here; each server has a limit of its own");
    return CLI_OK;
}

/*
 * If the options say what the set is for, the planner chooses how each shard is made. Otherwise the library divides the
 * capacity.
 */
static int plan_shards(const cli_set_options *options, vidi_options *set, uint32_t *shards,
                       cli_cluster_plan plans[CLI_CLUSTER_PLANS])
{
    vidi_plan_request want;
    size_t n;

    if (!cli_set_is_planned(options))
        return CLI_OK;
    cli_set_request(options, &want);
    CLI_TRY(cli_cluster_plans(&want, *shards, 0, plans, &n));
    if (!cli_plan_choice(&want, &plans[0].shard, 1))
        return cli_error("with so little memory, about %.0f %% of the pages would be lost when the set is full; give "
                         "more --memory, or a smaller --capacity",
                         100 * plans[0].shard.error);
    set->kind = plans[0].shard.kind;
    set->params = plans[0].shard.params;
    set->capacity = 0; /* the parameters contain it, and the error rate */
    set->error = 0;
    *shards = plans[0].shards;
    return CLI_OK;
}

static int create_away(const init_options *options, const char *tracking)
{
    const cli_set_options *how = &options->set;
    vidi_options set = VIDI_OPTIONS_INIT;
    cli_cluster_plan plans[CLI_CLUSTER_PLANS];
    unsigned char key[VIDI_KEY_BYTES];
    uint32_t shards = (uint32_t)options->shards;
    vidi_cluster_access access = cli_server_access(&how->server, &(cli_server_use){0});

    CLI_TRY(cli_set_describe_alone(how, tracking, &set));
    CLI_TRY(plan_shards(how, &set, &shards, plans));
    if (how->key_file)
        CLI_TRY(cli_key_take(how->key_file, key));
    set.key = how->key_file ? key : NULL;
    int error = vidi_cluster_create(how->state, &set, shards, &access);
    return error < 0 ? cli_server_error(how->state, error) : CLI_OK;
}

static int show_away(const cli_set_options *options)
{
    vidi_cluster *cluster;
    vidi_stats stats;
    vidi_cluster_stats more;

    CLI_TRY(cli_server_open(&cluster, options->state, &options->server, &(cli_server_use){.flags = VIDI_READ_ONLY}));
    int status = cli_server_stat(cluster, options->state, &stats, &more);
    vidi_cluster_close(cluster);
    return status == CLI_OK ? print(options->state, &stats, &more) : status;
}

static int init_away(const init_options *options)
{
    char *tracking;

    CLI_TRY(check_away(&options->set));
    CLI_TRY(cli_tracking_read(options->set.tracking, &tracking));
    int status = create_away(options, tracking);
    free(tracking);
    return status == CLI_OK ? show_away(&options->set) : status;
}

static int run(void *values, cli_words words)
{
    init_options *options = values;

    options->set.state = words.list[0];
    CLI_TRY(cli_server_check(options->set.state, &options->set.server));
    return cli_is_address(options->set.state) ? init_away(options) : init_here(options);
}

#define FIELD(name) offsetof(init_options, name)

static const cli_option options_table[] = {
    {"capacity", 0, CLI_COUNT, FIELD(set.capacity), "N", "Number of different URLs to expect", NULL, 0},
    {"lost", 0, CLI_AMOUNT, FIELD(set.lost), "L", "Number of pages that may be lost; 0: none",
     "With --capacity or --memory, uses the best plan that expects to lose no more (see 'vidi plan').", 0},
    {"error", 0, CLI_PROBABILITY, FIELD(set.error), "E", "Probability of mistaking a new URL for seen [1e-6]",
     "This is the rate when the set is full. With --capacity, and without --kind, uses the best plan that keeps to it.",
     0},
    {"memory", 0, CLI_BYTES, FIELD(set.memory), "SIZE", "Memory for the set, like 500M, 2GiB or 2GB",
     "With --capacity, --lost or --error, uses the best plan that fits.", 0},
    {"kind", 0, CLI_TEXT, FIELD(set.kind), "NAME", "Kind of set to remember the URLs in",
     "'vidi kinds' lists them, the default first.", 0},
    {"param", 0, CLI_PAIRS, FIELD(set.params), "NAME=VALUE", "Parameter of the kind; may be given several times",
     "On a server, each shard is made with these parameters.", 0},
    {"canon", 0, CLI_TEXT, FIELD(set.canon), "P", CLI_CANON_SUMMARY, CLI_CANON_DETAILS, 0},
    {"key", 0, CLI_TEXT, FIELD(set.key), "WHAT", "Remember url, host or site [url]",
     "'host' and 'site' are short for --canon key=host and --canon key=site.", 0},
    {"tracking", 0, CLI_TEXT, FIELD(set.tracking), "FILE", CLI_TRACKING_SUMMARY, CLI_TRACKING_DETAILS, 0},
    {"like", 0, CLI_TEXT, FIELD(set.like), "STATE2", "Copy the settings of another state",
     "Copies kind, size, key and canonical form, so that the two can be merged. For folders.", 0},
    {"key-from", 0, CLI_TEXT, FIELD(set.key_from), "STATE2", "Create the state under the secret key of another one",
     "For folders.", 0},
    {"key-file", 0, CLI_TEXT, FIELD(set.key_file), "FILE", "Create the state under the secret key in this file",
     "The file has 32 hexadecimal digits, as 'openssl rand -hex 16' prints them. Keep it secret: whoever knows the key "
     "can choose which pages are lost.",
     0},
    {"shards", 0, CLI_COUNT, FIELD(shards), "N", "On a server: number of shards [one for each 8 MiB]",
     "The number never changes. 'vidi plan --cluster' chooses it for a number of servers. Without a capacity, there "
     "are "
     "16 shards in a cluster and 1 on a single server.",
     CLI_SHARDS_MOST},
    CLI_REPLICA_OPTION(offsetof(init_options, set.server)),
    CLI_SERVER_OPTIONS(offsetof(init_options, set.server)),
    CLI_OPTIONS_END,
};

const cli_command cli_init = {
    .name = "init",
    .summary = "Make an empty set, in a folder or on a server",
    .usage = "vidi init [OPTION]... STATE",
    .about = "Makes an empty set in the folder STATE, or at the address STATE on a Redis or Valkey server or cluster.",
    .details = "An address is redis://HOST/NAME, or redis://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME; rediss:// encrypts "
               "the connection, and redis+unix:///PATH/NAME leads to a socket. The environment variable "
               "VIDI_REDIS_PASSWORD gives the password if the address has none. The servers must have loaded vidi's "
               "module. Several hosts are tried in turn, and the nodes of a cluster are found by asking.\n"
               "A set on a server is made by this command only; others that do not find it fail. It is divided into "
               "shards, which are spread over the nodes of a cluster.\n"
               "If there is a set already, that is an error. If this command is killed, run it again with the same "
               "options.\n"
               "The exit status is 0, or 2 after an error.",
    .examples = "  vidi init crawl.vidi --canon crawl\n"
                "  vidi init redis://localhost/crawl\n"
                "  vidi init redis://node-1,node-2/crawl --capacity 1e9 --lost 1\n",
    .options = options_table,
    .size = sizeof(init_options),
    .defaults = &(const init_options){.set.lost = -1},
    .common = "capacity lost error memory kind param canon key key-file shards help",
    .operand = "STATE",
    .least = 1,
    .most = 1,
    .run = run,
};
