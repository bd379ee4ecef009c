/*
 * What an attacker makes the crawler meet: lists of URLs, each of which is an attack. The attacker knows every line of
 * the code, but of the key nothing. So a list either speculates on a structure of the hash that shows whatever the key,
 * or was searched for under a key that was guessed.
 */
#ifndef TESTS_SET_ADVERSARY_LISTS_H
#define TESTS_SET_ADVERSARY_LISTS_H

#include <math.h>

#include "filters/partition.h"
#include "set/counter_urls.h"
#include "set/set.h"
#include "support/cases.h"
#include "support/check.h"
#include "support/random.h"

enum { LIST_ROOM = 320 }; /* no URL of a list is longer */

/* What was found by searching, as numbers for put_letters. */
typedef struct found {
    uint32_t *urls;
    uint64_t n, room;
} found;

typedef struct list list;
struct list {
    const char *name;
    size_t (*make)(const list *self, char *at, uint64_t i); /* URL number i: its length */
    const found *found;                                     /* of lists that were searched for */
    uint64_t first;                                         /* of those, the number of the first that was found */
};

/* ---- structure ---- */

static inline size_t put_text(char *at, const char *text)
{
    memcpy(at, text, strlen(text));
    return strlen(text);
}

/* One number after the other, behind a prefix that fills many words. */
static inline size_t make_counter(const list *self, char *at, uint64_t i)
{
    enum { PREFIX = 250 };
    size_t length = put_text(at, "http://example.org/");
    (void)self;
    memset(at + length, 'x', PREFIX);
    put_letters(at + length + PREFIX, (uint32_t)i);
    return length + PREFIX + 8;
}

/* A Gray code: each URL differs from the one before in a single byte, by a single bit. */
static inline size_t make_gray(const list *self, char *at, uint64_t i)
{
    size_t length = put_text(at, "http://");
    (void)self;
    for (unsigned bit = 0; bit < 32; bit++)
        at[length++] = (char)('a' + 2 * (((i ^ i >> 1) >> bit) & 1));
    return length;
}

enum { NEIGHBOURS_BYTES = 64, NEIGHBOURS_BITS = 8 * NEIGHBOURS_BYTES };

/* Bytes in whose neighbourhood the URLs are: others once all neighbours have been used up. */
static inline void put_middle(char *at, uint64_t number)
{
    memset(at, 'm', NEIGHBOURS_BYTES);
    put_letters(at, (uint32_t)number);
}

/* All URLs that differ from a common one in a single byte. */
static inline size_t make_byte(const list *self, char *at, uint64_t i)
{
    enum { EACH = 255 * (NEIGHBOURS_BYTES - 8) };
    (void)self;
    put_middle(at, i / EACH);
    char *byte = at + 8 + i % EACH / 255;
    *byte = (char)((unsigned char)*byte ^ (1 + i % 255));
    return NEIGHBOURS_BYTES;
}

/* All URLs that differ from a common one in two bits, behind the number that is theirs alone. */
static inline size_t make_bits(const list *self, char *at, uint64_t i)
{
    enum { BITS = NEIGHBOURS_BITS - 64, EACH = BITS * (BITS - 1) / 2 };
    uint64_t pair = i % EACH, higher = (uint64_t)((1 + sqrt(1 + 8 * (double)pair)) / 2);
    uint64_t lower = pair - higher * (higher - 1) / 2;
    (void)self;
    put_middle(at, i / EACH);
    at[8 + higher / 8] = (char)(at[8 + higher / 8] ^ 1 << higher % 8);
    at[8 + lower / 8] = (char)(at[8 + lower / 8] ^ 1 << lower % 8);
    return NEIGHBOURS_BYTES;
}

/* Zero bytes, of every length from 8 to 300, with four bytes of a number in front or at the end. */
static inline size_t make_lengths(const list *self, char *at, uint64_t i)
{
    size_t length = 8 + i % 293;
    uint32_t number = (uint32_t)i + 1;
    (void)self;
    memset(at, 0, length);
    memcpy(i / 293 % 2 ? at : at + length - sizeof number, &number, sizeof number);
    return length;
}

enum { TOPS = 16, TOPS_DIGITS = 2 * (TOPS - 1) };

/*
 * The topmost two bits of 16 words, `apart` bytes from one to the next, as digits of a number below 2^30; the last one
 * is such that they add up to a multiple of 4.
 */
static inline void put_tops(char *at, size_t apart, uint64_t number)
{
    unsigned sum = 0;
    for (unsigned word = 0; word + 1 < TOPS; word++) {
        unsigned digit = (unsigned)(number >> 2 * word & 3);
        at[apart * word + 7] = (char)(digit << 6 | 0x25);
        sum += digit;
    }
    at[apart * (TOPS - 1) + 7] = (char)((-sum & 3) << 6 | 0x25);
}

/* All of that, in an order without an order. */
static inline uint64_t scattered(uint64_t i)
{
    const uint64_t most = (1u << TOPS_DIGITS) - 1;
    for (unsigned round = 0; round < 3; round++) {
        i = i * 0x2545f491u & most;
        i ^= i >> TOPS_DIGITS / 2;
    }
    return i;
}

/* Differences that a carry does not pass on, in one word after the other. */
static inline size_t make_tops(const list *self, char *at, uint64_t i)
{
    (void)self;
    memset(at, 'x', 8 * TOPS);
    put_tops(at, 8, scattered(i));
    return 8 * TOPS;
}

/* ---- search ---- */

static inline size_t put_candidate(char *at, uint32_t number)
{
    put_text(at, "http://");
    put_letters(at + 7, number);
    return 15;
}

static inline size_t make_found(const list *self, char *at, uint64_t i)
{
    return put_candidate(at, self->found->urls[i]);
}

/* Others first, to fill the table, and then those that were found. */
static inline size_t make_filled(const list *self, char *at, uint64_t i)
{
    if (i >= self->first)
        return make_found(self, at, i - self->first);
    size_t length = put_text(at, "http://example.org/");
    put_letters(at + length, (uint32_t)i);
    return length + 8;
}

static inline void found_init(found *f, uint64_t room)
{
    f->n = 0;
    f->room = room;
    f->urls = malloc(room * sizeof *f->urls);
    assert_non_null(f->urls);
}

static inline void found_push(found *f, uint32_t url)
{
    if (f->n < f->room)
        f->urls[f->n++] = url;
}

/*
 * Tries URLs under a key until there are as many as wanted whose hashes lie in the first partition; and of the others
 * those that lie at the very beginning of the second, a 1024th of it.
 */
static inline void search(const vidi__hash_key *key, found *partition, found *beginning)
{
    const vidi__hash_fn *sip = vidi__hash_find(VIDI__STR("sip13"));
    static char arena[COUNTER_BATCH][16];
    static vidi_str urls[COUNTER_BATCH];
    static vidi__u128 hashes[COUNTER_BATCH];
    for (uint32_t first = 0; partition->n < partition->room; first += COUNTER_BATCH) {
        for (uint32_t i = 0; i < COUNTER_BATCH; i++)
            urls[i] = (vidi_str){arena[i], put_candidate(arena[i], first + i)};
        vidi__hash_batch(sip, key, urls, COUNTER_BATCH, hashes);
        for (uint32_t i = 0; i < COUNTER_BATCH; i++) {
            if (vidi__partition_of(hashes[i].hi) == 0)
                found_push(partition, first + i);
            if (hashes[i].hi >> 48 == 1 << (16 - VIDI__PARTITION_BITS))
                found_push(beginning, first + i);
        }
    }
}

#endif
