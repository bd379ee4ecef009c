/*
 * Keeps the leases of a handle's claims alive: a thread with a connection of its own renews them at a third of the
 * lease, in those shards in which there are claims, also while another thread waits for a server.
 */
#ifndef VIDI_FLEET_SET_LEASES_H
#define VIDI_FLEET_SET_LEASES_H

#include <stdbool.h>
#include <stdint.h>

#include "vidi/cluster.h"

typedef struct leases leases;

/* Counts claims of a shard. There is no thread yet. NULL if there is no memory. */
leases *leases_make(vidi_cluster *cluster);

/* One more claim in the shard, or one less. Only whoever has the handle's turn calls these. */
void leases_add(leases *leases, uint32_t shard);
void leases_remove(leases *leases, uint32_t shard);

/* A reply was lost: there may be claims in the shard that the handle does not know of. */
void leases_doubt(leases *leases, uint32_t shard);

/* True if the handle has, or may have, claims in the shard. */
bool leases_has(const leases *leases, uint32_t shard);

/* Starts the thread, unless it runs. VIDI_ESYSTEM if that fails. */
int leases_start(leases *leases);

/* Ends the thread; the counts stay. NULL is fine, here and below. */
void leases_stop(leases *leases);
void leases_free(leases *leases);

#endif
