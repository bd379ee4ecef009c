#include "broad_web.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"

enum { GROUP = 4 }; /* hosts: one of a site alone, three of the next */

static uint64_t number_of(const broad_web *web, uint64_t a, uint64_t b)
{
    return test_mix(test_mix(web->seed + a) + b);
}

static unsigned pages_of(const broad_web *web, unsigned host)
{
    uint64_t number = number_of(web, host, 0);
    return number % 40 ? 1 + (unsigned)(number / 40 % 7) : 60 + (unsigned)(number / 40 % 60);
}

void broad_web_make(broad_web *web, unsigned hosts, uint64_t seed)
{
    *web = (broad_web){.hosts = hosts, .sites = (hosts + GROUP - 1) / GROUP * 2, .seed = seed};
    web->first = site_memory((hosts + 1) * sizeof *web->first);
    for (unsigned host = 0; host < hosts; host++)
        web->first[host + 1] = web->first[host] + pages_of(web, host);
    web->pages = web->first[hosts];
    web->host_of = site_memory(web->pages * sizeof *web->host_of);
    web->requests = site_memory(web->pages * sizeof *web->requests);
    for (unsigned host = 0; host < hosts; host++)
        for (uint32_t page = web->first[host]; page < web->first[host + 1]; page++)
            web->host_of[page] = host;
}

void broad_web_free(broad_web *web)
{
    free(web->first);
    free(web->host_of);
    free(web->requests);
}

static unsigned site_of_host(unsigned host)
{
    return host / GROUP * 2 + (host % GROUP > 0);
}

unsigned broad_site_of(const broad_web *web, uint32_t page)
{
    return site_of_host(web->host_of[page]);
}

/* Some hosts are far more popular than others: the density is that of 1/n. */
static unsigned popular_host(const broad_web *web, uint64_t number)
{
    double u = (double)(number >> 11) * 0x1p-53;
    unsigned host = (unsigned)(exp(u * log((double)web->hosts + 1)) - 1);
    return host < web->hosts ? host : web->hosts - 1;
}

unsigned broad_links(const broad_web *web, uint32_t page, uint32_t links[BROAD_LINKS])
{
    unsigned host = web->host_of[page], count = 0, among = host % GROUP;
    uint32_t first = web->first[host], own = page - first, all = web->first[host + 1] - first;
    for (uint32_t child = 2 * own + 1; child <= 2 * own + 2 && child < all; child++)
        links[count++] = first + child;
    links[count++] = first + (uint32_t)(number_of(web, page, 1) % all);
    if (among > 0 && among + 1 < GROUP && host + 1 < web->hosts)
        links[count++] = web->first[host + 1];
    for (unsigned child = 2 * host + 1; own == 0 && child <= 2 * host + 2 && child < web->hosts; child++)
        links[count++] = web->first[child];
    for (uint64_t i = 0; i < 4; i++) {
        unsigned to = popular_host(web, number_of(web, page, 2 + i));
        uint64_t other = number_of(web, page, 10 + i);
        links[count++] = web->first[to] + (other % 2 ? 0 : (uint32_t)(other / 2 % pages_of(web, to)));
    }
    return count;
}

static void host_name(unsigned host, char name[BROAD_URL])
{
    if (host % GROUP)
        snprintf(name, BROAD_URL, "h%u.s%u.test", host % GROUP, site_of_host(host));
    else
        snprintf(name, BROAD_URL, "www.s%u.test", site_of_host(host));
}

void broad_url(const broad_web *web, uint32_t page, int port, char url[BROAD_URL])
{
    char name[BROAD_URL];
    unsigned host = web->host_of[page];
    host_name(host, name);
    int length = snprintf(url, BROAD_URL, "http://%s:%d/", name, port);
    if (page > web->first[host])
        snprintf(url + length, BROAD_URL - (size_t)length, "p/%u", page - web->first[host]);
}

int64_t broad_find(const broad_web *web, const char *host, const char *target)
{
    unsigned among = 0, site = 0, own = 0;
    char name[BROAD_URL];
    if (sscanf(host, "h%u.s%u.", &among, &site) != 2 && sscanf(host, "www.s%u.", &site) != 1)
        return -1;
    unsigned number = site / 2 * GROUP + among;
    if (number >= web->hosts || among >= GROUP)
        return -1;
    host_name(number, name);
    bool is_front = strcmp(target, "/") == 0;
    if (strncmp(host, name, strlen(name)) != 0 || (!is_front && sscanf(target, "/p/%u", &own) != 1))
        return -1;
    uint32_t page = web->first[number] + own;
    return page < web->first[number + 1] ? (int64_t)page : -1;
}

int64_t broad_find_url(const broad_web *web, const char *url)
{
    const char *host = strstr(url, "://"), *target = host ? strchr(host + 3, '/') : NULL;
    return target ? broad_find(web, host + 3, target) : -1;
}

bool broad_answer(void *context, const site *site, const char *host, const char *target, site_answer *answer)
{
    broad_web *web = context;
    uint32_t links[BROAD_LINKS];
    char url[BROAD_URL];
    site_text text = {0};
    int64_t page = broad_find(web, host, target);
    if (page < 0)
        return false;
    web->requests[page]++;
    site_text_put(&text, "<!DOCTYPE html><title>%s%s</title><p>Words.\n", host, target);
    unsigned count = broad_links(web, (uint32_t)page, links);
    for (unsigned i = 0; i < count; i++) {
        broad_url(web, links[i], site->port, url);
        site_text_put(&text, "<a href=\"%s\">%u</a>\n", url, links[i]);
    }
    *answer =
        (site_answer){.status = 200, .type = "text/html", .body = text.at, .length = text.length, .owned = text.at};
    return true;
}
