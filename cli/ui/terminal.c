/*
 * The terminal: see terminal.h.
 */
#include "ui/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { USUAL_COLUMNS = 80, USUAL_ROWS = 24 };

size_t cli_terminal_columns(int fd)
{
    struct winsize size;

    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL_COLUMNS;
    return size.ws_col;
}

size_t cli_terminal_rows(int fd)
{
    struct winsize size;

    return ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 ? USUAL_ROWS : size.ws_row;
}

size_t cli_terminal_fit(const char *line, size_t length, size_t columns)
{
    size_t at = 0;

    while (at < length) {
        if (line[at] == '\033') {
            while (at < length && line[at] != 'm')
                at++;
        } else if (((unsigned char)line[at] & 0xc0) != 0x80 && columns-- == 0) {
            break;
        }
        at++;
    }
    return at < length ? at : length;
}

bool cli_terminal_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}
