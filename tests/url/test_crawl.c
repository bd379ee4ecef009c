/* The rules of crawl: each one on and off, their order, and what version 1 does differently. */
#include "url/canonical.h"

static void crawl_begins_with_the_standard(void **state)
{
    (void)state;
    CHECK_CANONICAL({"crawl", "HTTP://Example.com:80/a/../b?", "http://example.com/b"},
                    {"crawl", "http://u:p@h/#f", "http://u:p@h/"}, {"crawl", "nothing", NULL}, {"crawl", "", NULL},
                    {"crawl", "http://h:0/", "http://h:0/"}, {"crawl", "https://h/a", "https://h/a"});
}

static void empty_parameters_go(void **state)
{
    (void)state;
    CHECK_CANONICAL({"crawl", "http://h/?", "http://h/"}, {"crawl", "http://h/?&&", "http://h/"},
                    {"crawl", "http://h/?&a&&b&", "http://h/?a&b"}, {"crawl", "http://h/?=", "http://h/?="},
                    {"crawl", "http://h/?a=", "http://h/?a="}, {"crawl,-empty", "http://h/?", "http://h/?"},
                    {"crawl,-empty", "http://h/?&a&&b&", "http://h/?&&&a&b"},
                    {"crawl,-empty,-sort", "http://h/?&a&&b&", "http://h/?&a&&b&"});
}

static void escapes_have_one_spelling(void **state)
{
    (void)state;
    CHECK_CANONICAL({"crawl", "http://h/%7euser/%41%2d%5F%2e/%c3%a9", "http://h/~user/A-_./%C3%A9"},
                    {"crawl", "http://h/a%2fb%3f", "http://h/a%2Fb%3F"},
                    {"crawl", "http://h/?%61=%26%3d", "http://h/?a=%26%3D"},
                    {"crawl", "http://h/%2541", "http://h/%2541"}, {"crawl", "http://h/100%", "http://h/100%25"},
                    {"crawl", "http://h/%%34%31", "http://h/%2541"}, {"crawl", "http://h/%zz%4", "http://h/%25zz%254"},
                    {"crawl", "http://h/?%&%4&%41%", "http://h/?%25&%254&A%25"},
                    {"crawl", "http://%61/%61", "http://a/a"}, {"crawl", "http://%41%40@h/", "http://%41%40@h/"},
                    {"crawl,-percent", "http://h/%7e%c3?%61", "http://h/%7e%c3?%61"});
}

static void slashes_in_the_path_are_folded(void **state)
{
    (void)state;
    CHECK_CANONICAL({"crawl", "http://h//a///b//?c//d", "http://h/a/b/?c//d"}, {"crawl", "http://h//", "http://h/"},
                    {"crawl", "http://h/%2f/a", "http://h/%2F/a"}, {"crawl", "http://h//../a//../b", "http://h/a/b"},
                    {"crawl,-slashes", "http://h//a//", "http://h//a//"});
}

static void sessions_go(void **state)
{
    (void)state;
    CHECK_CANONICAL(
        {"crawl", "http://h/a;jsessionid=1F2E.node3", "http://h/a"},
        {"crawl", "http://h/a;JSESSIONID=1/b;jsessionid=2?c", "http://h/a/b?c"},
        {"crawl", "http://h/;jsessionid=1", "http://h/"}, {"crawl", "http://h/a/;jsessionid=1/b", "http://h/a/b"},
        {"crawl", "http://h/a;jsessionid=1;v=2;phpsessid=3", "http://h/a;v=2"},
        {"crawl", "http://h/a;jsessionid", "http://h/a;jsessionid"},
        {"crawl", "http://h/jsessionid=1", "http://h/jsessionid=1"},
        {"crawl", "http://h/b/..;jsessionid=1/a", "http://h/b/..;jsessionid=1/a"},
        {"crawl", "http://h/b/.;jsessionid=1;sid=2/a", "http://h/b/.;sid=2/a"},
        {"crawl,-percent", "http://h/b/%2E.;jsessionid=1/a", "http://h/b/%2E.;jsessionid=1/a"},
        {"crawl", "http://h/(S(4hqa0555fwsecu455xqckv45))/a.aspx", "http://h/a.aspx"},
        {"crawl", "http://h/(4hqa0555fwsecu455xqckv45)/", "http://h/"},
        {"crawl", "http://h/x/(A(4hqa0555fwsecu455xqckv45)F(4hqa0555fwsecu455xqckv45))", "http://h/x/"},
        {"crawl", "http://h/(S(4hqa0555fwsecu455xqckv4))/a", "http://h/(S(4hqa0555fwsecu455xqckv4))/a"},
        {"crawl", "http://h/?PHPSESSID=x&a=1", "http://h/?a=1"}, {"crawl", "http://h/?phpsessid=x", "http://h/"},
        {"crawl", "http://h/?phpsessid", "http://h/?phpsessid"},
        {"crawl", "http://h/?ASPSESSIONIDQABC=X&b&jsessionid=", "http://h/?b"},
        {"crawl", "http://h/?CFID=1&CFTOKEN=2&a", "http://h/?a"},
        {"crawl", "http://h/?sid=9682993c8daa2c5497996114facdc805&a", "http://h/?a"},
        {"crawl", "http://h/?sid=42&session=spring-of-1996-and-on", "http://h/?session=spring-of-1996-and-on&sid=42"},
        {"crawl", "http://h/?session_id=0f5e2c1a-9b3d-4e6f-8a7b-0123456789ab&a", "http://h/?a"},
        {"crawl", "http://h/a;SID=9682993C8DAA2C5497996114FACDC805", "http://h/a"},
        {"crawl,-session", "http://h/a;jsessionid=1?sid=9682993c8daa2c5497996114facdc805",
         "http://h/a;jsessionid=1?sid=9682993c8daa2c5497996114facdc805"});
}

/* Names that other parameters have too, such as sid, need a value that looks like a session. */
static void only_32_hexadecimal_digits_or_a_uuid_look_like_a_session(void **state)
{
    (void)state;
    static const char *const names[] = {"sid", "sessid", "sess_id", "session", "sessionid", "session_id", "session-id"};
    static const char *const sessions[] = {"9682993c8daa2c5497996114facdc805", "9682993C8DAA2C5497996114FACDC805",
                                           "abcdefabcdefabcdefabcdefabcdefab", "0f5e2c1a-9b3d-4e6f-8a7b-0123456789AB"};
    static const char *const others[] = {"",
                                         "42",
                                         "0123456789abcdef",                      /* 16 */
                                         "a1b2c3d4e5f6a7b8c9d0",                  /* 20: the name of a survey */
                                         "9682993c8daa2c5497996114facdc80",       /* 31 */
                                         "9682993c8daa2c5497996114facdc8051",     /* 33 */
                                         "9682993c8daa2c5497996114facdc80g",      /* not hexadecimal */
                                         "0f5e2c1a-9b3d-4e6f-8a7b-0123456789a",   /* 35 */
                                         "0f5e2c1a-9b3d-4e6f-8a7b-0123456789abc", /* 37 */
                                         "0f5e2c1a9b3d-4e6f-8a7b-0123456789abcd", /* a dash elsewhere */
                                         "0f5e2c1a-9b3d-4e6f-8a7b00123456789ab",
                                         "-f5e2c1a-9b3d-4e6f-8a7b-0123456789ab",
                                         "968299-c8daa2c5497996114facdc805",
                                         "0123456789abcdef0123456789abcdef01234567"};
    vidi_canon *canon = canon_with("crawl", NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char url[200];
        for (size_t j = 0; j < sizeof sessions / sizeof *sessions; j++) {
            snprintf(url, sizeof url, "http://h/a;%s=%s?%s=%s", names[i], sessions[j], names[i], sessions[j]);
            const char *got = canonical_by(canon, url);
            check(got && strcmp(got, "http://h/a") == 0, "<%s> became <%s>", url, got ? got : "");
        }
        for (size_t j = 0; j < sizeof others / sizeof *others; j++) {
            snprintf(url, sizeof url, "http://h/a;%s=%s?%s=%s", names[i], others[j], names[i], others[j]);
            const char *got = canonical_by(canon, url);
            check(got && strcmp(got, url) == 0, "<%s> became <%s>", url, got ? got : "");
        }
    }
    vidi_canon_close(canon);
}

static void www_goes_if_asked(void **state)
{
    (void)state;
    CHECK_CANONICAL(
        {"crawl", "http://www.example.com/", "http://www.example.com/"},
        {"crawl,+www", "http://www.example.com/a?b", "http://example.com/a?b"},
        {"crawl,+www", "http://WWW.Example.com:81/a//b", "http://example.com:81/a/b"},
        {"crawl,+www", "http://u:p@www.example.com/", "http://u:p@example.com/"},
        {"crawl,+www", "http://www.www.example.com/", "http://example.com/"},
        {"crawl,+www", "http://www.com/", "http://www.com/"}, {"crawl,+www", "http://www.com./", "http://www.com./"},
        {"crawl,+www", "http://www.www.com:80/", "http://www.com/"},
        {"crawl,+www", "http://www.com:8080/a.b", "http://www.com:8080/a.b"},
        {"crawl,+www", "http://www..example.com/", "http://www..example.com/"},
        {"crawl,+www", "http://www.gov.uk/", "http://gov.uk/"}, {"crawl,+www", "http://www/", "http://www/"},
        {"crawl,+www", "http://www2.example.com/", "http://www2.example.com/"},
        {"crawl,+www", "http://wwwx.example.com/", "http://wwwx.example.com/"},
        {"crawl,+www", "http://a.www.example.com/", "http://a.www.example.com/"},
        {"crawl,+www",
         "http://www.b\xc3\xbc"
         "cher.de/",
         "http://xn--bcher-kva.de/"},
        {"crawl,+www", "ftp://www.example.com/", "ftp://example.com/"},
        {"crawl,+www", "x://www.example.com/", "x://www.example.com/"});
}

static void http_and_https_are_one_if_asked(void **state)
{
    (void)state;
    CHECK_CANONICAL(
        {"crawl", "http://h/", "http://h/"}, {"crawl,+scheme", "http://h/a?b", "https://h/a?b"},
        {"crawl,+scheme", "https://h/a?b", "https://h/a?b"}, {"crawl,+scheme", "HTTP://h:80/?b&a", "https://h/?a&b"},
        {"crawl,+scheme", "http://h:8080/", "https://h:8080/"}, {"crawl,+scheme", "https://h:8080/", "https://h:8080/"},
        {"crawl,+scheme", "http://h:443/", "http://h:443/"}, {"crawl,+scheme", "http://h:1443/", "https://h:1443/"},
        {"crawl,+scheme", "https://h:80/", "https://h:80/"}, {"crawl,+scheme", "http://[::443]/", "https://[::443]/"},
        {"crawl,+scheme", "http://[::1]:443/", "http://[::1]:443/"}, {"crawl,+scheme", "http://u@h/", "https://u@h/"},
        {"crawl,+scheme", "ws://h/", "ws://h/"}, {"crawl,+scheme", "ftp://h/", "ftp://h/"},
        {"crawl,+scheme,+www", "http://www.a.b/", "https://a.b/"});
}

static void the_last_slash_goes_if_asked(void **state)
{
    (void)state;
    CHECK_CANONICAL(
        {"crawl", "http://h/a/", "http://h/a/"}, {"crawl,+slash", "http://h/a/", "http://h/a"},
        {"crawl,+slash", "http://h/a", "http://h/a"}, {"crawl,+slash", "http://h/", "http://h/"},
        {"crawl,+slash", "http://h//", "http://h/"}, {"crawl,+slash,-slashes", "http://h//", "http://h/"},
        {"crawl,+slash,-slashes", "http://h/a//", "http://h/a"}, {"crawl,+slash", "http://h/a/?b/", "http://h/a?b/"},
        {"crawl,+slash", "http://h/a/index.html?b", "http://h/a?b"},
        {"crawl,+slash", "http://h/index.html", "http://h/"},
        {"crawl,+slash", "http://h/index.html/", "http://h/index.html/"},
        {"crawl,+slash,-index", "http://h/index.html/", "http://h/index.html"},
        {"crawl,+slash", "http://h/index.html/index.html", "http://h/index.html/"},
        {"crawl,+slash", "http://h/a/;jsessionid=1", "http://h/a"}, {"crawl,+slash", "http://h/%2f/", "http://h/%2F"},
        {"crawl,+slash", "http://h/a/..", "http://h/"}, {"crawl,+slash", "x://h/a/", "x://h/a/"});
}

static void fragments_that_name_pages_stay_if_asked(void **state)
{
    (void)state;
    CHECK_CANONICAL({"crawl", "http://h/#!a", "http://h/"}, {"crawl", "http://h/#/a", "http://h/"},
                    {"crawl,+fragment", "http://h/#!a", "http://h/#!a"},
                    {"crawl,+fragment", "http://h/#/a", "http://h/#/a"},
                    {"crawl,+fragment", "http://h/#top", "http://h/"}, {"crawl,+fragment", "http://h/#", "http://h/"},
                    {"crawl,+fragment", "http://h/#a!", "http://h/"}, {"crawl,+fragment", "http://h/#a/", "http://h/"},
                    {"crawl,+fragment", "HTTP://h//a/?utm_x&b&%7E=%&a#!c=%7e&d//", "http://h/a/?a&b&~=%25#!c=%7e&d//"},
                    {"crawl,+fragment", "http://h/?utm_x#/a", "http://h/#/a"},
                    {"crawl,+fragment,+slash,+www,+scheme", "http://www.a.b/c/#/d/", "https://a.b/c#/d/"},
                    {"crawl,+fragment", "mailto:a#/b", "mailto:a#/b"});
}

static void tracking_goes(void **state)
{
    (void)state;
    CHECK_CANONICAL({"crawl", "http://h/?utm_source=a&UTM_Medium=b&utm_=&x=1", "http://h/?x=1"},
                    {"crawl", "http://h/?fbclid=1", "http://h/"}, {"crawl", "http://h/?gclid", "http://h/"},
                    {"crawl", "http://h/?%75tm_source=1&a", "http://h/?a"},
                    {"crawl", "http://h/?utm=1&fbclid2=3&a=utm_source", "http://h/?a=utm_source&fbclid2=3&utm=1"},
                    {"crawl,-empty", "http://h/?utm_source", "http://h/"},
                    {"crawl,-tracking", "http://h/?utm_source=a", "http://h/?utm_source=a"});
}

static void default_documents_go(void **state)
{
    (void)state;
    CHECK_CANONICAL(
        {"crawl", "http://h/index.html", "http://h/"}, {"crawl", "http://h/a/Index.PHP?b", "http://h/a/?b"},
        {"crawl", "http://h/default.aspx", "http://h/"}, {"crawl", "http://h/default.php", "http://h/default.php"},
        {"crawl", "http://h/index.html/", "http://h/index.html/"}, {"crawl", "http://h/index", "http://h/index"},
        {"crawl", "http://h/index.html5", "http://h/index.html5"},
        {"crawl", "http://h/xindex.html", "http://h/xindex.html"},
        {"crawl,-index", "http://h/index.html", "http://h/index.html"});
}

static void parameters_are_sorted_by_name_alone(void **state)
{
    (void)state;
    CHECK_CANONICAL({"crawl", "http://h/?b=2&a=9&b=1&a=1", "http://h/?a=9&a=1&b=2&b=1"},
                    {"crawl", "http://h/?a-b=1&a=1&a", "http://h/?a=1&a&a-b=1"},
                    {"crawl", "http://h/?b&B", "http://h/?B&b"}, {"crawl", "http://h/?b;a", "http://h/?b;a"},
                    {"crawl,-sort", "http://h/?b&a", "http://h/?b&a"});
}

static void many_parameters_are_sorted_too(void **state)
{
    (void)state;
    enum { MANY = 500 };
    char input[8000] = "http://h/?", want[8000] = "http://h/?";
    for (unsigned i = 0; i < MANY; i++) {
        size_t in = strlen(input), to = strlen(want);
        unsigned shuffled = i * 211 % MANY, name = shuffled / 2;
        snprintf(input + in, sizeof input - in, "%sp%03u=%u", i ? "&" : "", name, i);
        unsigned first = (2 * (i / 2)) * 391u % MANY, second = (2 * (i / 2) + 1) * 391u % MANY; /* 211 * 391 = 1 */
        unsigned place = (i % 2 == 0) == (first < second) ? first : second;
        snprintf(want + to, sizeof want - to, "%sp%03u=%u", i ? "&" : "", i / 2, place);
    }
    check_canonical(&(canonical_case){"crawl", input, want}, 1);
}

static void later_rules_see_what_earlier_ones_made(void **state)
{
    (void)state;
    CHECK_CANONICAL({"crawl",
                     "http://H//a/%69ndex.html;jsessionid=1?z=1&%75tm_x&&sid=0123456789abcdef0123456789abcdef&A=2#f",
                     "http://h/a/?A=2&z=1"},
                    {"crawl,-percent", "http://h/%69ndex.html?%75tm_x", "http://h/%69ndex.html?%75tm_x"},
                    {"crawl,-session", "http://h/index.html;jsessionid=1", "http://h/index.html;jsessionid=1"});
}

static void other_schemes_are_only_parsed(void **state)
{
    (void)state;
    CHECK_CANONICAL({"crawl", "file:///a//index.html?", "file:///a//index.html?"},
                    {"crawl", "file:///%43|/x", "file:///%43|/x"}, {"crawl", "mailto:a@b?b&a#c", "mailto:a@b?b&a"},
                    {"crawl", "x://H//a?b&a", "x://H//a?b&a"}, {"crawl", "ftp://h//index.html", "ftp://h/"},
                    {"crawl", "wss://h/?b&a", "wss://h/?a&b"});
}

static void a_list_replaces_or_extends_the_tracking_parameters(void **state)
{
    (void)state;
    const char *input = "http://h/?utm_source=1&from=2&a_b_c=3&keep";
    vidi_canon *canon = canon_with("crawl", "# ours\n  From\t\r\n\na*_*c\n");
    assert_string_equal(canonical_by(canon, input), "http://h/?keep&utm_source=1");
    vidi_canon_close(canon);
    canon = canon_with("crawl", "from\n@builtin");
    assert_string_equal(canonical_by(canon, input), "http://h/?a_b_c=3&keep");
    vidi_canon_close(canon);
    canon = canon_with("crawl", "");
    assert_string_equal(canonical_by(canon, "http://h/?utm_source"), "http://h/?utm_source");
    vidi_canon_close(canon);
    canon = canon_with("crawl", "*");
    assert_string_equal(canonical_by(canon, input), "http://h/");
    vidi_canon_close(canon);
    canon = canon_with("crawl", "q\nr*\nst");
    assert_string_equal(canonical_by(canon, "http://h/?q&Q=1&qq&r&Rr=2&s&st&stu"), "http://h/?qq&s&stu");
    vidi_canon_close(canon);
    canon = canon_with("crawl", "*p\n*s*c*e");
    assert_string_equal(canonical_by(canon, input), "http://h/?a_b_c=3&from=2");
    vidi_canon_close(canon);
}

static void a_list_is_part_of_the_name(void **state)
{
    (void)state;
    char name[200];
    vidi_canon *a = canon_with("crawl,-sort", "x*\ny"), *b = canon_with("crawl,-sort", "# same\nX*\r\n\ny\n");
    assert_string_equal(vidi_canon_name(a), vidi_canon_name(b));
    assert_int_equal(strncmp(vidi_canon_name(a), "crawl/1,-sort,tracking=", 23), 0);
    snprintf(name, sizeof name, "%s", vidi_canon_name(a));
    vidi_canon_close(a);
    vidi_canon_close(b);
    a = canon_with(name, "x*\ny");
    assert_string_equal(vidi_canon_name(a), name);
    vidi_canon_close(a);
    assert_int_equal(vidi_canon_create(&a, name, "x*\nz", NULL), VIDI_EDIFFERS);
    assert_int_equal(vidi_canon_create(&a, name, NULL, NULL), VIDI_EDIFFERS);
    assert_int_equal(vidi_canon_create(&a, "crawl,-tracking", "x*", NULL), VIDI_EOPTION);
    assert_null(a);
}

static void bad_lists_are_refused(void **state)
{
    (void)state;
    vidi_canon *canon;
    char text[400];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    assert_int_equal(vidi_canon_create(&canon, "crawl", text, NULL), VIDI_EOPTION);
    assert_int_equal(vidi_canon_create(&canon, "crawl", "a b", NULL), VIDI_EOPTION);
    assert_int_equal(vidi_canon_create(&canon, "crawl", "a=b", NULL), VIDI_EOPTION);
    assert_int_equal(vidi_canon_create(&canon, "whatwg", "a", NULL), VIDI_EOPTION);
    assert_int_equal(vidi_canon_create(&canon, "surt,tracking=1", NULL, NULL), VIDI_EOPTION);
    assert_null(canon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crawl_begins_with_the_standard),
        cmocka_unit_test(empty_parameters_go),
        cmocka_unit_test(escapes_have_one_spelling),
        cmocka_unit_test(slashes_in_the_path_are_folded),
        cmocka_unit_test(sessions_go),
        cmocka_unit_test(only_32_hexadecimal_digits_or_a_uuid_look_like_a_session),
        cmocka_unit_test(www_goes_if_asked),
        cmocka_unit_test(http_and_https_are_one_if_asked),
        cmocka_unit_test(the_last_slash_goes_if_asked),
        cmocka_unit_test(fragments_that_name_pages_stay_if_asked),
        cmocka_unit_test(tracking_goes),
        cmocka_unit_test(default_documents_go),
        cmocka_unit_test(parameters_are_sorted_by_name_alone),
        cmocka_unit_test(many_parameters_are_sorted_too),
        cmocka_unit_test(later_rules_see_what_earlier_ones_made),
        cmocka_unit_test(other_schemes_are_only_parsed),
        cmocka_unit_test(a_list_replaces_or_extends_the_tracking_parameters),
        cmocka_unit_test(a_list_is_part_of_the_name),
        cmocka_unit_test(bad_lists_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
