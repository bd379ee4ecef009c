/*
 * The progress line: see progress.h.
 */
#include "ui/progress.h"

#include <unistd.h>

#include "ui/output.h"

static void put_left(cli_out *out, double seconds)
{
    unsigned long long left = seconds < 1e9 ? (unsigned long long)(seconds + 0.5) : 0;

    if (left >= 3600)
        cli_out_format(out, "  %llu:%02llu:%02llu left", left / 3600, left / 60 % 60, left % 60);
    else
        cli_out_format(out, "  %llu:%02llu left", left / 60, left % 60);
}

void cli_progress_draw(const cli_report *report, uint64_t taken, uint64_t size)
{
    cli_out err;
    cli_number lines, rate, memory, lost;
    double seconds = report->seconds > 0 ? report->seconds : 1e-9;

    cli_out_init(&err, STDERR_FILENO);
    cli_out_format(&err, "\r%s%s lines%s  %s/s  %.1f %% new  %s  %s lost", cli_color() ? "\033[1m" : "",
                   cli_human_short(&lines, (double)report->read), cli_color() ? "\033[0m" : "",
                   cli_human_short(&rate, (double)report->read / seconds),
                   report->read ? 100.0 * (double)report->fresh / (double)report->read : 0.0,
                   cli_human_bytes(&memory, report->set.memory_bytes),
                   cli_human_lost(&lost, report->set.expected_lost, VIDI_FP_EXACT));
    if (size > 0 && taken > 0)
        put_left(&err, taken < size ? seconds * (double)(size - taken) / (double)taken : 0);
    cli_out_text(&err, "\033[K");
    (void)cli_out_close(&err);
}

void cli_progress_clear(void)
{
    (void)!write(STDERR_FILENO, "\r\033[K", 4);
}
