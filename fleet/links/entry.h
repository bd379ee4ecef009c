/*
 * An entry of a stream: links on their way to the owner of their sites.
 *
 *     1 | length of holder | holder | { length of URL, 2 | URL | length of payload, 2 | payload } ...
 *
 * Lengths of two bytes are little-endian. The holder is the name under which the links are claimed already: that of a
 * sweeper, of a member that hands pages over, or of a dead one. Whoever takes the entry releases these claims before it
 * makes its own. With ENTRY_MAYBE before it, the holder is alive and may have claimed them: then it claims them again,
 * and others leave its claims alone. A holder of no bytes: nobody has claimed the links yet.
 *
 * Entries come over the network. Reading one checks everything: sizes, and that each URL is one, serialised, without a
 * fragment, and of http or https.
 */
#ifndef VIDI_FLEET_LINKS_ENTRY_H
#define VIDI_FLEET_LINKS_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/bytes.h"
#include "vidi/vidi.h"

enum {
    ENTRY_BYTES = 16 << 10,  /* from which on an entry takes no more links */
    ENTRY_LIMIT = 192 << 10, /* largest that is read: the above, and one link of the greatest size */
    ENTRY_HOLDER = 80        /* room for a holder's name, with the zero byte */
};

#define ENTRY_MAYBE "?"

/* VIDI_OK, or VIDI_EMEMORY with the entry as it was. */
int entry_begin(bytes *entry, vidi_str holder);
/* VIDI_EARGUMENT: URL or payload are longer than an entry can hold. */
int entry_add(bytes *entry, vidi_str url, vidi_str payload);

typedef struct entry_reader {
    vidi_str rest;
    vidi_str holder;
} entry_reader;

/* False if it is not an entry. */
bool entry_open(entry_reader *reader, vidi_str entry);
/* The next link, whose strings lie in the entry. VIDI_OK, VIDI_EABSENT at the end, VIDI_EDAMAGED. */
int entry_next(entry_reader *reader, vidi_str *url, vidi_str *payload);

/* Whether this is a URL that a crawl can fetch, serialised, without a fragment. */
bool entry_is_web_url(vidi_str url);

#endif
