/*
 * Visiting a site again: what is fetched, and what is said of each page.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "crawler/site/changes.h"
#include "crawler/site/crawling.h"
#include "crawler/site/told.h"
#include "crawler/site/worlds.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

/* ---- a site that changes ---- */

/* A set that loses nothing. */
static void revisit_begin(crawling *self, site_page *const *seeds, size_t count)
{
    crawling_begin(self, seeds, count);
    self->options.set.kind = "hashset";
}

static void every_change_is_told_over_five_visits(void **state)
{
    changes site;
    crawling self;
    told told = {0};
    (void)state;
    changes_begin(&site, 3, 1);
    crawling_begin(&self, site.seeds, site.seed_count);
    self.options.set.kind = "classic"; /* which expects to lose 1e-14 pages: as many may be called recovered */
    self.options.set.params = "m=60000,k=20";
    for (unsigned visit = 1; visit <= CHANGES_VISITS; visit++) {
        changes_turn(&site, visit);
        self.options.revisit = visit > 1;
        crawling_must(&self, CRAWL_DONE);
        crawling_judge(&self, site.web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
        told_expect(&told, site.web);
        told_must_be_true(&told, self.state);
    }
    told_free(&told);
    crawling_end(&self);
    changes_end(&site);
}

/* ---- all kinds of pages ---- */

enum { ZOO_HOSTS = 8, OUTSIDE = 9, ZOO_SEEDS = ZOO_HOSTS + 2 };

/* Of each kind one; all with a validator. Behind the seeds that are named come sitemaps. */
static site *zoo_open(site_page *seeds[ZOO_SEEDS])
{
    site *web = site_open(OUTSIDE);
    for (unsigned host = 1; host <= ZOO_HOSTS; host++)
        seeds[host - 1] = site_page_add(web, host, "/");
    world_loops(web, 1, seeds[0]);
    world_mirrors(web, 1, 2, seeds[0]);
    world_spellings(web, 1, seeds[0]);
    world_encodings(web, 1, seeds[0]);
    world_politeness(web, 1, seeds[0]);
    world_packed(web, 1, seeds[0]);
    world_statuses(web, 2, seeds[0]);
    world_redirects(web, 1, 2, OUTSIDE, seeds[0]);
    world_robots(web, 3, seeds[0]);
    size_t sitemaps = world_sitemaps(web, 7, seeds + ZOO_HOSTS);
    check(sitemaps == ZOO_SEEDS - ZOO_HOSTS, "%zu sitemaps", sitemaps);
    for (size_t i = 0; i < web->page_count; i++)
        web->pages[i]->answer.etag = "\"one\"";
    return web;
}

/* What a visit must say of a page that never changes. */
static const char *change_of(const site_page *page, bool again)
{
    bool is_fine = page->answer.status < 400 && page->answer.status != 304;
    bool is_gone = page->answer.status == 404 || page->answer.status == 410;
    if (page->reason || !(is_fine || is_gone))
        return "failed";
    return again ? "unchanged" : is_gone ? "gone" : "new";
}

/* Whatever leads from a page to others is read from the archive when the server says that nothing has changed. */
static void links_of_all_kinds_come_out_of_the_archive(void **state)
{
    site_page *seeds[ZOO_SEEDS];
    site *web = zoo_open(seeds);
    crawling self;
    (void)state;
    revisit_begin(&self, seeds, ZOO_HOSTS);
    site_walk(web, seeds, ZOO_SEEDS, -1);
    for (int visit = 0; visit < 3; visit++) {
        size_t unchanged = 0;
        for (size_t i = 0; i < web->page_count; i++) {
            site_page *page = web->pages[i];
            page->change = change_of(page, visit > 0);
            page->status = visit > 0 && page->status == 200 ? SITE_ANY_STATUS : page->status;
        }
        site_forget(web);
        site_serve(web);
        self.options.revisit = visit > 0;
        crawling_must(&self, CRAWL_DONE);
        site_stop(web);
        crawling_judge(&self, web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
        for (size_t i = 0; i < web->log_count; i++)
            unchanged += web->log[i].status == 304;
        check(visit == 0 || unchanged > 100, "only %zu pages are told to be unchanged", unchanged);
    }
    crawling_end(&self);
    site_close(web);
}

/* ---- a site that does not change ---- */

static uint64_t archive_bytes(const crawling *self)
{
    char folder[TEST_PATH], path[TEST_PATH];
    struct stat about;
    uint64_t sum = 0;
    test_path(folder, self->state, "archive");
    DIR *list = opendir(folder);
    check(list != NULL, "no archive");
    for (struct dirent *entry; (entry = readdir(list));) {
        test_path(path, folder, entry->d_name);
        sum += stat(path, &about) == 0 && S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
    }
    closedir(list);
    return sum;
}

/* Text that packing makes little shorter, so that short pages take as much of the archive as usual ones. */
static void fill(site *web, size_t bytes)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
    test_random random = {29};
    char word[10];
    for (size_t i = 0; i < web->page_count; i++) {
        site_page *page = web->pages[i];
        page->answer.etag = i % 3 ? "\"one\"" : NULL;
        page->answer.modified = i % 3 != 1 ? "Thu, 01 Jan 2026 08:09:10 GMT" : NULL;
        while (page->text.length < bytes) {
            uint64_t number = test_next(&random);
            for (size_t n = 0; n < sizeof word; n++)
                word[n] = letters[number >> 6 * n & 63];
            site_text_add(&page->text, word, sizeof word);
        }
    }
}

static void an_unchanged_site_is_hardly_fetched_again(void **state)
{
    enum { MOST_FETCHED = 5, MOST_STORED = 10 }; /* per cent */
    site *web = site_open(20);
    world_web whole = {.hosts = 20,
                       .pages = test_sanitized() ? 500
                                : test_long()    ? 20000
                                                 : 4000,
                       .seed = 29,
                       .plain = true};
    uint64_t fetched[2], stored[2];
    told told = {0};
    crawling self;
    (void)state;
    world_web_make(web, &whole);
    fill(web, 6500);
    revisit_begin(&self, whole.made, whole.hosts);
    site_walk(web, whole.made, whole.hosts, -1);
    for (int visit = 0; visit < 2; visit++) {
        for (size_t i = 0; i < web->page_count; i++) {
            web->pages[i]->change = visit ? "unchanged" : "new";
            web->pages[i]->status = visit ? 304 : 200;
        }
        site_forget(web);
        site_serve(web);
        self.options.revisit = visit > 0;
        crawling_must(&self, CRAWL_DONE);
        site_stop(web);
        crawling_judge(&self, web, JUDGE_STORED | JUDGE_REQUESTS, NULL, NULL);
        told_expect(&told, web);
        told_must_be_true(&told, self.state);
        fetched[visit] = site_body_bytes(web);
        stored[visit] = archive_bytes(&self);
    }
    print_message("# %llu bytes fetched, then %llu; archive of %llu bytes, then %llu\n", (unsigned long long)fetched[0],
                  (unsigned long long)fetched[1], (unsigned long long)stored[0], (unsigned long long)stored[1]);
    check(fetched[1] * 100 <= fetched[0] * MOST_FETCHED, "%llu of %llu bytes are fetched again",
          (unsigned long long)fetched[1], (unsigned long long)fetched[0]);
    check((stored[1] - stored[0]) * 100 <= stored[0] * MOST_STORED, "the archive grows from %llu to %llu bytes",
          (unsigned long long)stored[0], (unsigned long long)stored[1]);
    told_free(&told);
    free(whole.made);
    crawling_end(&self);
    site_close(web);
}

int main(int argc, char **argv)
{
    test_add("every change is told over five visits", every_change_is_told_over_five_visits, NULL);
    test_add("links of all kinds come out of the archive", links_of_all_kinds_come_out_of_the_archive, NULL);
    test_add("an unchanged site is hardly fetched again", an_unchanged_site_is_hardly_fetched_again, NULL);
    return test_run("crawler/sites/site_revisit", argc, argv);
}
