/* From items to k values: what the parameters mean, what is refused, and that the values stay what they are. */
#include <stdio.h>

#include "support/random.h"

#include "hash/position_cases.h"
#include "hash/vectors.h"

static vidi_str str(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

/* Were the functions built that need another library? */
static bool all_functions(void)
{
    return vidi__hash_find(str("xxh3")) && vidi__hash_find(str("md5")) && vidi__hash_find(str("sha1"));
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static void check_values(const char *params, const vidi__seed *seed, const uint64_t *expected, unsigned k)
{
    unsigned char bytes[VIDI_KEY_BYTES];
    for (unsigned i = 0; i < VIDI_KEY_BYTES; i++)
        bytes[i] = (unsigned char)i;
    vidi__hash_key key;
    vidi__hash_key_init(&key, bytes);
    vidi__part part = {.str = {scheme_url, sizeof scheme_url - 1}};
    part.hash = vidi__hash(&vidi__hash_sip13, &key, part.str);
    vidi__positions positions = make(params, seed, k);
    uint64_t values[VIDI__K_MAX];
    vidi__positions_values(&positions, &part, values);
    for (unsigned i = 0; i < k; i++)
        check(values[i] == expected[i], "%s: value %u is %llx", params, i, (unsigned long long)values[i]);
}

static void values_are_those_of_the_vectors(void **state)
{
    (void)state;
    vidi__seed seed = {.turn = 0};
    memcpy(seed.key, scheme_seed, sizeof seed.key);
    check_values("", &seed, derived_sip13, VIDI__COUNT(derived_sip13));
    check_values("mode=salted", &seed, salted_sip13, VIDI__COUNT(salted_sip13));
    check_values("hash=jenkins", &seed, salted_jenkins, VIDI__COUNT(salted_jenkins));
    check_values("hash=jenkins,salt=suffix", &seed, suffix_jenkins, VIDI__COUNT(suffix_jenkins));
    check_values("functions=murmur2+sip13+oaat", &seed, different_three, VIDI__COUNT(different_three));
    vidi__seed child = vidi__seed_child(&seed, "member", 3, 4);
    check_values("", &child, child_sip13, VIDI__COUNT(child_sip13));
}

/* Two items alike in one half of their hashes are not alike in their values: 64 bits would not do for 2^32 items. */
static void both_halves_of_the_hash_count(void **state)
{
    (void)state;
    vidi__seed seed = seed_of(8);
    vidi__positions positions = make("", &seed, VIDI__K_MAX);
    test_random random = {1};
    for (unsigned round = 0; round < 1000; round++) {
        uint64_t base[VIDI__K_MAX], other[VIDI__K_MAX];
        vidi__part part = {.hash = {test_next(&random), test_next(&random)}}, like_lo = part, like_hi = part;
        like_lo.hash.hi = test_next(&random);
        like_hi.hash.lo = test_next(&random);
        vidi__positions_values(&positions, &part, base);
        vidi__positions_values(&positions, &like_lo, other);
        assert_int_equal(base[0], other[0]);
        for (unsigned i = 1; i < VIDI__K_MAX; i++)
            assert_int_not_equal(base[i], other[i]);
        vidi__positions_values(&positions, &like_hi, other);
        for (unsigned i = 0; i < VIDI__K_MAX; i++)
            assert_int_not_equal(base[i], other[i]);
    }
}

static void children_have_keys_and_turns_of_their_own(void **state)
{
    (void)state;
    vidi__seed seed = seed_of(1);
    seed.turn = 5;
    vidi__seed a = vidi__seed_child(&seed, "member", 0, 3), b = vidi__seed_child(&seed, "member", 2, 3);
    vidi__seed c = vidi__seed_child(&seed, "stage", 0, 3), again = vidi__seed_child(&seed, "member", 0, 3);
    assert_int_equal(a.turn, 15);
    assert_int_equal(b.turn, 17);
    assert_memory_equal(a.key, again.key, sizeof a.key);
    assert_memory_not_equal(a.key, b.key, sizeof a.key);
    assert_memory_not_equal(a.key, c.key, sizeof a.key);
    assert_memory_not_equal(a.key, seed.key, sizeof a.key);
}

static void salts_are_hashed_with_the_bytes(void **state)
{
    (void)state;
    vidi__seed seed = seed_of(2);
    vidi__part part = {.str = str("http://example.org/some/page")};
    const vidi__hash_fn *fn;
    for (size_t f = 0; (fn = vidi__hash_at(f)); f++)
        for (unsigned suffix = 0; suffix < 2; suffix++) {
            char params[64], joined[128];
            snprintf(params, sizeof params, "mode=salted,hash=%s,salt=%s", fn->name, suffix ? "suffix" : "prefix");
            vidi__positions positions = make(params, &seed, VIDI__K_MAX);
            uint64_t values[VIDI__K_MAX];
            vidi__positions_values(&positions, &part, values);
            for (unsigned i = 0; i < VIDI__K_MAX; i++) {
                memcpy(joined + (suffix ? part.str.len : 0), positions.salts[i], VIDI__SALT_BYTES);
                memcpy(joined + (suffix ? 0 : VIDI__SALT_BYTES), part.str.ptr, part.str.len);
                vidi_str both = {joined, part.str.len + VIDI__SALT_BYTES};
                check(values[i] == vidi__hash(fn, &positions.key, both).lo, "%s, value %u", params, i);
                for (unsigned j = 0; j < i; j++)
                    assert_memory_not_equal(positions.salts[i], positions.salts[j], VIDI__SALT_BYTES);
            }
        }
}

/* Lanes side by side: every number of salts, every length up to several blocks and whatever is left of one. */
static void many_salts_at_once_give_the_same_values(void **state)
{
    (void)state;
    vidi__seed seed = seed_of(4);
    char text[80];
    const vidi__hash_fn *fn;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 37 + 200);
    for (size_t f = 0; (fn = vidi__hash_at(f)); f++)
        for (unsigned k = 1; k <= VIDI__K_MAX && fn->salted; k++) {
            char params[64];
            snprintf(params, sizeof params, "mode=salted,hash=%s", fn->name);
            vidi__positions positions = make(params, &seed, k);
            for (size_t length = 0; length < sizeof text; length++) {
                uint64_t values[VIDI__K_MAX];
                vidi__part part = {.str = {text, length}};
                vidi__positions_values(&positions, &part, values);
                for (unsigned i = 0; i < k; i++) {
                    vidi_str pieces[2] = {{(const char *)positions.salts[i], VIDI__SALT_BYTES}, part.str};
                    check(values[i] == fn->hash(&positions.key, pieces, 2).lo, "%s, %u of %u salts, %zu bytes",
                          fn->name, i, k, length);
                }
            }
        }
}

static void a_prepared_place_is_the_same_place(void **state)
{
    static const uint64_t sizes[] = {1,
                                     2,
                                     3,
                                     64,
                                     5100000,
                                     6000000,
                                     50000000,
                                     268435456,
                                     4294967291,
                                     4294967295,
                                     UINT64_C(4294967296),
                                     UINT64_C(1) << 48};
    (void)state;
    for (unsigned narrow = 0; narrow < 2; narrow++)
        for (size_t i = 0; i < VIDI__COUNT(sizes); i++) {
            vidi__positions positions = {.narrow = narrow};
            vidi__placing placing = vidi__positions_placing(&positions, sizes[i]);
            for (uint64_t j = 0; j < 3000; j++) {
                uint64_t random = vidi__mix(j), near = sizes[i] * (j % 700) + j % 5 - 2;
                uint64_t values[] = {random, random >> 32, near, near & UINT32_MAX, j, UINT32_MAX - j, UINT64_MAX - j};
                for (size_t v = 0; v < VIDI__COUNT(values); v++)
                    check(vidi__placing_of(&placing, values[v]) ==
                              vidi__positions_place(&positions, values[v], sizes[i]),
                          "%llu of %llu", (unsigned long long)values[v], (unsigned long long)sizes[i]);
            }
        }
}

/* --- parameters --------------------------------------------------------------------------------------------------- */

static void check_describe(const char *params, unsigned k, uint64_t turn, const char *described, const char *names)
{
    vidi__seed seed = seed_of(3);
    seed.turn = turn;
    vidi__positions positions = make(params, &seed, k);
    char text[256], again[256], list[128];
    vidi__text to = vidi__text_in(text, sizeof text);
    vidi__positions_describe(&positions, &to);
    assert_string_equal(text, described);
    to = vidi__text_in(list, sizeof list);
    vidi__positions_names(&positions, &to);
    assert_string_equal(list, names);

    vidi__positions second = make(text, &seed, k);
    to = vidi__text_in(again, sizeof again);
    vidi__positions_describe(&second, &to);
    assert_string_equal(again, text);
    unsigned char bytes[8];
    vidi__part part = item(77, bytes);
    uint64_t a[VIDI__K_MAX], b[VIDI__K_MAX];
    vidi__positions_values(&positions, &part, a);
    vidi__positions_values(&second, &part, b);
    assert_memory_equal(a, b, k * sizeof a[0]);
    assert_int_equal(positions.narrow, second.narrow);
}

static void a_description_makes_the_same_scheme_again(void **state)
{
    (void)state;
    check_describe("", 7, 0, "hash=sip13,mode=derived", "sip13");
    check_describe("mode=derived", 1, 9, "hash=sip13,mode=derived", "sip13");
    check_describe("mode=salted", 64, 0, "hash=sip13,mode=salted,salt=prefix", "sip13");
    check_describe("hash=jenkins", 3, 0, "hash=jenkins,mode=salted,salt=prefix", "jenkins");
    check_describe("hash=oaat,salt=suffix", 3, 2, "hash=oaat,mode=salted,salt=suffix", "oaat");
    for (uint64_t turn = 0; turn < 5; turn++)
        check_describe("functions=oaat+jenkins", 2, turn, "mode=different,functions=oaat+jenkins", "oaat+jenkins");
    check_describe("mode=different", 2, 0, "mode=different,functions=jenkins+murmur2", "jenkins+murmur2");
    check_describe("mode=different,functions=sip13", 1, 3, "mode=different,functions=sip13", "sip13");
    check_describe("functions=jenkins+murmur2+oaat+sip13", 3, 1, "mode=different,functions=sip13+jenkins+murmur2",
                   "sip13+jenkins+murmur2");
    if (!all_functions())
        return;
    check_describe("hash=xxh3", 5, 0, "hash=xxh3,mode=derived", "xxh3");
    check_describe("hash=md5,mode=salted", 5, 0, "hash=md5,mode=salted,salt=prefix", "md5");
    check_describe("mode=different", 8, 0, "mode=different,functions=jenkins+murmur2+sha1+md5+oaat+xxh3+sip13+murmur3",
                   "jenkins+murmur2+sha1+md5+oaat+xxh3+sip13+murmur3");
    check_describe("mode=different", 3, 1, "mode=different,functions=md5+oaat+xxh3", "md5+oaat+xxh3");
}

static void every_turn_takes_the_next_functions(void **state)
{
    (void)state;
    static const struct {
        uint64_t turn;
        const char *names;
    } expected[] = {
        {0, "jenkins+murmur2+oaat"}, {1, "sip13+jenkins+murmur2"}, {2, "oaat+sip13+jenkins"},
        {3, "murmur2+oaat+sip13"},   {4, "jenkins+murmur2+oaat"},  {UINT64_MAX, "murmur2+oaat+sip13"},
    };
    for (size_t i = 0; i < VIDI__COUNT(expected); i++) {
        vidi__seed seed = seed_of(4);
        seed.turn = expected[i].turn;
        vidi__positions positions = make("functions=jenkins+murmur2+oaat+sip13", &seed, 3);
        char names[64];
        vidi__text text = vidi__text_in(names, sizeof names);
        vidi__positions_names(&positions, &text);
        assert_string_equal(names, expected[i].names);
    }
}

static void check_refused(const char *params, unsigned k, const char *message)
{
    vidi__seed seed = seed_of(5);
    vidi__positions positions;
    check(init(&positions, params, &seed, k) == VIDI_EOPTION, "%s is not refused", params);
    check(strstr(vidi_message(), message) != NULL, "%s: '%s' instead of '%s'", params, vidi_message(), message);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    check_refused("", 0, "k must be a whole number from 1 to 64, not 0");
    check_refused("", 65, "k must be a whole number from 1 to 64, not 65");
    check_refused("hash=crc32", 3, "this build has no hash function 'crc32'; it has jenkins, murmur2, ");
    check_refused("hash=", 3, "this build has no hash function ''");
    check_refused("mode=double", 3, "mode must be one of derived|salted|different, not 'double'");
    check_refused("hash=jenkins,mode=derived", 3,
                  "mode=derived needs a 128-bit hash function, but jenkins has 32 bits: use mode=salted");
    check_refused("mode=derived,salt=prefix", 3, "salt is for mode=salted, but the mode is derived");
    check_refused("salt=suffix", 3, "salt is for mode=salted, but the mode is derived");
    check_refused("functions=oaat,salt=suffix", 1, "salt is for mode=salted, but the mode is different");
    check_refused("mode=salted,salt=middle", 3, "salt must be one of prefix|suffix, not 'middle'");
    check_refused("mode=salted,functions=oaat", 1, "functions is for mode=different; mode=salted takes hash");
    check_refused("mode=derived,functions=oaat", 1, "functions is for mode=different; mode=derived takes hash");
    check_refused("hash=oaat,functions=oaat", 1, "give functions=a+b instead of hash");
    check_refused("hash=oaat,mode=different", 1, "give functions=a+b instead of hash");
    check_refused("functions=oaat+jenkins+oaat", 2, "functions lists oaat twice");
    check_refused("functions=oaat+", 1, "this build has no hash function ''");
    check_refused("functions=", 1, "this build has no hash function ''");
    check_refused("functions=oaat+crc", 1, "this build has no hash function 'crc'");
    check_refused("functions=oaat+jenkins", 3, "mode=different has 2 functions to choose from, too few for k = 3");
    check_refused("functions=oaat", 64, "mode=different has 1 function to choose from, too few for k = 64");
    check_refused("mode=different", 9, "functions to choose from, too few for k = 9");
    check_refused("hash=oaat,other=1", 1, "there is no parameter 'other'");
}

static void narrow_functions_do_not_serve_many_places(void **state)
{
    (void)state;
    vidi__seed seed = seed_of(6);
    vidi__positions wide = make("", &seed, 3), narrow = make("hash=jenkins", &seed, 3);
    vidi__positions mixed = make("functions=sip13+oaat", &seed, 2);
    assert_false(wide.narrow);
    assert_true(narrow.narrow);
    assert_true(mixed.narrow);
    assert_int_equal(vidi__positions_check(&wide, UINT64_MAX), VIDI_OK);
    assert_int_equal(vidi__positions_check(&narrow, VIDI__NARROW_MAX), VIDI_OK);
    assert_int_equal(vidi__positions_check(&narrow, 300000000), VIDI_EOPTION);
    if (all_functions())
        assert_string_equal(vidi_message(), "jenkins gives 32-bit values, too few to reach 300000000 places evenly; "
                                            "use sip13, xxh3, md5 or sha1");
    assert_int_equal(vidi__positions_check(&mixed, VIDI__NARROW_MAX + 1), VIDI_EOPTION);
    assert_non_null(strstr(vidi_message(), "oaat gives 32-bit values, too few to reach 268435457 places evenly; use"));
}

static void only_keyed_functions_withstand(void **state)
{
    (void)state;
    vidi__seed seed = seed_of(7);
    vidi__positions positions = make("", &seed, 3);
    assert_true(vidi__positions_keyed(&positions));
    positions = make("mode=salted", &seed, 3);
    assert_true(vidi__positions_keyed(&positions));
    positions = make("functions=sip13", &seed, 1);
    assert_true(vidi__positions_keyed(&positions));
    positions = make("functions=sip13+oaat", &seed, 2);
    assert_false(vidi__positions_keyed(&positions));
    positions = make("hash=murmur2", &seed, 3);
    assert_false(vidi__positions_keyed(&positions));
}

static void check_item_hash(const char *text, const char *name)
{
    vidi__params params;
    const vidi__hash_fn *fn = NULL;
    assert_int_equal(vidi__params_parse(&params, text), VIDI_OK);
    check(vidi__positions_item_hash(&params, &fn) == VIDI_OK, "%s: %s", text, vidi_message());
    assert_string_equal(fn->name, name);
    for (size_t i = 0; i < params.count; i++)
        assert_false(params.list[i].used);
}

static void items_are_hashed_with_a_function_of_128_bits(void **state)
{
    (void)state;
    check_item_hash("", "sip13");
    check_item_hash("k=3,hash=sip13", "sip13");
    check_item_hash("hash=jenkins", "sip13");
    check_item_hash("functions=jenkins+oaat,inner.k=2", "sip13");
    if (all_functions()) {
        check_item_hash("k=3,hash=xxh3", "xxh3");
        check_item_hash("inner.hash=xxh3", "xxh3");
        check_item_hash("inner.inner.hash=sha1,k=1", "sha1");
    }
    vidi__params params;
    const vidi__hash_fn *fn = NULL;
    assert_int_equal(vidi__params_parse(&params, "hash=none"), VIDI_OK);
    assert_int_equal(vidi__positions_item_hash(&params, &fn), VIDI_EOPTION);
    assert_non_null(strstr(vidi_message(), "this build has no hash function 'none'; it has"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_vectors),
        cmocka_unit_test(both_halves_of_the_hash_count),
        cmocka_unit_test(children_have_keys_and_turns_of_their_own),
        cmocka_unit_test(salts_are_hashed_with_the_bytes),
        cmocka_unit_test(many_salts_at_once_give_the_same_values),
        cmocka_unit_test(a_prepared_place_is_the_same_place),
        cmocka_unit_test(a_description_makes_the_same_scheme_again),
        cmocka_unit_test(every_turn_takes_the_next_functions),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(narrow_functions_do_not_serve_many_places),
        cmocka_unit_test(only_keyed_functions_withstand),
        cmocka_unit_test(items_are_hashed_with_a_function_of_128_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
