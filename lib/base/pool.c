/* Chunks and records; the header says what they are for. */
#include "base/pool.h"

/* A chunk is this share of what the pool already has, between the two sizes: few chunks, and little room unused. */
#define CHUNK_SHARE 8
#define CHUNK_MIN ((uint64_t)4096 - sizeof(vidi__chunk))
#define CHUNK_MAX (((uint64_t)4 << 20) - sizeof(vidi__chunk))

/* Bytes that are read on trust. */
#define PIECE ((uint64_t)64 << 10)

void vidi__pool_init(vidi__pool *pool, vidi__memory *memory, unsigned extra)
{
    *pool = (vidi__pool){.memory = memory, .extra = extra};
}

static uint64_t chunk_bytes(const vidi__chunk *chunk)
{
    return sizeof *chunk + chunk->size;
}

static void release_chunk(vidi__pool *pool, vidi__chunk *chunk)
{
    pool->bytes -= chunk_bytes(chunk);
    vidi__release(pool->memory, chunk, chunk_bytes(chunk), _Alignof(vidi__chunk));
}

void vidi__pool_free(vidi__pool *pool)
{
    for (vidi__chunk *chunk = pool->first, *next; chunk; chunk = next) {
        next = chunk->next;
        release_chunk(pool, chunk);
    }
    vidi__pool_init(pool, pool->memory, pool->extra);
}

static vidi__record *record_at(vidi__chunk *chunk, uint64_t at)
{
    return (vidi__record *)((char *)chunk->records + at);
}

static int new_chunk(vidi__pool *pool, uint64_t size, vidi__chunk **out)
{
    uint64_t room = pool->bytes / CHUNK_SHARE / sizeof(uint64_t) * sizeof(uint64_t);
    room = room < CHUNK_MIN ? CHUNK_MIN : room > CHUNK_MAX ? CHUNK_MAX : room;
    room = room < size ? size : room;
    VIDI__TRY(vidi__alloc(pool->memory, out, sizeof(vidi__chunk) + room, _Alignof(vidi__chunk)));
    **out = (vidi__chunk){.size = room};
    return VIDI_OK;
}

static void append_chunk(vidi__pool *pool, vidi__chunk *chunk)
{
    if (pool->last)
        pool->last->next = chunk;
    else
        pool->first = chunk;
    pool->last = chunk;
    pool->bytes += chunk_bytes(chunk);
}

/*
 * A new record whose bytes come from the reader, or are str if that is NULL. A new chunk becomes part of the pool only
 * with its first record, so that whatever fails leaves no trace.
 */
static int append(vidi__pool *pool, vidi__reader *reader, vidi_str str, vidi__record **record)
{
    uint64_t size = vidi__record_size(pool, str.len);
    vidi__chunk *chunk = pool->last, *fresh = NULL;
    if (!chunk || size > chunk->size - chunk->used) {
        VIDI__TRY(new_chunk(pool, size, &fresh));
        chunk = fresh;
    }
    vidi__record *made = record_at(chunk, chunk->used);
    made->head = vidi__record_head(str.len);
    memset(made->words, 0, pool->extra * sizeof(uint64_t));
    char *bytes = (char *)(made->words + pool->extra);
    if (reader) {
        int code = vidi__read(reader, bytes, str.len);
        if (code < 0) {
            if (fresh)
                vidi__release(pool->memory, fresh, chunk_bytes(fresh), _Alignof(vidi__chunk));
            return code;
        }
    } else if (str.len) {
        memcpy(bytes, str.ptr, str.len);
    }
    if (fresh)
        append_chunk(pool, fresh);
    chunk->used += size;
    pool->used += size;
    *record = made;
    return VIDI_OK;
}

int vidi__pool_add(vidi__pool *pool, vidi_str str, vidi__record **record)
{
    return append(pool, NULL, str, record);
}

/* The caller owns *buffer, of *room bytes, whatever happens. */
static int read_piecewise(vidi__pool *pool, vidi__reader *reader, uint64_t len, char **buffer, uint64_t *room)
{
    for (uint64_t have = 0; have < len; have = *room) {
        uint64_t next = *room ? *room * 2 : PIECE;
        next = next < len ? next : len;
        VIDI__TRY(vidi__regrow(pool->memory, buffer, *room, next, 1));
        *room = next;
        VIDI__TRY(vidi__read(reader, *buffer + have, next - have));
    }
    return VIDI_OK;
}

int vidi__pool_read(vidi__pool *pool, vidi__reader *reader, uint64_t len, vidi__record **record)
{
    if (len > reader->left)
        return vidi__damaged("a string is longer than the data");
    if (len <= PIECE || reader->left != UINT64_MAX)
        return append(pool, reader, (vidi_str){NULL, (size_t)len}, record);
    char *buffer = NULL;
    uint64_t room = 0;
    int code = read_piecewise(pool, reader, len, &buffer, &room);
    if (code >= 0)
        code = vidi__pool_add(pool, (vidi_str){buffer, (size_t)len}, record);
    vidi__release(pool->memory, buffer, room, 1);
    return code;
}

void vidi__pool_drop(vidi__pool *pool, vidi__record *record)
{
    pool->dead += vidi__record_size(pool, record->head / 2);
    record->head |= 1;
}

/* Gives back the chunks that hold nothing any more. */
static void release_empty(vidi__pool *pool)
{
    vidi__chunk **link = &pool->first;
    pool->last = NULL;
    while (*link) {
        vidi__chunk *chunk = *link;
        if (chunk->used) {
            pool->last = chunk;
            link = &chunk->next;
        } else {
            *link = chunk->next;
            release_chunk(pool, chunk);
        }
    }
}

/*
 * Records are read at (from, at) and written at (to, end), which never overtakes: where `to` is still behind `from`,
 * moving on to the next chunk keeps it at or before the record that is read, and inside one chunk it trails by the dead
 * bytes.
 */
void vidi__pool_compact(vidi__pool *pool, vidi__pool_moved moved, void *context)
{
    vidi__chunk *to = pool->first;
    uint64_t end = 0;
    for (vidi__chunk *from = pool->first; from; from = from->next) {
        uint64_t used = from->used;
        for (uint64_t at = 0, size; at < used; at += size) {
            vidi__record *record = record_at(from, at);
            size = vidi__record_size(pool, record->head / 2);
            if (vidi__record_dead(record))
                continue;
            for (; size > to->size - end; to = to->next, end = 0)
                to->used = end;
            vidi__record *target = record_at(to, end);
            end += size;
            if (target == record)
                continue;
            if (moved)
                moved(context, record, target);
            memmove(target, record, (size_t)size);
        }
    }
    for (; to; to = to->next, end = 0)
        to->used = end;
    release_empty(pool);
    pool->used -= pool->dead;
    pool->dead = 0;
}

double vidi__pool_bytes_each(double average, unsigned extra)
{
    double padding = (sizeof(uint64_t) - 1) / 2.0;
    double record = (double)(sizeof(vidi__record) + extra * sizeof(uint64_t)) + average + padding;
    return record * (1 + 1.0 / CHUNK_SHARE);
}
