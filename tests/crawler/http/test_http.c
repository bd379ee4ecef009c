/*
 * What heads of responses say: fields, types, dates, X-Robots-Tag, and the head for the archive.
 */
#include <stdio.h>
#include <string.h>

#include "crawler/html/html.h"
#include "crawler/http/http.h"
#include "support/check.h"

static vidi_str text_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

static bool is(vidi_str text, const char *expected)
{
    return text.len == strlen(expected) && memcmp(text.ptr, expected, text.len) == 0;
}

/* All fields as "name=value|name=value|". */
static const char *fields_of(vidi_str head)
{
    static char all[1000];
    http_field field;
    all[0] = 0;
    for (size_t at = 0; http_next(head, &at, &field);)
        sprintf(all + strlen(all), "%.*s=%.*s|", (int)field.name.len, field.name.ptr, (int)field.value.len,
                field.value.ptr);
    return all;
}

static void fields_are_read_as_they_came(void **state)
{
    (void)state;
    static const struct {
        const char *head, *fields;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\nA: b\r\nC:d\r\n\r\n", "A=b|C=d|"},
        {"HTTP/1.1 200 OK\nA: b\nC: d\n\n", "A=b|C=d|"},
        {"HTTP/1.1 200 OK\r\nA: b\r\n\r\nX: body\r\n", "A=b|"},
        {"HTTP/1.1 200 OK\r\nA: b\r\nC: d", "A=b|C=d|"},
        {"HTTP/1.1 200 OK\r\nA: b\r\nC", "A=b|"},
        {"HTTP/1.1 200 OK\r\nno field\r\nA: b\r\n\r\n", "A=b|"},
        {"HTTP/1.1 200 OK\r\n: nameless\r\nA: b\r\n\r\n", "A=b|"},
        {"HTTP/1.1 200 OK\r\n : folded into nothing\r\nA: b\r\n\r\n", "A=b|"},
        {"HTTP/1.1 200 OK\r\nno field\r\n A: b\r\nC: d\r\n\r\n", "C=d|"},
        {"HTTP/1.1 200 OK\r\nA:\r\nC: \t d \t \r\n\r\n", "A=|C=d|"},
        {"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "A=b|"},
        {"HTTP/1.1 200 OK\r\nA: b\r\n  c\r\n\td\r\nE: f\r\n\r\n", "A=b\r\n  c\r\n\td|E=f|"},
        {"HTTP/1.1 200 OK\r\nA: b:c\r\n\r\n", "A=b:c|"},
        {"HTTP/1.1 200 OK\r\n\r\n", ""},
        {"HTTP/1.1 200 OK", ""},
        {"\r\n\r\n", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(strcmp(fields_of(text_of(cases[i].head)), cases[i].fields) == 0, "%s: %s", cases[i].head,
              fields_of(text_of(cases[i].head)));
    assert_string_equal(fields_of((vidi_str){NULL, 0}), "");
}

static void behind_the_last_field_there_is_none_however_often_one_asks(void **state)
{
    (void)state;
    static const char *const heads[] = {"HTTP/1.1 200 OK\r\nA: b\r\n\r\nC: d\r\n", "HTTP/1.1 200 OK\r\nA: b",
                                        "x\n\nC: d\n", ""};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        http_field field;
        size_t at = 0;
        while (http_next(text_of(heads[i]), &at, &field))
            assert_true(is(field.name, "A"));
        assert_false(http_next(text_of(heads[i]), &at, &field));
        assert_false(http_next(text_of(heads[i]), &at, &field));
    }
}

static void a_zero_byte_is_a_byte_like_others(void **state)
{
    (void)state;
    static const char head[] = "HTTP/1.1 200 OK\r\nA: b\0c\r\nD\0E: f\r\nG: h\r\n\r\n";
    vidi_str text = {head, sizeof head - 1};
    vidi_str a = http_value(text, "a");
    assert_true(a.len == 3 && memcmp(a.ptr, "b\0c", 3) == 0);
    assert_true(is(http_value(text, "g"), "h"));
    assert_null(http_value(text, "d").ptr);
}

static void the_first_field_of_a_name_counts_in_any_case(void **state)
{
    (void)state;
    vidi_str head = text_of("HTTP/1.1 301 Moved\r\nlocation: /a\r\nLocation: /b\r\nLocations: /c\r\nEmpty:\r\n\r\n");
    assert_true(is(http_value(head, "location"), "/a"));
    assert_null(http_value(head, "locatio").ptr);
    assert_null(http_value(head, "http/1.1 301 moved").ptr);
    assert_non_null(http_value(head, "empty").ptr);
    assert_int_equal(http_value(head, "empty").len, 0);
}

static void types_come_in_lower_case_and_can_be_printed(void **state)
{
    (void)state;
    static const struct {
        const char *value, *type;
    } cases[] = {
        {"Text/HTML; charset=utf-8", "text/html"},
        {" text/html ", "text/html"},
        {"text/html,text/plain", "text/html"},
        {"application/xhtml+xml", "application/xhtml+xml"},
        {"text/html\x1b[31m", "text/html"},
        {"text/\xe2\x80\xae", "text/"},
        {"", ""},
        {";", ""},
        {"application/abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", "application/abcdefghijklmnopqrs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char type[32];
        size_t n = http_type(text_of(cases[i].value), type, sizeof type);
        assert_string_equal(type, cases[i].type);
        assert_int_equal(n, strlen(type));
    }
    assert_int_equal(http_type((vidi_str){NULL, 0}, NULL, 0), 0);
}

static void of_several_content_types_the_last_that_can_be_read_counts(void **state)
{
    (void)state;
    static const struct {
        const char *fields, *type, *charset;
    } cases[] = {
        {"", NULL, NULL},
        {"Content-Type: text/html\r\n", "text/html", NULL},
        {"Content-Type: text/plain\r\nContent-Type: text/html\r\n", "text/html", NULL},
        {"Content-Type: text/plain, text/html\r\n", "text/html", NULL},
        {"Content-Type: text/html;charset=gbk\r\nContent-Type: text/html\r\n", "text/html", "gbk"},
        {"Content-Type: text/html;charset=gbk, TEXT/HTML;x=y\r\n", "TEXT/HTML;x=y", "gbk"},
        {"Content-Type: text/plain;charset=gbk\r\nContent-Type: text/html\r\n", "text/html", NULL},
        {"Content-Type: text/html;charset=gbk, text/plain, text/html\r\n", "text/html", NULL},
        {"Content-Type: text/html;charset=gbk, text/html;charset=latin1\r\n", "text/html;charset=latin1", "latin1"},
        {"Content-Type: text/html;charset=gbk\r\nContent-Type: */*\r\n", "text/html;charset=gbk", "gbk"},
        {"Content-Type: text/html\r\nContent-Type: nonsense\r\nContent-Type:\r\n", "text/html", NULL},
        {"Content-Type: text/html;x=\"a, text/plain\", foo\r\n", "text/html;x=\"a, text/plain\"", NULL},
        {"Content-Type: text/html;x=\"a\\\", text/plain\"\r\n", "text/html;x=\"a\\\", text/plain\"", NULL},
        {"Content-Type: nonsense;charset=gbk\r\n", "nonsense;charset=gbk", "gbk"},
        {"Content-Type: text/\r\n", "text/", NULL},
        {"Content-Type: text/html x\r\nContent-Type: text/css\r\n", "text/css", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char head[300];
        vidi_str charset;
        sprintf(head, "HTTP/1.1 200 OK\r\n%s\r\n", cases[i].fields);
        vidi_str type = http_content_type(text_of(head), &charset);
        check(cases[i].type ? is(type, cases[i].type) : !type.ptr, "%s: %.*s", cases[i].fields, (int)type.len,
              type.ptr);
        check(cases[i].charset ? is(charset, cases[i].charset) : !charset.ptr, "%s: charset %.*s", cases[i].fields,
              (int)charset.len, charset.ptr);
    }
}

static void lengths_agree_if_they_are_the_same_number(void **state)
{
    (void)state;
    static const struct {
        const char *fields;
        bool agree;
    } cases[] = {
        {"", true},
        {"Content-Length: 5\r\n", true},
        {"Content-Length: 5\r\nX: y\r\nCONTENT-LENGTH: 5\r\n", true},
        {"Content-Length: 5, 5\r\n", true},
        {"Content-Length: 005\r\nContent-Length: 5\r\n", true},
        {"Content-Length: 0\r\nContent-Length: 00\r\n", true},
        {"Content-Length: 5\r\nContent-Length: 6\r\n", false},
        {"Content-Length: 6\r\nContent-Length: 5\r\nContent-Length: 5\r\n", false},
        {"Content-Length: 5\r\nContent-Length: 50\r\n", false},
        {"Content-Length: 5, 6\r\n", false},
        {"Content-Length: 5\r\nContent-Length:\r\nContent-Length: 6\r\n", false},
        {"Content-Length: 5\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char head[300];
        sprintf(head, "HTTP/1.1 200 OK\r\n%s\r\n", cases[i].fields);
        check(http_lengths_agree(text_of(head)) == cases[i].agree, "%s", cases[i].fields);
    }
}

/* All links of a field Link as "url rel;", with '^' before those that have an anchor. */
static const char *links_of(const char *value)
{
    static char all[1000];
    vidi_str left = text_of(value);
    http_link link;
    all[0] = 0;
    while (http_next_link(&left, &link))
        sprintf(all + strlen(all), "%s%.*s %.*s;", link.has_anchor ? "^" : "", (int)link.url.len, link.url.ptr,
                (int)link.rel.len, link.rel.ptr);
    return all;
}

static void link_fields_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *value, *links;
    } cases[] = {
        {"<a>; rel=next", "a next;"},
        {"<a>;rel=\"next prev\" , <b> ; REL = stylesheet;as=style,<c>", "a next prev;b stylesheet;c ;"},
        {"<a,b;c>; title=\"x, <y>; rel=z\"; rel=icon, <d>; rel=e", "a,b;c icon;d e;"},
        {"<a>; title=\"x\\\", <y>\"; rel=icon", "a icon;"},
        {"<a>; rel=one; rel=two", "a one;"},
        {"<a>; rel=one; anchor=\"#x\"", "^a one;"},
        {"<a>; rel*=x; crossorigin; rel=y", "a y;"},
        {",, <a>; rel=b ,,", "a b;"},
        {"nonsense, \"q, <x>\", <a>; rel=b", "a b;"},
        {"<a> junk; rel=b, <c>; rel=d", "a ;c d;"},
        {"< a >;rel=b", "a b;"},
        {"<a>\r\n ;\r\n\trel=b", "a b;"},
        {"<a>; rel=\"b", "a b;"},
        {"<a>; rel=", "a ;"},
        {"<a>;", "a ;"},
        {"<a", ""},
        {"<>;rel=b", " b;"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(strcmp(links_of(cases[i].value), cases[i].links) == 0, "%s: %s", cases[i].value,
              links_of(cases[i].value));
}

static void dates_come_in_three_formats(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t seconds; /* -1: no date */
    } cases[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},
        {"06 Nov 1994 08:49:37", 784111777},
        {"sun, 6 nov 1994 8:49:37 utc", 784111777},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Wed, 31 Dec 1969 23:59:59 GMT", 0},
        {"Thu, 29 Feb 2024 12:00:00 GMT", 1709208000},
        {"Tue, 29 Feb 2000 00:00:00 GMT", 951782400},
        {"Fri, 31 Dec 9999 23:59:59 GMT", 253402300799},
        {"Friday, 01-Jan-69 00:00:00 GMT", 3124224000},
        {"Sat, 30 Jun 2012 23:59:60 GMT", 1341100800},
        {"Wed, 29 Feb 2023 12:00:00 GMT", -1},
        {"Wed, 29 Feb 2100 12:00:00 GMT", -1},
        {"Sun, 06 Nov 1994 08:49:37 PST", -1},
        {"Sun, 06 Nov 1994 08:49:37 -0500", -1},
        {"Sun, 06 Nov 1994 24:00:00 GMT", -1},
        {"Sun, 06 Nov 1994 08:60:00 GMT", -1},
        {"Sun, 06 Nov 1994 08:49 GMT", -1},
        {"Sun, 06 Nov 1994 08:49:37:12 GMT", -1},
        {"Sun, 00 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 06 Foo 1994 08:49:37 GMT", -1},
        {"Sun, 06 Nov 994 08:49:37 GMT", -1},
        {"Sun, 06 Nov 19994 08:49:37 GMT", -1},
        {"1994-11-06T08:49:37Z", -1},
        {"Sun", -1},
        {"0", -1},
        {"", -1},
        {"a b c d e f g h i j k l m n", -1},
        {"Sun, 06 Nov 1994 08:49:37 GMT and more", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t expected = cases[i].seconds < 0 ? -1 : 1000 * cases[i].seconds;
        check(http_date(text_of(cases[i].text)) == expected, "%s: %lld", cases[i].text,
              (long long)http_date(text_of(cases[i].text)));
    }
}

static void retry_after_is_seconds_or_a_date_and_absurd_values_are_clipped(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int64_t ms;
    } cases[] = {
        {"120", 120000},
        {" 0 ", 0},
        {"1.5", 2000},
        {"Sun, 06 Nov 1994 08:49:47 GMT", 10000},
        {"Sun, 06 Nov 1994 08:49:36 GMT", 0},
        {"Sun, 06 Nov 1904 08:49:36 GMT", 0},
        {"Fri, 31 Dec 9999 23:59:59 GMT", HTTP_RETRY_MOST},
        {"99999999999999999999999999999999999", HTTP_RETRY_MOST},
        {"31536001", HTTP_RETRY_MOST},
        {"31535999", HTTP_RETRY_MOST - 1000},
        {"-1", -1},
        {"+1", -1},
        {".5", -1},
        {"1e3", -1},
        {"soon", -1},
        {"", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(http_retry_after(text_of(cases[i].value), 784111777000) == cases[i].ms, "%s: %lld", cases[i].value,
              (long long)http_retry_after(text_of(cases[i].value), 784111777000));
}

static void x_robots_tag_is_for_everybody_or_for_a_named_robot(void **state)
{
    (void)state;
    enum { INDEX = HTML_ROBOTS_NOINDEX, FOLLOW = HTML_ROBOTS_NOFOLLOW, ARCHIVE = HTML_ROBOTS_NOARCHIVE };
    static const struct {
        const char *fields;
        uint32_t flags;
    } cases[] = {
        {"X-Robots-Tag: nofollow\r\n", FOLLOW},
        {"x-robots-tag: NoFollow, NOARCHIVE\r\n", FOLLOW | ARCHIVE},
        {"X-Robots-Tag: none\r\n", INDEX | FOLLOW},
        {"X-Robots-Tag: noindex\r\nX-Robots-Tag: noarchive\r\n", INDEX | ARCHIVE},
        {"X-Robots-Tag: googlebot: nofollow\r\n", 0},
        {"X-Robots-Tag: googlebot: nofollow, noarchive\r\n", 0},
        {"X-Robots-Tag: Vidi: nofollow, noarchive\r\n", FOLLOW | ARCHIVE},
        {"X-Robots-Tag: vidi/2.0: nofollow\r\n", FOLLOW},
        {"X-Robots-Tag: vidibot: nofollow\r\n", 0},
        {"X-Robots-Tag: *: nofollow\r\n", FOLLOW},
        {"X-Robots-Tag: googlebot: nofollow, vidi: noarchive\r\n", ARCHIVE},
        {"X-Robots-Tag: vidi: nofollow, googlebot: noarchive\r\n", FOLLOW},
        {"X-Robots-Tag: googlebot: nofollow\r\nX-Robots-Tag: noarchive\r\n", ARCHIVE},
        {"X-Robots-Tag: unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow\r\n", FOLLOW},
        {"X-Robots-Tag: unavailable_after: Wednesday, 03-Aug-22 15:00:00 UTC, noarchive\r\n", ARCHIVE},
        {"X-Robots-Tag: max-snippet: 20, nofollow\r\n", FOLLOW},
        {"X-Robots-Tag: nofollow,\r\n noarchive\r\n", FOLLOW | ARCHIVE},
        {"X-Robots-Tag: nofollow noarchive\r\n", FOLLOW | ARCHIVE},
        {"X-Robots-Tag: nofollowers, all, :, ,\r\n", 0},
        {"X-Robots-Tag:\r\n", 0},
        {"X-Robots: nofollow\r\n", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char head[400];
        sprintf(head, "HTTP/1.1 200 OK\r\n%s\r\n", cases[i].fields);
        uint32_t flags = http_robots(text_of(head), text_of("vidi"));
        check(flags == cases[i].flags, "%s: %u", cases[i].fields, flags);
    }
}

static void the_archived_head_fits_the_body(void **state)
{
    (void)state;
    static const struct {
        const char *head, *archived;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\nC: d\r\n\r\n",
         "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\nC: d\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
         "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 55555555555555555555555555555\r\n\r\n",
         "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n",
         "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Encoding: gzip\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\nContent-Length: 7\r\n\r\n",
         "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\nA: b\r\n  c\n\r\n",
         "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n  c\r\n\r\n"},
        {"HTTP/1.0 200\nA: b\nno field\n\n", "HTTP/1.0 200\r\nA: b\r\nContent-Length: 5\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\nA: b", "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5\r\n\r\n"},
        {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"},
        {"", "Content-Length: 5\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bytes to = {0};
        assert_int_equal(http_archived_head(text_of(cases[i].head), 5, &to), VIDI_OK);
        check(is(bytes_str(&to), cases[i].archived), "%s became %.*s", cases[i].head, (int)to.len, to.ptr);
        bytes_free(&to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read_as_they_came),
        cmocka_unit_test(behind_the_last_field_there_is_none_however_often_one_asks),
        cmocka_unit_test(a_zero_byte_is_a_byte_like_others),
        cmocka_unit_test(the_first_field_of_a_name_counts_in_any_case),
        cmocka_unit_test(types_come_in_lower_case_and_can_be_printed),
        cmocka_unit_test(of_several_content_types_the_last_that_can_be_read_counts),
        cmocka_unit_test(lengths_agree_if_they_are_the_same_number),
        cmocka_unit_test(link_fields_are_read),
        cmocka_unit_test(dates_come_in_three_formats),
        cmocka_unit_test(retry_after_is_seconds_or_a_date_and_absurd_values_are_clipped),
        cmocka_unit_test(x_robots_tag_is_for_everybody_or_for_a_named_robot),
        cmocka_unit_test(the_archived_head_fits_the_body),
    };
    return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
