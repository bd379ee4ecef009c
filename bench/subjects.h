/*
 * What the files of the benchmark share. A subject is something that can be created, filled and looked up in, by URLs
 * or by ready hashes. vidi's kinds, the peers and the machine's limit all implement the same few functions, so the same
 * code measures all of them.
 *
 *     urls.c       makes URLs from numbers              rounds.c            runs the passes and rounds
 *     pages.c      memory that is touched beforehand    series.c            times of the rounds
 *     vidi_sets.c  vidi through its public header       ready.c             vidi's filters on ready hashes
 *     limit.c      what the memory allows               store.c             sets that live in a folder
 *     html.c       links of HTML pages                  canonicalization.c  canonical forms of URLs, also by url.mjs
 *     small_sets.c sets of a few URLs                   whole_sets.c        copies, digests, writes a whole set
 *     peers/       other people's sets and filters      crawl/              crawls, and the crawl's queue of URLs
 *     report/      tables, build/bench.json and plots   redis/, python/     the module and the package
 *     threads/     vidi-bench-threads, a program of its own
 */
#ifndef VIDI_BENCH_SUBJECTS_H
#define VIDI_BENCH_SUBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <vidi/vidi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_BATCH 4096  /* URLs in one batch for vidi */
#define BENCH_CHUNK 32768 /* URLs made at once, not timed; they are then read from the L3 cache */
#define BENCH_AHEAD 32    /* prefetches in flight when the limit is measured */
/* What suits the peers best: URLs that are hashed before the table is accessed, and prefetches in flight. */
#define BENCH_PEER_GROUP 256
#define BENCH_PEER_AHEAD 16
#define BENCH_ROUNDS_MAX 16
#define BENCH_SIZES_MAX 8
#define BENCH_SUBJECTS_MAX 64
#define BENCH_LINE 64

typedef struct bench_hash {
    uint64_t lo, hi;
} bench_hash;

/* A piece of work: URLs, or if urls is NULL, ready hashes of 128 bits and the low 64 bits of each. */
typedef struct bench_work {
    const vidi_str *urls;
    const bench_hash *hashes;
    const uint64_t *words;
    size_t count;
} bench_work;

/* How to create a subject for one round. */
typedef struct bench_recipe {
    const char *kind, *params; /* for vidi's kinds */
    double error;
    uint64_t capacity; /* URLs to reserve and touch memory for; 0: it grows from empty */
    bool populated;    /* if it grows, into memory that was touched before: bench_arena */
    uint64_t seed;
    size_t bytes;   /* working set, for the limit */
    unsigned lines; /* lines that the limit touches for each URL */
} bench_recipe;

typedef struct bench_weight {
    size_t bytes;         /* all memory it uses */
    double expected_lost; /* negative: unknown */
    unsigned lines;       /* cache lines that an add touches; 0 stands for one */
} bench_weight;

typedef struct bench_class {
    void *(*make)(const bench_recipe *recipe); /* NULL: refused; bench_reason() says why */
    void (*close)(void *self);
    /* Both return how many items were already present, or a negative number after an error: see bench_reason(). */
    int64_t (*add)(void *self, const bench_work *work);
    int64_t (*has)(void *self, const bench_work *work);
    bench_weight (*weigh)(void *self);
} bench_class;

/* Remembers why a subject cannot take part, for bench_reason(). Returns NULL. */
void *bench_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *bench_reason(void);

/* The functions return NULL for peers that were not built in. */
extern const bench_class bench_sets, bench_singles, bench_ready, bench_limit;
const bench_class *bench_libbloom(void);
const bench_class *bench_rocksdb(void);
const bench_class *bench_khash(bool batched);
typedef enum bench_container { BENCH_ABSL, BENCH_ABSL_HUGE, BENCH_ROBIN, BENCH_UNORDERED } bench_container;
const bench_class *bench_peer(bench_container container, bool batched);

/* ---- memory: pages.c ---- */

/* Maps a large block. `huge` asks for 2 MiB pages, where the machine has them; `populate` touches all of it. */
void *bench_map(size_t bytes, bool huge, bool populate);
void bench_unmap(void *ptr, size_t bytes);
/* Writes to every page. */
void bench_touch(void *ptr, size_t bytes);
/* A vidi_allocator that uses these functions. */
extern const vidi_allocator bench_allocator;
/*
 * For subjects that grow: large blocks come from one piece of memory in 2 MiB pages that was touched when it was
 * opened, and are never used again. So only growing itself is timed, without the kernel's share.
 */
int bench_arena_open(size_t bytes);
void bench_arena_close(void);
extern const vidi_allocator bench_arena;

/* ---- measuring ---- */

enum { BENCH_ADD, BENCH_PRESENT, BENCH_ABSENT, BENCH_JOBS };
enum { BENCH_URLS, BENCH_HASHES, BENCH_FORMS };

/* Subjects with about the same rate of false answers are compared with each other. */
typedef enum bench_group { BENCH_1E2, BENCH_1E4, BENCH_1E6, BENCH_NONE, BENCH_GROUPS } bench_group;

enum {
    BENCH_MAIN = 1,      /* part of `make bench-quick`, and measured at 1e8 */
    BENCH_SLOW = 2,      /* from 5e6 URLs on, measured in the first round only */
    BENCH_RESERVED = 4,  /* memory is reserved for all URLs */
    BENCH_GUAVA = 8,     /* runs in its own process */
    BENCH_POPULATED = 16 /* grows into memory that was touched before */
};

/* One figure in each round; 0 rounds: not measured. */
typedef struct bench_series {
    double ns[BENCH_ROUNDS_MAX];
    double cpu_ns; /* processor time of the whole process in the best round */
    int rounds;
} bench_series;

double bench_best(const bench_series *series);
double bench_worst(const bench_series *series);
double bench_median(const bench_series *series);
void bench_record(bench_series *series, double ns, double cpu_ns);

/* Results of a subject at one size. Counts are sums over the rounds. */
typedef struct bench_result {
    bench_series series[BENCH_FORMS][BENCH_JOBS];
    bench_series limit[2]; /* of the machine, with this working set: read-modify-write, and read */
    bench_series create;   /* ns a URL to create it, touching its memory included */
    uint64_t n;            /* URLs that were added */
    uint64_t asks;         /* lookups of absent URLs */
    uint64_t false_seen;   /* those of them that answered "seen" */
    uint64_t lost;         /* distinct URLs that were answered "seen" when added */
    double expected_lost;  /* negative: unknown */
    int fills;
    size_t bytes;
    unsigned lines;     /* that the limit touches for each URL, as many as the subject */
    size_t limit_bytes; /* working set of the limit: the same size, as far as there is room */
    char why[200];      /* why it was left out */
} bench_result;

typedef struct bench_subject {
    const char *name;
    bench_group group;
    const bench_class *classes[BENCH_FORMS]; /* on URLs and on hashes; NULL: not measured */
    const char *kind, *params;
    double error;
    unsigned flags;
    uint64_t most; /* largest number of URLs to measure it with */
    const char *note;
    bench_result results[BENCH_SIZES_MAX];
} bench_subject;

/* Speed of the machine's memory, at one size. */
typedef struct bench_machine {
    bench_series stream, touch_small, touch_huge; /* ns a line of 64 bytes */
    size_t stream_bytes;
} bench_machine;

/* Time that one method takes to make URLs of one sort canonical. */
enum { BENCH_CANON_SORTS = 2, BENCH_CANON_METHODS = 6, BENCH_CANON_OWN = 2 }; /* vidi's come first */
typedef struct bench_canon {
    const char *name, *subject, *note; /* NULL: not measured */
    bench_series series;
    uint64_t n;
    double bytes;  /* of a URL, on average */
    char why[200]; /* why it was left out */
} bench_canon;

/* Ways of reading an HTML page, described in the same way. */
enum { BENCH_HTML_METHODS = 4 };

/* The crawl's frontier with one number of hosts; times are ns a URL. */
enum { BENCH_FRONTIER_ROWS = 2 };
typedef struct bench_frontier {
    const char *name;    /* NULL: not measured */
    bench_series series; /* all three together */
    double adding, sorting, taking;
    double waiting; /* of these, for a processor that others were using */
    uint64_t n;
    double resident; /* bytes of memory of a process that does nothing else, at most */
    double further;  /* bytes of it for each further URL */
    char why[200];   /* why it was left out */
} bench_frontier;

/* One way of adding to a set in a folder, or one operation on a whole set. */
enum { BENCH_STORE_ROWS = 40 };
typedef struct bench_store {
    char name[48];
    const char *subject, *peer, *note; /* peer: the subject to compare with; NULL: none */
    bench_series series;               /* ns a URL when adding, else total ns */
    uint64_t n;
    double bytes;  /* of a URL when adding, else of the set's files */
    char why[200]; /* why it was left out */
} bench_store;

/* A set of a few URLs: create it, add to it one URL at a time, close it. */
enum { BENCH_SMALL_KINDS = 4, BENCH_SMALL_SIZES = 4 };
typedef struct bench_small {
    const char *kind;
    bench_series series; /* ns for all of it */
    uint64_t n;
    double bytes; /* of the set */
} bench_small;

/* One operation on a whole set in memory. */
enum { BENCH_WHOLE_ROWS = 7 };
typedef struct bench_whole {
    const char *name;
    bench_series series; /* ns for all of it */
    uint64_t n;
    double bytes; /* of the set */
} bench_whole;

typedef struct bench_run {
    uint64_t sizes[BENCH_SIZES_MAX];
    size_t size_count;
    bench_subject subjects[BENCH_SUBJECTS_MAX];
    size_t subject_count;
    bench_machine machine[BENCH_SIZES_MAX];
    int rounds_done[BENCH_SIZES_MAX];
    int rounds;     /* requested; 0: as many as fit */
    double seconds; /* for each size; 0: the default */
    bool quick;
    const char *only;   /* takes subjects whose name contains this; NULL: all */
    const char *guava;  /* path of Guava.java; NULL: leave Guava out */
    const char *node;   /* path of url.mjs; NULL: leave Node out */
    const char *folder; /* where sets in folders are created; NULL: the build folder */
    double url_bytes;   /* on average */
    bench_canon canon[BENCH_CANON_SORTS][BENCH_CANON_METHODS];
    bench_canon html[BENCH_HTML_METHODS];
    bench_store store[BENCH_STORE_ROWS];
    size_t store_count;
    bench_frontier frontier[BENCH_FRONTIER_ROWS];
    bench_small small[BENCH_SMALL_KINDS][BENCH_SMALL_SIZES];
    bench_whole whole[BENCH_WHOLE_ROWS];
} bench_run;

double bench_now(void);     /* ns */
double bench_cpu_now(void); /* ns of the process, all threads */

/* subjects.c: the list of all subjects. */
void bench_list(bench_run *run);
const bench_subject *bench_find(const bench_run *run, const char *name);

/* rounds.c: runs all rounds of one size. 0, or -1 after printing what is wrong. */
int bench_measure(bench_run *run, size_t size);
/* Number of lookups in a round: as many of present URLs as of absent ones. */
uint64_t bench_asks(uint64_t n);

/* limit.c */
int bench_limit_open(size_t bytes); /* `bytes`: largest working set; larger ones are measured at this size */
void bench_limit_close(void);
void bench_machine_measure(bench_machine *machine);

/* guava.c: one round of the Java peer. False after an error: see bench_reason(). */
bool bench_guava(const char *source, double error, uint64_t n, uint64_t seed, bench_result *result);

/* canonicalization.c */
void bench_canon_measure(bench_run *run);
void bench_canon_table(const bench_run *run, FILE *out);

/* html.c */
void bench_html_measure(bench_run *run);
void bench_html_table(const bench_run *run, FILE *out);

/* store.c: the set that it opens holds as many URLs as the largest size. */
void bench_store_measure(bench_run *run);
void bench_store_table(const bench_run *run, FILE *out);
/* The row with this name and subject, or NULL. */
const bench_store *bench_store_find(const bench_run *run, const char *name, const char *subject);
/* Removes the folder of a set with all files in it. */
void bench_remove_set(const char *path);

/* whole_sets.c */
void bench_whole_measure(bench_run *run);
void bench_whole_table(const bench_run *run, FILE *out);

/* small_sets.c */
void bench_small_measure(bench_run *run);
void bench_small_table(const bench_run *run, FILE *out);

/* frontier.c; not in builds without the crawler */
void bench_frontier_measure(bench_run *run);
void bench_frontier_table(const bench_run *run, FILE *out);
/* "URLS,HOSTS,SORTED,PATH": does the job in a process of its own and prints its figures. Returns the exit code. */
int bench_frontier_alone(const char *what);

/* ---- reporting ---- */

/* The 95 % confidence interval (Wilson) of a proportion. */
typedef struct bench_interval {
    double low, high;
} bench_interval;
bench_interval bench_wilson(uint64_t hits, uint64_t trials);

extern const char *const bench_group_names[BENCH_GROUPS];
extern const char *const bench_job_names[BENCH_FORMS][BENCH_JOBS];

/* The rival number 0, 1, … of a subject, of those measured at this size; NULL after the last. */
const bench_subject *bench_rival(const bench_run *run, const bench_subject *subject, size_t size, size_t number);

void bench_table(const bench_run *run, size_t size, FILE *out);
void bench_ratios(const bench_run *run, size_t size, FILE *out);
void bench_left_out(const bench_run *run, FILE *out);
int bench_json(const bench_run *run, const char *path);
int bench_plots(const bench_run *run, const char *folder);

#ifdef __cplusplus
}
#endif

#endif
