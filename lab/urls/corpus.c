/*
 * URLs from files instead of synthetic ones. Each is kept once (text_pool.h).
 *
 * A run that needs more URLs than there are gets them again with LAB_CORPUS_AGAIN and a number appended. Lines that
 * contain that text are skipped, so these URLs differ from all others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/lab.h"
#include "lab/urls/text_pool.h"
#include "lib/inside/inside.h"

struct lab_corpus {
    lab_pool urls;
    uint64_t mark;
    const char *const *files; /* their names, which belong to the caller */
    size_t file_count;
};

int lab_corpus_add(lab_corpus *corpus, vidi_str line)
{
    if (line.len == 0 || line.len > LAB_CORPUS_LONGEST ||
        memmem(line.ptr, line.len, LAB_CORPUS_AGAIN, sizeof LAB_CORPUS_AGAIN - 1))
        return VIDI_OK;
    int64_t number = lab_pool_number(&corpus->urls, line);
    return number < 0 ? (int)number : VIDI_OK;
}

int lab_corpus_make(lab_corpus **made, const char *const *files, size_t count)
{
    lab_corpus *corpus = *made = calloc(1, sizeof *corpus);
    if (!corpus)
        return lab_fail(VIDI_EMEMORY, "no memory for the corpus");
    corpus->files = files;
    corpus->file_count = count;
    return VIDI_OK;
}

/* A hash of the URLs and of where they end. */
static uint64_t mark_of(const lab_corpus *corpus)
{
    const vidi_str pieces[] = {
        {corpus->urls.bytes, corpus->urls.used},
        {(const char *)corpus->urls.starts, (corpus->urls.count + 1) * sizeof *corpus->urls.starts}};
    return vidi__inside_checksum(pieces, 2).lo;
}

int lab_corpus_end(lab_corpus *corpus)
{
    lab_pool_close(&corpus->urls);
    if (corpus->urls.count == 0)
        return lab_fail(VIDI_EABSENT, "the corpus has no URLs: give files with one URL on each line");
    corpus->mark = mark_of(corpus);
    return VIDI_OK;
}

void lab_corpus_free(lab_corpus *corpus)
{
    if (corpus)
        lab_pool_free(&corpus->urls);
    free(corpus);
}

uint64_t lab_corpus_count(const lab_corpus *corpus)
{
    return corpus->urls.count;
}

uint64_t lab_corpus_mark(const lab_corpus *corpus)
{
    return corpus->mark;
}

const char *lab_corpus_file(const lab_corpus *corpus, size_t index)
{
    return index < corpus->file_count ? corpus->files[index] : NULL;
}

int lab_corpus_suffices(const lab_corpus *corpus, uint64_t urls, uint64_t needed)
{
    uint64_t possible = (uint64_t)((double)corpus->urls.count * (double)urls / (double)needed);
    char instead[48] = "";
    if (corpus->urls.count >= needed)
        return VIDI_OK;
    if (possible > 0)
        snprintf(instead, sizeof instead, ", or --urls %llu", (unsigned long long)possible);
    return lab_fail(VIDI_ELIMIT, "the corpus has %llu different URL%s, and runs of %llu need %llu: give more files%s",
                    (unsigned long long)corpus->urls.count, corpus->urls.count == 1 ? "" : "s",
                    (unsigned long long)urls, (unsigned long long)needed, instead);
}

/* The step is a prime larger than any count, so a run visits all lines. Runs begin at different lines. */
size_t lab_corpus_url(char *buffer, const lab_corpus *corpus, uint64_t start, uint64_t index)
{
    const uint64_t step = (UINT64_C(1) << 40) + 15;
    uint64_t line = (uint64_t)(((unsigned __int128)step * index + (start >> 17)) % corpus->urls.count);
    vidi_str url = lab_pool_text(&corpus->urls, line);
    memcpy(buffer, url.ptr, url.len);
    if (index < corpus->urls.count)
        return url.len;
    char again[48];
    int more = snprintf(again, sizeof again, LAB_CORPUS_AGAIN "%llu", (unsigned long long)(index / corpus->urls.count));
    memcpy(buffer + url.len, again, (size_t)more);
    return url.len + (size_t)more;
}
