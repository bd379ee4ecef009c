/* Numbers for texts. See text_pool.h. */
#include "lab/urls/text_pool.h"

#include <stdlib.h>
#include <string.h>

#include "lib/inside/inside.h"

enum { ROOM_LEAST = 1024 };

/* The slot of the text, or the empty slot where it belongs. */
static uint64_t find_slot(const lab_pool *pool, vidi_str text)
{
    uint64_t slot = vidi__inside_checksum(&text, 1).lo & (pool->slots - 1);
    for (; pool->table[slot]; slot = (slot + 1) & (pool->slots - 1)) {
        vidi_str other = lab_pool_text(pool, pool->table[slot] - 1);
        if (other.len == text.len && memcmp(other.ptr, text.ptr, text.len) == 0)
            break;
    }
    return slot;
}

static int grow_table(lab_pool *pool)
{
    uint64_t slots = pool->slots ? 2 * pool->slots : ROOM_LEAST;
    uint32_t *table = calloc(slots, sizeof *table);
    if (!table)
        return lab_fail(VIDI_EMEMORY, "no memory for more URLs");
    free(pool->table);
    pool->table = table;
    pool->slots = slots;
    for (uint64_t number = 0; number < pool->count; number++)
        table[find_slot(pool, lab_pool_text(pool, number))] = (uint32_t)(number + 1);
    return VIDI_OK;
}

int64_t lab_pool_number(lab_pool *pool, vidi_str text)
{
    if (pool->count >= LAB_POOL_MOST)
        return lab_fail(VIDI_ELIMIT, "there are more than %llu different URLs", (unsigned long long)LAB_POOL_MOST);
    if (2 * (pool->count + 1) > pool->slots)
        LAB_TRY(grow_table(pool));
    uint64_t slot = find_slot(pool, text);
    if (pool->table[slot])
        return pool->table[slot] - 1;
    LAB_TRY(lab_grow(&pool->bytes, pool->used + text.len, &pool->room, 1));
    LAB_TRY(lab_grow(&pool->starts, pool->count + 2, &pool->starts_room, sizeof *pool->starts));
    memcpy(pool->bytes + pool->used, text.ptr, text.len);
    pool->starts[pool->count++] = pool->used;
    pool->used += text.len;
    pool->starts[pool->count] = pool->used;
    pool->table[slot] = (uint32_t)pool->count;
    return (int64_t)pool->count - 1;
}

void lab_pool_close(lab_pool *pool)
{
    free(pool->table);
    pool->table = NULL;
    pool->slots = 0;
}

void lab_pool_free(lab_pool *pool)
{
    lab_pool_close(pool);
    free(pool->bytes);
    free(pool->starts);
    memset(pool, 0, sizeof *pool);
}
