/* The hash functions against vectors of a second implementation and of their authors, whole and in pieces. */
#include <stdlib.h>

#include "support/check.h"

#include "hash/functions.h"
#include "hash/sip.h"
#include "hash/vectors.h"
#include "vidi/url.h"

typedef uint32_t seeded_fn(const vidi_str *pieces, size_t count, uint32_t seed);

/* The input of the vectors, in a block of memory that ends with it: the sanitizer finds reads that go too far. */
static char *pattern(size_t length)
{
    char *bytes = malloc(length ? length : 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)(unsigned char)(i + i / 256);
    return bytes;
}

static const unsigned char key_bytes[VIDI_KEY_BYTES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static vidi__hash_key test_key(void)
{
    vidi__hash_key key;
    vidi__hash_key_init(&key, key_bytes);
    return key;
}

static bool same(vidi__u128 a, vidi__u128 b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

static void check_vectors(const vidi__hash_fn *fn, const vector *vectors, size_t count)
{
    vidi__hash_key key = test_key();
    for (size_t i = 0; i < count; i++) {
        char *bytes = pattern(vectors[i].length);
        vidi__u128 value = vidi__hash(fn, &key, (vidi_str){bytes, vectors[i].length});
        if (vectors[i].seed == 0)
            check(same(value, (vidi__u128){vectors[i].lo, vectors[i].hi}), "%s of %u bytes", fn->name,
                  vectors[i].length);
        free(bytes);
    }
}

static void check_seeded(seeded_fn *fn, const char *name, const vector *vectors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *bytes = pattern(vectors[i].length);
        const vidi_str whole = {bytes, vectors[i].length};
        check(fn(&whole, 1, vectors[i].seed) == vectors[i].lo, "%s of %u bytes, seed %u", name, vectors[i].length,
              vectors[i].seed);
        free(bytes);
    }
}

/* SMHasher's: the bytes 0 .. i-1 with seed 256 - i for i from 0 to 255, then all the results with seed 0. */
static uint32_t verification(seeded_fn *fn)
{
    unsigned char bytes[256], results[256 * 4];
    for (unsigned i = 0; i < 256; i++) {
        const vidi_str input = {(char *)bytes, i};
        bytes[i] = (unsigned char)i;
        vidi__store32(results + 4 * (size_t)i, fn(&input, 1, 256 - i));
    }
    const vidi_str all = {(char *)results, sizeof results};
    return fn(&all, 1, 0);
}

static void sip13_gives_the_vectors(void **state)
{
    (void)state;
    check_vectors(&vidi__hash_sip13, sip13_vectors, VIDI__COUNT(sip13_vectors));
}

static void the_public_hash_is_siphash_1_3(void **state)
{
    (void)state;
    uint64_t hash[2];
    for (size_t i = 0; i < VIDI__COUNT(sip13_vectors); i++) {
        const vector *v = &sip13_vectors[i];
        char *bytes = pattern(v->length);
        assert_int_equal(vidi_keyed_hash(key_bytes, (vidi_str){bytes, v->length}, hash), VIDI_OK);
        check(hash[0] == v->lo && hash[1] == v->hi, "the hash of %u bytes", v->length);
        free(bytes);
    }
    assert_int_equal(vidi_keyed_hash(key_bytes, (vidi_str){NULL, 0}, hash), VIDI_OK);
    assert_true(hash[0] == sip13_vectors[0].lo && hash[1] == sip13_vectors[0].hi);
    assert_int_equal(vidi_keyed_hash(NULL, (vidi_str){"a", 1}, hash), VIDI_EARGUMENT);
    assert_int_equal(vidi_keyed_hash(key_bytes, (vidi_str){NULL, 1}, hash), VIDI_EARGUMENT);
    assert_int_equal(vidi_keyed_hash(key_bytes, (vidi_str){"a", 1}, NULL), VIDI_EARGUMENT);
}

static void the_public_batch_gives_the_same_hashes(void **state)
{
    enum { MOST = 200 };
    static vidi_str inputs[MOST];
    static uint64_t hashes[MOST + 1][2];
    (void)state;
    char *bytes = pattern(MOST * 3);
    for (size_t n = 0; n <= MOST; n += n < 20 ? 1 : 45) {
        for (size_t i = 0; i < n; i++)
            inputs[i] = (vidi_str){i % 7 ? bytes + i : NULL, i % 7 ? i * 37 % 150 : 0};
        hashes[n][0] = 12345;
        assert_int_equal(vidi_keyed_hash_batch(key_bytes, inputs, n, hashes), VIDI_OK);
        for (size_t i = 0; i < n; i++) {
            uint64_t alone[2];
            vidi_keyed_hash(key_bytes, inputs[i], alone);
            check(hashes[i][0] == alone[0] && hashes[i][1] == alone[1], "input %zu of %zu", i, n);
        }
        assert_true(hashes[n][0] == 12345);
    }
    hashes[0][0] = 1;
    inputs[1] = (vidi_str){NULL, 1};
    assert_int_equal(vidi_keyed_hash_batch(key_bytes, inputs, 2, hashes), VIDI_EARGUMENT);
    assert_true(hashes[0][0] == 1);
    assert_int_equal(vidi_keyed_hash_batch(NULL, inputs, 1, hashes), VIDI_EARGUMENT);
    assert_int_equal(vidi_keyed_hash_batch(key_bytes, NULL, 1, hashes), VIDI_EARGUMENT);
    assert_int_equal(vidi_keyed_hash_batch(key_bytes, inputs, 1, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_keyed_hash_batch(key_bytes, NULL, 0, NULL), VIDI_OK);
    free(bytes);
}

static void the_same_code_is_siphash_2_4(void **state)
{
    (void)state;
    vidi__hash_key key = test_key();
    for (size_t i = 0; i < VIDI__COUNT(sip24_vectors); i++) {
        char *bytes = pattern(sip24_vectors[i].length);
        const vidi_str whole = {bytes, sip24_vectors[i].length};
        check(same(vidi__siphash(key.key, &whole, 1, 2, 4), (vidi__u128){sip24_vectors[i].lo, sip24_vectors[i].hi}),
              "SipHash-2-4 of %u bytes", sip24_vectors[i].length);
        free(bytes);
    }
    const vidi_str empty = {NULL, 0}; /* the first of the authors' vectors: a3 81 7f 04 … */
    assert_true(same(vidi__siphash(key.key, &empty, 1, 2, 4),
                     (vidi__u128){UINT64_C(0xe6a825ba047f81a3), UINT64_C(0x930255c71472f66d)}));
}

static void jenkins_gives_the_vectors(void **state)
{
    (void)state;
    check_vectors(&vidi__hash_jenkins, jenkins_vectors, VIDI__COUNT(jenkins_vectors));
    check_seeded(vidi__jenkins, "lookup2", jenkins_vectors, VIDI__COUNT(jenkins_vectors));
    assert_int_equal(verification(vidi__jenkins), 0x8b7fb2d2);
}

static void oaat_gives_the_vectors(void **state)
{
    (void)state;
    check_vectors(&vidi__hash_oaat, oaat_vectors, VIDI__COUNT(oaat_vectors));
    check_seeded(vidi__oaat, "one-at-a-time", oaat_vectors, VIDI__COUNT(oaat_vectors));
    assert_int_equal(verification(vidi__oaat), 0xee05869b);
}

static void murmur2_gives_the_vectors(void **state)
{
    (void)state;
    check_vectors(&vidi__hash_murmur2, murmur2_vectors, VIDI__COUNT(murmur2_vectors));
    check_seeded(vidi__murmur2, "MurmurHash2", murmur2_vectors, VIDI__COUNT(murmur2_vectors));
    assert_int_equal(verification(vidi__murmur2), 0x27864c1e);
}

static void murmur3_gives_the_vectors(void **state)
{
    (void)state;
    check_vectors(&vidi__hash_murmur3, murmur3_vectors, VIDI__COUNT(murmur3_vectors));
    check_seeded(vidi__murmur3, "MurmurHash3", murmur3_vectors, VIDI__COUNT(murmur3_vectors));
    assert_int_equal(verification(vidi__murmur3), 0xb0f57ee3);
}

/* For functions that a build may lack. */
static void check_if_there(const char *name, const vector *vectors, size_t count)
{
    const vidi__hash_fn *fn = vidi__hash_find((vidi_str){name, strlen(name)});
    if (!fn)
        skip();
    check_vectors(fn, vectors, count);
}

static void md5_gives_the_vectors(void **state)
{
    (void)state;
    check_if_there("md5", md5_vectors, VIDI__COUNT(md5_vectors));
}

static void sha1_gives_the_vectors(void **state)
{
    (void)state;
    check_if_there("sha1", sha1_vectors, VIDI__COUNT(sha1_vectors));
}

static void xxh3_gives_the_vectors(void **state)
{
    (void)state;
    check_if_there("xxh3", xxh3_vectors, VIDI__COUNT(xxh3_vectors));
}

/* All ways to cut the first `length` bytes in two, and some to cut them in three. */
static void check_pieces(const vidi__hash_fn *fn, const vidi__hash_key *key, const char *bytes, size_t length)
{
    vidi__u128 whole = vidi__hash(fn, key, (vidi_str){bytes, length});
    for (size_t a = 0; a <= length; a++) {
        const vidi_str two[2] = {{bytes, a}, {bytes + a, length - a}};
        check(same(fn->hash(key, two, 2), whole), "%s of %zu + %zu bytes", fn->name, a, length - a);
        for (size_t b = a; b <= length && (length <= 64 || b <= a + 25); b++) {
            const vidi_str three[3] = {{bytes, a}, {bytes + a, b - a}, {bytes + b, length - b}};
            check(same(fn->hash(key, three, 3), whole), "%s of %zu + %zu + %zu bytes", fn->name, a, b - a, length - b);
        }
    }
}

static void pieces_count_as_one_string(void **state)
{
    (void)state;
    static const size_t longer[] = {100, 240, 241, 512, 513, 600, 1100};
    vidi__hash_key key = test_key();
    const vidi__hash_fn *fn;
    for (size_t i = 0; (fn = vidi__hash_at(i)); i++) {
        for (size_t length = 0; length <= 64; length++) {
            char *bytes = pattern(length);
            check_pieces(fn, &key, bytes, length);
            free(bytes);
        }
        for (size_t j = 0; j < VIDI__COUNT(longer); j++) {
            char *bytes = pattern(longer[j]);
            check_pieces(fn, &key, bytes, longer[j]);
            free(bytes);
        }
    }
}

static void pieces_may_be_empty_and_point_nowhere(void **state)
{
    (void)state;
    vidi__hash_key key = test_key();
    const vidi_str pieces[5] = {{NULL, 0}, {"ab", 2}, {NULL, 0}, {"cdefghijklmnopq", 15}, {NULL, 0}};
    const vidi__hash_fn *fn;
    for (size_t i = 0; (fn = vidi__hash_at(i)); i++) {
        assert_true(same(fn->hash(&key, pieces, 5), vidi__hash(fn, &key, (vidi_str){"abcdefghijklmnopq", 17})));
        assert_true(same(fn->hash(&key, pieces, 1), vidi__hash(fn, &key, (vidi_str){"", 0})));
        assert_true(same(fn->hash(&key, pieces, 0), vidi__hash(fn, &key, (vidi_str){"", 0})));
    }
}

static void every_bit_of_the_key_counts_where_there_is_one(void **state)
{
    (void)state;
    const vidi_str url = {"http://example.org/", 19};
    unsigned char bytes[VIDI_KEY_BYTES] = {0};
    vidi__hash_key zero, other;
    vidi__hash_key_init(&zero, bytes);
    for (unsigned bit = 0; bit < 8 * VIDI_KEY_BYTES; bit++) {
        bytes[bit / 8] = (unsigned char)(1u << bit % 8);
        vidi__hash_key_init(&other, bytes);
        bytes[bit / 8] = 0;
        const vidi__hash_fn *fn;
        for (size_t i = 0; (fn = vidi__hash_at(i)); i++) {
            bool keyed = strcmp(fn->name, "sip13") == 0 || strcmp(fn->name, "xxh3") == 0;
            check(same(vidi__hash(fn, &zero, url), vidi__hash(fn, &other, url)) != keyed, "%s, bit %u", fn->name, bit);
        }
    }
}

static void derived_keys_are_those_of_the_vectors(void **state)
{
    (void)state;
    static const struct {
        const char *purpose;
        uint64_t number;
    } of[] = {{"secret", 0}, {"secret", 11}, {"", 0}, {"tweak", UINT64_MAX}};
    vidi__hash_key key = test_key();
    unsigned char bytes[VIDI_KEY_BYTES], out[VIDI_KEY_BYTES];
    vidi__store64(bytes, key.key[0]);
    vidi__store64(bytes + 8, key.key[1]);
    for (size_t i = 0; i < VIDI__COUNT(of); i++) {
        vidi__derive_key(out, bytes, of[i].purpose, of[i].number);
        assert_int_equal(vidi__load64(out), derived_keys[2 * i]);
        assert_int_equal(vidi__load64(out + 8), derived_keys[2 * i + 1]);
    }
    assert_int_equal(vidi__load64(key.secret), derived_keys[0]); /* the secret is made of such keys */
    assert_int_equal(vidi__load64(key.secret + VIDI__XXH3_SECRET - 8), derived_keys[3]);
    vidi__derive_key(bytes, bytes, "secret", 0); /* in place */
    assert_int_equal(vidi__load64(bytes + 8), derived_keys[1]);
}

static void functions_are_listed_in_their_order(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned bits;
        bool keyed, always;
    } expected[] = {
        {"jenkins", 32, false, true}, {"murmur2", 32, false, true}, {"sha1", 128, false, false},
        {"md5", 128, false, false},   {"oaat", 32, false, true},    {"xxh3", 128, false, false},
        {"sip13", 128, true, true},   {"murmur3", 32, false, true},
    };
    size_t index = 0;
    for (size_t i = 0; i < VIDI__COUNT(expected); i++) {
        const vidi__hash_fn *fn = vidi__hash_find((vidi_str){expected[i].name, strlen(expected[i].name)});
        if (!fn && !expected[i].always)
            continue;
        assert_non_null(fn);
        assert_ptr_equal(vidi__hash_at(index++), fn);
        assert_string_equal(fn->name, expected[i].name);
        assert_int_equal(fn->bits, expected[i].bits);
        assert_int_equal(fn->keyed, expected[i].keyed);
    }
    assert_null(vidi__hash_at(index));
    assert_null(vidi__hash_at(SIZE_MAX));
}

static void unknown_names_are_refused_with_a_list(void **state)
{
    (void)state;
    assert_null(vidi__hash_find((vidi_str){"sip1", 4}));
    assert_null(vidi__hash_find((vidi_str){"sip13\0", 6}));
    assert_null(vidi__hash_find((vidi_str){"SIP13", 5}));
    assert_null(vidi__hash_find((vidi_str){"", 0}));
    assert_int_equal(vidi__hash_unknown((vidi_str){"crc32 and more", 5}), VIDI_EOPTION);
    const char *message = vidi_message();
    const char *start = "this build has no hash function 'crc32'; it has jenkins, murmur2, ";
    check(strncmp(message, start, strlen(start)) == 0, "%s", message);
    const char *end = strstr(message, ", sip13 and murmur3");
    check(end && end[strlen(", sip13 and murmur3")] == 0, "%s", message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sip13_gives_the_vectors),
        cmocka_unit_test(the_public_hash_is_siphash_1_3),
        cmocka_unit_test(the_public_batch_gives_the_same_hashes),
        cmocka_unit_test(the_same_code_is_siphash_2_4),
        cmocka_unit_test(jenkins_gives_the_vectors),
        cmocka_unit_test(oaat_gives_the_vectors),
        cmocka_unit_test(murmur2_gives_the_vectors),
        cmocka_unit_test(murmur3_gives_the_vectors),
        cmocka_unit_test(md5_gives_the_vectors),
        cmocka_unit_test(sha1_gives_the_vectors),
        cmocka_unit_test(xxh3_gives_the_vectors),
        cmocka_unit_test(pieces_count_as_one_string),
        cmocka_unit_test(pieces_may_be_empty_and_point_nowhere),
        cmocka_unit_test(every_bit_of_the_key_counts_where_there_is_one),
        cmocka_unit_test(derived_keys_are_those_of_the_vectors),
        cmocka_unit_test(functions_are_listed_in_their_order),
        cmocka_unit_test(unknown_names_are_refused_with_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
