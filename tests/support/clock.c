#include "support/clock.h"

#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

/* A waiting thread. Lives on the stack of that thread. */
typedef struct sleeper {
    pthread_cond_t *condition;
    pthread_mutex_t *lock; /* the lock of the condition */
    uint64_t until;
    uint64_t round; /* in which it began to wait */
    struct sleeper *next;
} sleeper;

/*
 * A sleeper enters the list and begins to wait without releasing its own lock in between. So a thread that has found a
 * sleeper in the list, takes that lock and signals is certain to wake it. No thread takes a sleeper's lock while it
 * holds this one.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* signalled when the list changes */
static sleeper *sleepers;
static uint64_t time_now;
static uint64_t rounds; /* of test_clock_settle */

/* False if that time has already come. */
static bool enter(sleeper *self)
{
    pthread_mutex_lock(&lock);
    bool sleeps = self->until > time_now;
    if (sleeps) {
        self->round = rounds;
        self->next = sleepers;
        sleepers = self;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return sleeps;
}

static void leave(const sleeper *self)
{
    sleeper **at = &sleepers;
    pthread_mutex_lock(&lock);
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    pthread_mutex_unlock(&lock);
}

static void wait_on_clock(pthread_cond_t *condition, pthread_mutex_t *its_lock, uint64_t until)
{
    sleeper self = {condition, its_lock, until, 0, NULL};
    if (!enter(&self))
        return;
    pthread_cond_wait(condition, its_lock);
    leave(&self);
}

static const vidi__clock standing = {.now = test_clock_now, .wait = wait_on_clock};

void test_clock_begin(void)
{
    time_now = 1000 * TEST_SECOND;
    vidi__clock_now = &standing;
}

void test_clock_end(void)
{
    vidi__clock_now = &vidi__clock_real;
}

uint64_t test_clock_now(void)
{
    pthread_mutex_lock(&lock);
    uint64_t now = time_now;
    pthread_mutex_unlock(&lock);
    return now;
}

static void wake(const sleeper *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_lock(list[i].lock);
        pthread_cond_broadcast(list[i].condition);
        pthread_mutex_unlock(list[i].lock);
    }
}

/* Moves the clock and copies the sleepers whose time has come. Returns their number. */
static size_t move(uint64_t nanoseconds, sleeper *due, size_t room)
{
    size_t count = 0;
    pthread_mutex_lock(&lock);
    time_now += nanoseconds;
    for (const sleeper *at = sleepers; at; at = at->next)
        if (at->until <= time_now && count < room)
            due[count++] = *at;
    pthread_mutex_unlock(&lock);
    return count;
}

void test_clock_forward(uint64_t nanoseconds)
{
    sleeper due[16];
    wake(due, move(nanoseconds, due, sizeof due / sizeof *due));
}

static unsigned asleep_until(uint64_t until)
{
    unsigned count = 0;
    for (const sleeper *at = sleepers; at; at = at->next)
        count += at->until == until;
    return count;
}

unsigned test_clock_sleepers(uint64_t until)
{
    pthread_mutex_lock(&lock);
    unsigned count = asleep_until(until);
    pthread_mutex_unlock(&lock);
    return count;
}

void test_clock_await(uint64_t until, unsigned threads)
{
    pthread_mutex_lock(&lock);
    while (asleep_until(until) < threads)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* ---- settling ---- */

/* The number of threads of this process. A thread that has ended is not among them, even if nobody has joined it. */
static size_t threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    size_t count = 0;
    for (const struct dirent *task; tasks && (task = readdir(tasks)) != NULL;)
        count += task->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

/* Begins a round and copies all sleepers. Returns their number. */
static size_t begin_round(sleeper *list, size_t room)
{
    size_t count = 0;
    pthread_mutex_lock(&lock);
    rounds++;
    for (const sleeper *at = sleepers; at && count < room; at = at->next)
        list[count++] = *at;
    pthread_mutex_unlock(&lock);
    return count;
}

static bool all_have_looked(size_t others)
{
    size_t looked = 0;
    pthread_mutex_lock(&lock);
    for (const sleeper *at = sleepers; at; at = at->next)
        looked += at->round == rounds;
    pthread_mutex_unlock(&lock);
    return looked == others;
}

void test_clock_settle(void)
{
    sleeper list[16];
    wake(list, begin_round(list, sizeof list / sizeof *list));
    while (!all_have_looked(threads() - 1))
        sched_yield();
}
