/*
 * Fragments, and what they lead to on a page: an element with this id, or an `a` element with this name (the HTML
 * Standard, "find a potential indicated element"). A page's names are kept as their hashes, sorted.
 */
#ifndef VIDI_CRAWLER_BASE_FRAGMENTS_H
#define VIDI_CRAWLER_BASE_FRAGMENTS_H

#include <stdbool.h>

#include "crawler/base/bytes.h"

/* What comes after the '#', without text directives (":~:text=…"). False if there is no '#'. */
bool fragment_of(vidi_str url, vidi_str *fragment);

/* Adds a name to a list that is not sorted yet. */
int fragment_names_add(bytes *names, vidi_str name);
void fragment_names_sort(bytes *names);

/*
 * *leads: the fragment leads somewhere on a page with these names, as it is, percent-decoded, or to the top of the page.
 * `decoded` is room to work in. If a name has the same hash by accident, an error is overlooked. VIDI_OK or VIDI_EMEMORY.
 */
int fragment_leads(vidi_str names, vidi_str fragment, bytes *decoded, bool *leads);

#endif
