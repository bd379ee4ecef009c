/* The URLs of a run, made in advance. See run_urls.h. */
#include "lab/urls/run_urls.h"

#include <stdlib.h>

#include "lab/engine/run_memory.h"
#include "lab/engine/study.h"

enum { BATCH = 256 };

/* The buffer may move while it grows, so lab_texts_make fills in the addresses at the end. */
static int make_bytes(lab_texts *texts, const lab_settings *settings, uint64_t run, uint64_t first)
{
    size_t used = 0, room = 0;
    for (uint64_t i = 0; i < texts->count; i++) {
        LAB_TRY(lab_grow(&texts->bytes, used + LAB_URL_ROOM, &room, 1));
        texts->urls[i].len = lab_url(texts->bytes + used, settings, run, first + i);
        used += texts->urls[i].len;
    }
    return VIDI_OK;
}

int lab_texts_make(lab_texts *texts, const lab_settings *settings, uint64_t run, uint64_t first, uint64_t count)
{
    *texts = (lab_texts){.count = count};
    LAB_TRY(LAB_NEW(texts->urls, count));
    int code = make_bytes(texts, settings, run, first);
    LAB_TRY(lab_own(texts->bytes, free));
    LAB_TRY(code);
    const char *at = texts->bytes;
    for (uint64_t i = 0; i < count; i++) {
        texts->urls[i].ptr = at;
        at += texts->urls[i].len;
    }
    return VIDI_OK;
}

static int64_t count_seen(const uint8_t *verdicts, size_t count, unsigned char *hits)
{
    int64_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        seen += verdicts[i] == VIDI_SEEN;
        if (hits && verdicts[i] == VIDI_SEEN)
            hits[i]++;
    }
    return seen;
}

int64_t lab_texts_add(vidi_set *set, const vidi_str *urls, uint64_t count, unsigned char *hits)
{
    uint8_t verdicts[BATCH];
    int64_t seen = 0;
    for (uint64_t i = 0; i < count; i += BATCH) {
        size_t some = count - i < BATCH ? (size_t)(count - i) : BATCH;
        LAB_TRY(vidi_add_batch(set, urls + i, some, verdicts, NULL));
        seen += count_seen(verdicts, some, hits ? hits + i : NULL);
    }
    return seen;
}

int64_t lab_texts_ask(const vidi_set *set, const vidi_str *urls, uint64_t count, unsigned char *hits)
{
    uint8_t verdicts[BATCH];
    int64_t seen = 0;
    for (uint64_t i = 0; i < count; i += BATCH) {
        size_t some = count - i < BATCH ? (size_t)(count - i) : BATCH;
        LAB_TRY(vidi_has_batch(set, urls + i, some, verdicts));
        seen += count_seen(verdicts, some, hits ? hits + i : NULL);
    }
    return seen;
}

int lab_texts_time_adds(vidi_set *set, const vidi_str *urls, uint64_t count, double *time)
{
    uint64_t start = lab_thread_time();
    for (uint64_t i = 0; i < count; i++)
        LAB_TRY(vidi_add(set, urls[i]));
    *time += (double)(lab_thread_time() - start);
    return VIDI_OK;
}

int lab_texts_time_lookups(const vidi_set *set, const vidi_str *urls, uint64_t count, double *time)
{
    uint64_t start = lab_thread_time();
    for (uint64_t i = 0; i < count; i++)
        LAB_TRY(vidi_has(set, urls[i]));
    *time += (double)(lab_thread_time() - start);
    return VIDI_OK;
}
