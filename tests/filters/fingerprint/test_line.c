/* One cache line of remainders: what is put in comes out, and vectors find exactly what plain loops find. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu/cpu.h"
#include "filters/fingerprint/line.h"
#include "support/check.h"
#include "support/random.h"
#include "support/runner.h"

static const unsigned widths[] = {3, 4, 5, 6, 7, 8};

static uint64_t most_of(unsigned width)
{
    return width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * width) - 1;
}

/* Extreme values, single bits and random ones. */
static uint64_t value_at(unsigned width, unsigned i, test_random *random)
{
    uint64_t most = most_of(width);
    if (i < 8 * width)
        return UINT64_C(1) << i;
    if (i < 16 * width)
        return most ^ UINT64_C(1) << (i - 8 * width);
    if (i == 16 * width)
        return 0;
    if (i == 16 * width + 1)
        return most;
    return test_next(random) & most;
}

static void fill_randomly(unsigned char *line, test_random *random)
{
    for (unsigned i = 0; i < VIDI__LINE_BYTES; i += 8)
        vidi__store64(line + i, test_next(random));
}

static void every_slot_gives_back_what_was_put_into_it(void **state)
{
    test_random random = {1};
    unsigned width = *(const unsigned *)*state, slots = vidi__line_slots(width);
    unsigned char line[VIDI__LINE_BYTES];
    uint64_t kept[32];
    for (unsigned round = 0; round < 20 * width; round++) {
        fill_randomly(line, &random);
        for (unsigned i = 0; i < slots; i++)
            kept[i] = vidi__line_get(line, width, i);
        for (unsigned n = 0; n < 100; n++) {
            unsigned slot = (unsigned)test_below(&random, slots);
            kept[slot] = value_at(width, (round + n) % (20 * width), &random);
            vidi__line_put(line, width, slot, kept[slot]);
            for (unsigned i = 0; i < slots; i++)
                check(vidi__line_get(line, width, i) == kept[i], "width %u: slot %u after a put to %u", width, i, slot);
        }
    }
}

static void putting_leaves_the_head_and_the_neighbours_alone(void **state)
{
    test_random random = {2};
    unsigned width = *(const unsigned *)*state;
    unsigned char room[3 * VIDI__LINE_BYTES], before[sizeof room], *line = room + VIDI__LINE_BYTES;
    for (unsigned round = 0; round < 500; round++)
        for (unsigned slot = 0; slot < vidi__line_slots(width); slot++) {
            for (unsigned i = 0; i < 3; i++)
                fill_randomly(room + i * VIDI__LINE_BYTES, &random);
            memcpy(before, room, sizeof room);
            vidi__line_put(line, width, slot, value_at(width, round % (20 * width), &random));
            assert_memory_equal(room, before, VIDI__LINE_BYTES);
            assert_memory_equal(line + 60, before + VIDI__LINE_BYTES + 60, VIDI__LINE_BYTES + 4);
            unsigned changed = 0;
            for (unsigned i = 0; i < VIDI__LINE_BYTES; i++)
                changed += line[i] != before[VIDI__LINE_BYTES + i];
            assert_true(changed <= width);
        }
}

static void slots_fit_into_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(widths); i++) {
        unsigned slots = vidi__line_slots(widths[i]);
        assert_true(slots * widths[i] <= 60);
        assert_true((slots + 1) * widths[i] > 60); /* not one more would fit */
        assert_true(slots < 32);                   /* what the head can count */
    }
    assert_int_equal(vidi__line_slots(0) + vidi__line_slots(1) + vidi__line_slots(2), 0);
}

/* Five bits of count, a bit for each slot, and what is left for the signature: together all 32, and none twice. */
static void the_parts_of_a_head_do_not_overlap(void **state)
{
    test_random random = {5};
    unsigned width = *(const unsigned *)*state, slots = vidi__line_slots(width);
    uint32_t displaced_slots = 0, signs = 0;
    for (unsigned slot = 0; slot < slots; slot++) {
        assert_int_equal(vidi__line_displaced(vidi__line_displaced_bit(slot) | 31, slots), UINT32_C(1) << slot);
        displaced_slots |= vidi__line_displaced_bit(slot);
    }
    for (unsigned i = 0; i < 4000; i++) {
        uint64_t distance = value_at(width, i % (20 * width), &random);
        uint32_t sign = vidi__line_signature(slots, i % 2 ? distance : i);
        check(__builtin_popcount(sign) == 1, "width %u: %llx signs %x", width, (unsigned long long)distance, sign);
        assert_int_equal(vidi__line_count(sign), 0);
        assert_int_equal(vidi__line_displaced(sign, slots), 0);
        signs |= sign;
    }
    assert_int_equal(__builtin_popcount(displaced_slots), slots);
    assert_int_equal(31 | displaced_slots | signs, UINT32_MAX);
    assert_int_equal((31 & displaced_slots) | (31 & signs) | (displaced_slots & signs), 0);
}

static void a_head_leaves_the_slots_alone(void **state)
{
    unsigned char line[VIDI__LINE_BYTES];
    test_random random = {6};
    (void)state;
    memset(line, 0x77, sizeof line);
    for (unsigned i = 0; i < 1000; i++) {
        uint32_t head = (uint32_t)test_next(&random);
        vidi__line_set_head(line, head);
        assert_int_equal(vidi__line_head(line), head);
        assert_int_equal(vidi__line_count(head), head % 32);
    }
    for (unsigned i = 0; i < 60; i++)
        assert_int_equal(line[i], 0x77);
}

/* What a line should hold, in any order. */
typedef struct contents {
    uint64_t values[32];
    bool displaced[32];
    unsigned count;
} contents;

static void check_contents(const unsigned char *line, unsigned width, const contents *right, uint32_t signature)
{
    unsigned slots = vidi__line_slots(width);
    uint32_t head = vidi__line_head(line), displaced_slots = vidi__line_displaced(head, slots);
    assert_int_equal(vidi__line_count(head), right->count);
    assert_int_equal(displaced_slots >> right->count, 0);
    assert_int_equal(head >> (5 + slots), signature >> (5 + slots));
    for (unsigned i = 0; i < right->count; i++) {
        check(vidi__line_get(line, width, i) == right->values[i] && (displaced_slots >> i & 1) == right->displaced[i],
              "width %u: slot %u of %u", width, i, right->count);
    }
}

static void appending_and_removing_keep_displaced_bits(void **state)
{
    test_random random = {7};
    unsigned width = *(const unsigned *)*state, slots = vidi__line_slots(width);
    unsigned char line[VIDI__LINE_BYTES];
    contents right = {.count = 0};
    uint32_t signature = vidi__line_signature(slots, 77) | vidi__line_signature(slots, 78);
    fill_randomly(line, &random);
    vidi__line_set_head(line, signature);
    for (unsigned n = 0; n < 30000; n++) {
        bool growing = n / 50 % 2 == 0;
        if (right.count < slots && (!right.count || test_below(&random, 10) < (growing ? 8u : 2u))) {
            uint64_t value = value_at(width, n % (20 * width), &random);
            right.displaced[right.count] = test_next(&random) & 1;
            right.values[right.count] = value;
            vidi__line_append(line, width, vidi__line_head(line), value, right.displaced[right.count]);
            right.count++;
        } else {
            unsigned slot = (unsigned)test_below(&random, right.count);
            vidi__line_remove(line, width, slot);
            right.count--;
            right.values[slot] = right.values[right.count];
            right.displaced[slot] = right.displaced[right.count];
        }
        check_contents(line, width, &right, signature);
    }
}

/* What a line says, worked out without any of its functions but get. */
static uint32_t expected(const unsigned char *line, unsigned width, uint64_t value)
{
    uint32_t found = 0;
    for (unsigned i = 0; i < (line[60] & 31); i++)
        if (vidi__line_get(line, width, i) == value)
            found |= UINT32_C(1) << i;
    return found;
}

static void check_match(const unsigned char *line, unsigned width, uint64_t value)
{
    const uint32_t right = expected(line, width, value), head = vidi__line_head(line);
    const uint32_t used = (UINT32_C(1) << vidi__line_count(head)) - 1;
    assert_int_equal(vidi__line_match_portable(line, width, value) & used, right);
#if defined(__SSE2__)
    check((vidi__line_match_sse2(line, width, value) & used) == right, "width %u, count %u, value %llx: %x, not %x",
          width, line[60] & 31, (unsigned long long)value, vidi__line_match_sse2(line, width, value), right);
#endif
    assert_int_equal(vidi__line_match(line, head, width, value, true), right);
    assert_int_equal(vidi__line_match(line, head, width, value, vidi__cpu() == VIDI__CPU_PORTABLE), right);
}

static void vectors_find_what_loops_find(void **state)
{
    test_random random = {3};
    unsigned width = *(const unsigned *)*state, slots = vidi__line_slots(width);
    unsigned char line[VIDI__LINE_BYTES];
    for (unsigned round = 0; round < 200; round++)
        for (unsigned count = 0; count <= slots; count++) {
            fill_randomly(line, &random); /* also behind the count: what was there before is not found */
            vidi__line_set_head(line, count | ((uint32_t)test_next(&random) & 0xffffffe0));
            for (unsigned i = 0; i < slots; i++) {
                uint64_t value = vidi__line_get(line, width, i);
                check_match(line, width, value);
                for (unsigned bit = 0; bit < 8 * width; bit++)
                    check_match(line, width, value ^ UINT64_C(1) << bit);
                check_match(line, width, value ^ (test_next(&random) & 0xff) << 8 * test_below(&random, width));
            }
        }
}

/* Few different bytes, so that halves of values match everywhere and whole values often. */
static void halves_that_match_are_not_enough(void **state)
{
    test_random random = {4};
    unsigned width = *(const unsigned *)*state, slots = vidi__line_slots(width);
    static const unsigned char bytes[] = {0x00, 0xff, 0x80, 0x7f};
    unsigned char line[VIDI__LINE_BYTES];
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t value = 0;
        const unsigned char a = bytes[round % 4], b = bytes[round / 4 % 4];
        for (unsigned i = 0; i < 60; i++)
            line[i] = test_next(&random) & 1 ? a : b;
        vidi__line_set_head(line, (uint32_t)test_below(&random, slots + 1) | ((uint32_t)test_next(&random) << 5));
        for (unsigned i = 0; i < width; i++)
            value |= (uint64_t)(test_next(&random) & 1 ? a : b) << 8 * i;
        check_match(line, width, value);
        for (unsigned i = 0; i < slots; i++) {
            if (test_below(&random, 3) == 0)
                vidi__line_put(line, width, i, value);
            else if (test_below(&random, 3) == 0)
                vidi__line_put(line, width, i, value ^ UINT64_C(0xff) << 8 * test_below(&random, width));
        }
        check_match(line, width, value);
    }
}

static void add_widths(const char *promise, CMUnitTestFunction function)
{
    char name[100];
    for (size_t i = 0; i < VIDI__COUNT(widths); i++) {
        snprintf(name, sizeof name, "%s: %u bytes", promise, widths[i]);
        test_add(name, function, &widths[i]);
    }
}

/* A line that nobody has looked at may claim 31 slots: nothing behind its end is read. */
static void a_line_that_claims_too_much_is_read_to_its_end(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    unsigned char *line = pages + page - VIDI__LINE_BYTES;
    memset(line, 0xff, VIDI__LINE_BYTES);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        uint32_t all = (UINT32_C(1) << vidi__line_slots(widths[i])) - 1;
        for (unsigned portable = 0; portable < 2; portable++)
            assert_int_equal(
                vidi__line_match(line, vidi__line_head(line), widths[i], most_of(widths[i]), portable) & all, all);
        assert_int_equal(vidi__line_used(vidi__line_head(line), vidi__line_slots(widths[i])),
                         vidi__line_slots(widths[i]));
    }
    munmap(pages, 2 * page);
}

int main(int argc, char **argv)
{
    add_widths("every slot gives back what was put into it", every_slot_gives_back_what_was_put_into_it);
    add_widths("putting leaves the head and the neighbours alone", putting_leaves_the_head_and_the_neighbours_alone);
    test_add("slots fit into the line", slots_fit_into_the_line, NULL);
    test_add("a line that claims too much is read to its end", a_line_that_claims_too_much_is_read_to_its_end, NULL);
    add_widths("the parts of a head do not overlap", the_parts_of_a_head_do_not_overlap);
    test_add("a head leaves the slots alone", a_head_leaves_the_slots_alone, NULL);
    add_widths("appending and removing keep displaced bits", appending_and_removing_keep_displaced_bits);
    add_widths("vectors find what loops find", vectors_find_what_loops_find);
    add_widths("halves that match are not enough", halves_that_match_are_not_enough);
    return test_run("line", argc, argv);
}
