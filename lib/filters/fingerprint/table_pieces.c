/*
 * A table in runs (table.h, filters/pieces.h). Positions are prefixes of the hash, so they stay what they are when
 * sub-tables grow and split. A run takes whole sub-tables as long as they fit, or else as much of one as does.
 */
#include <math.h>

#include "filters/fingerprint/table.h"
#include "filters/pieces.h"

#define LIST 256           /* hashes that are written at a time */
#define PREFIX_BITS_MAX 44 /* of a position */
#define TIMES_MAX (UINT64_C(1) << 48)
#define ENOUGH 1024 /* hashes; fewer tell too little about the density of the whole table */

/* Words of a hash in a list. */
static unsigned words_each(const vidi__table *table)
{
    return table->multiset ? 2 : 1;
}

/*
 * Bits of a position. A prefix of this length is a whole number of the numbers that the table tells apart, and no
 * sub-table has a longer one.
 */
static unsigned prefix_bits(const vidi__table *table, unsigned bits)
{
    unsigned most = (unsigned)__builtin_ctzll(table->hashes);
    most = most < PREFIX_BITS_MAX ? most : PREFIX_BITS_MAX;
    return bits < most ? bits : most;
}

/* ---- writing ---- */

/* Hashes on their way from sub-tables to the writer, or being counted. */
typedef struct listing {
    const vidi__table *table;
    vidi__writer *writer; /* NULL: they are counted */
    uint64_t first;       /* the number at which the sub-table begins */
    uint64_t count, most;
    unsigned fill; /* words in the list */
    uint64_t list[2 * LIST];
} listing;

static int flush(listing *self)
{
    unsigned fill = self->fill;
    self->fill = 0;
    if (!fill)
        return VIDI_OK;
    VIDI__TRY(vidi__write_u64(self->writer, fill / words_each(self->table)));
    return vidi__write_words(self->writer, self->list, fill);
}

static void list_plain(listing *self, uint64_t *hashes, unsigned n)
{
    vidi__table_least_hashes(self->table, self->first, hashes, n);
    memcpy(self->list + self->fill, hashes, n * sizeof *hashes);
    self->fill += n;
}

static void list_with_times(listing *self, const uint64_t *hashes, const uint64_t *times, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        self->list[self->fill++] = vidi__table_least_hash(self->table, self->first + hashes[i]);
        self->list[self->fill++] = times[i] < TIMES_MAX ? times[i] : TIMES_MAX;
    }
}

static int list_hashes(void *context, uint64_t *hashes, const uint64_t *times, unsigned n)
{
    listing *self = context;
    self->count += n;
    if (!self->writer)
        return 0;
    if (self->count > self->most) /* lines that are mapped and not verified may hold anything */
        return vidi__damaged("a sub-table has more entries than it says");
    for (unsigned done = 0, some; done < n; done += some) {
        unsigned room = LIST - self->fill / words_each(self->table);
        some = n - done < room ? n - done : room;
        if (times)
            list_with_times(self, hashes + done, times + done, some);
        else
            list_plain(self, hashes + done, some);
        if (some == room)
            VIDI__TRY(flush(self));
    }
    return 0;
}

/* How many hashes fit into the room, each list with its length, and the end. */
static uint64_t most_hashes(const vidi__table *table, uint64_t room)
{
    uint64_t list = 8 + (uint64_t)LIST * words_each(table) * 8, frame = 2 * 8;
    uint64_t left = room > frame ? room - frame : 0, rest = left % list;
    return left / list * LIST + (rest > 8 ? (rest - 8) / (words_each(table) * UINT64_C(8)) : 0);
}

/* The bytes of this many hashes, in lists. */
static uint64_t lists_bytes(const vidi__table *table, uint64_t hashes)
{
    return (hashes + LIST - 1) / LIST * 8 + hashes * words_each(table) * 8;
}

/* A sub-table, and the part of it that is left: positions from `offset` to `span`. */
typedef struct slice {
    vidi__table_part part;
    uint64_t offset, span;
} slice;

static slice slice_at(const vidi__table *table, uint64_t at, unsigned bits)
{
    slice self = {.part = vidi__table_part_of(table, at << (64 - bits))};
    self.span = UINT64_C(1) << (bits - self.part.prefix_bits);
    self.offset = at & (self.span - 1);
    return self;
}

static int walk_slice(const slice *self, uint64_t positions, listing *list)
{
    const vidi__subtable *part = self->part.table;
    uint64_t each = part->range / self->span, from = self->offset * each;
    return vidi__subtable_list(part, from, from + positions * each, list_hashes, list);
}

static int count_slice(const slice *self, uint64_t positions, const listing *list, uint64_t *count)
{
    listing counted = {.table = list->table};
    VIDI__TRY(walk_slice(self, positions, &counted));
    *count = counted.count;
    return VIDI_OK;
}

/*
 * How many positions of a slice fit, and how many hashes these have. Hashes are spread evenly, so the first guess is
 * nearly always right. Lines are full of hashes that fit by chance: the guess leaves room for twice the deviation that
 * these have.
 */
static int positions_fitting(const slice *self, const listing *list, uint64_t *positions, uint64_t *count)
{
    uint64_t left = self->span - self->offset, room = list->most - list->count;
    double share = (double)room / (double)self->part.table->used * (double)self->span * 0.9;
    *positions = share < (double)left ? (uint64_t)share : left;
    for (; *positions; *positions /= 2) {
        VIDI__TRY(count_slice(self, *positions, list, count));
        if (*count <= room)
            return VIDI_OK;
    }
    *positions = 1;
    VIDI__TRY(count_slice(self, 1, list, count));
    return *count <= room ? VIDI_OK : vidi__run_too_large((*count + 4) * 8 * words_each(list->table));
}

/* Lists a whole sub-table that is not a multiset: then the number of its entries is that of its hashes. */
static int list_all(const slice *self, listing *list)
{
    uint64_t before = list->count, used = self->part.table->used;
    if (!list->writer)
        list->count += used;
    else
        VIDI__TRY(walk_slice(self, self->span, list));
    return list->count - before == used ? VIDI_OK
                                        : vidi__damaged("a sub-table has another number of entries than it says");
}

/* Lists what is left of a sub-table. If it does not fit and the list is still empty, as many positions as do. */
static int list_slice(const slice *self, listing *list, uint64_t *positions, bool *full)
{
    uint64_t count;
    *full = self->part.table->used > list->most - list->count;
    if (!*full)
        return self->offset || list->table->multiset ? walk_slice(self, *positions, list) : list_all(self, list);
    if (list->count) {
        *positions = 0;
        return VIDI_OK;
    }
    VIDI__TRY(positions_fitting(self, list, positions, &count));
    if (list->writer)
        return walk_slice(self, *positions, list);
    list->count = count;
    return VIDI_OK;
}

/* Lists the part of the sub-table at this position that fits, and moves *at after it. If none fits, *at stays. */
static int list_some(listing *list, uint64_t *at, unsigned bits, bool *full)
{
    slice self = slice_at(list->table, *at, bits);
    uint64_t positions = self.span - self.offset;
    *full = false;
    list->first = (*at - self.offset) * (list->table->hashes >> bits);
    if (self.part.table && self.part.table->used)
        VIDI__TRY(list_slice(&self, list, &positions, full));
    *at += positions;
    return VIDI_OK;
}

int vidi__table_save_run(const vidi__table *table, vidi__run_out *run)
{
    unsigned bits = prefix_bits(table, run->bits);
    uint64_t at = run->at, end = UINT64_C(1) << bits;
    bool measures = run->writer->measures;
    listing list = {.table = table, .writer = measures ? NULL : run->writer, .most = most_hashes(table, run->room)};
    bool full = false;
    if (at > end)
        return vidi__run_position_unknown();
    VIDI__TRY(vidi__write_u64(run->writer, table->hashes));
    while (at < end && !full)
        VIDI__TRY(list_some(&list, &at, bits, &full));
    VIDI__TRY(flush(&list));
    if (measures)
        run->writer->at += lists_bytes(table, list.count);
    run->at = at < end ? at : vidi__run_end(run);
    return vidi__write_u64(run->writer, 0);
}

/* ---- reading ---- */

typedef struct arriving {
    vidi__table *table;
    vidi__run_in *run;
    uint64_t seen; /* entries of the run so far */
    uint64_t least, greatest;
    uint64_t fresh;
} arriving;

/* Adds a hash `times` times, or not at all. */
static int add_times(arriving *self, uint64_t hash, uint64_t times)
{
    vidi__table *table = self->table;
    int verdict = vidi__table_add(table, hash);
    VIDI__TRY(verdict);
    if (times > 1) {
        const vidi__place place = vidi__table_place(table, hash);
        uint64_t before = vidi__subtable_times(place.table, place.hash);
        int code = before < UINT64_MAX - TIMES_MAX
                       ? vidi__subtable_insert(place.table, &table->slabs, place.hash, times - 1)
                       : vidi__fail(VIDI_ELIMIT, "a URL cannot be counted more than 2^64 - 1 times");
        if (code < 0) {
            vidi__subtable_remove(place.table, place.hash);
            return code;
        }
    }
    self->fresh += verdict == VIDI_NEW;
    self->run->done++;
    return VIDI_OK;
}

static int take_entry(arriving *self, uint64_t hash, uint64_t times)
{
    if (self->run->apply)
        return self->seen++ >= self->run->done ? add_times(self, hash, times) : VIDI_OK;
    self->seen++;
    self->least = hash < self->least ? hash : self->least;
    self->greatest = hash > self->greatest ? hash : self->greatest;
    return times && times <= TIMES_MAX ? VIDI_OK : vidi__damaged("a hash is stored 0 times, or far too often");
}

static int take_list(arriving *self, uint64_t count)
{
    unsigned each = words_each(self->table);
    const unsigned char *words;
    if (count > self->run->reader->left / 8 / each)
        return vidi__damaged("there are more hashes than the data can hold");
    VIDI__TRY(vidi__lend(self->run->reader, count * each * 8, &words));
    for (uint64_t i = 0; i < count; i++) {
        const unsigned char *at = words + i * each * 8;
        VIDI__TRY(take_entry(self, vidi__load64(at), each == 2 ? vidi__load64(at + 8) : 1));
    }
    return VIDI_OK;
}

static int take_lists(arriving *self)
{
    uint64_t hashes, count;
    VIDI__TRY(vidi__read_u64(self->run->reader, &hashes));
    if (hashes != self->table->hashes)
        return vidi__damaged("the table keeps another number of bits than the set's");
    do {
        VIDI__TRY(vidi__read_u64(self->run->reader, &count));
        VIDI__TRY(take_list(self, count));
    } while (count);
    return VIDI_OK;
}

/*
 * Estimates how many hashes the whole table will have from the density of those of the run; 0 if they are few.
 * Sub-tables then grow to their size at once. What a run claims cannot cost much: sub-tables without hashes in it do not
 * grow.
 */
static uint64_t estimate(const arriving *self)
{
    double share = (double)(self->greatest - self->least) * 0x1p-64;
    return self->seen >= ENOUGH && share > 0 ? (uint64_t)fmin((double)self->seen / share, 0x1p50) : 0;
}

/* Adds the run, which was checked, under the hint that its density gives. */
static int add_lists(arriving *self)
{
    vidi__reader begin = *self->run->reader;
    arriving scan = {.table = self->table, .run = self->run, .least = UINT64_MAX};
    uint64_t expected = atomic_load(&self->table->expected);
    self->run->apply = false;
    VIDI__TRY(take_lists(&scan));
    self->run->apply = true;
    *self->run->reader = begin;
    if (estimate(&scan) > expected)
        vidi__table_expect(self->table, estimate(&scan));
    int code = take_lists(self);
    atomic_store(&self->table->expected, expected);
    return code;
}

int vidi__table_load_run(vidi__table *table, vidi__run_in *run, uint64_t *fresh)
{
    arriving self = {.table = table, .run = run, .least = UINT64_MAX};
    int code = run->apply ? add_lists(&self) : take_lists(&self);
    *fresh = self.fresh;
    return code;
}
