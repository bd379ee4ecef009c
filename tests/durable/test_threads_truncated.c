/*
 * A snapshot that is truncated under its readers: every call that reads from it then gives the right answer or
 * VIDI_EIO, and none ends the process.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "durable/durable_cases.h"
#include "store/file.h"
#include "store/guard.h"
#include "support/access.h"
#include "support/runner.h"
#include "support/streams.h"

enum { URLS = 8000, BATCH = 1000 }; /* a snapshot of several pages */

/* Kinds that use their arrays where they lie in the file. */
static bool is_mapped(const test_case *which)
{
    return is_modelled(which) && !(which->traits & TEST_EXACT);
}

static struct sigaction guard;

/* The library installs its handler once, and before each test cmocka installs one in its place. */
static void take_guard(void)
{
    static const char page[] = "any address";
    const _Atomic bool *lost;
    must(vidi__guard_add(page, sizeof page, &lost));
    vidi__guard_remove(page);
    assert_int_equal(sigaction(SIGBUS, NULL, &guard), 0);
}

/* A folder whose URLs are all in the snapshot. */
static void begin(home *at, const test_case *which)
{
    test_options made;
    assert_int_equal(sigaction(SIGBUS, &guard, NULL), 0);
    home_begin(at);
    test_case_options(&made, which, URLS, 1);
    if (!which->params) {
        made.options.error = 1e-9;
        made.options.capacity = URLS;
    }
    home_create(at, &made.options, TEST_SYNC_NEVER);
    for (uint64_t i = 0; i < URLS; i++)
        assert_true(add_nth(at->set, i) > 0);
    must(vidi_snapshot(at->set));
    vidi_close(at->set);
    at->set = NULL;
}

/* A reader of a copy that nobody has truncated yet. */
static void open_copy(home *at)
{
    vidi_close(at->set);
    at->set = home_crashed(at, VIDI_READ_ONLY);
}

/* Truncates the snapshot in the copy. */
static void cut(const home *at, off_t pages)
{
    char path[TEST_PATH];
    test_path(path, at->copy, "set.0000000000000002");
    assert_int_equal(truncate(path, pages * sysconf(_SC_PAGESIZE)), 0);
}

static int count_entries(void *context, const vidi_entry *entry)
{
    (void)entry;
    ++*(uint64_t *)context;
    return 0;
}

/* ---- every call that reads ---- */

static int ask_one(const vidi_set *set)
{
    return has_nth(set, 1);
}

/* Nothing is said about URLs for which the call has failed. */
static int ask_batch(const vidi_set *set)
{
    test_batch batch;
    uint8_t verdicts[BATCH];
    test_batch_init(&batch, BATCH);
    test_batch_fill(&batch, test_url, 77, 0, BATCH);
    int result = vidi_has_batch(set, batch.urls, BATCH, verdicts);
    for (size_t i = 0; i < BATCH; i++)
        assert_int_equal(verdicts[i], result == VIDI_OK ? VIDI_SEEN : VIDI_UNTRIED);
    test_batch_free(&batch);
    return result;
}

static int ask_digests(const vidi_set *set)
{
    test_batch batch;
    uint8_t verdicts[BATCH];
    vidi_digest digests[BATCH];
    uint64_t epoch;
    test_batch_init(&batch, BATCH);
    test_batch_fill(&batch, test_url, 77, 0, BATCH);
    int result = vidi_digest_batch(set, batch.urls, BATCH, digests, verdicts, &epoch);
    if (result == VIDI_OK)
        result = vidi_has_digests(set, epoch, digests, BATCH, verdicts);
    if (result == VIDI_EIO)
        for (size_t i = 0; i < BATCH; i++)
            assert_int_equal(verdicts[i], VIDI_DIGESTED);
    test_batch_free(&batch);
    return result;
}

static int count_one(const vidi_set *set)
{
    char room[TEST_URL_ROOM];
    uint64_t times;
    return vidi_count(set, nth(room, 1), &times);
}

static int list_all(const vidi_set *set)
{
    uint64_t count = 0;
    return vidi_iterate(set, count_entries, &count);
}

/* What was written before the error is not a set. */
static int write_all(const vidi_set *set)
{
    test_stream stream = {0};
    vidi_set *copy;
    int result = vidi_write(set, test_stream_sink, &stream, 0);
    assert_int_equal(test_stream_read(&stream, &copy, stream.size, NULL) == VIDI_OK, result == VIDI_OK);
    vidi_close(copy);
    test_stream_free(&stream);
    return result;
}

static int merge_from(const vidi_set *set)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *into;
    options.like = set;
    must(vidi_create(&into, &options));
    int result = vidi_merge(into, set, 0);
    vidi_close(into);
    return result;
}

static int stat_it(const vidi_set *set)
{
    vidi_stats stats = {.size = sizeof stats};
    return vidi_stat(set, &stats);
}

static const struct {
    const char *name;
    int (*call)(const vidi_set *set);
} calls[] = {
    {"vidi_has", ask_one},      {"vidi_has_batch", ask_batch}, {"vidi_has_digests", ask_digests},
    {"vidi_count", count_one},  {"vidi_iterate", list_all},    {"vidi_write", write_all},
    {"vidi_merge", merge_from}, {"vidi_verify", vidi_verify},  {"vidi_stat", stat_it},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* Each call is the first to meet the end of the file; vidi_stat alone need not look there. */
static void every_call_that_reads_returns_an_error(void **state)
{
    const test_case *which = *state;
    home at;
    begin(&at, which);
    for (size_t first = 0; first < CALLS; first++) {
        open_copy(&at);
        int before = calls[first].call(at.set);
        assert_true(before != VIDI_EIO);
        cut(&at, 0);
        int result = calls[first].call(at.set);
        bool reads = before != VIDI_ECANNOT && calls[first].call != stat_it;
        check(result == (reads ? VIDI_EIO : before), "%s: %d, before %d", calls[first].name, result, before);
        assert_int_equal(vidi_verify(at.set), VIDI_EIO);
        assert_non_null(strstr(vidi_message(), "truncated"));
        for (size_t i = 0; i < CALLS; i++) {
            result = calls[i].call(at.set);
            check(result == VIDI_EIO || result == VIDI_ECANNOT, "%s after %s: %d", calls[i].name, calls[first].name,
                  result);
        }
    }
    home_end(&at);
}

/* What was not truncated is still answered, and what was not read is not missed. */
static void no_answer_is_wrong(void **state)
{
    const test_case *which = *state;
    home at;
    begin(&at, which);
    for (off_t pages = 0; pages < 8; pages++) {
        open_copy(&at);
        cut(&at, pages);
        uint64_t lost = 0;
        for (uint64_t i = 0; i < URLS; i += 7) {
            int verdict = has_nth(at.set, i);
            check(verdict == VIDI_EIO || (!lost && verdict == VIDI_SEEN), "URL %d: %d", (int)i, verdict);
            lost += verdict == VIDI_EIO;
        }
        assert_true(pages || lost);
    }
    home_end(&at);
}

/* ---- while it is opened ---- */

static const home *opening;

static void *map_and_cut(int file, size_t bytes)
{
    void *start = vidi__system_real.map(file, bytes);
    cut(opening, 0);
    return start;
}

static void a_snapshot_truncated_while_it_is_opened_is_an_error(void **state)
{
    const test_case *which = *state;
    home at;
    vidi_set *set;
    vidi__system system = vidi__system_real;
    begin(&at, which);
    open_copy(&at);
    opening = &at;
    system.map = map_and_cut;
    vidi__system_now = &system;
    int result = test_open(&set, at.copy, VIDI_READ_ONLY);
    vidi__system_now = &vidi__system_real;
    check(result == VIDI_EIO && !set, "%d: %s", result, vidi_message());
    home_end(&at);
}

/* The previous epoch is a mapping of its own, also of a set that is open for writing. */
static void a_previous_epoch_truncated_is_an_error_of_it_alone(void **state)
{
    const test_case *which = *state;
    char room[TEST_URL_ROOM];
    home at;
    begin(&at, which);
    home_reopen(&at, TEST_SYNC_NEVER);
    vidi_options next = VIDI_OPTIONS_INIT;
    next.flags = VIDI_KEEP_PREVIOUS;
    if (vidi_rotate(at.set, &next) == VIDI_OK) {
        open_copy(&at);
        if (vidi_has_previous(at.set, nth(room, 1)) == VIDI_SEEN) {
            cut(&at, 0);
            assert_int_equal(vidi_has_previous(at.set, nth(room, 1)), VIDI_EIO);
            assert_int_equal(has_nth(at.set, 1), VIDI_NEW);
        }
    }
    home_end(&at);
}

/* ---- from many threads ---- */

typedef struct readers {
    const vidi_set *set;
    atomic_uint wrong, failed;
    atomic_bool cut;
} readers;

static void *read_on(void *context)
{
    readers *of = context;
    for (uint64_t i = 0, failed = 0; failed < 100; i = (i + 1) % URLS) {
        int verdict = has_nth(of->set, i);
        if (verdict != VIDI_SEEN && !(verdict == VIDI_EIO && atomic_load(&of->cut)))
            atomic_fetch_add(&of->wrong, 1);
        failed += verdict != VIDI_SEEN;
    }
    atomic_fetch_add(&of->failed, 1);
    return NULL;
}

static void threads_that_read_meanwhile_get_the_error(void **state)
{
    enum { THREADS = 6 };
    const test_case *which = *state;
    pthread_t threads[THREADS];
    home at;
    begin(&at, which);
    open_copy(&at);
    readers all = {.set = at.set};
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_on, &all), 0);
    atomic_store(&all.cut, true);
    cut(&at, 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&all.wrong), 0);
    assert_int_equal(atomic_load(&all.failed), THREADS);
    home_end(&at);
}

int main(int argc, char **argv)
{
    take_guard();
    test_add_cases("every call that reads returns an error", every_call_that_reads_returns_an_error, is_mapped);
    test_add_cases("no answer is wrong", no_answer_is_wrong, is_mapped);
    test_add_cases("a snapshot truncated while it is opened is an error",
                   a_snapshot_truncated_while_it_is_opened_is_an_error, is_mapped);
    test_add_cases("a previous epoch truncated is an error of it alone",
                   a_previous_epoch_truncated_is_an_error_of_it_alone, is_mapped);
    test_add_cases("threads that read meanwhile get the error", threads_that_read_meanwhile_get_the_error, is_mapped);
    return test_run("threads truncated", argc, argv);
}
