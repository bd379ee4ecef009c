/*
 * vidi_content_digest: equal for equal contents, however they got there, and different for any other.
 */
#include <string.h>

#include "support/access.h"
#include "support/folder.h"
#include "support/runner.h"
#include "support/same.h"
#include "support/streams.h"
#include "support/urls.h"

enum { SEED = 4, URLS = 300 };

static bool lists(const test_case *which)
{
    return test_case_can(which, VIDI_CAN_ITERATE);
}

typedef struct digest {
    unsigned char bytes[VIDI_CONTENT_DIGEST_BYTES];
} digest;

static digest digest_of(const vidi_set *set)
{
    digest made;
    memset(&made, 0xa5, sizeof made);
    assert_int_equal(vidi_content_digest(set, made.bytes), VIDI_OK);
    return made;
}

static void must_equal(const vidi_set *set, digest wanted)
{
    assert_memory_equal(digest_of(set).bytes, wanted.bytes, sizeof wanted.bytes);
}

static void must_differ(const vidi_set *set, digest wanted)
{
    assert_memory_not_equal(digest_of(set).bytes, wanted.bytes, sizeof wanted.bytes);
}

static void must_survive_copy_and_stream(const vidi_set *set, digest wanted)
{
    test_stream stream = {0};
    vidi_set *other = NULL;
    assert_int_equal(vidi_copy(&other, set, NULL), VIDI_OK);
    must_equal(other, wanted);
    vidi_close(other);
    test_stream_write(&stream, set);
    assert_int_equal(test_stream_read(&stream, &other, 0, NULL), VIDI_OK);
    must_equal(other, wanted);
    vidi_close(other);
    test_stream_free(&stream);
}

static vidi_set *set_with(const test_case *which, uint64_t first, uint64_t n)
{
    vidi_set *set = test_case_set(which, URLS, SEED, NULL);
    test_add_urls(set, SEED, first, n);
    return set;
}

static vidi_str url_at(char room[TEST_URL_ROOM], uint64_t i)
{
    return (vidi_str){room, test_url(room, TEST_URL_ROOM, SEED, i)};
}

static void it_does_not_depend_on_order_or_way(void **state)
{
    char room[TEST_URL_ROOM];
    vidi_set *set = set_with(*state, 0, URLS), *other = test_case_set(*state, 1, SEED, NULL);
    digest wanted = digest_of(set);
    test_add_urls(other, SEED, URLS, 1); /* one too many, removed in the end */
    for (uint64_t i = 0; i < URLS; i++)
        assert_int_equal(vidi_add(other, url_at(room, i * 7 % URLS)), VIDI_NEW);
    must_differ(other, wanted);
    assert_int_equal(vidi_remove(other, url_at(room, URLS)), VIDI_OK);
    must_equal(other, wanted);
    vidi_close(other);

    vidi_set *half = set_with(*state, URLS / 2, URLS - URLS / 2);
    other = set_with(*state, 0, URLS / 2);
    assert_int_equal(vidi_merge(other, half, 0), VIDI_OK);
    must_equal(other, wanted);
    vidi_close(other);
    vidi_close(half);

    must_survive_copy_and_stream(set, wanted);
    vidi_close(set);
}

static void every_url_counts(void **state)
{
    char room[TEST_URL_ROOM];
    vidi_set *set = set_with(*state, 0, 20);
    digest wanted = digest_of(set);
    for (uint64_t i = 0; i < 20; i++) {
        assert_int_equal(vidi_remove(set, url_at(room, i)), VIDI_OK);
        must_differ(set, wanted);
        assert_int_equal(vidi_add(set, url_at(room, 100)), VIDI_NEW);
        must_differ(set, wanted);
        assert_int_equal(vidi_remove(set, url_at(room, 100)), VIDI_OK);
        assert_int_equal(vidi_add(set, url_at(room, i)), VIDI_NEW);
        must_equal(set, wanted);
    }
    vidi_close(set);
}

/* Asking, and adding what is there, changes statistics alone, but in a multiset also the contents. */
static void times_count_and_statistics_do_not(void **state)
{
    const test_case *which = *state;
    char room[TEST_URL_ROOM];
    vidi_set *set = set_with(which, 0, URLS);
    digest wanted = digest_of(set);
    assert_int_equal(vidi_has(set, url_at(room, 1)), VIDI_SEEN);
    must_equal(set, wanted);
    assert_int_equal(vidi_add(set, url_at(room, 1)), VIDI_SEEN);
    if (which->traits & TEST_MULTISET) {
        must_differ(set, wanted);
        assert_int_equal(vidi_remove(set, url_at(room, 1)), VIDI_OK);
    }
    must_equal(set, wanted);
    vidi_close(set);
}

static void an_empty_set_has_sixteen_zeros(void **state)
{
    static const digest zeros;
    char room[TEST_URL_ROOM];
    vidi_set *set = test_case_set(*state, URLS, SEED, NULL);
    must_equal(set, zeros);
    assert_int_equal(vidi_add(set, url_at(room, 0)), VIDI_NEW);
    must_differ(set, zeros);
    assert_int_equal(vidi_remove(set, url_at(room, 0)), VIDI_OK);
    must_equal(set, zeros);
    vidi_close(set);
}

/* Also of a mapped set, whose log is listed behind its snapshot: with times that add up. */
static void a_folder_has_the_digest_of_its_contents(void **state)
{
    static const unsigned ways[] = {0, VIDI_READ_ONLY, VIDI_READ_ONLY | VIDI_NO_MAP};
    char folder[TEST_PATH], path[TEST_PATH];
    test_options made;
    vidi_set *set = NULL, *plain = set_with(*state, 0, URLS);
    test_add_urls(plain, SEED, 10, 10);
    digest wanted = digest_of(plain);
    test_folder_new(folder, false);
    test_path(path, folder, "set");
    test_case_options(&made, *state, URLS, SEED);
    made.options.path = path;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    test_add_urls(set, SEED, 0, URLS / 2);
    assert_int_equal(vidi_snapshot(set), VIDI_OK);
    test_add_urls(set, SEED, URLS / 2, URLS - URLS / 2);
    test_add_urls(set, SEED, 10, 10);
    must_equal(set, wanted);
    vidi_close(set);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_int_equal(test_open(&set, path, ways[i]), VIDI_OK);
        must_equal(set, wanted);
        vidi_close(set);
    }
    vidi_close(plain);
    test_folder_remove(folder);
}

/* Sets of the same URLs, in tables that could hardly differ more, and one of them with a URL exchanged. */
static void it_does_not_depend_on_the_shape(void **state)
{
    static const uint64_t capacities[] = {0, 1, 20000, 1000000};
    enum { MANY = 20000 };
    char room[TEST_URL_ROOM];
    digest wanted = {{0}};
    const test_case which = {"fingerprint", NULL, 1, 0, 0};
    (void)state;
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        vidi_set *set = test_case_set(&which, capacities[i], SEED, NULL);
        test_add_urls(set, SEED, i * 5000, MANY - i * 5000);
        test_add_urls(set, SEED, 0, i * 5000);
        if (i)
            must_equal(set, wanted);
        wanted = digest_of(set);
        assert_int_equal(vidi_remove(set, url_at(room, MANY / 2)), VIDI_OK);
        must_differ(set, wanted);
        assert_int_equal(vidi_add(set, url_at(room, MANY)), VIDI_NEW);
        must_differ(set, wanted);
        vidi_close(set);
    }
}

/* Kinds that keep URLs are compared by these alone; others not without the key. */
static void keys_matter_only_where_hashes_are_kept(void **state)
{
    static const char *const kinds[] = {"hashset", "sorted", "list", "fingerprint"};
    digest found[4][2];
    (void)state;
    for (size_t kind = 0; kind < 4; kind++)
        for (uint64_t key = 0; key < 2; key++) {
            test_case which = {kinds[kind], NULL, 0, 0, 0};
            vidi_set *set = test_case_set(&which, URLS, key + 1, NULL);
            test_add_urls(set, SEED, 0, URLS);
            found[kind][key] = digest_of(set);
            vidi_close(set);
        }
    for (size_t kind = 0; kind < 3; kind++)
        for (size_t key = 0; key < 2; key++)
            assert_memory_equal(found[kind][key].bytes, found[0][0].bytes, sizeof(digest));
    assert_memory_not_equal(found[3][0].bytes, found[3][1].bytes, sizeof(digest));
}

/* Digests must stay what they are: replicas of different versions compare theirs. */
static void it_is_the_same_in_every_version(void **state)
{
    static const struct {
        const char *kind;
        digest digest;
    } known[] = {
        {"hashset", {{0xc1, 0xaa, 0x07, 0x24, 0x3b, 0x44, 0xb7, 0x97, 0xa2, 0x60, 0x28, 0x80, 0x28, 0xd0, 0x81, 0x61}}},
        {"fingerprint",
         {{0x49, 0x11, 0xfe, 0x20, 0x1f, 0xb5, 0x50, 0xe1, 0x1a, 0x88, 0x1c, 0x22, 0x1e, 0xca, 0x30, 0xad}}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        vidi_options options = VIDI_OPTIONS_INIT;
        vidi_set *set = NULL;
        options.kind = known[i].kind;
        options.key = (const unsigned char *)"0123456789abcde";
        assert_int_equal(vidi_create(&set, &options), VIDI_OK);
        assert_int_equal(vidi_add(set, test_str("http://example.org/")), VIDI_NEW);
        must_equal(set, known[i].digest);
        vidi_close(set);
    }
}

static bool cannot_list(const test_case *which)
{
    return !lists(which);
}

/* Made again with the same adds, copied or read, a set has the same digest; one add more, and it has another. */
static void kinds_that_cannot_list_compare_their_arrays(void **state)
{
    char room[TEST_URL_ROOM];
    unsigned char digest[VIDI_CONTENT_DIGEST_BYTES];
    vidi_set *set = set_with(*state, 0, URLS), *other = set_with(*state, 0, URLS);
    struct digest wanted = digest_of(set);
    must_equal(other, wanted);
    for (uint64_t i = 0; i < 4 * URLS; i++)
        vidi_has(other, url_at(room, i)); /* spatial counts where its members disagree */
    must_equal(other, wanted);
    for (uint64_t i = URLS; vidi_add(other, url_at(room, i)) != VIDI_NEW;)
        i++;
    must_differ(other, wanted);
    vidi_close(other);
    must_survive_copy_and_stream(set, wanted);
    other = set_with(*state, URLS, URLS);
    must_differ(other, wanted);
    vidi_close(other);
    assert_int_equal(vidi_content_digest(NULL, digest), VIDI_EARGUMENT);
    assert_int_equal(vidi_content_digest(set, NULL), VIDI_EARGUMENT);
    vidi_close(set);
}

int main(int argc, char **argv)
{
    test_add_cases("it does not depend on order or way", it_does_not_depend_on_order_or_way, lists);
    test_add_cases("every URL counts", every_url_counts, lists);
    test_add_cases("times count, and statistics do not", times_count_and_statistics_do_not, lists);
    test_add_cases("an empty set has sixteen zeros", an_empty_set_has_sixteen_zeros, lists);
    test_add_cases("a folder has the digest of its contents", a_folder_has_the_digest_of_its_contents, lists);
    test_add("it does not depend on the shape", it_does_not_depend_on_the_shape, NULL);
    test_add("keys matter only where hashes are kept", keys_matter_only_where_hashes_are_kept, NULL);
    test_add("it is the same in every version", it_is_the_same_in_every_version, NULL);
    test_add_cases("kinds that cannot list compare their arrays", kinds_that_cannot_list_compare_their_arrays,
                   cannot_list);
    return test_run("content digest", argc, argv);
}
