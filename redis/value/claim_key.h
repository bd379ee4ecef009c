/*
 * What claims need to know of a set: the form that URLs are compared by, and what a claim costs in expected losses.
 */
#ifndef REDIS_CLAIM_KEY_H
#define REDIS_CLAIM_KEY_H

#include "value.h"

/*
 * The canonical form of a URL. If the set keeps lines that are not URLs, the key of such a line is a zero byte and the
 * line as it is; no canonical form begins with a zero byte, so the two cannot be mistaken for each other.
 */
typedef struct claim_key {
    vidi_str text;
    char *allocated; /* NULL: `room` was enough */
    char room[2048];
} claim_key;

/*
 * VIDI_OK, and claim_key_free is due; VIDI_INVALID if the set does not keep such lines (vidi_message() says why); or an
 * error.
 */
int claim_key_make(claim_key *key, const value *value, vidi_str url);
/* The key of a line that is not a URL, or is to be treated as none. claim_key_free is due. */
void claim_key_as_given(claim_key *key, vidi_str line);
void claim_key_free(claim_key *key);

/* The odds that a URL which is told to be new had been taken for seen instead: what one more claim costs. */
double claim_odds(const value *value);

#endif
