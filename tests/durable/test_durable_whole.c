/*
 * What is done with a set in a folder as a whole: rotated, merged, made like another, listed, written to a stream. All
 * of it survives, and all of it is about what is committed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "durable/durable_cases.h"
#include "support/access.h"
#include "support/env.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/streams.h"

/* ---- rotation ---- */

static void rotations_are_kept(void **state)
{
    const test_case *which = *state;
    test_options made;
    char room[TEST_URL_ROOM];
    home at;
    test_case_options(&made, which, ROOMY, 1);
    for (int manual = 0; manual < 2; manual++) {
        unsigned flags = manual ? VIDI_MANUAL_COMMIT : 0;
        home_begin(&at);
        home_create(&at, &made.options, flags | TEST_KEEP_PREVIOUS);
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            add_all(at.set, 0, 30 + epoch, VIDI_NEW);
            must(vidi_commit(at.set));
            add_all(at.set, 100, 10, VIDI_NEW);
            if (epoch == 1)
                must(vidi_snapshot(at.set));
            must(vidi_rotate(at.set, NULL));
            all_are(at.set, 0, 110, VIDI_NEW);
            if (epoch != 1)
                home_reopen(&at, flags);
            all_are(at.set, 0, 110, VIDI_NEW);
            vidi_stats stats = test_stat(at.set);
            assert_int_equal(stats.epoch, epoch + 1);
            assert_int_equal(stats.past_epochs, epoch + 1);
            vidi_epoch_stats past = {.size = sizeof past};
            must(vidi_epoch_stat(at.set, epoch, &past));
            assert_int_equal(past.epoch, epoch);
            assert_int_equal(past.count, 30 + epoch + (manual ? 0 : 10));
            for (uint64_t i = 0; i < 40; i++) {
                int right = i < 30 + epoch ? VIDI_SEEN : VIDI_NEW;
                assert_int_equal(vidi_has_previous(at.set, nth(room, i)), right);
            }
            for (uint64_t i = 100; i < 110; i++) /* not committed: not there */
                assert_int_equal(vidi_has_previous(at.set, nth(room, i)), manual ? VIDI_NEW : VIDI_SEEN);
        }
        vidi_set *reader = must_open(at.path, VIDI_READ_ONLY);
        assert_int_equal(vidi_has_previous(reader, nth(room, 0)), VIDI_SEEN);
        vidi_close(reader);
        must(vidi_drop_previous(at.set));
        assert_int_equal(vidi_has_previous(at.set, nth(room, 0)), VIDI_ECANNOT);
        assert_int_equal(test_folder_count(at.path, "set."), 1);
        assert_int_equal(test_folder_count(at.path, "log."), 1);
        home_reopen(&at, flags);
        assert_int_equal(vidi_has_previous(at.set, nth(room, 0)), VIDI_ECANNOT);
        home_end(&at);
    }
}

static bool rotates(const test_case *which)
{
    return is_modelled(which) && test_case_rotates(which);
}

static void a_rotation_to_another_kind_survives(void **state)
{
    static const char *kinds[] = {"hashset", "blocked", "sorted", "counting", "fingerprint", "eigen", "list"};
    home at;
    (void)state;
    home_make(&at, "fingerprint", NULL, VIDI_MANUAL_COMMIT | TEST_KEEP_PREVIOUS);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        vidi_options next = VIDI_OPTIONS_INIT;
        next.kind = kinds[i];
        next.capacity = 5000;
        add_all(at.set, 0, 20, VIDI_NEW); /* staged, in the form of the old kind */
        must(vidi_rotate(at.set, &next));
        add_all(at.set, 0, 40, VIDI_NEW);
        must(vidi_commit(at.set));
        home_reopen(&at, VIDI_MANUAL_COMMIT);
        assert_string_equal(test_stat(at.set).kind, kinds[i]);
        all_are(at.set, 0, 40, VIDI_SEEN);
        must(vidi_rotate(at.set, NULL));
    }
    home_end(&at);
}

/* The parameters of the old kind mean nothing to the new one. */
static void another_kind_comes_with_its_own_parameters(void **state)
{
    home at;
    vidi_options next = VIDI_OPTIONS_INIT;
    (void)state;
    home_make(&at, "fingerprint", "bits=50", 0);
    next.kind = "hashset";
    must(vidi_rotate(at.set, &next));
    next.kind = "fingerprint";
    must(vidi_rotate(at.set, &next));
    check(!strstr(test_stat(at.set).params, "bits=50"), "%s", test_stat(at.set).params);
    home_end(&at);
}

static void each_rotation_says_whether_it_keeps_the_epoch(void **state)
{
    home at;
    char room[TEST_URL_ROOM];
    vidi_options next = VIDI_OPTIONS_INIT;
    (void)state;
    home_make(&at, "hashset", NULL, 0);
    add_all(at.set, 0, 5, VIDI_NEW);
    next.flags = VIDI_KEEP_PREVIOUS;
    must(vidi_rotate(at.set, &next));
    assert_int_equal(vidi_has_previous(at.set, nth(room, 0)), VIDI_SEEN);
    must(vidi_rotate(at.set, NULL)); /* as before */
    assert_int_equal(vidi_has_previous(at.set, nth(room, 0)), VIDI_NEW);
    next.flags = 0;
    must(vidi_rotate(at.set, &next));
    assert_int_equal(vidi_has_previous(at.set, nth(room, 0)), VIDI_ECANNOT);
    home_end(&at);
}

/* The log of the epoch that is kept is a log like any other. */
static void damage_in_the_previous_epoch_is_told(void **state)
{
    home at;
    vidi_recovery found = {.size = sizeof found};
    vidi_options next = VIDI_OPTIONS_INIT;
    char path[TEST_PATH];
    (void)state;
    home_make(&at, "hashset", NULL, 0);
    add_all(at.set, 0, 20, VIDI_NEW);
    next.flags = VIDI_KEEP_PREVIOUS;
    must(vidi_rotate(at.set, &next));
    vidi_close(at.set);
    at.set = NULL;
    test_path(path, at.path, "log.0000000000000001");
    FILE *log = fopen(path, "r+");
    assert_non_null(log);
    assert_int_equal(fseek(log, 100, SEEK_SET), 0);
    assert_int_equal(fputc('?', log), '?');
    fclose(log);
    assert_int_equal(vidi_open(&at.set, at.path, NULL), VIDI_EDAMAGED);
    at.set = must_open(at.path, VIDI_ACCEPT_DAMAGE);
    must(vidi_recovered(at.set, &found));
    check(found.damaged_bytes > 0, "nothing is said to be damaged");
    assert_string_equal(found.damaged_log, "log.0000000000000001");
    home_reopen(&at, 0); /* what was accepted once is not damage any more */
    must(vidi_recovered(at.set, &found));
    assert_int_equal(found.damaged_bytes, 0);
    home_end(&at);
}

/* ---- merging and likeness ---- */

static bool merges(const test_case *which)
{
    return has_statistics(which) && test_case_can(which, VIDI_CAN_MERGE);
}

static void merges_go_to_disk(void **state)
{
    const test_case *which = *state;
    static const unsigned ways[] = {0, VIDI_READ_ONLY, VIDI_READ_ONLY | VIDI_NO_MAP};
    test_options made;
    home at, other;
    test_case_options(&made, which, ROOMY, 1);
    for (size_t i = 0; i < 3; i++) {
        home_begin(&at);
        home_begin(&other);
        home_create(&at, &made.options, VIDI_MANUAL_COMMIT);
        home_create(&other, &made.options, VIDI_MANUAL_COMMIT);
        add_all(other.set, 0, 20, VIDI_NEW);
        must(vidi_commit(other.set));
        must(vidi_snapshot(other.set));
        add_all(other.set, 20, 20, VIDI_NEW);
        must(vidi_commit(other.set)); /* in the log alone */
        home_reopen(&other, ways[i]);
        add_all(at.set, 100, 10, VIDI_NEW);
        must(vidi_commit(at.set));
        add_all(at.set, 110, 10, VIDI_NEW); /* staged, and still to be so */
        must(vidi_merge(at.set, other.set, 0));
        all_are(at.set, 0, 40, VIDI_SEEN);
        all_are(at.set, 100, 20, VIDI_SEEN);
        vidi_set *copy = home_crashed(&at, 0);
        all_are(copy, 0, 40, VIDI_SEEN);
        all_are(copy, 100, 10, VIDI_SEEN);
        all_are(copy, 110, 10, VIDI_NEW);
        vidi_close(copy);
        assert_int_equal(vidi_merge(other.set, at.set, 0), ways[i] & VIDI_READ_ONLY ? VIDI_ECANNOT : VIDI_OK);
        all_are(other.set, 0, 40, VIDI_SEEN);
        home_end(&at);
        home_end(&other);
    }
}

static void sets_in_folders_and_in_memory_are_alike(void **state)
{
    home at, other;
    vidi_set *memory = NULL;
    vidi_options options = VIDI_OPTIONS_INIT;
    (void)state;
    home_make(&at, "fingerprint", "bits=60", VIDI_MANUAL_COMMIT);
    add_all(at.set, 0, 10, VIDI_NEW);
    must(vidi_commit(at.set));
    must(vidi_rotate(at.set, NULL));
    add_all(at.set, 0, 20, VIDI_NEW);
    must(vidi_commit(at.set));
    options.like = at.set;
    must(vidi_create(&memory, &options));
    home_begin(&other);
    home_create(&other, &options, 0);
    assert_int_equal(test_stat(other.set).epoch, 1);
    add_all(memory, 20, 20, VIDI_NEW);
    must(vidi_merge(other.set, memory, 0));
    must(vidi_merge(other.set, at.set, 0));
    home_reopen(&other, 0);
    all_are(other.set, 0, 40, VIDI_SEEN);
    must(vidi_merge(memory, other.set, 0));
    all_are(memory, 0, 40, VIDI_SEEN);
    vidi_close(memory);
    home_end(&other);
    home_end(&at);
}

/* What the log removes is still in a filter that is mapped: it must neither come back nor take another's away. */
static void removals_in_a_log_are_merged_as_such(void **state)
{
    home at;
    vidi_set *into = NULL;
    (void)state;
    home_make(&at, "hashset", NULL, 0);
    add_all(at.set, 0, 3, VIDI_NEW);
    must(vidi_snapshot(at.set));
    vidi_options like = VIDI_OPTIONS_INIT;
    like.like = at.set;
    must(vidi_create(&into, &like));
    add_all(into, 0, 1, VIDI_NEW);
    must(remove_nth(at.set, 0));
    must(remove_nth(at.set, 1));
    must(vidi_sync(at.set));
    vidi_set *mapped = must_open(at.path, VIDI_READ_ONLY);
    assert_int_equal(vidi_merge(into, mapped, 0), VIDI_ECANNOT);
    check(strstr(vidi_message(), "without mapping it") != NULL, "%s", vidi_message());
    vidi_close(mapped);
    vidi_set *read = must_open(at.path, VIDI_READ_ONLY | VIDI_NO_MAP);
    must(vidi_merge(into, read, 0));
    vidi_close(read);
    assert_int_equal(has_nth(into, 0), VIDI_SEEN);
    assert_int_equal(has_nth(into, 1), VIDI_NEW);
    assert_int_equal(has_nth(into, 2), VIDI_SEEN);
    vidi_close(into);
    home_end(&at);
}

/* ---- lists and streams ---- */

typedef struct listing {
    uint64_t times[200];
    uint64_t entries;
    uint64_t hashes; /* summed, so that two lists can be compared */
    bool with_urls;
} listing;

static int note_entry(void *context, const vidi_entry *entry)
{
    listing *self = context;
    char room[TEST_URL_ROOM];
    self->entries++;
    self->hashes += test_mix(entry->hash[0]) + test_mix(entry->hash[1] + 1) * entry->times;
    self->with_urls |= entry->url.ptr != NULL;
    for (size_t i = 0; entry->url.ptr && i < 200; i++) {
        vidi_str url = nth(room, i);
        if (url.len == entry->url.len && memcmp(url.ptr, entry->url.ptr, url.len) == 0)
            self->times[i] += entry->times;
    }
    return 0;
}

static bool lists(const test_case *which)
{
    return has_statistics(which) && test_case_can(which, VIDI_CAN_ITERATE);
}

static void a_list_has_what_is_committed(void **state)
{
    const test_case *which = *state;
    test_options made;
    home at;
    test_case_options(&made, which, ROOMY, 1);
    home_begin(&at);
    home_create(&at, &made.options, VIDI_MANUAL_COMMIT);
    for (uint64_t round = 0; round < 3; round++) {
        static listing found;
        memset(&found, 0, sizeof found);
        add_all(at.set, 50 * round, 50, VIDI_NEW);
        if (round == 1)
            must(vidi_snapshot(at.set));
        assert_int_equal(vidi_iterate(at.set, note_entry, &found), 0);
        assert_int_equal(found.entries, 50 * round);
        for (uint64_t i = 0; found.with_urls && i < 200; i++)
            assert_int_equal(found.times[i], i < 50 * round);
        must(vidi_commit(at.set));
    }
    home_end(&at);
}

/* One entry a URL, without what was removed. */
static void a_list_is_what_is_answered(void **state)
{
    const test_case *which = *state;
    test_options made;
    home at;
    test_case_options(&made, which, ROOMY, 1);
    home_begin(&at);
    home_create(&at, &made.options, VIDI_MANUAL_COMMIT);
    bool twice = which->traits & TEST_MULTISET, removes = test_stat(at.set).can & VIDI_CAN_DELETE;
    add_all(at.set, 0, 50, VIDI_NEW);
    must(vidi_commit(at.set));
    add_all(at.set, 50, 50, VIDI_NEW);
    add_all(at.set, 40, 20, VIDI_SEEN);
    for (uint64_t i = 0; removes && i < 10; i++) {
        must(remove_nth(at.set, i));      /* committed before */
        must(remove_nth(at.set, 90 + i)); /* staged */
    }
    for (int flags = 0; flags < 2; flags++) {
        static listing found;
        memset(&found, 0, sizeof found);
        must(vidi_commit(at.set));
        assert_int_equal(vidi_iterate(at.set, note_entry, &found), 0);
        check(found.entries == (removes ? 80 : 100), "%llu entries", (unsigned long long)found.entries);
        for (uint64_t i = 0; found.with_urls && i < 200; i++) {
            uint64_t right = i >= 100 || (removes && (i < 10 || i >= 90)) ? 0 : twice && i >= 40 && i < 60 ? 2 : 1;
            check(found.times[i] == right, "URL %llu is listed %llu times, not %llu", (unsigned long long)i,
                  (unsigned long long)found.times[i], (unsigned long long)right);
        }
        home_reopen(&at, VIDI_READ_ONLY | VIDI_NO_MAP);
    }
    home_end(&at);
}

static void a_stream_holds_what_is_committed(void **state)
{
    const test_case *which = *state;
    test_options made;
    home at;
    test_case_options(&made, which, ROOMY, 1);
    home_begin(&at);
    home_create(&at, &made.options, VIDI_MANUAL_COMMIT | TEST_KEEP_PREVIOUS);
    for (int i = 0; i < 2; i++) {
        test_stream stream = {0};
        vidi_set *copy = NULL;
        if (i == 0)
            add_all(at.set, 0, 40, VIDI_NEW);
        must(vidi_commit(at.set));
        add_all(at.set, 50, 10, i == 0 ? VIDI_NEW : VIDI_SEEN);
        test_stream_write(&stream, at.set);
        must(test_stream_read(&stream, &copy, stream.size, NULL));
        all_are(copy, 0, 40, VIDI_SEEN);
        all_are(copy, 50, 10, i == 0 ? VIDI_NEW : VIDI_SEEN);
        vidi_close(copy);
        test_stream_free(&stream);
    }
    /* Of a mapped set the log is not part of the filter: refused, not left out. */
    must(vidi_sync(at.set));
    vidi_set *reader = must_open(at.path, VIDI_READ_ONLY);
    test_stream stream = {0};
    assert_int_equal(vidi_write(reader, test_stream_sink, &stream, 0), VIDI_ECANNOT);
    vidi_close(reader);
    reader = must_open(at.path, VIDI_READ_ONLY | VIDI_NO_MAP);
    test_stream_write(&stream, reader);
    vidi_close(reader);
    vidi_set *copy = NULL;
    must(test_stream_read(&stream, &copy, stream.size, NULL));
    all_are(copy, 0, 40, VIDI_SEEN);
    vidi_close(copy);
    test_stream_free(&stream);
    home_end(&at);
}
int main(int argc, char **argv)
{
    test_add_cases("rotations, their history and the previous epoch are kept", rotations_are_kept, rotates);
    test_add("a rotation to another kind survives", a_rotation_to_another_kind_survives, NULL);
    test_add("another kind comes with its own parameters", another_kind_comes_with_its_own_parameters, NULL);
    test_add("each rotation says whether it keeps the epoch", each_rotation_says_whether_it_keeps_the_epoch, NULL);
    test_add("damage in the previous epoch is told", damage_in_the_previous_epoch_is_told, NULL);
    test_add("removals in a log are merged as such", removals_in_a_log_are_merged_as_such, NULL);
    test_add_cases("merges go to disk, also from logs", merges_go_to_disk, merges);
    test_add("sets in folders and in memory are alike", sets_in_folders_and_in_memory_are_alike, NULL);
    test_add_cases("a list has what is committed", a_list_has_what_is_committed, lists);
    test_add_cases("a list is what is answered", a_list_is_what_is_answered, lists);
    test_add_cases("a stream holds what is committed", a_stream_holds_what_is_committed, is_modelled);
    return test_run("durable_whole", argc, argv);
}
