/*
 * What there is to know about the terminal that standard output may be.
 */
#ifndef VIDI_CLI_UI_TERMINAL_H
#define VIDI_CLI_UI_TERMINAL_H

#include "cli.h"

/* Columns of standard output; 80 if it is no terminal or does not say. */
size_t cli_terminal_columns(void);

/* Does it show more than ASCII? As the environment has it: LC_ALL, LC_CTYPE or LANG names UTF-8. */
bool cli_terminal_utf8(void);

#endif
