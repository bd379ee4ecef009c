/*
 * SipHash-1-3 of many strings at once, one string a lane: a template that is compiled once per instruction set.
 *
 * SipHash is one long chain of additions, rotations and exclusive ors, so a processor that follows one string waits for
 * itself most of the time. Here each of the four words of state is a vector with a lane for every string, and two such
 * states ("groups") take turns to hide the latency. That leaves three things to do:
 *
 *   sort     Lanes go as long as the longest of them. So up to 256 strings are sorted by their number of words (one
 *            counting sort, longest first), and neighbours share a group. Strings that are too long for `words`, and
 *            the few that are much longer than the next, are hashed one by one.
 *   lay out  The strings are rows in memory, the rounds want columns: blocks of LANES rows are read, transposed and
 *            left in `words`. Nothing past a string's end is read. The word after the last whole one gets the string's
 *            last 0 to 7 bytes and its length, as SipHash has it; words beyond are zero.
 *
 *                       words[0]   words[1]   words[2]   words[3]
 *              lane 0   http://e   xample.o   rg/index   .html..L     most = 3
 *              lane 1   http://e   xample.o   rg/....L   ........     least = 2: three words are everybody's
 *
 *   absorb   The first least + 1 words are taken in by all lanes. After that, lanes that have ended keep their state.
 *
 * Results are written in sorted order and brought into the callers' order at the end.
 *
 * The including file defines LANES, INLINE and TARGET (how functions are declared), BATCH (the function's name), the
 * types `vec` (LANES numbers of 64 bits) and `mask` (LANES truths), and these functions:
 *   same(x)                   x in every lane
 *   add, exor, exor3          of two or three vectors; rotl(a, n): each lane to the left by the constant n
 *   reaches(len, now)         lanes whose string has the word number `now` or ends in it
 *   pick(which, a, b)         a in those lanes, b in the others
 *   whole_block(w, at, i)     w[0] .. w[LANES - 1] = words i .. i + LANES - 1 of strings that have them all
 *   ragged_block(w, at, len, i)   the same, with zeros after the end of a string
 *   ends(w, at, len)          writes the word that has the last bytes and the length
 *   put(out, lo, hi)          LANES hashes
 */
#include "base/base.h"
#include "base/bits.h"
#include "hash/functions.h"

#define CHUNK 256       /* strings sorted at a time: their indexes fit into a byte */
#define WORDS 64        /* strings with this many whole words are hashed one by one */
#define FEW (LANES / 4) /* this many leftover strings are faster one by one */
#define SMALL 8         /* smaller batches do not repay the sorting */

/* A row of `words`: a vector for each group. */
typedef vec word_row[2];

typedef struct lanes {
    vec v0, v1, v2, v3;
} lanes;

/* At most CHUNK strings, sorted by number of words, longest first. Those with WORDS words or more are in any order. */
typedef struct queue {
    vidi__u128 hash[CHUNK + LANES];
    uint64_t len[CHUNK + LANES];
    const unsigned char *at[CHUNK + LANES];
    uint8_t place[CHUNK]; /* index in the caller's order */
    const vidi__hash_key *key;
    size_t next;          /* next string to hash */
    uint64_t least, most; /* whole words of the shortest and of the longest string of the current groups */
} __attribute__((aligned(VIDI__CACHE_LINE))) queue;

INLINE lanes lanes_start(const uint64_t key[2])
{
    return (lanes){
        .v0 = same(key[0] ^ UINT64_C(0x736f6d6570736575)),
        .v1 = same(key[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee),
        .v2 = same(key[0] ^ UINT64_C(0x6c7967656e657261)),
        .v3 = same(key[1] ^ UINT64_C(0x7465646279746573)),
    };
}

/* One round for `word`, which v3 has already absorbed; on return v3 has absorbed `next`. */
INLINE lanes lanes_round(lanes s, vec word, vec next)
{
    vec v0 = add(s.v0, s.v1), v2 = add(s.v2, s.v3);
    vec v1 = exor(rotl(s.v1, 13), v0), v3 = exor(rotl(s.v3, 16), v2);
    v2 = add(v2, v1);
    v0 = add(rotl(v0, 32), v3);
    return (lanes){
        .v0 = exor(v0, word),
        .v1 = exor(rotl(v1, 17), v2),
        .v2 = rotl(v2, 32),
        .v3 = exor3(rotl(v3, 21), v0, next),
    };
}

INLINE lanes lanes_pick(mask which, lanes a, lanes b)
{
    return (lanes){
        .v0 = pick(which, a.v0, b.v0),
        .v1 = pick(which, a.v1, b.v1),
        .v2 = pick(which, a.v2, b.v2),
        .v3 = pick(which, a.v3, b.v3),
    };
}

/* The loops over groups must be unrolled, so that the states stay in registers. */
INLINE void absorb(lanes *s, const word_row *words, const queue *q, unsigned groups)
{
    uint64_t i, least = q->least, most = q->most;
#pragma GCC unroll 2
    for (unsigned g = 0; g < groups; g++)
        s[g].v3 = exor(s[g].v3, words[0][g]);
    for (i = 0; i <= least; i++)
#pragma GCC unroll 2
        for (unsigned g = 0; g < groups; g++)
            s[g] = lanes_round(s[g], words[i][g], words[i + 1][g]);
    for (; i <= most; i++)
#pragma GCC unroll 2
        for (unsigned g = 0; g < groups; g++)
            s[g] = lanes_pick(reaches(q->len + q->next + g * LANES, i), lanes_round(s[g], words[i][g], words[i + 1][g]),
                              s[g]);
}

INLINE void three_rounds(lanes *s, unsigned groups)
{
#pragma GCC unroll 3
    for (unsigned i = 0; i < 3; i++)
#pragma GCC unroll 2
        for (unsigned g = 0; g < groups; g++)
            s[g] = lanes_round(s[g], same(0), same(0));
}

INLINE void finish(lanes *s, vidi__u128 *out, unsigned groups)
{
    vec low[2];
#pragma GCC unroll 2
    for (unsigned g = 0; g < groups; g++)
        s[g].v2 = exor(s[g].v2, same(0xee));
    three_rounds(s, groups);
#pragma GCC unroll 2
    for (unsigned g = 0; g < groups; g++) {
        low[g] = exor(exor3(s[g].v0, s[g].v1, s[g].v2), s[g].v3);
        s[g].v1 = exor(s[g].v1, same(0xdd));
    }
    three_rounds(s, groups);
#pragma GCC unroll 2
    for (unsigned g = 0; g < groups; g++)
        put(out + g * LANES, low[g], exor(exor3(s[g].v0, s[g].v1, s[g].v2), s[g].v3));
}

/* Not inlined: the compiler would keep pointers in vector registers, and each would wait for the previous rounds. */
TARGET static __attribute__((noinline)) void lay_out(const queue *q, unsigned g, word_row *words)
{
    const unsigned char *const *at = q->at + q->next + g * LANES;
    const uint64_t *len = q->len + q->next + g * LANES;
    uint64_t i = 0;
    for (; i + LANES <= q->least; i += LANES)
        whole_block((word_row *)&words[i][g], at, i);
    for (; i <= q->most; i += LANES)
        ragged_block((word_row *)&words[i][g], at, len, i);
    ends((word_row *)&words[0][g], at, len);
    words[q->most + 1][g] = same(0); /* nothing to absorb after the last word */
}

INLINE void hash_lanes(queue *q, unsigned groups)
{
    word_row words[WORDS + LANES];
    lanes s[2];
    q->least = q->len[q->next + groups * LANES - 1] / 8;
    q->most = q->len[q->next] / 8;
    for (unsigned g = 0; g < groups; g++)
        lay_out(q, g, words);
#pragma GCC unroll 2
    for (unsigned g = 0; g < groups; g++)
        s[g] = lanes_start(q->key->key);
    absorb(s, (const word_row *)words, q, groups);
    finish(s, q->hash + q->next, groups);
    q->next += groups * LANES;
}

TARGET static __attribute__((noinline)) void hash_two_groups(queue *q)
{
    hash_lanes(q, 2);
}

TARGET static __attribute__((noinline)) void hash_one_group(queue *q)
{
    hash_lanes(q, 1);
}

static void hash_next(queue *q)
{
    const vidi_str str = {(const char *)q->at[q->next], q->len[q->next]};
    q->hash[q->next++] = vidi__sip13_one(q->key, str);
}

/*
 * A counting sort with one-byte counters: sums are modulo 256, like the indexes. A product with 0x01…01 turns eight
 * counters into eight sums at once. The prefetches help if the strings are not in the cache.
 */
static void sort(queue *q, const vidi_str *strs, size_t n)
{
    uint8_t bucket[CHUNK], rank[CHUNK];
    uint8_t begin[WORDS + 8] = {0}; /* begin[b + 1] first counts bucket b */
    for (size_t i = 0; i < n; i++) {
        size_t words = strs[i].len / 8;
        bucket[i] = (uint8_t)(words < WORDS ? WORDS - words : 0);
        rank[i] = begin[bucket[i] + 1]++;
        __builtin_prefetch(strs[i].ptr);
        __builtin_prefetch((const void *)((uintptr_t)strs[i].ptr + 64));
    }
    uint64_t sum = 0;
    for (size_t b = 0; b < sizeof begin; b += 8) {
        sum = vidi__load64(begin + b) * UINT64_C(0x0101010101010101) + (sum >> 56) * UINT64_C(0x0101010101010101);
        vidi__store64(begin + b, sum);
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t to = (uint8_t)(begin[bucket[i]] + rank[i]);
        q->len[to] = strs[i].len;
        q->at[to] = (const unsigned char *)strs[i].ptr;
        q->place[i] = to;
    }
}

/* How many of the first strings are so long that all lanes would wait for them. */
static size_t loners(const queue *q, size_t n)
{
    size_t count = 0;
    while (count < n && q->len[count] >= 8 * WORDS)
        count++;
    if (count + LANES < n) {
        uint64_t usual = q->len[count + LANES / 2];
        while (q->len[count] > usual + usual / 2 + 32)
            count++;
    }
    return count;
}

static void hash_chunk(const vidi__hash_key *key, const vidi_str *strs, size_t n, vidi__u128 *out)
{
    queue q;
    q.key = key;
    q.next = 0;
    sort(&q, strs, n);
    for (size_t alone = loners(&q, n); q.next < alone;)
        hash_next(&q);
    while (n - q.next >= 2 * LANES)
        hash_two_groups(&q);
    if (n - q.next <= FEW) {
        while (q.next < n)
            hash_next(&q);
    } else { /* lanes without a string repeat the last one */
        for (size_t i = n; (i - q.next) % LANES; i++) {
            q.len[i] = q.len[i - 1];
            q.at[i] = q.at[i - 1];
        }
        if (n - q.next > LANES)
            hash_two_groups(&q);
        else
            hash_one_group(&q);
    }
    for (size_t i = 0; i < n; i++)
        out[i] = q.hash[q.place[i]];
}

void BATCH(const vidi__hash_key *key, const vidi_str *strs, size_t n, vidi__u128 *out)
{
    while (n >= SMALL) {
        size_t count = n < CHUNK ? n : CHUNK;
        hash_chunk(key, strs, count, out);
        strs += count;
        out += count;
        n -= count;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = vidi__sip13_one(key, strs[i]);
}
