/*
 * vidi merge, into a set on a server: see merge_server.h. A server's set is divided among shards by a routing key, which
 * takes the URLs themselves. So only sets that keep their URLs can be merged into it. All are checked before the first
 * one is merged.
 */
#include "commands/merge_server.h"

#include <string.h>

typedef struct merging {
    const char *address;
    vidi_cluster *into;
    vidi_stats stats; /* of it, before */
    cli_words from;
    const cli_write_options *write;
    const cli_server_options *server;
} merging;

/* ---- checks ---- */

static int check_set(const merging *job, const char *path, const vidi_stats *stats)
{
    cli_shown into;

    cli_shown_path(&into, job->address);
    if (!(stats->can & VIDI_KEEPS_URLS))
        return cli_error("%s is of kind %s, which keeps only hashes of its URLs, so nobody can tell which shards of %s "
                         "they belong to; merge a set of kind hashset, sorted or list, or add the URLs themselves with "
                         "'vidi --state'",
                         path, stats->kind, into.path);
    if (strcmp(stats->canon, job->stats.canon) != 0)
        return cli_error("%s and %s cannot be merged: one set has canonical form %s, the other %s", into.path, path,
                         job->stats.canon, stats->canon);
    return CLI_OK;
}

/* What is done with a set that is open here, or away. */
typedef int (*use_set)(const merging *job, const char *path, const vidi_set *set);
typedef int (*use_cluster)(const merging *job, const char *path, vidi_cluster *cluster);

static int check_here(const merging *job, const char *path, const vidi_set *set)
{
    vidi_stats stats;

    CLI_TRY(cli_state_stat(set, path, &stats));
    int error = vidi_verify(set);
    return error < 0 ? cli_state_error(path, error) : check_set(job, path, &stats);
}

static int check_away(const merging *job, const char *path, vidi_cluster *cluster)
{
    vidi_stats stats;
    vidi_cluster_stats more, ours = {0};
    cli_shown shown;

    CLI_TRY(cli_server_stat(cluster, path, &stats, &more));
    CLI_TRY(cli_server_stat(job->into, job->address, &(vidi_stats){0}, &ours));
    if (more.set_id == ours.set_id)
        return cli_error("%s is both OUT and IN, and a set cannot be merged into itself", cli_shown_path(&shown, path));
    return check_set(job, cli_shown_path(&shown, path), &stats);
}

/* ---- merging ---- */

static int merge_here(const merging *job, const char *path, const vidi_set *set)
{
    int error = vidi_cluster_merge(job->into, set);

    (void)path;
    return error < 0 ? cli_server_error(job->address, error) : CLI_OK;
}

static int merge_shard(void *context, const vidi_set *shard)
{
    return merge_here(context, NULL, shard);
}

static int merge_away(const merging *job, const char *path, vidi_cluster *cluster)
{
    merging copy = *job;

    return cli_server_each_shard(cluster, path, merge_shard, &copy);
}

/* ---- all sets ---- */

static int visit_away(const merging *job, const char *path, use_cluster use)
{
    vidi_cluster *cluster;

    CLI_TRY(cli_server_open(&cluster, path, job->server, &(cli_server_use){.flags = VIDI_READ_ONLY}));
    int status = use(job, path, cluster);
    vidi_cluster_close(cluster);
    return status;
}

/* Opens one set after the other. */
static int visit_all(const merging *job, use_set here, use_cluster away)
{
    cli_opening opening = {.flags = VIDI_READ_ONLY | VIDI_NO_MAP,
                           .damage = job->write->accepts ? CLI_DAMAGE_WARNS : CLI_DAMAGE_FAILS};
    int status = CLI_OK;

    for (size_t i = 0; i < job->from.count && status == CLI_OK; i++) {
        const char *path = job->from.list[i];
        vidi_set *set;
        if (cli_is_address(path)) {
            status = visit_away(job, path, away);
            continue;
        }
        CLI_TRY(cli_state_open(&set, path, &opening));
        status = here(job, path, set);
        vidi_close(set);
    }
    return status;
}

static int print(const merging *job)
{
    vidi_stats stats;
    cli_shown shown;
    cli_number urls;

    CLI_TRY(cli_server_stat(job->into, job->address, &stats, NULL));
    return cli_print_result("%s: %s after merging %zu %s\n", cli_shown_path(&shown, job->address),
                            cli_human_urls(&urls, stats.count), job->from.count, job->from.count == 1 ? "set" : "sets");
}

int cli_merge_into_server(const char *address, cli_words from, const cli_write_options *write,
                          const cli_server_options *options)
{
    merging job = {.address = address, .from = from, .write = write, .server = options};

    if (write->wait)
        return cli_error("--wait is for folders; nobody locks a set on a server");
    CLI_TRY(cli_server_open(&job.into, address, options, &(cli_server_use){0}));
    int status = cli_server_stat(job.into, address, &job.stats, NULL);
    if (status == CLI_OK)
        status = visit_all(&job, check_here, check_away);
    if (status == CLI_OK)
        status = visit_all(&job, merge_here, merge_away);
    if (status == CLI_OK)
        status = print(&job);
    vidi_cluster_close(job.into);
    return status;
}
