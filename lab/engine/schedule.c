/* Makes a plan for a list of cells: finds or adds jobs, families and arrays one by one, then sorts. See schedule.h. */
#include "lab/engine/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"

static bool same_family(const lab_family *a, const lab_family *b)
{
    return strcmp(a->functions, b->functions) == 0 && a->spatial == b->spatial && a->shuffled == b->shuffled &&
           a->epoch == b->epoch && a->member == b->member && (!a->different || a->k == b->k);
}

static size_t find_family(lab_plan *plan, const lab_family *wanted)
{
    size_t i = 0;
    while (i < plan->family_count && !same_family(&plan->families[i], wanted))
        i++;
    if (i == plan->family_count)
        plan->families[plan->family_count++] = *wanted;
    if (plan->families[i].k < wanted->k)
        plan->families[i].k = wanted->k;
    return i;
}

static size_t find_array(lab_plan *plan, const lab_array *wanted)
{
    size_t i = 0;
    for (; i < plan->array_count; i++) {
        const lab_array *array = &plan->arrays[i];
        if (array->family == wanted->family && array->k == wanted->k && array->multiplier <= wanted->multiplier &&
            array->multiplier >= wanted->multiplier)
            return i;
    }
    plan->arrays[plan->array_count++] = *wanted;
    return i;
}

static void add_job(lab_plan *plan, const lab_config *config)
{
    lab_job *job = &plan->jobs[plan->job_count++];
    job->config = *config;
    if (config->kind)
        return; /* measured with a set */
    for (unsigned epoch = 0; epoch < config->epochs; epoch++)
        for (unsigned member = 0; member < config->members; member++) {
            lab_family family = {
                .spatial = config->members > 1,
                .shuffled = config->shuffled && epoch > 0,
                .epoch = epoch,
                .member = member,
                .k = config->k,
                .multiplier = config->multiplier,
            };
            lab_functions_of(config, epoch * config->members + member, family.functions);
            family.different = lab_functions_unsalted(family.functions);
            lab_array array = {find_family(plan, &family), config->k, config->multiplier, 0};
            job->arrays[job->count++] = find_array(plan, &array);
        }
}

static int by_filter(const void *a, const void *b)
{
    const lab_family *x = a, *y = b;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    return x->first < y->first ? -1 : 1;
}

/* Orders the families by crawl and member, and otherwise as they were found; updates the arrays. */
static int sort_families(lab_plan *plan)
{
    size_t *now;
    LAB_TRY(LAB_NEW(now, plan->family_count));
    for (size_t i = 0; i < plan->family_count; i++)
        plan->families[i].first = i;
    qsort(plan->families, plan->family_count, sizeof *plan->families, by_filter);
    for (size_t i = 0; i < plan->family_count; i++) {
        now[plan->families[i].first] = i;
        plan->families[i].first = 0;
    }
    for (size_t i = 0; i < plan->array_count; i++)
        plan->arrays[i].family = now[plan->arrays[i].family];
    return VIDI_OK;
}

static int by_family(const void *a, const void *b)
{
    const lab_array *x = a, *y = b;
    if (x->family != y->family)
        return x->family < y->family ? -1 : 1;
    if (x->k != y->k)
        return x->k < y->k ? -1 : 1;
    return (x->multiplier > y->multiplier) - (x->multiplier < y->multiplier);
}

/* Puts the arrays of a family next to each other, and updates the jobs. */
static int sort_arrays(lab_plan *plan)
{
    lab_array *before;
    LAB_TRY(LAB_NEW(before, plan->array_count));
    memcpy(before, plan->arrays, plan->array_count * sizeof *before);
    qsort(plan->arrays, plan->array_count, sizeof *plan->arrays, by_family);
    for (size_t i = 0; i < plan->job_count; i++)
        for (unsigned j = 0; j < plan->jobs[i].count; j++) {
            size_t *at = &plan->jobs[i].arrays[j];
            const lab_array *found =
                bsearch(&before[*at], plan->arrays, plan->array_count, sizeof *plan->arrays, by_family);
            *at = (size_t)(found - plan->arrays);
        }
    for (size_t i = plan->array_count; i-- > 0;) {
        lab_family *family = &plan->families[plan->arrays[i].family];
        family->first = i;
        family->last = family->last ? family->last : i + 1;
    }
    return VIDI_OK;
}

/* Filters that share all functions and have no salts are one filter; those that share some need theory of their own. */
static int check_functions(const lab_config *config)
{
    char names[LAB_FUNCTIONS_ROOM];
    unsigned filters = config->members * config->epochs, lists = lab_functions_lists(config->functions);
    unsigned kept = lab_functions_kept(config);
    if (strlen(config->functions) >= LAB_FUNCTIONS_ROOM)
        return lab_fail(VIDI_EOPTION, "'%s' names too many hash functions", config->functions);
    if (lists > 1 && lists != filters)
        return lab_fail(VIDI_EOPTION, "'%s' gives hash functions to %u filters, but there are %u in all crawls",
                        config->functions, lists, filters);
    for (unsigned i = 0; i < lists && filters > 1; i++)
        if (lab_functions_unsalted(lab_functions_of(config, i, names)) && lab_functions_count(names) != config->k)
            return lab_fail(VIDI_EOPTION, "'%s' are not %u functions, as k says", names, config->k);
    if (kept == config->k)
        return lab_fail(VIDI_EOPTION, "different functions have no salts to tell filters or crawls apart by; give one "
                                      "function, or other functions for each filter, as in a+b|c+d");
    if (kept > 0 && (filters > 2 || config->incremental))
        return lab_fail(VIDI_EOPTION, "filters without salts that share a function must be two and not incremental");
    return VIDI_OK;
}

static void raise_to(uint64_t *runs, uint64_t wanted)
{
    *runs = *runs < wanted ? wanted : *runs;
}

static void set_runs(lab_plan *plan, const lab_settings *settings)
{
    for (size_t i = 0; i < plan->job_count; i++) {
        lab_job *job = &plan->jobs[i];
        job->runs = lab_config_runs(&job->config, settings);
        for (unsigned j = 0; j < job->count; j++)
            raise_to(&plan->arrays[job->arrays[j]].runs, job->runs);
    }
    for (size_t i = 0; i < plan->array_count; i++)
        raise_to(&plan->families[plan->arrays[i].family].runs, plan->arrays[i].runs);
}

static int check(const lab_config *config)
{
    if (config->members < 1 || config->members > LAB_MEMBERS_MAX)
        return lab_fail(VIDI_EOPTION, "there can be 1 to %d filters, not %u", LAB_MEMBERS_MAX, config->members);
    if (config->epochs < 1 || config->epochs > LAB_EPOCHS_MAX)
        return lab_fail(VIDI_EOPTION, "there can be 1 to %d crawls, not %u", LAB_EPOCHS_MAX, config->epochs);
    LAB_TRY(check_functions(config));
    if (config->kind && (config->members > 1 || config->epochs > 1 || config->incremental))
        return lab_fail(VIDI_EOPTION, "a cell of kind %s has one filter and one crawl and is not incremental",
                        config->kind);
    return VIDI_OK;
}

int lab_plan_make(lab_plan *plan, const lab_config *cells, size_t count, const lab_settings *settings)
{
    memset(plan, 0, sizeof *plan);
    size_t filters = 1;
    for (size_t i = 0; i < count; i++) {
        LAB_TRY(check(&cells[i]));
        filters += (size_t)cells[i].members * cells[i].epochs;
    }
    LAB_TRY(LAB_NEW(plan->families, filters));
    LAB_TRY(LAB_NEW(plan->arrays, filters));
    LAB_TRY(LAB_NEW(plan->jobs, count));
    LAB_TRY(LAB_NEW(plan->job_of, count));
    for (size_t i = 0; i < count; i++) {
        size_t job = 0;
        while (job < plan->job_count && !lab_config_same(&plan->jobs[job].config, &cells[i]))
            job++;
        plan->job_of[i] = job;
        if (job == plan->job_count)
            add_job(plan, &cells[i]);
    }
    if (plan->array_count > 0) {
        LAB_TRY(sort_families(plan));
        LAB_TRY(sort_arrays(plan));
    }
    set_runs(plan, settings);
    return VIDI_OK;
}
