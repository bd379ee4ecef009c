/*
 * vidi_expect: a hint about how many URLs come changes no answer, and lets a set that grows piece by piece grow there in
 * few steps.
 */
#include "support/check.h"
#include "support/runner.h"
#include "support/urls.h"

enum { URLS = 200000 };

static vidi_set *make(const char *kind)
{
    vidi_set *set = NULL;
    vidi_options options = VIDI_OPTIONS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    test_key(key, 1);
    options.kind = kind;
    options.key = key;
    options.canon = "none";
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    return set;
}

static uint64_t bytes_of(const vidi_set *set)
{
    vidi_stats stats = {.size = sizeof stats};
    assert_int_equal(vidi_stat(set, &stats), VIDI_OK);
    return stats.bytes;
}

static void add_from_to(vidi_set *set, uint64_t first, uint64_t last)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = first; i < last; i++)
        assert_int_equal(vidi_add(set, (vidi_str){room, test_url(room, TEST_URL_ROOM, 5, i)}), VIDI_NEW);
}

static void a_set_that_knows_what_comes_grows_there_at_once(void **state)
{
    char room[TEST_URL_ROOM];
    vidi_set *set = make("fingerprint");
    (void)state;
    add_from_to(set, 0, URLS / 50);
    uint64_t small = bytes_of(set);
    assert_int_equal(vidi_expect(set, URLS), VIDI_OK);
    add_from_to(set, URLS / 50, URLS / 10);
    uint64_t tenth = bytes_of(set);
    add_from_to(set, URLS / 10, URLS);
    uint64_t all = bytes_of(set);
    check(tenth > 10 * small, "%llu bytes before, %llu after", (unsigned long long)small, (unsigned long long)tenth);
    check(all <= tenth + tenth / 10, "it grew on from %llu bytes to %llu", (unsigned long long)tenth,
          (unsigned long long)all);
    check(all < 10 * URLS, "%llu bytes", (unsigned long long)all);
    for (uint64_t i = 0; i < URLS; i++)
        assert_int_equal(vidi_has(set, (vidi_str){room, test_url(room, TEST_URL_ROOM, 5, i)}), VIDI_SEEN);
    vidi_close(set);
}

/* Far too many, too few, or a kind that takes no notice. */
static void a_wrong_hint_does_no_harm(void **state)
{
    static const char *const kinds[] = {"fingerprint", "blocked", "hashset"};
    static const uint64_t hints[] = {0, 1, 50 * UINT64_C(10000)};
    (void)state;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (size_t hint = 0; hint < sizeof hints / sizeof *hints; hint++) {
            vidi_set *set = make(kinds[kind]);
            assert_int_equal(vidi_expect(set, hints[hint]), VIDI_OK);
            add_from_to(set, 0, 10000);
            vidi_close(set);
        }
    assert_int_equal(vidi_expect(NULL, 1), VIDI_EARGUMENT);
}

/* Ten times as many as come, and as the memory has room for. */
static void a_hint_spends_no_memory_that_is_needed(void **state)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    unsigned char key[VIDI_KEY_BYTES];
    vidi_set *set = NULL;
    (void)state;
    test_key(key, 1);
    options.key = key;
    options.canon = "none";
    options.access = &access;
    access.memory_limit = 12 * URLS;
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    for (uint64_t part = 0; part < 10; part++) {
        assert_int_equal(vidi_expect(set, 10 * URLS), VIDI_OK);
        add_from_to(set, part * URLS / 10, (part + 1) * URLS / 10);
    }
    vidi_close(set);
}

int main(int argc, char **argv)
{
    test_add("a set that knows what comes grows there at once", a_set_that_knows_what_comes_grows_there_at_once, NULL);
    test_add("a wrong hint does no harm", a_wrong_hint_does_no_harm, NULL);
    test_add("a hint spends no memory that is needed", a_hint_spends_no_memory_that_is_needed, NULL);
    return test_run("expect", argc, argv);
}
