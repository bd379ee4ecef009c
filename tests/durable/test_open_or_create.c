/* vidi_open_or_create, vidi_canon_of, and entries of a mapped set's log. */
#include <stdlib.h>
#include <string.h>

#include "durable/durable_cases.h"
#include "support/check.h"
#include "support/runner.h"
#include "support/urls.h"
#include "vidi/url.h"

static vidi_options options_at(const home *at)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    options.path = at->path;
    return options;
}

static void it_makes_what_is_not_there_and_opens_what_is(void **state)
{
    home at;
    (void)state;
    home_begin(&at);
    vidi_options options = options_at(&at);
    options.kind = "hashset";
    assert_int_equal(vidi_open_or_create(&at.set, &options), VIDI_OK);
    assert_int_equal(vidi_add(at.set, test_str("http://a.example/")), VIDI_NEW);
    vidi_close(at.set);
    options.kind = "list"; /* of no effect on a set that is there */
    assert_int_equal(vidi_open_or_create(&at.set, &options), VIDI_OK);
    assert_string_equal(test_stat(at.set).kind, "hashset");
    assert_int_equal(vidi_add(at.set, test_str("http://a.example/")), VIDI_SEEN);
    home_end(&at);
}

static void its_access_counts_either_way(void **state)
{
    home at;
    (void)state;
    home_begin(&at);
    vidi_access access = VIDI_ACCESS_INIT;
    vidi_options options = options_at(&at);
    access.flags = VIDI_MANUAL_COMMIT;
    access.memory_limit = 32 << 20;
    options.access = &access;
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(vidi_open_or_create(&at.set, &options), VIDI_OK);
        assert_int_equal(test_stat(at.set).memory_limit, 32 << 20);
        assert_int_equal(vidi_add(at.set, test_str("http://a.example/")), VIDI_NEW); /* was not committed */
        vidi_close(at.set);
        at.set = NULL;
    }
    home_end(&at);
}

static void errors_are_told(void **state)
{
    home at;
    vidi_set *other = NULL;
    (void)state;
    home_begin(&at);
    vidi_options options = options_at(&at);
    options.kind = "no such kind";
    assert_int_equal(vidi_open_or_create(&at.set, &options), VIDI_EOPTION);
    assert_null(at.set);
    check(strstr(vidi_message(), "no such kind") != NULL, "%s", vidi_message());
    options.kind = NULL;
    assert_int_equal(vidi_open_or_create(&at.set, &options), VIDI_OK);
    assert_int_equal(vidi_open_or_create(&other, &options), VIDI_EBUSY);
    assert_null(other);
    options.path = NULL;
    assert_int_equal(vidi_open_or_create(&other, &options), VIDI_EOPTION);
    assert_int_equal(vidi_open_or_create(&other, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_open_or_create(NULL, &options), VIDI_EARGUMENT);
    home_end(&at);
}

static void a_sets_form_can_be_used(void **state)
{
    vidi_set *set;
    char room[100];
    size_t len = sizeof room;
    vidi_options options = VIDI_OPTIONS_INIT;
    (void)state;
    options.canon = "crawl,-sort";
    options.tracking = "mine\n";
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    assert_string_equal(vidi_canon_name(vidi_canon_of(set)), test_stat(set).canon);
    assert_int_equal(vidi_url_canon(vidi_canon_of(set), test_str("http://a.example/?mine=1"), NULL, room, &len),
                     VIDI_OK);
    check(len == 17 && memcmp(room, "http://a.example/", 17) == 0, "%.*s", (int)len, room);
    assert_null(vidi_canon_of(NULL));
    vidi_close(set);
}

/* ---- entries ---- */

enum { N = 300 };

typedef struct listing {
    uint64_t hash[2 * N][2];
    size_t count;
} listing;

static int note(void *context, const vidi_entry *entry)
{
    listing *self = context;
    check(self->count < 2 * N, "too many entries");
    memcpy(self->hash[self->count++], entry->hash, sizeof entry->hash);
    return 0;
}

static int by_hash(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(uint64_t));
}

static void list_sorted(const vidi_set *set, listing *into)
{
    into->count = 0;
    assert_int_equal(vidi_iterate(set, note, into), VIDI_OK);
    qsort(into->hash, into->count, sizeof *into->hash, by_hash);
}

/* A URL that is still in the log has the same hash as one that the filter holds, so that times can be added up. */
static void entries_of_log_and_filter_have_the_same_hashes(void **state)
{
    static listing in_log, in_filter;
    home at;
    const char *kind = *state;
    home_make(&at, kind, NULL, 0);
    for (size_t i = 0; i < N; i++) {
        char room[TEST_URL_ROOM];
        assert_int_equal(vidi_add(at.set, nth(room, i)), VIDI_NEW);
    }
    list_sorted(at.set, &in_filter);
    assert_int_equal(vidi_sync(at.set), VIDI_OK);
    vidi_set *mapped = must_open(at.path, VIDI_READ_ONLY);
    list_sorted(mapped, &in_log);
    assert_int_equal(in_log.count, N);
    assert_int_equal(in_filter.count, N);
    assert_memory_equal(in_log.hash, in_filter.hash, N * sizeof *in_log.hash);
    vidi_close(mapped);
    home_end(&at);
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"fingerprint", "hashset", "sorted", "list"};
    test_add("it makes what is not there and opens what is", it_makes_what_is_not_there_and_opens_what_is, NULL);
    test_add("its access counts either way", its_access_counts_either_way, NULL);
    test_add("errors are told", errors_are_told, NULL);
    test_add("a set's form can be used", a_sets_form_can_be_used, NULL);
    for (size_t i = 0; i < 4; i++)
        test_add("entries of log and filter have the same hashes", entries_of_log_and_filter_have_the_same_hashes,
                 (void *)kinds[i]);
    return test_run("open or create", argc, argv);
}
