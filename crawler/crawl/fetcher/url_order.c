/*
 * Which URL of a host goes first (--order). Politeness says which host may be asked; here one of its URLs is chosen,
 * of those that are in memory:
 *
 *   breadth    the one that was found first
 *   depth      the one that was found last; the storage thread hands out the newest blocks first
 *   sitemap    those of sitemaps, and sitemaps themselves; then as breadth
 *   best       the one that most links lead to, as far as has been seen; then as breadth
 *
 * For the last two, more URLs of a host are kept in memory, because only these can be compared.
 *
 * Choosing goes through the host's list of ranks. Counts of links grow meanwhile, so they are read again now and then:
 * the more URLs there are, the more rarely, so that a choice takes a few reads.
 */
#include <stdlib.h>

#include "crawler/base/list.h"
#include "crawler/crawl/fetcher/fetcher.h"

enum {
    TOGETHER = 100000, /* URLs of all hosts in memory that are compared */
    OF_A_HOST = 20000, /* of one host */
    RANKED_AGAIN = 16  /* ranks are computed again after one in so many URLs has been taken, and this many more */
};

static bool is_breadth(const fetcher *fetcher)
{
    return fetcher->crawl->options.order == CRAWL_BREADTH;
}

uint64_t order_ahead(const fetcher *fetcher, const host *host)
{
    uint64_t share = TOGETHER / (fetcher->hosts.count + 1);
    crawl_order order = fetcher->crawl->options.order;

    if (order != CRAWL_BEST && order != CRAWL_SITEMAP)
        return host->ahead;
    share = share < OF_A_HOST ? share : OF_A_HOST;
    return share > host->ahead ? share : host->ahead;
}

/* The higher, the earlier. */
static uint64_t rank_of(const fetcher *fetcher, const frontier_url *url)
{
    uint64_t age = UINT64_MAX >> 16 & ~url->id, first = 0;

    switch (fetcher->crawl->options.order) {
    case CRAWL_DEPTH:
        return url->id;
    case CRAWL_SITEMAP:
        first = url->kind == FRONTIER_SITEMAP || url->is_listed;
        break;
    default:
        first = link_counts_of(fetcher->crawl->link_counts, response_key(fetcher, url->url.ptr, url->url.len));
    }
    return first << 48 | age;
}

bool order_add(fetcher *fetcher, host *host, url_block *block)
{
    if (is_breadth(fetcher))
        return true;
    if (list_reserve(&host->ranked, &host->ranked_room, (size_t)host->unstarted + block->count) != VIDI_OK)
        return false;
    for (size_t i = 0; i < block->count; i++)
        host->ranked[host->unstarted + i] = (ranked_url){rank_of(fetcher, &block->urls[i]), block, i};
    return true;
}

void order_each(const fetcher *fetcher, const host *host, void (*take)(void *context, vidi_str url), void *context)
{
    const message *one = host->url_blocks.first;

    for (uint64_t i = 0; !is_breadth(fetcher) && i < host->unstarted; i++)
        take(context, host->ranked[i].block->urls[host->ranked[i].at].url);
    for (; is_breadth(fetcher) && one; one = one->next)
        for (size_t i = ((const url_block *)one)->at; i < ((const url_block *)one)->count; i++)
            take(context, ((const url_block *)one)->urls[i].url);
}

static void rank_again(fetcher *fetcher, host *host)
{
    if (host->taken++ < RANKED_AGAIN + host->unstarted / RANKED_AGAIN)
        return;
    host->taken = 0;
    for (uint64_t i = 0; i < host->unstarted; i++)
        host->ranked[i].rank = rank_of(fetcher, &host->ranked[i].block->urls[host->ranked[i].at]);
}

size_t order_take(fetcher *fetcher, host *host, url_block **block)
{
    uint64_t best = host->unstarted - 1;

    if (is_breadth(fetcher)) {
        *block = (url_block *)host->url_blocks.first;
        return (*block)->at;
    }
    if (fetcher->crawl->options.order == CRAWL_BEST)
        rank_again(fetcher, host);
    for (uint64_t i = 0; i < host->unstarted && !host->dead; i++)
        if (host->ranked[i].rank > host->ranked[best].rank)
            best = i;
    ranked_url chosen = host->ranked[best];
    host->ranked[best] = host->ranked[host->unstarted - 1];
    *block = chosen.block;
    return chosen.at;
}
