/*
 * The rule for fork(): a child may call vidi_write and vidi_close on a set in memory when no call was running on it. So
 * a server saves a set in a child while it goes on adding to its own.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/runner.h"
#include "support/streams.h"
#include "support/urls.h"
#include "vidi/transfer.h"

enum { URLS = 2000, SEED = 9 };

static int add_nth(vidi_set *set, uint64_t i)
{
    char room[TEST_URL_ROOM];
    return vidi_add(set, (vidi_str){room, test_url(room, TEST_URL_ROOM, SEED, i)});
}

static int has_nth(const vidi_set *set, uint64_t i)
{
    char room[TEST_URL_ROOM];
    return vidi_has(set, (vidi_str){room, test_url(room, TEST_URL_ROOM, SEED, i)});
}

/* Another thread of the process, which has used the set and is still there at the fork. */
typedef struct other {
    vidi_set *set;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int stage; /* 1: it has added its URLs; 2: it may end */
} other;

static void *add_elsewhere(void *context)
{
    other *self = context;
    for (uint64_t i = URLS / 2; i < URLS; i++)
        (void)add_nth(self->set, i);
    pthread_mutex_lock(&self->lock);
    self->stage = 1;
    pthread_cond_broadcast(&self->changed);
    while (self->stage < 2)
        pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

static int write_file(void *context, const void *data, size_t size)
{
    return fwrite(data, 1, size, context) != size;
}

/* What the child does; nothing of cmocka's. */
static int save(vidi_set *set, FILE *file)
{
    int code = vidi_write(set, write_file, file, 0);
    vidi_close(set);
    return code != VIDI_OK || fflush(file) != 0;
}

static int64_t read_file(void *context, void *data, size_t size)
{
    return (int64_t)fread(data, 1, size, context);
}

static void a_child_can_save_a_set(void **state)
{
    other self = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    FILE *file = tmpfile();
    int status = 0;
    vidi_set *copy = NULL, *set = self.set = test_case_set(*state, URLS, SEED, NULL);
    assert_non_null(file);
    assert_int_equal(pthread_create(&thread, NULL, add_elsewhere, &self), 0);
    for (uint64_t i = 0; i < URLS / 2; i++)
        assert_true(add_nth(set, i) > 0);
    pthread_mutex_lock(&self.lock);
    while (self.stage < 1)
        pthread_cond_wait(&self.changed, &self.lock);
    pthread_mutex_unlock(&self.lock);

    pid_t child = fork();
    if (child == 0)
        _exit(save(set, file));
    assert_true(child > 0);
    for (uint64_t i = URLS; i < URLS + 100; i++) /* the parent goes on, and the child does not see it */
        assert_true(add_nth(set, i) > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status %d", status);

    rewind(file);
    int code = vidi_read(&copy, read_file, file, 0, NULL, NULL);
    check(code == VIDI_OK, "what the child wrote: %d, %s", code, vidi_message());
    for (uint64_t i = 0; i < URLS; i++)
        assert_int_equal(has_nth(copy, i), VIDI_SEEN);
    assert_int_equal(test_stat(copy).answered_new + test_stat(copy).answered_seen, URLS);
    for (uint64_t i = 0; i < URLS + 100; i++)
        assert_int_equal(has_nth(set, i), VIDI_SEEN);
    pthread_mutex_lock(&self.lock);
    self.stage = 2;
    pthread_cond_broadcast(&self.changed);
    pthread_mutex_unlock(&self.lock);
    assert_int_equal(pthread_join(thread, NULL), 0);
    vidi_close(copy);
    vidi_close(set);
    fclose(file);
}

static bool is_plain(const test_case *which)
{
    return !which->params && which->error <= 0;
}

int main(int argc, char **argv)
{
    test_add_cases("a child can save a set", a_child_can_save_a_set, is_plain);
    return test_run("fork", argc, argv);
}
