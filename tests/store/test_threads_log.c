/* Logs that many threads append to and wait for at once. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "store/log_cases.h"
#include "support/clock.h"
#include "support/runner.h"

enum { THREADS = 8, EACH = 1000 };

static test_scratch folder;
static log_seen seen;

typedef struct worker {
    pthread_t thread;
    vidi__log *log;
    uint32_t first;    /* of its record numbers */
    uint32_t appended; /* so many of them */
    uint32_t acked;
    int code;
    bool wrong; /* positions that do not grow */
} worker;

static int work(worker *self)
{
    test_random random = {self->first};
    uint64_t before = 0;
    for (uint32_t i = 0; i < EACH; i++) {
        uint64_t position;
        if (test_below(&random, 10) == 0) {
            VIDI__TRY(vidi__log_reserve(self->log, 3000));
            vidi__log_unreserve(self->log, 3000);
        }
        VIDI__TRY(log_add(self->log, self->first + i, &position));
        self->appended = i + 1;
        self->wrong |= position <= before || vidi__log_end(self->log) < position;
        before = position;
        if (test_below(&random, 10) == 0) {
            VIDI__TRY(vidi__log_wait(self->log, position));
            self->acked = i + 1;
        }
    }
    return VIDI_OK;
}

static void *run(void *context)
{
    worker *self = context;
    self->code = work(self);
    return NULL;
}

static void start_all(worker *workers, vidi__log *log)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.log = log, .first = 1 + i * EACH};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, run, &workers[i]), 0);
    }
}

static void join_all(worker *workers)
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
}

/* Of each thread's records the first ones, in order: at least those that were acknowledged. */
static void all_there(const worker *workers)
{
    uint32_t next[THREADS] = {0};
    for (size_t i = 0; i < seen.count; i++) {
        uint32_t of = (seen.numbers[i] - 1) / EACH;
        assert_true(of < THREADS);
        assert_int_equal(seen.numbers[i], workers[of].first + next[of]);
        next[of]++;
    }
    for (int i = 0; i < THREADS; i++) {
        check(next[i] >= workers[i].acked && next[i] <= workers[i].appended, "thread %d: %u of %u to %u", i, next[i],
              workers[i].acked, workers[i].appended);
        assert_false(workers[i].wrong);
    }
}

static void records_of_all_threads_are_there(void **state)
{
    vidi__log_policy policy = *(const vidi__log_policy *)*state;
    static worker workers[THREADS];
    test_allocator allocator;
    vidi__memory memory;
    vidi__log *log;
    vidi__log_found found;
    test_allocator_init(&allocator);
    assert_int_equal(vidi__memory_init(&memory, &allocator.hook, 0), VIDI_OK);
    test_scratch_empty(&folder);
    disk_begin(&folder);
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, policy), VIDI_OK);
    start_all(workers, log);
    join_all(workers);
    uint64_t end = vidi__log_end(log), syncs = disk_calls(DISK_FSYNC);
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    disk_end();
    test_allocator_finish(&allocator);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(workers[i].code, VIDI_OK);
    assert_int_equal(log_read(&folder, &seen, &found), VIDI_OK);
    assert_int_equal(found.records, THREADS * EACH);
    assert_int_equal(found.bytes, end);
    all_there(workers);
    check(policy == VIDI__SYNC_ALWAYS || syncs < THREADS * EACH / 10, "%d syncs are not shared", (int)syncs);
}

static void all_threads_see_the_error(void **state)
{
    (void)state;
    static worker workers[THREADS];
    static const disk_call calls[] = {DISK_WRITE, DISK_FSYNC};
    for (size_t i = 0; i < VIDI__COUNT(calls); i++) {
        vidi__memory memory = log_memory();
        vidi__log *log;
        vidi__log_found found;
        test_scratch_empty(&folder);
        disk_begin(&folder);
        assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
        disk_fail(calls[i], 10, EIO, 1);
        start_all(workers, log);
        join_all(workers);
        assert_int_equal(vidi__log_close(log), VIDI_EIO);
        disk_end();
        assert_int_equal(vidi__memory_used(&memory), 0);
        for (int k = 0; k < THREADS; k++)
            assert_int_equal(workers[k].code, VIDI_EIO);
        assert_int_equal(log_read(&folder, &seen, &found), VIDI_OK);
        all_there(workers);
    }
}

/* ---- a disk that is too slow ---- */

static atomic_bool closed_gate;
static atomic_bool at_gate;

static ssize_t gated_write(int file, const void *data, size_t bytes)
{
    while (atomic_load(&closed_gate)) {
        atomic_store(&at_gate, true);
        sched_yield();
    }
    return write(file, data, bytes);
}

typedef struct flood {
    vidi__log *log;
    atomic_uint appended;
    int code;
} flood;

enum { FLOOD = 300 }; /* records of 300 KiB: some 90 MB */

static void *append_flood(void *context)
{
    flood *self = context;
    for (uint32_t i = 0; i < FLOOD && self->code == VIDI_OK; i++) {
        uint64_t position;
        self->code = log_add(self->log, LOG_LARGE + i, &position);
        atomic_fetch_add(&self->appended, 1);
    }
    return NULL;
}

static void appenders_wait_for_a_slow_disk(void **state)
{
    (void)state;
    vidi__memory memory = log_memory();
    flood of = {0};
    pthread_t thread;
    vidi__log_found found;
    vidi__system slow = vidi__system_real;
    slow.write = gated_write;
    test_scratch_empty(&folder);
    vidi__system_now = &slow;
    test_clock_begin();
    assert_int_equal(vidi__log_create(&of.log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    atomic_store(&closed_gate, true);
    assert_int_equal(pthread_create(&thread, NULL, append_flood, &of), 0);
    while (!atomic_load(&at_gate)) /* from here on the log's thread waits for the disk, not on the clock */
        sched_yield();
    while (test_clock_sleepers(VIDI__NEVER) == 0 && atomic_load(&of.appended) < FLOOD)
        sched_yield();
    check(atomic_load(&of.appended) < FLOOD, "nobody waits");
    uint64_t pending = vidi__log_end(of.log);
    check(pending > (64u << 20) && pending < (65u << 20), "%llu bytes", (unsigned long long)pending);
    atomic_store(&closed_gate, false);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(of.code, VIDI_OK);
    assert_int_equal(vidi__log_close(of.log), VIDI_OK);
    test_clock_end();
    vidi__system_now = &vidi__system_real;
    assert_int_equal(log_read(&folder, &seen, &found), VIDI_OK);
    assert_int_equal(found.records, FLOOD);
    assert_int_equal(vidi__memory_used(&memory), 0);
}

int main(int argc, char **argv)
{
    static const vidi__log_policy policies[] = {VIDI__SYNC_EVERYSEC, VIDI__SYNC_ALWAYS, VIDI__SYNC_NO};
    test_scratch_make(&folder);
    test_add("records of all threads are there: everysec", records_of_all_threads_are_there, &policies[0]);
    test_add("records of all threads are there: always", records_of_all_threads_are_there, &policies[1]);
    test_add("records of all threads are there: no", records_of_all_threads_are_there, &policies[2]);
    test_add("all threads see the error", all_threads_see_the_error, NULL);
    test_add("appenders wait for a slow disk", appenders_wait_for_a_slow_disk, NULL);
    int result = test_run("store/threads_log", argc, argv);
    test_scratch_remove(&folder);
    return result;
}
