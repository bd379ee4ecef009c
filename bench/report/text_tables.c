/*
 * The output for people: a table for each size, grouped by error rate, and the main ratios below it. The tables are
 * aligned Markdown.
 */
#include "bench/subjects.h"

#include <math.h>
#include <string.h>

const char *const bench_job_names[BENCH_FORMS][BENCH_JOBS] = {
    {"add", "has present", "has absent"},
    {"add ready", "has present ready", "has absent ready"},
};

#define CELL 40

typedef struct cell {
    char text[CELL];
} cell;

bench_interval bench_wilson(uint64_t hits, uint64_t trials)
{
    const double z = 1.959964;
    double n = (double)trials, p = n > 0 ? (double)hits / n : 0;
    if (!trials)
        return (bench_interval){0, 1};
    double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return (bench_interval){middle > half && hits ? middle - half : 0, middle + half};
}

/* "43.1", "431". */
static cell number_cell(double ns)
{
    cell cell;
    snprintf(cell.text, sizeof cell.text, ns < 99.95 ? "%.1f" : "%.0f", ns);
    return cell;
}

static cell time_cell(const bench_series *series)
{
    cell cell = {"-"};
    if (series->rounds)
        snprintf(cell.text, sizeof cell.text, "%.18s (%.18s)", number_cell(bench_best(series)).text,
                 number_cell(bench_median(series)).text);
    return cell;
}

static double ratio(const bench_series *peer, const bench_series *own)
{
    return peer->rounds && own->rounds ? bench_best(peer) / bench_best(own) : 0;
}

static cell ratio_cell(const bench_series *peer, const bench_series *own)
{
    cell cell = {"-"};
    double value = ratio(peer, own);
    if (value > 0)
        snprintf(cell.text, sizeof cell.text, "%.2f", value);
    return cell;
}

static cell share_cell(const bench_result *result)
{
    cell cell = {"-"};
    double value = ratio(&result->limit[0], &result->series[BENCH_HASHES][BENCH_ADD]);
    if (value > 0)
        snprintf(cell.text, sizeof cell.text, "%.0f %% of %.1f", value * 100, bench_best(&result->limit[0]));
    return cell;
}

static cell error_cell(const bench_result *result)
{
    cell cell;
    if (!result->false_seen) {
        snprintf(cell.text, sizeof cell.text, "0 of %.2g", (double)result->asks);
        return cell;
    }
    bench_interval interval = bench_wilson(result->false_seen, result->asks);
    snprintf(cell.text, sizeof cell.text, "%.3g (%.3g to %.3g)", (double)result->false_seen / (double)result->asks,
             interval.low, interval.high);
    return cell;
}

static cell lost_cell(const bench_result *result)
{
    cell cell;
    double fills = result->fills ? result->fills : 1;
    int len = snprintf(cell.text, sizeof cell.text, "%.6g", round((double)result->lost / fills * 10) / 10);
    if (result->expected_lost >= 0)
        snprintf(cell.text + len, sizeof cell.text - (size_t)len, " (%.5g)", result->expected_lost / fills);
    return cell;
}

static const bench_series *add_of(const bench_run *run, const char *name, size_t size)
{
    static const bench_series none;
    const bench_subject *subject = bench_find(run, name);
    return subject ? &subject->results[size].series[BENCH_URLS][BENCH_ADD] : &none;
}

/* libbloom at the same error rate, or at 1e-4 for subjects without an error rate. */
static const bench_series *libbloom_of(const bench_run *run, const bench_subject *subject, size_t size)
{
    static const char *const names[BENCH_GROUPS] = {"libbloom 1e-2", "libbloom 1e-4", "libbloom 1e-6", "libbloom 1e-4"};
    return add_of(run, names[subject->group], size);
}

static const bench_series *absl_of(const bench_run *run, const bench_subject *subject, size_t size)
{
    return add_of(run,
                  subject->flags & BENCH_RESERVED    ? "absl batched"
                  : subject->flags & BENCH_POPULATED ? "absl batched, populated"
                                                     : "absl batched, grown",
                  size);
}

static bool was_measured(const bench_subject *subject, size_t size)
{
    return subject->results[size].series[BENCH_URLS][BENCH_ADD].rounds > 0;
}

static void speed_heading(const char *group, FILE *out)
{
    fprintf(out, "\n| %-25s | %6s |", group, "bits");
    for (int form = 0; form < BENCH_FORMS; form++)
        fprintf(out, " %13s | %13s | %13s |", form ? "ready: add" : "add", "present", "absent");
    fprintf(out, " %13s | %8s | %6s |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n", "of the limit", "x bloom",
            "x absl");
}

static void speed_row(const bench_run *run, const bench_subject *subject, size_t size, FILE *out)
{
    const bench_result *result = &subject->results[size];
    const bench_series *add = &result->series[BENCH_URLS][BENCH_ADD];
    cell absl = {"-"};
    if (subject->group == BENCH_NONE)
        absl = ratio_cell(absl_of(run, subject, size), add);
    fprintf(out, "| %-25s | %6.1f |", subject->name, (double)result->bytes * 8 / (double)result->n);
    for (int form = 0; form < BENCH_FORMS; form++)
        for (int job = 0; job < BENCH_JOBS; job++)
            fprintf(out, " %13s |", time_cell(&result->series[form][job]).text);
    fprintf(out, " %13s | %8s | %6s |\n", share_cell(result).text,
            ratio_cell(libbloom_of(run, subject, size), add).text, absl.text);
}

static void speed_table(const bench_run *run, size_t size, FILE *out)
{
    for (int group = 0; group < BENCH_GROUPS; group++) {
        bool begun = false;
        for (size_t i = 0; i < run->subject_count; i++) {
            const bench_subject *subject = &run->subjects[i];
            if ((int)subject->group != group || !was_measured(subject, size))
                continue;
            if (!begun)
                speed_heading(bench_group_names[group], out);
            begun = true;
            speed_row(run, subject, size, out);
        }
    }
}

/* How often each was wrong. Sets of whole hashes appear only if they were. */
static void error_table(const bench_run *run, size_t size, FILE *out)
{
    bool begun = false;
    for (size_t i = 0; i < run->subject_count; i++) {
        const bench_subject *subject = &run->subjects[i];
        const bench_result *result = &subject->results[size];
        if (!was_measured(subject, size) || !(subject->kind || subject->group != BENCH_NONE || result->lost))
            continue;
        if (!begun)
            fprintf(out, "\n| %-25s | %-31s | %s |\n|---|---|---|\n", "falsely seen", "of absent URLs (95 %)",
                    "lost in a fill (expected)");
        begun = true;
        fprintf(out, "| %-25s | %-31s | %-25s |\n", subject->name, error_cell(result).text, lost_cell(result).text);
    }
}

/* The first touch is slower when memory must come from the host, so this prints the slowest and the fastest. */
static void machine(const bench_machine *machine, FILE *out)
{
    const bench_series *series[] = {&machine->stream, &machine->touch_small, &machine->touch_huge};
    const char *names[] = {"sequential reading", "first touch in 4 KiB pages", "first touch in 2 MiB pages"};
    for (size_t i = 0; i < 3; i++)
        if (series[i]->rounds)
            fprintf(out, "%s%s: %.1f to %.1f GB/s", i ? "; " : "The machine: ", names[i],
                    BENCH_LINE / bench_worst(series[i]), BENCH_LINE / bench_best(series[i]));
    fprintf(out, ".\n");
}

void bench_table(const bench_run *run, size_t size, FILE *out)
{
    fprintf(out, "\n%g URLs of %.0f bytes on average, one thread. Nanoseconds each: best (median) of %d rounds; slow ",
            (double)run->sizes[size], run->url_bytes, run->rounds_done[size]);
    fprintf(out, "subjects may have had fewer. vidi uses %s.\n", vidi_cpu());
    machine(&run->machine[size], out);
    speed_table(run, size, out);
    error_table(run, size, out);
}

static void blocked_ratios(const bench_run *run, const char *name, size_t size, FILE *out)
{
    const bench_subject *subject = bench_find(run, name);
    if (!subject || !was_measured(subject, size))
        return;
    const bench_result *result = &subject->results[size];
    const bench_series *own = &result->series[BENCH_URLS][BENCH_ADD], *ready = &result->series[BENCH_HASHES][BENCH_ADD];
    const bench_subject *rival;
    fprintf(out, "  %-23s on URLs", name);
    for (size_t i = 0; (rival = bench_rival(run, subject, size, i)); i++)
        fprintf(out, "%s %.2f x %s", i ? "," : "", ratio(&rival->results[size].series[BENCH_URLS][BENCH_ADD], own),
                rival->name);
    fprintf(out, "; %.2f times the limit's time. Ready: %.0f %% of the limit.\n", ratio(own, &result->limit[0]),
            100 * ratio(&result->limit[0], ready));
}

static void fingerprint_ratios(const bench_run *run, const char *name, size_t size, FILE *out)
{
    const bench_subject *subject = bench_find(run, name);
    if (!subject || !was_measured(subject, size))
        return;
    const bench_result *result = &subject->results[size];
    const bench_series *own = result->series[BENCH_URLS];
    fprintf(out, "  %-23s on URLs", name);
    const bench_subject *rival;
    for (size_t i = 0; (rival = bench_rival(run, subject, size, i)); i++)
        fprintf(out, "%s %.2f x %s (%.2f of its memory)", i ? "," : "",
                ratio(&rival->results[size].series[BENCH_URLS][BENCH_ADD], &own[BENCH_ADD]), rival->name,
                (double)result->bytes / (double)rival->results[size].bytes);
    fprintf(out, ".\n  %-23s ", "");
    if (result->series[BENCH_HASHES][BENCH_ADD].rounds)
        fprintf(out, "Ready: %.0f %% of the limit. ",
                100 * ratio(&result->limit[0], &result->series[BENCH_HASHES][BENCH_ADD]));
    fprintf(out, "Absent %.2f times present.\n", ratio(&own[BENCH_ABSENT], &own[BENCH_PRESENT]));
}

void bench_ratios(const bench_run *run, size_t size, FILE *out)
{
    fprintf(out, "\nMain ratios at %g URLs (adding; above 1 vidi is faster), with %s:\n", (double)run->sizes[size],
            vidi_cpu());
    blocked_ratios(run, "blocked 1e-2", size, out);
    blocked_ratios(run, "blocked 1e-4", size, out);
    blocked_ratios(run, "blocked 1e-6", size, out);
    blocked_ratios(run, "fingerprint 1e-6", size, out);
    fingerprint_ratios(run, "fingerprint", size, out);
    fingerprint_ratios(run, "fingerprint, grown", size, out);
    fingerprint_ratios(run, "fingerprint, growth=1.5", size, out);
    fingerprint_ratios(run, "fingerprint, populated", size, out);
    fingerprint_ratios(run, "growth=1.5, populated", size, out);
    fingerprint_ratios(run, "fingerprint, singly", size, out);
}

void bench_left_out(const bench_run *run, FILE *out)
{
    for (size_t i = 0; i < run->subject_count; i++)
        for (size_t size = 0; size < run->size_count; size++) {
            const char *why = run->subjects[i].results[size].why;
            if (why[0] && (size == 0 || strcmp(why, run->subjects[i].results[size - 1].why) != 0))
                fprintf(out, "Left out: %s from %g URLs on: %s\n", run->subjects[i].name, (double)run->sizes[size],
                        why);
        }
}
