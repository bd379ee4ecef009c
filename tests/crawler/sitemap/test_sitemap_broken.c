/* Broken sitemaps: all that can be read of them is read, and the report says what was wrong. */
#include <dirent.h>

#include "crawler/sitemap/sitemap_cases.h"
#include "support/env.h"

static void a_file_that_is_cut_off_gives_what_was_complete(void **state)
{
    (void)state;
    static const char text[] =
        "<urlset><url><loc>http://h/1</loc><lastmod>2026</lastmod></url><url><loc>http://h/2</loc>"
        "</url></urlset>";
    static const struct {
        const char *from;
        uint64_t pages;
    } list[] = {{"http://h/1", 0},           {"</loc><lastmod>", 0}, {"<lastmod>", 1},       {"</lastmod>", 1},
                {"<url><loc>http://h/2", 1}, {"/2</loc>", 1},        {"</url></urlset>", 2}, {"</urlset>", 2}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        sitemap_seen seen = {.count = 0};
        sitemap_options options = {.visit = see, .context = &seen};
        sitemap_report report;
        vidi_str cut = {text, (size_t)(strstr(text, list[i].from) - text)};
        assert_int_equal(read_pieces(cut, 5, &options, &report), VIDI_OK);
        check(report.pages == list[i].pages, "%.*s: %s", (int)cut.len, text, seen.text);
        check_problem(&report, SITEMAP_CUT_OFF, list[i].from);
    }
}

static void ampersands_are_taken_as_they_are(void **state)
{
    (void)state;
    check_broken(URLSET "<url><loc>http://h/?a=1&b=2&</loc></url></urlset>", SITEMAP_BARE_AMPERSAND,
                 "http://h/?a=1&b=2&|");
    check_broken(URLSET "<url><loc>http://h/?&&&copy=1&&amp;</loc></url></urlset>", SITEMAP_BARE_AMPERSAND,
                 "http://h/?&&&copy=1&&|");
    check_broken(URLSET "<url><loc>http://h/?&averylongname;x</loc></url></urlset>", SITEMAP_BARE_AMPERSAND,
                 "http://h/?&averylongname;x|");
    check_broken(URLSET "<url><loc>http://h/?a&;</loc></url></urlset>", SITEMAP_BARE_AMPERSAND, "http://h/?a&;|");
}

static void entities_are_never_expanded(void **state)
{
    (void)state;
    check_broken("<!DOCTYPE urlset [<!ENTITY a 'http://h/1'><!ENTITY b '&a;&a;'>]>" URLSET
                 "<url><loc>http://h/&a;</loc></url></urlset>",
                 SITEMAP_UNKNOWN_ENTITY, "http://h/&a;|");
    check_broken(URLSET "<url><loc>http://h/&nbsp;</loc></url></urlset>", SITEMAP_UNKNOWN_ENTITY, "http://h/&nbsp;|");
    check_broken(URLSET "<url><loc>http://h/&#0;&#xd800;&#x110000;&#;&#xg;</loc></url></urlset>",
                 SITEMAP_UNKNOWN_ENTITY, "http://h/&#0;&#xd800;&#x110000;&#;&#xg;|");
    check_broken("<!DOCTYPE urlset SYSTEM 'file:///etc/passwd'>" URLSET "<url><loc>http://h/&xxe;</loc></url></urlset>",
                 SITEMAP_UNKNOWN_ENTITY, "http://h/&xxe;|");
}

static void what_stands_before_the_root_is_skipped(void **state)
{
    (void)state;
    check_broken(
        "Warning: x in /y.php on line 3\n<?xml version='1.0'?>\n<urlset><url><loc>http://h/1</loc></url></urlset>",
        SITEMAP_GARBAGE, "http://h/1|");
    check_broken("<br/><b>Warning</b> <urlset><url><loc>http://h/1</loc></url></urlset>", SITEMAP_GARBAGE,
                 "http://h/1|");
    check_broken("<url><loc>http://h/1</loc></url><url><loc>http://h/2</loc></url>", SITEMAP_GARBAGE,
                 "http://h/1|http://h/2|");
    check_broken("<sitemap><loc>http://h/1</loc></sitemap>", SITEMAP_GARBAGE, "+http://h/1|");
    check_broken("# all pages\nhttp://h/1\n", SITEMAP_GARBAGE, "http://h/1|");
    check_broken("htt\nhttp://h/1\n", SITEMAP_GARBAGE, "http://h/1|");
}

static void missing_tags_cost_little(void **state)
{
    (void)state;
    check_broken("<urlset><url><loc>http://h/1</loc><url><loc>http://h/2</loc></url></urlset>", SITEMAP_BAD_MARKUP,
                 "http://h/1|http://h/2|");
    check_whole("<urlset><url><loc>http://h/1</url><url><loc>http://h/2</loc></urlset>", SITEMAP_URLSET,
                "http://h/1|http://h/2|");
    check_whole("<urlset><url><loc>http://h/1<lastmod>2026</lastmod></url><url><loc>http://h/2</loc></url></urlset>",
                SITEMAP_URLSET, "http://h/1|http://h/2|");
    check_whole("<urlset><url></x></y></z><loc>http://h/1</loc></url></urlset>", SITEMAP_URLSET, "http://h/1|");
    check_whole("<urlset><url><loc>http://h/1</loc><loc>http://h/2</loc><lastmod>1</lastmod></url></urlset>",
                SITEMAP_URLSET, "http://h/1|http://h/2 1|");
    check_broken("<urlset><url/><url><lastmod>1</lastmod></url><url><loc> </loc></url></urlset>", SITEMAP_NO_URL, "");
    check_whole("<urlset><sitemap><loc>http://h/1</loc></sitemap></urlset>", SITEMAP_URLSET, "+http://h/1|");
}

static void markup_that_is_not_well_formed_is_taken_as_it_is_meant(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } list[] = {
        {"<urlset><url><loc>http://h/a<b< c</loc></url></urlset>", "http://h/a|"},
        {"<urlset><url><loc>http://h/1< 2<3</loc></url></urlset>", "http://h/1< 2<3|"},
        {"<urlset a=b c d = e><url x><loc y=''>http://h/1</loc z></url></urlset>", "http://h/1|"},
        {"<urlset a='x><url><loc>http://h/1</loc></url></urlset>", "http://h/1|"},
        {"<urlset><url><loc>http://h/1</loc</url></urlset>", "http://h/1|"},
        {"<urlset / ><url><loc>http://h/1</loc></url></urlset>", "http://h/1|"},
        {"<urlset <url><loc>http://h/1</loc></url></urlset>", "http://h/1|"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        check_broken(list[i].text, SITEMAP_BAD_MARKUP, list[i].expected);
}

static void what_is_not_a_sitemap_is_told(void **state)
{
    (void)state;
    static const char *const list[] = {"",           " ",    "<html><body><a href='http://h/'>x</a></body></html>",
                                       "not a URL",  "\x1f", "{\"url\":\"http://h/\"}",
                                       "ftp://h/\n", "<",    "<!--",
                                       "\xef\xbb",   "<a>",  "&"};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        sitemap_report report = check_read(text_of(list[i]), NULL, "");
        check(report.format == SITEMAP_UNKNOWN, "%s", list[i]);
    }
}

static void the_first_line_of_a_problem_is_told(void **state)
{
    (void)state;
    sitemap_report report =
        check_read(text_of("<urlset>\n<url>\n<loc>http://h/?a&b</loc></url>\n<url>\n<loc>http://h/?&c"
                           "</loc></url></urlset>"),
                   NULL, "http://h/?a&b|http://h/?&c|");
    assert_int_equal(report.problems[SITEMAP_BARE_AMPERSAND].count, 2);
    assert_int_equal(report.problems[SITEMAP_BARE_AMPERSAND].line, 3);
    report = check_read(text_of("http://h/1\n\nfoo\nbar\n"), NULL, "http://h/1|");
    assert_int_equal(report.problems[SITEMAP_NOT_A_URL].line, 3);
}

static void names_and_blanks_of_any_length_are_skipped(void **state)
{
    (void)state;
    static char text[40000];
    memset(text, 'n', 20000);
    memcpy(text, "<urlset><", 9);
    strcpy(text + 20000, "><url><loc>http://h/1</loc></url></urlset>");
    check_whole(text, SITEMAP_URLSET, "http://h/1|");
    memset(text, ' ', 20000);
    memcpy(text, "<urlset><url><loc>http://h/1", 28);
    strcpy(text + 20000, "</loc></url></urlset>");
    check_whole(text, SITEMAP_URLSET, "http://h/1|");
    strcpy(text + 20000, "2</loc></url></urlset>");
    check_broken(text, SITEMAP_LONG_URL, "");
}

static void bytes_that_only_look_like_utf8_are_told(void **state)
{
    (void)state;
    static const char *const list[] = {"\xc0\xaf",         "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                       "\xf0\x80\x80\xaf", "\xff",         "\x80",         "\xe4"};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char text[100], expected[100];
        snprintf(text, sizeof text, "<urlset><url><loc>http://h/%s</loc></url></urlset>", list[i]);
        snprintf(expected, sizeof expected, "http://h/%s|", list[i]);
        check_broken(text, SITEMAP_NOT_UTF8, expected);
    }
    check_whole("<urlset><url><loc>http://h/\xc2\x80\xe0\xa0\x80\xf4\x8f\xbf\xbf</loc></url></urlset>", SITEMAP_URLSET,
                "http://h/\xc2\x80\xe0\xa0\x80\xf4\x8f\xbf\xbf|");
}

/* ---- real files ---- */

static uint64_t read_file(const char *path, sitemap_report *report)
{
    static char bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    sitemap_seen seen = {.count = 0};
    sitemap_options options = {.visit = see, .context = &seen};
    assert_int_equal(read_pieces((vidi_str){bytes, n}, 100, &options, report), VIDI_OK);
    return seen.count;
}

static void real_files_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        sitemap_format format;
        uint64_t entries;
    } list[] = {{"atom.xml", SITEMAP_ATOM, 1},
                {"do-not-visit.txt", SITEMAP_TEXT, 1},
                {"sitemap-with-bom.txt", SITEMAP_TEXT, 2},
                {"sitemap.badns.xml", SITEMAP_URLSET, 2},
                {"sitemap.index.xml", SITEMAP_INDEX, 15},
                {"sitemap.ns.xml", SITEMAP_URLSET, 2},
                {"sitemap.txt", SITEMAP_TEXT, 2},
                {"sitemap.txt.gz", SITEMAP_TEXT, 5},
                {"xmlSitemap.gz", SITEMAP_URLSET, 5},
                {"extension/hebdenbridgetimes-articles-sitemap.xml", SITEMAP_URLSET, 74},
                {"extension/pagemaps-sitemap.xml", SITEMAP_URLSET, 2},
                {"extension/shinpaideshou-news-sitemap.xml", SITEMAP_URLSET, 3},
                {"extension/sitemap-images.xml", SITEMAP_URLSET, 1},
                {"extension/sitemap-links.xml", SITEMAP_URLSET, 3},
                {"extension/sitemap-mobile.xml", SITEMAP_URLSET, 3},
                {"extension/sitemap-news.xml", SITEMAP_URLSET, 2},
                {"extension/sitemap-videos-tvshow.xml", SITEMAP_URLSET, 1},
                {"extension/sitemap-videos.xml", SITEMAP_URLSET, 3}};
    if (!test_data())
        skip();
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char path[4096];
        sitemap_report report;
        snprintf(path, sizeof path, "%s/conformance/sitemaps/files/%s", test_data(), list[i].name);
        uint64_t entries = read_file(path, &report);
        check(entries == list[i].entries, "%s: %llu", list[i].name, (unsigned long long)entries);
        check(report.format == list[i].format, "%s: format %d", list[i].name, (int)report.format);
        check_problem(&report, -1, list[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_is_cut_off_gives_what_was_complete),
        cmocka_unit_test(ampersands_are_taken_as_they_are),
        cmocka_unit_test(entities_are_never_expanded),
        cmocka_unit_test(what_stands_before_the_root_is_skipped),
        cmocka_unit_test(missing_tags_cost_little),
        cmocka_unit_test(markup_that_is_not_well_formed_is_taken_as_it_is_meant),
        cmocka_unit_test(what_is_not_a_sitemap_is_told),
        cmocka_unit_test(the_first_line_of_a_problem_is_told),
        cmocka_unit_test(names_and_blanks_of_any_length_are_skipped),
        cmocka_unit_test(bytes_that_only_look_like_utf8_are_told),
        cmocka_unit_test(real_files_are_read),
    };
    return cmocka_run_group_tests_name("sitemap_broken", tests, NULL, NULL);
}
