/*
 * A real site: Debian's manual of PostgreSQL, served from its folder. The crawl asks for the same files as wget -r.
 * Skipped without the package postgresql-doc-15 or wget.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crawler/site/child.h"
#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/runner.h"

static const char manual[] = "/usr/share/doc/postgresql-doc-15/html";
static const char wget[] = "/usr/bin/wget";

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The targets that were asked for, sorted, without robots.txt. */
static char **targets_of(const site *web, size_t *count)
{
    char **list = site_memory(web->log_count * sizeof *list);
    *count = 0;
    for (size_t i = 0; i < web->log_count; i++) {
        if (strcmp(web->log[i].target, "/robots.txt") != 0)
            list[(*count)++] = site_copy(web->log[i].target);
    }
    qsort(list, *count, sizeof *list, by_text);
    return list;
}

static void free_targets(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

/* What wget finds, each once. */
static char **ask_wget(site *web, const char *url, size_t *count)
{
    char folder[TEST_PATH];
    child_plan plan = {0};
    test_folder_new(folder, false);
    child_add(&plan, wget, "-q", "-r", "-l", "inf", "-P", folder, url, NULL);
    int status = child_run(&plan);
    test_folder_remove(folder);
    check(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 8), "wget ends with %d", status);
    char **list = targets_of(web, count);
    site_forget(web);
    return list;
}

static void the_crawl_finds_what_wget_finds(void **state)
{
    (void)state;
    if (access(manual, R_OK) != 0 || access(wget, X_OK) != 0) {
        print_message("# the package postgresql-doc-15 or wget is missing\n");
        skip();
    }
    site *web = site_open(1);
    char url[64];
    site_page entrance = {.url = url}, *seed = &entrance; /* the site has no page: all comes from the folder */
    size_t theirs_count, ours_count;
    crawling self;
    checker_report report;
    web->maker = world_folder;
    web->maker_context = (void *)(uintptr_t)manual;
    snprintf(url, sizeof url, "http://127.0.1.1:%d/", web->port);
    crawling_begin(&self, &seed, 1);
    site_serve(web);
    char **theirs = ask_wget(web, url, &theirs_count);
    self.options.resources = true;
    crawling_must(&self, CRAWL_DONE);
    site_stop(web);
    char **ours = targets_of(web, &ours_count);
    checker_look(&report, self.state, NULL, NULL, NULL);
    check(checker_faults(&report) == 0, "%s", report.first);
    for (size_t i = 0; i < theirs_count || i < ours_count; i++) {
        const char *their = i < theirs_count ? theirs[i] : "(end)", *our = i < ours_count ? ours[i] : "(end)";
        check(strcmp(their, our) == 0, "wget asks for %s, the crawl for %s (%zu and %zu files)", their, our,
              theirs_count, ours_count);
    }
    print_message("# %zu files, as wget finds them\n", ours_count);
    check(ours_count > 1000, "only %zu files", ours_count);
    free_targets(theirs, theirs_count);
    free_targets(ours, ours_count);
    crawling_end(&self);
    site_close(web);
}

int main(int argc, char **argv)
{
    test_add_once("the crawl finds what wget finds", the_crawl_finds_what_wget_finds, NULL);
    return test_run("crawler/sites/site_manual", argc, argv);
}
