/*
 * What the threads of a crawl hand to each other: making and freeing it.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/crawl/inside.h"

errand *errand_make(const frontier_url *url, uint64_t block, uint32_t level)
{
    errand *made = calloc(1, sizeof *made + url->url.len + 1);

    if (!made)
        return NULL;
    made->parcel.kind = PARCEL_ERRAND;
    made->url = *url;
    memcpy(made->text, url->url.ptr, url->url.len);
    made->url.url = (vidi_str){made->text, url->url.len};
    made->block = block;
    made->level = level;
    return made;
}

static void response_drop(errand *of)
{
    if (of->response)
        fetch_response_free(of->response);
    of->response = NULL;
}

void errand_free(errand *of)
{
    if (!of)
        return;
    response_drop(of);
    if (of->harvested)
        harvest_free(&of->harvest);
    free(of);
}

static void load_free(load *of)
{
    bytes_free(&of->text);
    free(of->urls);
    free(of);
}

static void card_free(card *of)
{
    bytes_free(&of->origin);
    bytes_free(&of->robots);
    bytes_free(&of->sitemaps);
    free(of);
}

void parcel_free(parcel *one)
{
    if (!one)
        return;
    switch (one->kind) {
    case PARCEL_ERRAND:
        errand_free((errand *)one);
        break;
    case PARCEL_LOAD:
        load_free((load *)one);
        break;
    case PARCEL_CARD:
        card_free((card *)one);
        break;
    default:
        free(one);
    }
}

void parcels_free(parcels *list)
{
    parcel *one;

    while ((one = parcels_remove(list)))
        parcel_free(one);
}
