/*
 * What a broad crawl (--scope any) tells the frontier about sites: which site and host a URL belongs to, and the budgets
 * that the user wants. crawler/frontier/site_budgets.h has the rest.
 */
#include "crawler/crawl/crawl_state.h"

bool crawl_has_sites(const crawl *crawl)
{
    return crawl->options.reach == SCOPE_ANY;
}

static int find_site(void *context, vidi_str url, char room[SITE_NAME], vidi_str *name, uint64_t *key)
{
    const crawl *crawl = context;
    int error = scope_site(crawl->scope, url, room, name);

    return error ? error : url_keys_make(crawl->keys, name, 1, key);
}

static int find_host(void *context, vidi_str url, uint64_t *host)
{
    return url_host_key(((const crawl *)context)->keys, url, host);
}

int crawl_site_key(const crawl *crawl, vidi_str url, uint64_t *key)
{
    char room[SITE_NAME];
    vidi_str name;

    return find_site((void *)(uintptr_t)crawl, url, room, &name, key);
}

int crawl_sites_check(crawl *crawl, char *why)
{
    int known = crawl_has_sites(crawl) ? 0 : sites_are_known(db_frontier(crawl->db));

    return known > 0 ? crawl_explain(why, VIDI_EDIFFERS, "the crawl in %s has --scope any and cannot continue without",
                                     crawl->options.folder)
                     : known;
}

int crawl_sites_begin(crawl *crawl)
{
    const crawl_options *o = &crawl->options;
    site_budgets budgets = {.least = o->site_least,
                            .most = o->site_most,
                            .max_sites = o->max_sites,
                            .max_address_sites = o->max_address_sites,
                            .site = find_site,
                            .host = find_host,
                            .context = crawl};

    return crawl_has_sites(crawl) ? sites_begin(db_frontier(crawl->db), &budgets) : VIDI_OK;
}
