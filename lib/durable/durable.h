/*
 * A set that lives in a folder (store/folder.h): the filter holds what is committed, the stage what is not in it yet,
 * the log what was committed since the last snapshot.
 *
 *     add ──> stage ──commit──> log ──> filter ──> snapshot
 *      └───────── autocommit: filter and log at once ────┘
 *
 * Adds go through the stage (`staging`) if commits are the caller's, if they wait for the disk, and while a snapshot is
 * being written: then the filter is `frozen`, and what is committed meanwhile waits in the stage, logged. So the filter
 * that is written never changes under the pen and never holds what was not committed.
 *
 * Whoever changes the filter, the log or the staging flag holds the set's lock alone; adds and questions hold it shared
 * and `stage_lock` while they are at the stage. `turn` is held, before the set's lock, by whoever writes snapshots: one
 * at a time.
 */
#ifndef VIDI_DURABLE_DURABLE_H
#define VIDI_DURABLE_DURABLE_H

#include "set/set.h"
#include "durable/staging.h"
#include "store/folder.h"
#include "store/log.h"

/* Bytes of the counters that every record of the log begins with. */
#define VIDI__RECORD_TALLY 48

/* A log and those who wait for it, outside of all locks: it is closed when the last has gone. */
typedef struct vidi__open_log {
    vidi__log *log;
    uint64_t number;
    _Atomic uint32_t waiting;
} vidi__open_log;

typedef struct vidi__durable {
    vidi__folder folder;
    vidi__log_policy policy;
    bool manual;            /* commits are the caller's */
    bool hash_only;         /* hashes are all that the filter needs, so stage and log hold nothing else */
    _Atomic bool staging;   /* adds go through the stage, and questions ask it */
    bool frozen;            /* the filter is being written */
    vidi__open_log *log;    /* that commits go to */
    vidi__open_log *before; /* while a snapshot is being written: the one that it will stand for */
    pthread_mutex_t stage_lock;
    vidi__stage stage;
    pthread_mutex_t turn;
    uint64_t snapshot;          /* number of the one in force */
    uint64_t snapshot_bytes;    /* its size */
    uint64_t snapshots;         /* taken by this handle */
    _Atomic uint64_t log_bytes; /* of all logs since the snapshot in force */
    _Atomic uint64_t due_at;    /* so many of them make another one due */
    _Atomic uint64_t tallied;   /* vidi__record_answers at the last record */
    int broken;                 /* the error that ended it, until a snapshot succeeds */
    char why[VIDI__MESSAGE];
    _Atomic int background; /* of the thread that writes snapshots: NONE, RUNNING or OVER */
    pthread_t thread;
    vidi_set *previous; /* the previous epoch, if it was found in the folder */
    vidi_recovery recovery;
} vidi__durable;

/* Are hashes all that the set's filter needs? */
static inline bool vidi__hash_only(const vidi_set *set)
{
    return set->now.filter->needs.what == VIDI__NEED_HASH;
}

/* ---- opening and closing (durable.c) ---- */

/* Gives a set in memory a folder: makes it, and writes the first snapshot. */
int vidi__durable_attach(vidi_set *set, const vidi_options *options);
/* Ends everything and frees it; says what went wrong with the last writes. */
int vidi__durable_close(vidi_set *set);

/* Allocates set->durable. */
int vidi__durable_alloc(vidi_set *set, const vidi_options *options);
/* To be called when something has changed that `staging` follows from. */
void vidi__durable_ready(vidi_set *set);
/* Drops what is staged and gets ready for the set's filter, which is another one. */
void vidi__durable_restage(vidi_set *set);
/* VIDI_OK, or why nothing can be committed. */
int vidi__durable_state(const vidi_set *set);
/* Remembers the error of the last call as what has ended the set. */
int vidi__durable_break(vidi_set *set, int code);

/* Makes the log of this number, of the set's epoch or of another. */
int vidi__durable_new_log(vidi_set *set, uint64_t number, uint64_t epoch, vidi__open_log **log);
/* Goes on with one that ends after so many bytes. */
int vidi__durable_old_log(vidi_set *set, uint64_t number, uint64_t bytes, vidi__open_log **log);
int vidi__durable_end_log(vidi_set *set, vidi__open_log *log);
vidi__log_id vidi__durable_log_id(const vidi_set *set, uint64_t number, uint64_t epoch);

/* The files of the previous epoch go with it. */
void vidi__durable_drop_previous(vidi_set *set);

/* ---- adds and questions (add.c); all under the set's lock ---- */

/* What an add still waits for after the lock is given back. */
typedef struct vidi__pending {
    vidi__open_log *log; /* NULL: nothing */
    uint64_t position;
    uint64_t from, to; /* its steps */
} vidi__pending;

/* known: the hashes of the URLs, which are not needed then; NULL: there are none yet. */
int vidi__durable_add(vidi_set *set, const vidi_str *urls, const vidi__u128 *known, size_t n, uint8_t *verdicts,
                      vidi__pending *pending);
/* Corrects the filter's verdicts by what is in the stage. */
int vidi__durable_has(vidi_set *set, const vidi_str *urls, size_t n, uint8_t *verdicts);
/* Without the lock: waits until it is on disk. On an error what was NEW is VIDI_UNTRIED again and left no trace. */
int vidi__durable_settle(vidi_set *set, vidi__pending *pending, size_t n, uint8_t *verdicts);
int vidi__durable_remove(vidi_set *set, vidi_str url, vidi__pending *pending);
int vidi__durable_count(vidi_set *set, vidi_str url, uint64_t *times);
/* VIDI_ECANNOT if the log, as far as it is not in the filter, removes anything. */
int vidi__durable_no_removals(const vidi_set *set);
int vidi__durable_iterate(const vidi_set *set, vidi_visitor visitor, void *context);

/*
 * Puts a group of steps of one kind into the filter: at most VIDI__HASHES_MAX hashes, or VIDI__GROUP URLs. A removal of
 * what is not there is no error. On an error each is done (its verdict is not VIDI_UNTRIED) or was not touched.
 */
int vidi__steps_apply(vidi_set *set, vidi__step_kind kind, const vidi__u128 *hashes, const vidi_str *urls, size_t n,
                      uint8_t *verdicts, vidi__tally *tally);
/* The hash that the stage of a set that needs more than hashes finds URLs by. */
vidi__u128 vidi__stage_hash(const vidi__epoch *epoch, vidi_str url);

/* Puts what is logged into the filter, up to but not including step `to`. Alone. On an error the rest stays staged. */
int vidi__durable_apply(vidi_set *set, uint64_t to);
/* Writes the steps before number `to` that are not logged to the log. Alone. */
int vidi__durable_log_steps(vidi_set *set, uint64_t to, uint64_t *position);

/* ---- records of the log (log_records.c) ---- */

/* Payload: the tally of the epoch, and then hashes of 16 bytes, or URLs, each a u64 length and its bytes. */
enum { VIDI__RECORD_ADD_HASHES = 1, VIDI__RECORD_ADD_URLS, VIDI__RECORD_REMOVE_HASHES, VIDI__RECORD_REMOVE_URLS };
/* URLs in a record at most; hashes fill more. */
#define VIDI__RECORD_URLS VIDI__GROUP
#define VIDI__RECORD_HASHES 65536

/* Payload bytes of a record. */
uint64_t vidi__record_bytes(const vidi__durable *durable, const vidi_str *urls, uint64_t n);
/* Appends one, for which room was reserved: hashes or urls, whichever the set logs. */
void vidi__record_append(vidi_set *set, vidi__step_kind kind, const vidi__u128 *hashes, const vidi_str *urls,
                         uint64_t n, uint64_t reserved, uint64_t *position);
/* The answers that the tally counts; and a record of nothing else, if they are more than the last record says. */
uint64_t vidi__record_answers(const vidi_set *set);
void vidi__record_tally(vidi_set *set);
/* A vidi__log_visit: puts a record into the filter, or, if that cannot be changed, into the stage. context: the set. */
int vidi__record_replay(void *context, uint32_t type, vidi_str payload);

/* ---- snapshots (snapshot.c) ---- */

/* Starts one in the background if the logs have grown enough. Without any lock. */
void vidi__snapshot_if_due(vidi_set *set);
/* `turn` is held. */
int vidi__snapshot_take(vidi_set *set);
/* Waits for the one in the background. */
void vidi__snapshot_join(vidi_set *set);
/* Writes the set as it is to the file of snapshot `number`. The filter must not change meanwhile. */
int vidi__snapshot_write(vidi_set *set, uint64_t number, uint64_t *bytes, bool *renamed);
void vidi__snapshot_set_due(vidi__durable *durable);
void vidi__snapshot_in_force(vidi_set *set, uint64_t number, uint64_t bytes);
/* Alone, with `turn`, when the set is in its next epoch already: makes that so on disk. keep: the one before, too. */
int vidi__snapshot_rotate(vidi_set *set, bool keep);

/* ---- recovery (recovery.c) ---- */

int vidi__durable_open(vidi_set **set, const char *path, const vidi_options *options);

#endif
