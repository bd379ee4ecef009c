/*
 * The set: what the public functions work on. It brings URLs into their canonical form, turns those into items, keeps
 * them in the filter of the current epoch, counts what was answered, and lets many threads in at once.
 *
 *     vidi_set
 *       key ── epoch 7's key ── hashes items, seeds the filter
 *       now:      epoch 7, filter, tally
 *       previous: epoch 6, if it is kept
 *       history:  what epochs 0 to 6 came to
 *
 * One lock guards the set. Adds hold it shared if the kind is concurrent, alone otherwise; questions hold it shared;
 * rotation and merging hold it alone. So filters see no more threads than they can bear, and nobody sees an epoch
 * vanish.
 */
#ifndef VIDI_SET_SET_H
#define VIDI_SET_SET_H

#include <pthread.h>

#include "filters/filter.h"
#include "frame/mapped.h"
#include "url/canon.h"
#include "url/split.h"

#define VIDI__USER_PARAMS_MAX 512

/* What the user asked for: how this epoch's filter, and the next one's, are made. */
typedef struct vidi__recipe {
    const vidi__kind *kind;
    char params[VIDI__USER_PARAMS_MAX]; /* without capacity and error */
    uint64_t capacity;
    double error;
    double headroom;
    uint32_t flags;
} vidi__recipe;

/* One epoch: a filter, the key that its items are hashed with, and what was answered. */
typedef struct vidi__epoch {
    uint64_t number;
    const vidi__hash_fn *hash;
    vidi__hash_key key;
    vidi__url_feature_fn *feature; /* if the filter needs one */
    vidi__filter *filter;
    _Atomic uint64_t answered_new, answered_seen, answered_invalid, asked, removed;
    _Atomic uint64_t lost_bits; /* expected_lost, a double */
} vidi__epoch;

struct vidi_set {
    vidi__memory memory;
    pthread_mutex_t gate; /* before the lock, for fairness */
    pthread_rwlock_t lock;
    _Atomic bool concurrent; /* the filter takes adds in parallel */
    bool read_only;
    vidi__mapped mapped;                    /* where its contents lie, if it does not hold them itself */
    bool owns_map;                          /* and whether that ends with it */
    struct vidi__durable *durable;          /* NULL: it lives in memory */
    uint64_t previous_first, previous_last; /* files of the previous epoch; 0: none */
    unsigned char key[VIDI_KEY_BYTES];
    uint32_t member;
    uint32_t invalid;          /* vidi_invalid_policy */
    vidi_canon *canon;         /* never changes, so that no lock is needed for it */
    vidi__canon_output output; /* of canon */
    vidi__recipe recipe;
    vidi__epoch now;
    vidi__epoch previous; /* filter NULL: not kept */
    vidi_epoch_stats *history;
    uint64_t history_count, history_room;
};

/* Items that are made at a time: enough for prefetching, few enough for the stack. */
#define VIDI__GROUP 128

/* From so many URLs on a kind that takes hashes is given hashes: fewer are not worth sorting. */
#define VIDI__HASHES_FROM 16

static inline bool vidi__takes_hashes(const vidi__filter *filter, size_t n)
{
    return filter->kind->add_hashes && n >= VIDI__HASHES_FROM;
}

/* Items of a group of URLs, and the memory behind their segments and features. */
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
void vidi__items_free(vidi__items *items);
/* Nothing so far: for who fills in the list. */
void vidi__items_none(vidi__items *items, vidi__memory *memory);

/* VIDI_EARGUMENT for bytes at NULL. */
int vidi__items_check(vidi_str url);

/*
 * A chunk of URLs in the set's canonical form. `taken` URLs are in it; `count` of them have a form, the others are no
 * URLs and left out. What is no URL stands in `places`, also if it is kept.
 */
#define VIDI__FORMS_BYTES (32 * 1024)
typedef struct vidi__forms {
    size_t taken, count, invalid;
    vidi_str list[VIDI__HASHES_MAX];
    uint16_t places[VIDI__HASHES_MAX];
    vidi__buffer text; /* forms that had to be written; never moves, since forms point into it */
    char room[VIDI__FORMS_BYTES];
} vidi__forms;

/* How many of the URLs, from the first on, are in their form already. */
size_t vidi__forms_ready(const vidi_set *set, const vidi_str *urls, size_t n);

/*
 * The forms of as many of the URLs as fit, n <= VIDI__HASHES_MAX, of which the first `ready` need none. On error not
 * even one did; the chunk ends before one that fails. vidi__forms_free must follow in any case.
 */
int vidi__forms_make(vidi__forms *forms, const vidi_set *set, const vidi_str *urls, size_t n, size_t ready);
void vidi__forms_free(vidi__forms *forms);

/* From the verdicts on the list to those on the URLs taken. */
void vidi__forms_scatter(const vidi__forms *forms, const uint8_t *from, uint8_t *verdicts);

/* What is to be added: URLs in their form, or hashes of them that are known, of that epoch. */
typedef struct vidi__adds {
    const vidi_str *urls;
    const vidi__u128 *known; /* NULL: the URLs */
    uint64_t epoch;
    size_t count;
    uint8_t *verdicts; /* VIDI_UNTRIED */
} vidi__adds;

int vidi__set_add(vidi_set *set, const vidi__adds *adds);

/* How this handle treats what is no URL. */
int vidi__set_take_policy(vidi_set *set, const vidi_options *options);

/* Gives the set its canonical form: one that was made for it. */
void vidi__set_canon(vidi_set *set, vidi_canon *canon);

/* An empty set without an epoch. */
int vidi__set_alloc(vidi_set **set, const vidi_allocator *allocator, uint64_t memory_limit);

/* VIDI_ECANNOT if nothing of the set may be changed. */
int vidi__set_writable(const vidi_set *set);

/* What vidi_write writes, to a frame with this generation, and without a frame. The filter must not change meanwhile. */
int vidi__set_write(const vidi_set *set, vidi_sink sink, void *context, uint64_t generation);
int vidi__set_write_to(const vidi_set *set, vidi__writer *writer);

/* Into a set without an epoch, of the options those that vidi__set_read_options lets pass. */
int vidi__set_read_from(vidi_set *set, vidi__reader *reader, const vidi_options *options);
int vidi__set_read_options(vidi_options *mine, const vidi_options *options);

/*
 * A set over a stream in memory, such as a mapped file, which must stay there unchanged as long as the set. It can be
 * asked, listed, counted, written and merged from; changing it is VIDI_ECANNOT. Opening looks at a small part of the
 * bytes. The rest may hold anything: that does no harm, but answers mean nothing until it was verified. Merging
 * verifies contents.
 */
int vidi__set_map(vidi_set **set, const void *bytes, uint64_t size, const vidi_options *options);

/*
 * Verification: the blocks, which can be checked in pieces; what is in them; and both. VIDI_EFORMAT says what is wrong.
 */
uint64_t vidi__set_blocks(const vidi_set *set);
int vidi__set_verify_blocks(const vidi_set *set, uint64_t from, uint64_t count);
int vidi__set_verify_contents(const vidi_set *set);
int vidi__set_verify(const vidi_set *set);

/* To be called when set->now has changed: remembers whether adds may run in parallel. */
void vidi__set_ready(vidi_set *set);

/* The filter and keys of epoch `number` by a recipe; contents from the reader if there is one. */
int vidi__epoch_make(vidi_set *set, const vidi__recipe *recipe, uint64_t number, vidi__reader *reader,
                     vidi__epoch *epoch);
void vidi__epoch_free(vidi__epoch *epoch);
int vidi__history_add(vidi_set *set, const vidi_epoch_stats *record);

/*
 * What the filter of an epoch says of URLs in their canonical form, n <= VIDI__HASHES_MAX if it takes hashes and
 * VIDI__GROUP otherwise.
 */
int vidi__epoch_has(vidi__memory *memory, const vidi__epoch *epoch, const vidi_str *urls, size_t n, uint8_t *verdicts);

double vidi__epoch_lost(const vidi__epoch *epoch);
void vidi__epoch_lose(vidi__epoch *epoch, double more);

/* Copies what of the options makes a recipe over it, where it is not zero; then checks the whole. */
int vidi__recipe_take(vidi__recipe *recipe, const vidi_options *options);

/* The error of a kind that lacks a capability. */
int vidi__cannot(const vidi_set *set, const char *what);

/* Locks for those who only read, and take the lock alone if adds might otherwise go on meanwhile. */
void vidi__lock_still(const vidi_set *set);
void vidi__lock_shared(const vidi_set *set);
void vidi__lock_alone(const vidi_set *set);
void vidi__unlock(const vidi_set *set);

/* Around what must not happen while a snapshot is being written. To be taken before the lock. */
void vidi__turn_begin(const vidi_set *set);
void vidi__turn_end(const vidi_set *set);

#endif
