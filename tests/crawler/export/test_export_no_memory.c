/*
 * When memory runs out during an export, it ends with an error and a sentence, and what is on disk is whole.
 * Allocations fail one after the other, with growing gaps; those of SQLite do not fail.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/export/export.h"
#include "crawler/scarce_memory.h"
#include "crawler/site/crawling.h"
#include "crawler/site/worlds.h"
#include "support/check.h"

typedef int exporter(const export_options *options, export_result *result, char *why);

/* Lets each allocation of an export fail. Returns how many exports have failed. */
static int try_all(const crawling *crawl, exporter *make, const char *name)
{
    char to[TEST_PATH], why[EXPORT_WHY];
    export_options options = {.folder = crawl->state, .to = to, .rewrite = true};
    export_result result;
    int failures = 0;
    bool has_failed = true;

    test_path(to, crawl->folder, name);
    for (long at = 0; has_failed; at += 1 + at / 30) {
        assert_int_equal(report_open(&options.report, crawl->state, why), VIDI_OK);
        why[0] = 0;
        countdown = at;
        int error = make(&options, &result, why);
        has_failed = countdown < 0;
        countdown = -1;
        report_close(options.report);
        check(error == VIDI_OK || error == VIDI_EMEMORY, "allocation %ld: %d, %s", at, error, why);
        check(error == VIDI_OK || why[0], "allocation %ld: no word about it", at);
        failures += error != VIDI_OK;
        check(has_failed || error == VIDI_OK, "%s", why);
    }
    assert_int_equal(test_folder_count(crawl->folder, "site.wacz.new"), 0);
    return failures;
}

static void no_memory_is_an_error(void **state)
{
    world_web web = {.hosts = 1, .pages = 12, .seed = 6};
    site *site = site_open(1);
    crawling crawl;

    (void)state;
    world_web_make(site, &web);
    crawling_begin(&crawl, web.made, 1);
    site_serve(site);
    crawling_must(&crawl, CRAWL_DONE);
    site_stop(site);
    int failures = try_all(&crawl, export_wacz, "site.wacz");
    check(failures > 10, "%d exports have failed", failures);
    failures = try_all(&crawl, export_mirror, "mirror");
    check(failures > 10, "%d mirrors have failed", failures);
    crawling_end(&crawl);
    site_close(site);
    free(web.made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_memory_is_an_error)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
