/*
 * A page's encoding is found as the HTML Standard says, and the queries of its links are written in it.
 */
#include "crawler/encoding/indexes.h"
#include "crawler/html/pages.h"

#define BYTES(literal) ((vidi_str){literal, sizeof(literal) - 1})

/* ---- finding the encoding ---- */

static void check_found(vidi_str bytes, const char *option, const char *header, const char *name, const char *source)
{
    html_options options = {.url = {NULL, 0}};
    if (option)
        options.encoding = text_of(option);
    if (header)
        options.charset = text_of(header);
    html_page *page = open_page(bytes, &options);
    html_page_info info = html_page_about(page);
    check(strcmp(info.encoding, name) == 0 && strcmp(info.source, source) == 0, "%.*s: %s from %s", (int)bytes.len,
          bytes.ptr, info.encoding, info.source);
    html_page_close(page);
}

static void a_mark_comes_before_option_header_meta_and_default(void **state)
{
    (void)state;
    static const vidi_str meta = {"<meta charset=koi8-r>", 21};
    check_found(BYTES("\xEF\xBB\xBF<meta charset=koi8-r>"), "gbk", "big5", "UTF-8", "bom");
    check_found(BYTES("\xFE\xFF\0<"), "gbk", NULL, "UTF-16BE", "bom");
    check_found(BYTES("\xFF\xFE<\0"), "gbk", NULL, "UTF-16LE", "bom");
    check_found(meta, "gbk", "big5", "GBK", "option");
    check_found(meta, NULL, "big5", "Big5", "header");
    check_found(meta, NULL, "nonsense", "KOI8-R", "meta");
    check_found(BYTES("<meta>"), NULL, NULL, "windows-1252", "default");
    check_found(BYTES(""), NULL, NULL, "windows-1252", "default");
}

static void meta_is_found_as_the_standard_scans_for_it(void **state)
{
    (void)state;
    static const struct {
        const char *html, *name;
    } cases[] = {
        {"<meta charset=koi8-r>", "KOI8-R"},
        {"<META\nCharSet = 'koi8-r'/>", "KOI8-R"},
        {"<meta http-equiv=content-type content='text/html; charset=koi8-r'>", "KOI8-R"},
        {"<meta content='text/html;charset = \"koi8-r\" x' http-equiv=Content-Type>", "KOI8-R"},
        {"<meta content='text/html; charset=koi8-r'>", NULL}, /* the pragma is missing */
        {"<meta http-equiv=refresh content='charset=koi8-r'>", NULL},
        {"<meta charset=nonsense><meta charset=koi8-r>", "KOI8-R"},
        {"<meta charset=utf-16>", "UTF-8"}, /* it could not have been read so far */
        {"<meta charset=x-user-defined>", "windows-1252"},
        {"<!-- <meta charset=koi8-r> --><meta charset=gbk>", "GBK"},
        {"<!--><meta charset=gbk>", "GBK"},
        {"<a title='<meta charset=koi8-r>'><meta charset=gbk>", "GBK"},
        {"<?x <meta charset=koi8-r><meta charset=gbk>", "GBK"},
        {"</ <meta charset=koi8-r><meta charset=gbk>", "GBK"},
        {"<metaphor charset=koi8-r>", NULL},
        {"<?xml version='1.0' encoding='koi8-r'?>", "KOI8-R"},
        {"<?xml encoding=\"koi8-r\"?><meta charset=gbk>", "GBK"},
        {"<meta charset=gbk charset=koi8-r>", "GBK"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_found(text_of(cases[i].html), NULL, NULL, cases[i].name ? cases[i].name : "windows-1252",
                    cases[i].name ? "meta" : "default");
}

static void meta_counts_only_in_the_first_1024_bytes(void **state)
{
    (void)state;
    static const char meta[] = "<meta charset=koi8-r>";
    char page[1200];
    for (size_t at = 1000; at < 1030; at++) {
        memset(page, ' ', sizeof page);
        memcpy(page + at, meta, sizeof meta - 1);
        bool inside = at + sizeof meta - 1 <= 1024;
        check_found((vidi_str){page, sizeof page}, NULL, NULL, inside ? "KOI8-R" : "windows-1252",
                    inside ? "meta" : "default");
    }
}

static void headers_name_a_charset(void **state)
{
    (void)state;
    static const struct {
        const char *header, *label;
    } cases[] = {
        {"text/html; charset=utf-8", "utf-8"},
        {"text/html;Charset=\"koi8-r\"; x=y", "koi8-r"},
        {"text/html; x=\"a;charset=no\"; charset= utf-8 ; y", " utf-8"},
        {"text/html; charset=; charset=gbk", "gbk"},
        {"text/html; charset; charset=gbk;", "gbk"},
        {"text/html; charset=\"gbk", "gbk"},
        {"text/html", NULL},
        {"text/html;", NULL},
        {"charset=utf-8", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vidi_str label = html_header_charset(text_of(cases[i].header));
        const char *want = cases[i].label ? cases[i].label : "";
        check(label.len == strlen(want) && !label.ptr == !cases[i].label &&
                  (label.len == 0 || memcmp(label.ptr, want, label.len) == 0),
              "%s: <%.*s>", cases[i].header, (int)label.len, label.ptr ? label.ptr : "");
    }
}

/* ---- queries ---- */

static bool has_icu(void)
{
    return encoding_index_get(ENCODING_INDEX_JIS0208) != NULL;
}

static void check_query(const char *label, vidi_str path, const char *want)
{
    char html[300];
    html_options options = {.url = text_of("http://h/"), .encoding = text_of(label)};
    int len = snprintf(html, sizeof html, "<a href='%.*s'>", (int)path.len, path.ptr);
    char *got = urls_of((vidi_str){html, (size_t)len}, &options, HTML_LINKS);
    got[strcspn(got, "\n")] = 0;
    check(strcmp(got, want) == 0, "%s: %s instead of %s", label, got, want);
    free(got);
}

static void queries_are_in_the_pages_encoding(void **state)
{
    (void)state;
    check_query("utf-8", BYTES("\xC3\xA9?\xC3\xA9#\xC3\xA9"), "http://h/%C3%A9?%C3%A9#%C3%A9");
    check_query("latin1", BYTES("\xE9?\xE9#\xE9"), "http://h/%C3%A9?%E9#%C3%A9");
    check_query("windows-1251", BYTES("?a=\xCF&b=\xF0&#1234;x"), "http://h/?a=%CF&b=%F0%26%231234%3Bx");
    check_query("latin1", BYTES("mailto:a?\xE9"), "mailto:a?%C3%A9"); /* not of a special scheme */
    check_query("latin1", BYTES("ws://h/?\xE9"), "ws://h/?%C3%A9");
    check_query("latin1", BYTES("#?\xE9"), "http://h/#?%C3%A9");
    check_query("x-user-defined", BYTES("?\x80\xFF"), "http://h/?%80%FF");
    check_query("latin1", BYTES("?\xE9?'\"&#x20AC;"), "http://h/?%E9?");
}

static void queries_in_chinese_japanese_and_korean(void **state)
{
    (void)state;
    if (!has_icu())
        skip();
    check_query("shift_jis", BYTES("?\x93\xFA\x96{\xB1&yen;&#x2212;&#x4E28;"), "http://h/?%93%FA%96{%B1\\%81|%FAh");
    check_query("euc-jp", BYTES("?\xC6\xFC\x8E\xB1&#x4E02;"), "http://h/?%C6%FC%8E%B1%26%2319970%3B"); /* JIS X 0212 */
    check_query("iso-2022-jp", BYTES("?a&#x65E5;b&#xFF71;&yen;&#x10000;"),
                "http://h/?a%1B$BF|%1B(Bb%1B$B%%22%1B(J\\%1B(B%26%2365536%3B");
    check_query("euc-kr", BYTES("?\xC7\xD1&#x4E02;"), "http://h/?%C7%D1%26%2319970%3B");
    check_query("big5", BYTES("?\xA4\xA4&#x43F0;"), "http://h/?%A4%A4%26%2317392%3B"); /* of Hong Kong */
    check_query("gbk", BYTES("?\xD6\xD0&euro;&#x10000;"), "http://h/?%D6%D0%80%26%2365536%3B");
    check_query("gb18030", BYTES("?\xD6\xD0&euro;&#x10000;"), "http://h/?%D6%D0%A2%E3%900%810");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_comes_before_option_header_meta_and_default),
        cmocka_unit_test(meta_is_found_as_the_standard_scans_for_it),
        cmocka_unit_test(meta_counts_only_in_the_first_1024_bytes),
        cmocka_unit_test(headers_name_a_charset),
        cmocka_unit_test(queries_are_in_the_pages_encoding),
        cmocka_unit_test(queries_in_chinese_japanese_and_korean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
