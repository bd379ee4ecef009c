/*
 * The contract of adding in two halves, beside what test_threads_digest.c has: batches of every size, what fails and
 * where, what is left when memory runs out, digests that are used twice or belong to another set, sets that are read
 * only, members of a spatial set, multisets, folders with every way to commit.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/access.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/env.h"
#include "support/folder.h"
#include "support/runner.h"
#include "support/urls.h"

#include "set/set.h"
#include "vidi/url.h"

enum { MANY = 70001, GARBAGE = 0xa5 };

typedef struct mixture {
    test_batch batch;
    vidi_str *urls;
} mixture;

static const char *const no_urls[] = {"no URL", "http://", "", "http://a b/", "//x"};

/* Of every seven one is a repeat, one is not in its form and, if so wished, one in eleven is no URL. */
static void mix(mixture *mix, size_t n, bool invalid)
{
    test_batch_init(&mix->batch, n);
    test_batch_fill(&mix->batch, test_url, 9, 0, n);
    mix->urls = malloc(n * sizeof *mix->urls);
    for (size_t i = 0; i < n; i++) {
        mix->urls[i] = mix->batch.urls[i % 7 == 3 ? i / 2 : i];
        if (i % 7 == 5)
            memcpy((char *)mix->urls[i].ptr, "HtTp", 4);
        if (invalid && i % 11 == 4)
            mix->urls[i] = test_str(no_urls[i % (sizeof no_urls / sizeof *no_urls)]);
    }
}

static void unmix(mixture *mix)
{
    test_batch_free(&mix->batch);
    free(mix->urls);
}

static vidi_access access; /* of the options that were made last */

static vidi_options options_of(const char *kind, const char *canon, uint32_t invalid)
{
    static const unsigned char key[VIDI_KEY_BYTES] = {5};
    vidi_options options = VIDI_OPTIONS_INIT;
    access = (vidi_access)VIDI_ACCESS_INIT;
    options.kind = kind;
    options.key = key;
    options.capacity = MANY;
    options.canon = canon;
    options.access = &access;
    access.invalid = invalid;
    return options;
}

static vidi_set *create(const vidi_options *options)
{
    vidi_set *set = NULL;
    check(vidi_create(&set, options) == VIDI_OK, "%s %s: %s", options->kind, options->params ? options->params : "",
          vidi_message());
    return set;
}

static vidi_stats stats_of(const vidi_set *set)
{
    vidi_stats stats = {.size = sizeof stats};
    assert_int_equal(vidi_stat(set, &stats), VIDI_OK);
    return stats;
}

static vidi_digest *room_for(size_t n)
{
    vidi_digest *digests = malloc((n + 1) * sizeof *digests);
    memset(digests, GARBAGE, (n + 1) * sizeof *digests);
    return digests;
}

/* vidi_digest_batch, and in *n how many entries from the first on were dealt with. */
static int digest_some(const vidi_set *set, const vidi_str *urls, size_t *n, vidi_digest *digests, uint8_t *verdicts,
                       uint64_t *epoch)
{
    size_t wanted = *n;
    int code = vidi_digest_batch(set, urls, wanted, digests, verdicts, epoch);
    *n = 0;
    while (*n < wanted && (verdicts[*n] == VIDI_DIGESTED || verdicts[*n] == VIDI_INVALID))
        ++*n;
    return code;
}

/* Both halves, with arrays that hold anything before; the byte behind the verdicts must stay as it is. */
static int add_in_halves(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    vidi_digest *digests = room_for(n);
    uint64_t epoch = 77;
    size_t done = n;
    memset(verdicts, GARBAGE, n);
    int code = digest_some(set, urls, &done, digests, verdicts, &epoch);
    for (size_t i = 0; i < n && code != VIDI_ECANNOT; i++)
        check(i < done ? verdicts[i] == VIDI_DIGESTED || verdicts[i] == VIDI_INVALID : verdicts[i] == VIDI_UNTRIED,
              "%zu: %u", i, verdicts[i]);
    if (code == VIDI_OK)
        code = vidi_add_digests(set, epoch, digests, n, verdicts, NULL);
    for (size_t i = 0; i < n; i++)
        if (verdicts[i] == VIDI_DIGESTED)
            verdicts[i] = VIDI_UNTRIED; /* as vidi_add_batch would leave it */
    free(digests);
    return code;
}

static void check_same(const vidi_set *a, const vidi_set *b, const char *what)
{
    vidi_stats x = stats_of(a), y = stats_of(b);
    check(x.count == y.count && x.answered_new == y.answered_new && x.answered_seen == y.answered_seen &&
              x.answered_invalid == y.answered_invalid && x.staged == y.staged && x.asked == y.asked,
          "%s: %llu %llu %llu %llu, in halves %llu %llu %llu %llu", what, (unsigned long long)x.count,
          (unsigned long long)x.answered_new, (unsigned long long)x.answered_seen,
          (unsigned long long)x.answered_invalid, (unsigned long long)y.count, (unsigned long long)y.answered_new,
          (unsigned long long)y.answered_seen, (unsigned long long)y.answered_invalid);
    check(x.expected_lost <= 1.1 * y.expected_lost && y.expected_lost <= 1.1 * x.expected_lost, "%s: %g lost, %g", what,
          x.expected_lost, y.expected_lost);
}

/* ---- the same answers ---- */

/* Batches of these sizes one after the other. */
static bool compare(const vidi_options *options, const mixture *from, size_t n, const size_t *sizes, size_t count)
{
    uint8_t *whole = malloc(n), *halves = malloc(n + 1);
    vidi_set *a = create(options), *b = create(options);
    bool can = true;
    for (size_t at = 0, turn = 0, batch; at < n && can; at += batch, turn++) {
        batch = sizes[turn % count] < n - at ? sizes[turn % count] : n - at;
        halves[at + batch] = GARBAGE;
        int code = add_in_halves(b, from->urls + at, batch, halves + at);
        can = code != VIDI_ECANNOT;
        check(!can || code == VIDI_OK, "%s: %s", options->kind, vidi_message());
        assert_int_equal(halves[at + batch], GARBAGE);
        assert_int_equal(vidi_add_batch(a, from->urls + at, batch, whole + at, NULL), VIDI_OK);
    }
    for (size_t i = 0; i < n && can; i++)
        check(whole[i] == halves[i], "%s %s, %s: verdict %zu is %u, in halves %u", options->kind,
              options->params ? options->params : "", options->canon, i, whole[i], halves[i]);
    if (can)
        check_same(a, b, options->kind);
    vidi_close(a);
    vidi_close(b);
    free(whole);
    free(halves);
    return can;
}

static void batches_of_every_size_answer_alike(void **state)
{
    static const char *const forms[] = {"none", "whatwg", "crawl", "w3lib", "surt", "key=host", "key=site"};
    static const size_t sizes[] = {1, 0, 15, 16, 17, 127, 128, 129, 500, 2047, 2048, 2049, 5000}, all[] = {MANY};
    mixture from;
    (void)state;
    mix(&from, MANY, true);
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++)
        for (uint32_t policy = VIDI_KEEP_INVALID; policy <= VIDI_DROP_INVALID; policy++) {
            vidi_options options = options_of("fingerprint", forms[form], policy);
            assert_true(compare(&options, &from, 20000, sizes, sizeof sizes / sizeof *sizes));
            assert_true(compare(&options, &from, MANY, all, 1));
        }
    unmix(&from);
}

/* Many of the URLs are not in the form, so hashing them as they are would give other digests. */
static void canonical_texts_have_the_digests_of_their_urls(void **state)
{
    enum { N = 500, ROOM = 400 };
    static const char *const forms[] = {"none", "whatwg", "crawl", "w3lib", "surt", "key=host", "key=site"};
    static char rooms[N][ROOM];
    static uint8_t verdicts[N];
    vidi_str texts[N];
    vidi_digest *whole = room_for(N), *hashed = room_for(N);
    uint64_t epoch, again;
    mixture from;
    (void)state;
    mix(&from, N, false);
    for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
        vidi_options options = options_of("fingerprint", forms[form], VIDI_DROP_INVALID);
        vidi_set *set = create(&options);
        assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
        for (size_t i = 0; i < N; i++) {
            size_t len = ROOM;
            assert_int_equal(vidi_url_canon(vidi_canon_of(set), from.urls[i], NULL, rooms[i], &len), VIDI_OK);
            texts[i] = (vidi_str){rooms[i], len};
        }
        assert_int_equal(vidi_digest_batch(set, from.urls, N, whole, verdicts, &epoch), VIDI_OK);
        memset(verdicts, GARBAGE, N);
        assert_int_equal(vidi_digest_canonical(set, texts, N, hashed, verdicts, &again), VIDI_OK);
        assert_true(again == epoch && memcmp(whole, hashed, N * sizeof *whole) == 0);
        for (size_t i = 0; i < N; i++)
            assert_int_equal(verdicts[i], VIDI_DIGESTED);
        assert_int_equal(stats_of(set).answered_invalid, 0);
        vidi_close(set);
    }
    unmix(&from);
    free(whole);
    free(hashed);
}

static void kinds_with_parameters_answer_alike(void **state)
{
    static const struct {
        const char *kind, *params;
        uint32_t member;
        bool can;
    } list[] = {
        {"fingerprint", "multiset=on", 0, true},
        {"counting", NULL, 0, true},
        {"counting", "width=2", 0, true},
        {"spatial", "F=3", 2, true},
        {"spatial", "inner=counting", 1, true},
        {"spatial", "inner=blocked", 3, true},
        {"spatial", "F=3", 0, true},
        {"classic", "hash=md5", 0, true},
        {"blocked", "lines=3", 0, true},
        {"hashset", NULL, 0, false},
        {"list", NULL, 0, false},
        {"multilayer", NULL, 0, false},
        {"eigen", "g=tail", 0, false},
    };
    static const size_t sizes[] = {3, 16, 130, 2100};
    mixture from;
    (void)state;
    mix(&from, 9000, true);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        vidi_options options = options_of(list[i].kind, "whatwg", VIDI_DROP_INVALID);
        options.params = list[i].params;
        options.member = list[i].member;
        bool can = compare(&options, &from, 9000, sizes, sizeof sizes / sizeof *sizes);
        check(can == list[i].can, "%s %s %s", list[i].kind, list[i].params ? list[i].params : "",
              can ? "can" : "cannot");
    }
    unmix(&from);
}

/* ---- what fails ---- */

/* Everything before the one that fails has its digest, and nothing behind it is touched. */
static void check_place(const char *canon, uint32_t invalid, vidi_str bad, int wanted, size_t place)
{
    enum { N = 5000 };
    static uint8_t verdicts[N], again[N];
    mixture from;
    vidi_options options = options_of("fingerprint", canon, invalid);
    vidi_set *set = create(&options);
    vidi_digest *digests = room_for(N);
    uint64_t epoch;
    size_t n = N;
    mix(&from, N, false);
    from.urls[place] = bad;
    memset(verdicts, GARBAGE, sizeof verdicts);
    assert_int_equal(digest_some(set, from.urls, &n, digests, verdicts, &epoch), wanted);
    check(n == place, "%s: %zu were done, not %zu", canon, n, place);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(verdicts[i], i < place ? VIDI_DIGESTED : VIDI_UNTRIED);
    assert_int_equal(vidi_add_digests(set, epoch, digests, N, verdicts, NULL), VIDI_OK);
    for (size_t i = place; i < N; i++)
        assert_int_equal(verdicts[i], VIDI_UNTRIED); /* it has no digest, so it is left alone */
    vidi_set *other = create(&options);
    assert_int_equal(vidi_add_batch(other, from.urls, place, again, NULL), VIDI_OK);
    assert_memory_equal(verdicts, again, place);
    check_same(other, set, "up to the failure");
    vidi_close(set);
    vidi_close(other);
    free(digests);
    unmix(&from);
}

static void the_one_that_fails_is_the_next(void **state)
{
    static const size_t places[] = {0, 1, 2, 15, 100, 2047, 2048, 2049, 4998, 4999};
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        check_place("whatwg", VIDI_FAIL_INVALID, test_str("no URL"), VIDI_INVALID, places[i]);
        check_place("key=host", VIDI_FAIL_INVALID, test_str("mailto:a@b"), VIDI_INVALID, places[i]);
        check_place("whatwg", VIDI_KEEP_INVALID, (vidi_str){NULL, 5}, VIDI_EARGUMENT, places[i]);
        check_place("none", VIDI_KEEP_INVALID, (vidi_str){NULL, 5}, VIDI_EARGUMENT, places[i]);
    }
}

static void missing_arguments_are_refused(void **state)
{
    vidi_options options = options_of("fingerprint", "whatwg", VIDI_KEEP_INVALID);
    vidi_set *set = create(&options);
    vidi_str url = test_str("http://a.example/");
    vidi_digest digest;
    uint8_t verdict = VIDI_UNTRIED;
    uint64_t epoch;
    (void)state;
    assert_int_equal(vidi_digest_batch(set, NULL, 1, &digest, &verdict, &epoch), VIDI_EARGUMENT);
    assert_int_equal(vidi_digest_batch(set, &url, 1, NULL, &verdict, &epoch), VIDI_EARGUMENT);
    assert_int_equal(vidi_digest_batch(set, &url, 1, &digest, NULL, &epoch), VIDI_EARGUMENT);
    assert_int_equal(vidi_digest_batch(set, &url, 1, &digest, &verdict, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_digest_canonical(set, NULL, 1, &digest, &verdict, &epoch), VIDI_EARGUMENT);
    assert_int_equal(vidi_digest_canonical(set, &(vidi_str){NULL, 1}, 1, &digest, &verdict, &epoch), VIDI_EARGUMENT);
    assert_int_equal(verdict, VIDI_UNTRIED);
    assert_int_equal(vidi_digest_batch(set, &url, 1, &digest, &verdict, &epoch), VIDI_OK);
    assert_int_equal(vidi_add_digests(NULL, epoch, &digest, 1, &verdict, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_add_digests(set, epoch, &digest, 1, NULL, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_add_digests(set, epoch + 1, &digest, 1, &verdict, NULL), VIDI_ECANNOT);
    assert_int_equal(verdict, VIDI_DIGESTED); /* and can be tried again */
    assert_int_equal(vidi_has_digests(set, epoch + 1, &digest, 1, &verdict), VIDI_ECANNOT);
    assert_int_equal(verdict, VIDI_DIGESTED);
    assert_int_equal(stats_of(set).count, 0);
    assert_int_equal(vidi_add_digests(set, epoch, &digest, 1, &verdict, NULL), VIDI_OK);
    assert_int_equal(verdict, VIDI_NEW);
    assert_int_equal(vidi_has_digests(NULL, epoch, &digest, 1, &verdict), VIDI_EARGUMENT);
    assert_int_equal(vidi_has_digests(set, epoch, NULL, 1, &verdict), VIDI_EARGUMENT);
    assert_int_equal(vidi_has_digests(set, epoch, &digest, 1, NULL), VIDI_EARGUMENT);
    vidi_close(set);
}

static void digests_can_be_used_twice(void **state)
{
    enum { N = 3000 };
    static uint8_t verdicts[N];
    mixture from;
    vidi_options options = options_of("fingerprint", "whatwg", VIDI_KEEP_INVALID);
    options.params = "multiset=on";
    vidi_set *set = create(&options);
    vidi_digest *digests = room_for(N);
    uint64_t epoch, times;
    size_t n = N;
    (void)state;
    mix(&from, N, false);
    assert_int_equal(digest_some(set, from.urls, &n, digests, verdicts, &epoch), VIDI_OK);
    for (unsigned turn = 0; turn < 3; turn++) {
        memset(verdicts, VIDI_DIGESTED, sizeof verdicts);
        assert_int_equal(vidi_add_digests(set, epoch, digests, N, verdicts, NULL), VIDI_OK);
    }
    for (size_t i = 0; i < N; i++)
        assert_int_equal(verdicts[i], VIDI_SEEN);
    assert_int_equal(vidi_count(set, from.urls[N - 2], &times), VIDI_OK);
    assert_int_equal(times, 3);
    assert_int_equal(stats_of(set).answered_new + stats_of(set).answered_seen, 3 * N);
    vidi_close(set);
    free(digests);
    unmix(&from);
}

/* They are to be its own. If they are not, they are hashes of something else, and do no other harm. */
/* If they did, this thread would wait for itself. */
static void digests_do_not_wait_for_adds(void **state)
{
    vidi_options options = options_of("fingerprint", "whatwg", VIDI_KEEP_INVALID);
    vidi_set *set = create(&options);
    vidi_str url = {"http://example.org/", 19};
    vidi_digest digest;
    uint8_t verdict;
    uint64_t epoch;
    (void)state;
    vidi__lock_alone(set);
    assert_int_equal(vidi_digest_batch(set, &url, 1, &digest, &verdict, &epoch), VIDI_OK);
    vidi__unlock(set);
    assert_int_equal(verdict, VIDI_DIGESTED);
    assert_int_equal(vidi_add_digests(set, epoch, &digest, 1, &verdict, NULL), VIDI_OK);
    assert_int_equal(verdict, VIDI_NEW);
    vidi_close(set);
}

static void digests_of_another_set_are_only_strange(void **state)
{
    enum { N = 3000 };
    static uint8_t verdicts[N];
    static const unsigned char key[VIDI_KEY_BYTES] = {6};
    mixture from;
    vidi_options options = options_of("fingerprint", "whatwg", VIDI_KEEP_INVALID);
    vidi_set *set = create(&options);
    options.key = key;
    vidi_set *other = create(&options);
    vidi_digest *digests = room_for(N);
    uint64_t epoch;
    size_t n = N, found = 0;
    (void)state;
    mix(&from, N, false);
    assert_int_equal(digest_some(other, from.urls, &n, digests, verdicts, &epoch), VIDI_OK);
    assert_int_equal(vidi_add_digests(set, epoch, digests, N, verdicts, NULL), VIDI_OK);
    memset(verdicts, VIDI_DIGESTED, sizeof verdicts);
    assert_int_equal(vidi_has_digests(set, epoch, digests, N, verdicts), VIDI_OK);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(verdicts[i], VIDI_SEEN);
        found += vidi_has(set, from.urls[i]) == VIDI_SEEN;
    }
    check(found < 10, "%zu URLs were found", found);
    vidi_close(set);
    vidi_close(other);
    free(digests);
    unmix(&from);
}

/* ---- memory ---- */

/* After an error: what has a verdict is dealt with, what has none left no trace. Counts how many have one. */
static size_t check_traces(vidi_set *set, const vidi_str *urls, const uint8_t *verdicts, size_t n)
{
    size_t counts[4] = {0};
    for (size_t i = 0; i < n; i++) {
        assert_true(verdicts[i] <= VIDI_INVALID);
        counts[verdicts[i]]++;
        if (verdicts[i] == VIDI_NEW)
            check(vidi_has(set, urls[i]) == VIDI_SEEN, "URL %zu was lost", i);
    }
    vidi_stats stats = stats_of(set);
    check(stats.answered_new == counts[VIDI_NEW] && stats.answered_seen == counts[VIDI_SEEN],
          "%zu new and %zu seen, but %llu and %llu were counted", counts[VIDI_NEW], counts[VIDI_SEEN],
          (unsigned long long)stats.answered_new, (unsigned long long)stats.answered_seen);
    return counts[VIDI_NEW] + counts[VIDI_SEEN];
}

static void a_full_set_leaves_the_rest_untried(void **state)
{
    mixture from;
    uint8_t *verdicts = malloc(MANY);
    (void)state;
    mix(&from, MANY, true);
    for (uint32_t policy = VIDI_KEEP_INVALID; policy <= VIDI_DROP_INVALID; policy++) {
        vidi_options options = options_of("fingerprint", "whatwg", policy);
        options.capacity = 0;
        access.memory_limit = 300000;
        vidi_set *set = create(&options);
        int code = add_in_halves(set, from.urls, MANY, verdicts);
        check(code == VIDI_ELIMIT, "%d: %s", code, vidi_message());
        size_t tried = check_traces(set, from.urls, verdicts, MANY);
        check(tried > 1000 && tried < MANY * 9 / 10, "%zu were tried", tried);
        for (size_t i = 0; i < MANY; i++) {
            bool none = i % 11 == 4;
            if (policy == VIDI_DROP_INVALID)
                assert_int_equal(none, verdicts[i] == VIDI_INVALID);
            if (verdicts[i] == VIDI_UNTRIED && i % 7 != 3 && !none)
                check(vidi_has(set, from.urls[i]) == VIDI_NEW, "URL %zu left a trace", i);
        }
        vidi_close(set);
    }
    free(verdicts);
    unmix(&from);
}

/*
 * Each request for memory is refused in turn, under the sanitizers every third; afterwards the whole is done once more, and
 * nothing is missing.
 */
static void refuse_each(const char *kind, const char *params, bool durable, uint32_t flags, bool long_url)
{
    enum { N = 2500 };
    static uint8_t verdicts[N], again[N];
    static char text[9000];
    mixture from;
    mix(&from, N, true);
    memset(text, 'X', sizeof text);
    memcpy(text, "HTTP://long.example/", 20);
    if (long_url)
        from.urls[N / 2] = (vidi_str){text, sizeof text};
    for (uint64_t at = 1, refused = 1; refused; at += test_sanitized() ? 3 : 1) {
        char folder[TEST_PATH], path[TEST_PATH];
        test_allocator allocator;
        test_allocator_init(&allocator);
        vidi_options options = options_of(kind, "whatwg", VIDI_DROP_INVALID);
        options.params = params;
        access.allocator = &allocator.hook;
        test_use(&options, &access, flags);
        options.capacity = strcmp(kind, "fingerprint") ? N : 0;
        if (durable) {
            test_folder_new(folder, false);
            test_path(path, folder, "set");
            options.path = path;
        }
        vidi_set *set = create(&options);
        test_allocator_fail(&allocator, at, false);
        int code = add_in_halves(set, from.urls, N, verdicts);
        refused = test_allocator_refused(&allocator);
        test_allocator_fail(&allocator, 0, false);
        check(code == VIDI_OK || (code == VIDI_EMEMORY && refused), "%s: %s", kind, vidi_message());
        (void)check_traces(set, from.urls, verdicts, N);
        assert_int_equal(add_in_halves(set, from.urls, N, again), VIDI_OK);
        for (size_t i = 0; i < N; i++)
            if (verdicts[i] == VIDI_NEW)
                assert_int_equal(again[i], VIDI_SEEN);
        assert_int_equal(vidi_commit(set), VIDI_OK);
        vidi_close(set);
        test_allocator_finish(&allocator);
        if (durable)
            test_folder_remove(folder);
    }
    unmix(&from);
}

static void refused_memory_leaves_nothing_half_done(void **state)
{
    (void)state;
    refuse_each("fingerprint", NULL, false, 0, true);
    refuse_each("fingerprint", "multiset=on", false, 0, false);
    refuse_each("counting", NULL, false, 0, true);
    refuse_each("spatial", NULL, false, 0, false);
    refuse_each("fingerprint", NULL, true, 0, true);
    refuse_each("fingerprint", NULL, true, VIDI_MANUAL_COMMIT, true);
    refuse_each("fingerprint", "multiset=on", true, VIDI_MANUAL_COMMIT, false);
    refuse_each("blocked", NULL, true, TEST_SYNC_NEVER, false);
}

/* ---- folders ---- */

typedef struct snapshots {
    vidi_set *set;
    _Atomic bool stop;
} snapshots;

static void *take_snapshots(void *context)
{
    snapshots *work = context;
    while (!work->stop)
        check(vidi_snapshot(work->set) == VIDI_OK, "%s", vidi_message());
    return NULL;
}

static void keep_in_folder(const char *kind, const char *params, uint32_t flags, bool with_snapshots)
{
    enum { N = 20000 };
    static uint8_t verdicts[N], wanted[N];
    char folder[TEST_PATH], path[TEST_PATH];
    mixture from;
    pthread_t thread;
    vidi_options options = options_of(kind, "whatwg", VIDI_DROP_INVALID);
    options.params = params;
    vidi_set *other = create(&options), *reader = NULL;
    mix(&from, N, true);
    test_folder_new(folder, false);
    test_path(path, folder, "set");
    options.path = path;
    test_use(&options, &access, flags);
    snapshots work = {.set = create(&options)};
    if (with_snapshots)
        assert_int_equal(pthread_create(&thread, NULL, take_snapshots, &work), 0);
    for (size_t at = 0, batch; at < N; at += batch) {
        batch = N - at < 1700 ? N - at : 1700;
        check(add_in_halves(work.set, from.urls + at, batch, verdicts + at) == VIDI_OK, "%s", vidi_message());
        assert_int_equal(vidi_add_batch(other, from.urls + at, batch, wanted + at, NULL), VIDI_OK);
        if (at % 5100 == 0)
            assert_int_equal(vidi_commit(work.set), VIDI_OK);
    }
    work.stop = true;
    if (with_snapshots)
        pthread_join(thread, NULL);
    assert_memory_equal(verdicts, wanted, N);
    assert_int_equal(vidi_commit(work.set), VIDI_OK);
    assert_int_equal(vidi_sync(work.set), VIDI_OK);
    vidi_stats x = stats_of(other), y = stats_of(work.set);
    assert_int_equal(x.answered_new, y.answered_new);
    assert_int_equal(x.answered_seen, y.answered_seen);
    assert_int_equal(x.answered_invalid, y.answered_invalid);
    vidi_close(work.set);
    check(test_open(&reader, path, VIDI_READ_ONLY) == VIDI_OK, "%s", vidi_message());
    for (size_t i = 0; i < N; i++)
        if (verdicts[i] == VIDI_NEW)
            check(vidi_has(reader, from.urls[i]) == VIDI_SEEN, "URL %zu is lost", i);
    int refused = vidi_add(reader, from.urls[0]);
    assert_int_equal(add_in_halves(reader, from.urls, 500, verdicts), refused);
    for (size_t i = 0; i < 500; i++)
        assert_true(verdicts[i] == VIDI_UNTRIED || verdicts[i] == VIDI_INVALID || (i % 11 == 4));
    vidi_close(reader);
    vidi_close(other);
    test_folder_remove(folder);
    unmix(&from);
}

static void folders_keep_what_is_new(void **state)
{
    static const uint32_t flags[] = {0, TEST_SYNC_ALWAYS, TEST_SYNC_NEVER};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (unsigned with = 0; with < 2; with++) {
            keep_in_folder("fingerprint", NULL, flags[i], with);
            keep_in_folder("fingerprint", NULL, flags[i] | VIDI_MANUAL_COMMIT, with);
            keep_in_folder("fingerprint", "multiset=on", flags[i] | VIDI_MANUAL_COMMIT, with);
            keep_in_folder("counting", NULL, flags[i], with);
            keep_in_folder("blocked", NULL, flags[i] | VIDI_MANUAL_COMMIT, with);
        }
}

int main(int argc, char **argv)
{
    test_add("batches of every size answer alike", batches_of_every_size_answer_alike, NULL);
    test_add("canonical texts have the digests of their URLs", canonical_texts_have_the_digests_of_their_urls, NULL);
    test_add("kinds with parameters answer alike", kinds_with_parameters_answer_alike, NULL);
    test_add("the one that fails is the next", the_one_that_fails_is_the_next, NULL);
    test_add("missing arguments are refused", missing_arguments_are_refused, NULL);
    test_add("digests can be used twice", digests_can_be_used_twice, NULL);
    test_add("digests do not wait for adds", digests_do_not_wait_for_adds, NULL);
    test_add("digests of another set are only strange", digests_of_another_set_are_only_strange, NULL);
    test_add("a full set leaves the rest untried", a_full_set_leaves_the_rest_untried, NULL);
    test_add("refused memory leaves nothing half done", refused_memory_leaves_nothing_half_done, NULL);
    test_add("folders keep what is new", folders_keep_what_is_new, NULL);
    return test_run("the contract of digests", argc, argv);
}
