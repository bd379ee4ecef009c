/*
 * A digest of what a set holds: a sum, so that neither order nor layout matters, over the elements that the set lists.
 *
 *     element   SipHash-2-4-128 of the URL, or of the hash if that is all the kind keeps
 *     sum       eight lanes of 64 bits; lane j grows by times · mix(element.lo + j · (element.hi or 1))
 *     digest    SipHash-2-4-128 of the eight lanes; zeros for an empty set
 *
 * Elements count as often as they were added, and a URL that is listed twice, as a mapped set may do, counts as if it
 * had been listed once with the sum of its times.
 *
 * Hashes are summed under a key that is derived from the set's. URLs are summed under a fixed key, so that sets of
 * different keys can be compared. Somebody who chooses the URLs then knows the function; eight lanes make it expensive
 * to find two lists of URLs with the same sum. An attacker with two such lists gains nothing but two different sets
 * with equal digests.
 *
 * A kind that cannot list its elements, such as a Bloom filter, has the digest of its arrays, as it writes them to a
 * stream: the same adds in the same order give the same bits. Blocks of 4 KiB are hashed one after the other, each
 * under a key that the block before has changed.
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

/* ---- kinds that cannot list ---- */

#define BLOCK 4096

/* A writer that hashes what is written to it. */
typedef struct hashing {
    vidi__writer base;
    uint64_t key[2];
    uint64_t used;
    char block[BLOCK];
} hashing;

static void hash_block(hashing *self)
{
    vidi__u128 hash = vidi__siphash(self->key, &(vidi_str){self->block, self->used}, 1, 1, 3);
    self->key[0] += hash.lo;
    self->key[1] += hash.hi;
    self->used = 0;
}

static int hash_written(vidi__writer *writer, const void *data, uint64_t bytes)
{
    hashing *self = (hashing *)writer;
    const char *from = data;
    while (bytes > 0) {
        uint64_t room = BLOCK - self->used, now = bytes < room ? bytes : room;
        memcpy(self->block + self->used, from, now);
        self->used += now;
        from += now;
        bytes -= now;
        if (self->used == BLOCK)
            hash_block(self);
    }
    return VIDI_OK;
}

/* Locks as vidi_write does. */
static int digest_arrays(const vidi_set *set, const uint64_t secret[2], unsigned char digest[VIDI_CONTENT_DIGEST_BYTES])
{
    hashing self = {.base = {.write = hash_written, .contents_alone = true}, .key = {secret[0], secret[1]}};
    vidi__turn_begin(set);
    int code = vidi__lock_whole(set);
    if (code == VIDI_OK)
        code = vidi__set_whole(set);
    if (code == VIDI_OK)
        code = vidi__set_intact(set, vidi__filter_save(set->now.filter, &self.base));
    vidi__unlock(set);
    vidi__turn_end(set);
    hash_block(&self);
    vidi__store64(digest, self.key[0]);
    vidi__store64(digest + 8, self.key[1]);
    return code;
}

/* ---- all kinds ---- */

static bool can_list(const vidi_set *set)
{
    vidi__lock_shared(set);
    bool can = set->now.filter->can & VIDI_CAN_ITERATE;
    vidi__unlock(set);
    return can;
}

int vidi_content_digest(const vidi_set *set, unsigned char digest[VIDI_CONTENT_DIGEST_BYTES])
{
    summing self = {.any = false};
    unsigned char secret[VIDI_KEY_BYTES], sums[8 * LANES];
    if (!set || !digest)
        return vidi__fail(VIDI_EARGUMENT, "set or digest is NULL");
    vidi__derive_key(secret, set->key, "content", 0);
    self.secret[0] = vidi__load64(secret);
    self.secret[1] = vidi__load64(secret + 8);
    VIDI__TRY(vidi__set_here(set));
    if (!can_list(set))
        return digest_arrays(set, self.secret, digest);
    VIDI__TRY(vidi_iterate(set, sum_entry, &self));
    memset(digest, 0, VIDI_CONTENT_DIGEST_BYTES);
    if (!self.any)
        return VIDI_OK;
    for (unsigned i = 0; i < LANES; i++)
        vidi__store64(sums + 8 * i, self.lanes[i]);
    vidi__u128 whole = vidi__siphash(self.key, &(vidi_str){(const char *)sums, sizeof sums}, 1, 2, 4);
    vidi__store64(digest, whole.lo);
    vidi__store64(digest + 8, whole.hi);
    return VIDI_OK;
}
