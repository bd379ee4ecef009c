/*
 * No URL that was added is ever answered NEW again, whether it is asked for or added once more: ten million answers, a
 * billion in the long run. A batch is asked for as soon as it has been added, then others from earlier on while the set
 * grows past them, and all of them in the end.
 */
#include <math.h>

#include "set/counter_urls.h"
#include "support/check.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

/* Capacities of a thousandth are grown through a thousand times. */
static const test_case cases[] = {
    {"fingerprint", NULL, 0, 0, 0},
    {"fingerprint", NULL, 0.001, 0, 0},
    {"fingerprint", "bits=32", 0, 0, 0},
    {"fingerprint", NULL, 1, 1e-6, 0},
    {"fingerprint", "multiset=on", 0, 0, 0},
    {"fingerprint", "hash=xxh3", 0.001, 0, 0},
    {"blocked", NULL, 0, 0, 0},
    {"blocked", NULL, 0.001, 0.01, 0},
    {"blocked", NULL, 1, 1e-4, 0},
    {"blocked", "lines=1", 0.001, 1e-3, 0},
};

enum { CASES = sizeof cases / sizeof *cases };
enum { ANSWERS_A_URL = 3 }; /* at once, at some time later, and in the end */

static uint64_t answers; /* that were right */
static uint64_t cases_run;

static uint64_t answers_promised(void)
{
    return test_long() ? 1000000000 : 10 * test_urls_at_most(1000000);
}

static uint64_t cases_there_are(void)
{
    uint64_t there = 0;
    for (size_t i = 0; i < CASES; i++)
        there += test_kind_exists(cases[i].kind);
    return there;
}

/* Batches that each case adds. */
static uint32_t batches_a_case(void)
{
    double answers_a_batch = (double)COUNTER_BATCH * ANSWERS_A_URL;
    return (uint32_t)ceil((double)answers_promised() / answers_a_batch / (double)cases_there_are());
}

static void must_be_seen(const counter_batch *batch, uint32_t number, const char *when)
{
    uint64_t seen = 0;
    for (size_t i = 0; i < COUNTER_BATCH; i++)
        seen += batch->verdicts[i] == VIDI_SEEN;
    for (size_t i = 0; i < COUNTER_BATCH && seen < COUNTER_BATCH; i++)
        check(batch->verdicts[i] == VIDI_SEEN, "%s: URL %u of batch %u was forgotten", when, (unsigned)i, number);
    answers += seen;
}

static void ask(const vidi_set *set, counter_batch *batch, uint32_t number, const char *when)
{
    assert_int_equal(vidi_has_batch(set, batch->urls, COUNTER_BATCH, batch->verdicts), VIDI_OK);
    must_be_seen(batch, number, when);
}

static void add(vidi_set *set, counter_batch *batch)
{
    int result = vidi_add_batch(set, batch->urls, COUNTER_BATCH, batch->verdicts, NULL);
    check(result == VIDI_OK, "vidi_add_batch: %d, %s", result, vidi_message());
}

/* Asks for a batch that was added earlier, or adds it again, which must come to the same. */
static void meet_again(vidi_set *set, counter_batch *batch, uint32_t number, bool by_adding)
{
    counter_batch_fill(batch, number * COUNTER_BATCH);
    if (!by_adding) {
        ask(set, batch, number, "asked later");
        return;
    }
    add(set, batch);
    must_be_seen(batch, number, "added again");
}

static void nothing_is_forgotten(void **state)
{
    const test_case *which = *state;
    uint32_t batches = batches_a_case();
    vidi_set *set = test_case_set(which, (uint64_t)batches * COUNTER_BATCH, 1, NULL);
    counter_batch *batch = counter_batch_new(1);
    test_random random = {1};
    for (uint32_t b = 0; b < batches; b++) {
        counter_batch_fill(batch, b * COUNTER_BATCH);
        add(set, batch);
        ask(set, batch, b, "asked at once");
        meet_again(set, batch, (uint32_t)test_below(&random, b + 1), b % 2);
    }
    for (uint32_t b = 0; b < batches; b++) {
        counter_batch_fill(batch, b * COUNTER_BATCH);
        ask(set, batch, b, "asked in the end");
    }
    cases_run++;
    free(batch);
    vidi_close(set);
}

static void there_were_as_many_answers_as_promised(void **state)
{
    (void)state;
    if (cases_run < cases_there_are()) /* a pattern has left some out */
        skip();
    assert_true(answers >= answers_promised());
}

int main(int argc, char **argv)
{
    char promise[200];
    for (size_t i = 0; i < CASES; i++) {
        if (!test_kind_exists(cases[i].kind))
            continue;
        snprintf(promise, sizeof promise, "nothing is forgotten: %s, capacity %g of the URLs",
                 test_case_name(&cases[i]), cases[i].capacity);
        test_add(promise, nothing_is_forgotten, &cases[i]);
    }
    test_add("there were as many answers as promised", there_were_as_many_answers_as_promised, NULL);
    return test_run("no false negative", argc, argv);
}
