/*
 * The title of a page, as a browser shows it, and all of its text.
 */
#include <string.h>

#include "crawler/html/html.h"
#include "support/check.h"

static void title_is(const char *bytes, size_t length, const char *expected)
{
    html_options options = {.url = {NULL, 0}};
    char title[64];
    html_page *page;

    assert_int_equal(html_page_open(&page, (vidi_str){bytes, length}, &options), VIDI_OK);
    size_t got = html_page_title(page, title, sizeof title - 1);
    title[got] = 0;
    assert_string_equal(title, expected);
    html_page_close(page);
}

static void titles_are_decoded_with_single_spaces(void **state)
{
    static const char *const cases[][2] = {
        {"<title>Home &amp; garden</title>", "Home & garden"},
        {"<head><TITLE lang=en>\n  a\n  <b>c</b>  </TITLE>", "a <b>c</b>"},
        {"<p>no title", ""},
        {"<title></title><title>second</title>", ""},
        {"<title></title><textarea>x</textarea>", ""},
        {"<svg><title>picture</title></svg><title>page</title>", "page"},
        {"<template><title>not here</title></template><title>page</title>", "page"},
        {"<!-- <title>x</title> --><script>'<title>y</title>'</script><title>page</title>", "page"},
        {"<title>open", "open"},
        {"<meta charset=windows-1252><title>\xFC\x80</title>", "\xC3\xBC\xE2\x82\xAC"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        title_is(cases[i][0], strlen(cases[i][0]), cases[i][1]);
}

static void a_title_without_end_is_cut_between_characters(void **state)
{
    static char page[100000] = "<meta charset=utf-8><title>";
    char expected[64] = "";

    (void)state;
    for (size_t i = strlen(page); i + 2 < sizeof page; i += 2)
        memcpy(page + i, "\xC3\xBC", 2);
    for (size_t i = 0; i < 31; i++)
        strcat(expected, "\xC3\xBC");
    title_is(page, sizeof page - 1, expected);
}

static void the_text_is_what_a_reader_sees(void **state)
{
    static const char *const cases[][2] = {
        {"<title>a</title>\n<p>b &amp;  c</p>\n\n<p>d", "a b & c d"},
        {"<p>a<script>var now = 1;</script><style>p { }</style><!-- b -->c", "ac"},
        {"<p>a <template>b <p>c</template>d <svg><text>e</text></svg> <textarea> f\n g</textarea>", "a d e f g"},
        {"<noscript>a</noscript> <img alt=b>", "a"},
        {"<script>only</script>", ""},
        {"", ""},
        {"<meta charset=windows-1252>\xFC <p>\x80", "\xC3\xBC \xE2\x82\xAC"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        html_options options = {.url = {NULL, 0}};
        html_page *page;
        vidi_str text;

        assert_int_equal(html_page_open(&page, (vidi_str){cases[i][0], strlen(cases[i][0])}, &options), VIDI_OK);
        assert_int_equal(html_page_text(page, &text), VIDI_OK);
        check(text.len == strlen(cases[i][1]) && memcmp(text.ptr ? text.ptr : "", cases[i][1], text.len) == 0,
              "%s: %.*s", cases[i][0], (int)text.len, text.ptr);
        html_page_close(page);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(titles_are_decoded_with_single_spaces),
        cmocka_unit_test(a_title_without_end_is_cut_between_characters),
        cmocka_unit_test(the_text_is_what_a_reader_sees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
