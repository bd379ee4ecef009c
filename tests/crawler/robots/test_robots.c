/*
 * robots.txt as RFC 9309 defines it: groups, lines, delays and sitemaps. How paths are compared is in
 * test_robots_match.c.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "crawler/robots/robots_cases.h"
#include "support/env.h"

/* ---- groups ---- */

static void the_group_of_the_agent_counts_before_that_of_anybody(void **state)
{
    (void)state;
    static const char file[] = "User-agent: *\nDisallow: /\nUser-agent: vidi\nDisallow: /private/\n";
    check_allowed(file, "vidi", "http://h/a");
    check_denied(file, "vidi", "http://h/private/a");
    check_denied(file, "other", "http://h/a");
    /* A group without rules allows everything. */
    check_allowed("User-agent: *\nDisallow: /\nUser-agent: vidi\n", "vidi", "http://h/a");
    check_allowed("User-agent: other\nDisallow: /\n", "vidi", "http://h/a");
    check_allowed("", "vidi", "http://h/a");
}

static void digits_belong_to_the_names_of_agents_that_have_some(void **state)
{
    (void)state;
    static const char file[] = "User-agent: *\nDisallow: /\nUser-agent: MJ12bot/1.4\nDisallow: /private/\n"
                               "User-agent: MJ\nDisallow: /mj\nUser-agent: vidi2\nDisallow: /two\n";
    check_allowed(file, "mj12bot", "http://h/a");
    check_denied(file, "mj12bot", "http://h/private/a");
    check_denied(file, "MJ13bot", "http://h/a");
    /* Other names end at a digit, as in Google's parser. */
    check_denied(file, "mj", "http://h/mj");
    check_denied(file, "mj", "http://h/private/a");
    check_denied(file, "vidi", "http://h/two");
    check_allowed(file, "vidi", "http://h/a");
}

static void groups_of_the_same_agent_are_merged(void **state)
{
    (void)state;
    static const char file[] = "User-agent: vidi\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n\n"
                               "User-agent: VIDI\nDisallow: /c\n\nUser-agent: *\nDisallow: /d\n";
    check_denied(file, "vidi", "http://h/a");
    check_denied(file, "Vidi", "http://h/c");
    check_allowed(file, "vidi", "http://h/b");
    check_denied(file, "other", "http://h/b");
    check_denied(file, "other", "http://h/d");
    check_allowed(file, "other", "http://h/c");
}

static void a_group_can_name_several_agents(void **state)
{
    (void)state;
    static const char file[] =
        "User-agent: one\n# between\n\nUser-agent: two\nDisallow: /x\nUser-agent: three\nDisallow: /y\n";
    check_denied(file, "one", "http://h/x");
    check_denied(file, "two", "http://h/x");
    check_allowed(file, "three", "http://h/x");
    check_denied(file, "three", "http://h/y");
    /* An empty rule ends the list of agents, too. */
    check_allowed("User-agent: one\nDisallow:\nUser-agent: two\nDisallow: /\n", "one", "http://h/x");
}

static void other_lines_do_not_end_a_list_of_agents(void **state)
{
    (void)state;
    static const char *const lines[] = {"Sitemap: http://h/s.xml", "Crawl-delay: 3", "Clean-param: a /", "nonsense"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char file[200];
        snprintf(file, sizeof file, "User-agent: one\n%s\nUser-agent: two\nDisallow: /\n", lines[i]);
        check_denied(file, "one", "http://h/x");
        check_denied(file, "two", "http://h/x");
    }
}

static void rules_before_the_first_group_are_ignored(void **state)
{
    (void)state;
    check_allowed("Disallow: /\nUser-agent: vidi\nDisallow: /x\n", "vidi", "http://h/a");
}

static void only_a_whole_product_token_names_an_agent(void **state)
{
    (void)state;
    check_denied("User-agent: vidi/2.0 (crawler)\nDisallow: /\n", "vidi", "http://h/");
    check_denied("User-agent: vidi crawler\nDisallow: /\n", "vidi", "http://h/");
    check_allowed("User-agent: vidibot\nDisallow: /\n", "vidi", "http://h/");
    check_allowed("User-agent: vid\nDisallow: /\n", "vidi", "http://h/");
    check_allowed("User-agent: vidi-images\nDisallow: /\n", "vidi", "http://h/");
    check_allowed("User-agent: *vidi\nDisallow: /\n", "vidi", "http://h/");
    check_denied("User-agent: * all\nDisallow: /\n", "vidi", "http://h/");
    check_allowed("User-agent: 123\nDisallow: /\n", "", "http://h/");
}

static void the_group_that_applies_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        robots_group group;
        size_t rules;
    } list[] = {{"", ROBOTS_NO_GROUP, 0},
                {"User-agent: other\nDisallow: /\n", ROBOTS_NO_GROUP, 0},
                {"User-agent: *\nDisallow: /a\nDisallow: /b\n", ROBOTS_ANYBODY, 2},
                {"User-agent: vidi\nUser-agent: *\nDisallow: /a\n", ROBOTS_AGENT, 1},
                {"User-agent: *\nDisallow: /a\nUser-agent: vidi\nAllow: /\n", ROBOTS_AGENT, 1},
                {"User-agent: vidi\nAllow: /\nUser-agent: *\nDisallow: /a\n", ROBOTS_AGENT, 1}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        robots *rules = parsed(list[i].file, "vidi", false);
        assert_int_equal(robots_group_of(rules), list[i].group);
        assert_int_equal(robots_rule_count(rules), list[i].rules);
        robots_free(rules);
    }
}

static void a_parsed_file_keeps_only_the_rules_of_its_agent(void **state)
{
    (void)state;
    enum { AGENTS = 1000 };
    char *file = malloc(AGENTS * 64), *at = file;
    for (int i = 0; i < AGENTS; i++)
        at += sprintf(at, "User-agent: bot%c%c\nDisallow: /path/%d\n", 'a' + i % 26, 'a' + i / 26 % 26, i);
    robots *rules = parsed(file, "botcb", false);
    assert_true(robots_rule_count(rules) > 0 && robots_rule_count(rules) <= 3);
    check(robots_bytes(rules) < 200, "%zu bytes", robots_bytes(rules));
    robots_free(rules);
    free(file);
}

/* ---- lines ---- */

static void every_kind_of_line_end_is_understood(void **state)
{
    (void)state;
    static const char *const ends[] = {"\n", "\r\n", "\r", "\n\r\n"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char file[200];
        snprintf(file, sizeof file, "User-agent: vidi%sAllow: /a/b%sDisallow: /a", ends[i], ends[i]);
        check_denied(file, "vidi", "http://h/a/c");
        check_allowed(file, "vidi", "http://h/a/b");
    }
}

static void lines_are_counted_as_an_editor_counts_them(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint64_t lines;
    } list[] = {{"", 0}, {"a", 1}, {"a\n", 1}, {"a\n\n", 2}, {"a\r\n\r\nb", 3}, {"a\r\rb\r", 3}, {"\n\r\n\n", 3}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        robots_counts counts;
        robots_options options = {.agent = text_of("vidi"), .counts = &counts};
        robots *rules;
        assert_int_equal(robots_parse(&rules, text_of(list[i].file), &options), VIDI_OK);
        check(counts.lines == list[i].lines, "case %zu: %llu lines", i, (unsigned long long)counts.lines);
        robots_free(rules);
    }
}

static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    check_denied("\xef\xbb\xbfUser-agent: vidi\nDisallow: /\n", "vidi", "http://h/");
    check_denied("\xef\xbbUser-agent: vidi\nDisallow: /\n", "vidi", "http://h/");
    check_allowed("\xef\x11User-agent: vidi\nDisallow: /\n", "vidi", "http://h/");
    check_allowed("\n\xef\xbb\xbfUser-agent: vidi\nDisallow: /\n", "vidi", "http://h/");
}

static void blanks_comments_and_case_do_not_matter(void **state)
{
    (void)state;
    check_denied(" \tUSER-AGENT\t:\tvidi  # us\n\n  disAllow :/x # not here\n", "vidi", "http://h/x");
    check_allowed("User-agent: vidi\n#Disallow: /x\n", "vidi", "http://h/x");
    check_allowed("User-agent: vidi\nDisallow: # /x\n", "vidi", "http://h/x");
}

static void lines_that_make_no_sense_are_skipped(void **state)
{
    (void)state;
    static const char file[] = "<html>\n: /\nfoo\n:\n::::\nUser-agent: vidi\n\x01\x02\xff\nfoo: bar\nDisallow: /x\n";
    robots_counts counts;
    robots *rules;
    robots_options options = {.agent = text_of("vidi"), .counts = &counts};
    assert_int_equal(robots_parse(&rules, text_of(file), &options), VIDI_OK);
    assert_int_equal(counts.lines, 9);
    assert_int_equal(counts.known, 2);
    assert_int_equal(counts.unknown, 1);
    assert_false(counts.cut);
    assert_int_equal(robots_check(rules, text_of("http://h/x"), NULL), ROBOTS_DENIED);
    robots_free(rules);
    /* Bytes that end a string in C do not end a file. */
    static const char zeros[] = "User-agent: vidi\0\nDisallow: /x\n\0Disallow: /y\nDisallow: /z\n";
    assert_int_equal(robots_parse(&rules, (vidi_str){zeros, sizeof zeros - 1}, &options), VIDI_OK);
    assert_int_equal(robots_check(rules, text_of("http://h/x"), NULL), ROBOTS_DENIED);
    assert_int_equal(robots_check(rules, text_of("http://h/z"), NULL), ROBOTS_DENIED);
    robots_free(rules);
}

static void misspellings_are_understood_only_if_asked(void **state)
{
    (void)state;
    static const char *const files[] = {"User agent: vidi\nDisallow: /\n",  "Useragent: vidi\nDisallow: /\n",
                                        "User-agent: vidi\nDissallow: /\n", "User-agent: vidi\nDissalow: /\n",
                                        "User-agent: vidi\nDisalow: /\n",   "User-agent: vidi\nDiasllow: /\n",
                                        "User-agent: vidi\nDisallaw: /\n",  "User-agent vidi\nDisallow: /\n",
                                        "User-agent: vidi\nDisallow /\n",   "User-agent: vidi\nDisallow-all: /\n"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        check(allowed_if(files[i], "vidi", false, "http://h/"), "strict: %s", files[i]);
        check(!allowed_if(files[i], "vidi", true, "http://h/"), "lenient: %s", files[i]);
    }
    assert_true(allowed_if("User-agent: vidi\nDesallow: /\n", "vidi", true, "http://h/"));
    assert_true(allowed_if("User-agent: vidi\nDisallow / all\n", "vidi", true, "http://h/"));
    /* Google's parser reads "index.html" in an allow rule as the folder, too. */
    static const char index[] = "User-agent: vidi\nDisallow: /\nAllow: /x/index.html\n";
    assert_true(allowed_if(index, "vidi", true, "http://h/x/"));
    assert_false(allowed_if(index, "vidi", true, "http://h/x/y"));
    assert_false(allowed_if(index, "vidi", false, "http://h/x/"));
}

/* ---- limits ---- */

/* Parses a file of so many bytes whose last line is `last`, perhaps with a limit; is /x allowed? */
static bool allowed_at_size(size_t bytes, const char *last, size_t limit, bool *cut)
{
    static const char head[] = "User-agent: vidi\n";
    char *file = malloc(bytes);
    robots_counts counts;
    robots_options options = {.agent = text_of("vidi"), .limit = limit, .counts = &counts};
    robots *rules;
    memset(file, '\n', bytes);
    memcpy(file, head, sizeof head - 1);
    memcpy(file + bytes - strlen(last), last, strlen(last));
    assert_int_equal(robots_parse(&rules, (vidi_str){file, bytes}, &options), VIDI_OK);
    free(file);
    int verdict = robots_check(rules, text_of("http://h/x"), NULL);
    robots_free(rules);
    *cut = counts.cut;
    return verdict == ROBOTS_ALLOWED;
}

static void at_least_500_kibibytes_are_read(void **state)
{
    (void)state;
    bool cut;
    assert_false(allowed_at_size(500 << 10, "Disallow: /x", 0, &cut));
    assert_false(cut);
    assert_false(allowed_at_size(ROBOTS_LIMIT, "Disallow: /x", 0, &cut));
    assert_false(cut);
    assert_true(allowed_at_size(ROBOTS_LIMIT + 1, "Disallow: /x", 0, &cut));
    assert_true(cut);
    assert_false(allowed_at_size(ROBOTS_LIMIT + 1, "Disallow: /x", ROBOTS_LIMIT + 1, &cut));
    assert_false(cut);
}

static void a_line_that_the_limit_cuts_through_is_ignored(void **state)
{
    (void)state;
    static const char head[] = "User-agent: vidi\nDisallow: /", whole[] = "User-agent: vidi\nDisallow: /a/b";
    for (size_t limit = 1; limit <= sizeof whole; limit++) {
        robots_options options = {.agent = text_of("vidi"), .limit = limit};
        robots *rules;
        assert_int_equal(robots_parse(&rules, text_of(whole), &options), VIDI_OK);
        check(robots_check(rules, text_of("http://h/x"), NULL) == ROBOTS_ALLOWED, "limit %zu", limit);
        check(robots_rule_count(rules) == (limit >= sizeof whole - 1), "limit %zu", limit);
        robots_free(rules);
    }
    /* A line that ends just there is whole. */
    robots_options options = {.agent = text_of("vidi"), .limit = sizeof head - 1};
    robots *rules;
    assert_int_equal(robots_parse(&rules, text_of("User-agent: vidi\nDisallow: /\nAllow: /\n"), &options), VIDI_OK);
    assert_int_equal(robots_rule_count(rules), 1);
    robots_free(rules);
}

static void the_end_of_a_long_line_is_ignored(void **state)
{
    (void)state;
    enum { LONG = 100000 };
    static const char head[] = "User-agent: vidi\nDisallow: /";
    char *file = malloc(LONG), *url = malloc(LONG);
    memset(file, 'a', LONG);
    memcpy(file, head, sizeof head - 1);
    file[LONG - 1] = 0;
    memset(url, 'a', LONG);
    memcpy(url, "http://h/", 9);
    url[ROBOTS_LINE_LIMIT] = 0;
    check_denied(file, "vidi", url);
    url[ROBOTS_LINE_LIMIT / 2] = 0;
    check_allowed(file, "vidi", url);
    free(file);
    free(url);
}

/* ---- Crawl-delay and Sitemap ---- */

static double delay_of(const char *file)
{
    robots *rules = parsed(file, "vidi", false);
    double delay = robots_delay(rules);
    robots_free(rules);
    return delay;
}

static void the_delay_is_that_of_the_group(void **state)
{
    (void)state;
    assert_true(delay_of("") < 0);
    assert_true(delay_of("Crawl-delay: 5\n") < 0);
    assert_true(delay_of("User-agent: *\nCrawl-delay: 5\n") == 5);
    /* It counts for the agents above it, though the list of agents goes on after it. */
    assert_true(delay_of("User-agent: *\nCrawl-delay: 5\nUser-agent: vidi\nDisallow:\n") < 0);
    assert_true(delay_of("User-agent: *\nDisallow:\nCrawl-delay: 5\nUser-agent: vidi\nDisallow:\n") < 0);
    assert_true(delay_of("User-agent: vidi\nCrawl-delay: 2\nUser-agent: *\nCrawl-delay: 5\nDisallow: /\n") == 5);
    assert_true(delay_of("User-agent: other\nCrawl-delay: 9\nUser-agent: vidi\nDisallow: /\n") < 0);
    /* The longest of merged groups. */
    assert_true(delay_of("User-agent: vidi\nDisallow: /a\nCrawl-delay: 7\n\nUser-agent: vidi\nCrawl-delay: 3\n") == 7);
}

static void a_delay_is_a_number_of_seconds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } list[] = {{"10", 10},
                {"0.5", 0.5},
                {"1.25 # s", 1.25},
                {"0", 0},
                {"2s", 2},
                {"3.", 3},
                {"1.2.3", 1.2},
                {"-1", -1},
                {"soon", -1},
                {"", -1},
                {".5", -1},
                {"1e9", 1},
                {"99999999999999999999999999999999999999999999", 1e9}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char file[200];
        snprintf(file, sizeof file, "User-agent: *\nCrawl-delay: %s\n", list[i].text);
        double got = delay_of(file);
        check(got >= list[i].seconds - 1e-9 && got <= list[i].seconds + 1e-9, "%s: %g", list[i].text, got);
    }
}

typedef struct sitemaps {
    char text[200];
    int count, stop_at;
} sitemaps;

static int take_sitemap(void *context, vidi_str url)
{
    sitemaps *all = context;
    size_t used = strlen(all->text);
    snprintf(all->text + used, sizeof all->text - used, "%.*s|", (int)url.len, url.ptr);
    return ++all->count == all->stop_at ? 42 : 0;
}

static void sitemaps_are_told_whatever_their_group(void **state)
{
    (void)state;
    static const char file[] =
        "Sitemap: http://h/1.xml # first\nUser-agent: other\nDisallow: /\nsitemap:/2.xml\nSITEMAP:\n"
        "User-agent: vidi\nSitemap: http://h/3.xml";
    sitemaps all = {"", 0, 0};
    robots *rules;
    robots_options options = {.agent = text_of("vidi"), .sitemap = take_sitemap, .context = &all};
    assert_int_equal(robots_parse(&rules, text_of(file), &options), VIDI_OK);
    assert_string_equal(all.text, "http://h/1.xml|/2.xml|http://h/3.xml|");
    robots_free(rules);
    /* The visitor can end it. */
    all = (sitemaps){"", 0, 2};
    assert_int_equal(robots_parse(&rules, text_of(file), &options), 42);
    assert_int_equal(all.count, 2);
    assert_null(rules);
}

/* ---- real files ---- */

/* Reads a file of the test data, strictly and leniently, whole and cut anywhere; returns the delay for the agent. */
static double read_real(const char *name, const char *agent)
{
    static char bytes[1 << 20];
    char path[4096];
    snprintf(path, sizeof path, "%s/conformance/robots/files/%s", test_data(), name);
    FILE *file = fopen(path, "rb");
    check(file, "%s", path);
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    double delay = -1;
    for (size_t i = 0; i <= 64; i++) {
        robots_options options = {.agent = text_of(agent), .lenient = i % 2};
        robots *rules;
        assert_int_equal(robots_parse(&rules, (vidi_str){bytes, n * i / 64}, &options), VIDI_OK);
        int verdict = robots_check(rules, text_of("http://example.org/a/b.html?c"), NULL);
        assert_true(verdict == ROBOTS_ALLOWED || verdict == ROBOTS_DENIED);
        delay = robots_delay(rules);
        robots_free(rules);
    }
    return delay;
}

static void real_and_malformed_files_are_read(void **state)
{
    (void)state;
    if (!test_data())
        skip();
    char path[4096];
    snprintf(path, sizeof path, "%s/conformance/robots/files", test_data());
    DIR *folder = opendir(path);
    assert_non_null(folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (entry->d_name[0] != '.') {
            read_real(entry->d_name, "mybot");
            count++;
        }
    closedir(folder);
    assert_true(count >= 20);
    /* This one says in its comments what is right. */
    assert_true(read_real("crawl-delay-group-merging.txt", "mybot") == 10);
    assert_true(read_real("crawl-delay-group-merging.txt", "yourbot") < 0);
    assert_true(read_real("crawl-delay-group-merging.txt", "other") == 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_group_of_the_agent_counts_before_that_of_anybody),
        cmocka_unit_test(digits_belong_to_the_names_of_agents_that_have_some),
        cmocka_unit_test(groups_of_the_same_agent_are_merged),
        cmocka_unit_test(a_group_can_name_several_agents),
        cmocka_unit_test(other_lines_do_not_end_a_list_of_agents),
        cmocka_unit_test(rules_before_the_first_group_are_ignored),
        cmocka_unit_test(only_a_whole_product_token_names_an_agent),
        cmocka_unit_test(the_group_that_applies_is_told),
        cmocka_unit_test(a_parsed_file_keeps_only_the_rules_of_its_agent),
        cmocka_unit_test(every_kind_of_line_end_is_understood),
        cmocka_unit_test(lines_are_counted_as_an_editor_counts_them),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(blanks_comments_and_case_do_not_matter),
        cmocka_unit_test(lines_that_make_no_sense_are_skipped),
        cmocka_unit_test(misspellings_are_understood_only_if_asked),
        cmocka_unit_test(at_least_500_kibibytes_are_read),
        cmocka_unit_test(a_line_that_the_limit_cuts_through_is_ignored),
        cmocka_unit_test(the_end_of_a_long_line_is_ignored),
        cmocka_unit_test(the_delay_is_that_of_the_group),
        cmocka_unit_test(a_delay_is_a_number_of_seconds),
        cmocka_unit_test(sitemaps_are_told_whatever_their_group),
        cmocka_unit_test(real_and_malformed_files_are_read),
    };
    return cmocka_run_group_tests_name("robots", tests, NULL, NULL);
}
