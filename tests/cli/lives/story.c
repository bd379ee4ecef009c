/*
 * Stories: see story.h.
 */
#include "story.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

enum { LINES = 1600, HUGE = 300000 };

static const char *const kinds[] = {"fingerprint", "hashset", "blocked"};
static const char *const syncs[] = {"always", "everysec", "never"};

const char *story_way(life_way way)
{
    static const char *const ways[LIFE_WAYS] = {">> FILE", "-o FILE", "| consumer", "--ack | consumer"};
    return ways[way];
}

const char *story_name(const story *self)
{
    static char name[TEST_PATH + 160];
    snprintf(name, sizeof name, "vidi --sync %s %s, %s, seed %llu, life %llu, last fate \"%d %d %llu\"; look at %s",
             self->sync, story_way(self->way), self->kind, (unsigned long long)self->seed,
             (unsigned long long)self->lives, (int)self->fate.how, (int)self->fate.where,
             (unsigned long long)self->fate.number, self->place.folder);
    return name;
}

/* ---- input ---- */

/* Most lines are short; some are longer than what the program, a pipe or a disk takes at once. */
static size_t filler_of(uint64_t url)
{
    test_random random = {url};
    uint64_t sort = test_below(&random, 100);
    if (url % 700 == 350)
        return HUGE;
    return (size_t)test_below(&random, sort < 75 ? 60 : sort < 98 ? 3000 : 90000);
}

/* No piece of a line is another line: it begins and ends with the URL's number. */
static void add_line(text *to, uint64_t url, size_t length)
{
    static char filler[HUGE];
    char piece[64];
    memset(filler, 'a' + (int)(url % 26), length);
    text_add(to, piece,
             (size_t)snprintf(piece, sizeof piece, "https://h%u.example/%llu/", (unsigned)(url % 7),
                              (unsigned long long)url));
    text_add(to, filler, length);
    text_add(to, piece, (size_t)snprintf(piece, sizeof piece, "/%llu.html\n", (unsigned long long)url));
}

/* About a third of the lines are repeats. */
static void add_lines(story *self, uint64_t *urls)
{
    for (size_t line = 0; line < LINES / LIFE_FILES; line++) {
        bool repeat = *urls > 0 && test_below(&self->random, 3) == 0;
        uint64_t url = repeat ? test_below(&self->random, *urls) : (*urls)++;
        add_line(&self->input, url, filler_of(url));
    }
}

static void make_input(story *self, bool long_lines)
{
    uint64_t urls = 0;
    for (size_t i = 0; i < LIFE_FILES; i++) {
        char name[24];
        size_t before = self->input.length;
        if (long_lines)
            add_line(&self->input, i, HUGE);
        else
            add_lines(self, &urls);
        snprintf(name, sizeof name, "input.%zu", i);
        test_file_write(self->place.folder, name, self->input.at + before, self->input.length - before);
    }
}

void story_begin(story *self, life_way way, uint64_t seed, unsigned flags)
{
    *self = (story){.way = way, .seed = seed, .random = {seed}};
    self->kind = kinds[test_below(&self->random, sizeof kinds / sizeof *kinds)];
    self->sync = syncs[test_below(&self->random, sizeof syncs / sizeof *syncs)];
    self->leap_ms = (unsigned)test_below(&self->random, 4) * 500;
    self->threads = test_below(&self->random, 3) == 0 ? 1 : 3;
    self->acks_to_fifo = test_below(&self->random, 2);
    self->poured = test_below(&self->random, 2) ? 1 + test_below(&self->random, 1 << 17) : 0;
    if (flags & STORY_LONG_LINES) {
        self->poured = 0;
        self->leap_ms = 2000;
        self->sync = "always";
    }
    life_place_new(&self->place, flags & STORY_ON_DISK);
    make_input(self, flags & STORY_LONG_LINES);
}

void story_move(story *self, const char *folder)
{
    test_path(self->place.state, folder, "state");
    test_path(self->place.output, folder, "output");
}

static void drop_handed(story *self)
{
    for (size_t i = 0; i < self->texts; i++)
        text_free(&self->handed[i]);
    free(self->handed);
    self->handed = NULL;
    self->texts = 0;
}

void story_free(story *self)
{
    drop_handed(self);
    text_free(&self->input);
    text_free(&self->fresh);
    test_folder_remove(self->place.state);
    unlink(self->place.output);
    test_folder_remove(self->place.folder);
}

/* ---- lives ---- */

life story_plain_life(const story *self)
{
    return (life){.place = &self->place,
                  .kind = self->kind,
                  .sync = self->sync,
                  .way = self->way,
                  .consumer = {.piece = 1 << 16, .batch = 10},
                  .leap_ms = self->leap_ms,
                  .threads = self->threads,
                  .poured = self->poured,
                  .acks_to_fifo = self->acks_to_fifo};
}

static bool has_consumer(const story *self)
{
    return self->way == LIFE_PIPE || self->way == LIFE_ACK;
}

static void hold(story *self, text taken)
{
    self->handed = realloc(self->handed, (self->texts + 1) * sizeof *self->handed);
    assert_non_null(self->handed);
    self->handed[self->texts++] = taken;
}

void story_live(story *self, const life *plan, life_end *end)
{
    life_run(plan, end);
    self->lives++;
    if (plan->fate.how != FATE_NOTHING)
        self->fate = plan->fate;
    if (plan->takes_snapshot)
        return;
    if (has_consumer(self)) {
        hold(self, end->done);
        return;
    }
    text now = {0};
    drop_handed(self);
    text_read_file(&now, self->place.output);
    hold(self, now);
}

/* ---- judging ---- */

void story_judge_with(story *self, checker_text fresh)
{
    checker_text input = {self->input.at, self->input.length};
    checker_text *handed = calloc(self->texts + 1, sizeof *handed);
    assert_non_null(handed);
    for (size_t i = 0; i < self->texts; i++)
        handed[i] = (checker_text){self->handed[i].at, self->handed[i].length};
    assert_int_equal(checker_judge(input, handed, self->texts, fresh, &self->report), 0);
    free(handed);
}

void story_judge(story *self)
{
    life plan = story_plain_life(self);
    text_free(&self->fresh);
    life_fresh(&plan, &self->fresh);
    story_judge_with(self, (checker_text){self->fresh.at, self->fresh.length});
}

static bool exited(int status, int code)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

/* The program may turn a signal that ends it into an exit status, as shells do. */
static bool died_of(int status, int signal)
{
    return exited(status, 128 + signal) || (WIFSIGNALED(status) && WTERMSIG(status) == signal);
}

/* Is there a reason for this end? */
static bool is_explained(const life *plan, const life_end *end)
{
    fate_how how = end->struck > 0 ? plan->fate.how : FATE_NOTHING;
    bool killed = how == FATE_KILL || how == FATE_KILL_INSIDE,
         failed = how == FATE_FAIL || how == FATE_FAIL_ALWAYS || how == FATE_SHORT;
    consumer_end consumer = plan->consumer.end;
    int status = end->status;
    return exited(status, 0) || (died_of(status, SIGKILL) && killed) ||
           (died_of(status, SIGKILL) && (consumer == CONSUMER_OUTLIVES || consumer == CONSUMER_DIES_TOO)) ||
           (exited(status, 2) && (failed || plan->file_limit || plan->device || plan->disk_is_small)) ||
           (died_of(status, SIGXFSZ) && plan->file_limit && plan->limit_kills) ||
           (died_of(status, SIGPIPE) && consumer == CONSUMER_DIES) ||
           (exited(status, 4) && consumer == CONSUMER_DIES && plan->way == LIFE_ACK) ||
           (died_of(status, SIGTERM) && (how == FATE_TERMINATE || consumer == CONSUMER_TERMINATES));
}

static void check_state(story *self)
{
    struct stat about;
    int status = life_command(&self->place, "check");
    self->made |= status == 0;
    check(status == 0 || !self->made, "vidi check ends with %d: %s", status, story_name(self));
    bool nothing = stat(self->place.state, &about) != 0 || self->report.fresh == self->report.lines;
    check(status == 0 || nothing, "vidi check ends with %d, but URLs are seen: %s", status, story_name(self));
}

static void add_to(story_sums *sums, const life *plan, const life_end *end)
{
    sums->lives++;
    sums->calls += end->calls[FATE_ANYWHERE];
    sums->killed += died_of(end->status, SIGKILL) || died_of(end->status, SIGXFSZ);
    sums->failed += exited(end->status, 2);
    sums->consumers_died += plan->consumer.end == CONSUMER_DIES || plan->consumer.end == CONSUMER_DIES_TOO;
}

uint64_t story_live_well(story *self, const life *plan, story_sums *sums)
{
    life_end end;
    story_live(self, plan, &end);
    add_to(sums, plan, &end);
    check(is_explained(plan, &end), "it ends with status %d: %s", end.status, story_name(self));
    story_judge(self);
    const checker_report *found = &self->report;
    check(found->lost == 0, "%llu of %llu lines are lost, %s: %s", (unsigned long long)found->lost,
          (unsigned long long)found->lines, found->example, story_name(self));
    check(found->strange <= self->torn, "%llu lines are not in the input, %s: %s", (unsigned long long)found->strange,
          found->example, story_name(self));
    bool whole = !plan->takes_snapshot && plan->consumer.end == CONSUMER_STAYS && exited(end.status, 0);
    check(!whole || (found->fresh == 0 && found->unfinished == 0),
          "it ends with success, and %llu lines are still new: %s", (unsigned long long)found->fresh, story_name(self));
    check_state(self);
    if (self->way == LIFE_APPENDS && found->unfinished > 0) {
        self->torn++;
        sums->torn++;
    }
    return end.struck;
}

void story_end_well(story *self, story_sums *sums)
{
    life plan = story_plain_life(self);
    (void)story_live_well(self, &plan, sums);
    const checker_report *found = &self->report;
    check(found->handed == found->lines && found->fresh == 0, "%llu of %llu lines are handed over: %s",
          (unsigned long long)found->handed, (unsigned long long)found->lines, story_name(self));
    check(self->way != LIFE_OUTPUT || found->twice == 0, "%llu lines are in the output file twice: %s",
          (unsigned long long)found->twice, story_name(self));
    sums->stories++;
    sums->twice += found->twice;
}
