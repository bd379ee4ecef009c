/* Pages that are written to memory first and then to a file, which gets its name when it is complete. See lab.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/program/program.h"

#define NEW_SUFFIX ".new"

int lab_page_open(lab_page *page)
{
    page->to = open_memstream(&page->text, &page->length);
    return page->to ? CLI_OK : cli_error("out of memory");
}

int lab_page_close(lab_page *page)
{
    bool failed = ferror(page->to) != 0;
    failed |= fclose(page->to) != 0;
    page->to = NULL;
    return failed ? cli_error("out of memory") : CLI_OK;
}

void lab_page_free(lab_page *page)
{
    if (page->to)
        fclose(page->to);
    free(page->text);
}

static int cannot_write(const char *name)
{
    return cli_error("cannot write %s: %s", name, strerror(errno));
}

static int write_to(int fd, const lab_page *page, const char *name)
{
    cli_out out;
    cli_out_init(&out, fd);
    cli_out_bytes(&out, page->text, page->length);
    int status = cli_out_flush(&out);
    if (status == CLI_ERROR)
        cli_error("cannot write %s: %s", name, strerror(out.error));
    free(out.buffer);
    return status;
}

static int write_file(const lab_page *page, const char *name, int flags, const char *shown)
{
    int fd = open(name, O_WRONLY | O_CLOEXEC | flags, 0666);
    if (fd < 0)
        return cannot_write(shown);
    int status = write_to(fd, page, shown);
    if (close(fd) != 0 && status == CLI_OK)
        status = cannot_write(shown);
    return status;
}

/* A pipe must not be opened to find out: its reader would see it end and take that for the end of the page. */
static int check_special(const char *name, mode_t mode)
{
    errno = EISDIR;
    return S_ISDIR(mode) || access(name, W_OK) != 0 ? cannot_write(name) : CLI_OK;
}

/*
 * Writes a file beside it first, so that an existing file stays until the new one is complete. Devices and pipes are
 * written to directly. Without `keep`, only checks that the file can be written.
 */
static int save(const lab_page *page, const char *name, bool keep)
{
    struct stat about;
    char *beside;
    if (stat(name, &about) == 0 && !S_ISREG(about.st_mode))
        return keep ? write_file(page, name, 0, name) : check_special(name, about.st_mode);
    if (asprintf(&beside, "%s" NEW_SUFFIX, name) < 0)
        return cli_error("out of memory");
    int status = write_file(page, beside, O_CREAT | O_TRUNC, name);
    if (status == CLI_OK && keep && rename(beside, name) != 0)
        status = cannot_write(name);
    if (status != CLI_OK || !keep)
        unlink(beside);
    free(beside);
    return status;
}

static bool is_file(const char *name)
{
    return name && strcmp(name, "-") != 0;
}

int lab_page_save(const lab_page *page, const char *name)
{
    return is_file(name) ? save(page, name, true) : write_to(STDOUT_FILENO, page, "standard output");
}

int lab_page_ready(const char *name)
{
    static char empty[1];
    static const lab_page nothing = {.text = empty};
    return is_file(name) ? save(&nothing, name, false) : CLI_OK;
}

bool lab_same_file(const char *name, const char *other)
{
    struct stat about, about_other;
    if (!is_file(name) || !is_file(other))
        return false;
    bool there = stat(name, &about) == 0;
    if (there && !S_ISREG(about.st_mode))
        return false;
    return strcmp(name, other) == 0 || (there && stat(other, &about_other) == 0 && about.st_dev == about_other.st_dev &&
                                        about.st_ino == about_other.st_ino);
}
