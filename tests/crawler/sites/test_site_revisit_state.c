/*
 * Visits with a state that is not as it should be: the visit before is not finished, nothing is stored, the archive is
 * damaged or part of it is missing, the set or the database is an older one.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crawler/site/child.h"
#include "crawler/site/scene.h"
#include "support/runner.h"

enum { PAGES = 40, FAN = 3 };

/* A tree of pages, which all have validators. */
static void tree_begin(scene *self)
{
    site_page *pages[PAGES];
    scene_begin(self);
    pages[0] = self->seed;
    for (int n = 1; n < PAGES; n++) {
        char target[16];
        snprintf(target, sizeof target, "/%d", n);
        pages[n] = scene_link(self, pages[(n - 1) / FAN], target);
    }
    for (int n = 0; n < PAGES; n++) {
        site_say(pages[n], "<p>%0400d", n);
        pages[n]->answer.etag = "\"one\"";
    }
    scene_expect(self, "new");
}

static void expect_status(const scene *self, int status)
{
    for (size_t i = 0; i < self->web->page_count; i++)
        self->web->pages[i]->status = status;
}

/* The next visit, in which all pages are what they were and give this status. */
static void visit_unchanged(scene *self, int status)
{
    scene_expect(self, "unchanged");
    expect_status(self, status);
    scene_visit(self);
    scene_judge(self, -1, JUDGE_REQUESTS);
}

static size_t count_conditional(const scene *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->web->log_count; i++) {
        const char *head = self->web->log[i].head;
        count += strstr(head, "If-None-Match") || strstr(head, "If-Modified-Since");
    }
    return count;
}

/* ---- which visit ---- */

static void an_unfinished_visit_is_continued(void **state)
{
    scene scene;
    (void)state;
    tree_begin(&scene);
    scene.self.options.max_pages = 10;
    scene_run(&scene, CRAWL_LIMIT);
    scene.self.options.max_pages = 0;
    scene.self.options.revisit = true;
    scene_run(&scene, CRAWL_DONE);
    check(strstr(scene.self.warned, "visit 1 is not finished"), "it says: %s", scene.self.warned);
    scene_judge(&scene, -1, 0);
    assert_int_equal(scene_number(&scene, "SELECT max(visit) FROM epochs"), 1);
    scene.visits = 1;
    visit_unchanged(&scene, 304);
    scene.self.options.revisit = false;
    scene_run(&scene, CRAWL_DONE);
    assert_int_equal(scene.web->log_count, 0);
    assert_int_equal(scene_number(&scene, "SELECT max(visit) FROM epochs"), 2);
    scene_end(&scene);
}

static void must_be_in_visit(const scene *scene, int visit, int exhausted)
{
    assert_int_equal(scene_number(scene, "SELECT max(visit) FROM epochs"), visit);
    assert_int_equal(scene_number(scene, "SELECT value FROM meta WHERE name = 'exhausted'"), exhausted);
}

/* What waits for a parked host is no reason to go on with the visit; what another limit has left is. */
static void a_visit_that_waits_for_parked_hosts_alone_is_over(void **state)
{
    scene scene;
    crawl *opened;
    (void)state;
    tree_begin(&scene);
    crawl_options *options = &scene.self.options;
    options->max_host_pages = 5;
    scene_run(&scene, CRAWL_LIMIT);
    assert_string_equal(scene.self.why, "1 host is parked");
    must_be_in_visit(&scene, 1, 1);
    options->revisit = true;
    scene_run(&scene, CRAWL_LIMIT);
    assert_string_equal(scene.self.why, "1 host is parked");
    must_be_in_visit(&scene, 2, 1);
    options->max_pages = 2;
    scene_run(&scene, CRAWL_LIMIT);
    must_be_in_visit(&scene, 3, 0);
    scene_run(&scene, CRAWL_LIMIT); /* which goes on with that visit */
    must_be_in_visit(&scene, 3, 0);
    options->max_pages = 0;
    scene_run(&scene, CRAWL_LIMIT);
    must_be_in_visit(&scene, 3, 1);
    /* A run may change the limit. If it does not come to its end, nobody knows what is left. */
    options->revisit = false;
    options->max_host_pages = 0;
    check(crawl_open(&opened, options, scene.self.why) == VIDI_OK, "%s", scene.self.why);
    crawl_close(opened);
    must_be_in_visit(&scene, 3, 0);
    options->revisit = true;
    scene_run(&scene, CRAWL_DONE);
    must_be_in_visit(&scene, 3, 1);
    scene_end(&scene);
}

/* The first --revisit of a new folder is the first visit. */
static void a_new_crawl_may_say_revisit(void **state)
{
    scene scene;
    (void)state;
    tree_begin(&scene);
    scene.visits = 1;
    scene_visit(&scene);
    assert_int_equal(scene_number(&scene, "SELECT max(visit) FROM epochs"), 1);
    scene_end(&scene);
}

/* ---- what is stored ---- */

static void without_an_archive_requests_are_unconditional(void **state)
{
    scene scene;
    (void)state;
    tree_begin(&scene);
    scene_visit(&scene);
    visit_unchanged(&scene, 304);
    assert_int_equal(count_conditional(&scene), PAGES);

    scene.self.options.no_store = true;
    for (size_t i = 0; i < scene.web->page_count; i++)
        scene.web->pages[i]->unstored = true;
    visit_unchanged(&scene, 200);
    assert_int_equal(count_conditional(&scene), 0);

    scene.self.options.no_store = false;
    for (size_t i = 0; i < scene.web->page_count; i++)
        scene.web->pages[i]->unstored = false;
    visit_unchanged(&scene, 200); /* what the last visit has read is stored nowhere */
    visit_unchanged(&scene, 304);
    scene_end(&scene);
}

/* What becomes of a file of the archive. */
static void halve(const char *path, size_t length)
{
    check(truncate(path, (off_t)length / 2) == 0, "cannot shorten %s", path);
}

static void spoil(const char *path, size_t length)
{
    FILE *file = fopen(path, "r+b");
    check(file != NULL, "no %s", path);
    for (size_t at = 50; at < length; at += 400) {
        fseek(file, (long)at, SEEK_SET);
        int byte = fgetc(file);
        fseek(file, (long)at, SEEK_SET);
        fputc(byte ^ 0x55, file);
    }
    fclose(file);
}

typedef void damage(const char *path, size_t length);

/* Files that a later visit does not append to. */
static unsigned damage_archive(const scene *self, damage *how)
{
    unsigned files = 0;
    struct stat about;
    for (;; files++) {
        char name[64], path[TEST_PATH], next[TEST_PATH];
        snprintf(name, sizeof name, "archive/vidi-%05u.warc.gz", files);
        test_path(path, self->self.state, name);
        snprintf(name, sizeof name, "archive/vidi-%05u.warc.gz", files + 1);
        test_path(next, self->self.state, name);
        if (access(next, F_OK) != 0)
            return files;
        check(stat(path, &about) == 0, "no %s", path);
        if (files % 2 == 0)
            how(path, (size_t)about.st_size);
    }
}

/* Pages whose record cannot be read are requested whole, and so their links are found. */
static void a_damaged_archive_costs_requests_and_no_page(void **state)
{
    damage *const *how = *state;
    scene scene;
    judgement result;
    (void)state;
    tree_begin(&scene);
    scene.self.options.archive_bytes = 3000;
    scene_visit(&scene);
    check(damage_archive(&scene, *how) > 3, "the archive has too few files");
    for (int visit = 2; visit <= 3; visit++) {
        size_t whole = 0, twice = 0;
        scene_expect(&scene, "unchanged");
        expect_status(&scene, SITE_ANY_STATUS);
        scene.self.options.revisit = true;
        scene.self.warned[0] = 0;
        scene_run(&scene, CRAWL_DONE);
        for (size_t i = 0; i < scene.web->log_count; i++)
            whole += scene.web->log[i].status == 200;
        for (size_t i = 0; i < scene.web->page_count; i++)
            twice += scene.web->pages[i]->requests > 1;
        site_walk(scene.web, &scene.seed, 1, -1);
        judge_crawl(&result, scene.web, scene.self.state, NULL, 0, NULL, NULL);
        check(result.right == PAGES && result.wrong + result.missing + result.unexpected == 0 &&
                  result.check.unanswered + result.check.answered_twice + result.check.repeated +
                          result.check.misattributed ==
                      0,
              "visit %d: %s; %s", visit, result.first, result.check.first);
        print_message("# visit %d: %zu pages requested whole, %zu of them twice\n", visit, whole, twice);
        if (visit == 2)
            check(whole >= PAGES / 4 && strstr(scene.self.warned, "archive"), "%zu pages are requested whole: %s",
                  whole, scene.self.warned);
        else /* What was requested whole is stored again */
            check(whole == 0, "%zu pages are requested whole once more", whole);
    }
    scene_end(&scene);
}

/* A file that is missing is asked for, as ever. Without the archive the visit needs nothing of it. */
static void a_missing_archive_file_is_told(void **state)
{
    scene scene;
    char path[TEST_PATH], kept[TEST_PATH];
    (void)state;
    tree_begin(&scene);
    scene.self.options.archive_bytes = 3000;
    scene_visit(&scene);
    test_path(path, scene.self.state, "archive/vidi-00000.warc.gz");
    test_path(kept, scene.self.folder, "kept");
    check(rename(path, kept) == 0, "cannot move %s", path);
    scene.self.options.revisit = true;
    crawl_end end = crawling_run(&scene.self);
    check(end == CRAWL_FAILED && strstr(scene.self.why, "vidi-00000.warc.gz is missing"), "it ends with %d: %s",
          (int)end, scene.self.why);
    assert_int_equal(scene_number(&scene, "SELECT max(visit) FROM epochs"), 1);
    scene.self.options.no_store = true;
    scene_expect(&scene, "unchanged");
    scene_run(&scene, CRAWL_DONE);
    assert_int_equal(scene_number(&scene, "SELECT count(*) FROM visits WHERE visit = 2 AND change = 'unchanged'"),
                     PAGES);
    check(rename(kept, path) == 0, "cannot move %s", kept);
    scene.self.options.no_store = false;
    visit_unchanged(&scene, 200);
    scene_end(&scene);
}

/* ---- older parts ---- */

static void copy_tree(const char *from, const char *to)
{
    child_plan plan = {.words = {"/bin/cp", "-a", from, to}};
    test_folder_remove(to);
    check(child_run(&plan) == 0, "cannot copy %s", from);
}

static void part(char path[TEST_PATH], const scene *self, const char *name, bool is_kept)
{
    char file[64];
    snprintf(file, sizeof file, "%s%s", is_kept ? "kept-" : "state/", name);
    test_path(path, self->self.folder, file);
}

/*
 * A set or a database from the time before the second visit does not fit the other, and is refused with a sentence that
 * says what to do. That then loses nothing.
 */
static void an_older_part_is_refused(void **state)
{
    const char *name = *state;
    char here[TEST_PATH], kept[TEST_PATH];
    scene scene;
    tree_begin(&scene);
    scene_visit(&scene);
    part(here, &scene, name, false);
    part(kept, &scene, name, true);
    copy_tree(here, kept);
    visit_unchanged(&scene, 304);
    copy_tree(kept, here);
    for (int revisit = 0; revisit < 2; revisit++) {
        scene.self.options.revisit = revisit;
        crawl_end end = crawling_run(&scene.self);
        check(end == CRAWL_FAILED && strstr(scene.self.why, "--rebuild-seen"), "the crawl ends with %d and says: %s",
              (int)end, scene.self.why);
    }
    scene.self.options.rebuild_seen = true;
    bool lost_visit = strcmp(name, "crawl.db") == 0;
    scene.visits = lost_visit ? 1 : 2;
    visit_unchanged(&scene, 304);
    assert_int_equal(scene_number(&scene, "SELECT max(visit) FROM epochs"), lost_visit ? 2 : 3);
    scene_end(&scene);
}

/* In the middle of the second visit the set is damaged, and made again from the rows of this visit. */
static void the_set_of_a_second_visit_can_be_made_again(void **state)
{
    char seen[TEST_PATH];
    scene scene;
    const bool *is_missing = *state;
    tree_begin(&scene);
    scene_visit(&scene);
    scene_expect(&scene, "unchanged");
    expect_status(&scene, 304);
    scene.self.options.revisit = true;
    scene.self.options.max_pages = PAGES / 2;
    scene_run(&scene, CRAWL_LIMIT);
    if (*is_missing) {
        part(seen, &scene, "seen", false);
        test_folder_remove(seen);
    }
    scene.self.options.rebuild_seen = !*is_missing;
    scene.self.options.max_pages = 0;
    scene_run(&scene, CRAWL_DONE);
    check(scene.web->log_count < PAGES * 3 / 4, "%zu requests", scene.web->log_count);
    scene_judge(&scene, -1, 0);
    scene.self.options.rebuild_seen = false;
    scene.visits = 2;
    visit_unchanged(&scene, 304);
    assert_int_equal(scene_number(&scene, "SELECT max(visit) FROM epochs"), 3);
    scene_end(&scene);
}

int main(int argc, char **argv)
{
    static damage *const damages[] = {halve, spoil};
    static const char *const names[] = {"shortened", "damaged"};
    static const bool yes = true, no = false;
    test_add("an unfinished visit is continued", an_unfinished_visit_is_continued, NULL);
    test_add("a visit that waits for parked hosts alone is over", a_visit_that_waits_for_parked_hosts_alone_is_over,
             NULL);
    test_add("a new crawl may say --revisit", a_new_crawl_may_say_revisit, NULL);
    test_add("without an archive requests are unconditional", without_an_archive_requests_are_unconditional, NULL);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char name[128];
        snprintf(name, sizeof name, "a damaged archive costs requests and no page: %s", names[i]);
        test_add(name, a_damaged_archive_costs_requests_and_no_page, &damages[i]);
    }
    test_add("a missing archive file is told", a_missing_archive_file_is_told, NULL);
    test_add("an older set is refused", an_older_part_is_refused, "seen");
    test_add("an older database is refused", an_older_part_is_refused, "crawl.db");
    test_add("the set of a second visit can be made again: damaged", the_set_of_a_second_visit_can_be_made_again, &no);
    test_add("the set of a second visit can be made again: missing", the_set_of_a_second_visit_can_be_made_again, &yes);
    return test_run("crawler/sites/site_revisit_state", argc, argv);
}
