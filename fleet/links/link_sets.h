/*
 * Two sets of URLs by their hashes: which were sent lately, and which are in hand.
 *
 * A hash has 64 bits and a key that is drawn for each run. If two URLs have the same one, a link is taken for sent and
 * is lost with a probability of 1e-12 for a million remembered links and a million others: far below what the set loses.
 */
#ifndef VIDI_FLEET_LINKS_LINK_SETS_H
#define VIDI_FLEET_LINKS_LINK_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Links that were sent lately. Each hash has one place, where a later one replaces it, so the set never grows. */
typedef struct sent_cache {
    uint64_t *places; /* 0: empty */
    size_t mask;
} sent_cache;

/* Makes room for 2^bits links. VIDI_OK or VIDI_EMEMORY. */
int sent_cache_make(sent_cache *cache, unsigned bits);
void sent_cache_free(sent_cache *cache);
/* False if it is there already. */
bool sent_cache_add(sent_cache *cache, uint64_t hash);
void sent_cache_remove(sent_cache *cache, uint64_t hash);
void sent_cache_clear(sent_cache *cache);

/* URLs in hand: exact, and as large as there are URLs. Begins as {0}. */
typedef struct hand_set {
    uint64_t *places; /* 0: empty */
    size_t room, count;
} hand_set;

/* VIDI_OK, VIDI_EEXIST if it is there already, VIDI_EMEMORY. */
int hand_set_add(hand_set *set, uint64_t hash);
void hand_set_remove(hand_set *set, uint64_t hash);
bool hand_set_has(const hand_set *set, uint64_t hash);
void hand_set_free(hand_set *set);

#endif
