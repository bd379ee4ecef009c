/*
 * The threads of a crawl: fetcher, parsers and storage, while another thread looks at its progress and a third one
 * stops it. For the thread sanitizer.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/runner.h"

typedef struct watcher {
    crawl *crawl;
    _Atomic bool ended;
    uint64_t looks;
    bool stops;
    uint64_t stop_at; /* pages */
} watcher;

static void *watch(void *context)
{
    watcher *self = context;
    crawl_progress progress = {0};
    while (!atomic_load(&self->ended)) {
        struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
        crawl_look(self->crawl, &progress);
        self->looks++;
        if (self->stops && progress.pages >= self->stop_at)
            crawl_stop(self->crawl);
    }
    return NULL;
}

static crawl_end run_watched(crawling *self, uint64_t stop_at)
{
    watcher look = {.stops = stop_at > 0, .stop_at = stop_at};
    pthread_t thread;
    check(crawl_open(&look.crawl, &self->options, self->why) == VIDI_OK, "%s", self->why);
    assert_int_equal(pthread_create(&thread, NULL, watch, &look), 0);
    crawl_end end = crawl_run(look.crawl);
    atomic_store(&look.ended, true);
    pthread_join(thread, NULL);
    check(end != CRAWL_FAILED, "%s", crawl_error(look.crawl));
    crawl_close(look.crawl);
    return end;
}

static void a_crawl_that_is_watched_and_stopped_goes_on(void **state)
{
    site *web = site_open(6);
    world_web whole = {.hosts = 6, .pages = 600, .seed = 8};
    crawling self;
    (void)state;
    world_web_make(web, &whole);
    for (size_t i = 0; i < web->page_count; i += 5)
        web->pages[i]->answer.delay_ms = 5;
    site_serve(web);
    crawling_begin(&self, whole.made, 6);
    self.options.threads = 4;
    for (uint64_t stop_at = 50; stop_at <= 350; stop_at += 100)
        run_watched(&self, stop_at);
    check(run_watched(&self, 0) == CRAWL_DONE, "it does not end");
    site_stop(web);
    site_walk(web, whole.made, 6, -1);
    crawling_judge(&self, web, JUDGE_STORED, NULL, NULL);
    crawling_end(&self);
    free(whole.made);
    site_close(web);
}

int main(int argc, char **argv)
{
    test_add("a crawl that is watched and stopped goes on", a_crawl_that_is_watched_and_stopped_goes_on, NULL);
    return test_run("crawler/sites/threads_site", argc, argv);
}
