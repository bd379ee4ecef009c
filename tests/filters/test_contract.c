/*
 * What every kind promises, whatever it is made of: compared with the truth, for each kind and several parameter sets.
 *
 * The sets have fixed keys, so that every run sees the same answers; the bounds of the statistical checks are those of
 * support/stats.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/check.h"
#include "support/env.h"
#include "support/oracle.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/stats.h"
#include "support/streams.h"
#include "support/urls.h"

enum { CHUNK = 512 };

/* A stretch of the stream of URLs: new ones in order, mixed with repeats of earlier ones, some of this very stretch. */
typedef struct chunk {
    test_batch batch;
    uint64_t index[2 * CHUNK];
    bool first[2 * CHUNK];
    uint8_t verdicts[2 * CHUNK];
} chunk;

/* What became of the URLs 0 .. n - 1. */
typedef struct tally {
    uint64_t n;
    uint64_t adds;
    uint64_t answered_new;
    unsigned char *held; /* a byte each: was answered NEW */
} tally;

static void *must(void *ptr)
{
    assert_non_null(ptr);
    return ptr;
}

static chunk *chunk_new(void)
{
    chunk *made = must(malloc(sizeof *made));
    test_batch_init(&made->batch, 2 * CHUNK);
    return made;
}

static void chunk_free(chunk *old)
{
    test_batch_free(&old->batch);
    free(old);
}

static void chunk_push(chunk *to, test_random *random, uint64_t seed, uint64_t index, bool first)
{
    uint64_t which = first ? index : test_below(random, index + 1);
    to->index[to->batch.n] = which;
    to->first[to->batch.n] = first;
    test_batch_push(&to->batch, test_url, seed, which);
}

/* URLs from `at` on, and after one in four a repeat. Returns where the next chunk begins. */
static uint64_t chunk_fill(chunk *to, test_random *random, uint64_t seed, uint64_t at, uint64_t n)
{
    to->batch.n = 0;
    for (; at < n && to->batch.n < CHUNK; at++) {
        chunk_push(to, random, seed, at, true);
        if (test_below(random, 4) == 0) {
            chunk_push(to, random, seed, at, false);
        }
    }
    return at;
}

static void add_singly(vidi_set *set, chunk *of)
{
    for (size_t i = 0; i < of->batch.n; i++) {
        int verdict = vidi_add(set, of->batch.urls[i]);
        check(verdict == VIDI_NEW || verdict == VIDI_SEEN, "vidi_add: %d, %s", verdict, vidi_message());
        of->verdicts[i] = (uint8_t)verdict;
    }
}

static void add_together(vidi_set *set, chunk *of)
{
    memset(of->verdicts, 77, sizeof of->verdicts);
    int result = vidi_add_batch(set, of->batch.urls, of->batch.n, of->verdicts, NULL);
    check(result == VIDI_OK, "vidi_add_batch: %d, %s", result, vidi_message());
}

static void judge(const chunk *of, tally *sum)
{
    for (size_t i = 0; i < of->batch.n; i++) {
        bool fresh = of->verdicts[i] == VIDI_NEW;
        check(fresh || of->verdicts[i] == VIDI_SEEN, "verdict %d", of->verdicts[i]);
        check(!fresh || !sum->held[of->index[i]], "NEW for a URL that it holds: %.*s", (int)of->batch.urls[i].len,
              of->batch.urls[i].ptr);
        sum->held[of->index[i]] |= fresh;
        sum->answered_new += fresh;
    }
    sum->adds += of->batch.n;
}

static void fill(vidi_set *set, tally *sum, uint64_t n, uint64_t seed)
{
    test_random random = {seed};
    chunk *part = chunk_new();
    uint64_t round = 0;
    *sum = (tally){n, 0, 0, must(calloc(n ? n : 1, 1))};
    for (uint64_t at = 0; at < n; round++) {
        at = chunk_fill(part, &random, seed, at, n);
        if (round & 1) {
            add_singly(set, part);
        } else {
            add_together(set, part);
        }
        judge(part, sum);
    }
    chunk_free(part);
}

static uint64_t lost_of(const tally *sum)
{
    uint64_t lost = 0;
    for (uint64_t i = 0; i < sum->n; i++) {
        lost += !sum->held[i];
    }
    return lost;
}

/* Asks for the URLs first .. first + n - 1: how many are answered SEEN. Those of `held` must be. */
static uint64_t ask(const vidi_set *set, uint64_t seed, uint64_t first, uint64_t n, const unsigned char *held)
{
    test_batch batch;
    uint8_t verdicts[CHUNK];
    uint64_t seen = 0;
    test_batch_init(&batch, CHUNK);
    for (uint64_t at = 0; at < n; at += batch.n) {
        test_batch_fill(&batch, test_url, seed, first + at, (size_t)(n - at < CHUNK ? n - at : CHUNK));
        assert_int_equal(vidi_has_batch(set, batch.urls, batch.n, verdicts), VIDI_OK);
        for (size_t i = 0; i < batch.n; i++) {
            check(verdicts[i] == VIDI_SEEN || !held || !held[at + i], "forgotten: %.*s", (int)batch.urls[i].len,
                  batch.urls[i].ptr);
            seen += verdicts[i] == VIDI_SEEN;
        }
    }
    test_batch_free(&batch);
    return seen;
}

/* The number of events against what the kind said of them. */
static void compare(const char *what, const vidi_stats *stats, uint64_t events, test_interval predicted)
{
    bool high_enough = stats->fp_meaning != VIDI_FP_EXACT || events >= predicted.low;
    bool low_enough = stats->fp_meaning == VIDI_FP_ESTIMATE || events <= predicted.high;
    check(high_enough && low_enough, "%s: %llu, predicted %llu to %llu (fp_now %g, expected_lost %g, meaning %u)", what,
          (unsigned long long)events, (unsigned long long)predicted.low, (unsigned long long)predicted.high,
          stats->fp_now, stats->expected_lost, stats->fp_meaning);
}

static void compare_lost(const vidi_stats *stats, uint64_t lost)
{
    compare("lost", stats, lost, test_lost_interval(stats->expected_lost, stats->fp_now, TEST_ALPHA));
}

/* Enough for the statistics; set/no_false_negative has more. */
enum { SHORT_URLS = 250000 };

static uint64_t size_of_case(const test_case *which)
{
    uint64_t n = test_long() || test_urls() < SHORT_URLS ? test_urls() : SHORT_URLS;
    return which->traits & TEST_FULL ? test_case_urls(which, n) : test_case_few(which, (n + 9) / 10);
}

static void check_counts(const test_case *which, const vidi_stats *stats, const tally *sum)
{
    assert_int_equal(stats->answered_new, sum->answered_new);
    assert_int_equal(stats->answered_seen, sum->adds - sum->answered_new);
    assert_int_equal(stats->answered_invalid, 0);
    if (which->traits & TEST_MULTISET) {
        assert_in_range(stats->count, sum->answered_new, sum->adds);
    } else {
        assert_int_equal(stats->count, sum->answered_new);
    }
    if (which->traits & TEST_EXACT) {
        assert_int_equal(sum->answered_new, sum->n);
    }
}

/* The heart of it: no false negative, as many losses as expected_lost says, as many false positives as fp_now says. */
static void keeps_its_promises(void **state)
{
    const test_case *which = *state;
    uint64_t n = size_of_case(which);
    vidi_set *set = test_case_set(which, n, 11, NULL);
    tally sum;
    fill(set, &sum, n, 11);
    vidi_stats stats = test_stat(set);
    check_counts(which, &stats, &sum);
    compare_lost(&stats, lost_of(&sum));
    ask(set, 11, 0, n, sum.held);
    uint64_t seen = ask(set, 11, n, n, NULL);
    assert_int_equal(test_stat(set).asked, 2 * n);
    compare("false positives", &stats, seen, test_binomial_interval(n, stats.fp_now, TEST_ALPHA));
    free(sum.held);
    vidi_close(set);
}

/* The same at other seeds, smaller and overfull: two and a half times as many URLs as it was made for. */
static void keeps_its_promises_when_overfull(void **state)
{
    const test_case *which = *state;
    uint64_t n = test_case_few(which, test_urls_at_most(1000000) / 50);
    for (uint64_t seed = 21; seed < 23; seed++) {
        vidi_set *set = test_case_set(which, n * 2 / 5, seed, NULL);
        tally sum;
        fill(set, &sum, n, seed);
        vidi_stats stats = test_stat(set);
        check_counts(which, &stats, &sum);
        compare_lost(&stats, lost_of(&sum));
        ask(set, seed, 0, n, sum.held);
        uint64_t seen = ask(set, seed, n, n, NULL);
        compare("false positives", &stats, seen, test_binomial_interval(n, stats.fp_now, TEST_ALPHA));
        free(sum.held);
        vidi_close(set);
    }
}

/* Deep pages of one site that differ in a number only: no excuse for kinds that promise a probability. */
static void keeps_its_promises_on_similar_urls(void **state)
{
    const test_case *which = *state;
    uint64_t n = test_case_few(which, test_urls_at_most(1000000) / 50);
    vidi_set *set = test_case_set(which, n, 31, NULL);
    test_batch batch;
    uint64_t lost = 0, seen = 0;
    test_batch_init(&batch, 1);
    for (uint64_t i = 0; i < n; i++) {
        test_batch_fill(&batch, test_deep_url, 1, i, 1);
        lost += vidi_add(set, batch.urls[0]) != VIDI_NEW;
        assert_int_equal(vidi_has(set, batch.urls[0]), VIDI_SEEN);
    }
    vidi_stats stats = test_stat(set);
    for (uint64_t i = n; i < 2 * n; i++) {
        test_batch_fill(&batch, test_deep_url, 1, i, 1);
        seen += vidi_has(set, batch.urls[0]) != VIDI_NEW;
    }
    test_batch_free(&batch);
    vidi_close(set);
    compare_lost(&stats, lost);
    compare("false positives", &stats, seen, test_binomial_interval(n, stats.fp_now, TEST_ALPHA));
}

/* Real URLs beside the oracle. */
typedef struct reading {
    vidi_set *set;
    test_oracle *truth;
    test_oracle *held;
    uint64_t left;
    uint64_t lost;
} reading;

static int read_line(void *context, vidi_str line)
{
    reading *of = context;
    bool fresh = test_oracle_add(of->truth, line);
    int verdict = vidi_add(of->set, line);
    check(verdict == VIDI_NEW || verdict == VIDI_SEEN, "%d for %.*s", verdict, (int)line.len, line.ptr);
    if (verdict == VIDI_NEW) {
        check(test_oracle_add(of->held, line), "NEW for a URL that it holds: %.*s", (int)line.len, line.ptr);
    }
    of->lost += fresh && verdict == VIDI_SEEN;
    return --of->left == 0;
}

static bool is_small_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && about.st_size < 256 * 1024;
}

static void read_corpus(reading *of)
{
    char path[1024];
    for (size_t i = 0; test_corpus_path(i, path, sizeof path) && of->left; i++) {
        if (test_long() || is_small_file(path)) {
            int result = test_corpus_read(path, read_line, of);
            check(result >= 0, "%s cannot be read", path);
        }
    }
}

static void keeps_its_promises_on_real_urls(void **state)
{
    const test_case *which = *state;
    uint64_t n = test_long() ? 4300000 : 30000;
    if (!test_data()) {
        skip();
    }
    reading of = {NULL, test_oracle_new(), test_oracle_new(), UINT64_MAX, 0};
    if (test_case_urls(which, UINT64_MAX) < UINT64_MAX) {
        of.left = n = test_long() ? test_case_urls(which, UINT64_MAX) : test_case_few(which, UINT64_MAX);
    }
    of.set = test_case_bytes_set(which, n, 41, NULL); /* as the oracle does */
    read_corpus(&of);
    vidi_stats stats = test_stat(of.set);
    assert_true(test_oracle_count(of.truth) > 0);
    assert_int_equal(stats.answered_new, test_oracle_count(of.held));
    compare_lost(&stats, of.lost);
    test_oracle_free(of.truth);
    test_oracle_free(of.held);
    vidi_close(of.set);
}

static bool nearly(double a, double b, double share)
{
    return fabs(a - b) <= share * (fabs(a) + fabs(b)) + 1e-12;
}

static void same_counts(const vidi_stats *a, const vidi_stats *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->answered_new, b->answered_new);
    assert_int_equal(a->answered_seen, b->answered_seen);
    assert_int_equal(a->answered_invalid, b->answered_invalid);
    check(nearly(a->fp_now, b->fp_now, 1e-9), "fp_now %g and %g", a->fp_now, b->fp_now);
    check(nearly(a->fill, b->fill, 1e-9), "fill %g and %g", a->fill, b->fill);
}

/* Batches of all sizes with repeats inside, on sets that are far too small, so that false positives abound. */
static void a_batch_equals_the_loop(void **state)
{
    const test_case *which = *state;
    uint64_t n = 6000;
    vidi_set *one = test_case_set(which, n / 3, 51, NULL);
    vidi_set *other = test_case_set(which, n / 3, 51, NULL);
    test_random random = {51};
    chunk *part = chunk_new();
    uint8_t singly[2 * CHUNK];
    for (uint64_t at = 0; at < n;) {
        uint64_t size = 1 + test_below(&random, 300);
        at = chunk_fill(part, &random, 51, at, at + size < n ? at + size : n);
        add_singly(one, part);
        memcpy(singly, part->verdicts, part->batch.n);
        add_together(other, part);
        assert_memory_equal(part->verdicts, singly, part->batch.n);
        assert_int_equal(vidi_has_batch(other, part->batch.urls, part->batch.n, part->verdicts), VIDI_OK);
        for (size_t i = 0; i < part->batch.n; i++) {
            assert_int_equal(part->verdicts[i], vidi_has(one, part->batch.urls[i]));
        }
    }
    vidi_stats a = test_stat(one);
    vidi_stats b = test_stat(other);
    same_counts(&a, &b);
    check(nearly(a.expected_lost, b.expected_lost, 0.01), "expected_lost %g, %g", a.expected_lost, b.expected_lost);
    assert_int_equal(a.asked, b.asked);
    chunk_free(part);
    vidi_close(one);
    vidi_close(other);
}

static void a_batch_of_one_url_many_times_has_one_new(void **state)
{
    vidi_set *set = test_case_set(*state, 1000, 52, NULL);
    vidi_str urls[200];
    uint8_t verdicts[200];
    for (size_t i = 0; i < 200; i++) {
        urls[i] = test_str("http://example.org/again");
    }
    assert_int_equal(vidi_add_batch(set, urls, 200, verdicts, NULL), VIDI_OK);
    assert_int_equal(verdicts[0], VIDI_NEW);
    for (size_t i = 1; i < 200; i++) {
        assert_int_equal(verdicts[i], VIDI_SEEN);
    }
    assert_int_equal(vidi_add_batch(set, NULL, 0, NULL, NULL), VIDI_OK);
    vidi_close(set);
}

static void asking_never_adds(void **state)
{
    uint64_t n = 2000;
    vidi_set *set = test_case_set(*state, n, 53, NULL);
    tally sum;
    fill(set, &sum, n, 53);
    vidi_stats before = test_stat(set);
    uint64_t seen = ask(set, 53, n, 4 * n, NULL);
    assert_int_equal(ask(set, 53, n, 4 * n, NULL), seen);
    vidi_stats after = test_stat(set);
    same_counts(&before, &after);
    assert_true(before.expected_lost == after.expected_lost);
    assert_int_equal(after.asked - before.asked, 8 * n);
    free(sum.held);
    vidi_close(set);
}

/* An empty URL, zero bytes, bytes that are no text, and one of a megabyte are URLs like any other. */
static void any_bytes_are_a_url(void **state)
{
    vidi_set *set = test_case_set(*state, 1000, 54, NULL);
    char *large = must(malloc(1 << 20));
    memset(large, 'x', 1 << 20);
    memcpy(large, "http://example.org/", 19);
    vidi_str urls[] = {
        {"", 0},  {"\0", 1},      {"\0\0", 2},     {"\xff\xfe/\x80", 4}, {"/", 1},         {"//", 2},
        {"?", 1}, {"http://", 7}, {"http:///", 8}, {"a\0b", 3},          {large, 1 << 20}, {large, (1 << 20) - 1},
    };
    size_t n = sizeof urls / sizeof *urls;
    for (size_t i = 0; i < n; i++) {
        int verdict = vidi_add(set, urls[i]);
        check(verdict == VIDI_NEW || test_stat(set).fp_meaning == VIDI_FP_ESTIMATE, "URL %zu: %d", i, verdict);
        assert_int_equal(vidi_has(set, urls[i]), VIDI_SEEN);
    }
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(vidi_add(set, urls[i]), VIDI_SEEN);
    }
    free(large);
    vidi_close(set);
}

static void same_statistics(const test_case *which, const vidi_stats *a, const vidi_stats *b)
{
    assert_string_equal(a->kind, b->kind);
    assert_string_equal(a->params, b->params);
    assert_string_equal(a->hash, b->hash);
    assert_int_equal(a->can, b->can);
    assert_int_equal(a->fp_meaning, b->fp_meaning);
    assert_int_equal(a->hash_trust, b->hash_trust);
    assert_int_equal(a->stages, b->stages);
    assert_int_equal(a->epoch, b->epoch);
    assert_int_equal(a->capacity, b->capacity);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->answered_new, b->answered_new);
    assert_int_equal(a->answered_seen, b->answered_seen);
    assert_int_equal(a->asked, b->asked);
    assert_int_equal(a->removed, b->removed);
    assert_int_equal(a->ambiguous, b->ambiguous);
    check(nearly(a->expected_lost, b->expected_lost, 1e-12), "%g, %g", a->expected_lost, b->expected_lost);
    check(nearly(a->fp_now, b->fp_now, 1e-12), "fp_now %g, %g", a->fp_now, b->fp_now);
    if (!(which->traits & TEST_EXACT)) {
        assert_int_equal(a->bytes, b->bytes);
        check(nearly(a->fill, b->fill, 1e-12), "fill %g, %g", a->fill, b->fill);
    }
}

static void same_answers(const vidi_set *a, const vidi_set *b, uint64_t seed, uint64_t n)
{
    char url[TEST_URL_ROOM];
    for (uint64_t i = 0; i < n; i++) {
        vidi_str one = {url, test_url(url, sizeof url, seed, i)};
        assert_int_equal(vidi_has(a, one), vidi_has(b, one));
    }
}

/* Written and read, a set is the same; and goes on as the other does. */
static void a_stream_brings_the_set_back(void **state)
{
    const test_case *which = *state;
    uint64_t n = 3000;
    vidi_set *set = test_case_set(which, n, 58, NULL);
    vidi_set *copy = NULL;
    test_stream stream;
    tally sum;
    char url[TEST_URL_ROOM];
    fill(set, &sum, n, 58);
    test_stream_write(&stream, set);
    int result = test_stream_read(&stream, &copy, stream.size, NULL);
    check(result == VIDI_OK && copy, "vidi_read: %d, %s", result, vidi_message());
    vidi_stats a = test_stat(set);
    vidi_stats b = test_stat(copy);
    same_statistics(which, &a, &b);
    same_answers(set, copy, 58, 3 * n);
    for (uint64_t i = n / 2; i < 3 * n; i++) {
        vidi_str one = {url, test_url(url, sizeof url, 58, i)};
        assert_int_equal(vidi_add(set, one), vidi_add(copy, one));
    }
    a = test_stat(set);
    b = test_stat(copy);
    same_statistics(which, &a, &b);
    free(sum.held);
    test_stream_free(&stream);
    vidi_close(set);
    vidi_close(copy);
}

static void counts_are_exact_or_never_too_small(void **state)
{
    const test_case *which = *state;
    vidi_set *set = test_case_set(which, 1000, 61, NULL);
    char url[TEST_URL_ROOM];
    uint64_t times;
    for (uint64_t i = 0; i < 1000; i++) {
        vidi_str one = {url, test_url(url, sizeof url, 61, i)};
        for (uint64_t j = 0; j <= i % 3; j++) {
            vidi_add(set, one);
        }
    }
    for (uint64_t i = 0; i < 2000; i++) {
        vidi_str one = {url, test_url(url, sizeof url, 61, i)};
        uint64_t truth = i >= 1000 ? 0 : which->traits & TEST_MULTISET ? i % 3 + 1 : 1;
        assert_int_equal(vidi_count(set, one, &times), VIDI_OK);
        check(times >= truth, "%llu of a URL that was added %llu times", (unsigned long long)times,
              (unsigned long long)truth);
        check(times == truth || !(which->traits & TEST_EXACT), "%llu", (unsigned long long)times);
    }
    vidi_close(set);
}

/* One step of a random sequence of adds and legal removes. A plain set may remove only what it answered NEW for. */
static void add_or_remove(vidi_set *set, const test_case *which, test_oracle *may, vidi_str url, bool add)
{
    bool multiset = which->traits & TEST_MULTISET;
    if (add) {
        int verdict = vidi_add(set, url);
        assert_in_range(verdict, VIDI_NEW, VIDI_SEEN);
        if (multiset || verdict == VIDI_NEW) {
            test_oracle_add(may, url);
        }
    } else if (test_oracle_times(may, url)) {
        assert_int_equal(vidi_remove(set, url), VIDI_OK);
        test_oracle_remove(may, url);
    } else if (which->traits & TEST_EXACT || vidi_has(set, url) == VIDI_NEW) {
        assert_int_equal(vidi_remove(set, url), VIDI_EABSENT);
    }
}

static void legal_removes_never_hurt_another(void **state)
{
    const test_case *which = *state;
    vidi_set *set = test_case_set(which, 500, 62, NULL);
    test_oracle *may = test_oracle_new();
    test_random random = {62};
    char url[TEST_URL_ROOM];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 1000; i++) {
            vidi_str one = {url, test_url(url, sizeof url, 62, test_below(&random, 1000))};
            add_or_remove(set, which, may, one, test_below(&random, 20) < (round % 2 ? 7 : 12));
        }
        for (uint64_t i = 0; i < 1000; i++) {
            vidi_str one = {url, test_url(url, sizeof url, 62, i)};
            int has = vidi_has(set, one);
            check(has == VIDI_SEEN || !test_oracle_times(may, one), "forgotten: %.*s", (int)one.len, one.ptr);
            check(has == VIDI_NEW || test_oracle_times(may, one) || !(which->traits & TEST_EXACT), "not removed");
        }
    }
    test_oracle_free(may);
    vidi_close(set);
}

static void removing_everything_empties_the_set(void **state)
{
    const test_case *which = *state;
    vidi_set *set = test_case_set(which, 1000, 63, NULL);
    char url[TEST_URL_ROOM];
    unsigned char fresh[300];
    for (uint64_t i = 0; i < 300; i++) {
        vidi_str one = {url, test_url(url, sizeof url, 63, i)};
        fresh[i] = vidi_add(set, one) == VIDI_NEW || which->traits & TEST_MULTISET;
    }
    for (uint64_t i = 300; i-- > 0;) {
        vidi_str one = {url, test_url(url, sizeof url, 63, i)};
        assert_int_equal(fresh[i] ? vidi_remove(set, one) : VIDI_OK, VIDI_OK);
    }
    vidi_stats stats = test_stat(set);
    assert_int_equal(stats.count, 0);
    assert_true(!(which->traits & TEST_EXACT) || ask(set, 63, 0, 300, NULL) == 0);
    vidi_close(set);
}

static bool can_count(const test_case *which)
{
    return test_case_can(which, VIDI_CAN_COUNT);
}

static bool can_delete(const test_case *which)
{
    return test_case_can(which, VIDI_CAN_DELETE);
}

/* Other URLs are other numbers to the same code, so that the sanitizers have seen all of it. */
static bool is_measured(const test_case *which)
{
    (void)which;
    return !test_sanitized();
}

static bool is_measured_in_full(const test_case *which)
{
    return is_measured(which) && which->traits & TEST_FULL;
}

int main(int argc, char **argv)
{
    test_add_cases("keeps its promises", keeps_its_promises, NULL);
    test_add_cases("keeps its promises when overfull", keeps_its_promises_when_overfull, NULL);
    test_add_cases("keeps its promises on similar URLs", keeps_its_promises_on_similar_urls, is_measured);
    test_add_cases("keeps its promises on real URLs", keeps_its_promises_on_real_urls, is_measured_in_full);
    test_add_cases("a batch equals the loop", a_batch_equals_the_loop, NULL);
    test_add_cases("a batch of one URL many times has one NEW", a_batch_of_one_url_many_times_has_one_new, NULL);
    test_add_cases("asking never adds", asking_never_adds, NULL);
    test_add_cases("any bytes are a URL", any_bytes_are_a_url, NULL);
    test_add_cases("a stream brings the set back", a_stream_brings_the_set_back, NULL);
    test_add_cases("counts are exact or never too small", counts_are_exact_or_never_too_small, can_count);
    test_add_cases("legal removes never hurt another", legal_removes_never_hurt_another, can_delete);
    test_add_cases("removing everything empties the set", removing_everything_empties_the_set, can_delete);
    return test_run("contract", argc, argv);
}
