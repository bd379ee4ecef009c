/*
 * Runs, on several threads. Each run is one task and writes its own row of the results, so that it does not matter
 * which thread takes it or when.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lab/bench.h"

typedef struct crew {
    const lab_plan *plan;
    lab_results *results;
    _Atomic uint64_t next; /* the run that nobody has taken yet */
    pthread_mutex_t lock;  /* of what follows, and of the progress */
    uint64_t done;
    int code;
    char message[256];
} crew;

static void report(crew *crew, int code)
{
    const lab_settings *settings = &crew->results->settings;
    pthread_mutex_lock(&crew->lock);
    if (code < 0 && crew->code == VIDI_OK) {
        crew->code = code;
        snprintf(crew->message, sizeof crew->message, "%s", vidi_message());
    }
    if (code == VIDI_OK && settings->progress)
        settings->progress(settings->context, ++crew->done, settings->runs);
    pthread_mutex_unlock(&crew->lock);
    if (code < 0)
        atomic_store(&crew->next, settings->runs);
}

static void *work(void *context)
{
    crew *crew = context;
    lab_results *results = crew->results;
    lab_bench *bench;
    int code = lab_bench_make(&bench, crew->plan, &results->settings);
    if (code < 0)
        report(crew, code);
    while (code == VIDI_OK) {
        uint64_t run = atomic_fetch_add(&crew->next, 1);
        if (run >= results->settings.runs)
            break;
        code =
            lab_bench_run(bench, run, results->counts + run * results->jobs, results->marked + run * results->filters);
        report(crew, code);
    }
    lab_bench_free(bench);
    return NULL;
}

enum { THREADS_MAX = 256 };

static int run_all(lab_results *results, const lab_plan *plan)
{
    crew crew = {.plan = plan, .results = results, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[THREADS_MAX];
    uint64_t wanted =
        results->settings.threads < results->settings.runs ? results->settings.threads : results->settings.runs;
    size_t started = 0;
    while (started + 1 < wanted && started < THREADS_MAX && pthread_create(&threads[started], NULL, work, &crew) == 0)
        started++;
    work(&crew);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    return crew.code < 0 ? vidi__fail(crew.code, "%s", crew.message) : VIDI_OK;
}

/* What the raw figures are called by. */
static void describe(lab_results *results, const lab_plan *plan)
{
    for (size_t i = 0; i < plan->job_count; i++) {
        const lab_job *job = &plan->jobs[i];
        results->filters_of[i] = job->count;
        for (unsigned j = 0; j < job->count; j++) {
            const lab_array *array = &plan->arrays[job->arrays[j]];
            const lab_family *family = &plan->families[array->family];
            results->filter_of[i * LAB_FILTERS_MAX + j] = (lab_filter){family->epoch, family->member, job->arrays[j]};
        }
    }
}

static int prepare(lab_results *results, const lab_plan *plan)
{
    uint64_t runs = results->settings.runs;
    results->jobs = plan->job_count;
    results->filters = plan->array_count;
    results->job_of = malloc((results->cells + 1) * sizeof *results->job_of);
    results->counts = calloc(runs * results->jobs + 1, sizeof *results->counts);
    results->marked = calloc(runs * results->filters + 1, sizeof *results->marked);
    results->filters_of = calloc(results->jobs + 1, sizeof *results->filters_of);
    results->filter_of = calloc(results->jobs * LAB_FILTERS_MAX + 1, sizeof *results->filter_of);
    if (!results->job_of || !results->counts || !results->marked || !results->filters_of || !results->filter_of)
        return vidi__fail(VIDI_EMEMORY, "no memory for the results of %llu runs", (unsigned long long)runs);
    memcpy(results->job_of, plan->job_of, results->cells * sizeof *results->job_of);
    describe(results, plan);
    return VIDI_OK;
}

int lab_measure(lab_results *results, const lab_config *cells, size_t count, const lab_settings *settings)
{
    lab_plan plan;
    *results = (lab_results){.settings = *settings, .cells = count};
    int code = settings->urls > UINT32_MAX || settings->runs > UINT32_MAX
                   ? vidi__fail(VIDI_EOPTION, "runs and URLs must each be at most 4294967295")
                   : VIDI_OK;
    VIDI__TRY(code);
    code = lab_plan_make(&plan, cells, count);
    if (code == VIDI_OK)
        code = prepare(results, &plan);
    if (code == VIDI_OK)
        code = run_all(results, &plan);
    lab_plan_free(&plan);
    return code;
}

void lab_results_free(lab_results *results)
{
    free(results->job_of);
    free(results->counts);
    free(results->marked);
    free(results->filters_of);
    free(results->filter_of);
    memset(results, 0, sizeof *results);
}

uint64_t lab_total(const lab_results *results, size_t cell)
{
    uint64_t sum = 0;
    for (uint64_t run = 0; run < results->settings.runs; run++)
        sum += lab_count(results, run, cell);
    return sum;
}
