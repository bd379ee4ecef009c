/*
 * vidi crawl cdxj: the index of a crawl's archive, for players of web archives such as pywb. Of several folders, which
 * all have files of the same names, it is one index, in which the names begin with the folders.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/crawl/crawl.h"

/* A folder, and the line of it that comes next. */
typedef struct indexed {
    report *report;
    report_index *index;
    bytes prefix; /* of the names of its files */
    vidi_str line;
    bool over;
} indexed;

static int fail(const indexed *from)
{
    return cli_error("%s", report_error(from->report));
}

static int next_line(indexed *from)
{
    int result = report_index_next(from->index, &from->line);

    from->over = result == 0;
    return result < 0 ? fail(from) : CLI_OK;
}

static int open_one(indexed *self, const char *folder, bool alone)
{
    size_t length = strlen(folder);

    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (cli_crawl_report_open(&self->report, folder) != CLI_OK)
        return CLI_ERROR;
    if (!alone && bytes_append_format(&self->prefix, "%.*s/archive/", (int)length, folder) != 0)
        return cli_error("out of memory");
    if (report_index_open(&self->index, self->report, bytes_str(&self->prefix)) < 0)
        return fail(self);
    return next_line(self);
}

static int compare(vidi_str a, vidi_str b)
{
    int order = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* The one with the first line; NULL: there are no more lines. */
static indexed *first_of(indexed *all, size_t count)
{
    indexed *first = NULL;

    for (size_t i = 0; i < count; i++)
        if (!all[i].over && (!first || compare(all[i].line, first->line) < 0))
            first = &all[i];
    return first;
}

static int put_lines(indexed *all, size_t count)
{
    indexed *next;
    cli_out out;
    int status = CLI_OK;

    cli_out_init(&out, STDOUT_FILENO);
    while (status == CLI_OK && !out.error && (next = first_of(all, count)) != NULL) {
        cli_out_bytes(&out, next->line.ptr, next->line.len);
        status = next_line(next);
    }
    int closed = cli_out_close(&out);
    return status != CLI_OK ? status : closed;
}

int cli_crawl_cdxj(cli_words folders)
{
    indexed *all = calloc(folders.count, sizeof *all);
    int status = all ? CLI_OK : cli_error("out of memory");
    size_t opened = 0;

    while (status == CLI_OK && opened < folders.count) {
        status = open_one(&all[opened], folders.list[opened], folders.count == 1);
        opened++;
    }
    if (status == CLI_OK)
        status = put_lines(all, folders.count);
    for (size_t i = 0; i < opened; i++) {
        report_index_close(all[i].index);
        report_close(all[i].report);
        bytes_free(&all[i].prefix);
    }
    free(all);
    return status;
}
