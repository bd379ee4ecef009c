/*
 * Rewriting of pages: the values of links change, and not one byte besides.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/export/rewrite.h"
#include "support/check.h"

/* Every link to "http://h/…" becomes "[path]"; those to other hosts stay. */
static int choose(void *context, const html_link *link, bool has_base, bytes *to)
{
    (void)context, (void)has_base;
    if (!link->url.ptr || link->url.len < 9 || memcmp(link->url.ptr, "http://h/", 9) != 0)
        return 0;
    bytes_append_text(to, "[");
    bytes_append(to, link->url.ptr + 9, link->url.len - 9);
    return bytes_append_text(to, "]") ? VIDI_EMEMORY : 1;
}

static void becomes_with(const char *page, size_t length, const char *charset, const char *expected, size_t n)
{
    rewrite_options options = {
        .url = {"http://h/d/p", 12}, .charset = {charset, charset ? strlen(charset) : 0}, .choose = choose};
    bytes made = {0};

    assert_int_equal(rewrite_html((vidi_str){page, length}, &options, &made), VIDI_OK);
    check(made.len == n && memcmp(made.ptr, expected, n) == 0, "%.*s\nbecomes\n%.*s\nnot\n%.*s", (int)length, page,
          (int)made.len, made.ptr, (int)n, expected);
    bytes_free(&made);
}

static void becomes(const char *page, const char *expected)
{
    becomes_with(page, strlen(page), NULL, expected, strlen(expected));
}

static void only_values_change(void **state)
{
    (void)state;
    becomes("<a href=x>1</a>\r\n<A\tHREF = ' /y '  class=z>2<b",
            "<a href=[d/x]>1</a>\r\n<A\tHREF = '[y]'  class=z>2<b");
    becomes("<!-- <a href=x> --><script>'<a href=x>'</script><a data-href=x href=x href=y>",
            "<!-- <a href=x> --><script>'<a href=x>'</script><a data-href=x href=[d/x] href=y>");
    becomes("<a href=http://other/>", "<a href=http://other/>");
    becomes("<a href><a href=><a href=''><a href=\"mailto:a\">", "<a href><a href=><a href=''><a href=\"mailto:a\">");
    becomes("", "");
}

static void values_are_decoded_and_escaped_again(void **state)
{
    (void)state;
    becomes("<a href='/a?b=1&amp;c'><a href='/&quot;'>", "<a href='[a?b=1&amp;c]'><a href='[%22]'>");
    becomes("<a href=/a?b=1&c>", "<a href=[a?b&#61;1&amp;c]>");
    becomes("<a href=\"/it's\">", "<a href=\"[it&#39;s]\">");
}

static void every_url_of_a_srcset_changes(void **state)
{
    (void)state;
    becomes("<img srcset='a 1x,  http://other/b 2x, c,/d' src=e>",
            "<img srcset='[d/a] 1x,  http://other/b 2x, [d/c,/d]' src=[d/e]>");
    becomes("<img srcset=\"a.png, b.png 2x\">", "<img srcset=\"[d/a.png], [d/b.png] 2x\">");
    becomes("<meta http-equiv=refresh content='5; url=\"next\"'>",
            "<meta http-equiv=refresh content='5; url=&#34;[d/next]&#34;'>");
}

static void a_base_counts_and_goes(void **state)
{
    (void)state;
    becomes("<base href='/e/'><a href=x>", "<base href='#'><a href=[e/x]>");
    becomes("<base href=/e/ target=t><a href=x>", "<base href=# target=t><a href=[e/x]>");
    becomes("<base target=t><a href=x>", "<base target=t><a href=[d/x]>");
}

static void bytes_that_are_not_utf8_stay(void **state)
{
    (void)state;
    becomes("\xFF\xE2\x82<a href=x>\xE2\x82\xC3<a href=y>\xF0\x9F",
            "\xFF\xE2\x82<a href=[d/x]>\xE2\x82\xC3<a href=[d/y]>\xF0\x9F");
    becomes("<meta charset=utf-8>\xFF\xE2\x82<a href=x>\xE2\x82\xC3\xED\xA0\x80<a href=y>\xF0\x9F",
            "<meta charset=utf-8>\xFF\xE2\x82<a href=[d/x]>\xE2\x82\xC3\xED\xA0\x80<a href=[d/y]>\xF0\x9F");
    becomes("\xEF\xBB\xBF\xFF<a href=x>\xC3\xBC", "\xEF\xBB\xBF\xFF<a href=[d/x]>\xC3\xBC");
    becomes("<meta charset=iso-8859-1>\xFC\x80<a href=\xE4>\xFC<a href=y>",
            "<meta charset=iso-8859-1>\xFC\x80<a href=[d/%C3%A4]>\xFC<a href=[d/y]>");
}

static void pages_that_a_browser_could_not_read_become_utf8(void **state)
{
    static const char utf16[] = "\xFF\xFE<\0a\0 \0h\0r\0e\0f\0=\0x\0>\0\xFC\0";

    (void)state;
    becomes_with(utf16, sizeof utf16 - 1, NULL, "\xEF\xBB\xBF<a href=[d/x]>\xC3\xBC", 19);
    becomes_with("\xFC<a href=x>", 11, "iso-8859-1", "\xEF\xBB\xBF\xC3\xBC<a href=[d/x]>", 19);
    becomes_with("\xC3\xBC<a href=x>", 12, "utf-8", "\xEF\xBB\xBF\xC3\xBC<a href=[d/x]>", 19);
    becomes_with("<a href=x>", 10, "utf-8", "<a href=[d/x]>", 14); /* ASCII needs nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_values_change),
        cmocka_unit_test(values_are_decoded_and_escaped_again),
        cmocka_unit_test(every_url_of_a_srcset_changes),
        cmocka_unit_test(a_base_counts_and_goes),
        cmocka_unit_test(bytes_that_are_not_utf8_stay),
        cmocka_unit_test(pages_that_a_browser_could_not_read_become_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
