/*
 * The width and the character set of a terminal.
 */
#ifndef VIDI_CLI_UI_TERMINAL_H
#define VIDI_CLI_UI_TERMINAL_H

#include "cli.h"

/* Columns of the terminal at fd; 80 if fd is not a terminal or the width is unknown. */
size_t cli_terminal_columns(int fd);

/* Its rows; 24 if fd is not a terminal or the height is unknown. */
size_t cli_terminal_rows(int fd);

/* How many bytes of a line fit into the columns. Escape sequences for colours take no column. */
size_t cli_terminal_fit(const char *line, size_t length, size_t columns);

/* Returns true if LC_ALL, LC_CTYPE or LANG names UTF-8, so that the terminal shows more than ASCII. */
bool cli_terminal_utf8(void);

#endif
