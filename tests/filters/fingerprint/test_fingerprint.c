/*
 * The kind fingerprint as a whole: nothing forgotten while it grows, losses as computed, batches and threads like single
 * calls, merging, listing and epochs.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "filters/fingerprint/fingerprint_cases.h"
#include "support/oracle.h"
#include "support/stats.h"

/* ---- growth ---- */

static void growing_a_thousandfold_forgets_nothing(void **state)
{
    const char *params = *state;
    uint64_t most = test_long() ? 5000000 : test_urls_at_most(150000), n = 0;
    vidi_set *set = set_of(params, most / 1000, 1, NULL);
    for (uint64_t next = 20; n < most; next = next * 5 / 4 + 1) {
        next = next < most ? next : most;
        uint64_t fresh = add_urls(set, test_url, 1, n, next - n);
        if (!strstr(params, "bits=32"))
            assert_int_equal(fresh, next - n);
        n = next;
        check(seen_urls(set, 1, 0, n) == n, "of %d URLs some are not there", (int)n);
    }
    vidi_stats stats = test_stat(set);
    assert_int_equal(stats.count, stats.answered_new);
    assert_true(seen_urls(set, 1, n, 1000) <= (strstr(params, "bits=32") ? 20u : 0u));
    vidi_close(set);
}

static void it_answers_as_an_exact_set_does(void **state)
{
    const char *params = *state;
    bool multiset = params && strstr(params, "multiset=on");
    enum { UNIVERSE_OF_URLS = 30000 };
    uint64_t operations = test_sanitized() ? 60000 : 300000;
    vidi_set *set = set_of(params, 0, 2, NULL);
    test_oracle *oracle = test_oracle_new();
    test_random random = {2};
    char room[TEST_URL_ROOM];
    for (uint64_t n = 0; n < operations; n++) {
        vidi_str url = url_at(room, 2, test_below(&random, UNIVERSE_OF_URLS));
        uint64_t times = test_oracle_times(oracle, url), told, what = test_below(&random, 10);
        bool growing = n * 5 / operations % 2 == 0;
        if (what < (growing ? 7u : 2u)) {
            assert_int_equal(vidi_add(set, url), times ? VIDI_SEEN : VIDI_NEW);
            if (multiset || !times)
                test_oracle_add(oracle, url);
        } else if (what < 8) {
            assert_int_equal(vidi_remove(set, url), times ? VIDI_OK : VIDI_EABSENT);
            test_oracle_remove(oracle, url);
        } else if (what == 8) {
            assert_int_equal(vidi_has(set, url), times ? VIDI_SEEN : VIDI_NEW);
        } else {
            assert_int_equal(vidi_count(set, url, &told), VIDI_OK);
            assert_int_equal(told, times);
        }
        if (n % 1000 == 0)
            assert_int_equal(test_stat(set).count, test_oracle_count(oracle));
    }
    assert_int_equal(test_stat(set).count, test_oracle_count(oracle));
    test_oracle_free(oracle);
    vidi_close(set);
}

static void what_is_removed_is_new_again(void **state)
{
    enum { N = 20000 };
    char room[TEST_URL_ROOM];
    vidi_set *set = set_of(*state, 0, 3, NULL);
    for (unsigned round = 0; round < 3; round++) {
        assert_int_equal(add_urls(set, test_url, 3, 0, N), N);
        for (uint64_t i = 0; i < N; i++)
            assert_int_equal(vidi_remove(set, url_at(room, 3, (i * 7 + round) % N)), VIDI_OK);
        assert_int_equal(test_stat(set).count, 0);
        assert_true(test_stat(set).fill == 0 && test_stat(set).fp_now == 0);
        assert_int_equal(seen_urls(set, 3, 0, N), 0);
        assert_int_equal(vidi_remove(set, url_at(room, 3, 5)), VIDI_EABSENT);
    }
    vidi_close(set);
}

static void a_multiset_counts_every_add(void **state)
{
    enum { N = 3000 };
    char room[TEST_URL_ROOM];
    uint64_t times;
    vidi_set *set = set_of("multiset=on", 0, 4, NULL);
    (void)state;
    for (unsigned round = 1; round <= 40; round++)
        for (uint64_t i = 0; i < N; i++)
            if (i % 41 >= round)
                assert_int_equal(vidi_add(set, url_at(room, 4, i)), round == 1 ? VIDI_NEW : VIDI_SEEN);
    for (uint64_t i = 0; i < N; i++) {
        assert_int_equal(vidi_count(set, url_at(room, 4, i), &times), VIDI_OK);
        assert_int_equal(times, i % 41);
    }
    for (uint64_t i = 0; i < N; i++)
        for (uint64_t left = i % 41; left; left--) {
            assert_int_equal(vidi_remove(set, url_at(room, 4, i)), VIDI_OK);
            assert_int_equal(vidi_has(set, url_at(room, 4, i)), left > 1 ? VIDI_SEEN : VIDI_NEW);
        }
    assert_int_equal(test_stat(set).count, 0);
    vidi_close(set);
}

/* ---- losses ---- */

static void check_lost(const char *params, double bits, uint64_t n, uint64_t capacity, uint64_t seed)
{
    vidi_set *set = set_of(params, capacity, seed, NULL);
    uint64_t fresh = add_urls(set, test_url, 5, 0, n), asked = test_urls_at_most(500000);
    vidi_stats stats = test_stat(set);
    double count = (double)stats.count, numbers = (double)numbers_of(bits);
    assert_int_equal(stats.count, fresh);
    assert_int_equal(stats.fp_meaning, VIDI_FP_EXACT);
    assert_true(stats.fp_now == count / numbers);
    check(fabs(stats.expected_lost / (count * count / 2 / numbers) - 1) < 0.001, "%g lost", stats.expected_lost);
    test_interval lost = test_lost_interval(stats.expected_lost, stats.fp_now, TEST_ALPHA);
    check(test_inside(lost, n - fresh), "%d lost of %g expected", (int)(n - fresh), stats.expected_lost);
    uint64_t seen = seen_urls(set, 5, n, asked);
    test_interval false_ones = test_binomial_interval(asked, stats.fp_now, TEST_ALPHA);
    check(test_inside(false_ones, seen), "%d falsely seen, at %g", (int)seen, stats.fp_now);
    vidi_close(set);
}

static void pages_lost_are_as_many_as_expected(void **state)
{
    (void)state;
    check_lost("bits=32", 32, test_urls_at_most(1000000), 0, 100);
    check_lost("bits=32", 32, test_urls_at_most(300000), 1000, 101);
    check_lost("bits=32.578125", 32.578125, test_urls_at_most(600000), 0, 102);
}

/* ---- all that was added ---- */

/* Ten million questions in all, at four sizes. */
static void no_hash_is_forgotten(void **state)
{
    uint64_t step = test_urls_at_most(1000000);
    fixture f;
    vidi__filter *filter;
    begin(&f);
    assert_int_equal(create_fingerprint(&f, &filter, *state, 0, 0), VIDI_OK);
    for (uint64_t n = 0; n < 4 * step; n += step) {
        assert_int_equal(add_stream(filter, 6, n, step), step);
        uint64_t seen = seen_stream(filter, 6, 0, n + step);
        check(seen == n + step, "of %d hashes %d are not there", (int)(n + step), (int)(n + step - seen));
    }
    assert_int_equal(seen_stream(filter, 7, 0, step), 0);
    vidi__filter_destroy(filter);
    end(&f);
}

/* ---- batches ---- */

enum { BATCHED = 25000 };

/* URLs of which half are repeats, near and far. */
static void fill_with_repeats(test_batch *batch)
{
    test_random random = {7};
    test_batch_init(batch, BATCHED);
    for (uint64_t i = 0; i < BATCHED; i++)
        test_batch_push(batch, test_url, 7, i % 3 ? test_below(&random, BATCHED / 2) : i - i % 40);
}

/* Adds and asks for all in batches of one size, or of any if it is 0. */
static void in_batches(vidi_set *set, const test_batch *urls, size_t size, uint8_t *added, uint8_t *asked)
{
    static const size_t sizes[] = {1, 15, 16, 17, 2047, 2048, 2049};
    test_random random = {size};
    for (size_t done = 0, n; done < urls->n; done += n) {
        n = size ? size : sizes[test_below(&random, VIDI__COUNT(sizes))];
        n = n < urls->n - done ? n : urls->n - done;
        assert_int_equal(vidi_has_batch(set, urls->urls + done, n, asked + done), VIDI_OK);
        assert_int_equal(vidi_add_batch(set, urls->urls + done, n, added + done, NULL), VIDI_OK);
    }
    assert_int_equal(vidi_has_batch(set, urls->urls, urls->n, asked), VIDI_OK);
}

static void a_batch_of_any_size_is_the_loop(void **state)
{
    static const size_t sizes[] = {15, 16, 17, 63, 2047, 2048, 2049, 5000, BATCHED, 0};
    const char *params = *state;
    test_batch urls;
    static uint8_t one_by_one[BATCHED], added[BATCHED], asked[BATCHED];
    fill_with_repeats(&urls);
    vidi_set *set = set_of(params, 0, 8, NULL);
    for (size_t i = 0; i < BATCHED; i++)
        one_by_one[i] = (uint8_t)vidi_add(set, urls.urls[i]);
    vidi_stats right = test_stat(set);
    vidi_close(set);
    for (size_t i = 0; i < VIDI__COUNT(sizes); i++) {
        set = set_of(params, i % 2 ? 100 : 0, 8, NULL);
        in_batches(set, &urls, sizes[i], added, asked);
        assert_memory_equal(added, one_by_one, BATCHED);
        for (size_t j = 0; j < BATCHED; j++)
            assert_int_equal(asked[j], VIDI_SEEN);
        vidi_stats stats = test_stat(set);
        assert_int_equal(stats.count, right.count);
        assert_int_equal(stats.answered_new, right.answered_new);
        assert_int_equal(stats.answered_seen, right.answered_seen);
        check(fabs(stats.expected_lost - right.expected_lost) <= 1e-3 * right.expected_lost, "%g, not %g",
              stats.expected_lost, right.expected_lost);
        vidi_close(set);
    }
    test_batch_free(&urls);
}

/* The number comes from a run of this test; whatever the processor, it has to come out again. */
static void every_processor_gives_the_same_verdicts(void **state)
{
    enum { N = 200000, PART = 2000 };
    uint8_t verdicts[PART];
    uint64_t digest = 0;
    test_batch batch;
    vidi_set *set = set_of("bits=32", 0, 9, NULL);
    (void)state;
    test_batch_init(&batch, PART);
    for (uint64_t i = 0; i < N; i += PART) {
        test_batch_fill(&batch, test_url, 9, i, PART);
        assert_int_equal(vidi_add_batch(set, batch.urls, PART, verdicts, NULL), VIDI_OK);
        for (size_t j = 0; j < PART; j++)
            digest = test_mix(digest * 3 + verdicts[j]);
    }
    test_batch_free(&batch);
    vidi_close(set);
    check(digest == UINT64_C(0x954e06c7f3980c90), "0x%llx", (unsigned long long)digest);
}

/* ---- threads ---- */

enum { ADDERS = 4, READERS = 2, SHARED = 60000, WIDEST = 2500 };

/* cmocka's checks work in the main thread only, so the others count what is wrong. */
typedef struct crowd {
    vidi_set *set;
    test_batch urls;
    atomic_uchar fresh[SHARED], there[SHARED];
    atomic_uint wrong, missed;
    atomic_bool done;
} crowd;

typedef struct worker {
    crowd *of;
    pthread_t thread;
    unsigned number;
} worker;

static void note(crowd *of, uint64_t i, int verdict)
{
    if (verdict == VIDI_NEW)
        atomic_fetch_add(&of->fresh[i], 1);
    else if (verdict != VIDI_SEEN)
        atomic_fetch_add(&of->wrong, 1);
    atomic_store(&of->there[i], 1);
}

/* All adders go over all URLs, some from the same places: two in batches of many sizes, two one by one. */
static void *add_all(void *context)
{
    static const size_t sizes[] = {16, 64, 300, 2048, WIDEST};
    worker *me = context;
    crowd *of = me->of;
    uint8_t verdicts[WIDEST];
    test_random random = {me->number};
    uint64_t at = me->number / 2 * SHARED / 3;
    for (uint64_t done = 0, n; done < SHARED; done += n, at = at + n == SHARED ? 0 : at + n) {
        n = me->number % 2 ? sizes[test_below(&random, VIDI__COUNT(sizes))] : 1;
        n = n < SHARED - at ? n : SHARED - at;
        n = n < SHARED - done ? n : SHARED - done;
        if (n == 1)
            verdicts[0] = (uint8_t)vidi_add(of->set, of->urls.urls[at]);
        else if (vidi_add_batch(of->set, of->urls.urls + at, n, verdicts, NULL) != VIDI_OK)
            atomic_fetch_add(&of->wrong, 1);
        for (uint64_t i = 0; i < n; i++)
            note(of, at + i, verdicts[i]);
    }
    return NULL;
}

/* Asks for stretches of URLs, and minds those whose add had returned before. */
static void *ask_all(void *context)
{
    worker *me = context;
    crowd *of = me->of;
    uint8_t verdicts[256];
    bool there[256];
    test_random random = {me->number};
    while (!atomic_load(&of->done)) {
        size_t n = me->number % 2 ? 256 : 3;
        uint64_t at = test_below(&random, SHARED - n);
        for (size_t i = 0; i < n; i++)
            there[i] = atomic_load(&of->there[at + i]);
        if (vidi_has_batch(of->set, of->urls.urls + at, n, verdicts) != VIDI_OK)
            atomic_fetch_add(&of->wrong, 1);
        for (size_t i = 0; i < n; i++)
            if (there[i] && verdicts[i] != VIDI_SEEN)
                atomic_fetch_add(&of->missed, 1);
    }
    return NULL;
}

static void exactly_one_thread_is_told_new(void **state)
{
    static crowd of;
    worker workers[ADDERS + READERS];
    for (unsigned round = 0; round < 3; round++) {
        memset(&of, 0, sizeof of);
        of.set = set_of(*state, round == 2 ? SHARED : 0, 10 + round, NULL);
        test_batch_init(&of.urls, SHARED);
        test_batch_fill(&of.urls, test_url, 10, 0, SHARED);
        for (unsigned i = 0; i < ADDERS + READERS; i++) {
            workers[i] = (worker){.of = &of, .number = i};
            assert_int_equal(pthread_create(&workers[i].thread, NULL, i < ADDERS ? add_all : ask_all, &workers[i]), 0);
        }
        for (unsigned i = 0; i < ADDERS + READERS; i++) {
            if (i == ADDERS)
                atomic_store(&of.done, true);
            pthread_join(workers[i].thread, NULL);
        }
        assert_int_equal(of.wrong, 0);
        assert_int_equal(of.missed, 0);
        for (uint64_t i = 0; i < SHARED; i++)
            check(of.fresh[i] == 1, "URL %d was NEW %d times", (int)i, of.fresh[i]);
        vidi_stats stats = test_stat(of.set);
        assert_int_equal(stats.count, SHARED);
        assert_int_equal(stats.answered_new, SHARED);
        assert_int_equal(stats.answered_seen, (ADDERS - 1) * SHARED);
        test_batch_free(&of.urls);
        vidi_close(of.set);
    }
}

/* ---- merging, listing, epochs ---- */

static void tables_of_different_sizes_merge(void **state)
{
    static const uint64_t capacities[] = {0, 1000, 100000}, counts[] = {0, 10, 30000};
    char room[TEST_URL_ROOM];
    const char *params = *state;
    bool multiset = params && strstr(params, "multiset=on");
    for (size_t i = 0; i < 9; i++) {
        uint64_t a = counts[i / 3], b = counts[i % 3], times;
        vidi_set *into = set_of(params, capacities[i % 3], 11, NULL),
                 *from = set_of(params, capacities[i / 3], 11, NULL);
        add_urls(into, test_url, 11, 0, a);
        add_urls(from, test_url, 11, a / 2, b);
        add_urls(from, test_url, 11, a / 2, b);
        uint64_t both = a / 2 + b > a ? a / 2 + b : a;
        both = b ? both : a;
        assert_int_equal(vidi_merge(into, from, 0), VIDI_OK);
        assert_int_equal(test_stat(into).count, both);
        assert_int_equal(test_stat(from).count, b);
        assert_int_equal(seen_urls(into, 11, 0, both), both);
        assert_int_equal(seen_urls(into, 11, both, 1000), 0);
        for (uint64_t j = 0; j < both; j += 11) {
            uint64_t right = (j < a) + (j >= a / 2 && j < a / 2 + b ? 2u : 0u);
            assert_int_equal(vidi_count(into, url_at(room, 11, j), &times), VIDI_OK);
            assert_int_equal(times, multiset ? right : 1);
        }
        vidi_close(into);
        vidi_close(from);
    }
}

static void other_widths_and_multisets_do_not_merge(void **state)
{
    static const char *const rows[] = {"bits=32", "bits=47", "multiset=on", "hash=xxh3", NULL};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(rows); i++)
        for (size_t j = 0; j < VIDI__COUNT(rows); j++) {
            vidi_set *into = set_of(rows[i], 0, 12, NULL), *from = set_of(rows[j], 0, 12, NULL);
            add_urls(from, test_url, 12, 0, 20);
            assert_int_equal(vidi_merge(into, from, 0), i == j ? VIDI_OK : VIDI_EDIFFERS);
            assert_int_equal(test_stat(into).count, i == j ? 20 : 0);
            vidi_close(into);
            vidi_close(from);
        }
}

/* Against a set that keeps the URLs, made with the same key. */
static void it_lists_exactly_what_was_added(void **state)
{
    static const struct {
        const char *params, *exact;
        double bits;
    } rows[] = {{NULL, "hash=sip13", BITS_DEFAULT},
                {"bits=46.578125", "hash=sip13", 46.578125},
                {"bits=58.9,hash=xxh3", "hash=xxh3", 58.90625},
                {"multiset=on", "hash=sip13,multiset=on", BITS_DEFAULT}};
    (void)state;
    for (size_t i = 0; i < 2 * VIDI__COUNT(rows); i++) {
        uint64_t n = i % 2 ? 40000 : 700;
        test_case which = {"hashset", rows[i / 2].exact, 0, 0, 0};
        vidi_set *exact = test_case_set(&which, 1, 13, NULL), *set = set_of(rows[i / 2].params, 0, 13, NULL);
        vidi_set *both[] = {exact, set};
        for (size_t j = 0; j < 2; j++) {
            char room[TEST_URL_ROOM];
            add_urls(both[j], test_url, 13, 0, n);
            for (uint64_t k = 0; k < n; k += 10)
                for (uint64_t more = k % 30; more; more--)
                    vidi_add(both[j], url_at(room, 13, k));
            for (uint64_t k = 0; k < n; k += 7)
                assert_int_equal(vidi_remove(both[j], url_at(room, 13, k)), VIDI_OK);
        }
        listed right = listing_of(exact, rows[i / 2].bits), mine = listing_of(set, rows[i / 2].bits);
        assert_int_equal(mine.n, right.n);
        assert_memory_equal(mine.all, right.all, mine.n * sizeof *mine.all);
        free(right.all);
        free(mine.all);
        vidi_close(exact);
        vidi_close(set);
    }
}

static void the_next_epoch_has_other_hashes_and_room_for_as_many(void **state)
{
    enum { N = 50000 };
    char room[TEST_URL_ROOM];
    test_options made;
    test_case which = {"fingerprint", NULL, 0, 0, 0};
    vidi_set *set;
    (void)state;
    test_case_options(&made, &which, 1, 14);
    made.options.flags = VIDI_KEEP_PREVIOUS;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    add_urls(set, test_url, 14, 0, N);
    listed before = listing_of(set, BITS_DEFAULT);
    assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    vidi_stats stats = test_stat(set);
    assert_int_equal(stats.count, 0);
    assert_int_equal(stats.epoch, 1);
    assert_int_equal(stats.past_epochs, 1);
    uint64_t bytes = stats.bytes;
    for (uint64_t i = 0; i < N; i += 17) {
        assert_int_equal(vidi_has(set, url_at(room, 14, i)), VIDI_NEW);
        assert_int_equal(vidi_has_previous(set, url_at(room, 14, i)), VIDI_SEEN);
        assert_int_equal(vidi_has_previous(set, url_at(room, 14, N + i)), VIDI_NEW);
    }
    assert_int_equal(add_urls(set, test_url, 14, 0, N), N);
    check(test_stat(set).bytes < bytes + bytes / 50, "%d bytes, then %d", (int)bytes, (int)test_stat(set).bytes);
    listed after = listing_of(set, BITS_DEFAULT);
    assert_int_equal(after.n, N);
    uint64_t same = 0;
    for (size_t i = 0, j = 0; i < N && j < N; before.all[i][0] < after.all[j][0] ? i++ : j++)
        same += before.all[i][0] == after.all[j][0];
    assert_int_equal(same, 0);
    free(before.all);
    free(after.all);
    vidi_close(set);
}

/* Of a spatial set, on one machine or on several: what one of them loses the other finds. */
static void members_lose_different_pages(void **state)
{
    enum { BATCH = 1000 };
    uint64_t n = test_urls_at_most(400000), probes = 5 * n, seen[2] = {0, 0}, both = 0;
    vidi_set *sets[2];
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        static const unsigned char key[VIDI_KEY_BYTES] = {1, 2, 3};
        vidi_options options = VIDI_OPTIONS_INIT;
        options.kind = "fingerprint";
        options.params = "bits=32";
        options.key = key;
        options.member = i + 1;
        assert_int_equal(vidi_create(&sets[i], &options), VIDI_OK);
        assert_true(add_urls(sets[i], test_url, 1, 0, n) + n / 1000 + 10 >= n);
        assert_int_equal(seen_urls(sets[i], 1, 0, n), n);
    }
    test_batch batch;
    test_batch_init(&batch, BATCH);
    for (uint64_t done = 0; done < probes; done += batch.n) {
        uint8_t verdicts[2][BATCH];
        test_batch_fill(&batch, test_url, 1, n + done, BATCH);
        for (unsigned i = 0; i < 2; i++)
            assert_int_equal(vidi_has_batch(sets[i], batch.urls, batch.n, verdicts[i]), VIDI_OK);
        for (unsigned i = 0; i < BATCH; i++) {
            seen[0] += verdicts[0][i] == VIDI_SEEN;
            seen[1] += verdicts[1][i] == VIDI_SEEN;
            both += verdicts[0][i] == VIDI_SEEN && verdicts[1][i] == VIDI_SEEN;
        }
    }
    test_batch_free(&batch);
    double expected = (double)n * (double)probes / 0x1p32;
    for (unsigned i = 0; i < 2; i++) {
        test_interval likely = test_poisson_interval(expected, TEST_ALPHA);
        check((double)seen[i] <= likely.high && (double)seen[i] >= likely.low, "%d seen, not %g", (int)seen[i],
              expected);
        vidi_close(sets[i]);
    }
    check(both <= 2, "%d of %d were seen by both", (int)both, (int)seen[0]);
}

int main(int argc, char **argv)
{
    static const char *const all[] = {"bits=60", "bits=46.578125", "bits=32", "multiset=on", "hash=xxh3", NULL};
    static const char *const certain[] = {"bits=60", "multiset=on", NULL};
    add_with("growing a thousandfold forgets nothing", growing_a_thousandfold_forgets_nothing, all);
    add_with("it answers as an exact set does", it_answers_as_an_exact_set_does, certain);
    add_with("what is removed is new again", what_is_removed_is_new_again, certain);
    test_add("a multiset counts every add", a_multiset_counts_every_add, NULL);
    test_add("pages lost are as many as expected", pages_lost_are_as_many_as_expected, NULL);
    test_add("members lose different pages", members_lose_different_pages, NULL);
    test_add("no hash is forgotten", no_hash_is_forgotten, "bits=60");
    add_with("a batch of any size is the loop", a_batch_of_any_size_is_the_loop, all);
    test_add("every processor gives the same verdicts", every_processor_gives_the_same_verdicts, NULL);
    add_with("exactly one thread is told NEW", exactly_one_thread_is_told_new, certain);
    add_with("tables of different sizes merge", tables_of_different_sizes_merge, certain);
    test_add("other widths and multisets do not merge", other_widths_and_multisets_do_not_merge, NULL);
    test_add("it lists exactly what was added", it_lists_exactly_what_was_added, NULL);
    test_add("the next epoch has other hashes and room for as many",
             the_next_epoch_has_other_hashes_and_room_for_as_many, NULL);
    return test_run("fingerprint", argc, argv);
}
