/*
 * URLs that a log cannot take: each is refused alone, and the set goes on.
 *
 * The longest URLs are a gigabyte of zeros that the kernel has never made: the library must not look at them.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "durable/durable_cases.h"
#include "store/log.h"
#include "support/runner.h"

static vidi_str giant(void)
{
    const size_t bytes = (size_t)VIDI__LOG_RECORD_MAX + 100000000;
    void *start = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(start != MAP_FAILED);
    return (vidi_str){start, bytes};
}

static void make(home *at, const char *kind, unsigned flags)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    home_begin(at);
    options.kind = kind;
    options.canon = "none";
    home_create(at, &options, flags);
}

static void one_url_too_long_is_refused_alone(void **state)
{
    const test_mode *mode = *state;
    static const char *const kinds[] = {"hashset", "sorted", "list"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        home at;
        char one[TEST_URL_ROOM], two[TEST_URL_ROOM];
        uint8_t verdicts[3] = {9, 9, 9};
        make(&at, kinds[i], mode->flags);
        vidi_str urls[] = {nth(one, 1), giant(), nth(two, 2)};
        assert_int_equal(vidi_add(at.set, urls[1]), VIDI_ELIMIT);
        check(strstr(vidi_message(), "too long") != NULL, "%s", vidi_message());
        assert_int_equal(vidi_add_batch(at.set, urls, 3, verdicts, NULL), VIDI_ELIMIT);
        assert_int_equal(verdicts[0], VIDI_NEW);
        assert_int_equal(verdicts[1], VIDI_UNTRIED);
        assert_int_equal(verdicts[2], VIDI_UNTRIED);
        assert_int_equal(vidi_add_batch(at.set, urls + 2, 1, verdicts + 2, NULL), VIDI_OK);
        assert_int_equal(verdicts[2], VIDI_NEW);
        must(vidi_commit(at.set));
        must(vidi_sync(at.set));
        assert_int_equal(test_stat(at.set).count, 2);
        vidi_set *copy = home_crashed(&at, VIDI_READ_ONLY);
        all_are(copy, 1, 2, VIDI_SEEN);
        vidi_close(copy);
        home_end(&at);
        munmap((void *)(uintptr_t)urls[1].ptr, urls[1].len);
    }
}

/* More bytes in one batch than a record may have: they go to several. */
static void many_long_urls_are_taken(void **state)
{
    enum { MANY = 40, LONG = 3000000 };
    const test_mode *mode = *state;
    static char texts[MANY][LONG];
    vidi_str urls[MANY];
    uint8_t verdicts[MANY];
    home at;
    for (size_t i = 0; i < MANY; i++) {
        memset(texts[i], 'a' + (int)(i % 26), LONG);
        texts[i][0] = (char)i;
        urls[i] = (vidi_str){texts[i], i % 10 ? 10 + i : LONG};
    }
    make(&at, "hashset", mode->flags);
    must(vidi_add_batch(at.set, urls, MANY, verdicts, NULL));
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(verdicts[i], VIDI_NEW);
    must(vidi_commit(at.set));
    must(vidi_sync(at.set));
    vidi_set *copy = home_crashed(&at, VIDI_READ_ONLY);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(vidi_has(copy, urls[i]), VIDI_SEEN);
    vidi_close(copy);
    home_end(&at);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < TEST_MODES; i++) {
        char name[100];
        snprintf(name, sizeof name, "one URL too long is refused alone: %s", test_modes[i].name);
        test_add(name, one_url_too_long_is_refused_alone, (void *)(uintptr_t)&test_modes[i]);
        snprintf(name, sizeof name, "many long URLs are taken: %s", test_modes[i].name);
        test_add(name, many_long_urls_are_taken, (void *)(uintptr_t)&test_modes[i]);
    }
    return test_run("long urls", argc, argv);
}
