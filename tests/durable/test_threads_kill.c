/*
 * kill -9 of a process in which eight threads add to one set in a folder (witness.h): what was synced is there, nothing is
 * there that nobody had committed, and in each process every URL is NEW to one thread at most.
 *
 *   VIDI_TEST_KILLS   processes (360; 90 under sanitizers; with VIDI_TEST_LONG 5000)
 */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "durable/durable_cases.h"
#include "durable/witness.h"
#include "support/env.h"
#include "support/runner.h"

enum { LIVES = 5 }; /* in one folder */

static const char *const kinds[] = {"fingerprint", "blocked", "hashset"};
static witness *seen; /* shared with the process that is killed */
static witness_shown shown;

static uint64_t lives_to_take(void)
{
    const char *text = getenv("VIDI_TEST_KILLS");
    uint64_t asked = text ? strtoull(text, NULL, 10) : 0;
    return asked ? asked : test_long() ? 5000 : test_sanitized() ? 60 : 180;
}

/* The child. It ends by itself only if it is not killed. */
static _Noreturn void live(const char *path)
{
    if (test_open(&seen->set, path, seen->flags) != VIDI_OK) {
        witness_blame(seen, WITNESS_ERROR);
        _exit(1);
    }
    witness_run(seen);
    _exit(0);
}

static void kill_one(const char *path, uint64_t after)
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        live(path);
    while (atomic_load(&seen->made) < after && waitpid(child, &status, WNOHANG) == 0)
        sched_yield();
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

static void many_lives(uint64_t seed, const char *kind, const test_mode *mode)
{
    char what[100];
    home at;
    test_random random = {seed};
    home_make(&at, kind, strcmp(kind, "fingerprint") == 0 ? "bits=60" : NULL, mode->flags);
    for (uint64_t life = 0; life < LIVES; life++) {
        snprintf(what, sizeof what, "%s, %s, seed %llu, life %llu", kind, mode->name, (unsigned long long)seed,
                 (unsigned long long)life);
        witness_begin(seen, at.set, mode->flags, seed * LIVES + life);
        seen->calls = UINT32_MAX;
        vidi_close(at.set);
        at.set = NULL;
        kill_one(at.path, 1 + test_below(&random, UINT64_C(4) << test_below(&random, 10)));
        witness_check_threads(seen, what);
        vidi_set *reader = must_open(at.path, VIDI_READ_ONLY);
        witness_check(seen, reader, what, &shown);
        vidi_close(reader);
        at.set = must_open(at.path, mode->flags);
        witness_check(seen, at.set, what, &shown);
    }
    home_end(&at);
}

static void what_threads_have_synced_outlives_the_process(void **state)
{
    (void)state;
    size_t n = sizeof kinds / sizeof *kinds;
    for (uint64_t i = 0; i * LIVES < lives_to_take(); i++)
        many_lives(i + 1, kinds[i % n], &test_modes[i / n % TEST_MODES]);
    print_message("# %llu URLs were found, %llu were lost, %llu were not committed\n", (unsigned long long)shown.found,
                  (unsigned long long)shown.lost, (unsigned long long)shown.withheld);
    assert_true(shown.found > 0 && shown.lost > 0 && shown.withheld > 0);
}

int main(int argc, char **argv)
{
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED)
        return 2;
    test_add("what threads have synced outlives the process", what_threads_have_synced_outlives_the_process, NULL);
    return test_run("threads_kill", argc, argv);
}
