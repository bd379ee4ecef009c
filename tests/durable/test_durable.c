/*
 * Sets that live in a folder: what is committed is there when the set is opened again, what is not is forgotten and
 * answered NEW again; in between, a set answers as one in memory does. A crash is simulated by a copy of the folder while
 * the set is open.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "durable/durable_cases.h"
#include "support/access.h"
#include "support/clock.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/streams.h"

static bool is_manual(unsigned flags)
{
    return flags & VIDI_MANUAL_COMMIT;
}

/* ---- a model ---- */

enum { URLS = 120, MOST_TIMES = 10, STEPS = 250 };

/* How often each URL is in the set, and would be after a crash. */
typedef struct model {
    home at;
    unsigned flags;
    uint32_t can;
    bool every_add;
    uint64_t now[URLS], committed[URLS];
    test_random random;
    const char *name;
    int step;
} model;

static void commit_model(model *self)
{
    memcpy(self->committed, self->now, sizeof self->now);
}

static void model_add(model *self, size_t n)
{
    static char arena[64][TEST_URL_ROOM];
    vidi_str urls[64];
    size_t index[64];
    uint8_t verdicts[64];
    for (size_t i = 0; i < n; i++) {
        index[i] = test_below(&self->random, URLS);
        while (self->now[index[i]] + n > MOST_TIMES && self->every_add && self->now[index[i]])
            index[i] = (index[i] + 1) % URLS;
        urls[i] = nth(arena[i], index[i]);
    }
    must(vidi_add_batch(self->at.set, urls, n, verdicts, NULL));
    for (size_t i = 0; i < n; i++) {
        uint64_t *times = &self->now[index[i]];
        uint8_t right = *times ? VIDI_SEEN : VIDI_NEW;
        check(verdicts[i] == right, "%s, step %d: URL %zu is %u and was added as %u", self->name, self->step, index[i],
              right, verdicts[i]);
        if (right == VIDI_NEW || self->every_add)
            (*times)++;
    }
}

static void model_remove(model *self)
{
    size_t index = test_below(&self->random, URLS);
    if (!(self->can & VIDI_CAN_DELETE))
        return;
    int result = remove_nth(self->at.set, index);
    check(result == (self->now[index] ? VIDI_OK : VIDI_EABSENT),
          "%s, step %d: removing what is there %llu times: %d, %s", self->name, self->step,
          (unsigned long long)self->now[index], result, vidi_message());
    self->now[index] -= self->now[index] > 0;
}

static void must_equal(const model *self, const vidi_set *set, const uint64_t *times, const char *when)
{
    for (size_t i = 0; i < URLS; i++) {
        int verdict = has_nth(set, i);
        check(verdict == (times[i] ? VIDI_SEEN : VIDI_NEW), "%s, step %d, %s: URL %zu is there %llu times, verdict %d",
              self->name, self->step, when, i, (unsigned long long)times[i], verdict);
        if (self->can & VIDI_CAN_COUNT) {
            uint64_t got = times_nth(set, i);
            check(got == times[i], "%s, step %d, %s: URL %zu: count %llu, not %llu", self->name, self->step, when, i,
                  (unsigned long long)got, (unsigned long long)times[i]);
        }
    }
}

static void model_step(model *self)
{
    static const unsigned ways[] = {0, VIDI_READ_ONLY, VIDI_READ_ONLY | VIDI_NO_MAP};
    vidi_set *copy;
    unsigned way;
    switch (test_below(&self->random, 24)) {
    case 0:
        must(vidi_snapshot(self->at.set));
        break;
    case 1:
        must(vidi_sync(self->at.set));
        way = ways[test_below(&self->random, 3)];
        copy = home_crashed(&self->at, way);
        must_equal(self, copy, self->committed, way & VIDI_READ_ONLY ? "read after a crash" : "after a crash");
        vidi_close(copy);
        break;
    case 2:
        home_reopen(&self->at, self->flags);
        memcpy(self->now, self->committed, sizeof self->now);
        must_equal(self, self->at.set, self->now, "reopened");
        break;
    case 3:
        must_equal(self, self->at.set, self->now, "now");
        break;
    case 4:
    case 5:
    case 6:
        must(vidi_commit(self->at.set));
        commit_model(self);
        break;
    case 7:
    case 8:
    case 9:
    case 10:
        model_remove(self);
        break;
    default:
        model_add(self, test_below(&self->random, 3) ? 1 : 1 + test_below(&self->random, 8));
    }
    if (!is_manual(self->flags))
        commit_model(self);
}

static void it_is_as_in_memory_and_after_a_crash_as_committed(void **state)
{
    const test_case *which = *state;
    for (size_t mode = 0; mode < TEST_MODES; mode++) {
        test_options made;
        model self = {.flags = test_modes[mode].flags, .random = {mode + 7}, .name = test_modes[mode].name};
        test_case_options(&made, which, ROOMY, 1);
        made.options.error = which->traits & TEST_EXACT ? 0 : 1e-9;
        if (which->params && (strstr(which->params, "M=") || strstr(which->params, "m=")))
            made.options.error = 0;
        made.options.capacity = made.options.capacity ? made.options.capacity : which->traits & TEST_EXACT ? 0 : ROOMY;
        self.every_add = which->traits & TEST_MULTISET;
        home_begin(&self.at);
        home_create(&self.at, &made.options, self.flags);
        self.can = test_stat(self.at.set).can;
        for (self.step = 0; self.step < STEPS; self.step++)
            model_step(&self);
        home_end(&self.at);
    }
}

/* ---- the promises one by one ---- */

static void what_was_not_committed_is_new_again(void **state)
{
    const test_case *which = *state;
    test_options made;
    home at;
    test_case_options(&made, which, ROOMY, 1);
    for (unsigned flags = 0; flags <= TEST_SYNC_NEVER; flags += TEST_SYNC_ALWAYS) {
        home_begin(&at);
        home_create(&at, &made.options, flags | VIDI_MANUAL_COMMIT);
        add_all(at.set, 0, 20, VIDI_NEW);
        must(vidi_commit(at.set));
        add_all(at.set, 20, 20, VIDI_NEW);
        add_all(at.set, 0, 40, VIDI_SEEN); /* in the same epoch, before and behind the commit */
        assert_int_equal(test_stat(at.set).count >= 40, 1);
        home_reopen(&at, flags | VIDI_MANUAL_COMMIT);
        all_are(at.set, 0, 20, VIDI_SEEN);
        all_are(at.set, 20, 20, VIDI_NEW);
        add_all(at.set, 20, 20, VIDI_NEW);
        must(vidi_commit(at.set));
        home_reopen(&at, 0);
        all_are(at.set, 0, 40, VIDI_SEEN);
        all_are(at.set, 40, 20, VIDI_NEW);
        home_end(&at);
    }
}

/* A snapshot in the middle of staged adds has what is committed, and nothing else. */
static void a_snapshot_holds_committed_urls_only(void **state)
{
    const test_case *which = *state;
    static const unsigned ways[] = {0, VIDI_READ_ONLY, VIDI_READ_ONLY | VIDI_NO_MAP};
    test_options made;
    home at;
    test_case_options(&made, which, ROOMY, 1);
    home_begin(&at);
    home_create(&at, &made.options, VIDI_MANUAL_COMMIT);
    for (uint64_t round = 0; round < 3; round++) {
        uint64_t first = 60 * round;
        add_all(at.set, first, 20, VIDI_NEW);
        must(vidi_commit(at.set));
        add_all(at.set, first + 20, 20, VIDI_NEW);
        must(vidi_snapshot(at.set));
        add_all(at.set, first + 40, 20, VIDI_NEW);
        all_are(at.set, 0, first + 60, VIDI_SEEN);
        for (size_t i = 0; i < 3; i++) {
            vidi_set *copy = home_crashed(&at, ways[i]);
            all_are(copy, 0, first + 20, VIDI_SEEN);
            all_are(copy, first + 20, 40, VIDI_NEW);
            must(vidi_verify(copy));
            vidi_close(copy);
        }
        must(vidi_commit(at.set));
    }
    must(vidi_sync(at.set));
    vidi_set *copy = home_crashed(&at, 0);
    all_are(copy, 0, 180, VIDI_SEEN);
    vidi_close(copy);
    home_end(&at);
}

/* With SYNC_ALWAYS nobody need sync, with the others somebody must. */
static void always_is_on_disk_when_the_call_returns(void **state)
{
    home at;
    (void)state;
    for (int manual = 0; manual < 2; manual++) {
        home_make(&at, "fingerprint", NULL, TEST_SYNC_ALWAYS | (manual ? VIDI_MANUAL_COMMIT : 0));
        for (uint64_t i = 0; i < 10; i++) {
            add_all(at.set, 10 * i, 10, VIDI_NEW);
            must(vidi_commit(at.set));
            vidi_set *copy = home_crashed(&at, VIDI_READ_ONLY);
            all_are(copy, 0, 10 * i + 10, VIDI_SEEN);
            vidi_close(copy);
        }
        home_end(&at);
    }
}

static void once_a_second_is_on_disk_after_a_second(void **state)
{
    static home homes[2];
    (void)state;
    test_clock_begin();
    uint64_t start = test_clock_now();
    for (int manual = 0; manual < 2; manual++) {
        home_make(&homes[manual], "fingerprint", NULL, manual ? VIDI_MANUAL_COMMIT : 0);
        add_all(homes[manual].set, 0, 10, VIDI_NEW);
        must(vidi_commit(homes[manual].set));
        add_all(homes[manual].set, 10, 10, VIDI_NEW);
    }
    test_clock_await(start + 100 * TEST_MS, 2); /* both logs are waiting to be written */
    test_clock_forward(TEST_SECOND);
    test_clock_await(VIDI__NEVER, 2); /* and have done all they will */
    for (int manual = 0; manual < 2; manual++) {
        vidi_set *copy = home_crashed(&homes[manual], VIDI_READ_ONLY);
        all_are(copy, 0, 10, VIDI_SEEN);
        all_are(copy, 10, 10, manual ? VIDI_NEW : VIDI_SEEN);
        vidi_close(copy);
        home_end(&homes[manual]);
    }
    test_clock_end();
}

/* ---- statistics ---- */

static void must_be_like(const vidi_stats *got, const vidi_stats *wanted, const char *when)
{
    const uint64_t pairs[][2] = {{got->count, wanted->count},
                                 {got->answered_new, wanted->answered_new},
                                 {got->answered_seen, wanted->answered_seen},
                                 {got->answered_invalid, wanted->answered_invalid},
                                 {got->removed, wanted->removed},
                                 {got->epoch, wanted->epoch},
                                 {got->capacity, wanted->capacity},
                                 {got->can, wanted->can}};
    static const char *names[] = {"count",   "answered_new", "answered_seen", "answered_invalid",
                                  "removed", "epoch",        "capacity",      "can"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        check(pairs[i][0] == pairs[i][1], "%s: %s is %llu, not %llu", when, names[i], (unsigned long long)pairs[i][0],
              (unsigned long long)pairs[i][1]);
    check(fabs(got->expected_lost - wanted->expected_lost) <= 1e-9 + 1e-6 * wanted->expected_lost,
          "%s: expected_lost is %g, not %g", when, got->expected_lost, wanted->expected_lost);
    assert_string_equal(got->params, wanted->params);
}

/* The same adds to a set in memory. Half full, so that there are losses to speak of. */
static void statistics_are_those_of_a_set_in_memory_and_survive(void **state)
{
    const test_case *which = *state;
    for (size_t mode = 0; mode < TEST_MODES; mode++) {
        unsigned flags = test_modes[mode].flags;
        uint64_t n = test_case_few(which, 1500);
        test_options made;
        home at;
        test_case_options(&made, which, 2 * n, 1);
        vidi_set *twin = test_case_set(which, 2 * n, 1, NULL);
        home_begin(&at);
        home_create(&at, &made.options, flags);
        bool removes = test_stat(twin).can & VIDI_CAN_DELETE;
        for (uint64_t i = 0; i < n; i++) { /* every fifth twice; now and then not a URL */
            for (int again = 0; again < (i % 5 == 0 ? 2 : 1); again++)
                assert_int_equal(add_nth(at.set, i) > 0, add_nth(twin, i) > 0);
            if (i % 400 == 399) {
                assert_int_equal(vidi_add(at.set, test_str("http://a b/")), vidi_add(twin, test_str("http://a b/")));
                must(vidi_commit(at.set));
            }
            if (i % 500 == 499 && removes)
                assert_int_equal(remove_nth(at.set, i - 3), remove_nth(twin, i - 3));
        }
        vidi_stats wanted = test_stat(twin), before = test_stat(at.set);
        /* A filter may take one staged URL for another; answers then differ by what it loses. */
        if (which->traits & TEST_EXACT &&
            !(which->traits & TEST_MULTISET)) /* of a multiset every staged add is counted */
            must_be_like(&before, &wanted, "before");
        must(vidi_commit(at.set));
        before = test_stat(at.set);
        assert_int_equal(before.staged, 0);
        check(before.count + 20 + n / 50 >= wanted.count && before.count <= wanted.count + 20 + n / 50,
              "%s: the count is %llu, and that of a twin in memory %llu", test_modes[mode].name,
              (unsigned long long)before.count, (unsigned long long)wanted.count);
        home_reopen(&at, flags);
        vidi_stats after = test_stat(at.set);
        char when[100];
        snprintf(when, sizeof when, "%s, reopened", test_modes[mode].name);
        must_be_like(&after, &before, when);
        must(vidi_snapshot(at.set));
        home_reopen(&at, flags);
        after = test_stat(at.set);
        snprintf(when, sizeof when, "%s, reopened behind a snapshot", test_modes[mode].name);
        must_be_like(&after, &before, when);
        vidi_close(twin);
        home_end(&at);
    }
}

static void answers_after_the_last_commit_are_counted_too(void **state)
{
    home at;
    (void)state;
    for (size_t mode = 0; mode < TEST_MODES; mode++) {
        home_make(&at, "fingerprint", NULL, test_modes[mode].flags);
        add_all(at.set, 0, 100, VIDI_NEW);
        must(vidi_commit(at.set));
        add_all(at.set, 0, 100, VIDI_SEEN);
        must(vidi_commit(at.set));
        home_reopen(&at, test_modes[mode].flags);
        vidi_stats stats = test_stat(at.set);
        check(stats.answered_new == 100 && stats.answered_seen == 100, "%s: %llu NEW and %llu SEEN survive",
              test_modes[mode].name, (unsigned long long)stats.answered_new, (unsigned long long)stats.answered_seen);
        home_end(&at);
    }
}

static void recovery_tells_what_it_found(void **state)
{
    home at;
    vidi_recovery found = {.size = sizeof found};
    (void)state;
    home_make(&at, "hashset", NULL, VIDI_MANUAL_COMMIT);
    must(vidi_recovered(at.set, &found));
    assert_int_equal(found.records, 0);
    add_all(at.set, 0, 300, VIDI_NEW);
    must(vidi_commit(at.set));
    home_reopen(&at, 0);
    must(vidi_recovered(at.set, &found));
    assert_int_equal(found.logs, 1);
    assert_int_equal(found.urls, 300);
    assert_int_equal(found.unfinished_bytes, 0);
    assert_int_equal(found.damaged_bytes, 0);
    must(vidi_snapshot(at.set));
    home_reopen(&at, 0);
    must(vidi_recovered(at.set, &found));
    assert_int_equal(found.records, 0);
    home_end(&at);
}

/* ---- who may ---- */

static void the_second_writer_is_refused_and_told_who_has_it(void **state)
{
    home at;
    vidi_set *second = (vidi_set *)&at;
    char pid[32];
    (void)state;
    home_make(&at, "fingerprint", NULL, 0);
    add_all(at.set, 0, 10, VIDI_NEW);
    snprintf(pid, sizeof pid, "process %ld", (long)getpid());
    assert_int_equal(vidi_open(&second, at.path, NULL), VIDI_EBUSY);
    assert_null(second);
    check(strstr(vidi_message(), pid) != NULL, "who? %s", vidi_message());
    vidi_options options = VIDI_OPTIONS_INIT;
    options.path = at.path;
    assert_int_equal(vidi_create(&second, &options), VIDI_EEXIST);
    add_all(at.set, 10, 10, VIDI_NEW); /* the first has not noticed */
    must(vidi_sync(at.set));
    vidi_set *readers[3];
    for (size_t i = 0; i < 3; i++) {
        readers[i] = must_open(at.path, i == 2 ? VIDI_READ_ONLY | VIDI_NO_MAP : VIDI_READ_ONLY);
        all_are(readers[i], 0, 20, VIDI_SEEN);
    }
    add_all(at.set, 20, 10, VIDI_NEW);
    must(vidi_snapshot(at.set)); /* removes the file that they have mapped */
    must(vidi_rotate(at.set, NULL));
    for (size_t i = 0; i < 3; i++) {
        all_are(readers[i], 0, 20, VIDI_SEEN);
        all_are(readers[i], 20, 10, VIDI_NEW); /* as it was when it was opened */
        must(vidi_verify(readers[i]));
        assert_int_equal(add_nth(readers[i], 99), VIDI_ECANNOT);
        assert_int_equal(remove_nth(readers[i], 0), VIDI_ECANNOT);
        assert_int_equal(vidi_rotate(readers[i], NULL), VIDI_ECANNOT);
        assert_int_equal(vidi_snapshot(readers[i]), VIDI_ECANNOT);
        assert_int_equal(vidi_drop_previous(readers[i]), VIDI_ECANNOT);
        assert_int_equal(vidi_merge(readers[i], at.set, 0), VIDI_ECANNOT);
        assert_int_equal(test_step(readers[i], 1000), VIDI_ECANNOT);
        must(vidi_commit(readers[i]));
        must(vidi_sync(readers[i]));
        vidi_close(readers[i]);
    }
    vidi_close(at.set);
    at.set = NULL;
    assert_int_equal(vidi_create(&second, &options), VIDI_EEXIST); /* there is one */
    check(strstr(vidi_message(), "already") != NULL, "%s", vidi_message());
    at.set = must_open(at.path, 0);
    home_end(&at);
}

static unsigned mode_of(const char *folder, const char *name)
{
    char path[TEST_PATH];
    struct stat is;
    test_path(path, folder, name);
    assert_int_equal(stat(path, &is), 0);
    return is.st_mode & 07777;
}

static void files_are_the_owners_alone(void **state)
{
    static const mode_t masks[] = {0, 022, 077};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        home at;
        mode_t old = umask(masks[i]);
        home_make(&at, "hashset", NULL, TEST_KEEP_PREVIOUS);
        add_all(at.set, 0, 10, VIDI_NEW);
        must(vidi_snapshot(at.set));
        must(vidi_rotate(at.set, NULL));
        umask(old);
        assert_int_equal(mode_of(at.path, "."), 0700);
        assert_int_equal(mode_of(at.path, "lock"), 0600);
        assert_int_equal(mode_of(at.path, "set.0000000000000002"), 0600);
        assert_int_equal(mode_of(at.path, "log.0000000000000002"), 0600);
        assert_int_equal(mode_of(at.path, "set.0000000000000003"), 0600);
        assert_int_equal(mode_of(at.path, "log.0000000000000003"), 0600);
        home_end(&at);
    }
}

static void flags_that_make_no_sense_are_refused(void **state)
{
    home at;
    vidi_set *set = NULL;
    (void)state;
    home_make(&at, "hashset", NULL, 0);
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    options.path = at.copy;
    options.access = &access;
    access.sync = VIDI_SYNC_NEVER + 1;
    assert_int_equal(vidi_create(&set, &options), VIDI_EOPTION);
    assert_int_equal(vidi_open(&set, at.path, &access), VIDI_EOPTION);
    test_use(&options, &access, VIDI_READ_ONLY);
    assert_int_equal(vidi_create(&set, &options), VIDI_EOPTION);
    vidi_close(at.set);
    at.set = NULL;
    assert_int_equal(test_open(&set, at.path, VIDI_TOUCH_LATER << 1), VIDI_EOPTION);
    assert_int_equal(test_open(&set, at.path, 1u << 20), VIDI_EOPTION);
    home_end(&at);
}

static void bytes_at_null_are_refused(void **state)
{
    static const char *const kinds[] = {"fingerprint", "hashset"};
    (void)state;
    for (size_t i = 0; i < 2 * TEST_MODES; i++) {
        home at;
        vidi_options options = VIDI_OPTIONS_INIT;
        char room[TEST_URL_ROOM];
        uint8_t verdicts[2] = {VIDI_NEW, VIDI_NEW};
        options.kind = kinds[i % 2];
        options.canon = "none";
        home_begin(&at);
        home_create(&at, &options, test_modes[i / 2].flags);
        vidi_str urls[2] = {nth(room, 0), {NULL, 5}};
        assert_int_equal(vidi_add_batch(at.set, urls, 2, verdicts, NULL), VIDI_EARGUMENT);
        assert_int_equal(verdicts[0], VIDI_NEW); /* what comes before it is dealt with */
        assert_int_equal(verdicts[1], VIDI_UNTRIED);
        assert_int_equal(vidi_add(at.set, urls[0]), VIDI_SEEN);
        assert_int_equal(vidi_has(at.set, urls[1]), VIDI_EARGUMENT);
        home_end(&at);
    }
}

static uint64_t memory_of(const vidi_set *set)
{
    vidi_stats stats = {.size = sizeof stats};
    must(vidi_stat(set, &stats));
    return stats.memory_bytes;
}

/* What waits for a commit has an index that grows with it; later on it is given back, and nothing that waits with it. */
static void memory_of_a_large_commit_is_given_back(void **state)
{
    enum { MANY = 100000, FEW = 100 };
    home at;
    uint64_t mark;
    (void)state;
    home_make(&at, "fingerprint", NULL, VIDI_MANUAL_COMMIT);
    add_all(at.set, 0, MANY, VIDI_NEW);
    must(vidi_commit(at.set));
    uint64_t before = memory_of(at.set);
    add_all(at.set, MANY, FEW, VIDI_NEW);
    must(vidi_mark(at.set, &mark));
    add_all(at.set, MANY + FEW, FEW, VIDI_NEW);
    must(vidi_commit_to(at.set, mark));
    check(memory_of(at.set) < before, "%llu bytes, and %llu before", (unsigned long long)memory_of(at.set),
          (unsigned long long)before);
    add_all(at.set, MANY, 2 * FEW, VIDI_SEEN);
    must(vidi_sync(at.set));
    vidi_set *found = home_crashed(&at, VIDI_READ_ONLY);
    assert_int_equal(has_nth(found, MANY + FEW - 1), VIDI_SEEN);
    assert_int_equal(has_nth(found, MANY + FEW), VIDI_NEW);
    vidi_close(found);
    must(vidi_commit(at.set));
    add_all(at.set, 0, MANY + 2 * FEW, VIDI_SEEN);
    home_end(&at);
}

int main(int argc, char **argv)
{
    test_add_cases("a set in a folder is as one in memory, and after a crash as it was committed",
                   it_is_as_in_memory_and_after_a_crash_as_committed, is_modelled);
    test_add_cases("what was not committed is new again", what_was_not_committed_is_new_again, is_modelled);
    test_add_cases("a snapshot holds committed URLs only", a_snapshot_holds_committed_urls_only, is_modelled);
    test_add("with SYNC_ALWAYS all is on disk when the call returns", always_is_on_disk_when_the_call_returns, NULL);
    test_add("once a second is on disk after a second", once_a_second_is_on_disk_after_a_second, NULL);
    test_add_cases("statistics are those of a set in memory, and survive",
                   statistics_are_those_of_a_set_in_memory_and_survive, has_statistics);
    test_add("answers after the last commit are counted too", answers_after_the_last_commit_are_counted_too, NULL);
    test_add("recovery tells what it found", recovery_tells_what_it_found, NULL);
    test_add("the second writer is refused, and told who has it", the_second_writer_is_refused_and_told_who_has_it,
             NULL);
    test_add("files are the owner's alone", files_are_the_owners_alone, NULL);
    test_add("flags that make no sense are refused", flags_that_make_no_sense_are_refused, NULL);
    test_add("bytes at NULL are refused", bytes_at_null_are_refused, NULL);
    test_add("the memory of a large commit is given back", memory_of_a_large_commit_is_given_back, NULL);
    return test_run("durable", argc, argv);
}
