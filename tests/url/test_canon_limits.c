/* Canonical forms under pressure: no memory for typical URLs, refused memory, threads. */
#include <pthread.h>
#include <stdlib.h>

#include "url/canon/canon_rules.h"
#include "url/canonical.h"
#include "support/alloc.h"
#include "support/env.h"

static const char *const profiles[] = {"whatwg",
                                       "crawl",
                                       "w3lib",
                                       "surt",
                                       "key=host",
                                       "none",
                                       "crawl,-percent,-session",
                                       "crawl,+www,+scheme,+slash,+fragment"};

static void typical_urls_need_no_memory(void **state)
{
    (void)state;
    static const char *const inputs[] = {
        "http://www.example.com/",
        "HTTP://h//a/%7eb;jsessionid=12/index.html?b=%&a=%41&utm_source=x&sid=0123456789abcdef#f",
        "http://www.example.com/a/#!/b",
        "http://h/caf\xe9",
        "http://h/?i=1&h=2&g=3&f=4&e=5&d=6&c=7&b=8&a=9",
        "http://1.2.3.4/%2525/%2e%2e/x/"};
    test_allocator allocator;
    test_allocator_init(&allocator);
    vidi__memory memory;
    assert_int_equal(vidi__memory_init(&memory, &allocator.hook, 0), VIDI_OK);
    for (size_t i = 0; i < VIDI__COUNT(profiles); i++) {
        vidi_canon *canon = canon_with(profiles[i], NULL);
        for (size_t j = 0; j < VIDI__COUNT(inputs); j++) {
            char room[256];
            vidi__buffer out = vidi__buffer_in(room, sizeof room, &memory);
            assert_int_equal(vidi__canon_url(canon, test_str(inputs[j]), NULL, &out), VIDI_OK);
        }
        vidi_canon_close(canon);
    }
    assert_int_equal(allocator.calls, 0);
    test_allocator_finish(&allocator);
}

/* head, and then the piece again and again. */
static vidi_str repeat(const char *head, const char *piece, size_t bytes)
{
    char *text = malloc(bytes);
    size_t len = strlen(head), n = strlen(piece);
    memcpy(text, head, len);
    for (size_t i = 0; len < bytes; i++)
        text[len++] = piece[i % n];
    return (vidi_str){text, bytes};
}

static void refused_memory_is_an_error_at_every_step(void **state)
{
    (void)state;
    static const char *const pieces[] = {"z&a&",       "%",           "%41", "/;jsessionid=1",
                                         "aa/%2e%2e/", "utm_x=1&b&a", "a#!", "\xe9"};
    test_allocator allocator;
    test_allocator_init(&allocator);
    for (size_t i = 0; i < VIDI__COUNT(profiles) * VIDI__COUNT(pieces); i++) {
        vidi_canon *canon = canon_with(profiles[i % VIDI__COUNT(profiles)], NULL);
        vidi_str input = repeat("http://h/?", pieces[i / VIDI__COUNT(profiles)], 5000);
        int result = VIDI_EMEMORY;
        for (uint64_t n = 1; result == VIDI_EMEMORY; n++) {
            vidi__memory memory;
            assert_int_equal(vidi__memory_init(&memory, &allocator.hook, 0), VIDI_OK);
            test_allocator_fail(&allocator, n, true);
            vidi__buffer out = vidi__buffer_in(NULL, 0, &memory);
            result = vidi__canon_url(canon, input, NULL, &out);
            vidi__buffer_free(&out);
            assert_int_equal(vidi__memory_used(&memory), 0);
            check(n < 100, "memory never suffices");
        }
        assert_int_equal(result, VIDI_OK);
        free((char *)input.ptr);
        vidi_canon_close(canon);
    }
    test_allocator_fail(&allocator, 0, false);
    test_allocator_finish(&allocator);
}

/* ---- threads ---- */

static void *use(void *context)
{
    const vidi_canon *canon = context;
    uintptr_t wrong = 0;
    for (int i = 0; i < 20000; i++) {
        char out[100];
        size_t len = sizeof out;
        int result = vidi_url_canon(canon, test_str("HTTP://h//index.html?utm_x&b&a"), NULL, out, &len);
        wrong += result != VIDI_OK || len != 13 || memcmp(out, "http://h/?a&b", 13) != 0;
    }
    return (void *)wrong;
}

static void threads_share_one_form(void **state)
{
    (void)state;
    vidi_canon *canon = canon_with("crawl", NULL);
    pthread_t threads[4];
    for (size_t i = 0; i < VIDI__COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use, canon), 0);
    for (size_t i = 0; i < VIDI__COUNT(threads); i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    vidi_canon_close(canon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typical_urls_need_no_memory),
        cmocka_unit_test(refused_memory_is_an_error_at_every_step),
        cmocka_unit_test(threads_share_one_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
