/*
 * vidi crawl wacz and vidi crawl extract: other forms of what a crawl has kept.
 */
#include "commands/crawl/crawl.h"
#include "crawler/export/export.h"

/* Pages that could not be read are left out, and the exit status says so. */
static int judge(const export_result *result)
{
    cli_number number;

    if (result->unreadable == 0)
        return CLI_OK;
    cli_error("%s %s could not be read, such as %s; 'vidi crawl check' verifies the whole archive",
              cli_human_count(&number, result->unreadable), result->unreadable == 1 ? "page" : "pages",
              result->example);
    return CLI_DAMAGED;
}

static int print_wacz(const export_options *options, const export_result *result)
{
    cli_number pages, records, size;

    return cli_print_result("%s: %s pages, %s records, %s\n", options->to, cli_human_count(&pages, result->pages),
                            cli_human_count(&records, result->records), cli_human_bytes(&size, result->bytes));
}

/* Runs an export, and prints what came of it. */
static int export(export_options *options, int (*make)(const export_options *, export_result *, char *),
                  int (*print)(const export_options *, const export_result *))
{
    export_result result;
    char why[EXPORT_WHY];

    if (cli_crawl_report_open(&options->report, options->folder) != CLI_OK)
        return CLI_ERROR;
    int error = make(options, &result, why);
    report_close(options->report);
    if (error)
        return cli_error("%s", why);
    int status = print(options, &result), judged = judge(&result);
    return status != CLI_OK ? status : judged;
}

int cli_crawl_wacz(const char *folder, const char *to)
{
    export_options options = {.folder = folder, .to = to};

    if (!to)
        return cli_error("'vidi crawl wacz' needs the file to write: -o site.wacz");
    return export(&options, export_wacz, print_wacz);
}

static int print_mirror(const export_options *options, const export_result *result)
{
    cli_number files, size;

    if (!result->first[0])
        return cli_print_result("%s: nothing was stored\n", options->to);
    return cli_print_result("%s: %s files, %s; begin with %s/%s\n", options->to, cli_human_count(&files, result->pages),
                            cli_human_bytes(&size, result->bytes), options->to, result->first);
}

int cli_crawl_extract(const char *folder, const char *to, bool rewrite)
{
    export_options options = {.folder = folder, .to = to, .rewrite = rewrite};

    if (!to)
        return cli_error("'vidi crawl extract' needs the folder to write to: --to FOLDER");
    return export(&options, export_mirror, print_mirror);
}
