/*
 * Who crawls what: the members of a fleet, and which of them owns a site.
 *
 * The processes of a fleet keep a table of members in one key of the server. Each member renews its lease there by a
 * heartbeat, and learns who the others are. A site belongs to the member that rendezvous hashing gives it: the one with
 * the greatest hash of member and site. So when a member comes or goes, only the sites that it gets or had change hands.
 *
 * A site has one owner at any time. The table has a version, which grows with each member that comes or goes. A member
 *
 *   - stops fetching what it loses under a new version, and then reports that it has adopted this version;
 *   - begins to fetch what it gains only when every member has adopted that version or a later one (it is *settled*);
 *   - stops fetching altogether before its own lease is over, counted from when it began to send the heartbeat. The
 *     others remove a member later than that: when its lease is over by the server's clock and a grace has passed.
 *
 * So a member may fetch a site if it owns it under each version that it has seen since the newest settled one. A name
 * that has left the table never comes back: the same process joins again under another one.
 *
 * Whoever starts to fetch asks members_may_fetch first, in the thread that calls members_adopt or with the site listed
 * as being fetched already: otherwise a version could be adopted between the question and the start.
 *
 * This file knows neither crawl nor network: callers send the heartbeat (heartbeat.h) and give its answer to
 * members_update.
 */
#ifndef VIDI_FLEET_MEMBERS_MEMBERS_H
#define VIDI_FLEET_MEMBERS_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

enum { MEMBER_NAME = 64 }; /* room for a member's name, with the zero byte */

/* A row of the table, as the server has it. */
typedef struct member {
    char name[MEMBER_NAME]; /* of this life of the process: folder's id, '.', a number that grows with each start */
    uint64_t adopted;       /* the newest version that it has adopted */
    uint64_t activity;      /* grows with everything that it does: for finding out that nothing goes on any more */
    bool idle;              /* has nothing to fetch, in hand, or on its way */
    bool leaving;           /* owns nothing any more, and goes when it has given everything back */
} member;

typedef struct member_table {
    uint64_t version;
    uint64_t history; /* another number: the server may have forgotten changes, because a replica took over, say */
    member *rows;     /* sorted by name */
    size_t count;
} member_table;

typedef struct members members;

/* What one process knows. `lease_ms`: of its row. */
int members_make(members **made, const char *self, int64_t lease_ms);
void members_free(members *members);

/*
 * The server's answer to a heartbeat that was sent and answered at these times (monotonic milliseconds). Copies the
 * table. If this
 * member is not in it, its lease was lost: members_is_out is true from then on, and nothing is owned any more. On
 * VIDI_EMEMORY and VIDI_EARGUMENT (not a table) everything stays as it was, and the lease runs out.
 *
 * If the lease was over when a table of another history came, this member may have been removed, and the server may have
 * forgotten that: its sites may be others'. Then nothing is settled for it any more until this version is.
 */
int members_update(members *members, const member_table *table, int64_t sent_ms, int64_t answered_ms);
bool members_is_out(const members *members);

/* Until when (monotonic milliseconds) this member may fetch: a quarter of the lease before it is over. */
int64_t members_may_fetch_until(const members *members);

/* The newest version in which everything that was lost has come to its end; the caller says so. For the heartbeat. */
void members_adopt(members *members, uint64_t version);
uint64_t members_adopted(const members *members);
uint64_t members_version(const members *members);

/*
 * The newest version that this member has seen and everybody has adopted; 0: none yet. Nobody sends anything any more
 * to a member that was gone by then.
 */
uint64_t members_settled(const members *members);

/* The key of a site, for the functions below. */
uint64_t members_site(vidi_str site);

/* Whether this member may fetch the site now, as far as versions tell. Any thread may ask, at any time. */
bool members_may_fetch(const members *members, uint64_t site);

/* Who owns the site under the newest version, among members that are not leaving. NULL: nobody. */
const char *members_owner(const members *members, uint64_t site, char name[MEMBER_NAME]);
bool members_is_mine(const members *members, uint64_t site);

/* Pure: the index in rows of who owns the site; count: nobody. */
size_t member_table_owner(const member_table *table, uint64_t site);

/* True if every member is idle, and `last`, an earlier table, had the same members with the same activity, idle too. */
bool member_table_is_quiet(const member_table *table, const member_table *last);

#endif
