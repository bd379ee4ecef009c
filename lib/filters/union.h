/*
 * The union of several filters of the same kind and shape, written without being made: each kind that can do it reads
 * the filters, which are usually mapped files, once to learn the size of the union, and again to write it, in pieces.
 *
 * To the outside the union is a filter (vidi__union_filter) that can be asked and saved. Its owner may give it an `add`
 * and a `remove`.
 *
 * The filters must have been verified and must not change meanwhile.
 */
#ifndef VIDI_FILTERS_UNION_H
#define VIDI_FILTERS_UNION_H

#include "filters/filter.h"

/* The union of the first 1, 2, 3 … filters, when `more` URLs have been added to it after that. */
typedef struct vidi__union_size {
    uint64_t more;  /* set by the caller */
    uint64_t count; /* URLs in it, without those; the same number that merging one after the other comes to */
    double fp;      /* the probability of a false "seen", with those */
} vidi__union_size;

struct vidi__union {
    vidi__memory *memory;
    const vidi__filter *const *parts;
    size_t count;
    vidi__union_size *sizes; /* for each part */
    void *kept;              /* what `unite` keeps for `save_union` */
    uint64_t kept_bytes;
};

/* For kinds: allocates `kept`, zeroed. */
int vidi__union_keep(vidi__union *all, uint64_t bytes);

/* The union as a filter. It borrows `all`. */
typedef struct vidi__union_filter {
    vidi__filter base;
    vidi__kind kind;
    vidi__union *all;
} vidi__union_filter;

/* VIDI_ECANNOT if the kind of this filter cannot do it. */
int vidi__union_possible(const vidi__filter *filter);

/* The caller has set memory, parts, count and sizes of `all`; they need not be measured yet. */
void vidi__union_filter_init(vidi__union_filter *filter, vidi__union *all);

/* Fills in all sizes; the caller has set sizes[].more. The filter can be saved after that. */
int vidi__union_measure(vidi__union_filter *filter);
void vidi__union_end(vidi__union *all);

/* ---- for kinds whose contents are arrays of words ---- */

/* One array of the union: how the words of a part are joined to those of the parts before, and what is counted. */
typedef struct vidi__joint {
    void (*join)(uint64_t *words, const uint64_t *more, size_t n, const void *context);
    uint64_t (*measure)(const uint64_t *words, size_t n, const void *context);
    const uint64_t *(*array_of)(const vidi__filter *part, const void *context); /* NULL if the part has none */
    const void *context;
    uint64_t words; /* of each array */
    const uint64_t **arrays;
    size_t count;
    vidi__memory *memory;
} vidi__joint;

/* Finds the arrays of all parts. The caller has set join, measure, array_of, context and words. */
int vidi__joint_begin(vidi__joint *joint, const vidi__union *all);
void vidi__joint_end(vidi__joint *joint);

/* Adds to sums[i] the measure of words `from` up to `to` of the first i + 1 arrays joined. */
void vidi__joint_measure(const vidi__joint *joint, uint64_t from, uint64_t to, uint64_t *sums);

/* Writes the array of all parts joined, aligned. */
int vidi__joint_write(const vidi__joint *joint, vidi__writer *writer);

/* For bits: the words are ored, and the bits that are set are counted. */
void vidi__join_bits(uint64_t *words, const uint64_t *more, size_t n, const void *context);
uint64_t vidi__measure_bits(const uint64_t *words, size_t n, const void *context);

#endif
