/*
 * Patterns with wildcards: one byte of the alphabet stands for any text, and perhaps another one for any single byte.
 */
#ifndef VIDI_COMMON_GLOB_H
#define VIDI_COMMON_GLOB_H

#include <stdbool.h>
#include <stddef.h>

typedef struct glob_pattern {
    const char *ptr;
    size_t len;
    char many;   /* stands for any text, such as '*' */
    char single; /* stands for any one byte, such as '?'; the same as `many`: no byte does */
    bool prefix; /* it is enough if the text begins like the pattern */
} glob_pattern;

/* Time is linear in the lengths of text and pattern, unless the pattern has bytes `single`: see glob.c. */
bool glob_matches(const glob_pattern *glob, const char *text, size_t n);

#endif
