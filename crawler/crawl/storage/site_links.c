/*
 * What a batch means for sites, in a broad crawl: links from site to site make budgets grow, addresses of hosts tell
 * farms, and URLs of sites whose budgets have grown leave the queue of those that wait. All of it is written in the
 * batch's transaction, after the batch's rows have been sorted: so a transaction that is written again makes the same
 * blocks.
 */
#include <string.h>

#include "crawler/base/web_url.h"
#include "crawler/crawl/storage/storage.h"

enum { RELEASED = 1000 }; /* sites in one transaction */

/* The last host of a link, and its site: links come in runs of one host. */
typedef struct last_site {
    char origin[SITE_NAME];
    size_t length;
    uint64_t site;
} last_site;

/* The length of a URL's origin. */
static size_t origin_length(vidi_str url)
{
    const char *host = memmem(url.ptr, url.len, "://", 3);
    const char *path = host ? memchr(host + 3, '/', url.len - (size_t)(host + 3 - url.ptr)) : NULL;

    return path ? (size_t)(path - url.ptr) : 0;
}

static int site_of(const crawl *crawl, vidi_str url, last_site *last)
{
    size_t length = origin_length(url);

    if (length == 0 || length > sizeof last->origin)
        return VIDI_EARGUMENT;
    if (length == last->length && memcmp(last->origin, url.ptr, length) == 0)
        return VIDI_OK;
    last->length = 0;
    int error = crawl_site_key(crawl, url, &last->site);
    if (error)
        return error;
    memcpy(last->origin, url.ptr, length);
    last->length = length;
    return VIDI_OK;
}

/* A URL that has no site is not linked to by any; redirects are no recommendation. */
static int write_link(storage *storage, const batch_link *link, vidi_str url, last_site *from, last_site *to)
{
    const crawl *crawl = storage->crawl;

    if (!link->page || link->link->is_redirect)
        return VIDI_OK;
    int error = site_of(crawl, link->page->url.url, from);
    if (error == VIDI_OK)
        error = site_of(crawl, url, to);
    if (error == VIDI_OK)
        return sites_link(db_frontier(crawl->db), to->site, from->site);
    return error == VIDI_EARGUMENT || error == VIDI_INVALID ? VIDI_OK : error;
}

static int write_links(storage *storage)
{
    const batch *b = &storage->batch;
    last_site from = {.length = 0}, to = {.length = 0};
    int error = VIDI_OK;

    for (size_t i = 0; i < b->link_count && error == VIDI_OK; i++)
        if (b->verdicts[i] != VIDI_INVALID)
            error = write_link(storage, &b->links[i], b->urls[i], &from, &to);
    return error;
}

static int write_addresses(storage *storage)
{
    const crawl *crawl = storage->crawl;
    int error = VIDI_OK;

    for (message *one = storage->batch.host_infos.first; one && error == VIDI_OK; one = one->next) {
        host_info *news = (host_info *)one;
        uint64_t site;
        if (!news->address)
            continue;
        error = crawl_site_key(crawl, bytes_str(&news->origin), &site);
        if (error == VIDI_OK)
            error = sites_note_address(db_frontier(crawl->db), site, news->address, &news->cut);
    }
    return error;
}

int site_links_write(storage *storage)
{
    if (!crawl_has_sites(storage->crawl))
        return VIDI_OK;
    int error = write_links(storage);
    if (error == VIDI_OK)
        error = write_addresses(storage);
    return error ? error
                 : sites_release(db_frontier(storage->crawl->db), RELEASED, &storage->released, &storage->sites_ripe);
}

/* Tells the fetcher which hosts belong to sites that are cut. */
static int tell_judgements(storage *storage)
{
    for (message *one = storage->batch.host_infos.first; one; one = one->next) {
        const host_info *news = (host_info *)one;
        if (!news->address)
            continue;
        host_request *judged = host_request_make(MESSAGE_SITE_JUDGED, news->host, news->cut);
        if (!judged)
            return VIDI_EMEMORY;
        messages_add(&storage->to_fetcher, &judged->message);
    }
    return VIDI_OK;
}

int site_links_committed(storage *storage)
{
    if (storage->released > 0)
        host_table_released(storage);
    storage->released = 0;
    return tell_judgements(storage);
}

int site_links_end(storage *storage)
{
    return crawl_has_sites(storage->crawl) ? sites_waiting(db_frontier(storage->crawl->db), &storage->crawl->waits_for)
                                           : VIDI_OK;
}
