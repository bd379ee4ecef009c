/*
 * Reads streams. A URL is kept once, in one buffer; a line is four bytes. While a file is read, its URLs are in a hash
 * table that compares all bytes, so no two different URLs are ever taken for one. See line_streams.h.
 */
#include "lab/engine/line_streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/inside/inside.h"

enum { ROOM_LEAST = 1024, NAME_ROOM = 64 };

/* A file, with what is needed to add to it. */
typedef struct reading {
    lab_stream done;
    char *name, *text;
    size_t *starts;
    uint32_t *urls;
    size_t text_used, text_room;
    uint64_t starts_room, urls_room;
    uint32_t *table; /* numbers of URLs plus 1; 0: an empty slot */
    uint64_t slots;  /* a power of two, at least twice the number of URLs */
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

/* Makes room for `more` elements of `size` bytes beyond the first `used`. */
static int make_room(void **array, uint64_t *room, uint64_t used, uint64_t more, size_t size)
{
    if (*room - used >= more)
        return VIDI_OK;
    uint64_t wanted = 2 * *room + more + ROOM_LEAST;
    void *larger = realloc(*array, wanted * size);
    if (!larger)
        return no_memory();
    *array = larger;
    *room = wanted;
    return VIDI_OK;
}

/* ---- the exact set ---- */

static vidi_str text_of(const reading *file, uint64_t number)
{
    return (vidi_str){file->text + file->starts[number], file->starts[number + 1] - file->starts[number]};
}

/* The slot of the URL, or the empty slot where it belongs. */
static uint64_t find_slot(const reading *file, vidi_str url)
{
    uint64_t slot = vidi__inside_checksum(&url, 1).lo & (file->slots - 1);
    for (; file->table[slot]; slot = (slot + 1) & (file->slots - 1)) {
        vidi_str other = text_of(file, file->table[slot] - 1);
        if (other.len == url.len && memcmp(other.ptr, url.ptr, url.len) == 0)
            break;
    }
    return slot;
}

static int grow_table(reading *file)
{
    uint64_t slots = file->slots ? 2 * file->slots : ROOM_LEAST;
    uint32_t *table = calloc(slots, sizeof *table);
    if (!table)
        return no_memory();
    free(file->table);
    file->table = table;
    file->slots = slots;
    for (uint64_t number = 0; number < file->done.count; number++)
        table[find_slot(file, text_of(file, number))] = (uint32_t)(number + 1);
    return VIDI_OK;
}

static int add_url(reading *file, vidi_str url, uint64_t slot)
{
    void *text = file->text, *starts = file->starts;
    int code = make_room(&text, &file->text_room, file->text_used, url.len, 1);
    file->text = text;
    if (code == VIDI_OK)
        code = make_room(&starts, &file->starts_room, file->done.count, 2, sizeof *file->starts);
    file->starts = starts;
    if (code < 0)
        return code;
    memcpy(file->text + file->text_used, url.ptr, url.len);
    file->starts[file->done.count] = file->text_used;
    file->text_used += url.len;
    file->starts[++file->done.count] = file->text_used;
    file->table[slot] = (uint32_t)file->done.count;
    return VIDI_OK;
}

/* ---- reading ---- */

int lab_streams_make(lab_streams **made, uint64_t most)
{
    lab_streams *streams = *made = calloc(1, sizeof *streams);
    if (!streams)
        return no_memory();
    streams->most = most < UINT32_MAX ? most : UINT32_MAX - 1;
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

/* The file's name without folder and endings. Of two streams with the same name the second gets a number. */
static char *name_of(const lab_streams *streams, const char *file)
{
    static const char *const endings[] = {".gz", ".zst", ".xz", ".bz2", ".txt"};
    char plain[NAME_ROOM], *name = NULL;
    const char *slash = strrchr(file, '/');
    snprintf(plain, sizeof plain, "%s", strcmp(file, "-") == 0 ? "standard input" : slash ? slash + 1 : file);
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
    void *urls = file->urls;
    if (line.len == 0)
        return VIDI_OK;
    if (file->done.lines >= streams->most)
        return LAB_STREAM_FULL;
    if (2 * (file->done.count + 1) > file->slots)
        LAB_TRY(grow_table(file));
    int code = make_room(&urls, &file->urls_room, file->done.lines, 1, sizeof *file->urls);
    file->urls = urls;
    if (code < 0)
        return code;
    uint64_t slot = find_slot(file, line);
    if (!file->table[slot])
        LAB_TRY(add_url(file, line, slot));
    file->urls[file->done.lines++] = file->table[slot] - 1;
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
    for (uint64_t number = 0; number < file->done.count; number++) {
        vidi_str url = text_of(file, number);
        const char *slash = memrchr(url.ptr, '/', url.len);
        size_t sizes[3] = {url.len, count_parts(url), slash ? (size_t)(url.ptr + url.len - slash) : 0};
        for (size_t i = 0; i < 3; i++)
            if (sizes[i] > most[i]) {
                most[i] = sizes[i];
                file->done.extremes[i] = number;
            }
    }
}

/* Frees what only reading needs. */
static int finish(reading *file)
{
    free(file->table);
    file->table = NULL;
    if (!file->starts && !(file->starts = calloc(1, sizeof *file->starts)))
        return no_memory();
    const vidi_str pieces[] = {{file->text, file->text_used},
                               {(const char *)file->starts, (file->done.count + 1) * sizeof *file->starts},
                               {(const char *)file->urls, file->done.lines * sizeof *file->urls}};
    find_extremes(file);
    file->done.mark = vidi__inside_checksum(pieces, 3).lo;
    file->done.name = file->name;
    file->done.text = file->text;
    file->done.starts = file->starts;
    file->done.urls = file->urls;
    return VIDI_OK;
}

int lab_streams_end(lab_streams *streams)
{
    bool empty = true;
    streams->rows = calloc(streams->count + 2, sizeof *streams->rows);
    if (!streams->rows)
        return no_memory();
    for (size_t i = 0; i < streams->count; i++) {
        reading *file = &streams->files[i];
        LAB_TRY(finish(file));
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
        free(file->text);
        free(file->starts);
        free(file->urls);
        free(file->table);
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
