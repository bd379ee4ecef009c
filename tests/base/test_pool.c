/* The pool of byte strings: order, dropping, compacting, memory, and reading from streams that lie. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "support/alloc.h"
#include "support/random.h"

typedef struct fixture {
    test_allocator allocator;
    vidi__memory memory;
    vidi__pool pool;
} fixture;

static void begin(fixture *f, unsigned extra)
{
    test_allocator_init(&f->allocator);
    assert_int_equal(vidi__memory_init(&f->memory, &f->allocator.hook, 0), VIDI_OK);
    vidi__pool_init(&f->pool, &f->memory, extra);
}

static void end(fixture *f)
{
    vidi__pool_free(&f->pool);
    assert_int_equal(vidi__memory_used(&f->memory), 0);
    test_allocator_finish(&f->allocator);
}

/* String `i`: its length and bytes depend on i alone. Some are empty, most are short, a few longer than a chunk. */
static vidi_str string(uint64_t i)
{
    static char buffer[20000];
    uint64_t mixed = test_mix(i + 1);
    size_t len = mixed % 7 == 0 ? mixed % 3 : mixed % 97 == 0 ? 1000 + mixed % 19000 : 10 + mixed % 90;
    for (size_t at = 0; at < len; at++)
        buffer[at] = (char)(test_mix(i + at / 8) >> at % 8 * 8);
    return (vidi_str){buffer, len};
}

static bool is_string(const fixture *f, const vidi__pool_record *record, uint64_t i)
{
    return vidi__pool_record_is(&f->pool, record, string(i));
}

static void strings_are_walked_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    fixture f;
    enum { N = 5000 };
    for (unsigned extra = 0; extra < 4; extra++) {
        begin(&f, extra);
        vidi__pool_record *record;
        for (uint64_t i = 0; i < N; i++) {
            assert_int_equal(vidi__pool_add(&f.pool, string(i), &record), VIDI_OK);
            assert_int_equal((uintptr_t)record % sizeof(uint64_t), 0);
            for (unsigned w = 0; w < extra; w++) {
                assert_int_equal(record->words[w], 0);
                record->words[w] = i + w;
            }
        }
        vidi__pool_cursor cursor = {0};
        for (uint64_t i = 0; i < N; i++) {
            record = vidi__pool_next(&f.pool, &cursor);
            check(record && is_string(&f, record, i), "string %d of %d", (int)i, N);
            for (unsigned w = 0; w < extra; w++)
                assert_int_equal(record->words[w], i + w);
        }
        assert_null(vidi__pool_next(&f.pool, &cursor));
        end(&f);
    }
}

static void an_empty_pool_takes_no_memory_and_walks_nothing(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 1);
    vidi__pool_cursor cursor = {0};
    assert_null(vidi__pool_next(&f.pool, &cursor));
    assert_int_equal(f.pool.bytes, 0);
    assert_false(vidi__pool_wasteful(&f.pool));
    vidi__pool_compact(&f.pool, NULL, NULL);
    assert_null(vidi__pool_next(&f.pool, &cursor));
    assert_int_equal(test_allocator_peak(&f.allocator), 0);
    end(&f);
}

static void an_empty_string_needs_no_pointer(void **state)
{
    (void)state;
    fixture f;
    vidi__pool_record *record;
    begin(&f, 0);
    assert_int_equal(vidi__pool_add(&f.pool, (vidi_str){NULL, 0}, &record), VIDI_OK);
    assert_true(vidi__pool_record_is(&f.pool, record, (vidi_str){NULL, 0}));
    assert_false(vidi__pool_record_is(&f.pool, record, (vidi_str){"", 1}));
    end(&f);
}

static void a_cursor_at_the_end_goes_on_with_what_comes_later(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    vidi__pool_cursor walked = {0}, behind = vidi__pool_end(&f.pool);
    for (uint64_t i = 0; i < 2000; i++) {
        vidi__pool_record *record;
        assert_int_equal(vidi__pool_add(&f.pool, string(i), &record), VIDI_OK);
        assert_ptr_equal(vidi__pool_next(&f.pool, &walked), record);
        assert_ptr_equal(vidi__pool_next(&f.pool, &behind), record);
        assert_null(vidi__pool_next(&f.pool, &walked));
        behind = vidi__pool_end(&f.pool);
    }
    end(&f);
}

/* What the owner of a pool keeps: where each string is. */
typedef struct places {
    const fixture *f;
    vidi__pool_record *at[6000];
    uint64_t moves;
} places;

static void follow(void *context, vidi__pool_record *from, vidi__pool_record *to)
{
    places *index = context;
    uint64_t i = from->words[0];
    assert_ptr_equal(index->at[i], from);
    assert_true(is_string(index->f, from, i));
    index->at[i] = to;
    index->moves++;
}

static uint64_t check_index(const fixture *f, const places *index)
{
    uint64_t live = 0, walked = 0;
    for (uint64_t i = 0; i < VIDI__COUNT(index->at); i++)
        if (index->at[i]) {
            check(is_string(f, index->at[i], i), "string %d is not where it should be", (int)i);
            live += vidi__pool_record_size(&f->pool, string(i).len);
        }
    vidi__pool_cursor cursor = {0};
    for (const vidi__pool_record *record; (record = vidi__pool_next(&f->pool, &cursor)); walked++)
        assert_ptr_equal(index->at[record->words[0]], record);
    for (uint64_t i = 0; i < VIDI__COUNT(index->at); i++)
        walked -= index->at[i] != NULL;
    assert_int_equal(walked, 0);
    return live;
}

static void compacting_keeps_what_is_alive_and_gives_back_the_rest(void **state)
{
    (void)state;
    fixture f;
    static places index;
    test_random random = {7};
    memset(&index, 0, sizeof index);
    begin(&f, 1);
    index.f = &f;
    for (int round = 0; round < 12; round++) {
        for (uint64_t i = 0; i < VIDI__COUNT(index.at); i++)
            if (!index.at[i] && test_below(&random, 4)) {
                assert_int_equal(vidi__pool_add(&f.pool, string(i), &index.at[i]), VIDI_OK);
                index.at[i]->words[0] = i;
            }
        uint64_t keep = 1 + test_below(&random, 20);
        for (uint64_t i = 0; i < VIDI__COUNT(index.at); i++)
            if (index.at[i] && test_below(&random, keep)) {
                vidi__pool_drop(&f.pool, index.at[i]);
                index.at[i] = NULL;
            }
        uint64_t live = check_index(&f, &index);
        assert_int_equal(f.pool.used - f.pool.dead, live);
        assert_int_equal(vidi__pool_wasteful(&f.pool), f.pool.used - live > f.pool.used / 2);
        uint64_t calls = f.allocator.calls;
        vidi__pool_compact(&f.pool, follow, &index);
        assert_int_equal(f.allocator.calls, calls);
        assert_int_equal(check_index(&f, &index), live);
        assert_int_equal(f.pool.used, live);
        assert_int_equal(f.pool.dead, 0);
        assert_int_equal(vidi__memory_used(&f.memory), f.pool.bytes);
        check(f.pool.bytes <= 2 * live + (64 << 10), "%d bytes for %d", (int)f.pool.bytes, (int)live);
    }
    assert_true(index.moves > 1000);
    end(&f);
}

static void a_pool_without_anything_alive_gives_back_everything(void **state)
{
    (void)state;
    fixture f;
    vidi__pool_record *record;
    begin(&f, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(vidi__pool_add(&f.pool, string(i), &record), VIDI_OK);
        vidi__pool_drop(&f.pool, record);
    }
    assert_true(vidi__pool_wasteful(&f.pool));
    vidi__pool_compact(&f.pool, NULL, NULL);
    assert_int_equal(f.pool.bytes, 0);
    assert_int_equal(vidi__memory_used(&f.memory), 0);
    assert_int_equal(vidi__pool_add(&f.pool, string(3), &record), VIDI_OK);
    assert_true(is_string(&f, record, 3));
    end(&f);
}

static void memory_is_what_the_plan_says(void **state)
{
    (void)state;
    fixture f;
    char url[300] = {0};
    enum { N = 50000 };
    for (unsigned extra = 0; extra < 4; extra++) {
        begin(&f, extra);
        double total = 0;
        for (uint64_t i = 0; i < N; i++) {
            vidi__pool_record *record;
            size_t len = 40 + test_mix(i) % 80;
            total += (double)len;
            assert_int_equal(vidi__pool_add(&f.pool, (vidi_str){url, len}, &record), VIDI_OK);
        }
        double planned = N * vidi__pool_bytes_each(total / N, extra);
        assert_true((double)f.pool.bytes <= planned);
        assert_true((double)f.pool.bytes >= planned * 0.85);
        end(&f);
    }
}

static void a_refused_allocation_leaves_the_pool_as_it_was(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    uint64_t refusals = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        vidi__pool_record *record = NULL;
        vidi__pool before = f.pool;
        test_allocator_fail(&f.allocator, 1, true);
        int code = vidi__pool_add(&f.pool, string(i), &record);
        test_allocator_fail(&f.allocator, 0, false);
        if (code == VIDI_OK)
            continue;
        refusals++;
        assert_int_equal(code, VIDI_EMEMORY);
        assert_null(record);
        assert_memory_equal(&before, &f.pool, sizeof before);
        assert_int_equal(vidi__pool_add(&f.pool, string(i), &record), VIDI_OK);
    }
    assert_true(refusals > 10);
    vidi__pool_cursor cursor = {0};
    for (uint64_t i = 0; i < 2000; i++)
        assert_true(is_string(&f, vidi__pool_next(&f.pool, &cursor), i));
    end(&f);
}

static void a_length_beyond_all_memory_is_refused(void **state)
{
    (void)state;
    fixture f;
    vidi__pool_record *record = NULL;
    begin(&f, 3);
    static const uint64_t lengths[] = {UINT64_MAX, UINT64_MAX - 7, UINT64_MAX / 2, UINT64_MAX / 4, UINT64_MAX / 4 + 1};
    for (size_t i = 0; i < VIDI__COUNT(lengths); i++) {
        assert_int_equal(vidi__pool_add(&f.pool, (vidi_str){"", (size_t)lengths[i]}, &record), VIDI_ELIMIT);
        assert_null(record);
        assert_int_equal(f.pool.bytes, 0);
    }
    end(&f);
}

/* A stream of so many bytes 'x'. */
typedef struct source {
    vidi__reader base;
    uint64_t really;
} source;

static int give(vidi__reader *reader, void *data, uint64_t bytes)
{
    source *from = (source *)reader;
    if (bytes > from->really)
        return vidi__fail(VIDI_EFORMAT, "the stream ends");
    from->really -= bytes;
    if (reader->left != UINT64_MAX)
        reader->left -= bytes;
    if (bytes)
        memset(data, 'x', (size_t)bytes);
    return VIDI_OK;
}

static void strings_are_read_from_streams_of_known_and_unknown_length(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {0, 1, 100, 5000, 65536, 65537, 200000, 1000000};
    fixture f;
    begin(&f, 2);
    for (size_t i = 0; i < VIDI__COUNT(lengths); i++)
        for (int known = 0; known < 2; known++) {
            uint64_t len = lengths[i];
            source from = {{.read = give, .left = known ? len : UINT64_MAX}, len};
            vidi__pool_record *record;
            assert_int_equal(vidi__pool_read(&f.pool, &from.base, len, &record), VIDI_OK);
            vidi_str str = vidi__pool_record_str(&f.pool, record);
            assert_int_equal(str.len, len);
            assert_int_equal(record->words[1], 0);
            for (size_t at = 0; at < len; at++)
                assert_int_equal(str.ptr[at], 'x');
            assert_int_equal(from.really, 0);
            assert_int_equal(vidi__memory_used(&f.memory), f.pool.bytes);
        }
    end(&f);
}

static void a_lie_about_a_length_costs_no_memory(void **state)
{
    (void)state;
    fixture f;
    vidi__pool_record *record = NULL;
    begin(&f, 0);
    source known = {{.read = give, .left = 1000}, 1000};
    assert_int_equal(vidi__pool_read(&f.pool, &known.base, 1001, &record), VIDI_EFORMAT);
    assert_int_equal(vidi__pool_read(&f.pool, &known.base, UINT64_MAX, &record), VIDI_EFORMAT);
    assert_int_equal(test_allocator_peak(&f.allocator), 0);
    static const uint64_t lengths[] = {100001, (uint64_t)1 << 40, UINT64_MAX};
    for (size_t i = 0; i < VIDI__COUNT(lengths); i++) {
        source unknown = {{.read = give, .left = UINT64_MAX}, 100000};
        assert_int_equal(vidi__pool_read(&f.pool, &unknown.base, lengths[i], &record), VIDI_EFORMAT);
        assert_int_equal(vidi__memory_used(&f.memory), 0);
    }
    assert_true(test_allocator_peak(&f.allocator) < 1000000);
    assert_null(record);
    source small = {{.read = give, .left = UINT64_MAX}, 10};
    assert_int_equal(vidi__pool_read(&f.pool, &small.base, 11, &record), VIDI_EFORMAT);
    assert_int_equal(vidi__memory_used(&f.memory), 0);
    end(&f);
}

static void reading_survives_every_refused_allocation(void **state)
{
    (void)state;
    fixture f;
    begin(&f, 0);
    for (uint64_t n = 1;; n++) {
        source from = {{.read = give, .left = UINT64_MAX}, 300000};
        vidi__pool_record *record = NULL;
        test_allocator_fail(&f.allocator, n, false);
        int code = vidi__pool_read(&f.pool, &from.base, 300000, &record);
        bool refused = test_allocator_refused(&f.allocator) > 0;
        test_allocator_fail(&f.allocator, 0, false);
        assert_int_equal(vidi__memory_used(&f.memory), f.pool.bytes);
        if (!refused) {
            assert_int_equal(code, VIDI_OK);
            assert_true(n > 3);
            break;
        }
        assert_int_equal(code, VIDI_EMEMORY);
        assert_null(record);
        assert_int_equal(f.pool.bytes, 0);
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_walked_in_the_order_in_which_they_came),
        cmocka_unit_test(an_empty_pool_takes_no_memory_and_walks_nothing),
        cmocka_unit_test(an_empty_string_needs_no_pointer),
        cmocka_unit_test(a_cursor_at_the_end_goes_on_with_what_comes_later),
        cmocka_unit_test(compacting_keeps_what_is_alive_and_gives_back_the_rest),
        cmocka_unit_test(a_pool_without_anything_alive_gives_back_everything),
        cmocka_unit_test(memory_is_what_the_plan_says),
        cmocka_unit_test(a_refused_allocation_leaves_the_pool_as_it_was),
        cmocka_unit_test(a_length_beyond_all_memory_is_refused),
        cmocka_unit_test(strings_are_read_from_streams_of_known_and_unknown_length),
        cmocka_unit_test(a_lie_about_a_length_costs_no_memory),
        cmocka_unit_test(reading_survives_every_refused_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
