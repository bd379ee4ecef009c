/*
 * A store of byte strings. Strings are appended, visited in the order of insertion, and removed one by one. The exact
 * kinds keep their URLs in one.
 *
 *               +------------------+--------+--------+-----+------+
 *     block     | next, size, used | record | record |  …  | free |   first -> … -> last; only the last is appended to
 *               +------------------+--------+--------+-----+------+
 *               +-------------------+---------------+-------+-----------------------------+
 *     record    | length * 2 + dead | `extra` words | bytes | up to a multiple of 8 bytes |
 *               +-------------------+---------------+-------+-----------------------------+
 *
 * The words belong to the user of the pool, who sets their number at the start: a count, a hash. A record stays where
 * it is until the pool is compacted; removing it only sets its dead bit. The pool should be compacted when more than
 * half of its bytes are dead: the live records move down in place, which needs no memory and so cannot fail, and empty
 * blocks are released. Compaction is the only operation here that takes time in proportion to the whole pool.
 *
 * Wasted room: a block ends in a gap if the next record did not fit. Each gap is smaller than the record after it, so
 * gaps never exceed the records. And a block is a small share of the pool.
 */
#ifndef VIDI_BASE_POOL_H
#define VIDI_BASE_POOL_H

#include "base/memory.h"
#include "base/stream.h"

typedef struct vidi__pool_record {
    uint64_t head; /* length * 2 + dead */
    uint64_t words[];
} vidi__pool_record;

typedef struct vidi__pool_block vidi__pool_block;
struct vidi__pool_block {
    vidi__pool_block *next;
    uint64_t size, used; /* bytes for records, and bytes in use, which are never 0 */
    uint64_t records[];
};

typedef struct vidi__pool {
    vidi__memory *memory;
    vidi__pool_block *first, *last;
    unsigned extra; /* words per record */
    uint64_t bytes; /* memory of all blocks */
    uint64_t used;  /* bytes of all records */
    uint64_t dead;  /* bytes of dead records */
} vidi__pool;

/* A position in a pool. {0} is the start. A cursor at the end continues with records that are appended later. */
typedef struct vidi__pool_cursor {
    const vidi__pool_block *block;
    uint64_t at;
} vidi__pool_cursor;

void vidi__pool_init(vidi__pool *pool, vidi__memory *memory, unsigned extra);
void vidi__pool_free(vidi__pool *pool);

/* Appends a string; its words are zero. An error leaves the pool unchanged. */
int vidi__pool_add(vidi__pool *pool, vidi_str str, vidi__pool_record **record);

/*
 * Appends the next len bytes of a stream. A length that exceeds the stream is damage. If the length of the stream is
 * unknown, the bytes are read piece by piece, so a false length costs no more memory than there is data.
 */
int vidi__pool_read(vidi__pool *pool, vidi__reader *reader, uint64_t len, vidi__pool_record **record);

/* Removes a live record by setting its dead bit. */
void vidi__pool_drop(vidi__pool *pool, vidi__pool_record *record);

/* Called for each live record that moves, while all records that have yet to move are still in their old places. */
typedef void (*vidi__pool_moved)(void *context, vidi__pool_record *from, vidi__pool_record *to);

/* Removes the dead records. `moved` may be NULL. */
void vidi__pool_compact(vidi__pool *pool, vidi__pool_moved moved, void *context);

static inline bool vidi__pool_wasteful(const vidi__pool *pool)
{
    return pool->dead > pool->used / 2;
}

static inline uint64_t vidi__pool_record_head(size_t len)
{
    return (uint64_t)len * 2;
}

static inline bool vidi__pool_record_dead(const vidi__pool_record *record)
{
    return record->head & 1;
}

/* Bytes of a record. Absurd lengths give a size that every allocator rejects. */
static inline uint64_t vidi__pool_record_size(const vidi__pool *pool, uint64_t len)
{
    if (len > UINT64_MAX / 4)
        return UINT64_MAX / 2;
    return sizeof(vidi__pool_record) + pool->extra * sizeof(uint64_t) + vidi__round_up(len, sizeof(uint64_t));
}

static inline vidi_str vidi__pool_record_str(const vidi__pool *pool, const vidi__pool_record *record)
{
    return (vidi_str){(const char *)(record->words + pool->extra), (size_t)(record->head / 2)};
}

/* Returns true if the record is alive and equals this string. */
static inline bool vidi__pool_record_is(const vidi__pool *pool, const vidi__pool_record *record, vidi_str str)
{
    return record->head == vidi__pool_record_head(str.len) &&
           (str.len == 0 || memcmp(vidi__pool_record_str(pool, record).ptr, str.ptr, str.len) == 0);
}

/* The next live record, or NULL. */
static inline vidi__pool_record *vidi__pool_next(const vidi__pool *pool, vidi__pool_cursor *cursor)
{
    if (!cursor->block) {
        cursor->block = pool->first;
        if (!cursor->block)
            return NULL;
    }
    for (;;) {
        while (cursor->at < cursor->block->used) {
            const char *start = (const char *)cursor->block->records;
            vidi__pool_record *record = (vidi__pool_record *)(start + cursor->at);
            cursor->at += vidi__pool_record_size(pool, record->head / 2);
            if (!vidi__pool_record_dead(record))
                return record;
        }
        if (!cursor->block->next)
            return NULL;
        *cursor = (vidi__pool_cursor){cursor->block->next, 0};
    }
}

/* The position after the last record. */
static inline vidi__pool_cursor vidi__pool_end(const vidi__pool *pool)
{
    return (vidi__pool_cursor){pool->last, pool->last ? pool->last->used : 0};
}

/* The position of a cursor as a number: bytes of records before it. Compacting changes these numbers. */
uint64_t vidi__pool_tell(const vidi__pool *pool, const vidi__pool_cursor *cursor);
/* The cursor at such a position; false if no record begins or ends there. Takes time in proportion to one block. */
bool vidi__pool_seek(const vidi__pool *pool, uint64_t position, vidi__pool_cursor *cursor);

/* Memory per string of this average length if the last block has just been started; for plans. */
double vidi__pool_bytes_each(double average, unsigned extra);

#endif
