/*
 * Links in the head of a response: where it redirects to, Link and Refresh.
 */
#ifndef VIDI_CRAWLER_HARVEST_HARVEST_HEADERS_H
#define VIDI_CRAWLER_HARVEST_HARVEST_HEADERS_H

#include "crawler/harvest/harvest_links.h"

/* Keeps where Location leads to. VIDI_OK or VIDI_EMEMORY. */
int harvest_location(harvest_collector *c, vidi_str head);

/*
 * Collects what Link names, as a `link` element would, and where Refresh leads to, as a meta refresh would. Links that say
 * what they are the anchor of are about another page, and are left out. VIDI_OK or VIDI_EMEMORY.
 */
int harvest_header_links(harvest_collector *c, vidi_str head);

/* True if such a link names something that the page loads: a style sheet, an icon, a preload. */
bool harvest_rel_is_resource(vidi_str rel);

#endif
