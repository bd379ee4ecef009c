/*
 * The checker of crawls finds every fault that is planted in a good crawl. Without this, a test that finds no faults
 * would mean little.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/runner.h"

/* Each line of the output has the fields that the checker reads. */
static int write_line(void *context, const crawl_outcome *outcome, bytes *to)
{
    (void)context;
    return bytes_append_format(to, "{\"url\":\"%.*s\",\"status\":%d}\n", (int)outcome->url.len, outcome->url.ptr,
                               outcome->row.status);
}

typedef struct fixture {
    site *web;
    world_web whole;
    crawling self;
    char output[TEST_PATH];
} fixture;

static int begin(void **state)
{
    fixture *of = site_memory(sizeof *of);
    of->web = site_open(3);
    of->whole = (world_web){.hosts = 3, .pages = 60, .seed = 5};
    world_web_make(of->web, &of->whole);
    site_serve(of->web);
    crawling_begin(&of->self, of->whole.made, 3);
    test_path(of->output, of->self.folder, "lines");
    of->self.options.output = of->output;
    of->self.options.line = write_line;
    *state = of;
    crawling_must(&of->self, CRAWL_DONE);
    site_stop(of->web);
    site_walk(of->web, of->whole.made, 3, -1);
    crawling_judge(&of->self, of->web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    return 0;
}

static int end(void **state)
{
    fixture *of = *state;
    crawling_end(&of->self);
    free(of->whole.made);
    site_close(of->web);
    free(of);
    return 0;
}

static judgement judge(const fixture *of)
{
    judgement result;
    judge_crawl(&result, of->web, of->self.state, of->output, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    return result;
}

/* Every fault that was planted is taken back. */
static void check_whole(const fixture *of)
{
    judgement result = judge(of);
    check(judge_faults(&result, 0) == 0, "%s; %s", result.first, result.check.first);
}

/* ---- the database ---- */

static void change(const fixture *of, const char *statement)
{
    sqlite3 *db = NULL;
    char path[TEST_PATH], *why = NULL;
    test_path(path, of->self.state, "crawl.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    check(sqlite3_exec(db, statement, NULL, NULL, &why) == SQLITE_OK, "%s: %s", statement, why);
    sqlite3_free(why);
    sqlite3_close(db);
}

static void faults_in_the_database_are_found(void **state)
{
    const fixture *of = *state;
    /* The table of outcomes may have a key that forbids a second one; a copy of it has none. */
    change(of, "CREATE TABLE planted AS SELECT * FROM outcomes");
    change(of, "DROP VIEW IF EXISTS pages");
    change(of, "ALTER TABLE outcomes RENAME TO original");
    change(of, "ALTER TABLE planted RENAME TO outcomes");
    check_whole(of);

    change(of, "DELETE FROM outcomes WHERE id = 7");
    check(judge(of).check.unanswered == 1, "an outcome that is missing");
    change(of, "INSERT INTO outcomes SELECT * FROM original WHERE id = 7");
    check_whole(of);

    change(of, "INSERT INTO outcomes SELECT * FROM original WHERE id = 9");
    check(judge(of).check.answered_twice == 1, "a second outcome");
    change(of, "DELETE FROM outcomes WHERE rowid = (SELECT max(rowid) FROM outcomes WHERE id = 9)");

    change(of, "UPDATE outcomes SET status = 500 WHERE id = 11");
    check(judge(of).wrong == 1, "a wrong status");
    change(of, "UPDATE outcomes SET status = (SELECT status FROM original WHERE id = 11) WHERE id = 11");

    change(of, "UPDATE outcomes SET offset = offset + 1 WHERE id = 1");
    judgement moved = judge(of);
    check(moved.check.misplaced == 1 && moved.check.unclaimed == 1, "a wrong place");
    change(of, "UPDATE outcomes SET offset = offset - 1 WHERE id = 1");

    change(of, "UPDATE meta SET value = value + 1 WHERE name = 'pages'");
    check(judge(of).check.miscounts == 1, "a wrong counter");
    change(of, "UPDATE meta SET value = value - 1 WHERE name = 'pages'");

    change(of, "CREATE TABLE kept AS SELECT * FROM urls WHERE id = 13");
    change(of, "DELETE FROM urls WHERE id = 13");
    judgement dropped = judge(of);
    check(dropped.missing == 1 && dropped.check.strays == 1, "a URL that is missing: %s", dropped.first);
    change(of, "INSERT INTO urls SELECT * FROM kept");
    change(of, "UPDATE kept SET id = 100000");
    change(of, "INSERT INTO urls SELECT * FROM kept");
    judgement twice = judge(of);
    check(twice.check.repeated == 1 && twice.check.unanswered == 1, "a URL with two rows");
    change(of, "DELETE FROM urls WHERE id = 100000");

    check_whole(of);
}

/* ---- the archive ---- */

static char *load(const char *path, size_t *length)
{
    site_text text = {0};
    check(site_text_load(&text, path) && text.length > 0, "no %s", path);
    *length = text.length;
    return text.at;
}

static void save(const char *path, const void *data, size_t length)
{
    FILE *file = fopen(path, "wb");
    check(file && fwrite(data, 1, length, file) == length && fclose(file) == 0, "cannot write %s", path);
}

static void every_flipped_byte_of_the_archive_is_found(void **state)
{
    const fixture *of = *state;
    char path[TEST_PATH];
    size_t length;
    test_path(path, of->self.state, "archive/vidi-00000.warc.gz");
    char *data = load(path, &length);
    uint64_t found = 0, tried = 0;
    for (size_t at = 0; at < length; at += length / 97) {
        data[at] ^= 0x20;
        save(path, data, length);
        data[at] ^= 0x20;
        checker_report report;
        checker_look(&report, of->self.state, NULL, NULL, NULL);
        found += checker_faults(&report) > 0;
        tried++;
    }
    /* Of each member six bytes are its date, flags and system, which nothing depends on. */
    check(tried > 90 && found + 10 >= tried, "%llu of %llu found", (unsigned long long)found,
          (unsigned long long)tried);
    save(path, data, length - 1);
    check(judge(of).check.bad_records > 0, "the last byte is missing");
    save(path, data, length);
    check_whole(of);
    free(data);
}

/* ---- the output ---- */

static void faults_in_the_output_are_found(void **state)
{
    const fixture *of = *state;
    size_t length;
    char *data = load(of->output, &length);
    char *first = strchr(data, '\n') + 1;
    size_t second = (size_t)(strchr(first, '\n') + 1 - first);

    save(of->output, first, length - (size_t)(first - data));
    check(judge(of).check.missing_lines == 1, "a line is missing");
    save(of->output, data, length - 1);
    check(judge(of).check.bad_lines == 1, "the last line is torn");
    char *more = site_memory(length + second);
    memcpy(more, data, length);
    memcpy(more + length, first, second);
    save(of->output, more, length + second);
    check(judge(of).check.repeated_lines == 1, "a line is repeated");
    first[-1] = ' ';
    save(of->output, data, length);
    check(judge(of).check.missing_lines == 1, "two lines are glued");
    first[-1] = '\n';
    save(of->output, data, length);
    check_whole(of);
    free(data);
    free(more);
}

/* ---- the site ---- */

static void other_pages_than_the_truth_are_found(void **state)
{
    const fixture *of = *state;
    site_page *some = of->whole.made[0], *other = of->whole.made[1];
    some->reached = false;
    check(judge(of).unexpected == 1, "a page that must not be visited");
    some->reached = true;
    other->requests++;
    check(judge(of).repeated == 1, "a page that was asked for twice");
    other->requests--;
    check_whole(of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(faults_in_the_database_are_found, begin, end),
        cmocka_unit_test_setup_teardown(every_flipped_byte_of_the_archive_is_found, begin, end),
        cmocka_unit_test_setup_teardown(faults_in_the_output_are_found, begin, end),
        cmocka_unit_test_setup_teardown(other_pages_than_the_truth_are_found, begin, end),
    };
    return cmocka_run_group_tests_name("crawler/sites/site_checker", tests, NULL, NULL);
}
