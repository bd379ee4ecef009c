/*
 * Power cuts: what was not synced is dropped (crawler/site/power.h), and the crawl goes on and loses nothing. kill -9
 * does not show this, because the kernel keeps what a killed process has written. That the test notices when something
 * is synced too late is shown by planting such faults.
 *
 *   VIDI_TEST_SEED   the seed that a failure has printed: only that story is told
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "crawler/site/power.h"
#include "crawler/site/program.h"
#include "crawler/site/worlds.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

enum { HOSTS = 3, PAGES = 400, CUTS = 4, STORIES = 10, LONG_STORIES = 200, PLANTED_STORIES = 20 };

typedef struct town {
    site *web;
    world_web whole;
    uint64_t calls[2], cuts; /* calls of a crawl in haste, and of one that takes its time */
} town;

/* A crawl that takes its time lasts some seconds, so that the set is synced in between. */
static child_plan plan_of(const program *self, bool slow)
{
    child_plan plan = program_plan(self);
    if (slow)
        child_add(&plan, "--delay", "0.015", "--per-host", "1", NULL);
    return plan;
}

/* A crawl that nobody disturbs. When it has ended well, everything is synced. */
static uint64_t count_calls(const town *town, bool slow)
{
    program self;
    program_begin(&self, town->web, town->whole.made, HOSTS);
    power_begin(self.world, self.mirror);
    child_plan plan = plan_of(&self, slow);
    program_power(&self, &plan, NULL, NULL);
    int status = child_run(&plan);
    char *said = program_messages(&self);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the crawl ends with status %x: %.300s", (unsigned)status,
          said);
    free(said);
    uint64_t calls = program_calls(&self);
    power_cut(self.world, self.mirror, 0);
    program_must_be_right(&self, JUDGE_STORED | JUDGE_REQUESTS, "a power cut after the end");
    program_end(&self);
    site_forget(town->web);
    return calls;
}

static void town_begin(town *begun)
{
    *begun = (town){.web = site_open(HOSTS), .whole = {.hosts = HOSTS, .pages = PAGES, .seed = 11, .body = 300}};
    world_web_make(begun->web, &begun->whole);
    for (size_t i = 0; i < begun->web->page_count; i++)
        begun->web->pages[i]->answer.delay_ms = i % 3 ? 0 : 20; /* so that many are on their way at any moment */
    site_walk(begun->web, begun->whole.made, HOSTS, -1);
    site_serve(begun->web);
    for (int slow = 0; slow < 2; slow++)
        begun->calls[slow] = count_calls(begun, slow);
}

static void town_end(town *town)
{
    site_close(town->web);
    free(town->whole.made);
}

typedef struct fault {
    const char *name;
    const char *variable, *value; /* NULL: none is planted */
    const char *behind;           /* the power fails behind a sync of such a file; NULL: anywhere */
} fault;

/* A life that a power cut ends. */
static void live(town *town, program *self, const fault *planted, test_random *random)
{
    bool slow = planted->behind || test_below(random, 4) == 0;
    child_plan plan = plan_of(self, slow);
    if (!planted->variable && test_below(random, 3) == 0)
        child_add(&plan, "--depth", "99", NULL); /* the queue is then sorted anew */
    char number[32], planting[128], behind[128];
    /* The first two syncs of the set's log are those of its beginning. */
    uint64_t call = planted->behind ? 2 + test_below(random, 2) : 1 + test_below(random, town->calls[slow] * 2 / 3);
    snprintf(number, sizeof number, "%llu", (unsigned long long)call);
    snprintf(planting, sizeof planting, "%s=%s", planted->variable, planted->value);
    snprintf(behind, sizeof behind, "%s=%s", POWER_BEHIND, planted->behind);
    program_power(self, &plan, POWER_DIE, number);
    if (planted->variable)
        child_set(&plan, planting);
    if (planted->behind)
        child_set(&plan, behind);
    int status = child_run(&plan);
    town->cuts += WIFSIGNALED(status);
    power_cut(self->world, self->mirror, test_below(random, 2) || planted->variable ? 0 : 1 + test_next(random) / 2);
}

/* True: in the end all is right. */
static bool tell(town *town, const fault *planted, uint64_t seed)
{
    test_random random = {seed};
    program self;
    judgement result;
    char story[64];
    snprintf(story, sizeof story, "VIDI_TEST_SEED=%llu", (unsigned long long)seed);
    site_forget(town->web);
    program_begin(&self, town->web, town->whole.made, HOSTS);
    power_begin(self.world, self.mirror);
    for (int i = 0; i < CUTS; i++)
        live(town, &self, planted, &random);
    child_plan plan = plan_of(&self, false);
    int status = child_run(&plan);
    bool is_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    program_judge(&self, &result, JUDGE_STORED);
    is_well = is_well && judge_faults(&result, JUDGE_STORED) == 0;
    if (!planted->variable && !is_well) {
        char *said = program_messages(&self);
        print_message("# %s: the crawl ends with status %x and says: %.500s\n", story, (unsigned)status, said);
        free(said);
        program_must_be_right(&self, JUDGE_STORED, story);
        fail_msg("%s: the crawl does not end well", story);
    }
    program_end(&self);
    return is_well;
}

static void a_power_cut_loses_nothing(void **state)
{
    static const fault none = {"none", NULL, NULL, NULL};
    town town;
    const char *given = getenv("VIDI_TEST_SEED");
    (void)state;
    town_begin(&town);
    uint64_t stories = test_long() ? LONG_STORIES : STORIES;
    if (given)
        tell(&town, &none, strtoull(given, NULL, 10));
    for (uint64_t i = 0; i < stories && !given; i++)
        tell(&town, &none, i + 1);
    print_message("# %llu power cuts in %llu crawls of %llu or %llu calls\n", (unsigned long long)town.cuts,
                  (unsigned long long)stories, (unsigned long long)town.calls[0], (unsigned long long)town.calls[1]);
    town_end(&town);
}

static const fault faults[] = {
    {"the database is not synced", POWER_SWALLOW, "crawl.db-wal", NULL},
    {"the database is synced behind the set", POWER_LATE, "crawl.db-wal", "/seen/log."},
    {"the archive is not synced", POWER_SWALLOW, ".warc.gz", NULL},
    {"the output is not synced", POWER_SWALLOW, "/lines", NULL},
};

static void a_planted_fault_is_noticed(void **state)
{
    const fault *planted = *state;
    town town;
    uint64_t seed = 1;
    town_begin(&town);
    while (seed < PLANTED_STORIES && tell(&town, planted, seed))
        seed++;
    check(seed < PLANTED_STORIES, "%s, and nobody notices in %d stories", planted->name, PLANTED_STORIES);
    print_message("# noticed in story %llu\n", (unsigned long long)seed);
    town_end(&town);
}

int main(int argc, char **argv)
{
    test_add_once("a power cut loses nothing", a_power_cut_loses_nothing, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char name[128];
        snprintf(name, sizeof name, "a planted fault is noticed: %s", faults[i].name);
        test_add_once(name, a_planted_fault_is_noticed, &faults[i]);
    }
    return test_run("crawler/sites/site_power", argc, argv);
}
