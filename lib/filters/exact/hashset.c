/*
 * hashset: the exact set of stored URLs that a programmer would reach for. It is the baseline of the multi-layer paper
 * and the thesis, and the reference that every other kind is tested against.
 *
 *     now  | h p |     | h p | h p |     |     |     | h p |     | h p | …
 *     old  |  x  |  x  |     | h p |     | h p | …
 *                      ^ done
 *
 * h: 64 bits, mixed from the URL's keyed hash and a secret of this filter; p: its record; x: a tombstone. Linear
 * probing, at most 3/4 full.
 *
 * The secret is drawn anew whenever a filter is made or loaded, and never written. Whoever wrote a stream knows the key
 * in it, and can find URLs whose hashes share any 20 bits, but not which of them will share a slot.
 *
 * Growing: a table of twice the size is allocated next to the old one. Each add moves a few slots over, and `step`
 * moves as many as its time allows, so no add ever waits for the whole table. Until all slots are moved, lookups search
 * both tables. Tables consist of parts of 1 MiB, because releasing memory takes the kernel some 0.1 ms per part: after
 * all slots are moved, each add releases one part. Allocating costs nothing until the memory is used, except that an
 * allocator hook without allocate_zeroed needs a memset of the whole.
 *
 * Removing: in `now` the following slots close up, so nothing is left behind and the table never needs cleaning. In
 * `old`, which is short-lived and takes no more adds, a slot that was moved or removed becomes a tombstone: an empty
 * slot would cut off URLs after it that were put there because it was full. The table does not shrink.
 *
 * Invariants: every live record is in exactly one slot; `now` has no tombstones; the count, including URLs that are
 * still in `old`, is at most 3/4 of the slots of `now`, so every probe ends.
 */
#include "base/clock.h"
#include "base/random.h"
#include "filters/exact/exact.h"

#define SLOTS_MIN 64
#define PART_SLOTS ((uint64_t)1 << 16)

/*
 * 2 would be enough: half of the slots of `now` must be moved before 3/8 of them have been added, when it grows again.
 */
#define MOVES_PER_ADD 8

/* Slots that step moves between two readings of the clock. */
#define MOVES_PER_CLOCK_READ 256

typedef struct slot {
    uint64_t place;            /* place_of the record: determines the slot, and is compared before the bytes */
    vidi__pool_record *record; /* NULL if the slot is free */
} slot;

typedef struct table {
    slot **parts; /* of PART_SLOTS slots each, the last one shorter; NULL: no table */
    uint64_t slots;
    uint64_t held; /* number of parts; fewer than all only after all slots have been moved */
} table;

typedef struct hashset {
    vidi__exact exact;
    table now, old;
    uint64_t done; /* slots of `old` that have been moved */
    uint64_t secret[2];
} hashset;

static const vidi__index hashset_index;

/* Slots in `old` that were moved or removed point to this record. Only its address matters. */
static vidi__pool_record tombstone;

static hashset *of(const vidi__exact *exact)
{
    return (hashset *)exact;
}

/* ---- one table ---- */

static slot *slot_at(const table *in, uint64_t i)
{
    return &in->parts[i / PART_SLOTS][i % PART_SLOTS];
}

static uint64_t part_count(uint64_t slots)
{
    return slots / PART_SLOTS + (slots % PART_SLOTS != 0);
}

static uint64_t part_bytes(const table *in, uint64_t part)
{
    uint64_t left = in->slots - part * PART_SLOTS;
    return (left < PART_SLOTS ? left : PART_SLOTS) * sizeof(slot);
}

static uint64_t list_bytes(const table *in)
{
    return part_count(in->slots) * sizeof(slot *);
}

static uint64_t table_bytes(const table *in)
{
    return in->held ? list_bytes(in) + (in->held - 1) * PART_SLOTS * sizeof(slot) + part_bytes(in, in->held - 1) : 0;
}

/* How many URLs this many slots may hold. */
static uint64_t room_in(uint64_t slots)
{
    return slots - slots / 4;
}

/* Slots for this many URLs. Their records fit into memory, so the number cannot overflow. */
static uint64_t slots_for(uint64_t urls)
{
    uint64_t slots = urls + urls / 3 + 2;
    return slots < SLOTS_MIN ? SLOTS_MIN : slots;
}

/* Releases the last part, and the table when no part is left. */
static void table_release_part(table *in, vidi__memory *memory)
{
    if (in->held) {
        in->held--;
        vidi__release(memory, in->parts[in->held], part_bytes(in, in->held), VIDI__CACHE_LINE);
    }
    if (!in->held) {
        vidi__release(memory, in->parts, list_bytes(in), _Alignof(slot *));
        *in = (table){0};
    }
}

static void table_free(table *in, vidi__memory *memory)
{
    while (in->parts)
        table_release_part(in, memory);
}

/* Checks the memory limit for the whole table first, so that it is not exceeded part by part. */
static int table_init(table *in, vidi__memory *memory, uint64_t slots)
{
    *in = (table){.slots = slots};
    VIDI__TRY(vidi__memory_check(memory, vidi__exact_array(slots, sizeof(slot))));
    VIDI__TRY(vidi__alloc(memory, &in->parts, list_bytes(in), _Alignof(slot *)));
    for (uint64_t parts = part_count(slots); in->held < parts; in->held++) {
        int code = vidi__alloc_zeroed(memory, &in->parts[in->held], part_bytes(in, in->held), VIDI__CACHE_LINE);
        if (code < 0) {
            table_free(in, memory);
            return code;
        }
    }
    return VIDI_OK;
}

static uint64_t after(const table *in, uint64_t i)
{
    return i + 1 == in->slots ? 0 : i + 1;
}

/* The slot that holds this record; in->slots if it is in the other table. */
static uint64_t table_seek(const table *in, uint64_t place, const vidi__pool_record *record)
{
    uint64_t i = vidi__scale(place, in->slots);
    for (const slot *at; (at = slot_at(in, i))->record; i = after(in, i))
        if (at->record == record)
            return i;
    return in->slots;
}

static vidi__pool_record *table_find(const table *in, uint64_t place, const vidi__pool *pool, vidi_str str)
{
    uint64_t i = vidi__scale(place, in->slots);
    for (const slot *at; (at = slot_at(in, i))->record; i = after(in, i))
        if (at->place == place && at->record != &tombstone && vidi__pool_record_is(pool, at->record, str))
            return at->record;
    return NULL;
}

static void table_place(table *in, slot what)
{
    uint64_t i = vidi__scale(what.place, in->slots);
    while (slot_at(in, i)->record)
        i = after(in, i);
    *slot_at(in, i) = what;
}

/*
 * Empties slot i and closes the gap. Of the slots from there to the next free one, each whose probe sequence passes the
 * hole moves into the hole and leaves a hole itself.
 */
static void table_remove(table *in, uint64_t i)
{
    uint64_t hole = i, slots = in->slots;
    for (const slot *at; (at = slot_at(in, i = after(in, i)))->record;) {
        uint64_t home = vidi__scale(at->place, slots);
        uint64_t from_home = i >= home ? i - home : i + slots - home;
        uint64_t from_hole = i >= hole ? i - hole : i + slots - hole;
        if (from_home >= from_hole) {
            *slot_at(in, hole) = *at;
            hole = i;
        }
    }
    *slot_at(in, hole) = (slot){0, NULL};
}

/* ---- both tables ---- */

/* Mixes a hash with the secret. Both halves count, so only URLs with the same 128 bits are sure to share a place. */
static uint64_t place_of(const hashset *self, vidi__u128 hash)
{
    return vidi__mix((hash.hi ^ self->secret[1]) + vidi__mix(hash.lo ^ self->secret[0]));
}

static uint64_t place_of_record(const hashset *self, const vidi__pool_record *record)
{
    return place_of(self, (vidi__u128){record->words[0], record->words[1]});
}

/* Returns true if there are still URLs in `old`. */
static bool moving(const hashset *self)
{
    return self->done < self->old.slots;
}

/* Moves up to `most` slots. If none are left, releases a part of `old`. */
static void move_slots(hashset *self, uint64_t most)
{
    for (; most && moving(self); most--, self->done++) {
        slot *next = slot_at(&self->old, self->done);
        if (next->record && next->record != &tombstone) {
            table_place(&self->now, *next);
            next->record = &tombstone;
        }
    }
    if (!moving(self))
        table_release_part(&self->old, self->exact.base.memory);
    if (!self->old.parts)
        self->done = 0;
}

/*
 * Grows the table if it is full. The previous growth must be complete by then. With adds it always is, but a merge does
 * not move slots as it inserts.
 */
static int hashset_reserve(vidi__exact *exact)
{
    hashset *self = of(exact);
    if (exact->urls < room_in(self->now.slots))
        return VIDI_OK;
    while (self->old.parts)
        move_slots(self, UINT64_MAX);
    table larger;
    VIDI__TRY(table_init(&larger, exact->base.memory, self->now.slots * 2));
    self->old = self->now;
    self->now = larger;
    return VIDI_OK;
}

static vidi__pool_record *hashset_find(const vidi__exact *exact, const vidi__part *url)
{
    const hashset *self = of(exact);
    uint64_t place = place_of(self, url->hash);
    vidi__pool_record *record = table_find(&self->now, place, &exact->pool, url->str);
    return record || !moving(self) ? record : table_find(&self->old, place, &exact->pool, url->str);
}

static void hashset_link(vidi__exact *exact, vidi__pool_record *record)
{
    hashset *self = of(exact);
    table_place(&self->now, (slot){place_of_record(self, record), record});
}

static void hashset_unlink(vidi__exact *exact, vidi__pool_record *record)
{
    hashset *self = of(exact);
    uint64_t place = place_of_record(self, record), i = table_seek(&self->now, place, record);
    if (i < self->now.slots)
        table_remove(&self->now, i);
    else
        slot_at(&self->old, table_seek(&self->old, place, record))->record = &tombstone;
}

static void hashset_moved(void *context, vidi__pool_record *from, vidi__pool_record *to)
{
    hashset *self = context;
    uint64_t place = place_of_record(self, from), i = table_seek(&self->now, place, from);
    if (i < self->now.slots)
        slot_at(&self->now, i)->record = to;
    else
        slot_at(&self->old, table_seek(&self->old, place, from))->record = to;
}

static void hashset_compact(vidi__exact *exact)
{
    vidi__pool_compact(&exact->pool, hashset_moved, exact);
}

/* ---- the filter ---- */

static int hashset_prepare(vidi__exact *exact, const vidi__config *config, uint64_t urls)
{
    hashset *self = of(exact);
    vidi__pool_cursor cursor = {0};
    exact->base.keyed = config->item_hash->keyed;
    VIDI__TRY(vidi__filter_check_hash(config));
    VIDI__TRY(vidi__random(self->secret, sizeof self->secret));
    VIDI__TRY(table_init(&self->now, config->memory, slots_for(urls)));
    for (vidi__pool_record *record; (record = vidi__pool_next(&exact->pool, &cursor));) {
        vidi__part url = {vidi__pool_record_str(&exact->pool, record), {record->words[0], record->words[1]}};
        if (hashset_find(exact, &url))
            return vidi__damaged("a URL is stored twice");
        hashset_link(exact, record);
    }
    return VIDI_OK;
}

static void hashset_release(vidi__exact *exact)
{
    hashset *self = of(exact);
    table_free(&self->now, exact->base.memory);
    table_free(&self->old, exact->base.memory);
}

static int hashset_add(vidi__filter *filter, const vidi__item *item)
{
    hashset *self = (hashset *)filter;
    if (VIDI__UNLIKELY(self->old.parts))
        move_slots(self, MOVES_PER_ADD);
    return vidi__exact_add(filter, item);
}

static int hashset_step(vidi__filter *filter, uint64_t budget_ns)
{
    hashset *self = (hashset *)filter;
    if (!self->old.parts)
        return 0;
    uint64_t start = vidi__clock_ns();
    do
        move_slots(self, MOVES_PER_CLOCK_READ);
    while (self->old.parts && vidi__clock_ns() - start < budget_ns);
    return self->old.parts != NULL;
}

static uint64_t hashset_bytes(const vidi__exact *exact)
{
    const hashset *self = of(exact);
    return table_bytes(&self->now) + table_bytes(&self->old);
}

static double hashset_fill(const vidi__exact *exact)
{
    return (double)exact->urls / (double)of(exact)->now.slots;
}

/*
 * Linear probing looks at (1 + 1/(1-a)^2) / 2 slots before it finds a free one, if a share a is used (Knuth). While a
 * grows to 3/4 that is 2.5 on average, side by side from a random place on.
 */
static double hashset_lines(double urls, double record_bytes)
{
    (void)urls;
    (void)record_bytes;
    return 1 + 1.5 * sizeof(slot) / VIDI__CACHE_LINE;
}

static int hashset_create(vidi__filter **filter, const vidi__config *config)
{
    return vidi__exact_create(filter, config, &hashset_index);
}

static int hashset_plan(const vidi__want *want, vidi__planned *planned)
{
    return vidi__exact_plan(want, planned, &hashset_index);
}

static const vidi__index hashset_index = {
    .kind = &vidi__kind_hashset,
    .size = sizeof(hashset),
    .needs = VIDI__NEED_HASH | VIDI__NEED_BYTES,
    .hash_words = 2,
    .bytes_per_url = sizeof(slot) * 4 / 3.0,
    .lines = hashset_lines,
    .prepare = hashset_prepare,
    .release = hashset_release,
    .find = hashset_find,
    .reserve = hashset_reserve,
    .link = hashset_link,
    .unlink = hashset_unlink,
    .compact = hashset_compact,
    .bytes = hashset_bytes,
    .fill = hashset_fill,
};

const vidi__kind vidi__kind_hashset = {
    .name = "hashset",
    .summary = "exact: hash table of the URLs themselves",
    .create = hashset_create,
    .add = hashset_add,
    .plan = hashset_plan,
    .step = hashset_step,
    VIDI__EXACT_KIND,
};
