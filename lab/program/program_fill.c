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
    lab_page text, filled;
    if (lab_same_file(template, output))
        return cli_error("%s would be lost: give the filled text another name", template);
    int status = read_file(&text, template);
    if (status == CLI_OK)
        status = lab_page_open(&filled);
    if (status != CLI_OK) {
        free(text.text);
        return status;
    }
    size_t problems = lab_fill_text(filled.to, text.text, figures, tell_problem, (void *)template);
    status = lab_page_close(&filled);
    if (status == CLI_OK && problems)
        status = CLI_ERROR;
    if (status == CLI_OK && write)
        status = lab_page_save(&filled, output);
    free(filled.text);
    free(text.text);
    return status;
}

/* ---- vidi lab report --fill IN=OUT ---- */

/* Splits IN=OUT: the template's name, which the caller frees, and the file to write; NULL after an error message. */
static char *template_of(const char *word, const char **output)
{
    const char *sign = strchr(word, '=');
    *output = sign ? sign + 1 : "";
    if (!sign || sign == word || !sign[1]) {
        cli_error("--fill takes IN=OUT, two files, not '%s'", word);
        return NULL;
    }
    char *template = strndup(word, (size_t)(sign - word));
    if (!template)
        cli_error("out of memory");
    return template;
}

static int fill_each(cli_words words, const lab_figures *figures, bool write)
{
    int status = CLI_OK;
    for (size_t i = 0; i < words.count && status == CLI_OK; i++) {
        const char *output;
        char *template = template_of(words.list[i], &output);
        status = template ? fill(template, figures, output, write) : CLI_ERROR;
        if (status == CLI_OK && !write)
            status = lab_page_ready(output);
        free(template);
    }
    return status;
}

int lab_fill_all(cli_words words, const lab_page *figures)
{
    lab_figures read;
    if (words.count == 0)
        return CLI_OK;
    int error = lab_figures_read(&read, figures->text, figures->length);
    int status = error < 0 ? cli_library_error(error) : fill_each(words, &read, true);
    lab_figures_free(&read);
    return status;
}

/* A placeholder that names no cell is found before hours of measuring, and not after. */
int lab_fill_ready(cli_words words)
{
    lab_figures names;
    if (words.count == 0)
        return CLI_OK;
    int error = lab_figures_names(&names);
    int status = error < 0 ? cli_library_error(error) : fill_each(words, &names, false);
    lab_figures_free(&names);
    return status;
}

/* ---- vidi lab fill IN TABLES ---- */

int lab_fill_action(cli_words words, const char *output)
{
    lab_page tables;
    lab_figures figures;
    if (words.count != 2)
        return cli_error(
            "'vidi lab fill' needs a template and the tables of a run: vidi lab fill LAB.in.md tables.csv");
    if (lab_same_file(words.list[1], output))
        return cli_error("%s would be lost: give the filled text another name", words.list[1]);
    int status = read_file(&tables, words.list[1]);
    if (status != CLI_OK) {
        free(tables.text);
        return status;
    }
    int error = lab_figures_read(&figures, tables.text, tables.length);
    status =
        error < 0 ? cli_error("%s, %s", words.list[1], vidi_message()) : fill(words.list[0], &figures, output, true);
    lab_figures_free(&figures);
    free(tables.text);
    return status;
}
