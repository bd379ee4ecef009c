/*
 * A crawl visits exactly the pages that it should, each once, and says of each what became of it. The truth comes from
 * the site, what the crawl has done from its database and archive as others see them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/env.h"
#include "support/runner.h"

/* ---- many pages ---- */

/* Crawls the whole site so many times; only the first run may fetch something. */
static void visit_whole(world_web whole, int runs)
{
    site *web = site_open(whole.hosts);
    crawling self;
    world_web_make(web, &whole);
    site_serve(web);
    crawling_begin(&self, whole.made, whole.hosts);
    for (int i = 0; i < runs; i++)
        crawling_must(&self, CRAWL_DONE);
    site_stop(web);
    site_walk(web, whole.made, whole.hosts, -1);
    crawling_judge(&self, web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    crawling_end(&self);
    free(whole.made);
    site_close(web);
}

static void all_pages_of_fifty_hosts_are_visited_once(void **state)
{
    (void)state;
    visit_whole((world_web){.hosts = 50, .pages = test_sanitized() ? 2000 : 20000, .seed = 15, .body = 500}, 1);
}

static void a_finished_crawl_fetches_nothing_again(void **state)
{
    (void)state;
    visit_whole((world_web){.hosts = 2, .pages = 100, .seed = 1}, 2);
}

/* Levels are barriers: each page is found by the shortest way, and nothing deeper is fetched. */
static void depth_is_the_shortest_path(void **state)
{
    (void)state;
    site *web = site_open(3);
    crawling self;
    world_web whole = {.hosts = 3, .pages = 600, .seed = 3, .links = 1};
    world_web_make(web, &whole);
    for (size_t i = 0; i < web->page_count; i += 7)
        web->pages[i]->answer.delay_ms = 20; /* so that pages of a level come in another order */
    site_serve(web);
    for (int64_t depth = 0; depth <= 4; depth += 2) {
        site_forget(web);
        crawling_begin(&self, whole.made, 1);
        self.options.seed_count = 3;
        for (size_t i = 1; i < 3; i++)
            self.seeds[i] = (vidi_str){whole.made[i]->url, strlen(whole.made[i]->url)};
        self.options.max_depth = depth;
        crawling_must(&self, CRAWL_DONE);
        site_walk(web, whole.made, whole.hosts, depth);
        crawling_judge(&self, web, JUDGE_STORED | JUDGE_REQUESTS | JUDGE_DEPTHS, NULL, NULL);
        crawling_end(&self);
    }
    free(whole.made);
    site_close(web);
}

/* ---- single things ---- */

enum { MAIN = 1, OTHER = 2, ROBOTS = 3, SITEMAPS = 7, BROKEN = 8, ZOO_HOSTS = 8, OUTSIDE = 9 };

typedef struct zoo {
    site *web;
    site_page *seeds[ZOO_HOSTS + 8];
    size_t extra; /* sitemaps, which are not named to the crawl */
    crawling self;
} zoo;

static void zoo_begin(zoo *zoo)
{
    zoo->web = site_open(OUTSIDE);
    for (unsigned host = 1; host <= ZOO_HOSTS; host++)
        zoo->seeds[host - 1] = site_page_add(zoo->web, host, "/");
    zoo->extra = 0;
}

static void zoo_judge(zoo *zoo)
{
    site_serve(zoo->web);
    crawling_begin(&zoo->self, zoo->seeds, ZOO_HOSTS);
    zoo->self.options.max_body = 3 << 20;
    zoo->self.options.silence_ms = 2000;
    zoo->self.options.total_ms = 5000;
    crawling_must(&zoo->self, CRAWL_DONE);
    site_stop(zoo->web);
    site_walk(zoo->web, zoo->seeds, ZOO_HOSTS + zoo->extra, -1);
    crawling_judge(&zoo->self, zoo->web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    for (size_t i = 0; i < zoo->web->log_count; i++)
        check(zoo->web->log[i].address != OUTSIDE, "%s was asked for", zoo->web->log[i].target);
    crawling_end(&zoo->self);
    site_close(zoo->web);
}

#define ZOO_TEST(name, ...)                                                                                            \
    static void name(void **state)                                                                                     \
    {                                                                                                                  \
        zoo zoo;                                                                                                       \
        (void)state;                                                                                                   \
        zoo_begin(&zoo);                                                                                               \
        __VA_ARGS__;                                                                                                   \
        zoo_judge(&zoo);                                                                                               \
    }

ZOO_TEST(loops_end, world_loops(zoo.web, MAIN, zoo.seeds[0]))
ZOO_TEST(mirrors_are_pages_of_their_own, world_mirrors(zoo.web, MAIN, OTHER, zoo.seeds[0]))
ZOO_TEST(links_are_found_however_they_are_written, world_spellings(zoo.web, MAIN, zoo.seeds[0]))
ZOO_TEST(queries_have_the_encoding_of_their_page, world_encodings(zoo.web, MAIN, zoo.seeds[0]))
ZOO_TEST(nofollow_and_noarchive_are_obeyed, world_politeness(zoo.web, MAIN, zoo.seeds[0]))
ZOO_TEST(statuses_are_told, world_statuses(zoo.web, MAIN, zoo.seeds[0]))
ZOO_TEST(redirects_are_followed_within_the_crawl, world_redirects(zoo.web, MAIN, OTHER, OUTSIDE, zoo.seeds[0]))
ZOO_TEST(packed_pages_are_read, world_packed(zoo.web, MAIN, zoo.seeds[0]))
ZOO_TEST(broken_responses_have_a_reason, world_broken(zoo.web, BROKEN, zoo.seeds[0]))
ZOO_TEST(robots_txt_is_obeyed, world_robots(zoo.web, ROBOTS, zoo.seeds[0]))
ZOO_TEST(sitemaps_are_read, zoo.extra = world_sitemaps(zoo.web, SITEMAPS, zoo.seeds + ZOO_HOSTS))

/* ---- scope ---- */

/* Pages in folders, all linked from the entrance; which belong to the crawl, the test says. */
static void judge_folders(crawling *self, site *web, site_page *seed, const char *const *wanted)
{
    site_serve(web);
    crawling_must(self, CRAWL_DONE);
    site_stop(web);
    for (size_t i = 0; i < web->page_count; i++)
        web->pages[i]->reached = web->pages[i] == seed;
    for (; *wanted; wanted++)
        site_find(web, "127.0.1.1", *wanted)->reached = true;
    crawling_judge(self, web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    crawling_end(self);
    site_forget(web);
}

static void scope_and_patterns_are_kept(void **state)
{
    static const char *const targets[] = {"/docs/a", "/docs/b?x=1", "/docs/deep/c.pdf", "/docsx", "/other/d"};
    static const char *const inside[] = {"/docs/a", "/docs/b?x=1", "/docs/deep/c.pdf", NULL};
    static const char *const no_pdf[] = {"/docs/a", "/docs/b?x=1", "/docsx", "/other/d", NULL};
    static const char *const only[] = {"/docs/b?x=1", "/other/d", NULL};
    static const char *const exclude[] = {"*.pdf"}, *const include[] = {"/docs/*?x=?", "http://*/other/*"};
    site *web = site_open(1);
    site_page *seed = site_page_add(web, 1, "/docs/index");
    crawling self;
    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        site_link_to(seed, site_page_add(web, 1, "%s", targets[i]));
    crawling_begin(&self, &seed, 1);
    self.options.reach = SCOPE_PREFIX;
    judge_folders(&self, web, seed, inside);
    crawling_begin(&self, &seed, 1);
    self.options.exclude = exclude;
    self.options.exclude_count = 1;
    judge_folders(&self, web, seed, no_pdf);
    crawling_begin(&self, &seed, 1);
    self.options.include = include;
    self.options.include_count = 2;
    judge_folders(&self, web, seed, only);
    site_close(web);
}

/* ---- traps ---- */

enum { QUERIES = 40, HOST_PAGES = 120 };

typedef struct trap_counts {
    uint64_t calendar, shop, days, again, others; /* fetched */
    uint64_t cut;                                 /* with the reason trap or limit */
} trap_counts;

static bool count_trapped(void *context, const checker_row *row)
{
    trap_counts *counts = context;
    if (row->outcomes == 0)
        return true; /* beyond the limit of its host */
    if (row->reason) {
        counts->cut++;
        return strcmp(row->reason, "trap") == 0 || strcmp(row->reason, "limit") == 0;
    }
    uint64_t *fetched = strstr(row->url, "/calendar?") ? &counts->calendar
                        : strstr(row->url, "/shop?")   ? &counts->shop
                        : strstr(row->url, "/days/")   ? &counts->days
                        : strstr(row->url, "/again/")  ? &counts->again
                                                       : &counts->others;
    ++*fetched;
    return fetched != &counts->others && row->status == 200;
}

static void traps_are_cut_at_a_number(void **state)
{
    site *web = site_open(2);
    site_page *seeds[] = {site_page_add(web, 1, "/"), site_page_add(web, 2, "/")};
    trap_counts counts = {0};
    crawling self;
    (void)state;
    site_say(seeds[0], "<a href='/calendar?month=0'><a href='/shop?sid=0'><a href='/again/'>");
    site_say(seeds[1], "<a href='/days/2026/11/'>");
    web->maker = world_traps;
    site_serve(web);
    crawling_begin(&self, seeds, 2);
    self.options.max_queries = QUERIES;
    self.options.max_host_pages = HOST_PAGES;
    crawl_end end = crawling_run(&self);
    check(end == CRAWL_DONE || end == CRAWL_LIMIT, "it fails: %s", self.why);
    site_stop(web);
    site_walk(web, seeds, 2, -1);
    crawling_judge(&self, web, JUDGE_STORED | JUDGE_PARTLY, count_trapped, &counts);
    assert_int_equal(counts.calendar, QUERIES);
    assert_int_equal(counts.shop, QUERIES);
    assert_int_equal(counts.again, 3); /* /again/, /again/again/, /again/again/again/ */
    assert_int_equal(counts.days, HOST_PAGES - 1);
    assert_true(counts.cut > 0);
    crawling_end(&self);
    site_close(web);
}

/* ---- names ---- */

typedef struct turning {
    site_clock clock;
    int64_t turns_at; /* from then on the name leads to 127.0.0.1 */
} turning;

static int resolve(void *context, const char *host, fetch_address *addresses, int room)
{
    turning *self = context;
    bool turned =
        strcmp(host, "turning.test") == 0 && self->clock.clock.now(self->clock.clock.context) >= self->turns_at;
    if (room < 1 || !strstr(host, ".test"))
        return -1;
    addresses[0] = (fetch_address){{127, 0, turned ? 0 : 1, turned ? 1 : 2}, 4};
    return 1;
}

static void names_of_one_address_are_two_hosts(void **state)
{
    site *web = site_open(2);
    turning names = {.turns_at = INT64_MAX};
    site_page *seeds[2];
    crawling self;
    (void)state;
    site_clock_begin(&names.clock);
    for (int i = 0; i < 2; i++) {
        seeds[i] = site_page_on(web, i ? "b.test" : "a.test", "/");
        for (int n = 0; n < 5; n++) {
            char target[16];
            snprintf(target, sizeof target, "/%d", n);
            site_link_to(seeds[i], site_page_on(web, i ? "b.test" : "a.test", target));
        }
    }
    site_link_to(seeds[0], site_find(web, "b.test", "/4"));
    site_serve(web);
    crawling_begin(&self, seeds, 2);
    self.options.resolver = resolve;
    self.options.resolver_context = &names;
    crawling_must(&self, CRAWL_DONE);
    site_stop(web);
    site_walk(web, seeds, 2, -1);
    crawling_judge(&self, web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    crawling_end(&self);
    site_close(web);
}

/* A name that turns to an address that is not allowed: not a single request goes there, and the rows say why. */
static void a_name_that_turns_to_this_machine_gains_nothing(void **state)
{
    site *web = site_open(2);
    turning names = {.turns_at = 1000 + 7 * 60 * 1000};
    crawling self;
    judgement result;
    checker_report report;
    (void)state;
    site_clock_begin(&names.clock);
    site_page *seed = site_page_on(web, "turning.test", "/");
    for (int n = 0; n < 20; n++) {
        char target[16];
        snprintf(target, sizeof target, "/%d", n);
        site_link_to(seed, site_page_on(web, "turning.test", target));
    }
    web->now = names.clock.clock.now;
    web->now_context = &names.clock;
    site_serve(web);
    crawling_begin(&self, &seed, 1);
    self.options.resolver = resolve;
    self.options.resolver_context = &names;
    self.options.clock = &names.clock.clock;
    self.options.delay = 60 * 1000;
    self.options.per_host = 1;
    crawling_must(&self, CRAWL_DONE);
    site_stop(web);
    site_walk(web, &seed, 1, -1);
    judge_crawl(&result, web, self.state, NULL, 0, NULL, NULL);
    checker_look(&report, self.state, NULL, NULL, NULL);
    check(result.missing == 0 && result.unexpected == 0 && checker_faults(&report) == 0, "%s; %s", result.first,
          report.first);
    check(result.right >= 7 && result.wrong >= 7 && strstr(result.first, "reason address"),
          "%llu fetched, %llu not: %s", (unsigned long long)result.right, (unsigned long long)result.wrong,
          result.first);
    for (size_t i = 0; i < web->log_count; i++)
        check(web->log[i].began < names.turns_at + 5 * 60 * 1000 + 1000, "asked after the name had turned");
    crawling_end(&self);
    site_close(web);
}

int main(int argc, char **argv)
{
    test_add("all pages of fifty hosts are visited once", all_pages_of_fifty_hosts_are_visited_once, NULL);
    test_add("a finished crawl fetches nothing again", a_finished_crawl_fetches_nothing_again, NULL);
    test_add("depth is the shortest path", depth_is_the_shortest_path, NULL);
    test_add("loops end", loops_end, NULL);
    test_add("mirrors are pages of their own", mirrors_are_pages_of_their_own, NULL);
    test_add("links are found however they are written", links_are_found_however_they_are_written, NULL);
    test_add("queries have the encoding of their page", queries_have_the_encoding_of_their_page, NULL);
    test_add("nofollow and noarchive are obeyed", nofollow_and_noarchive_are_obeyed, NULL);
    test_add("statuses are told", statuses_are_told, NULL);
    test_add("redirects are followed within the crawl", redirects_are_followed_within_the_crawl, NULL);
    test_add("packed pages are read", packed_pages_are_read, NULL);
    test_add("broken responses have a reason", broken_responses_have_a_reason, NULL);
    test_add("robots.txt is obeyed", robots_txt_is_obeyed, NULL);
    test_add("sitemaps are read", sitemaps_are_read, NULL);
    test_add("scope and patterns are kept", scope_and_patterns_are_kept, NULL);
    test_add("traps are cut at a number", traps_are_cut_at_a_number, NULL);
    test_add("names of one address are two hosts", names_of_one_address_are_two_hosts, NULL);
    test_add("a name that turns to this machine gains nothing", a_name_that_turns_to_this_machine_gains_nothing, NULL);
    return test_run("crawler/sites/site_visits", argc, argv);
}
