/*
 * Four threads that add to one filter of the kind blocked, in batches of all sizes, while it grows from layer to layer:
 * of all that add a URL exactly one is told NEW, nobody who asks afterwards is told NEW, and no mark is counted twice.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

#include "filters/blocked/blocked_cases.h"
#include "support/env.h"

enum { ADDERS = 4, ASKERS = 2 };

/* cmocka's checks work in the main thread only, so the others count what is wrong. */
typedef struct shared {
    table of;
    uint64_t n;
    atomic_uchar *fresh; /* how often URL i was NEW */
    atomic_uchar *added; /* its add has returned */
    atomic_uint_fast64_t wrong, adds;
    atomic_bool done;
} shared;

typedef struct worker {
    shared *of;
    unsigned number;
    pthread_t thread;
    vidi__tally tally;
} worker;

/* In one batch, or one by one. */
static void add_hashes(worker *me, const vidi__u128 *hashes, size_t n, uint8_t *verdicts)
{
    vidi__filter *filter = me->of->of.filter;
    if (n > 30) {
        if (filter->kind->add_hashes(filter, hashes, n, verdicts, &me->tally) != VIDI_OK)
            atomic_fetch_add(&me->of->wrong, 1);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        double p = filter->kind->fp_now(filter);
        verdicts[i] = (uint8_t)add_one(&me->of->of, hashes[i]);
        me->tally.fresh += verdicts[i] == VIDI_NEW;
        me->tally.seen += verdicts[i] == VIDI_SEEN;
        me->tally.lost += verdicts[i] == VIDI_NEW ? vidi__filter_lost(p) : 0;
    }
}

/* Each adds all URLs, from a place of its own on, and some of them again. */
static void *add_all(void *context)
{
    worker *me = context;
    shared *of = me->of;
    test_random random = {me->number};
    vidi__u128 hashes[VIDI__HASHES_MAX];
    uint64_t which[VIDI__HASHES_MAX], start = of->n / 16 * me->number;
    uint8_t verdicts[VIDI__HASHES_MAX];
    table_enter(&of->of);
    for (uint64_t at = 0; at < of->n;) {
        size_t n = 1 + (size_t)test_below(&random, test_below(&random, 3) ? VIDI__HASHES_MAX : 50);
        for (size_t i = 0; i < n; i++) {
            which[i] = (start + (test_below(&random, 4) ? at++ : test_below(&random, at + 1))) % of->n;
            hashes[i] = hash_at(31, which[i]);
        }
        add_hashes(me, hashes, n, verdicts);
        for (size_t i = 0; i < n; i++) {
            if (verdicts[i] == VIDI_NEW)
                atomic_fetch_add(&of->fresh[which[i]], 1);
            else if (verdicts[i] != VIDI_SEEN)
                atomic_fetch_add(&of->wrong, 1);
            atomic_store(&of->added[which[i]], 1);
        }
        atomic_fetch_add(&of->adds, n);
    }
    return NULL;
}

static void *ask_on(void *context)
{
    worker *me = context;
    shared *of = me->of;
    test_random random = {me->number};
    vidi__u128 hashes[64];
    bool added[64];
    uint8_t verdicts[64];
    table_enter(&of->of);
    while (!atomic_load(&of->done)) {
        for (size_t i = 0; i < 64; i++) {
            uint64_t which = test_below(&random, of->n);
            hashes[i] = hash_at(31, which);
            added[i] = atomic_load(&of->added[which]);
        }
        of->of.filter->kind->has_hashes(of->of.filter, hashes, 64, verdicts);
        for (size_t i = 0; i < 64; i++)
            if (added[i] && verdicts[i] != VIDI_SEEN)
                atomic_fetch_add(&of->wrong, 1);
        double fp = table_fp(&of->of);
        vidi__filter_stats stats = table_stat(&of->of);
        if (!(fp >= 0 && fp < 0.05) || !(stats.fill >= 0 && stats.fill <= 1) || stats.stages < 1)
            atomic_fetch_add(&of->wrong, 1);
    }
    return NULL;
}

static void run(shared *of, worker *adders)
{
    worker askers[ASKERS];
    for (unsigned i = 0; i < ADDERS; i++) {
        adders[i] = (worker){.of = of, .number = i};
        assert_int_equal(pthread_create(&adders[i].thread, NULL, add_all, &adders[i]), 0);
    }
    for (unsigned i = 0; i < ASKERS; i++) {
        askers[i] = (worker){.of = of, .number = 100 + i};
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_on, &askers[i]), 0);
    }
    for (unsigned i = 0; i < ADDERS; i++)
        pthread_join(adders[i].thread, NULL);
    atomic_store(&of->done, true);
    for (unsigned i = 0; i < ASKERS; i++)
        pthread_join(askers[i].thread, NULL);
}

/* Layer by layer, from what is saved: marks are those of the bits, and no layer has more URLs than it has room for. */
static void check_layers(const table *of)
{
    saved bytes = save_of(of);
    uint64_t layers = vidi__load64(bytes.bytes), count = 0, marked = 0, bits = 0;
    size_t at = 8;
    for (uint64_t i = 0; i < layers; i++) {
        uint64_t words = vidi__load64(bytes.bytes + at) * vidi__load64(bytes.bytes + at + 8) * 8;
        uint64_t urls = vidi__load64(bytes.bytes + at + 16), in = vidi__load64(bytes.bytes + at + 24);
        check(in <= urls && (i + 1 == layers || in + urls / 64 + VIDI__PARTITIONS > urls),
              "layer %llu has %llu URLs, and room for %llu", (unsigned long long)i, (unsigned long long)in,
              (unsigned long long)urls);
        count += in;
        for (uint64_t word = 0; word < words; word++)
            marked += (uint64_t)__builtin_popcountll(vidi__load64(bytes.bytes + words_behind(at) + 8 * word));
        bits += words * 64;
        at = words_behind(at) + 8 * words;
    }
    assert_int_equal(at, bytes.size);
    assert_int_equal(count, table_count(of));
    double fill = table_stat(of).fill, truth = (double)marked / (double)bits;
    check(fill == truth, "fill is %.17g, the bits say %.17g", fill, truth);
    free(bytes.bytes);
}

typedef struct kind_of_set {
    const char *params;
    uint64_t capacity;
    unsigned stages;
    uint64_t urls; /* 0: as many as the surroundings ask for */
    unsigned rounds;
} kind_of_set;

static void check_counts(shared *of, const worker *adders)
{
    uint64_t fresh = 0, lost = 0;
    vidi__tally sum = {0};
    for (uint64_t i = 0; i < of->n; i++) {
        check(of->fresh[i] <= 1, "URL %llu: NEW %u times", (unsigned long long)i, of->fresh[i]);
        fresh += of->fresh[i];
        lost += !of->fresh[i];
    }
    for (unsigned i = 0; i < ADDERS; i++) {
        sum.fresh += adders[i].tally.fresh;
        sum.seen += adders[i].tally.seen;
        sum.lost += adders[i].tally.lost;
    }
    assert_true(sum.fresh == fresh && sum.fresh + sum.seen == of->adds);
    assert_int_equal(table_count(&of->of), fresh);
    test_interval likely = test_lost_interval(sum.lost * 1.05, 0.01, TEST_ALPHA);
    check(lost <= likely.high && (double)lost >= 0.8 * sum.lost - 30, "%llu lost, the tally says %g",
          (unsigned long long)lost, sum.lost);
}

static void add_by_four(const kind_of_set *as, uint64_t seed)
{
    shared of = {.n = as->urls ? as->urls : 30000 + test_urls_at_most(1000000) / 3};
    worker adders[ADDERS];
    table copy;
    table_make(&of.of, as->params, as->capacity, 0.01, seed);
    of.fresh = calloc(of.n, sizeof *of.fresh);
    of.added = calloc(of.n, sizeof *of.added);
    assert_true(of.fresh && of.added);
    run(&of, adders);
    assert_int_equal(of.wrong, 0);
    check_counts(&of, adders);
    check_layers(&of.of);
    assert_int_equal(seen_urls(&of.of, 31, 0, of.n), of.n);
    check(table_stat(&of.of).stages >= as->stages, "%u layers", table_stat(&of.of).stages);
    table_copy(&copy, &of.of, as->params, seed); /* which counts the marks anew */
    check(table_fp(&copy) == table_fp(&of.of), "fp_now is %.17g, and %.17g when read again", table_fp(&of.of),
          table_fp(&copy));
    table_free(&copy);
    free(of.fresh);
    free(of.added);
    table_free(&of.of);
}

static void exactly_one_is_told_new_while_layers_are_added(void **state)
{
    const kind_of_set *as = *state;
    unsigned rounds = test_sanitized() ? (as->rounds + 9) / 10 : as->rounds;
    for (unsigned round = 0; round < rounds; round++)
        add_by_four(as, 32 + round);
}

/* ---- a layer that is added in the middle of a batch ---- */

enum { ROOM = 2048 }; /* of the first layer, but for two URLs: one batch claims it all */

static atomic_bool paused, resumed;

/* The batch stands still, wherever it is, until the other thread has gone on; or for 5 ms, if that waits for it. */
static void stand_still(int signal)
{
    (void)signal;
    atomic_store(&paused, true);
    for (int i = 0; i < 50 && !atomic_load(&resumed); i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

typedef struct interrupted {
    table *of;
    suseconds_t after;
    uint64_t fresh;
} interrupted;

static void *add_interrupted(void *context)
{
    interrupted *me = context;
    vidi__u128 hashes[ROOM];
    uint8_t verdicts[ROOM];
    vidi__tally tally = {0};
    sigset_t alarm;
    table_enter(me->of);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    fill_hashes(hashes, 33, 0, ROOM);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = me->after}, NULL);
    me->of->filter->kind->add_hashes(me->of->filter, hashes, ROOM, verdicts, &tally);
    me->fresh = how_many(verdicts, ROOM, VIDI_NEW);
    while (!atomic_load(&paused)) /* the alarm came too late for the batch */
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    return NULL;
}

static void add_in_between(const char *params, uint64_t round)
{
    table of, copy;
    pthread_t thread;
    interrupted other = {&of, (suseconds_t)(1 + round % 40), 0};
    table_make(&of, params, ROOM, 0.01, 40 + round);
    atomic_store(&paused, false);
    atomic_store(&resumed, false);
    assert_int_equal(pthread_create(&thread, NULL, add_interrupted, &other), 0);
    while (!atomic_load(&paused))
        nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
    uint64_t fresh = 0, came = 0;
    while (table_stat(&of).stages < 2) /* the third that is NEW needs another layer */
        fresh += add_one(&of, hash_at(34, came++)) == VIDI_NEW;
    atomic_store(&resumed, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(table_count(&of), other.fresh + fresh);
    assert_int_equal(seen_urls(&of, 33, 0, ROOM), ROOM);
    assert_int_equal(seen_urls(&of, 34, 0, came), came);
    table_copy(&copy, &of, params, 40 + round);
    check(table_fp(&copy) == table_fp(&of), "round %llu: fp_now is %.17g, and %.17g when read again",
          (unsigned long long)round, table_fp(&of), table_fp(&copy));
    table_free(&copy);
    table_free(&of);
}

static void a_layer_added_in_the_middle_of_a_batch_is_noticed(void **state)
{
    sigset_t alarm, before;
    struct sigaction action = {.sa_handler = stand_still}, old;
    (void)state;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, &before);
    assert_int_equal(sigaction(SIGALRM, &action, &old), 0);
    for (uint64_t round = 0; round < 120; round++)
        add_in_between(round % 2 ? "lines=1" : "", round);
    sigaction(SIGALRM, &old, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* In the last one the first batches of all threads meet the end of the first layer. */
int main(int argc, char **argv)
{
    static const kind_of_set kinds[] = {{"", 1, 3, 0, 1},
                                        {"lines=2", 0, 2, 0, 1},
                                        {"lines=1", 3000, 3, 0, 1},
                                        {"", 1000000, 1, 0, 1},
                                        {"lines=3", 3000, 2, 6000, 100}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char name[120];
        snprintf(name, sizeof name, "exactly one is told NEW while layers are added: %s, capacity %llu",
                 kinds[i].params, (unsigned long long)kinds[i].capacity);
        test_add(name, exactly_one_is_told_new_while_layers_are_added, &kinds[i]);
    }
    test_add("a layer added in the middle of a batch is noticed", a_layer_added_in_the_middle_of_a_batch_is_noticed,
             NULL);
    return test_run("threads blocked", argc, argv);
}
