/*
 * A folder whose parts do not belong together is refused, or nothing is lost by going on with it.
 *
 * A crawl is copied at many moments, each time between two commits: the parts of a copy are of one moment, as a crash
 * would leave them. Then folders are put together from parts of different moments, as a copy that takes its time, a
 * backup that is brought back in part, or a bad disk would. Each of them is crawled to the end, and what came of it is
 * judged by the site's own truth: refused, or no page is missing. Whatever was refused is tried again with the set made
 * from the database.
 *
 *   VIDI_TEST_SEED   the seed that a failure has printed: only that story is told
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { MOMENTS = 12, STORIES = 60, LONG_STORIES = 3000, PAGES = 260, EVERY = 23 };

static const char *const parts[] = {"crawl.db", "crawl.db-wal", "seen", "archive"};
enum { PARTS = sizeof parts / sizeof *parts };

static struct {
    site *web;
    world_web whole;
    crawling crawl;         /* the one that is copied */
    char copies[TEST_PATH]; /* FOLDER/0, FOLDER/1, … */
    unsigned lines, moments;
} town;

/* ---- copying ---- */

static void moment_path(char path[TEST_PATH], unsigned moment, const char *part)
{
    char folder[TEST_PATH];
    snprintf(path, TEST_PATH, "%u", moment);
    test_path(folder, town.copies, path);
    test_path(path, folder, part);
}

/* A file or a folder of files. It need not be there. */
static void copy_part(const char *from, const char *to)
{
    char command[3 * TEST_PATH];
    snprintf(command, sizeof command, "rm -rf '%s'; cp -a '%s' '%s' 2>&-", to, from, to);
    check(system(command) >= 0, "a copy");
}

static void copy_all(const char *to)
{
    char from[TEST_PATH], part[TEST_PATH];
    mkdir(to, 0700);
    for (size_t i = 0; i < PARTS; i++) {
        test_path(from, town.crawl.state, parts[i]);
        test_path(part, to, parts[i]);
        copy_part(from, part);
    }
}

/* What is in the log is copied to the database, so that the log begins anew. */
static void checkpoint(void)
{
    char path[TEST_PATH];
    sqlite3 *db = NULL;
    test_path(path, town.crawl.state, "crawl.db");
    check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, "vidi-checked") == SQLITE_OK, "%s", sqlite3_errmsg(db));
    check(sqlite3_exec(db, "PRAGMA wal_checkpoint(PASSIVE)", NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* In the thread that commits, while a batch is written: nothing but this happens meanwhile. */
static int copy_now_and_then(void *context, const crawl_outcome *outcome, bytes *to)
{
    char path[TEST_PATH];
    (void)context;
    (void)outcome;
    if (town.lines++ % EVERY == 0 && town.moments < MOMENTS) {
        if (town.moments % 3 == 2)
            checkpoint();
        moment_path(path, town.moments++, "");
        path[strlen(path) - 1] = 0;
        copy_all(path);
    }
    return bytes_append_text(to, "line\n");
}

/* ---- crawling on ---- */

/* The crawl in this folder, to its end. Refused, or nothing may be missing. True: it was refused. */
static bool go_on(crawling *crawling, const char *story)
{
    judgement result;
    if (crawling_run(crawling) == CRAWL_FAILED)
        return true;
    judge_crawl(&result, town.web, crawling->state, NULL, 0, NULL, NULL);
    check(result.missing == 0 && result.wrong == 0 && result.check.unanswered == 0,
          "%s: %llu of %llu pages are missing, %llu wrong, %llu without an outcome: %s; %s", story,
          (unsigned long long)result.missing, (unsigned long long)result.expected, (unsigned long long)result.wrong,
          (unsigned long long)result.check.unanswered, result.first, result.check.first);
    return false;
}

static void begin_story(crawling *crawling)
{
    crawling_begin(crawling, town.whole.made, town.whole.hosts);
    mkdir(crawling->state, 0700);
}

static void take_part(const crawling *crawling, unsigned moment, const char *part)
{
    char from[TEST_PATH], to[TEST_PATH];
    moment_path(from, moment, part);
    test_path(to, crawling->state, part);
    copy_part(from, to);
}

static void take_moment(const crawling *crawling, unsigned moment)
{
    for (size_t i = 0; i < PARTS; i++)
        take_part(crawling, moment, parts[i]);
}

/* ---- faults ---- */

/* The last part of the file is of another moment. */
static void mix_file(const crawling *crawling, const char *name, unsigned moment, test_random *random)
{
    char from[TEST_PATH], to[TEST_PATH], command[4 * TEST_PATH];
    moment_path(from, moment, name);
    test_path(to, crawling->state, name);
    unsigned at = (unsigned)test_below(random, 12);
    snprintf(command, sizeof command, "dd if='%s' of='%s' bs=16384 skip=%u seek=%u conv=notrunc 2>&-", from, to, at,
             at);
    check(system(command) >= 0, "a mixture");
}

/* Half of the set's files are of another moment. */
static void mix_set(const crawling *crawling, unsigned moment, test_random *random)
{
    char from[TEST_PATH], to[TEST_PATH], command[3 * TEST_PATH];
    moment_path(from, moment, "seen");
    test_path(to, crawling->state, "seen");
    snprintf(command, sizeof command, "cp '%s'/%s '%s'/ 2>&-", from, test_below(random, 2) ? "log.*" : "[se]*", to);
    check(system(command) >= 0, "a mixture");
}

static void flip(const char *path, test_random *random)
{
    struct stat about;
    unsigned char byte;
    int fd = open(path, O_RDWR);
    if (fd < 0 || fstat(fd, &about) != 0 || about.st_size == 0) {
        close(fd);
        return;
    }
    off_t at = (off_t)test_below(random, (uint64_t)about.st_size);
    check(pread(fd, &byte, 1, at) == 1, "a byte");
    byte ^= (unsigned char)(1U << test_below(random, 8));
    check(pwrite(fd, &byte, 1, at) == 1, "another");
    close(fd);
}

/* Puts a folder together; returns what was done in words. */
static void compose(const crawling *crawling, test_random *random, char story[200])
{
    uint64_t seed = random->state;
    unsigned first = (unsigned)test_below(random, town.moments), second = (unsigned)test_below(random, town.moments);
    unsigned how = (unsigned)test_below(random, 6);
    char path[TEST_PATH];
    take_moment(crawling, first);
    if (how == 0) { /* a slow copy, or a backup of some parts */
        for (size_t i = 0; i < PARTS; i++)
            if (test_below(random, 2))
                take_part(crawling, second, parts[i]);
    } else if (how == 1) {
        take_part(crawling, second, "seen");
    } else if (how == 2) {
        mix_file(crawling, test_below(random, 2) ? "crawl.db" : "crawl.db-wal", second, random);
    } else if (how == 3) {
        mix_set(crawling, second, random);
    } else if (how == 4) {
        test_path(path, crawling->state, "crawl.db-wal");
        flip(path, random);
    } else {
        test_path(path, crawling->state, "crawl.db");
        flip(path, random);
    }
    snprintf(story, 200, "seed %llu: moments %u and %u of %u, mixed in way %u", (unsigned long long)seed, first, second,
             town.moments, how);
}

/* ---- tests ---- */

static void no_mixture_of_moments_loses_a_page(void **state)
{
    (void)state;
    unsigned stories = test_long() ? LONG_STORIES : test_sanitized() ? STORIES / 6 : STORIES;
    unsigned refused = 0, rebuilt = 0;
    const char *only = getenv("VIDI_TEST_SEED");
    for (unsigned i = 0; i < stories; i++) {
        test_random random = {only ? strtoull(only, NULL, 10) : i * 1000 + 7};
        char story[200];
        crawling crawling;
        begin_story(&crawling);
        compose(&crawling, &random, story);
        if (go_on(&crawling, story)) {
            refused++;
            check(strlen(crawling.why) > 20, "%s: refused without a reason: %s", story, crawling.why);
            crawling.options.rebuild_seen = true;
            rebuilt += !go_on(&crawling, story);
        }
        crawling_end(&crawling);
        if (only)
            break;
    }
    print_message("# %u stories; %u were refused, of which %u went on with --rebuild-seen\n", stories, refused,
                  rebuilt);
    if (!only && stories >= STORIES) /* fewer may all be of one sort */
        check(refused > stories / 8 && rebuilt > 0 && refused < stories, "the stories prove nothing");
}

static void each_moment_can_be_gone_on_with(void **state)
{
    (void)state;
    for (unsigned i = 0; i < town.moments; i += 3) {
        crawling crawling;
        begin_story(&crawling);
        take_moment(&crawling, i);
        check(!go_on(&crawling, "a crash"), "moment %u: %s", i, crawling.why);
        crawling_end(&crawling);
    }
}

/* The crawl is refused with these words, and goes on if the set is made again. */
static void is_refused(crawling *crawling, const char *word)
{
    check(go_on(crawling, "an older part") && strstr(crawling->why, word), "it says: %s", crawling->why);
    crawling->options.rebuild_seen = true;
    check(!go_on(crawling, "made again"), "%s", crawling->why);
    check(test_folder_count(crawling->state, "seen.old.1") == 1, "the old set is gone");
}

static void an_older_database_of_the_same_run_is_refused(void **state)
{
    (void)state;
    crawling crawling;
    char from[TEST_PATH], to[TEST_PATH];
    begin_story(&crawling);
    take_moment(&crawling, town.moments - 4);
    test_path(from, town.crawl.state, "seen"); /* as the run has left it */
    test_path(to, crawling.state, "seen");
    copy_part(from, to);
    is_refused(&crawling, "crawl.db is older than seen");
    crawling_end(&crawling);
}

/* A part of an earlier run is brought back. */
static void is_refused_from_before(const char *part, const char *word)
{
    crawling crawling;
    char now[TEST_PATH], before[TEST_PATH];
    begin_story(&crawling);
    test_path(now, crawling.state, part);
    test_path(before, crawling.folder, "before");
    crawling.options.max_pages = 60;
    crawling_must(&crawling, CRAWL_LIMIT);
    copy_part(now, before);
    crawling.options.max_pages = 150;
    crawling_must(&crawling, CRAWL_LIMIT);
    crawling.options.max_pages = 0;
    copy_part(before, now);
    is_refused(&crawling, word);
    crawling_end(&crawling);
}

static void a_database_of_an_earlier_run_is_refused(void **state)
{
    (void)state;
    is_refused_from_before("crawl.db", "different times");
}

static void an_older_set_is_refused(void **state)
{
    (void)state;
    is_refused_from_before("seen", "seen is older than crawl.db");
}

static void records_that_an_older_database_does_not_know_are_kept(void **state)
{
    (void)state;
    crawling crawling;
    char path[TEST_PATH];
    begin_story(&crawling);
    take_moment(&crawling, 2);
    take_part(&crawling, town.moments - 1, "archive");
    check(!go_on(&crawling, "an older database"), "%s", crawling.why);
    test_path(path, crawling.state, "archive");
    check(test_folder_count(path, "cut.1") == 1, "what was cut off is gone");
    crawling_end(&crawling);
}

/* Pages of different moments, as SQLite does not notice them: a block of the queue is not there yet, or no longer. */
static void a_copy_that_lacks_a_part_of_the_queue_is_refused(void **state)
{
    (void)state;
    crawling crawling;
    sqlite3 *db = NULL;
    char path[TEST_PATH];
    begin_story(&crawling);
    take_moment(&crawling, town.moments / 2);
    test_path(path, crawling.state, "crawl.db");
    check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, "vidi-checked") == SQLITE_OK &&
              sqlite3_exec(db, "DELETE FROM queue", NULL, NULL, NULL) == SQLITE_OK && sqlite3_changes(db) > 0,
          "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    check(go_on(&crawling, "a part of the queue") && strstr(crawling.why, "not in the queue"), "it says: %s",
          crawling.why);
    crawling_end(&crawling);
}

/* Continued in two places: the set of one does not go with the database of the other, however far each has come. */
static void two_continued_copies_do_not_mix(void **state)
{
    (void)state;
    crawling one, two;
    char from[TEST_PATH], to[TEST_PATH];
    begin_story(&one);
    begin_story(&two);
    take_moment(&one, 3);
    take_moment(&two, 3);
    one.options.max_pages = 150;
    crawling_must(&one, CRAWL_LIMIT);
    check(!go_on(&two, "the other"), "%s", two.why);
    test_path(from, one.state, "seen");
    test_path(to, two.state, "seen");
    copy_part(from, to);
    check(go_on(&two, "mixed") && strstr(two.why, "different times"), "it says: %s", two.why);
    crawling_end(&one);
    crawling_end(&two);
}

/* Nor does the archive of one, which is long enough, go with the database of the other. */
static void an_archive_of_another_crawl_is_refused(void **state)
{
    (void)state;
    crawling one;
    char from[TEST_PATH], to[TEST_PATH];
    begin_story(&one);
    take_moment(&one, 3);
    one.options.max_pages = 150;
    crawling_must(&one, CRAWL_LIMIT);
    one.options.max_pages = 0;
    test_path(from, town.crawl.state, "archive");
    test_path(to, one.state, "archive");
    copy_part(from, to);
    check(go_on(&one, "mixed") && strstr(one.why, "--no-store"), "it says: %s", one.why);
    check(test_folder_count(to, "cut.1") == 0, "it was cut");
    one.options.no_store = true;
    crawling_must(&one, CRAWL_DONE);
    crawling_end(&one);
}

static int begin(void **state)
{
    (void)state;
    town.web = site_open(2);
    town.whole = (world_web){.hosts = 2, .pages = PAGES, .seed = 11};
    world_web_make(town.web, &town.whole);
    site_walk(town.web, town.whole.made, 2, -1);
    site_serve(town.web);
    test_folder_new(town.copies, false);
    crawling_begin(&town.crawl, town.whole.made, 2);
    town.crawl.options.output = "/dev/null";
    town.crawl.options.line = copy_now_and_then;
    town.crawl.options.max_pages = 60; /* two runs, so that some moments are of the first */
    crawling_must(&town.crawl, CRAWL_LIMIT);
    town.crawl.options.max_pages = 0;
    crawling_must(&town.crawl, CRAWL_DONE);
    check(town.moments > 6, "only %u moments", town.moments);
    return 0;
}

static int end(void **state)
{
    (void)state;
    crawling_end(&town.crawl);
    test_folder_remove(town.copies);
    site_close(town.web);
    free(town.whole.made);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_moment_can_be_gone_on_with),
        cmocka_unit_test(an_older_database_of_the_same_run_is_refused),
        cmocka_unit_test(a_database_of_an_earlier_run_is_refused),
        cmocka_unit_test(an_older_set_is_refused),
        cmocka_unit_test(records_that_an_older_database_does_not_know_are_kept),
        cmocka_unit_test(a_copy_that_lacks_a_part_of_the_queue_is_refused),
        cmocka_unit_test(two_continued_copies_do_not_mix),
        cmocka_unit_test(an_archive_of_another_crawl_is_refused),
        cmocka_unit_test(no_mixture_of_moments_loses_a_page),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
