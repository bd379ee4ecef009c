/*
 * One crawl by many processes: what the crawler calls. docs/FLEET.md has the whole picture.
 *
 * Each process keeps its own frontier, archive and database. What they share is a cluster set (vidi/cluster.h): a page
 * is claimed from the moment when it is in somebody's frontier until its outcome is in somebody's database. A site has
 * one owner at any time (fleet/members/members.h), and links travel to the owners of their sites through streams. So
 * the set's claims are the truth of what is still to be fetched, and frontiers are caches of it.
 *
 * The order in which a process commits a batch of pages:
 *
 *   1. the archive is written and synced
 *   2. fleet_send_links: each link is claimed in this process's name, or in the stream of its owner
 *   3. one transaction of the database: outcomes, and rows for the links that were claimed
 *   4. fleet_done: the pages are in the set
 *
 * and in which it takes in what others have sent: fleet_take_links, one transaction with rows, fleet_took. The two may
 * share a transaction.
 *
 * A handle has threads of its own: they keep the lease and the claims alive however long the caller's thread is busy,
 * and take care of what dead processes have left. Functions that are not marked "any thread" belong to one thread, the
 * crawler's storage thread.
 *
 * Errors are those of vidi.h; fleet_why has the sentence. VIDI_EIO: no server answers within the time that
 * vidi_cluster_access.patience_ms gives. After an error nothing counts as handed over or taken, and the call may be
 * repeated. VIDI_EBUSY is no failure: see fleet_send_links.
 */
#ifndef VIDI_FLEET_LINKS_FLEET_H
#define VIDI_FLEET_LINKS_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/cluster.h"

enum { FLEET_WHY = 512, FLEET_NAME = 64, FLEET_FOLDER = 32, FLEET_URL = 65535, FLEET_PAYLOAD = 65535 };

typedef struct fleet fleet;

typedef struct fleet_options {
    const char *address;        /* of the set, which must exist */
    vidi_cluster_access access; /* how to connect; lease_ms: of claims, 0: 600,000. owner and flags are not used */
    const char *folder;         /* id of the state folder: 1 to 32 letters and digits, drawn at random once */
    const char *rules;          /* what all processes must agree on: lines of a name, a space and a value */
    const char *const *split;   /* hosts whose pages are spread over members by the first segment of the path */
    size_t split_count;
    int64_t lease_ms; /* of the member's row; 0: 30,000 */
    int64_t beat_ms;  /* between two looks at the table, the streams and the state; 0: 100 */
    int64_t sweep_ms; /* between two sweeps of the shards; 0: 5,000 */
    uint64_t backlog; /* entries in a member's stream from which on senders wait; 0: 4,096 */
    /*
     * Called from threads of the fleet, and must return soon: something has happened that the caller should look at
     * (links, a new version, another state, the end, a lost lease); and a sentence for the user. Both may be NULL.
     */
    void (*wake)(void *context);
    void (*warn)(void *context, const char *sentence);
    void *context;
} fleet_options;

/*
 * Joins the fleet; the first process makes its record. VIDI_EDIFFERS if the rules differ from the record's: `why` (room
 * FLEET_WHY) names the first that does. VIDI_EABSENT if there is no set of that name. VIDI_EBUSY if the fleet is
 * stopping and others have not left yet; if none is left, it runs again. Takes over the claims of the folder's last run
 * if the others have not shared them out yet. Strings need not stay.
 */
int fleet_open(fleet **made, const fleet_options *options, char *why);

/*
 * Leaves and frees the handle; NULL is fine. The caller has stopped fetching. What its stream has goes to the other
 * members. If it `returns`, its claims stay for a lease, so that the next run with this folder finds everything as it
 * was; otherwise others get them at once.
 */
void fleet_leave(fleet *fleet, bool returns);

/* Statistics of the set, as vidi_cluster_stat gives them; asks all shards. `more` may be NULL. */
int fleet_stat(fleet *fleet, vidi_stats *set, vidi_cluster_stats *more);

/*
 * From now on calls that wait for a server which does not answer end after some five seconds: for a process that is to
 * end. Any thread.
 */
void fleet_hurry(fleet *fleet);

/* What went wrong in the last call of the storage thread. Never NULL. */
const char *fleet_why(const fleet *fleet);
/* The member's name. Any thread. */
void fleet_name(const fleet *fleet, char name[FLEET_NAME]);

/* ---- who fetches what ---- */

/* The key of the site that a URL belongs to, which the functions below take. Any thread. */
uint64_t fleet_site(const fleet *fleet, vidi_str url);

/*
 * Whether this process may fetch from the site now. Any thread, takes nanoseconds. Ask in the thread that decides when
 * fleet_adopt is called, or after the site was listed as being fetched: otherwise a version could be adopted between
 * the question and the request.
 */
bool fleet_may_fetch(const fleet *fleet, uint64_t site);
/*
 * Until when, by fleet_now, it may fetch at all: no request begins after that, and those on their way are cut off then.
 * It moves on with each heartbeat. Any thread.
 */
int64_t fleet_may_fetch_until(const fleet *fleet);
/* Milliseconds of CLOCK_BOOTTIME, which goes on while a machine is suspended. */
int64_t fleet_now(void);
/* Whether its URLs are to come here: it may be that they must not be fetched yet. Any thread. */
bool fleet_is_mine(const fleet *fleet, uint64_t site);

/*
 * The version of the members' table. When it has changed: end requests to sites that fleet_may_fetch denies now, or let
 * them come to their end, and hand over the URLs of sites that are not fleet_is_mine any more. Then adopt the version
 * that was seen at the beginning. The others wait for that. Any thread.
 */
uint64_t fleet_version(const fleet *fleet);
void fleet_adopt(fleet *fleet, uint64_t version);

/*
 * True if the lease was lost: others may be fetching from all sites of this process, and share out what it had claimed.
 * It must not fetch (fleet_may_fetch is false), and calls fleet_rejoin when its requests have ended. The rows of its
 * frontier may stay: fleet_check_block finds out which of them are still this process's. Any thread.
 */
bool fleet_is_out(const fleet *fleet);
int fleet_rejoin(fleet *fleet);

/* ---- links ---- */

typedef struct fleet_link {
    vidi_str url;     /* serialised, without its fragment */
    vidi_str payload; /* the caller's: depth, kind, referrer … Whoever gets the URL gets it, too */
    bool claimed;     /* a result, false before the first call: this process has it now, and makes a row for it */
} fleet_link;

/*
 * Hands over links that were found: those of own sites are claimed, the others go to their owners. When it returns
 * VIDI_OK, no link can be lost any more, apart from those with `claimed`, which need a row before the page that they
 * were found on is done. Links that were sent lately are left out.
 *
 * VIDI_EBUSY: too much is waiting in an owner's stream. Take in what is in this process's own stream (or two members
 * would wait for each other for ever), commit it, and call again with the same links. `claimed` of the first call stays
 * true, so call again with the same array. The call has waited for a moment.
 */
int fleet_send_links(fleet *fleet, fleet_link *links, size_t n);

/*
 * Takes links from the process's stream, about `most`, and claims them. The visitor gets each one that is this
 * process's now, and makes a row for it; the strings are good during the call. Anything but 0 ends the call with that
 * error. *got (may be NULL): how many were visited. Nothing is removed from the stream before fleet_took, so a process
 * that dies in between takes the same links again.
 */
typedef int (*fleet_visitor)(void *context, vidi_str url, vidi_str payload);
int fleet_take_links(fleet *fleet, size_t most, fleet_visitor visitor, void *context, size_t *got);
/* The rows of all links that were taken are in the database. */
int fleet_took(fleet *fleet);
/* Whether there may be something to take. Any thread. */
bool fleet_has_links(const fleet *fleet);

/* ---- pages ---- */

/*
 * Before URLs of the frontier are fetched. mine[i]: fetch it; otherwise somebody else has it or has fetched it, or
 * another row of this process is being fetched: its row gets the outcome "elsewhere". What is to be fetched counts as
 * being in hand until one of the next three functions gets it. Needs the payloads, because the claims may be new ones.
 */
int fleet_check_block(fleet *fleet, const fleet_link *links, size_t n, bool *mine);

/* Their outcomes are in the database. May be repeated, also for pages of an earlier run. */
int fleet_done(fleet *fleet, const vidi_str *urls, size_t n);

/* They come back without an outcome, and stay in the frontier. */
void fleet_put_back(fleet *fleet, const vidi_str *urls, size_t n);

/*
 * URLs of the frontier whose site has another owner now go there. What is in hand and not being fetched must be put back
 * first: a URL in hand stays, because another row of it is being fetched. Afterwards the rows get the outcome
 * "elsewhere". VIDI_EBUSY as for fleet_send_links.
 */
int fleet_hand_over(fleet *fleet, const fleet_link *links, size_t n);

/* ---- the crawl as a whole ---- */

/*
 * Says whether this process has nothing to do: nothing in hand, no batch, nothing taken and not yet in the database,
 * and an empty frontier apart from `kept` URLs, which wait for another run (of parked hosts, beyond limits). It stays
 * idle until it says otherwise or takes, sends or checks something.
 */
int fleet_idle(fleet *fleet, bool idle, uint64_t kept);

typedef enum fleet_state {
    FLEET_RUNNING,
    FLEET_PAUSED,   /* nobody begins a request */
    FLEET_STOPPING, /* everybody leaves, and returns another day */
    FLEET_FINISHED  /* everything is fetched; the next visit may begin */
} fleet_state;

/* The state that the record had at the last beat. Any thread. */
fleet_state fleet_state_now(const fleet *fleet);
/*
 * True when all members have nothing to do: everything is fetched (state FLEET_FINISHED), or only URLs are left that
 * wait for another run (FLEET_STOPPING). Any thread.
 */
bool fleet_is_over(const fleet *fleet);

/* The number of the visit, from 1. Any thread. */
uint64_t fleet_visit(const fleet *fleet);
/*
 * Begins visit `number` if the record has the one before it and that is finished: rotates the set. If it has begun
 * already, because another process was first, that is fine, too. VIDI_EBUSY if the visit before is not finished.
 */
int fleet_begin_visit(fleet *fleet, uint64_t number);

/* ---- looking from outside, without joining ---- */

typedef struct fleet_member {
    char name[FLEET_NAME];
    bool idle, leaving, dead;                        /* dead: its lease is over, and not everything is shared out */
    uint64_t adopted;                                /* version of the table */
    uint64_t waiting;                                /* entries in its stream */
    uint64_t sent, taken, forwarded, done, repeated; /* links and pages in this life; repeated: fetched twice */
} fleet_member;

typedef struct fleet_figures {
    fleet_state state;
    uint64_t visit, version;
    fleet_member *members;
    size_t member_count;
    fleet_member gone; /* the sums of members that are gone */
    vidi_stats set;
    vidi_cluster_stats cluster; /* claims */
} fleet_figures;

/* `why`: room FLEET_WHY. VIDI_EABSENT if no fleet has ever crawled with this set. */
int fleet_look(const char *address, const vidi_cluster_access *access, fleet_figures *figures, char *why);
void fleet_figures_free(fleet_figures *figures);
/* Pauses, stops or continues (FLEET_RUNNING) the whole fleet. */
int fleet_set_state(const char *address, const vidi_cluster_access *access, fleet_state state, char *why);

#endif
