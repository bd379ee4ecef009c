/*
 * How fast the kinds are, and how fast a peer is at the same job: nanoseconds and bytes a URL, to add URLs that are new
 * and to ask for URLs that are there, at the same capacity and error rate. Usage: vidi-bench [NUMBER-OF-URLS] [ROUNDS];
 * prints a table to stderr and the array for bench.json to stdout.
 *
 * Machines are noisy: subjects take turns within each round, and what is reported is the best and the median over the
 * rounds. ratio is the peer's time over the subject's time, of the best rounds: above 1 the subject is faster.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <vidi/vidi.h>
#ifdef VIDI_HAVE_LIBBLOOM
#include <bloom.h>
#endif

#define ROUNDS_MAX 32
#define URL_ROOM 128

typedef struct corpus {
    char *bytes;
    vidi_str *urls;
    uint8_t *verdicts;
    size_t count;
} corpus;

typedef struct times {
    double add, ask; /* nanoseconds a URL */
    double bytes;    /* a URL */
} times;

typedef struct subject {
    const char *name, *kind, *params; /* kind NULL: the peer */
    double error;
    times rounds[ROUNDS_MAX];
} subject;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int make_corpus(corpus *corpus, size_t count)
{
    corpus->count = count;
    corpus->bytes = malloc(count * URL_ROOM);
    corpus->urls = malloc(count * sizeof *corpus->urls);
    corpus->verdicts = malloc(count);
    if (!corpus->bytes || !corpus->urls || !corpus->verdicts)
        return -1;
    char *at = corpus->bytes;
    for (size_t i = 0; i < count; i++) {
        size_t mixed = i * 2654435761u;
        int len = snprintf(at, URL_ROOM, "http://www.site%zu.example.com/topic-%zu/page/%zu.html?id=%zu", mixed % 9973,
                           mixed % 499, mixed % 97, i);
        corpus->urls[i] = (vidi_str){at, (size_t)len};
        at += len;
    }
    return 0;
}

static int measure_vidi(const subject *subject, corpus *corpus, times *times)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_stats stats = {.size = sizeof stats};
    vidi_set *set;
    options.kind = subject->kind;
    options.params = subject->params;
    options.capacity = corpus->count;
    options.error = subject->error;
    if (vidi_create(&set, &options) < 0)
        return -1;
    double start = now();
    int code = vidi_add_batch(set, corpus->urls, corpus->count, corpus->verdicts);
    double added = now();
    if (code == VIDI_OK)
        code = vidi_has_batch(set, corpus->urls, corpus->count, corpus->verdicts);
    double asked = now();
    if (code == VIDI_OK)
        code = vidi_stat(set, &stats);
    vidi_close(set);
    double count = (double)corpus->count;
    times->add = (added - start) / count;
    times->ask = (asked - added) / count;
    times->bytes = (double)stats.bytes / count;
    return code;
}

#ifdef VIDI_HAVE_LIBBLOOM
static int measure_libbloom(const subject *subject, corpus *corpus, times *times)
{
    struct bloom bloom;
    if (bloom_init(&bloom, (int)corpus->count, subject->error))
        return -1;
    double start = now();
    for (size_t i = 0; i < corpus->count; i++)
        corpus->verdicts[i] = (uint8_t)bloom_add(&bloom, corpus->urls[i].ptr, (int)corpus->urls[i].len);
    double added = now();
    for (size_t i = 0; i < corpus->count; i++)
        corpus->verdicts[i] = (uint8_t)bloom_check(&bloom, corpus->urls[i].ptr, (int)corpus->urls[i].len);
    double asked = now();
    double count = (double)corpus->count;
    times->add = (added - start) / count;
    times->ask = (asked - added) / count;
    times->bytes = (double)bloom.bytes / count;
    bloom_free(&bloom);
    return 0;
}
#else
static int measure_libbloom(const subject *subject, corpus *corpus, times *times)
{
    (void)subject, (void)corpus, (void)times;
    return -1;
}
#endif

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct summary {
    double best, median;
} summary;

static summary summarise(const subject *subject, int rounds, int has)
{
    double all[ROUNDS_MAX];
    for (int i = 0; i < rounds; i++)
        all[i] = has ? subject->rounds[i].ask : subject->rounds[i].add;
    qsort(all, (size_t)rounds, sizeof all[0], compare);
    return (summary){all[0], all[rounds / 2]};
}

/* The peer with the same error rate, if it could be measured. */
static const subject *peer_of(const subject *subjects, size_t count, const subject *of)
{
    for (size_t i = 0; i < count; i++)
        if (!subjects[i].kind && subjects[i].error == of->error && subjects[i].rounds[0].add > 0 && of->kind)
            return &subjects[i];
    return NULL;
}

static void report(const subject *subjects, size_t count, size_t urls, int rounds)
{
    const char *separator = "[\n";
    fprintf(stderr, "%-28s %-4s %10s %10s %8s %8s\n", "subject", "", "best ns", "median ns", "bytes", "ratio");
    for (size_t i = 0; i < count; i++)
        for (int has = 0; has < 2; has++) {
            const subject *subject = &subjects[i], *peer = peer_of(subjects, count, subject);
            if (!(subject->rounds[0].add > 0))
                continue;
            summary time = summarise(subject, rounds, has);
            double ratio = peer ? summarise(peer, rounds, has).best / time.best : 0;
            fprintf(stderr, "%-28s %-4s %10.1f %10.1f %8.2f", subject->name, has ? "has" : "add", time.best,
                    time.median, subject->rounds[0].bytes);
            fprintf(stderr, peer ? " %8.2f\n" : "\n", ratio);
            printf(
                "%s{\"name\":\"%s\",\"subject\":\"%s\",\"peer\":%s,\"n\":%zu,\"ns_per_op\":%.2f,\"bytes_per_op\":%.3f,",
                separator, has ? "has" : "add", subject->name, peer ? "\"libbloom\"" : "null", urls, time.best,
                subject->rounds[0].bytes);
            if (peer)
                printf("\"ratio\":%.3f,", ratio);
            else
                printf("\"ratio\":null,");
            printf("\"note\":\"best of %d rounds; median %.2f\"}", rounds, time.median);
            separator = ",\n";
        }
    printf("\n]\n");
}

int main(int argc, char **argv)
{
    static subject subjects[] = {
        {"libbloom 1e-2", NULL, NULL, 1e-2, {{0}}},
        {"classic 1e-2", "classic", "", 1e-2, {{0}}},
        {"classic xxh3 1e-2", "classic", "hash=xxh3", 1e-2, {{0}}},
        {"classic murmur2 1e-2", "classic", "hash=murmur2", 1e-2, {{0}}},
        {"counting 1e-2", "counting", "", 1e-2, {{0}}},
        {"multilayer 1e-2", "multilayer", "", 1e-2, {{0}}},
        {"eigen 1e-2", "eigen", "", 1e-2, {{0}}},
        {"spatial 1e-2", "spatial", "", 1e-2, {{0}}},
        {"scalable 1e-2", "scalable", "", 1e-2, {{0}}},
        {"libbloom 1e-4", NULL, NULL, 1e-4, {{0}}},
        {"classic 1e-4", "classic", "", 1e-4, {{0}}},
        {"scalable 1e-4", "scalable", "", 1e-4, {{0}}},
        {"hashset", "hashset", "", 0, {{0}}},
    };
    const size_t count = sizeof subjects / sizeof subjects[0];
    size_t urls = argc > 1 ? (size_t)strtod(argv[1], NULL) : 1000000;
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    corpus corpus;
    if (urls < 1 || urls > 100000000 || rounds < 1 || rounds > ROUNDS_MAX || make_corpus(&corpus, urls) < 0) {
        fprintf(stderr, "usage: vidi-bench [URLS, at most 1e8] [ROUNDS, at most %d]\n", ROUNDS_MAX);
        return 2;
    }
    for (int round = 0; round < rounds; round++) {
        fprintf(stderr, "\rround %d of %d ", round + 1, rounds);
        for (size_t i = 0; i < count; i++) {
            subject *subject = &subjects[i];
            int code = subject->kind ? measure_vidi(subject, &corpus, &subject->rounds[round])
                                     : measure_libbloom(subject, &corpus, &subject->rounds[round]);
            if (code < 0 && subject->kind) {
                fprintf(stderr, "%s: %s\n", subject->name, vidi_message());
                return 2;
            }
        }
    }
    fprintf(stderr, "\r");
    report(subjects, count, urls, rounds);
    return 0;
}
