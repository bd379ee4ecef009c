/*
 * The writer of JSON.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/json.h"
#include "support/check.h"

static void put(void *to, const char *bytes, size_t n)
{
    assert_int_equal(bytes_append(to, bytes, n), 0);
}

static void assert_written(bytes *text, const char *expected)
{
    assert_int_equal(bytes_append(text, "", 1), 0);
    assert_string_equal(text->ptr, expected);
    bytes_free(text);
}

static void commas_stand_between_what_follows_one_another(void **state)
{
    (void)state;
    bytes text = {0};
    json_writer json = {put, &text, false};
    json_open(&json, NULL, '{');
    json_add_string(&json, "a", "x");
    json_open(&json, "b", '[');
    json_open(&json, NULL, '{');
    json_close(&json, '}');
    json_add_count(&json, NULL, UINT64_MAX);
    json_add_bool(&json, NULL, true);
    json_add_null(&json, NULL);
    json_close(&json, ']');
    json_add_bool(&json, "c", false);
    json_add_string(&json, "d", NULL);
    json_close(&json, '}');
    assert_written(&text, "{\"a\":\"x\",\"b\":[{},18446744073709551615,true,null],\"c\":false,\"d\":null}");
}

static void any_bytes_become_a_valid_string(void **state)
{
    static const char some[] = "a\0\b\t\n\f\r\"\\\x1b\x7f\xc3\xa4\xff\xe2\x80\xa8\xf0\x9f\x98\x80\xc3";
    (void)state;
    bytes text = {0};
    json_writer json = {put, &text, false};
    json_add_text(&json, "\"", some, sizeof some - 1);
    assert_written(&text, "\"\\\"\":\"a\\u0000\\b\\t\\n\\f\\r\\\"\\\\\\u001b\\u007f\xc3\xa4\\ufffd\\u2028"
                          "\xf0\x9f\x98\x80\\ufffd\"");
}

static void numbers_read_back_as_they_were(void **state)
{
    static const double some[] = {0, 0.1, 1.0 / 3, 1e300, -5e-324, 9007199254740993.0, 123456.5};
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        bytes text = {0};
        json_writer json = {put, &text, false};
        json_add_real(&json, NULL, some[i]);
        assert_int_equal(bytes_append(&text, "", 1), 0);
        check(!(strtod(text.ptr, NULL) < some[i]) && !(strtod(text.ptr, NULL) > some[i]), "%s", text.ptr);
        bytes_free(&text);
    }
}

static void numbers_are_short_or_null(void **state)
{
    (void)state;
    bytes text = {0};
    json_writer json = {put, &text, false};
    json_add_real(&json, NULL, 0.1);
    json_add_real(&json, NULL, (double)NAN);
    json_add_real(&json, NULL, (double)INFINITY);
    json_add_rounded(&json, NULL, 2.0 / 3, 3);
    json_add_rounded(&json, NULL, (double)-INFINITY, 3);
    assert_written(&text, "0.1,null,null,0.667,null");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_stand_between_what_follows_one_another),
        cmocka_unit_test(any_bytes_become_a_valid_string),
        cmocka_unit_test(numbers_read_back_as_they_were),
        cmocka_unit_test(numbers_are_short_or_null),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
