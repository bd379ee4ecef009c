/*
 * What the ledger has committed survives a power cut at any moment, and a disk that fails or is full at any call. Each
 * time the database is what some number of whole batches make of it, not fewer than were acknowledged.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "crawler/ledger/ledger.h"
#include "crawler/ledger/power.h"
#include "support/env.h"

enum { BATCHES = 6, ADDED = 5, IMAGES = 5 };

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

/* ---- the scenario: batch b has the outcomes of the URLs of batch b - 1, and new URLs ---- */

static int add_urls(ledger *of, uint64_t batch)
{
    int error = VIDI_OK;
    for (uint64_t i = 0; !error && i < ADDED; i++) {
        char text[400];
        int n = snprintf(text, sizeof text, "http://%llu.test/%0300llu", (unsigned long long)i % 3,
                         (unsigned long long)batch);
        frontier_url url = {.host = 1 + i % 3, .url = {text, (size_t)n}};
        error = frontier_add(ledger_frontier(of), &url);
    }
    return error;
}

static int drop_all(frontier *of)
{
    frontier_block block = {0};
    uint64_t host = 0;
    int error;
    while ((error = frontier_host(of, 0, host, &host)) == VIDI_OK) {
        error = frontier_take(of, 0, host, 0, &block);
        if (!error)
            error = frontier_drop(of, 0, host, block.number);
        if (error)
            break;
    }
    bytes_free(&block.text);
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

static int write_batch(ledger *of, uint64_t batch)
{
    ledger_host host = {.id = batch, .origin = {"http://a", 8}, .robots = {"User-agent: *\n", 14}};
    int error = drop_all(ledger_frontier(of));
    for (uint64_t i = 1; !error && batch > 1 && i <= ADDED; i++) {
        ledger_outcome outcome = {.id = (batch - 2) * ADDED + i, .status = 200, .bytes = 100};
        if (i == 1)
            outcome.reason = "timeout";
        error = ledger_outcome_add(of, &outcome);
    }
    if (!error)
        error = add_urls(of, batch);
    if (!error)
        error = ledger_set(of, "batch", (int64_t)batch);
    if (!error)
        error = ledger_host_write(of, &host);
    if (!error && batch % 3) /* otherwise the URLs wait for the next sort */
        error = frontier_sort(ledger_frontier(of), 100);
    return error;
}

static int commit_batch(ledger *of, uint64_t batch)
{
    int error = ledger_begin(of);
    if (!error)
        error = write_batch(of, batch);
    if (!error)
        error = ledger_commit(of);
    if (error)
        ledger_rollback(of);
    return error;
}

static int execute(ledger *of, const char *text)
{
    return sqlite3_exec(ledger_database(of), text, NULL, NULL, NULL);
}

/* ---- what must be there ---- */

static int64_t ask(ledger *of, const char *query)
{
    sqlite3_stmt *statement;
    sqlite3 *db = ledger_database(of);
    check(sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK, "%s: %s", query, sqlite3_errmsg(db));
    check(sqlite3_step(statement) == SQLITE_ROW, "%s: %s", query, sqlite3_errmsg(db));
    int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

/* The database has whole batches, and at least so many. Returns how many. */
static uint64_t check_whole(ledger *of, uint64_t least)
{
    int64_t batches = 0;
    int code = ledger_get(of, "batch", &batches);
    assert_true(code == VIDI_OK || (code == VIDI_EABSENT && batches == 0));
    check((uint64_t)batches >= least, "%lld batches are there, %llu were acknowledged", (long long)batches,
          (unsigned long long)least);
    int64_t done = batches ? (batches - 1) * ADDED : 0;
    assert_int_equal(ask(of, "SELECT count(*) FROM urls"), batches * ADDED);
    assert_int_equal(ask(of, "SELECT count(*) FROM outcomes"), done);
    assert_int_equal(ask(of, "SELECT count(*) FROM hosts"), batches);
    assert_int_equal(ask(of, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    ledger_totals totals;
    assert_int_equal(ledger_total(of, &totals), VIDI_OK);
    assert_int_equal(totals.urls, batches * ADDED);
    assert_int_equal(totals.fetched + totals.failed, done);
    assert_int_equal(totals.failed, batches ? batches - 1 : 0);
    assert_int_equal(totals.queue, batches ? ADDED : 0);
    assert_int_equal(totals.hosts, batches);
    return (uint64_t)batches;
}

/* Each URL without an outcome can be taken out. */
static void check_queue(ledger *of, uint64_t batches)
{
    frontier *queue = ledger_frontier(of);
    frontier_block block = {0};
    uint64_t host = 0, found = 0;
    assert_int_equal(ledger_begin(of), VIDI_OK);
    assert_int_equal(frontier_sort(queue, 1000), VIDI_OK);
    for (; frontier_host(queue, 0, host, &host) == VIDI_OK; host++)
        for (uint64_t after = 0; frontier_take(queue, 0, host, after, &block) == VIDI_OK; after = block.number)
            for (size_t i = 0; i < block.count; i++)
                found += ledger_is_done(of, block.urls[i].id) == 0;
    ledger_rollback(of);
    bytes_free(&block.text);
    assert_int_equal(found, batches ? ADDED : 0);
}

static uint64_t check_file(const char *path, uint64_t least)
{
    char why[256] = "";
    ledger *of;
    check(ledger_open(&of, path, LEDGER_WRITE, false, why) == VIDI_OK, "%s", why);
    uint64_t batches = check_whole(of, least);
    check_queue(of, batches);
    if (batches < BATCHES) /* and it goes on */
        assert_int_equal(commit_batch(of, batches + 1), VIDI_OK);
    ledger_close(of);
    return batches;
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
    ledger *of;
    uint64_t lost = 0;
    make_place(&here);
    power_begin(here.folder);
    check(ledger_open(&of, here.path, LEDGER_WRITE, false, why) == VIDI_OK, "%s", why);
    assert_int_equal(execute(of, "PRAGMA wal_autocheckpoint = 12"), SQLITE_OK);
    assert_int_equal(execute(of, settings), SQLITE_OK);
    for (uint64_t batch = 1; batch <= BATCHES; batch++) {
        uint64_t before = power.syncs;
        assert_int_equal(commit_batch(of, batch), VIDI_OK);
        if (must_be_there)
            check(power.syncs > before, "batch %llu was not synced", (unsigned long long)batch);
        lost += batch - check_images(&here, must_be_there ? batch : 0, IMAGES);
    }
    ledger_close(of);
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
    ledger *of;
    make_place(&here);
    power_begin(here.folder);
    check(ledger_open(&of, here.path, LEDGER_WRITE, false, why) == VIDI_OK, "%s", why);
    assert_int_equal(execute(of, "PRAGMA cache_size = 10"), SQLITE_OK); /* so that much is written early */
    for (uint64_t batch = 1; batch <= BATCHES; batch++) {
        assert_int_equal(ledger_begin(of), VIDI_OK);
        assert_int_equal(write_batch(of, batch), VIDI_OK);
        assert_int_equal(check_images(&here, batch - 1, IMAGES), batch - 1);
        assert_int_equal(ledger_commit(of), VIDI_OK);
    }
    ledger_close(of);
    power_end();
    remove_place(&here);
}

/* ---- faults ---- */

typedef struct fault {
    uint64_t at;
    int error;
    bool for_ever;
} fault;

/* What the crawl does: a batch that fails is written again a few times; then it gives up. Returns those acknowledged. */
static uint64_t crawl_with_faults(ledger *of, bool *gave_up)
{
    uint64_t batch = 0;
    *gave_up = false;
    while (batch < BATCHES && !*gave_up) {
        int error = VIDI_OK;
        for (int tries = 0; tries < 3; tries++) {
            error = commit_batch(of, batch + 1);
            assert_false(ledger_is_open(of));
            if (!error)
                break;
            assert_true(error == VIDI_EIO || error == VIDI_ELIMIT);
            assert_true(ledger_error(of)[0] != 0);
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
    ledger *of;
    bool gave_up = false;
    uint64_t acknowledged = 0;
    make_place(&here);
    power_begin(here.folder);
    power_fail(fault->at, fault->error, fault->for_ever);
    int error = ledger_open(&of, here.path, LEDGER_WRITE, false, why);
    if (error) {
        assert_true(power.failed > 0);
        assert_true(error == VIDI_EIO || error == VIDI_ELIMIT);
        assert_non_null(strstr(why, "crawl.db"));
    } else {
        assert_int_equal(execute(of, "PRAGMA wal_autocheckpoint = 12; PRAGMA cache_size = 10"), SQLITE_OK);
        acknowledged = crawl_with_faults(of, &gave_up);
        assert_true(!gave_up || power.failed > 0);
        assert_true(gave_up || acknowledged == BATCHES);
    }
    check_images(&here, acknowledged, test_long() ? IMAGES : 1);
    ledger_close(of);
    check_images(&here, acknowledged, test_long() ? IMAGES : 1);
    bool happened = power.failed > 0;
    power_end();
    check_file(here.path, acknowledged);
    remove_place(&here);
    return happened;
}

static void no_fault_loses_a_batch_or_half_of_one(void **state)
{
    (void)state;
    static const int errors[] = {SQLITE_IOERR, SQLITE_FULL};
    for (int i = 0; i < 4; i++) {
        fault fault = {.at = 1, .error = errors[i / 2], .for_ever = i % 2};
        while (run_fault(&fault))
            fault.at++;
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
    return cmocka_run_group_tests_name("ledger power", tests, NULL, NULL);
}
