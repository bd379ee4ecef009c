/* The lab's URLs: all of a run are different, all are URLs, and the same everywhere. */
#include <string.h>

#include "lab/engine/lab.h"
#include "support/check.h"
#include "support/runner.h"
#include "support/stats.h"

static void all_urls_of_a_run_are_different(void **state)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_set *set;
    char url[LAB_URL_ROOM];
    (void)state;
    options.kind = "hashset";
    options.canon = "none";
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    for (uint64_t i = 0; i < 200000; i++) {
        size_t length = lab_made_url(url, 7, 3, i);
        check(length > 10 && length < LAB_URL_ROOM / 2, "URL %llu has %zu bytes", (unsigned long long)i, length);
        check(vidi_add(set, (vidi_str){url, length}) == VIDI_NEW, "URL %llu again: %.*s", (unsigned long long)i,
              (int)length, url);
    }
    vidi_close(set);
}

static void all_are_urls(void **state)
{
    vidi_options options = VIDI_OPTIONS_INIT;
    vidi_access access = VIDI_ACCESS_INIT;
    char url[LAB_URL_ROOM];
    vidi_set *set;
    (void)state;
    options.kind = "hashset";
    options.canon = "whatwg";
    options.access = &access;
    access.invalid = VIDI_FAIL_INVALID;
    assert_int_equal(vidi_create(&set, &options), VIDI_OK);
    for (uint64_t i = 0; i < 50000; i++) {
        size_t length = lab_made_url(url, 1, 0, i);
        check(vidi_add(set, (vidi_str){url, length}) == VIDI_NEW, "%.*s: %s", (int)length, url, vidi_message());
    }
    vidi_close(set);
}

/* Zipf's law: each of 20 octaves of ranks gets a twentieth of the URLs; the first one is a single host. */
static void hosts_follow_zipf(void **state)
{
    static const char *const ranks[] = {"://www.guide0.de/", "://chapter1.net/", "://www.country4.net/"};
    char url[LAB_URL_ROOM];
    (void)state;
    for (unsigned octave = 0; octave < 3; octave++) {
        uint64_t found = 0;
        for (uint64_t i = 0; i < 100000; i++) {
            size_t length = lab_made_url(url, 1, 0, i);
            found += memmem(url, length, ranks[octave], strlen(ranks[octave])) != NULL;
        }
        test_interval wanted = test_binomial_interval(100000, 0.05 / (1 << octave), TEST_ALPHA);
        check(test_inside(wanted, found), "%llu of 100000 URLs with %s", (unsigned long long)found, ranks[octave]);
    }
}

static void they_never_change(void **state)
{
    static const char *const wanted[] = {
        "https://www.bookdata9et.com/media/market/report-c3u3m1ky",
        "http://www.reviewa.org/picture-6v6pt1kq",
        "https://www.forumboardb84w.net/paper/253807334/307.html",
    };
    char url[LAB_URL_ROOM];
    (void)state;
    for (uint64_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        size_t length = lab_made_url(url, 1, i, i);
        check(length == strlen(wanted[i]) && memcmp(url, wanted[i], length) == 0, "%.*s, not %s", (int)length, url,
              wanted[i]);
    }
}

static void a_shuffle_has_every_number_once(void **state)
{
    uint32_t order[1000];
    unsigned char seen[1000] = {0};
    unsigned at_home = 0;
    (void)state;
    lab_shuffle(order, 1000, 1, 0, 1);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(order[i] < 1000 && !seen[order[i]]);
        seen[order[i]] = 1;
        at_home += order[i] == i;
    }
    assert_true(at_home < 10);
}

int main(int argc, char **argv)
{
    test_add("all URLs of a run are different", all_urls_of_a_run_are_different, NULL);
    test_add("all are URLs", all_are_urls, NULL);
    test_add("hosts follow Zipf's law", hosts_follow_zipf, NULL);
    test_add("they never change", they_never_change, NULL);
    test_add("a shuffle has every number once", a_shuffle_has_every_number_once, NULL);
    return test_run("lab/urls", argc, argv);
}
