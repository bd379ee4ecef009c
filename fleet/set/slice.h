/*
 * A slice of a batch: URLs in canonical form, and which shard each belongs to.
 *
 * Batches are dealt with in slices of at most 8,192 URLs and 1 MiB of text, so that any batch needs the same memory. A
 * slice becomes commands of at most 256 URLs: no server is held up for longer than a few milliseconds by one of them.
 * Within a shard, URLs stay in their order.
 */
#ifndef VIDI_FLEET_SET_SLICE_H
#define VIDI_FLEET_SET_SLICE_H

#include <stddef.h>
#include <stdint.h>

#include "fleet/redis/redis.h"
#include "pending.h"
#include "record.h"
#include "vidi/cluster.h"

enum { SLICE_URLS = 8192, SLICE_BYTES = 1 << 20, CALL_URLS = 256, SLICE_PLACES = 2 * SLICE_URLS };

/* URLs that belong to one shard: order[from], …, order[from + count - 1]. */
typedef struct slice_group {
    uint32_t shard, from, count;
} slice_group;

typedef struct slice {
    size_t n;                       /* entries */
    vidi_str texts[SLICE_URLS];     /* what servers get */
    uint64_t hashes[SLICE_URLS][2]; /* routing hashes */
    claim_token tokens[SLICE_URLS]; /* of claims that were made */
    uint64_t numbers[SLICE_URLS];   /* of claims that end: where they are in the queue; of SLICE_REPEAT: the first */
    uint8_t verdicts[SLICE_URLS];   /* VIDI_UNTRIED at first, or VIDI_INVALID */
    uint32_t shards[SLICE_URLS];
    uint32_t picked[SLICE_URLS]; /* positions of the entries that are asked for, in their order: the valid ones */
    uint32_t order[SLICE_URLS];  /* the same by shard */
    size_t valid;                /* how many these are */
    slice_group groups[SLICE_URLS];
    size_t group_count;
    uint32_t call_from[SLICE_URLS + 1]; /* of each call: where it begins in `order` */
    uint32_t call_group[SLICE_URLS];    /* and its group */
    uint32_t
        places[SLICE_PLACES]; /* a table of the entries by hash: position, and above it the round, or something old */
    uint32_t round;
    uint32_t counts[RECORD_SHARDS]; /* of each shard: 0 between calls */
    char *room;                     /* the texts that had to be written */
    size_t room_size, room_used;
} slice;

/* What a command says beside its URLs. */
typedef struct slice_command {
    vidi_str name;
    vidi_str owner, lease; /* ptr NULL: none */
    bool again, drop;
    bool tokens;              /* they are tokens, not URLs */
    bool pairs;               /* a payload follows each URL */
    const vidi_claim *claims; /* that have the payloads; NULL: they are empty */
    unsigned how;             /* CALL_WRITES, CALL_ONCE */
} slice_command;

void slice_free(slice *slice);

/*
 * Takes as many of n URLs as fit, of which the first is at `first` and each next one `stride` bytes further, and puts
 * them in the order of their shards. VIDI_INVALID if a URL is invalid and the handle's policy is to stop there: the
 * slice has those before it.
 */
int slice_take(vidi_cluster *cluster, const vidi_str *first, size_t stride, size_t n);

enum { SLICE_REPEAT = 102 }; /* a verdict: whatever becomes of the same URL earlier in the slice */

/*
 * Leaves out URLs that need not be asked for: those that wait for a commit of this handle are VIDI_SEEN, and repeats are
 * SLICE_REPEAT.
 */
void slice_leave_out_known(vidi_cluster *cluster);

/*
 * For tokens: empties the slice, adds a claim of the queue with its number, and puts all in the order of their shards.
 * The entry must stay as it is until the calls have run.
 */
int slice_begin(vidi_cluster *cluster);
void slice_add_claim(slice *slice, const pending_entry *entry, uint64_t number);
void slice_sort(vidi_cluster *cluster);

/* Asks for those entries alone that have this verdict. */
void slice_keep(vidi_cluster *cluster, uint8_t verdict);

/* Makes calls of the whole slice, which are not run yet. */
void slice_ask(vidi_cluster *cluster, const slice_command *command);

/*
 * Runs the calls, and reads the replies: arrays with an element for each URL, which `take` gets with its position in the
 * slice. VIDI_OK, or the first error; the URLs of calls that have failed are left out.
 */
typedef int (*slice_taker)(vidi_cluster *cluster, size_t position, const redis_reply *item, bool repeated);
int slice_run(vidi_cluster *cluster, slice_taker take);

#endif
