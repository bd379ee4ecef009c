/*
 * Adding, in two steps: URLs are claimed, and claims are committed.
 */
#ifndef VIDI_FLEET_SET_ADD_H
#define VIDI_FLEET_SET_ADD_H

#include "handle.h"

enum { CLAIM_MADE = 100 }; /* what claim_read_answer says beside the verdicts of the public headers */

/* What VIDI.CLAIM has answered for one URL; *token of a claim that was made. */
int claim_read_answer(vidi_cluster *cluster, const redis_reply *item, uint8_t *verdict, claim_token *token);

/* Commits everything before the mark. What a server has refused stays pending. */
int commit_before(vidi_cluster *cluster, uint64_t mark);

/* Gives up what is pending, for good. */
void commit_nothing(vidi_cluster *cluster);

/* A slice command of the handle's own claims. */
slice_command own_command(vidi_cluster *cluster, vidi_str name);

/* Looks the slice up: VIDI_SEEN or VIDI_NEW become its verdicts. */
int slice_look_up(vidi_cluster *cluster);

#endif
