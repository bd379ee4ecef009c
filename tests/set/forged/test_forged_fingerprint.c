/*
 * Streams with correct checksums that lie about the tables of the kind fingerprint: their counts, lines, overflowed
 * hashes and directories.
 */
#include "set/forged/forged_cases.h"
#include "support/runner.h"

enum { PARTITION_BITS = 6 };
#define NOT_OPEN UINT64_MAX
#define ONE_PARTITION (UINT64_MAX - 1)

/* A sub-table in a payload. */
typedef struct table {
    size_t at; /* six numbers */
    uint64_t depth, lines, width, used, overflowed, room;
    size_t first_line;
    size_t first_overflowed; /* entry of their table; in a multiset, their times behind all */
    uint64_t range;          /* hashes are below it */
} table;

enum { HEAD = 48, LINES = 8, WIDTH = 16, USED = 24, OVERFLOWED = 32, ROOM = 40 };

/* The numbers alone. `bits` of a hash lead to its partition. */
static table head_at(const test_forge *forge, size_t at, uint64_t numbers, unsigned bits)
{
    table found = {.at = at,
                   .depth = test_forge_get(forge, at),
                   .lines = test_forge_get(forge, at + LINES),
                   .width = test_forge_get(forge, at + WIDTH),
                   .used = test_forge_get(forge, at + USED),
                   .overflowed = test_forge_get(forge, at + OVERFLOWED),
                   .room = test_forge_get(forge, at + ROOM)};
    found.range = numbers >> bits >> found.depth;
    return found;
}

/* A walk over all heads. */
typedef struct heads {
    const test_forge *forge;
    uint64_t numbers, entry, depth; /* the depth is that of the partition */
    unsigned bits, partition;
    size_t at;
} heads;

static heads heads_of(const test_forge *forge, uint64_t numbers)
{
    heads all = {.forge = forge, .numbers = numbers, .at = test_forge_find(forge).filter.contents};
    all.bits = test_forge_get(forge, all.at) == ONE_PARTITION ? 0 : PARTITION_BITS;
    all.at += all.bits ? 0 : 8;
    return all;
}

static bool next_head(heads *all, table *found)
{
    for (; all->partition < 1u << all->bits; all->partition++, all->entry = 0) {
        if (all->entry == 0) {
            all->depth = test_forge_get(all->forge, all->at);
            all->at += 8;
        }
        if (all->depth != NOT_OPEN && all->entry < UINT64_C(1) << all->depth) {
            *found = head_at(all->forge, all->at, all->numbers, all->bits);
            all->entry += UINT64_C(1) << (all->depth - found->depth);
            all->at += HEAD;
            return true;
        }
    }
    return false;
}

typedef bool table_fits(const test_forge *forge, const table *found);

/* The first sub-table that serves; fails the test if there is none. The lines of all stand behind all heads. */
static table find_table(const test_forge *forge, uint64_t numbers, bool multiset, table_fits *fits)
{
    table found = {0};
    heads all = heads_of(forge, numbers);
    uint64_t lines = 0;
    while (next_head(&all, &found)) {
        lines += found.lines;
    }
    size_t line = all.at, overflowed = all.at + 64 * lines;
    for (all = heads_of(forge, numbers); next_head(&all, &found);) {
        found.first_line = line;
        found.first_overflowed = overflowed;
        if (fits(forge, &found)) {
            return found;
        }
        line += 64 * found.lines;
        overflowed += found.room * (multiset ? 16 : 8);
    }
    fail_msg("no sub-table serves");
    return found;
}

/* Where the n-th overflowed hash is; those that are changed there are also not where they are looked for. */
static size_t overflowed_at(const test_forge *forge, const table *in, unsigned n)
{
    size_t at = in->first_overflowed;
    for (;; at += 8) {
        assert_true(at < in->first_overflowed + 8 * in->room);
        if (test_forge_get(forge, at) != UINT64_MAX && n-- == 0) {
            return at;
        }
    }
}

static bool any_table(const test_forge *forge, const table *found)
{
    (void)forge;
    (void)found;
    return true;
}

static bool has_overflowed(const test_forge *forge, const table *found)
{
    (void)forge;
    return found->overflowed >= 2;
}

static unsigned slots_of(const table *in)
{
    static const unsigned slots[9] = {0, 0, 0, 20, 15, 12, 10, 8, 7};
    return slots[in->width];
}

static unsigned char *line_at(const test_forge *forge, const table *in, uint64_t line)
{
    return forge->bytes + in->first_line + 64 * (line % in->lines);
}

static unsigned count_in(const unsigned char *line)
{
    return line[60] & 31u;
}

static uint32_t head_of(const unsigned char *line)
{
    return line[60] | (uint32_t)line[61] << 8 | (uint32_t)line[62] << 16 | (uint32_t)line[63] << 24;
}

static void set_head(unsigned char *line, uint32_t head)
{
    for (unsigned i = 0; i < 4; i++) {
        line[60 + i] = (unsigned char)(head >> 8 * i);
    }
}

static uint32_t displaced_bit(unsigned slot)
{
    return UINT32_C(32) << slot;
}

/* The first line that has a displaced entry, and its slot; `lines` if there is none. */
static uint64_t line_with_displaced(const test_forge *forge, const table *in, unsigned *slot)
{
    for (uint64_t line = 0; line < in->lines; line++) {
        const unsigned char *at = line_at(forge, in, line);
        for (*slot = 0; *slot < count_in(at); ++*slot) {
            if (head_of(at) & displaced_bit(*slot)) {
                return line;
            }
        }
    }
    return in->lines;
}

static bool has_displaced(const test_forge *forge, const table *found)
{
    unsigned slot;
    return found->overflowed && line_with_displaced(forge, found, &slot) < found->lines;
}

static bool has_room_behind_the_count(const test_forge *forge, const table *found)
{
    return count_in(line_at(forge, found, 0)) < slots_of(found);
}

/* A line in use, from the beginning or from the end: its number. */
static uint64_t used_line(const test_forge *forge, const table *in, unsigned least)
{
    for (uint64_t line = 0; line < in->lines; line++) {
        if ((forge->bytes[in->first_line + 64 * line + 60] & 31u) >= least) {
            return line;
        }
    }
    fail_msg("no line has %u hashes", least);
    return 0;
}

/* The parts of a distance, as lib/filters/fingerprint/line.h lays them out: their sizes, and where the first ones are. */
enum { PARTS = 3 };
static const struct {
    unsigned bytes[PARTS], at[PARTS];
} layouts[9] = {
    [3] = {{2, 1}, {0, 40}},        [4] = {{4}, {0}}, [5] = {{4, 1}, {0, 48}}, [6] = {{4, 2}, {0, 40}},
    [7] = {{4, 2, 1}, {0, 32, 48}}, [8] = {{8}, {0}},
};

static uint64_t get_distance(const unsigned char *line, uint64_t width, unsigned slot)
{
    unsigned shift = 0;
    uint64_t distance = 0;
    for (int part = 0; part < PARTS; part++) {
        const unsigned bytes = layouts[width].bytes[part], at = layouts[width].at[part] + slot * bytes;
        for (unsigned i = 0; i < bytes; i++, shift += 8) {
            distance |= (uint64_t)line[at + i] << shift;
        }
    }
    return distance;
}

static void put_distance(unsigned char *line, uint64_t width, unsigned slot, uint64_t distance)
{
    for (int part = 0; part < PARTS; part++) {
        const unsigned bytes = layouts[width].bytes[part], at = layouts[width].at[part] + slot * bytes;
        for (unsigned i = 0; i < bytes; i++, distance >>= 8) {
            line[at + i] = (unsigned char)distance;
        }
    }
}

/* Lines are multiples of 2^64 in hash · ratio. */
static uint64_t first_hash(const table *in, uint64_t line)
{
    uint64_t ratio = (uint64_t)(((unsigned __int128)in->lines << 64) / in->range);
    uint64_t first = (uint64_t)((((unsigned __int128)line << 64) + ratio - 1) / ratio);
    return line < in->lines ? first : in->range;
}

/* Tables of all widths: few hashes and many, of many bits and few. */
static const struct {
    const char *params;
    uint64_t numbers; /* that hashes come to */
    uint64_t n;
} prints[] = {
    {"bits=60", UINT64_C(1) << 60, 40},
    {"bits=60", UINT64_C(1) << 60, 2000},
    {"bits=60", UINT64_C(1) << 60, 120000}, /* in 64 partitions */
    {"bits=46.578125", UINT64_C(383) << 38, 8000},
    {"bits=40", UINT64_C(1) << 40, 8000},
    {"bits=32.25", UINT64_C(305) << 24, 40000},
};

enum { PRINTS = sizeof prints / sizeof *prints };

static void the_count_is_the_number_of_hashes(void **state)
{
    (void)state;
    for (size_t i = 0; i < PRINTS; i++) {
        test_forge forge = forge_of("fingerprint", prints[i].params, 0, 0, prints[i].n);
        test_forge_filter filter = test_forge_find(&forge).filter;
        uint64_t count = test_forge_get(&forge, filter.count);
        must_be_accepted(&forge, prints[i].params);
        refuse_number(&forge, filter.count, count - 1, "count");
        refuse_number(&forge, filter.count, count + 1, "count");
        refuse_number(&forge, filter.count, 0, "count");
        refuse_number(&forge, filter.count, UINT64_MAX, "count");
        table first = find_table(&forge, prints[i].numbers, false, any_table);
        unsigned char *line = forge.bytes + first.first_line + 64 * used_line(&forge, &first, 1);
        line[60]--;
        must_be_refused(&forge, "a hash is missing", i);
        test_forge_free(&forge);
    }
}

static void a_line_holds_no_more_than_it_can(void **state)
{
    (void)state;
    for (size_t i = 0; i < PRINTS; i++) {
        test_forge forge = forge_of("fingerprint", prints[i].params, 0, 0, prints[i].n);
        table first = find_table(&forge, prints[i].numbers, false, any_table);
        unsigned char *line = forge.bytes + first.first_line;
        unsigned char kept = line[60];
        for (unsigned count = slots_of(&first) + 1; count < 32; count++) {
            line[60] = (unsigned char)((kept & ~31u) | count);
            must_be_refused(&forge, "hashes in a line", count);
        }
        test_forge_free(&forge);
    }
}

static void a_distance_leads_to_its_line(void **state)
{
    unsigned tried = 0;
    (void)state;
    for (size_t i = 0; i < PRINTS; i++) {
        test_forge forge = forge_of("fingerprint", prints[i].params, 0, 0, prints[i].n);
        table first = find_table(&forge, prints[i].numbers, false, any_table);
        uint64_t number = used_line(&forge, &first, 1);
        unsigned char *line = forge.bytes + first.first_line + 64 * number;
        unsigned slot = (line[60] & 31u) - 1;
        uint64_t span = first_hash(&first, number + 1) - first_hash(&first, number);
        uint64_t most = first.width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * first.width) - 1;
        assert_true(get_distance(line, first.width, slot) < span);
        if (span - 1 <= most) {
            put_distance(line, first.width, slot, span - 1);
            must_be_accepted(&forge, "the last distance");
        }
        if (span <= most) {
            put_distance(line, first.width, slot, span);
            must_be_refused(&forge, "distance", span);
            put_distance(line, first.width, slot, most);
            must_be_refused(&forge, "distance", most);
            tried++;
        }
        test_forge_free(&forge);
    }
    assert_true(tried >= 2);
}

static void a_hash_is_in_a_line_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < PRINTS; i++) {
        test_forge forge = forge_of("fingerprint", prints[i].params, 0, 0, prints[i].n);
        table first = find_table(&forge, prints[i].numbers, false, any_table);
        if (prints[i].n > 1000) {
            unsigned char *line = forge.bytes + first.first_line + 64 * used_line(&forge, &first, 2);
            put_distance(line, first.width, 0, get_distance(line, first.width, 1));
            must_be_refused(&forge, prints[i].params, i);
        }
        test_forge_free(&forge);
    }
}

static const uint64_t numbers_with_displaced[] = {UINT64_C(1) << 60, UINT64_C(383) << 38};

/* Sets whose tables have displaced entries and overflowed hashes. */
static test_forge forge_with_displaced(size_t which, table *in)
{
    static const char *const params[] = {"bits=60", "bits=46.578125"};
    test_forge forge = forge_of("fingerprint", params[which], 0, 0, 40000);
    must_be_accepted(&forge, params[which]);
    *in = find_table(&forge, numbers_with_displaced[which], false, has_displaced);
    return forge;
}

static void a_displaced_entry_is_among_those_that_are_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        table in;
        test_forge forge = forge_with_displaced(i, &in);
        in = find_table(&forge, numbers_with_displaced[i], false, has_room_behind_the_count);
        unsigned char *line = line_at(&forge, &in, 0);
        uint32_t kept = head_of(line);
        for (unsigned slot = count_in(line); slot < slots_of(&in); slot++) {
            set_head(line, kept | displaced_bit(slot));
            must_be_refused(&forge, "displaced in slot", slot);
        }
        test_forge_free(&forge);
    }
}

/* Of the line before: its distances are those that lead there, and it is not in that line too. */
static void a_displaced_entry_belongs_to_the_line_before(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        table in;
        unsigned slot;
        test_forge forge = forge_with_displaced(i, &in);
        uint64_t number = line_with_displaced(&forge, &in, &slot), owner = (number + in.lines - 1) % in.lines;
        unsigned char *line = line_at(&forge, &in, number), *own = line_at(&forge, &in, owner);
        uint64_t span = first_hash(&in, owner + 1) - first_hash(&in, owner);
        uint64_t kept = get_distance(line, in.width, slot);
        uint64_t most = in.width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * in.width) - 1;
        assert_true(kept < span && span <= most);
        set_head(own, head_of(own) | UINT32_MAX << (5 + slots_of(&in))); /* the signatures of all distances */
        put_distance(line, in.width, slot, span - 1);
        must_be_accepted(&forge, "the last distance of a displaced entry");
        put_distance(line, in.width, slot, span);
        must_be_refused(&forge, "distance of a displaced entry", span);
        put_distance(line, in.width, slot, most);
        must_be_refused(&forge, "distance of a displaced entry", most);
        put_distance(line, in.width, slot, get_distance(own, in.width, 0));
        must_be_refused(&forge, "a displaced entry that is in its line too", i);
        put_distance(line, in.width, slot, kept);
        refuse_number(&forge, overflowed_at(&forge, &in, 0), first_hash(&in, owner) + kept,
                      "a displaced entry that has overflowed too");
        test_forge_free(&forge);
    }
}

/* What it would take to hide a hash: heads without their signatures. */
static void a_stream_without_signatures_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        table in;
        test_forge forge = forge_with_displaced(i, &in);
        for (uint64_t line = 0; line < in.lines; line++) {
            unsigned char *at = line_at(&forge, &in, line);
            set_head(at, head_of(at) & ((UINT32_C(32) << slots_of(&in)) - 1));
        }
        must_be_refused(&forge, "lines without signatures", i);
        test_forge_free(&forge);
    }
}

static void an_overflowed_hash_is_there_once(void **state)
{
    (void)state;
    for (int multiset = 0; multiset < 2; multiset++) {
        test_forge forge = forge_of("fingerprint", multiset ? "multiset=on" : NULL, 0, 0, 40000);
        must_be_accepted(&forge, "fingerprint");
        table in = find_table(&forge, UINT64_C(1) << 60, multiset, has_overflowed);
        size_t at = overflowed_at(&forge, &in, 0), second = overflowed_at(&forge, &in, 1);
        uint64_t kept = test_forge_get(&forge, at);
        assert_true(kept < in.range);
        refuse_number(&forge, second, kept, "overflowed hash");
        refuse_number(&forge, at, in.range, "overflowed hash");
        refuse_number(&forge, at, kept + in.range, "overflowed hash");
        refuse_number(&forge, at, UINT64_MAX, "overflowed hash");
        refuse_number(&forge, at, UINT64_MAX - 1, "overflowed hash");
        uint64_t number = used_line(&forge, &in, 1);
        uint64_t distance = get_distance(forge.bytes + in.first_line + 64 * number, in.width, 0);
        refuse_number(&forge, at, first_hash(&in, number) + distance, "hash of a line");
        if (multiset) {
            refuse_number(&forge, at + 8 * in.room, 0, "times");
        }
        test_forge_free(&forge);
    }
}

static void a_table_has_a_shape_that_can_be(void **state)
{
    (void)state;
    test_forge forge = forge_of("fingerprint", NULL, 0, 0, 40000);
    table in = find_table(&forge, UINT64_C(1) << 60, false, has_overflowed);
    static const uint64_t lines[] = {0, 1, UINT64_C(1) << 17, (UINT64_C(1) << 17) + 1, UINT64_C(1) << 58, UINT64_MAX};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        refuse_number(&forge, in.at + LINES, lines[i], "lines");
    }
    refuse_number(&forge, in.at + LINES, in.lines + 1, "lines");
    refuse_number(&forge, in.at + LINES, in.lines - 1, "lines");
    for (uint64_t width = 0; width < 10; width++) {
        if (width != in.width && (width < in.width || width > 8)) {
            refuse_number(&forge, in.at + WIDTH, width, "bytes a distance");
        }
    }
    refuse_number(&forge, in.at + WIDTH, UINT64_C(1) << 32 | 6, "bytes a distance");
    refuse_number(&forge, in.at + OVERFLOWED, in.overflowed - 1, "overflowed");
    refuse_number(&forge, in.at + OVERFLOWED, in.overflowed + 1, "overflowed");
    refuse_number(&forge, in.at + OVERFLOWED, UINT64_C(1) << 61, "overflowed");
    refuse_number(&forge, in.at + OVERFLOWED, UINT64_MAX, "overflowed");
    refuse_number(&forge, in.at + USED, in.used - 1, "in use");
    refuse_number(&forge, in.at + USED, in.used + 1, "in use");
    refuse_number(&forge, in.at + USED, 0, "in use");
    refuse_number(&forge, in.at + USED, in.lines * slots_of(&in) + in.overflowed + 1, "in use");
    refuse_number(&forge, in.at + USED, UINT64_MAX, "in use");
    refuse_number(&forge, in.at + ROOM, 0, "room");
    refuse_number(&forge, in.at + ROOM, in.overflowed, "room");
    refuse_number(&forge, in.at + ROOM, UINT64_C(1) << 40, "room");
    refuse_number(&forge, in.at + ROOM, UINT64_MAX, "room");
    test_forge_free(&forge);
}

/*
 * An empty set whose only or first partition has a directory of this depth and empty sub-tables of those depths.
 */
static test_forge with_directory(unsigned partitions, uint64_t depth, const uint64_t *depths, size_t n)
{
    static const unsigned char empty_line[64];
    test_forge forge = forge_of("fingerprint", NULL, 0, 0, 0);
    test_forge_cut(&forge, test_forge_find(&forge).filter.contents);
    if (partitions == 1) {
        test_forge_append_u64(&forge, ONE_PARTITION);
    }
    test_forge_append_u64(&forge, depth);
    for (size_t i = 0; i < n; i++) {
        const uint64_t numbers[] = {depths[i], 1, 8, 0, 0, 0};
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
            test_forge_append_u64(&forge, numbers[j]);
        }
    }
    for (unsigned i = 1; i < partitions; i++) {
        test_forge_append_u64(&forge, NOT_OPEN);
    }
    for (size_t i = 0; i < n; i++) {
        test_forge_append_array(&forge);
        test_forge_append(&forge, empty_line, sizeof empty_line);
    }
    return forge;
}

/* Of itself, which is the line before: it could be there as one of its own just as well. */
static void a_table_of_one_line_has_no_displaced_entries(void **state)
{
    static const uint64_t depth = 0;
    (void)state;
    test_forge forge = with_directory(1, 0, &depth, 1);
    test_forge_filter filter = test_forge_find(&forge).filter;
    table in = find_table(&forge, UINT64_C(1) << 60, false, any_table);
    unsigned char *line = line_at(&forge, &in, 0);
    assert_int_equal(in.lines, 1);
    put_distance(line, in.width, 0, 77);
    set_head(line, 1);
    test_forge_put(&forge, filter.count, 1);
    test_forge_put(&forge, in.at + USED, 1);
    must_be_accepted(&forge, "one hash in one line");
    set_head(line, 1 | displaced_bit(0));
    must_be_refused(&forge, "a displaced entry in the only line", 0);
    test_forge_free(&forge);
}

static void sub_tables_leave_no_gap(void **state)
{
    static const struct {
        uint64_t depth;
        uint64_t tables[8];
        size_t n;
        bool good;
    } directories[] = {
        {0, {0}, 1, true},          {1, {1, 1}, 2, true},
        {2, {1, 2, 2}, 3, true},    {2, {2, 2, 1}, 3, true},
        {3, {3, 3, 2, 1}, 4, true}, {1, {1, 0}, 2, false}, /* one too large for its place */
        {2, {2, 1, 2}, 3, false},                          /* across the middle */
        {2, {2, 0}, 2, false},      {3, {3, 2, 3, 2, 2}, 5, false},
        {0, {1}, 1, false},                                   /* deeper than the directory */
        {1, {2, 2, 1}, 3, false},   {1, {1}, 1, false},       /* not complete: the next partition comes instead */
        {2, {1, 2}, 2, false},      {1, {1, 1, 1}, 3, false}, /* one too many */
        {0, {0, 0}, 2, false},      {1, {UINT64_MAX}, 1, false},
        {1, {64, 64}, 2, false},    {1, {UINT64_C(1) << 32, 1}, 2, false},
        {0, {0}, 0, false},
    };
    (void)state;
    for (size_t j = 0; j < 2 * sizeof directories / sizeof *directories; j++) {
        size_t i = j / 2;
        test_forge forge =
            with_directory(j % 2 ? 1 : 64, directories[i].depth, directories[i].tables, directories[i].n);
        if (directories[i].good) {
            must_be_accepted(&forge, "a directory");
        } else {
            must_be_refused(&forge, "directory", i);
        }
        test_forge_free(&forge);
    }
}

/* However deep it says it is, no directory is made that the stream is too short for. */
static void the_depth_of_a_directory_is_not_believed(void **state)
{
    static const uint64_t depths[] = {
        60, 5, 12, 18, 20, 22, 24, 25, 32, 46, 54, 63, 64, 100, UINT64_C(1) << 32, UINT64_MAX - 1};
    (void)state;
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        const uint64_t tables[] = {depths[i], depths[i]};
        for (unsigned partitions = 1; partitions <= 64; partitions += 63) {
            test_forge forge = with_directory(partitions, depths[i], tables, 2);
            must_be_refused(&forge, "depth", depths[i]);
            test_forge_free(&forge);
        }
    }
}

int main(int argc, char **argv)
{
    test_add("fingerprint: the count is the number of hashes", the_count_is_the_number_of_hashes, NULL);
    test_add("fingerprint: a line holds no more than it can", a_line_holds_no_more_than_it_can, NULL);
    test_add("fingerprint: a distance leads to its line", a_distance_leads_to_its_line, NULL);
    test_add("fingerprint: a hash is in a line once", a_hash_is_in_a_line_once, NULL);
    test_add("fingerprint: a displaced entry is among those that are there",
             a_displaced_entry_is_among_those_that_are_there, NULL);
    test_add("fingerprint: a displaced entry belongs to the line before", a_displaced_entry_belongs_to_the_line_before,
             NULL);
    test_add("fingerprint: a stream without signatures is refused", a_stream_without_signatures_is_refused, NULL);
    test_add("fingerprint: an overflowed hash is there once", an_overflowed_hash_is_there_once, NULL);
    test_add("fingerprint: a table has a shape that can be", a_table_has_a_shape_that_can_be, NULL);
    test_add("fingerprint: a table of one line has no displaced entries", a_table_of_one_line_has_no_displaced_entries,
             NULL);
    test_add("fingerprint: sub-tables leave no gap", sub_tables_leave_no_gap, NULL);
    test_add("fingerprint: the depth of a directory is not believed", the_depth_of_a_directory_is_not_believed, NULL);
    return test_run("forged fingerprint", argc, argv);
}
