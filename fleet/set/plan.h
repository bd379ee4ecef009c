/*
 * From the options of a set to its record: how many shards, and how each is made.
 */
#ifndef VIDI_FLEET_SET_PLAN_H
#define VIDI_FLEET_SET_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls.h"
#include "record.h"

/*
 * Checks the options (NULL: the defaults) by making a shard in memory, and writes the record, with new ids and secrets.
 * shards: 0: one for each 8 MiB, or `without` of them if the capacity is not known.
 */
int plan_record(record *record, const vidi_options *options, uint32_t shards, uint32_t without);

/*
 * What one of so many shards must hold so that all together can hold this many URLs. Shards do not get equal shares:
 * each gets n/N URLs on average, with a standard deviation of about the square root of that. With six of these more,
 * one shard in a thousand million gets more URLs than it was made for.
 */
uint64_t plan_share(uint64_t urls, uint32_t shards);

/* Room for the words of VIDI.RESERVE that are made for one set. */
typedef struct plan_words {
    vidi_str words[2 * VIDI_PARAMS_ROOM]; /* a parameter takes two characters at least, and three words */
    size_t count;
    char key[2 * VIDI_KEY_BYTES + 1], capacity[24], error[RECORD_NUMBER];
} plan_words;

/* The options of VIDI.RESERVE after "ID id", the same for all shards. The record must stay as long as they. */
void plan_reserve(plan_words *words, const record *record);

#endif
