/*
 * vidi top: what a running `vidi --state` is doing, drawn again and again in the same place. If no process is running,
 * it shows what is saved, and waits for one. live_file.h says how the two processes communicate; nothing here disturbs
 * the run.
 *
 * A set on a server is asked for its figures; how fast URLs are added follows from two answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/crawl/crawl_top.h"
#include "common/clock.h"
#include "ui/live_file.h"
#include "ui/options.h"
#include "pipeline/state.h"
#include "ui/screen.h"
#include "ui/terminal.h"

enum { REDRAW_MS = 500, BAR_WIDTH = 30, LABEL_ROOM = 14 };

typedef struct top_options {
    const char *state, *color;
    bool once, json;
    cli_server_options server;
} top_options;

/* What is known at the moment. */
typedef struct top {
    const char *path;        /* as it may be shown */
    const char *address;     /* of a set on a server; NULL: a folder */
    vidi_cluster *cluster;   /* the same */
    vidi_cluster_stats more; /* the same */
    double looked_at, rate;  /* the same: seconds; URLs added a second since the look before */
    bool runs;               /* a process is running */
    cli_live_view view;      /* what it published; if none is running, only the set in its report */
    bool looked;             /* at what is saved, since a process last ran */
    bool color;
} top;

static int look_away(top *top)
{
    vidi_stats *stats = &top->view.report.set;
    uint64_t had = stats->count, epoch = stats->epoch;
    double now = clock_seconds(), passed = now - top->looked_at;

    CLI_TRY(cli_server_stat(top->cluster, top->address, stats, &top->more));
    bool comparable = top->looked_at > 0 && passed > 0 && stats->epoch == epoch && stats->count >= had;
    top->rate = comparable ? (double)(stats->count - had) / passed : 0;
    top->looked_at = now;
    return CLI_OK;
}

static int look(top *top)
{
    cli_state_view saved;

    if (top->cluster)
        return look_away(top);
    top->runs = cli_live_read(top->path, &top->view);
    if (top->runs || top->looked) {
        top->looked = !top->runs;
        return CLI_OK;
    }
    int status = cli_state_look(top->path, &saved);
    top->view = (cli_live_view){.report.set = saved.stats};
    vidi_close(saved.set);
    top->looked = status == CLI_OK;
    return status;
}

/* Lines in the last full second; in the first second, the average. */
static double rate_now(const top *top)
{
    const cli_live_rates *rates = &top->view.rates;
    return rates->count ? (double)rates->lines[rates->count - 1] : cli_report_rate(&top->view.report);
}

/* ---- for programs ---- */

static void put_shards(json_writer *json, const vidi_cluster_stats *more)
{
    json_add_count(json, "shards", more->shards);
    json_add_count(json, "nodes", more->nodes);
    json_add_count(json, "claims", more->claims);
    json_add_count(json, "expired_claims", more->expired);
}

static void put_json(cli_out *out, const top *top)
{
    const cli_live_rates *rates = &top->view.rates;
    const vidi_stats *set = &top->view.report.set;
    json_writer json = cli_json_begin(out);

    json_add_string(&json, "path", top->path);
    if (top->cluster)
        put_shards(&json, &top->more);
    else
        json_add_bool(&json, "running", top->runs);
    if (top->runs) {
        json_add_count(&json, "pid", top->view.pid);
        cli_report_fields(&json, &top->view.report);
        json_add_real(&json, "urls_per_second_now", rate_now(top));
        json_open(&json, "lines_each_second", '[');
        for (size_t i = 0; i < rates->count; i++)
            json_add_count(&json, NULL, rates->lines[i]);
        json_close(&json, ']');
    } else {
        json_add_count(&json, "memory_bytes", set->memory_bytes);
        json_add_real(&json, "expected_lost", set->expected_lost);
        json_add_string(&json, "expected_lost_is", cli_lost_is(set));
        json_add_real(&json, "error_now", set->fp_now);
        json_add_string(&json, "kind", set->kind);
        json_add_string(&json, "params", set->params);
        json_add_string(&json, "hash", set->hash);
        json_add_string(&json, "canon", set->canon);
        json_add_count(&json, "epoch", set->epoch);
        json_add_count(&json, "count", set->count);
        json_add_count(&json, "capacity", set->capacity);
    }
    json_add_real(&json, "fill", set->fill);
    cli_json_end(&json);
}

/* ---- for people ---- */

static void put_head(cli_out *out, const top *top)
{
    unsigned long long seconds = (unsigned long long)top->view.report.seconds;

    cli_out_format(out, "%s%s%s: ", top->color ? "\033[1m" : "", top->path, top->color ? "\033[0m" : "");
    if (top->cluster)
        cli_out_format(out, "%lu %s on %lu %s\n", (unsigned long)top->more.shards,
                       top->more.shards == 1 ? "shard" : "shards", (unsigned long)top->more.nodes,
                       top->more.nodes == 1 ? "server" : "servers");
    else if (top->runs)
        cli_out_format(out, "process %llu, for %llu:%02llu:%02llu\n", (unsigned long long)top->view.pid, seconds / 3600,
                       seconds / 60 % 60, seconds % 60);
    else
        cli_out_text(out, "no 'vidi --state' is running on it; the saved set:\n");
}

static void line_rows(cli_table *table, const top *top)
{
    const cli_report *report = &top->view.report;
    cli_number count, now, average;
    double share = report->read ? 100.0 * (double)report->fresh / (double)report->read : 0.0;

    cli_table_cell(table, "lines");
    cli_table_cell(table, "%s, %s/s, on average %s/s", cli_human_count(&count, report->read),
                   cli_human_short(&now, rate_now(top)), cli_human_short(&average, cli_report_rate(report)));
    cli_table_cell(table, "new");
    cli_table_cell(table, "%s, %.1f %%", cli_human_count(&count, report->fresh), share);
    cli_table_count(table, "seen", report->seen);
    cli_table_count(table, "invalid", report->invalid);
}

/* A share of the whole, from 0 to 1, as a bar. */
static const char *bar_of(double share, char bar[BAR_WIDTH + 1])
{
    size_t full = share >= 1 ? BAR_WIDTH : share > 0 ? (size_t)(share * BAR_WIDTH) : 0;

    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', full);
    bar[BAR_WIDTH] = 0;
    return bar;
}

static void set_rows(cli_table *table, const vidi_stats *set)
{
    char bar[BAR_WIDTH + 1];
    cli_number number, other;

    cli_table_cell(table, "URLs");
    if (set->capacity)
        cli_table_cell(table, "%s of %s", cli_human_count(&number, set->count), cli_human_count(&other, set->capacity));
    else
        cli_table_cell(table, "%s", cli_human_count(&number, set->count));
    cli_table_cell(table, "fill");
    cli_table_cell(table, "%s %.1f %%", bar_of(set->fill, bar), 100 * set->fill);
    cli_table_bytes(table, "memory", set->memory_bytes);
    cli_table_cell(table, "pages lost");
    cli_table_cell(table, "%s, error rate now %s", cli_human_expected(&number, set->expected_lost, cli_lost_is(set)),
                   cli_human_real(&other, set->fp_now));
    cli_table_cell(table, "kind");
    cli_table_cell(table, "%s, %s, epoch %s", set->kind, set->canon, cli_human_count(&number, set->epoch));
}

static void claim_rows(cli_table *table, const top *top)
{
    cli_number claims, expired, rate;

    cli_table_cell(table, "added");
    cli_table_cell(table, "%s/s", cli_human_short(&rate, top->rate));
    cli_table_cell(table, "claimed");
    cli_table_cell(table, "%s, %s of them expired", cli_human_count(&claims, top->more.claims),
                   cli_human_count(&expired, top->more.expired));
}

/* A bar for each of the last seconds, as high as that second was fast. */
static void put_sparkline(cli_out *out, const cli_live_rates *rates)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const ascii[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    const char *const *marks = cli_terminal_utf8() ? blocks : ascii;
    size_t columns = cli_terminal_columns(STDOUT_FILENO);
    size_t room = columns > 2 * LABEL_ROOM ? columns - 2 * LABEL_ROOM : 1;
    size_t first = rates->count > room ? rates->count - room : 0;
    uint64_t most = 1;
    cli_number number;

    for (size_t i = first; i < rates->count; i++)
        most = rates->lines[i] > most ? rates->lines[i] : most;
    cli_out_text(out, "each second ");
    for (size_t i = first; i < rates->count; i++)
        cli_out_text(out, marks[(size_t)((double)rates->lines[i] / (double)most * 7.0 + 0.5)]);
    if (rates->count)
        cli_out_format(out, " up to %s/s\n", cli_human_short(&number, (double)most));
    else
        cli_out_text(out, "\n");
}

static int put_view(cli_out *out, const top *top)
{
    cli_table table = {.layout = "ll"};

    put_head(out, top);
    if (top->cluster)
        claim_rows(&table, top);
    else if (top->runs)
        line_rows(&table, top);
    set_rows(&table, &top->view.report.set);
    int status = cli_table_print(&table, out);
    if (top->runs)
        put_sparkline(out, &top->view.rates);
    return status;
}

static int show_once(const top *top, bool json)
{
    cli_out out;
    int status = CLI_OK;

    cli_out_init(&out, STDOUT_FILENO);
    if (json)
        put_json(&out, top);
    else
        status = put_view(&out, top);
    return cli_out_end(&out, status);
}

/* ---- again and again ---- */

static int put_again(cli_out *out, void *context)
{
    return put_view(out, context);
}

static int look_again(void *context)
{
    int status = look(context);
    return status == CLI_OK ? CLI_GO_ON : status;
}

static int show(top *top)
{
    cli_screen screen = {
        .context = top, .put = put_again, .look = look_again, .wait_ms = REDRAW_MS, .color = top->color};

    return cli_screen_show(&screen);
}

#if VIDI_HAVE_CRAWL
static bool is_of_a_crawl(const char *path)
{
    char *database;

    if (asprintf(&database, "%s/crawl.db", path) < 0)
        return false;
    bool found = access(database, F_OK) == 0;
    free(database);
    return found;
}
#endif

static int show_away(top *top, const top_options *options)
{
    cli_server_use reading = {.flags = VIDI_READ_ONLY};

    CLI_TRY(cli_server_open(&top->cluster, top->address, &options->server, &reading));
    int status = look(top);
    if (status == CLI_OK)
        status = options->once || !isatty(STDOUT_FILENO) ? show_once(top, options->json) : show(top);
    vidi_cluster_close(top->cluster);
    return status;
}

static int run(void *values, cli_words words)
{
    const top_options *options = values;
    top top = {0};
    cli_shown shown;

    if (options->state && words.count > 0)
        return cli_error("STATE is given twice, with --state and without; leave out '%s'", words.list[0]);
    if (!options->state && words.count == 0)
        return cli_error("missing STATE; usage: %s", cli_top.usage);
    if (options->json && !options->once)
        return cli_error("--json prints one object, so it needs --once");
    if (cli_color_on(STDOUT_FILENO, options->color, &top.color) != CLI_OK)
        return CLI_ERROR;
    top.path = options->state ? options->state : words.list[0];
    CLI_TRY(cli_server_check(top.path, &options->server));
    if (cli_is_address(top.path)) {
        top.address = top.path;
        top.path = cli_shown_path(&shown, top.path);
        return show_away(&top, options);
    }
    if (access(top.path, F_OK) == 0 && !cli_state_is_folder(top.path))
        return cli_error("%s is not a folder with a vidi set; 'vidi info' shows exported sets", top.path);
    if (strcmp(top.path, "-") == 0)
        return cli_error("'vidi top' needs a folder, not standard input; usage: %s", cli_top.usage);
#if VIDI_HAVE_CRAWL
    if (is_of_a_crawl(top.path))
        return options->once || !isatty(STDOUT_FILENO) ? cli_crawl_top_once(top.path, options->json, top.color)
                                                       : cli_crawl_top(top.path, top.color);
#endif
    int status = look(&top);
    if (status != CLI_OK)
        return status;
    return options->once || !isatty(STDOUT_FILENO) ? show_once(&top, options->json) : show(&top);
}

#define FIELD(name) offsetof(top_options, name)

static const cli_option options_table[] = {
    {"state", 's', CLI_TEXT, FIELD(state), "STATE", "The state to watch; the same as the operand", NULL, 0},
    {"once", 0, CLI_FLAG, FIELD(once), NULL, "Print one view and exit",
     "This is the default if standard output is not a terminal.", 0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "With --once: print one JSON object", NULL, 0},
    {"color", 0, CLI_TEXT, FIELD(color), "WHEN", "Colours: auto, always, never [auto]",
     "'auto' uses colours on a terminal, unless NO_COLOR is set.", 0},
    CLI_SERVER_OPTIONS(offsetof(top_options, server)),
    CLI_OPTIONS_END,
};

const cli_command cli_top = {
    .name = "top",
    .summary = "Watch a running vidi or crawl: rates, memory, queues, pages lost",
    .usage = "vidi top [OPTION]... STATE",
    .about = "Shows what a running 'vidi --state STATE' or 'vidi crawl --state STATE' is doing.",
    .details = "The view has the lines read, lines per second, the share of new URLs, the number of URLs in the set, "
               "its fill and memory, the expected pages lost, and a bar for the speed in each of the last 60 seconds. "
               "If no process is running, it shows the saved set and waits for one. Press q or Ctrl-C to quit.\n"
               "A run becomes visible after half a second. Watching does not slow it down.\n"
               "Of a crawl, the view has the URLs that were fetched and those that were not, by reason, the rates of "
               "the last ten seconds and on average, the queue and how long it will last, the hosts with the longest "
               "queues, parked hosts, and the expected pages lost. A crawl that has ended is shown, too.\n"
               "STATE may also be the address of a set on a server, such as redis://localhost/crawl: the view has its "
               "URLs, those that clients have claimed, and how many are added a second, whoever adds them. Each look "
               "asks every shard.\n"
               "The exit status is 0, or 2 after an error.",
    .examples = "  vidi top crawl.vidi\n"
                "  vidi top site       # the folder of a crawl\n"
                "  vidi top --once --json crawl.vidi | jq .urls_per_second_now\n",
    .options = options_table,
    .size = sizeof(top_options),
    .common = "state once json color help",
    .operand = "STATE",
    .most = 1,
    .run = run,
};
