/*
 * kill -9 in a crawl without an end: at random moments, and at one system call after the other, so also at each step of
 * the beginning of the next epoch. Nothing is lost: each page goes on being visited.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "crawler/site/living.h"
#include "crawler/site/power.h"
#include "crawler/site/program.h"
#include "support/random.h"
#include "support/runner.h"

enum { LIVES = 25, CALLS = 90, MOST_LIVES = 2000, BETWEEN = 4, SPEED = 20000 };

typedef struct town {
    living web;
    program self;
    int64_t kills;
} town;

/* A real second is some hours of the site's. */
static int64_t fast_clock(void *context)
{
    struct timespec time;
    (void)context;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return ((int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000) * SPEED;
}

static void town_begin(town *self, unsigned hosts, size_t pages)
{
    *self = (town){.kills = 0};
    living_begin(&self->web, hosts, pages, 21);
    for (size_t i = hosts; i < pages; i++)
        self->web.pages[i].rate = (double)(i % 4) * 4;
    self->web.web->now = fast_clock;
    program_begin(&self->self, self->web.web, self->web.seeds, hosts);
    site_serve(self->web.web);
}

static child_plan plan_of(const town *self)
{
    child_plan plan = program_plan(&self->self);
    child_add(&plan, "--continuous", "--budget", "360000", NULL);
    return plan;
}

static void must_be_whole_after(town *self, int status, int number)
{
    char *said = program_messages(&self->self);
    check(WIFSIGNALED(status) && WTERMSIG(status) == number, "it ends with status %x and says: %.300s",
          (unsigned)status, said);
    free(said);
    self->kills++;
    living_must_be_whole(self->self.state);
}

/* All pages are in the schedule, and each is visited in lives that end in good order: on a busy machine, in several. */
static void town_end(town *self)
{
    child_plan plan = plan_of(self);
    int64_t pages = (int64_t)self->web.count, rows = living_ask(self->self.state, "SELECT max(id) FROM urls");
    int64_t visited = 0;
    plan.signal = SIGINT;
    plan.after_us = 1500 * 1000;
    for (int life = 0; life < MOST_LIVES && visited < pages; life++) {
        must_be_whole_after(self, child_run(&plan), SIGINT);
        visited = living_ask(self->self.state, "SELECT count(DISTINCT page) FROM visits WHERE id > %lld AND status > 0",
                             (long long)rows);
    }
    check(visited == pages, "%lld pages are visited again", (long long)visited);
    check(living_ask(self->self.state, "SELECT count(*) FROM schedule") == pages, "pages are missing in the schedule");
    print_message("# %lld lives, %lld epochs\n", (long long)self->kills,
                  (long long)living_ask(self->self.state, "SELECT count(*) FROM epochs"));
    program_end(&self->self);
    living_end(&self->web);
}

static void killed_at_any_moment_it_goes_on(void **state)
{
    town town;
    test_random random = {3};
    (void)state;
    town_begin(&town, 2, 14);
    for (int life = 0; life < LIVES; life++) {
        child_plan plan = plan_of(&town);
        plan.signal = SIGKILL;
        plan.begun = town.self.lines;
        plan.after_us = (int64_t)test_below(&random, 300 * 1000);
        must_be_whole_after(&town, child_run(&plan), SIGKILL);
    }
    town_end(&town);
}

static void killed_while_an_epoch_begins_it_begins_later(void **state)
{
    town town;
    int64_t between = 0;
    (void)state;
    town_begin(&town, 1, 3);
    child_plan plan = plan_of(&town);
    plan.signal = SIGINT;
    plan.begun = town.self.lines;
    plan.after_us = 300 * 1000;
    must_be_whole_after(&town, child_run(&plan), SIGINT);
    for (int life = 0; life < MOST_LIVES && between < BETWEEN; life++) {
        char number[32];
        plan = plan_of(&town);
        snprintf(number, sizeof number, "%d", life % CALLS + 1);
        program_power(&town.self, &plan, POWER_DIE, number);
        must_be_whole_after(&town, child_run(&plan), SIGKILL);
        between += living_ask(town.self.state, "SELECT value FROM meta WHERE name = 'next_epoch'") > 0;
    }
    print_message("# killed %lld times while an epoch began\n", (long long)between);
    check(between >= BETWEEN, "it was killed only %lld times while an epoch began", (long long)between);
    town_end(&town);
}

int main(int argc, char **argv)
{
    test_add_once("killed at any moment, it goes on", killed_at_any_moment_it_goes_on, NULL);
    test_add_once("killed while an epoch begins, it begins later", killed_while_an_epoch_begins_it_begins_later, NULL);
    return test_run("crawler/sites/site_continuous_kill", argc, argv);
}
