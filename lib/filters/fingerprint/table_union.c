/* See table_union.h. */
#include "filters/fingerprint/table_union.h"

/* A union of at most this many hashes is made as a whole: it takes less than a megabyte. */
#define WHOLE_MOST 30000

/* Stands for all partitions. */
#define WHOLE VIDI__PARTITIONS

/* The heads of all sub-tables, as they are written: what the union keeps. */
typedef struct kept_bytes {
    vidi__writer base;
    vidi__memory *memory;
    unsigned char *bytes;
    uint64_t count, room;
} kept_bytes;

static int keep_bytes(vidi__writer *writer, const void *data, uint64_t bytes)
{
    kept_bytes *self = (kept_bytes *)writer;
    while (self->count + bytes > self->room) {
        uint64_t room = self->room ? 2 * self->room : 4096;
        VIDI__TRY(vidi__regrow(self->memory, &self->bytes, self->room, room, 8));
        self->room = room;
    }
    memcpy(self->bytes + self->count, data, bytes);
    self->count += bytes;
    return VIDI_OK;
}

/* Hands what was collected to the union, in a block that is as long as it must be. */
static int hand_over(const kept_bytes *self, vidi__union *all)
{
    VIDI__TRY(vidi__union_keep(all, self->count));
    if (self->count)
        memcpy(all->kept, self->bytes, self->count);
    return VIDI_OK;
}

/* Adds the hashes of other tables to a table that has one partition of the union. */
typedef struct adding {
    vidi__table *table;
    uint64_t fresh; /* how many different hashes it has */
} adding;

static int add_hash(void *context, uint64_t hash, uint64_t times)
{
    adding *self = context;
    int verdict = vidi__table_add_times(self->table, hash, times);
    self->fresh += verdict == VIDI_NEW;
    return verdict < 0 ? verdict : 0;
}

/* Fills a table with one partition of the union, or with all of it. If `sizes` is not NULL, counts its hashes there. */
static int fill(vidi__table *table, const vidi__union *all, vidi__table_of_fn *table_of, unsigned partition,
                vidi__union_size *sizes)
{
    adding self = {.table = table};
    for (size_t i = 0; i < all->count; i++) {
        const vidi__table *from = table_of(all->parts[i]);
        VIDI__TRY(partition == WHOLE ? vidi__table_walk(from, add_hash, &self)
                                     : vidi__table_walk_partition(from, partition, add_hash, &self));
        if (sizes)
            sizes[i].count += self.fresh;
    }
    return VIDI_OK;
}

/* A table that has a part of the union, and what is done with it. */
typedef struct making {
    vidi__union *all;
    vidi__table_of_fn *table_of;
    vidi__union_size *sizes; /* NULL: they are known */
    vidi__writer *writer;
} making;

static int count_only(const vidi__table *table, unsigned partition, vidi__writer *writer)
{
    (void)table, (void)partition, (void)writer;
    return VIDI_OK;
}

static int save_whole(const vidi__table *table, unsigned partition, vidi__writer *writer)
{
    (void)partition;
    return vidi__table_save(table, writer);
}

/* Makes one partition of the union, or all of it, and writes a part of it. */
static int make(const making *self, unsigned partition, vidi__table_save_fn *save)
{
    vidi__memory *memory = self->all->memory;
    const vidi__table *like = self->table_of(self->all->parts[0]);
    vidi__table table = {
        .hashes = like->hashes, .multiset = like->multiset, .portable = like->portable, .growth = like->growth};
    vidi__table_init(&table, memory);
    int code = partition == WHOLE ? VIDI_OK : vidi__table_divide(&table);
    if (code == VIDI_OK)
        code = fill(&table, self->all, self->table_of, partition, self->sizes);
    if (code == VIDI_OK)
        code = save(&table, partition, self->writer);
    vidi__table_close(&table);
    return code;
}

static bool is_small(const vidi__union *all)
{
    uint64_t hashes = 0;
    for (size_t i = 0; i < all->count && hashes <= WHOLE_MOST; i++)
        hashes += vidi__filter_count(all->parts[i]);
    return hashes <= WHOLE_MOST;
}

/* Makes each partition and writes this part of it. */
static int make_each(const making *self, vidi__table_save_fn *save)
{
    for (unsigned i = 0; i < VIDI__PARTITIONS; i++)
        VIDI__TRY(make(self, i, save));
    return VIDI_OK;
}

int vidi__tables_unite(vidi__union *all, vidi__table_of_fn *table_of)
{
    kept_bytes kept = {.base.write = keep_bytes, .memory = all->memory};
    making self = {all, table_of, all->sizes, &kept.base};
    double numbers = (double)table_of(all->parts[0])->hashes;
    for (size_t i = 0; i < all->count; i++)
        all->sizes[i].count = 0;
    int code = is_small(all) ? make(&self, WHOLE, count_only) : make_each(&self, vidi__table_save_heads);
    if (code == VIDI_OK)
        code = hand_over(&kept, all);
    for (size_t i = 0; i < all->count; i++)
        all->sizes[i].fp = (double)(all->sizes[i].count + all->sizes[i].more) / numbers;
    vidi__release(all->memory, kept.bytes, kept.room, 8);
    return code;
}

int vidi__tables_save_union(const vidi__union *all, vidi__table_of_fn *table_of, vidi__writer *writer)
{
    making self = {(vidi__union *)all, table_of, NULL, writer};
    if (is_small(all))
        return make(&self, WHOLE, save_whole);
    VIDI__TRY(vidi__write(writer, all->kept, all->kept_bytes));
    VIDI__TRY(make_each(&self, vidi__table_save_lines));
    return make_each(&self, vidi__table_save_overflow);
}
