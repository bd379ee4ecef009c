/*
 * The list of cases that are known to differ: lines "SUITE <tab> CASE", and remarks that begin with '#'. A program
 * reads those of one suite.
 */
#ifndef TESTS_CONFORMANCE_EXCEPTIONS_H
#define TESTS_CONFORMANCE_EXCEPTIONS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { EXCEPTIONS_MAX = 1024, EXCEPTION_BYTES = 8192 };

typedef struct exception {
    char *line; /* without the suite */
    bool met;
} exception;

static exception exceptions[EXCEPTIONS_MAX];
static size_t exception_count;

/* False if the list cannot be read. */
static inline bool exceptions_read(const char *path, const char *suite)
{
    char line[EXCEPTION_BYTES];
    size_t name = strlen(suite);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, suite, name) == 0 && line[name] == '\t' && exception_count < EXCEPTIONS_MAX)
            exceptions[exception_count++].line = strdup(line + name + 1);
    }
    fclose(file);
    return true;
}

/* The entry of a case, which has now been met; NULL if there is none. */
static inline exception *exceptions_find(const char *line)
{
    for (size_t i = 0; i < exception_count; i++)
        if (strcmp(exceptions[i].line, line) == 0) {
            exceptions[i].met = true;
            return &exceptions[i];
        }
    return NULL;
}

#endif
