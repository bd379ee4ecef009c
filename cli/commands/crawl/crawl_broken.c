/*
 * Broken links, each with every page that links to it: what --check is for.
 *
 *     https://example.org/gone  404
 *         https://example.org/  "our history"
 *         https://example.org/old.html  "more", through https://example.org/moved
 *
 * Servers choose the texts, so what a terminal would act on is replaced.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands/crawl/crawl.h"

/* ---- text ---- */

static void put_clean(cli_out *out, vidi_str text)
{
    char *copy = strndup(text.ptr ? text.ptr : "", text.len);

    if (!copy) {
        out->error = out->error ? out->error : ENOMEM;
        return;
    }
    cli_clean(copy);
    cli_out_text(out, copy);
    free(copy);
}

static void put_string(cli_out *out, const char *text)
{
    put_clean(out, (vidi_str){text, strlen(text)});
}

static int text_broken(void *context, const report_broken *url)
{
    cli_out *out = context;

    put_clean(out, url->url);
    if (url->status)
        cli_out_format(out, "  %d", url->status);
    if (url->reason) {
        cli_out_text(out, "  ");
        put_string(out, url->reason);
    }
    if (url->error && *url->error) {
        cli_out_text(out, ": ");
        put_string(out, url->error);
    }
    cli_out_text(out, "\n");
    return out->error ? 1 : 0;
}

static int text_referrer(void *context, const report_referrer *from)
{
    cli_out *out = context;

    cli_out_text(out, "    ");
    put_clean(out, from->page);
    if (from->text.len > 0) {
        cli_out_text(out, "  \"");
        put_clean(out, from->text);
        cli_out_text(out, "\"");
    }
    if (from->through.ptr) {
        cli_out_text(out, ", through ");
        put_clean(out, from->through);
    }
    cli_out_text(out, "\n");
    return out->error ? 1 : 0;
}

int cli_crawl_broken_text(const cli_crawl_account *account, cli_out *out)
{
    report_visitor visitor = {text_broken, text_referrer, out, false};
    int result = report_broken_links(account->report, &visitor);

    return result < 0 ? cli_error("%s", report_error(account->report)) : CLI_OK;
}

/* ---- JSON ---- */

typedef struct listing {
    json_writer *json;
    bool open; /* the object of a broken URL, and in it the array of its referrers */
} listing;

static void end_object(listing *list)
{
    if (list->open) {
        json_close(list->json, ']');
        json_close(list->json, '}');
    }
    list->open = false;
}

static void put_field(json_writer *json, const char *key, const char *text)
{
    if (text && *text)
        json_add_string(json, key, text);
    else
        json_add_null(json, key);
}

static int json_broken(void *context, const report_broken *url)
{
    listing *list = context;

    end_object(list);
    json_open(list->json, NULL, '{');
    cli_json_text(list->json, "url", url->url);
    if (url->status)
        json_add_count(list->json, "status", (uint64_t)url->status);
    else
        json_add_null(list->json, "status");
    put_field(list->json, "reason", url->reason);
    put_field(list->json, "error", url->error);
    json_open(list->json, "referrers", '[');
    list->open = true;
    return ((const cli_out *)list->json->to)->error ? 1 : 0;
}

static int json_referrer(void *context, const report_referrer *from)
{
    json_writer *json = ((listing *)context)->json;

    json_open(json, NULL, '{');
    cli_json_text(json, "page", from->page);
    cli_json_text(json, "text", from->text);
    if (from->through.ptr)
        cli_json_text(json, "through", from->through);
    else
        json_add_null(json, "through");
    json_close(json, '}');
    return ((const cli_out *)json->to)->error ? 1 : 0;
}

int cli_crawl_broken_json(const cli_crawl_account *account, json_writer *json)
{
    listing list = {json, false};
    report_visitor visitor = {json_broken, json_referrer, &list, false};

    json_open(json, "broken_links", '[');
    int result = report_broken_links(account->report, &visitor);
    end_object(&list);
    json_close(json, ']');
    return result < 0 ? cli_error("%s", report_error(account->report)) : CLI_OK;
}
