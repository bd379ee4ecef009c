/*
 * Links to the owners of their sites: fleet_send_links and fleet_hand_over of fleet.h.
 *
 * Own links are claimed; the others are packed and appended to streams. A link counts as sent lately from the moment
 * when it is packed, so that it is packed once; if it is not handed over after all, that is taken back. After an error
 * nothing counts as sent. Sending a link twice is harmless: its owner claims it once.
 */
#include <string.h>
#include <time.h>

#include "fleet/links/claim_batch.h"
#include "fleet/links/parcels.h"
#include "vidi/url.h"

enum { SHORT_WAIT = 20 }; /* milliseconds, when a stream is too long */

/* The owner of the link before; links come in runs of one host. */
typedef struct owner_memo {
    char host[256];
    char life[FLEET_NAME];
    bool mine;
} owner_memo;

static bool host_of(vidi_str url, vidi_str *host)
{
    vidi_url parts = {.size = sizeof parts};

    if (vidi_url_view(url, &parts) != VIDI_OK)
        return false;
    *host = parts.host;
    return true;
}

static const owner_memo *owner_of(const fleet *fleet, vidi_str url, owner_memo *memo)
{
    vidi_str host = {"", 0};
    bool fits = host_of(url, &host) && host.len > 0 && host.len < sizeof memo->host && fleet->options.split_count == 0;

    if (fits && strlen(memo->host) == host.len && memcmp(memo->host, host.ptr, host.len) == 0)
        return memo;
    fleet_owner(fleet, fleet_site(fleet, url), memo->life);
    memo->mine = strcmp(memo->life, fleet->life) == 0;
    if (fits)
        memcpy(memo->host, host.ptr, host.len);
    memo->host[fits ? host.len : 0] = 0;
    return memo;
}

/* ---- links that were found ---- */

typedef struct sending {
    fleet *fleet;
    fleet_link *links;
    owner_memo memo;
    claim_batch claims;
    parcels parcels;
    bool failed_claim;
} sending;

/* A new version of the table, or a reply that was lost: what was sent may be forgotten. */
static void forget_if_changed(fleet *fleet)
{
    uint64_t version = fleet_version(fleet);

    if (version != fleet->adopting || fleet->storage.lost_reply)
        sent_cache_clear(&fleet->sent);
    fleet->adopting = version;
    fleet->storage.lost_reply = false;
}

static int claim_own(sending *s)
{
    fleet *f = s->fleet;
    int error = claim_batch_run(&s->claims, f, &f->storage, f->sent_unsure ? VIDI_CLAIM_AGAIN : 0);

    for (size_t i = 0; i < s->claims.count && error == VIDI_OK; i++)
        if (s->claims.claims[i].verdict == VIDI_NEW)
            s->links[s->claims.tags[i]].claimed = true;
    s->failed_claim = error != VIDI_OK;
    claim_batch_clear(&s->claims);
    return error;
}

static int add_link(sending *s, size_t i)
{
    fleet *f = s->fleet;
    const fleet_link *link = &s->links[i];

    if (link->claimed || !sent_cache_add(&f->sent, fleet_hash(f, link->url)))
        return VIDI_OK;
    const owner_memo *owner = owner_of(f, link->url, &s->memo);
    if (!owner->mine)
        return parcels_add(&s->parcels, owner->life, (vidi_str){"", 0}, link->url, link->payload, i);
    int error = claim_batch_add(&s->claims, &f->storage, link->url, link->payload, i);
    return error == VIDI_OK && s->claims.count == CLAIMS_AT_ONCE ? claim_own(s) : error;
}

static void unsend_refused(sending *s)
{
    for (size_t i = 0; i < s->parcels.count; i++) {
        const parcel *one = s->parcels.list[i];
        for (size_t k = 0; one->refused && k < one->tag_count; k++)
            sent_cache_remove(&s->fleet->sent, fleet_hash(s->fleet, s->links[one->tags[k]].url));
    }
}

static int send_once(fleet *fleet, fleet_link *links, size_t n)
{
    sending s = {.fleet = fleet, .links = links};
    size_t refused = 0;
    int error = VIDI_OK;

    forget_if_changed(fleet);
    for (size_t i = 0; i < n && error == VIDI_OK; i++)
        error = add_link(&s, i);
    if (error == VIDI_OK && s.claims.count > 0)
        error = claim_own(&s);
    if (error == VIDI_OK)
        error = parcels_send(&s.parcels, fleet, &fleet->storage, fleet->options.backlog, &refused);
    if (error == VIDI_OK && refused > 0) {
        unsend_refused(&s);
        error = VIDI_EBUSY;
    } else if (error) {
        sent_cache_clear(&fleet->sent);
    }
    fleet->sent_unsure = s.failed_claim || (error && fleet->sent_unsure);
    claim_batch_free(&s.claims);
    parcels_free(&s.parcels);
    return error;
}

static int wait_if_busy(fleet *fleet, int error)
{
    struct timespec moment = {.tv_nsec = SHORT_WAIT * 1000000L};

    if (error == VIDI_EMEMORY || error == VIDI_EARGUMENT)
        return wire_failed(&fleet->storage, error, "cannot send links: %s",
                           error == VIDI_EMEMORY ? vidi_strerror(error) : "a URL or its payload is too long");
    if (error != VIDI_EBUSY)
        return error;
    nanosleep(&moment, NULL);
    return wire_failed(&fleet->storage, VIDI_EBUSY, "another member's stream is full");
}

int fleet_send_links(fleet *fleet, fleet_link *links, size_t n)
{
    patience patience = wire_patience(&fleet->storage);
    int error;

    if (n == 0)
        return VIDI_OK;
    fleet_moving_begin(fleet);
    fleet_moves(fleet, true);
    do
        error = send_once(fleet, links, n);
    while (wire_try_again(&fleet->storage, &patience, error));
    fleet_moving_end(fleet);
    return wait_if_busy(fleet, error);
}

/* ---- pages that change hands ---- */

static int hand_over_once(fleet *fleet, const fleet_link *links, size_t n)
{
    vidi_str hand = {fleet->hand, strlen(fleet->hand)};
    owner_memo memo = {0};
    parcels parcels = {0};
    size_t refused = 0;
    int error = VIDI_OK;

    for (size_t i = 0; i < n && error == VIDI_OK; i++) {
        const fleet_link *link = &links[i];
        if (hand_set_has(&fleet->in_hand, fleet_hash(fleet, link->url))) /* another row of it is being fetched */
            continue;
        error = parcels_add(&parcels, owner_of(fleet, link->url, &memo)->life, hand, link->url, link->payload, i);
    }
    if (error == VIDI_OK)
        error = parcels_send(&parcels, fleet, &fleet->storage, fleet->options.backlog, &refused);
    if (error == VIDI_OK && refused > 0)
        error = VIDI_EBUSY;
    parcels_free(&parcels);
    return error;
}

int fleet_hand_over(fleet *fleet, const fleet_link *links, size_t n)
{
    patience patience = wire_patience(&fleet->storage);
    int error;

    if (n == 0)
        return VIDI_OK;
    fleet_moving_begin(fleet);
    fleet_moves(fleet, true);
    do
        error = hand_over_once(fleet, links, n);
    while (wire_try_again(&fleet->storage, &patience, error));
    fleet_moving_end(fleet);
    return wait_if_busy(fleet, error);
}
