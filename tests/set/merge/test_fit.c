/*
 * What belongs together fits together: a set and its copy from a stream, the shape that was made and the one that was
 * asked for, two sets that merge.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "set/merge/fit_cases.h"
#include "support/check.h"
#include "support/env.h"
#include "support/runner.h"
#include "support/streams.h"
#include "support/urls.h"

/* ---- a set and its copy ---- */

static vidi_set *copy_of(const vidi_set *set, const char *what)
{
    test_stream stream;
    vidi_set *copy = NULL;
    test_stream_write(&stream, set);
    int result = test_stream_read(&stream, &copy, stream.size, NULL);
    check(result == VIDI_OK, "%s: written, but not read: %d, %s", what, result, vidi_message());
    test_stream_free(&stream);
    return copy;
}

static void must_be_alike(const vidi_set *a, const vidi_set *b, const char *what, uint64_t when)
{
    vidi_stats one = test_stat(a), two = test_stat(b);
    bool same = one.count == two.count && one.capacity == two.capacity && one.epoch == two.epoch &&
                one.can == two.can && one.fp_meaning == two.fp_meaning && one.hash_trust == two.hash_trust &&
                one.answered_new == two.answered_new && one.answered_seen == two.answered_seen &&
                one.ambiguous == two.ambiguous && one.past_epochs == two.past_epochs;
    check(same, "%s, %llu: statistics differ: count %llu and %llu, capacity %llu and %llu", what,
          (unsigned long long)when, (unsigned long long)one.count, (unsigned long long)two.count,
          (unsigned long long)one.capacity, (unsigned long long)two.capacity);
    check(strcmp(one.params, two.params) == 0, "%s, %llu: %s and %s", what, (unsigned long long)when, one.params,
          two.params);
    check(strcmp(one.hash, two.hash) == 0, "%s, %llu: %s and %s", what, (unsigned long long)when, one.hash, two.hash);
    check(one.stages == two.stages, "%s, %llu: %u and %u stages", what, (unsigned long long)when, one.stages,
          two.stages);
    check(fabs(one.fp_now - two.fp_now) <= 1e-12 * one.fp_now, "%s, %llu: fp_now %g and %g", what,
          (unsigned long long)when, one.fp_now, two.fp_now);
    check(fabs(one.expected_lost - two.expected_lost) <= 1e-9 * one.expected_lost + 1e-300,
          "%s, %llu: %g and %g pages lost", what, (unsigned long long)when, one.expected_lost, two.expected_lost);
}

/* The same URLs to both, with the same verdicts. */
static void add_to_both(vidi_set *a, vidi_set *b, uint64_t first, uint64_t n, const char *what, uint64_t when)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = first; i < first + n; i++) {
        vidi_str url = url_at(room, 1, i);
        int one = vidi_add(a, url), two = vidi_add(b, url);
        check(one == two && one > 0, "%s, %llu: adding URL %llu: %d and %d", what, (unsigned long long)when,
              (unsigned long long)i, one, two);
    }
}

static void must_hold(const vidi_set *set, uint64_t n, const char *what, uint64_t when)
{
    char room[TEST_URL_ROOM];
    uint64_t forgotten = 0;
    for (uint64_t i = 0; i < n; i++) {
        forgotten += vidi_has(set, url_at(room, 1, i)) != VIDI_SEEN;
    }
    check(forgotten == 0, "%s, %llu: %llu of %llu URLs are forgotten", what, (unsigned long long)when,
          (unsigned long long)forgotten, (unsigned long long)n);
}

static void must_answer_alike(const vidi_set *a, const vidi_set *b, uint64_t n, const char *what, uint64_t when)
{
    char room[TEST_URL_ROOM];
    uint64_t different = 0;
    for (uint64_t i = 0; i < n; i++) {
        vidi_str url = url_at(room, 1, i);
        different += vidi_has(a, url) != vidi_has(b, url);
    }
    check(different == 0, "%s, %llu: %llu of %llu answers differ", what, (unsigned long long)when,
          (unsigned long long)different, (unsigned long long)n);
}

static const shape shapes[] = {
    {"classic", "k=3,M=2", 250, 0, true},
    {"classic", "k=3,m=3001", 0, 0, true},
    {"classic", "k=3,M=4,of=segments", 250, 0, true},
    {"counting", "k=3,M=2", 250, 0, true},
    {"counting", "k=2,M=2,width=5", 250, 0, true},
    {"multilayer", "k=3,M=2,L=3", 250, 0, true},
    {"multilayer", "k=2,M=2,L=2,layersalt=off,scheme=strip", 250, 0, true},
    {"multilayer", "k=2,M=2,L=2,xor=address", 250, 0, true},
    {"eigen", "k=3,M=2,d=1", 250, 0, true},
    {"eigen", "k=3,M=2,d=2,g=ends", 250, 0, true},
    {"eigen", "k=3,M=2,d=3,g=labels", 250, 0, true},
    {"eigen", "k=2,M=2", 250, 0, true},
    {"spatial", "F=2,k=2,M=2", 250, 0, true},
    {"spatial", "F=2,k=2,M=2,inner=counting,width=7", 250, 0, true},
    {"spatial", "F=2,k=3,M=2,inner=eigen,d=2", 250, 0, true},
    {"spatial", "F=2,k=2,M=2,inner=multilayer,L=2", 250, 0, true},
    {"scalable", "k=2", 50, 0.05, true},
    {"scalable", "k=2,inner=counting", 50, 0.05, true},
    {"scalable", "k=3,inner=eigen,d=2", 50, 0.05, true},
    {"scalable", "k=2,inner=multilayer,L=2", 50, 0.05, true},
    {"fingerprint", NULL, 0, 0, false},
    {"fingerprint", "bits=32,multiset=on", 0, 0, false},
    {"fingerprint", "bits=40,hash=xxh3", 4000, 0, false},
    {"blocked", NULL, 0, 0, false},
    {"blocked", "lines=1", 60, 0.05, false},
    {"blocked", "lines=3,hash=xxh3", 250, 0.001, false},
    {"spatial", "F=2,inner=blocked", 60, 0.01, false},
    {"scalable", "inner=blocked,growth=3", 50, 0.01, false},
    {"hashset", NULL, 0, 0, false},
    {"hashset", "multiset=on,hash=xxh3", 0, 0, false},
    {"list", NULL, 0, 0, false},
    {"sorted", "multiset=on", 0, 0, false},
    {"spatial", "F=2,inner=fingerprint", 0, 0, false},
    {"spatial", "F=2,inner=hashset", 0, 0, false},
    {"scalable", "inner=fingerprint", 100, 1e-6, false},
    {"scalable", "inner=sorted", 100, 0, false},
};

static const char *const modes[] = {
    "",
    "mode=derived",
    "mode=derived,hash=xxh3",
    "mode=salted",
    "mode=salted,salt=prefix,hash=xxh3",
    "mode=salted,salt=suffix",
    "mode=salted,salt=suffix,hash=jenkins",
    "mode=different,functions=sip13+xxh3+jenkins+oaat+murmur2",
    "mode=different,functions=murmur2+jenkins+sip13+xxh3",
    "functions=oaat+xxh3+murmur2+sip13+jenkins",
    "mode=different",
};

enum { SHAPES = sizeof shapes / sizeof *shapes, MODES = sizeof modes / sizeof *modes };

typedef struct fitting {
    const shape *shape;
    char params[160];
    bool all_used; /* the members of one epoch already take all functions that there are: no rotation */
} fitting;

static fitting fittings[SHAPES * MODES];

/*
 * One set is never written; the other goes through a stream twice in each epoch, and the copy goes on in its place. So
 * what reading loses is lost for good, and shows in one of the seven epochs; the sanitizers see three of them.
 */
static void a_copy_is_the_set(void **state)
{
    const fitting *which = *state;
    const shape *as = which->shape;
    const char *what = which->params;
    vidi_set *reference = must_make(as->kind, which->params, as->capacity, as->error, 1);
    vidi_set *set = must_make(as->kind, which->params, as->capacity, as->error, 1);
    const uint64_t last = test_sanitized() ? 2 : 6;
    for (uint64_t epoch = 0; epoch <= last; epoch++) {
        for (uint64_t part = 0; part < 2; part++) {
            add_to_both(reference, set, part * 100, 100, what, epoch);
            vidi_set *copy = copy_of(set, what);
            vidi_close(set);
            set = copy;
            must_be_alike(reference, set, what, epoch);
            must_hold(set, (part + 1) * 100, what, epoch);
            must_answer_alike(reference, set, 400, what, epoch);
        }
        add_to_both(reference, set, 200, 30, what, epoch);
        must_be_alike(reference, set, what, epoch);
        if (epoch < last) {
            int one = vidi_rotate(reference, NULL);
            check(one == (which->all_used ? VIDI_EOPTION : VIDI_OK), "%s: after epoch %llu: %d, %s", what,
                  (unsigned long long)epoch, one, vidi_message());
            int two = vidi_rotate(set, NULL);
            check(two == one, "%s: the copy after epoch %llu: %d, %s", what, (unsigned long long)epoch, two,
                  vidi_message());
        }
    }
    vidi_close(reference);
    vidi_close(set);
}

/* Kinds inside of kinds: what is to come is the same after reading, too. */
static const shape nested[] = {
    {"spatial", "F=2,inner=spatial,inner.F=3,k=1,M=2", 250, 0, false},
    {"spatial", "F=2,inner=spatial,inner.F=2,inner.inner=counting,k=2,M=2,width=6", 250, 0, false},
    {"spatial", "F=2,inner=spatial,inner.eager=on,inner.F=2,inner.inner=eigen,k=2,M=2", 250, 0, false},
    {"spatial", "F=2,inner=scalable", 50, 0.01, false},
    {"spatial", "F=2,inner=scalable,growth=3,tighten=0.7", 50, 0.01, false},
    {"spatial", "F=3,inner=scalable,growth=1.23456789,inner.inner=counting", 50, 0.01, false},
    {"scalable", "inner=spatial,F=2,inner.inner=counting,width=8", 50, 0.01, false},
    {"scalable", "inner=spatial,F=2,inner.inner=counting,k=2,mode=salted,hash=murmur2", 50, 0.01, false},
    {"scalable", "inner=scalable,inner.growth=3", 50, 0.01, false},
    {"scalable", "growth=1.5,inner=scalable,inner.growth=3,inner.tighten=0.9", 50, 0.01, false},
    {"scalable", "growth=1.23456789", 50, 0.01, false},
    {"scalable", "growth=1.23456789,tighten=0.87654321", 50, 0.01, false},
    {"scalable", "growth=1.23456789,inner=scalable,inner.growth=1.987654321,inner.inner=counting", 50, 0.01, false},
    {"scalable", "growth=1,tighten=0.99", 50, 0.1, false},
    {"scalable", "inner=eigen,g=ends,growth=3", 50, 0.01, false},
    {"scalable", "inner=multilayer,L=3,growth=3,inner.hash=xxh3", 50, 0.01, false},
    {"scalable", "mode=different,k=2,growth=1.5", 50, 0.1, false},
    {"spatial", "inner=scalable,mode=different,k=2,growth=1.5", 50, 0.01, false},
    {"spatial", "F=2,inner=spatial,inner.F=2,inner.inner=scalable,growth=1.7", 50, 0.01, false},
    {"scalable", "inner=hashset,growth=1.1", 50, 0, false},
    {"spatial", "inner=scalable,inner.inner=fingerprint,growth=1.3", 50, 1e-6, false},
    {"spatial", "inner=scalable,inner.inner=blocked,growth=1.3", 50, 0.01, false},
    {"scalable", "inner=spatial,F=2,inner.inner=blocked,lines=2", 50, 0.01, false},
};

static void nested_kinds_grow_on_alike(void **state)
{
    const shape *as = *state;
    vidi_set *reference = must_make(as->kind, as->params, as->capacity, as->error, 2);
    vidi_set *set = must_make(as->kind, as->params, as->capacity, as->error, 2);
    uint64_t added = 0;
    for (uint64_t round = 0; round < 6; round++) {
        uint64_t more = round == 0 ? 30 : 30u << round;
        if (as->params && strstr(as->params, "growth=1,")) {
            more = 300;
        }
        add_to_both(reference, set, added, more, as->params, round);
        added += more;
        must_be_alike(reference, set, as->params, round);
        if (!strstr(as->params, "inner=hashset")) { /* whose copy takes as much memory as its URLs need */
            vidi_stats one = test_stat(reference), two = test_stat(set);
            check(one.bytes == two.bytes, "%s: after %llu URLs %llu bytes and %llu", as->params,
                  (unsigned long long)added, (unsigned long long)one.bytes, (unsigned long long)two.bytes);
        }
        must_hold(reference, added, as->params, round);
        must_hold(set, added, as->params, round);
        must_answer_alike(reference, set, 2 * added, as->params, round);
        vidi_set *copy = copy_of(set, as->params);
        vidi_close(set);
        set = copy;
    }
    check(vidi_rotate(reference, NULL) == VIDI_OK && vidi_rotate(set, NULL) == VIDI_OK, "%s: %s", as->params,
          vidi_message());
    add_to_both(reference, set, 0, added, as->params, 100);
    must_be_alike(reference, set, as->params, 100);
    assert_int_equal(test_stat(reference).bytes, test_stat(set).bytes);
    must_hold(set, added, as->params, 100);
    vidi_close(reference);
    vidi_close(set);
}

/* ---- small sets ---- */

typedef struct small {
    const char *kind, *params;
    double multiplier; /* M; 0: none */
    double error;
} small;

#define MOST_SMALL 400
static small smalls[MOST_SMALL];
static size_t small_count;

/* Sets of so many capacities are judged together, so many of each: some thirty in all, or more. */
static const struct {
    uint64_t first, last;
    unsigned keys;
} groups[] = {{1, 2, 16}, {3, 5, 11}, {6, 12, 5}, {13, 40, 2}};

/*
 * Student's t with 31 degrees of freedom is above this with less than TEST_ALPHA; and these numbers, of which the large
 * ones are rare, keep below it more often, because a large one makes the variance large as well.
 */
#define STUDENT 7.5

/* False positives of n sets at their capacity, each under a key of its own: is the mean what was asked for at most? */
static void must_keep_error(const double *fp, unsigned n, const small *which, uint64_t capacity)
{
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < n; i++) {
        sum += fp[i];
        squares += fp[i] * fp[i];
    }
    double mean = sum / n, variance = fmax(0, squares / n - mean * mean) * n / (n - 1);
    check(mean <= which->error * (1 + 1e-6) + STUDENT * sqrt(variance / n),
          "%s M=%g, %llu URLs and fewer: fp is %g at capacity, asked was %g", which->kind, which->multiplier,
          (unsigned long long)capacity, mean, which->error);
}

/* fp_now at capacity, or -1 if such a set cannot be made; what is made is also read again. */
static double small_set(const small *which, uint64_t capacity, uint64_t seed)
{
    char params[160], room[TEST_URL_ROOM];
    vidi_set *set = NULL;
    size_t used = (size_t)snprintf(params, sizeof params, "%s", which->params ? which->params : "");
    if (which->multiplier > 0) {
        snprintf(params + used, sizeof params - used, "%sM=%g", used ? "," : "", which->multiplier);
    }
    int result = make(&set, which->kind, params, capacity, which->error, seed);
    if (result == VIDI_EOPTION && which->multiplier > 0) {
        return -1; /* an error rate alone can always be kept */
    }
    check(result == VIDI_OK, "%s, %llu URLs: %d, %s", params, (unsigned long long)capacity, result, vidi_message());
    for (uint64_t i = 0; i < capacity; i++) {
        assert_true(vidi_add(set, url_at(room, seed, i)) > 0);
    }
    vidi_set *copy = copy_of(set, params);
    vidi_stats one = test_stat(set), two = test_stat(copy);
    assert_true(one.fp_now == two.fp_now && one.bytes == two.bytes && one.capacity == two.capacity);
    assert_string_equal(one.params, two.params);
    for (uint64_t i = 0; i < 2 * capacity; i++) {
        vidi_str url = url_at(room, seed, i);
        int verdict = vidi_has(copy, url);
        assert_true(verdict == vidi_has(set, url) && (i >= capacity || verdict == VIDI_SEEN));
    }
    vidi_close(copy);
    vidi_close(set);
    return one.fp_now;
}

static void small_sets_are_read_again_and_keep_their_error_rate(void **state)
{
    const small *which = *state;
    double all[200];
    unsigned n = 0;
    for (size_t group = 0; group < sizeof groups / sizeof *groups; group++) {
        unsigned before = n;
        for (uint64_t capacity = groups[group].first; capacity <= groups[group].last; capacity++) {
            for (unsigned i = 0; i < groups[group].keys; i++) {
                double fp = small_set(which, capacity, capacity * 1000 + i);
                if (fp >= 0) {
                    all[n++] = fp;
                }
            }
        }
        if (n >= before + 32) {
            must_keep_error(all + before, n - before, which, groups[group].last);
        }
    }
    if (n >= 32) {
        must_keep_error(all, n, which, 40);
    }
}

static void add_smalls(void)
{
    static const double multipliers[] = {0, 1, 2, 0.7, 1.44, 4, 10}, errors[] = {0.5, 0.1, 0.01, 1e-3, 1e-6};
    static const struct {
        const char *kind, *params;
        size_t multipliers;
    } kinds[] = {{"classic", NULL, 7},  {"counting", NULL, 3}, {"eigen", NULL, 3},  {"multilayer", "L=2", 3},
                 {"spatial", "F=2", 3}, {"scalable", NULL, 1}, {"blocked", NULL, 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t j = 0; j < kinds[i].multipliers; j++) {
            for (size_t l = 0; l < sizeof errors / sizeof *errors; l++) {
                small *made = &smalls[small_count++];
                char promise[200];
                *made = (small){kinds[i].kind, kinds[i].params, multipliers[j], errors[l]};
                snprintf(promise, sizeof promise,
                         "small sets are read again and keep their error rate: %s, M=%g, error %g", made->kind,
                         made->multiplier, made->error);
                test_add(promise, small_sets_are_read_again_and_keep_their_error_rate, made);
            }
        }
    }
}

/* ---- two sets that merge ---- */

static vidi_set *member_of(const test_case *which, uint32_t member)
{
    test_options made;
    vidi_set *set = NULL;
    test_case_options(&made, which, 500, 3);
    made.options.member = member;
    int result = vidi_create(&set, &made.options);
    check(result == VIDI_OK, "member %u: %d, %s", member, result, vidi_message());
    return set;
}

static void other_members_do_not_fit(void **state)
{
    static const uint32_t members[] = {0, 1, 2, 16};
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++) {
            vidi_set *into = member_of(*state, members[i]), *from = member_of(*state, members[j]);
            add_range(from, 3, 0, 100);
            int result = vidi_merge(into, from, 0);
            check(result == (i == j ? VIDI_OK : VIDI_EDIFFERS), "member %u into %u: %d", members[j], members[i],
                  result);
            assert_true((test_stat(into).count > 0) == (i == j));
            vidi_close(into);
            vidi_close(from);
        }
    }
}

static void pages_lost_add_up(void **state)
{
    const test_case *which = *state;
    vidi_set *into = test_case_set(which, 1000, 4, NULL), *from = test_case_set(which, 1000, 4, NULL);
    add_range(into, 4, 0, 500);
    add_range(from, 4, 500, 350); /* URLs that the other set has not met; test_merge_rate.c has those that both have */
    double one = test_stat(into).expected_lost, two = test_stat(from).expected_lost;
    assert_int_equal(vidi_merge(into, from, 0), VIDI_OK);
    double both = test_stat(into).expected_lost;
    assert_true(both <= (one + two) * (1 + 1e-12) && both >= .9 * (one + two)); /* how many are new is an estimate */
    assert_true(test_stat(from).expected_lost == two);
    assert_true((both > 0) == !(which->traits & TEST_EXACT));
    assert_int_equal(vidi_merge(into, into, 0), VIDI_OK);
    assert_true(test_stat(into).expected_lost == both);
    vidi_close(into);
    vidi_close(from);
}

int main(int argc, char **argv)
{
    char promise[300];
    size_t count = 0;
    for (size_t i = 0; i < SHAPES; i++) {
        for (size_t j = 0; j < MODES; j++) {
            if (!shapes[i].hashes && j > 0) {
                break;
            }
            if (shapes[i].hashes && j == 0) {
                continue;
            }
            fitting *made = &fittings[count++];
            made->shape = &shapes[i];
            made->all_used = shapes[i].params && strstr(shapes[i].params, "F=2,k=2") && strstr(modes[j], "=murmur2+");
            const char *own = shapes[i].params ? shapes[i].params : "";
            snprintf(made->params, sizeof made->params, "%s%s%s", own, *own && *modes[j] ? "," : "", modes[j]);
            snprintf(promise, sizeof promise, "a copy is the set: %s %s", shapes[i].kind, made->params);
            test_add(promise, a_copy_is_the_set, made);
        }
    }
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
        snprintf(promise, sizeof promise, "nested kinds grow on alike: %s %s", nested[i].kind, nested[i].params);
        test_add(promise, nested_kinds_grow_on_alike, &nested[i]);
    }
    add_smalls();
    test_add_cases("other members do not fit", other_members_do_not_fit, merges_hashes);
    test_add_cases("pages lost add up", pages_lost_add_up, can_merge);
    return test_run("fit", argc, argv);
}
