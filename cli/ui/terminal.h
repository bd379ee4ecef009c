/*
 * What there is to know about a terminal.
 */
#ifndef VIDI_CLI_UI_TERMINAL_H
#define VIDI_CLI_UI_TERMINAL_H

#include "cli.h"

/* Columns of the terminal that fd is; 80 if it is none or does not say. */
size_t cli_terminal_columns(int fd);

/* How many bytes of a line fit into so many columns; what switches colours takes none. */
size_t cli_terminal_fit(const char *line, size_t length, size_t columns);

/* Does standard output show more than ASCII? As the environment has it: LC_ALL, LC_CTYPE or LANG names UTF-8. */
bool cli_terminal_utf8(void);

#endif
