/*
 * Views of serialised URLs: the parts are those of the parser, at the same places. Of other text they are unchecked, but
 * lie in it.
 */
#include <stdlib.h>

#include "href.h"
#include "support/env.h"
#include "support/random.h"
#include "support/url_parts.h"

#define ROOM 4096

static vidi_canon *whatwg;

static int open_form(void **state)
{
    (void)state;
    return vidi_canon_create(&whatwg, "whatwg", NULL, NULL);
}

static int close_form(void **state)
{
    (void)state;
    vidi_canon_close(whatwg);
    return 0;
}

static void check_view(vidi_str text, const vidi_url *want)
{
    vidi_url view = {.size = sizeof view};
    check(vidi_url_view(text, &view) == VIDI_OK, "<%.*s>: %s", (int)text.len, text.ptr, vidi_message());
    check(same_parts(&view, want), "<%.*s> has other parts", (int)text.len, text.ptr);
}

/* Checks its serialisation and its canonical form. False if it is not a URL. */
static bool agrees(vidi_str input, const vidi_str *base)
{
    char out[ROOM], form[ROOM];
    size_t len = sizeof out, form_len = sizeof form;
    vidi_url url = {.size = sizeof url};
    if (vidi_url_parse(input, base, out, &len, &url) != VIDI_OK)
        return false;
    check_view(url.href, &url);
    assert_int_equal(vidi_url_canon(whatwg, input, base, form, &form_len), VIDI_OK);
    len = sizeof out;
    assert_int_equal(vidi_url_parse((vidi_str){form, form_len}, NULL, out, &len, &url), VIDI_OK);
    assert_int_equal(len, form_len);
    assert_memory_equal(out, form, len);
    check_view(url.href, &url);
    return true;
}

static void the_parts_are_those_of_the_parser(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "http://h",
        "HTTPS://u:p@H.example:8443/a/b?c=d#e",
        "http://u@h/",
        "http://:p@h/",
        "http://a:b:c@d@h:1/",
        "http://1.2.3.4:0/",
        "http://0x7f.1/",
        "http://1../",
        "http://a.1b/",
        "http://a1/",
        "http://[::1]/@:]",
        "http://u:p@[2001:db8::1]:65535?[:]#@",
        "ftp://h/?#",
        "ws://h#?",
        "file:///C:/a:b@c",
        "file://h/a",
        "file:",
        "mailto:a@b.example:1/c?d#e",
        "a:",
        "a:#",
        "a:/",
        "a:/.//x?y",
        "a:/..//x",
        "a://",
        "a:///x",
        "a://h",
        "a://h?q",
        "a://u:p@h:80/",
        "a://1.2.3.4",
        "a://[::1]:1",
        "git+ssh://a@h/x@y:z",
        "javascript:a//b:c",
    };
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++)
        check(agrees((vidi_str){urls[i], strlen(urls[i])}, NULL), "<%s> is not a URL", urls[i]);
}

/* Text of random pieces, which are what the parts of URLs begin, end and are made of. */
static vidi_str piece_together(test_random *random, char text[400])
{
    static const char *const pieces[] = {"http:", "https://", "file:", "a:",       "x-1:", "//",  "/",   "/.",
                                         "..",    "?",        "#",     "@",        ":",    "80",  "443", "[",
                                         "]",     "[::1]",    "%",     "%41",      "a",    "B.c", "1.2", ".0x",
                                         "\\",    " ",        "\xff",  "\xc3\xbc", "-",    "'"};
    size_t len = 0;
    for (uint64_t more = test_below(random, 12); more; more--) {
        const char *piece = pieces[test_below(random, sizeof pieces / sizeof pieces[0])];
        memcpy(text + len, piece, strlen(piece));
        len += strlen(piece);
    }
    return (vidi_str){text, len};
}

static void random_urls_have_the_parts_of_the_parser(void **state)
{
    (void)state;
    static const char *const bases[] = {"http://h/a/b?c#d", "file:///C:/a", "a://h", "a:/b", "https://u:p@[::1]:1/"};
    test_random random = {17};
    uint64_t urls = 0, rounds = test_urls_at_most(300000);
    for (uint64_t n = 0; n < rounds; n++) {
        char text[400];
        const char *base = bases[n % 5];
        vidi_str input = piece_together(&random, text), base_str = {base, strlen(base)};
        urls += agrees(input, n % 2 ? &base_str : NULL);
    }
    check(urls > rounds / 10, "%llu URLs in %llu rounds", (unsigned long long)urls, (unsigned long long)rounds);
}

static void text_that_cannot_be_cut_is_invalid(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        ":",
                                        "no scheme",
                                        "/a",
                                        "1a:x",
                                        "HTTP://h/",
                                        "http:",
                                        "http:/h/",
                                        "http://",
                                        "http:///",
                                        "http://h",
                                        "http://h?q",
                                        "http://h#",
                                        "http://:1/",
                                        "http://u@/",
                                        "a://u@",
                                        "a://:1",
                                        "file:a",
                                        "http://h:/",
                                        "http://h:x/",
                                        "http://h:65536/",
                                        "http://h:000080/",
                                        "a+B:c"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        vidi_url view = {.size = sizeof view, .flags = 7, .href = {"x", 1}};
        const vidi_url empty = {.size = sizeof empty, .port_number = -1};
        check(vidi_url_view((vidi_str){texts[i], strlen(texts[i])}, &view) == VIDI_INVALID, "<%s>", texts[i]);
        check(*vidi_message() && same_parts(&view, &empty), "<%s> leaves something in the parts", texts[i]);
    }
}

static bool lies_in(vidi_str part, vidi_str text)
{
    return !part.ptr || (part.ptr >= text.ptr && part.ptr + part.len <= text.ptr + text.len);
}

static void parts_of_other_text_lie_in_it(void **state)
{
    (void)state;
    test_random random = {19};
    uint64_t cut = 0, rounds = test_urls_at_most(300000);
    for (uint64_t n = 0; n < rounds; n++) {
        char text[400];
        vidi_str input = piece_together(&random, text);
        char *exact = malloc(input.len + !input.len); /* so that sanitizers see what is read after its end */
        assert_non_null(exact);
        memcpy(exact, input.ptr, input.len);
        input.ptr = exact;
        vidi_url url = {.size = sizeof url};
        int code = vidi_url_view(input, &url);
        assert_true(code == VIDI_OK || code == VIDI_INVALID);
        cut += code == VIDI_OK;
        const vidi_str parts[] = {url.href, url.scheme, url.username, url.password, url.host,
                                  url.port, url.path,   url.query,    url.fragment};
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
            check(lies_in(parts[i], input), "part %zu of <%.*s>", i, (int)input.len, input.ptr);
        free(exact);
    }
    check(cut > rounds / 20, "%llu of %llu are cut", (unsigned long long)cut, (unsigned long long)rounds);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    vidi_url url = {.size = sizeof url};
    assert_int_equal(vidi_url_view((vidi_str){NULL, 1}, &url), VIDI_EARGUMENT);
    assert_int_equal(vidi_url_view((vidi_str){NULL, 0}, &url), VIDI_INVALID);
    assert_int_equal(vidi_url_view((vidi_str){"a:", 2}, NULL), VIDI_EARGUMENT);
    url.size = 0;
    assert_int_equal(vidi_url_view((vidi_str){"a:", 2}, &url), VIDI_EARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parts_are_those_of_the_parser),
        cmocka_unit_test(random_urls_have_the_parts_of_the_parser),
        cmocka_unit_test(text_that_cannot_be_cut_is_invalid),
        cmocka_unit_test(parts_of_other_text_lie_in_it),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, open_form, close_form);
}
