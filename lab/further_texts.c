/* URLs in memory, in the order of a crawl, so that several crawls of a run need not make them again. See further.h. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lab/further.h"

enum { BATCH = 256, FEW = 4000 };

uint64_t lab_further_urls(const lab_settings *settings, uint64_t part)
{
    uint64_t least = settings->urls < FEW ? settings->urls : FEW;
    return settings->urls / part < least ? least : settings->urls / part;
}

int lab_texts_make(lab_texts *texts, const lab_settings *settings, uint64_t run, uint64_t first, uint64_t count)
{
    char url[LAB_URL_ROOM];
    size_t used = 0, room = 0;
    *texts = (lab_texts){.count = count};
    texts->urls = calloc(count + 1, sizeof *texts->urls);
    if (!texts->urls)
        return vidi__fail(VIDI_EMEMORY, "no memory for %llu URLs", (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++) {
        if (room - used < LAB_URL_ROOM) {
            char *larger = realloc(texts->text, room = room * 2 + 64 * (size_t)LAB_URL_ROOM);
            if (!larger)
                return vidi__fail(VIDI_EMEMORY, "no memory for %llu URLs", (unsigned long long)count);
            texts->text = larger;
        }
        texts->urls[i].len = lab_url(url, settings, run, first + i);
        memcpy(texts->text + used, url, texts->urls[i].len);
        used += texts->urls[i].len;
    }
    for (uint64_t i = 0, at = 0; i < count; at += texts->urls[i++].len)
        texts->urls[i].ptr = texts->text + at;
    return VIDI_OK;
}

void lab_texts_free(lab_texts *texts)
{
    free(texts->urls);
    free(texts->text);
    memset(texts, 0, sizeof *texts);
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
        VIDI__TRY(vidi_add_batch(set, urls + i, some, verdicts));
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
        VIDI__TRY(vidi_has_batch(set, urls + i, some, verdicts));
        seen += count_seen(verdicts, some, hits ? hits + i : NULL);
    }
    return seen;
}

static lab_theory theory_of(uint64_t urls, double m, unsigned k, unsigned filters, bool incremental)
{
    lab_config config = {.functions = "",
                         .k = k,
                         .multiplier = m / ((double)urls * k),
                         .members = filters,
                         .epochs = 1,
                         .incremental = incremental,
                         .tenths = LAB_TENTHS};
    return lab_theory_of(&config, urls);
}

lab_theory lab_filter_theory(uint64_t urls, double m, unsigned k, unsigned filters)
{
    return theory_of(urls, m, k, filters, false);
}

lab_theory lab_filling_theory(uint64_t urls, double m, unsigned k, unsigned filters)
{
    return theory_of(urls, m, k, filters, true);
}

/* Given the sizes the law is hypergeometric; the sizes vary, too. */
lab_theory lab_meeting_theory(lab_theory a, lab_theory b, double of)
{
    double share_a = a.mean / of, share_b = b.mean / of;
    return (lab_theory){
        .mean = a.mean * share_b,
        .variance = a.mean * share_b * (1 - share_a) * (1 - share_b) * of / (of - 1) + share_b * share_b * a.variance +
                    share_a * share_a * b.variance,
        .asked = a.asked,
    };
}
