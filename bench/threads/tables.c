/* The results: a table in Markdown, as docs/BENCHMARKS.md has it, and rows for build/bench.json. */
#include "bench/threads/threads.h"
#include "bench/report/json_rows.h"

#include <string.h>

#define LABEL_WIDTH 46

static bool is_measured(const thread_run *run, size_t size, size_t row, int lookup)
{
    for (size_t i = 0; i < run->column_count; i++)
        if (run->figures[size][row][i].series[lookup].rounds)
            return true;
    return false;
}

/* Best of the rounds, and the median if there were several. */
static void cell(const bench_series *series, FILE *out)
{
    char text[40] = "";
    if (series->rounds) {
        double best = bench_best(series);
        int digits = best < 20 ? 1 : 0, used = snprintf(text, sizeof text, "%.*f", digits, best);
        if (series->rounds > 1)
            snprintf(text + used, sizeof text - (size_t)used, " (%.*f)", digits, bench_median(series));
    }
    fprintf(out, " %11s |", text);
}

static void table_row(const thread_run *run, size_t size, size_t row, int lookup, FILE *out)
{
    const thread_figures *figures = run->figures[size][row];
    const bench_series *first = &figures[0].series[lookup], *last = &figures[run->column_count - 1].series[lookup];
    fprintf(out, "| %-*s |", LABEL_WIDTH, thread_rows[row].label[lookup]);
    for (size_t i = 0; i < run->column_count; i++)
        cell(&figures[i].series[lookup], out);
    if (first->rounds && last->rounds && run->column_count > 1)
        fprintf(out, " %5.2f |", bench_best(first) / bench_best(last));
    else
        fprintf(out, " %5s |", "");
    if (lookup || thread_rows[row].job == THREADS_HOT)
        fprintf(out, " %12s |\n", "");
    else if (run->column_count > 1)
        fprintf(out, " %5.2f, %5.2f |\n", figures[0].bytes, figures[run->column_count - 1].bytes);
    else
        fprintf(out, " %12.2f |\n", figures[0].bytes);
}

/* The share of their time that threads had a core in the best rounds: far below 100 % on a machine with other jobs. */
static void put_share(const thread_run *run, size_t size, FILE *out)
{
    double least = 1, sum = 0, count = 0;
    for (size_t row = 0; row < thread_row_count; row++)
        for (size_t column = 0; column < run->column_count; column++)
            for (int lookup = 0; lookup < 2; lookup++) {
                const bench_series *series = &run->figures[size][row][column].series[lookup];
                if (!series->rounds)
                    continue;
                double share = series->cpu_ns / (bench_best(series) * run->threads[column]);
                least = share < least ? share : least;
                sum += share;
                count++;
            }
    fprintf(
        out,
        "\nIn these rounds the threads had a core for %.0f %% of their time on average, and for %.0f %% at least.\n",
        100 * sum / (count > 0 ? count : 1), 100 * least);
}

void thread_tables(const thread_run *run, size_t size, FILE *out)
{
    fprintf(out, "\n%g URLs; nanoseconds a URL over all threads, best (median) of the rounds; vidi uses %s.\n\n",
            (double)run->sizes[size], vidi_cpu());
    fprintf(out, "| %-*s |", LABEL_WIDTH, "threads");
    for (size_t i = 0; i < run->column_count; i++)
        fprintf(out, " %11u |", run->threads[i]);
    fprintf(out, " %5s | %12s |\n|---|", "gain", "bytes a URL");
    for (size_t i = 0; i < run->column_count + 2; i++)
        fputs("--:|", out);
    fputs("\n", out);
    for (size_t row = 0; row < thread_row_count; row++)
        for (int lookup = 0; lookup < 2; lookup++)
            if (is_measured(run, size, row, lookup))
                table_row(run, size, row, lookup, out);
    put_share(run, size, out);
}

/* The table's figure for the same operation, one at a time or in batches. NULL if it was not measured. */
static const bench_series *peer_of(const thread_run *run, size_t size, const thread_row *row, size_t column, int lookup)
{
    for (size_t i = 0; i < thread_row_count; i++) {
        const thread_row *peer = &thread_rows[i];
        const bench_series *series = &run->figures[size][i][column].series[lookup];
        if (row->class != peer->class && peer->class == &thread_cas_tables && series->rounds && peer->job == row->job &&
            (peer->batch == 1) == (row->batch == 1))
            return series;
    }
    return NULL;
}

static void json_cell(json_writer *to, const thread_run *run, size_t size, size_t number, size_t column, int lookup)
{
    const char *note = "time of the slowest thread, divided by the URLs of all threads";
    const thread_row *row = &thread_rows[number];
    const thread_figures *figures = &run->figures[size][number][column];
    const bench_series *own = &figures->series[lookup], *one = &run->figures[size][number][0].series[lookup];
    const bench_series *peer = peer_of(run, size, row, column, lookup);
    unsigned threads = run->threads[column];
    char name[80];
    if (!own->rounds)
        return;
    snprintf(name, sizeof name, "%s, %u thread%s", row->operation[lookup], threads, threads == 1 ? "" : "s");
    if (threads == 1 || run->threads[0] != 1 || !one->rounds)
        bench_json_row(to, name, row->subject, NULL, figures->n[lookup], own, figures->bytes, -1, note);
    else
        bench_json_row(to, name, row->subject, "one thread", figures->n[lookup], own, figures->bytes,
                       bench_best(one) / bench_best(own), note);
    if (peer)
        bench_json_row(to, name, row->subject, "CAS table", figures->n[lookup], own, figures->bytes,
                       bench_best(peer) / bench_best(own), note);
}

int thread_json(const thread_run *run, const char *path)
{
    FILE *file = fopen(path, "w");
    json_writer to = {.put = bench_json_put, .to = file};
    if (!file)
        return -1;
    json_open(&to, NULL, '[');
    for (size_t size = 0; size < run->size_count; size++)
        for (size_t row = 0; row < thread_row_count; row++)
            for (size_t column = 0; column < run->column_count; column++)
                for (int lookup = 0; lookup < 2; lookup++)
                    json_cell(&to, run, size, row, column, lookup);
    json_close(&to, ']');
    bench_json_put(file, "\n", 1);
    bool failed = ferror(file);
    return fclose(file) || failed ? -1 : 0;
}
