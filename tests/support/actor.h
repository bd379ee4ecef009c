/*
 * Threads that a test directs: each does one thing at a time, when the test says so. So a test can put the steps of
 * several threads in any order, without sleeping.
 */
#ifndef TESTS_SUPPORT_ACTOR_H
#define TESTS_SUPPORT_ACTOR_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

typedef void test_task(void *context);

typedef struct test_actor {
    pthread_t thread;
    sem_t begin, end;
    test_task *task; /* NULL: the thread shall end */
    void *context;
    pid_t id;
    _Atomic bool busy; /* it has begun the task, and has not ended it */
} test_actor;

/* False if the system allows no more threads. */
bool test_actor_start(test_actor *actor);
void test_actor_end(test_actor *actor);

/* Begins a task; waits for its end; both. */
void test_actor_begin(test_actor *actor, test_task *task, void *context);
void test_actor_wait(test_actor *actor);
void test_actor_do(test_actor *actor, test_task *task, void *context);

/* Waits until the actor sleeps in its task, or has ended it. False: it has ended it. */
bool test_actor_sleeps(test_actor *actor);

#endif
