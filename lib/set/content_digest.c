/*
 * A digest of what a set holds. Neither order nor layout matters, because it is made of sums or products over the
 * elements that the set lists. They count as often as they were added, and one that is listed twice, as a mapped set
 * may do, counts as if it had been listed once with the sum of its times.
 *
 * Kinds that keep URLs:
 *
 *     element   SipHash-2-4-128 of the URL
 *     sum       eight lanes of 64 bits; lane j grows by times · mix(element.lo + j · (element.hi or 1))
 *     digest    SipHash-2-4-128 of the eight lanes; zeros for an empty set
 *
 * Its key is fixed, so that sets of different keys can be compared. Somebody who chooses the URLs then knows the
 * function; eight lanes make it expensive to find two lists of URLs with the same sum. An attacker with two such lists
 * gains nothing but two different sets with equal digests.
 *
 * Kinds that keep hashes alone:
 *
 *     element   the first 60 bits of the hash, as a number x; no kind keeps more of it
 *     product   five lanes modulo p = 2^61 - 1; lane j is multiplied by (r[j] + x)^times
 *     digest    SipHash-2-4-128 of the five lanes; zeros for an empty set
 *
 * The r[j] are derived from the set's key, and so is the key of the last line. A lane is the polynomial whose zeros
 * are the elements' negatives, at the secret place r[j] (Carter, Wegman 1981). Two of them, of n elements at most, are
 * equal at n places at most, of 2^59: so two sets that were chosen without the key have equal lanes with a chance below
 * (n / 2^59)^5, which is 2^-160 for 10^8 URLs and 2^-128 for 10^10.
 *
 * A kind that cannot list its elements, such as a Bloom filter, has the digest of its arrays, as it writes them to a
 * stream: the same adds in the same order give the same bits. Blocks of 4 KiB are hashed one after the other, each
 * under a key that the block before has changed.
 */
#include "hash/sip.h"
#include "set/set.h"

#define SUMS 8
#define PRODUCTS 5
#define PRIME ((UINT64_C(1) << 61) - 1)
#define PLACE_BITS 59 /* of r[j]; see multiply */
#define UNKEPT_BITS 4 /* of a hash of 64 bits */

typedef struct digesting {
    bool any, hashes;
    uint64_t sums[SUMS];
    uint64_t products[PRODUCTS], places[PRODUCTS];
} digesting;

static const uint64_t public_key[2] = {UINT64_C(0x6320696469762041), UINT64_C(0x747365676964206e)};

/* ---- kinds that list URLs or hashes ---- */

static void sum_url(digesting *self, vidi_str url, uint64_t times)
{
    vidi__u128 element = vidi__siphash(public_key, &url, 1, 2, 4);
    for (uint64_t i = 0; i < SUMS; i++)
        self->sums[i] += times * vidi__mix(element.lo + i * (element.hi | 1));
}

/*
 * Multiplies modulo p, but for a multiple of it. If a is below 2^63 and b below 3 · 2^59, as r[j] + x is, then the result
 * is below 3/4 · 2^63 + 2^61 = 2^63 again. So is that of any a and b up to p.
 */
static inline uint64_t multiply(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return ((uint64_t)product & PRIME) + (uint64_t)(product >> 61);
}

static uint64_t power(uint64_t base, uint64_t times)
{
    uint64_t result = 1;
    for (; times; times >>= 1) {
        if (times & 1)
            result = multiply(result, base) % PRIME;
        base = multiply(base, base) % PRIME;
    }
    return result;
}

/* The lanes do not wait for each other, so their multiplications overlap. */
static void multiply_once(digesting *self, const uint64_t *hashes, unsigned n)
{
    uint64_t products[PRODUCTS];
    memcpy(products, self->products, sizeof products);
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < PRODUCTS; j++)
            products[j] = multiply(products[j], self->places[j] + (hashes[i] >> UNKEPT_BITS));
    memcpy(self->products, products, sizeof products);
}

static int take_hashes(void *context, uint64_t *hashes, const uint64_t *times, unsigned n)
{
    digesting *self = context;
    self->any = self->hashes = true;
    if (!times)
        multiply_once(self, hashes, n);
    for (unsigned i = 0; times && i < n; i++)
        for (unsigned j = 0; j < PRODUCTS; j++)
            self->products[j] =
                multiply(self->products[j] % PRIME, power(self->places[j] + (hashes[i] >> UNKEPT_BITS), times[i]));
    return 0;
}

static int take_entry(void *context, const vidi_entry *entry)
{
    uint64_t hash = entry->hash[1];
    if (!entry->url.ptr)
        return take_hashes(context, &hash, entry->times == 1 ? NULL : &entry->times, 1);
    ((digesting *)context)->any = true;
    sum_url(context, entry->url, entry->times);
    return 0;
}

static void begin(digesting *self, const vidi_set *set)
{
    unsigned char place[VIDI_KEY_BYTES];
    *self = (digesting){.any = false};
    for (unsigned i = 0; i < PRODUCTS; i++) {
        vidi__derive_key(place, set->key, "content", i + 1);
        self->places[i] = vidi__load64(place) >> (64 - PLACE_BITS);
        self->products[i] = 1;
    }
}

/* Hashes the lanes under the fixed key or the secret one. */
static void end(const digesting *self, const uint64_t secret[2], unsigned char digest[VIDI_CONTENT_DIGEST_BYTES])
{
    unsigned char bytes[8 * SUMS];
    unsigned lanes = self->hashes ? PRODUCTS : SUMS;
    for (unsigned i = 0; i < lanes; i++)
        vidi__store64(bytes + 8 * i, self->hashes ? self->products[i] % PRIME : self->sums[i]);
    vidi_str all = {(const char *)bytes, 8 * (size_t)lanes};
    vidi__u128 whole = vidi__siphash(self->hashes ? secret : public_key, &all, 1, 2, 4);
    vidi__store64(digest, whole.lo);
    vidi__store64(digest + 8, whole.hi);
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
    digesting self;
    unsigned char derived[VIDI_KEY_BYTES];
    if (!set || !digest)
        return vidi__fail(VIDI_EARGUMENT, "set or digest is NULL");
    vidi__derive_key(derived, set->key, "content", 0);
    const uint64_t secret[2] = {vidi__load64(derived), vidi__load64(derived + 8)};
    VIDI__TRY(vidi__set_here(set));
    if (!can_list(set))
        return digest_arrays(set, secret, digest);
    begin(&self, set);
    VIDI__TRY(vidi__set_list(set, &(vidi__lister){take_entry, take_hashes, &self}));
    memset(digest, 0, VIDI_CONTENT_DIGEST_BYTES);
    if (self.any)
        end(&self, secret, digest);
    return VIDI_OK;
}
