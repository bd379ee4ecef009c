/*
 * vidi-cluster-bench ADDRESS URLS ROUNDS [ROWS]: how much of its own processor time a client takes for a set over a
 * cluster (vidi/cluster.h). What servers take for the same commands is measured by redis_bench.c.
 *
 * A set of 64 shards is made at the address anew for each round, with synthetic URLs of some 66 bytes in batches of
 * 4,096. User time is what the client takes to make canonical forms, choose shards, write commands and read replies;
 * system time is the kernel's, mostly for the network. Prints a table; rows for bench.json go to the file ROWS.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/urls.h"
#include "vidi/cluster.h"

enum { BATCH = 4096, SHARDS = 64, SEED = 17, MOST_ROUNDS = 32 };

typedef struct subject {
    const char *name;
    bool asks;       /* looks up instead of adding */
    unsigned repeat; /* each URL comes so many times, not next to itself */
    uint64_t from;   /* number of the first URL, times all URLs: 0 for those that the first subject has added */
} subject;

static const subject subjects[] = {
    {.name = "add, new", .repeat = 1},
    {.name = "add, seen", .repeat = 1},
    {.name = "add, each ten times", .repeat = 10, .from = 1},
    {.name = "has, seen", .asks = true, .repeat = 1},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

typedef struct times {
    double user, system; /* nanoseconds a URL */
} times;

static url_chunk chunk;
static vidi_str urls[BATCH];
static uint8_t verdicts[BATCH];
static times results[SUBJECTS][MOST_ROUNDS];

static _Noreturn void give_up(void)
{
    fprintf(stderr, "vidi-cluster-bench: %s\n", vidi_cluster_message());
    exit(1);
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static times time_spent(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (times){seconds(usage.ru_utime) * 1e9, seconds(usage.ru_stime) * 1e9};
}

/* Batch number b: with repeats, each of its different URLs comes once in each stretch of the batch. */
static void fill(const subject *subject, uint64_t n, uint64_t b)
{
    size_t different = BATCH / subject->repeat;
    for (size_t i = 0; i < different; i++)
        chunk.numbers[i] = subject->from * n + b * different + i;
    url_chunk_fill(&chunk, SEED, different);
    for (size_t i = 0; i < BATCH; i++)
        urls[i] = chunk.urls[i % different];
}

static times measure(vidi_cluster *cluster, const subject *subject, uint64_t n)
{
    times spent = {0, 0};
    uint64_t batches = n / BATCH;
    for (uint64_t b = 0; b < batches; b++) {
        fill(subject, n, b);
        times begun = time_spent();
        int code = subject->asks ? vidi_cluster_has_batch(cluster, urls, BATCH, verdicts)
                                 : vidi_cluster_add_batch(cluster, urls, BATCH, verdicts, NULL);
        times ended = time_spent();
        if (code != VIDI_OK)
            give_up();
        spent.user += ended.user - begun.user;
        spent.system += ended.system - begun.system;
    }
    return (times){spent.user / (double)(batches * BATCH), spent.system / (double)(batches * BATCH)};
}

static void run_round(const char *address, uint64_t n, unsigned round)
{
    vidi_cluster *cluster;
    vidi_options options = VIDI_OPTIONS_INIT;
    options.capacity = 2 * n;
    if (vidi_cluster_create(address, &options, SHARDS, NULL) || vidi_cluster_open(&cluster, address, NULL))
        give_up();
    for (size_t s = 0; s < SUBJECTS; s++)
        results[s][round] = measure(cluster, &subjects[s], n);
    vidi_cluster_close(cluster);
    if (vidi_cluster_drop(address, NULL))
        give_up();
}

static int compare(const void *a, const void *b)
{
    double x = ((const times *)a)->user, y = ((const times *)b)->user;
    return (x > y) - (x < y);
}

static void report(uint64_t n, unsigned rounds, FILE *rows)
{
    printf("a set of %d shards, batches of %d, %" PRIu64
           " URLs; nanoseconds of the client's time a URL, best and median "
           "of %u rounds\n%-22s %8s %8s %8s\n",
           SHARDS, BATCH, n, rounds, "", "user", "(median)", "system");
    for (size_t s = 0; s < SUBJECTS; s++) {
        qsort(results[s], rounds, sizeof *results[s], compare);
        const times *best = &results[s][0], *middle = &results[s][rounds / 2];
        printf("%-22s %8.0f %8.0f %8.0f\n", subjects[s].name, best->user, middle->user, middle->system);
        if (rows)
            fprintf(rows,
                    "{\"name\":\"cluster\",\"subject\":\"%s\",\"peer\":null,\"n\":%" PRIu64 ",\"ns_per_op\":%.6g,"
                    "\"bytes_per_op\":null,\"ratio\":null,\"note\":\"user time of the client, batches of %d\","
                    "\"ns_median\":%.6g,\"rounds\":%u}\n",
                    subjects[s].name, n, best->user, BATCH, middle->user, rounds);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: vidi-cluster-bench ADDRESS URLS ROUNDS [ROWS]\n");
        return 2;
    }
    double wanted = strtod(argv[2], NULL);
    uint64_t n = wanted >= BATCH && wanted <= 1e10 ? (uint64_t)wanted / BATCH * BATCH : BATCH;
    long rounds = strtol(argv[3], NULL, 10);
    unsigned count = rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : (unsigned)rounds;
    FILE *rows = argc > 4 ? fopen(argv[4], "w") : NULL;
    if ((argc > 4 && !rows) || url_chunk_open(&chunk, BATCH)) {
        fprintf(stderr, "vidi-cluster-bench: cannot write the file, or there is no memory\n");
        return 1;
    }
    for (unsigned round = 0; round < count; round++)
        run_round(argv[1], n, round);
    report(n, count, rows);
    url_chunk_close(&chunk);
    return rows && fclose(rows) ? 1 : 0;
}
