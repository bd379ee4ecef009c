/*
 * vidi lab fill, and vidi lab report --fill: texts that are filled with the figures of a run. The placeholders are
 * explained in lab/fill/fill.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/program/program.h"
#include "lab/fill/figures.h"

/* Reads a whole file into the page. A zero byte in it is an error: these are texts. */
static int read_file(lab_page *page, const char *name)
{
    char bytes[4096];
    size_t count;
    CLI_TRY(lab_page_open(page));
    FILE *from = fopen(name, "re");
    while (from && (count = fread(bytes, 1, sizeof bytes, from)) > 0)
        fwrite(bytes, 1, count, page->to);
    bool failed = !from || ferror(from);
    int error = errno;
    if (from)
        fclose(from);
    int status = lab_page_close(page);
    if (failed)
        return cli_error("cannot read %s: %s", name, strerror(error));
    if (status == CLI_OK && strlen(page->text) != page->length)
        return cli_error("%s is not a text: it has a zero byte", name);
    return status;
}

static void tell_problem(void *context, size_t line, const char *sentence)
{
    cli_error("%s, line %zu: %s", (const char *)context, line, sentence);
}

/* Fills a template, and writes the result if `write` is set; otherwise it only checks the placeholders. */
static int fill(const char *template, const lab_figures *figures, const char *output, bool write)
{
    LAB_PAGE(text);
    LAB_PAGE(filled);
    if (lab_same_file(template, output))
        return cli_error("%s would be lost: give the filled text another name", template);
    CLI_TRY(read_file(&text, template));
    CLI_TRY(lab_page_open(&filled));
    size_t problems = lab_fill_text(filled.to, text.text, figures, tell_problem, (void *)template);
    CLI_TRY(lab_page_close(&filled));
    if (problems)
        return CLI_ERROR;
    return write ? lab_page_save(&filled, output) : CLI_OK;
}

/* ---- vidi lab report --fill IN=OUT ---- */

/* A file, IN=OUT, whose template IN is filled. */
static int fill_word(const char *word, const lab_figures *figures, bool write)
{
    const char *sign = strchr(word, '=');
    if (!sign || sign == word || !sign[1])
        return cli_error("--fill takes IN=OUT, two files, not '%s'", word);
    LAB_OWN(lab_release) char *template = strndup(word, (size_t)(sign - word));
    if (!template)
        return cli_error("out of memory");
    CLI_TRY(fill(template, figures, sign + 1, write));
    return write ? CLI_OK : lab_page_ready(sign + 1);
}

static int fill_each(cli_words words, const lab_figures *figures, bool write)
{
    for (size_t i = 0; i < words.count; i++)
        CLI_TRY(fill_word(words.list[i], figures, write));
    return CLI_OK;
}

int lab_fill_all(cli_words words, const lab_page *figures)
{
    LAB_OWN(lab_figures_free) lab_figures read = {.count = 0};
    if (words.count == 0)
        return CLI_OK;
    CLI_TRY(cli_library_status(lab_figures_read(&read, figures->text, figures->length)));
    return fill_each(words, &read, true);
}

/* A placeholder that names no cell is found before hours of measuring, and not after. */
int lab_fill_ready(cli_words words)
{
    LAB_OWN(lab_figures_free) lab_figures names = {.count = 0};
    if (words.count == 0)
        return CLI_OK;
    CLI_TRY(cli_library_status(lab_figures_names(&names)));
    return fill_each(words, &names, false);
}

/* ---- vidi lab fill IN TABLES ---- */

int lab_fill_action(cli_words words, const char *output)
{
    LAB_PAGE(tables);
    LAB_OWN(lab_figures_free) lab_figures figures = {.count = 0};
    if (words.count != 2)
        return cli_error(
            "'vidi lab fill' needs a template and the tables of a run: vidi lab fill LAB.in.md tables.csv");
    if (lab_same_file(words.list[1], output))
        return cli_error("%s would be lost: give the filled text another name", words.list[1]);
    CLI_TRY(read_file(&tables, words.list[1]));
    if (lab_figures_read(&figures, tables.text, tables.length) < 0)
        return cli_error("%s, %s", words.list[1], vidi_message());
    return fill(words.list[0], &figures, output, true);
}
