/*
 * The index beside the log: a mapped reader that uses it answers as one that reads the log, whatever has happened to
 * the index, and to the log below it.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "durable/durable_cases.h"
#include "durable/log_index.h"
#include "store/guard.h"
#include "store/segment_format.h"
#include "support/random.h"
#include "support/runner.h"

/* Chunks are small, so that few URLs make many of them. */
enum { CHUNK = 256, SNAPSHOT = 500, LOGGED = 9000, TAIL = 400, ALL = SNAPSHOT + LOGGED };

/* cmocka replaces the handler of SIGBUS for each test, so the guard's is put back. */
static struct sigaction guard;

static void take_guard(void)
{
    static const char page[4096];
    const _Atomic bool *lost;
    must(vidi__guard_add(page, sizeof page, &lost));
    vidi__guard_remove(page);
    assert_int_equal(sigaction(SIGBUS, NULL, &guard), 0);
}

static void use_guard(void)
{
    assert_int_equal(sigaction(SIGBUS, &guard, NULL), 0);
}

/* ---- files of an index ---- */

typedef struct names {
    char list[100][40];
    size_t count;
} names;

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

static names index_files(const char *path)
{
    names all = {.count = 0};
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (strncmp(entry->d_name, "index.", 6) == 0 && all.count < VIDI__COUNT(all.list))
            snprintf(all.list[all.count++], sizeof all.list[0], "%.39s", entry->d_name);
    closedir(folder);
    qsort(all.list, all.count, sizeof all.list[0], compare_names);
    return all;
}

static void move_file(const char *from, const char *to, const char *name, bool keep)
{
    char old_path[TEST_PATH], new_path[TEST_PATH];
    test_path(old_path, from, name);
    test_path(new_path, to, name);
    unlink(new_path);
    assert_int_equal(keep ? link(old_path, new_path) : rename(old_path, new_path), 0);
}

/* The contents of a file. */
typedef struct contents {
    unsigned char *bytes;
    size_t len;
} contents;

static contents read_file(const char *folder, const char *name)
{
    char path[TEST_PATH];
    struct stat is;
    test_path(path, folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &is), 0);
    contents self = {malloc((size_t)is.st_size + 1), (size_t)is.st_size};
    assert_non_null(self.bytes);
    assert_int_equal(fread(self.bytes, 1, self.len, file), self.len);
    fclose(file);
    return self;
}

/* ---- sets with an index ---- */

static void add_batch(vidi_set *set, uint64_t first, size_t n)
{
    test_batch batch;
    uint8_t verdicts[1000];
    for (size_t done = 0, part; done < n; done += part) {
        part = n - done < 1000 ? n - done : 1000;
        test_batch_init(&batch, part);
        test_batch_fill(&batch, test_url, 77, first + done, part);
        must(vidi_add_batch(set, batch.urls, part, verdicts, NULL));
        test_batch_free(&batch);
    }
}

/* What a process leaves that ends before it has written the note: readers drop it when they find the next attempt. */
static void add_dangling(vidi_set *set, uint64_t index)
{
    uint64_t operations, position;
    assert_int_equal(add_nth(set, index), VIDI_NEW);
    vidi__lock_alone(set);
    set->durable->log->bundle.attempt = 100;
    must(vidi__durable_log_bundle(set, UINT64_MAX, &operations, &position));
    vidi__unlock(set);
}

/* Adds and commits, in parts, some of them with notes. */
static void add_with_notes(vidi_set *set, uint64_t first, size_t n)
{
    char note[20];
    for (size_t done = 0; done < n; done += 100) {
        add_batch(set, first + done, n - done < 100 ? n - done : 100);
        int len = snprintf(note, sizeof note, "note %zu", done / 100);
        if (done / 100 % 10 == 1) {
            must(vidi_commit(set));
            add_dangling(set, ALL + 1500 + done / 100);
        }
        if (done / 100 % 3)
            must(vidi_commit_note(set, test_mark(set), (vidi_str){note, (size_t)len}));
        else
            must(vidi_commit(set));
    }
}

static void add_in_a_way(vidi_set *set, uint64_t first, size_t n, unsigned flags)
{
    if (flags & VIDI_MANUAL_COMMIT)
        add_with_notes(set, first, n);
    else
        add_batch(set, first, n);
    must(vidi_sync(set));
}

/* A set with a snapshot, a log and an index of all of the log but its tail; closed. */
static void build(home *at, const char *params, unsigned flags)
{
    home_make(at, "fingerprint", params, flags);
    add_batch(at->set, 0, SNAPSHOT);
    must(vidi_snapshot(at->set));
    add_in_a_way(at->set, SNAPSHOT, LOGGED - TAIL, flags);
    vidi_close(at->set);
    vidi__index_chunk = 100 * CHUNK; /* so the rest is not indexed */
    at->set = must_open(at->path, flags);
    add_in_a_way(at->set, ALL - TAIL, TAIL, flags);
    vidi_close(at->set);
    vidi__index_chunk = CHUNK;
    at->set = NULL;
}

static size_t segments_of(const vidi_set *set)
{
    return set->durable->segment_count;
}

static int count_entry(void *context, const vidi_entry *entry)
{
    (void)entry;
    ++*(uint64_t *)context;
    return 0;
}

/* Does a mapped reader answer, count and tell as one that reads the log? */
static void answers_like_the_log(const char *path)
{
    char one[100], two[100];
    size_t len_one = sizeof one, len_two = sizeof two;
    uint64_t listed = 0, expected = 0;
    vidi_set *mapped = must_open(path, VIDI_READ_ONLY), *read = must_open(path, VIDI_READ_ONLY | VIDI_NO_MAP);
    vidi_recovery of_mapped = {.size = sizeof of_mapped}, of_read = {.size = sizeof of_read};
    for (uint64_t i = 0; i < ALL + 2000; i += 7)
        check(has_nth(mapped, i) == has_nth(read, i), "URL %llu is answered otherwise", (unsigned long long)i);
    must(vidi_recovered(mapped, &of_mapped));
    must(vidi_recovered(read, &of_read));
    assert_int_equal(of_mapped.urls, of_read.urls);
    assert_int_equal(of_mapped.records, of_read.records);
    assert_int_equal(test_stat(mapped).count, test_stat(read).count);
    assert_int_equal(test_stat(mapped).answered_new, test_stat(read).answered_new);
    assert_int_equal(test_stat(mapped).log_bytes, test_stat(read).log_bytes);
    must(vidi_iterate(mapped, count_entry, &listed));
    must(vidi_iterate(read, count_entry, &expected));
    assert_int_equal(listed, expected);
    must(vidi_note(mapped, one, &len_one));
    must(vidi_note(read, two, &len_two));
    assert_int_equal(len_one, len_two);
    assert_memory_equal(one, two, len_one);
    vidi_close(mapped);
    vidi_close(read);
}

static const unsigned ways[] = {0, VIDI_MANUAL_COMMIT};

static void a_reader_answers_from_the_index(void **state)
{
    home at;
    build(&at, NULL, *(const unsigned *)*state);
    at.set = must_open(at.path, VIDI_READ_ONLY);
    assert_true(segments_of(at.set) > 0);
    assert_true(at.set->durable->staging.count >= TAIL);
    check(segments_of(at.set) < 12, "%zu segments", segments_of(at.set));
    check(at.set->durable->staging.count < TAIL + 3 * CHUNK, "%llu URLs were read from the log",
          (unsigned long long)at.set->durable->staging.count);
    all_are(at.set, 0, ALL, VIDI_SEEN);
    all_are(at.set, ALL, 2000, VIDI_NEW);
    must(vidi_verify(at.set));
    answers_like_the_log(at.path);
    home_end(&at);
}

/* Wherever the synced part of a log ends, a stretch ends where no bundle is open, and the next one can begin there. */
static void a_stretch_does_not_cut_a_bundle(void **state)
{
    (void)state;
    home at;
    static vidi__u128 hashes[2 * ALL];
    build(&at, NULL, VIDI_MANUAL_COMMIT);
    at.set = must_open(at.path, VIDI_READ_ONLY);
    const vidi__stretch *first = &at.set->durable->segments[0]->stretch;
    uint64_t all = 0;
    for (uint64_t to = UINT64_MAX, i = 0; i < 100; i++, to = first->from + i * 136) {
        vidi__stretch stretch = {.log = first->log, .from = first->from};
        vidi__gather gather = {.stretch = &stretch, .hashes = hashes, .room = 2 * ALL, .most = UINT64_MAX};
        must(vidi__gather_read(&gather, &at.set->memory, at.set->durable->folder.handle, to));
        uint64_t n = stretch.hashes;
        vidi__stretch rest = {.log = first->log, .from = stretch.to, .bundles_before = stretch.bundles};
        gather = (vidi__gather){.stretch = &rest, .hashes = hashes, .room = 2 * ALL, .most = UINT64_MAX};
        must(vidi__gather_read(&gather, &at.set->memory, at.set->durable->folder.handle, UINT64_MAX));
        all = i ? all : n;
        assert_int_equal(n + rest.hashes, all);
    }
    assert_int_equal(all, ALL); /* those of the snapshot were committed after it */
    home_end(&at);
}

/* A set that is merged from one with an index gets everything. */
static void a_merge_takes_the_index_along(void **state)
{
    (void)state;
    home at;
    vidi_set *into;
    vidi_options options = VIDI_OPTIONS_INIT;
    build(&at, NULL, 0);
    at.set = must_open(at.path, VIDI_READ_ONLY);
    options.like = at.set;
    must(vidi_create(&into, &options));
    must(vidi_merge(into, at.set, 0));
    assert_int_equal(test_stat(into).count, ALL);
    all_are(into, 0, ALL, VIDI_SEEN);
    vidi_close(into);
    home_end(&at);
}

/* The same on disk: the index's URLs get into the log of the new set. */
static void a_merge_on_disk_takes_the_index_along(void **state)
{
    (void)state;
    home one, two;
    build(&one, NULL, 0);
    home_make(&two, "fingerprint", NULL, 0);
    add_batch(two.set, ALL, 100);
    home_reopen(&two, VIDI_READ_ONLY);
    const char *const from[] = {one.path, two.path};
    must(vidi_merge_stored(one.copy, from, 2, 0, NULL));
    vidi_set *both = must_open(one.copy, VIDI_READ_ONLY);
    all_are(both, 0, ALL + 100, VIDI_SEEN);
    all_are(both, ALL + 100, 1000, VIDI_NEW);
    assert_int_equal(test_stat(both).count, ALL + 100);
    vidi_close(both);
    home_end(&one);
    home_end(&two);
}

static void a_writer_goes_on_with_the_index(void **state)
{
    home at;
    const unsigned flags = *(const unsigned *)*state;
    build(&at, NULL, flags);
    names before = index_files(at.path);
    for (int i = 0; i < 3; i++) {
        home_reopen(&at, flags);
        add_in_a_way(at.set, ALL + (uint64_t)i * 600, 600, flags);
        vidi_close(at.set);
        at.set = NULL;
        answers_like_the_log(at.path);
    }
    names after = index_files(at.path);
    assert_string_equal(before.list[0], after.list[0]); /* the first and largest is still the same */
    at.set = must_open(at.path, VIDI_READ_ONLY);
    check(at.set->durable->staging.count < TAIL + 3 * CHUNK, "%llu URLs were read from the log",
          (unsigned long long)at.set->durable->staging.count);
    home_end(&at);
}

static void a_snapshot_removes_the_index(void **state)
{
    (void)state;
    home at;
    build(&at, NULL, 0);
    test_folder_copy(at.path, at.copy);
    assert_true(index_files(at.path).count > 0);
    home_reopen(&at, 0);
    must(vidi_snapshot(at.set));
    assert_int_equal(index_files(at.path).count, 0);
    vidi_options keeping = VIDI_OPTIONS_INIT;
    keeping.flags = VIDI_KEEP_PREVIOUS;
    home_reopen(&at, 0);
    add_batch(at.set, ALL, LOGGED);
    must(vidi_sync(at.set));
    home_reopen(&at, 0);
    must(vidi_rotate(at.set, &keeping));
    assert_true(index_files(at.path).count > 0); /* that of the previous epoch's log */
    vidi_close(at.set);
    at.set = must_open(at.path, VIDI_READ_ONLY);
    assert_true(segments_of(at.set->previous_set) > 0);
    assert_int_equal(vidi_has_previous(at.set, (vidi_str){"http://nowhere/", 15}), VIDI_NEW);
    for (uint64_t i = 0; i < ALL + LOGGED; i += 11) {
        char room[TEST_URL_ROOM];
        assert_int_equal(vidi_has_previous(at.set, nth(room, i)), VIDI_SEEN);
    }
    must(vidi_verify(at.set));
    home_end(&at);
}

/* An index knows nothing of removals, so the reader does without it. */
static void removals_are_right(void **state)
{
    (void)state;
    home at;
    build(&at, NULL, 0);
    home_reopen(&at, 0);
    for (uint64_t i = 0; i < ALL; i += 100)
        must(remove_nth(at.set, i));
    home_reopen(&at, VIDI_READ_ONLY);
    assert_int_equal(segments_of(at.set), 0);
    for (uint64_t i = 0; i < ALL; i++)
        assert_int_equal(has_nth(at.set, i), i % 100 ? VIDI_SEEN : VIDI_NEW);
    home_end(&at);
}

/* Nothing is mapped, so no handler for SIGBUS is needed. */
static void without_mapping_there_is_no_index(void **state)
{
    (void)state;
    home at;
    build(&at, NULL, VIDI_NO_MAP);
    assert_int_equal(index_files(at.path).count, 0);
    answers_like_the_log(at.path);
    home_end(&at);
}

static void a_multiset_has_no_index(void **state)
{
    (void)state;
    home at;
    build(&at, "multiset=on", 0);
    assert_int_equal(index_files(at.path).count, 0);
    answers_like_the_log(at.path);
    home_end(&at);
}

/* ---- damage ---- */

/* Everything is answered as before; the whole index is asked. */
static void nothing_is_lost(const char *path)
{
    vidi_set *set = must_open(path, VIDI_READ_ONLY);
    uint64_t listed = 0;
    for (uint64_t i = SNAPSHOT; i < ALL; i += 3)
        check(has_nth(set, i) == VIDI_SEEN, "URL %llu is lost: %s", (unsigned long long)i, vidi_message());
    for (uint64_t i = ALL; i < ALL + 500; i++)
        check(has_nth(set, i) == VIDI_NEW, "URL %llu was never added", (unsigned long long)i);
    must(vidi_iterate(set, count_entry, &listed));
    assert_int_equal(listed, ALL);
    vidi_close(set);
}

static void flip_and_see(home *at, const char *name, const contents *whole, size_t byte)
{
    unsigned char *bytes = malloc(whole->len);
    assert_non_null(bytes);
    memcpy(bytes, whole->bytes, whole->len);
    bytes[byte] ^= (unsigned char)(1u << byte % 8);
    test_file_write(at->copy, name, bytes, whole->len);
    free(bytes);
    nothing_is_lost(at->copy);
    vidi_set *set = must_open(at->copy, VIDI_READ_ONLY);
    bool used = false; /* or was it found damaged at once? */
    for (size_t i = 0; i < segments_of(set); i++)
        used |= memcmp(set->durable->segments[i]->start, whole->bytes, 8) == 0 &&
                set->durable->segments[i]->bytes == whole->len;
    int code = vidi_verify(set);
    check(code == VIDI_OK || code == VIDI_EFORMAT, "%d: %s", code, vidi_message());
    check(!used || segments_of(set) == 0 || code == VIDI_EFORMAT || byte >= VIDI__SEGMENT_HEAD + whole->len,
          "byte %zu of %s is damaged, and nobody noticed", byte, name);
    vidi_close(set);
}

/* A bit in every part of a file: head, note, hashes, list. */
static void damage_costs_no_answer(void **state)
{
    (void)state;
    home at;
    build(&at, NULL, VIDI_MANUAL_COMMIT);
    test_folder_copy(at.path, at.copy);
    names all = index_files(at.path);
    contents whole = read_file(at.path, all.list[0]);
    for (size_t byte = 0; byte < 200; byte += 9)
        flip_and_see(&at, all.list[0], &whole, byte);
    for (size_t byte = 200; byte < whole.len; byte += whole.len / 40)
        flip_and_see(&at, all.list[0], &whole, byte);
    for (size_t byte = whole.len - 40; byte < whole.len; byte += 7)
        flip_and_see(&at, all.list[0], &whole, byte);
    free(whole.bytes);
    home_end(&at);
}

/* Files that are short, empty, missing, or a folder; and one with the name of another. */
static void files_that_are_not_there_cost_no_answer(void **state)
{
    (void)state;
    home at;
    build(&at, NULL, 0);
    names all = index_files(at.path);
    for (size_t i = 0; i < all.count; i++) {
        char path[TEST_PATH];
        contents whole = read_file(at.path, all.list[i]);
        const size_t lengths[] = {0, 1, VIDI__SEGMENT_HEAD - 1, VIDI__SEGMENT_HEAD, whole.len / 2, whole.len - 1};
        test_folder_remove(at.copy);
        test_folder_copy(at.path, at.copy);
        test_path(path, at.copy, all.list[i]);
        for (size_t j = 0; j < VIDI__COUNT(lengths); j++) {
            test_file_write(at.copy, all.list[i], whole.bytes, lengths[j]);
            nothing_is_lost(at.copy);
        }
        assert_int_equal(unlink(path), 0);
        nothing_is_lost(at.copy);
        contents other = read_file(at.path, all.list[(i + 1) % all.count]);
        test_file_write(at.copy, all.list[i], other.bytes, other.len);
        nothing_is_lost(at.copy);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkdir(path, 0700), 0);
        nothing_is_lost(at.copy);
        assert_int_equal(rmdir(path), 0);
        free(whole.bytes);
        free(other.bytes);
    }
    home_end(&at);
}

/* A file that is truncated while it is in use is as good as a damaged one. */
static void a_file_that_shrinks_costs_no_answer(void **state)
{
    (void)state;
    home at;
    char path[TEST_PATH];
    build(&at, NULL, 0);
    names all = index_files(at.path);
    vidi_set *set = must_open(at.path, VIDI_READ_ONLY);
    use_guard();
    for (size_t i = 0; i < all.count; i++) {
        test_path(path, at.path, all.list[i]);
        assert_int_equal(truncate(path, i % 2 ? 0 : 4096), 0);
    }
    all_are(set, 0, ALL, VIDI_SEEN);
    all_are(set, ALL, 1000, VIDI_NEW);
    vidi_close(set);
    home_end(&at);
}

/* With index and log damaged, a lookup fails rather than answer wrongly; verification tells about the log alone, too. */
static void damage_of_the_log_is_told(void **state)
{
    (void)state;
    home at;
    build(&at, NULL, 0);
    const char *log = "log.0000000000000002";
    contents whole = read_file(at.path, log), copy = read_file(at.path, log);
    copy.bytes[whole.len / 3] ^= 1;
    test_file_write(at.path, log, copy.bytes, copy.len);
    vidi_set *set = must_open(at.path, VIDI_READ_ONLY);
    all_are(set, 0, ALL, VIDI_SEEN);
    assert_int_equal(vidi_verify(set), VIDI_EFORMAT);
    names all = index_files(at.path);
    use_guard();
    for (size_t i = 0; i < all.count; i++) {
        char path[TEST_PATH];
        test_path(path, at.path, all.list[i]);
        assert_int_equal(truncate(path, 0), 0);
    }
    size_t failed = 0;
    for (uint64_t i = SNAPSHOT; i < ALL; i++) {
        int verdict = has_nth(set, i);
        check(verdict == VIDI_SEEN || verdict < 0, "URL %llu is answered %d", (unsigned long long)i, verdict);
        failed += verdict < 0;
    }
    assert_true(failed > 0);
    vidi_close(set);
    free(whole.bytes);
    free(copy.bytes);
    home_end(&at);
}

/* ---- an index that does not belong to its log ---- */

/* The same set, made again: same numbers, same key, another log. */
static void an_index_of_another_generation_is_ignored(void **state)
{
    (void)state;
    home at, again;
    build(&at, NULL, 0);
    home_make(&again, "fingerprint", NULL, 0);
    add_batch(again.set, 0, SNAPSHOT);
    must(vidi_snapshot(again.set));
    add_batch(again.set, 5 * ALL, LOGGED);
    home_reopen(&again, 0);
    vidi_close(again.set);
    again.set = NULL;
    names mine = index_files(again.path), other = index_files(at.path);
    for (size_t i = 0; i < mine.count; i++) {
        char path[TEST_PATH];
        test_path(path, again.path, mine.list[i]);
        assert_int_equal(unlink(path), 0);
    }
    for (size_t i = 0; i < other.count; i++)
        move_file(at.path, again.path, other.list[i], true);
    vidi_set *set = must_open(again.path, VIDI_READ_ONLY);
    assert_int_equal(segments_of(set), 0);
    all_are(set, SNAPSHOT, LOGGED, VIDI_NEW);
    all_are(set, 5 * ALL, LOGGED, VIDI_SEEN);
    vidi_close(set);
    home_end(&at);
    home_end(&again);
}

/* Changes the version of a segment, and its checksum to match. */
static void plant_version(const char *folder, const char *name, uint32_t version)
{
    enum { AT_VERSION = 8, AT_CHECK = VIDI__SEGMENT_HEAD - 8 };
    char path[TEST_PATH];
    contents whole = read_file(folder, name);
    vidi__store32(whole.bytes + AT_VERSION, version);
    vidi__store64(whole.bytes + AT_CHECK, vidi__segment_checksum(whole.bytes, AT_CHECK));
    test_path(path, folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(whole.bytes, 1, whole.len, file), whole.len);
    assert_int_equal(fclose(file), 0);
    free(whole.bytes);
}

/* A later vidi may write other segments. The log has everything, so readers go by that. */
static void a_segment_of_another_version_is_refused(void **state)
{
    static const uint32_t versions[] = {0, 2, 1};
    (void)state;
    home at;
    build(&at, NULL, 0);
    names files = index_files(at.path);
    assert_true(files.count > 0);
    for (size_t i = 0; i < VIDI__COUNT(versions); i++) {
        for (size_t j = 0; j < files.count; j++)
            plant_version(at.path, files.list[j], versions[i]);
        vidi_set *set = must_open(at.path, VIDI_READ_ONLY);
        check((segments_of(set) > 0) == (versions[i] == 1), "version %u: %zu segments", versions[i], segments_of(set));
        vidi_close(set);
        answers_like_the_log(at.path);
    }
    home_end(&at);
}

/* After a crash, or from a backup, the log is older than its index; then it goes on with other records. */
static void an_index_ahead_of_its_log_is_ignored(void **state)
{
    (void)state;
    home at;
    const char *log = "log.0000000000000002";
    home_make(&at, "fingerprint", NULL, 0);
    add_batch(at.set, 0, SNAPSHOT);
    must(vidi_snapshot(at.set));
    add_batch(at.set, SNAPSHOT, LOGGED / 2);
    home_reopen(&at, 0);
    must(vidi_sync(at.set));
    test_folder_copy(at.path, at.copy); /* the backup */
    add_batch(at.set, SNAPSHOT + LOGGED / 2, LOGGED / 2);
    home_reopen(&at, 0);
    vidi_close(at.set);
    at.set = NULL;
    move_file(at.copy, at.path, log, false);
    move_file(at.copy, at.path, "manifest", false);
    vidi_set *set = must_open(at.path, VIDI_READ_ONLY);
    all_are(set, 0, SNAPSHOT + LOGGED / 2, VIDI_SEEN);
    all_are(set, SNAPSHOT + LOGGED / 2, LOGGED / 2, VIDI_NEW);
    vidi_close(set);
    names stale = index_files(at.path);
    test_folder_remove(at.copy);
    test_folder_copy(at.path, at.copy);
    home_reopen(&at, 0);
    add_batch(at.set, 5 * ALL, LOGGED);
    must(vidi_sync(at.set));
    for (int round = 0; round < 2; round++) { /* while the writer is there, and with the stale files put back */
        set = must_open(at.path, VIDI_READ_ONLY);
        all_are(set, 0, SNAPSHOT + LOGGED / 2, VIDI_SEEN);
        all_are(set, SNAPSHOT + LOGGED / 2, LOGGED / 2, VIDI_NEW);
        all_are(set, 5 * ALL, LOGGED, VIDI_SEEN);
        vidi_close(set);
        vidi_close(at.set);
        at.set = NULL;
        for (size_t i = 0; i < stale.count; i++)
            move_file(at.copy, at.path, stale.list[i], true);
    }
    home_end(&at);
}

/* What a crash leaves of a segment that was being written, and of segments that were being merged, is removed. */
static void leftovers_are_removed(void **state)
{
    (void)state;
    home at;
    build(&at, NULL, 0);
    names all = index_files(at.path);
    contents first = read_file(at.path, all.list[0]);
    test_file_write(at.path, "index.0000000000000002.000000ee.new", first.bytes, 1000);
    test_file_write(at.path, "index.0000000000000002.000000ff", first.bytes, first.len);
    test_file_write(at.path, "index.0000000000000001.00000003", first.bytes, first.len);
    free(first.bytes);
    answers_like_the_log(at.path);
    home_reopen(&at, 0);
    add_batch(at.set, ALL, 2000);
    home_reopen(&at, VIDI_READ_ONLY);
    names after = index_files(at.path);
    assert_int_equal(after.count, segments_of(at.set));
    all_are(at.set, 0, ALL + 2000, VIDI_SEEN);
    home_end(&at);
}

/* An index that cannot be written costs nothing else. */
static void a_set_goes_on_without_an_index(void **state)
{
    (void)state;
    home at;
    char path[TEST_PATH];
    home_make(&at, "fingerprint", NULL, 0);
    test_path(path, at.path, "index.0000000000000001.00000000.new");
    assert_int_equal(mkdir(path, 0700), 0); /* where the first segment is to be written */
    add_batch(at.set, 0, ALL);
    must(vidi_sync(at.set));
    home_reopen(&at, VIDI_READ_ONLY);
    assert_int_equal(segments_of(at.set), 0);
    all_are(at.set, 0, ALL, VIDI_SEEN);
    home_end(&at);
}

int main(int argc, char **argv)
{
    vidi__index_chunk = CHUNK;
    take_guard();
    for (size_t i = 0; i < VIDI__COUNT(ways); i++) {
        char name[80];
        snprintf(name, sizeof name, "a reader answers from the index%s", i ? ": with notes" : "");
        test_add(name, a_reader_answers_from_the_index, &ways[i]);
        snprintf(name, sizeof name, "a writer goes on with the index%s", i ? ": with notes" : "");
        test_add(name, a_writer_goes_on_with_the_index, &ways[i]);
    }
    test_add("a stretch does not cut a bundle", a_stretch_does_not_cut_a_bundle, NULL);
    test_add("a merge takes the index along", a_merge_takes_the_index_along, NULL);
    test_add("a merge on disk takes the index along", a_merge_on_disk_takes_the_index_along, NULL);
    test_add("a snapshot removes the index", a_snapshot_removes_the_index, NULL);
    test_add("removals are right", removals_are_right, NULL);
    test_add("a multiset has no index", a_multiset_has_no_index, NULL);
    test_add("without mapping there is no index", without_mapping_there_is_no_index, NULL);
    test_add("damage costs no answer", damage_costs_no_answer, NULL);
    test_add("files that are not there cost no answer", files_that_are_not_there_cost_no_answer, NULL);
    test_add("a file that shrinks costs no answer", a_file_that_shrinks_costs_no_answer, NULL);
    test_add("damage of the log is told", damage_of_the_log_is_told, NULL);
    test_add("an index of another generation is ignored", an_index_of_another_generation_is_ignored, NULL);
    test_add("a segment of another version is refused", a_segment_of_another_version_is_refused, NULL);
    test_add("an index ahead of its log is ignored", an_index_ahead_of_its_log_is_ignored, NULL);
    test_add("leftovers are removed", leftovers_are_removed, NULL);
    test_add("a set goes on without an index", a_set_goes_on_without_an_index, NULL);
    return test_run("log index", argc, argv);
}
