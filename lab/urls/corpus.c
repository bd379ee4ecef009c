/*
 * URLs from files instead of synthetic ones. Each is kept once, in one buffer.
 *
 * A run that needs more URLs than there are gets them again with LAB_CORPUS_AGAIN and a number appended. Lines that
 * contain that text are skipped, so these URLs differ from all others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/lab.h"
#include "lib/inside/inside.h"

struct lab_corpus {
    char *text;
    size_t used, room;
    size_t *ends; /* [count + 1]: where each URL begins */
    uint64_t count, ends_room;
    uint64_t mark;
    vidi_set *known; /* the URLs so far, while lines are added */
    char **files;    /* their names; NULL after the last */
};

static int grow(lab_corpus *corpus)
{
    if (corpus->room - corpus->used < LAB_URL_ROOM) {
        size_t room = 2 * corpus->room + (1 << 20);
        char *text = realloc(corpus->text, room);
        if (!text)
            return lab_fail(VIDI_EMEMORY, "no memory for the corpus");
        corpus->text = text;
        corpus->room = room;
    }
    if (corpus->count + 1 >= corpus->ends_room) {
        uint64_t room = 2 * corpus->ends_room + 1024;
        size_t *ends = realloc(corpus->ends, room * sizeof *ends);
        if (!ends)
            return lab_fail(VIDI_EMEMORY, "no memory for the corpus");
        corpus->ends = ends;
        corpus->ends_room = room;
    }
    return VIDI_OK;
}

int lab_corpus_add(lab_corpus *corpus, vidi_str line)
{
    if (line.len == 0 || line.len > LAB_CORPUS_LONGEST ||
        memmem(line.ptr, line.len, LAB_CORPUS_AGAIN, sizeof LAB_CORPUS_AGAIN - 1))
        return VIDI_OK;
    int verdict = vidi_add(corpus->known, line);
    if (verdict != VIDI_NEW)
        return verdict < 0 ? verdict : VIDI_OK;
    LAB_TRY(grow(corpus));
    memcpy(corpus->text + corpus->used, line.ptr, line.len);
    corpus->ends[corpus->count++] = corpus->used;
    corpus->used += line.len;
    corpus->ends[corpus->count] = corpus->used;
    return VIDI_OK;
}

int lab_corpus_make(lab_corpus **made, const char *const *files, size_t count)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    lab_corpus *corpus = *made = calloc(1, sizeof *corpus);
    if (!corpus || !(corpus->files = calloc(count + 1, sizeof *corpus->files)))
        return lab_fail(VIDI_EMEMORY, "no memory for the corpus");
    for (size_t i = 0; i < count; i++)
        if (!(corpus->files[i] = strdup(files[i])))
            return lab_fail(VIDI_EMEMORY, "no memory for the corpus");
    options.kind = "hashset";
    options.canon = "none";
    return vidi_create(&corpus->known, &options);
}

/* A hash of the URLs and of where they end. */
static uint64_t mark_of(const lab_corpus *corpus)
{
    const vidi_str pieces[] = {{corpus->text, corpus->used},
                               {(const char *)corpus->ends, (corpus->count + 1) * sizeof *corpus->ends}};
    return vidi__inside_checksum(pieces, 2).lo;
}

int lab_corpus_end(lab_corpus *corpus)
{
    vidi_close(corpus->known);
    corpus->known = NULL;
    if (corpus->count == 0)
        return lab_fail(VIDI_EABSENT, "the corpus has no URLs: give files with one URL on each line");
    corpus->mark = mark_of(corpus);
    return VIDI_OK;
}

void lab_corpus_free(lab_corpus *corpus)
{
    if (!corpus)
        return;
    for (size_t i = 0; corpus->files && corpus->files[i]; i++)
        free(corpus->files[i]);
    free(corpus->files);
    vidi_close(corpus->known);
    free(corpus->text);
    free(corpus->ends);
    free(corpus);
}

uint64_t lab_corpus_count(const lab_corpus *corpus)
{
    return corpus->count;
}

uint64_t lab_corpus_mark(const lab_corpus *corpus)
{
    return corpus->mark;
}

const char *lab_corpus_file(const lab_corpus *corpus, size_t index)
{
    return corpus->files[index];
}

int lab_corpus_suffices(const lab_corpus *corpus, uint64_t urls, uint64_t needed)
{
    uint64_t possible = (uint64_t)((double)corpus->count * (double)urls / (double)needed);
    char instead[48] = "";
    if (corpus->count >= needed)
        return VIDI_OK;
    if (possible > 0)
        snprintf(instead, sizeof instead, ", or --urls %llu", (unsigned long long)possible);
    return lab_fail(VIDI_ELIMIT, "the corpus has %llu different URL%s, and runs of %llu need %llu: give more files%s",
                    (unsigned long long)corpus->count, corpus->count == 1 ? "" : "s", (unsigned long long)urls,
                    (unsigned long long)needed, instead);
}

/* The step is a prime larger than any count, so a run visits all lines. Runs begin at different lines. */
size_t lab_corpus_url(char *buffer, const lab_corpus *corpus, uint64_t start, uint64_t index)
{
    const uint64_t step = (UINT64_C(1) << 40) + 15;
    uint64_t line = (uint64_t)(((unsigned __int128)step * index + (start >> 17)) % corpus->count);
    size_t length = corpus->ends[line + 1] - corpus->ends[line];
    memcpy(buffer, corpus->text + corpus->ends[line], length);
    if (index < corpus->count)
        return length;
    char again[48];
    int more = snprintf(again, sizeof again, LAB_CORPUS_AGAIN "%llu", (unsigned long long)(index / corpus->count));
    memcpy(buffer + length, again, (size_t)more);
    return length + (size_t)more;
}
