/*
 * Claims that have expired, or were given up: of dead members, and of pages that nobody knows of any more.
 *
 * Each shard is swept by one member. It claims what has expired in a name of its own and sends each URL to the owner of
 * its site, with that name as holder. The claim stays until the owner releases it and makes its own: so if the sweeper
 * dies, or the entry is lost, the claim expires and the URL is swept again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/links/claim_batch.h"
#include "fleet/links/parcels.h"

enum { SWEPT_AT_ONCE = 500 };

typedef struct swept {
    bytes text;
    size_t begins[SWEPT_AT_ONCE], urls[SWEPT_AT_ONCE], payloads[SWEPT_AT_ONCE]; /* where each begins, two lengths */
    size_t count;
} swept;

static int keep(void *context, vidi_str url, vidi_str payload)
{
    swept *s = context;

    if (s->count == SWEPT_AT_ONCE)
        return VIDI_OK;
    s->begins[s->count] = s->text.len;
    s->urls[s->count] = url.len;
    s->payloads[s->count] = payload.len;
    if (bytes_append(&s->text, url.ptr, url.len) || bytes_append(&s->text, payload.ptr, payload.len))
        return VIDI_EMEMORY;
    s->count++;
    return VIDI_OK;
}

static vidi_str url_of(const swept *s, size_t i)
{
    return (vidi_str){s->text.ptr + s->begins[i], s->urls[i]};
}

static int finish(fleet *fleet, wire *wire, const vidi_str *urls, size_t n, enum vidi_finish how)
{
    int error = n == 0 ? VIDI_OK : vidi_cluster_finish(wire->cluster, fleet->sweeper, urls, n, how, NULL);

    return error ? wire_set_failed(wire, error) : VIDI_OK;
}

/* Packs what was swept. What a crawl cannot fetch is forgotten: another program must have added it. */
static int pack(fleet *fleet, wire *wire, const swept *s, parcels *to)
{
    vidi_str holder = {fleet->sweeper, strlen(fleet->sweeper)};
    char owner[FLEET_NAME];
    int error = VIDI_OK;

    for (size_t i = 0; i < s->count && error == VIDI_OK; i++) {
        vidi_str canonical = url_of(s, i), url, payload;
        vidi_str stored = {canonical.ptr + canonical.len, s->payloads[i]};
        if (!claim_read(canonical, stored, &url, &payload) || !entry_is_web_url(url)) {
            fleet_warn(fleet, "the set has a page without an owner that cannot be fetched, and forgets it: %.*s",
                       (int)(canonical.len < 200 ? canonical.len : 200), canonical.ptr);
            error = finish(fleet, wire, &canonical, 1, VIDI_FINISH_DROP);
            continue;
        }
        fleet_owner(fleet, fleet_site(fleet, url), owner);
        error = parcels_add(to, owner, holder, url, payload, i);
    }
    return error;
}

/* Streams that are too long get nothing now; the URLs are left for the next time. */
static int give_back(fleet *fleet, wire *wire, const swept *s, const parcels *sent)
{
    vidi_str *urls = malloc(SWEPT_AT_ONCE * sizeof *urls);
    size_t n = 0;

    if (!urls)
        return VIDI_EMEMORY;
    for (size_t i = 0; i < sent->count; i++)
        for (size_t k = 0; sent->list[i]->refused && k < sent->list[i]->tag_count; k++)
            urls[n++] = url_of(s, sent->list[i]->tags[k]);
    int error = finish(fleet, wire, urls, n, VIDI_FINISH_RELEASE);
    free(urls);
    return error;
}

/* *more: the shard may have more, and the streams have room. */
static int sweep_some(fleet *fleet, wire *wire, uint32_t shard, swept *s, bool *more)
{
    parcels parcels = {0};
    size_t refused = 0;
    int error = vidi_cluster_reclaim(wire->cluster, shard, fleet->sweeper, fleet->options.access.lease_ms,
                                     SWEPT_AT_ONCE, keep, s, NULL);

    if (error)
        return wire_set_failed(wire, error);
    *more = s->count == SWEPT_AT_ONCE;
    if (s->count == 0)
        return VIDI_OK;
    fleet_moves(fleet, false);
    error = pack(fleet, wire, s, &parcels);
    if (error == VIDI_OK)
        error = parcels_send(&parcels, fleet, wire, fleet->options.backlog, &refused);
    if (error == VIDI_OK && refused > 0) {
        error = give_back(fleet, wire, s, &parcels);
        *more = false;
    }
    atomic_fetch_add(&fleet->counts.forwarded, error ? 0 : s->count);
    parcels_free(&parcels);
    return error;
}

static int sweep_shard(fleet *fleet, wire *wire, uint32_t shard)
{
    bool more = true;
    int error = VIDI_OK;

    while (more && error == VIDI_OK && !fleet_is_out(fleet) && fleet_pause(fleet, 0)) {
        swept *s = calloc(1, sizeof *s);
        if (!s)
            return VIDI_EMEMORY;
        error = sweep_some(fleet, wire, shard, s, &more);
        bytes_free(&s->text);
        free(s);
    }
    return error;
}

int sweep_shards(fleet *fleet, wire *wire)
{
    char duty[32];
    int error = VIDI_OK;

    fleet_moving_begin(fleet);
    for (uint32_t i = 0; i < fleet->shards && error == VIDI_OK && fleet_pause(fleet, 0); i++) {
        snprintf(duty, sizeof duty, "shard %u", i);
        if (fleet_has_duty(fleet, duty))
            error = sweep_shard(fleet, wire, i);
    }
    fleet_moving_end(fleet);
    return error;
}
