/*
 * How many bits of a hash the kind fingerprint keeps: a number in 64ths, the least that an error rate needs, the same
 * after a description or a stream, with an error rate that is exactly what they make it.
 */
#include "filters/fingerprint/fingerprint_cases.h"
#include "support/streams.h"

enum { FIRST = 32 * 64, LAST = 60 * 64 }; /* in 64ths */

static double bits_of(const char *params)
{
    assert_memory_equal(params, "bits=", 5);
    return strtod(params + 5, NULL);
}

/* ---- numbers ---- */

/* Whatever is in it, and whatever its size. */
static void the_error_rate_is_count_over_numbers(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    for (unsigned i = FIRST; i <= LAST; i += 17) {
        vidi__filter *filter;
        char params[40];
        snprintf(params, sizeof params, "bits=%.6f", i / 64.0);
        assert_int_equal(create_fingerprint(&f, &filter, params, 0, 0), VIDI_OK);
        assert_true(filter->kind->fp_now(filter) == 0);
        for (uint64_t n = 0, more = 1; n < 4000; n += more, more = more * 3 / 2 + 1) {
            add_stream(filter, i, n, more);
            double count = (double)vidi__filter_count(filter), now = filter->kind->fp_now(filter);
            check(now == count / (double)numbers_of(i / 64.0), "%s: %g hashes, %g", params, count, now);
        }
        vidi__filter_destroy(filter);
    }
    end(&f);
}

/* From both sides: not one number more or less. A filter of so few bits has seen some hash of each of some numbers. */
static void hashes_of_one_number_are_one(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    for (unsigned i = FIRST; i <= LAST; i += 17) {
        vidi__filter *filter;
        char params[40];
        uint64_t numbers = numbers_of(i / 64.0);
        test_random random = {i};
        snprintf(params, sizeof params, "bits=%.6f", i / 64.0);
        assert_int_equal(create_fingerprint(&f, &filter, params, 0, 0), VIDI_OK);
        for (unsigned n = 0; n < 300; n++) {
            uint64_t number = n ? test_below(&random, numbers / 2) * 2 : numbers - 2;
            uint64_t first = least_hash(number, numbers), next = least_hash(number + 1, numbers);
            const vidi__u128 of[] = {{0, first}, {0, next - 1}, {0, next}, {0, first - 1}};
            assert_true(seen_hashes(filter, of, 2) != 1);
            add_all_hashes(filter, of, 1);
            assert_int_equal(seen_hashes(filter, of, 2), 2);
            assert_int_equal(seen_hashes(filter, of + 2, number ? 2 : 1), 0);
        }
        vidi__filter_destroy(filter);
    }
    end(&f);
}

/* ---- descriptions ---- */

static void every_64th_comes_back_from_its_description(void **state)
{
    fixture f;
    (void)state;
    begin(&f);
    for (unsigned i = FIRST; i <= LAST; i++) {
        char params[40], described[2][VIDI__DESCRIPTION];
        snprintf(params, sizeof params, "bits=%.6f", i / 64.0);
        for (unsigned round = 0; round < 2; round++) {
            vidi__filter *filter;
            vidi__text text = vidi__text_in(described[round], VIDI__DESCRIPTION);
            assert_int_equal(create_fingerprint(&f, &filter, round ? described[0] : params, 0, 0), VIDI_OK);
            filter->kind->describe(filter, &text);
            assert_false(text.cut);
            add_stream(filter, 1, 0, 1);
            assert_true(filter->kind->fp_now(filter) == 1 / (double)numbers_of(i / 64.0));
            vidi__filter_destroy(filter);
        }
        assert_string_equal(described[0], described[1]);
        assert_true(bits_of(described[0]) == i / 64.0);
    }
    end(&f);
}

static void what_lies_between_is_rounded_up(void **state)
{
    static const struct {
        const char *params;
        double bits;
    } rows[] = {{"bits=32.0001", 32.015625}, {"bits=40.01", 40.015625},    {"bits=40.015625", 40.015625},
                {"bits=40.02", 40.03125},    {"bits=59.99", 60},           {"bits=45.5", 45.5},
                {"bits=45.50000001", 45.5},  {"bits=46.000001", 46.015625}};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(rows); i++) {
        vidi_set *set = set_of(rows[i].params, 0, 1, NULL);
        check(bits_of(test_stat(set).params) == rows[i].bits, "%s: %s", rows[i].params, test_stat(set).params);
        vidi_close(set);
    }
}

/* A stream, and a set made from what another says of itself, are of the same shape. */
static void sets_of_part_bits_come_back_and_merge(void **state)
{
    enum { N = 3000 };
    static const char *const rows[] = {"bits=39.875", "bits=33.015625,multiset=on", "bits=59.984375"};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(rows); i++) {
        test_stream stream;
        vidi_set *set = set_of(rows[i], 0, 2, NULL), *copy, *other;
        add_urls(set, test_url, 2, 0, N);
        test_stream_write(&stream, set);
        assert_int_equal(test_stream_read(&stream, &copy, stream.size, NULL), VIDI_OK);
        vidi_stats mine = test_stat(set), theirs = test_stat(copy);
        assert_string_equal(mine.params, theirs.params);
        assert_true(mine.fp_now == theirs.fp_now && mine.count == theirs.count);
        assert_int_equal(seen_urls(copy, 2, 0, N), N);
        other = set_of(mine.params, 0, 2, NULL);
        assert_int_equal(vidi_merge(other, copy, 0), VIDI_OK);
        assert_int_equal(test_stat(other).count, mine.count);
        vidi_close(set);
        vidi_close(copy);
        vidi_close(other);
        test_stream_free(&stream);
    }
}

static void other_64ths_do_not_merge(void **state)
{
    vidi_set *a = set_of("bits=40", 0, 3, NULL), *b = set_of("bits=40.015625", 0, 3, NULL);
    (void)state;
    add_urls(b, test_url, 3, 0, 10);
    assert_int_equal(vidi_merge(a, b, 0), VIDI_EDIFFERS);
    assert_int_equal(test_stat(a).count, 0);
    vidi_close(a);
    vidi_close(b);
}

/* ---- what is asked for ---- */

static int create_code(const char *params, uint64_t capacity, double error)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set;
    options.kind = "fingerprint";
    options.params = params;
    options.capacity = capacity;
    options.error = error;
    int code = vidi_create(&set, &options);
    vidi_close(set);
    return code;
}

static void bits_are_as_many_as_the_error_rate_needs(void **state)
{
    static const struct {
        uint64_t capacity;
        double error;
        const char *bits;
    } rows[] = {{1000000, 1e-6, "bits=39.875,"}, {1048576, 0x1p-20, "bits=40,"}, {1048577, 0x1p-20, "bits=40.015625,"},
                {1000, 0.5, "bits=32,"},         {1, 1e-18, "bits=59.796875,"},  {0, 1e-6, "bits=60,"},
                {1000, 0, "bits=60,"},           {1048576, 0x1p-40, "bits=60,"}};
    (void)state;
    for (size_t i = 0; i < VIDI__COUNT(rows); i++) {
        test_case which = {"fingerprint", NULL, (double)rows[i].capacity, rows[i].error, 0};
        vidi_set *set = test_case_set(&which, 1, 23, NULL);
        check(strncmp(test_stat(set).params, rows[i].bits, strlen(rows[i].bits)) == 0, "row %zu: %s", i,
              test_stat(set).params);
        vidi_close(set);
    }
    assert_int_equal(create_code(NULL, 1000000, 1e-18), VIDI_EOPTION);
    assert_int_equal(create_code("bits=31", 0, 0), VIDI_EOPTION);
    assert_int_equal(create_code("bits=61", 0, 0), VIDI_EOPTION);
    assert_int_equal(create_code("multiset=perhaps", 0, 0), VIDI_EOPTION);
    assert_int_equal(create_code("hash=jenkins", 0, 0), VIDI_EOPTION);
    assert_int_equal(create_code("width=5", 0, 0), VIDI_EOPTION);
    assert_int_equal(create_code(NULL, UINT64_C(1) << 50, 0), VIDI_ELIMIT);
}

/* At capacity the rate is the one that was asked for, or less by a 64th of a bit and what rounds S up. */
static void the_error_rate_is_kept_and_hardly_more(void **state)
{
    test_random random = {4};
    fixture f;
    (void)state;
    begin(&f);
    for (unsigned i = 0; i < 300; i++) {
        uint64_t capacity = 1 + test_below(&random, 1400); /* of which nothing is reserved */
        double error = exp2(-22 - (double)test_below(&random, 2600) / 100);
        vidi__filter *filter;
        assert_int_equal(create_fingerprint(&f, &filter, NULL, capacity, error), VIDI_OK);
        add_stream(filter, 1, 0, 1);
        double full = (double)capacity * filter->kind->fp_now(filter), least = error * exp2(-1.0 / 64) * 256 / 257;
        bool fewest = filter->kind->fp_now(filter) == 0x1p-32;
        check(full <= error * (1 + 1e-7) && (full >= least * (1 - 1e-7) || fewest), "%g asked for, %g", error, full);
        vidi__filter_destroy(filter);
    }
    end(&f);
}

int main(int argc, char **argv)
{
    test_add("the error rate is count over numbers", the_error_rate_is_count_over_numbers, NULL);
    test_add("hashes of one number are one", hashes_of_one_number_are_one, NULL);
    test_add("every 64th comes back from its description", every_64th_comes_back_from_its_description, NULL);
    test_add("what lies between is rounded up", what_lies_between_is_rounded_up, NULL);
    test_add("sets of part bits come back and merge", sets_of_part_bits_come_back_and_merge, NULL);
    test_add("other 64ths do not merge", other_64ths_do_not_merge, NULL);
    test_add("bits are as many as the error rate needs", bits_are_as_many_as_the_error_rate_needs, NULL);
    test_add("the error rate is kept and hardly more", the_error_rate_is_kept_and_hardly_more, NULL);
    return test_run("fingerprint bits", argc, argv);
}
