/*
 * What a fragment can lead to on a page: ids, and names of `a` elements.
 */
#include <stdio.h>
#include <string.h>

#include "crawler/html/html.h"
#include "support/check.h"

static int append(void *context, vidi_str name)
{
    char *to = context;
    sprintf(to + strlen(to), "%s%.*s", *to ? " " : "", (int)name.len, name.ptr);
    return 0;
}

static int stop(void *context, vidi_str name)
{
    (void)name;
    return ++*(int *)context == 2 ? 7 : 0;
}

static html_page *opened(const char *text)
{
    html_options options = {.url = {"http://h/", 9}};
    html_page *page;

    assert_int_equal(html_page_open(&page, (vidi_str){text, strlen(text)}, &options), VIDI_OK);
    return page;
}

static void ids_and_names_of_anchors_are_told(void **state)
{
    static const char *const cases[][2] = {
        {"<p id=a><A NAME=b></a><custom-x ID='c d'></custom-x>", "a b c d"},
        {"<a id=a name=b>", "a b"},
        {"<a name=b id=a>", "b a"},
        {"<p name=a><img name=b><meta name=c content=d><input name=e>", ""},
        {"<p id=a id=b>", "a"},
        {"<p id='' ><p id>", ""},
        {"<p id=''  id=b>", ""},
        {"<p id='&uuml;&amp;'>", "\xC3\xBC&"},
        {"<p id=' a'>", " a"}, /* with the space: no fragment without one leads there */
        {"</p id=a>", ""},
        {"<!-- <p id=a> --><script>'<p id=b>'</script><style><p id=c></style><title><p id=d></title>", ""},
        {"<template id=a><p id=b></template><p id=c>", "a c"},
        {"<noscript><p id=a></noscript>", "a"},
        {"<iframe id=a srcdoc='<p id=b>'></iframe>", "a"},
        {"<svg id=a><g id=b></g><a name=c></a><foreignObject><a name=d></foreignObject></svg>", "a b d"},
        {"<p id=a", ""},
        {"<html id=a><body id=b><option id=c>", "a b c"},
    };
    char told[200];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        html_page *page = opened(cases[i][0]);
        for (int again = 0; again < 2; again++) {
            told[0] = 0;
            assert_int_equal(html_page_names(page, append, told), VIDI_OK);
            check(strcmp(told, cases[i][1]) == 0, "%s: %s", cases[i][0], told);
        }
        html_page_close(page);
    }
}

static void the_visitor_can_stop(void **state)
{
    (void)state;
    int count = 0;
    html_page *page = opened("<p id=a><p id=b><p id=c>");
    assert_int_equal(html_page_names(page, stop, &count), 7);
    assert_int_equal(count, 2);
    html_page_close(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_and_names_of_anchors_are_told),
        cmocka_unit_test(the_visitor_can_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
