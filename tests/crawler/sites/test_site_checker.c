/*
 * The checker of crawls finds every fault that is planted in a good crawl. Without this, a test that finds no faults
 * would mean little.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/archive/warc_reader.h"
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
    fixture *fixture = site_memory(sizeof *fixture);
    fixture->web = site_open(3);
    fixture->whole = (world_web){.hosts = 3, .pages = 60, .seed = 5};
    world_web_make(fixture->web, &fixture->whole);
    for (int i = 0; i < 4; i++) {
        site_page *copy = site_page_add(fixture->web, 1, "/copy/%d", i);
        site_say(copy, "the same on all of these pages");
        site_link_to(fixture->whole.made[0], copy);
    }
    site_serve(fixture->web);
    crawling_begin(&fixture->self, fixture->whole.made, 3);
    test_path(fixture->output, fixture->self.folder, "lines");
    fixture->self.options.output = fixture->output;
    fixture->self.options.line = write_line;
    *state = fixture;
    crawling_must(&fixture->self, CRAWL_DONE);
    site_stop(fixture->web);
    site_walk(fixture->web, fixture->whole.made, 3, -1);
    crawling_judge(&fixture->self, fixture->web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    return 0;
}

static int end(void **state)
{
    fixture *fixture = *state;
    crawling_end(&fixture->self);
    free(fixture->whole.made);
    site_close(fixture->web);
    free(fixture);
    return 0;
}

static judgement judge(const fixture *fixture)
{
    judgement result;
    judge_crawl(&result, fixture->web, fixture->self.state, fixture->output, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    return result;
}

/* Every fault that was planted is taken back. */
static void check_whole(const fixture *fixture)
{
    judgement result = judge(fixture);
    check(judge_faults(&result, 0) == 0, "%s; %s", result.first, result.check.first);
}

/* ---- the database ---- */

static void change(const fixture *fixture, const char *statement)
{
    sqlite3 *db = NULL;
    char path[TEST_PATH], *why = NULL;
    test_path(path, fixture->self.state, "crawl.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    check(sqlite3_exec(db, statement, NULL, NULL, &why) == SQLITE_OK, "%s: %s", statement, why);
    sqlite3_free(why);
    sqlite3_close(db);
}

static void faults_in_the_database_are_found(void **state)
{
    const fixture *fixture = *state;
    /* The table of outcomes may have a key that forbids a second one; a copy of it has none. */
    change(fixture, "CREATE TABLE planted AS SELECT * FROM outcomes");
    change(fixture, "PRAGMA legacy_alter_table = ON; ALTER TABLE outcomes RENAME TO original; "
                    "ALTER TABLE planted RENAME TO outcomes"); /* the views are now about the copy */
    check_whole(fixture);

    change(fixture, "DELETE FROM outcomes WHERE id = 7");
    check(judge(fixture).check.unanswered == 1, "an outcome that is missing");
    change(fixture, "INSERT INTO outcomes SELECT * FROM original WHERE id = 7");
    check_whole(fixture);

    change(fixture, "INSERT INTO outcomes SELECT * FROM original WHERE id = 9");
    check(judge(fixture).check.answered_twice > 0, "a second outcome");
    change(fixture, "DELETE FROM outcomes WHERE rowid = (SELECT max(rowid) FROM outcomes WHERE id = 9)");

    change(fixture, "UPDATE outcomes SET status = 500 WHERE id = 11");
    check(judge(fixture).wrong == 1, "a wrong status");
    change(fixture, "UPDATE outcomes SET status = (SELECT status FROM original WHERE id = 11) WHERE id = 11");

    change(fixture, "UPDATE outcomes SET offset = offset + 1 WHERE id = 1");
    judgement moved = judge(fixture);
    check(moved.check.misplaced == 1 && moved.check.unclaimed == 1, "a wrong place");
    change(fixture, "UPDATE outcomes SET offset = offset - 1 WHERE id = 1");

    change(fixture, "UPDATE meta SET value = value + 1 WHERE name = 'pages'");
    check(judge(fixture).check.miscounts == 1, "a wrong counter");
    change(fixture, "UPDATE meta SET value = value - 1 WHERE name = 'pages'");

    change(fixture, "CREATE TABLE kept AS SELECT * FROM urls WHERE id = 13");
    change(fixture, "DELETE FROM urls WHERE id = 13");
    judgement dropped = judge(fixture);
    check(dropped.missing == 1 && dropped.check.strays == 1, "a URL that is missing: %s", dropped.first);
    change(fixture, "INSERT INTO urls SELECT * FROM kept");
    change(fixture, "UPDATE kept SET id = 100000");
    change(fixture, "INSERT INTO urls SELECT * FROM kept");
    judgement twice = judge(fixture);
    check(twice.check.repeated == 1 && twice.check.unanswered == 1, "a URL with two rows");
    change(fixture, "DELETE FROM urls WHERE id = 100000");

    check_whole(fixture);
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
    const fixture *fixture = *state;
    char path[TEST_PATH];
    size_t length;
    test_path(path, fixture->self.state, "archive/vidi-00000.warc.gz");
    char *data = load(path, &length);
    uint64_t found = 0, tried = 0;
    for (size_t at = 0; at < length; at += length / 97) {
        data[at] ^= 0x20;
        save(path, data, length);
        data[at] ^= 0x20;
        checker_report report;
        checker_look(&report, fixture->self.state, NULL, NULL, NULL);
        found += checker_faults(&report) > 0;
        tried++;
    }
    /* Of each member six bytes are its date, flags and system, which nothing depends on. */
    check(tried > 90 && found + 10 >= tried, "%llu of %llu found", (unsigned long long)found,
          (unsigned long long)tried);
    save(path, data, length - 1);
    check(judge(fixture).check.bad_records > 0, "the last byte is missing");
    save(path, data, length);
    check_whole(fixture);
    free(data);
}

/* ---- several visits ---- */

/* The same site once more. */
static int begin_again(void **state)
{
    fixture *fixture = (begin(state), *state);
    fixture->self.options.revisit = true;
    for (size_t i = 0; i < fixture->web->page_count; i++) {
        site_page *page = fixture->web->pages[i];
        page->change = page->status == 200 ? "unchanged" : NULL;
    }
    site_forget(fixture->web);
    site_serve(fixture->web);
    crawling_must(&fixture->self, CRAWL_DONE);
    site_stop(fixture->web);
    check_whole(fixture);
    return 0;
}

/* Judges the crawl with this change of its database, which is taken back. */
static judgement judge_planted(const fixture *fixture, const char *statement)
{
    char path[TEST_PATH];
    size_t length;
    test_path(path, fixture->self.state, "crawl.db");
    char *data = load(path, &length);
    change(fixture, statement);
    judgement result = judge(fixture);
    save(path, data, length);
    free(data);
    return result;
}

#define LATER "(SELECT first + 7 FROM epochs WHERE visit = 2)"

static void faults_in_visits_are_found(void **state)
{
    const fixture *fixture = *state;
    judgement whole = judge(fixture), found;
    check(whole.check.visits == 2 && whole.check.urls == 2 * whole.expected, "two visits, with all pages each");

    found = judge_planted(fixture, "UPDATE outcomes SET change = 2 WHERE id = " LATER);
    check(found.wrong == 1, "another change: %s", found.first);
    found = judge_planted(fixture, "UPDATE urls SET page = 0 WHERE id = " LATER);
    check(found.check.misattributed > 0, "a row of a page that is called a new one");
    found = judge_planted(fixture, "UPDATE outcomes SET compared = compared + 1 WHERE id = " LATER);
    check(found.check.misattributed == 1, "a row that is compared with another page");
    found = judge_planted(fixture, "UPDATE outcomes SET body = 100000 WHERE id = " LATER);
    check(found.check.misattributed == 1, "a body that is nowhere");
    found = judge_planted(fixture, "DELETE FROM newest WHERE page = 5");
    check(found.check.misattributed == 1, "a page whose newest row is not known");
    found = judge_planted(fixture, "UPDATE newest SET row = page WHERE page = 5");
    check(found.check.misattributed == 2, "a page whose newest row is another one");
    found = judge_planted(fixture, "UPDATE epochs SET first = first + 1 WHERE visit = 2");
    check(found.check.repeated == 1 && found.missing == 1, "a row in another visit");
    found = judge_planted(fixture, "DELETE FROM outcomes WHERE id = 7");
    check(found.check.unanswered == 1, "an outcome of the first visit is missing");
    check(found.check.histories[0] != whole.check.histories[0] && found.check.histories[1] == whole.check.histories[1],
          "the first visit is another one, and only that");
    found = judge_planted(fixture, "UPDATE outcomes SET seconds = seconds + 1 WHERE id = " LATER);
    check(found.check.histories[0] == whole.check.histories[0] && found.check.histories[1] != whole.check.histories[1],
          "the second visit is another one, and only that");
    found = judge_planted(fixture, "UPDATE totals SET fetched = (SELECT count(*) FROM outcomes WHERE reason IS NULL)");
    check(found.check.miscounts == 1, "a counter of all visits");
    check_whole(fixture);
}

/* ---- revisit records ---- */

/* Packs a record with another text in place of a text of the same length. The caller frees it. */
static unsigned char *repack(const unsigned char *plain, size_t n, const char *from, const char *to, size_t *length)
{
    unsigned char *changed = site_memory(n), *packed = site_memory(2 * n + 1000);
    z_stream stream = {.next_in = changed, .avail_in = (uInt)n, .next_out = packed, .avail_out = (uInt)(2 * n + 1000)};
    memcpy(changed, plain, n);
    char *at = memmem(changed, n, from, strlen(from));
    check(at && strlen(from) == strlen(to), "no %s", from);
    memcpy(at, to, strlen(to));
    check(deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK &&
              deflate(&stream, Z_FINISH) == Z_STREAM_END,
          "it cannot be packed");
    *length = stream.total_out;
    deflateEnd(&stream);
    free(changed);
    return packed;
}

/* The last revisit record of the archive: where it is, and its text, which the caller frees. */
static unsigned char *last_revisit(const char *data, size_t n, size_t *at, size_t *used, size_t *length)
{
    unsigned char *found = NULL;
    for (size_t next = 0, member, plain_length; next < n; next += member) {
        unsigned char *plain = warc_member((const unsigned char *)data + next, n - next, &member, &plain_length);
        check(plain != NULL, "no member at %zu", next);
        bool is_revisit = memmem(plain, plain_length, "\r\nWARC-Type: revisit\r\n", 22) != NULL;
        free(is_revisit ? found : plain);
        found = is_revisit ? plain : found;
        *at = is_revisit ? next : *at;
        *used = is_revisit ? member : *used;
        *length = is_revisit ? plain_length : *length;
    }
    check(found != NULL, "there is no revisit record");
    return found;
}

/* The rows follow the records that move because one of them has become shorter or longer. */
static void move_rows(const fixture *fixture, size_t at, size_t from, size_t to)
{
    char statement[200];
    snprintf(statement, sizeof statement, "UPDATE outcomes SET length = %zu WHERE offset = %zu", to, at);
    change(fixture, statement);
    snprintf(statement, sizeof statement, "UPDATE outcomes SET offset = offset + (%zd) WHERE offset > %zu",
             (ssize_t)to - (ssize_t)from, at);
    change(fixture, statement);
}

static void revisit_records_that_refer_to_something_else_are_found(void **state)
{
    static const struct {
        const char *from, *to;
    } faults[] = {
        {"WARC-Refers-To: ", "WARC-Refers-T0: "}, /* the field is missing */
        {"WARC-Refers-To-Target-URI: http://", "WARC-Refers-To-Target-URI: https:/"},
        {"WARC-Refers-To-Date: 2", "WARC-Refers-To-Date: 1"},
        {"WARC-Payload-Digest: sha1:", "WARC-Payload-Digest: sha2:"},
        {"identical-payload-digest", "identical-payload-dagest"},
        {"identical-payload-digest\r\n", "server-not-modified\r\nX:1\r\n"},
    };
    const fixture *fixture = *state;
    char path[TEST_PATH];
    size_t n, at = 0, used = 0, length = 0;
    test_path(path, fixture->self.state, "archive/vidi-00000.warc.gz");
    char *data = load(path, &n);
    unsigned char *plain = last_revisit(data, n, &at, &used, &length);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        size_t changed;
        unsigned char *record = repack(plain, length, faults[i].from, faults[i].to, &changed);
        char *whole = site_memory(n + changed);
        memcpy(whole, data, at);
        memcpy(whole + at, record, changed);
        memcpy(whole + at + changed, data + at + used, n - at - used);
        save(path, whole, n - used + changed);
        move_rows(fixture, at, used, changed);
        check(judge(fixture).check.bad_records == 1, "%s in place of %s", faults[i].to, faults[i].from);
        move_rows(fixture, at, changed, used);
        free(whole);
        free(record);
    }
    save(path, data, n);
    change(fixture, "CREATE TABLE bodies AS SELECT max(id) AS id, body FROM outcomes WHERE body IS NOT NULL");
    change(fixture, "UPDATE outcomes SET body = NULL WHERE id = (SELECT id FROM bodies)");
    check(judge(fixture).check.misplaced == 1, "a row that has a revisit record for its body");
    change(fixture, "UPDATE outcomes SET body = 1 WHERE id = (SELECT id FROM bodies)");
    check(judge(fixture).check.misplaced == 1, "a row that names another body");
    change(fixture, "UPDATE outcomes SET body = (SELECT body FROM bodies) WHERE id = (SELECT id FROM bodies)");
    check_whole(fixture);
    free(plain);
    free(data);
}

/* ---- the output ---- */

static void faults_in_the_output_are_found(void **state)
{
    const fixture *fixture = *state;
    size_t length;
    char *data = load(fixture->output, &length);
    char *first = strchr(data, '\n') + 1;
    size_t second = (size_t)(strchr(first, '\n') + 1 - first);

    save(fixture->output, first, length - (size_t)(first - data));
    check(judge(fixture).check.missing_lines == 1, "a line is missing");
    save(fixture->output, data, length - 1);
    check(judge(fixture).check.bad_lines == 1, "the last line is torn");
    char *more = site_memory(length + second);
    memcpy(more, data, length);
    memcpy(more + length, first, second);
    save(fixture->output, more, length + second);
    check(judge(fixture).check.repeated_lines == 1, "a line is repeated");
    first[-1] = ' ';
    save(fixture->output, data, length);
    check(judge(fixture).check.missing_lines == 1, "two lines are glued");
    first[-1] = '\n';
    save(fixture->output, data, length);
    check_whole(fixture);
    free(data);
    free(more);
}

/* ---- the site ---- */

static void other_pages_than_the_truth_are_found(void **state)
{
    const fixture *fixture = *state;
    site_page *some = fixture->whole.made[0], *other = fixture->whole.made[1];
    some->reached = false;
    check(judge(fixture).unexpected == 1, "a page that must not be visited");
    some->reached = true;
    other->requests++;
    check(judge(fixture).repeated == 1, "a page that was asked for twice");
    other->requests--;
    check_whole(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(faults_in_the_database_are_found, begin, end),
        cmocka_unit_test_setup_teardown(every_flipped_byte_of_the_archive_is_found, begin, end),
        cmocka_unit_test_setup_teardown(faults_in_visits_are_found, begin_again, end),
        cmocka_unit_test_setup_teardown(revisit_records_that_refer_to_something_else_are_found, begin, end),
        cmocka_unit_test_setup_teardown(faults_in_the_output_are_found, begin, end),
        cmocka_unit_test_setup_teardown(faults_in_the_output_are_found, begin_again, end),
        cmocka_unit_test_setup_teardown(other_pages_than_the_truth_are_found, begin, end),
    };
    return cmocka_run_group_tests_name("crawler/sites/site_checker", tests, NULL, NULL);
}
