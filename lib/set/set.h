/*
 * The set: what the public functions work on. It brings URLs into their canonical form, turns those into items, keeps
 * them in the filter of the current epoch, counts its answers, and lets many threads in at once.
 *
 *     vidi_set
 *       key ── key of epoch 7 ── hashes items, seeds the filter
 *       now:      epoch 7: filter and counters
 *       previous: epoch 6, if it is kept
 *       history:  statistics of epochs 0 to 6
 *
 * A gate guards the set (lock.c). Adds share it if the kind is concurrent, lookups always do; rotation and merging
 * close it. So a filter never sees more threads than it can handle, and no epoch disappears while somebody uses it. While
 * one thread uses the set, that thread has the gate to itself, and the filter needs no locks.
 *
 * A set lives in memory unless lib/durable installs its functions (vidi__persistence). Nothing here knows of files.
 */
#ifndef VIDI_SET_SET_H
#define VIDI_SET_SET_H

#include <pthread.h>

#include "base/fork.h"
#include "filters/filter.h"
#include "frame/mapped.h"
#include "url/canon/canon.h"
#include "url/quick/is_canonical.h"
#include "url/parse/split.h"

/* Room for the user's parameters, with the zero byte at the end. */
#define VIDI__USER_PARAMS_MAX 512

/* How much larger than the last epoch the next one is made, unless the user says otherwise. */
#define VIDI__HEADROOM 1.25

/* How the filter of this epoch, and of the next one, is made: what the user asked for. */
typedef struct vidi__recipe {
    const vidi__kind *kind;
    char *params; /* without capacity and error; NULL: none */
    uint64_t capacity;
    double error;
    double headroom;
    uint32_t flags;
} vidi__recipe;

/*
 * One epoch: a filter, the key that its items are hashed with, and what was answered. Threads count answers in their
 * slots, from where they get here when somebody is alone in the set. vidi__counts_of adds up both.
 */
typedef struct vidi__epoch {
    uint64_t number;
    const vidi__hash_fn *hash;
    vidi__filter *filter;
    uint64_t key[2];               /* the first words of the key, which most functions need alone */
    vidi__hash_key *whole_key;     /* all of it, for a function with a secret; otherwise NULL */
    vidi__url_feature_fn *feature; /* NULL unless the filter needs one */
    _Atomic uint64_t answered_new, answered_seen, answered_invalid, asked, removed;
    _Atomic uint64_t lost_bits; /* the bits of expected_lost, a double */
} vidi__epoch;

/* The key that its items are hashed with; without the secret, if the function has none. */
static inline const vidi__hash_key *vidi__epoch_key(const vidi__epoch *epoch)
{
    return VIDI__UNLIKELY(epoch->whole_key) ? epoch->whole_key : (const vidi__hash_key *)(const void *)epoch->key;
}

static inline double vidi__epoch_lost(const vidi__epoch *epoch)
{
    uint64_t bits = atomic_load_explicit(&epoch->lost_bits, memory_order_relaxed);
    double lost;
    memcpy(&lost, &bits, sizeof lost);
    return lost;
}

/* The caller is alone. */
static inline void vidi__epoch_set_lost(vidi__epoch *epoch, double lost)
{
    uint64_t bits;
    memcpy(&bits, &lost, sizeof bits);
    atomic_store_explicit(&epoch->lost_bits, bits, memory_order_relaxed);
}

/* The note of a set (vidi_commit_note). It is never changed, only replaced. */
typedef struct vidi__note {
    size_t len; /* at least 1 */
    char bytes[];
} vidi__note;

typedef struct vidi__persistence vidi__persistence;

/* How far a set is of which some pieces have come; vidi_piece_state writes these numbers. */
typedef struct vidi__arrival {
    uint64_t generation; /* of all its pieces */
    uint64_t next;       /* position of the piece that comes next */
    uint64_t epoch;      /* of the set when the first piece came: after a rotation it takes no more */
    uint64_t done;       /* how much of the next piece was added, if there was no memory for all of it */
    uint64_t sum;        /* checksum of the piece that came last, or of that part */
} vidi__arrival;

struct vidi_set {
    vidi__memory memory;
    unsigned char key[VIDI_KEY_BYTES];
    uint32_t member;
    uint32_t invalid;          /* vidi_invalid_policy */
    vidi__mutex renewal;       /* held while a rotation replaces `now`, so that digests need not go in */
    vidi__canon_output output; /* what canon writes */
    unsigned process; /* vidi__fork_generation of the process that writes to its folder; 0: any process may use it */
    _Alignas(VIDI__CACHE_LINE) vidi__gate gate;
    vidi__mutex turns;         /* for adds that take turns; see lock.c for this and the next three fields */
    uint32_t lookups;          /* since the last add; under `turns` */
    bool in_turn;              /* while the gate is shared, adds take turns */
    _Atomic bool reading;      /* nobody adds, so lookups need not take turns */
    _Atomic bool uses_staging; /* of a set in a folder: adds are staged, and lookups must ask `persistence` too */
    bool frozen;               /* the filter is being written, so it must not change */
    bool partial;              /* the filter is mapped and cannot take everything that is committed */
    bool read_only;
    bool touch_later;     /* VIDI_TOUCH_LATER */
    vidi__mapped *mapped; /* where the contents are, if the set does not own them; else NULL */
    void (*unmap)(const void *bytes, uint64_t size); /* called at the end; NULL: the mapping is the caller's */
    const _Atomic bool *lost; /* becomes true when a part of the mapping cannot be read; NULL: not watched */
    const vidi__persistence *persistence;   /* NULL: the set lives in memory, and the next five fields are empty */
    struct vidi__durable *durable;          /* for persistence */
    pthread_mutex_t *turn;                  /* held by calls that must not overlap with a snapshot */
    vidi_set *previous_set;                 /* the previous epoch, if it was opened with this one; else NULL */
    uint64_t previous_first, previous_last; /* numbers that lib/durable knows the previous epoch by; 0: none */
    vidi__note *note;                       /* NULL: none */
    vidi__note *owner;                      /* vidi_access.owner of a set in a folder; NULL: none */
    vidi_canon *canon;                      /* never changes, so using it needs no lock */
    vidi__recipe recipe;
    vidi__epoch now;
    vidi__epoch *previous; /* NULL: not kept in memory */
    vidi_epoch_stats *history;
    uint64_t history_count, history_room;
    vidi__arrival *arrival;      /* the set is being received in pieces (pieces.c); NULL: it is whole */
    _Atomic uint64_t piece_seed; /* random, so that no other set has its cursors; 0: not drawn yet */
    uint64_t earlier_moves;      /* moves of past epochs' filters, rotations, and previous epochs that were dropped */
};

/* ---- work: what goes to a filter (work.c) ---- */

/* Number of items that are made at a time: enough for prefetching, few enough for the stack. */
#define VIDI__GROUP 128

/* Canonical URLs, or hashes of them that are known already, and where their verdicts go. */
typedef struct vidi__work {
    const vidi_str *urls;     /* NULL if there are hashes */
    const vidi__u128 *hashes; /* NULL if there are URLs */
    uint64_t epoch;           /* that the hashes belong to */
    size_t count;
    uint8_t *verdicts;          /* VIDI_UNTRIED on entry */
    uint64_t *marks;            /* where adds put their marks; NULL: nowhere */
    vidi_digest *digests;       /* for vidi_digest_batch: where the hashes of the URLs go; otherwise NULL */
    const vidi__epoch *hashing; /* for vidi_digest_batch: what they are hashed with */
    bool single;                /* the caller returns the verdict, so vidi_message() must explain VIDI_INVALID */
} vidi__work;

/* The part of the work from `done` on, at most `count` of it. */
vidi__work vidi__work_part(const vidi__work *work, size_t done, size_t count);

/* VIDI_ECANNOT if the work's hashes are of another epoch. */
int vidi__work_check(const vidi__epoch *epoch, const vidi__work *work);

/* How much of the work an epoch's filter takes at once. */
size_t vidi__work_group(const vidi__epoch *epoch, const vidi__work *work);

/*
 * Inserts the work into the filter, or looks it up there. The caller holds the set's lock. On an error each entry has
 * its verdict, or is VIDI_UNTRIED and the filter does not know it.
 */
int vidi__epoch_add(vidi__memory *memory, vidi__epoch *epoch, const vidi__work *work, vidi__tally *tally);
int vidi__epoch_lookup(vidi__memory *memory, const vidi__epoch *epoch, const vidi__work *work);

/*
 * Hashes a URL for the short way of a single add or lookup (vidi__filter_takes_one), and prefetches where the filter
 * will look for it; `writes` if it will probably change it. The caller holds the lock; the URL may be anything.
 */
static inline vidi__u128 vidi__epoch_fetch(const vidi__epoch *epoch, vidi_str url, bool writes)
{
    const vidi__kind *kind = epoch->filter->kind;
    vidi__u128 hash = vidi__hash(epoch->hash, vidi__epoch_key(epoch), url);
    if (kind->fetch_hash)
        kind->fetch_hash(epoch->filter, hash, writes);
    return hash;
}

/* Removes one URL, or counts it, given its canonical form or, for kinds that need nothing else, its hash alone. */
int vidi__epoch_remove(vidi__memory *memory, vidi__epoch *epoch, vidi_str url, const vidi__u128 *hash);
int vidi__epoch_times(vidi__memory *memory, const vidi__epoch *epoch, vidi_str url, const vidi__u128 *hash,
                      uint64_t *times);

/* Returns true if the hash is all that the filter needs of a URL. */
static inline bool vidi__epoch_needs_hash_only(const vidi__epoch *epoch)
{
    return epoch->filter->needs.what == VIDI__NEED_HASH;
}

/* Items of a group of URLs, and the memory of their segments and features (items.c). */
typedef struct vidi__items {
    vidi__item list[VIDI__GROUP];
    vidi__memory *memory;
    vidi__part *parts;
    size_t part_count;
    char *buffer;
    size_t buffer_bytes;
} vidi__items;

int vidi__items_make(vidi__items *items, vidi__memory *memory, const vidi__epoch *epoch, const vidi_str *urls,
                     size_t n);
/* Items of hashes alone, for kinds that need nothing else. */
void vidi__items_of_hashes(vidi__items *items, vidi__memory *memory, const vidi__u128 *hashes, size_t n);
void vidi__items_free(vidi__items *items);

/* VIDI_EARGUMENT if the URL has a length but its pointer is NULL. */
int vidi__items_check(vidi_str url);

/* ---- chunks: what comes from callers (canonicalize.c) ---- */

/*
 * The entries of a chunk that go on to the filter: all but those left out, which are not URLs. The filter's answers are
 * written without gaps at the front of the caller's array; vidi__put_back moves them to where they belong.
 */
typedef struct vidi__selection {
    size_t taken;                      /* entries of the caller's arrays in this chunk */
    size_t left_out;                   /* of them, how many do not go on */
    uint16_t places[VIDI__HASHES_MAX]; /* of entries that are not URLs, in ascending order */
} vidi__selection;

/* Moves the work's verdicts, digests and marks to their places. The places left out are the caller's to fill. */
void vidi__put_back(const vidi__selection *selection, const vidi__work *work);

/* What to do with a chunk: add it, look it up, or hash it. */
typedef int vidi__chunk_fn(vidi_set *set, const vidi__work *work);

/*
 * Brings the URLs of a batch into the set's canonical form, chunk by chunk, and calls `fn` for each chunk. No lock is
 * held meanwhile. `batch` has the caller's URLs and result arrays. Invalid lines are kept, dropped or rejected as the
 * set's policy says, and counted in `counter` of the current epoch; NULL: `fn` counts them.
 */
int vidi__for_chunks(vidi_set *set, const vidi__work *batch, vidi__chunk_fn *fn, _Atomic uint64_t *counter);

/* Return true if the URL is in the set's canonical form already. The second is faster for the usual forms. */
bool vidi__is_in_form(const vidi_set *set, vidi_str url);

static inline bool vidi__is_canonical(const vidi_set *set, vidi_str url)
{
    if (VIDI__LIKELY(set->output == VIDI__OUTPUT_STANDARD && url.ptr))
        return vidi__url_is_canonical(url);
    return (set->output == VIDI__OUTPUT_BYTES && url.ptr) || vidi__is_in_form(set, url);
}

/* The same for one URL, for calls whose answer is not a verdict. VIDI_INVALID if it is not a URL and is not kept. */
typedef int vidi__single_fn(vidi_set *set, vidi_str url, uint64_t *answer);
int vidi__for_single(vidi_set *set, vidi_str url, vidi__single_fn *fn, uint64_t *answer);

/* The chunk function of all lookups (lookup.c). */
vidi__chunk_fn vidi__lookup_work;

/*
 * Returns true if this text of the set is a line that was kept although it is not a URL, and takes the mark of such
 * lines off *text.
 */
bool vidi__is_kept_line(const vidi_set *set, vidi_str *text);

/* ---- what a set does differently when it lives in a folder ---- */

/* A change of the whole set that must become durable. */
typedef enum vidi__change {
    VIDI__MERGED,           /* another set was merged into this one; turn, no lock */
    VIDI__ROTATED,          /* set->now is the next epoch, and the last one is gone; turn and exclusive lock */
    VIDI__ROTATED_KEEPING,  /* the same, and the last epoch is kept as the previous one */
    VIDI__PREVIOUS_DROPPED, /* the previous epoch is not needed any more; turn and exclusive lock; never fails */
} vidi__change;

/*
 * The operations of a set that keeps more than its filter. lib/durable installs this table. What it only has to tell
 * is in the set itself: `turn`, `frozen`, `uses_staging`, `partial`, `previous_set`. The comment at each function says
 * which lock the caller holds.
 */
struct vidi__persistence {
    /* Adds canonical URLs or hashes, group by group, and waits for the disk where the policy says so; no lock. */
    int (*add)(vidi_set *set, const vidi__work *work);
    /* Adds one canonical URL if that needs neither waiting nor staging, otherwise returns VIDI_UNTRIED; no lock. */
    int (*add_one)(vidi_set *set, vidi_str url);
    /* Removes a canonical URL; no lock. */
    int (*remove)(vidi_set *set, vidi_str url);
    /*
     * Called if `uses_staging`: corrects the filter's verdicts by what is not in the filter yet. If `times` is not
     * NULL, corrects the filter's count of the one URL instead. Shared lock.
     */
    int (*lookup)(vidi_set *set, const vidi__work *work, uint64_t *times);
    /* Brings what was added to the log, so that what is done next comes after it there; the caller is alone. */
    void (*to_log)(vidi_set *set);
    /* The mark after everything answered so far; 0 unless the caller commits. No lock. */
    uint64_t (*mark)(vidi_set *set);
    /*
     * Applies everything committed to the filter, unless that is mapped; turn and exclusive lock. On error part of it
     * stays staged. If the lock is shared and there is something to apply, returns VIDI_EBUSY without a message.
     */
    int (*catch_up)(vidi_set *set);
    /*
     * Lists what is committed but not in the filter; exclusive lock, or shared if the kind is not concurrent. Without
     * a visitor, only says whether that is possible: VIDI_ECANNOT if there are removals.
     */
    int (*iterate)(const vidi_set *set, vidi_visitor visitor, void *context);
    /*
     * Inserts into another set what is committed here but not in the filter; both locked. If `missing` is not NULL,
     * adds to it how many URLs the other filter would take, and inserts nothing.
     */
    int (*merge_into)(vidi_set *into, const vidi_set *from, uint64_t *missing);
    /* Verifies what is committed but not in the filter; no lock. */
    int (*verify)(const vidi_set *set);
    /* Makes a change durable. On error a rotation is undone. */
    int (*changed)(vidi_set *set, vidi__change change);
    /* Corrects the count, and fills in the fields about log and snapshot; shared lock. */
    void (*stat)(vidi_set *set, vidi_stats *stats);
    /* Ends everything and frees set->durable. */
    void (*close)(vidi_set *set);
};

/* VIDI_ECANNOT if the set has committed something that its filter, which is mapped, cannot take. Any lock. */
int vidi__set_whole(const vidi_set *set);

/* ---- making, reading and writing sets ---- */

/* An empty set without an epoch. */
int vidi__set_alloc(vidi_set **set, const vidi_access *access);

/* Makes an empty set in memory: vidi_create without a path. */
int vidi__set_create(vidi_set **set, const vidi_options *options, const vidi_access *access);

/* Copies an access, or takes the defaults if it is NULL, and checks it. */
int vidi__access_take(vidi_access *mine, const vidi_access *access);

/* Gives the set its canonical form, which it owns from then on. */
void vidi__set_canon(vidi_set *set, vidi_canon *canon);

/* The error for a set that belongs to a parent of this process. */
int vidi__set_is_elsewhere(void);

/* VIDI_ECANNOT in a child of the process that has the set open for writing. To be called before anything is locked. */
static inline int vidi__set_here(const vidi_set *set)
{
    bool here = !set->process || set->process == atomic_load_explicit(&vidi__fork_generation, memory_order_relaxed);
    return VIDI__LIKELY(here) ? VIDI_OK : vidi__set_is_elsewhere();
}

/* The error for a set that cannot be changed. */
int vidi__set_is_read_only(void);

/* VIDI_ECANNOT if the set is read-only, or not this process's. */
static inline int vidi__set_writable(const vidi_set *set)
{
    VIDI__TRY(vidi__set_here(set));
    return VIDI__LIKELY(!set->read_only) ? VIDI_OK : vidi__set_is_read_only();
}

/* What is written besides the set itself. */
typedef struct vidi__contents {
    const vidi__note *note;      /* NULL: none */
    const vidi__note *owner;     /* vidi_access.owner; NULL: none */
    const vidi__epoch *previous; /* NULL: not written */
    const vidi_set *previous_in; /* the set that `previous` belongs to (vidi__set_previous) */
} vidi__contents;

/*
 * What vidi_write writes, in a frame with this generation, and without a frame. The filter must not change meanwhile.
 */
int vidi__set_write(const vidi_set *set, vidi_sink sink, void *context, uint64_t generation,
                    const vidi__contents *contents);
int vidi__set_write_to(const vidi_set *set, vidi__writer *writer, const vidi__contents *contents);

/* Makes a set in memory from a stream: vidi_read without a path. `ahead`: a thread may call the source. */
int vidi__set_read(vidi_set **set, vidi_source source, void *context, uint64_t stream_bytes, const vidi_access *access,
                   bool ahead);
/* Reads the payload of a stream into a set without an epoch. */
int vidi__set_read_from(vidi_set *set, vidi__reader *reader);

/* Forgets how far the pieces of the set have come. */
void vidi__arrival_free(vidi_set *set);

/* Makes a note; *note is NULL for an empty one. */
int vidi__note_make(vidi__memory *memory, vidi_str bytes, vidi__note **note);
void vidi__note_free(vidi__memory *memory, vidi__note *note);

/*
 * Makes a set over a stream in memory, such as a mapped file, which must stay there unchanged as long as the set. Such
 * a set can be asked, listed, counted, written and merged from; changing it is VIDI_ECANNOT. Opening it looks at a
 * small part of the bytes. The others may be anything: they do no harm, but answers mean nothing before they were
 * verified. Merging verifies the contents.
 */
int vidi__set_map(vidi_set **set, const void *bytes, uint64_t size, const vidi_access *access);

/* Verify the checksums of some blocks, the contents, and all of both. VIDI_EFORMAT says what is wrong. */
uint64_t vidi__set_blocks(const vidi_set *set);
int vidi__set_verify_blocks(const vidi_set *set, uint64_t from, uint64_t count);
int vidi__set_verify_contents(const vidi_set *set);
int vidi__set_verify(const vidi_set *set);

/* The error for a set whose mapped file could not be read. */
int vidi__set_is_lost(void);

/*
 * To be called when something was read from the set, before the result is believed: `code`, or VIDI_EIO if a part of a
 * mapped file could not be read.
 */
static inline int vidi__set_intact(const vidi_set *set, int code)
{
    return VIDI__UNLIKELY(set->lost && atomic_load_explicit(set->lost, memory_order_relaxed)) ? vidi__set_is_lost()
                                                                                              : code;
}

/* Must be called by a thread that is alone when set->now has changed, or is no longer frozen: gets its filter ready. */
void vidi__set_ready(vidi_set *set);

/*
 * Copies the fields that make a recipe from the options, where they are not zero, and checks the result. After an error
 * the recipe may still only be freed.
 */
int vidi__recipe_take(vidi__recipe *recipe, vidi__memory *memory, const vidi_options *options);

/* Replaces the parameters by a copy of the text. An error leaves the old ones. */
int vidi__recipe_set_params(vidi__recipe *recipe, vidi__memory *memory, const char *params);
const char *vidi__recipe_params(const vidi__recipe *recipe);
int vidi__recipe_copy(vidi__recipe *to, vidi__memory *memory, const vidi__recipe *from);
void vidi__recipe_free(vidi__recipe *recipe, vidi__memory *memory);

/* ---- epochs (epoch.c) ---- */

/* Makes the filter and keys of epoch `number` by a recipe; contents come from the reader unless it is NULL. */
int vidi__epoch_make(vidi_set *set, const vidi__recipe *recipe, uint64_t number, vidi__reader *reader,
                     vidi__epoch *epoch);
void vidi__epoch_free(vidi__epoch *epoch, vidi__memory *memory);
/* Gives an epoch the key of another one. */
int vidi__epoch_copy_key(vidi__epoch *epoch, vidi__memory *memory, const vidi__epoch *from);
/* Makes the current epoch the previous one, of which there must be none; the set then has no current epoch. */
int vidi__set_keep_now(vidi_set *set);
/* Frees the previous epoch in memory; the caller holds the lock exclusively. */
void vidi__set_drop_previous(vidi_set *set);

/* The recipe that makes a filter of the same shape as this one. Its parameters are in the caller's buffer. */
int vidi__recipe_of_filter(vidi__recipe *recipe, const vidi__filter *filter, char params[VIDI__DESCRIPTION]);

/*
 * The previous epoch, and the set that it belongs to: this one, or previous_set. NULL if none is kept. Any lock.
 */
const vidi__epoch *vidi__set_previous(const vidi_set *set, const vidi_set **owner);
int vidi__history_add(vidi_set *set, const vidi_epoch_stats *record);

/* Adds to the expected losses, which never fall below 0; the caller is alone. */
void vidi__epoch_lose(vidi__epoch *epoch, double more);

/* What takes a list of a set's contents: entry by entry, or `hashes` in blocks where the kind can (filters/filter.h). */
typedef struct vidi__lister {
    vidi_visitor visitor;
    vidi__take_hashes *hashes; /* may be NULL */
    void *context;
} vidi__lister;

/* vidi_iterate, for a set that is here. */
int vidi__set_list(const vidi_set *set, const vidi__lister *to);

/* The error for a kind that lacks a capability. */
int vidi__cannot(const vidi_set *set, const char *what);

/* ---- merging (merge.c) ---- */

/* VIDI_EDIFFERS or VIDI_ECANNOT if `from` cannot be merged into the other set. */
int vidi__merge_fits(const vidi_set *into, const vidi_set *from);
/* The highest error rate that a merge may leave in a set of this recipe; infinity if the user asked for no rate. */
double vidi__merge_rate_most(const vidi__recipe *recipe);
/* Counts the URLs that are in the set's log but not in its filter. */
int vidi__merge_count_logged(const vidi_set *set, uint64_t *urls);
/* What a merge adds to a set. */
typedef struct vidi__merge_growth {
    uint64_t urls;    /* that the other set has */
    int64_t joined;   /* of those in its filter, how many are new to the set, as its count says */
    int64_t inserted; /* of those in its log, how many were answered "new" when they were inserted */
    double fp;        /* the probability that such a URL was answered "seen" falsely */
} vidi__merge_growth;

/*
 * The expected losses of a set after a merge, from those of both sets before it. They grow by those of the other set,
 * in proportion to how many of its URLs are new: a page lost among URLs that both sets have met was found by one of
 * them, or is counted already. So merging a set again adds nothing. The result is never less than what either set
 * reported.
 */
double vidi__merge_lost(double into, double from, vidi__merge_growth growth);
/* The error for a merge that would leave this rate. */
int vidi__merge_refuse(double merged, const vidi__recipe *recipe);

/* ---- locks (lock.c) ---- */

void vidi__lock_shared(const vidi_set *set);
/* Returns the slot that this thread counts in until it unlocks. */
vidi__slot *vidi__lock_alone(const vidi_set *set);
/* For callers that only read, but need the filter to stand still: alone if adds run in parallel. */
void vidi__lock_still(const vidi_set *set);
/*
 * The same, and unless the filter is mapped, everything committed is brought to it first. The caller holds `turn`. The
 * set is locked even after an error.
 */
int vidi__lock_whole(const vidi_set *set);
void vidi__unlock(const vidi_set *set);

/* Returns true if the caller, which holds the lock, is alone in the set. */
static inline bool vidi__set_is_alone(const vidi_set *set)
{
    return !set->gate.shared;
}

/* For adds and lookups: they get the slot to count in, and give it back with the number of calls that they were. */
vidi__slot *vidi__lock_to_add_slowly(vidi_set *set, vidi__slot *slot);
vidi__slot *vidi__lock_to_look_slowly(const vidi_set *set, vidi__slot *slot);
void vidi__unlock_slowly(vidi_set *set, vidi__slot *slot, size_t calls);

static inline vidi__slot *vidi__lock_to_add(vidi_set *set)
{
    vidi__slot *slot = vidi__gate_enter(&set->gate);
    return VIDI__LIKELY(slot && !set->in_turn) ? slot : vidi__lock_to_add_slowly(set, slot);
}

static inline vidi__slot *vidi__lock_to_look(const vidi_set *set)
{
    vidi__slot *slot = vidi__gate_enter(&((vidi_set *)set)->gate);
    return VIDI__LIKELY(slot && !set->in_turn) ? slot : vidi__lock_to_look_slowly(set, slot);
}

static inline void vidi__unlock_slot(const vidi_set *set, vidi__slot *slot, size_t calls)
{
    vidi_set *self = (vidi_set *)set;
    if (VIDI__LIKELY(vidi__set_is_alone(set) && !set->gate.exclusive))
        vidi__gate_leave(&self->gate, slot);
    else
        vidi__unlock_slowly(self, slot, calls);
}

/* What was answered in an epoch of this set, by all threads; exact if the caller is alone. */
typedef struct vidi__counts {
    uint64_t fresh, seen, invalid, asked, removed;
    double lost;
} vidi__counts;

vidi__counts vidi__counts_of(const vidi_set *set, const vidi__epoch *epoch);

static inline void vidi__slot_lose(vidi__slot *slot, double more)
{
    double lost = atomic_load_explicit(&slot->lost, memory_order_relaxed) + more;
    atomic_store_explicit(&slot->lost, lost, memory_order_relaxed);
}

/* Counts adds. */
static inline void vidi__slot_count(vidi__slot *slot, const vidi__tally *tally)
{
    vidi__counter_add(&slot->fresh, tally->fresh);
    vidi__counter_add(&slot->seen, tally->seen);
    vidi__slot_lose(slot, tally->lost);
}

/* Counts one add. */
static inline void vidi__slot_count_one(vidi__slot *slot, vidi__added added)
{
    slot->repeats = added.code == VIDI_SEEN;
    if (added.code == VIDI_SEEN) {
        vidi__counter_add(&slot->seen, 1);
    } else if (added.code == VIDI_NEW) {
        vidi__counter_add(&slot->fresh, 1);
        vidi__slot_lose(slot, added.lost);
    }
}

/* Around calls that must not overlap with a snapshot. Taken before the lock; nothing to do for sets in memory. */
static inline void vidi__turn_begin(const vidi_set *set)
{
    if (set->turn)
        pthread_mutex_lock(set->turn);
}

static inline void vidi__turn_end(const vidi_set *set)
{
    if (set->turn)
        pthread_mutex_unlock(set->turn);
}

/* Returns true if lookups must ask `persistence` too. Any lock. */
static inline bool vidi__set_uses_staging(const vidi_set *set)
{
    return atomic_load_explicit(&set->uses_staging, memory_order_relaxed);
}

#endif
