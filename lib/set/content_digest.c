/*
 * A digest of what a set holds: a sum, so that neither order nor layout matters, over the elements that the set lists.
 *
 *     element   SipHash-2-4-128 of the URL, or of the hash if that is all the kind keeps
 *     sum       eight lanes of 64 bits; lane j grows by times · mix(element.lo + j · (element.hi or 1))
 *     digest    SipHash-2-4-128 of the eight lanes; zeros for an empty set
 *
 * Elements count as often as they were added, and a URL that is listed twice, as a mapped set may do, counts as if it had
 * been listed once with the sum of its times.
 *
 * Hashes are summed under a key that is derived from the set's. URLs are summed under a fixed key, so that sets of
 * different keys can be compared. Somebody who chooses the URLs then knows the function; eight lanes make it expensive
 * to find two lists of URLs with the same sum. Even who has them gains only two sets that differ and do not look it.
 */
#include "hash/sip.h"
#include "set/set.h"

#define LANES 8

typedef struct summing {
    uint64_t secret[2]; /* for hashes */
    uint64_t key[2];    /* the one in use */
    bool any;
    uint64_t lanes[LANES];
} summing;

static const uint64_t public_key[2] = {UINT64_C(0x6320696469762041), UINT64_C(0x747365676964206e)};

static int sum_entry(void *context, const vidi_entry *entry)
{
    summing *self = context;
    unsigned char hash[16];
    vidi_str what = entry->url;
    if (!what.ptr) {
        vidi__store64(hash, entry->hash[0]);
        vidi__store64(hash + 8, entry->hash[1]);
        what = (vidi_str){(const char *)hash, sizeof hash};
    }
    memcpy(self->key, entry->url.ptr ? public_key : self->secret, sizeof self->key);
    vidi__u128 element = vidi__siphash(self->key, &what, 1, 2, 4);
    for (uint64_t i = 0; i < LANES; i++)
        self->lanes[i] += entry->times * vidi__mix(element.lo + i * (element.hi | 1));
    self->any = true;
    return 0;
}

int vidi_content_digest(const vidi_set *set, unsigned char digest[VIDI_DIGEST_BYTES])
{
    summing self = {.any = false};
    unsigned char secret[VIDI_KEY_BYTES], sums[8 * LANES];
    if (!set || !digest)
        return vidi__fail(VIDI_EARGUMENT, "set or digest is NULL");
    vidi__derive_key(secret, set->key, "content", 0);
    self.secret[0] = vidi__load64(secret);
    self.secret[1] = vidi__load64(secret + 8);
    VIDI__TRY(vidi_iterate(set, sum_entry, &self));
    memset(digest, 0, VIDI_DIGEST_BYTES);
    if (!self.any)
        return VIDI_OK;
    for (unsigned i = 0; i < LANES; i++)
        vidi__store64(sums + 8 * i, self.lanes[i]);
    vidi__u128 whole = vidi__siphash(self.key, &(vidi_str){(const char *)sums, sizeof sums}, 1, 2, 4);
    vidi__store64(digest, whole.lo);
    vidi__store64(digest + 8, whole.hi);
    return VIDI_OK;
}
