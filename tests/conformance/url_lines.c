/*
 * Canonical forms for node.sh: reads lines from stdin and prints for each '=' and its form after `whatwg`, or '!' if it
 * is no URL. With the argument "resolve" a line is a base, a tab and a reference, and the whole URL is printed.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vidi/url.h"
#include "vidi/vidi.h"

enum { ROOM = 1 << 20 };

static int answer(const vidi_canon *canon, vidi_str line, char *room, size_t *len)
{
    const char *tab = canon ? NULL : memchr(line.ptr, '\t', line.len);
    if (canon)
        return vidi_url_canon(canon, line, NULL, room, len);
    if (!tab)
        return VIDI_INVALID;
    vidi_str base = {line.ptr, (size_t)(tab - line.ptr)};
    return vidi_url_resolve(base, (vidi_str){tab + 1, line.len - base.len - 1}, room, len);
}

int main(int argc, char **argv)
{
    vidi_canon *canon = NULL;
    static char room[ROOM];
    char *line = NULL;
    size_t bytes = 0;
    ssize_t got;
    bool resolve = argc > 1 && strcmp(argv[1], "resolve") == 0;
    if (!resolve && vidi_canon_create(&canon, "whatwg", NULL, NULL) != VIDI_OK)
        return 1;
    while ((got = getline(&line, &bytes, stdin)) >= 0) {
        size_t len = ROOM, text = (size_t)got - (got > 0 && line[got - 1] == '\n');
        int result = answer(canon, (vidi_str){line, text}, room, &len);
        putchar(result == VIDI_OK ? '=' : '!');
        fwrite(room, 1, result == VIDI_OK ? len : 0, stdout);
        putchar('\n');
    }
    free(line);
    vidi_canon_close(canon);
    return ferror(stdout) || fclose(stdout) ? 1 : 0;
}
