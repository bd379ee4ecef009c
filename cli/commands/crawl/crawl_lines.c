/*
 * --jsonl: one JSON object a line for each URL that has been dealt with. Every object has the same fields in the same
 * order; what there is not is null, so that a column of a table is a field of every line. A URL that got no response
 * has a reason instead of a status.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands/crawl/crawl.h"

static int append(cli_out *out, const char *text, size_t length)
{
    return bytes_append(out->context, text, length) == VIDI_OK ? 0 : ENOMEM;
}

void cli_crawl_lines_open(cli_crawl_lines *lines)
{
    cli_out_init(&lines->out, -1);
    lines->out.send = append;
}

void cli_crawl_lines_close(cli_crawl_lines *lines)
{
    free(lines->out.buffer);
    lines->out.buffer = NULL;
}

void cli_crawl_text_or_null(json_writer *json, const char *key, vidi_str text)
{
    if (text.ptr && text.len > 0)
        cli_json_text(json, key, text);
    else
        json_add_null(json, key);
}

static void string_or_null(json_writer *json, const char *key, const char *text)
{
    cli_crawl_text_or_null(json, key, (vidi_str){text, text ? strlen(text) : 0});
}

void cli_crawl_count_or_null(json_writer *json, const char *key, uint64_t count, bool known)
{
    if (known)
        json_add_count(json, key, count);
    else
        json_add_null(json, key);
}

static const char *kind_name(frontier_kind kind)
{
    static const char *const names[] = {[FRONTIER_PAGE] = "page",
                                        [FRONTIER_SEED] = "seed",
                                        [FRONTIER_SITEMAP] = "sitemap",
                                        [FRONTIER_OUTSIDE] = "outside",
                                        [FRONTIER_RESOURCE] = "resource"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

static void put(json_writer *json, const crawl_outcome *outcome)
{
    const db_outcome *row = &outcome->row;
    bool answered = row->status != 0;

    json_open(json, NULL, '{');
    cli_json_text(json, "url", outcome->url);
    cli_crawl_count_or_null(json, "status", (uint64_t)row->status, answered);
    cli_crawl_text_or_null(json, "type", row->type);
    cli_crawl_count_or_null(json, "bytes", row->bytes, answered);
    json_add_count(json, "depth", outcome->depth);
    cli_crawl_text_or_null(json, "referrer", outcome->referrer);
    cli_crawl_text_or_null(json, "redirect", row->redirect);
    string_or_null(json, "digest", row->digest);
    cli_crawl_count_or_null(json, "links", row->links, answered);
    if (answered)
        json_add_real(json, "seconds", row->seconds);
    else
        json_add_null(json, "seconds");
    string_or_null(json, "error", row->error);
    string_or_null(json, "reason", row->reason);
    string_or_null(json, "kind", kind_name(outcome->kind));
    string_or_null(json, "change", db_change_name(row->change));
    json_close(json, '}');
}

int cli_crawl_line(void *context, const crawl_outcome *outcome, bytes *to)
{
    cli_crawl_lines *lines = context;
    json_writer json = cli_json_to(&lines->out);

    if (!lines->out.buffer)
        return VIDI_EMEMORY;
    lines->out.error = 0;
    lines->out.used = 0;
    lines->out.context = to;
    put(&json, outcome);
    cli_out_text(&lines->out, "\n");
    return cli_out_flush(&lines->out) == CLI_OK ? VIDI_OK : VIDI_EMEMORY;
}
