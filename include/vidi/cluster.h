/*
 * vidi: a set that spans a Redis or Valkey server or cluster.
 *
 * A cluster set is many small sets, its shards: keys of the module that docs/REDIS.md describes, spread evenly over the
 * slots of a cluster. A routing key in the set's record, drawn when the set is made, says which shard a URL belongs to.
 * docs/FLEET.md has the set-up and what happens when servers or clients die.
 *
 * How it differs from a vidi_set:
 *
 *  - Nothing is ever made by accident. vidi_cluster_create makes a set, and only that. A shard that is missing is an
 *    error (VIDI_EABSENT or VIDI_EDAMAGED), never an empty shard.
 *  - Adding claims a URL: the server keeps it for this client for the time of a lease. Committing adds it to the set. A
 *    client that dies, or whose reply is lost, leaves claims that expire: its URLs are new again. So a URL that is
 *    VIDI_SEEN was committed, or is claimed by somebody at this moment.
 *  - Of all clients that add one URL, exactly one is answered VIDI_NEW, as long as no server fails. When a server fails
 *    and its replica takes over, what the replica did not have is forgotten, and those URLs are new again: handed out
 *    twice, never lost. vidi_cluster_access.wait_replicas makes each call wait until replicas have what it has written.
 *
 * An address is redis://[[user]:password@]host[:port][,host[:port]...]/NAME, rediss:// with TLS, or
 * redis+unix:///path/of/socket/NAME. NAME is the set's: letters, digits, '.', '_', ':' and '-'. The environment
 * variable VIDI_REDIS_PASSWORD gives the password if the address has none. Several hosts are tried in turn; the other
 * nodes of a cluster are found by asking.
 *
 * Threads: any function may be called from any thread at any time, except vidi_cluster_close, which must be the last
 * call. Calls on one handle take turns. Errors and verdicts are those of vidi.h: VIDI_EIO if no server answers within
 * the time that vidi_cluster_access.patience_ms gives, VIDI_EABSENT if there is no set of that name, VIDI_EDIFFERS if
 * shards belong to another set. vidi_cluster_message() has the sentence.
 */
#ifndef VIDI_CLUSTER_H
#define VIDI_CLUSTER_H

#include <stdbool.h>

#include "vidi/vidi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vidi_cluster vidi_cluster;

/* What was wrong in this thread's last call of this header that failed: one sentence. Never NULL. */
VIDI_API const char *vidi_cluster_message(void);

/* True if the text begins as an address does: redis://, rediss:// or redis+unix://. */
VIDI_API bool vidi_cluster_is_address(const char *text);

/* Room for an address without its password. */
#define VIDI_CLUSTER_ADDRESS_ROOM 512

/* The address as it may be shown: without the password. */
VIDI_API void vidi_cluster_show_address(const char *address, char shown[VIDI_CLUSTER_ADDRESS_ROOM]);

enum vidi_cluster_flags {
    /*
     * Adding answers VIDI_HELD instead of VIDI_SEEN for a URL that another client has claimed: if that client dies, the
     * URL will be new again. What this handle itself has claimed stays VIDI_SEEN. A URL that is VIDI_HELD has the mark
     * of the one before it.
     */
    VIDI_TELL_HELD = 1 << 16
};

/* How this process uses a cluster set. Start from VIDI_CLUSTER_ACCESS_INIT; zero is the default. */
typedef struct vidi_cluster_access {
    size_t size;            /* sizeof(vidi_cluster_access) */
    uint32_t flags;         /* VIDI_MANUAL_COMMIT: adds count only after a commit; VIDI_READ_ONLY: lookups alone;
                             * VIDI_TELL_HELD */
    uint32_t invalid;       /* vidi_invalid_policy */
    const char *owner;      /* the name that claims are made under, of no other handle; NULL: drawn at random */
    int64_t lease_ms;       /* of claims; renewed in the background while the handle is open; 0: 60,000 */
    uint32_t wait_replicas; /* each write waits until so many replicas of its server have it */
    int64_t reply_ms;       /* how long one reply may take; 0: 30,000, because moving a slot can hold up a server */
    int64_t patience_ms;    /* how long a call is repeated while servers fail, move or load; 0: 60,000 */
    const char *ca_file;    /* rediss: certificates to trust; NULL: the system's */
    const char *cert_file, *key_file; /* rediss: the client's own certificate; NULL: none */
} vidi_cluster_access;

#define VIDI_CLUSTER_ACCESS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(vidi_cluster_access), 0, 0, NULL, 0, 0, 0, 0, NULL, NULL, NULL                                          \
    }

/*
 * Makes an empty set: its record and all of its shards. shards: how many, at most 16,384; 0: one for each 8 MiB of the
 * set that `options` plan, so that moving a shard never holds up a server for long; without a capacity, 16 in a cluster
 * and 1 on a single server. The number never changes. Of `options`, kind, params, capacity, error, headroom, key, flags
 * and canon count; all others must be unset (tracking is VIDI_ECANNOT: servers do not know the list). params are those
 * of each shard: a size such as m is the size of one. Kinds that count (VIDI_STORES_EVERY_ADD) store each URL once.
 * VIDI_EEXIST if there is a set of that name. Killed in the middle, it can be repeated with the same options.
 */
VIDI_API int vidi_cluster_create(const char *address, const vidi_options *options, uint32_t shards,
                                 const vidi_cluster_access *access);

/*
 * Opens a set. access may be NULL. On error *cluster is NULL: VIDI_EABSENT if there is no set of that name, VIDI_EBUSY if
 * it is still being made, VIDI_EIO if no server answers or the address may not do this.
 */
VIDI_API int vidi_cluster_open(vidi_cluster **cluster, const char *address, const vidi_cluster_access *access);

/* Gives up what was claimed and not committed, so that others get it at once, and frees the handle. NULL is fine. */
VIDI_API void vidi_cluster_close(vidi_cluster *cluster);

/*
 * From now on each call waits for servers for at most so many milliseconds: for a program that has been told to end. It
 * takes effect at once, also for a call that another thread is in; it does not wait for that.
 */
VIDI_API void vidi_cluster_hurry(vidi_cluster *cluster, int64_t ms);

/* ---- as for a vidi_set ---- */

VIDI_API int vidi_cluster_add(vidi_cluster *cluster, vidi_str url);
/*
 * Errors, verdicts and marks as for vidi_add_batch. URLs claimed by other clients are VIDI_SEEN (VIDI_TELL_HELD). After
 * an error, verdicts stand: a URL that is VIDI_NEW is claimed, and if it could not be committed at once, that is tried
 * again in the next call. Adding the VIDI_UNTRIED ones again is safe, also if the servers had claimed them already.
 */
VIDI_API int vidi_cluster_add_batch(vidi_cluster *cluster, const vidi_str *urls, size_t n, uint8_t *verdicts,
                                    uint64_t *marks);
VIDI_API int vidi_cluster_has(vidi_cluster *cluster, vidi_str url);
VIDI_API int vidi_cluster_has_batch(vidi_cluster *cluster, const vidi_str *urls, size_t n, uint8_t *verdicts);
VIDI_API int vidi_cluster_has_previous(vidi_cluster *cluster, vidi_str url);
/* Counts at once, also with VIDI_MANUAL_COMMIT. */
VIDI_API int vidi_cluster_remove(vidi_cluster *cluster, vidi_str url);
VIDI_API int vidi_cluster_count(vidi_cluster *cluster, vidi_str url, uint64_t *times);

/* With VIDI_MANUAL_COMMIT; as vidi_commit, vidi_mark and vidi_commit_to. */
VIDI_API int vidi_cluster_commit(vidi_cluster *cluster);
VIDI_API int vidi_cluster_mark(vidi_cluster *cluster, uint64_t *mark);
VIDI_API int vidi_cluster_commit_to(vidi_cluster *cluster, uint64_t mark);

/* ---- the whole set ---- */

/* The canonical form of the set, as for vidi_canon_of (vidi/url.h). */
VIDI_API const struct vidi_canon *vidi_cluster_canon_of(const vidi_cluster *cluster);

typedef struct vidi_cluster_stats {
    size_t size;
    uint32_t shards, nodes;   /* nodes: servers that have shards */
    uint64_t set_id;          /* of the record; those of the shards follow from it */
    uint64_t claims, expired; /* URLs that are claimed, of all clients; those of them whose time is over */
    uint64_t least, most;     /* URLs in the emptiest and in the fullest shard */
    uint64_t stale;           /* commits of this handle that came too late: these URLs may be handed out twice */
} vidi_cluster_stats;

/* The sums over all shards. `claims` may be NULL. fill and fp_now are those of a URL chosen at random. */
VIDI_API int vidi_cluster_stat(vidi_cluster *cluster, vidi_stats *stats, vidi_cluster_stats *more);

/*
 * Starts the next epoch in all shards; options as for vidi_rotate. Killed in the middle, it is finished by whoever opens
 * the set next, also to read. VIDI_EBUSY while pages are claimed, unless `force`: their tokens become void.
 */
VIDI_API int vidi_cluster_rotate(vidi_cluster *cluster, const vidi_options *next, bool force);

/* Removes record and shards. VIDI_EABSENT if there are none. Killed in the middle, it can be repeated. */
VIDI_API int vidi_cluster_drop(const char *address, const vidi_cluster_access *access);

/*
 * Asks for every shard: whether it is there, belongs to this set, and is made as the record says. `fault` is called
 * with a sentence for each thing that is wrong; *faults counts them.
 */
typedef void (*vidi_cluster_fault)(void *context, const char *sentence);
VIDI_API int vidi_cluster_check(vidi_cluster *cluster, vidi_cluster_fault fault, void *context, uint64_t *faults);

/*
 * Reads shard `index` (from 0) into memory, as a set of its own. All shards share one secret key, so they can be merged
 * with each other (vidi_merge) and with exports of the same set. What is added meanwhile may be missing. The caller
 * closes it.
 */
VIDI_API int vidi_cluster_read_shard(vidi_cluster *cluster, uint32_t index, vidi_set **set);

/*
 * Adds everything in `from` to the cluster set. `from` must keep its URLs (VIDI_KEEPS_URLS): of other kinds it is not
 * known which shard an element belongs to, which is VIDI_ECANNOT.
 */
VIDI_API int vidi_cluster_merge(vidi_cluster *cluster, const vidi_set *from);

/* ---- claims, for programs that fetch what they have claimed ---- */

enum { VIDI_HELD = 5 }; /* a verdict: somebody else has claimed the URL */

typedef struct vidi_claim {
    vidi_str url, payload; /* payload: any bytes that RECLAIM gives back */
    uint8_t verdict; /* VIDI_NEW: claimed; VIDI_SEEN, VIDI_HELD, VIDI_INVALID; VIDI_UNTRIED: the call has failed */
} vidi_claim;

enum vidi_claim_flags {
    VIDI_CLAIM_AGAIN = 1 /* what this owner has claimed already is VIDI_NEW, too, and its lease begins anew */
};

/*
 * These calls name their owner themselves. A claim of theirs is not part of marks and commits, and not renewed in the
 * background. After an error, claim the URLs that are VIDI_UNTRIED once more, with VIDI_CLAIM_AGAIN: servers may have
 * claimed some of them for this owner.
 */
VIDI_API int vidi_cluster_claim(vidi_cluster *cluster, const char *owner, int64_t lease_ms, vidi_claim *claims,
                                size_t n, unsigned flags);

enum vidi_finish { VIDI_FINISH_COMMIT, VIDI_FINISH_RELEASE, VIDI_FINISH_DROP };

/*
 * What becomes of URLs that the owner has claimed: they are in the set from now on, or others may claim them, or they
 * are forgotten. done[i] (done may be NULL) becomes 1, or 0 if the owner does not have the claim any more.
 */
VIDI_API int vidi_cluster_finish(vidi_cluster *cluster, const char *owner, const vidi_str *urls, size_t n,
                                 enum vidi_finish how, uint8_t *done);

/* Lets the leases of all claims of the owner begin anew. *renewed (may be NULL): how many. */
VIDI_API int vidi_cluster_renew(vidi_cluster *cluster, const char *owner, int64_t lease_ms, uint64_t *renewed);

/* Gives up all claims of the owner, which has died, say: they are expired now. *given (may be NULL): how many. */
VIDI_API int vidi_cluster_abandon(vidi_cluster *cluster, const char *owner, uint64_t *given);

/*
 * Claims up to `most` (at most 1,000) URLs of shard `index` whose claims have expired. The visitor gets URL (in
 * canonical form) and payload, good during the call; what it returns is ignored unless it is negative, which ends the
 * call with that error. *got (may be NULL): how many.
 */
typedef int (*vidi_claim_visitor)(void *context, vidi_str url, vidi_str payload);
VIDI_API int vidi_cluster_reclaim(vidi_cluster *cluster, uint32_t index, const char *owner, int64_t lease_ms,
                                  uint32_t most, vidi_claim_visitor visitor, void *context, uint64_t *got);

/* Lists the owner's claims (NULL: everybody's). */
VIDI_API int vidi_cluster_claims(vidi_cluster *cluster, const char *owner, vidi_claim_visitor visitor, void *context);

#ifdef __cplusplus
}
#endif

#endif
