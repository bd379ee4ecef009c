/*
 * URLs from files instead of made-up ones. They are kept one behind the other, each once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lab/lab.h"

struct lab_corpus {
    char *text;
    size_t used, room;
    size_t *ends; /* [count + 1]: where each begins */
    uint64_t count, ends_room;
};

static int grow(lab_corpus *corpus)
{
    if (corpus->room - corpus->used < LAB_URL_ROOM) {
        size_t room = 2 * corpus->room + (1 << 20);
        char *text = realloc(corpus->text, room);
        if (!text)
            return vidi__fail(VIDI_EMEMORY, "no memory for the corpus");
        corpus->text = text;
        corpus->room = room;
    }
    if (corpus->count + 1 >= corpus->ends_room) {
        uint64_t room = 2 * corpus->ends_room + 1024;
        size_t *ends = realloc(corpus->ends, room * sizeof *ends);
        if (!ends)
            return vidi__fail(VIDI_EMEMORY, "no memory for the corpus");
        corpus->ends = ends;
        corpus->ends_room = room;
    }
    return VIDI_OK;
}

static int take_line(lab_corpus *corpus, vidi_set *known, const char *line, size_t length)
{
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
        length--;
    if (length == 0 || length > LAB_URL_ROOM)
        return VIDI_OK;
    int verdict = vidi_add(known, (vidi_str){line, length});
    if (verdict != VIDI_NEW)
        return verdict < 0 ? verdict : VIDI_OK;
    VIDI__TRY(grow(corpus));
    memcpy(corpus->text + corpus->used, line, length);
    corpus->ends[corpus->count++] = corpus->used;
    corpus->used += length;
    corpus->ends[corpus->count] = corpus->used;
    return VIDI_OK;
}

static int read_file(lab_corpus *corpus, vidi_set *known, const char *name)
{
    FILE *file = fopen(name, "re");
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int code = VIDI_OK;
    if (!file)
        return vidi__fail(VIDI_EIO, "cannot read %s: %s", name, strerror(errno));
    while (code == VIDI_OK && (length = getline(&line, &room, file)) >= 0)
        code = take_line(corpus, known, line, (size_t)length);
    if (code == VIDI_OK && ferror(file))
        code = vidi__fail(VIDI_EIO, "cannot read %s: %s", name, strerror(errno));
    free(line);
    fclose(file);
    return code;
}

int lab_corpus_read(lab_corpus **made, const char *const *files, size_t count)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    lab_corpus *corpus = *made = calloc(1, sizeof *corpus);
    vidi_set *known;
    if (!corpus)
        return vidi__fail(VIDI_EMEMORY, "no memory for the corpus");
    options.kind = "hashset";
    options.canon = "none";
    VIDI__TRY(vidi_create(&known, &options));
    int code = VIDI_OK;
    for (size_t i = 0; i < count && code == VIDI_OK; i++)
        code = read_file(corpus, known, files[i]);
    vidi_close(known);
    return code;
}

void lab_corpus_free(lab_corpus *corpus)
{
    if (!corpus)
        return;
    free(corpus->text);
    free(corpus->ends);
    free(corpus);
}

uint64_t lab_corpus_count(const lab_corpus *corpus)
{
    return corpus->count;
}

/* A prime that is larger than any count: steps of this size go through all lines. Runs begin in different places. */
size_t lab_corpus_url(char *buffer, const lab_corpus *corpus, uint64_t start, uint64_t index)
{
    const uint64_t step = (UINT64_C(1) << 40) + 15;
    uint64_t line = (uint64_t)(((unsigned __int128)step * index + (start >> 17)) % corpus->count);
    size_t length = corpus->ends[line + 1] - corpus->ends[line];
    memcpy(buffer, corpus->text + corpus->ends[line], length);
    return length;
}
