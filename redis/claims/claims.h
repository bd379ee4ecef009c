/*
 * Claims: which URLs are being fetched, by whom, and until when.
 *
 * A claim is made before a page is fetched and removed when it has been dealt with. If its owner dies in between, its
 * deadline passes and somebody else takes it over; URL and payload are kept for that. The data structure knows neither
 * the server nor the clock: callers pass the time, and a replica that makes the same calls holds the same claims.
 *
 * All times are Unix times in milliseconds. A claim whose deadline is not after `now` is expired. Its token works until
 * somebody takes the claim over: a slow worker whose page nobody else wanted loses nothing.
 *
 * A token is void if it is 0 (the claim was given up) or if the claim was made in an earlier epoch. A claim of an
 * earlier epoch is expired whatever its deadline says.
 */
#ifndef REDIS_CLAIMS_H
#define REDIS_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include <vidi/vidi.h>

#include "tree.h"

typedef struct claims claims;
typedef struct claim claim;

#define CLAIM_OWNER_MOST 1024                     /* bytes of an owner's name */
#define CLAIM_LEASE_MOST INT64_C(1000000000000)   /* milliseconds: some 31 years */
#define CLAIM_TIME_MOST INT64_C(1000000000000000) /* the latest time at which something may happen */
#define CLAIM_DEADLINE_MOST (CLAIM_TIME_MOST + CLAIM_LEASE_MOST)

/* The contents of a claim. */
typedef struct claim_terms {
    vidi_str key;     /* the form that the URL is compared by */
    vidi_str url;     /* as it was given */
    vidi_str payload; /* whatever the owner wants back with the URL */
    vidi_str owner;   /* empty if the token is 0 */
    uint64_t token;   /* 0: void */
    int64_t deadline;
    int64_t lease; /* how long the owner asked for; RENEW extends by it */
    double loss;   /* pages expected to be lost with this one: the odds that it had been taken for seen */
} claim_terms;

/* The allocator is copied. NULL if it refuses. */
claims *claims_create(const vidi_allocator *allocator);
void claims_free(claims *claims);

/* A copy with an allocator of its own, in *copy. VIDI_EMEMORY if that refuses; then *copy is NULL. */
int claims_copy(claims **copy, const claims *from, const vidi_allocator *allocator);

/* ---- asking ---- */

/* All three count every claim; NULL stands for no claims. */
uint64_t claims_count(const claims *claims);
uint64_t claims_expired(const claims *claims, int64_t now);
double claims_loss(const claims *claims);

bool claim_is_expired(const claims *claims, const claim *claim, int64_t now);

/* The pointers are good until the claim changes. Owner and token of a void claim are empty and 0. */
claim_terms claim_read(const claims *claims, const claim *claim);

claim *claims_of_url(const claims *claims, vidi_str key);
claim *claims_find(claims *claims, vidi_str key, tree_place *place); /* the same; if there is none, for claims_add */
claim *claims_of_token(const claims *claims, vidi_str owner, uint64_t token); /* NULL if the token is void */

/* The claim that expired first, or NULL if none has. */
claim *claims_first_expired(const claims *claims, int64_t now);

/* The next claim in the order in which they expire (after NULL: the first), or NULL. There is none in claims NULL. */
claim *claims_next(const claims *claims, const claim *after);

/* Calls `visit` with each claim in the order of their keys, until it returns something other than 0; returns that. */
int claims_visit(const claims *claims, int (*visit)(void *context, const claim_terms *terms), void *context);

/* In the order of their keys: the first claim whose key is after this one, which need not be there; NULL: the first. */
claim *claims_list(const claims *claims, const vidi_str *after);

/* In the order of their tokens: an owner's first claim whose token is after this one and not void; 0: the first. */
claim *claims_list_of(const claims *claims, vidi_str owner, uint64_t after);

/* ---- changing ---- */

/*
 * Makes a claim, or replaces the one with the same key. VIDI_ELIMIT if the terms are out of range, VIDI_EEXIST if
 * another claim of the owner has the token, VIDI_EMEMORY. After an error nothing has changed.
 */
int claims_put(claims *claims, const claim_terms *terms);

/* The same for a key that no claim has, as claims_find has just found out. It saves a search. */
int claims_add(claims *claims, tree_place *place, const claim_terms *terms);

/*
 * Fills claims that hold none yet, in linear time: claims_append for one claim after the other, then claims_finish.
 * Nothing else may be done with the claims in between, except that claims_free is allowed at any time.
 *
 * claims_append: VIDI_EEXIST, and nothing has changed, if the claim's key is not after that of the claim before it;
 * VIDI_ELIMIT, VIDI_EMEMORY. claims_finish: VIDI_EEXIST if two claims of an owner have one token; VIDI_EMEMORY.
 */
int claims_append(claims *claims, const claim_terms *terms);
int claims_finish(claims *claims);

/* Gives a claim to an owner with a token that the owner must not use yet. Errors are those of claims_put. */
int claims_pass(claims *claims, claim *claim, vidi_str owner, uint64_t token, int64_t deadline, int64_t lease);

/* Voids the token, and lets the claim expire at this time. */
void claims_give_up(claims *claims, claim *claim, int64_t at);

/* Does that to all claims of an owner whose tokens are not void, and returns how many there were. */
uint64_t claims_give_up_all(claims *claims, vidi_str owner, int64_t at);

void claims_remove(claims *claims, claim *claim);

/* Extends a claim, whose token must not be void, from now on by this lease, which becomes its own. */
void claims_extend(claims *claims, claim *claim, int64_t lease, int64_t now);

/*
 * Extends all claims of an owner whose tokens are not void, whether or not they have expired, and returns how many. A
 * lease of 0 means that of each claim; another one becomes theirs.
 */
uint64_t claims_renew(claims *claims, vidi_str owner, int64_t lease, int64_t now);

/* The next epoch: all tokens are void and all claims are expired. Takes constant time. */
void claims_rotate(claims *claims);

/* ---- tokens as text ---- */

/* A token as text: 16 hexadecimal digits in lower case. */
#define TOKEN_DIGITS 16
void token_print(uint64_t token, char text[TOKEN_DIGITS + 1]);
bool parse_token(vidi_str text, uint64_t *token);

#endif
