/*
 * The memory of the kind fingerprint: as promised while it grows, splits and is refused more; its streams; and nothing
 * to gain for one who has no key.
 */
#include <math.h>

#include "filters/fingerprint_cases.h"
#include "support/streams.h"

/* ---- memory ---- */

static void bytes_a_url_stay_below_the_promise(void **state)
{
    test_allocator watch;
    double most = test_long() ? 2e7 : test_sanitized() ? 2e5 : 2e6, worst = 0, worst_large = 0;
    uint64_t n = 0;
    (void)state;
    test_allocator_init(&watch);
    vidi_set *set = set_of(NULL, 0, 15, &watch.hook);
    uint64_t wrapper = watch.live_bytes;
    for (double next = 1e5; next <= most; next *= 1.1) {
        watch.peak_bytes = watch.live_bytes;
        add_urls(set, test_deep_url, 15, n, (uint64_t)next - n);
        n = (uint64_t)next;
        double each = (double)watch.peak_bytes / (double)n; /* growth included */
        check(each < 16, "%d URLs: %g bytes each", (int)n, each);
        if (next >= 1e6)
            worst = fmax(worst, each);
        if (next >= 1e7)
            worst_large = fmax(worst_large, each);
        assert_true(test_stat(set).bytes <= watch.live_bytes);
    }
    check(worst <= 9, "up to %g bytes a URL from a million on", worst);
    check(worst_large <= 7.5, "up to %g bytes a URL from ten million on", worst_large);
    check(watch.largest <= 2 << 20, "%d bytes in one block", (int)watch.largest);
    assert_true(wrapper < 65536);
    vidi_close(set);
    test_allocator_finish(&watch);
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

static void reserved_memory_is_what_the_plan_says(void **state)
{
    static const uint64_t rows[] = {2000, 10000, 100000, 700000};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(rows); i++) {
        uint64_t n = test_urls_at_most(rows[i]);
        test_allocator watch;
        test_allocator_init(&watch);
        vidi_set *set = set_of(NULL, n, 17, &watch.hook);
        uint64_t bytes = watch.live_bytes;
        add_urls(set, test_url, 17, 0, n);
        vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
        vidi_plan_entry plan;
        size_t plans = 1;
        want.kind = "fingerprint";
        want.params = "bits=60";
        want.urls = n;
        assert_int_equal(vidi_plan(&want, &plan, &plans), VIDI_OK);
        check(bytes <= 1.02 * (double)plan.bytes + 16384 && watch.peak_bytes <= 1.02 * (double)plan.bytes + 16384,
              "%d URLs: %d bytes, then %d; planned %d", (int)n, (int)bytes, (int)watch.peak_bytes, (int)plan.bytes);
        vidi_close(set);
        test_allocator_finish(&watch);
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
        int code = vidi_add_batch(set, urls.urls, N, verdicts);
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
    made.options.memory_limit = LIMIT;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    test_batch_init(&batch, PART);
    while (code == VIDI_OK) {
        test_batch_fill(&batch, test_url, 19, n, PART);
        code = vidi_add_batch(set, batch.urls, PART, verdicts);
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
        in[vidi__scale(l.all[i][0], parts)]++;
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

/* ---- streams ---- */

static void streams_bring_back_what_removals_left(void **state)
{
    char room[TEST_URL_ROOM];
    for (uint64_t seed = 0; seed < 40; seed++) {
        enum { N = 1600 }; /* where tables are small, and lines overflow most */
        test_stream stream;
        vidi_set *set = set_of(*state, 0, seed, NULL), *copy;
        add_urls(set, test_url, seed, 0, N + 20 * seed);
        for (uint64_t i = 0; i < N - 10; i++)
            assert_int_equal(vidi_remove(set, url_at(room, seed, i)), VIDI_OK);
        test_stream_write(&stream, set);
        int code = test_stream_read(&stream, &copy, seed % 2 ? stream.size : 0, NULL);
        check(code == VIDI_OK, "seed %d: %s", (int)seed, vidi_message());
        assert_int_equal(seen_urls(copy, seed, N - 10, 10 + 20 * seed), 10 + 20 * seed);
        assert_int_equal(seen_urls(copy, seed, 0, N - 10), 0);
        assert_int_equal(test_stat(copy).count, 10 + 20 * seed);
        assert_int_equal(add_urls(copy, test_url, seed, 0, N - 10), N - 10);
        test_stream_free(&stream);
        vidi_close(set);
        vidi_close(copy);
    }
}

/* A filter of one hash a partition, or of many in deep directories; its stream. */
static stream filter_stream(fixture *f, const char *params, uint64_t capacity, uint64_t n)
{
    vidi__filter *filter;
    stream s = stream_new();
    assert_int_equal(create_with(f, &filter, &vidi__kind_fingerprint, params, capacity, NULL), VIDI_OK);
    for (uint64_t i = 0; i < n; i++) {
        vidi__item what = {.url = {.hash = {0, test_mix(i + 1)}}};
        assert_int_equal(filter->kind->add(filter, &what), VIDI_NEW);
    }
    stream_save(&s, filter);
    vidi__filter_destroy(filter);
    return s;
}

static int filter_from(fixture *f, stream *s, const char *params, bool known)
{
    vidi__filter *filter = NULL;
    s->at = 0;
    s->reader.left = known ? s->size : UINT64_MAX;
    int code = create_with(f, &filter, &vidi__kind_fingerprint, params, 0, &s->reader);
    if (code == VIDI_OK)
        vidi__filter_destroy(filter);
    else
        assert_null(filter);
    assert_int_equal(vidi__memory_used(&f->memory), 0);
    return code;
}

static void forged_directories_are_refused(void **state)
{
    static const uint64_t lies[] = {19, 24, 25, 40, 48, 63, 64, 1000, UINT64_C(1) << 40, UINT64_MAX - 1};
    fixture f;
    (void)state;
    begin(&f);
    stream s = filter_stream(&f, NULL, 0, 100);
    for (unsigned known = 0; known < 2; known++) {
        assert_int_equal(filter_from(&f, &s, NULL, known), VIDI_OK);
        for (size_t i = 0; i < VIDI__COUNT(lies); i++) {
            for (unsigned field = 0; field < 2; field++) { /* of the directory; of its first table */
                uint64_t kept = vidi__load64(s.data + 8 * field);
                assert_int_equal(kept, 0);
                vidi__store64(s.data + 8 * field, lies[i]);
                int code = filter_from(&f, &s, NULL, known);
                check(code == VIDI_EFORMAT, "%llu in field %u: %d", (unsigned long long)lies[i], field, code);
                vidi__store64(s.data + 8 * field, kept);
            }
        }
        vidi__store64(s.data, UINT64_MAX); /* not open, after which the table's depth 0 opens the next one */
        assert_int_equal(filter_from(&f, &s, NULL, known), VIDI_EFORMAT);
        vidi__store64(s.data, 0);
        for (uint64_t whole = s.size; s.size; s.size = s.size > 97 ? s.size - 97 : 0)
            if (s.size < whole)
                assert_int_equal(filter_from(&f, &s, NULL, known), VIDI_EFORMAT);
        free(s.data);
        s = filter_stream(&f, NULL, 0, 100);
    }
    free(s.data);
    end(&f);
}

/* Directories of several tables each, at a bits so small that they come early, survive a stream and refused memory. */
static void deep_directories_come_back(void **state)
{
    uint64_t n = test_sanitized() ? 30000 : 300000, capacity = 12000000, refusals = 0;
    fixture f;
    (void)state;
    begin(&f);
    stream s = filter_stream(&f, "bits=58", capacity, n);
    assert_true(vidi__load64(s.data) > 0); /* the depth of the first directory */
    for (unsigned known = 0; known < 2; known++)
        assert_int_equal(filter_from(&f, &s, "bits=58", known), VIDI_OK);
    vidi__store64(s.data + 8, vidi__load64(s.data + 8) - 1); /* its first table claims two entries */
    assert_int_equal(filter_from(&f, &s, "bits=58", true), VIDI_EFORMAT);
    vidi__store64(s.data + 8, vidi__load64(s.data + 8) + 1);
    for (uint64_t at = 1;; at += 1 + at / 3) {
        test_allocator_fail(&f.allocator, at, at % 2);
        int code = filter_from(&f, &s, "bits=58", true);
        test_allocator_fail(&f.allocator, 0, false);
        if (code == VIDI_OK)
            break;
        assert_int_equal(code, VIDI_EMEMORY);
        refusals++;
    }
    assert_true(refusals > 10);
    free(s.data);
    end(&f);
}

/* ---- splitting: all hashes in one partition, which soon has as many as it would in a set of millions ---- */

enum { SPLITTING = 400000, PARTITION = 5 };

static vidi__u128 *crowded_hashes(uint64_t seed)
{
    test_random random = {seed};
    vidi__u128 *hashes = malloc(SPLITTING * sizeof *hashes);
    assert_non_null(hashes);
    for (uint64_t i = 0; i < SPLITTING; i++) {
        unsigned deeper = seed && i % 3 ? 4 : 0; /* most of them in a sixteenth of it: tables of different depths */
        hashes[i] = (vidi__u128){0, (uint64_t)PARTITION << 58 | test_next(&random) >> (6 + deeper) >> 4 << 4};
    }
    return hashes;
}

static void check_hashes(const vidi__filter *filter, const vidi__u128 *hashes, uint64_t n, int wanted)
{
    uint8_t verdicts[VIDI__HASHES_MAX];
    for (uint64_t done = 0, part; done < n; done += part) {
        part = n - done < VIDI__HASHES_MAX ? n - done : VIDI__HASHES_MAX;
        assert_int_equal(filter->kind->has_hashes(filter, hashes + done, part, verdicts), VIDI_OK);
        for (uint64_t i = 0; i < part; i++)
            check(verdicts[i] == wanted, "hash %d of %d: %d", (int)(done + i), (int)n, verdicts[i]);
    }
}

static void add_hashes(vidi__filter *filter, const vidi__u128 *hashes, uint64_t n)
{
    uint8_t verdicts[VIDI__HASHES_MAX];
    vidi__tally tally = {0};
    for (uint64_t done = 0, part; done < n; done += part) {
        part = n - done < VIDI__HASHES_MAX ? n - done : VIDI__HASHES_MAX;
        assert_int_equal(filter->kind->add_hashes(filter, hashes + done, part, verdicts, &tally), VIDI_OK);
    }
    assert_int_equal(tally.fresh, n);
}

static void check_lists(const vidi__filter *filter, const vidi__u128 *hashes, uint64_t n)
{
    listed mine = {.room = n, .mask = UINT64_MAX << 4};
    uint64_t *right = malloc((n + 1) * sizeof *right);
    mine.all = calloc(n + 1, sizeof *mine.all);
    assert_true(right && mine.all);
    for (uint64_t i = 0; i < n; i++)
        right[i] = hashes[i].hi;
    qsort(right, n, sizeof *right, by_first);
    assert_int_equal(filter->kind->iterate(filter, list_entry, &mine), 0);
    qsort(mine.all, mine.n, sizeof *mine.all, by_first);
    assert_int_equal(mine.n, n);
    for (uint64_t i = 0; i < n; i++)
        assert_true(mine.all[i][0] == right[i] && mine.all[i][1] == 1);
    free(right);
    free(mine.all);
}

static vidi__filter *plain_filter(fixture *f, stream *from)
{
    vidi__filter *filter;
    vidi__reader *reader = from ? &from->reader : NULL;
    assert_int_equal(create_with(f, &filter, &vidi__kind_fingerprint, NULL, 0, reader), VIDI_OK);
    return filter;
}

static void splitting_keeps_every_hash(void **state)
{
    uint64_t n = test_sanitized() ? SPLITTING / 2 : SPLITTING, step = n / 8;
    for (uint64_t seed = 0; seed < 2; seed++) {
        fixture f;
        begin(&f);
        vidi__u128 *hashes = crowded_hashes(seed);
        vidi__filter *filter = plain_filter(&f, NULL), *other = plain_filter(&f, NULL);
        for (uint64_t done = 0; done < n; done += step) {
            check_hashes(filter, hashes + done, step, VIDI_NEW);
            add_hashes(filter, hashes + done, step);
            check_hashes(filter, hashes, done + step, VIDI_SEEN);
        }
        check_lists(filter, hashes, n);
        assert_true(f.allocator.largest <= 2 << 20);
        stream s = stream_new();
        stream_save(&s, filter);
        /* The depth of the directory; the partitions before it are not open. */
        assert_true(vidi__load64(s.data + (size_t)PARTITION * 8) >= (seed ? 4 : 1));
        s.reader.left = s.size;
        vidi__filter *copy = plain_filter(&f, &s);
        assert_int_equal(vidi__filter_count(copy), n);
        check_lists(copy, hashes, n);
        add_hashes(other, hashes, 1000);
        assert_int_equal(other->kind->merge(other, copy), VIDI_OK);
        assert_int_equal(vidi__filter_count(other), n);
        check_hashes(other, hashes, n, VIDI_SEEN);
        for (uint64_t i = 0; i < n; i += 2) {
            vidi__item what = {.url = {.hash = hashes[i]}};
            assert_int_equal(copy->kind->remove(copy, &what), VIDI_OK);
            hashes[i / 2] = hashes[i + 1];
        }
        check_lists(copy, hashes, n / 2);
        vidi__filter_destroy(filter);
        vidi__filter_destroy(copy);
        vidi__filter_destroy(other);
        free(hashes);
        free(s.data);
        end(&f);
    }
    (void)state;
}

/* Each allocation of each growth and each split is refused once; the add fails, and nothing else has changed. */
static void a_refused_split_changes_nothing(void **state)
{
    enum { N = 180000, CHECKED = 3000 };
    uint64_t refusals = 0, most = 0;
    fixture f;
    (void)state;
    begin(&f);
    vidi__u128 *hashes = crowded_hashes(1);
    vidi__filter *filter = plain_filter(&f, NULL);
    for (uint64_t i = 0; i < N; i++) {
        vidi__item what = {.url = {.hash = hashes[i]}};
        uint64_t at = 1, recent = i < CHECKED ? i : CHECKED;
        for (;; at++) {
            test_allocator_fail(&f.allocator, at, false);
            int code = filter->kind->add(filter, &what);
            test_allocator_fail(&f.allocator, 0, false);
            if (code == VIDI_NEW)
                break;
            assert_int_equal(code, VIDI_EMEMORY);
            assert_int_equal(vidi__filter_count(filter), i);
            check_hashes(filter, &hashes[i], 1, VIDI_NEW);
            check_hashes(filter, hashes + i - recent, recent, VIDI_SEEN);
        }
        refusals += at - 1;
        most = at > most ? at : most;
    }
    check_hashes(filter, hashes, N, VIDI_SEEN);
    check_lists(filter, hashes, N);
    check(refusals > 200 && most >= 8, "%d refusals, up to %d for one add", (int)refusals, (int)most);
    vidi__filter_destroy(filter);
    free(hashes);
    end(&f);
}

int main(int argc, char **argv)
{
    static const char *const all[] = {"bits=60", "bits=47", "bits=32", "multiset=on", "hash=xxh3", NULL};
    static const char *const certain[] = {"bits=60", "multiset=on", NULL};
    test_add("bytes a URL stay below the promise", bytes_a_url_stay_below_the_promise, NULL);
    add_with("a small set is small", a_small_set_is_small, all);
    test_add("reserved memory is what the plan says", reserved_memory_is_what_the_plan_says, NULL);
    add_with("refused memory loses and repeats nothing", refused_memory_loses_and_repeats_nothing, certain);
    test_add("a limit is kept and what is there stays", a_limit_is_kept_and_what_is_there_stays, NULL);
    test_add("chosen URLs are spread as random ones", chosen_urls_are_spread_as_random_ones, NULL);
    test_add("the trust in the hash is told", the_trust_in_the_hash_is_told, NULL);
    add_with("streams bring back what removals left", streams_bring_back_what_removals_left, certain);
    test_add("forged directories are refused", forged_directories_are_refused, NULL);
    test_add("deep directories come back", deep_directories_come_back, NULL);
    test_add("splitting keeps every hash", splitting_keeps_every_hash, NULL);
    test_add("a refused split changes nothing", a_refused_split_changes_nothing, NULL);
    return test_run("fingerprint memory", argc, argv);
}
