/*
 * Crawls that go on: after failures that pass, with parts of the state missing, with other options, for days. And what
 * must never get into the state: secrets.
 */
#include <dirent.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crawler/site/crawling.h"
#include "crawler/site/program.h"
#include "crawler/site/worlds.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

typedef struct scene {
    site *web;
    site_clock clock;
    crawling self;
    site_page *seed;
} scene;

static void scene_begin(scene *scene, int pages)
{
    scene->web = site_open(2);
    site_clock_begin(&scene->clock);
    scene->web->now = scene->clock.clock.now;
    scene->web->now_context = &scene->clock;
    scene->seed = site_page_add(scene->web, 1, "/");
    for (int n = 0; n < pages; n++)
        site_link_to(scene->seed, site_page_add(scene->web, 1, "/%d", n));
    crawling_begin(&scene->self, &scene->seed, 1);
    scene->self.options.clock = &scene->clock.clock;
}

/* Crawls, and judges with the truth of the site. */
static void scene_crawl(scene *scene, crawl_end end, unsigned flags)
{
    site_serve(scene->web);
    crawling_must(&scene->self, end);
    site_stop(scene->web);
    site_walk(scene->web, &scene->seed, 1, -1);
    crawling_judge(&scene->self, scene->web, JUDGE_STORED | flags, NULL, NULL);
}

static void scene_end(scene *scene)
{
    crawling_end(&scene->self);
    site_close(scene->web);
}

/* ---- failures that pass ---- */

static void failures_that_pass_are_tried_again(void **state)
{
    const site_manner *manner = *state;
    scene scene;
    int64_t times[4];
    size_t count = 0;
    scene_begin(&scene, 5);
    site_page *page = site_find(scene.web, "127.0.1.1", "/2");
    page->early =
        (site_answer){.status = 200, .type = "text/html", .body = "0123456789", .length = 10, .manner = *manner};
    page->early_times = 3;
    scene.self.options.retries = 3;
    scene.self.options.silence_ms = 1000;
    scene_crawl(&scene, CRAWL_DONE, 0);
    for (size_t i = 0; i < scene.web->log_count && count < 4; i++) {
        if (strcmp(scene.web->log[i].target, "/2") == 0)
            times[count++] = scene.web->log[i].began;
    }
    assert_int_equal(page->requests, 4);
    check(times[1] - times[0] >= 1 * SECOND && times[2] - times[1] >= 4 * SECOND && times[3] - times[2] >= 16 * SECOND,
          "tried after %lld, %lld and %lld ms", (long long)(times[1] - times[0]), (long long)(times[2] - times[1]),
          (long long)(times[3] - times[2]));
    scene_end(&scene);
}

static void a_failure_that_stays_is_given_up(void **state)
{
    scene scene;
    (void)state;
    scene_begin(&scene, 5);
    site_page *page = site_find(scene.web, "127.0.1.1", "/2");
    page->answer.manner = SITE_BAD_CHUNK;
    page->reason = "broken";
    page->status = SITE_ANY_STATUS;
    page->barren = true;
    scene.self.options.retries = 2;
    scene_crawl(&scene, CRAWL_DONE, 0);
    assert_int_equal(page->requests, 3);
    scene_end(&scene);
}

/* Neither the page of one host nor the robots.txt of another will be better after a few seconds. */
static void what_is_not_http_is_asked_for_once(void **state)
{
    scene scene;
    (void)state;
    scene_begin(&scene, 5);
    site_page *page = site_find(scene.web, "127.0.1.1", "/2"), *robots = site_robots(scene.web, 2, "");
    site_page *forbidden = site_page_add(scene.web, 2, "/");
    page->answer.manner = robots->answer.manner = SITE_GARBAGE;
    page->reason = forbidden->reason = "broken";
    page->status = forbidden->status = SITE_ANY_STATUS;
    page->barren = forbidden->barren = true;
    site_edge_add(scene.seed, forbidden, true);
    scene.self.seeds[scene.self.options.seed_count++] = (vidi_str){forbidden->url, strlen(forbidden->url)};
    scene.self.options.retries = 3;
    scene_crawl(&scene, CRAWL_DONE, 0);
    assert_int_equal(page->requests, 1);
    assert_int_equal(robots->requests, 1);
    assert_int_equal(forbidden->requests, 0);
    scene_end(&scene);
}

/* ---- the state ---- */

static void a_missing_set_is_made_again(void **state)
{
    scene scene;
    char seen[TEST_PATH];
    (void)state;
    scene_begin(&scene, 30);
    scene.self.options.max_pages = 12;
    scene_crawl(&scene, CRAWL_LIMIT, JUDGE_PARTLY);
    test_path(seen, scene.self.state, "seen");
    test_folder_remove(seen);
    scene.self.options.max_pages = 0;
    scene_crawl(&scene, CRAWL_DONE, JUDGE_REQUESTS);
    scene_end(&scene);
}

static void more_seeds_and_levels_can_follow(void **state)
{
    scene scene;
    (void)state;
    scene_begin(&scene, 10);
    site_page *later = site_page_add(scene.web, 2, "/"), *far = site_page_add(scene.web, 2, "/far");
    site_link_to(later, far);
    site_page *seeds[] = {scene.seed, later};
    site_link_to(site_find(scene.web, "127.0.1.1", "/3"), far); /* out of scope at first */
    scene_crawl(&scene, CRAWL_DONE, JUDGE_PARTLY);
    scene.self.seeds[1] = (vidi_str){later->url, strlen(later->url)};
    scene.self.options.seed_count = 2;
    site_serve(scene.web);
    crawling_must(&scene.self, CRAWL_DONE);
    site_stop(scene.web);
    site_walk(scene.web, seeds, 2, -1);
    crawling_judge(&scene.self, scene.web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    scene_end(&scene);
}

/* The clock skips the waiting, so the pages of a run are known: one each second. */
static void max_time_ends_a_run_and_the_next_goes_on(void **state)
{
    scene scene;
    (void)state;
    scene_begin(&scene, 20);
    scene.self.options.delay = SECOND;
    scene.self.options.max_time = 5 * SECOND;
    scene_crawl(&scene, CRAWL_LIMIT, JUDGE_PARTLY);
    check(strcmp(scene.self.why, "--max-time") == 0, "it ended at %s", scene.self.why);
    check(scene.self.progress.pages > 1 && scene.self.progress.pages <= 6, "%llu pages in 5 seconds",
          (unsigned long long)scene.self.progress.pages);
    uint64_t before = scene.self.progress.pages;
    scene_crawl(&scene, CRAWL_LIMIT, JUDGE_PARTLY); /* it is the time of a run, not of all */
    check(scene.self.progress.pages > before, "the second run has fetched nothing");
    scene.self.options.max_time = 0;
    scene_crawl(&scene, CRAWL_DONE, JUDGE_REQUESTS);
    scene_end(&scene);
}

/* A seed is fetched though a filter of few bits answers SEEN for nearly everything. */
static void seeds_are_fetched_whatever_the_set_says(void **state)
{
    site *web = site_open(1);
    site_page *seeds[40];
    crawling self;
    (void)state;
    for (int i = 0; i < 40; i++)
        seeds[i] = site_page_add(web, 1, "/seed/%d", i);
    site_serve(web);
    crawling_begin(&self, seeds, 40);
    self.options.set.kind = "classic";
    self.options.set.params = "m=64,k=1";
    crawling_must(&self, CRAWL_DONE);
    site_stop(web);
    site_walk(web, seeds, 40, -1);
    crawling_judge(&self, web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    crawling_end(&self);
    site_close(web);
}

static void every_kind_of_set_can_be_used(void **state)
{
    vidi_kind_info kind = {.size = sizeof kind};
    (void)state;
    for (size_t i = 0; vidi_kind(i, &kind) == VIDI_OK; i++) {
        site *web = site_open(2);
        world_web whole = {.hosts = 2, .pages = 60, .seed = 4};
        crawling self;
        world_web_make(web, &whole);
        site_serve(web);
        crawling_begin(&self, whole.made, 2);
        self.options.set.kind = kind.name;
        self.options.set.capacity = 100000;
        crawl_end end = crawling_run(&self);
        check(end == CRAWL_DONE, "%s: %s", kind.name, self.why);
        end = crawling_run(&self); /* it can be opened again */
        check(end == CRAWL_DONE, "%s, again: %s", kind.name, self.why);
        site_stop(web);
        site_walk(web, whole.made, 2, -1);
        crawling_judge(&self, web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
        crawling_end(&self);
        free(whole.made);
        site_close(web);
    }
}

static size_t count_requests(site *web)
{
    pthread_mutex_lock(&web->lock);
    size_t count = web->log_count;
    pthread_mutex_unlock(&web->lock);
    return count;
}

/* Until the server has seen so many more requests, or the process has ended, which stays for waitpid. */
static void wait_for_requests(site *web, size_t more, pid_t process)
{
    static const struct timespec moment = {0, 1000000};
    size_t enough = count_requests(web) + more;
    siginfo_t ended = {0};

    while (count_requests(web) < enough &&
           (waitid(P_PID, (id_t)process, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0))
        nanosleep(&moment, NULL);
}

/* Killed again and again while it goes from one archive file to the next. */
static void a_killed_crawl_goes_on_in_the_right_archive_file(void **state)
{
    site *web = site_open(3);
    world_web whole = {.hosts = 3, .pages = 400, .seed = 6, .body = 2000};
    test_random random = {17};
    crawling self;
    int kills = 0;
    (void)state;
    world_web_make(web, &whole);
    for (size_t i = 0; i < web->page_count; i += 4)
        web->pages[i]->answer.delay_ms = 10;
    site_serve(web);
    crawling_begin(&self, whole.made, 3);
    self.options.archive_bytes = 6000;
    for (int life = 0; life < 15; life++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            _exit(crawling_run(&self) == CRAWL_DONE ? 0 : 1);
        wait_for_requests(web, 1 + test_below(&random, 60), pid);
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        check(!WIFEXITED(status) || WEXITSTATUS(status) == 0, "a life fails");
        kills += WIFSIGNALED(status);
    }
    crawling_must(&self, CRAWL_DONE);
    site_stop(web);
    site_walk(web, whole.made, 3, -1);
    crawling_judge(&self, web, JUDGE_STORED, NULL, NULL);
    check(kills > 3, "only %d kills", kills);
    char archive[TEST_PATH];
    test_path(archive, self.state, "archive");
    check(test_folder_count(archive, "vidi-") > 5, "only %zu files", test_folder_count(archive, "vidi-"));
    crawling_end(&self);
    free(whole.made);
    site_close(web);
}

/* ---- days ---- */

/* robots.txt is asked for again after a day, and a rule that it has then is obeyed. */
static void robots_txt_is_good_for_a_day(void **state)
{
    scene scene;
    enum { PAGES = 200 };
    size_t asked = 0;
    (void)state;
    scene_begin(&scene, PAGES);
    site_page *robots = site_robots(scene.web, 1, "User-agent: *\nDisallow: /\n");
    robots->early = (site_answer){.status = 200, .type = "text/plain", .body = "", .length = 0};
    robots->early_times = 1;
    scene.self.options.delay = 10 * MINUTE; /* 144 pages a day */
    scene.self.options.max_delay = 20 * MINUTE;
    scene.self.options.per_host = 1;
    site_serve(scene.web);
    crawling_must(&scene.self, CRAWL_DONE);
    site_stop(scene.web);
    for (size_t i = 0; i < scene.web->log_count; i++) {
        const site_request *each = &scene.web->log[i];
        if (strcmp(each->target, "/robots.txt") == 0)
            asked++;
        else
            check(each->began <= 24 * HOUR + 20 * MINUTE, "%s was fetched after %lld h", each->target,
                  (long long)(each->began / HOUR));
    }
    check(asked >= 2, "robots.txt was asked for %zu times", asked);
    check(scene.web->log_count > 100, "only %zu requests", scene.web->log_count);
    checker_report report;
    checker_look(&report, scene.self.state, NULL, NULL, NULL);
    check(checker_faults(&report) == 0 && report.urls == PAGES + 1, "%s", report.first);
    scene_end(&scene);
}

/* ---- sitemaps ---- */

static void sitemaps_that_name_each_other_end(void **state)
{
    scene scene;
    (void)state;
    scene_begin(&scene, 1);
    site_page *robots = site_robots(scene.web, 1, "User-agent: *\n");
    site_page *maps[3];
    for (int i = 0; i < 3; i++) {
        maps[i] = site_page_add(scene.web, 1, "/map%d.xml", i);
        maps[i]->answer.type = "text/xml";
    }
    for (int i = 0; i < 3; i++) {
        site_say(maps[i], "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>");
        site_link(maps[i], maps[(i + 1) % 3], "<sitemap><loc>%s</loc></sitemap>", maps[(i + 1) % 3]->url);
        site_link(maps[i], maps[i], "<sitemap><loc>%s</loc></sitemap></sitemapindex>", maps[i]->url);
    }
    site_say(robots, "Sitemap: %s\nSitemap: %s\n", maps[0]->url, maps[0]->url);
    site_serve(scene.web);
    crawling_must(&scene.self, CRAWL_DONE);
    site_stop(scene.web);
    site_page *seeds[] = {scene.seed, maps[0]};
    site_walk(scene.web, seeds, 2, -1);
    crawling_judge(&scene.self, scene.web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    scene_end(&scene);
}

/* ---- many links ---- */

static bool is_found(void *context, const checker_row *row)
{
    uint64_t *count = context;
    ++*count;
    return strstr(row->url, "/many/") != NULL;
}

static void a_page_of_a_hundred_thousand_links_is_accounted_for(void **state)
{
    scene scene;
    enum { LINKS = 100000 };
    uint64_t found = 0;
    (void)state;
    scene_begin(&scene, 0);
    for (int i = 0; i < LINKS; i++)
        site_say(scene.seed, "<a href=/many/%d>", i);
    scene.self.options.max_pages = 20;
    site_serve(scene.web);
    crawling_must(&scene.self, CRAWL_LIMIT);
    site_stop(scene.web);
    site_walk(scene.web, &scene.seed, 1, -1);
    crawling_judge(&scene.self, scene.web, JUDGE_STORED | JUDGE_PARTLY, is_found, &found);
    assert_int_equal(found, LINKS);
    assert_int_equal(scene.self.progress.queue, LINKS - 19);
    scene_end(&scene);
}

/* ---- secrets ---- */

static bool file_has(const char *path, const char *what)
{
    site_text text = {0};
    check(site_text_load(&text, path), "cannot read %s", path);
    bool has = text.length && memmem(text.at, text.length, what, strlen(what));
    site_text_free(&text);
    return has;
}

/* Is this in any file below the folder? Archive files are unpacked by zcat. */
static void must_not_contain(const char *folder, const char *what)
{
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        char path[TEST_PATH], unpacked[2 * TEST_PATH], command[4 * TEST_PATH];
        struct stat about;
        if (entry->d_name[0] == '.')
            continue;
        test_path(path, folder, entry->d_name);
        if (stat(path, &about) != 0)
            continue;
        if (S_ISDIR(about.st_mode)) {
            must_not_contain(path, what);
            continue;
        }
        check(!file_has(path, what), "%s contains %s", path, what);
        if (strstr(entry->d_name, ".gz") && !strstr(entry->d_name, ".plain")) {
            snprintf(unpacked, sizeof unpacked, "%s.plain", path);
            snprintf(command, sizeof command, "zcat '%s' > '%s'", path, unpacked);
            check(system(command) == 0, "cannot unpack %s", path); /* NOLINT(cert-env33-c) */
            check(!file_has(unpacked, what), "%s contains %s", path, what);
            check(file_has(unpacked, "WARC/1.1"), "%s was not unpacked", path);
        }
    }
    if (list)
        closedir(list);
}

static void secrets_are_not_written_anywhere(void **state)
{
    scene scene;
    char url[128];
    size_t with = 0;
    (void)state;
    scene_begin(&scene, 4);
    site_page *away = site_page_add(scene.web, 2, "/");
    site_link_to(scene.seed, away);
    snprintf(url, sizeof url, "http://user:hunter2@127.0.1.1:%d/", scene.web->port);
    site_page secret = {.url = url}, *seed = &secret;
    program self;
    program_begin(&self, scene.web, &seed, 1);
    site_serve(scene.web);
    child_plan plan = program_plan(&self);
    child_add(&plan, "--header", "X-Token: swordfish", "--check", NULL);
    int status = child_run(&plan);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "it ends with %x: %s", (unsigned)status,
          program_messages(&self));
    site_stop(scene.web);
    for (size_t i = 0; i < scene.web->log_count; i++) {
        const site_request *each = &scene.web->log[i];
        bool has = strstr(each->head, "Basic dXNlcjpodW50ZXIy") && strstr(each->head, "swordfish");
        check(has == (each->address == 1), "%s%s: %s", each->host, each->target, each->head);
        with += has;
    }
    check(with >= 5, "only %zu requests have the secrets", with);
    static const char *const secrets[] = {"hunter2", "swordfish", "dXNlcjpodW50ZXIy"};
    for (size_t i = 0; i < 3; i++)
        must_not_contain(self.folder, secrets[i]);
    program_end(&self);
    scene_end(&scene);
}

/* ---- two at a time ---- */

static void a_second_crawl_of_the_same_state_is_refused(void **state)
{
    scene scene;
    (void)state;
    scene_begin(&scene, 3);
    site_find(scene.web, "127.0.1.1", "/1")->answer.delay_ms = 3000;
    program self;
    program_begin(&self, scene.web, &scene.seed, 1);
    site_serve(scene.web);
    child_plan plan = program_plan(&self);
    pid_t first = child_start(&plan);
    for (size_t seen = 0; seen < 3;) {
        pthread_mutex_lock(&scene.web->lock);
        seen = scene.web->log_count;
        pthread_mutex_unlock(&scene.web->lock);
    }
    /* A report can be read meanwhile. */
    child_plan report = {.err = self.messages, .out = self.messages};
    child_add(&report, child_built("vidi"), "crawl", "report", self.state, NULL);
    int told = child_run(&report);
    check(WIFEXITED(told) && WEXITSTATUS(told) == 0, "the report ends with %x: %s", (unsigned)told,
          program_messages(&self));
    int status = child_run(&plan);
    char *said = program_messages(&self), number[32];
    snprintf(number, sizeof number, "%d", (int)first);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 2 && strstr(said, number), "it ends with %x and says: %s",
          (unsigned)status, said);
    free(said);
    waitpid(first, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the first ends with %x", (unsigned)status);
    site_stop(scene.web);
    site_walk(scene.web, &scene.seed, 1, -1);
    program_must_be_right(&self, JUDGE_STORED | JUDGE_REQUESTS, "two at a time");
    program_end(&self);
    scene_end(&scene);
}

int main(int argc, char **argv)
{
    static const site_manner cut_off = SITE_CUT_OFF, silent = SITE_SILENT;
    test_add("failures that pass are tried again: cut off", failures_that_pass_are_tried_again, &cut_off);
    test_add("failures that pass are tried again: silent", failures_that_pass_are_tried_again, &silent);
    test_add("a failure that stays is given up", a_failure_that_stays_is_given_up, NULL);
    test_add("what is not HTTP is asked for once", what_is_not_http_is_asked_for_once, NULL);
    test_add("a missing set is made again", a_missing_set_is_made_again, NULL);
    test_add("more seeds can follow", more_seeds_and_levels_can_follow, NULL);
    test_add("--max-time ends a run, and the next goes on", max_time_ends_a_run_and_the_next_goes_on, NULL);
    test_add("seeds are fetched whatever the set says", seeds_are_fetched_whatever_the_set_says, NULL);
    test_add("every kind of set can be used", every_kind_of_set_can_be_used, NULL);
    test_add_once("a killed crawl goes on in the right archive file", a_killed_crawl_goes_on_in_the_right_archive_file,
                  NULL);
    test_add("robots.txt is good for a day", robots_txt_is_good_for_a_day, NULL);
    test_add("sitemaps that name each other end", sitemaps_that_name_each_other_end, NULL);
    test_add_once("a page of a hundred thousand links is accounted for",
                  a_page_of_a_hundred_thousand_links_is_accounted_for, NULL);
    test_add_once("secrets are not written anywhere", secrets_are_not_written_anywhere, NULL);
    test_add_once("a second crawl of the same state is refused", a_second_crawl_of_the_same_state_is_refused, NULL);
    return test_run("crawler/sites/site_goes_on", argc, argv);
}
