/*
 * Characters of ASCII and UTF-8, and the hash FNV-1a.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "common/fnv.h"
#include "common/utf8.h"
#include "support/check.h"

/* Of all bytes, compared with the C locale, which tests run in. */
static void ascii_is_grouped_as_in_the_c_locale(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        char c = (char)i, digits[2] = {c, 0};
        long value = strtol(digits, NULL, 16);
        check(ascii_is_letter(c) == !!isalpha(i), "letter %d", i);
        check(ascii_is_digit(c) == !!isdigit(i), "digit %d", i);
        check(ascii_is_white(c) == !!isspace(i), "white %d", i);
        check(ascii_is_space(c) == (isspace(i) && i != '\v'), "space %d", i);
        check(ascii_is_blank(c) == (isspace(i) && i != '\v' && i != '\f'), "blank %d", i);
        check(ascii_lower(c) == (char)tolower(i), "lower %d", i);
        check(ascii_hex(c) == (isxdigit(i) ? (int)value : -1), "hex %d", i);
    }
}

static void texts_are_the_same_but_for_the_case_of_ascii(void **state)
{
    (void)state;
    assert_true(ascii_same("GZip", 4, "gzip"));
    assert_true(ascii_same("", 0, ""));
    assert_false(ascii_same("gzip", 3, "gzip"));
    assert_false(ascii_same("gzipx", 5, "gzip"));
    assert_false(ascii_same("gzi\0", 4, "gzi"));
    assert_false(ascii_same("@", 1, "`"));
}

static void every_byte_has_its_percent_encoding(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        char got[4] = {0}, expected[8];
        snprintf(expected, sizeof expected, "%%%02X", (unsigned)i);
        assert_int_equal(ascii_put_percent(got, (char)i), 3);
        assert_string_equal(got, expected);
    }
}

/* RFC 3629: all code points but surrogates. */
static void every_character_is_read_as_it_was_written(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x110000; code++) {
        char text[4];
        bool surrogate = code >= 0xD800 && code < 0xE000;
        size_t n = utf8_put(text, code);
        if (utf8_length(text, n) != (surrogate ? 0 : n) || (!surrogate && utf8_code(text, n) != code))
            fail_msg("U+%04X", (unsigned)code);
        for (size_t cut = 1; cut < n; cut++)
            if (utf8_length(text, cut) != 0)
                fail_msg("U+%04X of %zu bytes", (unsigned)code, cut);
    }
}

static void what_is_not_utf_8_is_refused(void **state)
{
    static const char *const bad[] = {"\x80",
                                      "\xBF",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xE0\x9F\xBF",
                                      "\xED\xA0\x80",
                                      "\xF0\x8F\xBF\xBF",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xFF",
                                      "\xE2\x82",
                                      "a\xC3"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check(!utf8_is_valid(bad[i], strlen(bad[i])), "case %zu", i);
    assert_true(utf8_is_valid("", 0));
    assert_true(utf8_is_valid("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\0", 11));
}

static void characters_that_terminals_act_on_are_known(void **state)
{
    static const uint32_t acting[] = {0, 0x1B, 0x1F, 0x7F, 0x9B, 0x61C, 0x200E, 0x200F, 0x2028, 0x202E, 0x2066, 0x2069};
    static const uint32_t harmless[] = {' ', '~', 0xA0, 0x61B, 0x200D, 0x2010, 0x2027, 0x202F, 0x2065, 0x206A};
    (void)state;
    for (size_t i = 0; i < sizeof acting / sizeof *acting; i++)
        check(utf8_is_control(acting[i]), "U+%04X", (unsigned)acting[i]);
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        check(!utf8_is_control(harmless[i]), "U+%04X", (unsigned)harmless[i]);
}

/* From the FNV draft, appendix C. */
static void fnv_1a_gives_the_published_values(void **state)
{
    (void)state;
    assert_int_equal(fnv_bytes(FNV_START, "", 0), UINT64_C(0xcbf29ce484222325));
    assert_int_equal(fnv_bytes(FNV_START, "a", 1), UINT64_C(0xaf63dc4c8601ec8c));
    assert_int_equal(fnv_bytes(FNV_START, "foobar", 6), UINT64_C(0x85944171f73967e8));
    assert_int_equal(fnv_bytes(fnv_bytes(FNV_START, "foo", 3), "bar", 3), UINT64_C(0x85944171f73967e8));
    assert_int_equal(fnv_byte(FNV_START, (char)0xFF), (FNV_START ^ 0xFF) * UINT64_C(0x100000001b3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascii_is_grouped_as_in_the_c_locale),
        cmocka_unit_test(texts_are_the_same_but_for_the_case_of_ascii),
        cmocka_unit_test(every_byte_has_its_percent_encoding),
        cmocka_unit_test(every_character_is_read_as_it_was_written),
        cmocka_unit_test(what_is_not_utf_8_is_refused),
        cmocka_unit_test(characters_that_terminals_act_on_are_known),
        cmocka_unit_test(fnv_1a_gives_the_published_values),
    };
    return cmocka_run_group_tests_name("characters", tests, NULL, NULL);
}
