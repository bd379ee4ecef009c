/*
 * When memory runs out, the readers say so, free what they have, and give no wrong answer. Every allocation fails once:
 * first the first, then the second, and so on, until a run needs none that fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/robots/robots.h"
#include "crawler/scarce_memory.h"
#include "crawler/sitemap/sitemap.h"
#include "support/check.h"

static void robots_txt_without_memory_is_an_error(void **state)
{
    (void)state;
    static char file[8000] = "User-agent: vidi\n", url[8000] = "http://h/%41";
    for (int i = 0; i < 200; i++)
        sprintf(file + strlen(file), "Disallow: /%d\n", i);
    memset(url + 12, 'a', 6000);
    long failed = 0;
    for (long at = 0, error = VIDI_EMEMORY; error; at++) {
        robots_options options = {.agent = {"vidi", 4}};
        robots *rules;
        countdown = at;
        error = robots_parse(&rules, (vidi_str){file, strlen(file)}, &options);
        if (!error)
            error = robots_check(rules, (vidi_str){url, strlen(url)}, NULL) == ROBOTS_ALLOWED ? 0 : VIDI_EMEMORY;
        else
            assert_null(rules);
        countdown = -1;
        assert_true(error == 0 || error == VIDI_EMEMORY);
        failed += error != 0;
        robots_free(rules);
    }
    assert_true(failed > 5);
}

static int count(void *context, const sitemap_entry *entry)
{
    (void)entry;
    ++*(uint64_t *)context;
    return 0;
}

/* With a relative URL that is in Latin-1: it needs most memory. */
static void a_sitemap_without_memory_is_an_error(void **state)
{
    (void)state;
    static const char text[] =
        "<?xml encoding='latin1'?><urlset><url><loc>/\xe4</loc></url><url><loc>/b</loc></url></urlset>";
    long failed = 0;
    for (long at = 0, error = VIDI_EMEMORY; error; at++) {
        uint64_t entries = 0;
        sitemap_options options = {.visit = count, .context = &entries, .base = {"http://h/", 9}};
        sitemap_report report = {.pages = 0};
        sitemap *reader;
        countdown = at;
        error = sitemap_open(&reader, &options);
        if (!error) {
            int result = sitemap_feed(reader, text, sizeof text - 1);
            error = sitemap_close(reader, &report);
            assert_int_equal(result, error);
        }
        countdown = -1;
        assert_true(error == 0 || error == VIDI_EMEMORY);
        assert_true(report.problems[SITEMAP_NOT_A_URL].count == 0);
        assert_true(error || entries == 2);
        failed += error != 0;
    }
    assert_true(failed >= 2);
}

#if VIDI_HAVE_ZLIB
static void packed_data_without_memory_is_an_error(void **state)
{
    (void)state;
    /* "http://h/\n" */
    static const char packed[] = "\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcb\x28\x29\x29\xb0\xd2\xd7\xcf\xd0\xe7\x02\0";
    long failed = 0;
    for (long at = 0, error = VIDI_EMEMORY; error; at++) {
        uint64_t entries = 0;
        sitemap_options options = {.visit = count, .context = &entries};
        sitemap *reader;
        countdown = at;
        error = sitemap_open(&reader, &options);
        if (!error) {
            (void)sitemap_feed(reader, packed, sizeof packed - 1);
            error = sitemap_close(reader, NULL);
        }
        countdown = -1;
        assert_true(error == 0 || error == VIDI_EMEMORY);
        failed += error != 0;
    }
    assert_true(failed >= 2);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robots_txt_without_memory_is_an_error),
        cmocka_unit_test(a_sitemap_without_memory_is_an_error),
#if VIDI_HAVE_ZLIB
        cmocka_unit_test(packed_data_without_memory_is_an_error),
#endif
    };
    return cmocka_run_group_tests_name("no_memory", tests, NULL, NULL);
}
