/*
 * Entries of a log: those of one type share a record until the thread takes it, whatever their sizes; and the standing
 * reservation, with which they are appended.
 */
#include <sched.h>

#include "store/log_cases.h"
#include "support/clock.h"
#include "support/runner.h"

static test_scratch folder;

enum { BEGIN = 5, MOST = 300 };

/* What a reading has found: the entries of all records, and how many each record has. */
typedef struct found_entries {
    uint32_t types[MOST], counts[MOST];
    unsigned char begins[MOST]; /* the first byte of what comes before the entries */
    size_t records;
    uint32_t next; /* the number of the next entry */
} found_entries;

/* An entry is its size, 1 to 40 or, for hashes, 16, and as many bytes with its number. */
static size_t entry_bytes(uint32_t number)
{
    return 1 + (size_t)(test_mix(number) % 40);
}

static int see(void *context, uint32_t type, vidi_str payload)
{
    found_entries *self = context;
    assert_true(payload.len >= BEGIN);
    assert_true(self->records < MOST);
    self->types[self->records] = type;
    self->begins[self->records] = (unsigned char)payload.ptr[0];
    for (size_t at = 1; at < BEGIN; at++)
        assert_int_equal(payload.ptr[at], payload.ptr[0]);
    uint32_t n = 0;
    for (size_t at = BEGIN; at < payload.len; n++) {
        size_t bytes = entry_bytes(self->next);
        assert_true(at + bytes <= payload.len);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal((unsigned char)payload.ptr[at + i], (unsigned char)self->next);
        at += bytes;
        self->next++;
    }
    self->counts[self->records++] = n;
    return VIDI_OK;
}

static found_entries read_back(uint32_t first)
{
    found_entries self = {.next = first};
    vidi__log_found found;
    vidi__memory memory = log_memory();
    assert_int_equal(vidi__log_read(&memory, folder.handle, &log_id, VIDI__LOG_UNKNOWN, see, &self, &found), VIDI_OK);
    assert_int_equal(found.unfinished + found.damaged, 0);
    return self;
}

/* Appends one entry, with `begin` before it. Returns the position. */
static uint64_t put(vidi__log *log, uint32_t type, uint32_t number, unsigned char begin, bool shares, uint64_t reserved)
{
    vidi__log_place place;
    size_t bytes = entry_bytes(number);
    vidi__log_entries entries = {.type = type, .count = 1, .begin = BEGIN, .bytes = bytes, .shares = shares};
    uint64_t before = vidi__log_end(log);
    vidi__log_enter(log, &entries, reserved, &place);
    assert_non_null(place.begin);
    memset(place.begin, begin, BEGIN);
    memset(place.entries, (unsigned char)number, bytes);
    vidi__log_leave(log, &place);
    assert_int_equal(place.position, before + place.grown);
    assert_int_equal(place.position, vidi__log_end(log));
    return place.position;
}

static uint64_t put_standing(vidi__log *log, uint32_t type, uint32_t number, unsigned char begin)
{
    assert_true(vidi__log_is_ready(log));
    return put(log, type, number, begin, true, VIDI__LOG_STANDS);
}

/* On a clock that stands still the thread takes nothing until somebody waits. */
static vidi__log *begin_log(vidi__memory *memory)
{
    vidi__log *log;
    *memory = log_memory();
    test_scratch_empty(&folder);
    test_clock_begin();
    assert_int_equal(vidi__log_create(&log, memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    return log;
}

static void end_log(vidi__log *log, vidi__memory *memory)
{
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    assert_int_equal(vidi__memory_used(memory), 0);
    test_clock_end();
}

static void entries_of_a_type_share_a_record(void **state)
{
    (void)state;
    vidi__memory memory;
    vidi__log *log = begin_log(&memory);
    uint32_t number = 0;
    for (int i = 0; i < 150; i++)
        put_standing(log, 7, number++, (unsigned char)i);
    put_standing(log, 8, number++, 200);
    put_standing(log, 8, number++, 201);
    put_standing(log, 7, number++, 202);
    end_log(log, &memory);
    found_entries all = read_back(0);
    const uint32_t counts[] = {64, 64, 22, 2, 1};
    const unsigned char begins[] = {63, 127, 149, 201, 202}; /* that of the last entry */
    assert_int_equal(all.next, number);
    assert_int_equal(all.records, VIDI__COUNT(counts));
    for (size_t i = 0; i < VIDI__COUNT(counts); i++) {
        assert_int_equal(all.counts[i], counts[i]);
        assert_int_equal(all.begins[i], begins[i]);
        assert_int_equal(all.types[i], i == 3 ? 8 : 7);
    }
}

/* Neither those that must not share, nor records that were appended as a whole, take an entry or give one away. */
static void others_keep_their_records(void **state)
{
    (void)state;
    vidi__memory memory;
    vidi__log *log = begin_log(&memory);
    uint64_t position;
    char whole[BEGIN] = {9, 9, 9, 9, 9};
    put_standing(log, 7, 0, 1);
    put(log, 7, 1, 2, false, VIDI__LOG_STANDS);
    put(log, 7, 2, 3, false, VIDI__LOG_STANDS);
    put_standing(log, 7, 3, 4);
    vidi__log_append(log, 7, &(vidi_str){whole, BEGIN}, 1, VIDI__LOG_STANDS, &position);
    put_standing(log, 7, 4, 5);
    end_log(log, &memory);
    found_entries all = read_back(0);
    assert_int_equal(all.records, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(all.counts[i], i != 4);
}

/* Whoever waits for an entry has it on disk, even if others have joined its record; after that nobody joins. */
static void an_entry_that_was_waited_for_is_on_disk(void **state)
{
    (void)state;
    vidi__memory memory;
    vidi__log *log = begin_log(&memory);
    for (uint32_t number = 0; number < 60; number += 3) {
        uint64_t first = put_standing(log, 7, number, 1);
        put_standing(log, 7, number + 1, 2);
        put_standing(log, 7, number + 2, 3);
        assert_int_equal(vidi__log_wait(log, first), VIDI_OK);
        found_entries all = read_back(0);
        assert_int_equal(all.next, number + 3);
        assert_int_equal(all.records, number / 3 + 1);
    }
    end_log(log, &memory);
}

/* A payload is not extended beyond a limit, so that a record of long URLs stays small. */
static void a_shared_record_is_not_large(void **state)
{
    (void)state;
    vidi__memory memory;
    vidi__log *log = begin_log(&memory);
    const uint64_t large = VIDI__LOG_SHARED_BYTES * 2 / 3;
    uint64_t before = vidi__log_end(log);
    for (int i = 0; i < 2; i++) {
        vidi__log_place place;
        vidi__log_entries entries = {.type = 7, .count = 1, .begin = BEGIN, .bytes = large, .shares = true};
        assert_int_equal(vidi__log_reserve(log, BEGIN + large), VIDI_OK);
        vidi__log_enter(log, &entries, BEGIN + large, &place);
        memset(place.begin, 1, BEGIN);
        memset(place.entries, 1, large);
        vidi__log_leave(log, &place);
    }
    assert_int_equal(vidi__log_end(log) - before, 2 * vidi__log_record_bytes(BEGIN + large));
    end_log(log, &memory);
}

/* ---- the standing reservation ---- */

/* Beside large reservations, and through many buffers, there is always room for one more. */
static void a_ready_log_takes_a_record(void **state)
{
    (void)state;
    test_allocator allocator;
    vidi__memory memory;
    vidi__log *log;
    static char payload[VIDI__LOG_STANDING_PAYLOAD];
    uint64_t position;
    test_allocator_init(&allocator); /* it notices writes beyond a buffer */
    assert_int_equal(vidi__memory_init(&memory, &allocator.hook, 0), VIDI_OK);
    test_scratch_empty(&folder);
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t large = test_mix(i) % (100 << 10);
        assert_int_equal(vidi__log_reserve(log, large), VIDI_OK);
        while (!vidi__log_is_ready(log)) { /* the disk is slow */
            vidi__log_unreserve(log, large);
            assert_int_equal(vidi__log_reserve(log, large), VIDI_OK);
        }
        vidi__log_append(log, 1, &(vidi_str){payload, sizeof payload}, 1, VIDI__LOG_STANDS, &position);
        vidi__log_unreserve(log, large);
    }
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    test_allocator_finish(&allocator);
}

/* Without memory the log is not ready in the end, and loses nothing that it took while it was. */
static void without_memory_a_log_is_not_ready(void **state)
{
    (void)state;
    test_allocator allocator;
    vidi__memory memory;
    vidi__log *log;
    uint32_t number = 0;
    test_allocator_init(&allocator);
    assert_int_equal(vidi__memory_init(&memory, &allocator.hook, 0), VIDI_OK);
    test_scratch_empty(&folder);
    test_clock_begin();
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    test_clock_await(VIDI__NEVER, 1);
    test_allocator_fail(&allocator, 1, true);
    while (vidi__log_is_ready(log)) {
        put_standing(log, 7, number++, 1);
        assert_true(number < 10000);
    }
    assert_int_equal(vidi__log_reserve(log, VIDI__LOG_STANDING_PAYLOAD), VIDI_OK); /* the other buffer is as large */
    vidi__log_unreserve(log, VIDI__LOG_STANDING_PAYLOAD);
    assert_int_equal(vidi__log_reserve(log, 1 << 20), VIDI_EMEMORY);
    assert_true(vidi__log_is_ready(log));
    put_standing(log, 7, number++, 1);
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    test_clock_end();
    test_allocator_finish(&allocator);
    assert_int_equal(read_back(0).next, number);
}

static void a_log_that_failed_is_not_ready(void **state)
{
    (void)state;
    vidi__memory memory;
    vidi__log *log = begin_log(&memory);
    vidi__log_place place;
    vidi__log_entries entries = {.type = 7, .count = 1, .bytes = VIDI__LOG_STANDING_PAYLOAD + 1, .shares = true};
    vidi__log_enter(log, &entries, VIDI__LOG_STANDS, &place); /* too much */
    assert_null(place.begin);
    vidi__log_leave(log, &place);
    assert_false(vidi__log_is_ready(log));
    assert_int_equal(vidi__log_wait(log, 0), VIDI_EARGUMENT);
    entries.bytes = 8;
    vidi__log_enter(log, &entries, VIDI__LOG_STANDS, &place);
    assert_null(place.begin);
    vidi__log_leave(log, &place);
    assert_int_equal(vidi__log_close(log), VIDI_EARGUMENT);
    assert_int_equal(vidi__memory_used(&memory), 0);
    test_clock_end();
}

int main(int argc, char **argv)
{
    test_scratch_make(&folder);
    test_add("entries of a type share a record", entries_of_a_type_share_a_record, NULL);
    test_add("others keep their records", others_keep_their_records, NULL);
    test_add("an entry that was waited for is on disk", an_entry_that_was_waited_for_is_on_disk, NULL);
    test_add("a shared record is not large", a_shared_record_is_not_large, NULL);
    test_add("a ready log takes a record", a_ready_log_takes_a_record, NULL);
    test_add("without memory a log is not ready", without_memory_a_log_is_not_ready, NULL);
    test_add("a log that failed is not ready", a_log_that_failed_is_not_ready, NULL);
    int result = test_run("store/log_entries", argc, argv);
    test_scratch_remove(&folder);
    return result;
}
