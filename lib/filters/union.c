/* See union.h. */
#include "filters/union.h"

/* Words that are joined at a time. */
#define PIECE 512

int vidi__union_possible(const vidi__filter *filter)
{
    return filter->kind->unite ? VIDI_OK
                               : vidi__fail(VIDI_ECANNOT, "sets of kind %s cannot be merged on disk, only in memory",
                                            filter->kind->name);
}

int vidi__union_measure(vidi__union_filter *filter)
{
    vidi__union *all = filter->all;
    VIDI__TRY(all->parts[0]->kind->unite(all));
    atomic_store(&filter->base.count, all->sizes[all->count - 1].count);
    return VIDI_OK;
}

int vidi__union_keep(vidi__union *all, uint64_t bytes)
{
    VIDI__TRY(vidi__alloc_zeroed(all->memory, &all->kept, bytes, VIDI__CACHE_LINE));
    all->kept_bytes = bytes;
    return VIDI_OK;
}

void vidi__union_end(vidi__union *all)
{
    vidi__release(all->memory, all->kept, all->kept_bytes, VIDI__CACHE_LINE);
    all->kept = NULL;
}

/* ---- the filter that is saved ---- */

static const vidi__union *union_of(const vidi__filter *filter)
{
    return ((const vidi__union_filter *)filter)->all;
}

static void describe(const vidi__filter *filter, vidi__text *text)
{
    const vidi__filter *first = union_of(filter)->parts[0];
    first->kind->describe(first, text);
}

static int save(const vidi__filter *filter, vidi__writer *writer)
{
    const vidi__union *all = union_of(filter);
    return all->parts[0]->kind->save_union(all, writer);
}

static int has(const vidi__filter *filter, const vidi__item *item)
{
    const vidi__union *all = union_of(filter);
    for (size_t i = 0; i < all->count; i++)
        if (all->parts[i]->kind->has(all->parts[i], item) == VIDI_SEEN)
            return VIDI_SEEN;
    return VIDI_NEW;
}

static double fp_now(const vidi__filter *filter)
{
    const vidi__union *all = union_of(filter);
    return all->sizes[all->count - 1].fp;
}

static void destroy(vidi__filter *filter)
{
    (void)filter; /* it is its owner's */
}

void vidi__union_filter_init(vidi__union_filter *filter, vidi__union *all)
{
    const vidi__filter *first = all->parts[0];
    memset(filter, 0, sizeof *filter);
    filter->kind.name = first->kind->name;
    filter->kind.describe = describe;
    filter->kind.save = save;
    filter->kind.destroy = destroy;
    filter->kind.has = has;
    filter->kind.fp_now = fp_now;
    filter->all = all;
    filter->base.kind = &filter->kind;
    filter->base.memory = all->memory;
    filter->base.item_hash = first->item_hash;
    filter->base.needs = first->needs;
    filter->base.can = first->can;
    filter->base.stores_every_add = first->stores_every_add;
    filter->base.capacity = first->capacity;
    filter->base.error = first->error;
}

/* ---- arrays ---- */

int vidi__joint_begin(vidi__joint *joint, const vidi__union *all)
{
    joint->count = all->count;
    joint->memory = all->memory;
    VIDI__TRY(vidi__alloc(all->memory, &joint->arrays, all->count * sizeof *joint->arrays, _Alignof(void *)));
    for (size_t i = 0; i < all->count; i++)
        joint->arrays[i] = joint->array_of(all->parts[i], joint->context);
    return VIDI_OK;
}

void vidi__joint_end(vidi__joint *joint)
{
    vidi__release(joint->memory, joint->arrays, joint->count * sizeof *joint->arrays, _Alignof(void *));
}

void vidi__joint_measure(const vidi__joint *joint, uint64_t from, uint64_t to, uint64_t *sums)
{
    uint64_t words[PIECE];
    for (uint64_t at = from; at < to; at += PIECE) {
        size_t n = to - at < PIECE ? (size_t)(to - at) : PIECE;
        memset(words, 0, sizeof words);
        for (size_t i = 0; i < joint->count; i++) {
            if (joint->arrays[i])
                joint->join(words, joint->arrays[i] + at, n, joint->context);
            sums[i] += joint->measure(words, n, joint->context);
        }
    }
}

int vidi__joint_write(const vidi__joint *joint, vidi__writer *writer)
{
    uint64_t piece[PIECE];
    VIDI__TRY(vidi__write_align(writer));
    for (uint64_t at = 0; at < joint->words; at += PIECE) {
        size_t n = joint->words - at < PIECE ? (size_t)(joint->words - at) : PIECE;
        memset(piece, 0, sizeof piece);
        for (size_t i = 0; i < joint->count; i++)
            if (joint->arrays[i])
                joint->join(piece, joint->arrays[i] + at, n, joint->context);
        VIDI__TRY(vidi__write_words(writer, piece, n));
    }
    return VIDI_OK;
}

void vidi__join_bits(uint64_t *words, const uint64_t *more, size_t n, const void *context)
{
    (void)context;
    for (size_t i = 0; i < n; i++)
        words[i] |= more[i];
}

uint64_t vidi__measure_bits(const uint64_t *words, size_t n, const void *context)
{
    (void)context;
    return vidi__popcount(words, n);
}
