/* The names of experiments and claims that a command line asks for: whole names, or patterns as in a shell. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lab/program/program.h"
#include "ui/options.h"

const char *lab_experiment_name(const void *context, size_t index)
{
    const lab_experiment *experiment = lab_experiment_at(index);
    size_t experiments = 0;
    (void)context;
    if (experiment)
        return experiment->id;
    while (lab_experiment_at(experiments))
        experiments++;
    const lab_study *study = lab_study_at(index - experiments);
    return study ? study->id : NULL;
}

const char *lab_claim_name(const void *context, size_t index)
{
    const lab_claim *claim = lab_claim_at(index);
    (void)context;
    return claim ? claim->id : NULL;
}

static bool is_pattern(const char *word)
{
    return strpbrk(word, "*?[") != NULL;
}

static bool has(const cli_words *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->list[i], name) == 0)
            return true;
    return false;
}

size_t lab_names_add(cli_words *names, const char *word, lab_name_at *next)
{
    const char *name;
    size_t matches = 0;
    for (size_t i = 0; (name = next(NULL, i)); i++) {
        if (is_pattern(word) ? fnmatch(word, name, 0) != 0 : strcmp(word, name) != 0)
            continue;
        matches++;
        if (!has(names, name))
            names->list[names->count++] = (char *)name;
    }
    return matches;
}

static int no_such_name(const char *word, lab_name_at *next)
{
    const char *what = next == lab_claim_name ? "claim" : "experiment";
    const char *lists = next == lab_claim_name ? "" : "; 'vidi lab list' names them";
    const char *nearest = is_pattern(word) ? NULL : cli_nearest(word, next, NULL);
    if (is_pattern(word))
        return cli_error("no %s matches '%s'%s", what, word, lists);
    if (nearest)
        return cli_error("there is no %s '%s'; did you mean '%s'?", what, word, nearest);
    return cli_error("there is no %s '%s'%s", what, word, lists);
}

int lab_names_make(cli_words *names, cli_words words, lab_name_at *next)
{
    size_t all = 0;
    while (next(NULL, all))
        all++;
    *names = (cli_words){calloc(all + 1, sizeof *names->list), 0};
    if (!names->list)
        return cli_error("out of memory");
    for (size_t i = 0; i < words.count; i++)
        if (lab_names_add(names, words.list[i], next) == 0)
            return no_such_name(words.list[i], next);
    return CLI_OK;
}
