/* Logs for tests: records that can be recognised, however they were found. */
#ifndef TESTS_STORE_LOG_CASES_H
#define TESTS_STORE_LOG_CASES_H

#include <stdlib.h>

#include "store/log_format.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/disk.h"
#include "support/scratch.h"
#include "support/random.h"

static const vidi__log_id log_id = {.number = 0x2a, .epoch = 3, .identity = 0x1122334455667788};
#define LOG_NAME "log.000000000000002a"

/* A record's type is its number, and says how long it is and what is in it. From here on: 300 KiB. */
#define LOG_LARGE 1000000000u

static inline size_t log_size(uint32_t number)
{
    if (number >= LOG_LARGE)
        return (300u << 10) + number % 9;
    return number % 3 == 0 ? number % 17 : (size_t)(test_mix(number) % 200);
}

static inline char log_byte(uint32_t number, size_t at)
{
    return (char)(number * 31 + at * 7 + (at >> 8));
}

static inline void log_fill(char *payload, uint32_t number)
{
    for (size_t i = 0; i < log_size(number); i++)
        payload[i] = log_byte(number, i);
}

static inline bool log_is(uint32_t number, vidi_str payload)
{
    if (payload.len != log_size(number))
        return false;
    for (size_t i = 0; i < payload.len; i++)
        if (payload.ptr[i] != log_byte(number, i))
            return false;
    return true;
}

static inline uint64_t log_bytes(uint32_t number)
{
    return vidi__log_record_bytes(log_size(number));
}

/* Appends in three pieces, one of them empty. */
static inline int log_add(vidi__log *log, uint32_t number, uint64_t *position)
{
    static _Thread_local char payload[(300u << 10) + 16];
    size_t size = log_size(number), first = size / 3;
    log_fill(payload, number);
    VIDI__TRY(vidi__log_reserve(log, size));
    const vidi_str pieces[] = {{payload, first}, {NULL, 0}, {payload + first, size - first}};
    vidi__log_append(log, number, pieces, 3, size, position);
    return VIDI_OK;
}

/* What a reading has found. */
typedef struct log_seen {
    uint32_t numbers[20000];
    size_t count;
    bool wrong; /* something that nobody has appended */
} log_seen;

static inline int log_see(void *context, uint32_t number, vidi_str payload)
{
    log_seen *seen = context;
    seen->wrong |= !log_is(number, payload) || seen->count >= VIDI__COUNT(seen->numbers);
    if (!seen->wrong)
        seen->numbers[seen->count++] = number;
    return VIDI_OK;
}

static inline bool log_saw(const log_seen *seen, uint32_t number)
{
    for (size_t i = 0; i < seen->count; i++)
        if (seen->numbers[i] == number)
            return true;
    return false;
}

static inline vidi__memory log_memory(void)
{
    vidi__memory memory;
    assert_int_equal(vidi__memory_init(&memory, NULL, 0), VIDI_OK);
    return memory;
}

static inline int log_read(const test_scratch *folder, log_seen *seen, vidi__log_found *found)
{
    vidi__memory memory = log_memory();
    seen->count = 0;
    seen->wrong = false;
    int code = vidi__log_read(&memory, folder->handle, &log_id, VIDI__LOG_UNKNOWN, log_see, seen, found);
    assert_int_equal(vidi__memory_used(&memory), 0);
    assert_false(seen->wrong);
    return code;
}

/* A whole log with the records 1 to count. */
static inline void log_make(const test_scratch *folder, uint32_t count)
{
    vidi__memory memory = log_memory();
    vidi__log *log;
    uint64_t position;
    assert_int_equal(vidi__log_create(&log, &memory, folder->handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
    for (uint32_t number = 1; number <= count; number++)
        assert_int_equal(log_add(log, number, &position), VIDI_OK);
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    assert_int_equal(vidi__memory_used(&memory), 0);
}

#endif
