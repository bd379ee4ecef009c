/*
 * Logs when the power fails: after it, every record that vidi__log_wait has acknowledged is there, and every record
 * that is there was appended, in its order. Many short lives of a log, each with several possible ends.
 */
#include <errno.h>
#include <sched.h>

#include "store/log_cases.h"
#include "support/env.h"
#include "support/runner.h"

enum { LIVES = 150, STEPS = 24, STATES = 8 };

static test_scratch folder, left;
static log_seen seen;

/* The records of a life so far, in their order, and how many of them were acknowledged. */
typedef struct life {
    uint32_t numbers[STEPS];
    uint64_t positions[STEPS];
    size_t count, acked;
    uint64_t states, unfinished, damaged, lost; /* what the power failures have shown */
} life;

static void survives(life *of, uint64_t seed)
{
    vidi__log_found found;
    disk_crash_state(seed, &left);
    check(log_read(&left, &seen, &found) == VIDI_OK, "seed %llu: %s", (unsigned long long)seed, vidi_message());
    assert_false(found.headless);
    for (size_t i = 0; i < of->acked; i++)
        check(i < seen.count && seen.numbers[i] == of->numbers[i], "seed %llu: record %zu of %zu is missing",
              (unsigned long long)seed, i, of->acked);
    size_t next = 0;
    for (size_t i = 0; i < seen.count; i++, next++) {
        while (next < of->count && of->numbers[next] != seen.numbers[i])
            next++;
        check(next < of->count, "seed %llu: record %u was not appended there", (unsigned long long)seed,
              seen.numbers[i]);
    }
    of->states++;
    of->unfinished += found.unfinished > 0;
    of->damaged += found.damaged > 0;
    of->lost += seen.count < of->count;
}

/* Large records are written at once, without a sync; some of them are waited for, so that several writes are unsynced. */
static void append_one(vidi__log *log, life *of, test_random *random)
{
    uint32_t number = (uint32_t)of->count + 1 + (test_below(random, 6) == 0 ? LOG_LARGE : 0);
    uint64_t writes = disk_calls(DISK_WRITE);
    of->numbers[of->count] = number;
    assert_int_equal(log_add(log, number, &of->positions[of->count]), VIDI_OK);
    of->count++;
    if (number >= LOG_LARGE && test_below(random, 2))
        while (disk_calls(DISK_WRITE) == writes)
            sched_yield();
}

static void live(uint64_t seed, life *of)
{
    test_random random = {seed};
    vidi__memory memory = log_memory();
    vidi__log *log;
    vidi__log_policy policy = (vidi__log_policy)test_below(&random, 3);
    of->count = of->acked = 0;
    test_scratch_empty(&folder);
    disk_begin(&folder);
    assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, policy), VIDI_OK);
    survives(of, 0);
    for (int step = 0; step < STEPS; step++) {
        append_one(log, of, &random);
        if (test_below(&random, 4) == 0) {
            size_t upto = test_below(&random, of->count);
            assert_int_equal(vidi__log_wait(log, of->positions[upto]), VIDI_OK);
            of->acked = upto + 1 > of->acked ? upto + 1 : of->acked;
        }
        if (test_below(&random, STEPS / STATES) == 0)
            survives(of, test_below(&random, 3) ? test_next(&random) : test_below(&random, 2));
    }
    assert_int_equal(vidi__log_close(log), VIDI_OK);
    if (policy != VIDI__SYNC_NO)
        of->acked = of->count;
    survives(of, 0);
    survives(of, test_next(&random));
    disk_end();
}

static void acknowledged_records_survive(void **state)
{
    (void)state;
    life of = {0};
    uint64_t lives = test_sanitized() ? LIVES / 6 : LIVES;
    for (uint64_t seed = 1; seed <= lives; seed++)
        live(seed, &of);
    print_message("# %d states, %d with an unfinished end, %d with damage, %d with lost records\n", (int)of.states,
                  (int)of.unfinished, (int)of.damaged, (int)of.lost);
    assert_true(test_sanitized() || of.states >= 1000);
    /* else the failures would not be worth much */
    assert_true(of.unfinished > of.states / 50 && of.damaged > 0 && of.lost > of.states / 10);
}

/* After a failure, what is continued or follows must hold to the same. */
static void a_log_that_was_continued_survives(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        life of = {0};
        vidi__memory memory = log_memory();
        vidi__log *log;
        vidi__log_found found;
        test_random random = {seed};
        test_scratch_empty(&folder);
        disk_begin(&folder);
        assert_int_equal(vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO), VIDI_OK);
        for (int i = 0; i < 5; i++)
            append_one(log, &of, &random);
        assert_int_equal(vidi__log_close(log), VIDI_OK); /* written, not synced: the process has ended, not the power */
        assert_int_equal(log_read(&folder, &seen, &found), VIDI_OK);
        assert_int_equal(vidi__log_continue(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO, found.bytes),
                         VIDI_OK);
        assert_int_equal(vidi__log_wait(log, found.bytes), VIDI_OK);
        of.acked = of.count;
        survives(&of, 0);
        append_one(log, &of, &random);
        survives(&of, test_next(&random));
        assert_int_equal(vidi__log_close(log), VIDI_OK);
        disk_end();
    }
}

/* The power fails while a log is made: it can be made again in what is left. */
static void a_log_that_was_being_made_is_made_again(void **state)
{
    (void)state;
    vidi__memory memory = log_memory();
    vidi__log *log;
    uint64_t n = 0, failed, kinds[3] = {0};
    do {
        test_scratch_empty(&folder);
        disk_begin(&folder);
        disk_fail(DISK_ANY, ++n, EIO, DISK_FOR_EVER);
        int code = vidi__log_create(&log, &memory, folder.handle, &log_id, VIDI__SYNC_NO);
        if (code == VIDI_OK)
            code = vidi__log_close(log);
        failed = disk_failed();
        assert_int_equal(code, failed ? VIDI_EIO : VIDI_OK);
        for (uint64_t seed = 0; seed < 40; seed++) {
            vidi__log_found found;
            disk_crash_state(seed, &left);
            const vidi__system *disk = vidi__system_now;
            vidi__system_now = &vidi__system_real;
            code = log_read(&left, &seen, &found);
            check(code == VIDI_EABSENT || code == VIDI_OK, "call %d: %s", (int)n, vidi_message());
            assert_int_equal(seen.count, 0);
            kinds[code == VIDI_OK ? 1 + !found.headless : 0]++;
            log_make(&left, 3);
            assert_int_equal(log_read(&left, &seen, &found), VIDI_OK);
            assert_int_equal(seen.count, 3);
            vidi__system_now = disk;
        }
        disk_end();
    } while (failed);
    assert_true(kinds[0] && kinds[1] && kinds[2]); /* absent, a piece of a head, whole */
}

int main(int argc, char **argv)
{
    test_scratch_make(&folder);
    test_scratch_make(&left);
    test_add("acknowledged records survive", acknowledged_records_survive, NULL);
    test_add("a log that was continued survives", a_log_that_was_continued_survives, NULL);
    test_add("a log that was being made is made again", a_log_that_was_being_made_is_made_again, NULL);
    int result = test_run("store/log_power", argc, argv);
    test_scratch_remove(&left);
    test_scratch_remove(&folder);
    return result;
}
