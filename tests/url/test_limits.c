/* What callers and hostile pages can do: buffers of any size, and memory that is refused. */
#include <stdio.h>
#include <stdlib.h>

#include "url/parse/url.h"
#include "support/alloc.h"
#include "support/check.h"
#include "support/env.h"

static vidi_str str(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

static void the_length_needed_is_told_for_every_size_of_buffer(void **state)
{
    (void)state;
    /* the middle is longer than the end, because ".." takes it away again */
    const char *input = "http://H/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/../x?y#z", *want = "http://h/x?y#z";
    size_t need = strlen(want);
    for (size_t room = 0; room < 80; room++) {
        char *out = malloc(room + !room);
        size_t len = room;
        vidi_url url = {.size = sizeof url};
        int result = vidi_url_parse(str(input), NULL, out, &len, &url);
        assert_int_equal(result, room < need ? VIDI_ELIMIT : VIDI_OK);
        assert_int_equal(len, need);
        if (result)
            assert_null(url.href.ptr);
        else
            assert_memory_equal(url.href.ptr, want, need);
        len = room;
        assert_int_equal(vidi_url_resolve(str("http://g/"), str(input), out, &len), result);
        assert_int_equal(len, need);
        free(out);
    }
}

static void absurd_arguments_are_refused(void **state)
{
    (void)state;
    char out[64];
    size_t len = sizeof out;
    vidi_url url = {.size = sizeof url};
    vidi_str good = str("http://h/"), nowhere = {NULL, 5}, nothing = {NULL, 0};
    assert_int_equal(vidi_url_parse(nowhere, NULL, out, &len, &url), VIDI_EARGUMENT);
    assert_int_equal(vidi_url_parse(good, &nowhere, out, &len, &url), VIDI_EARGUMENT);
    assert_int_equal(vidi_url_parse(good, NULL, out, NULL, &url), VIDI_EARGUMENT);
    assert_int_equal(vidi_url_parse(good, NULL, out, &len, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_url_resolve(good, nowhere, out, &len), VIDI_EARGUMENT);
    assert_int_equal(vidi_url_resolve(good, good, out, NULL), VIDI_EARGUMENT);
    assert_int_equal(vidi_url_parse(nothing, NULL, out, &len, &url), VIDI_INVALID);
    len = sizeof out;
    assert_int_equal(vidi_url_resolve(good, nothing, out, &len), VIDI_OK);
    assert_int_equal(len, good.len);
    len = sizeof out; /* a length with no buffer is no room */
    assert_int_equal(vidi_url_resolve(good, nothing, NULL, &len), VIDI_ELIMIT);
    assert_int_equal(len, good.len);
    url.size = 3;
    assert_int_equal(vidi_url_parse(good, NULL, out, &len, &url), VIDI_EARGUMENT);
}

static void smaller_structs_of_older_programs_are_filled_as_far_as_they_go(void **state)
{
    (void)state;
    char out[64];
    size_t len = sizeof out;
    vidi_url url;
    memset(&url, 0x55, sizeof url);
    url.size = offsetof(vidi_url, host);
    assert_int_equal(vidi_url_parse(str("http://u@h/"), NULL, out, &len, &url), VIDI_OK);
    assert_int_equal(url.username.len, 1);
    assert_int_equal(url.port_number, 0x55555555);
    assert_int_equal(url.size, offsetof(vidi_url, host));
}

static void zero_bytes_are_bytes(void **state)
{
    (void)state;
    char out[64];
    size_t len = sizeof out;
    assert_int_equal(vidi_url_resolve(str("http://h/"), (vidi_str){"a\0b?\0#\0", 7}, out, &len), VIDI_OK);
    assert_int_equal(len, strlen("http://h/a%00b?%00#"));
    assert_memory_equal(out, "http://h/a%00b?%00#", len);
    len = sizeof out;
    assert_int_equal(vidi_url_resolve(str("http://h/"), (vidi_str){"//a\0b", 5}, out, &len), VIDI_INVALID);
}

static void typical_urls_need_no_memory(void **state)
{
    (void)state;
    static const char *const inputs[] = {"http://user:secret@Example.com:8080/a/../b c?d=\xc3\xa9#f",
                                         "//g%41/\t../x",
                                         "file:///C|/x",
                                         "a:/..//x",
                                         "?q",
                                         "http://0x7f.1/",
                                         "//[::1]/"};
    test_allocator allocator;
    test_allocator_init(&allocator);
    vidi__memory memory;
    assert_int_equal(vidi__memory_init(&memory, &allocator.hook, 0), VIDI_OK);
    char base_room[256];
    vidi__buffer base_text = vidi__buffer_in(base_room, sizeof base_room, &memory);
    vidi__url base;
    assert_int_equal(vidi__url_parse(&base, str("http://h/a?b"), NULL, false, &base_text), VIDI_OK);
    for (size_t i = 0; i < VIDI__COUNT(inputs); i++) {
        char room[256];
        vidi__url url;
        vidi__buffer out = vidi__buffer_in(room, sizeof room, &memory);
        check(vidi__url_parse(&url, str(inputs[i]), &base, false, &out) == VIDI_OK, "%s: %s", inputs[i],
              vidi_message());
        assert_ptr_equal(url.text, room);
    }
    assert_int_equal(allocator.calls, 0);
    test_allocator_finish(&allocator);
}

/* Parses into no room at all, with the n-th allocation refused. */
static int parse_refused(test_allocator *allocator, const char *input, const vidi__url *base, uint64_t n)
{
    vidi__memory memory;
    assert_int_equal(vidi__memory_init(&memory, &allocator->hook, 0), VIDI_OK);
    test_allocator_fail(allocator, n, true);
    vidi__url url;
    vidi__buffer out = vidi__buffer_in(NULL, 0, &memory);
    int result = vidi__url_parse(&url, str(input), base, false, &out);
    vidi__buffer_free(&out);
    assert_int_equal(vidi__memory_used(&memory), 0);
    return result;
}

/* A reference with a tail that grows the text again and again. */
static char *with_tail(const char *head, const char *piece)
{
    size_t len = strlen(head), n = strlen(piece), room = 6000;
    char *text = malloc(room + 1);
    memcpy(text, head, len);
    while (len + n <= room) {
        memcpy(text + len, piece, n);
        len += n;
    }
    text[len] = 0;
    return text;
}

static void refused_memory_is_an_error_at_every_step(void **state)
{
    (void)state;
    static const char *const heads[] = {"http://h/", "//g/",   "/",   "x/", "?",   "#",        "C|/",
                                        "file:",     "file:/", "\t/", "a:", "a:/", "//u%41@h/"};
    static const char *const pieces[] = {"a/", "%2e%2e/", "\xc3\xa9", "/", "a/../"};
    static const char *const bases[] = {"http://h/a?b", "file:///C:/a?b", "a:/.//x"};
    test_allocator allocator;
    test_allocator_init(&allocator);
    for (size_t i = 0; i < VIDI__COUNT(heads) * VIDI__COUNT(pieces) * VIDI__COUNT(bases); i++) {
        char room[64];
        vidi__memory none;
        vidi__memory_init(&none, NULL, 1);
        vidi__buffer base_text = vidi__buffer_in(room, sizeof room, &none);
        vidi__url base;
        assert_int_equal(vidi__url_parse(&base, str(bases[i % VIDI__COUNT(bases)]), NULL, false, &base_text), VIDI_OK);
        size_t j = i / VIDI__COUNT(bases);
        char *input = with_tail(heads[j % VIDI__COUNT(heads)], pieces[j / VIDI__COUNT(heads)]);
        int result;
        for (uint64_t n = 1; (result = parse_refused(&allocator, input, &base, n)) == VIDI_EMEMORY; n++)
            check(n < 100, "memory never suffices for %.20s…", input);
        check(result == VIDI_OK || result == VIDI__NOT_URL, "%.20s…: %s", input, vidi_message());
        free(input);
    }
    test_allocator_fail(&allocator, 0, false);
    test_allocator_finish(&allocator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_length_needed_is_told_for_every_size_of_buffer),
        cmocka_unit_test(absurd_arguments_are_refused),
        cmocka_unit_test(smaller_structs_of_older_programs_are_filled_as_far_as_they_go),
        cmocka_unit_test(zero_bytes_are_bytes),
        cmocka_unit_test(typical_urls_need_no_memory),
        cmocka_unit_test(refused_memory_is_an_error_at_every_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
