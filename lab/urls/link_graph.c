/*
 * Link graphs from files: each line has a page, a tab, and one link of the page. A line without a tab is a page without
 * links. The link may be relative to the page. URLs are brought into the library's default form, so that fragments do
 * not make pages different. Links that are not http or https, or not URLs at all, are left out.
 *
 * A sample of the web has many pages that none of the others links to. All of them are seeds, and so is one page of
 * each circle that nothing else leads to, so that every page of the files can be reached. The crawler gets a seed when
 * nothing else is left to fetch: pages with links are then met all through the crawl and not only while the filter is
 * empty.
 */
#include "lab/urls/link_graph.h"

#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/urls/text_pool.h"
#include "lib/inside/inside.h"

enum { LONGEST = 4096, NONE = -1 };
#define PAGES_MOST (UINT32_MAX / 4)

typedef struct link_read {
    uint32_t from, to;
} link_read;

struct lab_graph_reading {
    vidi_canon *form, *host_form;
    lab_pool pages, hosts;
    uint32_t *host; /* [pages] */
    uint64_t page_room;
    link_read *links;
    uint64_t link_count, link_room;
};

static int no_memory(void)
{
    return lab_fail(VIDI_EMEMORY, "no memory for the link graph");
}

/* ---- lines ---- */

int lab_graph_make(lab_graph **made, const char *const *files, size_t count)
{
    lab_graph *graph = *made = calloc(1, sizeof *graph);
    if (!graph || !(graph->reading = calloc(1, sizeof *graph->reading)))
        return no_memory();
    graph->files = files;
    graph->file_count = count;
    LAB_TRY(vidi_canon_create(&graph->reading->form, "whatwg", NULL, NULL));
    return vidi_canon_create(&graph->reading->host_form, "key=host", NULL, NULL);
}

static bool is_web(vidi_str url)
{
    return (url.len > 7 && memcmp(url.ptr, "http://", 7) == 0) || (url.len > 8 && memcmp(url.ptr, "https://", 8) == 0);
}

/* Remembers the host of a page that is new. */
static int64_t take_page(struct lab_graph_reading *reading, vidi_str url, vidi_str host)
{
    if (reading->pages.count >= PAGES_MOST)
        return lab_fail(VIDI_ELIMIT, "the link graph has more than %llu URLs", (unsigned long long)PAGES_MOST);
    int64_t page = lab_pool_number(&reading->pages, url), number = lab_pool_number(&reading->hosts, host);
    if (page < 0 || number < 0)
        return page < 0 ? page : number;
    LAB_TRY(lab_grow(&reading->host, (size_t)page + 1, &reading->page_room, sizeof *reading->host));
    reading->host[page] = (uint32_t)number;
    return page;
}

/* The page's number; NONE if it is not a URL of the web. */
static int page_of(struct lab_graph_reading *reading, vidi_str text, const vidi_str *base, int64_t *page)
{
    char buffer[LONGEST], host_buffer[LONGEST];
    size_t length = sizeof buffer, host_length = sizeof host_buffer;
    int code = vidi_url_canon(reading->form, text, base, buffer, &length);
    vidi_str url = {buffer, length};
    *page = NONE;
    if (code == VIDI_INVALID || code == VIDI_ELIMIT || code == VIDI_EARGUMENT || (code == VIDI_OK && !is_web(url)))
        return VIDI_OK;
    LAB_TRY(code);
    code = vidi_url_canon(reading->host_form, url, NULL, host_buffer, &host_length);
    if (code != VIDI_OK)
        return code == VIDI_INVALID || code == VIDI_ELIMIT ? VIDI_OK : code;
    int64_t number = take_page(reading, url, (vidi_str){host_buffer, host_length});
    *page = number;
    return number < 0 ? (int)number : VIDI_OK;
}

int lab_graph_add(lab_graph *graph, vidi_str line)
{
    struct lab_graph_reading *reading = graph->reading;
    const char *tab = line.len ? memchr(line.ptr, '\t', line.len) : NULL;
    vidi_str base = {line.ptr, tab ? (size_t)(tab - line.ptr) : line.len};
    int64_t from, to;
    if (line.len == 0)
        return VIDI_OK;
    LAB_TRY(page_of(reading, base, NULL, &from));
    if (from == NONE || !tab)
        return VIDI_OK;
    LAB_TRY(page_of(reading, (vidi_str){tab + 1, line.len - base.len - 1}, &base, &to));
    if (to == NONE)
        return VIDI_OK;
    LAB_TRY(lab_grow(&reading->links, reading->link_count + 1, &reading->link_room, sizeof *reading->links));
    reading->links[reading->link_count++] = (link_read){(uint32_t)from, (uint32_t)to};
    return VIDI_OK;
}

/* ---- the whole graph ---- */

/* Sorts the links by page and keeps their order on the page. */
static int sort_links(lab_graph *graph)
{
    const struct lab_graph_reading *reading = graph->reading;
    graph->first = calloc((size_t)graph->pages + 2, sizeof *graph->first);
    graph->to = malloc((reading->link_count + 1) * sizeof *graph->to);
    if (!graph->first || !graph->to)
        return no_memory();
    for (uint64_t i = 0; i < reading->link_count; i++)
        graph->first[reading->links[i].from + 2]++;
    for (uint32_t page = 0; page < graph->pages; page++)
        graph->first[page + 2] += graph->first[page + 1];
    for (uint64_t i = 0; i < reading->link_count; i++)
        graph->to[graph->first[reading->links[i].from + 1]++] = reading->links[i].to;
    return VIDI_OK;
}

static int take_texts(lab_graph *graph)
{
    lab_pool *pages = &graph->reading->pages;
    graph->texts = (lab_texts){.count = graph->pages, .urls = calloc((size_t)graph->pages + 1, sizeof(vidi_str))};
    if (!graph->texts.urls)
        return no_memory();
    for (uint32_t i = 0; i < graph->pages; i++)
        graph->texts.urls[i] = lab_pool_text(pages, i);
    graph->texts.bytes = pages->bytes;
    pages->bytes = NULL;
    return VIDI_OK;
}

/* Follows all links from a page; the queue has room for all pages. Returns how many pages that adds. */
static uint32_t reach_from(const lab_graph *graph, uint32_t page, uint8_t *reached, uint32_t *queue)
{
    uint32_t head = 0, tail = 0;
    if (reached[page])
        return 0;
    reached[page] = 1;
    queue[tail++] = page;
    for (; head < tail; head++)
        for (uint64_t i = graph->first[queue[head]]; i < graph->first[queue[head] + 1]; i++)
            if (!reached[graph->to[i]]) {
                reached[graph->to[i]] = 1;
                queue[tail++] = graph->to[i];
            }
    return tail;
}

uint32_t lab_graph_reached(const lab_graph *graph, uint8_t *reached, uint32_t *queue)
{
    uint32_t count = 0;
    memset(reached, 0, graph->pages);
    for (uint32_t i = 0; i < graph->seed_count; i++)
        count += reach_from(graph, graph->seeds[i], reached, queue);
    return count;
}

/*
 * The seeds in the order of the files: pages that no other page links to, and then one page of each group that is still
 * not reached.
 */
static int find_seeds(lab_graph *graph)
{
    uint32_t pages = graph->pages;
    uint8_t *linked, *reached;
    uint32_t *queue;
    LAB_BLOCK;
    LAB_TRY(LAB_NEW(linked, pages));
    LAB_TRY(LAB_NEW(reached, pages));
    LAB_TRY(LAB_NEW(queue, pages));
    graph->seeds = malloc(pages * sizeof *graph->seeds);
    if (!graph->seeds)
        return no_memory();
    for (uint32_t page = 0; page < pages; page++)
        for (uint64_t i = graph->first[page]; i < graph->first[page + 1]; i++)
            linked[graph->to[i]] |= graph->to[i] != page;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t page = 0; page < pages; page++)
            if ((pass == 1 || !linked[page]) && reach_from(graph, page, reached, queue) > 0)
                graph->seeds[graph->seed_count++] = page;
    graph->at_once = 1;
    return VIDI_OK;
}

static uint64_t mark_of(const lab_graph *graph)
{
    const struct lab_graph_reading *reading = graph->reading;
    const vidi_str pieces[] = {{reading->pages.bytes, reading->pages.used},
                               {(const char *)graph->first, ((size_t)graph->pages + 1) * sizeof *graph->first},
                               {(const char *)graph->to, lab_graph_links(graph) * sizeof *graph->to}};
    return vidi__inside_checksum(pieces, 3).lo;
}

static void free_reading(lab_graph *graph)
{
    struct lab_graph_reading *reading = graph->reading;
    if (!reading)
        return;
    vidi_canon_close(reading->form);
    vidi_canon_close(reading->host_form);
    lab_pool_free(&reading->pages);
    lab_pool_free(&reading->hosts);
    free(reading->host);
    free(reading->links);
    free(reading);
    graph->reading = NULL;
}

int lab_graph_end(lab_graph *graph)
{
    struct lab_graph_reading *reading = graph->reading;
    if (reading->link_count == 0)
        return lab_fail(VIDI_EABSENT, "the graph has no links: give files with a page, a tab and a link on each line");
    graph->pages = (uint32_t)reading->pages.count;
    graph->hosts = (uint32_t)reading->hosts.count;
    graph->host = reading->host;
    reading->host = NULL;
    LAB_TRY(sort_links(graph));
    LAB_TRY(find_seeds(graph));
    graph->mark = mark_of(graph);
    LAB_TRY(take_texts(graph));
    free_reading(graph);
    return VIDI_OK;
}

void lab_graph_free(lab_graph *graph)
{
    if (!graph)
        return;
    free_reading(graph);
    free(graph->first);
    free(graph->to);
    free(graph->host);
    free(graph->seeds);
    free(graph->texts.urls);
    free(graph->texts.bytes);
    free(graph);
}

uint64_t lab_graph_mark(const lab_graph *graph)
{
    return graph->mark;
}

const char *lab_graph_file(const lab_graph *graph, size_t index)
{
    return index < graph->file_count ? graph->files[index] : NULL;
}
