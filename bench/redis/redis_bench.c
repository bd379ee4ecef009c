/*
 * vidi-redis-bench SOCKET URLS ROUNDS [ROWS]: measures the commands of the module on a server that listens on a Unix
 * socket and has both modules (redis.sh starts it).
 *
 * Every command gets synthetic URLs of some 66 bytes. Each subject in turn empties the server, makes its key, and sends
 * its commands over CLIENTS connections, a pipeline of them at a time on each. Time is the processor time of the
 * server's main thread, which other work on the machine disturbs least; the same time of a module's command that does
 * nothing with the same words and reply is subtracted. Bytes are what the server's used_memory has grown by while the
 * connections, and so their buffers, are not there. Prints a table; rows for bench.json go to the file ROWS.
 */
#include "connection.h"
#include "bench/urls.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 16, SEED = 17, BATCH = 100, BATCHES = 4, MOST_ROUNDS = 32, PIPELINES = 3, TEXT = 160 };

/* A single command a round trip takes so much of the client's time that fewer are enough. */
static const struct pipeline {
    size_t commands;
    uint64_t most;
} pipelines[PIPELINES] = {{1, 100000}, {16, 1000000}, {64, UINT64_MAX}};

/* What becomes of claims: pages are committed right after they were claimed. */
typedef enum commits { NO_CLAIMS, COMMIT_NONE, COMMIT_TOKENS, COMMIT_URLS } commits;

typedef struct subject {
    const char *name;
    const char *make; /* makes the key; the number of URLs follows. NULL: it needs none */
    const char *make_tail;
    const char *command; /* the words before the items */
    const char *tail;    /* a word after the items, or NULL */
    size_t items;        /* items a command */
    bool asks;           /* half of the URLs it asks for are there */
    bool is_base;        /* this is what "beyond" subtracts from all that have as many items */
    bool stores;
    commits claims;     /* the command claims: an empty payload follows each URL */
    const char *commit; /* the words before the tokens or URLs */
} subject;

static const subject subjects[] = {
    {.name = "PING", .command = "PING"},
    {.name = "nothing", .command = "NOTHING.ADD k", .items = 1, .is_base = true},
    {.name = "SADD", .command = "SADD k", .items = 1, .stores = true},
    {.name = "SET NX", .command = "SET", .tail = "NX", .items = 1, .stores = true},
    {.name = "VIDI.ADD", .make = "VIDI.RESERVE k CAPACITY", .command = "VIDI.ADD k", .items = 1, .stores = true},
    {.name = "VIDI.ADD growing", .command = "VIDI.ADD k", .items = 1, .stores = true},
    {.name = "VIDI.HAS", .make = "VIDI.RESERVE k CAPACITY", .command = "VIDI.HAS k", .items = 1, .asks = true},
    {.name = "BF.ADD fixed",
     .make = "BF.RESERVE k 0.01",
     .make_tail = " NONSCALING",
     .command = "BF.ADD k",
     .items = 1,
     .stores = true},
    {.name = "BF.ADD scaling", .command = "BF.ADD k", .items = 1, .stores = true},
    {.name = "nothing, 100 items", .command = "NOTHING.MADD k", .items = BATCH, .is_base = true},
    {.name = "VIDI.MADD, 100 items",
     .make = "VIDI.RESERVE k CAPACITY",
     .command = "VIDI.MADD k",
     .items = BATCH,
     .stores = true},
    {.name = "BF.MADD, 100 items",
     .make = "BF.RESERVE k 0.01",
     .make_tail = " NONSCALING",
     .command = "BF.MADD k",
     .items = BATCH,
     .stores = true},
    {.name = "nothing, claim, commit",
     .command = "NOTHING.CLAIM k o 3600000 URLS",
     .items = BATCH,
     .is_base = true,
     .claims = COMMIT_TOKENS,
     .commit = "NOTHING.COMMIT k o"},
    {.name = "VIDI.CLAIM alone",
     .make = "VIDI.RESERVE k CAPACITY",
     .command = "VIDI.CLAIM k o 3600000 URLS",
     .items = BATCH,
     .stores = true,
     .claims = COMMIT_NONE},
    {.name = "VIDI.CLAIM, COMMIT",
     .make = "VIDI.RESERVE k CAPACITY",
     .command = "VIDI.CLAIM k o 3600000 URLS",
     .items = BATCH,
     .stores = true,
     .claims = COMMIT_TOKENS,
     .commit = "VIDI.COMMIT k o"},
    {.name = "VIDI.CLAIM, by URL",
     .make = "VIDI.RESERVE k CAPACITY",
     .command = "VIDI.CLAIM k o 3600000 URLS",
     .items = BATCH,
     .stores = true,
     .claims = COMMIT_URLS,
     .commit = "VIDI.COMMIT k o URLS"},
};
enum { SUBJECTS = sizeof(subjects) / sizeof(subjects[0]) };

typedef struct result {
    double us[MOST_ROUNDS]; /* an item; in ascending order at the end */
    double bytes;
    uint64_t items;
} result;

typedef struct bench {
    const char *path;
    connection control; /* for what is not measured */
    connection clients[CLIENTS];
    url_chunk chunk;
    uint64_t urls;
    unsigned rounds;
    result results[PIPELINES][SUBJECTS];
} bench;

/* ---- one subject ---- */

static void open_clients(bench *bench)
{
    for (size_t c = 0; c < CLIENTS; c++)
        connection_open(&bench->clients[c], bench->path);
}

/* Closes the connections, and waits until the server has noticed. */
static void close_clients(bench *bench)
{
    for (size_t c = 0; c < CLIENTS; c++)
        connection_close(&bench->clients[c]);
    while (info_number(ask(&bench->control, "INFO clients"), "connected_clients") > 1)
        ;
}

/* Microseconds of processor time that the server's main thread has taken. */
static double time_spent(bench *bench)
{
    const char *info = ask(&bench->control, "INFO cpu");
    return 1e6 * (info_number(info, "used_cpu_user_main_thread") + info_number(info, "used_cpu_sys_main_thread"));
}

static double memory_used(bench *bench)
{
    return info_number(ask(&bench->control, "INFO memory"), "used_memory");
}

/* Puts a command with the next URLs of the chunk into a client's buffer. */
static void put_items(connection *client, const subject *subject, const vidi_str *urls)
{
    put_line(client, subject->command, subject->items * (subject->claims ? 2 : 1) + (subject->tail ? 2 : 0));
    for (size_t i = 0; i < subject->items; i++) {
        put_word(client, urls[i].ptr, urls[i].len);
        if (subject->claims)
            put_word(client, "", 0);
    }
    if (subject->tail) {
        put_word(client, "1", 1);
        put_word(client, subject->tail, strlen(subject->tail));
    }
}

/* Puts a token into the command that is being written. A page that was taken for seen has none, and gets a void one. */
static void take_token(connection *client, const char *word, size_t len)
{
    static const char none[] = "0000000000000000";
    if (len == strlen("seen"))
        put_word(client, none, sizeof(none) - 1);
    else if (len == sizeof(none) - 1)
        put_word(client, word, len);
}

/* Fills the chunk with the URLs of a client's next pipeline. */
static const vidi_str *fill_chunk(bench *bench, uint64_t from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bench->chunk.numbers[i] = from + i;
    url_chunk_fill(&bench->chunk, SEED, n);
    return bench->chunk.urls;
}

/* Reads the replies to the claims that a client has sent, and commits these pages. */
static void send_commits(connection *client, const subject *subject, size_t commands, const vidi_str *urls)
{
    bool by_url = subject->claims == COMMIT_URLS;
    client->take = by_url ? NULL : take_token;
    for (size_t i = 0; i < commands; i++, urls += subject->items) {
        put_line(client, subject->commit, subject->items);
        for (size_t k = 0; by_url && k < subject->items; k++)
            put_word(client, urls[k].ptr, urls[k].len);
        read_replies(client, 1);
    }
    client->take = NULL;
    send_commands(client);
}

/* Sends `n` URLs from number `from` on. The last command may have items that go beyond. */
static void send_urls(bench *bench, const subject *subject, size_t pipeline, uint64_t from, uint64_t n)
{
    size_t each = subject->items ? subject->items : 1;
    for (uint64_t end = from + n; from < end;) {
        size_t sent[CLIENTS] = {0};
        uint64_t first = from;
        for (size_t c = 0; c < CLIENTS && from < end; c++) {
            const vidi_str *urls = fill_chunk(bench, from, pipeline * each);
            for (; sent[c] < pipeline && from < end; sent[c]++, from += each)
                put_items(&bench->clients[c], subject, urls + sent[c] * each);
            send_commands(&bench->clients[c]);
        }
        for (size_t c = 0; c < CLIENTS && subject->claims > COMMIT_NONE; c++, first += pipeline * each)
            send_commits(&bench->clients[c], subject, sent[c], fill_chunk(bench, first, pipeline * each));
        for (size_t c = 0; c < CLIENTS; c++)
            read_replies(&bench->clients[c], sent[c]);
    }
}

/* Adds the URLs that a subject asks for in batches. */
static void fill(bench *bench, uint64_t n)
{
    static const subject adds = {.command = "VIDI.MADD k", .items = BATCH};
    send_urls(bench, &adds, 16, 0, n);
}

/* A batch is as much work as a pipeline of single commands, so few of them are sent at a time. */
static size_t pipeline_of(size_t p, size_t s)
{
    return subjects[s].items > 1 ? BATCHES : pipelines[p].commands;
}

static void measure(bench *bench, size_t p, size_t s, unsigned round)
{
    const subject *subject = &subjects[s];
    result *result = &bench->results[p][s];
    char line[TEXT];
    if (subject->items > 1 && p + 1 < PIPELINES)
        return;
    ask(&bench->control, "FLUSHALL");
    double before = memory_used(bench);
    if (subject->make) {
        /* A filter that does not scale must not be full before the last batch. */
        snprintf(line, sizeof(line), "%s %llu%s", subject->make, (unsigned long long)bench->urls + BATCH,
                 subject->make_tail ? subject->make_tail : "");
        ask(&bench->control, line);
    }
    open_clients(bench);
    if (subject->asks)
        fill(bench, bench->urls);
    result->items = bench->urls < pipelines[p].most ? bench->urls : pipelines[p].most;
    uint64_t from = subject->asks ? bench->urls - result->items / 2 : 0;
    double begun = time_spent(bench);
    send_urls(bench, subject, pipeline_of(p, s), from, result->items);
    result->us[round] = (time_spent(bench) - begun) / (double)result->items;
    close_clients(bench);
    result->bytes = subject->stores ? (memory_used(bench) - before) / (double)result->items : 0;
}

/* ---- results ---- */

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static const result *base_of(const bench *bench, size_t p, size_t s)
{
    for (size_t i = 0; i < SUBJECTS; i++)
        if (subjects[i].is_base && subjects[i].items == subjects[s].items && subjects[i].claims == subjects[s].claims)
            return &bench->results[p][i];
    return NULL;
}

static void print_row(const bench *bench, size_t p, size_t s)
{
    const result *result = &bench->results[p][s], *base = base_of(bench, p, s);
    unsigned middle = bench->rounds / 2;
    printf("%-22s %8zu %8.3f %8.3f", subjects[s].name, pipeline_of(p, s), result->us[0], result->us[middle]);
    if (base && base->items && base != result)
        printf(" %8.3f %8.3f", result->us[0] - base->us[0], result->us[middle] - base->us[middle]);
    else
        printf(" %8s %8s", "", "");
    if (subjects[s].stores && p + 1 == PIPELINES)
        printf(" %10.2f", result->bytes);
    printf("\n");
}

static void write_row(FILE *rows, const bench *bench, size_t p, size_t s)
{
    const result *result = &bench->results[p][s], *base = base_of(bench, p, s);
    unsigned middle = bench->rounds / 2;
    fprintf(rows, "{\"name\":\"redis\",\"subject\":\"%s\",\"peer\":", subjects[s].name);
    fprintf(rows, base && base != result ? "\"nothing\"" : "null");
    fprintf(rows, ",\"n\":%llu,\"ns_per_op\":%.6g,", (unsigned long long)result->items, 1e3 * result->us[0]);
    fprintf(rows, subjects[s].stores ? "\"bytes_per_op\":%.6g," : "\"bytes_per_op\":null,", result->bytes);
    if (base && base != result && base->items)
        fprintf(rows, "\"ratio\":%.6g,", base->us[0] / result->us[0]);
    else
        fprintf(rows, "\"ratio\":null,");
    fprintf(rows, "\"note\":\"processor time of the server, pipeline %zu\",", pipeline_of(p, s));
    fprintf(rows, "\"ns_median\":%.6g,\"rounds\":%u}\n", 1e3 * result->us[middle], bench->rounds);
}

static void report(bench *bench, FILE *rows)
{
    printf("%llu URLs; microseconds of the server's processor time an item, best and median of %u rounds;\n"
           "beyond: what they are more than a command that does nothing\n",
           (unsigned long long)bench->urls, bench->rounds);
    printf("%-22s %8s %8s %8s %8s %8s %10s\n", "", "pipeline", "best", "median", "beyond", "(median)", "bytes/URL");
    for (size_t p = 0; p < PIPELINES; p++)
        for (size_t s = 0; s < SUBJECTS; s++) {
            if (!bench->results[p][s].items)
                continue;
            qsort(bench->results[p][s].us, bench->rounds, sizeof(double), compare);
        }
    for (size_t p = 0; p < PIPELINES; p++)
        for (size_t s = 0; s < SUBJECTS; s++) {
            if (!bench->results[p][s].items)
                continue;
            print_row(bench, p, s);
            if (rows)
                write_row(rows, bench, p, s);
        }
}

int main(int argc, char **argv)
{
    static bench bench;
    if (argc < 4) {
        fprintf(stderr, "usage: vidi-redis-bench SOCKET URLS ROUNDS [ROWS]\n");
        return 2;
    }
    bench.urls = (uint64_t)strtod(argv[2], NULL);
    bench.rounds = (unsigned)strtoul(argv[3], NULL, 10);
    if (bench.urls < 1000 || bench.rounds < 1 || bench.rounds > MOST_ROUNDS)
        give_up("the number of URLs or rounds", "at least 1000 URLs, 1 to 32 rounds");
    const char *only = getenv("BENCH_ONLY"), *pipeline = getenv("BENCH_PIPELINE");
    FILE *rows = argc > 4 ? fopen(argv[4], "w") : NULL;
    if (argc > 4 && !rows)
        give_up(argv[4], "cannot be written");
    if (url_chunk_open(&bench.chunk, 64 * BATCH) != 0)
        give_up("URLs", "there is no memory");
    bench.path = argv[1];
    connection_open(&bench.control, bench.path);
    for (unsigned round = 0; round < bench.rounds; round++)
        for (size_t p = 0; p < PIPELINES; p++)
            for (size_t s = 0; s < SUBJECTS; s++)
                if ((!only || subjects[s].is_base || strstr(subjects[s].name, only)) &&
                    (!pipeline || strtoul(pipeline, NULL, 10) == pipelines[p].commands))
                    measure(&bench, p, s, round);
    report(&bench, rows);
    connection_close(&bench.control);
    url_chunk_close(&bench.chunk);
    return rows && fclose(rows) != 0;
}
