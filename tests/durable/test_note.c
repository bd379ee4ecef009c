/*
 * Notes: bytes of the caller's that are committed together with URLs. After a crash at any moment the set has both, or
 * neither; snapshots, rotations and readers keep the note.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "durable/durable.h"
#include "durable/durable_cases.h"
#include "support/alloc.h"
#include "support/runner.h"
#include "support/streams.h"

static void must_note(const vidi_set *set, const char *expected, const char *when)
{
    char note[VIDI_NOTE_MAX];
    size_t len = sizeof note;
    must(vidi_note(set, note, &len));
    check(len == strlen(expected) && memcmp(note, expected, len) == 0, "%s: the note is \"%.*s\", not \"%s\"", when,
          (int)len, note, expected);
}

static void commit_note(vidi_set *set, const char *note)
{
    must(vidi_commit_note(set, test_mark(set), test_str(note)));
}

/* The kinds differ in what is logged: hashes, and URLs. */
static const char *const kinds[] = {"fingerprint", "hashset"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- keeping it ---- */

static void read_everywhere(home *at, const char *note, const char *when)
{
    static const unsigned ways[] = {0, VIDI_READ_ONLY, VIDI_READ_ONLY | VIDI_NO_MAP};
    must_note(at->set, note, when);
    must(vidi_sync(at->set));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        vidi_set *copy = home_crashed(at, ways[i]);
        must_note(copy, note, when);
        vidi_close(copy);
    }
}

static void a_note_is_kept_until_the_next_one(void **state)
{
    const test_mode *mode = *state;
    home at;
    home_make(&at, "fingerprint", NULL, mode->flags);
    read_everywhere(&at, "", "before the first");
    commit_note(at.set, "one");
    read_everywhere(&at, "one", "in the log");
    must(vidi_snapshot(at.set));
    read_everywhere(&at, "one", "in a snapshot");
    home_reopen(&at, mode->flags);
    read_everywhere(&at, "one", "opened again");
    commit_note(at.set, "another");
    read_everywhere(&at, "another", "over a snapshot");
    must(vidi_rotate(at.set, &(vidi_options){.size = sizeof(vidi_options), .flags = VIDI_KEEP_PREVIOUS}));
    read_everywhere(&at, "another", "after a rotation");
    commit_note(at.set, "");
    read_everywhere(&at, "", "removed");
    home_reopen(&at, mode->flags);
    read_everywhere(&at, "", "removed, opened again");
    home_end(&at);
}

static void a_note_may_be_any_bytes_up_to_its_limit(void **state)
{
    (void)state;
    char note[VIDI_NOTE_MAX + 1], found[VIDI_NOTE_MAX];
    size_t len;
    home at;
    home_make(&at, "fingerprint", NULL, VIDI_MANUAL_COMMIT);
    for (size_t i = 0; i < sizeof note; i++)
        note[i] = (char)(i * 7);
    assert_int_equal(vidi_commit_note(at.set, 0, (vidi_str){note, sizeof note}), VIDI_ELIMIT);
    must(vidi_commit_note(at.set, 0, (vidi_str){note, VIDI_NOTE_MAX}));
    for (int snapshot = 0; snapshot < 2; snapshot++) {
        home_reopen(&at, VIDI_MANUAL_COMMIT);
        len = VIDI_NOTE_MAX - 1;
        assert_int_equal(vidi_note(at.set, found, &len), VIDI_ELIMIT);
        assert_int_equal(len, VIDI_NOTE_MAX);
        must(vidi_note(at.set, found, &len));
        assert_memory_equal(found, note, VIDI_NOTE_MAX);
        must(vidi_snapshot(at.set));
    }
    len = 0;
    assert_int_equal(vidi_note(at.set, NULL, &len), VIDI_ELIMIT);
    assert_int_equal(len, VIDI_NOTE_MAX);
    home_end(&at);
}

static void only_a_set_that_can_be_written_takes_a_note(void **state)
{
    (void)state;
    vidi_set *memory = NULL;
    size_t len = 0;
    home at;
    home_make(&at, "fingerprint", NULL, VIDI_MANUAL_COMMIT);
    commit_note(at.set, "one");
    assert_int_equal(vidi_commit_note(NULL, 0, test_str("x")), VIDI_EARGUMENT);
    assert_int_equal(vidi_commit_note(at.set, 0, (vidi_str){NULL, 1}), VIDI_EARGUMENT);
    assert_int_equal(vidi_note(at.set, NULL, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_note(NULL, NULL, &len), VIDI_EARGUMENT);
    home_reopen(&at, VIDI_READ_ONLY);
    assert_int_equal(vidi_commit_note(at.set, 0, test_str("x")), VIDI_ECANNOT);
    must_note(at.set, "one", "after a refusal");
    must(vidi_create(&memory, NULL));
    assert_int_equal(vidi_commit_note(memory, 0, test_str("x")), VIDI_ECANNOT);
    must_note(memory, "", "in memory");
    vidi_close(memory);
    home_end(&at);
}

static void a_note_is_not_exported(void **state)
{
    (void)state;
    test_stream stream = {0};
    vidi_set *copy = NULL;
    home at;
    home_make(&at, "hashset", NULL, VIDI_MANUAL_COMMIT);
    add_all(at.set, 0, 10, VIDI_NEW);
    commit_note(at.set, "one");
    test_stream_write(&stream, at.set);
    assert_int_equal(stream.data[8], 1); /* of the version that every reader knows */
    must(vidi_read(&copy, test_stream_source, &stream, stream.size, at.copy, NULL));
    must_note(copy, "", "of a copy");
    all_are(copy, 0, 10, VIDI_SEEN);
    vidi_close(copy);
    test_stream_free(&stream);
    home_end(&at);
}

/* ---- both or neither ---- */

/* Three commits with notes, one without, and the URLs of each; the bundles take several records. */
enum { EACH = 300, COMMITS = 4 };
static const char *const notes[COMMITS + 1] = {"", "first", "second", "second", "fourth"};

static void make_commits(vidi_set *set)
{
    for (uint64_t i = 0; i < COMMITS; i++) {
        add_all(set, i * EACH, EACH, VIDI_NEW);
        if (i == 2)
            must(vidi_commit(set));
        else
            commit_note(set, notes[i + 1]);
    }
}

static uint64_t seen_of(const vidi_set *set, uint64_t first)
{
    uint64_t seen = 0;
    for (uint64_t i = first; i < first + EACH; i++)
        seen += has_nth(set, i) == VIDI_SEEN;
    return seen;
}

/* The number of commits that the set has, of which those with a note must be whole. */
static uint64_t commits_in(const vidi_set *set, uint64_t cut)
{
    uint64_t n = 0;
    while (n < COMMITS && seen_of(set, n * EACH) == EACH)
        n++;
    for (uint64_t i = n; i < COMMITS; i++) {
        uint64_t seen = seen_of(set, i * EACH);
        check(!seen || i == 2, "cut at %llu: commit %llu has %llu of its URLs, without its note",
              (unsigned long long)cut, (unsigned long long)i, (unsigned long long)seen);
    }
    must_note(set, notes[n], "cut");
    return n;
}

static void log_path(char path[TEST_PATH], const char *folder)
{
    test_path(path, folder, "log.0000000000000001");
}

static uint64_t log_size(const home *at)
{
    char path[TEST_PATH];
    struct stat info;
    log_path(path, at->path);
    assert_int_equal(stat(path, &info), 0);
    return (uint64_t)info.st_size;
}

/*
 * URLs that a cut has made new again are staged and not committed, when another one is committed with a note: that must
 * not bring back what was left of the bundle that was cut.
 */
static void go_on(home *at, uint64_t commits)
{
    vidi_set *set = must_open(at->copy, VIDI_MANUAL_COMMIT);
    must(add_nth(set, 1000000) == VIDI_NEW ? VIDI_OK : VIDI_EARGUMENT);
    commit_note(set, "later");
    if (commits < COMMITS)
        all_are(set, (COMMITS - 1) * EACH, EACH, VIDI_NEW);
    vidi_close(set);
    set = must_open(at->copy, VIDI_READ_ONLY);
    must_note(set, "later", "after a cut");
    assert_int_equal(has_nth(set, 1000000), VIDI_SEEN);
    for (uint64_t i = 0; i < COMMITS; i++)
        check(i == 2 || seen_of(set, i * EACH) == (i < commits ? EACH : 0), "commit %llu has come back",
              (unsigned long long)i);
    vidi_close(set);
}

static void a_log_cut_anywhere_has_urls_and_note_or_neither(void **state)
{
    const char *kind = *state;
    char path[TEST_PATH];
    home at;
    uint64_t most = 0;
    home_make(&at, kind, NULL, VIDI_MANUAL_COMMIT | TEST_SYNC_NEVER); /* so that a cut log is not damage */
    make_commits(at.set);
    vidi_close(at.set);
    at.set = NULL;
    uint64_t size = log_size(&at);
    for (uint64_t cut = 64; cut <= size; cut += cut + 97 < size || cut == size ? 97 : size - cut) {
        test_folder_remove(at.copy);
        test_folder_copy(at.path, at.copy);
        log_path(path, at.copy);
        assert_int_equal(truncate(path, (off_t)cut), 0);
        vidi_set *set = must_open(at.copy, VIDI_READ_ONLY);
        uint64_t commits = commits_in(set, cut);
        vidi_close(set);
        check(commits >= most, "cut at %llu: fewer commits than before", (unsigned long long)cut);
        most = commits;
        go_on(&at, commits);
    }
    assert_int_equal(most, COMMITS);
    home_end(&at);
}

/* A commit that fails for want of memory leaves the note and the URLs uncommitted; the next one commits each once. */
static void a_refused_commit_commits_neither(void **state)
{
    const char *kind = *state;
    static test_allocator allocator;
    bool refused = true;
    for (uint64_t n = 1; refused; n++) {
        vidi_access access = VIDI_ACCESS_INIT;
        vidi_options options = VIDI_OPTIONS_INIT;
        home at;
        home_begin(&at);
        test_allocator_init(&allocator);
        access.allocator = &allocator.hook;
        access.flags = VIDI_MANUAL_COMMIT;
        options.kind = kind;
        options.params = "multiset=on";
        options.path = at.path;
        options.access = &access;
        must(vidi_create(&at.set, &options));
        add_all(at.set, 0, EACH, VIDI_NEW);
        commit_note(at.set, "first");
        add_all(at.set, EACH, EACH, VIDI_NEW);
        test_allocator_fail(&allocator, n, true);
        int code = vidi_commit_note(at.set, test_mark(at.set), test_str("second"));
        refused = test_allocator_refused(&allocator) > 0;
        test_allocator_fail(&allocator, 0, false);
        must_note(at.set, code < 0 ? "first" : "second", "after a refusal");
        must(vidi_sync(at.set));
        vidi_set *copy = home_crashed(&at, VIDI_READ_ONLY);
        all_are(copy, EACH, EACH, code < 0 ? VIDI_NEW : VIDI_SEEN);
        must_note(copy, code < 0 ? "first" : "second", "after a refusal and a crash");
        vidi_close(copy);
        if (n % 2)
            must(vidi_commit(at.set));
        commit_note(at.set, "third");
        home_reopen(&at, VIDI_MANUAL_COMMIT);
        must_note(at.set, "third", "at last");
        for (uint64_t i = 0; i < 2 * EACH; i++)
            assert_int_equal(times_nth(at.set, i), 1);
        home_end(&at);
        test_allocator_finish(&allocator);
    }
}

/* ---- bundles that are torn ---- */

/* The records of a log. */
typedef struct records {
    size_t count;
    uint32_t types[100];
    vidi_str payloads[100];
} records;

static int copy_record(void *context, uint32_t type, vidi_str payload)
{
    records *self = context;
    char *copy = malloc(payload.len + 1);
    assert_true(copy && self->count < 100);
    memcpy(copy, payload.ptr, payload.len);
    self->types[self->count] = type;
    self->payloads[self->count++] = (vidi_str){copy, payload.len};
    return VIDI_OK;
}

/* A set in a folder of its own, into which all records but `left_out` were replayed, up to `end`. */
static void replay_without(home *at, const records *from, size_t left_out, size_t end, bool damaged, const char *kind)
{
    vidi__replay replay;
    int code = VIDI_OK;
    home_make(at, kind, NULL, VIDI_MANUAL_COMMIT);
    vidi__replay_begin(&replay, at->set);
    for (size_t i = 0; i < end && code == VIDI_OK; i++)
        if (i != left_out)
            code = vidi__replay_record(&replay, from->types[i], from->payloads[i]);
    must(vidi__replay_end(&replay, code, damaged));
}

static void read_records(home *at, records *self)
{
    vidi__durable *durable = at->set->durable;
    vidi__log_id id = vidi__durable_log_id(at->set, durable->log->number, at->set->now.number);
    vidi__log_found found;
    must(vidi_sync(at->set));
    must(vidi__log_read(&at->set->memory, durable->folder.handle, &id, VIDI__LOG_UNKNOWN, copy_record, self, &found));
}

/* Where the first note is. */
static size_t first_note(const records *self)
{
    size_t i = 0;
    while (self->types[i] != VIDI__RECORD_NOTE)
        i++;
    return i;
}

/* A power failure may take any record that was not synced. A note stands for everything before it, so all are gone. */
static void must_be_dropped(const records *log, size_t left_out, size_t end, const char *kind)
{
    home at;
    replay_without(&at, log, left_out, end, false, kind);
    for (uint64_t i = 0; i < COMMITS; i++)
        assert_int_equal(seen_of(at.set, i * EACH), i == 2 && end == log->count ? EACH : 0); /* this one has no note */
    must_note(at.set, "", "of a torn bundle");
    home_end(&at);
}

/* But what was whole once counts as far as it is left. */
static void must_be_left(const records *log, size_t left_out, size_t end, const char *kind)
{
    home at;
    size_t note = first_note(log);
    bool all = end == log->count;
    replay_without(&at, log, left_out, end, true, kind);
    uint64_t seen = seen_of(at.set, 0);
    if (left_out < note)
        check(seen < EACH && seen >= EACH - VIDI__RECORD_MOST, "%llu of %d URLs are there", (unsigned long long)seen,
              EACH);
    else
        assert_int_equal(seen, all ? EACH : 0);
    assert_int_equal(seen_of(at.set, EACH), all ? EACH : 0);
    must_note(at.set, all ? "fourth" : left_out < note ? "first" : "", "of a damaged bundle");
    home_end(&at);
}

static void a_torn_bundle_is_dropped_with_its_note(void **state)
{
    const char *kind = *state;
    static records log;
    home at;
    log.count = 0;
    home_make(&at, kind, NULL, VIDI_MANUAL_COMMIT);
    make_commits(at.set);
    read_records(&at, &log);
    size_t note = first_note(&log);
    for (size_t i = 0; i <= note; i++) {
        must_be_dropped(&log, i, note + 1, kind);
        must_be_dropped(&log, i, log.count, kind);
        must_be_left(&log, i, note + 1, kind);
        must_be_left(&log, i, log.count, kind);
    }
    for (size_t i = 0; i < log.count; i++)
        free((char *)log.payloads[i].ptr);
    home_end(&at);
}

/* ---- beside a snapshot ---- */

static struct {
    home at;
    vidi_set *copy; /* of the moment after the renaming */
    bool inside;
} during;

/* When the snapshot is begun, the filter is frozen; notes are committed before anything of it is written. */
static int open_and_commit(int folder, const char *name, int flags, mode_t mode)
{
    if (!during.inside && strncmp(name, "set.", 4) == 0 && strstr(name, ".new")) {
        during.inside = true;
        commit_note(during.at.set, "second");
        add_all(during.at.set, EACH, EACH, VIDI_NEW);
        commit_note(during.at.set, "third");
        must_note(during.at.set, "third", "while a snapshot is written");
    }
    return vidi__system_real.open(folder, name, flags, mode);
}

/* When the snapshot has got its name, the machine ends: the new log has not got its records yet. */
static int rename_and_copy(int folder, const char *from, const char *to)
{
    if (strncmp(from, "set.", 4) != 0)
        return vidi__system_real.rename(folder, from, to);
    int result = vidi__system_real.rename(folder, from, to);
    char path[TEST_PATH];
    test_folder_copy(during.at.path, during.at.copy);
    test_path(path, during.at.copy, "log.0000000000000002");
    assert_int_equal(truncate(path, 64), 0);
    during.copy = must_open(during.at.copy, VIDI_READ_ONLY);
    return result;
}

static void a_snapshot_has_the_note_that_belongs_to_it(void **state)
{
    (void)state;
    vidi__system hooked = vidi__system_real;
    hooked.open = open_and_commit;
    hooked.rename = rename_and_copy;
    home_make(&during.at, "fingerprint", NULL, VIDI_MANUAL_COMMIT);
    add_all(during.at.set, 0, EACH, VIDI_NEW);
    commit_note(during.at.set, "first");
    vidi__system_now = &hooked;
    must(vidi_snapshot(during.at.set));
    vidi__system_now = &vidi__system_real;
    assert_true(during.inside);
    must_note(during.copy, "first", "of the snapshot alone");
    all_are(during.copy, 0, EACH, VIDI_SEEN);
    all_are(during.copy, EACH, EACH, VIDI_NEW);
    vidi_close(during.copy);
    must_note(during.at.set, "third", "after the snapshot");
    home_reopen(&during.at, VIDI_MANUAL_COMMIT);
    must_note(during.at.set, "third", "opened again");
    all_are(during.at.set, EACH, EACH, VIDI_SEEN);
    home_end(&during.at);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < TEST_MODES; i++)
        test_add(test_modes[i].name, a_note_is_kept_until_the_next_one, &test_modes[i]);
    test_add("a note may be any bytes up to its limit", a_note_may_be_any_bytes_up_to_its_limit, NULL);
    test_add("only a set that can be written takes a note", only_a_set_that_can_be_written_takes_a_note, NULL);
    test_add("a note is not exported", a_note_is_not_exported, NULL);
    for (size_t i = 0; i < KINDS; i++) {
        test_add("a log cut anywhere has URLs and note, or neither", a_log_cut_anywhere_has_urls_and_note_or_neither,
                 kinds[i]);
        test_add("a torn bundle is dropped with its note", a_torn_bundle_is_dropped_with_its_note, kinds[i]);
        test_add("a refused commit commits neither", a_refused_commit_commits_neither, kinds[i]);
    }
    test_add("a snapshot has the note that belongs to it", a_snapshot_has_the_note_that_belongs_to_it, NULL);
    return test_run("notes", argc, argv);
}
