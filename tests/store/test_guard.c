/*
 * The guard of mappings: a mapped file that vanishes costs a flag and not the process, and every other SIGBUS goes
 * where it would have gone.
 *
 * The handler is installed once and for ever, so each test runs in a process of its own, in which nothing is installed.
 */
#include "store/guard.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/folder.h"
#include "support/runner.h"
#include "vidi/vidi.h"

enum { PAGES = 8 };

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* A file of some pages full of ones, mapped. */
typedef struct mapping {
    int file;
    volatile unsigned char *start;
    size_t bytes;
    const _Atomic bool *lost;
} mapping;

#define MUST(what)                                                                                                     \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            static const char message[] = "not so: " #what "\n";                                                       \
            if (write(STDERR_FILENO, message, sizeof message - 1) < 0)                                                 \
                _exit(98);                                                                                             \
            _exit(99);                                                                                                 \
        }                                                                                                              \
    } while (0)

static mapping map_pages(size_t pages)
{
    char path[] = "/tmp/vidi_guard_XXXXXX";
    mapping made = {.file = mkstemp(path), .bytes = pages * page()};
    MUST(made.file >= 0 && unlink(path) == 0 && ftruncate(made.file, (off_t)made.bytes) == 0);
    void *start = mmap(NULL, made.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made.file, 0);
    MUST(start != MAP_FAILED);
    memset(start, 1, made.bytes);
    made.start = start;
    return made;
}

static mapping guarded(size_t pages)
{
    mapping made = map_pages(pages);
    MUST(vidi__guard_add((const void *)made.start, made.bytes, &made.lost) == VIDI_OK);
    MUST(!*made.lost);
    return made;
}

static void cut(const mapping *what, size_t pages)
{
    MUST(ftruncate(what->file, (off_t)(pages * page())) == 0);
}

/* Runs `body` in a child, and returns how that ended. */
static int run_alone(void (*body)(void))
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGBUS, SIG_DFL); /* a sanitizer has a handler of its own */
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void must_succeed(void (*body)(void))
{
    int status = run_alone(body);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with status %d", status);
}

static void must_die(void (*body)(void))
{
    int status = run_alone(body);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS, "the child ended with status %d", status);
}

/* ---- ranges of our own ---- */

static void read_behind_the_end(void)
{
    mapping one = guarded(PAGES), other = guarded(PAGES);
    cut(&one, 3);
    MUST(one.start[3 * page() - 1] == 1 && !*one.lost); /* what is still there is still read */
    MUST(one.start[5 * page() + 77] == 0 && *one.lost);
    MUST(one.start[6 * page()] == 0 && one.start[8 * page() - 1] == 0);
    MUST(one.start[3 * page()] == 0); /* before the first fault */
    MUST(one.start[0] == 1);
    MUST(!*other.lost && other.start[7 * page()] == 1);
    vidi__guard_remove((const void *)one.start);
    MUST(munmap((void *)one.start, one.bytes) == 0);
    cut(&other, 0);
    MUST(other.start[0] == 0 && *other.lost);
}

static void what_is_lost_reads_as_zeros_and_is_told(void **state)
{
    (void)state;
    must_succeed(read_behind_the_end);
}

static void lose_many(void)
{
    enum { MANY = 300 };
    static mapping list[MANY];
    for (size_t i = 0; i < MANY; i++)
        list[i] = guarded(1);
    for (size_t i = 0; i < MANY; i += 3)
        vidi__guard_remove((const void *)list[i].start);
    for (size_t i = 0; i < MANY; i += 3)
        MUST(vidi__guard_add((const void *)list[i].start, list[i].bytes, &list[i].lost) == VIDI_OK);
    for (size_t i = 0; i < MANY; i++) {
        cut(&list[i], 0);
        MUST(!*list[i].lost);
        MUST(list[i].start[i] == 0 && *list[i].lost);
    }
}

static void any_number_of_mappings_is_guarded(void **state)
{
    (void)state;
    must_succeed(lose_many);
}

static void remove_nothing(void)
{
    mapping one = guarded(1);
    vidi__guard_remove(NULL);
    vidi__guard_remove((const char *)one.start + 1);
    cut(&one, 0);
    MUST(one.start[0] == 0 && *one.lost);
}

static void only_what_was_registered_is_removed(void **state)
{
    (void)state;
    must_succeed(remove_nothing);
}

static mapping shared;

static void *read_all(void *context)
{
    uint64_t *sum = context;
    for (size_t at = 0; at < shared.bytes; at += 512)
        *sum += shared.start[at];
    return NULL;
}

static void lose_in_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    uint64_t sums[THREADS] = {0};
    shared = guarded(2000);
    cut(&shared, 1000);
    for (size_t i = 0; i < THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, read_all, &sums[i]) == 0);
    for (size_t i = 0; i < THREADS; i++)
        MUST(pthread_join(threads[i], NULL) == 0 && sums[i] == 1000 * page() / 512);
    MUST(*shared.lost);
}

static void any_thread_may_meet_the_end(void **state)
{
    (void)state;
    must_succeed(lose_in_threads);
}

/* ---- what is not ours ---- */

static sigjmp_buf back;
static const volatile void *faulted;
static volatile int called;
static volatile bool blocked;

static void jump_back(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    faulted = info->si_addr;
    called++;
    siglongjmp(back, 1);
}

static void with_foreign_handler(void)
{
    struct sigaction action = {.sa_sigaction = jump_back, .sa_flags = SA_SIGINFO};
    MUST(sigaction(SIGBUS, &action, NULL) == 0);
    mapping ours = guarded(PAGES), foreign = map_pages(PAGES);
    cut(&ours, 0);
    cut(&foreign, 0);
    for (int i = 1; i <= 3; i++) {
        if (sigsetjmp(back, 1) == 0) {
            MUST(foreign.start[page() * (size_t)i] == 99);
            MUST(false);
        }
        MUST(called == i && faulted == foreign.start + page() * (size_t)i && !*ours.lost);
    }
    MUST(ours.start[page()] == 0 && *ours.lost && called == 3);
    if (sigsetjmp(back, 1) == 0) {
        MUST(kill(getpid(), SIGBUS) == 0);
        MUST(false);
    }
    MUST(called == 4);
}

static void a_foreign_fault_reaches_the_foreign_handler(void **state)
{
    (void)state;
    must_succeed(with_foreign_handler);
}

static void note_call(int number)
{
    sigset_t now;
    sigemptyset(&now);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    blocked = sigismember(&now, SIGUSR2) == 1 && sigismember(&now, number) == 0;
    called++;
}

/* An old handler that asks for SIGUSR2 to be blocked, and SIGBUS not. */
static void with_old_handler(void)
{
    struct sigaction action = {.sa_handler = note_call, .sa_flags = SA_NODEFER};
    sigset_t now;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR2);
    MUST(sigaction(SIGBUS, &action, NULL) == 0);
    mapping ours = guarded(1);
    MUST(raise(SIGBUS) == 0 && called == 1 && blocked && !*ours.lost);
    sigemptyset(&now);
    MUST(pthread_sigmask(SIG_SETMASK, NULL, &now) == 0);
    MUST(sigismember(&now, SIGUSR2) == 0 && sigismember(&now, SIGBUS) == 0);
}

static void an_old_handler_gets_what_it_asked_for(void **state)
{
    (void)state;
    must_succeed(with_old_handler);
}

static void fault_elsewhere(void)
{
    mapping ours = guarded(PAGES), foreign = map_pages(PAGES);
    cut(&foreign, 0);
    MUST(!*ours.lost);
    _exit(foreign.start[0]);
}

static void fault_after_removal(void)
{
    mapping one = guarded(PAGES);
    vidi__guard_remove((const void *)one.start);
    cut(&one, 0);
    _exit(one.start[0]);
}

static void send(void)
{
    mapping ours = guarded(PAGES);
    kill(getpid(), SIGBUS);
    _exit(ours.start[0] == 1 ? 3 : 4);
}

static void fault_though_ignored(void)
{
    signal(SIGBUS, SIG_IGN);
    fault_elsewhere();
}

static void send_though_ignored(void)
{
    signal(SIGBUS, SIG_IGN);
    mapping ours = guarded(PAGES);
    MUST(kill(getpid(), SIGBUS) == 0 && ours.start[0] == 1);
    cut(&ours, 0);
    MUST(ours.start[0] == 0 && *ours.lost);
}

static void without_a_foreign_handler_it_still_kills(void **state)
{
    (void)state;
    must_die(fault_elsewhere);
    must_die(fault_after_removal);
    must_die(send);
    must_die(fault_though_ignored);
    must_succeed(send_though_ignored);
}

int main(int argc, char **argv)
{
    test_add("what is lost reads as zeros and is told", what_is_lost_reads_as_zeros_and_is_told, NULL);
    test_add("any number of mappings is guarded", any_number_of_mappings_is_guarded, NULL);
    test_add("only what was registered is removed", only_what_was_registered_is_removed, NULL);
    test_add("any thread may meet the end", any_thread_may_meet_the_end, NULL);
    test_add("a foreign fault reaches the foreign handler", a_foreign_fault_reaches_the_foreign_handler, NULL);
    test_add("an old handler gets what it asked for", an_old_handler_gets_what_it_asked_for, NULL);
    test_add("without a foreign handler it still kills", without_a_foreign_handler_it_still_kills, NULL);
    return test_run("guard", argc, argv);
}
