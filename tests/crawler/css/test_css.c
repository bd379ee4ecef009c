/*
 * The URLs that a style sheet makes a browser fetch, and its encoding. The cases follow the standard's algorithms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/css/css.h"
#include "support/check.h"

static vidi_str text_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

static int append_link(void *context, const css_link *link)
{
    char *all = context;
    sprintf(all + strlen(all), "%s%s%.*s", all[0] ? "|" : "", link->is_import ? "@" : "", (int)link->value.len,
            link->value.ptr);
    return 0;
}

/* All URLs as "a|@b", with '@' before what is imported. In a block of exactly its size, for the sanitizer. */
static const char *urls_of(vidi_str sheet)
{
    static char all[1000];
    char *copy = malloc(sheet.len + !sheet.len);
    memcpy(copy, sheet.ptr, sheet.len);
    all[0] = 0;
    assert_int_equal(css_links((vidi_str){copy, sheet.len}, append_link, all), VIDI_OK);
    free(copy);
    return all;
}

typedef struct css_case {
    const char *sheet, *urls;
} css_case;

static void check_cases(const css_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *got = urls_of(text_of(cases[i].sheet));
        check(strcmp(got, cases[i].urls) == 0, "%s: '%s' instead of '%s'", cases[i].sheet, got, cases[i].urls);
    }
}

#define CHECK_CASES(cases) check_cases(cases, sizeof cases / sizeof cases[0])

static void urls_are_found_in_each_form(void **state)
{
    (void)state;
    static const css_case cases[] = {
        {"", ""},
        {"a{b:url(c)}", "c"},
        {"a{b:URL(c) Url('d') uRL( \"e\" )}", "c|d|e"},
        {"a{b:url( \t\r\n\fc \n)}", "c"},
        {"a{b:url( 'c' )}", "c"},
        {"b:url(c);d:url(e)", "c|e"},
        {"@font-face{src:url(a.woff2)format('woff2'),url(a.woff)}", "a.woff2|a.woff"},
        {"a{b:url(\"c)d\")}", "c)d"},
        {"a{b:url(\"c\" modifier(d))}", "c"},
        {"a{b:url(c?d=e&f=%20;g,h#i)}", "c?d=e&f=%20;g,h#i"},
        {"a{b:url(//h/p)url(http://h/)}", "//h/p|http://h/"},
        {"a{b:url(\xC3\xA9)}", "\xC3\xA9"},
        {"--x:url(y)", "y"},
        {"a{b:f(g(url(c)))}", "c"},
        {"@media print{a{b:url(c)}}", "c"},
        {"a:not(b){c:url(d)}", "d"},
        {"<!-- a{b:url(c)} -->", "c"},
        {"<!--url(c)-->url(d)", "c|d"},
    };
    CHECK_CASES(cases);
}

static void imports_are_told_apart(void **state)
{
    (void)state;
    static const css_case cases[] = {
        {"@import 'a';@import \"b\";@import url(c);@import url('d');", "@a|@b|@c|@d"},
        {"@IMPORT 'a';@ImPort url(b)", "@a|@b"},
        {"@import'a'", "@a"},
        {"@import/**/'a'", "@a"},
        {"@import url( 'a' )print;b{c:url(d)}", "@a|d"},
        {"@import 'a' layer(b) supports(c:url(d)) screen and (e:1px);f{g:url(h)}", "@a|h"},
        {"@import 'a' 'b' url(c);", "@a"},
        {"@import a url(b);c{d:url(e)}", "e"},
        {"@import url(a b);c{d:url(e)}", "e"},
        {"@import;a{b:'c'}", ""},
        {"@import{}'a'", ""},
        {"@import ''; @import url();", ""},
        {"@imports 'a';", ""},
        {"@\\69mport 'a';", "@a"},
        {"@import url(foo('a'))", ""},
        {"@charset \"utf-8\";@import 'a';", "@a"},
        {"@import 'a", "@a"},
        {"@import 'a\n;b{c:url(d)}", "d"},
    };
    CHECK_CASES(cases);
}

static void what_is_not_fetched_is_left_out(void **state)
{
    (void)state;
    static const css_case cases[] = {
        {"@namespace url(http://www.w3.org/1999/xhtml);@namespace p 'q';a{b:url(c)}", "c"},
        {"@supports (a:url(b)){c{d:url(e)}}", "e"},
        {"@document url(http://h/){a{b:url(c)}}", "c"},
        {"a{b:url(data:image/png;base64,AA==)url('DATA:,x')url(d\\61ta:,x)}", ""},
        {"a{b:url(#c)url('#d')url('\\23 e')}", ""},
        {"a{b:url()url( )url('')url(\"  \")}", ""},
        {"a{b:'url(c)';d:\"e\"}", ""},
        {"/* url(a) @import 'b'; */", ""},
        {"a[href='url(b)']{}", ""},
        {"a{b:curl(c) url2(d) -url(e) --url(f) _url(g) u-rl(h)}", ""},
        {"a{b:#url(c)}", ""},
        {"a{b:1url(c) 1.5url(d) 1e3url(e) +1url(f) -.5url(g)}", ""},
        {"a{b:url (c)}", ""},
        {"a{b:url/**/(c)}", ""},
        {"@url(c);", ""},
    };
    CHECK_CASES(cases);
}

static void numbers_end_where_they_end(void **state)
{
    (void)state;
    static const css_case cases[] = {
        {"a:1 url(b)", "b"}, {"a:1,url(b)", "b"},   {"a:1.url(b)", "b"},     {"a:1e+url(b)", "b"}, {"a:+url(b)", "b"},
        {"a:.url(b)", "b"},  {"a:1%url(b)", "b"},   {"a:-->url(b)", "b"},    {"a:#url(b)", ""},    {"a:# url(b)", "b"},
        {"a:1--url(b)", ""}, {"a:u+1?url(b)", "b"}, {"a:-1e-5 url(b)", "b"}, {"a:!url(b)", "b"},   {"a:</url(b)", "b"},
    };
    CHECK_CASES(cases);
}

static void escapes_are_replaced(void **state)
{
    (void)state;
    static const css_case cases[] = {
        {"a{b:url(c\\)d)}", "c)d"},
        {"a{b:url(c\\ d\\\"e\\(f)}", "c d\"e(f"},
        {"a{b:url( \"c\\\"d\" )}", "c\"d"},
        {"a{b:url('c\\'d')}", "c'd"},
        {"a{b:url(\\63 d)}", "cd"},
        {"a{b:url(\\000063d)}", "cd"},
        {"a{b:url(\\00006364)}", "c64"},
        {"a{b:url('\\63\r\nd\\63\nd\\63\td')}", "cdcdcd"},
        {"a{b:url('\\E9 \\20AC\\1F600')}", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"a{b:url('\\0 \\D800 \\110000 \\FFFFFF')}", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"a{b:url('c\\\nd\\\r\ne\\\ff\\\rg')}", "cdefg"},
        {"a{b:url('c\\\xC3\xA9')}", "c\xC3\xA9"},
        {"a{b:\\75rl(c) \\55 RL('d') u\\72 l(e) ur\\l(f)}", "c|d|e|f"},
        {"a{b:\\url(c)}", "c"},
        {"a{b:url\\(c)}", ""},
        {"a{b:url('c\\", "c"},
        {"a{b:url(c\\", "c"},
    };
    CHECK_CASES(cases);
    assert_string_equal(urls_of((vidi_str){"url(a\0b)url('\0')", 16}), "a\xEF\xBF\xBD"
                                                                       "b|\xEF\xBF\xBD");
    assert_string_equal(urls_of((vidi_str){"url(a\\\0b)", 9}), "a\xEF\xBF\xBD"
                                                               "b");
}

static void what_is_broken_ends_where_browsers_end_it(void **state)
{
    (void)state;
    static const css_case cases[] = {
        {"a{b:url(c", "c"},
        {"a{b:url('c", "c"},
        {"a{b:url('c'", "c"},
        {"a{b:url(", ""},
        {"a{b:url", ""},
        {"a{b:'c\nurl(d)", "d"},
        {"a{b:url('c\n'd)e:url(f)", ""},
        {"a{b:url('c\nd);e:url(f)}", "f"},
        {"a{b:url(c d)e:url(f)}", "f"},
        {"a{b:url(c'd)e:url(f)}", "f"},
        {"a{b:url(c\"d)e:url(f)}", "f"},
        {"a{b:url(c(d)e:url(f)}", "f"},
        {"a{b:url(c\x01)e:url(f)}", "f"},
        {"a{b:url(c\x7F)e:url(f)}", "f"},
        {"a{b:url(c\\\nd)e:url(f)}", "f"},
        {"a{b:url(c d\\)e)f:url(g)}", "g"},
        {"a{b:url(c d", ""},
        {"/* url(a)", ""},
        {"/*/url(a)*/url(b)", "b"},
        {"/**/url(a)/***/url(b)/* **/url(c)/", "a|b|c"},
        {"}}]]))url(a)", "a"},
        {"a{b:url(c)", "c"},
        {"@", ""},
        {"@-", ""},
        {"\\", ""},
        {"-", ""},
        {"<!-", ""},
    };
    CHECK_CASES(cases);
}

static void strings_of_an_image_set_are_urls(void **state)
{
    (void)state;
    static const css_case cases[] = {
        {"a{b:image-set('c' 1x,\"d\" 2x,url(e) 3x)}", "c|d|e"},
        {"a{b:-webkit-image-set(url(c) 1x) , IMAGE-SET('d')}", "c|d"},
        {"a{b:image-set('c' type('image/png'), 'd' type(\"image/avif\"));e:'f'}", "c|d"},
        {"a{b:image-set(calc((1)) 'c') 'd'}", "c"},
        {"a{b:f('c' image-set('d') 'e')}", "d"},
        {"a{b:cross-fade('c')}", ""},
    };
    CHECK_CASES(cases);
}

static int stop_at_second(void *context, const css_link *link)
{
    (void)link;
    return ++*(int *)context == 2 ? 7 : 0;
}

static int check_position(void *context, const css_link *link)
{
    assert_memory_equal((const char *)context + link->position, link->value.ptr, link->value.len);
    return 0;
}

static void a_visitor_can_end_the_walk_and_knows_positions(void **state)
{
    (void)state;
    static const char sheet[] = "url(a)url('b')@import 'c';@import url(d);";
    int seen = 0;
    assert_int_equal(css_links(text_of(sheet), stop_at_second, &seen), 7);
    assert_int_equal(seen, 2);
    assert_int_equal(css_links(text_of(sheet), check_position, (void *)(uintptr_t)sheet), VIDI_OK);
}

static void check_decoded(const char *sheet, size_t len, const char *charset, const char *encoding, const char *urls)
{
    encoding_text text = {.owned = NULL};
    vidi_str label = charset ? text_of(charset) : (vidi_str){NULL, 0};
    assert_int_equal(css_decode((vidi_str){sheet, len ? len : strlen(sheet)}, label, &text), VIDI_OK);
    assert_string_equal(text.encoding->name, encoding);
    assert_string_equal(urls_of(text.bytes), urls);
    encoding_text_free(&text);
}

static void the_encoding_is_found_in_its_order(void **state)
{
    (void)state;
    check_decoded("url(\xC3\xA9)", 0, NULL, "UTF-8", "\xC3\xA9");
    check_decoded("url(\xE9)", 0, "latin1", "windows-1252", "\xC3\xA9");
    check_decoded("@charset \"latin1\";url(\xE9)", 0, NULL, "windows-1252", "\xC3\xA9");
    check_decoded("@charset \"latin1\";url(\xC3\xA9)", 0, "utf-8", "UTF-8", "\xC3\xA9");
    check_decoded("@charset \"latin1\";url(\xE9)", 0, "no-such-label", "windows-1252", "\xC3\xA9");
    check_decoded("\xEF\xBB\xBF@charset \"latin1\";url(\xC3\xA9)", 0, "latin1", "UTF-8", "\xC3\xA9");
    check_decoded("\xFF\xFEu\0r\0l\0(\0\xE9\0)\0", 14, "utf-8", "UTF-16LE", "\xC3\xA9");
    check_decoded("@charset \"utf-16\";url(\xC3\xA9)", 0, NULL, "UTF-8", "\xC3\xA9");
    check_decoded("@charset 'latin1';url(\xC3\xA9)", 0, NULL, "UTF-8", "\xC3\xA9");
    check_decoded("@CHARSET \"latin1\";url(\xC3\xA9)", 0, NULL, "UTF-8", "\xC3\xA9");
    check_decoded(" @charset \"latin1\";url(\xC3\xA9)", 0, NULL, "UTF-8", "\xC3\xA9");
    check_decoded("@charset  \"latin1\";url(\xC3\xA9)", 0, NULL, "UTF-8", "\xC3\xA9");
    check_decoded("@charset \"latin1\" ;url(\xC3\xA9)", 0, NULL, "UTF-8", "\xC3\xA9");
    check_decoded("@charset \"latin1\"", 0, NULL, "UTF-8", "");
    check_decoded("@charset \"", 0, NULL, "UTF-8", "");
    check_decoded("", 0, NULL, "UTF-8", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_are_found_in_each_form),
        cmocka_unit_test(imports_are_told_apart),
        cmocka_unit_test(what_is_not_fetched_is_left_out),
        cmocka_unit_test(numbers_end_where_they_end),
        cmocka_unit_test(escapes_are_replaced),
        cmocka_unit_test(what_is_broken_ends_where_browsers_end_it),
        cmocka_unit_test(strings_of_an_image_set_are_urls),
        cmocka_unit_test(a_visitor_can_end_the_walk_and_knows_positions),
        cmocka_unit_test(the_encoding_is_found_in_its_order),
    };
    return cmocka_run_group_tests_name("css", tests, NULL, NULL);
}
