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
static void begin(town *begun)
{
    *begun = (town){.web = site_open(2), .whole = {.hosts = 2, .pages = 120, .seed = 3}};
    world_web_make(begun->web, &begun->whole);
    site_walk(begun->web, begun->whole.made, 2, -1);
    site_serve(begun->web);
    crawling_begin(&begun->crawl, begun->whole.made, 2);
    begun->crawl.options.max_pages = 40;
    crawling_must(&begun->crawl, CRAWL_LIMIT);
    begun->crawl.options.max_pages = 0;
}

static void end(town *town)
{
    crawling_end(&town->crawl);
    site_close(town->web);
    free(town->whole.made);
}

static void goes_on_and_is_right(town *town)
{
    crawling_must(&town->crawl, CRAWL_DONE);
    crawling_judge(&town->crawl, town->web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
}

static void is_refused(town *town, const char *word)
{
    check(crawling_run(&town->crawl) == CRAWL_FAILED && strstr(town->crawl.why, word), "it says: %s", town->crawl.why);
}

static void another_kind_is_refused(void **state)
{
    (void)state;
    town town;
    begin(&town);
    town.crawl.options.set.kind = "hashset";
    is_refused(&town, "--kind fingerprint");
    town.crawl.options.set.kind = "fingerprint";
    goes_on_and_is_right(&town);
    end(&town);
}

static void another_canonical_form_is_refused(void **state)
{
    (void)state;
    town town;
    begin(&town);
    town.crawl.options.set.canon = "crawl";
    is_refused(&town, "--canon whatwg");
    town.crawl.options.set.canon = "whatwg";
    goes_on_and_is_right(&town);
    end(&town);
}

static void a_set_that_is_gone_is_made_again(void **state)
{
    (void)state;
    town town;
    char seen[TEST_PATH];
    begin(&town);
    test_path(seen, town.crawl.state, "seen");
    test_folder_remove(seen);
    goes_on_and_is_right(&town);
    end(&town);
}

/* Opens the database of a crawl that is not running. */
static crawl_db *open_database(town *town)
{
    char path[TEST_PATH], why[256];
    crawl_db *db;
    test_path(path, town->crawl.state, "crawl.db");
    check(db_open(&db, path, DB_WRITE, false, why) == VIDI_OK, "%s", why);
    return db;
}

static void write_params(town *town, const char *params)
{
    crawl_db *db = open_database(town);
    check(db_begin(db) == VIDI_OK && db_set_text(db, "asked_params", (vidi_str){params, strlen(params)}) == VIDI_OK &&
              db_commit(db) == VIDI_OK,
          "%s", db_error(db));
    db_close(db);
}

/* Before the new set is there, the database says that it has nothing: so its rows are added even after a crash. */
static void making_the_set_again_can_be_interrupted(void **state)
{
    (void)state;
    town town;
    char seen[TEST_PATH];
    int64_t synced_to = -1;
    begin(&town);
    test_path(seen, town.crawl.state, "seen");
    test_folder_remove(seen);
    write_params(&town, "nonsense=1"); /* the set cannot be made: as if the process ended there */
    is_refused(&town, "nonsense");
    crawl_db *db = open_database(&town);
    check(db_get(db, "synced_to", &synced_to) == VIDI_OK && synced_to == 0, "it is %lld", (long long)synced_to);
    db_close(db);
    write_params(&town, "");
    vidi_options empty = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_set *set;
    empty.path = seen;
    empty.access = &access;
    access.owner = CRAWL_OWNER;
    check(vidi_create(&set, &empty) == VIDI_OK, "%s", vidi_message());
    vidi_close(set);
    goes_on_and_is_right(&town);
    end(&town);
}

static void a_damaged_set_is_refused_with_advice(void **state)
{
    (void)state;
    town town;
    char seen[TEST_PATH], command[2 * TEST_PATH];
    begin(&town);
    test_path(seen, town.crawl.state, "seen");
    snprintf(command, sizeof command, "for f in %s/*; do printf damaged > \"$f\"; done", seen);
    check(system(command) == 0, "the files are overwritten");
    is_refused(&town, "--rebuild-seen");
    town.crawl.options.rebuild_seen = true;
    goes_on_and_is_right(&town);
    end(&town);
}

static void a_set_without_its_database_is_refused(void **state)
{
    (void)state;
    town town;
    char path[TEST_PATH];
    begin(&town);
    static const char *const names[] = {"crawl.db", "crawl.db-wal", "crawl.db-shm"};
    for (int i = 0; i < 3; i++) {
        test_path(path, town.crawl.state, names[i]);
        unlink(path);
    }
    is_refused(&town, "crawl.db");
    end(&town);
}

static void must_warn(town *town, const char *word)
{
    crawl *opened;
    uint64_t before = town->crawl.warnings;
    check(crawl_open(&opened, &town->crawl.options, town->crawl.why) == VIDI_OK, "%s", town->crawl.why);
    crawl_close(opened);
    if (word)
        check(town->crawl.warnings == before + 1 && strstr(town->crawl.warned, word), "it says: %s",
              town->crawl.warned);
    else
        check(town->crawl.warnings == before, "it says: %s", town->crawl.warned);
}

static void links_that_were_left_out_before_are_told(void **state)
{
    (void)state;
    static const char *const patterns[] = {"/private/*"};
    town town;
    begin(&town);
    must_warn(&town, NULL);
    town.crawl.options.max_depth = 3;
    must_warn(&town, NULL);
    town.crawl.options.max_depth = 5;
    must_warn(&town, "--depth 3");
    town.crawl.options.max_depth = 2;
    must_warn(&town, NULL);
    town.crawl.options.exclude = patterns;
    town.crawl.options.exclude_count = 1;
    must_warn(&town, "--exclude");
    must_warn(&town, NULL);
    town.crawl.options.check = true;
    must_warn(&town, "--check");
    must_warn(&town, NULL);
    end(&town);
}

static void two_crawls_in_one_folder_are_refused(void **state)
{
    (void)state;
    town town;
    crawl *first;
    char why[512];
    begin(&town);
    check(crawl_open(&first, &town.crawl.options, why) == VIDI_OK, "%s", why);
    is_refused(&town, "process");
    crawl_close(first);
    goes_on_and_is_right(&town);
    end(&town);
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
