/*
 * Politeness, proven from what the server has seen, on a clock that skips the waiting.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/runner.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND };

typedef struct scene {
    site *web;
    site_clock clock;
    crawling self;
    site_page *seeds[8];
    size_t seed_count;
} scene;

/* Hosts with an entrance and some pages each; the politeness are the default ones. */
static void scene_begin(scene *scene, unsigned hosts, int pages)
{
    scene->web = site_open(hosts);
    scene->seed_count = hosts;
    site_clock_begin(&scene->clock);
    scene->web->now = scene->clock.clock.now;
    scene->web->now_context = &scene->clock;
    for (unsigned host = 1; host <= hosts; host++) {
        scene->seeds[host - 1] = site_page_add(scene->web, host, "/");
        for (int n = 0; n < pages; n++)
            site_link_to(scene->seeds[host - 1], site_page_add(scene->web, host, "/%d", n));
    }
}

static void scene_crawl(scene *scene, crawl_end end)
{
    site_serve(scene->web);
    crawling_begin(&scene->self, scene->seeds, scene->seed_count);
    scene->self.options.delay = -1;
    scene->self.options.per_host = 0;
    scene->self.options.clock = &scene->clock.clock;
    crawling_must(&scene->self, end);
    site_stop(scene->web);
    site_walk(scene->web, scene->seeds, scene->seed_count, -1);
}

static void scene_end(scene *scene)
{
    crawling_end(&scene->self);
    site_close(scene->web);
}

static bool is_same(const site_request *a, const site_request *b, bool by_address)
{
    return by_address ? a->address == b->address : strcmp(a->host, b->host) == 0;
}

/* How long the client has waited at least: as long as the server held the answer back, but for rounding. */
static int64_t waited(const site *web, const site_request *request)
{
    enum { ROUNDING_MS = 5 };
    const site_page *page = site_find(web, request->host, request->target);
    return page && page->answer.delay_ms ? page->answer.delay_ms - ROUNDING_MS : 0;
}

/* Between two requests to a host, or an address, lies the delay that the first of them and robots.txt ask for. */
static void check_gaps(const scene *scene, bool by_address, int64_t least, int64_t crawl_delay,
                       const char *crawl_delay_host)
{
    const site *web = scene->web;
    for (size_t i = 0; i < web->log_count; i++) {
        const site_request *first = &web->log[i], *next = NULL;
        for (size_t j = i + 1; j < web->log_count && !next; j++)
            next = is_same(first, &web->log[j], by_address) ? &web->log[j] : NULL;
        if (!next)
            continue;
        int64_t gap = next->began - first->began, need = least, slow = waited(web, first) * 5;
        need = slow > need ? (slow < 30 * SECOND ? slow : 30 * SECOND) : need;
        if (crawl_delay_host && strcmp(first->host, crawl_delay_host) == 0 && strcmp(first->target, "/robots.txt") != 0)
            need = crawl_delay > need ? crawl_delay : need;
        check(gap >= need, "%s%s came %lld ms after %s, not %lld", next->host, next->target, (long long)gap,
              first->target, (long long)need);
        check(gap <= 31 * SECOND || crawl_delay_host, "%s%s came only %lld ms after %s", next->host, next->target,
              (long long)gap, first->target);
    }
}

static void check_alone(const scene *scene)
{
    for (size_t i = 0; i < scene->web->log_count; i++) {
        const site_request *each = &scene->web->log[i];
        check(each->with_host == 1 && each->with_address == 1,
              "%s%s came with %u requests to the host, %u to the address", each->host, each->target, each->with_host,
              each->with_address);
    }
}

static void one_request_at_a_time_and_a_second_between(void **state)
{
    scene scene;
    (void)state;
    scene_begin(&scene, 4, 8);
    site_robots(scene.web, 2, "User-agent: *\nCrawl-delay: 7\n");
    site_find(scene.web, "127.0.1.3", "/2")->answer.delay_ms = 400;
    site_find(scene.web, "127.0.1.3", "/5")->answer.delay_ms = 700;
    scene_crawl(&scene, CRAWL_DONE);
    crawling_judge(&scene.self, scene.web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    check_alone(&scene);
    check_gaps(&scene, false, SECOND, 7 * SECOND, "127.0.1.2");
    check_gaps(&scene, true, SECOND, 7 * SECOND, "127.0.1.2");
    scene_end(&scene);
}

/* Crawl-delay counts also for those who are in a hurry. */
static void a_crawl_delay_counts_whatever_the_user_asks_for(void **state)
{
    scene scene;
    (void)state;
    scene_begin(&scene, 2, 8);
    site_robots(scene.web, 1, "User-agent: *\nCrawl-delay: 3.5\n");
    site_serve(scene.web);
    crawling_begin(&scene.self, scene.seeds, 2);
    scene.self.options.clock = &scene.clock.clock;
    crawling_must(&scene.self, CRAWL_DONE); /* no delay, 8 at a time */
    site_stop(scene.web);
    const site_request *last = NULL;
    for (size_t i = 0; i < scene.web->log_count; i++) {
        const site_request *each = &scene.web->log[i];
        if (each->address != 1 || strcmp(each->target, "/robots.txt") == 0)
            continue;
        check(!last || each->began - last->began >= 3500, "%s came %lld ms after %s", each->target,
              (long long)(each->began - last->began), last->target);
        last = each;
    }
    scene_end(&scene);
}

/* Hosts are served side by side: four hosts take no longer than one. */
static void hosts_do_not_wait_for_each_other(void **state)
{
    scene scene;
    (void)state;
    scene_begin(&scene, 8, 20);
    scene_crawl(&scene, CRAWL_DONE);
    int64_t took = scene.web->log[scene.web->log_count - 1].began - scene.web->log[0].began;
    check(scene.web->log_count == 8 * 22, "%zu requests", scene.web->log_count);
    check(took < 8 * 22 * SECOND / 2, "the crawl took %lld s", (long long)took / SECOND);
    scene_end(&scene);
}

static int one_address(void *context, const char *host, fetch_address *addresses, int room)
{
    (void)context, (void)host;
    if (room < 1)
        return -1;
    addresses[0] = (fetch_address){{127, 0, 1, 1}, 4};
    return 1;
}

static void hosts_of_one_address_share_its_turns(void **state)
{
    static const char *const names[] = {"a.test", "b.test", "c.test"};
    scene scene;
    (void)state;
    scene_begin(&scene, 1, 0);
    for (int i = 0; i < 3; i++) {
        scene.seeds[i] = site_page_on(scene.web, names[i], "/");
        for (int n = 0; n < 4; n++) {
            char target[16];
            snprintf(target, sizeof target, "/%d", n);
            site_link_to(scene.seeds[i], site_page_on(scene.web, names[i], target));
        }
    }
    scene.seed_count = 3;
    site_serve(scene.web);
    crawling_begin(&scene.self, scene.seeds, 3);
    scene.self.options.delay = -1;
    scene.self.options.per_host = 0;
    scene.self.options.clock = &scene.clock.clock;
    scene.self.options.resolver = one_address;
    crawling_must(&scene.self, CRAWL_DONE);
    site_stop(scene.web);
    site_walk(scene.web, scene.seeds, 3, -1);
    crawling_judge(&scene.self, scene.web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
    check_alone(&scene);
    check_gaps(&scene, true, SECOND, 0, NULL);
    scene_end(&scene);
}

/* ---- hosts that have enough ---- */

/* The gap behind the first response with this status. */
static int64_t gap_behind(const scene *scene, int status)
{
    for (size_t i = 0; i + 1 < scene->web->log_count; i++) {
        if (scene->web->log[i].status == status)
            return scene->web->log[i + 1].began - scene->web->log[i].began;
    }
    fail_msg("no response has status %d", status);
    return 0;
}

typedef struct storm {
    const char *name;
    int status;
    const char *fields;
    unsigned times;
    int64_t least, most; /* behind the first refusal; 0: it is parked */
} storm;

static const storm storms[] = {
    {"429 with Retry-After", 429, "Retry-After: 120\r\n", 1, 2 * MINUTE, 3 * MINUTE},
    {"503 with Retry-After", 503, "Retry-After: 77\r\n", 2, 77 * SECOND, 2 * MINUTE},
    {"503 alone", 503, NULL, 3, 30 * SECOND, MINUTE},
    {"429 alone", 429, NULL, 1, 30 * SECOND, MINUTE},
    /* The site's clock begins at 2026-01-01 00:00:00. */
    {"429 with a date", 429, "Retry-After: Thu, 01 Jan 2026 00:05:00 GMT\r\n", 1, 4 * MINUTE, 5 * MINUTE},
    {"429 with Retry-After of 0", 429, "Retry-After: 0\r\n", 1, SECOND, 2 * MINUTE},
    {"429 with a strange Retry-After", 429, "Retry-After: soon\r\n", 1, 30 * SECOND, MINUTE},
    {"429 that asks for an hour", 429, "Retry-After: 3600\r\n", 1, 0, 0},
};

static void a_host_that_has_enough_is_left_alone(void **state)
{
    const storm *what = *state;
    scene scene;
    scene_begin(&scene, 1, 6);
    site_page *page = site_find(scene.web, "127.0.1.1", "/2");
    page->early = (site_answer){.status = what->status, .fields = what->fields, .body = ""};
    page->early_times = what->times;
    scene_crawl(&scene, what->least ? CRAWL_DONE : CRAWL_LIMIT);
    check_alone(&scene);
    check_gaps(&scene, false, SECOND, 99 * MINUTE, "none");
    if (what->least) {
        int64_t gap = gap_behind(&scene, what->status);
        check(gap >= what->least && gap <= what->most, "it comes again after %lld ms", (long long)gap);
        crawling_judge(&scene.self, scene.web, JUDGE_STORED, NULL, NULL);
        assert_int_equal(page->requests, what->times + 1);
    } else {
        check(scene.web->log[scene.web->log_count - 1].status == 429, "it goes on after %s", what->name);
        crawling_judge(&scene.self, scene.web, JUDGE_STORED | JUDGE_PARTLY, NULL, NULL);
        int64_t refused = scene.web->log[scene.web->log_count - 1].began;
        site_forget(scene.web); /* the page refuses once more, an hour later */
        site_serve(scene.web);
        page->early_times = 0;
        atomic_fetch_add(&scene.clock.ms, 30 * MINUTE);
        crawling_must(&scene.self, CRAWL_LIMIT);
        site_stop(scene.web);
        assert_int_equal(scene.web->log_count, 0); /* not even robots.txt: the host wants to be left alone */
        atomic_fetch_add(&scene.clock.ms, 31 * MINUTE);
        site_serve(scene.web);
        crawling_must(&scene.self, CRAWL_DONE);
        site_stop(scene.web);
        check(scene.web->log_count > 0 && scene.web->log[0].began >= refused + 60 * MINUTE, "it came too early");
        crawling_judge(&scene.self, scene.web, JUDGE_STORED, NULL, NULL);
    }
    scene_end(&scene);
}

/* A host that always refuses: the URL is tried a few times, further and further apart, and then has that status. */
static void a_page_that_always_refuses_is_given_up(void **state)
{
    scene scene;
    int64_t last = -1, gap = 0;
    (void)state;
    scene_begin(&scene, 1, 3);
    site_page *page = site_find(scene.web, "127.0.1.1", "/1");
    page->answer = (site_answer){.status = 503, .body = ""};
    page->status = 503;
    scene_crawl(&scene, CRAWL_DONE);
    crawling_judge(&scene.self, scene.web, 0, NULL, NULL);
    check(page->requests >= 2 && page->requests <= 7, "asked %u times", page->requests);
    for (size_t i = 0; i < scene.web->log_count; i++) {
        const site_request *each = &scene.web->log[i];
        if (each->status != 503)
            continue;
        check(last < 0 || each->began - last >= 30 * SECOND, "asked again after %lld ms",
              (long long)(each->began - last));
        check(last < 0 || each->began - last >= gap, "the gaps do not grow: %lld", (long long)(each->began - last));
        gap = last < 0 ? 0 : each->began - last;
        last = each->began;
    }
    scene_end(&scene);
}

/* ---- hosts that cannot be crawled now ---- */

static void check_parked(scene *scene, unsigned host, size_t requests)
{
    size_t seen = 0;
    for (size_t i = 0; i < scene->web->log_count; i++)
        seen += scene->web->log[i].address == host;
    check(seen <= requests, "a parked host was asked %zu times", seen);
    crawling_judge(&scene->self, scene->web, JUDGE_STORED | JUDGE_PARTLY, NULL, NULL);
}

static void a_crawl_delay_of_two_minutes_parks_the_host(void **state)
{
    scene scene;
    (void)state;
    scene_begin(&scene, 2, 5);
    site_robots(scene.web, 2, "User-agent: *\nCrawl-delay: 120\n");
    scene_crawl(&scene, CRAWL_LIMIT);
    check_parked(&scene, 2, 2);
    check(strstr(scene.self.why, "park") || strstr(scene.self.warned, "127.0.1.2"), "nobody was told: %s; %s",
          scene.self.why, scene.self.warned);
    site_serve(scene.web); /* the next run knows the file from the database */
    crawling_must(&scene.self, CRAWL_LIMIT);
    site_stop(scene.web);
    check_parked(&scene, 2, 2);
    scene_end(&scene);
}

/* A negative status: half of the file, then the connection is closed; 0: without a byte. */
static void a_robots_txt_that_fails_forbids_everything(void **state)
{
    const int *status = *state;
    bool breaks = *status <= 0;
    scene scene;
    scene_begin(&scene, 2, 5);
    site_page *robots = site_robots(scene.web, 2, "User-agent: *\nAllow: /\n");
    if (!breaks)
        robots->answer = (site_answer){.status = *status, .body = "User-agent: *\nAllow: /\n", .length = 24};
    else
        robots->answer.manner = *status ? SITE_CUT_OFF : SITE_CLOSES;
    /* A host whose connections break may be down for good: its pages may have that as their outcome. */
    scene_crawl(&scene, breaks ? CRAWL_DONE : CRAWL_LIMIT);
    for (size_t i = 0; i < scene.web->log_count; i++)
        check(scene.web->log[i].address != 2 || strcmp(scene.web->log[i].target, "/robots.txt") == 0, "%s was fetched",
              scene.web->log[i].target);
    if (breaks) {
        scene.seeds[1]->status = 0;
        scene.seeds[1]->reason = "broken";
        scene.seeds[1]->barren = true;
        site_walk(scene.web, scene.seeds, scene.seed_count, -1);
    }
    crawling_judge(&scene.self, scene.web, JUDGE_STORED | (breaks ? 0 : JUDGE_PARTLY), NULL, NULL);
    scene_end(&scene);
}

static void a_robots_txt_that_cannot_be_decoded_forbids_everything(void **state)
{
    static const char rules[] = "User-agent: *\nAllow: /\n";
    scene scene;
    scene_begin(&scene, 2, 5);
    site_page *robots = site_robots(scene.web, 2, rules);
    robots->answer.fields = *state;
    scene_crawl(&scene, CRAWL_LIMIT);
    check_parked(&scene, 2, 1);
    check(strstr(scene.self.warned, "Content-Encoding"), "it says: %s", scene.self.warned);
    /* The server learns to send it as it is. */
    robots->answer.fields = NULL;
    site_serve(scene.web);
    crawling_must(&scene.self, CRAWL_DONE);
    site_stop(scene.web);
    crawling_judge(&scene.self, scene.web, JUDGE_STORED, NULL, NULL);
    scene_end(&scene);
}

/* ---- what is sent ---- */

static void only_the_seeds_get_the_users_headers(void **state)
{
    static const char *const headers[] = {"X-Secret: swordfish"};
    scene scene;
    (void)state;
    scene_begin(&scene, 2, 3);
    scene.seed_count = 1;
    site_redirect(site_find(scene.web, "127.0.1.1", "/1"), 302, site_find(scene.web, "127.0.1.2", "/"),
                  scene.seeds[1]->url);
    site_serve(scene.web);
    crawling_begin(&scene.self, scene.seeds, 1);
    scene.self.options.headers = headers;
    scene.self.options.header_count = 1;
    scene.self.options.check = true;
    scene.self.options.contact = "tests@example.org";
    crawling_must(&scene.self, CRAWL_DONE);
    site_stop(scene.web);
    size_t outside = 0;
    for (size_t i = 0; i < scene.web->log_count; i++) {
        const site_request *each = &scene.web->log[i];
        bool has = strstr(each->head, "swordfish") != NULL;
        outside += each->address == 2;
        check(has == (each->address == 1), "%s%s: %s", each->host, each->target, each->head);
        check(strstr(each->head, "User-Agent: vidi/") && strstr(each->head, "(+tests@example.org)"), "%s", each->head);
        check(!strstr(each->head, "Cookie") && !strstr(each->head, "Referer"), "%s", each->head);
        check(strcmp(each->method, "GET") == 0 || strcmp(each->method, "HEAD") == 0, "%s", each->method);
    }
    check(outside > 0, "nobody asked the other host");
    scene_end(&scene);
}

int main(int argc, char **argv)
{
    static const int failures[] = {500, 503, 429, 0, -1};
    static char compress[] = "Content-Encoding: compress\r\n", gzip[] = "Content-Encoding: gzip\r\n";
    test_add("one request at a time and a second between", one_request_at_a_time_and_a_second_between, NULL);
    test_add("a Crawl-delay counts whatever the user asks for", a_crawl_delay_counts_whatever_the_user_asks_for, NULL);
    test_add("hosts do not wait for each other", hosts_do_not_wait_for_each_other, NULL);
    test_add("hosts of one address share its turns", hosts_of_one_address_share_its_turns, NULL);
    for (size_t i = 0; i < sizeof storms / sizeof *storms; i++) {
        char name[128];
        snprintf(name, sizeof name, "a host that has enough is left alone: %s", storms[i].name);
        test_add(name, a_host_that_has_enough_is_left_alone, &storms[i]);
    }
    test_add("a page that always refuses is given up", a_page_that_always_refuses_is_given_up, NULL);
    test_add("a Crawl-delay of two minutes parks the host", a_crawl_delay_of_two_minutes_parks_the_host, NULL);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        char name[128];
        snprintf(name, sizeof name, "a robots.txt that fails forbids everything: %d", failures[i]);
        test_add(name, a_robots_txt_that_fails_forbids_everything, &failures[i]);
    }
    test_add("a robots.txt in an encoding of its own forbids everything",
             a_robots_txt_that_cannot_be_decoded_forbids_everything, compress);
    test_add("a robots.txt that is not what it says forbids everything",
             a_robots_txt_that_cannot_be_decoded_forbids_everything, gzip);
    test_add("only the seeds get the user's headers", only_the_seeds_get_the_users_headers, NULL);
    return test_run("crawler/sites/site_polite", argc, argv);
}
