/*
 * Claims that are made in one call of the set, and what their payloads look like.
 *
 * The set keeps URLs in its canonical form, and RECLAIM gives back that form, which with some forms is not the URL that
 * was found. So the payload of a claim begins with the URL if the two differ:
 *
 *     '=' payload                                      the URL is the canonical form
 *     'u' | length of the URL, 2 | URL | payload
 *
 * A claim without any payload comes from another program: its URL is the canonical form.
 */
#ifndef VIDI_FLEET_LINKS_CLAIM_BATCH_H
#define VIDI_FLEET_LINKS_CLAIM_BATCH_H

#include "fleet/links/fleet_inside.h"

/* Begins as {0}, and can be used again after claim_batch_clear. */
typedef struct claim_batch {
    vidi_claim *claims;
    size_t *tags, *ends; /* of the payloads in `text` */
    size_t count, room;
    bytes text;
} claim_batch;

/* Strings must stay until the batch is cleared. */
int claim_batch_add(claim_batch *batch, const wire *wire, vidi_str url, vidi_str payload, size_t tag);
/* Claims them in this process's name. claims[i].verdict is the answer. */
int claim_batch_run(claim_batch *batch, const fleet *fleet, wire *wire, unsigned flags);
void claim_batch_clear(claim_batch *batch);
void claim_batch_free(claim_batch *batch);

/* URL and payload of a claim, from what the set has. False if the set's payload was not made here. */
bool claim_read(vidi_str canonical, vidi_str stored, vidi_str *url, vidi_str *payload);

#endif
