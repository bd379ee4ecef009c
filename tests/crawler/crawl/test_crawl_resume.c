/* Opening a state: it goes on if it is the crawl that the user means and is whole, and says why if not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crawler/crawl/crawl_state.h"
#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/check.h"

typedef struct town {
    site *web;
    world_web whole;
    crawling crawl;
} town;

/* A crawl that has ended at a limit: some of its URLs are still in the queue. */
static void begin(town *of)
{
    *of = (town){.web = site_open(2), .whole = {.hosts = 2, .pages = 120, .seed = 3}};
    world_web_make(of->web, &of->whole);
    site_walk(of->web, of->whole.made, 2, -1);
    site_serve(of->web);
    crawling_begin(&of->crawl, of->whole.made, 2);
    of->crawl.options.max_pages = 40;
    crawling_must(&of->crawl, CRAWL_LIMIT);
    of->crawl.options.max_pages = 0;
}

static void end(town *of)
{
    crawling_end(&of->crawl);
    site_close(of->web);
    free(of->whole.made);
}

static void goes_on_and_is_right(town *of)
{
    crawling_must(&of->crawl, CRAWL_DONE);
    crawling_judge(&of->crawl, of->web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
}

static void is_refused(town *of, const char *word)
{
    check(crawling_run(&of->crawl) == CRAWL_FAILED && strstr(of->crawl.why, word), "it says: %s", of->crawl.why);
}

static void another_kind_is_refused(void **state)
{
    (void)state;
    town of;
    begin(&of);
    of.crawl.options.set.kind = "hashset";
    is_refused(&of, "--kind fingerprint");
    of.crawl.options.set.kind = "fingerprint";
    goes_on_and_is_right(&of);
    end(&of);
}

static void another_canonical_form_is_refused(void **state)
{
    (void)state;
    town of;
    begin(&of);
    of.crawl.options.set.canon = "crawl";
    is_refused(&of, "--canon whatwg");
    of.crawl.options.set.canon = "whatwg";
    goes_on_and_is_right(&of);
    end(&of);
}

static void a_set_that_is_gone_is_made_again(void **state)
{
    (void)state;
    town of;
    char seen[TEST_PATH];
    begin(&of);
    test_path(seen, of.crawl.state, "seen");
    test_folder_remove(seen);
    goes_on_and_is_right(&of);
    end(&of);
}

/* Opens the database of a crawl that is not running. */
static crawl_db *open_database(town *of)
{
    char path[TEST_PATH], why[256];
    crawl_db *db;
    test_path(path, of->crawl.state, "crawl.db");
    check(db_open(&db, path, DB_WRITE, false, why) == VIDI_OK, "%s", why);
    return db;
}

static void write_params(town *of, const char *params)
{
    crawl_db *db = open_database(of);
    check(db_begin(db) == VIDI_OK && db_set_text(db, "asked_params", (vidi_str){params, strlen(params)}) == VIDI_OK &&
              db_commit(db) == VIDI_OK,
          "%s", db_error(db));
    db_close(db);
}

/* Before the new set is there, the database says that it has nothing: so its rows are added even after a crash. */
static void making_the_set_again_can_be_interrupted(void **state)
{
    (void)state;
    town of;
    char seen[TEST_PATH];
    int64_t synced_to = -1;
    begin(&of);
    test_path(seen, of.crawl.state, "seen");
    test_folder_remove(seen);
    write_params(&of, "nonsense=1"); /* the set cannot be made: as if the process ended there */
    is_refused(&of, "nonsense");
    crawl_db *db = open_database(&of);
    check(db_get(db, "synced_to", &synced_to) == VIDI_OK && synced_to == 0, "it is %lld", (long long)synced_to);
    db_close(db);
    write_params(&of, "");
    vidi_options empty = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *set;
    empty.path = seen;
    empty.access = &access;
    access.owner = CRAWL_OWNER;
    check(vidi_create(&set, &empty) == VIDI_OK, "%s", vidi_message());
    vidi_close(set);
    goes_on_and_is_right(&of);
    end(&of);
}

static void a_damaged_set_is_refused_with_advice(void **state)
{
    (void)state;
    town of;
    char seen[TEST_PATH], command[2 * TEST_PATH];
    begin(&of);
    test_path(seen, of.crawl.state, "seen");
    snprintf(command, sizeof command, "for f in %s/*; do printf damaged > \"$f\"; done", seen);
    check(system(command) == 0, "the files are overwritten");
    is_refused(&of, "--rebuild-seen");
    of.crawl.options.rebuild_seen = true;
    goes_on_and_is_right(&of);
    end(&of);
}

static void a_set_without_its_database_is_refused(void **state)
{
    (void)state;
    town of;
    char path[TEST_PATH];
    begin(&of);
    static const char *const names[] = {"crawl.db", "crawl.db-wal", "crawl.db-shm"};
    for (int i = 0; i < 3; i++) {
        test_path(path, of.crawl.state, names[i]);
        unlink(path);
    }
    is_refused(&of, "crawl.db");
    end(&of);
}

static void must_warn(town *of, const char *word)
{
    crawl *opened;
    uint64_t before = of->crawl.warnings;
    check(crawl_open(&opened, &of->crawl.options, of->crawl.why) == VIDI_OK, "%s", of->crawl.why);
    crawl_close(opened);
    if (word)
        check(of->crawl.warnings == before + 1 && strstr(of->crawl.warned, word), "it says: %s", of->crawl.warned);
    else
        check(of->crawl.warnings == before, "it says: %s", of->crawl.warned);
}

static void links_that_were_left_out_before_are_told(void **state)
{
    (void)state;
    static const char *const patterns[] = {"/private/*"};
    town of;
    begin(&of);
    must_warn(&of, NULL);
    of.crawl.options.max_depth = 3;
    must_warn(&of, NULL);
    of.crawl.options.max_depth = 5;
    must_warn(&of, "--depth 3");
    of.crawl.options.max_depth = 2;
    must_warn(&of, NULL);
    of.crawl.options.exclude = patterns;
    of.crawl.options.exclude_count = 1;
    must_warn(&of, "--exclude");
    must_warn(&of, NULL);
    of.crawl.options.check = true;
    must_warn(&of, "--check");
    must_warn(&of, NULL);
    end(&of);
}

static void two_crawls_in_one_folder_are_refused(void **state)
{
    (void)state;
    town of;
    crawl *first;
    char why[512];
    begin(&of);
    check(crawl_open(&first, &of.crawl.options, why) == VIDI_OK, "%s", why);
    is_refused(&of, "process");
    crawl_close(first);
    goes_on_and_is_right(&of);
    end(&of);
}

static void seeds_that_cannot_be_fetched_are_refused(void **state)
{
    (void)state;
    static const char *const seeds[][2] = {{"ftp://example.org/", "http"},
                                           {"example", "cannot crawl"},
                                           {"http://example.org:25/", "port"},
                                           {"http://user:secret@example.org:25/", "user name"}};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        char folder[TEST_PATH], path[TEST_PATH], why[512];
        crawl *opened;
        vidi_str seed = {seeds[i][0], strlen(seeds[i][0])};
        test_folder_new(folder, false);
        test_path(path, folder, "state");
        crawl_options options = {.folder = path, .seeds = &seed, .seed_count = 1, .max_depth = -1, .delay = -1};
        int error = crawl_open(&opened, &options, why);
        check(error && strstr(why, seeds[i][1]) && !strstr(why, "secret"), "%s: %d %s", seeds[i][0], error, why);
        check(access(path, F_OK) != 0, "nothing is made for %s", seeds[i][0]);
        test_folder_remove(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_kind_is_refused),
        cmocka_unit_test(another_canonical_form_is_refused),
        cmocka_unit_test(a_set_that_is_gone_is_made_again),
        cmocka_unit_test(making_the_set_again_can_be_interrupted),
        cmocka_unit_test(a_damaged_set_is_refused_with_advice),
        cmocka_unit_test(a_set_without_its_database_is_refused),
        cmocka_unit_test(links_that_were_left_out_before_are_told),
        cmocka_unit_test(two_crawls_in_one_folder_are_refused),
        cmocka_unit_test(seeds_that_cannot_be_fetched_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
