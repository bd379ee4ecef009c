/*
 * vidi info: what a state is, how full, how many pages it has cost, and what recovery would find. The snapshot is
 * mapped, so that this takes no time and little memory whatever the size, and does not mind a writer. Of a set on a
 * server, the figures are those of all shards together.
 */
#include <stdio.h>
#include <unistd.h>

#include "ui/options.h"
#include "ui/run_statistics.h"
#include "pipeline/state.h"

enum { FORMAT = 1 }; /* of folders and exported files (docs/FORMAT.md); the library refuses others */

typedef struct info_options {
    bool json;
    cli_server_options server;
} info_options;

typedef struct info {
    const char *path;
    bool away;   /* on a server */
    bool folder; /* otherwise: a folder, not an exported file */
    cli_state_view view;
    vidi_cluster_stats more; /* if away */
} info;

/* The index-th epoch, the oldest first; the last one is the current one. Returns false after that. */
static bool epoch_at(const info *state, uint64_t index, vidi_epoch_stats *epoch)
{
    const vidi_stats *stats = &state->view.stats;

    *epoch = (vidi_epoch_stats){.size = sizeof *epoch};
    if (index < stats->past_epochs)
        return vidi_epoch_stat(state->view.set, index, epoch) == VIDI_OK;
    epoch->epoch = stats->epoch;
    epoch->capacity = stats->capacity;
    epoch->count = stats->count;
    epoch->bytes = stats->bytes;
    epoch->answered_new = stats->answered_new;
    epoch->answered_seen = stats->answered_seen;
    epoch->fp_end = stats->fp_now;
    epoch->expected_lost = stats->expected_lost;
    return index == stats->past_epochs;
}

/* ---- for programs ---- */

static void print_epochs(json_writer *json, const info *state)
{
    vidi_epoch_stats epoch;

    json_open(json, "epochs", '[');
    for (uint64_t i = 0; epoch_at(state, i, &epoch); i++) {
        json_open(json, NULL, '{');
        json_add_count(json, "epoch", epoch.epoch);
        json_add_bool(json, "current", i == state->view.stats.past_epochs);
        json_add_count(json, "count", epoch.count);
        json_add_count(json, "capacity", epoch.capacity);
        json_add_count(json, "bytes", epoch.bytes);
        json_add_count(json, "new", epoch.answered_new);
        json_add_count(json, "seen", epoch.answered_seen);
        json_add_real(json, "error", epoch.fp_end);
        json_add_real(json, "expected_lost", epoch.expected_lost);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void print_folder(json_writer *json, const info *state)
{
    json_add_count(json, "snapshot_bytes", state->view.stats.snapshot_bytes);
    json_add_count(json, "log_bytes", state->view.stats.log_bytes);
    json_open(json, "recovery", '{');
    json_add_count(json, "logs", state->view.found.logs);
    json_add_count(json, "records", state->view.found.records);
    json_add_count(json, "urls", state->view.found.urls);
    json_add_count(json, "unfinished_bytes", state->view.found.unfinished_bytes);
    json_add_count(json, "damaged_bytes", state->view.found.damaged_bytes);
    json_add_count(json, "damaged_places", state->view.found.damaged_places);
    json_add_string(json, "damaged_log", state->view.found.damaged_log);
    json_add_count(json, "damaged_at", state->view.found.damaged_at);
    json_add_count(json, "missing_files", state->view.found.missing_files);
    json_add_string(json, "missing_file", state->view.found.missing_file);
    json_close(json, '}');
}

static void print_shards(json_writer *json, const vidi_cluster_stats *more)
{
    char id[17];

    snprintf(id, sizeof id, "%016llx", (unsigned long long)more->set_id);
    json_add_string(json, "id", id);
    json_add_count(json, "shards", more->shards);
    json_add_count(json, "nodes", more->nodes);
    json_add_count(json, "claims", more->claims);
    json_add_count(json, "expired_claims", more->expired);
    json_add_count(json, "least", more->least);
    json_add_count(json, "most", more->most);
}

static void print_json(cli_out *out, const info *state)
{
    const vidi_stats *stats = &state->view.stats;
    json_writer json = cli_json_begin(out);

    json_add_string(&json, "path", state->path);
    if (state->away)
        print_shards(&json, &state->more);
    else
        json_add_count(&json, "format", FORMAT);
    json_add_string(&json, "kind", stats->kind);
    json_add_string(&json, "params", stats->params);
    json_add_string(&json, "canon", stats->canon);
    json_add_string(&json, "hash", stats->hash);
    json_add_bool(&json, "hash_keyed", stats->hash_trust == VIDI_HASH_KEYED);
    cli_json_can(&json, "can", stats->can);
    json_add_count(&json, "epoch", stats->epoch);
    json_add_count(&json, "count", stats->count);
    json_add_count(&json, "capacity", stats->capacity);
    json_add_count(&json, "bytes", stats->bytes);
    json_add_count(&json, "memory_bytes", stats->memory_bytes);
    json_add_real(&json, "fill", stats->fill);
    if (!state->away)
        json_add_bool(&json, "fill_has_log", !state->view.without_log);
    json_add_real(&json, "error_now", stats->fp_now);
    json_add_real(&json, "expected_lost", stats->expected_lost);
    json_add_string(&json, "expected_lost_is", cli_lost_is(stats));
    json_add_count(&json, "new", stats->answered_new);
    json_add_count(&json, "seen", stats->answered_seen);
    json_add_count(&json, "invalid", stats->answered_invalid);
    json_add_count(&json, "asked", stats->asked);
    json_add_count(&json, "removed", stats->removed);
    if (stats->lines_touched)
        json_add_count(&json, "lines_touched", stats->lines_touched);
    if (state->folder)
        print_folder(&json, state);
    print_epochs(&json, state);
    cli_json_end(&json);
}

/* ---- for people ---- */

static void folder_rows(cli_table *table, const info *state)
{
    const vidi_recovery *found = &state->view.found;
    cli_number log, urls, bytes;
    cli_damage damage = cli_state_damage(found);

    cli_table_bytes(table, "snapshot", state->view.stats.snapshot_bytes);
    cli_table_cell(table, "log");
    cli_table_cell(table, "%s, with %s added or removed", cli_human_bytes(&log, state->view.stats.log_bytes),
                   cli_human_urls(&urls, found->urls));
    if (found->unfinished_bytes) {
        cli_table_cell(table, "unfinished");
        cli_table_cell(table, "%s bytes of the log", cli_human_count(&bytes, found->unfinished_bytes));
    }
    if (*damage.text)
        cli_table_text(table, "damage", damage.text);
}

static void shard_rows(cli_table *table, const vidi_cluster_stats *more)
{
    cli_number shards, servers, least, most;

    cli_table_cell(table, "shards");
    bool equal = more->least == more->most;
    cli_table_cell(table, "%s on %s %s, with %s%s%s URLs", cli_human_count(&shards, more->shards),
                   cli_human_count(&servers, more->nodes), more->nodes == 1 ? "server" : "servers",
                   equal ? "" : cli_human_count(&least, more->least), equal ? "" : " to ",
                   cli_human_count(&most, more->most));
    cli_table_cell(table, "claimed");
    cli_table_cell(table, "%s, %s of them expired", cli_human_urls(&most, more->claims),
                   cli_human_count(&least, more->expired));
}

static int print_table(cli_out *out, const info *state)
{
    const vidi_stats *stats = &state->view.stats;
    cli_table table = {.layout = "ll"};
    cli_number number;

    cli_table_text(&table, "path", state->path);
    if (state->away) {
        shard_rows(&table, &state->more);
    } else {
        cli_table_cell(&table, "format");
        cli_table_cell(&table, "%d%s", FORMAT, state->folder ? "" : ", exported");
    }
    cli_table_cell(&table, "kind");
    cli_table_cell(&table, "%s%s%s", stats->kind, *stats->params ? " " : "", stats->params);
    cli_table_cell(&table, "hash");
    cli_table_cell(&table, "%s%s", stats->hash,
                   stats->hash_trust == VIDI_HASH_KEYED ? "" : " (for input that is trusted only)");
    cli_table_text(&table, "canonical form", stats->canon);
    cli_table_count(&table, "epoch", stats->epoch);
    cli_table_count(&table, "URLs", stats->count);
    cli_table_text(&table, "capacity", stats->capacity ? cli_human_count(&number, stats->capacity) : "grows");
    cli_table_bytes(&table, "filter", stats->bytes);
    cli_table_bytes(&table, "memory", stats->memory_bytes);
    const char *without = state->view.without_log ? " (of the snapshot, without the log)" : "";
    cli_table_cell(&table, "fill");
    cli_table_cell(&table, "%s%s", cli_human_real(&number, stats->fill), without);
    cli_table_cell(&table, "error rate now");
    cli_table_cell(&table, "%s%s", cli_human_real(&number, stats->fp_now), without);
    cli_table_cell(&table, "expected pages lost");
    cli_table_cell(&table, "%s", cli_human_expected(&number, stats->expected_lost, cli_lost_is(stats)));
    cli_table_count(&table, "answered new", stats->answered_new);
    cli_table_count(&table, "answered seen", stats->answered_seen);
    if (state->folder)
        folder_rows(&table, state);
    return cli_table_print(&table, out);
}

static int print_history(cli_out *out, const info *state)
{
    static const char *const heads[] = {"epoch", "URLs", "capacity", "filter", "new", "seen", "error", "pages lost"};
    cli_table table = {.layout = "rrrrrrrr"};
    vidi_epoch_stats epoch;
    cli_number number;

    if (state->view.stats.past_epochs == 0)
        return CLI_OK;
    cli_out_text(out, "\n");
    cli_table_heads(&table, heads);
    for (uint64_t i = 0; epoch_at(state, i, &epoch); i++) {
        cli_table_cell(&table, "%s", cli_human_count(&number, epoch.epoch));
        cli_table_cell(&table, "%s", cli_human_count(&number, epoch.count));
        cli_table_cell(&table, "%s", epoch.capacity ? cli_human_count(&number, epoch.capacity) : "grows");
        cli_table_cell(&table, "%s", cli_human_bytes(&number, epoch.bytes));
        cli_table_cell(&table, "%s", cli_human_count(&number, epoch.answered_new));
        cli_table_cell(&table, "%s", cli_human_count(&number, epoch.answered_seen));
        cli_table_cell(&table, "%s", cli_human_real(&number, epoch.fp_end));
        cli_table_cell(&table, "%s", cli_human_lost(&number, epoch.expected_lost, VIDI_FP_EXACT));
    }
    return cli_table_print(&table, out);
}

static int print(const info *state, bool json)
{
    cli_out out;
    int status = CLI_OK;

    cli_out_init(&out, STDOUT_FILENO);
    if (json)
        print_json(&out, state);
    else if ((status = print_table(&out, state)) == CLI_OK)
        status = print_history(&out, state);
    return cli_out_end(&out, status);
}

static int look_away(info *state, const char *address, const cli_server_options *options)
{
    vidi_cluster *cluster;

    CLI_TRY(cli_server_open(&cluster, address, options, &(cli_server_use){.flags = VIDI_READ_ONLY}));
    int status = cli_server_stat(cluster, address, &state->view.stats, &state->more);
    state->view.stats.past_epochs = 0; /* their records stay on the servers */
    vidi_cluster_close(cluster);
    return status;
}

static int run(void *values, cli_words words)
{
    const info_options *options = values;
    const char *path = words.list[0];
    cli_shown shown;
    info state = {
        .path = cli_shown_path(&shown, path), .away = cli_is_address(path), .folder = cli_state_is_folder(path)};

    CLI_TRY(cli_server_check(path, &options->server));
    int status = state.away ? look_away(&state, path, &options->server) : cli_state_look(path, &state.view);
    if (status == CLI_OK)
        status = print(&state, options->json);
    vidi_close(state.view.set);
    return status;
}

static const cli_option options_table[] = {
    {"json", 0, CLI_FLAG, offsetof(info_options, json), NULL, "Print one JSON object instead of a table", NULL, 0},
    CLI_SERVER_OPTIONS(offsetof(info_options, server)),
    CLI_OPTIONS_END,
};

const cli_command cli_info = {
    .name = "info",
    .summary = "Print a saved set's kind, size and expected losses",
    .usage = "vidi info [OPTION]... STATE",
    .about = "Prints the statistics of a saved set: kind, size, error rate, pages lost, epochs, files.",
    .details =
        "STATE is a folder with a set, or a file that 'vidi export' wrote. A large folder is mapped, not read, "
        "so this is fast whatever its size. The folder may be in use; the figures are those of the moment it "
        "was opened. 'filter' is the size of the set itself, 'memory' is the memory that this command needed.\n"
        "STATE may also be the address of a set on a server, such as redis://localhost/crawl. The figures are then "
        "sums over its shards; 'fill' and the error rate are those of a URL chosen at random. URLs that clients "
        "have claimed, but not yet committed, are counted apart.\n"
        "This command does not verify every byte; use 'vidi check' for that.\n"
        "The exit status is 0, or 2 after an error.",
    .examples = "  vidi info crawl.state\n"
                "  vidi info --json crawl.state | jq .expected_lost\n"
                "  vidi info --json crawl.state | jq '.epochs[] | [.epoch, .count]'\n",
    .options = options_table,
    .size = sizeof(info_options),
    .common = "json help",
    .operand = "STATE",
    .least = 1,
    .most = 1,
    .run = run,
};
