/*
 * What an interrupted creation leaves, and writers whose disk fails while others wait for it: nothing that was committed
 * is lost, nobody is told what is not so, and the next snapshot heals the set. Through store/file.h's table of system
 * calls, so that each failure happens for certain.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "durable/durable_cases.h"
#include "store/file.h"
#include "store/log.h"
#include "support/access.h"
#include "support/clock.h"
#include "support/runner.h"

static __thread bool watched; /* the thread whose calls are counted */
static uint64_t calls;

/* ---- interrupted creation ---- */

static void must_hold_no_set(home *at, const char *what)
{
    vidi_set *set = (vidi_set *)at;
    for (unsigned flags = 0; flags <= VIDI_READ_ONLY; flags += VIDI_READ_ONLY) {
        int code = test_open(&set, at->path, flags);
        check(code == VIDI_EABSENT, "%s: %d, %s", what, code, vidi_message());
        assert_null(set);
        check(strstr(vidi_message(), "is not a vidi set") != NULL, "%s: %s", what, vidi_message());
    }
    vidi_options options = VIDI_OPTIONS_INIT;
    options.kind = "hashset";
    home_create(at, &options, 0);
    add_all(at->set, 0, 10, VIDI_NEW);
    home_reopen(at, 0);
    all_are(at->set, 0, 10, VIDI_SEEN);
    must(vidi_snapshot(at->set));
    assert_int_equal(test_folder_count(at->path, "set."), 1);
    home_end(at);
}

/* Something else is there, or what is left of a set: neither opening nor making a set changes it. */
static void must_be_left_alone(home *at, int code, const char *what)
{
    vidi_set *set = (vidi_set *)at;
    vidi_options options = VIDI_OPTIONS_INIT;
    options.path = at->path;
    size_t files = test_folder_count(at->path, "");
    for (unsigned flags = 0; flags <= VIDI_READ_ONLY; flags += VIDI_READ_ONLY) {
        int got = test_open(&set, at->path, flags);
        check(got == code, "%s: %d, %s", what, got, vidi_message());
        assert_null(set);
    }
    int got = vidi_create(&set, &options);
    check(got == VIDI_EEXIST && strstr(vidi_message(), at->path), "%s: %d, %s", what, got, vidi_message());
    got = vidi_open_or_create(&set, &options);
    check(got == (code == VIDI_EABSENT ? VIDI_EEXIST : code), "%s: %d, %s", what, got, vidi_message());
    check(test_folder_count(at->path, "") == files, "%s: something was written", what);
    home_end(at);
}

/* Creation that fails at each of its system calls in turn, with all after it: as a crash would leave it. */
static uint64_t fail_from;

static bool fails(void)
{
    if (!watched || ++calls < fail_from)
        return false;
    errno = EIO;
    return true;
}

static int failing_open(int folder, const char *name, int flags, mode_t mode)
{
    return (flags & O_CREAT) && fails() ? -1 : vidi__system_real.open(folder, name, flags, mode);
}

static ssize_t failing_write(int file, const void *data, size_t bytes)
{
    if (fails()) { /* half of it, if this is the first to fail */
        if (calls == fail_from && bytes > 1)
            (void)!vidi__system_real.write(file, data, bytes / 2);
        errno = EIO;
        return -1;
    }
    return vidi__system_real.write(file, data, bytes);
}

static int failing_fsync(int file)
{
    return fails() ? -1 : vidi__system_real.fsync(file);
}

static int failing_rename(int folder, const char *from, const char *to)
{
    return fails() ? -1 : vidi__system_real.rename(folder, from, to);
}

static int failing_unlink(int folder, const char *name)
{
    return fails() ? -1 : vidi__system_real.unlink(folder, name);
}

static vidi__system failing_system(void)
{
    vidi__system hooked = vidi__system_real;
    hooked.open = failing_open;
    hooked.write = failing_write;
    hooked.fsync = failing_fsync;
    hooked.rename = failing_rename;
    hooked.unlink = failing_unlink;
    return hooked;
}

static void what_an_interrupted_creation_leaves_can_be_created(void **state)
{
    vidi__system hooked = failing_system();
    vidi_options options = VIDI_OPTIONS_INIT;
    int code = -1;
    (void)state;
    options.kind = "hashset";
    for (fail_from = 1; code != VIDI_OK; fail_from++) {
        home at;
        home_begin(&at);
        options.path = at.path;
        calls = 0;
        vidi__system_now = &hooked;
        watched = true;
        code = vidi_create(&at.set, &options);
        watched = false;
        vidi__system_now = &vidi__system_real;
        if (code != VIDI_OK) {
            assert_null(at.set);
            assert_int_equal(code, VIDI_EIO);
            if (test_folder_count(at.above, "set") && test_folder_count(at.path, "set.0000000000000001") &&
                !test_folder_count(at.path, "set.0000000000000001.new")) { /* after the renaming: it is there */
                at.set = must_open(at.path, 0);
                home_end(&at);
            } else if (test_folder_count(at.above, "set")) {
                must_hold_no_set(&at, "an interrupted creation");
            } else {
                home_end(&at);
            }
        } else {
            home_end(&at);
        }
    }
    check(fail_from > 6, "only %llu calls", (unsigned long long)fail_from);
}

static void leftovers_of_a_creation_are_no_set(void **state)
{
    home at;
    vidi_set *set = NULL;
    (void)state;
    home_begin(&at);
    assert_int_equal(vidi_open(&set, at.path, NULL), VIDI_EABSENT);
    assert_int_equal(test_open(&set, at.path, VIDI_READ_ONLY), VIDI_EABSENT);
    test_file_write(at.above, "set", "a file", 6);
    assert_true(vidi_open(&set, at.path, NULL) < 0);
    home_end(&at);

    home_make(&at, "hashset", NULL, 0); /* the log of another set, with no records */
    vidi_close(at.set);
    at.set = NULL;
    char name[TEST_PATH];
    test_path(name, at.path, "set.0000000000000001");
    unlink(name);
    must_be_left_alone(&at, VIDI_EFORMAT, "a log without a snapshot");

    static const char *const names[] = {"lock", "set.0000000000000001.new"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        home_begin(&at);
        assert_int_equal(mkdir(at.path, 0700), 0);
        test_file_write(at.path, names[i], "x", 1);
        must_hold_no_set(&at, names[i]);
    }
    static const struct {
        const char *name;
        int code;
    } others[] = {{"set.0000000000000009.new", VIDI_EFORMAT},
                  {"log.0000000000000001", VIDI_EFORMAT},
                  {"manifest", VIDI_EFORMAT},
                  {"notes.txt", VIDI_EABSENT},
                  {"cut.1", VIDI_EABSENT}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        home_begin(&at);
        assert_int_equal(mkdir(at.path, 0700), 0);
        test_file_write(at.path, others[i].name, "x", 1);
        must_be_left_alone(&at, others[i].code, others[i].name);
    }
}

/* A folder that holds something else is left as it was, down to the lock. */
static void a_folder_that_is_no_sets_is_left_alone(void **state)
{
    home at;
    vidi_set *set = NULL;
    (void)state;
    home_begin(&at);
    assert_int_equal(mkdir(at.path, 0700), 0);
    test_file_write(at.path, "thesis.tex", "x", 1);
    assert_int_equal(vidi_open(&set, at.path, NULL), VIDI_EABSENT);
    assert_int_equal(test_folder_count(at.path, "lock"), 0);
    home_end(&at);
}

/* There is a log for every snapshot. */
static void the_only_log_is_missed(void **state)
{
    home at;
    vidi_set *set = NULL;
    char path[TEST_PATH];
    (void)state;
    home_make(&at, "hashset", NULL, 0);
    add_all(at.set, 0, 5, VIDI_NEW);
    vidi_close(at.set);
    at.set = NULL;
    test_path(path, at.path, "log.0000000000000001");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(test_open(&set, at.path, 0), VIDI_EDAMAGED);
    check(strstr(vidi_message(), "log.0000000000000001") != NULL, "%s", vidi_message());
    vidi_recovery found = {.size = sizeof found};
    at.set = must_open(at.path, VIDI_READ_ONLY);
    must(vidi_recovered(at.set, &found));
    assert_int_equal(found.missing_files, 1);
    assert_string_equal(found.missing_file, "log.0000000000000001");
    home_end(&at);
}

/* ---- writers whose disk fails ---- */

/* Whatever fails while a snapshot or a rotation is written: what was committed is not lost, and the next one heals. */
static void failures_at_every_call_lose_nothing(void **state)
{
    const bool rotates = *state;
    vidi__system hooked = failing_system();
    int code = -1;
    for (fail_from = 1; code != VIDI_OK; fail_from++) {
        home at;
        home_make(&at, "fingerprint", "bits=60", VIDI_MANUAL_COMMIT);
        add_all(at.set, 0, 50, VIDI_NEW);
        must(vidi_commit(at.set));
        must(vidi_sync(at.set));
        add_all(at.set, 50, 50, VIDI_NEW); /* staged */
        calls = 0;
        vidi__system_now = &hooked;
        watched = true;
        code = rotates ? vidi_rotate(at.set, NULL) : vidi_snapshot(at.set);
        watched = false;
        vidi__system_now = &vidi__system_real;
        if (code != VIDI_OK) {
            all_are(at.set, 0, 100, VIDI_SEEN);
            if (!rotates) { /* who rotates does not mind if that has happened */
                vidi_set *copy = home_crashed(&at, 0);
                all_are(copy, 0, 50, VIDI_SEEN);
                all_are(copy, 50, 50, VIDI_NEW);
                vidi_close(copy);
            }
            int committed = vidi_commit(at.set);
            check(committed == VIDI_OK || committed == VIDI_EIO, "%d: %s", committed, vidi_message());
            must(vidi_snapshot(at.set));
            must(vidi_commit(at.set));
            must(vidi_sync(at.set));
            home_reopen(&at, 0);
            all_are(at.set, 0, 100, VIDI_SEEN);
            assert_int_equal(test_stat(at.set).epoch, 0);
        }
        home_end(&at);
    }
    check(fail_from > 6, "only %llu calls", (unsigned long long)fail_from);
}

/*
 * A snapshot fails; its log stays, and what is in there has still to come to disk when somebody calls vidi_sync. The disk
 * is slow: it is not done with that before vidi_sync waits for it, or has returned, which it must not.
 */
static home late;
static atomic_int sync_begins, sync_ended, ended_early;

static int failing_rename_of_snapshots(int folder, const char *from, const char *to)
{
    if (strncmp(from, "set.", 4) != 0)
        return vidi__system_real.rename(folder, from, to);
    atomic_store(&sync_begins, 1);
    errno = EIO;
    return -1;
}

static int slow_fsync(int file)
{
    if (atomic_load(&sync_begins) == 1) {
        atomic_store(&sync_begins, 2);
        /* the snapshot and vidi_sync wait for this log, the thread of the next one for records */
        while (test_clock_sleepers(VIDI__NEVER) < 3 && !atomic_load(&sync_ended))
            sched_yield();
        atomic_store(&ended_early, atomic_load(&sync_ended));
    }
    return vidi__system_real.fsync(file);
}

static void *sync_when_told(void *unused)
{
    (void)unused;
    while (atomic_load(&sync_begins) != 2)
        sched_yield();
    int code = vidi_sync(late.set);
    atomic_store(&sync_ended, 1);
    return (void *)(intptr_t)code;
}

static void sync_waits_for_the_log_of_a_failed_snapshot(void **state)
{
    pthread_t thread;
    void *code;
    vidi__system hooked = vidi__system_real;
    (void)state;
    hooked.rename = failing_rename_of_snapshots;
    hooked.fsync = slow_fsync;
    test_clock_begin();
    home_make(&late, "fingerprint", NULL, TEST_SYNC_NEVER);
    add_all(late.set, 0, 100, VIDI_NEW);
    assert_int_equal(pthread_create(&thread, NULL, sync_when_told, NULL), 0);
    vidi__system_now = &hooked;
    assert_int_equal(vidi_snapshot(late.set), VIDI_EIO);
    assert_int_equal(pthread_join(thread, &code), 0);
    vidi__system_now = &vidi__system_real;
    assert_int_equal((intptr_t)code, VIDI_OK);
    assert_int_equal(atomic_load(&ended_early), 0);
    vidi_set *copy = home_crashed(&late, 0);
    all_are(copy, 0, 100, VIDI_SEEN);
    vidi_close(copy);
    home_end(&late);
    test_clock_end();
}

/* The disk fails for a while; adds that wait for it are told so, and have left no trace. */
static atomic_int sync_fails;

static int fsync_of_a_bad_disk(int file)
{
    if (atomic_load(&sync_fails)) {
        errno = EIO;
        return -1;
    }
    return vidi__system_real.fsync(file);
}

typedef struct bad_kind {
    const char *kind, *params;
    bool every_add;
} bad_kind;

static const bad_kind bad_kinds[] = {
    {"fingerprint", NULL, false},
    {"hashset", "multiset=on", true},
    {"counting", NULL, true},
};

static void an_add_that_did_not_reach_the_disk_left_no_trace(void **state)
{
    const bad_kind *which = *state;
    vidi__system hooked = vidi__system_real;
    test_batch urls;
    uint8_t verdicts[40];
    home at;
    hooked.fsync = fsync_of_a_bad_disk;
    home_make(&at, which->kind, which->params, TEST_SYNC_ALWAYS);
    add_all(at.set, 0, 20, VIDI_NEW);
    test_batch_init(&urls, 40);
    test_batch_fill(&urls, test_url, 77, 0, 40); /* 20 that are there, 20 that are not */
    vidi_stats before = test_stat(at.set);
    vidi__system_now = &hooked;
    atomic_store(&sync_fails, 1);
    assert_int_equal(vidi_add_batch(at.set, urls.urls, 40, verdicts, NULL), VIDI_EIO);
    atomic_store(&sync_fails, 0);
    vidi_stats after = test_stat(at.set);
    assert_int_equal(after.count, before.count);
    assert_int_equal(after.answered_new, before.answered_new);
    for (size_t i = 0; i < 40; i++) {
        int right = i < 20 && !which->every_add ? VIDI_SEEN : VIDI_UNTRIED;
        check(verdicts[i] == right, "URL %zu has verdict %u, not %d", i, verdicts[i], right);
        assert_int_equal(has_nth(at.set, i), i < 20 ? VIDI_SEEN : VIDI_NEW);
        if (which->every_add)
            assert_int_equal(times_nth(at.set, i), i < 20 ? 1 : 0);
    }
    assert_int_equal(add_nth(at.set, 30), VIDI_EIO); /* until there is a snapshot */
    assert_int_equal(vidi_sync(at.set), VIDI_EIO);
    must(vidi_snapshot(at.set));
    add_all(at.set, 20, 20, VIDI_NEW);
    vidi__system_now = &vidi__system_real;
    home_reopen(&at, 0);
    all_are(at.set, 0, 40, VIDI_SEEN);
    for (size_t i = 0; which->every_add && i < 40; i++)
        assert_int_equal(times_nth(at.set, i), 1);
    test_batch_free(&urls);
    home_end(&at);
}

/* Also without a snapshot that heals. */
static void what_was_untried_is_new_when_the_set_is_opened_again(void **state)
{
    vidi__system hooked = vidi__system_real;
    home at;
    (void)state;
    hooked.fsync = fsync_of_a_bad_disk;
    home_make(&at, "fingerprint", NULL, TEST_SYNC_ALWAYS);
    add_all(at.set, 0, 20, VIDI_NEW);
    vidi__system_now = &hooked;
    atomic_store(&sync_fails, 1);
    assert_int_equal(add_nth(at.set, 20), VIDI_EIO);
    atomic_store(&sync_fails, 0);
    vidi__system_now = &vidi__system_real;
    home_reopen(&at, 0);
    all_are(at.set, 0, 20, VIDI_SEEN);
    all_are(at.set, 20, 1, VIDI_NEW);
    home_end(&at);
}

/* A removal that fails so is not counted either. */
static void a_removal_that_did_not_reach_the_disk_left_no_trace(void **state)
{
    vidi__system hooked = vidi__system_real;
    home at;
    (void)state;
    hooked.fsync = fsync_of_a_bad_disk;
    home_make(&at, "hashset", NULL, TEST_SYNC_ALWAYS);
    add_all(at.set, 0, 20, VIDI_NEW);
    vidi__system_now = &hooked;
    atomic_store(&sync_fails, 1);
    assert_int_equal(remove_nth(at.set, 3), VIDI_EIO);
    atomic_store(&sync_fails, 0);
    all_are(at.set, 0, 20, VIDI_SEEN);
    assert_int_equal(test_stat(at.set).removed, 0);
    assert_int_equal(test_stat(at.set).count, 20);
    must(vidi_snapshot(at.set));
    must(remove_nth(at.set, 3));
    vidi__system_now = &vidi__system_real;
    home_reopen(&at, 0);
    assert_int_equal(has_nth(at.set, 3), VIDI_NEW);
    assert_int_equal(test_stat(at.set).count, 19);
    home_end(&at);
}

/*
 * Threads add, with SYNC_ALWAYS, to a disk that fails again and again; another heals the set with snapshots. Nobody is told
 * NEW twice, and what was told NEW is there; what nobody was told NEW for is not.
 */
enum { SUFFERERS = 3, SUFFERED = 600 };

static home sick;
static atomic_uchar told[SUFFERED];
static atomic_bool well;
static atomic_int wrong;
static atomic_uint answers, refusals;

static void *add_with_patience(void *context)
{
    uint64_t first = (uint64_t)(uintptr_t)context * 200;
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < SUFFERED; i++) {
        uint64_t index = (first + i) % SUFFERED;
        vidi_str url = nth(room, index);
        uint8_t verdict = VIDI_UNTRIED;
        while (verdict == VIDI_UNTRIED) {
            int code = vidi_add_batch(sick.set, &url, 1, &verdict, NULL);
            atomic_fetch_add(code < 0 ? &refusals : &answers, 1);
            if (code < 0 && code != VIDI_EIO)
                atomic_store(&wrong, code);
        }
        if (verdict == VIDI_NEW)
            atomic_fetch_add(&told[index], 1);
        else if (verdict != VIDI_SEEN)
            atomic_store(&wrong, 1);
    }
    return NULL;
}

/* Until 20 more adds were answered. An add that is still refused shows that the set is not healed yet. */
static void stay_well(void)
{
    unsigned answered = atomic_load(&answers), refused = atomic_load(&refusals);
    while (!atomic_load(&well) && atomic_load(&answers) - answered < 20) {
        if (atomic_load(&refusals) != refused) {
            refused = atomic_load(&refusals);
            (void)vidi_snapshot(sick.set);
        }
        sched_yield();
    }
}

static void *heal_and_hurt(void *unused)
{
    (void)unused;
    while (!atomic_load(&well)) {
        unsigned refused = atomic_load(&refusals);
        atomic_store(&sync_fails, 1);
        while (!atomic_load(&well) && atomic_load(&refusals) == refused)
            sched_yield();
        atomic_store(&sync_fails, 0);
        (void)vidi_snapshot(sick.set);
        stay_well();
    }
    (void)vidi_snapshot(sick.set);
    return NULL;
}

static void on_a_bad_disk_one_is_told_new_and_that_is_kept(void **state)
{
    pthread_t threads[SUFFERERS], healer;
    vidi__system hooked = vidi__system_real;
    (void)state;
    hooked.fsync = fsync_of_a_bad_disk;
    home_make(&sick, "fingerprint", "bits=60", TEST_SYNC_ALWAYS);
    vidi__system_now = &hooked;
    atomic_store(&well, false);
    assert_int_equal(pthread_create(&healer, NULL, heal_and_hurt, NULL), 0);
    for (size_t i = 0; i < SUFFERERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_with_patience, (void *)(uintptr_t)i), 0);
    for (size_t i = 0; i < SUFFERERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    atomic_store(&well, true);
    assert_int_equal(pthread_join(healer, NULL), 0);
    must(vidi_snapshot(sick.set));
    vidi__system_now = &vidi__system_real;
    assert_int_equal(atomic_load(&wrong), 0);
    assert_true(atomic_load(&refusals) > 0);
    for (size_t i = 0; i < SUFFERED; i++)
        check(atomic_load(&told[i]) == 1, "URL %zu was NEW %u times", i, atomic_load(&told[i]));
    assert_int_equal(test_stat(sick.set).answered_new, SUFFERED);
    assert_int_equal(test_stat(sick.set).count, SUFFERED);
    home_reopen(&sick, 0);
    all_are(sick.set, 0, SUFFERED, VIDI_SEEN);
    home_end(&sick);
}

int main(int argc, char **argv)
{
    char name[200];
    test_add("what an interrupted creation leaves can be created", what_an_interrupted_creation_leaves_can_be_created,
             NULL);
    test_add("leftovers of a creation are no set", leftovers_of_a_creation_are_no_set, NULL);
    test_add("a folder that is no set's is left alone", a_folder_that_is_no_sets_is_left_alone, NULL);
    test_add("the only log is missed", the_only_log_is_missed, NULL);
    test_add("a snapshot that fails at any call loses nothing", failures_at_every_call_lose_nothing, NULL);
    test_add("a rotation that fails at any call loses nothing", failures_at_every_call_lose_nothing, bad_kinds);
    test_add("vidi_sync waits for the log of a failed snapshot", sync_waits_for_the_log_of_a_failed_snapshot, NULL);
    for (size_t i = 0; i < sizeof bad_kinds / sizeof *bad_kinds; i++) {
        snprintf(name, sizeof name, "an add that did not reach the disk left no trace: %s", bad_kinds[i].kind);
        test_add(name, an_add_that_did_not_reach_the_disk_left_no_trace, &bad_kinds[i]);
    }
    test_add("what was untried is new when the set is opened again",
             what_was_untried_is_new_when_the_set_is_opened_again, NULL);
    test_add("a removal that did not reach the disk left no trace", a_removal_that_did_not_reach_the_disk_left_no_trace,
             NULL);
    test_add("on a bad disk one is told NEW, and that is kept", on_a_bad_disk_one_is_told_new_and_that_is_kept, NULL);
    return test_run("durable_bad_disk", argc, argv);
}
