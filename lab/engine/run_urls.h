/* URLs of a run, made once, so that what is timed is not their making, and several crawls share them. */
#ifndef VIDI_LAB_ENGINE_RUN_URLS_H
#define VIDI_LAB_ENGINE_RUN_URLS_H

#include "lab/engine/lab.h"

typedef struct lab_texts {
    vidi_str *urls;
    uint64_t count;
    char *bytes; /* of all of them, one behind the other */
} lab_texts;

/* The URLs first to first + count - 1 of the run. lab_texts_free in every case. */
int lab_texts_make(lab_texts *texts, const lab_settings *settings, uint64_t run, uint64_t first, uint64_t count);
void lab_texts_free(lab_texts *texts);

/* hits[i] (may be NULL) goes up for each URL that is answered VIDI_SEEN: how many are, or an error. */
int64_t lab_texts_add(vidi_set *set, const vidi_str *urls, uint64_t count, unsigned char *hits);
int64_t lab_texts_ask(const vidi_set *set, const vidi_str *urls, uint64_t count, unsigned char *hits);

/* One URL at a time, as a crawler does: *time grows by the nanoseconds that it takes. */
int lab_texts_time_adds(vidi_set *set, const vidi_str *urls, uint64_t count, double *time);
int lab_texts_time_questions(const vidi_set *set, const vidi_str *urls, uint64_t count, double *time);

#endif
