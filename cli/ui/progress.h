/*
 * One line on stderr that is drawn again and again while a run lasts. On a terminal it is cut to the width, so that it
 * never takes two lines.
 */
#ifndef VIDI_CLI_UI_PROGRESS_H
#define VIDI_CLI_UI_PROGRESS_H

#include "ui/run_statistics.h"

/* Draws a line of any command over the one before. */
void cli_progress_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * The line of a run over input: lines per second, share of new URLs, memory, pages lost, and, if the size of the input
 * is known, the time left. `taken` of `size` bytes of the input have been read; size 0: unknown.
 */
void cli_progress_draw(const cli_report *report, uint64_t taken, uint64_t size);
void cli_progress_clear(void);

#endif
