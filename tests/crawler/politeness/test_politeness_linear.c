/*
 * No call of politeness looks at more than a few queues, however many there are and however many share an address. Work
 * is counted, not timed: see support/work.h.
 */
#include <stdlib.h>

#include "crawler/politeness/politeness.h"
#include "support/check.h"
#include "vidi/vidi.h"

static uint64_t work;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    work++;
}

/* The trees of names and addresses are the C library's: balanced. A search counts as what it takes in the worst case. */
typedef int compare(const void *, const void *);
void *__wrap_tsearch(const void *key, void **root, compare *by);
void *__real_tsearch(const void *key, void **root, compare *by);
void *__wrap_tfind(const void *key, void *const *root, compare *by);
void *__real_tfind(const void *key, void *const *root, compare *by);
void *__wrap_tdelete(const void *key, void **root, compare *by);
void *__real_tdelete(const void *key, void **root, compare *by);

enum { TREE_WORK = 40 };

void *__wrap_tsearch(const void *key, void **root, compare *by)
{
    work += TREE_WORK;
    return __real_tsearch(key, root, by);
}

void *__wrap_tfind(const void *key, void *const *root, compare *by)
{
    work += TREE_WORK;
    return __real_tfind(key, root, by);
}

void *__wrap_tdelete(const void *key, void **root, compare *by)
{
    work += TREE_WORK;
    return __real_tdelete(key, root, by);
}

/* A heap of 2^15 nodes has 15 levels. A call searches at most four trees, or moves four nodes by some five steps a level. */
enum { QUEUES = 20000, MOST_WORK = 1000 };

static uint64_t most;

/* Remembers the most expensive call. */
static void called(void)
{
    if (work > most)
        most = work;
    work = 0;
}

/* Turns, four at a time, among queues that share names and addresses. */
static void crawl(size_t names, size_t addresses, int64_t delay)
{
    polite *polite;
    assert_int_equal(polite_open(&polite, &(polite_options){.delay = delay, .per_host = 1}), VIDI_OK);
    polite_queue **queues = calloc(QUEUES, sizeof *queues);
    for (size_t i = 0; i < QUEUES; i++) {
        work = 0;
        queues[i] = polite_add(polite, i % names, i % names % addresses, &queues[i]);
        called();
        assert_non_null(queues[i]);
        polite_want(polite, queues[i], true);
        called();
    }
    int64_t now = 0;
    polite_queue **running[4];
    size_t count = 0;
    for (size_t i = 0; i < 2 * QUEUES; i++) {
        work = 0;
        while (count < 4 && (running[count] = polite_next(polite, now))) {
            count++;
            called();
        }
        called();
        int64_t when = polite_when(polite);
        called();
        if (count > 0) {
            polite_done(polite, *running[--count], now, (int64_t)(i % 300));
            called();
            if (i % 100 == 0)
                polite_back_off(polite, *running[count], now + 30000);
            called();
        } else if (when < INT64_MAX) {
            now = when;
        }
    }
    for (size_t i = 0; i < QUEUES; i++) {
        work = 0;
        for (size_t j = 0; j < count; j++)
            if (running[j] == &queues[i])
                polite_return(polite, queues[i]);
        polite_remove(polite, queues[i]);
        called();
    }
    free(queues);
    polite_close(polite);
}

static void every_call_is_cheap_whoever_shares_what(void **state)
{
    (void)state;
    static const size_t names[] = {1, 1000, QUEUES / 2, QUEUES}, addresses[] = {1, 30, QUEUES};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (size_t j = 0; j < sizeof addresses / sizeof addresses[0]; j++)
            for (int64_t delay = -1; delay <= 0; delay++) {
                most = 0;
                crawl(names[i], addresses[j], delay);
                check(most < MOST_WORK, "%zu names, %zu addresses, delay %d: %llu steps", names[i], addresses[j],
                      (int)delay, (unsigned long long)most);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_is_cheap_whoever_shares_what),
    };
    return cmocka_run_group_tests_name("politeness_linear", tests, NULL, NULL);
}
