/*
 * A table from ids, which are digests, to pointers. Entries are found by the id's own bits.
 */
#ifndef VIDI_CRAWLER_CRAWL_ID_MAP_H
#define VIDI_CRAWLER_CRAWL_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct id_entry {
    uint64_t id; /* 0: free */
    void *value;
} id_entry;

/* Begins as {0}. */
typedef struct id_map {
    id_entry *entries;
    size_t room, count; /* room is a power of two, or 0 */
} id_map;

/* NULL: it is not there. */
void *id_map_get(const id_map *map, uint64_t id);
/* Adds or replaces; `id` is not 0, `value` is not NULL. VIDI_OK or VIDI_EMEMORY. */
int id_map_put(id_map *map, uint64_t id, void *value);
void id_map_remove(id_map *map, uint64_t id);
/* Removes all entries and keeps the room. */
void id_map_clear(id_map *map);
void id_map_free(id_map *map); /* the values are the caller's */

#endif
