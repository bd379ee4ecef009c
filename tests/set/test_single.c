/*
 * One URL at a time has ways of its own through the set. Answers, counters and expected losses are those of a batch,
 * for every kind, whatever the lines are and whatever is done with those that are not URLs.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "support/check.h"
#include "support/runner.h"
#include "support/urls.h"

enum { LINES = 600, PART = 100, SEED = 3 };

/* Lines for each way: in canonical form, plain or not; to be brought into it; not URLs; and each of them twice. */
static const char *const odd[] = {
    "",
    "no url",
    "http://",
    "HTTP://Example.ORG/a/../b",
    "http://example.org",
    "http://example.org/%7e",
    "http://example.org/a?b=c#fragment",
    "https://www.example.org/a/plain/path/of/some/length/",
    "https://www.example.org/a/path/with/a/query?and=its&values",
    "https://www.example.org/a/path/with/./a/dot/segment/in/it",
    "https://www.example.org/a/path/with/%41/in/it/and/more/of/it",
    "https://www.example.org/a/path/with a space/in/it/and/more/of",
    "https://1.2.3.4/a/path/that/is/long/enough/for/the/short/way",
    "https://1.2.3.400/a/path/that/is/long/enough/for/the/short/way",
    "ftp://example.org/another/scheme",
};

typedef struct lines {
    char text[LINES][TEST_URL_ROOM];
    vidi_str list[LINES];
} lines;

static void make_lines(lines *self)
{
    for (size_t i = 0; i < LINES; i++) {
        size_t which = i % 40;
        char *text = self->text[i];
        size_t len = which < VIDI__COUNT(odd) ? strlen(odd[which]) : test_url(text, TEST_URL_ROOM, SEED, i / 2);
        if (which < VIDI__COUNT(odd))
            memcpy(text, odd[which], len);
        self->list[i] = (vidi_str){text, len};
    }
}

typedef struct variant {
    const char *canon;
    uint32_t invalid;
} variant;

static const variant variants[] = {
    {"whatwg", VIDI_KEEP_INVALID}, {"whatwg", VIDI_DROP_INVALID}, {"none", VIDI_KEEP_INVALID},
    {"crawl", VIDI_KEEP_INVALID},  {"w3lib", VIDI_KEEP_INVALID},  {"surt", VIDI_KEEP_INVALID},
    {"surt", VIDI_DROP_INVALID},
};

static vidi_set *make_set(const test_case *which, const variant *as)
{
    test_options made;
    vidi_set *set = NULL;
    test_case_options(&made, which, LINES, SEED);
    made.access.invalid = as->invalid;
    made.options.canon = as->canon;
    int code = vidi_create(&set, &made.options);
    check(code == VIDI_OK, "%s %s: %s", which->kind, which->params ? which->params : "", vidi_message());
    return set;
}

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-3 * fmax(fabs(a), fabs(b));
}

static void must_agree(const vidi_set *one, const vidi_set *all, const variant *as)
{
    vidi_stats a = test_stat(one), b = test_stat(all);
    assert_int_equal(a.count, b.count);
    assert_int_equal(a.answered_new, b.answered_new);
    assert_int_equal(a.answered_seen, b.answered_seen);
    assert_int_equal(a.answered_invalid, b.answered_invalid);
    assert_int_equal(a.asked, b.asked);
    assert_int_equal(a.answered_new + a.answered_seen + (as->invalid == VIDI_DROP_INVALID ? a.answered_invalid : 0),
                     LINES);
    assert_true(a.fp_now == b.fp_now); /* the same filter, bit by bit */
}

static void one_at_a_time_is_as_a_batch(void **state)
{
    static lines lines;
    uint8_t verdicts[LINES];
    make_lines(&lines);
    for (size_t v = 0; v < VIDI__COUNT(variants); v++) {
        vidi_set *one = make_set(*state, &variants[v]), *all = make_set(*state, &variants[v]);
        for (size_t i = 0; i < LINES; i += PART)
            assert_int_equal(vidi_add_batch(all, lines.list + i, PART, verdicts + i, NULL), VIDI_OK);
        for (size_t i = 0; i < LINES; i++)
            check(vidi_add(one, lines.list[i]) == verdicts[i], "line %zu <%.*s> of variant %zu", i,
                  (int)lines.list[i].len, lines.list[i].ptr, v);
        assert_int_equal(vidi_has_batch(all, lines.list, LINES, verdicts), VIDI_OK);
        for (size_t i = 0; i < LINES; i++)
            assert_int_equal(vidi_has(one, lines.list[i]), verdicts[i]);
        must_agree(one, all, &variants[v]);
        vidi_close(one);
        vidi_close(all);
    }
}

/* Each NEW answer stands for the pages that would have been lost if it had been a false "seen". */
static void expected_losses_are_the_sum_over_all_answers(void **state)
{
    enum { URLS = 1000 };
    char room[TEST_URL_ROOM];
    vidi_set *set = test_case_set(*state, URLS, SEED, NULL);
    double lost = 0;
    for (uint64_t i = 0; i < URLS; i++) {
        double p = fmin(test_stat(set).fp_now, 0.999);
        if (vidi_add(set, (vidi_str){room, test_url(room, sizeof room, SEED, i - i % 3)}) == VIDI_NEW)
            lost += p / (1 - p);
    }
    double told = test_stat(set).expected_lost;
    check(close_to(told, lost), "%.17g, and not %.17g", told, lost);
    vidi_close(set);
}

/* Batches cost as much as their URLs one by one. */
static void expected_losses_do_not_depend_on_the_size_of_batches(void **state)
{
    enum { URLS = 20000 };
    test_batch batch;
    uint8_t verdicts[PART];
    vidi_set *one = test_case_set(*state, URLS, SEED, NULL), *all = test_case_set(*state, URLS, SEED, NULL);
    test_batch_init(&batch, PART);
    for (uint64_t at = 0; at < URLS; at += PART) {
        test_batch_fill(&batch, test_url, SEED, at, PART);
        assert_int_equal(vidi_add_batch(all, batch.urls, PART, verdicts, NULL), VIDI_OK);
        for (size_t i = 0; i < PART; i++)
            assert_true(vidi_add(one, batch.urls[i]) > 0);
    }
    double a = test_stat(one).expected_lost, b = test_stat(all).expected_lost;
    check(close_to(a, b), "%.17g one at a time, %.17g in batches", a, b);
    test_batch_free(&batch);
    vidi_close(one);
    vidi_close(all);
}

static bool takes_batches(const test_case *which)
{
    return strcmp(which->kind, "fingerprint") == 0 || strcmp(which->kind, "blocked") == 0;
}

static void errors_are_explained(void **state)
{
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set;
    (void)state;
    options.access = &access;
    access.invalid = VIDI_FAIL_INVALID;
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    assert_int_equal(vidi_add(NULL, test_str("http://example.org/")), VIDI_EARGUMENT);
    assert_int_equal(vidi_has(NULL, test_str("http://example.org/")), VIDI_EARGUMENT);
    assert_int_equal(vidi_add(set, (vidi_str){NULL, 5}), VIDI_EARGUMENT);
    assert_int_equal(vidi_has(set, (vidi_str){NULL, 5}), VIDI_EARGUMENT);
    assert_int_equal(vidi_add(set, test_str("no url")), VIDI_INVALID);
    assert_non_null(strstr(vidi_message(), "no url"));
    assert_int_equal(vidi_add(set, test_str("http://example.org/")), VIDI_NEW);
    assert_non_null(strstr(vidi_message(), "no url")); /* a good answer leaves the message alone */
    assert_int_equal(vidi_has(set, test_str("http:// space")), VIDI_INVALID);
    assert_null(strstr(vidi_message(), "no url"));
    vidi_close(set);
}

int main(int argc, char **argv)
{
    test_add_cases("one at a time is as a batch", one_at_a_time_is_as_a_batch, NULL);
    test_add_cases("expected losses are the sum over all answers", expected_losses_are_the_sum_over_all_answers, NULL);
    test_add_cases("expected losses do not depend on the size of batches",
                   expected_losses_do_not_depend_on_the_size_of_batches, takes_batches);
    test_add("errors are explained", errors_are_explained, NULL);
    return test_run("one at a time", argc, argv);
}
