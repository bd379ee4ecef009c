/*
 * The progress line: see progress.h.
 */
#include "ui/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "ui/output.h"
#include "ui/terminal.h"

enum { LINE_ROOM = 512 };

void cli_progress_line(const char *format, ...)
{
    char line[LINE_ROOM];
    va_list arguments;
    cli_out err;

    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    size_t used = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
    if (isatty(STDERR_FILENO)) /* in the last column some terminals begin a new line */
        used = cli_terminal_fit(line, used, cli_terminal_columns(STDERR_FILENO) - 1);
    cli_out_init(&err, STDERR_FILENO);
    cli_out_text(&err, "\r");
    cli_out_bytes(&err, line, used);
    cli_out_text(&err, cli_color() ? "\033[0m\033[K" : "\033[K");
    (void)cli_out_close(&err);
}

/* "  1:02 left", or nothing if it is unknown. */
static const char *time_left(char text[32], double seconds)
{
    unsigned long long left = seconds < 1e9 ? (unsigned long long)(seconds + 0.5) : 0;

    if (left >= 3600)
        snprintf(text, 32, "  %llu:%02llu:%02llu left", left / 3600, left / 60 % 60, left % 60);
    else
        snprintf(text, 32, "  %llu:%02llu left", left / 60, left % 60);
    return text;
}

void cli_progress_draw(const cli_report *report, uint64_t taken, uint64_t size)
{
    cli_number lines, rate, memory, lost;
    double seconds = report->seconds > 0 ? report->seconds : 1e-9;
    char left[32] = "";

    if (size > 0 && taken > 0)
        time_left(left, taken < size ? seconds * (double)(size - taken) / (double)taken : 0);
    cli_progress_line("%s%s lines%s  %s/s  %.1f %% new  %s  %s lost%s", cli_color() ? "\033[1m" : "",
                      cli_human_short(&lines, (double)report->read), cli_color() ? "\033[0m" : "",
                      cli_human_short(&rate, (double)report->read / seconds),
                      report->read ? 100.0 * (double)report->fresh / (double)report->read : 0.0,
                      cli_human_bytes(&memory, report->set.memory_bytes),
                      cli_human_lost(&lost, report->set.expected_lost, VIDI_FP_EXACT), left);
}

void cli_progress_clear(void)
{
    (void)!write(STDERR_FILENO, "\r\033[K", 4);
}
