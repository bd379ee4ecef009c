/*
 * The user's patterns: '*' matches any characters, '?' one.
 */
#ifndef VIDI_CRAWLER_SCOPE_SCOPE_GLOB_H
#define VIDI_CRAWLER_SCOPE_SCOPE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "crawler/base/bytes.h"

/* A pattern in the alphabet of serialised URLs: bytes that these never contain are percent-encoded. */
typedef struct scope_glob {
    bytes text;
    bool of_target; /* it begins with '/': matched against path and query */
} scope_glob;

/* VIDI_OK or VIDI_EMEMORY. */
int scope_glob_open(scope_glob *glob, const char *pattern);
void scope_glob_close(scope_glob *glob);

/* Does it match the whole text? Time is linear in the text; see common/glob.c. */
bool scope_glob_matches(const scope_glob *glob, vidi_str text);

#endif
