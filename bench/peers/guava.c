/*
 * Guava's BloomFilter, in its own process (Guava.java). It is sent the same URLs, one a line, and makes chunks of them
 * outside the timed part, as the other subjects do. It answers with one line of figures. It is left out if Java or
 * Guava is missing.
 */
#include "bench/subjects.h"
#include "bench/urls.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST UINT64_C(12000000)
#define JAR "/usr/share/java/guava.jar" /* Debian's path; the environment variable GUAVA_JAR overrides it */

static const char *jar(void)
{
    const char *named = getenv("GUAVA_JAR");
    return named ? named : JAR;
}

/* Sends one job's URLs. */
static bool send_job(FILE *to, url_chunk *chunk, uint64_t seed, uint64_t first, uint64_t total)
{
    for (uint64_t done = 0; done < total; done += chunk->room) {
        size_t count = total - done < chunk->room ? (size_t)(total - done) : chunk->room;
        for (size_t i = 0; i < count; i++)
            chunk->numbers[i] = first + done + i;
        url_chunk_fill(chunk, seed, count);
        for (size_t i = 0; i < count; i++) {
            fwrite(chunk->urls[i].ptr, 1, chunk->urls[i].len, to);
            putc('\n', to);
        }
        if (ferror(to))
            return false;
    }
    return true;
}

static bool send_all(int fd, uint64_t n, uint64_t asks, uint64_t seed)
{
    url_chunk chunk;
    FILE *to = fdopen(fd, "w");
    bool fine = url_chunk_open(&chunk, BENCH_CHUNK) == 0 && to;
    fine = fine && send_job(to, &chunk, seed, 0, n) && send_job(to, &chunk, seed, 0, asks) &&
           send_job(to, &chunk, seed, URL_ABSENT, asks);
    url_chunk_close(&chunk);
    if (!to)
        close(fd);
    return to && fclose(to) == 0 && fine;
}

/* Replaces this process with java, which reads from `in` and writes to `out`. */
static void become(const char *source, double error, uint64_t n, uint64_t asks, int in, int out)
{
    char numbers[3][32];
    snprintf(numbers[0], sizeof numbers[0], "%llu", (unsigned long long)n);
    snprintf(numbers[1], sizeof numbers[1], "%llu", (unsigned long long)asks);
    snprintf(numbers[2], sizeof numbers[2], "%g", error);
    if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
        execlp("java", "java", "-cp", jar(), source, numbers[0], numbers[1], numbers[2], (char *)NULL);
    _exit(127);
}

static bool run(const char *source, double error, uint64_t n, uint64_t asks, uint64_t seed, FILE *answer)
{
    int pipes[2], status = -1;
    if (pipe(pipes) < 0)
        return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(pipes[1]);
        become(source, error, n, asks, pipes[0], fileno(answer));
    }
    close(pipes[0]);
    bool sent = child > 0 && send_all(pipes[1], n, asks, seed);
    if (child <= 0)
        close(pipes[1]);
    return child > 0 && waitpid(child, &status, 0) == child && sent && status == 0;
}

static bool read_answer(FILE *answer, uint64_t asks, bench_result *result)
{
    double create, ns[BENCH_JOBS];
    unsigned long long bytes, lost, wrong;
    rewind(answer);
    /* NOLINTNEXTLINE(cert-err34-c): what Guava.java has just written */
    if (fscanf(answer, "%lf %lf %lf %lf %llu %llu %llu", &create, &ns[0], &ns[1], &ns[2], &bytes, &lost, &wrong) != 7)
        return false;
    bench_record(&result->create, create, create);
    for (int job = 0; job < BENCH_JOBS; job++)
        bench_record(&result->series[BENCH_URLS][job], ns[job], ns[job]);
    result->bytes = (size_t)bytes;
    result->lost = lost;
    result->expected_lost = -1;
    result->false_seen = wrong;
    result->asks = asks;
    result->fills = 1;
    return true;
}

bool bench_guava(const char *source, double error, uint64_t n, uint64_t seed, bench_result *result)
{
    if (!source || access(jar(), R_OK) != 0) {
        bench_refuse(source ? "Guava is not installed" : "not asked for");
        return false;
    }
    FILE *answer = tmpfile();
    if (!answer) {
        bench_refuse("no temporary file");
        return false;
    }
    result->n = n < MOST ? n : MOST;
    uint64_t asks = bench_asks(result->n);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    bool fine = run(source, error, result->n, asks, seed, answer) && read_answer(answer, asks, result);
    signal(SIGPIPE, before);
    fclose(answer);
    if (!fine)
        bench_refuse("java is not installed, or failed");
    return fine;
}
