/*
 * Durable sets when the power fails. A set lives through operations at random; at a random call of the system its process
 * dies, in the middle of whatever it was doing. Then the power fails in many ways (support/disk.h): in each of the
 * folders that this may leave, everything acknowledged is there, nothing is there that was not committed, and the set
 * opens. If the power does not fail, the next process goes on in the same folder, and dies as well. Some of them meet
 * a disk that is full for a moment on their way.
 */
#include <errno.h>
#include <unistd.h>

#include "base/base.h"
#include "durable/ledger.h"
#include "support/access.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { PROCESSES = 3, OPERATIONS = 14, STATES = 5 };

static test_scratch folder, left;
static bool wrapped; /* URLs come up again, and kinds that count have some of them twice */

/* What the crashes have shown: they would not be worth much if none of this came up. */
static struct {
    uint64_t states, uncommitted, lost, rotations, in_rotation, damaged, unfinished, deaths;
} shown;

static const char *const kinds[] = {"fingerprint", "blocked", "hashset", "counting", "list", "multilayer", "scalable"};

/* ---- operations ---- */

static bool can(const ledger *of, uint32_t what)
{
    vidi_stats stats = {.size = sizeof stats};
    return vidi_stat(of->set, &stats) == VIDI_OK && (stats.can & what);
}

static void remove_some(ledger *of, test_random *random)
{
    size_t i = of->next ? test_below(random, of->next) : 0;
    const ledger_url *url = &of->urls[i];
    if (!wrapped && can(of, VIDI_CAN_DELETE) && url->live == VIDI_SEEN && !url->vague && url->live == url->want)
        ledger_remove(of, i);
}

static size_t fresh(ledger *of, size_t n)
{
    if (of->next + n > LEDGER_URLS) {
        of->next = 0; /* from the front again: some of them are there already */
        wrapped = true;
    }
    size_t first = of->next;
    of->next += n;
    return first;
}

/* Whatever it says; the ledger knows what follows from that. */
static void operate(ledger *of, test_random *random)
{
    static const uint8_t many[] = {1, 2, 7, 18, 40};
    size_t n = many[test_below(random, sizeof many)];
    switch (test_below(random, 16)) {
    case 0:
    case 1:
    case 2:
        ledger_add_batch(of, fresh(of, n), n);
        break;
    case 3:
    case 4:
        ledger_add(of, fresh(of, 1));
        break;
    case 5:
    case 6:
    case 7:
        ledger_commit(of);
        break;
    case 8:
    case 9:
        ledger_sync(of);
        break;
    case 10:
    case 11:
        ledger_snapshot(of);
        break;
    case 12:
        ledger_rotate(of, test_below(random, 2));
        shown.rotations++;
        break;
    case 13:
        if (can(of, VIDI_CAN_MERGE) && !disk_killed())
            ledger_merge(of, fresh(of, 3), 3);
        break;
    case 14:
        remove_some(of, random);
        break;
    default:
        ledger_drop_previous(of);
    }
}

/* ---- crashes ---- */

static void count_what_is_found(const ledger *of, const vidi_set *set)
{
    vidi_recovery recovery = {.size = sizeof recovery};
    assert_int_equal(vidi_recovered(set, &recovery), VIDI_OK);
    shown.damaged += recovery.damaged_bytes > 0 || recovery.missing_files > 0;
    shown.unfinished += recovery.unfinished_bytes > 0;
    shown.in_rotation += ledger_epoch(set) != of->epoch;
    bool lost = false, uncommitted = false;
    for (size_t i = 0; i < LEDGER_URLS; i++) {
        lost |= of->urls[i].want == VIDI_SEEN && vidi_has(set, ledger_str(i)) == VIDI_NEW;
        uncommitted |= of->urls[i].live != of->urls[i].want;
    }
    shown.lost += lost;
    shown.uncommitted += uncommitted;
}

/* After the crash the set is used and closed, and is what it should be once more. */
static void is_of_use(const ledger *of, vidi_set *set, const char *how)
{
    vidi_str url = {"https://after.example/the-crash", 31};
    check(vidi_add(set, url) == VIDI_NEW && vidi_commit(set) == VIDI_OK && vidi_sync(set) == VIDI_OK, "%s, %s: %s",
          of->what, how, vidi_message());
    vidi_close(set);
    check(test_open(&set, left.path, VIDI_READ_ONLY) == VIDI_OK, "%s, %s, again: %s", of->what, how, vidi_message());
    ledger_check_found(of, set, how);
    check(vidi_has(set, url) == VIDI_SEEN, "%s, %s: what came after the crash is missing", of->what, how);
    vidi_close(set);
}

static void survives(const ledger *of, uint64_t seed, test_random *random)
{
    char how[60];
    vidi_set *set;
    snprintf(how, sizeof how, "power failure %llu", (unsigned long long)seed);
    disk_crash_state(seed, &left);
    shown.states++;
    if (test_below(random, 3) == 0)
        ledger_check_folder(of, left.path, VIDI_READ_ONLY | (test_below(random, 2) ? VIDI_NO_MAP : 0), how);
    int code = ledger_open_any(of, left.path, of->mode->flags, &set);
    if (code < 0) {
        check(!of->created && (code == VIDI_EFORMAT || code == VIDI_EABSENT), "%s, %s: %d, %s", of->what, how, code,
              vidi_message());
        return;
    }
    ledger_check_found(of, set, how);
    count_what_is_found(of, set);
    is_of_use(of, set, how);
}

static void fail_the_power(const ledger *of, test_random *random)
{
    survives(of, 0, random);
    survives(of, 1, random);
    for (int i = 2; i < STATES; i++)
        survives(of, test_next(random) | 2, random);
}

/* ---- lives ---- */

/* One process: from its opening to its death, or to a proper end. */
static bool live(ledger *of, test_random *random)
{
    bool dies = test_below(random, 4) > 0; /* otherwise crashes come between its calls, and it ends properly */
    static const disk_call calls[] = {DISK_OPEN, DISK_WRITE, DISK_WRITE, DISK_RENAME, DISK_UNLINK};
    bool disk_is_well = test_below(random, 3) > 0;
    disk_call full = calls[test_below(random, VIDI__COUNT(calls))];
    disk_fail(full, disk_is_well ? 0 : 1 + test_below(random, full == DISK_WRITE ? 30 : 6), ENOSPC, 1);
    disk_kill(dies ? 1 + test_below(random, 90) : 0);
    int code = of->created ? ledger_open(of) : ledger_create(of);
    if (code < 0) {
        check(disk_killed() || disk_failed(), "%s: %s", of->what, vidi_message());
        return of->created;
    }
    for (int i = 0; i < OPERATIONS && !disk_killed(); i++) {
        uint64_t errors = of->errors;
        operate(of, random);
        check(of->errors == errors || disk_killed() || disk_failed(), "%s: an error without a cause: %s", of->what,
              vidi_message());
        if (!dies && disk_is_well && test_below(random, 4) == 0)
            survives(of, test_next(random), random);
    }
    if (!disk_killed())
        ledger_check_live(of);
    ledger_close(of);
    if (!disk_killed() && !disk_failed() &&
        !(of->mode->flags & TEST_SYNC_NEVER)) /* closed properly: all that is committed is on disk */
        ledger_acknowledge(of, false);
    return true;
}

static void many_lives(uint64_t seed)
{
    static ledger of;
    test_random random = {seed};
    char what[80];
    ledger_mode mode = {.kind = kinds[test_below(&random, VIDI__COUNT(kinds))]};
    static const unsigned policies[] = {0, TEST_SYNC_ALWAYS, TEST_SYNC_NEVER};
    mode.flags = policies[test_below(&random, 3)] | (test_below(&random, 2) ? VIDI_MANUAL_COMMIT : 0);
    snprintf(what, sizeof what, "seed %llu, %s, flags %u", (unsigned long long)seed, mode.kind, mode.flags);
    test_scratch_empty(&folder);
    ledger_begin(&of, &mode, NULL, &folder, what);
    disk_begin(&folder);
    wrapped = false;
    bool more = true;
    for (int i = 0; i < PROCESSES && more; i++) {
        more = live(&of, &random);
        shown.deaths += disk_killed();
        disk_revive();
        disk_fail(DISK_ANY, 0, 0, 0);
        fail_the_power(&of, &random);
    }
    disk_end();
}

static void acknowledged_urls_survive_a_power_failure(void **state)
{
    (void)state;
    uint64_t wanted = test_long() ? 100000 : test_sanitized() ? 500 : 5000;
    for (uint64_t seed = 1; shown.states < wanted; seed++)
        many_lives(seed);
    print_message("# %d states, %d deaths, %d with something lost, %d with something not committed, %d unfinished, %d "
                  "damaged, %d rotations, %d in which one was found that had not ended\n",
                  (int)shown.states, (int)shown.deaths, (int)shown.lost, (int)shown.uncommitted, (int)shown.unfinished,
                  (int)shown.damaged, (int)shown.rotations, (int)shown.in_rotation);
    assert_true(shown.lost > wanted / 100 && shown.uncommitted > wanted / 100 && shown.unfinished > 0);
    assert_true(shown.in_rotation > 0);
    assert_int_equal(shown.damaged, 0); /* a crash is never taken for damage */
}

/* The log's thread writes by itself after a while, and syncs long after that: a sync in between must still sync. */
static void what_is_written_is_not_yet_on_disk(void **state)
{
    (void)state;
    static const unsigned flags[] = {0, TEST_SYNC_NEVER, VIDI_MANUAL_COMMIT, VIDI_MANUAL_COMMIT | TEST_SYNC_NEVER};
    static ledger of;
    test_random random = {1};
    for (size_t k = 0; k < VIDI__COUNT(flags); k++) {
        ledger_mode mode = {.kind = kinds[k], .flags = flags[k]};
        test_scratch_empty(&folder);
        ledger_begin(&of, &mode, NULL, &folder, "written by itself");
        disk_begin(&folder);
        assert_int_equal(ledger_create(&of), VIDI_OK);
        assert_int_equal(ledger_add_batch(&of, 0, 60), VIDI_OK);
        assert_int_equal(ledger_commit(&of), VIDI_OK);
        uint64_t writes = disk_calls(DISK_WRITE);
        while (disk_calls(DISK_WRITE) == writes)
            usleep(1000);
        for (uint64_t seed = 0; seed < 20; seed++)
            survives(&of, seed, &random);
        assert_int_equal(ledger_sync(&of), VIDI_OK);
        survives(&of, 0, &random);
        ledger_close(&of);
        disk_end();
    }
}

/* A process has written its log, not synced it, and dies at any call of a snapshot; the next one answers for all. */
static void what_a_dead_process_has_written_is_synced(void **state)
{
    (void)state;
    static ledger of;
    test_random random = {1};
    ledger_mode mode = {.kind = "fingerprint", .flags = TEST_SYNC_NEVER};
    for (uint64_t n = 1; n <= 14; n++) {
        test_scratch_empty(&folder);
        ledger_begin(&of, &mode, NULL, &folder, "left by a dead process");
        disk_begin(&folder);
        assert_int_equal(ledger_create(&of), VIDI_OK);
        assert_int_equal(ledger_add_batch(&of, 0, 60), VIDI_OK);
        uint64_t writes = disk_calls(DISK_WRITE);
        while (disk_calls(DISK_WRITE) == writes)
            usleep(1000);
        disk_kill(n);
        (void)ledger_snapshot(&of);
        ledger_close(&of);
        disk_revive();
        assert_int_equal(ledger_open(&of), VIDI_OK);
        assert_int_equal(ledger_sync(&of), VIDI_OK);
        survives(&of, 0, &random);
        ledger_close(&of);
        disk_end();
    }
}

int main(int argc, char **argv)
{
    test_scratch_make(&folder);
    test_scratch_make(&left);
    test_add("acknowledged URLs survive a power failure", acknowledged_urls_survive_a_power_failure, NULL);
    test_add("what is written is not yet on disk", what_is_written_is_not_yet_on_disk, NULL);
    test_add("what a dead process has written is synced", what_a_dead_process_has_written_is_synced, NULL);
    int result = test_run("set/power", argc, argv);
    test_scratch_remove(&left);
    test_scratch_remove(&folder);
    return result;
}
