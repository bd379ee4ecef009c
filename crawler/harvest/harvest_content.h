/*
 * What to make of the content of a response: a page of HTML, a style sheet, a sitemap, or nothing that has links.
 */
#ifndef VIDI_CRAWLER_HARVEST_HARVEST_CONTENT_H
#define VIDI_CRAWLER_HARVEST_HARVEST_CONTENT_H

#include "crawler/harvest/harvest_links.h"

typedef enum harvest_content {
    HARVEST_NOTHING, /* no links in it */
    HARVEST_HTML,
    HARVEST_CSS,
    HARVEST_SITEMAP,
    HARVEST_XML,      /* of a seed: maybe a sitemap or a feed */
    HARVEST_UNDECIDED /* the server does not say; the content must tell */
} harvest_content;

/* By the media type and by what the URL is to the crawl. */
harvest_content harvest_content_by_type(const char *type, frontier_kind kind);

/* By the content, for HARVEST_UNDECIDED. */
harvest_content harvest_content_by_bytes(vidi_str content, frontier_kind kind);

/* Reads a page; charset is the label in its Content-Type. Takes its links if `with_links`; what it asks of robots is added to *robots (html_robots). */
int harvest_html(harvest_collector *c, vidi_str content, vidi_str charset, bool with_links, uint32_t *robots);

/* Reads a style sheet; charset as above. */
int harvest_css(harvest_collector *c, vidi_str content, vidi_str charset);

/* Reads a sitemap, an index or a feed; text with a URL per line only if `plain_text`. */
int harvest_sitemap(harvest_collector *c, vidi_str content, bool plain_text);

#endif
