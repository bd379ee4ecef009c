/*
 * Ends the last commit of a dead run: see recommit.h. Lines are read one by one, and their URLs sent in batches. What
 * the owner does not have a claim on any more was committed, or taken over, and is passed over.
 */
#include "pipeline/output/recommit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ui/output.h"

enum { BATCH = 4096 };

typedef struct recommit {
    const char *path;
    const cli_output_lines *lines;
    cli_extract extract; /* with the field that the header names */
    FILE *file;
    char *line; /* the last one that was read */
    size_t room;
    cli_unquoted unquoted;
    vidi_cluster *cluster;
    const char *owner;
    vidi_str urls[BATCH]; /* each allocated */
    size_t count;
} recommit;

/* ---- batches ---- */

static void drop_batch(recommit *self)
{
    for (size_t i = 0; i < self->count; i++)
        free((char *)(uintptr_t)self->urls[i].ptr);
    self->count = 0;
}

static int send_batch(recommit *self)
{
    int error = self->count > 0
                    ? vidi_cluster_finish(self->cluster, self->owner, self->urls, self->count, VIDI_FINISH_COMMIT, NULL)
                    : VIDI_OK;

    drop_batch(self);
    return cli_target_status(&(cli_target){.away = self->cluster}, error);
}

static int add_url(recommit *self, vidi_str url)
{
    char *copy = malloc(url.len + 1);

    if (!copy)
        return cli_error("out of memory");
    self->urls[self->count++] = (vidi_str){memcpy(copy, url.ptr, url.len), url.len};
    return self->count == BATCH ? send_batch(self) : CLI_OK; /* cppcheck-suppress memleak ; it is in the batch */
}

/* ---- lines ---- */

/* Reads a line; *got is how many bytes it has with its end. The last one may lack its end, and is then no line. */
static int read_line(recommit *self, vidi_str *line, uint64_t *got)
{
    ssize_t length = getdelim(&self->line, &self->room, self->lines->end, self->file);
    bool whole = length > 0 && self->line[length - 1] == self->lines->end;

    if (length < 0 && !feof(self->file))
        return cli_error("cannot read %s: %s", self->path, strerror(errno));
    *got = whole ? (uint64_t)length : 0;
    *line = (vidi_str){self->line, whole ? (size_t)length - 1 : 0};
    if (line->len > 0 && self->lines->end == '\n' && line->ptr[line->len - 1] == '\r')
        line->len--;
    return CLI_OK;
}

static int seek(const recommit *self, uint64_t at)
{
    return fseeko(self->file, (off_t)at, SEEK_SET) == 0 ? CLI_OK
                                                        : cli_error("cannot read %s: %s", self->path, strerror(errno));
}

/* Looks at the header; *end is where it ends. */
static int read_header(recommit *self, uint64_t *end)
{
    vidi_str line = {0};

    *end = 0;
    if (!self->lines->header)
        return CLI_OK;
    CLI_TRY(seek(self, 0));
    CLI_TRY(read_line(self, &line, end));
    return self->lines->extract && *end > 0 ? cli_extract_header(&self->extract, self->path, line) : CLI_OK;
}

static int commit_line(recommit *self, vidi_str line)
{
    vidi_str url = line;

    if (self->lines->extract && self->extract.active)
        CLI_TRY(cli_extract_one(&self->extract.lookup, line, &url, &self->unquoted));
    return add_url(self, url);
}

static int commit_lines(recommit *self, uint64_t from, uint64_t to)
{
    uint64_t header, got = 1;
    vidi_str line = {0};
    int status = read_header(self, &header);

    from = from > header ? from : header;
    if (status == CLI_OK)
        status = seek(self, from);
    while (status == CLI_OK && from < to && got > 0) {
        status = read_line(self, &line, &got);
        from += got;
        if (status == CLI_OK && got > 0)
            status = commit_line(self, line);
    }
    return status == CLI_OK ? send_batch(self) : status;
}

int cli_recommit(int fd, const char *path, const cli_output_lines *lines, uint64_t from, uint64_t to,
                 vidi_cluster *cluster, const char *owner)
{
    if (lines->answers || from >= to)
        return CLI_OK;
    recommit *self = calloc(1, sizeof *self);
    int copy = self ? dup(fd) : -1;
    int status = CLI_OK;

    if (copy >= 0)
        self->file = fdopen(copy, "r");
    if (!self || !self->file)
        status = cli_error("cannot read %s: %s", path, strerror(errno));
    if (status == CLI_OK) {
        self->path = path;
        self->lines = lines;
        self->cluster = cluster;
        self->owner = owner;
        if (lines->extract)
            self->extract = *lines->extract;
        status = commit_lines(self, from, to);
        drop_batch(self);
        free(self->line);
        free(self->unquoted.bytes);
    }
    if (self && self->file)
        fclose(self->file);
    else if (copy >= 0)
        close(copy);
    free(self);
    return status;
}
