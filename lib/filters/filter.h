/*
 * The one interface behind which every kind of filter stands.
 *
 * A kind is a table of functions over vidi__filter, its base struct. It works on items, which the set has made from
 * URLs, and asks for no more of an item than it needs. It knows nothing of URLs' grammar, files, threads (unless it
 * says VIDI_IS_CONCURRENT) or epochs: the seed that it was made with is the whole difference between two epochs.
 *
 * Reading: what a reader lends (base/stream.h) is not looked at when a filter is made from it. It may hold anything, so
 * that has, times, iterate, stat, save, and merge from it, must be safe and end whatever is there; no other function is
 * called. `verify` says afterwards what would have been said at once of a copy.
 *
 * Locking: the set calls add, remove, merge and step of a filter alone, and has, count, iterate, save and stat in
 * parallel with each other. A concurrent kind has its add called in parallel with add and has; the rest as above.
 */
#ifndef VIDI_FILTERS_FILTER_H
#define VIDI_FILTERS_FILTER_H

#include "base/memory.h"
#include "base/params.h"
#include "base/stream.h"
#include "hash/scheme.h"

/* No set is made for more URLs. */
#define VIDI__CAPACITY_MAX (UINT64_C(1) << 62)

/* What a kind may ask of an item. */
enum {
    VIDI__NEED_HASH = 1,     /* its 128-bit keyed hash */
    VIDI__NEED_BYTES = 2,    /* its bytes */
    VIDI__NEED_SEGMENTS = 4, /* its '/'-separated segments, as parts */
    VIDI__NEED_FEATURE = 8   /* the feature that `feature` names, as a part */
};

typedef struct vidi__needs {
    unsigned what;         /* ored; a part carries its hash if VIDI__NEED_HASH is among them, its bytes always */
    uint64_t segments_max; /* what goes beyond is joined into the last; 0: no limit */
    bool strip_scheme;     /* of the first segment */
    char feature[16];
} vidi__needs;

/* What a kind works on. */
typedef struct vidi__item {
    vidi__part url;
    const vidi__part *segments;
    size_t segment_count;
    vidi__part feature;
} vidi__item;

typedef struct vidi__kind vidi__kind;
typedef struct vidi__filter vidi__filter;

/* What a filter is made from. */
typedef struct vidi__config {
    vidi__memory *memory;
    vidi__params *params;
    uint64_t capacity; /* 0: unknown */
    double error;      /* 0: unknown */
    vidi__seed seed;
    const vidi__hash_fn *item_hash;
    vidi__reader *reader; /* not NULL: contents come from here, as save wrote them; params are those of describe */
    uint64_t count;       /* that the reader has told of, to be believed of what is lent */
    unsigned depth;       /* how many filters this one is inside of */
    bool is_member;       /* others, with other seeds, are asked for the same hashes: a member of a spatial filter */
} vidi__config;

/* Base of every filter: a kind's own struct begins with it. */
struct vidi__filter {
    const vidi__kind *kind;
    vidi__memory *memory;
    const vidi__hash_fn *item_hash;
    vidi__needs needs;
    uint32_t can;
    uint32_t fp_meaning;
    bool keyed;               /* its hash functions do */
    bool stores_every_add;    /* is stored, also of what was seen */
    uint64_t combination;     /* not 0: no salts, only this combination of functions tells epochs apart */
    uint64_t capacity;        /* 0: grows */
    double error;             /* at capacity; 0 if nobody asked for one */
    bool count_known;         /* create has found the count out from what it read */
    bool is_member;           /* as in the configuration, */
    uint64_t member_salts[2]; /* and what makes its hashes others than its neighbours' */
    _Atomic uint64_t count;   /* URLs in it */
};

typedef struct vidi__filter_stats {
    uint64_t bytes;
    double fill;
    uint32_t stages;
    uint64_t ambiguous;
    uint64_t lines_touched;
} vidi__filter_stats;

/* The numbers of a plan request; 0 is unknown. A kind reads those of the params that change its size. */
typedef struct vidi__want {
    uint64_t urls, memory;
    double error, lost;
    unsigned k;
    double multiplier;
    double url_bytes;
    unsigned members; /* independent filters that all have to say "seen": error and lost are of all together */
    bool bound;       /* the error rate is an upper bound only, and so many URLs may come out NEW */
    vidi__params *params;
} vidi__want;

/* What a kind makes of them. */
typedef struct vidi__planned {
    uint64_t urls, bytes;
    double error, lost;
    double lines;     /* cache lines that adding a new URL touches, on average from empty to full */
    unsigned k;       /* 0 if it has no such thing */
    char params[128]; /* of the size alone: "capacity=…,m=…,k=…" */
} vidi__planned;

/* What a batch of adds has come to. */
typedef struct vidi__tally {
    uint64_t fresh, seen;
    double lost;
} vidi__tally;

#define VIDI__HASHES_MAX 2048

struct vidi__kind {
    const char *name;
    const char *summary;
    uint32_t can;

    int (*create)(vidi__filter **filter, const vidi__config *config);
    void (*destroy)(vidi__filter *filter);

    /* VIDI_NEW, VIDI_SEEN or an error, after which the filter is as before. */
    int (*add)(vidi__filter *filter, const vidi__item *item);
    int (*has)(const vidi__filter *filter, const vidi__item *item);
    /*
     * Both at once for up to VIDI__HASHES_MAX items, of kinds that need nothing but the hash; NULL if add and has
     * serve. On an error each item has its verdict or was not touched.
     */
    int (*add_hashes)(vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts, vidi__tally *tally);
    int (*has_hashes)(const vidi__filter *filter, const vidi__u128 *hashes, size_t n, uint8_t *verdicts);
    /* Probability that a URL never met is answered VIDI_SEEN now. */
    double (*fp_now)(const vidi__filter *filter);
    void (*stat)(const vidi__filter *filter, vidi__filter_stats *stats);
    /* Every parameter as create reads it, such that create makes the same shape again. */
    void (*describe)(const vidi__filter *filter, vidi__text *text);
    /* Names of the hash functions. */
    void (*hash_names)(const vidi__filter *filter, vidi__text *text);
    int (*save)(const vidi__filter *filter, vidi__writer *writer);
    /* Of what was lent: could it have been read as a copy? NULL if nothing is ever lent to this kind. */
    int (*verify)(const vidi__filter *filter);
    /* Can this kind serve? VIDI_OK, or VIDI_EOPTION with the reason. */
    int (*plan)(const vidi__want *want, vidi__planned *planned);

    /* NULL where the capability is missing. */
    int (*remove)(vidi__filter *filter, const vidi__item *item);
    int (*times)(const vidi__filter *filter, const vidi__item *item, uint64_t *times);
    int (*merge)(vidi__filter *into, const vidi__filter *from);
    /*
     * Only for kinds that keep the URLs: merges from any such kind, by inserting its URLs. Their hashes may have
     * another key or another hash function; `key` is that of `into`.
     */
    int (*merge_urls)(vidi__filter *into, const vidi__filter *from, const vidi__hash_key *key);
    int (*iterate)(const vidi__filter *filter, vidi_visitor visitor, void *context);
    int (*step)(vidi__filter *filter, uint64_t budget_ns); /* 1: more is left */
    void (*expect)(vidi__filter *filter, uint64_t urls);   /* a hint, while others add */
};

/* The kinds by name and by number; the default first. NULL if there is none. */
const vidi__kind *vidi__kind_find(vidi_str name);
const vidi__kind *vidi__kind_at(size_t index);
int vidi__kind_unknown(vidi_str name);

/* Kinds inside of kinds go so deep at most. */
#define VIDI__DEPTH_MAX 3

/*
 * May the two stand side by side in one filter, answering for the same items? After reading they might not be of one
 * kind, or need or can different things: VIDI_EFORMAT.
 */
int vidi__filter_alike(const vidi__filter *a, const vidi__filter *b);

/* Makes a filter and checks that every parameter was used. */
int vidi__filter_create(vidi__filter **filter, const vidi__kind *kind, const vidi__config *config);
void vidi__filter_destroy(vidi__filter *filter);

/* Allocates a kind's struct of `bytes`, zeroed, with its base filled in. */
int vidi__filter_alloc(void *filter, size_t bytes, const vidi__kind *kind, const vidi__config *config);

/* For kinds that take the item's hash as it is: reads `hash`, which the set has chosen it by, and refuses 32 bits. */
int vidi__filter_check_hash(const vidi__config *config);

/*
 * For kinds that contain others: reads `inner`, classic by default; and describes it within the description of the
 * outer one.
 */
int vidi__filter_inner(const vidi__kind **inner, vidi__params *params);
void vidi__filter_describe_inner(const vidi__filter *inner, const char *taken, vidi__text *text);

/* Room for what describe writes. vidi__filter_create refuses a filter that would need more. */
#define VIDI__DESCRIPTION VIDI_PARAMS_ROOM

/* Items in order; stops at the first error. Verdicts of items that were not reached are left alone. */
int vidi__filter_add(vidi__filter *filter, const vidi__item *items, size_t n, uint8_t *verdicts, vidi__tally *tally);
int vidi__filter_has(const vidi__filter *filter, const vidi__item *items, size_t n, uint8_t *verdicts);

/*
 * Writes kind, parameters and contents; reads them back into a new filter. config says memory, seed, item_hash and
 * reader.
 */
int vidi__filter_save(const vidi__filter *filter, vidi__writer *writer);
int vidi__filter_load(vidi__filter **filter, const vidi__config *config);

/* The contents of a filter that was read from a mapping, which nobody has looked at; of others all is well. */
int vidi__filter_verify(const vidi__filter *filter);

/* What is refused as an option while reading was not refused when it was written: the data is at fault. */
int vidi__blame_data(int code);

/* Same kind, same shape? VIDI_EDIFFERS says what is not. */
int vidi__filter_same_shape(const vidi__filter *a, const vidi__filter *b);

extern const vidi__kind vidi__kind_fingerprint, vidi__kind_blocked, vidi__kind_scalable, vidi__kind_classic,
    vidi__kind_counting, vidi__kind_multilayer, vidi__kind_eigen, vidi__kind_spatial, vidi__kind_hashset,
    vidi__kind_sorted, vidi__kind_list;

/*
 * For kinds that take the item's hash as it is: the hash as it is, or, in one of many, one of its own. Both halves go
 * into the upper one, which is all that some kinds keep: what agrees there in one of many need not in the next.
 */
static inline vidi__u128 vidi__filter_member_hash(const vidi__filter *filter, vidi__u128 hash)
{
    if (VIDI__LIKELY(!filter->is_member))
        return hash;
    uint64_t lo = vidi__mix(hash.lo ^ filter->member_salts[0]);
    return (vidi__u128){lo, vidi__mix((hash.hi ^ filter->member_salts[1]) + lo)};
}

/* The same for the first of n hashes, as many as fit into `own`; returns how many. */
#define VIDI__MEMBER_HASHES_MAX 128
size_t vidi__filter_member_hashes(const vidi__filter *filter, const vidi__u128 *hashes, size_t n, vidi__u128 *own);

/*
 * Pages lost for a NEW answer at this chance of a false "seen". Where p is only a bound it may reach 1 although the
 * answer is NEW; the sum stays finite.
 */
static inline double vidi__filter_lost(double p)
{
    const double most = 0.999;
    return p < most ? p / (1 - p) : most / (1 - most);
}

static inline uint64_t vidi__filter_count(const vidi__filter *filter)
{
    return atomic_load_explicit(&filter->count, memory_order_relaxed);
}

static inline void vidi__filter_add_count(vidi__filter *filter, int64_t more)
{
    atomic_fetch_add_explicit(&filter->count, (uint64_t)more, memory_order_relaxed);
}

#endif
