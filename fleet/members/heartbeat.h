/*
 * Heartbeats: the table of members on the server, and how a member renews its row in it.
 *
 * The table {NAME}:members is a hash. Each row is a field, named after the member:
 *
 *     until lease adopted activity idle leaving      numbers; until: by the server's clock, in milliseconds
 *
 * and "*version", "*clock", "*server" and "*history" have what follows. Every heartbeat removes the rows whose lease is
 * over, after a grace of a quarter of it. A row that is not there is never put back: its member has to join again, under
 * a new name.
 *
 * Leases are measured by a steady time, which is kept in the table. It advances with the server's clock, but between two
 * heartbeats by a quarter of a lease at most, and never goes back. So a clock that is set back makes no lease longer
 * than it is, apart from what passes between two heartbeats. A clock that is set forward, a server that was away or a
 * machine that slept makes leases shorter by a quarter each time. The grace covers one time, and the quarter that
 * members stop earlier (members_may_fetch_until) another one.
 *
 * When the server's replication id changes, it was started again, a replica has taken over, or the slot has moved: the
 * last changes may be forgotten. Then the row "failover" comes for a lease. It never adopts, so nobody begins with
 * anything that a forgotten member may still be fetching, and the history's number grows (member_table.history). Not so
 * after a lease in which nobody was there. A user of the server without the right to INFO does without this.
 *
 * The version is the server's time in milliseconds, or one more than the last version if that is greater.
 */
#ifndef VIDI_FLEET_MEMBERS_HEARTBEAT_H
#define VIDI_FLEET_MEMBERS_HEARTBEAT_H

#include "fleet/members/members.h"
#include "fleet/redis/redis.h"

/*
 * The following fill in a table, which member_table_free frees; it is empty after an error. `set` is the set's name.
 * VIDI_OK, or an error of redis_run (redis_why has the sentence), VIDI_EDAMAGED (what is there is not a table),
 * VIDI_EMEMORY. Of `row`, everything counts.
 */

/* Adds a row, for a name that was never used before. */
int heartbeat_join(redis_client *client, const char *set, const member *row, int64_t lease_ms, member_table *table);
/* Renews it. If it is not in the table afterwards, its lease was lost. */
int heartbeat_send(redis_client *client, const char *set, const member *row, int64_t lease_ms, member_table *table);
/* Only looks, by the server's clock: rows whose lease is over are not in the table, and stay where they are. */
int heartbeat_look(redis_client *client, const char *set, member_table *table);
/* Removes one's own row. */
int heartbeat_leave(redis_client *client, const char *set, const char *name);

void member_table_free(member_table *table);

#endif
