/*
 * The memory of the kind fingerprint: as promised while it grows, as planned when it was reserved, and kept when more
 * is refused; and nothing to gain for one who has no key.
 */
#include <unistd.h>

#include "filters/fingerprint/fingerprint_cases.h"

/* ---- memory ---- */

/* The most bytes a hash that a stretch of adds ever took, while it grew. */
static double most_each(fixture *f, vidi__filter *filter, uint64_t n, uint64_t more)
{
    f->allocator.peak_bytes = f->allocator.live_bytes;
    assert_int_equal(add_stream(filter, 15, n, more), more);
    return (double)f->allocator.peak_bytes / (double)n;
}

/* The most that there was, from some size on: at every moment, and at sizes that are a tenth apart. */
typedef struct worst {
    uint64_t from;
    double always, at_tenths;
} worst;

static void grow_and_watch(worst *sizes, size_t count, uint64_t most)
{
    fixture f;
    vidi__filter *filter;
    double tenth = (double)sizes[0].from;
    begin(&f);
    assert_int_equal(create_fingerprint(&f, &filter, NULL, 0, 0), VIDI_OK);
    add_stream(filter, 15, 0, sizes[0].from);
    for (uint64_t n = sizes[0].from, more; n < most; n += more) {
        more = n < 1000000 ? 500 : 2000;
        double each = most_each(&f, filter, n, more);
        size_t which = count - 1;
        while (n < sizes[which].from)
            which--;
        sizes[which].always = fmax(sizes[which].always, each);
        if ((double)n >= tenth) {
            sizes[which].at_tenths = fmax(sizes[which].at_tenths, each);
            tenth *= 1.1;
        }
    }
    check(f.allocator.largest <= 2 << 20, "%d bytes in one block", (int)f.allocator.largest);
    vidi__filter_destroy(filter);
    end(&f);
}

static void bytes_a_url_stay_below_the_promise(void **state)
{
    const uint64_t most = test_long() ? 100000000 : test_sanitized() ? 300000 : 12500000;
    worst sizes[] = {{10000, 0, 0}, {1000000, 0, 0}, {10000000, 0, 0}};
    (void)state;
    grow_and_watch(sizes, VIDI__COUNT(sizes), most);
    check(sizes[0].always <= 16.5, "up to %g bytes a URL from ten thousand on", sizes[0].always);
    check(sizes[1].at_tenths <= 9.2, "up to %g bytes a URL from a million on", sizes[1].at_tenths);
    check(sizes[1].always <= 9.3, "up to %g bytes a URL for a moment from a million on", sizes[1].always);
    check(sizes[2].always <= 7.5, "up to %g bytes a URL from ten million on", sizes[2].always);
}

/* A step prepares memory for growth: a block of 2 MiB for each 128 MiB, as long as it has time, and then no more. */
static void a_step_prepares_memory_for_growth(void **state)
{
    static const uint64_t capacities[] = {0, 1000000, 12000000};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(capacities) && !(i == 2 && test_sanitized()); i++) {
        fixture f;
        vidi__filter *filter;
        begin(&f);
        assert_int_equal(create_fingerprint(&f, &filter, NULL, capacities[i], 0), VIDI_OK);
        uint64_t live = f.allocator.live_bytes;
        assert_int_equal(filter->kind->step(filter, 0), i == 2);
        assert_int_equal(f.allocator.live_bytes, live);
        assert_int_equal(filter->kind->step(filter, 1), 0);
        uint64_t more = f.allocator.live_bytes - live;
        assert_true(i == 2 ? more >= 2 << 20 && more < 3 << 20 : !more);
        assert_int_equal(filter->kind->step(filter, UINT64_MAX), 0);
        assert_int_equal(filter->kind->step(filter, 0), 0);
        assert_int_equal(f.allocator.live_bytes, live + more);
        vidi__filter_destroy(filter);
        end(&f);
    }
}

/* Of pages, by the kernel's account. */
static uint64_t resident(void)
{
    unsigned long pages = 0, all;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu %lu", &all, &pages) != 2)
        skip();
    fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* With the default allocator and its large pages: no more in memory than the set says that it has. */
static void what_is_booked_is_what_is_resident(void **state)
{
    const uint64_t n = 1500000;
    (void)state;
    if (test_sanitized())
        skip();
    for (unsigned reserved = 0; reserved < 2; reserved++) {
        uint64_t before = resident();
        vidi_set *set = set_of(NULL, reserved ? n : 0, 15, NULL);
        assert_int_equal(add_urls(set, test_deep_url, 15, 0, n), n);
        uint64_t booked = test_stat(set).memory_bytes, there = resident() - before;
        check((double)there <= 1.03 * (double)booked + (4 << 20), "%d bytes in memory, %d booked", (int)there,
              (int)booked);
        vidi_close(set);
    }
}

static void a_small_set_is_small(void **state)
{
    test_allocator watch;
    test_allocator_init(&watch);
    vidi_set *set = set_of(*state, 0, 16, &watch.hook);
    check(watch.peak_bytes < 64 << 10, "empty: %d bytes", (int)watch.peak_bytes);
    add_urls(set, test_url, 16, 0, 100);
    check(watch.peak_bytes < 64 << 10, "100 URLs: %d bytes", (int)watch.peak_bytes);
    vidi_close(set);
    test_allocator_finish(&watch);
}

/* A filter made for so many, filled, and what it was planned to be. */
typedef struct fit {
    uint64_t empty, full, peak, planned;
} fit;

static fit planned_and_filled(uint64_t n, double error)
{
    fixture f;
    vidi__filter *filter;
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    vidi_plan_entry plan;
    size_t plans = 1;
    want.kind = "fingerprint";
    want.urls = n;
    want.error = error;
    want.params = error > 0 ? NULL : "bits=60";
    assert_int_equal(vidi_plan(&want, &plan, &plans), VIDI_OK);
    begin(&f);
    assert_int_equal(create_fingerprint(&f, &filter, NULL, n, error), VIDI_OK);
    fit found = {.empty = f.allocator.live_bytes, .planned = plan.bytes};
    uint64_t fresh = add_stream(filter, 17, 0, n);
    check(fresh + 10 + (uint64_t)((double)n * error) >= n, "only %d of %d were NEW", (int)fresh, (int)n);
    found.full = f.allocator.live_bytes;
    found.peak = f.allocator.peak_bytes;
    assert_true(filter->kind->fp_now(filter) <= error * (1 + 1e-7) || error == 0);
    vidi__filter_destroy(filter);
    end(&f);
    return found;
}

/* And the plan, which may be off by a few thousand bytes that every set has. */
static void check_planned(const fit *found, uint64_t n, double error)
{
    double off = fabs((double)found->planned - (double)found->full);
    check(off <= 0.03 * (double)found->full + 10000, "%d URLs, error %g: %d bytes, planned %d", (int)n, error,
          (int)found->full, (int)found->planned);
}

static void a_millionth_costs_at_most_33_bits_a_url(void **state)
{
    static const struct {
        uint64_t n;
        double most;
        bool in_long;
    } rows[] = {{1000000, 35, false}, {10000000, 33, false}, {14200000, 33, false}, {12600000, 33, true},
                {16000000, 33, true}, {20000000, 33, true},  {30000000, 33, true},  {50000000, 33, true}};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(rows); i++) {
        uint64_t n = rows[i].n;
        if ((rows[i].in_long && !test_long()) || (test_sanitized() && i))
            continue;
        fit found = planned_and_filled(n, 1e-6);
        double each = 8.0 * (double)found.peak / (double)n;
        check(each <= rows[i].most, "%d URLs: %.2f bits each", (int)n, each);
        check_planned(&found, n, 1e-6);
    }
}

static void a_filled_set_takes_what_was_planned(void **state)
{
    static const uint64_t rows[] = {2000, 10000, 50000, 100000, 300000, 743008, 891610, 1283918, 3355511};
    static const double errors[] = {1e-4, 1e-6, 1e-9, 0};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(rows); i++)
        for (size_t j = 0; j < VIDI__COUNT(errors); j++) {
            if (rows[i] > test_urls() && (test_sanitized() || j != 3))
                continue;
            fit found = planned_and_filled(rows[i], errors[j]);
            check_planned(&found, rows[i], errors[j]);
            check((double)found.empty <= 1.02 * (double)found.planned + 16384, "%d URLs: %d bytes, planned %d",
                  (int)rows[i], (int)found.empty, (int)found.planned);
        }
}

/* Any one allocation of a growing batch fails: what has no verdict left no trace, and calling again completes it. */
static void refused_memory_loses_and_repeats_nothing(void **state)
{
    enum { N = 3000 };
    const char *params = *state;
    bool multiset = params && strstr(params, "multiset=on");
    test_batch urls;
    uint8_t verdicts[N];
    uint64_t refusals = 0, times;
    test_batch_init(&urls, N);
    test_batch_fill(&urls, test_url, 18, 0, N);
    for (uint64_t at = 1; at < 900; at += 1 + at / 20) {
        test_allocator watch;
        test_allocator_init(&watch);
        vidi_set *set = set_of(params, 0, 18, &watch.hook);
        test_allocator_fail(&watch, at, at % 2);
        int code = vidi_add_batch(set, urls.urls, N, verdicts, NULL);
        refusals += code == VIDI_EMEMORY;
        assert_true(code == (test_allocator_refused(&watch) ? VIDI_EMEMORY : VIDI_OK));
        uint64_t dealt = 0;
        for (size_t i = 0; i < N; i++) {
            assert_true(verdicts[i] == VIDI_NEW || verdicts[i] == VIDI_UNTRIED);
            assert_int_equal(vidi_has(set, urls.urls[i]), verdicts[i] == VIDI_NEW ? VIDI_SEEN : VIDI_NEW);
            dealt += verdicts[i] == VIDI_NEW;
        }
        assert_int_equal(test_stat(set).count, dealt);
        assert_int_equal(test_stat(set).answered_new, dealt);
        test_allocator_fail(&watch, 0, false);
        for (size_t i = 0; i < N; i++)
            if (verdicts[i] == VIDI_UNTRIED)
                assert_int_equal(vidi_add(set, urls.urls[i]), VIDI_NEW);
        for (size_t i = 0; i < N; i += multiset ? 1 : 50) {
            assert_int_equal(vidi_count(set, urls.urls[i], &times), VIDI_OK);
            assert_int_equal(times, 1);
        }
        assert_int_equal(test_stat(set).count, N);
        vidi_close(set);
        test_allocator_finish(&watch);
    }
    assert_true(refusals > 20);
    test_batch_free(&urls);
}

static void a_limit_is_kept_and_what_is_there_stays(void **state)
{
    enum { LIMIT = 3 << 20, PART = 1000 };
    test_options made;
    test_case which = {"fingerprint", NULL, 0, 0, 0};
    test_batch batch;
    uint8_t verdicts[PART];
    vidi_set *set;
    int code = VIDI_OK;
    uint64_t n = 0;
    (void)state;
    test_case_options(&made, &which, 1, 19);
    made.access.memory_limit = LIMIT;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    test_batch_init(&batch, PART);
    while (code == VIDI_OK) {
        test_batch_fill(&batch, test_url, 19, n, PART);
        code = vidi_add_batch(set, batch.urls, PART, verdicts, NULL);
        n += code == VIDI_OK ? PART : 0;
    }
    assert_int_equal(code, VIDI_ELIMIT);
    assert_true(n > 200000 && test_stat(set).memory_bytes <= LIMIT);
    assert_int_equal(seen_urls(set, 19, 0, n), n);
    for (size_t i = 0; i < PART; i++)
        assert_int_equal(vidi_has(set, batch.urls[i]), verdicts[i] == VIDI_UNTRIED ? VIDI_NEW : VIDI_SEEN);
    test_batch_free(&batch);
    vidi_close(set);
}

/* ---- an adversary without the key ---- */

/* The probability that chi-square with an even number of degrees of freedom is as large: a sum of Poisson's law. */
static double chi_square_beyond(double x, uint64_t degrees)
{
    double sum = 0, log_term = -x / 2;
    for (uint64_t i = 0; i < degrees / 2; i++) {
        sum += exp(log_term);
        log_term += log(x / 2) - log((double)i + 1);
    }
    return sum;
}

/* Are the set's hashes spread over so many (an odd number of) equal parts as random ones are, no less and no more? */
static void check_spread(const vidi_set *set, uint64_t parts, const char *what)
{
    listed l = listing_of(set, BITS_DEFAULT);
    double x = 0, mean = (double)l.n / (double)parts;
    uint64_t *in = calloc(parts, sizeof *in);
    assert_non_null(in);
    for (size_t i = 0; i < l.n; i++)
        in[vidi__scale(l.all[i][0] << (64 - BITS_DEFAULT), parts)]++;
    for (uint64_t i = 0; i < parts; i++)
        x += ((double)in[i] - mean) * ((double)in[i] - mean) / mean;
    double beyond = chi_square_beyond(x, parts - 1);
    check(beyond > 1e-7 && beyond < 1 - 1e-7, "%s: %g over %d parts, probability %g", what, x, (int)parts, beyond);
    free(in);
    free(l.all);
}

typedef size_t url_family(char *buffer, uint64_t index);

static size_t sequential(char *buffer, uint64_t index)
{
    return (size_t)snprintf(buffer, TEST_URL_ROOM, "http://h/%llu", (unsigned long long)index);
}

static size_t equal_prefixes(char *buffer, uint64_t index)
{
    memset(buffer, 'x', 200);
    memcpy(buffer, "http://h/", 9);
    buffer[200] = (char)(index & 255);
    buffer[201] = (char)(index >> 8 & 255);
    buffer[202] = (char)(index >> 16);
    return 203;
}

static size_t lengths_alone(char *buffer, uint64_t index)
{
    memset(buffer, 0, 250);
    vidi__store64(buffer, index / 200);
    return 8 + (size_t)(index % 200);
}

/* Those whose hash under the adversary's own key falls into one line's worth of all hashes. */
static size_t colliding_elsewhere(char *buffer, uint64_t index)
{
    static uint64_t next;
    static const unsigned char guess[VIDI_KEY_BYTES] = "a guess of mine";
    vidi__hash_key key;
    if (!index)
        next = 0;
    vidi__hash_key_init(&key, guess);
    for (;;) {
        size_t length = sequential(buffer, next++);
        vidi__u128 hash = vidi__hash(vidi__hash_find((vidi_str){"sip13", 5}), &key, (vidi_str){buffer, length});
        if (hash.hi >> 56 == 0)
            return length;
    }
}

static uint64_t bytes_of_random(uint64_t n)
{
    vidi_set *set = set_of(NULL, 0, 20, NULL);
    add_urls(set, test_url, 20, 0, n);
    uint64_t bytes = test_stat(set).bytes;
    vidi_close(set);
    return bytes;
}

static void chosen_urls_are_spread_as_random_ones(void **state)
{
    static const struct {
        url_family *family;
        const char *what;
        uint64_t n;
    } rows[] = {{sequential, "sequential", 200000},
                {equal_prefixes, "equal prefixes", 200000},
                {lengths_alone, "lengths", 50000},
                {colliding_elsewhere, "colliding under another key", 5000}};
    char room[TEST_URL_ROOM];
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(rows); i++) {
        uint64_t n = test_sanitized() && rows[i].n > 20000 ? 20000 : rows[i].n;
        vidi_set *set = set_of(NULL, 0, 21, NULL);
        for (uint64_t j = 0; j < n; j++) {
            size_t length = rows[i].family(room, j);
            check(vidi_add(set, (vidi_str){room, length}) == VIDI_NEW, "%s: %d", rows[i].what, (int)j);
        }
        check_spread(set, 65, rows[i].what);
        check_spread(set, n / 10 / 2 * 2 + 1, rows[i].what); /* as many as there are lines */
        uint64_t bytes = test_stat(set).bytes, usual = bytes_of_random(n);
        check(bytes < usual + usual / 20 && usual < bytes + bytes / 20, "%s: %d bytes, not %d", rows[i].what,
              (int)bytes, (int)usual);
        vidi_close(set);
    }
}

static void the_trust_in_the_hash_is_told(void **state)
{
    vidi_set *keyed = set_of(NULL, 0, 22, NULL), *weak = set_of("hash=xxh3", 0, 22, NULL);
    (void)state;
    assert_int_equal(test_stat(keyed).hash_trust, VIDI_HASH_KEYED);
    assert_int_equal(test_stat(weak).hash_trust, VIDI_HASH_TRUSTING);
    assert_string_equal(test_stat(keyed).hash, "sip13");
    assert_string_equal(test_stat(weak).hash, "xxh3");
    vidi_close(keyed);
    vidi_close(weak);
}

int main(int argc, char **argv)
{
    static const char *const all[] = {"bits=60", "bits=47", "bits=32", "multiset=on", "hash=xxh3", NULL};
    static const char *const certain[] = {"bits=60", "multiset=on", NULL};
    test_add("bytes a URL stay below the promise", bytes_a_url_stay_below_the_promise, NULL);
    add_with("a small set is small", a_small_set_is_small, all);
    test_add("a step prepares memory for growth", a_step_prepares_memory_for_growth, NULL);
    test_add("what is booked is what is resident", what_is_booked_is_what_is_resident, NULL);
    test_add("a millionth costs at most 33 bits a URL", a_millionth_costs_at_most_33_bits_a_url, NULL);
    test_add("a filled set takes what was planned", a_filled_set_takes_what_was_planned, NULL);
    add_with("refused memory loses and repeats nothing", refused_memory_loses_and_repeats_nothing, certain);
    test_add("a limit is kept and what is there stays", a_limit_is_kept_and_what_is_there_stays, NULL);
    test_add("chosen URLs are spread as random ones", chosen_urls_are_spread_as_random_ones, NULL);
    test_add("the trust in the hash is told", the_trust_in_the_hash_is_told, NULL);
    return test_run("fingerprint memory", argc, argv);
}
