/* Numbers for texts. See text_pool.h. */
#include "lab/urls/text_pool.h"

#include <stdlib.h>
#include <string.h>

#include "lib/inside/inside.h"

enum { ROOM_LEAST = 1024 };

static int no_memory(void)
{
    return lab_fail(VIDI_EMEMORY, "no memory for more URLs");
}

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
        return no_memory();
    free(pool->table);
    pool->table = table;
    pool->slots = slots;
    for (uint64_t number = 0; number < pool->count; number++)
        table[find_slot(pool, lab_pool_text(pool, number))] = (uint32_t)(number + 1);
    return VIDI_OK;
}

/* Makes room for one more text of this length. */
static int make_room(lab_pool *pool, size_t length)
{
    if (pool->room - pool->used <= length) {
        size_t room = 2 * pool->room + length + ROOM_LEAST;
        char *bytes = realloc(pool->bytes, room);
        if (!bytes)
            return no_memory();
        pool->bytes = bytes;
        pool->room = room;
    }
    if (pool->starts_room < pool->count + 2) {
        uint64_t room = 2 * pool->starts_room + ROOM_LEAST;
        size_t *starts = realloc(pool->starts, room * sizeof *starts);
        if (!starts)
            return no_memory();
        pool->starts = starts;
        pool->starts_room = room;
    }
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
    LAB_TRY(make_room(pool, text.len));
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
