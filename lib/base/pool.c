/* See pool.h. */
#include "base/pool.h"

/* A new block is this share of the pool, within these limits. So blocks are few, and little room is unused. */
#define BLOCK_SHARE 8
#define BLOCK_MIN ((uint64_t)4096 - sizeof(vidi__pool_block))
#define BLOCK_MAX (((uint64_t)4 << 20) - sizeof(vidi__pool_block))

/* Bytes that are read before a length has been proved. */
#define PIECE ((uint64_t)64 << 10)

void vidi__pool_init(vidi__pool *pool, vidi__memory *memory, unsigned extra)
{
    *pool = (vidi__pool){.memory = memory, .extra = extra};
}

static uint64_t block_bytes(const vidi__pool_block *block)
{
    return sizeof *block + block->size;
}

static void release_block(vidi__pool *pool, vidi__pool_block *block)
{
    pool->bytes -= block_bytes(block);
    vidi__release(pool->memory, block, block_bytes(block), _Alignof(vidi__pool_block));
}

void vidi__pool_free(vidi__pool *pool)
{
    for (vidi__pool_block *block = pool->first, *next; block; block = next) {
        next = block->next;
        release_block(pool, block);
    }
    vidi__pool_init(pool, pool->memory, pool->extra);
}

static vidi__pool_record *record_at(vidi__pool_block *block, uint64_t at)
{
    return (vidi__pool_record *)((char *)block->records + at);
}

static int new_block(vidi__pool *pool, uint64_t size, vidi__pool_block **out)
{
    uint64_t room = pool->bytes / BLOCK_SHARE / sizeof(uint64_t) * sizeof(uint64_t);
    room = room < BLOCK_MIN ? BLOCK_MIN : room > BLOCK_MAX ? BLOCK_MAX : room;
    room = room < size ? size : room;
    VIDI__TRY(vidi__alloc(pool->memory, out, sizeof(vidi__pool_block) + room, _Alignof(vidi__pool_block)));
    **out = (vidi__pool_block){.size = room};
    return VIDI_OK;
}

static void append_block(vidi__pool *pool, vidi__pool_block *block)
{
    if (pool->last)
        pool->last->next = block;
    else
        pool->first = block;
    pool->last = block;
    pool->bytes += block_bytes(block);
}

/*
 * Appends a record whose bytes come from the reader, or from str if reader is NULL. A new block joins the pool only
 * with its first record, so a failure leaves no trace.
 */
static int append(vidi__pool *pool, vidi__reader *reader, vidi_str str, vidi__pool_record **record)
{
    uint64_t size = vidi__pool_record_size(pool, str.len);
    vidi__pool_block *block = pool->last, *fresh = NULL;
    if (!block || size > block->size - block->used) {
        VIDI__TRY(new_block(pool, size, &fresh));
        block = fresh;
    }
    vidi__pool_record *made = record_at(block, block->used);
    made->head = vidi__pool_record_head(str.len);
    memset(made->words, 0, pool->extra * sizeof(uint64_t));
    char *bytes = (char *)(made->words + pool->extra);
    if (reader) {
        int code = vidi__read(reader, bytes, str.len);
        if (code < 0) {
            if (fresh)
                vidi__release(pool->memory, fresh, block_bytes(fresh), _Alignof(vidi__pool_block));
            return code;
        }
    } else if (str.len) {
        memcpy(bytes, str.ptr, str.len);
    }
    if (fresh)
        append_block(pool, fresh);
    block->used += size;
    pool->used += size;
    *record = made;
    return VIDI_OK;
}

int vidi__pool_add(vidi__pool *pool, vidi_str str, vidi__pool_record **record)
{
    return append(pool, NULL, str, record);
}

/* The caller owns *buffer, of *room bytes, in any case. */
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

int vidi__pool_read(vidi__pool *pool, vidi__reader *reader, uint64_t len, vidi__pool_record **record)
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

void vidi__pool_drop(vidi__pool *pool, vidi__pool_record *record)
{
    pool->dead += vidi__pool_record_size(pool, record->head / 2);
    record->head |= 1;
}

/* Releases the blocks that are empty. */
static void release_empty(vidi__pool *pool)
{
    vidi__pool_block **link = &pool->first;
    pool->last = NULL;
    while (*link) {
        vidi__pool_block *block = *link;
        if (block->used) {
            pool->last = block;
            link = &block->next;
        } else {
            *link = block->next;
            release_block(pool, block);
        }
    }
}

/*
 * Records are read at (from, at) and written at (to, end). Writing never overtakes reading: if `to` is a block before
 * `from`, moving on to the next block keeps it at or before the record being read; within one block it trails by the
 * dead bytes.
 */
void vidi__pool_compact(vidi__pool *pool, vidi__pool_moved moved, void *context)
{
    vidi__pool_block *to = pool->first;
    uint64_t end = 0;
    for (vidi__pool_block *from = pool->first; from; from = from->next) {
        uint64_t used = from->used;
        for (uint64_t at = 0, size; at < used; at += size) {
            vidi__pool_record *record = record_at(from, at);
            size = vidi__pool_record_size(pool, record->head / 2);
            if (vidi__pool_record_dead(record))
                continue;
            for (; size > to->size - end; to = to->next, end = 0)
                to->used = end;
            vidi__pool_record *target = record_at(to, end);
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

uint64_t vidi__pool_tell(const vidi__pool *pool, const vidi__pool_cursor *cursor)
{
    uint64_t before = cursor->at;
    for (const vidi__pool_block *block = pool->first; block && cursor->block && block != cursor->block;
         block = block->next)
        before += block->used;
    return before;
}

bool vidi__pool_seek(const vidi__pool *pool, uint64_t position, vidi__pool_cursor *cursor)
{
    *cursor = (vidi__pool_cursor){pool->first, 0};
    while (cursor->block && position > cursor->block->used) {
        position -= cursor->block->used;
        cursor->block = cursor->block->next;
    }
    if (!cursor->block)
        return position == 0;
    while (cursor->at < position) {
        const char *start = (const char *)cursor->block->records;
        const vidi__pool_record *record = (const vidi__pool_record *)(start + cursor->at);
        cursor->at += vidi__pool_record_size(pool, record->head / 2);
    }
    return cursor->at == position;
}

double vidi__pool_bytes_each(double average, unsigned extra)
{
    double padding = (sizeof(uint64_t) - 1) / 2.0;
    double record = (double)(sizeof(vidi__pool_record) + extra * sizeof(uint64_t)) + average + padding;
    return record * (1 + 1.0 / BLOCK_SHARE);
}
