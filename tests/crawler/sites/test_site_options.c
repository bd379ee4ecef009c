/*
 * Every option of the program does what it says. Each story crawls the same small site with one option more, and asks
 * the database about the one thing that the option changes. The answer without the option is known to be another one.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "crawler/packed.h"
#include "crawler/site/program.h"
#include "support/check.h"
#include "support/runner.h"

enum { BIG = 100000, QUERIES = 6, WORDS = 8 };

typedef struct town {
    site *web;
    site_page *seed;
    program self;
    char big[BIG];
    bytes packed;
} town;

/* ---- the site ---- */

/* A page that is small on its way and large when it is unpacked, and only then leads to /behind. */
static void add_packed_page(town *town)
{
    site_page *page = site_page_add(town->web, 1, "/packed");
    bytes html = {0};

    bytes_append(&html, town->big, BIG);
    bytes_append_format(&html, "<a href=/behind>behind</a>");
    town->packed = packed(bytes_str(&html), GZIP);
    bytes_free(&html);
    page->answer.fields = "Content-Encoding: gzip\r\n";
    page->answer.body = town->packed.ptr;
    page->answer.length = town->packed.len;
    site_page_add(town->web, 1, "/behind");
    site_link_to(town->seed, page);
}

static void add_redirects(town *town)
{
    site_page *first = site_page_add(town->web, 1, "/hop/0"), *last = first;

    for (int i = 1; i <= 3; i++) {
        site_page *next = site_page_add(town->web, 1, "/hop/%d", i);
        site_redirect(last, 302, next, next->target);
        last = next;
    }
    site_link_to(town->seed, first);
}

static void town_begin(town *town)
{
    memset(town->big, ' ', BIG);
    town->web = site_open(1);
    town->seed = site_page_add(town->web, 1, "/");
    for (int i = 0; i < QUERIES; i++)
        site_link_to(town->seed, site_page_add(town->web, 1, "/q?n=%d", i));
    site_link_to(town->seed, site_page_add(town->web, 1, "/r/r/r/end"));
    site_link_to(town->seed, site_page_add(town->web, 1, "/%0300d", 7));
    site_page *big = site_page_add(town->web, 1, "/big");
    big->answer.body = town->big;
    big->answer.length = BIG;
    site_link_to(town->seed, big);
    site_page_add(town->web, 1, "/picture");
    site_say(town->seed, "<img src=/picture>");
    site_page_add(town->web, 1, "/listed");
    site_page *list = site_page_add(town->web, 1, "/sitemap.txt");
    site_say(list, "http://%s:%d/listed\n", site_host_name(1), town->web->port);
    list->answer.type = "text/plain";
    site_robots(town->web, 1, "User-agent: robo\nDisallow: /big\nSitemap: /sitemap.txt\n");
    add_packed_page(town);
    add_redirects(town);
    program_begin(&town->self, town->web, &town->seed, 1);
}

static void town_end(town *town)
{
    program_end(&town->self);
    site_close(town->web);
    bytes_free(&town->packed);
}

/* ---- the stories ---- */

typedef struct story {
    const char *name;
    const char *words[WORDS];   /* ends in NULL */
    const char *question;       /* about the database */
    const char *without, *with; /* the answers */
    int code;
} story;

#define SKIPPED(reason) "SELECT coalesce(sum(links), 0) FROM skipped WHERE reason = '" reason "'"
#define REASONS(word) "SELECT count(*) FROM pages WHERE reason = '" word "'"
#define PAGES(like) "SELECT count(*) FROM pages WHERE url LIKE '" like "'"
#define META(word) "SELECT value FROM meta WHERE name = '" word "'"

static const story stories[] = {
    {"--include", {"--include", "/hop/*"}, PAGES("%/q?n=%"), "6", "0", 0},
    {"--exclude", {"--exclude", "/q?*"}, PAGES("%/q?n=%"), "6", "0", 0},
    {"--pages-only", {"--pages-only"}, PAGES("%/picture"), "1", "0", 0},
    {"--no-sitemaps", {"--no-sitemaps"}, PAGES("%/listed"), "1", "0", 0},
    {"--no-store", {"--no-store"}, "SELECT count(file) > 0 FROM pages", "1", "0", 0},
    {"--no-store and what pages load", {"--no-store"}, PAGES("%/picture"), "1", "0", 0},
    {"--no-store --resources", {"--no-store", "--resources"}, PAGES("%/picture"), "1", "1", 0},
    {"--max-host-pages", {"--max-host-pages", "3"}, "SELECT count(*) = 3 FROM pages WHERE status > 0", "0", "1", 3},
    {"--max-queries", {"--max-queries", "2"}, REASONS("trap"), "0", "4", 0},
    {"--max-url", {"--max-url", "200"}, SKIPPED("limit"), "0", "1", 0},
    {"--max-repeat", {"--max-repeat", "2"}, SKIPPED("trap"), "0", "1", 0},
    {"--max-redirects", {"--max-redirects", "1"}, PAGES("%/hop/%"), "4", "2", 0},
    {"--max-body", {"--max-body", "50000"}, REASONS("limit"), "0", "1", 0},
    {"--max-unpacked", {"--max-unpacked", "50000"}, PAGES("%/behind"), "1", "0", 0},
    {"--agent", {"--agent", "robo"}, REASONS("robots"), "0", "1", 0},
    {"--kind", {"--kind", "hashset"}, META("kind"), "fingerprint", "hashset", 0},
    {"--canon", {"--canon", "crawl"}, META("canon"), "whatwg/1", "crawl/1", 0},
    {"--capacity", {"--capacity", "12345"}, META("asked_capacity"), "0", "12345", 0},
};

/* The first value of the first row, in `answer`; "" if there is none. */
static void ask(const town *town, const char *question, char answer[64])
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    char path[TEST_PATH];

    test_path(path, town->self.state, "crawl.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    check(sqlite3_prepare_v2(db, question, -1, &statement, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    snprintf(answer, 64, "%s",
             sqlite3_step(statement) == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : "");
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static void crawl_with(const town *town, const char *const *words, int code)
{
    child_plan plan = program_plan(&town->self);

    for (; words && *words; words++)
        child_add(&plan, *words, NULL);
    int status = child_run(&plan);
    char *said = program_messages(&town->self);
    check(WIFEXITED(status) && WEXITSTATUS(status) == code, "status %x, and says: %.500s", (unsigned)status, said);
    free(said);
}

static void without_options_everything_is_fetched(void **state)
{
    town town;
    char answer[64];
    (void)state;

    town_begin(&town);
    site_serve(town.web);
    crawl_with(&town, NULL, 0);
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        ask(&town, stories[i].question, answer);
        check(strcmp(answer, stories[i].without) == 0, "without %s: %s, not %s", stories[i].name, answer,
              stories[i].without);
    }
    town_end(&town);
}

static void an_option_reaches_the_crawl(void **state)
{
    const story *told = *state;
    town town;
    char answer[64];

    town_begin(&town);
    site_serve(town.web);
    crawl_with(&town, told->words, told->code);
    ask(&town, told->question, answer);
    check(strcmp(answer, told->with) == 0, "with %s: %s, not %s", told->name, answer, told->with);
    town_end(&town);
}

/* A response that never comes ends at the first of two limits, and the sentence tells which one. */
static void time_limits_reach_the_crawl(void **state)
{
    static const struct {
        const char *words[WORDS], *error;
    } limits[] = {
        {{"--silence-timeout", "0.2", "--total-timeout", "60"}, "no byte for 200 ms"},
        {{"--silence-timeout", "60", "--total-timeout", "0.3"}, "not complete after 300 ms"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        town town;
        char answer[64];
        town_begin(&town);
        site_page *silent = site_page_add(town.web, 1, "/silent");
        silent->answer.manner = SITE_SILENT;
        site_link_to(town.seed, silent);
        site_serve(town.web);
        crawl_with(&town, limits[i].words, 0);
        ask(&town, "SELECT error FROM pages WHERE reason = 'timeout'", answer);
        check(strstr(answer, limits[i].error), "%s: %s", limits[i].words[0], answer);
        town_end(&town);
    }
}

int main(int argc, char **argv)
{
    test_add_once("without options everything is fetched", without_options_everything_is_fetched, NULL);
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s reaches the crawl", stories[i].name);
        test_add_once(name, an_option_reaches_the_crawl, &stories[i]);
    }
    test_add_once("time limits reach the crawl", time_limits_reach_the_crawl, NULL);
    return test_run("crawler/sites/site_options", argc, argv);
}
