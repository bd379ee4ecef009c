/* The list of studies, their runs, and helpers for measuring. See study.h. */
#include "lab/engine/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "lab/engine/run_memory.h"
#include "lab/engine/workers.h"
#include "lab/urls/line_streams.h"

#define ADDRESS(name) &lab_study_##name,
static const lab_study *const all[] = {LAB_STUDIES(ADDRESS) NULL};

const lab_study *lab_study_at(size_t index)
{
    return index < sizeof all / sizeof *all ? all[index] : NULL;
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

static double *row_of(const lab_numbers *numbers, uint64_t run)
{
    return numbers->numbers + run * lab_study_rows(numbers->study) * lab_study_columns(numbers->study);
}

static size_t row_size(const lab_study *study)
{
    return lab_study_rows(study) * lab_study_columns(study) * sizeof(double);
}

static int run_one(void *context, void *own, uint64_t run)
{
    const lab_numbers *numbers = context;
    const lab_settings *settings = &numbers->settings;
    (void)own;
    LAB_BLOCK;
    if (numbers->study->timed && settings->run_apart)
        return settings->run_apart(settings->apart_context, numbers->study, settings, run, row_of(numbers, run));
    return numbers->study->measure(settings, run, row_of(numbers, run));
}

static void save(void *context, uint64_t run, void *row)
{
    const lab_numbers *numbers = context;
    memcpy(row, row_of(numbers, run), row_size(numbers->study));
}

static void load(void *context, uint64_t run, const void *row)
{
    const lab_numbers *numbers = context;
    memcpy(row_of(numbers, run), row, row_size(numbers->study));
}

uint64_t lab_study_runs(const lab_study *study, uint64_t runs)
{
    return !lab_study_built(study) ? 0 : study->runs_most && runs > study->runs_most ? study->runs_most : runs;
}

double lab_study_work(const lab_study *study, const lab_settings *settings)
{
    double seconds = study->work > 0 ? study->work : 1;
    return lab_work(settings, seconds, lab_study_runs(study, settings->runs), study->timed);
}

int lab_study_ready(const lab_study *study, const lab_settings *settings)
{
    if (!study->streams || settings->streams)
        return VIDI_OK;
    return lab_fail(VIDI_EOPTION, "%s needs streams of URLs: give files with --streams", study->id);
}

/* Gives a study of streams the names of these streams as its rows, in a copy of its own. */
static int take_streams(lab_numbers *numbers)
{
    LAB_TRY(lab_study_ready(numbers->study, &numbers->settings));
    if (!numbers->study->streams)
        return VIDI_OK;
    numbers->own = malloc(sizeof *numbers->own);
    if (!numbers->own)
        return lab_fail(VIDI_EMEMORY, "no memory for the results of %s", numbers->study->id);
    *numbers->own = *numbers->study;
    numbers->own->rows = lab_streams_rows(numbers->settings.streams);
    numbers->study = numbers->own;
    return VIDI_OK;
}

static double work_of(const void *context, uint64_t run)
{
    const lab_numbers *numbers = context;
    (void)run;
    return lab_study_work(numbers->study, &numbers->settings);
}

/* Makes the runs first to last - 1. */
static int run_some(lab_numbers *numbers, uint64_t first, uint64_t last)
{
    const lab_study *study = numbers->study;
    lab_crew crew = {
        .settings = &numbers->settings,
        .first = first,
        .runs = last,
        .threads = study->timed ? 1 : numbers->settings.threads,
        .part = numbers->settings.part,
        .one_process = study->timed && !numbers->settings.run_apart,
        .work_of = work_of,
        .context = numbers,
        .run = run_one,
        .size = row_size(study),
        .save = save,
        .load = load,
    };
    numbers->settings.runs = last;
    return lab_crew_run(&crew);
}

/* The runs that will not be made are no longer part of the whole. */
static void leave_out(const lab_numbers *numbers, uint64_t runs)
{
    lab_tally *tally = numbers->settings.tally;
    if (!tally)
        return;
    tally->runs -= runs;
    tally->work -= (double)runs * work_of(numbers, 0);
}

/*
 * Two stages: a fixed number of first runs, then as many more as they show to be necessary (Stein). Times that must
 * come from one process are measured in one stage.
 */
static int run_in_stages(lab_numbers *numbers, uint64_t most)
{
    const lab_settings *settings = &numbers->settings;
    bool one_stage =
        !(settings->precision > 0) || most <= LAB_FIRST_RUNS || (numbers->study->timed && !settings->run_apart);
    LAB_TRY(run_some(numbers, 0, one_stage ? most : LAB_FIRST_RUNS));
    if (one_stage)
        return VIDI_OK;
    uint64_t runs;
    LAB_TRY(lab_numbers_needed(numbers, most, &runs));
    leave_out(numbers, most - runs);
    return run_some(numbers, LAB_FIRST_RUNS, runs);
}

int lab_study_measure(lab_numbers *numbers, const lab_study *study, const lab_settings *settings)
{
    uint64_t most = lab_study_runs(study, settings->runs);
    *numbers = (lab_numbers){.study = study, .settings = *settings};
    numbers->settings.study = study;
    LAB_TRY(take_streams(numbers));
    numbers->numbers = calloc(most + 1, row_size(numbers->study) + sizeof(double));
    if (!numbers->numbers)
        return lab_fail(VIDI_EMEMORY, "no memory for the results of %s", study->id);
    int code = run_in_stages(numbers, most);
    if (code == VIDI_OK)
        return VIDI_OK;
    char message[256];
    snprintf(message, sizeof message, "%s", vidi_message());
    return lab_fail(code, "%s: %s", study->id, message);
}

void lab_numbers_free(lab_numbers *numbers)
{
    free(numbers->numbers);
    free(numbers->own);
    memset(numbers, 0, sizeof *numbers);
}

/* ---- helpers for measuring ---- */

uint64_t lab_urls_part(const lab_settings *settings, uint64_t part, uint64_t least)
{
    uint64_t urls = settings->urls / part, enough = settings->urls < least ? settings->urls : least;
    return urls < enough ? enough : urls;
}

vidi_str lab_url_text(char *buffer, const lab_settings *settings, uint64_t run, uint64_t index)
{
    return (vidi_str){buffer, lab_url(buffer, settings, run, index)};
}

int lab_set_make_with(vidi_set **set, const lab_settings *settings, uint64_t run, vidi_options options)
{
    unsigned char key[VIDI_KEY_BYTES];
    lab_key(key, settings->seed, run);
    options.key = key;
    options.canon = "none";
    return vidi_create(set, &options);
}

int lab_set_make(vidi_set **set, const lab_settings *settings, uint64_t run, const char *kind, const char *params,
                 uint64_t capacity)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    options.kind = kind;
    options.params = params;
    options.capacity = capacity;
    return lab_set_make_with(set, settings, run, options);
}

uint64_t lab_thread_time(void)
{
    return clock_read(CLOCK_THREAD_CPUTIME_ID);
}
