/*
 * --order: what a crawl has fetched when it is cut off at a tenth of its pages. All pages come in the end, once,
 * whatever the order.
 */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/site/living.h"
#include "support/random.h"
#include "support/runner.h"

enum { WEBS = 3, HOSTS = 10, CHILDREN = 100, POPULAR = 4, DELAY_MS = 1000 };

/*
 * A web as it often is: pages lead to many pages below them, and a few links lead to pages that are popular everywhere.
 * How popular a page is (with a density of n^-0.7) has nothing to do with its place. All are reached from page 0.
 */
typedef struct town {
    site *web;
    unsigned hosts;
    size_t count;
    site_page **pages;
    crawling crawl;
    site_clock clock;
    double *weight; /* PageRank, by number */
} town;

static size_t popular_page(test_random *random, size_t pages)
{
    double u = (double)(test_next(random) >> 11) * 0x1p-53;
    size_t rank = (size_t)((double)pages * pow(u, 1 / 0.3));
    return (rank < pages ? rank : pages - 1) * 7919 % pages; /* 7919 is a prime */
}

/* PageRank with 0.85 (Brin and Page, 1998), in thirty rounds. */
static void weigh(town *town)
{
    double *next = site_memory(town->count * sizeof *next);
    town->weight = site_memory(town->count * sizeof *town->weight);
    for (size_t i = 0; i < town->count; i++)
        town->weight[i] = 1 / (double)town->count;
    for (int round = 0; round < 30; round++) {
        for (size_t i = 0; i < town->count; i++)
            next[i] = 0.15 / (double)town->count;
        for (size_t i = 0; i < town->count; i++)
            for (size_t e = 0; e < town->pages[i]->edge_count; e++)
                next[town->pages[i]->edges[e].to->number] +=
                    0.85 * town->weight[i] / (double)town->pages[i]->edge_count;
        memcpy(town->weight, next, town->count * sizeof *next);
    }
    free(next);
}

static void town_make(town *town, unsigned hosts, size_t pages, uint64_t seed)
{
    test_random random = {seed};
    *town = (struct town){
        .web = site_open(hosts), .hosts = hosts, .count = pages, .pages = site_memory(pages * sizeof(site_page *))};
    for (size_t i = 0; i < pages; i++)
        town->pages[i] = site_page_add(town->web, 1 + (unsigned)(i % hosts), "/p/%zu", i);
    for (size_t i = 0; i < pages; i++) {
        for (size_t child = i * CHILDREN + 1; child <= (i + 1) * CHILDREN && child < pages; child++)
            site_link_to(town->pages[i], town->pages[child]);
        for (int j = 0; j < POPULAR; j++)
            site_link_to(town->pages[i], town->pages[popular_page(&random, pages)]);
    }
    weigh(town);
    site_serve(town->web);
}

static void town_free(town *town)
{
    free(town->weight);
    free(town->pages);
    site_close(town->web);
}

/*
 * A second between two requests to a host, by a clock that jumps when all that came is read and committed, and one page
 * at a time: so the order does not depend on how fast this machine is.
 */
static void be_polite(crawl_options *options, site_clock *clock)
{
    site_clock_begin(clock);
    options->clock = &clock->clock;
    options->delay = DELAY_MS;
    options->per_host = options->connections = options->threads = 1;
}

static void crawl_begin(town *town, crawl_order order, uint64_t most)
{
    crawling_begin(&town->crawl, NULL, 0);
    site_forget(town->web);
    for (size_t i = 0; i < town->hosts; i++)
        town->crawl.seeds[i] = (vidi_str){town->pages[i]->url, strlen(town->pages[i]->url)};
    crawl_options *o = &town->crawl.options;
    o->seed_count = town->hosts;
    o->set.kind = "hashset";
    o->order = order;
    o->max_pages = most;
    o->no_store = true;
    be_polite(o, &town->clock);
}

/* The weight of the pages that were asked for, and the mean of their depths. */
static double weight_of(const town *town, double *depth)
{
    double weight = 0;
    uint64_t count = 0;
    *depth = 0;
    for (size_t i = 0; i < town->count; i++) {
        if (town->pages[i]->requests == 0)
            continue;
        weight += town->weight[i];
        count++;
        for (size_t up = i; up > 0; up = (up - 1) / CHILDREN)
            *depth += 1;
    }
    *depth /= (double)count;
    return weight;
}

static double cut_at_a_tenth(town *town, crawl_order order, double *depth)
{
    crawl_begin(town, order, town->count / 10);
    crawling_must(&town->crawl, CRAWL_LIMIT);
    double weight = weight_of(town, depth);
    crawling_end(&town->crawl);
    return weight;
}

/* A site of one host, and one page at a time: so nothing is left to chance, and each run finds the same. */
static void best_finds_half_as_much_again_and_depth_goes_deeper(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= WEBS; seed++) {
        town town;
        double by_breadth, by_depth, by_best;
        town_make(&town, 1, 10000, seed);
        double breadth = cut_at_a_tenth(&town, CRAWL_BREADTH, &by_breadth);
        double depth = cut_at_a_tenth(&town, CRAWL_DEPTH, &by_depth);
        double best = cut_at_a_tenth(&town, CRAWL_BEST, &by_best);
        print_message("# of all PageRank, at a tenth of the pages: breadth %.3f, depth %.3f, best %.3f (%.2f times "
                      "breadth); mean depths %.2f, %.2f, %.2f\n",
                      breadth, depth, best, best / breadth, by_breadth, by_depth, by_best);
        check(best >= 1.5 * breadth, "best finds %.3f, breadth first %.3f", best, breadth);
        check(by_depth > by_breadth + 0.05, "the mean depth is %.3f with depth, and %.3f with breadth", by_depth,
              by_breadth);
        town_free(&town);
    }
}

/* Of a crawl that is cut off at a tenth, and goes on as fast as it can. */
static void all_pages_come_once(town *town, crawl_order order)
{
    crawl_begin(town, order, town->count / 10);
    crawling_must(&town->crawl, CRAWL_LIMIT);
    town->crawl.options.max_pages = 0;
    town->crawl.options.delay = 0;
    town->crawl.options.per_host = 8;
    town->crawl.options.connections = town->crawl.options.threads = 0;
    crawling_must(&town->crawl, CRAWL_DONE);
    for (size_t i = 0; i < town->count; i++)
        check(town->pages[i]->requests == 1, "%s was fetched %u times", town->pages[i]->url, town->pages[i]->requests);
}

/* When a crawl becomes continuous. The schedule is written in portions of 2,000 pages. */
static void all_pages_are_scheduled(town *town)
{
    town->crawl.options.continuous = true;
    town->crawl.options.max_time = 1;
    crawling_must(&town->crawl, CRAWL_LIMIT);
    int64_t rows = living_ask(town->crawl.state, "SELECT count(*) FROM schedule");
    check(rows == (int64_t)town->count, "%lld pages are in the schedule", (long long)rows);
}

static void all_pages_come_whatever_the_order(void **state)
{
    static const crawl_order orders[] = {CRAWL_BREADTH, CRAWL_DEPTH, CRAWL_BEST};
    town town;
    (void)state;
    town_make(&town, HOSTS, 4500, 1);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        all_pages_come_once(&town, orders[i]);
        if (orders[i] == CRAWL_BEST)
            all_pages_are_scheduled(&town);
        crawling_end(&town.crawl);
    }
    town_free(&town);
}

/* ---- sitemaps ---- */

enum { LINKED = 300, LISTED = 40, OTHERS = 150 };

static unsigned listed_of(crawl_order order)
{
    site *web = site_open(1);
    site_page *front = site_page_add(web, 1, "/"), *map = site_page_add(web, 1, "/map.xml"), *listed[LISTED];
    crawling crawl;
    site_clock clock;
    char robots[128];
    unsigned found = 0;
    for (unsigned i = 0; i < LINKED; i++) {
        site_page *linked = site_page_add(web, 1, "/linked/%u", i);
        site_link_to(front, linked);
    }
    snprintf(robots, sizeof robots, "Sitemap: %s\n", map->url);
    site_robots(web, 1, robots);
    map->answer.type = "application/xml";
    site_say(map, "<urlset>");
    for (unsigned i = 0; i < LISTED; i++) {
        listed[i] = site_page_add(web, 1, "/listed/%u", i);
        site_say(map, "<url><loc>%s</loc></url>", listed[i]->url);
    }
    site_say(map, "</urlset>");
    site_serve(web);
    crawling_begin(&crawl, &front, 1);
    crawl.options.order = order;
    be_polite(&crawl.options, &clock);
    crawl.options.max_pages = 2 + LISTED + OTHERS;
    crawling_must(&crawl, CRAWL_LIMIT);
    for (unsigned i = 0; i < LISTED; i++)
        found += listed[i]->requests;
    crawling_end(&crawl);
    site_close(web);
    return found;
}

static void pages_of_sitemaps_go_first(void **state)
{
    (void)state;
    unsigned breadth = listed_of(CRAWL_BREADTH), sitemap = listed_of(CRAWL_SITEMAP);
    print_message("# of %d listed pages, breadth has fetched %u, sitemap %u\n", LISTED, breadth, sitemap);
    check(sitemap == LISTED, "only %u listed pages come before the others", sitemap);
    check(breadth == 0, "%u listed pages come early anyway", breadth);
}

int main(int argc, char **argv)
{
    test_add_once("best finds half as much weight again, and depth goes deeper",
                  best_finds_half_as_much_again_and_depth_goes_deeper, NULL);
    test_add_once("all pages come in the end, once, and are scheduled", all_pages_come_whatever_the_order, NULL);
    test_add("pages of sitemaps go first", pages_of_sitemaps_go_first, NULL);
    return test_run("crawler/sites/site_order", argc, argv);
}
