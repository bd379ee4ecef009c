/*
 * 'vidi top' for the folder of a crawl: what a crawl in another process is doing, read from its database, which never
 * makes the crawl wait. Rates come from the differences between readings of the last seconds.
 *
 * The totals are cheap to read. The hosts' queues and the reasons of failures are not, if a crawl is large: they are
 * read so seldom that they take a twentieth of the time at most.
 */
#include "commands/crawl/crawl_top.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands/crawl/crawl.h"
#include "common/clock.h"
#include "ui/screen.h"

enum { READINGS = 10, LOOK_MS = 1000, MOST_HOSTS = 5 };

typedef struct reading {
    double at; /* seconds */
    uint64_t urls, bytes;
} reading;

typedef struct host_row {
    char origin[128], parked[96];
    uint64_t queued, fetched;
} host_row;

typedef struct host_rows {
    host_row list[MOST_HOSTS];
    size_t shown;
    uint64_t count; /* of all such hosts */
} host_rows;

typedef struct crawl_top {
    const char *folder;
    bool color;
    report *report;
    report_activity now;
    bool runs;
    uint64_t idle;              /* this run is not at work any more, so the lock is not asked for again */
    reading readings[READINGS]; /* a ring */
    size_t taken;
    double due; /* when the rest is read again */
    host_rows queues, parked;
    cli_crawl_reasons reasons;
} crawl_top;

/* ---- looking ---- */

static int take_host(void *context, const report_host *host)
{
    host_rows *rows = context;
    host_row *row = &rows->list[rows->shown++];

    snprintf(row->origin, sizeof row->origin, "%.*s", (int)host->origin.len, host->origin.ptr);
    snprintf(row->parked, sizeof row->parked, "%.*s", (int)host->parked.len, host->parked.ptr ? host->parked.ptr : "");
    row->queued = host->queued;
    row->fetched = host->fetched;
    return 0;
}

/* What takes longer to read. */
static int look_closely(crawl_top *top, double now)
{
    if (now < top->due)
        return VIDI_OK;
    top->queues.shown = top->parked.shown = top->reasons.count = 0;
    int error = report_queues(top->report, MOST_HOSTS, take_host, &top->queues, &top->queues.count);
    if (error == VIDI_OK)
        error = report_parked(top->report, MOST_HOSTS, take_host, &top->parked, &top->parked.count);
    if (error == VIDI_OK)
        error = cli_crawl_reasons_read(&top->reasons, report_db(top->report));
    top->due = now + 20 * (clock_seconds() - now);
    return error;
}

static int look(crawl_top *top)
{
    double now = clock_seconds();
    int error = report_look(top->report, &top->now);

    if (error == VIDI_OK)
        error = look_closely(top, now);
    if (error != VIDI_OK)
        return cli_error("%s: %s", top->folder, report_error(top->report));
    top->readings[top->taken++ % READINGS] = (reading){now, top->now.rows.fetched, top->now.rows.bytes};
    top->runs = !top->now.ended && top->now.run != top->idle && crawl_runs(top->folder);
    if (!top->runs)
        top->idle = top->now.run;
    return CLI_OK;
}

typedef struct rates {
    bool known;
    double urls, bytes; /* each second */
} rates;

/* Of the last seconds: from the oldest reading that is kept to the last one. */
static rates rates_now(const crawl_top *top)
{
    const reading *last = &top->readings[(top->taken - 1) % READINGS];
    const reading *first = &top->readings[top->taken > READINGS ? top->taken % READINGS : 0];
    double seconds = last->at - first->at;

    if (!top->runs || !(seconds > 0))
        return (rates){.known = false};
    return (rates){true, (double)(last->urls - first->urls) / seconds, (double)(last->bytes - first->bytes) / seconds};
}

static double average(const crawl_top *top)
{
    return top->now.seconds > 0 ? (double)top->now.rows.fetched / top->now.seconds : 0;
}

/* ---- for programs ---- */

static void put_hosts_json(json_writer *json, const char *key, const host_rows *rows)
{
    json_open(json, key, '[');
    for (size_t i = 0; i < rows->shown; i++) {
        const host_row *row = &rows->list[i];
        json_open(json, NULL, '{');
        cli_json_text(json, "origin", (vidi_str){row->origin, strlen(row->origin)});
        json_add_count(json, "queue", row->queued);
        json_add_count(json, "fetched", row->fetched);
        if (*row->parked)
            cli_json_text(json, "parked", (vidi_str){row->parked, strlen(row->parked)});
        json_close(json, '}');
    }
    json_close(json, ']');
}

static int put_json(cli_out *out, const crawl_top *top)
{
    const db_totals *rows = &top->now.rows;
    json_writer json = cli_json_begin(out);

    json_add_string(&json, "path", top->folder);
    json_add_bool(&json, "running", top->runs);
    json_add_count(&json, "urls", rows->urls);
    json_add_count(&json, "fetched", rows->fetched);
    json_add_count(&json, "failed", rows->failed);
    json_add_count(&json, "queue", rows->queue);
    json_add_count(&json, "bytes", rows->bytes);
    json_add_count(&json, "hosts", rows->hosts);
    json_add_count(&json, "parked", top->parked.count);
    json_add_real(&json, "seconds", top->now.seconds);
    json_add_real(&json, "fetched_per_second", average(top));
    json_add_real(&json, "expected_lost", top->now.expected_lost);
    json_add_string(&json, "expected_lost_is", cli_meaning_name(top->now.fp_meaning));
    cli_crawl_reasons_json(&json, "skipped_urls", &top->reasons);
    put_hosts_json(&json, "longest_queues", &top->queues);
    put_hosts_json(&json, "parked_hosts", &top->parked);
    cli_json_end(&json);
    return CLI_OK;
}

/* ---- for people ---- */

static const char *what_goes_on(const crawl_top *top)
{
    if (top->runs)
        return "a crawl is at work";
    if (!top->now.ended)
        return "no crawl is at work; the last one was killed";
    return top->now.rows.queue ? "no crawl is at work; URLs are left" : "the crawl is complete";
}

static void fetched_rows(cli_table *table, const crawl_top *top, rates rates)
{
    const db_totals *rows = &top->now.rows;
    cli_number count, now, mean;

    cli_table_cell(table, "fetched");
    cli_table_cell(table, "%s URL%s%s%s%s, on average %s/s", cli_human_count(&count, rows->fetched),
                   rows->fetched == 1 ? "" : "s", rates.known ? ", " : "",
                   rates.known ? cli_human_real(&now, rates.urls) : "", rates.known ? "/s" : "",
                   cli_human_real(&mean, average(top)));
    cli_table_cell(table, "bytes");
    cli_table_cell(table, "%s%s%s%s", cli_human_bytes(&count, rows->bytes), rates.known ? ", " : "",
                   rates.known ? cli_human_bytes(&now, (uint64_t)rates.bytes) : "", rates.known ? "/s" : "");
    cli_crawl_reasons_row(table, "not fetched", &top->reasons);
}

static void queue_rows(cli_table *table, const crawl_top *top, rates rates)
{
    const db_totals *rows = &top->now.rows;
    cli_number number, queued, parked;

    cli_table_cell(table, "queue");
    cli_table_cell(table, "%s URL%s%s%s", cli_human_count(&number, rows->queue), rows->queue == 1 ? "" : "s",
                   rates.urls > 0 ? ", at this rate for " : "",
                   rates.urls > 0 ? cli_human_time(&queued, (double)rows->queue / rates.urls) : "");
    cli_table_cell(table, "hosts");
    cli_table_cell(table, "%s, %s in the queue, %s parked", cli_human_count(&number, rows->hosts),
                   cli_human_count(&queued, top->queues.count), cli_human_count(&parked, top->parked.count));
    cli_table_cell(table, "time");
    cli_table_cell(table, "%s", cli_human_time(&number, top->now.seconds));
    cli_table_cell(table, "expected pages lost");
    cli_table_cell(table, "%s",
                   cli_human_expected(&number, top->now.expected_lost, cli_meaning_name(top->now.fp_meaning)));
}

static int put_hosts(cli_out *out, const host_rows *rows, const char *title)
{
    cli_table table = {.layout = "lrrl"};
    cli_number queue, fetched;

    if (rows->shown == 0)
        return CLI_OK;
    cli_out_text(out, "\n");
    cli_table_heads(&table, (const char *const[]){title, "queue", "fetched", "", NULL});
    for (size_t i = 0; i < rows->shown; i++) {
        const host_row *row = &rows->list[i];
        cli_table_cell(&table, "%s", row->origin);
        cli_table_cell(&table, "%s", cli_human_count(&queue, row->queued));
        cli_table_cell(&table, "%s", cli_human_count(&fetched, row->fetched));
        cli_table_cell(&table, "%s", row->parked);
    }
    return cli_table_print(&table, out);
}

static int put_view(cli_out *out, void *context)
{
    const crawl_top *top = context;
    cli_table table = {.layout = "ll"};
    rates rates = rates_now(top);

    cli_out_format(out, "%s%s%s: %s\n", top->color ? "\033[1m" : "", top->folder, top->color ? "\033[0m" : "",
                   what_goes_on(top));
    fetched_rows(&table, top, rates);
    queue_rows(&table, top, rates);
    int status = cli_table_print(&table, out);
    if (status == CLI_OK)
        status = put_hosts(out, &top->queues, "longest queues");
    return status == CLI_OK ? put_hosts(out, &top->parked, "parked") : status;
}

/* ---- both ---- */

static int look_again(void *context)
{
    int status = look(context);
    return status == CLI_OK ? CLI_GO_ON : status;
}

static int open_and_look(crawl_top *top)
{
    int status = cli_crawl_report_open(&top->report, top->folder);
    return status == CLI_OK ? look(top) : status;
}

int cli_crawl_top_once(const char *folder, bool json, bool color)
{
    crawl_top top = {.folder = folder, .color = color};
    cli_out out;
    int status = open_and_look(&top);

    if (status == CLI_OK) {
        cli_out_init(&out, STDOUT_FILENO);
        status = cli_out_end(&out, json ? put_json(&out, &top) : put_view(&out, &top));
    }
    report_close(top.report);
    return status;
}

int cli_crawl_top(const char *folder, bool color)
{
    crawl_top top = {.folder = folder, .color = color};
    cli_screen screen = {.context = &top, .put = put_view, .look = look_again, .wait_ms = LOOK_MS, .color = color};
    int status = open_and_look(&top);

    if (status == CLI_OK)
        status = cli_screen_show(&screen);
    report_close(top.report);
    return status;
}
