/*
 * The URLs that the model checker plays with: few, so that calls meet each other's URLs all the time. Each has a number,
 * and several spellings that are one URL in every canonical form but `none`. Which spellings are one URL follows from
 * how they are built, never from asking the library.
 */
#ifndef TESTS_MODEL_UNIVERSE_H
#define TESTS_MODEL_UNIVERSE_H

#include <stdbool.h>
#include <stddef.h>

#include "vidi/vidi.h"

enum { MODEL_URLS = 96, MODEL_SPELLINGS = 4 };

/* Makes the texts. Call it once, before the others. */
void model_universe_make(void);

/* A spelling of a URL; number 0 is the one that whatwg, crawl and none keep as it is. */
vidi_str model_url(size_t number, size_t spelling);

/* True if it has no canonical form, except in `none`. */
bool model_url_is_invalid(size_t number);

/* The number of the URL with this text in spelling 0; MODEL_URLS if there is none. */
size_t model_url_find(vidi_str text);

#endif
