/* Hosts: more of them than fit into memory, some that are dead, some with a limit of pages. */
#include <netdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/site/crawling.h"
#include "support/check.h"

enum { MANY = 2500, ADDRESSES = 20 };

static atomic_int asked_for_never;

/*
 * "wN.…" leads to one of the addresses, every other name to the first; "dead.…" to one that does not answer, "half.…"
 * to both, "none.…" to nobody just now, and "never.…" does not exist.
 */
static int resolve(void *context, const char *host, fetch_address *addresses, int room)
{
    (void)context;
    (void)room;
    if (strncmp(host, "none.", 5) == 0)
        return EAI_AGAIN;
    if (strncmp(host, "never.", 6) == 0) {
        atomic_fetch_add(&asked_for_never, 1);
        return EAI_NONAME;
    }
    addresses[0] = (fetch_address){{127, 0, 1, 1}, 4};
    if (host[0] == 'w' && host[1] != 'w')
        addresses[0].bytes[3] = (uint8_t)(1 + strtoul(host + 1, NULL, 10) % ADDRESSES);
    if (strncmp(host, "dead.", 5) == 0)
        addresses[0].bytes[3] = 99;
    if (strncmp(host, "half.", 5) != 0)
        return 1;
    addresses[1] = addresses[0];
    addresses[0].bytes[3] = 99;
    return 2;
}

static void begin(crawling *self, site *web, site_page *seed)
{
    site_serve(web);
    crawling_begin(self, &seed, 1);
    self->options.resolver = resolve;
    self->options.per_host = 64;
    self->options.check = false;
    self->options.reach = SCOPE_SITE;
}

/* The same, where every page that the seed leads to must be visited. */
static void begin_whole(crawling *self, site *web, site_page *seed)
{
    site_walk(web, &seed, 1, -1);
    begin(self, web, seed);
}

static void end(crawling *self, site *web)
{
    crawling_end(self);
    site_close(web);
}

/* The same, when everything must have come out right. */
static void end_whole(crawling *self, site *web, unsigned flags)
{
    crawling_judge(self, web, flags, NULL, NULL);
    end(self, web);
}

static site_page *page_on(site *web, site_page *from, const char *host, const char *target)
{
    site_page *page = site_page_on(web, host, target);
    if (from)
        site_link_to(from, page);
    return page;
}

static void more_hosts_than_fit_into_memory_are_all_visited(void **state)
{
    (void)state;
    static char names[MANY][40];
    site *web = site_open(1);
    crawling self;
    site_page *seed = page_on(web, NULL, "www.many.example", "/");
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "h%d.many.example", i);
        site_page *first = page_on(web, seed, names[i], "/a");
        page_on(web, first, names[i], "/b");
        if (i > 0) /* found when that host may have been given back already */
            page_on(web, first, names[i / 2], i % 2 ? "/odd" : "/even");
    }
    begin_whole(&self, web, seed);
    crawling_must(&self, CRAWL_DONE);
    end_whole(&self, web, JUDGE_STORED | JUDGE_REQUESTS);
}

/* Hosts that have asked for patience are given back while others need their place, and come back later. */
static void hosts_that_have_to_wait_make_room(void **state)
{
    (void)state;
    static char names[MANY][40];
    site *web = site_open(ADDRESSES);
    site_clock clock;
    crawling self;
    site_page *seed = page_on(web, NULL, "www.many.example", "/");
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "w%d.many.example", i);
        site_page *first = page_on(web, seed, names[i], "/a");
        page_on(web, first, names[i], "/b");
        if (i % 2)
            continue;
        first->early = (site_answer){.status = 429, .fields = "Retry-After: 100\r\n"};
        first->early_times = 1;
    }
    begin_whole(&self, web, seed);
    site_clock_begin(&clock);
    self.options.clock = &clock.clock;
    crawling_must(&self, CRAWL_DONE);
    end_whole(&self, web, JUDGE_STORED);
}

static void a_host_stops_at_its_limit_and_goes_on_with_a_higher_one(void **state)
{
    (void)state;
    site *web = site_open(1);
    crawling self;
    char target[20];
    site_page *seed = page_on(web, NULL, "www.many.example", "/");
    for (int i = 0; i < 60; i++) {
        snprintf(target, sizeof target, "/%d", i);
        page_on(web, seed, "www.many.example", target);
    }
    page_on(web, seed, "other.many.example", "/");
    begin_whole(&self, web, seed);
    self.options.max_host_pages = 20;
    crawling_must(&self, CRAWL_LIMIT);
    check(self.progress.pages == 21, "20 pages of one host and 1 of the other, not %llu",
          (unsigned long long)self.progress.pages);
    self.options.max_host_pages = 0;
    crawling_must(&self, CRAWL_DONE);
    end_whole(&self, web, JUDGE_STORED | JUDGE_REQUESTS);
}

/* The page that reaches the limit has links itself. They are committed when the host has left already, and nobody asks
 * for them: the crawl must end all the same. */
static void links_that_are_found_when_a_host_has_left_do_not_keep_the_crawl_waiting(void **state)
{
    (void)state;
    site *web = site_open(1);
    crawling self;
    char target[20];
    site_page *seed = page_on(web, NULL, "www.many.example", "/");
    for (int i = 0; i < 20; i++) {
        snprintf(target, sizeof target, "/%d", i);
        site_page *page = page_on(web, seed, "www.many.example", target);
        snprintf(target, sizeof target, "/%d/more", i);
        page_on(web, page, "www.many.example", target);
    }
    begin_whole(&self, web, seed);
    for (uint64_t limit = 3; limit < 41; limit += 4) {
        self.options.max_host_pages = limit;
        crawling_must(&self, CRAWL_LIMIT);
        check(self.progress.pages == limit, "%llu pages, not %llu", (unsigned long long)self.progress.pages,
              (unsigned long long)limit);
    }
    self.options.max_host_pages = 0;
    crawling_must(&self, CRAWL_DONE);
    end_whole(&self, web, JUDGE_STORED | JUDGE_REQUESTS);
}

static void a_host_is_asked_at_its_next_address_if_nobody_answers(void **state)
{
    (void)state;
    site *web = site_open(1);
    site_clock clock;
    crawling self;
    site_page *seed = page_on(web, NULL, "www.many.example", "/");
    page_on(web, page_on(web, seed, "half.many.example", "/a"), "half.many.example", "/b");
    begin_whole(&self, web, seed);
    site_clock_begin(&clock);
    self.options.clock = &clock.clock;
    self.options.retries = 1;
    crawling_must(&self, CRAWL_DONE);
    end_whole(&self, web, JUDGE_STORED | JUDGE_REQUESTS);
}

/* What is found in sitemaps while the host is being left belongs to the queue like all else. */
static void a_host_with_a_sitemap_stops_at_its_limit(void **state)
{
    (void)state;
    site *web = site_open(1);
    crawling self;
    char target[20];
    site_page *robots = site_page_on(web, "www.many.example", "/robots.txt");
    site_page *map = site_page_on(web, "www.many.example", "/sitemap.txt");
    map->answer.type = robots->answer.type = "text/plain";
    site_say(robots, "Sitemap: %s\n", map->url);
    site_page *seed = page_on(web, NULL, "www.many.example", "/");
    site_say(map, "%sonly\n", seed->url);
    for (int i = 0; i < 13; i++) {
        snprintf(target, sizeof target, "/%d", i);
        page_on(web, seed, "www.many.example", target);
    }
    page_on(web, NULL, "www.many.example", "/only");
    begin(&self, web, seed);
    self.options.max_host_pages = 3;
    crawling_must(&self, CRAWL_LIMIT);
    check(self.progress.pages == 3, "%llu pages", (unsigned long long)self.progress.pages);
    self.options.max_host_pages = 0;
    crawling_must(&self, CRAWL_DONE);
    check(self.progress.pages == 16, "%llu pages", (unsigned long long)self.progress.pages);
    end(&self, web);
}

/* One page may be refused for good; if all are, the host is left alone, and its URLs wait for another run. */
static void a_host_that_always_refuses_keeps_its_urls(void **state)
{
    (void)state;
    site *web = site_open(1);
    site_clock clock;
    crawling self;
    char target[20];
    site_page *seed = page_on(web, NULL, "www.many.example", "/");
    site_page *refused[6];
    for (int i = 0; i < 6; i++) {
        snprintf(target, sizeof target, "/%d", i);
        refused[i] = page_on(web, seed, "busy.many.example", target);
        refused[i]->answer.status = 429;
        refused[i]->answer.fields = "Retry-After: 1\r\n";
    }
    begin(&self, web, seed);
    self.options.per_host = 1;
    site_clock_begin(&clock);
    self.options.clock = &clock.clock;
    crawling_must(&self, CRAWL_LIMIT);
    check(self.progress.queue >= 5 && strstr(self.why, "parked"), "%llu URLs are left: %s",
          (unsigned long long)self.progress.queue, self.why);
    site_stop(web);
    for (int i = 0; i < 6; i++) {
        refused[i]->answer.status = 200;
        refused[i]->answer.fields = NULL;
    }
    site_serve(web);
    crawling_must(&self, CRAWL_DONE);
    check(self.progress.pages == 7 && self.progress.queue == 0, "%llu pages", (unsigned long long)self.progress.pages);
    end(&self, web);
}

/* RFC 9309: after a month a robots.txt that cannot be reached counts as missing; the database knows since when. */
static void an_unreachable_robots_file_counts_as_missing_after_a_month(void **state)
{
    (void)state;
    site *web = site_open(1);
    site_clock clock;
    crawling self;
    site_page *robots = site_page_on(web, "www.many.example", "/robots.txt");
    robots->answer.status = 500;
    site_page *seed = page_on(web, NULL, "www.many.example", "/");
    begin(&self, web, seed);
    site_clock_begin(&clock);
    self.options.clock = &clock.clock;
    crawling_must(&self, CRAWL_LIMIT);
    check(self.progress.pages == 0, "nothing may be fetched");
    atomic_fetch_add(&clock.ms, INT64_C(29) * 24 * 3600 * 1000);
    crawling_must(&self, CRAWL_LIMIT);
    atomic_fetch_add(&clock.ms, INT64_C(2) * 24 * 3600 * 1000);
    crawling_must(&self, CRAWL_DONE);
    check(self.progress.pages == 1, "now it is fetched");
    end(&self, web);
}

/* A response that is too large is a response: it counts against --max-pages like all others. */
static void responses_that_are_cut_off_count_as_pages(void **state)
{
    (void)state;
    static char large[5000];
    site *web = site_open(1);
    crawling self;
    char target[20];
    site_page *seed = page_on(web, NULL, "www.many.example", "/");
    memset(large, 'x', sizeof large);
    for (int i = 0; i < 20; i++) {
        snprintf(target, sizeof target, "/%d", i);
        site_page *page = page_on(web, seed, "www.many.example", target);
        page->answer.body = large;
        page->answer.length = sizeof large;
    }
    begin(&self, web, seed);
    self.options.max_body = 4000;
    self.options.max_pages = 9;
    crawling_must(&self, CRAWL_LIMIT);
    check(self.progress.pages == 9 && self.progress.errors == 8, "%llu pages, %llu errors",
          (unsigned long long)self.progress.pages, (unsigned long long)self.progress.errors);
    end(&self, web);
}

typedef enum outage { NO_NAMES, NOBODY_ANSWERS } outage;

/* As `resolve`, on a machine without a network. */
static int resolve_cut_off(void *context, const char *host, fetch_address *addresses, int room)
{
    const outage *what = context;

    (void)host;
    return *what == NO_NAMES ? -1 : resolve(NULL, "dead.many.example", addresses, room);
}

/* The network of the machine is gone for a whole run: what was found before is still to be fetched. */
static void an_outage_gives_no_url_up(void **state)
{
    static outage kinds[] = {NO_NAMES, NOBODY_ANSWERS};
    static const unsigned retries[] = {0, 3};
    static const char *const names[] = {"www.many.example", "a.many.example", "b.many.example", "c.many.example"};
    (void)state;

    for (int i = 0; i < 4; i++) {
        site *web = site_open(1);
        site_clock clock;
        crawling self;
        char target[20];
        site_page *seed = page_on(web, NULL, names[0], "/");
        for (int k = 0; k < 200; k++) {
            snprintf(target, sizeof target, "/%d", k);
            page_on(web, seed, names[k % 4], target);
        }
        begin_whole(&self, web, seed);
        site_clock_begin(&clock);
        self.options.clock = &clock.clock;
        self.options.retries = retries[i / 2];
        self.options.per_host = 1;
        self.options.max_pages = 160; /* more than three of the hosts have, so that each host has answered before */
        crawling_must(&self, CRAWL_LIMIT);
        self.options.max_pages = 0;
        self.options.resolver = resolve_cut_off;
        self.options.resolver_context = &kinds[i % 2];
        crawling_must(&self, CRAWL_LIMIT);
        check(self.progress.pages == 160, "%llu pages", (unsigned long long)self.progress.pages);
        self.options.resolver = resolve;
        crawling_must(&self, CRAWL_DONE);
        end_whole(&self, web, JUDGE_STORED);
    }
}

typedef enum trouble { NO_NAME_SERVER, NO_ROUTE } trouble;

/* A machine whose network is not up yet: nobody answers about names, or the kernel has no route (as for multicast). */
static int resolve_offline(void *context, const char *host, fetch_address *addresses, int room)
{
    const trouble *what = context;

    (void)host;
    (void)room;
    addresses[0] = (fetch_address){{224, 0, 0, 1}, 4};
    return *what == NO_NAME_SERVER ? EAI_AGAIN : 1;
}

/* The first run may begin before the network is there: the seed waits for the next. */
static void a_machine_without_a_network_gives_no_seed_up(void **state)
{
    static const fetch_net nets[] = {{{{127}, 4}, 8}, {{{224}, 4}, 4}};
    static trouble kinds[] = {NO_NAME_SERVER, NO_ROUTE};
    (void)state;

    for (size_t i = 0; i < 2; i++) {
        site *web = site_open(1);
        site_clock clock;
        crawling self;
        site_page *seed = page_on(web, NULL, "www.many.example", "/");
        page_on(web, seed, "www.many.example", "/a");
        begin_whole(&self, web, seed);
        site_clock_begin(&clock);
        self.options.clock = &clock.clock;
        self.options.retries = 3;
        self.options.nets = nets;
        self.options.net_count = 2;
        self.options.resolver = resolve_offline;
        self.options.resolver_context = &kinds[i];
        crawling_must(&self, CRAWL_LIMIT);
        check(self.progress.queue == 1, "%llu URLs are left", (unsigned long long)self.progress.queue);
        self.options.resolver = resolve;
        crawling_must(&self, CRAWL_DONE);
        end_whole(&self, web, JUDGE_STORED);
    }
}

/* A seed on this machine whose server was not started: one more try after a second, and no more. */
static void a_refusing_port_of_this_machine_is_given_up_after_a_second(void **state)
{
    (void)state;
    site *web = site_open(1);
    site_clock clock;
    crawling self;
    site_page *seed = page_on(web, NULL, "dead.many.example", "/");
    begin(&self, web, seed);
    site_clock_begin(&clock);
    self.options.clock = &clock.clock;
    self.options.retries = 3;
    crawling_must(&self, CRAWL_DONE);
    check(self.progress.errors == 1, "%llu errors", (unsigned long long)self.progress.errors);
    check(clock.clock.now(&clock) >= 1000 && clock.clock.now(&clock) < 4000, "it takes %lld ms",
          (long long)clock.clock.now(&clock));
    end(&self, web);
}

/* Names without an address and hosts that do not answer cost some retries, not one for each URL. */
static void dead_hosts_are_given_up_soon(void **state)
{
    (void)state;
    site *web = site_open(1);
    site_clock clock;
    crawling self;
    char target[20];
    site_page *seed = page_on(web, NULL, "www.many.example", "/");
    for (int i = 0; i < 300; i++) {
        snprintf(target, sizeof target, "/%d", i);
        site_page *dead = page_on(web, seed, "dead.many.example", target);
        site_page *never = page_on(web, seed, "never.many.example", target);
        dead->status = never->status = 0;
        dead->reason = "connect";
        never->reason = "name";
        dead->barren = never->barren = true;
    }
    begin_whole(&self, web, seed);
    site_clock_begin(&clock);
    self.options.clock = &clock.clock;
    self.options.retries = 3;
    crawling_must(&self, CRAWL_DONE);
    check(clock.clock.now(&clock) < 120000, "it takes %lld ms", (long long)clock.clock.now(&clock));
    check(asked_for_never == 1, "a name that does not exist was looked up %d times", asked_for_never);
    end_whole(&self, web, JUDGE_STORED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_hosts_than_fit_into_memory_are_all_visited),
        cmocka_unit_test(hosts_that_have_to_wait_make_room),
        cmocka_unit_test(a_host_stops_at_its_limit_and_goes_on_with_a_higher_one),
        cmocka_unit_test(links_that_are_found_when_a_host_has_left_do_not_keep_the_crawl_waiting),
        cmocka_unit_test(a_host_is_asked_at_its_next_address_if_nobody_answers),
        cmocka_unit_test(a_host_with_a_sitemap_stops_at_its_limit),
        cmocka_unit_test(a_host_that_always_refuses_keeps_its_urls),
        cmocka_unit_test(an_unreachable_robots_file_counts_as_missing_after_a_month),
        cmocka_unit_test(responses_that_are_cut_off_count_as_pages),
        cmocka_unit_test(an_outage_gives_no_url_up),
        cmocka_unit_test(a_machine_without_a_network_gives_no_seed_up),
        cmocka_unit_test(a_refusing_port_of_this_machine_is_given_up_after_a_second),
        cmocka_unit_test(dead_hosts_are_given_up_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
