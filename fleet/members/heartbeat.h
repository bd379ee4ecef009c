/*
 * Heartbeats: the table of members on the server, and how a member renews its row in it.
 *
 * The table {NAME}:members is a hash. Each row is a field, named after the member:
 *
 *     until lease adopted activity idle leaving      numbers; until: by the server's clock, in milliseconds
 *
 * and the field "*version" has the version. Every heartbeat removes the rows of others whose lease is over, after a grace
 * of a quarter of it. A row that is not there is never put back: its member has to join again, under a new name.
 *
 * The version is the server's time in milliseconds, or one more than the last version if that is greater. So it grows
 * also when a replica takes over that does not have the last changes; or if its clock is behind, as soon as a member
 * comes that has adopted a version which the replica does not know.
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
/* Only looks: rows whose lease is over are not in the table, and stay where they are. */
int heartbeat_look(redis_client *client, const char *set, member_table *table);
/* Removes one's own row. */
int heartbeat_leave(redis_client *client, const char *set, const char *name);

void member_table_free(member_table *table);

#endif
