/*
 * Parts of a set as bytes, for whole streams (serialize.c) and for pieces (pieces.c). Nothing that is read is trusted.
 */
#ifndef VIDI_SET_SERIALIZE_H
#define VIDI_SET_SERIALIZE_H

#include "set/set.h"

/* Canonical form, item hash, key, epoch and member. Reading gives the set all of these but the hash and the epoch. */
int vidi__write_identity(vidi__writer *writer, const vidi_set *set);
int vidi__read_identity(vidi__reader *reader, vidi_set *set, char *hash, size_t hash_room, uint64_t *epoch);

/* The caller frees the recipe that was read, also after an error. */
int vidi__write_recipe(vidi__writer *writer, const vidi__recipe *recipe);
int vidi__read_recipe(vidi__reader *reader, vidi__memory *memory, vidi__recipe *recipe);

/* The counters of an epoch: five numbers, and the pages lost. Taking them adds them to those that are there. */
enum { VIDI__COUNTERS = 5, VIDI__COUNTERS_BYTES = 8 * (VIDI__COUNTERS + 1) };
int vidi__write_counters(vidi__writer *writer, const vidi_set *set, const vidi__epoch *epoch);
int vidi__read_counters(vidi__reader *reader, uint64_t numbers[VIDI__COUNTERS], double *lost);
void vidi__take_counters(vidi__epoch *epoch, const uint64_t tally[VIDI__COUNTERS], double lost);

/* The record of a past epoch. */
enum { VIDI__RECORD_BYTES = 64 };
int vidi__write_record(vidi__writer *writer, const vidi_epoch_stats *past);
int vidi__read_record(vidi__reader *reader, vidi_epoch_stats *past);

/*
 * Takes one piece into a set that is made from them: the first one if it has no epoch yet. 1 if more follow, 0 if that
 * was the last.
 */
int vidi__piece_take(vidi_set *set, const void *bytes, size_t size);

/* Reads all pieces of a stream that begins with the one whose head the frame has read. */
int vidi__set_read_pieces(vidi_set *set, vidi__frame_reader *frame);

#endif
