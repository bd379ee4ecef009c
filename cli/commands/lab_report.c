/*
 * vidi lab report: what was measured as one HTML file, and its plots as files. The pages are lab/report/html_report.c's and the
 * plots lab/report/svg.c's; this says what made them and puts them where they are wanted.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/lab.h"

#define NEW_SUFFIX ".new"

extern const char *const cli_commit; /* made by cmake/Commit.cmake */

/* ---- files ---- */

/* A text that is written as if to a file. */
typedef struct page {
    FILE *to;
    char *text;
    size_t length;
} page;

static int page_open(page *page)
{
    *page = (struct page){NULL, NULL, 0};
    page->to = open_memstream(&page->text, &page->length);
    return page->to ? CLI_OK : cli_error("out of memory");
}

/* The text is whole afterwards; it is to be freed in every case. */
static int page_close(page *page)
{
    bool failed = ferror(page->to) != 0;
    return fclose(page->to) != 0 || failed ? cli_error("out of memory") : CLI_OK;
}

static int cannot_write(const char *name)
{
    return cli_error("cannot write %s: %s", name, strerror(errno));
}

static int write_to(int fd, const page *page, const char *name)
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

static int write_file(const page *page, const char *name, int flags, const char *shown)
{
    int fd = open(name, O_WRONLY | O_CLOEXEC | flags, 0666);
    if (fd < 0)
        return cannot_write(shown);
    int status = write_to(fd, page, shown);
    if (close(fd) != 0 && status == CLI_OK)
        status = cannot_write(shown);
    return status;
}

/*
 * Beside it first: a file that was there stays until the new one is whole. What is no file is written as it is. Without
 * `keep` it only tries whether that can be done.
 */
static int save(const page *page, const char *name, bool keep)
{
    struct stat about;
    char *beside;
    if (stat(name, &about) == 0 && !S_ISREG(about.st_mode))
        return write_file(page, name, 0, name);
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

/* ---- plots ---- */

static int save_plot(const lab_table *table, const char *folder)
{
    page page;
    char *name;
    if (page_open(&page) != CLI_OK)
        return CLI_ERROR;
    lab_svg_write(page.to, table, true);
    int status = page_close(&page);
    if (status == CLI_OK && asprintf(&name, "%s/%s.svg", folder, table->id) < 0)
        status = cli_error("out of memory");
    else if (status == CLI_OK) {
        status = save(&page, name, true);
        free(name);
    }
    free(page.text);
    return status;
}

static int save_plots(const lab_book *book, const char *folder)
{
    int status = CLI_OK;
    for (size_t i = 0; i < book->count && status == CLI_OK; i++)
        if (lab_svg_can(&book->tables[i]))
            status = save_plot(&book->tables[i], folder);
    return status;
}

/* ---- the report ---- */

/* The processor's name as Linux gives it; empty: it does not. */
static void find_processor(char *name, size_t room)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    name[0] = 0;
    while (file && !name[0] && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (colon && strncmp(line, "model name", strlen("model name")) == 0)
            snprintf(name, room, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    if (file)
        fclose(file);
}

/* For a shell: quoted if it has to be. */
static void write_word(FILE *to, const char *word)
{
    static const char plain[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz%+,-./:=@_";
    if (word[0] && !word[strspn(word, plain)]) {
        fputs(word, to);
        return;
    }
    fputc('\'', to);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", to);
        else
            fputc(*word, to);
    fputc('\'', to);
}

/* The command that gives the same numbers: whatever does not change them is left out. */
static void write_command(FILE *to, const lab_book *book, const lab_report_options *options)
{
    fprintf(to, "vidi lab report");
    for (size_t i = 0; i < options->ids.count; i++) {
        fputc(' ', to);
        write_word(to, options->ids.list[i]);
    }
    fprintf(to, " --runs %llu --urls %llu --seed %llu", (unsigned long long)book->settings.runs,
            (unsigned long long)book->settings.urls, (unsigned long long)book->settings.seed);
    if (fabs(book->settings.precision - LAB_PRECISION_USUAL / 100) > 1e-9)
        fprintf(to, " --precision %g", 100 * book->settings.precision);
    for (size_t i = 0; i < options->corpus.count; i++) {
        fputs(" --corpus ", to);
        write_word(to, options->corpus.list[i]);
    }
    for (size_t i = 0; i < options->streams.count; i++) { /* without folders, which mean nothing to other readers */
        const char *file = options->streams.list[i], *slash = strrchr(file, '/');
        fputs(" --streams ", to);
        write_word(to, slash ? slash + 1 : file);
    }
}

static int write_report(const lab_book *book, const lab_report_options *options, const char *command)
{
    char processor[256];
    page page;
    find_processor(processor, sizeof processor);
    lab_origin origin = {.command = command, .commit = cli_commit, .processor = processor};
    if (page_open(&page) != CLI_OK)
        return CLI_ERROR;
    lab_report_write(page.to, book, &origin);
    int status = page_close(&page);
    if (status == CLI_OK && options->file && strcmp(options->file, "-") != 0)
        status = save(&page, options->file, true);
    else if (status == CLI_OK)
        status = write_to(STDOUT_FILENO, &page, "standard output");
    free(page.text);
    return status;
}

/* errno says why not. */
static bool can_have_files(const char *folder)
{
    struct stat about;
    if (stat(folder, &about) != 0)
        return false;
    if (!S_ISDIR(about.st_mode)) {
        errno = ENOTDIR;
        return false;
    }
    return access(folder, W_OK | X_OK) == 0;
}

int cli_lab_report_ready(const lab_report_options *options)
{
    static char empty[1];
    static const page nothing = {.text = empty};
    const char *folder = options->plots;
    if (folder && mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cli_error("cannot make the folder %s: %s", folder, strerror(errno));
    if (folder && !can_have_files(folder))
        return cli_error("cannot write plots to %s: %s", folder, strerror(errno));
    return options->file && strcmp(options->file, "-") != 0 ? save(&nothing, options->file, false) : CLI_OK;
}

int cli_lab_report(const lab_book *book, const lab_report_options *options)
{
    page command;
    if (page_open(&command) != CLI_OK)
        return CLI_ERROR;
    write_command(command.to, book, options);
    int status = page_close(&command);
    if (status == CLI_OK && options->plots)
        status = save_plots(book, options->plots);
    if (status == CLI_OK)
        status = write_report(book, options, command.text);
    free(command.text);
    return status;
}
