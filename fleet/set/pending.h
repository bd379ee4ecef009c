/*
 * What a handle has claimed and not committed: a queue in the order of the answers, and an index by hash.
 *
 * Each entry has a number, which grows by one from one to the next; a mark is the number of the entry that comes next.
 * Entries are committed up to a mark, in any order among themselves. 32 bytes an entry, and 16 to 32 of the index.
 */
#ifndef VIDI_FLEET_SET_PENDING_H
#define VIDI_FLEET_SET_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A token, as servers write it: 16 characters, which are never 0. */
typedef struct claim_token {
    char text[16];
} claim_token;

typedef struct pending_entry {
    uint64_t hash[2];  /* the routing hash of the URL */
    claim_token token; /* of its claim; zeros: dealt with */
} pending_entry;

static inline bool pending_is_open(const pending_entry *entry)
{
    return entry->token.text[0] != 0;
}
static inline void pending_close(pending_entry *entry)
{
    entry->token = (claim_token){{0}};
}

/* Begins as {0}. */
typedef struct pending {
    pending_entry *entries;
    size_t room, first, end; /* entries[first] to entries[end - 1] */
    uint64_t begin;          /* number of entries[first] */
    uint64_t *index;         /* number of an entry plus 1; 0: nothing */
    size_t slots, used;      /* of the index: a power of 2, or 0; those that are not 0 */
} pending;

/* Makes room for so many more entries. VIDI_OK or VIDI_EMEMORY. */
int pending_reserve(pending *pending, size_t more);

/* The entry of the hash, or NULL. Good until the next call that changes anything. */
pending_entry *pending_find(const pending *pending, const uint64_t hash[2]);

/* There must be room for it, and no entry of its hash. */
void pending_add(pending *pending, const uint64_t hash[2], const claim_token *token);

static inline uint64_t pending_mark(const pending *pending)
{
    return pending->begin + (pending->end - pending->first);
}

static inline bool pending_is_empty(const pending *pending)
{
    return pending->first == pending->end;
}

/* Entry number `number`, which must be there. */
static inline pending_entry *pending_at(const pending *pending, uint64_t number)
{
    return &pending->entries[pending->first + (number - pending->begin)];
}

/* Forgets the entries at the front that are dealt with. */
void pending_trim(pending *pending);

void pending_free(pending *pending);

#endif
