/*
 * How fast the kinds are, and how fast a peer is at the same job: nanoseconds and bytes a URL, to add URLs that are new,
 * to ask for URLs that are there, and to ask for others that are not; at the same capacity and error rate.
 *
 *     vidi-bench [URLS] [ROUNDS]      a table to stderr, the array for bench.json to stdout
 *
 * Machines are noisy: subjects take turns within each round, and what is reported is the best and the median over the
 * rounds. ratio is the peer's time over the subject's, of the best rounds: above 1 the subject is faster.
 */
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
#define BATCH 4096

enum { ADD, PRESENT, ABSENT, JOBS };
static const char *const job_names[JOBS] = {"add", "has present", "has absent"};

/* Twice as many URLs as are added: the second half is never there. */
typedef struct corpus {
    char *bytes;
    vidi_str *urls;
    size_t count; /* of one half */
} corpus;

typedef struct times {
    double ns[JOBS];
    double bytes; /* a URL */
} times;

typedef struct subject {
    const char *name, *kind, *params; /* kind NULL: libbloom */
    double error;
    int reserved; /* made for as many URLs as come */
    times rounds[ROUNDS_MAX];
} subject;

static subject subjects[] = {
    {"libbloom 1e-2", NULL, NULL, 1e-2, 1, {{{0}, 0}}},
    {"classic 1e-2", "classic", "", 1e-2, 1, {{{0}, 0}}},
    {"classic xxh3 1e-2", "classic", "hash=xxh3", 1e-2, 1, {{{0}, 0}}},
    {"classic murmur2 1e-2", "classic", "hash=murmur2", 1e-2, 1, {{{0}, 0}}},
    {"counting 1e-2", "counting", "", 1e-2, 1, {{{0}, 0}}},
    {"multilayer 1e-2", "multilayer", "", 1e-2, 1, {{{0}, 0}}},
    {"eigen 1e-2", "eigen", "", 1e-2, 1, {{{0}, 0}}},
    {"spatial 1e-2", "spatial", "", 1e-2, 1, {{{0}, 0}}},
    {"scalable 1e-2, grown", "scalable", "", 1e-2, 0, {{{0}, 0}}},
    {"libbloom 1e-4", NULL, NULL, 1e-4, 1, {{{0}, 0}}},
    {"classic 1e-4", "classic", "", 1e-4, 1, {{{0}, 0}}},
    {"libbloom 1e-6", NULL, NULL, 1e-6, 1, {{{0}, 0}}},
    {"classic 1e-6", "classic", "", 1e-6, 1, {{{0}, 0}}},
    {"fingerprint 1e-6", "fingerprint", "", 1e-6, 1, {{{0}, 0}}},
    {"fingerprint, reserved", "fingerprint", "", 0, 1, {{{0}, 0}}},
    {"fingerprint, grown", "fingerprint", "", 0, 0, {{{0}, 0}}},
    {"hashset, grown", "hashset", "", 0, 0, {{{0}, 0}}},
};
#define SUBJECTS (sizeof subjects / sizeof subjects[0])

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int make_corpus(corpus *corpus, size_t count)
{
    corpus->count = count;
    corpus->bytes = malloc(2 * count * URL_ROOM);
    corpus->urls = malloc(2 * count * sizeof *corpus->urls);
    if (!corpus->bytes || !corpus->urls)
        return -1;
    char *at = corpus->bytes;
    for (size_t i = 0; i < 2 * count; i++) {
        size_t mixed = i * 2654435761u;
        int len = snprintf(at, URL_ROOM, "http://www.site%zu.example.com/topic-%zu/page/%zu.html?id=%zu", mixed % 9973,
                           mixed % 499, mixed % 97, i);
        corpus->urls[i] = (vidi_str){at, (size_t)len};
        at += len;
    }
    return 0;
}

/* One pass over a half of the corpus, in batches of a size that a crawler would use. */
static int vidi_job(vidi_set *set, int job, const corpus *corpus)
{
    static uint8_t verdicts[BATCH];
    const vidi_str *urls = corpus->urls + (job == ABSENT ? corpus->count : 0);
    for (size_t done = 0; done < corpus->count; done += BATCH) {
        size_t n = corpus->count - done < BATCH ? corpus->count - done : BATCH;
        int code =
            job == ADD ? vidi_add_batch(set, urls + done, n, verdicts) : vidi_has_batch(set, urls + done, n, verdicts);
        if (code < 0)
            return code;
    }
    return VIDI_OK;
}

static int measure_vidi(const subject *subject, const corpus *corpus, times *times)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_stats stats = {.size = sizeof stats};
    vidi_set *set;
    options.kind = subject->kind;
    options.params = subject->params;
    options.capacity = subject->reserved ? corpus->count : 0;
    options.error = subject->error;
    int code = vidi_create(&set, &options);
    for (int job = 0; job < JOBS && code == VIDI_OK; job++) {
        double start = now();
        code = vidi_job(set, job, corpus);
        times->ns[job] = (now() - start) / (double)corpus->count;
    }
    if (code == VIDI_OK)
        code = vidi_stat(set, &stats);
    times->bytes = (double)stats.bytes / (double)corpus->count;
    vidi_close(set);
    return code;
}

#ifdef VIDI_HAVE_LIBBLOOM
static void measure_libbloom(const subject *subject, const corpus *corpus, times *times)
{
    struct bloom bloom;
    volatile int sum = 0; /* so that no question is left out */
    if (bloom_init(&bloom, (int)corpus->count, subject->error))
        return;
    for (int job = 0; job < JOBS; job++) {
        const vidi_str *urls = corpus->urls + (job == ABSENT ? corpus->count : 0);
        double start = now();
        for (size_t i = 0; i < corpus->count; i++)
            sum += job == ADD ? bloom_add(&bloom, urls[i].ptr, (int)urls[i].len)
                              : bloom_check(&bloom, urls[i].ptr, (int)urls[i].len);
        times->ns[job] = (now() - start) / (double)corpus->count;
    }
    times->bytes = (double)bloom.bytes / (double)corpus->count;
    bloom_free(&bloom);
}
#else
static void measure_libbloom(const subject *subject, const corpus *corpus, times *times)
{
    (void)subject;
    (void)corpus;
    (void)times;
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

static summary summarise(const subject *subject, int rounds, int job)
{
    double all[ROUNDS_MAX];
    for (int i = 0; i < rounds; i++)
        all[i] = subject->rounds[i].ns[job];
    qsort(all, (size_t)rounds, sizeof all[0], compare);
    return (summary){all[0], all[rounds / 2]};
}

static int was_measured(const subject *subject)
{
    return subject->rounds[0].ns[ADD] > 0;
}

/* libbloom at the same error rate, if it is here; for sets that lose practically nothing, at its smallest. */
static const subject *peer_of(const subject *of)
{
    double error = of->error > 0 ? of->error : 1e-6;
    for (size_t i = 0; i < SUBJECTS && of->kind; i++)
        if (!subjects[i].kind && subjects[i].error == error && was_measured(&subjects[i]))
            return &subjects[i];
    return NULL;
}

static void report_row(const subject *subject, int job, size_t urls, int rounds, const char *separator)
{
    summary time = summarise(subject, rounds, job);
    const struct subject *peer = peer_of(subject);
    double bytes = subject->rounds[0].bytes;
    char ratio[32] = "null";
    if (peer)
        snprintf(ratio, sizeof ratio, "%.3f", summarise(peer, rounds, job).best / time.best);
    fprintf(stderr, "%-24s %-12s %9.1f %9.1f %8.2f %8s\n", subject->name, job_names[job], time.best, time.median, bytes,
            peer ? ratio : "");
    printf("%s{\"name\":\"%s\",\"subject\":\"%s\",\"peer\":%s,\"n\":%zu,\"ns_per_op\":%.2f,\"bytes_per_op\":%.3f,"
           "\"ratio\":%s,\"note\":\"best of %d rounds; median %.2f\"}",
           separator, job_names[job], subject->name, peer ? "\"libbloom\"" : "null", urls, time.best, bytes, ratio,
           rounds, time.median);
}

static void report(size_t urls, int rounds)
{
    const char *separator = "[\n";
    fprintf(stderr, "%zu URLs\n%-24s %-12s %9s %9s %8s %8s\n", urls, "subject", "", "best ns", "median", "bytes",
            "ratio");
    for (size_t i = 0; i < SUBJECTS; i++)
        for (int job = 0; job < JOBS && was_measured(&subjects[i]); job++) {
            report_row(&subjects[i], job, urls, rounds, separator);
            separator = ",\n";
        }
    printf("\n]\n");
}

static int measure_round(int round, const corpus *corpus)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        subject *subject = &subjects[i];
        if (!subject->kind) {
            measure_libbloom(subject, corpus, &subject->rounds[round]);
        } else if (measure_vidi(subject, corpus, &subject->rounds[round]) < 0) {
            fprintf(stderr, "%s: %s\n", subject->name, vidi_message());
            return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    size_t urls = argc > 1 ? (size_t)strtod(argv[1], NULL) : 1000000;
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    corpus corpus;
    if (urls < 1 || urls > 100000000 || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: vidi-bench [URLS, at most 1e8] [ROUNDS, at most %d]\n", ROUNDS_MAX);
        return 2;
    }
    if (make_corpus(&corpus, urls) < 0) {
        fprintf(stderr, "vidi-bench: no memory for %zu URLs\n", urls);
        return 2;
    }
    for (int round = 0; round < rounds; round++) {
        fprintf(stderr, "\rround %d of %d", round + 1, rounds);
        if (measure_round(round, &corpus) < 0)
            return 2;
    }
    fprintf(stderr, "\r");
    report(urls, rounds);
    return 0;
}
