/*
 * The interface that every kind of filter implements.
 *
 * A kind is a table of functions over vidi__filter, its base struct. It works on items, which the set makes from URLs,
 * and it declares which parts of an item it needs. A kind knows nothing about URL syntax, files, epochs or (unless it
 * is VIDI_IS_CONCURRENT) threads. Two epochs differ only in the seed that their filters are created with.
 *
 * Borrowed memory: a filter that is loaded from a mapped file borrows its contents (base/stream.h) without examining
 * them. They may be anything, so has, times, iterate, stat, save and merge (as the source) must be safe on them and
 * must end. No other function is called on such a filter, except `verify`, which reports what loading a copy would have
 * reported.
 *
 * Locking: the set never calls add, remove, merge or step of a filter in parallel with another of its functions. It
 * calls has, times, iterate, save and stat in parallel with each other. Only a concurrent kind has its add called in
 * parallel with add, has and times. A concurrent filter protects itself; while its caller has the set alone
 * (vidi__filter_is_alone), nothing runs in parallel, and it can do without.
 */
#ifndef VIDI_FILTERS_FILTER_H
#define VIDI_FILTERS_FILTER_H

#include "base/gate.h"
#include "base/params.h"
#include "base/stream.h"
#include "hash/positions.h"

/* The largest capacity that a set may have. */
#define VIDI__CAPACITY_MAX (UINT64_C(1) << 62)

/* The error rate of a set for which the user gives neither a rate nor a size. */
#define VIDI__DEFAULT_ERROR 1e-6

/* The parts of an item that a kind may need. */
enum {
    VIDI__NEED_HASH = 1,     /* the 128-bit keyed hash */
    VIDI__NEED_BYTES = 2,    /* the bytes of the URL */
    VIDI__NEED_SEGMENTS = 4, /* the '/'-separated segments, as parts */
    VIDI__NEED_FEATURE = 8   /* the feature named by `feature`, as a part */
};

typedef struct vidi__needs {
    unsigned what;         /* VIDI__NEED_… flags; every part has its bytes, and its hash if VIDI__NEED_HASH is set */
    uint64_t segments_max; /* further segments are joined into the last one; 0: no limit */
    bool strip_scheme;     /* remove the scheme from the first segment */
    char feature[16];
} vidi__needs;

/* What a filter works on: a URL, with those of its segments and features that the kind needs. */
typedef struct vidi__item {
    vidi__part url;
    const vidi__part *segments;
    size_t segment_count;
    vidi__part feature;
} vidi__item;

typedef struct vidi__kind vidi__kind;
typedef struct vidi__filter vidi__filter;
typedef struct vidi__union vidi__union;

/* What a filter is created from. */
typedef struct vidi__config {
    vidi__memory *memory;
    vidi__params *params;
    uint64_t capacity; /* 0: unknown */
    double error;      /* 0: unknown */
    vidi__seed seed;
    const vidi__hash_fn *item_hash;
    const vidi__hash_key *item_key; /* of item_hash; set if there is a reader, and used only during create */
    /* If not NULL, contents are loaded from here as save wrote them; params are those of describe. */
    vidi__reader *reader;
    uint64_t count;   /* the count that was saved; trusted if the contents are borrowed */
    unsigned depth;   /* how many filters this one is nested in */
    bool is_member;   /* other filters with other seeds get the same hashes: this is a member of a spatial filter */
    bool touch_later; /* memory is allocated in small pieces when it is first written to (VIDI_TOUCH_LATER) */
} vidi__config;

/* The base of every filter: a kind's own struct begins with it. */
struct vidi__filter {
    const vidi__kind *kind;
    vidi__memory *memory;
    const vidi__hash_fn *item_hash;
    vidi__needs needs;
    uint32_t can;
    uint32_t fp_meaning;
    bool keyed;            /* every hash function it uses is keyed, so attackers cannot aim */
    bool stores_every_add; /* an add is stored even if its verdict is SEEN */
    bool count_known;      /* create has determined the count from the contents */
    bool is_member;        /* as in vidi__config */
    uint64_t combination;  /* not 0: there are no salts, and only this combination of functions distinguishes epochs */
    uint64_t capacity;     /* 0: it grows */
    double error;          /* at capacity; 0 if none was requested */
    vidi__gate *gate; /* through which several threads come; NULL: no two come at a time if one changes something */
    uint64_t member_salts[2]; /* make the hashes of a member differ from those of other members */
    _Atomic uint64_t count;   /* URLs in it */
    /* How often something was taken out, or has moved to another position (pieces.h). Written under exclusive lock. */
    uint64_t moves;
    const vidi__positions *positions; /* with the hash functions of a kind that has k positions; otherwise NULL */
};

typedef struct vidi__filter_stats {
    uint64_t bytes;
    double fill;
    uint32_t stages;
    uint32_t k; /* bits or counters that a URL sets in a stage; 0 if the kind sets none */
    uint64_t ambiguous;
    uint64_t lines_touched;
} vidi__filter_stats;

/* The numbers of a plan request; 0 is unknown. A kind reads those parameters that change its size. */
typedef struct vidi__want {
    uint64_t urls, memory;
    double error, lost;
    unsigned k;
    double multiplier;
    double url_bytes;
    unsigned members; /* independent filters that must all say "seen"; error and lost are for all of them together */
    bool bound;       /* the error rate is only an upper bound, so all URLs may be answered NEW */
    vidi__params *params;
} vidi__want;

/* A kind's answer to a plan request. */
typedef struct vidi__planned {
    uint64_t urls, bytes;
    double error, lost;
    double lines;     /* cache lines that adding a new URL touches, averaged from empty to full */
    unsigned k;       /* 0 if the kind has none */
    char params[128]; /* only those that set the size: "capacity=…,m=…,k=…" */
} vidi__planned;

/* What one add gives: VIDI_NEW, VIDI_SEEN or an error; and for VIDI_NEW, the pages lost by expectation. */
typedef struct vidi__added {
    int code;
    double lost;
} vidi__added;

/* Totals of a batch of adds. */
typedef struct vidi__tally {
    uint64_t fresh, seen;
    double lost;
} vidi__tally;

/* A run of a filter's contents that is being written (pieces.h). */
typedef struct vidi__run_out {
    vidi__writer *writer;
    uint64_t room; /* bytes that the run may take */
    unsigned bits; /* of a position */
    uint64_t at;   /* where the run begins; in the end, where the next one begins, or 2^bits: nothing is left */
} vidi__run_out;

/* One that is being read. */
typedef struct vidi__run_in {
    vidi__reader *reader;      /* over memory: it lends */
    const vidi__hash_key *key; /* of the items' hash */
    bool apply;                /* false: the run is checked, and the filter stays as it is */
    bool counted;              /* the kind has counted the URLs itself */
    uint64_t done;             /* how many entries of a list an earlier try has added, before there was no memory */
} vidi__run_in;

#define VIDI__HASHES_MAX 2048

/*
 * Takes a block of at most VIDI__TAKE_MOST hashes that a filter lists, as they are kept, and how often each is there
 * (NULL: once). It may change the block. A result other than 0 ends the list and is returned.
 */
#define VIDI__TAKE_MOST 512
typedef int vidi__take_hashes(void *context, uint64_t *hashes, const uint64_t *times, unsigned n);

struct vidi__kind {
    const char *name;
    const char *summary;
    uint32_t can;

    int (*create)(vidi__filter **filter, const vidi__config *config);
    void (*destroy)(vidi__filter *filter);

    /* VIDI_NEW, VIDI_SEEN, or an error, which leaves the filter unchanged. */
    int (*add)(vidi__filter *filter, const vidi__item *item);
    int (*has)(const vidi__filter *filter, const vidi__item *item);
    /*
     * Batch versions of add and has for up to VIDI__HASHES_MAX hashes, or NULL. They are called only for filters that
     * need nothing but the hash (vidi__filter_takes_hashes). After an error each item either has its verdict or was not
     * touched.
     */
    int (*add_hashes)(vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts, vidi__tally *tally);
    int (*has_hashes)(const vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts);
    /*
     * The shortest way for one hash, without memory in between. Both are NULL unless the kind has the two above, and
     * may be NULL even then. They are called only for filters that need nothing but the hash (vidi__filter_takes_one).
     */
    vidi__added (*add_hash)(vidi__filter *filter, vidi__u128 hash);
    int (*has_hash)(const vidi__filter *filter, vidi__u128 hash);
    /*
     * Prefetches what one of the two above will read and, if it `writes`, what only one core can have then. It may be
     * called for a hash that is then not used. NULL if the kind has none.
     */
    void (*fetch_hash)(const vidi__filter *filter, vidi__u128 hash, bool writes);
    /* Probability that a URL that was never added is now answered VIDI_SEEN. */
    double (*fp_now)(const vidi__filter *filter);
    void (*stat)(const vidi__filter *filter, vidi__filter_stats *stats);
    /*
     * One of the `stages` of `stat`, for kinds that have several: capacity, count, bytes, error and k. NULL if there is
     * always one. For parts that are filters themselves, see vidi__filter_stage_of.
     */
    void (*stage)(const vidi__filter *filter, uint64_t index, vidi_stage_stats *stats);
    /* Writes all parameters, such that create makes the same shape from them. */
    void (*describe)(const vidi__filter *filter, vidi__text *text);
    /* Writes the names of the hash functions. NULL: they are those of `positions`, or item_hash alone. */
    void (*hash_names)(const vidi__filter *filter, vidi__text *text);
    int (*save)(const vidi__filter *filter, vidi__writer *writer);
    /*
     * Save a run, which must get at least one position further, and load one. Loading may fail with VIDI_EFORMAT only
     * while it checks. If it finds no memory, the caller tries the same run again, with `done` as it has become.
     */
    int (*save_run)(const vidi__filter *filter, vidi__run_out *run);
    int (*load_run)(vidi__filter *filter, vidi__run_in *run);
    /* Verifies borrowed contents: VIDI_OK if loading a copy would have succeeded. NULL if the kind never borrows. */
    int (*verify)(const vidi__filter *filter);
    /* VIDI_EOPTION, with the reason, if this kind cannot meet the request. */
    int (*plan)(const vidi__want *want, vidi__planned *planned);

    /* The following are NULL if the kind lacks the capability. */
    int (*remove)(vidi__filter *filter, const vidi__item *item);
    int (*times)(const vidi__filter *filter, const vidi__item *item, uint64_t *times);
    int (*merge)(vidi__filter *into, const vidi__filter *from);
    /*
     * Tells what fp_now of `into` would be after a merge and `more` URLs added to the result. Changes nothing. NULL if
     * the kind is exact.
     */
    int (*fp_merged)(const vidi__filter *into, const vidi__filter *from, uint64_t more, double *fp);
    /*
     * Only for kinds that keep the URLs: merges from any such kind, by inserting its URLs. Their hashes may have
     * another key or another hash function; `key` is the key of `into`.
     */
    int (*merge_urls)(vidi__filter *into, const vidi__filter *from, const vidi__hash_key *key);
    /*
     * For kinds that can write the union of filters without making it (union.h): fills in sizes[].count and fp, after
     * checking that all parts have the same shape; and writes what `save` would write of the union.
     */
    int (*unite)(vidi__union *all);
    int (*save_union)(const vidi__union *all, vidi__writer *writer);
    int (*iterate)(const vidi__filter *filter, vidi_visitor visitor, void *context);
    /*
     * The same in blocks, for kinds that keep hashes: the upper halves of what iterate tells, whose first 60 bits tell
     * all hashes apart. NULL if the kind has no faster way.
     */
    int (*list_hashes)(const vidi__filter *filter, vidi__take_hashes *take, void *context);
    /* What iterate tells of an item's hash; NULL: all of it. */
    vidi__u128 (*kept_hash)(const vidi__filter *filter, vidi__u128 hash);
    /*
     * For concurrent kinds: gets ready for several threads, which come through this gate; called by one that is alone,
     * perhaps again. If it fails, adds take turns. NULL if there is nothing to do.
     */
    int (*share)(vidi__filter *filter, vidi__gate *gate);
    int (*step)(vidi__filter *filter, uint64_t budget_ns); /* 1: more is left to do */
    bool step_is_concurrent;                               /* step may run in parallel with add and has */
    void (*expect)(vidi__filter *filter, uint64_t urls);   /* a hint, which may come while other threads add */
};

/* The kinds by name and by index, the default first. NULL if there is none. */
const vidi__kind *vidi__kind_find(vidi_str name);
const vidi__kind *vidi__kind_at(size_t index);
int vidi__kind_unknown(vidi_str name);

/* How deep kinds may be nested. */
#define VIDI__DEPTH_MAX 3

/*
 * VIDI_EFORMAT if the two filters cannot be parts of one filter and answer for the same items: damaged data can make
 * them differ in kind, needs or capabilities.
 */
int vidi__filter_alike(const vidi__filter *a, const vidi__filter *b);

/* Creates a filter, and checks that every parameter was used. */
int vidi__filter_create(vidi__filter **filter, const vidi__kind *kind, const vidi__config *config);
void vidi__filter_destroy(vidi__filter *filter);

/* Allocates a kind's struct of `bytes` bytes, zeroed, with its base filled in. */
int vidi__filter_alloc(void *filter, size_t bytes, const vidi__kind *kind, const vidi__config *config);

/*
 * For kinds that use the item's hash unchanged: reads the parameter `hash`, by which the set has chosen the function,
 * and rejects 32-bit functions.
 */
int vidi__filter_check_hash(const vidi__config *config);

/*
 * For kinds that contain other filters: reads the parameter `inner` (classic by default), and writes the parameters of
 * an inner filter into the description of the outer one.
 */
int vidi__filter_inner(const vidi__kind **inner, vidi__params *params);
void vidi__filter_describe_inner(const vidi__filter *inner, const char *taken, vidi__text *text);

/* Buffer size for describe. vidi__filter_create rejects a filter whose description is longer. */
#define VIDI__DESCRIPTION VIDI_PARAMS_ROOM

/* Process items in order and stop at the first error. The verdicts of items that were not reached stay unchanged. */
int vidi__filter_add(vidi__filter *filter, const vidi__item *items, size_t n, uint8_t *verdicts, vidi__tally *tally);
int vidi__filter_has(const vidi__filter *filter, const vidi__item *items, size_t n, uint8_t *verdicts);

/* Returns true if the filter takes hashes alone, many at once. */
static inline bool vidi__filter_takes_hashes(const vidi__filter *filter)
{
    return filter->kind->add_hashes && filter->needs.what == VIDI__NEED_HASH;
}

/* Returns true if the filter takes a single hash, the shortest way. */
static inline bool vidi__filter_takes_one(const vidi__filter *filter)
{
    return filter->kind->add_hash && filter->needs.what == VIDI__NEED_HASH;
}

/*
 * The same for hashes, for a filter that needs nothing else: with the kind's batch functions, or one by one if it has
 * none. After an error each hash either has its verdict or was not touched.
 */
int vidi__filter_add_hashes(vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts,
                            vidi__tally *tally);
int vidi__filter_has_hashes(const vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts);

/* Writes the names of the hash functions. */
void vidi__filter_hash_names(const vidi__filter *filter, vidi__text *text);

/* Number `index` of the stages that `stat` counts. A kind without stages has one: the filter itself. */
void vidi__filter_stage(const vidi__filter *filter, uint64_t index, vidi_stage_stats *stats);

/* The same for a filter that is made of others: the stages of all parts, one part after the other. */
void vidi__filter_stage_of(vidi__filter *const *parts, unsigned count, uint64_t index, vidi_stage_stats *stats);

/*
 * Save a filter with its kind and parameters, and load it again. The caller sets memory, seed, item_hash, item_key and
 * reader of config.
 */
int vidi__filter_save(const vidi__filter *filter, vidi__writer *writer);
int vidi__filter_load(vidi__filter **filter, const vidi__config *config);

/*
 * Verifies the contents of a filter that was loaded from a mapping. Other filters were verified when they were loaded.
 */
int vidi__filter_verify(const vidi__filter *filter);

/*
 * Turns an option error during loading into VIDI_EFORMAT: the option was valid when it was saved, so the data is
 * damaged.
 */
int vidi__blame_data(int code);

/* VIDI_EDIFFERS, with a message that names the difference, unless the two have the same kind and shape. */
int vidi__filter_same_shape(const vidi__filter *a, const vidi__filter *b);

extern const vidi__kind vidi__kind_fingerprint, vidi__kind_blocked, vidi__kind_scalable, vidi__kind_classic,
    vidi__kind_counting, vidi__kind_multilayer, vidi__kind_eigen, vidi__kind_spatial, vidi__kind_hashset,
    vidi__kind_sorted, vidi__kind_list;

/*
 * For kinds that use the item's hash unchanged: the hash itself, or, in a member of a spatial filter, a hash of its
 * own. Both halves influence the upper half, which is all that some kinds keep. So hashes that agree in the upper half
 * in one member need not agree in the next.
 */
static inline vidi__u128 vidi__filter_member_hash(const vidi__filter *filter, vidi__u128 hash)
{
    if (VIDI__LIKELY(!filter->is_member))
        return hash;
    uint64_t lo = vidi__mix(hash.lo ^ filter->member_salts[0]);
    return (vidi__u128){lo, vidi__mix((hash.hi ^ filter->member_salts[1]) + lo)};
}

/* The same for a batch: converts as many of n hashes as fit into `own`, and returns how many. */
#define VIDI__MEMBER_HASHES_MAX 128
size_t vidi__filter_member_hashes(const vidi__filter *filter, const vidi__u128 *hashes, size_t n, vidi__u128 *own);

/*
 * Pages lost per NEW answer when a false "seen" has probability p. If p is only a bound it may reach 1 although the
 * answer is NEW; the limit keeps the sum finite.
 */
static inline double vidi__filter_lost(double p)
{
    const double most = 0.999;
    return p < most ? p / (1 - p) : most / (1 - most);
}

/* Counts one add, unless it failed. */
static inline void vidi__tally_add(vidi__tally *tally, vidi__added added)
{
    tally->fresh += added.code == VIDI_NEW;
    tally->seen += added.code == VIDI_SEEN;
    tally->lost += added.lost;
}

/* What vidi_stats.can tells. */
static inline uint32_t vidi__filter_can(const vidi__filter *filter)
{
    return filter->can | (filter->stores_every_add ? (uint32_t)VIDI_STORES_EVERY_ADD : 0);
}

static inline uint64_t vidi__filter_count(const vidi__filter *filter)
{
    return atomic_load_explicit(&filter->count, memory_order_relaxed);
}

/* Returns true if no other thread changes this filter meanwhile, so that no locks are needed. */
static inline bool vidi__filter_is_alone(const vidi__filter *filter)
{
    return !filter->gate || !filter->gate->shared;
}

/* Adds to a counter that only one thread writes at a time, but others may read. */
static inline void vidi__counter_add(_Atomic uint64_t *counter, uint64_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more, memory_order_relaxed);
}

/* A thread that shares the filter keeps its URLs to itself until they are this many, and a 2^-14 of all. */
#define VIDI__COUNT_KEPT 64

/*
 * Counts URLs. Among other threads, vidi__filter_count lags behind by what each of them keeps to itself, until
 * somebody has the set alone.
 */
static inline void vidi__filter_add_count(vidi__filter *filter, int64_t more)
{
    if (VIDI__LIKELY(vidi__filter_is_alone(filter))) {
        vidi__counter_add(&filter->count, (uint64_t)more);
        return;
    }
    _Atomic uint64_t *mine = &vidi__gate_mine(filter->gate)->count;
    vidi__counter_add(mine, (uint64_t)more);
    uint64_t kept = atomic_load_explicit(mine, memory_order_relaxed);
    if (VIDI__LIKELY(kept < VIDI__COUNT_KEPT || kept < vidi__filter_count(filter) >> 14))
        return;
    atomic_fetch_add_explicit(&filter->count, kept, memory_order_relaxed);
    atomic_store_explicit(mine, 0, memory_order_relaxed);
}

#endif
