/* Absolute URLs: every rule of the URL Standard's parser besides hosts. */
#include "href.h"

static void schemes_are_lowered_and_end_at_the_colon(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"HTTP://h/", "http://h/"}, {"hTTps://h", "https://h/"}, {"Git+SSH://h/x", "git+ssh://h/x"},
                {"a1-.:x", "a1-.:x"}, {"1a:x", NULL}, {"+a:x", NULL}, {":x", NULL}, {"", NULL}, {"no scheme", NULL},
                {"h_p://h/", NULL}, {"http", NULL});
}

static void blanks_around_and_newlines_within_are_dropped(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {" \x01\x1f http://h/a \t\n", "http://h/a"},
                {"ht\ntp:\t//h\r/a\nb?c\td#e\tf", "http://h/ab?cd#ef"}, {"http://h/a b", "http://h/a%20b"},
                {"\t\n", NULL}, {"http:/\t/h", "http://h/"}, {"http://h/.\t./a", "http://h/a"});
}

static void special_schemes_take_any_number_of_slashes(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"http:h", "http://h/"}, {"http:/h", "http://h/"}, {"https:///h/x", "https://h/x"},
                {"ws:\\\\h\\x\\y", "ws://h/x/y"}, {"wss:\\/\\h", "wss://h/"}, {"ftp:////h", "ftp://h/"},
                {"http:", NULL}, {"http://", NULL}, {"http:///", NULL}, {"http://?q", NULL}, {"http://#f", NULL});
}

static void other_schemes_have_a_host_only_behind_two_slashes(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"a://h", "a://h"}, {"a://h/", "a://h/"}, {"a://", "a://"}, {"a:///x", "a:///x"},
                {"a:/x/y", "a:/x/y"}, {"a:x/../y", "a:x/../y"}, {"a:\\x", "a:\\x"}, {"a://h\\x", NULL},
                {"a://h?q#f", "a://h?q#f"}, {"a:", "a:"}, {"a:/", "a:/"}, {"a:/x/..", "a:/"});
}

static void a_path_that_begins_with_two_slashes_never_becomes_a_host(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"a:/.//x", "a:/.//x"}, {"a:/y/..//x", "a:/.//x"}, {"a:/..//x?q", "a:/.//x?q"},
                {"a:/./x", "a:/x"}, {"a:////x", "a:////x"});
}

static void user_names_end_at_the_last_at_sign(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"http://u@h/", "http://u@h/"}, {"http://u:p@h/", "http://u:p@h/"},
                {"http://:p@h/", "http://:p@h/"}, {"http://u:@h/", "http://u@h/"}, {"http://:@h/", "http://h/"},
                {"http://@h/", "http://h/"}, {"http://a@b@h/", "http://a%40b@h/"},
                {"http://a:b:c@h/", "http://a:b%3Ac@h/"}, {"http://u;=|[]^@h/", "http://u%3B%3D%7C%5B%5D%5E@h/"},
                {"http://u@/", NULL}, {"a://u@/", NULL}, {"http://u:p@", NULL}, {"http://h/u@x", "http://h/u@x"},
                {"http://\xc3\xa9@h/", "http://%C3%A9@h/"});
}

static void default_ports_are_dropped_and_bad_ones_refused(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"http://h:80/", "http://h/"}, {"https://h:443/", "https://h/"}, {"ws://h:80", "ws://h/"},
                {"wss://h:443", "wss://h/"}, {"ftp://h:21/", "ftp://h/"}, {"http://h:443/", "http://h:443/"},
                {"a://h:80/", "a://h:80/"}, {"http://h:/", "http://h/"}, {"http://h:0/", "http://h:0/"},
                {"http://h:00080/", "http://h/"}, {"http://h:65535/", "http://h:65535/"}, {"http://h:65536/", NULL},
                {"http://h:99999999999999999999/", NULL}, {"http://h:8a/", NULL}, {"http://h:-1/", NULL},
                {"http://:80/", NULL}, {"a://:80/", NULL}, {"http://h:80:80/", NULL},
                {"http://u:80@h:81", "http://u:80@h:81/"});
}

static void dots_in_every_spelling_shape_the_path(void **state)
{
    (void)state;
    CHECK_HREFS(
        NULL, {"http://h/a/./b", "http://h/a/b"}, {"http://h/a/../b", "http://h/b"}, {"http://h/a/..", "http://h/"},
        {"http://h/a/.", "http://h/a/"}, {"http://h/../../a", "http://h/a"}, {"http://h/a/%2e/b", "http://h/a/b"},
        {"http://h/a/%2E%2e/b", "http://h/b"}, {"http://h/a/.%2E", "http://h/"}, {"http://h/a/%2e./b", "http://h/b"},
        {"http://h/...", "http://h/..."}, {"http://h/.a/..b", "http://h/.a/..b"}, {"http://h/a./b", "http://h/a./b"},
        {"http://h/%2f..", "http://h/%2f.."}, {"http://h/%2e%2", "http://h/%2e%2"}, {"http://h//..", "http://h/"},
        {"http://h/a//../b", "http://h/a/b"}, {"http://h/a\\..\\b", "http://h/b"}, {"a://h/a\\..\\b", "a://h/a\\..\\b"},
        {"a://h/x/../..", "a://h/"}, {"http://h/a/b/../..", "http://h/"}, {"http://h/?/../a", "http://h/?/../a"});
}

static void each_part_has_its_own_characters_to_encode(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"http://h/ \"<>`{}^|'", "http://h/%20%22%3C%3E%60%7B%7D%5E|'"},
                {"http://h/?\"<>'`{}^|", "http://h/?%22%3C%3E%27`{}^|"}, {"a://h/?'", "a://h/?'"},
                {"http://h/#\"<>`'{}^|#?", "http://h/#%22%3C%3E%60'{}^|#?"}, {"a: x\"<>`", "a: x\"<>`"},
                {"a:\x01\x7f\xc3\xa9", "a:%01%7F%C3%A9"}, {"http://h/%zz%4", "http://h/%zz%4"},
                {"http://h/%41%c3", "http://h/%41%c3"}, {"http://h/\x7f", "http://h/%7F"},
                {"http://h/\xf0\x9f\x92\xa9?\xe2\x82\xac#\xc3\xbc", "http://h/%F0%9F%92%A9?%E2%82%AC#%C3%BC"});
}

static void what_is_not_utf8_becomes_the_replacement_character(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"http://h/\xff", "http://h/%EF%BF%BD"}, {"http://h/\xc3", "http://h/%EF%BF%BD"},
                {"http://h/\xe2\x82", "http://h/%EF%BF%BD"}, {"http://h/\xe2\x82/", "http://h/%EF%BF%BD/"},
                {"http://h/\xc0\xaf", "http://h/%EF%BF%BD%EF%BF%BD"},
                {"http://h/\xed\xa0\x80", "http://h/%EF%BF%BD%EF%BF%BD%EF%BF%BD"},
                {"http://h/\xf4\x90\x80\x80", "http://h/%EF%BF%BD%EF%BF%BD%EF%BF%BD%EF%BF%BD"},
                /* no character comes together when what stands between its bytes is dropped */
                {"http://h/\xc3\t\xa9", "http://h/%EF%BF%BD%EF%BF%BD"});
}

static void queries_and_fragments_may_be_empty_or_absent(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"http://h?q", "http://h/?q"}, {"http://h#f", "http://h/#f"}, {"http://h/?", "http://h/?"},
                {"http://h/#", "http://h/#"}, {"http://h/?#", "http://h/?#"},
                {"http://h/?a?b#c#d?e", "http://h/?a?b#c#d?e"}, {"http://h/#?", "http://h/#?"}, {"a:b?c#d", "a:b?c#d"});
}

static void the_last_space_of_an_opaque_path_is_encoded(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"a:b  ", "a:b"}, {"a:b  #f", "a:b %20#f"}, {"a:b ?q", "a:b%20?q"}, {"a: b c", "a: b c"});
}

static void files_have_drives_and_no_localhost(void **state)
{
    (void)state;
    CHECK_HREFS(NULL, {"file:///a", "file:///a"}, {"file:a", "file:///a"}, {"file:/a", "file:///a"},
                {"file:", "file:///"}, {"file://h/a", "file://h/a"}, {"file://LOCALHOST/a", "file:///a"},
                {"file:\\\\h\\a", "file://h/a"}, {"file:///C|/a", "file:///C:/a"}, {"file:c:/../..", "file:///c:/"},
                {"file:///C|", "file:///C:"}, {"file://C|/a", "file:///C:/a"}, {"file://C:", "file:///C:"},
                {"file:///CC|/", "file:///CC|/"}, {"file:///a/C|/..", "file:///a/"}, {"file:////a", "file:////a"},
                {"file://h:80/", NULL}, {"file://h/C|/..", "file://h/C:/"}, {"file://%43%3A/", NULL},
                {"file:?q", "file:///?q"});
}

static const vidi_url *parts_of(const char *input)
{
    static char out[256];
    static vidi_url url;
    size_t len = sizeof out;
    url = (vidi_url){.size = sizeof url};
    check(vidi_url_parse((vidi_str){input, strlen(input)}, NULL, out, &len, &url) == VIDI_OK, "%s", vidi_message());
    return &url;
}

static void check_part(vidi_str part, const char *want)
{
    check(want ? part.ptr && part.len == strlen(want) && memcmp(part.ptr, want, part.len) == 0 : !part.ptr && !part.len,
          "<%.*s> instead of <%s>", (int)part.len, part.ptr ? part.ptr : "", want ? want : "nothing");
}

static void all_parts_are_shown(void **state)
{
    (void)state;
    const vidi_url *url = parts_of("HTTPS://u:p@H.example:8443/a/b?c=d#e");
    check_part(url->href, "https://u:p@h.example:8443/a/b?c=d#e");
    check_part(url->scheme, "https");
    check_part(url->username, "u");
    check_part(url->password, "p");
    check_part(url->host, "h.example");
    check_part(url->port, "8443");
    check_part(url->path, "/a/b");
    check_part(url->query, "c=d");
    check_part(url->fragment, "e");
    assert_int_equal(url->port_number, 8443);
    assert_int_equal(url->host_kind, VIDI_URL_DOMAIN);
    assert_int_equal(url->flags, VIDI_URL_IS_SPECIAL);
}

static void absent_parts_are_null_and_empty_ones_are_not(void **state)
{
    (void)state;
    const vidi_url *url = parts_of("mailto:a@b.example");
    check_part(url->host, NULL);
    check_part(url->username, NULL);
    check_part(url->port, NULL);
    check_part(url->path, "a@b.example");
    check_part(url->query, NULL);
    check_part(url->fragment, NULL);
    assert_int_equal(url->port_number, -1);
    assert_int_equal(url->host_kind, VIDI_URL_NO_HOST);
    assert_int_equal(url->flags, VIDI_URL_HAS_OPAQUE_PATH);
    url = parts_of("file:///?#");
    check_part(url->host, "");
    check_part(url->username, "");
    check_part(url->password, NULL);
    check_part(url->query, "");
    check_part(url->fragment, "");
    assert_int_equal(url->host_kind, VIDI_URL_EMPTY_HOST);
    url = parts_of("a:/.//x?y");
    check_part(url->path, "//x");
    check_part(url->query, "y");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemes_are_lowered_and_end_at_the_colon),
        cmocka_unit_test(blanks_around_and_newlines_within_are_dropped),
        cmocka_unit_test(special_schemes_take_any_number_of_slashes),
        cmocka_unit_test(other_schemes_have_a_host_only_behind_two_slashes),
        cmocka_unit_test(a_path_that_begins_with_two_slashes_never_becomes_a_host),
        cmocka_unit_test(user_names_end_at_the_last_at_sign),
        cmocka_unit_test(default_ports_are_dropped_and_bad_ones_refused),
        cmocka_unit_test(dots_in_every_spelling_shape_the_path),
        cmocka_unit_test(each_part_has_its_own_characters_to_encode),
        cmocka_unit_test(what_is_not_utf8_becomes_the_replacement_character),
        cmocka_unit_test(queries_and_fragments_may_be_empty_or_absent),
        cmocka_unit_test(the_last_space_of_an_opaque_path_is_encoded),
        cmocka_unit_test(files_have_drives_and_no_localhost),
        cmocka_unit_test(all_parts_are_shown),
        cmocka_unit_test(absent_parts_are_null_and_empty_ones_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
