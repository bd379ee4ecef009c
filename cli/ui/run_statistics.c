/*
 * Statistics: see run_statistics.h.
 */
#include "ui/run_statistics.h"

#include <unistd.h>

/* Is the set so full that it mistakes most new URLs for seen ones? */
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

void cli_report_fields(cli_json *json, const cli_report *report)
{
    const vidi_stats *stats = &report->set;

    cli_json_count(json, "read", report->read);
    cli_json_count(json, "new", report->fresh);
    cli_json_count(json, "seen", report->seen);
    cli_json_count(json, "invalid", report->invalid);
    cli_json_count(json, "bytes_in", report->bytes);
    cli_json_count(json, "memory_bytes", stats->memory_bytes);
    cli_json_real(json, "seconds", report->seconds);
    cli_json_real(json, "urls_per_second", cli_report_rate(report));
    cli_json_real(json, "expected_lost", stats->expected_lost);
    cli_json_string(json, "expected_lost_is", cli_lost_is(stats));
    cli_json_real(json, "error_now", stats->fp_now);
    cli_json_string(json, "kind", stats->kind);
    cli_json_string(json, "params", stats->params);
    cli_json_string(json, "hash", stats->hash);
    cli_json_string(json, "canon", stats->canon);
    if (stats->lines_touched)
        cli_json_count(json, "lines_touched", stats->lines_touched);
    cli_json_count(json, "epoch", stats->epoch);
    cli_json_count(json, "count", stats->count);
    cli_json_count(json, "capacity", stats->capacity);
}

int cli_report_json(const cli_report *report)
{
    cli_out err;
    cli_json json = {&err, false};

    cli_out_init(&err, STDERR_FILENO);
    cli_json_open(&json, NULL, '{');
    cli_report_fields(&json, report);
    cli_json_close(&json, '}');
    cli_out_text(&err, "\n");
    return cli_out_close(&err);
}

static void count_row(cli_table *table, const char *label, uint64_t value)
{
    cli_number number;
    cli_table_cell(table, "%s", label);
    cli_table_cell(table, "%s", cli_human_count(&number, value));
}

static void text_row(cli_table *table, const char *label, const char *text)
{
    cli_table_cell(table, "%s", label);
    cli_table_cell(table, "%s", text);
}

int cli_report_table(const cli_report *report)
{
    const vidi_stats *stats = &report->set;
    static const char *const lost_notes[] = {"", "; fewer if the URLs have little in common",
                                             "; some URLs are lost for certain"};
    cli_out err;
    cli_table table = {.layout = "ll"};
    cli_number number;

    count_row(&table, "lines read", report->read);
    count_row(&table, "new", report->fresh);
    count_row(&table, "seen", report->seen);
    count_row(&table, "invalid", report->invalid);
    count_row(&table, "bytes in", report->bytes);
    text_row(&table, "memory", cli_human_bytes(&number, stats->memory_bytes));
    cli_table_cell(&table, "seconds");
    cli_table_cell(&table, "%.3f", report->seconds);
    text_row(&table, "URLs/s", cli_human_real(&number, cli_report_rate(report)));
    cli_table_cell(&table, "expected pages lost");
    cli_table_cell(&table, "%s (%s%s)", cli_human_lost(&number, stats->expected_lost, VIDI_FP_EXACT),
                   cli_lost_is(stats), is_full(stats) ? "; the set is full" : lost_notes[stats->fp_meaning % 3]);
    text_row(&table, "error rate now", cli_human_real(&number, stats->fp_now));
    cli_table_cell(&table, "kind");
    cli_table_cell(&table, "%s%s%s", stats->kind, *stats->params ? " " : "", stats->params);
    text_row(&table, "hash", stats->hash);
    text_row(&table, "canonical form", stats->canon);
    if (stats->lines_touched)
        count_row(&table, "lines per lookup", stats->lines_touched);
    count_row(&table, "epoch", stats->epoch);
    cli_out_init(&err, STDERR_FILENO);
    int status = cli_table_print(&table, &err);
    int closed = cli_out_close(&err);
    return status == CLI_OK ? closed : status;
}

void cli_report_warn(const cli_report *report)
{
    const vidi_stats *stats = &report->set;
    cli_number count, capacity, lost;
    bool over = stats->capacity > 0 && stats->count > stats->capacity;

    if ((stats->can & VIDI_CAN_GROW) || !(over || is_full(stats)))
        return;
    cli_human_lost(&lost, stats->expected_lost, VIDI_FP_EXACT);
    const char *meaning = cli_lost_is(stats);
    if (over)
        cli_warning("%s URLs in a set made for %s; expected pages lost: %s (%s); give a larger --capacity or a --kind "
                    "that grows",
                    cli_human_count(&count, stats->count), cli_human_count(&capacity, stats->capacity), lost.text,
                    meaning);
    else
        cli_warning(
            "the set is full and mistakes most new URLs for seen ones; expected pages lost: %s (%s); give a larger "
            "--capacity or a --kind that grows",
            lost.text, meaning);
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
