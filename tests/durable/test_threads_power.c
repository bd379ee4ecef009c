/*
 * The power fails while eight threads add to one set in a folder (witness.h): the process dies at some call of the system,
 * and of what was not synced the disk keeps any part (support/disk.h). What was synced is there, and nothing is there
 * that nobody had committed. The next process goes on with one of the folders that may be left.
 */
#include "durable/durable_cases.h"
#include "durable/witness.h"
#include "support/disk.h"
#include "support/env.h"
#include "support/runner.h"

enum { LIVES = 4, STATES = 5, CALLS = 400 };

static const char *const kinds[] = {"fingerprint", "blocked", "hashset"};
static const test_mode *mode;
static test_scratch folder, left;
static witness seen;
static witness_shown shown;
static uint64_t states, deaths;

static void make(vidi_set **set, const char *kind)
{
    unsigned char key[VIDI_KEY_BYTES];
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    test_key(key, 1);
    test_use(&options, &access, mode->flags);
    options.kind = kind;
    options.params = strcmp(kind, "fingerprint") == 0 ? "bits=60" : NULL;
    options.capacity = 20000;
    options.error = 1e-9;
    options.key = key;
    options.path = folder.path;
    must(vidi_create(set, &options));
}

/* One folder that the power failure may have left. */
static void survives(uint64_t how, const char *what)
{
    vidi_set *set = NULL;
    vidi_recovery found = {.size = sizeof found};
    disk_crash_state(how, &left);
    int code = test_open(&set, left.path, VIDI_READ_ONLY);
    check(code == VIDI_OK, "%s, power failure %llu: %d, %s", what, (unsigned long long)how, code, vidi_message());
    must(vidi_recovered(set, &found));
    check(!found.damaged_bytes && !found.missing_files, "%s: a power failure is taken for damage", what);
    witness_check(&seen, set, what, &shown);
    must(vidi_verify(set));
    vidi_close(set);
    states++;
}

/* A process, from its opening to its death. The threads go on until they notice it. */
static void live(test_random *random)
{
    vidi_set *before = must_open(folder.path, VIDI_READ_ONLY);
    witness_begin(&seen, before, mode->flags, test_next(random) % 100000);
    vidi_close(before);
    seen.set = must_open(folder.path, mode->flags);
    seen.calls = CALLS;
    seen.is_over = disk_killed;
    disk_kill(1 + test_below(random, UINT64_C(4) << test_below(random, 7)));
    witness_run(&seen);
    deaths += disk_killed();
    if (!disk_killed())
        disk_kill(1); /* not even its end is of use */
    vidi_close(seen.set);
    disk_revive();
}

/* The folder that is left is the one of the next process. */
static void swap_folders(void)
{
    test_scratch other = folder;
    disk_end();
    folder = left;
    left = other;
    disk_begin(&folder);
}

static void many_lives(uint64_t seed, const char *kind)
{
    char what[100];
    test_random random = {seed};
    test_scratch_empty(&folder);
    disk_begin(&folder);
    make(&seen.set, kind);
    vidi_close(seen.set);
    for (int life = 0; life < LIVES; life++) {
        live(&random);
        snprintf(what, sizeof what, "%s, %s, seed %llu, life %d", kind, mode->name, (unsigned long long)seed, life);
        witness_check_threads(&seen, what);
        for (uint64_t i = 0; i < STATES; i++)
            survives(i < 2 ? i : test_next(&random) | 2, what);
        swap_folders();
    }
    disk_end();
}

static void what_threads_have_synced_survives_a_power_failure(void **state)
{
    (void)state;
    size_t n = sizeof kinds / sizeof *kinds;
    uint64_t rounds = n * TEST_MODES * (test_long() ? 200 : test_sanitized() ? 1 : 4);
    for (uint64_t i = 0; i < rounds; i++) {
        mode = &test_modes[i / n % TEST_MODES];
        many_lives(i + 1, kinds[i % n]);
    }
    print_message("# %llu states after %llu deaths: %llu URLs were found, %llu were lost, %llu were not committed\n",
                  (unsigned long long)states, (unsigned long long)deaths, (unsigned long long)shown.found,
                  (unsigned long long)shown.lost, (unsigned long long)shown.withheld);
    assert_true(deaths > rounds && shown.found > 0 && shown.lost > 0 && shown.withheld > 0);
}

int main(int argc, char **argv)
{
    test_scratch_make(&folder);
    test_scratch_make(&left);
    test_add("what threads have synced survives a power failure", what_threads_have_synced_survives_a_power_failure,
             NULL);
    int result = test_run("threads_power", argc, argv);
    test_scratch_remove(&left);
    test_scratch_remove(&folder);
    return result;
}
