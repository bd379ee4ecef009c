/*
 * Forks of a process that writes to a set in a folder: the lock ends with the writer, whatever children it has left,
 * and a child cannot use what is not its own.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "durable/durable_cases.h"
#include "support/access.h"
#include "support/runner.h"
#include "support/streams.h"

/* A child that lives until the test lets it end. */
typedef struct child {
    pid_t id;
    int pipe[2];
} child;

/* Returns when the child runs: until then it still has its copy of the lock file. */
static child start_with(pid_t (*make)(void))
{
    child made;
    int ready[2];
    char byte;
    assert_true(pipe(made.pipe) == 0 && pipe(ready) == 0);
    made.id = make();
    assert_true(made.id >= 0);
    if (made.id == 0) {
        close(made.pipe[1]);
        (void)!write(ready[1], "x", 1);
        _exit(read(made.pipe[0], &byte, 1) != 0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    close(made.pipe[0]);
    return made;
}

static child start(void)
{
    return start_with(fork);
}

static void finish(const child *made)
{
    int status;
    close(made->pipe[1]);
    assert_int_equal(waitpid(made->id, &status, 0), made->id);
    assert_int_equal(status, 0);
}

static void a_child_does_not_keep_the_lock(void **state)
{
    (void)state;
    for (unsigned manual = 0; manual < 2; manual++) {
        home at;
        home_make(&at, "fingerprint", NULL, manual ? VIDI_MANUAL_COMMIT : 0);
        add_all(at.set, 0, 100, VIDI_NEW);
        must(vidi_commit(at.set));
        child one = start();
        vidi_set *second;
        assert_int_equal(vidi_open(&second, at.path, NULL), VIDI_EBUSY); /* the parent still has it */
        vidi_close(at.set);
        at.set = must_open(at.path, 0);
        child other = start(); /* also of a set that was opened */
        home_reopen(&at, 0);
        all_are(at.set, 0, 100, VIDI_SEEN);
        add_all(at.set, 100, 100, VIDI_NEW);
        finish(&other); /* it has a copy of the first one's pipe */
        finish(&one);
        home_end(&at);
    }
}

/* _Fork calls no handlers: its child is as others are before they run for the first time. */
static void not_even_before_it_runs(void **state)
{
    (void)state;
    home at;
    home_make(&at, "fingerprint", NULL, 0);
    add_all(at.set, 0, 100, VIDI_NEW);
    child one = start_with(_Fork);
    home_reopen(&at, 0);
    all_are(at.set, 0, 100, VIDI_SEEN);
    finish(&one);
    home_end(&at);
}

/* The writer is killed and leaves a child: the next writer must not wait for that. */
static void the_lock_ends_with_its_process(void **state)
{
    (void)state;
    home at;
    int status, ready[2], life[2];
    char byte;
    home_make(&at, "fingerprint", NULL, 0);
    vidi_close(at.set);
    at.set = NULL;
    assert_true(pipe(ready) == 0 && pipe(life) == 0);
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        vidi_set *set;
        close(life[1]);
        if (vidi_open(&set, at.path, NULL) != VIDI_OK || add_nth(set, 1) != VIDI_NEW || vidi_sync(set) != VIDI_OK)
            _exit(1);
        if (fork() == 0) { /* lives on when the writer is dead */
            close(ready[0]);
            (void)!write(ready[1], "x", 1);
            _exit(read(life[0], &byte, 1) != 0);
        }
        for (;;)
            pause();
    }
    close(life[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(kill(writer, SIGKILL), 0);
    assert_int_equal(waitpid(writer, &status, 0), writer);
    at.set = must_open(at.path, 0);
    all_are(at.set, 1, 1, VIDI_SEEN);
    close(life[1]);
    close(ready[0]);
    close(ready[1]);
    home_end(&at);
}

static int visit(void *context, const vidi_entry *entry)
{
    (void)context;
    (void)entry;
    return 0;
}

/* Every call on the parent's set; returns the number of the first that does anything else than refuse. */
static int use_all(vidi_set *set)
{
    char room[TEST_URL_ROOM], note[16];
    vidi_str url = nth(room, 1);
    uint8_t verdict = VIDI_UNTRIED;
    vidi_digest digest = {0};
    uint64_t number, mark;
    double odds;
    size_t len = sizeof note;
    vidi_stats stats = {.size = sizeof stats};
    vidi_epoch_stats past = {.size = sizeof past};
    vidi_recovery recovery = {.size = sizeof recovery};
    vidi_options like = VIDI_OPTIONS_INIT;
    test_stream stream = {0};
    vidi_set *memory = NULL, *made = NULL;
    like.like = set;
    vidi_options hashset = VIDI_OPTIONS_INIT;
    hashset.kind = "hashset";
    if (vidi_create(&memory, &hashset) != VIDI_OK)
        return 99;
    const int results[] = {
        vidi_add(set, url),
        vidi_add_batch(set, &url, 1, &verdict, NULL),
        vidi_add_batch(set, &url, 1, &verdict, &mark),
        vidi_has(set, url),
        vidi_has_batch(set, &url, 1, &verdict),
        vidi_has_previous(set, url),
        vidi_digest_batch(set, &url, 1, &digest, &verdict, &number),
        vidi_digest_canonical(set, &url, 1, &digest, &verdict, &number),
        vidi_odds(set, &odds),
        vidi_add_digests(set, 0, &digest, 1, &verdict, NULL),
        vidi_add_digests(set, 0, &digest, 1, &verdict, &mark),
        vidi_has_digests(set, 0, &digest, 1, &verdict),
        vidi_remove(set, url),
        vidi_count(set, url, &number),
        vidi_commit(set),
        vidi_commit_to(set, 0),
        vidi_commit_note(set, 0, url),
        vidi_note(set, note, &len),
        vidi_mark(set, &mark),
        vidi_sync(set),
        vidi_snapshot(set),
        vidi_recovered(set, &recovery),
        vidi_rotate(set, NULL),
        vidi_drop_previous(set),
        vidi_merge(set, memory, 0),
        vidi_merge(memory, set, 0),
        vidi_iterate(set, visit, NULL),
        test_step(set, 1),
        vidi_expect(set, 1),
        vidi_stat(set, &stats),
        vidi_epoch_stat(set, 0, &past),
        vidi_write(set, test_stream_sink, &stream, 0),
        vidi_create(&made, &like),
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i] != VIDI_ECANNOT)
            return (int)i + 1;
    if (!strstr(vidi_message(), "child of the one that opened the set"))
        return 98;
    vidi_close(set);
    vidi_close(memory);
    return 0;
}

static void a_child_cannot_use_the_set(void **state)
{
    home at;
    int status;
    home_make(&at, *state, NULL, VIDI_MANUAL_COMMIT);
    add_all(at.set, 0, 100, VIDI_NEW);
    must(vidi_commit(at.set));
    pid_t id = fork();
    assert_true(id >= 0);
    if (id == 0)
        _exit(use_all(at.set));
    assert_int_equal(waitpid(id, &status, 0), id);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "call %d was not refused", WEXITSTATUS(status));
    add_all(at.set, 100, 100, VIDI_NEW); /* nothing has happened to the parent's set */
    must(vidi_commit(at.set));
    must(vidi_sync(at.set));
    vidi_set *copy = home_crashed(&at, VIDI_READ_ONLY);
    all_are(copy, 0, 200, VIDI_SEEN);
    vidi_close(copy);
    home_end(&at);
}

/* A child opens sets of its own, also the parent's once that has closed it; and so do its children. */
static void a_child_can_open_sets_itself(void **state)
{
    (void)state;
    home at;
    int status;
    home_make(&at, "fingerprint", NULL, 0);
    add_all(at.set, 0, 10, VIDI_NEW);
    vidi_close(at.set);
    at.set = NULL;
    for (int depth = 0; depth < 2; depth++) {
        pid_t id = fork();
        assert_true(id >= 0);
        if (id == 0) {
            vidi_set *set;
            if (vidi_open(&set, at.path, NULL) != VIDI_OK)
                _exit(1);
            if (has_nth(set, 3) != VIDI_SEEN || add_nth(set, 100 + (uint64_t)depth) != VIDI_NEW)
                _exit(2);
            vidi_close(set);
            _exit(0);
        }
        assert_int_equal(waitpid(id, &status, 0), id);
        assert_int_equal(status, 0);
    }
    at.set = must_open(at.path, 0);
    all_are(at.set, 100, 2, VIDI_SEEN);
    home_end(&at);
}

int main(int argc, char **argv)
{
    static char hashset[] = "hashset", fingerprint[] = "fingerprint";
    test_add("a child does not keep the lock", a_child_does_not_keep_the_lock, NULL);
    test_add("a child does not keep the lock before it runs", not_even_before_it_runs, NULL);
    test_add("the lock ends with its process", the_lock_ends_with_its_process, NULL);
    test_add("a child cannot use the set: fingerprint", a_child_cannot_use_the_set, fingerprint);
    test_add("a child cannot use the set: hashset", a_child_cannot_use_the_set, hashset);
    test_add("a child can open sets itself", a_child_can_open_sets_itself, NULL);
    return test_run("fork durable", argc, argv);
}
