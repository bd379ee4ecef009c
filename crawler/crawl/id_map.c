/*
 * Open addressing with linear probing: see id_map.h. At most half of the table is in use.
 */
#include "crawler/crawl/id_map.h"

#include <stdlib.h>

#include "vidi/vidi.h"

enum { FIRST_ROOM = 64 };

/* Where the id is, or the free place where it belongs. */
static size_t place_of(const id_map *of, uint64_t id)
{
    size_t at = (size_t)id & (of->room - 1);

    while (of->entries[at].id && of->entries[at].id != id)
        at = (at + 1) & (of->room - 1);
    return at;
}

void *id_map_get(const id_map *of, uint64_t id)
{
    return of->room ? of->entries[place_of(of, id)].value : NULL;
}

static int grow(id_map *of)
{
    id_map larger = {.room = of->room ? of->room * 2 : FIRST_ROOM, .count = of->count};

    larger.entries = calloc(larger.room, sizeof *larger.entries);
    if (!larger.entries)
        return VIDI_EMEMORY;
    for (size_t i = 0; i < of->room; i++)
        if (of->entries[i].id)
            larger.entries[place_of(&larger, of->entries[i].id)] = of->entries[i];
    free(of->entries);
    *of = larger;
    return VIDI_OK;
}

int id_map_put(id_map *of, uint64_t id, void *value)
{
    if (of->count * 2 >= of->room && grow(of) != VIDI_OK)
        return VIDI_EMEMORY;
    id_entry *entry = &of->entries[place_of(of, id)];
    if (!entry->id)
        of->count++;
    *entry = (id_entry){id, value};
    return VIDI_OK;
}

void id_map_remove(id_map *of, uint64_t id)
{
    if (!of->room)
        return;
    size_t mask = of->room - 1, free_at = place_of(of, id);
    if (!of->entries[free_at].id)
        return;
    of->count--;
    /* Entries behind it move up if they can no longer be reached over the gap. */
    for (size_t at = (free_at + 1) & mask; of->entries[at].id; at = (at + 1) & mask) {
        size_t home = (size_t)of->entries[at].id & mask;
        if (((at - home) & mask) >= ((at - free_at) & mask)) {
            of->entries[free_at] = of->entries[at];
            free_at = at;
        }
    }
    of->entries[free_at] = (id_entry){0};
}

void id_map_free(id_map *of)
{
    free(of->entries);
    *of = (id_map){0};
}
