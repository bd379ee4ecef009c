/*
 * Visits that are killed or cut off from power, also while they begin: the same command goes on. In the end every URL
 * has exactly one outcome in each visit, all changes are told as if nothing had happened, and nothing has happened to
 * the visits before.
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
#include <unistd.h>

#include "crawler/site/changes.h"
#include "crawler/site/power.h"
#include "crawler/site/program.h"
#include "crawler/site/told.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { HOSTS = 3, LIVES = 4, BEGINNING = 60 };

/* How lives end, and how many such ends a test wants. */
typedef struct way {
    const char *name;
    bool power_fails;
    uint64_t ends, long_ends;
} way;

/* A visit that nobody disturbs takes this long. */
typedef struct pace {
    uint64_t calls;
    int64_t us;
} pace;

static int64_t now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* ---- visits of a state ---- */

typedef struct progress {
    int64_t visit; /* the newest; 0: none */
    int64_t left;  /* URLs of it without an outcome */
    int64_t epoch; /* of the set */
} progress;

static void copy(const program *self, const char *name)
{
    char path[TEST_PATH];
    site_text text = {0};
    test_path(path, self->state, name);
    if (site_text_load(&text, path))
        test_file_write(self->folder, name, text.at, text.length);
    site_text_free(&text);
}

/* Of a copy, because whoever opens the database brings its files into order. */
static progress look(const program *self)
{
    progress found = {0, 0, 0};
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    char path[TEST_PATH];
    copy(self, "crawl.db");
    copy(self, "crawl.db-wal");
    test_path(path, self->folder, "crawl.db");
    if (access(path, F_OK) == 0 && sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db,
                           "SELECT max(visit), (SELECT count(*) FROM urls WHERE id NOT IN (SELECT id FROM outcomes)), "
                           "(SELECT value FROM meta WHERE name = 'epoch') FROM epochs",
                           -1, &row, NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW)
        found = (progress){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2)};
    sqlite3_finalize(row);
    sqlite3_close(db);
    unlink(path);
    return found;
}

static bool is_over(const progress *now, unsigned visit)
{
    return now->visit == visit && now->left == 0;
}

/* The command that begins this visit or continues it. */
static child_plan plan_of(const program *self, unsigned visit, bool says_revisit)
{
    child_plan plan = program_plan(self);
    child_add(&plan, "--kind", "hashset", NULL);
    if (visit > 1 && (says_revisit || look(self).visit < visit))
        child_add(&plan, "--revisit", NULL);
    return plan;
}

static void must_end_well(const program *self, int status, const char *story)
{
    char *said = program_messages(self);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: it ends with status %x and says: %.400s", story,
          (unsigned)status, said);
    free(said);
}

/* Undisturbed, to the end of the visit. */
static void finish(const program *self, unsigned visit, const char *story)
{
    progress now = look(self);
    for (int runs = 0; runs < 2 && !is_over(&now, visit); runs++) {
        child_plan plan = plan_of(self, visit, false);
        must_end_well(self, child_run(&plan), story);
        now = look(self);
    }
    check(is_over(&now, visit), "%s: visit %lld, %lld URLs left", story, (long long)now.visit, (long long)now.left);
}

/* ---- stories ---- */

/* What must stay as it is. */
typedef struct past {
    uint64_t histories[CHECKER_VISITS];
    told told;
} past;

/* Judges this visit, and compares those before it with what they were when they ended. */
static void judge_visit(const program *self, past *past, unsigned visit, unsigned flags, const char *story)
{
    judgement result;
    program_must_be_right(self, JUDGE_STORED | flags, story);
    program_judge(self, &result, JUDGE_STORED);
    check(result.check.visits == visit, "%s: there are %llu visits, not %u", story,
          (unsigned long long)result.check.visits, visit);
    for (unsigned i = 0; i + 1 < visit; i++)
        check(result.check.histories[i] == past->histories[i], "%s: in visit %u, the rows of visit %u have changed",
              story, visit, i + 1);
    memcpy(past->histories, result.check.histories, sizeof past->histories);
    told_expect(&past->told, self->web);
    told_must_be_true(&past->told, self->state);
    if (access(self->mirror, F_OK) == 0)
        power_begin(self->world, self->mirror);
}

/* Nobody disturbs the visits: how long do they take? */
static void measure(pace paces[CHANGES_VISITS])
{
    changes site;
    program self;
    past past = {0};
    changes_begin(&site, HOSTS, 1);
    program_begin(&self, site.web, site.seeds, site.seed_count);
    for (unsigned visit = 1; visit <= CHANGES_VISITS; visit++) {
        changes_turn(&site, visit);
        child_plan plan = plan_of(&self, visit, false);
        program_power(&self, &plan, NULL, NULL);
        int64_t began = now_us();
        must_end_well(&self, child_run(&plan), "nobody disturbs it");
        paces[visit - 1] = (pace){program_calls(&self), now_us() - began};
        judge_visit(&self, &past, visit, JUDGE_REQUESTS, "nobody disturbs it");
        check(paces[visit - 1].calls > 20, "only %llu calls", (unsigned long long)paces[visit - 1].calls);
    }
    told_free(&past.told);
    program_end(&self);
    changes_end(&site);
}

/* A life that ends early, or not. Returns whether it was killed. */
static bool live(program *self, const way *how, const pace *pace, unsigned visit, test_random *random)
{
    progress now = look(self);
    child_plan plan = plan_of(self, visit, now.visit == visit && now.left > 0 && test_below(random, 2) == 0);
    char number[32];
    if (visit > 1 && test_below(random, 6) == 0)
        child_add(&plan, "--rebuild-seen", NULL);
    if (!how->power_fails && test_below(random, 3) == 0) {
        plan.signal = SIGKILL;
        plan.after_us = (int64_t)test_below(random, (uint64_t)pace->us * 2 / 3);
    } else {
        uint64_t most = test_below(random, 3) == 0 ? BEGINNING : pace->calls * 2 / 3;
        snprintf(number, sizeof number, "%llu", (unsigned long long)(1 + test_below(random, most)));
        program_power(self, &plan, POWER_DIE, number);
    }
    int status = child_run(&plan);
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!killed)
        must_end_well(self, status, "a life that ended before it was killed");
    if (how->power_fails)
        power_cut(self->world, self->mirror, test_below(random, 2) ? 0 : 1 + test_next(random) / 2);
    return killed;
}

/* Five visits. Returns how many lives were ended. */
static uint64_t tell(const way *how, const pace paces[CHANGES_VISITS], uint64_t seed)
{
    test_random random = {seed};
    changes site;
    program self;
    past past = {.told.was_killed = true};
    uint64_t ends = 0;
    char story[64];
    snprintf(story, sizeof story, "VIDI_TEST_SEED=%llu", (unsigned long long)seed);
    changes_begin(&site, HOSTS, 1);
    program_begin(&self, site.web, site.seeds, site.seed_count);
    if (how->power_fails)
        power_begin(self.world, self.mirror);
    for (unsigned visit = 1; visit <= CHANGES_VISITS; visit++) {
        progress now = {0, 0, 0};
        changes_turn(&site, visit);
        for (int lives = 0; lives < LIVES && !is_over(&now, visit); lives++) {
            ends += live(&self, how, &paces[visit - 1], visit, &random);
            now = look(&self);
        }
        finish(&self, visit, story);
        judge_visit(&self, &past, visit, 0, story);
    }
    told_free(&past.told);
    program_end(&self);
    changes_end(&site);
    return ends;
}

static void visits_go_on_and_lose_nothing(void **state)
{
    const way *how = *state;
    const char *given = getenv("VIDI_TEST_SEED");
    uint64_t ends = 0, seed = 1;
    pace paces[CHANGES_VISITS];
    measure(paces);
    if (given)
        tell(how, paces, strtoull(given, NULL, 10));
    for (; !given && ends < (test_long() ? how->long_ends : how->ends); seed++)
        ends += tell(how, paces, seed);
    print_message("# %s: %llu times in %llu stories of %d visits, of which the second takes %llu calls\n", how->name,
                  (unsigned long long)ends, (unsigned long long)(seed - 1), CHANGES_VISITS,
                  (unsigned long long)paces[1].calls);
}

/* ---- the beginning of a visit, call by call ---- */

enum { SMALL = 12, SHORTEST = 12, LONGEST = 400 };

/* What a small site says in its two visits: a page changes, one is gone, one is new. */
static void turn_small(site *web, site_page *seed, bool again)
{
    site_stop(web);
    for (size_t i = 0; i < web->page_count; i++) {
        site_page *page = web->pages[i];
        page->change = again ? "unchanged" : "new";
        page->status = again ? 304 : 200;
    }
    if (again) {
        site_page *changed = site_find(web, "127.0.1.1", "/2"), *gone = site_find(web, "127.0.1.1", "/3");
        site_page *found = site_page_add(web, 1, "/new");
        site_link(changed, found, "<a href=new>");
        changed->answer.etag = "\"two\"";
        changed->change = "changed";
        site_status(gone, 404);
        gone->change = "gone";
        found->change = "new";
        changed->status = 200;
    }
    site_walk(web, &seed, 1, -1);
    site_forget(web);
    site_serve(web);
}

static void copy_tree(const char *from, const char *to)
{
    child_plan plan = {.words = {"/bin/cp", "-a", from, to}};
    test_folder_remove(to);
    check(child_run(&plan) == 0, "cannot copy %s", from);
}

/* Requests for pages. */
static size_t count_requests(site *web)
{
    size_t count = 0;
    pthread_mutex_lock(&web->lock);
    for (size_t i = 0; i < web->log_count; i++)
        count += strcmp(web->log[i].target, "/robots.txt") != 0;
    pthread_mutex_unlock(&web->lock);
    return count;
}

/* Ends the second visit at a call, and goes on. False: it had begun to fetch, or was over, before that call came. */
static bool end_at_call(program *self, const char *before, bool power_fails, uint64_t seed, unsigned call)
{
    char number[32], story[64];
    judgement result;
    snprintf(story, sizeof story, "call %u of the beginning, seed %llu", call, (unsigned long long)seed);
    snprintf(number, sizeof number, "%u", call);
    copy_tree(before, self->world);
    site_forget(self->web);
    child_plan plan = plan_of(self, 2, true);
    if (power_fails)
        power_begin(self->world, self->mirror);
    program_power(self, &plan, POWER_DIE, number);
    int status = child_run(&plan);
    bool killed = WIFSIGNALED(status) && count_requests(self->web) == 0;
    if (power_fails)
        power_cut(self->world, self->mirror, seed);
    test_folder_remove(self->mirror);
    if (call / 2 % 2) { /* what has begun also goes on without --revisit; what has not stays over */
        child_plan rest = program_plan(self);
        must_end_well(self, child_run(&rest), story);
    }
    finish(self, 2, story);
    program_must_be_right(self, JUDGE_STORED | (killed ? JUDGE_REQUESTS : 0), story);
    program_judge(self, &result, JUDGE_STORED);
    check(result.check.visits == 2 && look(self).epoch == 1, "%s: there are %llu visits, and the epoch is %lld", story,
          (unsigned long long)result.check.visits, (long long)look(self).epoch);
    return killed;
}

static void a_visit_may_be_ended_at_each_call_of_its_beginning(void **state)
{
    /* In the short run, the calls at which it is killed and those at which the power fails take turns. */
    const struct {
        bool power_fails;
        unsigned seed, first, step;
    } ways[] = {
        {false, 0, 1, test_long() ? 1 : 2},
        {true, 0, test_long() ? 1 : 2, test_long() ? 1 : 2},
        {true, 1, 1, test_long() ? 1 : 5},
    };
    site *web = site_open(1);
    site_page *seed = site_page_add(web, 1, "/");
    char before[TEST_PATH];
    program self;
    (void)state;
    for (int n = 0; n < SMALL; n++)
        site_link_to(seed, site_page_add(web, 1, "/%d", n));
    for (size_t i = 0; i < web->page_count; i++)
        web->pages[i]->answer.etag = "\"one\"";
    turn_small(web, seed, false);
    program_begin(&self, web, &seed, 1);
    finish(&self, 1, "the first visit");
    program_must_be_right(&self, JUDGE_STORED | JUDGE_REQUESTS, "the first visit");
    test_path(before, self.folder, "before");
    copy_tree(self.world, before);
    turn_small(web, seed, true);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        unsigned call = ways[i].first;
        while (call < LONGEST && end_at_call(&self, before, ways[i].power_fails, ways[i].seed * call, call))
            call += ways[i].step;
        check(call > SHORTEST && call < LONGEST, "a beginning of %u calls", call - 1);
        print_message("# ended at %u calls\n", call / ways[i].step);
    }
    program_end(&self);
    site_close(web);
}

int main(int argc, char **argv)
{
    static const way ways[] = {
        {"killed", false, 30, 1000},
        {"the power fails", true, 18, 500},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char name[128];
        snprintf(name, sizeof name, "visits go on and lose nothing: %s", ways[i].name);
        test_add_once(name, visits_go_on_and_lose_nothing, &ways[i]);
    }
    test_add_once("a visit may be ended at each call of its beginning",
                  a_visit_may_be_ended_at_each_call_of_its_beginning, NULL);
    return test_run("crawler/sites/site_revisit_kill", argc, argv);
}
