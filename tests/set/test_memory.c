/*
 * Memory: every allocation goes through the hook, none is lost, the limit holds, and a refusal at any moment leaves the
 * set as it was.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/access.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/env.h"
#include "support/runner.h"
#include "support/streams.h"
#include "support/urls.h"

static vidi_str url_at(char *room, uint64_t seed, uint64_t index)
{
    return (vidi_str){room, test_url(room, TEST_URL_ROOM, seed, index)};
}

/* Adds the URLs first .. first + n - 1; stops at an error and returns it, else VIDI_OK. */
static int add_range(vidi_set *set, uint64_t seed, uint64_t first, uint64_t n, unsigned char *held)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = first; i < first + n; i++) {
        int verdict = vidi_add(set, url_at(room, seed, i));
        if (verdict < 0) {
            return verdict;
        }
        if (held) {
            held[i] |= verdict == VIDI_NEW;
        }
    }
    return VIDI_OK;
}

static void must_hold(const vidi_set *set, uint64_t seed, uint64_t n, const unsigned char *held)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < n; i++) {
        vidi_str url = url_at(room, seed, i);
        check(!held[i] || vidi_has(set, url) == VIDI_SEEN, "forgotten: %.*s", (int)url.len, url.ptr);
    }
}

/*
 * Calls of the C library's allocator from this thread while `watching` and not inside the hook: they would be the
 * library's own. Sanitizers bring an allocator of their own that must not be replaced; there nothing is watched.
 */
static __thread int watching;
static __thread int inside_hook;
static __thread uint64_t strayed;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__GLIBC__) && !defined(__clang__)
static void note_call(void)
{
    strayed += watching && !inside_hook;
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

void *malloc(size_t n)
{
    note_call();
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    note_call();
    return __libc_calloc(n, size);
}

void *realloc(void *ptr, size_t n)
{
    note_call();
    return __libc_realloc(ptr, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    note_call();
    return __libc_memalign(alignment, n);
}

int posix_memalign(void **ptr, size_t alignment, size_t n)
{
    note_call();
    *ptr = __libc_memalign(alignment, n);
    return *ptr ? 0 : 12;
}

void free(void *ptr)
{
    __libc_free(ptr);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset)
{
    static void *(*real)(void *, size_t, int, int, int, off_t);
    note_call();
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "mmap");
    }
    return real(address, length, protection, flags, fd, offset);
}
#endif

/* The watching allocator once more, marking the time inside the hook. */
static test_allocator *inner;

static void *hook_allocate(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    inside_hook++;
    void *ptr = inner->hook.allocate(inner, bytes, alignment);
    inside_hook--;
    return ptr;
}

static void hook_release(void *context, void *ptr, size_t bytes, size_t alignment)
{
    (void)context;
    inside_hook++;
    inner->hook.release(inner, ptr, bytes, alignment);
    inside_hook--;
}

static int nothing_wrong(void *context, const vidi_entry *entry)
{
    (void)entry;
    ++*(uint64_t *)context;
    return 0;
}

static int swallow(void *context, const void *data, size_t size)
{
    (void)data;
    *(uint64_t *)context += size;
    return 0;
}

/* Everything that a set can do, once. */
static void use_everything(vidi_set *set, vidi_set *twin)
{
    char room[TEST_URL_ROOM];
    uint64_t number = 0;
    vidi_stats stats = {.size = sizeof stats};
    assert_int_equal(add_range(set, 3, 0, 1500, NULL), VIDI_OK);
    assert_int_equal(add_range(twin, 3, 1000, 1500, NULL), VIDI_OK);
    vidi_has(set, url_at(room, 3, 1));
    vidi_remove(set, url_at(room, 3, 0));
    vidi_count(set, url_at(room, 3, 1), &number);
    vidi_merge(twin, set, 0);
    vidi_iterate(set, nothing_wrong, &number);
    test_step(set, 1000000);
    vidi_stat(set, &stats);
    vidi_write(set, swallow, &number, 0);
    assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    assert_int_equal(add_range(set, 3, 0, 1500, NULL), VIDI_OK);
    vidi_has_previous(set, url_at(room, 3, 1));
    vidi_drop_previous(set);
}

static void every_allocation_goes_through_the_hook(void **state)
{
    const test_case *which = *state;
    test_allocator allocator;
    vidi_allocator hook = {sizeof hook, hook_allocate, NULL, hook_release, NULL};
    test_options made;
    vidi_set *set = NULL, *twin = NULL;
    test_allocator_init(&allocator);
    inner = &allocator;
    test_case_options(&made, which, 1500, 3);
    made.access.allocator = &hook;
    made.options.flags = VIDI_KEEP_PREVIOUS;
    strayed = 0;
    watching = 1;
    int result = vidi_create(&set, &made.options);
    int second = vidi_create(&twin, &made.options);
    watching = 0;
    assert_int_equal(result, VIDI_OK);
    assert_int_equal(second, VIDI_OK);
    assert_true(allocator.live_blocks > 0);
    watching = 1;
    use_everything(set, twin);
    vidi_close(set);
    vidi_close(twin);
    watching = 0;
    check(strayed == 0 || which->traits & TEST_LIBCRYPTO, "%llu calls beside the hook", (unsigned long long)strayed);
    test_allocator_finish(&allocator);
}

/* memory_bytes is what the hook counts: not less, and hardly more. */
static void memory_bytes_is_what_was_allocated(void **state)
{
    const test_case *which = *state;
    uint64_t n = test_case_few(which, 20000);
    test_allocator allocator;
    test_allocator_init(&allocator);
    vidi_set *set = test_case_set(which, n, 4, &allocator.hook);
    for (uint64_t at = 0; at < n; at += n / 4) {
        vidi_stats stats = test_stat(set);
        uint64_t live = test_allocator_live(&allocator);
        check(stats.memory_bytes >= live && stats.memory_bytes <= live + 4096, "says %llu, allocated %llu",
              (unsigned long long)stats.memory_bytes, (unsigned long long)live);
        assert_int_equal(add_range(set, 4, at, n / 4, NULL), VIDI_OK);
    }
    vidi_close(set);
    test_allocator_finish(&allocator);
}

/* Adds until the limit refuses; false if it never did. */
static bool add_to_the_limit(vidi_set *set, test_allocator *allocator, uint64_t limit, uint64_t most,
                             unsigned char *held, uint64_t *reached)
{
    for (*reached = 0; *reached < most; ++*reached) {
        int result = add_range(set, 5, *reached, 1, held);
        check(test_allocator_peak(allocator) <= limit, "%llu bytes under a limit of %llu",
              (unsigned long long)test_allocator_peak(allocator), (unsigned long long)limit);
        if (result < 0) {
            assert_int_equal(result, VIDI_ELIMIT);
            assert_true(strlen(vidi_message()) > 0);
            return true;
        }
    }
    return false;
}

static void growth_stops_at_the_limit(void **state)
{
    enum { MOST = 60000, FEW = 6000 }; /* FEW: for kinds that never grow */
    const test_case *which = *state;
    const uint64_t limit = 400000;
    test_allocator allocator;
    test_options made;
    vidi_set *set = NULL;
    unsigned char *held = calloc(MOST, 1);
    uint64_t reached = 0;
    char room[TEST_URL_ROOM];
    test_allocator_init(&allocator);
    test_case_options(&made, which, 1000, 5);
    made.access.allocator = &allocator.hook;
    made.access.memory_limit = limit;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    assert_int_equal(test_stat(set).memory_limit, limit);
    bool grows = test_stat(set).can & VIDI_CAN_GROW;
    bool refused = add_to_the_limit(set, &allocator, limit, grows ? MOST : FEW, held, &reached);
    assert_true(refused || !grows || !(which->traits & TEST_EXACT));
    must_hold(set, 5, reached, held);
    vidi_stats stats = test_stat(set);
    assert_true(stats.memory_bytes <= limit);
    if (refused) {
        uint64_t before = stats.count;
        assert_int_equal(vidi_has(set, url_at(room, 5, reached)), VIDI_NEW);
        int again = vidi_add(set, url_at(room, 5, 0)); /* which a multiset stores once more, if there is memory */
        assert_true(again == VIDI_SEEN || (again == VIDI_ELIMIT && which->traits & TEST_MULTISET));
        stats = test_stat(set);
        assert_true(stats.count == before || which->traits & TEST_MULTISET);
    }
    vidi_close(set);
    test_allocator_finish(&allocator);
    free(held);
}

/* A batch that hits the limit: what has a verdict was dealt with, the rest left no trace. */
static void a_batch_at_the_limit_is_done_or_untried(void **state)
{
    enum { N = 20000, PART = 500 };
    const test_case *which = *state;
    test_options made;
    vidi_set *set = NULL;
    test_batch batch;
    uint8_t verdicts[PART];
    uint64_t untried = 0;
    test_batch_init(&batch, PART);
    test_case_options(&made, which, 1000, 6);
    made.access.memory_limit = 300000;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    for (uint64_t at = 0; at < N && !untried; at += PART) {
        test_batch_fill(&batch, test_url, 6, at, PART);
        uint64_t before = test_stat(set).answered_new;
        int result = vidi_add_batch(set, batch.urls, PART, verdicts, NULL);
        uint64_t fresh = 0;
        for (size_t i = 0; i < PART; i++) {
            assert_in_range(verdicts[i], VIDI_UNTRIED, VIDI_SEEN);
            fresh += verdicts[i] == VIDI_NEW;
            untried += verdicts[i] == VIDI_UNTRIED;
            assert_true(verdicts[i] == VIDI_UNTRIED || vidi_has(set, batch.urls[i]) == VIDI_SEEN);
            assert_true(verdicts[i] != VIDI_UNTRIED || !(which->traits & TEST_EXACT) ||
                        vidi_has(set, batch.urls[i]) == VIDI_NEW);
        }
        assert_int_equal(result, untried ? VIDI_ELIMIT : VIDI_OK);
        assert_int_equal(test_stat(set).answered_new - before, fresh);
    }
    vidi_close(set);
    test_batch_free(&batch);
}

static void a_limit_too_small_is_refused_before_allocating(void **state)
{
    static const uint64_t limits[] = {1, 64};
    const test_case *which = *state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        test_allocator allocator;
        test_options made;
        vidi_set *set = (vidi_set *)&made;
        test_allocator_init(&allocator);
        test_case_options(&made, which, 100000, 7);
        made.access.allocator = &allocator.hook;
        made.access.memory_limit = limits[i];
        assert_int_equal(vidi_create(&set, &made.options), VIDI_ELIMIT);
        assert_null(set);
        assert_true(test_allocator_peak(&allocator) <= limits[i]);
        test_allocator_finish(&allocator);
    }
}

/* With the second epoch far beyond the limit the set stays in the first. */
static void rotation_beyond_the_limit_is_refused(void **state)
{
    const test_case *which = *state;
    test_options made;
    vidi_options next = VIDI_OPTIONS_INIT;
    vidi_set *set = NULL;
    unsigned char held[500] = {0};
    test_case_options(&made, which, 500, 8);
    made.access.memory_limit = 1000000;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    assert_int_equal(add_range(set, 8, 0, 500, held), VIDI_OK);
    next.capacity = (uint64_t)1 << 50;
    int result = vidi_rotate(set, &next);
    assert_true(result < 0);
    assert_int_equal(test_stat(set).epoch, 0);
    must_hold(set, 8, 500, held);
    vidi_close(set);
}

/* Creates, with the n-th allocation refused: an error and nothing left, until n is beyond the last. */
static void creation_survives_any_refusal(void **state)
{
    const test_case *which = *state;
    int result = VIDI_EMEMORY;
    for (uint64_t n = 1; result != VIDI_OK; n++) {
        test_allocator allocator;
        test_options made;
        vidi_set *set = (vidi_set *)&made;
        assert_true(n < 1000);
        test_allocator_init(&allocator);
        test_case_options(&made, which, 1000, 9);
        made.access.allocator = &allocator.hook;
        test_allocator_fail(&allocator, n, false);
        result = vidi_create(&set, &made.options);
        if (test_allocator_refused(&allocator)) {
            assert_int_equal(result, VIDI_EMEMORY);
            assert_null(set);
        } else {
            assert_int_equal(result, VIDI_OK);
        }
        vidi_close(set);
        test_allocator_finish(&allocator);
    }
}

/* Adds n URLs with refusals at every place: whatever fails has not changed the set, and works the second time. */
static void adding_survives_any_refusal(void **state)
{
    enum { N = 3000 };
    const test_case *which = *state;
    test_allocator allocator;
    unsigned char held[N] = {0};
    char room[TEST_URL_ROOM];
    test_allocator_init(&allocator);
    vidi_set *set = test_case_set(which, 300, 10, &allocator.hook);
    for (uint64_t i = 0; i < N; i++) {
        vidi_str url = url_at(room, 10, i);
        int verdict = VIDI_EMEMORY;
        for (uint64_t n = 1; verdict < 0; n++) {
            int before = vidi_has(set, url);
            uint64_t count = test_stat(set).count;
            test_allocator_fail(&allocator, n, false);
            verdict = vidi_add(set, url);
            test_allocator_fail(&allocator, 0, false);
            check(verdict > 0 || verdict == VIDI_EMEMORY, "%d: %s", verdict, vidi_message());
            check(verdict > 0 || (vidi_has(set, url) == before && test_stat(set).count == count),
                  "a failed add stayed");
            assert_true(n < 100);
        }
        held[i] = verdict == VIDI_NEW;
    }
    must_hold(set, 10, N, held);
    vidi_close(set);
    test_allocator_finish(&allocator);
}

static void batches_survive_any_refusal(void **state)
{
    enum { N = 3000, PART = 300 };
    const test_case *which = *state;
    test_allocator allocator;
    test_batch batch;
    uint8_t verdicts[PART];
    vidi_str left[PART];
    test_allocator_init(&allocator);
    test_batch_init(&batch, PART);
    vidi_set *set = test_case_set(which, 300, 11, &allocator.hook);
    for (uint64_t at = 0; at < N; at += PART) {
        test_batch_fill(&batch, test_url, 11, at, PART);
        size_t n = PART;
        memcpy(left, batch.urls, sizeof left);
        for (uint64_t fail = 1; n; fail++) {
            test_allocator_fail(&allocator, fail, false);
            int result = vidi_add_batch(set, left, n, verdicts, NULL);
            test_allocator_fail(&allocator, 0, false);
            size_t untried = 0;
            for (size_t i = 0; i < n; i++) {
                assert_true(verdicts[i] == VIDI_UNTRIED || vidi_has(set, left[i]) == VIDI_SEEN);
                if (verdicts[i] == VIDI_UNTRIED) {
                    left[untried++] = left[i];
                }
            }
            assert_int_equal(result, untried ? VIDI_EMEMORY : VIDI_OK);
            n = untried;
            assert_true(fail < 1000);
        }
    }
    assert_int_equal(test_stat(set).answered_new + test_stat(set).answered_seen, N);
    vidi_close(set);
    test_batch_free(&batch);
    test_allocator_finish(&allocator);
}

static void rotation_survives_any_refusal(void **state)
{
    enum { N = 1000 };
    const test_case *which = *state;
    test_allocator allocator;
    unsigned char held[N] = {0};
    int result = VIDI_EMEMORY;
    test_allocator_init(&allocator);
    vidi_set *set = test_case_set(which, N, 12, &allocator.hook);
    assert_int_equal(add_range(set, 12, 0, N, held), VIDI_OK);
    for (uint64_t n = 1; result != VIDI_OK; n++) {
        test_allocator_fail(&allocator, n, false);
        result = vidi_rotate(set, NULL);
        test_allocator_fail(&allocator, 0, false);
        check(result == VIDI_OK || result == VIDI_EMEMORY, "%d: %s", result, vidi_message());
        assert_int_equal(test_stat(set).epoch, result == VIDI_OK ? 1 : 0);
        if (result != VIDI_OK) {
            must_hold(set, 12, N, held);
        }
        assert_true(n < 1000);
    }
    vidi_close(set);
    test_allocator_finish(&allocator);
}

static void writing_survives_any_refusal(void **state)
{
    const test_case *which = *state;
    test_allocator allocator;
    int result = VIDI_EMEMORY;
    test_allocator_init(&allocator);
    vidi_set *set = test_case_set(which, 500, 13, &allocator.hook);
    assert_int_equal(add_range(set, 13, 0, 500, NULL), VIDI_OK);
    for (uint64_t n = 1; result != VIDI_OK; n++) {
        uint64_t size = 0;
        uint64_t live = test_allocator_live(&allocator);
        test_allocator_fail(&allocator, n, false);
        result = vidi_write(set, swallow, &size, 0);
        test_allocator_fail(&allocator, 0, false);
        check(result == VIDI_OK || result == VIDI_EMEMORY, "%d: %s", result, vidi_message());
        assert_int_equal(test_allocator_live(&allocator), live);
        assert_true(n < 1000);
    }
    vidi_close(set);
    test_allocator_finish(&allocator);
}

static void reading_survives_any_refusal(void **state)
{
    const test_case *which = *state;
    test_stream stream;
    int result = VIDI_EMEMORY;
    vidi_set *set = test_case_set(which, 500, 14, NULL);
    unsigned char held[500] = {0};
    assert_int_equal(add_range(set, 14, 0, 500, held), VIDI_OK);
    test_stream_write(&stream, set);
    vidi_close(set);
    for (uint64_t n = 1; result != VIDI_OK; n++) {
        test_allocator allocator;
        vidi_access access = VIDI_ACCESS_INIT;
        test_allocator_init(&allocator);
        access.allocator = &allocator.hook;
        set = (vidi_set *)&access;
        test_allocator_fail(&allocator, n, false);
        result = test_stream_read(&stream, &set, stream.size, &access);
        check(result == VIDI_OK || (result == VIDI_EMEMORY && !set), "%d: %s", result, vidi_message());
        test_allocator_fail(&allocator, 0, false);
        if (result == VIDI_OK) {
            must_hold(set, 14, 500, held);
        }
        vidi_close(set);
        test_allocator_finish(&allocator);
        assert_true(n < 1000);
    }
    test_stream_free(&stream);
}

static void merging_survives_any_refusal(void **state)
{
    enum { N = 1000 };
    const test_case *which = *state;
    test_allocator allocator;
    unsigned char held[N] = {0};
    int result = VIDI_EMEMORY;
    test_allocator_init(&allocator);
    vidi_set *into = test_case_set(which, N, 15, &allocator.hook);
    vidi_set *from = test_case_set(which, N, 15, NULL);
    assert_int_equal(add_range(into, 15, 0, N / 2, held), VIDI_OK);
    assert_int_equal(add_range(from, 15, N / 4, N - N / 4, held), VIDI_OK);
    for (uint64_t n = 1; result != VIDI_OK; n++) {
        test_allocator_fail(&allocator, n, false);
        result = vidi_merge(into, from, 0);
        test_allocator_fail(&allocator, 0, false);
        check(result == VIDI_OK || result == VIDI_EMEMORY, "%d: %s", result, vidi_message());
        assert_true(n < 10000);
    }
    must_hold(into, 15, N, held);
    vidi_close(into);
    vidi_close(from);
    test_allocator_finish(&allocator);
}

/* Not by a number of bits in its parameters. */
static bool is_sized_by_urls(const test_case *which)
{
    return !which->params || !strchr(which->params, '@');
}

static bool can_merge(const test_case *which)
{
    return test_case_can(which, VIDI_CAN_MERGE);
}

int main(int argc, char **argv)
{
    test_add_cases("every allocation goes through the hook", every_allocation_goes_through_the_hook, test_case_rotates);
    test_add_cases("memory_bytes is what was allocated", memory_bytes_is_what_was_allocated, NULL);
    test_add_cases("growth stops at the limit", growth_stops_at_the_limit, NULL);
    test_add_cases("a batch at the limit is done or untried", a_batch_at_the_limit_is_done_or_untried, NULL);
    test_add_cases("a limit too small is refused before allocating", a_limit_too_small_is_refused_before_allocating,
                   NULL);
    test_add_cases("rotation beyond the limit is refused", rotation_beyond_the_limit_is_refused, is_sized_by_urls);
    test_add_cases("creation survives any refusal", creation_survives_any_refusal, NULL);
    test_add_cases("adding survives any refusal", adding_survives_any_refusal, NULL);
    test_add_cases("batches survive any refusal", batches_survive_any_refusal, NULL);
    test_add_cases("rotation survives any refusal", rotation_survives_any_refusal, test_case_rotates);
    test_add_cases("writing survives any refusal", writing_survives_any_refusal, NULL);
    test_add_cases("reading survives any refusal", reading_survives_any_refusal, NULL);
    test_add_cases("merging survives any refusal", merging_survives_any_refusal, can_merge);
    return test_run("memory", argc, argv);
}
