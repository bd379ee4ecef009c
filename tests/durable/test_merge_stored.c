/*
 * vidi_merge_stored: the result is that of vidi_merge, for each kind that can do it, with and without logs; it takes
 * little memory; whatever fails or is interrupted leaves no set behind, and the call can be repeated.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "durable/durable_cases.h"
#include "support/access.h"
#include "support/alloc.h"
#include "support/disk.h"
#include "support/runner.h"

enum { SETS = 3, EACH = 400, SHARED = 100 };

typedef struct which {
    const char *kind, *params;
    uint64_t capacity;
    double error;
    bool exact; /* the order of merging makes no difference at all */
} which;

static const which kinds[] = {
    {"fingerprint", NULL, 0, 0, true},
    {"fingerprint", "bits=40", 0, 0, true},
    {"fingerprint", NULL, 5000, 1e-6, true},
    {"fingerprint", "multiset=on", 0, 0, true},
    {"blocked", NULL, 5000, 0.01, false},
    {"blocked", NULL, 0, 0.001, false},
    {"blocked", "lines=3", 100, 0.05, false},
    {"classic", NULL, 5000, 0.01, false},
    {"classic", "m=99999,k=5", 0, 0, false},
    {"classic", "hash=jenkins,mode=salted", 5000, 0.01, false},
    {"classic", "of=segments", 5000, 0.01, false},
    {"counting", NULL, 5000, 0.01, false},
    {"counting", "width=5,hash=murmur2,mode=salted", 5000, 0.01, false},
};

/* Folders with a set each, and one for the result. */
typedef struct place {
    char above[TEST_PATH], path[SETS][TEST_PATH], result[TEST_PATH];
    const char *from[SETS];
} place;

static void add_urls(vidi_set *set, uint64_t first, uint64_t n)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = first; i < first + n; i++)
        assert_true(vidi_add(set, (vidi_str){room, test_url(room, sizeof room, 71, i)}) > 0);
}

static int has_url(const vidi_set *set, uint64_t i)
{
    char room[TEST_URL_ROOM];
    return vidi_has(set, (vidi_str){room, test_url(room, sizeof room, 71, i)});
}

static void remove_url(vidi_set *set, uint64_t i)
{
    char room[TEST_URL_ROOM];
    assert_int_equal(vidi_remove(set, (vidi_str){room, test_url(room, sizeof room, 71, i)}), VIDI_OK);
}

static vidi_set *create(const which *of, const char *path, uint64_t seed)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    vidi_set *set;
    test_key(key, seed);
    options.kind = of->kind;
    options.params = of->params;
    options.capacity = of->capacity;
    options.error = of->error;
    options.key = key;
    options.path = path;
    int code = vidi_create(&set, &options);
    check(code == VIDI_OK, "%s: %s", of->kind, vidi_message());
    return set;
}

/* Set i has the URLs from i * (EACH - SHARED) on. `logged` of them are in its log, the others in its snapshot. */
static void begin(place *at, const which *of, uint64_t each, uint64_t logged)
{
    test_folder_new(at->above, false);
    test_path(at->result, at->above, "result");
    for (size_t i = 0; i < SETS; i++) {
        char name[8];
        snprintf(name, sizeof name, "%zu", i);
        test_path(at->path[i], at->above, name);
        at->from[i] = at->path[i];
        uint64_t first = i * (each - SHARED), log = i == 1 ? 0 : logged;
        vidi_set *set = create(of, at->path[i], 3);
        add_urls(set, first, each - log);
        assert_int_equal(vidi_snapshot(set), VIDI_OK);
        add_urls(set, first + each - log, log);
        vidi_close(set);
    }
}

static void end(place *at)
{
    test_folder_remove(at->above);
}

static vidi_set *merge_in_memory(const place *at, unsigned how)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *into = NULL;
    for (size_t i = 0; i < SETS; i++) {
        vidi_set *set = must_open(at->path[i], VIDI_READ_ONLY | how);
        options.like = set;
        if (i == 0)
            assert_int_equal(vidi_create(&into, &options), VIDI_OK);
        check(vidi_merge(into, set, 0) == VIDI_OK, "%s", vidi_message());
        vidi_close(set);
    }
    return into;
}

static void must_merge(const place *at, const vidi_access *access)
{
    int code = vidi_merge_stored(at->result, at->from, SETS, 0, access);
    check(code == VIDI_OK, "%d: %s", code, vidi_message());
}

static bool nearly(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

/* A mapped set that stores every add counts each one in its log as a URL. */
static bool counts_adds(const which *of)
{
    return strcmp(of->kind, "counting") == 0 || (of->params && strstr(of->params, "multiset=on"));
}

static void check_same(const which *of, const vidi_set *a, const vidi_set *b, uint64_t urls, bool exact, bool mapped)
{
    vidi_stats x = test_stat(a), y = test_stat(b);
    if (counts_adds(of) && y.count > x.count)
        y.count = x.count;
    unsigned char one[VIDI_CONTENT_DIGEST_BYTES], other[VIDI_CONTENT_DIGEST_BYTES];
    double tolerance = exact ? 1e-12 : 0.15; /* how many URLs bits stand for is an estimate */
    assert_string_equal(x.params, y.params);
    assert_string_equal(x.kind, y.kind);
    assert_int_equal(x.epoch, y.epoch);
    assert_int_equal(x.capacity, y.capacity);
    assert_int_equal(x.past_epochs, y.past_epochs);
    assert_int_equal(x.answered_new, y.answered_new);
    check(nearly((double)x.count, (double)y.count, tolerance), "%s: %llu URLs, %llu", of->kind,
          (unsigned long long)x.count, (unsigned long long)y.count);
    check(nearly(x.expected_lost, y.expected_lost, exact ? 1e-9 : 0.1), "%s: lost %g, %g", of->kind, x.expected_lost,
          y.expected_lost);
    if (!y.log_bytes || !mapped) /* the rate is that of the filter, without the log of a mapped set */
        check(nearly(x.fp_now, y.fp_now, exact ? 1e-12 : 0.3), "%s: rate %g, %g", of->kind, x.fp_now, y.fp_now);
    for (uint64_t i = 0; i < urls; i++)
        assert_int_equal(has_url(b, i), VIDI_SEEN);
    if (!(x.can & VIDI_CAN_ITERATE))
        return;
    assert_int_equal(vidi_content_digest(a, one), VIDI_OK);
    assert_int_equal(vidi_content_digest(b, other), VIDI_OK);
    assert_memory_equal(one, other, sizeof one);
}

/* Everything is in the snapshots, so there is no other order in which URLs could come. */
static void snapshots_become_what_vidi_merge_makes_of_them(void **state)
{
    const which *of = *state;
    place at;
    begin(&at, of, EACH, 0);
    vidi_set *merged = merge_in_memory(&at, 0);
    must_merge(&at, NULL);
    static const unsigned ways[] = {VIDI_READ_ONLY, VIDI_READ_ONLY | VIDI_NO_MAP, 0};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        vidi_set *result = must_open(at.result, ways[i]);
        check_same(of, merged, result, 3 * EACH - 2 * SHARED, true, i == 0);
        for (uint64_t j = 10000; j < 10500; j++)
            assert_int_equal(has_url(merged, j), has_url(result, j));
        assert_int_equal(vidi_verify(result), VIDI_OK);
        assert_int_equal(vidi_note(result, NULL, &(size_t){0}), VIDI_OK);
        vidi_close(result);
    }
    vidi_close(merged);
    end(&at);
}

static void what_is_in_logs_is_in_the_result(void **state)
{
    const which *of = *state;
    place at;
    begin(&at, of, EACH, 150);
    vidi_set *merged = merge_in_memory(&at, 0);
    must_merge(&at, NULL);
    assert_int_equal(test_folder_count(at.result, "merge.new"), 0);
    for (int mapped = 0; mapped < 2; mapped++) {
        vidi_set *result = must_open(at.result, VIDI_READ_ONLY | (mapped ? 0 : VIDI_NO_MAP));
        check_same(of, merged, result, 3 * EACH - 2 * SHARED, of->exact, mapped);
        vidi_close(result);
    }
    vidi_set *result = must_open(at.result, 0);
    add_urls(result, 20000, 10); /* it can be used, and a snapshot folds the log in */
    assert_int_equal(vidi_snapshot(result), VIDI_OK);
    vidi_close(result);
    result = must_open(at.result, VIDI_READ_ONLY);
    assert_int_equal(has_url(result, 20005), VIDI_SEEN);
    assert_int_equal(has_url(result, 3 * EACH - 2 * SHARED - 1), VIDI_SEEN);
    vidi_close(result);
    vidi_close(merged);
    end(&at);
}

/* A small table has one partition, a large one 64, and so has the union. */
static void small_tables_and_large_ones(void **state)
{
    static const which of = {"fingerprint", NULL, 0, 0, true};
    static const uint64_t sizes[SETS] = {50, 40000, 3000};
    place at;
    (void)state;
    begin(&at, &of, EACH, 0);
    for (size_t i = 0; i < SETS; i++) {
        vidi_set *set = must_open(at.path[i], 0);
        add_urls(set, 1000000 + i * 30000, sizes[i]);
        assert_int_equal(vidi_snapshot(set), VIDI_OK);
        vidi_close(set);
    }
    vidi_set *merged = merge_in_memory(&at, 0);
    must_merge(&at, NULL);
    vidi_set *result = must_open(at.result, VIDI_READ_ONLY);
    assert_int_equal(vidi_verify(result), VIDI_OK);
    check_same(&of, merged, result, 3 * EACH - 2 * SHARED, true, true);
    check(test_stat(result).bytes < 2 * test_stat(merged).bytes, "%llu bytes",
          (unsigned long long)test_stat(result).bytes);
    vidi_close(result);
    vidi_close(merged);
    end(&at);
}

/* A set that stores every add has its removals in the log of the result; a plain one must be folded first. */
static void removals_in_a_log(void **state)
{
    static const which multiset = {"fingerprint", "multiset=on", 0, 0, true}, plain = {"fingerprint", NULL, 0, 0, true};
    place at;
    (void)state;
    for (int i = 0; i < 2; i++) {
        begin(&at, i ? &plain : &multiset, EACH, 10);
        vidi_set *set = must_open(at.path[2], 0);
        remove_url(set, 2 * (EACH - SHARED) + 200); /* of the last set alone */
        vidi_close(set);
        int code = vidi_merge_stored(at.result, at.from, SETS, 0, NULL);
        assert_int_equal(code, i ? VIDI_ECANNOT : VIDI_OK);
        if (!i) {
            vidi_set *result = must_open(at.result, VIDI_READ_ONLY | VIDI_NO_MAP);
            vidi_set *merged = merge_in_memory(&at, VIDI_NO_MAP);
            assert_int_equal(has_url(result, 2 * (EACH - SHARED) + 200), VIDI_NEW);
            assert_int_equal(has_url(result, 2 * (EACH - SHARED) + 201), VIDI_SEEN);
            assert_int_equal(test_stat(result).count, test_stat(merged).count);
            vidi_close(result);
            vidi_close(merged);
        }
        assert_int_equal(access(at.result, F_OK), i ? -1 : 0);
        end(&at);
    }
}

/* ---- what is refused ---- */

static void must_refuse(const place *at, const char *const *from, size_t count, int expected)
{
    int code = vidi_merge_stored(at->result, from, count, 0, NULL);
    check(code == expected, "%d instead of %d: %s", code, expected, vidi_message());
    check(access(at->result, F_OK) != 0, "there is a folder after error %d", code);
}

static void a_rate_that_is_too_high_is_refused(void **state)
{
    static const which tight[] = {{"classic", NULL, EACH, 0.01, false},
                                  {"counting", NULL, EACH, 0.01, false},
                                  {"fingerprint", NULL, EACH, 1e-8, true}};
    (void)state;
    for (size_t i = 0; i < sizeof tight / sizeof *tight; i++) {
        place at;
        begin(&at, &tight[i], EACH, i == 0 ? 40 : 0);
        must_refuse(&at, at.from, SETS, VIDI_ERATE);
        check(strstr(vidi_message(), at.path[1]) || strstr(vidi_message(), at.path[2]), "%s", vidi_message());
        assert_int_equal(vidi_merge_stored(at.result, at.from, 1, 0, NULL), VIDI_OK);
        test_folder_remove(at.result);
        assert_int_equal(vidi_merge_stored(at.result, at.from, SETS, VIDI_MERGE_FORCE, NULL), VIDI_OK);
        vidi_set *result = must_open(at.result, VIDI_READ_ONLY);
        assert_int_equal(has_url(result, 2 * EACH), VIDI_SEEN);
        vidi_close(result);
        end(&at);
    }
}

static void sets_that_do_not_fit_are_refused(void **state)
{
    const which plain = {"classic", NULL, 5000, 0.01, false}, wide = {"classic", NULL, 6000, 0.01, false};
    const which exact = {"hashset", NULL, 0, 0, true}, layers = {"blocked", NULL, 0, 0.01, false};
    char other[TEST_PATH];
    place at;
    (void)state;
    begin(&at, &plain, EACH, 0);
    const which *others[] = {&wide, &layers, &plain, &exact};
    static const int codes[] = {VIDI_EDIFFERS, VIDI_EDIFFERS, VIDI_EDIFFERS, VIDI_ECANNOT};
    for (size_t i = 0; i < 4; i++) {
        test_path(other, at.above, "other");
        vidi_close(create(others[i], other, others[i] == &plain ? 4 : 3));
        must_refuse(&at, (const char *const[]){at.path[0], other}, 2, codes[i]);
        test_folder_remove(other);
    }
    must_refuse(&at, (const char *const[]){at.path[0], other}, 2, VIDI_EABSENT);
    must_refuse(&at, at.from, 0, VIDI_EARGUMENT);
    must_refuse(&at, (const char *const[]){at.path[0], NULL}, 2, VIDI_EARGUMENT);
    assert_int_equal(vidi_merge_stored(NULL, at.from, 2, 0, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_merge_stored(at.result, at.from, 2, 8, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_merge_stored(at.path[2], at.from, 2, 0, NULL), VIDI_EEXIST);
    vidi_access access = VIDI_ACCESS_INIT;
    access.flags = VIDI_READ_ONLY;
    assert_int_equal(vidi_merge_stored(at.result, at.from, 2, 0, &access), VIDI_EOPTION);
    end(&at);
}

/* Flips a byte of the snapshot, or of the log, of one of the sets. */
static void flip(const char *folder, const char *name, double where)
{
    char path[TEST_PATH];
    struct stat stat;
    unsigned char byte;
    test_path(path, folder, name);
    int file = open(path, O_RDWR);
    assert_true(file >= 0 && fstat(file, &stat) == 0);
    off_t at = (off_t)(where * (double)(stat.st_size - 1));
    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    close(file);
}

static void damage_is_found_before_anything_is_written(void **state)
{
    const which *of = *state;
    place at;
    begin(&at, of, EACH, 20);
    for (double where = 0; where <= 1; where += 0.124) {
        flip(at.path[1], "set.0000000000000002", where);
        must_refuse(&at, at.from, SETS, VIDI_EFORMAT);
        check(strncmp(vidi_message(), at.path[1], strlen(at.path[1])) == 0, "%s", vidi_message());
        flip(at.path[1], "set.0000000000000002", where);
    }
    flip(at.path[2], "log.0000000000000002", 0.7);
    must_refuse(&at, at.from, SETS, VIDI_EDAMAGED);
    vidi_access access = VIDI_ACCESS_INIT;
    access.flags = VIDI_ACCEPT_DAMAGE;
    must_merge(&at, &access);
    end(&at);
}

/* ---- disks that fail, processes that die ---- */

/* There is the whole set at the place of the result, or none. */
static bool is_there(const char *path)
{
    vidi_set *set = NULL;
    int code = test_open(&set, path, VIDI_READ_ONLY);
    if (code == VIDI_EABSENT)
        return false;
    check(code == VIDI_OK, "%d: %s", code, vidi_message());
    for (uint64_t i = 0; i < 3 * EACH - 2 * SHARED; i++)
        assert_int_equal(has_url(set, i), VIDI_SEEN);
    vidi_close(set);
    return true;
}

typedef struct trouble {
    disk_call call;
    int error;
    uint64_t times;
} trouble;

static const trouble troubles[] = {{DISK_ANY, EIO, 1}, {DISK_WRITE, DISK_FULL, DISK_FOR_EVER}, {DISK_FSYNC, EIO, 1}};

static void a_failing_disk_leaves_no_half_set(void **state)
{
    const which of = {"fingerprint", NULL, 0, 0, true};
    const trouble *with = *state;
    test_scratch folder = {.handle = -1};
    place at;
    uint64_t failures = 0;
    begin(&at, &of, EACH, 100);
    for (uint64_t n = 1; n < 2000; n += with->call == DISK_ANY ? 3 : 1) {
        test_scratch_make(&folder);
        snprintf(at.result, sizeof at.result, "%s", folder.path);
        disk_begin(&folder);
        disk_fail(with->call, n, with->error, with->times);
        int code = vidi_merge_stored(at.result, at.from, SETS, 0, NULL);
        uint64_t failed = disk_failed();
        disk_fail(DISK_ANY, 0, 0, 0);
        failures += code < 0;
        bool there = is_there(at.result);
        check(code < 0 || there, "no set after success");
        if (!there)
            must_merge(&at, NULL);
        assert_true(is_there(at.result));
        disk_end();
        test_scratch_remove(&folder);
        if (!failed)
            break;
    }
    assert_true(failures > 3);
    end(&at);
}

static void a_process_that_dies_leaves_no_half_set(void **state)
{
    const which of = {"fingerprint", NULL, 0, 0, true};
    test_scratch folder, left;
    place at;
    uint64_t none = 0, whole = 0;
    (void)state;
    begin(&at, &of, EACH, 100);
    test_scratch_make(&left);
    for (uint64_t n = 1;; n += 2) {
        test_scratch_make(&folder);
        snprintf(at.result, sizeof at.result, "%s", folder.path);
        disk_begin(&folder);
        disk_kill(n);
        (void)vidi_merge_stored(at.result, at.from, SETS, 0, NULL);
        bool died = disk_killed();
        disk_revive();
        for (uint64_t seed = 0; seed < 4; seed++) {
            disk_crash_state(seed, &left);
            bool there = is_there(left.path);
            none += !there;
            whole += there;
            if (!there) {
                int code = vidi_merge_stored(left.path, at.from, SETS, 0, NULL);
                check(code == VIDI_OK, "call %llu, power failure %llu: %s", (unsigned long long)n,
                      (unsigned long long)seed, vidi_message());
                assert_true(is_there(left.path));
            }
        }
        disk_end();
        test_scratch_remove(&folder);
        if (!died)
            break;
    }
    check(none > 10 && whole > 0, "%llu times none, %llu times all", (unsigned long long)none,
          (unsigned long long)whole);
    test_scratch_remove(&left);
    end(&at);
}

/* ---- memory ---- */

static uint64_t bytes_of(const char *folder)
{
    vidi_set *set = must_open(folder, VIDI_READ_ONLY);
    uint64_t bytes = test_stat(set).snapshot_bytes;
    vidi_close(set);
    return bytes;
}

static void it_takes_a_small_part_of_the_result(void **state)
{
    static const which large[] = {{"fingerprint", NULL, 0, 0, true},
                                  {"classic", "m=40000000,k=2", 0, 0, false},
                                  {"counting", "m=10000000,k=2", 0, 0, false},
                                  {"blocked", NULL, 3000000, 0.01, false}};
    const which *of = &large[*(const int *)*state];
    test_allocator allocator;
    vidi_access access = VIDI_ACCESS_INIT;
    place at;
    begin(&at, of, of == &large[0] ? 150000 : 3000, 0);
    test_allocator_init(&allocator);
    access.allocator = &allocator.hook;
    access.memory_limit = UINT64_C(900) << 10;
    must_merge(&at, &access);
    uint64_t result = bytes_of(at.result), peak = test_allocator_peak(&allocator);
    check(result > 3000000 && peak < result / 3, "%llu bytes of memory for %llu on disk", (unsigned long long)peak,
          (unsigned long long)result);
    test_allocator_finish(&allocator);
    end(&at);
}

/* Each request for memory is refused once; the result is all right or not there. */
static void without_memory_there_is_no_set(void **state)
{
    const which *of = *state;
    test_allocator allocator;
    vidi_access access = VIDI_ACCESS_INIT;
    place at;
    begin(&at, of, EACH, 30);
    test_allocator_init(&allocator);
    access.allocator = &allocator.hook;
    for (uint64_t n = 1; n < 4000; n += 1 + n / 16) {
        test_allocator_fail(&allocator, n, n % 2);
        int code = vidi_merge_stored(at.result, at.from, SETS, 0, &access);
        bool refused = test_allocator_refused(&allocator);
        check(code == VIDI_OK || code == VIDI_EMEMORY, "%d: %s", code, vidi_message());
        check(code == VIDI_OK || !is_there(at.result), "a set in spite of an error");
        if (code == VIDI_OK)
            assert_true(is_there(at.result));
        test_folder_remove(at.result);
        if (!refused)
            break;
    }
    test_allocator_finish(&allocator);
    end(&at);
}

int main(int argc, char **argv)
{
    static const int numbers[] = {0, 1, 2, 3};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        test_add("snapshots become what vidi_merge makes of them", snapshots_become_what_vidi_merge_makes_of_them,
                 &kinds[i]);
        test_add("what is in logs is in the result", what_is_in_logs_is_in_the_result, &kinds[i]);
    }
    test_add("small tables and large ones", small_tables_and_large_ones, NULL);
    test_add("removals in a log", removals_in_a_log, NULL);
    test_add("a rate that is too high is refused", a_rate_that_is_too_high_is_refused, NULL);
    test_add("sets that do not fit are refused", sets_that_do_not_fit_are_refused, NULL);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i += 4) {
        test_add("damage is found before anything is written", damage_is_found_before_anything_is_written, &kinds[i]);
        test_add("without memory there is no set", without_memory_there_is_no_set, &kinds[i]);
    }
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++)
        test_add("a failing disk leaves no half set", a_failing_disk_leaves_no_half_set, &troubles[i]);
    test_add("a process that dies leaves no half set", a_process_that_dies_leaves_no_half_set, NULL);
    for (size_t i = 0; i < 4; i++)
        test_add_once("it takes a small part of the result", it_takes_a_small_part_of_the_result, &numbers[i]);
    return test_run("merge stored", argc, argv);
}
