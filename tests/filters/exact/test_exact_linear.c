/*
 * No stream makes a hash set slow, whoever wrote it and whatever key it has.
 *
 * Whoever writes a stream chooses its key, and so can search for URLs whose hashes are as alike as patience allows.
 * Here they all fall into one slot of a table that took its slots from the hash alone, so that each would be compared
 * with all before it.
 *
 * Work is counted, not timed: this program has a copy of lib/filters/exact of its own, in which the compiler calls
 * __sanitizer_cov_trace_pc at every branch (tests/CMakeLists.txt).
 */
#include "filters/exact/exact_cases.h"

static uint64_t work;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    work++;
}

enum { SMALL = 250, LARGE = 8 * SMALL, ALIKE_BITS = 11 };

static const variant hashset = {&vidi__kind_hashset, NULL, false};

static char texts[LARGE + SMALL][32];
static vidi__item alike[LARGE + SMALL];

/* URLs whose hashes begin with the same bits. */
static void search(const fixture *f)
{
    uint64_t tried = 0;
    for (size_t i = 0; i < VIDI__COUNT(alike); i++) {
        vidi__item *at = &alike[i];
        do {
            int len = snprintf(texts[i], sizeof texts[i], "http://a.example/%llu", (unsigned long long)tried++);
            at->url.str = (vidi_str){texts[i], (size_t)len};
            at->url.hash = vidi__hash(f->hash, &f->key, at->url.str);
        } while (at->url.hash.lo >> (64 - ALIKE_BITS));
    }
}

/* Work per URL of loading so many of them. */
static double work_to_load(fixture *f, size_t urls, vidi__filter **filter)
{
    stream s = stream_new();
    assert_int_equal(vidi__write_u64(&s.writer, urls), VIDI_OK);
    for (size_t i = 0; i < urls; i++) {
        uint64_t words[] = {alike[i].url.hash.lo, alike[i].url.hash.hi, 1};
        assert_int_equal(vidi__write_words(&s.writer, words, VIDI__COUNT(words)), VIDI_OK);
        assert_int_equal(vidi__write_str(&s.writer, alike[i].url.str), VIDI_OK);
    }
    work = 0;
    assert_int_equal(stream_load(&s, f, &hashset, true, filter), VIDI_OK);
    free(s.data);
    return (double)work / (double)urls;
}

static double work_to_ask(const vidi__filter *filter, size_t from, size_t urls, int answer)
{
    work = 0;
    for (size_t i = from; i < from + urls; i++)
        assert_int_equal(filter->kind->has(filter, &alike[i]), answer);
    return (double)work / (double)urls;
}

/* Chance, and the growth of a table, make it up to twice as much; comparing with all URLs before it, 8 times. */
static void check_same(const char *what, double small, double large)
{
    check(small > 0, "nobody counts");
    check(large < 4 * small, "%s: %g steps a URL in a large stream, %g in a small one", what, large, small);
}

static void urls_whose_hashes_are_alike_load_and_answer_as_fast_as_others(void **state)
{
    (void)state;
    fixture f;
    vidi__filter *small, *large;
    begin(&f);
    search(&f);
    check_same("loading", work_to_load(&f, SMALL, &small), work_to_load(&f, LARGE, &large));
    check_same("known", work_to_ask(small, 0, SMALL, VIDI_SEEN), work_to_ask(large, 0, LARGE, VIDI_SEEN));
    check_same("unknown", work_to_ask(small, SMALL, SMALL, VIDI_NEW), work_to_ask(large, LARGE, SMALL, VIDI_NEW));
    work = 0;
    for (size_t i = SMALL; i < 2 * SMALL; i++)
        assert_int_equal(small->kind->add(small, &alike[i]), VIDI_NEW);
    double few = (double)work;
    work = 0;
    for (size_t i = LARGE; i < LARGE + SMALL; i++)
        assert_int_equal(large->kind->add(large, &alike[i]), VIDI_NEW);
    check_same("adding", few, (double)work);
    vidi__filter_destroy(small);
    vidi__filter_destroy(large);
    end(&f);
}

static void two_sets_put_the_same_urls_in_different_slots(void **state)
{
    (void)state;
    fixture f;
    vidi__filter *one, *other;
    begin(&f);
    search(&f);
    work_to_load(&f, LARGE, &one);
    work_to_load(&f, LARGE, &other);
    uint64_t differ = 0;
    for (size_t i = 0; i < LARGE; i++)
        differ += work_to_ask(one, i, 1, VIDI_SEEN) != work_to_ask(other, i, 1, VIDI_SEEN);
    check(differ > LARGE / 10, "only %d of %d URLs are a different number of steps away", (int)differ, LARGE);
    vidi__filter_destroy(one);
    vidi__filter_destroy(other);
    end(&f);
}

int main(int argc, char **argv)
{
    test_add("urls whose hashes are alike load and answer as fast as others",
             urls_whose_hashes_are_alike_load_and_answer_as_fast_as_others, NULL);
    test_add("two sets put the same urls in different slots", two_sets_put_the_same_urls_in_different_slots, NULL);
    return test_run("exact linear", argc, argv);
}
