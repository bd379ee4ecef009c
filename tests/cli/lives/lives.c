/*
 * The program's own crash test: kill -9 and full disks through `vidi` itself, with output to a file, a pipe and a
 * consumer that acknowledges. What users hold afterwards is judged by a checker that knows nothing of the library
 * (checker.c), and that is itself proven on planted losses.
 *
 *   VIDI_TEST_LIVES   lives with random fates (100; with VIDI_TEST_LONG 1000)
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

static const life_way all_ways[] = {LIFE_APPENDS, LIFE_OUTPUT, LIFE_PIPE, LIFE_ACK};
enum { WAYS = sizeof all_ways / sizeof *all_ways, DISK_ROOM = 64 << 10 };

static void report(const story_sums *sums)
{
    print_message(
        "# %llu lives in %llu stories, %llu calls; %llu killed, %llu with a full disk, %llu lost their consumer; "
        "%llu snapshots, %llu torn lines, %llu lines handed out twice, 0 lost\n",
        (unsigned long long)sums->lives, (unsigned long long)sums->stories, (unsigned long long)sums->calls,
        (unsigned long long)sums->killed, (unsigned long long)sums->failed, (unsigned long long)sums->consumers_died,
        (unsigned long long)sums->snapshots, (unsigned long long)sums->torn, (unsigned long long)sums->twice);
}

/* ---- planted losses ---- */

typedef struct plant {
    const char *name;
    life_way way;
    fate_how how; /* FATE_NOTHING: the fault is the consumer's, who lies */
    consumer_end end;
    uint64_t lost, strange, twice; /* at least so many must be found; 0: none may be */
} plant;

static const plant plants[] = {
    {"a line is dropped", LIFE_APPENDS, FATE_DROP_LINE, CONSUMER_STAYS, 1, 0, 0},
    {"a line is torn", LIFE_APPENDS, FATE_TEAR_LINE, CONSUMER_STAYS, 1, 1, 0},
    {"lines are glued", LIFE_APPENDS, FATE_GLUE_LINES, CONSUMER_STAYS, 2, 1, 0},
    {"a line is repeated", LIFE_APPENDS, FATE_REPEAT_LINE, CONSUMER_STAYS, 0, 0, 1},
    {"a write does not arrive", LIFE_APPENDS, FATE_SWALLOW_WRITE, CONSUMER_STAYS, 1, 0, 0},
    {"a line is spoiled", LIFE_OUTPUT, FATE_SPOIL_LINE, CONSUMER_STAYS, 1, 1, 0},
    {"a line is dropped", LIFE_PIPE, FATE_DROP_LINE, CONSUMER_STAYS, 1, 0, 0},
    {"lines are glued", LIFE_PIPE, FATE_GLUE_LINES, CONSUMER_STAYS, 2, 1, 0},
    {"what is in the pipe counts as taken", LIFE_PIPE, FATE_ALL_TAKEN, CONSUMER_DIES, 1, 0, 0},
    {"a line is torn", LIFE_ACK, FATE_TEAR_LINE, CONSUMER_STAYS, 1, 1, 0},
    {"the consumer acknowledges what it has not done", LIFE_ACK, FATE_NOTHING, CONSUMER_DIES, 1, 0, 0},
};

static void check_found(const story *self, const char *what, uint64_t found, uint64_t least)
{
    check(least ? found >= least : found == 0, "the checker finds %llu %s lines, not %llu: %s",
          (unsigned long long)found, what, (unsigned long long)least, story_name(self));
}

/* Lives with a fault. false: there was nothing to plant it in. */
static bool plant_one(story *self, const plant *what, uint64_t number)
{
    life_end end;
    life plan = story_plain_life(self);
    plan.fate = (fate){what->how, FATE_OUTPUT, number};
    plan.consumer.end = what->end;
    plan.consumer.lies = what->how == FATE_NOTHING;
    plan.consumer.bytes = 3000; /* of the 64 KiB that a pipe holds */
    plan.leap_ms = what->end == CONSUMER_DIES ? 2000 : plan.leap_ms;
    story_live(self, &plan, &end);
    check(end.status == 0 || what->end == CONSUMER_DIES, "it ends with status %d: %s", end.status, story_name(self));
    return plan.consumer.lies || end.struck > 0;
}

/* The fault at each write to the output, one after the other, until there are no more; others with some inputs. */
static void planted_losses_are_found(void **state)
{
    const plant *what = *state;
    uint64_t planted = 0, most = what->end == CONSUMER_DIES ? 8 : test_long() ? UINT64_MAX : 8;
    for (bool more = true; more && planted < most; planted += more) {
        story self;
        story_begin(&self, what->way, planted + 1, 0);
        more = plant_one(&self, what, planted + 1);
        story_judge(&self);
        check_found(&self, "lost", self.report.lost, more ? what->lost : 0);
        check_found(&self, "strange", self.report.strange, more ? what->strange : 0);
        check_found(&self, "repeated", self.report.twice, more ? what->twice : 0);
        story_free(&self);
    }
    check(planted > 0, "nothing was planted");
    print_message("# %llu of %llu found\n", (unsigned long long)planted, (unsigned long long)planted);
}

/* Drops the bytes between two places of the one text that is handed over, judges, and puts them back. */
static void judge_without(story *self, size_t from, size_t to)
{
    text whole = self->handed[0], left = {0};
    text_add(&left, whole.at, from);
    text_add(&left, whole.at + to, whole.length - to);
    self->handed[0] = left;
    story_judge_with(self, (checker_text){NULL, 0});
    text_free(&left);
    self->handed[0] = whole;
}

/* Of what a good run has written, every line in turn. */
static void any_line_that_is_missing_torn_or_glued_is_found(void **state)
{
    story self;
    life_end end;
    (void)state;
    story_begin(&self, LIFE_APPENDS, 1, 0);
    life plan = story_plain_life(&self);
    story_live(&self, &plan, &end);
    const text *all = &self.handed[0];
    for (size_t from = 0, to, lines = 0; from < all->length; from = to, lines++) {
        to = (size_t)((char *)memchr(all->at + from, '\n', all->length - from) + 1 - all->at);
        if (!test_long() && lines % 16 != 3)
            continue;
        judge_without(&self, from, to);
        check(self.report.lost == 1 && self.report.strange == 0, "a missing line is not found: %s", story_name(&self));
        judge_without(&self, from + lines % (to - from - 1), to - 1);
        check(self.report.lost == 1, "a torn line is not found: %s", story_name(&self));
        judge_without(&self, to - 1, to);
        check(self.report.lost == (to < all->length ? 2 : 1), "a glued line is not found: %s", story_name(&self));
    }
    story_free(&self);
}

/* ---- torn lines ---- */

/*
 * A crash inside a write tears a line, and >> goes on behind it. What was torn is a strange line, but it costs no other:
 * the program begins a new line. (Before it did, the next line was glued to it, and lost, each time.)
 */
static void a_torn_line_costs_no_other(void **state)
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
        check_found(&self, "lost", self.report.lost, 0);
        torn += ends_inside;
        story_free(&self);
        if (!struck)
            break;
    }
    check(torn == LIFE_FILES, "%llu lines were torn, not %d", (unsigned long long)torn, LIFE_FILES);
}

/* ---- a fate for every call ---- */

/* The fate at every step-th call there; each time a new story, with a life after it. */
static void sweep(life_way way, fate each, uint64_t step, story_sums *sums)
{
    for (bool struck = true; struck; each.number += step) {
        story self;
        story_begin(&self, way, each.number, each.number % 8 ? 0 : STORY_ON_DISK);
        life plan = story_plain_life(&self);
        plan.fate = each;
        struck = story_live_well(&self, &plan, sums) > 0;
        story_end_well(&self, sums);
        story_free(&self);
    }
}

static void nothing_is_lost_whichever_call_it_is(void **state)
{
    life_way way = *(const life_way *)*state;
    story_sums sums = {0};
    bool file = way == LIFE_APPENDS || way == LIFE_OUTPUT; /* pipes take many writes */
    uint64_t step = test_long() ? 1 : file ? 61 : 173;
    for (fate_how how = FATE_KILL; how < FATE_HOWS; how++)
        sweep(way, (fate){how, FATE_ANYWHERE, 1 + ((uint64_t)way * 7 + how * 3) % step}, step, &sums);
    if (file) {
        sweep(way, (fate){FATE_KILL, FATE_OUTPUT, 1}, 1, &sums);
        sweep(way, (fate){FATE_KILL_INSIDE, FATE_OUTPUT, 1}, 1, &sums);
    }
    report(&sums);
}

/* ---- random fates ---- */

/* The consumer's last byte: mostly at the end of a line or just before it, where one line too many would show. */
static uint64_t random_last_byte(story *self)
{
    const text *next = &self->fresh;
    size_t at = next->length ? (size_t)test_below(&self->random, 1 + test_below(&self->random, next->length)) : 0;
    const char *end = at < next->length ? memchr(next->at + at, '\n', next->length - at) : NULL;
    bool anywhere = !end || test_below(&self->random, 4) == 0;
    return anywhere ? at : (uint64_t)(end + 1 - next->at) - test_below(&self->random, 4);
}

static consumer random_consumer(story *self)
{
    consumer made = {.piece = 1 + test_below(&self->random, UINT64_C(64) << test_below(&self->random, 12)),
                     .batch = 1 + test_below(&self->random, 50)};
    if (self->way != LIFE_PIPE && self->way != LIFE_ACK)
        return made;
    made.end = (consumer_end)test_below(&self->random, CONSUMER_ENDS);
    made.bytes = random_last_byte(self);
    made.lag = self->way == LIFE_ACK ? test_below(&self->random, 100) : 0;
    return made;
}

/* Not one line more, and not one less. */
static void what_a_dead_consumer_has_taken_is_seen(void **state)
{
    story_sums sums = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= (test_long() ? 200 : 12); seed++) {
        story self;
        story_begin(&self, LIFE_PIPE, seed, 0);
        story_judge(&self);
        life plan = story_plain_life(&self);
        plan.consumer.end = CONSUMER_DIES;
        plan.consumer.bytes = random_last_byte(&self);
        (void)story_live_well(&self, &plan, &sums);
        check(self.report.again == 0, "%llu lines were taken and are new: %s", (unsigned long long)self.report.again,
              story_name(&self));
        story_end_well(&self, &sums);
        story_free(&self);
    }
    report(&sums);
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
    story_judge(&self);
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

/*
 * A disk that gets half as much room again after each life: less may not be enough, because a life that fails leaves
 * something behind (a log that was not finished, output that was cut off, or that stays and will come again).
 */
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
            room += room / 2;
            assert_int_equal(small_disk_resize(folder, room), 0);
            check(self.lives < 40, "with more and more room it does not get on: %s", story_name(&self));
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
    char name[160];
    snprintf(name, sizeof name, "%s: vidi %s", promise, story_way(way));
    test_add(name, function, state);
}

static void add_plant(const plant *what)
{
    char name[120];
    snprintf(name, sizeof name, "the checker finds out if %s", what->name);
    add_test(name, what->way, planted_losses_are_found, what);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc == 3 && strcmp(argv[1], "--small-disk") == 0) {
        test_add("nothing is lost on a small disk", nothing_is_lost_on_a_small_disk, argv[2]);
        return test_run("lives", 1, argv);
    }
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++)
        add_plant(&plants[i]);
    test_add("the checker finds any line that is missing, torn or glued",
             any_line_that_is_missing_torn_or_glued_is_found, NULL);
    add_test("a line that a crash has torn costs no other", LIFE_APPENDS, a_torn_line_costs_no_other, NULL);
    add_test("exactly what a dead consumer has taken is seen", LIFE_PIPE, what_a_dead_consumer_has_taken_is_seen, NULL);
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
