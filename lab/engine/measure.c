/* Measuring configurations: makes the plan for them and its runs. */
#include <stdlib.h>
#include <string.h>

#include "lab/engine/filter_run.h"
#include "lab/engine/run_memory.h"
#include "lab/engine/workers.h"
#include "lab/engine/study.h"
#include "lib/inside/inside.h"

typedef struct measurement {
    const lab_plan *plan;
    lab_results *results;
} measurement;

static int begin(void *context, void **own)
{
    const measurement *measurement = context;
    lab_bench *bench;
    int code = lab_bench_make(&bench, measurement->plan, &measurement->results->settings);
    *own = bench;
    return code;
}

static uint64_t *counts_of(const lab_results *results, uint64_t run)
{
    return results->counts + run * results->jobs;
}

static uint64_t *marked_of(const lab_results *results, uint64_t run)
{
    return results->marked + run * results->filters;
}

static int run_one(void *context, void *own, uint64_t run)
{
    const lab_results *results = ((const measurement *)context)->results;
    return lab_bench_run(own, run, counts_of(results, run), marked_of(results, run));
}

/* A row of kept figures: the counts, then the numbers of bits set. */
static void save(void *context, uint64_t run, void *row)
{
    const lab_results *results = ((const measurement *)context)->results;
    memcpy(row, counts_of(results, run), results->jobs * sizeof *results->counts);
    memcpy((uint64_t *)row + results->jobs, marked_of(results, run), results->filters * sizeof *results->marked);
}

static void load(void *context, uint64_t run, const void *row)
{
    const lab_results *results = ((const measurement *)context)->results;
    const char *marked = (const char *)row + results->jobs * sizeof *results->counts;
    memcpy(counts_of(results, run), row, results->jobs * sizeof *results->counts);
    memcpy(marked_of(results, run), marked, results->filters * sizeof *results->marked);
}

/* Work of a run: 1e6 URLs take half a second, and each cell a twenty-fifth. */
static double cells_work(const lab_settings *settings, size_t cells, uint64_t runs)
{
    return lab_work(settings, 0.5 + 0.04 * (double)cells, runs, false);
}

static double work_of(const void *context, uint64_t run)
{
    const lab_results *results = ((const measurement *)context)->results;
    size_t cells = 0;
    for (size_t i = 0; i < results->cells; i++)
        cells += run < lab_cell_runs(results, i);
    return cells_work(&results->settings, cells, results->settings.runs);
}

/* Each run takes half a second and each cell its part, so the runs of each cell can be added up. */
lab_tally lab_cells_tally(const lab_config *cells, size_t count, const lab_settings *settings)
{
    lab_tally tally = {.runs = 0};
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t runs = lab_config_built(&cells[i]) ? lab_config_runs(&cells[i], settings) : 0;
        tally.runs = tally.runs < runs ? runs : tally.runs;
        all += runs;
    }
    double empty = cells_work(settings, 0, tally.runs);
    tally.work = (double)tally.runs * empty + (double)all * (cells_work(settings, 1, tally.runs) - empty);
    return tally;
}

static int run_all(lab_results *results, const lab_plan *plan)
{
    const lab_settings *settings = &results->settings;
    measurement measurement = {plan, results};
    lab_crew crew = {
        .settings = settings,
        .runs = settings->runs,
        .threads = settings->threads,
        .part = settings->part,
        .work_of = work_of,
        .context = &measurement,
        .begin = begin,
        .run = run_one,
        .size = (results->jobs + results->filters) * sizeof(uint64_t),
        .save = save,
        .load = load,
    };
    return lab_crew_run(&crew);
}

/* Names the filters of each job, for the raw figures, and its number of runs. */
static void describe(lab_results *results, const lab_plan *plan)
{
    for (size_t i = 0; i < plan->job_count; i++) {
        const lab_job *job = &plan->jobs[i];
        results->filters_of[i] = job->count;
        results->runs_of[i] = job->runs;
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
    results->runs_of = calloc(results->jobs + 1, sizeof *results->runs_of);
    results->filters_of = calloc(results->jobs + 1, sizeof *results->filters_of);
    results->filter_of = calloc(results->jobs * LAB_FILTERS_MAX + 1, sizeof *results->filter_of);
    if (!results->job_of || !results->counts || !results->marked || !results->runs_of || !results->filters_of ||
        !results->filter_of)
        return lab_fail(VIDI_EMEMORY, "no memory for the results of %llu runs", (unsigned long long)runs);
    memcpy(results->job_of, plan->job_of, results->cells * sizeof *results->job_of);
    describe(results, plan);
    return VIDI_OK;
}

int lab_measure(lab_results *results, const lab_config *cells, size_t count, const lab_settings *settings)
{
    lab_plan plan;
    LAB_BLOCK;
    *results = (lab_results){.settings = *settings, .cells = count};
    if (settings->urls > UINT32_MAX || settings->runs > UINT32_MAX)
        return lab_fail(VIDI_EOPTION, "runs and URLs must each be at most 4294967295");
    results->settings.runs = 0;
    LAB_TRY(lab_plan_make(&plan, cells, count, settings));
    for (size_t i = 0; i < plan.job_count; i++)
        if (results->settings.runs < plan.jobs[i].runs)
            results->settings.runs = plan.jobs[i].runs;
    LAB_TRY(prepare(results, &plan));
    return run_all(results, &plan);
}

bool lab_config_built(const lab_config *config)
{
    return lab_functions_built(config->functions);
}

bool lab_study_built(const lab_study *study)
{
    return (!study->needs || lab_functions_built(study->needs)) && (!study->has || study->has());
}

void lab_results_free(lab_results *results)
{
    free(results->job_of);
    free(results->counts);
    free(results->marked);
    free(results->runs_of);
    free(results->filters_of);
    free(results->filter_of);
    memset(results, 0, sizeof *results);
}

uint64_t lab_total(const lab_results *results, size_t cell)
{
    uint64_t sum = 0;
    for (uint64_t run = 0; run < lab_cell_runs(results, cell); run++)
        sum += lab_count(results, run, cell);
    return sum;
}
