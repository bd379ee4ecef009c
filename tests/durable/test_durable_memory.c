/*
 * Sets in folders and memory: an allocation that is refused, whichever it is, loses nothing that was acknowledged and
 * leaves nothing behind; limits hold while URLs wait for a commit, and a folder takes little of them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "durable/durable_cases.h"
#include "support/access.h"
#include "support/alloc.h"
#include "support/env.h"
#include "support/runner.h"

/* ---- refusals ---- */

enum { URLS = 400, BATCH = 100 };

typedef struct patient {
    home at;
    test_allocator allocator;
    unsigned flags;
    const char *kind, *params;
    bool on;      /* everything is refused from the n-th call on, until the caller notices */
    uint64_t n;   /* the call that is refused */
    bool refused; /* and somebody has noticed */
    uint8_t told[URLS], kept[URLS];
} patient;

/* After a refusal the same call must work, and a refusal is the only reason for an error. */
static bool again(patient *self, int code, const char *what)
{
    if (code >= 0)
        return false;
    check(code == VIDI_EMEMORY, "allocation %llu, %s: %d, %s", (unsigned long long)self->n, what, code, vidi_message());
    check(!self->refused || test_allocator_refused(&self->allocator), "allocation %llu, %s: refused for no reason: %s",
          (unsigned long long)self->n, what, vidi_message());
    self->refused = true;
    test_allocator_fail(&self->allocator, 0, false);
    return true;
}

static void create(patient *self)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    test_key(key, 1);
    options.kind = self->kind;
    options.params = self->params;
    options.capacity = 2000;
    options.key = key;
    test_use(&options, &access, self->flags | TEST_KEEP_PREVIOUS);
    options.path = self->at.path;
    access.allocator = &self->allocator.hook;
    do
        self->at.set = (vidi_set *)self;
    while (again(self, vidi_create(&self->at.set, &options), "creating") && !self->at.set);
}

static void reopen(patient *self)
{
    vidi_access access = VIDI_ACCESS_INIT;
    test_access(&access, self->flags);
    access.allocator = &self->allocator.hook;
    vidi_close(self->at.set);
    while (again(self, vidi_open(&self->at.set, self->at.path, &access), "opening"))
        assert_null(self->at.set);
}

static void commit(patient *self)
{
    while (again(self, vidi_commit(self->at.set), "committing")) {
    }
    memcpy(self->kept, self->told, sizeof self->told);
}

static void add_some(patient *self, uint64_t first)
{
    static char arena[BATCH][TEST_URL_ROOM];
    vidi_str urls[BATCH];
    uint64_t index[BATCH];
    uint8_t verdicts[BATCH];
    size_t left = BATCH;
    for (uint64_t i = 0; i < BATCH; i++) {
        index[i] = (first + i) % URLS;
        urls[i] = nth(arena[i], index[i]);
    }
    while (left) {
        bool more = again(self, vidi_add_batch(self->at.set, urls, left, verdicts, NULL), "adding");
        size_t untried = 0;
        for (size_t i = 0; i < left; i++) {
            uint8_t *told = &self->told[index[i]];
            check(verdicts[i] == (*told ? VIDI_SEEN : VIDI_NEW) || (more && verdicts[i] == VIDI_UNTRIED),
                  "allocation %llu: URL %llu, verdict %u", (unsigned long long)self->n, (unsigned long long)index[i],
                  verdicts[i]);
            *told |= verdicts[i] != VIDI_UNTRIED;
            if (verdicts[i] == VIDI_UNTRIED) { /* no trace */
                check(has_nth(self->at.set, index[i]) == (*told ? VIDI_SEEN : VIDI_NEW),
                      "allocation %llu: URL %llu has left a trace", (unsigned long long)self->n,
                      (unsigned long long)index[i]);
                urls[untried] = urls[i];
                index[untried++] = index[i];
            }
        }
        left = untried;
    }
    if (!(self->flags & VIDI_MANUAL_COMMIT))
        memcpy(self->kept, self->told, sizeof self->told);
}

static void remove_some(patient *self, uint64_t first)
{
    if (!(test_stat(self->at.set).can & VIDI_CAN_DELETE))
        return;
    for (uint64_t i = first; i < first + 5; i++) {
        while (again(self, remove_nth(self->at.set, i), "removing")) {
        }
        self->told[i] = 0;
        if (!(self->flags & VIDI_MANUAL_COMMIT))
            self->kept[i] = 0;
    }
}

static void must_be_told(patient *self, const uint8_t *there, const char *when)
{
    for (uint64_t i = 0; i < URLS; i++) {
        int verdict;
        while (again(self, verdict = has_nth(self->at.set, i), "asking")) {
        }
        check(verdict == (there[i] ? VIDI_SEEN : VIDI_NEW), "allocation %llu, %s: URL %llu is answered %d",
              (unsigned long long)self->n, when, (unsigned long long)i, verdict);
    }
}

static void live_through_it(patient *self)
{
    create(self);
    add_some(self, 0);
    commit(self);
    add_some(self, 80);
    while (again(self, vidi_snapshot(self->at.set), "a snapshot")) {
    }
    remove_some(self, 3);
    commit(self);
    add_some(self, 170);
    must_be_told(self, self->told, "before closing");
    reopen(self);
    memcpy(self->told, self->kept, sizeof self->kept);
    must_be_told(self, self->kept, "opened again");
    add_some(self, 200);
    commit(self);
    while (again(self, vidi_sync(self->at.set), "syncing")) {
    }
    while (again(self, vidi_rotate(self->at.set, NULL), "rotating")) {
    }
    memset(self->told, 0, sizeof self->told);
    memset(self->kept, 0, sizeof self->kept);
    add_some(self, 0);
    add_some(self, 100);
    commit(self);
    reopen(self);
    memcpy(self->told, self->kept, sizeof self->kept);
    must_be_told(self, self->kept, "opened after a rotation");
    assert_int_equal(test_stat(self->at.set).epoch, 1);
}

typedef struct refusal {
    const char *kind, *params;
    unsigned flags;
} refusal;

static const refusal refusals[] = {
    {"fingerprint", NULL, VIDI_MANUAL_COMMIT},
    {"fingerprint", NULL, 0},
    {"fingerprint", NULL, TEST_SYNC_ALWAYS},
    {"hashset", NULL, VIDI_MANUAL_COMMIT},
    {"hashset", NULL, 0},
    {"hashset", NULL, TEST_SYNC_ALWAYS | VIDI_MANUAL_COMMIT},
    {"sorted", NULL, VIDI_MANUAL_COMMIT},
    {"blocked", NULL, VIDI_MANUAL_COMMIT},
    {"blocked", NULL, TEST_SYNC_ALWAYS},
    {"eigen", NULL, VIDI_MANUAL_COMMIT},
    {"scalable", NULL, TEST_SYNC_ALWAYS},
};

static void a_refused_allocation_loses_nothing(void **state)
{
    const refusal *which = *state;
    static patient self;
    for (int on = 0; on < 2; on++) {
        bool refused = true;
        for (uint64_t n = 1; refused; n++) {
            self = (patient){.kind = which->kind, .params = which->params, .flags = which->flags, .on = on, .n = n};
            home_begin(&self.at);
            test_allocator_init(&self.allocator);
            test_allocator_fail(&self.allocator, n, on);
            live_through_it(&self);
            refused = self.refused || test_allocator_refused(&self.allocator);
            home_end(&self.at);
            test_allocator_finish(&self.allocator);
            check(n < 100000, "allocations without end");
            if (!test_long()) /* the first hundreds one by one, some of the others */
                n += n / (test_sanitized() ? 10 : 50);
        }
    }
}

/* ---- limits ---- */

/* What waits for a commit counts towards the limit; when it is reached, a commit makes room. */
static void a_limit_holds_while_urls_wait_for_a_commit(void **state)
{
    const char *kind = *state;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    home at;
    uint64_t n = 0;
    int verdict;
    home_begin(&at);
    options.kind = kind;
    options.access = &access;
    access.memory_limit = 3 << 20;
    home_create(&at, &options, VIDI_MANUAL_COMMIT);
    while ((verdict = add_nth(at.set, n)) == VIDI_NEW) {
        n++;
        if (n % 512 == 0)
            assert_true(test_stat(at.set).memory_bytes <= access.memory_limit);
    }
    assert_int_equal(verdict, VIDI_ELIMIT);
    assert_true(n > 1000);
    assert_int_equal(has_nth(at.set, n), VIDI_NEW);
    assert_int_equal(test_stat(at.set).count, n);
    all_are(at.set, 0, n, VIDI_SEEN);
    int code = vidi_commit(at.set);
    check(code == VIDI_OK, "no commit at the limit, and so no way on, with %llu URLs: %d, %s", (unsigned long long)n,
          code, vidi_message());
    all_are(at.set, 0, n, VIDI_SEEN);
    must(vidi_sync(at.set));
    vidi_close(at.set);
    at.set = must_open(at.path, 0);
    all_are(at.set, 0, n, VIDI_SEEN);
    home_end(&at);
}

/* Adds until there is no room; whoever commits does so then and goes on. Returns how many URLs there are. */
static uint64_t fill_up(vidi_set *set)
{
    uint64_t n = 0;
    int verdict = VIDI_NEW;
    while (verdict >= 0) {
        while ((verdict = add_nth(set, n)) >= 0) /* filters may take some for seen */
            n++;
        assert_int_equal(verdict, VIDI_ELIMIT);
        must(vidi_commit(set));
        verdict = add_nth(set, n);
        n += verdict >= 0;
    }
    assert_int_equal(verdict, VIDI_ELIMIT);
    return n;
}

/* The staging area and the log take little of the limit, and what they took in a burst they give back. */
static void a_folder_takes_little_of_the_limit(void **state)
{
    const test_mode *mode = *state; /* its name is a kind */
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    vidi_set *in_memory;
    home at;
    test_key(key, 1);
    options.kind = mode->name;
    options.key = key;
    options.access = &access;
    access.memory_limit = 4 << 20;
    must(vidi_create(&in_memory, &options));
    uint64_t most = fill_up(in_memory);
    vidi_close(in_memory);
    home_begin(&at);
    home_create(&at, &options, mode->flags);
    uint64_t n = fill_up(at.set);
    check(n > most * 3 / 4, "%llu URLs fit into a folder's set, and %llu into one in memory", (unsigned long long)n,
          (unsigned long long)most);
    all_are(at.set, 0, n, VIDI_SEEN);
    vidi_close(at.set);
    test_access(&access, mode->flags);
    must(vidi_open(&at.set, at.path, &access)); /* with the same limit */
    all_are(at.set, 0, n, VIDI_SEEN);
    home_end(&at);
}

/* The same in batches, and with many tries, after which nothing is left that could be put somewhere. */
static uint64_t fill_up_with_batches(vidi_set *set)
{
    static char arena[64][TEST_URL_ROOM];
    vidi_str urls[64];
    uint8_t verdicts[64];
    uint64_t n = 0;
    for (int tries = 0; tries < 20;) {
        for (uint64_t i = 0; i < 64; i++)
            urls[i] = nth(arena[i], n + i);
        int code = vidi_add_batch(set, urls, 64, verdicts, NULL);
        for (size_t i = 0; i < 64 && verdicts[i] != VIDI_UNTRIED; i++)
            n++;
        if (code < 0)
            must(vidi_commit(set));
        tries = code < 0 ? tries + 1 : 0;
    }
    return n;
}

/* The filter must not take the room that the rest of the URLs and the open log need; nor for a reader, which has no log. */
static void a_set_at_a_small_limit_opens_again(void **state)
{
    (void)state;
    static const unsigned ways[] = {VIDI_MANUAL_COMMIT | TEST_SYNC_NEVER, VIDI_READ_ONLY | VIDI_NO_MAP};
    for (uint64_t limit = 300000; limit < 1100000; limit += 7000) {
        vidi_options options = VIDI_OPTIONS_INIT;
        vidi_access access = VIDI_ACCESS_INIT;
        home at;
        options.kind = "hashset";
        options.access = &access;
        access.memory_limit = limit;
        home_begin(&at);
        home_create(&at, &options, ways[0]);
        uint64_t n = fill_up_with_batches(at.set);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            vidi_close(at.set);
            test_access(&access, ways[i]);
            int code = vidi_open(&at.set, at.path, &access);
            check(code == VIDI_OK, "limit %llu, way %zu: %s", (unsigned long long)limit, i, vidi_message());
            all_are(at.set, 0, n, VIDI_SEEN);
        }
        home_end(&at);
    }
}

int main(int argc, char **argv)
{
    char name[200];
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        snprintf(name, sizeof name, "a refused allocation loses nothing: %s, flags %u", refusals[i].kind,
                 refusals[i].flags);
        test_add(name, a_refused_allocation_loses_nothing, &refusals[i]);
    }
    static const char *const limited[] = {"fingerprint", "hashset"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "a limit holds while URLs wait for a commit: %s", limited[i]);
        test_add(name, a_limit_holds_while_urls_wait_for_a_commit, limited[i]);
    }
    test_add("a set at a small limit opens again", a_set_at_a_small_limit_opens_again, NULL);
    static const test_mode filled[] = {{"fingerprint", VIDI_MANUAL_COMMIT | TEST_SYNC_NEVER},
                                       {"fingerprint", TEST_SYNC_NEVER},
                                       {"hashset", VIDI_MANUAL_COMMIT | TEST_SYNC_NEVER},
                                       {"blocked", VIDI_MANUAL_COMMIT | TEST_SYNC_NEVER}};
    for (size_t i = 0; i < sizeof filled / sizeof *filled; i++) {
        snprintf(name, sizeof name, "a folder takes little of the limit: %s, flags %u", filled[i].name,
                 filled[i].flags);
        test_add(name, a_folder_takes_little_of_the_limit, &filled[i]);
    }
    return test_run("durable_memory", argc, argv);
}
