/*
 * Directories of the kind fingerprint: tables that split, come back from streams, and are refused memory on the way.
 */
#include "filters/fingerprint/fingerprint_cases.h"
#include "support/streams.h"

/* ---- streams ---- */

static void streams_bring_back_what_removals_left(void **state)
{
    char room[TEST_URL_ROOM];
    for (uint64_t seed = 0; seed < 40; seed++) {
        enum { N = 1600 }; /* where tables are small, and lines overflow most */
        test_stream stream;
        vidi_set *set = set_of(*state, 0, seed, NULL), *copy;
        add_urls(set, test_url, seed, 0, N + 20 * seed);
        for (uint64_t i = 0; i < N - 10; i++)
            assert_int_equal(vidi_remove(set, url_at(room, seed, i)), VIDI_OK);
        test_stream_write(&stream, set);
        int code = test_stream_read(&stream, &copy, seed % 2 ? stream.size : 0, NULL);
        check(code == VIDI_OK, "seed %d: %s", (int)seed, vidi_message());
        assert_int_equal(seen_urls(copy, seed, N - 10, 10 + 20 * seed), 10 + 20 * seed);
        assert_int_equal(seen_urls(copy, seed, 0, N - 10), 0);
        assert_int_equal(test_stat(copy).count, 10 + 20 * seed);
        assert_int_equal(add_urls(copy, test_url, seed, 0, N - 10), N - 10);
        test_stream_free(&stream);
        vidi_close(set);
        vidi_close(copy);
    }
}

/* A filter of one hash a partition, or of many in deep directories; its stream. */
static stream filter_stream(fixture *f, const char *params, uint64_t capacity, uint64_t n)
{
    vidi__filter *filter;
    stream s = stream_new();
    assert_int_equal(create_with(f, &filter, &vidi__kind_fingerprint, params, capacity, NULL), VIDI_OK);
    for (uint64_t i = 0; i < n; i++) {
        vidi__item what = {.url = {.hash = {0, test_mix(i + 1)}}};
        assert_int_equal(filter->kind->add(filter, &what), VIDI_NEW);
    }
    stream_save(&s, filter);
    vidi__filter_destroy(filter);
    return s;
}

static int filter_from(fixture *f, stream *s, const char *params, bool known)
{
    vidi__filter *filter = NULL;
    s->at = s->reader.at = 0;
    s->reader.left = known ? s->size : UINT64_MAX;
    int code = create_with(f, &filter, &vidi__kind_fingerprint, params, 0, &s->reader);
    if (code == VIDI_OK)
        vidi__filter_destroy(filter);
    else
        assert_null(filter);
    assert_int_equal(vidi__memory_used(&f->memory), 0);
    return code;
}

static void forged_directories_are_refused(void **state)
{
    static const uint64_t lies[] = {19, 24, 25, 40, 48, 63, 64, 1000, UINT64_C(1) << 40, UINT64_MAX - 1};
    fixture f;
    (void)state;
    begin(&f);
    for (unsigned which = 0; which < 4; which++) {
        bool known = which % 2, divided = which / 2;
        stream s = filter_stream(&f, NULL, divided ? 70000 : 0, 100);
        unsigned char *fields =
            s.data + (divided ? 0 : 8); /* behind the number that says that there is one partition */
        assert_int_equal(filter_from(&f, &s, NULL, known), VIDI_OK);
        for (size_t i = 0; i < VIDI__COUNT(lies); i++) {
            for (unsigned field = 0; field < 2; field++) { /* of the directory; of its first table */
                uint64_t kept = vidi__load64(fields + 8 * field);
                assert_int_equal(kept, 0);
                vidi__store64(fields + 8 * field, lies[i]);
                int code = filter_from(&f, &s, NULL, known);
                check(code == VIDI_EFORMAT, "%llu in field %u: %d", (unsigned long long)lies[i], field, code);
                vidi__store64(fields + 8 * field, kept);
            }
        }
        if (divided) {
            vidi__store64(fields, UINT64_MAX); /* not open, after which the table's depth 0 opens the next one */
            assert_int_equal(filter_from(&f, &s, NULL, known), VIDI_EFORMAT);
            vidi__store64(fields, 0);
        }
        for (uint64_t whole = s.size, step = divided ? 9973 : 97; s.size; s.size = s.size > step ? s.size - step : 0)
            if (s.size < whole)
                assert_int_equal(filter_from(&f, &s, NULL, known), VIDI_EFORMAT);
        free(s.data);
    }
    end(&f);
}

/* Directories of several tables each, at a bits so small that they come early, survive a stream and refused memory. */
static void deep_directories_come_back(void **state)
{
    uint64_t n = test_sanitized() ? 30000 : 300000, capacity = 12000000, refusals = 0;
    fixture f;
    (void)state;
    begin(&f);
    stream s = filter_stream(&f, "bits=58", capacity, n);
    assert_true(vidi__load64(s.data) > 0); /* the depth of the first directory */
    for (unsigned known = 0; known < 2; known++)
        assert_int_equal(filter_from(&f, &s, "bits=58", known), VIDI_OK);
    vidi__store64(s.data + 8, vidi__load64(s.data + 8) - 1); /* its first table claims two entries */
    assert_int_equal(filter_from(&f, &s, "bits=58", true), VIDI_EFORMAT);
    vidi__store64(s.data + 8, vidi__load64(s.data + 8) + 1);
    for (uint64_t at = 1;; at += 1 + at / 3) {
        test_allocator_fail(&f.allocator, at, at % 2);
        int code = filter_from(&f, &s, "bits=58", true);
        test_allocator_fail(&f.allocator, 0, false);
        if (code == VIDI_OK)
            break;
        assert_int_equal(code, VIDI_EMEMORY);
        refusals++;
    }
    assert_true(refusals > 10);
    free(s.data);
    end(&f);
}

/* ---- splitting: all hashes in one partition, which soon has as many as it would in a set of millions ---- */

enum { SPLITTING = 400000, PARTITION = 5 };

static vidi__u128 *crowded_hashes(uint64_t seed)
{
    test_random random = {seed};
    vidi__u128 *hashes = malloc(SPLITTING * sizeof *hashes);
    assert_non_null(hashes);
    for (uint64_t i = 0; i < SPLITTING; i++) {
        unsigned deeper = seed && i % 3 ? 4 : 0; /* most of them in a sixteenth of it: tables of different depths */
        hashes[i] = (vidi__u128){0, (uint64_t)PARTITION << 58 | test_next(&random) >> (6 + deeper) >> 4 << 4};
    }
    return hashes;
}

static void check_hashes(const vidi__filter *filter, const vidi__u128 *hashes, uint64_t n, int wanted)
{
    uint64_t seen = seen_hashes(filter, hashes, n);
    check(seen == (wanted == VIDI_SEEN ? n : 0), "%d of %d were seen", (int)seen, (int)n);
}

static void check_lists(const vidi__filter *filter, const vidi__u128 *hashes, uint64_t n)
{
    listed mine = {.room = n, .numbers = UINT64_C(1) << BITS_DEFAULT};
    uint64_t *right = malloc((n + 1) * sizeof *right);
    mine.all = calloc(n + 1, sizeof *mine.all);
    assert_true(right && mine.all);
    for (uint64_t i = 0; i < n; i++)
        right[i] = hashes[i].hi >> 4;
    qsort(right, n, sizeof *right, by_first);
    assert_int_equal(filter->kind->iterate(filter, list_entry, &mine), 0);
    qsort(mine.all, mine.n, sizeof *mine.all, by_first);
    assert_int_equal(mine.n, n);
    for (uint64_t i = 0; i < n; i++)
        assert_true(mine.all[i][0] == right[i] && mine.all[i][1] == 1);
    free(right);
    free(mine.all);
}

static vidi__filter *plain_filter(fixture *f, stream *from)
{
    vidi__filter *filter;
    vidi__reader *reader = from ? &from->reader : NULL;
    assert_int_equal(create_with(f, &filter, &vidi__kind_fingerprint, NULL, 0, reader), VIDI_OK);
    return filter;
}

/* Adds them in four parts, and looks after each at all that are there and at those that are not yet. */
static void add_in_parts(vidi__filter *filter, const vidi__u128 *hashes, uint64_t n)
{
    uint64_t part = n / 4;
    for (uint64_t done = 0; done < n; done += part) {
        check_hashes(filter, hashes + done, part, VIDI_NEW);
        assert_int_equal(add_all_hashes(filter, hashes + done, part), part);
        check_hashes(filter, hashes, done + part, VIDI_SEEN);
    }
    check_lists(filter, hashes, n);
}

/* Through a stream, in which the partitions before it have one sub-table each, with a directory of some depth. */
static vidi__filter *copy_of(fixture *f, const vidi__filter *filter, uint64_t depth)
{
    stream s = stream_new();
    stream_save(&s, filter);
    uint64_t there = vidi__load64(s.data + (size_t)PARTITION * (8 + 48));
    assert_true(there >= depth && there < 18);
    s.reader.left = s.size;
    vidi__filter *copy = plain_filter(f, &s);
    assert_int_equal(vidi__filter_count(copy), vidi__filter_count(filter));
    free(s.data);
    return copy;
}

static void merge_into_another(fixture *f, const vidi__filter *filter, const vidi__u128 *hashes, uint64_t n)
{
    vidi__filter *other = plain_filter(f, NULL);
    assert_int_equal(add_all_hashes(other, hashes, 1000), 1000);
    assert_int_equal(other->kind->merge(other, filter), VIDI_OK);
    assert_int_equal(vidi__filter_count(other), n);
    check_hashes(other, hashes, n, VIDI_SEEN);
    vidi__filter_destroy(other);
}

/* Removes every second of them; the others are in front then. */
static void remove_half(vidi__filter *filter, vidi__u128 *hashes, uint64_t n)
{
    for (uint64_t i = 0; i < n; i += 2) {
        vidi__item what = {.url = {.hash = hashes[i]}};
        assert_int_equal(filter->kind->remove(filter, &what), VIDI_OK);
        hashes[i / 2] = hashes[i + 1];
    }
}

static void splitting_keeps_every_hash(void **state)
{
    uint64_t n = test_sanitized() ? SPLITTING / 2 : SPLITTING;
    (void)state;
    for (uint64_t seed = 0; seed < 2; seed++) {
        fixture f;
        begin(&f);
        vidi__u128 *hashes = crowded_hashes(seed);
        vidi__filter *filter = plain_filter(&f, NULL);
        add_in_parts(filter, hashes, n);
        assert_true(f.allocator.largest <= 2 << 20);
        vidi__filter *copy = copy_of(&f, filter, seed ? 2 : 1);
        check_lists(copy, hashes, n);
        merge_into_another(&f, copy, hashes, n);
        remove_half(copy, hashes, n);
        check_lists(copy, hashes, n / 2);
        vidi__filter_destroy(filter);
        vidi__filter_destroy(copy);
        free(hashes);
        end(&f);
    }
}

/* Each allocation of each growth and each split is refused once; the add fails, and nothing else has changed. */
static void a_refused_split_changes_nothing(void **state)
{
    enum { N = 180000, CHECKED = 300 };
    uint64_t refusals = 0, most = 0;
    fixture f;
    (void)state;
    begin(&f);
    vidi__u128 *hashes = crowded_hashes(1);
    vidi__filter *filter = plain_filter(&f, NULL);
    for (uint64_t i = 0; i < N; i++) {
        vidi__item what = {.url = {.hash = hashes[i]}};
        uint64_t at = 1, recent = i < CHECKED ? i : CHECKED;
        for (;; at++) {
            test_allocator_fail(&f.allocator, at, false);
            int code = filter->kind->add(filter, &what);
            test_allocator_fail(&f.allocator, 0, false);
            if (code == VIDI_NEW)
                break;
            assert_int_equal(code, VIDI_EMEMORY);
            assert_int_equal(vidi__filter_count(filter), i);
            check_hashes(filter, &hashes[i], 1, VIDI_NEW);
            check_hashes(filter, hashes + i - recent, recent, VIDI_SEEN);
        }
        refusals += at - 1;
        most = at > most ? at : most;
    }
    check_hashes(filter, hashes, N, VIDI_SEEN);
    check_lists(filter, hashes, N);
    check(refusals > 200 && most >= 8, "%d refusals, up to %d for one add", (int)refusals, (int)most);
    vidi__filter_destroy(filter);
    free(hashes);
    end(&f);
}

int main(int argc, char **argv)
{
    static const char *const certain[] = {"bits=60", "multiset=on", NULL};
    add_with("streams bring back what removals left", streams_bring_back_what_removals_left, certain);
    test_add("forged directories are refused", forged_directories_are_refused, NULL);
    test_add("deep directories come back", deep_directories_come_back, NULL);
    test_add("splitting keeps every hash", splitting_keeps_every_hash, NULL);
    test_add("a refused split changes nothing", a_refused_split_changes_nothing, NULL);
    return test_run("fingerprint splits", argc, argv);
}
