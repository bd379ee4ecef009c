/* Studies: which there are, and their runs. See study.h. */
#include "lab/study.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"

static const lab_study *const lists[] = {lab_thesis_costs, lab_thesis_further, lab_layers,
                                         lab_notes,        lab_eigen,          lab_kinds};

const lab_study *lab_study_at(size_t index)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const lab_study *study = lists[i]; study->id; study++)
            if (index-- == 0)
                return study;
    return NULL;
}

const lab_study *lab_study_find(const char *id)
{
    const lab_study *study;
    for (size_t i = 0; (study = lab_study_at(i)); i++)
        if (strcmp(study->id, id) == 0)
            return study;
    return NULL;
}

static size_t count_names(const char *const *names)
{
    size_t count = 0;
    while (names[count])
        count++;
    return count;
}

size_t lab_study_rows(const lab_study *study)
{
    return count_names(study->rows);
}

size_t lab_study_columns(const lab_study *study)
{
    return count_names(study->columns);
}

/* ---- runs ---- */

typedef struct crew {
    lab_numbers *numbers;
    size_t cells;
    _Atomic uint64_t next;
    pthread_mutex_t lock; /* of what follows, and of the progress */
    uint64_t done;
    int code;
    char message[256];
} crew;

static void *work(void *context)
{
    crew *crew = context;
    const lab_settings *settings = &crew->numbers->settings;
    for (;;) {
        uint64_t run = atomic_fetch_add(&crew->next, 1);
        if (run >= settings->runs)
            return NULL;
        int code = crew->numbers->study->measure(settings, run, crew->numbers->numbers + run * crew->cells);
        pthread_mutex_lock(&crew->lock);
        if (code < 0 && crew->code == VIDI_OK) {
            crew->code = code;
            snprintf(crew->message, sizeof crew->message, "%s", vidi_message());
            atomic_store(&crew->next, settings->runs);
        }
        if (code == VIDI_OK && settings->progress)
            settings->progress(settings->context, ++crew->done, settings->runs);
        pthread_mutex_unlock(&crew->lock);
    }
}

enum { THREADS_MAX = 256 };

int lab_study_measure(lab_numbers *numbers, const lab_study *study, const lab_settings *settings)
{
    crew crew = {.numbers = numbers, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[THREADS_MAX];
    uint64_t wanted, started = 0;
    *numbers = (lab_numbers){.study = study, .settings = *settings};
    if (study->runs_most && settings->runs > study->runs_most)
        numbers->settings.runs = study->runs_most;
    crew.cells = lab_study_rows(study) * lab_study_columns(study);
    numbers->numbers = calloc(numbers->settings.runs * crew.cells + 1, sizeof(double));
    if (!numbers->numbers)
        return vidi__fail(VIDI_EMEMORY, "no memory for the results of %s", study->id);
    wanted = study->timed ? 1 : settings->threads < numbers->settings.runs ? settings->threads : numbers->settings.runs;
    while (started + 1 < wanted && started < THREADS_MAX && pthread_create(&threads[started], NULL, work, &crew) == 0)
        started++;
    work(&crew);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    return crew.code < 0 ? vidi__fail(crew.code, "%s: %s", study->id, crew.message) : VIDI_OK;
}

void lab_numbers_free(lab_numbers *numbers)
{
    free(numbers->numbers);
    memset(numbers, 0, sizeof *numbers);
}

/* ---- what measuring needs ---- */

vidi_str lab_url_text(char *buffer, const lab_settings *settings, uint64_t run, uint64_t index)
{
    return (vidi_str){buffer, lab_url(buffer, settings, run, index)};
}

int lab_set_make(vidi_set **set, const lab_settings *settings, uint64_t run, const char *kind, const char *params,
                 uint64_t capacity)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    lab_key(key, settings->seed, run);
    options.kind = kind;
    options.params = params;
    options.capacity = capacity;
    options.key = key;
    options.canon = "none";
    return vidi_create(set, &options);
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t lab_thread_time(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t lab_wall_time(void)
{
    return read_clock(CLOCK_MONOTONIC);
}
