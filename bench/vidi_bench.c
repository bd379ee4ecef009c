/*
 * Measures how fast the kinds are, how much memory they need and how many pages they lose. Peers do the same job, and
 * the limit of the memory is measured for comparison.
 *
 *     vidi-bench [--sizes 1e6,1e7] [--rounds N] [--seconds S] [--only TEXT] [--quick]
 *                [--json FILE] [--plots FOLDER] [--guava Guava.java] [--node url.mjs] [--folder FOLDER]
 *
 * Tables go to stderr, and figures for programs to the file named by --json. --seconds is the time for each size; as
 * many rounds are run as fit. --quick measures the main subjects only. Sets that live in a folder are created below
 * --folder, so that disk is measured. subjects.h lists what is in which file.
 */
#include "subjects.h"

#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define URLS_LEAST 1000.0
#define URLS_MOST 1e9

static const struct option options[] = {
    {"sizes", required_argument, NULL, 's'},
    {"rounds", required_argument, NULL, 'r'},
    {"seconds", required_argument, NULL, 't'},
    {"only", required_argument, NULL, 'o'},
    {"quick", no_argument, NULL, 'q'},
    {"json", required_argument, NULL, 'j'},
    {"plots", required_argument, NULL, 'p'},
    {"guava", required_argument, NULL, 'g'},
    {"node", required_argument, NULL, 'n'},
    {"folder", required_argument, NULL, 'f'},
    {NULL, 0, NULL, 0},
};

typedef struct outputs {
    const char *json, *plots;
} outputs;

static int usage(void)
{
    fprintf(stderr, "usage: vidi-bench [--sizes 1e6,1e7] [--rounds N] [--seconds S] [--only TEXT] [--quick]\n"
                    "                  [--json FILE] [--plots FOLDER] [--guava Guava.java] [--node url.mjs]\n"
                    "                  [--folder FOLDER]\n");
    return 2;
}

/* Reads "1e6,1e7": numbers separated by commas or blanks. */
static bool read_sizes(bench_run *run, const char *text)
{
    run->size_count = 0;
    while (*text) {
        char *end;
        double size = strtod(text, &end);
        if (end == text || !(size >= URLS_LEAST && size <= URLS_MOST) || run->size_count == BENCH_SIZES_MAX)
            return false;
        run->sizes[run->size_count++] = (uint64_t)size;
        text = end + strspn(end, ", ");
    }
    return run->size_count > 0;
}

static bool read_number(const char *text, double most, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && *value > 0 && *value <= most;
}

static bool take(bench_run *run, outputs *out, int option)
{
    double number;
    switch (option) {
    case 's':
        return read_sizes(run, optarg);
    case 'r':
        if (!read_number(optarg, BENCH_ROUNDS_MAX, &number))
            return false;
        run->rounds = (int)number;
        return true;
    case 't':
        return read_number(optarg, 1e6, &run->seconds);
    case 'o':
        run->only = optarg;
        return true;
    case 'q':
        run->quick = true;
        return true;
    case 'j':
        out->json = optarg;
        return true;
    case 'p':
        out->plots = optarg;
        return true;
    case 'g':
        run->guava = optarg;
        return true;
    case 'n':
        run->node = optarg;
        return true;
    case 'f':
        run->folder = optarg;
        return true;
    default:
        return false;
    }
}

static int save(const bench_run *run, const outputs *out)
{
    int code = 0;
    if (out->json && bench_json(run, out->json) < 0) {
        fprintf(stderr, "vidi-bench: %s: %s\n", out->json, strerror(errno));
        code = 2;
    }
    if (out->plots && bench_plots(run, out->plots) < 0) {
        fprintf(stderr, "vidi-bench: %s: %s\n", out->plots, strerror(errno));
        code = 2;
    }
    return code;
}

int main(int argc, char **argv)
{
    static bench_run run;
    outputs out = {NULL, NULL};
    int option;
#ifdef BENCH_HAVE_CRAWL
    if (argc == 3 && strcmp(argv[1], "--frontier-alone") == 0)
        return bench_frontier_alone(argv[2]);
#endif
    read_sizes(&run, "1e6,1e7");
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (!take(&run, &out, option))
            return usage();
    if (optind < argc)
        return usage();
    /* Fixed, so that large blocks come fresh from the kernel in every round, as they do in a new process. */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    bench_list(&run);
    for (size_t size = 0; size < run.size_count; size++) {
        if (bench_measure(&run, size) < 0)
            return 2;
        bench_table(&run, size, stderr);
        bench_ratios(&run, size, stderr);
    }
    if (!run.only || strstr("small", run.only)) {
        bench_small_measure(&run);
        bench_small_table(&run, stderr);
    }
    if (!run.only || strstr("whole", run.only)) {
        bench_whole_measure(&run);
        bench_whole_table(&run, stderr);
    }
    if (!run.only || strstr("canon", run.only)) {
        bench_canon_measure(&run);
        bench_canon_table(&run, stderr);
    }
    if (!run.only || strstr("html", run.only)) {
        bench_html_measure(&run);
        bench_html_table(&run, stderr);
    }
    if (!run.only || strstr("store", run.only)) {
        bench_store_measure(&run);
        bench_store_table(&run, stderr);
    }
#ifdef BENCH_HAVE_CRAWL
    if (!run.only || strstr("frontier", run.only)) {
        bench_frontier_measure(&run);
        bench_frontier_table(&run, stderr);
    }
#endif
    bench_left_out(&run, stderr);
    return save(&run, &out);
}
