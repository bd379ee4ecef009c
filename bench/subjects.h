/*
 * What the files of the benchmark share: a subject is something that can be made, filled and asked, by URLs or by ready
 * hashes, always through the same few functions, so that vidi's kinds, the peers and the machine's limit pass through
 * the same clockwork.
 *
 *     urls.c      URLs from numbers              rounds.c   passes, rounds, what takes its turn when
 *     pages.c     memory that is populated       threads.c   one and two threads on one set
 *     vidi_sets.c      vidi through its header        text_tables.c    the table
 *     ready.c     vidi's filters on hashes       json.c      build/bench.json
 *     limit.c     what the memory can do         svg_plots.c      the plots
 *     canonicalization.c     canonical forms of URLs        url.mjs     … by Node
 *     store.c     sets that live in a folder
 *     libbloom.c, khash.c, peers.cpp, guava.c, Guava.java    the peers
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

#define BENCH_BATCH 4096  /* URLs that vidi is given at a time */
#define BENCH_CHUNK 32768 /* URLs that are made at a time, outside of the clock: they come from the L3 cache */
#define BENCH_AHEAD 32    /* prefetches in flight when the limit is measured */
/* What suits the peers best in batches: so many URLs hashed before the table is touched, prefetches in flight. */
#define BENCH_PEER_GROUP 256
#define BENCH_PEER_AHEAD 16
#define BENCH_ROUNDS_MAX 16
#define BENCH_SIZES_MAX 8
#define BENCH_SUBJECTS_MAX 64
#define BENCH_LINE 64

typedef struct bench_hash {
    uint64_t lo, hi;
} bench_hash;

/* A piece of work: URLs, or, if there are none, hashes that are ready: of 128 bits, and their low 64 alone. */
typedef struct bench_work {
    const vidi_str *urls;
    const bench_hash *hashes;
    const uint64_t *words;
    size_t count;
} bench_work;

/* How a subject is made for one round. */
typedef struct bench_recipe {
    const char *kind, *params; /* vidi's */
    double error;
    uint64_t capacity; /* reserved and populated ahead for so many; 0: grows from empty */
    uint64_t seed;
    size_t bytes; /* the limit's working set */
} bench_recipe;

typedef struct bench_weight {
    size_t bytes;         /* all its memory */
    double expected_lost; /* negative: it does not say */
} bench_weight;

typedef struct bench_class {
    void *(*make)(const bench_recipe *recipe); /* NULL: refused, and bench_refuse has been told why */
    void (*close)(void *self);
    /* Both tell how many of the work were there before, or negative if it failed and bench_refuse was told. */
    int64_t (*add)(void *self, const bench_work *work);
    int64_t (*has)(void *self, const bench_work *work);
    bench_weight (*weigh)(void *self);
} bench_class;

/* Keeps the reason why a subject cannot take part; returns NULL. */
void *bench_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *bench_reason(void);

/* NULL where it was not built in. */
extern const bench_class bench_sets, bench_ready, bench_limit;
const bench_class *bench_libbloom(void);
const bench_class *bench_khash(bool batched);
typedef enum bench_container { BENCH_ABSL, BENCH_ABSL_HUGE, BENCH_ROBIN, BENCH_UNORDERED } bench_container;
const bench_class *bench_peer(bench_container container, bool batched);

/* ---- memory: pages.c ---- */

/* For large blocks of reserved subjects: mapped, in 2 MiB pages if asked for and the machine has them, and touched. */
void *bench_map(size_t bytes, bool huge, bool populate);
void bench_unmap(void *ptr, size_t bytes);
/* Writes to every page. */
void bench_touch(void *ptr, size_t bytes);
/* vidi's allocator hook on top of that. */
extern const vidi_allocator bench_allocator;

/* ---- measuring ---- */

enum { BENCH_ADD, BENCH_PRESENT, BENCH_ABSENT, BENCH_JOBS };
enum { BENCH_URLS, BENCH_HASHES, BENCH_FORMS };

/* URLs that are answered "seen" with about the same probability stand side by side. */
typedef enum bench_group { BENCH_1E2, BENCH_1E4, BENCH_1E6, BENCH_NONE, BENCH_GROUPS } bench_group;

enum {
    BENCH_MAIN = 1,     /* part of `make bench-quick` */
    BENCH_SLOW = 2,     /* in the first round only, from 5e6 URLs on */
    BENCH_RESERVED = 4, /* made for as many as come */
    BENCH_GUAVA = 8,    /* in a process of its own */
    BENCH_THREADS = 16  /* also with one and two threads */
};

/* One figure over the rounds; 0 rounds: not measured. */
typedef struct bench_series {
    double ns[BENCH_ROUNDS_MAX];
    double cpu_ns; /* of the best round: processor time of the whole process */
    int rounds;
} bench_series;

double bench_best(const bench_series *series);
double bench_worst(const bench_series *series);
double bench_median(const bench_series *series);
void bench_record(bench_series *series, double ns, double cpu_ns);

/* What a subject came to at one size; counts are sums over the rounds. */
typedef struct bench_result {
    bench_series series[BENCH_FORMS][BENCH_JOBS];
    bench_series limit[2]; /* of the machine at its working set: read-modify-write, and read */
    bench_series create;   /* ns a URL to make it, memory populated */
    bench_series threads[2];
    uint64_t n;           /* URLs that were added */
    uint64_t asks;        /* absent ones that were asked for */
    uint64_t false_seen;  /* of these */
    uint64_t lost;        /* distinct ones that were answered "seen" when added */
    double expected_lost; /* negative: it does not say */
    int fills;
    size_t bytes;
    size_t limit_bytes; /* working set of the limit: the same, as far as there is room */
    char why[200];      /* it was left out */
} bench_result;

typedef struct bench_subject {
    const char *name;
    bench_group group;
    const bench_class *classes[BENCH_FORMS]; /* NULL: not in that form */
    const char *kind;
    double error;
    unsigned flags;
    uint64_t most; /* URLs that it is asked to take at most */
    const char *note;
    bench_result results[BENCH_SIZES_MAX];
} bench_subject;

/* The machine by itself, at one size. */
typedef struct bench_machine {
    bench_series stream, touch_small, touch_huge; /* ns a line of 64 bytes */
    size_t stream_bytes;
} bench_machine;

/* What one method needs to make URLs of one sort canonical. */
enum { BENCH_CANON_SORTS = 2, BENCH_CANON_METHODS = 6, BENCH_CANON_OWN = 2 }; /* the first ones are vidi's */
typedef struct bench_canon {
    const char *name, *subject, *note; /* NULL: was not measured */
    bench_series series;
    uint64_t n;
    double bytes;  /* of a URL */
    char why[200]; /* it was left out */
} bench_canon;

/* One way of adding to a set in a folder, or one thing done with a whole one. */
enum { BENCH_STORE_ROWS = 40 };
typedef struct bench_store {
    char name[48];
    const char *subject, *peer, *note; /* peer: whom of the same name it is compared with; NULL: nobody */
    bench_series series;               /* ns a URL when adding, else ns in all */
    uint64_t n;
    double bytes;  /* of a URL when adding, else of the set's files */
    char why[200]; /* it was left out */
} bench_store;

typedef struct bench_run {
    uint64_t sizes[BENCH_SIZES_MAX];
    size_t size_count;
    bench_subject subjects[BENCH_SUBJECTS_MAX];
    size_t subject_count;
    bench_machine machine[BENCH_SIZES_MAX];
    int rounds_done[BENCH_SIZES_MAX];
    int rounds;     /* asked for; 0: as many as fit */
    double seconds; /* for each size; 0: by default */
    bool quick;
    const char *only;   /* part of the names to take; NULL: all */
    const char *guava;  /* Guava.java; NULL: without */
    const char *node;   /* url.mjs; NULL: without */
    const char *folder; /* where sets in folders are made; NULL: where this was built */
    double url_bytes;   /* on average */
    bench_canon canon[BENCH_CANON_SORTS][BENCH_CANON_METHODS];
    bench_store store[BENCH_STORE_ROWS];
    size_t store_count;
} bench_run;

double bench_now(void);     /* ns */
double bench_cpu_now(void); /* ns of the process, all threads */

/* subjects.c: the list. */
void bench_list(bench_run *run);
const bench_subject *bench_find(const bench_run *run, const char *name);

/* rounds.c: all rounds of one size. 0, or -1 after saying what is wrong. */
int bench_measure(bench_run *run, size_t size);
/* How many are asked for, present and absent, in a round. */
uint64_t bench_asks(uint64_t n);

/* threads.c: aggregated ns a URL of `threads` threads that fill one set; negative: bench_reason(). */
double bench_threads(const bench_recipe *recipe, uint64_t n, unsigned threads);

/* limit.c */
int bench_limit_open(size_t bytes); /* the largest working set; what is beyond is measured at that */
void bench_limit_close(void);
void bench_machine_measure(bench_machine *machine);

/* guava.c: one round of the Java peer; false: bench_reason(). */
bool bench_guava(const char *source, double error, uint64_t n, uint64_t seed, bench_result *result);

/* canonicalization.c */
void bench_canon_measure(bench_run *run);
void bench_canon_table(const bench_run *run, FILE *out);

/* store.c: the set that is opened holds as many URLs as the largest size. */
void bench_store_measure(bench_run *run);
void bench_store_table(const bench_run *run, FILE *out);
/* The row of this name and subject, or NULL. */
const bench_store *bench_store_find(const bench_run *run, const char *name, const char *subject);

/* ---- reporting ---- */

/* The 95 % interval (Wilson) of a share. */
typedef struct bench_interval {
    double low, high;
} bench_interval;
bench_interval bench_wilson(uint64_t hits, uint64_t of);

extern const char *const bench_group_names[BENCH_GROUPS];
extern const char *const bench_job_names[BENCH_FORMS][BENCH_JOBS];

/* Whom a subject is compared with, number 0, 1, …; NULL after the last. Only who was measured at that size. */
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
