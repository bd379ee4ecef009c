/*
 * vidi crawl cdxj: the index of a crawl's archive, for players of web archives such as pywb.
 */
#include <unistd.h>

#include "commands/crawl/crawl.h"

static int put_line(void *context, vidi_str text)
{
    cli_out *out = context;

    cli_out_bytes(out, text.ptr, text.len);
    return out->error ? 1 : 0;
}

int cli_crawl_cdxj(const char *folder)
{
    report *from;
    cli_out out;

    if (cli_crawl_report_open(&from, folder) != CLI_OK)
        return CLI_ERROR;
    cli_out_init(&out, STDOUT_FILENO);
    int result = report_cdxj(from, put_line, &out);
    int status = result < 0 ? cli_error("%s", report_error(from)) : CLI_OK;
    int closed = cli_out_close(&out);
    report_close(from);
    return status != CLI_OK ? status : closed;
}
