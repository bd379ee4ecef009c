/*
 * Measures how vidi gains from more threads, beside a lock-free table of hashes.
 *
 *     vidi-bench-threads [--sizes 1e7] [--threads 1,2,4] [--rounds N] [--seconds S] [--only TEXT] [--pin]
 *                        [--chunk N] [--folder FOLDER] [--json FILE]
 *
 * The default is 1, 2, 4 and so on up to the number of cores, with 1e7 URLs and three rounds, in each of which all rows
 * take turns. From 5e7 URLs on it is one round of the main rows; --only takes the others, too. After --seconds for each
 * size nothing new is begun. Each figure is printed to stderr when it is known, and the table of all at the end to
 * stdout. An answer that is wrong ends the run.
 */
#include "bench/threads/threads.h"

#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

#define URLS_LEAST 1000.0
#define URLS_MOST 1e10
#define ROUNDS 3

static const struct option options[] = {
    {"sizes", required_argument, NULL, 's'},  {"threads", required_argument, NULL, 't'},
    {"rounds", required_argument, NULL, 'r'}, {"seconds", required_argument, NULL, 'e'},
    {"only", required_argument, NULL, 'o'},   {"pin", no_argument, NULL, 'p'},
    {"chunk", required_argument, NULL, 'c'},  {"folder", required_argument, NULL, 'f'},
    {"json", required_argument, NULL, 'j'},   {NULL, 0, NULL, 0},
};

static int usage(void)
{
    fprintf(stderr, "usage: vidi-bench-threads [--sizes 1e7,1e8] [--threads 1,2,4] [--rounds N] [--seconds S]\n"
                    "                          [--only TEXT] [--pin] [--chunk N] [--folder FOLDER] [--json FILE]\n");
    return 2;
}

/* Reads "1,2,4": whole numbers, separated by commas or blanks. Returns how many there are; 0 if one is wrong. */
static size_t read_list(const char *text, double least, double most, uint64_t *list, size_t room)
{
    size_t count = 0;
    while (*text) {
        char *end;
        double value = strtod(text, &end);
        if (end == text || !(value >= least && value <= most) || count == room)
            return 0;
        list[count++] = (uint64_t)value;
        text = end + strspn(end, ", ");
    }
    return count;
}

/* More threads than cores would not work at the same time: team.c. */
static unsigned thread_most(void)
{
    unsigned cores = thread_cores();
    return cores < THREADS_MOST ? cores : THREADS_MOST;
}

static bool read_threads(thread_run *run, const char *text)
{
    uint64_t list[THREADS_COLUMNS];
    run->column_count = read_list(text, 1, thread_most(), list, THREADS_COLUMNS);
    for (size_t i = 0; i < run->column_count; i++)
        run->threads[i] = (unsigned)list[i];
    if (!run->column_count)
        fprintf(stderr, "vidi-bench-threads: --threads: up to %zu numbers between 1 and %u, the number of cores\n",
                (size_t)THREADS_COLUMNS, thread_most());
    return run->column_count > 0;
}

static bool read_number(const char *text, double least, double most, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && *value >= least && *value <= most;
}

static bool take(thread_run *run, int option)
{
    double number = 0;
    bool fine = true;
    switch (option) {
    case 's':
        run->size_count = read_list(optarg, URLS_LEAST, URLS_MOST, run->sizes, BENCH_SIZES_MAX);
        return run->size_count > 0;
    case 't':
        return read_threads(run, optarg);
    case 'r':
        fine = read_number(optarg, 1, BENCH_ROUNDS_MAX, &number);
        run->rounds = (int)number;
        return fine;
    case 'e':
        return read_number(optarg, 1, 1e6, &run->seconds);
    case 'c':
        fine = read_number(optarg, 1, 1e7, &number);
        run->chunk = (size_t)number;
        return fine;
    case 'o':
        run->only = optarg;
        return true;
    case 'p':
        run->pinned = true;
        return true;
    case 'f':
        run->folder = optarg;
        return true;
    case 'j':
        run->json = optarg;
        return true;
    default:
        return false;
    }
}

static void all_cores(thread_run *run)
{
    unsigned most = thread_most();
    for (unsigned threads = 1; threads < most && run->column_count < THREADS_COLUMNS - 1; threads *= 2)
        run->threads[run->column_count++] = threads;
    run->threads[run->column_count++] = most;
}

static bool takes_turn(const thread_run *run, size_t size, const thread_row *row)
{
    if (run->only)
        return strstr(row->label[0], run->only) || (row->label[1] && strstr(row->label[1], run->only));
    return run->sizes[size] < THREADS_LARGE_FROM || row->flags & THREADS_MAIN;
}

static bool measure(thread_run *run, size_t size)
{
    int rounds = run->rounds ? run->rounds : run->sizes[size] < THREADS_LARGE_FROM ? ROUNDS : 1;
    double start = clock_seconds();
    fprintf(stderr, "%g URLs\n", (double)run->sizes[size]);
    for (int round = 0; round < rounds; round++)
        for (size_t row = 0; row < thread_row_count; row++)
            for (size_t column = 0; column < run->column_count; column++) {
                if (!takes_turn(run, size, &thread_rows[row]))
                    continue;
                if (run->seconds > 0 && clock_seconds() - start > run->seconds)
                    return true;
                if (!thread_row_measure(run, size, row, column, round))
                    return false;
            }
    fprintf(stderr, "%.0f seconds\n", clock_seconds() - start);
    return true;
}

int main(int argc, char **argv)
{
    static thread_run run = {.sizes = {10000000}, .size_count = 1, .chunk = THREADS_CHUNK, .folder = "."};
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (!take(&run, option))
            return usage();
    if (optind < argc)
        return usage();
    if (!run.column_count)
        all_cores(&run);
    /* Fixed, so that large blocks come fresh from the kernel in every round, as they do in a new process. */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    for (size_t size = 0; size < run.size_count; size++) {
        if (!measure(&run, size))
            return 1;
        thread_tables(&run, size, stdout);
        fflush(stdout);
    }
    if (run.json && thread_json(&run, run.json) < 0) {
        fprintf(stderr, "vidi-bench-threads: %s: %s\n", run.json, strerror(errno));
        return 2;
    }
    return 0;
}
