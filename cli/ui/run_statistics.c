/*
 * Statistics: see run_statistics.h.
 */
#include "ui/run_statistics.h"

#include <stdio.h>
#include <string.h>

/* Returns true if the set is so full that it mistakes most new URLs for seen ones. */
static bool is_full(const vidi_stats *stats)
{
    return stats->fp_now >= 0.5;
}

const char *cli_lost_is(const vidi_stats *stats)
{
    if (is_full(stats)) /* the sum is too small now, so an upper bound no longer holds */
        return stats->fp_meaning == VIDI_FP_EXACT ? "at least" : "about";
    return cli_meaning_name(stats->fp_meaning);
}

double cli_report_rate(const cli_report *report)
{
    return report->seconds > 0 ? (double)report->read / report->seconds : 0;
}

enum { FIGURES = 23 };

/* All figures of a run, the same for programs and for people. */
typedef struct run_figures {
    cli_figure list[FIGURES];
    char lost[120], kind[VIDI_PARAMS_ROOM + 32]; /* what the table says of them */
} run_figures;

static void run_figures_of(const cli_report *report, run_figures *figures)
{
    static const char *const lost_notes[] = {"", "; fewer if the URLs have little in common",
                                             "; some URLs are lost for certain"};
    const vidi_stats *stats = &report->set;
    bool lines = stats->lines_touched > 0, away = report->away;
    cli_number lost;

    snprintf(figures->lost, sizeof figures->lost, "%s%s",
             cli_human_expected(&lost, stats->expected_lost, cli_lost_is(stats)),
             is_full(stats) ? "; the set is full" : lost_notes[stats->fp_meaning % 3]);
    snprintf(figures->kind, sizeof figures->kind, "%s%s%s", stats->kind, *stats->params ? " " : "", stats->params);
    const cli_figure list[FIGURES] = {
        {"read", "lines read", CLI_IS_COUNT, .count = report->read},
        {"new", "new", CLI_IS_COUNT, .count = report->fresh},
        {"seen", "seen", CLI_IS_COUNT, .count = report->seen},
        {"invalid", "invalid", CLI_IS_COUNT, .count = report->invalid},
        {"bytes_in", "bytes in", CLI_IS_COUNT, .count = report->bytes},
        {"memory_bytes", "memory", CLI_IS_BYTES, .count = stats->memory_bytes},
        {"seconds", "seconds", CLI_IS_SECONDS, .real = report->seconds},
        {"urls_per_second", "URLs/s", CLI_IS_REAL, .real = cli_report_rate(report)},
        {NULL, "expected pages lost", CLI_IS_TEXT, .text = figures->lost},
        {"expected_lost", NULL, CLI_IS_REAL, .real = stats->expected_lost},
        {"expected_lost_is", NULL, CLI_IS_TEXT, .text = cli_lost_is(stats)},
        {"error_now", "error rate now", CLI_IS_REAL, .real = stats->fp_now},
        {NULL, "kind", CLI_IS_TEXT, .text = figures->kind},
        {"kind", NULL, CLI_IS_TEXT, .text = stats->kind},
        {"params", NULL, CLI_IS_TEXT, .text = stats->params},
        {"hash", "hash", CLI_IS_TEXT, .text = stats->hash},
        {"canon", "canonical form", CLI_IS_TEXT, .text = stats->canon},
        {lines ? "lines_touched" : NULL, lines ? "lines per lookup" : NULL, CLI_IS_COUNT,
         .count = stats->lines_touched},
        {"epoch", "epoch", CLI_IS_COUNT, .count = stats->epoch},
        {"count", NULL, CLI_IS_COUNT, .count = stats->count},
        {"capacity", NULL, CLI_IS_COUNT, .count = stats->capacity},
        {away ? "left" : NULL, away ? "left to others" : NULL, CLI_IS_COUNT, .count = report->left},
        {away ? "stale" : NULL, away ? "committed too late" : NULL, CLI_IS_COUNT, .count = report->stale},
    };
    memcpy(figures->list, list, sizeof list);
}

void cli_report_fields(json_writer *json, const cli_report *report)
{
    run_figures figures;

    run_figures_of(report, &figures);
    cli_json_figures(json, figures.list, FIGURES);
}

int cli_report_print(const cli_report *report, bool json)
{
    run_figures figures;

    run_figures_of(report, &figures);
    return cli_figures_print(figures.list, FIGURES, json);
}

static void warn_of_claims(const cli_report *report)
{
    cli_number count;

    if (report->left)
        cli_warning("%s %s skipped: other clients have claimed the URLs for more than a minute and must hand them on; "
                    "if one of them has died, run this input again",
                    cli_human_count(&count, report->left), report->left == 1 ? "line was" : "lines were");
    if (report->stale)
        cli_warning("%s %s handed on after this run's claims were over; other clients may have handed them on, too",
                    cli_human_count(&count, report->stale), report->stale == 1 ? "URL was" : "URLs were");
}

void cli_report_warn(const cli_report *report)
{
    const vidi_stats *stats = &report->set;
    cli_number count, capacity, lost;
    bool over = stats->capacity > 0 && stats->count > stats->capacity;

    warn_of_claims(report);
    if ((stats->can & VIDI_CAN_GROW) || !(over || is_full(stats)))
        return;
    cli_human_expected(&lost, stats->expected_lost, cli_lost_is(stats));
    if (over)
        cli_warning("%s URLs in a set made for %s; expected pages lost: %s; give a larger --capacity or a --kind "
                    "that grows",
                    cli_human_count(&count, stats->count), cli_human_count(&capacity, stats->capacity), lost.text);
    else
        cli_warning("the set is full and mistakes most new URLs for seen ones; expected pages lost: %s; give a larger "
                    "--capacity or a --kind that grows",
                    lost.text);
}

int cli_report_strict(const cli_report *report, double lost)
{
    const vidi_stats *stats = &report->set;
    cli_number count, limit;

    if (stats->capacity > 0 && stats->count > stats->capacity) {
        cli_error("--strict: %s URLs in a set made for %s; give a larger --capacity, or start a new epoch",
                  cli_human_count(&count, stats->count), cli_human_count(&limit, stats->capacity));
        return CLI_EXCEEDED;
    }
    if (lost >= 0 && stats->expected_lost > lost) {
        cli_error("--strict: expected pages lost: %s, and --lost allows %s; give a smaller --error",
                  cli_human_lost(&count, stats->expected_lost, VIDI_FP_EXACT), cli_shortest_real(&limit, lost));
        return CLI_EXCEEDED;
    }
    return CLI_OK;
}
