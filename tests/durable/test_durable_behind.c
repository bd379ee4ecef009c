/*
 * Sets whose filter is behind: for want of memory it has not taken everything that was committed, which waits in the
 * staging area. Whatever is done with the set as a whole has all of it, or fails and says so.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "durable/durable_cases.h"
#include "store/file.h"
#include "support/access.h"
#include "support/alloc.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/streams.h"

/* ---- an allocator that refuses one call in fifty ---- */

static struct {
    test_allocator checked;
    vidi_allocator hook;
    pthread_mutex_t lock;
    test_random random;
    bool refuses;
} moody = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool refuses(void)
{
    pthread_mutex_lock(&moody.lock);
    bool result = moody.refuses && test_below(&moody.random, 50) == 0;
    pthread_mutex_unlock(&moody.lock);
    return result;
}

static void *moody_allocate(void *context, size_t bytes, size_t alignment)
{
    return refuses() ? NULL : moody.checked.hook.allocate(context, bytes, alignment);
}

static void *moody_allocate_zeroed(void *context, size_t bytes, size_t alignment)
{
    return refuses() ? NULL : moody.checked.hook.allocate_zeroed(context, bytes, alignment);
}

static void moody_begin(uint64_t seed)
{
    test_allocator_init(&moody.checked);
    moody.hook = moody.checked.hook;
    moody.hook.allocate = moody_allocate;
    if (moody.hook.allocate_zeroed)
        moody.hook.allocate_zeroed = moody_allocate_zeroed;
    moody.random.state = seed;
    moody.refuses = false;
}

/* After a refusal the same call is made again. */
#define INSIST(call)                                                                                                   \
    do {                                                                                                               \
        int code_;                                                                                                     \
        while ((code_ = (call)) < 0)                                                                                   \
            check(code_ == VIDI_EMEMORY, "seed %llu: " #call ": %d, %s", (unsigned long long)seed, code_,              \
                  vidi_message());                                                                                     \
    } while (0)

/* ---- nothing is missing ---- */

enum { URLS = 300, EACH = 30 };

typedef struct way {
    const char *kind, *params;
    unsigned flags;
} way;

static const way ways[] = {
    {"fingerprint", NULL, VIDI_MANUAL_COMMIT},
    {"hashset", NULL, VIDI_MANUAL_COMMIT},
    {"fingerprint", NULL, TEST_SYNC_ALWAYS},
    {"hashset", NULL, TEST_SYNC_ALWAYS},
    {"fingerprint", "multiset=on", VIDI_MANUAL_COMMIT},
    {"sorted", NULL, VIDI_MANUAL_COMMIT},
};
enum { WAYS = sizeof ways / sizeof *ways };

static void open_moody(home *at, const way *which)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    home_begin(at);
    access.allocator = &moody.hook;
    options.kind = which->kind;
    options.params = which->params;
    options.access = &access;
    home_create(at, &options, which->flags | TEST_KEEP_PREVIOUS);
}

static void commit_all(home *at, uint64_t seed)
{
    for (uint64_t i = 0; i < URLS; i++) {
        INSIST(add_nth(at->set, i));
        if (i % EACH == EACH - 1)
            INSIST(vidi_commit(at->set));
    }
}

static int write_anew(const vidi_set *set, test_stream *stream)
{
    stream->size = 0;
    return vidi_write(set, test_stream_sink, stream, 0);
}

static int count_entry(void *context, const vidi_entry *entry)
{
    *(uint64_t *)context += entry->times;
    return 0;
}

static int list_anew(const vidi_set *set, uint64_t *listed)
{
    *listed = 0;
    return vidi_iterate(set, count_entry, listed);
}

static void must_be_whole(home *at, uint64_t seed)
{
    test_stream stream = {0};
    vidi_set *copy = NULL, *twin = NULL;
    vidi_options options = VIDI_OPTIONS_INIT;
    uint64_t listed;
    char room[TEST_URL_ROOM];
    INSIST(write_anew(at->set, &stream));
    must(test_stream_read(&stream, &copy, stream.size, NULL));
    uint64_t missing = 0;
    for (uint64_t i = 0; i < URLS; i++)
        missing += has_nth(copy, i) != VIDI_SEEN;
    check(!missing, "seed %llu: %llu committed URLs are missing in what vidi_write wrote", (unsigned long long)seed,
          (unsigned long long)missing);
    INSIST(list_anew(at->set, &listed));
    check(listed == URLS, "seed %llu: %llu URLs are listed", (unsigned long long)seed, (unsigned long long)listed);
    options.like = at->set;
    must(vidi_create(&twin, &options));
    must(vidi_merge(twin, at->set, 0));
    all_are(twin, 0, URLS, VIDI_SEEN);
    INSIST(vidi_rotate(at->set, &(vidi_options){.size = sizeof options, .flags = VIDI_KEEP_PREVIOUS}));
    for (uint64_t i = 0; i < URLS; i++) {
        int verdict;
        INSIST(verdict = vidi_has_previous(at->set, nth(room, i)));
        check(verdict == VIDI_SEEN, "seed %llu: URL %llu is missing in the previous epoch", (unsigned long long)seed,
              (unsigned long long)i);
    }
    vidi_epoch_stats past = {.size = sizeof past};
    must(vidi_epoch_stat(at->set, 0, &past));
    assert_int_equal(past.count, URLS);
    vidi_close(twin);
    vidi_close(copy);
    test_stream_free(&stream);
}

/* A rotation that no other call has prepared. */
static void must_rotate_whole(home *at, uint64_t seed)
{
    char room[TEST_URL_ROOM];
    INSIST(vidi_rotate(at->set, &(vidi_options){.size = sizeof(vidi_options), .flags = VIDI_KEEP_PREVIOUS}));
    moody.refuses = false;
    for (uint64_t i = 0; i < URLS; i++)
        check(vidi_has_previous(at->set, nth(room, i)) == VIDI_SEEN, "seed %llu: URL %llu is missing",
              (unsigned long long)seed, (unsigned long long)i);
}

static void live_with_refusals(const way *which, void (*then)(home *at, uint64_t seed))
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        home at;
        moody_begin(seed);
        open_moody(&at, which);
        moody.refuses = true;
        commit_all(&at, seed);
        then(&at, seed);
        moody.refuses = false;
        home_end(&at);
        test_allocator_finish(&moody.checked);
    }
}

static void nothing_committed_is_missing_after_refusals(void **state)
{
    live_with_refusals(*state, must_be_whole);
}

/* The filter takes nothing of what is committed, and then the n-th allocation of a merge is refused. */
static bool merge_behind(const way *which, uint64_t n)
{
    home at;
    vidi_set *twin = NULL;
    vidi_options options = VIDI_OPTIONS_INIT;
    moody_begin(1);
    open_moody(&at, which);
    options.like = at.set;
    must(vidi_create(&twin, &options));
    for (uint64_t i = 0; i < URLS; i++) {
        assert_int_equal(add_nth(twin, i), VIDI_NEW);
        assert_int_equal(add_nth(at.set, i), VIDI_NEW);
    }
    test_allocator_fail(&moody.checked, 2, true);
    must(vidi_commit(at.set));
    test_allocator_fail(&moody.checked, n, false);
    int code = vidi_merge(at.set, twin, 0);
    uint64_t count = test_stat(at.set).count;
    check(code == VIDI_OK || code == VIDI_EMEMORY, "allocation %llu: %d", (unsigned long long)n, code);
    check(count == URLS, "allocation %llu: %llu URLs are counted", (unsigned long long)n, (unsigned long long)count);
    test_allocator_fail(&moody.checked, 0, false);
    vidi_close(twin);
    home_end(&at);
    test_allocator_finish(&moody.checked);
    return code < 0;
}

static void a_merge_counts_urls_once(void **state)
{
    uint64_t n = 1;
    while (merge_behind(*state, n))
        n++;
    assert_true(n > 2);
}

static void a_rotation_keeps_all_that_was_committed(void **state)
{
    live_with_refusals(*state, must_rotate_whole);
}

/* ---- at the limit of memory ---- */

static vidi_str short_url(char *room, uint64_t i)
{
    return (vidi_str){room, (size_t)snprintf(room, TEST_URL_ROOM, "http://a/%llu", (unsigned long long)i)};
}

static uint64_t missing_in(const vidi_set *set, uint64_t n)
{
    char room[TEST_URL_ROOM];
    uint64_t missing = 0;
    for (uint64_t i = 0; i < n; i++)
        missing += vidi_has(set, short_url(room, i)) != VIDI_SEEN;
    return missing;
}

/* Adds and commits until there is no memory left, and commits. Returns how many URLs it has added. */
static uint64_t fill_up(vidi_set *set, uint64_t every)
{
    char room[TEST_URL_ROOM];
    uint64_t n = 0;
    while (vidi_add(set, short_url(room, n)) == VIDI_NEW)
        if (++n % every == 0)
            must(vidi_commit(set));
    must(vidi_commit(set));
    return n;
}

/* A set that has no memory left commits, and then either writes and lists everything, or says that it cannot. */
static void at_its_limit_a_set_is_written_whole_or_not(void **state)
{
    (void)state;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    options.kind = "hashset";
    options.access = &access;
    access.memory_limit = 1500000;
    for (uint64_t every = 4; every <= 4096; every *= 4) {
        test_stream stream = {0};
        vidi_set *copy = NULL;
        uint64_t listed;
        home at;
        home_begin(&at);
        home_create(&at, &options, VIDI_MANUAL_COMMIT);
        uint64_t n = fill_up(at.set, every);
        assert_true(n > 1000);
        int code = vidi_write(at.set, test_stream_sink, &stream, 0);
        check(code == VIDI_OK || code == VIDI_ELIMIT, "%d, %s", code, vidi_message());
        if (code == VIDI_OK) {
            must(test_stream_read(&stream, &copy, stream.size, NULL));
            uint64_t missing = missing_in(copy, n);
            check(!missing, "%llu of %llu committed URLs are missing", (unsigned long long)missing,
                  (unsigned long long)n);
            vidi_close(copy);
        }
        code = list_anew(at.set, &listed);
        check(code == VIDI_OK ? listed == n : code == VIDI_ELIMIT, "%llu of %llu URLs are listed: %d",
              (unsigned long long)listed, (unsigned long long)n, code);
        assert_int_equal(missing_in(at.set, n), 0);
        home_reopen(&at, 0);
        test_stream_free(&stream);
        test_stream_write(&stream, at.set); /* there is memory enough now */
        home_end(&at);
        test_stream_free(&stream);
    }
}

/* ---- a sync that fails afterwards ---- */

static struct {
    home at;
    uint64_t n; /* the allocation that is refused while the filter catches up */
    bool armed, failed;
    uint64_t refused;
} late;

/* While an add waits for its sync, somebody writes the set, and memory ends in the middle. Then the sync fails. */
static int write_and_fail(int file)
{
    test_stream stream = {0};
    if (!late.armed)
        return vidi__system_real.fsync(file);
    late.armed = false;
    test_allocator_fail(&moody.checked, late.n, true);
    (void)vidi_write(late.at.set, test_stream_sink, &stream, 0);
    late.refused = test_allocator_refused(&moody.checked);
    test_allocator_fail(&moody.checked, 0, false);
    test_stream_free(&stream);
    late.failed = true;
    errno = EIO;
    return -1;
}

static void an_add_that_fails_late_leaves_no_trace(void **state)
{
    const way *which = *state;
    static char rooms[URLS][TEST_URL_ROOM];
    vidi__system hooked = vidi__system_real;
    vidi_str urls[URLS];
    uint8_t verdicts[URLS];
    hooked.fsync = write_and_fail;
    for (size_t i = 0; i < URLS; i++)
        urls[i] = nth(rooms[i], i);
    late.refused = 1;
    for (late.n = 1; late.refused; late.n++) {
        moody_begin(late.n);
        open_moody(&late.at, which);
        late.failed = false;
        late.armed = true;
        vidi__system_now = &hooked;
        int code = vidi_add_batch(late.at.set, urls, URLS, verdicts, NULL);
        vidi__system_now = &vidi__system_real;
        assert_true(late.failed);
        assert_int_equal(code, VIDI_EIO);
        for (size_t i = 0; i < URLS; i++) {
            int right = verdicts[i] == VIDI_UNTRIED ? VIDI_NEW : VIDI_SEEN, verdict = vidi_has(late.at.set, urls[i]);
            check(verdict == right, "allocation %llu: URL %zu was answered %u, and is now %d",
                  (unsigned long long)late.n, i, verdicts[i], verdict);
        }
        home_end(&late.at);
        test_allocator_finish(&moody.checked);
    }
}

/* ---- repeats ---- */

static int fail_sync(int file)
{
    if (!late.armed)
        return vidi__system_real.fsync(file);
    errno = EIO;
    return -1;
}

/* A URL that was seen because it stands twice in the batch is as unknown as the first of them. */
static void repeats_in_a_batch_that_fails_are_untried_too(void **state)
{
    const way *which = *state;
    vidi__system hooked = vidi__system_real;
    char rooms[3][TEST_URL_ROOM];
    hooked.fsync = fail_sync;
    moody_begin(1);
    open_moody(&late.at, which);
    assert_int_equal(add_nth(late.at.set, 2), VIDI_NEW);
    vidi_str a = nth(rooms[0], 0), b = nth(rooms[1], 1), known = nth(rooms[2], 2), urls[] = {a, a, b, known, a, b};
    uint8_t verdicts[6];
    late.armed = true;
    vidi__system_now = &hooked;
    assert_int_equal(vidi_add_batch(late.at.set, urls, 6, verdicts, NULL), VIDI_EIO);
    late.armed = false;
    vidi__system_now = &vidi__system_real;
    for (size_t i = 0; i < 6; i++) {
        int right = urls[i].ptr == known.ptr ? VIDI_SEEN : VIDI_UNTRIED;
        check(verdicts[i] == right, "URL %zu is answered %u", i, verdicts[i]);
    }
    assert_int_equal(vidi_has(late.at.set, a), VIDI_NEW);
    assert_int_equal(test_stat(late.at.set).answered_new, 1);
    assert_int_equal(test_stat(late.at.set).answered_seen, 1);
    home_end(&late.at);
    test_allocator_finish(&moody.checked);
}

int main(int argc, char **argv)
{
    char name[200];
    for (size_t i = 0; i < WAYS; i++) {
        snprintf(name, sizeof name, "nothing committed is missing after refusals: %s, flags %u", ways[i].kind,
                 ways[i].flags);
        test_add(name, nothing_committed_is_missing_after_refusals, &ways[i]);
        snprintf(name, sizeof name, "a rotation keeps all that was committed: %s, flags %u", ways[i].kind,
                 ways[i].flags);
        test_add(name, a_rotation_keeps_all_that_was_committed, &ways[i]);
    }
    test_add("a merge counts URLs once: hashset", a_merge_counts_urls_once, &ways[1]);
    test_add("a merge counts URLs once: sorted", a_merge_counts_urls_once, &ways[5]);
    test_add("at its limit a set is written whole or not at all", at_its_limit_a_set_is_written_whole_or_not, NULL);
    test_add("an add that fails late leaves no trace: hashset", an_add_that_fails_late_leaves_no_trace, &ways[3]);
    test_add("an add that fails late leaves no trace: fingerprint", an_add_that_fails_late_leaves_no_trace, &ways[2]);
    test_add("repeats in a batch that fails are untried too: hashset", repeats_in_a_batch_that_fails_are_untried_too,
             &ways[3]);
    test_add("repeats in a batch that fails are untried too: fingerprint",
             repeats_in_a_batch_that_fails_are_untried_too, &ways[2]);
    return test_run("durable_behind", argc, argv);
}
