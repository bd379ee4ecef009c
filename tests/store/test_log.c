/* Logs when nothing goes wrong: what is appended is read, in order, and is on disk when it should be. */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>

#include "store/log_cases.h"
#include "support/clock.h"
#include "support/runner.h"

static test_scratch folder;
static log_seen seen;

static void sees_all(uint32_t count)
{
    vidi__log_found found;
    uint64_t bytes = VIDI__LOG_HEAD;
    assert_int_equal(log_read(&folder, &seen, &found), VIDI_OK);
    check(seen.count == count, "%zu records of %u", seen.count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(seen.numbers[i], i + 1);
        bytes += log_bytes(i + 1);
    }
    assert_int_equal(found.records, count);
    assert_int_equal(found.bytes, bytes);
    assert_int_equal(found.damaged + found.stretches + found.unfinished, 0);
    assert_false(found.headless);
}

static void records_come_back_in_order(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 2, 100, 5000};
    for (size_t i = 0; i < VIDI__COUNT(counts); i++) {
        test_scratch_empty(&folder);
        log_make(&folder, counts[i]);
        sees_all(counts[i]);
    }
}

typedef struct one {
    vidi_str expected;
    size_t count;
} one;

static int see_one(void *context, uint32_t type, vidi_str payload)
{
    one *only = context;
    only->count++;
    assert_int_equal(type, UINT32_MAX);
    assert_int_equal(payload.len, only->expected.len);
    assert_memory_equal(payload.ptr, only->expected.ptr, payload.len);
    return VIDI_OK;
}

static void records_have_any_size(void **state)
{
    (void)state;
    size_t most = (size_t)70 << 20; /* more than may be pending */
    char *data = malloc(most);
    for (size_t i = 0; i < most; i++)
        data[i] = (char)(i * 7 + (i >> 11));
    for (size_t size = 0; size <= most; size = size < 40                         ? size + 1
                                               : size * 5 < most || size == most ? size * 5
                                                                                 : most) {
        vidi__memory memory = log_memory();
        vidi__log *log;
        uint64_t position;
        one only = {{data, size}, 0};
        vidi__log_found found;
        test_scratch_empty(&folder);
        assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_EVERYSEC), VIDI_OK);
        assert_int_equal(vidi__log_reserve(log, size), VIDI_OK);
        vidi__log_append(log, UINT32_MAX, &only.expected, 1, size, &position);
        assert_int_equal(position % 8, 0);
        assert_int_equal(vidi__log_close(log), VIDI_OK);
        assert_int_equal(vidi__log_read(&memory, folder.handle, &log_id, VIDI__LOG_UNKNOWN, see_one, &only, &found),
                         VIDI_OK);
        assert_int_equal(only.count, 1);
        assert_int_equal(found.bytes, position);
        assert_int_equal(vidi__memory_used(&memory), 0);
    }
    free(data);
}

static void records_that_are_too_large_are_refused(void **state)
{
    (void)state;
    vidi__memory memory = log_memory();
    vidi__log *log;
    test_scratch_empty(&folder);
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    assert_int_equal(vidi__log_reserve(log, VIDI__LOG_RECORD_MAX + 1), VIDI_ELIMIT);
    assert_int_equal(vidi__log_reserve(log, UINT64_MAX), VIDI_ELIMIT);
    assert_int_equal(vidi__log_state(log), VIDI_OK);
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    assert_int_equal(vidi__log_close(NULL), VIDI_OK);
}

static void positions_are_lengths_of_the_file(void **state)
{
    (void)state;
    vidi__memory memory = log_memory();
    vidi__log *log;
    uint64_t position, expected = VIDI__LOG_HEAD;
    test_scratch_empty(&folder);
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    assert_int_equal(vidi__log_end(log), expected);
    for (uint32_t number = 1; number < 50; number++) {
        assert_int_equal(log_add(log, number, &position), VIDI_OK);
        expected += log_bytes(number);
        assert_int_equal(position, expected);
        assert_int_equal(vidi__log_end(log), expected);
        if (number % 10 == 0) {
            vidi__log_found found;
            assert_int_equal(vidi__log_wait(log, position), VIDI_OK);
            assert_int_equal(log_read(&folder, &seen, &found), VIDI_OK); /* while it is open */
            assert_int_equal(found.bytes, position);
            assert_int_equal(seen.count, number);
        }
    }
    assert_int_equal(vidi__log_wait(log, UINT64_MAX), VIDI_OK);
    assert_int_equal(vidi__log_close(log), VIDI_OK);
}

static void less_than_was_reserved_and_nothing_may_be_appended(void **state)
{
    (void)state;
    vidi__memory memory = log_memory();
    vidi__log *log;
    uint64_t position;
    char payload[300];
    test_scratch_empty(&folder);
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    for (uint32_t number = 1; number <= 1000; number++) {
        vidi_str piece = {payload, log_size(number)};
        log_fill(payload, number);
        assert_int_equal(vidi__log_reserve(log, 2000), VIDI_OK);
        assert_int_equal(vidi__log_reserve(log, 5000), VIDI_OK);
        vidi__log_append(log, number, &piece, 1, 2000, &position);
        vidi__log_unreserve(log, 5000);
    }
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    sees_all(1000);
}

static void more_than_was_reserved_ends_the_log(void **state)
{
    (void)state;
    vidi__memory memory = log_memory();
    vidi__log *log;
    uint64_t position;
    static char payload[1 << 20];
    vidi_str piece = {payload, sizeof payload};
    test_scratch_empty(&folder);
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    assert_int_equal(vidi__log_reserve(log, 8), VIDI_OK);
    vidi__log_append(log, 1, &piece, 1, 8, &position);
    assert_int_equal(vidi__log_wait(log, position), VIDI_EARGUMENT);
    assert_int_equal(vidi__log_close(log), VIDI_EARGUMENT);
    assert_int_equal(vidi__memory_used(&memory), 0);
}

static void a_log_is_continued(void **state)
{
    (void)state;
    vidi__memory memory = log_memory();
    vidi__log *log;
    vidi__log_found found;
    uint64_t position;
    vidi__log_id other = log_id;
    test_scratch_empty(&folder);
    log_make(&folder, 10);
    assert_int_equal(log_read(&folder, &seen, &found), VIDI_OK);
    other.epoch++;
    assert_int_equal(vidi__log_continue(&log, &memory, folder.handle, &other, VIDI__SYNC_NO, found.bytes),
                     VIDI_EDIFFERS);
    other = log_id;
    other.number++;
    assert_int_equal(vidi__log_continue(&log, &memory, folder.handle, &other, VIDI__SYNC_NO, found.bytes),
                     VIDI_EABSENT);
    assert_int_equal(vidi__log_continue(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO, found.bytes - 8),
                     VIDI_EFORMAT);
    assert_int_equal(vidi__log_continue(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO, found.bytes + 8),
                     VIDI_EFORMAT);
    assert_null(log);
    for (uint32_t number = 11; number <= 30; number += 10) {
        assert_int_equal(log_read(&folder, &seen, &found), VIDI_OK);
        assert_int_equal(vidi__log_continue(&log, &memory, folder.handle, &log_id, VIDI__SYNC_ALWAYS, found.bytes),
                         VIDI_OK);
        assert_int_equal(vidi__log_end(log), found.bytes);
        for (uint32_t i = 0; i < 10; i++)
            assert_int_equal(log_add(log, number + i, &position), VIDI_OK);
        assert_int_equal(vidi__log_wait(log, position), VIDI_OK);
        assert_int_equal(vidi__log_close(log), VIDI_OK);
    }
    sees_all(30);
    assert_int_equal(vidi__memory_used(&memory), 0);
}

static void only_leftovers_are_replaced(void **state)
{
    (void)state;
    vidi__memory memory = log_memory();
    vidi__log *log;
    size_t bytes;
    test_scratch_empty(&folder);
    log_make(&folder, 0);
    unsigned char *head = test_file_load(&folder, LOG_NAME, &bytes);
    assert_int_equal(bytes, VIDI__LOG_HEAD);
    for (size_t size = 0; size <= bytes; size++) {
        test_file_save(&folder, LOG_NAME, head, size);
        log_make(&folder, 0); /* creates and closes */
        sees_all(0);
    }
    log_make(&folder, 3);
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_EIO);
    assert_null(log);
    assert_non_null(strstr(vidi_message(), "already"));
    sees_all(3);
    free(head);
}

/* The allocator fills what it gives with something else. */
static void zeros_are_behind_a_payload(void **state)
{
    (void)state;
    test_allocator allocator;
    vidi__memory memory;
    vidi__log *log;
    uint64_t position;
    size_t size;
    vidi_str piece = VIDI__STR("123");
    test_allocator_init(&allocator);
    assert_int_equal(vidi__memory_init(&memory, &allocator.hook, 0), VIDI_OK);
    test_scratch_empty(&folder);
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    assert_int_equal(vidi__log_reserve(log, 3), VIDI_OK);
    vidi__log_append(log, 9, &piece, 1, 3, &position);
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    test_allocator_finish(&allocator);
    unsigned char *data = test_file_load(&folder, LOG_NAME, &size);
    assert_int_equal(size, VIDI__LOG_HEAD + 32);
    assert_memory_equal(data + VIDI__LOG_HEAD + VIDI__LOG_RECORD_HEAD, "123\0\0\0\0", 8);
    free(data);
}

static void logs_are_named_by_their_number(void **state)
{
    (void)state;
    char name[40];
    vidi__log_name(name, 0x2a);
    assert_string_equal(name, LOG_NAME);
    vidi__log_name(name, UINT64_MAX);
    assert_string_equal(name, "log.ffffffffffffffff");
}

/* ---- when it is on disk ---- */

/* On a clock that stands still, and with a thread that sleeps until the first record comes. */
static vidi__log *begin(vidi__memory *memory, vidi__log_policy policy)
{
    vidi__log *log;
    *memory = log_memory();
    test_scratch_empty(&folder);
    disk_begin(&folder);
    test_clock_begin();
    assert_int_equal(vidi__log_create(&log, memory, folder.handle, &log_id, policy), VIDI_OK);
    test_clock_await(VIDI__NEVER, 1);
    return log;
}

static void finish(vidi__log *log)
{
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    test_clock_end();
    disk_end();
}

static void wait_for_more(disk_call call, uint64_t than)
{
    while (disk_calls(call) <= than)
        sched_yield();
}

static void always_syncs_at_once(void **state)
{
    (void)state;
    vidi__memory memory;
    vidi__log *log = begin(&memory, VIDI__SYNC_ALWAYS);
    uint64_t position, before = disk_calls(DISK_FSYNC);
    assert_int_equal(log_add(log, 1, &position), VIDI_OK);
    wait_for_more(DISK_FSYNC, before);
    finish(log);
}

/* A record every 50 ms: each buffer is written 100 ms after its first record, and all is synced after 900 ms. */
static void everysec_syncs_within_a_second_and_not_much_before(void **state)
{
    (void)state;
    vidi__memory memory;
    vidi__log *log = begin(&memory, VIDI__SYNC_EVERYSEC);
    uint64_t position, syncs = disk_calls(DISK_FSYNC), writes = disk_calls(DISK_WRITE), start = test_clock_now();
    uint32_t number = 1;
    for (uint64_t tenth = 1; tenth <= 8; tenth++) {
        assert_int_equal(log_add(log, number++, &position), VIDI_OK);
        test_clock_await(start + tenth * 100 * TEST_MS, 1);
        test_clock_forward(50 * TEST_MS);
        assert_int_equal(log_add(log, number++, &position), VIDI_OK);
        assert_int_equal(disk_calls(DISK_WRITE), writes + tenth - 1);
        test_clock_forward(50 * TEST_MS);
        wait_for_more(DISK_WRITE, writes + tenth - 1);
    }
    test_clock_await(start + 900 * TEST_MS, 1);
    assert_int_equal(disk_calls(DISK_FSYNC), syncs);
    test_clock_forward(100 * TEST_MS);
    test_clock_await(VIDI__NEVER, 1);
    assert_int_equal(disk_calls(DISK_FSYNC), syncs + 1);
    assert_int_equal(disk_calls(DISK_WRITE), writes + 8);
    finish(log);
}

/* A disk that takes 5 ms for a write, during which the next large record comes, and keeps nothing. */
static vidi__log *loaded;
static unsigned slow_writes;
static atomic_ullong first_sync; /* when it was; 0: not yet */

static ssize_t slow_write(int file, const void *data, size_t bytes)
{
    (void)file;
    (void)data;
    uint64_t position;
    if (loaded && slow_writes++ < 400 && log_add(loaded, LOG_LARGE, &position) != VIDI_OK)
        return -1;
    test_clock_forward(5 * TEST_MS);
    return (ssize_t)bytes;
}

static int slow_fsync(int file)
{
    (void)file;
    if (loaded && atomic_load(&first_sync) == 0)
        atomic_store(&first_sync, test_clock_now());
    return 0;
}

/* The thread always has something to write; the sync must not wait until it has not. */
static void everysec_syncs_under_load(void **state)
{
    (void)state;
    vidi__memory memory = log_memory();
    vidi__log *log;
    uint64_t position;
    vidi__system slow = vidi__system_real;
    slow.write = slow_write;
    slow.fsync = slow_fsync;
    test_scratch_empty(&folder);
    vidi__system_now = &slow;
    test_clock_begin();
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_EVERYSEC), VIDI_OK);
    test_clock_await(VIDI__NEVER, 1);
    loaded = log;
    slow_writes = 0;
    atomic_store(&first_sync, 0);
    uint64_t start = test_clock_now();
    assert_int_equal(log_add(log, LOG_LARGE, &position), VIDI_OK);
    while (atomic_load(&first_sync) == 0) /* after two seconds there is no more to write, and it comes in any case */
        sched_yield();
    uint64_t took = atomic_load(&first_sync) - start;
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    loaded = NULL;
    test_clock_end();
    vidi__system_now = &vidi__system_real;
    check(took <= TEST_SECOND, "no sync while there is always more");
}

static void no_syncs_only_for_those_who_wait(void **state)
{
    (void)state;
    vidi__memory memory;
    vidi__log *log = begin(&memory, VIDI__SYNC_NO);
    uint64_t position, before = disk_calls(DISK_FSYNC), writes = disk_calls(DISK_WRITE);
    assert_int_equal(log_add(log, 1, &position), VIDI_OK);
    test_clock_await(test_clock_now() + 100 * TEST_MS, 1);
    test_clock_forward(100 * TEST_MS);
    test_clock_await(VIDI__NEVER, 1); /* so it will not wake up to sync */
    assert_int_equal(disk_calls(DISK_FSYNC), before);
    assert_int_equal(disk_calls(DISK_WRITE), writes + 1);
    assert_int_equal(vidi__log_wait(log, position), VIDI_OK);
    assert_int_equal(disk_calls(DISK_FSYNC), before + 1);
    assert_int_equal(vidi__log_wait(log, position), VIDI_OK);
    assert_int_equal(disk_calls(DISK_FSYNC), before + 1);
    assert_int_equal(log_add(log, 2, &position), VIDI_OK);
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    assert_int_equal(disk_calls(DISK_FSYNC), before + 1);
    test_clock_end();
    disk_end();
}

static void closing_syncs_but_under_no(void **state)
{
    (void)state;
    for (int policy = VIDI__SYNC_EVERYSEC; policy <= VIDI__SYNC_ALWAYS; policy++) {
        vidi__memory memory;
        vidi__log *log = begin(&memory, (vidi__log_policy)policy);
        uint64_t position, before = disk_calls(DISK_FSYNC);
        assert_int_equal(log_add(log, 1, &position), VIDI_OK);
        assert_int_equal(vidi__log_close(log), VIDI_OK);
        assert_int_equal(disk_calls(DISK_FSYNC), before + 1);
        test_clock_end();
        disk_end();
    }
}

/* The clock stands still: who waits does not wait for it. */
static void waiting_takes_no_tenth_of_a_second(void **state)
{
    (void)state;
    for (int policy = 0; policy <= VIDI__SYNC_NO; policy++) {
        vidi__memory memory;
        vidi__log *log = begin(&memory, (vidi__log_policy)policy);
        uint64_t position;
        for (uint32_t number = 1; number <= 100; number++) {
            assert_int_equal(log_add(log, number, &position), VIDI_OK);
            assert_int_equal(vidi__log_wait(log, position), VIDI_OK);
        }
        finish(log);
    }
}

static void a_large_buffer_is_written_before_its_time(void **state)
{
    (void)state;
    vidi__memory memory;
    vidi__log *log = begin(&memory, VIDI__SYNC_NO);
    uint64_t position, writes = disk_calls(DISK_WRITE);
    assert_int_equal(log_add(log, 1, &position), VIDI_OK);
    test_clock_await(test_clock_now() + 100 * TEST_MS, 1);
    assert_int_equal(disk_calls(DISK_WRITE), writes);
    assert_int_equal(log_add(log, LOG_LARGE, &position), VIDI_OK);
    wait_for_more(DISK_WRITE, writes);
    finish(log);
}

int main(int argc, char **argv)
{
    test_scratch_make(&folder);
    test_add("records come back in order", records_come_back_in_order, NULL);
    test_add("records have any size", records_have_any_size, NULL);
    test_add("records that are too large are refused", records_that_are_too_large_are_refused, NULL);
    test_add("positions are lengths of the file", positions_are_lengths_of_the_file, NULL);
    test_add("less than was reserved, and nothing, may be appended", less_than_was_reserved_and_nothing_may_be_appended,
             NULL);
    test_add("more than was reserved ends the log", more_than_was_reserved_ends_the_log, NULL);
    test_add("a log is continued", a_log_is_continued, NULL);
    test_add("only leftovers are replaced", only_leftovers_are_replaced, NULL);
    test_add("zeros are behind a payload", zeros_are_behind_a_payload, NULL);
    test_add("logs are named by their number", logs_are_named_by_their_number, NULL);
    test_add("always: syncs at once", always_syncs_at_once, NULL);
    test_add("everysec: syncs within a second and not much before", everysec_syncs_within_a_second_and_not_much_before,
             NULL);
    test_add("everysec: syncs under load", everysec_syncs_under_load, NULL);
    test_add("no: syncs only for those who wait", no_syncs_only_for_those_who_wait, NULL);
    test_add("closing syncs but under no", closing_syncs_but_under_no, NULL);
    test_add("waiting takes no tenth of a second", waiting_takes_no_tenth_of_a_second, NULL);
    test_add("a large buffer is written before its time", a_large_buffer_is_written_before_its_time, NULL);
    int result = test_run("store/log", argc, argv);
    test_scratch_remove(&folder);
    return result;
}
