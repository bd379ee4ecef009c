/*
 * Absurd requests: zero, negative, not a number, infinite, huge, garbage, unknown. Each is an error with a message,
 * not a crash; no set comes of it; and it is found out at once, before memory is asked for.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/access.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/env.h"
#include "support/runner.h"
#include "support/streams.h"
#include "support/urls.h"

#define SIZED "list,sorted,hashset,classic,counting,multilayer,eigen,spatial,scalable,blocked"
#define HASHED "classic,counting,multilayer,eigen,spatial,scalable"
#define EXACT "list,sorted,hashset"

typedef struct bad_params {
    const char *kinds;
    const char *params;
} bad_params;

static const bad_params bad[] = {
    /* no name=value at all */
    {SIZED, "nonsense=1"},
    {SIZED, "k"},
    {SIZED, "="},
    {SIZED, "=3"},
    {SIZED, "==="},
    {SIZED, "nonsense"},
    {SIZED, "\x01\xff"},
    {SIZED, "%s%n=%n"},
    {EXACT, "k=3"},
    {EXACT, "multiset=maybe"},
    {EXACT, "multiset="},
    {EXACT, "multiset=2"},
    /* positions a URL */
    {HASHED, "k=0,M=2"},
    {HASHED, "k=-1,M=2"},
    {HASHED, "k=nan,M=2"},
    {HASHED, "k=inf,M=2"},
    {HASHED, "k=1e9,M=2"},
    {HASHED, "k=99999999999999999999999999,M=2"},
    {HASHED, "k=18446744073709551617,M=2"},
    {HASHED, "k=4294967297,M=2"},
    {HASHED, "k=3x,M=2"},
    {HASHED, "k=,M=2"},
    {HASHED, "k=2.5,M=2"},
    {HASHED, "k=0x,M=2"},
    /* the multiplier */
    {HASHED, "k=3,M=0"},
    {HASHED, "k=3,M=-2"},
    {HASHED, "k=3,M=nan"},
    {HASHED, "k=3,M=NaN"},
    {HASHED, "k=3,M=inf"},
    {HASHED, "k=3,M=-inf"},
    {HASHED, "k=3,M=1e300"},
    {HASHED, "k=3,M=1e15"},
    {HASHED, "k=3,M=two"},
    {HASHED, "k=3,M="},
    {HASHED, "k=3,M=2garbage"},
    /* bits */
    {HASHED, "k=3,m=0"},
    {HASHED, "k=3,m=-8"},
    {HASHED, "k=3,m=nan"},
    {HASHED, "k=3,m=inf"},
    {HASHED, "k=3,m=18446744073709551615"},
    {HASHED, "k=3,m=18446744073709551616"},
    {HASHED, "k=3,m=9223372036854775808"},
    {HASHED, "k=3,m=1e60"},
    {HASHED, "k=3,m=many"},
    /* the hash */
    {HASHED, "hash=rot13"},
    {HASHED, "hash="},
    {HASHED, "hash=SIP13x"},
    {HASHED, "mode=sideways"},
    {HASHED, "mode="},
    {HASHED, "mode=different,functions=,k=3,M=2"},
    {HASHED, "mode=different,functions=rot13+crc,k=2,M=2"},
    {HASHED, "mode=different,functions=jenkins,k=3,M=2"},
    {HASHED, "mode=different,functions=jenkins+md5,k=3,M=2"},
    {HASHED, "mode=different,functions=jenkins+jenkins+jenkins,k=3,M=2"},
    {HASHED, "mode=different,functions=+++,k=3,M=2"},
    {HASHED, "mode=salted,salt=middle,k=3,M=2"},
    /* of each kind */
    {"classic", "of=domain"},
    {"classic", "of=segments,scheme=drop"},
    {"classic", "width=4"},
    {"counting", "width=0"},
    {"counting", "width=1"},
    {"counting", "width=17"},
    {"counting", "width=-4"},
    {"counting", "width=nan"},
    {"counting", "width=huge"},
    {"counting", "width=4294967300"},
    {"multilayer", "L=0"},
    {"multilayer", "L=17"},
    {"multilayer", "L=-1"},
    {"multilayer", "L=nan"},
    {"multilayer", "L=1e9"},
    {"multilayer", "L=4294967300"},
    {"multilayer", "layersalt=perhaps"},
    {"multilayer", "xor=both"},
    {"multilayer", "scheme=http"},
    {"multilayer", "xor=address,m=1000,k=3"},
    {"eigen", "k=3,M=2,d=0"},
    {"eigen", "k=3,M=2,d=-1"},
    {"eigen", "k=3,M=2,d=nan"},
    {"eigen", "k=3,M=2,d=1e9"},
    {"eigen", "k=3,m=1000,m1=0"},
    {"eigen", "k=3,m=1000,m1=1000"},
    {"eigen", "k=3,m=1000,m1=2000"},
    {"eigen", "k=3,m=1000,m1=-5"},
    {"eigen", "k=3,m=1000,m1=nan"},
    {"eigen", "g=soul"},
    {"eigen", "g="},
    {"spatial", "F=0"},
    {"spatial", "F=-1"},
    {"spatial", "F=17"},
    {"spatial", "F=nan"},
    {"spatial", "F=1e18"},
    {"spatial", "F=4294967298"},
    {"spatial", "inner=sieve"},
    {"spatial", "inner="},
    {"spatial", "eager=very"},
    {"spatial", "width=99,inner=counting"},
    {"blocked", "lines=0"},
    {"blocked", "lines=5"},
    {"blocked", "lines=-1"},
    {"blocked", "lines=1.5"},
    {"blocked", "lines="},
    {"blocked", "lines=many"},
    {"blocked", "hash=jenkins"},
    {"blocked", "k=8"},
    {"blocked", "m=100000"},
    {"scalable", "inner=sieve"},
    {"scalable", "growth=0"},
    {"scalable", "growth=-2"},
    {"scalable", "growth=0.5"},
    {"scalable", "growth=nan"},
    {"scalable", "growth=inf"},
    {"scalable", "growth=1e300"},
    {"scalable", "tighten=0"},
    {"scalable", "tighten=1"},
    {"scalable", "tighten=1.5"},
    {"scalable", "tighten=-0.5"},
    {"scalable", "tighten=nan"},
    {"scalable", "tighten=inf"},
    {"scalable", "tighten=half"},
};

/* The request fails as it should: an error, a message, no set, hardly any memory. */
static void must_be_refused(const char *what, vidi_options *options)
{
    test_allocator allocator;
    vidi_access access = VIDI_ACCESS_INIT;
    const vidi_access *before = options->access;
    vidi_set *set = (vidi_set *)&allocator;
    test_allocator_init(&allocator);
    if (before)
        access = *before;
    access.allocator = &allocator.hook;
    options->access = &access;
    int result = vidi_create(&set, options);
    check(result < 0, "accepted (%d): %s", result, what);
    check(strlen(vidi_message()) > 0, "no message: %s", what);
    check(strlen(vidi_strerror(result)) > 0, "no text for %d: %s", result, what);
    check(!set, "a set in spite of the error: %s", what);
    check(allocator.peak_bytes <= 1 << 20, "%llu bytes before the refusal: %s",
          (unsigned long long)allocator.peak_bytes, what);
    test_allocator_finish(&allocator);
    options->access = before;
}

static bool names(const char *kinds, const char *kind)
{
    size_t length = strlen(kind);
    for (const char *at = kinds; (at = strstr(at, kind)); at += length) {
        if ((at == kinds || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) {
            return true;
        }
    }
    return false;
}

static void bad_parameters_are_refused(void **state)
{
    const bad_params *which = *state;
    vidi_kind_info info = {.size = sizeof info};
    char what[512];
    for (size_t i = 0; vidi_kind(i, &info) == VIDI_OK; i++) {
        vidi_options options = VIDI_OPTIONS_INIT;
        options.kind = info.name;
        options.params = which->params;
        options.capacity = strstr(which->params, "m=") ? 0 : 1000;
        snprintf(what, sizeof what, "%s with %s", info.name, which->params);
        if (names(which->kinds, info.name)) {
            must_be_refused(what, &options);
        }
    }
}

typedef struct bad_number {
    const char *what;
    double value;
} bad_number;

static void bad_errors_are_refused(void **state)
{
    static const bad_number errors[] = {
        {"error -1", -1}, {"error -1e-9", -1e-9},         {"error NaN", NAN}, {"error infinite", INFINITY},
        {"error 1", 1},   {"error minus inf", -INFINITY}, {"error 2", 2},     {"error 1e300", 1e300},
    };
    vidi_options options = VIDI_OPTIONS_INIT;
    const test_case *which = *state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        options.kind = which->kind;
        options.capacity = 1000;
        options.error = errors[i].value;
        must_be_refused(errors[i].what, &options);
    }
}

static void bad_headrooms_are_refused(void **state)
{
    static const bad_number headrooms[] = {
        {"headroom -1", -1},
        {"headroom 0.5", 0.5},
        {"headroom NaN", NAN},
        {"headroom inf", INFINITY},
        {"headroom minus inf", -INFINITY},
    };
    vidi_options options = VIDI_OPTIONS_INIT;
    const test_case *which = *state;
    for (size_t i = 0; i < sizeof headrooms / sizeof *headrooms; i++) {
        options.kind = which->kind;
        options.capacity = 1000;
        options.headroom = headrooms[i].value;
        must_be_refused(headrooms[i].what, &options);
    }
}

static void huge_capacities_are_refused(void **state)
{
    static const uint64_t capacities[] = {
        UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63, (uint64_t)1 << 62, (uint64_t)1 << 56,
    };
    const test_case *which = *state;
    char what[64];
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        test_options made;
        test_case_options(&made, which, 1000, 1);
        made.options.capacity = capacities[i];
        snprintf(what, sizeof what, "capacity %llu", (unsigned long long)capacities[i]);
        must_be_refused(what, &made.options);
    }
}

static void a_kind_that_cannot_grow_needs_a_size(void **state)
{
    const test_case *which = *state;
    vidi_options options = VIDI_OPTIONS_INIT;
    options.kind = which->kind;
    must_be_refused("no capacity", &options);
}

static void unknown_kinds_are_refused(void **state)
{
    static const char *const kinds[] = {"",       "Classic",  "classic ", "bloom",
                                        "classi", "classicc", "\xff",     "list,sorted"};
    vidi_options options = VIDI_OPTIONS_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        options.kind = kinds[i];
        options.capacity = 1000;
        must_be_refused(kinds[i], &options);
    }
}

static void long_parameters_are_refused(void **state)
{
    const test_case *which = *state;
    vidi_options options = VIDI_OPTIONS_INIT;
    size_t length = 1 << 20;
    static const char fillings[] = {'x', ',', '=', '+', '1'};
    char *params = malloc(length + 1);
    assert_non_null(params);
    for (size_t i = 0; i < sizeof fillings; i++) {
        memset(params, fillings[i], length);
        memcpy(params, "hash=", 5);
        params[length] = 0;
        options.kind = which->kind;
        options.params = params;
        options.capacity = 1000;
        must_be_refused("a megabyte of parameters", &options);
    }
    free(params);
}

static void too_small_option_structs_are_refused(void **state)
{
    static const size_t sizes[] = {0, 1, 7};
    vidi_options options = VIDI_OPTIONS_INIT;
    char what[64];
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        options.size = sizes[i];
        snprintf(what, sizeof what, "options of %zu bytes", sizes[i]);
        must_be_refused(what, &options);
    }
}

/* No struct is that large: it must not be searched for fields of a later version. */
static void absurdly_large_option_structs_are_refused(void **state)
{
    static vidi_options options = VIDI_OPTIONS_INIT;
    (void)state;
    options.size = SIZE_MAX;
    must_be_refused("options of SIZE_MAX bytes", &options);
}

/* A later version's struct serves as long as what this version does not know is zero. */
static void unknown_fields_must_be_zero(void **state)
{
    struct {
        vidi_options options;
        uint64_t later[4];
    } larger = {VIDI_OPTIONS_INIT, {0, 0, 0, 0}};
    vidi_set *set = NULL;
    (void)state;
    larger.options.size = sizeof larger;
    int result = vidi_create(&set, &larger.options);
    assert_true(result == VIDI_OK || (result < 0 && !set));
    vidi_close(set);
    larger.later[3] = 1;
    must_be_refused("an unknown field that is not zero", &larger.options);
}

static void unknown_flags_are_refused(void **state)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    (void)state;
    options.flags = 0x80000000u;
    must_be_refused("flag 0x80000000", &options);
    options.flags = 0;
    options.access = &access;
    access.flags = 0x80000000u;
    must_be_refused("access flag 0x80000000", &options);
    access.flags = 0;
    access.sync = VIDI_SYNC_NEVER + 1;
    must_be_refused("an unknown sync policy", &options);
}

static void half_an_allocator_is_refused(void **state)
{
    test_allocator whole;
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_allocator half;
    vidi_set *set = (vidi_set *)&options;
    (void)state;
    test_allocator_init(&whole);
    half = whole.hook;
    half.release = NULL;
    options.access = &access;
    access.allocator = &half;
    assert_true(vidi_create(&set, &options) < 0);
    assert_null(set);
    half = whole.hook;
    half.allocate = NULL;
    set = (vidi_set *)&options;
    assert_true(vidi_create(&set, &options) < 0);
    assert_null(set);
    test_allocator_finish(&whole);
}

static void a_hook_without_zeroed_serves(void **state)
{
    test_allocator whole;
    test_allocator_init(&whole);
    whole.hook.allocate_zeroed = NULL;
    vidi_set *set = test_case_set(*state, 100, 2, &whole.hook);
    assert_int_equal(vidi_has(set, test_str("http://example.org/")), VIDI_NEW);
    assert_int_equal(vidi_add(set, test_str("http://example.org/")), VIDI_NEW);
    assert_int_equal(vidi_add(set, test_str("http://example.org/")), VIDI_SEEN);
    vidi_close(set);
    test_allocator_finish(&whole);
}

static int visit(void *context, const vidi_entry *entry)
{
    (void)context;
    (void)entry;
    return 0;
}

static void null_pointers_are_errors(void **state)
{
    vidi_set *set = test_case_set(*state, 100, 3, NULL);
    vidi_str url = test_str("http://example.org/"), none = {NULL, 5};
    uint8_t verdict = 0;
    uint64_t times = 0;
    vidi_stats stats = {.size = sizeof stats};
    vidi_epoch_stats epoch = {.size = sizeof epoch};
    assert_int_equal(vidi_create(NULL, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_add(NULL, url), VIDI_EARGUMENT);
    assert_int_equal(vidi_add(set, none), VIDI_EARGUMENT);
    assert_int_equal(vidi_has(NULL, url), VIDI_EARGUMENT);
    assert_int_equal(vidi_has(set, none), VIDI_EARGUMENT);
    assert_int_equal(vidi_add_batch(NULL, &url, 1, &verdict, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_add_batch(set, NULL, 1, &verdict, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_add_batch(set, &url, 1, NULL, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_has_batch(set, NULL, 1, &verdict), VIDI_EARGUMENT);
    assert_int_equal(vidi_has_batch(set, &url, 1, NULL), VIDI_EARGUMENT);
    assert_true(vidi_add_batch(set, &none, 1, &verdict, NULL) < 0);
    assert_int_equal(verdict, VIDI_UNTRIED);
    assert_true(vidi_remove(set, none) < 0 && vidi_remove(NULL, url) < 0);
    assert_true(vidi_count(set, url, NULL) < 0 && vidi_count(NULL, url, &times) < 0);
    assert_true(vidi_rotate(NULL, NULL) < 0 && vidi_has_previous(NULL, url) < 0 && vidi_drop_previous(NULL) < 0);
    assert_true(vidi_merge(NULL, set, 0) < 0 && vidi_merge(set, NULL, 0) < 0);
    assert_true(vidi_iterate(NULL, visit, NULL) < 0 && vidi_iterate(set, NULL, NULL) < 0);
    assert_true(test_step(NULL, 1) < 0);
    assert_true(vidi_stat(NULL, &stats) < 0 && vidi_stat(set, NULL) < 0);
    assert_true(vidi_epoch_stat(NULL, 0, &epoch) < 0 && vidi_epoch_stat(set, 0, NULL) < 0);
    assert_true(vidi_write(NULL, test_stream_sink, NULL, 0) < 0 && vidi_write(set, NULL, NULL, 0) < 0);
    assert_true(vidi_read(NULL, test_stream_source, NULL, 0, NULL, NULL) < 0);
    assert_true(vidi_kind(0, NULL) < 0 && vidi_plan(NULL, NULL, NULL) < 0);
    assert_true(vidi_decide(NULL, 1, NULL) < 0);
    assert_int_equal(test_stat(set).answered_new + test_stat(set).answered_seen, 0);
    vidi_close(NULL);
    vidi_close(set);
}

/* A batch with one bad URL: the others are dealt with or untried, and the call says so. */
static void a_bad_url_in_a_batch_leaves_no_trace(void **state)
{
    vidi_set *set = test_case_set(*state, 100, 4, NULL);
    vidi_str urls[3] = {test_str("http://a.example/"), {NULL, 9}, test_str("http://b.example/")};
    uint8_t verdicts[3] = {9, 9, 9};
    assert_int_equal(vidi_add_batch(set, urls, 3, verdicts, NULL), VIDI_EARGUMENT);
    assert_int_equal(verdicts[1], VIDI_UNTRIED);
    for (size_t i = 0; i < 3; i += 2) {
        assert_true(verdicts[i] == VIDI_UNTRIED || verdicts[i] == VIDI_NEW);
        assert_int_equal(vidi_has(set, urls[i]), verdicts[i] == VIDI_NEW ? VIDI_SEEN : VIDI_NEW);
    }
    vidi_close(set);
}

static void every_error_has_a_text(void **state)
{
    (void)state;
    for (int a = VIDI_EDAMAGED; a <= VIDI_OK; a++) {
        assert_non_null(vidi_strerror(a));
        assert_true(strlen(vidi_strerror(a)) > 1);
        for (int b = VIDI_EDAMAGED; b < a; b++) {
            assert_string_not_equal(vidi_strerror(a), vidi_strerror(b));
        }
    }
    assert_true(strlen(vidi_strerror(-1000)) > 0 && strlen(vidi_strerror(1000)) > 0);
    assert_true(strlen(vidi_strerror(INT32_MIN)) > 0);
    assert_non_null(vidi_message());
    assert_string_equal(vidi_version(), "0.1.0");
}

static bool is_plain(const test_case *which)
{
    return !which->params && which->error <= 0;
}

static bool cannot_grow(const test_case *which)
{
    return is_plain(which) && !test_case_can(which, VIDI_CAN_GROW);
}

int main(int argc, char **argv)
{
    char promise[128];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(promise, sizeof promise, "refused: %s %.30s", strlen(bad[i].kinds) < 12 ? bad[i].kinds : "all",
                 bad[i].params);
        test_add(promise, bad_parameters_are_refused, &bad[i]);
    }
    test_add_cases("bad errors are refused", bad_errors_are_refused, is_plain);
    test_add_cases("bad headrooms are refused", bad_headrooms_are_refused, is_plain);
    test_add_cases("huge capacities are refused", huge_capacities_are_refused, is_plain);
    test_add_cases("a kind that cannot grow needs a size", a_kind_that_cannot_grow_needs_a_size, cannot_grow);
    test_add_cases("long parameters are refused", long_parameters_are_refused, is_plain);
    test_add("unknown kinds are refused", unknown_kinds_are_refused, NULL);
    test_add("too small option structs are refused", too_small_option_structs_are_refused, NULL);
    test_add("unknown fields must be zero", unknown_fields_must_be_zero, NULL);
    test_add("unknown flags are refused", unknown_flags_are_refused, NULL);
    test_add("half an allocator is refused", half_an_allocator_is_refused, NULL);
    test_add_cases("a hook without allocate_zeroed serves", a_hook_without_zeroed_serves, NULL);
    test_add_cases("null pointers are errors", null_pointers_are_errors, is_plain);
    test_add_cases("a bad URL in a batch leaves no trace", a_bad_url_in_a_batch_leaves_no_trace, is_plain);
    test_add("every error has a text", every_error_has_a_text, NULL);
    test_add("absurdly large option structs are refused", absurdly_large_option_structs_are_refused, NULL);
    return test_run("absurd", argc, argv);
}
