/* Threads that take runs from a common list. See workers.h. */
#include "lab/engine/workers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"

enum { THREADS_MAX = 256 };

typedef struct team {
    const lab_crew *crew;
    bool *done;            /* [run] */
    _Atomic uint64_t next; /* the next run to take */
    pthread_mutex_t lock;  /* guards the fields below, keeping, and progress */
    lab_tally own, *tally;
    void *row;
    int code;
    char message[256];
} team;

static void keep_run(team *team, uint64_t run)
{
    const lab_crew *crew = team->crew;
    if (!crew->settings->keep)
        return;
    crew->save(crew->context, run, team->row);
    lab_keep_add(crew->settings->keep, crew->part, run, team->row, crew->size);
}

static void fail(team *team, int code)
{
    if (team->code == VIDI_OK) {
        team->code = code;
        snprintf(team->message, sizeof team->message, "%s", code == LAB_STOPPED ? "stopped" : vidi_message());
    }
    atomic_store(&team->next, team->crew->runs);
}

static void report(team *team, uint64_t run, int code)
{
    const lab_settings *settings = team->crew->settings;
    pthread_mutex_lock(&team->lock);
    if (code < 0) {
        fail(team, code);
    } else {
        if (!team->crew->one_process)
            keep_run(team, run);
        team->tally->done++;
        team->tally->work_done += team->crew->work_of(team->crew->context, run);
        if (settings->progress)
            settings->progress(settings->context, team->tally);
    }
    pthread_mutex_unlock(&team->lock);
}

/* The next run that has to be made, or the number of runs if none is left. */
static uint64_t take(team *team)
{
    uint64_t run;
    do
        run = atomic_fetch_add(&team->next, 1);
    while (run < team->crew->runs && team->done[run]);
    return run;
}

static void *work(void *context)
{
    team *team = context;
    const lab_crew *crew = team->crew;
    void *own = NULL;
    LAB_BLOCK;
    uint64_t run = take(team);
    if (run >= crew->runs)
        return NULL;
    int code = crew->begin ? crew->begin(crew->context, &own) : VIDI_OK;
    if (code < 0)
        report(team, run, code);
    for (; code == VIDI_OK && run < crew->runs; run = take(team)) {
        code = lab_stopped(crew->settings) ? LAB_STOPPED : crew->run(crew->context, own, run);
        report(team, run, code);
    }
    return NULL;
}

/* Loads the runs that an earlier process has kept. */
static void load(team *team)
{
    const lab_crew *crew = team->crew;
    uint64_t run, found = 0, wanted = crew->runs - crew->first;
    size_t at = 0;
    const void *row;
    while ((row = lab_keep_next(crew->settings->keep, &at, crew->part, crew->size, &run)))
        if (run >= crew->first && run < crew->runs) {
            crew->load(crew->context, run, row);
            found += !team->done[run];
            team->done[run] = true;
        }
    if (crew->one_process && found < wanted)
        memset(team->done, 0, crew->runs * sizeof *team->done);
    for (run = crew->first; run < crew->runs; run++)
        if (team->done[run]) {
            team->tally->done++;
            team->tally->work -= crew->work_of(crew->context, run);
        }
    if (found == wanted)
        atomic_store(&team->next, crew->runs);
}

static int run_all(team *team)
{
    const lab_crew *crew = team->crew;
    pthread_t threads[THREADS_MAX];
    uint64_t runs = crew->runs - crew->first, wanted = crew->threads < runs ? crew->threads : runs;
    size_t started = 0;
    load(team);
    bool all_kept = atomic_load(&team->next) == crew->runs;
    while (started + 1 < wanted && started < THREADS_MAX && pthread_create(&threads[started], NULL, work, team) == 0)
        started++;
    work(team);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    for (uint64_t run = crew->first; crew->one_process && !all_kept && team->code == VIDI_OK && run < crew->runs; run++)
        keep_run(team, run);
    return team->code < 0 ? lab_fail(team->code, "%s", team->message) : VIDI_OK;
}

int lab_crew_run(const lab_crew *crew)
{
    team team = {.crew = crew, .next = crew->first, .lock = PTHREAD_MUTEX_INITIALIZER};
    team.own = (lab_tally){.runs = crew->runs - crew->first};
    for (uint64_t run = crew->first; run < crew->runs; run++)
        team.own.work += crew->work_of(crew->context, run);
    team.tally = crew->settings->tally ? crew->settings->tally : &team.own;
    team.done = calloc(crew->runs + 1, sizeof *team.done);
    team.row = malloc(crew->size + 1);
    int code = team.done && team.row ? run_all(&team) : lab_fail(VIDI_EMEMORY, "no memory for the results of the runs");
    free(team.done);
    free(team.row);
    return code;
}

double lab_work(const lab_settings *settings, double seconds, uint64_t runs, bool timed)
{
    uint64_t threads = timed ? 1 : settings->threads < runs ? settings->threads : runs;
    return seconds * (double)settings->urls / 1e6 / (double)(threads ? threads : 1);
}
