/*
 * Sets and canonical forms: spellings of one page are one URL wherever a URL is taken, batches are loops, and what is
 * no URL is treated as the handle's policy says.
 */
#include "set/canon_cases.h"
#include "support/env.h"

enum { CHUNK = 2048 }; /* of URLs that a set deals with at a time, at most */

static const char *const profiles[] = {NULL,   "none",    "crawl", "crawl,+www,+scheme,+slash,+fragment",
                                       "surt", "key=host"};
enum { PROFILES = sizeof profiles / sizeof *profiles };

typedef struct pair {
    const char *canon, *first, *second;
    bool one; /* page */
} pair;

static const pair pairs[] = {
    {NULL, "HTTP://Example.com:80/a/../b#top", "http://example.com/b", true},
    {NULL, "http://example.com/b", " http://EXAMPLE.com/./b ", true},
    {NULL, "http://example.com", "http://example.com/", true},
    {NULL, "http://example.com/?a=1&b=2", "http://example.com/?b=2&a=1", false},
    {NULL, "http://example.com/a", "http://example.com/A", false},
    {NULL, "http://example.com/", "https://example.com/", false},
    {NULL, "no url", "no  url", false},
    {"whatwg", "http://ex\xc3\xa4mple.com/", "http://xn--exmple-cua.com/", true},
    {"whatwg/1", "http://1.2.3/", "http://1.2.0.3/", true},
    {NULL, "http://example.com/caf\xe9", "http://example.com/caf\xe8", false},
    {NULL, "http://example.com/caf\xe9", "http://example.com/caf%E9", true},
    {NULL, "http://example.com/#!a", "http://example.com/#!b", true},
    {"whatwg,+fragment", "http://example.com/#!a", "http://example.com/#!b", false},
    {"whatwg,+fragment", "http://example.com/#a", "http://example.com/#b", true},
    {"none", "http://example.com", "http://example.com/", false},
    {"none", "HTTP://example.com/", "http://example.com/", false},
    {"crawl", "http://example.com/index.html?b=2&a=1&utm_source=x", "http://example.com/?a=1&b=2", true},
    {"crawl,-sort", "http://example.com/?b=2&a=1", "http://example.com/?a=1&b=2", false},
    {"crawl,-index", "http://example.com/index.html", "http://example.com/", false},
    {"crawl", "http://example.com/?sid=a1b2c3d4e5f6a7b8c9d0", "http://example.com/?sid=a1b2c3d4e5f6a7b8c9d1", false},
    {"crawl", "http://www.example.com/a/", "https://example.com/a", false},
    {"crawl,+www,+scheme,+slash", "http://www.example.com/a/", "https://example.com/a", true},
    {"crawl,+fragment", "http://example.com/index.html#/a", "http://example.com/#/a", true},
    {"surt", "http://www.example.com/A", "https://example.com/a", true},
    {"surt,+scheme", "http://www.example.com/A", "https://example.com/a", false},
    {"key=host", "http://example.com/a", "https://EXAMPLE.com:81/b?c", true},
    {"key=host", "http://example.com/a", "http://www.example.com/a", false},
};

static void has_spelling(vidi_set *set, const pair *of)
{
    uint8_t verdict = VIDI_UNTRIED;
    vidi_str second = test_str(of->second);
    int want = of->one ? VIDI_SEEN : VIDI_NEW;
    uint64_t times = 9;
    check(vidi_has(set, second) == want, "%s and %s", of->first, of->second);
    assert_int_equal(vidi_has_batch(set, &second, 1, &verdict), VIDI_OK);
    assert_int_equal(verdict, want);
    assert_int_equal(vidi_count(set, second, &times), VIDI_OK);
    assert_int_equal(times, of->one);
    assert_int_equal(vidi_remove(set, second), of->one ? VIDI_OK : VIDI_EABSENT);
    assert_int_equal(vidi_add(set, test_str(of->first)), of->one ? VIDI_NEW : VIDI_SEEN);
    assert_int_equal(vidi_add(set, second), want);
    assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    assert_int_equal(vidi_has_previous(set, test_str(of->first)), VIDI_SEEN);
    assert_int_equal(vidi_add(set, test_str(of->first)), VIDI_NEW);
    assert_int_equal(vidi_has(set, second), want);
    assert_int_equal(vidi_has_previous(set, second), VIDI_SEEN);
}

static void spellings_of_one_page_are_one_url(void **state)
{
    static const char *const kinds[] = {"fingerprint", "hashset", "list"};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs * 3; i++) {
        const pair *of = &pairs[i / 3];
        canon_options made;
        canon_options_init(&made, kinds[i % 3], of->canon, VIDI_KEEP_INVALID);
        made.options.flags = VIDI_KEEP_PREVIOUS;
        vidi_set *set = must_create(&made.options);
        assert_int_equal(vidi_add(set, test_str(of->first)), VIDI_NEW);
        has_spelling(set, of);
        vidi_close(set);
    }
}

/* The filter gets the form, and so do those who list the set. */
static int must_be_form(void *context, const vidi_entry *entry)
{
    const char *want = context;
    check(entry->url.len == strlen(want) && memcmp(entry->url.ptr, want, entry->url.len) == 0, "%.*s",
          (int)entry->url.len, entry->url.ptr);
    return 0;
}

static void a_set_lists_canonical_forms(void **state)
{
    char want[] = "http://example.com/b";
    vidi_set *set = canon_set("hashset", NULL, 0);
    (void)state;
    assert_int_equal(vidi_add(set, test_str("HTTP://Example.com:80/a/../b#top")), VIDI_NEW);
    assert_int_equal(vidi_iterate(set, must_be_form, want), VIDI_OK);
    vidi_close(set);
}

static void same_tallies(const vidi_set *a, const vidi_set *b)
{
    vidi_stats one = test_stat(a), two = test_stat(b);
    assert_int_equal(one.count, two.count);
    assert_int_equal(one.answered_new, two.answered_new);
    assert_int_equal(one.answered_seen, two.answered_seen);
    assert_int_equal(one.answered_invalid, two.answered_invalid);
    assert_int_equal(one.asked, two.asked);
}

/* Adds the first half, then asks for all, then adds all, in batches here and one by one there. */
static void must_be_a_loop(vidi_set *batched, vidi_set *looped, const mixture *mixed)
{
    uint8_t *verdicts = malloc(mixed->n + 1);
    check(verdicts != NULL, "no memory");
    for (int round = 0; round < 3; round++) {
        size_t n = round ? mixed->n : mixed->n / 2;
        int result = round == 1 ? vidi_has_batch(batched, mixed->urls, n, verdicts)
                                : vidi_add_batch(batched, mixed->urls, n, verdicts, NULL);
        check(result == VIDI_OK, "%d: %s", result, vidi_message());
        for (size_t i = 0; i < n; i++) {
            int alone = round == 1 ? vidi_has(looped, mixed->urls[i]) : vidi_add(looped, mixed->urls[i]);
            check(verdicts[i] == alone, "round %d, URL %zu of %zu: %d, alone %d: %.60s", round, i, n, verdicts[i],
                  alone, mixed->urls[i].ptr);
        }
    }
    same_tallies(batched, looped);
    free(verdicts);
}

static void a_batch_is_a_loop(void **state)
{
    static const size_t sizes[] = {0, 1, 15, 16, 17, 127, 128, 129, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 5000};
    static const char *const kinds[] = {"fingerprint", "hashset", "multilayer", "eigen"};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        mixture mixed = mixture_of(sizes[i], i);
        for (size_t j = 0; j < PROFILES * 4 * 2; j++) {
            const char *canon = profiles[j / 8], *kind = kinds[j / 2 % 4];
            if (sizes[i] > 200 && j / 2 % 4 >= 2 && (test_sanitized() || j / 8 > 2)) {
                continue; /* time */
            }
            vidi_set *batched = canon_set(kind, canon, j % 2), *looped = canon_set(kind, canon, j % 2);
            must_be_a_loop(batched, looped, &mixed);
            vidi_close(batched);
            vidi_close(looped);
        }
        mixture_free(&mixed);
    }
}

/* Canonical URLs but for the one at `place`. */
static mixture with_one_bad(size_t n, size_t place)
{
    static const shape plain = {"http://h", ".example/p", ""};
    mixture all = {malloc(n * sizeof(vidi_str)), n};
    check(all.urls != NULL, "no memory");
    for (size_t i = 0; i < n; i++) {
        char *text = i == place ? strdup("no url") : shaped(&plain, 1, (unsigned)i);
        check(text != NULL, "no memory");
        all.urls[i] = (vidi_str){text, strlen(text)};
    }
    return all;
}

static void check_policy(const mixture *all, size_t place, uint32_t policy)
{
    static uint8_t verdicts[2 * CHUNK + 2];
    vidi_set *set = canon_set("fingerprint", NULL, policy);
    int result = vidi_add_batch(set, all->urls, all->n, verdicts, NULL);
    bool fails = policy == VIDI_FAIL_INVALID;
    assert_int_equal(result, fails ? VIDI_INVALID : VIDI_OK);
    for (size_t i = 0; i < all->n; i++) {
        int want = i == place && policy == VIDI_DROP_INVALID ? VIDI_INVALID : VIDI_NEW;
        check(verdicts[i] == (fails && i >= place ? VIDI_UNTRIED : want), "place %zu, policy %u: %d at %zu", place,
              policy, verdicts[i], i);
    }
    vidi_stats stats = test_stat(set);
    assert_int_equal(stats.count, fails ? place : all->n - (policy == VIDI_DROP_INVALID));
    assert_int_equal(stats.answered_new, stats.count);
    assert_int_equal(stats.answered_invalid, !fails);
    if (fails) {
        check(strstr(vidi_message(), "no url") != NULL, "%s", vidi_message());
        for (size_t i = place + 1; i < all->n; i++) {
            assert_int_equal(vidi_has(set, all->urls[i]), VIDI_NEW);
        }
    }
    vidi_close(set);
}

static void one_bad_line_is_treated_as_the_policy_says(void **state)
{
    static const size_t places[] = {0, 1, 15, 128, CHUNK - 2, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        mixture all = with_one_bad(2 * CHUNK + 1, places[i]);
        for (uint32_t policy = VIDI_KEEP_INVALID; policy <= VIDI_FAIL_INVALID; policy++) {
            check_policy(&all, places[i], policy);
        }
        mixture_free(&all);
    }
}

/* Single URLs, in every function that takes one. */
static void every_question_follows_the_policy(void **state)
{
    vidi_str bad = test_str("no url");
    uint64_t times = 9;
    uint8_t verdict = 9;
    (void)state;
    for (uint32_t policy = VIDI_KEEP_INVALID; policy <= VIDI_FAIL_INVALID; policy++) {
        canon_options made;
        canon_options_init(&made, "fingerprint", NULL, policy);
        made.options.flags = VIDI_KEEP_PREVIOUS;
        vidi_set *set = must_create(&made.options);
        bool keep = policy == VIDI_KEEP_INVALID;
        assert_int_equal(vidi_has(set, bad), keep ? VIDI_NEW : VIDI_INVALID);
        assert_int_equal(vidi_add(set, bad), keep ? VIDI_NEW : VIDI_INVALID);
        assert_int_equal(vidi_has(set, bad), keep ? VIDI_SEEN : VIDI_INVALID);
        assert_int_equal(vidi_count(set, bad, &times), keep ? VIDI_OK : VIDI_INVALID);
        assert_int_equal(vidi_remove(set, bad), keep ? VIDI_OK : VIDI_INVALID);
        assert_int_equal(vidi_has_previous(set, bad), keep ? VIDI_ECANNOT : VIDI_INVALID);
        assert_int_equal(vidi_add(set, bad), keep ? VIDI_NEW : VIDI_INVALID);
        assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
        assert_int_equal(vidi_has_previous(set, bad), keep ? VIDI_SEEN : VIDI_INVALID);
        assert_int_equal(vidi_has_batch(set, &bad, 1, &verdict), policy == VIDI_FAIL_INVALID ? VIDI_INVALID : VIDI_OK);
        assert_int_equal(verdict, keep ? VIDI_NEW : policy == VIDI_DROP_INVALID ? VIDI_INVALID : VIDI_UNTRIED);
        assert_int_equal(vidi_has(set, (vidi_str){NULL, 3}), VIDI_EARGUMENT);
        assert_int_equal(vidi_remove(set, (vidi_str){NULL, 3}), VIDI_EARGUMENT);
        vidi_close(set);
    }
}

/* Counted by epoch, whatever the policy; if they are kept, also as new or seen. Questions are not adds. */
static void what_is_no_url_is_counted(void **state)
{
    static const char *const lines[] = {"http://a.example/", "b", "b", "", "http://A.example", "http://c.example/#d"};
    (void)state;
    for (uint32_t policy = VIDI_KEEP_INVALID; policy <= VIDI_FAIL_INVALID; policy++) {
        vidi_set *set = canon_set("hashset", NULL, policy);
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            vidi_add(set, test_str(lines[i]));
            vidi_has(set, test_str(lines[i]));
        }
        vidi_stats stats = test_stat(set);
        bool keep = policy == VIDI_KEEP_INVALID;
        assert_int_equal(stats.answered_new, keep ? 4 : 2);
        assert_int_equal(stats.answered_seen, keep ? 2 : 1);
        assert_int_equal(stats.answered_invalid, policy == VIDI_FAIL_INVALID ? 0 : 3); /* what fails leaves no trace */
        assert_int_equal(stats.asked, policy == VIDI_FAIL_INVALID ? 3 : 6);
        assert_string_equal(stats.canon, "whatwg/1");
        assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
        assert_int_equal(test_stat(set).answered_invalid, 0);
        vidi_close(set);
    }
}

/* What is kept never passes for the form of a URL, nor the other way round, in any form. */
static void kept_text_is_never_taken_for_a_url(void **state)
{
    static const char *const all[][2] = {
        {"key=host", "example.com"}, {"surt", "com,example)/"},  {"surt,+scheme,+comma", "http://(com,example,)/"},
        {"whatwg", "example.com/"},  {"crawl", "//example.com"}, {"key=site", "example.com"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all * 2; i++) {
        vidi_str kept = test_str(all[i / 2][1]), url = test_str("http://example.com/");
        vidi_set *set = NULL;
        canon_options made;
        canon_options_init(&made, "hashset", all[i / 2][0], VIDI_KEEP_INVALID);
        if (vidi_create(&set, &made.options) == VIDI_EOPTION) {
            continue; /* a build without libpsl */
        }
        assert_non_null(set);
        assert_int_equal(vidi_add(set, i % 2 ? kept : url), VIDI_NEW);
        check(vidi_add(set, i % 2 ? url : kept) == VIDI_NEW, "%s: %s", all[i / 2][0], all[i / 2][1]);
        assert_int_equal(vidi_add(set, kept), VIDI_SEEN);
        assert_int_equal(vidi_add(set, url), VIDI_SEEN);
        vidi_close(set);
    }
}

static void unknown_forms_and_policies_are_refused(void **state)
{
    static const char *const wrong[] = {"", "nose", "crawl/2", "whatwg,-sort", "crawl,-nose", "WHATWG"};
    canon_options made;
    vidi_set *set = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        canon_options_init(&made, NULL, wrong[i], 0);
        assert_int_equal(vidi_create(&set, &made.options), VIDI_EOPTION);
        assert_null(set);
    }
    canon_options_init(&made, NULL, NULL, VIDI_FAIL_INVALID + 1);
    assert_int_equal(vidi_create(&set, &made.options), VIDI_EOPTION);
    canon_options_init(&made, NULL, NULL, 0);
    made.options.tracking = own_list;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_EOPTION);
    assert_null(set);
}

/* A caller that was compiled before there were forms gets the default. */
static void older_callers_get_the_default(void **state)
{
    canon_options made;
    (void)state;
    canon_options_init(&made, NULL, "none", 0);
    made.options.size = offsetof(vidi_options, canon);
    vidi_set *set = must_create(&made.options);
    assert_string_equal(test_stat(set).canon, "whatwg/1");
    vidi_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings_of_one_page_are_one_url),
        cmocka_unit_test(a_set_lists_canonical_forms),
        cmocka_unit_test(a_batch_is_a_loop),
        cmocka_unit_test(one_bad_line_is_treated_as_the_policy_says),
        cmocka_unit_test(every_question_follows_the_policy),
        cmocka_unit_test(what_is_no_url_is_counted),
        cmocka_unit_test(kept_text_is_never_taken_for_a_url),
        cmocka_unit_test(unknown_forms_and_policies_are_refused),
        cmocka_unit_test(older_callers_get_the_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
