/*
 * Threads: of all that add one URL exactly one is told NEW, whether the kind is concurrent or takes turns; readers
 * never miss what has been added before they asked; everything else may go on meanwhile.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support/access.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/streams.h"
#include "support/urls.h"

enum { ADDERS = 4, READERS = 2, PART = 64 };

/*
 * What the threads of one test share. cmocka's checks work in the main thread only, so the others count what is
 * wrong.
 */
typedef struct shared {
    vidi_set *set;
    uint64_t n;
    uint64_t seed;
    atomic_uchar *fresh; /* how often URL i was answered NEW */
    atomic_uchar *added; /* URL i's add has returned */
    atomic_uint_fast64_t wrong;
    atomic_uint_fast64_t adds;
    atomic_bool done;
    bool rotating;
} shared;

typedef struct worker {
    shared *of;
    unsigned number;
    pthread_t thread;
} worker;

static uint64_t size_of_test(const test_case *which)
{
    uint64_t n = test_urls_at_most(1000000) / 100;
    return test_case_few(which, n < 1000 ? 1000 : n);
}

static void note(shared *of, uint64_t index, int verdict)
{
    if (verdict == VIDI_NEW) {
        atomic_fetch_add(&of->fresh[index], 1);
    } else if (verdict != VIDI_SEEN) {
        atomic_fetch_add(&of->wrong, 1);
    }
    atomic_store(&of->added[index], 1);
    atomic_fetch_add(&of->adds, 1);
}

/* All adders add all URLs, some alone and some in batches, each starting at a place of its own. */
static void *add_all(void *context)
{
    worker *me = context;
    shared *of = me->of;
    test_batch batch;
    uint8_t verdicts[PART];
    test_batch_init(&batch, PART);
    uint64_t start = of->n / 8 * (me->number / 2);
    for (uint64_t at = 0; at < of->n; at += PART) {
        size_t n = (size_t)(of->n - at < PART ? of->n - at : PART);
        batch.n = 0;
        for (size_t i = 0; i < n; i++) {
            test_batch_push(&batch, test_url, of->seed, (start + at + i) % of->n);
        }
        bool together = me->number & 1;
        if (together && vidi_add_batch(of->set, batch.urls, n, verdicts, NULL) != VIDI_OK) {
            atomic_fetch_add(&of->wrong, 1);
        }
        for (size_t i = 0; i < n; i++) {
            note(of, (start + at + i) % of->n, together ? verdicts[i] : vidi_add(of->set, batch.urls[i]));
        }
    }
    test_batch_free(&batch);
    return NULL;
}

static void *read_on(void *context)
{
    worker *me = context;
    shared *of = me->of;
    test_random random = {me->number};
    char room[TEST_URL_ROOM];
    while (!atomic_load(&of->done)) {
        uint64_t i = test_below(&random, of->n);
        bool added = atomic_load(&of->added[i]);
        vidi_str url = {room, test_url(room, sizeof room, of->seed, i)};
        int verdict = vidi_has(of->set, url);
        if (verdict < 0 || (added && verdict != VIDI_SEEN && !of->rotating)) {
            atomic_fetch_add(&of->wrong, 1);
        }
    }
    return NULL;
}

static int swallow(void *context, const void *data, size_t size)
{
    (void)data;
    *(uint64_t *)context += size;
    return 0;
}

static int glance(void *context, const vidi_entry *entry)
{
    (void)entry;
    return ++*(uint64_t *)context > 100;
}

/* Everything that is not adding: statistics, growth, streams, listings, and epochs if they are wanted. */
static void *do_the_rest(void *context)
{
    worker *me = context;
    shared *of = me->of;
    while (!atomic_load(&of->done)) {
        vidi_stats stats = {.size = sizeof stats};
        uint64_t number = 0;
        bool fine = vidi_stat(of->set, &stats) == VIDI_OK && test_step(of->set, 10000) >= 0;
        fine = fine && vidi_write(of->set, swallow, &number, 0) == VIDI_OK;
        if (stats.can & VIDI_CAN_ITERATE) {
            number = 0;
            fine = fine && vidi_iterate(of->set, glance, &number) >= 0;
        }
        if (of->rotating && stats.answered_new > of->n / 3) {
            fine = fine && vidi_rotate(of->set, NULL) == VIDI_OK;
        }
        if (!fine) {
            atomic_fetch_add(&of->wrong, 1);
        }
    }
    return NULL;
}

static void shared_init(shared *of, const test_case *which, uint64_t seed, unsigned flags)
{
    test_options made;
    memset(of, 0, sizeof *of);
    of->n = size_of_test(which);
    of->seed = seed;
    of->fresh = calloc(of->n, sizeof *of->fresh);
    of->added = calloc(of->n, sizeof *of->added);
    test_case_options(&made, which, of->n, seed);
    made.options.flags = flags;
    int result = vidi_create(&of->set, &made.options);
    check(result == VIDI_OK && of->fresh && of->added, "%d: %s", result, vidi_message());
}

static void shared_free(shared *of)
{
    vidi_close(of->set);
    free(of->fresh);
    free(of->added);
}

static void start(worker *who, shared *of, unsigned number, void *(*work)(void *))
{
    who->of = of;
    who->number = number;
    assert_int_equal(pthread_create(&who->thread, NULL, work, who), 0);
}

static void run(shared *of)
{
    worker adders[ADDERS], readers[READERS], rest;
    for (unsigned i = 0; i < ADDERS; i++) {
        start(&adders[i], of, i, add_all);
    }
    for (unsigned i = 0; i < READERS; i++) {
        start(&readers[i], of, 100 + i, read_on);
    }
    start(&rest, of, 0, do_the_rest);
    for (unsigned i = 0; i < ADDERS; i++) {
        pthread_join(adders[i].thread, NULL);
    }
    atomic_store(&of->done, true);
    for (unsigned i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
    }
    pthread_join(rest.thread, NULL);
}

static uint64_t new_answers(shared *of, unsigned most, bool exact)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < of->n; i++) {
        unsigned fresh = of->fresh[i];
        check(fresh <= most, "URL %llu: NEW %u times", (unsigned long long)i, fresh);
        check(fresh >= 1 || !exact, "URL %llu: never NEW", (unsigned long long)i);
        sum += fresh;
    }
    return sum;
}

static void exactly_one_is_told_new(void **state)
{
    const test_case *which = *state;
    shared of;
    shared_init(&of, which, 1, 0);
    run(&of);
    assert_int_equal(of.wrong, 0);
    uint64_t sum = new_answers(&of, 1, which->traits & TEST_EXACT);
    vidi_stats stats = test_stat(of.set);
    assert_int_equal(stats.answered_new, sum);
    assert_int_equal(stats.answered_new + stats.answered_seen, of.adds);
    assert_true(stats.count == sum || which->traits & TEST_MULTISET);
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < of.n; i++) {
        vidi_str url = {room, test_url(room, sizeof room, 1, i)};
        assert_int_equal(vidi_has(of.set, url), VIDI_SEEN);
    }
    shared_free(&of);
}

/* With epochs changing under way, one NEW an epoch; and every NEW is on record in one of them. */
static void rotation_may_happen_meanwhile(void **state)
{
    const test_case *which = *state;
    shared of;
    shared_init(&of, which, 2, VIDI_KEEP_PREVIOUS);
    of.rotating = true;
    run(&of);
    assert_int_equal(of.wrong, 0);
    vidi_stats stats = test_stat(of.set);
    uint64_t sum = new_answers(&of, (unsigned)(stats.past_epochs + 1), which->traits & TEST_EXACT);
    uint64_t recorded = stats.answered_new;
    for (uint64_t i = 0; i < stats.past_epochs; i++) {
        vidi_epoch_stats past = {.size = sizeof past};
        assert_int_equal(vidi_epoch_stat(of.set, i, &past), VIDI_OK);
        recorded += past.answered_new;
    }
    assert_int_equal(recorded, sum);
    shared_free(&of);
}

/* Adders and removers on URLs of their own, in a set that deletes: nobody disturbs another. */
static void *add_and_remove(void *context)
{
    worker *me = context;
    shared *of = me->of;
    char room[TEST_URL_ROOM];
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = me->number; i < of->n / 4; i += ADDERS) {
            vidi_str url = {room, test_url(room, sizeof room, of->seed, i)};
            int verdict = vidi_add(of->set, url);
            if (verdict < 0 || vidi_has(of->set, url) != VIDI_SEEN) {
                atomic_fetch_add(&of->wrong, 1);
            }
            if (verdict == VIDI_NEW && i % 3 && vidi_remove(of->set, url) != VIDI_OK) {
                atomic_fetch_add(&of->wrong, 1);
            }
        }
    }
    return NULL;
}

static void removing_meanwhile_hurts_nobody(void **state)
{
    const test_case *which = *state;
    worker adders[ADDERS];
    shared of;
    shared_init(&of, which, 3, 0);
    for (unsigned i = 0; i < ADDERS; i++) {
        start(&adders[i], &of, i, add_and_remove);
    }
    for (unsigned i = 0; i < ADDERS; i++) {
        pthread_join(adders[i].thread, NULL);
    }
    assert_int_equal(of.wrong, 0);
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < of.n / 4; i += 3) {
        vidi_str url = {room, test_url(room, sizeof room, of.seed, i)};
        assert_int_equal(vidi_has(of.set, url), VIDI_SEEN);
    }
    shared_free(&of);
}

/* Two sets merged into each other at the same time must not wait for each other for ever. */
typedef struct pair {
    vidi_set *into;
    vidi_set *from;
    atomic_uint_fast64_t *wrong;
} pair;

static void *merge_often(void *context)
{
    pair *of = context;
    for (int i = 0; i < 50; i++) {
        if (vidi_merge(of->into, of->from, 0) != VIDI_OK) {
            atomic_fetch_add(of->wrong, 1);
        }
    }
    return NULL;
}

static void merging_crosswise_ends(void **state)
{
    const test_case *which = *state;
    vidi_set *a = test_case_set(which, 300, 4, NULL);
    vidi_set *b = test_case_set(which, 300, 4, NULL);
    atomic_uint_fast64_t wrong = 0;
    pair pairs[2] = {{a, b, &wrong}, {b, a, &wrong}};
    pthread_t threads[2];
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < 300; i++) {
        vidi_str url = {room, test_url(room, sizeof room, 4, i)};
        vidi_add(i & 1 ? a : b, url);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, merge_often, &pairs[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(wrong, 0);
    vidi_close(a);
    vidi_close(b);
}

static void *fail_once(void *context)
{
    vidi_set *set = NULL;
    vidi_options options = VIDI_OPTIONS_INIT;
    options.kind = context;
    vidi_create(&set, &options);
    return strstr(vidi_message(), context) ? NULL : context;
}

/* A thread's message is its own. */
static void messages_belong_to_their_thread(void **state)
{
    static char names[2][20] = {"first-nonsense", "second-nonsense"};
    pthread_t thread;
    void *wrong = NULL;
    (void)state;
    assert_null(fail_once(names[0]));
    assert_int_equal(pthread_create(&thread, NULL, fail_once, names[1]), 0);
    pthread_join(thread, &wrong);
    assert_null(wrong);
    assert_non_null(strstr(vidi_message(), names[0]));
}

static bool can_delete(const test_case *which)
{
    return test_case_can(which, VIDI_CAN_DELETE);
}

/* Merging a multiset with itself over and over doubles its counts each time. */
static bool can_merge_often(const test_case *which)
{
    return !(which->traits & TEST_MULTISET) && test_case_can(which, VIDI_CAN_MERGE);
}

int main(int argc, char **argv)
{
    test_add_cases("exactly one is told NEW", exactly_one_is_told_new, NULL);
    test_add_cases("rotation may happen meanwhile", rotation_may_happen_meanwhile, test_case_rotates);
    test_add_cases("removing meanwhile hurts nobody", removing_meanwhile_hurts_nobody, can_delete);
    test_add_cases("merging crosswise ends", merging_crosswise_ends, can_merge_often);
    test_add("messages belong to their thread", messages_belong_to_their_thread, NULL);
    return test_run("threads", argc, argv);
}
