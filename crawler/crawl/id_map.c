/*
 * Open addressing with linear probing: see id_map.h. At most half of the table is in use.
 */
#include "crawler/crawl/id_map.h"

#include <stdlib.h>
#include <string.h>

#include "vidi/vidi.h"

enum { FIRST_ROOM = 64 };

/* Where the id is, or the free place where it belongs. */
static size_t place_of(const id_map *map, uint64_t id)
{
    size_t at = (size_t)id & (map->room - 1);

    while (map->entries[at].id && map->entries[at].id != id)
        at = (at + 1) & (map->room - 1);
    return at;
}

void *id_map_get(const id_map *map, uint64_t id)
{
    return map->room ? map->entries[place_of(map, id)].value : NULL;
}

static int grow(id_map *map)
{
    id_map larger = {.room = map->room ? map->room * 2 : FIRST_ROOM, .count = map->count};

    larger.entries = calloc(larger.room, sizeof *larger.entries);
    if (!larger.entries)
        return VIDI_EMEMORY;
    for (size_t i = 0; i < map->room; i++)
        if (map->entries[i].id)
            larger.entries[place_of(&larger, map->entries[i].id)] = map->entries[i];
    free(map->entries);
    *map = larger;
    return VIDI_OK;
}

int id_map_put(id_map *map, uint64_t id, void *value)
{
    if (map->count * 2 >= map->room && grow(map) != VIDI_OK)
        return VIDI_EMEMORY;
    id_entry *entry = &map->entries[place_of(map, id)];
    if (!entry->id)
        map->count++;
    *entry = (id_entry){id, value};
    return VIDI_OK;
}

void id_map_remove(id_map *map, uint64_t id)
{
    if (!map->room)
        return;
    size_t mask = map->room - 1, free_at = place_of(map, id);
    if (!map->entries[free_at].id)
        return;
    map->count--;
    /* Later entries move up if the gap would make them unreachable. */
    for (size_t at = (free_at + 1) & mask; map->entries[at].id; at = (at + 1) & mask) {
        size_t home = (size_t)map->entries[at].id & mask;
        if (((at - home) & mask) >= ((at - free_at) & mask)) {
            map->entries[free_at] = map->entries[at];
            free_at = at;
        }
    }
    map->entries[free_at] = (id_entry){0};
}

void id_map_clear(id_map *map)
{
    if (map->count > 0)
        memset(map->entries, 0, map->room * sizeof *map->entries);
    map->count = 0;
}

void id_map_free(id_map *map)
{
    free(map->entries);
    *map = (id_map){0};
}
