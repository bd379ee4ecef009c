/*
 * Threads on one set in a folder: whatever they do beside each other, exactly one is told NEW, what was committed is
 * there afterwards, and who opens the folder for reading meanwhile finds all that was on disk before.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "durable/durable_cases.h"
#include "support/access.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
}

/* ---- everything at once ---- */

enum { ADDERS = 3, OTHERS = 4, URLS = 3000 };

typedef struct crowd {
    home at;
    atomic_uchar fresh[URLS]; /* how often each URL was NEW */
    atomic_bool over;
    atomic_int failed;
    atomic_uint rounds; /* of the others */
    bool rotates;
    bool removes;
} crowd;

typedef struct member {
    crowd *all;
    uint64_t number;
} member;

static void note_failure(crowd *all, int code)
{
    int none = 0;
    if (atomic_compare_exchange_strong(&all->failed, &none, code))
        print_message("# %d: %s\n", code, vidi_message());
}

static void *add_in_own_order(void *context)
{
    const member *self = context;
    crowd *all = self->all;
    test_random random = {self->number};
    static const size_t sizes[] = {1, 40, 200};
    char(*arena)[TEST_URL_ROOM] = malloc(200 * sizeof *arena);
    size_t step = 2 * test_below(&random, URLS / 2) + 1, at = test_below(&random, URLS);
    while (step % 3 == 0 || step % 5 == 0) /* URLS = 2^3 * 3 * 5^3 */
        step += 2;
    for (size_t done = 0; arena && done < URLS && !atomic_load(&all->failed);) {
        vidi_str urls[200];
        size_t index[200], size = sizes[(self->number + done) % 3], n = URLS - done < size ? URLS - done : size;
        uint8_t verdicts[200];
        for (size_t i = 0; i < n; i++) {
            index[i] = (at + (done + i) * step) % URLS;
            urls[i] = nth(arena[i], index[i]);
        }
        int code = vidi_add_batch(all->at.set, urls, n, verdicts, NULL);
        if (code < 0)
            note_failure(all, code);
        for (size_t i = 0; i < n; i++) {
            if (verdicts[i] == VIDI_NEW)
                atomic_fetch_add(&all->fresh[index[i]], 1);
        }
        if (test_below(&random, 8) == 0 && vidi_commit(all->at.set) < 0)
            note_failure(all, -100);
        done += n;
    }
    free(arena);
    return NULL;
}

static int do_one(crowd *all, uint64_t what, test_random *random)
{
    vidi_stats stats = {.size = sizeof stats};
    switch (what) {
    case 0:
        return vidi_snapshot(all->at.set);
    case 1:
        return test_below(random, 2) ? vidi_sync(all->at.set) : vidi_commit(all->at.set);
    case 2:
        return vidi_stat(all->at.set, &stats);
    default:
        break;
    }
    int verdict = has_nth(all->at.set, test_below(random, URLS));
    return verdict < 0 ? verdict : all->rotates ? vidi_rotate(all->at.set, NULL) : VIDI_OK;
}

static void *do_something_else(void *context)
{
    const member *self = context;
    test_random random = {1000 + self->number};
    while (!atomic_load(&self->all->over)) {
        int code = do_one(self->all, self->number, &random);
        if (code < 0) {
            note_failure(self->all, code);
            break;
        }
        atomic_fetch_add(&self->all->rounds, 1);
        nap();
    }
    return NULL;
}

static void run_crowd(crowd *all)
{
    pthread_t adders[ADDERS], others[OTHERS];
    member members[ADDERS + OTHERS];
    for (size_t i = 0; i < ADDERS + OTHERS; i++)
        members[i] = (member){all, i < ADDERS ? i : i - ADDERS};
    for (size_t i = 0; i < OTHERS; i++)
        assert_int_equal(pthread_create(&others[i], NULL, do_something_else, &members[ADDERS + i]), 0);
    for (size_t i = 0; i < ADDERS; i++)
        assert_int_equal(pthread_create(&adders[i], NULL, add_in_own_order, &members[i]), 0);
    for (size_t i = 0; i < ADDERS; i++)
        assert_int_equal(pthread_join(adders[i], NULL), 0);
    atomic_store(&all->over, true);
    for (size_t i = 0; i < OTHERS; i++)
        assert_int_equal(pthread_join(others[i], NULL), 0);
    assert_int_equal(atomic_load(&all->failed), 0);
}

typedef struct crowd_case {
    const char *kind, *params;
    unsigned flags;
    bool rotates;
} crowd_case;

static void begin_crowd(crowd *all, const crowd_case *which)
{
    memset(all, 0, sizeof *all);
    all->rotates = which->rotates;
    home_make(&all->at, which->kind, which->params, which->flags);
}

static void exactly_one_is_told_new_and_all_is_kept(void **state)
{
    const crowd_case *which = *state;
    static crowd all;
    begin_crowd(&all, which);
    run_crowd(&all);
    for (size_t i = 0; i < URLS; i++)
        check(atomic_load(&all.fresh[i]) == 1, "URL %zu was NEW %u times", i, atomic_load(&all.fresh[i]));
    all_are(all.at.set, 0, URLS, VIDI_SEEN);
    must(vidi_commit(all.at.set));
    must(vidi_sync(all.at.set));
    vidi_stats before = test_stat(all.at.set);
    assert_int_equal(before.count, URLS);
    assert_int_equal(before.answered_new, URLS);
    vidi_set *copy = home_crashed(&all.at, VIDI_READ_ONLY);
    all_are(copy, 0, URLS, VIDI_SEEN);
    vidi_close(copy);
    home_reopen(&all.at, which->flags);
    all_are(all.at.set, 0, URLS, VIDI_SEEN);
    vidi_stats after = test_stat(all.at.set);
    assert_int_equal(after.count, URLS);
    check(after.answered_new == URLS, "%llu NEW survive of %d", (unsigned long long)after.answered_new, URLS);
    home_end(&all.at);
}

/* In each epoch one is told NEW; the records of the epochs say how many that were in all. */
static void one_is_told_new_in_each_epoch(void **state)
{
    const crowd_case *which = *state;
    static crowd all;
    begin_crowd(&all, which);
    run_crowd(&all);
    uint64_t told = 0, counted = 0;
    vidi_stats stats = test_stat(all.at.set);
    counted = stats.answered_new;
    for (uint64_t i = 0; i < stats.past_epochs; i++) {
        vidi_epoch_stats past = {.size = sizeof past};
        must(vidi_epoch_stat(all.at.set, i, &past));
        counted += past.answered_new;
    }
    for (size_t i = 0; i < URLS; i++) {
        told += atomic_load(&all.fresh[i]);
        check(atomic_load(&all.fresh[i]) >= 1 && atomic_load(&all.fresh[i]) <= ADDERS, "URL %zu was NEW %u times", i,
              atomic_load(&all.fresh[i]));
    }
    check(told == counted, "NEW was said %llu times and counted %llu times", (unsigned long long)told,
          (unsigned long long)counted);
    must(vidi_commit(all.at.set));
    stats = test_stat(all.at.set);
    static uint8_t there[URLS];
    for (uint64_t i = 0; i < URLS; i++)
        there[i] = (uint8_t)has_nth(all.at.set, i);
    home_reopen(&all.at, which->flags);
    assert_int_equal(test_stat(all.at.set).epoch, stats.epoch);
    for (uint64_t i = 0; i < URLS; i++)
        assert_int_equal(has_nth(all.at.set, i), there[i]);
    home_end(&all.at);
}

static const crowd_case crowds[] = {
    {"fingerprint", "bits=60", VIDI_MANUAL_COMMIT, false},
    {"fingerprint", "bits=60", 0, false},
    {"fingerprint", "bits=60", TEST_SYNC_ALWAYS, false},
    {"fingerprint", "bits=60", TEST_SYNC_ALWAYS | VIDI_MANUAL_COMMIT, false},
    {"blocked", NULL, 0, false},
    {"blocked", NULL, VIDI_MANUAL_COMMIT, false},
    {"blocked", NULL, TEST_SYNC_ALWAYS, false},
    {"hashset", NULL, 0, false},
    {"hashset", NULL, VIDI_MANUAL_COMMIT | TEST_SYNC_NEVER, false},
    {"hashset", NULL, TEST_SYNC_ALWAYS, false},
    {"classic", NULL, 0, false},
    {"fingerprint", "bits=60", 0, true},
    {"fingerprint", "bits=60", TEST_SYNC_ALWAYS, true},
    {"fingerprint", "bits=60", VIDI_MANUAL_COMMIT | TEST_SYNC_ALWAYS | TEST_KEEP_PREVIOUS, true},
    {"blocked", NULL, TEST_KEEP_PREVIOUS, true},
    {"hashset", NULL, VIDI_MANUAL_COMMIT, true},
    {"hashset", NULL, TEST_SYNC_ALWAYS | TEST_KEEP_PREVIOUS, true},
};

/* ---- readers beside a writer ---- */

enum { READERS = 3, STEP = 50 };

/* The writer adds URLs in order; epoch e has those from e * 1000 on. Published as epoch << 32 | URLs. */
typedef struct library {
    home at;
    unsigned flags;
    atomic_uint_fast64_t kept;    /* on disk */
    atomic_uint_fast64_t offered; /* a commit of so many has begun */
    atomic_bool over;
    atomic_int failed;
    atomic_uint openings;
} library;

static uint64_t url_of(uint64_t epoch, uint64_t i)
{
    return 100000 * epoch + i;
}

static void *read_over_and_over(void *context)
{
    library *all = context;
    for (uint64_t round = 0; !atomic_load(&all->over); round++) {
        vidi_set *set = NULL;
        uint64_t kept = atomic_load(&all->kept);
        int code = test_open(&set, all->at.path, VIDI_READ_ONLY | (round % 3 == 2 ? VIDI_NO_MAP : 0));
        uint64_t offered = atomic_load(&all->offered);
        if (code < 0) {
            int none = 0;
            if (atomic_compare_exchange_strong(&all->failed, &none, code))
                print_message("# a reader: %d, %s\n", code, vidi_message());
            break;
        }
        vidi_stats stats = {.size = sizeof stats};
        vidi_stat(set, &stats);
        uint64_t epoch = stats.epoch, sure = kept >> 32 == epoch ? kept & UINT32_MAX : 0;
        uint64_t most = offered >> 32 == epoch ? offered & UINT32_MAX : UINT32_MAX, seen = 0;
        int wrong = epoch < kept >> 32 ? 1 : 0;
        for (uint64_t i = 0; i < 2000 && !wrong; i++) {
            bool there = has_nth(set, url_of(epoch, i)) == VIDI_SEEN;
            if (there && seen < i)
                wrong = 4; /* one is missing in between */
            seen += there;
            wrong = i < sure && !there ? 2 : i >= most && there ? 3 : wrong;
        }
        if (!wrong && stats.count != seen)
            wrong = 5;
        vidi_close(set);
        if (wrong) {
            atomic_store(&all->failed, wrong);
            print_message("# reader: %d in epoch %llu, kept %llx, offered %llx, seen %llu, count %llu\n", wrong,
                          (unsigned long long)epoch, (unsigned long long)kept, (unsigned long long)offered,
                          (unsigned long long)seen, (unsigned long long)stats.count);
            break;
        }
        atomic_fetch_add(&all->openings, 1);
    }
    return NULL;
}

static void write_on(library *all, uint64_t steps)
{
    test_random random = {3};
    uint64_t epoch = 0, n = 0;
    for (uint64_t i = 0; i < steps && !atomic_load(&all->failed); i++) {
        if (!(all->flags & VIDI_MANUAL_COMMIT)) /* may be on disk from the first add on */
            atomic_store(&all->offered, epoch << 32 | (n + STEP));
        add_all(all->at.set, url_of(epoch, n), STEP, VIDI_NEW);
        n += STEP;
        atomic_store(&all->offered, epoch << 32 | n);
        must(vidi_commit(all->at.set));
        if (test_below(&random, 3) == 0)
            must(vidi_snapshot(all->at.set));
        else
            must(vidi_sync(all->at.set));
        atomic_store(&all->kept, epoch << 32 | n);
        if (n >= 2000 - STEP || test_below(&random, 12) == 0) {
            must(vidi_rotate(all->at.set, NULL));
            epoch++;
            n = 0;
            atomic_store(&all->offered, epoch << 32);
            atomic_store(&all->kept, epoch << 32);
            if (test_below(&random, 3) == 0)
                must(vidi_drop_previous(all->at.set));
        }
    }
}

static void readers_find_all_that_was_on_disk(void **state)
{
    const crowd_case *which = *state;
    static library all;
    pthread_t readers[READERS];
    memset(&all, 0, sizeof all);
    all.flags = which->flags;
    home_make(&all.at, which->kind, which->params, which->flags);
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_over_and_over, &all), 0);
    write_on(&all, test_long() ? 3000 : test_sanitized() ? 100 : 300);
    while (atomic_load(&all.openings) < READERS && !atomic_load(&all.failed))
        nap(); /* so that it was not all over before they came to it */
    atomic_store(&all.over, true);
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_join(readers[i], NULL), 0);
    assert_int_equal(atomic_load(&all.failed), 0);
    home_end(&all.at);
}

static const crowd_case libraries[] = {
    {"fingerprint", "bits=60", VIDI_MANUAL_COMMIT, false},
    {"fingerprint", "bits=60", TEST_KEEP_PREVIOUS, false},
    {"hashset", NULL, VIDI_MANUAL_COMMIT | TEST_KEEP_PREVIOUS, false},
    {"blocked", NULL, VIDI_MANUAL_COMMIT | TEST_KEEP_PREVIOUS | TEST_SYNC_NEVER, false},
};

/* ---- merges beside snapshots ---- */

typedef struct merging {
    home a, b;
    atomic_bool over;
    atomic_int failed;
} merging;

static void *merge_to_and_fro(void *context)
{
    merging *all = context;
    for (int i = 0; i < 20 && !atomic_load(&all->failed); i++) {
        int code = i % 2 ? vidi_merge(all->a.set, all->b.set, 0) : vidi_merge(all->b.set, all->a.set, 0);
        if (code < 0)
            atomic_store(&all->failed, code);
    }
    return NULL;
}

static void *snapshot_both(void *context)
{
    merging *all = context;
    while (!atomic_load(&all->over) && !atomic_load(&all->failed)) {
        if (vidi_snapshot(all->a.set) < 0 || vidi_snapshot(all->b.set) < 0)
            atomic_store(&all->failed, 1);
        nap();
    }
    return NULL;
}

static void merges_and_snapshots_end_and_are_kept(void **state)
{
    static merging all;
    pthread_t threads[3];
    vidi_options options = VIDI_OPTIONS_INIT;
    (void)state;
    memset(&all, 0, sizeof all);
    home_make(&all.a, "fingerprint", "bits=60", 0);
    options.like = all.a.set;
    home_begin(&all.b);
    home_create(&all.b, &options, VIDI_MANUAL_COMMIT);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i < 2 ? merge_to_and_fro : snapshot_both, &all), 0);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_true(add_nth(all.a.set, i) > 0);
        assert_true(add_nth(all.b.set, 1000 + i) > 0);
        if (i % 50 == 0)
            must(vidi_commit(all.b.set));
    }
    assert_int_equal(pthread_join(threads[0], NULL), 0);
    assert_int_equal(pthread_join(threads[1], NULL), 0);
    atomic_store(&all.over, true);
    assert_int_equal(pthread_join(threads[2], NULL), 0);
    assert_int_equal(atomic_load(&all.failed), 0);
    must(vidi_commit(all.b.set));
    must(vidi_merge(all.a.set, all.b.set, 0));
    home_reopen(&all.a, 0);
    all_are(all.a.set, 0, 2000, VIDI_SEEN);
    assert_int_equal(test_stat(all.a.set).count, 2000);
    home_end(&all.b);
    home_end(&all.a);
}

/* ---- snapshots that come by themselves ---- */

enum { LONG_URL = 2000, LONG_URLS = 12000 };

static vidi_str long_url(char *room, uint64_t index)
{
    int head = snprintf(room, LONG_URL, "http://example.com/%llu/", (unsigned long long)index);
    memset(room + head, 'a' + (int)(index % 26), (size_t)(LONG_URL - head));
    return (vidi_str){room, LONG_URL};
}

typedef struct long_adder {
    vidi_set *set;
    uint64_t first;
    int failed;
} long_adder;

static void *add_long_urls(void *context)
{
    long_adder *self = context;
    char room[LONG_URL];
    for (uint64_t i = self->first; i < self->first + LONG_URLS && !self->failed; i++) {
        int verdict = vidi_add(self->set, long_url(room, i));
        self->failed = verdict == VIDI_NEW ? 0 : verdict ? verdict : 1;
        if (i % 100 == 99 && vidi_commit(self->set) < 0)
            self->failed = -100;
    }
    return NULL;
}

/* When the log has come to 32 MiB, beside the adds. */
static void snapshots_come_by_themselves(void **state)
{
    const unsigned *which = *state;
    unsigned flags = *which;
    char room[LONG_URL];
    pthread_t threads[2];
    long_adder adders[2];
    home at;
    home_make(&at, "hashset", NULL, flags);
    for (size_t i = 0; i < 2; i++) {
        adders[i] = (long_adder){at.set, i * LONG_URLS, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, add_long_urls, &adders[i]), 0);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(adders[i].failed, 0);
    }
    must(vidi_commit(at.set));
    while (test_stat(at.set).snapshots < 2)
        nap();
    home_reopen(&at, flags);
    vidi_stats stats = test_stat(at.set);
    assert_int_equal(stats.count, 2 * LONG_URLS);
    assert_int_equal(stats.answered_new, 2 * LONG_URLS);
    for (uint64_t i = 0; i < 2 * LONG_URLS; i++)
        assert_int_equal(vidi_has(at.set, long_url(room, i)), VIDI_SEEN);
    home_end(&at);
}

static const unsigned own_accord[] = {0, VIDI_MANUAL_COMMIT};

int main(int argc, char **argv)
{
    char name[200];
    for (size_t i = 0; i < sizeof crowds / sizeof *crowds; i++) {
        const crowd_case *which = &crowds[i];
        snprintf(name, sizeof name, "%s: %s, flags %u",
                 which->rotates ? "one is told NEW in each epoch" : "exactly one is told NEW, and all is kept",
                 which->kind, which->flags);
        test_add(name, which->rotates ? one_is_told_new_in_each_epoch : exactly_one_is_told_new_and_all_is_kept, which);
    }
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        snprintf(name, sizeof name, "readers find all that was on disk: %s, flags %u", libraries[i].kind,
                 libraries[i].flags);
        test_add(name, readers_find_all_that_was_on_disk, &libraries[i]);
    }
    test_add("snapshots come by themselves", snapshots_come_by_themselves, &own_accord[0]);
    test_add("snapshots come by themselves, with commits", snapshots_come_by_themselves, &own_accord[1]);
    test_add("merges and snapshots end, and are kept", merges_and_snapshots_end_and_are_kept, NULL);
    return test_run("threads_durable", argc, argv);
}
