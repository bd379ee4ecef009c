/*
 * A set that lives in a folder (store/folder.h). The filter holds what is committed, the staging area what is not in
 * the filter yet, and the log what was committed since the last snapshot.
 *
 *     add ──> staging area ──commit──> log ──> filter ──> snapshot
 *      └──── autocommit: filter, and by lanes to the log ────┘
 *
 * Adds go through the staging area (`uses_staging`) in three cases: the caller commits, a commit waits for the disk, or
 * a snapshot is being written. During a snapshot the filter is `frozen`, and operations that are committed meanwhile
 * wait in the staging area, logged. So the filter never changes while it is written, and never holds anything that was
 * not committed.
 *
 * Locks, in the order in which they are taken: `turn` (held by whoever writes a snapshot, one at a time), the set's
 * lock, `staging_lock` or those of lanes, the log's. Whoever changes the filter, the log or `uses_staging` is alone in
 * the set. Adds and lookups share it, and hold staging_lock while they use the staging area.
 *
 * lib/set reaches all of this through vidi__persistence, the table of functions in durable.c.
 */
#ifndef VIDI_DURABLE_DURABLE_H
#define VIDI_DURABLE_DURABLE_H

#include <pthread.h>

#include "base/buffer.h"
#include "durable/staging.h"
#include "set/set.h"
#include "store/manifest.h"
#include "store/folder.h"
#include "store/log.h"

/* Bytes of the counters in the log. */
#define VIDI__RECORD_TALLY 48

/* The two numbers of the operations that are committed with the next note; replay.c says what for. */
typedef struct vidi__bundle {
    uint64_t number, attempt;
} vidi__bundle;

/* A log, and how many callers wait for it without holding a lock. It is closed when the last one is done. */
typedef struct vidi__open_log {
    vidi__log *log;
    uint64_t number;
    vidi__bundle bundle;
    struct vidi__index_builder *index; /* NULL: none */
    bool completes_index;              /* when it is closed; otherwise it stops at once */
    _Atomic uint32_t waiting;
} vidi__open_log;

/* What a call still waits for when the set's lock has been released. */
typedef struct vidi__pending {
    vidi__open_log *log; /* NULL: nothing */
    uint64_t position;   /* in the log */
    uint64_t from, to;   /* the numbers of its operations */
    double lost_each;    /* expected pages lost that were counted for each VIDI_NEW */
} vidi__pending;

/* The pages lost per URL that is answered NEW and staged, and the state of the filter when that was computed. */
typedef struct vidi__price {
    bool known;
    uint64_t epoch, moves, count;
    double lost_each;
} vidi__price;

typedef struct vidi__durable {
    vidi__folder folder;
    vidi__log_policy policy;
    bool manual;             /* the caller commits */
    bool maps;               /* may map files: not VIDI_NO_MAP */
    bool hash_only;          /* the filter needs hashes alone, so staging area and log hold nothing else */
    vidi__open_log *log;     /* the log that commits go to */
    vidi__open_log *old_log; /* while a snapshot is being written: the log that it will replace */
    vidi__manifest manifest; /* which files must be there, and how much of the logs is on disk */
    pthread_mutex_t staging_lock;
    vidi__staging staging;
    vidi__price price;                /* guarded by staging_lock */
    struct vidi__lane *_Atomic lanes; /* all that there are; they are freed with this */
    pthread_mutex_t turn;             /* set->turn */
    uint64_t snapshot;                /* number of the snapshot in force */
    uint64_t renamed;                 /* number of a snapshot that was renamed and may be in force all the same */
    uint64_t snapshot_bytes;          /* its size */
    uint64_t snapshots;               /* how many this handle has taken */
    /* What every record changes has a cache line of its own. */
    _Alignas(VIDI__CACHE_LINE) _Atomic uint64_t log_bytes; /* of all logs since the snapshot in force */
    _Atomic uint64_t due_at;                               /* the log_bytes at which the next snapshot is due */
    _Atomic uint64_t tallied;                              /* vidi__record_answers at the last record */
    _Alignas(VIDI__CACHE_LINE) bool full; /* the memory limit has kept the filter from taking what is committed */
    unsigned room_steps;                  /* how much more than usual the filter leaves while logs are replayed */
    int broken;              /* the error after which nothing can be committed, until a snapshot succeeds */
    char why[VIDI__MESSAGE]; /* its message */
    vidi__bundle replayed;   /* how the numbers go on in the log that was replayed last */
    vidi__note *frozen_note; /* while the filter is frozen: the note that belongs to it */
    _Atomic int background;  /* state of the thread that writes snapshots: NONE, RUNNING or OVER */
    pthread_t thread;
    struct vidi__segment **segments; /* of a mapped set: what the logs' indexes hold; log_index.h */
    size_t segment_count;
    int index_folder;    /* where their logs are */
    bool index_is_unfit; /* the logs have removals, too */
    vidi_recovery recovery;
} vidi__durable;

/* ---- life of a durable set (durable.c) ---- */

/* Gives a set in memory a folder: makes the folder and writes the first snapshot. */
int vidi__durable_attach(vidi_set *set, const char *path, const vidi_access *access);
/*
 * The same for a set that has operations in its log from the beginning: `fill` writes them, before the snapshot is in
 * force. What it has left if it is interrupted does not count as a set, and can be written over.
 */
typedef int vidi__durable_fill(vidi_set *set, void *context);
int vidi__durable_attach_filled(vidi_set *set, const char *path, const vidi_access *access, vidi__durable_fill *fill,
                                void *context);

/* Allocates set->durable and installs the table of functions. */
int vidi__durable_alloc(vidi_set *set, const vidi_access *access);
/*
 * Keeps part of the memory limit free from now on, so that the set can be opened again with the same limit. While logs
 * are replayed, what the buffers of the open log will take stays free, too.
 */
typedef enum vidi__aside { VIDI__ASIDE_NONE, VIDI__ASIDE_WRITING, VIDI__ASIDE_REPLAYING } vidi__aside;
void vidi__durable_put_aside(vidi_set *set, vidi__aside when);
/* Must be called when something has changed that the set's `uses_staging` or `partial` depends on. */
void vidi__durable_ready(vidi_set *set);
/* Drops all staged operations and prepares the staging area for the set's new filter. */
void vidi__durable_restage(vidi_set *set);
/* VIDI_OK, or the reason why nothing can be committed. */
int vidi__durable_state(const vidi_set *set);
/* Remembers the error of the last call as the reason why nothing can be committed. */
int vidi__durable_break(vidi_set *set, int code);

/* Makes the log of this number for an epoch. It must be listed in the manifest before the first append. */
int vidi__durable_new_log(vidi_set *set, uint64_t number, uint64_t epoch, vidi__open_log **log);
/* Continues a log of this epoch that ends after `bytes` bytes. */
int vidi__durable_old_log(vidi_set *set, uint64_t number, uint64_t bytes, vidi__open_log **log);
int vidi__durable_end_log(vidi_set *set, vidi__open_log *log);
vidi__log_id vidi__durable_log_id(const vidi_set *set, uint64_t number, uint64_t epoch);

/* ---- adds and lookups (add.c, lookup.c): the functions of vidi__persistence of that name ---- */

int vidi__durable_add(vidi_set *set, const vidi__work *work);
int vidi__durable_add_one(vidi_set *set, vidi_str url);
int vidi__durable_remove(vidi_set *set, vidi_str url);
int vidi__durable_lookup(vidi_set *set, const vidi__work *work, uint64_t *times);
int vidi__durable_iterate(const vidi_set *set, vidi_visitor visitor, void *context);

/* The verdict of filter and staging area together, given the filter's. */
int vidi__durable_joint_verdict(vidi_set *set, vidi_str url, vidi__u128 hash, uint8_t *verdict);
/* The same, given by how much the staging area changes the number of times that the URL is there. */
int vidi__durable_correct(vidi_set *set, vidi_str url, vidi__u128 hash, int32_t delta, uint8_t *verdict);

/* ---- from the staging area to log and filter (apply.c) ---- */

/* The hashes by which the staging area finds URLs: the filter's own hashes where it needs nothing else. */
void vidi__durable_hash(const vidi_set *set, const vidi__work *work, vidi__u128 *hashes);
vidi__u128 vidi__durable_url_hash(const vidi__epoch *epoch, vidi_str url);

/*
 * Applies operations of one sort to the filter. Removing a URL that is not there is not an error. After an error,
 * operations that were not done have the verdict VIDI_UNTRIED and left no trace in the filter; all others are done.
 */
int vidi__durable_operate(vidi_set *set, vidi__operation operation, const vidi__work *work, vidi__tally *tally);

/*
 * Applies what is logged to the filter, up to but not including operation `to`. Exclusive lock. On error the rest
 * stays.
 */
int vidi__durable_apply(vidi_set *set, uint64_t to);
/* The same, but running out of memory is no error: operations that the filter has no memory for stay staged. */
void vidi__durable_try_apply(vidi_set *set, uint64_t to);
/* Writes the operations before number `to` that are not in the log to the log. Exclusive lock. */
int vidi__durable_log_operations(vidi_set *set, uint64_t to, uint64_t *position);
/* The same for a bundle, whose note must follow. Tells how many operations it has. On error none counts as logged. */
int vidi__durable_log_bundle(vidi_set *set, uint64_t to, uint64_t *operations, uint64_t *position);
/* The function of vidi__persistence. */
int vidi__durable_merge_into(vidi_set *into, const vidi_set *from, uint64_t *missing);

/* ---- records of the log (log_records.c) ---- */

/*
 * The type of a record is the sum of one of the first four and a form. Its payload ends with a list of operations:
 * hashes of 16 bytes, or URLs, each a u64 length and its bytes. The form says what comes before the list.
 */
enum {
    VIDI__RECORD_ADD_HASHES = 1,
    VIDI__RECORD_ADD_URLS,
    VIDI__RECORD_REMOVE_HASHES,
    VIDI__RECORD_REMOVE_URLS,
    VIDI__RECORD_NOTE = 13 /* numbers of the bundle that it ends, u64 operations in it, tally, bytes of the note */
};
typedef enum vidi__record_form {
    VIDI__RECORD_WITHOUT_TALLY = 0, /* nothing */
    VIDI__RECORD_IN_BUNDLE = 4,     /* the two numbers of the bundle: replay.c */
    VIDI__RECORD_WITH_TALLY = 8     /* the tally: the epoch's counters at that moment */
} vidi__record_form;
enum { VIDI__RECORD_NUMBERS = 16, VIDI__NOTE_HEAD = VIDI__RECORD_NUMBERS + 8 + VIDI__RECORD_TALLY };

/* The largest number of operations in a record: what one damaged byte can cost. */
#define VIDI__RECORD_MOST 64

/* The longest URL that fits into a record with everything else that may be in it. */
#define VIDI__LOGGED_URL_MAX (VIDI__LOG_RECORD_MAX - 4096)

/* Operations of one sort. */
typedef struct vidi__record {
    vidi__operation kind;
    const vidi__u128 *hashes;
    const vidi_str *urls;
    uint64_t n;
} vidi__record;

/* Appends one record with at most VIDI__RECORD_MOST operations, hashes or URLs, whichever the set logs. */
int vidi__record_append(vidi_set *set, vidi__record_form form, const vidi__record *record, uint64_t *position);
/* The bytes of the operations in a record, and those bytes themselves; returns how many they are. */
uint64_t vidi__record_list_bytes(const vidi__durable *durable, const vidi_str *urls, uint64_t n);
uint64_t vidi__record_store_list(const vidi__durable *durable, void *to, const vidi__record *record);
/* Appends a list of adds, for which VIDI__LANE_ROOM was reserved. */
void vidi__record_append_list(vidi_set *set, vidi__open_log *log, vidi_str list, bool with_tally);
/* Stores the counters in a record, and remembers that they are in the log. */
void vidi__record_store_tally(vidi_set *set, void *to);
/* The number of answers so far, as the counters in a record tell it. */
uint64_t vidi__record_answers(const vidi_set *set);

/*
 * A write: any number of operations in as many records as they take, and one tally. The caller reserves room first, so
 * that the append cannot fail, and appends at most as many operations, or gives the room back.
 */
int vidi__write_reserve(vidi_set *set, const vidi_str *urls, uint64_t n, uint64_t *reserved);
void vidi__write_unreserve(vidi_set *set, uint64_t reserved);
void vidi__write_append(vidi_set *set, const vidi__record *record, uint64_t reserved, uint64_t *position);
/* Appends a record of the counters alone, if they have changed since the last record. */
void vidi__write_tally(vidi_set *set);

/* ---- adds on their way to the log (lanes.c) ---- */

/* The most that a lane holds, and what it needs of the log. */
#define VIDI__LANE_BYTES 2048
#define VIDI__LANE_ROOM (VIDI__LANE_BYTES + VIDI__RECORD_TALLY)

typedef struct vidi__lane vidi__lane;

/*
 * The lane of this thread, locked, with room for so many adds of so many bytes, which the caller puts there after the
 * filter has taken them. NULL if they are too many, or the log has no room for them now: then the caller takes them to
 * the log itself.
 */
vidi__lane *vidi__lane_begin(vidi_set *set, vidi__slot *slot, uint64_t count, uint64_t bytes);
void vidi__lane_put(vidi_set *set, vidi__lane *lane, const vidi__record *record);
/* Unlocks the lane. Returns true once for each record that the lane brings together. */
bool vidi__lane_end(vidi__lane *lane);

/* Takes what is in the lane of this thread, or in those of all threads, to the log. Neither waits nor fails. */
void vidi__lane_empty(vidi_set *set, vidi__slot *slot);
void vidi__lanes_empty(vidi_set *set);
void vidi__lanes_free(vidi_set *set);

/* ---- reading them back (replay.c) ---- */

/* The replay of one log. */
typedef struct vidi__replay {
    vidi_set *set;
    vidi__buffer held;    /* records of operations whose note was not found yet */
    size_t begin, closed; /* in `held`: where the last bundle begins; where the last incomplete one with a note ends */
    uint64_t bundle, attempt; /* the last bundle's numbers; 0: none */
    uint64_t taken;           /* bundles that were applied, from the first on */
    uint64_t operations;      /* of that bundle, so far */
    vidi__operation kind;     /* of the hashes below */
    size_t n;                 /* hashes of one record or of several that are not in the filter yet */
    vidi__u128 hashes[VIDI__HASHES_MAX];
} vidi__replay;

void vidi__replay_begin(vidi__replay *self, vidi_set *set);
/* Goes on after the stretches of these segments, whose hashes need not be replayed. */
int vidi__replay_resume(vidi__replay *self, struct vidi__segment *const *segments, size_t count);
/* A vidi__log_visit: applies a record to the filter, or, if that is mapped, stages it. context is the vidi__replay. */
int vidi__replay_record(void *context, uint32_t type, vidi_str payload);
/*
 * Must be called in any case, with the result of the reading; an error is returned as it is. `damaged`: some bytes of
 * the log that were on disk once are not valid now.
 */
int vidi__replay_end(vidi__replay *self, int code, bool damaged);

/* ---- commits (commit.c) ---- */

/* The mark after everything answered so far; 0 unless the caller commits. */
uint64_t vidi__durable_mark(vidi_set *set);
/* VIDI_EARGUMENT if the set cannot have given this mark. The caller holds the lock exclusively. */
int vidi__commit_check(const vidi_set *set, uint64_t mark);
/* After a commit has been logged: applies what is logged, and pins the log if its sync must be waited for. */
void vidi__commit_logged(vidi_set *set, int code, vidi__pending *pending);
/* After the set's lock has been released: waits for that sync. */
int vidi__commit_wait(vidi_set *set, int code, vidi__pending *pending);

/* ---- snapshots (snapshot.c) ---- */

/* Starts a snapshot in the background if the logs have grown enough. The caller holds no lock. */
void vidi__snapshot_if_due(vidi_set *set);
/* Takes a snapshot. The caller holds `turn`. */
int vidi__snapshot_take(vidi_set *set);
/* Waits for the snapshot in the background. */
void vidi__snapshot_join(vidi_set *set);
/* Writes the set as it is to the new file of snapshot `number`, synced. The filter must not change meanwhile. */
int vidi__snapshot_save(vidi_set *set, uint64_t number, vidi__folder_snapshot *snapshot);
/*
 * While a set is being opened: writes a snapshot with a new log of this number, so that the logs that are there are
 * needed no more.
 */
int vidi__snapshot_replace(vidi_set *set, uint64_t number);
void vidi__snapshot_set_due(vidi__durable *durable);
void vidi__snapshot_in_force(vidi_set *set, uint64_t number, uint64_t bytes);
/* Makes a rotation durable, which set->now shows already. The caller holds `turn` and the exclusive lock. */
int vidi__snapshot_rotate(vidi_set *set, bool keep);

/* ---- the logs of a folder that is being opened (replay_logs.c) ---- */

typedef struct vidi__logs {
    const vidi__folder *folder;
    vidi__manifest_contents known; /* what the manifest says; empty if it cannot be read */
    vidi__manifest_contents found; /* the logs that were replayed, with the lengths up to which they are intact */
    uint64_t last;        /* the highest number of a log that is there, even if a crash has left nothing in it */
    vidi__log_found tail; /* what was found in that log */
    bool has_manifest;    /* and it could be read */
    bool no_index;        /* all of the logs is read */
    bool unlisted;        /* there is a log with records that the manifest should list and does not */
    bool ragged;          /* a log has unfinished bytes before valid records, or a second name */
} vidi__logs;

/* Reads the manifest. This comes before anything else is looked at: a writer may be adding to the logs. */
int vidi__logs_begin(vidi__logs *logs, const vidi__folder *folder);
/* Replays these logs of one epoch. What cannot be read is counted in the set's recovery. */
int vidi__logs_replay(vidi_set *set, vidi__logs *logs, uint64_t first, uint64_t last);
/* After all logs were replayed: counts the manifest as missing if it should be there, or does not fit. */
void vidi__logs_check_manifest(vidi_set *set, const vidi__logs *logs);
/* Counts a file as missing. */
void vidi__logs_lost(vidi_recovery *recovery, const char *name);
/*
 * Syncs the logs from this number on. The process that wrote them may have died before it synced them, and no vidi_sync
 * will ask for them again.
 */
int vidi__logs_sync(const vidi__logs *logs, uint64_t first);

/* ---- recovery (recovery.c) ---- */

int vidi__durable_open(vidi_set **set, const char *path, const vidi_access *access);

#endif
