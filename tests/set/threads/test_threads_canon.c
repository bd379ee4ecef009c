/* Threads that spell URLs differently: of all spellings of a page, in all threads, exactly one is NEW. */
#include <pthread.h>

#include "set/canon_cases.h"

enum { THREADS = 4, PAGES = 3000 };

/* Each thread has a spelling of its own. */
static const shape spellings[THREADS] = {
    {"http://h", ".example/a/p", ""},
    {"HTTP://H", ".EXAMPLE:80/./a/p", "#top"},
    {" http://h", ".example/b/../a/p", "\n"},
    {"http:\\\\h", ".example\\a\\p", ""},
};

typedef struct member {
    vidi_set *set;
    const shape *spelling;
    uint64_t fresh, failed;
    pthread_t thread;
} member;

static void *add_all(void *context)
{
    member *self = context;
    static _Thread_local uint8_t verdicts[PAGES];
    vidi_str *urls = malloc(PAGES * sizeof *urls);
    self->failed = !urls;
    for (unsigned i = 0; urls && i < PAGES; i++) {
        char *text = shaped(self->spelling, i % 7, i);
        urls[i] = (vidi_str){text, strlen(text)};
    }
    if (urls) {
        self->failed += vidi_add_batch(self->set, urls, PAGES, verdicts, NULL) != VIDI_OK;
    }
    for (unsigned i = 0; urls && i < PAGES; i++) {
        self->fresh += verdicts[i] == VIDI_NEW;
        self->failed += vidi_has(self->set, urls[i]) != VIDI_SEEN;
        free((char *)urls[i].ptr);
    }
    free(urls);
    return NULL;
}

static void one_spelling_of_a_page_is_new(void **state)
{
    static const char *const kinds[] = {"fingerprint", "blocked", "hashset", "multilayer"};
    static const char *const forms[] = {NULL, "crawl"};
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        vidi_set *set = canon_set(kinds[i / 2], forms[i % 2], VIDI_KEEP_INVALID);
        member members[THREADS];
        uint64_t fresh = 0;
        for (size_t j = 0; j < THREADS; j++) {
            members[j] = (member){.set = set, .spelling = &spellings[j]};
            assert_int_equal(pthread_create(&members[j].thread, NULL, add_all, &members[j]), 0);
        }
        for (size_t j = 0; j < THREADS; j++) {
            pthread_join(members[j].thread, NULL);
            assert_int_equal(members[j].failed, 0);
            fresh += members[j].fresh;
        }
        vidi_stats stats = test_stat(set);
        assert_int_equal(stats.answered_new, fresh);
        assert_int_equal(stats.answered_new + stats.answered_seen, THREADS * PAGES);
        assert_int_equal(stats.answered_invalid, 0);
        check(fresh <= PAGES && fresh >= PAGES - 3, "%llu new", (unsigned long long)fresh); /* some may be lost */
        vidi_close(set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_spelling_of_a_page_is_new)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
