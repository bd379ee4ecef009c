/*
 * A crawl that may open only a few files either manages with them or ends with an error, and the next run loses nothing.
 * The site's server is a process of its own, so that it can open all the files that it needs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/check.h"

enum { HOSTS = 20, PAGES = 200, FEWEST = 4, MOST = 64 };

/* Files that are open already. */
static rlim_t open_files(void)
{
    int next = dup(STDERR_FILENO);
    check(next >= 0, "no file");
    close(next);
    return (rlim_t)next;
}

static void few_files_lose_nothing(void **state)
{
    (void)state;
    site *web = site_open(HOSTS);
    world_web whole = {.hosts = HOSTS, .pages = PAGES, .seed = 7};
    struct rlimit usual;
    int failed = 0, managed = 0;
    world_web_make(web, &whole);
    site_walk(web, whole.made, HOSTS, -1);
    pid_t server = crawling_serve_apart(web);
    check(getrlimit(RLIMIT_NOFILE, &usual) == 0, "no limit");
    for (rlim_t files = FEWEST; files <= MOST; files += 2) {
        struct rlimit few = {.rlim_cur = open_files() + files, .rlim_max = usual.rlim_max};
        crawling self;
        crawling_begin(&self, whole.made, HOSTS);
        self.options.retries = 0;
        check(setrlimit(RLIMIT_NOFILE, &few) == 0, "the limit cannot be set");
        crawl_end ended = crawling_run(&self);
        check(setrlimit(RLIMIT_NOFILE, &usual) == 0, "the limit cannot be set back");
        check(ended == CRAWL_FAILED || ended == CRAWL_DONE, "%lu files: it ends with %d", (unsigned long)files, ended);
        check(ended == CRAWL_DONE || *self.why, "%lu files: no word about it", (unsigned long)files);
        failed += ended == CRAWL_FAILED;
        managed += ended == CRAWL_DONE;
        crawling_must(&self, CRAWL_DONE);
        crawling_judge(&self, web, 0, NULL, NULL);
        crawling_end(&self);
    }
    crawling_end_server(server);
    print_message("# %d crawls have failed, %d have managed\n", failed, managed);
    check(failed > 0 && managed > 0, "the limits are not those between too few and enough");
    site_close(web);
    free(whole.made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_files_lose_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
