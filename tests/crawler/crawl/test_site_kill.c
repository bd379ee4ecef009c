/*
 * kill -9 at random moments: the same command goes on, and in the end the crawl has visited exactly the pages that it
 * should. Little is fetched twice, every record of the archive is whole, and every URL has one line in the output.
 *
 *   VIDI_TEST_SEED   the seed that a failure has printed: only that story is told
 */
#include <signal.h>
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

enum { HOSTS = 4, PAGES = 900, LIVES = 12, KILLS = 50, LONG_KILLS = 1000, CONNECTIONS = 16, BATCH = 500 };

typedef struct town {
    site *web;
    world_web whole;
    uint64_t calls;   /* of a crawl that nobody kills */
    int64_t duration; /* microseconds that it takes */
    uint64_t kills, extra;
} town;

static int64_t now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

static void must_end_well(const program *self, int status, const char *story)
{
    char *said = program_messages(self);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: the crawl ends with status %x and says: %.400s", story,
          (unsigned)status, said);
    free(said);
}

static void town_begin(town *of)
{
    program self;
    *of = (town){.web = site_open(HOSTS), .whole = {.hosts = HOSTS, .pages = PAGES, .seed = 9, .body = 300}};
    world_web_make(of->web, &of->whole);
    for (size_t i = 0; i < of->web->page_count; i++)
        of->web->pages[i]->answer.delay_ms = i % 3 ? 0 : 15; /* so that many are on their way at any moment */
    site_walk(of->web, of->whole.made, HOSTS, -1);
    site_serve(of->web);

    program_begin(&self, of->web, of->whole.made, HOSTS);
    child_plan plan = program_plan(&self);
    program_power(&self, &plan, NULL, NULL);
    int64_t began = now_us();
    must_end_well(&self, child_run(&plan), "nobody is killed");
    of->duration = now_us() - began;
    of->calls = program_calls(&self);
    program_must_be_right(&self, JUDGE_STORED | JUDGE_REQUESTS, "nobody is killed");
    program_end(&self);
    check(of->calls > 20, "only %llu calls are counted", (unsigned long long)of->calls);
}

/* One life: it is killed after some time, or at a certain call. False: it has ended before. */
static bool live(town *of, program *self, test_random *random)
{
    child_plan plan = program_plan(self);
    char number[32];
    if (test_below(random, 2)) {
        plan.signal = SIGKILL;
        plan.after_us = (int64_t)test_below(random, (uint64_t)of->duration / 2);
    } else {
        snprintf(number, sizeof number, "%llu", (unsigned long long)(1 + test_below(random, of->calls / 2)));
        program_power(self, &plan, POWER_DIE, number);
    }
    int status = child_run(&plan);
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    of->kills += killed;
    if (!killed)
        must_end_well(self, status, "a life that ended before it was killed");
    return killed;
}

static void tell(town *of, uint64_t seed)
{
    test_random random = {seed};
    program self;
    judgement result;
    char story[64];
    uint64_t before = of->kills;
    snprintf(story, sizeof story, "VIDI_TEST_SEED=%llu", (unsigned long long)seed);
    site_forget(of->web);
    program_begin(&self, of->web, of->whole.made, HOSTS);
    for (int lives = 0; lives < LIVES && live(of, &self, &random); lives++)
        ;
    child_plan plan = program_plan(&self);
    must_end_well(&self, child_run(&plan), story);
    program_must_be_right(&self, JUDGE_STORED, story);
    program_judge(&self, &result, JUDGE_STORED);
    of->extra += result.extra;
    uint64_t killed = of->kills - before;
    check(result.extra <= killed * (CONNECTIONS + BATCH), "%s: %llu pages are fetched again after %llu kills", story,
          (unsigned long long)result.extra, (unsigned long long)killed);
    program_end(&self);
}

static void killed_crawls_go_on_and_lose_nothing(void **state)
{
    town of;
    const char *given = getenv("VIDI_TEST_SEED");
    (void)state;
    town_begin(&of);
    if (given)
        tell(&of, strtoull(given, NULL, 10));
    for (uint64_t seed = 1; !given && of.kills < (test_long() ? LONG_KILLS : KILLS); seed++)
        tell(&of, seed);
    print_message("# %llu kills; %llu requests were repeated; a crawl takes %lld ms and %llu calls\n",
                  (unsigned long long)of.kills, (unsigned long long)of.extra, (long long)of.duration / 1000,
                  (unsigned long long)of.calls);
    site_close(of.web);
    free(of.whole.made);
}

int main(int argc, char **argv)
{
    test_add_once("killed crawls go on and lose nothing", killed_crawls_go_on_and_lose_nothing, NULL);
    return test_run("crawler/crawl/site_kill", argc, argv);
}
