/*
 * What the files of this folder share: the fleet as one process sees it. fleet.c has the argument why nothing is lost.
 *
 *   fleet.c         opening and leaving; why nothing is lost
 *   life.c          joining, leaving, the registry of lives
 *   fleet_record.c  the fleet's record: rules, state, visits
 *   shared.c        what the threads share, and what any thread may ask
 *   sites.c         the site of a URL
 *   heart.c         thread: heartbeats, the state, the answer to ballots
 *   keeper.c        thread: renews claims, and calls the next three
 *   burial.c        what dead members have left
 *   sweep.c         claims that have expired
 *   ending.c        finds out that the crawl is over
 *   send.c          links to their owners; parcels.c: links on their way to streams
 *   take.c          links from the own stream; entry.c: the bytes of an entry of a stream
 *   pages.c         claims of pages; claim_batch.c: many claims in one call
 *   link_sets.c     URLs that were sent lately, URLs in hand
 *   wire.c          commands to the server
 *   look.c          figures for people, from outside
 *
 * Three threads talk to the server, each over connections of its own (a wire), so that none waits for another: the
 * crawler's storage thread, the heart and the keeper.
 *
 * Names: a *life* is one member of the table, a run of a process until it ends or loses its lease. A *hand* is the name
 * that claims are made under: of the folder, over as many lives as follow each other before the others share its claims
 * out. The registry says which hand a life has.
 */
#ifndef VIDI_FLEET_LINKS_FLEET_INSIDE_H
#define VIDI_FLEET_LINKS_FLEET_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/bytes.h"
#include "fleet/links/entry.h"
#include "fleet/links/fleet.h"
#include "fleet/links/link_sets.h"
#include "fleet/links/wire.h"
#include "fleet/members/members.h"
#include "vidi/url.h"

enum {
    CLAIMS_AT_ONCE = 1000, /* in one call of the set */
    STREAM_PIECE = 64,     /* entries read at once */
    TOKEN = 17             /* room for 64 bits in hexadecimal digits */
};

/* What a process has done in this life; any thread counts. */
typedef struct tally {
    atomic_ullong sent, taken, forwarded, done, repeated, bad;
} tally;

/* A growing array of ids of entries: "1700000000000-0". */
typedef struct entry_ids {
    char (*list)[48];
    size_t count, room;
} entry_ids;

/* A row of the registry of lives, and when this process has seen it first as one that returns. */
typedef struct registered {
    char name[FLEET_NAME], value[ENTRY_HOLDER];
    int64_t seen;
} registered;

typedef struct registry {
    registered *list;
    size_t count;
} registry;

struct fleet {
    /* fixed */
    fleet_options options; /* with the defaults filled in; strings are copies */
    vidi_canon *site_form;
    unsigned char key[VIDI_KEY_BYTES]; /* of hashes of URLs */
    uint64_t set_id, epoch;            /* epoch: at opening */
    uint32_t shards;

    /* The storage thread's. */
    wire storage;
    sent_cache sent;
    hand_set in_hand;
    bool sent_unsure, taken_unsure; /* such a call failed, so some URLs may be claimed without our knowing */
    entry_ids taken;                /* entries whose links were visited, to be removed */
    char last_id[48];               /* the last entry that was read since the last removal */
    int64_t looked;                 /* when the own claims were counted last */
    uint64_t adopting;              /* the version of the table when the recent links were sent */

    /* The name of this life, which changes when the process joins again; then no other thread of the fleet runs. */
    pthread_rwlock_t naming;
    char life[FLEET_NAME], hand[FLEET_NAME], sweeper[ENTRY_HOLDER];
    members *members;

    /* What threads tell each other, behind `lock`. `called`: the heart is wanted; `changed`: for all others. */
    pthread_mutex_t lock;
    pthread_cond_t called, changed;
    member_table table; /* the newest one */
    uint64_t beats_begun, beats_answered, beats_wanted;
    fleet_state state;
    uint64_t visit;
    char ballot[TOKEN]; /* that the heart has seen last; "": none */
    bool over;          /* as the record says */
    bool stop, leaving;
    bool idle;
    bool worked;       /* this life has sent or taken something */
    uint64_t kept;     /* with idle */
    unsigned moving;   /* calls in which links or claims may be moving */
    uint64_t activity; /* how many of them have begun to move something */

    atomic_bool out;
    atomic_uint_fast64_t waiting; /* entries in the own stream */
    tally counts;

    pthread_t heart_thread, keeper_thread;
    bool heart_runs, keeper_runs;
    wire heart, keeper;
    registry stopped; /* the keeper's: the registry when it looked last */
};

/* ---- fleet.c ---- */

void fleet_wake(const fleet *fleet);
void fleet_warn(const fleet *fleet, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t fleet_hash(const fleet *fleet, vidi_str url);

/*
 * Around everything that moves links or claims. The process says that it is idle only when nothing is moving. A call
 * that finds something to move says fleet_moves before it moves it.
 */
void fleet_moving_begin(fleet *fleet);
void fleet_moving_end(fleet *fleet);
/* work: it is the crawl's own work, and so it is not idle any more. */
void fleet_moves(fleet *fleet, bool work);

/* Waits until the time is over (true), or the threads are to end (false). */
bool fleet_pause(fleet *fleet, int64_t ms);

/* Who owns the URL's site; the own life if nobody does. */
void fleet_owner(const fleet *fleet, uint64_t site, char life[FLEET_NAME]);
/* Whether this process has to do what only one of them has to do. */
bool fleet_has_duty(const fleet *fleet, const char *what);
bool fleet_has_row(fleet *fleet, const char *life);
/* True if the newest table says that all members are idle. */
bool fleet_seems_idle(fleet *fleet);
/* The next heartbeat is sent at once. */
void fleet_want_beat(fleet *fleet);
/*
 * Waits for the answer to a heartbeat that is sent from now on. False if the threads are to end, the lease is lost, or
 * patience is over.
 */
bool fleet_beat_and_wait(fleet *fleet);

/* ---- fleet_record.c ---- */

/* Compares the rules with the fleet's record, or makes it. */
int record_agree(fleet *fleet, wire *wire);
int record_is(wire *wire, const char *state, bool *is);
/* Changes the state if it is `from`. changed may be NULL. */
int record_change_state(wire *wire, const char *from, const char *to, bool *changed);
const char *record_state_name(fleet_state state);
/* False if it is no name of a state. */
bool record_state(const redis_reply *reply, fleet_state *state);

/* ---- life.c ---- */

/* 64 random bits, in hexadecimal digits. */
int life_draw(char token[TOKEN]);
int registry_read(wire *wire, registry *to);
void registry_free(registry *all);
/* Begins a life: table and registry. */
int life_begin(fleet *fleet, wire *wire);
/* Ends it. */
int life_leave(fleet *fleet, bool returns);
/* How many members there are. */
int life_count(wire *wire, size_t *members);
/* What a heartbeat that was sent at that time was answered. The table is the fleet's then. */
void life_take_table(fleet *fleet, member_table *table, int64_t sent);
/* Begins or ends the threads of a life. */
int life_start_threads(fleet *fleet);
void life_stop_threads(fleet *fleet);

/* ---- the others ---- */

void *heart_run(void *context);
/* Looks at the record once, before the thread begins. */
int heart_look(fleet *fleet);
/* Writes this life's figures for people. */
void heart_publish(fleet *fleet, wire *wire);
void *keeper_run(void *context);
int burial_look(fleet *fleet, wire *wire);
/* Hands what is in a stream to the owners of the links. holder: of links that have none. */
int burial_forward(fleet *fleet, wire *wire, const char *life, vidi_str holder); /* VIDI_ECANNOT: it is the owner */
/* Removes a life from the registry, if its stream is empty. */
int burial_remove(wire *wire, const char *life);
int sweep_shards(fleet *fleet, wire *wire);
int ending_look(fleet *fleet, wire *wire);

#endif
