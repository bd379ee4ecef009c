/*
 * Parameters as text are never cut in silence: what vidi_stat and vidi_plan give has room for every parameter of every
 * kind, and a set with more of them than the room takes is refused when it is made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/runner.h"
#include "support/streams.h"
#include "support/urls.h"

#define ALL_FUNCTIONS "functions=jenkins+murmur2+sha1+md5+oaat+xxh3+sip13+murmur3,mode=different,k=8"
#define LONG_NUMBERS "growth=1.2345678901234567890123456789,tighten=0.123456789012345678901234567890"

typedef struct row {
    const char *kind, *params;
} row;

/* The longest lists that each kind understands. */
static const row longest[] = {
    {"fingerprint", "bits=59.984375,multiset=off,hash=sip13"},
    {"blocked", "lines=auto,hash=sip13"},
    {"hashset", "multiset=off,hash=sip13"},
    {"sorted", "multiset=off"},
    {"list", "multiset=off"},
    {"classic", "of=segments,scheme=strip," ALL_FUNCTIONS},
    {"classic", "of=segments,scheme=strip,mode=salted,salt=suffix,hash=jenkins,k=23"},
    {"counting", "width=16," ALL_FUNCTIONS},
    {"eigen", "g=tail,d=3," ALL_FUNCTIONS},
    {"multilayer", "L=8,layersalt=off,xor=address,scheme=strip," ALL_FUNCTIONS},
    {"scalable", LONG_NUMBERS ",inner=multilayer,L=8,layersalt=off,xor=address,scheme=strip," ALL_FUNCTIONS},
    {"spatial", "F=2,eager=off,inner=multilayer,L=8,layersalt=off,xor=address,scheme=strip,mode=salted,salt=suffix,"
                "hash=jenkins,k=13"},
    {"spatial", "F=1,eager=off,inner=spatial,inner.F=1,inner.eager=off,inner.inner=scalable," LONG_NUMBERS
                ",inner.inner.inner=multilayer,L=8,layersalt=off,xor=address,scheme=strip," ALL_FUNCTIONS},
    {"scalable", LONG_NUMBERS ",inner=spatial,F=1,eager=off,inner.inner=spatial,inner.inner.F=1,inner.inner.eager=off,"
                              "inner.inner.inner=multilayer,L=8,layersalt=off,xor=address,scheme=strip," ALL_FUNCTIONS},
};

static int make(vidi_set **set, const char *kind, const char *params)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    options.kind = kind;
    options.params = params;
    options.capacity = 1000;
    options.error = 0.01;
    return vidi_create(set, &options);
}

/* As vidi_stat gives the parameters they make the same set again, and the set can be written and read. */
static void check_whole(vidi_set *set, const char *kind)
{
    vidi_stats stats = test_stat(set), again;
    vidi_set *same = NULL, *read = NULL;
    assert_true(strlen(stats.params) < sizeof stats.params);
    int result = make(&same, kind, stats.params);
    check(result == VIDI_OK, "%s %s: %s", kind, stats.params, vidi_message());
    again = test_stat(same);
    assert_string_equal(again.params, stats.params);
    vidi_close(same);
    test_stream stream = {0};
    test_stream_write(&stream, set);
    result = test_stream_read(&stream, &read, stream.size, NULL);
    check(result == VIDI_OK, "%s %s: %s", kind, stats.params, vidi_message());
    again = test_stat(read);
    assert_string_equal(again.params, stats.params);
    test_stream_free(&stream);
    vidi_close(read);
}

static void the_longest_parameters_are_whole(void **state)
{
    size_t most = 0;
    (void)state;
    for (size_t i = 0; i < sizeof longest / sizeof *longest; i++) {
        vidi_set *set = NULL;
        int result = make(&set, longest[i].kind, longest[i].params);
        check(result == VIDI_OK, "%s %s: %s", longest[i].kind, longest[i].params, vidi_message());
        check_whole(set, longest[i].kind);
        size_t length = strlen(test_stat(set).params);
        most = length > most ? length : most;
        vidi_close(set);
    }
    check(most > 256, "the longest has %zu characters only", most);
}

/* Zeros in front of a number, for lists of any length. */
static char *with_zeros(const char *before, size_t zeros, const char *after)
{
    char *text = malloc(strlen(before) + zeros + strlen(after) + 1);
    assert_non_null(text);
    strcpy(text, before);
    memset(text + strlen(before), '0', zeros);
    strcpy(text + strlen(before) + zeros, after);
    return text;
}

/* From a few characters to far too many: a set that is whole, or none. */
static void too_many_parameters_are_refused(void **state)
{
    unsigned made = 0, refused = 0;
    (void)state;
    for (size_t zeros = 0; zeros < 1100; zeros += 7) {
        char *params = with_zeros("inner=spatial,inner.inner=scalable,inner.inner.inner=classic,k=", zeros, "3");
        vidi_set *set = NULL;
        int result = make(&set, "spatial", params);
        if (result == VIDI_OK) {
            check(!refused, "%zu zeros are taken, and fewer were not", zeros);
            made++;
            check_whole(set, "spatial");
        } else {
            assert_int_equal(result, VIDI_EOPTION);
            check(strstr(vidi_message(), "long"), "%s", vidi_message());
            refused++;
        }
        vidi_close(set);
        free(params);
    }
    check(made >= 30 && refused >= 30, "%u made, %u refused", made, refused);
}

/* The same for plans: what is proposed can be made. */
static void plans_name_every_parameter(void **state)
{
    unsigned made = 0, refused = 0;
    (void)state;
    for (size_t zeros = 0; zeros < 1100; zeros += 7) {
        char *params = with_zeros("inner=scalable,inner.inner=classic,growth=", zeros, "3");
        vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
        vidi_plan_entry plan;
        size_t n = 1;
        want.kind = "spatial";
        want.params = params;
        want.urls = 1000;
        want.error = 0.01;
        int result = vidi_plan(&want, &plan, &n);
        if (result == VIDI_OK) {
            vidi_set *set = NULL;
            check(!refused, "%zu zeros are planned for, and fewer were not", zeros);
            check(strstr(plan.params, params), "%s is not whole in %s", params, plan.params);
            result = make(&set, "spatial", plan.params);
            check(result == VIDI_OK, "%s: %s", plan.params, vidi_message());
            vidi_close(set);
            made++;
        } else {
            assert_int_equal(result, VIDI_EOPTION);
            refused++;
        }
        free(params);
    }
    check(made >= 5 && refused >= 30, "%u planned, %u refused", made, refused);
}

static void the_longest_parameters_are_planned_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof longest / sizeof *longest; i++) {
        vidi_plan_request want = VIDI_PLAN_REQUEST_INIT;
        vidi_plan_entry plan;
        size_t n = 1;
        want.kind = longest[i].kind;
        want.params = longest[i].params;
        want.urls = 1000;
        want.error = 0.5;
        if (vidi_plan(&want, &plan, &n) == VIDI_OK) {
            check(strstr(plan.params, longest[i].params), "%s is not whole in %s", longest[i].params, plan.params);
        } else {
            check(strstr(longest[i].params, "k="), "%s %s: %s", longest[i].kind, longest[i].params, vidi_message());
        }
    }
}

int main(int argc, char **argv)
{
    test_add("the longest parameters are whole", the_longest_parameters_are_whole, NULL);
    test_add("too many parameters are refused", too_many_parameters_are_refused, NULL);
    test_add("the longest parameters are planned for", the_longest_parameters_are_planned_for, NULL);
    test_add("plans name every parameter", plans_name_every_parameter, NULL);
    return test_run("params_room", argc, argv);
}
