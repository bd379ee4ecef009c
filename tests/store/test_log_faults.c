/*
 * Logs on a disk that fails, at every call in turn: nothing leaks, nothing crashes, the error is told and stays,
 * nothing more is written after it, and what vidi__log_wait has acknowledged is there.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "store/log_cases.h"
#include "support/runner.h"

enum { RECORDS = 6 };

static test_scratch folder, crashed;
static log_seen seen;

typedef struct fault {
    int error;
    uint64_t times;
} fault;

/* EINTR for ever would be waited for for ever: it is no error. */
static const fault faults[] = {
    {EIO, 1},        {EIO, DISK_FOR_EVER}, {ENOSPC, 1},    {ENOSPC, DISK_FOR_EVER},
    {DISK_SHORT, 1}, {DISK_SHORT, 1000},   {DISK_FULL, 2}, {DISK_FULL, DISK_FOR_EVER},
    {EINTR, 1},      {EINTR, 3},
};

/* What a run has come to. */
typedef struct outcome {
    int code;          /* the first error, of whatever call */
    bool created;      /* the log was open at some time */
    uint32_t acked;    /* records 1 to acked were acknowledged */
    uint32_t appended; /* … and to appended may be there */
} outcome;

/* After the first error of the log, every call returns it, with its message. False if the log has not failed. */
static bool stays_failed(vidi__log *log, int code)
{
    char sentence[256];
    uint64_t position;
    snprintf(sentence, sizeof sentence, "%s", vidi_message());
    check(strstr(sentence, LOG_NAME) || code == VIDI_EMEMORY, "no name in: %s", sentence);
    vidi__fail(0, "something else");
    if (vidi__log_state(log) == VIDI_OK) /* memory for a reservation: not the log's end */
        return false;
    assert_int_equal(vidi__log_state(log), code);
    assert_string_equal(vidi_message(), sentence);
    assert_int_equal(log_add(log, 77, &position), code);
    assert_int_equal(vidi__log_wait(log, 1), code);
    return true;
}

static int append_all(vidi__log *log, outcome *out)
{
    for (uint32_t last = out->appended + RECORDS; out->appended < last;) {
        uint64_t position;
        VIDI__TRY(log_add(log, out->appended + 1, &position));
        out->appended++;
        if (out->appended % 2 == 0) {
            VIDI__TRY(vidi__log_wait(log, position));
            out->acked = out->appended;
        }
    }
    return VIDI_OK;
}

static void use(vidi__log *log, outcome *out)
{
    out->created = true;
    out->code = append_all(log, out);
    uint64_t writes = disk_calls(DISK_WRITE), syncs = disk_calls(DISK_FSYNC);
    bool failed = out->code < 0 && stays_failed(log, out->code);
    int closed = vidi__log_close(log); /* from here on its thread does nothing more */
    if (failed) {
        assert_int_equal(disk_calls(DISK_WRITE), writes);
        assert_int_equal(disk_calls(DISK_FSYNC), syncs);
    }
    if (out->code == VIDI_OK)
        out->code = closed;
    else if (out->code != VIDI_EMEMORY)
        assert_int_equal(closed, out->code);
}

/* Creates a log or continues it, appends, closes. */
static void run(vidi__memory *memory, vidi__log_policy policy, uint64_t continue_at, outcome *out)
{
    vidi__log *log;
    if (continue_at)
        out->code = vidi__log_continue(&log, memory, folder.handle, &log_id, policy, continue_at);
    else
        out->code = vidi__log_create(&log, memory, folder.handle, &log_id, policy);
    if (out->code == VIDI_OK)
        use(log, out);
    else
        assert_null(log);
}

static void nothing_is_missing(const test_scratch *in, const outcome *out, const char *what)
{
    vidi__log_found found;
    int code = log_read(in, &seen, &found);
    if (!out->created && out->acked == 0) {
        check(code == VIDI_EABSENT || (code == VIDI_OK && seen.count == 0), "%s: %d", what, code);
        return;
    }
    check(code == VIDI_OK, "%s: %s", what, vidi_message());
    for (uint32_t number = 1; number <= out->acked; number++)
        check(log_saw(&seen, number), "%s: record %u of %u is missing", what, number, out->acked);
    for (size_t i = 0; i < seen.count; i++)
        check(seen.numbers[i] <= out->appended, "%s: record %u was not appended", what, seen.numbers[i]);
}

/* The same without faults must work on what is left: a new log in place of the leftover, or the next one. */
static void can_be_repeated(const outcome *out)
{
    vidi__memory memory = log_memory();
    vidi__log_id id = log_id;
    vidi__log *log;
    id.number += out->created || out->acked;
    int code = vidi__log_create(&log, &memory, folder.handle, &id, VIDI__SYNC_NO);
    check(code == VIDI_OK, "again: %s", vidi_message());
    assert_int_equal(vidi__log_close(log), VIDI_OK);
}

/* One run with a fault at the n-th call; false if there were not so many calls. */
static bool try_fault(const fault *what, vidi__log_policy policy, bool go_on, uint64_t n)
{
    char name[80];
    outcome out = {0};
    test_allocator allocator;
    vidi__memory memory;
    snprintf(name, sizeof name, "error %d × %lld, policy %d, %s, call %lld", what->error, (long long)what->times,
             policy, go_on ? "continued" : "created", (long long)n);
    test_allocator_init(&allocator);
    assert_int_equal(vidi__memory_init(&memory, &allocator.hook, 0), VIDI_OK);
    test_scratch_empty(&folder);
    if (go_on) {
        log_make(&folder, RECORDS);
        out.acked = out.appended = RECORDS;
    }
    uint64_t at = VIDI__LOG_HEAD;
    for (uint32_t number = 1; number <= out.appended; number++)
        at += log_bytes(number);
    size_t open_files = test_open_files();
    disk_begin(&folder);
    disk_fail(DISK_ANY, n, what->error, what->times);
    run(&memory, policy, go_on ? at : 0, &out);
    uint64_t failed = disk_failed(), calls = disk_calls(DISK_ANY);
    if (!failed)
        check(out.code == VIDI_OK, "%s: %s", name, vidi_message());
    check(out.code == VIDI_OK || out.code == VIDI_EIO, "%s: %d, %s", name, out.code, vidi_message());
    if (what->error == DISK_SHORT)
        check(out.code == VIDI_OK, "%s: %s", name, vidi_message());
    if (out.code == VIDI_OK && out.created)
        assert_int_equal(out.acked, out.appended);
    disk_fail(DISK_ANY, 0, 0, 0);
    disk_crash_state(0, &crashed);
    nothing_is_missing(&crashed, &out, name);
    disk_end();
    nothing_is_missing(&folder, &out, name);
    if (!go_on && !out.created && what->times == 1)
        check(!test_file_exists(&folder, LOG_NAME), "%s: the file was not removed", name);
    can_be_repeated(&out);
    assert_int_equal(test_open_files(), open_files);
    test_allocator_finish(&allocator);
    return n <= calls;
}

static void acknowledged_records_survive_a_fault_at_any_call(void **state)
{
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(faults); i++)
        for (int policy = 0; policy <= VIDI__SYNC_NO; policy++)
            for (int go_on = 0; go_on < 2; go_on++)
                for (uint64_t n = 1; try_fault(&faults[i], (vidi__log_policy)policy, go_on, n);)
                    n++;
}

/* A torn record is the last of its file. */
static void nothing_is_written_behind_a_torn_record(void **state)
{
    (void)state;
    vidi__memory memory = log_memory();
    vidi__log *log;
    uint64_t position;
    vidi__log_found found;
    test_scratch_empty(&folder);
    disk_begin(&folder);
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_EVERYSEC), VIDI_OK);
    disk_fail(DISK_WRITE, 1, DISK_FULL, 2); /* by the third write there would be room again */
    assert_int_equal(log_add(log, LOG_LARGE, &position), VIDI_OK);
    assert_int_equal(vidi__log_wait(log, position), VIDI_EIO);
    assert_non_null(strstr(vidi_message(), strerror(ENOSPC)));
    assert_int_equal(vidi__log_close(log), VIDI_EIO);
    disk_end();
    assert_int_equal(log_read(&folder, &seen, &found), VIDI_OK);
    assert_int_equal(found.records, 0);
    assert_int_equal(found.unfinished, log_bytes(LOG_LARGE) / 2);
    assert_int_equal(vidi__log_continue(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO, found.bytes),
                     VIDI_EFORMAT);
    assert_int_equal(vidi__memory_used(&memory), 0);
}

/* ---- reading ---- */

static void a_reading_that_fails_says_so(void **state)
{
    (void)state;
    static const fault kinds[] = {{EIO, 1}, {EIO, DISK_FOR_EVER}, {DISK_SHORT, DISK_FOR_EVER}, {EINTR, 3}};
    test_scratch_empty(&folder);
    log_make(&folder, 5000);
    for (size_t i = 0; i < VIDI__COUNT(kinds); i++) {
        uint64_t n = 0, calls;
        do {
            vidi__log_found found;
            size_t open_files = test_open_files();
            disk_begin(&folder);
            disk_fail(DISK_ANY, ++n, kinds[i].error, kinds[i].times);
            int code = log_read(&folder, &seen, &found);
            calls = disk_calls(DISK_ANY);
            check(code == VIDI_OK || (code == VIDI_EIO && kinds[i].error > 0), "call %d: %d", (int)n, code);
            if (code == VIDI_OK)
                assert_int_equal(seen.count, 5000);
            disk_end();
            assert_int_equal(test_open_files(), open_files);
        } while (n <= calls);
        assert_true(n > 4);
    }
}

/* ---- memory ---- */

static void acknowledged_records_survive_a_want_of_memory(void **state)
{
    (void)state;
    for (int go_on = 0; go_on < 2; go_on++) {
        bool more = true;
        for (uint64_t n = 1; more; n++) {
            outcome out = {0};
            test_allocator allocator;
            vidi__memory memory;
            test_allocator_init(&allocator);
            assert_int_equal(vidi__memory_init(&memory, &allocator.hook, 0), VIDI_OK);
            test_scratch_empty(&folder);
            size_t open_files = test_open_files();
            out.appended = out.acked = LOG_LARGE; /* large records, so that the buffers grow */
            disk_begin(&folder);
            test_allocator_fail(&allocator, n, go_on);
            vidi__log *log;
            out.code = vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_EVERYSEC);
            if (out.code == VIDI_OK)
                use(log, &out);
            more = test_allocator_refused(&allocator) > 0;
            check(out.code == VIDI_OK || out.code == VIDI_EMEMORY, "allocation %d: %d", (int)n, out.code);
            disk_end();
            if (out.created) {
                vidi__log_found found;
                assert_int_equal(log_read(&folder, &seen, &found), VIDI_OK);
                assert_int_equal(seen.count, out.appended - LOG_LARGE);
            } else {
                assert_false(test_file_exists(&folder, LOG_NAME));
            }
            assert_int_equal(test_open_files(), open_files);
            test_allocator_finish(&allocator);
        }
    }
}

static int count_record(void *context, uint32_t type, vidi_str payload)
{
    *(size_t *)context += type == 1 ? log_is(1, payload) : payload.len == (3 << 20);
    return VIDI_OK;
}

static void *wait_for_it(void *context)
{
    vidi__log *log = context;
    return (void *)(intptr_t)vidi__log_wait(log, UINT64_MAX);
}

/*
 * A reservation holds although the thread finds no memory for a second buffer of that size: it goes on when the
 * reservation is used up, and in the meantime new ones are refused.
 */
static void a_reservation_holds_without_memory(void **state)
{
    (void)state;
    test_allocator allocator;
    vidi__memory memory;
    vidi__log *log;
    uint64_t position;
    pthread_t waiter;
    void *waited;
    static char payload[3 << 20];
    vidi_str piece = {payload, sizeof payload};
    int code = VIDI_OK;
    test_allocator_init(&allocator);
    assert_int_equal(vidi__memory_init(&memory, &allocator.hook, 0), VIDI_OK);
    test_scratch_empty(&folder);
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    assert_int_equal(vidi__log_reserve(log, sizeof payload), VIDI_OK);
    assert_int_equal(log_add(log, 1, &position), VIDI_OK);
    test_allocator_fail(&allocator, 1, true);
    assert_int_equal(pthread_create(&waiter, NULL, wait_for_it, log), 0);
    while (code == VIDI_OK) { /* until the thread has found no memory */
        code = vidi__log_reserve(log, 8);
        if (code == VIDI_OK)
            vidi__log_unreserve(log, 8);
        sched_yield();
    }
    assert_int_equal(code, VIDI_EMEMORY);
    vidi__log_append(log, 2, &piece, 1, sizeof payload, &position);
    assert_int_equal(pthread_join(waiter, &waited), 0);
    assert_int_equal((intptr_t)waited, VIDI_OK);
    assert_int_equal(vidi__log_reserve(log, 8), VIDI_OK); /* fits in what there is */
    vidi__log_unreserve(log, 8);
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    test_allocator_finish(&allocator);
    vidi__log_found found;
    size_t records = 0;
    memory = log_memory();
    assert_int_equal(vidi__log_read(&memory, folder.handle, &log_id, VIDI__LOG_UNKNOWN, count_record, &records, &found),
                     VIDI_OK);
    assert_int_equal(records, 2);
}

/* What was reserved before the failure can still be appended: its position is its own, and waiting for it fails. */
static void positions_grow_in_a_log_that_has_failed(void **state)
{
    (void)state;
    static const vidi_str piece = {"a record", 8};
    vidi__memory memory = log_memory();
    vidi__log *log;
    uint64_t before, position;
    test_scratch_empty(&folder);
    disk_begin(&folder);
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    assert_int_equal(vidi__log_reserve(log, piece.len), VIDI_OK);
    assert_int_equal(log_add(log, 1, &before), VIDI_OK);
    disk_fail(DISK_WRITE, 1, EIO, 1);
    assert_int_equal(vidi__log_wait(log, before), VIDI_EIO);
    vidi__log_append(log, 2, &piece, 1, piece.len, &position);
    assert_true(position > before);
    assert_int_equal(vidi__log_wait(log, position), VIDI_EIO);
    assert_int_equal(vidi__log_close(log), VIDI_EIO);
    disk_end();
    assert_int_equal(vidi__memory_used(&memory), 0);
}

int main(int argc, char **argv)
{
    test_scratch_make(&folder);
    test_scratch_make(&crashed);
    test_add("acknowledged records survive a fault at any call", acknowledged_records_survive_a_fault_at_any_call,
             NULL);
    test_add("nothing is written behind a torn record", nothing_is_written_behind_a_torn_record, NULL);
    test_add("a reading that fails says so", a_reading_that_fails_says_so, NULL);
    test_add("acknowledged records survive a want of memory", acknowledged_records_survive_a_want_of_memory, NULL);
    test_add("a reservation holds without memory", a_reservation_holds_without_memory, NULL);
    test_add("positions grow in a log that has failed", positions_grow_in_a_log_that_has_failed, NULL);
    int result = test_run("store/log_faults", argc, argv);
    test_scratch_remove(&crashed);
    test_scratch_remove(&folder);
    return result;
}
