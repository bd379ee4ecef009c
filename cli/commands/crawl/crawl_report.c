/*
 * What became of a crawl: the table at its end and of 'vidi crawl report', and the same as one JSON object.
 *
 * Every URL that the set answered NEW for is in exactly one of three numbers: fetched (it got a response, whatever the
 * status), failed (it got none, for a reason) and queue. Links that never became URLs of the crawl, because they are
 * out of scope for example, are counted by reason, too. The object's `skipped` has both together; `skipped_urls` and
 * `skipped_links` tell them apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands/crawl/crawl.h"
#include "crawler/base/crawl_clock.h"
#include "crawler/base/list.h"
#include "crawler/base/sql.h"
#include "ui/run_statistics.h"
#include "ui/screen.h"

/* ---- reading ---- */

static int take_reason(void *context, const char *name, uint64_t count)
{
    cli_crawl_reasons *reasons = context;

    if (reasons->count == CLI_CRAWL_REASONS)
        return 0;
    snprintf(reasons->list[reasons->count].name, sizeof reasons->list->name, "%s", name);
    reasons->list[reasons->count++].count = count;
    return 0;
}

int cli_crawl_reasons_read(cli_crawl_reasons *reasons, crawl_db *from)
{
    return db_reasons(from, take_reason, reasons);
}

static int visit_statuses(crawl_db *rows, db_visit_count *visit, void *context)
{
    sqlite3_stmt *ask = NULL;
    int error = sql_prepare(db_sqlite(rows), &ask,
                            "SELECT status, count(*) FROM outcomes WHERE reason IS NULL AND " DB_THIS_VISIT
                            " GROUP BY status ORDER BY status");
    int step = SQLITE_DONE;

    while (error == VIDI_OK && (step = sqlite3_step(ask)) == SQLITE_ROW)
        visit(context, (const char *)sqlite3_column_text(ask, 0), sql_number(ask, 1));
    sqlite3_finalize(ask);
    return error != VIDI_OK ? error : sql_code(step);
}

static int find_host_limit(crawl_db *rows, bool *found)
{
    sqlite3_stmt *ask = NULL;
    int error = sql_prepare(db_sqlite(rows), &ask, "SELECT 1 FROM hosts WHERE parked LIKE '%--max-host-pages%'");
    int step = error == VIDI_OK ? sqlite3_step(ask) : SQLITE_DONE;

    *found = step == SQLITE_ROW;
    sqlite3_finalize(ask);
    return error != VIDI_OK ? error : sql_code(step);
}

static int take_visit(void *context, const report_visit *visit)
{
    cli_crawl_account *account = context;

    if (list_reserve(&account->visits, &account->visit_room, account->visit_count + 1) != VIDI_OK)
        return VIDI_EMEMORY;
    account->visits[account->visit_count++] = *visit;
    return 0;
}

static int read_account(cli_crawl_account *account)
{
    crawl_db *rows = report_db(account->report);
    int64_t checked = 0;
    int result = report_total(account->report, &account->totals);

    if (result == VIDI_OK)
        result = report_visits(account->report, take_visit, account);
    if (result == VIDI_OK)
        result = report_scheduled(account->report, crawl_clock_real.date(NULL), &account->schedule);
    if (result < 0)
        return cli_error("%s", report_error(account->report));
    result = visit_statuses(rows, take_reason, &account->statuses);
    if (result == VIDI_OK)
        result = find_host_limit(rows, &account->at_host_limit);
    if (result == VIDI_OK)
        result = cli_crawl_reasons_read(&account->urls, rows);
    if (result == VIDI_OK)
        result = db_skipped(rows, take_reason, &account->links);
    if (result == VIDI_OK) {
        result = db_get(rows, "check", &checked);
        result = result == VIDI_EABSENT ? VIDI_OK : result;
    }
    account->checked = checked != 0;
    return result < 0 ? cli_error("%s", db_error(rows)) : CLI_OK;
}

int cli_crawl_report_open(report **made, const char *folder)
{
    char why[512];
    int error = report_open(made, folder, why);

    if (error == VIDI_EABSENT)
        return cli_error("there is no crawl in %s: %s", folder, why);
    return error < 0 ? cli_error("%s", why) : CLI_OK;
}

int cli_crawl_account_open(cli_crawl_account *account, const char *folder)
{
    *account = (cli_crawl_account){0};
    if (cli_crawl_report_open(&account->report, folder) != CLI_OK)
        return CLI_ERROR;
    return read_account(account);
}

void cli_crawl_account_close(cli_crawl_account *account)
{
    report_close(account->report);
    account->report = NULL;
    free(account->visits);
    account->visits = NULL;
}

uint64_t cli_crawl_reason_count(const cli_crawl_reasons *reasons, const char *name)
{
    for (size_t i = 0; i < reasons->count; i++)
        if (strcmp(reasons->list[i].name, name) == 0)
            return reasons->list[i].count;
    return 0;
}

/* ---- seeds ---- */

/* Calls tell with a few seeds, by a question that selects url and text. */
static void ask_about_seeds(const cli_crawl_account *account, const char *question, void (*tell)(vidi_str, vidi_str))
{
    sqlite3_stmt *ask = NULL;

    if (sql_prepare(db_sqlite(report_db(account->report)), &ask, question) != VIDI_OK)
        return;
    while (sqlite3_step(ask) == SQLITE_ROW)
        tell(sql_text(ask, 0), sql_text(ask, 1));
    sqlite3_finalize(ask);
}

static void tell_error(vidi_str url, vidi_str why)
{
    cli_error("%.*s: %.*s", (int)url.len, url.ptr, (int)why.len, why.ptr);
}

static void tell_status(vidi_str url, vidi_str status)
{
    cli_warning("%.*s was answered with the status %.*s", (int)url.len, url.ptr, (int)status.len, status.ptr);
}

void cli_crawl_explain_seeds(const cli_crawl_account *account)
{
    ask_about_seeds(
        account,
        "SELECT url, coalesce(error, CASE reason WHEN 'robots' THEN 'robots.txt forbids it' ELSE reason END)"
        " FROM visits WHERE kind = 'seed' AND reason IS NOT NULL AND " DB_THIS_VISIT " ORDER BY id LIMIT 5",
        tell_error);
}

void cli_crawl_warn_of_seeds(const cli_crawl_account *account)
{
    ask_about_seeds(account,
                    "SELECT url, status FROM visits WHERE kind = 'seed' AND status >= 400 AND " DB_THIS_VISIT
                    " ORDER BY id LIMIT 5",
                    tell_status);
}

/* ---- for people ---- */

enum { LIST_ROOM = 1024 };

/* "robots 10, timeout 2", with what stands between a name and its number. Returns the sum. */
static uint64_t list_reasons(char text[LIST_ROOM], const cli_crawl_reasons *reasons, const char *between)
{
    size_t used = 0;
    uint64_t sum = 0;
    cli_number number;

    text[0] = 0;
    for (size_t i = 0; i < reasons->count && used < LIST_ROOM; i++) {
        sum += reasons->list[i].count;
        used += (size_t)snprintf(text + used, LIST_ROOM - used, "%s%s%s%s", i ? ", " : "", reasons->list[i].name,
                                 between, cli_human_count(&number, reasons->list[i].count));
    }
    return sum;
}

/* "12: robots 10, timeout 2" */
void cli_crawl_reasons_row(cli_table *table, const char *label, const cli_crawl_reasons *reasons)
{
    char text[LIST_ROOM];
    cli_number number;
    uint64_t sum = list_reasons(text, reasons, " ");

    if (reasons->count == 0)
        return;
    cli_table_cell(table, "%s", label);
    cli_table_cell(table, "%s: %s", cli_human_count(&number, sum), text);
}

/* "200: 340, 404: 12" */
static void statuses_row(cli_table *table, const cli_crawl_reasons *statuses)
{
    char text[LIST_ROOM];

    if (list_reasons(text, statuses, ": ") == 0)
        return;
    cli_table_cell(table, "statuses");
    cli_table_cell(table, "%s", text);
}

static void count_row(cli_table *table, const char *label, uint64_t count, const char *note)
{
    cli_number number;

    cli_table_cell(table, "%s", label);
    cli_table_cell(table, "%s%s", cli_human_count(&number, count), note);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void fetched_row(cli_table *table, const report_totals *totals)
{
    cli_number urls, size, hosts, time;

    cli_table_cell(table, "fetched");
    cli_table_cell(table, "%s URL%s, %s, from %s host%s, in %s", cli_human_count(&urls, totals->rows.fetched),
                   plural(totals->rows.fetched), cli_human_bytes(&size, totals->rows.bytes),
                   cli_human_count(&hosts, totals->rows.hosts), plural(totals->rows.hosts),
                   cli_human_time(&time, totals->seconds));
}

/* "visit 2: unchanged 13, changed 2, new 1", and how many pages were found that the visit before had lost. */
static void visit_rows(cli_table *table, const cli_crawl_account *account)
{
    const report_visit *visit = &account->visits[account->visit_count - 1];
    cli_crawl_reasons changes = {.count = 0};
    char text[LIST_ROOM];
    cli_number found, expected;

    for (db_page_change change = DB_NEW; change < DB_RECOVERED; change++)
        if (visit->changes[change])
            take_reason(&changes, db_change_name(change), visit->changes[change]);
    list_reasons(text, &changes, " ");
    cli_table_cell(table, "visit %llu", (unsigned long long)visit->number);
    cli_table_cell(table, "%s", text);
    cli_table_cell(table, "recovered");
    if (visit->is_comparable)
        cli_table_cell(table, "%s URL%s that visit %llu had lost; %s expected",
                       cli_human_count(&found, visit->changes[DB_RECOVERED]), plural(visit->changes[DB_RECOVERED]),
                       (unsigned long long)visit->number - 1,
                       cli_human_lost(&expected, visit->expected_recovered, VIDI_FP_EXACT));
    else
        cli_table_cell(table, "not known: visit %llu kept links by other rules", (unsigned long long)visit->number - 1);
}

/* "1,500; 1,575 URLs wait for budgets; 12 left out, because too many share their address" */
static void sites_row(cli_table *table, const report_totals *totals)
{
    cli_number sites, waiting, cut;
    char farms[80] = "";

    if (totals->cut)
        snprintf(farms, sizeof farms, "; %s left out, because too many share their address",
                 cli_human_count(&cut, totals->cut));
    cli_table_cell(table, "sites");
    cli_table_cell(table, "%s; %s URL%s wait%s for their budgets%s", cli_human_count(&sites, totals->sites),
                   cli_human_count(&waiting, totals->waiting), plural(totals->waiting), totals->waiting == 1 ? "s" : "",
                   farms);
}

static void schedule_rows(cli_table *table, const report_schedule *schedule)
{
    cli_number pages, age, changes;

    cli_table_cell(table, "scheduled");
    cli_table_cell(table, "%s page%s, %.1f %% of them fresh, mean age %s", cli_human_count(&pages, schedule->pages),
                   plural(schedule->pages), 100 * schedule->fresh, cli_human_time(&age, schedule->age_days * 86400));
    for (size_t i = 0; i < schedule->host_count; i++) {
        const struct report_scheduled_host *host = &schedule->hosts[i];
        cli_table_cell(table, "%s", i ? "" : "changes a day");
        cli_table_cell(table, "%s of %s page%s of %s", cli_human_real(&changes, host->changes_per_day),
                       cli_human_count(&pages, host->pages), plural(host->pages), host->origin);
    }
}

int cli_crawl_account_table(const cli_crawl_account *account, cli_out *out, const char *left)
{
    const report_totals *totals = &account->totals;
    cli_table table = {.layout = "ll"};
    cli_number number;

    if (account->visit_count > 1)
        visit_rows(&table, account);
    fetched_row(&table, totals);
    statuses_row(&table, &account->statuses);
    cli_crawl_reasons_row(&table, "not fetched", &account->urls);
    cli_crawl_reasons_row(&table, "links left out", &account->links);
    if (totals->partial)
        count_row(&table, "read in part", totals->partial, " (links may be missing; crawl.db says why)");
    if (totals->rows.archived)
        count_row(&table, "archived", totals->rows.archived, "");
    if (account->checked) {
        count_row(&table, "broken links", totals->broken, "");
        if (totals->has_fragments)
            count_row(&table, "bad fragments", totals->fragments, "");
        count_row(&table, "unknown", totals->unknown, totals->unknown ? " (401, 403, 429, or not allowed to ask)" : "");
    }
    if (totals->sites)
        sites_row(&table, totals);
    if (totals->parked)
        count_row(&table, "hosts parked", totals->parked, "");
    count_row(&table, "left", totals->rows.queue, totals->rows.queue ? left : "");
    if (account->schedule.pages)
        schedule_rows(&table, &account->schedule);
    cli_table_cell(&table, "expected pages lost");
    cli_table_cell(&table, "%s",
                   cli_human_expected(&number, totals->expected_lost, cli_meaning_name(totals->fp_meaning)));
    cli_table_cell(&table, "kind");
    cli_table_cell(&table, "%s, canonical form %s", totals->kind, totals->canon);
    return cli_table_print(&table, out);
}

/* ---- JSON ---- */

static void put_date(json_writer *json, const char *key, int64_t date)
{
    time_t seconds = (time_t)(date / 1000);
    char text[32];
    struct tm utc;

    if (date == 0 || !gmtime_r(&seconds, &utc) || strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        json_add_null(json, key);
    else
        json_add_string(json, key, text);
}

static void put_visit(json_writer *json, const report_visit *visit)
{
    json_open(json, NULL, '{');
    json_add_count(json, "visit", visit->number);
    put_date(json, "began", visit->began);
    put_date(json, "ended", visit->ended);
    json_add_count(json, "urls", visit->urls);
    for (db_page_change change = DB_NEW; change < DB_CHANGES; change++)
        json_add_count(json, db_change_name(change), visit->changes[change]);
    if (visit->is_comparable)
        json_add_real(json, "expected_recovered", visit->expected_recovered);
    else
        json_add_null(json, "expected_recovered");
    json_add_real(json, "expected_lost", visit->expected_lost);
    json_add_string(json, "expected_lost_is", cli_meaning_name(visit->fp_meaning));
    json_add_count(json, "bytes", visit->bytes);
    json_add_real(json, "seconds", visit->seconds);
    json_close(json, '}');
}

static void put_schedule(json_writer *json, const report_schedule *schedule)
{
    json_open(json, "schedule", '{');
    json_add_count(json, "pages", schedule->pages);
    json_add_real(json, "fresh", schedule->fresh);
    json_add_real(json, "age_days", schedule->age_days);
    json_add_count(json, "visits", schedule->visits);
    json_add_real(json, "alive", schedule->alive);
    json_open(json, "hosts", '[');
    for (size_t i = 0; i < schedule->host_count; i++) {
        json_open(json, NULL, '{');
        json_add_string(json, "origin", schedule->hosts[i].origin);
        json_add_count(json, "pages", schedule->hosts[i].pages);
        json_add_real(json, "changes_per_day", schedule->hosts[i].changes_per_day);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

void cli_crawl_reasons_json(json_writer *json, const char *key, const cli_crawl_reasons *reasons)
{
    json_open(json, key, '{');
    for (size_t i = 0; i < reasons->count; i++)
        json_add_count(json, reasons->list[i].name, reasons->list[i].count);
    json_close(json, '}');
}

cli_crawl_reasons cli_crawl_reasons_together(const cli_crawl_reasons *a, const cli_crawl_reasons *b)
{
    cli_crawl_reasons all = {.count = 0};
    size_t i = 0, j = 0;

    while (i < a->count || j < b->count) {
        int order = i == a->count ? 1 : j == b->count ? -1 : strcmp(a->list[i].name, b->list[j].name);
        uint64_t count = (order <= 0 ? a->list[i].count : 0) + (order >= 0 ? b->list[j].count : 0);
        take_reason(&all, order <= 0 ? a->list[i].name : b->list[j].name, count);
        i += order <= 0;
        j += order >= 0;
    }
    return all;
}

int cli_crawl_account_json(const cli_crawl_account *account, cli_out *out)
{
    const report_totals *totals = &account->totals;
    cli_crawl_reasons all = cli_crawl_reasons_together(&account->urls, &account->links);
    json_writer json = cli_json_to(out);
    int status = CLI_OK;

    json_open(&json, NULL, '{');
    json_add_count(&json, "fetched", totals->rows.fetched);
    json_add_count(&json, "broken", totals->broken);
    cli_crawl_reasons_json(&json, "skipped", &all);
    json_add_count(&json, "bytes", totals->rows.bytes);
    json_add_real(&json, "seconds", totals->seconds);
    json_add_count(&json, "hosts", totals->rows.hosts);
    json_add_count(&json, "queue", totals->rows.queue);
    json_add_real(&json, "expected_lost", totals->expected_lost);
    json_add_string(&json, "kind", totals->kind);
    json_add_string(&json, "canon", totals->canon);
    json_add_string(&json, "expected_lost_is", cli_meaning_name(totals->fp_meaning));
    json_add_count(&json, "urls", totals->rows.urls);
    json_add_count(&json, "failed", totals->rows.failed);
    json_add_count(&json, "unknown", totals->unknown);
    json_add_count(&json, "archived", totals->rows.archived);
    json_add_count(&json, "parked", totals->parked);
    json_add_count(&json, "partial", totals->partial);
    if (totals->has_fragments)
        json_add_count(&json, "bad_fragments", totals->fragments);
    if (totals->sites) {
        json_add_count(&json, "sites", totals->sites);
        json_add_count(&json, "sites_left_out", totals->cut);
        json_add_count(&json, "waiting", totals->waiting);
    }
    cli_crawl_reasons_json(&json, "statuses", &account->statuses);
    cli_crawl_reasons_json(&json, "skipped_urls", &account->urls);
    cli_crawl_reasons_json(&json, "skipped_links", &account->links);
    json_add_count(&json, "visit", totals->visit);
    json_open(&json, "visits", '[');
    for (size_t i = 0; i < account->visit_count; i++)
        put_visit(&json, &account->visits[i]);
    json_close(&json, ']');
    if (account->schedule.pages)
        put_schedule(&json, &account->schedule);
    if (account->checked)
        status = cli_crawl_broken_json(account, &json);
    json_close(&json, '}');
    cli_out_text(out, "\n");
    return status;
}

/* ---- the command ---- */

static int print_text(const cli_crawl_account *account, cli_out *out)
{
    int status = cli_crawl_account_table(account, out, "");

    if (status != CLI_OK || !account->checked || account->totals.broken + account->totals.fragments == 0)
        return status;
    cli_out_text(out, "\n");
    return cli_crawl_broken_text(account, out);
}

static int print(const cli_crawl_account *account, bool json, cli_out *out)
{
    return json ? cli_crawl_account_json(account, out) : print_text(account, out);
}

int cli_crawl_report(const char *folder, bool json, const char *junit)
{
    cli_crawl_account account;
    cli_out out;
    int status = cli_crawl_account_open(&account, folder);

    if (status == CLI_OK && junit && !account.checked)
        status = cli_error("--junit: %s was crawled without --check", folder);
    if (status == CLI_OK && junit)
        status = cli_crawl_junit(&account, junit);
    if (status == CLI_OK) {
        cli_out_init(&out, STDOUT_FILENO);
        status = cli_out_end(&out, print(&account, json, &out));
    }
    cli_crawl_account_close(&account);
    return status;
}

/* ---- again and again ---- */

enum { LOOK_MS = 1000 };

typedef struct watching {
    const char *folder;
    bool json;
} watching;

static int put_report(cli_out *out, void *context)
{
    const watching *self = context;
    cli_crawl_account account;
    int status = cli_crawl_account_open(&account, self->folder);

    if (status == CLI_OK)
        status = print(&account, self->json, out);
    cli_crawl_account_close(&account);
    return status;
}

/* The report that follows is the last one if the crawl has ended. */
static int look(void *context)
{
    return crawl_runs(((watching *)context)->folder) ? CLI_GO_ON : CLI_OK;
}

int cli_crawl_report_watch(const char *folder, bool json)
{
    watching self = {folder, json};
    cli_screen screen = {.context = &self, .put = put_report, .look = look, .wait_ms = LOOK_MS};

    return crawl_runs(folder) ? cli_screen_show(&screen) : cli_crawl_report(folder, json, NULL);
}
