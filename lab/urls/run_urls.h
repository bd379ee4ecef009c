/* The URLs of a run, made in advance: several crawls share them, and times do not include making them. */
#ifndef VIDI_LAB_URLS_RUN_URLS_H
#define VIDI_LAB_URLS_RUN_URLS_H

#include "lab/engine/lab.h"

typedef struct lab_texts {
    vidi_str *urls;
    uint64_t count;
    char *bytes; /* all URLs, one after the other */
} lab_texts;

/* Makes the URLs first to first + count - 1 of the run, for the innermost block (run_memory.h). */
int lab_texts_make(lab_texts *texts, const lab_settings *settings, uint64_t run, uint64_t first, uint64_t count);

/*
 * Add or look up URLs. hits[i] is incremented for each URL that is VIDI_SEEN, unless hits is NULL. How many are, or an
 * error.
 */
int64_t lab_texts_add(vidi_set *set, const vidi_str *urls, uint64_t count, unsigned char *hits);
int64_t lab_texts_ask(const vidi_set *set, const vidi_str *urls, uint64_t count, unsigned char *hits);

/* Add or look up URLs one at a time, as a crawler does, and add the nanoseconds that it takes to *time. */
int lab_texts_time_adds(vidi_set *set, const vidi_str *urls, uint64_t count, double *time);
int lab_texts_time_lookups(const vidi_set *set, const vidi_str *urls, uint64_t count, double *time);

#endif
