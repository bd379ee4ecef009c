/* Parameters: what is understood, what is refused, and in which words. */
#include <locale.h>
#include <stdio.h>

#include "base/params.h"
#include "support/check.h"

static vidi_str str(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

static vidi__params parsed(const char *text)
{
    vidi__params params;
    assert_int_equal(vidi__params_parse(&params, text), VIDI_OK);
    return params;
}

static void values_are_found_by_name(void **state)
{
    (void)state;
    vidi__params params = parsed("k=3,M=2.5,of=segments,,hash=sip13,");
    uint64_t k = 0;
    double multiplier = 0;
    unsigned of = 9;
    vidi_str hash;
    assert_int_equal(vidi__params_u64(&params, "k", 1, 64, &k), 1);
    assert_int_equal(vidi__params_double(&params, "M", 0, 10, &multiplier), 1);
    assert_int_equal(vidi__params_choice(&params, "of", "url|segments", &of), 1);
    assert_int_equal(vidi__params_str(&params, "hash", &hash), 1);
    assert_int_equal(vidi__params_done(&params), VIDI_OK);
    assert_int_equal(k, 3);
    assert_true(multiplier == 2.5);
    assert_int_equal(of, 1);
    assert_int_equal(hash.len, 5);
}

static void what_is_missing_stays_as_it_was(void **state)
{
    (void)state;
    vidi__params params = parsed(NULL);
    uint64_t k = 7;
    assert_int_equal(vidi__params_u64(&params, "k", 1, 64, &k), 0);
    assert_int_equal(k, 7);
}

static void what_nobody_asks_for_is_named(void **state)
{
    (void)state;
    vidi__params params = parsed("k=3,colour=red");
    uint64_t k;
    vidi__params_u64(&params, "k", 1, 64, &k);
    assert_int_equal(vidi__params_done(&params), VIDI_EOPTION);
    assert_non_null(strstr(vidi_message(), "colour"));
}

static void malformed_lists_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"k", "=3", "k=1,k=2", "a=1,b"};
    vidi__params params;
    for (size_t i = 0; i < VIDI__COUNT(bad); i++)
        assert_int_equal(vidi__params_parse(&params, bad[i]), VIDI_EOPTION);
    char many[512] = "";
    for (int i = 0; i <= VIDI__PARAMS_MAX; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "p%d=1,", i);
    assert_int_equal(vidi__params_parse(&params, many), VIDI_EOPTION);
}

static void numbers_out_of_range_are_refused_with_the_range(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "k=0", "k=65", "k=-1", "k=abc", "k=", "k=1.5", "k=1e99", "k=nan", "k=inf", "k=0x10", "k=99999999999999999999",
        "k= 3"};
    for (size_t i = 0; i < VIDI__COUNT(bad); i++) {
        uint64_t k = 5;
        vidi__params params = parsed(bad[i]);
        assert_int_equal(vidi__params_u64(&params, "k", 1, 64, &k), VIDI_EOPTION);
        assert_non_null(strstr(vidi_message(), "from 1 to 64"));
        assert_int_equal(k, 5);
        double d = 5;
        params = parsed(bad[i]);
        if (i != 5 && i != 0)
            assert_int_equal(vidi__params_double(&params, "k", 1, 64, &d), VIDI_EOPTION);
    }
    unsigned choice = 0;
    vidi__params params = parsed("of=path");
    assert_int_equal(vidi__params_choice(&params, "of", "url|segments", &choice), VIDI_EOPTION);
    assert_non_null(strstr(vidi_message(), "url|segments"));
}

static void whole_numbers_are_exact_in_every_spelling(void **state)
{
    (void)state;
    uint64_t value;
    assert_true(vidi__parse_u64(str("18446744073709551615"), &value) && value == UINT64_MAX);
    assert_true(vidi__parse_u64(str("1e9"), &value) && value == 1000000000);
    assert_true(vidi__parse_u64(str("2.5e6"), &value) && value == 2500000);
    assert_false(vidi__parse_u64(str("18446744073709551616"), &value));
    assert_false(vidi__parse_u64(str("0.5"), &value));
    assert_false(vidi__parse_u64(str(""), &value));
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    double value;
    char *old = setlocale(LC_NUMERIC, "de_DE.UTF-8"); /* if the machine has it; the promise holds either way */
    assert_true(vidi__parse_double(str("0.25"), &value) && value == 0.25);
    assert_false(vidi__parse_double(str("0,25"), &value));
    if (old)
        setlocale(LC_NUMERIC, "C");
}

static void an_inner_kind_gets_what_the_outer_one_leaves(void **state)
{
    (void)state;
    vidi__params params = parsed("F=3,k=4,inner.inner=counting,inner=scalable"), inner;
    uint64_t members;
    vidi_str kind;
    vidi__params_u64(&params, "F", 1, 16, &members);
    vidi__params_str(&params, "inner", &kind);
    vidi__params_rest(&params, &inner);
    assert_int_equal(vidi__params_done(&params), VIDI_OK);
    assert_int_equal(inner.count, 2);
    assert_true(vidi__params_has(&inner, "k") && vidi__params_has(&inner, "inner"));
    char buffer[64];
    vidi__text text = vidi__text_in(buffer, sizeof buffer);
    vidi__params_format(&inner, &text);
    assert_string_equal(buffer, "k=4,inner=counting");
    vidi__params_hand_on(&inner, "F|inner", &text);
    assert_string_equal(buffer, "k=4,inner=counting,k=4,inner.inner=counting");
}

static void long_values_are_shortened_in_messages(void **state)
{
    (void)state;
    char text[1000] = "k=";
    memset(text + 2, '9', 900);
    uint64_t k;
    vidi__params params = parsed(text);
    assert_int_equal(vidi__params_u64(&params, "k", 1, 64, &k), VIDI_EOPTION);
    assert_true(strlen(vidi_message()) < 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_name),
        cmocka_unit_test(what_is_missing_stays_as_it_was),
        cmocka_unit_test(what_nobody_asks_for_is_named),
        cmocka_unit_test(malformed_lists_are_refused),
        cmocka_unit_test(numbers_out_of_range_are_refused_with_the_range),
        cmocka_unit_test(whole_numbers_are_exact_in_every_spelling),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(an_inner_kind_gets_what_the_outer_one_leaves),
        cmocka_unit_test(long_values_are_shortened_in_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
