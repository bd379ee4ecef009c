/*
 * Link graphs: pages, their links in the order of the page, and the host of each page. They are made by a study
 * (lab/graph) or read from files (link_graph.c).
 */
#ifndef VIDI_LAB_URLS_LINK_GRAPH_H
#define VIDI_LAB_URLS_LINK_GRAPH_H

#include "lab/engine/lab.h"
#include "lab/urls/run_urls.h"

struct lab_graph {
    uint32_t pages, hosts;
    uint64_t *first; /* [pages + 1]: where the links of each page begin */
    uint32_t *to;    /* the targets of all links, page after page */
    uint32_t *host;  /* [pages] */
    uint32_t *seeds; /* pages that the crawler is given */
    uint32_t seed_count;
    uint32_t
        at_once; /* the number of seeds given at the start; each of the others is given when nothing is left to fetch */
    lab_texts texts;                   /* the URLs of the pages */
    struct lab_graph_reading *reading; /* only while files are read */
    const char *const *files;          /* their names, if it was read; they belong to the caller */
    size_t file_count;
    uint64_t mark; /* a hash of the whole graph, if it was read */
};

static inline uint64_t lab_graph_links(const lab_graph *graph)
{
    return graph->first[graph->pages];
}

/* Marks the pages that a crawl without losses reaches from the seeds with 1, and counts them. */
uint32_t lab_graph_reached(const lab_graph *graph, uint8_t *reached, uint32_t *queue);

#endif
