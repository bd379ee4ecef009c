/*
 * Notes when the power fails: writes that were not synced are dropped, reordered or torn (support/disk.h). The set that
 * is found has a note, and exactly the URLs that were committed with it and before it; and no note that was synced is
 * gone. After a set was closed, nothing is.
 */
#include <stdio.h>
#include <stdlib.h>

#include "durable/durable_cases.h"
#include "support/clock.h"
#include "support/disk.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { COMMITS = 12, MOST = 150, STATES = 6 };

static test_scratch folder, left;
static uint64_t states, older; /* power failures, and those that took a note away */

/* A note is the number of URLs that were committed. */
static uint64_t noted(const vidi_set *set)
{
    char note[32] = "";
    size_t len = sizeof note - 1;
    must(vidi_note(set, note, &len));
    note[len] = 0;
    return strtoull(note, NULL, 10);
}

static void commit_up_to(vidi_set *set, uint64_t n)
{
    char note[32];
    must(vidi_commit_note(set, test_mark(set),
                          (vidi_str){note, (size_t)snprintf(note, sizeof note, "%llu", (unsigned long long)n)}));
}

/* How far a crawl has come. */
typedef struct crawl {
    vidi_set *set;
    uint64_t added, committed, synced;
    unsigned flags;
    const char *what;
} crawl;

static void must_be_exact(const crawl *self, const vidi_set *set, uint64_t n, uint64_t seed)
{
    for (uint64_t i = 0; i < self->added; i++) {
        int verdict = has_nth(set, i);
        check(verdict == (i < n ? VIDI_SEEN : VIDI_NEW),
              "%s, power failure %llu: the note says %llu, and URL %llu is %d", self->what, (unsigned long long)seed,
              (unsigned long long)n, (unsigned long long)i, verdict);
    }
}

/* The set is found, and gone on with. */
static void power_fails(const crawl *self, uint64_t seed)
{
    disk_crash_state(seed, &left);
    vidi_set *set = must_open(left.path, self->flags);
    uint64_t n = noted(set);
    states++;
    older += n < self->committed;
    check(n >= self->synced && n <= self->committed,
          "%s, power failure %llu: %llu URLs were noted and %llu synced, and %llu are found", self->what,
          (unsigned long long)seed, (unsigned long long)self->committed, (unsigned long long)self->synced,
          (unsigned long long)n);
    must_be_exact(self, set, n, seed);
    assert_int_equal(add_nth(set, n), n < self->added || n == self->added ? VIDI_NEW : VIDI_SEEN);
    commit_up_to(set, n + 1);
    vidi_close(set);
    set = must_open(left.path, VIDI_READ_ONLY);
    assert_int_equal(noted(set), n + 1);
    must_be_exact(self, set, n + 1, seed);
    vidi_close(set);
}

static void step(crawl *self, test_random *random)
{
    uint64_t n = 1 + test_below(random, MOST);
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(add_nth(self->set, self->added + i), VIDI_NEW);
    self->added += n;
    if (test_below(random, 4)) {
        commit_up_to(self->set, self->added);
        self->committed = self->added;
    }
    switch (test_below(random, 8)) {
    case 0:
        must(vidi_sync(self->set));
        self->synced = self->committed;
        break;
    case 1:
        must(vidi_snapshot(self->set));
        self->synced = self->committed;
        break;
    case 2:
        break;
    default: /* the log's thread writes what it has, but does not sync it */
        test_clock_forward(150 * TEST_MS);
        test_clock_settle();
        break;
    }
    if (self->flags & TEST_SYNC_ALWAYS)
        self->synced = self->committed;
}

static void live(uint64_t seed, const char *kind, unsigned flags)
{
    char what[100];
    test_random random = {seed};
    crawl self = {.flags = flags, .what = what};
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    snprintf(what, sizeof what, "%s, flags %u, seed %llu", kind, flags, (unsigned long long)seed);
    test_scratch_empty(&folder);
    test_clock_begin();
    disk_begin(&folder);
    options.kind = kind;
    options.error = 1e-9;
    options.path = folder.path;
    test_use(&options, &access, flags);
    must(vidi_create(&self.set, &options));
    for (int i = 0; i < COMMITS; i++) {
        step(&self, &random);
        for (uint64_t state = 0; state < STATES; state++)
            power_fails(&self, state < 2 ? state : test_next(&random));
    }
    vidi_close(self.set);
    disk_end();
    test_clock_end();
}

static void a_note_is_found_with_its_urls(void **state)
{
    (void)state;
    static const unsigned flags[] = {VIDI_MANUAL_COMMIT | TEST_SYNC_NEVER, VIDI_MANUAL_COMMIT,
                                     VIDI_MANUAL_COMMIT | TEST_SYNC_ALWAYS};
    test_scratch_make(&folder);
    test_scratch_make(&left);
    for (uint64_t seed = 1; seed <= (test_long() ? 400 : 15); seed++)
        live(seed, seed % 2 ? "fingerprint" : "hashset", flags[seed % 3]);
    test_scratch_remove(&folder);
    test_scratch_remove(&left);
    print_message("# %llu power failures, of which %llu took a note away\n", (unsigned long long)states,
                  (unsigned long long)older);
    assert_true(older > states / 100);
}

/* Damage in what was synced is told apart from what a crash leaves only if the manifest says how far that was. */
static void closing_brings_the_manifest_to_disk(void **state)
{
    (void)state;
    size_t now, then;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set;
    test_scratch_make(&folder);
    test_scratch_make(&left);
    disk_begin(&folder);
    options.path = folder.path;
    must(vidi_create(&set, &options));
    for (uint64_t i = 0; i < MOST; i++)
        assert_int_equal(add_nth(set, i), VIDI_NEW);
    vidi_close(set);
    disk_crash_state(0, &left);
    unsigned char *written = test_file_load(&folder, "manifest", &now),
                  *kept = test_file_load(&left, "manifest", &then);
    assert_int_equal(now, then);
    assert_memory_equal(written, kept, now);
    free(written);
    free(kept);
    disk_end();
    test_scratch_remove(&folder);
    test_scratch_remove(&left);
}

int main(int argc, char **argv)
{
    test_add("a note is found with its URLs", a_note_is_found_with_its_urls, NULL);
    test_add("closing brings the manifest to disk", closing_brings_the_manifest_to_disk, NULL);
    return test_run("power_note", argc, argv);
}
