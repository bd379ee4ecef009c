/*
 * What is in the log: records of at most 64 operations, so that a damaged byte costs tens of URLs; one tally for each
 * write; and the records of version 1, which are still read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "durable/durable.h"
#include "durable/durable_cases.h"
#include "support/clock.h"
#include "support/random.h"
#include "support/runner.h"

/* ---- what is written ---- */

/* What the log of a folder has. */
typedef struct contents {
    bool hash_only;
    uint64_t records, tallies, notes, operations, most;
} contents;

static uint64_t operations_in(const contents *self, vidi_str list)
{
    uint64_t n = 0;
    if (self->hash_only)
        return list.len / 16;
    for (; list.len; n++) {
        size_t bytes = 8 + (size_t)vidi__load64(list.ptr);
        list = (vidi_str){list.ptr + bytes, list.len - bytes};
    }
    return n;
}

static int look(void *context, uint32_t type, vidi_str payload)
{
    contents *self = context;
    size_t begin = type > VIDI__RECORD_WITH_TALLY  ? VIDI__RECORD_TALLY
                   : type > VIDI__RECORD_IN_BUNDLE ? VIDI__RECORD_NUMBERS
                                                   : 0;
    self->records++;
    self->notes += type == VIDI__RECORD_NOTE;
    self->tallies += type == VIDI__RECORD_NOTE || begin == VIDI__RECORD_TALLY;
    if (type == VIDI__RECORD_NOTE)
        return VIDI_OK;
    check(type > VIDI__RECORD_WITHOUT_TALLY, "a record of version 1, type %u", type);
    uint64_t n = operations_in(self, (vidi_str){payload.ptr + begin, payload.len - begin});
    self->operations += n;
    self->most = n > self->most ? n : self->most;
    return VIDI_OK;
}

static contents contents_of(home *at)
{
    contents self = {.hash_only = at->set->durable->hash_only};
    vidi__durable *durable = at->set->durable;
    vidi__log_id id = vidi__durable_log_id(at->set, durable->log->number, at->set->now.number);
    vidi__log_found found;
    must(vidi_sync(at->set));
    must(vidi__log_read(&at->set->memory, durable->folder.handle, &id, VIDI__LOG_UNKNOWN, look, &self, &found));
    return self;
}

enum { URLS = 2000 };

static void add_batch(vidi_set *set, uint64_t first, size_t n)
{
    static char rooms[URLS][TEST_URL_ROOM];
    static vidi_str urls[URLS];
    static uint8_t verdicts[URLS];
    for (size_t i = 0; i < n; i++)
        urls[i] = nth(rooms[i], first + i);
    must(vidi_add_batch(set, urls, n, verdicts, NULL));
}

static const char *const kinds[] = {"fingerprint", "hashset"};

static void a_record_is_small_and_a_write_has_one_tally(void **state)
{
    const char *kind = *state;
    static const unsigned flags[] = {VIDI_MANUAL_COMMIT, 0, TEST_SYNC_ALWAYS};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        home at;
        home_make(&at, kind, NULL, flags[i]);
        add_batch(at.set, 0, URLS);
        must(vidi_commit(at.set));
        contents all = contents_of(&at);
        assert_int_equal(all.operations, URLS);
        assert_int_equal(all.most, VIDI__RECORD_MOST);
        if (at.set->durable->manual || all.hash_only)
            assert_int_equal(all.tallies, 1);
        else /* such kinds take a batch in groups */
            assert_int_equal(all.tallies, (URLS + VIDI__GROUP - 1) / VIDI__GROUP);
        add_batch(at.set, URLS, 1);
        must(vidi_commit(at.set));
        assert_int_equal(contents_of(&at).records, all.records + 1);
        assert_int_equal(contents_of(&at).tallies, all.tallies + 1);
        add_batch(at.set, 2 * URLS, 1000);
        must(vidi_commit_note(at.set, test_mark(at.set), test_str("note")));
        contents with_note = contents_of(&at);
        assert_int_equal(with_note.notes, 1);
        assert_int_equal(with_note.operations, URLS + 1001);
        assert_int_equal(with_note.most, VIDI__RECORD_MOST);
        home_end(&at);
    }
}

/* Operations that come one at a time share records, too, until the log's thread takes them. */
static void single_operations_share_a_record(void **state)
{
    const char *kind = *state;
    static const unsigned flags[] = {VIDI_MANUAL_COMMIT, 0};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        home at;
        test_clock_begin(); /* it stands still, so the thread takes nothing */
        home_make(&at, kind, NULL, flags[i]);
        for (uint64_t j = 0; j < 150; j++) {
            add_batch(at.set, j, 1);
            must(vidi_commit(at.set));
        }
        contents all = contents_of(&at);
        assert_int_equal(all.operations, 150);
        assert_in_range(all.records, 3, 5); /* lanes do not wait until a record is quite full */
        assert_int_equal(all.tallies, flags[i] ? 3 : 1);
        test_clock_end();
        home_reopen(&at, 0);
        assert_int_equal(test_stat(at.set).answered_new, 150); /* so the tally is that of the last one */
        home_end(&at);
    }
}

/* Operations of a bundle whose note could not be written must not get into the next attempt. */
static void bundles_share_nothing(void **state)
{
    const char *kind = *state;
    home at;
    test_clock_begin();
    home_make(&at, kind, NULL, VIDI_MANUAL_COMMIT);
    for (uint64_t j = 0; j < 5; j++) {
        add_batch(at.set, j, 1);
        must(vidi_commit(at.set));
        add_batch(at.set, 100 + j, 1);
        must(vidi_commit_note(at.set, test_mark(at.set), test_str("note")));
    }
    contents all = contents_of(&at);
    assert_int_equal(all.records, 15);
    assert_int_equal(all.notes, 5);
    for (uint64_t attempt = 1; attempt <= 2; attempt++) { /* two attempts at one bundle, without notes */
        uint64_t operations, position;
        add_batch(at.set, 200 + attempt, 1);
        vidi__lock_alone(at.set);
        at.set->durable->log->bundle.attempt = attempt;
        must(vidi__durable_log_bundle(at.set, UINT64_MAX, &operations, &position));
        vidi__unlock(at.set);
    }
    assert_int_equal(contents_of(&at).records, 17);
    test_clock_end();
    home_end(&at);
}

/* A URL may be long, but many long ones are not put together. */
static void long_urls_have_records_of_their_own(void **state)
{
    (void)state;
    enum { LONG = 3 << 20, COUNT = 6 };
    home at;
    home_make(&at, "hashset", NULL, VIDI_MANUAL_COMMIT);
    char *url = malloc(LONG);
    assert_non_null(url);
    memset(url, 'x', LONG);
    for (int i = 0; i < COUNT; i++) {
        char begin[30];
        memcpy(url, begin, (size_t)snprintf(begin, sizeof begin, "http://h/%d/", i));
        assert_int_equal(vidi_add(at.set, (vidi_str){url, LONG}), VIDI_NEW);
    }
    must(vidi_commit(at.set));
    contents all = contents_of(&at);
    assert_int_equal(all.operations, COUNT);
    assert_int_equal(all.most, 1);
    home_reopen(&at, 0);
    assert_int_equal(vidi_has(at.set, (vidi_str){url, LONG}), VIDI_SEEN);
    free(url);
    home_end(&at);
}

/* ---- what damage costs ---- */

static void flip(const char *folder, const char *name, uint64_t offset, unsigned bit)
{
    char path[TEST_PATH];
    unsigned char byte;
    test_path(path, folder, name);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)offset, SEEK_SET), 0);
    assert_int_equal(fread(&byte, 1, 1, file), 1);
    byte ^= (unsigned char)(1u << bit);
    assert_int_equal(fseek(file, (long)offset, SEEK_SET), 0);
    assert_int_equal(fwrite(&byte, 1, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static void a_flipped_bit_costs_at_most_one_record(void **state)
{
    const char *kind = *state;
    test_random random = {1};
    for (int noted = 0; noted < 2; noted++) {
        home at;
        home_make(&at, kind, NULL, VIDI_MANUAL_COMMIT);
        add_batch(at.set, 0, URLS);
        must(vidi_commit(at.set));
        add_batch(at.set, URLS, URLS);
        must(noted ? vidi_commit_note(at.set, test_mark(at.set), test_str("note")) : vidi_commit(at.set));
        must(vidi_sync(at.set));
        uint64_t size = vidi__log_end(at.set->durable->log->log);
        uint64_t end = noted ? size - VIDI__NOTE_HEAD - 64 : size; /* without its note a bundle is nothing */
        for (int i = 0; i < 200; i++) {
            uint64_t offset = 64 + test_below(&random, end - 64), missing = 0;
            test_folder_remove(at.copy);
            test_folder_copy(at.path, at.copy);
            flip(at.copy, "log.0000000000000001", offset, (unsigned)test_below(&random, 8));
            vidi_set *set = must_open(at.copy, VIDI_READ_ONLY);
            for (uint64_t j = 0; j < 2 * URLS; j++)
                missing += has_nth(set, j) != VIDI_SEEN;
            check(missing && missing <= VIDI__RECORD_MOST, "a bit at %llu of %llu costs %llu URLs",
                  (unsigned long long)offset, (unsigned long long)size, (unsigned long long)missing);
            vidi_close(set);
        }
        home_end(&at);
    }
}

/* ---- operations that change nothing ---- */

/* Logs an operation on a URL as it is, whether the set has the URL or not. */
static void log_operation(vidi_set *set, vidi__operation kind, uint64_t index)
{
    char room[TEST_URL_ROOM];
    vidi_str url = nth(room, index);
    vidi__u128 hash;
    uint64_t position;
    vidi__durable_hash(set, &(vidi__work){.urls = &url, .count = 1}, &hash);
    must(vidi__record_append(set, VIDI__RECORD_WITH_TALLY, &(vidi__record){kind, &hash, &url, 1}, &position));
}

/*
 * A power failure can take single records away, so that what follows them adds what is there, or removes what is not.
 * A reader that maps the snapshot must answer as one that has read it.
 */
static void a_mapped_reader_answers_as_a_filter(void **state)
{
    const test_case *which = *state;
    enum { FEW = 6 };
    test_random random = {3};
    for (int trial = 0; trial < 40; trial++) {
        home at;
        home_make(&at, which->kind, which->params, 0);
        for (uint64_t i = 0; i < FEW; i += 2)
            assert_int_equal(add_nth(at.set, i), VIDI_NEW);
        must(vidi_snapshot(at.set));
        for (int i = 0; i < 20; i++)
            log_operation(at.set, test_below(&random, 2) ? VIDI__OP_ADD : VIDI__OP_REMOVE, test_below(&random, FEW));
        must(vidi_sync(at.set));
        vidi_set *mapped = must_open(at.path, VIDI_READ_ONLY), *read = must_open(at.path, VIDI_READ_ONLY | VIDI_NO_MAP);
        for (uint64_t i = 0; i < FEW; i++) {
            check(has_nth(mapped, i) == has_nth(read, i), "trial %d: URL %llu is answered %d, and %d if mapped", trial,
                  (unsigned long long)i, has_nth(read, i), has_nth(mapped, i));
            if (which->traits & TEST_MULTISET)
                assert_int_equal(times_nth(mapped, i), times_nth(read, i));
        }
        vidi_close(mapped);
        vidi_close(read);
        home_end(&at);
    }
}

static const test_case removing[] = {
    {.kind = "fingerprint"},
    {.kind = "hashset"},
    {.kind = "fingerprint", .params = "multiset=on", .traits = TEST_MULTISET},
    {.kind = "hashset", .params = "multiset=on", .traits = TEST_MULTISET},
};

/* ---- folders in tests/data ---- */

/* tests/golden/make_golden.c has written them, and says what is in them. */
typedef struct kept_folder {
    const char *name;
    double lost;
} kept_folder;

static const kept_folder kept_folders[] = {{"v1-counting", 0.4095856352935973}, {"v1-hashset", 0}};

static int kept_has(const vidi_set *set, int i)
{
    char room[64];
    return vidi_has(set, (vidi_str){room, (size_t)snprintf(room, sizeof room, "http://example.com/%d", i)});
}

static void must_be_kept(const vidi_set *set, double lost)
{
    vidi_stats stats = test_stat(set);
    assert_int_equal(stats.answered_new, 260);
    assert_int_equal(stats.answered_seen, 10);
    assert_int_equal(stats.removed, 5);
    check(stats.expected_lost == lost, "%.17g pages lost", stats.expected_lost);
    for (int i = 0; i < 300; i++) {
        int right = i >= 5 && i < 260 ? VIDI_SEEN : VIDI_NEW, verdict = kept_has(set, i);
        check(verdict == right, "URL %d is answered %d", i, verdict);
    }
}

static void copy_kept(home *at, const kept_folder *which)
{
    char path[1024];
    const char *data = getenv("VIDI_SOURCE");
    home_begin(at);
    snprintf(path, sizeof path, "%s/tests/data/folders/%s", data ? data : ".", which->name);
    test_folder_copy(path, at->path);
}

static void a_kept_folder_is_read_and_gone_on_with(void **state)
{
    const kept_folder *which = *state;
    home at;
    copy_kept(&at, which);
    at.set = must_open(at.path, VIDI_READ_ONLY);
    must_be_kept(at.set, which->lost);
    home_reopen(&at, VIDI_READ_ONLY | VIDI_NO_MAP);
    must_be_kept(at.set, which->lost);
    for (int i = 0; i < 2; i++) {
        home_reopen(&at, VIDI_MANUAL_COMMIT);
        must_be_kept(at.set, which->lost);
    }
    for (uint64_t i = 1000; i < 1500; i++) /* a small filter takes some of them for others */
        assert_true(add_nth(at.set, i) > 0);
    must(vidi_commit_note(at.set, test_mark(at.set), test_str("new")));
    double lost = test_stat(at.set).expected_lost;
    home_reopen(&at, VIDI_READ_ONLY);
    all_are(at.set, 1000, 500, VIDI_SEEN);
    assert_int_equal(kept_has(at.set, 100), VIDI_SEEN);
    assert_int_equal(test_stat(at.set).answered_new + test_stat(at.set).answered_seen, 770);
    check(test_stat(at.set).expected_lost == lost, "%g pages lost, not %g", test_stat(at.set).expected_lost, lost);
    home_reopen(&at, VIDI_MANUAL_COMMIT);
    must(vidi_snapshot(at.set));
    home_reopen(&at, VIDI_READ_ONLY);
    all_are(at.set, 1000, 500, VIDI_SEEN);
    home_end(&at);
}

int main(int argc, char **argv)
{
    char name[100];
    for (size_t i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "a record is small, and a write has one tally: %s", kinds[i]);
        test_add(name, a_record_is_small_and_a_write_has_one_tally, kinds[i]);
        snprintf(name, sizeof name, "single operations share a record: %s", kinds[i]);
        test_add(name, single_operations_share_a_record, kinds[i]);
        snprintf(name, sizeof name, "bundles share nothing: %s", kinds[i]);
        test_add(name, bundles_share_nothing, kinds[i]);
        snprintf(name, sizeof name, "a flipped bit costs at most one record: %s", kinds[i]);
        test_add(name, a_flipped_bit_costs_at_most_one_record, kinds[i]);
        snprintf(name, sizeof name, "a kept folder is read and gone on with: %s", kept_folders[i].name);
        test_add(name, a_kept_folder_is_read_and_gone_on_with, &kept_folders[i]);
    }
    for (size_t i = 0; i < sizeof removing / sizeof *removing; i++) {
        snprintf(name, sizeof name, "a mapped reader answers as a filter: %s %s", removing[i].kind,
                 removing[i].params ? removing[i].params : "");
        test_add(name, a_mapped_reader_answers_as_a_filter, &removing[i]);
    }
    test_add("long URLs have records of their own", long_urls_have_records_of_their_own, NULL);
    return test_run("records", argc, argv);
}
