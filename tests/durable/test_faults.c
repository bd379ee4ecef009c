/*
 * Durable sets on a machine that fails: the same script of operations with a fault at every call of the system and at
 * every allocation in turn, once and for ever. Nothing crashes, nothing leaks, every error has a sentence; afterwards
 * the set opens, has all that was acknowledged, and has nothing that was never committed. If the script has its errors
 * healed, vidi_snapshot brings the set back after a fault that is over, and all goes on from there.
 */
#include <errno.h>
#include <stdlib.h>

#include "durable/ledger.h"
#include "store/file.h"
#include "support/access.h"
#include "support/env.h"
#include "support/runner.h"

static test_scratch folder, left, middle;
static ledger then; /* what was promised when `middle` was left by a power failure */
static uint64_t points;

typedef struct fault {
    int error;
    uint64_t times;
    bool heals; /* the script calls vidi_snapshot after an error */
} fault;

/* EINTR for ever would be waited for for ever: it is no error, and nobody may notice it. */
static const fault faults[] = {
    {EIO, 1, true},
    {EIO, 1, false},
    {EIO, DISK_FOR_EVER, false},
    {ENOSPC, 1, true},
    {DISK_FULL, DISK_FOR_EVER, false},
    {DISK_FULL, 2, true},
    {ENOSPC, DISK_FOR_EVER, true},
    {DISK_SHORT, 1, false},
    {DISK_SHORT, DISK_FOR_EVER, false},
    {EINTR, 1, false},
    {EINTR, 3, true},
};

#define MANUAL VIDI_MANUAL_COMMIT
static const ledger_mode modes[] = {
    {"fingerprint", NULL, 0},
    {"hashset", NULL, TEST_SYNC_ALWAYS},
    {"counting", NULL, MANUAL | TEST_SYNC_NEVER},
    {"blocked", NULL, MANUAL | TEST_SYNC_ALWAYS},
    {"fingerprint", NULL, MANUAL},
    {"hashset", NULL, TEST_SYNC_NEVER},
    {"counting", NULL, TEST_SYNC_ALWAYS},
    {"blocked", NULL, TEST_SYNC_NEVER},
    {"fingerprint", NULL, TEST_SYNC_ALWAYS},
    {"hashset", NULL, MANUAL},
    {"counting", NULL, 0},
    {"blocked", NULL, MANUAL},
    {"list", NULL, TEST_SYNC_ALWAYS},
    {"multilayer", NULL, MANUAL},
    {"scalable", NULL, MANUAL | TEST_SYNC_ALWAYS},
    {"sorted", NULL, 0},
    {"fingerprint", NULL, TEST_SYNC_NEVER},
    {"hashset", NULL, MANUAL | TEST_SYNC_ALWAYS},
    {"counting", NULL, TEST_SYNC_NEVER},
    {"blocked", NULL, TEST_SYNC_ALWAYS},
    {"fingerprint", NULL, MANUAL | TEST_SYNC_ALWAYS},
    {"hashset", NULL, MANUAL | TEST_SYNC_NEVER},
    {"counting", NULL, MANUAL},
    {"blocked", NULL, 0},
    {"fingerprint", NULL, MANUAL | TEST_SYNC_NEVER},
    {"hashset", NULL, 0},
    {"counting", NULL, MANUAL | TEST_SYNC_ALWAYS},
    {"blocked", NULL, MANUAL | TEST_SYNC_NEVER},
};

/* ---- the script ---- */

typedef struct script {
    ledger of;
    bool heals;
    bool (*over)(void *); /* has it come? */
    void *context;
} script;

static bool is_over(const script *self)
{
    return self->over(self->context);
}

/* After an error: a snapshot heals the set, if the fault is over; then the same call works. */
static bool heal(script *self, int code)
{
    if (code >= 0 || !self->heals)
        return false;
    bool over = is_over(self);
    int healed = ledger_snapshot(&self->of);
    if (over)
        check(healed == VIDI_OK, "%s: the snapshot does not heal: %s", self->of.what, vidi_message());
    return over && healed == VIDI_OK;
}

static void must(const script *self, const char *what, int code)
{
    check(code >= 0, "%s: %s fails after it was healed: %s", self->of.what, what, vidi_message());
}

static void add_some(script *self, size_t singles, size_t batch)
{
    ledger *of = &self->of;
    for (size_t i = 0; i < singles; i++, of->next++)
        if (heal(self, ledger_add(of, of->next)))
            must(self, "vidi_add", ledger_add(of, of->next));
    if (heal(self, ledger_add_batch(of, of->next, batch)))
        must(self, "vidi_add_batch", ledger_add_batch(of, of->next, batch));
    of->next += batch;
}

static void commit(script *self)
{
    if (heal(self, ledger_commit(&self->of)))
        must(self, "vidi_commit", ledger_commit(&self->of));
}

static void sync_set(script *self)
{
    if (heal(self, ledger_sync(&self->of)))
        must(self, "vidi_sync", ledger_sync(&self->of));
}

static void snapshot(script *self)
{
    if (heal(self, ledger_snapshot(&self->of)))
        must(self, "vidi_snapshot", ledger_snapshot(&self->of));
}

static void rotate(script *self, bool keep)
{
    if (heal(self, ledger_rotate(&self->of, keep)))
        must(self, "vidi_rotate", ledger_rotate(&self->of, keep));
}

static void merge(script *self)
{
    ledger *of = &self->of;
    vidi_stats stats = {.size = sizeof stats};
    if (vidi_stat(of->set, &stats) != VIDI_OK || !(stats.can & VIDI_CAN_MERGE))
        return;
    size_t first = of->next;
    of->next += 5;
    if (heal(self, ledger_merge(of, first, 5)))
        must(self, "vidi_merge", ledger_merge(of, first, 5));
}

static void remove_one(script *self, size_t i)
{
    vidi_stats stats = {.size = sizeof stats};
    if (vidi_stat(self->of.set, &stats) != VIDI_OK || !(stats.can & VIDI_CAN_DELETE) ||
        self->of.urls[i].live != VIDI_SEEN || self->of.urls[i].vague)
        return;
    if (heal(self, ledger_remove(&self->of, i)))
        must(self, "vidi_remove", ledger_remove(&self->of, i));
}

/* Twice, if need be: after a fault that is over the second must work. */
static bool create(script *self)
{
    ledger *of = &self->of;
    if (ledger_create(of) == VIDI_OK)
        return true;
    bool over = is_over(self);
    int code = ledger_create(of);
    if (code == VIDI_EEXIST && strstr(vidi_message(), "already")) { /* it was made, but not known to be on disk */
        code = ledger_open(of);
        of->created |= code == VIDI_OK;
    }
    if (over)
        must(self, "vidi_create", code);
    return code == VIDI_OK;
}

static bool reopen(script *self)
{
    ledger *of = &self->of;
    ledger_check_live(of);
    if (!then.mode) { /* the power fails before the first process ends; looked at when the faults are off */
        disk_crash_state(0, &middle);
        then = *of;
    }
    ledger_close(of);
    of->tainted |= disk_failed() > 0;
    if (ledger_open(of) == VIDI_OK)
        return true;
    bool over = is_over(self);
    int code = ledger_open(of);
    if (over)
        must(self, "vidi_open", code);
    return code == VIDI_OK;
}

static void look(script *self, unsigned flags)
{
    vidi_set *set;
    ledger *of = &self->of;
    int code = ledger_note(of, "vidi_open", ledger_open_any(of, of->folder->path, VIDI_READ_ONLY | flags, &set));
    if (code < 0)
        return;
    for (size_t i = 0; i < LEDGER_URLS; i++) {
        int verdict = vidi_has(set, ledger_str(i));
        if (verdict > 0 && ledger_epoch(set) == of->epoch)
            check(ledger_allows(of->urls[i].can, verdict), "%s, read: URL %zu is %d", of->what, i, verdict);
    }
    vidi_close(set);
}

/* Faults are on from here to the end. */
static void run(script *self)
{
    ledger *of = &self->of;
    if (!create(self))
        return;
    add_some(self, 3, 20);
    commit(self);
    sync_set(self);
    remove_one(self, 1);
    add_some(self, 1, 3);
    commit(self);
    snapshot(self);
    remove_one(self, 2);
    add_some(self, 1, 3); /* staged while a snapshot is taken, if commits are ours */
    snapshot(self);
    commit(self);
    merge(self);
    rotate(self, false);
    add_some(self, 2, 17);
    commit(self);
    if (!reopen(self))
        return;
    add_some(self, 2, 2);
    commit(self);
    sync_set(self);
    rotate(self, true);
    add_some(self, 2, 2);
    commit(self);
    look(self, 0);
    look(self, VIDI_NO_MAP);
    snapshot(self);
    add_some(self, 1, 1);
    if (!reopen(self))
        return;
    rotate(self, true);
    add_some(self, 1, 1);
    commit(self);
    sync_set(self);
    ledger_drop_previous(of);
    add_some(self, 1, 1);
    commit(self);
    sync_set(self);
    ledger_check_live(of);
    ledger_close(of);
}

/* ---- one point ---- */

/* The set takes more, and has it after another opening. */
static void check_goes_on(ledger *of)
{
    if (ledger_open(of) != VIDI_OK) {
        check(!of->created, "%s: %s", of->what, vidi_message());
        test_scratch_empty(of->folder);
        assert_int_equal(ledger_create(of), VIDI_OK);
    }
    ledger_check_found(of, of->set, "for writing");
    of->tainted = false;
    size_t last = LEDGER_URLS - 1;
    check(ledger_add(of, last) == VIDI_NEW && ledger_commit(of) == VIDI_OK && ledger_sync(of) == VIDI_OK,
          "%s: it does not go on: %s", of->what, vidi_message());
    ledger_close(of);
    ledger_check_folder(of, of->folder->path, VIDI_READ_ONLY, "going on");
}

static bool disk_is_over(void *context)
{
    const fault *what = context;
    return what->times != DISK_FOR_EVER && disk_failed() >= what->times;
}

static bool allocator_is_over(void *context)
{
    test_allocator *allocator = context;
    return !allocator->fail_on && test_allocator_refused(allocator) > 0;
}

/* A fault of the disk (`what`) or of memory (NULL) at the n-th call; false if there were not so many. */
static bool try_point(const ledger_mode *mode, const fault *what, bool on, uint64_t n)
{
    static script self;
    char name[160];
    test_allocator allocator;
    snprintf(name, sizeof name, "%s, flags %u, error %d × %lld%s, %s %lld", mode->kind, mode->flags,
             what ? what->error : ENOMEM,
             what ? (long long)what->times
             : on ? -1
                  : 1,
             what && what->heals ? ", healed" : "", what ? "call" : "allocation", (long long)n);
    test_scratch_empty(&folder);
    size_t open_files = test_open_files();
    test_allocator_init(&allocator);
    ledger_begin(&self.of, mode, &allocator, &folder, name);
    self.of.cause = what && what->error > 0 ? strerror(what->error) : NULL;
    self.heals = what ? what->heals : !on;
    self.over = what ? disk_is_over : allocator_is_over;
    self.context = what ? (void *)(uintptr_t)what : &allocator;
    then.mode = NULL;
    disk_begin(&folder);
    if (what)
        disk_fail(DISK_ANY, n, what->error, what->times);
    else
        test_allocator_fail(&allocator, n, on);
    run(&self);
    vidi_close(self.of.set);
    self.of.set = NULL;
    uint64_t hit = what ? disk_failed() : test_allocator_refused(&allocator);
    bool more = what ? n <= disk_calls(DISK_ANY) : hit > 0;
    if (!hit || (what && (what->error == DISK_SHORT || what->error == EINTR))) /* calls are continued, or repeated */
        check(self.of.errors == 0, "%s: an error without a cause: %s", name, vidi_message());
    self.of.cause = then.cause = NULL;
    disk_fail(DISK_ANY, 0, 0, 0);
    test_allocator_fail(&allocator, 0, false);
    if (then.mode)
        ledger_check_folder(&then, middle.path, n % 2 ? VIDI_READ_ONLY : mode->flags, "power failure before the end");
    if (!self.of.tainted) {
        disk_crash_state(0, &left);
        ledger_check_folder(&self.of, left.path, n % 2 ? mode->flags : VIDI_READ_ONLY, "after a power failure");
    }
    ledger_check_folder(&self.of, folder.path, VIDI_READ_ONLY, "mapped");
    ledger_check_folder(&self.of, folder.path, VIDI_READ_ONLY | VIDI_NO_MAP, "loaded");
    check_goes_on(&self.of);
    disk_end();
    check(test_open_files() == open_files, "%s: files stay open", name);
    test_allocator_finish(&allocator);
    points += hit > 0;
    return more;
}

/*
 * In the long run each fault meets all modes, at every index. In `make test` it meets some of them, at every sixth index,
 * and under the sanitizers one, at every fifteenth, beginning at another index for each fault.
 */
static void a_fault_of_the_disk_loses_nothing(void **state)
{
    (void)state;
    uint64_t before = points;
    size_t stride = test_long() ? 1 : test_sanitized() ? 28 : 14;
    size_t step = test_long() ? 1 : test_sanitized() ? 15 : 6;
    for (size_t i = 0; i < VIDI__COUNT(faults); i++)
        for (size_t k = i % stride; k < VIDI__COUNT(modes); k += stride)
            for (uint64_t n = 1 + i % step; try_point(&modes[k], &faults[i], false, n);)
                n += step;
    print_message("# %d points, disk\n", (int)(points - before));
    assert_true(test_sanitized() || points - before >= 1250);
}

static void a_want_of_memory_loses_nothing(void **state)
{
    (void)state;
    uint64_t before = points;
    size_t stride = test_long() ? 1 : test_sanitized() ? 28 : 14;
    size_t step = test_long() ? 1 : test_sanitized() ? 5 : 3;
    for (int on = 0; on < 2; on++)
        for (size_t k = (size_t)on; k < VIDI__COUNT(modes); k += stride)
            for (uint64_t n = 1 + k % step; try_point(&modes[k], NULL, on, n);)
                n += step;
    print_message("# %d points, memory; %d in all\n", (int)(points - before), (int)points);
    assert_true(test_sanitized() || points >= 2000);
}

/* ---- a log that has failed ---- */

/* A failed log stays failed until a snapshot; then everything that was in memory is on disk. */
static void a_snapshot_heals_a_log_that_has_failed(void **state)
{
    (void)state;
    static ledger of;
    for (size_t k = 0; k < VIDI__COUNT(modes); k++) {
        test_scratch_empty(&folder);
        disk_begin(&folder);
        ledger_begin(&of, &modes[k], NULL, &folder, modes[k].kind);
        assert_int_equal(ledger_create(&of), VIDI_OK);
        assert_int_equal(ledger_add_batch(&of, 0, 20), VIDI_OK);
        assert_int_equal(ledger_commit(&of), VIDI_OK);
        disk_fail(DISK_FSYNC, 1, EIO, 1);
        if (ledger_is_always(&of) && !ledger_is_manual(&of)) {
            assert_int_equal(ledger_add(&of, 20), VIDI_EIO);
        } else {
            assert_int_equal(ledger_add(&of, 20), VIDI_NEW);
            (void)ledger_commit(&of);
        }
        assert_int_equal(ledger_sync(&of), VIDI_EIO);
        assert_int_equal(disk_failed(), 1);
        assert_int_equal(ledger_sync(&of), VIDI_EIO); /* a failed sync is not repeated */
        if (!ledger_is_manual(&of))
            assert_int_equal(ledger_add(&of, 21), VIDI_EIO);
        assert_int_equal(ledger_snapshot(&of), VIDI_OK);
        assert_int_equal(ledger_commit(&of), VIDI_OK);
        assert_int_equal(ledger_sync(&of), VIDI_OK);
        assert_int_equal(ledger_add(&of, 22), VIDI_NEW);
        assert_int_equal(ledger_commit(&of), VIDI_OK);
        assert_int_equal(ledger_sync(&of), VIDI_OK);
        ledger_check_live(&of);
        disk_crash_state(0, &left);
        ledger_check_folder(&of, left.path, VIDI_READ_ONLY, "healed");
        ledger_close(&of);
        disk_end();
        ledger_check_folder(&of, folder.path, VIDI_READ_ONLY, "healed and closed");
    }
}

int main(int argc, char **argv)
{
    test_scratch_make(&folder);
    test_scratch_make(&left);
    test_scratch_make(&middle);
    test_add("a snapshot heals a log that has failed", a_snapshot_heals_a_log_that_has_failed, NULL);
    test_add("a fault of the disk loses nothing", a_fault_of_the_disk_loses_nothing, NULL);
    test_add("a want of memory loses nothing", a_want_of_memory_loses_nothing, NULL);
    int result = test_run("set/faults", argc, argv);
    test_scratch_remove(&middle);
    test_scratch_remove(&left);
    test_scratch_remove(&folder);
    return result;
}
