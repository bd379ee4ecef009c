/*
 * The program's own crash test: kill -9 and full disks through `vidi` itself, with output to a file, a pipe and a
 * consumer that acknowledges. What users hold afterwards is judged by a checker that knows nothing of the library
 * (checker.c), and that is itself proven on planted losses.
 *
 *   VIDI_TEST_LIVES   lives with random fates (60; with VIDI_TEST_LONG 1000)
 *   VIDI_TEST_SEED    the seed that a failure has printed, to repeat it: only the story with this seed is run
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "small_disk.h"
#include "story.h"
#include "support/env.h"
#include "support/runner.h"

static const life_way all_ways[] = {LIFE_APPENDS};
enum { WAYS = sizeof all_ways / sizeof *all_ways, DISK_ROOM = 64 << 10 };

static void report(const story_sums *sums)
{
    print_message(
        "# %llu lives in %llu stories, %llu calls; %llu killed, %llu with a full disk, %llu lost their consumer; "
        "%llu snapshots, %llu torn lines cut off, %llu lines handed out twice, 0 lost\n",
        (unsigned long long)sums->lives, (unsigned long long)sums->stories, (unsigned long long)sums->calls,
        (unsigned long long)sums->killed, (unsigned long long)sums->failed, (unsigned long long)sums->consumers_died,
        (unsigned long long)sums->snapshots, (unsigned long long)sums->torn, (unsigned long long)sums->twice);
}

/* ---- planted losses ---- */

typedef struct plant {
    life_way way;
    fate_how how;
    uint64_t lie;
    uint64_t lost, strange, twice; /* at least so many must be found; 0: none may be */
} plant;

static const plant plants[] = {
    {LIFE_APPENDS, FATE_DROP_LINE, 0, 1, 0, 0},     {LIFE_APPENDS, FATE_TEAR_LINE, 0, 1, 1, 0},
    {LIFE_APPENDS, FATE_GLUE_LINES, 0, 2, 1, 0},    {LIFE_APPENDS, FATE_REPEAT_LINE, 0, 0, 0, 1},
    {LIFE_APPENDS, FATE_SWALLOW_WRITE, 0, 1, 0, 0},
};

static void check_found(const story *self, const char *what, uint64_t found, uint64_t least)
{
    check(least ? found >= least : found == 0, "the checker finds %llu %s lines, not %llu: %s",
          (unsigned long long)found, what, (unsigned long long)least, story_name(self));
}

/* The fault at each write to the output, one after the other, until there are no more. */
static void planted_losses_are_found(void **state)
{
    const plant *what = *state;
    uint64_t planted = 0;
    for (uint64_t number = 1;; number++) {
        story self;
        life_end end;
        story_begin(&self, what->way, number, 0);
        life plan = story_plain_life(&self);
        plan.fate = (fate){what->how, FATE_OUTPUT, number};
        story_live(&self, &plan, &end);
        check(end.status == 0, "it ends with status %d: %s", end.status, story_name(&self));
        if (end.struck == 0) {
            story_free(&self);
            break;
        }
        planted++;
        story_judge(&self);
        check_found(&self, "lost", self.report.lost, what->lost);
        check_found(&self, "strange", self.report.strange, what->strange);
        check_found(&self, "repeated", self.report.twice, what->twice);
        story_free(&self);
    }
    check(planted > 0, "nothing was planted");
}

/*
 * The line that a crash has torn, if the user goes on with >> and does not cut it off: the next line is glued to it. It
 * is the reason for -o, and the checker finds it at each write.
 */
static void a_line_torn_by_a_crash_is_found(void **state)
{
    uint64_t torn = 0;
    (void)state;
    for (uint64_t number = 1;; number++) {
        story self;
        life_end end;
        story_begin(&self, LIFE_APPENDS, number, STORY_LONG_LINES);
        life plan = story_plain_life(&self);
        plan.fate = (fate){FATE_KILL_INSIDE, FATE_OUTPUT, number};
        story_live(&self, &plan, &end);
        bool struck = end.struck > 0, ends_inside = text_whole_lines(&self.handed[0]) < self.handed[0].length;
        plan.fate = (fate){FATE_NOTHING};
        story_live(&self, &plan, &end);
        story_judge(&self);
        check_found(&self, "strange", self.report.strange, ends_inside);
        check_found(&self, "lost", self.report.lost, ends_inside);
        torn += ends_inside;
        story_free(&self);
        if (!struck)
            break;
    }
    check(torn == LIFE_FILES, "%llu lines were torn, not %d", (unsigned long long)torn, LIFE_FILES);
}

/* ---- a fate for every call ---- */

static void nothing_is_lost_whichever_call_it_is(void **state)
{
    life_way way = *(const life_way *)*state;
    story_sums sums = {0};
    uint64_t step = test_long() ? 1 : 23;
    for (fate_how how = FATE_KILL; how < FATE_HOWS; how++) {
        bool struck = true;
        for (uint64_t number = 1 + ((uint64_t)way * 7 + how * 3) % step; struck; number += step) {
            story self;
            story_begin(&self, way, number, number % 8 ? 0 : STORY_ON_DISK);
            life plan = story_plain_life(&self);
            plan.fate = (fate){how, FATE_ANYWHERE, number};
            struck = story_live_well(&self, &plan, &sums) > 0;
            story_end_well(&self, &sums);
            story_free(&self);
        }
    }
    report(&sums);
}

/* ---- random fates ---- */

static consumer random_consumer(story *self)
{
    consumer made = {.piece = 1 + test_below(&self->random, UINT64_C(64) << test_below(&self->random, 12)),
                     .batch = 1 + test_below(&self->random, 50)};
    if (self->way != LIFE_PIPE && self->way != LIFE_ACK)
        return made;
    made.end = (consumer_end)test_below(&self->random, CONSUMER_ENDS);
    made.bytes = test_below(&self->random, 1 + test_below(&self->random, self->input.length / 2));
    made.lag = self->way == LIFE_ACK ? test_below(&self->random, 100) : 0;
    return made;
}

/* Something happens to most lives: to the program, to its consumer, or to both. */
static life random_life(story *self, uint64_t calls)
{
    life plan = story_plain_life(self);
    plan.consumer = random_consumer(self);
    uint64_t sort = test_below(&self->random, 8);
    if (sort == 0) {
        plan.file_limit = 1 + test_below(&self->random, 2 * self->input.length);
        plan.limit_kills = test_below(&self->random, 2);
    } else if (sort < 3 || plan.consumer.end == CONSUMER_STAYS) {
        plan.fate.how = (fate_how)test_below(&self->random, FATE_HOWS);
        plan.fate.where = test_below(&self->random, 3) == 0 ? FATE_OUTPUT : FATE_ANYWHERE;
        plan.fate.number = 1 + test_below(&self->random, 1 + test_below(&self->random, calls));
    }
    return plan;
}

/* Sometimes a snapshot is taken between two lives; it has a fate, too. */
static void take_snapshot(story *self, story_sums *sums)
{
    life plan = random_life(self, 20);
    plan.takes_snapshot = true;
    plan.consumer.end = CONSUMER_STAYS;
    (void)story_live_well(self, &plan, sums);
    sums->snapshots++;
}

/* Lives until everything was handed over, or until there were enough of them. */
static void live_a_story(life_way way, uint64_t seed, story_sums *sums)
{
    story self;
    story_begin(&self, way, seed, seed % 8 ? 0 : STORY_ON_DISK);
    uint64_t lives = 2 + test_below(&self.random, 10);
    do {
        life plan = random_life(&self, 40);
        (void)story_live_well(&self, &plan, sums);
        if (self.made && test_below(&self.random, 4) == 0)
            take_snapshot(&self, sums);
    } while (self.lives < lives && self.report.fresh > 0);
    story_end_well(&self, sums);
    story_free(&self);
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? strtoull(value, NULL, 10) : otherwise;
}

static void nothing_is_lost_in_life_after_life(void **state)
{
    life_way way = *(const life_way *)*state;
    story_sums sums = {0};
    uint64_t lives = number_from("VIDI_TEST_LIVES", test_long() ? 1000 : 60) / WAYS;
    uint64_t only = number_from("VIDI_TEST_SEED", 0), seed = only;
    if (!only)
        assert_int_equal(getrandom(&seed, sizeof seed, 0), sizeof seed);
    do
        live_a_story(way, seed++, &sums);
    while (!only && sums.lives < lives);
    report(&sums);
}

/* ---- full disks ---- */

static void nothing_that_a_full_device_refused_is_seen(void **state)
{
    story_sums sums = {0};
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        print_message("# skipped: there is no /dev/full\n");
        skip();
    }
    for (uint64_t seed = 1; seed <= 6; seed++) {
        story self;
        story_begin(&self, LIFE_APPENDS, seed, 0);
        life plan = story_plain_life(&self);
        plan.device = "/dev/full";
        (void)story_live_well(&self, &plan, &sums);
        check(self.report.fresh == self.report.lines, "lines are seen that were never written: %s", story_name(&self));
        story_end_well(&self, &sums);
        story_free(&self);
    }
    report(&sums);
}

/* A disk that gets a little more room after each life. */
static void nothing_is_lost_on_a_small_disk(void **state)
{
    const char *folder = *state;
    story_sums sums = {0};
    for (uint64_t seed = 1; seed <= (test_long() ? 40 : 4); seed++) {
        story self;
        story_begin(&self, all_ways[seed % WAYS], seed, 0);
        story_move(&self, folder);
        uint64_t room = DISK_ROOM;
        assert_int_equal(small_disk_resize(folder, room), 0);
        do {
            life plan = story_plain_life(&self);
            plan.disk_is_small = true;
            (void)story_live_well(&self, &plan, &sums);
            room += test_below(&self.random, self.input.length / 2);
            assert_int_equal(small_disk_resize(folder, room), 0);
        } while (self.report.fresh > 0);
        story_end_well(&self, &sums);
        story_free(&self);
    }
    report(&sums);
    check(sums.failed > 0, "the disk was never full");
}

/* Runs this program once more, for the test above alone. */
static void start_with_a_small_disk(void **state)
{
    char folder[TEST_PATH];
    (void)state;
    test_folder_new(folder, true);
    int status = small_disk_run("--small-disk", folder, DISK_ROOM);
    test_folder_remove(folder);
    if (status == SMALL_DISK_FORBIDDEN) {
        print_message("# skipped: this system lets nobody mount a file system of a limited size\n");
        skip();
    }
    check(status == 0, "the test on a small disk ends with status %d", status);
}

/* ---- all of it ---- */

static void add_test(const char *promise, life_way way, CMUnitTestFunction function, const void *state)
{
    char name[128];
    snprintf(name, sizeof name, "%s: vidi %s", promise, story_way(way));
    test_add(name, function, state);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc == 3 && strcmp(argv[1], "--small-disk") == 0) {
        test_add("nothing is lost on a small disk", nothing_is_lost_on_a_small_disk, argv[2]);
        return test_run("lives", 1, argv);
    }
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++)
        add_test("the checker finds planted losses", plants[i].way, planted_losses_are_found, &plants[i]);
    add_test("the checker finds a line that a crash has torn", LIFE_APPENDS, a_line_torn_by_a_crash_is_found, NULL);
    add_test("nothing that /dev/full has refused is seen", LIFE_APPENDS, nothing_that_a_full_device_refused_is_seen,
             NULL);
    test_add("nothing is lost on a disk that is full and gets more room", start_with_a_small_disk, NULL);
    for (size_t i = 0; i < WAYS; i++) {
        add_test("nothing is lost, whichever call it is", all_ways[i], nothing_is_lost_whichever_call_it_is,
                 &all_ways[i]);
        add_test("nothing is lost in life after life", all_ways[i], nothing_is_lost_in_life_after_life, &all_ways[i]);
    }
    return test_run("lives", argc, argv);
}
