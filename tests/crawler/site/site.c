/*
 * Pages, links and the truth: see site.h. The server is in server.c.
 */
#include "common/fnv.h"
#include "site.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

static uint64_t hash_of(const char *host, const char *target)
{
    uint64_t hash = fnv_bytes(FNV_START, host, strlen(host) + 1);
    hash = fnv_bytes(hash, target, strlen(target));
    return hash ^ (hash >> 29);
}

static void table_insert(site *site, site_page *page)
{
    site_page **slot = &site->table[hash_of(page->host, page->target) % site->table_size];
    page->next = *slot;
    *slot = page;
}

static void table_grow(site *site)
{
    free(site->table);
    site->table_size = site->table_size * 2 + 1021;
    site->table = site_memory(site->table_size * sizeof *site->table);
    for (size_t i = 0; i < site->page_count; i++)
        table_insert(site, site->pages[i]);
}

site_page *site_find(const site *site, const char *host, const char *target)
{
    if (site->table_size == 0)
        return NULL;
    site_page *page = site->table[hash_of(host, target) % site->table_size];
    while (page && (strcmp(page->host, host) != 0 || strcmp(page->target, target) != 0))
        page = page->next;
    return page;
}

site_page *site_find_url(const site *site, const char *url)
{
    char host[256], port[16];
    int length = 0;
    snprintf(port, sizeof port, ":%d", site->port);
    if (sscanf(url, "http://%255[^/:]%n", host, &length) != 1 || length == 0)
        return NULL;
    const char *rest = url + length;
    if (strncmp(rest, port, strlen(port)) != 0)
        return NULL;
    return site_find(site, host, rest + strlen(port));
}

/* ---- pages ---- */

const char *site_host_name(unsigned number)
{
    static char names[256][16];
    char *name = names[number & 255];
    if (!*name)
        snprintf(name, sizeof names[0], "127.0.1.%u", number & 255);
    return name;
}

site_page *site_page_on(site *site, const char *host, const char *target)
{
    site_page *page = site_find(site, host, target);
    if (page) {
        fprintf(stderr, "the test site has %s%s twice\n", host, target);
        exit(2);
    }
    page = site_memory(sizeof *page);
    site_text url = {0};
    page->host = host;
    page->target = site_copy(target);
    site_text_put(&url, "http://%s:%d%s", host, site->port, target);
    page->url = url.at;
    page->status = page->answer.status = 200;
    page->answer.type = "text/html";
    if (site->page_count == site->page_room) {
        site->page_room = site->page_room * 2 + 64;
        site->pages = realloc(site->pages, site->page_room * sizeof *site->pages);
        if (!site->pages)
            exit(2);
    }
    page->number = site->page_count;
    site->pages[site->page_count++] = page;
    if (site->page_count > site->table_size / 2)
        table_grow(site);
    else
        table_insert(site, page);
    return page;
}

site_page *site_page_add(site *site, unsigned host, const char *format, ...)
{
    char target[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(target, sizeof target, format, arguments);
    va_end(arguments);
    return site_page_on(site, site_host_name(host), target);
}

static void say(site_page *page, const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        exit(2);
    site_text_add(&page->text, text, strlen(text));
    free(text);
}

void site_say(site_page *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(page, format, arguments);
    va_end(arguments);
}

void site_edge_add(site_page *page, site_page *to, bool is_redirect)
{
    if (page->edge_count == page->edge_room) {
        page->edge_room = page->edge_room * 2 + 4;
        page->edges = realloc(page->edges, page->edge_room * sizeof *page->edges);
        if (!page->edges)
            exit(2);
    }
    page->edges[page->edge_count++] = (site_edge){to, is_redirect};
}

void site_link(site_page *page, site_page *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(page, format, arguments);
    va_end(arguments);
    site_say(page, "\n");
    site_edge_add(page, to, false);
}

void site_link_to(site_page *page, site_page *to)
{
    site_link(page, to, "<a href=\"%s\">%s</a>", to->url, to->target);
}

void site_page_pack(site_page *page, site_packing packing)
{
    site_text packed = {0};
    if (packing == SITE_GZIP)
        site_gzip(&packed, page->text.at, page->text.length);
    else
        site_brotli(&packed, page->text.at, page->text.length);
    site_text_free(&page->text);
    page->text = packed;
    page->answer.fields = packing == SITE_GZIP ? "Content-Encoding: gzip\r\n" : "Content-Encoding: br\r\n";
}

void site_page_clear(site_page *page)
{
    site_text_free(&page->text);
    free(page->fields);
    page->fields = NULL;
    page->edge_count = 0;
    page->answer = (site_answer){.status = 200, .type = "text/html"};
    page->status = 200;
    page->reason = NULL;
    page->barren = false;
}

void site_redirect(site_page *page, int status, site_page *to, const char *location)
{
    site_text fields = {0};
    site_text_put(&fields, "Location: %s\r\n", location);
    page->fields = fields.at;
    page->answer = (site_answer){.status = status, .fields = page->fields, .body = ""};
    page->status = status;
    if (to)
        site_edge_add(page, to, true);
}

void site_status(site_page *page, int status)
{
    page->answer = (site_answer){.status = status, .type = "text/plain", .body = "sorry\n", .length = 6};
    page->status = status;
    page->barren = true;
}

site_page *site_robots(site *site, unsigned host, const char *text)
{
    site_page *page = site_page_add(site, host, "/robots.txt");
    page->answer.type = "text/plain";
    page->apart = true;
    site_text_add(&page->text, text, strlen(text));
    return page;
}

/* ---- truth ---- */

/*
 * Breadth first, level by level. Redirects stay on their level, so a level is complete only when they have been followed.
 */
typedef struct walk {
    site_page **now, **then; /* pages of this level and of the next */
    size_t now_count, then_count;
} walk;

static void reach(site_page *page, uint32_t depth, site_page **list, size_t *count)
{
    if (page->reached)
        return;
    page->reached = true;
    page->depth = depth;
    list[(*count)++] = page;
}

static void walk_level(walk *state, uint32_t depth, bool deeper)
{
    for (size_t i = 0; i < state->now_count; i++) { /* grows as redirects are followed */
        const site_page *page = state->now[i];
        for (size_t e = 0; e < page->edge_count && !page->barren; e++) {
            if (page->edges[e].is_redirect)
                reach(page->edges[e].to, depth, state->now, &state->now_count);
        }
    }
    for (size_t i = 0; i < state->now_count && deeper; i++) {
        const site_page *page = state->now[i];
        for (size_t e = 0; e < page->edge_count && !page->barren; e++)
            reach(page->edges[e].to, depth + 1, state->then, &state->then_count);
    }
}

void site_walk(site *site, site_page *const *seeds, size_t seed_count, int64_t max_depth)
{
    walk state = {site_memory(site->page_count * sizeof(site_page *)),
                  site_memory(site->page_count * sizeof(site_page *)), 0, 0};
    for (size_t i = 0; i < site->page_count; i++)
        site->pages[i]->reached = false;
    for (size_t i = 0; i < seed_count; i++)
        reach(seeds[i], 0, state.now, &state.now_count);
    for (uint32_t depth = 0; state.now_count > 0; depth++) {
        walk_level(&state, depth, max_depth < 0 || depth < max_depth);
        site_page **old = state.now;
        state.now = state.then;
        state.now_count = state.then_count;
        state.then = old;
        state.then_count = 0;
    }
    free(state.now);
    free(state.then);
}
