/*
 * A book: experiments of both sorts, measured one after the other. Configurations come first, all at once, since they
 * share their hash values; then study after study.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lab/study.h"

typedef struct wanted {
    const char *const *ids; /* none: all */
    size_t count;
} wanted;

static bool is_wanted(const wanted *wanted, const char *id)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (strcmp(wanted->ids[i], id) == 0)
            return true;
    return wanted->count == 0;
}

static size_t cells_of(const lab_experiment *experiment)
{
    return lab_lines(experiment->rows) * lab_lines(experiment->columns);
}

static int make_room(lab_book *book, const wanted *wanted)
{
    const lab_experiment *experiment;
    const lab_study *study;
    size_t tables = 1, studies = 0;
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++)
        if (is_wanted(wanted, experiment->id)) {
            tables++;
            book->finding_count += cells_of(experiment);
        }
    for (size_t i = 0; (study = lab_study_at(i)); i++)
        studies += is_wanted(wanted, study->id);
    book->tables = calloc(tables + studies, sizeof *book->tables);
    book->findings = calloc(book->finding_count + 1, sizeof *book->findings);
    book->numbers = calloc(studies + 1, sizeof *book->numbers);
    if (!book->tables || !book->findings || !book->numbers)
        return vidi__fail(VIDI_EMEMORY, "no memory for %zu tables", tables + studies);
    return VIDI_OK;
}

static int judge_experiment(lab_book *book, const lab_experiment *experiment, size_t first)
{
    size_t columns = lab_lines(experiment->columns), cells = cells_of(experiment);
    for (size_t i = 0; i < cells; i++)
        book->findings[first + i] =
            lab_judge_cell(experiment, i / columns, i % columns, &book->results, first + i, lab_published_all);
    return lab_table_of_findings(&book->tables[book->count++], &book->results, book->findings + first, first, cells);
}

static int measure_configurations(lab_book *book, const wanted *wanted)
{
    const lab_experiment *experiment;
    size_t count = 0;
    if (book->finding_count == 0)
        return VIDI_OK;
    lab_config *configs = calloc(book->finding_count, sizeof *configs);
    if (!configs)
        return vidi__fail(VIDI_EMEMORY, "no memory for %zu cells", book->finding_count);
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++)
        for (size_t j = 0; is_wanted(wanted, experiment->id) && j < cells_of(experiment); j++) {
            size_t columns = lab_lines(experiment->columns);
            configs[count++] = lab_cell_config(experiment, j / columns, j % columns);
        }
    int code = lab_measure(&book->results, configs, count, &book->settings);
    free(configs);
    for (size_t i = 0, first = 0; code == VIDI_OK && (experiment = lab_experiment_at(i)); i++)
        if (is_wanted(wanted, experiment->id)) {
            code = judge_experiment(book, experiment, first);
            first += cells_of(experiment);
        }
    return code;
}

static int measure_studies(lab_book *book, const wanted *wanted)
{
    const lab_study *study;
    for (size_t i = 0; (study = lab_study_at(i)); i++) {
        if (!is_wanted(wanted, study->id))
            continue;
        lab_numbers *numbers = &book->numbers[book->study_count++];
        VIDI__TRY(lab_study_measure(numbers, study, &book->settings));
        VIDI__TRY(lab_table_of_numbers(&book->tables[book->count++], numbers));
    }
    return VIDI_OK;
}

int lab_book_measure(lab_book *book, const char *const *ids, size_t count, const lab_settings *settings)
{
    wanted wanted = {ids, count};
    *book = (lab_book){.settings = *settings};
    VIDI__TRY(make_room(book, &wanted));
    VIDI__TRY(measure_configurations(book, &wanted));
    return measure_studies(book, &wanted);
}

int lab_book_measure_cell(lab_book *book, const lab_config *config, const lab_settings *settings)
{
    *book = (lab_book){.settings = *settings, .finding_count = 1};
    book->tables = calloc(1, sizeof *book->tables);
    book->findings = calloc(1, sizeof *book->findings);
    if (!book->tables || !book->findings)
        return vidi__fail(VIDI_EMEMORY, "no memory for a table");
    VIDI__TRY(lab_measure(&book->results, config, 1, settings));
    book->findings[0] = lab_judge(config, &book->results, 0, NULL);
    book->findings[0].row = book->findings[0].column = "";
    return lab_table_of_findings(&book->tables[book->count++], &book->results, book->findings, 0, 1);
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
