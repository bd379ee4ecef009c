/* A crawl in the hands of several threads: looked at, stopped at any moment, gone on with. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/check.h"

enum { HOSTS = 6, PAGES = 600, STOPS = 8 };

typedef struct watcher {
    crawl *crawl;
    uint64_t stop_at; /* pages */
    atomic_bool over;
} watcher;

static void *watch(void *context)
{
    watcher *watcher = context;
    crawl_progress progress;
    struct timespec moment = {.tv_nsec = 200000};
    while (!atomic_load(&watcher->over)) {
        crawl_look(watcher->crawl, &progress);
        if (progress.pages_this_run >= watcher->stop_at)
            crawl_stop(watcher->crawl);
        nanosleep(&moment, NULL);
    }
    return NULL;
}

static crawl_end run_watched(crawling *self, uint64_t stop_at)
{
    watcher watcher = {.stop_at = stop_at};
    pthread_t thread;
    check(crawl_open(&watcher.crawl, &self->options, self->why) == VIDI_OK, "%s", self->why);
    check(pthread_create(&thread, NULL, watch, &watcher) == 0, "a thread");
    crawl_end ended = crawl_run(watcher.crawl);
    check(ended != CRAWL_FAILED, "%s", crawl_error(watcher.crawl));
    atomic_store(&watcher.over, true);
    pthread_join(thread, NULL);
    crawl_close(watcher.crawl);
    return ended;
}

static void a_crawl_that_is_stopped_goes_on_where_it_was(void **state)
{
    (void)state;
    site *web = site_open(HOSTS);
    world_web whole = {.hosts = HOSTS, .pages = PAGES, .seed = 5};
    crawling self;
    world_web_make(web, &whole);
    site_walk(web, whole.made, HOSTS, -1);
    site_serve(web);
    crawling_begin(&self, whole.made, HOSTS);
    self.options.threads = 4;
    for (uint64_t i = 0; i < STOPS; i++)
        run_watched(&self, i * 10);
    check(run_watched(&self, UINT64_MAX) == CRAWL_DONE, "it comes to its end");
    crawling_judge(&self, web, JUDGE_STORED, NULL, NULL);
    crawling_end(&self);
    site_close(web);
    free(whole.made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_crawl_that_is_stopped_goes_on_where_it_was)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
