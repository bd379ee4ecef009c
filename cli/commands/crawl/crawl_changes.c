/*
 * vidi crawl changes: what visits have found to be different from the visit before, a JSON object a line.
 */
#include <unistd.h>

#include "commands/crawl/crawl.h"
#include "ui/numbers.h"

static int put_line(void *context, const report_change *change)
{
    cli_out *out = context;
    json_writer json = cli_json_to(out);

    json_open(&json, NULL, '{');
    json_add_count(&json, "visit", change->visit);
    cli_json_text(&json, "url", change->url);
    json_add_string(&json, "change", change->change);
    cli_crawl_count_or_null(&json, "status", (uint64_t)change->status, change->status != 0);
    cli_crawl_text_or_null(&json, "type", change->type);
    cli_crawl_text_or_null(&json, "date", change->date);
    cli_crawl_text_or_null(&json, "digest", change->digest);
    cli_crawl_text_or_null(&json, "redirect", change->redirect);
    cli_crawl_text_or_null(&json, "same_as", change->same_as);
    cli_crawl_text_or_null(&json, "referrer", change->referrer);
    cli_crawl_text_or_null(&json, "reason", change->reason);
    cli_crawl_text_or_null(&json, "error", change->error);
    cli_crawl_count_or_null(&json, "previous_status", (uint64_t)change->previous_status, change->previous_status != 0);
    cli_crawl_text_or_null(&json, "previous_date", change->previous_date);
    cli_crawl_text_or_null(&json, "previous_digest", change->previous_digest);
    json_close(&json, '}');
    cli_out_text(out, "\n");
    return out->error ? 1 : 0;
}

/* Which visits are wanted: by default the newest. */
static int choose(const cli_crawl_account *account, uint64_t *from, const char *text, uint64_t *to)
{
    uint64_t newest = account->totals.visit;

    *to = newest;
    if (text && cli_parse_count(text, to) != CLI_PARSED)
        return cli_error("--to needs the number of a visit, not '%s'", text);
    if (*from == 0)
        *from = *to;
    if (*from > *to || *to > newest || *to == 0)
        return cli_error("there are no visits from %llu to %llu: the newest is %llu", (unsigned long long)*from,
                         (unsigned long long)*to, (unsigned long long)newest);
    return CLI_OK;
}

int cli_crawl_changes(const char *folder, uint64_t from, const char *to_text)
{
    cli_crawl_account account;
    cli_out out;
    uint64_t to;
    int status = cli_crawl_account_open(&account, folder);

    if (status == CLI_OK)
        status = choose(&account, &from, to_text, &to);
    if (status == CLI_OK) {
        cli_out_init(&out, STDOUT_FILENO);
        if (report_changes(account.report, from, to, put_line, &out) < 0)
            status = cli_error("%s", report_error(account.report));
        int closed = cli_out_close(&out);
        status = status != CLI_OK ? status : closed;
    }
    cli_crawl_account_close(&account);
    return status;
}
