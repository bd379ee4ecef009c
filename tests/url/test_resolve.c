/* References made absolute against a base. */
#include "href.h"

static void references_take_from_the_base_what_they_lack(void **state)
{
    (void)state;
    CHECK_HREFS("http://u:p@h:81/a/b/c?q#f", {"", "http://u:p@h:81/a/b/c?q"}, {"#x", "http://u:p@h:81/a/b/c?q#x"},
                {"?x", "http://u:p@h:81/a/b/c?x"}, {"?", "http://u:p@h:81/a/b/c?"}, {"x", "http://u:p@h:81/a/b/x"},
                {"x/", "http://u:p@h:81/a/b/x/"}, {"/x", "http://u:p@h:81/x"}, {"/", "http://u:p@h:81/"},
                {"//g/x", "http://g/x"}, {"//g", "http://g/"}, {"\\x", "http://u:p@h:81/x"}, {"\\/g", "http://g/"},
                {"///g", "http://g/"}, {".", "http://u:p@h:81/a/b/"}, {"..", "http://u:p@h:81/a/"},
                {"../..", "http://u:p@h:81/"}, {"../../../x", "http://u:p@h:81/x"}, {"./x", "http://u:p@h:81/a/b/x"},
                {"x:80", "x:80"}, {":x", "http://u:p@h:81/a/b/:x"}, {"x y", "http://u:p@h:81/a/b/x%20y"}, {"//", NULL},
                {"a:b", "a:b"}, {"@", "http://u:p@h:81/a/b/@"});
}

static void a_reference_with_the_bases_scheme_may_still_be_relative(void **state)
{
    (void)state;
    CHECK_HREFS("http://h/a/b?q", {"http:x", "http://h/a/x"}, {"HTTP:/x", "http://h/x"}, {"http:", "http://h/a/b?q"},
                {"http:?y", "http://h/a/b?y"}, {"http://g", "http://g/"}, {"https:x", "https://x/"},
                {"http:\\\\g", "http://g/"}, {"http:#z", "http://h/a/b?q#z"}, {"ws:x", "ws://x/"});
}

static void bases_of_other_schemes_do_the_same_without_backslashes(void **state)
{
    (void)state;
    CHECK_HREFS("a://h/x/y", {"z", "a://h/x/z"}, {"/z", "a://h/z"}, {"//g", "a://g"}, {"\\z", "a://h/x/\\z"},
                {"..", "a://h/"}, {"a:z", "a:z"}, {"", "a://h/x/y"}, {"///", "a:///"});
    CHECK_HREFS("a:/x/y", {"z", "a:/x/z"}, {"//g/z", "a://g/z"}, {"/.//z", "a:/.//z"}, {"../..//z", "a:/.//z"},
                {"?q", "a:/x/y?q"});
    CHECK_HREFS("a:/.//x/y", {"z", "a:/.//x/z"}, {"..", "a:/.//"}, {"#f", "a:/.//x/y#f"}, {"/z", "a:/z"});
    CHECK_HREFS("a://h", {"z", "a://h/z"}, {"", "a://h"}, {"?q", "a://h?q"}, {"..", "a://h/"});
}

static void nothing_but_a_fragment_resolves_against_an_opaque_path(void **state)
{
    (void)state;
    CHECK_HREFS("mailto:a@b?c#d", {"#x", "mailto:a@b?c#x"}, {"", NULL}, {"x", NULL}, {"?x", NULL}, {"?#x", NULL},
                {"/x", NULL}, {"http://h", "http://h/"});
}

static void files_keep_host_and_drive_of_the_base(void **state)
{
    (void)state;
    CHECK_HREFS("file://h/C:/a/b?q", {"x", "file://h/C:/a/x"}, {"/x", "file://h/C:/x"}, {"//g/x", "file://g/x"},
                {"../../..", "file://h/C:/"}, {"D|", "file://h/D:"}, {"/D|/x", "file://h/D:/x"},
                {"", "file://h/C:/a/b?q"}, {"?", "file://h/C:/a/b?"}, {"#f", "file://h/C:/a/b?q#f"},
                {"file:x", "file://h/C:/a/x"}, {"file:/x", "file://h/C:/x"}, {"D:x", "d:x"},
                {"D|x", "file://h/C:/a/D|x"}, {"///x", "file:///x"}, {"http:x", "http://x/"});
    CHECK_HREFS("file:///a/b", {"/C|/x", "file:///C:/x"}, {"C|", "file:///C:"}, {"C|?q", "file:///C:?q"},
                {"\\x", "file:///x"}, {"//localhost/x", "file:///x"}, {"//C:/x", "file:///C:/x"}, {"..", "file:///"});
}

static void a_base_must_be_an_absolute_url(void **state)
{
    char out[64];
    size_t len = sizeof out;
    (void)state;
    assert_int_equal(vidi_url_resolve((vidi_str){"no base", 7}, (vidi_str){"http://h/", 9}, out, &len), VIDI_EARGUMENT);
    assert_int_equal(len, 0);
    assert_null(href_of("http://h/", "no base"));
    assert_non_null(strstr(vidi_message(), "the base is not a URL: "));
    assert_null(href_of("x", ""));
    assert_null(href_of("x", NULL));
    assert_non_null(strstr(vidi_message(), "no base"));
}

static void resolve_gives_what_parse_gives(void **state)
{
    (void)state;
    static const char *const references[] = {"", "x/../y", "//g", "http:z", "?q#f", "//"};
    vidi_str base = {"http://h/a/b?c", 14};
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        char out[64];
        size_t len = sizeof out;
        int result = vidi_url_resolve(base, (vidi_str){references[i], strlen(references[i])}, out, &len);
        const char *want = href_of(references[i], "http://h/a/b?c");
        assert_int_equal(result, want ? VIDI_OK : VIDI_INVALID);
        assert_int_equal(len, want ? strlen(want) : 0);
        if (want)
            assert_memory_equal(out, want, len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_take_from_the_base_what_they_lack),
        cmocka_unit_test(a_reference_with_the_bases_scheme_may_still_be_relative),
        cmocka_unit_test(bases_of_other_schemes_do_the_same_without_backslashes),
        cmocka_unit_test(nothing_but_a_fragment_resolves_against_an_opaque_path),
        cmocka_unit_test(files_keep_host_and_drive_of_the_base),
        cmocka_unit_test(a_base_must_be_an_absolute_url),
        cmocka_unit_test(resolve_gives_what_parse_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
