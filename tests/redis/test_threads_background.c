/*
 * Large blocks are freed in the background: by another thread, each once, without counting any more; a child process
 * does not wait for that; and where no thread can be started, they are freed all the same.
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/env.h"

#include "redis/server/background.h"
#include "redis/server/memory.h"

enum { SMALL = 1000, LARGE = 100000 };

/* ---- a server's allocator ---- */

static _Atomic uint64_t live;         /* blocks */
static _Atomic uint64_t freed_apart;  /* blocks that another thread than the test's has freed */
static _Atomic bool is_held;          /* as long as this is true, other threads do not get on */
static _Atomic bool others_are_there; /* one of them has tried */
static pthread_t tester;

static void *fake_alloc(size_t bytes)
{
    void *block = malloc(bytes);
    assert_non_null(block);
    live++;
    return block;
}

static void *fake_calloc(size_t count, size_t bytes)
{
    return memset(fake_alloc(count * bytes), 0, count * bytes);
}

static void fake_free(void *block)
{
    if (!pthread_equal(pthread_self(), tester)) {
        others_are_there = true;
        while (is_held)
            sched_yield();
        freed_apart++;
    }
    live--;
    free(block);
}

static void start(void)
{
    server =
        (server_api){.Alloc = fake_alloc, .Calloc = fake_calloc, .Free = fake_free, .MallocSize = malloc_usable_size};
    tester = pthread_self();
    memory_start();
    assert_int_equal(live, 0);
    freed_apart = 0;
    others_are_there = false;
}

static void await_end(void)
{
    while (background_bytes() > 0)
        sched_yield();
    assert_int_equal(live, 0);
}

static void *allocate(memory *memory, size_t bytes)
{
    return memory->allocator.allocate(memory, bytes, 16);
}

static void release(memory *memory, void *block, size_t bytes)
{
    memory->allocator.release(memory, block, bytes, 16);
}

/* ---- cases ---- */

/* Must come first: afterwards there is a thread. */
static void without_a_thread_the_caller_frees(void **state)
{
    int status = 0;
    (void)state;
    if (test_sanitized())
        skip(); /* a sanitizer needs more address space at any time */
    pid_t child = fork();
    if (child == 0) {
        start();
        background_free(fake_alloc(LARGE), LARGE);
        setrlimit(RLIMIT_AS, &(struct rlimit){4096, 4096});
        background_start();
        _exit(live != 0 || freed_apart != 0 || background_bytes() != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void only_large_blocks_are_freed_apart(void **state)
{
    memory memory;
    void *small, *large[3];
    (void)state;
    start();
    memory_init(&memory, 0);
    for (int background = 0; background < 2; background++) {
        assert_non_null(small = allocate(&memory, SMALL));
        for (size_t i = 0; i < 3; i++)
            assert_non_null(large[i] = allocate(&memory, LARGE));
        is_held = true;
        if (background)
            memory_free_in_background();
        release(&memory, small, SMALL);
        for (size_t i = 0; i < 3; i++)
            release(&memory, large[i], LARGE);
        if (background)
            memory_free_at_once();
        assert_int_equal(memory.used, 0);
        assert_int_equal(memory_total(), 0);
        assert_int_equal(live, background ? 4 : 0); /* the list takes a block, too */
        assert_true(background ? background_bytes() >= 3 * LARGE : background_bytes() == 0);
        is_held = false;
        await_end();
        assert_int_equal(freed_apart, background ? 4 : 0);
    }
}

static void *hand_over(void *unused)
{
    for (int i = 0; i < 1200; i++) {
        void *block = fake_alloc(SMALL);
        memset(block, i, SMALL);
        background_free(block, SMALL);
        if (i % 100 == 0)
            background_start();
    }
    background_start();
    return unused;
}

static void threads_hand_over_at_the_same_time(void **state)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    (void)state;
    start();
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hand_over, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    await_end();
    assert_true(freed_apart >= THREADS * 1200);
}

/* As BGSAVE does: the child allocates and frees while the thread of its parent is in the middle of its work. */
static void a_child_does_not_wait(void **state)
{
    memory memory;
    int status = 0;
    (void)state;
    start();
    memory_init(&memory, 0);
    is_held = true;
    background_free(fake_alloc(LARGE), LARGE);
    background_start();
    while (!others_are_there)
        sched_yield();
    background_free(fake_alloc(LARGE), LARGE);
    pid_t child = fork();
    if (child == 0) {
        void *block = allocate(&memory, LARGE);
        release(&memory, block, LARGE);
        _exit(!block || memory.used != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    is_held = false;
    background_start();
    await_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_thread_the_caller_frees),
        cmocka_unit_test(only_large_blocks_are_freed_apart),
        cmocka_unit_test(threads_hand_over_at_the_same_time),
        cmocka_unit_test(a_child_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
