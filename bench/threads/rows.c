/*
 * What is measured, and whether the answers were right. Benchmarks of wrong programs are fast: of distinct URLs that
 * are added, all must be NEW, but for the losses that the set itself expects; of one URL that all threads add, one
 * add; a lookup must find every URL that was added.
 */
#include "bench/threads/threads.h"
#include "bench/urls.h"

#include <malloc.h>
#include <math.h>

#define HAS_MOST UINT64_C(20000000)

#define PAIR(add, has)                                                                                                 \
    {                                                                                                                  \
        add, has                                                                                                       \
    }
#define SET &thread_sets, "fingerprint", 0
#define BLOCKED &thread_sets, "blocked", 1e-2
#define CLASSIC &thread_sets, "classic", 1e-2
#define TABLE &thread_cas_tables, NULL, 0
#define MAIN THREADS_MAIN
#define GROWN (THREADS_MAIN | THREADS_GROWN)
#define SINGLY PAIR("add singly", "look up singly")
#define BATCHES PAIR("add", "look up") /* of 4,096 */
#define BATCHES_64 PAIR("add 64", NULL)
#define ONE_URL PAIR("add one URL singly", NULL)

const thread_row thread_rows[] = {
    {PAIR("`fingerprint`, `vidi_add` singly, reserved", "`fingerprint`, `vidi_has` singly"), SINGLY, "fingerprint", SET,
     THREADS_ADD, 1, MAIN},
    {PAIR("`fingerprint`, `vidi_add` singly, grown", NULL), SINGLY, "fingerprint, grown", SET, THREADS_ADD, 1, GROWN},
    {PAIR("`fingerprint`, all add one URL singly", NULL), ONE_URL, "fingerprint", SET, THREADS_HOT, 1, 0},
    {PAIR("`fingerprint`, batches of 64, reserved", NULL), BATCHES_64, "fingerprint", SET, THREADS_ADD, 64, MAIN},
    {PAIR("`fingerprint`, batches of 64, grown", NULL), BATCHES_64, "fingerprint, grown", SET, THREADS_ADD, 64, GROWN},
    {PAIR("`fingerprint`, batches of 4,096, reserved", "`fingerprint`, lookups of 4,096"), BATCHES, "fingerprint", SET,
     THREADS_ADD, 4096, MAIN},
    {PAIR("`fingerprint`, batches of 4,096, grown", NULL), BATCHES, "fingerprint, grown", SET, THREADS_ADD, 4096,
     GROWN},
    {PAIR("`fingerprint` in a folder, `vidi_add` singly", NULL), SINGLY, "fingerprint in a folder", SET, THREADS_ADD, 1,
     THREADS_FOLDER},
    {PAIR("the CAS table singly", "the CAS table, lookups singly"), SINGLY, "CAS table", TABLE, THREADS_ADD, 1, MAIN},
    {PAIR("the CAS table, all add one URL singly", NULL), ONE_URL, "CAS table", TABLE, THREADS_HOT, 1, 0},
    {PAIR("the CAS table, 4,096 prefetched", "the CAS table, lookups of 4,096"), BATCHES, "CAS table", TABLE,
     THREADS_ADD, 4096, MAIN},
    {PAIR("`blocked` 1e-2, `vidi_add` singly", "`blocked` 1e-2, `vidi_has` singly"), SINGLY, "blocked 1e-2", BLOCKED,
     THREADS_ADD, 1, MAIN},
    {PAIR("`blocked` 1e-2, batches of 4,096", "`blocked` 1e-2, lookups of 4,096"), BATCHES, "blocked 1e-2", BLOCKED,
     THREADS_ADD, 4096, 0},
    {PAIR("`classic` 1e-2, `vidi_add` singly", NULL), SINGLY, "classic 1e-2", CLASSIC, THREADS_ADD, 1, 0},
};

const size_t thread_row_count = sizeof thread_rows / sizeof thread_rows[0];

/* What chance makes of an expected number, with a tenth for sets that know it roughly; beyond it once in 1e9 runs. */
static double at_most(double expected)
{
    return 1.1 * expected + 8 * sqrt(expected) + 2;
}

static bool wrong(const thread_row *row, const thread_task *task, const char *what, double found, double wanted)
{
    fprintf(stderr, "vidi-bench-threads: %s, threads: %u, %s: %.0f, not %.0f\n", row->label[task->job == THREADS_HAS],
            task->threads, what, found, wanted);
    return false;
}

static bool check_adds(const thread_row *row, const thread_task *task, const thread_outcome *outcome,
                       const thread_weight *weight)
{
    double lost = (double)task->n - (double)outcome->fresh;
    if (outcome->fresh + outcome->seen != task->n)
        return wrong(row, task, "verdicts", (double)(outcome->fresh + outcome->seen), (double)task->n);
    if (weight->told_new != UINT64_MAX && weight->told_new != outcome->fresh)
        return wrong(row, task, "NEW by vidi_stat", (double)weight->told_new, (double)outcome->fresh);
    if (task->job == THREADS_HOT)
        return outcome->fresh == 1 || wrong(row, task, "NEW", (double)outcome->fresh, 1);
    return lost <= at_most(weight->expected_lost) ||
           wrong(row, task, "NEW", (double)outcome->fresh, (double)task->n - weight->expected_lost);
}

static bool check_lookups(const thread_row *row, const thread_task *task, const thread_outcome *outcome,
                          const thread_weight *weight)
{
    double expected = weight->fp * (double)outcome->absent;
    if (outcome->seen != task->n - outcome->absent)
        return wrong(row, task, "present URLs found", (double)outcome->seen, (double)(task->n - outcome->absent));
    return (double)outcome->wrong <= at_most(expected) ||
           wrong(row, task, "absent URLs answered SEEN", (double)outcome->wrong, expected);
}

static void record(thread_figures *figures, const thread_row *row, const thread_task *task,
                   const thread_outcome *outcome, int round)
{
    int lookup = task->job == THREADS_HAS;
    double n = (double)task->n;
    bench_record(&figures->series[lookup], outcome->ns / n, outcome->cpu_ns / n);
    figures->n[lookup] = task->n;
    fprintf(stderr, "round %d, %2u thread%s %8.2f ns, %3.0f %% on a core  %s\n", round + 1, task->threads,
            task->threads == 1 ? ": " : "s:", outcome->ns / n,
            100 * outcome->cpu_ns / (outcome->ns * (double)task->threads), row->label[lookup]);
}

static bool fill_and_look_up(thread_figures *figures, const thread_row *row, thread_task *task, int round)
{
    thread_outcome outcome;
    thread_weight weight;
    if (!thread_team_run(task, &outcome) || !row->class->weigh(task->self, &weight) ||
        !check_adds(row, task, &outcome, &weight))
        return false;
    record(figures, row, task, &outcome, round);
    figures->bytes = (double)weight.bytes / (double)task->n;
    if (!row->label[1])
        return true;
    task->job = THREADS_HAS;
    task->n = task->held < HAS_MOST ? task->held : HAS_MOST;
    if (!thread_team_run(task, &outcome) || !check_lookups(row, task, &outcome, &weight))
        return false;
    record(figures, row, task, &outcome, round);
    return true;
}

bool thread_row_measure(thread_run *run, size_t size, size_t number, size_t column, int round)
{
    const thread_row *row = &thread_rows[number];
    uint64_t n = run->sizes[size], seed = url_mix((uint64_t)round * 1000 + size);
    thread_recipe recipe = {row->kind, row->error, row->flags, n, seed, run->folder};
    thread_task task = {.class = row->class,
                        .job = row->job,
                        .batch = row->batch,
                        .n = n,
                        .held = n,
                        .seed = seed,
                        .threads = run->threads[column],
                        .chunk = run->chunk,
                        .pinned = run->pinned};
    task.self = row->class->make(&recipe);
    if (!task.self)
        return false;
    bool fine = fill_and_look_up(&run->figures[size][number][column], row, &task, round);
    row->class->close(task.self);
    malloc_trim(0);
    return fine;
}
