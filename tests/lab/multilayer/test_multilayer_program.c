/* The multi-layer paper's own program: that it does what its authors' did, and that theory predicts what it counts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/multilayer/multilayer_program.h"
#include "lab/tables.h"
#include "support/runner.h"

static vidi_str text(const char *string)
{
    return (vidi_str){string, strlen(string)};
}

static lab_multilayer_program_url read_url(const char *url, uint64_t m)
{
    lab_multilayer_program_url read;
    lab_multilayer_program_read(&read, text(url), m);
    lab_multilayer_program_read_whole(&read, m);
    return read;
}

/* ---- what the program does ---- */

static void must_split(const char *url, const char *const *segments, size_t count)
{
    lab_multilayer_program_url cut;
    lab_multilayer_program_split(&cut, text(url));
    check(cut.count == count, "%s: %zu segments, not %zu", url, cut.count, count);
    for (size_t i = 0; i < count; i++)
        check(cut.segments[i].len == strlen(segments[i]) &&
                  memcmp(cut.segments[i].ptr, segments[i], cut.segments[i].len) == 0,
              "%s: segment %zu is not '%s'", url, i, segments[i]);
}

static void urls_are_split_at_every_slash(void **state)
{
    (void)state;
    must_split("http://h", (const char *[]){"h"}, 1);
    must_split("https://h/", (const char *[]){"h", ""}, 2);
    must_split("http://h//a?b=/c", (const char *[]){"h", "", "a?b=", "c"}, 4);
    must_split("http://archive/http://h/a", (const char *[]){"archive", "h", "a"}, 3);
    must_split("", (const char *[]){""}, 1);
}

/* A hash value counts as a signed number: the third, 0x80f887b0, is negative, and 312 modulo m without a sign. */
static void addresses_are_those_of_signed_numbers(void **state)
{
    (void)state;
    for (uint32_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++) {
        static const uint64_t wanted[LAB_LAYERS_PROGRAM_K] = {735, 913, 16, 320};
        uint64_t address = lab_multilayer_program_address(text("www.example.com"), j, 1000);
        check(address == wanted[j], "function %u: %llu", j, (unsigned long long)address);
    }
}

static size_t count_bits(const unsigned char *bits, uint64_t m)
{
    size_t count = 0;
    for (uint64_t i = 0; i < m; i++)
        count += lab_multilayer_program_bit(bits, i);
    return count;
}

/* Layers grow with the longest URL, and the last array has the XOR of the addresses, modulo m. */
static void layers_grow_with_the_urls(void **state)
{
    LAB_BLOCK;
    lab_multilayer_program program;
    (void)state;
    assert_int_equal(lab_multilayer_program_make(&program, 1000), VIDI_OK);
    assert_int_equal(program.m, 6235);
    lab_multilayer_program_url shallow = read_url("http://h/a", program.m),
                               deep = read_url("http://h/a/b/c", program.m);
    assert_int_equal(lab_multilayer_program_add_layered(&program, &shallow), VIDI_OK);
    assert_int_equal(program.layers, 2);
    assert_true(lab_multilayer_program_has_layered(&program, &shallow));
    assert_false(lab_multilayer_program_has_layered(&program, &deep));
    for (size_t j = 0; j < LAB_LAYERS_PROGRAM_K; j++)
        assert_true(
            lab_multilayer_program_bit(program.last, (shallow.addresses[0][j] ^ shallow.addresses[1][j]) % program.m));
    check(count_bits(program.last, program.m) == LAB_LAYERS_PROGRAM_K, "%zu bits", count_bits(program.last, program.m));
    assert_int_equal(lab_multilayer_program_add_layered(&program, &deep), VIDI_OK);
    assert_int_equal(program.layers, 4);
    lab_multilayer_program_url crossed = read_url("http://h/a/b", program.m);
    assert_false(lab_multilayer_program_has_layered(&program, &crossed)); /* its XOR is not there */
    assert_false(lab_multilayer_program_has_classic(&program, &deep));
    lab_multilayer_program_add_classic(&program, &deep);
    assert_true(lab_multilayer_program_has_classic(&program, &deep));
}

/* ---- theory ---- */

enum { ASKED = 100000 };

/* The lab's URLs, or pages of two directories. */
static vidi_str url_at(char *buffer, uint64_t index, bool pages)
{
    lab_settings settings = {.urls = 1000, .runs = 1, .seed = 5, .threads = 1};
    if (!pages)
        return lab_url_text(buffer, &settings, 0, index);
    return (vidi_str){buffer, (size_t)snprintf(buffer, LAB_URL_ROOM, "http://h/folder%llu/page%llu",
                                               (unsigned long long)(index % 2), (unsigned long long)index)};
}

/* The share of set bits from `first` on, which the tally must know without looking at them. */
static void must_be_filled(const lab_multilayer_program *program, uint64_t first, uint64_t end, double expected)
{
    double count = 0, size = (double)(end - first);
    for (uint64_t i = first; i < end; i++)
        count += lab_multilayer_program_bit(program->last, i);
    check(fabs(count / size - expected) < 4.1 * sqrt(expected * (1 - expected) / size), "%llu to %llu: %g, not %g",
          (unsigned long long)first, (unsigned long long)end, count / size, expected);
}

/* So many URLs in a program that is made for `room`, and others looked up: the count and what is expected. */
static void must_fit(const char *what, uint64_t room, uint64_t urls, bool pages)
{
    LAB_BLOCK;
    char buffer[LAB_URL_ROOM];
    static lab_multilayer_program_tally tally;
    lab_multilayer_program program;
    lab_multilayer_program_url url;
    double seen = 0, expected = 0;
    assert_int_equal(lab_multilayer_program_make(&program, room), VIDI_OK);
    memset(&tally, 0, sizeof tally);
    tally.m = program.m;
    for (uint64_t i = 0; i < urls + ASKED; i++) {
        lab_multilayer_program_read(&url, url_at(buffer, i, pages), program.m);
        if (i < urls) {
            assert_int_equal(lab_multilayer_program_add_layered(&program, &url), VIDI_OK);
            assert_int_equal(lab_multilayer_program_tally_add(&tally, &url), VIDI_OK);
            continue;
        }
        if (i == urls)
            lab_multilayer_program_tally_end(&tally);
        seen += lab_multilayer_program_has_layered(&program, &url);
        expected += lab_multilayer_program_expect(&tally, &url);
    }
    uint64_t power = 1;
    while (2 * power <= program.m)
        power *= 2;
    must_be_filled(&program, 0, 2 * power - program.m, tally.fills[0]);
    must_be_filled(&program, 2 * power - program.m, power, tally.fills[1]);
    must_be_filled(&program, power, program.m, tally.fills[2]);
    check(expected > 100, "%s: only %g are expected", what, expected);
    check(fabs(seen - expected) < 4.1 * sqrt(expected) + 0.03 * expected, "%s: %g, not %g", what, seen, expected);
}

/* Filters that are far too full, because others see next to nothing; m is just above and just below a power of two. */
static void the_xor_is_not_spread_evenly(void **state)
{
    (void)state;
    must_fit("m = 4364", 700, 2500, false);
    must_fit("m = 6235", 1000, 3500, false);
    must_fit("m = 7980", 1280, 4500, false);
}

/*
 * Pages of a directory have the same addresses but for the last: their bits in the last array are those of its layer.
 */
static void pages_of_a_directory_couple_the_arrays(void **state)
{
    (void)state;
    must_fit("directories", 4000, 4000, true);
}

/* Each row of home pages is judged by the sum over all addresses, which a wrong XOR would miss. */
static void home_pages_fit_theory(void **state)
{
    lab_settings settings = {.urls = 40000, .runs = 2, .seed = 6, .threads = 2};
    lab_numbers numbers = numbers_of("multilayer-program", &settings);
    size_t cells = cells_of(numbers.study), cell = 2 * 4 + 3;
    (void)state;
    lab_table table = table_from(&numbers);
    none_fails(&table);
    check(table.entries[cell].theory > 4000, "theory is %g", table.entries[cell].theory);
    lab_table_free(&table);
    for (uint64_t run = 0; run < settings.runs; run++) /* as if the layers were independent */
        numbers.numbers[run * cells + cell] *= 0.6;
    table = table_from(&numbers);
    check(table.entries[cell].verdict == LAB_FAILS, "z = %g", table.entries[cell].z);
    lab_table_free(&table);
    lab_numbers_free(&numbers);
}

int main(int argc, char **argv)
{
    test_add("URLs are split at every slash", urls_are_split_at_every_slash, NULL);
    test_add("addresses are those of signed numbers", addresses_are_those_of_signed_numbers, NULL);
    test_add("layers grow with the URLs", layers_grow_with_the_urls, NULL);
    test_add("the XOR is not spread evenly", the_xor_is_not_spread_evenly, NULL);
    test_add("pages of a directory couple the arrays", pages_of_a_directory_couple_the_arrays, NULL);
    test_add("home pages fit theory", home_pages_fit_theory, NULL);
    return test_run("lab/multilayer_program", argc, argv);
}
