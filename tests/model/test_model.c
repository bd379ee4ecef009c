/*
 * The model checker: sequences of calls at random, over the whole interface, with faults of memory, disk, process and
 * power at random places, and now and then by several threads at once. After every call, everything that can be seen of the set is compared with a model (truth.h).
 *
 *     truth.c      the model: what must be seen, by vidi.h alone
 *     universe.c   the URLs
 *     calls_*.c    the calls, and what each means to the model
 *     faults.c     what goes wrong
 *     views.c      what is compared: the open set and what it writes,
 *     folders.c    readers beside it, copies of its folder, and what power failures leave
 *     life.c       how the set is made, opened and killed
 *
 * A sequence follows from its seed alone, and each step of it from the seed and the step's number, so steps can be left
 * out. When a sequence fails, steps are left out as long as it still fails, and the rest is printed. To see it again:
 *
 *     test_model_model --seed 17                 all of its steps, with a trace
 *     test_model_model --seed 17 --only 3,4,9    these
 *
 * VIDI_MODEL_SEED is the first seed, VIDI_MODEL_SEQUENCES their number.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/world.h"
#include "support/env.h"
#include "support/runner.h"

enum { STEPS = 60, PER_PROCESS = 40 };

model_shown *model_shown_now;
bool model_speaks;

static model_world world;
static bool left_out[STEPS + 1];

/* ---- the trace ---- */

void model_say(model_world *of, const char *format, ...)
{
    va_list list;
    if (!model_speaks)
        return;
    va_start(list, format);
    printf("%llu.%u  ", (unsigned long long)of->seed, of->step);
    vprintf(format, list);
    printf("\n");
    va_end(list);
}

_Noreturn void model_fail(const model_world *of, const char *format, ...)
{
    char sentence[2000];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    snprintf(model_shown_now->sentence, sizeof model_shown_now->sentence, "step %u: %s", of->step, sentence);
    if (model_speaks)
        printf("FAILED at step %u: %s\n", of->step, sentence);
    fflush(stdout);
    _exit(1);
}

/* ---- one sequence ---- */

/* The numbers of a step do not depend on those of the steps before it. */
static void begin_step(unsigned step)
{
    world.step = step;
    world.random = (test_random){test_mix(world.seed * 1000 + step)};
}

static void run_sequence(uint64_t seed, unsigned steps)
{
    model_shown_now->seed = seed;
    model_begin(&world, seed);
    model_compare(&world);
    for (unsigned step = 1; step <= steps; step++) {
        if (left_out[step])
            continue;
        begin_step(step);
        model_make_call(&world);
        if (model_chance(&world, 10)) /* comparing may mend what a fault has left undone */
            model_make_call(&world);
        model_compare(&world);
        model_shown_now->steps++;
    }
    model_end(&world);
    model_shown_now->sequences++;
}

static void make_folders(void)
{
    model_universe_make();
    test_scratch_make(&world.folder);
    test_scratch_make(&world.copy);
    test_scratch_make(&world.other);
}

static void remove_folders(void)
{
    test_scratch_remove(&world.folder);
    test_scratch_remove(&world.copy);
    test_scratch_remove(&world.other);
}

/* ---- many, in processes of their own ---- */

/* Runs sequences in a child, which may crash. True if all went well; otherwise model_shown_now has the seed. */
static bool run_apart(uint64_t seed, uint64_t sequences, unsigned steps, bool speaks)
{
    int status = 0;
    fflush(stdout);
    *model_shown_now->sentence = 0;
    pid_t child = fork();
    if (child == 0) {
        model_speaks = speaks;
        for (uint64_t i = 0; i < sequences; i++)
            run_sequence(seed + i, steps);
        fflush(stdout);
        _exit(0);
    }
    check(child > 0 && waitpid(child, &status, 0) == child, "no process for the sequences");
    test_scratch_empty(&world.folder);
    if (WIFSIGNALED(status))
        snprintf(model_shown_now->sentence, sizeof model_shown_now->sentence, "signal %d", WTERMSIG(status));
    return status == 0;
}

/* The number of the step that a failure's sentence names. */
static unsigned failing_step(void)
{
    unsigned step = STEPS;
    (void)sscanf(model_shown_now->sentence, "step %u", &step);
    return step;
}

/* Leaves out steps, many at a time and then single ones, as long as the sequence still fails. */
static unsigned shrink(uint64_t seed)
{
    unsigned last = failing_step();
    for (unsigned size = last / 2 ? last / 2 : 1; size; size /= 2) {
        for (unsigned at = 1; at < last; at += size) {
            bool kept[STEPS + 1];
            memcpy(kept, left_out, sizeof kept);
            for (unsigned i = at; i < at + size && i < last; i++)
                left_out[i] = true;
            if (run_apart(seed, 1, last, false))
                memcpy(left_out, kept, sizeof kept);
            else
                last = failing_step() < last ? failing_step() : last;
        }
    }
    return last;
}

static void report(uint64_t seed)
{
    char first[sizeof model_shown_now->sentence];
    uint64_t steps = model_shown_now->steps;
    memcpy(first, model_shown_now->sentence, sizeof first);
    unsigned last = shrink(seed);
    printf("# seed %llu, after %llu steps in all: %s\n# the steps that it takes: --seed %llu --only ",
           (unsigned long long)seed, (unsigned long long)steps, first, (unsigned long long)seed);
    for (unsigned i = 1; i <= last; i++)
        if (!left_out[i])
            printf("%u%s", i, i < last ? "," : "\n");
    run_apart(seed, 1, last, true);
    fail_msg("seed %llu: %s; with fewer steps: %s", (unsigned long long)seed, first, model_shown_now->sentence);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void the_whole_interface_keeps_to_the_model(void **state)
{
    (void)state;
    uint64_t first = number_from("VIDI_MODEL_SEED", 1);
    uint64_t wanted = number_from("VIDI_MODEL_SEQUENCES", test_long() ? 200000 : test_sanitized() ? 40 : 120);
    for (uint64_t done = 0; done < wanted; done += PER_PROCESS) {
        uint64_t n = wanted - done < PER_PROCESS ? wanted - done : PER_PROCESS;
        if (!run_apart(first + done, n, STEPS, false))
            report(model_shown_now->seed);
    }
    const model_shown *shown = model_shown_now;
    print_message("# %d sequences, %d steps: %d met refused memory, %d a failing disk, %d were killed; %d power "
                  "failures; %d calls failed\n",
                  (int)shown->sequences, (int)shown->steps, (int)shown->refused, (int)shown->failed, (int)shown->killed,
                  (int)shown->powerless, (int)shown->errors);
    assert_true(shown->refused > wanted / 4 && shown->failed > wanted / 4 && shown->killed > wanted / 4);
}

/* ---- one again ---- */

static void keep_only(const char *list)
{
    memset(left_out, true, sizeof left_out);
    for (char *end; *list; list = *end ? end + 1 : end) {
        unsigned long step = strtoul(list, &end, 10);
        if (step <= STEPS)
            left_out[step] = false;
    }
}

static int run_again(int argc, char **argv)
{
    model_speaks = true;
    if (argc > 4 && strcmp(argv[3], "--only") == 0)
        keep_only(argv[4]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    run_sequence(strtoull(argv[2], NULL, 10), STEPS);
    printf("all went well\n");
    return 0;
}

int main(int argc, char **argv)
{
    model_shown_now = mmap(NULL, sizeof *model_shown_now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (model_shown_now == MAP_FAILED)
        return 2;
    make_folders();
    int result;
    if (argc > 2 && strcmp(argv[1], "--seed") == 0) {
        result = run_again(argc, argv);
    } else {
        test_add("the whole interface keeps to the model", the_whole_interface_keeps_to_the_model, NULL);
        result = test_run("model", argc, argv);
    }
    remove_folders();
    return result;
}
