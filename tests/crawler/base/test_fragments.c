/* Fragments of links, and whether a page has what they lead to. */
#include <string.h>

#include "crawler/base/fragments.h"
#include "support/check.h"

static vidi_str text_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

static void a_fragment_ends_where_a_text_directive_begins(void **state)
{
    (void)state;
    static const struct {
        const char *url, *fragment; /* NULL: none */
    } cases[] = {
        {"http://h/a", NULL},        {"http://h/a#", ""},        {"http://h/a#b", "b"},
        {"http://h/a#b#c", "b#c"},   {"http://h/?a=:~:#b", "b"}, {"http://h/#:~:text=x", ""},
        {"http://h/#a:~:text", "a"}, {"http://h/#a:~b", "a:~b"}, {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vidi_str fragment = {"", 0};
        bool found = fragment_of(text_of(cases[i].url), &fragment);
        check(found == (cases[i].fragment != NULL), "%s", cases[i].url);
        if (found)
            check(fragment.len == strlen(cases[i].fragment) &&
                      memcmp(fragment.ptr, cases[i].fragment, fragment.len) == 0,
                  "%s: %.*s", cases[i].url, (int)fragment.len, fragment.ptr);
    }
}

/* The HTML Standard, "the indicated part of the document". */
static void fragments_lead_to_names_as_they_are_or_decoded(void **state)
{
    (void)state;
    static const char *const page[] = {"b", "a", "z", "a", "\xC3\xBC", "50%25", "x y", "%41"};
    static const struct {
        const char *fragment;
        bool leads;
    } cases[] = {
        {"a", true},       {"b", true},      {"z", true},      {"c", false},       {"A", false},    {"aa", false},
        {"%61", true},     {"%C3%BC", true}, {"%c3%bc", true}, {"\xC3\xBC", true}, {"%C3", false},  {"50%25", true},
        {"50%2525", true}, {"x%20y", true},  {"x y", true},    {"%41", true},      {"%2541", true}, {"%4", false},
        {"%", false},      {"", true},       {"top", true},    {"ToP", true},      {"%74op", true}, {"topp", false},
    };
    bytes names = {0}, decoded = {0};
    bool leads;

    for (size_t i = 0; i < sizeof page / sizeof *page; i++)
        assert_int_equal(fragment_names_add(&names, text_of(page[i])), VIDI_OK);
    fragment_names_sort(&names);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(fragment_leads(bytes_str(&names), text_of(cases[i].fragment), &decoded, &leads), VIDI_OK);
        check(leads == cases[i].leads, "%s", cases[i].fragment);
    }
    assert_int_equal(fragment_leads((vidi_str){"", 0}, text_of("a"), &decoded, &leads), VIDI_OK);
    assert_false(leads);
    bytes_free(&names);
    bytes_free(&decoded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fragment_ends_where_a_text_directive_begins),
        cmocka_unit_test(fragments_lead_to_names_as_they_are_or_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
