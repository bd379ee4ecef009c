/*
 * What became of a crawl that several folders share, as one report: 'vidi crawl report DIR...'. It is about the newest
 * visit. A URL that one process of a fleet has left to another ("elsewhere") has its outcome in the other's folder, so it
 * counts there alone.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/crawl/crawl.h"
#include "crawler/base/list.h"

#define ELSEWHERE "elsewhere"

/* One of the folders. */
typedef struct part {
    const char *folder;
    cli_crawl_account account;
    int64_t fleet, visit; /* id of the fleet's set, and the fleet's number of the visit; 0: it is of no fleet */
} part;

static int number_of(crawl_db *from, const char *name, int64_t *value)
{
    int error = db_get(from, name, value);

    if (error == VIDI_EABSENT)
        *value = 0;
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

static int open_part(part *self, const char *folder)
{
    self->folder = folder;
    if (cli_crawl_account_open(&self->account, folder) != CLI_OK)
        return CLI_ERROR;
    crawl_db *rows = report_db(self->account.report);
    if (self->account.checked)
        return cli_error("%s was crawled with --check, and such reports cannot be joined", folder);
    if (number_of(rows, "fleet_set", &self->fleet) != VIDI_OK ||
        number_of(rows, "fleet_visit", &self->visit) != VIDI_OK)
        return cli_error("%s: %s", folder, db_error(rows));
    return CLI_OK;
}

/* All folders must be of one fleet, or of none. */
static int compare(const part *parts, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (parts[i].fleet != parts[0].fleet)
            return cli_error("%s and %s do not belong to the same fleet", parts[0].folder, parts[i].folder);
        for (size_t k = 0; k < i; k++)
            if (strcmp(parts[i].folder, parts[k].folder) == 0)
                return cli_error("%s is named twice", parts[i].folder);
    }
    return CLI_OK;
}

static void remove_reason(cli_crawl_reasons *from, const char *name)
{
    for (size_t i = 0; i < from->count; i++)
        if (strcmp(from->list[i].name, name) == 0) {
            memmove(&from->list[i], &from->list[i + 1], (from->count - i - 1) * sizeof *from->list);
            from->count--;
            return;
        }
}

static void add_visit(report_visit *sum, const report_visit *one)
{
    sum->began = sum->began && sum->began < one->began ? sum->began : one->began;
    sum->ended = one->ended && (sum->ended || sum->urls == 0) && one->ended > sum->ended ? one->ended : sum->ended;
    sum->urls += one->urls;
    sum->bytes += one->bytes;
    for (int i = 0; i < DB_CHANGES; i++)
        sum->changes[i] += one->changes[i];
    sum->seconds = one->seconds > sum->seconds ? one->seconds : sum->seconds;
}

/* Losses of a fleet are those of its one set; each folder has them as they were when it was written last. */
static void add_losses(report_totals *sum, const report_totals *one, bool is_fleet)
{
    if (!is_fleet)
        sum->expected_lost += one->expected_lost;
    else if (one->expected_lost > sum->expected_lost)
        sum->expected_lost = one->expected_lost;
    sum->fp_meaning = one->fp_meaning > sum->fp_meaning ? one->fp_meaning : sum->fp_meaning;
}

static void add_totals(report_totals *sum, const report_totals *one, uint64_t elsewhere, bool is_fleet)
{
    sum->rows.urls += one->rows.urls - elsewhere;
    sum->rows.failed += one->rows.failed - elsewhere;
    sum->rows.fetched += one->rows.fetched;
    sum->rows.queue += one->rows.queue;
    sum->rows.bytes += one->rows.bytes;
    sum->rows.hosts += one->rows.hosts;
    sum->rows.archived += one->rows.archived;
    sum->broken += one->broken;
    sum->unknown += one->unknown;
    sum->parked += one->parked;
    sum->sites += one->sites;
    sum->cut += one->cut;
    sum->waiting += one->waiting;
    sum->partial += one->partial;
    sum->seconds = one->seconds > sum->seconds ? one->seconds : sum->seconds;
    add_losses(sum, one, is_fleet);
    memcpy(sum->kind, one->kind, sizeof sum->kind);
    memcpy(sum->canon, one->canon, sizeof sum->canon);
}

static int add_part(cli_crawl_account *sum, const part *one)
{
    const cli_crawl_account *from = &one->account;
    cli_crawl_reasons urls = from->urls;
    uint64_t elsewhere = cli_crawl_reason_count(&urls, ELSEWHERE);

    remove_reason(&urls, ELSEWHERE);
    add_totals(&sum->totals, &from->totals, elsewhere, one->fleet != 0);
    sum->statuses = cli_crawl_reasons_together(&sum->statuses, &from->statuses);
    sum->urls = cli_crawl_reasons_together(&sum->urls, &urls);
    sum->links = cli_crawl_reasons_together(&sum->links, &from->links);
    sum->at_host_limit = sum->at_host_limit || from->at_host_limit;
    if (from->visit_count == 0)
        return CLI_OK;
    if (sum->visit_count == 0) {
        if (list_reserve(&sum->visits, &sum->visit_room, 1) != VIDI_OK)
            return cli_error("out of memory");
        sum->visit_count = 1;
        sum->visits[0] = (report_visit){.number = sum->totals.visit};
    }
    add_visit(&sum->visits[0], &from->visits[from->visit_count - 1]);
    sum->visits[0].urls -= elsewhere;
    sum->visits[0].expected_lost = sum->totals.expected_lost;
    sum->visits[0].fp_meaning = sum->totals.fp_meaning;
    return CLI_OK;
}

/* Which visit a folder is in: of its fleet, if it is of one. */
static uint64_t visit_of(const part *one)
{
    return one->fleet ? (uint64_t)one->visit : one->account.totals.visit;
}

static int add_parts(cli_crawl_account *sum, const part *parts, size_t count)
{
    int status = CLI_OK;

    for (size_t i = 0; i < count; i++)
        if (visit_of(&parts[i]) > sum->totals.visit)
            sum->totals.visit = visit_of(&parts[i]);
    for (size_t i = 0; i < count && status == CLI_OK; i++) {
        if (parts[i].fleet == 0 || visit_of(&parts[i]) == sum->totals.visit)
            status = add_part(sum, &parts[i]);
        else
            cli_warning("%s is left out: it has come no further than visit %" PRIu64, parts[i].folder,
                        visit_of(&parts[i]));
    }
    return status;
}

static int print_sum(const cli_crawl_account *sum, bool json)
{
    cli_out out;

    cli_out_init(&out, STDOUT_FILENO);
    return cli_out_end(&out, json ? cli_crawl_account_json(sum, &out) : cli_crawl_account_table(sum, &out, ""));
}

int cli_crawl_report_joined(cli_words folders, bool json)
{
    cli_crawl_account sum = {0};
    part *parts = calloc(folders.count, sizeof *parts);
    int status = parts ? CLI_OK : cli_error("out of memory");
    size_t opened = 0;

    while (status == CLI_OK && opened < folders.count) {
        status = open_part(&parts[opened], folders.list[opened]);
        opened++;
    }
    if (status == CLI_OK)
        status = compare(parts, folders.count);
    if (status == CLI_OK)
        status = add_parts(&sum, parts, folders.count);
    if (status == CLI_OK)
        status = print_sum(&sum, json);
    for (size_t i = 0; i < opened; i++)
        cli_crawl_account_close(&parts[i].account);
    free(parts);
    free(sum.visits);
    return status;
}
