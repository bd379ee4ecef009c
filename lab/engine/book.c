/*
 * A book: experiments of both sorts. Configurations are measured first, all together, because they share their hash
 * values; then the studies, one after the other.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/urls/line_streams.h"
#include "lab/engine/run_memory.h"
#include "lab/engine/study.h"
#include "lab/engine/workers.h"

/* What will be measured. */
typedef struct contents {
    lab_config *configs; /* [cell] */
    size_t cells, experiments, studies;
    size_t built; /* cells that can be measured */
} contents;

typedef struct wanted {
    const char *const *ids; /* an empty list stands for all */
    size_t count;
    bool streams; /* whether the settings have streams */
} wanted;

static bool is_named(const wanted *wanted, const char *id)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (strcmp(wanted->ids[i], id) == 0)
            return true;
    return false;
}

static bool is_wanted(const wanted *wanted, const char *id)
{
    return wanted->count == 0 || is_named(wanted, id);
}

/* Studies of streams are wanted if there are streams, or if they are named, which is an error without streams. */
static bool is_study_wanted(const wanted *wanted, const lab_study *study)
{
    bool only_named = study->only_named || (study->streams && !wanted->streams);
    return only_named ? is_named(wanted, study->id) : is_wanted(wanted, study->id);
}

static size_t cells_of(const lab_experiment *experiment)
{
    return lab_lines(experiment->rows) * lab_lines(experiment->columns);
}

static void count_contents(contents *contents, const wanted *wanted)
{
    const lab_experiment *experiment;
    const lab_study *study;
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++)
        if (is_wanted(wanted, experiment->id)) {
            contents->experiments++;
            contents->cells += cells_of(experiment);
        }
    for (size_t i = 0; (study = lab_study_at(i)); i++)
        contents->studies += is_study_wanted(wanted, study);
}

static int make_room(lab_book *book, contents *contents)
{
    size_t tables = contents->experiments + contents->studies;
    book->finding_count = contents->cells;
    book->tables = calloc(tables + 1, sizeof *book->tables);
    book->findings = calloc(contents->cells + 1, sizeof *book->findings);
    book->numbers = calloc(contents->studies + 1, sizeof *book->numbers);
    if (!book->tables || !book->findings || !book->numbers)
        return lab_fail(VIDI_EMEMORY, "no memory for %zu tables", tables);
    return LAB_NEW(contents->configs, contents->cells);
}

static void list_cells(contents *contents, const wanted *wanted)
{
    const lab_experiment *experiment;
    size_t count = 0;
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++)
        for (size_t j = 0; is_wanted(wanted, experiment->id) && j < cells_of(experiment); j++) {
            size_t columns = lab_lines(experiment->columns);
            contents->configs[count] = lab_cell_config(experiment, j / columns, j % columns);
            contents->built += lab_config_built(&contents->configs[count++]);
        }
}

/* ---- before measuring ---- */

static int check_corpus(const lab_settings *settings, const contents *contents)
{
    uint64_t needed = 2 * settings->urls;
    for (size_t i = 0; i < contents->cells; i++)
        if (contents->configs[i].deletes)
            needed = 2 * settings->urls + settings->urls / 2;
    return settings->corpus ? lab_corpus_suffices(settings->corpus, settings->urls, needed) : VIDI_OK;
}

/* Finds missing streams before anything is measured, instead of after an hour. */
static int check_streams(const lab_settings *settings, const wanted *wanted)
{
    const lab_study *study;
    for (size_t i = 0; (study = lab_study_at(i)); i++)
        if (is_study_wanted(wanted, study))
            LAB_TRY(lab_study_ready(study, settings));
    return VIDI_OK;
}

static void name_config(FILE *text, const lab_config *config)
{
    fprintf(text, "%s %u %.17g %u %u %d %d %u %s %d\n", config->functions, config->k, config->multiplier,
            config->members, config->epochs, config->incremental, config->shuffled, config->tenths,
            config->kind ? config->kind : "-", config->deletes);
}

/* Describes everything but the program that determines the numbers of a run: kept runs are found by this text. */
static int name_contents(const lab_settings *settings, const contents *contents, const wanted *wanted)
{
    const lab_study *study;
    char *name = NULL;
    size_t room = 0;
    FILE *text = open_memstream(&name, &room);
    if (!text)
        return lab_fail(VIDI_EMEMORY, "no memory for a book");
    fprintf(text, "%llu URLs, seed %llu, precision %.17g, fault %d, corpus %llx\n", (unsigned long long)settings->urls,
            (unsigned long long)settings->seed, settings->precision, (int)settings->fault,
            settings->corpus ? (unsigned long long)lab_corpus_mark(settings->corpus) : 0);
    if (settings->streams)
        fprintf(text, "streams %llx\n", (unsigned long long)lab_streams_mark(settings->streams));
    if (settings->graph)
        fprintf(text, "graph %llx\n", (unsigned long long)lab_graph_mark(settings->graph));
    for (size_t i = 0; i < contents->cells; i++)
        name_config(text, &contents->configs[i]);
    for (size_t i = 0; wanted && (study = lab_study_at(i)); i++)
        if (is_study_wanted(wanted, study))
            fprintf(text, "%s %zu %zu\n", study->id, lab_study_rows(study), lab_study_columns(study));
    if (fclose(text) == 0)
        lab_keep_begin(settings->keep, name);
    free(name);
    return VIDI_OK;
}

static lab_tally count_work(const lab_settings *settings, const contents *contents, const wanted *wanted)
{
    const lab_study *study;
    lab_tally tally = lab_cells_tally(contents->configs, contents->cells, settings);
    for (size_t i = 0; wanted && (study = lab_study_at(i)); i++)
        if (is_study_wanted(wanted, study)) {
            uint64_t runs = lab_study_runs(study, settings->runs);
            tally.runs += runs;
            tally.work += (double)runs * lab_study_work(study, settings);
        }
    return tally;
}

/* ---- measuring ---- */

/* Restores the list of all cells: those that were not measured have no job. */
static int spread_cells(lab_results *results, const contents *contents)
{
    size_t *job_of = malloc((contents->cells + 1) * sizeof *job_of), from = 0;
    if (!job_of)
        return lab_fail(VIDI_EMEMORY, "no memory for %zu cells", contents->cells);
    for (size_t i = 0; i < contents->cells; i++)
        job_of[i] = lab_config_built(&contents->configs[i]) ? results->job_of[from++] : LAB_NO_JOB;
    free(results->job_of);
    results->job_of = job_of;
    results->cells = contents->cells;
    return VIDI_OK;
}

/* Measures the cells that this build can measure. */
static int measure_built(lab_book *book, const contents *contents)
{
    lab_config *built;
    size_t count = 0;
    LAB_TRY(LAB_NEW(built, contents->cells));
    for (size_t i = 0; i < contents->cells; i++)
        if (lab_config_built(&contents->configs[i]))
            built[count++] = contents->configs[i];
    book->results.settings = book->settings;
    if (contents->built > 0)
        LAB_TRY(lab_measure(&book->results, built, count, &book->settings));
    return spread_cells(&book->results, contents);
}

/* A figure that an overview repeats has one verdict: that of its own table, if the book has it. */
static void take_original(const lab_book *book, lab_finding *finding, size_t before)
{
    for (size_t i = 0; i < before; i++) {
        const lab_finding *own = &book->findings[i];
        if (own->experiment->repeats || !own->printed || strcmp(own->printed, finding->printed) != 0 ||
            !lab_config_same(&own->config, &finding->config))
            continue;
        finding->judged_z = own->judged_z;
        finding->judged_runs = own->judged_runs;
        finding->verdict = own->verdict;
        finding->repeated = true;
    }
}

static int judge_experiment(lab_book *book, const lab_experiment *experiment, size_t first)
{
    size_t columns = lab_lines(experiment->columns), cells = cells_of(experiment);
    for (size_t i = 0; i < cells; i++)
        book->findings[first + i] =
            lab_judge_cell(experiment, i / columns, i % columns, &book->results, first + i, lab_published_all);
    lab_rejudge_by_scatter(book->findings + first, cells);
    for (size_t i = first; i < first + cells && experiment->repeats; i++)
        if (book->findings[i].original && book->findings[i].verdict != LAB_MISPRINT)
            take_original(book, &book->findings[i], first);
    return lab_table_of_findings(&book->tables[book->count++], &book->results, book->findings + first, first, cells);
}

static int measure_configurations(lab_book *book, const contents *contents, const wanted *wanted)
{
    const lab_experiment *experiment;
    if (contents->cells == 0)
        return VIDI_OK;
    LAB_TRY(measure_built(book, contents));
    for (size_t i = 0, first = 0; (experiment = lab_experiment_at(i)); i++)
        if (is_wanted(wanted, experiment->id)) {
            LAB_TRY(judge_experiment(book, experiment, first));
            first += cells_of(experiment);
        }
    return VIDI_OK;
}

static int measure_studies(lab_book *book, const wanted *wanted)
{
    const lab_study *study;
    for (size_t i = 0; (study = lab_study_at(i)); i++) {
        if (!is_study_wanted(wanted, study))
            continue;
        lab_numbers *numbers = &book->numbers[book->study_count++];
        book->settings.part = book->study_count;
        LAB_TRY(lab_study_measure(numbers, study, &book->settings));
        LAB_TRY(lab_table_of_numbers(&book->tables[book->count++], numbers));
    }
    return VIDI_OK;
}

static int measure_all(lab_book *book, contents *contents, const wanted *wanted)
{
    LAB_TRY(make_room(book, contents));
    list_cells(contents, wanted);
    book->tally = count_work(&book->settings, contents, wanted);
    book->settings.tally = &book->tally;
    LAB_TRY(check_corpus(&book->settings, contents));
    LAB_TRY(check_streams(&book->settings, wanted));
    LAB_TRY(name_contents(&book->settings, contents, wanted));
    LAB_TRY(measure_configurations(book, contents, wanted));
    return measure_studies(book, wanted);
}

int lab_book_measure(lab_book *book, const char *const *ids, size_t count, const lab_settings *settings)
{
    wanted wanted = {ids, count, settings->streams != NULL};
    contents contents = {.configs = NULL};
    LAB_BLOCK;
    count_contents(&contents, &wanted);
    *book = (lab_book){.settings = *settings};
    return measure_all(book, &contents, &wanted);
}

int lab_book_measure_cell(lab_book *book, const lab_config *config, const lab_settings *settings)
{
    lab_config configs[1] = {*config};
    contents contents = {.configs = configs, .cells = 1, .built = 1};
    *book = (lab_book){.settings = *settings, .finding_count = 1, .tally = count_work(settings, &contents, NULL)};
    book->settings.tally = &book->tally;
    book->tables = calloc(1, sizeof *book->tables);
    book->findings = calloc(1, sizeof *book->findings);
    if (!book->tables || !book->findings)
        return lab_fail(VIDI_EMEMORY, "no memory for a table");
    LAB_TRY(check_corpus(settings, &contents));
    LAB_TRY(name_contents(settings, &contents, NULL));
    LAB_TRY(lab_measure(&book->results, config, 1, &book->settings));
    book->findings[0] = lab_judge(config, &book->results, 0, NULL);
    book->findings[0].row = book->findings[0].column = "";
    return lab_table_of_findings(&book->tables[book->count++], &book->results, book->findings, 0, 1);
}

/* ---- judging ---- */

/* Whether an earlier cell has the same configuration. */
static bool is_repeated(const lab_results *results, size_t cell)
{
    for (size_t i = 0; i < cell; i++)
        if (results->job_of[i] == results->job_of[cell])
            return true;
    return false;
}

lab_family_test lab_book_judge(const lab_book *book)
{
    size_t room = book->finding_count + 1, count = 0;
    for (size_t i = 0; i < book->count; i++)
        room += book->tables[i].rows * book->tables[i].columns;
    LAB_OWN(lab_release) double *z = malloc(room * sizeof *z);
    if (!z)
        return (lab_family_test){.cells = 0};
    for (size_t i = 0; i < book->finding_count; i++)
        if (!isnan(book->findings[i].z) && !is_repeated(&book->results, i))
            z[count++] = book->findings[i].z;
    for (size_t i = book->count - book->study_count; i < book->count; i++)
        for (size_t j = 0; j < book->tables[i].rows * book->tables[i].columns; j++)
            if (!isnan(book->tables[i].entries[j].z))
                z[count++] = book->tables[i].entries[j].z;
    return lab_judge_family(z, count);
}

void lab_book_free(lab_book *book)
{
    for (size_t i = 0; i < book->count; i++)
        lab_table_free(&book->tables[i]);
    for (size_t i = 0; i < book->study_count; i++)
        lab_numbers_free(&book->numbers[i]);
    lab_results_free(&book->results);
    free(book->tables);
    free(book->findings);
    free(book->numbers);
    memset(book, 0, sizeof *book);
}
