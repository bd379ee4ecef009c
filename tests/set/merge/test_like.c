/*
 * Sets that belong together: made like another, with the same key, or as members of a spatial set that live apart.
 */
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/runner.h"
#include "support/urls.h"
#include "vidi/transfer.h"

enum { MEMBERS = 3 };

static vidi_str url_at(char *room, uint64_t seed, uint64_t index)
{
    return (vidi_str){room, test_url(room, TEST_URL_ROOM, seed, index)};
}

/* Both sets get the same URLs, far too many of them: the same verdicts, false ones included. */
static void must_agree(vidi_set *a, vidi_set *b, uint64_t seed, uint64_t n)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < n; i++) {
        vidi_str url = url_at(room, seed, i % 7 == 6 ? i / 2 : i);
        assert_int_equal(vidi_add(a, url), vidi_add(b, url));
    }
    assert_int_equal(test_stat(a).count, test_stat(b).count);
    assert_true(test_stat(a).fp_now == test_stat(b).fp_now);
}

static void like_gives_the_same_answers(void **state)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *first = test_case_set(*state, 500, 1, NULL);
    vidi_set *second = NULL;
    char room[TEST_URL_ROOM];
    assert_int_equal(vidi_add(first, url_at(room, 2, 1)), VIDI_NEW);
    options.like = first;
    int result = vidi_create(&second, &options);
    check(result == VIDI_OK, "%d: %s", result, vidi_message());
    assert_int_equal(test_stat(second).count, 0);
    assert_string_equal(test_stat(first).kind, test_stat(second).kind);
    assert_string_equal(test_stat(first).params, test_stat(second).params);
    assert_string_equal(test_stat(first).hash, test_stat(second).hash);
    assert_int_equal(vidi_add(second, url_at(room, 2, 1)), VIDI_NEW);
    must_agree(first, second, 1, 1500);
    vidi_close(first);
    vidi_close(second);
}

/* Also in a later epoch, and also when the key was drawn at random. */
static void like_takes_over_key_and_epoch(void **state)
{
    test_options made;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *first = NULL, *second = NULL;
    test_case_options(&made, *state, 500, 2);
    made.options.key = NULL;
    assert_int_equal(vidi_create(&first, &made.options), VIDI_OK);
    int rotated = vidi_rotate(first, NULL);
    options.like = first;
    assert_int_equal(vidi_create(&second, &options), VIDI_OK);
    assert_int_equal(test_stat(second).epoch, rotated == VIDI_OK ? 1 : 0);
    must_agree(first, second, 3, 800);
    if (test_stat(first).can & VIDI_CAN_MERGE) {
        assert_int_equal(vidi_merge(first, second, 0), VIDI_OK);
    }
    vidi_close(first);
    vidi_close(second);
}

/* Everything else is the same: the same shape, and for sets that keep URLs that is enough to be merged. */
static void like_with_a_key_is_the_same_under_that_key(void **state)
{
    const test_case *which = *state;
    test_options made;
    vidi_set *set, *same, *other;
    unsigned char key[VIDI_KEY_BYTES];
    vidi_digest digests[3];
    uint8_t verdict;
    uint64_t epoch;
    const vidi_str url = test_str("http://example.org/");
    test_case_options(&made, which, 1000, 1);
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    test_key(key, 2);
    vidi_options options = VIDI_OPTIONS_INIT;
    options.like = set;
    assert_int_equal(vidi_create(&same, &options), VIDI_OK);
    options.key = key;
    assert_int_equal(vidi_create(&other, &options), VIDI_OK);
    vidi_stats a = test_stat(set), b = test_stat(other);
    assert_string_equal(a.kind, b.kind);
    assert_string_equal(a.params, b.params);
    assert_string_equal(a.canon, b.canon);
    assert_int_equal(a.capacity, b.capacity);
    if (vidi_digest_batch(set, &url, 1, &digests[0], &verdict, &epoch) == VIDI_OK && !(which->traits & TEST_WEAK)) {
        assert_int_equal(vidi_digest_batch(same, &url, 1, &digests[1], &verdict, &epoch), VIDI_OK);
        assert_int_equal(vidi_digest_batch(other, &url, 1, &digests[2], &verdict, &epoch), VIDI_OK);
        assert_memory_equal(&digests[0], &digests[1], sizeof digests[0]);
        assert_memory_not_equal(&digests[0], &digests[2], sizeof digests[0]);
    }
    assert_true(vidi_add(set, url) == VIDI_NEW);
    if (a.can & VIDI_CAN_MERGE)
        assert_int_equal(vidi_merge(other, set, 0), which->traits & TEST_EXACT ? VIDI_OK : VIDI_EDIFFERS);
    vidi_close(set);
    vidi_close(same);
    vidi_close(other);
}

static void the_same_key_gives_the_same_answers(void **state)
{
    vidi_set *first = test_case_set(*state, 500, 3, NULL);
    vidi_set *second = test_case_set(*state, 500, 3, NULL);
    must_agree(first, second, 4, 1500);
    vidi_close(first);
    vidi_close(second);
}

/* Another key: other losses. Counted on a filter so full that half of all questions are answered wrongly. */
static void another_key_gives_other_answers(void **state)
{
    test_case which = {"classic", *state, 1, 0, 0};
    vidi_set *first = test_case_set(&which, 300, 5, NULL);
    vidi_set *second = test_case_set(&which, 300, 6, NULL);
    char room[TEST_URL_ROOM];
    uint64_t different = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        vidi_str url = url_at(room, 5, i);
        if (i < 900) {
            vidi_add(first, url);
            vidi_add(second, url);
        } else {
            different += vidi_has(first, url) != vidi_has(second, url);
        }
    }
    check(different > 300, "%llu of 2100 differ", (unsigned long long)different);
    vidi_close(first);
    vidi_close(second);
}

typedef struct assembly {
    const char *inner;
    const char *params;
} assembly;

static const assembly assemblies[] = {
    {"classic", "k=2,M=2"},          {"classic", "k=3,M=1.7,hash=jenkins,mode=salted"},
    {"counting", "k=3,M=2,width=8"}, {"eigen", "k=3,M=2,g=tail"},
    {"multilayer", "k=2,M=2,L=3"},
};

static vidi_set *make_member(const assembly *of, uint32_t member, uint64_t n, uint64_t seed)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    vidi_set *set = NULL;
    test_key(key, seed);
    options.kind = of->inner;
    options.params = of->params;
    options.capacity = n;
    options.key = key;
    options.member = member;
    int result = vidi_create(&set, &options);
    check(result == VIDI_OK, "%s %s: %d, %s", of->inner, of->params, result, vidi_message());
    return set;
}

static vidi_set *make_whole(const assembly *of, const char *eager, uint64_t n, uint64_t seed)
{
    char params[200];
    test_case which = {"spatial", params, 1, 0, 0};
    snprintf(params, sizeof params, "F=%d,inner=%s,eager=%s,%s", MEMBERS, of->inner, eager, of->params);
    return test_case_set(&which, n, seed, NULL);
}

/* Adds to every member, or asks every member, and decides. */
static int decide(vidi_set **members, vidi_str url, bool add, uint64_t *ambiguous)
{
    uint8_t answers[MEMBERS];
    int disagreed = -1;
    for (int i = 0; i < MEMBERS; i++) {
        answers[i] = (uint8_t)(add ? vidi_add(members[i], url) : vidi_has(members[i], url));
    }
    int verdict = vidi_decide(answers, MEMBERS, &disagreed);
    assert_true(disagreed == 0 || disagreed == 1);
    *ambiguous += (uint64_t)disagreed;
    return verdict;
}

static void compare_assembly(const assembly *of, const char *eager, uint64_t *ambiguous, uint64_t *counted)
{
    uint64_t n = 2000;
    vidi_set *whole = make_whole(of, eager, n, 7);
    vidi_set *members[MEMBERS];
    char room[TEST_URL_ROOM];
    for (uint32_t i = 0; i < MEMBERS; i++) {
        members[i] = make_member(of, i + 1, n, 7);
    }
    *ambiguous = 0;
    for (uint64_t i = 0; i < 4 * n; i++) {
        bool add = i < 2 * n;
        vidi_str url = url_at(room, 7, i % 5 == 4 ? i / 2 : i);
        int verdict = add ? vidi_add(whole, url) : vidi_has(whole, url);
        assert_int_equal(decide(members, url, add, ambiguous), verdict);
    }
    *counted = test_stat(whole).ambiguous;
    vidi_close(whole);
    for (int i = 0; i < MEMBERS; i++) {
        vidi_close(members[i]);
    }
}

/* One of the two settings of `eager` asks every member and so counts every disagreement; the other may miss some. */
static void members_apart_answer_as_the_whole(void **state)
{
    uint64_t ambiguous[2], counted[2];
    compare_assembly(*state, "off", &ambiguous[0], &counted[0]);
    compare_assembly(*state, "on", &ambiguous[1], &counted[1]);
    assert_int_equal(ambiguous[0], ambiguous[1]);
    assert_true(ambiguous[0] > 0);
    check(counted[0] == ambiguous[0] || counted[1] == ambiguous[1], "counted %llu and %llu of %llu",
          (unsigned long long)counted[0], (unsigned long long)counted[1], (unsigned long long)ambiguous[0]);
    assert_true(counted[0] > 0 && counted[0] <= ambiguous[0]);
    assert_true(counted[1] > 0 && counted[1] <= ambiguous[1]);
}

static void members_have_salts_of_their_own(void **state)
{
    const assembly *of = *state;
    vidi_set *one = make_member(of, 1, 300, 8);
    vidi_set *two = make_member(of, 2, 300, 8);
    vidi_set *none = make_member(of, 0, 300, 8);
    char room[TEST_URL_ROOM];
    uint64_t different = 0, from_none = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        vidi_str url = url_at(room, 8, i);
        int a = i < 700 ? vidi_add(one, url) : vidi_has(one, url);
        int b = i < 700 ? vidi_add(two, url) : vidi_has(two, url);
        int c = i < 700 ? vidi_add(none, url) : vidi_has(none, url);
        different += a != b;
        from_none += b != c;
    }
    check(different > 50 && from_none > 50, "%llu, %llu", (unsigned long long)different, (unsigned long long)from_none);
    vidi_close(one);
    vidi_close(two);
    vidi_close(none);
}

typedef struct decision {
    uint8_t answers[4];
    size_t members;
    int verdict;
    int ambiguous;
} decision;

static void decisions_follow_the_table(void **state)
{
    static const decision table[] = {
        {{VIDI_NEW, 0, 0, 0}, 1, VIDI_NEW, 0},
        {{VIDI_SEEN, 0, 0, 0}, 1, VIDI_SEEN, 0},
        {{VIDI_UNTRIED, 0, 0, 0}, 1, VIDI_UNTRIED, 0},
        {{VIDI_SEEN, VIDI_SEEN, VIDI_SEEN, VIDI_SEEN}, 4, VIDI_SEEN, 0},
        {{VIDI_NEW, VIDI_NEW, VIDI_NEW, VIDI_NEW}, 4, VIDI_NEW, 0},
        {{VIDI_SEEN, VIDI_SEEN, VIDI_SEEN, VIDI_NEW}, 4, VIDI_NEW, 1},
        {{VIDI_NEW, VIDI_SEEN, VIDI_SEEN, VIDI_SEEN}, 4, VIDI_NEW, 1},
        {{VIDI_UNTRIED, VIDI_SEEN, VIDI_UNTRIED, VIDI_SEEN}, 4, VIDI_SEEN, 0},
        {{VIDI_UNTRIED, VIDI_NEW, VIDI_UNTRIED, VIDI_UNTRIED}, 4, VIDI_NEW, 0},
        {{VIDI_UNTRIED, VIDI_NEW, VIDI_SEEN, VIDI_UNTRIED}, 4, VIDI_NEW, 1},
        {{VIDI_UNTRIED, VIDI_UNTRIED, VIDI_UNTRIED, VIDI_UNTRIED}, 4, VIDI_UNTRIED, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int ambiguous = 9;
        int verdict = vidi_decide(table[i].answers, table[i].members, &ambiguous);
        check(verdict == table[i].verdict && ambiguous == table[i].ambiguous, "row %zu: %d, %d", i, verdict, ambiguous);
        assert_int_equal(vidi_decide(table[i].answers, table[i].members, NULL), table[i].verdict);
    }
    assert_int_equal(vidi_decide(NULL, 0, NULL), VIDI_UNTRIED);
}

static bool is_for_all(const test_case *which)
{
    return !(which->params && strstr(which->params, "functions"));
}

static void sets_with_one_key_merge(void **state)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *first = NULL, *second = NULL, *other = NULL;
    (void)state;
    assert_int_equal(vidi_create(&first, &options), VIDI_OK);
    assert_int_equal(vidi_create(&other, &options), VIDI_OK);
    options.key_from = first;
    assert_int_equal(vidi_create(&second, &options), VIDI_OK);
    assert_int_equal(vidi_add(second, test_str("http://a.example/")), VIDI_NEW);
    assert_int_equal(vidi_merge(first, second, 0), VIDI_OK);
    assert_int_equal(vidi_has(first, test_str("http://a.example/")), VIDI_SEEN);
    assert_int_equal(vidi_merge(other, second, 0), VIDI_EDIFFERS);
    check(strstr(vidi_message(), "under one key") != NULL, "%s", vidi_message());
    vidi_close(second);
    options.like = first;
    assert_int_equal(vidi_create(&second, &options), VIDI_EOPTION);
    options.like = NULL;
    options.key = (const unsigned char *)"0123456789abcdef";
    assert_int_equal(vidi_create(&second, &options), VIDI_EOPTION);
    vidi_close(first);
    vidi_close(other);
}

int main(int argc, char **argv)
{
    static const char *const hashes[] = {"k=2,M=1.0", "k=2,M=1.0,hash=xxh3", "k=2,M=1.0,hash=jenkins,mode=salted",
                                         "k=2,M=1.0,hash=md5,mode=salted"};
    char promise[128];
    test_add_cases("like gives the same answers", like_gives_the_same_answers, NULL);
    test_add_cases("like takes over key and epoch", like_takes_over_key_and_epoch, is_for_all);
    test_add_cases("like with a key is the same under that key", like_with_a_key_is_the_same_under_that_key, NULL);
    test_add_cases("the same key gives the same answers", the_same_key_gives_the_same_answers, NULL);
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
        snprintf(promise, sizeof promise, "another key gives other answers: %s", hashes[i]);
        test_add(promise, another_key_gives_other_answers, hashes[i]);
    }
    for (size_t i = 0; i < sizeof assemblies / sizeof *assemblies; i++) {
        const char *inner = assemblies[i].inner, *params = assemblies[i].params;
        snprintf(promise, sizeof promise, "members apart answer as the whole: %s %s", inner, params);
        test_add(promise, members_apart_answer_as_the_whole, &assemblies[i]);
        snprintf(promise, sizeof promise, "members have salts of their own: %s %s", inner, params);
        test_add(promise, members_have_salts_of_their_own, &assemblies[i]);
    }
    test_add("sets with one key merge", sets_with_one_key_merge, NULL);
    test_add("decisions follow the table", decisions_follow_the_table, NULL);
    return test_run("like", argc, argv);
}
