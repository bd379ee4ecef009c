/*
 * What to expect of a crawl, from the graph and the filter's theory alone.
 *
 * The page that is met after i others is lost with probability P_i = E f^k of a filter with i URLs (theory.c). Losing
 * page v costs every page that can be reached only through v: those that v *dominates*. A page x is certainly missing
 * if x or one of its dominators d_1, d_2 … is lost, so
 *
 *   P(x is missing) >= 1 - (1 - P_x)(1 - P_d1)(1 - P_d2) …,
 *
 * and x is met and directly lost with probability P_x times the product of the others. The sums over all pages are the
 * expected losses to first order. A page that two lost pages cut off together is left out: that takes two losses near
 * one another, and a share of about P more. For equal small P, missing pages per lost page are 1 + the mean number of
 * dominators of a page.
 *
 * Dominators are found by the iterative method of Cooper, Harvey and Kennedy. Pages are taken in the order in which a
 * crawl without losses meets them: a page's dominators come before it in every such order.
 */
#include "lab/engine/run_memory.h"
#include "lab/graph/graph.h"

#include <math.h>
#include <stdlib.h>

double lab_graph_filter_bits(lab_graph_filter filter, uint64_t pages)
{
    return ceil(filter.bits * (double)pages - 1e-6);
}

double lab_graph_loss(lab_graph_filter filter, uint64_t pages, double before)
{
    if (!(before > 0))
        return 0;
    return lab_fill_power(lab_fill_after(filter.k * before, lab_graph_filter_bits(filter, pages)), filter.k);
}

/* Here pages are named by their position + 1 in the crawl, and 0 is where the seeds come from. */
typedef struct tree {
    uint32_t *above;  /* [name]: the nearest dominator found so far; UNKNOWN: none yet */
    uint64_t *first;  /* [name]: where the pages that link to it begin */
    uint32_t *linker; /* their names */
    uint32_t names;
} tree;

#define UNKNOWN UINT32_MAX

static uint32_t name_of(const lab_crawl *crawl, uint32_t page)
{
    return crawl->position[page] + 1;
}

/* The links of the graph, turned round. Seeds have a link from 0. */
static void turn_links(tree *tree, const lab_graph *graph, const lab_crawl *crawl)
{
    for (uint32_t i = 0; i < graph->seed_count; i++)
        tree->first[name_of(crawl, graph->seeds[i]) + 1]++;
    for (uint32_t i = 0; i < crawl->met_count; i++)
        for (uint64_t link = graph->first[crawl->met[i]]; link < graph->first[crawl->met[i] + 1]; link++)
            tree->first[name_of(crawl, graph->to[link]) + 1]++;
    for (uint32_t name = 0; name < tree->names; name++)
        tree->first[name + 1] += tree->first[name];
    tree->first[tree->names + 1] = tree->first[tree->names];
    for (uint32_t i = 0; i < crawl->met_count; i++)
        for (uint64_t link = graph->first[crawl->met[i]]; link < graph->first[crawl->met[i] + 1]; link++)
            tree->linker[--tree->first[name_of(crawl, graph->to[link]) + 1]] = i + 1;
    for (uint32_t i = 0; i < graph->seed_count; i++)
        tree->linker[--tree->first[name_of(crawl, graph->seeds[i]) + 1]] = 0;
    /* The links to `name` now begin at first[name + 1], and those to the name after it at first[name + 2]. */
}

/* The last common dominator of two pages. */
static uint32_t common(const tree *tree, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (a > b)
            a = tree->above[a];
        while (b > a)
            b = tree->above[b];
    }
    return a;
}

static bool improve(tree *tree)
{
    bool changed = false;
    for (uint32_t name = 1; name < tree->names; name++) {
        uint32_t above = UNKNOWN;
        for (uint64_t i = tree->first[name + 1]; i < tree->first[name + 2] && above != 0; i++) {
            uint32_t linker = tree->linker[i];
            if (linker != 0 && tree->above[linker] == UNKNOWN)
                continue;
            above = above == UNKNOWN ? linker : common(tree, above, linker);
        }
        changed |= above != tree->above[name];
        tree->above[name] = above;
    }
    return changed;
}

static void find_dominators(uint32_t *dominator, tree *tree, const lab_graph *graph, const lab_crawl *crawl)
{
    turn_links(tree, graph, crawl);
    for (uint32_t name = 0; name < tree->names; name++)
        tree->above[name] = UNKNOWN;
    while (improve(tree)) {
    }
    for (uint32_t page = 0; page < graph->pages; page++) {
        uint32_t above = crawl->position[page] == LAB_NEVER_MET ? 0 : tree->above[name_of(crawl, page)];
        dominator[page] = above == 0 ? LAB_NEVER_MET : crawl->met[above - 1];
    }
}

int lab_graph_dominators(uint32_t *dominator, const lab_graph *graph, const lab_crawl *exact)
{
    tree tree = {.names = exact->met_count + 1};
    LAB_BLOCK;
    LAB_TRY(LAB_NEW(tree.above, tree.names));
    LAB_TRY(LAB_NEW(tree.first, tree.names + 2));
    LAB_TRY(LAB_NEW(tree.linker, lab_graph_links(graph) + graph->seed_count));
    find_dominators(dominator, &tree, graph, exact);
    return VIDI_OK;
}

lab_graph_expected lab_graph_expect(const uint32_t *dominator, const lab_crawl *exact, lab_graph_filter filter,
                                    uint64_t pages, double *reached)
{
    lab_graph_expected expected = {0, 0};
    for (uint32_t i = 0; i < exact->met_count; i++) {
        uint32_t page = exact->met[i], above = dominator[page];
        double before = above == LAB_NEVER_MET ? 1 : reached[above];
        double loss = lab_graph_loss(filter, pages, exact->position[page]);
        reached[page] = before * (1 - loss);
        expected.lost += before * loss;
        expected.missing += 1 - reached[page];
    }
    return expected;
}
