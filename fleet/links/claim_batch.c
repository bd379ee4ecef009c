/*
 * Claims in one call: see claim_batch.h.
 */
#include "fleet/links/claim_batch.h"

#include <stdlib.h>
#include <string.h>

#include "vidi/url.h"

/* Whether the set keeps this URL as it is. */
static bool is_canonical(const wire *wire, vidi_str url)
{
    const vidi_canon *form = vidi_cluster_canon_of(wire->cluster);
    const char *name = vidi_canon_name(form);
    char room[FLEET_URL];
    size_t len = sizeof room;

    if (strcmp(name, "whatwg/1") == 0) /* of a serialised URL without a fragment */
        return true;
    return vidi_url_canon(form, url, NULL, room, &len) == VIDI_OK && len == url.len && memcmp(room, url.ptr, len) == 0;
}

static int append_payload(const wire *wire, vidi_str url, vidi_str payload, bytes *to)
{
    const char head[3] = {'u', (char)(url.len & 0xff), (char)(url.len >> 8)};

    if (bytes_reserve(to, sizeof head + url.len + payload.len))
        return VIDI_EMEMORY;
    if (is_canonical(wire, url)) {
        bytes_append(to, "=", 1);
    } else {
        bytes_append(to, head, sizeof head);
        bytes_append(to, url.ptr, url.len);
    }
    return bytes_append(to, payload.ptr, payload.len);
}

bool claim_read(vidi_str canonical, vidi_str stored, vidi_str *url, vidi_str *payload)
{
    *url = canonical;
    *payload = (vidi_str){"", 0};
    if (stored.len == 0)
        return true;
    if (stored.ptr[0] == '=') {
        *payload = (vidi_str){stored.ptr + 1, stored.len - 1};
        return true;
    }
    if (stored.ptr[0] != 'u' || stored.len < 3)
        return false;
    size_t length = (size_t)(unsigned char)stored.ptr[1] | (size_t)(unsigned char)stored.ptr[2] << 8;
    if (length == 0 || length > stored.len - 3)
        return false;
    *url = (vidi_str){stored.ptr + 3, length};
    *payload = (vidi_str){stored.ptr + 3 + length, stored.len - 3 - length};
    return true;
}

/* ---- the batch ---- */

/* Each array on its own: if there is no memory for one of them, the others are merely too large. */
static int make_room(claim_batch *batch)
{
    size_t room = batch->room ? 2 * batch->room : 64;
    void *claims = realloc(batch->claims, room * sizeof *batch->claims);

    if (!claims)
        return VIDI_EMEMORY;
    batch->claims = claims;
    void *tags = realloc(batch->tags, room * sizeof *batch->tags);
    if (!tags)
        return VIDI_EMEMORY;
    batch->tags = tags;
    void *ends = realloc(batch->ends, room * sizeof *batch->ends);
    if (!ends)
        return VIDI_EMEMORY;
    batch->ends = ends;
    batch->room = room;
    return VIDI_OK;
}

int claim_batch_add(claim_batch *batch, const wire *wire, vidi_str url, vidi_str payload, size_t tag)
{
    if (url.len == 0 || url.len > FLEET_URL || payload.len > FLEET_PAYLOAD)
        return VIDI_EARGUMENT;
    int error = batch->count < batch->room ? VIDI_OK : make_room(batch);
    if (error == VIDI_OK)
        error = append_payload(wire, url, payload, &batch->text);
    if (error)
        return error;
    batch->claims[batch->count] = (vidi_claim){.url = url};
    batch->tags[batch->count] = tag;
    batch->ends[batch->count++] = batch->text.len;
    return VIDI_OK;
}

int claim_batch_run(claim_batch *batch, const fleet *fleet, wire *wire, unsigned flags)
{
    int error = VIDI_OK;
    size_t begin = 0;

    for (size_t i = 0; i < batch->count; i++) {
        batch->claims[i].payload = (vidi_str){batch->text.ptr + begin, batch->ends[i] - begin};
        begin = batch->ends[i];
    }
    for (size_t from = 0; from < batch->count && error == VIDI_OK; from += CLAIMS_AT_ONCE) {
        size_t left = batch->count - from, n = left < CLAIMS_AT_ONCE ? left : CLAIMS_AT_ONCE;
        error = vidi_cluster_claim(wire->cluster, fleet->hand, fleet->options.access.lease_ms, batch->claims + from, n,
                                   flags);
    }
    return error ? wire_set_failed(wire, error) : VIDI_OK;
}

void claim_batch_clear(claim_batch *batch)
{
    batch->count = batch->text.len = 0;
}

void claim_batch_free(claim_batch *batch)
{
    free(batch->claims);
    free(batch->tags);
    free(batch->ends);
    bytes_free(&batch->text);
    *batch = (claim_batch){0};
}
