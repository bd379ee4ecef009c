/*
 * kill -9 at any moment: what was acknowledged is there, and what is there had been passed on.
 *
 * A child, this program with --live, works on a set in a folder and keeps a journal with write(2): what it is about to
 * do, what it was told, what it has passed on. The parent kills it at a random moment after the journal has come to a
 * random length, reads the journal, opens the set and asks for every URL that the child could have added. From what the
 * journal says each URL has a range of times that it may be in the set: the last state that was acknowledged as durable,
 * and all that were committed since. Then another child goes on with the same folder, and after some lives the folder is
 * given up for a new one.
 *
 *   VIDI_TEST_KILLS   lives (400; 100 under sanitizers; with VIDI_TEST_LONG 10000)
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "durable/durable_cases.h"
#include "support/access.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"

extern char **environ;

enum { UNIVERSE = 2000, BATCH = 150, SLOTS = 3 };

typedef enum event {
    OPENED = 1, /* the set is there, and open; value: its epoch */
    OFFERING,   /* will be added now (without manual commits it may be durable from here on) */
    TOLD_NEW,   /* passed on */
    TOLD_SEEN,
    REMOVING,
    REMOVED,
    COMMITTING, /* is called */
    COMMITTED,  /* has returned */
    SYNCED,     /* vidi_sync, or vidi_snapshot, has returned */
    WRITTEN,    /* all was found in the folder, without having asked for that */
    ROTATING,
    ROTATED
} event;

typedef struct note {
    uint32_t what, value;
} note;

typedef struct kind_case {
    const char *kind, *params;
    bool every_add;
} kind_case;

static const kind_case kinds[] = {
    {"fingerprint", "bits=60", false},
    {"blocked", NULL, false},
    {"hashset", NULL, false},
    {"counting", "width=16", true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void pause_for(uint64_t microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)microseconds * 1000}, NULL);
}

/* ---- the child ---- */

typedef struct life {
    vidi_set *set;
    const char *path;
    const kind_case *kind;
    unsigned flags;
    int journal;
    bool can_remove;
    bool quiet; /* never syncs, but waits until the set has come to the folder by itself */
    test_random random;
    note notes[2 * BATCH];
    size_t noted;
} life;

static void die(const char *what)
{
    fprintf(stderr, "# the child: %s: %s\n", what, vidi_message());
    _exit(3);
}

static void jot(life *self, event what, uint64_t value)
{
    self->notes[self->noted++] = (note){what, (uint32_t)value};
}

static void flush(life *self)
{
    size_t bytes = self->noted * sizeof *self->notes;
    if (bytes && write(self->journal, self->notes, bytes) != (ssize_t)bytes)
        die("the journal");
    self->noted = 0;
}

static void jot_now(life *self, event what, uint64_t value)
{
    jot(self, what, value);
    flush(self);
}

static bool one_in(life *self, uint64_t n)
{
    return test_below(&self->random, n) == 0;
}

static void add_some(life *self)
{
    static char arena[BATCH][TEST_URL_ROOM];
    vidi_str urls[BATCH];
    uint32_t index[BATCH];
    uint8_t verdicts[BATCH];
    size_t n = one_in(self, 3) ? 1 : 1 + test_below(&self->random, BATCH);
    bool manual = self->flags & VIDI_MANUAL_COMMIT;
    for (size_t i = 0; i < n; i++) {
        index[i] = (uint32_t)test_below(&self->random, UNIVERSE);
        urls[i] = nth(arena[i], index[i]);
        if (!manual)
            jot(self, OFFERING, index[i]);
    }
    flush(self);
    if (vidi_add_batch(self->set, urls, n, verdicts, NULL) < 0)
        die("adding");
    for (size_t i = 0; i < n; i++)
        jot(self, verdicts[i] == VIDI_NEW ? TOLD_NEW : TOLD_SEEN, index[i]);
    flush(self);
}

static void remove_one(life *self)
{
    uint64_t index = test_below(&self->random, UNIVERSE);
    if (!self->can_remove || has_nth(self->set, index) != VIDI_SEEN)
        return;
    jot_now(self, REMOVING, index);
    if (remove_nth(self->set, index) < 0)
        die("removing");
    jot_now(self, REMOVED, index);
}

static void commit(life *self)
{
    jot_now(self, COMMITTING, 0);
    if (vidi_commit(self->set) < 0)
        die("committing");
    jot_now(self, COMMITTED, 0);
}

static void rotate(life *self)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    next.capacity = 20000;
    next.flags = VIDI_KEEP_PREVIOUS;
    jot_now(self, ROTATING, 0);
    if (vidi_rotate(self->set, &next) < 0)
        die("rotating");
    jot_now(self, ROTATED, 0);
}

/* A number that grows with every change that a log must keep. */
static uint64_t changes(const life *self, const vidi_set *set)
{
    vidi_stats stats = {.size = sizeof stats};
    vidi_stat(set, &stats);
    return stats.answered_new + stats.removed + (self->kind->every_add ? stats.answered_seen : 0);
}

/* Until somebody else who opens the set finds in it all that is here: from then on kill -9 takes nothing of it away. */
static void wait_until_written(life *self)
{
    uint64_t found = 0, wanted = changes(self, self->set);
    commit(self);
    while (found != wanted) {
        vidi_set *reader;
        if (test_open(&reader, self->path, VIDI_READ_ONLY) < 0)
            die("reading");
        found = changes(self, reader);
        vidi_close(reader);
        pause_for(5000);
    }
    jot_now(self, WRITTEN, 0);
}

/* What a crash in vidi_create has left is no set, and can be made one. */
static void open_or_create(life *self)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    int result = test_open(&self->set, self->path, self->flags);
    if (result == VIDI_OK)
        return;
    if (result != VIDI_EABSENT && !(result == VIDI_EFORMAT && strstr(vidi_message(), "is not a vidi set")))
        die("opening");
    options.kind = self->kind->kind;
    options.params = self->kind->params;
    options.capacity = 20000;
    options.error = 1e-12; /* the URLs differ from run to run, and none may be taken for seen */
    test_use(&options, &access, self->flags | TEST_KEEP_PREVIOUS);
    options.path = self->path;
    if (vidi_create(&self->set, &options) < 0)
        die("creating");
}

/* --live folder journal kind flags seed */
static int live(char **arguments)
{
    static life self;
    self.path = arguments[2];
    self.kind = &kinds[strtoul(arguments[4], NULL, 10)];
    self.flags = (unsigned)strtoul(arguments[5], NULL, 10);
    self.random.state = strtoull(arguments[6], NULL, 10);
    self.quiet = self.random.state % 2;
    self.journal = open(arguments[3], O_WRONLY | O_APPEND | O_CLOEXEC);
    if (self.journal < 0)
        die("no journal");
    open_or_create(&self);
    vidi_stats stats = {.size = sizeof stats};
    vidi_stat(self.set, &stats);
    self.can_remove = stats.can & VIDI_CAN_DELETE;
    jot_now(&self, OPENED, stats.epoch);
    pid_t parent = getppid();
    for (uint64_t i = 0; i < 100000 && getppid() == parent; i++) {
        add_some(&self);
        if (one_in(&self, 6))
            remove_one(&self);
        if (!one_in(&self, 3) && (self.flags & VIDI_MANUAL_COMMIT))
            commit(&self);
        if (self.quiet) {
            if (one_in(&self, 8))
                wait_until_written(&self);
            continue;
        }
        if (one_in(&self, 12)) {
            if (one_in(&self, 3) ? vidi_snapshot(self.set) : vidi_sync(self.set))
                die("a sync or a snapshot");
            jot_now(&self, SYNCED, 0);
        }
        if (one_in(&self, 80))
            rotate(&self);
    }
    return 4; /* nobody has killed it, or nobody is there to do so */
}

/* ---- what the parent knows ---- */

/* How often a URL is, or may be, in the set. */
typedef struct url_state {
    uint32_t alive;     /* in the child's memory */
    uint32_t least;     /* of `alive` since the last commit: a kill inside a commit may leave any part of it */
    uint32_t offered;   /* adds that were begun and not answered */
    uint32_t committed; /* by the last commit that was begun */
    uint32_t sure;      /* by the last one that has returned */
    uint32_t low, high; /* after a crash */
    uint32_t previous;  /* in the epoch before; UINT32_MAX: nobody knows */
} url_state;

typedef struct slot {
    char above[TEST_PATH], path[TEST_PATH], journal[TEST_PATH];
    const kind_case *kind;
    unsigned flags;
    pid_t pid;
    uint64_t notes; /* the journal is to have, before the child is killed */
    uint64_t pause; /* after that, in microseconds */
    uint64_t lives; /* that this folder has seen */
    bool exists;    /* somebody has opened it */
    uint64_t epoch;
    bool turning; /* a rotation had begun, and has not returned */
    bool has_previous;
    url_state urls[UNIVERSE];
} slot;

typedef struct totals {
    uint64_t lives, opened, notes, commits, syncs, written, rotations, forgotten, unfinished;
} totals;

static void fail_in(const slot *self, const char *what, uint32_t url)
{
    fail_msg("%s, URL %u; kind %s, flags %u, life %llu, epoch %llu; look at %s", what, url, self->kind->kind,
             self->flags, (unsigned long long)self->lives, (unsigned long long)self->epoch, self->above);
}

static bool manual(const slot *self)
{
    return self->flags & VIDI_MANUAL_COMMIT;
}

/* At most: with all adds that were begun and, as far as the journal says, not answered. */
static uint32_t most_times(const slot *self, uint32_t times, const url_state *url)
{
    return self->kind->every_add ? times + url->offered : times || url->offered;
}

/* From here on a crash may find this. */
static void may_be(const slot *self, url_state *url)
{
    uint32_t most = most_times(self, url->alive, url);
    url->committed = url->alive;
    url->least = url->least < url->alive ? url->least : url->alive;
    url->low = url->low < url->least ? url->low : url->least;
    url->high = url->high > most ? url->high : most;
}

static void is_durable(const slot *self, url_state *url)
{
    url->low = url->sure;
    url->high = most_times(self, url->sure, url);
}

/* The last commit has returned. */
static void acknowledge(slot *self, url_state *url)
{
    url->sure = url->least = url->committed;
    if (self->flags & TEST_SYNC_ALWAYS)
        is_durable(self, url);
}

static void told(slot *self, const note *entry, url_state *url)
{
    if (entry->what == TOLD_NEW && url->alive)
        fail_in(self, "NEW again", entry->value);
    if (entry->what == TOLD_SEEN && !url->alive)
        fail_in(self, "SEEN, and never passed on", entry->value);
    if (entry->what == TOLD_NEW || self->kind->every_add)
        url->alive++;
    if (url->offered)
        url->offered--;
    if (!manual(self)) {
        may_be(self, url);
        acknowledge(self, url);
    }
}

static void turned(slot *self)
{
    for (size_t i = 0; i < UNIVERSE; i++)
        self->urls[i] = (url_state){.previous = self->urls[i].committed};
    self->epoch++;
    self->turning = false;
    self->has_previous = true;
}

static void read_note(slot *self, const note *entry, totals *sum)
{
    url_state *url = &self->urls[entry->value % UNIVERSE];
    uint32_t most;
    sum->notes++;
    switch (entry->what) {
    case OPENED:
        self->exists = true;
        if (entry->value != self->epoch)
            fail_in(self, "the child finds another epoch than the parent", entry->value);
        break;
    case OFFERING:
        url->offered++;
        most = most_times(self, url->alive, url);
        url->high = url->high > most ? url->high : most;
        break;
    case TOLD_NEW:
    case TOLD_SEEN:
        told(self, entry, url);
        break;
    case REMOVING:
        if (!manual(self) && url->low >= url->alive)
            url->low = url->alive - 1;
        break;
    case REMOVED:
        url->alive--;
        url->least = url->least < url->alive ? url->least : url->alive;
        if (!manual(self)) {
            may_be(self, url);
            acknowledge(self, url);
        }
        break;
    case COMMITTING:
        for (size_t i = 0; i < UNIVERSE; i++)
            may_be(self, &self->urls[i]);
        break;
    case COMMITTED:
        sum->commits++;
        for (size_t i = 0; i < UNIVERSE; i++)
            acknowledge(self, &self->urls[i]);
        break;
    case SYNCED:
    case WRITTEN:
        sum->syncs += entry->what == SYNCED;
        sum->written += entry->what == WRITTEN;
        for (size_t i = 0; i < UNIVERSE; i++)
            is_durable(self, &self->urls[i]);
        break;
    case ROTATING:
        self->turning = true;
        break;
    case ROTATED:
        sum->rotations++;
        turned(self);
        break;
    default:
        fail_in(self, "a note that makes no sense", entry->what);
    }
}

static void read_journal(slot *self, totals *sum)
{
    note notes[512];
    ssize_t got;
    int file = open(self->journal, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    self->turning = false;
    while ((got = read(file, notes, sizeof notes)) > 0) {
        for (size_t i = 0; i < (size_t)got / sizeof *notes; i++)
            read_note(self, &notes[i], sum);
    }
    close(file);
}

static uint32_t times_in(const slot *self, const vidi_set *set, uint32_t url, uint8_t verdict)
{
    return self->kind->every_add ? (uint32_t)times_nth(set, url) : verdict == VIDI_SEEN;
}

static void check_previous(const slot *self, const vidi_set *set)
{
    char room[TEST_URL_ROOM];
    for (uint32_t i = 0; self->has_previous && i < UNIVERSE; i += 7) {
        if (self->urls[i].previous == UINT32_MAX)
            continue;
        int verdict = vidi_has_previous(set, nth(room, i));
        if (verdict != (self->urls[i].previous ? VIDI_SEEN : VIDI_NEW))
            fail_in(self, "the previous epoch has changed", i);
    }
}

/* Asks for all URLs, and compares with what may be; `learn`: that is what is there from now on. */
static void check_set(slot *self, const vidi_set *set, bool learn, totals *sum)
{
    static test_batch all;
    static uint8_t verdicts[UNIVERSE];
    uint64_t epoch = test_stat(set).epoch;
    if (!all.n) {
        test_batch_init(&all, UNIVERSE);
        test_batch_fill(&all, test_url, 77, 0, UNIVERSE);
    }
    if (self->turning && epoch == self->epoch + 1)
        turned(self);
    if (epoch != self->epoch)
        fail_in(self, "another epoch than the journal says", (uint32_t)epoch);
    assert_int_equal(vidi_has_batch(set, all.urls, UNIVERSE, verdicts), VIDI_OK);
    for (uint32_t i = 0; i < UNIVERSE; i++) {
        url_state *url = &self->urls[i];
        uint32_t times = times_in(self, set, i, verdicts[i]);
        if (times < url->low)
            fail_in(self, "forgotten, though it was acknowledged", i);
        if (times > url->high)
            fail_in(self, "seen, though it was not passed on", i);
        if (learn) {
            sum->forgotten += url->alive > times;
            url->alive = url->least = url->committed = url->sure = url->low = url->high = times;
            url->offered = 0;
        }
    }
    check_previous(self, set);
}

static void check_folder(slot *self, test_random *random, totals *sum)
{
    static const unsigned ways[] = {VIDI_READ_ONLY, VIDI_READ_ONLY | VIDI_NO_MAP, 0};
    size_t n = 1 + test_below(random, 3), first = test_below(random, 2);
    for (size_t i = 0; i < n && first + i < 3; i++) {
        vidi_set *set = NULL;
        int result = test_open(&set, self->path, ways[first + i]);
        if (!self->exists && (result == VIDI_EABSENT || result == VIDI_EFORMAT))
            return;
        check(result == VIDI_OK, "%d, %s; kind %s, flags %u; look at %s", result, vidi_message(), self->kind->kind,
              self->flags, self->above);
        self->exists = true;
        vidi_recovery found = {.size = sizeof found};
        must(vidi_recovered(set, &found));
        check(found.damaged_places == 0, "kill -9 damages nothing; look at %s", self->above);
        sum->unfinished += found.unfinished_bytes > 0;
        sum->opened++;
        check_set(self, set, i == 0, sum);
        vidi_close(set);
    }
}

/* ---- lives ---- */

static void settle_down(slot *self, uint64_t which)
{
    memset(self, 0, sizeof *self);
    self->kind = &kinds[which % KINDS];
    self->flags = test_modes[which / KINDS % TEST_MODES].flags;
    test_folder_new(self->above, which % 2);
    test_path(self->path, self->above, "set");
    test_path(self->journal, self->above, "journal");
    test_file_write(self->above, "journal", "", 0);
    for (size_t i = 0; i < UNIVERSE; i++)
        self->urls[i].previous = UINT32_MAX;
}

static void give_birth(slot *self, test_random *random)
{
    char kind[8], flags[16], seed[32], program[] = "/proc/self/exe", option[] = "--live";
    snprintf(kind, sizeof kind, "%zu", (size_t)(self->kind - kinds));
    snprintf(flags, sizeof flags, "%u", self->flags);
    bool quiet = test_below(random, 8) == 0, early = test_below(random, 8) == 0;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)(test_next(random) << 1 | quiet));
    char *arguments[] = {program, option, self->path, self->journal, kind, flags, seed, NULL};
    /* early: while it opens the set; else after a few notes, or many, and all in between alike */
    self->notes = early ? 0 : test_below(random, UINT64_C(2) << test_below(random, quiet ? 12 : 13));
    self->pause = test_below(random, early ? 8000 : 1000);
    assert_int_equal(truncate(self->journal, 0), 0); /* not before: who looks for a cause wants to read it */
    assert_int_equal(posix_spawn(&self->pid, program, NULL, NULL, arguments, environ), 0);
    self->lives++;
}

static void take_life(slot *self)
{
    int status;
    kill(self->pid, SIGKILL);
    assert_int_equal(waitpid(self->pid, &status, 0), self->pid);
    self->pid = 0;
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the child ended by itself: status %d; look at %s",
          status, self->above);
}

static bool is_due(slot *self)
{
    struct stat journal;
    siginfo_t ended = {0};
    assert_int_equal(stat(self->journal, &journal), 0);
    if ((uint64_t)journal.st_size >= self->notes * sizeof(note))
        return true;
    waitid(P_PID, (id_t)self->pid, &ended, WEXITED | WNOHANG | WNOWAIT); /* by itself: take_life says so */
    return ended.si_pid != 0;
}

static slot *next_due(slot *slots)
{
    for (size_t i = 0;; i = (i + 1) % SLOTS) {
        if (is_due(&slots[i])) {
            pause_for(slots[i].pause);
            return &slots[i];
        }
        if (i == 0)
            pause_for(200);
    }
}

static uint64_t lives_to_take(void)
{
    const char *text = getenv("VIDI_TEST_KILLS");
    uint64_t asked = text ? strtoull(text, NULL, 10) : 0;
    return asked ? asked : test_long() ? 10000 : test_sanitized() ? 50 : 200;
}

/* If something fails, the other children must not go on for ever. */
static slot slots[SLOTS];

static void end_all(void)
{
    for (size_t i = 0; i < SLOTS; i++) {
        if (slots[i].pid > 0)
            kill(slots[i].pid, SIGKILL);
    }
}

enum { MOST_TIMES = 20 };

static bool has_seen_all(const totals *sum)
{
    return sum->commits && sum->syncs && sum->written && sum->rotations && sum->forgotten;
}

static void acknowledged_is_there_and_nothing_that_was_not_passed_on(void **state)
{
    test_random random;
    totals sum = {0};
    uint64_t lives = lives_to_take(), settled = 0;
    (void)state;
    assert_int_equal(getrandom(&random.state, sizeof random.state, 0), sizeof random.state);
    print_message("# seed %llu\n", (unsigned long long)random.state);
    for (size_t i = 0; i < SLOTS; i++) {
        settle_down(&slots[i], settled++);
        give_birth(&slots[i], &random);
    }
    /* On a busy machine lives do less before they end, so it may take more of them until everything has happened. */
    while (sum.lives < lives || (sum.lives < MOST_TIMES * lives && !has_seen_all(&sum))) {
        slot *self = next_due(slots);
        take_life(self);
        sum.lives++;
        read_journal(self, &sum);
        check_folder(self, &random, &sum);
        if (test_below(&random, 12) == 0) {
            test_folder_remove(self->above);
            settle_down(self, settled++);
        }
        give_birth(self, &random);
    }
    end_all();
    for (size_t i = 0; i < SLOTS; i++) {
        waitpid(slots[i].pid, NULL, 0);
        test_folder_remove(slots[i].above);
    }
    print_message("# %llu lives in %llu folders, %llu openings, %llu notes, %llu commits, %llu syncs, %llu waits, "
                  "%llu rotations, %llu URLs forgotten, %llu unfinished logs\n",
                  (unsigned long long)sum.lives, (unsigned long long)settled, (unsigned long long)sum.opened,
                  (unsigned long long)sum.notes, (unsigned long long)sum.commits, (unsigned long long)sum.syncs,
                  (unsigned long long)sum.written, (unsigned long long)sum.rotations, (unsigned long long)sum.forgotten,
                  (unsigned long long)sum.unfinished);
    check(has_seen_all(&sum), "the lives were too short to mean anything");
}

int main(int argc, char **argv)
{
    if (argc == 7 && strcmp(argv[1], "--live") == 0)
        return live(argv);
    atexit(end_all);
    test_add("after kill -9 what was acknowledged is there, and nothing that was not passed on",
             acknowledged_is_there_and_nothing_that_was_not_passed_on, NULL);
    return test_run("kill", argc, argv);
}
