/* Reads streams. A URL is kept once (text_pool.h); a line is its number, four bytes. See line_streams.h. */
#include "lab/urls/line_streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/urls/text_pool.h"
#include "lib/inside/inside.h"

enum { NAME_ROOM = 64 };

/* A file, with what is needed to add to it. */
typedef struct reading {
    lab_stream done;
    char *name;
    lab_pool pool;
    uint32_t *urls;
    uint64_t urls_room;
} reading;

struct lab_streams {
    uint64_t most, mark;
    reading *files;
    size_t count;
    const char **rows;
};

const char *const lab_streams_any_rows[] = {"each stream", LAB_ALL_STREAMS, NULL};

static int no_memory(void)
{
    return lab_fail(VIDI_EMEMORY, "no memory for the streams");
}

/* ---- reading ---- */

int lab_streams_make(lab_streams **made, uint64_t most)
{
    lab_streams *streams = *made = calloc(1, sizeof *streams);
    if (!streams)
        return no_memory();
    streams->most = most < LAB_POOL_MOST ? most : LAB_POOL_MOST;
    return VIDI_OK;
}

static void cut_ending(char *name, const char *ending)
{
    size_t length = strlen(name), cut = strlen(ending);
    if (length > cut && strcmp(name + length - cut, ending) == 0)
        name[length - cut] = 0;
}

static bool is_taken(const lab_streams *streams, const char *name)
{
    bool taken = strcmp(name, LAB_ALL_STREAMS) == 0;
    for (size_t i = 0; i < streams->count; i++)
        taken |= strcmp(streams->files[i].name, name) == 0;
    return taken;
}

/* Copies as much of a text as there is room for, and no part of a UTF-8 character. */
static void copy_start(char *to, size_t room, const char *text)
{
    size_t length = strlen(text);
    if (length >= room)
        for (length = room - 1; length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80;)
            length--;
    memcpy(to, text, length);
    to[length] = 0;
}

/* The file's name without folder and endings. Of two streams with the same name the second gets a number. */
static char *name_of(const lab_streams *streams, const char *file)
{
    static const char *const endings[] = {".gz", ".zst", ".xz", ".bz2", ".txt"};
    char plain[NAME_ROOM], *name = NULL;
    const char *slash = strrchr(file, '/');
    copy_start(plain, sizeof plain, strcmp(file, "-") == 0 ? "standard input" : slash ? slash + 1 : file);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        cut_ending(plain, endings[i]);
    for (char *at = plain; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7F) /* a terminal would act on it */
            *at = '?';
    if (!is_taken(streams, plain))
        return strdup(plain);
    for (unsigned number = 2; !name; number++) {
        if (asprintf(&name, "%s (%u)", plain, number) < 0)
            return NULL;
        if (is_taken(streams, name)) {
            free(name);
            name = NULL;
        }
    }
    return name;
}

int lab_streams_begin(lab_streams *streams, const char *file)
{
    reading *files = realloc(streams->files, (streams->count + 1) * sizeof *files);
    if (!files)
        return no_memory();
    streams->files = files;
    files[streams->count] = (reading){.name = name_of(streams, file)};
    return files[streams->count++].name ? VIDI_OK : no_memory();
}

int lab_streams_add(lab_streams *streams, vidi_str line)
{
    reading *file = &streams->files[streams->count - 1];
    if (line.len == 0)
        return VIDI_OK;
    if (file->done.lines >= streams->most)
        return LAB_STREAM_FULL;
    LAB_TRY(lab_grow(&file->urls, file->done.lines + 1, &file->urls_room, sizeof *file->urls));
    int64_t number = lab_pool_number(&file->pool, line);
    if (number < 0)
        return (int)number;
    file->urls[file->done.lines++] = (uint32_t)number;
    return file->done.lines < streams->most ? VIDI_OK : LAB_STREAM_FULL;
}

/* Parts of a URL end at bytes that are neither letters nor digits. */
static size_t count_parts(vidi_str url)
{
    size_t parts = 1;
    for (size_t i = 0; i < url.len; i++) {
        unsigned char byte = (unsigned char)url.ptr[i], letter = byte | 0x20;
        parts += !(letter >= 'a' && letter <= 'z') && !(byte >= '0' && byte <= '9') && byte < 0x80;
    }
    return parts;
}

static void find_extremes(reading *file)
{
    size_t most[3] = {0, 0, 0};
    for (uint64_t number = 0; number < file->pool.count; number++) {
        vidi_str url = lab_pool_text(&file->pool, number);
        const char *slash = memrchr(url.ptr, '/', url.len);
        size_t sizes[3] = {url.len, count_parts(url), slash ? (size_t)(url.ptr + url.len - slash) : 0};
        for (size_t i = 0; i < 3; i++)
            if (sizes[i] > most[i]) {
                most[i] = sizes[i];
                file->done.extremes[i] = number;
            }
    }
}

/* Frees what only reading needs, and fills in the stream. */
static void finish(reading *file)
{
    static const size_t none[1];
    const lab_pool *pool = &file->pool;
    lab_pool_close(&file->pool);
    find_extremes(file);
    file->done.name = file->name;
    file->done.text = pool->bytes;
    file->done.starts = pool->starts ? pool->starts : none;
    file->done.count = pool->count;
    file->done.urls = file->urls;
    const vidi_str pieces[] = {{pool->bytes, pool->used},
                               {(const char *)file->done.starts, (pool->count + 1) * sizeof *pool->starts},
                               {(const char *)file->urls, file->done.lines * sizeof *file->urls}};
    file->done.mark = vidi__inside_checksum(pieces, 3).lo;
}

int lab_streams_end(lab_streams *streams)
{
    bool empty = true;
    streams->rows = calloc(streams->count + 2, sizeof *streams->rows);
    if (!streams->rows)
        return no_memory();
    for (size_t i = 0; i < streams->count; i++) {
        reading *file = &streams->files[i];
        finish(file);
        const vidi_str pieces[] = {{(const char *)&streams->mark, sizeof streams->mark},
                                   {(const char *)&file->done.mark, sizeof file->done.mark},
                                   {file->name, strlen(file->name)}};
        streams->mark = vidi__inside_checksum(pieces, 3).lo;
        streams->rows[i] = file->name;
        empty &= file->done.lines == 0;
    }
    streams->rows[streams->count] = LAB_ALL_STREAMS;
    return empty ? lab_fail(VIDI_EABSENT, "the streams have no URLs: give files with one URL on each line") : VIDI_OK;
}

void lab_streams_free(lab_streams *streams)
{
    for (size_t i = 0; streams && i < streams->count; i++) {
        reading *file = &streams->files[i];
        free(file->name);
        lab_pool_free(&file->pool);
        free(file->urls);
    }
    if (streams) {
        free(streams->files);
        free(streams->rows);
    }
    free(streams);
}

/* ---- what was read ---- */

size_t lab_streams_count(const lab_streams *streams)
{
    return streams->count;
}

const lab_stream *lab_stream_at(const lab_streams *streams, size_t index)
{
    return index < streams->count ? &streams->files[index].done : NULL;
}

uint64_t lab_streams_mark(const lab_streams *streams)
{
    return streams->mark;
}

const char *const *lab_streams_rows(const lab_streams *streams)
{
    return streams->rows;
}

void lab_stream_key(unsigned char key[VIDI_KEY_BYTES], const lab_stream *stream, uint64_t seed, uint64_t run)
{
    lab_key(key, lab_run_start(seed, run), stream->mark);
}

void lab_stream_shuffle(uint32_t *order, const lab_stream *stream, uint64_t seed, uint64_t run)
{
    lab_shuffle(order, stream->lines, lab_run_start(seed, run), stream->mark, 1);
}
