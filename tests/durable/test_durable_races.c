/*
 * Readers that open a set while its writer does something, at every single call that opening makes to the operating
 * system.
 *
 * All of it through store/file.h's table of system calls, so that each race happens for certain.
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

static int hooked_stat(int file, vidi__file_state *state)
{
    count_call();
    return vidi__system_real.stat(file, state);
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
    hooked.stat = hooked_stat;
    hooked.map = hooked_map;
    hooked.list = hooked_list;
    for (int variant = 0; variant < 4; variant++) {
        for (act_at = 1;; act_at++) {
            stock(VIDI_MANUAL_COMMIT | (variant & 1 ? TEST_KEEP_PREVIOUS : 0));
            vidi_set *reader = NULL;
            uint64_t epoch = shelf_epoch, urls = shelf_urls;
            calls = 0;
            act = which->act;
            vidi__system_now = &hooked;
            watched = true;
            int code = test_open(&reader, shelf.path, ways[variant >> 1]);
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
        late_code = test_open(&late_reader, shelf.path, VIDI_READ_ONLY);
    }
    return vidi__system_real.rename(folder, from, to);
}

static void readers_in_the_middle_of_a_rotation_find_the_old_epoch(void **state)
{
    vidi__system hooked = vidi__system_real;
    (void)state;
    hooked.rename = rename_after_reading;
    stock(VIDI_MANUAL_COMMIT | TEST_KEEP_PREVIOUS);
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
    while (!atomic_load(&listed))
        sched_yield();
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
        sched_yield();
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
        stock(VIDI_MANUAL_COMMIT | (i % 2 ? TEST_KEEP_PREVIOUS : 0));
        uint64_t epoch = shelf_epoch, urls = shelf_urls;
        beside = deeds[i / 2 % 3];
        logs_before = i / 6;
        atomic_store(&middle, 0);
        atomic_store(&listed, 0);
        vidi__system_now = &hooked;
        watched = true;
        int code = test_open(&reader, shelf.path, VIDI_READ_ONLY);
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
    int code = test_open(&reader, shelf.path, VIDI_READ_ONLY);
    watched = false;
    vidi__system_now = &vidi__system_real;
    check(code == VIDI_OK, "%d, %s", code, vidi_message());
    vidi_close(reader);
    char path[TEST_PATH];
    must(vidi_sync(shelf.set));
    test_file_write(shelf.path, "log.00000000000000ff", "", 0);
    assert_true(test_open(&reader, shelf.path, VIDI_READ_ONLY) < 0);
    assert_null(reader);
    test_path(path, shelf.path, "log.00000000000000ff");
    unlink(path);
    home_end(&shelf);
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
    return test_run("durable_races", argc, argv);
}
