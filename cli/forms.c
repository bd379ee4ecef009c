/*
 * Options about canonical forms: see forms.h.
 */
#include "forms.h"

#include <stdlib.h>
#include <string.h>

#include "lines.h"

enum { BATCH = 256 };

int cli_invalid_parse(const char *word, uint32_t *policy)
{
    static const char *const words[] = {"keep", "drop", "fail"};

    *policy = VIDI_KEEP_INVALID;
    for (; word && strcmp(word, words[*policy]) != 0; ++*policy)
        if (*policy == VIDI_FAIL_INVALID)
            return cli_error("--invalid is 'keep', 'drop' or 'fail', not '%s'", word);
    return CLI_OK;
}

/* Text that grows, with room for a zero byte behind it. */
typedef struct growing {
    char *text;
    size_t len, room;
} growing;

static int add_line(growing *to, vidi_str line, const char *name)
{
    if (memchr(line.ptr, 0, line.len))
        return cli_error("%s: a zero byte is in the list", name);
    if (!to->text || to->room - to->len < line.len + 2) {
        size_t room = 2 * to->room + line.len + 2;
        char *text = realloc(to->text, room);
        if (!text)
            return cli_error("out of memory");
        to->text = text;
        to->room = room;
    }
    memcpy(to->text + to->len, line.ptr, line.len);
    to->len += line.len;
    to->text[to->len++] = '\n';
    to->text[to->len] = 0;
    return CLI_OK;
}

static int read_lines(cli_lines *in, const char *path, growing *to)
{
    vidi_str lines[BATCH];
    size_t n;
    int status = cli_lines_open(in, path);

    while (status == CLI_OK && (status = cli_lines_next(in, lines, BATCH, &n)) == CLI_OK && n > 0)
        for (size_t i = 0; i < n && status == CLI_OK; i++)
            status = add_line(to, lines[i], in->name);
    cli_lines_close(in);
    return status;
}

int cli_tracking_read(const char *path, char **text)
{
    growing list = {0};
    cli_lines in;

    *text = NULL;
    if (!path)
        return CLI_OK;
    int status = cli_lines_check(path);
    if (status == CLI_OK)
        status = cli_lines_init(&in);
    if (status != CLI_OK)
        return status;
    status = add_line(&list, (vidi_str){"", 0}, path); /* an empty file is an empty list and not the usual one */
    if (status == CLI_OK)
        status = read_lines(&in, path, &list);
    cli_lines_free(&in);
    *text = list.text;
    return status;
}
