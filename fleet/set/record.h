/*
 * The record of a cluster set: how it was made, in lines "name value". It lies at the key {NAME}:set, is written once
 * and never changes.
 *
 *     format 1
 *     shards 16                                     how many
 *     id 7f3a…                                      16 hexadecimal digits; those of the shards follow from it
 *     route 51c0…                                   32 hexadecimal digits: the key of the hash that chooses a shard
 *     key 9be2…                                     32 hexadecimal digits: the secret key of all shards
 *     kind fingerprint
 *     params multiset=off                           as they were given; left out if there are none
 *     capacity 1000000                              of the whole set; left out if it is unknown
 *     error 1e-06                                   left out for the default, as headroom is
 *     headroom 1.25
 *     canon whatwg/1
 *     flags 1                                       vidi_option_flags; left out if there are none
 *
 * Whoever can read the record can read all secrets of the set. Nothing in it is trusted: a record with anything that
 * this version does not know is refused.
 */
#ifndef VIDI_FLEET_SET_RECORD_H
#define VIDI_FLEET_SET_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

enum {
    RECORD_SHARDS = 16384, /* at most: one for each slot */
    RECORD_ROOM = 2048,    /* of a record as text */
    RECORD_NUMBER = 40     /* of a number as text */
};

typedef struct record {
    uint32_t shards;
    uint64_t id; /* never 0 */
    unsigned char route[VIDI_KEY_BYTES], key[VIDI_KEY_BYTES];
    char kind[24];
    char params[VIDI_PARAMS_ROOM];
    uint64_t capacity;
    double error, headroom;
    char canon[160];
    uint32_t flags;
} record;

/* Writes the text and a zero byte, and returns the length of the text. */
size_t set_record_write(const record *record, char text[RECORD_ROOM]);

/* False if the text is not a record; *wrong (static) then says what is wrong in a few words. */
bool set_record_read(record *record, vidi_str text, const char **wrong);

/* The name of the first line in which two records differ, ids and secrets aside; NULL if they agree. */
const char *set_record_difference(const record *a, const record *b);

/* A real number as text, and back: the same in all locales. */
void set_print_real(double number, char text[RECORD_NUMBER]);
bool set_parse_real(vidi_str text, double *number);
/* Decimal digits; and so many hexadecimal digits in lower case. */
bool set_parse_count(vidi_str text, uint64_t *number);
void set_print_hex(const unsigned char *bytes, size_t n, char *text);
bool set_parse_hex(vidi_str text, unsigned char *bytes, size_t n);

#endif
