/* What lib/inside/inside.h opens is the library's own: filters without a set answer as the set does. */
#include <stdio.h>
#include <string.h>

#include "inside/inside.h"
#include "support/runner.h"
#include "support/urls.h"

enum { URLS = 20000 };

static const unsigned char key[VIDI_KEY_BYTES] = "a key of the set";
static const vidi_str no_salt = {"", 0};

static test_batch urls;
static uint8_t of_set[URLS], of_filter[URLS];
static vidi_digest hashes[URLS];

/* URLs of which every second one comes twice. */
static void make_urls(void)
{
    test_batch_init(&urls, URLS);
    test_batch_fill(&urls, test_url, 1, 0, 0);
    for (uint64_t i = 0; i < URLS; i++)
        test_batch_push(&urls, test_url, 1, i % 3 == 2 ? i - 2 : i);
}

static vidi_set *make_set(const char *kind, const char *params)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set;
    options.kind = kind;
    options.params = params;
    options.canon = "none";
    options.capacity = URLS;
    options.error = strstr(params, "M=") ? 0 : 0.01; /* so that some are falsely seen */
    options.key = key;
    check(vidi_create(&set, &options) == VIDI_OK, "%s: %s", kind, vidi_message());
    return set;
}

static void verdicts_agree(const char *kind)
{
    for (size_t i = 0; i < URLS; i++)
        check(of_set[i] == of_filter[i], "%s: URL %zu is %d to the set and %d to the filter", kind, i, of_set[i],
              of_filter[i]);
}

static void filters_answer_as_their_set(void **state)
{
    static const char *const kinds[] = {"fingerprint", "blocked", "classic", "scalable"};
    vidi__inside_recipe recipe = {.params = "", .capacity = URLS, .error = 0.01};
    (void)state;
    memcpy(recipe.key, vidi__inside_epoch_seed(key, 0).key, sizeof recipe.key);
    assert_int_equal(vidi__inside_hash("sip13", recipe.key, no_salt, urls.urls, URLS, hashes), VIDI_OK);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        vidi__inside_filter *filter;
        vidi_set *set = make_set(recipe.kind = kinds[i], "");
        check(vidi__inside_filter_make(&filter, &recipe) == VIDI_OK, "%s: %s", kinds[i], vidi_message());
        assert_int_equal(vidi_add_batch(set, urls.urls, URLS / 2, of_set, NULL), VIDI_OK);
        assert_int_equal(vidi__inside_filter_add(filter, hashes, URLS / 2, of_filter), VIDI_OK);
        assert_int_equal(vidi_has_batch(set, urls.urls + URLS / 2, URLS / 2, of_set + URLS / 2), VIDI_OK);
        assert_int_equal(vidi__inside_filter_has(filter, hashes + URLS / 2, URLS / 2, of_filter + URLS / 2), VIDI_OK);
        verdicts_agree(kinds[i]);
        vidi_stats stats = {.size = sizeof stats};
        assert_int_equal(vidi_stat(set, &stats), VIDI_OK);
        check(vidi__inside_filter_lost(filter) > 0 && vidi__inside_filter_bytes(filter) > 0, "%s", kinds[i]);
        check(vidi__inside_filter_bytes(filter) <= stats.memory_bytes, "%s is larger than its set", kinds[i]);
        vidi__inside_filter_free(filter);
        vidi_close(set);
    }
}

static void kinds_that_need_more_than_a_hash_are_refused(void **state)
{
    vidi__inside_recipe recipe = {.kind = "list", .params = ""};
    vidi__inside_filter *filter;
    (void)state;
    assert_int_equal(vidi__inside_filter_make(&filter, &recipe), VIDI_ECANNOT);
    assert_null(filter);
    recipe.kind = "lists";
    assert_int_equal(vidi__inside_filter_make(&filter, &recipe), VIDI_EOPTION);
    assert_null(filter);
}

/* The k values, the bits behind them, and one function at a time. */
static void values_answer_as_a_classic_set(void **state)
{
    static const char params[] = "k=3,M=1.7,mode=salted,hash=jenkins";
    static uint64_t values[URLS * 3];
    static bool seen[URLS];
    vidi__inside_seed seed = vidi__inside_epoch_seed(key, 0);
    vidi__inside_bloom *filter, *one_by_one;
    vidi_set *set = make_set("classic", params);
    (void)state;
    assert_int_equal(vidi__inside_bloom_make(&filter, params, URLS, &seed), VIDI_OK);
    assert_int_equal(vidi__inside_bloom_make(&one_by_one, params, URLS, &seed), VIDI_OK);
    assert_int_equal(vidi_add_batch(set, urls.urls, URLS, of_set, NULL), VIDI_OK);
    vidi__inside_bloom_hash(filter, urls.urls, URLS, values);
    vidi__inside_bloom_insert(filter, values, URLS, seen);
    for (size_t i = 0; i < URLS; i++) {
        bool all = true, found = true;
        of_filter[i] = seen[i] ? VIDI_SEEN : VIDI_NEW;
        for (unsigned j = 0; j < 3; j++)
            all &= vidi__inside_bloom_insert_one(one_by_one, j, urls.urls[i]);
        for (unsigned j = 0; j < 3; j++)
            found &= vidi__inside_bloom_lookup_one(one_by_one, j, urls.urls[i]);
        check(all == seen[i] && found, "URL %zu: one function at a time says otherwise", i);
    }
    verdicts_agree("classic");
    vidi__inside_bloom_lookup(filter, values, 3, URLS, seen);
    for (size_t i = 0; i < URLS; i++)
        check(seen[i], "URL %zu went in and is not there", i);
    assert_int_equal(vidi__inside_bloom_bits_set(filter), vidi__inside_bloom_bits_set(one_by_one));
    vidi__inside_bloom_free(filter);
    vidi__inside_bloom_free(one_by_one);
    vidi_close(set);
}

static void derived_values_are_refused(void **state)
{
    vidi__inside_seed seed = {.turn = 0};
    vidi__inside_bloom *filter;
    (void)state;
    assert_int_equal(vidi__inside_bloom_make(&filter, "m=100,k=2", 0, &seed), VIDI_EOPTION);
    assert_null(filter);
}

static void salts_stand_before_strings(void **state)
{
    static const char *const names[] = {"sip13", "jenkins", "oaat", "murmur2", "murmur3", "xxh3", "md5", "sha1"};
    const vidi_str salt = {"salt", 4}, parts[] = {{"one", 3}, {"", 0}}, joined[] = {{"saltone", 7}, {"salt", 4}};
    vidi_digest salted[2], whole[2];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!vidi__inside_hash_bits(test_str(names[i])))
            continue; /* not in this build */
        assert_int_equal(vidi__inside_hash(names[i], key, salt, parts, 2, salted), VIDI_OK);
        assert_int_equal(vidi__inside_hash(names[i], key, no_salt, joined, 2, whole), VIDI_OK);
        check(memcmp(salted, whole, sizeof whole) == 0, "%s", names[i]);
    }
    assert_int_equal(vidi__inside_hash("md55", key, salt, parts, 2, salted), VIDI_EOPTION);
    assert_int_equal(vidi__inside_hash_bits(test_str("sip13")), 128);
    assert_int_equal(vidi__inside_hash_bits(test_str("jenkins")), 32);
    assert_int_equal(vidi__inside_hash_bits(test_str("jenkin")), 0);
}

static void murmur3_takes_a_seed(void **state)
{
    vidi_digest plain;
    const vidi_str url = test_str("http://example.com/");
    (void)state;
    assert_int_equal(vidi__inside_murmur3(test_str(""), 1), 0x514e28b7); /* published */
    assert_int_equal(vidi__inside_hash("murmur3", key, no_salt, &url, 1, &plain), VIDI_OK);
    assert_int_equal(vidi__inside_murmur3(url, 0), plain.lo);
}

static void features_are_found_by_name(void **state)
{
    static const char *const names[] = {"tail", "labels"}, *const unknown[] = {"tail", "nose"};
    const vidi_str url = test_str("http://example.com/a/b.html");
    char buffer[2 * 32];
    vidi_str features[2];
    (void)state;
    assert_int_equal(vidi__inside_features(url, names, 2, buffer, features), VIDI_OK);
    assert_int_equal(features[0].len, strlen("b.html"));
    assert_memory_equal(features[0].ptr, "b.html", features[0].len);
    assert_int_equal(vidi__inside_features(url, unknown, 2, buffer, features), VIDI_EOPTION);
}

static void forms_are_counted(void **state)
{
    const vidi_str mixed[] = {test_str("http://example.com/"), test_str("HTTP://example.com/#top"), test_str("no URL")};
    uint64_t bytes;
    (void)state;
    assert_int_equal(vidi__inside_whatwg(mixed, 2, &bytes), VIDI_OK);
    assert_int_equal(bytes, 2 * strlen("http://example.com/"));
    assert_true(vidi__inside_whatwg(mixed, 3, &bytes) < 0);
}

int main(int argc, char **argv)
{
    make_urls();
    test_add("filters answer as their set", filters_answer_as_their_set, NULL);
    test_add("kinds that need more than a hash are refused", kinds_that_need_more_than_a_hash_are_refused, NULL);
    test_add("values answer as a classic set", values_answer_as_a_classic_set, NULL);
    test_add("derived values are refused", derived_values_are_refused, NULL);
    test_add("salts stand before strings", salts_stand_before_strings, NULL);
    test_add("murmur3 takes a seed", murmur3_takes_a_seed, NULL);
    test_add("features are found by name", features_are_found_by_name, NULL);
    test_add("forms are counted", forms_are_counted, NULL);
    int failed = test_run("inside/inside", argc, argv);
    test_batch_free(&urls);
    return failed;
}
