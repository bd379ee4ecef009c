/*
 * kill -9 at random moments: the same command goes on, and in the end the crawl has visited exactly the pages that it
 * should. Little is fetched twice, every record of the archive is whole, and every URL has one line in the output.
 *
 *   VIDI_TEST_SEED   the seed that a failure has printed: only that story is told
 */
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "crawler/site/power.h"
#include "crawler/site/program.h"
#include "crawler/site/worlds.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { LIVES = 12, KILLS = 50, LONG_KILLS = 1000, CONNECTIONS = 16, BATCH = 500, MOST_SEEDS = 12, LIMIT = 3 };

/* What is crawled, and how. */
typedef struct town {
    const char *name;
    void (*build)(struct town *town);
    const char *words[4]; /* options; ends in NULL */
    int64_t depth;
    int code;         /* of the end */
    const char *said; /* what it must have counted, among other things */
    unsigned flags;

    site *web;
    site_page *seeds[MOST_SEEDS]; /* behind those that are named to the crawl come sitemaps */
    size_t seed_count, truth_count;
    uint64_t calls;   /* of a crawl that nobody kills */
    int64_t duration; /* microseconds that it takes */
    char *accounts;   /* what it has counted */
    uint64_t kills, extra;
} town;

/* ---- the sites ---- */

/* Many pages, some of them slow, so that many are on their way at any moment. With --check, each link is kept. */
static void build_web(town *town)
{
    world_web whole = {.hosts = 4, .pages = 900, .seed = 9, .body = 300};
    town->web = site_open(whole.hosts);
    world_web_make(town->web, &whole);
    for (size_t i = 0; i < town->web->page_count; i++)
        town->web->pages[i]->answer.delay_ms = i % 3 ? 0 : 15;
    memcpy(town->seeds, whole.made, whole.hosts * sizeof *whole.made);
    free(whole.made);
    town->seed_count = town->truth_count = whole.hosts;
}

/* Many more pages than a kill may cost. */
static void build_large(town *town)
{
    world_web whole = {.hosts = 4, .pages = 4000, .seed = 3, .body = 200};
    town->web = site_open(whole.hosts);
    world_web_make(town->web, &whole);
    memcpy(town->seeds, whole.made, whole.hosts * sizeof *whole.made);
    free(whole.made);
    town->seed_count = town->truth_count = whole.hosts;
}

/* Redirects, robots.txt, sitemaps and all kinds of links, on eight hosts; level by level. */
static void build_zoo(town *town)
{
    enum { HOSTS = 8, OUTSIDE = 9 };
    town->web = site_open(OUTSIDE);
    for (unsigned host = 1; host <= HOSTS; host++)
        town->seeds[host - 1] = site_page_add(town->web, host, "/");
    site_page *hub = town->seeds[0];
    world_loops(town->web, 1, hub);
    world_mirrors(town->web, 1, 2, hub);
    world_spellings(town->web, 1, hub);
    world_encodings(town->web, 1, hub);
    world_politeness(town->web, 1, hub);
    world_statuses(town->web, 2, hub);
    world_redirects(town->web, 1, 2, OUTSIDE, hub);
    world_robots(town->web, 3, hub);
    town->seed_count = HOSTS;
    town->truth_count = HOSTS + world_sitemaps(town->web, 7, town->seeds + HOSTS);
    site_page *last = town->seeds[7];
    for (int i = 0; i < 12; i++) { /* a long way */
        site_page *next = site_page_add(town->web, 8, "/way/%d", i);
        site_link_to(last, next);
        last = next;
    }
    for (size_t i = 0; i < town->web->page_count; i += 2)
        town->web->pages[i]->answer.delay_ms = 10;
}

/* ---- lives ---- */

static int64_t now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static void must_end_well(const town *town, const program *self, int status, const char *story)
{
    char *said = program_messages(self);
    check(WIFEXITED(status) && WEXITSTATUS(status) == town->code, "%s: the crawl ends with status %x and says: %.400s",
          story, (unsigned)status, said);
    free(said);
}

static child_plan plan_of(const town *town, const program *self)
{
    child_plan plan = program_plan(self);
    child_add(&plan, "--pages-only", NULL); /* what the pages load is not in the truth */
    for (size_t i = 0; town->words[i]; i++)
        child_add(&plan, town->words[i], NULL);
    return plan;
}

/* What the crawl has counted: links that it skipped, and links that it keeps. No kill may change this. */
static char *accounts_of(const program *self)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    char path[TEST_PATH];
    site_text text = {0};
    test_path(path, self->state, "crawl.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    check(sqlite3_prepare_v2(db,
                             "SELECT 'skipped ' || reason, links FROM skipped WHERE links > 0 UNION ALL "
                             "SELECT 'edges', count(*) FROM edges UNION ALL "
                             "SELECT 'links', sum(links) FROM outcomes UNION ALL "
                             "SELECT 'left in the queue', sum(count) FROM queue ORDER BY 1",
                             -1, &rows, NULL) == SQLITE_OK,
          "%s", sqlite3_errmsg(db));
    while (sqlite3_step(rows) == SQLITE_ROW)
        site_text_put(&text, "%s %lld; ", (const char *)sqlite3_column_text(rows, 0),
                      (long long)sqlite3_column_int64(rows, 1));
    sqlite3_finalize(rows);
    sqlite3_close(db);
    return text.at;
}

static void town_begin(town *town)
{
    program self;
    town->build(town);
    site_walk(town->web, town->seeds, town->truth_count, town->depth);
    site_serve(town->web);
    program_begin(&self, town->web, town->seeds, town->seed_count);
    child_plan plan = plan_of(town, &self);
    program_power(&self, &plan, NULL, NULL);
    int64_t began = now_us();
    must_end_well(town, &self, child_run(&plan), "nobody is killed");
    town->duration = now_us() - began;
    town->calls = program_calls(&self);
    program_must_be_right(&self, town->flags | JUDGE_REQUESTS, "nobody is killed");
    town->accounts = accounts_of(&self);
    check(strstr(town->accounts, town->said), "it has counted %s not %s", town->accounts, town->said);
    program_end(&self);
    check(town->calls > 20, "only %llu calls are counted", (unsigned long long)town->calls);
}

static void town_end(town *town)
{
    print_message("# %llu kills; %llu requests were repeated; a crawl takes %lld ms and %llu calls; %s\n",
                  (unsigned long long)town->kills, (unsigned long long)town->extra, (long long)town->duration / 1000,
                  (unsigned long long)town->calls, town->accounts);
    site_close(town->web);
    free(town->accounts);
}

/* One life: it is killed after some time, or at a certain call. False: the crawl was complete before. */
static bool live(town *town, program *self, test_random *random)
{
    child_plan plan = plan_of(town, self);
    char number[32];
    bool levels = town->depth < 0 && test_below(random, 3) == 0, limit = test_below(random, 4) == 0;
    if (levels) /* the queue is then sorted anew */
        child_add(&plan, "--depth", "99", NULL);
    if (limit)
        child_add(&plan, "--max-pages", "300", NULL);
    if (test_below(random, 4) == 0) /* the kill may come while the set is made again */
        child_add(&plan, "--rebuild-seen", NULL);
    if (test_below(random, 2)) {
        plan.signal = SIGKILL;
        plan.after_us = (int64_t)test_below(random, (uint64_t)town->duration / 2);
    } else {
        snprintf(number, sizeof number, "%llu", (unsigned long long)(1 + test_below(random, town->calls / 2)));
        program_power(self, &plan, POWER_DIE, number);
    }
    int status = child_run(&plan);
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    town->kills += killed;
    bool at_limit = limit && WIFEXITED(status) && WEXITSTATUS(status) == LIMIT;
    if (!killed && !at_limit)
        must_end_well(town, self, status, "a life that ended before it was killed");
    return killed || at_limit;
}

static void tell(town *town, uint64_t seed)
{
    test_random random = {seed};
    program self;
    judgement result;
    char story[64];
    uint64_t before = town->kills;
    snprintf(story, sizeof story, "VIDI_TEST_SEED=%llu", (unsigned long long)seed);
    site_forget(town->web);
    program_begin(&self, town->web, town->seeds, town->seed_count);
    for (int lives = 0; lives < LIVES && live(town, &self, &random); lives++)
        ;
    child_plan plan = plan_of(town, &self);
    must_end_well(town, &self, child_run(&plan), story);
    program_must_be_right(&self, town->flags, story);
    program_judge(&self, &result, town->flags);
    town->extra += result.extra;
    uint64_t killed = town->kills - before;
    check(result.extra <= killed * (CONNECTIONS + BATCH), "%s: %llu pages are fetched again after %llu kills", story,
          (unsigned long long)result.extra, (unsigned long long)killed);
    char *accounts = accounts_of(&self);
    check(strcmp(accounts, town->accounts) == 0, "%s: it has counted %s not %s", story, accounts, town->accounts);
    free(accounts);
    program_end(&self);
}

static void killed_crawls_go_on_and_lose_nothing(void **state)
{
    town here = *(const town *)*state;
    const char *given = getenv("VIDI_TEST_SEED");
    town_begin(&here);
    if (given)
        tell(&here, strtoull(given, NULL, 10));
    for (uint64_t seed = 1; !given && here.kills < (test_long() ? LONG_KILLS : KILLS / 2); seed++)
        tell(&here, seed);
    town_end(&here);
}

/*
 * Kills the crawl of a large site at a call, and goes on with it. The kill counts if it comes and is late enough to
 * mean anything: how many calls a crawl makes depends on how busy the machine is.
 */
static void kill_late(town *town, uint64_t call)
{
    program self;
    judgement result;
    char number[32];
    site_forget(town->web);
    program_begin(&self, town->web, town->seeds, town->seed_count);
    child_plan plan = plan_of(town, &self), rest = plan_of(town, &self);
    snprintf(number, sizeof number, "%llu", (unsigned long long)call);
    program_power(&self, &plan, POWER_DIE, number);
    int status = child_run(&plan);
    size_t before = town->web->log_count;
    bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && before > 2 * (CONNECTIONS + BATCH);
    must_end_well(town, &self, child_run(&rest), "after the kill");
    program_must_be_right(&self, town->flags, "after the kill");
    program_judge(&self, &result, town->flags);
    check(result.extra <= CONNECTIONS + BATCH, "of %zu requests, %llu are repeated", before,
          (unsigned long long)result.extra);
    town->kills += late;
    town->extra += result.extra;
    program_end(&self);
}

static void a_kill_costs_a_batch_and_what_is_on_its_way(void **state)
{
    enum { WANTED = 4, TRIES = 40 };
    town here = *(const town *)*state;
    town_begin(&here);
    for (uint64_t i = 0; here.kills < WANTED && i < TRIES; i++)
        kill_late(&here, here.calls * (5 + i % 5) / 10);
    check(here.kills == WANTED, "only %llu kills are late enough", (unsigned long long)here.kills);
    town_end(&here);
}

int main(int argc, char **argv)
{
    static const town large = {.name = "a large site",
                               .build = build_large,
                               .depth = -1,
                               .said = "left in the queue 0; ",
                               .flags = JUDGE_STORED};
    static const town towns[] = {
        {.name = "many pages, --check",
         .build = build_web,
         .words = {"--check"},
         .depth = -1,
         .code = 1,
         .said = "left in the queue 0; ",
         .flags = JUDGE_STORED},
        {.name = "all kinds of pages, --depth",
         .build = build_zoo,
         .words = {"--depth", "8"},
         .depth = 8,
         /* Links that are not URLs; one behind the last level; the 21st redirect; nofollow; other schemes and hosts. */
         .said = "skipped bad 3; skipped depth 1; skipped limit 1; skipped nofollow 4; skipped scope 9; ",
         .flags = JUDGE_STORED | JUDGE_DEPTHS},
    };
    for (size_t i = 0; i < sizeof towns / sizeof *towns; i++) {
        char name[128];
        snprintf(name, sizeof name, "killed crawls go on and lose nothing: %s", towns[i].name);
        test_add_once(name, killed_crawls_go_on_and_lose_nothing, &towns[i]);
    }
    test_add_once("a kill costs a batch and what is on its way", a_kill_costs_a_batch_and_what_is_on_its_way, &large);
    return test_run("crawler/sites/site_kill", argc, argv);
}
