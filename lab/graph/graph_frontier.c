/*
 * The pages that a crawler has met and not yet fetched, in three orders. See graph.h.
 *
 * Breadth first is one queue. Per host is a queue for each host, linked through `next`, and a ring of the hosts whose
 * queue is not empty. Best first has a queue for each number of links; a page that gets another link is appended to the
 * next queue, and its old entry is skipped when its turn comes.
 */
#include "lab/engine/run_memory.h"
#include "lab/graph/graph.h"

#include <stdlib.h>
#include <string.h>

enum { LINKS_MOST = 1023 }; /* best first: more links to a page are not counted */
#define NOTHING UINT32_MAX

/* Chains of entries: [first, last] of each queue, and the next of each entry. */
typedef struct chain {
    uint32_t first, last;
} chain;

struct lab_frontier {
    lab_order order;
    const uint32_t *host;
    uint32_t *ring; /* breadth first: pages; per host: hosts with waiting pages. In turn, from head to tail */
    uint64_t head, tail, room;
    chain *chains;         /* per host: of a host; best first: of a number of links */
    uint32_t *next;        /* [entry]; an entry of per host is the page itself */
    uint32_t *page;        /* best first: [entry] */
    uint32_t *links;       /* best first: [page]: links met; 0: not waiting */
    uint32_t entries, top; /* best first: entries made, and the highest queue that may not be empty */
};

static size_t chain_count(const lab_graph *graph, lab_order order)
{
    return order == LAB_PER_HOST ? graph->hosts : LINKS_MOST + 1;
}

/* A page has at most one entry for each link to it. */
static size_t entry_count(const lab_graph *graph, lab_order order)
{
    return order == LAB_PER_HOST ? graph->pages : graph->pages + lab_graph_links(graph);
}

int lab_frontier_make(lab_frontier **made, const lab_graph *graph, lab_order order)
{
    LAB_TRY(LAB_NEW(*made, 1));
    lab_frontier *frontier = *made;
    frontier->order = order;
    frontier->host = graph->host;
    frontier->room = (uint64_t)(order == LAB_PER_HOST ? graph->hosts : graph->pages) + 1;
    LAB_TRY(LAB_NEW(frontier->ring, frontier->room));
    LAB_TRY(LAB_NEW(frontier->chains, chain_count(graph, order)));
    LAB_TRY(LAB_NEW(frontier->next, entry_count(graph, order) + 1));
    LAB_TRY(LAB_NEW(frontier->page, entry_count(graph, order) + 1));
    LAB_TRY(LAB_NEW(frontier->links, graph->pages));
    memset(frontier->chains, 0xff, chain_count(graph, order) * sizeof *frontier->chains);
    return VIDI_OK;
}

static void append(lab_frontier *frontier, chain *chain, uint32_t entry)
{
    frontier->next[entry] = NOTHING;
    if (chain->first == NOTHING)
        chain->first = entry;
    else
        frontier->next[chain->last] = entry;
    chain->last = entry;
}

static uint32_t take_first(lab_frontier *frontier, chain *chain)
{
    uint32_t entry = chain->first;
    chain->first = frontier->next[entry];
    return entry;
}

static void put_in_ring(lab_frontier *frontier, uint32_t number)
{
    frontier->ring[frontier->tail++ % frontier->room] = number;
}

static uint32_t take_from_ring(lab_frontier *frontier)
{
    return frontier->ring[frontier->head++ % frontier->room];
}

/* Best first: the page waits with one link more. */
static void rise(lab_frontier *frontier, uint32_t page)
{
    if (frontier->links[page] == LINKS_MOST)
        return;
    uint32_t links = ++frontier->links[page], entry = frontier->entries++;
    frontier->page[entry] = page;
    append(frontier, &frontier->chains[links], entry);
    if (links > frontier->top)
        frontier->top = links;
}

void lab_frontier_push(lab_frontier *frontier, uint32_t page)
{
    if (frontier->order == LAB_BEST_FIRST) {
        rise(frontier, page);
    } else if (frontier->order == LAB_BREADTH_FIRST) {
        put_in_ring(frontier, page);
    } else {
        chain *chain = &frontier->chains[frontier->host[page]];
        if (chain->first == NOTHING)
            put_in_ring(frontier, frontier->host[page]);
        append(frontier, chain, page);
    }
}

void lab_frontier_again(lab_frontier *frontier, uint32_t page)
{
    if (frontier->order == LAB_BEST_FIRST && frontier->links[page] > 0)
        rise(frontier, page);
}

static bool pop_best(lab_frontier *frontier, uint32_t *page)
{
    while (frontier->top > 0) {
        chain *chain = &frontier->chains[frontier->top];
        if (chain->first == NOTHING) {
            frontier->top--;
            continue;
        }
        *page = frontier->page[take_first(frontier, chain)];
        if (frontier->links[*page] == frontier->top) { /* otherwise it has risen, or was fetched */
            frontier->links[*page] = 0;
            return true;
        }
    }
    return false;
}

bool lab_frontier_pop(lab_frontier *frontier, uint32_t *page)
{
    if (frontier->order == LAB_BEST_FIRST)
        return pop_best(frontier, page);
    if (frontier->head == frontier->tail)
        return false;
    *page = take_from_ring(frontier);
    if (frontier->order == LAB_PER_HOST) {
        chain *chain = &frontier->chains[*page];
        *page = take_first(frontier, chain);
        if (chain->first != NOTHING)
            put_in_ring(frontier, frontier->host[*page]);
    }
    return true;
}
