/*
 * What the database has committed survives a power cut at any moment, and a disk that fails or is full at any call.
 * Each time the database is what some number of whole batches make of it, not fewer than were acknowledged.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "crawler/database/batches.h"
#include "crawler/database/failing_disk.h"
#include "support/env.h"

enum { IMAGES = 5 };

typedef struct place {
    char folder[TEST_PATH], path[TEST_PATH], after[TEST_PATH], after_path[TEST_PATH];
} place;

static void make_place(place *here)
{
    test_folder_new(here->folder, false);
    test_folder_new(here->after, false);
    test_path(here->path, here->folder, "crawl.db");
    test_path(here->after_path, here->after, "crawl.db");
}

static void remove_place(const place *here)
{
    test_folder_remove(here->folder);
    test_folder_remove(here->after);
}

static int execute(crawl_db *db, const char *text)
{
    return sqlite3_exec(db_sqlite(db), text, NULL, NULL, NULL);
}

/* Looks at what power cuts now could leave. Returns the fewest batches that were found. */
static uint64_t check_images(const place *here, uint64_t least, uint64_t images)
{
    uint64_t fewest = BATCHES;
    for (uint64_t seed = 0; seed < images; seed++) {
        test_folder_remove(here->after);
        assert_int_equal(mkdir(here->after, 0700), 0);
        power_image(seed, here->after);
        uint64_t found = check_file(here->after_path, least);
        fewest = found < fewest ? found : fewest;
    }
    return fewest;
}

/* ---- power cuts ---- */

/* Commits all batches, with a power cut after each; `least` of them must be there. */
static uint64_t run_batches(const char *settings, bool must_be_there)
{
    place here;
    char why[256] = "";
    crawl_db *db;
    uint64_t lost = 0;
    make_place(&here);
    power_begin(here.folder);
    check(db_open(&db, here.path, DB_WRITE, false, why) == VIDI_OK, "%s", why);
    assert_int_equal(execute(db, "PRAGMA wal_autocheckpoint = 12"), SQLITE_OK);
    assert_int_equal(execute(db, settings), SQLITE_OK);
    for (uint64_t batch = 1; batch <= BATCHES; batch++) {
        uint64_t before = power.syncs;
        assert_int_equal(commit_batch(db, batch), VIDI_OK);
        if (must_be_there)
            check(power.syncs > before, "batch %llu was not synced", (unsigned long long)batch);
        lost += batch - check_images(&here, must_be_there ? batch : 0, IMAGES);
    }
    db_close(db);
    power_end();
    assert_int_equal(check_file(here.path, BATCHES), BATCHES);
    remove_place(&here);
    return lost;
}

static void committed_batches_survive_a_power_cut(void **state)
{
    (void)state;
    assert_int_equal(run_batches("PRAGMA cache_size = -8192", true), 0);
    assert_int_equal(run_batches("PRAGMA cache_size = 10", true), 0); /* pages are written before the commit */
}

/* The test above can fail: this is what it finds if commits are not synced. */
static void without_full_syncs_they_would_not(void **state)
{
    (void)state;
    assert_true(run_batches("PRAGMA synchronous = NORMAL", false) > 0);
}

static void a_cut_in_the_middle_of_a_transaction_leaves_the_one_before(void **state)
{
    (void)state;
    place here;
    char why[256] = "";
    crawl_db *db;
    make_place(&here);
    power_begin(here.folder);
    check(db_open(&db, here.path, DB_WRITE, false, why) == VIDI_OK, "%s", why);
    assert_int_equal(execute(db, "PRAGMA cache_size = 10"), SQLITE_OK); /* so that much is written early */
    for (uint64_t batch = 1; batch <= BATCHES; batch++) {
        assert_int_equal(db_begin(db), VIDI_OK);
        assert_int_equal(write_batch(db, batch), VIDI_OK);
        assert_int_equal(check_images(&here, batch - 1, IMAGES), batch - 1);
        assert_int_equal(db_commit(db), VIDI_OK);
    }
    db_close(db);
    power_end();
    remove_place(&here);
}

/* ---- faults ---- */

typedef struct fault {
    uint64_t at;
    int error;
    bool for_ever;
} fault;

/*
 * What the crawl does: a batch that fails is written again a few times; then it gives up. Returns those acknowledged.
 */
static uint64_t crawl_with_faults(crawl_db *db, bool *gave_up)
{
    uint64_t batch = 0;
    *gave_up = false;
    while (batch < BATCHES && !*gave_up) {
        int error = VIDI_OK;
        for (int tries = 0; tries < 3; tries++) {
            error = commit_batch(db, batch + 1);
            assert_false(db_is_open(db));
            if (!error)
                break;
            assert_true(error == VIDI_EIO || error == VIDI_ELIMIT);
            assert_true(db_error(db)[0] != 0);
        }
        *gave_up = error != VIDI_OK;
        batch += !error;
    }
    return batch;
}

/* One run with one fault. False when the fault comes too late to happen. */
static bool run_fault(const fault *fault)
{
    place here;
    char why[256] = "";
    crawl_db *db;
    bool gave_up = false;
    uint64_t acknowledged = 0;
    make_place(&here);
    power_begin(here.folder);
    power_fail(fault->at, fault->error, fault->for_ever);
    int error = db_open(&db, here.path, DB_WRITE, false, why);
    if (error) {
        assert_true(power.failed > 0);
        assert_true(error == VIDI_EIO || error == VIDI_ELIMIT);
        assert_non_null(strstr(why, "crawl.db"));
    } else {
        assert_int_equal(execute(db, "PRAGMA wal_autocheckpoint = 12; PRAGMA cache_size = 10"), SQLITE_OK);
        acknowledged = crawl_with_faults(db, &gave_up);
        assert_true(!gave_up || power.failed > 0);
        assert_true(gave_up || acknowledged == BATCHES);
    }
    check_images(&here, acknowledged, test_long() ? IMAGES : 1);
    db_close(db);
    check_images(&here, acknowledged, test_long() ? IMAGES : 1);
    bool happened = power.failed > 0;
    power_end();
    check_file(here.path, acknowledged);
    remove_place(&here);
    return happened;
}

/* In the long run at every call; otherwise the four sorts of fault take turns, under the sanitizers at every second. */
static void no_fault_loses_a_batch_or_half_of_one(void **state)
{
    (void)state;
    static const int errors[] = {SQLITE_IOERR, SQLITE_FULL};
    for (unsigned i = 0; i < 4; i++) {
        fault fault = {.at = test_long()        ? 1
                             : test_sanitized() ? 1 + 2 * i
                                                : 1 + i,
                       .error = errors[i / 2],
                       .for_ever = i % 2};
        while (run_fault(&fault))
            fault.at += test_long() ? 1 : test_sanitized() ? 8 : 4;
        assert_true(fault.at > 50);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(committed_batches_survive_a_power_cut),
        cmocka_unit_test(without_full_syncs_they_would_not),
        cmocka_unit_test(a_cut_in_the_middle_of_a_transaction_leaves_the_one_before),
        cmocka_unit_test(no_fault_loses_a_batch_or_half_of_one),
    };
    return cmocka_run_group_tests_name("database power", tests, NULL, NULL);
}
