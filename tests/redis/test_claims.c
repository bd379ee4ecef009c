/*
 * Claims against a model: an array with one entry per URL, sorted anew for each question. After every random operation
 * all orders, counts and sums must agree, also if the allocator refused in the middle.
 */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/claims/claims.h"
#include "support/alloc.h"
#include "support/random.h"

enum { URLS = 24, OWNERS = 5, TOKENS = 40, TIMES = 60 };

/* What the model knows of the claim of one URL. */
typedef struct entry {
    bool present;
    int owner; /* -1: given up */
    uint64_t token;
    uint64_t epoch;
    int64_t deadline, lease;
    unsigned payload;
    double loss;
} entry;

typedef struct world {
    test_allocator allocator;
    claims *claims;
    entry model[URLS];
    uint64_t epoch;
    test_random random;
} world;

static vidi_str str(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

/* Keys in the order of their numbers. Some are beginnings of others, one is empty, some have zero bytes. */
static vidi_str key(unsigned i)
{
    static char text[URLS][16];
    size_t len = i / 2;
    memset(text[i], 'k', len);
    if (i % 2)
        text[i][len++] = 0;
    return (vidi_str){text[i], len};
}

/* The URL as given: every third is its own key. */
static vidi_str url(unsigned i)
{
    static char text[URLS][24];
    if (i % 3 == 0)
        return key(i);
    snprintf(text[i], sizeof text[i], "http://%u/", i);
    return str(text[i]);
}

static vidi_str payload(unsigned i)
{
    static const char bytes[] = "a payload that is as long as it needs to be";
    return (vidi_str){bytes, i % sizeof bytes};
}

static vidi_str owner(int i)
{
    static const char *const names[OWNERS] = {"a", "ab", "b", "worker with a longer name", "z"};
    return i < 0 ? (vidi_str){NULL, 0} : str(names[i]);
}

static void assert_same(vidi_str a, vidi_str b)
{
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.len ? a.ptr : "", b.len ? b.ptr : "", a.len);
}

static void begin(world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    test_allocator_init(&w->allocator);
    w->claims = claims_create(&w->allocator.hook);
    assert_non_null(w->claims);
    w->epoch = 1;
    w->random.state = seed;
}

static void end(world *w)
{
    claims_free(w->claims);
    test_allocator_finish(&w->allocator);
}

/* ---- comparing ---- */

static bool is_void(const world *w, const entry *e)
{
    return e->token == 0 || e->epoch < w->epoch;
}

static bool is_expired(const world *w, const entry *e, int64_t now)
{
    return e->epoch < w->epoch || e->deadline <= now;
}

static void compare_terms(const world *w, const claim *claim, unsigned i)
{
    const entry *e = &w->model[i];
    assert_non_null(claim);
    claim_terms terms = claim_read(w->claims, claim);
    assert_same(terms.key, key(i));
    assert_same(terms.url, url(i));
    assert_same(terms.payload, payload(e->payload));
    assert_same(terms.owner, is_void(w, e) ? owner(-1) : owner(e->owner));
    assert_int_equal(terms.token, is_void(w, e) ? 0 : e->token);
    assert_int_equal(terms.deadline, e->deadline);
    assert_int_equal(terms.lease, e->lease);
    assert_true(terms.loss == e->loss); /* all are small multiples of 1/8, so nothing is rounded */
}

/* The order in which claims expire. Ties are in the order of the keys, and so of the entries. */
static int compare_entries(const entry *a, const entry *b)
{
    if (a->epoch != b->epoch)
        return a->epoch > b->epoch ? 1 : -1;
    if (a->deadline != b->deadline)
        return a->deadline > b->deadline ? 1 : -1;
    if (a->token != b->token)
        return a->token > b->token ? 1 : -1;
    return (a > b) - (a < b);
}

/* The URL that expires first after `i`, or first of all after -1; -1: none. */
static int model_next(const world *w, int i)
{
    int best = -1;
    for (int k = 0; k < URLS; k++) {
        const entry *e = &w->model[k], *b = best < 0 ? NULL : &w->model[best], *a = i < 0 ? NULL : &w->model[i];
        if (e->present && (!a || compare_entries(e, a) > 0) && (!b || compare_entries(e, b) < 0))
            best = k;
    }
    return best;
}

static void compare_deadlines(const world *w)
{
    const claim *claim = claims_next(w->claims, NULL);
    int i = model_next(w, -1);
    for (; i >= 0; i = model_next(w, i)) {
        compare_terms(w, claim, (unsigned)i);
        claim = claims_next(w->claims, claim);
    }
    assert_null(claim);
    for (int64_t now = 0; now <= TIMES + 20; now += 7) {
        uint64_t expired = 0;
        for (unsigned k = 0; k < URLS; k++) {
            const entry *e = &w->model[k];
            expired += e->present && is_expired(w, e, now);
            if (e->present) {
                assert_int_equal(claim_is_expired(w->claims, claims_of_url(w->claims, key(k)), now),
                                 is_expired(w, e, now));
            }
        }
        assert_int_equal(claims_expired(w->claims, now), expired);
        const struct claim *first = claims_first_expired(w->claims, now);
        assert_ptr_equal(first, expired ? claims_next(w->claims, NULL) : NULL);
    }
}

/* Compares the list of all claims from the beginning, and from every key on. */
static void compare_list(const world *w)
{
    for (int from = -1; from < URLS; from++) {
        vidi_str after = from < 0 ? (vidi_str){NULL, 0} : key((unsigned)from);
        unsigned i = (unsigned)(from + 1);
        while (i < URLS && !w->model[i].present)
            i++;
        const claim *claim = claims_list(w->claims, from < 0 ? NULL : &after);
        if (i == URLS)
            assert_null(claim);
        else
            compare_terms(w, claim, i);
    }
}

/* Compares the list of one owner's claims, from every token on. */
static void compare_list_of(const world *w, int whose)
{
    for (uint64_t after = 0; after <= TOKENS; after++) {
        unsigned best = URLS;
        for (unsigned i = 0; i < URLS; i++) {
            const entry *e = &w->model[i];
            if (e->present && e->owner == whose && !is_void(w, e) && e->token > after &&
                (best == URLS || e->token < w->model[best].token))
                best = i;
        }
        const claim *claim = claims_list_of(w->claims, owner(whose), after);
        if (best == URLS)
            assert_null(claim);
        else
            compare_terms(w, claim, best);
    }
}

static void compare(const world *w)
{
    uint64_t count = 0;
    double loss = 0;
    for (unsigned i = 0; i < URLS; i++) {
        const entry *e = &w->model[i];
        const claim *claim = claims_of_url(w->claims, key(i));
        assert_true((claim != NULL) == e->present);
        if (!e->present)
            continue;
        compare_terms(w, claim, i);
        count++;
        loss += e->loss;
        if (e->token)
            assert_ptr_equal(claims_of_token(w->claims, owner(e->owner), e->token), is_void(w, e) ? NULL : claim);
    }
    assert_int_equal(claims_count(w->claims), count);
    assert_true(claims_loss(w->claims) == loss);
    assert_null(claims_of_token(w->claims, owner(0), 0));
    compare_deadlines(w);
    compare_list(w);
    for (int i = 0; i < OWNERS; i++)
        compare_list_of(w, i);
}

static bool has_claims(const world *w, int whose)
{
    for (unsigned i = 0; i < URLS; i++)
        if (w->model[i].present && w->model[i].owner == whose)
            return true;
    return false;
}

/* Exactly one block for each claim, one for each owner that has claims, and one for the whole. */
static void compare_memory(const world *w)
{
    uint64_t blocks = 1 + claims_count(w->claims);
    for (int i = 0; i < OWNERS; i++)
        blocks += has_claims(w, i);
    assert_int_equal(w->allocator.live_blocks, blocks);
}

/* ---- operations ---- */

static bool token_taken(const world *w, int whose, uint64_t token, unsigned but)
{
    for (unsigned i = 0; i < URLS; i++)
        if (i != but && token && w->model[i].present && w->model[i].owner == whose && w->model[i].token == token)
            return true;
    return false;
}

/* If the allocator has refused, the result must say so; otherwise it must be this one. True if the change was made. */
static bool done(world *w, int result, int expected)
{
    if (test_allocator_refused(&w->allocator)) {
        assert_int_equal(result, VIDI_EMEMORY);
        return false;
    }
    assert_int_equal(result, expected);
    return result == VIDI_OK;
}

static void put(world *w)
{
    unsigned i = (unsigned)test_below(&w->random, URLS);
    bool given_up = test_below(&w->random, 6) == 0;
    entry e = {.present = true,
               .owner = given_up ? -1 : (int)test_below(&w->random, OWNERS),
               .token = given_up ? 0 : 1 + test_below(&w->random, TOKENS),
               .epoch = given_up ? 0 : w->epoch,
               .deadline = (int64_t)test_below(&w->random, TIMES),
               .lease = 1 + (int64_t)test_below(&w->random, 9),
               .payload = (unsigned)test_below(&w->random, 100),
               .loss = (double)test_below(&w->random, 9) / 8};
    claim_terms terms = {key(i), url(i), payload(e.payload), owner(e.owner), e.token, e.deadline, e.lease, e.loss};
    if (done(w, claims_put(w->claims, &terms), token_taken(w, e.owner, e.token, i) ? VIDI_EEXIST : VIDI_OK))
        w->model[i] = e;
}

static void pass(world *w)
{
    int64_t now = (int64_t)test_below(&w->random, TIMES);
    int first = model_next(w, -1);
    claim *claim = claims_first_expired(w->claims, now);
    if (!claim)
        return;
    entry *e = &w->model[first];
    int to = (int)test_below(&w->random, OWNERS);
    uint64_t token = 1 + test_below(&w->random, TOKENS);
    int64_t lease = 1 + (int64_t)test_below(&w->random, 9);
    if (done(w, claims_pass(w->claims, claim, owner(to), token, now + lease, lease),
             token_taken(w, to, token, URLS) ? VIDI_EEXIST : VIDI_OK)) {
        e->owner = to;
        e->token = token;
        e->epoch = w->epoch;
        e->deadline = now + lease;
        e->lease = lease;
    }
}

static void give_up(world *w)
{
    unsigned i = (unsigned)test_below(&w->random, URLS);
    int64_t at = (int64_t)test_below(&w->random, TIMES);
    if (w->model[i].present) {
        claims_give_up(w->claims, claims_of_url(w->claims, key(i)), at);
        w->model[i].owner = -1;
        w->model[i].token = 0;
        w->model[i].deadline = at;
    }
}

static void give_up_all(world *w)
{
    int who = (int)test_below(&w->random, OWNERS);
    int64_t at = (int64_t)test_below(&w->random, TIMES);
    uint64_t count = 0;
    for (unsigned i = 0; i < URLS; i++) {
        entry *e = &w->model[i];
        if (e->present && e->owner == who && !is_void(w, e)) {
            e->owner = -1;
            e->token = 0;
            e->deadline = at;
            count++;
        }
    }
    assert_int_equal(claims_give_up_all(w->claims, owner(who), at), count);
}

static void extend(world *w)
{
    unsigned i = (unsigned)test_below(&w->random, URLS);
    int64_t lease = 1 + (int64_t)test_below(&w->random, 9), now = (int64_t)test_below(&w->random, TIMES);
    entry *e = &w->model[i];
    if (e->present && !is_void(w, e)) {
        claims_extend(w->claims, claims_of_url(w->claims, key(i)), lease, now);
        e->lease = lease;
        e->deadline = now + lease;
    }
}

static void drop(world *w)
{
    unsigned i = (unsigned)test_below(&w->random, URLS);
    if (w->model[i].present) {
        claims_remove(w->claims, claims_of_url(w->claims, key(i)));
        w->model[i] = (entry){0};
    }
}

static void renew(world *w)
{
    int who = (int)test_below(&w->random, OWNERS);
    int64_t lease = (int64_t)test_below(&w->random, 5), now = (int64_t)test_below(&w->random, TIMES);
    uint64_t renewed = 0;
    for (unsigned i = 0; i < URLS; i++) {
        entry *e = &w->model[i];
        if (e->present && e->owner == who && !is_void(w, e)) {
            e->lease = lease ? lease : e->lease;
            e->deadline = now + e->lease;
            renewed++;
        }
    }
    assert_int_equal(claims_renew(w->claims, owner(who), lease, now), renewed);
}

/* The world goes on with a copy. Void claims of a copy have no owner and belong to epoch 0, before all others. */
static void copy(world *w)
{
    claims *made;
    if (!done(w, claims_copy(&made, w->claims, &w->allocator.hook), VIDI_OK)) {
        assert_null(made);
        return;
    }
    claims_free(w->claims);
    w->claims = made;
    for (unsigned i = 0; i < URLS; i++) {
        entry *e = &w->model[i];
        if (e->present && is_void(w, e)) {
            e->owner = -1;
            e->token = 0;
            e->epoch = 0;
        }
        e->epoch = e->epoch ? 1 : 0;
    }
    w->epoch = 1;
}

static void step(world *w)
{
    static void (*const operations[])(world *) = {put,     put,  put,  put,   put,    pass,       pass,
                                                  give_up, drop, drop, renew, extend, give_up_all};
    uint64_t what = test_below(&w->random, 300);
    if (what == 0) {
        claims_rotate(w->claims);
        w->epoch++;
    } else if (what < 4) {
        copy(w);
    } else {
        operations[what % (sizeof operations / sizeof *operations)](w);
    }
}

static void every_order_agrees_with_a_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        world w;
        begin(&w, seed);
        for (int i = 0; i < 400; i++) {
            step(&w);
            compare(&w);
            compare_memory(&w);
        }
        end(&w);
    }
}

static void a_refusing_allocator_changes_nothing(void **state)
{
    (void)state;
    uint64_t refused = 0;
    for (uint64_t seed = 101; seed <= 106; seed++) {
        world w;
        begin(&w, seed);
        for (int i = 0; i < 400; i++) {
            test_allocator_fail(&w.allocator, 1 + test_below(&w.random, 3), test_below(&w.random, 2));
            step(&w);
            refused += test_allocator_refused(&w.allocator) != 0;
            test_allocator_fail(&w.allocator, 0, false);
            compare(&w);
            compare_memory(&w);
        }
        end(&w);
    }
    assert_true(refused > 300);
}

static void terms_out_of_range_are_refused(void **state)
{
    (void)state;
    world w;
    begin(&w, 1);
    char name[CLAIM_OWNER_MOST + 1];
    memset(name, 'o', sizeof name);
    const claim_terms good = {str("k"), str("u"), str("p"), {name, CLAIM_OWNER_MOST}, 7, 5, 3, 0.5};
    claim_terms bad[12];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        bad[i] = good;
    bad[0].owner = (vidi_str){name, sizeof name};
    bad[1].owner.len = 0; /* a token without an owner */
    bad[2].token = 0;     /* an owner without a token */
    bad[3].deadline = -1;
    bad[4].deadline = CLAIM_DEADLINE_MOST + 1;
    bad[5].lease = 0;
    bad[6].lease = CLAIM_LEASE_MOST + 1;
    bad[7].lease = -1;
    bad[8].key.len = UINT32_MAX;
    bad[9].url.len = UINT32_MAX;
    bad[10].payload.len = SIZE_MAX;
    bad[11].deadline = INT64_MIN;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check(claims_put(w.claims, &bad[i]) == VIDI_ELIMIT && claims_append(w.claims, &bad[i]) == VIDI_ELIMIT,
              "bad terms %zu", i);
    assert_int_equal(claims_count(w.claims), 0);
    assert_int_equal(claims_put(w.claims, &good), VIDI_OK);
    claim *claim = claims_of_url(w.claims, str("k"));
    assert_int_equal(claims_pass(w.claims, claim, str(""), 0, 5, 3), VIDI_ELIMIT);
    assert_int_equal(claims_pass(w.claims, claim, str("o"), 0, 5, 3), VIDI_ELIMIT);
    assert_int_equal(claims_pass(w.claims, claim, str("o"), 1, 5, 0), VIDI_ELIMIT);
    assert_int_equal(claims_pass(w.claims, claim, good.owner, 7, 5, 3), VIDI_EEXIST);
    assert_int_equal(claims_pass(w.claims, claim, str("o"), 8, 5, 3), VIDI_OK);
    assert_null(claims_of_token(w.claims, str("o"), 7));
    assert_ptr_equal(claims_of_token(w.claims, str("o"), 8), claim);
    end(&w);
}

/* Sums of losses are exact: after many claims have come and gone, nothing is left of them. */
static void losses_leave_no_remainder(void **state)
{
    (void)state;
    world w;
    begin(&w, 1);
    for (uint64_t i = 1; i <= 2000; i++) {
        char text[24];
        snprintf(text, sizeof text, "%lu", i * 7919 % 2000);
        double loss = i % 5 == 0 ? -1.0 : i % 7 == 0 ? 1e300 : 1.0 / (double)i;
        claim_terms terms = {str(text), str(text), str(""), str("o"), i, 5, 3, loss};
        assert_int_equal(claims_put(w.claims, &terms), VIDI_OK);
    }
    assert_int_equal(claims_count(w.claims), 2000);
    assert_true(claims_loss(w.claims) > 8.0 * 200);
    for (claim *claim; (claim = claims_next(w.claims, NULL));)
        claims_remove(w.claims, claim);
    assert_true(claims_loss(w.claims) == 0);
    end(&w);
}

/* A page that is given up again and again must not keep the pages of dead workers from being handed out. */
static void what_is_given_up_goes_to_the_end_of_the_queue(void **state)
{
    (void)state;
    world w;
    begin(&w, 1);
    const claim_terms failing = {str("failing"), str("failing"), str(""), str("a"), 1, 10, 10, 0};
    const claim_terms waiting = {str("waiting"), str("waiting"), str(""), str("b"), 2, 11, 10, 0};
    assert_int_equal(claims_put(w.claims, &failing), VIDI_OK);
    assert_int_equal(claims_put(w.claims, &waiting), VIDI_OK);
    claims_give_up(w.claims, claims_of_url(w.claims, str("failing")), 12);
    assert_ptr_equal(claims_first_expired(w.claims, 12), claims_of_url(w.claims, str("waiting")));
    assert_int_equal(claims_expired(w.claims, 12), 2);
    end(&w);
}

static claim_terms appended(const char *key, uint64_t token)
{
    return (claim_terms){str(key), str(key), str(""), token ? str("o") : str(""), token, 5, 3, 0};
}

static void appended_claims_need_ascending_keys_and_tokens_of_their_own(void **state)
{
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        world w;
        begin(&w, 1);
        const struct {
            claim_terms terms;
            int answer;
        } steps[] = {{appended("b", 1), VIDI_OK},
                     {appended("b", 2), VIDI_EEXIST},
                     {appended("a", 2), VIDI_EEXIST},
                     {appended("ba", 0), VIDI_OK},
                     {appended("c", 0), VIDI_OK},
                     {appended("d", 2), VIDI_OK},
                     {appended("e", twice ? 1 : 3), VIDI_OK}};
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
            check(claims_append(w.claims, &steps[i].terms) == steps[i].answer, "step %zu", i);
        assert_int_equal(claims_finish(w.claims), twice ? VIDI_EEXIST : VIDI_OK);
        if (!twice) {
            assert_int_equal(claims_count(w.claims), 5);
            assert_ptr_equal(claims_of_token(w.claims, str("o"), 2), claims_of_url(w.claims, str("d")));
            claim_terms more = appended("bb", 4); /* from here on as if each had been put */
            assert_int_equal(claims_put(w.claims, &more), VIDI_OK);
            assert_ptr_equal(claims_list(w.claims, &(vidi_str){"ba", 2}), claims_of_url(w.claims, str("bb")));
        }
        end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_agrees_with_a_model),
        cmocka_unit_test(a_refusing_allocator_changes_nothing),
        cmocka_unit_test(terms_out_of_range_are_refused),
        cmocka_unit_test(losses_leave_no_remainder),
        cmocka_unit_test(what_is_given_up_goes_to_the_end_of_the_queue),
        cmocka_unit_test(appended_claims_need_ascending_keys_and_tokens_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
