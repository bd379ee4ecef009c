/*
 * vidi crawl check: verifies everything that a crawl has kept.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/crawl/crawl.h"
#include "pipeline/state.h"

static void print_fault(void *context, const char *sentence)
{
    cli_error("%s: %s", (const char *)context, sentence);
}

static int print_good(const char *folder, const crawl_checked *found)
{
    cli_out out;
    cli_number urls, records, pages, unchecked;

    cli_out_init(&out, STDOUT_FILENO);
    cli_out_format(&out, "%s: all is well: %s, %s records in the archive, %s pages in the database\n", folder,
                   cli_human_urls(&urls, found->urls), cli_human_count(&records, found->records),
                   cli_human_count(&pages, found->database_pages));
    if (found->unchecked_pages)
        cli_out_format(&out,
                       "%s: %s pages of the database have no checksum, because another program has written them; only "
                       "their contents were checked\n",
                       folder, cli_human_count(&unchecked, found->unchecked_pages));
    return cli_out_close(&out);
}

int cli_crawl_check(const char *folder)
{
    crawl_checked found;
    char *database;

    if (asprintf(&database, "%s/crawl.db", folder) < 0)
        return cli_error("out of memory");
    int missing = access(database, F_OK) == 0 ? 0 : errno;
    free(database);
    if (missing && missing != ENOENT && missing != ENOTDIR)
        return cli_error("%s: %s", folder, strerrordesc_np(missing));
    if (missing)
        return cli_error("%s is not the state of a crawl: there is no crawl.db in it", folder);
    int error = crawl_check(folder, print_fault, (void *)folder, &found);
    if (error)
        return cli_error("%s: %s", folder, vidi_strerror(error));
    return found.faults ? CLI_DAMAGED : print_good(folder, &found);
}
