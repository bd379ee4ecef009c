/*
 * vidi lab report: what was measured as one HTML file, its plots and figures as files, and texts that are filled with
 * the figures. The pages are lab/report/html_report.c's and the plots lab/report/svg.c's; this says what made them and
 * puts them where they are wanted.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/program/program.h"

/* ---- plots ---- */

static int save_plot(const lab_table *table, const char *folder)
{
    LAB_OWN(lab_release) char *name = NULL;
    LAB_PAGE(page);
    CLI_TRY(lab_page_open(&page));
    lab_svg_write(page.to, table, true);
    CLI_TRY(lab_page_close(&page));
    if (asprintf(&name, "%s/%s.svg", folder, table->id) < 0)
        return cli_error("out of memory");
    return lab_page_save(&page, name);
}

static int save_plots(const lab_book *book, const char *folder)
{
    for (size_t i = 0; i < book->count; i++)
        if (lab_svg_can(&book->tables[i]))
            CLI_TRY(save_plot(&book->tables[i], folder));
    return CLI_OK;
}

/* ---- the report ---- */

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
    for (size_t i = 0; i < options->graph.count; i++) {
        const char *file = options->graph.list[i], *slash = strrchr(file, '/');
        fputs(" --graph ", to);
        write_word(to, slash ? slash + 1 : file);
    }
}

static int write_report(const lab_book *book, const lab_report_options *options, const lab_origin *origin)
{
    LAB_PAGE(page);
    CLI_TRY(lab_page_open(&page));
    lab_report_write(page.to, book, origin);
    CLI_TRY(lab_page_close(&page));
    return lab_page_save(&page, options->file);
}

/*
 * The figures as CSV, the report and the texts. Texts come last: if one of them cannot be filled, the figures are there
 * for another try.
 */
static int write_pages(const lab_book *book, const lab_report_options *options, const lab_origin *origin)
{
    LAB_PAGE(page);
    CLI_TRY(lab_page_open(&page));
    lab_report_figures(page.to, book, origin);
    CLI_TRY(lab_page_close(&page));
    if (options->tables)
        CLI_TRY(lab_page_save(&page, options->tables));
    CLI_TRY(write_report(book, options, origin));
    return lab_fill_all(options->fill, &page);
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

/* The files that are written: the page, the figures, and the filled texts. NULL or "-": none. */
static const char *output(const lab_report_options *options, size_t index)
{
    if (index < 2)
        return index == 0 ? options->file : options->tables;
    const char *sign = strchr(options->fill.list[index - 2], '=');
    return sign ? sign + 1 : NULL;
}

static int check_outputs(const lab_report_options *options)
{
    for (size_t i = 1; i < 2 + options->fill.count; i++)
        for (size_t j = 0; j < i; j++)
            if (lab_same_file(output(options, i), output(options, j)))
                return cli_error("%s would be written twice; name another file", output(options, i));
    return CLI_OK;
}

int cli_lab_report_ready(const lab_report_options *options)
{
    const char *folder = options->plots;
    CLI_TRY(check_outputs(options));
    if (folder && mkdir(folder, 0777) != 0 && errno != EEXIST)
        return cli_error("cannot make the folder %s: %s", folder, strerror(errno));
    if (folder && !can_have_files(folder))
        return cli_error("cannot write plots to %s: %s", folder, strerror(errno));
    CLI_TRY(lab_page_ready(options->file));
    if (options->tables)
        CLI_TRY(lab_page_ready(options->tables));
    return lab_fill_ready(options->fill);
}

int cli_lab_report(const lab_book *book, const lab_report_options *options)
{
    lab_machine machine;
    LAB_PAGE(command);
    lab_origin origin = lab_machine_find(&machine);
    CLI_TRY(lab_page_open(&command));
    write_command(command.to, book, options);
    CLI_TRY(lab_page_close(&command));
    origin.command = command.text;
    origin.seconds = options->seconds;
    origin.continued = options->continued;
    if (options->plots)
        CLI_TRY(save_plots(book, options->plots));
    return write_pages(book, options, &origin);
}
