/*
 * --scope any: a web of many hosts, of which each site gives as many pages as its budget allows, and not one more,
 * however often the crawl is killed. The budgets are computed again from what was fetched.
 */
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crawler/site/broad_web.h"
#include "crawler/site/crawling.h"
#include "crawler/site/program.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum {
    LEFT = 3,
    HOSTS = 3000,
    LONG_HOSTS = 100000,
    KILLS = 4,
    LONG_KILLS = 20,
    MOST_KB = 150000,
    LOST_BY_A_KILL = 16 + 500
};

/* ---- what must be true ---- */

typedef struct truth {
    const broad_web *web;
    uint64_t least, most;
    bool *fetched, *found;       /* by page */
    uint64_t *links, *had, *met; /* by site: other sites that link to it; pages fetched; pages found */
    uint64_t pages, waiting;
} truth;

static void truth_free(truth *truth)
{
    free(truth->fetched);
    free(truth->found);
    free(truth->links);
    free(truth->had);
    free(truth->met);
}

static sqlite3 *open_database(const char *state)
{
    sqlite3 *db = NULL;
    char path[TEST_PATH];
    test_path(path, state, "crawl.db");
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    return db;
}

static uint64_t count_rows(const char *state, const char *question)
{
    sqlite3 *db = open_database(state);
    sqlite3_stmt *ask = NULL;
    check(sqlite3_prepare_v2(db, question, -1, &ask, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    check(sqlite3_step(ask) == SQLITE_ROW, "%s", sqlite3_errmsg(db));
    uint64_t count = (uint64_t)sqlite3_column_int64(ask, 0);
    sqlite3_finalize(ask);
    sqlite3_close(db);
    return count;
}

/* What the crawl says that it has fetched. */
static void read_pages(truth *truth, const char *state)
{
    bool *known = site_memory(truth->web->pages);
    sqlite3 *db = open_database(state);
    sqlite3_stmt *rows = NULL;
    check(sqlite3_prepare_v2(db, "SELECT url, status FROM pages", -1, &rows, NULL) == SQLITE_OK, "%s",
          sqlite3_errmsg(db));
    while (sqlite3_step(rows) == SQLITE_ROW) {
        const char *url = (const char *)sqlite3_column_text(rows, 0);
        int64_t page = broad_find_url(truth->web, url);
        check(page >= 0, "%s is not a page of the web", url);
        check(!known[page], "%s has two rows", url);
        known[page] = true;
        truth->fetched[page] = sqlite3_column_int(rows, 1) == 200;
        check(truth->fetched[page] || sqlite3_column_type(rows, 1) == SQLITE_NULL, "%s has the status %d", url,
              sqlite3_column_int(rows, 1));
        truth->waiting += !truth->fetched[page];
    }
    sqlite3_finalize(rows);
    sqlite3_close(db);
    free(known);
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Counts for each site how many others link to it, from pages that were fetched. */
static void count_links(truth *truth)
{
    const broad_web *web = truth->web;
    uint64_t *pairs = site_memory((size_t)web->pages * BROAD_LINKS * sizeof *pairs);
    size_t count = 0;
    for (uint32_t page = 0; page < web->pages; page++) {
        uint32_t links[BROAD_LINKS];
        unsigned n = truth->fetched[page] ? broad_links(web, page, links) : 0;
        for (unsigned i = 0; i < n; i++) {
            unsigned from = broad_site_of(web, page), to = broad_site_of(web, links[i]);
            truth->found[links[i]] = true;
            if (from != to)
                pairs[count++] = (uint64_t)to << 32 | from;
        }
    }
    qsort(pairs, count, sizeof *pairs, compare);
    for (size_t i = 0; i < count; i++)
        truth->links[pairs[i] >> 32] += i == 0 || pairs[i] != pairs[i - 1];
    free(pairs);
}

static uint64_t budget_of(const truth *truth, unsigned site)
{
    uint64_t budget = truth->least * (1 + truth->links[site]);
    return budget < truth->most ? budget : truth->most;
}

/* Each site has given what was found of it, up to its budget. */
static void judge(truth *truth, const broad_web *web, const char *state, uint64_t least, uint64_t most)
{
    *truth = (struct truth){.web = web, .least = least, .most = most};
    uint64_t full = 0;
    truth->fetched = site_memory(web->pages);
    truth->found = site_memory(web->pages);
    truth->links = site_memory(web->sites * sizeof *truth->links);
    truth->had = site_memory(web->sites * sizeof *truth->had);
    truth->met = site_memory(web->sites * sizeof *truth->met);
    read_pages(truth, state);
    truth->found[0] = true;
    count_links(truth);
    for (uint32_t page = 0; page < web->pages; page++) {
        truth->had[broad_site_of(web, page)] += truth->fetched[page];
        truth->met[broad_site_of(web, page)] += truth->found[page];
        truth->pages += truth->fetched[page];
        check(truth->found[page] || !truth->fetched[page], "page %u was fetched, but no page links to it", page);
    }
    for (unsigned site = 0; site < web->sites; site++) {
        uint64_t budget = budget_of(truth, site), due = truth->met[site] < budget ? truth->met[site] : budget;
        check(truth->had[site] == due,
              "site %u has given %llu pages, not %llu: %llu were found, its budget is %llu, and %llu sites link to it",
              site, (unsigned long long)truth->had[site], (unsigned long long)due, (unsigned long long)truth->met[site],
              (unsigned long long)budget, (unsigned long long)truth->links[site]);
        full += truth->met[site] > budget;
    }
    check(full > web->sites / 50, "only %llu sites are at their budgets", (unsigned long long)full);
}

/* ---- lives ---- */

static child_plan plan_of(program *self, const char *seed, const char *budget)
{
    child_plan plan = program_plan(self);
    child_add(&plan, "--scope", "any", "--site-budget", budget, "--resolve", "*=127.0.1.1", "--per-host", "64",
              "--connections", "64", "--max-address-sites", "1000000", "--no-store", "--kind", "hashset", seed, NULL);
    return plan;
}

static long peak_of(pid_t pid)
{
    char path[40], line[200];
    long peak = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "VmHWM: %ld", &peak);
    if (file)
        fclose(file);
    return peak;
}

/* One life, which ends after `ms`, or by itself if that is negative. *peak: the most memory that it had, in kB. */
static int live(const child_plan *plan, int64_t ms, long *peak)
{
    static const struct timespec moment = {0, 5000000};
    struct timespec began, now;
    int status = -1;
    pid_t pid = child_start(plan);
    check(pid > 0, "no process");
    clock_gettime(CLOCK_MONOTONIC, &began);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        long memory = peak_of(pid);
        *peak = memory > *peak ? memory : *peak;
        nanosleep(&moment, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (ms >= 0 && (now.tv_sec - began.tv_sec) * 1000 + (now.tv_nsec - began.tv_nsec) / 1000000 >= ms)
            kill(pid, SIGKILL);
    }
    return status;
}

static uint64_t requests_of(const broad_web *web)
{
    uint64_t requests = 0;
    for (uint32_t page = 0; page < web->pages; page++)
        requests += web->requests[page];
    return requests;
}

/* ---- stories ---- */

static void budgets_are_kept_through_kills_in_little_memory(void **state)
{
    broad_web web;
    program self;
    truth truth;
    char seed[BROAD_URL];
    long peak = 0;
    uint64_t kills = 0, wanted = test_long() ? LONG_KILLS : KILLS;
    test_random random = {1};
    struct timespec began, end;
    (void)state;
    broad_web_make(&web, test_long() ? LONG_HOSTS : HOSTS, 11);
    site *server = site_open(1);
    server->maker = broad_answer;
    server->maker_context = &web;
    site_serve(server);
    program_begin(&self, server, NULL, 0);
    broad_url(&web, 0, server->port, seed);
    child_plan plan = plan_of(&self, seed, "3..60");
    int status = 0;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (uint64_t lives = 0; lives < wanted; lives++) {
        status = live(&plan, (int64_t)test_below(&random, test_long() ? 8000 : 900), &peak);
        kills += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }
    status = live(&plan, -1, &peak);
    clock_gettime(CLOCK_MONOTONIC, &end);
    char *said = program_messages(&self);
    check(WIFEXITED(status) && WEXITSTATUS(status) == LEFT, "it ends with status %x and says: %.400s", (unsigned)status,
          said);
    free(said);
    judge(&truth, &web, self.state, 3, 60);
    uint64_t requests = requests_of(&web);
    double seconds = (double)(end.tv_sec - began.tv_sec) + (double)(end.tv_nsec - began.tv_nsec) / 1e9;
    print_message(
        "# %u hosts, %u sites: %llu pages in %.1f s, %llu wait; %llu kills, %llu pages fetched again; %ld kB\n",
        web.hosts, web.sites, (unsigned long long)truth.pages, seconds, (unsigned long long)truth.waiting,
        (unsigned long long)kills, (unsigned long long)(requests - truth.pages), peak);
    check(requests - truth.pages <= kills * LOST_BY_A_KILL, "%llu pages were fetched again",
          (unsigned long long)(requests - truth.pages));
    check(test_sanitized() || peak <= MOST_KB, "it takes %ld kB", peak);
    check(count_rows(self.state, "SELECT count(*) FROM sites WHERE given > budget") == 0, "a site has too much");
    truth_free(&truth);
    program_end(&self);
    site_close(server);
    broad_web_free(&web);
}

/* In this process: `hosts` hosts, and a crawl that begins at page 0. */
typedef struct town {
    broad_web web;
    site *server;
    crawling crawl;
    char seed[BROAD_URL];
} town;

static int resolve_all(void *context, const char *host, fetch_address *addresses, int room)
{
    fetch_net net;
    (void)context;
    (void)room;
    check(fetch_net_parse(*host == 'f' ? "127.0.1.2" : "127.0.1.1", &net), "an address");
    addresses[0] = net.address;
    return 1;
}

static void town_begin(town *town, unsigned hosts)
{
    broad_web_make(&town->web, hosts, 5);
    town->server = site_open(2);
    town->server->maker = broad_answer;
    town->server->maker_context = &town->web;
    site_serve(town->server);
    crawling_begin(&town->crawl, NULL, 0);
    broad_url(&town->web, 0, town->server->port, town->seed);
    town->crawl.seeds[0] = (vidi_str){town->seed, strlen(town->seed)};
    crawl_options *o = &town->crawl.options;
    o->seed_count = 1;
    o->set.kind = "hashset";
    o->reach = SCOPE_ANY;
    o->resolver = resolve_all;
    o->per_host = 64;
    o->no_store = true;
    o->max_address_sites = 1000000;
}

static void town_end(town *town)
{
    crawling_end(&town->crawl);
    site_close(town->server);
    broad_web_free(&town->web);
}

static void budgets_can_be_raised(void **state)
{
    town town;
    truth truth;
    (void)state;
    town_begin(&town, 400);
    town.crawl.options.site_least = town.crawl.options.site_most = 2;
    crawling_must(&town.crawl, CRAWL_LIMIT);
    assert_string_equal(town.crawl.why, "--site-budget");
    judge(&truth, &town.web, town.crawl.state, 2, 2);
    truth_free(&truth);
    town.crawl.options.site_most = 40;
    town.crawl.options.max_depth = 1000; /* the queue is then sorted anew */
    crawling_must(&town.crawl, CRAWL_LIMIT);
    judge(&truth, &town.web, town.crawl.state, 2, 40);
    check(truth.waiting > 0, "nothing waits");
    truth_free(&truth);
    town.crawl.options.site_most = 100000;
    town.crawl.options.site_least = 1000;
    town.crawl.options.max_depth = -1;
    crawling_must(&town.crawl, CRAWL_DONE);
    for (uint32_t page = 0; page < town.web.pages; page++)
        check(town.web.requests[page] == 1, "page %u was fetched %u times", page, town.web.requests[page]);
    town_end(&town);
}

/* URLs are counted anew. Links of the visit before still count: so some sites give more than the first time. */
static void budgets_count_anew_in_each_visit(void **state)
{
    town town;
    truth first;
    (void)state;
    town_begin(&town, 400);
    town.crawl.options.site_least = 2;
    town.crawl.options.site_most = 20;
    crawling_must(&town.crawl, CRAWL_LIMIT);
    judge(&first, &town.web, town.crawl.state, 2, 20);
    town.crawl.options.revisit = true;
    crawling_must(&town.crawl, CRAWL_LIMIT);
    uint64_t again = requests_of(&town.web) - first.pages;
    check(again >= first.pages * 9 / 10, "%llu pages, then %llu", (unsigned long long)first.pages,
          (unsigned long long)again);
    check(count_rows(town.crawl.state, "SELECT count(*) FROM sites WHERE given > budget") == 0, "a site has too much");
    check(count_rows(town.crawl.state, "SELECT sum(given) FROM sites") == again, "pages are not counted anew");
    for (uint32_t page = 0; page < town.web.pages; page++)
        check(town.web.requests[page] <= 2, "page %u was fetched %u times", page, town.web.requests[page]);
    truth_free(&first);
    town_end(&town);
}

static void max_sites_is_a_limit_that_can_be_raised(void **state)
{
    enum { SITES = 7 };
    town town;
    (void)state;
    town_begin(&town, 200);
    town.crawl.options.site_least = 1000;
    town.crawl.options.max_sites = SITES;
    crawling_must(&town.crawl, CRAWL_LIMIT);
    assert_string_equal(town.crawl.why, "--max-sites");
    uint64_t visited = count_rows(town.crawl.state, "SELECT count(*) FROM sites WHERE given > 0");
    check(visited == SITES, "%llu sites were visited", (unsigned long long)visited);
    town.crawl.options.max_sites = 0;
    crawling_must(&town.crawl, CRAWL_DONE);
    for (uint32_t page = 0; page < town.web.pages; page++)
        check(town.web.requests[page] == 1, "page %u was fetched %u times", page, town.web.requests[page]);
    town_end(&town);
}

static void a_crawl_with_budgets_does_not_go_on_without(void **state)
{
    town town;
    (void)state;
    town_begin(&town, 20);
    town.crawl.options.max_pages = 5;
    crawling_must(&town.crawl, CRAWL_LIMIT);
    town.crawl.options.reach = SCOPE_HOST;
    crawling_must(&town.crawl, CRAWL_FAILED);
    check(strstr(town.crawl.why, "--scope any") != NULL, "it says: %s", town.crawl.why);
    town_end(&town);
}

/* ---- farms ---- */

enum { FARM_LINKS = 12, FARM_MOST = 20, FARM_BUDGET = 4 };

/* "f17.test": every page of a farm links to more of its sites, and to pages of its own, without end. */
static bool farm_answer(void *context, const site *site, const char *host, const char *target, site_answer *answer)
{
    unsigned number = 0, own = 0;
    site_text text = {0};
    if (sscanf(host, "f%u.", &number) != 1)
        return broad_answer(context, site, host, target, answer);
    if (strcmp(target, "/robots.txt") == 0)
        return false;
    sscanf(target, "/%u", &own);
    for (unsigned i = 1; i <= FARM_LINKS; i++)
        site_text_put(&text, "<a href='http://f%u.test:%d/'>more</a> <a href='/%u'>own</a>\n", number * FARM_LINKS + i,
                      site->port, own * FARM_LINKS + i);
    *answer =
        (site_answer){.status = 200, .type = "text/html", .body = text.at, .length = text.length, .owned = text.at};
    return true;
}

static void farms_are_cut_and_told(void **state)
{
    town town;
    char url[BROAD_URL];
    (void)state;
    town_begin(&town, 2 * FARM_MOST);
    town.server->maker = farm_answer;
    snprintf(url, sizeof url, "http://f0.test:%d/", town.server->port);
    town.crawl.seeds[1] = (vidi_str){url, strlen(url)};
    town.crawl.options.seed_count = 2;
    town.crawl.options.max_address_sites = FARM_MOST;
    town.crawl.options.max_pages = 5000; /* a farm that is not cut would have no end */
    town.crawl.options.site_least = FARM_BUDGET;
    town.crawl.options.site_most = 1000;
    crawling_must(&town.crawl, CRAWL_LIMIT);
    const char *folder = town.crawl.state;
    uint64_t first = count_rows(folder, "SELECT count(*) FROM sites WHERE farm = 1"),
             cut = count_rows(folder, "SELECT count(*) FROM sites WHERE farm = 2"),
             fetched = count_rows(folder, "SELECT count(*) FROM pages WHERE status > 0 AND url LIKE 'http://f%'"),
             left_out = count_rows(folder, "SELECT count(*) FROM pages WHERE reason = 'farm'");
    uint64_t others = count_rows(folder, "SELECT count(*) FROM pages WHERE status IS NULL");
    print_message("# %llu sites of the farm come first, %llu are cut; %llu pages fetched, %llu left out, %llu wait\n",
                  (unsigned long long)first, (unsigned long long)cut, (unsigned long long)fetched,
                  (unsigned long long)left_out, (unsigned long long)others);
    check(strcmp(town.crawl.why, "--site-budget") == 0, "it ends at %s", town.crawl.why);
    check(first == FARM_MOST, "%llu sites came first", (unsigned long long)first);
    check(cut > 0 && left_out >= cut, "%llu sites are cut, and %llu URLs left out", (unsigned long long)cut,
          (unsigned long long)left_out);
    check(fetched >= FARM_MOST && count_rows(folder, "SELECT max(given) FROM sites WHERE farm = 1") <=
                                      (uint64_t)FARM_BUDGET * (1 + FARM_MOST),
          "%llu pages were fetched", (unsigned long long)fetched);
    for (size_t i = 0; i < town.server->log_count; i++) { /* those that came first have been judged one by one */
        const site_request *request = &town.server->log[i];
        char question[160];
        snprintf(question, sizeof question, "SELECT count(*) FROM sites WHERE farm = 2 AND name = '%s'", request->host);
        check(request->host[0] != 'f' || count_rows(folder, question) == 0, "%s is cut, but was asked for %s",
              request->host, request->target);
    }
    check(count_rows(folder, "SELECT count(*) FROM pages WHERE reason = 'farm' AND url NOT LIKE 'http://f%'") == 0,
          "other sites are left out");
    town_end(&town);
}

int main(int argc, char **argv)
{
    test_add("budgets can be raised", budgets_can_be_raised, NULL);
    test_add("budgets count anew in each visit", budgets_count_anew_in_each_visit, NULL);
    test_add("max-sites is a limit that can be raised", max_sites_is_a_limit_that_can_be_raised, NULL);
    test_add("a crawl with budgets does not go on without", a_crawl_with_budgets_does_not_go_on_without, NULL);
    test_add("farms are cut and told", farms_are_cut_and_told, NULL);
    test_add_once("budgets are kept through kills, in little memory", budgets_are_kept_through_kills_in_little_memory,
                  NULL);
    return test_run("crawler/sites/site_broad", argc, argv);
}
