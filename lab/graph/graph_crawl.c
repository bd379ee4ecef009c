/*
 * A crawl over a link graph. See graph.h.
 *
 * The set is asked about a link each time it is found, as by a crawler that keeps nothing but the set.
 * What the set answers decides alone whether the page is fetched. Beside it, the crawl remembers which pages were met,
 * by which it knows what is lost: a page that is "seen" when it is first met. Later links to a lost page change
 * nothing, because a filter that has said "seen" goes on saying so.
 */
#include "lab/engine/run_memory.h"
#include "lab/graph/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 256 };

static int make_crawl(lab_crawl *crawl, const lab_graph *graph)
{
    memset(crawl, 0, sizeof *crawl);
    LAB_TRY(LAB_NEW(crawl->position, graph->pages));
    LAB_TRY(LAB_NEW(crawl->depth, graph->pages));
    LAB_TRY(LAB_NEW(crawl->met, graph->pages));
    LAB_TRY(LAB_NEW(crawl->lost, graph->pages));
    for (uint32_t page = 0; page < graph->pages; page++)
        crawl->position[page] = LAB_NEVER_MET;
    return VIDI_OK;
}

typedef struct crawling {
    lab_crawl *crawl;
    const lab_graph *graph;
    lab_frontier *frontier;
    vidi_set *set; /* NULL: no losses */
} crawling;

/* Acts on the set's answer about a page that a link at this depth leads to. */
static int take_answer(const crawling *crawling, uint32_t page, uint32_t depth, bool seen)
{
    lab_crawl *crawl = crawling->crawl;
    if (crawl->position[page] != LAB_NEVER_MET) {
        if (!seen)
            return lab_fail(VIDI_EDAMAGED, "the set forgot a page that it was given before");
        if (!crawl->lost[page])
            lab_frontier_again(crawling->frontier, page);
        return VIDI_OK;
    }
    crawl->met[crawl->met_count] = page;
    crawl->position[page] = crawl->met_count++;
    crawl->depth[page] = depth;
    crawl->lost[page] = seen;
    crawl->lost_count += seen;
    if (!seen)
        lab_frontier_push(crawling->frontier, page);
    return VIDI_OK;
}

static int follow_links(const crawling *crawling, const uint32_t *pages, uint64_t count, uint32_t depth)
{
    vidi_str urls[BATCH];
    uint8_t verdicts[BATCH];
    crawling->crawl->asked += count;
    for (uint64_t done = 0; done < count; done += BATCH) {
        size_t some = count - done < BATCH ? (size_t)(count - done) : BATCH;
        for (size_t i = 0; i < some; i++)
            urls[i] = crawling->graph->texts.urls[pages[done + i]];
        if (crawling->set)
            LAB_TRY(vidi_add_batch(crawling->set, urls, some, verdicts, NULL));
        for (size_t i = 0; i < some; i++) {
            uint32_t page = pages[done + i];
            bool seen = crawling->set ? verdicts[i] == VIDI_SEEN : crawling->crawl->position[page] != LAB_NEVER_MET;
            LAB_TRY(take_answer(crawling, page, depth, seen));
        }
    }
    return VIDI_OK;
}

static int crawl_all(const crawling *crawling)
{
    const lab_graph *graph = crawling->graph;
    uint32_t page, given = graph->at_once;
    LAB_TRY(follow_links(crawling, graph->seeds, given, 0));
    for (;;) {
        while (lab_frontier_pop(crawling->frontier, &page))
            LAB_TRY(follow_links(crawling, graph->to + graph->first[page], graph->first[page + 1] - graph->first[page],
                                 crawling->crawl->depth[page] + 1));
        if (given >= graph->seed_count)
            return VIDI_OK;
        LAB_TRY(follow_links(crawling, graph->seeds + given++, 1, 0));
    }
}

int lab_crawl_run(lab_crawl *crawl, const lab_graph *graph, lab_order order, vidi_set *set)
{
    crawling crawling = {.crawl = crawl, .graph = graph, .set = set};
    LAB_TRY(make_crawl(crawl, graph));
    LAB_BLOCK; /* of the frontier */
    LAB_TRY(lab_frontier_make(&crawling.frontier, graph, order));
    return crawl_all(&crawling);
}

int lab_crawl_filtered(lab_crawl *crawl, const lab_graph *graph, lab_order order, lab_graph_filter filter,
                       const lab_settings *settings, uint64_t run, double *reported)
{
    LAB_OWN(lab_close) vidi_set *set = NULL;
    vidi_stats stats = {.size = sizeof stats};
    char params[64];
    memset(crawl, 0, sizeof *crawl);
    snprintf(params, sizeof params, "k=%u,m=%.0f", filter.k, lab_graph_filter_bits(filter, graph->pages));
    LAB_TRY(lab_set_make(&set, settings, run, "classic", params, graph->pages));
    LAB_TRY(lab_crawl_run(crawl, graph, order, set));
    LAB_TRY(vidi_stat(set, &stats));
    *reported = stats.expected_lost;
    return VIDI_OK;
}
