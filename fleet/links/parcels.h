/*
 * Links on their way to streams: packed into entries, one pile for each member that gets some.
 */
#ifndef VIDI_FLEET_LINKS_PARCELS_H
#define VIDI_FLEET_LINKS_PARCELS_H

#include "fleet/links/fleet_inside.h"

enum { PARCEL_ENTRIES = 8 }; /* that one command appends */

/* Up to PARCEL_ENTRIES entries for one stream. */
typedef struct parcel {
    char life[FLEET_NAME];
    bytes text;
    size_t ends[PARCEL_ENTRIES]; /* of the entries in the text; the last one may still be open */
    size_t count;
    size_t *tags; /* of its links */
    size_t tag_count, tag_room;
    bool refused; /* the stream was too long */
    char key[WIRE_KEY];
    command command;
} parcel;

/* Begins as {0}. */
typedef struct parcels {
    parcel **list;
    size_t count, room;
} parcels;

/* tag: any number by which the caller knows the link. VIDI_OK, VIDI_EARGUMENT (too long), VIDI_EMEMORY. */
int parcels_add(parcels *all, const char *life, vidi_str holder, vidi_str url, vidi_str payload, size_t tag);

/*
 * Appends them to the streams. limit: a stream with so many entries gets none; 0: no limit. *refused (may be NULL): how
 * many parcels were not appended for that reason.
 */
int parcels_send(parcels *all, fleet *fleet, wire *wire, uint64_t limit, size_t *refused);
void parcels_free(parcels *all);

#endif
