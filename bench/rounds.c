/*
 * Passes and rounds. In a round every subject takes its turn: it is created, filled, and used for lookups of present
 * and absent URLs, on URLs and on ready hashes. Right after it, the machine's limit is measured with the same working
 * set. Machines are noisy, but a disturbance affects neighbours in a round alike, and the best of several rounds
 * counts.
 *
 * Work is made in chunks, and this is not timed. Lookups of present URLs come in a different order from adds, because
 * containers that keep the order of arrival would profit otherwise. Each round uses different URLs, so that errors can
 * be summed over all rounds.
 */
#include "subjects.h"
#include "urls.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOW_FROM 5000000u   /* slow subjects have one round from this many URLs on */
#define LARGE_FROM 50000000u /* from this many URLs on, the main subjects are measured, in one round */
#define LIMIT_OPERATIONS 4000000u
#define LIMIT_LEAST ((size_t)64 << 20)
#define LIMIT_MOST ((size_t)2 << 30)
#define LIMIT_PER_URL 44 /* bytes a URL in the largest peer */
#define ARENA_PER_URL 40 /* and all that one allocates while it doubles */
#define ARENA_LEAST ((size_t)64 << 20)
#define STRIDE UINT64_C(2654435761) /* a prime, so its multiples modulo n visit all n numbers */

static struct {
    url_chunk chunk;
    bench_hash *hashes;
    uint64_t *words;
} feed;

uint64_t bench_asks(uint64_t n)
{
    uint64_t least = n < 1000000 ? n : 1000000;
    return n / 10 > least ? n / 10 : least;
}

static int open_feed(void)
{
    if (feed.hashes)
        return 0;
    feed.hashes = malloc(BENCH_CHUNK * sizeof *feed.hashes);
    feed.words = malloc(BENCH_CHUNK * sizeof *feed.words);
    return feed.hashes && feed.words ? url_chunk_open(&feed.chunk, BENCH_CHUNK) : -1;
}

static uint64_t number_of(int job, uint64_t i, uint64_t n)
{
    return job == BENCH_ADD ? i : job == BENCH_PRESENT ? i * STRIDE % n : URL_ABSENT + i;
}

/* Makes the next piece of a job: `count` items, starting at number `done`. */
static bench_work make_work(int form, int job, uint64_t seed, uint64_t n, uint64_t done, size_t count)
{
    for (size_t i = 0; i < count; i++)
        feed.chunk.numbers[i] = number_of(job, done + i, n);
    if (form == BENCH_URLS) {
        url_chunk_fill(&feed.chunk, seed, count);
        return (bench_work){.urls = feed.chunk.urls, .count = count};
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t number = feed.chunk.numbers[i] * 2 + seed;
        feed.hashes[i] = (bench_hash){url_mix(number), url_mix(number + 1)};
        feed.words[i] = feed.hashes[i].lo;
    }
    return (bench_work){.hashes = feed.hashes, .words = feed.words, .count = count};
}

/* Runs one job of `total` items on a subject made for n. Returns how many were seen, or -1 after an error. */
static int64_t pass(const bench_class *class, void *self, int form, int job, uint64_t seed, uint64_t n, uint64_t total,
                    bench_series *series)
{
    double ns = 0, cpu_ns = 0;
    int64_t seen = 0;
    for (uint64_t done = 0; done < total; done += BENCH_CHUNK) {
        size_t count = total - done < BENCH_CHUNK ? (size_t)(total - done) : BENCH_CHUNK;
        bench_work work = make_work(form, job, seed, n, done, count);
        double cpu_start = bench_cpu_now(), start = bench_now();
        int64_t more = job == BENCH_ADD ? class->add(self, &work) : class->has(self, &work);
        ns += bench_now() - start;
        cpu_ns += bench_cpu_now() - cpu_start;
        if (more < 0)
            return -1;
        seen += more;
    }
    bench_record(series, ns / (double)total, cpu_ns / (double)total);
    return seen;
}

static void weigh(const bench_class *class, void *self, int form, int64_t lost, bench_result *result)
{
    bench_weight weight = class->weigh(self);
    if (form == BENCH_HASHES && result->bytes)
        return; /* the pass over URLs has recorded it */
    result->bytes = weight.bytes;
    result->lines = weight.lines ? weight.lines : 1;
    result->lost += (uint64_t)lost;
    result->expected_lost = weight.expected_lost < 0 ? -1 : result->expected_lost + weight.expected_lost;
    result->fills++;
}

/* Runs the three jobs on URLs or on hashes. 0, or -1 after an error. */
static int jobs(const bench_class *class, void *self, int form, uint64_t seed, uint64_t n, bench_result *result)
{
    uint64_t asks = bench_asks(n);
    bench_series *series = result->series[form];
    int64_t lost = pass(class, self, form, BENCH_ADD, seed, n, n, &series[BENCH_ADD]);
    if (lost < 0)
        return -1;
    weigh(class, self, form, lost, result);
    int64_t found = pass(class, self, form, BENCH_PRESENT, seed, n, asks, &series[BENCH_PRESENT]);
    if (found >= 0 && (uint64_t)found != asks) {
        bench_refuse("it forgot %lld of %llu", (long long)asks - found, (unsigned long long)asks);
        return -1;
    }
    int64_t wrong = found < 0 ? -1 : pass(class, self, form, BENCH_ABSENT, seed, n, asks, &series[BENCH_ABSENT]);
    if (wrong < 0)
        return -1;
    if (form == BENCH_URLS) {
        result->asks += asks;
        result->false_seen += (uint64_t)wrong;
    }
    return 0;
}

static void measure_limit(bench_result *result, uint64_t seed, uint64_t n)
{
    uint64_t operations = n < LIMIT_OPERATIONS ? n : LIMIT_OPERATIONS;
    bench_recipe recipe = {.bytes = result->bytes, .lines = result->lines ? result->lines : 1};
    void *self = bench_limit.make(&recipe);
    if (!self)
        return;
    result->limit_bytes = bench_limit.weigh(self).bytes;
    for (int job = BENCH_ADD; job <= BENCH_PRESENT; job++)
        pass(&bench_limit, self, BENCH_HASHES, job, seed, n, operations, &result->limit[job]);
    bench_limit.close(self);
}

static bench_recipe recipe_of(const bench_subject *subject, uint64_t n, uint64_t seed)
{
    return (bench_recipe){.kind = subject->kind,
                          .params = subject->params,
                          .error = subject->error,
                          .capacity = subject->flags & BENCH_RESERVED ? n : 0,
                          .populated = subject->flags & BENCH_POPULATED,
                          .seed = seed};
}

/* A subject that refuses is left out, with its reason. An error after that ends the run. */
static int measure_form(bench_subject *subject, int form, size_t size, uint64_t n, uint64_t seed)
{
    const bench_class *class = subject->classes[form];
    bench_result *result = &subject->results[size];
    bench_recipe recipe = recipe_of(subject, n, seed);
    if (recipe.populated && bench_arena_open((size_t)n * ARENA_PER_URL + ARENA_LEAST) < 0) {
        snprintf(result->why, sizeof result->why, "no memory to touch beforehand");
        return 0;
    }
    double cpu_start = bench_cpu_now(), start = bench_now();
    void *self = class->make(&recipe);
    if (!self) {
        snprintf(result->why, sizeof result->why, "%s", bench_reason());
        return 0;
    }
    if (form == BENCH_URLS)
        bench_record(&result->create, (bench_now() - start) / (double)n, (bench_cpu_now() - cpu_start) / (double)n);
    int code = jobs(class, self, form, seed, n, result);
    class->close(self);
    if (recipe.populated)
        bench_arena_close();
    malloc_trim(0);
    if (code < 0)
        fprintf(stderr, "\n%s: %s\n", subject->name, bench_reason());
    return code;
}

static int measure_subject(bench_run *run, bench_subject *subject, size_t size, uint64_t seed)
{
    bench_result *result = &subject->results[size];
    result->n = run->sizes[size];
    if (subject->flags & BENCH_GUAVA) {
        if (!bench_guava(run->guava, subject->error, result->n, seed, result))
            snprintf(result->why, sizeof result->why, "%s", bench_reason());
        return 0;
    }
    for (int form = 0; form < BENCH_FORMS; form++)
        if (subject->classes[form] && !result->why[0] && measure_form(subject, form, size, result->n, seed) < 0)
            return -1;
    if (result->series[BENCH_HASHES][BENCH_ADD].rounds)
        measure_limit(result, seed, result->n);
    return 0;
}

static bool takes_turn(const bench_run *run, const bench_subject *subject, size_t size, int round)
{
    uint64_t n = run->sizes[size];
    if (n > subject->most || subject->results[size].why[0])
        return false;
    if (n >= LARGE_FROM && !(subject->flags & BENCH_MAIN) && !run->only)
        return false;
    if (subject->flags & BENCH_GUAVA)
        return round == 0;
    return round == 0 || !(subject->flags & BENCH_SLOW) || n < SLOW_FROM;
}

static void show(uint64_t n, int round, const char *what)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%g URLs, round %d: %s", (double)n, round + 1, what);
}

/* Sets *again to the seconds that were spent on subjects that will have another round. */
static int measure_round(bench_run *run, size_t size, int round, double *again)
{
    uint64_t n = run->sizes[size], seed = url_mix((uint64_t)round * 1000 + size);
    *again = 0;
    show(n, round, "the machine");
    bench_machine_measure(&run->machine[size]);
    for (size_t i = 0; i < run->subject_count; i++) {
        bench_subject *subject = &run->subjects[i];
        if (!takes_turn(run, subject, size, round))
            continue;
        show(n, round, subject->name);
        double start = bench_now();
        if (measure_subject(run, subject, size, seed) < 0)
            return -1;
        if (takes_turn(run, subject, size, round + 1))
            *again += (bench_now() - start) / 1e9;
    }
    return 0;
}

/* Runs the requested number of rounds, or as many as fit into the time. */
static bool goes_on(const bench_run *run, uint64_t n, int done, double spent, double next)
{
    if (run->rounds)
        return done < run->rounds;
    double seconds = run->seconds > 0 ? run->seconds : run->quick ? 25 : n < SLOW_FROM ? 45 : 200;
    int most = n >= LARGE_FROM ? 1 : run->quick ? BENCH_ROUNDS_MAX : 5;
    return done < most && spent + next <= seconds;
}

static void average_length(bench_run *run, uint64_t n)
{
    size_t count = n < BENCH_CHUNK ? (size_t)n : BENCH_CHUNK, bytes = 0;
    bench_work work = make_work(BENCH_URLS, BENCH_ADD, 1, n, 0, count);
    for (size_t i = 0; i < count; i++)
        bytes += work.urls[i].len;
    run->url_bytes = (double)bytes / (double)count;
}

int bench_measure(bench_run *run, size_t size)
{
    uint64_t n = run->sizes[size];
    size_t limit = (size_t)n * LIMIT_PER_URL;
    limit = limit < LIMIT_LEAST ? LIMIT_LEAST : limit > LIMIT_MOST ? LIMIT_MOST : limit;
    if (open_feed() < 0 || bench_limit_open(limit) < 0) {
        fprintf(stderr, "vidi-bench: no memory for the measurement itself\n");
        return -1;
    }
    average_length(run, n);
    double start = bench_now(), next = 0;
    int round = 0, code = 0;
    while (code == 0 && goes_on(run, n, round, (bench_now() - start) / 1e9, next)) {
        double begun = bench_now();
        code = measure_round(run, size, round++, &next);
        fprintf(stderr, "%s%g URLs, round %d: %.0f s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", (double)n, round,
                (bench_now() - begun) / 1e9);
    }
    run->rounds_done[size] = round;
    bench_limit_close();
    return code;
}
