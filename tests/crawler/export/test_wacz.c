/*
 * WACZ files: what is committed is in them and nothing else, and a file is there whole or not at all. What players make
 * of them is tested in tests/conformance/wacz.sh.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crawler/export/export.h"
#include "crawler/site/crawling.h"
#include "support/check.h"

typedef struct town {
    site *web;
    crawling crawl;
    char to[TEST_PATH];
    char why[EXPORT_WHY];
    export_result result;
} town;

static void begin(town *here)
{
    *here = (town){.web = site_open(1)};
    site_page *home = site_page_add(here->web, 1, "/");
    site_say(home, "<title>Home</title>");
    site_link_to(home, site_page_add(here->web, 1, "/page"));
    crawling_begin(&here->crawl, &home, 1);
    site_serve(here->web);
    crawling_must(&here->crawl, CRAWL_DONE);
    site_stop(here->web);
    test_path(here->to, here->crawl.folder, "site.wacz");
}

static int export(town *here)
{
    export_options options = {.folder = here->crawl.state, .to = here->to};

    assert_int_equal(report_open(&options.report, here->crawl.state, here->why), VIDI_OK);
    int error = export_wacz(&options, &here->result, here->why);
    report_close(options.report);
    return error;
}

static void end(town *here)
{
    crawling_end(&here->crawl);
    site_close(here->web);
}

static char *load(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *all = malloc(1 << 20);

    check(file != NULL, "no %s", path);
    *length = fread(all, 1, 1 << 20, file);
    fclose(file);
    return all;
}

static bool has(const char *all, size_t length, const char *text)
{
    return memmem(all, length, text, strlen(text)) != NULL;
}

static void only_what_is_committed_is_in_it(void **state)
{
    town here;
    char archive[TEST_PATH];
    size_t before, after;

    (void)state;
    begin(&here);
    check(export(&here) == VIDI_OK, "%s", here.why);
    assert_int_equal(here.result.pages, 2);
    uint64_t bytes = here.result.bytes;
    /* What a running crawl has written after its last commit */
    test_path(archive, here.crawl.state, "archive/vidi-00000.warc.gz");
    int fd = open(archive, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, "not committed", 13), 13);
    close(fd);
    check(export(&here) == VIDI_OK, "%s", here.why);
    assert_int_equal(here.result.bytes, bytes);
    char *all = load(here.to, &before);
    assert_false(has(all, before, "not committed"));
    assert_true(has(all, before, "\"title\":\"Home\""));
    free(all);
    /* A file that is shorter than that cannot be exported, and the last export stays. */
    assert_int_equal(truncate(archive, 100), 0);
    assert_int_equal(export(&here), VIDI_EDAMAGED);
    free(load(here.to, &after));
    assert_int_equal(after, before);
    assert_int_equal(test_folder_count(here.crawl.folder, "site.wacz.new"), 0);
    end(&here);
}

static void it_is_for_its_owner_and_a_link_stays_a_link(void **state)
{
    town here;
    struct stat about;
    char target[TEST_PATH];

    (void)state;
    begin(&here);
    test_path(target, here.crawl.folder, "target.wacz");
    test_file_write(here.crawl.folder, "target.wacz", "old", 3);
    test_file_write(here.crawl.folder, "site.wacz.new", "left", 4);
    assert_int_equal(symlink("target.wacz", here.to), 0);
    check(export(&here) == VIDI_OK, "%s", here.why);
    assert_int_equal(lstat(here.to, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(target, &about), 0);
    assert_true(about.st_size > 1000);
    assert_int_equal(about.st_mode & 0777, 0600);
    end(&here);
}

static void nothing_is_left_where_nothing_can_be_written(void **state)
{
    town here;

    (void)state;
    begin(&here);
    test_path(here.to, here.crawl.folder, "no/such/site.wacz");
    assert_int_equal(export(&here), VIDI_EIO);
    assert_non_null(strstr(here.why, "No such file"));
    snprintf(here.to, sizeof here.to, "%s", here.crawl.folder);
    assert_int_equal(export(&here), VIDI_EEXIST);
    end(&here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_committed_is_in_it),
        cmocka_unit_test(it_is_for_its_owner_and_a_link_stays_a_link),
        cmocka_unit_test(nothing_is_left_where_nothing_can_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
