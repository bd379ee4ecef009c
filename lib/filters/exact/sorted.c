/*
 * sorted: binary search over sorted URLs. It is the baseline of the multi-layer paper.
 *
 *     main  | p | p | p | p | p | p | p | p | p | p | p |     pointers to records, sorted by the URLs' bytes
 *     tail  | p | p | p |                                     the latest ones, sorted likewise
 *
 * A new URL is inserted into the tail, which is merged into main when it is full. With a tail of about sqrt(2n), an add
 * moves about sqrt(2n) pointers: half the tail each time, and all of main once in sqrt(2n) adds. A single merge takes
 * time in proportion to the number of URLs.
 *
 * A removed URL leaves its pointer behind, which leads to a dead record and still takes part in comparisons. If the URL
 * is added again the pointer is set to the new record; otherwise it disappears when the pool is compacted.
 *
 * Invariant: no two pointers, in main and tail together, lead to equal strings.
 */
#include <math.h>

#include "filters/exact/exact.h"

#define TAIL_MIN 64

typedef struct refs {
    vidi__pool_record **at;
    uint64_t count, room;
} refs;

typedef struct sorted {
    vidi__exact exact;
    refs main, tail;
} sorted;

static const vidi__index sorted_index;

static sorted *of(const vidi__exact *exact)
{
    return (sorted *)exact;
}

static uint64_t refs_bytes(uint64_t room)
{
    return vidi__exact_array(room, sizeof(vidi__pool_record *));
}

static int refs_grow(refs *list, vidi__memory *memory, uint64_t room)
{
    VIDI__TRY(vidi__regrow(memory, &list->at, refs_bytes(list->room), refs_bytes(room), _Alignof(vidi__pool_record *)));
    list->room = room;
    return VIDI_OK;
}

static void refs_free(refs *list, vidi__memory *memory)
{
    vidi__release(memory, list->at, refs_bytes(list->room), _Alignof(vidi__pool_record *));
}

/* Index of the first of `count` pointers whose string is not less than `str`; *same tells whether it is equal. */
static uint64_t refs_search(const refs *list, uint64_t count, const vidi__pool *pool, vidi_str str, bool *same)
{
    uint64_t low = 0, high = count;
    *same = false;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        int order = vidi__exact_compare(vidi__pool_record_str(pool, list->at[middle]), str);
        if (order == 0) {
            *same = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Finds the pointer to this string, whether its record is live or dead; false if there is none. */
static bool locate(const sorted *self, vidi_str str, vidi__pool_record ***ref)
{
    const refs *lists[] = {&self->main, &self->tail};
    for (size_t l = 0; l < VIDI__COUNT(lists); l++) {
        bool same;
        uint64_t i = refs_search(lists[l], lists[l]->count, &self->exact.pool, str, &same);
        if (same) {
            *ref = &lists[l]->at[i];
            return true;
        }
    }
    return false;
}

static vidi__pool_record *sorted_find(const vidi__exact *exact, const vidi__part *url)
{
    vidi__pool_record **ref;
    return locate(of(exact), url->str, &ref) && !vidi__pool_record_dead(*ref) ? *ref : NULL;
}

/* Merges the tail into main. It works from the back, because main has its free room there. */
static void fold(sorted *self)
{
    refs *main = &self->main, *tail = &self->tail;
    uint64_t end = main->count;
    bool same;
    main->count += tail->count;
    while (tail->count) {
        vidi__pool_record *last = tail->at[tail->count - 1];
        uint64_t i = refs_search(main, end, &self->exact.pool, vidi__pool_record_str(&self->exact.pool, last), &same);
        memmove(main->at + i + tail->count, main->at + i, (size_t)(end - i) * sizeof *main->at);
        main->at[i + --tail->count] = last;
        end = i;
    }
}

/* Makes room in the tail. A full tail grows if main has become long enough for a longer one; otherwise it is merged. */
static int sorted_reserve(vidi__exact *exact)
{
    sorted *self = of(exact);
    refs *main = &self->main, *tail = &self->tail;
    vidi__memory *memory = exact->base.memory;
    if (tail->count < tail->room)
        return VIDI_OK;
    if (tail->room == 0)
        return refs_grow(tail, memory, TAIL_MIN);
    if (tail->room < main->count / tail->room * 2)
        return refs_grow(tail, memory, tail->room * 2);
    uint64_t needed = main->count + tail->count;
    if (main->room < needed)
        VIDI__TRY(refs_grow(main, memory, needed + needed / 2));
    fold(self);
    return VIDI_OK;
}

static void sorted_link(vidi__exact *exact, vidi__pool_record *record)
{
    sorted *self = of(exact);
    refs *tail = &self->tail;
    vidi_str str = vidi__pool_record_str(&exact->pool, record);
    vidi__pool_record **ref;
    if (locate(self, str, &ref)) {
        *ref = record;
        return;
    }
    bool same;
    uint64_t i = refs_search(tail, tail->count, &exact->pool, str, &same);
    memmove(tail->at + i + 1, tail->at + i, (size_t)(tail->count - i) * sizeof *tail->at);
    tail->at[i] = record;
    tail->count++;
}

static int sorted_prepare(vidi__exact *exact, const vidi__config *config, uint64_t urls)
{
    sorted *self = of(exact);
    if (!config->reader)
        return urls ? refs_grow(&self->main, config->memory, urls) : VIDI_OK;
    VIDI__TRY(vidi__exact_sort(exact, urls, &self->main.at));
    self->main.count = self->main.room = urls;
    return VIDI_OK;
}

static void sorted_release(vidi__exact *exact)
{
    sorted *self = of(exact);
    refs_free(&self->main, exact->base.memory);
    refs_free(&self->tail, exact->base.memory);
}

static void forget_dead(refs *list)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < list->count; i++)
        if (!vidi__pool_record_dead(list->at[i]))
            list->at[kept++] = list->at[i];
    list->count = kept;
}

static void sorted_moved(void *context, vidi__pool_record *from, vidi__pool_record *to)
{
    sorted *self = context;
    vidi__pool_record **ref;
    if (locate(self, vidi__pool_record_str(&self->exact.pool, from), &ref))
        *ref = to;
}

static void sorted_compact(vidi__exact *exact)
{
    sorted *self = of(exact);
    forget_dead(&self->main);
    forget_dead(&self->tail);
    vidi__pool_compact(&exact->pool, sorted_moved, self);
}

static uint64_t sorted_bytes(const vidi__exact *exact)
{
    const sorted *self = of(exact);
    return refs_bytes(self->main.room) + refs_bytes(self->tail.room);
}

/*
 * Two binary searches, each step of which touches a pointer and a record; then the pointers that move on average, a
 * quarter of the tail of sqrt(2n) and, shared by as many adds, all of main.
 */
static double sorted_lines(double urls, double record_bytes)
{
    double tail = sqrt(2 * urls), steps = log2(urls + 1) + log2(tail + 1), moved = tail / 4 + urls / tail;
    (void)record_bytes;
    return 2 * steps + moved * sizeof(vidi__pool_record *) / VIDI__CACHE_LINE;
}

static int sorted_create(vidi__filter **filter, const vidi__config *config)
{
    return vidi__exact_create(filter, config, &sorted_index);
}

static int sorted_plan(const vidi__want *want, vidi__planned *planned)
{
    return vidi__exact_plan(want, planned, &sorted_index);
}

static const vidi__index sorted_index = {
    .kind = &vidi__kind_sorted,
    .size = sizeof(sorted),
    .needs = VIDI__NEED_BYTES,
    .bytes_per_url = sizeof(vidi__pool_record *),
    .lines = sorted_lines,
    .prepare = sorted_prepare,
    .release = sorted_release,
    .find = sorted_find,
    .reserve = sorted_reserve,
    .link = sorted_link,
    .compact = sorted_compact,
    .bytes = sorted_bytes,
};

const vidi__kind vidi__kind_sorted = {
    .name = "sorted",
    .summary = "exact: binary search over the URLs themselves",
    .create = sorted_create,
    .add = vidi__exact_add,
    .plan = sorted_plan,
    VIDI__EXACT_KIND,
};
