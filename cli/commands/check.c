/*
 * vidi check: verifies every byte of a state. The set is built in memory as a writer would
 * build it, so what passes here opens there.
 *
 * What a crash has left of the last writes is not damage, because they were never reported as being on disk.
 *
 * Of a set on a server, each shard is asked what it is; its bytes are the server's business.
 */
#include <string.h>
#include <unistd.h>

#include "ui/options.h"
#include "pipeline/state.h"

typedef struct check_options {
    bool quiet;
    cli_server_options server;
} check_options;

static int print_good(const char *path, const vidi_stats *stats, const vidi_recovery *found)
{
    cli_out out;
    cli_number urls, snapshot, log, unfinished;

    cli_out_init(&out, STDOUT_FILENO);
    cli_out_format(&out, "%s: all is well: %s", path, cli_human_urls(&urls, stats->count));
    if (stats->snapshot_bytes)
        cli_out_format(&out, ", snapshot of %s, log of %s", cli_human_bytes(&snapshot, stats->snapshot_bytes),
                       cli_human_bytes(&log, stats->log_bytes));
    cli_out_text(&out, "\n");
    if (found->unfinished_bytes)
        cli_out_format(&out,
                       "%s: the log ends in %s bytes of an unfinished write, which is going on or was cut off by a "
                       "crash; this is not damage\n",
                       path, cli_human_count(&unfinished, found->unfinished_bytes));
    return cli_out_close(&out);
}

static int report_damage(const char *path, const cli_damage *damage)
{
    cli_error("%s: %s; URLs that are gone with it will be new again, all others are intact; restore a backup, or use "
              "'vidi snapshot --accept-damage' to write the set without them",
              path, damage->text);
    return CLI_DAMAGED;
}

/* Says what to do about a set that cannot be opened because its files are damaged. */
static void advise(const char *path, int error, bool folder)
{
    if (error != VIDI_EFORMAT || cli_state_is_none(error))
        return;
    if (folder)
        cli_error("%s: it cannot be used as it is: restore the folder from a backup, or 'vidi import' an export of it",
                  path);
    else
        cli_error("%s: it cannot be imported: export the set again, or take another copy", path);
}

static int check(const char *path, bool quiet)
{
    vidi_set *set;
    vidi_stats stats;
    int error = VIDI_OK;
    int status = cli_state_open(
        &set, path,
        &(cli_opening){.flags = VIDI_READ_ONLY | VIDI_NO_MAP, .damage = CLI_DAMAGE_PASSES, .error = &error});

    if (status != CLI_OK) {
        advise(path, error, cli_state_is_folder(path));
        return status;
    }
    vidi_recovery found = cli_state_recovered(set);
    status = cli_state_stat(set, path, &stats);
    vidi_close(set);
    cli_damage damage = cli_state_damage(&found);
    if (status == CLI_OK && *damage.text)
        return report_damage(path, &damage);
    return status == CLI_OK && !quiet ? print_good(path, &stats, &found) : status;
}

/* ---- on a server ---- */

static void report_fault(void *context, const char *sentence)
{
    const char *shown = context;
    bool names_it = strncmp(sentence, shown, strlen(shown)) == 0;

    cli_error("%s%s%s", names_it ? "" : shown, names_it ? "" : ": ", sentence);
}

static int print_shards(vidi_cluster *cluster, const char *address)
{
    vidi_stats stats;
    vidi_cluster_stats more;
    cli_shown shown;
    cli_number urls, shards, servers;

    CLI_TRY(cli_server_stat(cluster, address, &stats, &more));
    return cli_print_result("%s: all is well: %s in %s %s on %s %s\n", cli_shown_path(&shown, address),
                            cli_human_urls(&urls, stats.count), cli_human_count(&shards, more.shards),
                            more.shards == 1 ? "shard" : "shards", cli_human_count(&servers, more.nodes),
                            more.nodes == 1 ? "server" : "servers");
}

static int check_away(const char *address, const check_options *options)
{
    vidi_cluster *cluster;
    cli_shown shown;
    uint64_t faults = 0;

    CLI_TRY(cli_server_open(&cluster, address, &options->server, &(cli_server_use){.flags = VIDI_READ_ONLY}));
    cli_shown_path(&shown, address);
    int error = vidi_cluster_check(cluster, report_fault, shown.address, &faults);
    int status = error < 0 ? cli_server_error(address, error) : faults ? CLI_DAMAGED : CLI_OK;
    if (status == CLI_OK && !options->quiet)
        status = print_shards(cluster, address);
    vidi_cluster_close(cluster);
    return status;
}

static int run(void *values, cli_words words)
{
    const check_options *options = values;

    CLI_TRY(cli_server_check(words.list[0], &options->server));
    return cli_is_address(words.list[0]) ? check_away(words.list[0], options) : check(words.list[0], options->quiet);
}

static const cli_option options_table[] = {
    {"quiet", 'q', CLI_FLAG, offsetof(check_options, quiet), NULL, "Print nothing if there is no damage",
     "Damage is still reported.", 0},
    CLI_SERVER_OPTIONS(offsetof(check_options, server)),
    CLI_OPTIONS_END,
};

const cli_command cli_check = {
    .name = "check",
    .summary = "Verify every byte of a saved set",
    .usage = "vidi check [OPTION]... STATE",
    .about = "Verifies every byte of a saved set and reports damage.",
    .details =
        "STATE is a folder with a set, which may be in use, or a file that 'vidi export' wrote. This needs "
        "as much memory as the set and changes nothing.\n"
        "A message names the first damaged or missing file and says what you can do. If a log is damaged, "
        "only the URLs in that place are forgotten; they will be new again. Bytes of a log that were never "
        "known to be on disk are not damage: they come from a write in progress, or from one that a crash "
        "interrupted. With '--sync never', this is true of everything after the last good record.\n"
        "STATE may also be the address of a set on a server, such as redis://localhost/crawl. Then every shard is "
        "asked whether it is there, belongs to this set and is made as the set's record says.\n"
        "The exit status is 0 if there is no damage, 1 if something is damaged or missing and the rest can "
        "be used, and 2 if the set cannot be read.",
    .examples = "  vidi check crawl.state\n"
                "  vidi check -q backup.vidi && cp backup.vidi /mnt/safe\n",
    .options = options_table,
    .size = sizeof(check_options),
    .common = "quiet help",
    .operand = "STATE",
    .least = 1,
    .most = 1,
    .run = run,
};
