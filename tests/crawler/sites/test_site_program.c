/*
 * `vidi crawl` as its users run it: limits that are exact, signals, exit codes, a full disk, broken links with all
 * their referrers, and pages that were made to hurt.
 */
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

#include "crawler/site/hostile.h"
#include "crawler/site/power.h"
#include "crawler/site/program.h"
#include "crawler/site/worlds.h"
#include "support/env.h"
#include "support/runner.h"

typedef struct town {
    site *web;
    world_web whole;
    program self;
} town;

static void town_begin(town *begun, unsigned hosts, size_t pages)
{
    *begun = (town){.web = site_open(hosts), .whole = {.hosts = hosts, .pages = pages, .seed = 21, .body = 300}};
    world_web_make(begun->web, &begun->whole);
    site_walk(begun->web, begun->whole.made, hosts, -1);
    program_begin(&begun->self, begun->web, begun->whole.made, hosts);
}

static void town_end(town *town)
{
    program_end(&town->self);
    site_close(town->web);
    free(town->whole.made);
}

static void must_exit(const town *town, const child_plan *plan, int code)
{
    int status = child_run(plan);
    char *said = program_messages(&town->self);
    check(WIFEXITED(status) && WEXITSTATUS(status) == code,
          "it ends with status %x, not with exit code %d, and says: "
          "%.500s",
          (unsigned)status, code, said);
    free(said);
}

static uint64_t count_in_database(const town *town, const char *query)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    char path[TEST_PATH];
    test_path(path, town->self.state, "crawl.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    check(sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    uint64_t count = sqlite3_step(statement) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return count;
}

/* ---- limits ---- */

static void max_pages_is_exact_and_the_rest_comes_later(void **state)
{
    static const char *const limits[] = {"1", "77", "200"};
    static const uint64_t numbers[] = {1, 77, 200};
    town town;
    (void)state;
    town_begin(&town, 3, 400);
    site_serve(town.web);
    for (size_t i = 0; i < 3; i++) {
        child_plan plan = program_plan(&town.self);
        child_add(&plan, "--max-pages", limits[i], NULL);
        must_exit(&town, &plan, 3);
        uint64_t fetched = count_in_database(&town, "SELECT count(*) FROM outcomes WHERE status > 0");
        check(fetched == numbers[i], "%llu responses with --max-pages %s", (unsigned long long)fetched, limits[i]);
        program_must_be_right(&town.self, JUDGE_STORED | JUDGE_PARTLY, limits[i]);
    }
    child_plan plan = program_plan(&town.self);
    must_exit(&town, &plan, 0);
    program_must_be_right(&town.self, JUDGE_STORED, "without a limit");
    town_end(&town);
}

static void max_bytes_ends_the_crawl_and_it_can_go_on(void **state)
{
    town town;
    (void)state;
    town_begin(&town, 2, 300);
    site_serve(town.web);
    child_plan plan = program_plan(&town.self);
    child_add(&plan, "--max-bytes", "50000", NULL);
    must_exit(&town, &plan, 3);
    uint64_t taken = count_in_database(&town, "SELECT sum(bytes) FROM outcomes");
    check(taken > 25000 && taken < 50000 + 16 * 2000, "%llu bytes were taken", (unsigned long long)taken);
    program_must_be_right(&town.self, JUDGE_STORED | JUDGE_PARTLY, "--max-bytes");
    plan = program_plan(&town.self);
    must_exit(&town, &plan, 0);
    program_must_be_right(&town.self, JUDGE_STORED | JUDGE_REQUESTS, "without a limit");
    town_end(&town);
}

static void depth_is_a_barrier(void **state)
{
    town town;
    (void)state;
    town_begin(&town, 2, 300);
    site_serve(town.web);
    child_plan plan = program_plan(&town.self);
    child_add(&plan, "--depth", "3", NULL);
    must_exit(&town, &plan, 0);
    site_walk(town.web, town.whole.made, 2, 3);
    program_must_be_right(&town.self, JUDGE_STORED | JUDGE_REQUESTS | JUDGE_DEPTHS, "--depth 3");
    town_end(&town);
}

/* ---- memory ---- */

/* The most memory that a process has had, in kilobytes; 0: it has ended. */
static long peak_of(pid_t pid)
{
    char path[40], line[200];
    long peak = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "VmHWM: %ld", &peak);
    if (file)
        fclose(file);
    return peak;
}

static void twenty_thousand_pages_take_little_memory(void **state)
{
    enum { MOST_KB = 64 * 1024 };
    town town;
    long peak = 0;
    int status;
    (void)state;
    town_begin(&town, 50, 20000);
    site_serve(town.web);
    child_plan plan = program_plan(&town.self);
    pid_t pid = child_start(&plan);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        struct timespec pause = {0, 10 * 1000000};
        long now = peak_of(pid);
        peak = now > peak ? now : peak;
        nanosleep(&pause, NULL);
    }
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "it ends with status %x", (unsigned)status);
    program_must_be_right(&town.self, JUDGE_STORED | JUDGE_REQUESTS, "20,000 pages");
    print_message("# %ld KB\n", peak);
    check(peak > 0 && peak <= MOST_KB, "it takes %ld KB", peak);
    town_end(&town);
}

/* ---- signals ---- */

static void a_signal_ends_it_in_good_order(void **state)
{
    const int *number = *state;
    town town;
    town_begin(&town, 3, 400);
    for (size_t i = 0; i < town.web->page_count; i++)
        town.web->pages[i]->answer.delay_ms = 80; /* so that it takes longer than the three runs together */
    site_serve(town.web);
    for (int64_t after = 100000; after <= 400000; after += 150000) {
        child_plan plan = program_plan(&town.self);
        plan.signal = *number;
        plan.begun = town.self.lines; /* the state is there */
        plan.after_us = after;
        int status = child_run(&plan);
        char *said = program_messages(&town.self);
        check(WIFSIGNALED(status) && WTERMSIG(status) == *number, "it ends with status %x and says: %.300s",
              (unsigned)status, said);
        free(said);
        program_must_be_right(&town.self, JUDGE_STORED | JUDGE_PARTLY, "after a signal");
    }
    child_plan plan = program_plan(&town.self);
    must_exit(&town, &plan, 0);
    /* What was on its way is cut off and asked for again, nothing else. */
    judgement result;
    program_judge(&town.self, &result, JUDGE_STORED);
    check(judge_faults(&result, 0) == 0, "%s; %s", result.first, result.check.first);
    check(result.extra <= 3 * 16, "%llu pages are fetched again", (unsigned long long)result.extra);
    town_end(&town);
}

/* ---- a full disk ---- */

/* From a certain call on, nothing can be written any more; then there is room again. */
static void a_full_disk_stops_it_and_loses_nothing(void **state)
{
    town town;
    uint64_t calls, failed = 0;
    (void)state;
    town_begin(&town, 3, 300);
    site_serve(town.web);
    child_plan plan = program_plan(&town.self);
    program_power(&town.self, &plan, NULL, NULL);
    must_exit(&town, &plan, 0);
    calls = program_calls(&town.self);
    for (uint64_t i = 1; i <= (test_long() ? calls : 7); i++) {
        char number[32];
        snprintf(number, sizeof number, "%llu", (unsigned long long)(test_long() ? i : i * calls / 8));
        program_end(&town.self);
        program_begin(&town.self, town.web, town.whole.made, 3);
        site_forget(town.web);
        plan = program_plan(&town.self);
        program_power(&town.self, &plan, POWER_FULL, number);
        int status = child_run(&plan);
        char *said = program_messages(&town.self);
        check(WIFEXITED(status) && (WEXITSTATUS(status) == 2 || WEXITSTATUS(status) == 0),
              "call %s: it ends with status %x and says: %.300s", number, (unsigned)status, said);
        check(WEXITSTATUS(status) == 0 || strlen(said) > 10, "call %s: it fails without a word", number);
        free(said);
        failed += WEXITSTATUS(status) == 2;
        plan = program_plan(&town.self);
        must_exit(&town, &plan, 0);
        program_must_be_right(&town.self, JUDGE_STORED, number);
    }
    check(failed > 3, "it failed only %llu times", (unsigned long long)failed);
    town_end(&town);
}

/* The same on a disk that is really full: a small one in memory, which only this thread and its children see. */
static int mount_disk(const char *folder, const char *size, unsigned long flags)
{
    char option[64];
    snprintf(option, sizeof option, "size=%s", size);
    return mount("none", folder, "tmpfs", flags, option);
}

static void a_disk_that_is_really_full_loses_nothing(void **state)
{
    static const char *const sizes[] = {"64k", "400k", "700k", "1400k"};
    town town;
    uint64_t failed = 0;
    (void)state;
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        print_message("# only root may mount a small disk\n");
        skip();
    }
    town_begin(&town, 3, 500);
    site_serve(town.web);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        site_forget(town.web);
        check(mount_disk(town.self.world, sizes[i], 0) == 0, "cannot mount");
        child_plan plan = program_plan(&town.self);
        int status = child_run(&plan);
        char *said = program_messages(&town.self);
        check(WIFEXITED(status) && (WEXITSTATUS(status) == 2 || WEXITSTATUS(status) == 0),
              "%s: it ends with status %x and says: %.300s", sizes[i], (unsigned)status, said);
        check(WEXITSTATUS(status) == 0 || strstr(said, "full") || strstr(said, "space"), "%s: it says: %.300s",
              sizes[i], said);
        failed += WEXITSTATUS(status) == 2;
        free(said);
        check(mount_disk(town.self.world, "64m", MS_REMOUNT) == 0, "cannot enlarge the disk");
        plan = program_plan(&town.self);
        must_exit(&town, &plan, 0);
        program_must_be_right(&town.self, JUDGE_STORED, sizes[i]);
        check(umount(town.self.world) == 0, "cannot unmount");
    }
    check(failed >= 2, "the disk was full only %llu times", (unsigned long long)failed);
    town_end(&town);
}

/* ---- broken links ---- */

static void broken_links_are_told_with_all_referrers(void **state)
{
    site *web = site_open(3);
    site_page *seed = site_page_add(web, 1, "/"), *other = site_page_add(web, 1, "/other");
    site_page *gone = site_page_add(web, 1, "/gone"), *secret = site_page_add(web, 1, "/secret");
    site_page *leads = site_page_add(web, 1, "/leads"), *outside = site_page_add(web, 2, "/outside-gone");
    site_page *fine = site_page_add(web, 2, "/outside-fine"), *headless = site_page_add(web, 2, "/headless");
    town town = {.web = web};
    (void)state;
    site_status(gone, 404);
    site_status(secret, 403);
    site_status(outside, 410);
    site_redirect(leads, 301, gone, "/gone");
    headless->no_head = true;
    site_page *pages[] = {other, gone, secret, leads, outside, fine, headless};
    for (size_t i = 0; i < 7; i++)
        site_link(seed, pages[i], "<a href='%s'>to <b>%s</b></a>", pages[i]->url, pages[i]->target);
    site_link(other, gone, "<a href='%s'>once more</a>", gone->url);
    site_link(fine, site_page_add(web, 2, "/never"), "<a href=/never>");
    site_serve(web);
    program_begin(&town.self, web, &seed, 1);
    child_plan plan = program_plan(&town.self);
    child_add(&plan, "--check", NULL);
    must_exit(&town, &plan, 1);
    char *said = program_messages(&town.self);
    static const char *const told[] = {"/gone",  "/outside-gone", "to /gone", "once more",
                                       "/other", "404",           "410",      "/leads"};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        check(strstr(said, told[i]), "it does not tell of %s: %s", told[i], said);
    static const char *const untold[] = {"/outside-fine", "/never", "/headless", "/secret"};
    for (size_t i = 0; i < sizeof untold / sizeof *untold; i++)
        check(!strstr(said, untold[i]), "it tells of %s, which is fine or not known: %s", untold[i], said);
    size_t heads = 0;
    for (size_t i = 0; i < web->log_count; i++) {
        const site_request *each = &web->log[i];
        check(strcmp(each->target, "/never") != 0, "a page outside was read");
        heads += each->address == 2 && strcmp(each->method, "HEAD") == 0;
    }
    check(heads >= 3, "only %zu requests without a body", heads);
    free(said);
    program_end(&town.self);

    /* Without broken links it is content. */
    program_begin(&town.self, web, &other, 1);
    gone->answer.status = 200;
    site_stop(web);
    site_serve(web);
    plan = program_plan(&town.self);
    child_add(&plan, "--check", NULL);
    must_exit(&town, &plan, 0);
    program_end(&town.self);
    site_close(web);
}

/* ---- errors ---- */

static void errors_have_an_exit_code_and_a_sentence(void **state)
{
    town town;
    (void)state;
    town_begin(&town, 1, 5);
    site_status(town.web->pages[0], 200);
    site_serve(town.web);
    char url[] = "http://127.0.1.1:9/"; /* the port "discard", which is a bad one */
    site_page nobody = {.url = url}, *seed = &nobody;
    program other;
    program_begin(&other, town.web, &seed, 1);
    child_plan plan = program_plan(&other);
    int status = child_run(&plan);
    char *said = program_messages(&other);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 2 && *said, "a bad port: status %x: %s", (unsigned)status, said);
    free(said);
    program_end(&other);

    /* Another canonical form than the state's. */
    plan = program_plan(&town.self);
    must_exit(&town, &plan, 0);
    plan = program_plan(&town.self);
    child_add(&plan, "--canon", "crawl", NULL);
    must_exit(&town, &plan, 2);
    said = program_messages(&town.self);
    check(strstr(said, "canon"), "it says: %s", said);
    free(said);
    plan = program_plan(&town.self);
    child_add(&plan, "--kind", "classic", "--capacity", "1000", NULL);
    must_exit(&town, &plan, 2);
    plan = program_plan(&town.self);
    child_add(&plan, "--header", "X: a\r\nY: b", NULL);
    must_exit(&town, &plan, 2);
    town_end(&town);
}

/* A status line alone is not a page: that the seed could not be fetched is said, and the next run tries it again. */
static void a_seed_that_breaks_off_is_an_error(void **state)
{
    town town;
    (void)state;
    town_begin(&town, 1, 5);
    site_page *seed = town.whole.made[0];
    seed->early = (site_answer){.manner = SITE_RAW_CLOSE, .body = "HTTP/1.1 200 OK\r\n", .length = 17};
    seed->early_times = 1;
    site_serve(town.web);
    child_plan plan = program_plan(&town.self);
    must_exit(&town, &plan, 2);
    char *said = program_messages(&town.self);
    check(strstr(said, "the connection ended before the head did") && strstr(said, "no seed could be fetched"),
          "it says: %s", said);
    free(said);
    must_exit(&town, &plan, 0);
    assert_int_equal(count_in_database(&town, "SELECT count(*) FROM pages WHERE reason IS NULL"), 5);
    town_end(&town);
}

/* ---- hostile pages ---- */

/* Responses that no server should send: the program survives all of them, and tells of each. */
static void hostile_responses_have_one_outcome_each(void **state)
{
    enum { RESPONSES = 400 };
    town town = {.web = site_open(1)};
    site_page *seed = site_page_add(town.web, 1, "/");
    uint64_t random = 3;
    (void)state;
    for (int i = 0; i < RESPONSES; i++)
        site_say(seed, "<a href='/hostile/%d'>%d</a>\n", i, i);
    town.web->maker = hostile_answer;
    town.web->maker_context = &random;
    program_begin(&town.self, town.web, &seed, 1);
    site_serve(town.web);
    child_plan plan = program_plan(&town.self);
    must_exit(&town, &plan, 0);
    uint64_t told = count_in_database(&town, "SELECT count(*) FROM pages WHERE url LIKE '%/hostile/%'"
                                             " AND status IS NOT NULL AND (status > 0 OR reason IS NOT NULL)");
    check(told == RESPONSES, "%llu outcomes", (unsigned long long)told);
    assert_int_equal(count_in_database(&town, "SELECT count(*) FROM pages WHERE status IS NULL"), 0);
    site_text lines = {0};
    assert_true(site_text_load(&lines, town.self.lines));
    for (int i = 0; i < RESPONSES; i++) {
        char url[40];
        snprintf(url, sizeof url, "/hostile/%d\",\"status\"", i);
        const char *first = strstr(lines.at, url);
        check(first && !strstr(first + 1, url), "number %d has %s line", i, first ? "more than one" : "no");
    }
    site_text_free(&lines);
    town_end(&town);
}

static void ten_megabytes_of_anything_are_read_in_linear_time(void **state)
{
    static const char *const pieces[] = {"<a href=x>",  "<",           "<a ",       "<!--",       "&#x",
                                         "<base href=", "<a href='//", "<svg><a/>", "<template>", "<script>",
                                         "\"'<>",       "<a href=?",   "</",        "<title>",    "\x80\xff"};
    enum { MEGABYTES = 10, LONGEST = 60 };
    town town = {.web = site_open(1)};
    site_page *seed = site_page_add(town.web, 1, "/");
    time_t began = time(NULL);
    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        site_page *page = site_page_add(town.web, 1, "/hostile/%zu", i);
        while (page->text.length < MEGABYTES << 20)
            site_text_add(&page->text, pieces[i], strlen(pieces[i]));
        site_link_to(seed, page);
    }
    site_serve(town.web);
    program_begin(&town.self, town.web, &seed, 1);
    child_plan plan = program_plan(&town.self);
    child_add(&plan, "--depth", "1", NULL);
    must_exit(&town, &plan, 0);
    site_walk(town.web, &seed, 1, 1);
    program_must_be_right(&town.self, JUDGE_STORED | JUDGE_REQUESTS, "hostile pages");
    check(time(NULL) - began < LONGEST, "it takes longer than a minute");
    program_end(&town.self);
    site_close(town.web);
}

int main(int argc, char **argv)
{
    static const int interrupt = SIGINT, terminate = SIGTERM;
    test_add_once("--max-pages is exact, and the rest comes later", max_pages_is_exact_and_the_rest_comes_later, NULL);
    test_add_once("--max-bytes ends the crawl, and it can go on", max_bytes_ends_the_crawl_and_it_can_go_on, NULL);
    test_add_once("--depth is a barrier", depth_is_a_barrier, NULL);
    test_add_once("20,000 pages take at most 64 MB", twenty_thousand_pages_take_little_memory, NULL);
    test_add_once("SIGINT ends it in good order", a_signal_ends_it_in_good_order, &interrupt);
    test_add_once("SIGTERM ends it in good order", a_signal_ends_it_in_good_order, &terminate);
    test_add_once("a full disk stops it and loses nothing", a_full_disk_stops_it_and_loses_nothing, NULL);
    test_add_once("a disk that is really full loses nothing", a_disk_that_is_really_full_loses_nothing, NULL);
    test_add_once("broken links are told with all referrers", broken_links_are_told_with_all_referrers, NULL);
    test_add_once("errors have an exit code and a sentence", errors_have_an_exit_code_and_a_sentence, NULL);
    test_add_once("a seed that breaks off is an error", a_seed_that_breaks_off_is_an_error, NULL);
    test_add_once("hostile responses have one outcome each", hostile_responses_have_one_outcome_each, NULL);
    test_add_once("ten megabytes of anything are read in linear time",
                  ten_megabytes_of_anything_are_read_in_linear_time, NULL);
    return test_run("crawler/sites/site_program", argc, argv);
}
