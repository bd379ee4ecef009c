/*
 * Whatever a thread calls, it has left the set's gate when the call returns. A thread that stays inside would keep out
 * for ever whoever must be alone. The second thread of a set is the interesting one: its first calls make the gate
 * SHARED, give it to that thread, and find that it is theirs already. So it makes each call as its second, third and
 * fourth one.
 */
#include "set/set.h"
#include "support/actor.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/runner.h"
#include "support/streams.h"
#include "vidi/transfer.h"

enum { TIMES = 3 };

static const vidi_str url = {"http://a.example/", 17}, other = {"http://b.example/", 17};

/* ---- the calls; what they answer is for other tests ---- */

static void adds(vidi_set *set)
{
    vidi_add(set, url);
}

static void adds_a_batch(vidi_set *set)
{
    uint8_t verdicts[2];
    vidi_add_batch(set, (vidi_str[]){url, other}, 2, verdicts, NULL);
}

static void looks_up(vidi_set *set)
{
    uint64_t times;
    vidi_has(set, url);
    vidi_count(set, url, &times);
    vidi_has_previous(set, url);
}

static void removes(vidi_set *set)
{
    vidi_remove(set, other);
}

static void steps(vidi_set *set)
{
    vidi_step(set, 1000, NULL);
}

static void expects(vidi_set *set)
{
    vidi_expect(set, 10);
}

static void asks_for_statistics(vidi_set *set)
{
    double odds;
    vidi_stats stats = {.size = sizeof stats};
    vidi_stage_stats stage = {.size = sizeof stage};
    vidi_stat(set, &stats);
    vidi_stage_stat(set, 0, &stage);
    vidi_odds(set, &odds);
}

static int swallow(void *context, const void *data, size_t size)
{
    (void)context, (void)data, (void)size;
    return 0;
}

static void writes(vidi_set *set)
{
    vidi_write(set, swallow, NULL, 0);
}

static void writes_a_piece(vidi_set *set)
{
    uint64_t cursor = 0;
    vidi_piece_write(set, &cursor, 1 << 20, swallow, NULL);
}

static void digests(vidi_set *set)
{
    unsigned char digest[VIDI_CONTENT_DIGEST_BYTES];
    vidi_content_digest(set, digest);
}

static int pass_over(void *context, const vidi_entry *entry)
{
    (void)context, (void)entry;
    return 0;
}

static void lists(vidi_set *set)
{
    vidi_iterate(set, pass_over, NULL);
}

static void copies(vidi_set *set)
{
    vidi_set *copy;
    if (vidi_copy(&copy, set, NULL) == VIDI_OK)
        vidi_close(copy);
}

static void merges(vidi_set *set)
{
    vidi_set *copy;
    if (vidi_copy(&copy, set, NULL) != VIDI_OK)
        return;
    vidi_merge(set, copy, VIDI_MERGE_FORCE);
    vidi_close(copy);
}

static void rotates(vidi_set *set)
{
    vidi_rotate(set, NULL);
    vidi_drop_previous(set);
}

static const struct {
    const char *name;
    void (*call)(vidi_set *set);
} calls[] = {
    {"adding", adds},
    {"adding a batch", adds_a_batch},
    {"looking up", looks_up},
    {"removing", removes},
    {"growing", steps},
    {"a hint", expects},
    {"statistics", asks_for_statistics},
    {"writing", writes},
    {"a piece", writes_a_piece},
    {"a digest", digests},
    {"listing", lists},
    {"copying", copies},
    {"merging", merges},
    {"rotating", rotates},
};

/* ---- the threads ---- */

typedef struct scene {
    vidi_set *set;
    size_t call;
    unsigned before; /* lookups before the call */
} scene;

static void play(void *context)
{
    scene *of = context;
    for (unsigned i = 0; i < of->before; i++)
        vidi_has(of->set, url);
    calls[of->call].call(of->set);
}

static void check_that_nobody_is_inside(const vidi_set *set, const test_case *which, const scene *of)
{
    const vidi__slot *slot;
    check(!set->gate.exclusive, "%s: %s after %u lookups leaves the gate closed", test_case_name(which),
          calls[of->call].name, of->before);
    for (uint32_t at = 0; (slot = vidi__gate_next(&set->gate, &at)) != NULL;)
        check(atomic_load(&slot->inside) == 0, "%s: %s after %u lookups leaves a thread in the set",
              test_case_name(which), calls[of->call].name, of->before);
}

static void run(const test_case *which, test_actor *second, scene *of)
{
    of->set = test_case_set(which, 100, 1, NULL);
    vidi_add(of->set, url); /* the gate is this thread's */
    test_actor_do(second, play, of);
    check_that_nobody_is_inside(of->set, which, of);
    play(of); /* would wait for the second thread */
    check_that_nobody_is_inside(of->set, which, of);
    vidi_close(of->set);
}

static void a_call_leaves_nobody_inside(void **state)
{
    const test_case *which = *state;
    test_actor second;
    assert_true(test_actor_start(&second));
    for (size_t call = 0; call < sizeof calls / sizeof *calls; call++)
        for (unsigned before = 0; before < TIMES; before++)
            run(which, &second, &(scene){.call = call, .before = before});
    test_actor_end(&second);
}

int main(int argc, char **argv)
{
    test_add_cases("a call leaves nobody inside", a_call_leaves_nobody_inside, NULL);
    return test_run("threads leave", argc, argv);
}
