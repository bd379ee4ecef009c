/*
 * Measures the crawl's frontier: URLs are appended to the database, sorted to their hosts and taken out again, host by
 * host, all in one thread and with the settings of a crawl: synchronous=FULL, a transaction for each 50,000 URLs.
 *
 * URLs are spread evenly over a thousand hosts, or over a million, which is the worst case: URLs that are found
 * together belong to different hosts. All are in the queue before the first is taken out. Making the URLs is not timed.
 *
 * The memory is that of a process which does nothing else: the benchmark starts itself again. Its largest resident size
 * with 2 and with 10 million URLs gives the bytes that each further URL takes. Linux tells how long it has waited for a
 * processor that others were using; that is part of the times, and shown beside them. The database is in a new folder
 * below --folder, which is removed afterwards.
 */
#include "bench/subjects.h"
#include "bench/urls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "crawler/database/database.h"

#define PIECE 50000u /* URLs in a transaction: 250 ms at 200,000 a second */
#define TEXT_ROOM 96

/* ---- in a process of its own ---- */

typedef struct job {
    uint64_t n, hosts;
    uint64_t sorted_at; /* number of unsorted URLs that are sorted together */
    crawl_db *db;
    frontier *queue;
    char *text; /* of a piece of URLs */
    frontier_url *urls;
    double adding, sorting, taking; /* ns */
    double waiting;                 /* ns of these: for a processor */
} job;

/* ns that this thread has been ready to run while others did; 0 if the system does not tell. */
static double waited(void)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    double ran, ready = 0;
    if (file && fscanf(file, "%lf %lf", &ran, &ready) != 2) /* NOLINT(cert-err34-c) */
        ready = 0;
    if (file)
        fclose(file);
    return ready;
}

/* Adds what has passed since the two moments. */
static void clock_off(job *of, double *part, double start, double waited_before)
{
    *part += bench_now() - start;
    of->waiting += waited() - waited_before;
}

static void make_piece(job *of, uint64_t from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t random = url_mix(from + i), host = random % of->hosts;
        char *to = of->text + i * TEXT_ROOM;
        int length =
            snprintf(to, TEXT_ROOM, "https://www.site-%06llu.example/section/%llu/page-%llu.html",
                     (unsigned long long)host, (unsigned long long)(random >> 50), (unsigned long long)(from + i));
        of->urls[i] = (frontier_url){
            .host = url_mix(host) >> 1, .url = {to, (size_t)length}, .depth = 3, .referrer = 1 + (from + i) / 20};
    }
}

static bool sort_all(job *of)
{
    double before = waited(), start = bench_now();
    bool fine =
        db_begin(of->db) == VIDI_OK && frontier_sort(of->queue, UINT64_MAX) == VIDI_OK && db_commit(of->db) == VIDI_OK;
    clock_off(of, &of->sorting, start, before);
    return fine;
}

static bool add_piece(job *of, size_t count)
{
    double before = waited(), start = bench_now();
    bool fine = db_begin(of->db) == VIDI_OK;
    for (size_t i = 0; fine && i < count; i++)
        fine = frontier_add(of->queue, &of->urls[i]) == VIDI_OK;
    fine = fine && db_commit(of->db) == VIDI_OK;
    clock_off(of, &of->adding, start, before);
    return fine;
}

static bool add_all(job *of)
{
    bool fine = true;
    for (uint64_t done = 0; fine && done < of->n; done += PIECE) {
        size_t count = of->n - done < PIECE ? (size_t)(of->n - done) : PIECE;
        make_piece(of, done, count);
        fine = add_piece(of, count) && (frontier_unsorted(of->queue) < of->sorted_at || sort_all(of));
    }
    return fine && sort_all(of);
}

/* Takes out all URLs of a host; *count grows. */
static bool take_host(job *of, uint64_t host, frontier_block *block, uint64_t *count)
{
    int code;
    while ((code = frontier_take(of->queue, 0, host, 0, block)) == VIDI_OK) {
        *count += block->count;
        if (frontier_drop(of->queue, 0, host, block->number) != VIDI_OK)
            return false;
    }
    return code == VIDI_EABSENT;
}

static bool take_all(job *of)
{
    double before = waited(), start = bench_now();
    frontier_block block = {0};
    uint64_t host = 0, taken = 0, committed = 0;
    int code = db_begin(of->db);
    while (code == VIDI_OK && (code = frontier_host(of->queue, 0, host, &host)) == VIDI_OK) {
        if (!take_host(of, host++, &block, &taken))
            code = VIDI_EIO;
        if (code == VIDI_OK && taken - committed >= PIECE) {
            committed = taken;
            code = db_commit(of->db);
            code = code ? code : db_begin(of->db);
        }
    }
    bool fine = code == VIDI_EABSENT && db_commit(of->db) == VIDI_OK && taken == of->n;
    clock_off(of, &of->taking, start, before);
    bytes_free(&block.text);
    return fine;
}

/* Prints nanoseconds a URL for each part and of the processor, and the largest resident size. */
static bool run_job(job *of, const char *path)
{
    char why[256] = "no memory";
    double cpu = bench_cpu_now();
    of->text = malloc((size_t)PIECE * TEXT_ROOM);
    of->urls = malloc(PIECE * sizeof *of->urls);
    if (!of->text || !of->urls || db_open(&of->db, path, DB_WRITE, false, why) != VIDI_OK) {
        fprintf(stderr, "frontier: %s\n", why);
        return false;
    }
    of->queue = db_frontier(of->db);
    bool fine = add_all(of) && take_all(of);
    if (!fine)
        fprintf(stderr, "frontier: %s\n", db_error(of->db));
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%d %.1f %.1f %.1f %.1f %.1f %ld\n", fine, of->adding / (double)of->n, of->sorting / (double)of->n,
           of->taking / (double)of->n, of->waiting / (double)of->n, (bench_cpu_now() - cpu) / (double)of->n,
           usage.ru_maxrss);
    db_close(of->db);
    return fine;
}

int bench_frontier_alone(const char *what)
{
    job of = {0};
    char path[600];
    unsigned long long n, hosts, sorted_at;
    if (sscanf(what, "%llu,%llu,%llu,%599[^\n]", &n, &hosts, &sorted_at, path) != 4) /* NOLINT(cert-err34-c): our own */
        return 2;
    of.n = n;
    of.hosts = hosts;
    of.sorted_at = sorted_at;
    bool fine = run_job(&of, path);
    free(of.text);
    free(of.urls);
    return fine ? 0 : 2;
}

/* ---- in the benchmark ---- */

static const struct load {
    const char *name;
    uint64_t hosts;
} url_blocks[BENCH_FRONTIER_ROWS] = {{"frontier-1e3-hosts", 1000}, {"frontier-1e6-hosts", 1000000}};

static void remove_database(const char *folder)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char path[600];
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(path, sizeof path, "%s/crawl.db%s", folder, endings[i]);
        unlink(path);
    }
}

/* Runs the job in a process of its own. Returns its largest resident size in bytes; 0: it failed. */
static double run_alone(bench_frontier *row, uint64_t n, uint64_t hosts, uint64_t sorted_at, const char *folder)
{
    char self[512], command[1200];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return 0;
    self[length] = 0;
    snprintf(command, sizeof command, "'%s' --frontier-alone '%llu,%llu,%llu,%s/crawl.db'", self, (unsigned long long)n,
             (unsigned long long)hosts, (unsigned long long)sorted_at, folder);
    FILE *from = popen(command, "r"); /* NOLINT(cert-env33-c) */
    double cpu = 0;
    long kilobytes = 0;
    int fine = 0;
    int fields = from ? fscanf(from, "%d %lf %lf %lf %lf %lf %ld", &fine, &row->adding, &row->sorting, &row->taking,
                               &row->waiting, &cpu, &kilobytes)
                      : 0; /* NOLINT(cert-err34-c): our own */
    fine = from && pclose(from) == 0 && fields == 7 && fine;
    remove_database(folder);
    row->n = n;
    row->series.rounds = 0;
    if (fine)
        bench_record(&row->series, row->adding + row->sorting + row->taking, cpu);
    return fine ? (double)kilobytes * 1024 : 0;
}

static void measure_row(bench_frontier *row, const struct load *load, bool quick, const char *folder)
{
    uint64_t few = quick ? 400000 : 2000000, many = quick ? 1000000 : 10000000, sorted_at = quick ? 200000 : 1000000;
    *row = (bench_frontier){.name = load->name};
    double before = run_alone(row, few, load->hosts, sorted_at, folder);
    row->resident = before > 0 ? run_alone(row, many, load->hosts, sorted_at, folder) : 0;
    if (row->resident > 0)
        row->further = (row->resident - before) / (double)(many - few);
    else
        snprintf(row->why, sizeof row->why, "it failed");
}

void bench_frontier_measure(bench_run *run)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s/vidi-bench-XXXXXX", run->folder ? run->folder : BENCH_FOLDER);
    if (!mkdtemp(folder)) {
        fprintf(stderr, "vidi-bench: cannot create %s: %s\n", folder, strerror(errno));
        return;
    }
    for (size_t i = 0; i < BENCH_FRONTIER_ROWS; i++)
        measure_row(&run->frontier[i], &url_blocks[i], run->quick, folder);
    rmdir(folder);
}

static void print_row(const bench_frontier *row, FILE *out)
{
    double all = bench_best(&row->series);
    if (row->why[0])
        fprintf(out, "Left out: %s: %s\n", row->name, row->why);
    else
        fprintf(out, "| %-18s | %7.3g | %6.0f | %6.0f | %8.0f | %6.0f | %6.0f | %7.0f | %9.0f | %13.0f | %6.1f |\n",
                row->name, (double)row->n, row->adding, row->sorting, row->taking, all, row->series.cpu_ns,
                row->waiting, 1e9 / all, 1e9 / (all - row->waiting), row->resident / 1e6);
}

void bench_frontier_table(const bench_run *run, FILE *out)
{
    if (!run->frontier[0].name)
        return;
    fprintf(out, "\nFrontier, ns a URL: append, sort to hosts, take out again; waiting is for a processor\n\n");
    fprintf(out, "| %-18s | %7s | %6s | %6s | %8s | %6s | %6s | %7s | %9s | %13s | %6s |\n", "", "URLs", "append",
            "sort", "take out", "all", "cpu", "waiting", "URLs/s", "without waits", "MB");
    fprintf(out, "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < BENCH_FRONTIER_ROWS; i++)
        print_row(&run->frontier[i], out);
    for (size_t i = 0; i < BENCH_FRONTIER_ROWS; i++)
        if (!run->frontier[i].why[0])
            fprintf(out, "%s: %.2f bytes of memory for each further URL\n", run->frontier[i].name,
                    run->frontier[i].further);
}
