/* The list of subjects, their groups of equal error rates, and the rivals of each. */
#include "subjects.h"

#include <stdarg.h>
#include <string.h>

#define PAPERS_MOST UINT64_C(1000000)   /* URLs for the other kinds from the papers */
#define STRINGS_MOST UINT64_C(10000000) /* URLs for kinds that keep the URLs themselves */
#define ANY_MOST UINT64_C(1000000000)

static char reason[200];

void *bench_refuse(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(reason, sizeof reason, format, list);
    va_end(list);
    return NULL;
}

const char *bench_reason(void)
{
    return reason;
}

#ifndef BENCH_HAVE_CXX
const bench_class *bench_peer(bench_container container, bool batched)
{
    (void)container;
    (void)batched;
    return NULL;
}
#endif

const char *const bench_group_names[BENCH_GROUPS] = {"error rate 1e-2", "error rate 1e-4", "error rate 1e-6",
                                                     "practically none lost"};
static const double group_errors[BENCH_GROUPS] = {1e-2, 1e-4, 1e-6, 0};

static bench_subject *put(bench_run *run, const char *name, bench_group group, unsigned flags)
{
    bench_subject *subject = &run->subjects[run->subject_count++];
    memset(subject, 0, sizeof *subject);
    subject->name = name;
    subject->group = group;
    subject->error = group_errors[group];
    subject->flags = flags;
    subject->most = ANY_MOST;
    subject->note = "";
    return subject;
}

/* Lists one of vidi's kinds, measured on URLs only or also on ready hashes. */
static bench_subject *put_kind(bench_run *run, const char *name, const char *kind, bench_group group, unsigned flags,
                               bool ready)
{
    bench_subject *subject = put(run, name, group, flags);
    subject->kind = kind;
    subject->classes[BENCH_URLS] = &bench_sets;
    subject->classes[BENCH_HASHES] = ready ? &bench_ready : NULL;
    return subject;
}

static void put_paper(bench_run *run, const char *name, const char *kind)
{
    put_kind(run, name, kind, BENCH_1E2, BENCH_RESERVED, false)->most = PAPERS_MOST;
}

static void leave_out(bench_subject *subject, const char *why)
{
    for (size_t i = 0; i < BENCH_SIZES_MAX; i++)
        snprintf(subject->results[i].why, sizeof subject->results[i].why, "%s", why);
}

/* Lists a set of 64-bit hashes; its class is NULL if it was not built in. */
static void put_words(bench_run *run, const char *name, const bench_class *class, unsigned flags, const char *note)
{
    bench_subject *subject = put(run, name, BENCH_NONE, flags);
    subject->classes[BENCH_URLS] = subject->classes[BENCH_HASHES] = class;
    subject->note = note;
    if (!class)
        leave_out(subject, "not installed when this was built");
}

static void put_libbloom(bench_run *run, const char *name, bench_group group, unsigned flags)
{
    bench_subject *subject = put(run, name, group, flags | BENCH_RESERVED);
    subject->classes[BENCH_URLS] = bench_libbloom();
    if (!bench_libbloom())
        leave_out(subject, "not installed when this was built");
}

static void put_rocksdb(bench_run *run, const char *name, bench_group group, unsigned flags)
{
    bench_subject *subject = put(run, name, group, flags | BENCH_RESERVED);
    subject->classes[BENCH_URLS] = subject->classes[BENCH_HASHES] = bench_rocksdb();
    subject->note = "its algorithm, written by ourselves; 256 hashed first, prefetched 16 ahead, 2 MiB pages";
    if (!bench_rocksdb())
        leave_out(subject, "there was no xxhash.h when this was built");
}

static void put_guava(bench_run *run, const char *name, bench_group group)
{
    put(run, name, group, BENCH_RESERVED | BENCH_GUAVA)->note = "its own process, one round, at most 1.2e7 URLs";
}

static void list_filters(bench_run *run)
{
    const unsigned reserved = BENCH_RESERVED;
    put_libbloom(run, "libbloom 1e-2", BENCH_1E2, BENCH_MAIN);
    put_rocksdb(run, "RocksDB's Bloom 1e-2", BENCH_1E2, BENCH_MAIN);
    put_kind(run, "classic 1e-2", "classic", BENCH_1E2, reserved, true);
    put_kind(run, "blocked 1e-2", "blocked", BENCH_1E2, reserved | BENCH_MAIN, true);
    put_kind(run, "blocked 1e-2, singly", "blocked", BENCH_1E2, reserved, false)->classes[BENCH_URLS] = &bench_singles;
    put_paper(run, "counting 1e-2", "counting");
    put_paper(run, "multilayer 1e-2", "multilayer");
    put_paper(run, "eigen 1e-2", "eigen");
    put_paper(run, "spatial 1e-2", "spatial");
    put_kind(run, "scalable 1e-2, grown", "scalable", BENCH_1E2, BENCH_SLOW, false);
    put_guava(run, "Guava 1e-2", BENCH_1E2);

    put_libbloom(run, "libbloom 1e-4", BENCH_1E4, BENCH_MAIN);
    put_rocksdb(run, "RocksDB's Bloom 1e-4", BENCH_1E4, BENCH_MAIN);
    put_kind(run, "classic 1e-4", "classic", BENCH_1E4, reserved | BENCH_SLOW, true);
    put_kind(run, "blocked 1e-4", "blocked", BENCH_1E4, reserved | BENCH_MAIN, true);
    put_guava(run, "Guava 1e-4", BENCH_1E4);

    put_libbloom(run, "libbloom 1e-6", BENCH_1E6, BENCH_SLOW);
    put_rocksdb(run, "RocksDB's Bloom 1e-6", BENCH_1E6, 0);
    put_kind(run, "classic 1e-6", "classic", BENCH_1E6, reserved | BENCH_SLOW, true);
    put_kind(run, "blocked 1e-6", "blocked", BENCH_1E6, reserved, true);
    put_kind(run, "fingerprint 1e-6", "fingerprint", BENCH_1E6, reserved, true);
}

static void list_sets(bench_run *run)
{
    const unsigned reserved = BENCH_RESERVED;
    const char *ahead = "256 hashed first, prefetched 16 ahead", *row = "256 hashed first; it has no prefetch";
    put_kind(run, "fingerprint", "fingerprint", BENCH_NONE, reserved | BENCH_MAIN, true);
    put_kind(run, "fingerprint, grown", "fingerprint", BENCH_NONE, BENCH_MAIN, true);
    put_kind(run, "fingerprint, growth=1.5", "fingerprint", BENCH_NONE, BENCH_MAIN, true)->params = "growth=1.5";
    put_kind(run, "fingerprint, populated", "fingerprint", BENCH_NONE, BENCH_MAIN | BENCH_POPULATED, true)->note =
        "grown, into memory that was touched before";
    put_kind(run, "growth=1.5, populated", "fingerprint", BENCH_NONE, BENCH_MAIN | BENCH_POPULATED, true)->params =
        "growth=1.5";
    put_kind(run, "fingerprint, singly", "fingerprint", BENCH_NONE, reserved | BENCH_MAIN, false)->classes[BENCH_URLS] =
        &bench_singles;
    put_kind(run, "hashset, grown", "hashset", BENCH_NONE, BENCH_SLOW, false)->most = STRINGS_MOST;
    put_words(run, "absl", bench_peer(BENCH_ABSL, false), reserved | BENCH_MAIN, "");
    put_words(run, "absl batched", bench_peer(BENCH_ABSL, true), reserved | BENCH_MAIN, ahead);
    put_words(run, "absl batched, 2 MiB pages", bench_peer(BENCH_ABSL_HUGE, true), reserved | BENCH_MAIN, ahead);
    put_words(run, "absl, grown", bench_peer(BENCH_ABSL, false), BENCH_SLOW, "");
    put_words(run, "absl batched, grown", bench_peer(BENCH_ABSL, true), BENCH_MAIN, ahead);
    put_words(run, "absl batched, populated", bench_peer(BENCH_ABSL, true), BENCH_MAIN | BENCH_POPULATED, ahead);
    put_words(run, "robin-map", bench_peer(BENCH_ROBIN, false), reserved | BENCH_SLOW, "");
    put_words(run, "robin-map batched", bench_peer(BENCH_ROBIN, true), reserved | BENCH_SLOW, row);
    put_words(run, "khash", bench_khash(false), reserved | BENCH_SLOW, "");
    put_words(run, "khash batched", bench_khash(true), reserved | BENCH_SLOW, ahead);
    put_words(run, "unordered_set", bench_peer(BENCH_UNORDERED, false), reserved | BENCH_SLOW,
              "nodes are allocated as they come");
    put_words(run, "unordered_set batched", bench_peer(BENCH_UNORDERED, true), reserved | BENCH_SLOW, row);
}

static bool is_taken(const bench_run *run, const bench_subject *subject)
{
    if (run->only && !strstr(subject->name, run->only))
        return false;
    return !run->quick || subject->flags & BENCH_MAIN;
}

void bench_list(bench_run *run)
{
    run->subject_count = 0;
    list_filters(run);
    list_sets(run);
    size_t kept = 0;
    for (size_t i = 0; i < run->subject_count; i++)
        if (is_taken(run, &run->subjects[i]))
            run->subjects[kept++] = run->subjects[i];
    run->subject_count = kept;
}

const bench_subject *bench_find(const bench_run *run, const char *name)
{
    for (size_t i = 0; i < run->subject_count; i++)
        if (strcmp(run->subjects[i].name, name) == 0)
            return &run->subjects[i];
    return NULL;
}

/*
 * Filters are compared with libbloom and RocksDB's at the same error rate. Kinds that lose practically nothing are
 * compared with absl's set, reserved or grown alike, and with libbloom at 1e-4.
 */
static const char *rival_name(const bench_subject *subject, size_t number)
{
    static const char *const bloom[][BENCH_GROUPS] = {
        {"libbloom 1e-2", "libbloom 1e-4", "libbloom 1e-6", NULL},
        {"RocksDB's Bloom 1e-2", "RocksDB's Bloom 1e-4", "RocksDB's Bloom 1e-6", NULL}};
    static const char *const reserved[] = {"absl batched", "absl batched, 2 MiB pages", "absl", "libbloom 1e-4"};
    static const char *const grown[] = {"absl batched, grown", "absl, grown", "libbloom 1e-4"};
    static const char *const populated[] = {"absl batched, populated", "fingerprint"};
    static const char *const singly[] = {"absl", "libbloom 1e-4"};
    if (subject->group != BENCH_NONE)
        return number < sizeof bloom / sizeof bloom[0] ? bloom[number][subject->group] : NULL;
    if (!subject->kind)
        return number == 0 ? "libbloom 1e-4" : NULL;
    if (subject->classes[BENCH_URLS] == &bench_singles)
        return number < sizeof singly / sizeof singly[0] ? singly[number] : NULL;
    if (subject->flags & BENCH_POPULATED)
        return number < sizeof populated / sizeof populated[0] ? populated[number] : NULL;
    if (subject->flags & BENCH_RESERVED)
        return number < sizeof reserved / sizeof reserved[0] ? reserved[number] : NULL;
    return number < sizeof grown / sizeof grown[0] ? grown[number] : NULL;
}

const bench_subject *bench_rival(const bench_run *run, const bench_subject *subject, size_t size, size_t number)
{
    const char *name;
    for (size_t i = 0; (name = rival_name(subject, i)); i++) {
        const bench_subject *rival = bench_find(run, name);
        if (rival && rival != subject && rival->results[size].series[BENCH_URLS][BENCH_ADD].rounds && number-- == 0)
            return rival;
    }
    return NULL;
}
