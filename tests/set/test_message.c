/*
 * vidi_message() changes only when a call returns an error or VIDI_INVALID: a program that looks later than at once
 * still finds why something failed, and no call that went well speaks up. A failure in one thread leaves the messages
 * of all others alone.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/access.h"
#include "support/alloc.h"
#include "support/disk.h"
#include "support/folder.h"
#include "support/runner.h"
#include "support/tour.h"
#include "support/urls.h"
#include "vidi/url.h"

static const char planted[] = "planted failure number ";
static unsigned number;

/* A failure with a sentence that no other has. */
static void plant(void)
{
    char profile[100];
    vidi_canon *canon;
    snprintf(profile, sizeof profile, "crawl,%s%u", planted, ++number);
    assert_int_equal(vidi_canon_create(&canon, profile, NULL, NULL), VIDI_EOPTION);
    assert_non_null(strstr(vidi_message(), planted));
}

static bool stands(void)
{
    char mine[20];
    const char *found = strstr(vidi_message(), planted);
    snprintf(mine, sizeof mine, "%u\"", number);
    return found && strncmp(found + strlen(planted), mine, strlen(mine)) == 0;
}

/* After every call of a tour: the message stands, or the call has failed and says why. */
static void look(void *context, const char *call, int result)
{
    (void)context;
    if (result < 0 || result == VIDI_INVALID) {
        check(!stands() && *vidi_message(), "%s returned %d and does not say why: %s", call, result, vidi_message());
        plant();
    }
    check(stands(), "%s returned %d and has changed the message: %s", call, result, vidi_message());
}

/* ---- calls that succeed ---- */

static void tour_quietly(const test_case *which, const char *folder, unsigned flags, uint32_t invalid)
{
    plant();
    test_tour_run(&(test_tour){
        .which = which,
        .urls = 100,
        .folder = folder,
        .flags = flags,
        .invalid = invalid,
        .after = look,
    });
}

static void success_is_quiet_in_memory(void **state)
{
    tour_quietly(*state, NULL, 0, VIDI_KEEP_INVALID);
    tour_quietly(*state, NULL, 0, VIDI_DROP_INVALID);
}

static void success_is_quiet_in_a_folder(void **state)
{
    static const unsigned flags[] = {0, VIDI_MANUAL_COMMIT, TEST_SYNC_ALWAYS};
    for (size_t i = 0; i < 3; i++) {
        char folder[TEST_PATH];
        test_folder_new(folder, false);
        tour_quietly(*state, folder, flags[i], i == 1 ? VIDI_DROP_INVALID : VIDI_KEEP_INVALID);
        test_folder_remove(folder);
    }
}

/* Kinds that cannot serve are no failure of the call. */
static void a_plan_is_quiet(void **state)
{
    vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
    vidi_plan_entry plans[64];
    size_t n = 64;
    (void)state;
    want.urls = 1000000;
    want.lost = 1;
    plant();
    look(NULL, "vidi_plan", vidi_plan(&want, plans, &n));
    assert_true(stands() && n > 1);
}

static bool is_plain(const test_case *which)
{
    return !which->params && which->error <= 0;
}

static bool is_default(const test_case *which)
{
    return is_plain(which) && strcmp(which->kind, "fingerprint") == 0;
}

/* One that grows in parts, one that grows in layers, and one that keeps URLs. */
static bool is_one_of_three(const test_case *which)
{
    return is_default(which) ||
           (is_plain(which) && (strcmp(which->kind, "blocked") == 0 || strcmp(which->kind, "hashset") == 0));
}

/* ---- calls that deal with a failure themselves ---- */

typedef struct fault {
    test_allocator allocator;
    bool on_disk;
    uint64_t failed; /* calls that returned the error */
} fault;

static bool planned(void *context, int error)
{
    fault *self = context;
    self->failed++;
    return self->on_disk ? error == VIDI_EIO && disk_failed() : error == VIDI_EMEMORY;
}

/* One allocation after the other is refused once. Whoever returns VIDI_OK all the same has changed nothing. */
static void refused_memory(const test_case *which, const char *folder, uint64_t n, bool *refused)
{
    fault self = {.on_disk = false};
    test_allocator_init(&self.allocator);
    test_allocator_fail(&self.allocator, n, false);
    plant();
    test_tour_run(&(test_tour){
        .which = which,
        .urls = 100,
        .folder = folder,
        .flags = VIDI_MANUAL_COMMIT,
        .allocator = &self.allocator.hook,
        .after = look,
        .planned = planned,
        .context = &self,
    });
    *refused = test_allocator_refused(&self.allocator) > 0;
    test_allocator_fail(&self.allocator, 0, false);
    test_allocator_finish(&self.allocator);
}

static void refused_memory_is_told_or_not(void **state)
{
    bool refused = true;
    uint64_t n = 1;
    for (; refused; n += 1 + n / 10)
        refused_memory(*state, NULL, n, &refused);
    assert_true(n > 10);
}

static void refused_memory_is_told_or_not_in_a_folder(void **state)
{
    bool refused = true;
    uint64_t n = 1;
    for (; refused; n += 1 + n / 10) {
        char folder[TEST_PATH];
        test_folder_new(folder, false);
        refused_memory(*state, folder, n, &refused);
        test_folder_remove(folder);
    }
    assert_true(n > 10);
}

/* Lets the n-th call of the operating system fail. False if there are not so many. */
static bool fail_nth(const test_case *which, disk_call call, uint64_t n)
{
    test_scratch folder;
    fault self = {.on_disk = true};
    test_scratch_make(&folder);
    disk_begin(&folder);
    disk_fail(call, n, EMFILE, 1);
    plant();
    test_tour_run(&(test_tour){
        .which = which,
        .urls = 100,
        .folder = folder.path,
        .flags = VIDI_MANUAL_COMMIT,
        .after = look,
        .planned = planned,
        .context = &self,
    });
    bool failed = disk_failed() > 0;
    disk_end();
    test_folder_remove(folder.path);
    close(folder.handle);
    return failed;
}

/* Some failures of the disk are passed on, and some do no harm, such as of an unlink. Not those that end a log. */
static void a_failing_disk_is_told_or_not(void **state)
{
    static const disk_call calls[] = {DISK_OPEN, DISK_CLOSE, DISK_PREAD,    DISK_RENAME, DISK_UNLINK, DISK_MKDIR,
                                      DISK_STAT, DISK_LOCK,  DISK_TRUNCATE, DISK_MAP,    DISK_LIST};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        uint64_t n = 1;
        while (fail_nth(*state, calls[i], n))
            n += 1 + n / 10;
        assert_true(n > 1);
    }
}

/* ---- growth that finds no memory, and goes on with less ---- */

/* How many URLs fit under the limit? Nothing is said before the one that does not. */
static uint64_t add_to_the_limit(const vidi_options *options, uint64_t expected, uint64_t most)
{
    vidi_set *set;
    char room[TEST_URL_ROOM];
    uint64_t i = 0;
    int verdict = VIDI_NEW;
    assert_int_equal(vidi_create(&set, options), VIDI_OK);
    plant();
    look(NULL, "vidi_expect", vidi_expect(set, expected));
    for (; i < most && verdict > 0; i++) {
        verdict = vidi_add(set, (vidi_str){room, test_url(room, TEST_URL_ROOM, 1, i)});
        check(verdict < 0 || stands(), "URL %llu of %s: %s", (unsigned long long)i, options->kind, vidi_message());
    }
    if (verdict < 0)
        look(NULL, "vidi_add", verdict);
    vidi_close(set);
    return i;
}

static void growth_is_quiet_until_it_fails(void **state)
{
    static const char *const kinds[] = {"fingerprint", "blocked", "scalable", "hashset"};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        vidi_options options = VIDI_OPTIONS_INIT;
        vidi_access access = VIDI_ACCESS_INIT;
        options.kind = kinds[i];
        options.access = &access;
        access.memory_limit = 1 << 18;
        options.error = i == 1 ? 0.01 : 0;
        uint64_t plain = add_to_the_limit(&options, 0, 2000000);
        assert_true(plain > 1000 && plain < 2000000);
        (void)add_to_the_limit(&options, UINT64_MAX, plain);
        for (uint64_t tenths = 7; tenths < 11; tenths++)
            (void)add_to_the_limit(&options, plain * tenths / 10, plain);
    }
}

/* A table that cannot grow as far as is expected grows as far as it must. */
static void growth_with_less_is_quiet(void **state)
{
    uint64_t quiet = 0;
    (void)state;
    for (uint64_t n = 1; n < 8; n++) {
        test_allocator allocator;
        char room[TEST_URL_ROOM];
        test_allocator_init(&allocator);
        vidi_set *set = test_case_set(&(test_case){.kind = "fingerprint"}, 1000, 1, &allocator.hook);
        for (uint64_t i = 0; i < 20000; i++)
            assert_true(vidi_add(set, (vidi_str){room, test_url(room, TEST_URL_ROOM, 1, i)}) > 0);
        assert_int_equal(vidi_expect(set, 1000000), VIDI_OK);
        test_allocator_fail(&allocator, n, false);
        plant();
        for (uint64_t i = 20000; i < 25000; i++) {
            uint64_t before = test_allocator_refused(&allocator);
            int result = vidi_add(set, (vidi_str){room, test_url(room, TEST_URL_ROOM, 1, i)});
            quiet += result > 0 && test_allocator_refused(&allocator) > before;
            look(NULL, "vidi_add", result);
        }
        test_allocator_fail(&allocator, 0, false);
        vidi_close(set);
        test_allocator_finish(&allocator);
    }
    assert_true(quiet > 0);
}

/* Kinds that look into URLs take any bytes in a set that compares bytes. */
static void bytes_are_quiet(void **state)
{
    static const char *const kinds[] = {"eigen", "multilayer"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        vidi_options options = VIDI_OPTIONS_INIT;
        vidi_set *set;
        options.kind = kinds[i];
        options.capacity = 1000;
        options.canon = "none";
        assert_int_equal(vidi_create(&set, &options), VIDI_OK);
        plant();
        look(NULL, kinds[i], vidi_add(set, test_str("http://[no URL")));
        vidi_close(set);
    }
}

/* A commit of much that finds no memory for the log's buffer goes on in small pieces. */
static void a_commit_in_pieces_is_quiet(void **state)
{
    enum { N = 50000 };
    test_batch batch;
    static uint8_t verdicts[N];
    uint64_t quiet = 0;
    (void)state;
    test_batch_init(&batch, N);
    test_batch_fill(&batch, test_url, 1, 0, N);
    for (uint64_t n = 1; n < 8; n++) {
        test_scratch folder;
        test_allocator allocator;
        vidi_options options = VIDI_OPTIONS_INIT;
        vidi_access access = VIDI_ACCESS_INIT;
        vidi_set *set;
        test_scratch_make(&folder);
        test_allocator_init(&allocator);
        options.path = folder.path;
        options.access = &access;
        access.flags = VIDI_MANUAL_COMMIT;
        access.allocator = &allocator.hook;
        assert_int_equal(vidi_create(&set, &options), VIDI_OK);
        assert_int_equal(vidi_add_batch(set, batch.urls, N, verdicts, NULL), VIDI_OK);
        plant();
        test_allocator_fail(&allocator, n, false);
        int result = vidi_commit(set);
        quiet += result == VIDI_OK && test_allocator_refused(&allocator);
        look(NULL, "vidi_commit", result);
        test_allocator_fail(&allocator, 0, false);
        vidi_close(set);
        test_allocator_finish(&allocator);
        test_scratch_remove(&folder);
    }
    assert_true(quiet > 0);
    test_batch_free(&batch);
}

/* ---- VIDI_INVALID ---- */

static void told(int result)
{
    assert_int_equal(result, VIDI_INVALID);
    look(NULL, "a call", result);
}

/* Every function that returns VIDI_INVALID says why. */
static void invalid_is_told(void **state)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_str bad = test_str("http://[1::2::3]/"), good = test_str("http://a/"), both[] = {good, bad};
    vidi_url url = {.size = sizeof url};
    vidi_canon *canon;
    vidi_set *set;
    char out[100];
    size_t len;
    uint64_t times, epoch;
    uint8_t verdicts[2] = {VIDI_NEW, VIDI_INVALID};
    vidi_digest digests[2];
    (void)state;
    plant();
    told(vidi_url_parse(bad, NULL, out, (len = sizeof out, &len), &url));
    told(vidi_url_resolve(good, bad, out, (len = sizeof out, &len)));
    told(vidi_decide(verdicts, 2, NULL));
    assert_int_equal(vidi_canon_create(&canon, "key=host", NULL, NULL), VIDI_OK);
    told(vidi_url_canon(canon, bad, NULL, out, (len = sizeof out, &len)));
    told(vidi_url_canon(canon, test_str("mailto:a@b"), NULL, out, (len = sizeof out, &len)));
    vidi_canon_close(canon);
    vidi_access access = VIDI_ACCESS_INIT;
    options.flags = VIDI_KEEP_PREVIOUS;
    options.access = &access;
    for (access.invalid = VIDI_DROP_INVALID; access.invalid <= VIDI_FAIL_INVALID; access.invalid++) {
        assert_int_equal(vidi_create(&set, &options), VIDI_OK);
        assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
        told(vidi_add(set, bad));
        told(vidi_has(set, bad));
        told(vidi_remove(set, bad));
        told(vidi_count(set, bad, &times));
        told(vidi_has_previous(set, bad));
        if (access.invalid == VIDI_FAIL_INVALID) {
            told(vidi_add_batch(set, both, 2, verdicts, NULL));
            told(vidi_has_batch(set, both, 2, verdicts));
            told(vidi_digest_batch(set, both, 2, digests, verdicts, &epoch));
        }
        vidi_close(set);
    }
}

/* ---- threads ---- */

static void *fail_elsewhere(void *context)
{
    vidi_set *set;
    vidi_options options = VIDI_OPTIONS_INIT;
    (void)context;
    if (*vidi_message())
        return NULL; /* it begins without one */
    options.kind = "of another thread";
    return vidi_create(&set, &options) == VIDI_EOPTION && strstr(vidi_message(), "of another thread") ? &number : NULL;
}

static void another_thread_has_its_own(void **state)
{
    pthread_t thread;
    void *fine = NULL;
    (void)state;
    plant();
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    assert_int_equal(pthread_join(thread, &fine), 0);
    assert_non_null(fine);
    assert_true(stands());
}

int main(int argc, char **argv)
{
    test_add("VIDI_INVALID is told", invalid_is_told, NULL);
    test_add("another thread has its own", another_thread_has_its_own, NULL);
    test_add("a plan is quiet", a_plan_is_quiet, NULL);
    test_add("growth is quiet until it fails", growth_is_quiet_until_it_fails, NULL);
    test_add("growth with less is quiet", growth_with_less_is_quiet, NULL);
    test_add("bytes are quiet", bytes_are_quiet, NULL);
    test_add("a commit in pieces is quiet", a_commit_in_pieces_is_quiet, NULL);
    test_add_cases("success is quiet, in memory", success_is_quiet_in_memory, NULL);
    test_add_cases("success is quiet, in a folder", success_is_quiet_in_a_folder, is_plain);
    test_add_cases("refused memory is told or not", refused_memory_is_told_or_not, is_plain);
    test_add_cases("refused memory is told or not, in a folder", refused_memory_is_told_or_not_in_a_folder,
                   is_one_of_three);
    test_add_cases("a failing disk is told or not", a_failing_disk_is_told_or_not, is_default);
    return test_run("vidi_message", argc, argv);
}
