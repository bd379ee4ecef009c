/*
 * Sets in pieces: they arrive whole, whatever the size of the pieces and whatever is added meanwhile, and nothing that is
 * wrong gets in.
 */
#include <stdlib.h>
#include <string.h>

#include "support/access.h"
#include "support/alloc.h"
#include "support/env.h"
#include "support/folder.h"
#include "support/random.h"
#include "support/runner.h"
#include "support/same.h"
#include "support/streams.h"
#include "support/urls.h"

#include "base/bits.h"

enum { SEED = 8, LEAST = 4096, PIECES_MAX = 4000 };

/* All pieces of a set, as they were written. */
typedef struct pieces {
    test_stream piece[PIECES_MAX];
    size_t count;
} pieces;

static pieces *new_pieces(void)
{
    pieces *made = calloc(1, sizeof *made);
    assert_non_null(made);
    return made;
}

static void free_pieces(pieces *all)
{
    for (size_t i = 0; i < all->count; i++)
        test_stream_free(&all->piece[i]);
    free(all);
}

static void write_next(pieces *all, const vidi_set *set, uint64_t *cursor, size_t most)
{
    assert_true(all->count < PIECES_MAX);
    test_stream *piece = &all->piece[all->count++];
    int result = vidi_piece_write(set, cursor, most, test_stream_sink, piece);
    check(result == VIDI_OK, "piece %zu of %zu: %d, %s", all->count, most, result, vidi_message());
    assert_true(piece->size <= most && piece->largest <= 65536);
    assert_true(*cursor < UINT64_C(1) << 53);
}

static pieces *write_all(const vidi_set *set, size_t most)
{
    pieces *all = new_pieces();
    uint64_t cursor = 0;
    do
        write_next(all, set, &cursor, most);
    while (cursor);
    return all;
}

/* In a block of exactly its size, at an odd address, so that the sanitizer finds every access outside of it. */
static int read_piece(vidi_set **set, const test_stream *piece, const vidi_access *access)
{
    unsigned char *bytes = malloc(piece->size + 1);
    assert_non_null(bytes);
    memcpy(bytes + 1, piece->data, piece->size);
    int result = test_piece_read(set, bytes + 1, piece->size, access);
    free(bytes);
    return result;
}

static void read_good(vidi_set **set, const pieces *all, size_t i)
{
    int result = read_piece(set, &all->piece[i], NULL);
    check(result == (i + 1 < all->count), "piece %zu of %zu: %d, %s", i, all->count, result,
          result < 0 ? vidi_message() : "");
}

static vidi_set *read_all(const pieces *all)
{
    vidi_set *set = NULL;
    for (size_t i = 0; i < all->count; i++)
        read_good(&set, all, i);
    return set;
}

static vidi_set *make_set(const test_case *which, uint64_t n, const char *path)
{
    test_options made;
    vidi_set *set = NULL;
    test_case_options(&made, which, n, SEED);
    made.options.flags = VIDI_KEEP_PREVIOUS;
    made.options.path = path;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    if (test_case_rotates(which)) {
        test_add_urls(set, SEED, 0, 30);
        assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    }
    test_add_urls(set, SEED, 0, n);
    test_add_urls(set, SEED, 0, n / 4); /* seen, or, in a multiset, there twice */
    return set;
}

static void same_previous(const vidi_set *a, const vidi_set *b)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < 60; i++) {
        vidi_str url = {room, test_url(room, sizeof room, SEED, i)};
        assert_int_equal(vidi_has_previous(a, url), vidi_has_previous(b, url));
    }
}

/* A set that is half there can be written, and what was written can be read. */
static void must_be_sound(const vidi_set *set)
{
    test_stream stream;
    vidi_set *copy = NULL;
    test_stream_write(&stream, set);
    int result = test_stream_read(&stream, &copy, 0, NULL);
    check(result == VIDI_OK, "what was written cannot be read: %s", vidi_message());
    double fp = test_stat(set).fp_now, again = test_stat(copy).fp_now; /* computed from what is there */
    check(fp <= again * (1 + 1e-9) && again <= fp * (1 + 1e-9), "%g and %g", fp, again);
    test_stream_free(&stream);
    vidi_close(copy);
}

static uint64_t urls_of(const test_case *which, uint64_t n)
{
    return test_case_few(which, test_sanitized() ? n / 4 : n);
}

static void a_set_arrives_in_pieces_of_any_size(void **state)
{
    static const size_t sizes[] = {LEAST, 5000, 70001, 1 << 22};
    uint64_t n = urls_of(*state, 1000);
    vidi_set *set = make_set(*state, n, NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        pieces *all = write_all(set, sizes[i]);
        vidi_set *copy = NULL;
        for (size_t j = 0; j < all->count; j++) {
            read_good(&copy, all, j);
            if (i == 0 && j % 5 == 0)
                must_be_sound(copy);
        }
        test_same_contents(set, copy);
        if (i == 0) { /* the answers below are counted */
            test_same_numbers(set, copy);
            test_same_answers(set, copy, SEED, 0, 2 * n);
            same_previous(set, copy);
        }
        vidi_close(copy);
        free_pieces(all);
    }
    vidi_close(set);
}

/* The first piece makes an empty set; with each further one there is more in it, and nothing gets lost again. */
static void the_set_can_be_used_after_each_piece(void **state)
{
    uint64_t n = urls_of(*state, 1000);
    vidi_set *set = make_set(*state, n, NULL), *copy = NULL;
    pieces *all = write_all(set, LEAST);
    for (size_t i = 0; i < all->count; i++) {
        read_good(&copy, all, i);
        if (i == 0) {
            assert_int_equal(test_stat(copy).count, 0);
            test_add_urls(copy, SEED, 200000, n / 2); /* it may grow by itself, too */
        }
        test_add_urls(copy, SEED, 100000 + 3 * i, 3);
        test_holds_all(copy, copy, SEED, 100000, 3 * i + 3);
    }
    char room[TEST_URL_ROOM];
    for (size_t i = 0; i < 3 * all->count; i++)
        assert_int_equal(vidi_has(copy, (vidi_str){room, test_url(room, sizeof room, SEED, 100000 + i)}), VIDI_SEEN);
    test_holds_all(copy, set, SEED, 0, n);
    must_be_sound(copy);
    free_pieces(all);
    vidi_close(copy);
    vidi_close(set);
}

/* Four times as many URLs come while the pieces are written, so that what can grow does. */
static void adds_in_between_lose_nothing(void **state)
{
    uint64_t n = urls_of(*state, 1000), added = 0, cursor = 0;
    test_random random = {9};
    vidi_set *set = make_set(*state, n, NULL), *copy = NULL;
    vidi_stats before = test_stat(set);
    pieces *all = new_pieces();
    do {
        write_next(all, set, &cursor, LEAST + test_below(&random, 3000));
        uint64_t more = added < 4 * n ? n / 2 : 0;
        test_add_urls(set, SEED, n + added, more);
        added += more;
    } while (cursor);
    vidi_stats after = test_stat(set);
    copy = read_all(all);
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(vidi_has(copy, (vidi_str){room, test_url(room, sizeof room, SEED, i)}), VIDI_SEEN);
    vidi_stats got = test_stat(copy);
    check(got.fp_now >= before.fp_now * 0.999999 && got.fp_now <= after.fp_now * 1.000001, "%g is not within %g and %g",
          got.fp_now, before.fp_now, after.fp_now);
    assert_true(got.expected_lost >= before.expected_lost && got.expected_lost <= after.expected_lost);
    assert_true(got.answered_new >= before.answered_new && got.answered_new <= after.answered_new);
    assert_true(got.count >= before.count && got.count <= after.count);
    must_be_sound(copy);
    free_pieces(all);
    vidi_close(copy);
    vidi_close(set);
}

static void removal_or_rotation_in_between_is_refused(void **state)
{
    const test_case *which = *state;
    char room[TEST_URL_ROOM];
    vidi_set *set = make_set(which, 200, NULL);
    for (int way = 0; way < 3; way++) {
        test_stream piece = {0};
        uint64_t cursor = 0, kept;
        assert_int_equal(vidi_piece_write(set, &cursor, LEAST, test_stream_sink, &piece), VIDI_OK);
        kept = cursor;
        bool changed = way == 0   ? test_case_rotates(which) && vidi_rotate(set, NULL) == VIDI_OK
                       : way == 1 ? vidi_remove(set, (vidi_str){room, test_url(room, sizeof room, SEED, 1)}) == VIDI_OK
                                  : test_case_rotates(which) && vidi_drop_previous(set) == VIDI_OK;
        int result = vidi_piece_write(set, &cursor, LEAST, test_stream_sink, &piece);
        check(result == (changed ? VIDI_ECANNOT : VIDI_OK), "way %d: %d", way, result);
        assert_true(!changed || cursor == kept);
        vidi_set *copy = NULL;
        pieces *all = write_all(set, LEAST); /* begun again */
        copy = read_all(all);
        test_same_contents(set, copy);
        vidi_close(copy);
        free_pieces(all);
        test_stream_free(&piece);
        if (way == 0)
            test_add_urls(set, SEED, 0, 20);
    }
    vidi_close(set);
}

/* A cursor has too few bits to tell this many removals from none; the piece has them all. */
static void the_reader_notices_128_removals(void **state)
{
    static const test_case which = {"fingerprint", NULL, 0, 0, 0};
    char room[TEST_URL_ROOM];
    vidi_set *set = make_set(&which, 200, NULL), *copy = NULL;
    uint64_t cursor = 0;
    pieces *all = new_pieces();
    (void)state;
    write_next(all, set, &cursor, LEAST);
    for (uint64_t i = 0; i < 128; i++)
        assert_int_equal(vidi_remove(set, (vidi_str){room, test_url(room, sizeof room, SEED, i)}), VIDI_OK);
    write_next(all, set, &cursor, LEAST);
    assert_int_equal(read_piece(&copy, &all->piece[0], NULL), 1);
    assert_int_equal(read_piece(&copy, &all->piece[1], NULL), VIDI_EFORMAT);
    free_pieces(all);
    vidi_close(copy);
    vidi_close(set);
}

/* The bytes of a set, apart from what is random in them. */
static void write_payload(test_stream *stream, const vidi_set *set)
{
    enum { HEAD = 64, FOOT = 32, BLOCK = 65536 };
    test_stream_write(stream, set);
    size_t blocks = (stream->size - FOOT + BLOCK + 7) / (BLOCK + 8), payload = stream->size - FOOT - 8 * blocks - HEAD;
    memmove(stream->data, stream->data + HEAD, payload);
    stream->size = payload;
}

static void must_be_refused(vidi_set *set, const test_stream *piece, const test_stream *before, const char *why)
{
    test_stream after;
    vidi_set *same = set;
    int result = read_piece(&same, piece, NULL);
    check(result == VIDI_EFORMAT, "%s: %d, %s", why, result, result < 0 ? vidi_message() : "accepted");
    assert_ptr_equal(same, set);
    if (set && before) {
        write_payload(&after, set);
        assert_int_equal(after.size, before->size);
        assert_memory_equal(after.data, before->data, before->size);
        test_stream_free(&after);
    }
}

static void wrong_pieces_are_refused_and_change_nothing(void **state)
{
    uint64_t n = urls_of(*state, 600);
    vidi_set *set = make_set(*state, n, NULL), *other = make_set(*state, n, NULL), *copy = NULL;
    pieces *all = write_all(set, LEAST), *foreign = write_all(other, LEAST);
    test_stream whole, before;
    test_stream_write(&whole, set);
    for (size_t i = 1; i < all->count; i++)
        must_be_refused(NULL, &all->piece[i], NULL, "without a beginning");
    for (size_t i = 0; i < all->count; i++) {
        read_good(&copy, all, i);
        write_payload(&before, copy);
        must_be_refused(copy, &all->piece[i], &before, "repeated");
        must_be_refused(copy, &all->piece[0], &before, "the first again");
        must_be_refused(copy, &whole, &before, "a whole set");
        for (size_t j = i + 1; j < i + 4 && j < all->count; j++) {
            if (j > i + 1)
                must_be_refused(copy, &all->piece[j], &before, "some left out");
            if (j < foreign->count)
                must_be_refused(copy, &foreign->piece[j], &before, "of another set");
        }
        test_stream_free(&before);
    }
    test_same_contents(set, copy);
    vidi_close(other);
    assert_int_equal(test_stream_read(&all->piece[0], &other, 0, NULL), VIDI_EFORMAT); /* the others are missing */
    test_stream_free(&whole);
    free_pieces(all);
    free_pieces(foreign);
    vidi_close(copy);
    vidi_close(set);
}

static void no_damage_gets_through(void **state)
{
    vidi_set *set = make_set(*state, 20, NULL), *copy = NULL;
    pieces *all = write_all(set, LEAST);
    size_t stride = test_case_stride(*state);
    for (size_t i = 0; i < all->count; i++) {
        test_stream *piece = &all->piece[i], before = {0};
        size_t whole = piece->size;
        if (copy)
            write_payload(&before, copy);
        for (size_t at = 0; at < whole; at += stride * (test_long() ? 1 : 3)) {
            piece->data[at] ^= (unsigned char)(1 << at % 8);
            must_be_refused(copy, piece, NULL, "a bit flipped");
            piece->data[at] ^= (unsigned char)(1 << at % 8);
            piece->size = at;
            must_be_refused(copy, piece, NULL, "cut off");
            piece->size = whole;
        }
        must_be_refused(copy, &(test_stream){.data = (unsigned char *)"vidi", .size = 4}, copy ? &before : NULL,
                        "short");
        test_stream_free(&before);
        read_good(&copy, all, i);
    }
    test_same_numbers(set, copy);
    free_pieces(all);
    vidi_close(copy);
    vidi_close(set);
}

static void a_failing_sink_is_an_error(void **state)
{
    vidi_set *set = make_set(*state, 600, NULL);
    uint64_t cursor = 0;
    do {
        uint64_t before = cursor;
        test_stream broken = {.fail_at = 1}, good = {0};
        assert_int_equal(vidi_piece_write(set, &cursor, LEAST, test_stream_sink, &broken), VIDI_EIO);
        assert_int_equal(cursor, before);
        assert_int_equal(vidi_piece_write(set, &cursor, LEAST, test_stream_sink, &good), VIDI_OK);
        test_stream_free(&broken);
        test_stream_free(&good);
    } while (cursor);
    vidi_close(set);
}

/* Reads a piece while one allocation after the other is refused. Returns how many there were. */
static uint64_t read_scarcely(vidi_set **set, const test_stream *piece, test_allocator *allocator)
{
    vidi_access access = VIDI_ACCESS_INIT;
    access.allocator = &allocator->hook;
    for (uint64_t n = 1;; n++) {
        test_allocator_fail(allocator, n, false);
        int result = read_piece(set, piece, &access);
        if (result >= 0) {
            test_allocator_fail(allocator, 0, false);
            return n;
        }
        check(result == VIDI_EMEMORY, "%d, %s", result, vidi_message());
    }
}

static void a_refused_allocation_is_made_good_by_trying_again(void **state)
{
    uint64_t n = urls_of(*state, 400), cursor = 0;
    test_allocator from, to;
    test_options made;
    vidi_set *set = NULL, *copy = NULL;
    test_allocator_init(&from);
    test_allocator_init(&to);
    test_case_options(&made, *state, n, SEED);
    made.access.allocator = &from.hook;
    assert_int_equal(vidi_create(&set, &made.options), VIDI_OK);
    test_add_urls(set, SEED, 0, n);
    test_add_urls(set, SEED, 0, n / 4);
    do {
        test_stream piece = {0};
        test_allocator_fail(&from, 1, false);
        assert_int_equal(vidi_piece_write(set, &cursor, 1 << 16, test_stream_sink, &piece), VIDI_EMEMORY);
        test_allocator_fail(&from, 0, false);
        piece.size = 0;
        assert_int_equal(vidi_piece_write(set, &cursor, 1 << 16, test_stream_sink, &piece), VIDI_OK);
        read_scarcely(&copy, &piece, &to);
        test_stream_free(&piece);
    } while (cursor);
    test_same_numbers(set, copy);
    test_same_contents(set, copy);
    test_same_answers(set, copy, SEED, 0, 2 * n);
    vidi_close(copy);
    vidi_close(set);
    test_allocator_finish(&from);
    test_allocator_finish(&to);
}

/* A cursor is a number that somebody sends: none may do harm. */
static void any_cursor_is_answered(void **state)
{
    vidi_set *set = make_set(*state, 300, NULL);
    test_random random = {10};
    uint64_t good = 0;
    test_stream piece = {0};
    assert_int_equal(vidi_piece_write(set, &good, LEAST, test_stream_sink, &piece), VIDI_OK);
    for (int i = 0; i < 2000; i++) {
        uint64_t bits = test_next(&random) >> test_below(&random, 64), high = good >> 46 << 46;
        uint64_t cursor = i % 4 == 0 ? bits : i % 4 == 1 ? good + bits : (high | (bits & ((UINT64_C(1) << 46) - 1)));
        piece.size = 0;
        int result = vidi_piece_write(set, &cursor, LEAST, test_stream_sink, &piece);
        check(result == VIDI_OK || result == VIDI_ECANNOT || result == VIDI_EARGUMENT, "%d, %s", result,
              vidi_message());
    }
    test_stream_free(&piece);
    vidi_close(set);
}

static void a_long_url_needs_a_large_piece(void **state)
{
    static char url[20000];
    static const char *const kinds[] = {"hashset", "sorted", "list"};
    (void)state;
    memset(url, 'x', sizeof url);
    memcpy(url, "http://h/", 9);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        test_case which = {kinds[i], NULL, 0, 0, 0};
        vidi_set *set = test_case_set(&which, 10, SEED, NULL), *copy = NULL;
        uint64_t cursor = 0;
        pieces *all = new_pieces();
        test_stream none = {0};
        assert_int_equal(vidi_add(set, test_str("http://short/")), VIDI_NEW);
        assert_int_equal(vidi_add(set, (vidi_str){url, sizeof url}), VIDI_NEW);
        write_next(all, set, &cursor, LEAST);
        write_next(all, set, &cursor, LEAST);
        assert_int_equal(vidi_piece_write(set, &cursor, LEAST, test_stream_sink, &none), VIDI_ELIMIT);
        assert_int_equal(none.size, 0);
        while (cursor)
            write_next(all, set, &cursor, sizeof url + LEAST);
        copy = read_all(all);
        test_same_contents(set, copy);
        free_pieces(all);
        vidi_close(copy);
        vidi_close(set);
    }
}

/* Records of past epochs take several pieces; so does a canonical form with a long list need a large one. */
static void a_long_history_travels(void **state)
{
    vidi_set *set = NULL, *copy = NULL;
    (void)state;
    assert_int_equal(vidi_create(&set, NULL), VIDI_OK);
    for (int i = 0; i < 200; i++)
        assert_int_equal(vidi_rotate(set, NULL), VIDI_OK);
    test_add_urls(set, SEED, 0, 10);
    pieces *all = write_all(set, LEAST);
    assert_true(all->count >= 2 + 200 * 64 / LEAST);
    copy = read_all(all);
    test_same_numbers(set, copy);
    free_pieces(all);
    vidi_close(copy);
    vidi_close(set);
}

static void a_long_list_of_parameters_needs_a_large_first_piece(void **state)
{
    char list[12001];
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set = NULL, *copy = NULL;
    uint64_t cursor = 0;
    test_stream piece = {0};
    (void)state;
    for (size_t i = 0; i < sizeof list - 1; i++)
        list[i] = (char)(i % 8 == 7 ? '\n' : 'a' + (i >> (i % 8 * 3)) % 8);
    list[sizeof list - 1] = 0;
    options.canon = "crawl";
    options.tracking = list;
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    assert_int_equal(vidi_piece_write(set, &cursor, LEAST, test_stream_sink, &piece), VIDI_ELIMIT);
    assert_int_equal(piece.size, 0);
    pieces *all = write_all(set, 1 << 16);
    copy = read_all(all);
    assert_string_equal(test_stat(set).canon, test_stat(copy).canon);
    free_pieces(all);
    vidi_close(copy);
    vidi_close(set);
}

static void folders_are_written_in_pieces_too(void **state)
{
    static const unsigned ways[] = {VIDI_READ_ONLY, VIDI_READ_ONLY | VIDI_NO_MAP, 0};
    char folder[TEST_PATH], path[TEST_PATH], room[TEST_URL_ROOM];
    test_folder_new(folder, false);
    test_path(path, folder, "set");
    vidi_set *set = make_set(*state, 150, path), *copy = NULL;
    assert_int_equal(vidi_snapshot(set), VIDI_OK);
    vidi_close(set);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_int_equal(test_open(&set, path, ways[i] | (i == 2 ? VIDI_MANUAL_COMMIT : 0)), VIDI_OK);
        test_stream probe = {0};
        uint64_t cursor = 0;
        int result = vidi_piece_write(set, &cursor, LEAST, test_stream_sink, &probe);
        test_stream_free(&probe);
        if (i == 0 && result == VIDI_ECANNOT) { /* the previous epoch's log is not in the file that is mapped */
            vidi_close(set);
            continue;
        }
        pieces *all = write_all(set, LEAST);
        copy = read_all(all);
        test_holds_all(copy, set, SEED, 0, 150);
        test_same_contents(set, copy);
        if (test_case_rotates(*state))
            same_previous(set, copy);
        vidi_close(copy);
        free_pieces(all);
        if (i == 2 && test_stat(set).can & VIDI_CAN_DELETE) { /* a removal counts when it is committed */
            vidi_str url = {room, test_url(room, sizeof room, SEED, 5)};
            cursor = 0;
            probe = (test_stream){0};
            assert_int_equal(vidi_piece_write(set, &cursor, LEAST, test_stream_sink, &probe), VIDI_OK);
            assert_int_equal(vidi_remove(set, url), VIDI_OK);
            assert_int_equal(vidi_commit(set), VIDI_OK);
            assert_int_equal(vidi_piece_write(set, &cursor, LEAST, test_stream_sink, &probe), VIDI_ECANNOT);
            test_stream_free(&probe);
        }
        vidi_close(set);
    }
    test_folder_remove(folder);
}

static void a_set_that_was_rotated_takes_no_more_pieces(void **state)
{
    static const test_case which = {"fingerprint", NULL, 0, 0, 0};
    vidi_set *set = make_set(&which, 100, NULL), *copy = NULL;
    pieces *all = write_all(set, LEAST);
    (void)state;
    read_good(&copy, all, 0);
    assert_int_equal(vidi_rotate(copy, NULL), VIDI_OK);
    assert_int_equal(read_piece(&copy, &all->piece[1], NULL), VIDI_ECANNOT);
    vidi_close(copy);
    vidi_close(set);
    free_pieces(all);
}

/* Writes the set and reads it again, as a server does that restarts. */
static void save_and_load(vidi_set **set)
{
    unsigned char state[VIDI_PIECE_STATE_BYTES];
    test_stream stream = {0};
    int awaits = vidi_piece_state(*set, state);
    assert_true(awaits == VIDI_OK || awaits == VIDI_EABSENT);
    assert_int_equal(vidi_write(*set, test_stream_sink, &stream, VIDI_WRITE_PREVIOUS), VIDI_OK);
    vidi_close(*set);
    *set = NULL;
    assert_int_equal(test_stream_read(&stream, set, 0, NULL), VIDI_OK);
    if (awaits == VIDI_OK)
        assert_int_equal(vidi_piece_resume(*set, state), VIDI_OK);
    test_stream_free(&stream);
}

static void a_set_that_was_saved_in_between_takes_the_next_piece(void **state)
{
    uint64_t n = urls_of(*state, 1000);
    vidi_set *set = make_set(*state, n, NULL), *copy = NULL;
    pieces *all = write_all(set, LEAST);
    for (size_t i = 0; i < all->count; i++) {
        read_good(&copy, all, i);
        save_and_load(&copy);
        assert_int_equal(read_piece(&copy, &all->piece[i], NULL), VIDI_EFORMAT);
    }
    test_same_contents(set, copy);
    test_same_numbers(set, copy);
    test_same_answers(set, copy, SEED, 0, 2 * n);
    same_previous(set, copy);
    free_pieces(all);
    vidi_close(copy);
    vidi_close(set);
}

static void only_a_whole_set_resumes_and_only_with_a_state_that_can_be(void **state)
{
    static const test_case which = {"fingerprint", NULL, 0, 0, 0};
    static const uint64_t positions[] = {0, 1, UINT64_MAX};
    vidi_set *set = make_set(&which, 100, NULL), *copy = NULL;
    pieces *all = write_all(set, LEAST);
    unsigned char awaits[VIDI_PIECE_STATE_BYTES], wrong[VIDI_PIECE_STATE_BYTES];
    (void)state;
    read_good(&copy, all, 0);
    assert_int_equal(vidi_piece_state(set, awaits), VIDI_EABSENT);
    assert_int_equal(vidi_piece_state(NULL, awaits), VIDI_EARGUMENT);
    assert_int_equal(vidi_piece_state(copy, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_piece_state(copy, awaits), VIDI_OK);
    assert_int_equal(vidi_piece_resume(copy, awaits), VIDI_ECANNOT);
    assert_int_equal(vidi_piece_resume(NULL, awaits), VIDI_EARGUMENT);
    assert_int_equal(vidi_piece_resume(set, NULL), VIDI_EARGUMENT);
    for (size_t i = 0; i < 3; i++) {
        memcpy(wrong, awaits, sizeof wrong);
        vidi__store64(wrong + 8, positions[i]); /* the next position */
        assert_int_equal(vidi_piece_resume(set, wrong), VIDI_EARGUMENT);
    }
    memcpy(wrong, awaits, sizeof wrong);
    vidi__store64(wrong + 16, 7); /* the epoch */
    assert_int_equal(vidi_piece_resume(set, wrong), VIDI_EARGUMENT);
    assert_int_equal(vidi_piece_state(set, awaits), VIDI_EABSENT);
    vidi_close(copy);
    vidi_close(set);
    free_pieces(all);
}

static void bad_arguments_are_refused(void **state)
{
    vidi_set *set = NULL, *copy = NULL;
    uint64_t cursor = 0;
    test_stream piece = {0};
    vidi_access access = VIDI_ACCESS_INIT;
    (void)state;
    assert_int_equal(vidi_create(&set, NULL), VIDI_OK);
    assert_int_equal(vidi_piece_write(NULL, &cursor, LEAST, test_stream_sink, &piece), VIDI_EARGUMENT);
    assert_int_equal(vidi_piece_write(set, NULL, LEAST, test_stream_sink, &piece), VIDI_EARGUMENT);
    assert_int_equal(vidi_piece_write(set, &cursor, LEAST, NULL, &piece), VIDI_EARGUMENT);
    assert_int_equal(vidi_piece_write(set, &cursor, LEAST - 1, test_stream_sink, &piece), VIDI_EARGUMENT);
    assert_int_equal(test_piece_read(NULL, "", 0, NULL), VIDI_EARGUMENT);
    assert_int_equal(test_piece_read(&copy, NULL, 1, NULL), VIDI_EARGUMENT);
    assert_int_equal(test_piece_read(&copy, NULL, 0, NULL), VIDI_EFORMAT);
    assert_int_equal(vidi_piece_write(set, &cursor, LEAST, test_stream_sink, &piece), VIDI_OK);
    access.flags = VIDI_READ_ONLY;
    assert_int_equal(read_piece(&copy, &piece, &access), VIDI_EOPTION);
    assert_null(copy);
    test_stream_free(&piece);
    vidi_close(set);
}

static bool is_plain(const test_case *which)
{
    return !which->params && which->error == 0;
}

int main(int argc, char **argv)
{
    test_add_cases("a set arrives in pieces of any size", a_set_arrives_in_pieces_of_any_size, NULL);
    test_add_cases("the set can be used after each piece", the_set_can_be_used_after_each_piece, NULL);
    test_add_cases("adds in between lose nothing", adds_in_between_lose_nothing, NULL);
    test_add_cases("removal or rotation in between is refused", removal_or_rotation_in_between_is_refused, NULL);
    test_add("the reader notices 128 removals", the_reader_notices_128_removals, NULL);
    test_add_cases("wrong pieces are refused and change nothing", wrong_pieces_are_refused_and_change_nothing,
                   is_plain);
    test_add_cases("no damage gets through", no_damage_gets_through, is_plain);
    test_add_cases("a failing sink is an error", a_failing_sink_is_an_error, is_plain);
    test_add_cases("a refused allocation is made good by trying again",
                   a_refused_allocation_is_made_good_by_trying_again, NULL);
    test_add_cases("any cursor is answered", any_cursor_is_answered, is_plain);
    test_add("a long URL needs a large piece", a_long_url_needs_a_large_piece, NULL);
    test_add("a long history travels", a_long_history_travels, NULL);
    test_add("a long list of parameters needs a large first piece", a_long_list_of_parameters_needs_a_large_first_piece,
             NULL);
    test_add_cases("folders are written in pieces too", folders_are_written_in_pieces_too, is_plain);
    test_add("a set that was rotated takes no more pieces", a_set_that_was_rotated_takes_no_more_pieces, NULL);
    test_add_cases("a set that was saved in between takes the next piece",
                   a_set_that_was_saved_in_between_takes_the_next_piece, NULL);
    test_add("only a whole set resumes, and only with a state that can be",
             only_a_whole_set_resumes_and_only_with_a_state_that_can_be, NULL);
    test_add("bad arguments are refused", bad_arguments_are_refused, NULL);
    return test_run("pieces", argc, argv);
}
