/*
 * Synthetic link graphs that depend on (seed, run) and their form alone, in time proportional to their links.
 *
 *   hosts    pages choose their host with probability proportional to (rank + 1)^-a: sizes by a power law of exponent
 *            1 + 1/a = 2.1, with at most one host for 20 pages
 *   links    their number on a page is lognormal with the form's mean; many pages have none, a few have hundreds
 *   local    each link stays on its host with the form's probability
 *   in       every page but the seeds is first linked by one earlier page, on its own host if links are free there: a
 *            site's navigation. All other links choose their targets by popularity, (rank + 1)^-a with the rank of age,
 *            among the pages of the host or of all: the number of links to a page has a power law of exponent 1 + 1/a
 *            (the static model of Goh, Kahng and Kim), like that of preferential attachment
 *   seeds    the first LAB_GRAPH_SEEDS pages, each with at least as many links
 *
 * A page may link to itself or twice to another. All pages are in reach of the seeds, unless there is hardly more than
 * one link per page, so that the free links run out.
 */
#include "lab/engine/run_memory.h"
#include "lab/graph/graph.h"

#include <math.h>
#include <stdlib.h>

#include "lab/urls/mix.h"

#define HOST_EXPONENT 2.1
#define LINKS_SPREAD 1.25 /* standard deviation of the logarithm of the number of links */

enum { PAGES_PER_HOST = 20, NOWHERE = -1 };

/* Pools of links whose target is still open: one for each host, and one for links that leave their host. */
typedef struct pools {
    uint64_t *links; /* pool after pool */
    uint64_t *first; /* [hosts + 1]: where each begins; the last is that of links that leave */
    uint64_t *open;  /* [hosts + 1]: how many links are in it */
    uint32_t next;   /* where to look for links if the right pools are empty */
} pools;

typedef struct maker {
    lab_graph *graph;
    const lab_graph_form *form;
    uint64_t start, drawn;
    uint8_t *local;    /* [link] */
    uint32_t *member;  /* pages by host, oldest first */
    uint32_t *members; /* [hosts + 1]: where those of a host begin */
    pools pools;
} maker;

static uint64_t draw_bits(maker *maker)
{
    return lab_mix(maker->start + ++maker->drawn * UINT64_C(0x9e3779b97f4a7c15));
}

/* Above 0 and below 1. */
static double draw(maker *maker)
{
    return ((double)(draw_bits(maker) >> 11) + 0.5) * 0x1p-53;
}

/* A rank below `count` with probability proportional to about (rank + 1)^-a, for a power law of exponent 1 + 1/a. */
static uint32_t draw_rank(maker *maker, uint32_t count, double exponent)
{
    double a = exponent > 0 ? 1 / (exponent - 1) : 0, chance = draw(maker);
    double rank = pow(1 + chance * (pow((double)count + 1, 1 - a) - 1), 1 / (1 - a)) - 1;
    return rank < count ? (uint32_t)rank : count - 1;
}

/* Lognormal, rounded up or down at random so that the mean stays. */
static uint64_t draw_links(maker *maker, double mean)
{
    double normal = sqrt(-2 * log(draw(maker))) * cos(2 * M_PI * draw(maker));
    double links = mean * exp(LINKS_SPREAD * normal - LINKS_SPREAD * LINKS_SPREAD / 2);
    return (uint64_t)(links + draw(maker));
}

/* ---- pages, hosts and the number of links ---- */

static void choose_hosts(maker *maker)
{
    lab_graph *graph = maker->graph;
    for (uint32_t page = 0; page < graph->pages; page++)
        maker->members[(graph->host[page] = draw_rank(maker, graph->hosts, HOST_EXPONENT)) + 1]++;
    for (uint32_t host = 0; host < graph->hosts; host++)
        maker->members[host + 1] += maker->members[host];
    for (uint32_t page = graph->pages; page-- > 0;)
        maker->member[--maker->members[graph->host[page] + 1]] = page;
    /* Each entry is now where the host before it begins. */
    for (uint32_t host = 0; host < graph->hosts; host++)
        maker->members[host] = maker->members[host + 1];
    maker->members[graph->hosts] = graph->pages;
}

static void choose_numbers(maker *maker)
{
    lab_graph *graph = maker->graph;
    graph->first[0] = 0;
    for (uint32_t page = 0; page < graph->pages; page++) {
        uint64_t links = draw_links(maker, maker->form->links);
        if (page < LAB_GRAPH_SEEDS && links < LAB_GRAPH_SEEDS)
            links = LAB_GRAPH_SEEDS;
        graph->first[page + 1] = graph->first[page] + links;
    }
}

static uint32_t pool_of(const maker *maker, uint32_t page, uint64_t link)
{
    return maker->local[link] ? maker->graph->host[page] : maker->graph->hosts;
}

static void size_pools(maker *maker)
{
    const lab_graph *graph = maker->graph;
    pools *pools = &maker->pools;
    for (uint32_t page = 0; page < graph->pages; page++)
        for (uint64_t link = graph->first[page]; link < graph->first[page + 1]; link++) {
            maker->local[link] = draw(maker) < maker->form->local;
            pools->first[pool_of(maker, page, link) + 1]++;
        }
    for (uint32_t pool = 0; pool <= graph->hosts; pool++)
        pools->first[pool + 1] += pools->first[pool];
}

/* ---- targets ---- */

/* Takes a link out of a pool at random. */
static int64_t take_open(maker *maker, uint32_t pool)
{
    pools *pools = &maker->pools;
    if (pools->open[pool] == 0)
        return NOWHERE;
    uint64_t *links = pools->links + pools->first[pool];
    uint64_t chosen = lab_scale(draw_bits(maker), pools->open[pool]), link = links[chosen];
    links[chosen] = links[--pools->open[pool]];
    return (int64_t)link;
}

/* A link for a new page: of its own host if there is one, or one that leaves its host, or any other. */
static int64_t take_link_to(maker *maker, uint32_t page)
{
    const lab_graph *graph = maker->graph;
    int64_t link = take_open(maker, graph->host[page]);
    if (link == NOWHERE)
        link = take_open(maker, graph->hosts);
    for (uint32_t tried = 0; link == NOWHERE && tried < graph->hosts; tried++)
        link = take_open(maker, maker->pools.next++ % graph->hosts);
    return link;
}

/* Gives every page one link to it from an earlier page. */
static void link_once(maker *maker)
{
    lab_graph *graph = maker->graph;
    pools *pools = &maker->pools;
    for (uint32_t page = 0; page < graph->pages; page++) {
        if (page >= LAB_GRAPH_SEEDS) {
            int64_t link = take_link_to(maker, page);
            if (link == NOWHERE)
                continue; /* it may be out of reach, so its links do not lead to new pages */
            graph->to[link] = page;
        }
        for (uint64_t link = graph->first[page]; link < graph->first[page + 1]; link++) {
            uint32_t pool = pool_of(maker, page, link);
            pools->links[pools->first[pool] + pools->open[pool]++] = link;
        }
    }
}

static void link_by_popularity(maker *maker)
{
    lab_graph *graph = maker->graph;
    double exponent = maker->form->exponent;
    for (uint32_t page = 0; page < graph->pages; page++)
        for (uint64_t link = graph->first[page]; link < graph->first[page + 1]; link++) {
            uint32_t host = graph->host[page], begin = maker->members[host], end = maker->members[host + 1];
            if (graph->to[link] != LAB_NEVER_MET)
                continue;
            graph->to[link] = maker->local[link] ? maker->member[begin + draw_rank(maker, end - begin, exponent)]
                                                 : draw_rank(maker, graph->pages, exponent);
        }
}

/* ---- all of it ---- */

static int make_pages(maker *maker, uint64_t pages)
{
    lab_graph *graph = maker->graph;
    graph->pages = (uint32_t)pages;
    graph->hosts = (uint32_t)(pages / PAGES_PER_HOST + 1);
    graph->seed_count = graph->at_once = LAB_GRAPH_SEEDS;
    LAB_TRY(LAB_NEW(graph->first, pages + 1));
    LAB_TRY(LAB_NEW(graph->host, pages));
    LAB_TRY(LAB_NEW(graph->seeds, LAB_GRAPH_SEEDS));
    LAB_TRY(LAB_NEW(maker->member, pages));
    LAB_TRY(LAB_NEW(maker->members, graph->hosts + 1));
    for (uint32_t i = 0; i < LAB_GRAPH_SEEDS; i++)
        graph->seeds[i] = i;
    choose_hosts(maker);
    choose_numbers(maker);
    return VIDI_OK;
}

static int make_links(maker *maker)
{
    lab_graph *graph = maker->graph;
    pools *pools = &maker->pools;
    uint64_t links = lab_graph_links(graph);
    LAB_TRY(LAB_NEW(graph->to, links));
    LAB_TRY(LAB_NEW(maker->local, links));
    LAB_TRY(LAB_NEW(pools->links, links));
    LAB_TRY(LAB_NEW(pools->first, graph->hosts + 2));
    LAB_TRY(LAB_NEW(pools->open, graph->hosts + 1));
    for (uint64_t link = 0; link < links; link++)
        graph->to[link] = LAB_NEVER_MET;
    size_pools(maker);
    link_once(maker);
    link_by_popularity(maker);
    return VIDI_OK;
}

int lab_graph_synthetic(lab_graph *graph, const lab_graph_form *form, uint64_t pages, const lab_settings *settings,
                        uint64_t run)
{
    *graph = (lab_graph){.pages = 0};
    maker maker = {.graph = graph, .form = form, .start = lab_mix(lab_run_start(settings->seed, run) + 19)};
    if (pages <= LAB_GRAPH_SEEDS || pages > UINT32_MAX / 4)
        return lab_fail(VIDI_EARGUMENT, "a synthetic graph cannot have %llu pages", (unsigned long long)pages);
    LAB_TRY(make_pages(&maker, pages));
    LAB_TRY(make_links(&maker));
    return lab_texts_make(&graph->texts, settings, run, 0, pages);
}
