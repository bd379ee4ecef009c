/*
 * Pages are read in the encoding that the HTML Standard finds, as the Encoding Standard reads it, and the queries of
 * their links are written in it.
 */
#include "crawler/html/encoding.h"
#include "crawler/html/indexes.h"
#include "crawler/html/tokenizer.h"
#include "crawler/html/pages.h"

#define BYTES(literal) ((vidi_str){literal, sizeof(literal) - 1})

/* ---- labels ---- */

static void labels_are_the_standards(void **state)
{
    (void)state;
    static const struct {
        const char *label, *name;
    } cases[] = {{"utf8", "UTF-8"},
                 {"latin1", "windows-1252"},
                 {"ISO-8859-1", "windows-1252"},
                 {"ascii", "windows-1252"},
                 {"iso-8859-9", "windows-1254"},
                 {"GB2312", "GBK"},
                 {"\tx-sjis ", "Shift_JIS"},
                 {"ks_c_5601-1987", "EUC-KR"},
                 {"iso-2022-kr", "replacement"},
                 {"utf-16", "UTF-16LE"},
                 {"big5-hkscs", "Big5"},
                 {"cseucpkdfmtjapanese", "EUC-JP"},
                 {"tis-620", "windows-874"},
                 {"logical", "ISO-8859-8-I"},
                 {"x-user-defined", "x-user-defined"},
                 {"utf-7", NULL},
                 {"", NULL},
                 {"utf-8 utf-8", NULL},
                 {"utf", NULL},
                 {"utf-32", NULL},
                 {"cseucpkdfmtjapanesee", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *name = html_encoding_name(text_of(cases[i].label));
        check(name && cases[i].name ? strcmp(name, cases[i].name) == 0 : name == cases[i].name, "%s: %s",
              cases[i].label, name ? name : "none");
    }
}

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

/* ---- decoding ---- */

static bool has_icu(void)
{
    return html_index_get(HTML_INDEX_JIS0208) != NULL;
}

/* In a block of exactly its size, so that the sanitizer sees a read beyond the end. */
static void check_decoded(const char *label, vidi_str bytes, const char *want)
{
    html_decoded decoded;
    char *exact = malloc(bytes.len);
    memcpy(exact, bytes.ptr, bytes.len);
    assert_int_equal(html_decode(html_encoding_find(text_of(label)), (vidi_str){exact, bytes.len}, &decoded), VIDI_OK);
    check(decoded.bytes.len == strlen(want) && memcmp(decoded.bytes.ptr, want, strlen(want)) == 0,
          "%s: <%.*s> instead of <%s>", label, (int)decoded.bytes.len, decoded.bytes.ptr, want);
    html_decoded_free(&decoded);
    free(exact);
}

#define BAD "\xEF\xBF\xBD" /* U+FFFD */

static void unicode_is_decoded(void **state)
{
    (void)state;
    check_decoded("utf-8", BYTES("a\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80"), "a\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80");
    check_decoded("utf-8", BYTES("\xC0\x80|\xE2\x82|\xE2\x82"), BAD BAD "|" BAD "|" BAD);
    check_decoded("utf-8", BYTES("\xED\xA0\x80|\xF4\x90\x80\x80|\xF0\x9F\x98"),
                  BAD BAD BAD "|" BAD BAD BAD BAD "|" BAD);
    check_decoded("utf-8", BYTES("0123456789abcdef\xFFghijklmnop"), "0123456789abcdef" BAD "ghijklmnop");
    check_decoded("utf-16le", BYTES("a\0\xAC\x20\x3D\xD8\x00\xDE"), "a\xE2\x82\xAC\xF0\x9F\x98\x80");
    check_decoded("utf-16be", BYTES("\0a\x20\xAC\xD8\x3D\xDE\x00"), "a\xE2\x82\xAC\xF0\x9F\x98\x80");
    check_decoded("utf-16le",
                  BYTES("\x00\xDE\x3D\xD8"
                        "a\0b"),
                  BAD BAD "a" BAD);
    check_decoded("replacement", BYTES("<a href=x>"), BAD);
    check_decoded("replacement", BYTES(""), "");
}

static void single_bytes_are_decoded(void **state)
{
    (void)state;
    check_decoded("latin1", BYTES("\x80\x81\xE9"), "\xE2\x82\xAC\xC2\x81\xC3\xA9");
    check_decoded("windows-1251", BYTES("\xCF\xF0"), "\xD0\x9F\xD1\x80");
    check_decoded("koi8-u", BYTES("\xAE\xBE"), "\xD1\x9E\xD0\x8E");
    check_decoded("windows-1255", BYTES("\xCA\xD9"), "\xD6\xBA" BAD);
    check_decoded("iso-8859-16", BYTES("\xA4"), "\xE2\x82\xAC");
    check_decoded("windows-874", BYTES("\x85\x86\xDB"), "\xE2\x80\xA6\xC2\x86" BAD);
    check_decoded("x-user-defined", BYTES("a\x80\xFF"), "a\xEF\x9E\x80\xEF\x9F\xBF");
}

static void chinese_japanese_and_korean_are_decoded(void **state)
{
    (void)state;
    if (!has_icu())
        skip();
    check_decoded("shift_jis", BYTES("\x93\xFA\x96{\xB1\x80\x81\x60\xF0\x40"),
                  "\xE6\x97\xA5\xE6\x9C\xAC\xEF\xBD\xB1\xC2\x80\xEF\xBD\x9E\xEE\x80\x80");
    check_decoded("euc-jp", BYTES("\xC6\xFC\xCB\xDC\x8E\xB1\x8F\xB0\xA1\xA1\xC1"),
                  "\xE6\x97\xA5\xE6\x9C\xAC\xEF\xBD\xB1\xE4\xB8\x82\xEF\xBD\x9E");
    check_decoded("iso-2022-jp", BYTES("a\x1B$BF|K\\\x1B(Jb\\\x1B(I1\x1B(B~"),
                  "a\xE6\x97\xA5\xE6\x9C\xAC"
                  "b\xC2\xA5\xEF\xBD\xB1~");
    check_decoded("euc-kr", BYTES("\xC7\xD1\xB1\xDB\x81\x41"), "\xED\x95\x9C\xEA\xB8\x80\xEA\xB0\x82");
    check_decoded("big5", BYTES("\xA4\xA4\xA4\xE5\x88\x62\xA1\x45\x88\x40"),
                  "\xE4\xB8\xAD\xE6\x96\x87\xC3\x8A\xCC\x84\xE2\x80\xA7\xE3\x87\x80");
    check_decoded("gbk", BYTES("\xD6\xD0\xCE\xC4\x80\xA8\xBC"), "\xE4\xB8\xAD\xE6\x96\x87\xE2\x82\xAC\xE1\xB8\xBF");
    check_decoded("gbk", BYTES("\xA3\xA0\xA6\xD9\xFE\xA0"), "\xE3\x80\x80\xEF\xB8\x90\xE9\xBE\xBB");
    check_decoded("gb18030", BYTES("\x81\x30\x81\x30\x90\x30\x81\x30\x94\x39\xDA\x33"),
                  "\xC2\x80\xF0\x90\x80\x80\xF0\x9F\x92\xA9");
}

static void broken_pairs_swallow_no_ascii(void **state)
{
    (void)state;
    if (!has_icu())
        skip();
    static const char *const labels[] = {"shift_jis", "euc-jp", "euc-kr", "big5", "gbk", "gb18030"};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        check_decoded(labels[i], BYTES("\xE0\">"), BAD "\">");
        check_decoded(labels[i], BYTES("<\xE0"), "<" BAD);
        check_decoded(labels[i], BYTES("\xFF<"), BAD "<");
    }
    check_decoded("big5", BYTES("\x81\x40"), BAD "@"); /* a pair that has no character */
    check_decoded("euc-kr", BYTES("\xC9\xA1"), BAD);   /* private use in Windows */
    check_decoded("euc-jp", BYTES("\x8F\xA1<\x8F\xA1"), BAD "<" BAD);
    check_decoded("euc-jp", BYTES("\x80\x9F\xA0"), BAD BAD BAD);
    check_decoded("shift_jis", BYTES("\xA0\xFD\x7F"), BAD BAD "\x7F");
    check_decoded("gb18030", BYTES("\x81\x30<"), BAD "0<");
    check_decoded("gb18030", BYTES("\x81\x30\x81<"), BAD "0" BAD "<");
    check_decoded("gb18030", BYTES("\x84\x32\xA4\x39<"), BAD "2" BAD "9<"); /* nothing has that number */
    check_decoded("gb18030", BYTES("\x84\x32\xA4\x39"), BAD "2" BAD);
    check_decoded("gb18030", BYTES("\x81\x30\x81"), BAD);
    check_decoded("iso-2022-jp", BYTES("\x1B$B\x1B(B<\x1B!\x80"), BAD "<" BAD "!" BAD);
    check_decoded("iso-2022-jp", BYTES("\x1B$BF"), BAD);
}

/* ---- queries ---- */

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

/* Every character of an index, encoded and decoded again, is itself, except where the standard writes another. */
static void encoding_undoes_decoding(void **state)
{
    (void)state;
    static const char *const labels[] = {"shift_jis", "euc-jp", "euc-kr", "big5", "gbk", "gb18030"};
    if (!has_icu())
        skip();
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const html_encoding *encoding = html_encoding_find(text_of(labels[i]));
        size_t encoded = 0;
        for (uint32_t code = 0x80; code < 0x20000; code++) {
            uint8_t bytes[8];
            unsigned shift = 0;
            char want[4];
            html_decoded decoded;
            size_t len, count = html_cjk_encode(encoding, code, &shift, bytes);
            bool once_private = code >= 0xE78D && code <= 0xE864 && count == 2; /* a few in GB 18030 */
            if (count == 0 || code == 0xA5 || code == 0x203E || code == 0x2212 || once_private)
                continue;
            encoded++;
            len = html_put_character(want, code);
            html_decode(encoding, (vidi_str){(char *)bytes, count}, &decoded);
            check(decoded.bytes.len == len && memcmp(decoded.bytes.ptr, want, len) == 0, "%s: U+%04X", labels[i],
                  (unsigned)code);
            html_decoded_free(&decoded);
        }
        check(encoded > 7000, "%s: only %zu characters", labels[i], encoded);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_the_standards),
        cmocka_unit_test(a_mark_comes_before_option_header_meta_and_default),
        cmocka_unit_test(meta_is_found_as_the_standard_scans_for_it),
        cmocka_unit_test(meta_counts_only_in_the_first_1024_bytes),
        cmocka_unit_test(headers_name_a_charset),
        cmocka_unit_test(unicode_is_decoded),
        cmocka_unit_test(single_bytes_are_decoded),
        cmocka_unit_test(chinese_japanese_and_korean_are_decoded),
        cmocka_unit_test(broken_pairs_swallow_no_ascii),
        cmocka_unit_test(queries_are_in_the_pages_encoding),
        cmocka_unit_test(queries_in_chinese_japanese_and_korean),
        cmocka_unit_test(encoding_undoes_decoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
