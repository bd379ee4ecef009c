/*
 * Readers that open a set while its writer does something, at every single call that opening makes to the operating
 * system; what an interrupted creation leaves; and writers whose disk fails while others wait for it.
 *
 * All of it through store/file.h's table of system calls, so that each race happens for certain.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "set/durable_cases.h"
#include "store/file.h"
#include "store/log.h"
#include "support/runner.h"

/* ---- at the n-th call of this thread ---- */

static __thread bool watched; /* the thread whose calls are counted */
static uint64_t calls, act_at;
static void (*act)(void);

static void count_call(void)
{
    if (!watched || ++calls != act_at)
        return;
    watched = false; /* the writer works with the same table */
    act();
    watched = true;
}

static int hooked_open(int folder, const char *name, int flags, mode_t mode)
{
    count_call();
    return vidi__system_real.open(folder, name, flags, mode);
}

static ssize_t hooked_pread(int file, void *data, size_t bytes, off_t offset)
{
    count_call();
    return vidi__system_real.pread(file, data, bytes, offset);
}

static int hooked_size(int file, uint64_t *bytes)
{
    count_call();
    return vidi__system_real.size(file, bytes);
}

static void *hooked_map(int file, size_t bytes)
{
    count_call();
    return vidi__system_real.map(file, bytes);
}

static int hooked_list(int folder, int (*visit)(void *context, const char *name), void *context)
{
    count_call();
    int result = vidi__system_real.list(folder, visit, context);
    count_call();
    return result;
}

/* ---- readers ---- */

static home shelf;
static uint64_t shelf_epoch, shelf_urls; /* of the epoch, on disk: URLs epoch * 1000 .. */

static void add_more(void)
{
    add_all(shelf.set, 1000 * shelf_epoch + shelf_urls, 30, VIDI_NEW);
    shelf_urls += 30;
    must(vidi_commit(shelf.set));
    must(vidi_sync(shelf.set));
}

static void just_snapshot(void)
{
    add_more();
    must(vidi_snapshot(shelf.set));
    add_more();
}

static void twice_snapshot(void)
{
    just_snapshot();
    just_snapshot();
}

static void next_epoch(void)
{
    must(vidi_rotate(shelf.set, NULL));
    shelf_epoch++;
    shelf_urls = 0;
    add_more();
}

static void two_epochs(void)
{
    next_epoch();
    next_epoch();
}

static void drop(void)
{
    must(vidi_drop_previous(shelf.set));
}

static void reopen_writer(void)
{
    home_reopen(&shelf, VIDI_MANUAL_COMMIT);
    add_more();
}

typedef struct action {
    const char *name;
    void (*act)(void);
} action;

static const action actions[] = {
    {"adds", add_more},         {"takes a snapshot", just_snapshot}, {"takes two snapshots", twice_snapshot},
    {"rotates", next_epoch},    {"rotates twice", two_epochs},       {"drops the previous epoch", drop},
    {"reopens", reopen_writer},
};

static void a_reader_must_find(const vidi_set *reader, uint64_t epoch, uint64_t urls, const char *name)
{
    uint64_t found = test_stat(reader).epoch, n = 0;
    check(found == epoch || (found > epoch && found <= shelf_epoch), "the writer %s at call %llu: epoch %llu", name,
          (unsigned long long)act_at, (unsigned long long)found);
    for (uint64_t i = 0; i < 400; i++) {
        bool there = has_nth(reader, 1000 * found + i) == VIDI_SEEN;
        check(there || found != epoch || i >= urls, "the writer %s at call %llu: URL %llu is not there", name,
              (unsigned long long)act_at, (unsigned long long)i);
        check(!there || n == i, "the writer %s at call %llu: there is a hole before URL %llu", name,
              (unsigned long long)act_at, (unsigned long long)i);
        n += there;
    }
    check(test_stat(reader).count == n, "%llu are counted, %llu are there", (unsigned long long)test_stat(reader).count,
          (unsigned long long)n);
}

/* A snapshot, a log behind it, and a previous epoch with either. */
static void stock(unsigned flags)
{
    home_make(&shelf, "fingerprint", "bits=60", flags);
    shelf_epoch = shelf_urls = 0;
    add_more();
    must(vidi_snapshot(shelf.set));
    add_more();
    next_epoch();
    must(vidi_snapshot(shelf.set));
    add_more();
}

static void a_reader_is_never_confused(void **state)
{
    const action *which = *state;
    static const unsigned ways[] = {VIDI_READ_ONLY, VIDI_READ_ONLY | VIDI_NO_MAP};
    vidi__system hooked = vidi__system_real;
    hooked.open = hooked_open;
    hooked.pread = hooked_pread;
    hooked.size = hooked_size;
    hooked.map = hooked_map;
    hooked.list = hooked_list;
    for (int variant = 0; variant < 4; variant++) {
        for (act_at = 1;; act_at++) {
            stock(VIDI_MANUAL_COMMIT | (variant & 1 ? VIDI_KEEP_PREVIOUS : 0));
            vidi_set *reader = NULL;
            uint64_t epoch = shelf_epoch, urls = shelf_urls;
            calls = 0;
            act = which->act;
            vidi__system_now = &hooked;
            watched = true;
            int code = vidi_open(&reader, shelf.path, ways[variant >> 1]);
            watched = false;
            vidi__system_now = &vidi__system_real;
            check(code == VIDI_OK, "the writer %s at call %llu: %d, %s", which->name, (unsigned long long)act_at, code,
                  vidi_message());
            a_reader_must_find(reader, epoch, urls, which->name);
            must(vidi_verify(reader));
            vidi_close(reader);
            home_end(&shelf);
            if (calls < act_at) /* opening needs no more calls than that */
                break;
        }
        check(act_at > 6, "there were only %llu calls", (unsigned long long)act_at);
    }
}

/* The log that rotation has made is on disk, its snapshot not yet: between the two the reader lists the folder. */
static vidi_set *late_reader;
static int late_code;
static bool late_done;

static int rename_after_reading(int folder, const char *from, const char *to)
{
    if (!late_done) {
        late_done = true;
        late_code = vidi_open(&late_reader, shelf.path, VIDI_READ_ONLY);
    }
    return vidi__system_real.rename(folder, from, to);
}

static void readers_in_the_middle_of_a_rotation_find_the_old_epoch(void **state)
{
    vidi__system hooked = vidi__system_real;
    (void)state;
    hooked.rename = rename_after_reading;
    stock(VIDI_MANUAL_COMMIT | VIDI_KEEP_PREVIOUS);
    late_done = false;
    vidi__system_now = &hooked;
    must(vidi_rotate(shelf.set, NULL));
    vidi__system_now = &vidi__system_real;
    check(late_code == VIDI_OK, "%d, %s", late_code, vidi_message());
    assert_int_equal(test_stat(late_reader).epoch, shelf_epoch);
    a_reader_must_find(late_reader, shelf_epoch, shelf_urls, "rotates");
    vidi_close(late_reader);
    home_end(&shelf);
}

/* A rotation that has made its log waits until the reader has listed the folder, and ends before that reads the files. */
static atomic_int middle, listed;

static int rename_when_listed(int folder, const char *from, const char *to)
{
    atomic_store(&middle, 1);
    for (int i = 0; !atomic_load(&listed) && i < 5000; i++)
        usleep(1000);
    return vidi__system_real.rename(folder, from, to);
}

/* What it does beside the reader, and when that lets it go on: when it has listed, or when it has read the first log. */
static void (*beside)(void);
static int logs_before;
static pthread_t beside_thread;

static void *work_beside(void *unused)
{
    (void)unused;
    beside();
    return NULL;
}

static void let_go(void)
{
    atomic_store(&listed, 1);
    assert_int_equal(pthread_join(beside_thread, NULL), 0);
}

static int list_in_the_middle(int folder, int (*visit)(void *context, const char *name), void *context)
{
    if (!watched || atomic_load(&middle))
        return vidi__system_real.list(folder, visit, context);
    assert_int_equal(pthread_create(&beside_thread, NULL, work_beside, NULL), 0);
    while (!atomic_load(&middle))
        usleep(1000);
    int result = vidi__system_real.list(folder, visit, context);
    if (logs_before == 0)
        let_go();
    return result;
}

static int open_later(int folder, const char *name, int flags, mode_t mode)
{
    if (watched && strncmp(name, "log.", 4) == 0 && logs_before-- == 1)
        let_go();
    return vidi__system_real.open(folder, name, flags, mode);
}

/* What is in the old log's buffer comes to the file too late for the reader, what is in the new one's does not. */
static void commit_and_snapshot(void)
{
    add_all(shelf.set, 1000 * shelf_epoch + shelf_urls, 30, VIDI_NEW);
    shelf_urls += 30;
    must(vidi_commit(shelf.set));
    must(vidi_snapshot(shelf.set));
    add_more();
}

static void a_reader_that_listed_in_the_middle_looks_again(void **state)
{
    static void (*const deeds[])(void) = {next_epoch, commit_and_snapshot, two_epochs};
    vidi__system hooked = vidi__system_real;
    (void)state;
    hooked.rename = rename_when_listed;
    hooked.list = list_in_the_middle;
    hooked.open = open_later;
    for (int i = 0; i < 18; i++) {
        vidi_set *reader = NULL;
        stock(VIDI_MANUAL_COMMIT | (i % 2 ? VIDI_KEEP_PREVIOUS : 0));
        uint64_t epoch = shelf_epoch, urls = shelf_urls;
        beside = deeds[i / 2 % 3];
        logs_before = i / 6;
        atomic_store(&middle, 0);
        atomic_store(&listed, 0);
        vidi__system_now = &hooked;
        watched = true;
        int code = vidi_open(&reader, shelf.path, VIDI_READ_ONLY);
        watched = false;
        if (!atomic_load(&listed)) /* it did not come to the second log */
            let_go();
        vidi__system_now = &vidi__system_real;
        check(code == VIDI_OK, "%d: %d, %s", i, code, vidi_message());
        a_reader_must_find(reader, epoch, urls, "rotates, or takes a snapshot,");
        vidi_close(reader);
        home_end(&shelf);
    }
}

/* The first listing has a log too many, the next not. */
static int list_too_much(int folder, int (*visit)(void *context, const char *name), void *context)
{
    int result = vidi__system_real.list(folder, visit, context);
    if (watched && !late_done) {
        late_done = true;
        visit(context, "log.00000000000000ff");
    }
    return result;
}

static void a_log_that_is_gone_for_good_is_an_error(void **state)
{
    vidi_set *reader = NULL;
    vidi__system hooked = vidi__system_real;
    (void)state;
    hooked.list = list_too_much;
    stock(VIDI_MANUAL_COMMIT);
    vidi__system_now = &hooked;
    watched = true;
    late_done = false;
    int code = vidi_open(&reader, shelf.path, VIDI_READ_ONLY);
    watched = false;
    vidi__system_now = &vidi__system_real;
    check(code == VIDI_OK, "%d, %s", code, vidi_message());
    vidi_close(reader);
    char path[TEST_PATH];
    must(vidi_sync(shelf.set));
    test_file_write(shelf.path, "log.00000000000000ff", "", 0);
    assert_true(vidi_open(&reader, shelf.path, VIDI_READ_ONLY) < 0);
    assert_null(reader);
    test_path(path, shelf.path, "log.00000000000000ff");
    unlink(path);
    home_end(&shelf);
}

/* ---- interrupted creation ---- */

static void must_hold_no_set(home *at, const char *what)
{
    vidi_set *set = (vidi_set *)at;
    for (unsigned flags = 0; flags <= VIDI_READ_ONLY; flags += VIDI_READ_ONLY) {
        int code = vidi_open(&set, at->path, flags);
        check(code == VIDI_EABSENT, "%s: %d, %s", what, code, vidi_message());
        assert_null(set);
        check(strstr(vidi_message(), "holds no set") != NULL, "%s: %s", what, vidi_message());
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
    assert_int_equal(vidi_open(&set, at.path, 0), VIDI_EABSENT);
    assert_int_equal(vidi_open(&set, at.path, VIDI_READ_ONLY), VIDI_EABSENT);
    test_file_write(at.above, "set", "a file", 6);
    assert_true(vidi_open(&set, at.path, 0) < 0);
    home_end(&at);

    home_make(&at, "hashset", NULL, 0); /* the log of another set, with no records */
    vidi_close(at.set);
    at.set = NULL;
    char name[TEST_PATH];
    test_path(name, at.path, "set.0000000000000001");
    unlink(name);
    must_hold_no_set(&at, "a log without a snapshot");

    static const char *const names[] = {"lock", "set.0000000000000001.new", "set.0000000000000009.new",
                                        "log.0000000000000001", "notes.txt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        home_begin(&at);
        assert_int_equal(mkdir(at.path, 0700), 0);
        test_file_write(at.path, names[i], "x", 1);
        must_hold_no_set(&at, names[i]);
    }
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
 * takes its time over that: meanwhile vidi_sync must not return.
 */
static home late;
static atomic_int sync_begins, sync_ended, ended_early;

static int failing_rename_of_snapshots(int folder, const char *from, const char *to)
{
    (void)folder;
    (void)from;
    (void)to;
    atomic_store(&sync_begins, 1);
    errno = EIO;
    return -1;
}

static int slow_fsync(int file)
{
    if (atomic_load(&sync_begins) == 1) {
        atomic_store(&sync_begins, 2);
        usleep(200000);
        atomic_store(&ended_early, atomic_load(&sync_ended));
    }
    return vidi__system_real.fsync(file);
}

static void *sync_when_told(void *unused)
{
    (void)unused;
    while (atomic_load(&sync_begins) != 2)
        usleep(1000);
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
    home_make(&late, "fingerprint", NULL, VIDI_SYNC_NEVER);
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
    home_make(&at, which->kind, which->params, VIDI_SYNC_ALWAYS);
    add_all(at.set, 0, 20, VIDI_NEW);
    test_batch_init(&urls, 40);
    test_batch_fill(&urls, test_url, 77, 0, 40); /* 20 that are there, 20 that are not */
    vidi_stats before = test_stat(at.set);
    vidi__system_now = &hooked;
    atomic_store(&sync_fails, 1);
    assert_int_equal(vidi_add_batch(at.set, urls.urls, 40, verdicts), VIDI_EIO);
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
    home_make(&at, "fingerprint", NULL, VIDI_SYNC_ALWAYS);
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
    home_make(&at, "hashset", NULL, VIDI_SYNC_ALWAYS);
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

static void *add_with_patience(void *context)
{
    uint64_t first = (uint64_t)(uintptr_t)context * 200;
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < SUFFERED; i++) {
        uint64_t index = (first + i) % SUFFERED;
        vidi_str url = nth(room, index);
        uint8_t verdict = VIDI_UNTRIED;
        for (int tries = 0; verdict == VIDI_UNTRIED && tries < 1000000; tries++) {
            int code = vidi_add_batch(sick.set, &url, 1, &verdict);
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

static void *heal_and_hurt(void *unused)
{
    (void)unused;
    while (!atomic_load(&well)) {
        usleep(1000);
        atomic_store(&sync_fails, 1);
        usleep(1000);
        atomic_store(&sync_fails, 0);
        (void)vidi_snapshot(sick.set);
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
    alarm(120);
    home_make(&sick, "fingerprint", "bits=60", VIDI_SYNC_ALWAYS);
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
    for (size_t i = 0; i < SUFFERED; i++)
        check(atomic_load(&told[i]) == 1, "URL %zu was NEW %u times", i, atomic_load(&told[i]));
    assert_int_equal(test_stat(sick.set).answered_new, SUFFERED);
    assert_int_equal(test_stat(sick.set).count, SUFFERED);
    home_reopen(&sick, 0);
    all_are(sick.set, 0, SUFFERED, VIDI_SEEN);
    home_end(&sick);
    alarm(0);
}

int main(int argc, char **argv)
{
    char name[200];
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        snprintf(name, sizeof name, "a reader is never confused: the writer %s at each call", actions[i].name);
        test_add(name, a_reader_is_never_confused, &actions[i]);
    }
    test_add("readers in the middle of a rotation find the old epoch",
             readers_in_the_middle_of_a_rotation_find_the_old_epoch, NULL);
    test_add("a reader that listed in the middle of a rotation or a snapshot looks again",
             a_reader_that_listed_in_the_middle_looks_again, NULL);
    test_add("a log that is gone for good is an error", a_log_that_is_gone_for_good_is_an_error, NULL);
    test_add("what an interrupted creation leaves can be created", what_an_interrupted_creation_leaves_can_be_created,
             NULL);
    test_add("leftovers of a creation are no set", leftovers_of_a_creation_are_no_set, NULL);
    test_add("a snapshot that fails at any call loses nothing", failures_at_every_call_lose_nothing, NULL);
    test_add("a rotation that fails at any call loses nothing", failures_at_every_call_lose_nothing, actions);
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
    return test_run("durable_races", argc, argv);
}
