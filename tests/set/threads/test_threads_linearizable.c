/*
 * What threads are told can be explained by one order of all calls (support/history.h): of those that add one URL at the
 * same moment exactly one is told NEW, nothing that was added is missed by a call that begins later, and nothing is NEW
 * twice without a removal or a rotation in between. Eight threads, which are more than most machines have cores, go
 * through all ways into a set that starts empty and grows, while another one looks at it, merges into it or rotates it.
 *
 *   VIDI_LINEAR_SECONDS   goes on for so long, all cases together; with VIDI_TEST_LONG, there are 100 rounds of each
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/check.h"
#include "support/env.h"
#include "support/recorder.h"
#include "support/runner.h"
#include "support/streams.h"
#include "support/urls.h"
#include "vidi/transfer.h"

enum { HOT = 8, URLS = 20000, CALLS = 2500 };

typedef struct subject {
    const char *kind, *params;
    uint64_t capacity;
    double error;
    bool every_add;
    bool rotates;
} subject;

/* By far roomier than URLS, so that no answer is false by chance. `scalable` has to grow. */
static const subject subjects[] = {
    {"fingerprint", "bits=60", 0, 0, false, false},
    {"fingerprint", "bits=60", 4 * URLS, 0, false, false},
    {"blocked", NULL, 4 * URLS, 1e-12, false, false},
    {"classic", NULL, 4 * URLS, 1e-12, false, false},
    {"hashset", NULL, 0, 0, false, false},
    {"spatial", NULL, 4 * URLS, 1e-12, false, false},
    {"scalable", NULL, 200, 1e-15, false, false},
    {"fingerprint", "multiset=on,bits=60", 0, 0, true, false},
    {"hashset", "multiset=on", 0, 0, true, false},
    {"fingerprint", "bits=60", 0, 0, false, true},
    {"blocked", NULL, 4 * URLS, 1e-12, false, true},
    {"classic", NULL, 4 * URLS, 1e-12, false, true},
    {"hashset", NULL, 0, 0, false, true},
    {"fingerprint", "multiset=on,bits=60", 0, 0, true, true},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static test_batch universe;

/* ---- the ways into a set ---- */

static int one(vidi_set *set, recorder_way way, uint32_t url, uint32_t *answer)
{
    vidi_str text = universe.urls[url];
    uint64_t times = 0;
    int code = way == RECORDER_ADD      ? vidi_add(set, text)
               : way == RECORDER_HAS    ? vidi_has(set, text)
               : way == RECORDER_REMOVE ? vidi_remove(set, text)
                                        : vidi_count(set, text, &times);
    if (way == RECORDER_REMOVE) {
        *answer = code == VIDI_OK;
        return code == VIDI_EABSENT ? VIDI_OK : code;
    }
    *answer = way == RECORDER_COUNT ? (uint32_t)times : (uint32_t)code;
    return code < 0 ? code : VIDI_OK;
}

/* Digests are good until the set rotates; then they must be left as they are. */
static int in_two_halves(vidi_set *set, recorder_way way, const vidi_str *texts, size_t n, uint8_t *verdicts)
{
    vidi_digest digests[RECORDER_MOST];
    uint64_t epoch;
    int code = vidi_digest_batch(set, texts, n, digests, verdicts, &epoch);
    if (code != VIDI_OK)
        return code == VIDI_ECANNOT ? RECORDER_SKIPPED : code;
    code = way == RECORDER_ADD_DIGESTS ? vidi_add_digests(set, epoch, digests, n, verdicts, NULL)
                                       : vidi_has_digests(set, epoch, digests, n, verdicts);
    for (size_t i = 0; i < n && code == VIDI_ECANNOT; i++)
        if (verdicts[i] != VIDI_DIGESTED)
            return code;
    return code == VIDI_ECANNOT ? RECORDER_SKIPPED : code;
}

static int call(void *set, unsigned thread, recorder_way way, const uint32_t *urls, size_t n, uint32_t *answers)
{
    vidi_str texts[RECORDER_MOST];
    uint8_t verdicts[RECORDER_MOST];
    int code;
    (void)thread;
    for (size_t i = 0; i < n; i++)
        texts[i] = universe.urls[urls[i]];
    switch (way) {
    case RECORDER_ADD_BATCH:
        code = vidi_add_batch(set, texts, n, verdicts, NULL);
        break;
    case RECORDER_HAS_BATCH:
        code = vidi_has_batch(set, texts, n, verdicts);
        break;
    case RECORDER_ADD_DIGESTS:
    case RECORDER_HAS_DIGESTS:
        code = in_two_halves(set, way, texts, n, verdicts);
        break;
    default:
        return one(set, way, urls[0], answers);
    }
    for (size_t i = 0; i < n; i++)
        answers[i] = verdicts[i];
    return code;
}

/* ---- what goes on beside them ---- */

static int swallow(void *context, const void *data, size_t size)
{
    (void)data;
    *(uint64_t *)context += size;
    return 0;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
}

static void must(recorder *of, int code)
{
    int none = 0;
    if (code < 0 && atomic_compare_exchange_strong(&of->failed, &none, code))
        print_message("# beside the others, %d: %s\n", code, vidi_message());
}

static void look(recorder *of, vidi_set *set)
{
    vidi_stats stats = {.size = sizeof stats};
    uint64_t bytes = 0;
    int more;
    must(of, vidi_stat(set, &stats));
    must(of, vidi_step(set, 10000, &more));
    must(of, vidi_write(set, swallow, &bytes, 0));
}

/* Merges a few URLs that the others are about to add. */
static void merge(recorder *of, recorder_log *log, vidi_set *set)
{
    vidi_set *from = NULL;
    vidi_options options = VIDI_OPTIONS_INIT;
    uint32_t urls[3], front = recorder_front(of);
    options.like = set;
    must(of, vidi_create(&from, &options));
    for (uint32_t i = 0; i < 3 && from; i++) {
        urls[i] = front + i < of->urls ? front + i : i;
        must(of, vidi_add(from, universe.urls[urls[i]]));
    }
    history_op op = {.what = HISTORY_MERGE, .begin = history_now()};
    must(of, from ? vidi_merge(set, from, 0) : VIDI_OK);
    op.end = history_now();
    for (size_t i = 0; i < 3; i++) {
        op.url = urls[i];
        recorder_note(log, op);
    }
    vidi_close(from);
}

static void look_and_merge(recorder *of, recorder_log *log)
{
    const subject *which = of->context;
    for (unsigned i = 0; !atomic_load(&of->over) && !atomic_load(&of->failed); i++) {
        look(of, of->set);
        if (i % 4 == 0 && strcmp(which->kind, "scalable") != 0) /* merging adds stages to it */
            merge(of, log, of->set);
        nap();
    }
}

static void look_and_rotate(recorder *of, recorder_log *log)
{
    const subject *which = of->context;
    vidi_options next = VIDI_OPTIONS_INIT;
    next.capacity = which->capacity; /* otherwise it would follow from the URLs of an epoch that may have been short */
    (void)log;
    for (unsigned i = 0; !atomic_load(&of->over) && !atomic_load(&of->failed); i++) {
        if (i % 3 == 0)
            look(of, of->set);
        history_op op = {.what = HISTORY_FORGET, .begin = history_now()};
        must(of, vidi_rotate(of->set, &next));
        op.end = history_now();
        recorder_note(&of->rotations, op);
        nap();
        nap();
    }
}

/* ---- rounds ---- */

static vidi_set *make(const subject *which)
{
    unsigned char key[VIDI_KEY_BYTES];
    vidi_set *set;
    vidi_options options = VIDI_OPTIONS_INIT;
    test_key(key, 1);
    options.kind = which->kind;
    options.params = which->params;
    options.capacity = which->capacity;
    options.error = which->error;
    options.key = key;
    int code = vidi_create(&set, &options);
    check(code == VIDI_OK, "%s: %d, %s", which->kind, code, vidi_message());
    return set;
}

/* What the set has counted is what was told, now that nobody is inside. */
static void check_counters(const recorder *of)
{
    vidi_stats stats = test_stat(of->set);
    uint64_t fresh = stats.answered_new, seen = stats.answered_seen, asked = stats.asked;
    for (uint64_t i = 0; i < stats.past_epochs; i++) {
        vidi_epoch_stats past = {.size = sizeof past};
        assert_int_equal(vidi_epoch_stat(of->set, i, &past), VIDI_OK);
        fresh += past.answered_new;
        seen += past.answered_seen;
    }
    assert_int_equal(fresh, recorder_answers(of, HISTORY_ADD, VIDI_NEW));
    assert_int_equal(seen, recorder_answers(of, HISTORY_ADD, VIDI_SEEN));
    if (!stats.past_epochs)
        assert_int_equal(asked, recorder_answers(of, HISTORY_HAS, UINT32_MAX));
    assert_int_equal(stats.removed + (stats.past_epochs ? recorder_answers(of, HISTORY_REMOVE, 1) - stats.removed : 0),
                     recorder_answers(of, HISTORY_REMOVE, 1));
}

static void run_round(const subject *which, uint64_t seed)
{
    static recorder of;
    char fault[HISTORY_FAULT];
    of = (recorder){.call = call, .threads = RECORDER_THREADS, .hot = HOT, .urls = URLS, .seed = seed};
    of.weights[RECORDER_ADD] = 12;
    of.weights[RECORDER_HAS] = 4;
    of.weights[RECORDER_ADD_BATCH] = 8;
    of.weights[RECORDER_ADD_DIGESTS] = 4;
    of.weights[RECORDER_HAS_BATCH] = 4;
    of.weights[RECORDER_HAS_DIGESTS] = 2;
    of.weights[RECORDER_REMOVE] = which->every_add ? 16 : 0;
    of.weights[RECORDER_COUNT] = which->every_add ? 4 : 0;
    of.every_add = which->every_add;
    of.calls = test_sanitized() ? CALLS / 8 : CALLS;
    of.set = make(which);
    of.beside = which->rotates ? look_and_rotate : look_and_merge;
    of.context = (void *)(uintptr_t)which;
    recorder_run(&of);
    if (!which->every_add)
        check_counters(&of);
    recorder_ask_all(&of, which->every_add ? RECORDER_COUNT : RECORDER_HAS);
    check(recorder_check(&of, fault), "%s %s, seed %llu: %s", which->kind, which->params ? which->params : "",
          (unsigned long long)seed, fault);
    vidi_close(of.set);
    recorder_free(&of);
}

static void answers_can_be_put_in_order(void **state)
{
    const subject *which = *state;
    const char *text = getenv("VIDI_LINEAR_SECONDS");
    double seconds = text ? strtod(text, NULL) / SUBJECTS : 0;
    uint64_t rounds = test_long() ? 100 : test_sanitized() ? 1 : 2, begin = history_now();
    for (uint64_t i = 0; i < rounds || (double)(history_now() - begin) < seconds * 1e9; i++)
        run_round(which, 1 + i);
}

int main(int argc, char **argv)
{
    char name[200];
    test_batch_init(&universe, URLS);
    test_batch_fill(&universe, test_url, 9, 0, URLS);
    for (size_t i = 0; i < SUBJECTS; i++) {
        const subject *which = &subjects[i];
        snprintf(name, sizeof name, "answers can be put in order%s: %s %s, capacity %llu",
                 which->rotates ? ", with rotations" : "", which->kind, which->params ? which->params : "",
                 (unsigned long long)which->capacity);
        test_add(name, answers_can_be_put_in_order, which);
    }
    int result = test_run("threads_linearizable", argc, argv);
    test_batch_free(&universe);
    return result;
}
