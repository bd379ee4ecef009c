#include "support/actor.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/check.h"

/* Small, because a test may start a thousand threads. */
enum { STACK = 256 << 10 };

static void wait_for(sem_t *which)
{
    while (sem_wait(which) != 0)
        continue; /* a signal came */
}

static void *run(void *context)
{
    test_actor *self = context;
    self->id = (pid_t)syscall(SYS_gettid);
    sem_post(&self->end);
    for (;;) {
        wait_for(&self->begin);
        if (!self->task)
            return NULL;
        atomic_store(&self->busy, true);
        self->task(self->context);
        atomic_store(&self->busy, false);
        sem_post(&self->end);
    }
}

bool test_actor_start(test_actor *actor)
{
    pthread_attr_t small;
    memset(actor, 0, sizeof *actor);
    assert_int_equal(sem_init(&actor->begin, 0, 0) | sem_init(&actor->end, 0, 0), 0);
    assert_int_equal(pthread_attr_init(&small) | pthread_attr_setstacksize(&small, STACK), 0);
    bool started = pthread_create(&actor->thread, &small, run, actor) == 0;
    pthread_attr_destroy(&small);
    if (started)
        wait_for(&actor->end);
    return started;
}

void test_actor_end(test_actor *actor)
{
    actor->task = NULL;
    sem_post(&actor->begin);
    pthread_join(actor->thread, NULL);
    sem_destroy(&actor->begin);
    sem_destroy(&actor->end);
}

void test_actor_begin(test_actor *actor, test_task *task, void *context)
{
    actor->task = task;
    actor->context = context;
    sem_post(&actor->begin);
}

void test_actor_wait(test_actor *actor)
{
    wait_for(&actor->end);
}

void test_actor_do(test_actor *actor, test_task *task, void *context)
{
    test_actor_begin(actor, task, context);
    test_actor_wait(actor);
}

/* What the kernel says the thread does: 'S' if it sleeps. */
static char kernel_state(pid_t id)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)id);
    FILE *file = fopen(path, "r");
    if (!file)
        return 'S'; /* without /proc, the test is weaker */
    if (!fgets(line, sizeof line, file))
        line[0] = 0;
    fclose(file);
    const char *after = strrchr(line, ')');
    return after && after[1] ? after[2] : 'S';
}

bool test_actor_sleeps(test_actor *actor)
{
    int ended;
    while (!atomic_load(&actor->busy)) {
        if (sem_getvalue(&actor->end, &ended) == 0 && ended)
            return false;
        sched_yield();
    }
    while (kernel_state(actor->id) != 'S')
        sched_yield();
    return atomic_load(&actor->busy);
}
