/*
 * Copies, and sets in pieces, while other threads add: what was there when the call began is in the copy, and the copy
 * is whole.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "support/access.h"
#include "support/runner.h"
#include "support/same.h"
#include "support/streams.h"
#include "support/urls.h"

enum { SEED = 12, FIRST = 500, THREADS = 3, EACH = 1500, LEAST = 4096 };

typedef struct adding {
    vidi_set *set;
    uint64_t from;
} adding;

static void *add_urls(void *context)
{
    const adding *self = context;
    char room[TEST_URL_ROOM];
    for (uint64_t i = self->from; i < self->from + EACH; i++)
        if (vidi_add(self->set, (vidi_str){room, test_url(room, sizeof room, SEED, i)}) < 0)
            return (void *)self;
    return NULL;
}

static void must_hold(const vidi_set *copy)
{
    char room[TEST_URL_ROOM];
    for (uint64_t i = 0; i < FIRST; i++)
        assert_int_equal(vidi_has(copy, (vidi_str){room, test_url(room, sizeof room, SEED, i)}), VIDI_SEEN);
}

static void copy_and_check(const vidi_set *set)
{
    vidi_set *copy = NULL;
    assert_int_equal(vidi_copy(&copy, set, NULL), VIDI_OK);
    must_hold(copy);
    vidi_stats stats = test_stat(copy);
    assert_true(stats.count >= FIRST * 9 / 10 && stats.count <= FIRST + THREADS * EACH);
    vidi_close(copy);
}

static void move_and_check(const vidi_set *set)
{
    vidi_set *copy = NULL;
    test_stream piece = {0};
    uint64_t cursor = 0;
    do {
        piece.size = 0;
        assert_int_equal(vidi_piece_write(set, &cursor, LEAST, test_stream_sink, &piece), VIDI_OK);
        assert_true(test_piece_read(&copy, piece.data, piece.size, NULL) >= 0);
    } while (cursor);
    must_hold(copy);
    test_stream_free(&piece);
    vidi_close(copy);
}

static void adds_go_on_beside_copies(void **state)
{
    vidi_set *set = test_case_set(*state, FIRST, SEED, NULL);
    pthread_t threads[THREADS];
    adding parts[THREADS];
    test_add_urls(set, SEED, 0, FIRST);
    for (size_t i = 0; i < THREADS; i++) {
        parts[i] = (adding){set, FIRST + i * EACH};
        assert_int_equal(pthread_create(&threads[i], NULL, add_urls, &parts[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        copy_and_check(set);
        move_and_check(set);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    copy_and_check(set);
    vidi_close(set);
}

static bool is_plain(const test_case *which)
{
    return !which->params && which->error == 0 && test_case_few(which, FIRST * 100) == FIRST * 100;
}

int main(int argc, char **argv)
{
    test_add_cases("adds go on beside copies", adds_go_on_beside_copies, is_plain);
    return test_run("copies and threads", argc, argv);
}
