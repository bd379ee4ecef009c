/*
 * Entries of a log: those of one type share a record until the thread takes it, whatever their sizes. And records that
 * are promised: the thread asks for them before it writes.
 */
#include <sched.h>

#include "store/log_cases.h"
#include "support/clock.h"
#include "support/runner.h"

static test_scratch folder;

enum { BEGIN = 5, MOST = 2000 };

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
static uint64_t put_as(vidi__log *log, uint32_t type, uint32_t number, unsigned char begin, bool shares)
{
    vidi__log_place place;
    size_t bytes = entry_bytes(number);
    assert_int_equal(vidi__log_reserve(log, BEGIN + bytes), VIDI_OK);
    vidi__log_entries entries = {.type = type, .count = 1, .begin = BEGIN, .bytes = bytes, .shares = shares};
    uint64_t before = vidi__log_end(log);
    vidi__log_enter(log, &entries, BEGIN + bytes, &place);
    assert_non_null(place.begin);
    memset(place.begin, begin, BEGIN);
    memset(place.entries, (unsigned char)number, bytes);
    vidi__log_leave(log, &place);
    assert_int_equal(place.position, before + place.grown);
    assert_int_equal(place.position, vidi__log_end(log));
    return place.position;
}

static uint64_t put(vidi__log *log, uint32_t type, uint32_t number, unsigned char begin)
{
    return put_as(log, type, number, begin, true);
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
        put(log, 7, number++, (unsigned char)i);
    put(log, 8, number++, 200);
    put(log, 8, number++, 201);
    put(log, 7, number++, 202);
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
    put(log, 7, 0, 1);
    put_as(log, 7, 1, 2, false);
    put_as(log, 7, 2, 3, false);
    put(log, 7, 3, 4);
    assert_int_equal(vidi__log_reserve(log, BEGIN), VIDI_OK);
    vidi__log_append(log, 7, &(vidi_str){whole, BEGIN}, 1, BEGIN, &position);
    put(log, 7, 4, 5);
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
        uint64_t first = put(log, 7, number, 1);
        put(log, 7, number + 1, 2);
        put(log, 7, number + 2, 3);
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

/* ---- promised records ---- */

/* Where a record waits until the log asks for it. */
typedef struct waiting {
    vidi__log *log;
    uint32_t number;
    bool there;
    unsigned asked;
} waiting;

static void append_promised(vidi__log *log, uint32_t number)
{
    char payload[BEGIN + 40] = {0};
    uint64_t position;
    size_t bytes = entry_bytes(number);
    memset(payload + BEGIN, (unsigned char)number, bytes);
    vidi__log_append(log, 7, &(vidi_str){payload, BEGIN + bytes}, 1, BEGIN + 40, &position);
}

static void gather(void *context)
{
    waiting *self = context;
    self->asked++;
    if (self->there)
        append_promised(self->log, self->number++);
    self->there = false;
}

/* The thread asks for it in time, before it writes anything else, and does not ask again. */
static void a_promised_record_is_asked_for(void **state)
{
    (void)state;
    vidi__memory memory;
    waiting self = {.log = begin_log(&memory)};
    vidi__log_gather_by(self.log, gather, &self);
    test_clock_await(VIDI__NEVER, 1);
    for (unsigned i = 0; i < 20; i++) {
        assert_true(vidi__log_reserve_now(self.log, BEGIN + 40));
        self.there = true;
        uint64_t end = vidi__log_end(self.log);
        if (i % 2) {
            put(self.log, 8, self.number++, 1); /* whoever waits for this has to wait for the promised one as well */
            assert_int_equal(vidi__log_wait(self.log, UINT64_MAX), VIDI_OK);
        } else {
            test_clock_settle();
            test_clock_forward(100 * TEST_MS);
            test_clock_settle();
        }
        assert_true(!self.there && vidi__log_end(self.log) > end);
        assert_int_equal(self.asked, i + 1);
    }
    end_log(self.log, &memory);
    assert_int_equal(self.asked, 20);
    assert_int_equal(read_back(0).records, 30);
}

/* A promise that is taken back costs nothing; the thread asks once all the same. */
static void a_promise_can_be_taken_back(void **state)
{
    (void)state;
    vidi__memory memory;
    waiting self = {.log = begin_log(&memory)};
    uint64_t end = vidi__log_end(self.log);
    vidi__log_gather_by(self.log, gather, &self);
    test_clock_await(VIDI__NEVER, 1);
    assert_true(vidi__log_reserve_now(self.log, 100));
    vidi__log_unreserve(self.log, 100);
    test_clock_settle();
    test_clock_forward(100 * TEST_MS);
    test_clock_settle();
    assert_int_equal(self.asked, 1);
    assert_int_equal(vidi__log_end(self.log), end);
    end_log(self.log, &memory);
}

/* Where a reservation would wait or fail, the other one says no; what was promised before finds its room. */
static void without_memory_nothing_is_promised(void **state)
{
    (void)state;
    test_allocator allocator;
    vidi__memory memory;
    waiting self = {0};
    unsigned promised = 0;
    test_allocator_init(&allocator);
    assert_int_equal(vidi__memory_init(&memory, &allocator.hook, 0), VIDI_OK);
    test_scratch_empty(&folder);
    test_clock_begin();
    assert_int_equal(vidi__log_create(&self.log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    vidi__log_gather_by(self.log, gather, &self);
    test_clock_await(VIDI__NEVER, 1);
    test_allocator_fail(&allocator, 1, true);
    while (vidi__log_reserve_now(self.log, BEGIN + 40)) {
        promised++;
        assert_true(promised < 10000);
    }
    assert_true(promised > 100);
    for (; self.number < promised; self.number++)
        append_promised(self.log, self.number);
    assert_int_equal(vidi__log_close(self.log), VIDI_OK);
    test_clock_end();
    test_allocator_finish(&allocator);
    assert_int_equal(read_back(0).next, promised);
}

static void a_log_that_failed_promises_nothing(void **state)
{
    (void)state;
    vidi__memory memory;
    vidi__log *log = begin_log(&memory);
    vidi__log_place place;
    vidi__log_entries entries = {.type = 7, .count = 1, .bytes = 9, .shares = true};
    assert_false(vidi__log_has_failed(log));
    assert_true(vidi__log_reserve_now(log, 8));
    vidi__log_enter(log, &entries, 8, &place); /* too much */
    assert_null(place.begin);
    vidi__log_leave(log, &place);
    assert_true(vidi__log_has_failed(log));
    assert_false(vidi__log_reserve_now(log, 8));
    assert_int_equal(vidi__log_wait(log, 0), VIDI_EARGUMENT);
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
    test_add("a promised record is asked for", a_promised_record_is_asked_for, NULL);
    test_add("a promise can be taken back", a_promise_can_be_taken_back, NULL);
    test_add("without memory nothing is promised", without_memory_nothing_is_promised, NULL);
    test_add("a log that failed promises nothing", a_log_that_failed_promises_nothing, NULL);
    int result = test_run("store/log_entries", argc, argv);
    test_scratch_remove(&folder);
    return result;
}
