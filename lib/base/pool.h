/*
 * A store of byte strings: appended, walked in the order in which they came, dropped one by one. The exact kinds keep
 * their URLs in one.
 *
 *             +------------------+--------+--------+-----+------+
 *   chunk     | next, size, used | record | record |  …  | free |   first -> … -> last; only the last is appended to
 *             +------------------+--------+--------+-----+------+
 *             +-------------------+---------------+-------+-----------------------------+
 *   record    | length * 2 + dead | `extra` words | bytes | up to a multiple of 8 bytes |
 *             +-------------------+---------------+-------+-----------------------------+
 *
 * The words belong to the user of the pool, who says at the start how many there are: a count, a hash. A record stays
 * where it is until the pool is compacted. Dropping one only marks it. When more than half of the bytes are dead the
 * pool should be compacted: the live records slide down in place, which needs no memory and so cannot fail, and the
 * chunks behind them are given back. That is the one operation here that takes time in proportion to all that the pool
 * holds.
 *
 * Room that is lost: a chunk ends in a gap where the next record did not fit. Each gap is smaller than the record
 * behind it, so gaps are never more than the records; and a chunk is a small share of the pool.
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
    uint64_t size, used; /* bytes of records: room, and taken; never 0 taken */
    uint64_t records[];
};

typedef struct vidi__pool {
    vidi__memory *memory;
    vidi__pool_block *first, *last;
    unsigned extra; /* words of each record */
    uint64_t bytes; /* all memory of the chunks */
    uint64_t used;  /* of these, bytes of records, */
    uint64_t dead;  /* and of these, bytes of dead ones */
} vidi__pool;

/* A place in a pool. {0} is the start; one that has come to the end goes on with what is appended later. */
typedef struct vidi__pool_cursor {
    const vidi__pool_block *block;
    uint64_t at;
} vidi__pool_cursor;

void vidi__pool_init(vidi__pool *pool, vidi__memory *memory, unsigned extra);
void vidi__pool_free(vidi__pool *pool);

/* Appends a string; its words are zero. On error the pool is as before. */
int vidi__pool_add(vidi__pool *pool, vidi_str str, vidi__pool_record **record);

/*
 * Appends the next len bytes of a stream. A length that the stream cannot hold is damage; one that nobody can vouch for
 * is read piece by piece, so that a lie costs no more memory than there is data behind it.
 */
int vidi__pool_read(vidi__pool *pool, vidi__reader *reader, uint64_t len, vidi__pool_record **record);

/* Marks a live record as dead. */
void vidi__pool_drop(vidi__pool *pool, vidi__pool_record *record);

/*
 * Is told of each live record that changes its place, while all records that are yet to move are still where they were.
 */
typedef void (*vidi__pool_moved)(void *context, vidi__pool_record *from, vidi__pool_record *to);

/* Takes the dead records out. moved may be NULL. */
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

/* Bytes of a record. Beyond all reason is as good as too much: the allocator refuses it. */
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

/* Is it alive, and this string? */
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

/* Behind the last record. */
static inline vidi__pool_cursor vidi__pool_end(const vidi__pool *pool)
{
    return (vidi__pool_cursor){pool->last, pool->last ? pool->last->used : 0};
}

/* Memory for one string of that average length, when the last chunk has only just been begun; for plans. */
double vidi__pool_bytes_each(double average, unsigned extra);

#endif
