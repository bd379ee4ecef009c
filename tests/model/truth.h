/*
 * The model: what a set must hold, and what its folder may hold, according to vidi.h alone. It knows nothing of how the
 * library works, and calls none of its functions.
 *
 * A URL is in the set a number of times: 0 or 1, or more in kinds that store every add. The model keeps, for each URL,
 *
 *     base   how often it was in the set at some point in the past, as this process sees it
 *     disk   how often it may have been in the folder at that point: a set of counts, bit c for c times
 *     ops    adds and removals since then, in the order of the answers, each with its fate
 *
 * All questions are answered by going through the operations from there. An operation that a crash may have lost is
 * applied or not: both counts are possible afterwards. When operations are known to be on disk they move into base and
 * disk.
 *
 * Notes are numbered in the order in which they were committed. After a crash the folder has one of several notes, and
 * an operation that was committed with note k can be there only if note k or a later one is; with note k itself it must
 * be there.
 */
#ifndef TESTS_MODEL_TRUTH_H
#define TESTS_MODEL_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "model/universe.h"

enum { MODEL_MOST_TIMES = 50, MODEL_OPS = 8192, MODEL_NOTES = 512 };

typedef enum model_fate {
    MODEL_STAGED,    /* answered and not committed */
    MODEL_MAYBE,     /* a commit of it has failed, so it is committed or staged */
    MODEL_COMMITTED, /* but not known to be on disk */
    MODEL_MERGED,    /* in the set, and committed, but only the next snapshot brings it to disk */
    MODEL_GHOST      /* not in the set, but it may be in the folder: its call failed or never returned */
} model_fate;

typedef struct model_op {
    uint16_t url;
    bool removes;
    uint8_t fate;
    uint32_t note;      /* number of the first note that it was, or was to be, committed with; 0: none */
    uint32_t last_note; /* … and of the last, if the first commit failed */
    uint64_t serial;
} model_op;

typedef enum model_presence { MODEL_NO, MODEL_MAY, MODEL_MUST } model_presence;

/* Counts that are possible for each URL, as bits. */
typedef struct model_view {
    uint64_t counts[MODEL_URLS];
} model_view;

typedef struct model_truth {
    bool stores_every_add;
    bool one_sided; /* the kind may answer "seen" for URLs that it does not hold */
    uint64_t epoch;
    uint8_t base[MODEL_URLS];
    model_view disk;
    model_op ops[MODEL_OPS];
    size_t n_ops;
    uint64_t next_serial; /* of the next operation */
    bool tainted;         /* it was opened after a sync had failed: what was found then may not be on disk */

    bool epoch_unsure; /* a rotation has failed: the folder may be in the next epoch, which is empty, */
    bool next_keeps;   /* and then it has this one as its previous epoch, or not, */
    bool next_stores_every_add, next_one_sided; /* and is of such a kind */

    model_presence previous_live, previous_on_disk;
    bool previous_one_sided;
    bool previous_tainted; /* the set was tainted when that epoch ended, and its logs stay as they are */
    model_view previous, previous_disk;

    uint32_t note;                  /* number of the note of this set; 0: it never had one */
    uint32_t notes;                 /* number of the last note that was tried */
    bool note_on_disk[MODEL_NOTES]; /* notes that may be found in the folder */
} model_truth;

/* An empty set that was just made. */
void model_truth_begin(model_truth *truth, bool stores_every_add, bool one_sided);

/* ---- what must be seen ---- */

/* In the open set. */
void model_truth_live(const model_truth *truth, model_view *view);
/* In what the open set writes and lists: what is committed. */
void model_truth_committed(const model_truth *truth, model_view *view);
/* In the folder after the set was closed. */
void model_truth_written(const model_truth *truth, model_view *view);
/* In the folder after a power failure, if this note was found. */
void model_truth_found(const model_truth *truth, uint32_t note, model_view *view);
/*
 * In the folder if the power did not fail: is there a first part of the committed operations after which the URLs are
 * there that often? True if that cannot be told.
 */
bool model_truth_is_prefix(const model_truth *truth, const uint8_t times[MODEL_URLS]);

/* May the disk have lost what this process takes for synced, because a sync had failed before it began? */
bool model_truth_is_tainted(const model_truth *truth);

/* ---- what happens ---- */

void model_truth_push(model_truth *truth, size_t url, bool removes, model_fate fate);
/* Operations before serial number `to` are to be committed, with a note or without (0): from now on they may be on disk. */
void model_truth_commit_begins(model_truth *truth, uint64_t to, uint32_t note);
void model_truth_commit_ends(model_truth *truth, uint64_t to, uint32_t note);
/* What is committed is on disk. */
void model_truth_synced(model_truth *truth);
/* The same, in a snapshot: what only the snapshot can bring to disk is there too, and ghosts are gone. */
void model_truth_snapshot_taken(model_truth *truth);
/* A rotation is about to be tried. */
void model_truth_rotation_begins(model_truth *truth, bool keeps, bool stores_every_add, bool one_sided);
/* `broken`: the log has failed before, so what was committed since may be missing from the previous epoch on disk. */
void model_truth_rotated(model_truth *truth, bool broken);
/* Staged operations are dropped, as vidi_close does. */
void model_truth_drop_staged(model_truth *truth);
/* The folder was found in the next epoch, after a rotation that had failed. */
void model_truth_next_found(model_truth *truth);
/*
 * The set was opened again and has each URL so many times. `certain`: what was found is on disk. Otherwise the disk may
 * have lost any of it that was not synced before.
 */
void model_truth_opened(model_truth *truth, const uint8_t times[MODEL_URLS], uint32_t note, bool certain);

#endif
